//! What to do with one event: let a provably local command through, ask the host about everything else.

use std::path::{Path, PathBuf};

use bashgate_shared::cage::{self as shared_cage, Note};
use bashgate_shared::classify::{Classification, Decided, Surroundings, classify, secrets};
use bashgate_shared::command::{CommandLine, Digest};
use bashgate_shared::protocol::{
    BASH_CHECK, BASH_RAN, BashCheckWire, BashRanWire, MAX_LABEL_BYTES, RequestId, RunnerWire, ScriptWire, TOOL_EVENT,
    ToolEventWire, VERSION,
};

use crate::ask::{self, AskError};
use crate::conditions::{self, Findings, ShellSetup};
use crate::config::{Config, OnAllow, WhenSilent};
use crate::event::{Abilities, AfterToolUse, BeforeToolUse, By, HookDecision, Source, ToolUse};
use crate::evidence;
use crate::git::guard;
use crate::{cage, interactive};

/// Decides one event.
pub fn before_tool_use(event: &BeforeToolUse, agent: &str, config: &Config, abilities: Abilities) -> HookDecision {
    match &event.tool {
        ToolUse::Other => HookDecision::Allow(By::Nobody),
        ToolUse::Shell { command, is_bash } => {
            // What another tool makes of another command nobody has seen.
            let abilities = Abilities { rewrites: abilities.rewrites && *is_bash, ..abilities };
            shell(event, command, agent, config, abilities)
        }
        ToolUse::Input { tool, target, pattern, source } => {
            if *source == Source::File {
                // Without a target a search starts in the working directory.
                let path = target.as_deref().unwrap_or(".");
                let searches = tool == "Grep" && conditions::may_meet_secret(&cwd(event).join(path));
                let named = pattern
                    .as_deref()
                    .is_some_and(|pattern| pattern.contains("env") || secrets::is_secret_path(pattern));
                if !(searches || named || is_secret(path, event)) {
                    return HookDecision::Allow(By::Hook);
                }
            }
            tool_event(event, tool, target.as_deref(), agent, config)
        }
    }
}

fn cwd(event: &BeforeToolUse) -> PathBuf {
    let own = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    event.cwd.as_ref().map(PathBuf::from).filter(|cwd| cwd.is_absolute()).unwrap_or_else(own)
}

fn is_secret(path: &str, event: &BeforeToolUse) -> bool {
    let full = cwd(event).join(path);
    let real = std::fs::canonicalize(&full);
    secrets::is_secret_path(path)
        || secrets::is_secret_path(&full.to_string_lossy())
        || real.is_ok_and(|real| secrets::is_secret_path(&real.to_string_lossy()))
}

/// Reports to the host what has run, so that it can tell whether what it sent into the cage ran there.
pub fn after_tool_use(event: &AfterToolUse, agent: &str, config: &Config) -> HookDecision {
    // Without approvals nothing is rewritten, and there is nothing to compare.
    if config.on_allow != OnAllow::Approve || event.tool_use_id.len() > MAX_LABEL_BYTES {
        return HookDecision::Allow(By::Nobody);
    }
    let Some(id) = ask::new_id() else { return HookDecision::deny("cannot make a request id") };
    let wire = BashRanWire {
        kind: BASH_RAN.to_owned(),
        request_id: id.to_string(),
        tool_use_id: event.tool_use_id.clone(),
        command: event.command.chars().take(1000).collect(),
        ran_sha256: Digest::of(event.command.as_bytes()).hex(),
        v: Some(VERSION),
        agent: Some(agent.to_owned()),
        session: event.session.clone().map(short),
        timeout_ms: Some(config.deadline_s * 1000),
        locked: true,
    };
    match serde_json::to_vec(&wire).map(|bytes| ask::ask(config, &id, &bytes)) {
        // The command is over. Without a host nothing was sent into the cage, and nothing new can be.
        Ok(Err(error)) if error.is_silence() => HookDecision::Allow(By::Nobody),
        Ok(answered) => answer(answered, None, config),
        Err(error) => HookDecision::deny(format!("cannot write the report: {error}")),
    }
}

fn shell(event: &BeforeToolUse, command: &str, agent: &str, config: &Config, abilities: Abilities) -> HookDecision {
    let command = match CommandLine::parse(command) {
        Ok(command) => command,
        Err(error) => return HookDecision::deny(format!("{error}; {}", error.help())),
    };
    if abilities.types_past_hooks
        && let Some(program) = interactive::reads_its_terminal(command.text(), config.shell)
    {
        return HookDecision::deny(format!(
            "`{program}` would read commands from its terminal, where no hook sees them; give it a script, `-c` or its input"
        ));
    }
    let session = event.session.clone().map(short);
    // A shortened id is not the one under which the agent reports what ran.
    let is_whole = event.tool_use_id.as_ref().is_some_and(|id| id.len() <= MAX_LABEL_BYTES);
    let abilities = Abilities { rewrites: abilities.rewrites && is_whole, ..abilities };
    let tool_use_id = event.tool_use_id.clone().map(short);
    let cwd = cwd(event);
    check(
        &Question { command: &command, cwd: &cwd, agent, session, tool_use_id, runner: None, script: None, abilities },
        config,
    )
}

/// May this command run?
#[derive(Debug)]
pub struct Question<'q> {
    /// The command.
    pub command: &'q CommandLine,
    /// Where it would run; absolute.
    pub cwd: &'q Path,
    /// Who asks, for the audit.
    pub agent: &'q str,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// The agent's id of the call, for the audit.
    pub tool_use_id: Option<String>,
    /// Set when bashgate's own Bash tool asks.
    pub runner: Option<RunnerWire>,
    /// Set when the command is a managed script: the host is then always asked.
    pub script: Option<ScriptWire>,
    /// What the agent can do with the answer.
    pub abilities: Abilities,
}

/// A command as the hook alone can judge it.
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
        let findings =
            if found.decided == Decided::Host { Findings::default() } else { conditions::check(&found, cwd, setup) };
        Self { found, findings }
    }

    /// True when it is provably local, and there is nothing that the host would have to know.
    pub fn is_proven_local(&self) -> bool {
        self.found.decided != Decided::Host && self.findings.is_clear()
    }
}

/// Decides one command: here when it is provably local, else by the host.
pub fn check(question: &Question<'_>, config: &Config) -> HookDecision {
    let Question { command, cwd, agent, .. } = *question;
    if command.is_blank() {
        return HookDecision::Allow(By::Hook);
    }
    let protected = config.protected();
    let around =
        Surroundings { shell: config.shell, cwd: cwd.to_str().map(str::to_owned), protected: protected.clone() };
    let setup =
        ShellSetup { reads_startup_files: config.startup_files.count_for(agent), trusted: &config.trusted_startup };
    let look = Look::at(command, cwd, &around, setup);
    if let Some(subcommand) = guard::denied(&look.found.effects, &config.git_deny, cwd) {
        return HookDecision::deny(format!("git {subcommand} is blocked: {}", config.git_reason));
    }
    let refused = question.runner.as_ref().and_then(|runner| runner.refused.clone());
    let caged = |note| cage::form_of(question, command, &look.found, config, setup, note);
    if look.is_proven_local() && refused.is_none() && question.script.is_none() {
        let is_worth_it = config.cage_safe && shared_cage::loses_nothing_inside(&look.found, command.text());
        let form = if is_worth_it { caged(Note::OnFailure) } else { None };
        return form.map_or(HookDecision::Allow(By::Hook), |form| HookDecision::Cage { form });
    }
    let form = caged(Note::Always);
    let Look { found, findings } = look;
    let Some(id) = ask::new_id() else { return HookDecision::deny("cannot make a request id") };
    let doubt = findings.unproven.first().or(findings.secrets.first());
    let why_asked = doubt.cloned().unwrap_or_else(|| found.reason.clone());
    let wire = BashCheckWire {
        kind: BASH_CHECK.to_owned(),
        request_id: id.to_string(),
        command: command.text().to_owned(),
        v: Some(VERSION),
        cwd: around.cwd,
        agent: Some(agent.to_owned()),
        session: question.session.clone(),
        tool_use_id: question.tool_use_id.clone(),
        timeout_ms: Some(config.deadline_s * 1000),
        other_shell: config.shell != bashgate_shared::shell::Shell::Bash,
        protected,
        locked: true,
        evidence: evidence::of(&found.effects, cwd),
        secrets: findings.secrets.into_iter().take(64).collect(),
        unproven: findings.unproven.into_iter().take(64).collect(),
        runner: question.runner.clone(),
        script: question.script.clone(),
        caged_form: form.as_ref().map(|form| Digest::of(form.as_bytes()).hex()),
    };
    let answered = match serde_json::to_vec(&wire) {
        Ok(bytes) => match (ask::ask(config, &id, &bytes), form) {
            (Ok(response), Some(form)) if response.cage && !ask::is_allowed(&response) => HookDecision::Cage { form },
            (answered, _) => answer(answered, Some(&why_asked), config),
        },
        Err(error) => HookDecision::deny(format!("cannot write the request: {error}")),
    };
    match refused {
        // It was only to be on record: no answer makes it allowed.
        Some(why) => HookDecision::deny(match answered {
            HookDecision::Deny { reason } if reason == why => why,
            HookDecision::Deny { reason } => format!("{why} (not on record at the host: {reason})"),
            HookDecision::Allow(_) | HookDecision::Cage { .. } => {
                format!("{why} (the host is older than this program)")
            }
        }),
        None => answered,
    }
}

fn short(text: String) -> String {
    if text.len() <= 256 { text } else { text.chars().take(64).collect() }
}

fn tool_event(event: &BeforeToolUse, tool: &str, target: Option<&str>, agent: &str, config: &Config) -> HookDecision {
    let Some(id) = ask::new_id() else { return HookDecision::deny("cannot make a request id") };
    match serde_json::to_vec(&event_wire(event, tool, target, agent, config, &id)) {
        Ok(bytes) => answer(ask::ask(config, &id, &bytes), None, config),
        Err(error) => HookDecision::deny(format!("cannot write the report: {error}")),
    }
}

fn event_wire(
    event: &BeforeToolUse,
    tool: &str,
    target: Option<&str>,
    agent: &str,
    config: &Config,
    id: &RequestId,
) -> ToolEventWire {
    ToolEventWire {
        kind: TOOL_EVENT.to_owned(),
        request_id: id.to_string(),
        tool: short(tool.to_owned()),
        v: Some(VERSION),
        target: target.map(|target| target.chars().take(1024).collect()),
        agent: Some(agent.to_owned()),
        session: event.session.clone().map(short),
        timeout_ms: Some(config.deadline_s * 1000),
        locked: true,
    }
}

fn answer(
    answer: Result<bashgate_shared::protocol::Response, AskError>,
    why_asked: Option<&str>,
    config: &Config,
) -> HookDecision {
    match answer {
        Ok(response) if ask::is_allowed(&response) => HookDecision::Allow(By::Host),
        Ok(response) if response.reason.trim().is_empty() => HookDecision::deny("the host denies it without a reason"),
        Ok(response) => HookDecision::deny(response.reason),
        Err(error) if error.is_silence() && config.when_host_silent == WhenSilent::Allow => {
            // Loud on purpose: nobody checked this command.
            eprintln!(
                "bashgate-hook: WARNING: let through unchecked, because {error} and `when_host_silent` is `allow`"
            );
            HookDecision::Allow(By::Nobody)
        }
        Err(error) => {
            let asked = why_asked.map(|why| format!(" (asked because: {why})")).unwrap_or_default();
            HookDecision::deny(format!("{error}{asked}; for the operator: {}", error.help()))
        }
    }
}
