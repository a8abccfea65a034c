//! The fleet of `packaging/fleet`: its setup with real programs and a real PostgreSQL, and then what each service of the file runs. A
//! stand-in for docker runs each in its folder instead of a container, by the mounts that the file gives it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bashgate_tests::{Killed, Output, Postgres, bin, pause, repository, until};
use serde_json::Value;

use super::cases::{Service as _, Who};
use super::telegram::Telegram;

/// `docker compose up` for the database, and `docker compose run` for the others.
const DOCKER: &str = r#"#!/bin/bash
set -eu
[ "$1" = compose ]
case "$2" in
up)
    touch db-wanted
    while [ ! -e db-ready ]; do sleep 0.1; done
    exit ;;
run) shift 2 ;;
esac
entry=""
while [ "${1#-}" != "$1" ]; do
    case "$1" in
    -e) shift ;;
    --entrypoint) entry=$2; shift ;;
    esac
    shift
done
service=$1
shift
mounts=$(awk -v s="  $service:" '$0 == s {on = 1; next} /^  [a-z]/ {on = 0} on && /- \.\// {print $2}' compose.yaml)
[ -n "$entry" ] || case "$service" in host-*) entry=bashgate ;; *) entry=bashgate-fleet ;; esac
words=()
for word in "$@"; do
    for mount in $mounts; do
        inside=${mount#*:}
        case "$word" in "$inside" | "$inside"/*) word="$PWD/${mount%%:*}${word#"$inside"}" ;; esac
    done
    words+=("$word")
done
HOME=$PWD exec "$BIN/$entry" "${words[@]}"
"#;

struct Composed {
    folder: PathBuf,
    docker: PathBuf,
    database: String,
}

impl Composed {
    fn docker(&self, words: &[&str]) -> Command {
        let path = format!("{}:{}", self.docker.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("docker");
        command.args(words).current_dir(&self.folder).env("PATH", path).env("BIN", bin("bashgate").parent().unwrap());
        command
    }

    /// What a service of the file runs.
    fn runs(&self, service: &str) -> Child {
        let text = std::fs::read_to_string(self.folder.join("compose.yaml")).unwrap();
        let (_, text) = text.split_once(&format!("\n  {service}:\n")).unwrap();
        let command = text.lines().find_map(|line| line.trim().strip_prefix("command: [")).unwrap();
        let words: Vec<&str> = command.trim_end_matches(']').split(", ").collect();
        let log = std::fs::File::create(self.folder.join(format!("{service}.log"))).unwrap();
        let mut run = self.docker(&[&["compose", "run", "--rm", service], words.as_slice()].concat());
        run.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    }

    fn said(&self, service: &str) -> String {
        std::fs::read_to_string(self.folder.join(format!("{service}.log"))).unwrap()
    }

    fn cli(&self, service: &str, words: &[&str]) -> Output {
        Output::of(&mut self.docker(&[&["compose", "run", "--rm", service], words].concat()), b"")
    }
}

/// A port that nobody has.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_fleet_in_containers_is_made_by_one_script_and_answers() {
    let outer = tempfile::tempdir().unwrap();
    let docker = outer.path().join("programs");
    std::fs::create_dir(&docker).unwrap();
    std::fs::write(docker.join("docker"), DOCKER).unwrap();
    std::fs::set_permissions(docker.join("docker"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let port = free_port();
    let composed = Composed {
        folder: outer.path().join("team"),
        docker,
        database: format!("postgres://boss@127.0.0.1:{port}/fleet"),
    };
    let path = format!("{}:{}", composed.docker.display(), std::env::var("PATH").unwrap());
    let mut setup = Command::new(repository().join("packaging/fleet/setup.sh"));
    setup.arg(&composed.folder).env("PATH", path).env("BIN", bin("bashgate").parent().unwrap());
    setup.env("FLEET_DATABASE", &composed.database).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let setup = setup.spawn().unwrap();
    let wanted = composed.folder.join("db-wanted");
    until("the database to be wanted", || wanted.exists().then_some(()));
    let certs = composed.folder.join("certs");
    assert!(!certs.join("ca.key").exists());
    let word = std::fs::read_to_string(composed.folder.join("word")).unwrap();
    let _postgres = Postgres::with_tls(port, word.trim(), &certs);
    std::fs::write(composed.folder.join("db-ready"), "").unwrap();
    let made = setup.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(made.status.success(), "{said}{}", String::from_utf8_lossy(&made.stderr));
    let keys: Vec<&str> =
        said.lines().filter_map(|line| line.trim().strip_prefix("key = \"")?.strip_suffix('"')).collect();
    assert_eq!(keys.len(), 2, "{said}");

    // What the script says is to be done next.
    let service = Telegram::start();
    let approver = Who::Approver.id();
    for desk in ["desk-1", "desk-2"] {
        let folder = composed.folder.join(desk);
        let config = format!("{}approvers = [\"{approver}\"]\n", service.config(&folder));
        std::fs::write(folder.join("desk.toml"), config).unwrap();
    }
    for host in ["host-1", "host-2", "host-3"] {
        let file = composed.folder.join(host).join("bashgate.toml");
        let mut text = std::fs::read_to_string(&file).unwrap();
        for (desk, key) in ["desk-1", "desk-2"].iter().zip(&keys) {
            text.push_str(&format!(
                "\n[chat.{desk}]\nkind = \"desk\"\nkey = \"{key}\"\napprovers = [\"telegram:{approver}\"]\n"
            ));
        }
        std::fs::write(&file, text).unwrap();
    }
    let services = ["fleet", "desk-1", "desk-2", "host-1", "host-2", "host-3"];
    let running: Vec<Killed> = services.iter().map(|service| Killed(composed.runs(service))).collect();
    until("the fleet to be kept", || composed.said("fleet").contains("is kept").then_some(()));
    for desk in ["desk-1", "desk-2"] {
        until(desk, || composed.said(desk).contains("shows and hears").then_some(()));
    }
    let listed = || -> Vec<Value> {
        let said = composed.cli("fleet", &["list", "--json", "--folder", "/fleet"]).expect(0).stdout;
        serde_json::from_str(&said).unwrap()
    };
    until("all hosts to speak", || {
        let speaks = listed().iter().filter(|one| one["records"].as_u64().is_some_and(|count| count > 0)).count();
        (speaks == 3).then_some(())
    });
    // A host that has only just started hears no desk.
    pause(std::time::Duration::from_secs(6));
    let cli = |words: &[&str]| composed.cli("host-3", &[words, &["--config", "/gate/bashgate.toml"]].concat());
    for label in ["corruption", "secret"] {
        cli(&["taint", "raise", "default", label, "--why", "a test"]).expect(0);
    }
    let gate = composed.folder.join("host-3");
    let hook = |command: &str| {
        let mut hook = Command::new(bin("bashgate-hook"));
        hook.arg("--config").arg(hook_toml(&gate)).args(["check", "--", command]).current_dir(outer.path());
        hook
    };
    let mut waits = hook("curl -s https://x.example").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let card = until("the card", || service.messages().into_iter().find(|shown| shown.text.contains("host-3.default")));
    let id = card.text.split("approve ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    service.says(Who::Approver, &format!("approve {id}"));
    assert!(waits.wait().unwrap().success());
    drop(running);
}

/// The hook's configuration of a gate, with the paths that its mounts would have on this machine.
fn hook_toml(gate: &Path) -> PathBuf {
    let text = std::fs::read_to_string(gate.join("hook.toml")).unwrap();
    let here = |line: &str| {
        if line.starts_with("mailbox = ") {
            format!("mailbox = \"{}\"", gate.join("mailbox/default").display())
        } else {
            line.to_owned()
        }
    };
    let file = gate.join("hook-here.toml");
    std::fs::write(&file, text.lines().map(here).collect::<Vec<_>>().join("\n")).unwrap();
    file
}
