//! The state folder: lock, signing key, store, control socket. Never mounted into a container.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::seal::HostKey;

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

/// The control socket in a state folder.
pub fn socket(folder: &Path) -> PathBuf {
    folder.join("control.sock")
}

fn private(path: &Path) -> Result<(), StateError> {
    let meta = std::fs::metadata(path).map_err(|source| StateError::Folder { path: path.to_owned(), source })?;
    let mode = meta.mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 { Ok(()) } else { Err(StateError::Open { path: path.to_owned(), mode }) }
}

/// Reads the signing key of a state folder, or makes one.
pub fn key_in(folder: &Path) -> Result<HostKey, StateError> {
    let path = key_file(folder);
    let failed = |source| StateError::Folder { path: path.clone(), source };
    match File::open(&path) {
        Ok(file) => {
            private(&path)?;
            let mut bytes = Vec::new();
            file.take(64).read_to_end(&mut bytes).map_err(failed)?;
            let seed: [u8; 32] = bytes.try_into().map_err(|_| StateError::BadKey { path: path.clone() })?;
            Ok(HostKey::from_seed(&seed))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut seed = [0; 32];
            getrandom::fill(&mut seed).map_err(|error| failed(io::Error::other(error.to_string())))?;
            // Whole or not at all: a half-written key would lock every hook out.
            let temporary = folder.join(".signing.key.tmp");
            let _ = std::fs::remove_file(&temporary);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary).map_err(failed)?;
            file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
            file.write_all(&seed).and_then(|()| file.sync_all()).map_err(failed)?;
            std::fs::rename(&temporary, &path).map_err(failed)?;
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
            Ok(HostKey::from_seed(&seed))
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
