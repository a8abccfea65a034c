//! What the record says, for the page: found again, drawn, counted, verified.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bashgate_shared::classify::Surroundings;
use hyper::StatusCode;
use serde_json::{Value, json};

use crate::audit::{Record, check, outcome};
use crate::chat::notice::one_line;
use crate::policy::rules::Rule;
use crate::rule_draft::{self, Matched};
use crate::state;
use crate::store::{Reader, StoreError};

use super::api::Answer;
use super::{Of, Page};

/// Most records that one search looks at; the page goes on from there.
const LOOKED_AT: usize = 20_000;
/// Most that it finds.
const FOUND: usize = 100;
/// Most commands that are named which a rule would have covered.
const COVERED: usize = 20;
/// Most records that a picture is drawn from.
const DRAWN: usize = 200_000;
/// Most steps of one.
const STEPS: usize = 500;
/// Most hours that are counted, and into how many pieces they fall.
const MOST_HOURS: u64 = 24 * 31;
const PIECES: u64 = 48;

/// The state folder of what has a record.
pub(super) fn state_of(page: &Page) -> Result<&Path, (StatusCode, String)> {
    match &page.of {
        Of::Host { state, .. } => Ok(state),
        Of::Desk { .. } => {
            let where_it_is = "a desk has no record; where the fleet is run: bashgate fleet search";
            Err((StatusCode::NOT_FOUND, where_it_is.to_owned()))
        }
    }
}

/// Asks the record on a thread of its own, a few at a time.
pub(super) async fn ask(
    page: &Arc<Page>,
    question: impl FnOnce(&Reader) -> Result<Value, StoreError> + Send + 'static,
) -> Answer {
    let failed = |why: String| (StatusCode::INTERNAL_SERVER_ERROR, why);
    let _permit = page.readers.acquire().await.map_err(|error| failed(error.to_string()))?;
    let store = state::store(state_of(page)?);
    let asked = tokio::task::spawn_blocking(move || question(&Reader::open(&store)?));
    asked.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
}

/// A record as the page reads it.
struct Row {
    seq: u64,
    body: Value,
}

impl Row {
    fn read(record: &Record) -> Self {
        Self { seq: record.seq, body: serde_json::from_str(&record.body).unwrap_or_default() }
    }

    fn text(&self, place: &str) -> &str {
        self.body.pointer(place).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, place: &str) -> u64 {
        self.body.pointer(place).and_then(Value::as_u64).unwrap_or(0)
    }

    /// What came of it, in a word.
    fn outcome(&self) -> &str {
        match self.text("/kind") {
            "decision" => outcome(&self.body),
            _ => self.text("/detail/event"),
        }
    }

    fn what(&self) -> String {
        let all = ["/detail/command", "/detail/rule", "/detail/target", "/detail/tool", "/detail/why", "/detail/words"];
        let first = all.map(|place| self.text(place)).into_iter().find(|text| !text.is_empty());
        match first {
            Some(text) => one_line(text, 2000),
            None => one_line(&self.body.pointer("/detail").map(Value::to_string).unwrap_or_default(), 400),
        }
    }

    fn shown(&self) -> Value {
        json!({
            "seq": self.seq, "at": self.number("/at_ms"), "kind": self.text("/kind"), "workspace": self.text("/workspace"),
            "outcome": self.outcome(), "by": one_line(self.text("/detail/by"), 120), "what": self.what(),
            "why": one_line(self.text("/detail/reason"), 600), "class": self.text("/detail/class"),
            "taint": self.text("/detail/taint"), "took_us": self.number("/detail/took_us"),
            "approval": self.text("/detail/approval"),
        })
    }
}

/// What on record a rule would have covered.
pub(super) fn covered(reader: &Reader, around: &Surroundings, rule: &Rule) -> Result<Value, StoreError> {
    let Matched { count, commands } = rule_draft::matched(reader, around, rule)?;
    let more = commands.len().saturating_sub(COVERED);
    let each = commands
        .iter()
        .take(COVERED)
        .map(|((command, outcome), times)| json!({"what": one_line(command, 400), "outcome": outcome, "times": times}));
    Ok(json!({"count": count, "commands": each.collect::<Vec<_>>(), "more": more}))
}

/// Records that fit, the newest first: `before` is where to go on, 0 at the end.
pub(super) fn found(reader: &Reader, wanted: &BTreeMap<String, String>) -> Result<Value, StoreError> {
    let text = |name: &str| wanted.get(name).map(|text| text.trim().to_lowercase()).unwrap_or_default();
    let (workspace, kind, came_of_it, words) = (text("workspace"), text("kind"), text("outcome"), text("words"));
    let before = wanted.get("before").and_then(|before| before.parse().ok()).unwrap_or(u64::MAX);
    let (mut rows, mut looked_at, mut last, mut has_more) = (Vec::new(), 0_usize, 0, false);
    reader.audit_backwards(before, |record| {
        if looked_at == LOOKED_AT || rows.len() == FOUND {
            has_more = true;
            return false;
        }
        (looked_at, last) = (looked_at + 1, record.seq);
        let [of_kind, of_workspace, _] = &record.looked_up_by;
        let is = |is: &Option<String>, wanted: &str| wanted.is_empty() || is.as_deref() == Some(wanted);
        if !is(of_kind, &kind) || !is(of_workspace, &workspace) {
            return true;
        }
        let row = Row::read(&record);
        let shown = row.shown();
        let says = |name: &str| shown.get(name).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let fits = (came_of_it.is_empty() || row.outcome() == came_of_it)
            && words.split_whitespace().all(|word| {
                ["what", "why", "by", "workspace", "approval"].iter().any(|name| says(name).contains(word))
            });
        if fits {
            rows.push(shown);
        }
        true
    })?;
    Ok(json!({"rows": rows, "before": if has_more { last } else { 0 }, "looked_at": looked_at}))
}

/// How a workspace's taint went, in order of time.
pub(super) fn taint(reader: &Reader, workspace: &str) -> Result<Value, StoreError> {
    let (mut steps, mut looked_at, mut since) = (Vec::new(), 0_usize, 0);
    let mut is_whole = true;
    reader.audit_backwards(u64::MAX, |record| {
        if looked_at == DRAWN || steps.len() == STEPS {
            is_whole = false;
            return false;
        }
        looked_at += 1;
        let [kind, of, _] = &record.looked_up_by;
        if of.as_deref() != Some(workspace) || !matches!(kind.as_deref(), Some("decision" | "taint" | "workspace")) {
            return true;
        }
        let row = Row::read(&record);
        since = row.number("/at_ms");
        let after = row.text("/detail/taint");
        let before = row.text("/detail/taint_before");
        let is_step = match kind.as_deref() {
            Some("decision") => !before.is_empty() && before != after,
            _ => !after.is_empty(),
        };
        if is_step {
            let why = if kind.as_deref() == Some("decision") {
                row.what()
            } else {
                format!("{}: {}", row.text("/detail/event"), row.what())
            };
            steps.push(
                json!({"seq": row.seq, "at": since, "taint": after, "before": before, "why": one_line(&why, 300),
                              "by": one_line(row.text("/detail/by"), 120)}),
            );
        }
        true
    })?;
    steps.reverse();
    Ok(json!({"workspace": workspace, "steps": steps, "since": since, "whole": is_whole}))
}

/// How many decisions there were, and how long they took, in pieces of time.
pub(super) fn numbers(reader: &Reader, hours: u64, now_ms: u64) -> Result<Value, StoreError> {
    let hours = hours.clamp(1, MOST_HOURS);
    let piece_ms = (hours * 3_600_000).div_ceil(PIECES);
    let start = now_ms.saturating_sub(piece_ms * PIECES);
    let mut counts: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new(); usize::try_from(PIECES).unwrap_or(48)];
    let mut took: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let (mut looked_at, mut is_whole) = (0_usize, true);
    reader.audit_backwards(u64::MAX, |record| {
        if looked_at == DRAWN {
            is_whole = false;
            return false;
        }
        looked_at += 1;
        let [kind, ..] = &record.looked_up_by;
        if kind.as_deref() != Some("decision") {
            return true;
        }
        let row = Row::read(&record);
        let at = row.number("/at_ms");
        if at < start {
            return false;
        }
        let piece = usize::try_from((at - start) / piece_ms).unwrap_or(0);
        let by_person = row.text("/detail/by").starts_with("human");
        if let Some(counts) = counts.get_mut(piece) {
            let came_of_it =
                if by_person { format!("{} by a person", row.outcome()) } else { row.outcome().to_owned() };
            *counts.entry(came_of_it).or_default() += 1;
        }
        if let Some(us) = row.body.pointer("/detail/took_us").and_then(Value::as_u64) {
            took.entry(if by_person { "people" } else { "the host" }).or_default().push(us);
        }
        true
    })?;
    let took: BTreeMap<&str, Value> = took
        .into_iter()
        .map(|(who, mut all)| {
            all.sort_unstable();
            let at = |share: usize| all.get((all.len() * share / 100).min(all.len().saturating_sub(1))).copied();
            (who, json!({"count": all.len(), "median_us": at(50), "p95_us": at(95)}))
        })
        .collect();
    Ok(json!({"start": start, "piece_ms": piece_ms, "pieces": counts, "took": took, "whole": is_whole}))
}

/// Whether the record is whole.
pub(super) fn verified(reader: &Reader, state: &Path) -> Value {
    if let Err(error) = reader.hold_still() {
        return json!({"whole": false, "why": error.to_string()});
    }
    match check(reader, state, None) {
        Ok(checked) => {
            json!({"whole": true, "records": checked.records, "pruned": checked.pruned, "head": checked.head.to_string()})
        }
        Err(error) => json!({"whole": false, "why": error.to_string()}),
    }
}
