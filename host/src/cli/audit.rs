//! `bashgate audit`: reads the record, also while the host runs.

use std::io::Write as _;
use std::path::Path;

use bashgate_shared::draft::SCRIPT_DRAFT;
use bashgate_shared::protocol::{BASH_RAN, TOOL_EVENT};
use bashgate_shared::{say, say_aside};
use serde_json::Value;

use super::{Audit, Failure, Run, replay};
use crate::audit::{CheckError, Checked, Hash, Record, RecordKind, check, outcome};
use crate::chat::notice::one_line;
use crate::clock;
use crate::config::Config;
use crate::state;
use crate::store::{Reader, StoreError};

pub(super) fn failed(error: &StoreError) -> Failure {
    Failure::of(error, error.help())
}

/// The record as it is now.
pub(super) fn open(state: &Path) -> Result<Reader, Failure> {
    let path = state::store(state);
    if !path.exists() {
        return Err(Failure::failed(
            format!("there is no store at {}", path.display()),
            "it is made when `bashgate serve` starts for the first time",
        ));
    }
    let reader = Reader::open(&path).map_err(|error| failed(&error))?;
    reader.hold_still().map_err(|error| failed(&error))?;
    Ok(reader)
}

pub(super) fn run(config: &Config, act: Audit) -> Run {
    let folder = match &act {
        Audit::Replay { state: Some(state), .. } => state.clone(),
        _ => config.state.clone(),
    };
    let reader = open(&folder)?;
    match act {
        Audit::Head => {
            let (records, head) = reader.head().map_err(|error| failed(&error))?;
            say_aside!(
                "{records} records; keep the head somewhere else, and check it with: bashgate audit verify --head HASH"
            );
            say!("{head}");
            Ok(())
        }
        Audit::Verify { head } => verify(&reader, &folder, head.as_deref()),
        Audit::Tail { lines, json } => {
            let (last, _) = reader.head().map_err(|error| failed(&error))?;
            print(&reader, last.saturating_sub(lines) + 1, json)
        }
        Audit::Export => print(&reader, 1, true),
        Audit::Replay { json, .. } => replay::run(config, &reader, json),
    }
}

fn verify(reader: &Reader, folder: &Path, head: Option<&str>) -> Run {
    let wanted = match head {
        None => None,
        Some(text) => Some(
            Hash::parse(text.trim())
                .ok_or_else(|| Failure::Usage(format!("`{text}` is no head: it has 64 hexadecimal digits")))?,
        ),
    };
    let Checked { records, pruned, head } = unbroken(reader, folder, wanted)?;
    let since = if pruned == 0 {
        String::new()
    } else {
        format!(" The first {pruned} were pruned; the host's key has signed where.")
    };
    say!("{} records, none changed, missing or moved.{since} Head: {head}", records - pruned);
    Ok(())
}

/// Follows the chain to its end, or says what to do.
pub(super) fn unbroken(reader: &Reader, folder: &Path, wanted: Option<Hash>) -> Result<Checked, Failure> {
    check(reader, folder, wanted).map_err(|error| match &error {
        CheckError::Store(store) => failed(store),
        CheckError::State(state) => Failure::of(state, state.help()),
        CheckError::Broken(broken) => {
            Failure::failed(broken, "keep the store as it is, find out who changed it, and compare with a backup")
        }
        CheckError::PrunedHead => Failure::failed(
            &error,
            "keep a head that is younger than the last checkpoint; a backup from then says which it is",
        ),
    })
}

fn print(reader: &Reader, from: u64, json: bool) -> Run {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    reader
        .audit(from, |record| {
            let line = if json {
                let mut body: Value = serde_json::from_str(&record.body).unwrap_or(Value::Null);
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("hash".to_owned(), record.hash.to_string().into());
                }
                body.to_string()
            } else {
                words(&record.body)
            };
            written = writeln!(out, "{line}");
            written.is_ok()
        })
        .map_err(|error| failed(&error))?;
    // A reader that closes the pipe has seen enough.
    let _ = written.and_then(|()| out.flush());
    Ok(())
}

/// What went out, the last so many, and what comes where it is followed.
pub(super) fn egress(config: &Config, lines: usize, workspace: Option<&str>, (json, follow): (bool, bool)) -> Run {
    let is_wanted = |record: &Record| {
        let [kind, of, _] = &record.looked_up_by;
        kind.as_deref() == Some(RecordKind::Egress.as_str()) && workspace.is_none_or(|name| of.as_deref() == Some(name))
    };
    let line = |record: &Record| if json { record.body.clone() } else { words(&record.body) };
    // A reader that closes the pipe has seen enough.
    let tell = |line: &str| writeln!(std::io::stdout(), "{line}").is_ok();
    let reader = open(&config.state)?;
    let (records, _) = reader.head().map_err(|error| failed(&error))?;
    let mut next = records + 1;
    let mut last = Vec::new();
    let newest_first = |record: Record| {
        if is_wanted(&record) && last.len() < lines {
            last.push(line(&record));
        }
        last.len() < lines
    };
    reader.audit_backwards(next, newest_first).map_err(|error| failed(&error))?;
    drop(reader);
    let mut goes_on = last.iter().rev().all(|line| tell(line)) && follow;
    while goes_on {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let from = next;
        let came = |record: Record| {
            next = record.seq + 1;
            goes_on = !is_wanted(&record) || tell(&line(&record));
            goes_on
        };
        open(&config.state)?.audit(from, came).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// A record on one line, for people.
pub fn words(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or("").to_owned();
    let number = |pointer: &str| body.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let head =
        format!("{:>6} {} {:9} {}", number("/seq"), clock::date(number("/at_ms")), text("/kind"), text("/workspace"));
    if text("/kind").as_str() == "decision" {
        let what = if text("/detail/command").is_empty() {
            format!("{} {}", text("/detail/tool"), text("/detail/target"))
        } else {
            text("/detail/command")
        };
        let came_of_it = outcome(&body).to_owned();
        // What was said of a tool, or of what has run, is no decision on a command.
        let came_of_it = match text("/detail/type").as_str() {
            BASH_RAN => "reported".to_owned(),
            TOOL_EVENT => format!("{came_of_it} the tool"),
            SCRIPT_DRAFT => format!("{came_of_it} a script that is to"),
            _ => came_of_it,
        };
        let told = if text("/detail/type") == BASH_RAN { text("/detail/reason") } else { String::new() };
        let told = if told.is_empty() { told } else { format!(" ({})", one_line(&told, 160)) };
        format!("{head} {came_of_it} by {}: {}{told}", text("/detail/by"), one_line(&what, 80))
    } else if text("/kind") == "egress" {
        let address = text("/detail/address");
        let address = if address.is_empty() { address } else { format!(" ({address})") };
        let (up, down) = (number("/detail/up"), number("/detail/down"));
        let ended = one_line(&text("/detail/ended"), 200);
        format!("{head} {}:{}{address} {up} up, {down} down: {ended}", text("/detail/host"), number("/detail/port"))
    } else {
        let detail = body.pointer("/detail").map(Value::to_string).unwrap_or_default();
        format!("{head} {}", one_line(&detail, 120))
    }
}
