//! Desks that answer for the hosts of a fleet: through a real PostgreSQL that dies, lies and is written by somebody else.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bashgate_tests::{Dice, Killed, Output, Site, bin, pause, rounds, until};
use serde_json::Value;

use super::cases::{ASKED, Buttons as _, Service, Shown, Who, sheet};
use super::telegram::Telegram;
use crate::fleet::{Fleet, Member};

/// A desk, and the process that runs it.
pub(crate) struct Desk {
    pub(crate) folder: PathBuf,
    key: String,
    pub(super) running: Option<Child>,
}

impl Drop for Desk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: {}", self.folder.display(), self.said());
        }
        self.dies();
    }
}

impl Desk {
    pub(crate) fn starts(&mut self) {
        let mut command = Command::new(bin("bashgate"));
        let log = std::fs::File::options().create(true).append(true).open(self.folder.join("log")).unwrap();
        command
            .args(["desk", "--folder"])
            .arg(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let before = self.said().matches("shows and hears").count();
        self.running = Some(command.spawn().unwrap());
        until("the desk", || (self.said().matches("shows and hears").count() > before).then_some(()));
    }

    pub(crate) fn dies(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.kill().unwrap();
            running.wait().unwrap();
        }
    }

    pub(super) fn said(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

/// Two hosts and two desks of one fleet, and a room in which both desks may speak.
pub(crate) struct World {
    // Before the folders that they lie in are gone.
    pub(crate) desks: Vec<Desk>,
    pub(crate) hosts: Vec<Member>,
    pub(super) service: Telegram,
    _kept: Killed,
    pub(crate) fleet: Fleet,
}

const HOSTS: [&str; 2] = ["web-1", "web-2"];

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{:#?}", self.cards());
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::heard_by("", &[Who::Approver.id()])
    }

    /// With more in each host's configuration, and these people, whom desks and hosts hear.
    pub(crate) fn heard_by(config: &str, people: &[i64]) -> Self {
        Self::on(Fleet::new(), config, people)
    }

    /// The same with a fleet's database of some kind.
    pub(super) fn on(fleet: Fleet, config: &str, people: &[i64]) -> Self {
        let service = Telegram::start();
        let kept = fleet.kept();
        let mut desks: Vec<Desk> = ["office", "home"].iter().map(|name| desk(&fleet, &service, name, people)).collect();
        let hosts = HOSTS.iter().map(|name| {
            let site = Site::new("");
            let mut text = config.to_owned();
            for (desk, name) in desks.iter().zip(["office", "home"]) {
                let people: Vec<String> = people.iter().map(|id| format!("telegram:{id}")).collect();
                text.push_str(&format!(
                    "[chat.{name}]\nkind = \"desk\"\nkey = \"{}\"\napprovers = {people:?}\n",
                    desk.key
                ));
            }
            site.configure(&text);
            fleet.join(&site, name);
            let host = Some(site.serve());
            Member { site, host }
        });
        let hosts: Vec<Member> = hosts.collect();
        fleet.cli(&["list"]).expect(0);
        for host in &hosts {
            host.arrives();
            host.site.raise_both("default");
            works(&host.site);
        }
        for desk in &mut desks {
            desk.starts();
        }
        // A host that has only just started hears no desk.
        pause(Duration::from_secs(6));
        Self { desks, hosts, service, _kept: kept, fleet }
    }

    /// From now on hosts hear whoever runs a desk in its terminal and on its page.
    pub(crate) fn hears_terminals(&mut self) {
        let user = bashgate::control::user_name(rustix::process::geteuid().as_raw());
        for host in &mut self.hosts {
            host.stops();
            let file = host.site.host_toml();
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, text.replace("approvers = [", &format!("approvers = [\"desk:{user}\", "))).unwrap();
            host.starts();
        }
    }

    pub(super) fn cards(&self) -> Vec<Shown> {
        let all = self.service.messages().into_iter();
        all.map(|shown| Shown { text: shown.text.replace("\n      : ", ""), ..shown }).collect()
    }

    pub(super) fn card(&self, id: &str) -> Shown {
        until("a card", || self.cards().into_iter().find(|shown| shown.text.contains(&format!("approve {id}"))))
    }

    pub(super) fn hears(&self, what: &str) -> Shown {
        until(what, || self.cards().into_iter().find(|shown| shown.text.contains(what)))
    }

    pub(super) fn approves(&self, id: &str) {
        self.service.says(Who::Approver, &format!("approve {id}"));
    }

    /// Says it until it counts: who hears nothing of it says it again.
    pub(super) fn says_until_it_counts(&self, words: &str, running: &JoinHandle<Output>) {
        until("the answer to count", || {
            let before = Instant::now();
            self.service.says(Who::Approver, words);
            while before.elapsed() < Duration::from_secs(3) {
                if running.is_finished() {
                    return Some(());
                }
                pause(Duration::from_millis(20));
            }
            None
        });
    }

    /// Nothing is lost, doubled or let through that is not in both records.
    pub(crate) fn ends(self) {
        assert_eq!(self.service.complaints(), Vec::<String>::new());
        for host in &self.hosts {
            host.arrives();
            host.site.cli(["audit", "verify"]).expect(0);
        }
        self.fleet.is_whole();
    }
}

fn works(site: &Site) {
    until("the host's way to desks", || {
        let listed = site.cli(["chat", "list", "--json"]).expect(0).stdout;
        (listed.contains("\"works\":true") && !listed.contains("\"works\":false")).then_some(())
    });
}

fn desk(fleet: &Fleet, service: &Telegram, name: &str, people: &[i64]) -> Desk {
    fleet.cli(&["enrol", name, "--desk", "--no-wait"]).expect(0);
    let token = fleet.folder.path().join(format!("{name}.token"));
    let folder = fleet.folder.path().join(name);
    bashgate(&["desk", "join", token.to_str().unwrap()], &folder).expect(0);
    fleet.cli(&["list"]).expect(0);
    let people: Vec<String> = people.iter().map(i64::to_string).collect();
    let config = format!("{}approvers = {people:?}\n", service.config(&folder));
    std::fs::write(folder.join("desk.toml"), config).unwrap();
    let said = bashgate(&["desk", "check"], &folder).expect(0).stdout;
    let key = said.split("key = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(fleet.cli(&["list"]).expect(0).stdout.contains(&key));
    Desk { folder, key, running: None }
}

pub(crate) fn bashgate(words: &[&str], folder: &Path) -> Output {
    Output::of(Command::new(bin("bashgate")).args(words).arg("--folder").arg(folder), b"")
}

/// The last decision of a host, and what the fleet has of it.
fn decision(world: &World, at: usize) -> Value {
    let host = &world.hosts[at];
    host.arrives();
    let last = host.site.audit().into_iter().rfind(|record| record["kind"] == "decision").unwrap();
    let there = world.fleet.postgres.sql(&format!(
        "SELECT body::jsonb #>> '{{detail,by}}' FROM record WHERE host = '{}' AND seq = {}",
        HOSTS[at], last["seq"]
    ));
    assert_eq!(there.expect(0).stdout.trim(), last["detail"]["by"].as_str().unwrap());
    last["detail"].clone()
}

#[test]
fn who_answers_at_a_desk_answers_for_each_host() {
    let world = World::new();
    let (one, two) = (&world.hosts[0].site, &world.hosts[1].site);
    let running = one.check_later(ASKED);
    let id = one.held(ASKED);
    let card = world.card(&id);
    assert!(card.text.contains("workspace web-1.default") && card.text.contains(ASKED), "{}", card.text);
    let other = two.check_later("curl -s https://y.example");
    let denied = two.held("curl -s https://y.example");
    world.card(&denied);
    // Who may not answer is heard by nobody; who may is told how both hosts stand.
    world.service.says(Who::Stranger, &format!("approve {id}"));
    world.service.says(Who::Approver, "pending");
    let pending = world.hears(" s  curl -s https://");
    assert!(pending.text.contains(&id) && pending.text.contains(&denied), "{}", pending.text);
    world.service.says(Who::Approver, "status");
    world.hears("web-2: ");
    assert_eq!((one.pending().len(), two.pending().len()), (1, 1));
    world.approves(&id);
    running.join().unwrap().expect(0);
    world.hears(&format!("Approved: {id}"));
    world.service.presses(Who::Approver, &world.card(&denied).message, "Deny");
    assert!(other.join().unwrap().expect(2).stderr.contains("4201"));
    until("both cards to be over", || world.cards().iter().all(|shown| shown.buttons.is_empty()).then_some(()));
    // Each was shown once, though two desks run.
    let shown = world.cards().iter().filter(|shown| shown.text.contains("| curl -s https://")).count();
    assert_eq!(shown, 2);
    let by = decision(&world, 0)["by"].to_string();
    assert!(by.contains("telegram:4201 (") && by.contains(" at "), "{by}");
    decision(&world, 1);
    // A workspace's words go to its host.
    let before = world.cards().len();
    world.service.says(Who::Approver, "taint web-2.default");
    until("the taint", || world.cards().into_iter().skip(before).find(|shown| shown.text.contains("secret")));
    // What was let through ahead is ended by an id that no desk shows.
    let ahead = two.cli(["workspace", "break-glass", "default", "--minutes", "5", "--why", "a test"]).expect(0).stdout;
    let ahead: String = ahead.split("deny ").nth(1).unwrap().chars().take(8).collect();
    world.service.says(Who::Approver, &format!("deny {ahead}"));
    world.hears(&format!("counts no more: {ahead}"));
    world.service.says(Who::Approver, "deny 00000000");
    world.hears("under this id at any host");
    world.service.says(Who::Approver, "deny all");
    world.hears("nothing is held");
    world.ends();
}

#[test]
fn a_desk_that_dies_leaves_everything_to_the_next_one() {
    let mut world = World::new();
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    let holder = world.fleet.postgres.sql("SELECT holder FROM channel").expect(0).stdout;
    // The one that speaks dies; which one that is, is nobody's business.
    let mut left = 2;
    while left == 2 {
        world.desks[0].dies();
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end && world.fleet.postgres.sql("SELECT holder FROM channel").expect(0).stdout == holder
        {
            pause(Duration::from_millis(200));
        }
        if world.fleet.postgres.sql("SELECT holder FROM channel").expect(0).stdout == holder {
            world.desks[0].starts();
            world.desks.swap(0, 1);
        } else {
            left = 1;
        }
    }
    world.says_until_it_counts(&format!("approve {id}"), &running);
    running.join().unwrap().expect(0);
    until("the card to be over", || world.cards().iter().all(|shown| shown.buttons.is_empty()).then_some(()));
    assert_eq!(world.cards().iter().filter(|shown| shown.text.contains(&format!("| {ASKED}"))).count(), 1);
    world.desks[0].starts();
    world.ends();
}

#[test]
fn what_somebody_writes_into_the_database_answers_nothing() {
    let mut world = World::new();
    let sql = |world: &World, text: &str| world.fleet.postgres.sql(text).expect(0).stdout;
    // An answer as it was, to be used again.
    let first = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    world.approves(&id);
    first.join().unwrap().expect(0);
    until("the answer", || (!sql(&world, "SELECT n FROM said WHERE reply IS NOT NULL").is_empty()).then_some(()));
    // The desks are gone: whatever is answered now, nobody has said.
    for desk in &mut world.desks {
        desk.dies();
    }
    let running = world.hosts[0].site.check_later(ASKED);
    let again = world.hosts[0].site.held(ASKED);
    let other = world.hosts[1].site.check_later(ASKED);
    let there = world.hosts[1].site.held(ASKED);
    let insert = "INSERT INTO said (host, number, desk, desk_number, text, signature) ";
    let from = "FROM said WHERE reply IS NOT NULL ORDER BY n LIMIT 1";
    // Who runs the database is held by none of its rules.
    sql(&world, "ALTER TABLE said DROP CONSTRAINT said_text_check");
    for statement in [
        // The same once more; for the new card; for the other host; under the other desk's name; by nobody.
        format!("{insert} SELECT host, number, desk, desk_number, text, signature {from}"),
        format!("{insert} SELECT host, number, desk, desk_number, replace(text, '{id}', '{again}'), signature {from}"),
        format!(
            "{insert} SELECT 'web-2', number, desk, desk_number, replace(text, '{id}', '{there}'), signature {from}"
        ),
        format!("{insert} SELECT 'web-2', number, desk, desk_number, text, signature {from}"),
        format!("{insert} SELECT host, number, 'home', 1, text, signature {from}"),
        format!("{insert} SELECT host, number, desk, desk_number, 'approve {again}', '' {from}"),
        format!("{insert} SELECT host, number, desk, desk_number, text, reply_signature {from}"),
        format!("{insert} SELECT host, number, desk, desk_number, repeat('x', 10000000), signature {from}"),
        format!("{insert} SELECT host, number, desk, desk_number, '', '' FROM generate_series(1, 2000) {}", ""),
        "NOTIFY bashgate_hosts, 'approve'".to_owned(),
    ] {
        let statement = statement.replace(
            "'', '' FROM generate_series(1, 2000) ",
            "'', '' FROM (SELECT * FROM said WHERE reply IS NOT NULL ORDER BY n LIMIT 1) AS s, generate_series(1, 2000)",
        );
        sql(&world, &statement);
    }
    until("all of it to be refused", || {
        (sql(&world, "SELECT count(*) FROM said WHERE reply IS NULL AND length(text) < 20000").trim() == "0")
            .then_some(())
    });
    // As if nothing had been heard of it: all of it is handed to hosts again, and refused once more.
    sql(&world, "UPDATE said SET reply = NULL, reply_signature = NULL WHERE length(text) < 20000");
    sql(&world, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE '%web%'");
    until("all of it to be refused again", || {
        (sql(&world, "SELECT count(*) FROM said WHERE reply IS NULL AND length(text) < 20000").trim() == "0")
            .then_some(())
    });
    assert_eq!((world.hosts[0].site.pending().len(), world.hosts[1].site.pending().len()), (1, 1));
    assert!(
        world.hosts[0].host.as_ref().unwrap().said.lock().unwrap().contains("none of this host's desks has signed")
    );
    // What a host holds that it has not signed is shown by no desk; a real one is, with whatever else is there.
    sql(&world, &format!("UPDATE question SET text = replace(text, 'curl', 'true') WHERE id = '{again}'"));
    sql(&world, "INSERT INTO question VALUES ('web-9', 1, 'abcdefgh', '{}', '')");
    for desk in &mut world.desks {
        desk.starts();
    }
    world.card(&there);
    assert!(!world.cards().iter().any(|shown| shown.text.contains(&again)));
    world.service.says(Who::Approver, &format!("deny {there}"));
    other.join().unwrap().expect(2);
    // The host itself always answers.
    world.hosts[0].site.cli(["deny", &again]).expect(0);
    running.join().unwrap().expect(2);
    sql(&world, "DELETE FROM question WHERE host = 'web-9'");
    world.ends();
}

#[test]
fn a_database_that_is_away_delays_nobody_but_the_desks() {
    let mut world = World::new();
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    world.fleet.postgres.kill();
    world.approves(&id);
    // Held it stays, and the host itself decides.
    let other = world.hosts[0].site.check_later("curl -s https://y.example");
    let here = world.hosts[0].site.held("curl -s https://y.example");
    world.hosts[0].site.cli(["approve", &here]).expect(0);
    other.join().unwrap().expect(0);
    until("word of it", || {
        world.hosts[0].site.cli(["status"]).expect(0).stdout.contains("NO DESK ANSWERS NOW").then_some(())
    });
    world.fleet.postgres.start();
    for host in &world.hosts {
        until("the way back", || (!host.site.cli(["status"]).expect(0).stdout.contains("NO DESK")).then_some(()));
    }
    let third = world.hosts[1].site.check_later("curl -s https://z.example");
    let asked = world.hosts[1].site.held("curl -s https://z.example");
    world.card(&asked);
    // What was said while nobody could bring it may be lost, and is said again.
    world.says_until_it_counts(&format!("approve {id}"), &running);
    world.says_until_it_counts(&format!("approve {asked}"), &third);
    running.join().unwrap().expect(0);
    third.join().unwrap().expect(0);
    world.ends();
}

/// Whoever holds a desk's key can say what he likes in the name of its people: where two must approve, what only they know counts.
#[test]
fn no_desk_speaks_for_both_of_two_people() {
    let second = Who::Stranger.id();
    let config = format!(
        "[policy]\ntwo_people = [\"table\"]\nhigh_risk = []\n[people]\nann = [\"telegram:4201\"]\nbob = [\"telegram:{second}\"]\n"
    );
    let world = World::heard_by(&config, &[Who::Approver.id(), second]);
    let site = &world.hosts[0].site;
    let running = site.check_later(ASKED);
    let id = site.held(ASKED);
    world.card(&id);
    world.approves(&id);
    world.hears("you have no sheet of codes");
    let (ann, bob) = (sheet(site, "telegram:4201"), sheet(site, &format!("telegram:{second}")));
    world.approves(&id);
    world.hears("this takes code 1 of your sheet");
    world.service.says(Who::Approver, &format!("approve {id} {}", ann[0]));
    world.hears("another person must approve it, too");
    // The first one's codes are not the second one's.
    let asked = |shown: &&Shown| shown.text.contains("this takes code 1 of your sheet");
    until("the second to be asked", || {
        // The card says by now who was the first: before that is shown, it is not the one that counts.
        world.service.says(Who::Stranger, &format!("approve {id}"));
        pause(Duration::from_secs(1));
        (world.cards().iter().filter(asked).count() >= 2).then_some(())
    });
    world.service.says(Who::Stranger, &format!("approve {id} {}", ann[1]));
    world.hears("that is not code 1 of your sheet");
    assert_eq!(site.pending().len(), 1);
    world.service.says(Who::Stranger, &format!("approve {id} {}", bob[0]));
    running.join().unwrap().expect(0);
    world.ends();
}

/// A host that holds hundreds of commands hides none of another's.
#[test]
fn a_host_that_floods_hides_nothing_of_another_one() {
    let mut world = World::new();
    // As a host that is taken over: more questions than anybody looks at, which it has not even signed.
    let flood = "INSERT INTO question SELECT 'web-2', 1, lpad(n::text, 8, '0'), repeat('x', 20000), repeat('0', 128) \
                 FROM generate_series(1, 5000) AS n";
    world.fleet.postgres.sql(flood).expect(0);
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    world.approves(&id);
    running.join().unwrap().expect(0);
    // And signed ones: so many are told, and the others are there for who looks.
    let asked: Vec<_> =
        (0..40).map(|n| world.hosts[1].site.check_later(&format!("curl -s https://y.example/{n}"))).collect();
    until("all of them", || (world.hosts[1].site.pending().len() == 40).then_some(()));
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    let told = world.cards().iter().filter(|shown| shown.text.contains("| curl -s https://y.example/")).count();
    assert!(told <= 30, "{told}");
    world.approves(&id);
    running.join().unwrap().expect(0);
    world.service.says(Who::Approver, "deny all in web-2.default");
    for one in asked {
        one.join().unwrap().expect(2);
    }
    // No host locks what others use.
    let token = world.fleet.token("web-3");
    let token: Value = serde_json::from_str(&std::fs::read_to_string(token).unwrap()).unwrap();
    let role = world.fleet.postgres.sql("SELECT rolname FROM pg_roles WHERE rolname LIKE '%web-3%'").expect(0).stdout;
    for table in ["question", "said", "head", "host", "record", "channel", "fleet"] {
        let locks = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; COMMIT");
        let locked = world.fleet.postgres.sql_as(role.trim(), token["password"].as_str().unwrap(), "fleet", &locks);
        assert!(locked.code != Some(0) && locked.stderr.contains("permission denied"), "{table}: {locked:?}");
    }
    world.fleet.cli(&["revoke", "web-3"]).expect(0);
    // Its own host takes away what it does not hold, when it starts.
    world.hosts[1].stops();
    world.hosts[1].starts();
    let left = || world.fleet.postgres.sql("SELECT count(*) FROM question WHERE host = 'web-2'").expect(0).stdout;
    until("its questions to go", || (left().trim() == "0").then_some(()));
    world.ends();
}

/// Whoever runs a desk answers in its own terminal, where hosts hear that.
#[test]
fn who_runs_a_desk_answers_in_its_terminal_where_hosts_hear_that() {
    let mut world = World::new();
    let user = bashgate::control::user_name(rustix::process::geteuid().as_raw());
    let folder = world.desks[0].folder.clone();
    let top = || bashgate(&["desk", "top", "--once"], &folder);
    let say = |words: &str| {
        let command = bashgate::control::ControlCommand::say(words);
        bashgate::control::ask(&bashgate::state::socket(&folder), &command).unwrap().unwrap()
    };
    let first = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    until("the card", || top().expect(0).stdout.contains(&id).then_some(()));
    let shown = top().expect(0).stdout;
    assert!(
        shown.contains("web-1.default") && shown.contains("Held: 1") && shown.contains("that of 2 hosts"),
        "{shown}"
    );
    // The host that does not name him does not hear him.
    let refused = say(&format!("approve {id}"));
    assert!(!refused.ok && !first.is_finished(), "{refused:?}");
    world.hears_terminals();
    // A host that has only just started hears no desk.
    until("the answer to count", || {
        pause(Duration::from_secs(1));
        let told = say(&format!("approve {id}"));
        (told.ok || first.is_finished()).then_some(())
    });
    first.join().unwrap().expect(0);
    let by = decision(&world, 0)["by"].to_string();
    assert!(by.contains(&format!("desk:{user}")), "{by}");
    until("its card to be over", || say("pending").text.contains("Nothing is held").then_some(()));
    assert!(say("help").ok && !say("how are you").ok && !say("approve 00000000").ok);
    // One desk in a folder: another one would answer in its place.
    let second = bashgate(&["desk"], &folder).expect(1);
    assert!(second.stderr.contains("runs in this folder already"), "{second:?}");
    world.desks[0].dies();
    assert!(top().expect(1).stderr.contains("no desk is running"));
    world.desks[0].starts();
    until("the desk to show", || top().expect(0).stdout.contains("that of 2 hosts").then_some(()));
    world.ends();
}

/// When a team is told is its channel's business, at a desk as at a host.
#[test]
fn a_team_is_told_when_it_wants_to_be() {
    let mut world = World::new();
    let with = |world: &mut World, line: &str| {
        for desk in &mut world.desks {
            desk.dies();
            let file = desk.folder.join("desk.toml");
            let text = std::fs::read_to_string(&file).unwrap();
            let kept: Vec<&str> =
                text.lines().filter(|line| !line.starts_with("after_s") && !line.starts_with("quiet")).collect();
            std::fs::write(&file, format!("{}\n{line}\n", kept.join("\n"))).unwrap();
            desk.starts();
        }
        // Until what the dead ones were given is over.
        until("a desk to speak", || {
            let speaks =
                world.fleet.postgres.sql("SELECT until - now() > interval '12 seconds' FROM channel").expect(0).stdout;
            (speaks.trim() == "t").then_some(())
        });
    };
    // Only what nobody has answered for a while.
    with(&mut world, "after_s = 5");
    let asked = Instant::now();
    let running = world.hosts[0].site.check_later(ASKED);
    let id = world.hosts[0].site.held(ASKED);
    world.card(&id);
    assert!(asked.elapsed() >= Duration::from_secs(4), "{:?}", asked.elapsed());
    world.approves(&id);
    running.join().unwrap().expect(0);
    // Not at night, but who asks is told.
    let minute = bashgate::clock::now().unix_ms / 60_000 % 1440;
    let at = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    with(&mut world, &format!("quiet = \"{}-{} UTC\"", at(minute + 1439), at(minute + 30)));
    let other = "curl -s https://night.example";
    let running = world.hosts[1].site.check_later(other);
    let id = world.hosts[1].site.held(other);
    pause(Duration::from_secs(4));
    assert!(!world.cards().iter().any(|shown| shown.text.contains("night.example")));
    world.service.says(Who::Approver, "pending");
    world.hears(" s  curl -s https://night.example");
    world.service.says(Who::Approver, &format!("deny {id}"));
    running.join().unwrap().expect(2);
    world.ends();
}

/// Hosts, desks and the server die at random moments around a question. Each is answered as somebody said, once, and on both records.
#[test]
fn whoever_dies_nothing_is_lost_or_doubled() {
    let mut dice = Dice::thrown("deaths in a fleet");
    // Most of it is waiting: in a soak several fleets suffer beside one another.
    let (fleets, deaths) = (rounds(1, 5), rounds(8, 200));
    std::thread::scope(|scope| {
        for fleet in 0..fleets {
            let dice = Dice::new(dice.below(1 << 30) as u64);
            scope.spawn(move || they_die(fleet, dice, deaths));
        }
    });
}

fn they_die(fleet: usize, mut dice: Dice, deaths: usize) {
    let mut world = World::new();
    let mut allowed = [0, 0];
    for number in 0..deaths {
        let at = dice.below(2);
        let command = format!("curl -s https://x.example/{number}");
        let running = world.hosts[at].site.check_later(&command);
        let id = world.hosts[at].site.held(&command);
        let approves = dice.below(2) == 0;
        let words = format!("{} {id}", if approves { "approve" } else { "deny" });
        if dice.below(2) == 0 {
            world.card(&id);
            world.service.says(Who::Approver, &words);
        }
        pause(Duration::from_millis(dice.below(400) as u64));
        match dice.below(5) {
            host @ (0 | 1) => {
                world.hosts[host].stops();
                world.hosts[host].starts();
            }
            desk @ (2 | 3) => {
                world.desks[desk - 2].dies();
                pause(Duration::from_millis(dice.below(400) as u64));
                world.desks[desk - 2].starts();
            }
            _ => {
                world.fleet.postgres.kill();
                pause(Duration::from_millis(dice.below(400) as u64));
                world.fleet.postgres.start();
            }
        }
        world.says_until_it_counts(&words, &running);
        running.join().unwrap().expect(if approves { 0 } else { 2 });
        allowed[at] += usize::from(approves);
        if (number + 1) % 50 == 0 {
            println!("fleet {fleet}: {} deaths", number + 1);
        }
    }
    for (host, allowed) in world.hosts.iter().zip(allowed) {
        let audit = host.site.audit();
        let decisions: Vec<&Value> = audit.iter().filter(|record| record["kind"] == "decision").collect();
        let about: std::collections::BTreeSet<&str> =
            decisions.iter().map(|record| record["request_id"].as_str().unwrap()).collect();
        assert_eq!(about.len(), decisions.len(), "each is decided once");
        assert_eq!(decisions.iter().filter(|record| record["detail"]["answer"] == "allow").count(), allowed);
    }
    world.ends();
}
