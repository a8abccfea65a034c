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
        let agent = std::fs::read_to_string(program("agent.py")).unwrap();
        Self::with(&format!("#!/usr/bin/python3\n{agent}"))
    }

    /// One whose image has this program as the agent.
    fn with(agent: &str) -> Self {
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
        write_program(&machine.path("root/usr/bin/claude"), agent);
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

/// What the agent's program tries by itself, without any tool: through the variables that it finds, and past them.
const GOES_OUT: &str = r#"#!/usr/bin/python3
import json, os, socket, sys, urllib.request
def fetched(address):
    try:
        return urllib.request.urlopen(address, timeout=20).read().decode()
    except Exception as error:
        return f"{error}"
def connected(family, address):
    try:
        socket.socket(family).connect(address)
        return "connected"
    except OSError as error:
        return error.strerror
listed, other = sys.argv[1:3]
host, port = listed.rsplit(":", 1)
report = {"listed": fetched(f"http://{listed}/"), "other": fetched(f"http://{other}/"),
          "direct": connected(socket.AF_INET, (host, int(port))), "outside": connected(socket.AF_INET, ("192.0.2.1", 80)),
          "sockets": os.listdir("/run/bashgate/egress"), "interfaces": sorted(name for _, name in socket.if_nameindex())}
try:
    os.unlink("/run/bashgate/egress/proxy.sock")
    report["unlinked"] = True
except OSError as error:
    report["unlinked"] = error.strerror
json.dump(report, open("report.json", "w"))
"#;

/// With `[egress]` the container has no network, and the host leads to what is listed.
#[test]
fn the_hosts_way_out_is_the_only_one() {
    let machine = Machine::with(GOES_OUT);
    let listeners = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.2:0").unwrap());
    let [listed, other] = listeners.each_ref().map(|listener| listener.local_addr().unwrap().to_string());
    for listener in listeners {
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
                let _ = std::io::Write::write_all(
                    &mut stream,
                    b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\nreached",
                );
            }
        });
    }
    let gate = machine.path("home/.config/bashgate");
    Output::of(&mut machine.bashgate(&["init", gate.to_str().unwrap()]), b"").expect(0);
    let file = gate.join("bashgate.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("[egress]\n"), "{text}");
    let text =
        text.replace("enabled = false", "enabled = true").replace("hosts = []", &format!("hosts = [\"{listed}\"]"));
    std::fs::write(&file, text).unwrap();
    let runtime = machine.path("bin/podman").display().to_string();
    let up = ["up", "claude", "--image", &machine.image, "--runtime", &runtime, "--", &listed, &other];
    let ended = Output::of(&mut machine.bashgate(&up), b"").expect(0);
    assert!(ended.stderr.contains("no network but through the host") && !ended.stderr.contains("is open"), "{ended:?}");
    let report = std::fs::read_to_string(machine.path("web/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["listed"], "reached", "{report:#}");
    assert!(report["other"].as_str().unwrap().contains("is not on this workspace's list"), "{report:#}");
    assert_eq!(
        (&report["direct"], &report["outside"]),
        (&json!("Connection refused"), &json!("Network is unreachable"))
    );
    assert_eq!((&report["interfaces"], &report["sockets"]), (&json!(["lo"]), &json!(["proxy.sock"])), "{report:#}");
    assert_ne!(report["unlinked"], true, "{report:#}");
    // The agent's own hosts were listed for it.
    assert!(std::fs::read_to_string(&file).unwrap().contains("egress = [\"api.anthropic.com\""));
    let tail = Output::of(&mut machine.bashgate(&["egress", "tail", "--json"]), b"").expect(0).stdout;
    assert!(tail.contains("\"ended\":\"closed\"") && tail.contains("is not on this workspace's list"), "{tail}");
}

/// What an agent's program finds of its model, and what the model says to it.
const ASKS: &str = r#"#!/usr/bin/python3
import json, os, urllib.request
at = os.environ.get("ANTHROPIC_BASE_URL", "")
asked = urllib.request.Request(at + "/v1/messages", b'{"model":"m"}', {"x-api-key": "made up"})
report = {"variables": {name: value for name, value in os.environ.items() if "KEY" in name or "TOKEN" in name},
          "answer": urllib.request.urlopen(asked, timeout=20).read().decode()}
json.dump(report, open("report.json", "w"))
"#;

/// Where the host asks the model, the container has neither its key nor its host.
#[test]
fn a_model_that_the_host_asks_needs_neither_key_nor_host_inside() {
    let machine = Machine::with(ASKS);
    let service = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    let at = service.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = service.accept().unwrap();
        let mut said = [0; 4096];
        let count = std::io::Read::read(&mut stream, &mut said).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\nthought";
        std::io::Write::write_all(&mut stream, answer).unwrap();
        String::from_utf8_lossy(&said[..count]).into_owned()
    });
    let gate = machine.path("home/.config/bashgate");
    Output::of(&mut machine.bashgate(&["init", gate.to_str().unwrap()]), b"").expect(0);
    let file = gate.join("bashgate.toml");
    let text = std::fs::read_to_string(&file).unwrap().replace("enabled = false", "enabled = true");
    let model =
        format!("\n[egress.models.ours]\nkind = \"anthropic\"\nbase_url = \"http://{at}\"\nkey_file = \"model.key\"\n");
    std::fs::write(&file, text + &model).unwrap();
    std::fs::write(gate.join("model.key"), "the-operators\n").unwrap();
    let runtime = machine.path("bin/podman").display().to_string();
    let up = ["up", "claude", "--image", &machine.image, "--runtime", &runtime];
    Output::of(machine.bashgate(&up).env("ANTHROPIC_API_KEY", "the-persons"), b"").expect(0);
    let report = std::fs::read_to_string(machine.path("web/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["answer"], "thought", "{report:#}");
    assert_eq!(report["variables"], json!({"ANTHROPIC_AUTH_TOKEN": "held-by-the-host"}), "{report:#}");
    let heard = heard.join().unwrap();
    assert!(heard.contains("x-api-key: the-operators") && !heard.contains("made up"), "{heard}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("egress = []"));
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
