//! What a walk over a command's syntax has found so far, and the words in which rules say more.
//!
//! [`walk`] visits every node once, the tables judge every call, [`effects`] adds up what it does, [`folders`] follows
//! `cd`, [`values`] knows what variables hold where the text says it. A judge only ever makes a command stricter as it
//! goes: classes join upwards, effects are only added.

mod bound;
pub(crate) mod calls;
mod effects;
mod flow;
mod folders;
mod values;
mod walk;

use bound::Bound;
use flow::Flow;
use folders::Folder;
use values::Values;
use walk::Source;

use super::call::{Arg, Call, Known};
use super::effects::{ANY, note};
use super::terminal::TerminalWatch;
use super::tool::{MAX_ACTS, ToolAct};
use super::{
    Argv, Classification, CommandClass, Condition, Decided, Effects, GitWork, Part, Surroundings, passed_by, paths,
    raw, secrets,
};
use crate::programs::reaches::{Brings, Reaches};
use crate::programs::{self, Builtin, git};
use crate::shell::{Document, Shell};

/// What a rule says about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The class.
    pub class: CommandClass,
    /// Why, for people. Empty when the program's own row says it.
    pub reason: String,
    /// True when it is local under the conditions that were noted, whatever its class.
    pub local: bool,
    /// What it reaches over the network, where that alone keeps it from being local.
    pub reaches: Option<Box<Reaches>>,
}

impl Judgement {
    /// Provably local.
    pub fn safe() -> Self {
        Self { class: CommandClass::Safe, reason: String::new(), local: true, reaches: None }
    }

    /// Not proven by the text, but local under a condition that was noted with [`Judge::condition`].
    pub fn conditional(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Unknown, reason: reason.into(), local: true, reaches: None }
    }

    /// Not proven.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Unknown, reason: reason.into(), local: false, reaches: None }
    }

    /// Known to reach the network or to run given code.
    pub fn network(reason: impl Into<String>) -> Self {
        Self { class: CommandClass::Network, reason: reason.into(), local: false, reaches: None }
    }

    /// The same, where that is all that keeps it from being local.
    pub fn reaching(self, reaches: Option<Reaches>) -> Self {
        Self { reaches: reaches.map(Box::new), ..self }
    }

    /// The stricter of the two. Of two in one class the one that is not local under any condition gives the reason.
    pub fn max(mut self, mut other: Self) -> Self {
        let local = self.local && other.local;
        let reaches = match (self.reaches.take(), other.reaches.take()) {
            (Some(one), Some(two)) => Some(Box::new(one.and(*two))),
            (Some(one), None) if other.local => Some(one),
            (None, Some(two)) if self.local => Some(two),
            _ => None,
        };
        let stricter = other.class > self.class || other.class == self.class && self.local && !other.local;
        let found = if stricter { other } else { self };
        Self { local, reaches, ..found }
    }
}

fn argv(call: &Call) -> Argv {
    let args = call.args.iter().map(|arg| arg.exact().map(str::to_owned));
    std::iter::once(Some(call.program.clone())).chain(args).collect()
}

/// With what each word of a call begins, program first; `None` for one that may fall into several.
fn begins(call: &Call) -> Argv {
    let of = |arg: &Arg| (arg.known != Known::Anything).then(|| arg.start().to_owned());
    std::iter::once(Some(call.program.clone())).chain(call.args.iter().map(of)).collect()
}

/// What a program is called whose name is only known when it runs.
const ONLY_KNOWN_LATER: &str = "a program that is only known when it runs";

/// The words of a call whose program is only known when it runs.
fn computed_argv(call: &Call) -> Argv {
    let args = call.args.iter().map(|arg| arg.exact().map(str::to_owned));
    std::iter::once(None).chain(args).collect()
}

/// Deepest chain of scripts in scripts and wrappers around wrappers.
const MAX_NESTED_CALLS: usize = 8;
/// Most calls that are judged: functions and the values of variables multiply them.
const MAX_CALLS: usize = 4096;
/// Most words of calls that are judged: each wrapper around others has the rest of theirs again.
const MAX_WORDS: usize = 65_536;
/// Why what comes behind a call that waits is not local.
const WAITED: &str = "it waits, and goes then by what is looked at now";
/// Most conditions of one command.
pub(super) const MAX_CONDITIONS: usize = 32;

/// Names of files that one command hands to the next one, each beginning with the folder that was searched.
#[derive(Debug, Clone)]
pub struct Names {
    /// The folders.
    pub below: Vec<String>,
    /// True when a NUL stands behind each, false for a newline.
    pub null: bool,
    /// Patterns of which each fits one; none where that is not known.
    pub found_by: Vec<String>,
}

/// Whether what comes in was fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fed {
    /// Nothing of it, as far as the text tells.
    Nothing,
    /// It was, if the command that writes it fetches: that stands behind.
    ByWhatStandsBehind,
    /// It was.
    Fetched,
}

/// What is put into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Nobody looked.
    Anything,
    /// Values for variables that steer nothing.
    PlainVariables,
}

/// What the words of a text mention that counts wherever it stands. Each word is looked at once.
#[derive(Debug, Default)]
struct Telling {
    looked_at: usize,
    gate: Vec<String>,
    network: Vec<String>,
}

/// Where files of others come in.
#[derive(Debug)]
struct Brought {
    /// The step.
    step: usize,
    /// How many calls stood in front of what stands behind; none in a loop, where all of them come again.
    calls_before: usize,
    /// A `cd` stands behind it.
    goes_behind: bool,
}

/// What a text changes for what it runs.
#[derive(Debug, Default)]
struct Changed {
    /// The environment of what runs here lacks PATH or PWD.
    cleared: bool,
    /// An earlier call of git has changed what git tracks.
    index_changed: bool,
    /// A variable was set that may say where the network's programs send.
    leads_elsewhere: bool,
    /// Folders that it makes.
    made: Vec<String>,
}

/// The state of a walk.
pub struct Judge<'t> {
    around: &'t Surroundings,
    effects: Effects,
    conditions: Vec<Condition>,
    /// The step of the outermost list that is at hand, counted from the first one.
    step: usize,
    /// The last step that goes by each condition.
    needed_at: Vec<usize>,
    /// What first brings files of others.
    brought: Option<Brought>,
    parts: Vec<Part>,
    calls: Vec<Argv>,
    /// The strictest part so far.
    whole: Judgement,
    /// Folders in which the next command may run.
    folders: Vec<Folder>,
    /// Wrappers and scripts in words around the call at hand.
    nested: usize,
    /// Constructs around the part at hand, for people who look at the tree.
    depth: usize,
    /// How many calls were judged, and how many words they had.
    judged: usize,
    judged_words: usize,
    /// Why the walk did not follow everything. What it left out may do anything that the text mentions.
    given_up: Option<&'static str>,
    /// Where the part at hand belongs in the list.
    place_of_part: Option<usize>,
    /// What comes in at the standard input of the command at hand.
    stdin: Fed,
    /// Something may run what it is fed by a command of which only the whole text tells whether it fetches.
    runs_what_it_is_fed: bool,
    /// The standard input of the command at hand lists files that were found below these folders.
    stdin_names: Option<Names>,
    /// The text that the part in front of this one prints into it, where that is literal.
    piped: Option<String>,
    /// What the command at hand puts into the files that it writes.
    content: Content,
    /// What reads commands from the terminal.
    terminal: TerminalWatch,
    /// Inside of something that runs beside the rest, and may still run when the command has ended.
    beside: usize,
    /// Files that were fetched, by name.
    fetched_files: Vec<String>,
    /// All literal words: where unknown files are read, their names may stand here.
    mentioned: Vec<String>,
    /// What of them was looked at once and for all: the parts of the gate and the programs that reach the network.
    telling: Telling,
    reads_unknown: bool,
    /// Folders that a `cd` led to, as far as their names are known.
    went_to: Vec<Arg>,
    /// Something was moved behind a `cd`: that folder, or one around it, may be another one's by now.
    moved_behind: usize,
    /// The calls of `cd` so far.
    went: usize,
    /// A `cd` has gone up from where another one had led.
    climbed: usize,
    /// Calls that do nothing but wait were met.
    waited: usize,
    /// Something was moved by what runs beside the rest: in a pipeline, or in the background.
    moved_beside: usize,
    /// Inside of so many of those.
    apart: usize,
    shell: Shell,
    /// What variables hold, by the assignments in the text.
    values: Values,
    /// Variables that are certainly set at this point, and functions (`name()`) that are certainly defined.
    bound: Bound,
    /// What the way to the call at hand says of what was read.
    flow: Flow,
    /// Inside of a function's body, where `local` works.
    in_function: bool,
    /// What the text changes for what it runs.
    changed: Changed,
}

/// Classifies a whole text that was understood.
pub(super) fn document(document: &Document, source: &str, around: &Surroundings) -> Classification {
    let mut judge = Judge::new(around, Values::of(document, around.shell));
    let functions = values::functions(document);
    judge.script(Source { document, text: source, functions: &functions });
    judge.finish(source)
}

/// Judges a call of a tool that is no shell, act by act.
pub(super) fn tool_call(name: &str, acts: &[ToolAct], around: &Surroundings) -> Classification {
    let mut judge = Judge::new(around, Values::default());
    for act in acts.iter().take(MAX_ACTS) {
        let (text, judgement) = match act {
            ToolAct::Read { path } => (path, judge.read(&Arg::literal(path))),
            ToolAct::Search { path } => (path, judge.read_tree(&Arg::literal(path))),
            ToolAct::Write { path } => (path, judge.write(&Arg::literal(path))),
            ToolAct::Fetch { address } => (address, judge.fetch(name, address)),
        };
        judge.add(text, name, judgement);
    }
    if acts.len() > MAX_ACTS {
        judge.given_up = Some("it does more than is kept of it");
    }
    let source: Vec<&str> = judge.parts.iter().map(|part| part.text.as_str()).collect();
    let source = source.join("\n");
    judge.finish(&source)
}

impl<'t> Judge<'t> {
    fn new(around: &'t Surroundings, values: Values) -> Self {
        let start = around.cwd.clone().map_or(Folder::Start, Folder::At);
        Self {
            around,
            effects: Effects::default(),
            conditions: Vec::new(),
            step: 0,
            needed_at: Vec::new(),
            brought: None,
            parts: Vec::new(),
            calls: Vec::new(),
            whole: Judgement::safe(),
            folders: vec![start],
            nested: 0,
            depth: 0,
            judged: 0,
            judged_words: 0,
            given_up: None,
            place_of_part: None,
            stdin: Fed::Nothing,
            runs_what_it_is_fed: false,
            content: Content::Anything,
            stdin_names: None,
            piped: None,
            terminal: TerminalWatch::default(),
            beside: 0,
            fetched_files: Vec::new(),
            mentioned: Vec::new(),
            telling: Telling::default(),
            reads_unknown: false,
            went_to: Vec::new(),
            moved_behind: 0,
            went: 0,
            climbed: 0,
            waited: 0,
            moved_beside: 0,
            apart: 0,
            shell: around.shell,
            values,
            bound: Bound::default(),
            flow: Flow::default(),
            in_function: false,
            changed: Changed::default(),
        }
    }
}

/// Words of calls, and names of files in them, that hold what stands around words in a reason: the longest first.
fn odd_words(calls: &[Argv]) -> Vec<&str> {
    let words = calls.iter().flatten().flatten().map(String::as_str).filter(|word| word.contains('`'));
    let mut odd: Vec<&str> =
        words.flat_map(|word| [word, paths::file_name(word)]).filter(|word| word.contains('`')).collect();
    odd.sort_by_key(|word| std::cmp::Reverse(word.len()));
    odd.dedup();
    odd
}

/// A reason in which no word of the command passes for words of ours.
fn told(reason: String, odd: &[&str]) -> String {
    odd.iter().fold(reason, |reason, word| reason.replace(word, &word.replace('`', "\\u{60}")))
}

impl Judge<'_> {
    /// Counts a call with so many words. An error when it cannot be followed any more; the text then counts as not understood.
    fn follow(&mut self, words: usize) -> Result<(), &'static str> {
        self.judged += 1;
        self.judged_words += words;
        let why = if self.nested >= MAX_NESTED_CALLS {
            "wrappers, functions or scripts are nested too deep"
        } else if self.judged >= MAX_CALLS || self.judged_words >= MAX_WORDS {
            "it has more calls than are followed"
        } else {
            return Ok(());
        };
        self.given_up.get_or_insert(why);
        Err(why)
    }

    fn finish(mut self, source: &str) -> Classification {
        self.effects.runs_fetched |= self.runs_what_it_is_fed && !self.effects.untrusted.is_empty();
        self.effects.reads_unknown |= self.reads_unknown;
        if self.reads_unknown {
            for word in std::mem::take(&mut self.mentioned) {
                let name = paths::file_name(word.trim_end_matches('/'));
                if secrets::is_secret_path(&word) || word.contains('/') && secrets::is_secret_folder(name) {
                    note(&mut self.effects.secrets, word);
                }
            }
        }
        if self.effects.is_cut() {
            self.given_up.get_or_insert("it does more than is kept of it");
        }
        if let Some(why) = self.given_up {
            let mentioned = raw::effects(source, self.around);
            self.join_effects(mentioned);
            self.is_at_least(Judgement::unknown(format!("not understood: {why}")));
        }
        // Where `..` leads is up to which of both is first.
        if self.moved_beside > 0 {
            self.is_at_least(Judgement::unknown("something is moved beside what may stand in it"));
        }
        // A command that writes could write what its own condition has looked at.
        let undermines = |condition: &Condition| undermines(&self.effects, &self.changed, condition);
        let undermined = self.conditions.iter().any(undermines);
        // What goes on in the background does so when nobody listens any more.
        let is_all = self.given_up.is_none() && self.effects.jobs == 0 && !self.changed.leads_elsewhere && !undermined;
        // What comes in may be what another part has looked at before.
        // A file that is written and named is none of those at home.
        let harms = |condition: &Condition| match condition {
            Condition::NoFileAbove { folder, names } if folder == "~" => {
                let is_one = |path: &String| names.iter().any(|name| paths::file_name(name) == paths::file_name(path));
                self.effects.writes.iter().any(is_one)
            }
            condition => undermines(condition),
        };
        let may_leave = |part: &Part| programs::may_leave(&part.argv);
        let opens = !self.effects.reads.is_empty() || self.effects.reads_unknown || !self.effects.writes.is_empty();
        let stays = |reaches: &Reaches| {
            let goes_on =
                || self.flow.says_nothing(opens) && !self.parts.iter().any(may_leave) && !raw::may_break_off(source);
            is_all
                && (!reaches.only_reads() || goes_on())
                && !self.effects.sets.iter().any(|name| crate::variables::steers_client(name))
                && !reaches.conditions.iter().any(harms)
                && reaches.holds_throughout()
                && !reaches.makes_what_acts(self.around.cwd.as_deref())
                && self.rest_on_what_came().all(|condition| reaches.leaves(condition))
                && (reaches.brings == Brings::Nothing || !self.looks_elsewhere_behind())
        };
        if self.whole.reaches.as_deref().is_some_and(|reaches| !stays(reaches)) {
            self.whole.reaches = None;
        }
        // Git's settings it has looked at, and not which folders are repositories that it tracks by then.
        let looks_below = |one: &Condition| !matches!(one, Condition::GitIsInert { work: GitWork::Reads, .. });
        let looks_below = self.rest_on_what_came().any(looks_below)
            || self.brought.is_some() && self.effects.git.iter().any(|name| git::looks_into_tracked(name));
        if let Some(reaches) = self.whole.reaches.as_deref_mut().filter(|_| looks_below) {
            reaches.with_no_repository_below();
        }
        let decided = if !self.whole.local || undermined || !self.effects.nothing_to_report() {
            Decided::Host
        } else if self.conditions.is_empty() {
            Decided::Local
        } else {
            Decided::LocalIf
        };
        // Where nobody looks into it, it is what its name says.
        if decided == Decided::Host {
            for condition in &self.conditions {
                if let Condition::OnlyPublic { path } = condition {
                    note(&mut self.effects.secrets, path.clone());
                }
            }
        }
        let reaches = self.whole.reaches.take().map(|reaches| *reaches);
        let Judgement { class, mut reason, .. } = self.whole;
        if reason.is_empty() && undermined {
            "it may change what would have to be looked at first".clone_into(&mut reason);
        } else if reason.is_empty() && decided == Decided::Host {
            reason = why_reported(&self.effects);
        } else if reason.is_empty() {
            "every program in it is local in the way it is called".clone_into(&mut reason);
        }
        let odd = odd_words(&self.calls);
        for part in &mut self.parts {
            part.reason = told(std::mem::take(&mut part.reason), &odd);
        }
        Classification {
            class,
            decided,
            conditions: self.conditions,
            reason: told(reason, &odd),
            effects: self.effects,
            parts: self.parts,
            calls: self.calls,
            reads_terminal: self.terminal.into_found(),
            understood: self.given_up.is_none(),
            reaches,
        }
    }

    /// True where git, or what asks it, finds its folder by a name behind what brings files: that may be another folder by then, also under
    /// the same name. Where it stays in the one in which it is, that one is it.
    fn looks_elsewhere_behind(&self) -> bool {
        let is_git = |call: &&Argv| {
            let program = call.first().and_then(Option::as_deref).unwrap_or_default();
            git::is_git(program)
                || crate::programs::kind_of(paths::file_name(program)) == Some(crate::programs::Kind::Network)
        };
        let names = |call: &Argv| {
            call.iter().skip(1).any(|word| {
                word.as_ref().is_none_or(|word| {
                    word.starts_with("-C") || word.starts_with("--git-dir") || word.starts_with("--work-tree")
                })
            })
        };
        let Some(brought) = &self.brought else { return false };
        let mut behind = self.calls.iter().skip(brought.calls_before).filter(is_git).peekable();
        behind.peek().is_some() && brought.goes_behind || behind.any(names)
    }

    /// The conditions by which something goes when files of others may have come in.
    fn rest_on_what_came(&self) -> impl Iterator<Item = &Condition> {
        let conditions = self.conditions.iter().zip(&self.needed_at);
        conditions
            .filter(|(_, at)| self.brought.as_ref().is_some_and(|brought| brought.step <= **at))
            .map(|(condition, _)| condition)
    }

    /// Adds a part with its class, and joins the class into the whole.
    fn add(&mut self, text: &str, rule: &str, judgement: Judgement) {
        self.add_call(text, rule, judgement, (Argv::new(), Argv::new()));
    }

    /// The same for a call, with its words and with what each begins.
    fn add_call(&mut self, text: &str, rule: &str, judgement: Judgement, (argv, begins): (Argv, Argv)) {
        // How often it asks, and for which of several, says something of what was read.
        let Judgement { class, reason, local, reaches } = judgement;
        let is_free = |reaches: &Reaches| self.flow.is_free() || self.flow.branches == 0 && !reaches.only_reads();
        let reaches = reaches.filter(|reaches| is_free(reaches));
        if reaches.as_ref().is_some_and(|reaches| reaches.only_reads() && !reaches.places.is_empty()) {
            self.flow.asks();
        }
        if let Some(program) = argv.first().and_then(Option::as_deref) {
            let builtin = programs::builtin_of(program);
            let goes = builtin == Some(Builtin::GoesTo);
            let speaks = matches!(builtin, Some(Builtin::Text | Builtin::Format));
            // Where it is and what words mean then may be up to what was read.
            if programs::is_builtin(program) && !speaks && !goes || goes && !self.flow.is_free() {
                self.flow.changes_shell();
            }
            let is_network = programs::row(program).is_some_and(|row| row.kind == programs::Kind::Network);
            let asks = is_network || reaches.is_some();
            let is_known = argv.iter().all(Option::is_some);
            if !(asks || speaks || self.stdin == Fed::Fetched) {
                self.flow.opens();
            }
            self.flow.in_group(asks, !(asks || goes || speaks && is_known));
        }
        if reaches.as_ref().is_some_and(|reaches| reaches.brings > Brings::Nothing) {
            let calls_before = if self.depth == 0 { self.calls.len() } else { 0 };
            self.brought.get_or_insert(Brought { step: self.step, calls_before, goes_behind: false });
        }
        let told = if reason.is_empty() && class > CommandClass::Safe { rule.to_owned() } else { reason.clone() };
        self.is_at_least(Judgement { class, reason: told, local, reaches });
        let fed = self.terminal.input.fed;
        let (text, rule, depth) = (text.to_owned(), rule.to_owned(), self.depth);
        let part = Part { text, class, local, depth, rule, reason, argv, begins, fed };
        // The values of variables may bring the same call many times.
        if self.parts.last() == Some(&part) || self.parts.len() >= MAX_CALLS {
            return;
        }
        // A command stands before the scripts in its own words, which were looked at first.
        match self.place_of_part.take().filter(|at| *at < self.parts.len()) {
            Some(at) => self.parts.insert(at, part),
            None => self.parts.push(part),
        }
    }

    /// The whole command is no less than this.
    fn is_at_least(&mut self, judgement: Judgement) {
        self.whole = std::mem::replace(&mut self.whole, Judgement::safe()).max(judgement);
    }

    /// Something that the hook must check before it lets the command through.
    pub fn condition(&mut self, condition: Condition) {
        // What is looked at now may be another thing when somebody has had time to exchange it.
        if self.waited > 0 {
            self.is_at_least(Judgement::unknown(WAITED));
        }
        if let Some(at) = self.conditions.iter().position(|one| *one == condition) {
            if let Some(needed_at) = self.needed_at.get_mut(at) {
                *needed_at = self.step;
            }
            return;
        }
        // What is looked at now may be another thing when a job in the background gets there.
        if self.beside > 0 {
            self.is_at_least(Judgement::unknown("a job in the background goes by what is looked at now"));
        }
        if self.conditions.len() >= MAX_CONDITIONS {
            self.whole.local = false;
            self.whole.reaches = None;
            return;
        }
        self.conditions.push(condition);
        self.needed_at.push(self.step);
    }

    /// True when the shell that will read the text at hand is known to be bash.
    pub fn is_bash(&self) -> bool {
        self.shell == Shell::Bash
    }

    /// True when the shell itself runs the call at hand, not a wrapper.
    pub fn is_direct(&self) -> bool {
        self.nested <= 1
    }

    /// What setting a variable means.
    fn assignment(&self, name: &str) -> Judgement {
        crate::variables::harm_of_setting(name, self.shell)
            .map_or_else(Judgement::safe, |harm| Judgement::unknown(format!("setting `{name}` {harm}")))
    }

    /// As [`assignment`](Self::assignment), where more of the value is known than nothing: `None` for what is not.
    pub fn assignment_of(&mut self, name: &str, value: Option<&str>) -> Judgement {
        self.changed.leads_elsewhere |= crate::variables::leads_network(name);
        self.sets(name);
        if crate::variables::is_locale(name) && !value.is_some_and(crate::variables::is_plain_locale) {
            return Judgement::unknown(format!("`{name}` may choose in which letters the shell reads"));
        }
        self.assignment(name)
    }

    /// A variable is set, or a function (`name()`) defined.
    pub(super) fn sets(&mut self, name: &str) {
        let name = name.split('[').next().unwrap_or(name).trim_end_matches('+');
        note(&mut self.effects.sets, name);
    }

    /// Any variable may be set, or names mean something else from now on.
    pub(crate) fn sets_any(&mut self) {
        note(&mut self.effects.sets, ANY);
    }

    /// The shell evaluates what is only known when it runs: that may set any variable, or run anything.
    fn evaluates_any(&mut self) {
        self.sets_any();
        self.effects.evaluates_unknown = true;
    }

    /// As [`inner_call`](Self::inner_call), of a program whose environment lacks PATH or PWD.
    pub fn inner_call_cleared(&mut self, args: &[Arg], outer: &Call) -> Judgement {
        let before = std::mem::replace(&mut self.changed.cleared, true);
        let judgement = self.inner_call(args, outer);
        self.changed.cleared = before;
        judgement
    }

    /// Notes that a call of git looks at, or changes, what git tracks. True when an earlier call, or this one in another round
    /// of a loop, may have brought a repository in the repository into it.
    pub fn git_meets_new(&mut self, looks: bool, changes: bool) -> bool {
        let meets = looks && (self.changed.index_changed || changes && self.depth > 0);
        self.changed.index_changed |= changes;
        meets
    }
}

/// True for effects that may change what a condition has looked at.
fn undermines(effects: &Effects, changed: &Changed, condition: &Condition) -> bool {
    let writes = |harms: &dyn Fn(&str) -> bool| effects.writes.iter().any(|path| harms(path));
    match condition {
        // The lists by which it passes something by.
        Condition::NoSecretBelow { passed_by, .. } if passed_by.hidden => {
            writes(&passed_by::is_list)
                || changed.made.iter().any(|path| passed_by::is_list(path))
                || effects.git.iter().any(|name| git::checks_out(name))
        }
        Condition::NoSecretBelow { .. } | Condition::NoSecretNamed { .. } | Condition::NoLinkBelow { .. } => false,
        // A folder that an earlier part makes.
        Condition::NoFolder { path: folder } => changed.made.iter().any(|path| paths::is_within(path, folder)),
        // What is ignored, and what comes to lie there.
        Condition::NoSecretAdded { .. } => {
            writes(&|path| paths::file_name(path) == ".gitignore" || secrets::is_secret_path(path))
        }
        // What is written brings folders with it, and what git records brings files of its own.
        Condition::NoDashNames { .. } => {
            writes(&|path| path.split('/').any(|part| part.starts_with('-')))
                || effects.git.iter().any(|name| git::records(name))
        }
        Condition::PlainNamesBelow { .. } => writes(&|_| true) || effects.git.iter().any(|name| git::records(name)),
        Condition::NoFileAbove { .. } => writes(&|_| true),
        Condition::GitNumbers { .. } => effects.git.iter().any(|name| git::records(name)),
        // A commit is one more of them.
        Condition::GitShowsNoSecret { .. } => effects.git.iter().any(|name| name == "commit"),
        Condition::GitIsInert { shows, .. } => {
            writes(&|_| true)
                || changed.index_changed
                    && (shows.is_content() || effects.git.iter().any(|name| git::looks_into_tracked(name)))
        }
        Condition::Folder { path: folder } => writes(&|path| paths::is_within(folder, path)),
        Condition::OnlyPublic { path: file } => {
            writes(&|path| paths::is_within(file, path) || paths::file_name(file) == paths::file_name(path))
        }
    }
}

/// Why somebody is to know of a command whose programs are all local.
fn why_reported(effects: &Effects) -> String {
    let lists = [
        ("it touches the gate itself", &effects.tampering),
        ("it changes what runs later", &effects.persistence),
        ("it changes what steers builds, CI or agents", &effects.steering),
        ("it reads a secret", &effects.secrets),
    ];
    let first = lists.into_iter().find_map(|(what, list)| Some(format!("{what} ({})", list.first()?)));
    first.unwrap_or_else(|| "what it does is to be on record".to_owned())
}
