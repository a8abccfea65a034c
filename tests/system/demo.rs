//! The demo: no key, no network, no questions before it starts.

use std::process::Command;

use bashgate_tests::{Output, bin};

#[test]
fn the_demo_shows_an_allow_a_denial_and_an_approval() {
    // A network namespace without a network shows that none is needed.
    let mut command = Command::new("unshare");
    command.arg("-n").arg(bin("bashgate")).args(["demo", "--exit"]).env_clear().env("PATH", "/usr/bin:/bin");
    let output = Output::of(&mut command, b"").expect(0);
    let all = format!("{}{}", output.stdout, output.stderr);
    for part in [
        "let through",
        "denied",
        "Held in workspace default",
        "Approve with: approve ",
        "the demo says: approve",
        "approved by",
        "touches the gate",
        "14 events",
    ] {
        assert!(all.contains(part), "the demo lacks `{part}`:\n{all}");
    }
    assert!(output.stdout.matches("-> ").count() >= 12, "{}", output.stdout);
}

#[test]
fn a_demo_without_its_hook_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("bashgate");
    std::fs::copy(bin("bashgate"), &alone).unwrap();
    let output = Output::of(Command::new(alone).args(["demo", "--exit"]), b"").expect(1);
    assert!(output.stderr.contains("make build"), "{output:?}");
}
