//! What `git add` would take in: secrets that git neither tracks nor ignores. In the repository they are shown by their
//! numbers, whatever they were called.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::secrets;

use super::{MAX_LIST, Repository, config_folders, files_outside, ignoring, index};

/// The names that a repository tracks, relative to its root, or `None` where its index is not understood.
pub(in crate::gate) fn tracked(repository: &Repository) -> Option<HashSet<String>> {
    match super::read(&repository.git_dir.join("index")) {
        Ok(bytes) => {
            let read = index::read(&bytes, 20).or_else(|| index::read(&bytes, 32))?;
            Some(read.names.into_iter().collect())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(HashSet::new()),
        Err(_) => None,
    }
}

/// True when git would take this file of the working tree in, as far as it is certain that it would not.
pub(in crate::gate) fn takes_in(repository: &Repository, tracked: &HashSet<String>, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(&repository.root) else { return false };
    let name = inside.to_string_lossy();
    !tracked.contains(name.as_ref()) && !inside.starts_with(".git") && !is_ignored(repository, tracked, inside)
}

/// True when a plain line says that git does not look at it. A list that cannot be read may take anything back.
fn is_ignored(repository: &Repository, tracked: &HashSet<String>, inside: &Path) -> bool {
    let mut ignored = false;
    let mut lists: Vec<_> = everywhere(repository).into_iter().map(|list| (list, inside)).collect();
    lists.push((repository.common.join("info/exclude"), inside));
    // From the root down: what is said deeper counts more.
    let above: Vec<&Path> = inside.ancestors().skip(1).collect();
    for folder in above.iter().rev() {
        let below = inside.strip_prefix(folder).unwrap_or(inside);
        lists.push((repository.root.join(folder).join(".gitignore"), below));
    }
    for (list, below) in lists {
        let text = match std::fs::symlink_metadata(&list) {
            Ok(meta) if meta.is_file() && meta.len() <= MAX_LIST => match super::read_text(&list) {
                Ok(text) => text,
                Err(_) => return false,
            },
            // Where the working tree has none, git goes by the one in its index.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let of_index =
                    list.strip_prefix(&repository.root).is_ok_and(|name| tracked.contains(&*name.to_string_lossy()));
                if of_index {
                    return false;
                }
                continue;
            }
            _ => return false,
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        for line in text.split('\n') {
            let line = line.trim_end_matches(' ');
            match line.strip_prefix('!') {
                // What is taken back in some way is in.
                Some(_) if ignored => ignored = false,
                Some(_) => {}
                None if line.is_empty() || line.starts_with('#') => {}
                None => ignored |= fits(line, below),
            }
        }
    }
    ignored
}

/// The list of whoever works here, for all repositories, where it lies where git looks for it and nothing says that it lies elsewhere.
fn everywhere(repository: &Repository) -> Option<PathBuf> {
    let says_nothing = |file: PathBuf| match super::read_text(&file) {
        Ok(text) => !["excludesfile", "include"].iter().any(|key| text.to_ascii_lowercase().contains(key)),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    let mut settings = repository.files().into_iter().chain(files_outside());
    let folder = config_folders().next()?;
    settings.all(says_nothing).then(|| folder.join("git/ignore"))
}

/// True for a line that names a path, which is no folder, or a folder on the way to it.
fn fits(line: &str, below: &Path) -> bool {
    let on_the_way = below.ancestors().filter(|path| !path.as_os_str().is_empty());
    on_the_way.into_iter().any(|path| ignoring::names(line, path, path != below))
}

/// True for a file whose name or place, from the root of the repository on, is a secret's.
pub(in crate::gate) fn is_secret(file: &Path) -> bool {
    secrets::is_secret_path(&file.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_ignore_and_doubtful_ones_do_not() {
        for (line, path, want) in [
            (".env", ".env", true),
            (".env", "src/.env", true),
            (".env*", "src/.env.local", true),
            ("*.key", "a/b/server.key", true),
            ("*.key", "server.keys", false),
            ("/.env", ".env", true),
            ("/.env", "src/.env", false),
            ("conf/", "conf/x/.env", true),
            (".env/", ".env", false),
            ("src/conf", "src/conf/id_rsa", true),
            ("src/conf", "lib/src/conf/id_rsa", false),
            ("**/.env", "src/.env", true),
            ("**/.env", ".env", true),
            ("**/conf/.env", "src/conf/.env", true),
            ("**/conf/.env", "src/.env", false),
            ("src/**/.env", "src/a/.env", false),
            (".en?", ".env", false),
            ("\\.env", ".env", false),
            ("", ".env", false),
        ] {
            assert_eq!(fits(line, Path::new(path)), want, "{line} {path}");
        }
    }
}
