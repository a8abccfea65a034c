//! An operator's own checks behind the gate's answer: the first denial stands, and whatever is no plain answer is one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bashgate_tests::{Output, Site, bin, until};
use serde_json::{Value, json};

/// A folder in which only root can write, with plug-ins in it.
struct Plugins {
    site: Site,
    folder: tempfile::TempDir,
}

impl Plugins {
    /// Each is the text of a shell script. None of them has its name in the configuration by any other order.
    fn new(scripts: &[&str]) -> Self {
        Self::with(scripts, "timeout_ms = 3000")
    }

    fn with(scripts: &[&str], settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("plugins-").tempdir_in("/srv").unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let site = Site::default();
        let mut config = fs::read_to_string(site.hook_toml()).unwrap();
        for (number, script) in scripts.iter().enumerate() {
            let program = folder.path().join(format!("plugin{number}"));
            fs::write(&program, format!("#!/bin/bash\n{script}\n")).unwrap();
            fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
            config.push_str(&format!("\n[[plugin]]\nprogram = \"{}\"\n{settings}\n", program.display()));
        }
        fs::write(site.hook_toml(), config).unwrap();
        Self { site, folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn hears(&self, tool: &str, input: &Value) -> Output {
        let event = json!({
            "hook_event_name": "PreToolUse", "cwd": self.site.work(), "session_id": "s", "tool_use_id": "t1",
            "tool_name": tool, "tool_input": input,
        });
        let mut hook = self.site.hook_command(&self.site.hook_toml());
        hook.env("SECRET_OF_THE_AGENT", "x");
        Output::of(&mut hook, event.to_string().as_bytes())
    }

    fn bash(&self, command: &str) -> Output {
        self.hears("Bash", &json!({"command": command}))
    }
}

#[test]
fn what_raises_no_objection_lets_the_gates_answer_stand() {
    for script in [
        "exit 0",
        "cat > /dev/null; echo '{\"allowed\": true}'",
        "echo '{\"allowed\":true,\"reason\":\"fine\"}'",
        "echo; echo something >&2",
        // It is not waited for whoever holds its output.
        "sleep 30 & exit 0",
    ] {
        let plugins = Plugins::new(&[script, "exit 0"]);
        let since = Instant::now();
        plugins.bash("ls").expect(0);
        assert!(since.elapsed() < Duration::from_secs(15), "{script}");
        // What the gate denies nobody else is asked about.
        plugins.bash("curl https://x.example").expect(2);
    }
}

#[test]
fn the_first_denial_stands_and_says_why() {
    for (script, reason) in [
        ("echo not today >&2; exit 2", "not today"),
        ("echo '{\"allowed\":false,\"reason\":\"not today\"}'; exit 2", "not today"),
        ("echo '{\"allowed\":false,\"reason\":\"not today\"}'", "not today"),
        ("exit 2", "gives no reason"),
        ("printf 'a\\033[31mb\\0' >&2; exit 2", "a [31mb"),
    ] {
        let plugins = Plugins::new(&["exit 0", script, "touch \"${0%/*}/asked\""]);
        let output = plugins.bash("ls").expect(2);
        assert!(output.stderr.contains(reason) && output.stderr.contains("plugin1"), "{script}: {}", output.stderr);
        assert!(!plugins.path().join("asked").exists(), "{script}");
    }
}

#[test]
fn whatever_is_no_plain_answer_is_a_denial() {
    for (script, says) in [
        ("exit 1", "exit code 1"),
        ("exit 127", "exit code 127"),
        ("kill -9 $$", "signal 9"),
        ("kill -SEGV $$", "signal 11"),
        ("echo yes", "no answer"),
        ("echo '[true]'", "no answer"),
        ("echo '{}'", "no answer"),
        ("echo '{\"allowed\":\"true\"}'", "no answer"),
        ("echo '{\"allowed\":true,\"allowed\":false}'", "no answer"),
        ("echo '{\"allowed\":true} {\"allowed\":true}'", "no answer"),
        ("echo '{\"allowed\":true}'; exit 2", "gives no reason"),
        ("echo '{\"allowed\":true}'; exit 3", "exit code 3"),
        ("exec yes", "said too much"),
        ("exec yes >&2", "said too much"),
    ] {
        let output = Plugins::new(&[script]).bash("ls").expect(2);
        assert!(output.stderr.contains(says), "{script}: {}", output.stderr);
    }
}

#[test]
fn one_that_is_late_is_killed_with_its_children() {
    for script in [
        "sleep 300 & echo $! > \"${0%/*}/child\"; wait",
        "exec 1>&- 2>&-; sleep 300 & echo $! > \"${0%/*}/child\"; wait",
        "trap '' TERM INT HUP; sleep 300 & echo $! > \"${0%/*}/child\"; while :; do sleep 1; done",
    ] {
        let plugins = Plugins::with(&[script], "timeout_ms = 500");
        let output = plugins.bash("ls").expect(2);
        assert!(output.stderr.contains("no answer in 500ms"), "{}", output.stderr);
        let child = fs::read_to_string(plugins.path().join("child")).unwrap();
        let process = PathBuf::from(format!("/proc/{}", child.trim()));
        until("the child's end", || {
            let state = fs::read_to_string(process.join("stat")).unwrap_or_default();
            (state.is_empty() || state.contains(") Z ")).then_some(())
        });
    }
}

#[test]
fn it_gets_the_event_and_nothing_else() {
    let script = "cat > \"${0%/*}/event\"; env -0 < /dev/null > \"${0%/*}/env\"; pwd > \"${0%/*}/cwd\"\n\
                  ls /proc/$$/fd > \"${0%/*}/files\"";
    let plugins = Plugins::new(&[script]);
    plugins.bash("ls -la").expect(0);
    let event: Value = serde_json::from_slice(&fs::read(plugins.path().join("event")).unwrap()).unwrap();
    let want = json!({
        "event": "before_tool_use", "agent": "claude", "tool_name": "Bash", "tool_input": {"command": "ls -la"},
        "cwd": plugins.site.work(), "session": "s", "tool_use_id": "t1",
    });
    assert_eq!(event, want);
    let env = fs::read_to_string(plugins.path().join("env")).unwrap();
    // Bash makes these itself.
    let of_bash = ["PWD=", "SHLVL=", "_=", "OLDPWD="];
    for variable in env.split('\0').filter(|text| !text.is_empty()) {
        assert!(of_bash.iter().any(|name| variable.starts_with(name)), "{variable}");
    }
    assert_eq!(fs::read_to_string(plugins.path().join("cwd")).unwrap().trim(), "/");
    let files = fs::read_to_string(plugins.path().join("files")).unwrap();
    let above: Vec<&str> = files.lines().filter(|file| !["0", "1", "2", "255"].contains(file)).collect();
    assert_eq!(above, Vec::<&str>::new());
    // Other tools by their own names, with their own fields, whether or not the gate asks anybody about them.
    fs::write(plugins.site.work().join("a.txt"), "x").unwrap();
    for (tool, input) in [("Read", json!({"file_path": "a.txt"})), ("TodoWrite", json!({"todos": []}))] {
        plugins.hears(tool, &input).expect(0);
        let event: Value = serde_json::from_slice(&fs::read(plugins.path().join("event")).unwrap()).unwrap();
        assert_eq!((&event["tool_name"], &event["tool_input"]), (&json!(tool), &input));
    }
}

/// What the agent's process has left open for its children is not the plug-in's.
#[test]
fn files_that_the_agent_left_open_are_closed() {
    let plugins = Plugins::new(&["ls /proc/$$/fd > \"${0%/*}/files\""]);
    let event = json!({"hook_event_name": "PreToolUse", "cwd": plugins.site.work(), "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let mut shell = Command::new("bash");
    shell.args(["-c", "exec 7</etc/passwd 300</etc/group; exec \"$@\"", "bash"]);
    shell.arg(bin("bashgate-hook")).arg("--config").arg(plugins.site.hook_toml()).current_dir(plugins.site.work());
    shell.env_remove("LD_LIBRARY_PATH");
    Output::of(&mut shell, event.to_string().as_bytes()).expect(0);
    let files = fs::read_to_string(plugins.path().join("files")).unwrap();
    assert!(!files.lines().any(|file| file == "7" || file == "300"), "{files}");
}

#[test]
fn an_event_that_is_not_read_holds_nothing_up() {
    let plugins = Plugins::new(&["exit 0", "read -r -n 1 x; exit 0", "wc -c > \"${0%/*}/size\""]);
    let output = plugins.bash(&format!("echo {}", "x".repeat(60_000))).expect(0);
    assert_eq!(output.stderr, "");
    let size: usize = fs::read_to_string(plugins.path().join("size")).unwrap().trim().parse().unwrap();
    assert!(size > 60_000);
}

#[test]
fn only_the_tools_that_are_named_are_asked_about() {
    let plugins = Plugins::with(&["echo no >&2; exit 2"], "tools = [\"Bash\", \"WebFetch\"]");
    plugins.bash("ls").expect(2);
    fs::write(plugins.site.work().join("a.txt"), "x").unwrap();
    plugins.hears("Read", &json!({"file_path": "a.txt"})).expect(0);
}

#[test]
fn a_plugin_that_the_agent_could_have_written_is_none() {
    let spoil: [&dyn Fn(&Path); 5] = [
        &|program| fs::remove_file(program).unwrap(),
        &|program| fs::set_permissions(program, Permissions::from_mode(0o777)).unwrap(),
        &|program| fs::set_permissions(program, Permissions::from_mode(0o644)).unwrap(),
        &|program| fs::set_permissions(program.parent().unwrap(), Permissions::from_mode(0o777)).unwrap(),
        &|program| {
            std::os::unix::fs::chown(program, Some(65_534), None).unwrap();
        },
    ];
    for spoil in spoil {
        let plugins = Plugins::new(&["exit 0"]);
        plugins.bash("ls").expect(0);
        spoil(&plugins.path().join("plugin0"));
        let output = plugins.bash("ls").expect(2);
        assert!(output.stderr.contains("plugin0") && output.stderr.contains("hook.toml"), "{}", output.stderr);
    }
    // Nor may a command touch it.
    let plugins = Plugins::new(&["exit 0"]);
    let _host = plugins.site.serve();
    let program = plugins.path().join("plugin0");
    let output = plugins.bash(&format!("echo exit 0 > {}", program.display())).expect(2);
    assert!(output.stderr.contains("gate"), "{}", output.stderr);
}

#[test]
fn what_the_host_allows_and_what_the_runner_runs_they_are_asked_about_too() {
    let deny_make = "read -r event; [[ $event == *'\"make\"'* ]] && { echo no make >&2; exit 2; }; exit 0";
    let plugins = Plugins::new(&[deny_make]);
    let _host = plugins.site.serve();
    plugins.bash("make all").expect(0);
    assert!(plugins.bash("make").expect(2).stderr.contains("no make"));
    for more in [&[][..], &["--cage"][..]] {
        let run = |command: &str| {
            let mut runner = bashgate_tests::runner();
            runner.arg("exec").arg("--config").arg(plugins.site.hook_toml()).args(more).args(["--", command]);
            Output::of(runner.current_dir(plugins.site.work()), b"")
        };
        run("echo fine").expect(0);
        let output = run("make").expect(2);
        assert!(output.stderr.contains("no make"), "{more:?}: {output:?}");
    }
}
