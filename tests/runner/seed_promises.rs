//! Sentences of the specifications that no other test shows: what commands, jobs and scripts find around them.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use bashgate_tests::{Output, Site, until};
use serde_json::{Value, json};

use super::scripts::Ground as Library;
use super::{Ground, Who};

fn under(preset: &str, command: &str) -> Value {
    within(preset, command, None)
}

fn within(preset: &str, command: &str, seconds: Option<u64>) -> Value {
    let ground = Ground::new(Who::User, "bwrap", "");
    let mut order = ground.order(command);
    order["preset"] = json!(preset);
    if let Some(seconds) = seconds {
        order["seconds"] = json!(seconds);
    }
    ground.run_order(&order)
}

#[test]
fn commands_are_read_by_the_shell_that_each_specification_names() {
    for (preset, shell) in [("chorus", "sh"), ("runner-readonly", "sh"), ("runner-build", "sh"), ("phoenix", "bash")] {
        let outcome = under(preset, "echo \"$0\"");
        let named = outcome["stdout"].as_str().unwrap_or_else(|| panic!("{preset}: {outcome:#}")).trim();
        assert_eq!(named.rsplit('/').next(), Some(shell), "{preset}: {outcome:#}");
    }
}

#[test]
fn what_is_refused_never_begins() {
    let ground = Ground::new(Who::User, "bwrap", "");
    for command in ["touch canary; rm -rf /", "touch canary; dd if=/dev/random of=x"] {
        let mut order = ground.order(command);
        order["preset"] = json!("chorus");
        assert_eq!(ground.run_order(&order)["denied"], true, "{command}");
        assert!(!ground.work().join("canary").exists(), "{command}");
    }
}

#[test]
fn the_longest_output_is_the_operators_to_say() {
    let ground = Ground::new(Who::User, "bwrap", "[presets.p.output]\nlimit = { keep = \"tail\", max_chars = 10 }");
    let text = ground.run("printf 0123456789abcdef")["stdout"].as_str().unwrap().to_owned();
    assert!(text.contains("showing last 10 chars of 16 chars") && text.ends_with("6789abcdef"), "{text}");
}

#[test]
fn the_words_of_failures_are_those_of_the_specification() {
    let line =
        |command: &str, seconds| within("phoenix", command, seconds)["failure"].as_str().unwrap_or_default().to_owned();
    assert_eq!(line("sleep 30", Some(1)), "[command timed out after 1s]");
    assert_eq!(line("kill -9 $$", None), "[command failed: exit code -1, ended by signal 9]");
    let ground = Ground::new(Who::User, "bwrap", "");
    let mut order = ground.order("true");
    order["preset"] = json!("phoenix");
    order["cwd"] = json!("/nonexistent");
    let error = ground.run_order(&order)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("does not exist: /nonexistent (conversation may need to be recreated)"), "{error}");
}

#[test]
fn editors_are_none_and_commits_have_the_specifications_trailer() {
    let outcome = under("phoenix", "echo $EDITOR $VISUAL");
    assert_eq!(outcome["stdout"], "/bin/false /bin/false\n", "{outcome:#}");
    let commit = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log -1 --format=%B";
    let outcome = under("phoenix", commit);
    let text = outcome["stdout"].as_str().unwrap_or_default();
    assert!(text.contains("Co-authored-by: Phoenix <phoenix@exe.dev>"), "{outcome:#}");
}

#[test]
fn ten_seconds_are_all_that_a_command_of_the_runner_has() {
    let outcome = under("runner-build", "sleep 30");
    assert_eq!(outcome["timed_out"], true, "{outcome:#}");
    let took = outcome["duration_ms"].as_u64().unwrap();
    assert!((9_900..14_000).contains(&took), "killed at once, without a grace: {took} ms");
}

#[test]
fn ten_kilobytes_are_all_that_is_kept_of_either_stream() {
    let outcome = under("runner-readonly", "head -c 60000 /dev/zero >&2");
    assert!(outcome["stderr"].as_str().unwrap().len() < 11_000, "{outcome:#}");
    assert_eq!(outcome["truncated"], true);
}

fn job(site: &Site, state: &str, more: &[&str], command: &str) -> String {
    let mut started = bashgate_tests::runner();
    started.args(["exec", "--config"]).arg(site.hook_toml()).args(["--state", state, "--background", "--json"]);
    started.args(more).args(["--", command]).current_dir(site.work());
    let output = Output::of(&mut started, b"").expect(0);
    serde_json::from_str::<Value>(&output.stdout).unwrap()["job"].as_str().unwrap().to_owned()
}

fn tail(site: &Site, state: &str, job: &str) -> String {
    let mut command = bashgate_tests::runner();
    Output::of(command.args(["tail", job, "--state", state]).current_dir(site.work()), b"").stdout
}

#[test]
fn the_file_of_a_job_holds_both_streams_and_says_how_it_ended() {
    let site = Site::default();
    let state = site.path().join("jobs");
    let state = state.to_str().unwrap();
    let well = job(&site, state, &[], "echo to the one; echo to the other >&2");
    let text = until("its end", || Some(tail(&site, state, &well)).filter(|text| text.contains("[background process")));
    assert!(text.contains("to the one") && text.contains("to the other"), "{text}");
    assert!(text.trim_end().ends_with("[background process completed]"), "{text}");
    // Nothing of the caller's secrets.
    let _host = site.serve();
    let mut started = bashgate_tests::runner();
    started.args(["exec", "--config"]).arg(site.hook_toml()).args([
        "--state",
        state,
        "--background",
        "--json",
        "--",
        "env",
    ]);
    started.env("MADE_UP_TOKEN", "made-up-value").current_dir(site.work());
    let output = Output::of(&mut started, b"").expect(0);
    let env = serde_json::from_str::<Value>(&output.stdout).unwrap()["job"].as_str().unwrap().to_owned();
    let text = until("its end", || Some(tail(&site, state, &env)).filter(|text| text.contains("[background process")));
    assert!(text.contains("PATH=") && !text.contains("made-up-value"), "{text}");
}

#[test]
fn what_is_slow_has_the_longer_time() {
    let site = Site::default();
    let runner = "[presets.p]\nextends = \"default\"\n[presets.p.limits]\ntimeout_s = 1\nslow_timeout_s = 20\n";
    std::fs::write(site.hook_toml().with_file_name("runner.toml"), runner).unwrap();
    for (option, is_ended) in [(None, true), (Some("--slow-ok"), false)] {
        let mut command = bashgate_tests::runner();
        command.args(["exec", "--config"]).arg(site.hook_toml()).args(["--preset", "p", "--json"]).args(option);
        let output = Output::of(command.args(["--", "sleep 2"]).current_dir(site.work()), b"");
        let outcome: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(outcome["timed_out"], is_ended, "{outcome:#}");
    }
}

/// Where nothing keeps what a preset asks for, nothing runs.
#[test]
fn below_what_a_preset_requires_nothing_runs() {
    let more = "[presets.p.sandbox]\norder = [\"none\"]\nrequire = [\"writes\"]";
    let ground = Ground::new(Who::User, "none", "");
    ground.presets(more);
    let outcome = ground.run("touch ran");
    let error = outcome["error"].as_str().unwrap_or_else(|| panic!("{outcome:#}"));
    assert!(error.contains("does not enforce writes") && !ground.work().join("ran").exists(), "{error}");
}

#[test]
fn a_script_with_network_has_it_and_one_without_has_none() {
    let ground = Library::new();
    let _host = ground.site.serve();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            let _ = stream.write_all(b"from outside\n");
        }
    });
    let text = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && head -n 1 <&3");
    for network in [false, true] {
        let manifest =
            json!({"name": format!("net-{network}"), "capabilities": {"network": network, "commands": ["head"]}});
        let outcome = ground.once(&text, &manifest);
        assert_eq!(outcome["stdout"] == "from outside\n", network, "{outcome:#}");
    }
}

#[test]
fn a_script_starts_where_its_manifest_says_with_what_it_says() {
    let ground = Library::new();
    let _host = ground.site.serve();
    let own = ground.once(
        "pwd; shopt -s nullglob dotglob; echo * | wc -c",
        &json!({"name": "own", "capabilities": {"commands": ["wc"]}}),
    );
    assert_eq!(own["stdout"], "/tmp\n1\n", "its own, and empty: {own:#}");
    let named = json!({"name": "named", "working_directory": ground.text("in"), "capabilities": {"paths_read": [ground.text("in")]}});
    assert_eq!(ground.once("pwd", &named)["stdout"], format!("{}\n", ground.text("in")));
    let shell = ground.once("ls -a", &json!({"name": "shell"}));
    assert_ne!(shell["success"], true, "an empty list means the shell alone: {shell:#}");
    assert!(shell["duration_ms"].is_u64() && shell["exit_code"] == 127, "{shell:#}");
    let names = ground.once("compgen -e", &json!({"name": "names"}));
    let names: Vec<&str> = names["stdout"].as_str().unwrap().lines().collect();
    for name in ["PATH", "HOME", "TMPDIR"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.starts_with("BASHGATE") || name.contains("CARGO_MANIFEST")), "{names:?}");
}

#[test]
fn what_is_known_of_a_script_is_as_the_specification_lists_it() {
    let ground = Library::new();
    let now = || u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let before = now();
    let id = ground.create("echo 1\n", &json!({"name": "one", "description": "says one"}));
    let about: Value = serde_json::from_str(&ground.call(&["show", "--json", &id], &json!({})).stdout).unwrap();
    assert_eq!(id.len(), 36);
    assert_eq!((&about["id"], &about["description"]), (&json!(id), &json!("says one")));
    assert!((before..=now()).contains(&about["created_at_ms"].as_u64().unwrap()), "{about:#}");
    let sum = Output::of(&mut Command::new("sha256sum"), b"echo 1\n").stdout;
    assert_eq!(about["content_hash"], sum.split(' ').next().unwrap());
    assert_eq!(
        (&about["manifest"]["timeout_seconds"], &about["manifest"]["timeout_hard_seconds"]),
        (&json!(60), &json!(1800))
    );
    let listed = ground.call(&["list"], &json!({})).expect(0).stdout;
    assert_eq!(listed, format!("{id}  one  says one\n"));
    let shown = ground.call(&["show", &id], &json!({})).expect(0).stdout;
    assert!(shown.contains("echo 1") && shown.contains("network:  no"), "{shown}");
}

/// It is advice: where it is missing, that is said, and the script is as valid as before.
#[test]
fn shellcheck_may_be_missing() {
    let ground = Library::new();
    let validate = ground.command(&["validate", "--json", "--input"]);
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-c", "d=$(mktemp -d) && mkdir $d/up $d/work && mount -t tmpfs none $d/up && mkdir $d/up/u $d/up/w && mount -t overlay overlay -o lowerdir=/usr/bin,upperdir=$d/up/u,workdir=$d/up/w /usr/bin && rm /usr/bin/shellcheck && exec \"$@\"", "sh"]);
    hidden.arg(validate.get_program()).args(validate.get_args()).current_dir(ground.site.work());
    let output = Output::of(&mut hidden, json!({"name": "x", "content": "echo $x\n"}).to_string().as_bytes());
    let found: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(found["valid"], true, "{found:#}");
    assert!(found["findings"].to_string().contains("shellcheck is not installed"), "{found:#}");
}

/// Where namespaces are refused there is no other way: nothing runs, and the line is told with which it would.
#[test]
fn a_script_without_namespaces_is_refused_with_the_line_that_allows_them() {
    let ground = Library::of(Who::User);
    let _host = ground.site.serve();
    let manifest = json!({"capabilities": {"paths_write": [ground.text("out")], "commands": ["touch"]}});
    let id = ground.create(&format!("touch {}/ran", ground.text("out")), &manifest);
    let fake = ground.path("fake");
    std::fs::write(&fake, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = ground.command(&["run", "--json", &id]);
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "sh",
        "-c",
        "mount --bind \"$1\" \"$(readlink -f /usr/bin/bwrap)\" && shift && exec \"$@\"",
        "sh",
    ]);
    command.arg(&fake).arg(run.get_program()).args(run.get_args()).current_dir(ground.site.work());
    let output = std::thread::scope(|scope| {
        let running = scope.spawn(|| Output::of(&mut command, b""));
        let card = ground.held();
        ground.site.cli(["approve", card["id"].as_str().unwrap()]).expect(0);
        running.join().unwrap()
    });
    let told: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let error = told["error"].as_str().unwrap_or_default();
    assert!(error.contains("No permissions to create new namespace"), "{told:#}");
    assert!(
        error.contains("--security-opt seccomp=unconfined") && error.contains("unprivileged_userns_clone"),
        "{told:#}"
    );
    assert!(!ground.path("out/ran").exists());
}
