//! Reading and classifying, beside the least that any reader does: looking at every byte once.

use std::path::Path;
use std::time::{Duration, Instant};

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use divan::Bencher;
use serde_json::Value;

fn main() {
    for file in bashgate_tests::corpus_files() {
        corpus(&file);
    }
    divan::main();
}

/// Real commands, each timed on its own: microseconds per command, and the worst.
fn corpus(file: &Path) {
    let Ok(text) = std::fs::read_to_string(file) else { return println!("{} is not here", file.display()) };
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<CommandLine> =
        rows.filter_map(|row| CommandLine::parse(row["command"].as_str()?.to_owned()).ok()).collect();
    let around = Surroundings { cwd: Some("/home/agent/project".to_owned()), ..Surroundings::default() };
    // The best of some: what others do on the machine meanwhile does not count.
    let best = |run: &dyn Fn()| {
        let once = || {
            let since = Instant::now();
            run();
            since.elapsed()
        };
        (0..7).map(|_| once()).min().unwrap_or_default()
    };
    let mut times: Vec<(Duration, &CommandLine)> = Vec::new();
    let mut floor = Duration::ZERO;
    for line in &lines {
        times.push((best(&|| drop(divan::black_box(classify(line, &around)))), line));
        floor += best(&|| drop(divan::black_box(line.text().to_owned())));
    }
    times.sort_by_key(|(time, _)| *time);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let at = |share: usize| times.get((times.len() - 1) * share / 100).map_or(0.0, |(time, _)| micros(*time));
    let Some((worst, line)) = times.last() else { return };
    println!(
        "{}: {} commands, mean {:.1} us, p50 {:.1} us, p90 {:.1} us, p99 {:.1} us; worst {:.1} us for {} bytes; {:.0} x copying the text",
        file.file_name().unwrap_or_default().display(),
        times.len(),
        micros(total) / f64::from(u32::try_from(times.len()).unwrap_or(u32::MAX)),
        at(50),
        at(90),
        at(99),
        micros(*worst),
        line.text().len(),
        total.as_secs_f64() / floor.as_secs_f64(),
    );
}

const TYPICAL: &[&str] = &[
    "ls -la",
    "git status --short",
    "grep -rn 'fn main' src | head -20",
    "cd src && sed -n '1,120p' main.rs",
    "cargo test 2>&1 | tail -20",
];

#[divan::bench(args = TYPICAL)]
fn classify_typical(bencher: Bencher<'_, '_>, command: &str) {
    let line = CommandLine::parse(command).unwrap();
    bencher.bench(|| classify(divan::black_box(&line), &Surroundings::default()));
}

/// Linear: each step is ten times the text of the one before.
#[divan::bench(args = [600, 6_000, 60_000])]
fn classify_long(bencher: Bencher<'_, '_>, bytes: usize) {
    let line = CommandLine::parse(format!("echo {}", "word ".repeat(bytes / 5))).unwrap();
    bencher.bench(|| classify(divan::black_box(&line), &Surroundings::default()));
}

#[divan::bench(args = [600, 6_000, 60_000])]
fn look_at_every_byte(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = "word ".repeat(bytes / 5);
    bencher.bench(|| divan::black_box(&text).bytes().filter(|byte| *byte == b' ').count());
}

const HOSTILE: &[&str] = &["$(", "(", "`", "{ ", "${x:-", "if ", "<<E ", "'", "\"", "a && "];

/// 256 KiB of nesting tricks.
#[divan::bench(args = HOSTILE, sample_count = 20)]
fn classify_hostile(bencher: Bencher<'_, '_>, unit: &str) {
    let line = CommandLine::parse(unit.repeat(256 * 1024 / unit.len())).unwrap();
    bencher.bench(|| classify(divan::black_box(&line), &Surroundings::default()));
}
