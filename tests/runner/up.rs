//! `bashgate up`: from nothing to an agent in a gated container, under real podman.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bashgate_tests::{Output, bin, until};
use serde_json::{Value, json};

use super::cage::{PODMAN, podman, program};

/// A person's machine: a home folder with nothing in it, a project, and podman as this machine can run it.
struct Machine {
    folder: tempfile::TempDir,
    image: String,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("up-").tempdir_in("/srv").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let image = format!("localhost/up-test:{}", uuid::Uuid::new_v4().simple());
        let machine = Self { folder, image };
        for name in ["home", "bin", "root/usr/bin", "web/.git/hooks", "other"] {
            std::fs::create_dir_all(machine.path(name)).unwrap();
        }
        // This machine lets nobody raise a limit.
        let wrapper = format!(
            "#!/bin/sh\nword=$1; shift\n[ \"$word\" != run ] || set -- --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \"$@\"\nexec podman {} \"$word\" \"$@\"\n",
            PODMAN.join(" ")
        );
        write_program(&machine.path("bin/podman"), &wrapper);
        let agent = std::fs::read_to_string(program("agent.py")).unwrap();
        write_program(&machine.path("root/usr/bin/claude"), &format!("#!/usr/bin/python3\n{agent}"));
        let tar = machine.path("root.tar");
        Output::of(Command::new("sh").arg(program("rootfs.sh")).arg(&tar), b"").expect(0);
        let mut add = Command::new("tar");
        add.arg("-C").arg(machine.path("root")).arg("-rf").arg(&tar).arg("./usr/bin/claude");
        Output::of(&mut add, b"").expect(0);
        podman(&["import", tar.to_str().unwrap(), &machine.image]).expect(0);
        std::fs::write(machine.path("web/.envrc"), "export A=1\n").unwrap();
        std::fs::write(machine.path("web/.git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
        Output::of(Command::new("chown").args(["-R", "1000:1000"]).arg(machine.path("web")), b"").expect(0);
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn bashgate(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(bin("bashgate"));
        command.args(arguments).current_dir(self.path("web")).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", self.path("home"));
        command
    }

    fn up(&self, more: &[&str]) -> Command {
        let runtime = self.path("bin/podman").display().to_string();
        let arguments = ["up", "claude", "--image", &self.image, "--runtime", &runtime, "--network", "none"];
        self.bashgate(&[&arguments, more].concat())
    }

    fn pending(&self) -> Vec<Value> {
        let listed = Output::of(&mut self.bashgate(&["pending", "--json"]), b"");
        serde_json::from_str(&listed.stdout).unwrap_or_default()
    }

    /// The host that `up` has started goes on; this test's ends with it.
    fn hosts(&self) -> Vec<i32> {
        let home = self.path("home").display().to_string();
        let numbers = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let is_ours = |pid: &i32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("bashgate\0serve") && words.contains(&home)
        };
        numbers.filter(is_ours).collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for pid in self.hosts() {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::KILL,
            );
        }
        podman(&["rmi", "--force", &self.image]);
    }
}

fn write_program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn from_nothing_to_a_held_command_that_is_approved() {
    let machine = Machine::new();
    let home = machine.path("home").display().to_string();
    // Settings are written for the container, none for this machine.
    let of_machine = || std::fs::read("/etc/claude-code/managed-settings.json").ok();
    let before = of_machine();
    // Nothing is made by looking.
    let printed = Output::of(&mut machine.up(&["--print"]), b"");
    assert!(!machine.path("home/.config/bashgate").exists(), "{printed:?}");

    let mut up = machine.up(&["--no-cage", "--", &home, machine.path("other").to_str().unwrap(), "/srv"]);
    let running = std::thread::spawn(move || Output::of(&mut up, b""));
    let held = |what: &str| {
        until(what, || {
            let pending = machine.pending();
            let card = pending.iter().find(|card| card["command"].as_str().is_some_and(|text| text.contains(what)))?;
            Some(card["id"].as_str()?.to_owned())
        })
    };
    let id = held("h.example/approved");
    Output::of(&mut machine.bashgate(&["approve", &id]), b"").expect(0);
    let ended = running.join().unwrap().expect(0);

    let report = std::fs::read_to_string(machine.path("web/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let step = |text: &str| {
        let all = report["steps"].as_array().unwrap();
        all.iter().find(|step| step["input"].to_string().contains(text)).unwrap_or_else(|| panic!("{text}: {report:#}"))
    };
    for (text, runs) in [
        ("\"ls\"", true),
        ("id_ed25519", true),
        ("https://h.example/\"", true),
        ("managed-settings.json", false),
        (".claude/settings.json", false),
        ("killed", false),
        ("approved", true),
    ] {
        assert_eq!(step(text)["runs"], runs, "{text}: {report:#}");
    }
    assert!(machine.path("web/approved").exists() && !machine.path("web/killed").exists());
    // Whatever a process of the agent tries itself.
    assert_eq!(report["could"], json!([]), "{report:#}");
    let seen = &report["seen"];
    assert_eq!(seen["mailboxes"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!((&seen["uid"], &seen["no_new_privileges"]), (&json!(1000), &json!(true)), "{seen}");
    assert_eq!(seen["capabilities"], json!(["0000000000000000"]));
    assert_eq!((&seen["sockets"], &seen["outside"]), (&json!([]), &json!(["/srv"])), "{seen}");
    // What it left that a person's editor would run.
    assert!(ended.stderr.contains(".vscode") && ended.stderr.contains(".git/hooks/pre-commit"), "{ended:?}");
    let down = Output::of(
        &mut machine.bashgate(&["down", "--set-aside", "--runtime", machine.path("bin/podman").to_str().unwrap()]),
        b"",
    )
    .expect(0);
    assert!(down.stderr.contains("Set aside") && !machine.path("web/.vscode/tasks.json").exists(), "{down:?}");
    assert!(machine.path("web/.envrc").exists() && !machine.path("web/.git/hooks/pre-commit").exists());
    assert_eq!(of_machine(), before);
    // The record has it all, and one host serves.
    let record = Output::of(&mut machine.bashgate(&["audit", "verify"]), b"").expect(0);
    assert!(record.stdout.contains("intact") || record.stdout.contains("records"), "{record:?}");
    assert_eq!(machine.hosts().len(), 1);
}

#[test]
fn doctor_in_the_container_finds_it_gated() {
    let machine = Machine::new();
    let said = Output::of(&mut machine.up(&["--doctor"]), b"");
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("fine") && line.contains("is denied on PreToolUse")), "{said:?}");
    assert!(!lines.iter().any(|line| line.starts_with("broken")), "{said:?}");
}

#[test]
fn what_cannot_be_an_agents_project_is_refused() {
    let machine = Machine::new();
    for (folder, why) in [("home", "home"), ("", "")] {
        let mut up = machine.up(&[machine.path(folder).to_str().unwrap()]);
        let refused = Output::of(&mut up, b"").expect(2);
        assert!(refused.stderr.contains("cannot be an agent's project") && refused.stderr.contains(why), "{refused:?}");
    }
    for network in ["host", "container:other", "host:x"] {
        let refused = Output::of(&mut machine.bashgate(&["up", "claude", "--network", network]), b"").expect(2);
        assert!(refused.stderr.contains("somebody else's network"), "{refused:?}");
    }
    let unknown = Output::of(&mut machine.bashgate(&["up", "hal"]), b"");
    assert!(unknown.code != Some(0) && unknown.stderr.contains("known are"), "{unknown:?}");
    let missing = Output::of(&mut machine.bashgate(&["up", "claude", "--runtime", "podman-of-nobody"]), b"");
    assert!(missing.code != Some(0) && missing.stderr.contains("PATH"), "{missing:?}");
    assert!(machine.hosts().is_empty());
}
