//! The signing key is exchanged while hooks wait, and nobody who has the old one is believed any longer than the person says.

use std::path::PathBuf;

use std::process::Command;

use bashgate_tests::{Output, Site, bin, until};

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
    site.raise_both("default");
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
    site.raise_both("default");
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

/// Two people at once, and a disk without room: whatever became of it, what is written is whole and the hook believes the host.
#[test]
fn an_exchange_that_goes_wrong_leaves_keys_that_count() {
    for is_running in [true, false] {
        let site = Site::default();
        let mut host = Some(site.serve());
        if !is_running {
            host = None;
        }
        let outputs: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| site.cli(["key", "rotate"]))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(outputs.iter().any(|output| output.code == Some(0)), "{outputs:?}");
        assert!(outputs.iter().all(|output| !output.stderr.contains("panicked")), "{outputs:?}");
        let _host = host.unwrap_or_else(|| site.serve());
        until("an answer that the hook believes", || (site.check("make").code == Some(0)).then_some(()));
        let public = site.cli(["key", "show"]).expect(0).stdout;
        assert_eq!(key_of(&site.hook_toml()), format!("public_key = \"{}\"", public.trim()), "{outputs:?}");
        site.cli(["audit", "verify"]).expect(0);
    }
    // In a mount of its own, as root: an ordinary user has no disk to fill.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let site = Site::default();
    let state = site.path().join("state");
    let saved = site.path().join("saved");
    Output::of(Command::new("cp").arg("-a").arg(&state).arg(&saved), b"").expect(0);
    let script = "mount -t tmpfs -o size=2m,mode=700 none \"$1\" && cp -a \"$2/.\" \"$1/\" && head -c 9999999 /dev/zero > \"$1/filler\"; \
                  \"$3\" key rotate --config \"$4\"; echo \"exit $?\"; rm \"$1/filler\"; \"$3\" key show --config \"$4\"; ls \"$1\"";
    let before = key_of(&site.hook_toml());
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&state).arg(&saved).arg(bin("bashgate")).arg(site.host_toml());
    let output = Output::of(&mut command, b"").expect(0);
    assert!(!output.stdout.contains("exit 0") && !output.stderr.contains("panicked"), "{output:?}");
    assert_eq!(key_of(&site.hook_toml()), before, "{output:?}");
    let shown = output.stdout.lines().nth(1).unwrap();
    assert_eq!(before, format!("public_key = \"{shown}\""), "{output:?}");
    assert!(!output.stdout.lines().any(|name| name.contains(".tmp")), "{output:?}");
}
