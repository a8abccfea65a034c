//! What the host is given, and what happens to it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use bashgate_shared::protocol::Answer;
use bashgate_tests::{Host, Output, Site, bin, until};
use serde_json::json;

#[test]
fn requests_that_are_no_requests_are_denied_with_a_reason() {
    let site = Site::default();
    let _host = site.serve();
    let denied = |bytes: &[u8], want: &str| {
        let id = uuid::Uuid::new_v4().to_string();
        let bytes = String::from_utf8_lossy(bytes).replace("ID", &id).into_bytes();
        site.post_bytes("default", &id, &bytes);
        let response = until("a response", || site.response("default", &id));
        assert_eq!(response.decision, Answer::Deny);
        assert!(response.reason.contains(want), "{} lacks {want}", response.reason);
    };
    let huge = format!(r#"{{"type":"security:bash_check","request_id":"ID","command":"{}"}}"#, "x".repeat(3 << 20));
    let long = format!(r#"{{"type":"security:bash_check","request_id":"ID","command":"{}"}}"#, "x".repeat(300_000));
    for (bytes, want) in [
        ("", "not what the protocol allows"),
        ("garbage", "not what the protocol allows"),
        (r#"{"type":"security:other","request_id":"ID"}"#, "`security:other` is not known"),
        (r#"{"type":"service:write","request_id":"ID"}"#, "not known"),
        (r#"{"type":"security:bash_check","request_id":"ID"}"#, "missing field"),
        (r#"{"type":"security:bash_check","request_id":"ID","command":"ls","command":"curl"}"#, "duplicate"),
        (r#"{"type":"security:bash_check","request_id":"ID","command":"ls","workspace":"other"}"#, "unknown field"),
        (
            r#"{"type":"security:bash_check","request_id":"00000000-0000-4000-8000-000000000000","command":"ls"}"#,
            "name of its file",
        ),
        (r#"{"type":"security:bash_check","request_id":"ID","command":"ls","v":7}"#, "version 7"),
        (&huge, "larger than"),
        (&long, "write it to a file"),
    ] {
        denied(bytes.as_bytes(), want);
    }
    // A name that is no id is never opened, and nobody else is troubled.
    std::fs::write(
        site.mailbox("default").join("requests/hello.json"),
        r#"{"type":"security:bash_check","request_id":"hello","command":"ls"}"#,
    )
    .unwrap();
    assert_eq!(site.ask("default", "ls").decision, Answer::Allow);
    assert!(!site.mailbox("default").join("responses/hello.json").exists());
}

#[test]
fn an_id_is_answered_once() {
    let site = Site::default();
    let _host = site.serve();
    let id = uuid::Uuid::new_v4().to_string();
    let request = |command: &str| json!({"type": "security:bash_check", "request_id": id, "command": command});
    site.post("default", &request("ls"));
    let first = until("a response", || site.response("default", &id));
    // The answer is not written over while it lies there.
    until("the request to be taken away", || {
        (!site.mailbox("default").join("requests").join(format!("{id}.json")).exists()).then_some(())
    });
    site.post("default", &request("curl x"));
    until("the second request to be rejected", || {
        site.audit().iter().any(|record| record["kind"] == "reject").then_some(())
    });
    assert_eq!(site.response("default", &id).unwrap(), first);
    // And when it was taken away, the same id is denied.
    until("the second request to be taken away", || {
        let _ = std::fs::remove_file(site.mailbox("default").join("requests").join(format!("{id}.json")));
        (!site.mailbox("default").join("requests").join(format!("{id}.json")).exists()).then_some(())
    });
    std::fs::remove_file(site.mailbox("default").join("responses").join(format!("{id}.json"))).unwrap();
    site.post("default", &request("curl y"));
    let again = until("a denial", || site.response("default", &id));
    assert_eq!(again.decision, Answer::Deny);
    assert!(again.reason.contains("answered before"), "{}", again.reason);
}

#[test]
fn a_workspace_that_the_host_does_not_know_is_denied_with_the_line_that_adds_it() {
    let site = Site::default();
    let _host = site.serve();
    bashgate::daemon::make_mailbox(&site.mailbox("stranger")).unwrap();
    let response = site.ask("stranger", "ls");
    assert_eq!(response.decision, Answer::Deny);
    assert!(response.reason.contains("bashgate workspace add stranger"), "{}", response.reason);
    site.cli(["workspace", "add", "stranger"]).expect(0);
    assert_eq!(site.ask("stranger", "ls").decision, Answer::Allow);
    site.cli(["workspace", "remove", "stranger"]).expect(0);
    assert_eq!(site.ask("stranger", "ls").decision, Answer::Deny);
}

#[test]
fn the_second_host_on_a_state_folder_refuses() {
    let site = Site::default();
    let _host = site.serve();
    let (second, ready) = {
        let mut command = site.host_command();
        let output = Output::of(&mut command, b"");
        (output.stderr.clone(), output.code == Some(0))
    };
    assert!(!ready && second.contains("another bashgate works on"), "{second}");
    assert!(second.contains("help:"), "{second}");
}

#[test]
fn configurations_that_are_wrong_stop_the_start_and_the_check_alike() {
    for (config, want) in [
        ("colour = \"blue\"", "unknown field `colour`"),
        ("log = 7", "invalid type"),
        (
            "[[policy.rules]]\naction = \"deny\"\nargv = [\"git\", \"push\"]\nmatch = [\"git pull\"]",
            "does not match its own example",
        ),
    ] {
        let site = Site::default();
        site.configure(config);
        for output in [Output::of(&mut site.host_command(), b""), site.cli(["config", "check"])] {
            assert_eq!(output.code, Some(1), "{output:?}");
            assert!(output.stderr.contains(want) && output.stderr.contains("help:"), "{output:?}");
        }
    }
    let site = Site::default();
    site.cli(["config", "check"]).expect(0);
    let none =
        Output::of(Command::new(bin("bashgate")).args(["config", "check", "--config", "/nonexistent"]), b"").expect(1);
    assert!(none.stderr.contains("cannot read"), "{none:?}");
}

#[test]
fn a_state_folder_that_others_can_read_is_refused() {
    let site = Site::default();
    std::fs::set_permissions(site.path().join("state"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Output::of(&mut site.host_command(), b"").expect(1);
    assert!(output.stderr.contains("open to others") && output.stderr.contains("chmod 700"), "{output:?}");
}

#[test]
fn a_full_disk_under_the_state_denies_and_recovers() {
    let site = Site::default();
    // The host runs with its state on a small disk of its own, in a mount namespace.
    let state = site.path().join("state");
    let script = "mount -t tmpfs -o size=400k,mode=700 none \"$1\" && cp -a \"$2/.\" \"$1/\" && exec \"$3\" serve --config \"$4\"";
    let saved = site.path().join("saved");
    Output::of(Command::new("cp").arg("-a").arg(&state).arg(&saved), b"").expect(0);
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&state).arg(&saved).arg(bin("bashgate")).arg(site.host_toml());
    let host = Host::start(&mut command);
    site.check("make x").expect(0);
    // Fill it from inside the namespace.
    let inside = |script: &str| {
        let mut command = Command::new("nsenter");
        command.args(["-t", &host.child.id().to_string(), "-m", "sh", "-c", script]).env("STATE", &state);
        Output::of(&mut command, b"")
    };
    inside("head -c 9999999 /dev/zero > \"$STATE/filler\"; true").expect(0);
    let denied = until("a denial for want of space", || {
        let output = site.check(&format!("make {}", "x".repeat(4000)));
        (output.code == Some(2)).then_some(output)
    });
    assert!(denied.stderr.contains("could not be recorded"), "{denied:?}");
    inside("rm \"$STATE/filler\"").expect(0);
    site.check("make y").expect(0);
}

#[test]
fn the_host_stops_on_request_and_says_what_is_missing_without_it() {
    let site = Site::default();
    let mut host = site.serve();
    assert_eq!(host.terminate(), Some(0));
    let said = host.said.lock().unwrap().clone();
    assert!(said.starts_with("bashgate is ready"), "the first line: {said}");
    let output = site.cli(["approve", "abcdefgh"]).expect(1);
    assert!(output.stderr.contains("no host is running") && output.stderr.contains("bashgate serve"), "{output:?}");
    let records = site.audit();
    let last = records.last().unwrap();
    assert_eq!((last["kind"].as_str(), last["detail"]["event"].as_str()), (Some("host"), Some("stop")));
    // Taints and workspaces can be looked after without a running host.
    site.raise("default", "secret");
    assert_eq!(site.taint("default"), "secret");
}

/// A host that starts again, or stands still with the machine's disk, was there a moment ago: who asks meanwhile waits for it.
#[test]
fn who_asks_while_the_host_starts_again_is_answered() {
    let site = Site::default();
    let mut host = site.serve();
    site.raise_both("default");
    let first = site.check_later("curl -s https://x.example/1");
    let id = site.held("curl -s https://x.example/1");
    site.cli(["deny", &id]).expect(0);
    first.join().unwrap().expect(2);
    host.kill();
    let meanwhile = site.check_later("curl -s https://x.example/2");
    bashgate_tests::pause(Duration::from_secs(4));
    assert!(!meanwhile.is_finished());
    let host = site.serve();
    let id = site.held("curl -s https://x.example/2");
    site.cli(["deny", &id]).expect(0);
    assert!(!meanwhile.join().unwrap().expect(2).stderr.contains("no host answers"));
    drop(host);
}

#[test]
fn a_flood_over_the_limit_is_denied() {
    let site = Site::new("[limits]\nrequests_per_second = 5\n");
    let _host = site.serve();
    let answers: Vec<_> = (0..20).map(|_| site.ask("default", "make x")).collect();
    assert!(
        answers
            .iter()
            .any(|response| response.decision == Answer::Deny && response.reason.contains("too many requests"))
    );
    assert!(answers.iter().any(|response| response.decision == Answer::Allow));
}

#[test]
fn a_log_that_nobody_reads_holds_nobody_up() {
    use std::io::BufRead as _;
    let site = Site::new("log = \"debug\"\n");
    let mut command = site.host_command();
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut host = command.spawn().unwrap();
    let mut said = std::io::BufReader::new(host.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("bashgate is ready") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "the host did not get ready");
    }
    // Far more than a pipe holds.
    for number in 0..300 {
        let long = format!("make {number} {}", "x".repeat(400));
        assert_eq!(site.ask("default", &long).decision, Answer::Allow);
    }
    drop(said);
    site.check("make y").expect(0);
    host.kill().unwrap();
    host.wait().unwrap();
}

#[test]
fn what_a_workspace_puts_on_record_in_an_hour_has_an_end() {
    let site = Site::new("[limits]\nrecord_mib_per_hour = 1\n");
    let _host = site.serve();
    let long = format!("make {}", "x".repeat(60_000));
    let answers: Vec<_> = (0..12).map(|_| site.ask("default", &long)).collect();
    let is_over = |response: &bashgate_shared::protocol::Response| response.reason.contains("record_mib_per_hour");
    assert!(answers.iter().take(6).all(|response| !is_over(response)), "{answers:?}");
    assert!(
        answers.iter().skip(9).all(|response| is_over(response) && response.decision == Answer::Deny),
        "{answers:?}"
    );
    // Another workspace has an hour of its own.
    site.add_workspace("other");
    assert!(!is_over(&site.ask("other", &long)));
    // What was beyond it is counted.
    let records = site.audit();
    assert!(records.iter().all(|record| record.to_string().len() < 200_000));
    let rejects = records.iter().filter(|record| record["kind"] == "reject").count();
    assert!((1..4).contains(&rejects), "{rejects}");
}

#[test]
fn answers_that_an_earlier_host_has_left_go_at_the_start() {
    let site = Site::default();
    let folder = site.mailbox("default").join("responses");
    let left = folder.join(format!("{}.json", uuid::Uuid::new_v4()));
    let young = folder.join(format!("{}.json", uuid::Uuid::new_v4()));
    let half = folder.join(format!(".{}.tmp", uuid::Uuid::new_v4()));
    let stray = folder.join("notes.txt");
    for file in [&left, &young, &half, &stray] {
        std::fs::write(file, "{}").unwrap();
    }
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(2);
    for file in [&left, &half, &stray] {
        std::fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    let _host = site.serve();
    assert!(!left.exists() && !half.exists());
    assert!(young.exists() && stray.exists(), "what may still be read, and what is not ours, stays");
}

#[test]
fn numbers_are_served_on_loopback() {
    // A port that is free now; nobody else here asks for one by number.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let site = Site::new(&format!("[metrics]\nlisten = \"{address}\"\n"));
    let _host = site.serve();
    let get = |request: &str| {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(format!("{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    site.ask("default", "make x");
    site.post_bytes("default", &uuid::Uuid::new_v4().to_string(), b"garbage");
    site.raise("default", "secret");
    let text = until("the numbers", || {
        let text = get("GET /metrics");
        text.contains("bashgate_workspaces{taint=\"secret\"} 1").then_some(text)
    });
    for line in [
        "HTTP/1.1 200 OK",
        "bashgate_decisions_total{answer=\"allow\",by=\"policy\"} 1",
        "bashgate_decisions_total{answer=\"deny\",by=\"host\"} 1",
        "bashgate_mailbox_rejects_total 1",
        "bashgate_approvals_pending 0",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(get("GET /secret").starts_with("HTTP/1.1 404"));
    assert!(get("POST /metrics").starts_with("HTTP/1.1 405"));
    // Whoever sends nothing, or something else, holds nobody up.
    let _silent: Vec<_> = (0..4).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    assert!(get("\u{0}\u{1}").starts_with("HTTP/1.1 400"));
    assert!(get("GET /metrics").contains("# EOF"));
    // A port that is taken is said at the start.
    let other = Site::new(&format!("[metrics]\nlisten = \"{address}\"\n"));
    let output = Output::of(&mut other.host_command(), b"").expect(1);
    assert!(output.stderr.contains("cannot serve metrics on") && output.stderr.contains("help:"), "{output:?}");
}

#[test]
fn too_many_held_commands_are_denied() {
    let site = Site::new("[approval]\nmax_held = 2\n");
    let _host = site.serve();
    site.raise_both("default");
    let held: Vec<_> = (0..2)
        .map(|n| {
            let command = format!("curl -s https://x.example/{n}");
            let running = site.check_later(&command);
            (site.held(&command), running)
        })
        .collect();
    let output = site.check("curl -s https://x.example/9").expect(2);
    assert!(output.stderr.contains("too many commands"), "{output:?}");
    for (id, running) in held {
        site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
}

/// Changes the store behind the host's back.
fn edit_store(site: &Site, sql: &str) {
    let edit = "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute(sys.argv[2])\nc.commit()";
    let store = site.path().join("state/bashgate.db");
    Output::of(Command::new("python3").args(["-c", edit]).arg(&store).arg(sql), b"").expect(0);
}

#[test]
fn an_edit_of_the_audit_is_found() {
    let site = Site::default();
    let mut host = site.serve();
    for n in 0..5 {
        site.ask("default", &format!("make {n}"));
    }
    host.terminate();
    let head = site.cli(["audit", "head"]).expect(0).stdout.trim().to_owned();
    site.cli(["audit", "verify", "--head", &head]).expect(0);
    let run = |sql: &str| edit_store(&site, sql);
    run("DELETE FROM audit WHERE seq = (SELECT MAX(seq) FROM audit)");
    site.cli(["audit", "verify"]).expect(0);
    let cut = site.cli(["audit", "verify", "--head", &head]).expect(1);
    assert!(cut.stderr.contains("cut off"), "{cut:?}");
    // What the host looks requests up by says what the record says.
    run("UPDATE audit SET request_id = NULL WHERE seq = 3");
    site.cli(["audit", "verify"]).expect(1);
    run("UPDATE audit SET request_id = json_extract(body, '$.request_id') WHERE seq = 3");
    site.cli(["audit", "verify"]).expect(0);
    run("UPDATE audit SET body = replace(body, 'make 2', 'make 9')");
    let changed = site.cli(["audit", "verify"]).expect(1);
    assert!(changed.stderr.contains("was changed"), "{changed:?}");
}

#[test]
fn a_flood_of_large_files_does_not_fill_the_hosts_memory() {
    let site = Site::default();
    let host = site.serve();
    let folder = site.mailbox("default").join("requests");
    for _ in 0..400 {
        let id = uuid::Uuid::new_v4();
        // Sparse: it costs the container nothing.
        std::fs::File::create(folder.join(format!(".{id}.tmp"))).unwrap().set_len(2 << 20).unwrap();
        std::fs::rename(folder.join(format!(".{id}.tmp")), folder.join(format!("{id}.json"))).unwrap();
    }
    until("the flood to be over", || {
        let left = std::fs::read_dir(&folder).unwrap().count();
        (left == 0).then_some(())
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.child.id())).unwrap();
    let peak: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    println!("peak memory of the host: {peak} kB");
    assert!(peak < 150 * 1024, "{peak} kB");
    assert_eq!(site.ask("default", "ls").decision, Answer::Allow);
}

#[test]
fn an_audit_that_forgets_its_oldest_records_can_still_be_verified() {
    let site = Site::new("[audit]\nkeep_records = 100\nkeep_days = 0");
    let mut host = site.serve();
    let kept = site.cli(["audit", "head"]).expect(0).stdout;
    for n in 0..150 {
        assert_eq!(site.ask("default", &format!("make {n}")).decision, Answer::Allow);
    }
    // It may go in several pieces; a tenth more than is to be kept is left alone.
    let oldest = until("the oldest to be forgotten", || {
        let records = site.audit();
        let oldest = records.first()?["seq"].as_u64()?;
        (oldest > 1 && records.len() <= 110).then_some(oldest)
    });
    assert!(site.audit().len() >= 100);
    let verified = site.cli(["audit", "verify"]).expect(0).stdout;
    assert!(verified.contains(&format!("The first {} were pruned", oldest - 1)), "{verified}");
    // A head that was kept before is gone with its record, and that is said.
    site.cli(["audit", "verify", "--head", kept.trim()]).expect(1);
    let backup = site.path().join("backup");
    site.cli(["backup", backup.to_str().unwrap()]).expect(0);
    host.terminate();
    // What is pruned is verified before it is signed.
    edit_store(&site, &format!("UPDATE audit SET hash = zeroblob(32) WHERE seq = {}", oldest + 2));
    let mut host = site.serve();
    for n in 0..40 {
        site.ask("default", &format!("make more-{n}"));
    }
    until("a refusal to prune", || host.said.lock().unwrap().contains("the audit is not pruned").then_some(()));
    assert_eq!(site.audit().first().unwrap()["seq"], oldest);
    host.terminate();
    // Whoever prunes without the key is found.
    edit_store(&site, &format!("DELETE FROM audit WHERE seq <= {}", oldest + 10));
    let found = site.cli(["audit", "verify"]).expect(1);
    assert!(found.stderr.contains("is missing"), "{}", found.stderr);
    edit_store(
        &site,
        &format!("UPDATE checkpoint SET seq = {}, hash = (SELECT hash FROM audit ORDER BY seq LIMIT 1)", oldest + 10),
    );
    let found = site.cli(["audit", "verify"]).expect(1);
    assert!(found.stderr.contains("not signed by this host's key"), "{}", found.stderr);
}

#[test]
fn more_mailboxes_than_open_files_are_usual() {
    let names: Vec<String> = (0..100).map(|n| format!("w{n}")).collect();
    let config = names.iter().fold(String::new(), |text, name| text + &format!("[workspaces.{name}]\n"));
    let site = Site::new(&config);
    for name in &names {
        bashgate::daemon::make_mailbox(&site.mailbox(name)).unwrap();
    }
    let serve = |limits: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limits} && exec \"$0\" serve --config \"$1\"")]);
        Host::start(command.arg(bin("bashgate")).arg(site.host_toml()))
    };
    let mut host = serve("ulimit -Sn 64");
    for name in &names {
        assert_eq!(site.ask(name, "make x").decision, Answer::Allow);
    }
    host.kill();
    // Where there cannot be as many, that is said, and the others go on.
    let host = serve("ulimit -n 256");
    until("an error", || host.said.lock().unwrap().contains("LimitNOFILE").then_some(()));
    let answered = names.iter().filter(|name| {
        let id = uuid::Uuid::new_v4().to_string();
        site.post(name, &json!({"type": "security:bash_check", "request_id": id, "command": "make x"}));
        let since = std::time::Instant::now();
        while since.elapsed() < std::time::Duration::from_millis(200) && site.response(name, &id).is_none() {}
        site.response(name, &id).is_some()
    });
    assert!(answered.count() >= 50);
}

#[test]
fn a_wall_clock_that_jumps_by_years_changes_nothing() {
    const DAY_MS: u64 = 86_400_000;
    let site = Site::default();
    let clock = site.path().join("clock");
    let jump = |to: &str| {
        // Whole or not at all: the host may be reading it.
        std::fs::write(site.path().join("clock.new"), to).unwrap();
        std::fs::rename(site.path().join("clock.new"), &clock).unwrap();
    };
    jump("+0d");
    let serve = || {
        let mut command = site.host_command();
        command.env("LD_PRELOAD", "/usr/$LIB/faketime/libfaketime.so.1").env("FAKETIME_TIMESTAMP_FILE", &clock).envs([
            ("FAKETIME_NO_CACHE", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ]);
        Host::start(&mut command)
    };
    let mut host = serve();
    site.raise_both("default");
    let card = |id: &str| site.pending().into_iter().find(|card| card["id"] == id).unwrap();
    for to in ["+400d", "-400d"] {
        jump("+0d");
        let command = format!("curl -s https://x.example/{to}");
        let running = site.check_later(&command);
        let id = site.held(&command);
        let before = card(&id)["expires_in_ms"].as_u64().unwrap();
        jump(to);
        // What comes now is answered as ever, and what waits goes on waiting.
        site.check("make x").expect(0);
        let after = card(&id)["expires_in_ms"].as_u64().unwrap();
        assert!(after <= before && before - after < 60_000, "{before} {after}");
        host.kill();
        host = serve();
        assert_eq!(site.held(&command), id, "the card is back");
        site.cli(["approve", &id]).expect(0);
        running.join().unwrap().expect(0);
    }
    // The clock did jump, forth and back.
    let times: Vec<u64> = site.audit().iter().map(|record| record["at_ms"].as_u64().unwrap()).collect();
    let far = |from: u64, to: u64| to > from + 390 * DAY_MS;
    assert!(times.windows(2).any(|pair| far(pair[0], pair[1])) && times.windows(2).any(|pair| far(pair[1], pair[0])));
    site.cli(["audit", "verify"]).expect(0);
}
