//! Files that steer a program by their names or because they lie where it starts, whether or not its row knows them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::Effects;
use bashgate_shared::command::Digest;
use bashgate_shared::programs::{self, Kind, Program, Runs};
use bashgate_shared::protocol::FileEvidence;

use super::Gathered;
use super::told::{Told, digest_of, state_of};
use crate::gate::conditions::place;

/// Largest file of settings that is read whole, in bytes. Of a larger one counts what any change of it changes.
const MAX_SETTINGS: u64 = 1 << 20;
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
    /// The settings that a program finds by its own name (`~/.NAMErc`, `~/.config/NAME/`, `.NAME.yml` or `NAME.toml` in the folder
    /// where it starts or above it), and, where it works on a project, what lies in that folder itself.
    pub(super) fn add_own_settings(&mut self, effects: &Effects) {
        let names = names_of(effects);
        let Some(home) = place("~", self.cwd) else { return };
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
        for folder in self.cwd.ancestors() {
            let is_own = |file: &PathBuf| {
                let name = file.file_name();
                names.iter().any(|own| Form::Hidden.is_of(name, own) || Form::WithEnding.is_of(name, own))
            };
            found.extend(entries(folder).filter(is_own).filter(|file| file.is_file() && may_be_settings(file, &[])));
        }
        for file in found {
            self.add(&file.to_string_lossy(), Told::Digest);
        }
        let rows = effects.programs.iter().map(|program| programs::row(program));
        if rows.into_iter().any(|row| row.is_none_or(works_on_project)) {
            let folders: BTreeSet<PathBuf> =
                std::iter::once(self.cwd.to_owned()).chain(self.folders(effects)).collect();
            self.found.extend(folders.iter().filter_map(|folder| lies_in(folder)));
        }
    }

    /// The folders that the words of the command name.
    fn folders(&self, effects: &Effects) -> Vec<PathBuf> {
        let named = effects.named.iter().filter_map(|path| place(path, self.cwd));
        named.filter(|folder| folder.is_dir()).collect()
    }
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
fn names_of(effects: &Effects) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for program in &effects.programs {
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
