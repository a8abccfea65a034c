//! Temporary folders of a run's own, and what its command names of the machine's.
//!
//! What lies in `/tmp` is believed by programs of the same user that go on outside: a compiler's files between its steps, caches,
//! drafts. So a run gets other folders in their place. What its command names there is lent to it, and what it leaves under such a name
//! comes out again, where nothing else has it by now. What nobody named is nothing that an agent goes on with, and may be what other
//! programs look for.
//!
//! INVARIANT: nothing is lent or comes out through a link, and nothing that stood there is replaced by something else than what the
//! run was lent under that name.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::classify::later;
use bashgate_shared::classify::paths::{TEMPORARY, is_within};
use bashgate_shared::programs::dependencies;
use rustix::fs::{AtFlags, CWD, RenameFlags};

use super::{Places, Temporary};
use crate::inner::Expected;
use crate::user::RunAs;

/// Most names that are lent.
const MOST_LENT: usize = 256;
/// Most names that come out.
const MOST_OUT: usize = 1_000;

/// What a command names in the machine's temporary folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lent {
    /// Folders that are there.
    pub(super) folders: Vec<Expected>,
    /// Regular files that are there.
    pub(super) files: Vec<Expected>,
    /// What is not there.
    missing: Vec<Missing>,
}

/// A name that the run may make.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Missing {
    path: PathBuf,
    /// The command goes on below it, or makes it as a folder.
    is_folder: bool,
    /// It is made for the run where the run cannot make it.
    is_made: bool,
}

impl Lent {
    /// The folders among it that are there.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|one| Path::new(&one.path))
    }

    /// The names in a command's text that it may be lent, whatever they are.
    pub fn named_in(text: &str) -> Vec<PathBuf> {
        let all = TEMPORARY.iter().flat_map(|folder| {
            named_in(text, folder).into_iter().take(MOST_LENT).map(move |named| Path::new(folder).join(named.name))
        });
        all.collect()
    }

    /// Reads the names out of a command's text, and looks what they are. What is hidden, the runner's own, or part of where the run
    /// works is no more lent than it was.
    pub fn of(text: &str, places: &Places, own: &[PathBuf]) -> Self {
        let mut lent = Self::default();
        for folder in TEMPORARY {
            for named in named_in(text, folder).into_iter().take(MOST_LENT) {
                named.look(folder, &mut lent);
            }
        }
        // Of one name the text may go on below it in one place, and not in another.
        let mut missing: Vec<Missing> = Vec::new();
        for one in std::mem::take(&mut lent.missing) {
            match missing.iter_mut().find(|known| known.path == one.path) {
                Some(known) => {
                    known.is_folder |= one.is_folder;
                    known.is_made |= one.is_made;
                }
                None => missing.push(one),
            }
        }
        lent.missing = missing;
        let own = own.iter().filter_map(|path| fs::canonicalize(path).ok()?.into_os_string().into_string().ok());
        let works = [&places.workspace, &places.cwd].into_iter().chain(places.write.iter().map(|(path, ..)| path));
        let kept: Vec<String> = places.never_read.iter().chain(works).cloned().chain(own).collect();
        let may_be = |path: &str| !kept.iter().any(|other| is_within(path, other) || is_within(other, path));
        lent.folders.retain(|one| may_be(&one.path));
        lent.files.retain(|one| may_be(&one.path));
        lent.missing.retain(|one| one.path.to_str().is_some_and(may_be));
        lent
    }

    /// Adds what is there under a name: a file or folder itself, never what a link leads to.
    fn add(&mut self, path: &Path) -> bool {
        let (Ok(found), Some(text)) = (fs::symlink_metadata(path), path.to_str()) else { return false };
        let one = Expected { path: text.to_owned(), dev: found.dev(), ino: found.ino() };
        let list = match found.file_type() {
            kind if kind.is_dir() => &mut self.folders,
            kind if kind.is_file() => &mut self.files,
            _ => return false,
        };
        if list.len() < MOST_LENT && !list.iter().any(|other| other.path == one.path) {
            list.push(one);
        }
        true
    }
}

/// A whole name in one of the folders, as a text has it. A pattern names nothing: it stands for what nobody has named, such as the
/// files of a program that is at work.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    name: String,
    /// The text has it as a word beside the folder's name (`cd /tmp && …`), not behind it.
    is_beside: bool,
    /// The text goes on below it, or makes it as a folder.
    is_folder: bool,
}

impl Named {
    /// Adds what this name means.
    fn look(self, folder: &str, lent: &mut Lent) {
        let path = Path::new(folder).join(&self.name);
        if !lent.add(&path) && path.symlink_metadata().is_err() && comes_out(&self.name) {
            // A word may be anything; what has an ending is most likely a file.
            let is_made = !self.is_beside || self.is_folder || self.name.contains('.');
            lent.missing.push(Missing { path, is_folder: self.is_folder, is_made });
        }
    }
}

/// False for a name that programs look for wherever they are started, or that nobody sees in a list.
fn comes_out(name: &str) -> bool {
    let acts = || ["/tmp", "/tmp/x"].iter().any(|cwd| later::of(&format!("/tmp/{name}"), Some(cwd)).is_some());
    may_be_named(name) && !name.starts_with('.') && !dependencies::is_looked_for(name) && !acts()
}

/// What ends a name in a text. A name with one of these in it is not found.
fn ends_a_name(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`;&|<>(){}[]*?$\\,:/!^".contains(c)
}

/// False for what runs keep for themselves, and for what is no name.
fn may_be_named(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !super::temporary::is_of_a_run(name)
}

/// The names in a folder that a text has. Where the folder itself is named, each word of the text may be one.
fn named_in(text: &str, folder: &str) -> BTreeSet<Named> {
    let mut found = BTreeSet::new();
    let mut is_bare = false;
    for (at, _) in text.match_indices(folder) {
        let (before, rest) = text.split_at(at);
        if before.ends_with(|c: char| c.is_alphanumeric() || "_-.~}".contains(c)) {
            continue;
        }
        let rest = rest.get(folder.len()..).unwrap_or_default();
        let below = rest.trim_start_matches('/');
        if below.len() < rest.len() && !below.is_empty() {
            found.extend(name_at(before, below, false));
        } else if rest.starts_with(ends_a_name) || rest.is_empty() {
            is_bare = true;
        }
    }
    if is_bare {
        let mut at = 0;
        for word in text.split_inclusive(|c: char| ends_a_name(c) && !"/*?[{$".contains(c)) {
            let (before, rest) = text.split_at(at);
            at += word.len();
            let rest = rest.strip_prefix("./").unwrap_or(rest);
            if !rest.starts_with(['/', '-', '~']) {
                found.extend(name_at(before, rest, true));
            }
        }
    }
    found
}

/// The name that a text begins with, behind another text.
fn name_at(before: &str, text: &str, is_beside: bool) -> Option<Named> {
    let end = text.find(ends_a_name).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_pattern = rest.starts_with(['*', '?', '[', '{', '$', '`', '\\']);
    if is_pattern || !may_be_named(name) {
        return None;
    }
    let below = rest.trim_start_matches('/');
    let goes_on = below.len() < rest.len() && !below.is_empty() && !below.starts_with(char::is_whitespace);
    let command = before.rsplit([';', '&', '|', '\n', '(']).next().unwrap_or_default();
    let is_made = command.split_whitespace().next() == Some("mkdir") && command.contains("-p");
    Some(Named { name: name.to_owned(), is_beside, is_folder: goes_on || is_made })
}

/// A run's own temporary folders, for as long as it goes on.
#[derive(Debug)]
pub struct OwnTmp {
    /// Each with the machine's folder whose place it takes.
    folders: Vec<(&'static str, Temporary)>,
    /// Files that lie in them under the names that they have outside.
    linked: Vec<Expected>,
    /// Files and folders that were made for the run: until it has written there they are nothing.
    made: Vec<(PathBuf, (i64, i64))>,
    /// What comes out: names that the command has.
    named: BTreeSet<PathBuf>,
}

impl OwnTmp {
    /// One folder for temporary files, for a sandbox in which the machine's stay where they are. What the command names and is not
    /// there is made, since nothing else can be made there; a name without an ending that stands for a folder is one.
    pub(super) fn beside(run_as: RunAs, lent: &Lent) -> io::Result<Self> {
        let mut own = Self::in_folders(run_as, &TEMPORARY[..1])?;
        for missing in lent.missing.iter().filter(|missing| missing.is_made) {
            let made = if missing.is_folder {
                fs::DirBuilder::new().mode(0o755).create(&missing.path)
            } else {
                fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&missing.path).map(drop)
            };
            if made.and_then(|()| run_as.give(&missing.path)).is_ok()
                && let Ok(found) = fs::symlink_metadata(&missing.path)
            {
                own.made.push((missing.path.clone(), (found.mtime(), found.mtime_nsec())));
            }
        }
        Ok(own)
    }

    /// One for each of the machine's, for a sandbox in which they take their places.
    pub(super) fn instead(run_as: RunAs, lent: &Lent) -> io::Result<Self> {
        let mut own = Self::in_folders(run_as, &TEMPORARY)?;
        own.named = lent.missing.iter().map(|missing| missing.path.clone()).collect();
        let worker = run_as.uid();
        for file in &lent.files {
            let Some(at) = own.at(Path::new(&file.path)) else { continue };
            // Root could link, replace and remove what is anybody's; the run may only with its user's own.
            if fs::symlink_metadata(&file.path).map_or(true, |found| found.uid() != worker) {
                continue;
            }
            // The file itself under its own name, so that it can be replaced and removed like any other.
            let linked = rustix::fs::linkat(CWD, &*file.path, CWD, &at, AtFlags::empty());
            match linked.ok().and_then(|()| fs::symlink_metadata(&at).ok()) {
                Some(found) if (found.dev(), found.ino()) == (file.dev, file.ino) => own.linked.push(file.clone()),
                Some(_) => fs::remove_file(&at)?,
                None => {}
            }
        }
        Ok(own)
    }

    fn in_folders(run_as: RunAs, all: &'static [&'static str]) -> io::Result<Self> {
        // What is given away lies in a folder that is not: else its new owner could put another one in its place.
        let mode = if matches!(run_as, RunAs::Owner { .. }) { 0o711 } else { 0o700 };
        let mut folders = Vec::new();
        for folder in all.iter().filter(|folder| Path::new(folder).is_dir()) {
            let outer = Temporary::make(Path::new(folder), mode)?;
            let inner = outer.path().join("tmp");
            fs::DirBuilder::new().mode(0o700).create(&inner)?;
            run_as.give(&inner)?;
            folders.push((*folder, outer));
        }
        Ok(Self { folders, linked: Vec::new(), made: Vec::new(), named: BTreeSet::new() })
    }

    /// The folders, each with the one whose place it takes.
    pub(super) fn mounts(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        self.folders.iter().map(|(folder, outer)| (outer.path().join("tmp"), *folder))
    }

    /// What was made for the run in the machine's folders.
    pub(super) fn made(&self) -> impl Iterator<Item = &Path> {
        self.made.iter().map(|(path, _)| path.as_path())
    }

    /// True for a file that lies in the run's own folder.
    pub(super) fn has(&self, file: &Expected) -> bool {
        self.linked.contains(file)
    }

    /// Where something of the machine's folders lies in the run's own.
    fn at(&self, path: &Path) -> Option<PathBuf> {
        let parent = path.parent()?;
        let (_, outer) = self.folders.iter().find(|(folder, _)| Path::new(folder) == parent)?;
        Some(outer.path().join("tmp").join(path.file_name()?))
    }

    /// Gives out what the run has left, when nothing of it goes on any more. Takes what it was lent and has removed out of the
    /// machine's folder, and puts what it has made of it in its place.
    ///
    /// Whatever fails stays as it was outside.
    pub fn hand_out(&mut self) {
        for file in std::mem::take(&mut self.linked) {
            let path = PathBuf::from(&file.path);
            let Some(at) = self.at(&path) else { continue };
            let is_it = |path: &Path| is_the_one(path, &file);
            // Somebody else's by now is nobody's to replace.
            if is_it(&at) || !is_it(&path) {
                let _ = is_it(&at).then(|| fs::remove_file(&at));
                continue;
            }
            match fs::symlink_metadata(&at) {
                Ok(found) if found.is_file() => drop(fs::rename(&at, &path)),
                Ok(_) => {}
                Err(_) => drop(fs::remove_file(&path)),
            }
        }
        for (folder, outer) in &self.folders {
            let entries = fs::read_dir(outer.path().join("tmp")).into_iter().flatten().flatten();
            for entry in entries.take(MOST_OUT) {
                let name = entry.file_name();
                let to = Path::new(folder).join(&name);
                let Some(name) = name.to_str() else { continue };
                let is_named = self.named.contains(&to) || is_of_mktemp(name);
                // What has another name in the workspace would be written by runs to come.
                let is_whole = fs::symlink_metadata(entry.path())
                    .is_ok_and(|found| found.is_dir() || found.is_file() && found.nlink() == 1);
                if is_named && is_whole && comes_out(name) {
                    let _ = rustix::fs::renameat_with(CWD, entry.path(), CWD, &to, RenameFlags::NOREPLACE);
                }
            }
        }
    }
}

impl Drop for OwnTmp {
    fn drop(&mut self) {
        for (path, time) in &self.made {
            let Ok(found) = fs::symlink_metadata(path) else { continue };
            if (found.mtime(), found.mtime_nsec()) != *time {
                continue;
            }
            // A folder goes only while it is empty.
            let _ = if found.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
        }
    }
}

fn is_the_one(path: &Path, file: &Expected) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (file.dev, file.ino))
}

/// True for a name that `mktemp -d` makes: random, so that no program looks for it.
fn is_of_mktemp(name: &str) -> bool {
    name.strip_prefix("tmp.")
        .is_some_and(|rest| rest.len() == 10 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, folder: &str) -> Vec<(String, bool)> {
        let found = named_in(text, folder).into_iter().filter(|named| !named.is_beside);
        found.map(|named| (named.name, named.is_folder)).collect()
    }

    #[test]
    fn names_are_read_out_of_a_text() {
        let cases: &[(&str, &[(&str, bool)])] = &[
            ("npm test > /tmp/test.log 2>&1; tail /tmp/test.log", &[("test.log", false)]),
            ("cmake -B/opt/x -S /tmp/src/a --log=\"/tmp/c d\"", &[("c", false), ("src", true)]),
            ("cp 'a' '/tmp/x.txt'", &[("x.txt", false)]),
            ("mkdir -p /tmp/a /tmp/b; touch /tmp/c", &[("a", true), ("b", true), ("c", false)]),
            ("cat /home/u/tmp/x ./tmp/y ~/tmp/z ${H}/tmp/w a/tmp/v", &[]),
            ("cat /tmpx/y /tmp-1/z", &[]),
            ("ls //tmp//x/", &[("x", false)]),
            ("echo /tmp/../etc /tmp/. /tmp/bashgate-0123456789abcdef/tmp/x", &[]),
            ("echo /var/tmp/only-there", &[]),
            ("cat /tmp/cc* /tmp/go-build$x /tmp/a?b /tmp/{a,b} /tmp/x\\*", &[]),
        ];
        for (text, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(name, folder)| ((*name).to_owned(), *folder)).collect();
            assert_eq!(names(text, "/tmp"), expected, "{text}");
        }
        assert_eq!(names("ls /var/tmp/a", "/var/tmp"), [("a".to_owned(), false)]);
    }

    #[test]
    fn where_the_folder_is_named_words_are_names() {
        let found = named_in("cd /tmp && rm -rf t && mkdir -p t && cd t && sh ../x.sh > out/log", "/tmp");
        let has = |name: &str, is_folder| {
            found.iter().any(|one| one.name == name && one.is_folder == is_folder && one.is_beside)
        };
        assert!(has("t", true) && has("out", true) && !has("..", true), "{found:?}");
    }

    #[test]
    fn what_is_lent_is_no_link_and_no_device_and_what_acts_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        rustix::fs::mknodat(CWD, folder.path().join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let mut lent = Lent::default();
        let mut look = |name: &str, is_beside: bool| {
            let named = Named { name: name.to_owned(), is_beside, is_folder: false };
            named.look(folder.path().to_str().unwrap(), &mut lent);
        };
        for name in ["link", "pipe", ".envrc", ".cargo", ".git", ".mcp.json", "CLAUDE.md", "sitecustomize.py"] {
            look(name, false);
        }
        look("echo", true);
        look("x.log", true);
        look("plain", false);
        assert!(lent.files.is_empty() && lent.folders.is_empty());
        let made: Vec<_> =
            lent.missing.iter().map(|one| (one.path.file_name().unwrap().to_str().unwrap(), one.is_made)).collect();
        assert_eq!(made, [("echo", false), ("x.log", true), ("plain", true)]);
    }
}
