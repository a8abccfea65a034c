//! The scripts that a command was allowed with: copies of the very bytes, which lie over the files while it runs.
//!
//! A digest that was right a moment ago says nothing about what a shell reads a moment later. Only a sandbox with mounts of its
//! own can see to it; what remains elsewhere, the threat model says.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::FileEvidence;

use crate::sandbox::Temporary;

/// Largest script that is copied, in bytes; as large as the largest of which a digest is made.
const MOST_BYTES: u64 = 8 << 20;

/// A script that has changed since it was allowed.
#[derive(Debug, thiserror::Error)]
#[error("{0} is another one than the command was allowed with")]
pub struct Changed(pub String);

/// Copies of scripts, for as long as this lives.
#[derive(Debug)]
pub struct BoundScripts {
    folder: Option<Temporary>,
    /// From the copy to the real path of the script.
    pub mounts: Vec<(String, String)>,
}

impl BoundScripts {
    /// Copies what these digests mean into a folder below `parent`. A file of which no digest was made is left out.
    ///
    /// The inner error says which script is another one by now.
    pub fn copy(scripts: &[FileEvidence], cwd: &Path, parent: &Path) -> io::Result<Result<Self, Changed>> {
        let mut bound = Self { folder: None, mounts: Vec::new() };
        for script in scripts.iter().filter(|script| !script.sha256.is_empty()) {
            let path = cwd.join(&script.path);
            let Some(bytes) = read(&path).filter(|bytes| Digest::of(bytes).hex() == script.sha256) else {
                return Ok(Err(Changed(script.path.clone())));
            };
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
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let mut bytes = Vec::new();
    let is_whole = file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= MOST_BYTES);
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    is_whole.then_some(bytes)
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
        let copied = |script: FileEvidence| BoundScripts::copy(&[script], folder.path(), folder.path()).unwrap();
        let bound = copied(script("a.sh", b"echo a")).unwrap();
        let [(copy, real)] = bound.mounts.as_slice() else { panic!("{bound:?}") };
        assert_eq!(fs::read_to_string(copy).unwrap(), "echo a");
        assert_eq!(Path::new(real), folder.path().canonicalize().unwrap().join("a.sh"));
        let copy = copy.clone();
        drop(bound);
        assert!(!Path::new(&copy).exists());
        assert!(copied(script("a.sh", b"echo b")).is_err());
        assert!(copied(script("gone.sh", b"")).is_err());
        assert!(copied(FileEvidence { sha256: String::new(), ..script("huge", b"") }).unwrap().mounts.is_empty());
    }
}
