//! `bashgate-run exec` behind the gate: nothing runs without its word, and what is refused is on record.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bashgate_tests::{Host, Output, Site, bin, until};
use serde_json::{Value, json};

use super::{Ground, MATRIX, Who};

/// A command line of the runner at a site.
fn runner(site: &Site, arguments: &[&str]) -> Command {
    let mut command = bashgate_tests::runner();
    command.args(&arguments[..1]).args(["--config".as_ref(), site.hook_toml().as_os_str()]).args(&arguments[1..]);
    command.current_dir(site.work());
    command
}

fn exec(site: &Site, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["exec"].iter().chain(arguments).copied().collect();
    Output::of(&mut runner(site, &all), b"")
}

#[test]
fn a_local_command_needs_no_host_and_gets_no_network() {
    let site = Site::default();
    // No host is running: whatever had to be asked would be denied.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let output = exec(&site, &["--preset", "phoenix", "--json", "--", "ls -la"]).expect(0);
    let outcome: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(outcome["sandbox"]["internet"], false, "the preset would give network: {outcome:#}");
    drop(server);
}

#[test]
fn what_the_host_denies_does_not_run() {
    let site = Site::default();
    let _host = site.serve();
    site.raise_both("default");
    let mut held = runner(&site, &["exec", "--preset", "chorus", "--", "curl -s https://x.example; touch ran"]);
    let running = std::thread::spawn(move || Output::of(&mut held, b""));
    let id = site.held("curl -s https://x.example; touch ran");
    site.cli(["deny", &id, "not today"]).expect(0);
    let output = running.join().unwrap().expect(2);
    assert!(output.stderr.contains("not today"), "{output:?}");
    assert!(!site.work().join("ran").exists());
    let records = site.audit();
    let recorded = records.iter().any(|record| {
        record["detail"]["permission"] == "tool:bash:curl -s https://x.example; touch ran"
            && record["detail"]["preset"] == "chorus"
    });
    assert!(recorded, "{records:#?}");
}

#[test]
fn what_the_host_allows_runs_with_the_presets_network() {
    let site = Site::default();
    let _host = site.serve();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = server.accept().unwrap();
        stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nhello\n").unwrap();
    });
    // It follows where the answer leads, so what comes in is not the machine's own.
    let command = format!("curl -sL http://127.0.0.1:{port}/");
    let without = exec(&site, &["--", &command]);
    assert_eq!(without.code, Some(7), "the default preset gives network only when asked: {without:?}");
    let output = exec(&site, &["--network", "--", &command]).expect(0);
    assert_eq!(output.stdout, "hello\n");
    answering.join().unwrap();
    assert_eq!(site.taint("default"), "corruption", "the host remembers what came in");
}

#[test]
fn how_long_the_host_may_take_says_nothing_about_the_run() {
    let site = Site::default();
    site.hook_setting("deadline_s = 300", "deadline_s = 1");
    let _host = site.serve();
    let command = "python3 -c 'import time; time.sleep(20); print(1)'; exit 3";
    let output = exec(&site, &["--json", "--", command]).expect(1);
    let outcome: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&outcome["exit_code"], &outcome["stdout"]), (&3.into(), &"1\n".into()), "{outcome:#}");
    assert!(outcome["duration_ms"].as_u64().unwrap() >= 20_000, "{outcome:#}");
    assert!(exec(&site, &["--", command]).expect(3).stdout == "1\n");
}

#[test]
fn an_attempt_that_the_preset_refuses_is_on_record() {
    let site = Site::default();
    let _host = site.serve();
    let output = exec(&site, &["--preset", "runner-readonly", "--", "make all"]).expect(2);
    assert!(
        output.stderr.contains("the preset does not allow `make all`") && !output.stderr.contains("not on record"),
        "{output:?}"
    );
    let output = exec(&site, &["--preset", "chorus", "--", "rm -rf /"]).expect(2);
    assert!(output.stderr.contains("deletes /"), "{output:?}");
    let records = site.audit();
    for command in ["make all", "rm -rf /"] {
        let record = records.iter().find(|record| record["detail"]["command"] == command).unwrap();
        assert_eq!(record["detail"]["answer"], "deny");
        assert_eq!(record["detail"]["by"], "runner");
        assert_eq!(record["detail"]["permission"], format!("tool:bash:{command}"));
    }
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn without_a_host_a_refusal_is_still_a_refusal_and_says_that_it_is_not_on_record() {
    let site = Site::default();
    let output = exec(&site, &["--preset", "runner-readonly", "--", "make all"]).expect(2);
    assert!(
        output.stderr.contains("the preset does not allow `make all`") && output.stderr.contains("not on record"),
        "{output:?}"
    );
    let output = exec(&site, &["--", "make all"]).expect(2);
    assert!(output.stderr.contains("no host answers"), "{output:?}");
}

#[test]
fn a_broken_configuration_runs_nothing() {
    let site = Site::default();
    fs::write(site.hook_toml(), "nonsense").unwrap();
    let output = exec(&site, &["--", "ls"]).expect(2);
    assert!(output.stderr.contains("is wrong"), "{output:?}");
    fs::remove_file(site.hook_toml()).unwrap();
    fs::write(site.path().join("runner.toml"), "[presets.x]\ncolour = 1").unwrap();
    let output = exec(&site, &["--", "ls"]).expect(2);
    assert!(output.stderr.contains("preset"), "{output:?}");
}

#[test]
fn exit_codes_are_the_commands_own() {
    let site = Site::default();
    let site = &site;
    let status = |arguments: &[&str]| exec(site, arguments).code;
    assert_eq!(status(&["--", "true"]), Some(0));
    assert_eq!(status(&["--", "test 1 = 2"]), Some(1));
    assert_eq!(status(&["--cage", "--", "exit 42"]), Some(42));
    assert_eq!(status(&["--cage", "--", "kill -TERM $$"]), Some(143));
    assert_eq!(status(&["--timeout", "1", "--", "sleep 30"]), Some(124));
    assert_eq!(status(&["--timeout", "0", "--", "true"]), Some(2));
    assert_eq!(status(&["--preset", "runner-readonly", "--network", "--", "ls"]), Some(2));
    assert_eq!(status(&["--no-such-option"]), Some(64));
    assert_eq!(status(&[]), Some(64));
    let words = exec(site, &["--", "echo", "$HOME;", "a b"]).expect(0);
    assert_eq!(words.stdout, "$HOME; a b\n");
}

#[test]
fn the_cage_asks_nobody_and_reaches_nothing() {
    let site = Site::default();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    // A misjudged command: it runs at once, and reaches nothing.
    let output =
        exec(&site, &["--cage", "--", &format!("curl -sS --max-time 3 http://127.0.0.1:{port}/ || touch failed")])
            .expect(0);
    assert!(
        output.stderr.ends_with(
            "bashgate: this ran without network, in a shell of its own; put `# bashgate: network` on the first line to ask for it\n"
        ),
        "{output:?}"
    );
    assert!(site.work().join("failed").exists());
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err());
    // The gate stays out of its sight, and its guards hold.
    let config = site.hook_toml();
    let output = exec(&site, &["--cage", "--", &format!("echo x >> {}", config.display())]).expect(2);
    assert!(output.stderr.contains("it touches the gate itself"), "{output:?}");
    fs::write(
        site.work().join("look.sh"),
        "cat ../hook.toml; ls ../mailbox/default; echo x > ../mailbox/default/requests/x; echo x > ../hook.toml; echo over",
    )
    .unwrap();
    let output = exec(&site, &["--cage", "--", "sh look.sh"]).expect(0);
    assert_eq!(output.stdout, "over\n", "{output:?}");
    assert!(fs::read_to_string(&config).unwrap().contains("workspace"));
    assert_eq!(fs::read_dir(site.mailbox("default").join("requests")).unwrap().count(), 0);
    assert_eq!(exec(&site, &["--cage", "--network", "--", "ls"]).code, Some(64));
}

/// Operators' rules see the permission that a command of the Bash tool needs.
#[test]
fn a_rule_on_the_permission_is_about_the_bash_tool_only() {
    let site = Site::default();
    site.configure(
        "[[policy.rules]]\naction = \"deny\"\nargv = [\"tool:bash:make\"]\nreason = \"not with this tool\"\nmatch = [\"tool:bash:make all\"]\nnot_match = [\"make all\"]",
    );
    let _host = site.serve();
    site.check("make all").expect(0);
    let denied = exec(&site, &["--", "make all"]).expect(2);
    assert!(denied.stderr.contains("not with this tool"), "{denied:?}");
    let last = site.audit().pop().unwrap();
    assert_eq!(last["detail"]["permission"], "tool:bash:make all");
    assert_eq!(last["detail"]["rule"], "operator");
}

/// A home folder is too much to write to by accident: named it may be, and in the cage it is only read.
#[test]
fn a_home_folder_is_written_only_when_it_is_named() {
    let site = Site::default();
    // Not below /tmp, which the cage shares.
    let folder = tempfile::Builder::new().prefix("sandbox-").tempdir_in("/srv").unwrap();
    let home = folder.path().to_owned();
    let run = |arguments: &[&str]| {
        let mut command = bashgate_tests::runner();
        command.arg("exec").arg("--config").arg(site.hook_toml()).args(arguments).current_dir(&home).env("HOME", &home);
        Output::of(&mut command, b"")
    };
    let refused = run(&["--", "echo x > made"]).expect(2);
    assert!(refused.stderr.contains("is a home folder") && refused.stderr.contains("--workspace"), "{refused:?}");
    let caged = run(&["--cage", "--", "echo x > made; echo done"]).expect(0);
    assert!(caged.stdout == "done\n" && caged.stderr.contains("without writing to its folder"), "{caged:?}");
    assert!(!home.join("made").exists());
    run(&["--workspace", home.to_str().unwrap(), "--", "echo x > made"]).expect(0);
    assert!(home.join("made").exists());
    run(&["--preset", "runner-readonly", "--", "ls"]).expect(0);
}

/// Where a preset makes the workspace the home folder, what lies there steers what runs: it is looked at, shown and bound.
#[test]
fn the_home_folder_that_a_preset_gives_is_looked_at() {
    let site = Site::default();
    Output::of(Command::new("git").args(["init", "-q"]).current_dir(site.work()), b"").expect(0);
    Output::of(
        Command::new("git").args(["remote", "add", "origin", "http://127.0.0.1:9/good.git"]).current_dir(site.work()),
        b"",
    )
    .expect(0);
    exec(&site, &["--preset", "chorus", "--", "git status"]).expect(0);
    site.file(".gitconfig", "[core]\n\tfsmonitor = ./fsm.sh\n");
    // No host is running: what is not proven to be local is denied.
    exec(&site, &["--preset", "default", "--", "git status"]).expect(0);
    exec(&site, &["--preset", "chorus", "--", "git status"]).expect(2);

    site.file(".gitconfig", "[url \"http://127.0.0.1:9/evil/\"]\n\tinsteadOf = http://127.0.0.1:9/good\n");
    let _host = site.serve();
    site.raise_both("default");
    let mut push = runner(&site, &["exec", "--preset", "chorus", "--", "git push origin main"]);
    let running = std::thread::spawn(move || Output::of(&mut push, b""));
    let id = site.held("git push origin main");
    let card = site.cli(["show", &id]).expect(0).stdout;
    assert!(card.contains("work/.gitconfig"), "{card}");
    // Another one by then is another question.
    site.file(".gitconfig", "[url \"http://127.0.0.1:9/worse/\"]\n\tinsteadOf = http://127.0.0.1:9/good\n");
    site.cli(["approve", &id]).expect(0);
    let output = running.join().unwrap().expect(2);
    assert!(output.stderr.contains(".gitconfig"), "{output:?}");
}

/// A project whose settings call the gate is written in like any other. What calls it stays.
#[test]
fn a_project_in_whose_settings_the_gate_stands_is_written_in() {
    for (agent, settings) in [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("copilot", ".github/hooks/bashgate.json"),
        ("opencode", ".opencode/plugin/bashgate.js"),
        ("cursor", ".cursor/hooks.json"),
    ] {
        let site = Site::default();
        let project = tempfile::Builder::new().prefix("project-").tempdir_in("/srv").unwrap();
        Output::of(Command::new("git").args(["init", "-q"]).arg(project.path()), b"").expect(0);
        let mut install = bashgate_tests::hook();
        install.args(["install", "--agent", agent, "--scope", "project", "--config"]).arg(site.hook_toml());
        Output::of(install.current_dir(project.path()), b"").expect(0);
        let file = project.path().join(settings);
        let before = fs::read_to_string(&file).unwrap();
        for change in
            [format!("echo x > {settings}"), "rm -rf .[a-z]*; mkdir .claude".to_owned(), "mv .[a-z]* src".to_owned()]
        {
            fs::create_dir_all(project.path().join("src")).unwrap();
            fs::write(project.path().join("run.sh"), format!("echo x > made\n{change}\n")).unwrap();
            let mut run = bashgate_tests::runner();
            run.args(["exec", "--cage", "--config"]).arg(site.hook_toml()).args(["--", "sh run.sh"]);
            let output = Output::of(run.current_dir(project.path()), b"");
            assert!(project.path().join("made").exists(), "{agent}: {change}: {output:?}");
            assert_eq!(fs::read_to_string(&file).ok().as_ref(), Some(&before), "{agent}: {change}: {output:?}");
            fs::remove_file(project.path().join("made")).unwrap();
        }
    }
}

#[test]
fn output_in_the_cage_comes_while_it_comes_and_a_reader_that_stands_still_delays_no_end() {
    let site = Site::default();
    let mut command = bashgate_tests::runner();
    command.arg("exec").arg("--config").arg(site.hook_toml()).current_dir(site.work());
    let mut child = command
        .args(["--cage", "--", "echo first; until test -e go; do sleep 0.02; done; echo second"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    fs::write(site.work().join("go"), "").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "second");
    assert_eq!(child.wait().unwrap().code(), Some(0));

    // A reader that takes its time gets all of it.
    let text = format!(
        "{} exec --config {} --cage -- 'seq 1 100000' 2>/dev/null | (sleep 1.5; wc -l)",
        bashgate_tests::bin("bashgate-run").display(),
        site.hook_toml().display()
    );
    let slow = Output::of(Command::new("bash").args(["-c", &text]).current_dir(site.work()), b"").expect(0);
    assert_eq!(slow.stdout.trim(), "100000");
    // A terminal that nobody reads takes less at a time than a pipe; and where nothing can be said, the status says it.
    let text = format!(
        "import os, pty, subprocess, sys\nmaster, slave = pty.openpty()\n\
         run = ['{}', 'exec', '--config', '{}', '--cage', '--timeout', '1', '--', 'yes']\n\
         print(subprocess.run(run, stdout=slave, stderr=subprocess.DEVNULL, timeout=20).returncode)\n\
         run[-2:] = ['--', 'exit 7']\n\
         print(subprocess.run(run, stderr=open('/dev/full', 'w')).returncode)",
        bashgate_tests::bin("bashgate-run").display(),
        site.hook_toml().display()
    );
    let unread = Output::of(Command::new("python3").args(["-c", &text]).current_dir(site.work()), b"").expect(0);
    assert_eq!(unread.stdout, "124\n7\n", "{unread:?}");

    // Nobody reads what floods the pipe: its time ends all the same.
    let mut command = bashgate_tests::runner();
    command.arg("exec").arg("--config").arg(site.hook_toml()).current_dir(site.work());
    let mut child = command
        .args(["--cage", "--timeout", "1", "--", "yes"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let ended = bashgate_tests::until("the end", || child.try_wait().unwrap());
    assert_eq!(ended.code(), Some(124));
}

#[test]
fn a_job_outlives_its_caller_and_can_be_listed_tailed_and_stopped() {
    let site = Site::default();
    let state = site.path().join("jobs");
    let state = state.to_str().unwrap();
    let started =
        exec(&site, &["--state", state, "--agent", "a", "--background", "--json", "--", "echo begun; sleep 600"])
            .expect(0);
    let job: Value = serde_json::from_str(&started.stdout).unwrap();
    let id = job["job"].as_str().unwrap();
    let ask = |arguments: &[&str]| {
        let mut command = bashgate_tests::runner();
        Output::of(command.args(arguments).args(["--state", state]).current_dir(site.work()), b"").expect(0).stdout
    };
    until("output", || ask(&["tail", id]).contains("begun").then_some(()));
    let listed: Value = serde_json::from_str(&ask(&["jobs", "--json"])).unwrap();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["state"], &listed[0]["pid"]),
        (&job["job"], &Value::from("running"), &job["pid"])
    );
    assert!(ask(&["stop", id]).contains("stopped"));
    assert!(ask(&["tail", id]).ends_with("[background process failed: stopped]\n"));
    // One that ends by itself, and one whose supervisor is killed.
    exec(&site, &["--state", state, "--background", "--", "echo done"]).expect(0);
    until("completion", || ask(&["jobs"]).contains("completed").then_some(()));
    let mark = super::mark();
    let killed =
        exec(&site, &["--state", state, "--background", "--json", "--", &format!("sleep 700 {mark} || sleep 700")])
            .expect(0);
    let killed: Value = serde_json::from_str(&killed.stdout).unwrap();
    let pid = i32::try_from(killed["pid"].as_i64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("loss", || ask(&["jobs", killed["job"].as_str().unwrap()]).contains("lost").then_some(()));
    until("no process", || super::processes_with(&mark).is_empty().then_some(()));
    // An agent that is removed takes its jobs along.
    for agent in ["gone", "gone", "stays"] {
        exec(&site, &["--state", state, "--agent", agent, "--background", "--", "sleep 600"]).expect(0);
    }
    assert_eq!(ask(&["stop", "--agent", "gone"]).lines().count(), 2);
    assert_eq!(ask(&["jobs"]).matches("running").count(), 1);
    ask(&["stop", "--agent", "stays"]);
}

#[test]
fn what_runs_in_the_foreground_is_listed_and_can_be_stopped() {
    let site = Site::default();
    let state = site.path().join("jobs");
    let state = state.to_str().unwrap();
    let waits = "echo begun; echo x > begun; sleep 600";
    let mut command = runner(&site, &["exec", "--state", state, "--agent", "a", "--", waits]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let ask = |arguments: &[&str], code| {
        let mut command = bashgate_tests::runner();
        Output::of(command.args(arguments).args(["--state", state]).current_dir(site.work()), b"").expect(code)
    };
    let jobs = || serde_json::from_str::<Value>(&ask(&["jobs", "--json"], 0).stdout).unwrap();
    let job = until("the run", || jobs().as_array().unwrap().first().cloned());
    assert_eq!((&job["command"], &job["foreground"], &job["agent"]), (&json!(waits), &json!(true), &json!("a")));
    until("its start", || site.work().join("begun").exists().then_some(()));
    let id = job["id"].as_str().unwrap();
    assert!(ask(&["jobs"], 0).stdout.contains("running in the foreground"));
    assert!(ask(&["tail", id], 1).stderr.contains("goes to whoever started it"));
    assert!(ask(&["stop", id], 0).stdout.contains("stopped"));
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(143));
    assert!(String::from_utf8_lossy(&ended.stdout).contains("begun"));
    // It leaves nothing behind, and one that is killed is cleared away.
    assert_eq!(jobs(), json!([]));
    let mut killed = runner(&site, &["exec", "--state", state, "--", waits]).spawn().unwrap();
    until("the run", || jobs().as_array().unwrap().first().cloned());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(jobs(), json!([]));
}

/// A gate whose workspace has seen everything, and what runs behind it, with a network for those who ask.
fn tainted(who: Who, backend: &'static str) -> (Site, Ground, Host) {
    tainted_with(who, backend, "")
}

/// The same, with more keys for the preset.
fn tainted_with(who: Who, backend: &'static str, more: &str) -> (Site, Ground, Host) {
    let site = Site::default();
    site.lets_others_in();
    let ground = Ground::new(who, backend, &format!("[presets.p.network]\naccess = \"requested\"\n{more}"));
    fs::copy(ground.path().join("runner.toml"), site.path().join("runner.toml")).unwrap();
    let host = site.serve();
    site.raise_both("default");
    (site, ground, host)
}

/// Starts a command with a network behind this gate.
fn start(site: &Site, ground: &Ground, command: &str) -> std::thread::JoinHandle<Output> {
    start_in(site, ground, &ground.work(), command)
}

fn start_in(site: &Site, ground: &Ground, cwd: &Path, command: &str) -> std::thread::JoinHandle<Output> {
    let mut running = ground.as_user(&ground.path().join("bin/bashgate-run"));
    running.args(["exec", "--preset", "p", "--network", "--config"]).arg(site.hook_toml()).args(["--", command]);
    running.current_dir(cwd);
    std::thread::spawn(move || Output::of(&mut running, b""))
}

/// What a person has approved is what runs: it is compared at the start, what is written into the file later reaches nobody where the
/// sandbox has mounts of its own, and whatever is put in its place while it runs is told and on record.
#[test]
fn what_was_approved_runs_under_every_backend_or_its_exchange_is_told() {
    for (who, backend) in MATRIX {
        let (site, ground, _host) = tainted(who, backend);
        let work = ground.work();
        for text in ["shown", "swapped"] {
            ground.write(&format!("work/{text}.txt"), &format!("{text}\n"));
        }
        let start = |command: &str| start(&site, &ground, command);
        let approve = |running: &std::thread::JoinHandle<Output>, before: &dyn Fn()| {
            let card = site.held_or_ended(running);
            before();
            if let Some(card) = card {
                site.cli(["approve", &card]).expect(0);
            }
        };
        let script = |text: &str| format!("cat {text}.txt\n");
        let settings = |text: &str| format!("url = \"file://{}/{text}.txt\"\n", work.display());
        // Code that comes by another way, or that other code starts.
        ground.write("work/outer.sh", ". ./inner.sh\n");
        ground.write("work/inner.sh", "sh ./run.sh\n");
        ground.write("work/Makefile", "go:\n\t@sh ./run.sh\n");
        for (form, (reads, file, content, is_copied)) in [
            ("sh ./run.sh", "run.sh", &script as &dyn Fn(&str) -> String, true),
            ("curl -s -K curl.cfg", "curl.cfg", &settings, true),
            ("sh < run.sh", "run.sh", &script, true),
            ("cat run.sh | sh", "run.sh", &script, true),
            ("sh outer.sh", "run.sh", &script, false),
            ("make go", "run.sh", &script, false),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("{backend} as {who:?}: {reads}");
            let write = |text: &str| drop(ground.write(&format!("work/{file}"), &content(text)));
            let rename = |text: &str| {
                ground.write("work/other", &content(text));
                fs::rename(work.join("other"), work.join(file)).unwrap();
            };
            let swap_back = |_: &str| {
                for (from, to) in [(file, "old"), ("swapped.other", file), (file, "swapped.other"), ("old", file)] {
                    ground.write("work/swapped.other", &content("swapped"));
                    fs::rename(work.join(from), work.join(to)).unwrap();
                }
            };
            let command = |mark: &str| format!("touch {mark}; sleep 0.3; {reads}; curl -s https://x.invalid/{mark}");

            // Between the answer and the start.
            write("shown");
            let before = format!("before-{form}");
            let running = start(&command(&before));
            approve(&running, &|| write("swapped"));
            let output = running.join().unwrap().expect(2);
            assert!(output.stderr.contains("changed") || output.stderr.contains("another one"), "{name}: {output:?}");
            assert!(!work.join(&before).exists(), "{name}: {output:?}");

            // While it runs: into the file that is there; another one over it, once, in a loop, and away again.
            for (way, exchange) in
                [("write", &write as &dyn Fn(&str)), ("rename", &rename), ("loop", &rename), ("back", &swap_back)]
            {
                // The ways are told apart where a file is named; the others differ in what is bound.
                if form > 1 && matches!(way, "rename" | "loop") {
                    continue;
                }
                write("shown");
                let mark = format!("{way}-{form}");
                let running = start(&command(&mark));
                approve(&running, &|| ());
                until("its start, or the end", || (work.join(&mark).exists() || running.is_finished()).then_some(()));
                exchange("swapped");
                while way == "loop" && !running.is_finished() {
                    exchange("shown");
                    exchange("swapped");
                }
                let output = running.join().unwrap();
                let is_told = output.stderr.contains(&format!("{file} was exchanged"));
                assert!(is_told, "{name}: {way}: {output:?}");
                if way == "write" && backend == "bwrap" && is_copied {
                    assert_eq!(output.stdout, "shown\n", "{name}: {output:?}");
                }
            }
            let records = serde_json::to_string(&site.audit()).unwrap();
            assert!(records.contains(&format!("{file}, exchanged while it ran")), "{name}: {records}");
        }
        // What the command changes itself is no exchange.
        ground.write("work/own.sh", "#!/bin/sh\necho own\n");
        let running = start("chmod +x own.sh && ./own.sh; curl -s https://x.invalid/own");
        approve(&running, &|| ());
        let output = running.join().unwrap();
        assert_eq!(output.stdout, "own\n", "{backend} as {who:?}: {output:?}");
        assert!(!output.stderr.contains("exchanged"), "{backend} as {who:?}: {output:?}");
    }
}

/// A run that was asked about and has a network is alone in its project: nothing else changes there what it rests on.
#[test]
fn a_run_that_was_asked_about_has_the_project_for_itself() {
    for (who, backend) in MATRIX {
        let (site, ground, _host) = tainted(who, backend);
        let work = ground.work();
        ground.write("work/run.sh", "cat mark 2>/dev/null\n");
        ground.write("work/package.json", "{}\n");
        let asked = |command: &str| {
            let running = start(&site, &ground, command);
            let card = site.held_or_ended(&running).expect("it is held");
            site.cli(["approve", &card]).expect(0);
            running
        };
        let other = |command: &str| {
            let (mut driver, order) = (ground.driver(), ground.order(command).to_string());
            std::thread::spawn(move || Output::of(&mut driver, order.as_bytes()))
        };
        let is_there = |name: &str| until("its start", || work.join(name).exists().then_some(()));
        let name = format!("{backend} as {who:?}");

        let first = asked("touch a1; sleep 1; touch a2; sh run.sh; curl -s https://x.invalid/");
        is_there("a1");
        let output = other("test -e a2 && echo after").join().unwrap();
        assert!(output.stdout.contains("after"), "{name}: {output:?}");
        first.join().unwrap();

        let first = other("touch b1; sleep 1; date +%s%N");
        is_there("b1");
        let output = asked("date +%s%N; sh run.sh; curl -s https://x.invalid/").join().unwrap();
        let ended: Value = serde_json::from_str(&first.join().unwrap().stdout).unwrap();
        let moment = |text: &str| text.trim().parse::<u64>().unwrap_or_else(|_| panic!("{name}: {text:?} {output:?}"));
        assert!(moment(&output.stdout) > moment(ended["stdout"].as_str().unwrap()), "{name}: {output:?} {ended:#}");

        // What was changed until its turn came counts, also where no copy is made of it.
        let first = other("touch c1; sleep 1.5; echo '{\"x\":1}' > package.json");
        is_there("c1");
        let output = asked("npm run x; curl -s https://x.invalid/").join().unwrap();
        assert_eq!(output.code, Some(2), "{name}: {output:?}");
        assert!(output.stderr.contains("another one") || output.stderr.contains("changed"), "{name}: {output:?}");
        first.join().unwrap();
    }
}

/// It waits for whoever writes where it rests on something, wherever the one and the other work; and for nobody else.
#[test]
fn whoever_writes_where_a_run_rests_on_something_is_waited_for() {
    for (who, backend) in MATRIX {
        let (site, ground, _host) = tainted_with(
            who,
            backend,
            "[presets.p.filesystem]\ntmp = \"named\"\n[presets.p.git]\nrepository = \"write\"",
        );
        let lent = tempfile::Builder::new().prefix("lent-").tempdir_in("/tmp").unwrap();
        ground.give(lent.path());
        let lent = lent.path().to_str().unwrap();
        let work = ground.work();
        let laid = format!(
            "cd {}; mkdir api docs; for d in api docs {lent}; do echo 'true' > $d/run.sh; printf 'x:\\n\\tsh run.sh\\n' > $d/Makefile; git -C $d init -q -b main; done
             cd api; git add .; git -c user.name=a -c user.email=a@b commit -qm one; git worktree add -q ../tree",
            work.display()
        );
        let mut shell = ground.as_user(Path::new("/bin/sh"));
        Output::of(shell.args(["-c", &laid]), b"").expect(0);
        let name = format!("{backend} as {who:?}");
        let moment = |text: &str| text.trim().parse::<u64>().ok();
        // Where one works that nobody was asked about, and what it does besides; where the other one was asked, and about what.
        for (at, first, cwd, asked, waits) in [
            (".", "", "api", "sh run.sh", true),
            ("api", "chmod 311 .;", "api", "sh run.sh", true),
            ("tree", "", "api", "sh run.sh", true),
            ("api", "", "tree", "sh run.sh", true),
            ("api", "", "docs", "make -C ../api x", true),
            ("api", "", "docs", "cd ../api && make x", true),
            ("docs", &format!("cd {lent};"), lent, "sh run.sh", true),
            ("docs", "", "api", "sh run.sh", false),
        ] {
            let case = format!("{name}: {asked} in {cwd} beside {at} {first}");
            let mark = work.join(at).join("mark");
            // Its shell says when it ends.
            // Who waits for nobody begins within this time, also on a busy machine.
            let lasts = if waits { 1 } else { 8 };
            let mut order = ground.order(&format!("touch mark; {first} sleep {lasts}; date +%s%N"));
            order["workspace"] = json!(work.join(at).canonicalize().unwrap());
            let mut driver = ground.driver();
            let other = std::thread::spawn(move || Output::of(&mut driver, order.to_string().as_bytes()));
            until("its start", || (mark.exists() || other.is_finished()).then_some(()));
            let running =
                start_in(&site, &ground, &work.join(cwd), &format!("date +%s%N; {asked}; curl -s https://x.invalid/"));
            let card = site.held_or_ended(&running).unwrap_or_else(|| panic!("{case} is not held"));
            site.cli(["approve", &card]).expect(0);
            let (output, other) = (running.join().unwrap(), other.join().unwrap());
            let ended: Value = serde_json::from_str(&other.stdout).unwrap_or_else(|_| panic!("{case}: {other:?}"));
            let ended = ended["stdout"].as_str().and_then(moment).unwrap_or_else(|| panic!("{case}: {other:?}"));
            match output.stdout.lines().next().and_then(moment) {
                Some(began) => assert_eq!(began > ended, waits, "{case}: {output:?}"),
                // It was not what it was when it was asked about.
                None => assert!(
                    waits && output.stderr.contains("changed after the command was allowed"),
                    "{case}: {output:?}"
                ),
            }
            fs::set_permissions(work.join("api"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            fs::remove_file(mark).unwrap();
        }
    }
}

/// Chains in which an earlier part writes what a later one runs do what they say: no copy is in the way, and nobody is told of an exchange.
#[test]
fn what_a_command_builds_before_it_runs_it_is_its_own() {
    for (who, backend) in MATRIX {
        let (site, ground, _host) = tainted_with(who, backend, "[presets.p.git]\nrepository = \"write\"");
        ground.write("work/main.sh", "echo old\n");
        ground.write("work/out.sh", "echo old\n");
        ground.write("work/Makefile", "out:\n\techo echo built > out.sh\n");
        let laid =
            "git init -q -b main; git config user.name a; git config user.email a@b; git add .; git commit -qm one
             git switch -qc other; echo echo other > main.sh; git commit -qam other; git switch -q main";
        let mut shell = ground.as_user(Path::new("/bin/sh"));
        Output::of(shell.args(["-c", laid]).current_dir(ground.work()), b"").expect(0);
        for (command, says) in [
            ("git checkout -q other && sh main.sh", "other\n"),
            ("git checkout -q main; sh main.sh", "old\n"),
            ("make -s out && sh out.sh", "built\n"),
        ] {
            let running = start(&site, &ground, &format!("{command}; curl -s https://x.invalid/"));
            let card = site.held_or_ended(&running).unwrap_or_else(|| panic!("{command} is not held"));
            site.cli(["approve", &card]).expect(0);
            let output = running.join().unwrap();
            assert_eq!(output.stdout, says, "{backend} as {who:?}: {command}: {output:?}");
            assert!(!output.stderr.contains("exchanged"), "{backend} as {who:?}: {command}: {output:?}");
        }
    }
}

/// Each mistake is called by its name, with what to do; nothing is said of another one.
#[test]
fn messages_say_what_is_wrong_and_what_to_do() {
    let site = Site::default();
    let toml = "[presets.reads]\nextends = \"default\"\n[presets.reads.filesystem]\nread = [\"/nonexistent\"]\n\
                [presets.writes]\nextends = \"default\"\n[presets.writes.filesystem]\nwrite = [\"/nonexistent\"]\n";
    fs::write(site.path().join("runner.toml"), toml).unwrap();
    for (arguments, says, never) in [
        (
            &["--background", "--preset", "runner-readonly", "--", "ls"] as &[&str],
            "allows no background jobs",
            "free some",
        ),
        (&["--timeout", "0", "--", "ls"], "from 1 to 3600 seconds", "more than the preset"),
        (&["--timeout", "99999", "--", "ls"], "99999 was asked for", "0 seconds is"),
        (&["--cwd", "/nonexistent", "--", "ls"], "Working directory does not exist: /nonexistent", "to write to"),
        (&["--workspace", "/nonexistent", "--", "ls"], "/nonexistent cannot be a folder to write to", "to read"),
        (&["--workspace", "/", "--", "ls"], "belongs to the system", "free some"),
        (&["--preset", "reads", "--", "ls"], "/nonexistent cannot be given to read", "to write to"),
        (&["--preset", "writes", "--", "ls"], "/nonexistent cannot be a folder to write to", "to read"),
        (&["--preset", "nowhere", "--", "ls"], "there is no preset `nowhere`; known are", "free some"),
    ] {
        let output = exec(&site, arguments);
        let said = format!("{}{}", output.stderr, output.stdout);
        assert!(output.code == Some(2) && said.contains(says) && !said.contains(never), "{arguments:?}: {output:?}");
        assert!(said.contains("help: "), "{arguments:?}: {said}");
    }
    // What wants a network fails at once, and the reason comes first.
    let output = exec(&site, &["--cage", "--", "npm install left-pad --loglevel=error"]);
    assert!(output.code != Some(0) && output.stderr.starts_with("bashgate: "), "{output:?}");
    assert!(output.stderr.lines().next().unwrap().contains("network"), "{output:?}");
}

/// What is read-only, and why, and what to do about it.
#[test]
fn a_refused_write_is_explained() {
    let site = Site::default();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        Output::of(
            command.args(["-c", "user.name=n", "-c", "user.email=m@x"]).args(words).current_dir(site.work()),
            b"",
        )
    };
    git(&["init", "-q", "-b", "main"]).expect(0);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]).expect(0);
    std::fs::write(site.work().join("a"), "x").unwrap();
    let said = |preset: &str, command: &str| {
        let output = exec(&site, &["--preset", preset, "--", command]);
        assert_ne!(output.code, Some(0), "{output:?}");
        output.stderr
    };
    let default = said("default", "git add a");
    assert!(default.contains("`.git` is read-only with this preset") && default.contains("chorus"), "{default}");
    // Nothing of that is said about what fails for another reason.
    let other = said("default", "cat missing/.git");
    assert!(!other.contains("read-only"), "{other}");
}

/// Its own output fills the disk: it runs on, and how it ended is known all the same.
#[test]
fn a_job_that_fills_the_disk_still_says_how_it_ended() {
    let site = Site::default();
    let state = site.path().join("jobs");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let script = "mount -t tmpfs -o size=256k,mode=700 none \"$2\"; \
        \"$1\" exec --config \"$3\" --state \"$2\" --background -- 'seq 1 200000; exit 3' >/dev/null; \
        for i in $(seq 1 200); do \"$1\" jobs --state \"$2\" | grep -q running || break; sleep 0.1; done; \
        df --output=avail \"$2\" | tail -1; \"$1\" jobs --state \"$2\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(bin("bashgate-run")).arg(&state).arg(site.hook_toml());
    let output = Output::of(command.current_dir(site.work()).env_remove("LD_LIBRARY_PATH"), b"").expect(0);
    assert!(output.stdout.contains("exit code 3"), "{output:?}");
    let free: u64 = output.stdout.lines().next().unwrap().trim().parse().unwrap();
    // But for what its own turn took, and has given back.
    assert!(free < 32, "the disk is full: {output:?}");
}

#[test]
fn the_answer_of_a_background_job_has_its_three_tags() {
    let site = Site::default();
    let state = site.path().join("jobs");
    let output = exec(&site, &["--state", state.to_str().unwrap(), "--background", "--", "echo x"]).expect(0);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("<pid>") && lines[1].starts_with("<output_file>/"), "{output:?}");
    assert!(lines[2].starts_with("<reminder>To stop: bashgate-run stop "), "{output:?}");
}

#[test]
fn an_interrupted_run_ends_with_its_grace() {
    let site = Site::default();
    let mut command = runner(
        &site,
        &["exec", "--cage", "--", "trap 'echo cleaned > trace; exit' TERM; touch ready; while :; do sleep 0.05; done"],
    );
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    until("the command", || site.work().join("ready").exists().then_some(()));
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    bashgate_tests::pause(Duration::from_millis(1));
    assert_eq!(fs::read_to_string(site.work().join("trace")).unwrap(), "cleaned\n");
}

/// What a command finds in its environment and what it may write is part of the question, and what steers it is asked about.
#[test]
fn what_is_given_to_a_command_is_part_of_its_question() {
    let site = Site::default();
    let _host = site.serve();
    site.raise_both("default");
    let command = "curl -s -d x https://x.example";
    let start = |more: &[&str]| {
        let all: Vec<&str> = ["exec", "--network"].iter().chain(more).chain(&["--", command]).copied().collect();
        let mut held = runner(&site, &all);
        std::thread::spawn(move || Output::of(&mut held, b""))
    };
    let elsewhere = tempfile::Builder::new().prefix("elsewhere-").tempdir_in("/srv").unwrap();
    let folder = elsewhere.path().to_str().unwrap();
    let mut waiting = vec![start(&[])];
    for (at, more) in [
        ["--env", "https_proxy=http://127.0.0.1:9"],
        ["--env", "PATH=/srv/evil"],
        ["--env", "WHO=evil"],
        ["--env", "WHO=good"],
        ["--workspace", folder],
    ]
    .iter()
    .enumerate()
    {
        until("another card", || (site.pending().len() == at + 1).then_some(()));
        waiting.push(start(more));
    }
    until("six cards", || (site.pending().len() == 6).then_some(()));
    let cards: Vec<String> =
        site.pending().iter().map(|card| site.cli(["show", card["id"].as_str().unwrap()]).expect(0).stdout).collect();
    for said in ["https_proxy=http://127.0.0.1:9", "PATH=/srv/evil", "WHO=evil", "WHO=good", folder] {
        assert!(cards.iter().any(|card| card.contains(said)), "{said}: {cards:#?}");
    }
    for card in site.pending() {
        site.cli(["deny", card["id"].as_str().unwrap()]).expect(0);
    }
    for running in waiting {
        running.join().unwrap().expect(2);
    }
    // A command that is provably local is not, where a variable may change what it is.
    let clean = Site::default();
    for variable in ["PATH=/srv/evil:/usr/bin", "HOME=/srv/evil", "GIT_DIR=/srv/evil", "LESSOPEN=x"] {
        let refused = exec(&clean, &["--env", variable, "--", "ls"]);
        assert!(refused.code == Some(2) && !refused.stdout.contains("Cargo"), "{variable}: {refused:?}");
    }
    assert_eq!(exec(&clean, &["--env", "WHO=x", "--", "echo fine"]).expect(0).stdout, "fine\n");
}
