//! A fleet whose database fails over, fills up, hangs, and whose clocks differ: hosts decide, nothing is lost or doubled, and desks answer
//! again when they can.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use bashgate::audit::{Entry, RecordKind};
use bashgate::fleet::wire::Shown;
use bashgate::store::{Store, Write};
use bashgate_fleet::membership::Membership;
use bashgate_fleet::statement::{Question, Signed, Statement as _};
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use bashgate_tests::{Host, Output, Postgres, Site, pause, until};
use serde_json::{Value, json};

use super::cases::{ASKED, Service as _, Who};
use super::desks_of_a_fleet::World;
use crate::fleet::{Fleet, Member};

/// How each command on record was answered.
fn answers(member: &Member, command: &str) -> Vec<String> {
    let audit = member.site.audit();
    let of = audit.iter().filter(|record| record["kind"] == "decision" && record["detail"]["command"] == command);
    of.map(|record| record["detail"]["answer"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_copy_that_lacks_the_last_seconds_takes_over() {
    let mut world = World::new();
    let early = world.hosts[0].site.check_later(ASKED);
    let first = world.hosts[0].site.held(ASKED);
    world.card(&first);
    let copy = world.fleet.postgres.copied();
    // What the copy lacks: an answer with all that it led to, another question, another roll.
    world.approves(&first);
    early.join().unwrap().expect(0);
    world.hosts[0].arrives();
    world.hears(&format!("Approved: {first}"));
    let other = "curl -s https://y.example";
    let late = world.hosts[1].site.check_later(other);
    let second = world.hosts[1].site.held(other);
    world.card(&second);
    world.fleet.cli(&["sign", "--for", "1h"]).expect(0);
    world.fleet.postgres.fails_over(copy);
    // Nothing is asked or answered twice.
    world.says_until_it_counts(&format!("deny {second}"), &late);
    late.join().unwrap().expect(2);
    assert_eq!(
        (answers(&world.hosts[0], ASKED).as_slice(), answers(&world.hosts[1], other).as_slice()),
        (["allow".to_owned()].as_slice(), ["deny".to_owned()].as_slice())
    );
    until("all cards to be over", || world.cards().iter().all(|shown| shown.buttons.is_empty()).then_some(()));
    for asked in [ASKED, other] {
        assert_eq!(
            world.cards().iter().filter(|shown| shown.text.contains(&format!("| {asked}"))).count(),
            1,
            "{asked}"
        );
    }
    world.ends();
}

#[test]
fn a_disk_that_is_full_keeps_nobody_from_deciding() {
    let mut world = World::on(Fleet::on(Postgres::on_a_disk_of(96)), "", &[Who::Approver.id()]);
    // All of it, but for what the server has set aside.
    let filler = world.fleet.postgres.data_folder().join("filler");
    let mut fill = Command::new("dd");
    fill.args(["if=/dev/zero", "bs=64k"]).arg(format!("of={}", filler.display()));
    assert_ne!(Output::of(&mut fill, b"").code, Some(0), "it is full");
    let mut number = 0;
    until("word of it", || {
        number += 1;
        let long = format!("make step-{number} {}", "x".repeat(20_000));
        world.hosts[0].site.check(&long);
        world.hosts[0].standing()["trouble"].is_string().then_some(())
    });
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.hosts[0].site.cli(["approve", &id]).expect(0);
    running.join().unwrap().expect(0);
    std::fs::remove_file(filler).unwrap();
    if world.fleet.postgres.has_ended() {
        world.fleet.postgres.kill();
        world.fleet.postgres.start();
    }
    let other = world.hosts[1].site.check_later(ASKED);
    let id = world.hosts[1].site.held(ASKED);
    world.says_until_it_counts(&format!("approve {id}"), &other);
    other.join().unwrap().expect(0);
    world.ends();
}

#[test]
fn a_server_that_hangs_delays_nobody_but_the_desks() {
    let world = World::new();
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    world.fleet.postgres.hangs();
    // Of those who wait for the server nobody keeps the host.
    let other = "curl -s https://y.example";
    let local = world.hosts[0].site.check_later(other);
    let here = world.hosts[0].site.held(other);
    world.hosts[0].site.cli(["approve", &here]).expect(0);
    local.join().unwrap().expect(0);
    world.approves(&id);
    until("word of it", || {
        world.hosts[0].site.cli(["status"]).expect(0).stdout.contains("NO DESK ANSWERS NOW").then_some(())
    });
    assert_eq!(answers(&world.hosts[0], ASKED), [""; 0]);
    world.fleet.postgres.goes_on();
    world.says_until_it_counts(&format!("approve {id}"), &running);
    running.join().unwrap().expect(0);
    world.ends();
}

/// A host whose clock is off by so many seconds.
fn serve_at(site: &Site, seconds: i64) -> Host {
    let mut command = site.host_command();
    command.env("LD_PRELOAD", "/usr/$LIB/faketime/libfaketime.so.1").envs([
        ("FAKETIME", format!("{seconds:+}s")),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]);
    Host::start(&mut command)
}

#[test]
fn a_clock_that_is_wrong_is_said_and_lets_nothing_through() {
    let mut world = World::new();
    // As long as it has heard no newer word of the fleet, a clock that is behind shows by the desk's alone.
    let behind = ["differ", "has not come yet"];
    for (seconds, why) in [(600, ["is this clock right"; 2]), (180, ["differ"; 2]), (-240, behind)] {
        world.hosts[0].stops();
        world.hosts[0].host = Some(serve_at(&world.hosts[0].site, seconds));
        // A host that has only just started hears no desk.
        pause(Duration::from_secs(7));
        let running = world.hosts[0].site.check_later(ASKED);
        let id = world.hosts[0].site.held(ASKED);
        world.card(&id);
        let before = world.cards().len();
        world.approves(&id);
        let says = |text: &str| why.iter().any(|why| text.contains(why));
        until("why not", || world.cards().iter().skip(before).any(|shown| says(&shown.text)).then_some(()));
        world.hosts[0].site.cli(["deny", &id]).expect(0);
        running.join().unwrap().expect(2);
    }
    assert!(answers(&world.hosts[0], ASKED).iter().all(|answer| answer == "deny"));
    world.hosts[0].stops();
    world.hosts[0].starts();
    pause(Duration::from_secs(7));
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.says_until_it_counts(&format!("approve {id}"), &running);
    running.join().unwrap().expect(0);
    world.ends();
}

#[test]
fn what_a_host_has_recorded_in_a_week_away_is_sent_in_order() {
    const RECORDS: u64 = 20_000;
    let mut fleet = Fleet::new();
    let site = Site::default();
    fleet.join(&site, "far");
    let mut far = Member { host: Some(site.serve()), site };
    fleet.cli(&["list"]).expect(0);
    far.arrives();
    far.stops();
    fleet.postgres.kill();
    let store = Store::open(&bashgate::state::store(&far.site.path().join("state"))).unwrap();
    let (now, week) = (bashgate::clock::now().unix_ms, 7 * 86_400_000);
    let entry = |number: u64| Entry {
        at_ms: now - week + number * week / RECORDS,
        kind: RecordKind::Decision,
        workspace: WorkspaceName::parse("default"),
        request_id: RequestId::parse(&format!("00000000-0000-4000-8000-{number:012x}")),
        detail: json!({"command": format!("make step-{number}"), "answer": "allow"}),
    };
    for first in (0..RECORDS).step_by(1000) {
        store.write_now((first..first + 1000).map(|number| Write::Audit(entry(number))).collect()).unwrap();
    }
    drop(store);
    far.starts();
    // It decides meanwhile, and says what it waits with.
    far.site.check("ls").expect(0);
    far.site.check("make build").expect(0);
    until("word of it", || far.site.cli(["status"]).expect(0).stdout.contains("NOTHING GOES THERE NOW").then_some(()));
    fleet.postgres.start();
    far.arrives();
    let count = fleet.postgres.sql("SELECT count(*) FROM record WHERE body LIKE '%make step-%'").expect(0).stdout;
    assert_eq!(count.trim(), RECORDS.to_string());
    fleet.is_whole();
}

/// A fleet that an earlier version has made, with hosts of that version and of this one.
#[test]
fn tables_of_an_earlier_version_are_brought_up_to_this_one() {
    let fleet = Fleet::new();
    let member = {
        let site = Site::default();
        fleet.join(&site, "one");
        let host = Some(site.serve());
        Member { site, host }
    };
    fleet.cli(&["list"]).expect(0);
    member.arrives();
    fleet
        .postgres
        .sql("DROP TABLE roll, policy, tells, checkpoint; ALTER TABLE host DROP CONSTRAINT short; UPDATE fleet SET version = 1")
        .expect(0);
    // A newer host on older tables sends what it records, and says what it misses.
    let ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE '%one%'";
    fleet.postgres.sql(ends).expect(0);
    until("word of it", || {
        member.standing()["desks"].as_str().is_some_and(|why| why.contains("older version")).then_some(())
    });
    fleet.cli(&["list"]).expect(0);
    member.site.check("make build").expect(0);
    member.arrives();
    until("all to be well", || member.standing()["desks"].is_null().then_some(()));
    assert_eq!(fleet.postgres.sql("SELECT version FROM fleet").expect(0).stdout.trim(), "2");
    fleet.postgres.sql("UPDATE fleet SET version = 3").expect(0);
    let refused = fleet.cli(&["list"]).expect(1);
    assert!(refused.stderr.contains("version 3") && refused.stderr.contains("newer bashgate"), "{refused:?}");
}

/// A hostile host takes the id of what another one holds. Whoever has read its card lets nothing else run by that.
#[test]
fn no_host_answers_under_another_hosts_id() {
    let mut world = World::new();
    let state = world.hosts[0].site.path().join("state");
    let membership = Membership::load(&state).unwrap().unwrap();
    let key = membership.key(&state).unwrap();
    let sql = |text: &str| world.fleet.postgres.sql(text).expect(0).stdout;
    let mine = world.hosts[0].site.check_later("curl -s https://harmless.example");
    let own = world.hosts[0].site.held("curl -s https://harmless.example");
    world.card(&own);
    let text = sql(&format!("SELECT text FROM question WHERE id = '{own}'"));
    let question: Question = serde_json::from_str(text.trim()).unwrap();
    let as_mine = |id: &str| {
        let mut card: Value = serde_json::from_str(&question.shown.card).unwrap();
        card["id"] = id.into();
        let shown = Shown { id: id.to_owned(), card: card.to_string(), ..question.shown.clone() };
        let Signed { text, signature } = Question { shown, ..question.clone() }.sign(&key);
        let text = text.replace('\'', "''");
        sql(&format!(
            "INSERT INTO question VALUES ('web-1', 1, '{id}', '{text}', '{signature}'); NOTIFY bashgate_desks"
        ));
    };
    // The other one's card is up already: neither of them is answered here.
    let first = world.hosts[1].site.check_later(ASKED);
    let id = world.hosts[1].site.held(ASKED);
    world.card(&id);
    as_mine(&id);
    world.hears("Two hosts hold something under this id");
    world.approves(&id);
    pause(Duration::from_secs(2));
    sql(&format!("DELETE FROM question WHERE id = '{id}' AND host = 'web-1'"));
    pause(Duration::from_secs(2));
    world.approves(&id);
    pause(Duration::from_secs(3));
    assert!(!first.is_finished(), "not when it is given up, either");
    world.hosts[1].site.cli(["deny", &id]).expect(0);
    first.join().unwrap().expect(2);
    // The hostile one is there first, since whoever administers the database holds the other one back; then he exchanges them.
    sql("CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER drops BEFORE INSERT ON question FOR EACH ROW WHEN (NEW.host = 'web-2') EXECUTE FUNCTION drops()");
    let second = world.hosts[1].site.check_later("curl -s https://steal.example");
    let id = world.hosts[1].site.held("curl -s https://steal.example");
    as_mine(&id);
    world.card(&id);
    sql(&format!("DROP TRIGGER drops ON question; DELETE FROM question WHERE id = '{id}'"));
    world.hosts[1].stops();
    world.hosts[1].starts();
    let there = || sql(&format!("SELECT count(*) FROM question WHERE id = '{id}' AND host = 'web-2'"));
    until("the other one's", || (there().trim() == "1").then_some(()));
    pause(Duration::from_secs(6));
    world.approves(&id);
    pause(Duration::from_secs(4));
    assert!(!second.is_finished());
    assert!(!world.cards().iter().any(|shown| shown.text.contains("steal.example")), "it is not shown under that id");
    world.hosts[1].site.cli(["deny", &id]).expect(0);
    second.join().unwrap().expect(2);
    // Its own cards are answered as ever.
    world.approves(&own);
    mine.join().unwrap().expect(0);
    world.ends();
}

/// Who asks a desk that hangs and does not wait has asked nothing.
#[test]
fn what_was_given_up_at_a_desk_that_hung_is_not_done_later() {
    let mut world = World::new();
    world.hears_terminals();
    let folder = world.desks[0].folder.clone();
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    pause(Duration::from_secs(6));
    let signal = |what| {
        let running = world.desks[0].running.as_ref().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_child(running), what).unwrap();
    };
    let say = || {
        let mut stream = std::os::unix::net::UnixStream::connect(bashgate::state::socket(&folder)).unwrap();
        let command = bashgate::control::ControlCommand::say(format!("approve {id}"));
        writeln!(stream, "{}", serde_json::to_string(&command).unwrap()).unwrap();
        stream
    };
    signal(rustix::process::Signal::STOP);
    let given_up = say();
    pause(Duration::from_millis(500));
    drop(given_up);
    pause(Duration::from_secs(1));
    signal(rustix::process::Signal::CONT);
    pause(Duration::from_secs(4));
    assert!(!running.is_finished());
    // Who waits is heard.
    let waits = say();
    let told = std::io::read_to_string(waits).unwrap();
    assert!(told.contains("web-1: Approved"), "{told}");
    running.join().unwrap().expect(0);
    world.ends();
}

/// Hosts of other versions: what a desk can read of a card it shows, and what it cannot hides nothing else.
#[test]
fn a_card_of_another_version_is_shown_or_answered_at_its_host() {
    let world = World::new();
    let state = world.hosts[0].site.path().join("state");
    let membership = Membership::load(&state).unwrap().unwrap();
    let key = membership.key(&state).unwrap();
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    let text = world.fleet.postgres.sql(&format!("SELECT text FROM question WHERE id = '{id}'")).expect(0).stdout;
    let question: Question = serde_json::from_str(text.trim()).unwrap();
    let put = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut card: Value = serde_json::from_str(&question.shown.card).unwrap();
        card["id"] = name.into();
        change(&mut card);
        let shown = Shown { id: name.to_owned(), card: card.to_string(), ..question.shown.clone() };
        let Signed { text, signature } = Question { shown, ..question.clone() }.sign(&key);
        let text = text.replace('\'', "''");
        let insert = format!("INSERT INTO question VALUES ('web-1', 1, '{name}', '{text}', '{signature}')");
        world.fleet.postgres.sql(&insert).expect(0);
    };
    // What an earlier host does not say yet, and what a later one says besides.
    put("aaaaaaaa", &|card| {
        let card = card.as_object_mut().unwrap();
        for later in ["waiting", "outage", "also", "demands", "grant", "way", "forecast", "advice"] {
            card.remove(later);
        }
        card.insert("command".to_owned(), "curl -s https://early.example".into());
    });
    put("bbbbbbbb", &|card| card["command"] = json!({"of": "another kind"}));
    put("cccccccc", &|card| {
        card["something"] = "new".into();
        card["command"] = "curl -s https://late.example".into();
    });
    let other = world.hosts[1].site.check_later(ASKED);
    let there = world.hosts[1].site.held(ASKED);
    world.card(&there);
    pause(Duration::from_secs(2));
    let is_shown = |what: &str| world.cards().iter().any(|shown| shown.text.contains(what));
    assert!(is_shown("early.example") && !is_shown("bbbbbbbb"));
    // An answer to what this host does not hold does nothing.
    world.service.says(Who::Approver, "approve aaaaaaaa");
    world.hears("aaaaaaaa");
    world.approves(&id);
    running.join().unwrap().expect(0);
    world.approves(&there);
    other.join().unwrap().expect(0);
    world.fleet.postgres.sql("DELETE FROM question WHERE id IN ('aaaaaaaa', 'bbbbbbbb', 'cccccccc')").expect(0);
    world.ends();
}
