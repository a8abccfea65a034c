//! Opening what a hostile container may have put into its folder.
//!
//! Every name is opened beneath one folder that is held open, without following links and without waiting. Only a
//! regular file with one name and of a bounded size is read, once.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use bashgate_shared::mailbox;
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::mailbox_folder;

/// What was found under a request's name.
#[derive(Debug)]
pub enum Taken {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// Nothing, or not yet.
    Nothing,
    /// Something that is not read, and why.
    Refused(String),
    /// A file that this process may not read: its owner and mode.
    Unreadable {
        /// The owner's user id.
        uid: u32,
        /// The mode.
        mode: u32,
    },
}

/// A `requests` folder that is held open.
pub struct Folder {
    handle: OwnedFd,
    inode: (u64, u64),
}

/// Names in a folder, those that are text. A name that is there all the time comes up once.
pub struct Names(Dir);

impl Iterator for Names {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let entry = self.0.next()?.ok()?;
            if let Ok(name) = entry.file_name().to_str() {
                return Some(name.to_owned());
            }
        }
    }
}

impl Folder {
    /// Opens a workspace's `requests`, if it is a real folder there.
    pub fn open(root: &Path, workspace: &WorkspaceName) -> Option<Self> {
        let handle = mailbox_folder::open(root, workspace, mailbox::REQUESTS).ok()?;
        let stat = rustix::fs::fstat(&handle).ok()?;
        Some(Self { handle, inode: (stat.st_dev, stat.st_ino) })
    }

    /// True when the path still leads to this very folder.
    pub fn is_still_at(&self, path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == self.inode)
    }

    /// The names in it, read bit by bit: there may be very many.
    pub fn names(&self) -> Option<Names> {
        Dir::read_from(&self.handle).ok().map(Names)
    }

    fn open_request(&self, id: &RequestId) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, mailbox::file_name(id), flags, Mode::empty()).map(File::from)
    }

    /// Reads a request.
    pub fn take(&self, id: &RequestId) -> Taken {
        let file = match self.open_request(id) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Taken::Nothing,
            Err(Errno::LOOP) => return Taken::Refused("it is a symbolic link".to_owned()),
            Err(Errno::ACCESS | Errno::PERM) => {
                let stat =
                    rustix::fs::statat(&self.handle, mailbox::file_name(id), rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
                return stat.map_or(Taken::Nothing, |stat| Taken::Unreadable {
                    uid: stat.st_uid,
                    mode: stat.st_mode & 0o7777,
                });
            }
            Err(error) => return Taken::Refused(format!("it cannot be opened ({error})")),
        };
        let Ok(meta) = file.metadata() else { return Taken::Refused("it cannot be looked at".to_owned()) };
        if !meta.is_file() {
            return Taken::Refused("it is not a regular file".to_owned());
        }
        if meta.nlink() != 1 {
            return Taken::Refused("it has more than one name".to_owned());
        }
        if meta.len() > mailbox::MAX_REQUEST_BYTES {
            return Taken::Refused(format!("it is larger than {} bytes", mailbox::MAX_REQUEST_BYTES));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        match file.take(mailbox::MAX_REQUEST_BYTES + 1).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() as u64 > mailbox::MAX_REQUEST_BYTES => {
                Taken::Refused("it grew while it was read".to_owned())
            }
            Ok(_) => Taken::Bytes(bytes),
            Err(error) => Taken::Refused(format!("it cannot be read ({error})")),
        }
    }
}

/// Whether somebody still waits for the answer to a request whose asker holds a lock on it.
pub fn asker_is_gone(root: &Path, workspace: &WorkspaceName, id: &RequestId) -> bool {
    let Some(folder) = Folder::open(root, workspace) else { return false };
    match folder.open_request(id) {
        Err(Errno::NOENT) => true,
        Err(_) => false,
        // A lock that we get is one that nobody holds. It ends with the file.
        Ok(file) => file.try_lock_shared().is_ok(),
    }
}

/// When the container wrote a request, in milliseconds since 1970, as far as its file says so.
pub fn written_ms(root: &Path, workspace: &WorkspaceName, id: &RequestId) -> Option<u64> {
    let file = Folder::open(root, workspace)?.open_request(id).ok()?;
    let since = file.metadata().ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// Removes a request that was answered. It may be gone, or not be ours to remove.
pub fn remove(root: &Path, workspace: &WorkspaceName, id: &RequestId) {
    if let Some(folder) = Folder::open(root, workspace) {
        let _ = rustix::fs::unlinkat(&folder.handle, mailbox::file_name(id), rustix::fs::AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_is_read() {
        let root = tempfile::tempdir().unwrap();
        let workspace = WorkspaceName::parse("w").unwrap();
        let requests = root.path().join("w/requests");
        std::fs::create_dir_all(&requests).unwrap();
        std::fs::write(root.path().join("secret"), "secret").unwrap();
        let folder = Folder::open(root.path(), &workspace).unwrap();
        let id = |n: u32| RequestId::parse(&format!("00000000-0000-4000-8000-{n:012}")).unwrap();
        let path = |n| requests.join(mailbox::file_name(&id(n)));
        std::fs::write(path(1), "hello").unwrap();
        std::os::unix::fs::symlink(root.path().join("secret"), path(2)).unwrap();
        std::fs::hard_link(root.path().join("secret"), path(3)).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path(4), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        std::fs::create_dir(path(5)).unwrap();
        File::create(path(6)).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::net::UnixListener::bind(path(7)).unwrap();
        assert!(matches!(folder.take(&id(1)), Taken::Bytes(bytes) if bytes == b"hello"));
        for n in 2..=7 {
            assert!(matches!(folder.take(&id(n)), Taken::Refused(_)), "{n}");
        }
        assert!(matches!(folder.take(&id(8)), Taken::Nothing));
    }

    #[test]
    fn a_folder_that_is_a_link_is_no_mailbox() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("w")).unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("w/requests")).unwrap();
        std::os::unix::fs::symlink("/", root.path().join("v")).unwrap();
        assert!(Folder::open(root.path(), &WorkspaceName::parse("w").unwrap()).is_none());
        assert!(Folder::open(root.path(), &WorkspaceName::parse("v").unwrap()).is_none());
    }

    #[test]
    fn an_asker_that_holds_no_lock_is_gone() {
        let root = tempfile::tempdir().unwrap();
        let workspace = WorkspaceName::parse("w").unwrap();
        let id = RequestId::parse("00000000-0000-4000-8000-000000000001").unwrap();
        std::fs::create_dir_all(root.path().join("w/requests")).unwrap();
        assert!(asker_is_gone(root.path(), &workspace, &id));
        let file = File::create(root.path().join("w/requests").join(mailbox::file_name(&id))).unwrap();
        assert!(asker_is_gone(root.path(), &workspace, &id));
        file.lock().unwrap();
        assert!(!asker_is_gone(root.path(), &workspace, &id));
        drop(file);
        assert!(asker_is_gone(root.path(), &workspace, &id));
    }
}
