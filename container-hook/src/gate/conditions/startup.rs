//! What the agent's shell has read before it runs a command: start-up files, and snapshots that agents make of them.
//!
//! Measured with Claude Code 2.1: every command runs as `bash -c 'source SNAPSHOT … && eval COMMAND'`, where the snapshot
//! holds the functions, aliases and options of the user's start-up files, and the environment carries what those files
//! export. So an alias, a function or a PATH entry in `~/.bashrc` takes the place of `ls` in every later command.
//!
//! A file in the home folder counts as harmless when it says nothing, when it is one that a distribution ships, or when
//! its digest stands in `trusted_startup`. The machine's own files are trusted like its programs: whoever may write
//! `/etc/profile` may write `/bin/ls`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::FileEvidence;
use bashgate_shared::shell::{self, Shell};

use super::{ShellSetup, home};
use crate::gate::evidence::bound;
use crate::gate::real::{Leads, follow};

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

/// Digests of the functions that Claude Code puts into every snapshot, with its own paths left out: `find`, `grep` and `rg`
/// by a search program in the agent's own binary, and a `pkill` that spares the agent.
const AGENTS_FUNCTIONS: &[&str] = &[
    // 2.1.330.
    "94f38804f276974c012f1157ec955a802faf9e446a4be1bdd2d32b264174535f",
];

/// Folders that the shipped files add to PATH when they exist.
const ADDED_TO_PATH: &[&str] = &["bin", ".local/bin"];

/// Largest file that is read, in bytes, and most snapshots that are looked at.
const MAX_BYTES: u64 = 256 * 1024;
const MAX_SNAPSHOTS: usize = 64;
/// Most bytes of all files together that an answer is bound to.
const MAX_HASHED: u64 = 8 << 20;
/// Most folders of sessions that are looked at. With more, there may be something in them.
const MAX_SESSIONS: usize = 4096;

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
    let Some(home) = home() else {
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
    snapshots(&config.join("shell-snapshots"), setup.trusted, &mut startup);
    // What hooks of a session want sourced before each command.
    let session = config.join("session-env");
    let named = std::env::var_os("CLAUDE_ENV_FILE").map(PathBuf::from);
    startup.doubtful.extend(named.into_iter().filter(|file| std::fs::metadata(file).is_ok_and(|meta| meta.len() > 0)));
    if holds_a_file(&session) {
        startup.doubtful.push(session);
    }
    startup
}

fn is_harmless(file: &Path, trusted: &[String]) -> bool {
    let real = match follow(file) {
        Leads::To(real) => real,
        Leads::Nowhere(_) => return true,
        Leads::Dangling(_) | Leads::Doubt(_) => return false,
    };
    let text = match std::fs::metadata(real) {
        Err(_) => return false,
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

/// What the shell has read that is not known to be harmless, as one entry: its text is part of every command's meaning.
///
/// By content alone, so that a further session of the agent with the same snapshot changes nothing.
pub(in crate::gate) fn files(setup: ShellSetup<'_>) -> Option<FileEvidence> {
    let home = home().filter(|_| setup.reads_startup_files)?;
    let config = std::env::var_os("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from);
    let own = FILES.iter().map(|name| home.join(name)).filter(|file| !is_harmless(file, setup.trusted));
    let named = std::env::var_os("CLAUDE_ENV_FILE").map(PathBuf::from);
    let below = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.take(MAX_SNAPSHOTS).map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let session = config.join("session-env");
    let sessions = below(&session);
    let inside: Vec<PathBuf> = sessions.iter().flat_map(|folder| below(folder)).collect();
    let of_sessions = sessions.into_iter().chain(inside);
    let (mut names, mut said) = (BTreeSet::new(), BTreeSet::new());
    let mut room = MAX_HASHED;
    let all = own.chain(named).chain(of_sessions).chain(below(&config.join("shell-snapshots")));
    for file in all.filter(|file| file.is_file()) {
        let length = std::fs::metadata(&file).map_or(u64::MAX, |meta| meta.len());
        let read = if length <= room { std::fs::read(&file).ok() } else { None };
        room = room.saturating_sub(length);
        // What cannot be read is what nothing can be bound to.
        said.insert(read.map(|text| Digest::of(&text).hex()));
        // What an agent calls its own files is another name in each session.
        let kept = ["shell-snapshots", "session-env"]
            .map(|name| config.join(name))
            .into_iter()
            .find(|kept| file.starts_with(kept));
        let shown = kept.unwrap_or(file);
        let shown = shown.strip_prefix(&home).map_or_else(|_| shown.clone(), |inside| Path::new("~").join(inside));
        names.insert(shown.display().to_string());
    }
    let is_bound = !said.contains(&None);
    let lines: Vec<String> = said.into_iter().flatten().collect();
    let sha256 = if is_bound { Digest::of(lines.join("\n").as_bytes()).hex() } else { String::new() };
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| bound(&format!("what the shell reads before it: {}", names.join(", ")), sha256))
}

/// True when a file lies in a folder or in one directly below it, or when that cannot be told.
fn holds_a_file(folder: &Path) -> bool {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
    };
    entries.enumerate().any(|(count, entry)| {
        count >= MAX_SESSIONS
            || entry.map_or(true, |entry| match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    std::fs::read_dir(entry.path()).map_or(true, |mut inner| inner.next().is_some())
                }
                _ => true,
            })
    })
}

/// Reads the snapshots of Claude Code. Any of them may be the one in force.
fn snapshots(folder: &Path, trusted: &[String], startup: &mut Startup) {
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
        let understood = read
            .and_then(|file| std::fs::read_to_string(file).ok())
            .is_some_and(|text| snapshot(&text, trusted, startup));
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
///
/// Every line must be exactly of one form, character by character: whoever can write a snapshot may write anything.
fn snapshot(text: &str, trusted: &[String], startup: &mut Startup) -> bool {
    let Some(text) = without_agents_functions(text, trusted) else { return false };
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let Some((line, after)) = logical_line(rest) else { return false };
        rest = after;
        let understood = if line.is_empty() || line.starts_with('#') || line == "unalias -a 2>/dev/null || true" {
            true
        } else if let Some(option) = line.strip_prefix("shopt -u ") {
            is_word(option)
        } else if let Some(option) = line.strip_prefix("shopt -s ") {
            HARMLESS_OPTIONS.contains(&option)
        } else if let Some(option) = line.strip_prefix("set -o ") {
            HARMLESS_SET.contains(&option)
        } else if let Some(alias) = line.strip_prefix("alias -- ") {
            alias_of(alias, startup)
        } else if line.starts_with("eval $'") {
            function_of(line, startup)
        } else if let Some(path) = line.strip_prefix("export PATH=") {
            path_of(path, startup)
        } else {
            false
        };
        if !understood {
            return false;
        }
    }
    true
}

/// A snapshot without the functions that the agent itself adds, or `None` when those are not the known ones.
fn without_agents_functions(text: &str, trusted: &[String]) -> Option<String> {
    const FIRST_LINE: &str = "\n# Check for rg availability\n";
    let Some(start) = text.find(FIRST_LINE).map(|at| at + 1) else { return Some(text.to_owned()) };
    let (before, rest) = text.split_at_checked(start)?;
    let end = rest.find("\nexport PATH=").map_or(rest.len(), |at| at + 1);
    let (block, after) = rest.split_at_checked(end)?;
    let path_behind = |words: &str| block.split_once(words)?.1.split_once(" ]]").map(|(path, _)| path);
    let (binary, other) = (path_behind("if [[ -x ")?, path_behind("elif [[ -x ")?);
    let plain = |path: &str| {
        path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./+-@".contains(&byte))
    };
    if !(plain(binary) && plain(other) && runs_us(Path::new(binary))) {
        return None;
    }
    let digest = Digest::of(block.replace(other, "\u{2}").replace(binary, "\u{1}").as_bytes()).hex();
    let known = AGENTS_FUNCTIONS.contains(&digest.as_str()) || trusted.contains(&digest);
    known.then(|| format!("{before}{after}"))
}

/// True when this binary is the agent that called us: the program of a process above this one.
fn runs_us(binary: &Path) -> bool {
    let Ok(real) = std::fs::canonicalize(binary) else { return false };
    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..6 {
        if std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == real) {
            return true;
        }
        // The parent's id is the second field behind the name, which ends at the last parenthesis.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1))
            .and_then(|text| text.parse().ok());
        match parent {
            Some(parent) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}

/// A name without any character that the shell could take for something else.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:+-".contains(&byte))
}

/// `name='value'`, the value in one pair of quotes up to the end of the line; bash writes a quote in it as `'\\''`.
fn alias_of(text: &str, startup: &mut Startup) -> bool {
    let Some((name, value)) = text.split_once('=') else { return false };
    let inside = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
    let whole = inside.is_some_and(|inside| !inside.replace("'\\''", "").contains('\''));
    if !(is_word(name) && whole) {
        return false;
    }
    if !colours_itself(name, value) {
        startup.names.push(name.to_owned());
    }
    true
}

/// `eval $'name () …' > /dev/null 2>&1`, where the text defines one function and does nothing else.
fn function_of(line: &str, startup: &mut Startup) -> bool {
    let Some(quoted) = line.strip_suffix(" > /dev/null 2>&1").and_then(|line| line.strip_prefix("eval ")) else {
        return false;
    };
    let only = |text: &str| {
        shell::read(text, Shell::Bash).ok().and_then(|document| {
            let [step] = document.script.steps.as_slice() else { return None };
            let [command] = step.pipeline.as_slice() else { return None };
            if let Some(function) = command.as_function() {
                return (!step.background).then(|| function.name.clone());
            }
            let simple = command.as_simple().filter(|simple| simple.redirects.is_empty())?;
            let [_, word] = simple.words.as_slice() else { return None };
            word.literal().map(std::borrow::Cow::into_owned)
        })
    };
    // Once as a word, to undo its quotes, and once as the script that it is.
    let Some(definition) = only(&format!("echo {quoted}")) else { return false };
    match only(&definition) {
        Some(name) if definition.starts_with(&format!("{name} ()")) => {
            startup.names.push(name);
            true
        }
        _ => false,
    }
}

/// Absolute folders, with or without quotes around all of them.
fn path_of(text: &str, startup: &mut Startup) -> bool {
    let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    let plain = inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:+-".contains(&byte));
    startup.folders.extend(std::env::split_paths(inside));
    plain && inside.split(':').all(|folder| folder.starts_with('/'))
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
        assert!(snapshot(text, &[], &mut startup));
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
            "shopt -u autocd;alias\tls=x",
            "unalias -a ; ls() { evil; }",
            "alias -- foo='x' ls='/evil'",
            "alias -- 'l's=/evil",
            "alias -- l\\s=/evil",
            "eval $'foo () { :; }; ls () { evil; }' > /dev/null 2>&1",
            "eval $'\\x6cs () { evil; }' > /dev/null 2>&1 ; x",
            "export PATH=/usr/bin:/bin;ls(){\tevil;}",
            "export PATH=/a\tBASH_ENV=/evil",
            "export PATH=~/nb:/usr/bin",
            "export PATH=:/usr/bin",
            "shopt -s nullglob",
            "# Check for rg availability\nif [[ -x /bin/sh ]]; then :; elif [[ -x /x ]]; then ls() { evil; }; fi",
            "unknown",
        ] {
            assert!(!snapshot(&format!("# x\n{line}\n"), &[], &mut Startup::default()), "{line}");
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
