//! What git's settings name beside the repository's own folder: hooks and programs that it would run, and settings that it
//! includes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bashgate_shared::classify::{git_config, paths};

use super::config::Setting;
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
/// Longest look at what the settings of one folder name: links may make each word take as long as the system allows.
const MAX_TIME: Duration = Duration::from_secs(1);
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
    let (named, is_whole) = started_by(&repositories);
    (named, is_all && is_whole)
}

/// The same of these repositories.
pub(super) fn started_by(repositories: &[Repository]) -> (Vec<PathBuf>, bool) {
    let is_passed_over = |key: &str, value: &str| git_config::is_inert(key, value) && !git_config::names_program(key);
    let mut named = Vec::new();
    let mut is_whole = true;
    for repository in repositories {
        is_whole &= named_by(std::slice::from_ref(repository), is_passed_over, &[], &mut named);
    }
    (named, is_whole)
}

/// Everything that settings of these repositories name, at a connection, too, and whether that is all.
pub fn of_all(repositories: &[Repository]) -> (Vec<PathBuf>, bool) {
    let mut named = Vec::new();
    let is_whole = named_by(repositories, |_, _| false, &[], &mut named);
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
    let since = Instant::now();
    let is_late = || since.elapsed() > MAX_TIME;
    let counts = |place: &Path| !is_late() && listing::is_there_or_soon(&mut names.borrow_mut(), place, soon);
    let (mut all_words, mut bytes, mut is_whole) = (0, 0, true);
    for repository in repositories {
        let root = std::fs::canonicalize(&repository.root).unwrap_or_else(|_| repository.root.clone());
        let mut visit = |file: &Path, setting: &Setting| {
            let is_include = includes(setting);
            let is_path = is_include || setting.key == "core.hookspath";
            let base = if is_include { file.parent().unwrap_or(root.as_path()) } else { root.as_path() };
            // What runs a program may name files of the repository in any of its words.
            let words: Vec<&str> = if is_path {
                vec![setting.value.as_str()]
            } else if is_passed_over(&setting.key, &setting.value) {
                return true;
            } else {
                is_whole &= words::of(&setting.value).nth(MAX_WORDS).is_none();
                words::of(&setting.value).take(MAX_WORDS).collect()
            };
            all_words += words.len();
            if all_words > MAX_WORDS_OF_ALL || is_late() {
                return false;
            }
            let places = if is_path {
                words.iter().filter_map(|word| place(word, base)).collect()
            } else {
                words::files_that(&words, &[base, &repository.git_dir], &counts).0
            };
            for place in places {
                if is_late() {
                    return false;
                }
                named.push(PathBuf::from(paths::resolve(None, &place.to_string_lossy())));
                match follow(&place) {
                    Leads::To(real) | Leads::Nowhere(real) => named.push(real),
                    Leads::Dangling(_) | Leads::Doubt(_) => is_whole = false,
                }
            }
            true
        };
        match each_setting(repository, &mut bytes, &mut visit) {
            Walked::Enough => return false,
            Walked::Partly => is_whole = false,
            Walked::All => {}
        }
    }
    is_whole && !is_late()
}

/// The command lines in settings that make git start a program, with the root of their repository, and whether these are all.
pub fn commands(repositories: &[Repository]) -> (Vec<(String, PathBuf)>, bool) {
    let (mut lines, mut bytes, mut is_all) = (Vec::new(), 0, true);
    for repository in repositories {
        let mut visit = |_: &Path, setting: &Setting| {
            let Setting { key, value } = setting;
            let names_one = git_config::names_program(key) || !git_config::is_inert(key, value);
            // An alias without it is a subcommand of git.
            let is_other = key.starts_with("alias.") && !value.starts_with('!');
            if names_one && !is_other && !includes(setting) && key != "core.hookspath" {
                // The folder of templates is one, whatever it is called.
                let is_place = key == "init.templatedir" && !value.starts_with(['/', '~']);
                let line = if is_place { format!("./{value}") } else { value.trim_start_matches('!').to_owned() };
                lines.push((line, repository.root.clone()));
            }
            lines.len() <= MAX_WORDS
        };
        is_all &= matches!(each_setting(repository, &mut bytes, &mut visit), Walked::All);
    }
    (lines, is_all)
}

/// The reader gives names in lower case.
fn includes(setting: &Setting) -> bool {
    setting.key.starts_with("include") && setting.key.rsplit('.').next() == Some("path")
}

/// How far a walk through settings came.
enum Walked {
    All,
    /// Some could not be read, or not be understood.
    Partly,
    /// There are more than are looked at.
    Enough,
}

/// Visits every setting of a repository's files and of those that they include, with the file that it stands in, until a visit says
/// that it is enough.
fn each_setting(repository: &Repository, bytes: &mut usize, visit: &mut impl FnMut(&Path, &Setting) -> bool) -> Walked {
    let mut waiting: Vec<PathBuf> = repository.files().into_iter().chain(files_outside()).collect();
    let (mut looked_at, mut is_whole) = (HashSet::new(), true);
    while let Some(file) = waiting.pop() {
        if !looked_at.insert(file.clone()) {
            continue;
        }
        if looked_at.len() > MAX_FILES {
            return Walked::Enough;
        }
        let text = match there(&file) {
            Ok(Some(_)) => existing(super::read_text(&file)),
            Ok(None) => continue,
            Err(error) => Err(error),
        };
        let text = match text {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(_) => {
                is_whole = false;
                continue;
            }
        };
        *bytes += text.len();
        if *bytes > MAX_BYTES {
            return Walked::Enough;
        }
        let Some(settings) = config::read(&text) else {
            is_whole = false;
            continue;
        };
        for setting in settings {
            if !visit(&file, &setting) {
                return Walked::Enough;
            }
            let included = file.parent().filter(|_| includes(&setting)).and_then(|base| place(&setting.value, base));
            waiting.extend(included.filter(|included| included.is_file()));
        }
    }
    if is_whole { Walked::All } else { Walked::Partly }
}
