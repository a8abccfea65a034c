//! A line of a list such as `.gitignore` (gitignore(5)), as far as everybody reads it alike.

use std::path::Path;

use bashgate_shared::classify::{fits, is_plain_pattern};

/// True for a line of letters and stars that names this very path, from the folder of its list on. What may be read in another way names
/// nothing.
pub(in crate::gate) fn names(line: &str, below: &Path, is_folder: bool) -> bool {
    let line = line.trim_end_matches(' ');
    // In whatever folder.
    if let Some(rest) = line.strip_prefix("**/").filter(|rest| !rest.contains("**") && !rest.starts_with('/')) {
        let rest = if rest.trim_end_matches('/').contains('/') { format!("/{rest}") } else { rest.to_owned() };
        let depth = below.components().count();
        let behind = |skipped| below.components().skip(skipped).collect::<std::path::PathBuf>();
        return (0..depth).any(|skipped| names(&rest, &behind(skipped), is_folder));
    }
    if line.contains("**") || !is_plain_pattern(&line.replace('/', "")) {
        return false;
    }
    let pattern = line.strip_suffix('/').unwrap_or(line);
    if pattern.len() < line.len() && !is_folder {
        return false;
    }
    let parts: Vec<String> = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if !pattern.contains('/') {
        return parts.last().is_some_and(|name| fits(pattern, name));
    }
    let wanted: Vec<&str> = pattern.strip_prefix('/').unwrap_or(pattern).split('/').collect();
    wanted.len() == parts.len() && wanted.iter().zip(&parts).all(|(want, part)| fits(want, part))
}
