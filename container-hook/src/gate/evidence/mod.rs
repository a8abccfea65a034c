//! What a command's doing depends on besides its text, for the host to weigh and for an approval to be bound to: the files
//! whose code it would run, and, where it uses the network, the files that it reads and those that say where it sends. It can
//! only make the answer stricter: the container says it, so a harmless text proves nothing.

mod environment;
mod input;
mod project;
mod repositories;
mod settings;
mod told;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{Classification, CommandClass, Condition, Effects, Part, git_config, secrets};
use bashgate_shared::command::Digest;
use bashgate_shared::programs::{self, Builtin, Trait};
use bashgate_shared::protocol::{CD_BY_VARIABLE, FileEvidence, NO_PLAIN_FILE};
use bashgate_shared::{shell, variables};

use super::conditions::{self, ShellSetup, place};
use super::listing::tidy;
use super::real::{Leads, follow};
use super::started::{INSTALLED, Look};
use super::{git, words};
use environment::{environment, is_of_a_row, steering_variables};
pub(super) use repositories::folders_of_git;
use settings::{account_home, places_of};
pub(in crate::gate) use told::bound;
use told::{MAX_TREE, Room, Told, below, is_no_file_of_anybodys, names_in, read, state_of, tree, unknown};

pub use input::{names_in_input, of_reads};

/// Most files that are looked at; what has more has one entry without a digest.
const MAX_FILES: usize = 1000;
/// Most bytes of all files together that are hashed; what comes behind them is told by its length and time.
const MAX_ALL: u64 = 64 << 20;
/// How the entry for folders of PATH begins.
const PROGRAMS_IN: &str = "the programs in ";

/// How far a command was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HowFar {
    /// Rules say what each part does with its words.
    ByRules,
    /// There is a part of which no rule does: an option that is on no list may start what a word names.
    ByWords,
    /// The reader has not understood it.
    NotForCertain,
}

impl HowFar {
    fn of(found: &Classification) -> Self {
        let is_unknown = |part: &Part| part.class == CommandClass::Unknown && !part.local;
        if !found.understood {
            Self::NotForCertain
        } else if found.parts.iter().any(is_unknown) {
            Self::ByWords
        } else {
            Self::ByRules
        }
    }
}

/// A command, as far as its evidence depends on it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Its text.
    pub text: String,
    /// How far it was read.
    pub read: HowFar,
    /// Its words that may name a remote of git.
    pub remotes: BTreeSet<String>,
    /// One of its words is only known when it runs.
    pub has_open_words: bool,
    /// The same of one of its programs.
    pub has_open_program: bool,
    /// What it does.
    pub effects: Effects,
    /// What is left to be checked.
    pub conditions: Vec<Condition>,
    /// Where it would run.
    pub cwd: PathBuf,
    /// Its shell reads start-up files.
    pub reads_startup_files: bool,
    /// Those of them that somebody has looked at, by their digests.
    pub trusted_startup: Vec<String>,
}

impl Subject {
    /// A command that was read.
    pub fn new(text: &str, found: &Classification, cwd: &Path, setup: ShellSetup<'_>) -> Self {
        Self {
            text: text.to_owned(),
            read: HowFar::of(found),
            remotes: git_config::words_of(text, &found.calls),
            has_open_words: found.calls.iter().flatten().any(Option::is_none),
            has_open_program: found.calls.iter().any(|call| matches!(call.first(), Some(None))),
            effects: found.effects.clone(),
            conditions: found.conditions.clone(),
            cwd: cwd.to_owned(),
            reads_startup_files: setup.reads_startup_files,
            trusted_startup: setup.trusted.to_vec(),
        }
    }

    /// True where what a word names may be run, though no rule has seen it run.
    fn may_run_words(&self) -> bool {
        let evaluates = |builtin| {
            matches!(builtin, Builtin::Evaluates | Builtin::EvaluatesLater | Builtin::Sources | Builtin::RunsBehind)
        };
        let takes_code = |program: &String| {
            programs::row(program).is_none_or(|row| row.runs.takes_code() || row.builtin.is_some_and(evaluates))
        };
        self.read != HowFar::ByRules || !self.effects.runs.is_empty() || self.effects.programs.iter().any(takes_code)
    }
}

/// The evidence for one command. Files that are not there, or are no plain files, say nothing; where there are more than the
/// protocol allows, the last entry stands for all of the rest.
pub fn of(subject: &Subject) -> Vec<FileEvidence> {
    let Subject { remotes: words, effects, conditions, cwd, .. } = subject;
    let setup = ShellSetup { reads_startup_files: subject.reads_startup_files, trusted: &subject.trusted_startup };
    let leaves = !effects.network.is_empty();
    let mut all = Gathered { remotes: words.clone(), ..Gathered::new(cwd) };
    // What could not be read for certain may call whatever one of its words names.
    let mut called = effects.clone();
    if subject.read == HowFar::NotForCertain {
        all.add_unknown("what a text reads and runs that could not be read for certain");
        let named = words::of(&subject.text).filter(|word| programs::row(word).is_some()).map(str::to_owned);
        called.programs.extend(named.take(MAX_FILES));
    }
    for path in &effects.runs {
        all.add(path, Told::Head);
    }
    all.add_started(subject);
    // What a script calls is steered by what steers it elsewhere; and so is what stands in a text that another program may run.
    let code = std::mem::take(&mut all.room.code);
    if !all.room.has_all_code {
        all.add_unknown("what code calls and reads, of which there is more than is looked at");
    }
    let told = if subject.may_run_words() { subject.text.as_str() } else { "" };
    let named: BTreeSet<&str> =
        words::of(&code).chain(words::of(told)).filter(|word| programs::row(word).is_some()).collect();
    called.programs.extend(named.into_iter().map(str::to_owned));
    if subject.has_open_program {
        // The one that goes by what lies here as no other does.
        called.programs.push("git".to_owned());
    }
    let effects = &called;
    // Whoever can put another one there chooses what the name means.
    for program in conditions::others_programs(effects, cwd) {
        all.add(&program.to_string_lossy(), Told::Digest);
    }
    all.found.extend(others_folders(cwd));
    let mut rows: Vec<_> = effects.programs.iter().filter_map(|program| programs::row(program)).collect();
    // `python3 -m pip` is `pip` by another name.
    if words.contains("-m") {
        rows.extend(words.iter().filter_map(|word| programs::row(word)).filter(|row| !row.configured_by.is_empty()));
    }
    let account = account_home();
    for name in rows.iter().flat_map(|row| row.configured_by).flat_map(|name| places_of(name, account.as_deref(), cwd))
    {
        all.add_with_included(&name);
        all.add_settings(&name);
        all.add_folder(&name);
    }
    let is_configured_by = |file: &str| rows.iter().any(|row| row.configured_by.contains(&file));
    if is_configured_by(".npmrc") {
        all.add_shell_of_packages(account.as_deref());
    }
    if is_configured_by(".cargo/config.toml") {
        all.add_programs_of_builds(account.as_deref());
    }
    for name in rows.iter().flat_map(|row| row.loads_at_home) {
        all.add(&format!("~/{name}"), Told::Digest);
    }
    let joined = shell::joined(&subject.text);
    let mut meant = all.words_in(&subject.text);
    if let Some(joined) = &joined {
        meant.extend(all.words_in(joined));
        meant.sort_unstable();
        meant.dedup();
    }
    let in_code = all.folders_in(&code);
    all.add_own_settings(subject, effects, (&meant, &code));
    all.found.extend(conditions::startup_files(setup));
    all.add_git(effects, &meant.iter().copied().chain(in_code.iter().map(String::as_str)).collect::<Vec<_>>());
    all.add_reads(effects);
    // What only looks through a folder shows what lies there now. What sends it, keeps it for later or is a program that nobody
    // knows is asked about for what lies there.
    let keeps = [&effects.persistence, &effects.steering, &effects.tampering].iter().any(|list| !list.is_empty());
    if leaves || keeps || effects.programs.iter().any(|program| programs::row(program).is_none()) {
        all.add_folders(effects, conditions);
    }
    all.add_meant(subject, &meant);
    all.add_folders_of_code(subject, &meant);
    if leaves && effects.reads_unknown {
        all.found.push(unknown("files whose names are only known when it runs"));
    }
    if leaves && subject.has_open_words {
        all.found.push(unknown("words that are only known when it runs"));
    }
    let changes_folder = effects.programs.iter().any(|name| programs::CHANGE_FOLDER.contains(&name.as_str()));
    let is_searched = std::env::var_os("CDPATH").is_some_and(|value| !value.is_empty());
    if changes_folder && (is_searched || effects.may_set("CDPATH") || subject.text.contains("CDPATH")) {
        all.found.push(unknown(CD_BY_VARIABLE));
    }
    for name in ["PATH", "PS4", "PROMPT_COMMAND", "BASH_ENV", "ENV"] {
        // What makes variables of its words is none of the shell's: `make PATH=.`.
        let set = [format!("{name}="), format!("{name}+=")];
        let divides = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '=' | '+');
        let is_word = |word: &str| set.iter().any(|set| word.starts_with(set.as_str()));
        let is_mentioned = subject.read == HowFar::NotForCertain && subject.text.contains(name);
        if effects.may_set(name) || is_mentioned || subject.text.split(divides).any(is_word) {
            all.found.push(unknown(&format!("what the command sets {name} to leads to")));
        }
    }
    let steering = steering_variables(&rows);
    let at_home: Vec<&str> =
        rows.iter().flat_map(|row| row.configured_by).filter_map(|name| name.strip_prefix("~/")).collect();
    // Many of them name the same bundle of certificates.
    let mut values: BTreeMap<&str, bool> = BTreeMap::new();
    for (name, value) in &steering {
        // Whatever names code is bound as it is; what says where something goes may name more.
        let may_name = variables::leads_network(name) || is_of_a_row(name, &rows);
        *values.entry(value).or_default() |= may_name && !variables::names_certificates(name);
    }
    for (value, names_more) in values {
        // A file, several of them, or a command line that names some; a folder stands for the home folder.
        let words: Vec<&str> = words::of(value).flat_map(|word| word.split(':').chain([word])).collect();
        // The first word counts as well, as it does not where a command stands.
        for file in words::files(&[&[""], words.as_slice()].concat(), &[cwd]) {
            if names_more {
                all.add_with_included(&file.to_string_lossy());
            } else {
                all.add(&file.to_string_lossy(), Told::Digest);
            }
        }
        for word in
            words.iter().filter(|_| names_more).filter(|word| place(word, cwd).is_some_and(|place| place.is_dir()))
        {
            for inside in at_home.iter().chain(&["curlrc"]) {
                all.add_with_included(&format!("{}/{inside}", word.trim_end_matches('/')));
            }
        }
    }
    for (name, value) in &steering {
        all.add_folders_of_variable(name, value);
        let function = name.strip_prefix("BASH_FUNC_").map(|name| name.trim_end_matches("%%"));
        if function.is_some_and(|name| effects.programs.iter().any(|program| program == name)) {
            all.add_unknown(&format!(
                "the environment's function of the name {name}, which runs in place of the program"
            ));
        }
    }
    all.found.push(environment(&steering, &subject.text));
    all.folded()
}

/// What git would send besides what it is told to: the commits of whatever a ref or a name like `ORIG_HEAD` points at, and, where the
/// command makes some first, the files and the index that they are made from. An answer for a session is for those that come later, too; so the hook looks
/// at them before and behind its question, and the host is not told.
pub fn of_commits(subject: &Subject) -> Vec<FileEvidence> {
    let Subject { effects, cwd, .. } = subject;
    let mut all = Gathered::new(cwd);
    // Some let git send what they are asked for: `gh pr create`.
    let lets_git_send = |row: &programs::Program| row.has(Trait::SendsByGit);
    let sends = |program: &String| programs::is_git(program) || programs::row(program).is_none_or(lets_git_send);
    let may_be_git = subject.may_run_words() && words::of(&subject.text).any(programs::is_git);
    if effects.network.is_empty() || !effects.programs.iter().any(sends) && !may_be_git {
        return Vec::new();
    }
    let makes = effects.git.iter().any(|subcommand| programs::records(subcommand));
    let folders = folders_of_git(effects).into_iter().filter_map(|folder| place(&folder, cwd));
    for repository in folders.flat_map(|folder| git::repositories(&folder).unwrap_or_default()) {
        let own: BTreeSet<&PathBuf> = [&repository.common, &repository.git_dir].into_iter().collect();
        for folder in own {
            // Each name of capitals is a ref, and any word may be one.
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok()).take(MAX_FILES);
            let is_ref = |name: &String| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            let words = words::of(&subject.text).flat_map(|word| word.split([':', '+', '~', '^', '@']));
            let told = words.filter(|word| !word.is_empty() && !word.split('/').any(|part| part == ".."));
            let told = told.filter(|word| folder.join(word).is_file()).map(str::to_owned);
            let listed = ["packed-refs", "logs/refs/stash"].map(str::to_owned);
            for name in names.filter(is_ref).chain(told).chain(listed).collect::<BTreeSet<String>>() {
                all.add(&folder.join(name).to_string_lossy(), Told::Digest);
            }
            for name in ["refs", "reftable"] {
                all.add_folder(&folder.join(name).to_string_lossy());
            }
        }
        if makes {
            all.add(&repository.git_dir.join("index").to_string_lossy(), Told::Digest);
            // Not what git keeps for itself, which everything changes.
            let inside = std::fs::read_dir(&repository.root).into_iter().flatten().flatten();
            for entry in inside.filter(|entry| entry.file_name() != ".git").take(MAX_FILES) {
                all.add_folder(&entry.path().to_string_lossy());
            }
        }
    }
    all.folded()
}

/// What lies in the folders of PATH that others than root can write: a program may start any other by its name.
fn others_folders(cwd: &Path) -> Option<FileEvidence> {
    let folders = conditions::others_folders(cwd);
    let mut lines = Vec::new();
    for folder in &folders {
        let entries = std::fs::read_dir(folder);
        if let Err(error) = &entries {
            lines.push(format!("{}\0{}\n", folder.display(), error.kind()));
        }
        for entry in entries.into_iter().flatten().flatten().take(MAX_TREE) {
            let state =
                std::fs::metadata(entry.path()).map_or_else(|error| error.kind().to_string(), |meta| state_of(&meta));
            lines.push(format!("{}\0{state}\n", entry.path().to_string_lossy()));
        }
    }
    lines.sort();
    let named: Vec<String> = folders.iter().take(4).map(|folder| folder.to_string_lossy().into_owned()).collect();
    let sha256 = Digest::of(lines.concat().as_bytes()).hex();
    (!folders.is_empty()).then(|| bound(&format!("{PROGRAMS_IN}{}", named.join(", ")), sha256))
}

/// What has been found so far, and how many more bytes may be hashed.
struct Gathered<'c> {
    found: Vec<FileEvidence>,
    room: Room,
    cwd: &'c Path,
    /// Where what was found lies.
    places: BTreeSet<PathBuf>,
    /// Of what was looked at for what it includes.
    followed: BTreeSet<PathBuf>,
    /// What more there is than is looked at one by one, a line each.
    more: Vec<String>,
    /// The words of the command, and what its repositories go to by themselves: the remotes among them are told first.
    remotes: BTreeSet<String>,
}

impl<'c> Gathered<'c> {
    fn new(cwd: &'c Path) -> Self {
        Self {
            found: Vec::new(),
            room: Room::new(),
            cwd,
            places: BTreeSet::new(),
            followed: BTreeSet::new(),
            more: Vec::new(),
            remotes: BTreeSet::new(),
        }
    }

    /// Something was left out, or is only known when it runs: no answer is bound to that.
    fn add_unknown(&mut self, what: &str) {
        let odd = unknown(what);
        if !self.found.contains(&odd) {
            self.found.push(odd);
        }
    }

    /// As many as the protocol takes; the last one stands for the rest.
    fn folded(self) -> Vec<FileEvidence> {
        told::folded(self.found, &self.more)
    }

    /// Scripts of scripts, and what a runner's tasks start, are code as well.
    fn add_started(&mut self, subject: &Subject) {
        let Subject { text, effects, cwd, .. } = subject;
        let files: Vec<PathBuf> = effects.runs.iter().filter_map(|path| place(path, cwd)).collect();
        let words: HashSet<String> = words::of(text).map(str::to_owned).collect();
        self.add_started_by((&files, &effects.programs, words), cwd);
    }

    /// What these files start, and what runners of these programs start of these tasks.
    fn add_started_by(&mut self, (files, programs, words): (&[PathBuf], &[String], HashSet<String>), folder: &Path) {
        let mut look = Look::default();
        // What leads through this process is another file for the one that runs it.
        let is_settled = |file: &Path| matches!(follow(file), Leads::To(_));
        let files: Vec<PathBuf> = files.iter().filter(|file| is_settled(file) && file.is_file()).cloned().collect();
        look.at_what_runs((&files, programs, words), folder, &|_, place| place.is_file());
        for file in look.taken().0 {
            // What a manager of packages has brought is bound, and no code of the project's.
            let is_installed = file.parent().is_some_and(|folder| folder.ends_with(INSTALLED));
            // As the host says it when it reads the script.
            let real = if is_settled(&file) { tidy(&file) } else { file };
            let name = real.to_string_lossy().into_owned();
            let is_shown = !is_installed && !secrets::is_secret_path(&name);
            self.add(&name, if is_shown { Told::Head } else { Told::Digest });
        }
        if !look.is_all {
            self.add_unknown("code that is started by what it starts, of which there is more than is looked at");
        }
    }

    /// What is read by name.
    fn add_reads(&mut self, effects: &Effects) {
        let cwd = self.cwd;
        for path in effects.reads.iter().chain(&effects.named) {
            match conditions::as_pattern(path) {
                None => self.add_with_included(path),
                // What a loop goes through.
                Some((folder, start, end)) => match names_in(folder, start, end, cwd) {
                    Some(names) => names.iter().for_each(|name| self.add_with_included(name)),
                    None => self.add_folder(folder),
                },
            }
        }
    }

    /// What is read with everything in it, or by a pattern.
    fn add_folders(&mut self, effects: &Effects, conditions: &[Condition]) {
        let cwd = self.cwd;
        let is_folder = |path: &&String| place(path, cwd).is_some_and(|place| place.is_dir());
        let named = effects.reads.iter().chain(&effects.named).filter(is_folder);
        let mut folders: Vec<&str> = named.map(String::as_str).collect();
        for condition in conditions {
            match condition {
                Condition::NoSecretNamed { folder, start, end } => match names_in(folder, start, end, cwd) {
                    Some(names) => names.iter().for_each(|name| self.add(name, Told::Digest)),
                    None => folders.push(folder),
                },
                Condition::NoSecretBelow { folder, .. } => folders.push(folder),
                _ => {}
            }
        }
        folders.sort_unstable();
        folders.dedup();
        for folder in folders {
            self.add_folder(folder);
        }
    }

    fn add(&mut self, name: &str, told: Told) {
        let Some(file) = place(name, self.cwd).filter(|_| !leads_through_process(name)) else {
            self.add_unknown(&format!("{name} (where that lies is only known when it runs)"));
            return;
        };
        if let Leads::Doubt(why) = follow(&file) {
            self.add_unknown(&format!("{name} ({why})"));
            return;
        }
        // What the system says there, it says anew each time.
        if ["/proc", "/sys"].iter().any(|root| file.starts_with(root)) {
            if !leads_through_process(name) && file.is_file() && !self.found.iter().any(|known| known.path == name) {
                self.found.push(bound(name, Digest::of(name.as_bytes()).hex()));
            }
            return;
        }
        // By another spelling it is the same file.
        if !self.places.insert(file.clone()) {
            if told == Told::Head {
                self.show(&file);
            }
            return;
        }
        if self.found.len() >= MAX_FILES {
            let state = std::fs::metadata(&file).map(|meta| state_of(&meta)).unwrap_or_default();
            self.more.push(format!("{name}\0{state}"));
            return;
        }
        match std::fs::metadata(&file) {
            // Whoever writes into a pipe says what is read, when it is read.
            Ok(meta) if !meta.is_file() && !meta.is_dir() && !is_no_file_of_anybodys(&file) => {
                self.add_unknown(&format!("{name}{NO_PLAIN_FILE}"));
            }
            _ => self.found.extend(read(name, &file, told, &self.remotes, &mut self.room)),
        }
    }

    /// Tells of a file that was found how it begins: digest and beginning are of one look.
    fn show(&mut self, file: &Path) {
        let cwd = self.cwd;
        let is_it = |known: &FileEvidence| known.head.is_empty() && place(&known.path, cwd).as_deref() == Some(file);
        if let Some(at) = self.found.iter().position(is_it) {
            let name = self.found.get(at).map(|known| known.path.clone()).unwrap_or_default();
            let again = read(&name, file, Told::Head, &self.remotes, &mut self.room);
            if let (Some(known), Some(again)) = (self.found.get_mut(at), again) {
                *known = again;
            }
        }
    }

    /// Everything below a folder, where there is one; a file by itself.
    fn add_folder(&mut self, name: &str) {
        if self.found.iter().any(|file| file.path == below(name)) {
            return;
        }
        match place(name, self.cwd) {
            Some(place) if place.is_dir() => self.found.push(tree(name, &place, &mut self.room)),
            Some(_) | None => self.add(name, Told::Digest),
        }
    }
}

/// True for a path through what a process has open or stands in: that is another process's when the command runs.
fn leads_through_process(path: &str) -> bool {
    path.starts_with("/proc/") && ["/cwd", "/root", "/fd/"].iter().any(|part| path.contains(part))
}

#[cfg(test)]
mod tests;
