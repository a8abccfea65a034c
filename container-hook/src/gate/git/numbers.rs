//! Whether the number of an object is one of git's history. What a stash held that was dropped, and what was added and taken out again,
//! still lies among the objects, and can be shown by its number, though it was never part of any commit that people know of.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::{Repository, existing, repositories};

/// Most files of refs and logs that are looked through, and most names of objects in one folder.
const MAX_FILES: usize = 10_000;

/// Why numbers, or beginnings of such, may be none of the history of the repositories around a folder.
///
/// # Errors
/// When something cannot be read.
pub(in crate::gate) fn strangers(folder: &Path, numbers: &[String]) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for repository in repositories(folder)? {
        let objects = repository.common.join("objects");
        if existing(std::fs::symlink_metadata(objects.join("info/alternates")))?.is_some() {
            found.push(format!("{} has objects of another repository", repository.common.display()));
        }
        let packs = existing(std::fs::read_dir(objects.join("pack")))?;
        // The packs of what nothing leads to have a file with the times when that was seen last.
        if packs.into_iter().flatten().flatten().any(|pack| pack.path().extension().is_some_and(|end| end == "mtimes"))
        {
            found.push(format!("{} keeps objects that nothing leads to", objects.display()));
        }
        let mut known = None;
        for number in numbers {
            if number == "?" {
                found.push("which object git shows is only known when it runs".to_owned());
                continue;
            }
            for id in loose(&objects, number)? {
                let text = match &known {
                    Some(text) => text,
                    None => known.insert(listed(&repository)?),
                };
                if !text.contains(&id) {
                    found.push(format!("{number} is in no branch, tag or log of git's"));
                }
            }
        }
    }
    Ok(found)
}

/// The objects that lie on their own and whose number begins so.
fn loose(objects: &Path, number: &str) -> io::Result<Vec<String>> {
    let (Some(first), Some(rest)) = (number.get(..2), number.get(2..)) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in existing(std::fs::read_dir(objects.join(first)))?.into_iter().flatten() {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(rest) {
            found.push(format!("{first}{name}"));
        }
        if found.len() > MAX_FILES {
            return Err(io::Error::other("too many objects"));
        }
    }
    Ok(found)
}

/// All that refs and logs name, but a stash's.
fn listed(repository: &Repository) -> io::Result<String> {
    let mut waiting: Vec<PathBuf> = Vec::new();
    for folder in repository.folders() {
        waiting.extend(["HEAD", "packed-refs", "refs", "logs"].map(|name| folder.join(name)));
    }
    let mut text = String::new();
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        seen += 1;
        if seen > MAX_FILES {
            return Err(io::Error::other("too many refs"));
        }
        let Some(meta) = existing(std::fs::symlink_metadata(&path))? else { continue };
        if meta.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else if meta.is_file() && path.file_name().is_none_or(|name| name != "stash") {
            let read = super::read_text(&path)?;
            let lines = read.lines().filter(|line| !line.ends_with("refs/stash"));
            lines.for_each(|line| {
                let _ = writeln!(text, "{line}");
            });
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_its_own_must_be_named_somewhere() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(git.join(name).parent().unwrap()).unwrap();
            std::fs::write(git.join(name), text).unwrap();
        };
        let (known, dropped) = (format!("ab{}", "1".repeat(38)), format!("ab{}", "2".repeat(38)));
        write("HEAD", "ref: refs/heads/main\n");
        write("refs/heads/main", "");
        for id in [&known, &dropped] {
            let (folder, name) = id.split_at(2);
            write(&format!("objects/{folder}/{name}"), "");
        }
        write("logs/HEAD", &format!("{} {known} a <a@b> 1 +0000\tcommit: x\n", "0".repeat(40)));
        write("logs/refs/stash", &format!("{known} {dropped} a <a@b> 1 +0000\tWIP\n"));
        let strangers = |number: &str| strangers(folder.path(), &[number.to_owned()]).unwrap().len();
        assert_eq!((strangers(&known), strangers("ab11"), strangers("ab22"), strangers(&dropped)), (0, 0, 1, 1));
        // What is packed is history, and what is not there is nothing.
        assert_eq!((strangers("cdef"), strangers("?")), (0, 1));
        write("objects/pack/pack-1.mtimes", "");
        assert_eq!(strangers("cdef"), 1);
    }
}
