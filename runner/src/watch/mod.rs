//! What a run changed that would run code later: git's configuration and hooks, other tools' start files.
//!
//! A sandbox keeps what exists from being changed, where it can. What does not exist yet cannot be covered without
//! leaving an empty file behind, and a repository that may be committed to can be changed in other ways; so the
//! workspace is looked at before and after.

mod acting;
mod baseline;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use acting::ActingFiles;
use baseline::Baseline;
use bashgate_hook::gate::git;
use bashgate_shared::classify::later::{Begun, Names};
use bashgate_shared::command::Digest;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use serde::{Deserialize, Serialize};

/// Most names that are looked at in a workspace.
const MOST_NAMES: usize = 2_000_000;
/// Most of a file that is compared, in bytes; what is longer is known by its times too.
const MOST_BYTES: u64 = 1 << 20;
/// Most of all files together, in bytes.
const MOST_BYTES_OF_ALL: u64 = 64 << 20;
/// Deepest folder of hooks or settings that is looked into.
const DEEPEST: usize = 8;
/// What stands in the names of files that were set aside, before a random number.
const ASIDE: &str = ".set-aside-";
/// What in a repository makes git run something.
const OF_GIT: [&str; 10] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "info/attributes",
    "hooks",
    "rebase-merge/git-rebase-todo",
    "rebase-apply",
    "sequencer",
    "objects/info/alternates",
];

/// Something that a run changed and should not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// What was changed.
    pub path: String,
    pub change: Change,
    /// The name that what is new was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aside: Option<String>,
    /// How many more there are like it.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Violation {
    fn of(path: &Path, change: Change) -> Self {
        Self { path: path.display().to_string(), change, aside: None, more: 0 }
    }

    /// True for what is there now, and acts later.
    pub const fn stays(&self) -> bool {
        matches!(self.change, Change::Created | Change::Modified | Change::NestedRepository | Change::NotAllSeen)
    }

    fn set_aside(path: &Path, aside: &Path) -> Self {
        Self { aside: Some(aside.display().to_string()), ..Self::of(path, Change::SetAside) }
    }
}

/// How something was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there before.
    Created,
    /// It was not there before, and has been given another name.
    SetAside,
    /// It is another one, or has other content.
    Modified,
    /// It was changed or removed, and has its old content again.
    PutBack,
    /// It is gone.
    Removed,
    /// It belongs to a repository inside of the workspace, and makes git run something there.
    NestedRepository,
    /// It was written to, and has another name outside of the workspace.
    WrittenThroughHardLink,
    /// Not everything in it could be looked at.
    NotAllSeen,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name is the command's own choice, and goes to somebody's terminal.
        let shown = |text: &str| text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>();
        let path = shown(&self.path);
        let aside = self.aside.as_deref().map(shown);
        let is_now = || aside.as_ref().map_or_else(String::new, |name| format!("; it is now {name}"));
        match self.change {
            Change::Created => write!(f, "{path} was created: other programs may run what it says"),
            Change::SetAside => write!(
                f,
                "{path} was created, and set aside: nobody was asked, and other programs would run what it says{}. A person who wants it gives it its name back",
                is_now()
            ),
            Change::PutBack => write!(
                f,
                "{path} was changed, and has its old content again: nobody was asked, and other programs run what it says{}",
                is_now()
            ),
            Change::Modified => write!(f, "{path} was changed: other programs may run what it says"),
            Change::Removed => write!(f, "{path} was removed"),
            Change::NestedRepository => write!(f, "{path} was created or changed: git there may run what it says"),
            Change::WrittenThroughHardLink => {
                write!(f, "{path} was written and has another name outside of the workspace")
            }
            Change::NotAllSeen => write!(f, "{path} holds more than could be looked at"),
        }?;
        if self.more > 0 { write!(f, " (and {} more like it)", self.more) } else { Ok(()) }
    }
}

/// What a file was: its kind, and a digest of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp(String);

/// What of a workspace could make other programs run something.
#[derive(Debug, Default)]
struct Seen {
    /// The repository's own, and the preset's protected files.
    own: BTreeMap<PathBuf, Stamp>,
    /// What acts later by the one list, anywhere in the workspace.
    acting: ActingFiles,
    /// What git's settings named.
    named: Vec<PathBuf>,
    /// Of repositories elsewhere in the workspace.
    nested: BTreeMap<PathBuf, Stamp>,
    /// Folders that could not be listed, and the workspace where it is too large.
    unseen: BTreeSet<PathBuf>,
    /// Bytes that have been compared.
    bytes: u64,
    /// Names that have been looked at.
    names: usize,
}

/// The state of a workspace before a run.
#[derive(Debug)]
pub struct Watch {
    workspace: PathBuf,
    protect: Vec<String>,
    before: Seen,
    since: i64,
    /// Nobody was asked about the command.
    nobody_was_asked: bool,
    /// What runs have left whose runners were killed before they could look.
    left: Vec<Violation>,
    /// The same as `before`, on the disk until somebody has looked.
    _kept: Option<Baseline>,
}

impl Watch {
    /// Looks at a workspace that is about to be written. With a folder `state`, what is seen is kept there until the end, so that
    /// what a run plants whose runner is killed does not count as having been there before.
    pub fn before(workspace: &Path, protect: Vec<String>, state: Option<&Path>, nobody_was_asked: bool) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let look = || Seen::of(workspace, &protect, &mut |_| {});
        let mut before = look();
        let left = state.map(|state| baseline::left_behind(state, workspace, &before)).unwrap_or_default();
        if left.iter().any(|violation| violation.change == Change::SetAside) {
            before = look();
        }
        let kept = state.and_then(|state| Baseline::keep(state, workspace, &before, nobody_was_asked));
        Self {
            workspace: workspace.to_owned(),
            before,
            protect,
            since: i64::try_from(since).unwrap_or(i64::MAX),
            nobody_was_asked,
            left,
            _kept: kept,
        }
    }

    /// What acts later and is there already: no run may write it.
    pub fn to_protect(&self) -> impl Iterator<Item = &PathBuf> {
        self.before.acting.to_protect()
    }

    /// What has changed since. What is new and would be run by git or another tool in this very workspace is set aside, when
    /// nobody was asked about the command.
    pub fn after(&self, checks_out: bool) -> Vec<Violation> {
        let nobody_was_asked = self.nobody_was_asked;
        let around = Around { workspace: &self.workspace, nobody_was_asked, checks_out };
        // Files with several names that were written, and how many of the names are in the workspace. Times of change
        // cannot be set back, those of modification can. A name that is gone again is not seen.
        let mut linked: BTreeMap<(u64, u64), (u64, u64, PathBuf)> = BTreeMap::new();
        let after = Seen::of(&self.workspace, &self.protect, &mut |path| {
            if let Ok(found) = fs::symlink_metadata(path)
                && found.is_file()
                && found.nlink() > 1
                && found.ctime() >= self.since
            {
                let entry = linked.entry((found.dev(), found.ino())).or_insert((0, found.nlink(), path.to_owned()));
                entry.0 += 1;
            }
        });
        let mut found = self.left.clone();
        for (path, stamp) in &after.own {
            match self.before.own.get(path) {
                None if nobody_was_asked
                    && self.is_start_file(path)
                    && let Ok(aside) = set_aside(path) =>
                {
                    found.push(Violation::set_aside(path, &aside));
                }
                None => found.push(Violation::of(path, Change::Created)),
                Some(before) if before != stamp => found.push(Violation::of(path, Change::Modified)),
                Some(_) => {}
            }
        }
        for (path, stamp) in &after.nested {
            match self.before.nested.get(path) {
                // Git makes no hook but its samples.
                None if nobody_was_asked
                    && path.components().any(|part| part.as_os_str() == "hooks")
                    && let Ok(aside) = set_aside(path) =>
                {
                    found.push(Violation::set_aside(path, &aside));
                }
                before if before != Some(stamp) => found.push(Violation::of(path, Change::NestedRepository)),
                _ => {}
            }
        }
        found.extend(self.before.acting.changes_to(&after.acting, &around));
        let mut note = |path: &Path, change| found.push(Violation::of(path, change));
        for path in self.before.own.keys().filter(|path| !after.own.contains_key(*path)) {
            note(path, Change::Removed);
        }
        for path in after.unseen.iter().filter(|path| **path == self.workspace || !self.before.unseen.contains(*path)) {
            note(path, Change::NotAllSeen);
        }
        for (_, _, path) in linked.values().filter(|(inside, all, _)| inside < all) {
            note(path, Change::WrittenThroughHardLink);
        }
        found.sort();
        found.dedup();
        found
    }
}

/// How a run went, as far as it matters for what it left.
#[derive(Debug, Clone, Copy)]
pub struct Around<'w> {
    /// The folder that it worked in.
    pub workspace: &'w Path,
    /// Nobody was asked about the command.
    pub nobody_was_asked: bool,
    /// Its text has git bring files of commits into the working tree, and make none.
    pub checks_out: bool,
}

/// Opens a file by its own name. It may have become something meanwhile that would be waited for.
fn open(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// The same, by a path on which there is no link either.
fn open_without_links(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?.into())
}

/// The start of a regular file, as far as it is text.
fn text_of(file: &Path) -> String {
    let mut bytes = Vec::new();
    let read = open(file).and_then(|opened| {
        let is_file = opened.metadata()?.is_file();
        if is_file { opened.take(MOST_BYTES).read_to_end(&mut bytes) } else { Ok(0) }
    });
    read.map(|_| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Gives a file that should not be there another name beside it, under which nothing looks for it. No link is followed: a
/// command could have put one on the way.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no name"));
    };
    let folder = folder_without_links(parent)?;
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    // Room for what is added.
    let name_bytes = name.as_bytes();
    let mut aside = std::ffi::OsStr::from_bytes(name_bytes.get(..200).unwrap_or(name_bytes)).to_owned();
    aside.push(format!("{ASIDE}{random:016x}"));
    match rustix::fs::renameat(&folder, name, &folder, &aside) {
        Err(rustix::io::Errno::ACCESS) => {
            // The run has closed its own folder, which is ours to open.
            let mode = rustix::fs::fstat(&folder)?.st_mode;
            rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode & 0o777 | 0o300))?;
            let renamed = rustix::fs::renameat(&folder, name, &folder, &aside);
            rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode & 0o777))?;
            renamed?;
        }
        renamed => renamed?,
    }
    Ok(parent.join(aside))
}

/// True for a name that [`set_aside`] gave, under which nothing looks for a file.
fn is_set_aside(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.rsplit_once(ASIDE)
        .is_some_and(|(_, rest)| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Opens a folder by a path on which there is no link: a command could have put one on the way.
fn folder_without_links(folder: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// Gives the owner of a folder, who is this process's user, the right to look into it. True when that was missing.
fn opened_again(folder: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    let Ok(opened) = opened.map(fs::File::from) else { return false };
    let Ok(meta) = opened.metadata() else { return false };
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o500 == 0o500 || meta.uid() != rustix::process::geteuid().as_raw() {
        return false;
    }
    // By the descriptor, which is of this folder and no other one.
    let by_descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&opened));
    fs::set_permissions(by_descriptor, fs::Permissions::from_mode(mode | 0o700)).is_ok()
}

/// What git's settings in force in a workspace name and what lies in it: hooks, and further settings.
fn named_by_settings(workspace: &Path) -> Vec<PathBuf> {
    let named = git::named::by_settings(workspace).ok().flatten().unwrap_or_default();
    let mut inside: Vec<PathBuf> = named.into_iter().filter(|path| path.starts_with(workspace)).take(64).collect();
    inside.sort();
    inside.dedup();
    inside
}

impl Watch {
    /// True for what other programs run at their start, and false for what git itself makes at its work.
    fn is_start_file(&self, path: &Path) -> bool {
        let git = self.workspace.join(".git");
        let of_git = ["config.worktree", "commondir", "gitdir", "info/attributes", "hooks"];
        of_git.iter().any(|name| path.starts_with(git.join(name)))
            || self.protect.iter().any(|name| path.starts_with(self.workspace.join(name)))
            || self.before.named.iter().any(|named| path.starts_with(named))
    }
}

impl Seen {
    /// Looks at a workspace, and names every other file to somebody.
    fn of(workspace: &Path, protect: &[String], other: &mut impl FnMut(&Path)) -> Self {
        let mut seen = Self::default();
        let mut own = BTreeMap::new();
        let git = workspace.join(".git");
        if let Ok(found) = fs::symlink_metadata(&git) {
            // The folder itself may change all the time, but not become another one.
            let stamp = if found.is_dir() { Stamp(format!("folder {}", found.ino())) } else { seen.stamp(&git) };
            own.insert(git.clone(), stamp);
            seen.repository(&git, &mut own, 0);
            seen.git_file(&git, &mut own);
            for named in named_by_settings(workspace) {
                seen.add(&named, &mut own, 0);
                seen.named.push(named);
            }
        }
        for name in protect {
            seen.add(&workspace.join(name), &mut own, 0);
        }
        seen.own = own;
        seen.walk(workspace, &git, other);
        seen
    }

    /// Everything below the workspace, without following links.
    fn walk(&mut self, workspace: &Path, own: &Path, other: &mut impl FnMut(&Path)) {
        let mut nested = BTreeMap::new();
        let mut acting = ActingFiles::default();
        let (names, root) = (Names::all(), workspace.to_string_lossy().into_owned());
        let mut folders = vec![(workspace.to_owned(), Begun::No)];
        'all: while let Some((folder, begun)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // A run may have closed a folder of its own, so that nobody looks into it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && opened_again(&folder) => {
                    folders.push((folder, begun));
                    continue;
                }
                Err(_) => {
                    self.unseen.insert(folder);
                    continue;
                }
            };
            // A folder that looks like a repository is one to git, whatever it is called.
            if ["HEAD", "objects", "refs"].iter().all(|part| folder.join(part).exists()) {
                self.repository(&folder, &mut nested, 0);
            }
            for entry in entries.flatten() {
                if !self.has_room() {
                    self.unseen.insert(workspace.to_owned());
                    break 'all;
                }
                let path = entry.path();
                if path == own {
                    continue;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let begun = names.step(begun, &entry.file_name().to_string_lossy());
                if begun == Begun::Yes && entry.file_name() != ".git" {
                    acting.look_at(self, &path, is_folder, &root);
                }
                if entry.file_name() == ".git" {
                    if !is_folder {
                        nested.insert(path.clone(), self.stamp(&path));
                        self.git_file(&path, &mut nested);
                    }
                    self.repository(&path, &mut nested, 0);
                } else if is_folder {
                    folders.push((path, begun));
                } else {
                    other(&path);
                }
            }
        }
        self.nested = nested;
        self.acting = acting;
    }

    /// True while not too much has been looked at.
    fn has_room(&mut self) -> bool {
        self.names += 1;
        self.names <= MOST_NAMES
    }

    /// Where a `.git` that is a file points to.
    fn git_file(&mut self, file: &Path, into: &mut BTreeMap<PathBuf, Stamp>) {
        let text = text_of(file);
        if let (Some(to), Some(folder)) = (text.trim().strip_prefix("gitdir:"), file.parent()) {
            self.repository(&folder.join(to.trim()), into, 0);
        }
    }

    /// What makes git run something in a repository, and in its submodules and worktrees.
    fn repository(&mut self, git: &Path, into: &mut BTreeMap<PathBuf, Stamp>, depth: usize) {
        for name in OF_GIT {
            self.add(&git.join(name), into, 0);
        }
        if depth > DEEPEST {
            self.unseen.insert(git.to_owned());
            return;
        }
        // A submodule's name may hold slashes, so that its folder lies deeper.
        let deeper = if depth == 0 { vec![git.join("modules"), git.join("worktrees")] } else { vec![git.to_owned()] };
        for folder in deeper {
            // Behind a link lies somebody else's folder.
            if fs::symlink_metadata(&folder).is_ok_and(|found| found.is_symlink()) {
                into.insert(folder.clone(), self.stamp(&folder));
                continue;
            }
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if !self.has_room() {
                    self.unseen.insert(git.to_owned());
                    return;
                }
                let is_data = depth > 0
                    && git.join("HEAD").exists()
                    && ["objects", "refs", "logs", "hooks", "info"].iter().any(|name| entry.file_name() == *name);
                if !is_data && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    self.repository(&entry.path(), into, depth + 1);
                }
            }
        }
    }

    fn add(&mut self, path: &Path, into: &mut BTreeMap<PathBuf, Stamp>, depth: usize) {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        // Git puts them there itself, and runs none.
        if path.extension().is_some_and(|end| end == "sample") {
            return;
        }
        if !self.has_room() || depth > DEEPEST {
            self.unseen.insert(path.to_owned());
        } else if found.is_dir() {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                self.add(&entry.path(), into, depth + 1);
            }
        } else {
            into.insert(path.to_owned(), self.stamp(path));
        }
    }

    fn stamp(&mut self, path: &Path) -> Stamp {
        let Ok(found) = fs::symlink_metadata(path) else { return Stamp("gone".to_owned()) };
        let kind = found.mode();
        if found.is_symlink() {
            // What lies behind it counts as well.
            let target = fs::canonicalize(path).ok().filter(|target| target.is_file());
            let behind = target.map(|target| self.stamp(&target));
            return Stamp(format!("link {:?} {behind:?}", fs::read_link(path).ok()));
        }
        let by_times = || Stamp(format!("{kind:o} {} {} {}", found.len(), found.ctime(), found.ctime_nsec()));
        if found.is_file() && found.len() > 0 {
            let length = found.len().min(MOST_BYTES);
            if found.len() > MOST_BYTES || self.bytes + length > MOST_BYTES_OF_ALL {
                return by_times();
            }
            self.bytes += length;
        }
        let mut bytes = Vec::new();
        let read = if found.is_file() {
            open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
        } else {
            Ok(0)
        };
        match read {
            Ok(_) => Stamp(format!("{kind:o} {} {:?}", found.len(), Digest::of(&bytes))),
            Err(_) => by_times(),
        }
    }
}
