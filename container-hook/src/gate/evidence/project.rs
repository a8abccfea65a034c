//! Files that steer a program by their names or because they lie where it starts, whether or not its row knows them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::secrets;
use bashgate_shared::command::Digest;
use bashgate_shared::programs::{self, Kind, Program, Runs};
use bashgate_shared::protocol::FileEvidence;

use super::told::{Told, digest_of, state_of, unknown};
use super::{Gathered, Subject};
use crate::gate::conditions::place;
use crate::gate::words;

/// Largest file of settings that is read whole, in bytes. Of a larger one counts what any change of it changes.
const MAX_SETTINGS: u64 = 1 << 20;
/// Most words that are looked at, and most folders that they name.
const MAX_WORDS: usize = 500;
const MAX_FOLDERS: usize = 8;
/// Most names of one folder that are looked at.
const MAX_NAMES: usize = 20_000;
/// Most files of a project's folder of which one entry tells.
const MAX_FILES: usize = 2000;
/// Endings of files that hold data, text for people or what programs note on the way.
const NO_SETTINGS: &[&str] = &[
    ".md", ".rst", ".adoc", ".log", ".out", ".err", ".pid", ".sock", ".tmp", ".swp", ".db", ".sqlite", ".sqlite3",
    ".csv", ".tsv", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".pdf", ".o", ".a", ".d", ".pyc", ".gz", ".zip",
    ".xz", ".zst",
];
/// The same for what programs keep in a folder of their own, besides settings.
const KEPT: &[&str] = &[".gpg", ".kbx", ".lock", ".history", ".cache", ".bin", ".idx", ".pack"];

impl Gathered<'_> {
    /// What any word of the text may name as a file, from where it starts or in a folder that another word names: with an ending that
    /// interpreters add, as a module, behind an option's letter. Of what may be run is told how it begins.
    pub(super) fn add_meant(&mut self, subject: &Subject) {
        let may_run = subject.may_run_words();
        if !may_run && subject.effects.network.is_empty() && subject.effects.persistence.is_empty() {
            return;
        }
        let words = words_in(&subject.text);
        if words.len() > MAX_WORDS {
            self.found.push(unknown("more words than are looked at as names of files"));
        }
        let words: Vec<&str> = words.into_iter().take(MAX_WORDS).collect();
        // In front of the first word stands nothing that PATH knows.
        for file in words::files(&[&[""], words.as_slice()].concat(), &[self.cwd]) {
            let name = file.to_string_lossy();
            let is_shown = may_run && may_be_settings(&file, &[]) && !secrets::is_secret_path(&name);
            self.add(&name, if is_shown { Told::Head } else { Told::Digest });
        }
    }

    /// The settings that a program finds by its own name (`~/.NAMErc`, `~/.config/NAME/`, `.NAME.yml` or `NAME.toml` in the folder
    /// where it starts or above it), and, where it works on a project, what lies in that folder itself. It may start in any folder
    /// that a word names.
    pub(super) fn add_own_settings(&mut self, subject: &Subject) {
        let effects = &subject.effects;
        let mut programs = effects.programs.clone();
        if subject.may_run_words() {
            // Any of them may be the program behind another one.
            let is_name =
                |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            programs.extend(words_in(&subject.text).into_iter().filter(is_name).take(MAX_WORDS).map(str::to_owned));
        }
        let names = names_of(&programs);
        let Some(home) = place("~", self.cwd) else { return };
        let meant = self.folders_meant(subject);
        let mut found: BTreeSet<PathBuf> = BTreeSet::new();
        for (folder, form) in [(home.as_path(), Form::Hidden), (&home.join(".config"), Form::Plain)] {
            for file in entries(folder).filter(|file| names.iter().any(|name| form.is_of(file.file_name(), name))) {
                if file.is_dir() {
                    found.extend(entries(&file).filter(|file| file.is_file() && may_be_settings(file, KEPT)));
                } else {
                    found.insert(file);
                }
            }
        }
        for folder in self.cwd.ancestors().chain(meant.iter().map(PathBuf::as_path)) {
            let is_own = |file: &PathBuf| {
                let name = file.file_name();
                names.iter().any(|own| Form::Hidden.is_of(name, own) || Form::WithEnding.is_of(name, own))
            };
            found.extend(entries(folder).filter(is_own).filter(|file| file.is_file() && may_be_settings(file, &[])));
        }
        for file in found.iter().filter(|file| file.is_file()) {
            self.add(&file.to_string_lossy(), Told::Digest);
        }
        let rows: Vec<_> = programs.iter().map(|program| programs::row(program)).collect();
        for row in rows.iter().flatten() {
            // What is code shows how it begins.
            let of = |list: &'static [&'static str], told| list.iter().map(move |name| (*name, told));
            let lists = of(row.configured_by, Told::Digest).chain(of(row.steered_by, Told::Head));
            for (name, told) in lists.filter(|(name, _)| !name.starts_with(['~', '/'])) {
                for file in meant.iter().map(|folder| folder.join(name)).filter(|file| file.is_file()) {
                    self.add(&file.to_string_lossy(), told);
                }
            }
        }
        if subject.may_run_words() || rows.into_iter().any(|row| row.is_none_or(works_on_project)) {
            let folders: BTreeSet<PathBuf> = std::iter::once(self.cwd.to_owned()).chain(meant).collect();
            self.found.extend(folders.iter().filter_map(|folder| lies_in(folder)));
        }
    }

    /// The folders that words of the command name, from where it starts or from one another.
    fn folders_meant(&self, subject: &Subject) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for word in words_in(&subject.text).into_iter().take(MAX_WORDS) {
            let bases: Vec<PathBuf> = std::iter::once(self.cwd.to_owned()).chain(found.iter().cloned()).collect();
            for there in bases.iter().filter_map(|base| place(word, base)).filter(|there| there.is_dir()) {
                let is_new = there.as_path() != self.cwd && !found.contains(&there);
                if is_new && found.len() < MAX_FOLDERS {
                    found.push(there);
                }
            }
        }
        found
    }
}

/// The words of a text, whole and divided where names are glued to something: `host:f`, `@f`, `.#f`; and what stands behind the folder
/// that a tilde, a variable or another command gives: `~+/f`, `$PWD/f`, `$(pwd)/f`.
fn words_in(text: &str) -> Vec<&str> {
    let is_variable =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let mut all: Vec<&str> = Vec::new();
    for word in words::of(text) {
        for part in std::iter::once(word).chain(word.split([':', '@', '#'])) {
            let behind = part
                .split_once('/')
                .filter(|(folder, _)| folder.is_empty() || folder.starts_with('~') || is_variable(folder));
            for part in std::iter::once(part).chain(behind.map(|(_, inside)| inside.trim_start_matches('/'))) {
                if !part.is_empty() && !all.contains(&part) {
                    all.push(part);
                }
            }
        }
    }
    all
}

/// True for a program that does what the files of a project say.
fn works_on_project(row: &Program) -> bool {
    !row.names.contains(&"git")
        && (row.here.is_some()
            || !row.steered_by.is_empty()
            || !row.publishes.is_empty()
            || row.kind != Kind::Network && matches!(row.runs, Runs::Named | Runs::Code))
}

/// What the settings of the programs may begin with: their names, without a version, and what stands in front of a hyphen.
fn names_of(programs: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for program in programs {
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let family = name.split('-').next().unwrap_or_default().to_owned();
        let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
        names.extend([name, family, unversioned].into_iter().filter(|name| name.len() > 1));
    }
    names
}

/// How a name is written in the name of a file.
#[derive(Clone, Copy)]
enum Form {
    /// `.NAME`, `.NAMErc`, `.NAME.yml`, `.NAME-version`
    Hidden,
    /// `NAME`, `NAMErc`, `NAME.conf`
    Plain,
    /// `NAME.yml`, `NAMEfile`
    WithEnding,
}

impl Form {
    fn is_of(self, file: Option<&OsStr>, name: &str) -> bool {
        let file = file.unwrap_or_default().to_string_lossy().to_lowercase();
        let rest = match self {
            Self::Hidden => file.strip_prefix('.').and_then(|file| file.strip_prefix(name)),
            Self::Plain | Self::WithEnding => file.strip_prefix(name),
        };
        rest.is_some_and(|rest| match self {
            Self::WithEnding => rest.starts_with(['.', '-']) || rest == "file" || rest == "rc",
            Self::Hidden | Self::Plain => rest.is_empty() || rest.starts_with(['.', '-']) || rest.starts_with("rc"),
        })
    }
}

/// What lies in a folder.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_NAMES).map(|entry| entry.path())
}

/// False for data, text, and what programs note on the way.
fn may_be_settings(file: &Path, kept: &[&str]) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    !NO_SETTINGS.iter().chain(kept).any(|ending| name.ends_with(ending))
}

/// The files that lie in a folder itself and may say what a program does there, as one entry.
fn lies_in(folder: &Path) -> Option<FileEvidence> {
    let mut files: Vec<PathBuf> = entries(folder).filter(|file| may_be_settings(file, &[]) && file.is_file()).collect();
    files.sort();
    let mut lines = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let Ok(meta) = std::fs::metadata(file) else { continue };
        // Whoever has one mapped into memory can change it without changing its times.
        let is_read = at < MAX_FILES && meta.len() <= MAX_SETTINGS;
        let says = if is_read {
            file.canonicalize().map_or_else(|error| error.kind().to_string(), |file| digest_of(&file, meta.len()))
        } else {
            state_of(&meta)
        };
        lines.push(format!("{}\0{says}\n", file.to_string_lossy()));
    }
    let path: String = format!("the files directly in {}", folder.display()).chars().take(1024).collect();
    let sha256 = Digest::of(lines.concat().as_bytes()).hex();
    (!lines.is_empty()).then(|| FileEvidence { path, sha256, head: String::new() })
}
