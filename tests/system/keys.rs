//! The signing key is exchanged while hooks wait, and nobody who has the old one is believed any longer than the person says.

use std::path::PathBuf;

use bashgate_tests::{Site, until};

/// A hook's configuration that the host cannot reach: in an image, in another container.
fn elsewhere(site: &Site) -> PathBuf {
    let copy = site.path().join("image.toml");
    std::fs::copy(site.hook_toml(), &copy).unwrap();
    copy
}

fn key_of(file: &std::path::Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().find(|line| line.starts_with("public_key")).unwrap().to_owned()
}

#[test]
fn a_hook_that_waits_is_answered_with_the_key_that_it_believes() {
    let site = Site::default();
    let mut host = site.serve();
    site.raise("default", "corruption");
    site.raise("default", "secret");
    let old = elsewhere(&site);
    let command = "curl -s https://h.example/x";
    let running = site.check_later(command);
    let id = site.held(command);
    let said = site.cli(["key", "rotate"]).expect(0).stdout;
    assert!(said.contains("hook.toml has it") && said.contains("key retire"), "{said}");
    assert_ne!(key_of(&old), key_of(&site.hook_toml()));
    assert_eq!(
        key_of(&site.hook_toml()),
        format!("public_key = \"{}\"", site.cli(["key", "show"]).expect(0).stdout.trim())
    );
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    // Both keys count, also behind a restart.
    for _ in 0..2 {
        site.check("make").expect(0);
        site.check_with(&old, "make").expect(0);
        host.kill();
        host = site.serve();
    }
    site.cli(["key", "retire"]).expect(0);
    site.check("make").expect(0);
    let denied = site.check_with(&old, "make").expect(2);
    assert!(denied.stderr.contains("key"), "{denied:?}");
    site.cli(["audit", "verify"]).expect(0);
    let events: Vec<String> =
        site.audit().iter().filter_map(|record| Some(record["detail"]["event"].as_str()?.to_owned())).collect();
    assert!(events.iter().any(|event| event == "key rotated") && events.iter().any(|event| event == "old key retired"));
}

#[test]
fn a_key_that_somebody_else_may_have_counts_no_more_at_once() {
    let site = Site::default();
    let _host = site.serve();
    site.raise("default", "corruption");
    site.raise("default", "secret");
    let old = elsewhere(&site);
    let command = "curl -s https://h.example/x";
    let running = site.check_later(command);
    let id = site.held(command);
    site.cli(["key", "rotate", "--revoke"]).expect(0);
    let _ = site.cli(["approve", &id]);
    // Whatever the answer is signed with, the hook does not believe it: it denies, and does not wait for ever.
    running.join().unwrap().expect(2);
    site.check_with(&old, "make").expect(2);
    site.check("make").expect(0);
    // What is local needs nobody.
    site.check_with(&old, "ls").expect(0);
}

#[test]
fn at_most_two_keys_count() {
    let site = Site::default();
    let mut host = site.serve();
    let first = elsewhere(&site);
    site.cli(["key", "rotate"]).expect(0);
    let again = site.cli(["key", "rotate"]);
    // Either it is refused until the first exchange has ended, or the oldest key has ended.
    if again.code == Some(0) {
        site.check_with(&first, "make").expect(2);
    } else {
        assert!(again.stderr.contains("retire"), "{again:?}");
        site.check_with(&first, "make").expect(0);
    }
    site.check("make").expect(0);
    site.cli(["key", "retire"]).expect(0);
    let twice = site.cli(["key", "retire"]);
    assert!(!twice.stderr.contains("panicked"), "{twice:?}");
    site.check("make").expect(0);
    // Also while no host runs.
    host.kill();
    let before = elsewhere(&site);
    site.cli(["key", "rotate"]).expect(0);
    let _host = site.serve();
    site.check_with(&before, "make").expect(0);
    until("an answer", || (site.check("make").code == Some(0)).then_some(()));
}
