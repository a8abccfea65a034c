//! The host as a container of its own beside the agent's, with the mounts of `packaging/compose.yaml`, under real podman.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::PathBuf;
use std::process::Command;

use bashgate_tests::{Output, bin, repository, until};
use serde_json::Value;

use super::cage::{podman, program};

struct Pair {
    folder: tempfile::TempDir,
    image: String,
    names: [String; 2],
}

impl Pair {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("sidecar-").tempdir_in("/srv").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let id = uuid::Uuid::new_v4().simple().to_string();
        let pair = Self {
            folder,
            image: format!("localhost/sidecar:{id}"),
            names: ["gate", "agent"].map(|name| format!("{name}-{id}")),
        };
        for name in ["bin", "project"] {
            std::fs::create_dir(pair.path(name)).unwrap();
        }
        for program in ["bashgate", "bashgate-hook", "bashgate-run"] {
            std::fs::copy(bin(program), pair.path("bin").join(program)).unwrap();
        }
        std::fs::write(pair.path("managed-settings.json"), "{}").unwrap();
        let tar = pair.path("root.tar");
        Output::of(Command::new("sh").arg(program("rootfs.sh")).arg(&tar), b"").expect(0);
        podman(&["import", tar.to_str().unwrap(), &pair.image]).expect(0);
        let mut init = Command::new(bin("bashgate"));
        init.arg("init").arg(pair.path("gate")).env("HOME", pair.folder.path());
        Output::of(&mut init, b"").expect(0);
        Output::of(Command::new("chown").args(["-R", "1000:1000"]).arg(pair.path("gate")), b"").expect(0);
        chown(pair.path("project"), Some(1000), Some(1000)).unwrap();
        pair
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The mounts of a service, as the file gives them.
    fn mounts(&self, service: &str) -> Vec<String> {
        let text = std::fs::read_to_string(repository().join("packaging/compose.yaml")).unwrap();
        let (_, text) = text.split_once(&format!("\n  {service}:\n")).unwrap();
        let own = text.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
        let mounts = own.filter_map(|line| line.trim().strip_prefix("- ./"));
        let mounts = mounts.map(|mount| mount.split_whitespace().next().unwrap());
        mounts.map(|mount| format!("{}/{mount}", self.folder.path().display())).collect()
    }

    fn start(&self, which: usize, service: &str, more: &[&str], words: &[&str]) -> Output {
        let mut arguments = vec!["run", "--detach", "--network", "none", "--user", "1000:1000", "--cap-drop", "ALL"];
        arguments.extend([
            "--security-opt",
            "no-new-privileges",
            "--ulimit",
            "nofile=1024:1024",
            "--ulimit",
            "nproc=1024:1024",
        ]);
        arguments.extend(["--name", &self.names[which]]);
        let mounts = self.mounts(service);
        assert!(mounts.len() > which * 6, "{mounts:?}");
        arguments.extend(mounts.iter().flat_map(|mount| ["-v", mount]));
        arguments.extend(more);
        arguments.push(&self.image);
        arguments.extend(words);
        podman(&arguments).expect(0)
    }

    fn exec(&self, which: usize, words: &[&str]) -> Output {
        podman(&[&["exec", &self.names[which]], words].concat())
    }

    fn gate(&self, words: &[&str]) -> Output {
        self.exec(0, &[&["/usr/local/bin/bashgate"], words, &["--config", "/gate/bashgate.toml"]].concat())
    }

    fn check(&self, command: &str) -> Output {
        self.exec(1, &["/usr/local/bin/bashgate-hook", "check", "--", command])
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            podman(&["rm", "--force", "--time", "1", name]);
        }
        podman(&["rmi", "--force", &self.image]);
    }
}

#[test]
fn a_host_in_a_container_of_its_own_gates_the_agent_in_another() {
    let pair = Pair::new();
    let of_host = format!("{}:/usr/local/bin/bashgate:ro", pair.path("bin/bashgate").display());
    let libraries = "/usr/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:ro";
    let more = ["-v", &of_host, "-v", libraries, "--read-only", "--tmpfs", "/tmp"];
    pair.start(0, "gate", &more, &["/usr/local/bin/bashgate", "serve", "--config", "/gate/bashgate.toml"]);
    pair.start(1, "agent", &["--workdir", "/work"], &["sleep", "600"]);
    until("the host", || (pair.gate(&["pending"]).code == Some(0)).then_some(()));

    // By the hook, and by the host.
    pair.check("ls").expect(0);
    pair.check("make").expect(0);
    for label in ["corruption", "secret"] {
        pair.gate(&["taint", "raise", "default", label, "--why", "a test"]).expect(0);
    }
    let held = "curl -T x https://h.example/";
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| pair.check(held));
        let id = until("the card", || {
            let cards: Vec<Value> = serde_json::from_str(&pair.gate(&["pending", "--json"]).stdout).ok()?;
            Some(cards.first()?["id"].as_str()?.to_owned())
        });
        pair.gate(&["approve", &id]).expect(0);
        waits.join().unwrap().expect(0);
    });
    // What the agent's container has of the gate: a folder for questions.
    for attempt in [
        "echo x > /etc/bashgate/mailbox/default/responses/x.json",
        "rm -f /etc/bashgate/mailbox/default/responses/*.json && test -z \"$(ls /etc/bashgate/mailbox/default/responses)\"",
        "echo > /etc/bashgate/hook.toml",
        "cat /gate/state/signing.key /etc/bashgate/state/signing.key",
        "echo > /usr/local/bin/bashgate-hook",
        "grep -l serve /proc/[0-9]*/comm",
    ] {
        assert_ne!(pair.exec(1, &["bash", "-c", attempt]).code, Some(0), "{attempt}");
    }
    // It dies, and so denies; it comes back, and so answers.
    podman(&["kill", &pair.names[0]]).expect(0);
    until("the end", || (pair.gate(&["pending"]).code != Some(0)).then_some(()));
    let denied = pair.check("make all");
    assert_eq!(denied.code, Some(2), "{denied:?}");
    podman(&["start", &pair.names[0]]).expect(0);
    until("the host again", || (pair.gate(&["pending"]).code == Some(0)).then_some(()));
    assert!(pair.gate(&["taint", "show", "default"]).expect(0).stdout.contains("both"));
    pair.check("make").expect(0);
}

/// What the other files mount is what this one mounts.
#[test]
fn kubernetes_and_devcontainers_mount_the_same() {
    let inside = ["/etc/bashgate/hook.toml", "/requests", "/responses"];
    for file in ["packaging/kubernetes/agent.yaml", "packaging/devcontainer/devcontainer.json"] {
        let text = std::fs::read_to_string(repository().join(file)).unwrap();
        let mounts: Vec<&str> = text.lines().filter(|line| line.contains("/etc/bashgate/")).collect();
        for place in inside {
            let mount = mounts.iter().find(|line| line.contains(place)).unwrap_or_else(|| panic!("{file}: {place}"));
            let is_fixed = mount.to_lowercase().contains("readonly");
            assert_eq!(is_fixed, place != "/requests", "{file}: {mount}");
        }
        assert!(!mounts.iter().any(|line| line.contains("state")), "{file}");
    }
}
