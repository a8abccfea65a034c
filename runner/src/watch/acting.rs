//! Files of a workspace that act later, wherever they lie in it: by the one list of [`bashgate_shared::classify::later`].
//!
//! What was there is remembered with its content, so that it can be put back where a sandbox could not keep it. What is new
//! is set aside when nobody was asked about the command and no everyday tool makes such files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_hook::gate::git;
use bashgate_shared::classify::later::{self, Later, Tier};
use rustix::fs::{Mode, OFlags};

use super::{
    Around, Change, Seen, Stamp, Violation, folder_without_links, is_set_aside, open_without_links, set_aside,
};

/// Longest file that is remembered with its content, and the most of all of them, in bytes.
const MOST_KEPT: u64 = 256 << 10;
const MOST_KEPT_OF_ALL: usize = 16 << 20;
/// Most files of one kind that are named one by one.
const MOST_NAMED: usize = 8;

/// A file that acts later, as it was.
#[derive(Debug)]
struct Acting {
    stamp: Stamp,
    later: Later,
    kept: Option<Kept>,
}

/// What is needed to put a file back.
#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    /// Without the bits that lend a user's rights: who puts it back may be another one than who made it.
    mode: u32,
}

/// All of them, by their paths.
#[derive(Debug, Default)]
pub(super) struct ActingFiles {
    found: BTreeMap<PathBuf, Acting>,
    /// Folders that count as a whole.
    folders: Vec<PathBuf>,
    kept_bytes: usize,
}

impl ActingFiles {
    /// Takes a path in, if it acts later.
    pub(super) fn look_at(&mut self, seen: &mut Seen, path: &Path, is_folder: bool, workspace: &str) {
        // What is no text in a name is no part of the names that are looked for.
        let Some(later) =
            later::of(&path.to_string_lossy(), Some(workspace)).filter(|later| later.tier != Tier::Steers)
        else {
            return;
        };
        if is_set_aside(path) {
            return;
        }
        if is_folder {
            if later.is_kept {
                self.folders.push(path.to_owned());
            }
            return;
        }
        let stamp = seen.stamp(path);
        let kept = if later.is_kept { self.content(path) } else { None };
        self.found.insert(path.to_owned(), Acting { stamp, later, kept });
    }

    fn content(&mut self, path: &Path) -> Option<Kept> {
        // On no link, which another run could put on the way to show this process something that is hidden from that run; and
        // only what is of whoever looks, who will be the one to write it.
        let file = open_without_links(path).ok()?;
        let meta = file.metadata().ok()?;
        let has_room = meta.len() <= MOST_KEPT && self.kept_bytes < MOST_KEPT_OF_ALL;
        let is_own = meta.uid() == rustix::process::geteuid().as_raw();
        if !meta.is_file() || !has_room || !is_own {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MOST_KEPT).read_to_end(&mut bytes).ok()?;
        self.kept_bytes += bytes.len();
        Some(Kept { bytes, mode: meta.permissions().mode() & 0o777 })
    }

    /// What no run may write: the kept ones that are there, folders as a whole.
    pub(super) fn to_protect(&self) -> impl Iterator<Item = &PathBuf> {
        let in_folder = |path: &Path| self.folders.iter().any(|folder| path.starts_with(folder) && path != folder);
        let files = self.found.iter().filter(|(_, acting)| acting.later.is_kept).map(|(path, _)| path);
        self.folders.iter().chain(files).filter(move |path| !in_folder(path))
    }

    /// All of them, with what they were and whether everyday tools make none.
    pub(super) fn stamps(&self) -> impl Iterator<Item = (&PathBuf, &Stamp, bool)> {
        self.found.iter().map(|(path, acting)| (path, &acting.stamp, acting.later.is_kept))
    }

    /// What has changed since, and what was done about it where nobody was asked.
    pub(super) fn changes_to(&self, after: &Self, around: &Around<'_>) -> Vec<Violation> {
        let nobody_was_asked = around.nobody_was_asked;
        let mut found = Vec::new();
        for (path, now) in &after.found {
            match self.found.get(path) {
                None => found.push(created(path, &now.later, around)),
                Some(before) if before.stamp != now.stamp => {
                    let kept = before.kept.as_ref().filter(|_| nobody_was_asked);
                    found.push(kept.map_or_else(|| Violation::of(path, Change::Modified), |kept| put_back(path, kept)));
                }
                Some(_) => {}
            }
        }
        for (path, before) in self.found.iter().filter(|(path, _)| !after.found.contains_key(*path)) {
            // Without them an agent may run ungated.
            let kept = before.kept.as_ref().filter(|_| nobody_was_asked && before.later.tier == Tier::Gate);
            found.push(kept.map_or_else(|| Violation::of(path, Change::Removed), |kept| put_back(path, kept)));
        }
        folded(found)
    }
}

fn created(path: &Path, later: &Later, around: &Around<'_>) -> Violation {
    let by_git = || later.tier != Tier::Gate && around.checks_out && git::is_tracked(path, around.workspace);
    if around.nobody_was_asked
        && later.is_kept
        && !by_git()
        && let Ok(aside) = set_aside(path)
    {
        return Violation::set_aside(path, &aside);
    }
    Violation::of(path, Change::Created)
}

/// Gives a file its old content again. What stands there now is kept beside it.
fn put_back(path: &Path, kept: &Kept) -> Violation {
    let aside = match set_aside(path) {
        Ok(aside) => Some(aside),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => return Violation::of(path, Change::Modified),
    };
    match write_new(path, kept) {
        Ok(()) => {
            Violation { aside: aside.map(|aside| aside.display().to_string()), ..Violation::of(path, Change::PutBack) }
        }
        Err(_) => Violation::of(path, Change::Modified),
    }
}

fn write_new(path: &Path, kept: &Kept) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no name"));
    };
    let folder = made_without_links(parent)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = fs::File::from(rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o600))?);
    file.write_all(&kept.bytes)?;
    file.set_permissions(fs::Permissions::from_mode(kept.mode))
}

/// Opens a folder as [`folder_without_links`] does, and makes what is missing of it.
fn made_without_links(folder: &Path) -> io::Result<OwnedFd> {
    match folder_without_links(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Err(error) };
            let above = made_without_links(parent)?;
            rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o755))?;
            folder_without_links(folder)
        }
        opened => opened,
    }
}

/// The first few of each kind, and how many more there are: a package manager makes hundreds.
fn folded(all: Vec<Violation>) -> Vec<Violation> {
    let mut counts: BTreeMap<Change, usize> = BTreeMap::new();
    let mut shown: Vec<Violation> = Vec::new();
    for violation in all {
        let count = counts.entry(violation.change).or_default();
        *count += 1;
        if *count <= MOST_NAMED {
            shown.push(violation);
        }
    }
    for (change, count) in counts.into_iter().filter(|(_, count)| *count > MOST_NAMED) {
        if let Some(last) = shown.iter_mut().rfind(|violation| violation.change == change) {
            last.more = count - MOST_NAMED;
        }
    }
    shown
}
