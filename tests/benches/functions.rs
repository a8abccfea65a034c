//! Reading and classifying, beside the least that any reader does: looking at every byte once.

use std::path::Path;
use std::time::{Duration, Instant};

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use divan::Bencher;
use serde_json::Value;

fn main() {
    growth();
    for file in bashgate_tests::corpus_files() {
        corpus(&file);
    }
    divan::main();
}

/// The best of some: what others do on the machine meanwhile does not count.
fn best(times: usize, run: &dyn Fn()) -> Duration {
    let once = || {
        let since = Instant::now();
        run();
        since.elapsed()
    };
    (0..times).map(|_| once()).min().unwrap_or_default()
}

/// Short texts that are said again and again: the tables' examples, tricks, and what the fuzzer has found worth keeping.
fn units() -> Vec<String> {
    let tricks = [
        "v0=1;",
        "v$n=1;",
        "(:);",
        "v$n=1;(:);",
        "f$n() { :; };",
        "cd a$n;",
        "sudo ",
        "env A$n=1 ",
        "true && ",
        "ls | ",
        "ls & ",
        "echo $v$n;",
        "echo > f$n;",
        "cat <<E\nx\nE\n",
        "echo $(:);",
        "case x in a) :;; esac;",
        "for i in a; do :; done;",
        "{ :; };",
        "trap : $n;",
        "alias a$n=b;",
        "export A$n=1;",
        "git -c a.b=c status;",
        "find . | xargs ls;",
        "echo {a,b}{c,d};",
    ];
    let rows = bashgate_shared::programs::FAMILIES.iter().flat_map(|(_, rows)| rows.iter());
    let examples = rows.flat_map(|row| row.safe.iter().chain(row.not_safe)).map(|text| format!("{text};"));
    let kept =
        std::fs::read_dir(bashgate_tests::repository().join("target/fuzz/classifier")).into_iter().flatten().flatten();
    let kept = kept.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).filter(|text| text.len() < 200);
    tricks.into_iter().map(str::to_owned).chain(examples).chain(kept.map(|text| text + "\n")).collect()
}

/// What sixteen times the text costs, in times of what the text costs: 16 where the work is linear.
fn growth() {
    let around = Surroundings { cwd: Some("/home/agent/project".to_owned()), ..Surroundings::default() };
    let mut found: Vec<(f64, Duration, String)> = Vec::new();
    for unit in units() {
        let time = |bytes: usize| {
            let mut text = String::new();
            for number in 0.. {
                if text.len() + unit.len() > bytes {
                    break;
                }
                text.push_str(&unit.replace("$n", &format!("_{number}")));
            }
            let line = CommandLine::parse(text).ok()?;
            Some(best(3, &|| drop(divan::black_box(classify(&line, &around)))))
        };
        if let (Some(short), Some(long)) = (time(3 << 10), time(48 << 10)) {
            found.push((long.as_secs_f64() / short.as_secs_f64(), long, unit));
        }
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (ratio, long, unit) in found.iter().rev().take(5) {
        println!(
            "growth: 16 times the text of {unit:?} costs {ratio:.1} times as much ({:.1} ms for 48 KiB)",
            long.as_secs_f64() * 1e3
        );
    }
    if let Some((ratio, long, unit)) = found.iter().max_by_key(|(_, long, _)| *long) {
        println!(
            "growth: the dearest 48 KiB are of {unit:?}: {:.1} ms ({ratio:.1} times 3 KiB)",
            long.as_secs_f64() * 1e3
        );
    }
}

/// Real commands, each timed on its own: microseconds per command, and the worst.
fn corpus(file: &Path) {
    let Ok(text) = std::fs::read_to_string(file) else { return println!("{} is not here", file.display()) };
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<CommandLine> =
        rows.filter_map(|row| CommandLine::parse(row["command"].as_str()?.to_owned()).ok()).collect();
    let around = Surroundings { cwd: Some("/home/agent/project".to_owned()), ..Surroundings::default() };
    let mut times: Vec<(Duration, &CommandLine)> = Vec::new();
    let mut floor = Duration::ZERO;
    for line in &lines {
        times.push((best(7, &|| drop(divan::black_box(classify(line, &around)))), line));
        floor += best(7, &|| drop(divan::black_box(line.text().to_owned())));
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
