//! `bashgate classify` and `bashgate decide`: one command, or a line of JSON each from standard input.

use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;

use bashgate_shared::cage as shared_cage;
use bashgate_shared::classify::{self as shared, Classification, Surroundings};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs::own::{OwnPrograms, ProgramsFile};
use bashgate_shared::programs::reaches::{Place, Reaches};
use bashgate_shared::say;
use clap::Args;
use serde_json::{Value, json};

use super::{Failure, Run};
use crate::approval::writes;
use crate::egress::hosts::Entry;
use crate::inspector::{Brief, offline};
use crate::policy::Policy;
use crate::policy::cage::Cage;
use crate::policy::egress::{self, ReadHosts, Remotes};
use crate::programs;
use crate::replay::{End, Instead, end_of};
use crate::taint::Taint;

#[derive(Args)]
pub(super) struct Input {
    /// The command, as one argument
    command: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Read {"command":…} a line from standard input, and answer a line each in the same order
    #[arg(long)]
    jsonl: bool,
    #[command(flatten)]
    programs: Programs,
}

/// Whose programs are known.
#[derive(Args)]
pub(super) struct Programs {
    /// The operator's own programs, in the form of docs/programs.md; of a configuration, its key `programs` names them
    #[arg(long, value_name = "FILE")]
    programs: Option<PathBuf>,
}

impl Programs {
    /// What a command is judged with.
    pub(super) fn surroundings(&self) -> Result<Surroundings, Failure> {
        let own = self.load()?;
        Ok(Surroundings { programs: own.map(|(_, own)| own), ..Surroundings::default() })
    }

    /// The rows as they are written.
    pub(super) fn file(&self) -> Result<Option<ProgramsFile>, Failure> {
        Ok(self.load()?.map(|(file, _)| file))
    }

    fn load(&self) -> Result<Option<(ProgramsFile, &'static OwnPrograms)>, Failure> {
        let load = |file: &PathBuf| {
            programs::load(file).map_err(|error| {
                let help = error.help();
                Failure::failed(error, help)
            })
        };
        self.programs.as_ref().map(load).transpose()
    }
}

/// Longest line that is read whole, in bytes. The rest of a longer one is skipped, and it is answered all the same.
const MAX_LINE: usize = 4 * 1024 * 1024;

impl Input {
    fn each(&self, answer: impl Fn(&str) -> Value, words: impl Fn(&Value) -> String) -> Run {
        if self.jsonl {
            return lines(answer);
        }
        let Some(command) = &self.command else {
            return Err(Failure::Usage("give a COMMAND, or --jsonl with commands on standard input".to_owned()));
        };
        let value = answer(command);
        if self.json {
            say!("{value}");
        } else {
            say!("{}", words(&value));
        }
        Ok(())
    }
}

fn lines(answer: impl Fn(&str) -> Value) -> Run {
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let failed = |error: std::io::Error| Failure::failed(error, "check standard output");
    each_line(|command| writeln!(out, "{}", command.map_or_else(unreadable, &answer)).map_err(failed))?;
    out.flush().map_err(failed)
}

/// The command of each line of JSON on standard input, or why there is none.
pub(super) fn each_line(mut take: impl FnMut(Result<&str, &str>) -> Run) -> Run {
    let failed = |error: std::io::Error| Failure::failed(error, "check standard input");
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut line = Vec::new();
    while read_line(&mut input, &mut line).map_err(failed)? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Value>(&line) {
            Ok(Value::Object(fields)) => {
                take(fields.get("command").and_then(Value::as_str).ok_or("the line has no `command`"))?;
            }
            _ if line.len() >= MAX_LINE => take(Err("the line is too long"))?,
            _ => take(Err("the line is no JSON object"))?,
        }
    }
    Ok(())
}

/// Reads up to the next newline, at most [`MAX_LINE`] bytes of it. False at the end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        let room = MAX_LINE.saturating_sub(line.len());
        line.extend(buffer.iter().take(taken.min(room)));
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn unreadable(why: &str) -> Value {
    json!({"command": "", "class": "unknown", "decided": "host", "conditions": [], "reason": why, "effects": {},
        "decision": "deny", "outcome": "deny", "rule": "input"})
}

fn read(command: &str, around: &Surroundings) -> Result<(CommandLine, Classification), Value> {
    match CommandLine::parse(command) {
        Ok(line) => {
            let found = shared::classify(&line, around);
            Ok((line, found))
        }
        Err(error) => {
            let mut value = unreadable(&format!("{error}; {}", error.help()));
            if let Some(fields) = value.as_object_mut() {
                fields.insert("command".to_owned(), command.into());
            }
            Err(value)
        }
    }
}

pub(super) fn classify(input: &Input) -> Run {
    let around = input.programs.surroundings()?;
    let answer = |command: &str| match read(command, &around) {
        Ok((_, found)) => json!({
            "command": command, "class": found.class, "decided": found.decided, "conditions": found.conditions,
            "reason": found.reason, "effects": found.effects,
        }),
        Err(value) => value,
    };
    input.each(answer, |value| {
        format!("{} ({}): {}", text(value, "class"), text(value, "decided"), text(value, "reason"))
    })
}

/// A taint by its name, as people give it.
pub(super) fn taint_named(name: &str) -> Result<Taint, Failure> {
    match name {
        "clean" => Ok(Taint::Clean),
        "corruption" => Ok(Taint::Corruption),
        "secret" => Ok(Taint::Secret),
        "both" => Ok(Taint::Both),
        other => Err(Failure::Usage(format!("`{other}` is no taint; use clean, corruption, secret or both"))),
    }
}

/// With what a dry run counts besides the taint.
#[derive(Args)]
pub(super) struct With {
    /// With the cage instead of every question that it can replace: `outcome` is then also `cage`
    #[arg(long)]
    cage: bool,
    /// With egress for what only reads from hosts that may be read from: `outcome` is then also `egress`, and `hosts` says to where. A
    /// remote of git (`origin`) counts as one of them, and as a repository of that name
    #[arg(long)]
    egress: bool,
    /// A host that may be read from, besides the registries of packages; `github.com` stands for all of that forge. May be repeated
    #[arg(long, value_name = "HOST", requires = "egress", value_parser = |text: &str| Entry::try_from(text.to_owned()))]
    read_host: Vec<Entry>,
}

/// What a dry run takes for the remotes that a command names, since only the folder tells: each is at the first host that may be read from, and
/// a repository that is called like it.
fn supposed(reaches: &Reaches, at: Option<&egress::End>) -> Vec<((String, String), egress::Remote)> {
    let Some(at) = at else { return Vec::new() };
    let remote = |(folder, remote): (&String, &String)| {
        let name = if matches!(remote.as_str(), "" | "*") { "origin" } else { remote };
        let told = egress::Remote { ends: [at.clone()].into(), repositories: [name.to_owned()].into() };
        ((folder.clone(), remote.clone()), told)
    };
    reaches.remotes().map(remote).collect()
}

pub(super) fn decide(taint: &str, with: &With, input: &Input) -> Run {
    let taint = taint_named(taint)?;
    let policy = Policy::default();
    let around = input.programs.surroundings()?;
    let read_hosts = ReadHosts::new(&with.read_host);
    let answer = |command: &str| match read(command, &around) {
        Ok((line, found)) => {
            let is_inside = shared_cage::has_its_point_inside(&found, command);
            let cage = if with.cage && is_inside { Cage::EVERYTHING } else { Cage::default() };
            // Where its remotes lie only the folder tells.
            let places = found.reaches.iter().flat_map(|reaches| &reaches.places);
            let named = with.read_host.first().map(|host| (host.to_string(), 443));
            let supposed = |reaches| supposed(reaches, named.as_ref());
            let remotes: Remotes = found.reaches.iter().flat_map(supposed).collect();
            let instead = Instead { cage, egress: (with.egress && is_inside).then_some((&read_hosts, &remotes)) };
            let (judged, end, finding) = end_of(&policy, instead, taint, &found, line.text().into(), |judged| {
                offline::inspect(&Brief::new(command, None, &found, judged.taint, &[], &[]))
            });
            let outcome = end.as_str();
            let reason = match finding {
                Some(finding) => format!("{}; {}", judged.reason, crate::case::advice(&finding)),
                None => judged.reason,
            };
            let mut value = json!({"command": command, "class": found.class, "decision": judged.decision, "outcome": outcome, "rule": judged.rule, "reason": reason});
            // What a person could let through with others of its kind, where the text says all of that.
            let kind = if end == End::Ask { writes::kind_of(&found, &remotes) } else { None };
            if let (Some(fields), Some((acts, hosts))) = (value.as_object_mut(), kind) {
                let hosts: Vec<String> = hosts.into_iter().map(|(_, host)| host).collect();
                fields.insert("grant".to_owned(), json!({"acts": acts, "hosts": hosts}));
            }
            if let Some(fields) = value.as_object_mut().filter(|_| end == End::Egress) {
                let hosts = places.clone().filter_map(|place| match place {
                    Place::Host { host, port } => Some(Value::from(egress::written(&(host.clone(), *port)))),
                    Place::Remote { .. } => None,
                });
                let remotes = places.filter_map(|place| match place {
                    Place::Remote { remote, .. } => Some(Value::from(remote.as_str())),
                    Place::Host { .. } => None,
                });
                fields.insert("hosts".to_owned(), hosts.collect());
                fields.insert("remotes".to_owned(), remotes.collect());
            }
            value
        }
        Err(value) => value,
    };
    input.each(answer, |value| {
        let list = |field| value.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let to: Vec<String> = list("hosts")
            .map(str::to_owned)
            .chain(
                list("remotes").map(|name| format!("the remote `{}`", if name.is_empty() { "origin" } else { name })),
            )
            .collect();
        let to = if to.is_empty() { String::new() } else { format!(" to {}", to.join(", ")) };
        format!(
            "{}{to} ({}, rule {}): {}",
            text(value, "outcome"),
            text(value, "decision"),
            text(value, "rule"),
            text(value, "reason")
        )
    })
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}
