//! The state folder: lock, signing key, store, control socket. Never mounted into a container.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::protocol::Heartbeat;
use bashgate_shared::seal::{HostKey, PublicKey};

use crate::audit::Checkpoint;

/// What can be wrong with the state folder.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It cannot be made or used.
    #[error("cannot use the state folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Others can read it.
    #[error("the state folder {} is open to others (mode {mode:o})", path.display())]
    Open {
        /// The folder or file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Another process works on it.
    #[error("another bashgate works on the state folder {}", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The key file is not a key.
    #[error("the signing key {} is not 32 bytes", path.display())]
    BadKey {
        /// The file.
        path: PathBuf,
    },
}

impl StateError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "check `state` in bashgate.toml, its owner and the disk",
            Self::Open { .. } => "chmod 700 the folder and 600 the files in it, and find out who made them readable",
            Self::Locked { .. } => "stop the other one, or talk to it with the other commands of `bashgate`",
            Self::BadKey { .. } => {
                "restore it from a backup; a new key also needs a new `public_key` in every hook.toml"
            }
        }
    }
}

/// An open state folder. The lock lasts as long as the value.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens the folder, makes it if it is not there, and locks it.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let failed = |source| StateError::Folder { path: path.to_owned(), source };
        if !path.exists() {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        }
        private(path)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join("lock"))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(std::fs::TryLockError::WouldBlock) => Err(StateError::Locked { path: path.to_owned() }),
            Err(std::fs::TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The signing key; made at the first call.
    pub fn key(&self) -> Result<HostKey, StateError> {
        key_in(&self.path)
    }

    /// The signing key, and the one before it where that still counts.
    pub fn keys(&self) -> Result<Keys, StateError> {
        Ok(Keys { current: self.key()?, previous: read_key(&previous_key_file(&self.path))? })
    }

    /// Puts a new signing key in the old one's place, which goes on counting for hooks that still have it unless it is
    /// revoked. Whoever dies in the middle has the old one or the new one, never none.
    pub fn rotate_key(&self, revoke: bool) -> Result<Keys, StateError> {
        let old = self.key()?;
        let failed = |source| StateError::Folder { path: self.path.clone(), source };
        // Checkpoints of the audit that it has signed are checked with it from now on.
        let mut former = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(former_keys_file(&self.path))
            .map_err(failed)?;
        former.write_all(format!("{}\n", old.public()).as_bytes()).and_then(|()| former.sync_all()).map_err(failed)?;
        let seed = std::fs::read(key_file(&self.path)).map_err(failed)?;
        if revoke {
            remove(&previous_key_file(&self.path)).map_err(failed)?;
        } else {
            write_whole(&previous_key_file(&self.path), &seed).map_err(failed)?;
        }
        make_key(&key_file(&self.path))?;
        self.keys()
    }

    /// The key before the current one counts no more.
    pub fn retire_key(&self) -> Result<Keys, StateError> {
        remove(&previous_key_file(&self.path))
            .map_err(|source| StateError::Folder { path: self.path.clone(), source })?;
        self.keys()
    }

    /// The store's file.
    pub fn store(&self) -> PathBuf {
        store(&self.path)
    }
}

/// The store's file in a state folder.
pub fn store(folder: &Path) -> PathBuf {
    folder.join("bashgate.db")
}

/// The signing key's file in a state folder.
pub fn key_file(folder: &Path) -> PathBuf {
    folder.join("signing.key")
}

/// The file of the key before the current one, as long as that counts.
pub fn previous_key_file(folder: &Path) -> PathBuf {
    folder.join("previous.key")
}

/// The file with the public halves of all keys that were, one a line.
pub fn former_keys_file(folder: &Path) -> PathBuf {
    folder.join("former.keys")
}

/// The public halves of all keys that a host in this folder has had before its current one.
pub fn former_keys(folder: &Path) -> Vec<PublicKey> {
    let text = std::fs::read_to_string(former_keys_file(folder)).unwrap_or_default();
    text.lines().filter_map(PublicKey::parse).collect()
}

/// True for a checkpoint of the audit that this key has signed, or one that was the host's before.
pub fn has_signed(folder: &Path, key: &HostKey, checkpoint: &Checkpoint) -> bool {
    checkpoint.is_signed_by(key.public()) || former_keys(folder).iter().any(|former| checkpoint.is_signed_by(former))
}

/// The keys of a host: while they are exchanged there are two.
#[derive(Debug)]
pub struct Keys {
    /// The one that hooks are given.
    pub current: HostKey,
    /// The one before, for hooks that still have it.
    pub previous: Option<HostKey>,
}

impl Keys {
    /// The key for whoever checks with the key of this id.
    pub fn answering(&self, asked: Option<&str>) -> &HostKey {
        self.previous.as_ref().filter(|previous| asked == Some(previous.id())).unwrap_or(&self.current)
    }

    /// A sign of life that counts for both.
    pub fn beat(&self, boot_id: &str, boot_ms: u64) -> Heartbeat {
        let mut beat = self.current.beat(boot_id, boot_ms);
        if let Some(previous) = &self.previous {
            previous.countersign(&mut beat);
        }
        beat
    }
}

/// The control socket in a state folder.
pub fn socket(folder: &Path) -> PathBuf {
    folder.join("control.sock")
}

/// Refuses a folder or file that others can read.
pub fn private(path: &Path) -> Result<(), StateError> {
    let meta = std::fs::metadata(path).map_err(|source| StateError::Folder { path: path.to_owned(), source })?;
    let mode = meta.mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 { Ok(()) } else { Err(StateError::Open { path: path.to_owned(), mode }) }
}

/// Reads the signing key of a state folder, or makes one.
pub fn key_in(folder: &Path) -> Result<HostKey, StateError> {
    key_at(&key_file(folder))
}

/// Reads a key from a file that nobody else can read, or makes one.
pub fn key_at(path: &Path) -> Result<HostKey, StateError> {
    read_key(path)?.map_or_else(|| make_key(path), Ok)
}

/// Reads a key, if the file is there.
fn read_key(path: &Path) -> Result<Option<HostKey>, StateError> {
    let failed = |source| StateError::Folder { path: path.to_owned(), source };
    match File::open(path) {
        Ok(file) => {
            private(path)?;
            let mut bytes = Vec::new();
            file.take(64).read_to_end(&mut bytes).map_err(failed)?;
            let seed: [u8; 32] = bytes.try_into().map_err(|_| StateError::BadKey { path: path.to_owned() })?;
            Ok(Some(HostKey::from_seed(&seed)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn make_key(path: &Path) -> Result<HostKey, StateError> {
    let failed = |source| StateError::Folder { path: path.to_owned(), source };
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| failed(io::Error::other(error.to_string())))?;
    write_whole(path, &seed).map_err(failed)?;
    Ok(HostKey::from_seed(&seed))
}

/// Writes a file that nobody else can read, whole or not at all: a half-written key would lock every hook out.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let temporary = path.with_file_name(format!(".{}.tmp", name.display()));
    remove(&temporary)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(bytes).and_then(|()| file.sync_all())?;
    std::fs::rename(&temporary, path)?;
    File::open(path.parent().unwrap_or(Path::new("/"))).and_then(|folder| folder.sync_all())
}

/// Removes a file; one that is not there is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_exchanged_and_the_old_one_counts_until_it_is_retired() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::open(&root.path().join("state")).unwrap();
        let old = folder.key().unwrap().id().to_owned();
        let keys = folder.rotate_key(false).unwrap();
        let new = keys.current.id().to_owned();
        assert_ne!(old, new);
        assert_eq!(keys.answering(Some(&old)).id(), old);
        for asked in [Some(new.as_str()), Some("0123456789abcdef"), None] {
            assert_eq!(keys.answering(asked).id(), new);
        }
        // A host that starts again has both.
        assert_eq!(folder.keys().unwrap().answering(Some(&old)).id(), old);
        assert_eq!(
            former_keys(folder.path()).iter().map(PublicKey::id).collect::<Vec<_>>(),
            std::slice::from_ref(&old)
        );
        assert_eq!(folder.retire_key().unwrap().answering(Some(&old)).id(), new);
        // A key that is revoked never counts again.
        assert!(folder.rotate_key(false).unwrap().previous.is_some());
        assert!(folder.rotate_key(true).unwrap().previous.is_none());
        assert_eq!(former_keys(folder.path()).len(), 3);
        for file in [key_file(folder.path()), former_keys_file(folder.path())] {
            assert_eq!(std::fs::metadata(file).unwrap().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn one_process_one_key_and_nobody_else() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("state");
        let folder = Folder::open(&path).unwrap();
        assert!(matches!(Folder::open(&path), Err(StateError::Locked { .. })));
        let public = folder.key().unwrap().public().to_string();
        drop(folder);
        let folder = Folder::open(&path).unwrap();
        assert_eq!(folder.key().unwrap().public().to_string(), public);
        assert_eq!(std::fs::metadata(path.join("signing.key")).unwrap().mode() & 0o777, 0o600);
        std::fs::set_permissions(path.join("signing.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(folder.key(), Err(StateError::Open { .. })));
        std::fs::write(path.join("signing.key"), "short").unwrap();
        std::fs::set_permissions(path.join("signing.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(folder.key(), Err(StateError::BadKey { .. })));
        drop(folder);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(Folder::open(&path), Err(StateError::Open { .. })));
    }
}
