//! The host under load.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use bashgate::audit::{Entry, RecordKind};
use bashgate::store::{Job, Store, Write};
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use bashgate_tests::{Host, Site, bin};
use serde_json::{Value, json};

use super::table::{Table, Times};
use super::{ROUNDS, Responder};

fn request(command: &str) -> (String, String) {
    let id = uuid::Uuid::new_v4().to_string();
    let text = json!({"type": "security:bash_check", "request_id": id, "command": command}).to_string();
    (id, text)
}

/// Milliseconds from posting a request to seeing its response.
fn ask(site: &Site, workspace: &str) -> f64 {
    let (id, text) = request("make x");
    let since = Instant::now();
    site.post_bytes(workspace, &id, text.as_bytes());
    // Like the hook: it leaves the processor to others while it waits.
    while site.response(workspace, &id).is_none() {
        std::thread::park_timeout(Duration::from_micros(100));
    }
    since.elapsed().as_secs_f64() * 1000.0
}

/// How long a workspace waits for answers while another one is flooded, beside how long it waits in peace.
pub fn beside_a_flood(table: &mut Table) {
    const FLOOD: usize = 50_000;
    let site = Site::default();
    site.add_workspace("calm");
    let _host = site.serve();
    let quiet = Times((0..ROUNDS).map(|_| ask(&site, "calm")).collect());
    let folder = site.mailbox("default").join("requests");
    for _ in 0..FLOOD {
        std::fs::write(folder.join(format!("{}.json", uuid::Uuid::new_v4())), "x").unwrap();
    }
    let flooded = Times((0..ROUNDS).map(|_| ask(&site, "calm")).collect());
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert!(left > 0, "the flood was over before the measuring was");
    table.compare("answer while another workspace is flooded", &flooded, "in peace", &quiet, ["", "3"]);
}

/// What polling costs where no notifications arrive, beside notifications.
pub fn without_notifications(table: &mut Table) {
    let measure = |config: &str| {
        let site = Site::new(config);
        let _host = site.serve();
        Times((0..ROUNDS).map(|_| ask(&site, "default")).collect())
    };
    let polled = measure("[limits]\nnotifications = \"never\"");
    let notified = measure("");
    table.compare("answer on a mount without notifications", &polled, "with them", &notified, ["", ""]);
}

/// Lays requests ready, then moves them in and waits for as many responses.
fn pass(requests: &[(PathBuf, PathBuf)], responses: &[PathBuf]) -> Duration {
    let since = Instant::now();
    for (from, to) in requests {
        std::fs::rename(from, to).unwrap();
    }
    let answered = || responses.iter().map(|folder| visible(folder)).sum::<usize>();
    while answered() < requests.len() {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    since.elapsed()
}

fn visible(folder: &Path) -> usize {
    std::fs::read_dir(folder)
        .unwrap()
        .filter(|entry| !entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'))
        .count()
}

fn lay(mailbox: &Path, count: usize) -> Vec<(PathBuf, PathBuf)> {
    let folder = mailbox.join("requests");
    let lay_one = |n| {
        let (id, text) = request(&format!("make target-{n}"));
        let from = folder.join(format!(".{id}.tmp"));
        std::fs::write(&from, text).unwrap();
        (from, folder.join(format!("{id}.json")))
    };
    (0..count).map(lay_one).collect()
}

/// Decisions of ten workspaces, on record before they go out, beside a responder that records nothing.
pub fn decisions(floor: &Path, table: &mut Table) {
    const EACH: usize = 1000;
    let names: Vec<String> = (0..10).map(|n| format!("w{n}")).collect();
    let config: String = names.iter().fold(String::new(), |text, name| text + &format!("[workspaces.{name}]\n"));
    let site = Site::new(&config);
    for name in &names {
        bashgate::daemon::make_mailbox(&site.mailbox(name)).unwrap();
    }
    let _host = site.serve();
    let mut requests = Vec::new();
    for name in &names {
        requests.extend(lay(&site.mailbox(name), EACH));
    }
    // From many agents at once, not from one behind the other.
    let requests: Vec<_> = (0..EACH).flat_map(|n| requests.iter().skip(n).step_by(EACH).cloned()).collect();
    let responses: Vec<_> = names.iter().map(|name| site.mailbox(name).join("responses")).collect();
    let ours = pass(&requests, &responses);
    let bare = site.path().join("bare");
    let _responder = Responder::start(floor, &bare);
    let least = pass(&lay(&bare, EACH * 10), &[bare.join("responses")]);
    let audit = site.audit().iter().filter(|record| record["detail"]["answer"] == "allow").count();
    assert_eq!(audit, EACH * 10, "all were allowed and are on record");
    table.rates(
        "decisions, each on record before it goes out",
        EACH * 10,
        ours,
        "C responder",
        EACH * 10,
        least,
        "2000 /s",
    );
}

/// How long a host takes to be ready with an audit of 100,000 records, beside one with none.
pub fn start_with_a_long_audit(table: &mut Table) {
    const RECORDS: u64 = 100_000;
    let site = Site::default();
    let start = || {
        let times = (0..20).map(|_| {
            let since = Instant::now();
            drop(Host::start(&mut site.host_command()));
            since.elapsed().as_secs_f64() * 1000.0
        });
        Times(times.collect())
    };
    let empty = start();
    let store = Store::open(&site.path().join("state/bashgate.db")).unwrap();
    let (sender, receiver) = mpsc::channel();
    for piece in 0..RECORDS / 1000 {
        let writes = (0..1000).map(|n| {
            let number = piece * 1000 + n;
            Write::Audit(Entry {
                at_ms: number,
                kind: RecordKind::Decision,
                workspace: WorkspaceName::parse("default"),
                request_id: RequestId::parse(&format!("00000000-0000-4000-8000-{number:012x}")),
                detail: json!({"command": "make build && make test", "answer": "allow", "reason": "the workspace is clean", "by": "policy", "rule": "table"}),
            })
        });
        let sender = sender.clone();
        let done = Box::new(move |result: Result<(), String>| sender.send(result).unwrap());
        store.submit(Job { writes: writes.collect(), durable: false, done });
    }
    for _ in 0..RECORDS / 1000 {
        receiver.recv().unwrap().unwrap();
    }
    drop(store);
    let full = start();
    table.compare("start with 100,000 records", &full, "with none", &empty, ["", ""]);
    table.row("the same, slowest of 20", &format!("{:.0} ms", full.at(1.0)), "", "", "1000 ms");
}

/// What the kernel says of a host's memory, in kilobytes: at most so far (`VmHWM`), or now (`VmRSS`).
pub fn memory(host: &Host, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Memory with 1,000 workspaces and 10,000 commands that wait for a person, beside a host with one workspace at rest.
pub fn many_workspaces(table: &mut Table) {
    const WORKSPACES: usize = 1000;
    const EACH: usize = 10;
    let resident = |host: &Host| memory(host, "VmHWM") / 1024;
    let rest = {
        let site = Site::default();
        let host = site.serve();
        ask(&site, "default");
        resident(&host)
    };
    let names: Vec<String> = (0..WORKSPACES).map(|n| format!("w{n}")).collect();
    let config = names
        .iter()
        .fold(String::new(), |text, name| text + &format!("[workspaces.{name}]\ncontains_secrets = true\n"));
    let site = Site::new(&config);
    for name in &names {
        bashgate::daemon::make_mailbox(&site.mailbox(name)).unwrap();
    }
    // As many open files as a process usually may have.
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -Sn 1024 && exec \"$0\" serve --config \"$1\""])
        .arg(bin("bashgate"))
        .arg(site.host_toml());
    let host = Host::start(&mut command);
    let post = |name: &str, command: &str| {
        let (id, text) = request(command);
        site.post_bytes(name, &id, text.as_bytes());
        id
    };
    let fetched: Vec<_> = names.iter().map(|name| (name, post(name, "curl -s https://x.example"))).collect();
    for (name, id) in fetched {
        while site.response(name, &id).is_none() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }
    let since = Instant::now();
    for n in 0..EACH {
        for name in &names {
            post(name, &format!("curl -s https://x.example/{n}"));
        }
    }
    let held = || {
        serde_json::from_str::<Value>(&site.cli(["pending", "--json"]).expect(0).stdout)
            .unwrap()
            .as_array()
            .unwrap()
            .len()
    };
    while held() < WORKSPACES * EACH {
        assert!(since.elapsed() < Duration::from_mins(2), "{} are held", held());
        std::thread::park_timeout(Duration::from_millis(200));
    }
    let peak = resident(&host);
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let ratio = format!("{:.1}", peak as f64 / rest as f64);
    table.row(
        "memory with 1,000 workspaces and 10,000 held commands, peak",
        &format!("{peak} MiB"),
        &format!("one workspace at rest: {rest} MiB"),
        &ratio,
        "150 MiB",
    );
}
