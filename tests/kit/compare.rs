//! What builds say of the same commands: `compare [BEFORE] AFTER FILE…`, each FILE with a `{"command":…}` a line.
//!
//! Counts for each file how many are decided in the container and what becomes of the others under every taint, with and without the
//! cage. With two builds it says both, and which commands are another class, decided elsewhere, for another reason, with other
//! effects or another outcome, each of them once. `make compare [BEFORE=…]` calls it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use bashgate_tests::{Output, rows_of};
use serde_json::{Value, json};

/// What is asked of each build.
const QUESTIONS: &[&[&str]] = &[
    &["classify"],
    &["decide", "--taint", "clean"],
    &["decide", "--taint", "corruption"],
    &["decide", "--taint", "secret"],
    &["decide", "--taint", "both"],
    &["decide", "--taint", "clean", "--cage"],
    &["decide", "--taint", "corruption", "--cage"],
    &["decide", "--taint", "secret", "--cage"],
    &["decide", "--taint", "both", "--cage"],
];
/// What is compared of an answer, the gravest first: only the first difference is told.
const FIELDS: &[&str] = &["decided", "class", "decision", "outcome", "rule", "conditions", "effects", "reason"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_file = |argument: &String| Path::new(argument).extension().is_some_and(|ending| ending == "jsonl");
    let builds = arguments.iter().take_while(|argument| !is_file(argument)).count();
    let (builds, files) = arguments.split_at(builds);
    if files.is_empty() || !matches!(builds.len(), 1 | 2) {
        eprintln!(
            "usage: compare [BEFORE] AFTER FILE…  (one or two `bashgate` programs, and files with a command a line)"
        );
        return ExitCode::from(64);
    }
    for file in files {
        let rows = rows(Path::new(file));
        let commands: Vec<String> = rows.keys().cloned().collect();
        let weights: Vec<u64> = rows.values().map(|row| row.calls).collect();
        let answers: Vec<Vec<Vec<Value>>> = builds
            .iter()
            .map(|program| QUESTIONS.iter().map(|question| ask(program, question, &commands)).collect())
            .collect();
        println!("{file}: {} commands, {} calls", commands.len(), weights.iter().sum::<u64>());
        print_counts(&answers, &weights);
        print_bounds(&answers, &rows);
        if let [old, new] = answers.as_slice() {
            print_differences(&commands, old, new);
        }
    }
    ExitCode::SUCCESS
}

/// What each build makes of all of them, side by side.
fn print_counts(answers: &[Vec<Vec<Value>>], weights: &[u64]) {
    let builds = answers.len();
    for (at, question) in QUESTIONS.iter().enumerate() {
        let mut counts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (build, answers) in answers.iter().enumerate() {
            for (answer, weight) in answers[at].iter().zip(weights) {
                let mut add =
                    |said: &str| counts.entry(said.to_owned()).or_insert_with(|| vec![0; builds])[build] += weight;
                if question == &["classify"] {
                    add(answer["decided"].as_str().unwrap_or("?"));
                    continue;
                }
                add(answer["outcome"].as_str().unwrap_or("?"));
                // What becomes of it by the inspector's word is one of those.
                if answer["decision"] == "inspect" {
                    add("inspected");
                }
            }
        }
        let said = counts.iter().map(|(said, counts)| {
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            format!("{said} {}", counts.join(" -> "))
        });
        println!("  {:32} {}", question.join(" "), said.collect::<Vec<_>>().join(", "));
    }
}

/// Which commands the second build says something else of.
fn print_differences(commands: &[String], old: &[Vec<Value>], new: &[Vec<Value>]) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut told = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let difference = FIELDS.iter().find_map(|field| {
            let answers = QUESTIONS.iter().zip(old.iter().zip(new));
            answers.into_iter().find_map(|(question, (old, new))| {
                let (old, new) = (&old[at][*field], &new[at][*field]);
                (old != new).then(|| (*field, question.join(" "), old.to_string(), new.to_string()))
            })
        });
        if let Some((field, question, old, new)) = difference {
            *counts.entry(field).or_default() += 1;
            told.push(format!("  {field} ({question}): {old} -> {new}\n    {command}"));
        }
    }
    println!("  differences by the gravest field: {counts:?}");
    told.sort();
    println!("{}", told.join("\n"));
}

/// A command, and how often it was called.
#[derive(Debug, Default)]
struct Row {
    calls: u64,
    never_safe: bool,
}

fn rows(file: &Path) -> BTreeMap<String, Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for row in rows_of(file) {
        let Some(command) = row["command"].as_str() else { continue };
        let known = rows.entry(command.to_owned()).or_default();
        known.calls += row["count"].as_u64().unwrap_or(1);
        known.never_safe |= row["never_safe"] == true;
    }
    rows
}

/// What is stopped when the workspace has seen untrusted content: of what must never be decided in the container, and of real calls.
fn print_bounds(answers: &[Vec<Vec<Value>>], rows: &BTreeMap<String, Row>) {
    let at = QUESTIONS.iter().position(|question| *question == ["decide", "--taint", "corruption"]).unwrap();
    for answers in answers {
        let (mut stopped, mut all) = ([0; 2], [0; 2]);
        for (answer, row) in answers[at].iter().zip(rows.values()) {
            let kind = usize::from(row.never_safe);
            let weight = if row.never_safe { 1 } else { row.calls };
            all[kind] += weight;
            stopped[kind] += if answer["outcome"] == "allow" { 0 } else { weight };
        }
        let [calls, attacks] = [(stopped[0], all[0]), (stopped[1], all[1])];
        println!(
            "  under corruption: {} of {} never-safe rows stopped, {} of {} other calls",
            attacks.0, attacks.1, calls.0, calls.1
        );
    }
}

fn ask(program: &str, question: &[&str], commands: &[String]) -> Vec<Value> {
    let lines: Vec<String> = commands.iter().map(|command| json!({"command": command}).to_string()).collect();
    let mut asked = Command::new(program);
    asked.args(question).arg("--jsonl");
    let output = Output::of(&mut asked, format!("{}\n", lines.join("\n")).as_bytes()).expect(0);
    let answers: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), commands.len(), "{program} {question:?} answers each line");
    answers
}
