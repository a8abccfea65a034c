//! Scripts that change: versions, what a card says of a change, which approval counts for what, and chains of an automation.

use std::fs;

use bashgate_tests::until;
use serde_json::{Value, json};

use super::Who;
use super::scripts::Ground;

impl Ground {
    /// A call that answers with JSON.
    #[track_caller]
    fn told(&self, arguments: &[&str], input: &Value) -> Value {
        let output = self.call(arguments, input);
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {output:?}"))
    }

    #[track_caller]
    fn edit(&self, id: &str, change: &Value) -> Value {
        self.told(&["edit", "--json", "--input", id], change)
    }

    /// The card of a run that a person then denies.
    #[track_caller]
    fn card_of(&self, id: &str) -> String {
        let running = self.start(id, &json!({}));
        let card = self.held();
        let id = card["id"].as_str().unwrap();
        let shown = self.site.cli(["show", id]).expect(0).stdout;
        self.site.cli(["deny", id]).expect(0);
        running.join().unwrap();
        shown
    }
}

#[test]
fn the_card_of_a_changed_script_says_what_is_different() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        let id = ground.create("echo one\necho two\n", &json!({"name": "steps"}));
        assert!(!ground.card_of(&id).contains("Compared with"), "there is nothing to compare with");
        assert_eq!(ground.approved(&id, &json!({}))["stdout"], "one\ntwo\n");
        let edited = ground.edit(&id, &json!({"content": "echo one\necho three\n", "capabilities": {"network": true}}));
        assert_eq!((&edited["id"], &edited["version"], &edited["edited_by"]), (&json!(id), &json!(2), &json!("llm")));
        let card = ground.card_of(&id);
        let compared =
            card.split_once("Compared with the script of this name that human:root approved").expect(&card).1;
        for line in ["| - # network:  no", "| + # network:  YES", "|   echo one", "| - echo two", "| + echo three"] {
            assert!(compared.contains(line), "{line}: {card}");
        }
        // A text cannot make a line of the card, nor hide one.
        ground.edit(&id, &json!({"content": "echo one\n# \u{1b}[2J\u{202e} x\n\n  Approve with: approve 00000000\n"}));
        let card = ground.card_of(&id);
        assert!(
            !card.contains('\u{1b}')
                && !card.contains('\u{202e}')
                && !card.contains("\n  Approve with: approve 00000000"),
            "{card}"
        );
        // What was approved runs without a question once it is restored.
        let restored = ground.told(&["restore", "--json", &id, "1"], &json!({}));
        assert_eq!((&restored["version"], &restored["edited_by"]), (&json!(4), &json!("user")));
        assert_eq!(ground.again(&id, &json!({}))["stdout"], "one\ntwo\n");
        assert!(ground.nothing_is_held());
        let versions = ground.told(&["versions", "--json", &id], &json!({}));
        let numbers: Vec<u64> =
            versions.as_array().unwrap().iter().map(|one| one["version"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        let difference = ground.told(&["diff", "--json", &id, "--from", "1", "--to", "2"], &json!({}));
        assert!(difference["difference"].as_str().unwrap().contains("- echo two\n+ echo three\n"), "{difference:#}");
        let plain = ground.call(&["diff", &id, "--from", "1", "--to", "4"], &json!({})).expect(0);
        assert_eq!(plain.stdout, "");
    }
}

/// A long change folds, is all of it shown when somebody asks, and outlives the host.
#[test]
fn a_long_change_folds_and_outlives_the_host() {
    let ground = Ground::new();
    let host = ground.site.serve();
    let lines = |word: &str| (0..500).fold(String::new(), |text, n| text + &format!("echo {word} {n}\n"));
    let id = ground.create(&lines("old"), &json!({"name": "long"}));
    ground.approved(&id, &json!({}));
    drop(host);
    let _host = ground.site.serve();
    ground.edit(&id, &json!({"content": lines("new")}));
    let running = ground.start(&id, &json!({}));
    let card = ground.held();
    let card = card["id"].as_str().unwrap();
    let whole = ground.site.cli(["show", card]).expect(0).stdout;
    assert!(whole.contains("| - echo old 499") && whole.contains("| + echo new 499"), "{whole}");
    let folded = ground.site.cli(["pending"]).expect(0).stdout;
    assert!(folded.lines().count() < 200, "{} lines", folded.lines().count());
    ground.site.cli(["deny", card]).expect(0);
    running.join().unwrap();
}

/// Which approval counts for what: only ever for manifest and text as a person saw them.
#[test]
fn an_approval_is_for_what_was_shown_whatever_the_files_say() {
    let ground = Ground::new();
    let _host = ground.site.serve();
    let id = ground.create("echo fine", &json!({"name": "fine"}));
    // What the host says to the one question that is approved, for whoever keeps it.
    let mailbox = ground.site.path().join("mailbox/default");
    let answers = mailbox.join("responses");
    let kept = std::thread::scope(|scope| {
        let kept = scope.spawn(|| {
            until("an answer", || {
                let mut all = fs::read_dir(&answers).ok()?.flatten().map(|entry| entry.path());
                let one = all.find(|path| path.file_stem().is_some_and(|name| name.len() == 36))?;
                fs::read(one).ok()
            })
        });
        ground.approved(&id, &json!({}));
        kept.join().unwrap()
    });
    let state = ground.path("state/scripts");
    let file = |ending: &str| state.join(format!("{id}.{ending}"));
    let (text, about) = (fs::read_to_string(file("sh")).unwrap(), fs::read_to_string(file("json")).unwrap());
    let put_back = || {
        for entry in fs::read_dir(&state).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(file("sh"), &text).unwrap();
        fs::write(file("json"), &about).unwrap();
    };
    let asked_or_refused = |what: &str, change: &dyn Fn()| {
        put_back();
        change();
        let running = ground.start(&id, &json!({}));
        if let Some(card) = ground.site.held_or_ended(&running) {
            ground.site.cli(["deny", &card]).expect(0);
        }
        let output = running.join().unwrap();
        assert!(!output.stdout.contains("\"success\":true"), "{what}: {output:?}");
    };
    let write = |ending: &str, content: &str| fs::write(file(ending), content).unwrap();
    asked_or_refused("swap of the text", &|| write("sh", "echo evil"));
    asked_or_refused("a link in the text's place", &|| {
        fs::write(state.join("evil.sh"), "echo fine").unwrap();
        fs::remove_file(file("sh")).unwrap();
        std::os::unix::fs::symlink(state.join("evil.sh"), file("sh")).unwrap();
    });
    asked_or_refused("a wider manifest", &|| write("json", &about.replace("\"network\": false", "\"network\": true")));
    for (what, from, to) in [
        ("another time", "\"timeout_hard_seconds\": 1800", "\"timeout_hard_seconds\": 1799"),
        ("a folder to write", "\"paths_write\": []", "\"paths_write\": [\"/srv\"]"),
        ("a file to read", "\"paths_read\": []", "\"paths_read\": [\"/srv\"]"),
        ("a program", "\"commands\": []", "\"commands\": [\"python3\"]"),
    ] {
        assert!(about.contains(from), "{about}");
        asked_or_refused(what, &|| write("json", &about.replace(from, to)));
    }
    asked_or_refused("the answer to an earlier question", &|| {
        write("sh", "echo evil");
        let (requests, answers, kept) = (mailbox.join("requests"), answers.clone(), kept.clone());
        std::thread::spawn(move || {
            until("a request", || {
                let name = fs::read_dir(&requests).ok()?.flatten().map(|entry| entry.file_name()).next()?;
                fs::write(answers.join(name), &kept).ok()
            });
        });
    });
    asked_or_refused("a forged approval in the file", &|| {
        write("sh", "echo evil");
        write("json", &about.replacen('{', "{\"approved\": true,", 1));
    });
    asked_or_refused("a change that somebody else wrote down", &|| {
        let about = about.replace("\"version\": 1", "\"version\": 2");
        write("next", &format!("{{\"about\": {about}, \"content\": \"echo evil\"}}"));
    });
    asked_or_refused("a version that was put in by hand", &|| {
        write("1.json", &format!("{{\"about\": {about}, \"content\": \"echo evil\"}}"));
        write("json", &about.replace("\"version\": 1", "\"version\": 2"));
        ground.call(&["restore", "--json", &id, "1"], &json!({}));
    });
    asked_or_refused("a version under another number", &|| {
        write("7.json", &format!("{{\"about\": {about}, \"content\": \"echo evil\"}}"));
        let output = ground.call(&["restore", "--json", &id, "7"], &json!({}));
        assert!(output.stdout.contains("error"), "{output:?}");
        write("sh", "echo evil");
    });
    put_back();
    // A stale hash in an action is told, and opens nothing.
    let action = |hash: &str| json!([{"type": "bash.run", "script_id": id, "capabilities": {}, "approved": true, "approved_hash": hash}]);
    let fine = ground.told(&["action", "--json", "-"], &action("00"));
    assert!(
        fine["success"] == true && fine["steps"][0]["remark"].as_str().unwrap().contains("another one"),
        "{fine:#}"
    );
    write("sh", "echo evil");
    let mut running = ground.command(&["action", "--json", "-"]);
    let input = action(&"0".repeat(64)).to_string();
    let running = std::thread::spawn(move || bashgate_tests::Output::of(&mut running, input.as_bytes()));
    let card = ground.held();
    ground.site.cli(["deny", card["id"].as_str().unwrap(), "no"]).expect(0);
    assert!(!running.join().unwrap().stdout.contains("evil\n"));
    put_back();
    // The approval that is revoked counts no more, whatever is restored.
    let hash = ground.told(&["show", "--json", &id], &json!({}))["approval_hash"].as_str().unwrap().to_owned();
    ground.site.cli(["scripts", "revoke", "default", &hash[..16]]).expect(0);
    let (_, output) = ground.denied(&id, "no more");
    assert!(output.stdout.contains("no more"), "{output:?}");
}

/// What is no text of a script: an error that says so, and what was there is as it was.
#[test]
fn what_is_no_text_changes_nothing() {
    let ground = Ground::new();
    let id = ground.create("echo fine", &json!({"name": "fine"}));
    let file = ground.path("in/text");
    for (what, bytes) in [
        ("10 MB", vec![b'x'; 10 << 20]),
        ("just too long", vec![b'x'; 64 * 1024 + 1]),
        ("a NUL byte", b"echo a\0b\n".to_vec()),
        ("no UTF-8", b"echo \xff\n".to_vec()),
        ("nothing", Vec::new()),
    ] {
        fs::write(&file, bytes).unwrap();
        let file = file.to_str().unwrap();
        for call in [vec!["edit", "--json", &id, file], vec!["create", "--json", file, "--name", "other"]] {
            let told = ground.told(&call, &json!({}));
            assert!(told["error"].is_string() && told["help"].is_string(), "{what}: {told:#}");
        }
    }
    let long = json!({"name": "other", "content": "x".repeat(10 << 20)});
    assert!(ground.told(&["create", "--json", "--input"], &long)["error"].is_string());
    assert!(
        ground.told(&["edit", "--json", "../../etc/passwd", file.to_str().unwrap()], &json!({}))["error"].is_string()
    );
    let about = ground.told(&["show", "--json", &id], &json!({}));
    assert_eq!((&about["content"], &about["version"]), (&json!("echo fine"), &json!(1)), "{about:#}");
    assert_eq!(ground.told(&["list", "--json"], &json!({})).as_array().unwrap().len(), 1);
}

/// A full disk in the middle of a change: an error, and the old version is as it was.
#[test]
fn a_full_disk_leaves_the_old_version() {
    let ground = Ground::new();
    let state = ground.text("state");
    // The folder of the state is a small disk of its own, for these calls alone.
    let script = format!(
        "set -e; mount -t tmpfs -o size=160k,nr_inodes=64,mode=700 none {state}\n\
         run() {{ {runner} scripts \"$1\" --state {state} \"${{@:2}}\"; }}\n\
         echo 'echo old' | run create - --name one > /dev/null\n\
         old=$(run show one)\n\
         head -c 130000 /dev/zero | tr '\\0' x > {state}/ballast\n\
         {{ echo -n 'echo '; head -c 20000 /dev/zero | tr '\\0' y; }} > /tmp/new\n\
         if run edit one /tmp/new 2> /tmp/error; then echo 'it fitted'; fi\n\
         cat /tmp/error; [ \"$old\" = \"$(run show one)\" ] && echo 'as it was'\n\
         ls -A {state}/scripts | grep -c next || true\n\
         rm {state}/ballast; run edit one /tmp/new > /dev/null && run versions one | wc -l",
        runner = bashgate_tests::bin("bashgate-run").display(),
    );
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "bash", "-c", &script]);
    let output = bashgate_tests::Output::of(&mut command, b"");
    assert!(output.stdout.contains("No space left") && output.stdout.contains("as it was\n0\n2\n"), "{output:?}");
}

#[test]
fn soft_failures_go_on_and_hard_ones_stop_the_chain() {
    let ground = Ground::new();
    let _host = ground.site.serve();
    let mut ids = Vec::new();
    for (name, content) in [("fine", "echo ${what}"), ("soft", "exit 3"), ("hard", "kill -9 $$"), ("high", "exit 130")]
    {
        let variables = if name == "fine" { json!(["what"]) } else { json!([]) };
        let id = ground.create(content, &json!({"name": name, "variables": variables}));
        let values = if name == "fine" { json!({"variables": {"what": "x"}}) } else { json!({}) };
        ground.approved(&id, &values);
        ids.push((name, id));
    }
    let action = |name: &str| {
        let id = &ids.iter().find(|(known, _)| *known == name).unwrap().1;
        let variables = if name == "fine" { json!({"what": "<${trigger.file.path}>"}) } else { json!({}) };
        json!({"type": "bash.run", "script_id": id, "script_name": name, "capabilities": {}, "variables": variables})
    };
    let known = json!({"trigger": {"file": {"path": "$(touch /srv/x) a b"}}});
    let chain = |names: &[&str]| {
        let actions: Vec<Value> = names.iter().map(|name| action(name)).collect();
        ground.told(&["action", "--json", "--input"], &json!({"actions": actions, "known": known}))
    };
    let all = chain(&["fine", "soft", "fine"]);
    assert_eq!((&all["exit_status"], &all["not_run"]), (&json!("soft_failure"), &json!(0)), "{all:#}");
    assert_eq!(all["steps"][2]["stdout"], "<$(touch /srv/x) a b>\n", "a value stays data");
    for hard in ["hard", "high"] {
        let stopped = chain(&["fine", hard, "fine", "fine"]);
        assert_eq!((&stopped["exit_status"], &stopped["not_run"]), (&json!("hard_failure"), &json!(2)), "{stopped:#}");
        assert_eq!(stopped["steps"].as_array().unwrap().len(), 2);
    }
    assert_eq!(chain(&["fine"])["success"], true);
    // One from a file, and what is wrong with an action is told and stops.
    let file = ground.path("action.json");
    fs::write(&file, action("fine").to_string()).unwrap();
    let path = file.to_str().unwrap();
    let output = ground.call(&["action", path, "--var", "trigger.file.path=y"], &json!({})).expect(0);
    assert_eq!(output.stdout, "<y>\n");
    for (wrong, want) in [
        (json!({"script_id": "nosuch"}), "no script"),
        (json!({"script_name": "other"}), "is called"),
        (json!({"capabilities": {"network": true}}), "asks for more"),
        (json!({"timeout_hard_seconds": 1801}), "more time"),
        (json!({"timeout_seconds": 1801}), "more time"),
        (json!({"variables": {"what": "${nobody}"}}), "nobody gave"),
        (json!({"working_directory": "/srv"}), "starts in"),
    ] {
        let mut one = action("fine");
        one.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let told =
            ground.told(&["action", "--json", "--input"], &json!({"actions": [one, action("fine")], "known": known}));
        assert_eq!((&told["exit_status"], &told["not_run"]), (&json!("hard_failure"), &json!(1)), "{told:#}");
        assert!(told["steps"][0]["error"].as_str().unwrap().contains(want), "{told:#}");
    }
    ground.call(&["action", "-"], &json!([])).expect(2);
    ground.call(&["action", "-"], &json!({"type": "bash.eval", "script_id": "x"})).expect(2);
    // Each run is on record at the host, by what was approved.
    let records = ground.site.audit();
    let about: Value = ground.told(&["show", "--json", "fine"], &json!({}));
    let hash = about["approval_hash"].as_str().unwrap();
    let runs = records.iter().filter(|record| record.to_string().contains(hash)).count();
    assert!(runs >= 6, "{runs} of {}", records.len());
}

#[test]
fn scripts_are_found_linked_and_kept_while_they_are_used() {
    let ground = Ground::new();
    let id = ground.create("echo", &json!({"name": "log-cleanup", "description": "Compresses old logs"}));
    ground.create("echo", &json!({"name": "backup", "description": "Packs the photos"}));
    let found = ground.told(&["find", "--json", "run", "my", "log", "cleanup", "script"], &json!({}));
    assert_eq!((&found[0]["id"], found.as_array().unwrap().len()), (&json!(id), 1), "{found:#}");
    ground.call(&["find", "translate a letter"], &json!({})).expect(1);
    let linked = ground.told(&["link", "--json", "log-cleanup", "nightly"], &json!({}));
    assert_eq!(linked["automation_ids"], json!(["nightly"]));
    let refused = ground.call(&["delete", "log-cleanup"], &json!({})).expect(2);
    assert!(refused.stderr.contains("is used by nightly"), "{refused:?}");
    ground.call(&["unlink", "log-cleanup", "nightly"], &json!({})).expect(0);
    ground.call(&["delete", "log-cleanup"], &json!({})).expect(0);
    let stale = ground.call(&["edit", "--json", "backup", "-", "--expect", "3"], &json!("echo new"));
    assert!(stale.stdout.contains("at version 1, not at 3"), "{stale:?}");
}
