//! The permit: proof that the gate allowed this very command. Only [`ask`], [`cage`] and a script that is [`Prepared`](crate::scripts::Prepared) make one, and
//! [`Runner::run`](crate::run::Runner::run) takes nothing else.

use std::path::{Path, PathBuf};

use bashgate_hook::gate::conditions::{OtherHome, ShellSetup};
use bashgate_hook::gate::config::Config;
use bashgate_hook::gate::git::{files_outside, guard};
use bashgate_hook::gate::plugins::{self, Call};
use bashgate_hook::gate::{self, Bound, Finished, HookDecision, LetThroughBy, Look, Question, egress};
use bashgate_shared::classify::{Argv, Classification, CommandClass, Surroundings, classify, paths, secrets};
use bashgate_shared::command::{CommandError, CommandLine, Digest};
use bashgate_shared::programs;
use bashgate_shared::programs::reaches::Reaches;
use bashgate_shared::protocol::{FileEvidence, RequestId, RunnerWire, ScriptWire};
use bashgate_shared::shell::Shell;
use bashgate_shared::variables;

use crate::bound::{Allowed, Hold};
use crate::egress::Way;
use crate::gate::Gate;
use crate::presets::{Internet, Preset, ShellProgram};
use crate::user::RunAs;
use crate::{policy, sandbox};

/// The name under which the runner asks.
pub const AGENT: &str = "bashgate-run";

/// Proof that the gate allowed this very command. Not to be cloned: what was checked is what runs, once.
#[derive(Debug)]
pub struct Permit {
    command: CommandLine,
    reach: Reach,
    warning: Option<String>,
    scripts: Vec<Allowed>,
    bound: Option<Box<Bound>>,
    foresees_network: bool,
    /// Its home folder, where that is another one than the asker's.
    home: Option<PathBuf>,
    /// What the host has given it, in place of any network.
    way_out: Option<WayOut>,
}

/// A way out, with what it was given for.
#[derive(Debug)]
pub struct WayOut {
    way: Way,
    /// What the command was when the answer was presented: see [`EgressWire::subject`](bashgate_shared::protocol::EgressWire::subject).
    subject: Digest,
    config: Config,
    cwd: PathBuf,
    workspace: PathBuf,
    /// Where files lie that others could write and that say what it does: settings, what comes in, what it sends, and what links there lead
    /// to. Empty where it does the same whatever lies anywhere.
    goes_by: Vec<PathBuf>,
}

/// How far a permit reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The command is provably local: it gets no network, so that a mistake in the proof fails closed.
    Local,
    /// The host allowed it: what the preset gives.
    Preset,
    /// Nobody allowed it: it runs in the cage or not at all.
    Cage,
}

impl Permit {
    /// One of which nothing more is to be said.
    const fn plain(command: CommandLine, reach: Reach) -> Self {
        Self {
            command,
            reach,
            warning: None,
            scripts: Vec::new(),
            bound: None,
            foresees_network: false,
            home: None,
            way_out: None,
        }
    }

    /// The command.
    pub fn command(&self) -> &CommandLine {
        &self.command
    }

    /// The same, with the way out that the host has given it. It then has no other network.
    #[must_use]
    pub fn with_way_out(self, way_out: Option<WayOut>) -> Self {
        Self { way_out, ..self }
    }

    /// What it has in place of any network.
    pub fn way_out(&self) -> Option<&Way> {
        self.way_out.as_ref().map(|out| &out.way)
    }

    /// Where it has a way out: what it goes by, and is to have to itself. What others write there meanwhile could make it do something else.
    pub fn goes_by(&self) -> &[PathBuf] {
        self.way_out.as_ref().map(|out| out.goes_by.as_slice()).unwrap_or_default()
    }

    /// The command's text, and what its way out refused. The permit is used up, and with it the way out.
    pub fn used_up(self) -> (String, Vec<String>) {
        (self.command.text().to_owned(), self.way_out.map(|out| out.way.refusals()).unwrap_or_default())
    }

    /// What must be said aloud before it runs: nobody checked it.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// True for a command in the cage whose text says that it uses the network, which is not there.
    pub const fn foresees_network(&self) -> bool {
        self.foresees_network
    }

    /// How far it reaches.
    pub const fn reach(&self) -> Reach {
        self.reach
    }

    /// The scripts that it was allowed with, and, where all that it does is known, the files that it reads, with their digests: these
    /// very bytes are what counts, where a sandbox can see to it. What tools write anew at their work (`package.json`) is none.
    pub fn scripts(&self) -> &[Allowed] {
        &self.scripts
    }

    /// Where files lie that were shown with it, or went into the answer.
    pub fn rests_on(&self) -> Vec<PathBuf> {
        self.bound.as_ref().map(|bound| bound.places()).unwrap_or_default()
    }

    /// What of that is another one by now.
    pub fn changed(&self) -> Option<String> {
        let _home = self.home.as_deref().map(OtherHome::of_commands);
        let of_way = || {
            let WayOut { subject, config, cwd, workspace, .. } = self.way_out.as_ref()?;
            let (now, _) = subject_of(&self.command, config, (cwd, workspace)).unzip();
            (now.as_ref() != Some(subject)).then(|| "what its way out was given for".to_owned())
        };
        self.bound.as_ref().and_then(|bound| bound.changed()).or_else(of_way)
    }
}

/// Why there is no permit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// It is no command that can be looked at.
    #[error("{0}; {help}", help = .0.help())]
    Command(CommandError),
    /// There is nothing to run.
    #[error("there is no command")]
    Blank,
    /// The preset refuses it.
    #[error("{0}")]
    Preset(policy::Refusal),
    /// The gate denies it.
    #[error("{0}")]
    Gate(String),
    /// There is no gate to ask, and the command is not provably local.
    #[error("not provably local ({why}), and no host to ask: there is no {}", config.display())]
    NoGate {
        /// Why it is not proven.
        why: String,
        /// Where the configuration was looked for.
        config: PathBuf,
    },
}

impl Denied {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Command(_) | Self::Blank => "give one command after `--`",
            Self::Preset(_) => "use another command, or another preset",
            Self::Gate(_) => "do what the reason says, or ask a person",
            Self::NoGate { .. } => {
                "run `bashgate init DIR` and `bashgate serve` on the host, and pass --config DIR/hook.toml"
            }
        }
    }
}

/// Whom to ask, and about what.
#[derive(Debug)]
pub struct Ask<'a> {
    /// The gate.
    pub gate: &'a Gate,
    /// The preset's name, for the record.
    pub preset_name: &'a str,
    /// The preset.
    pub preset: &'a Preset,
    /// Where the command would run; absolute.
    pub cwd: &'a Path,
    /// The folder that it works in.
    pub workspace: &'a Path,
    /// The agent on whose behalf, for the record.
    pub agent: Option<&'a str>,
    /// True where the asker goes on while it runs.
    pub background: bool,
    /// What else it is asked with, for people and for what an approval is bound to.
    pub asked_with: &'a [String],
    /// Variables that are given to it.
    pub variables: &'a [(String, String)],
    /// Its home folder, where that is another one than the asker's.
    pub home: Option<PathBuf>,
    /// The asker wants network.
    pub internet: Internet,
}

impl Ask<'_> {
    /// True where it would get network, and a sandbox can hold it to hosts instead: then it is asked about with these.
    fn keeps_to_hosts(&self) -> bool {
        let holds = self.preset.sandbox.order.iter().any(|backend| sandbox::holds_to_way_out(*backend));
        holds && self.preset.network.access.gives(self.internet)
    }

    /// What lies at home counts as it does for the command.
    fn at_its_home(&self) -> Option<OtherHome> {
        self.home.as_deref().map(OtherHome::of_commands)
    }

    /// Why nobody here can say what it does, if a variable that is given to it may change that.
    fn doubt(&self) -> Option<&'static str> {
        let steers = |name: &str| variables::harm_of_setting(name, Shell::Bash).is_some();
        let one = self.variables.iter().any(|(name, _)| steers(name));
        one.then_some("a variable that is given to it can change what programs do")
    }
}

/// A variable that is given to a command, as it is told: of a secret one no more than that it differs.
pub fn told_variable((name, value): &(String, String)) -> String {
    const MOST: usize = 200;
    let digest = Digest::of(value.as_bytes()).hex();
    let digest = digest.get(..16).unwrap_or_default();
    if secrets::is_secret_variable(name) || value.chars().count() > MOST {
        let begin: String =
            if secrets::is_secret_variable(name) { String::new() } else { value.chars().take(MOST).collect() };
        return format!("the variable {name}={begin}… ({} bytes, {digest})", value.len());
    }
    format!("the variable {name}={value}")
}

/// Asks the gate about a command: the preset's own rules first, then the hook's way (here, or the host).
pub fn ask(text: &str, ask: &Ask<'_>) -> Result<Permit, Denied> {
    let _home = ask.at_its_home();
    let command = parse(text)?;
    let shell = shell_of(ask.preset);
    let around = around(shell, ask.gate.config.as_ref(), ask.cwd);
    let setup = ShellSetup { reads_startup_files: false, trusted: &[] };
    let found = classify(&command, &around);
    let refused = policy::check(&ask.preset.rules, &command, shell, &found, &ask.cwd.to_string_lossy());

    let Some(config) = &ask.gate.config else {
        refused.map_err(Denied::Preset)?;
        let look = Look::at(&command, ask.cwd, &around, setup);
        if look.is_proven_local() && ask.doubt().is_none() {
            return Ok(Permit::plain(command, Reach::Local));
        }
        let doubt = look.findings.unproven.first().or(look.findings.secrets.first());
        let why = ask.doubt().map(str::to_owned).or(doubt.cloned()).unwrap_or(look.found.reason);
        return Err(Denied::NoGate { why, config: ask.gate.config_file.clone() });
    };
    let Put { by, bound, way_out } = put(&command, refused, None, ask, &Config { shell, ..config.clone() })?;
    let reach = match by {
        LetThroughBy::Hook => Reach::Local,
        // What it leaves is nobody's word.
        LetThroughBy::Nobody if way_out.is_some() => Reach::Cage,
        LetThroughBy::Host | LetThroughBy::Nobody | LetThroughBy::Silence { .. } => Reach::Preset,
    };
    // What nobody in the command writes, as far as is known: of what a script does nothing is.
    let effects = &found.effects;
    let writes_more = |program: &String| {
        programs::row(program).is_none_or(|row| row.here.is_some() || row.has(programs::Trait::BuildsHere))
    };
    let only_reads = effects.runs.is_empty()
        && !effects.runs_fetched
        && found.class != CommandClass::Unknown
        && !effects.programs.iter().any(writes_more);
    // Of git's own, hooks are the only code, and git's.
    let is_of_project = |path: &str| {
        let place = ask.cwd.join(path);
        place.starts_with(ask.cwd) && !place.components().any(|part| part.as_os_str() == ".git")
    };
    let is_plain = |path: &str| {
        let is_elsewhere = ["~", "/proc/", "/sys/", "/dev/"].iter().any(|start| path.starts_with(start));
        !is_elsewhere && ask.cwd.join(path).is_file()
    };
    // What the text itself changes by name: `chmod +x x.sh && ./x.sh`.
    let changes = |file: &FileEvidence| {
        let name = paths::file_name(&file.path);
        let changing = found.calls.iter().filter(|call| {
            let row = call.first().and_then(Option::as_deref).and_then(programs::row);
            row.is_none_or(|row| row.has(programs::Trait::ChangesFiles) || row.takes_script())
        });
        changing.flat_map(|call| call.iter().skip(1)).any(|word| word.as_ref().is_none_or(|word| word.contains(name)))
    };
    let may_write_more = effects.programs.iter().any(writes_more);
    // What brings or builds files of which no word is the name, besides the one call that runs something.
    let brings = |call: &&Argv| {
        let Some((Some(program), words)) = call.split_first() else { return false };
        let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
        let row = programs::row(paths::file_name(program));
        programs::is_git(program) && programs::leaves(&words).is_some()
            || row.is_some_and(|row| row.has(programs::Trait::BuildsHere) || !row.steered_by.is_empty())
    };
    let writes_unnamed = found.calls.split_last().is_some_and(|(_, before)| before.iter().any(|call| brings(&call)));
    let held = |file: FileEvidence| {
        let is_read = only_reads
            && effects.reads.contains(&file.path)
            && !effects.writes.contains(&file.path)
            && is_plain(&file.path);
        let is_own = programs::is_a_managers_own(&file.path);
        let is_script = (is_read || effects.runs.contains(&file.path)) && !is_own;
        // Code that other code starts, or that comes by another way than as a word: all of it was shown.
        let is_data = |path: &str| {
            let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
            ending.is_some_and(|ending| programs::ONLY_WORKED_ON.contains(&ending) || ending == "lock")
        };
        let is_code = || {
            !file.head.is_empty()
                && !is_own
                && !is_data(&file.path)
                && is_plain(&file.path)
                && is_of_project(&file.path)
        };
        // What one script starts of another, a third one may write anew.
        let is_fed = effects.reads.contains(&file.path) && !may_write_more;
        let hold = if writes_unnamed && (is_script || is_fed) {
            Hold::UnlessAlone
        } else if changes(&file) || !is_script && !is_fed {
            Hold::Content
        } else {
            Hold::Copy
        };
        (is_script || is_code()).then_some(Allowed { file, hold })
    };
    let scripts = bound.iter().flat_map(|bound| bound.evidence().to_vec()).filter_map(held).collect();
    let home = ask.home.clone();
    let warning = HookDecision::Allow(by).warning();
    Ok(Permit { warning, scripts, bound, home, way_out, ..Permit::plain(command, reach) })
}

/// Who allowed it, with which files, and what goes with that.
struct Put {
    by: LetThroughBy,
    bound: Option<Box<Bound>>,
    way_out: Option<WayOut>,
}

/// Puts the question. What the preset refuses is put, too, so that the attempt is on record.
fn put(
    command: &CommandLine,
    refused: Result<(), policy::Refusal>,
    script: Option<ScriptWire>,
    ask: &Ask<'_>,
    config: &Config,
) -> Result<Put, Denied> {
    let why_refused = refused.as_ref().err().map(|refusal| refusal.why.chars().take(1000).collect::<String>());
    // Before anybody is asked: else an answer would be of no use.
    let is_same_at_owners = || {
        home_of_owner(ask.workspace).is_none_or(|home| {
            let _home = OtherHome::of_commands(&home);
            let found = classify(command, &around(Shell::Bash, Some(config), ask.cwd));
            subject(command, &found, config, ask.cwd).is_some()
        })
    };
    let question = Question {
        command,
        cwd: ask.cwd,
        asker: ask.agent.unwrap_or(AGENT),
        session: None,
        tool_use_id: None,
        runner: Some(RunnerWire { preset: ask.preset_name.to_owned(), refused: why_refused }),
        script,
        // It runs what it was allowed, or nothing, in a shell that reads no file before.
        rewrites: false,
        keeps_to_hosts: ask.keeps_to_hosts() && is_same_at_owners(),
        reads_startup_files: false,
        // It starts commands with an environment of its own.
        set_for_commands: &[],
        types_past_gate: false,
        doubt: ask.doubt(),
        background: ask.background,
        asked_with: ask.asked_with,
    };
    // The wait ends by itself; whoever calls this is an ordinary process, which its caller can end.
    let Finished { decision, answer, is_allowed, bound } =
        gate::check(&question, config).finish_with_bounds(config, |_| ());
    let decision = if refused.is_ok() { ask_plugins(decision, command.text(), ask.cwd, config) } else { decision };
    match (decision, refused) {
        (HookDecision::Deny { reason }, Err(mut refusal)) => {
            refusal.why = reason;
            Err(Denied::Preset(refusal))
        }
        (HookDecision::Allow(_) | HookDecision::Cage { .. }, Err(refusal)) => Err(Denied::Preset(refusal)),
        // It named no other text than its own: it may run with what goes with the answer, and with nothing else.
        (HookDecision::Cage { .. }, Ok(())) => {
            let way_out = answer.ok_or_else(|| "no answer came with it".to_owned());
            let way_out = way_out
                .and_then(|answer| way_out_of(answer, command, config, (ask.cwd, ask.workspace)))
                .map_err(Denied::Gate)?;
            let by = if is_allowed { LetThroughBy::Host } else { LetThroughBy::Nobody };
            Ok(Put { by, bound, way_out: Some(way_out) })
        }
        (HookDecision::Deny { reason }, Ok(())) => Err(Denied::Gate(reason)),
        (HookDecision::Allow(by), Ok(())) => Ok(Put { by, bound, way_out: None }),
    }
}

/// What the operator's own checks say to it, behind the gate's own decision.
fn ask_plugins(decision: HookDecision, command: &str, cwd: &Path, config: &Config) -> HookDecision {
    let input = plugins::input_of_command(command);
    plugins::ask_all(decision, &Call::before(AGENT, plugins::SHELL, &input, cwd, (None, None)), config)
}

/// Asks the host about a managed script: whether a person has approved it as it is. There is no other way to a permit for
/// one, and `filled` runs, the same script with references to the values that the request names.
pub(crate) fn script(text: &str, wire: ScriptWire, filled: &str, ask: &Ask<'_>) -> Result<Permit, Denied> {
    let _home = ask.at_its_home();
    let command = parse(text)?;
    let filled = parse(filled)?;
    let network = wire.manifest.capabilities.network;
    let Some(config) = &ask.gate.config else {
        let why = "a script needs a person's approval".to_owned();
        return Err(Denied::NoGate { why, config: ask.gate.config_file.clone() });
    };
    let found = classify(&command, &around(Shell::Bash, Some(config), ask.cwd));
    let refused = policy::check(&ask.preset.rules, &command, Shell::Bash, &found, &ask.cwd.to_string_lossy());
    let Put { by, bound, .. } =
        put(&command, refused, Some(wire), ask, &Config { shell: Shell::Bash, ..config.clone() })?;
    match by {
        LetThroughBy::Host => {
            let reach = if network { Reach::Preset } else { Reach::Local };
            Ok(Permit { bound, home: ask.home.clone(), ..Permit::plain(filled, reach) })
        }
        LetThroughBy::Hook | LetThroughBy::Nobody | LetThroughBy::Silence { .. } => {
            Err(Denied::Gate("only a person's approval lets a script run, and none was given".to_owned()))
        }
    }
}

/// A permit for the cage. Nobody is asked, so that it gives nothing: the guards that need nobody still hold.
pub fn cage(text: &str, config: Option<&Config>, preset: &Preset, cwd: &Path) -> Result<Permit, Denied> {
    let command = parse(text)?;
    let shell = shell_of(preset);
    let found = classify(&command, &around(shell, config, cwd));
    policy::check(&preset.rules, &command, shell, &found, &cwd.to_string_lossy()).map_err(Denied::Preset)?;
    if let Some(part) = found.effects.tampering.first() {
        return Err(Denied::Gate(format!("it touches the gate itself ({part})")));
    }
    if let Some(config) = config
        && let Some(subcommand) = guard::denied(&found.effects, &config.git_deny, cwd)
    {
        return Err(Denied::Gate(format!("git {subcommand} is blocked: {}", config.git_reason)));
    }
    if let Some(config) = config
        && let HookDecision::Deny { reason } =
            ask_plugins(HookDecision::Allow(LetThroughBy::Nobody), command.text(), cwd, config)
    {
        return Err(Denied::Gate(reason));
    }
    let foresees_network = !found.effects.network.is_empty();
    Ok(Permit { foresees_network, ..Permit::plain(command, Reach::Cage) })
}

/// Presents an answer, for its command as it is now: its way out, or why there is none, in words for the agent.
///
/// As whom it runs is up to whose the workspace is, and so is its home folder: what lies there counts for it as well.
pub fn way_out_of(
    answer: RequestId,
    command: &CommandLine,
    config: &Config,
    places: (&Path, &Path),
) -> Result<WayOut, String> {
    // Somebody may have changed what the hook has looked at.
    let (subject, goes_by) =
        subject_of(command, config, places).ok_or("what it would start is not what it was when it was decided")?;
    let way = Way::of(&config.egress, answer, subject)?;
    let (cwd, workspace) = (places.0.to_owned(), places.1.to_owned());
    Ok(WayOut { way, subject, config: config.clone(), cwd, workspace, goes_by })
}

/// What a command with a way out is, wherever it may run: for the asker's home folder and for the owner's. And which files that is up to.
fn subject_of(
    command: &CommandLine,
    config: &Config,
    (cwd, workspace): (&Path, &Path),
) -> Option<(Digest, Vec<PathBuf>)> {
    let found = classify(command, &around(Shell::Bash, Some(config), cwd));
    let own = subject(command, &found, config, cwd)?;
    if let Some(home) = home_of_owner(workspace) {
        let _home = OtherHome::of_commands(&home);
        subject(command, &found, config, cwd).filter(|there| *there == own)?;
    }
    let goes_by = if rests_on_folder(&found) {
        let mut places = gate::places_of(&found.effects, &found.calls, std::iter::empty(), cwd);
        // Settings of git's may lie in a project, behind a link.
        let real = |file: PathBuf| std::fs::canonicalize(&file).ok().filter(|real| *real != file);
        places.extend(files_outside().into_iter().filter_map(real));
        places
    } else {
        Vec::new()
    };
    Some((own, goes_by))
}

/// False where a command with a way out does the same whatever lies in its folder: it goes by no settings, opens nothing and signs in nowhere.
fn rests_on_folder(found: &Classification) -> bool {
    let effects = &found.effects;
    let goes_by_files = |name: &String| {
        programs::is_git(name)
            || programs::row(name).is_none_or(|row| !row.signs_in.is_empty() || !row.steered_by.is_empty())
    };
    let brings = found.reaches.as_ref().is_none_or(Reaches::brings_files);
    brings || !effects.reads.is_empty() || effects.reads_unknown || effects.programs.iter().any(goes_by_files)
}

/// The home folder of whoever root works for there; whoever has no account keeps the caller's.
fn home_of_owner(workspace: &Path) -> Option<PathBuf> {
    let owner = RunAs::candidates(workspace).into_iter().find(|run_as| matches!(run_as, RunAs::Owner { .. }))?;
    owner.account().map(|(_, home)| PathBuf::from(home))
}

/// What a command with a way out is when it runs, by the hook's own look, once more; `None` where something has it do more than its text says.
fn subject(command: &CommandLine, found: &Classification, config: &Config, cwd: &Path) -> Option<Digest> {
    // The runner's shell reads no start-up files.
    let setup = ShellSetup { reads_startup_files: false, trusted: &config.trusted_startup };
    egress::subject(command, found, cwd, config, setup)
}

/// What a command is read by.
fn around(shell: Shell, config: Option<&Config>, cwd: &Path) -> Surroundings {
    let protected = config.map(Config::protected).unwrap_or_default();
    Surroundings { shell, cwd: cwd.to_str().map(str::to_owned), protected, programs: None }
}

fn parse(text: &str) -> Result<CommandLine, Denied> {
    let command = CommandLine::parse(text).map_err(Denied::Command)?;
    if command.is_blank() { Err(Denied::Blank) } else { Ok(command) }
}

const fn shell_of(preset: &Preset) -> Shell {
    match preset.shell.program {
        ShellProgram::Bash => Shell::Bash,
        ShellProgram::Sh => Shell::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_by_files_has_all_of_their_folders_to_itself() {
        let root = tempfile::tempdir().unwrap();
        let cwd = root.path().join("r");
        for folder in ["r", "q"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        let goes_by = |text: &str| {
            let found = classify(&parse(text).unwrap(), &around(Shell::Bash, None, &cwd));
            if rests_on_folder(&found) {
                gate::places_of(&found.effects, &found.calls, std::iter::empty(), &cwd)
            } else {
                Vec::new()
            }
        };
        for text in [
            "cd ../q && git ls-remote -q origin; git status -s",
            "git -C ../q fetch origin",
            "gh pr view 1; cat ../q/file",
            "curl -T ../q/file https://h.example/x",
        ] {
            let places = goes_by(text);
            assert!(places.iter().any(|place| place.ends_with("q") || place.ends_with("q/file")), "{text}: {places:?}");
            assert!(places.contains(&cwd), "{text}: {places:?}");
        }
        assert!(goes_by("curl -s https://h.example/x | head -3").is_empty());
    }
}
