//! Where this person's gates are, so that every command finds its configuration from anywhere: `~/.config/bashgate/gates`, one
//! folder a line, the newest last. `bashgate init` writes it.
//!
//! INVARIANT: nothing is ever looked for in the working directory or above it, where an agent may write. A folder counts
//! only when it, its configuration and the list belong to whoever calls, or to root, and nobody else can write them.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The configuration's name in a gate's folder.
pub const CONFIG: &str = "bashgate.toml";
/// The name of the hook's configuration there.
pub const HOOK_CONFIG: &str = "hook.toml";
/// Longest list that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A place that is not trusted.
#[derive(Debug, thiserror::Error)]
#[error("{} is not trusted: {why}", path.display())]
pub struct Untrusted {
    /// The file or folder.
    pub path: PathBuf,
    why: String,
}

/// `~/.config/bashgate`, where there is a home folder.
pub fn folder() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(home.join(".config/bashgate"))
}

/// The list.
pub fn list() -> Option<PathBuf> {
    Some(folder()?.join("gates"))
}

/// Makes a folder's gate the one that commands find. It must be absolute.
pub fn register(gate: &Path) -> io::Result<()> {
    let (Some(folder), Some(list)) = (folder(), list()) else {
        return Err(io::Error::other("there is no home folder (HOME is not set)"));
    };
    let line = gate.to_str().filter(|path| !path.contains('\n'));
    let Some(line) = line else { return Err(io::Error::other("the folder's name cannot be written on a line")) };
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    if read(&list).ok().is_some_and(|known| known.last().is_some_and(|last| last == gate)) {
        return Ok(());
    }
    // One write of a line, so that two at once leave two lines.
    OpenOptions::new().append(true).create(true).mode(0o600).open(&list)?.write_all(format!("{line}\n").as_bytes())
}

fn read(list: &Path) -> io::Result<Vec<PathBuf>> {
    let meta = std::fs::metadata(list)?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err(io::Error::other("it is no list of folders"));
    }
    let text = std::fs::read_to_string(list)?;
    Ok(text.lines().map(PathBuf::from).filter(|path| path.is_absolute()).collect())
}

/// The configuration of the newest gate that is still there.
pub fn newest() -> Result<Option<PathBuf>, Untrusted> {
    let Some(list) = list() else { return Ok(None) };
    let gates = match read(&list) {
        Ok(gates) => gates,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Untrusted { path: list, why: error.to_string() }),
    };
    let Some(gate) = gates.into_iter().rev().find(|gate| gate.join(CONFIG).exists()) else { return Ok(None) };
    let config = gate.join(CONFIG);
    for path in [&list, &gate, &config] {
        is_trusted(path)?;
    }
    Ok(Some(config))
}

/// An error unless a place belongs to whoever calls, or to root, and nobody else can write it or exchange it: neither it nor a
/// folder above it, by the names that were given and by the real ones.
pub fn is_trusted(path: &Path) -> Result<(), Untrusted> {
    let not = |path: &Path, why: String| Err(Untrusted { path: path.to_owned(), why });
    let own = rustix::process::geteuid().as_raw();
    let real = match std::fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) => return not(path, error.to_string()),
    };
    for (at, place) in path.ancestors().chain(real.ancestors()).enumerate().filter(|(_, place)| place.is_absolute()) {
        let is_itself = at == 0 || place == real;
        match std::fs::symlink_metadata(place) {
            Err(error) => return not(place, error.to_string()),
            Ok(meta) if meta.uid() != own && meta.uid() != 0 => {
                return not(place, format!("it belongs to user id {}, and this is {own}", meta.uid()));
            }
            // A link has no mode of its own.
            Ok(meta) if meta.is_symlink() => {}
            // In a folder like /tmp nobody exchanges what is another's.
            Ok(meta) if meta.mode() & 0o022 != 0 && (is_itself || meta.mode() & 0o1000 == 0) => {
                return not(place, format!("others can write it (mode {:o})", meta.mode() & 0o7777));
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    /// A folder of this person's, and where it is not trusted any more once something is done to it.
    #[test]
    fn a_place_that_somebody_else_may_exchange_is_not_trusted() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let gate = top.join("above/gate");
        let config = gate.join(CONFIG);
        fs::create_dir_all(&gate).unwrap();
        fs::write(&config, "").unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(is_trusted(&config).is_ok(), "{:?}", is_trusted(&config));
        for (path, open, closed) in [(&config, 0o666, 0o644), (&gate, 0o770, 0o755), (&top.join("above"), 0o757, 0o755)]
        {
            mode(path, open);
            assert!(is_trusted(&config).is_err(), "{} with mode {open:o}", path.display());
            mode(path, closed);
        }
        // Nobody exchanges another's folder there.
        mode(&top.join("above"), 0o1777);
        assert!(is_trusted(&config).is_ok());
        // By a link, from a folder where others may exchange it, and to such a folder.
        fs::create_dir(top.join("open")).unwrap();
        symlink(&gate, top.join("open/link")).unwrap();
        assert!(is_trusted(&top.join("open/link")).is_ok());
        mode(&top.join("open"), 0o777);
        assert!(is_trusted(&top.join("open/link")).is_err());
        symlink(top.join("open"), top.join("link")).unwrap();
        assert!(is_trusted(&top.join("link")).is_err());
        assert!(is_trusted(&top.join("missing")).is_err());
        if rustix::process::geteuid().is_root() {
            chown(&gate, Some(23_011), None).unwrap();
            assert!(is_trusted(&config).is_err(), "it is somebody else's");
        }
    }
}
