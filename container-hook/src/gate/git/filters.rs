//! Whether attributes of any file name a filter (gitattributes(5)): where none does, no filter of git's settings starts, and
//! git-lfs sets one for everybody who has it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::{MAX_LIST, Repository, config_folders, existing, index};
use crate::gate::conditions::folders_with;

/// What a list of attributes is called.
const LIST: &str = ".gitattributes";
/// What stands in every line that names a filter, also in one for several attributes at once.
const WORD: &str = "filter";

/// The lists of attributes in force that may name a filter, and why some could not be looked at. `names` are the files that git
/// tracks; with `takes_in`, those count that it does not track yet.
pub(super) fn may_be_named(repository: &Repository, names: &[String], takes_in: bool) -> Vec<String> {
    let mut lists: BTreeSet<PathBuf> = outside().into_iter().collect();
    lists.insert(repository.common.join("info/attributes"));
    let mut found = Vec::new();
    let folders = index::folders_of(names).into_iter().chain([""]);
    lists.extend(folders.map(|folder| repository.root.join(folder).join(LIST)));
    if takes_in {
        match folders_with(LIST, &repository.root) {
            Ok(more) => lists.extend(more.into_iter().map(|folder| folder.join(LIST))),
            Err(why) => found.push(why),
        }
    }
    // One that is gone is taken from the index.
    let is_gone = |name: &&String| {
        Path::new(name).file_name().is_some_and(|file| file.eq_ignore_ascii_case(LIST))
            && std::fs::symlink_metadata(repository.root.join(name)).is_err()
    };
    found.extend(names.iter().filter(is_gone).map(|name| format!("{name} counts as git has it")));
    found.extend(
        lists.iter().filter(|list| may_name_one(list)).map(|list| format!("{} names a filter", list.display())),
    );
    found
}

/// Lists of attributes outside of repositories: the machine's and the user's.
fn outside() -> Vec<PathBuf> {
    let of_user = config_folders().map(|config| config.join("git/attributes"));
    ["/etc/gitattributes", "/usr/local/etc/gitattributes", "/usr/etc/gitattributes"]
        .into_iter()
        .map(PathBuf::from)
        .chain(of_user)
        .collect()
}

/// True where a list is there and says so, or cannot be read for certain.
fn may_name_one(list: &Path) -> bool {
    let read = || -> io::Result<Option<bool>> {
        let Some(meta) = existing(std::fs::symlink_metadata(list))? else { return Ok(None) };
        // Of links, versions of git differ.
        // One that is very large git passes by, and takes the index's.
        if !meta.is_file() || meta.len() > MAX_LIST {
            return Ok(Some(true));
        }
        Ok(Some(super::read(list)?.windows(WORD.len()).any(|part| part == WORD.as_bytes())))
    };
    read().map_or(true, |says| says.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(files: &[(&str, &str)], tracked: &[&str], takes_in: bool) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, text) in files {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        let git_dir = root.join(".git");
        let repository = Repository { common: git_dir.clone(), git_dir, root: root.to_owned() };
        let names: Vec<String> = tracked.iter().map(|name| (*name).to_owned()).collect();
        may_be_named(&repository, &names, takes_in).len()
    }

    #[test]
    fn a_list_that_git_passes_by_may_name_one() {
        assert_eq!(said(&[(".gitattributes", &"# \n".repeat(400_000))], &["a"], false), 1);
    }

    #[test]
    fn a_list_in_force_that_names_a_filter_is_found() {
        let lfs = "*.bin filter=lfs diff=lfs merge=lfs -text\n";
        for (files, tracked, takes_in, want) in [
            (vec![], vec!["a", "b/c"], false, 0),
            (vec![(".gitattributes", "* text=auto\n")], vec!["a"], true, 0),
            (vec![(".gitattributes", lfs)], vec!["a"], false, 1),
            (vec![("x/y/.gitattributes", lfs)], vec!["x/y/z/a"], false, 1),
            (vec![("x/.gitattributes", "[attr]big filter=lfs\n")], vec!["x/y/z/a"], false, 1),
            (vec![("other/.gitattributes", lfs)], vec!["a"], false, 0),
            (vec![("other/.gitattributes", lfs)], vec!["a"], true, 1),
            (vec![(".git/info/attributes", lfs)], vec!["a"], false, 1),
            (vec![], vec![".gitattributes", "a"], false, 1),
            (vec![], vec!["x/.gitattributes"], false, 1),
        ] {
            assert_eq!(said(&files, &tracked, takes_in), want, "{files:?} {tracked:?}");
        }
    }
}
