//! The gate: may this command run? Here when it is provably local, else the host is asked.
//!
//! In the order of a question's way: [`check`] reads the command ([`Look`]), with the git guard ([`git`]) and what only the
//! container can tell ([`conditions`]); what is not settled by that becomes a [`HostRequest`], with [`evidence`], and
//! [`Step::finish`] waits for the host's signed answer ([`ask`]). [`cage`] says what could run caged instead. With what may
//! not be harmless goes what acts later in the project ([`acting`]), before and, in a report, behind it. Behind all of that an
//! operator's own programs may deny ([`plugins`]).
//!
//! It knows no agent, and does nothing to its process: no timers, no signals, no output. Whoever calls it guards the wait
//! for [`HostRequest::longest_wait`] in a way of their own.

pub mod acting;
pub mod ask;
pub mod cage;
pub mod conditions;
pub mod config;
mod decision;
pub mod egress;
pub mod evidence;
pub mod git;
pub mod held;
pub mod inward;
mod listing;
pub mod plugins;
mod real;
mod report;
pub mod shown;
pub mod started;
pub mod tool;
pub mod words;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read as _, Take};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashgate_shared::cage::{self as caged, Note};
use bashgate_shared::classify::secrets;
use bashgate_shared::classify::{Argv, Classification, CommandClass, Decided, Effects, Surroundings, classify};
use bashgate_shared::command::{CommandLine, Digest};
use bashgate_shared::mailbox;
use bashgate_shared::programs::{self, handed_out::HandedOut};
use bashgate_shared::protocol::{
    BASH_CHECK, BashCheckWire, FileEvidence, IN_BACKGROUND, MAX_LABEL_BYTES, RequestId, Response, RunnerWire,
    ScriptWire, VERSION,
};
use bashgate_shared::shell::Shell;

pub use decision::{HookDecision, LetThroughBy};
pub use report::{Aftermath, CommandRan};

use crate::agents::SetVariable;
use ask::AskError;
use conditions::{Findings, ShellSetup};
use config::{Config, WhenSilent};
use git::brought::Brought;
use git::guard;

/// How much longer than the wait itself a question may take before it counts as hung.
const GRACE: Duration = Duration::from_secs(5);

/// May this command run?
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the asker, of its own")]
pub struct Question<'q> {
    /// The command.
    pub command: &'q CommandLine,
    /// Where it would run; absolute.
    pub cwd: &'q Path,
    /// Who asks, for the audit.
    pub asker: &'q str,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// The agent's id of the call, for the audit.
    pub tool_use_id: Option<String>,
    /// Set when bashgate's own Bash tool asks.
    pub runner: Option<RunnerWire>,
    /// Set when the command is a managed script: the host is then always asked.
    pub script: Option<ScriptWire>,
    /// The asker can run another text in the command's place.
    pub rewrites: bool,
    /// The asker runs the command itself, in a sandbox that it can hold to the hosts that the host's answer names.
    pub keeps_to_hosts: bool,
    /// The shell that will run it is known to read start-up files, or a snapshot made from them.
    pub reads_startup_files: bool,
    /// The asker can type into a terminal that is open already, and the gate is not asked about that.
    pub types_past_gate: bool,
    /// Why nobody here can say what it does, if so.
    pub doubt: Option<&'static str>,
    /// The asker goes on while it runs, so that what is looked at before may be another thing by then.
    pub background: bool,
    /// What the asker's settings set for the commands that it runs.
    pub set_for_commands: &'q [SetVariable],
    /// What else it is asked with, for people and for what an approval is bound to.
    pub asked_with: &'q [String],
}

/// What comes next.
#[derive(Debug)]
#[must_use]
pub enum Step {
    /// Nothing: this is the decision.
    Decided(HookDecision),
    /// The host is to be asked.
    Ask(Box<HostRequest>),
}

impl Step {
    /// Goes through to the decision; `before_waiting` hears how long that may take.
    pub fn finish(self, config: &Config, before_waiting: impl FnOnce(Duration)) -> HookDecision {
        self.finish_with_bounds(config, before_waiting).decision
    }

    /// The same, with what the answer is bound to.
    pub fn finish_with_bounds(self, config: &Config, before_waiting: impl FnOnce(Duration)) -> Finished {
        match self {
            Self::Decided(decision) => Finished { decision, answer: None, is_allowed: false, bound: None },
            Self::Ask(request) => {
                before_waiting(HostRequest::longest_wait(config));
                let bound = match &request.about {
                    About::Command { bound, .. } => Some(bound.clone()),
                    About::Input(_) | About::Ran => None,
                };
                let answer = Some(request.id.clone());
                let (decision, is_allowed) = request.put(config);
                Finished { decision, answer, is_allowed, bound }
            }
        }
    }
}

/// A decision, and what it is bound to.
#[derive(Debug)]
pub struct Finished {
    /// The decision.
    pub decision: HookDecision,
    /// The answer of the host's that it comes from, where the host was asked.
    pub answer: Option<RequestId>,
    /// The host has allowed it: somebody did, or the policy.
    pub is_allowed: bool,
    /// What an approval is about besides the text.
    pub bound: Option<Box<Bound>>,
}

/// A command as the container alone can judge it.
#[derive(Debug)]
pub struct Look {
    /// What its text says.
    pub found: Classification,
    /// What the container says.
    pub findings: Findings,
}

impl Look {
    /// Looks at a command without asking anybody.
    pub fn at(command: &CommandLine, cwd: &Path, around: &Surroundings, setup: ShellSetup<'_>) -> Self {
        let found = classify(command, around);
        let mut findings = if found.decided == Decided::Host {
            conditions::secrets_met(&found, cwd)
        } else {
            conditions::check(&found, cwd, &around.protected, setup)
        };
        let known = |name: &String| found.effects.secrets.contains(name);
        // Also in words that the shell puts together.
        let words = found.calls.iter().flatten().filter_map(Option::as_deref);
        let named = variables_with_credentials(std::iter::once(command.text()).chain(words));
        findings.secrets.extend(named.filter(|name| !known(name)));
        Self { found, findings }
    }

    /// True when it is not decided here and calls something by a name that has no row of ours.
    fn names_the_unknown(&self) -> bool {
        let unknown = |program: &String| !program.contains('/') && programs::row(program).is_none();
        self.found.decided == Decided::Host && self.found.effects.programs.iter().any(unknown)
    }

    /// True when it is provably local, and there is nothing that the host would have to know.
    pub fn is_proven_local(&self) -> bool {
        self.found.decided != Decided::Host && self.findings.is_clear()
    }
}

/// Variables of the environment that hold credentials by their form, whatever they are called, and that these texts name.
fn variables_with_credentials<'t>(texts: impl Iterator<Item = &'t str>) -> impl Iterator<Item = String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names = texts.flat_map(|text| text.split(move |letter| !is_letter(letter)));
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    // What such a name says has been judged where it stands.
    let is_judged = |name: &&str| secrets::is_secret_variable(name);
    let value = |name: &str| std::env::var_os(name).filter(|value| shown::is_credential(&value.to_string_lossy()));
    names.into_iter().filter(move |name| !is_judged(name) && value(name).is_some()).map(|name| format!("${name}"))
}

/// Other absolute names of the working directory: the one without links, and the one that the shell may have for it.
fn other_names_of(cwd: &Path) -> Vec<PathBuf> {
    let Ok(real) = std::fs::canonicalize(cwd) else { return Vec::new() };
    let by_shell = std::env::var_os("PWD").map(PathBuf::from).filter(|path| {
        path.is_absolute() && path != cwd && *path != real && std::fs::canonicalize(path).is_ok_and(|path| path == real)
    });
    let real = (real != cwd).then_some(real);
    real.into_iter().chain(by_shell).collect()
}

/// The operator's own programs, as the host has handed them out.
enum Own {
    /// There are none.
    None,
    /// They are there and cannot be read: what they narrow is not known.
    Broken,
    /// They are there.
    Some(HandedOut<BufReader<Take<File>>>),
}

impl Own {
    fn read(config: &Config) -> Self {
        let file = config.mailbox.join(mailbox::RESPONSES).join(mailbox::PROGRAMS);
        match ask::open_plain(&file) {
            Ok(file) => HandedOut::read(BufReader::with_capacity(4096, file.take(mailbox::MAX_PROGRAMS_BYTES)))
                .map_or(Self::Broken, Self::Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::None,
            Err(_) => Self::Broken,
        }
    }
}

/// Decides one command as far as that goes without the host.
pub fn check(question: &Question<'_>, config: &Config) -> Step {
    let Question { command, cwd, .. } = *question;
    if command.is_blank() {
        return Step::Decided(HookDecision::Allow(LetThroughBy::Hook));
    }
    let protected = config.protected();
    let mut around = Surroundings {
        shell: config.shell,
        cwd: cwd.to_str().map(str::to_owned),
        protected: protected.clone(),
        programs: None,
    };
    let own = Own::read(config);
    if let Own::Some(handed_out) = &own {
        around.programs = handed_out.narrowing;
    }
    let setup = ShellSetup {
        reads_startup_files: config.startup_files.count(question.reads_startup_files),
        trusted: &config.trusted_startup,
    };
    let mut look = Look::at(command, cwd, &around, setup);
    // Checking a row takes time, so it is only done where a name has no row of ours.
    let is_broken = matches!(own, Own::Broken);
    let known = match own {
        Own::Some(handed_out) if look.names_the_unknown() => {
            let called = |name: &str| look.found.effects.programs.iter().any(|program| program == name);
            handed_out.rows(&called, &config.public_key)
        }
        Own::None | Own::Broken | Own::Some(_) => None,
    };
    if let Some(known) = known {
        around.programs = Some(known.programs);
        look = Look::at(command, cwd, &around, setup);
    }
    // To a shell, `..` is what stands in front of the folder's name, and the same folder may have several.
    for other in other_names_of(cwd) {
        let around = Surroundings { cwd: other.to_str().map(str::to_owned), ..around.clone() };
        let there = Look::at(command, &other, &around, setup);
        if look.is_proven_local() && !there.is_proven_local() {
            look.findings
                .unproven
                .push(format!("it is not proven to be local from {}, which is the same folder", other.display()));
            look.findings.secrets.extend(there.findings.secrets);
        }
    }
    look.findings.unproven.extend(question.doubt.map(str::to_owned));
    let set = question.set_for_commands.iter();
    look.findings.unproven.extend(set.filter_map(|set| set.doubt(&look.found.effects.programs)));
    if question.background && (!look.found.conditions.is_empty() || !look.found.effects.writes.is_empty()) {
        let why = "it goes on in the background, while what was looked at may become another thing";
        look.findings.unproven.push(why.to_owned());
    }
    // A link on the way of what is read then may lead elsewhere then.
    let effects = &look.found.effects;
    let later = if question.background { &effects.reads } else { &effects.reads_beside };
    let leads_through_link = |path: &String| match conditions::place(path, cwd) {
        Some(place) => real::meets_link(&place),
        None => true,
    };
    if let Some(path) = later.iter().find(|path| leads_through_link(path)) {
        let why = format!("{path} is read in the background, and a link on its way may lead elsewhere by then");
        look.findings.unproven.push(why);
    }
    // What git puts somewhere has no name in the text.
    let brought = git::brought::by(&look.found.calls, &look.found.effects, cwd);
    if let Some(path) = brought.lost.first() {
        look.findings.unproven.push(format!("{path}, a part of the gate that nobody has committed, would go"));
    }
    if let Some(path) = brought.brought.first() {
        look.findings.unproven.push(format!("git would put another file in the place of {path}, a part of the gate"));
    }
    if is_broken {
        let why = "the operator's own programs cannot be read here, and they may narrow it";
        look.findings.unproven.push(why.to_owned());
    }
    if let Some(program) = look.found.reads_terminal.as_ref().filter(|_| question.types_past_gate) {
        return Step::Decided(HookDecision::deny(format!(
            "`{program}` would read commands from its terminal, where no hook sees them; give it a script, `-c` or its input"
        )));
    }
    if let Some(subcommand) = guard::denied(&look.found.effects, &config.git_deny, cwd) {
        return Step::Decided(HookDecision::deny(format!("git {subcommand} is blocked: {}", config.git_reason)));
    }
    let refused = question.runner.as_ref().and_then(|runner| runner.refused.clone());
    let caged = |note| cage::form_of(question, command, &look.found, config, setup, note);
    if look.is_proven_local() && refused.is_none() && question.script.is_none() {
        let is_worth_it = config.cage_safe && caged::loses_nothing_inside(&look.found, command.text());
        let form = if is_worth_it { caged(Note::OnFailure) } else { None };
        return Step::Decided(form.map_or(HookDecision::Allow(LetThroughBy::Hook), |form| HookDecision::Cage { form }));
    }
    let form = caged(Note::Always);
    let Some(id) = ask::new_id() else {
        return Step::Decided(HookDecision::deny("cannot make a request id"));
    };
    let is_plain = look.findings.is_clear() && refused.is_none() && question.script.is_none() && !question.background;
    let instead = match &form {
        Some(_) => egress::form(command, config, &id),
        None => question.keeps_to_hosts.then(|| command.text().to_owned()),
    };
    let outward =
        instead.filter(|_| is_plain).and_then(|form| egress::of(form, command, &look.found, cwd, config, setup));
    let Look { found, findings } = look;
    let doubt = findings.unproven.first().or(findings.unlooked.first()).or(findings.secrets.first());
    // Of a Safe command the reason is what it shows.
    let shows = found.effects.secrets.first().filter(|_| found.class == CommandClass::Safe);
    let shows = shows.map(|secret| format!("it reads a secret ({secret})"));
    let why_asked = doubt.cloned().or(shows).unwrap_or_else(|| found.reason.clone());
    let subject = evidence::Subject::new(command.text(), &found, cwd, setup);
    let evidence = evidence::of(&subject);
    let leads_to = conditions::leads_to(&found.effects, cwd);
    let bound = Bound {
        evidence: evidence.clone(),
        commits: evidence::of_commits(&subject),
        leads_to: leads_to.clone(),
        calls: found.calls.clone(),
        brought: brought.clone(),
        subject,
    };
    let in_background = question.background.then(|| IN_BACKGROUND.to_owned());
    let asked_with = whole(in_background.into_iter().chain(question.asked_with.iter().cloned()).collect());
    let wire = BashCheckWire {
        kind: BASH_CHECK.to_owned(),
        request_id: id.to_string(),
        command: command.text().to_owned(),
        v: Some(VERSION),
        cwd: around.cwd,
        agent: Some(question.asker.to_owned()),
        session: question.session.clone(),
        tool_use_id: question.tool_use_id.clone(),
        timeout_ms: Some(config.deadline_s * 1000),
        other_shell: config.shell != Shell::Bash,
        protected,
        locked: true,
        key_id: Some(config.public_key.id()),
        evidence,
        secrets: told(findings.secrets),
        unproven: told(findings.unproven),
        unlooked: told(findings.unlooked),
        asked_with,
        leads_to: told(brought.lost.iter().cloned().chain(leads_to).collect()),
        brings: told(brought.brought.clone()),
        runner: question.runner.clone(),
        script: question.script.clone(),
        caged_form: form.as_ref().map(|form| Digest::of(form.as_bytes()).hex()),
        programs: known.map(|known| known.digest.hex()),
        egress: outward.as_ref().map(|outward| outward.wire.clone()),
        // The Bash tool looks by itself at what its runs leave.
        acting: (question.runner.is_none() && found.class != CommandClass::Safe).then(|| acting::look(cwd)),
    };
    let outward = outward.map(|outward| outward.form);
    HostRequest::step_of(
        id,
        &wire,
        About::Command { why_asked, form: form.clone(), outward, refused, bound: Box::new(bound) },
    )
}

impl About {
    /// What writes nothing.
    const fn input_without_writes() -> Self {
        Self::Input(None)
    }
}

/// A question for the host, ready to be put.
#[derive(Debug)]
pub struct HostRequest {
    id: RequestId,
    bytes: Vec<u8>,
    about: About,
}

/// The files that were told about, to see behind the answer that they are still the same.
#[derive(Debug, Clone)]
pub struct Bound {
    subject: evidence::Subject,
    evidence: Vec<FileEvidence>,
    /// What git would send by itself.
    commits: Vec<FileEvidence>,
    /// Where what it writes really lies.
    leads_to: Vec<String>,
    /// What it calls, and what git would do to parts of the gate then.
    calls: Vec<Argv>,
    brought: Brought,
}

impl Bound {
    /// The files that the host was told about, with their digests.
    pub fn evidence(&self) -> &[FileEvidence] {
        &self.evidence
    }

    /// Where what the answer rests on lies, as far as it is known: what was told about, and whatever the command names besides. Empty where
    /// nothing was told about.
    pub fn places(&self) -> Vec<PathBuf> {
        if self.evidence.is_empty() && self.commits.is_empty() {
            return Vec::new();
        }
        let told = self.evidence.iter().chain(&self.commits).map(|file| file.path.as_str());
        places_of(&self.subject.effects, &self.calls, told, &self.subject.cwd)
    }

    /// The first file that is another one now, has come or gone.
    pub fn changed(&self) -> Option<String> {
        let Self { subject, .. } = self;
        other_file(&evidence::of(subject), &self.evidence)
            .or_else(|| other_file(&evidence::of_commits(subject), &self.commits))
            .or_else(|| other_place(&subject.effects, &subject.cwd, &self.leads_to))
            .or_else(|| {
                let brought = git::brought::by(&self.calls, &subject.effects, &subject.cwd);
                (brought != self.brought).then(|| "what git would do to the gate".to_owned())
            })
    }
}

/// Where everything lies that a command goes by, as far as it is known: what it reads and runs, where git starts, what its words name, and
/// what was told about.
pub fn places_of<'t>(
    effects: &'t Effects,
    calls: &[Argv],
    told: impl Iterator<Item = &'t str>,
    cwd: &Path,
) -> Vec<PathBuf> {
    let named = [&effects.reads, &effects.named, &effects.runs, &effects.git_in].into_iter().flatten();
    let copied = effects.copies.iter().map(|(from, _)| from);
    let mut places = vec![cwd.to_owned()];
    // What is told about may be a path, or words in which some stand.
    for text in named.chain(copied).map(String::as_str).chain(told) {
        let words = text.split([' ', ',', '"', '\'', '`', ':']).filter(|word| word.contains('/'));
        places.extend(words.chain([text]).filter_map(|word| conditions::place(word, cwd)));
    }
    let words = calls.iter().flatten().flatten();
    let there = words.filter_map(|word| conditions::place(word, cwd)).filter(|path| path.symlink_metadata().is_ok());
    places.extend(there);
    places.sort();
    places.dedup();
    places
}

/// The same of a call of another tool.
#[derive(Debug, Clone)]
struct BoundInput {
    /// What the agent calls it.
    tool: String,
    effects: Effects,
    /// What it hands over.
    sent: String,
    cwd: PathBuf,
    read: Vec<FileEvidence>,
    leads_to: Vec<String>,
}

impl BoundInput {
    fn changed(&self) -> Option<String> {
        let read = evidence::of_reads(&self.tool, &self.effects, &self.sent, &self.cwd);
        other_file(&read, &self.read).or_else(|| other_place(&self.effects, &self.cwd, &self.leads_to))
    }
}

/// What to say where a link leads what is written elsewhere than before.
fn other_place(effects: &Effects, cwd: &Path, before: &[String]) -> Option<String> {
    (conditions::leads_to(effects, cwd) != before).then(|| "where it writes".to_owned())
}

/// The first file that is not the same in both.
fn other_file(now: &[FileEvidence], before: &[FileEvidence]) -> Option<String> {
    let lacks = |these: &[FileEvidence], those: &[FileEvidence]| {
        these.iter().find(|file| !those.contains(file)).map(|file| file.path.clone())
    };
    lacks(now, before).or_else(|| lacks(before, now))
}

/// What a question is about, as far as its answer depends on it.
#[derive(Debug)]
enum About {
    /// A command that would run.
    Command {
        /// Why it was not decided here.
        why_asked: String,
        /// The same command in the cage, where it may run there.
        form: Option<String>,
        /// The same with a way out, where it may run so.
        outward: Option<String>,
        /// Why it is refused whatever the answer is: it is only to be on record.
        refused: Option<String>,
        /// What the answer is about besides the text.
        bound: Box<Bound>,
    },
    /// Another tool: what it reads, and where what it writes really lies.
    Input(Option<Box<BoundInput>>),
    /// A command that has run.
    Ran,
}

impl HostRequest {
    fn step<W: serde::Serialize>(wire: impl FnOnce(&RequestId) -> W, about: About) -> Step {
        let Some(id) = ask::new_id() else {
            return Step::Decided(HookDecision::deny("cannot make a request id"));
        };
        let wire = wire(&id);
        Self::step_of(id, &wire, about)
    }

    fn step_of<W: serde::Serialize>(id: RequestId, wire: &W, about: About) -> Step {
        match serde_json::to_vec(wire) {
            Ok(bytes) => Step::Ask(Box::new(Self { id, bytes, about })),
            Err(error) => Step::Decided(HookDecision::deny(format!("cannot write the request: {error}"))),
        }
    }

    /// Longest time that the host's answer may take. Whoever waits longer is hung.
    pub const fn longest_wait(config: &Config) -> Duration {
        Duration::from_secs(config.deadline_s).saturating_add(GRACE)
    }

    /// Asks the host and waits for its answer, at most `deadline_s`. Also whether that allows it.
    fn put(self, config: &Config) -> (HookDecision, bool) {
        let answered = ask::ask(config, &self.id, &self.bytes);
        let is_allowed = answered.as_ref().is_ok_and(ask::is_allowed);
        (Self::decided(self.about, answered, is_allowed, config), is_allowed)
    }

    fn decided(about: About, answered: Result<Response, AskError>, is_approved: bool, config: &Config) -> HookDecision {
        match about {
            About::Command { why_asked, form, outward, refused, bound } => {
                // What was asked about without a way out runs without one, whatever the answer says.
                let outward = outward.filter(|_| answered.as_ref().is_ok_and(|response| !response.egress.is_empty()));
                let decision = match (answered, outward, form) {
                    // What may be done as it is may be done where it reaches its own hosts alone.
                    (Ok(_), Some(form), _) if is_approved => HookDecision::Cage { form },
                    (Ok(response), Some(form), _) | (Ok(response), None, Some(form))
                        if response.cage && !is_approved =>
                    {
                        HookDecision::Cage { form }
                    }
                    (answered, ..) => decision_of(answered, Some(&why_asked), config),
                };
                let decision = match (decision, bound.changed()) {
                    (_, Some(file)) if is_approved => HookDecision::deny(format!(
                        "{file} was changed while the command was being decided; run it again, so that it is decided with what \
                         the file says now"
                    )),
                    (decision, _) => decision,
                };
                match refused {
                    Some(why) => refusal(why, decision),
                    None => decision,
                }
            }
            About::Input(bound) => {
                let decision = decision_of(answered, None, config);
                let is_by_host = matches!(decision, HookDecision::Allow(LetThroughBy::Host));
                match bound.filter(|_| is_by_host).and_then(|bound| bound.changed()) {
                    Some(what) => {
                        HookDecision::deny(format!("{what} was changed while that was being decided; do it again"))
                    }
                    None => decision,
                }
            }
            // The command is over. Without a host nothing was sent into the cage, and nothing new can be.
            About::Ran => match answered {
                Err(error) if error.is_silence() => HookDecision::Allow(LetThroughBy::Nobody),
                answered => decision_of(answered, None, config),
            },
        }
    }
}

/// It was only to be on record: no answer makes it allowed.
fn refusal(why: String, answered: HookDecision) -> HookDecision {
    HookDecision::deny(match answered {
        HookDecision::Deny { reason } if reason == why => why,
        HookDecision::Deny { reason } => format!("{why} (not on record at the host: {reason})"),
        HookDecision::Allow(_) | HookDecision::Cage { .. } => format!("{why} (the host is older than this program)"),
    })
}

/// Findings as the wire takes them: not more than it has room for, and each cut to what a person reads.
fn told(findings: Vec<String>) -> Vec<String> {
    const MAX_FOUND: usize = 64;
    findings.into_iter().take(MAX_FOUND).map(|text| text.chars().take(1000).collect()).collect()
}

/// A list of which nothing may be lost, since an answer is bound to it: what the wire has no room for stands in a digest of all of it.
fn whole(list: Vec<String>) -> Vec<String> {
    const MOST: usize = 32;
    const LONGEST: usize = 1000;
    if list.len() <= MOST && list.iter().all(|text| text.len() <= LONGEST) {
        return list;
    }
    let digest = Digest::of(serde_json::to_string(&list).unwrap_or_default().as_bytes()).hex();
    let more = list.len().saturating_sub(MOST);
    let shown = list.into_iter().take(MOST).map(|text| text.chars().take(200).collect());
    shown.chain([format!("and more than is shown here ({more} more; all of it: {digest})")]).collect()
}

/// A text as the wire takes it where it names a session or a call.
pub fn label(text: String) -> String {
    if text.len() <= MAX_LABEL_BYTES { text } else { text.chars().take(64).collect() }
}

fn decision_of(answer: Result<Response, AskError>, why_asked: Option<&str>, config: &Config) -> HookDecision {
    match answer {
        Ok(response) if ask::is_allowed(&response) => HookDecision::Allow(LetThroughBy::Host),
        Ok(response) if response.reason.trim().is_empty() => HookDecision::deny("the host denies it without a reason"),
        Ok(response) => HookDecision::deny(response.reason),
        Err(error) if error.is_silence() && config.when_host_silent == WhenSilent::Allow => {
            HookDecision::Allow(LetThroughBy::Silence { why: error.to_string() })
        }
        Err(error) => {
            let asked = why_asked.map(|why| format!(" (asked because: {why})")).unwrap_or_default();
            HookDecision::deny(format!("{error}{asked}; for the operator: {}", error.help()))
        }
    }
}
