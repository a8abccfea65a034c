//! A look at what texts start: the files and folders that the words of commands name, what these start in their turn, and what an
//! interpreter loads beside them. By names alone: what a program decides when it runs is not known here.

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use bashgate_shared::classify::paths::file_name;
use bashgate_shared::programs::{self, LOAD_BESIDE, Program, Runs, SHELL_ENDING};
use serde_json::Value;

use super::lines;
use super::settings::{self, Line};
use crate::gate::conditions::{home, place};
use crate::gate::words;

/// Most bytes of a text.
const MOST_BYTES: u64 = 256 * 1024;
/// Most words that may name something.
const MOST_WORDS: usize = 16_384;
/// Most places at which a file is looked for.
const MOST_LOOKS: usize = 200_000;
/// How many scripts one after the other are followed.
const DEEPEST: usize = 4;
/// Most folders that the words of one text name.
const MAX_FOLDERS: usize = 16;

/// What lies in a folder of which something is started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Folder {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether folders in it count as well.
    pub is_deep: bool,
    /// The endings of the names that count; all where there are none.
    pub endings: &'static [&'static str],
}

impl Folder {
    /// True for a file in it that counts, also for one that is not there yet.
    pub fn holds(&self, file: &Path) -> bool {
        let is_in = if self.is_deep {
            file != self.path && file.starts_with(&self.path)
        } else {
            file.parent() == Some(self.path.as_path())
        };
        let has = |ending: &&str| file.extension().is_some_and(|of| of == *ending);
        is_in && (self.endings.is_empty() || self.endings.iter().any(has))
    }
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Text {
    /// A script, or settings: any word may name what runs.
    Script,
    /// The same where it says so at its beginning.
    Perhaps,
    /// What a runner reads: words that only name what is worked on count for nothing.
    OfRunner,
}

/// What counts as a file: those that are there, and others.
pub type Counts<'c> = &'c dyn Fn(&Path) -> bool;

/// A look at what is started, by as many words as there is room for.
#[derive(Debug)]
pub struct Look {
    words_left: usize,
    looks_left: usize,
    /// By the names that are used for them.
    pub files: BTreeSet<PathBuf>,
    /// Of which it starts what lies in them, whatever it is called.
    pub folders: BTreeSet<Folder>,
    /// Scripts that are to be followed, and how many led there.
    waiting: VecDeque<(PathBuf, Text, usize)>,
    /// False once something was passed by.
    pub is_all: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            words_left: MOST_WORDS,
            looks_left: MOST_LOOKS,
            files: BTreeSet::new(),
            folders: BTreeSet::new(),
            waiting: VecDeque::new(),
            is_all: true,
        }
    }
}

impl Look {
    /// Looks at a file that is a script or settings, as seen from these folders and its own.
    pub fn at_file(&mut self, file: &Path, folders: &[&Path], counts: Counts<'_>) {
        self.at_text_of(file, Text::Script, (folders, 1), counts);
    }

    fn at_text_of(&mut self, file: &Path, kind: Text, (folders, depth): (&[&Path], usize), counts: Counts<'_>) {
        let Some(text) = self.text_of(file) else { return };
        if kind == Text::Perhaps && !text.starts_with("#!") {
            return;
        }
        let own: Vec<&Path> = folders.iter().copied().chain(file.parent()).collect();
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending {
            "md" => {
                for line in commands_in(&text) {
                    self.at_words(line, kind, (&own, depth), counts);
                }
            }
            "json" if kind == Text::OfRunner => {
                let manifest = super::parsed(&text).unwrap_or_default();
                for script in manifest.get("scripts").and_then(Value::as_object).into_iter().flatten() {
                    self.at_words(script.1.as_str().unwrap_or_default(), kind, (&own, depth), counts);
                }
            }
            "json" | "jsonc" if is_told_by_fields(file) => {
                let settings = super::parsed(&text).unwrap_or_default();
                self.at_settings(&settings, folders, counts);
            }
            "json" | "jsonc" => {
                let settings = super::parsed(&text).unwrap_or_default();
                self.at_settings(&settings, folders, counts);
                self.at_words(&text, kind, (&own, depth), counts);
            }
            _ => self.at_words(&text, kind, (&own, depth), counts),
        }
        self.files.remove(file);
    }

    /// Looks at an agent's settings, in any language that these are written in.
    pub fn at_settings_file(&mut self, file: &Path, folders: &[&Path], counts: Counts<'_>) {
        if let Some(settings) = self.text_of(file).as_deref().and_then(super::parsed) {
            self.at_settings(&settings, folders, counts);
        }
    }

    /// Looks at settings.
    pub fn at_settings(&mut self, settings: &Value, folders: &[&Path], counts: Counts<'_>) {
        let (lines, is_all) = settings::commands(settings);
        self.is_all &= is_all;
        for Line { text, starts_in } in lines {
            let elsewhere: Vec<PathBuf> =
                folders.iter().filter_map(|base| place(starts_in.as_deref()?, base)).collect();
            let folders: Vec<&Path> = folders.iter().copied().chain(elsewhere.iter().map(PathBuf::as_path)).collect();
            self.at_words(&text, Text::Script, (&folders, 1), counts);
        }
    }

    /// Looks at what has been found to start more.
    pub fn follow(&mut self, folders: &[&Path], counts: Counts<'_>) {
        let mut seen = BTreeSet::new();
        while let Some((script, kind, depth)) = self.waiting.pop_front() {
            if depth <= DEEPEST && seen.insert((script.clone(), kind)) {
                self.at_text_of(&script, kind, (folders, depth), counts);
                self.files.insert(script);
            }
        }
    }

    /// Takes what was found so far.
    pub fn taken(&mut self) -> (BTreeSet<PathBuf>, BTreeSet<Folder>) {
        (std::mem::take(&mut self.files), std::mem::take(&mut self.folders))
    }

    fn at_words(&mut self, text: &str, kind: Text, (folders, depth): (&[&Path], usize), counts: Counts<'_>) {
        let divided = lines::words(text);
        let is_path = |word: &str| word.contains(['/', '.']);
        if kind != Text::OfRunner {
            let words: Vec<&str> = words::of(text).filter(|word| is_path(word)).collect();
            let named = self.named_by(&words, folders, counts);
            self.add(named, false, (folders, depth));
        }
        // Where it goes before, or says that something starts: a folder, and one in that.
        let mut bases: Vec<PathBuf> = folders.iter().map(|folder| (*folder).to_owned()).collect();
        for word in divided.iter().filter(|word| word.is_folder).map(|word| word.text.trim_start_matches('/')) {
            let entered: Vec<PathBuf> =
                bases.iter().map(|base| base.join(word)).filter(|place| place.is_dir()).collect();
            for place in entered.into_iter().map(|place| tidy(&place)) {
                if !bases.contains(&place) {
                    self.is_all &= bases.len() <= folders.len() + MAX_FOLDERS;
                    bases.push(place);
                }
            }
            bases.truncate(folders.len() + MAX_FOLDERS);
        }
        let bases: Vec<&Path> = bases.iter().map(PathBuf::as_path).collect();
        for word in &divided {
            if word.is_code {
                self.at_code(&word.text, &bases, (folders, depth), counts);
            } else if kind != Text::OfRunner && is_path(&word.text) {
                let named = self.named_by(&[word.text.as_str()], folders, counts);
                self.add(named, false, (folders, depth));
            }
            // What such a program runs stands in files of these names.
            let runner = runner(file_name(&word.text)).filter(|_| word.is_program || word.is_code);
            for (name, is_followed) in runner.into_iter().flat_map(files_of_runner) {
                for file in bases.iter().map(|base| base.join(name)).filter(|file| counts(file)) {
                    if is_followed {
                        self.waiting.push_back((file.clone(), Text::OfRunner, depth + 1));
                    }
                    self.files.insert(file);
                }
            }
        }
    }

    /// A word that may be what a command runs.
    fn at_code(&mut self, word: &str, bases: &[&Path], (folders, depth): (&[&Path], usize), counts: Counts<'_>) {
        let Some(pattern) = word.find(['*', '?', '[']) else {
            let named = self.named_by(&["", word], bases, counts);
            let more = LOAD_BESIDE.iter().copied().flatten().flat_map(|ending| {
                let inside = format!("{}.{ending}", word.trim_start_matches('/'));
                bases.iter().map(move |base| base.join(&inside)).filter(|file| counts(file)).collect::<Vec<_>>()
            });
            let all: Vec<PathBuf> = named.into_iter().chain(more).collect();
            self.add(all, true, (folders, depth));
            let inside = word.trim_start_matches('/');
            let places =
                bases.iter().map(|base| base.join(inside)).filter(|place| !inside.is_empty() && place.is_dir());
            let is_root = |place: &Path| folders.contains(&place) || home().as_deref() == Some(place);
            let folders: Vec<PathBuf> = places.filter(|place| !is_root(place)).collect();
            self.folders.extend(folders.into_iter().map(|path| Folder { path, is_deep: true, endings: &[] }));
            return;
        };
        let folder = word.get(..pattern).and_then(|start| start.rsplit_once('/')).map(|(folder, _)| folder);
        let ending = word.rsplit_once('.').map(|(_, ending)| ending);
        let endings = LOAD_BESIDE
            .iter()
            .copied()
            .chain([&[SHELL_ENDING][..]])
            .find(|all| ending.is_some_and(|one| all.contains(&one)));
        // Without a folder it is a pattern only where it ends like a script: anything else may be code itself.
        let (inside, endings) = match (folder, endings) {
            (Some(folder), _) => (folder.trim_start_matches('/'), &[][..]),
            (None, Some(endings)) if !word.contains(char::is_whitespace) => ("", endings),
            (None, _) => return,
        };
        let places = bases.iter().map(|base| base.join(inside)).filter(|place| place.is_dir());
        let found: Vec<Folder> = places.map(|path| Folder { path: tidy(&path), is_deep: false, endings }).collect();
        self.folders.extend(found);
    }

    /// The files that words name, within the room that is left.
    fn named_by(&mut self, words: &[&str], folders: &[&Path], counts: Counts<'_>) -> Vec<PathBuf> {
        self.is_all &= words.len() <= self.words_left;
        let words = words.get(..self.words_left.min(words.len())).unwrap_or_default();
        self.words_left -= words.len();
        let left = Cell::new(self.looks_left);
        let within = |place: &Path| {
            left.set(left.get().saturating_sub(1));
            left.get() > 0 && counts(place)
        };
        let (found, is_all) = words::files_that(words, folders, &within);
        self.looks_left = left.get();
        self.is_all &= is_all && self.looks_left > 0;
        found
    }

    fn add(&mut self, files: Vec<PathBuf>, is_code: bool, (folders, depth): (&[&Path], usize)) {
        for file in files.into_iter().map(|file| without_detours(&file)) {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let language = LOAD_BESIDE.iter().copied().find(|all| all.contains(&ending));
            if let Some((endings, parent)) = language.zip(file.parent()).filter(|_| is_code) {
                let path = tidy(parent);
                let is_root = folders.contains(&path.as_path()) || home().is_some_and(|home| home == path);
                let endings = if is_root { endings } else { &[] };
                self.folders.insert(Folder { path, is_deep: !is_root, endings });
            }
            // A text that is only mentioned may be anything.
            let is_of_shell = programs::row(ending).is_some_and(|row| row.runs == Runs::Shell);
            let kind = match (is_code || is_of_shell, ending) {
                (true, _) => Some(Text::Script),
                (false, "") => Some(Text::Perhaps),
                (false, _) => None,
            };
            if let Some(kind) = kind.filter(|_| language.is_none()) {
                self.waiting.push_back((file.clone(), kind, depth + 1));
            }
            self.files.insert(file);
        }
    }

    /// The text of a script or of settings. Nobody runs what nobody here may read, and a program of the machine's names nothing in
    /// words.
    fn text_of(&mut self, file: &Path) -> Option<String> {
        let mut bytes = Vec::new();
        // Opening a pipe would wait for whoever writes it.
        let opened = fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file);
        let read = opened.and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        if read.as_ref().is_err_and(|error| {
            matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::IsADirectory)
        }) || bytes.starts_with(b"\x7fELF")
        {
            return None;
        }
        self.is_all &= read.is_ok() && bytes.len() as u64 <= MOST_BYTES;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// True for settings that name files in many ways which start nothing.
fn is_told_by_fields(file: &Path) -> bool {
    let is_editors = |part: &str| matches!(part, ".vscode" | ".zed");
    file.components().filter_map(|part| part.as_os_str().to_str()).any(is_editors)
}

/// The commands in a text for agents: between a mark and the backtick behind it, and the fields of its head that name one.
fn commands_in(text: &str) -> impl Iterator<Item = &str> {
    let marked = text.split("!`").skip(1).filter_map(|rest| rest.split('`').next());
    let fields = text.lines().filter_map(|line| line.split_once("command:")).map(|(_, line)| line);
    marked.chain(fields)
}

/// Where a folder really lies.
fn tidy(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A path without `..`, which leads where the folder before it really lies; also one of a file that is not there yet.
pub(super) fn without_detours(file: &Path) -> PathBuf {
    let has_detours = file.components().any(|part| part == Component::ParentDir);
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if has_detours => tidy(folder).join(name),
        _ => file.to_owned(),
    }
}

/// The row of a runner, also of the script that brings it into a project (`gradlew`).
fn runner(name: &str) -> Option<&'static Program> {
    programs::row(name).or_else(|| name.strip_suffix('w').and_then(programs::row))
}

/// The files of the folder where it starts that say what it runs, each with whether commands stand in it.
fn files_of_runner(row: &'static Program) -> impl Iterator<Item = (&'static str, bool)> {
    let is_here = |name: &&str| !name.starts_with(['~', '/']) && !name.contains("lock");
    let settings = row.configured_by.iter().copied().filter(move |_| row.runs != Runs::Nothing || row.here.is_some());
    let settings = settings.filter(is_here).map(|name| (name, false));
    row.steered_by.iter().map(|name| (*name, true)).chain(settings)
}
