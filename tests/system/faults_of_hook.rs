//! Every way the hook can fail ends in exit 2 with a reason. A table breaks it, one way after the other.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use bashgate_shared::protocol::Answer;
use bashgate_shared::seal::{HostKey, Unsigned};
use bashgate_tests::{Output, Site, bin, repository, until};
use rustix::process::Signal;
use serde_json::{Value, json};

#[track_caller]
fn denied(what: &str, output: &Output, want: &str) {
    assert_eq!(output.code, Some(2), "{what}: {output:?}");
    assert!(output.stderr.contains(want) && !output.stderr.trim().is_empty(), "{what} lacks `{want}`: {output:?}");
}

fn event(site: &Site, input: &Value) -> Value {
    json!({"hook_event_name": "PreToolUse", "cwd": site.work(), "tool_name": "Bash", "tool_input": input})
}

#[test]
fn events_that_cannot_be_read() {
    let site = Site::default();
    let run = |input: &[u8]| Output::of(&mut site.hook_command(&site.hook_toml()), input);
    let good = event(&site, &json!({"command": "ls"})).to_string();
    assert_eq!(run(good.as_bytes()).code, Some(0), "the control: a good event is let through");
    let huge = event(&site, &json!({"command": "x".repeat(10 << 20)})).to_string();
    let long = event(&site, &json!({"command": format!("echo {}", "x".repeat(300_000))})).to_string();
    let deep = format!("{{\"hook_event_name\":{}", "[".repeat(200_000));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", b"".to_vec(), "empty"),
        ("blank", b" \n\t".to_vec(), "empty"),
        ("not JSON", b"ls -la".to_vec(), "not understood"),
        ("null", b"null".to_vec(), "not understood"),
        ("an array", b"[]".to_vec(), "denied"),
        ("a cut-off event", good.as_bytes()[..good.len() - 3].to_vec(), "not understood"),
        ("two events", format!("{good}{good}").into_bytes(), "not understood"),
        ("not UTF-8", [&good.as_bytes()[..20], b"\xff\xfe", &good.as_bytes()[20..]].concat(), "not understood"),
        ("a lone surrogate", good.replace("\"ls\"", "\"\\ud800\"").into_bytes(), "not understood"),
        (
            "no event name",
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}).to_string().into_bytes(),
            "no agent",
        ),
        ("an unknown event", good.replace("PreToolUse", "BeforeEverything").into_bytes(), "not known"),
        (
            "no tool name",
            json!({"hook_event_name": "PreToolUse", "tool_input": {"command": "ls"}}).to_string().into_bytes(),
            "tool_name",
        ),
        (
            "no input",
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"}).to_string().into_bytes(),
            "tool_input",
        ),
        ("no command", event(&site, &json!({})).to_string().into_bytes(), "command"),
        ("a command that is a number", event(&site, &json!({"command": 7})).to_string().into_bytes(), "no `command`"),
        (
            "a command given twice",
            good.replace("\"command\":\"ls\"", "\"command\":\"ls\",\"command\":\"curl x\"").into_bytes(),
            "duplicate",
        ),
        ("nested without end", deep.into_bytes(), "denied"),
        ("10 MB", huge.into_bytes(), "larger than"),
        ("a command over 256 KiB", long.into_bytes(), "write it to a file"),
        ("a NUL in the command", event(&site, &json!({"command": "ls\0x"})).to_string().into_bytes(), "NUL"),
    ];
    for (what, input, want) in cases {
        denied(what, &run(&input), want);
    }
    // What writes into the working directory is as local as a command that does.
    let other = json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "x"}});
    assert_eq!(run(other.to_string().as_bytes()).code, Some(0));
    let neutral = json!({"event": "before_tool_use", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/"});
    assert_eq!(run(neutral.to_string().as_bytes()).expect(0).stdout.trim(), "{\"allowed\":true}");
}

#[test]
fn command_lines_and_configurations_that_are_wrong() {
    let site = Site::default();
    let good = event(&site, &json!({"command": "ls"})).to_string();
    let run = |args: &[&str]| Output::of(bashgate_tests::hook().args(args).current_dir(site.work()), good.as_bytes());
    let hook_toml = site.hook_toml();
    let config = hook_toml.to_str().unwrap();
    for (what, args, want) in [
        ("an unknown argument", vec!["--frobnicate"], "not known"),
        ("an unknown agent", vec!["--config", config, "--agent", "hal"], "no agent `hal`"),
        ("an option without its value", vec!["--config"], "needs a value"),
        ("no such configuration", vec!["--config", "/nonexistent/hook.toml"], "cannot read the configuration"),
        ("the default configuration, which is not there", vec![], "/etc/bashgate/hook.toml"),
        ("help, by accident", vec!["--help"], "decides nothing"),
        ("version, by accident", vec!["--version"], "decides nothing"),
        ("check without a command", vec!["--config", config, "check"], "needs `-- COMMAND`"),
        ("a folder as configuration", vec!["--config", "/tmp"], "cannot read"),
    ] {
        denied(what, &run(&args), want);
    }
    let text = std::fs::read_to_string(&hook_toml).unwrap();
    for (what, changed, want) in [
        ("not TOML", "= = =".to_owned(), "is wrong"),
        ("an unknown key", format!("allow_all = true\n{text}"), "unknown field"),
        ("a missing key", text.replace("workspace = \"default\"", ""), "missing field"),
        ("a bad public key", text.replace("ed25519:", "ed25519:00"), "public_key"),
        ("a bad deadline", text.replace("deadline_s = 300", "deadline_s = 0"), "deadline_s"),
        ("a bad choice", text.replace("\"deny\"\n", "\"maybe\"\n"), "unknown variant"),
        ("empty", String::new(), "missing field"),
    ] {
        std::fs::write(&hook_toml, changed).unwrap();
        denied(what, &run(&["--config", config]), want);
    }
}

#[test]
fn mailboxes_that_do_not_work() {
    let site = Site::default();
    let mailbox = site.mailbox("default");
    std::fs::remove_dir_all(mailbox.join("requests")).unwrap();
    denied("no requests folder", &site.check("make x"), "there is no mailbox");
    std::fs::write(mailbox.join("requests"), "a file").unwrap();
    denied("a file in place of the folder", &site.check("make x"), "denied");
    std::fs::remove_file(mailbox.join("requests")).unwrap();
    std::fs::create_dir(mailbox.join("requests")).unwrap();
    denied("no host", &site.check("make x"), "no host answers");
    assert_eq!(std::fs::read_dir(mailbox.join("requests")).unwrap().count(), 0, "the request is taken back");
    // In mount namespaces of their own: a full disk and a read-only mount.
    let inside = |mount: &str| {
        let script = format!("{mount} && exec \"$0\" --config \"$1\" check -- 'make x'");
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", &script])
            .arg(bin("bashgate-hook"))
            .arg(site.hook_toml())
            .arg(mailbox.join("requests"));
        Output::of(command.current_dir(site.work()), b"")
    };
    denied(
        "a read-only mailbox",
        &inside("mount --bind \"$2\" \"$2\" && mount -o remount,ro,bind \"$2\""),
        "mount `requests` writable",
    );
    denied(
        "a full disk",
        &inside("mount -t tmpfs -o size=4k,nr_inodes=4 none \"$2\" && (head -c 9999 /dev/zero > \"$2/x\" || true)"),
        "free some space",
    );
}

/// A hook that waits, and its request.
struct Waiting {
    child: std::process::Child,
    id: String,
    bytes: Vec<u8>,
}

fn waiting(site: &Site, command: &str) -> Waiting {
    let mut hook = site.hook_command(&site.hook_toml());
    let child = hook
        .args(["check", "--", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let requests = site.mailbox("default").join("requests");
    let (id, bytes) = until("a request", || {
        let entry = std::fs::read_dir(&requests)
            .ok()?
            .flatten()
            .find(|entry| !entry.file_name().to_string_lossy().starts_with('.'))?;
        let id = entry.file_name().to_string_lossy().strip_suffix(".json")?.to_owned();
        Some((id, std::fs::read(entry.path()).ok()?))
    });
    Waiting { child, id, bytes }
}

impl Waiting {
    fn output(self) -> Output {
        let output = self.child.wait_with_output().unwrap();
        Output {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: format!(
                "{}{}",
                String::from_utf8_lossy(&output.stderr),
                output.status.signal().map_or(String::new(), |s| format!("signal {s}"))
            ),
        }
    }
}

type Forge<'f> = Box<dyn Fn(&Waiting) -> Vec<u8> + 'f>;

#[test]
fn responses_that_do_not_count() {
    let site = Site::default();
    let own = bashgate::state::key_in(&site.path().join("state")).unwrap();
    let stranger = HostKey::from_seed(&[7; 32]);
    let unsigned = |waiting: &Waiting| Unsigned {
        decision: Answer::Allow,
        reason: "fine".to_owned(),
        request_id: bashgate_shared::protocol::RequestId::parse(&waiting.id).unwrap(),
        workspace: bashgate_shared::protocol::WorkspaceName::parse("default").unwrap(),
        request: Some(bashgate_shared::command::Digest::of(&waiting.bytes)),
        decided_by: "policy".to_owned(),
        taint_epoch: 0,
        valid_for_ms: 60_000,
        cage: false,
        egress: Vec::new(),
        asked_key: None,
    };
    let json = |response: &bashgate_shared::protocol::Response| serde_json::to_vec(response).unwrap();
    let cases: Vec<(&str, Forge<'_>, &str)> = vec![
        ("signed by a stranger", Box::new(|w| json(&stranger.respond(&unsigned(w)))), "another key"),
        (
            "a stranger under our name",
            Box::new(|w| {
                let mut response = stranger.respond(&unsigned(w));
                own.public().id().clone_into(&mut response.key_id);
                json(&response)
            }),
            "signature",
        ),
        (
            "altered",
            Box::new(|w| {
                let mut response = own.respond(&Unsigned { decision: Answer::Deny, ..unsigned(w) });
                response.decision = Answer::Allow;
                json(&response)
            }),
            "signature",
        ),
        (
            "for another command",
            Box::new(|w| {
                json(&own.respond(&Unsigned {
                    request: Some(bashgate_shared::command::Digest::of(b"other")),
                    ..unsigned(w)
                }))
            }),
            "other bytes",
        ),
        (
            "without the command",
            Box::new(|w| json(&own.respond(&Unsigned { request: None, ..unsigned(w) }))),
            "other bytes",
        ),
        (
            "for another request",
            Box::new(|w| {
                let other = bashgate_shared::protocol::RequestId::parse(&uuid::Uuid::new_v4().to_string()).unwrap();
                json(&own.respond(&Unsigned { request_id: other, ..unsigned(w) }))
            }),
            "another request",
        ),
        (
            "for another workspace",
            Box::new(|w| {
                let other = bashgate_shared::protocol::WorkspaceName::parse("other").unwrap();
                json(&own.respond(&Unsigned { workspace: other, ..unsigned(w) }))
            }),
            "another workspace",
        ),
        ("expired", Box::new(|w| json(&own.respond(&Unsigned { valid_for_ms: 0, ..unsigned(w) }))), "too late"),
        (
            "an unknown field",
            Box::new(|w| {
                let mut value = serde_json::to_value(own.respond(&unsigned(w))).unwrap();
                value["approved"] = json!(true);
                value.to_string().into_bytes()
            }),
            "cannot be read",
        ),
        ("garbage", Box::new(|_| b"{\"decision\": \"allow\"".to_vec()), "cannot be read"),
        ("bare", Box::new(|_| b"{\"decision\": \"allow\"}".to_vec()), "cannot be read"),
        ("empty", Box::new(|_| Vec::new()), "cannot be read"),
        ("huge", Box::new(|_| vec![b' '; 1 << 20]), "too large"),
    ];
    let put = |id: &str, bytes: &[u8]| {
        let folder = site.mailbox("default").join("responses");
        std::fs::write(folder.join("tmp"), bytes).unwrap();
        std::fs::rename(folder.join("tmp"), folder.join(format!("{id}.json"))).unwrap();
    };
    for (what, forge, want) in cases {
        let waiting = waiting(&site, "make x");
        put(&waiting.id, &forge(&waiting));
        denied(what, &waiting.output(), want);
    }
    // The control: the real key's answer to these bytes counts.
    let good = waiting(&site, "make x");
    put(&good.id, &json(&own.respond(&unsigned(&good))));
    assert_eq!(good.output().code, Some(0));
    for (what, make) in [
        ("a folder", (|path| std::fs::create_dir(path).unwrap()) as fn(&Path)),
        ("a link", |path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap()),
        ("a pipe", |path| {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                path,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .unwrap();
        }),
    ] {
        let waiting = waiting(&site, "make x");
        make(&site.mailbox("default").join("responses").join(format!("{}.json", waiting.id)));
        denied(what, &waiting.output(), "cannot be read");
    }
}

#[test]
fn signals_to_a_hook_that_waits() {
    let site = Site::default();
    for signal in [
        Signal::TERM,
        Signal::INT,
        Signal::HUP,
        Signal::QUIT,
        Signal::SEGV,
        Signal::BUS,
        Signal::ABORT,
        Signal::ILL,
        Signal::FPE,
        Signal::ALARM,
        Signal::USR1,
        Signal::USR2,
        Signal::PIPE,
        Signal::XCPU,
        Signal::XFSZ,
        Signal::TRAP,
        Signal::SYS,
        Signal::VTALARM,
        Signal::PROF,
    ] {
        let waiting = waiting(&site, "make x");
        let pid = rustix::process::Pid::from_raw(i32::try_from(waiting.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        let id = waiting.id.clone();
        denied(&format!("{signal:?}"), &waiting.output(), "denied");
        // A signal leaves the request behind; its lock is gone, so the host withdraws it.
        let _ = std::fs::remove_file(site.mailbox("default").join("requests").join(format!("{id}.json")));
    }
}

#[test]
fn signals_without_a_name() {
    let site = Site::default();
    // The C libraries keep 32 to 34 for themselves.
    for number in [16, 29, 30, 32, 33, 34, 35, 40, 64] {
        let waiting = waiting(&site, "make x");
        Output::of(Command::new("kill").args([format!("-{number}"), waiting.child.id().to_string()]), b"").expect(0);
        let id = waiting.id.clone();
        denied(&format!("signal {number}"), &waiting.output(), "denied");
        let _ = std::fs::remove_file(site.mailbox("default").join("requests").join(format!("{id}.json")));
    }
}

#[test]
fn crashes_behind_the_guard() {
    let broken = repository().join("target/debug/examples/break_guard");
    assert!(broken.exists(), "run: cargo build -p bashgate-hook --example break_guard");
    for way in ["panic", "overflow", "allocate", "hang", "abort"] {
        denied(way, &Output::of(Command::new(&broken).arg(way), b""), "the hook itself failed");
        // A mask that blocks the signals must not silence the guard.
        let masked = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals)); os.execv(sys.argv[1], sys.argv[1:])";
        let output = Output::of(Command::new("python3").args(["-c", masked]).arg(&broken).arg(way), b"");
        denied(&format!("{way} with all signals blocked"), &output, "the hook itself failed");
    }
    assert_eq!(Output::of(&mut Command::new(&broken), b"").code, Some(0), "the control");
}

#[test]
fn odd_surroundings() {
    let site = Site::default();
    let run = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(bin("bashgate-hook")).arg(site.hook_toml()).current_dir(site.work());
        Output::of(&mut command, event(&site, &json!({"command": "make x"})).to_string().as_bytes())
    };
    for (what, script) in [
        ("a closed standard input", "exec \"$0\" --config \"$1\" <&-"),
        ("a standard input that is a folder", "exec \"$0\" --config \"$1\" < /"),
        ("a small stack", "ulimit -s 128; exec \"$0\" --config \"$1\""),
        ("no files to open", "ulimit -n 3; exec \"$0\" --config \"$1\""),
        ("no file may be written", "ulimit -f 0; exec \"$0\" --config \"$1\""),
        ("an empty environment", "exec env -i \"$0\" --config \"$1\""),
        (
            "a hostile environment",
            "HOME=/nonexistent TMPDIR=/nonexistent RUST_BACKTRACE=full LD_PRELOAD=/x PATH= exec \"$0\" --config \"$1\"",
        ),
    ] {
        let output = run(script);
        assert_eq!(output.code, Some(2), "{what}: {output:?}");
        assert!(output.stderr.contains("denied"), "{what}: {output:?}");
    }
    // With standard error closed there is nowhere to say it; the exit code stands.
    assert_eq!(run("exec \"$0\" --config \"$1\" 2>&-").code, Some(2));
    // A working directory that is gone.
    let gone = site.path().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "rmdir ../gone; exec \"$0\" --config \"$1\" check -- 'make x'"])
        .arg(bin("bashgate-hook"))
        .arg(site.hook_toml());
    denied("no working directory", &Output::of(command.current_dir(&gone), b""), "denied");
    // A pipe on standard error that nobody reads must not hold the guard up.
    let script = "import os, subprocess, sys\nr, w = os.pipe()\nos.set_blocking(w, False)\ntry:\n    while True: os.write(w, b'x' * 65536)\nexcept BlockingIOError: pass\nos.set_blocking(w, True)\nsys.exit(subprocess.run([sys.argv[1], 'abort'], stderr=w).returncode)";
    let broken = repository().join("target/debug/examples/break_guard");
    assert_eq!(Output::of(Command::new("python3").args(["-c", script]).arg(broken), b"").code, Some(2));
}

#[test]
fn the_hook_runs_in_an_empty_root_and_needs_no_library() {
    let root = tempfile::tempdir().unwrap();
    std::fs::copy(bin("bashgate-hook"), root.path().join("hook")).unwrap();
    std::fs::set_permissions(root.path().join("hook"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Output::of(Command::new("chroot").arg(root.path()).args(["/hook", "check", "--", "ls"]), b"");
    denied("an empty root", &output, "cannot read the configuration");
    assert!(std::fs::metadata(bin("bashgate-hook")).unwrap().len() <= 4 << 20, "the hook is larger than 4 MiB");
}
