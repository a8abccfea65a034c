//! Whole processes beside the least that could do it, a static C program, interleaved in one run. What counts are the
//! ratios; times belong to the machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use bashgate_tests::{Output, Site, bin, repository};
use serde_json::json;

const ROUNDS: usize = 400;

fn main() {
    let floor = build_floor();
    hook_beside_true(&floor);
    round_trip(&floor);
    beside_a_flood();
    classify_lines();
}

fn build_floor() -> PathBuf {
    let out = repository().join("target/floor");
    let source = repository().join("tests/benches/floor.c");
    Output::of(Command::new("cc").args(["-O2", "-static", "-o"]).arg(&out).arg(source), b"").expect(0);
    out
}

/// Milliseconds of one run of a command, with this on its input.
fn run(command: &mut Command, input: &[u8]) -> f64 {
    let since = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input).unwrap();
    drop(stdin);
    let status = child.wait().unwrap();
    assert!(status.success(), "{command:?}: {status}");
    since.elapsed().as_secs_f64() * 1000.0
}

struct Times(Vec<f64>);

impl Times {
    fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into a few hundred values"
        )]
        let index = ((sorted.len() - 1) as f64 * share) as usize;
        sorted[index]
    }
}

fn compare(what: &str, ours: &Times, floor: &Times) {
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        println!(
            "{what:44} {name} {:7.3} ms  other side {:7.3} ms  ratio {:.2}",
            ours.at(share),
            floor.at(share),
            ours.at(share) / floor.at(share)
        );
    }
}

fn event(site: &Site, command: &str) -> Vec<u8> {
    let event = json!({"session_id": "s", "transcript_path": "/x", "cwd": site.work(), "hook_event_name": "PreToolUse", "permission_mode": "default",
        "tool_name": "Bash", "tool_input": {"command": command, "description": "look around"}, "tool_use_id": "toolu_1"});
    event.to_string().into_bytes()
}

fn interleave(mut ours: impl FnMut() -> f64, mut floor: impl FnMut() -> f64) -> (Times, Times) {
    for _ in 0..10 {
        ours();
        floor();
    }
    let (mut one, mut other) = (Times(Vec::new()), Times(Vec::new()));
    for _ in 0..ROUNDS {
        one.0.push(ours());
        other.0.push(floor());
    }
    (one, other)
}

fn hook_beside_true(floor: &Path) {
    let site = Site::default();
    std::fs::create_dir(site.work().join("src")).unwrap();
    std::fs::write(site.work().join("src/main.rs"), "fn main() {}").unwrap();
    for (what, command) in [
        ("hook, Safe command, beside a static true", "ls -la"),
        ("hook, local if no secret is met", "grep -rn main src"),
    ] {
        let input = event(&site, command);
        let mut hook = site.hook_command(&site.hook_toml());
        let mut empty = Command::new(floor);
        empty.arg("true");
        let (ours, least) = interleave(|| run(&mut hook, &input), || run(&mut empty, &input));
        compare(what, &ours, &least);
    }
    println!("{:44} {} KiB", "size of the hook", std::fs::metadata(bin("bashgate-hook")).unwrap().len() / 1024);
}

fn round_trip(floor: &Path) {
    let site = Site::default();
    let _host = site.serve();
    let bare = site.path().join("bare");
    for folder in ["requests", "responses"] {
        std::fs::create_dir_all(bare.join(folder)).unwrap();
    }
    let mut responder = Command::new(floor).arg("responder").arg(&bare).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(responder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let input = event(&site, "make build");
    let mut hook = site.hook_command(&site.hook_toml());
    let mut number = 0;
    let (ours, least) = interleave(
        || run(&mut hook, &input),
        || {
            number += 1;
            run(Command::new(floor).arg("client").arg(&bare).arg(number.to_string()), b"")
        },
    );
    responder.kill().unwrap();
    responder.wait().unwrap();
    compare("round trip hook, host, hook, clean workspace", &ours, &least);
}

/// How long a workspace waits for answers while another one is flooded, beside how long it waits in peace.
fn beside_a_flood() {
    const FLOOD: usize = 50_000;
    let site = Site::default();
    site.add_workspace("calm");
    let _host = site.serve();
    let ask = || {
        let id = uuid::Uuid::new_v4().to_string();
        let since = Instant::now();
        site.post("calm", &json!({"type": "security:bash_check", "request_id": id, "command": "make x"}));
        while site.response("calm", &id).is_none() {
            std::thread::yield_now();
        }
        since.elapsed().as_secs_f64() * 1000.0
    };
    let quiet = Times((0..ROUNDS).map(|_| ask()).collect());
    let folder = site.mailbox("default").join("requests");
    for _ in 0..FLOOD {
        std::fs::write(folder.join(format!("{}.json", uuid::Uuid::new_v4())), "x").unwrap();
    }
    let flooded = Times((0..ROUNDS).map(|_| ask()).collect());
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert!(left > 0, "the flood was over before the measuring was");
    compare("answer beside a flood, beside one in peace", &flooded, &quiet);
}

fn classify_lines() {
    let commands = [
        "ls -la",
        "git status --short",
        "grep -rn 'fn main' src | head -20",
        "cd src && sed -n '1,120p' main.rs",
        "cargo test 2>&1 | tail -20",
        "curl -s https://x.example | jq .",
    ];
    let lines: usize = 120_000;
    let input: String = (0..lines)
        .flat_map(|n| [json!({"command": commands[n % commands.len()]}).to_string(), "\n".to_owned()])
        .collect();
    let since = Instant::now();
    let output = Output::of(Command::new(bin("bashgate")).args(["classify", "--jsonl"]), input.as_bytes()).expect(0);
    let ours = since.elapsed();
    assert_eq!(output.stdout.lines().count(), lines);
    let since = Instant::now();
    Output::of(&mut Command::new("cat"), input.as_bytes()).expect(0);
    let least = since.elapsed();
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let rate = lines as f64 / ours.as_secs_f64();
    println!(
        "{:44} {rate:.0} lines/s  (cat: {:.2} of the time)",
        "classify --jsonl",
        least.as_secs_f64() / ours.as_secs_f64()
    );
}
