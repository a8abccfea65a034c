//! What a command's doing depends on besides its text, for the host to weigh and for an approval to be bound to: the files
//! whose code it would run, and, where it uses the network, the files that it reads and those that say where it sends. It can
//! only make the answer stricter: the container says it, so a harmless text proves nothing.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::Effects;
use bashgate_shared::command::Digest;
use bashgate_shared::programs;
use bashgate_shared::protocol::{FileEvidence, MAX_EVIDENCE};

use super::conditions::place;
use super::git;

/// Longest start of a file that is told, in bytes. Of a file that is no code nothing is told but its digest: it may be a secret.
const MAX_HEAD: usize = 12 * 1024;
/// Largest file whose digest is made, in bytes. A larger one is named without.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The evidence for one command. Files that are not there, or are no plain files, say nothing; where there are more than the
/// protocol allows, the last entry has no digest.
pub fn of(effects: &Effects, cwd: &Path) -> Vec<FileEvidence> {
    let mut found: Vec<FileEvidence> = Vec::new();
    let mut add = |name: &str, told: Told| {
        let known = found.iter().any(|file| file.path == name);
        if !known
            && found.len() < MAX_EVIDENCE
            && let Some(file) = place(name, cwd)
            && let Some(mut evidence) = read(name, &file, told)
        {
            if found.len() + 1 == MAX_EVIDENCE {
                evidence.sha256.clear();
            }
            found.push(evidence);
        }
    };
    for path in &effects.runs {
        add(path, Told::Head);
    }
    if effects.network.is_empty() {
        return found;
    }
    let rows = effects.programs.iter().filter_map(|program| programs::row(program));
    for name in rows.flat_map(|row| row.configured_by) {
        add(name, Told::Digest);
    }
    if effects.programs.iter().any(|program| program == "git") {
        let repositories = git::repositories(cwd).unwrap_or_default();
        let inside = repositories.iter().flat_map(git::Repository::files);
        for file in inside.chain(git::files_outside()) {
            add(&file.to_string_lossy(), Told::Remotes);
        }
        // What settings include, hooks that it runs on the way, and remotes of the older forms.
        let more = repositories
            .iter()
            .flat_map(|repository| ["hooks", "remotes", "branches"].map(|name| repository.common.join(name)));
        let named = git::named::by_settings(cwd).ok().flatten().unwrap_or_default();
        for path in more.chain(named) {
            for file in files_of(&path) {
                add(&file.to_string_lossy(), Told::Remotes);
            }
        }
    }
    for path in &effects.reads {
        add(path, Told::Digest);
    }
    found
}

/// A file, or the files of a folder in the order of their names, without git's samples.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_meant = |file: &PathBuf| file.is_file() && file.extension().is_none_or(|end| end != "sample");
    let mut files: Vec<PathBuf> = entries.filter(is_meant).take(MAX_EVIDENCE).collect();
    files.sort();
    files
}

/// What is told of a file besides its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// How it begins.
    Head,
    /// What it says of where git sends.
    Remotes,
    /// Nothing.
    Digest,
}

/// The settings by which git finds out where it sends, a line each.
fn remotes(text: &str) -> String {
    let settings = git::config::read(text).unwrap_or_default();
    let says_where = |key: &str| {
        ["remote.", "url.", "include", "branch."].iter().any(|start| key.starts_with(start))
            && [".url", ".pushurl", "insteadof", ".path", ".remote", ".pushremote", ".pushdefault"]
                .iter()
                .any(|end| key.ends_with(end))
    };
    let lines = settings.iter().filter(|setting| says_where(&setting.key.to_ascii_lowercase()));
    lines.flat_map(|setting| [setting.key.as_str(), " = ", setting.value.as_str(), "\n"]).collect()
}

fn read(name: &str, file: &Path, told: Told) -> Option<FileEvidence> {
    // Opening a FIFO would wait for whoever writes it.
    let meta = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    let whole = meta.len() <= MAX_FILE;
    let head = match told {
        Told::Head => start_of(&bytes),
        Told::Remotes => start_of(remotes(&String::from_utf8_lossy(&bytes)).as_bytes()),
        Told::Digest => String::new(),
    };
    let sha256 = if whole { Digest::of(&bytes).hex() } else { String::new() };
    Some(FileEvidence { path: name.chars().take(1024).collect(), sha256, head })
}

/// The first bytes of a text. A program is none; its digest tells which one it is.
fn start_of(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(MAX_HEAD);
    // Not in the middle of a character.
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    let head = bytes.get(..end).unwrap_or_default();
    if head.contains(&0) { String::new() } else { String::from_utf8_lossy(head).into_owned() }
}

#[cfg(test)]
mod tests {
    use bashgate_shared::classify::{Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    use super::*;

    #[test]
    fn files_that_a_command_runs_are_told_about() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("Makefile", b"all:\n\tcurl evil.com\n");
        write("run.sh", "é".repeat(MAX_HEAD).as_bytes());
        write("sub/Makefile", b"x");
        write("package.json", b"{}");
        write("tool", b"\x7fELF\0\0");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.sh")).unwrap();
        for (command, want) in [
            ("make", vec!["Makefile"]),
            ("make -C sub test", vec!["sub/Makefile"]),
            ("cd sub && make", vec!["sub/Makefile"]),
            ("bash run.sh", vec!["run.sh"]),
            ("./run.sh && npm test", vec!["run.sh", "package.json"]),
            ("sudo sh ./run.sh", vec!["run.sh"]),
            ("./tool", vec!["tool"]),
            ("bash endless.sh", vec![]),
            ("bash missing.sh", vec![]),
            ("ls Makefile", vec![]),
            ("cat package.json", vec![]),
            ("curl -K package.json", vec!["package.json"]),
            ("cat Makefile | curl -T - https://h", vec!["Makefile"]),
        ] {
            let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
            let evidence = of(&found.effects, folder.path());
            let names: Vec<&str> = evidence.iter().map(|file| file.path.as_str()).collect();
            assert_eq!(names, want, "{command}");
            for file in evidence {
                assert!(file.head.len() <= MAX_HEAD + 3 && file.sha256.len() == 64, "{command}");
            }
        }
    }
}
