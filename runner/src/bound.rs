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
use std::path::{Path, PathBuf};

use bashgate_shared::classify::paths;
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::FileEvidence;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::sandbox::Temporary;
use crate::watch::MOST_LINKS;

/// Largest script that is copied, in bytes; as large as the largest of which a digest is made.
const MOST_BYTES: u64 = 8 << 20;

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
    /// Each script where the command finds it, and which file it was when it was read.
    seen: Vec<(PathBuf, File)>,
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
    /// Listens to every folder on the way to a file, also those in which links on the way lie.
    fn listen(&mut self, file: &Path) {
        let mut way = file.to_owned();
        for _ in 0..MOST_LINKS {
            self.listen_above(&way, file);
            // From the top: the first link says where the rest lies.
            let mut above: Vec<&Path> = way.ancestors().collect();
            above.reverse();
            let Some((link, target)) = above.into_iter().find_map(|part| Some((part, fs::read_link(part).ok()?)))
            else {
                return;
            };
            let rest = way.strip_prefix(link).unwrap_or(Path::new("")).to_owned();
            way = link.parent().unwrap_or(Path::new("/")).join(target).join(rest);
            way = PathBuf::from(paths::resolve(None, &way.to_string_lossy()));
        }
        self.unheard.insert(file.to_owned());
    }

    fn listen_above(&mut self, way: &Path, file: &Path) {
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
        for (folder, name) in way.ancestors().filter_map(|path| Some((path.parent()?, path.file_name()?))) {
            match inotify::add_watch(heard, folder, flags) {
                Ok(watch) => self.folders.entry(watch).or_default().push((name.to_owned(), file.to_owned())),
                // Who may rename what is in it may have closed it, or have used up what the system gives.
                Err(_) if fs::metadata(folder).is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw()) => {
                    self.unheard.insert(file.to_owned());
                }
                Err(_) => {}
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
            found.extend(of.filter(|(one, _)| all || name == Some(one.as_os_str())).map(|(_, file)| file.clone()));
        }
        found
    }
}

impl BoundScripts {
    /// Copies what these digests mean into a folder below `parent`; without one they are compared, and nothing is bound. A file of
    /// which no digest was made is left out.
    ///
    /// The inner error says which script is another one by now.
    pub fn copy(scripts: &[FileEvidence], cwd: &Path, parent: Option<&Path>) -> io::Result<Result<Self, Changed>> {
        let mut bound = Self { folder: None, mounts: Vec::new(), seen: Vec::new(), names: OnTheWay::default() };
        for script in scripts.iter().filter(|script| !script.sha256.is_empty()) {
            let path = cwd.join(&script.path);
            // First: what happens from here on is heard.
            for way in [Some(path.clone()), fs::canonicalize(&path).ok()].into_iter().flatten().collect::<BTreeSet<_>>()
            {
                bound.names.listen(&way);
            }
            let now = read(&path).filter(|(bytes, _)| Digest::of(bytes).hex() == script.sha256);
            let Some((bytes, file)) = now else { return Ok(Err(Changed(script.path.clone()))) };
            bound.seen.push((path.clone(), file));
            let Some(parent) = parent else { continue };
            let Some(real) = fs::canonicalize(&path)?.to_str().map(str::to_owned) else { continue };
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
        let is_another = move |(path, file): &&(PathBuf, File)| {
            let leads = || fs::canonicalize(path).is_ok_and(|real| by_name.contains(&real));
            by_name.contains(path) || leads() || fs::metadata(path).map_or(true, |now| which(&now) != *file)
        };
        self.seen.iter().filter(is_another).map(|(path, _)| path.as_path())
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
        let copied = |script: FileEvidence| BoundScripts::copy(&[script], folder.path(), Some(folder.path())).unwrap();
        let compared = |script: FileEvidence| BoundScripts::copy(&[script], folder.path(), None).unwrap();
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
        drop(bound);
        assert!(!Path::new(&copy).exists());
        assert!(copied(script("a.sh", b"echo b")).is_err());
        assert!(copied(script("gone.sh", b"")).is_err());
        assert!(copied(FileEvidence { sha256: String::new(), ..script("huge", b"") }).unwrap().mounts.is_empty());
    }
}
