//! `bashgate audit replay`: what another policy would have said to the requests on record.
//!
//! Each decision is judged again with the taint that its workspace had then, with the effects and the class that were
//! recorded, and with the inspector's recorded word; where none was asked then, with the offline rules.

use std::collections::{BTreeMap, HashSet};

use bashgate_shared::classify::{Classification, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::draft::SCRIPT_DRAFT;
use bashgate_shared::protocol::{Answer, BASH_RAN, ToolCall, WorkspaceName};
use bashgate_shared::{say, say_aside};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Run;
use super::audit::failed;
use super::judge::{End, Instead, end_of};
use crate::audit::DecisionRecord;
use crate::case;
use crate::chat::notice::one_line;
use crate::clock;
use crate::config::Config;
use crate::inspector::{Brief, offline};
use crate::policy::cage::Cage;
use crate::policy::egress;
use crate::policy::tools;
use crate::policy::trust::{self, Terms};
use crate::policy::{Approved, Asked};
use crate::store::{Reader, StoreError};

/// What a decision would be now.
struct Now {
    end: End,
    rule: String,
    reason: String,
}

/// A record, as far as it matters here.
#[derive(Deserialize)]
pub(super) struct Past {
    seq: u64,
    at_ms: u64,
    pub(super) kind: String,
    workspace: Option<WorkspaceName>,
    pub(super) detail: Value,
}

/// Commands that have reached for the network when they were caged, as their runners said.
fn wanted_network(reader: &Reader) -> Result<HashSet<String>, StoreError> {
    let mut wanted = HashSet::new();
    let each = |record: crate::audit::Record| {
        let past = serde_json::from_str::<Past>(&record.body).ok();
        let is_so = |past: &Past| past.detail.get("wanted_network").and_then(Value::as_bool) == Some(true);
        if let Some(past) = past.filter(is_so)
            && let Some(command) = past.detail.get("command").and_then(Value::as_str)
        {
            wanted.insert(command.to_owned());
        }
        true
    };
    reader.audit(1, each)?;
    Ok(wanted)
}

pub(super) fn run(config: &Config, reader: &Reader, as_json: bool) -> Run {
    let wanted = wanted_network(reader).map_err(|error| failed(&error))?;
    let (mut decisions, mut unreadable, mut would_fail) = (0_u64, 0_u64, 0_u64);
    let mut changes: BTreeMap<(End, End), u64> = BTreeMap::new();
    let each = |record: crate::audit::Record| {
        let Ok(past) = serde_json::from_str::<Past>(&record.body) else {
            unreadable += 1;
            return true;
        };
        if past.kind != "decision" {
            return true;
        }
        // A report of what came of a command decides nothing, and a script that was written is none yet.
        if matches!(past.detail.get("type").and_then(Value::as_str), Some(BASH_RAN | SCRIPT_DRAFT)) {
            return true;
        }
        decisions += 1;
        let Some((detail, now)) = DecisionRecord::deserialize(&past.detail)
            .ok()
            .and_then(|detail| again(config, past.workspace.as_ref(), &detail).map(|now| (detail, now)))
        else {
            unreadable += 1;
            return true;
        };
        let before = then(&detail);
        if now.end == End::Cage && before != End::Cage {
            // By what it says of itself, or by what came of it when it was caged before.
            let uses_it = detail.effects.as_ref().is_some_and(|effects| !effects.network.is_empty());
            let wanted_it = detail.command.as_ref().is_some_and(|command| wanted.contains(command));
            would_fail += u64::from(uses_it || wanted_it);
        }
        if before != now.end {
            *changes.entry((before, now.end)).or_default() += 1;
            say!("{}", line(&past, &detail, before, &now, as_json));
        }
        true
    };
    reader.audit(1, each).map_err(|error| failed(&error))?;
    let changed: u64 = changes.values().sum();
    let kinds: Vec<String> =
        changes.iter().map(|((from, to), count)| format!("{} -> {}: {count}", from.as_str(), to.as_str())).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    say_aside!("{decisions} decisions, {changed} would change with {}{kinds}.", config.file.display());
    let asked = |(pair, count): (&(End, End), &u64), is: fn(&(End, End)) -> bool| if is(pair) { *count } else { 0 };
    let saved: u64 =
        changes.iter().map(|change| asked(change, |(from, to)| *from == End::Ask && *to != End::Ask)).sum();
    let added: u64 =
        changes.iter().map(|change| asked(change, |(from, to)| *from != End::Ask && *to == End::Ask)).sum();
    if saved + added + would_fail > 0 {
        say_aside!(
            "{saved} questions would be saved, {added} would come anew; {would_fail} of what would be caged reaches for the network and would fail there."
        );
    }
    if unreadable > 0 {
        say_aside!("{unreadable} of them have no command that could be judged again.");
    }
    Ok(())
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

fn line(past: &Past, detail: &DecisionRecord, before: End, now: &Now, as_json: bool) -> String {
    let Now { end, rule, reason } = now;
    let workspace = past.workspace.as_ref().map_or("", WorkspaceName::as_str);
    if as_json {
        return json!({
            "seq": past.seq, "at_ms": past.at_ms, "workspace": workspace, "command": detail.command, "tool": detail.tool,
            "target": detail.target, "taint": detail.taint_before, "before": before.as_str(), "now": end.as_str(),
            "rule": rule, "reason": reason,
        })
        .to_string();
    }
    let used = || format!("{} {}", detail.tool.as_deref().unwrap_or(""), detail.target.as_deref().unwrap_or(""));
    let what = detail.command.clone().unwrap_or_else(used);
    let (before, now, date) = (before.as_str(), end.as_str(), clock::date(past.at_ms));
    format!("{:>6} {date} {workspace} {before} -> {now} ({rule}): {}", past.seq, one_line(&what, 80))
}
