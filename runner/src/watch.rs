//! What a run changed that would run code later: git's configuration and hooks, other tools' start files.
//!
//! A sandbox keeps what exists from being changed, where it can. What does not exist yet cannot be covered without
//! leaving an empty file behind, and a repository that may be committed to can be changed in other ways; so the
//! workspace is looked at before and after.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use bashgate_shared::command::Digest;
use serde::Serialize;

/// Most names that are looked at in a workspace.
const MOST_NAMES: usize = 50_000;
/// Most of a file that is compared, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// What in a repository makes git run something.
const OF_GIT: [&str; 6] = ["config", "config.worktree", "commondir", "gitdir", "info/attributes", "hooks"];

/// Something that a run changed and should not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// What was changed.
    pub path: String,
    /// How.
    pub change: Change,
}

/// How something was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there before.
    Created,
    /// It is another one, or has other content.
    Modified,
    /// It is gone.
    Removed,
    /// It is a repository inside of the repository, with a configuration of its own.
    NestedRepository,
    /// It was written to, and has another name outside of the workspace.
    WrittenThroughHardLink,
    /// There are too many names to look at them all.
    NotAllSeen,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.change {
            Change::Created => write!(f, "{path} was created: other programs may run what it says"),
            Change::Modified => write!(f, "{path} was changed: other programs may run what it says"),
            Change::Removed => write!(f, "{path} was removed"),
            Change::NestedRepository => write!(f, "{path} is a new git configuration: git there may run what it says"),
            Change::WrittenThroughHardLink => {
                write!(f, "{path} was written and has another name outside of the workspace")
            }
            Change::NotAllSeen => write!(f, "{path} holds too many files to look at them all"),
        }
    }
}

/// What a file was: its kind, its inode where that matters, and a digest of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp(String);

/// The state of a workspace before a run.
#[derive(Debug)]
pub struct Watch {
    workspace: PathBuf,
    before: BTreeMap<PathBuf, Stamp>,
    protect: Vec<String>,
    since: i64,
}

impl Watch {
    /// Looks at a workspace that is about to be written.
    pub fn before(workspace: &Path, protect: &[String]) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Self {
            workspace: workspace.to_owned(),
            before: stamps(workspace, protect),
            protect: protect.to_vec(),
            since: i64::try_from(since).unwrap_or(i64::MAX),
        }
    }

    /// What has changed since.
    pub fn after(&self) -> Vec<Violation> {
        let after = stamps(&self.workspace, &self.protect);
        let mut found: Vec<Violation> = Vec::new();
        let mut note = |path: &Path, change| found.push(Violation { path: path.display().to_string(), change });
        for (path, stamp) in &after {
            match self.before.get(path) {
                None => note(path, Change::Created),
                Some(before) if before != stamp => note(path, Change::Modified),
                Some(_) => {}
            }
        }
        for path in self.before.keys().filter(|path| !after.contains_key(*path)) {
            note(path, Change::Removed);
        }
        self.walk(&mut note);
        found.sort();
        found.dedup();
        found
    }

    /// Everything below the workspace, without following links.
    fn walk(&self, note: &mut impl FnMut(&Path, Change)) {
        let own = self.workspace.join(".git");
        let mut folders = vec![self.workspace.clone()];
        let mut names = 0;
        // Files with several names that were written, and how many of the names are in the workspace.
        let mut linked: BTreeMap<(u64, u64), (u64, u64, PathBuf)> = BTreeMap::new();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                names += 1;
                if names > MOST_NAMES {
                    return note(&self.workspace, Change::NotAllSeen);
                }
                let path = entry.path();
                let Ok(found) = fs::symlink_metadata(&path) else { continue };
                if path == own {
                    continue;
                }
                if entry.file_name() == ".git" {
                    self.nested(&path, note);
                } else if found.is_dir() {
                    folders.push(path);
                } else if found.is_file() && found.nlink() > 1 && found.mtime() >= self.since {
                    let entry = linked.entry((found.dev(), found.ino())).or_insert((0, found.nlink(), path));
                    entry.0 += 1;
                }
            }
        }
        for (_, _, path) in linked.values().filter(|(inside, all, _)| inside < all) {
            note(path, Change::WrittenThroughHardLink);
        }
    }

    fn nested(&self, git: &Path, note: &mut impl FnMut(&Path, Change)) {
        let changed = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.ctime() >= self.since);
        let is_file = fs::symlink_metadata(git).is_ok_and(|found| found.is_file());
        if is_file && changed(git) {
            return note(git, Change::NestedRepository);
        }
        for name in OF_GIT {
            let path = git.join(name);
            if changed(&path) {
                note(&path, Change::NestedRepository);
            }
        }
    }
}

/// Every file that counts, with what it is.
fn stamps(workspace: &Path, protect: &[String]) -> BTreeMap<PathBuf, Stamp> {
    let mut stamps = BTreeMap::new();
    let git = workspace.join(".git");
    if let Ok(found) = fs::symlink_metadata(&git) {
        // The folder itself may change all the time, but not become another one.
        stamps.insert(git.clone(), if found.is_dir() { Stamp(format!("folder {}", found.ino())) } else { stamp(&git) });
        for name in OF_GIT {
            add(&git.join(name), &mut stamps, 0);
        }
        for more in ["modules", "worktrees"] {
            for entry in fs::read_dir(git.join(more)).into_iter().flatten().flatten() {
                for name in OF_GIT {
                    add(&entry.path().join(name), &mut stamps, 0);
                }
            }
        }
    }
    for name in protect {
        add(&workspace.join(name), &mut stamps, 0);
    }
    stamps
}

fn add(path: &Path, stamps: &mut BTreeMap<PathBuf, Stamp>, depth: usize) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    if stamps.len() > MOST_NAMES {
        return;
    }
    if found.is_dir() && depth < 8 {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            add(&entry.path(), stamps, depth + 1);
        }
    } else {
        stamps.insert(path.to_owned(), stamp(path));
    }
}

fn stamp(path: &Path) -> Stamp {
    let Ok(found) = fs::symlink_metadata(path) else { return Stamp("gone".to_owned()) };
    let kind = found.mode();
    if found.is_symlink() {
        return Stamp(format!("link {:?}", fs::read_link(path).ok()));
    }
    let mut bytes = Vec::new();
    let read = if found.is_file() {
        fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
    } else {
        Ok(0)
    };
    match read {
        Ok(_) => Stamp(format!("{kind:o} {} {:?}", found.len(), Digest::of(&bytes))),
        Err(_) => Stamp(format!("{kind:o} {} {}", found.len(), found.ctime())),
    }
}
