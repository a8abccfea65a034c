//! `bashgate-hook`: see the library. Exit 0 raises no objection, exit 2 denies; there is no other way out.
//!
//! It starts without what std does before a program's `main`: a look at all mappings and a stack for signals, which were a
//! tenth of this process's life. [`guard::arm`] does what of it matters here.
#![no_main]

use std::ffi::{CStr, OsString, c_char, c_int};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

use bashgate_hook::agents::{Agent, EventError, Incoming, MAX_EVENT_BYTES};
use bashgate_hook::event::{Asker, BeforeToolUse, Called, ToolUse};
use bashgate_hook::gate::config::{self, Config, OnAllow};
use bashgate_hook::gate::{HookDecision, LetThroughBy};
use bashgate_hook::{commands, guard, tools};
use bashgate_shared::agents;
use bashgate_shared::shell::quoted;
use bashgate_shared::{say_aside, say_part};

// A hook that skips rules on purpose is for tests, whose builds are not optimised.
const _: () =
    assert!(!bashgate_shared::planted::BUILT_IN || cfg!(debug_assertions), "built with the bugs of the tests");

const HELP: &str = "\
bashgate-hook: decides whether an agent's tool call may go on.

  bashgate-hook [--config FILE] [--agent NAME]     one event on standard input (the agent is detected)
  bashgate-hook [--config FILE] check -- COMMAND   one command; for shells and SDK executors

  bashgate-hook install --agent NAME [--scope user|project|managed] [--dry-run]
                        [--deny-webfetch] [--keep-mcp] [--timeout SECONDS] [--hook PROGRAM]
                                                   puts itself into the agent's settings; keeps what is there
  bashgate-hook uninstall --agent NAME [--scope user|project|managed] [--dry-run]
                                                   gives back what was there before, byte for byte
  bashgate-hook doctor [--agent NAME] [--json]     proves that the agent is gated, and names the ways around

Exit 0: no objection, or done. Exit 2: denied, with the reason on standard error. Nothing else ever comes out.
The configuration is FILE, or /etc/bashgate/hook.toml. --project DIR stands for the working directory, --file FILE for the
agent's settings, where they are to be mounted elsewhere.
Agents: ";

/// Exit codes, as every agent takes them.
const NO_OBJECTION: i32 = 0;
const DENIED: i32 = 2;
/// How long a command that a person types may take: a doctor asks the host, and agents for their versions.
const COMMANDS: Duration = Duration::from_mins(2);

struct Arguments {
    config: PathBuf,
    agent: Option<Agent>,
    command: Option<String>,
}

/// Where the C library starts this program: with how many arguments, and where they stand.
#[expect(unsafe_code, reason = "the one name that the C library looks for, and what it hands over")]
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, values: *const *const c_char) -> i32 {
    guard::arm();
    // std knows them only where the C library hands them to it, too, which glibc does and musl does not.
    // SAFETY: the kernel has put `count` pointers to texts there that end in a zero byte and live as long as the process.
    let args: Vec<OsString> = (0..usize::try_from(count).unwrap_or(0))
        .map(|index| unsafe { CStr::from_ptr(*values.add(index)) }.to_bytes().to_vec())
        .map(OsString::from_vec)
        .collect();
    let Some((_, args)) = args.split_first() else {
        return finish(&Answered::to_nobody(HookDecision::deny("called without even a name")));
    };
    if let Some(code) = typed(args) {
        return code;
    }
    let answered = run(args).unwrap_or_else(|reason| Answered::to_nobody(HookDecision::deny(reason)));
    finish(&answered)
}

/// The one place where an answer leaves the process.
fn finish(answered: &Answered) -> i32 {
    let Answered { decision, agent, approve, event } = answered;
    if let Some(warning) = decision.warning() {
        let _ = writeln!(std::io::stderr(), "bashgate-hook: WARNING: {warning}");
    }
    let printed = agent.and_then(|agent| agent.answer(decision, *approve, event));
    match decision {
        // A command that is to run in the cage runs in no other way: without the agent's word for it, it is denied.
        HookDecision::Cage { .. } if printed.is_none() || nobody_reads_output() => {
            let _ = writeln!(
                std::io::stderr(),
                "bashgate: denied: it may only run in the cage, which this agent cannot do"
            );
            DENIED
        }
        HookDecision::Allow(_) | HookDecision::Cage { .. } => {
            // An approval that does not arrive whole must not be half an approval.
            let written = printed.is_none_or(|text| writeln!(std::io::stdout(), "{text}").is_ok());
            if written { NO_OBJECTION } else { DENIED }
        }
        HookDecision::Deny { reason } => {
            let reason: String = reason.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
            let _ = writeln!(std::io::stderr(), "bashgate: denied: {reason}");
            if let Some(text) = printed {
                let _ = writeln!(std::io::stdout(), "{text}");
            }
            DENIED
        }
    }
}

/// True when what is printed goes to the null device, as it does when this program is started with its output closed. An
/// exit of 0 alone would let the command run as it is.
fn nobody_reads_output() -> bool {
    let null = rustix::fs::stat("/dev/null");
    rustix::fs::fstat(std::io::stdout()).is_ok_and(|out| null.is_ok_and(|null| out.st_rdev == null.st_rdev))
}

/// A decision, and to whom it goes.
struct Answered {
    decision: HookDecision,
    /// `None` where only the exit code counts.
    agent: Option<Agent>,
    /// True to say yes in the agent's own words.
    approve: bool,
    /// The event as it came.
    event: Vec<u8>,
}

impl Answered {
    const fn to_nobody(decision: HookDecision) -> Self {
        Self { decision, agent: None, approve: false, event: Vec::new() }
    }
}

fn run(args: &[OsString]) -> Result<Answered, String> {
    let Some(arguments) = arguments(args)? else {
        // As a hook this must never let anything through by accident: whoever sends an event has an answer.
        if !std::io::stdin().is_terminal() && std::io::stdin().lock().read(&mut [0]).is_ok_and(|bytes| bytes > 0) {
            return Err("called with --help or --version, which decides nothing".to_owned());
        }
        if args.iter().any(|arg| arg == "--version") {
            say_part!("bashgate-hook {}\n", env!("CARGO_PKG_VERSION"));
        } else {
            say_part!("{HELP}{}, neutral.\n", agents::names());
        }
        return Ok(Answered::to_nobody(HookDecision::Allow(LetThroughBy::Nobody)));
    };
    if let Some(command) = arguments.command.clone() {
        let config = load(&arguments)?;
        let cwd = std::env::current_dir().ok().and_then(|cwd| cwd.to_str().map(str::to_owned));
        let event = BeforeToolUse {
            tool: ToolUse::Shell {
                command,
                is_bash: true,
                folder: None,
                doubt: None,
                background: false,
                asked_with: Vec::new(),
            },
            called: Some(Called::default()),
            cwd,
            session: None,
            tool_use_id: None,
        };
        return Ok(Answered::to_nobody(decide(&event, Asker::plain("check"), &config)));
    }
    let mut bytes = Vec::new();
    let limit = MAX_EVENT_BYTES as u64 + 1;
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read the event: {error}"))?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(EventError::Empty.to_string());
    }
    if bytes.len() > MAX_EVENT_BYTES {
        return Err(EventError::TooLarge.to_string());
    }
    let config = load(&arguments)?;
    let agent = arguments.agent.map_or_else(|| Agent::of(&bytes), Ok).map_err(|error| error.to_string())?;
    // From here on the agent's own form of an answer is known.
    let approve = config.on_allow == OnAllow::Approve;
    let decision = match agent.read(&bytes) {
        Ok(Incoming::Before(event)) => decide(&event, agent.asker(), &config),
        Ok(Incoming::After(event)) => {
            let step = tools::after_tool_use(&event, agent.asker(), &config);
            return Ok(Answered::to_nobody(step.finish(&config, guard::end_after)));
        }
        Ok(Incoming::Nothing) => return Ok(Answered::to_nobody(HookDecision::Allow(LetThroughBy::Nobody))),
        // It may be an event of any kind, so that only the exit code is said.
        Err(error) => return Ok(Answered::to_nobody(HookDecision::deny(error.to_string()))),
    };
    Ok(Answered { decision, agent: Some(agent), approve, event: bytes })
}

/// The gate's own decision, and what the operator's plug-ins say to it.
fn decide(event: &BeforeToolUse, asker: Asker, config: &Config) -> HookDecision {
    let decision = tools::before_tool_use(event, asker, config).finish(config, guard::end_after);
    tools::ask_plugins(decision, event, asker, config, |longest| {
        guard::end_after(longest);
        // One that does not read its event is no reason to end.
        guard::survive_closed_pipes();
    })
}

/// Does what a person has typed, if they have typed a command: the exit code.
fn typed(args: &[OsString]) -> Option<i32> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let (name, args) = args.split_first().filter(|(name, _)| commands::NAMES.contains(&name.as_str()))?;
    guard::end_after(COMMANDS);
    guard::survive_closed_pipes();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        say_part!("{HELP}{}, neutral.\n", agents::names());
        return Some(NO_OBJECTION);
    }
    match commands::run(name, args) {
        Ok(true) => Some(NO_OBJECTION),
        Ok(false) => Some(DENIED),
        Err(why) => {
            say_aside!("error: {why}");
            Some(DENIED)
        }
    }
}

fn load(arguments: &Arguments) -> Result<Config, String> {
    Config::load(&arguments.config).map_err(|error| format!("{error}; {}", error.help()))
}

/// Reads the command line; `None` asks for help.
fn arguments(args: &[OsString]) -> Result<Option<Arguments>, String> {
    let mut found = Arguments { config: PathBuf::from(config::DEFAULT), agent: None, command: None };
    let mut args =
        args.iter().map(|arg| arg.to_str().map(str::to_owned).ok_or_else(|| "an argument is not UTF-8".to_owned()));
    let mut check = false;
    while let Some(arg) = args.next() {
        let arg = arg?;
        let (name, glued) = match arg.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (arg.clone(), None),
        };
        let mut value =
            || glued.clone().map_or_else(|| args.next().unwrap_or_else(|| Err(format!("{name} needs a value"))), Ok);
        match name.as_str() {
            "--config" => found.config = PathBuf::from(value()?),
            "--agent" => found.agent = Some(Agent::named(&value()?).map_err(|error| error.to_string())?),
            "--help" | "-h" | "help" | "--version" => return Ok(None),
            "check" if !check => check = true,
            "--" if check => {
                let rest: Vec<String> = args.collect::<Result<_, _>>()?;
                found.command = Some(match rest.as_slice() {
                    [command] => command.clone(),
                    // Several words are an argv, not a text: what is special in them must stay data.
                    words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
                });
                break;
            }
            _ => return Err(format!("the argument `{arg}` is not known; see bashgate-hook --help")),
        }
    }
    match (check, &found.command) {
        (true, None) => Err("`check` needs `-- COMMAND`".to_owned()),
        _ => Ok(Some(found)),
    }
}
