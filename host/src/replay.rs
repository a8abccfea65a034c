//! What another policy would have said to the requests on record.
//!
//! Each decision is judged again with the taint that its workspace had then, with the effects and the class that were recorded, and with
//! the inspector's recorded word; where none was asked then, with the offline rules.

use bashgate_shared::classify::{Classification, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::draft::SCRIPT_DRAFT;
use bashgate_shared::protocol::{Answer, BASH_RAN, ToolCall, WorkspaceName};
use serde::Deserialize;
use serde_json::Value;

use crate::audit::{DecisionRecord, Record};
use crate::case;
use crate::config::Config;
use crate::inspector::{Brief, offline};
use crate::policy::cage::{self, Cage};
use crate::policy::egress::{self, ReadHosts, Remotes};
use crate::policy::trust::{self, Terms};
use crate::policy::{self, Approved, Asked, Decision, Finding, Judged, Outcome, Policy, tools};
use crate::taint::Taint;

/// What comes of a request: it is allowed, runs in the cage, runs there with a way out to the hosts that it names, a person is asked, or
/// it is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It is allowed.
    Allow,
    /// It runs in the cage.
    Cage,
    /// It runs there with a way out.
    Egress,
    /// A person is asked.
    Ask,
    /// It is denied.
    Deny,
}

impl End {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Cage => "cage",
            Self::Egress => "egress",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What may come in the place of a question.
#[derive(Clone, Copy)]
pub struct Instead<'i> {
    /// A run without network.
    pub cage: Cage,
    /// A run with a way out to hosts that may be read from.
    pub egress: Option<(&'i ReadHosts, &'i Remotes)>,
}

/// What would come of a command, with the finding of the inspector where the policy wants one.
pub fn end_of(
    policy: &Policy,
    instead: Instead<'_>,
    taint: Taint,
    found: &Classification,
    asked: Asked<'_>,
    inspect: impl FnOnce(&Judged) -> Finding,
) -> (Judged, End, Option<Finding>) {
    let judged = policy::judge(policy, taint, found, asked);
    let is_question = matches!(judged.decision, Decision::Inspect | Decision::AskHuman);
    let reads = |from| egress::hosts(policy, &judged, found, asked, from).is_some();
    if is_question && instead.egress.is_some_and(reads) {
        return (judged, End::Egress, None);
    }
    let is_caged = |question| instead.cage.replaces(question) && cage::fits(policy, &judged, found, asked);
    let (end, finding) = match judged.decision {
        question if is_caged(question) => (End::Cage, None),
        Decision::Allow => (End::Allow, None),
        Decision::AskHuman => (End::Ask, None),
        Decision::Deny => (End::Deny, None),
        Decision::Inspect => {
            let finding = inspect(&judged);
            let end = match policy::resolve(judged.taint, &finding) {
                Outcome::Allow => End::Allow,
                Outcome::AskHuman if !matches!(finding, Finding::Flagged { .. }) && is_caged(Decision::AskHuman) => {
                    End::Cage
                }
                Outcome::AskHuman => End::Ask,
                Outcome::Deny => End::Deny,
            };
            (end, Some(finding))
        }
    };
    (judged, end, finding)
}

/// A decision on record.
pub struct Decided {
    /// The record.
    pub past: Past,
    /// What it says.
    pub detail: DecisionRecord,
}

impl Decided {
    /// How it ended. What a person was asked about counts as asked, whatever they said.
    pub fn then(&self) -> End {
        then(&self.detail)
    }

    /// How it would end by a configuration; `None` where it has no command that could be judged again.
    pub fn now(&self, config: &Config) -> Option<Now> {
        again(config, self.past.workspace.as_ref(), &self.detail)
    }
}

/// What a record is to whoever judges decisions again.
pub enum Read {
    /// It is no decision about a command or a call.
    None,
    /// It cannot be read.
    Unreadable,
    /// It is a decision, and what it says of it cannot be read.
    Incomplete,
    /// A decision.
    Decision(Box<Decided>),
}

/// Reads a record.
pub fn read(record: &Record) -> Read {
    let Ok(past) = serde_json::from_str::<Past>(&record.body) else { return Read::Unreadable };
    if past.kind != "decision" {
        return Read::None;
    }
    // A report of what came of a command decides nothing, and a script that was written is none yet.
    if matches!(past.detail.get("type").and_then(Value::as_str), Some(BASH_RAN | SCRIPT_DRAFT)) {
        return Read::None;
    }
    match DecisionRecord::deserialize(&past.detail) {
        Ok(detail) => Read::Decision(Box::new(Decided { past, detail })),
        Err(_) => Read::Incomplete,
    }
}

/// What a decision would be now.
pub struct Now {
    /// How it ends.
    pub end: End,
    /// By which rule.
    pub rule: String,
    /// Why.
    pub reason: String,
}

/// A record, as far as it matters here.
#[derive(Deserialize)]
pub struct Past {
    /// Its number.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Its kind.
    pub kind: String,
    /// Its workspace.
    pub workspace: Option<WorkspaceName>,
    /// What it says.
    pub detail: Value,
}

/// How a request ended. What a person was asked about counts as asked, whatever they said.
fn then(detail: &DecisionRecord) -> End {
    let asked = detail.approval.is_some() || detail.by.is_human() || detail.would_ask;
    match detail.answer {
        _ if asked => End::Ask,
        Answer::Deny if detail.caged && !detail.egress.is_empty() => End::Egress,
        Answer::Deny if detail.caged => End::Cage,
        Answer::Allow => End::Allow,
        Answer::Deny => End::Deny,
    }
}

/// How it would end now.
fn again(config: &Config, workspace: Option<&WorkspaceName>, detail: &DecisionRecord) -> Option<Now> {
    let settings = workspace.and_then(|name| config.workspaces.get(name)).cloned().unwrap_or_default();
    let around = Surroundings { shell: settings.shell(), cwd: detail.cwd.clone(), ..Surroundings::default() };
    let (line, found, terms) = if let Some(tool) = detail.tool.clone() {
        let words = format!("{tool} {}", detail.target.as_deref().unwrap_or_default());
        // What was sent is not on record; that something was, its service says.
        let is_service = detail.service.as_deref().is_some_and(|service| !matches!(service, "web" | "files"));
        let sends = is_service.then(|| "".into());
        let call = ToolCall { name: tool, target: detail.target.clone(), acts: detail.acts.clone(), sends };
        let name = trust::service_of(&call).to_owned();
        let service = config.service(&name);
        let found = tools::classify(&call, &name, &service, &around);
        let terms = Terms::of(&name, &service, settings.clean_room);
        (CommandLine::parse(words.trim_end().to_owned()).ok()?, found, Some(terms))
    } else {
        let line = CommandLine::parse(detail.command.clone()?).ok()?;
        let found = Classification {
            class: detail.class?,
            reason: detail.class_reason.clone()?,
            effects: detail.effects.clone()?,
            ..classify(&line, &around)
        };
        (line, found, None)
    };
    let taint = detail.taint_before?;
    let cage = if detail.can_cage { settings.cage() } else { Cage::default() };
    let remotes = egress::remotes(detail.remotes.as_deref().unwrap_or_default());
    let reads = config.reads.as_ref().filter(|_| detail.can_cage);
    let instead = Instead { cage, egress: reads.map(|reads| (&reads.hosts, &remotes)) };
    // Who approved a script then is not asked again.
    let approved = detail.approval.is_none() && detail.answer == Answer::Allow;
    let script = detail.script.as_ref().map(|_| if approved { Approved::Yes } else { Approved::NotYet });
    let cwd = detail.cwd.as_deref();
    let asked =
        Asked { text: line.text(), cwd, by_runner: detail.permission.is_some(), script, service: terms.as_ref() };
    let (judged, end, finding) = end_of(&config.policy, instead, taint, &found, asked, |_| {
        detail.finding.clone().unwrap_or_else(|| {
            offline::inspect(&Brief::new(line.text(), detail.cwd.as_deref(), &found, taint, &[], &[]))
        })
    });
    let reason = finding.map_or(judged.reason, |finding| case::advice(&finding));
    Some(Now { end, rule: judged.rule.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Hash;

    #[test]
    fn what_is_no_decision_is_told_from_one_that_cannot_be_read() {
        let record =
            |body: &str| Record { seq: 1, hash: Hash::START, body: body.to_owned(), looked_up_by: [None, None, None] };
        let of = |kind: &str, detail: &str| {
            record(&format!("{{\"seq\":1,\"at_ms\":1,\"kind\":\"{kind}\",\"detail\":{detail}}}"))
        };
        assert!(matches!(read(&record("nonsense")), Read::Unreadable));
        assert!(matches!(read(&of("host", "{}")), Read::None));
        assert!(matches!(read(&of("decision", &format!("{{\"type\":\"{BASH_RAN}\"}}"))), Read::None));
        assert!(matches!(read(&of("decision", "{}")), Read::Incomplete));
    }
}
