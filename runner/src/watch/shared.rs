//! The folders that everybody on the machine shares: a run may write into them, and root could close them to others.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::paths::TEMPORARY;

use super::{Change, Violation};

/// How they were.
#[derive(Debug)]
pub struct SharedFolders(Vec<(PathBuf, u32)>);

impl SharedFolders {
    /// Looks at them before a run.
    pub fn before() -> Self {
        Self::of(TEMPORARY.map(Path::new))
    }

    fn of<'f>(folders: impl IntoIterator<Item = &'f Path>) -> Self {
        Self(folders.into_iter().filter_map(|folder| Some((folder.to_owned(), mode(folder)?))).collect())
    }

    /// Gives them their modes back, and says which were changed.
    pub fn given_back(&self) -> Vec<Violation> {
        let changed = self.0.iter().filter(|(folder, before)| mode(folder).is_some_and(|now| now != *before));
        changed
            .map(|(folder, before)| {
                let done = fs::set_permissions(folder, Permissions::from_mode(*before));
                let change = if done.is_ok() { Change::PutBack } else { Change::Modified };
                Violation::of(folder, change)
            })
            .collect()
    }
}

fn mode(folder: &Path) -> Option<u32> {
    let found = fs::symlink_metadata(folder).ok()?;
    found.is_dir().then(|| found.permissions().mode() & 0o7777)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_mode_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
        let shared = SharedFolders::of([folder.path(), Path::new("/nowhere")]);
        assert_eq!(shared.given_back(), []);
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        assert_eq!(shared.given_back().first().map(|one| one.change), Some(Change::PutBack));
        assert_eq!(mode(folder.path()), Some(0o1777));
    }
}
