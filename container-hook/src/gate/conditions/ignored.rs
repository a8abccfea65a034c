//! What a search passes by that goes by lists such as `.gitignore`: names with a dot in front, and what plain lines of a list name.
//!
//! A line that takes something back (`!`) may take back anything, names with a dot in front as well: then nothing is passed by.

use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::passed_by;

use super::is_not_there;
use crate::gate::git::{self, MAX_LIST, ignoring};

/// True for a path below a folder that a search of this folder passes by. The folder itself was named, and is searched whatever it is
/// called.
pub(super) fn is_hidden_or_ignored(root: &Path, inside: &str) -> bool {
    let parts: Vec<&str> = inside.split('/').collect();
    let is_hidden = parts.iter().any(|part| part.starts_with('.'));
    match lists_above(root, &parts) {
        Ok(lists) if lists.iter().all(|list| !list.takes_back) => is_hidden || is_ignored(root, &parts, &lists),
        _ => false,
    }
}

/// A list in force, with the folder for which it counts.
struct List {
    folder: PathBuf,
    lines: Vec<String>,
    /// It counts in a repository only.
    of_git: bool,
    /// A line of it begins with `!`, or may mean something else.
    takes_back: bool,
}

/// The lists above a path.
fn lists_above(root: &Path, parts: &[&str]) -> io::Result<Vec<List>> {
    let mut folders: Vec<PathBuf> = root.ancestors().map(Path::to_owned).collect();
    folders.extend(
        (1..parts.len()).map(|depth| parts.iter().take(depth).fold(root.to_owned(), |path, part| path.join(part))),
    );
    let mut lists = Vec::new();
    for folder in &folders {
        // A linked worktree has its list elsewhere.
        if std::fs::symlink_metadata(folder.join(".git")).is_ok_and(|meta| !meta.is_dir()) {
            return Err(io::Error::other("a repository lies elsewhere"));
        }
        for name in passed_by::LISTS {
            lists.extend(read(&folder.join(name), folder, name == ".gitignore")?);
        }
        lists.extend(read(&folder.join(".git/info/exclude"), folder, true)?);
    }
    // The account's own, and another one that settings may name.
    for config in git::config_folders() {
        lists.extend(read(&config.join("git/ignore"), &config, true)?);
    }
    for settings in git::files_outside() {
        match git::read_text(&settings) {
            Ok(text) if text.to_ascii_lowercase().contains("excludesfile") => {
                return Err(io::Error::other("settings name a list"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lists)
}

/// One list; `None` where there is none.
fn read(path: &Path, folder: &Path, of_git: bool) -> io::Result<Option<List>> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if is_not_there(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !meta.is_file() || meta.len() > MAX_LIST {
        return Err(io::Error::other("no list"));
    }
    let text = git::read_text(path)?;
    let takes_back = text.lines().any(|line| line.trim_start().starts_with(['!', '\u{feff}']));
    Ok(Some(List { folder: folder.to_owned(), lines: text.lines().map(str::to_owned).collect(), of_git, takes_back }))
}

/// True where a plain line names the path, or a folder on the way to it from the root on. Further up it was named outright.
fn is_ignored(root: &Path, parts: &[&str], lists: &[List]) -> bool {
    let is_repository = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
    (1..=parts.len()).any(|depth| {
        let path = parts.iter().take(depth).fold(root.to_owned(), |path, part| path.join(part));
        let is_folder = depth < parts.len() || path.is_dir();
        lists.iter().any(|list| {
            let Ok(below) = path.strip_prefix(&list.folder) else { return false };
            // The lists of git count in the innermost repository, from its root on.
            if list.of_git {
                let innermost = path.ancestors().skip(1).find(|folder| is_repository(folder));
                if !innermost.is_some_and(|repository| list.folder.starts_with(repository)) {
                    return false;
                }
            }
            // Some releases of rg read lines with a slash in them otherwise where the list lies above the folder that is searched.
            let is_above = list.folder != root && root.starts_with(&list.folder);
            let counts = |line: &&String| !is_above || !line.trim_end_matches('/').contains('/');
            list.lines.iter().filter(counts).any(|line| ignoring::names(line, below, is_folder))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn what_a_search_passes_by() {
        let git = (".git/HEAD", "ref: refs/heads/main\n");
        for (files, inside, want) in [
            (vec![], ".env", true),
            (vec![], "a/.aws/credentials", true),
            (vec![], "a/server.key", false),
            (vec![git, (".gitignore", "*.key\n")], "a/server.key", true),
            (vec![(".gitignore", "*.key\n")], "a/server.key", false),
            (vec![(".ignore", "*.key\n")], "a/server.key", true),
            (vec![git, (".gitignore", "/certs/\n")], "certs/server.key", true),
            (vec![git, (".gitignore", "/certs/\n")], "a/certs/server.key", false),
            (vec![git, (".gitignore", "certs/\n"), ("certs/server.key", "x")], "certs/server.key", true),
            (vec![git, (".gitignore", "server.key/\n")], "server.key", false),
            (vec![git, ("a/.gitignore", "server.key\n")], "a/b/server.key", true),
            (vec![git, ("a/.gitignore", "server.key\n")], "b/server.key", false),
            (vec![git, (".gitignore", "*.key\n"), ("a/.git/HEAD", "x")], "a/server.key", false),
            (vec![git, (".gitignore", "!.env\n")], ".env", false),
            (vec![("a/.ignore", "x\n  !y\n")], "a/.env", false),
            (vec![("a/.ignore", "!y\n")], "b/.env", true),
            (vec![(".rgignore", "!*\n")], "a/b/.env", false),
            (vec![git, (".git/info/exclude", "*.key\n")], "server.key", true),
            (vec![git, (".git/info/exclude", "!x\n")], ".env", false),
            (vec![git, (".gitignore", "server.[k]ey\n")], "server.key", false),
            (vec![("a/.git", "gitdir: /x\n")], "a/.env", false),
        ] {
            let folder = world(&files);
            assert_eq!(is_hidden_or_ignored(folder.path(), inside), want, "{files:?} {inside}");
        }
    }

    #[test]
    fn the_folder_that_was_named_is_searched_whatever_it_is_called() {
        let files = [(".git/HEAD", "x"), (".gitignore", "certs/\n.x\n"), ("certs/server.key", "x"), (".x/k.key", "x")];
        let folder = world(&files);
        assert!(!is_hidden_or_ignored(&folder.path().join("certs"), "server.key"));
        assert!(!is_hidden_or_ignored(&folder.path().join(".x"), "k.key"));
        assert!(is_hidden_or_ignored(folder.path(), "certs/server.key"));
    }
}
