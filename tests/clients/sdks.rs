//! The examples for the SDKs: what the gate denies does not run, and the model is told why.

use std::path::PathBuf;
use std::process::Command;

use bashgate_tests::{Output, Site, bin, repository};
use serde_json::{Value, json};

/// Where `make clients` puts it.
fn python() -> PathBuf {
    let python = repository().join("target/tools/sdks/bin/python");
    assert!(python.exists(), "{} is missing: run `make clients`", python.display());
    python
}

/// The hook's command line, as the examples take it.
fn hook(site: &Site, agent: &str) -> String {
    json!([bin("bashgate-hook"), "--agent", agent, "--config", site.hook_toml()]).to_string()
}

/// Runs shell calls behind the OpenAI Agents SDK's own loop: what the model is told of each.
fn openai(site: &Site, hook: &str, commands: &[&str]) -> Vec<Value> {
    let mut command = Command::new("unshare");
    command.arg("-n").arg(python()).arg(repository().join("tests/sdks/openai_agents_run.py"));
    command.arg(site.work()).arg(hook).args(commands);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", site.path()).current_dir(site.work());
    serde_json::from_str(&Output::of(&mut command, b"").expect(0).stdout).unwrap()
}

/// A call of the shell tool of Claude's.
fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command, "description": "a test"}})
}

/// The same behind the Claude Agent SDK.
fn claude(site: &Site, hook: &str, commands: &[&str]) -> Vec<Value> {
    claude_follows(site, hook, &commands.iter().map(|text| bash(text)).collect())
}

fn claude_follows(site: &Site, hook: &str, calls: &Value) -> Vec<Value> {
    let (script, log) = (site.path().join("script.json"), site.path().join("log"));
    std::fs::write(&script, calls.to_string()).unwrap();
    let home = site.path().join("home");
    std::fs::create_dir_all(home.join("tmp")).unwrap();
    let agents = repository().join("tests/agents");
    let program = repository().join("target/tools/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude");
    assert!(program.exists(), "{} is missing: run `make tools`", program.display());
    let mut command = Command::new("unshare");
    command.arg("-n").arg(agents.join("agent.sh")).arg("sdk").arg(python()).arg(agents.join("model_server.py"));
    command.arg(&script).arg(&log).arg(&home).arg(site.work()).arg("0");
    command.arg(repository().join("tests/sdks/claude_agent_run.py")).arg(site.work()).arg(hook).arg(program);
    command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    Output::of(&mut command, b"").expect(0);
    let log = std::fs::read_to_string(&log).unwrap();
    log.lines().map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap()).max_by_key(Vec::len).unwrap()
}

type Client = fn(&Site, &str, &[&str]) -> Vec<Value>;

const CLIENTS: [(&str, &str, Client); 2] =
    [("OpenAI Agents SDK", "neutral", openai), ("Claude Agent SDK", "claude", claude)];

#[test]
fn sdks_run_nothing_that_the_gate_denies() {
    for (name, agent, run) in CLIENTS {
        let site = Site::default();
        let ran = |canary: &str| site.work().join(canary).exists();
        // No host: a Safe command is decided by the hook, anything else is denied.
        let told = run(&site, &hook(&site, agent), &["echo x > safe", "touch alone; make -n"]);
        assert!(ran("safe") && !ran("alone"), "{name}: {told:?}");
        assert!(told[1].to_string().contains("no host answers"), "{name}: {told:?}");
        // With one, what it allows runs, and what it denies does not.
        let host = site.serve();
        let told = run(&site, &hook(&site, agent), &["touch allowed; make -n", "rm -rf /etc/bashgate; touch denied"]);
        assert!(ran("allowed") && !ran("denied"), "{name}: {told:?}");
        assert!(told[1].to_string().contains("touches the gate"), "{name}: {told:?}");
        let records = site.audit();
        for command in ["touch allowed; make -n", "rm -rf /etc/bashgate; touch denied"] {
            assert!(records.iter().any(|record| record["detail"]["command"] == command), "{name}: {command}");
        }
        drop(host);
    }
}

#[test]
fn sdks_deny_when_the_hook_is_missing_crashes_or_talks_nonsense() {
    for (name, agent, run) in CLIENTS {
        let site = Site::default();
        let missing = json!(["/nonexistent/bashgate-hook", "--agent", agent]).to_string();
        let killed = json!(["bash", "-c", "cat > /dev/null; kill -9 $$"]).to_string();
        let nonsense = json!(["bash", "-c", "cat > /dev/null; echo fine"]).to_string();
        for hook in [missing, killed, nonsense] {
            let told = run(&site, &hook, &["touch canary"]);
            assert!(!site.work().join("canary").exists(), "{name} {hook}: {told:?}");
        }
    }
}

#[test]
fn sdks_wait_for_a_person() {
    for (name, agent, run) in CLIENTS {
        for answer in ["approve", "deny"] {
            let site = Site::default();
            let _host = site.serve();
            site.raise_both("default");
            let held = "curl -sL --max-time 1 http://127.0.0.1:9/; touch held";
            std::thread::scope(|scope| {
                let running = scope.spawn(|| run(&site, &hook(&site, agent), &[held]));
                let id = site.held(held);
                assert!(!site.work().join("held").exists(), "{name}: it waits");
                site.cli([answer, &id]).expect(0);
                let told = running.join().unwrap();
                assert_eq!(site.work().join("held").exists(), answer == "approve", "{name} {answer}: {told:?}");
            });
        }
    }
}

/// The host dies while a command is held, and another one goes on.
#[test]
fn sdks_wait_for_another_host() {
    for (name, agent, run) in CLIENTS {
        let site = Site::default();
        let mut host = site.serve();
        site.raise_both("default");
        let held = "curl -sL --max-time 1 http://127.0.0.1:9/; touch held";
        std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&site, &hook(&site, agent), &[held]));
            site.held(held);
            host.kill();
            host = site.serve();
            let id = site.held(held);
            assert!(!site.work().join("held").exists(), "{name}: it waits");
            site.cli(["approve", &id]).expect(0);
            let told = running.join().unwrap();
            assert!(site.work().join("held").exists(), "{name}: {told:?}");
        });
    }
}

/// Several calls of one answer, and those of a subagent.
#[test]
fn each_call_of_the_claude_sdk_is_gated() {
    let site = Site::default();
    let _host = site.serve();
    let ran = |canary: &str| site.work().join(canary).exists();
    let denied = |canary: &str| bash(&format!("rm -rf /etc/bashgate; touch {canary}"));
    let at_once = json!([bash("touch one; make -n"), bash("touch two; make -n"), denied("denied")]);
    let subagent = json!({
        "name": "Agent", "inner": [bash("touch inner; make -n"), denied("inner-denied")],
        "input": {"description": "a test", "prompt": "INNER: do what the model says", "subagent_type": "general-purpose"},
    });
    let waits = bash("for i in 1 2 3 4 5 6 7 8; do test -e inner && break; sleep 1; done; sleep 2");
    let told = claude_follows(&site, &hook(&site, "claude"), &json!([at_once, subagent, waits]));
    assert!(ran("one") && ran("two") && !ran("denied"), "{told:?}");
    assert!(ran("inner") && !ran("inner-denied"), "{told:?}");
}
