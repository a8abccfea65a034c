//! What git's settings name beside the repository's own folder: hooks and programs that it would run, and settings that it
//! includes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{git_config, paths};

use super::{Repository, config, existing, files_outside, repositories, there};
use crate::gate::conditions::place;
use crate::gate::listing;
use crate::gate::real::{Leads, follow};
use crate::gate::words;

/// Most files of settings, those that others include among them.
const MAX_FILES: usize = 64;
/// Most words of one setting, and of all of them, each of which may be a file.
const MAX_WORDS: usize = 64;
const MAX_WORDS_OF_ALL: usize = 4096;
/// Most bytes of all files of settings.
const MAX_BYTES: usize = 4 << 20;

/// The files and folders that settings in force in a folder name, as they lie there and as the text says, those of included
/// settings too; `None` where some settings are not understood. Files that are made `soon` count as if they were there.
///
/// # Errors
/// When a repository on the way cannot be read.
pub fn by_settings(folder: &Path, soon: &[PathBuf]) -> io::Result<Option<Vec<PathBuf>>> {
    let is_passed_over = |key: &str, value: &str| git_config::is_inert(key, value) && !git_config::names_program(key);
    named_in(folder, is_passed_over, soon)
}

/// The same with those that only a connection to a remote makes use of.
///
/// # Errors
/// As above.
pub fn for_remotes(folder: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    named_in(folder, |_, _| false, &[])
}

/// Those of settings that make git start a program, at a connection, too; the words of others name none. As far as they are
/// understood, and whether that is all: what one repository or file has of nonsense must not hide what the others name.
pub fn started(folder: &Path) -> (Vec<PathBuf>, bool) {
    let (repositories, is_all) = super::those_understood(folder);
    let is_passed_over = |key: &str, value: &str| git_config::is_inert(key, value) && !git_config::names_program(key);
    let mut named = Vec::new();
    let mut is_whole = is_all;
    for repository in &repositories {
        is_whole &= named_by(std::slice::from_ref(repository), is_passed_over, &[], &mut named);
    }
    (named, is_whole)
}

fn named_in(
    folder: &Path,
    is_passed_over: impl Fn(&str, &str) -> bool,
    soon: &[PathBuf],
) -> io::Result<Option<Vec<PathBuf>>> {
    let mut named = Vec::new();
    Ok(named_by(&repositories(folder)?, is_passed_over, soon, &mut named).then_some(named))
}

/// Adds what the settings of these repositories name. False where some of them are not understood; what stands in the others is
/// there all the same.
fn named_by(
    repositories: &[Repository],
    is_passed_over: impl Fn(&str, &str) -> bool,
    soon: &[PathBuf],
    named: &mut Vec<PathBuf>,
) -> bool {
    let names = RefCell::new(listing::Names::new());
    let counts = |place: &Path| listing::is_there_or_soon(&mut names.borrow_mut(), place, soon);
    let (mut all_words, mut bytes, mut is_whole) = (0, 0, true);
    for repository in repositories {
        let root = std::fs::canonicalize(&repository.root).unwrap_or_else(|_| repository.root.clone());
        let mut waiting: Vec<PathBuf> = repository.files().into_iter().chain(files_outside()).collect();
        let mut looked_at = HashSet::new();
        while let Some(file) = waiting.pop() {
            if !looked_at.insert(file.clone()) {
                continue;
            }
            if looked_at.len() > MAX_FILES {
                return false;
            }
            match there(&file) {
                Ok(Some(_)) => {}
                Ok(None) => continue,
                Err(_) => {
                    is_whole = false;
                    continue;
                }
            }
            let text = match existing(super::read_text(&file)) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(_) => {
                    is_whole = false;
                    continue;
                }
            };
            bytes += text.len();
            if bytes > MAX_BYTES {
                return false;
            }
            let Some(settings) = config::read(&text) else {
                is_whole = false;
                continue;
            };
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
                    is_whole &= words::of(&setting.value).nth(MAX_WORDS).is_none();
                    words::of(&setting.value).take(MAX_WORDS).collect()
                };
                all_words += words.len();
                if all_words > MAX_WORDS_OF_ALL {
                    return false;
                }
                let places = if is_path {
                    words.iter().filter_map(|word| place(word, base)).collect()
                } else {
                    words::files_that(&words, &[base, &repository.git_dir], &counts).0
                };
                for place in places {
                    if is_include && place.is_file() {
                        waiting.push(place.clone());
                    }
                    named.push(PathBuf::from(paths::resolve(None, &place.to_string_lossy())));
                    match follow(&place) {
                        Leads::To(real) | Leads::Nowhere(real) => named.push(real),
                        Leads::Dangling(_) | Leads::Doubt(_) => is_whole = false,
                    }
                }
            }
        }
    }
    is_whole
}
