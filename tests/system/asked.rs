//! What a person would live through: whole real sessions of agents, in workspaces that have seen everything, with the cage and the way out.
//! A question whose card offers a grant counts once for all that the grant covers. The sessions are other people's, and lie in the folder that
//! `BASHGATE_CORPORA` names, where there is one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use bashgate_tests::{Output, bin, corpora, lines_of};
use serde_json::{Value, json};

/// Questions per 100 commands, most in one session, and how many of 100 calls need nobody.
const MOST_ASKED: usize = 2;
const MOST_IN_ONE: usize = 5;
const ALONE: u64 = 90;

fn commands(calls: &[Value]) -> Vec<String> {
    calls.iter().filter_map(|call| Some(call["command"].as_str()?.to_owned())).collect()
}

/// What is said of each of these commands.
fn decided(all: &BTreeSet<String>) -> BTreeMap<String, Value> {
    let lines: Vec<String> = all.iter().map(|command| json!({"command": command}).to_string()).collect();
    let mut decide = Command::new(bin("bashgate"));
    decide.args(["decide", "--taint", "both", "--cage", "--egress", "--read-host", "github.com", "--jsonl"]);
    let output = Output::of(&mut decide, format!("{}\n", lines.join("\n")).as_bytes()).expect(0);
    let said = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    all.iter().cloned().zip(said).collect()
}

/// What a card's grant covers: acts and hosts.
type Grant = (BTreeSet<String>, BTreeSet<String>);

fn grant_of(said: &Value) -> Option<Grant> {
    let list = |name: &str| {
        let all = said["grant"][name].as_array()?;
        Some(all.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect())
    };
    Some((list("acts")?, list("hosts")?))
}

/// How often somebody is asked in one session.
fn asked(session: &[String], said: &BTreeMap<String, Value>) -> usize {
    let (mut grants, mut asked): (Vec<Grant>, usize) = (Vec::new(), 0);
    for command in session.iter().filter(|command| said[*command]["outcome"] == "ask") {
        let grant = grant_of(&said[command]);
        let is_covered =
            |(acts, hosts): &Grant| grants.iter().any(|(all, at)| acts.is_subset(all) && hosts.is_subset(at));
        if grant.as_ref().is_some_and(is_covered) {
            continue;
        }
        grants.extend(grant);
        asked += 1;
    }
    asked
}

#[test]
fn whole_sessions_ask_little() {
    let files: Vec<PathBuf> = corpora();
    for file in &files {
        let rows = lines_of(file);
        let sessions: Vec<Vec<String>> =
            rows.iter().filter_map(|row| Some(commands(row["calls"].as_array()?))).collect();
        if sessions.is_empty() {
            continue;
        }
        let said = decided(&sessions.iter().flatten().cloned().collect());
        let questions: Vec<usize> = sessions.iter().map(|session| asked(session, &said)).collect();
        let all: usize = sessions.iter().map(Vec::len).sum();
        let total: usize = questions.iter().sum();
        let most = questions.iter().copied().max().unwrap_or_default();
        let told = format!("{}: {total} questions in {all} commands, most in one session {most}", file.display());
        eprintln!("{told}");
        assert!(100 * total <= MOST_ASKED * all && most <= MOST_IN_ONE, "{told}");
    }
    let Some(file) = files.iter().find(|file| file.file_stem().is_some_and(|name| name == "agent_dev")) else { return };
    let rows = lines_of(file);
    let weight = |row: &Value| row["count"].as_u64().unwrap_or(1);
    let said = decided(&commands(&rows).into_iter().collect());
    let needs_nobody = |row: &&Value| said[row["command"].as_str().unwrap()]["outcome"] != "ask";
    let alone: u64 = rows.iter().filter(needs_nobody).map(weight).sum();
    let all: u64 = rows.iter().map(weight).sum();
    assert!(100 * alone >= ALONE * all, "{alone} of {all} calls need nobody");
}
