//! May this tool be used that is no shell? By the rules of the shell for what it does to files and addresses: what is provably
//! local is let through here, about everything else the host is asked.

use std::path::Path;

use bashgate_shared::classify::tool::{MAX_ACTS, ToolAct};
use bashgate_shared::classify::{Decided, Surroundings, classify_tool, secrets};
use bashgate_shared::protocol::{RequestId, TOOL_EVENT, ToolEventWire, VERSION};

use super::conditions::{self, ShellSetup};
use super::config::Config;
use super::evidence;
use super::{About, BoundInput, HookDecision, HostRequest, LetThroughBy, Step, label, told};

/// Longest target that is told, in characters.
const MAX_TARGET: usize = 1024;
/// Most links among what a service is told of that are followed.
const MAX_LINKS: usize = 16;

/// A tool that is about to be used.
#[derive(Debug)]
pub struct ToolQuestion<'t> {
    /// The tool's name.
    pub tool: &'t str,
    /// A path, a URL or a query.
    pub target: Option<&'t str>,
    /// What it does to files and addresses.
    pub acts: &'t [ToolAct],
    /// What a service is sent; at most [`bashgate_shared::protocol::MAX_SENT_BYTES`].
    pub sends: Option<&'t str>,
    /// What it writes, or the start of that; at most [`bashgate_shared::protocol::MAX_SENT_BYTES`].
    pub content: Option<&'t str>,
    /// Forms of credentials in what is sent and not told.
    pub shown: &'t [&'static str],
    /// True when it asks somebody, so that the host has to know of it.
    pub asks: bool,
    /// Where the agent works; absolute.
    pub cwd: &'t Path,
    /// Who asks, for the audit.
    pub asker: &'t str,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// The agent's id of the call, for the audit.
    pub tool_use_id: Option<String>,
}

/// Decides one use of a tool as far as that goes without the host.
pub fn check(question: ToolQuestion<'_>, config: &Config) -> Step {
    let protected = config.protected();
    let cwd = question.cwd.to_str().map(str::to_owned);
    let around = Surroundings { shell: config.shell, cwd: cwd.clone(), protected: protected.clone(), programs: None };
    // Whoever is given a folder reads what is in it.
    let mut acts: Vec<ToolAct> = question.acts.iter().map(|act| whole_folder(act, question.cwd)).collect();
    acts.extend(shown_by_writing(&acts, question.cwd));
    acts.extend(handed_over(question.sends.unwrap_or_default(), &acts, question.cwd));
    let found = classify_tool(question.tool, &acts, &around);
    // No shell is started for it.
    let setup = ShellSetup { reads_startup_files: false, trusted: &[] };
    // A secret that it reads is told however it lies there; nothing else can be decided here.
    let mut findings = conditions::check(&found, question.cwd, &protected, setup);
    findings.secrets.extend(question.shown.iter().map(|form| format!("a credential in what is sent: {form}")));
    if !question.asks && found.decided != Decided::Host && findings.is_clear() {
        return Step::Decided(HookDecision::Allow(LetThroughBy::Hook));
    }
    let leads_to = conditions::leads_to(&found.effects, question.cwd);
    let evidence = evidence::of_reads(question.tool, &found.effects, question.sends.unwrap_or_default(), question.cwd);
    let about = About::Input(Some(Box::new(BoundInput {
        read: evidence.clone(),
        tool: question.tool.to_owned(),
        sent: question.sends.unwrap_or_default().to_owned(),
        effects: found.effects,
        cwd: question.cwd.to_owned(),
        leads_to: leads_to.clone(),
    })));
    let first = question.acts.first().map(ToolAct::on);
    let target = question.target.or(first).map(|target| target.chars().take(MAX_TARGET).collect());
    let wire = |id: &RequestId| ToolEventWire {
        kind: TOOL_EVENT.to_owned(),
        request_id: id.to_string(),
        tool: label(question.tool.to_owned()),
        v: Some(VERSION),
        target,
        acts,
        sends: question.sends.map(str::to_owned),
        content: question.content.map(str::to_owned),
        cwd,
        protected,
        evidence,
        secrets: told(findings.secrets),
        unproven: told(findings.unproven),
        unlooked: told(findings.unlooked),
        leads_to,
        agent: Some(question.asker.to_owned()),
        session: question.session.map(label),
        tool_use_id: question.tool_use_id.map(label),
        timeout_ms: Some(config.deadline_s * 1000),
        locked: true,
        key_id: Some(config.public_key.id()),
    };
    HostRequest::step(wire, about)
}

/// Whoever changes a file is shown what stands around the change: of a secret, the rest of it.
fn shown_by_writing(acts: &[ToolAct], cwd: &Path) -> Vec<ToolAct> {
    let is_there = |path: &str| conditions::place(path, cwd).is_some_and(|place| place.is_file());
    let changed = acts.iter().filter_map(|act| match act {
        ToolAct::Write { path } if secrets::is_secret_path(path) && is_there(path) => Some(path.clone()),
        _ => None,
    });
    let read = changed.map(|path| ToolAct::Read { path });
    read.filter(|act| !acts.contains(act)).take(MAX_ACTS.saturating_sub(acts.len())).collect()
}

/// Links among what a service is told of: what they lead to may be what it takes along.
fn handed_over(sent: &str, acts: &[ToolAct], cwd: &Path) -> Vec<ToolAct> {
    let is_link = |name: &String| {
        conditions::place(name, cwd)
            .is_some_and(|place| place.is_file() && place.canonicalize().is_ok_and(|real| real != place))
    };
    let links = evidence::names_in_input(sent).into_iter().filter(is_link).map(|path| ToolAct::Read { path });
    links.filter(|act| !acts.contains(act)).take(MAX_ACTS.saturating_sub(acts.len()).min(MAX_LINKS)).collect()
}

fn whole_folder(act: &ToolAct, cwd: &Path) -> ToolAct {
    match act {
        ToolAct::Read { path } if conditions::place(path, cwd).is_some_and(|place| place.is_dir()) => {
            ToolAct::Search { path: path.clone() }
        }
        act => act.clone(),
    }
}
