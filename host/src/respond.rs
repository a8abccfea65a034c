//! Writing into `responses/`: answers and heartbeats, each whole or not at all, never over something that is there.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashgate_shared::mailbox;
use bashgate_shared::protocol::{Heartbeat, RequestId, Response, WorkspaceName};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};

use crate::{fault, mailbox_folder};

/// Writes into the mailboxes below one folder.
#[derive(Debug, Clone)]
pub struct Responder {
    root: PathBuf,
}

impl Responder {
    /// For the mailboxes below this folder.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn folder(&self, workspace: &WorkspaceName) -> io::Result<OwnedFd> {
        mailbox_folder::open(&self.root, workspace, mailbox::RESPONSES)
    }

    /// Releases an answer. Fails when a file of that name is there already.
    pub fn release(&self, workspace: &WorkspaceName, id: &RequestId, response: &Response) -> io::Result<()> {
        let bytes = serde_json::to_vec(response)?;
        fault::point("response.begin")?;
        let folder = self.folder(workspace)?;
        let temporary = mailbox::temporary_name(id);
        if let Err(error) = write_new(&folder, &temporary, &bytes) {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            // What a host that died in the middle left behind.
            rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty())?;
            write_new(&folder, &temporary, &bytes)?;
        }
        fault::here("response.written");
        let target = mailbox::file_name(id);
        let renamed =
            rustix::fs::renameat_with(&folder, temporary.as_str(), &folder, target.as_str(), RenameFlags::NOREPLACE);
        if let Err(error) = renamed {
            let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
            return Err(error.into());
        }
        fault::here("response.renamed");
        Ok(())
    }

    /// Renews the sign of life.
    pub fn beat(&self, workspace: &WorkspaceName, beat: &Heartbeat) -> io::Result<()> {
        let bytes = serde_json::to_vec(beat)?;
        let folder = self.folder(workspace)?;
        let temporary = ".heartbeat.tmp";
        let _ = rustix::fs::unlinkat(&folder, temporary, AtFlags::empty());
        write_new(&folder, temporary, &bytes)?;
        fault::here("heartbeat.written");
        Ok(rustix::fs::renameat(&folder, temporary, &folder, mailbox::HEARTBEAT)?)
    }

    /// Puts the operator's own programs there, signed, or takes away what was there.
    pub fn put_programs(&self, workspace: &WorkspaceName, bytes: Option<&[u8]>) -> io::Result<()> {
        let folder = self.folder(workspace)?;
        let gone = |removed: rustix::io::Result<()>| match removed {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(io::Error::from(error)),
        };
        let Some(bytes) = bytes else {
            return gone(rustix::fs::unlinkat(&folder, mailbox::PROGRAMS, AtFlags::empty()));
        };
        let temporary = ".programs.tmp";
        gone(rustix::fs::unlinkat(&folder, temporary, AtFlags::empty()))?;
        write_new(&folder, temporary, bytes)?;
        Ok(rustix::fs::renameat(&folder, temporary, &folder, mailbox::PROGRAMS)?)
    }

    /// Takes away answers that an earlier host has left, older than this: whoever asked has stopped listening. Looks at so
    /// many names at most.
    pub fn sweep(&self, workspace: &WorkspaceName, older_than: Duration) {
        const MOST_NAMES: usize = 100_000;
        let Ok(folder) = self.folder(workspace) else { return };
        let Ok(entries) = rustix::fs::Dir::read_from(&folder) else { return };
        let now = std::time::SystemTime::now();
        for entry in entries.take(MOST_NAMES).flatten() {
            let Ok(name) = entry.file_name().to_str() else { continue };
            // What begins with a dot is half an answer, or a folder's own name, which is not unlinked so.
            if matches!(mailbox::name(name), mailbox::Name::Stray) {
                continue;
            }
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let written = std::time::UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
            if now.duration_since(written).is_ok_and(|age| age > older_than) {
                let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
            }
        }
    }

    /// Takes an old answer away.
    pub fn remove(&self, workspace: &WorkspaceName, id: &RequestId) {
        if let Ok(folder) = self.folder(workspace) {
            let _ = rustix::fs::unlinkat(&folder, mailbox::file_name(id), AtFlags::empty());
        }
    }
}

fn write_new(folder: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    let mut file = File::from(rustix::fs::openat(folder, name, flags, mode)?);
    // The container's user may be another one, whatever this process's umask is.
    rustix::fs::fchmod(&file, mode)?;
    let written = file.write_all(bytes);
    if written.is_err() {
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
    written
}
