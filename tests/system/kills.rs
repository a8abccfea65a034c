//! The host dies at every place that has a name, and at random moments under load. No allow was ever released that the
//! record does not hold, no request is answered twice, no taint and no person's answer is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bashgate::fault::POINTS;
use bashgate_shared::protocol::{Answer, Response};
use bashgate_tests::{Dice, Host, Model, PATIENCE, Site, built, rounds, until};
use serde_json::json;

/// Deaths at each place.
fn at_each() -> usize {
    rounds(6, 20)
}

/// Deaths at random moments.
fn kills() -> usize {
    rounds(150, 1000)
}

#[test]
fn no_allow_is_released_that_the_audit_does_not_hold() {
    let site = Site::default();
    let held = site.add_workspace("held");
    site.raise_both("held");
    let mut host = site.serve();
    // A command that waits for a person the whole time, with its real hook.
    let waiting_command = "curl -s https://x.example/held";
    let mut hook = site.hook_command(&held);
    hook.args(["check", "--", waiting_command]);
    let waiting = std::thread::spawn(move || bashgate_tests::Output::of(&mut hook, b""));
    let id = site.held(waiting_command);

    let seen: Mutex<BTreeMap<String, Response>> = Mutex::default();
    let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut dice = Dice::thrown("deaths at random moments");
    std::thread::scope(|scope| {
        for client in 0..3 {
            let (site, seen, stop, sent) = (&site, &seen, &stop, &sent);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let id = uuid::Uuid::new_v4().to_string();
                    site.post("default", &json!({"type": "security:bash_check", "request_id": id, "command": format!("make target-{client}")}));
                    sent.fetch_add(1, Ordering::Relaxed);
                    let end = Instant::now() + PATIENCE;
                    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
                        if let Some(response) = site.response("default", &id) {
                            seen.lock().unwrap().insert(id, response);
                            break;
                        }
                        std::thread::park_timeout(Duration::from_micros(300));
                    }
                }
            });
        }
        for _ in 0..kills() {
            // Let some traffic through first, so that the kill falls into work.
            let before = seen.lock().unwrap().len();
            until("some traffic", || (seen.lock().unwrap().len() > before + 3).then_some(()));
            std::thread::park_timeout(Duration::from_micros(dice.below(20_000) as u64));
            host.kill();
            host = site.serve();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(site.held(waiting_command), id, "the held command is back");
    site.cli(["approve", &id]).expect(0);
    waiting.join().unwrap().expect(0);
    site.cli(["audit", "verify"]).expect(0);
    let audit = site.audit();
    let recorded: BTreeMap<&str, &str> = audit
        .iter()
        .filter(|record| record["kind"] == "decision")
        .map(|record| (record["request_id"].as_str().unwrap(), record["detail"]["answer"].as_str().unwrap()))
        .collect();
    let seen = seen.into_inner().unwrap();
    let mut allows = 0;
    for (id, response) in &seen {
        if response.decision == Answer::Allow {
            allows += 1;
            assert_eq!(recorded.get(id.as_str()), Some(&"allow"), "{id} was released and is not on record");
        }
    }
    println!(
        "{} kills, {} requests, {} answers, {allows} allows released, {} decisions on record",
        kills(),
        sent.load(Ordering::Relaxed),
        seen.len(),
        recorded.len()
    );
    assert!(allows > kills(), "the load was real: {allows} allows");
}

/// Requests of one site and what became of them.
struct Ledger<'s> {
    site: &'s Site,
    /// By workspace and id: the response, once it was seen.
    asked: BTreeMap<(String, String), Option<Response>>,
    /// Requests whose approval was confirmed to the person.
    confirmed: BTreeSet<String>,
}

impl Ledger<'_> {
    fn ask(&mut self, workspace: &str, command: &str) -> String {
        let id = uuid::Uuid::new_v4().to_string();
        self.site.post(workspace, &json!({"type": "security:bash_check", "request_id": id, "command": command}));
        self.asked.insert((workspace.to_owned(), id.clone()), None);
        id
    }

    /// Notes the response to a request, if it is there: always the same one.
    fn look(&mut self, workspace: &str, id: &str) -> bool {
        let found = self.site.response(workspace, id);
        let known = self.asked.get_mut(&(workspace.to_owned(), id.to_owned())).unwrap();
        if let (Some(before), Some(now)) = (&known, &found) {
            assert_eq!(before, now, "{id} was answered twice");
        }
        *known = found.or(known.take());
        known.is_some()
    }

    /// Waits for a response; false when the host died instead.
    fn wait(&mut self, host: &mut Host, workspace: &str, id: &str) -> bool {
        until("a response, or the host's end", || {
            if self.look(workspace, id) {
                Some(true)
            } else {
                host.child.try_wait().unwrap().map(|_| self.look(workspace, id))
            }
        })
    }

    /// The id of the card of a request; `None` when the host died instead.
    fn card(&self, host: &mut Host, request: &str) -> Option<String> {
        until("a card, or the host's end", || {
            if host.child.try_wait().unwrap().is_some() {
                return Some(None);
            }
            let listed = self.site.cli(["pending", "--json"]);
            let cards: Vec<serde_json::Value> = serde_json::from_str(&listed.stdout).unwrap_or_default();
            let card = cards.into_iter().find(|card| card["request_id"] == request)?;
            Some(Some(card["id"].as_str()?.to_owned()))
        })
    }

    /// One allowed command that taints, one that the inspector looks at, one that a person approves. False when the host
    /// died on the way.
    fn round(&mut self, host: &mut Host, fresh: &str) -> bool {
        let tainting = self.ask(fresh, "curl -s https://x.example/a");
        let inspected = self.ask("looked", "make x");
        if !self.wait(host, fresh, &tainting) || !self.wait(host, "looked", &inspected) {
            return false;
        }
        let held = self.ask("asked", &format!("curl -s https://x.example/{inspected}"));
        let Some(card) = self.card(host, &held) else { return false };
        if self.site.cli(["approve", &card]).code == Some(0) {
            self.confirmed.insert(held.clone());
        }
        self.wait(host, "asked", &held)
    }

    /// What must hold when the host works again: everything is answered, or asked again and then denied.
    fn settle(&mut self, host: &mut Host) {
        let open: Vec<_> =
            self.asked.iter().filter(|(_, response)| response.is_none()).map(|(key, _)| key.clone()).collect();
        for (workspace, id) in open {
            until("an answer", || {
                if self.look(&workspace, &id) {
                    return Some(());
                }
                let pending = self.site.pending();
                let card = pending.iter().find(|card| card["request_id"] == id.as_str())?;
                assert!(!self.confirmed.contains(&id), "{id} was approved, and a person is asked again");
                self.site.cli(["deny", card["id"].as_str()?]);
                None
            });
        }
        assert!(host.child.try_wait().unwrap().is_none(), "the host works");
        for ((workspace, id), response) in &self.asked {
            if workspace.starts_with("fresh")
                && response.as_ref().is_some_and(|response| response.decision == Answer::Allow)
            {
                assert_eq!(self.site.taint(workspace), "corruption", "{id} was allowed and its taint is lost");
            }
        }
    }

    /// What must hold of the record.
    fn compare(&self) -> (usize, usize) {
        self.site.cli(["audit", "verify"]).expect(0);
        let audit = self.site.audit();
        let mut decided: BTreeMap<&str, &str> = BTreeMap::new();
        for record in audit.iter().filter(|record| record["kind"] == "decision") {
            let id = record["request_id"].as_str().unwrap();
            assert!(decided.insert(id, record["detail"]["answer"].as_str().unwrap()).is_none(), "{id} stands twice");
        }
        let mut allows = 0;
        for ((_, id), response) in &self.asked {
            if response.as_ref().is_some_and(|response| response.decision == Answer::Allow) {
                allows += 1;
                assert_eq!(decided.get(id.as_str()), Some(&"allow"), "{id} was allowed and is not on record");
            }
        }
        for id in &self.confirmed {
            assert_eq!(decided.get(id.as_str()), Some(&"allow"), "{id} was approved and is not on record");
        }
        (self.asked.len(), allows)
    }
}

/// Lets the host die so often at one place: how many requests there were, and how many were allowed.
fn die_at(point: &str, model: &Model, dice: &mut Dice) -> (usize, usize) {
    let fresh = (0..at_each() * 4).map(|n| format!("[workspaces.fresh-{n}]")).collect::<Vec<_>>().join("\n");
    let site =
        Site::new(&format!("{}\n[workspaces.looked]\n[workspaces.asked]\n{fresh}", model.config("openai", 5000)));
    for name in
        ["looked".to_owned(), "asked".to_owned()].into_iter().chain((0..at_each() * 4).map(|n| format!("fresh-{n}")))
    {
        bashgate::daemon::make_mailbox(&site.mailbox(&name)).unwrap();
    }
    for (workspace, label) in [("looked", "corruption"), ("asked", "corruption"), ("asked", "secret")] {
        site.raise(workspace, label);
    }
    let mut ledger = Ledger { site: &site, asked: BTreeMap::new(), confirmed: BTreeSet::new() };
    let mut names = (0..at_each() * 4).map(|n| format!("fresh-{n}"));
    for run in 0..at_each() {
        // At the first time that it comes by, or a later one.
        let once = point.starts_with("start") || point.starts_with("stop");
        let skip = if once || point.starts_with("heartbeat") { 0 } else { dice.below(3) };
        let mut command = Command::new(built(env!("CARGO_BIN_EXE_bashgate-with-faults")));
        command.arg("serve").arg("--config").arg(site.host_toml()).env_remove("RUST_LOG");
        command.env("FAILPOINTS", format!("{point}={skip}*off->return(kill)"));
        let before = ledger.ask(&names.next().unwrap(), "curl -s https://x.example/before");
        let (mut host, ready) = Host::try_start(&mut command);
        if ready {
            for fresh in names.by_ref().take(3) {
                if !ledger.round(&mut host, &fresh) {
                    break;
                }
            }
            if point.starts_with("stop") {
                host.terminate();
            }
        }
        let status = until("the host's death", || host.child.try_wait().unwrap());
        assert_eq!(status.signal(), Some(9), "{point}, run {run}: {}", host.said.lock().unwrap());
        let mut host = site.serve();
        ledger.settle(&mut host);
        assert!(ledger.asked.iter().any(|((_, id), response)| *id == before && response.is_some()));
        host.kill();
    }
    ledger.compare()
}

#[test]
fn the_host_dies_at_every_place_and_forgets_nothing() {
    let model = Model::start();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (model, next) = (&model, &next);
            scope.spawn(move || {
                let mut dice = Dice::thrown(&format!("deaths at each place, thread {thread}"));
                while let Some(point) = POINTS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (requests, allows) = die_at(point, model, &mut dice);
                    println!("{point}: {} deaths, {requests} requests, {allows} allowed", at_each());
                }
            });
        }
    });
}

#[test]
fn what_the_disk_refuses_is_denied_and_works_again_when_it_does() {
    // No space, an input or output error, a file system that was made read-only.
    for error in [28, 5, 30] {
        for point in ["store.begin", "store.written", "response.begin"] {
            let site = Site::default();
            site.raise("default", "corruption");
            let mut command = Command::new(built(env!("CARGO_BIN_EXE_bashgate-with-faults")));
            command.arg("serve").arg("--config").arg(site.host_toml()).env_remove("RUST_LOG");
            // The first pass of the store is the record of the start.
            let spared = usize::from(point.starts_with("store"));
            command.env("FAILPOINTS", format!("{point}={spared}*off->4*return({error})->off"));
            let host = Host::start(&mut command);
            let mut denials = 0;
            until("an allow", || {
                let mut hook = site.hook_command(&site.hook_toml());
                let checked = bashgate_tests::Output::of(hook.args(["check", "--", "make x"]), b"");
                match checked.code {
                    Some(0) => Some(()),
                    code => {
                        assert_eq!(code, Some(2), "{checked:?}");
                        assert!(!checked.stderr.trim().is_empty());
                        denials += 1;
                        None
                    }
                }
            });
            // An answer that cannot be written is tried again; one that cannot be recorded is a denial.
            assert_eq!(denials > 0, point.starts_with("store"), "{point} {error}");
            let said = host.said.lock().unwrap().clone();
            assert!(
                denials > 0 || said.contains("cannot write the response"),
                "{point} {error}: nothing failed: {said}"
            );
            site.cli(["audit", "verify"]).expect(0);
            let allowed = site.audit().iter().filter(|record| record["detail"]["answer"] == "allow").count();
            assert!(allowed > 0);
        }
    }
}
