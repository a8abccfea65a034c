//! Turns: while a run goes on that was asked about, has a network and rests on files, no other one writes where these lie.
//!
//! What people or rules were shown is what lay there then. Another run could put something else there for a moment: a manifest, a
//! recipe, a reference of git's, which no copy can stand for. So such a run waits until none goes on that writes there, and others wait
//! for it. Each run says in the runner's own folder, which no run sees, where it writes and on what it rests. What it says counts as
//! long as it holds the lock on it (flock(2)), which ends with its process, however that ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::job::Jobs;
use crate::registry::Stop;

/// How long a run waits for its turn.
pub const MOST_WAIT: Duration = Duration::from_mins(1);
/// How often it looks.
const EACH: Duration = Duration::from_millis(40);
/// The same, while another one looks.
const GLANCE: Duration = Duration::from_millis(1);
/// Most bytes of what a run says.
const MOST_BYTES: u64 = 4 << 20;

/// Where a run writes, and on what it rests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ground {
    /// Folders and files that it may write, with all below.
    pub writes: Vec<PathBuf>,
    /// What must stay as it is while it goes on. Where there is some, it wants to be alone there.
    pub rests: Vec<Rest>,
}

impl Ground {
    /// True where no other run may write while it goes on.
    pub fn wants_to_be_alone(&self) -> bool {
        !self.rests.is_empty()
    }
}

/// Something that a run rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    /// A folder with all below.
    Whole(PathBuf),
    /// A file, or a name at which there is none.
    Name(PathBuf),
}

/// A place by all folders that lead to it, itself first: device and number of each. Other names for it, and other mounts of it, are the
/// same place.
type Place = Vec<(u64, u64)>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Said {
    writes: Vec<Place>,
    /// Each with whether what lies below counts as well.
    rests: Vec<(Place, bool)>,
    /// Where each folder lies that it writes, with device and number: one that was moved meanwhile lies below folders of which nobody knows.
    roots: Vec<(PathBuf, (u64, u64))>,
}

impl Said {
    fn of(ground: &Ground) -> Self {
        let rests = ground.rests.iter().map(|rest| match rest {
            Rest::Whole(path) => (place(path), true),
            Rest::Name(path) => (place(path), false),
        });
        let writes = || ground.writes.iter().map(PathBuf::as_path);
        let root = |path: &Path| {
            let real = fs::canonicalize(path).ok()?;
            Some((real.clone(), itself(&real)?))
        };
        let mut said = Self {
            writes: writes().map(place).collect(),
            rests: rests.collect(),
            roots: writes().filter_map(root).collect(),
        };
        said.writes.sort();
        said.writes.dedup();
        said.rests.sort();
        said.rests.dedup();
        said
    }

    /// True where one of both must not go on while the other one does.
    fn is_in_the_way_of(&self, other: &Self) -> bool {
        let meet = |writes: &[Place], rests: &[(Place, bool)]| {
            let meets = |written: &Place, (rest, whole): &(Place, bool)| {
                is_within(rest, written) || *whole && is_within(written, rest)
            };
            writes.iter().any(|written| rests.iter().any(|rest| meets(written, rest)))
        };
        let is_moved = |said: &Self| said.roots.iter().any(|(path, was)| itself(path).as_ref() != Some(was));
        // What one of both leaves in a folder of the other's could be moved to where nobody looks for it.
        let is_inside = |one: &Self, other: &Self| {
            let below = |inner: &Place, outer: &Place| inner.first() != outer.first() && is_within(inner, outer);
            one.writes.iter().any(|inner| other.writes.iter().any(|outer| below(inner, outer)))
        };
        let may_meet = |one: &Self, other: &Self| !other.rests.is_empty() && is_moved(one);
        meet(&self.writes, &other.rests)
            || meet(&other.writes, &self.rests)
            || may_meet(self, other)
            || may_meet(other, self)
            || is_inside(self, other)
            || is_inside(other, self)
    }
}

/// Device and number of what lies at a path.
fn itself(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

fn is_within(place: &Place, other: &Place) -> bool {
    other.first().is_some_and(|itself| place.contains(itself))
}

/// What is not there, or cannot be reached any more, is as far as it goes: then what lies above it counts.
fn place(path: &Path) -> Place {
    let stands = path.ancestors().find(|above| fs::metadata(above).is_ok()).unwrap_or(Path::new("/"));
    let real = fs::canonicalize(stands).unwrap_or_else(|_| stands.to_owned());
    real.ancestors().filter_map(|above| fs::metadata(above).ok()).map(|meta| (meta.dev(), meta.ino())).collect()
}

/// The turn of a run, for as long as this lives.
#[derive(Debug)]
pub struct Turn {
    /// What it has said, and the lock on it.
    said: Option<(PathBuf, File)>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.said {
            let _ = fs::remove_file(path);
        }
    }
}

impl Turn {
    /// Waits until the run may start, and says in the runner's own folder that it goes on. None where that did not come in time, or it
    /// was stopped. Where it cannot be said there is no turn, either: the other ones would not know of it.
    pub fn wait_for(state: &Path, ground: &Ground, stop: &Stop, most: Duration) -> io::Result<Option<Self>> {
        if *ground == Ground::default() {
            return Ok(Some(Self { said: None }));
        }
        Jobs::at(state.to_owned()).own_folder()?;
        let folder = state.join("turns");
        fs::create_dir_all(&folder)?;
        // Beside the folder, so that all in it are runs.
        let gate =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(state.join("turns.lock"))?;
        let until = Instant::now() + most;
        loop {
            // Whoever looks and says so has it for itself, for as long as that takes.
            let is_ours = match flock(&gate, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => true,
                Err(Errno::WOULDBLOCK) => false,
                Err(error) => return Err(error.into()),
            };
            if is_ours {
                // What is there to be compared may have changed while it waited.
                let said = Said::of(ground);
                if !is_taken(&folder, &said)? {
                    let turn = say(&folder, &said)?;
                    return Ok(Some(turn));
                }
                flock(&gate, FlockOperation::Unlock)?;
                if Instant::now() >= until || stop.is_said_within(EACH) {
                    return Ok(None);
                }
            } else if Instant::now() >= until {
                return Ok(None);
            } else {
                // Somebody else looks, which is over at once.
                std::thread::sleep(GLANCE);
            }
        }
    }
}

/// True where a run goes on that is in the way. What a run has left that was killed is taken away.
fn is_taken(folder: &Path, said: &Said) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            // It has ended by itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {
                // It may end by itself at this moment.
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => continue,
                }
            }
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = Vec::new();
        (&mut file).take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        // What is not understood may be in anybody's way.
        let other: Option<Said> = serde_json::from_slice(&bytes).ok();
        if other.is_none_or(|other| other.is_in_the_way_of(said)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn say(folder: &Path, said: &Said) -> io::Result<Turn> {
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    let path = folder.join(format!("{random:016x}"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let turn = Turn { said: Some((path, file.try_clone()?)) };
    let bytes = serde_json::to_vec(said).map_err(io::Error::other)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it rests on more files than can be kept as they are"));
    }
    file.write_all(&bytes)?;
    Ok(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(root: &Path, writes: &[&str], rests: &[&str]) -> Ground {
        let rest = |path: &&str| match path.strip_prefix('=') {
            Some(name) => Rest::Name(root.join(name)),
            None => Rest::Whole(root.join(path)),
        };
        Ground { writes: writes.iter().map(|path| root.join(path)).collect(), rests: rests.iter().map(rest).collect() }
    }

    #[test]
    fn whoever_rests_on_something_waits_for_those_who_write_it_and_they_for_it() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        for folder in ["state", "x/project/sub/deep", "x/other", "tree"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("x/project/file"), "").unwrap();
        std::os::unix::fs::symlink(root.path().join("x/project"), root.path().join("link")).unwrap();
        let stop = Stop::new().unwrap();
        let turn = |writes: &[&str], rests: &[&str]| {
            Turn::wait_for(&state, &ground(root.path(), writes, rests), &stop, Duration::ZERO).unwrap()
        };
        // Beside each other in one folder: both write, and rest on nothing.
        let first = turn(&["x/project"], &[]).unwrap();
        let second = turn(&["x/project"], &[]).unwrap();
        // Not one in a folder of the other's, which could move it.
        assert!(turn(&["x/project/sub"], &[]).is_none() && turn(&["x"], &[]).is_none());
        for rests in [
            "x/project",
            "x",
            "x/project/sub",
            "x/project/sub/deep",
            "=x/project/file",
            "link/sub",
            "=x/project/not/there",
        ] {
            assert!(turn(&["x/other"], &[rests]).is_none(), "{rests}");
        }
        assert!(turn(&["x/other"], &["x/other"]).is_some());
        // A name where nothing is rests on nothing of what lies beside it.
        assert!(turn(&["x/other"], &["=x/not/there", "=.rc"]).is_some());
        drop(first);
        assert!(turn(&[], &["x/project"]).is_none(), "the other one goes on");
        drop(second);
        // Above, below, by another name, or at another place that it works with.
        let alone = turn(&["x/project", "tree"], &["x/project/sub", "tree"]).unwrap();
        for writes in ["x", "x/project", "x/project/sub", "x/project/sub/deep", "link/sub", "tree"] {
            assert!(turn(&[writes], &[]).is_none(), "{writes}");
        }
        assert!(turn(&["x/other"], &["x/other"]).is_some() && turn(&["x/other"], &[]).is_some());
        assert!(turn(&[], &["=x/project/file"]).is_none(), "the one that is alone writes there");
        drop(alone);
        assert!(turn(&["x/project"], &["x/project"]).is_some());
        // A folder that is moved while somebody writes there may lie below anything: who wants to be alone waits, others do not.
        let moved = turn(&["x/other"], &[]).unwrap();
        fs::rename(root.path().join("x/other"), root.path().join("x/project/inside")).unwrap();
        assert!(turn(&["x/project"], &["x/project"]).is_none() && turn(&["tree"], &["tree"]).is_none());
        assert!(turn(&["x/project"], &[]).is_some());
        drop(moved);
        assert!(turn(&["x/project"], &["x/project"]).is_some());
        assert_eq!(fs::read_dir(state.join("turns")).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn it_comes_when_the_other_one_has_ended_however_that_ended() {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("state");
        let stop = Stop::new().unwrap();
        let (writes, alone) = (ground(root.path(), &["p"], &[]), ground(root.path(), &["p"], &["p"]));
        let held = Turn::wait_for(&state, &writes, &stop, Duration::ZERO).unwrap().unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| Turn::wait_for(&state, &alone, &stop, MOST_WAIT).unwrap().is_some());
            std::thread::sleep(Duration::from_millis(100));
            drop(held);
            assert!(waits.join().unwrap());
        });
        // What a killed one has left counts for nothing, and goes.
        fs::write(state.join("turns/left"), "{").unwrap();
        drop(Turn::wait_for(&state, &alone, &stop, Duration::ZERO).unwrap().unwrap());
        assert!(!state.join("turns/left").exists());
        // Half of something that is held may be in anybody's way.
        fs::write(state.join("turns/half"), "{").unwrap();
        let half = File::open(state.join("turns/half")).unwrap();
        flock(&half, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(Turn::wait_for(&state, &writes, &stop, Duration::ZERO).unwrap().is_none());
        stop.stop();
        assert!(Turn::wait_for(&state, &alone, &stop, MOST_WAIT).unwrap().is_none(), "it is stopped");
        // Where nothing can be said nothing starts.
        drop(half);
        fs::remove_dir_all(&state).unwrap();
        fs::write(&state, "").unwrap();
        assert!(Turn::wait_for(&state, &writes, &Stop::new().unwrap(), Duration::ZERO).is_err());
    }
}
