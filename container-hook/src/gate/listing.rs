//! Whether files are there, by one look into each folder: most names that are asked about are of none.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Most names of a folder that are kept to be asked again.
const MOST_KEPT: usize = 4096;

/// The names in folders that were looked into; nothing for one with too many.
pub type Names = HashMap<PathBuf, Option<HashSet<OsString>>>;

/// True for a file that is there, by one look into each folder.
pub fn is_there(names: &mut Names, place: &Path) -> bool {
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { return false };
    if !names.contains_key(folder) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_KEPT + 1);
        let all: HashSet<OsString> = entries.map(|entry| entry.file_name()).collect();
        names.insert(folder.to_owned(), Some(all).filter(|all| all.len() <= MOST_KEPT));
    }
    let may_be = names.get(folder).is_none_or(|known| known.as_ref().is_none_or(|known| known.contains(name)));
    may_be && place.is_file()
}

/// The same where some files are made `soon`, which count as if they were there.
pub(super) fn is_there_or_soon(names: &mut Names, place: &Path, soon: &[PathBuf]) -> bool {
    is_there(names, place) || !soon.is_empty() && soon.contains(&without_detours(place))
}

/// Where a folder really lies.
pub(super) fn tidy(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A path without `..`, which leads where the folder before it really lies; also one of a file that is not there yet.
pub(super) fn without_detours(file: &Path) -> PathBuf {
    let has_detours = file.components().any(|part| part == Component::ParentDir);
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if has_detours => tidy(folder).join(name),
        _ => file.to_owned(),
    }
}
