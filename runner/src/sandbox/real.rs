//! Real paths of many names that lie in few folders.
//!
//! A run hides some thousand places, of which hardly one exists on any machine. To ask the kernel for each, component by
//! component, took longer than to start the sandbox; so each folder is resolved once, and listed once.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Most names of a folder that are kept. In a larger one, each name is asked for.
const MOST_NAMES: usize = 4096;
/// So many names are asked for one by one before a folder is listed.
const FEW: usize = 6;
/// Most links to missing targets that are followed one behind the other.
const MOST_LINKS: usize = 16;

/// What has been asked for.
#[derive(Debug, Default)]
pub(super) struct RealPaths {
    known: HashMap<PathBuf, Option<PathBuf>>,
    /// By the folder's real path.
    names: HashMap<PathBuf, Names>,
}

/// What a folder holds.
#[derive(Debug)]
enum Names {
    /// So many have been asked for.
    Asked(usize),
    All(HashSet<OsString>),
    /// It cannot be listed, or is large.
    TooMany,
}

impl Names {
    fn of(folder: &Path) -> Self {
        let mut names = HashSet::new();
        let Ok(entries) = std::fs::read_dir(folder) else { return Self::TooMany };
        for entry in entries {
            let Ok(entry) = entry else { return Self::TooMany };
            names.insert(entry.file_name());
            if names.len() > MOST_NAMES {
                return Self::TooMany;
            }
        }
        Self::All(names)
    }
}

impl RealPaths {
    /// The real path of something that exists.
    fn of(&mut self, path: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        let real = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if is_plain => self.of(folder).and_then(|folder| {
                let path = folder.join(name);
                if !self.may_hold(&folder, name) {
                    return None;
                }
                // Most are no links, and a folder's real path is known.
                let meta = std::fs::symlink_metadata(&path).ok()?;
                if meta.is_symlink() { std::fs::canonicalize(path).ok() } else { Some(path) }
            }),
            _ => std::fs::canonicalize(path).ok(),
        };
        self.known.insert(path.to_owned(), real.clone());
        real
    }

    /// False when a folder is known to hold no such name.
    fn may_hold(&mut self, folder: &Path, name: &OsStr) -> bool {
        let names = self.names.entry(folder.to_owned()).or_insert(Names::Asked(0));
        match names {
            Names::Asked(count) if *count < FEW => *count += 1,
            Names::Asked(_) => *names = Names::of(folder),
            Names::All(_) | Names::TooMany => {}
        }
        if let Names::All(names) = names { names.contains(name) } else { true }
    }

    /// The first of these places whose real path is no text: it could be covered by no name.
    pub(super) fn without_text(&mut self, paths: &[PathBuf]) -> Option<PathBuf> {
        paths.iter().filter_map(|path| self.of(path)).find(|real| real.to_str().is_none())
    }

    /// The real paths of those that exist, shortest first, each once. One that is no text has no name to be asked for.
    pub(super) fn existing(&mut self, paths: &[PathBuf]) -> Vec<String> {
        let real = paths.iter().filter_map(|path| self.of(path));
        let mut found: Vec<String> = real.filter_map(|path| path.into_os_string().into_string().ok()).collect();
        found.sort();
        found.dedup();
        found
    }

    /// The real path of what exists of a path, and the rest of it; and where a link leads whose target is missing, the same of
    /// that. What is no text is left out.
    pub(super) fn as_far_as_real(&mut self, path: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut next = Some(path.to_owned());
        while let Some(path) = next.take().filter(|_| found.len() < MOST_LINKS) {
            let whole = path.ancestors().find_map(|part| Some((self.of(part)?, path.strip_prefix(part).ok()?)));
            let Some((real, rest)) = whole else { break };
            // An empty rest would leave a slash behind.
            let whole = if rest.as_os_str().is_empty() { real.clone() } else { real.join(rest) };
            // The first part of what does not exist may be a link to nowhere.
            let first = rest.components().next().filter(|first| self.may_hold(&real, first.as_os_str()));
            next = first.and_then(|first| {
                let target = std::fs::read_link(real.join(first)).ok()?;
                Some(real.join(target).join(rest.strip_prefix(first).ok()?))
            });
            found.extend(whole.into_os_string().into_string());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_are_as_real_as_the_kernel_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("missing/x", root.join("nowhere")).unwrap();
        symlink("nowhere", root.join("a/again")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        std::fs::create_dir(root.join("many")).unwrap();
        for number in 0..=MOST_NAMES {
            std::fs::write(root.join(format!("many/{number}")), "").unwrap();
        }
        let mut paths = RealPaths::default();
        for path in [
            "a",
            "a/b/file",
            "link",
            "link/b/file",
            "link/b/none",
            "a/b/../b",
            "none",
            "none/x",
            "nowhere",
            "loop",
            "loop/x",
        ]
        .map(|path| root.join(path))
        .into_iter()
        .chain([root.join("many/7"), root.join("many/x"), root.join("a/b/file/x"), PathBuf::from("/")])
        {
            let want = std::fs::canonicalize(&path).ok();
            assert_eq!(paths.of(&path), want, "{}", path.display());
            assert_eq!(paths.existing(std::slice::from_ref(&path)).len(), usize::from(want.is_some()));
        }
        let text = |path: &str| root.join(path).display().to_string();
        for (path, want) in [
            ("a/b/file", vec!["a/b/file"]),
            ("link/b/new/er", vec!["a/b/new/er"]),
            ("nowhere", vec!["nowhere", "missing/x"]),
            ("nowhere/y", vec!["nowhere/y", "missing/x/y"]),
            ("link/again", vec!["a/again", "a/nowhere"]),
            ("many/x", vec!["many/x"]),
        ] {
            assert_eq!(
                paths.as_far_as_real(&root.join(path)),
                want.into_iter().map(text).collect::<Vec<_>>(),
                "{path}"
            );
        }
        assert_eq!(paths.as_far_as_real(&root.join("loop")).len(), MOST_LINKS);
    }
}
