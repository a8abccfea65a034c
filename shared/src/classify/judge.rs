//! The walk over a command's syntax: every node is visited once, every call is judged by the tables, effects add up.
//!
//! A judge only ever makes a command stricter as it goes: classes join upwards, effects are only added.

use super::call::{Arg, Call, Known};
use super::effects::{NetworkUse, note};
use super::paths::{self, Zone};
use super::programs::{self, wrappers};
use super::{
    Argv, Classification, CommandClass, Condition, Decided, Effects, Part, Surroundings, protected, secrets, variables,
};
use crate::shell::{self, Command, Document, Join, Piece, Redirect, RedirectTarget, Script, Shell, Simple, Span, Word};

/// What a rule says about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The class.
    pub class: CommandClass,
    /// Why, for people. Empty when the program's own row says it.
    pub reason: String,
}

impl Judgement {
    /// Provably local.
    pub fn safe() -> Self {
        Self { class: CommandClass::Safe, reason: String::new() }
    }

    /// Not proven.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Unknown, reason: reason.into() }
    }

    /// Known to reach the network or to run given code.
    pub fn network(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Network, reason: reason.into() }
    }

    /// The stricter of the two.
    pub fn max(self, other: Self) -> Self {
        if other.class > self.class { other } else { self }
    }
}

fn argv(call: &Call) -> Argv {
    let args = call.args.iter().map(|arg| arg.exact().map(str::to_owned));
    std::iter::once(Some(call.program.clone())).chain(args).collect()
}

/// Deepest chain of scripts in scripts and wrappers around wrappers.
const MAX_NESTED_CALLS: usize = 8;
/// Most working directories that a command is followed through.
const MAX_FOLDERS: usize = 6;

/// A folder in which a command may run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Folder {
    /// Where the whole command starts, when nobody said where that is.
    Start,
    /// Here: absolute, starting with `~`, or relative to the start.
    At(String),
    /// After a `cd` whose target is not known.
    Anywhere,
}

/// The state of a walk.
pub struct Judge<'t> {
    around: &'t Surroundings,
    effects: Effects,
    conditions: Vec<Condition>,
    parts: Vec<Part>,
    calls: Vec<Argv>,
    class: CommandClass,
    reason: String,
    /// Folders in which the next command may run.
    folders: Vec<Folder>,
    nested: usize,
    /// The standard input of the command at hand comes from one that fetches.
    stdin_fetched: bool,
    /// Files that were fetched, by name.
    fetched_files: Vec<String>,
    /// All literal words: where unknown files are read, their names may stand here.
    mentioned: Vec<String>,
    reads_unknown: bool,
    shell: Shell,
}

/// Classifies a whole text that was understood.
pub(super) fn document(document: &Document, source: &str, around: &Surroundings) -> Classification {
    let start = around.cwd.clone().map_or(Folder::Start, Folder::At);
    let mut judge = Judge {
        around,
        effects: Effects::default(),
        conditions: Vec::new(),
        parts: Vec::new(),
        calls: Vec::new(),
        class: CommandClass::Safe,
        reason: String::new(),
        folders: vec![start],
        nested: 0,
        stdin_fetched: false,
        fetched_files: Vec::new(),
        mentioned: Vec::new(),
        reads_unknown: false,
        shell: around.shell,
    };
    judge.script(&document.script, Source { document, text: source, whole: None });
    judge.finish()
}

/// The text that a node's span points into.
#[derive(Clone, Copy)]
struct Source<'s> {
    document: &'s Document,
    text: &'s str,
    /// The part of the outermost text that stands for everything in here, for a script inside a word.
    whole: Option<&'s str>,
}

impl<'s> Source<'s> {
    fn slice(&self, span: Span) -> &'s str {
        self.whole.or_else(|| self.text.get(span.start..span.end)).unwrap_or("")
    }
}

impl Judge<'_> {
    fn finish(mut self) -> Classification {
        if self.reads_unknown {
            for word in std::mem::take(&mut self.mentioned) {
                if secrets::is_secret_path(&word) {
                    note(&mut self.effects.secrets, word);
                }
            }
        }
        let decided = if self.class != CommandClass::Safe || !self.effects.nothing_to_report() {
            Decided::Host
        } else if self.conditions.is_empty() {
            Decided::Local
        } else {
            Decided::LocalIf
        };
        if self.reason.is_empty() {
            "every program in it is local in the way it is called".clone_into(&mut self.reason);
        }
        Classification {
            class: self.class,
            decided,
            conditions: self.conditions,
            reason: self.reason,
            effects: self.effects,
            parts: self.parts,
            calls: self.calls,
            understood: true,
        }
    }

    /// Adds a part with its class, and joins the class into the whole.
    fn add(&mut self, text: &str, rule: &str, judgement: Judgement) {
        self.add_call(text, rule, judgement, Argv::new());
    }

    fn add_call(&mut self, text: &str, rule: &str, judgement: Judgement, argv: Argv) {
        let class = judgement.class;
        if class > self.class {
            self.class = class;
            self.reason = if judgement.reason.is_empty() { rule.to_owned() } else { judgement.reason.clone() };
        }
        self.parts.push(Part { text: text.to_owned(), class, rule: rule.to_owned(), reason: judgement.reason, argv });
    }

    // Syntax.

    fn script(&mut self, script: &Script, source: Source<'_>) {
        let mut seen = self.folders.clone();
        // True while the step at hand runs only if every step before it in its list succeeded.
        let mut certain = true;
        for step in &script.steps {
            match step.join {
                Join::Then => certain = true,
                Join::Or => certain = false,
                Join::And => {}
            }
            if step.join != Join::And || !certain {
                // An earlier `cd` may have failed or not have run.
                self.folders.clone_from(&seen);
            }
            let outside = self.stdin_fetched;
            for command in &step.pipeline {
                let fetched = self.effects.untrusted.len();
                self.command(command, source);
                self.stdin_fetched |= self.effects.untrusted.len() > fetched;
            }
            self.stdin_fetched = outside;
            if step.pipeline.len() > 1 || step.background || step.negated {
                self.also_in(&seen);
            }
            let now = std::mem::replace(&mut self.folders, seen);
            self.also_in(&now);
            seen = std::mem::replace(&mut self.folders, now);
        }
        self.folders = seen;
    }

    fn also_in(&mut self, folders: &[Folder]) {
        for folder in folders {
            if !self.folders.contains(folder) {
                self.folders.push(folder.clone());
            }
        }
        if self.folders.len() > MAX_FOLDERS {
            self.folders = vec![Folder::Anywhere];
        }
    }

    fn command(&mut self, command: &Command, source: Source<'_>) {
        match command {
            Command::Simple(simple) => self.simple(simple, source),
            Command::Compound { variable, words, scripts, repeats, redirects, span } => {
                for word in words {
                    self.word(word, source);
                }
                if let Some(name) = variable
                    && let Some(harm) = variables::harm_of_setting(name)
                {
                    let reason = format!("setting `{name}` {harm}");
                    self.add(source.slice(*span), "assignment", Judgement::unknown(reason));
                }
                for redirect in redirects {
                    let judgement = self.redirect(redirect, source);
                    if judgement.class > CommandClass::Safe {
                        self.add(source.slice(*span), "redirection", judgement);
                    }
                }
                let before = self.folders.clone();
                for script in scripts {
                    self.script(script, source);
                }
                if *repeats && self.folders != before {
                    let reason = "each round of the loop runs in another folder";
                    self.add(source.slice(*span), "loop", Judgement::unknown(reason));
                }
                self.also_in(&before);
            }
        }
    }

    fn simple(&mut self, simple: &Simple, source: Source<'_>) {
        let fetched_before = self.effects.untrusted.len();
        let mut judgement = Judgement::safe();
        for assignment in &simple.assignments {
            self.word(&assignment.value, source);
            judgement = judgement.max(Self::assignment(&assignment.name));
        }
        for word in &simple.words {
            self.word(word, source);
        }
        let fetched_in_words = self.effects.untrusted.len() > fetched_before;
        let (redirected, wrote) = self.redirects(&simple.redirects, source);
        judgement = judgement.max(redirected);
        let fed = simple.redirects.iter().rev().find_map(|redirect| match &redirect.target {
            RedirectTarget::Text(word) => word.literal().map(std::borrow::Cow::into_owned),
            RedirectTarget::Here(id) => {
                source.document.body(*id).and_then(Word::literal).map(std::borrow::Cow::into_owned)
            }
            _ => None,
        });
        let text = source.slice(simple.span);
        let mut words = simple.words.iter().map(Arg::of);
        let Some(first) = words.next() else {
            let rule = if simple.assignments.is_empty() { "redirection" } else { "assignment" };
            self.add(text, rule, judgement);
            return;
        };
        let Some(program) = first.exact() else {
            let reason = format!("the program is only known when it runs (`{}…`)", first.text);
            self.add(text, "command name", judgement.max(Judgement::unknown(reason)));
            return;
        };
        let call = Call { program: program.to_owned(), args: words.collect(), fetched_in_words, fed };
        let fetched = self.effects.untrusted.len();
        let rule = programs::rule_name(&call.program);
        let judged = self.call(&call);
        if self.effects.untrusted.len() > fetched {
            for file in wrote {
                note(&mut self.fetched_files, paths::file_name(&file));
            }
        }
        judgement = judgement.max(judged);
        if judgement.class > CommandClass::Safe {
            self.tampering_in(&call, simple, source);
        }
        self.add_call(text, &rule, judgement, argv(&call));
    }

    /// Looks into everything nested in a word.
    fn word(&mut self, word: &Word, source: Source<'_>) {
        if let Some(text) = word.literal() {
            if self.mentioned.len() < 1024 && text.len() < 4096 {
                self.mentioned.extend(text.split_whitespace().map(str::to_owned));
            }
            return;
        }
        for piece in &word.pieces {
            match piece {
                Piece::Substitution { script, .. } | Piece::Process(script) => {
                    let outside = std::mem::replace(&mut self.stdin_fetched, false);
                    let before = self.folders.clone();
                    self.script(script, source);
                    self.folders = before;
                    self.stdin_fetched = outside;
                }
                Piece::Variable { name, operand, .. } => {
                    if secrets::is_secret_variable(name) {
                        note(&mut self.effects.secrets, format!("${name}"));
                    }
                    if let Some(operand) = operand {
                        self.word(operand, source);
                    }
                }
                Piece::Text { text, .. } if self.mentioned.len() < 1024 => self.mentioned.push(text.clone()),
                _ => {}
            }
        }
    }

    /// What setting a variable means.
    pub fn assignment(name: &str) -> Judgement {
        variables::harm_of_setting(name)
            .map_or_else(Judgement::safe, |harm| Judgement::unknown(format!("setting `{name}` {harm}")))
    }

    // Redirections.

    fn redirects(&mut self, redirects: &[Redirect], source: Source<'_>) -> (Judgement, Vec<String>) {
        let (mut judgement, mut wrote) = (Judgement::safe(), Vec::new());
        for redirect in redirects {
            judgement = judgement.max(self.redirect(redirect, source));
            if let RedirectTarget::Path(word) = &redirect.target
                && redirect.writes
                && let Some(path) = word.literal()
            {
                wrote.push(path.into_owned());
            }
        }
        (judgement, wrote)
    }

    fn redirect(&mut self, redirect: &Redirect, source: Source<'_>) -> Judgement {
        match &redirect.target {
            RedirectTarget::Descriptor => Judgement::safe(),
            RedirectTarget::Text(word) => {
                self.word(word, source);
                Judgement::safe()
            }
            RedirectTarget::Here(id) => {
                if let Some(body) = source.document.body(*id) {
                    self.word(body, source);
                }
                Judgement::safe()
            }
            RedirectTarget::Path(word) => {
                self.word(word, source);
                let arg = Arg::of(word);
                if arg.known == Known::Pipe {
                    return Judgement::safe();
                }
                let Some(path) = arg.exact() else {
                    if redirect.writes {
                        self.tampering_by(&arg);
                    }
                    return Judgement::unknown("a redirection to a file that is only known when it runs");
                };
                if paths::zone(&paths::resolve(None, path), None) == Zone::Network {
                    let host = path.split('/').nth(3).map(str::to_owned);
                    self.network("/dev/tcp", host);
                    return Judgement::network("bash opens this file as a network connection");
                }
                let mut judgement = Judgement::safe();
                if redirect.other_input {
                    // Under /dev/fd and /dev/stderr it could be opened again, for writing.
                    judgement = Judgement::unknown("it reads a file into another descriptor than standard input");
                }
                if redirect.reads {
                    judgement = judgement.max(self.read(&arg));
                }
                if redirect.writes {
                    judgement = judgement.max(self.write(&arg));
                }
                judgement
            }
        }
    }

    // Calls.

    /// Judges a call by its program's row.
    pub fn call(&mut self, call: &Call) -> Judgement {
        note(&mut self.effects.programs, call.program.clone());
        if self.calls.len() < 1024 {
            self.calls.push(argv(call));
        }
        if self.nested >= MAX_NESTED_CALLS {
            return Judgement::unknown("wrappers are nested too deep");
        }
        self.nested += 1;
        let judgement = programs::judge(self, call);
        self.nested -= 1;
        judgement
    }

    /// Judges the program that a wrapper runs: the first of these arguments with the rest.
    pub fn inner_call(&mut self, args: &[Arg], outer: &Call) -> Judgement {
        let Some((first, rest)) = args.split_first() else { return Judgement::safe() };
        let Some(program) = first.exact() else {
            return Judgement::unknown("the program is only known when it runs");
        };
        self.call(&Call {
            program: program.to_owned(),
            args: rest.to_vec(),
            fetched_in_words: outer.fetched_in_words,
            fed: outer.fed.clone(),
        })
    }

    /// Judges a script that a shell is given as text.
    pub fn inner_script(&mut self, text: &str, shell: Shell) -> Judgement {
        let folders = self.folders.clone();
        let judgement = self.same_shell_script(text, shell);
        self.folders = folders;
        judgement
    }

    /// Judges a script that this shell itself evaluates: a `cd` in it may stay in force.
    pub fn same_shell_script(&mut self, text: &str, shell: Shell) -> Judgement {
        if self.nested >= MAX_NESTED_CALLS {
            return Judgement::unknown("scripts are nested too deep");
        }
        if text.trim().is_empty() {
            return Judgement::unknown("an empty script");
        }
        let shell = if self.shell == Shell::Other { Shell::Other } else { shell };
        let document = match shell::read(text, shell) {
            Ok(document) => document,
            Err(trouble) => {
                let found = super::raw::effects(text, self.around);
                self.join_effects(found);
                return Judgement::unknown(format!("the script in it is not understood: {trouble}"));
            }
        };
        let outside = std::mem::replace(&mut self.shell, shell);
        let (class, reason) = (self.class, std::mem::take(&mut self.reason));
        self.class = CommandClass::Safe;
        self.nested += 1;
        let before = self.folders.clone();
        self.script(&document.script, Source { document: &document, text, whole: None });
        self.also_in(&before);
        self.nested -= 1;
        self.shell = outside;
        let inner = Judgement { class: self.class, reason: std::mem::replace(&mut self.reason, reason) };
        self.class = class;
        inner
    }

    fn join_effects(&mut self, found: Effects) {
        let Effects { programs, reads, writes, secrets, network, untrusted, persistence, tampering, git, runs_fetched } =
            found;
        let mine = &mut self.effects;
        for (list, more) in [
            (&mut mine.programs, programs),
            (&mut mine.reads, reads),
            (&mut mine.writes, writes),
            (&mut mine.secrets, secrets),
            (&mut mine.untrusted, untrusted),
            (&mut mine.persistence, persistence),
            (&mut mine.tampering, tampering),
            (&mut mine.git, git),
        ] {
            for text in more {
                note(list, text);
            }
        }
        mine.network.extend(network);
        mine.runs_fetched |= runs_fetched;
    }

    // What rules say about effects.

    /// The command uses the network.
    pub fn network(&mut self, program: &str, host: Option<String>) {
        let found = NetworkUse { program: program.to_owned(), host };
        if !self.effects.network.contains(&found) && self.effects.network.len() < 256 {
            self.effects.network.push(found);
        }
    }

    /// Content from a source that nobody vouches for comes in.
    pub fn untrusted(&mut self, source: impl Into<String>) {
        // Each fetch counts, so that a later interpreter of its output is seen.
        if self.effects.untrusted.len() < 256 {
            self.effects.untrusted.push(source.into());
        }
    }

    /// A fetched file lies there now.
    pub fn fetched_file(&mut self, path: &str) {
        note(&mut self.fetched_files, paths::file_name(path));
    }

    /// A secret comes to the agent's eyes.
    pub fn secret(&mut self, what: impl Into<String>) {
        note(&mut self.effects.secrets, what);
    }

    /// A part of the gate is touched.
    pub fn tampering(&mut self, what: impl Into<String>) {
        note(&mut self.effects.tampering, what);
    }

    /// Something will run again later.
    pub fn persistence(&mut self, what: impl Into<String>) {
        note(&mut self.effects.persistence, what);
    }

    /// A git subcommand runs.
    pub fn git(&mut self, subcommand: &str) {
        note(&mut self.effects.git, subcommand);
    }

    /// An interpreter runs code: from its standard input, or from a file.
    pub fn runs_code(&mut self, call: &Call, from_stdin: bool, file: Option<&str>) {
        let fetched_file =
            file.is_some_and(|file| self.fetched_files.iter().any(|known| known == paths::file_name(file)));
        if call.fetched_in_words || from_stdin && self.stdin_fetched || fetched_file {
            self.effects.runs_fetched = true;
        }
    }

    /// True when this file was fetched by an earlier part of the command.
    pub fn was_fetched(&self, path: &str) -> bool {
        self.fetched_files.iter().any(|known| known == paths::file_name(path))
    }

    /// The command moves to another folder; `None` for one that is not known.
    pub fn change_folder(&mut self, to: Option<&str>) {
        // Behind a wrapper another process may do it, which changes nothing here.
        let stays = if self.nested > 1 { self.folders.clone() } else { Vec::new() };
        let Some(path) = to else {
            self.folders = vec![Folder::Anywhere];
            return;
        };
        let mut next = Vec::new();
        for folder in &self.folders {
            let target = match folder {
                _ if path.starts_with(['/', '~']) => Folder::At(paths::resolve(None, path)),
                Folder::Start => Folder::At(paths::resolve(None, path)),
                Folder::At(folder) => Folder::At(paths::resolve(Some(folder), path)),
                Folder::Anywhere => Folder::Anywhere,
            };
            if !next.contains(&target) {
                next.push(target);
            }
        }
        self.folders = next;
        self.also_in(&stays);
    }

    /// True when the shell that will read the text at hand is known to be bash.
    pub fn is_bash(&self) -> bool {
        self.shell == Shell::Bash
    }

    /// True when a literal word of the command so far holds this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.mentioned.iter().any(|word| word.contains(text))
    }

    /// Programs of the network among the literal words so far: a shell is about to read some of them as commands.
    pub fn mentioned_network(&mut self) {
        for word in self.mentioned.clone() {
            if matches!(programs::kind_of(paths::file_name(&word)), Some(programs::Kind::Network)) {
                self.network(&word, None);
            }
        }
    }

    /// A relative path after a `cd` to an unknown place, and a path whose `..` the text cannot resolve.
    fn is_lost(&self, path: &str) -> bool {
        let slippery = |path: &str| {
            path.split('/').any(|part| part == "..")
                && path.starts_with(['~', '/'])
                && ["~", "/dev", "/proc"].iter().any(|root| path.starts_with(root))
        };
        self.folders.iter().any(|folder| match folder {
            _ if path.starts_with(['/', '~']) => slippery(path),
            Folder::Anywhere => true,
            Folder::Start => false,
            Folder::At(folder) => slippery(&format!("{folder}/{path}")),
        })
    }

    /// The places that a path with `..` means, unresolved, so that whoever has the file system can follow its links.
    fn unresolved(&self, path: &str) -> Vec<String> {
        if !path.split('/').any(|part| part == "..") {
            return Vec::new();
        }
        let joined = |folder: &Folder| match folder {
            Folder::At(folder) if !path.starts_with(['/', '~']) => format!("{folder}/{path}"),
            _ => path.to_owned(),
        };
        self.folders.iter().map(joined).collect()
    }

    /// Every path that a literal argument can mean.
    fn resolved(&self, path: &str) -> Vec<String> {
        let base = |folder: &'_ Folder| match folder {
            Folder::At(folder) => Some(folder.clone()),
            Folder::Start | Folder::Anywhere => None,
        };
        self.folders.iter().map(|folder| paths::resolve(base(folder).as_deref(), path)).collect()
    }

    /// A file's content is read.
    pub fn read(&mut self, arg: &Arg) -> Judgement {
        match arg.known {
            Known::Literal if arg.text == "-" || arg.text.is_empty() => Judgement::safe(),
            Known::Pipe => Judgement::safe(),
            Known::Literal if self.is_lost(&arg.text) => self.read_unknown(),
            Known::Words if arg.wanders || self.is_lost(&arg.text) => self.read_unknown(),
            Known::Literal => {
                for path in self.unresolved(&arg.text) {
                    note(&mut self.effects.reads, path);
                }
                for path in self.resolved(&arg.text) {
                    if secrets::is_secret_path(&path) {
                        note(&mut self.effects.secrets, path.clone());
                    }
                    note(&mut self.effects.reads, path);
                }
                Judgement::safe()
            }
            // A glob stays in the folder that its text names, unless more folders are patterns too.
            Known::Words => {
                let folder =
                    arg.text.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
                self.read_tree(&Arg::literal(folder));
                if secrets::is_secret_path(&format!("{}{}", arg.text, arg.tail)) {
                    note(&mut self.effects.secrets, format!("{}*{}", arg.text, arg.tail));
                }
                Judgement::safe()
            }
            Known::OneWord | Known::Anything => self.read_unknown(),
        }
    }

    /// Files are read whose names nobody knows before it runs.
    pub fn read_unknown(&mut self) -> Judgement {
        self.reads_unknown = true;
        Judgement::unknown("it reads files whose names are only known when it runs")
    }

    /// Everything below a folder is read.
    pub fn read_tree(&mut self, arg: &Arg) -> Judgement {
        let Some(path) = arg.exact() else {
            return if matches!(arg.known, Known::Words | Known::Pipe) { self.read(arg) } else { self.read_unknown() };
        };
        if self.is_lost(path) {
            return self.read_unknown();
        }
        for folder in self.resolved(path) {
            if secrets::is_secret_path(&folder) || secrets::is_secret_folder(paths::file_name(&folder)) {
                note(&mut self.effects.secrets, folder.clone());
            }
            let condition = Condition::NoSecretBelow { folder };
            if !self.conditions.contains(&condition) {
                self.conditions.push(condition);
            }
        }
        Judgement::safe()
    }

    /// A file is written.
    pub fn write(&mut self, arg: &Arg) -> Judgement {
        if arg.known == Known::Pipe {
            return Judgement::safe();
        }
        let Some(path) = arg.exact() else {
            return Judgement::unknown("it writes a file whose name is only known when it runs");
        };
        let mut judgement = Judgement::safe();
        for path in self.unresolved(path) {
            note(&mut self.effects.writes, path);
        }
        for resolved in self.resolved(path) {
            judgement = judgement.max(self.write_to(&resolved));
        }
        judgement
    }

    fn write_to(&mut self, path: &str) -> Judgement {
        if let Some(part) = protected::gate_part(path, &self.around.protected) {
            note(&mut self.effects.tampering, part);
            return Judgement::unknown("it writes to the gate's own files");
        }
        if let Some(kind) = protected::persistence(path) {
            note(&mut self.effects.persistence, path);
            return Judgement::unknown(format!("it writes {kind}"));
        }
        let unplaced = !path.starts_with(['/', '~']) && self.folders.contains(&Folder::Anywhere);
        match paths::zone(path, self.around.cwd.as_deref()) {
            Zone::Nowhere => Judgement::safe(),
            Zone::Network => Judgement::network("bash opens this file as a network connection"),
            Zone::Workspace if !unplaced => {
                note(&mut self.effects.writes, path);
                Judgement::safe()
            }
            Zone::Workspace | Zone::Outside => {
                note(&mut self.effects.writes, path);
                Judgement::unknown("it writes outside of the working directory and /tmp")
            }
        }
    }

    /// In a part that is not Safe, any argument that names the gate counts; what the program does with it is not known.
    fn tampering_in(&mut self, call: &Call, simple: &Simple, source: Source<'_>) {
        let only_talks = programs::only_talks(call);
        let modifies = wrappers::modifies(&call.program) || call.args.iter().any(|arg| wrappers::modifies(&arg.text));
        // xargs takes what it changes from words that stand elsewhere.
        let reads_names = paths::file_name(&call.program) == "xargs";
        for arg in &call.args {
            // `of=/path`, `-t/path` and `--target=/path` name one, too.
            let glued = [
                arg.text.split_once('=').map(|(_, path)| path),
                arg.text.get(2..).filter(|_| arg.text.starts_with('-')),
            ];
            for path in
                std::iter::once(arg.text.as_str()).chain(glued.into_iter().flatten()).filter(|path| !path.is_empty())
            {
                for path in self.resolved(path) {
                    let part = protected::gate_part(&path, &self.around.protected);
                    let inside = part.as_deref().is_some_and(|part| paths::is_within(&path, part));
                    if let Some(part) = part
                        && (modifies || inside && !only_talks)
                    {
                        note(&mut self.effects.tampering, part);
                    }
                    if modifies && protected::persistence(&path).is_some() {
                        note(&mut self.effects.persistence, path);
                    }
                }
            }
            if modifies && (arg.exact().is_none() || reads_names) {
                self.tampering_by(arg);
                for word in self.mentioned.clone() {
                    let part = protected::gate_part(&word, &self.around.protected);
                    if let Some(part) = part.filter(|part| paths::is_within(&word, part)) {
                        note(&mut self.effects.tampering, part);
                    }
                }
            }
        }
        if only_talks {
            return;
        }
        // Code and options in arguments: the text itself is searched.
        let text = source.slice(simple.span);
        let names = self.around.protected.iter().map(String::as_str).chain(protected::GATE_PATHS.iter().copied());
        for name in names {
            if text.contains(name) {
                note(&mut self.effects.tampering, name);
            }
        }
        for settings in [".claude/settings", "managed-settings.json", ".codex/hooks.json", "shell-snapshots"] {
            if text.contains(settings) {
                note(&mut self.effects.tampering, settings);
            }
        }
    }

    /// A path that is only known in part, about to be changed: its known parts may lead to the gate.
    fn tampering_by(&mut self, arg: &Arg) {
        let tail = arg.tail.trim_start_matches('/');
        let by_tail = (!tail.is_empty()).then(|| protected::gate_part(tail, &[])).flatten();
        let reaches = self.resolved(&arg.text).iter().any(|prefix| {
            let prefix = if arg.text.ends_with('/') { format!("{prefix}/") } else { prefix.clone() };
            prefix.len() > 1 && protected::prefix_reaches_gate(&prefix, &self.around.protected)
        });
        if reaches || by_tail.is_some() || arg.text == "/" {
            note(&mut self.effects.tampering, format!("{}…{}", arg.text, arg.tail));
        }
    }
}
