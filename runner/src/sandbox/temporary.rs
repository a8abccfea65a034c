//! Folders that live as long as a run, and no longer: not even when the runner is killed.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

const PREFIX: &str = "bashgate-";
/// A folder this young may not be locked yet by whoever makes it.
const YOUNG: Duration = Duration::from_mins(1);

/// A folder of a run. It is locked while its runner lives, and removed with it; one that a killed runner has left is
/// removed when the next is made beside it.
#[derive(Debug)]
pub struct Temporary {
    folder: PathBuf,
    _lock: OwnedFd,
}

impl Temporary {
    /// Makes a folder with this mode below another.
    pub fn make(parent: &Path, mode: u32) -> io::Result<Self> {
        sweep(parent);
        let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        let folder = parent.join(format!("{PREFIX}{random:016x}"));
        fs::DirBuilder::new().mode(mode).create(&folder)?;
        let lock = lock(&folder)?;
        // Whatever the caller's mask takes away.
        rustix::fs::fchmod(&lock, Mode::from_raw_mode(mode))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = remove(&self.folder);
    }
}

/// Removes a folder with all that is in it, also what its owner, who is this process's user, has closed.
fn remove(folder: &Path) -> io::Result<()> {
    let Err(error) = fs::remove_dir_all(folder) else { return Ok(()) };
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Err(error);
    }
    let mut closed = vec![folder.to_owned()];
    while let Some(folder) = closed.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Nobody else comes here: what is a folder now still is when its mode is set.
        if fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        let opened = rustix::fs::open(&folder, flags, Mode::empty())?;
        for entry in rustix::fs::Dir::new(opened)? {
            let entry = entry?;
            let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
            if entry.file_type().is_dir() && name != "." && name != ".." {
                closed.push(folder.join(name));
            }
        }
    }
    fs::remove_dir_all(folder)
}

/// True for the name of a run's folder.
pub(super) fn is_of_a_run(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX);
    rest.is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Takes a folder for this process, as long as what is returned lives. Fails when somebody else has it: a process id would
/// not do, since runners in other process namespaces have ids that say nothing here.
pub(super) fn lock(folder: &Path) -> io::Result<OwnedFd> {
    let opened = rustix::fs::open(folder, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    Ok(opened)
}

/// Removes what nobody holds any more.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(is_of_a_run) {
            continue;
        }
        let folder = entry.path();
        let Ok(found) = fs::symlink_metadata(&folder) else { continue };
        let may = found.is_dir() && found.uid() == own;
        let age = found.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if !may || age.is_none_or(|age| age < YOUNG) {
            continue;
        }
        if let Ok(_lock) = lock(&folder) {
            let _ = remove(&folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(folder: &Path) {
        let hour_ago = SystemTime::now() - Duration::from_hours(1);
        fs::File::open(folder).unwrap().set_modified(hour_ago).unwrap();
    }

    #[test]
    fn what_a_killed_runner_left_is_removed_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().unwrap();
        let used = Temporary::make(parent.path(), 0o700).unwrap();
        let left = parent.path().join("bashgate-0123456789abcdef");
        let young = parent.path().join("bashgate-1123456789abcdef");
        let other = parent.path().join("bashgate-notes");
        for folder in [&left, &young, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "x").unwrap();
        }
        for folder in [used.path(), &left, &other] {
            aged(folder);
        }
        let next = Temporary::make(parent.path(), 0o700).unwrap();
        assert!(used.path().exists() && young.exists() && other.exists() && !left.exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists() && used.path().exists());
    }
}
