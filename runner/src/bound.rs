//! The scripts that a command was allowed with: compared at the start, and, where a sandbox has mounts of its own, copies of the very
//! bytes, which lie over the files while it runs.
//!
//! A digest that was right a moment ago says nothing about what a shell reads a moment later. Only a sandbox with mounts of its
//! own can see to it; and a mount goes with the name below it, when somebody outside of the sandbox gives that to another file
//! (`rename(2)`, `mount_namespaces(7)`). So what was allowed is looked at once more when the command has ended, and the folders on the
//! way to it are listened to meanwhile: a renamed folder brings other files under the same names, and may be back by then.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::FileEvidence;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::sandbox::Temporary;
use crate::watch::MOST_LINKS;

/// Largest script that is copied, in bytes; as large as the largest of which a digest is made.
const MOST_BYTES: u64 = 8 << 20;

/// A file that a command was allowed with.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// Where it lies, and what it held.
    pub file: FileEvidence,
    /// What of it is held to while the command runs.
    pub hold: Hold,
}

/// What of a file is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// The command finds a copy of what was allowed in its place.
    Copy,
    /// It holds what was allowed all the time, whoever may use it: the command says itself that this changes, or may write it.
    Content,
    /// The same, where other runs go on beside it. A part of the command that nobody has read through may write it before another part
    /// runs it: `git switch topic && python3 main.py`, `npm run build && node dist/a.js`.
    UnlessAlone,
}

/// A script that has changed since it was allowed.
#[derive(Debug, thiserror::Error)]
#[error("{0} is another one than the command was allowed with")]
pub struct Changed(pub String);

/// Which file it is, and when that was changed or renamed last: device, inode, seconds and nanoseconds.
type File = (u64, u64, i64, i64);

/// Copies of scripts, for as long as this lives.
#[derive(Debug)]
pub struct BoundScripts {
    folder: Option<Temporary>,
    /// From the copy to the real path of the script.
    pub mounts: Vec<(String, String)>,
    /// Each script where the command finds it, which file it was when it was read, and what of it is held to.
    seen: Vec<(PathBuf, File, Allowed)>,
    names: OnTheWay,
}

/// The names on the way to some files, and whether one of them was given to something else.
#[derive(Debug, Default)]
struct OnTheWay {
    heard: Option<OwnedFd>,
    /// Files of which nobody would hear: they count as exchanged.
    unheard: BTreeSet<PathBuf>,
    /// What is listened to in each folder: the names that lead on, and the files that are reached through each.
    folders: HashMap<i32, Vec<(OsString, PathBuf)>>,
}

impl OnTheWay {
    /// Listens to every folder on the way to a file, as the kernel goes it: through each link, and back from where that has led.
    fn listen(&mut self, file: &Path) {
        let mut here = PathBuf::from("/");
        let mut steps: Vec<OsString> = steps_of(file).collect();
        let mut links = 0;
        while let Some(step) = steps.pop() {
            if step == ".." {
                here.pop();
                continue;
            }
            self.listen_in(&here, &step, file);
            let next = here.join(&step);
            let Ok(target) = fs::read_link(&next) else {
                if steps.is_empty() {
                    self.listen_to(&next, file);
                }
                here = next;
                continue;
            };
            links += 1;
            if links > MOST_LINKS {
                self.unheard.insert(file.to_owned());
                return;
            }
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            steps.extend(steps_of(&target));
        }
    }

    /// Listens to what a file holds. Its watch has no names.
    fn listen_to(&mut self, place: &Path, file: &Path) {
        let Some(heard) = &self.heard else { return };
        match inotify::add_watch(heard, place, WatchFlags::MODIFY) {
            Ok(watch) => self.folders.entry(watch).or_default().push((OsString::new(), file.to_owned())),
            // One that cannot be read is none that was allowed.
            Err(_) => drop(self.unheard.insert(file.to_owned())),
        }
    }

    /// Listens to what a name in a folder is given to.
    fn listen_in(&mut self, folder: &Path, name: &OsStr, file: &Path) {
        if self.heard.is_none() {
            self.heard = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
        }
        let Some(heard) = &self.heard else {
            self.unheard.insert(file.to_owned());
            return;
        };
        let flags = WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR;
        match inotify::add_watch(heard, folder, flags) {
            Ok(watch) => self.folders.entry(watch).or_default().push((name.to_owned(), file.to_owned())),
            Err(error) => {
                // Whoever may rename what is in it may have closed it, or have used up what the system gives.
                let is_own =
                    || fs::metadata(folder).is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw());
                if error != rustix::io::Errno::ACCESS || is_own() {
                    self.unheard.insert(file.to_owned());
                }
            }
        }
    }

    /// The files to which another way led since. All of them, where more has happened than the system keeps.
    fn exchanged(&self) -> BTreeSet<PathBuf> {
        let mut found = self.unheard.clone();
        let Some(heard) = &self.heard else { return found };
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(heard, &mut room);
        while let Ok(event) = reader.next() {
            let all = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let of = self.folders.iter().filter(|(watch, _)| all || **watch == event.wd()).flat_map(|(_, names)| names);
            let is_it = |one: &OsString| name.map_or(one.is_empty(), |name| name == one.as_os_str());
            found.extend(of.filter(|(one, _)| all || is_it(one)).map(|(_, file)| file.clone()));
        }
        found
    }
}

/// The steps of a path, the last one first, without those that lead nowhere.
fn steps_of(path: &Path) -> impl Iterator<Item = OsString> {
    let steps = path.components().rev();
    steps
        .filter(|step| matches!(step, Component::Normal(_) | Component::ParentDir))
        .map(|step| step.as_os_str().to_owned())
}

impl BoundScripts {
    /// Copies what these digests mean into a folder below `parent`; without one they are compared, and nothing is bound. A file of
    /// which no digest was made is left out.
    ///
    /// The inner error says which script is another one by now.
    pub fn copy(scripts: &[Allowed], cwd: &Path, parent: Option<&Path>) -> io::Result<Result<Self, Changed>> {
        let mut bound = Self { folder: None, mounts: Vec::new(), seen: Vec::new(), names: OnTheWay::default() };
        for allowed in scripts.iter().filter(|allowed| !allowed.file.sha256.is_empty()) {
            let script = &allowed.file;
            let path = cwd.join(&script.path);
            // First: what happens from here on is heard.
            for way in [Some(path.clone()), fs::canonicalize(&path).ok()].into_iter().flatten().collect::<BTreeSet<_>>()
            {
                bound.names.listen(&way);
            }
            let now = read(&path).filter(|(bytes, _)| Digest::of(bytes).hex() == script.sha256);
            let Some((bytes, file)) = now else { return Ok(Err(Changed(script.path.clone()))) };
            bound.seen.push((path.clone(), file, allowed.clone()));
            let Some(parent) = parent.filter(|_| allowed.hold == Hold::Copy) else { continue };
            // What cannot be named to a sandbox cannot be put in its place.
            let Some(real) = fs::canonicalize(&path)?.to_str().map(str::to_owned) else {
                return Ok(Err(Changed(script.path.clone())));
            };
            let folder = match &bound.folder {
                Some(folder) => folder,
                // Whoever runs the script may be another user; who does not know the copy's name does not find it.
                None => bound.folder.insert(Temporary::make(parent, 0o711)?),
            };
            let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
            let copy = folder.path().join(format!("{random:016x}"));
            // With the right to be executed, where the script has it.
            let mode = fs::metadata(&real).map_or(0o444, |meta| 0o444 | meta.mode() & 0o111);
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&copy)?.write_all(&bytes)?;
            bound.mounts.push((copy.to_string_lossy().into_owned(), real));
        }
        Ok(Ok(bound))
    }

    /// The scripts that were changed or exchanged since, by whoever is not held by the sandbox: what ran is perhaps not what was
    /// allowed.
    pub fn exchanged(&self) -> impl Iterator<Item = &Path> {
        let by_name = self.names.exchanged();
        let is_another = move |(path, file, allowed): &&(PathBuf, File, Allowed)| {
            let leads = || fs::canonicalize(path).is_ok_and(|real| by_name.contains(&real));
            let is_as_before = || match allowed.hold {
                Hold::Copy => fs::metadata(path).is_ok_and(|now| which(&now) == *file),
                Hold::Content | Hold::UnlessAlone => {
                    read(path).is_some_and(|(bytes, _)| Digest::of(&bytes).hex() == allowed.file.sha256)
                }
            };
            by_name.contains(path) || leads() || !is_as_before()
        };
        self.seen.iter().filter(is_another).map(|(path, ..)| path.as_path())
    }
}

/// What a file holds, and which one it is.
fn read(path: &Path) -> Option<(Vec<u8>, File)> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let mut bytes = Vec::new();
    let found = file.metadata().ok().filter(|found| found.is_file() && found.len() <= MOST_BYTES)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some((bytes, which(&found)))
}

fn which(found: &fs::Metadata) -> File {
    (found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_bytes_that_were_allowed_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.sh"), "echo a").unwrap();
        let script = |name: &str, text: &[u8]| FileEvidence {
            path: name.to_owned(),
            sha256: Digest::of(text).hex(),
            head: String::new(),
        };
        let copy = |file: FileEvidence| Allowed { file, hold: Hold::Copy };
        let copied =
            |script: FileEvidence| BoundScripts::copy(&[copy(script)], folder.path(), Some(folder.path())).unwrap();
        let compared = |script: FileEvidence| BoundScripts::copy(&[copy(script)], folder.path(), None).unwrap();
        let held = |script: FileEvidence| {
            let allowed = Allowed { file: script, hold: Hold::Content };
            BoundScripts::copy(&[allowed], folder.path(), Some(folder.path())).unwrap().unwrap()
        };
        let alone = compared(script("a.sh", b"echo a")).unwrap();
        assert!(alone.mounts.is_empty() && alone.exchanged().count() == 0);
        assert!(compared(script("a.sh", b"echo b")).is_err());
        let bound = copied(script("a.sh", b"echo a")).unwrap();
        let [(copy, real)] = bound.mounts.as_slice() else { panic!("{bound:?}") };
        assert_eq!(fs::read_to_string(copy).unwrap(), "echo a");
        assert_eq!(Path::new(real), folder.path().canonicalize().unwrap().join("a.sh"));
        let copy = copy.clone();
        // Another file under its name is seen, also when the old one is back behind it.
        assert_eq!(bound.exchanged().count(), 0);
        let named = |name: &str| folder.path().join(name);
        for (from, to) in [("a.sh", "old.sh"), ("b.sh", "a.sh"), ("a.sh", "b.sh"), ("old.sh", "a.sh")] {
            fs::write(named("b.sh"), "echo b").unwrap();
            fs::rename(named(from), named(to)).unwrap();
            assert_eq!(bound.exchanged().count(), 1, "{from} {to}");
        }
        // The same of a folder on the way; and what else lies there may come and go.
        for name in ["d/e", "other"] {
            fs::create_dir_all(named(name)).unwrap();
        }
        fs::write(named("d/e/a.sh"), "echo a").unwrap();
        let deep = compared(script("d/e/a.sh", b"echo a")).unwrap();
        for name in ["d/e/b.sh", "d/c", "b.sh"] {
            fs::write(named(name), "x").unwrap();
            fs::remove_file(named(name)).unwrap();
        }
        fs::rename(named("other"), named("others")).unwrap();
        assert_eq!(deep.exchanged().count(), 0);
        for folder in ["d/e", "d"] {
            let deep = compared(script("d/e/a.sh", b"echo a")).unwrap();
            fs::rename(named(folder), named("away")).unwrap();
            fs::rename(named("away"), named(folder)).unwrap();
            fs::write(named("d/e/new"), "x").unwrap();
            assert_eq!(deep.exchanged().count(), 1, "{folder}");
        }
        // Of what the command changes itself, by whom it may be used is no matter, and what it holds is.
        fs::write(named("own.sh"), "echo a").unwrap();
        let own = held(script("own.sh", b"echo a"));
        assert!(own.mounts.is_empty());
        fs::set_permissions(named("own.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(own.exchanged().count(), 0);
        for text in ["echo b", "echo a"] {
            fs::write(named("own.sh"), text).unwrap();
        }
        assert_eq!(own.exchanged().count(), 1);
        // A link in the middle that is turned, and turned back.
        fs::create_dir_all(named("good/s")).unwrap();
        fs::create_dir_all(named("mid")).unwrap();
        fs::write(named("good/s/a.sh"), "echo a").unwrap();
        std::os::unix::fs::symlink("../good", named("mid/cur")).unwrap();
        std::os::unix::fs::symlink("mid/cur/s", named("scripts")).unwrap();
        let deep = compared(script("scripts/a.sh", b"echo a")).unwrap();
        assert_eq!(deep.exchanged().count(), 0);
        let deep = compared(script("scripts/a.sh", b"echo a")).unwrap();
        for target in ["../d", "../good"] {
            std::os::unix::fs::symlink(target, named("mid/n")).unwrap();
            fs::rename(named("mid/n"), named("mid/cur")).unwrap();
        }
        assert_eq!(deep.exchanged().count(), 1);
        // The same behind which the way goes back: `hop/..` is where `hop` leads, and up from there.
        for name in ["d1/in", "d2/in", "d1/good", "d2/good"] {
            fs::create_dir_all(named(name)).unwrap();
        }
        fs::write(named("d1/good/a.sh"), "echo a").unwrap();
        std::os::unix::fs::symlink("d1/in", named("hop")).unwrap();
        std::os::unix::fs::symlink("hop/../good", named("up")).unwrap();
        let deep = compared(script("up/a.sh", b"echo a")).unwrap();
        assert_eq!(deep.exchanged().count(), 0);
        for target in ["d2/in", "d1/in"] {
            let deep = compared(script("hop/../good/a.sh", b"echo a")).ok();
            std::os::unix::fs::symlink(target, named("n")).unwrap();
            fs::rename(named("n"), named("hop")).unwrap();
            assert_eq!(deep.map_or(1, |deep| deep.exchanged().count()), 1, "{target}");
        }
        assert_eq!(deep.exchanged().count(), 1);
        drop(bound);
        assert!(!Path::new(&copy).exists());
        assert!(copied(script("a.sh", b"echo b")).is_err());
        assert!(copied(script("gone.sh", b"")).is_err());
        assert!(copied(FileEvidence { sha256: String::new(), ..script("huge", b"") }).unwrap().mounts.is_empty());
    }
}
