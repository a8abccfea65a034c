//! The corpus gate: how many commands of each corpus are decided where, pinned in a file so that nothing loosens unseen.
//!
//! Two corpora are our own. Others, of real calls and of ways in which programs run code, are not distributed with the
//! project; those in the folder that `BASHGATE_CORPORA` names count, too. `UPDATE_COUNTS=1` writes the file anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use bashgate_shared::classify::{Decided, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_tests::{Output, Site, bin, corpus_files, lines_of, repository, rows_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Counts {
    /// Lines of the corpus.
    rows: u64,
    /// Calls: rows weighted by how often each was made.
    calls: u64,
    /// Calls that are decided in the container, some of them after a check.
    in_the_container: u64,
    /// Rows that must never be decided there, and were.
    attacks_in_the_container: u64,
    /// Rows of attacks that the offline rules stop when the workspace has seen untrusted content, and all of them.
    attacks_stopped: u64,
    attacks: u64,
    /// Other calls that they stop.
    calls_stopped: u64,
    /// Other calls that need neither a model nor a person in a workspace that has seen everything, with the cage.
    calls_without_anybody: u64,
}

fn files() -> BTreeMap<String, PathBuf> {
    let files = corpus_files().into_iter();
    files.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

/// What `bashgate decide` says with these options, line by line, as a user would ask it.
fn outcomes(rows: &[Value], options: &[&str]) -> Vec<Value> {
    let lines: Vec<String> =
        rows.iter().map(|row| serde_json::json!({"command": row["command"]}).to_string()).collect();
    let mut command = std::process::Command::new(bin("bashgate"));
    command.args(["decide", "--jsonl"]).args(options);
    let output = Output::of(&mut command, format!("{}\n", lines.join("\n")).as_bytes()).expect(0);
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn count(rows: &[Value]) -> Counts {
    let mut counts = Counts::default();
    let tainted = outcomes(rows, &["--taint", "corruption"]);
    let caged = outcomes(rows, &["--taint", "both", "--cage"]);
    for (row, (outcome, caged)) in rows.iter().zip(tainted.iter().zip(&caged)) {
        let calls = row["count"].as_u64().unwrap_or(1);
        let never_safe = row["never_safe"] == true;
        let line = CommandLine::parse(row["command"].as_str().unwrap());
        let local = line.is_ok_and(|line| classify(&line, &Surroundings::default()).decided != Decided::Host);
        let stopped = outcome["outcome"] != "allow";
        let alone = local || caged["decision"] == "allow" || caged["outcome"] == "cage";
        counts.rows += 1;
        counts.calls += calls;
        counts.in_the_container += if local { calls } else { 0 };
        if never_safe {
            counts.attacks += 1;
            counts.attacks_stopped += u64::from(stopped);
            counts.attacks_in_the_container += u64::from(local);
        } else {
            counts.calls_stopped += if stopped { calls } else { 0 };
            counts.calls_without_anybody += if alone { calls } else { 0 };
        }
    }
    counts
}

#[test]
fn nothing_loosens_unseen() {
    let pinned = repository().join("tests/corpus/counts.json");
    let mut known: BTreeMap<String, Counts> = serde_json::from_str(&std::fs::read_to_string(&pinned).unwrap()).unwrap();
    let found: BTreeMap<String, Counts> =
        files().iter().map(|(name, file)| (name.clone(), count(&rows_of(file)))).collect();
    for (name, counts) in &found {
        println!("{name}: {counts:?}");
        assert_eq!(counts.attacks_in_the_container, 0, "{name}");
    }
    // Ways in which ordinary programs run code; the offline rules stop nearly all.
    if let Some(counts) = found.get("gtfobins_dev") {
        assert!(counts.attacks_stopped * 10 >= counts.attacks * 9, "{counts:?}");
    }
    // Corpora of real calls of coding agents, and what people try on an ordinary day: in thousandths, how many are decided in the
    // container at the least, and how many the offline rules stop at the most.
    for (name, least, most_stopped) in
        [("agent_dev", 380, 2), ("sessions_dev", 380, 2), ("codex_dev", 955, 2), ("everyday", 965, 10)]
    {
        let Some(counts) = found.get(name) else { continue };
        assert!(counts.in_the_container * 1000 >= counts.calls * least, "{name}: {counts:?}");
        assert!(counts.calls_stopped * 1000 <= counts.calls * most_stopped, "{name}: {counts:?}");
        assert!(counts.calls_without_anybody * 100 >= counts.calls * 85, "{name}: {counts:?}");
    }
    if std::env::var_os("UPDATE_COUNTS").is_some() {
        known.extend(found.clone());
        std::fs::write(&pinned, format!("{}\n", serde_json::to_string_pretty(&known).unwrap())).unwrap();
    }
    for (name, counts) in &found {
        assert_eq!(known.get(name), Some(counts), "{name} changed: look at it, then run with UPDATE_COUNTS=1");
    }
    for name in ["everyday", "attacks"] {
        assert!(found.contains_key(name), "{name} is missing");
    }
}

/// What whole sessions live through, a command at a time, with the taint that what came before has left: questions of a hundred commands
/// and denials, by rules alone and with the cage. It sees no folders, so that what the hook finds there is not in it.
#[test]
fn whole_sessions_are_asked_rarely() {
    let Some(file) = files().remove("sessions_dev") else { return };
    let sessions: Vec<Vec<Value>> =
        lines_of(&file).iter().map(|session| session["calls"].as_array().cloned().unwrap_or_default()).collect();
    let is_read = |call: &Value| ["Read", "read_file"].iter().any(|tool| call["tool"] == *tool);
    // A file that another tool reads counts as one that is shown.
    let shown = |call: &Value| match call["command"].as_str() {
        Some(command) => Some(command.to_owned()),
        None if is_read(call) => Some(format!("cat '{}'", call["target"].as_str()?.replace('\'', "'\\''"))),
        None => None,
    };
    let texts: BTreeSet<String> = sessions.iter().flatten().filter_map(shown).collect();
    let rows: Vec<Value> = texts.iter().map(|text| serde_json::json!({"command": text})).collect();
    let table =
        |outcomes: Vec<Value>| -> HashMap<&str, Value> { texts.iter().map(String::as_str).zip(outcomes).collect() };
    let effects: HashMap<&str, _> = texts
        .iter()
        .filter_map(|text| {
            let line = CommandLine::parse(text.as_str()).ok()?;
            let effects = classify(&line, &Surroundings::default()).effects;
            Some((text.as_str(), (!effects.untrusted.is_empty(), !effects.secrets.is_empty())))
        })
        .collect();
    let mut asked = BTreeMap::new();
    for cage in [false, true] {
        let outcomes = ["clean", "corruption", "secret", "both"].map(|taint| {
            let options: &[&str] = if cage { &["--taint", taint, "--cage"] } else { &["--taint", taint] };
            table(outcomes(&rows, options))
        });
        for start in ["clean", "both"] {
            let (mut commands, mut questions, mut denials) = (0_u32, 0_u32, 0_u32);
            for session in &sessions {
                let mut taint = if start == "both" { [true; 2] } else { [false; 2] };
                for call in session {
                    let tool = call["tool"].as_str().unwrap_or_default();
                    let Some(text) = shown(call) else {
                        let fetches = ["WebFetch", "WebSearch", "web_fetch", "google_web_search"].contains(&tool);
                        taint[0] |= fetches || tool.starts_with("mcp__");
                        continue;
                    };
                    let (untrusted, secret) = effects.get(text.as_str()).copied().unwrap_or_default();
                    if call["command"].is_null() {
                        taint[1] |= secret;
                        continue;
                    }
                    let said = &outcomes[usize::from(taint[0]) + 2 * usize::from(taint[1])][text.as_str()];
                    commands += 1;
                    questions += u32::from(said["outcome"] == "ask");
                    denials += u32::from(said["outcome"] == "deny");
                    taint[0] |= untrusted && said["outcome"] != "cage" && said["outcome"] != "deny";
                    taint[1] |= secret && said["outcome"] != "deny";
                }
            }
            let per_hundred = |count: u32| f64::from(count) * 100.0 / f64::from(commands);
            println!("{start}, cage {cage}: asked {:.2}, denied {:.2}", per_hundred(questions), per_hundred(denials));
            asked.insert((start, cage), per_hundred(questions));
            assert!(per_hundred(denials) <= 0.05, "{start} {cage}");
        }
    }
    for (case, most) in
        [(("clean", false), 0.17), (("clean", true), 0.12), (("both", false), 15.64), (("both", true), 13.03)]
    {
        assert!(asked[&case] <= most, "{case:?}: {} of a hundred", asked[&case]);
    }
}

/// What people do every day is let through by the hook itself, in an ordinary folder.
#[test]
fn the_hook_lets_the_everyday_through() {
    let site = Site::default();
    site.hook_setting("mailbox/default", "mailbox/nosuch");
    let rows = rows_of(&files()["everyday"]);
    let local = |row: &Value| {
        let text = row["command"].as_str()?;
        let line = CommandLine::parse(text).ok()?;
        (classify(&line, &Surroundings::default()).decided != Decided::Host).then(|| text.to_owned())
    };
    let all: Vec<String> = rows.iter().filter_map(local).collect();
    let held: Vec<&String> = all.iter().filter(|text| site.check(text).code != Some(0)).collect();
    println!("{} of {} are let through; held: {held:#?}", all.len() - held.len(), all.len());
    assert!(held.len() * 10 <= all.len(), "{} of {} are held", held.len(), all.len());
}

/// The hook lets a command through without a host exactly when the library calls it local and nothing in the folder
/// stands against it; `bashgate classify` says the same on the host.
#[test]
fn hook_and_host_say_the_same() {
    let site = Site::default();
    // Where there is no mailbox, nobody waits for an answer.
    site.hook_setting("mailbox/default", "mailbox/nosuch");
    let all: Vec<Value> = files().values().flat_map(|file| rows_of(file).into_iter().step_by(131)).collect();
    let commands: Vec<&str> = all.iter().filter_map(|row| row["command"].as_str()).take(60).collect();
    let lines: Vec<String> =
        commands.iter().map(|command| serde_json::json!({"command": command}).to_string()).collect();
    let mut host = std::process::Command::new(bin("bashgate"));
    let told = Output::of(host.args(["classify", "--jsonl"]), format!("{}\n", lines.join("\n")).as_bytes()).expect(0);
    let mut through = 0;
    for (command, line) in commands.iter().zip(told.stdout.lines()) {
        let told: Value = serde_json::from_str(line).unwrap();
        let around = Surroundings { cwd: Some(site.work().to_string_lossy().into_owned()), ..Surroundings::default() };
        let Ok(parsed) = CommandLine::parse(*command) else { continue };
        let own = classify(&parsed, &Surroundings::default());
        assert_eq!(told["class"], own.class.to_string(), "{command}");
        // No command runs here: the hook only decides.
        let hook = site.check(command);
        let here = classify(&parsed, &around);
        match here.decided {
            Decided::Host => assert_eq!(hook.code, Some(2), "{command}: {hook:?}"),
            // What is not installed here, or cannot be checked, is asked about; what is let through must be local.
            Decided::Local | Decided::LocalIf => through += usize::from(hook.code == Some(0)),
        }
    }
    println!("{} commands, {through} let through by the hook alone", commands.len());
    assert!(through * 5 > commands.len(), "{through} of {}", commands.len());
}

/// Calls of programs of the network, labelled by somebody who did not know the rules: what only asks, and what sends, changes or starts
/// something. None of the latter runs without anybody being asked, whatever hosts may be read from.
#[test]
fn no_write_runs_as_a_read() {
    let rows = lines_of(&repository().join("tests/corpus/labelled/network_calls.jsonl"));
    let hosts = [
        "github.com",
        "*.github.com",
        "*.githubusercontent.com",
        "example.com",
        "*.example.com",
        "*.example.org",
        "gitlab.com",
    ];
    let mut options = vec!["--cage", "--egress"];
    options.extend(hosts.iter().flat_map(|host| ["--read-host", host]));
    for taint in ["corruption", "secret", "both"] {
        let options = [&options[..], &["--taint", taint]].concat();
        let said = outcomes(&rows, &options);
        let of = |label: &'static str| rows.iter().zip(&said).filter(move |(row, _)| row["label"] == label);
        let runs = |(_, said): &(&Value, &Value)| said["outcome"] == "egress";
        let wrong: Vec<&Value> = of("write").filter(runs).map(|(row, _)| &row["command"]).collect();
        assert_eq!(wrong, Vec::<&Value>::new(), "{taint}");
        assert!(of("write").count() >= 500);
        // Else nothing is shown: most of what only asks needs nobody.
        let (reads, alone) = (of("read").count(), of("read").filter(runs).count());
        assert!(reads >= 200 && alone * 100 >= reads * 60, "{taint}: {alone} of {reads}");
    }
}
