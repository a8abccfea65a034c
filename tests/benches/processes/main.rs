//! Whole processes beside the least that could do it, a static C program, interleaved in one run. What counts are the
//! ratios; times belong to the machine.

mod egress;
mod fleet;
mod load;
mod table;
mod walk;

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use bashgate_tests::{Output, Site, bin, repository, until};
use serde_json::json;
use table::{Table, Times};

const ROUNDS: usize = 400;

/// A name and what it measures.
type Bench<'b> = (&'static str, &'b dyn Fn(&mut Table));

fn main() {
    let floor = build_floor();
    let mut table = Table::default();
    // All of them, or those whose names are given: cargo bench --bench processes -- flood
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let benches: [Bench<'_>; 16] = [
        ("hook", &|table| hook_beside_true(&floor, table)),
        ("walk", &|table| walk::hook_in_large_folders(&floor, table)),
        ("watch", &walk::watch_of_a_large_workspace),
        ("rows", &|table| hook_with_rows_of_an_operator(&floor, table)),
        ("runner", &runner_beside_bwrap),
        ("round-trip", &|table| round_trip(&floor, table)),
        ("classify", &classify_lines),
        ("flood", &load::beside_a_flood),
        ("polling", &load::without_notifications),
        ("decisions", &|table| load::decisions(&floor, table)),
        ("start", &load::start_with_a_long_audit),
        ("memory", &load::many_workspaces),
        ("egress", &egress::beside_a_plain_proxy),
        ("fleet", &fleet::beside_copy),
        ("fleet-decides", &fleet::decides_beside_one_alone),
        ("fleet-answers", &fleet::answers_beside_local_ones),
    ];
    for (name, bench) in benches {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            bench(&mut table);
        }
    }
    table.print();
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

fn hook_beside_true(floor: &Path, table: &mut Table) {
    let site = Site::default();
    std::fs::create_dir(site.work().join("src")).unwrap();
    std::fs::write(site.work().join("src/main.rs"), "fn main() {}").unwrap();
    for (what, command) in
        [("hook, Safe command, whole process", "ls -la"), ("hook, local if no secret is met", "grep -rn main src")]
    {
        let input = event(&site, command);
        let mut hook = site.hook_command(&site.hook_toml());
        let mut empty = Command::new(floor);
        empty.arg("true");
        let (ours, least) = interleave(|| run(&mut hook, &input), || run(&mut empty, &input));
        let budget = if command == "ls -la" { "1.5" } else { "3" };
        table.compare(what, &ours, "static C that reads its input", &least, [budget, ""]);
    }
    let size = std::fs::metadata(bin("bashgate-hook")).unwrap().len() / 1024;
    table.row("size of the hook", &format!("{size} KiB"), "", "", "4096 KiB");
}

/// The hook where an operator has 200 programs of their own: with a command that needs none of these rows, and with one
/// that does.
fn hook_with_rows_of_an_operator(floor: &Path, table: &mut Table) {
    let site = Site::new("programs = \"programs.toml\"");
    let rows = (0..200).map(|number| {
        format!(
            "[[program]]\nnames = [\"tool{number}\"]\nabout = \"keeps issues\"\nsafe = [\"tool{number} list --json\"]\n\
             not_safe = [\"tool{number} sync\"]\n\
             [[program.subcommand]]\nwords = \"list\"\nform = {{ values = \"n\", long = [\"--json\", \"--status=\"] }}\n\
             [[program.subcommand]]\nwords = \"show\"\nform = {{ operands = \"data\" }}\n\
             [[program.subcommand]]\nwords = \"sync\"\nreach = \"writes\"\n"
        )
    });
    std::fs::write(site.path().join("programs.toml"), rows.collect::<String>()).unwrap();
    let mut host = site.serve();
    let handed_out = site.mailbox("default").join("responses/programs.jsonl");
    until("the rows", || handed_out.exists().then_some(()));
    host.terminate();
    // Only where nobody but root writes is a program believed to be what its name says.
    let folder = tempfile::Builder::new().prefix("path-").tempdir_in("/srv").unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::copy("/usr/bin/true", folder.path().join("tool199")).unwrap();
    std::fs::set_permissions(folder.path().join("tool199"), Permissions::from_mode(0o755)).unwrap();
    for (what, command) in [
        ("hook with 200 rows of an operator, Safe command", "ls -la"),
        ("hook with 200 rows of an operator, one of them called", "tool199 list --json"),
    ] {
        let input = event(&site, command);
        let mut hook = site.hook_command(&site.hook_toml());
        hook.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        let mut empty = Command::new(floor);
        empty.arg("true");
        let (ours, least) = interleave(|| run(&mut hook, &input), || run(&mut empty, &input));
        table.compare(what, &ours, "static C that reads its input", &least, ["1.5", ""]);
    }
}

/// A whole run in the cage beside bubblewrap alone with the same flags. Both start bash, which does nothing.
fn runner_beside_bwrap(table: &mut Table) {
    let folder = tempfile::Builder::new().prefix("sandbox-").tempdir_in("/srv").unwrap();
    let work = folder.path();
    let in_cage = |command: &str| {
        let mut ours = Command::new(bin("bashgate-run"));
        ours.args(["exec", "--cage", "--", command]).current_dir(work).env("HOME", work);
        ours
    };
    // What it starts, as the kernel says.
    let mut waiting = in_cage("sleep 2").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let flags = until("bubblewrap", || {
        let is_ours = |line: &[u8]| line.windows(5).any(|part| part == b"bwrap") && contains(line, work.as_os_str());
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.into_iter().find(|line| is_ours(line) && contains(line, "--ro-bind".as_ref()))
    });
    waiting.wait().unwrap();
    let flags: Vec<String> =
        flags.split(|byte| *byte == 0).map(|word| String::from_utf8(word.to_vec()).unwrap()).collect();
    let end = flags.iter().position(|word| word == "--").unwrap();
    let mut bare = Command::new("bwrap");
    bare.args(&flags[1..=end]).args(["/bin/bash", "--noprofile", "--norc", "-c", "true"]);
    let mut ours = in_cage("true");
    let (one, other) = interleave(|| run(&mut ours, b""), || run(&mut bare, b""));
    table.compare("run in the cage, start to end", &one, "bare bwrap, same flags", &other, ["2", ""]);
}

fn contains(line: &[u8], what: &std::ffi::OsStr) -> bool {
    let what = what.as_encoded_bytes();
    line.windows(what.len()).any(|part| part == what)
}

/// A responder that does nothing else than pass files, on a mailbox of its own.
struct Responder(Child);

impl Responder {
    fn start(floor: &Path, mailbox: &Path) -> Self {
        use std::io::{BufRead as _, BufReader};
        for folder in ["requests", "responses"] {
            std::fs::create_dir_all(mailbox.join(folder)).unwrap();
        }
        let mut child = Command::new(floor).arg("responder").arg(mailbox).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn round_trip(floor: &Path, table: &mut Table) {
    let site = Site::default();
    let _host = site.serve();
    let bare = site.path().join("bare");
    let _responder = Responder::start(floor, &bare);
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
    table.compare("round trip hook, host, hook, clean workspace", &ours, "C client and responder", &least, ["2", "4"]);
}

fn classify_lines(table: &mut Table) {
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
    table.rates("classify --jsonl, lines", lines, ours, "cat", lines, since.elapsed(), "");
}
