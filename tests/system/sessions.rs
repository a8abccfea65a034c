//! The sessions that the documentation shows, in a shell: what it says happens.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use bashgate_tests::{PATIENCE, bin, repository};

/// A command of a session with the output that is shown.
#[derive(Debug, Default)]
struct Step {
    command: String,
    shown: Vec<String>,
}

/// The sessions of a document: every block that is marked `console`.
fn sessions(document: &str) -> Vec<Vec<Step>> {
    let blocks = document.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(""));
    let steps = |block: &str| {
        let mut steps: Vec<Step> = Vec::new();
        for line in block.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), shown: Vec::new() });
            } else if let Some(step) = steps.last_mut() {
                match line.strip_prefix("> ") {
                    Some(more) => step.command.push_str(&format!("\n{more}")),
                    None => step.shown.push(line.to_owned()),
                }
            }
        }
        steps
    };
    blocks.map(steps).collect()
}

/// True when a line is the one that is shown, where `…` stands for anything.
fn line_matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// The same for many lines, where a line of `…` stands for any number of them.
fn matches(shown: &[String], lines: &[String]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "…" => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, after)| line_matches(first, line) && matches(rest, after))
        }
    }
}

/// Runs a session in a new home folder, in which `bashgate init` has made everything.
fn run(steps: &[Step], document: &str) {
    let home = tempfile::Builder::new().prefix("bashgate-session-").tempdir().unwrap();
    let site = home.path().join(".config/bashgate");
    std::fs::create_dir_all(site.parent().unwrap()).unwrap();
    assert!(
        Command::new(bin("bashgate"))
            .arg("init")
            .arg(&site)
            .env("HOME", home.path())
            .output()
            .unwrap()
            .status
            .success()
    );
    // The port that the documentation names may be taken here.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut shell = Command::new("bash")
        .args(["--noprofile", "--norc"])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", repository().join("target/bin").display()))
        .current_dir(&site)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = shell.stdin.take().unwrap();
    let output = BufReader::new(shell.stdout.take().unwrap());
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    writeln!(stdin, "exec 2>&1; trap 'kill $(jobs -p) 2>/dev/null' EXIT").unwrap();
    for step in steps {
        writeln!(stdin, "{}\necho '@end'", step.command.replace("9464", &port)).unwrap();
        // What runs in the background may say something a little later; another answer needs no long wait.
        let mut until = Instant::now() + PATIENCE;
        let (mut said, mut ended) = (Vec::new(), false);
        while !ended || !matches(&step.shown, &said) {
            match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if line == "@end" => (ended, until) = (true, Instant::now() + Duration::from_secs(5)),
                Ok(line) => said.push(line),
                Err(mpsc::RecvTimeoutError::Timeout | mpsc::RecvTimeoutError::Disconnected) => {
                    panic!("{document}: `{}` says\n{said:#?}\nnot\n{:#?}", step.command, step.shown)
                }
            }
        }
    }
    drop(stdin);
    shell.wait().unwrap();
}

#[test]
fn what_the_documentation_shows_is_what_happens() {
    let mut count = 0;
    for document in ["docs/operating.md"] {
        let text = std::fs::read_to_string(Path::new(&repository()).join(document)).unwrap();
        for session in sessions(&text) {
            run(&session, document);
            count += 1;
        }
    }
    assert!(count >= 4, "{count} sessions");
}

#[test]
fn a_session_that_says_something_else_is_found() {
    let shown = |text: &str| sessions(&format!("```console\n{text}```")).remove(0);
    run(&shown("$ echo one; echo two\n…\ntwo\n$ cat << 'E'\n> a line\n> E\na …e\n"), "a session");
    for wrong in ["$ echo one\ntwo\n", "$ echo one\n", "$ true\none\n", "$ echo one; echo two\n… one\n…\n"] {
        let wrong = shown(wrong);
        std::panic::catch_unwind(|| run(&wrong, "a session")).unwrap_err();
    }
}
