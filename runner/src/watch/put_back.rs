//! Gives what acts later its old content again, in folders in which other runs may work at the same time.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};

use super::aside::{folder_without_links, opened_again, set_aside};
use super::{Change, Violation};

/// Most times that what another run puts in its place is set aside.
const MOST_TRIES: usize = 64;

/// What is needed to put it back.
#[derive(Debug)]
pub(super) enum Kept {
    /// A file.
    File {
        bytes: Vec<u8>,
        /// Without the bits that lend a user's rights: who puts it back may be another one than who made it.
        mode: u32,
        /// User and group.
        owner: (u32, u32),
    },
    /// A link, and where it leads.
    Link(PathBuf),
}

/// Gives a file its old content again. What stands there now is kept beside it.
pub(super) fn put_back(path: &Path, kept: &Kept, root: &Path) -> Violation {
    match replaced(path, kept, root) {
        Ok(aside) => {
            Violation { aside: aside.map(|aside| aside.display().to_string()), ..Violation::of(path, Change::PutBack) }
        }
        Err(_) if fs::symlink_metadata(path).is_err() => Violation::of(path, Change::Removed),
        Err(_) => Violation::of(path, Change::Modified),
    }
}

/// The old content without a name first: where there is no room for it, what stands there stays, and nobody can exchange what has no
/// name. Then what stands there is set aside, and the old content gets its name; as often as another run puts something there. Gives
/// back what was set aside first.
fn replaced(path: &Path, kept: &Kept, root: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no name"));
    };
    let folder = made_without_links(parent, root)?;
    // The run may have closed it.
    let _opened = opened_again(parent, root);
    let unnamed = Unnamed::of(&folder, kept)?;
    let stands = unnamed.takes_place(&folder, path, root, name);
    if let (Err(_), Unnamed::Called(_, own)) = (&stands, &unnamed) {
        let _ = rustix::fs::unlinkat(&folder, own.as_str(), AtFlags::empty());
    }
    stands
}

/// What is about to be given a name.
enum Unnamed<'k> {
    /// A file without one.
    File(fs::File),
    /// The same where the file system knows no such files: by this name, which others see.
    Called(fs::File, String),
    Link(&'k Path),
}

impl<'k> Unnamed<'k> {
    fn of(folder: &OwnedFd, kept: &'k Kept) -> io::Result<Self> {
        let (bytes, mode, owner) = match kept {
            Kept::File { bytes, mode, owner } => (bytes, *mode, *owner),
            Kept::Link(target) => return Ok(Self::Link(target)),
        };
        let made = |name: &str, flags| {
            let flags = flags | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok::<_, io::Error>(fs::File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?))
        };
        let (mut file, name) = match made(".", OFlags::TMPFILE) {
            Ok(file) => (file, None),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
            Err(_) => {
                let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
                let name = format!(".bashgate-{random:016x}");
                (made(&name, OFlags::CREATE | OFlags::EXCL)?, Some(name))
            }
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_data()).and_then(|()| {
            // Only root can give a file away.
            if rustix::process::geteuid().is_root() && owner.0 != 0 {
                std::os::unix::fs::fchown(&file, Some(owner.0), Some(owner.1))?;
            }
            file.set_permissions(fs::Permissions::from_mode(mode))
        });
        let unnamed = match name {
            Some(name) => Self::Called(file, name),
            None => Self::File(file),
        };
        if let (Err(_), Self::Called(_, name)) = (&written, &unnamed) {
            let _ = rustix::fs::unlinkat(folder, name.as_str(), AtFlags::empty());
        }
        written.map(|()| unnamed)
    }

    /// Sets aside what stands there, and gets its name, as often as another run puts something there. Gives back what was set aside first.
    fn takes_place(&self, folder: &OwnedFd, path: &Path, root: &Path, name: &OsStr) -> io::Result<Option<PathBuf>> {
        let mut first = None;
        for _ in 0..MOST_TRIES {
            match set_aside(path, root) {
                Ok(aside) => first = first.or(Some(aside)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            match self.named(folder, name) {
                // Whatever another run has done to its name meanwhile.
                Ok(()) if self.stands(folder, name) => return Ok(first),
                Ok(()) => {}
                // Another run has made one again.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("others go on putting something there"))
    }

    /// Gives it its name, where nothing has it.
    fn named(&self, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
        match self {
            Self::Link(target) => Ok(rustix::fs::symlinkat(*target, folder, name)?),
            Self::File(file) => {
                let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
                Ok(rustix::fs::linkat(rustix::fs::CWD, itself, folder, name, AtFlags::SYMLINK_FOLLOW)?)
            }
            Self::Called(_, own) => {
                Ok(rustix::fs::renameat_with(folder, own.as_str(), folder, name, RenameFlags::NOREPLACE)?)
            }
        }
    }

    /// True where this very file has the name.
    fn stands(&self, folder: &OwnedFd, name: &OsStr) -> bool {
        let Ok(found) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        let is_it = |file: &fs::File| {
            rustix::fs::fstat(file.as_fd()).is_ok_and(|own| (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino))
        };
        match self {
            Self::File(file) | Self::Called(file, _) => is_it(file),
            Self::Link(target) => rustix::fs::readlinkat(folder, name, Vec::new())
                .is_ok_and(|to| Path::new(OsStr::from_bytes(to.as_bytes())) == *target),
        }
    }
}

/// Opens a folder as [`folder_without_links`] does, and makes what is missing of it. What stands in the way is set aside: a link, or a
/// file with a folder's name.
pub(super) fn made_without_links(folder: &Path, root: &Path) -> io::Result<OwnedFd> {
    match folder_without_links(folder) {
        Err(error) if folder.starts_with(root) && folder != root => {
            let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Err(error) };
            let above = made_without_links(parent, root)?;
            let _opened = opened_again(parent, root);
            if rustix::fs::statat(&above, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                let is_in_the_way = matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR));
                if !is_in_the_way {
                    return Err(error);
                }
                set_aside(folder, root)?;
            }
            rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o755))?;
            let made = folder_without_links(folder)?;
            // It is for whoever the folder around it belongs to.
            let around = rustix::fs::fstat(&above)?;
            if around.st_uid != rustix::process::geteuid().as_raw() {
                std::os::unix::fs::fchown(&made, Some(around.st_uid), Some(around.st_gid))?;
            }
            rustix::fs::fchmod(&made, Mode::from_raw_mode(around.st_mode & 0o777))?;
            Ok(made)
        }
        opened => opened,
    }
}
