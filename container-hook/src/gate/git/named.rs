//! What git's settings name beside the repository's own folder: hooks and programs that it would run, and settings that it
//! includes.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{git_config, paths};

use super::{config, existing, files_outside, repositories, there};
use crate::gate::conditions::place;
use crate::gate::real::{Leads, follow};

/// Most files of settings, those that others include among them.
const MAX_FILES: usize = 64;
/// Most words of one setting, and of all of them, each of which may be a file.
const MAX_WORDS: usize = 64;
const MAX_WORDS_OF_ALL: usize = 4096;
/// Most folders that the program of one setting goes into.
const MAX_FOLDERS: usize = 8;
/// Most bytes of all files of settings.
const MAX_BYTES: usize = 4 << 20;

/// The files and folders that settings in force in a folder name, as they lie there and as the text says, those of included
/// settings too; `None` where some settings are not understood.
///
/// # Errors
/// When a repository on the way cannot be read.
pub fn by_settings(folder: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    named_in(folder, git_config::is_inert)
}

/// The same with those that only a connection to a remote makes use of.
///
/// # Errors
/// As above.
pub fn for_remotes(folder: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    named_in(folder, |_, _| false)
}

/// Those of settings that make git start a program, at a connection, too; the words of others name none.
///
/// # Errors
/// As above.
pub fn started(folder: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    named_in(folder, |key, value| git_config::is_inert(key, value) && !git_config::names_program(key))
}

fn named_in(folder: &Path, is_passed_over: impl Fn(&str, &str) -> bool) -> io::Result<Option<Vec<PathBuf>>> {
    let mut named = Vec::new();
    let (mut all_words, mut bytes) = (0, 0);
    for repository in repositories(folder)? {
        let root = std::fs::canonicalize(&repository.root).unwrap_or_else(|_| repository.root.clone());
        let mut waiting: Vec<PathBuf> = repository.files().into_iter().chain(files_outside()).collect();
        let mut looked_at = HashSet::new();
        while let Some(file) = waiting.pop() {
            if !looked_at.insert(file.clone()) {
                continue;
            }
            if looked_at.len() > MAX_FILES {
                return Ok(None);
            }
            match there(&file) {
                Ok(Some(_)) => {}
                Ok(None) => continue,
                Err(_) => return Ok(None),
            }
            let Some(text) = existing(super::read_text(&file))? else { continue };
            bytes += text.len();
            if bytes > MAX_BYTES {
                return Ok(None);
            }
            let Some(settings) = config::read(&text) else { return Ok(None) };
            for setting in settings {
                // The reader gives names in lower case.
                let is_include = setting.key.starts_with("include") && setting.key.rsplit('.').next() == Some("path");
                let is_path = is_include || setting.key == "core.hookspath";
                let base = if is_include { file.parent().unwrap_or(root.as_path()) } else { root.as_path() };
                // What runs a program may name files of the repository in any of its words.
                let words: Vec<&str> = if is_path {
                    vec![setting.value.as_str()]
                } else if is_passed_over(&setting.key, &setting.value) {
                    continue;
                } else {
                    let breaks = |c: char| c.is_whitespace() || "\"'`;&|()<>$={}!".contains(c);
                    setting.value.split(breaks).filter(|word| !word.is_empty()).take(MAX_WORDS).collect()
                };
                all_words += words.len();
                if all_words > MAX_WORDS_OF_ALL {
                    return Ok(None);
                }
                for place in places(&words, base, is_path) {
                    if is_include && place.is_file() {
                        waiting.push(place.clone());
                    }
                    named.push(PathBuf::from(paths::resolve(None, &place.to_string_lossy())));
                    match follow(&place) {
                        Leads::To(real) | Leads::Nowhere(real) => named.push(real),
                        Leads::Dangling(_) | Leads::Doubt(_) => return Ok(None),
                    }
                }
            }
        }
    }
    Ok(Some(named))
}

/// What the words of a setting may name, seen from a folder. What runs a program may go into another folder first, and may have an
/// option glued to a name.
fn places(words: &[&str], base: &Path, is_path: bool) -> Vec<PathBuf> {
    if is_path {
        return words.iter().filter_map(|word| place(word, base)).collect();
    }
    let mut bases = vec![base.to_owned()];
    let mut found = Vec::new();
    let mut before = "";
    for word in words {
        if before == "cd" && bases.len() < MAX_FOLDERS {
            let inner: Vec<PathBuf> =
                bases.iter().filter_map(|base| place(word, base)).filter(|place| place.is_dir()).collect();
            bases.extend(inner);
        }
        before = word;
        let glued = word.strip_prefix('-').and_then(|rest| rest.split_at_checked(1)).map(|(_, rest)| rest);
        for word in [Some(*word), glued].into_iter().flatten().filter(|word| !word.is_empty()) {
            found.extend(bases.iter().filter_map(|base| place(word, base)).filter(|place| place.is_file()));
        }
    }
    found
}
