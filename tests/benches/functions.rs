//! Reading and classifying, beside the least that any reader does: looking at every byte once.

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use divan::Bencher;

fn main() {
    divan::main();
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
