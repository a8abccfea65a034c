//! Files that steer a program by their names or because they lie where it starts, whether or not its row knows them.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{Effects, secrets};
use bashgate_shared::command::Digest;
use bashgate_shared::programs::{self, Kind, Program, Runs, Trait};
use bashgate_shared::protocol::{
    FILES_DIRECTLY_IN, FURTHER_FOLDERS, FileEvidence, NAMES_PROGRAM_OF_BUILDS, SAYS_HOW_SCRIPTS_RUN,
};
use bashgate_shared::variables;

use super::told::{Told, bound, digest_of, state_of, unknown};
use super::{Gathered, HowFar, Subject};
use crate::gate::ask::read_capped;
use crate::gate::conditions::{home, only_root_writes, place};
use crate::gate::words;

/// Largest file of settings that is read whole, in bytes. Of a larger one counts what any change of it changes.
const MAX_SETTINGS: u64 = 1 << 20;
/// Most words that are looked at, and most folders that they name.
const MAX_WORDS: usize = 300;
const MAX_FOLDERS: usize = 12;
/// Most folders above one that are looked at.
const MAX_ABOVE: usize = 16;
/// The same of code.
const MAX_WORDS_OF_CODE: usize = 20_000;
const MAX_NAMED: usize = 64;
/// Most letters of an option in front of the folder that is glued to them.
const MAX_LETTERS: usize = 8;
/// Longest name of a folder, in bytes.
const MAX_PART: usize = 255;
/// Most names of one folder that are looked at.
const MAX_NAMES: usize = 20_000;
/// Most files of a project's folder of which one entry tells.
const MAX_FILES: usize = 2000;
/// Endings of files that hold data, text for people or what programs note on the way.
const NO_SETTINGS: &[&str] = &[
    ".md",
    ".rst",
    ".adoc",
    ".log",
    ".out",
    ".err",
    ".pid",
    ".sock",
    ".tmp",
    ".swp",
    ".db",
    ".sqlite",
    ".sqlite3",
    "-wal",
    "-shm",
    "-journal",
    "-schedule",
    ".rdb",
    ".tsbuildinfo",
    ".eslintcache",
    ".coverage",
    ".jsonl",
    ".csv",
    ".tsv",
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".ico",
    ".pdf",
    ".o",
    ".a",
    ".d",
    ".gz",
    ".zip",
    ".xz",
    ".zst",
];
/// The same for what programs keep at home, besides settings.
const KEPT: &[&str] = &[
    ".gpg",
    ".kbx",
    ".lock",
    "history",
    "cache",
    ".bin",
    ".idx",
    ".pack",
    "hsts",
    "check.json",
    ".claude.json",
    "state.yml",
    "checkpoint",
    "random_seed",
];

impl Gathered<'_> {
    /// The words of a text, whole and divided where names are glued to something: `host:f`, `@f`, `.#f`; and what stands behind the folder
    /// that a tilde, a variable or another command gives: `~+/f`, `$PWD/f`, `$(pwd)/f`.
    ///
    /// Where there are more than are looked at, that is found, too.
    pub(super) fn words_in<'t>(&mut self, text: &'t str) -> Vec<&'t str> {
        let is_variable =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let (mut all, mut seen): (Vec<&str>, HashSet<&str>) = (Vec::new(), HashSet::new());
        for word in words::of(text) {
            for part in std::iter::once(word).chain(word.split([':', '@', '#'])) {
                let behind = part
                    .split_once('/')
                    .filter(|(folder, _)| folder.is_empty() || folder.starts_with('~') || is_variable(folder));
                for part in std::iter::once(part).chain(behind.map(|(_, inside)| inside.trim_start_matches('/'))) {
                    if !part.is_empty() && seen.insert(part) {
                        all.push(part);
                    }
                }
            }
            if all.len() > MAX_WORDS {
                self.add_unknown("more words than are looked at as names of files");
                all.truncate(MAX_WORDS);
                break;
            }
        }
        all
    }

    /// What any word of the text may name as a file, from where it starts or in a folder that another word names: with an ending that
    /// interpreters add, as a module, behind an option's letter. Of what may be run is told how it begins.
    pub(super) fn add_meant(&mut self, subject: &Subject, words: &[&str]) {
        let may_run = subject.may_run_words();
        if !may_run && subject.effects.network.is_empty() && subject.effects.persistence.is_empty() {
            return;
        }
        let here = |path: &str| place(path, self.cwd);
        // Of a text that is not understood nobody knows what it only writes.
        let writes: BTreeSet<PathBuf> = subject.effects.writes.iter().filter_map(|path| here(path)).collect();
        let written = only_written(&subject.text).into_iter().filter_map(here);
        let written: BTreeSet<PathBuf> =
            written.filter(|path| subject.read != HowFar::NotForCertain && writes.contains(path)).collect();
        let modules = modules_in(&subject.text);
        let modules: Vec<&str> = modules.iter().map(String::as_str).collect();
        // In front of the first word stands nothing that PATH knows.
        let (files, is_all) = words::files_of(&[&[""], words, &modules].concat(), &[self.cwd]);
        if !is_all {
            self.add_unknown(FURTHER_FOLDERS);
        }
        for file in files {
            if written.contains(&file) {
                continue;
            }
            let name = file.to_string_lossy();
            let is_shown = may_run && may_be_settings(&file, &[]) && !secrets::is_secret_path(&name);
            self.add(&name, if is_shown { Told::Head } else { Told::Digest });
        }
    }

    /// Folders out of which a program of a language loads code, where a word may name one: behind the letters of an option (`-Ip`), as a
    /// module (`p.r`), as the folder of its script, or in what a variable is set to that leads to code.
    pub(super) fn add_folders_of_code(&mut self, subject: &Subject, words: &[&str]) {
        let loads = |row: &Program| row.kind == Kind::Runtime || row.runs == Runs::Code && row.kind == Kind::Local;
        let programs = subject.effects.programs.iter().filter_map(|name| programs::row(name));
        // A script by its first line is a call of what stands there.
        let first_lines = self.first_lines();
        let interpreters = first_lines.iter().filter_map(|word| programs::row(word));
        let is_runtime = programs.chain(interpreters).any(loads);
        let words: Vec<&str> = words.iter().copied().chain(first_lines.iter().map(String::as_str)).collect();
        let mut named: BTreeSet<String> = BTreeSet::new();
        if is_runtime {
            for word in &words {
                // `-wIp`: from the third letter on, or later.
                let starts = word.char_indices().map(|(at, _)| at).skip(2).take(MAX_LETTERS);
                let is_letters = word.starts_with('-') && !word.starts_with("--");
                named.extend(starts.filter(|_| is_letters).filter_map(|at| word.get(at..)).map(str::to_owned));
                let module = word.trim_start_matches("./").split('.').next().unwrap_or_default();
                named.insert(module.to_owned());
                // Where a language keeps what others have written.
                named.insert(format!("node_modules/{word}"));
            }
            let scripts = subject.effects.runs.iter().filter_map(|file| Path::new(file).parent());
            named.extend(scripts.map(|folder| folder.to_string_lossy().into_owned()));
        }
        let divided = |c: char| c.is_whitespace() || ";&|()".contains(c);
        let settings = subject.text.split(divided).filter_map(|word| word.split_once('='));
        let leads = |name: &str| variables::leads_to_code(name) || variables::leads_network(name);
        for (name, value) in settings.filter(|(name, _)| leads(name.trim_start_matches(['"', '\'']))) {
            for part in value.trim_matches(['"', '\'']).split(':').filter(|part| !part.is_empty()) {
                // Where the shell stands, however that is written.
                let here = ["$PWD", "${PWD}", "~+", "."];
                let inside = here.iter().filter_map(|start| part.strip_prefix(start));
                let inside = inside.into_iter().find(|rest| rest.is_empty() || rest.starts_with('/'));
                let folder = inside.map_or(part, |rest| rest.trim_start_matches('/'));
                if folder.is_empty() || folder.contains(['$', '`', '*', '?', '[', '~', '"', '\'']) {
                    self.add_unknown(&format!("what {} is set to leads to", name.trim_start_matches(['"', '\''])));
                } else {
                    named.insert(folder.to_owned());
                }
            }
        }
        for folder in named.iter().filter(|name| !name.is_empty()) {
            let there = place(folder, self.cwd).filter(|there| there.is_dir());
            // The project as a whole is told of by itself.
            if there.is_some_and(|there| !self.cwd.starts_with(&there) && is_of_a_project(&there)) {
                self.add_folder(folder);
            }
        }
    }

    /// The words of the first lines that name what runs a script, of those of which is told how they begin.
    fn first_lines(&self) -> Vec<String> {
        let lines = self.found.iter().filter_map(|file| file.head.strip_prefix("#!")?.lines().next());
        lines.flat_map(str::split_whitespace).take(MAX_WORDS).map(str::to_owned).collect()
    }

    /// Settings of npm's and its like that say by which shell, with what and of which folders scripts run: no text of a script says it.
    pub(super) fn add_shell_of_packages(&mut self, account: Option<&Path>) {
        const SAYS: [&str; 15] = [
            "script-shell",
            "node-options",
            // Of which more is taken.
            "userconfig",
            "globalconfig",
            "prefix",
            "workspaces",
            "workspace=",
            "shell",
            "include-workspace-root",
            // Of yarn's and pnpm's.
            "yarnpath",
            "yarn-path",
            "plugins",
            "pnpmfile",
            "global-pnpmfile",
            "nodeoptions",
        ];
        let mut files = self.settings_around(&[".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml"], account);
        files.insert(PathBuf::from("/etc/npmrc"));
        let around: BTreeSet<PathBuf> = self.cwd.ancestors().map(|folder| folder.join(".npmrc")).collect();
        let says = |file: &Path, line: &str| {
            let line = line.trim_start().to_ascii_lowercase();
            // A person's own says where programs are installed for all.
            let is_own = file.ends_with(".npmrc") && !around.contains(file);
            let mut keys = SAYS.iter().filter(|key| !(is_own && **key == "prefix"));
            // A key that is put together, in quotes or of other letters is whichever npm makes of it.
            let key = line.split(['=', ':']).next().unwrap_or_default().trim_end();
            let is_ini = file.extension().is_none();
            let is_odd = |key: &str| !key.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-[] ".contains(c));
            keys.any(|key| line.starts_with(key)) || is_ini && !line.starts_with(['#', ';', '/']) && is_odd(key)
        };
        self.add_unknown_where(&files, says, |file| format!("what {file} {SAYS_HOW_SCRIPTS_RUN}"));
        // Code that they load before anything else.
        for file in self
            .settings_around(&[".pnpmfile.cjs", ".pnp.cjs", ".pnp.loader.mjs"], None)
            .iter()
            .filter(|file| file.is_file())
        {
            self.add_unknown(&format!("what {} {SAYS_HOW_SCRIPTS_RUN}", file.display()));
        }
    }

    /// Settings of cargo's that say which programs run in a build, and a package's build script by another name than the usual one.
    pub(super) fn add_programs_of_builds(&mut self, account: Option<&Path>) {
        const RUN: [&str; 9] = [
            "rustc",
            "rustdoc",
            "rustc-wrapper",
            "rustc-workspace-wrapper",
            "linker",
            "runner",
            "ar",
            "credential-provider",
            "build",
        ];
        let mut files = self.settings_around(&[".cargo/config.toml", ".cargo/config"], account);
        files.insert(self.cwd.join("Cargo.toml"));
        // A program by its place; one of PATH is the machine's.
        let runs = |_: &Path, line: &str| {
            let Some((key, value)) = line.split_once('=') else { return false };
            let key = key.trim().trim_matches('"').rsplit('.').next().unwrap_or_default();
            let is_place = value.contains('/') || value.contains(".rs");
            RUN.contains(&key) && is_place && !value.contains("\"build.rs\"")
        };
        self.add_unknown_where(&files, runs, |file| format!("what {file} {NAMES_PROGRAM_OF_BUILDS}"));
    }

    /// Files of these names in each folder from where the command starts upwards, at home, and in the account's own home folder.
    fn settings_around(&self, names: &[&str], account: Option<&Path>) -> BTreeSet<PathBuf> {
        let home = place("~", self.cwd);
        let folders = self.cwd.ancestors().chain(home.as_deref()).chain(account);
        folders.flat_map(|folder| names.iter().map(|name| folder.join(name))).collect()
    }

    /// No answer is bound to what a line of one of these files says.
    fn add_unknown_where(
        &mut self,
        files: &BTreeSet<PathBuf>,
        says: impl Fn(&Path, &str) -> bool,
        what: impl Fn(std::path::Display<'_>) -> String,
    ) {
        for file in files {
            let Ok(bytes) = read_capped(file, MAX_SETTINGS) else { continue };
            if String::from_utf8_lossy(&bytes).split(['\n', '\r']).any(|line| says(file, line)) {
                self.add_unknown(&what(file.display()));
            }
        }
    }

    /// What lies in the folders that a variable of the environment names, where others than root can put something there.
    pub(super) fn add_folders_of_variable(&mut self, name: &str, value: &str) {
        // Those of PATH are told of by themselves.
        if !variables::leads_to_code(name) {
            return;
        }
        for folder in words::of(value).flat_map(|word| word.split(':')).filter(|folder| !folder.is_empty()) {
            let there = place(folder, self.cwd).filter(|there| there.is_dir());
            if there.is_some_and(|there| !self.cwd.starts_with(&there) && !only_root_writes(&there)) {
                self.add_folder(folder);
            }
        }
    }

    /// The settings that a program finds by its own name (`~/.NAMErc`, `~/.config/NAME/`, `.NAME.yml` or `NAME.toml` in the folder
    /// where it starts or above it), and, where it works on a project, what lies in that folder itself. It may start in any folder
    /// that a word names.
    pub(super) fn add_own_settings(&mut self, subject: &Subject, called: &Effects, (words, code): (&[&str], &str)) {
        let in_code = &called.programs;
        let called = names_of(&subject.effects.programs);
        let mut programs = subject.effects.programs.clone();
        if subject.may_run_words() {
            // Any of them may be the program behind another one.
            let is_name =
                |word: &&&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            programs.extend(words.iter().filter(is_name).map(|word| (*word).to_owned()));
        }
        let names = names_of(&programs);
        let meant = self.folders_meant(words);
        let mut found: BTreeSet<PathBuf> = BTreeSet::new();
        if let Some(home) = place("~", self.cwd) {
            for (folder, form) in [(home.as_path(), Form::Hidden), (&home.join(".config"), Form::Plain)] {
                // A word of a message is called like a program as well, and what that keeps at home is another one each minute.
                for file in self.entries(folder).into_iter().filter(|file| form.is_of_one(file, &called)) {
                    if file.is_dir() {
                        let inside = self.entries(&file);
                        found.extend(inside.into_iter().filter(|file| file.is_file() && may_be_settings(file, KEPT)));
                    } else if may_be_settings(&file, KEPT) {
                        found.insert(file);
                    }
                }
            }
        }
        for folder in self.cwd.ancestors().map(Path::to_owned).chain(meant.iter().cloned()).collect::<Vec<_>>() {
            let is_own =
                |file: &PathBuf| Form::Hidden.is_of_one(file, &names) || Form::WithEnding.is_of_one(file, &names);
            let own = self.entries(&folder).into_iter().filter(is_own);
            found.extend(own.filter(|file| file.is_file() && may_be_settings(file, KEPT)));
        }
        for file in found.iter().filter(|file| file.is_file()) {
            self.add(&file.to_string_lossy(), Told::Digest);
        }
        let rows: Vec<_> = programs.iter().map(|program| programs::row(program)).collect();
        // From a folder in which there is none, runners of tasks take the nearest above: what is named is where somebody goes.
        let and_above: BTreeSet<PathBuf> = meant
            .iter()
            .flat_map(|folder| folder.ancestors().take(MAX_ABOVE).take_while(|above| !self.cwd.starts_with(above)))
            .map(Path::to_owned)
            .collect();
        for row in rows.iter().flatten() {
            if row.steered_by.iter().any(|file| file.ends_with("akefile")) {
                let folders = and_above.iter().map(PathBuf::as_path).chain([self.cwd]);
                for file in folders.flat_map(|folder| made_into_makefile(folder, row.steered_by)).collect::<Vec<_>>() {
                    self.add_unknown(&format!("what {} {SAYS_HOW_SCRIPTS_RUN}", file.display()));
                }
            }
            // What is code shows how it begins.
            let of = |list: &'static [&'static str], told| list.iter().map(move |name| (*name, told));
            let lists = of(row.configured_by, Told::Digest).chain(of(row.steered_by, Told::Head));
            for (name, told) in lists.filter(|(name, _)| !name.starts_with(['~', '/'])) {
                for file in and_above.iter().map(|folder| folder.join(name)).filter(|file| file.is_file()) {
                    self.add(&file.to_string_lossy(), told);
                }
            }
        }
        if subject.may_run_words() || rows.into_iter().any(|row| row.is_none_or(works_on_project)) {
            let folders: BTreeSet<PathBuf> = std::iter::once(self.cwd.to_owned()).chain(meant).collect();
            let cwd = self.cwd;
            let named = Named::by(&subject.text, code, in_code);
            for folder in folders.iter().filter(|folder| *folder != cwd && is_of_a_project(folder)) {
                let there = self.lies_in(folder, &named);
                self.found.extend(there);
            }
            self.add_project(&named);
        }
    }

    /// The project where it starts: what lies in its folder, and what may say what a program does in those below, since manifests,
    /// makefiles and runners of tests go into folders that no word names.
    pub(super) fn add_project(&mut self, named: &Named) {
        if is_of_a_project(self.cwd) {
            let there = self.lies_in(self.cwd, named);
            self.found.extend(there.into_iter().chain(below_project(self.cwd, named)));
        } else {
            self.add_unknown(&format!("the files in {}, where everybody writes", self.cwd.display()));
        }
    }

    /// The folders that words of code name, from where it starts.
    pub(super) fn folders_in(&mut self, code: &str) -> Vec<String> {
        let words: BTreeSet<&str> = words::of(code).flat_map(|word| [word, word.trim_start_matches("$PWD/")]).collect();
        let is_folder = |word: &&&str| place(word, self.cwd).is_some_and(|place| place.is_dir());
        let mut found: Vec<String> =
            words.iter().take(MAX_WORDS_OF_CODE).filter(is_folder).map(|word| (*word).to_owned()).collect();
        if words.len() > MAX_WORDS_OF_CODE || found.len() > MAX_NAMED {
            found.truncate(MAX_NAMED);
            self.add_unknown("folders that code names, of which there are more than are looked at");
        }
        found
    }

    /// The folders that words of the command name, from where it starts or from one another.
    pub(super) fn folders_meant(&mut self, words: &[&str]) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for word in words {
            let bases: Vec<PathBuf> = std::iter::once(self.cwd.to_owned()).chain(found.iter().cloned()).collect();
            for there in bases.iter().filter_map(|base| place(word, base)).filter(|there| there.is_dir()) {
                if there.as_path() == self.cwd || found.contains(&there) {
                    continue;
                }
                if found.len() >= MAX_FOLDERS {
                    self.add_unknown("more folders than are looked through");
                    return found;
                }
                found.push(there);
            }
        }
        found
    }

    /// What lies in a folder.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if all.len() >= MAX_NAMES {
                self.add_unknown("a folder with more names than are looked at");
                break;
            }
            all.push(entry.path());
        }
        all
    }

    /// The files that lie in a folder itself and may say what a program does there, as one entry.
    fn lies_in(&mut self, folder: &Path, named: &Named) -> Option<FileEvidence> {
        let mut files = self.entries(folder);
        files.sort();
        // A package may lie in any folder, and what is called like one of a language's own comes before it.
        let is_package = |file: &&PathBuf| !file.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
        let is_projects = folder == self.cwd;
        let packages = files.iter().filter(is_package).filter(|file| is_projects && file.is_dir());
        let mut lines: Vec<String> = packages.map(|file| format!("{}/\n", file.to_string_lossy())).collect();
        files.retain(|file| (may_be_settings(file, &[]) || named.names(file)) && file.is_file());
        for (at, file) in files.iter().enumerate() {
            let Ok(meta) = std::fs::metadata(file) else { continue };
            // Whoever has one mapped into memory can change it without changing its times.
            let is_read = at < MAX_FILES && meta.len() <= MAX_SETTINGS.min(self.room.bytes);
            let says = if is_read {
                self.room.bytes = self.room.bytes.saturating_sub(meta.len());
                file.canonicalize().map_or_else(|error| error.kind().to_string(), |file| digest_of(&file, meta.len()))
            } else {
                state_of(&meta)
            };
            lines.push(format!("{}\0{says}\n", file.file_name().unwrap_or_default().to_string_lossy()));
        }
        let sha256 = Digest::of(lines.concat().as_bytes()).hex();
        (!lines.is_empty()).then(|| bound(&format!("{FILES_DIRECTLY_IN}{}", folder.display()), sha256))
    }
}

/// Most files and folders of a project that are looked at by their times.
const MAX_BELOW: usize = 4000;
/// Folders that builds, managers of packages and what runs all the time fill.
const FILLED: &[&str] = &[
    "node_modules",
    "target",
    "venv",
    "__pycache__",
    "dist",
    "build",
    "out",
    "coverage",
    "vendor",
    "tmp",
    "temp",
    "log",
    "logs",
    "cache",
    "storage",
    "uploads",
    "requests",
    "responses",
];
/// Of folders with a dot in front those that hold code or settings of builds; what others hold changes all the time.
const HIDDEN: &[&str] =
    &[".cargo", ".github", ".gitlab", ".husky", ".mvn", ".yarn", ".buildkite", ".circleci", ".storybook"];

/// What of a project is named by a text or by the code that it runs: of a folder of such a name all counts, though it is filled by itself.
#[derive(Debug, Default)]
pub(super) struct Named {
    parts: HashSet<String>,
    /// All of it counts: it is sent or published as it lies there.
    all: bool,
    /// Code sends something, which it may name in ways that no word shows: `.`, `*`, `$f`.
    sends: bool,
}

impl Named {
    fn by(text: &str, code: &str, programs: &[String]) -> Self {
        let words = words::of(text).chain(words::of(code)).flat_map(|word| word.split('/'));
        let parts = words.filter(|part| part.len() <= MAX_PART).map(str::to_owned).collect();
        let deploys = |row: &Program| row.kind == Kind::Network && !row.publishes.is_empty();
        let sends = |name: &String| programs::row(name).is_none_or(|row| deploys(row) || row.has(Trait::TakesAlong));
        let reaches = |name: &str| programs::row(name).is_some_and(|row| row.kind == Kind::Network);
        let code_sends = words::of(code).any(reaches);
        Self { parts, all: programs.iter().any(sends) || code_sends, sends: code_sends }
    }

    /// True for a file that is named, glued to something or by a pattern: `@f`, `file=@f`, `*.md`.
    fn names(&self, file: &Path) -> bool {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return true };
        let is_glued =
            |part: &str| part.strip_suffix(name).is_some_and(|before| !before.ends_with(char::is_alphanumeric));
        let fits = |part: &str| part.rsplit_once(['*', '?', ']']).is_some_and(|(_, end)| name.ends_with(end));
        self.sends || self.parts.contains(name) || self.parts.iter().any(|part| is_glued(part) || fits(part))
    }

    /// Everything.
    pub(super) fn all() -> Self {
        Self { parts: HashSet::new(), all: true, sends: true }
    }
}

/// True for a folder that is filled by itself.
fn is_filled(name: &str) -> bool {
    FILLED.contains(&name) || name.starts_with('.') && !HIDDEN.contains(&name)
}

/// The files in the folders of a project that may say what a program does, as one entry: which ones there are, and what any change of
/// one changes. Of a folder that is named, each file. None where there are none.
fn below_project(folder: &Path, named: &Named) -> Option<FileEvidence> {
    let mut waiting = vec![(folder.to_owned(), false)];
    let (mut lines, mut seen) = (Vec::new(), 0_usize);
    while let Some((at, counts)) = waiting.pop() {
        for entry in std::fs::read_dir(&at).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_BELOW {
                break;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_str().unwrap_or_default();
            let is_named = named.parts.contains(name);
            let is_entered = match name {
                // They are no part of what is sent, and everything changes them.
                ".git" | "node_modules" => is_named && name != ".git",
                _ => !is_filled(name) || named.all || is_named,
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_entered => waiting.push((path, counts || is_named)),
                // What lies in the folder itself is told of by its content.
                Ok(kind) if !kind.is_dir() && at != folder && (counts || named.all || may_be_settings(&path, &[])) => {
                    let says = [std::fs::symlink_metadata(&path), std::fs::metadata(&path)]
                        .map(|meta| meta.map_or_else(|error| error.kind().to_string(), |meta| state_of(&meta)))
                        .join(" ");
                    lines.push(format!("{}\0{says}\n", path.to_string_lossy()));
                }
                _ => {}
            }
        }
    }
    lines.sort();
    let what = format!("the files in folders below {}", folder.display());
    if seen > MAX_BELOW {
        return Some(unknown(&format!("{what}, of which there are more than are looked at")));
    }
    (!lines.is_empty()).then(|| bound(&what, Digest::of(lines.concat().as_bytes()).hex()))
}

/// The modules that a text names: `from a.b import c` is `a.b.c`; and those above each, which are loaded first.
fn modules_in(text: &str) -> Vec<String> {
    let words: Vec<&str> = words::of(text).take(MAX_WORDS).collect();
    let mut all: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| word.contains('.')) {
        all.extend(word.match_indices('.').filter_map(|(dot, _)| word.get(..dot)).map(str::to_owned));
    }
    for (at, part) in words.windows(3).enumerate() {
        if let ["from", module, "import"] = part {
            let names = words.get(at + 3..).unwrap_or_default().iter().take_while(|word| **word != "from");
            all.extend(names.take(MAX_FOLDERS).map(|name| format!("{module}.{name}")));
        }
    }
    all.retain(|name| !name.is_empty());
    all.sort();
    all.dedup();
    all.truncate(MAX_WORDS);
    all
}

/// False for folders in which everybody and everything writes: the home folder itself, `/tmp`, the root. A project that is open to all
/// is one all the same, whatever bits somebody has given it.
fn is_of_a_project(folder: &Path) -> bool {
    let is_home = home().is_some_and(|home| home == folder);
    let is_shared = ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|shared| folder == Path::new(shared));
    !is_home && !is_shared && folder.parent().is_some()
}

/// The words that stand behind a `>` and nowhere else: what is written there is another one meanwhile, and nobody reads it.
fn only_written(text: &str) -> Vec<&str> {
    let at = |(at, _): (usize, &str)| (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
    let behind = text.match_indices('>').map(at).filter_map(|(before, rest)| {
        // `<>` reads as well, and in other languages `=>` and `->` are no redirections.
        if before.ends_with(['<', '=', '-']) {
            return None;
        }
        let rest = rest.trim_start_matches(['>', '|', '&']).trim_start();
        words::of(rest.split(['\n', ';', '|', '&']).next().unwrap_or_default()).next()
    });
    behind.filter(|word| text.matches(word).count() == 1).collect()
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
    /// True for a file that is called like one of these programs.
    fn is_of_one(self, file: &Path, names: &BTreeSet<String>) -> bool {
        let file = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = match self {
            Self::Hidden => file.strip_prefix('.'),
            Self::Plain | Self::WithEnding => Some(file.as_str()),
        };
        let Some(name) = name else { return false };
        // Looked up by what they may begin with: a text may hold hundreds of names, a folder thousands of files.
        let whole = (!matches!(self, Self::WithEnding)).then_some(name);
        let divided =
            name.char_indices().filter(|(_, letter)| matches!(letter, '.' | '-')).filter_map(|(at, _)| name.get(..at));
        let glued = ["rc", "file"].iter().filter_map(|end| {
            // `.NAMErc.yml`
            name.split('.').next().unwrap_or(name).strip_suffix(end)
        });
        whole.into_iter().chain(divided).chain(glued).any(|stem| names.contains(stem))
    }
}

/// False for data, text, and what programs note on the way.
fn may_be_settings(file: &Path, kept: &[&str]) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    !NO_SETTINGS.iter().chain(kept).any(|ending| name.ends_with(ending))
}

/// Files out of which make's own rules make the makefile that it then reads, also where there is one already.
fn made_into_makefile(folder: &Path, makefiles: &[&str]) -> Vec<PathBuf> {
    let endings = programs::MADE_FROM.iter().map(|ending| format!(".{ending}")).chain([",v".to_owned()]);
    let beside = makefiles.iter().flat_map(|name| endings.clone().map(move |ending| format!("{name}{ending}")));
    let kept = makefiles.iter().flat_map(|name| {
        [format!("RCS/{name}"), format!("RCS/{name},v"), format!("SCCS/s.{name}"), format!("s.{name}")]
    });
    beside.chain(kept).map(|name| folder.join(name)).filter(|file| file.symlink_metadata().is_ok()).collect()
}
