//! Real agents, Claude Code and Codex, with our hook, against a scripted model server, in a namespace without a network.
//!
//! Whether a command ran is told by a file that it would make, never by what the agent says about it.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use bashgate_tests::{Output, Site, bin, repository};
use serde_json::{Value, json};

pub(super) const AGENT: u32 = 23_003;

fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Claude,
    Codex,
}

impl Kind {
    /// Where `make tools` puts it.
    fn installed(self) -> PathBuf {
        let path = match self {
            Self::Claude => "claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude",
            Self::Codex => "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        };
        let path = repository().join("target/tools").join(path);
        assert!(path.exists(), "{} is missing: run `make tools`", path.display());
        path
    }

    /// The version that is pinned in the Makefile.
    pub(super) fn version(self) -> String {
        let name = if self == Self::Claude { "CLAUDE" } else { "CODEX" };
        let makefile = std::fs::read_to_string(repository().join("Makefile")).unwrap();
        let line = makefile.lines().find_map(|line| line.strip_prefix(&format!("{name}_VERSION := "))).unwrap();
        line.to_owned()
    }
}

pub(super) struct Agent {
    pub(super) kind: Kind,
    pub(super) site: Site,
    program: PathBuf,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    /// What stands in the place of `/etc`, with managed settings.
    machine: Option<PathBuf>,
}

impl Agent {
    fn new() -> Self {
        Self::of(Kind::Claude)
    }

    pub(super) fn of(kind: Kind) -> Self {
        let site = Site::default();
        for folder in [site.path().to_owned(), site.path().join("mailbox")] {
            open_to_all(&folder, 0o711);
        }
        // The agent's user need not be able to reach the repository.
        let installed = kind.installed();
        let bins = site.path().join("bin");
        std::fs::create_dir(&bins).unwrap();
        let program = bins.join("agent");
        std::fs::hard_link(&installed, &program).or_else(|_| std::fs::copy(&installed, &program).map(|_| ())).unwrap();
        for own in ["bashgate-hook", "bashgate-run"] {
            std::fs::copy(bin(own), bins.join(own)).unwrap();
        }
        open_to_all(&program, 0o755);
        let (home, project) = (site.path().join("home"), site.path().join("project"));
        for folder in [&home, &home.join("tmp"), &home.join(".claude"), &home.join(".codex"), &project] {
            std::fs::create_dir(folder).unwrap();
            chown(folder, Some(AGENT), Some(AGENT)).unwrap();
        }
        std::fs::write(project.join(".env"), "# made up\nX=1\n").unwrap();
        let agent = Self { kind, site, program, home, project, machine: None };
        if kind == Kind::Codex {
            agent.configure_codex();
        }
        agent
    }

    /// One whose machine has our managed settings.
    pub(super) fn managed(kind: Kind, words: &[&str]) -> Self {
        let mut agent = Self::of(kind);
        let machine = agent.site.path().join("etc");
        Output::of(Command::new("cp").args(["-a", "/etc"]).arg(&machine), b"").expect(0);
        agent.machine = Some(machine);
        let words: Vec<&str> = ["install", "--scope", "managed"].iter().chain(words).copied().collect();
        agent.manage(&words).expect(0);
        agent
    }

    /// A program where the agent runs: without a network, and with the machine's settings.
    fn inside(&self, program: &Path) -> Command {
        let mut command = Command::new("unshare");
        command.args(["-n", "-m"]);
        if let Some(machine) = &self.machine {
            command.args(["sh", "-c", "mount --bind \"$0\" /etc && exec \"$@\""]).arg(machine);
        }
        command.arg(program);
        command
    }

    /// A model of our own, and none of the services that Codex would look for.
    fn configure_codex(&self) {
        let config = format!(
            "model = \"fake\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = \"http://127.0.0.1:8080/v1\"\nwire_api = \"responses\"\n\
             env_key = \"FAKE_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n[projects.{:?}]\ntrust_level = \"trusted\"\n",
            self.project.display().to_string()
        );
        std::fs::write(self.home.join(".codex/config.toml"), config).unwrap();
    }

    /// The same with its model outside, at this address, behind the host's way out.
    pub(super) fn leads_out(&self, command: &mut Command, model: &str) {
        let socket = self.site.path().join("egress/default/proxy.sock");
        command.env("AGENT_MODEL", model).env("AGENT_EGRESS", socket);
        command.env("AGENT_RUNNER", self.site.path().join("bin/bashgate-run"));
        let config = self.home.join(".codex/config.toml");
        if let Ok(text) = std::fs::read_to_string(&config) {
            std::fs::write(config, text.replace("127.0.0.1:8080", model)).unwrap();
        }
    }

    /// The hook's own command, in the agent's home folder.
    pub(super) fn manage(&self, words: &[&str]) -> Output {
        let mut command = self.inside(&self.site.path().join("bin/bashgate-hook"));
        let name = if self.kind == Kind::Claude { "claude" } else { "codex" };
        command.args(words).args(["--agent", name, "--config"]).arg(self.site.hook_toml());
        command.env_clear().env("HOME", &self.home).env("PATH", "/usr/bin:/bin").current_dir(&self.project);
        Output::of(&mut command, b"")
    }

    /// Puts the hook into the agent's settings, as its users do.
    pub(super) fn install(&self) {
        self.manage(&["install"]).expect(0);
    }

    pub(super) fn command(&self, script: &Value) -> Command {
        let path = self.site.path().join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        let log = self.site.path().join("log");
        let _ = std::fs::remove_file(&log);
        let agents = repository().join("tests/agents");
        let mut command = self.inside(&agents.join("agent.sh"));
        command
            .arg(if self.kind == Kind::Claude { "claude" } else { "codex" })
            .arg(&self.program)
            .arg(agents.join("model_server.py"))
            .arg(path)
            .arg(log);
        command.arg(&self.home).arg(&self.project).arg(AGENT.to_string());
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        if self.machine.is_some() {
            command.env("AGENT_MANAGED", "1");
        }
        command
    }

    pub(super) fn run(&self, script: &Value) -> Output {
        Output::of(&mut self.command(script), b"")
    }

    pub(super) fn ran(&self, canary: &str) -> bool {
        self.project.join(canary).exists()
    }

    /// What the model was told about the tool calls of the last run; nothing where it was not even asked.
    pub(super) fn results(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.site.path().join("log")).unwrap_or_default();
        let told = log.lines().map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap());
        told.max_by_key(Vec::len).unwrap_or_default()
    }
}

pub(super) fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command, "description": "a test"}})
}

impl Agent {
    /// A call of the agent's own shell tool.
    pub(super) fn shell(&self, command: &str) -> Value {
        match self.kind {
            Kind::Claude => bash(command),
            Kind::Codex => json!({"name": "exec_command", "input": {"cmd": command, "yield_time_ms": 20_000}}),
        }
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.project.join(file)).unwrap_or_default().trim().to_owned()
    }
}

#[test]
fn claude_code_is_gated() {
    let agent = Agent::new();
    // The control: without the hook everything runs.
    agent.run(&json!([bash("touch control; rm -rf /nonexistent/bashgate")]));
    assert!(agent.ran("control"), "without a hook the agent runs commands");

    agent.install();
    // No host: a Safe command is decided by the hook, anything else is denied.
    agent.run(&json!([bash("echo x > safe-alone"), bash("make -n > without-host; touch without-host")]));
    assert!(agent.ran("safe-alone"), "{:?}", agent.results());
    assert!(!agent.ran("without-host"));
    let told = agent.results();
    assert!(told[1]["is_error"] == true && told[1].to_string().contains("no host answers"), "{told:?}");

    let _host = agent.site.serve();
    let held = "curl -sL --max-time 1 http://127.0.0.1:9/; touch held";
    let script = json!([
        bash("echo x > safe"),
        bash("rm -rf /etc/bashgate; touch denied"),
        bash("touch unknown && git --version"),
        {"name": "WebFetch", "input": {"url": "https://forum.example/thread", "prompt": "summarise"}},
        bash("curl -s -d @x http://127.0.0.1:9/; touch flagged"),
        {"name": "Read", "input": {"file_path": agent.project.join(".env")}},
        bash(held),
    ]);
    let mut command = agent.command(&script);
    let running = std::thread::spawn(move || Output::of(&mut command, b""));
    let id = agent.site.held(held);
    assert!(!agent.ran("held"), "it waits");
    assert_eq!(agent.site.taint("default"), "both", "the fetched page and the secret are remembered");
    agent.site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    assert!(agent.ran("safe") && agent.ran("unknown") && agent.ran("held"), "{:?}", agent.results());
    assert!(!agent.ran("denied") && !agent.ran("flagged"), "{:?}", agent.results());
    let told = agent.results();
    assert!(told[1].to_string().contains("touches the gate"), "the agent is told why: {}", told[1]);
    assert!(told[4].to_string().contains("flagged"), "{}", told[4]);
    agent.site.cli(["audit", "verify"]).expect(0);
}

/// The agent finds the server's tools, makes a script, has it approved by a person, runs, changes, restores and removes it.
#[test]
fn claude_uses_the_mcp_server_from_start_to_end() {
    let agent = Agent::new();
    agent.install();
    let _host = agent.site.serve();
    let server = json!({"mcpServers": {"scripts": {
        "command": agent.site.path().join("bin/bashgate-run"),
        "args": ["mcp", "--config", agent.site.hook_toml(), "--state", agent.home.join("state")],
    }}});
    std::fs::write(agent.home.join("mcp.json"), server.to_string()).unwrap();
    let call = |tool: &str, input: Value| json!({"name": format!("mcp__scripts__{tool}"), "input": input});
    let run = || call("run_script", json!({"script_id": "greet", "variables": {"who": "you; touch evil"}}));
    let content = "echo \"hello ${who}\"\n";
    let script = json!([
        call("bash", json!({"command": "echo by the server"})),
        call(
            "create_script",
            json!({"name": "greet", "content": content, "variables": ["who"], "description": "greets"})
        ),
        run(),
        call("edit_script", json!({"script_id": "greet", "content": "echo goodbye ${who}\n"})),
        call("restore_script", json!({"script_id": "greet", "version": 1})),
        run(),
        call(
            "run_action",
            json!({"actions": [{"type": "bash.run", "script_id": "greet", "variables": {"who": "all"}}]})
        ),
        call("delete_script", json!({"script_id": "greet"})),
    ]);
    let mut command = agent.command(&script);
    let running = std::thread::spawn(move || Output::of(&mut command, b""));
    // A service that nobody knows is asked about, and so is the script, once.
    let mut scripts = std::collections::BTreeSet::new();
    while !running.is_finished() {
        for card in agent.site.pending() {
            let id = card["id"].as_str().unwrap().to_owned();
            agent.site.cli(["approve", &id]);
            if card["command"].as_str().is_some_and(|text| text.contains("run by bash in a sandbox")) {
                scripts.insert(id);
            }
        }
        bashgate_tests::pause(std::time::Duration::from_millis(100));
    }
    running.join().unwrap().expect(0);
    let told: Vec<String> = agent.results().iter().map(Value::to_string).collect();
    assert_eq!(told.len(), 8, "{told:#?}");
    for (at, want) in [
        (0, "by the server"),
        (1, "greet"),
        (2, "hello you; touch evil"),
        (3, "version"),
        (5, "hello you; touch evil"),
        (6, "hello all"),
        (7, "deleted"),
    ] {
        assert!(told[at].contains(want), "{at}: {}", told[at]);
    }
    assert!(!agent.ran("evil"));
    assert_eq!(scripts.len(), 1, "one approval was enough");
}

/// Claude Code runs commands behind a snapshot of the user's start-up files: an alias or a function of theirs takes the
/// place of `ls`, and so does a program that stands first in PATH. The hook sees it and asks; without a host that denies.
#[test]
fn names_that_the_agents_shell_shadows_are_asked_about() {
    let agent = Agent::new();
    let canary = |name: &str| agent.project.join(name).display().to_string();
    let shadow = agent.home.join("shadow");
    std::fs::create_dir(&shadow).unwrap();
    let planted = shadow.join("head");
    std::fs::write(&planted, format!("#!/bin/sh\ntouch {}\n", canary("by-path"))).unwrap();
    open_to_all(&planted, 0o755);
    let rc = agent.home.join(".bashrc");
    let lines = format!("alias ls='touch {}'\ntac() {{ touch {}; }}\n", canary("by-alias"), canary("by-function"));
    std::fs::write(&rc, lines).unwrap();
    chown(&rc, Some(AGENT), Some(AGENT)).unwrap();
    std::fs::write(agent.project.join("notes"), "x\n").unwrap();
    let shadowed = ["by-alias", "by-function", "by-path"];
    let script = json!([bash("ls"), bash("tac notes"), bash("head -1 notes"), bash("echo x > proof")]);
    let run = || {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", shadow.display());
        Output::of(agent.command(&script).env("AGENT_PATH", path), b"")
    };

    // The control: without a hook, what was planted runs.
    run();
    for name in shadowed {
        assert!(agent.ran(name), "{name}: the agent's shell does not do this any more: {:?}", agent.results());
        std::fs::remove_file(agent.project.join(name)).unwrap();
    }
    std::fs::remove_file(agent.project.join("proof")).unwrap();

    agent.install();
    agent.site.hook_setting("startup_files = \"never\"", "startup_files = \"auto\"");
    run();
    for name in shadowed {
        assert!(!agent.ran(name), "{name}: {:?}", agent.results());
    }
    assert!(!agent.ran("proof"), "a start-up file that nobody has looked at: {:?}", agent.results());
    assert!(agent.results().iter().all(|result| result.to_string().contains(".bashrc")), "{:?}", agent.results());

    // Looked at and trusted by its digest, the file is no obstacle any more. What it names is, and so is PATH.
    std::fs::write(&rc, "alias ll='ls -l'\ntac() { rm \"$@\"; }\n").unwrap();
    let digest = bashgate_shared::command::Digest::of(&std::fs::read(&rc).unwrap()).hex();
    agent.site.hook_setting("trusted_startup = []", &format!("trusted_startup = [\"{digest}\"]"));
    let later = json!([
        bash("echo x > proof"),
        bash("ls > listed"),
        bash("grep -c x notes > found"),
        bash("tac notes"),
        bash("head -1 notes")
    ]);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", shadow.display());
    Output::of(agent.command(&later).env("AGENT_PATH", path), b"");
    for name in ["proof", "notes"] {
        assert!(agent.ran(name), "{name}: {:?}", agent.results());
    }
    // The agent's own functions for `grep` are known; the folder in PATH that anybody may write is not trusted.
    Output::of(&mut agent.command(&later), b"");
    for name in ["listed", "found", "notes"] {
        assert!(agent.ran(name), "{name}: {:?}", agent.results());
    }
    assert!(agent.results()[3].to_string().contains("is a function or an alias"), "{:?}", agent.results());
    assert!(!agent.ran("by-path"), "{:?}", agent.results());
}

/// What a program finds of the network: the model server that the agent itself talks to is right there.
const REACH: &str = "\
import socket, sys
try:
    socket.create_connection(('127.0.0.1', 8080), 2)
    print('reached')
except OSError as error:
    print('nothing')
";

/// The real agent takes the hook's text instead of its own, for whatever the host or the hook sends into the cage; and what
/// it reports afterwards is what the hook gave it, so that nobody is alarmed.
fn runs_caged(kind: Kind) {
    let agent = Agent::of(kind);
    std::fs::write(agent.project.join("reach.py"), REACH).unwrap();
    // The control: without a hook the program reaches the model server.
    agent.run(&json!([agent.shell("python3 reach.py > control")]));
    assert_eq!(agent.text("control"), "reached", "{:?}", agent.results());

    agent.install();
    agent.site.hook_setting("on_allow = \"silent\"", "on_allow = \"approve\"");
    agent.site.hook_setting("cage_safe = false", "cage_safe = true");
    agent.site.workspace_setting("on_inspect = \"cage\"\non_ask = \"cage\"");
    let _host = agent.site.serve();
    agent.site.raise("default", "corruption");
    let script = [
        // Let through by the hook, inspected, asked about: each in the cage. The first process of it is ours.
        "cat /proc/1/comm > safe",
        "python3 reach.py > inspected; cat /proc/1/comm >> inspected; exit 7",
        "# bashgate: network\npython3 reach.py > flagged",
        "# bashgate: network\npython3 --version; cat /proc/1/comm > uncaged",
    ];
    let script: Vec<Value> = script.iter().map(|command| agent.shell(command)).collect();
    let said = agent.run(&json!(script));
    assert_eq!(agent.text("safe"), "bashgate-run", "{said:?} {:?}", agent.results());
    assert_eq!(agent.text("inspected"), "nothing\nbashgate-run", "{:?}", agent.results());
    assert!(!agent.ran("flagged"), "it asked to be inspected: {:?}", agent.results());
    assert!(agent.ran("uncaged") && agent.text("uncaged") != "bashgate-run", "{:?}", agent.results());
    let told = agent.results();
    assert!(told[1].to_string().contains("ran without network"), "the agent is told: {}", told[1]);
    assert!(told[2].to_string().contains("flagged"), "{}", told[2]);
    assert!(!told[3].to_string().contains("ran without network"), "{}", told[3]);
    // Had another text run than the caged one, both taints would stand.
    assert_eq!(agent.site.taint("default"), "corruption", "{:?}", agent.site.audit());

    agent.site.raise("default", "secret");
    let code = format!("python3 -c \"{}\" > asked", REACH.replace('"', "\\\""));
    agent.run(&json!([agent.shell(&code)]));
    assert_eq!(agent.text("asked"), "nothing", "{:?}", agent.results());
    assert!(agent.site.pending().is_empty(), "nobody was asked");
    let caged: Vec<Value> = agent.site.audit().into_iter().filter(|record| record["detail"]["caged"] == true).collect();
    assert_eq!(caged.len(), 2, "{caged:?}");
    agent.site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn claude_code_runs_what_is_caged_and_not_the_original() {
    runs_caged(Kind::Claude);
}

#[test]
fn codex_runs_what_is_caged_and_not_the_original() {
    runs_caged(Kind::Codex);
}

#[test]
fn codex_is_gated() {
    let agent = Agent::of(Kind::Codex);
    agent.run(&json!([agent.shell("touch control; chmod 600 /nonexistent/bashgate")]));
    assert!(agent.ran("control"), "without a hook the agent runs commands: {:?}", agent.results());

    agent.install();
    agent.run(&json!([agent.shell("echo x > safe-alone"), agent.shell("make -n > without-host; touch without-host")]));
    assert!(agent.ran("safe-alone"), "{:?}", agent.results());
    assert!(!agent.ran("without-host"));
    assert!(agent.results()[1].to_string().contains("no host answers"), "{:?}", agent.results());

    let _host = agent.site.serve();
    // Codex types into an open terminal without asking any hook, so none is opened for a shell.
    let typed = json!({"name": "exec_command", "input": {"cmd": "bash", "tty": true, "yield_time_ms": 500}});
    let script = json!([
        agent.shell("chmod 600 /etc/bashgate; touch denied"),
        typed,
        agent.shell("touch unknown && git --version"),
    ]);
    agent.run(&script);
    assert!(agent.ran("unknown") && !agent.ran("denied"), "{:?}", agent.results());
    assert!(agent.results()[0].to_string().contains("touches the gate"), "{:?}", agent.results());
    assert!(agent.results()[1].to_string().contains("commands from its terminal"), "{:?}", agent.results());
}

/// Inside of Claude Code's own sandbox the hook decides as ever, what would be caged fails and does not run, and the doctor says why.
#[test]
fn the_hook_decides_beside_claude_codes_own_sandbox() {
    let agent = Agent::new();
    let outside = agent.home.join("outside");
    let elsewhere = format!("touch {}", outside.display());
    // The control: it writes there without its sandbox.
    agent.run(&json!([bash(&elsewhere)]));
    assert!(outside.exists(), "{:?}", agent.results());
    std::fs::remove_file(&outside).unwrap();
    agent.install();
    let settings = agent.home.join(".claude/settings.json");
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    value["sandbox"] = json!({"enabled": true, "allowUnsandboxedCommands": false});
    std::fs::write(&settings, value.to_string()).unwrap();
    let _host = agent.site.serve();
    agent.run(&json!([
        bash("echo x > safe"),
        bash(&format!("{elsewhere}; echo $? > tried")),
        bash("touch denied; echo x > .claude/settings.json")
    ]));
    assert!(agent.ran("safe") && !outside.exists(), "{:?}", agent.results());
    assert!(!agent.ran("denied"), "{:?}", agent.results());
    let doctor = agent.manage(&["doctor"]);
    assert!(doctor.stdout.contains("its own sandbox (`sandbox.enabled` in"), "{doctor:?}");
    agent.site.hook_setting("on_allow = \"silent\"", "on_allow = \"approve\"");
    agent.site.hook_setting("cage_safe = false", "cage_safe = true");
    agent.run(&json!([bash("cat /proc/1/comm > caged")]));
    assert!(!agent.ran("caged"), "{:?}", agent.results());
    let doctor = agent.manage(&["doctor"]).expect(2);
    assert!(doctor.stdout.contains("in it no cage starts"), "{doctor:?}");
}

/// The same of Codex's, which is tried as it would start the commands.
#[test]
fn the_hook_decides_in_codexs_own_sandbox() {
    let site = Site::default();
    let ground = tempfile::tempdir_in("/srv").unwrap();
    open_to_all(ground.path(), 0o755);
    let at = |name: &str| ground.path().join(name);
    for folder in ["home", "home/.codex", "project", "bin"] {
        std::fs::create_dir(at(folder)).unwrap();
    }
    for own in ["bashgate-hook", "bashgate-run"] {
        std::fs::copy(bin(own), at("bin").join(own)).unwrap();
    }
    std::fs::write(at("home/.codex/config.toml"), "sandbox_mode = \"workspace-write\"\n").unwrap();
    let alone = site.hook_toml_alone();
    std::fs::copy(&alone, at("hook.toml")).unwrap();
    let inside = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-n", "-p", "-f", "--mount-proc", "timeout", "60"]).arg(Kind::Codex.installed());
        command.args(["sandbox", "-c", "sandbox_mode=\"workspace-write\"", "--"]).args(words);
        command
            .env_clear()
            .env("HOME", at("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(at("project"));
        Output::of(&mut command, b"")
    };
    let elsewhere = format!("touch here {}", at("home/elsewhere").display());
    inside(&["bash", "-c", &elsewhere]);
    assert!(at("project/here").exists() && !at("home/elsewhere").exists(), "it is a sandbox");
    let (hook, runner, config) = (at("bin/bashgate-hook"), at("bin/bashgate-run"), at("hook.toml"));
    let [hook, runner, config] = [&hook, &runner, &config].map(|path| path.to_str().unwrap());
    inside(&[hook, "--config", config, "check", "--", "cat here"]).expect(0);
    inside(&[hook, "--config", config, "check", "--", "curl https://h.example"]).expect(2);
    let caged = inside(&[runner, "exec", "--cage", "--", "touch caged"]);
    assert!(caged.code != Some(0) && !at("project/caged").exists(), "{caged:?}");
    let doctor = |on_allow: &str| {
        let text = std::fs::read_to_string(&alone).unwrap();
        std::fs::write(at("hook.toml"), text.replace("on_allow = \"silent\"", on_allow)).unwrap();
        let mut command = Command::new(hook);
        command.args(["doctor", "--agent", "codex", "--config", config]).env_clear();
        command.env("HOME", at("home")).env("PATH", "/usr/bin:/bin").current_dir(at("project"));
        Output::of(&mut command, b"").stdout
    };
    let told = doctor("on_allow = \"silent\"");
    assert!(
        told.contains("its own sandbox (sandbox_mode = \"workspace-write\"") && !told.contains("no cage starts"),
        "{told}"
    );
    let told = doctor("on_allow = \"approve\"");
    assert!(told.contains("no cage starts"), "{told}");
    std::fs::write(at("home/.codex/config.toml"), "sandbox_mode = \"danger-full-access\"\n").unwrap();
    assert!(!doctor("on_allow = \"approve\"").contains("its own sandbox"), "{told}");
}
