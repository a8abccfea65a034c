//! What Claude Code and Codex do when the hook or the host fails, when several calls come at once, and with the calls of a subagent. Three
//! proofs each: a file that the command would make, the host's record, and what the model is told. The table in docs/agents.md is made
//! from these runs.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use bashgate_tests::clients::{denial, table_is_in_documents};
use bashgate_tests::{Output, until};
use serde_json::{Value, json};

use super::agents::{Agent, Kind};

impl Agent {
    fn gated(kind: Kind, timeout: &str) -> Self {
        let agent = Self::of(kind);
        agent.manage(&["install", "--timeout", timeout]).expect(0);
        agent
    }

    /// Another program in the hook's place.
    fn replaced(&self, script: &str) {
        let hook = self.site.path().join("bin/bashgate-hook");
        std::fs::remove_file(&hook).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn is_on_record(&self, command: &str, answer: &str) -> bool {
        let is_it = |record: &Value| record["detail"]["command"] == command && record["detail"]["answer"] == answer;
        self.site.audit().iter().any(is_it)
    }

    /// What became of a command.
    fn word(&self, canary: &str, reason: &str) -> String {
        denial(self.ran(canary), &self.results(), reason)
    }
}

const HELD: &str = "curl -sL --max-time 1 http://127.0.0.1:9/; touch held";

fn measured(kind: Kind) -> BTreeMap<&'static str, String> {
    let mut rows = BTreeMap::new();
    // No host; then one that denies.
    let agent = Agent::gated(kind, "20");
    agent.run(&json!([agent.shell("touch alone; make -n")]));
    rows.insert("no host answers", agent.word("alone", "no host answers"));
    let host = agent.site.serve();
    let denied = "rm -rf /etc/bashgate; touch denied";
    agent.run(&json!([agent.shell("touch allowed; make -n"), agent.shell(denied)]));
    assert!(agent.ran("allowed") && agent.is_on_record("touch allowed; make -n", "allow"), "{kind:?}");
    assert!(agent.is_on_record(denied, "deny"), "{kind:?}");
    rows.insert("the host denies", agent.word("denied", "touches the gate"));

    // Several at once: each has its own answer.
    let calls: Vec<Value> = (0..3)
        .map(|number| agent.shell(&format!("curl -sL --max-time 1 http://127.0.0.1:9/; touch at-once-{number}")))
        .chain([agent.shell("rm -rf /etc/bashgate; touch at-once-denied")])
        .collect();
    agent.run(&json!([calls]));
    let ran = (0..3).all(|number| agent.ran(&format!("at-once-{number}")));
    assert!(ran && !agent.ran("at-once-denied"), "{kind:?}: {:?}", agent.results());
    rows.insert("several calls at once", "each by its own answer".to_owned());
    drop(host);

    for (what, answer) in [("a person approves", "approve"), ("a person denies", "deny")] {
        let agent = Agent::gated(kind, "60");
        let _host = agent.site.serve();
        agent.site.raise_both("default");
        let mut command = agent.command(&json!([agent.shell(HELD)]));
        let running = std::thread::spawn(move || Output::of(&mut command, b""));
        let id = agent.site.held(HELD);
        assert!(!agent.ran("held"), "{kind:?}: it waits");
        agent.site.cli([answer, &id]).expect(0);
        running.join().unwrap();
        assert_eq!(agent.ran("held"), answer == "approve", "{kind:?} {answer}: {:?}", agent.results());
        assert!(agent.is_on_record(HELD, if answer == "approve" { "allow" } else { "deny" }), "{kind:?} {answer}");
        let word = if answer == "approve" { "it waits, then runs".to_owned() } else { agent.word("held", "denied by") };
        rows.insert(what, word);
    }

    // The host dies while it is held, and another one goes on.
    let agent = Agent::gated(kind, "60");
    let mut host = agent.site.serve();
    agent.site.raise_both("default");
    let mut command = agent.command(&json!([agent.shell(HELD)]));
    let running = std::thread::spawn(move || Output::of(&mut command, b""));
    agent.site.held(HELD);
    host.kill();
    host = agent.site.serve();
    let id =
        until("it to be held again", || agent.site.pending().into_iter().next())["id"].as_str().unwrap().to_owned();
    assert!(!agent.ran("held"), "{kind:?}");
    agent.site.cli(["approve", &id]).expect(0);
    running.join().unwrap();
    assert!(agent.ran("held") && agent.is_on_record(HELD, "allow"), "{kind:?}: {:?}", agent.results());
    rows.insert("the host starts again while it is held", "held again, then runs".to_owned());
    drop(host);

    // What no hook can do anything about.
    for (what, script) in [
        ("the hook is killed", "kill -9 $$"),
        ("the hook ends with 1", "exit 1"),
        ("the hook talks nonsense", "echo fine"),
        ("the hook is late", "sleep 8"),
    ] {
        let agent = Agent::gated(kind, "2");
        // Only where it is asked about a tool: without it Claude Code does not even take the prompt.
        agent.replaced(&format!("case $(cat) in *PreToolUse*) {script};; esac"));
        agent.run(&json!([agent.shell("touch canary")]));
        rows.insert(what, agent.word("canary", "\u{0}"));
    }
    let agent = Agent::gated(kind, "20");
    std::fs::remove_file(agent.site.path().join("bin/bashgate-hook")).unwrap();
    agent.run(&json!([agent.shell("touch canary")]));
    rows.insert("the hook is missing", agent.word("canary", "\u{0}"));
    rows
}

const WHAT: [&str; 11] = [
    "no host answers",
    "the host denies",
    "several calls at once",
    "a person approves",
    "a person denies",
    "the host starts again while it is held",
    "the hook is missing",
    "the hook is killed",
    "the hook ends with 1",
    "the hook talks nonsense",
    "the hook is late",
];
const START: &str = "<!-- made by `UPDATE_DOCS=1 make test` -->\n";
const END: &str = "<!-- end of what make test has made -->";

#[test]
fn claude_code_and_codex_do_as_the_documentation_says() {
    let all = std::thread::scope(|scope| {
        let kinds = [("Claude Code", Kind::Claude), ("Codex", Kind::Codex)];
        let running =
            kinds.map(|(title, kind)| (format!("{title} {}", kind.version()), scope.spawn(move || measured(kind))));
        running.map(|(title, rows)| (title, rows.join().unwrap()))
    });
    table_is_in_documents((START, END), &WHAT, &all);
}

/// What a subagent calls passes the same hook.
#[test]
fn calls_of_a_subagent_are_gated() {
    for kind in [Kind::Claude, Kind::Codex] {
        let agent = Agent::gated(kind, "20");
        let _host = agent.site.serve();
        let denied = "rm -rf /etc/bashgate; touch inner-denied";
        let inner = json!([agent.shell("touch inner; make -n"), agent.shell(denied)]);
        let prompt = "INNER: do what the model says";
        let call = match kind {
            Kind::Claude => json!({
                "name": "Agent", "inner": inner,
                "input": {"description": "a test", "prompt": prompt, "subagent_type": "general-purpose"},
            }),
            Kind::Codex => json!({
                "name": "spawn_agent", "inner": inner, "item": {"namespace": "multi_agent_v1"},
                "input": {"message": prompt},
            }),
        };
        agent.run(&json!([
            call,
            agent.shell("for i in 1 2 3 4 5 6 7 8; do test -e inner && break; sleep 1; done; sleep 2"),
            agent.shell("touch outer")
        ]));
        assert!(agent.ran("inner") && agent.ran("outer"), "{kind:?}: {:?}", agent.results());
        assert!(!agent.ran("inner-denied") && agent.is_on_record(denied, "deny"), "{kind:?}: {:?}", agent.results());
    }
}
