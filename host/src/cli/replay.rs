//! `bashgate audit replay`: what another policy would have said to the requests on record.

use std::collections::{BTreeMap, HashSet};

use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::{say, say_aside};
use serde_json::{Value, json};

use super::Run;
use super::audit::failed;
use crate::audit::DecisionRecord;
use crate::chat::notice::one_line;
use crate::clock;
use crate::config::Config;
use crate::replay::{self, Decided, End, Now, Past, Read};
use crate::store::{Reader, StoreError};

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
        let read = replay::read(&record);
        decisions += u64::from(matches!(read, Read::Decision(_) | Read::Incomplete));
        let decided = match read {
            Read::None => return true,
            Read::Unreadable | Read::Incomplete => {
                unreadable += 1;
                return true;
            }
            Read::Decision(decided) => decided,
        };
        let Some(now) = decided.now(config) else {
            unreadable += 1;
            return true;
        };
        let (before, Decided { past, detail }) = (decided.then(), *decided);
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
