//! What git's settings name beside the repository's own folder: hooks that it would run, and settings that it includes.

use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::paths;

use super::{config, files_outside, repositories};
use crate::gate::conditions::place;

/// The files and folders that settings in force in a folder name, as they lie there and as the text says; `None` where some
/// settings are not understood.
///
/// # Errors
/// When a repository on the way cannot be read.
pub(in crate::gate) fn by_settings(folder: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    let mut named = Vec::new();
    for repository in repositories(folder)? {
        let root = std::fs::canonicalize(&repository.root).unwrap_or_else(|_| repository.root.clone());
        for file in repository.files().iter().chain(&files_outside()) {
            let text = match super::read_text(file) {
                Ok(text) => text,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(settings) = config::read(&text) else { return Ok(None) };
            for setting in settings {
                let base = match setting.key.as_str() {
                    "core.hookspath" => root.as_path(),
                    // The reader gives names in lower case.
                    key if key.starts_with("include") && key.rsplit('.').next() == Some("path") => {
                        file.parent().unwrap_or(root.as_path())
                    }
                    _ => continue,
                };
                let Some(place) = place(&setting.value, base) else { continue };
                named.push(PathBuf::from(paths::resolve(None, &place.to_string_lossy())));
                named.push(std::fs::canonicalize(&place).unwrap_or(place));
            }
        }
    }
    Ok(Some(named))
}
