//! Who is told when, who must answer together, and what is let through ahead: whatever service carries it.

use std::time::{Duration, Instant};

use bashgate_tests::{Site, pause, until};
use serde_json::Value;

use super::cases::{ASKED, Service as _, Stage, Who, sheet};
use super::telegram::Telegram;

/// A stage whose channel has these settings, too.
fn stage(config: &str, channel: &str) -> Stage<Telegram> {
    Stage::of(config, channel, |_| {})
}

#[test]
fn a_second_list_hears_of_what_nobody_has_answered() {
    let stage = stage("", "after_s = 3");
    let first = Instant::now();
    let running = stage.site.check_later(ASKED);
    let answered = stage.site.check_later("curl -s https://y.example");
    let id = stage.site.held("curl -s https://y.example");
    stage.site.cli(["deny", &id]).expect(0);
    answered.join().unwrap().expect(2);
    let card = stage.card(&stage.site.held(ASKED));
    assert!(first.elapsed() >= Duration::from_secs(3), "{:?}", first.elapsed());
    assert!(!stage.shown().iter().any(|shown| shown.text.contains("y.example")), "what was answered is nobody's news");
    stage.service.says(Who::Approver, &format!("deny {}", card.id()));
    running.join().unwrap().expect(2);
    stage.ends();
}

/// Seconds since 1970.
fn seconds() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

/// A channel's setting of quiet hours, between two minutes since 1970.
fn quiet(from: u64, until: u64) -> String {
    let at = |minute: u64| format!("{:02}:{:02}", minute % 1440 / 60, minute % 60);
    format!("quiet = \"{}-{} UTC\"", at(from), at(until))
}

#[test]
fn at_night_nobody_is_told_and_words_count_all_the_same() {
    // All day but one minute, which is not now.
    let minutes = seconds() / 60;
    let stage = stage("", &quiet(minutes + 721, minutes + 720));
    let running = stage.site.check_later(ASKED);
    let id = stage.site.held(ASKED);
    pause(Duration::from_secs(3));
    assert!(!stage.shown().iter().any(|shown| shown.text.contains(&id)), "nobody is told");
    stage.service.says(Who::Approver, &format!("deny {id}"));
    running.join().unwrap().expect(2);
    stage.ends();
}

/// What there was to tell meanwhile is told when the night is over, and what ends by itself is told at its end.
#[test]
fn what_was_said_at_night_is_told_in_the_morning() {
    // The night ends with this minute: there must be time for what is said in it.
    if seconds() % 60 > 40 {
        pause(Duration::from_secs(61 - seconds() % 60));
    }
    let minute = seconds() / 60;
    let stage = stage("", &quiet(minute, minute + 1));
    stage.site.cli(["workspace", "break-glass", "default", "--minutes", "1", "--why", "the deploy"]).expect(0);
    let is_told = |stage: &Stage<Telegram>| stage.shown().iter().any(|shown| shown.text.contains("For 1 minutes"));
    pause(Duration::from_secs(2));
    assert!(!is_told(&stage) || seconds() / 60 != minute, "it is night");
    stage.hears("For 1 minutes everything in default runs");
    stage.hears("What was let through ahead in default has ended");
    stage.ends();
}

/// Who answers for a workspace is named for it; what others say about it does not count, in the same room.
#[test]
fn a_workspace_may_have_approvers_of_its_own() {
    let stage = stage("[workspaces.web]\n", "approvers_of = { default = [\"999\"] }");
    let (running, card) = stage.ask(ASKED);
    let id = card.id();
    for word in ["approve", "deny"] {
        stage.service.says(Who::Approver, &format!("{word} {id}"));
    }
    stage.hears("you are not among those who may answer for workspace default");
    stage.service.says(Who::Approver, "pending");
    stage.hears("Nothing is held.");
    stage.service.says(Who::Approver, "deny all");
    stage.service.says(Who::Approver, "pause default");
    stage.hears("there is no workspace `default` here");
    assert_eq!(stage.site.pending().len(), 1, "nothing of it counts");
    stage.site.cli(["deny", &id]).expect(0);
    running.join().unwrap().expect(2);
    stage.ends();
}

/// One person with two accounts is one; two are two, wherever they say it.
#[test]
fn two_people_must_approve_what_the_policy_says() {
    let user = user();
    let config = format!(
        "[policy]\nhigh_risk = []\ntwo_people = [\"table\"]\n[people]\nann = [\"telegram:4201\"]\nbob = [\"{user}\"]\n"
    );
    let stage = stage(&config, "");
    let (running, card) = stage.ask(ASKED);
    assert!(card.text.contains("Two people must say yes"), "{}", card.text);
    let id = card.id();
    for again in ["another person must approve it, too", "two people must approve"] {
        stage.service.says(Who::Approver, &format!("approve {id}"));
        stage.hears(again);
    }
    assert_eq!(stage.site.pending().len(), 1, "one person twice is one");
    stage.says(&card.message, "ann said yes; another person must, too");
    stage.site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    let first = stage.site.audit().into_iter().find(|record| record["detail"]["event"] == "first of two").unwrap();
    assert_eq!(first["detail"]["person"], "ann");
    // Whoever sits at the host is one person at its terminal and on its page.
    let file = stage.site.path().join("bashgate.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"telegram:4201\"]", &format!("\"telegram:4201\", \"page:{user}\"]"))).unwrap();
    assert!(stage.site.cli(["config", "check"]).expect(1).stderr.contains("one person's only"));
    std::fs::write(&file, text).unwrap();
    // One is enough to deny.
    let (running, card) = stage.ask("curl -s https://y.example");
    stage.service.says(Who::Approver, &format!("approve {}", card.id()));
    stage.says(&card.message, "ann said yes");
    stage.service.says(Who::Approver, &format!("deny {}", card.id()));
    running.join().unwrap().expect(2);
    stage.ends();
}

#[test]
fn whose_account_nobody_knows_is_no_second_person() {
    let config = "[policy]\ntwo_people = [\"table\"]\nhigh_risk = []\n[people]\nann = [\"telegram:4201\"]\nbob = [\"telegram:77\"]\n";
    let stage = stage(config, "");
    let (running, card) = stage.ask(ASKED);
    stage.service.says(Who::Approver, &format!("approve {}", card.id()));
    stage.says(&card.message, "ann said yes");
    let refused = stage.site.cli(["approve", &card.id()]).expect(2);
    assert!(refused.stderr.contains("nobody knows whose account"), "{refused:?}");
    assert_eq!(stage.site.pending().len(), 1);
    stage.service.says(Who::Approver, &format!("deny {}", card.id()));
    running.join().unwrap().expect(2);
    stage.ends();
}

/// Everything that would be asked runs, on record and said; what is denied stays denied, and scripts are not approved by it.
#[test]
fn broken_glass_is_said_and_ends() {
    let stage = stage("", "");
    let missing = stage.site.cli(["workspace", "break-glass", "default", "--why", " "]).expect(2);
    assert!(missing.stderr.contains("say why"), "{missing:?}");
    let broken =
        stage.site.cli(["workspace", "break-glass", "default", "--minutes", "5", "--why", "the deploy"]).expect(0);
    let id = broken.stdout.split("deny ").nth(1).unwrap()[..8].to_owned();
    stage.hears("For 5 minutes everything in default runs that would be asked about");
    stage.site.check(ASKED).expect(0);
    assert_eq!(stage.last_decision()["rule"], "break-glass");
    stage.site.check("rm -rf /etc/bashgate").expect(2);
    assert!(stage.site.cli(["status"]).expect(0).stdout.contains("everything: the deploy"));
    stage.service.says(Who::Approver, &format!("deny {id}"));
    stage.hears("The approval counts no more");
    stage.hears(&format!("has ended ({id})"));
    let (running, card) = stage.ask(ASKED);
    stage.service.says(Who::Approver, &format!("deny {}", card.id()));
    running.join().unwrap().expect(2);
    // Nobody says so in a channel.
    stage.service.says(Who::Approver, "workspace break-glass default");
    stage.service.says(Who::Approver, "break-glass default");
    stage.is_through();
    assert!(stage.site.cli(["grants"]).expect(0).stdout.contains("Nothing is let through ahead"));
    stage.ends();
}

/// What ends a grant: the taint's epoch, the host's end; and it covers what goes where its settings said, by whom it was given.
#[test]
fn a_grant_ends_with_the_taint_and_with_the_host() {
    let mut stage = stage("[policy]\nhigh_risk = []\n", "");
    let grant = |stage: &Stage<Telegram>| {
        let (running, card) = stage.ask(ASKED);
        stage.site.cli(["approve", &card.id(), "grant", "9"]).expect(0);
        running.join().unwrap().expect(0);
        stage.site.check("curl -s https://x.example/2").expect(0);
    };
    let is_asked = |stage: &Stage<Telegram>| {
        let (running, card) = stage.ask("curl -s https://x.example/3");
        stage.site.cli(["deny", &card.id()]).expect(0);
        running.join().unwrap().expect(2);
    };
    grant(&stage);
    stage.site.cli(["taint", "clear", "default"]).expect(0);
    stage.hears("What was let through ahead in default has ended");
    stage.site.raise_both("default");
    is_asked(&stage);
    grant(&stage);
    stage.host.kill();
    stage.host = stage.site.serve();
    is_asked(&stage);
    // None is offered where text and files do not say where it goes.
    for open in [
        "curl -s https://x.example $(date)",
        "curl -s -K more.cfg https://x.example",
        "ssh h.example ls",
        "python3 x.py; curl -s https://x.example",
    ] {
        let running = stage.site.check_later(open);
        let id = until("a card", || stage.site.pending().into_iter().next())["id"].as_str().unwrap().to_owned();
        let refused = stage.site.cli(["approve", &id, "grant"]).expect(2);
        assert!(refused.stderr.contains("no grant is offered"), "{open}: {refused:?}");
        stage.site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
    stage.ends();
}

/// The user that runs this, as the host names them.
fn user() -> String {
    let id = std::process::Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

#[test]
fn codes_are_made_shown_once_and_taken_away() {
    let site = Site::new("");
    // Without a host, too.
    let codes = sheet(&site, "telegram:1");
    assert_eq!(codes.len(), 100);
    let _host = site.serve();
    let again = site.cli(["codes", "new", "telegram:1"]).expect(0).stdout;
    assert!(again.contains("  1  ") && again.contains("100  ") && !again.contains(&codes[0]), "{again}");
    let listed: Value = serde_json::from_str(&site.cli(["codes", "list", "--json"]).expect(0).stdout).unwrap();
    assert_eq!(listed[0]["left"], 100);
    for wrong in ["", "two words"] {
        assert!(site.cli(["codes", "new", wrong]).expect(2).stderr.contains("is no account"));
    }
    site.cli(["codes", "remove", "telegram:1"]).expect(0);
    site.cli(["codes", "remove", "telegram:1"]).expect(2);
    assert!(site.cli(["codes", "list"]).expect(0).stdout.contains("Nobody has codes"));
}
