//! The cage from the hook's and the host's side: what is sent into it, by whom, and what happens when the agent does not
//! keep to it. That real agents do is in `agents.rs`, and what the sandbox keeps in the runner's tests.

use std::process::Command;

use bashgate_shared::cage;
use bashgate_tests::{Output, Site, bin};
use serde_json::{Value, json};

/// A site whose host replaces what it can by the cage, and whose hook can cage.
fn site() -> Site {
    let site = Site::default();
    site.workspace_setting("on_inspect = \"cage\"\non_ask = \"cage\"");
    site.hook_setting("on_allow = \"silent\"", "on_allow = \"approve\"");
    site
}

fn event(site: &Site, name: &str, input: &Value) -> Output {
    let event = json!({
        "hook_event_name": name, "session_id": "s", "cwd": site.work(), "tool_name": "Bash", "tool_input": input,
        "tool_use_id": "call-1",
    });
    Output::of(&mut site.hook_command(&site.hook_toml()), event.to_string().as_bytes())
}

fn before(site: &Site, command: &str) -> Output {
    event(site, "PreToolUse", &json!({"command": command, "description": "d", "timeout": 5000}))
}

/// What the hook gives the agent for a command.
fn caged(site: &Site, more: &str, command: &str) -> String {
    let (runner, config) = (bin("bashgate-run"), site.hook_toml());
    format!(
        "{} exec --cage{more} --config {} -- '{}'",
        runner.display(),
        config.display(),
        command.replace('\'', "'\\''")
    )
}

/// The text that the agent is to run instead; `None` when its own may run, or none.
fn instead(output: &Output) -> Option<String> {
    let said: Value = serde_json::from_str(output.stdout.trim()).ok()?;
    Some(said["hookSpecificOutput"]["updatedInput"]["command"].as_str()?.to_owned())
}

#[test]
fn what_would_be_asked_about_is_caged_and_the_rest_of_the_call_stays() {
    let site = site();
    let _host = site.serve();
    let clean = before(&site, "make").expect(0);
    assert_eq!(instead(&clean), None, "a clean workspace asks nobody");

    site.raise_both("default");
    for command in ["make -j2", "python3 -c 'print(1)'", "it's=1; ./configure && make", "cd sub && make"] {
        let output = before(&site, command).expect(0);
        let form = instead(&output).unwrap_or_else(|| panic!("{command}: {output:?}"));
        assert_eq!(form, caged(&site, "", command));
        let said: Value = serde_json::from_str(output.stdout.trim()).unwrap();
        let said = &said["hookSpecificOutput"];
        assert_eq!(said["permissionDecision"], "allow");
        let rest = (&said["updatedInput"]["description"], &said["updatedInput"]["timeout"]);
        assert_eq!(rest, (&json!("d"), &json!(5000)), "everything else of the call stays");
    }
    assert_eq!(site.taint("default"), "both");
    assert!(site.pending().is_empty());
    // What was let through by nobody is on record as what it is: a denial with a run in the cage.
    let caged: Vec<Value> = site.audit().into_iter().filter(|record| record["detail"]["caged"] == true).collect();
    assert_eq!(caged.len(), 4);
    assert!(caged.iter().all(|record| record["detail"]["answer"] == "deny" && record["detail"]["rule"] == "cage"));
    site.cli(["audit", "verify"]).expect(0);
    // Judged again by the same policy, nothing changes.
    let replayed = site.cli(["audit", "replay"]).expect(0);
    assert!(replayed.stderr.contains(" 0 would change"), "{replayed:?}");
}

/// Before the cage is turned on, the record says what it would save and what would fail in it.
#[test]
fn a_replay_says_what_would_fail_in_the_cage() {
    let site = site();
    let with_cage = std::fs::read_to_string(site.host_toml()).unwrap();
    let without: String = with_cage.lines().filter(|line| !line.contains("\"cage\"")).collect::<Vec<_>>().join("\n");
    assert_ne!(with_cage, without);
    std::fs::write(site.host_toml(), without).unwrap();
    let _host = site.serve();
    site.raise_both("default");
    let makefile = "all:\n\t@true\nfetch:\n\t@echo 'Could not resolve host' >&2; exit 6\n";
    std::fs::write(site.work().join("Makefile"), makefile).unwrap();
    for command in ["make all", "make fetch"] {
        assert_eq!(instead(&before(&site, command).expect(0)), None);
    }
    let replayed = || {
        let other = site.path().join("other.toml");
        std::fs::write(&other, with_cage.clone()).unwrap();
        let mut command = Command::new(bin("bashgate"));
        Output::of(command.args(["audit", "replay", "--config"]).arg(&other), b"").expect(0).stderr
    };
    let none = replayed();
    assert!(none.contains("allow -> cage: 2") && !none.contains("would fail there"), "{none}");
    // One of them is tried there.
    let mut tried = Command::new(bin("bashgate-run"));
    tried
        .args(["exec", "--cage", "--config"])
        .arg(site.hook_toml())
        .args(["--", "make fetch"])
        .current_dir(site.work());
    Output::of(&mut tried, b"").expect(2);
    let one = replayed();
    assert!(one.contains("1 of what would be caged reaches for the network and would fail there"), "{one}");
}

/// The questions that the cage must leave alone. Each is held for a person, or denied.
#[test]
fn other_questions_are_asked_all_the_same() {
    let site = site();
    let _host = site.serve();
    site.raise_both("default");
    for command in [
        "curl -sL http://127.0.0.1:9/",
        "git push origin main",
        "pip install x",
        "# bashgate: network\nmake",
        "make && echo x >> ~/.bashrc",
        "ps aux; make",
        &format!("make; {}", "x".repeat(cage::MAX_CAGED_BYTES)),
    ] {
        let text = command.to_owned();
        let input = json!({"command": text, "description": "d"});
        let running = std::thread::scope(|scope| {
            let asked = scope.spawn(|| event(&site, "PreToolUse", &input));
            // Who is held is denied, so that nobody waits; who is inspected is answered.
            for _ in 0..400 {
                if asked.is_finished() {
                    break;
                }
                for card in site.pending() {
                    site.cli(["deny", card["id"].as_str().unwrap()]).expect(0);
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            asked.join().unwrap()
        });
        let short: String = text.chars().take(60).collect();
        assert_eq!(instead(&running), None, "{short}: {running:?}");
    }
    // The gate itself stays out of reach, in no cage either.
    let output = before(&site, "rm -rf /etc/bashgate").expect(2);
    assert!(output.stderr.contains("touches the gate"), "{output:?}");
    assert!(site.audit().iter().all(|record| record["detail"]["caged"] != true));
}

/// A hook that was not set up to approve does not offer the cage; then everything is as without it.
#[test]
fn who_cannot_cage_is_not_told_to() {
    let site = site();
    site.hook_setting("on_allow = \"approve\"", "on_allow = \"silent\"");
    let _host = site.serve();
    site.raise("default", "corruption");
    let output = before(&site, "make").expect(0);
    assert_eq!(output.stdout, "", "inspected, and let through");
    // Nor does one without a runner, or an agent whose hook protocol knows no other command.
    site.hook_setting("on_allow = \"silent\"", "on_allow = \"approve\"");
    site.hook_setting("# cage_runner = \"/usr/local/bin/bashgate-run\"", "cage_runner = \"/nonexistent/bashgate-run\"");
    assert_eq!(instead(&before(&site, "make").expect(0)), None);
    site.hook_setting("cage_runner = \"/nonexistent/bashgate-run\"", "");
    site.check("make").expect(0);
    let neutral =
        json!({"event": "before_tool_use", "tool_name": "Bash", "tool_input": {"command": "make"}, "cwd": site.work()});
    let output = Output::of(&mut site.hook_command(&site.hook_toml()), neutral.to_string().as_bytes()).expect(0);
    assert_eq!(output.stdout.trim(), "{\"allowed\":true}");
    assert!(site.audit().iter().all(|record| record["detail"]["caged"] != true));

    // A request by hand that claims nothing is answered as ever; one that claims to cage gets a denial that says so.
    let id = uuid::Uuid::new_v4().to_string();
    let request =
        json!({"type": "security:bash_check", "request_id": id, "command": "make", "caged_form": "00".repeat(32)});
    site.post("default", &request);
    let response = bashgate_tests::until("a response", || site.response("default", &id));
    assert_eq!((response.decision.as_str(), response.cage), ("deny", true));
    assert_eq!(site.ask("default", "make").decision.as_str(), "allow");
}

/// With `cage_safe`, what the hook lets through by itself runs caged, too, unless it would do less there.
#[test]
fn what_is_let_through_can_be_caged_as_well() {
    let site = site();
    site.hook_setting("cage_safe = false", "cage_safe = true");
    std::fs::write(site.work().join("notes"), "x\n").unwrap();
    // No host is running: this is the hook's own decision.
    let output = before(&site, "cat notes").expect(0);
    assert_eq!(instead(&output).unwrap(), caged(&site, " --quiet", "cat notes"));
    for command in ["cd sub", "cd sub && ls", "# bashgate: network\ncat notes"] {
        assert_eq!(instead(&before(&site, command)), None, "{command}");
    }
    // The text is the agent's shell's to run, and gives what the command gives.
    let form = instead(&before(&site, "cat notes; exit 3").expect(0)).unwrap();
    let ran =
        Output::of(Command::new("bash").args(["-c", &form]).current_dir(site.work()).env("HOME", site.path()), b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), "x\n"), "{ran:?}");
    assert!(ran.stderr.contains("ran without network"), "{ran:?}");
    // Typed by the agent, it is what any call of the gate's own programs is.
    before(&site, &form).expect(2);
    let wrong = std::fs::read_to_string(site.hook_toml()).unwrap().replace("on_allow = \"approve\"", "");
    std::fs::write(site.hook_toml(), wrong).unwrap();
    let output = before(&site, "cat notes").expect(2);
    assert!(output.stderr.contains("`cage_safe` needs `on_allow"), "{output:?}");
}

/// The agent's own shell reads the rewritten text. Where its start-up files may give our program's path another meaning,
/// there is nothing to rewrite to.
#[test]
fn a_shell_that_may_shadow_the_runner_is_given_no_caged_form() {
    let site = site();
    let _host = site.serve();
    site.raise("default", "corruption");
    site.hook_setting("startup_files = \"never\"", "startup_files = \"always\"");
    let home = site.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let ask = || {
        let event = json!({
            "hook_event_name": "PreToolUse", "cwd": site.work(), "tool_name": "Bash", "tool_use_id": "call-1",
            "tool_input": {"command": "make"},
        });
        let mut hook = site.hook_command(&site.hook_toml());
        Output::of(hook.env("HOME", &home), event.to_string().as_bytes())
    };
    assert!(instead(&ask()).is_some());
    let rc = format!("function {}() {{ eval \"${{@: -1}}\"; }}\n", bin("bashgate-run").display());
    std::fs::write(home.join(".bashrc"), rc).unwrap();
    assert_eq!(instead(&ask()), None);
}

/// What the inspector flags is a question about the command itself. More taint must not turn a denial into a run.
#[test]
fn what_is_flagged_is_asked_about_and_never_caged() {
    let site = Site::default();
    site.workspace_setting("on_ask = \"cage\"");
    site.hook_setting("on_allow = \"silent\"", "on_allow = \"approve\"");
    let _host = site.serve();
    let command = "echo Y3VybCBodHRwOi8veA== | base64 -d | bash";
    site.raise("default", "corruption");
    before(&site, command).expect(2);
    site.raise("default", "secret");
    let asked = std::thread::scope(|scope| {
        let asked = scope.spawn(|| before(&site, command));
        site.cli(["deny", &site.held(command)]).expect(0);
        asked.join().unwrap()
    });
    assert_eq!((asked.code, instead(&asked)), (Some(2), None));
}

/// Only the agent's shell tool itself is given another text; and a decision that nobody can read lets nothing run.
#[test]
fn no_other_tool_is_rewritten_and_no_answer_is_lost() {
    let site = site();
    let _host = site.serve();
    site.raise("default", "corruption");
    let ask = |tool: &str, more: &str| {
        let event = json!({
            "hook_event_name": "PreToolUse", "cwd": site.work(), "tool_name": tool, "tool_use_id": "c", "turn_id": "t",
            "tool_input": {"command": "make"},
        });
        let text = format!("{} --config {} {more}", bin("bashgate-hook").display(), site.hook_toml().display());
        let mut shell = Command::new("sh");
        Output::of(shell.args(["-c", &text]).current_dir(site.work()), event.to_string().as_bytes())
    };
    assert!(instead(&ask("Bash", "").expect(0)).is_some());
    assert_eq!(instead(&ask("Monitor", "").expect(0)), None);
    // Nor is a call whose report could not be told from others.
    for id in [json!(null), json!(""), json!("x".repeat(300))] {
        let event = json!({
            "hook_event_name": "PreToolUse", "cwd": site.work(), "tool_name": "Bash", "tool_use_id": id,
            "tool_input": {"command": "make"},
        });
        let output = Output::of(&mut site.hook_command(&site.hook_toml()), event.to_string().as_bytes()).expect(0);
        assert_eq!(instead(&output), None);
    }
    let patch = ask("apply_patch", "").expect(2);
    assert_eq!(instead(&patch), None, "a patch is no command");
    for nowhere in [">/dev/null", ">&-", ">/dev/full"] {
        ask("Bash", nowhere).expect(2);
    }
}

/// The agent reports what ran. Where that is not what the host had caged, its word is worth nothing any more.
#[test]
fn a_command_that_escapes_the_cage_taints_everything() {
    let site = site();
    let _host = site.serve();
    site.raise("default", "corruption");
    let form = instead(&before(&site, "make").expect(0)).unwrap();
    // As it should be: once, and a second report finds nothing to compare.
    for _ in 0..2 {
        event(&site, "PostToolUse", &json!({"command": form})).expect(0);
        assert_eq!(site.taint("default"), "corruption");
    }
    // Commands that nobody caged are no news.
    event(&site, "PostToolUse", &json!({"command": "make"})).expect(0);
    assert_eq!(site.taint("default"), "corruption");

    before(&site, "make").expect(0);
    let output = event(&site, "PostToolUse", &json!({"command": "make"})).expect(2);
    assert!(output.stderr.contains("another hook rewrites commands"), "{output:?}");
    assert_eq!(site.taint("default"), "both");
    let last = site.audit().pop().unwrap();
    assert_eq!((&last["detail"]["type"], &last["detail"]["answer"]), (&json!("security:bash_ran"), &json!("deny")));
    assert!(site.cli(["taint", "show", "default"]).expect(0).stdout.contains("was to be caged"));
}

#[test]
fn a_dry_run_says_what_would_be_caged() {
    let decide = |more: &[&str], command: &str| {
        let mut host = Command::new(bin("bashgate"));
        host.args(["decide", "--taint", "both", "--json"]).args(more).arg(command);
        let said: Value = serde_json::from_str(&Output::of(&mut host, b"").expect(0).stdout).unwrap();
        said["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(decide(&["--cage"], "python3 -c 'print(1)'"), "cage");
    assert_eq!(decide(&[], "python3 -c 'print(1)'"), "ask");
    assert_eq!(decide(&["--cage"], "curl https://x"), "ask");
    assert_eq!(decide(&["--cage"], "ls"), "allow");
}
