//! What another build says of the same commands: `compare BEFORE AFTER FILE…`, each FILE with a `{"command":…}` a line.
//!
//! Classes, places of decision, reasons, effects, and outcomes under every taint with and without the cage. Prints how many
//! commands of each file say something else, and each of them once. `make compare BEFORE=…` calls it.

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
    &["decide", "--taint", "both", "--cage"],
];
/// What is compared of an answer, the gravest first: only the first difference is told.
const FIELDS: &[&str] = &["decided", "class", "decision", "outcome", "rule", "conditions", "effects", "reason"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [before, after, files @ ..] = arguments.as_slice() else {
        eprintln!("usage: compare BEFORE AFTER FILE…  (two `bashgate` programs, and files with a command a line)");
        return ExitCode::from(64);
    };
    for file in files {
        let commands = commands(Path::new(file));
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut told = Vec::new();
        let answers = |program: &str| -> Vec<Vec<Value>> {
            QUESTIONS.iter().map(|question| ask(program, question, &commands)).collect()
        };
        let (old, new) = (answers(before), answers(after));
        for (at, command) in commands.iter().enumerate() {
            let difference = FIELDS.iter().find_map(|field| {
                let answers = QUESTIONS.iter().zip(old.iter().zip(&new));
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
        println!("{file}: {} commands, differences by the gravest field: {counts:?}", commands.len());
        told.sort();
        println!("{}", told.join("\n"));
    }
    ExitCode::SUCCESS
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
