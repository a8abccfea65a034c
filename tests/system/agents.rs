//! A real agent: Claude Code with our hook, against a scripted model server, in a namespace without a network.
//!
//! Whether a command ran is told by a file that it would make, never by what the agent says about it.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use bashgate_tests::{Output, Site, bin, repository};
use serde_json::{Value, json};

const AGENT: u32 = 23_003;

fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

struct Agent {
    site: Site,
    claude: PathBuf,
    home: PathBuf,
    project: PathBuf,
}

impl Agent {
    fn new() -> Self {
        let site = Site::default();
        for folder in [site.path().to_owned(), site.path().join("mailbox")] {
            open_to_all(&folder, 0o711);
        }
        // The agent's user need not be able to reach the repository.
        let installed =
            repository().join("target/tools/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude");
        assert!(installed.exists(), "{} is missing: run `make tools`", installed.display());
        let bins = site.path().join("bin");
        std::fs::create_dir(&bins).unwrap();
        let claude = bins.join("claude");
        std::fs::hard_link(&installed, &claude).or_else(|_| std::fs::copy(&installed, &claude).map(|_| ())).unwrap();
        std::fs::copy(bin("bashgate-hook"), bins.join("bashgate-hook")).unwrap();
        open_to_all(&claude, 0o755);
        let (home, project) = (site.path().join("home"), site.path().join("project"));
        for folder in [&home, &home.join("tmp"), &home.join(".claude"), &project] {
            std::fs::create_dir(folder).unwrap();
            chown(folder, Some(AGENT), Some(AGENT)).unwrap();
        }
        std::fs::write(project.join(".env"), "# made up\nX=1\n").unwrap();
        Self { site, claude, home, project }
    }

    /// The hook's entry, as docs/agents.md has it.
    fn install(&self) {
        let hook = format!(
            "{} --config {}",
            self.site.path().join("bin/bashgate-hook").display(),
            self.site.hook_toml().display()
        );
        let entry = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": hook, "timeout": 330, "onFailure": "block"}]}]}});
        std::fs::write(self.home.join(".claude/settings.json"), entry.to_string()).unwrap();
    }

    fn command(&self, script: &Value) -> Command {
        let path = self.site.path().join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        let log = self.site.path().join("log");
        let _ = std::fs::remove_file(&log);
        let agents = repository().join("tests/agents");
        let mut command = Command::new("unshare");
        command
            .arg("-n")
            .arg(agents.join("claude.sh"))
            .arg(&self.claude)
            .arg(agents.join("model_server.py"))
            .arg(path)
            .arg(log);
        command.arg(&self.home).arg(&self.project).arg(AGENT.to_string());
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }

    fn run(&self, script: &Value) -> Output {
        Output::of(&mut self.command(script), b"")
    }

    fn ran(&self, canary: &str) -> bool {
        self.project.join(canary).exists()
    }

    /// What the model was told about the tool calls of the last run.
    fn results(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.site.path().join("log")).unwrap();
        log.lines().map(|line| serde_json::from_str::<Vec<Value>>(line).unwrap()).max_by_key(Vec::len).unwrap()
    }
}

fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command, "description": "a test"}})
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
    let held = "curl -s --max-time 1 http://127.0.0.1:9/; touch held";
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
