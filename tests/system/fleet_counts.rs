//! What counts in a fleet: its policy, what its hosts have seen, who belongs to it; and for how long.

use std::time::Duration;

use bashgate::fleet::signed::Statement as _;
use bashgate::fleet::wire::Words;
use bashgate_fleet::desk;
use bashgate_fleet::membership::Membership;
use bashgate_fleet::{HostName, MemberId};
use bashgate_tests::{Site, bin, pause, until};
use serde_json::Value;

use crate::fleet::{Fleet, Member};

/// Nobody may push, and a library is known.
const NO_PUSH: &str = r#"
[[policy.rules]]
action = "deny"
argv = ["git", "push"]
reason = "open a pull request"
match = ["git push origin main"]
not_match = ["git pull"]

[[examples]]
command = "git push"
outcome = "deny"
"#;

fn push(fleet: &Fleet, text: &str, more: &[&str]) -> bashgate_tests::Output {
    let file = fleet.folder.path().join("policy.toml");
    std::fs::write(&file, text).unwrap();
    fleet.cli(&[&["policy", "push", file.to_str().unwrap()], more].concat())
}

/// Which policy is in force on a host, as its fleet has heard; and why another one is not.
fn policy(fleet: &Fleet, host: &str) -> (Option<i64>, Option<String>) {
    let said = fleet.cli(&["policy", "list", "--json"]).expect(0).stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    let host = said["hosts"].as_array().unwrap().iter().find(|one| one["member"]["host"] == host).unwrap().clone();
    (host["in_force"].as_i64(), host["refused"][1].as_str().map(str::to_owned))
}

fn has(fleet: &Fleet, host: &str, number: Option<i64>) {
    until("the policy", || (policy(fleet, host).0 == number).then_some(()));
}

/// A host of a fleet that is kept.
fn member(fleet: &Fleet, name: &str, config: &str) -> Member {
    let site = Site::new("");
    site.configure(config);
    fleet.join(&site, name);
    let host = Some(site.serve());
    Member { site, host }
}

#[test]
fn a_policy_holds_where_it_is_to_once_it_was_checked_there() {
    let fleet = Fleet::new();
    let _kept = fleet.kept();
    let own = "[[policy.rules]]\naction = \"deny\"\nargv = [\"terraform\"]\nmatch = [\"terraform apply\"]\n";
    let (one, mut two) = (member(&fleet, "one", own), member(&fleet, "two", ""));
    has(&fleet, "one", None);
    has(&fleet, "two", None);
    let pushes = |member: &Member| member.site.check("git push origin main");
    // What is wrong in itself goes nowhere.
    for bad in [
        NO_PUSH.replace("\"git pull\"", "\"git push\""),
        NO_PUSH.replace("outcome = \"deny\"", "outcome = \"ask\""),
        "[chat.x]".to_owned(),
    ] {
        push(&fleet, &bad, &[]).expect(1);
    }
    push(&fleet, NO_PUSH, &["--first", "three"]).expect(1);
    // Some have it first, without a restart.
    push(&fleet, NO_PUSH, &["--first", "one"]).expect(0);
    has(&fleet, "one", Some(1));
    assert!(pushes(&one).expect(2).stderr.contains("pull request"));
    assert!(!pushes(&two).stderr.contains("pull request"));
    one.site.check("terraform apply").expect(2);
    fleet.cli(&["policy", "widen"]).expect(0);
    has(&fleet, "two", Some(1));
    pushes(&two).expect(2);
    // The next start has it from the start, also without the database.
    two.stops();
    two.starts();
    pushes(&two).expect(2);
    // What would come out too differently here is refused here, and there alone.
    for number in 0..12 {
        one.site.check(&format!("make step-{number}")).expect(0);
    }
    let harsh = format!("{NO_PUSH}\n[[policy.rules]]\naction = \"deny\"\nargv = [\"make\"]\nmatch = [\"make x\"]\n");
    push(&fleet, &harsh, &[]).expect(0);
    has(&fleet, "two", Some(2));
    until("word of it", || policy(&fleet, "one").1);
    let (in_force, why) = policy(&fleet, "one");
    let why = why.unwrap();
    assert!(in_force == Some(1) && why.contains("would be denied that are not now"), "{why}");
    let status = one.site.cli(["status"]).expect(0).stdout;
    assert!(status.contains("policy 1; BEHIND: policy 2 was refused here"), "{status}");
    one.site.check("make build").expect(0);
    two.site.check("make build").expect(2);
    assert!(fleet.cli(&["policy", "list"]).expect(0).stdout.contains("one  policy 1, BEHIND 2; 2 was refused there"));
    // One command back: the text of before, under a number of its own.
    fleet.cli(&["policy", "back"]).expect(0);
    has(&fleet, "one", Some(3));
    has(&fleet, "two", Some(3));
    two.site.check("make build").expect(0);
    pushes(&two).expect(2);
    assert_eq!(fleet.cli(&["policy", "show"]).expect(0).stdout, NO_PUSH);
    // What is on record says when it changed.
    let said: Vec<Value> =
        two.site.audit().into_iter().filter(|record| record["detail"]["event"] == "policy").collect();
    let numbers: Vec<i64> = said.iter().map(|record| record["detail"]["version"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    // A host that leaves has its own again.
    one.site.cli(["fleet", "leave"]).expect(0);
    until("its own policy", || (!pushes(&one).stderr.contains("pull request")).then_some(()));
    one.site.check("terraform apply").expect(2);
    let over = one.site.audit().into_iter().rfind(|record| record["detail"]["event"] == "policy").unwrap();
    assert_eq!(over["detail"]["version"], Value::Null, "that it is over is on record");
    // A start with a configuration that does not go with what is in force says so.
    push(&fleet, "[services.mail]\npublic_source = true\nsecret_data = false\n", &[]).expect(0);
    has(&fleet, "two", Some(4));
    two.stops();
    two.site.configure("[workspaces.room]\nclean_room = true\n");
    let refused = two.site.cli(["serve"]).expect(1);
    assert!(refused.stderr.contains("in force here") && refused.stderr.contains("bashgate fleet leave"), "{refused:?}");
}

#[test]
fn whoever_writes_the_database_sets_no_policy() {
    let fleet = Fleet::new();
    let _kept = fleet.kept();
    let mut one = member(&fleet, "one", "");
    push(&fleet, NO_PUSH, &[]).expect(0);
    has(&fleet, "one", Some(1));
    let sql = |text: &str| fleet.postgres.sql(text).expect(0).stdout;
    sql("CREATE TABLE old AS SELECT * FROM roll");
    push(&fleet, "", &[]).expect(0);
    has(&fleet, "one", Some(2));
    one.site.check("git push origin main").expect(0);
    // An earlier roll, a text that the roll does not name, no roll, a roll of nobody's: what is in force stays.
    for statement in [
        "UPDATE roll SET (text, signature, members) = (SELECT text, signature, members FROM old)",
        "UPDATE policy SET text = (SELECT text FROM policy WHERE number = 1)",
        "UPDATE roll SET members = '[]'",
        "UPDATE roll SET signature = repeat('0', 128)",
        "UPDATE roll SET text = replace(text, '\"number\":2', '\"number\":1')",
        "DELETE FROM roll; DELETE FROM policy",
    ] {
        sql(statement);
        one.stops();
        one.starts();
        one.arrives();
        pause(Duration::from_secs(1));
        let status = one.site.cli(["status"]).expect(0).stdout;
        assert!(status.contains("; policy 2"), "{statement}: {status}");
        one.site.check("git push origin main").expect(0);
    }
    // And the next word of the fleet's own puts everything right.
    push(&fleet, NO_PUSH, &[]).expect(0);
    has(&fleet, "one", Some(3));
    one.site.check("git push origin main").expect(2);
}

/// A folder that is put back from a backup does not take back what its key has signed since; nor does a copy of it.
#[test]
fn a_folder_that_is_put_back_takes_nothing_back() {
    let fleet = Fleet::new();
    let file = fleet.path().join("fleet.json");
    let kept = fleet.kept();
    let one = member(&fleet, "one", "");
    push(&fleet, "[policy]\nfloor = \"allow\"\n", &[]).expect(0);
    has(&fleet, "one", Some(1));
    let _two = member(&fleet, "two", "");
    let three = member(&fleet, "three", "");
    has(&fleet, "two", Some(1));
    let before = std::fs::read(&file).unwrap();
    let four = member(&fleet, "four", "");
    has(&fleet, "four", Some(1));
    // One that is made anew meanwhile.
    let five = member(&fleet, "five", "");
    has(&fleet, "five", Some(1));
    fleet.cli(&["revoke", "five"]).expect(0);
    five.site.cli(["fleet", "leave"]).expect(0);
    fleet.join(&five.site, "five");
    push(&fleet, NO_PUSH, &[]).expect(0);
    has(&fleet, "one", Some(2));
    fleet.cli(&["revoke", "two"]).expect(0);
    drop(kept);
    std::fs::write(&file, before).unwrap();
    let kept = fleet.kept();
    let listed = || fleet.cli(&["list"]).expect(0).stdout;
    let is = |line: &str| listed().lines().any(|listed| listed.starts_with(line));
    until("what was revoked", || is("two  revoked").then_some(()));
    assert!(!is("one  revoked") && !is("four  revoked") && is("four  "), "{}", listed());
    let roll = fleet.postgres.sql("SELECT members FROM roll").expect(0).stdout;
    assert!(roll.contains("\"one\"") && roll.contains("\"four\"") && !roll.contains("\"two\""), "{roll}");
    assert!(roll.contains("\"five\""), "{roll}");
    fleet.cli(&["revoke", "five"]).expect(0);
    let roll = fleet.postgres.sql("SELECT members FROM roll").expect(0).stdout;
    assert!(!roll.contains("\"five\""), "the one that lives: {roll}");
    has(&fleet, "one", Some(2));
    one.site.check("git push origin main").expect(2);
    // No number comes again.
    let pushed = push(&fleet, "[policy]\nfloor = \"ask\"\n", &[]).expect(0).stdout;
    assert!(pushed.contains("Policy 3 "), "{pushed}");
    has(&fleet, "four", Some(3));
    fleet.cli(&["policy", "back"]).expect(0);
    has(&fleet, "one", Some(4));
    one.site.check("git push origin main").expect(2);
    // Another copy of the folder: what was done there holds here, and the other way round.
    drop(kept);
    let mut older: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    // It had signed ahead while nothing could be written.
    older["rolled"]["number"] = 99_999.into();
    fleet.cli(&["revoke", "three"]).expect(0);
    std::fs::write(&file, older.to_string()).unwrap();
    push(&fleet, NO_PUSH, &[]).expect(0);
    let roll = fleet.postgres.sql("SELECT members FROM roll").expect(0).stdout;
    assert!(roll.contains("\"one\"") && !roll.contains("\"three\""), "{roll}");
    // What the key has not signed is taken in by nobody.
    let newer = std::fs::read(&file).unwrap();
    fleet.cli(&["sign", "--for", "1m"]).expect(0);
    fleet.postgres.sql("UPDATE roll SET members = '[]'").expect(0);
    std::fs::write(&file, newer).unwrap();
    let refused = fleet.cli(&["sign", "--for", "1m"]).expect(1);
    assert!(refused.stderr.contains("behind what its key has signed"), "{refused:?}");
    fleet.cli(&["sign", "--for", "99d"]).expect(64);
    drop((three, four));
}

/// A policy by which two hosts have one workspace, and a third one that has not made it.
const SHARED: &str =
    "[workspaces.shop]\non = [\"one.default\", \"two.default\", \"three.nowhere\"]\nwhen_unknown = \"secret\"\n";

fn taint(member: &Member) -> String {
    let shown = member.site.cli(["taint", "show", "default", "--json"]).expect(0).stdout;
    serde_json::from_str::<Value>(&shown).unwrap()["taint"].as_str().unwrap().to_owned()
}

fn is_tainted(member: &Member, wanted: &str) {
    until(wanted, || (taint(member) == wanted).then_some(()));
}

fn raise(member: &Member, label: &str, why: &str) {
    member.site.cli(["taint", "raise", "default", label, "--why", why]).expect(0);
}

#[test]
fn what_a_workspace_has_seen_on_one_host_it_has_seen_on_all() {
    let fleet = Fleet::new();
    let _kept = fleet.kept();
    let (mut one, two, three) = (member(&fleet, "one", ""), member(&fleet, "two", ""), member(&fleet, "three", ""));
    raise(&one, "corruption", "evil.example");
    push(&fleet, SHARED, &[]).expect(0);
    for host in ["one", "two", "three"] {
        has(&fleet, host, Some(1));
    }
    is_tainted(&two, "corruption");
    let shown = two.site.cli(["taint", "show", "default"]).expect(0).stdout;
    assert!(shown.contains("one.default: evil.example"), "{shown}");
    assert_eq!(taint(&three), "clean", "it is not shared with that one");
    raise(&three, "secret", "nobody's business");
    // What a person clears here stays so, until something new is seen there.
    two.site.cli(["taint", "clear", "default"]).expect(0);
    pause(Duration::from_secs(3));
    assert_eq!((taint(&one), taint(&two)), ("corruption".to_owned(), "clean".to_owned()));
    raise(&one, "corruption", "other.example");
    is_tainted(&two, "corruption");
    // And back: a host tells what it has seen itself, not what it has heard.
    let heard = one.site.path().join("state/fleet-heard.json");
    let before = std::fs::read(&heard).unwrap();
    raise(&two, "secret", ".env");
    is_tainted(&one, "both");
    one.site.cli(["taint", "clear", "default"]).expect(0);
    pause(Duration::from_secs(3));
    assert_eq!(taint(&one), "clean");
    // Neither does a restart bring back what was cleared, where it has kept an older word of the other one either.
    one.stops();
    std::fs::write(&heard, before).unwrap();
    one.starts();
    one.arrives();
    until("the newer word", || std::fs::read_to_string(&heard).unwrap().contains(".env").then_some(()));
    is_tainted(&one, "clean");
    // A host that is revoked is waited for by nobody, and says nothing any more.
    let mut two = two;
    two.stops();
    two.starts();
    fleet.cli(&["revoke", "two"]).expect(0);
    raise(&two, "corruption", "late.example");
    one.stops();
    one.starts();
    pause(Duration::from_secs(2));
    is_tainted(&one, "clean");
}

fn epoch(member: &Member) -> u64 {
    let shown = member.site.cli(["taint", "show", "default", "--json"]).expect(0).stdout;
    serde_json::from_str::<Value>(&shown).unwrap()["epoch"].as_u64().unwrap()
}

/// While another host cannot be asked, a workspace counts as what the policy says, besides what is known; what was approved is over.
#[test]
fn a_workspace_is_as_strict_as_the_policy_says_while_others_cannot_be_asked() {
    let fleet = Fleet::new();
    let _kept = fleet.kept();
    let (mut one, mut two, three) = (member(&fleet, "one", ""), member(&fleet, "two", ""), member(&fleet, "three", ""));
    for host in ["one", "two", "three"] {
        has(&fleet, host, None);
    }
    let sql = |text: &str| fleet.postgres.sql(text).expect(0).stdout;
    sql("CREATE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER drops BEFORE INSERT OR UPDATE ON tells FOR EACH ROW WHEN (NEW.host = 'two') EXECUTE FUNCTION drops();
         CREATE TABLE kept_tells AS SELECT * FROM tells WHERE host = 'two'; DELETE FROM tells WHERE host = 'two'");
    let before = epoch(&one);
    push(&fleet, SHARED, &[]).expect(0);
    is_tainted(&one, "secret");
    assert!(epoch(&one) > before + 1, "once for the policy, and once for what it then counts as");
    // The third one says soon that it has no such workspace.
    let shown = || one.site.cli(["taint", "show", "default"]).expect(0).stdout;
    until("who cannot be asked", || shown().contains("two cannot be asked").then_some(()));
    // Somebody else's word is nobody's: of another host, changed, and from before the policy, which says nothing of this workspace.
    has(&fleet, "three", Some(1));
    for forged in [
        "SELECT 'two', 1, text, signature FROM tells WHERE host = 'three'",
        "SELECT 'two', 1, replace(text, '\"taints\":{}', '\"taints\":{\"default\":{\"taint\":\"clean\",\"mark\":\"x\",\"sources\":[]}}'), signature FROM kept_tells",
        "SELECT * FROM kept_tells",
    ] {
        sql(&format!(
            "ALTER TABLE tells DISABLE TRIGGER drops; INSERT INTO tells {forged}; ALTER TABLE tells ENABLE TRIGGER drops; NOTIFY bashgate_fleet"
        ));
        pause(Duration::from_secs(2));
        assert_eq!(taint(&one), "secret", "{forged}");
        sql("DELETE FROM tells WHERE host = 'two'");
    }
    sql("DROP TRIGGER drops ON tells");
    two.stops();
    two.starts();
    is_tainted(&one, "clean");
    // Who has spoken of late is known to the next start, too: nothing is asked anew.
    let before = epoch(&one);
    one.stops();
    one.starts();
    is_tainted(&one, "clean");
    assert_eq!(epoch(&one), before);
    // Where nobody says any more who belongs to the fleet, nobody is taken for revoked.
    one.stops();
    sql("DELETE FROM roll; CREATE TRIGGER drops BEFORE INSERT ON roll FOR EACH ROW EXECUTE FUNCTION drops()");
    std::fs::remove_file(one.site.path().join("state/fleet-roll.json")).unwrap();
    one.starts();
    is_tainted(&one, "secret");
    drop(three);
}

/// What a new policy denies is denied, also what was held before and somebody approves then.
#[test]
fn what_was_held_before_a_policy_is_asked_anew() {
    let fleet = Fleet::new();
    let _kept = fleet.kept();
    let one = member(&fleet, "one", "");
    has(&fleet, "one", None);
    one.site.raise_both("default");
    let command = "curl -s https://x.example/held";
    let running = one.site.check_later(command);
    let id = one.site.held(command);
    push(
        &fleet,
        &NO_PUSH
            .replace("\"git\", \"push\"", "\"curl\"")
            .replace("git push origin main", "curl x")
            .replace("git push", "curl x"),
        &[],
    )
    .expect(0);
    has(&fleet, "one", Some(1));
    one.site.cli(["approve", &id]);
    assert!(running.join().unwrap().expect(2).stderr.contains("pull request"));
}

/// A host that goes from one fleet to another in one go is of the second one alone.
#[test]
fn a_host_that_joins_another_fleet_at_once_hears_that_one_alone() {
    let (first, second) = (Fleet::new(), Fleet::new());
    let _kept = (first.kept(), second.kept());
    let one = member(&first, "one", "");
    push(&first, NO_PUSH, &[]).expect(0);
    has(&first, "one", Some(1));
    let token = second.token("other");
    let file = one.site.host_toml();
    let go = format!(
        "'{0}' fleet leave --config '{1}' && '{0}' fleet join '{2}' --config '{1}'",
        bin("bashgate").display(),
        file.display(),
        token.display()
    );
    bashgate_tests::Output::of(std::process::Command::new("sh").args(["-c", &go]), b"").expect(0);
    has(&second, "other", None);
    until("the other fleet", || (one.standing()["member"] == "other").then_some(()));
    until("its own policy", || (!one.site.check("git push origin main").stderr.contains("pull request")).then_some(()));
    push(&second, &NO_PUSH.replace("a pull request", "an issue"), &[]).expect(0);
    has(&second, "other", Some(1));
    assert!(one.site.check("git push origin main").expect(2).stderr.contains("an issue"));
    one.arrives();
    second.is_whole();
}

/// A member that holds on to its own role, and a list that was wrong for a while, keep nobody in and nobody out.
#[test]
fn who_is_revoked_is_shut_out_and_the_others_go_on() {
    let fleet = Fleet::new();
    let kept = fleet.kept();
    let (_one, two) = (member(&fleet, "one", ""), member(&fleet, "two", ""));
    has(&fleet, "one", None);
    has(&fleet, "two", None);
    let text = std::fs::read_to_string(two.site.path().join("state/fleet.json")).unwrap();
    let password = serde_json::from_str::<Value>(&text).unwrap()["password"].as_str().unwrap().to_owned();
    let role = fleet.postgres.sql("SELECT rolname FROM pg_roles WHERE rolname LIKE '%\\_two\\_1'").expect(0).stdout;
    std::thread::scope(|scope| {
        let holds = scope.spawn(|| {
            let hold = "BEGIN; ALTER ROLE CURRENT_USER PASSWORD 'x'; SELECT pg_sleep(60)";
            fleet.postgres.sql_as(role.trim(), &password, "fleet", hold)
        });
        pause(Duration::from_secs(1));
        fleet.postgres.sql("CREATE FUNCTION spoils() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.members := '[]'; RETURN NEW; END $$;
             CREATE TRIGGER spoils BEFORE UPDATE ON roll FOR EACH ROW EXECUTE FUNCTION spoils()").expect(0);
        fleet.cli(&["revoke", "two"]).expect(0);
        assert_ne!(holds.join().unwrap().code, Some(0), "its connection has ended");
    });
    let login = fleet.postgres.sql(&format!("SELECT rolcanlogin FROM pg_roles WHERE rolname = '{}'", role.trim()));
    assert_eq!(login.expect(0).stdout.trim(), "f");
    pause(Duration::from_secs(6));
    fleet.postgres.sql("DROP TRIGGER spoils ON roll").expect(0);
    push(&fleet, NO_PUSH, &[]).expect(0);
    has(&fleet, "one", Some(1));
    // Whoever keeps the fleet hangs on no connection.
    drop(kept);
}

/// What a host hears as long as the fleet says so, and no longer: a desk that is revoked, and everything when nobody says so any more.
#[test]
fn a_desk_is_heard_for_as_long_as_the_fleet_says_that_it_belongs_to_it() {
    let fleet = Fleet::new();
    fleet.cli(&["sign", "--for", "1h"]).expect(0);
    fleet.cli(&["enrol", "office", "--desk", "--no-wait"]).expect(0);
    let folder = fleet.folder.path().join("office");
    let token = fleet.folder.path().join("office.token");
    let mut join = std::process::Command::new(bin("bashgate"));
    join.args(["desk", "join"]).arg(&token).arg("--folder").arg(&folder);
    bashgate_tests::Output::of(&mut join, b"").expect(0);
    fleet.cli(&["list"]).expect(0);
    let membership = Membership::load(&folder).unwrap().unwrap();
    let key = membership.key(&folder).unwrap();
    let config = format!("[chat.office]\nkind = \"desk\"\nkey = \"{}\"\napprovers = [\"test:1\"]\n", key.public());
    let one = member(&fleet, "one", &config);
    fleet.cli(&["list"]).expect(0);
    one.arrives();
    one.site.raise_both("default");
    pause(Duration::from_secs(6));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (address, login) = bashgate_fleet::database::Address::parse(
        &fleet.postgres.url(),
        Some(fleet.postgres.password().to_owned()),
        None,
    )
    .unwrap();
    let client = runtime.block_on(address.connect(&login)).unwrap();
    let host = MemberId { host: HostName::parse("one").unwrap(), ..membership.member.clone() };
    let mut number = 0;
    let mut says = |text: &str| -> String {
        number += 1;
        let words = Words {
            member: host.clone(),
            nonce: format!("{number:032}"),
            at_ms: bashgate::clock::now().unix_ms,
            account: "test:1".to_owned(),
            name: "test".to_owned(),
            words: text.to_owned(),
            digest: None,
            on: None,
            sees_all: true,
        };
        runtime.block_on(async {
            let n = desk::say(&client, &host, &membership.member, &words.sign(&key)).await.unwrap();
            loop {
                let row = client.query_one("SELECT reply FROM said WHERE n = $1", &[&n]).await.unwrap();
                if let Some(reply) = row.get::<_, Option<String>>(0) {
                    return reply;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    };
    assert!(says("status").contains("up for"));
    // Nobody says any more what counts: no desk is heard, and the host says why.
    fleet.cli(&["sign", "--for", "8s"]).expect(0);
    assert!(says("status").contains("up for"));
    pause(Duration::from_secs(9));
    let refused = says("status");
    assert!(refused.contains("bashgate fleet run"), "{refused}");
    let status = one.site.cli(["status"]).expect(0).stdout;
    assert!(status.contains("NO DESK ANSWERS NOW") && status.contains("bashgate fleet run"), "{status}");
    fleet.cli(&["sign", "--for", "1h"]).expect(0);
    until("the desk to be heard", || says("status").contains("up for").then_some(()));
    // Revoked, and its key still in the host's configuration. Whoever runs the database lets it in all the same, and holds back nothing
    // that the host knows.
    fleet.postgres.sql("CREATE TABLE old AS SELECT * FROM roll").expect(0);
    fleet.cli(&["revoke", "office"]).expect(0);
    until("word of it", || says("status").contains("belongs to the fleet no more").then_some(()));
    fleet.postgres.sql("UPDATE roll SET (text, signature, members) = (SELECT text, signature, members FROM old); NOTIFY bashgate_fleet").expect(0);
    pause(Duration::from_secs(1));
    assert!(says("status").contains("belongs to the fleet no more"));
}
