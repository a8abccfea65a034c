//! What builds say of the same commands: `compare [BEFORE] AFTER FILE…`, each FILE with a `{"command":…}` a line.
//!
//! Counts for each file how many are decided in the container and what becomes of the others under every taint, with and without the
//! cage. With two builds it says both, and which commands are another class, decided elsewhere, for another reason, with other
//! effects or another outcome, each of them once. `make compare [BEFORE=…]` calls it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use bashgate_tests::Output;
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
        let commands = commands(Path::new(file));
        let answers: Vec<Vec<Vec<Value>>> = builds
            .iter()
            .map(|program| QUESTIONS.iter().map(|question| ask(program, question, &commands)).collect())
            .collect();
        println!("{file}: {} commands", commands.len());
        print_counts(&answers);
        if let [old, new] = answers.as_slice() {
            print_differences(&commands, old, new);
        }
    }
    ExitCode::SUCCESS
}

/// What each build makes of all of them, side by side.
fn print_counts(answers: &[Vec<Vec<Value>>]) {
    let builds = answers.len();
    for (at, question) in QUESTIONS.iter().enumerate() {
        let field = if question == &["classify"] { "decided" } else { "outcome" };
        let mut counts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (build, answers) in answers.iter().enumerate() {
            for answer in &answers[at] {
                let said = answer[field].as_str().unwrap_or("?").to_owned();
                counts.entry(said).or_insert_with(|| vec![0; builds])[build] += 1;
            }
        }
        let said = counts.iter().map(|(said, counts)| {
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
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

fn commands(file: &Path) -> Vec<String> {
    let mut commands = bashgate_tests::commands_of(file);
    commands.sort();
    commands.dedup();
    commands
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
