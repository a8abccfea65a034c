//! The host is killed at random moments under load: no allow was ever released that the audit does not hold.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bashgate_shared::protocol::{Answer, Response};
use bashgate_tests::{PATIENCE, Site, until};
use serde_json::json;

const KILLS: usize = 50;

/// Pseudo-random numbers that a failed run can repeat.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[test]
fn no_allow_is_released_that_the_audit_does_not_hold() {
    let site = Site::default();
    let held = site.add_workspace("held");
    site.raise("held", "corruption");
    site.raise("held", "secret");
    let mut host = site.serve();
    // A command that waits for a person the whole time, with its real hook.
    let waiting_command = "curl -s https://x.example/held";
    let mut hook = site.hook_command(&held);
    hook.args(["check", "--", waiting_command]);
    let waiting = std::thread::spawn(move || bashgate_tests::Output::of(&mut hook, b""));
    let id = site.held(waiting_command);

    let seen: Mutex<BTreeMap<String, Response>> = Mutex::default();
    let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
    let seed =
        u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() & u128::from(u64::MAX >> 1))
            .unwrap()
            | 1;
    let mut dice = Dice(seed);
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
        for _ in 0..KILLS {
            // Let some traffic through first, so that the kill falls into work.
            let before = seen.lock().unwrap().len();
            until("some traffic", || (seen.lock().unwrap().len() > before + 3).then_some(()));
            std::thread::park_timeout(Duration::from_micros(dice.below(20_000)));
            host.kill();
            host = site.serve();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(site.held(waiting_command), id, "the held command is back (seed {seed})");
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
            assert_eq!(
                recorded.get(id.as_str()),
                Some(&"allow"),
                "{id} was released and is not on record (seed {seed})"
            );
        }
    }
    println!(
        "{KILLS} kills, {} requests, {} answers, {allows} allows released, {} decisions on record",
        sent.load(Ordering::Relaxed),
        seen.len(),
        recorded.len()
    );
    assert!(allows > KILLS, "the load was real: {allows} allows");
}
