//! A look at what texts start: the files and folders that the words of commands name, what these start in their turn, and what an
//! interpreter loads beside them. By names alone: what a program decides when it runs is not known here.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bashgate_shared::classify::paths::file_name;
use bashgate_shared::programs::{self, LOAD_BESIDE, Program, Runs, SHELL_ENDING};
use serde_json::Value;

use super::lines::{Role, Word};
use super::settings::{self, Line};
use super::{lines, make};
use crate::gate::conditions::{home, place};
use crate::gate::listing::{Names, tidy, without_detours};
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
/// Most settings of PATH of one start-up file.
const MOST_RELATIVE: usize = 64;
/// What names the scripts of a package, and where the programs lie that it has installed.
const MANIFEST: &str = "package.json";
pub(in crate::gate) const INSTALLED: &str = "node_modules/.bin";
/// Most names in code that may be those of modules.
const MAX_NAMES_IN_CODE: usize = 64;

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

/// A text that is to be followed.
#[derive(Debug)]
struct Waiting {
    file: PathBuf,
    kind: Text,
    /// How many led there.
    depth: usize,
    /// See [`Look::takes_beside`].
    takes_beside: bool,
    /// Words of the text that led there: the tasks that it may mean.
    tasks: Arc<HashSet<String>>,
}

/// What counts as a file: those that are there, and others.
pub type Counts<'c> = &'c dyn Fn(&mut Names, &Path) -> bool;

/// A look at what is started, by as many words as there is room for.
#[derive(Debug)]
pub struct Look {
    words_left: usize,
    looks_left: usize,
    /// By the names that are used for them.
    files: BTreeSet<PathBuf>,
    /// Of which it starts what lies in them.
    folders: BTreeSet<Folder>,
    /// Scripts that are to be followed.
    waiting: VecDeque<Waiting>,
    names: Names,
    /// Whether what lies beside a file is code as well: of what gates an agent it is.
    takes_beside: bool,
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
            names: Names::new(),
            takes_beside: false,
            is_all: true,
        }
    }
}

impl Look {
    /// Looks at a file that is a script or settings, as seen from these folders and its own.
    pub fn at_file(&mut self, file: &Path, folders: &[&Path], counts: Counts<'_>) {
        self.at_text_of(file, (Text::Script, &HashSet::new()), (folders, 1), counts);
    }

    fn at_text_of(
        &mut self,
        file: &Path,
        (kind, tasks): (Text, &HashSet<String>),
        (folders, depth): (&[&Path], usize),
        counts: Counts<'_>,
    ) {
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
                for line in of_package(&manifest, tasks) {
                    self.at_words(line, kind, (&own, depth), counts);
                    self.at_installed(words::of(line), &own, counts);
                }
            }
            "json" | "jsonc" => {
                let settings = super::parsed(&text).unwrap_or_default();
                self.at_settings(&settings, folders, counts);
                if !is_told_by_fields(file) {
                    self.at_words(&text, kind, (&own, depth), counts);
                }
            }
            "toml" if kind != Text::OfRunner => {
                let settings = super::parsed(&text).unwrap_or_default();
                self.at_settings(&settings, &own, counts);
                self.at_words(&text, kind, (&own, depth), counts);
            }
            _ if kind == Text::OfRunner && make::is_read(file) => {
                self.at_words(&make::of_tasks(&text, tasks), kind, (&own, depth), counts);
                self.at_included(&text, tasks, (&own, depth), counts);
            }
            _ => self.at_words(&text, kind, (&own, depth), counts),
        }
        self.files.remove(file);
    }

    /// Looks at an agent's settings, in any language that these are written in.
    pub fn at_settings_file(&mut self, file: &Path, folders: &[&Path], counts: Counts<'_>) {
        if let Some(settings) = self.text_of(file).as_deref().and_then(super::parsed) {
            self.at_gate(&settings, folders, counts);
        }
    }

    /// Looks at the settings of an agent, whose hooks gate it: what they load is as good as they are.
    pub fn at_gate(&mut self, settings: &Value, folders: &[&Path], counts: Counts<'_>) {
        self.takes_beside = true;
        self.at_settings(settings, folders, counts);
        self.takes_beside = false;
    }

    /// Looks at what a command runs in this folder, and what that starts in its turn: these files, and what its programs read that run
    /// tasks of these names. What texts only name counts for nothing.
    pub fn at_what_runs(
        &mut self,
        (files, programs, words): (&[PathBuf], &[String], HashSet<String>),
        folder: &Path,
        counts: Counts<'_>,
    ) {
        let tasks = Arc::new(words);
        // What code of a language loads is its own.
        let is_text = |file: &&PathBuf| {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            !LOAD_BESIDE.iter().any(|all| all.contains(&ending))
        };
        for file in files.iter().filter(is_text) {
            self.wait_for(file, Text::OfRunner, 1, Arc::clone(&tasks));
        }
        for row in programs.iter().filter_map(|name| runner(file_name(name))) {
            self.at_runner(row, (&[folder], 0), &tasks, counts);
        }
        self.follow(&[folder], counts);
    }

    /// Looks at start-up files of the home folder, for who works in a folder of a project: those that name a folder on the way there,
    /// others start nothing there, and the folders of programs that are looked for wherever somebody works.
    pub fn at_home(&mut self, files: &[PathBuf], (start, top): (&Path, &Path), counts: Counts<'_>) {
        let home = home().unwrap_or_default();
        let way = start.strip_prefix(&home).unwrap_or(start);
        let names: Vec<&str> = way.iter().filter_map(|name| name.to_str()).filter(|name| *name != "/").collect();
        let inside: Vec<&Path> = start.ancestors().take_while(|folder| folder.starts_with(top)).collect();
        for file in files {
            let bytes = fs::metadata(file).ok().filter(fs::Metadata::is_file).and_then(|_| fs::read(file).ok());
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            if names.iter().any(|name| names_whole(&text, name)) {
                self.at_file(file, &[], counts);
            }
            for line in relative_paths(&text) {
                self.at_line(&line, &inside, counts);
            }
        }
    }

    /// Looks at a line of commands, as seen from these folders.
    pub fn at_line(&mut self, line: &str, folders: &[&Path], counts: Counts<'_>) {
        self.at_words(line, Text::Script, (folders, 1), counts);
    }

    /// Looks at settings.
    fn at_settings(&mut self, settings: &Value, folders: &[&Path], counts: Counts<'_>) {
        let (lines, is_all) = settings::commands(settings);
        self.is_all &= is_all;
        for Line { text, starts_in } in lines {
            let elsewhere: Vec<PathBuf> =
                folders.iter().filter_map(|base| place(below_root(starts_in.as_deref()?), base)).collect();
            let folders: Vec<&Path> = folders.iter().copied().chain(elsewhere.iter().map(PathBuf::as_path)).collect();
            self.at_words(&text, Text::Script, (&folders, 1), counts);
        }
    }

    /// Looks at what has been found to start more.
    pub fn follow(&mut self, folders: &[&Path], counts: Counts<'_>) {
        let mut seen = BTreeSet::new();
        while let Some(Waiting { file, kind, depth, takes_beside, tasks }) = self.waiting.pop_front() {
            if depth <= DEEPEST && seen.insert((file.clone(), kind, takes_beside)) {
                self.takes_beside = takes_beside;
                self.at_text_of(&file, (kind, &tasks), (folders, depth), counts);
                self.files.insert(file);
            }
        }
        self.takes_beside = false;
    }

    /// Takes what was found so far.
    pub fn taken(&mut self) -> (BTreeSet<PathBuf>, BTreeSet<Folder>) {
        (std::mem::take(&mut self.files), std::mem::take(&mut self.folders))
    }

    fn at_words(&mut self, text: &str, kind: Text, (folders, depth): (&[&Path], usize), counts: Counts<'_>) {
        let divided = lines::words(text);
        // What is written for people is read, not run.
        let is_prose = |word: &str| [".md", ".txt", ".rst", ".log", ".csv"].iter().any(|end| word.ends_with(end));
        let is_path = |word: &str| word.contains(['/', '.']) && !is_prose(word);
        let tasks: Arc<HashSet<String>> = Arc::new(divided.iter().map(|word| word.text.clone()).collect());
        let mut known: HashSet<&str> = HashSet::new();
        if kind != Text::OfRunner {
            let words: Vec<&str> = words::of(text).filter(|word| is_path(word) && known.insert(word)).collect();
            let named = self.named_by(&words, folders, counts);
            self.add(named, false, (folders, depth));
        }
        // Where it goes before, or says that something starts: a folder, and one in that.
        let mut bases: Vec<PathBuf> = folders.iter().map(|folder| (*folder).to_owned()).collect();
        for word in divided.iter().filter(|word| word.is_folder).map(|word| word.text.as_str()) {
            let from: Vec<&Path> = bases.iter().map(PathBuf::as_path).collect();
            let entered: Vec<PathBuf> = places_of(word, &from).filter(|place| place.is_dir()).collect();
            for place in entered.into_iter().map(|place| tidy(&place)) {
                if !bases.contains(&place) {
                    self.is_all &= bases.len() <= folders.len() + MAX_FOLDERS;
                    bases.push(place);
                }
            }
            bases.truncate(folders.len() + MAX_FOLDERS);
        }
        let bases: Vec<&Path> = bases.iter().map(PathBuf::as_path).collect();
        if self.takes_beside {
            self.at_inline_code(text, &divided, &bases);
        }
        for word in &divided {
            if word.is_code() {
                self.at_code(word, &bases, (folders, depth), counts);
            } else if kind != Text::OfRunner && is_path(&word.text) && known.insert(&word.text) {
                let named = self.named_by(&[word.text.as_str()], folders, counts);
                self.add(named, false, (folders, depth));
            }
            // What such a program runs stands in files of these names.
            let runner = runner(file_name(&word.text)).filter(|_| word.role != Role::Data);
            if let Some(row) = runner {
                self.at_runner(row, (&bases, depth), &tasks, counts);
            }
        }
    }

    /// The files in these folders in which stands what such a program runs, of these tasks.
    fn at_runner(
        &mut self,
        row: &'static Program,
        (folders, depth): (&[&Path], usize),
        tasks: &Arc<HashSet<String>>,
        counts: Counts<'_>,
    ) {
        for (name, is_followed) in files_of_runner(row) {
            for file in folders.iter().map(|folder| folder.join(name)) {
                if !counts(&mut self.names, &file) {
                    continue;
                }
                if is_followed {
                    self.wait_for(&file, Text::OfRunner, depth + 1, Arc::clone(tasks));
                }
                // `make` copies over its own files what it has a rule of its own for.
                if make::is_read(&file) {
                    let copied = [".sh", ",v"].map(|end| PathBuf::from(format!("{}{end}", file.display())));
                    self.files.extend(copied);
                }
                self.files.insert(file);
            }
        }
        if row.steered_by.contains(&MANIFEST) {
            self.at_installed(tasks.iter().map(String::as_str), folders, counts);
        }
    }

    /// Programs that a manager of packages has installed in a project, which come before those of PATH.
    fn at_installed<'w>(&mut self, words: impl Iterator<Item = &'w str>, folders: &[&Path], counts: Counts<'_>) {
        let is_name = |word: &&str| word.starts_with(|c: char| c.is_alphanumeric()) && !word.contains('/');
        for word in words.filter(is_name).take(MAX_NAMES_IN_CODE) {
            let above: BTreeSet<&Path> = folders.iter().flat_map(|folder| folder.ancestors()).collect();
            let places = above.into_iter().map(|folder| folder.join(INSTALLED).join(word));
            for file in places.collect::<Vec<_>>() {
                self.looks_left = self.looks_left.saturating_sub(1);
                self.is_all &= self.looks_left > 0;
                if self.looks_left > 0 && counts(&mut self.names, &file) {
                    self.files.insert(file);
                }
            }
        }
    }

    /// What a makefile includes has rules for the same tasks. What a pattern will mean as well is a folder of such files.
    fn at_included(
        &mut self,
        text: &str,
        tasks: &HashSet<String>,
        (folders, depth): (&[&Path], usize),
        counts: Counts<'_>,
    ) {
        let tasks = Arc::new(tasks.clone());
        for word in make::included(text) {
            let is_pattern = word.contains(['*', '?', '[', '$']);
            for place in folders.iter().map(|folder| folder.join(word)) {
                let inside = place.parent().filter(|_| is_pattern).and_then(|folder| fs::read_dir(folder).ok());
                let inside = inside.into_iter().flatten().flatten().map(|entry| entry.path());
                let is_one = |file: &PathBuf| make::is_read(file) || word.ends_with('*');
                let inside = inside.filter(is_one).take(MAX_FOLDERS);
                if is_pattern && let Some(folder) = place.parent().filter(|folder| folder.is_dir()) {
                    let endings: &[&str] = if word.ends_with('*') { &[] } else { &[make::ENDING] };
                    // A pattern in the project's own folder means files of its kind alone.
                    let counts = word.contains('/') || !endings.is_empty();
                    let found = Folder { path: tidy(folder), is_deep: false, endings };
                    self.folders.extend(counts.then_some(found));
                }
                for file in std::iter::once(place.clone()).chain(inside) {
                    if counts(&mut self.names, &file) {
                        self.wait_for(&file, Text::OfRunner, depth + 1, Arc::clone(&tasks));
                        self.files.insert(file);
                    }
                }
            }
        }
    }

    /// Code that a line holds itself loads modules from where it starts: single files, and folders by the names that stand in it.
    fn at_inline_code(&mut self, text: &str, divided: &[lines::Word], bases: &[&Path]) {
        let is_inline = |word: &Word| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            word.text == "-" || letters.chars().all(char::is_alphanumeric) && letters.contains(['c', 'm'])
        };
        let endings = divided.iter().map(|word| programs::loads_where_it_starts(file_name(&word.text)));
        let Some(endings) = endings.into_iter().find(|endings| !endings.is_empty()) else { return };
        if !divided.iter().any(is_inline) && !text.contains("<<") {
            return;
        }
        let names = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).take(MAX_NAMES_IN_CODE).collect();
        for base in bases {
            self.folders.insert(Folder { path: tidy(base), is_deep: false, endings });
            let packages = names.iter().map(|name| tidy(&base.join(name)));
            self.folders.extend(packages.map(|path| Folder { path, is_deep: true, endings }));
        }
    }

    /// A word that may be what a command runs.
    fn at_code(&mut self, word: &Word, bases: &[&Path], (folders, depth): (&[&Path], usize), counts: Counts<'_>) {
        let Word { text: word, role, .. } = word;
        let Some(pattern) = word.find(['*', '?', '[']) else {
            let all = self.named_by(&["", word], bases, counts);
            self.add(all, true, (folders, depth));
            let places = places_of(word, bases).filter(|place| place.is_dir());
            let places = places.filter(|place| !is_root(place, folders));
            self.folders.extend(places.map(|path| Folder { path, is_deep: true, endings: &[] }));
            return;
        };
        let folder = word.get(..pattern).and_then(|start| start.rsplit_once('/')).map(|(folder, _)| folder);
        let ending = word.rsplit_once('.').map(|(_, ending)| ending);
        let endings = LOAD_BESIDE
            .iter()
            .copied()
            .chain([&[SHELL_ENDING][..], &[make::ENDING]])
            .find(|all| ending.is_some_and(|one| all.contains(&one)));
        // Without a folder it is a pattern only where it ends like a script: anything else may be code itself.
        let is_source = ending.is_some_and(|ending| programs::ONLY_WORKED_ON.contains(&ending));
        let (inside, endings) = match (folder, endings) {
            _ if is_source => return,
            (Some(folder), _) => (folder, &[][..]),
            (None, Some(endings)) if !word.contains(char::is_whitespace) => ("", endings),
            (None, _) => return,
        };
        let own = bases.iter().map(|base| base.to_path_buf()).filter(|_| inside.is_empty());
        let places = places_of(inside, bases).chain(own).filter(|place| place.is_dir());
        // What lists names goes into folders.
        let is_deep = *role == Role::PlaceOfCode;
        self.folders.extend(places.map(|path| Folder { path: tidy(&path), is_deep, endings }));
    }

    /// The files that words name, within the room that is left.
    fn named_by(&mut self, words: &[&str], folders: &[&Path], counts: Counts<'_>) -> Vec<PathBuf> {
        self.is_all &= words.len() <= self.words_left;
        let words = words.get(..self.words_left.min(words.len())).unwrap_or_default();
        self.words_left -= words.len();
        let left = Cell::new(self.looks_left);
        let names = RefCell::new(std::mem::take(&mut self.names));
        let within = |place: &Path| {
            left.set(left.get().saturating_sub(1));
            left.get() > 0 && counts(&mut names.borrow_mut(), place)
        };
        let (found, is_all) = words::files_that(words, folders, &within);
        self.looks_left = left.get();
        self.names = names.into_inner();
        self.is_all &= is_all && self.looks_left > 0;
        found
    }

    fn add(&mut self, files: Vec<PathBuf>, is_code: bool, (folders, depth): (&[&Path], usize)) {
        for file in files.into_iter().map(|file| without_detours(&file)) {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let language = LOAD_BESIDE.iter().copied().find(|all| all.contains(&ending));
            if let Some(endings) = language.filter(|_| is_code && self.takes_beside) {
                // Beside a link and beside what it leads to.
                let places = [Some(file.clone()), file.canonicalize().ok()].into_iter().flatten();
                for path in places.filter_map(|file| file.parent().map(tidy)) {
                    let is_root = is_root(&path, folders);
                    let endings = if is_root { endings } else { &[] };
                    self.folders.insert(Folder { path, is_deep: !is_root, endings });
                }
            }
            // A text that is only mentioned may be anything.
            let is_of_shell = programs::row(ending).is_some_and(|row| row.runs == Runs::Shell);
            let kind = match (is_code, is_of_shell, ending) {
                (_, true, _) | (true, _, "") => Some(Text::Script),
                (true, false, _) => Some(Text::OfRunner),
                (false, false, "") => Some(Text::Perhaps),
                (false, false, _) => None,
            };
            if let Some(kind) = kind.filter(|_| language.is_none()) {
                self.wait_for(&file, kind, depth + 1, Arc::default());
            }
            self.files.insert(file);
        }
    }

    /// A text that is to be followed, in the same way as the one that led there.
    fn wait_for(&mut self, file: &Path, kind: Text, depth: usize, tasks: Arc<HashSet<String>>) {
        let takes_beside = self.takes_beside;
        self.waiting.push_back(Waiting { file: file.to_owned(), kind, depth, takes_beside, tasks });
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

/// The settings of PATH in a start-up file by which programs are looked for wherever somebody works: `PATH=./bin:$PATH`.
fn relative_paths(text: &str) -> impl Iterator<Item = String> {
    let is_relative = |folder: &str| {
        let folder = folder.trim_matches(['"', '\'']);
        !folder.is_empty() && !folder.starts_with(['/', '~', '$'])
    };
    let values =
        text.lines().filter_map(|line| line.split_once("PATH=")?.1.split_whitespace().next()?.split(';').next());
    let values = values.filter(move |value| value.split(':').any(is_relative));
    values.map(|value| format!("PATH={}", value.replace(['"', '\''], ""))).take(MOST_RELATIVE)
}

/// True where a text has this name, and not as a part of another one.
fn names_whole(text: &str, name: &str) -> bool {
    let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(goes_on) && !behind.is_some_and(goes_on)
    })
}

/// A folder without what stands in front of it for the root of a project: `${workspaceFolder}/tools`.
fn below_root(folder: &str) -> &str {
    let Some((_, rest)) = folder.strip_prefix('$').and_then(|rest| rest.split_once(['}', '/'])) else { return folder };
    let rest = rest.trim_start_matches('/');
    if rest.is_empty() { "." } else { rest }
}

/// Where a word may lead, seen from these folders: below each, since what stands in front of a slash may not be known, and as it stands
/// where that is in one of them. Nothing for a word that names none.
fn places_of(word: &str, bases: &[&Path]) -> impl Iterator<Item = PathBuf> {
    let inside = word.trim_start_matches('/');
    let itself = Path::new(word);
    let is_itself = word.starts_with('/') && bases.iter().any(|base| itself.starts_with(base));
    let below = bases.iter().filter(|_| !inside.is_empty()).map(|base| base.join(inside));
    below.chain(is_itself.then(|| itself.to_owned())).collect::<Vec<_>>().into_iter()
}

/// True for settings that name files in many ways which start nothing.
fn is_told_by_fields(file: &Path) -> bool {
    let is_editors = |part: &str| matches!(part, ".vscode" | ".zed");
    file.components().filter_map(|part| part.as_os_str().to_str()).any(is_editors)
}

/// The commands of a package's manifest that belong to these tasks.
fn of_package<'m>(manifest: &'m Value, tasks: &HashSet<String>) -> Vec<&'m str> {
    let mut lines = Vec::new();
    let bare = |name: &str| ["pre", "post"].iter().find_map(|start| name.strip_prefix(start)).map(str::to_owned);
    let is_meant = |name: &str| tasks.contains(name) || bare(name).is_some_and(|name| tasks.contains(&name));
    let scripts = manifest.get("scripts").and_then(Value::as_object).into_iter().flatten();
    scripts.filter(|(name, _)| is_meant(name)).for_each(|(_, value)| texts_in(Some(value), &mut lines));
    for name in programs::COMMANDS_OF_PACKAGES.iter().filter(|name| tasks.contains(**name)) {
        texts_in(manifest.get(*name), &mut lines);
    }
    lines
}

/// Every text in a value.
fn texts_in<'v>(value: Option<&'v Value>, found: &mut Vec<&'v str>) {
    match value {
        Some(Value::String(text)) => found.push(text),
        Some(Value::Array(all)) => all.iter().for_each(|one| texts_in(Some(one), found)),
        Some(Value::Object(all)) => all.values().for_each(|one| texts_in(Some(one), found)),
        _ => {}
    }
}

/// The commands in a text for agents: between a mark and the backtick behind it, and the fields of its head that name one.
fn commands_in(text: &str) -> impl Iterator<Item = &str> {
    let marked = text.split("!`").skip(1).filter_map(|rest| rest.split('`').next());
    let fields = text.lines().filter_map(|line| line.split_once("command:")).map(|(_, line)| line);
    marked.chain(fields)
}

/// True for a project's own folder, and for the home folder: what lies there is more than belongs to one script.
fn is_root(place: &Path, folders: &[&Path]) -> bool {
    folders.contains(&place) || home().as_deref() == Some(place)
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
