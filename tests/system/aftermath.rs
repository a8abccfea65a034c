//! What the host hears of a command that has run: what its result shows, what it left, what the cage has broken.

use std::process::Command;

use bashgate_tests::{Host, Output, Site, built, until};
use serde_json::{Value, json};

/// A token made up here, so that no scanner mistakes this file for a leak.
fn token() -> String {
    format!("ghp_{}", "A1b2C3d4".repeat(5))
}

fn after(site: &Site, tool: &str, input: &Value, response: &Value) -> Output {
    let event = json!({
        "hook_event_name": "PostToolUse", "cwd": site.work(), "session_id": "s", "tool_name": tool, "tool_use_id": "c",
        "tool_input": input, "tool_response": response,
    });
    Output::of(&mut site.hook_command(&site.hook_toml()), event.to_string().as_bytes())
}

fn run(site: &Site, arguments: &[&str]) -> Output {
    let mut command = bashgate_tests::runner();
    command.arg("exec").arg("--config").arg(site.hook_toml()).args(arguments);
    command.current_dir(site.work());
    Output::of(&mut command, b"")
}

#[test]
fn a_credential_in_a_result_taints_and_is_never_written_down() {
    let shown = token();
    for (tool, input, response) in [
        ("Bash", json!({"command": "cat x"}), json!({"stdout": format!("token={shown}\n"), "stderr": ""})),
        ("Read", json!({"file_path": "notes.txt"}), json!({"file": {"content": format!("a\n{shown}\nb")}})),
        ("mcp__wiki__get", json!({"page": "x"}), json!([{"type": "text", "text": format!("key {shown}")}])),
        ("Grep", json!({"pattern": "x"}), json!(format!("x:1:{shown}"))),
    ] {
        let site = Site::default();
        let _host = site.serve();
        after(&site, tool, &input, &response).expect(0);
        assert_eq!(site.taint("default"), "secret", "{tool}");
        let told = site.cli(["taint", "show", "default"]).expect(0).stdout;
        assert!(told.contains("GitHub token"), "{told}");
        let records = serde_json::to_string(&site.audit()).unwrap();
        assert!(records.contains("its result shows GitHub token") && !records.contains(&shown), "{records}");
    }
}

#[test]
fn a_value_of_this_places_own_secrets_taints_whatever_way_led_to_it() {
    let value = "baZKX9q1W7";
    for (name, text, variable, result) in [
        (".env", "DB_PASSWORD=VALUE\n", None, "db: VALUE"),
        ("app/.env.local", "DATABASE_URL=\"postgres://app:VALUE@db/x\"\n", None, "sql://VALUE@"),
        ("secrets.yml", "a:\n  api_key: VALUE\n", None, "VALUE\n"),
        ("README.md", "x", Some(("STRIPE_SECRET", "VALUE")), "['VALUE']"),
        ("README.md", "x", Some(("SVC_URL", "https://u:VALUE@h/x")), "make: URL VALUE"),
    ] {
        let site = Site::default();
        let _host = site.serve();
        let file = site.work().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text.replace("VALUE", value)).unwrap();
        let event = json!({
            "hook_event_name": "PostToolUse", "cwd": site.work(), "session_id": "s", "tool_name": "Bash",
            "tool_use_id": "c", "tool_input": {"command": "make"}, "tool_response": {"stdout": result.replace("VALUE", value)},
        });
        let mut hook = site.hook_command(&site.hook_toml());
        hook.envs(variable.map(|(name, text)| (name, text.replace("VALUE", value))));
        Output::of(&mut hook, event.to_string().as_bytes()).expect(0);
        assert_eq!(site.taint("default"), "secret", "{name} {variable:?}");
        let records = serde_json::to_string(&site.audit()).unwrap();
        assert!(!records.contains(value), "{records}");
        let called = variable.map_or(name, |(name, _)| name);
        assert!(records.contains(called), "{called}: {records}");
    }
}

#[test]
fn ordinary_results_are_no_news() {
    let site = Site::default();
    let _host = site.serve();
    let before = site.audit().len();
    for response in [json!({"stdout": "fine\n"}), json!("AKIAIOSFODNN7EXAMPLE"), json!(null), json!(["x"]), json!({})] {
        after(&site, "Bash", &json!({"command": "ls"}), &response).expect(0);
        after(&site, "Read", &json!({"file_path": "x"}), &response).expect(0);
    }
    assert_eq!(site.taint("default"), "clean");
    assert_eq!(site.audit().len(), before);
}

#[test]
fn a_credential_is_not_shown_unheard_when_the_host_is_silent() {
    let site = Site::default();
    // The result has been seen already; the agent is told that nobody took note of it.
    after(&site, "Bash", &json!({"command": "cat x"}), &json!({"stdout": token()})).expect(2);
    after(&site, "Bash", &json!({"command": "cat x"}), &json!({"stdout": "fine"})).expect(0);
}

#[test]
fn the_tools_own_output_counts_as_well() {
    let site = Site::default();
    let _host = site.serve();
    std::fs::write(site.work().join("notes.txt"), format!("x {}\n", token())).unwrap();
    let said = run(&site, &["--", "cat notes.txt"]).expect(0);
    assert!(said.stdout.contains(&token()), "{said:?}");
    assert_eq!(site.taint("default"), "secret");
}

#[test]
fn what_a_caged_command_left_and_lacked_is_on_record() {
    let site = Site::default();
    let _host = site.serve();
    let work = site.work().canonicalize().unwrap();
    run(&site, &["--cage", "--workspace", work.to_str().unwrap(), "--", "mkdir -p venv/bin && echo x > venv/bin/tool"])
        .expect(0);
    assert_eq!(site.taint("default"), "corruption");
    let told = site.cli(["taint", "show", "default"]).expect(0).stdout;
    assert!(told.contains("venv/bin/tool"), "{told}");

    let failed = run(&site, &["--cage", "--", "echo 'curl: (6) Could not resolve host: x.example' >&2; exit 6"]);
    assert_eq!(failed.code, Some(6), "{failed:?}");
    // What fails for another reason, or works, wants nothing.
    run(&site, &["--cage", "--", "echo 'Could not resolve host'"]).expect(0);
    run(&site, &["--cage", "--", "echo broken; exit 3"]).expect(3);
    let wanted = site.audit().iter().filter(|record| record["detail"]["wanted_network"] == true).count();
    assert_eq!(wanted, 1);
    let tail = site.cli(["audit", "tail"]).expect(0).stdout;
    assert!(tail.contains("for want of network"), "{tail}");
    // A report is no decision that another policy could have taken.
    let replayed = site.cli(["audit", "replay"]).expect(0);
    assert!(replayed.stderr.contains("0 would change"), "{replayed:?}");
}

#[test]
fn a_plant_that_was_set_aside_taints_nobody() {
    let site = Site::default();
    let _host = site.serve();
    std::fs::write(site.work().join("plant.sh"), "mkdir -p app/.vscode; echo x > app/.vscode/tasks.json").unwrap();
    let work = site.work().canonicalize().unwrap();
    let said = run(&site, &["--cage", "--workspace", work.to_str().unwrap(), "--", "sh plant.sh"]).expect(0);
    assert!(said.stderr.contains("set aside"), "{said:?}");
    assert_eq!(site.taint("default"), "clean");
}

/// A hook with a home folder of its own, before or after a command.
fn hears(site: &Site, name: &str, command: &str) -> Output {
    let home = site.path().join("home-of-the-agent");
    std::fs::create_dir_all(&home).unwrap();
    let mut event = json!({
        "hook_event_name": name, "cwd": site.work(), "session_id": "s", "tool_name": "Bash", "tool_use_id": "c",
        "tool_input": {"command": command},
    });
    if name == "PostToolUse" {
        event["tool_response"] = json!({"stdout": "", "stderr": ""});
    }
    let mut hook = site.hook_command(&site.hook_toml());
    Output::of(hook.env("HOME", home), event.to_string().as_bytes())
}

fn plant(site: &Site, name: &str) {
    let file = if let Some(name) = name.strip_prefix("~/") {
        site.path().join("home-of-the-agent").join(name)
    } else {
        site.work().join(name)
    };
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "[core]\nhooksPath = x\n").unwrap();
}

const PLANTS: &[&str] = &[
    ".envrc",
    "deep/er/.envrc",
    ".git/hooks/post-checkout",
    ".git/config",
    "sub/.vscode/tasks.json",
    "x/.MCP.json",
    "other/.git/hooks/pre-push",
    ".claude/skills/x/SKILL.md",
    "~/.bashrc",
    "~/.config/git/config",
];

#[test]
fn what_an_uncaged_command_left_is_found() {
    for name in PLANTS {
        let site = Site::default();
        super::hostile_world::git(&site.work(), &["init", "-q"]);
        let _host = site.serve();
        for _ in 0..2 {
            hears(&site, "PreToolUse", "make").expect(0);
            std::fs::write(site.work().join("main.o"), "x").unwrap();
            hears(&site, "PostToolUse", "make").expect(0);
            assert_eq!(site.taint("default"), "clean", "{name}");
        }
        hears(&site, "PreToolUse", "make").expect(0);
        plant(&site, name);
        hears(&site, "PostToolUse", "make").expect(0);
        assert_eq!(site.taint("default"), "corruption", "{name}");
        let bare = name.trim_start_matches("~/");
        assert!(serde_json::to_string(&site.audit()).unwrap().contains(bare), "{name}");
        // It is old news now.
        site.cli(["taint", "clear", "default"]).expect(0);
        hears(&site, "PreToolUse", "make").expect(0);
        assert_eq!(site.taint("default"), "clean", "{name}");
    }
}

/// The agent was killed, or has no event behind a command; and the host started anew in between.
#[test]
fn what_a_command_left_of_which_nobody_has_heard_is_found_by_the_next() {
    for restarts in [false, true] {
        let site = Site::default();
        let mut host = site.serve();
        hears(&site, "PreToolUse", "make").expect(0);
        hears(&site, "PreToolUse", "make").expect(0);
        plant(&site, ".envrc");
        if restarts {
            host.kill();
            host = site.serve();
        }
        hears(&site, "PreToolUse", "make all").expect(0);
        assert_eq!(site.taint("default"), "corruption", "restarts: {restarts}");
        drop(host);
    }
}

/// From the moment on that its answer is out, the host knows for ever that something may have been planted.
#[test]
fn a_host_that_dies_behind_its_answer_has_not_forgotten_what_it_let_through() {
    for point in ["response.renamed", "response.released"] {
        let site = Site::default();
        let mut command = Command::new(built(env!("CARGO_BIN_EXE_bashgate-with-faults")));
        command.arg("serve").arg("--config").arg(site.host_toml()).env_remove("RUST_LOG");
        command.env("FAILPOINTS", format!("{point}=return(kill)"));
        let (mut host, ready) = Host::try_start(&mut command);
        assert!(ready);
        hears(&site, "PreToolUse", "make").expect(0);
        until("the host's death", || host.child.try_wait().unwrap());
        plant(&site, ".envrc");
        let _host = site.serve();
        hears(&site, "PreToolUse", "make all").expect(0);
        assert_eq!(site.taint("default"), "corruption", "{point}");
    }
}

#[test]
fn what_people_change_while_nothing_runs_is_theirs() {
    let site = Site::default();
    let _host = site.serve();
    hears(&site, "PreToolUse", "make").expect(0);
    hears(&site, "PostToolUse", "make").expect(0);
    plant(&site, ".envrc");
    hears(&site, "PreToolUse", "make").expect(0);
    assert_eq!(site.taint("default"), "clean");
    hears(&site, "PostToolUse", "make").expect(0);
    assert_eq!(site.taint("default"), "clean");
}
