//! What to do with one event: let a provably local command through, ask the host about everything else.

use std::path::PathBuf;

use bashgate_shared::classify::{Decided, Surroundings, classify, secrets};
use bashgate_shared::command::CommandLine;
use bashgate_shared::protocol::{BASH_CHECK, BashCheckWire, RequestId, TOOL_EVENT, ToolEventWire, VERSION};

use crate::ask::{self, AskError};
use crate::conditions::{self, Findings, ShellSetup};
use crate::config::{Config, WhenSilent};
use crate::event::{BeforeToolUse, HookDecision, Source, ToolUse};
use crate::evidence;
use crate::git::guard;

/// Decides one event.
pub fn before_tool_use(event: &BeforeToolUse, agent: &str, config: &Config) -> HookDecision {
    match &event.tool {
        ToolUse::Other => HookDecision::Allow,
        ToolUse::Shell { command } => shell(event, command, agent, config),
        ToolUse::Input { tool, target, pattern, source } => {
            if *source == Source::File {
                // Without a target a search starts in the working directory.
                let path = target.as_deref().unwrap_or(".");
                let searches = tool == "Grep" && conditions::may_meet_secret(&cwd(event).join(path));
                let named = pattern
                    .as_deref()
                    .is_some_and(|pattern| pattern.contains("env") || secrets::is_secret_path(pattern));
                if !(searches || named || is_secret(path, event)) {
                    return HookDecision::Allow;
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

fn shell(event: &BeforeToolUse, command: &str, agent: &str, config: &Config) -> HookDecision {
    let command = match CommandLine::parse(command) {
        Ok(command) => command,
        Err(error) => return HookDecision::deny(format!("{error}; {}", error.help())),
    };
    if command.is_blank() {
        return HookDecision::Allow;
    }
    let cwd = cwd(event);
    let protected = config.protected();
    let around =
        Surroundings { shell: config.shell, cwd: cwd.to_str().map(str::to_owned), protected: protected.clone() };
    let found = classify(&command, &around);
    if let Some(subcommand) = guard::denied(&found.effects, &config.git_deny, &cwd) {
        return HookDecision::deny(format!("git {subcommand} is blocked: {}", config.git_reason));
    }
    let setup =
        ShellSetup { reads_startup_files: config.startup_files.count_for(agent), trusted: &config.trusted_startup };
    let findings =
        if found.decided == Decided::Host { Findings::default() } else { conditions::check(&found, &cwd, setup) };
    if found.decided != Decided::Host && findings.is_clear() {
        return HookDecision::Allow;
    }
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
        session: event.session.clone().map(short),
        tool_use_id: event.tool_use_id.clone().map(short),
        timeout_ms: Some(config.deadline_s * 1000),
        other_shell: config.shell != bashgate_shared::shell::Shell::Bash,
        protected,
        locked: true,
        evidence: evidence::of(&found.effects, &cwd),
        secrets: findings.secrets.into_iter().take(64).collect(),
        unproven: findings.unproven.into_iter().take(64).collect(),
    };
    match serde_json::to_vec(&wire) {
        Ok(bytes) => answer(ask::ask(config, &id, &bytes), Some(&why_asked), config),
        Err(error) => HookDecision::deny(format!("cannot write the request: {error}")),
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
        Ok(response) if ask::is_allowed(&response) => HookDecision::Allow,
        Ok(response) if response.reason.trim().is_empty() => HookDecision::deny("the host denies it without a reason"),
        Ok(response) => HookDecision::deny(response.reason),
        Err(error) if error.is_silence() && config.when_host_silent == WhenSilent::Allow => {
            // Loud on purpose: nobody checked this command.
            eprintln!(
                "bashgate-hook: WARNING: let through unchecked, because {error} and `when_host_silent` is `allow`"
            );
            HookDecision::Allow
        }
        Err(error) => {
            let asked = why_asked.map(|why| format!(" (asked because: {why})")).unwrap_or_default();
            HookDecision::deny(format!("{error}{asked}; for the operator: {}", error.help()))
        }
    }
}
