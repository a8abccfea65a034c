//! What is told of a file, a folder, or more of them than the protocol takes.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{
    ALL_OF_IT, CODE_AMONG_THEM, FileEvidence, MAX_EVIDENCE, MAX_HEAD_BYTES, MORE_FILES, NOT_TEXT,
};

use super::repositories::remotes;
use super::{MAX_ALL, MAX_FILES};
use crate::gate::ask;
use crate::gate::conditions::place;

/// Largest file whose digest is made, in bytes. A larger one is named without.
pub(super) const MAX_FILE: u64 = 8 * 1024 * 1024;
/// How programs and archives of them begin, of which a start says nothing.
const PROGRAMS: [&[u8]; 6] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"PK\x03\x04", b"\x1f\x8b"];
/// Most names below a folder that is sent as a whole.
pub(super) const MAX_TREE: usize = 200_000;

/// Most bytes of code whose words are looked at.
const MAX_CODE: usize = 2 << 20;
/// Longest time in which folders are walked for one question.
const MAX_WALKING: Duration = Duration::from_secs(1);
/// Most bytes of nothing in the beginning of what is shown as a text.
const MOST_NULS: usize = 16;
/// Longest name of an entry, in letters.
const MAX_NAME: usize = 1024;

/// What is told of a file besides its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// How it begins.
    Head,
    /// What it says of where git sends.
    Remotes,
    /// Nothing.
    Digest,
}

/// How much more is read and walked for one question.
#[derive(Debug)]
pub(super) struct Room {
    /// So many bytes may still be hashed.
    pub bytes: u64,
    since: Instant,
    /// The texts of what is code, as they were hashed: what stands in them is what runs.
    pub code: String,
    /// False where there is more code than is read.
    pub has_all_code: bool,
}

impl Room {
    pub(super) fn new() -> Self {
        Self { bytes: MAX_ALL, since: Instant::now(), code: String::new(), has_all_code: true }
    }

    fn add_code(&mut self, bytes: &[u8], is_whole: bool) {
        let is_program = is_program(bytes);
        if !is_program && is_whole && self.code.len() + bytes.len() <= MAX_CODE {
            self.code.push_str(&String::from_utf8_lossy(bytes));
            self.code.push('\n');
        } else {
            self.has_all_code &= is_program;
        }
    }

    /// True once folders have been walked for so long that whoever waits would be denied for it.
    fn is_late(&self) -> bool {
        self.since.elapsed() > MAX_WALKING
    }
}

pub(super) fn read(
    name: &str,
    file: &Path,
    told: Told,
    named: &BTreeSet<String>,
    room: &mut Room,
) -> Option<FileEvidence> {
    // Opening a FIFO would wait for whoever writes it.
    let meta = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    let whole = meta.len() <= MAX_FILE.min(room.bytes);
    let most = if whole { MAX_FILE } else { MAX_HEAD_BYTES as u64 };
    ask::open_plain(&file.canonicalize().ok()?).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    room.bytes = room.bytes.saturating_sub(bytes.len() as u64);
    if told == Told::Head {
        room.add_code(&bytes, whole);
    }
    let head = match told {
        Told::Head => start_of(&bytes),
        Told::Remotes => start_of(remotes(&String::from_utf8_lossy(&bytes), named).as_bytes()),
        Told::Digest => String::new(),
    };
    let name = name_of(name);
    // What is too long to be read whole is told apart by what any change of it changes.
    let (sha256, path) = if whole {
        (Digest::of(&bytes).hex(), name)
    } else {
        let changed = (meta.ctime(), meta.ctime_nsec());
        (String::new(), format!("{name} ({} bytes, changed at {}.{:09})", meta.len(), changed.0, changed.1))
    };
    Some(FileEvidence { path, sha256, head })
}

/// Everything below a folder: names, lengths and times, and what the files hold as long as there is room: whoever has one mapped
/// into memory can change it without changing its times. Too much has no digest.
pub(super) fn tree(folder: &str, root: &Path, room: &mut Room) -> FileEvidence {
    let too_much = || FileEvidence { path: below(folder), sha256: String::new(), head: String::new() };
    let mut lines = Vec::new();
    let (mut seen, mut files) = (std::collections::HashSet::new(), Vec::new());
    let mut waiting = vec![root.to_owned()];
    while let Some(inner) = waiting.pop() {
        let entries = std::fs::read_dir(&inner);
        if let Err(error) = &entries {
            lines.push(format!("{}\0{}\n", inner.to_string_lossy(), error.kind()));
        }
        for entry in entries.into_iter().flatten().flatten() {
            if lines.len() >= MAX_TREE || room.is_late() {
                return too_much();
            }
            let Ok(mut meta) = entry.metadata() else { continue };
            let path = entry.path();
            if meta.is_symlink() {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                lines.push(format!("{name}\0link {} {} {}\n", meta.ino(), meta.ctime(), meta.ctime_nsec()));
                // Whoever follows it sees what is there now.
                let Ok(there) = std::fs::metadata(&path) else { continue };
                meta = there;
            }
            if meta.is_dir() {
                if !seen.insert((meta.dev(), meta.ino())) {
                    continue;
                }
                waiting.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            lines.push(format!("{name}\0{}\n", state_of(&meta)));
            if meta.is_file() {
                files.push((path, meta.len()));
            }
        }
    }
    files.sort();
    for (file, length) in files {
        if room.is_late() {
            return too_much();
        }
        // Where a link leads is what is read.
        let Ok(file) = file.canonicalize() else { continue };
        if length > MAX_FILE.min(room.bytes) || is_no_file_of_anybodys(&file) {
            continue;
        }
        room.bytes = room.bytes.saturating_sub(length);
        let told = digest_of(&file, length);
        lines.push(format!("{}\0{told}\n", file.to_string_lossy()));
    }
    lines.sort();
    let sha256 = Digest::of(lines.concat().as_bytes()).hex();
    FileEvidence { path: below(folder), sha256, head: String::new() }
}

/// What the entry for everything below a folder is called.
pub(super) fn below(folder: &str) -> String {
    format!("{}/{ALL_OF_IT}", folder.trim_end_matches('/'))
}

/// What any change of a file changes, as far as the system tells.
pub(super) fn state_of(meta: &std::fs::Metadata) -> String {
    format!("{} {} {} {}", meta.len(), meta.ino(), meta.ctime(), meta.ctime_nsec())
}

/// The digest of a plain file's first bytes, or why there is none.
pub(super) fn digest_of(file: &Path, length: u64) -> String {
    // However long it says that it is: some files of the system have no end.
    let mut bytes = Vec::new();
    let opened = ask::open_plain(file).and_then(|open| open.take(length).read_to_end(&mut bytes));
    opened.map_or_else(|error| error.kind().to_string(), |_| Digest::of(&bytes).hex())
}

/// The first bytes of a text. A program is none; its digest tells which one it is, and the host takes it for code that nobody has
/// seen. What only begins like one and is a text to a shell (bash: no NUL in the first line) is shown.
pub(super) fn start_of(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(MAX_HEAD_BYTES);
    // Not in the middle of a character.
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    let head = bytes.get(..end).unwrap_or_default();
    // Shells and others run a text that has a NUL somewhere. Of an archive or an image nobody reads anything.
    let is_data = head.split(|byte| *byte == 0).count() > MOST_NULS + 1;
    if is_data || is_program(head) {
        NOT_TEXT.to_owned()
    } else {
        String::from_utf8_lossy(head).replace('\0', "\u{fffd}")
    }
}

/// True for a program of the machine's, which no interpreter reads.
fn is_program(head: &[u8]) -> bool {
    let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    PROGRAMS.iter().any(|magic| head.starts_with(magic)) && first_line.contains(&0)
}

/// A file, or the files of a folder in the order of their names, without git's samples.
pub(super) fn files_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_meant = |file: &PathBuf| file.is_file() && file.extension().is_none_or(|end| end != "sample");
    let mut files: Vec<PathBuf> = entries.filter(is_meant).take(MAX_TREE).collect();
    files.sort();
    files
}

/// The files of a folder that a pattern means, as the classifier names them.
///
/// None where there are more than are looked at.
pub(super) fn names_in(folder: &str, start: &str, end: &str, cwd: &Path) -> Option<Vec<String>> {
    let Some(place) = place(folder, cwd) else { return Some(Vec::new()) };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_meant =
        |name: &String| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    let meant = names.filter(is_meant).map(|name| format!("{folder}/{name}"));
    let mut names: Vec<String> = meant.take(MAX_FILES + 1).collect();
    names.sort();
    (names.len() <= MAX_FILES).then_some(names)
}

/// What an answer cannot be bound to.
pub(super) fn unknown(what: &str) -> FileEvidence {
    bound(what, String::new())
}

/// What an answer is bound to, without how it begins.
pub(in crate::gate) fn bound(what: &str, sha256: String) -> FileEvidence {
    FileEvidence { path: name_of(what), sha256, head: String::new() }
}

/// What an entry is called.
fn name_of(what: &str) -> String {
    what.chars().take(MAX_NAME).collect()
}

/// True for devices that hold nothing, and what a process has open, which the text names.
pub(super) fn is_no_file_of_anybodys(file: &Path) -> bool {
    file.starts_with("/dev") || file.starts_with("/proc")
}

/// Longest list of the code that is not told one by one, in letters.
const MAX_CODE_NAMED: usize = 600;

/// As many as the protocol takes, those first that are code; the last one stands for the rest.
pub(super) fn folded(mut found: Vec<FileEvidence>, more: &[String]) -> Vec<FileEvidence> {
    if found.len() <= MAX_EVIDENCE && more.is_empty() {
        return found;
    }
    found.sort_by_key(|file| file.head.is_empty());
    let is_all = found.iter().all(|file| !file.sha256.is_empty());
    let rest = found.split_off(found.len().min(MAX_EVIDENCE - 1));
    let mut lines: Vec<String> = rest.iter().map(|file| format!("{}\0{}", file.path, file.sha256)).collect();
    lines.extend_from_slice(more);
    let digest = Digest::of(lines.join("\n").as_bytes()).hex();
    // Whoever may be shown no more of them sees which of them are code.
    let code: Vec<&str> = rest.iter().filter(|file| !file.head.is_empty()).map(|file| file.path.as_str()).collect();
    let code = match code.as_slice() {
        [] => String::new(),
        named => format!("{CODE_AMONG_THEM}{}", named.join(", ")).chars().take(MAX_CODE_NAMED).collect(),
    };
    // Where one of them has no digest, nor has the rest; what is told of it differs all the same.
    let (sha256, path) = if is_all {
        (digest, format!("{}{MORE_FILES}{code}", lines.len()))
    } else {
        (String::new(), format!("{}{MORE_FILES} ({}){code}", lines.len(), digest.get(..16).unwrap_or_default()))
    };
    found.push(FileEvidence { path, sha256, head: String::new() });
    found
}
