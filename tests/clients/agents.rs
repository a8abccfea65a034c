//! Agents that `make test` leaves out, real ones: what the gate denies does not run, and what each does when its hook fails.
//!
//! What they do is told by a file that a command would make, by the host's record, and by what the model is told. The table in
//! docs/agents.md is made from these runs.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use bashgate_tests::clients::{denial, table_is_in_documents};
use bashgate_tests::{Output, Site, bin, repository};
use serde_json::{Value, json};

/// A client, pinned in the Makefile.
struct Client {
    /// As `bashgate-hook --agent` takes it.
    name: &'static str,
    title: &'static str,
    /// Below the folder of tools.
    program: &'static str,
    /// Its shell tool.
    tool: &'static str,
    /// Settings without which it would look for services, below its home.
    settings: (&'static str, fn() -> Value),
    /// A call that starts a subagent with these words.
    subagent: fn(&str) -> Value,
}

const CLIENTS: [Client; 3] = [
    Client {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini/node_modules/@google/gemini-cli/bundle/gemini.js",
        tool: "run_shell_command",
        settings: (".gemini/settings.json", || {
            json!({
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
                "general": {"enableAutoUpdate": false},
                "privacy": {"usageStatisticsEnabled": false},
                "telemetry": {"enabled": false},
                "ide": {"enabled": false},
            })
        }),
        subagent: |words| json!({"name": "invoke_agent", "input": {"agent_name": "generalist", "prompt": words}}),
    },
    Client {
        name: "copilot",
        title: "Copilot CLI",
        program: "copilot/node_modules/@github/copilot-linux-x64/copilot",
        tool: "bash",
        settings: (".copilot/empty.json", || json!({})),
        subagent: |words| {
            json!({"name": "task", "input": {
                "name": "test", "description": "a test", "prompt": words, "agent_type": "general-purpose", "mode": "sync",
            }})
        },
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        program: "opencode/node_modules/opencode-linux-x64/bin/opencode",
        tool: "bash",
        settings: (".config/opencode/opencode.json", || {
            json!({
                "provider": {"fake": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": "http://127.0.0.1:8080/v1", "apiKey": "dummy"},
                    "models": {"fake": {}},
                }},
                "model": "fake/fake",
                "small_model": "fake/fake",
                "autoupdate": false,
                "share": "disabled",
                "permission": {"*": "allow"},
            })
        }),
        subagent: |words| json!({"name": "task", "input": {"description": "a test", "prompt": words, "subagent_type": "general"}}),
    },
];

struct Set<'c> {
    client: &'c Client,
    site: Site,
    home: PathBuf,
    hook: PathBuf,
}

impl<'c> Set<'c> {
    /// With the hook, unless the control is wanted.
    fn up(client: &'c Client, gated: bool, timeout: &str) -> Self {
        let site = Site::default();
        let home = site.path().join("home");
        let (file, settings) = (home.join(client.settings.0), client.settings.1);
        std::fs::create_dir_all(home.join("tmp")).unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, settings().to_string()).unwrap();
        // One of them looks for its plug-ins' packages, again and again where there is no network.
        std::fs::write(home.join(".npmrc"), "fetch-retries=0\n").unwrap();
        let hook = site.path().join("bin/bashgate-hook");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::copy(bin("bashgate-hook"), &hook).unwrap();
        let set = Self { client, site, home, hook };
        if gated {
            let mut command = Command::new(&set.hook);
            command
                .args(["install", "--agent", client.name, "--timeout", timeout, "--config"])
                .arg(set.site.hook_toml());
            command.env_clear().env("HOME", &set.home).env("PATH", "/usr/bin:/bin").current_dir(set.site.work());
            Output::of(&mut command, b"").expect(0);
        }
        set
    }

    /// Another program in the hook's place.
    fn replaced(&self, script: &str) {
        std::fs::remove_file(&self.hook).unwrap();
        std::fs::write(&self.hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&self.hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A call of its shell tool.
    fn shell(&self, command: &str) -> Value {
        json!({"name": self.client.tool, "input": {"command": command, "description": "a test"}})
    }

    /// Lets the model call the shell tool for each of these: what it is told.
    fn run(&self, commands: &[&str]) -> Vec<Value> {
        self.follows(&commands.iter().map(|text| self.shell(text)).collect())
    }

    /// Lets the model follow a script: what it is told.
    fn follows(&self, calls: &Value) -> Vec<Value> {
        let (script, log) = (self.site.path().join("script.json"), self.site.path().join("log"));
        std::fs::write(&script, calls.to_string()).unwrap();
        let _ = std::fs::remove_file(&log);
        let program = repository().join("target/tools").join(self.client.program);
        assert!(program.exists(), "{} is missing: run `make clients`", program.display());
        let agents = repository().join("tests/agents");
        let mut command = Command::new("unshare");
        command.arg("-n").arg(agents.join("agent.sh")).arg(self.client.name).arg(program);
        command
            .arg(agents.join("model_server.py"))
            .arg(&script)
            .arg(&log)
            .arg(&self.home)
            .arg(self.site.work())
            .arg("0");
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let output = Output::of(&mut command, b"");
        println!("{}: {output:?}", self.client.title);
        // Without a hook that works, one of them does not even ask the model.
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let told = log.lines().map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap()).max_by_key(Vec::len);
        told.unwrap_or_default()
    }

    fn ran(&self, canary: &str) -> bool {
        self.site.work().join(canary).exists()
    }
}

/// The rows of the table for one client.
fn measured(client: &Client) -> BTreeMap<&'static str, String> {
    let mut rows = BTreeMap::new();
    let control = Set::up(client, false, "20");
    control.run(&["touch control"]);
    assert!(control.ran("control"), "{}: without a hook it runs commands", client.title);

    // No host: a Safe command is decided by the hook, anything else is denied.
    let set = Set::up(client, true, "20");
    let told = set.run(&["echo x > safe", "touch alone; make -n"]);
    assert!(set.ran("safe") && !set.ran("alone"), "{}: {told:?}", client.title);
    rows.insert("no host answers", denial(set.ran("alone"), &told, "no host answers"));

    // With one: what it allows runs, what it denies does not, and it is on record.
    let host = set.site.serve();
    let told = set.run(&["touch allowed; make -n", "rm -rf /etc/bashgate; touch denied"]);
    assert!(set.ran("allowed") && !set.ran("denied"), "{}: {told:?}", client.title);
    rows.insert("the host denies", denial(set.ran("denied"), &told, "touches the gate"));
    let records = set.site.audit();
    for command in ["touch allowed; make -n", "rm -rf /etc/bashgate; touch denied"] {
        assert!(records.iter().any(|record| record["detail"]["command"] == command), "{}: {command}", client.title);
    }

    // Several at once: each has its own answer.
    let denied = "rm -rf /etc/bashgate; touch at-once-denied";
    let calls: Vec<Value> = (0..3)
        .map(|number| set.shell(&format!("curl -sL --max-time 1 http://127.0.0.1:9/; touch at-once-{number}")))
        .chain([set.shell(denied)])
        .collect();
    let told = set.follows(&json!([calls]));
    let ran = (0..3).all(|number| set.ran(&format!("at-once-{number}")));
    assert!(ran && !set.ran("at-once-denied"), "{}: {told:?}", client.title);
    rows.insert("several calls at once", "each by its own answer".to_owned());

    // What a subagent calls passes the same hook.
    let denied = "rm -rf /etc/bashgate; touch inner-denied";
    let mut call = (client.subagent)("INNER: do what the model says");
    let ends = (client.name == "gemini").then(|| json!({"name": "complete_task", "input": {"response": "done"}}));
    let calls = [set.shell("touch inner; make -n"), set.shell(denied)];
    call["inner"] = calls.into_iter().chain(ends).collect();
    let told = set.follows(&json!([call, set.shell("touch outer")]));
    assert!(set.ran("inner") && set.ran("outer") && !set.ran("inner-denied"), "{}: {told:?}", client.title);
    assert!(set.site.audit().iter().any(|record| record["detail"]["command"] == denied), "{}", client.title);
    rows.insert("a subagent's call", "gated like any".to_owned());
    drop(host);

    // The host dies while it is held, and another one goes on.
    let held = "curl -sL --max-time 1 http://127.0.0.1:9/; touch again";
    let again = Set::up(client, true, "60");
    let mut host = again.site.serve();
    again.site.raise_both("default");
    let told = std::thread::scope(|scope| {
        let running = scope.spawn(|| again.run(&[held]));
        again.site.held(held);
        host.kill();
        host = again.site.serve();
        let id = again.site.held(held);
        assert!(!again.ran("again"), "{}: it waits", client.title);
        again.site.cli(["approve", &id]).expect(0);
        running.join().unwrap()
    });
    assert!(again.ran("again"), "{}: {told:?}", client.title);
    rows.insert("the host starts again while it is held", "held again, then runs".to_owned());
    drop(host);

    for (what, answer) in [("a person approves", "approve"), ("a person denies", "deny")] {
        let set = Set::up(client, true, "60");
        let _host = set.site.serve();
        set.site.raise_both("default");
        let held = "curl -sL --max-time 1 http://127.0.0.1:9/; touch held";
        let told = std::thread::scope(|scope| {
            let running = scope.spawn(|| set.run(&[held]));
            let id = set.site.held(held);
            assert!(!set.ran("held"), "{}: it waits", client.title);
            set.site.cli([answer, &id]).expect(0);
            running.join().unwrap()
        });
        assert_eq!(set.ran("held"), answer == "approve", "{} {answer}: {told:?}", client.title);
        let word =
            if answer == "approve" { "it waits, then runs".to_owned() } else { denial(false, &told, "denied by") };
        rows.insert(what, word);
    }

    // What no hook can do anything about.
    for (what, script) in [
        ("the hook is killed", "cat > /dev/null; kill -9 $$"),
        ("the hook ends with 1", "cat > /dev/null; exit 1"),
        ("the hook talks nonsense", "cat > /dev/null; echo fine"),
        ("the hook is late", "cat > /dev/null; sleep 8"),
    ] {
        let set = Set::up(client, true, "2");
        set.replaced(script);
        let told = set.run(&["touch canary"]);
        rows.insert(what, denial(set.ran("canary"), &told, "\u{0}"));
    }
    let set = Set::up(client, true, "20");
    std::fs::remove_file(&set.hook).unwrap();
    let told = set.run(&["touch canary"]);
    rows.insert("the hook is missing", denial(set.ran("canary"), &told, "\u{0}"));
    rows
}

const WHAT: [&str; 12] = [
    "no host answers",
    "the host denies",
    "several calls at once",
    "a subagent's call",
    "a person approves",
    "a person denies",
    "the host starts again while it is held",
    "the hook is missing",
    "the hook is killed",
    "the hook ends with 1",
    "the hook talks nonsense",
    "the hook is late",
];
const START: &str = "<!-- made by `UPDATE_DOCS=1 make clients` -->\n";
const END: &str = "<!-- end -->";

#[test]
fn agents_do_as_the_documentation_says() {
    let version = |client: &Client| {
        let folder = repository().join("target/tools").join(client.program);
        let package = folder.ancestors().map(|above| above.join("package.json")).find(|file| file.is_file()).unwrap();
        let package: Value = serde_json::from_str(&std::fs::read_to_string(package).unwrap()).unwrap();
        package["version"].as_str().unwrap().to_owned()
    };
    let mut all = Vec::new();
    for client in &CLIENTS {
        all.push((format!("{} {}", client.title, version(client)), measured(client)));
    }
    table_is_in_documents((START, END), &WHAT, &all);
}
