//! Turns: a run that was asked about, has a network and depends on files of its project has the project for itself while it goes on.
//!
//! What people or rules were shown is what lay there then. Another run that goes on in the same project could put something else there
//! for a moment: a manifest, a recipe, a reference of git's, which no copy can stand for. So such a run waits until no other one goes on,
//! and others wait for it. Nothing is written: the folders themselves are locked (flock(2)), which ends with the process.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use crate::registry::Stop;

/// How long a run waits for its turn.
pub const MOST_WAIT: Duration = Duration::from_mins(1);
/// How often it looks.
const EACH: Duration = Duration::from_millis(40);

/// The turn of a run, for as long as this lives.
#[derive(Debug)]
pub struct Turn {
    _held: Vec<OwnedFd>,
}

impl Turn {
    /// Waits until the run may start in this project; `alone` where no other one may go on besides. None where that did not come in time,
    /// or it was stopped.
    pub fn wait_for(project: &Path, alone: bool, stop: &Stop, most: Duration) -> Option<Self> {
        let until = Instant::now() + most;
        let real = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let folders = folders(&real, alone);
        loop {
            if let Some(held) = all_of(&folders) {
                return Some(Self { _held: held });
            }
            if Instant::now() >= until || stop.is_said_within(EACH) {
                return None;
            }
        }
    }
}

/// The folders that are locked, from the top, and whether for this run alone: the project, what lies above it and is the same owner's,
/// since a run in a folder above changes what lies below.
fn folders(project: &Path, alone: bool) -> Vec<(PathBuf, bool)> {
    let owner = |path: &Path| std::fs::metadata(path).ok().map(|meta| meta.uid());
    let whose = owner(project);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let own = |path: &&Path| owner(path) == whose && path.parent().is_some() && home.as_deref() != Some(*path);
    let above: Vec<&Path> = project.ancestors().take_while(own).collect();
    // A repository is one project, whatever folder of it a run calls its own.
    let root = above.iter().rposition(|folder| folder.join(".git").symlink_metadata().is_ok()).unwrap_or(0);
    let mut folders: Vec<(PathBuf, bool)> =
        above.iter().enumerate().map(|(at, folder)| ((*folder).to_owned(), alone && at <= root)).collect();
    if folders.is_empty() {
        folders.push((project.to_owned(), alone));
    }
    folders.reverse();
    folders
}

/// All locks, or none. A folder that cannot be opened is nobody's to lock.
fn all_of(folders: &[(PathBuf, bool)]) -> Option<Vec<OwnedFd>> {
    let mut held = Vec::new();
    for (folder, alone) in folders {
        let Ok(opened) = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
            continue;
        };
        let operation =
            if *alone { FlockOperation::NonBlockingLockExclusive } else { FlockOperation::NonBlockingLockShared };
        match flock(&opened, operation) {
            Ok(()) => held.push(opened),
            Err(rustix::io::Errno::WOULDBLOCK) => return None,
            // Some file systems know no locks.
            Err(_) => {}
        }
    }
    Some(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_wants_to_be_alone_waits_for_the_others_and_they_for_it() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        for folder in ["project/.git", "project/sub/deep", "other"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let stop = Stop::new().unwrap();
        let turn = |folder: &str, alone| Turn::wait_for(&root.path().join(folder), alone, &stop, Duration::ZERO);
        // Beside each other, in whatever folder.
        let first = turn("project", false).unwrap();
        let second = turn("project/sub", false).unwrap();
        assert!(turn("project", true).is_none() && turn("project/sub/deep", true).is_none());
        drop(first);
        assert!(turn("project", true).is_none(), "the one below goes on");
        drop(second);
        for (alone, others) in
            [("project", ["project", "project/sub"]), ("project/sub", ["project", "project/sub/deep"])]
        {
            let held = turn(alone, true).unwrap();
            for other in others {
                assert!(turn(other, false).is_none() && turn(other, true).is_none(), "{alone} {other}");
            }
            assert!(turn("other", false).is_some() && turn("other", true).is_some());
            drop(held);
        }
        // It comes when the other one has ended, and not once it is stopped.
        let held = turn("project", false).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| Turn::wait_for(&project, true, &stop, MOST_WAIT).is_some());
            std::thread::sleep(Duration::from_millis(100));
            drop(held);
            assert!(waits.join().unwrap());
        });
        let _held = turn("project", false).unwrap();
        stop.stop();
        assert!(Turn::wait_for(&project, true, &stop, MOST_WAIT).is_none());
    }
}
