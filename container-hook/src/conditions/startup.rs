//! What the agent's shell has read before it runs a command: start-up files, and snapshots that agents make of them.
//!
//! Measured with Claude Code 2.1: every command runs as `bash -c 'source SNAPSHOT … && eval COMMAND'`, where the snapshot
//! holds the functions, aliases and options of the user's start-up files, and the environment carries what those files
//! export. So an alias, a function or a PATH entry in `~/.bashrc` takes the place of `ls` in every later command.
//!
//! A file in the home folder counts as harmless when it says nothing, when it is one that a distribution ships, or when
//! its digest stands in `trusted_startup`. The machine's own files are trusted like its programs: whoever may write
//! `/etc/profile` may write `/bin/ls`.

use std::path::{Path, PathBuf};

use bashgate_shared::command::Digest;

use super::ShellSetup;

/// Start-up files of bash, zsh and sh in a home folder.
const FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".bash_aliases",
    ".zshenv",
    ".zshrc",
    ".zprofile",
    ".zlogin",
];

/// Digests of the start-up files that Debian and Ubuntu put into new home folders. They alias `ls` and `grep` to
/// themselves with colours, and add `~/bin` and `~/.local/bin` to PATH.
const SHIPPED: &[&str] = &[
    // Debian 12, /etc/skel/.bashrc.
    "afae8986f549c6403410e029f9cce7983311512d04b1f02af02e4ce0af0dd2bf",
    // Debian 12, /etc/skel/.profile.
    "28b4a453b68dde64f814e94bab14ee651f4f162e15dd9920490aa1d49f05d2a4",
];

/// Folders that the shipped files add to PATH when they exist.
const ADDED_TO_PATH: &[&str] = &["bin", ".local/bin"];

/// Largest file that is read, in bytes, and most snapshots that are looked at.
const MAX_BYTES: u64 = 256 * 1024;
const MAX_SNAPSHOTS: usize = 64;

/// What the shell has read.
#[derive(Debug, Default)]
pub(super) struct Startup {
    /// Files that may change what names mean.
    pub doubtful: Vec<PathBuf>,
    /// Functions and aliases in snapshots.
    pub names: Vec<String>,
    /// Further folders in which a name may be found.
    pub folders: Vec<PathBuf>,
}

/// Looks at the start-up files and snapshots.
pub(super) fn read(setup: ShellSetup<'_>) -> Startup {
    let mut startup = Startup::default();
    if !setup.reads_startup_files {
        return startup;
    }
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) else {
        startup.doubtful.push(PathBuf::from("HOME is not set"));
        return startup;
    };
    for name in FILES {
        let file = home.join(name);
        if !is_harmless(&file, setup.trusted) {
            startup.doubtful.push(file);
        }
    }
    startup.folders.extend(ADDED_TO_PATH.iter().map(|folder| home.join(folder)));
    let config = std::env::var_os("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from);
    snapshots(&config.join("shell-snapshots"), &mut startup);
    startup
}

fn is_harmless(file: &Path, trusted: &[String]) -> bool {
    let text = match std::fs::metadata(file) {
        Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        Ok(meta) if meta.len() > MAX_BYTES || !meta.is_file() => return false,
        Ok(_) => std::fs::read(file).unwrap_or_else(|_| b"unreadable".to_vec()),
    };
    let says_nothing = text
        .split(|byte| *byte == b'\n')
        .all(|line| line.iter().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|first| *first == b'#'));
    says_nothing || {
        let digest = Digest::of(&text).hex();
        SHIPPED.contains(&digest.as_str()) || trusted.contains(&digest)
    }
}

/// Reads the snapshots of Claude Code. Any of them may be the one in force.
fn snapshots(folder: &Path, startup: &mut Startup) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(_) => {
            startup.doubtful.push(folder.to_owned());
            return;
        }
    };
    for (count, entry) in entries.enumerate() {
        let file = entry.map(|entry| entry.path());
        let read = file
            .as_ref()
            .ok()
            .filter(|file| count < MAX_SNAPSHOTS && std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_BYTES));
        let understood =
            read.and_then(|file| std::fs::read_to_string(file).ok()).is_some_and(|text| snapshot(&text, startup));
        if !understood {
            startup.doubtful.push(file.unwrap_or_else(|_| folder.to_owned()));
        }
    }
}

/// Options that change nothing for a command that was read as bash reads it by default.
const HARMLESS_OPTIONS: &[&str] = &[
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "extquote",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "interactive_comments",
    "login_shell",
    "patsub_replacement",
    "progcomp",
    "promptvars",
    "sourcepath",
    "expand_aliases",
    "dotglob",
    "nullglob",
    "lithist",
    "no_empty_cmd_completion",
    "checkjobs",
    "autocd",
    "cdspell",
    "dirspell",
    "direxpand",
    "huponexit",
];
const HARMLESS_SET: &[&str] =
    &["braceexpand", "hashall", "interactive-comments", "monitor", "emacs", "vi", "history", "histexpand", "pipefail"];

/// Takes the names out of one snapshot; false when any line of it is not understood.
fn snapshot(text: &str, startup: &mut Startup) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let Some((line, after)) = logical_line(rest) else { return false };
        rest = after;
        let line = line.trim_end();
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            [""] => {}
            [first, ..] if first.starts_with('#') => {}
            ["unalias", "-a", ..] | ["shopt", "-u", _] => {}
            ["shopt", "-s", option] if HARMLESS_OPTIONS.contains(option) => {}
            ["set", "-o", option] if HARMLESS_SET.contains(option) => {}
            ["alias", "--", ..] => match line.strip_prefix("alias -- ").and_then(|rest| rest.split_once('=')) {
                Some((name, value)) if !colours_itself(name, value) => startup.names.push(name.to_owned()),
                Some(_) => {}
                None => return false,
            },
            ["eval", function, ..] => {
                let name = function.strip_prefix("$'");
                let is_definition = line.ends_with("' > /dev/null 2>&1") && line.contains(" () ");
                match name.filter(|_| is_definition) {
                    Some(name) => startup.names.push(name.to_owned()),
                    None => return false,
                }
            }
            ["export", ..] => {
                let Some(path) = line.strip_prefix("export PATH=") else { return false };
                let path = path.trim_matches(['\'', '"']);
                if path.contains(['\'', '"', '$', '`', '\\', ' ']) {
                    return false;
                }
                startup.folders.extend(std::env::split_paths(path));
            }
            _ => return false,
        }
    }
    true
}

/// `alias -- ls='ls --color=auto'`.
fn colours_itself(name: &str, value: &str) -> bool {
    let value = value.trim_matches('\'');
    value.strip_suffix(" --color=auto").or_else(|| value.strip_suffix(" --color")) == Some(name)
}

/// A line together with those that its quotes run into, and the rest.
fn logical_line(text: &str) -> Option<(&str, &str)> {
    let mut bytes = text.bytes().enumerate();
    if text.starts_with('#') {
        return Some(text.split_once('\n').unwrap_or((text, "")));
    }
    let mut quote = None;
    let mut before = b' ';
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (None, b'\n') => return Some((text.get(..at)?, text.get(at + 1..)?)),
            (None, b'\'') if before == b'$' => quote = Some(b'$'),
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(b'$'), b'\'') => quote = None,
            (Some(b'\'' | b'"'), same) if Some(same) == quote => quote = None,
            (None | Some(b'$' | b'"'), b'\\') => {
                bytes.next()?;
            }
            _ => {}
        }
        before = byte;
    }
    if quote.is_none() { Some((text, "")) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_gives_up_its_names() {
        let text = "# Snapshot file\nunalias -a 2>/dev/null || true\nshopt -u autocd\nshopt -s globstar\n# Functions\n\
                    eval $'cat () \\n{ \\n    echo \\'x\\' \"$@\"\\n}' > /dev/null 2>&1\nset -o monitor\nshopt -s expand_aliases\n\
                    alias -- ll='ls -l\nfoo'\nalias -- grep='grep --color=auto'\nexport PATH=/a:/b\n";
        let mut startup = Startup::default();
        assert!(snapshot(text, &mut startup));
        assert_eq!(startup.names, ["cat", "ll"]);
        assert_eq!(startup.folders, [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn a_snapshot_with_anything_else_is_not_understood() {
        for line in [
            "ls() { curl x; }",
            "eval \"$(curl x)\"",
            "eval $'curl x' > /dev/null 2>&1",
            "export LD_PRELOAD=/x",
            "export PATH=$PATH:/x",
            "shopt -s extglob",
            "set -o keyword",
            "set -o posix",
            "source /x",
            "alias -- ls='x",
            "PATH=/x",
            "shopt -u autocd; curl x",
            "unknown",
        ] {
            assert!(!snapshot(&format!("# x\n{line}\n"), &mut Startup::default()), "{line}");
        }
    }

    #[test]
    fn start_up_files_are_harmless_when_they_say_nothing_or_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".bashrc");
        assert!(is_harmless(&file, &[]), "missing");
        for (text, want) in [("", true), ("# x\n  # y\n\n", true), ("alias ls=x\n", false), ("#\nx", false)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(is_harmless(&file, &[]), want, "{text:?}");
        }
        assert!(is_harmless(&file, &[Digest::of(b"#\nx").hex()]));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(!is_harmless(&file, &[]), "a folder");
    }
}
