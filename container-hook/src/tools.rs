//! What becomes of an agent's use of a tool: a question for the gate, a report to the host, or nothing.

use std::path::PathBuf;
use std::time::Duration;

use bashgate_shared::agents::AGENTS;
use bashgate_shared::cage;
use bashgate_shared::classify::{CommandClass, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::protocol::MAX_LABEL_BYTES;

use crate::agents::set_for_commands;
use crate::event::{AfterToolUse, Asker, BeforeToolUse, ToolUse};
use crate::gate::config::Config;
use crate::gate::plugins::{self, Call};
use crate::gate::tool::ToolQuestion;
use crate::gate::{self, CommandRan, HookDecision, LetThroughBy, Question, Step, label};

/// A tool is about to be used.
pub fn before_tool_use(event: &BeforeToolUse, asker: Asker, config: &Config) -> Step {
    if event.cwd.as_ref().is_some_and(|cwd| !cwd.starts_with('/')) {
        let why = "the event's working directory is no absolute path, so that nobody can tell where this would be done";
        return Step::Decided(HookDecision::deny(why));
    }
    let none: &[&str] = &[];
    let (tool, acts, target, sends, asks, content, shown) = match &event.tool {
        ToolUse::Inert => return Step::Decided(HookDecision::Allow(LetThroughBy::Nobody)),
        ToolUse::Shell { command, is_bash, folder, doubt, background, asked_with } => {
            // What another tool makes of another command nobody has seen.
            let asker = Asker { rewrites: asker.rewrites && *is_bash, ..asker };
            let there = folder.as_ref().map(|folder| cwd(event.cwd.as_deref()).join(folder));
            // Where the agent goes instead, nobody knows.
            let is_gone = there.as_ref().is_some_and(|there| !there.is_dir());
            let doubt = doubt.or(is_gone.then_some("the folder that it is to run in is not there"));
            return shell(event, (command, there, doubt, *background, asked_with), asker, config);
        }
        ToolUse::Files { tool, acts, content } => (tool, acts, None, None, false, content.as_deref(), none),
        ToolUse::Asks { tool, acts, target, sends, shown } => {
            (tool, acts, target.as_deref(), sends.as_deref(), true, None, shown.as_slice())
        }
    };
    let (session, tool_use_id) = (event.session.clone(), event.tool_use_id.clone());
    let question = ToolQuestion {
        tool,
        target,
        acts,
        sends,
        content,
        shown,
        asks,
        cwd: &cwd(event.cwd.as_deref()),
        asker: asker.name,
        session,
        tool_use_id,
    };
    gate::tool::check(question, config)
}

/// What the operator's own checks say to it, behind the gate's own decision. `before_waiting` hears how long that may take.
pub fn ask_plugins(
    decision: HookDecision,
    event: &BeforeToolUse,
    asker: Asker,
    config: &Config,
    before_waiting: impl FnOnce(Duration),
) -> HookDecision {
    let Some(called) = event.called.as_ref().filter(|_| !config.plugins.is_empty()) else { return decision };
    before_waiting(plugins::longest(config));
    let here = cwd(event.cwd.as_deref());
    // Whatever the agent calls it, a shell command is one.
    let (name, input, here) = match &event.tool {
        ToolUse::Shell { command, folder, .. } => {
            let there = folder.as_ref().map_or_else(|| here.clone(), |folder| here.join(folder));
            (plugins::SHELL, plugins::input_of_command(command), there)
        }
        _ => (called.name.as_str(), called.input.clone(), here),
    };
    let about = (event.session.as_deref(), event.tool_use_id.as_deref());
    plugins::ask_all(decision, &Call::before(asker.name, name, &input, &here, about), config)
}

/// A tool has been used.
pub fn after_tool_use(event: &AfterToolUse, asker: Asker, config: &Config) -> Step {
    let AfterToolUse { command, is_shell, is_service, cwd: there, result, session, tool_use_id } = event;
    let here = cwd(there.as_deref());
    let result = gate::Aftermath { shown: gate::held::shown_by(result, &here), ..gate::Aftermath::default() };
    let may_leave_something = *is_service || *is_shell && may_plant(command, config);
    if !is_shell && !is_service && result.is_plain() {
        return Step::Decided(HookDecision::Allow(LetThroughBy::Nobody));
    }
    let acting = may_leave_something.then(|| gate::acting::look(&here));
    CommandRan { command, tool_use_id, asker: asker.name, session: session.clone(), result, acting }.report(config)
}

/// False for what changes nothing that acts later: a provably local command, and one that ran in the cage, which looks by itself.
fn may_plant(command: &str, config: &Config) -> bool {
    let Ok(command) = CommandLine::parse(command) else { return true };
    let is_caged = config.cage_runner.as_ref().is_some_and(|runner| cage::is_form_of(runner, command.text()));
    let around = Surroundings { shell: config.shell, protected: config.protected(), ..Surroundings::default() };
    !is_caged && classify(&command, &around).class != CommandClass::Safe
}

fn cwd(said: Option<&str>) -> PathBuf {
    let own = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    said.map(PathBuf::from).filter(|cwd| cwd.is_absolute()).unwrap_or_else(own)
}

fn shell(
    event: &BeforeToolUse,
    (command, folder, doubt, background, asked_with): (&str, Option<PathBuf>, Option<&'static str>, bool, &[String]),
    asker: Asker,
    config: &Config,
) -> Step {
    let command = match CommandLine::parse(command) {
        Ok(command) => command,
        Err(error) => return Step::Decided(HookDecision::deny(format!("{error}; {}", error.help()))),
    };
    // A shortened id is not the one under which the agent reports what ran.
    let is_whole = event.tool_use_id.as_ref().is_some_and(|id| id.len() <= MAX_LABEL_BYTES);
    let cwd = folder.unwrap_or_else(|| cwd(event.cwd.as_deref()));
    let row = AGENTS.iter().find(|row| row.name == asker.name);
    let set_for_commands = row.map(|row| set_for_commands(row, &cwd)).unwrap_or_default();
    let question = Question {
        command: &command,
        cwd: &cwd,
        doubt,
        background,
        asked_with,
        asker: asker.name,
        session: event.session.clone().map(label),
        tool_use_id: event.tool_use_id.clone().map(label),
        runner: None,
        script: None,
        rewrites: asker.rewrites && is_whole,
        keeps_to_hosts: false,
        reads_startup_files: asker.reads_startup_files,
        types_past_gate: asker.types_past_hooks,
        set_for_commands: &set_for_commands,
    };
    gate::check(&question, config)
}
