//! Many hosts, one record: with a real PostgreSQL server that dies, lies and is put back.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bashgate_tests::{Host, Killed, Output, Postgres, Site, bin, until};
use serde_json::Value;

/// A fleet: its database and the folder of whoever runs it.
pub(crate) struct Fleet {
    pub(crate) postgres: Postgres,
    pub(crate) folder: tempfile::TempDir,
}

/// A host of it.
pub(crate) struct Member {
    pub(crate) site: Site,
    pub(crate) host: Option<Host>,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        Self::on(Postgres::default())
    }

    pub(crate) fn on(postgres: Postgres) -> Self {
        let fleet = Self { postgres, folder: tempfile::tempdir().unwrap() };
        fleet.cli(&["init", &fleet.postgres.url()]).expect(0);
        fleet
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(bin("bashgate"));
        command.arg("fleet").args(words).arg("--folder").arg(self.path()).current_dir(self.folder.path());
        command.env("PGPASSWORD", self.postgres.password());
        command
    }

    pub(crate) fn cli(&self, words: &[&str]) -> Output {
        Output::of(&mut self.command(words), b"")
    }

    /// A new host that belongs to it, and runs.
    fn member(&self, name: &str) -> Member {
        let site = Site::default();
        self.join(&site, name);
        let host = Some(site.serve());
        let member = Member { site, host };
        self.cli(&["list"]).expect(0);
        member.arrives();
        member
    }

    pub(crate) fn token(&self, name: &str) -> PathBuf {
        self.cli(&["enrol", name, "--no-wait"]).expect(0);
        self.folder.path().join(format!("{name}.token"))
    }

    pub(crate) fn join(&self, site: &Site, name: &str) {
        let token = self.token(name);
        site.cli(["fleet", "join", token.to_str().unwrap()]).expect(0);
        std::fs::remove_file(token).unwrap();
    }

    /// Keeps it: what counts in it is said until that is dropped.
    pub(crate) fn kept(&self) -> Killed {
        let mut command = self.command(&["run"]);
        let log = self.folder.path().join("kept.log");
        let out = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let running =
            Killed(command.stdin(Stdio::null()).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap());
        until("the fleet to be kept", || std::fs::read_to_string(&log).unwrap().contains("is kept").then_some(()));
        running
    }

    /// What is wrong, as `verify` finds it: host, kind and record.
    fn findings(&self) -> Vec<(String, String, Option<u64>)> {
        let output = self.cli(&["verify", "--json"]);
        let report: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let findings = report["findings"].as_array().unwrap().iter().map(|finding| {
            let word = |name: &str| finding[name].as_str().unwrap().to_owned();
            (word("host"), word("kind"), finding["record"].as_u64())
        });
        let findings: Vec<_> = findings.collect();
        assert_eq!(output.code, Some(i32::from(!findings.is_empty())), "{output:?}");
        findings
    }

    pub(crate) fn is_whole(&self) {
        assert_eq!(self.findings(), []);
    }
}

impl Member {
    /// How the host says that it stands with the fleet.
    pub(crate) fn standing(&self) -> Value {
        let status = self.site.cli(["status", "--json"]).expect(0);
        serde_json::from_str::<Value>(&status.stdout).unwrap()["fleet"].clone()
    }

    fn head(&self) -> u64 {
        self.site.audit().last().unwrap()["seq"].as_u64().unwrap()
    }

    /// Waits until everything that the host has recorded is in the fleet's database.
    pub(crate) fn arrives(&self) {
        until("the records", || (self.standing()["sent"].as_u64() == Some(self.head())).then_some(()));
    }

    /// Waits until the host says that nothing goes there, for this reason.
    fn is_in_trouble(&self, why: &str) {
        until(why, || self.standing()["trouble"].as_str().is_some_and(|said| said.contains(why)).then_some(()));
    }

    /// Some commands, which all go on record.
    fn works(&self, times: usize) {
        for number in 0..times {
            self.site.check(&format!("make step-{number}")).expect(0);
        }
    }

    pub(crate) fn stops(&mut self) {
        let mut host = self.host.take().unwrap();
        host.kill();
    }

    pub(crate) fn starts(&mut self) {
        self.host = Some(self.site.serve());
    }
}

#[test]
fn what_hosts_record_is_in_one_place_and_whole() {
    let mut fleet = Fleet::new();
    // One of them has recorded something before it joins, and joins while it runs and somebody waits for it.
    let site = Site::default();
    let host = Some(site.serve());
    let old = Member { site, host };
    old.works(3);
    assert_eq!(old.standing(), Value::Null, "it belongs to no fleet");
    let waiting = fleet.command(&["enrol", "old"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let token = fleet.folder.path().join("old.token");
    let whole = || std::fs::read_to_string(&token).ok().filter(|text| text.ends_with("}\n"));
    until("the token", whole);
    old.site.cli(["fleet", "join", token.to_str().unwrap()]).expect(0);
    let said = said_by(waiting);
    assert!(said.contains("old has joined."), "{said}");
    assert!(!token.exists(), "it is used up");
    old.arrives();
    let mut new = fleet.member("new");
    new.works(4);
    new.arrives();
    fleet.is_whole();
    let listed: Value = serde_json::from_str(&fleet.cli(&["list", "--json"]).expect(0).stdout).unwrap();
    let of =
        |name: &str| listed.as_array().unwrap().iter().find(|host| host["member"]["host"] == name).unwrap().clone();
    assert_eq!(of("new")["records"].as_u64(), Some(new.head()));
    let there = fleet.postgres.sql("SELECT host, seq, body FROM record ORDER BY host, seq").expect(0).stdout;
    for (name, member) in [("old", &old), ("new", &new)] {
        for record in member.site.audit() {
            let mut body = record.clone();
            body.as_object_mut().unwrap().remove("hash");
            let line = there.lines().find(|line| line.starts_with(&format!("{name}|{}|", record["seq"]))).unwrap();
            assert_eq!(serde_json::from_str::<Value>(line.splitn(3, '|').nth(2).unwrap()).unwrap(), body);
        }
    }

    // Without the database each goes on alone, and what it recorded meanwhile comes later, once.
    fleet.postgres.kill();
    new.works(3);
    new.is_in_trouble("the database");
    assert!(new.site.cli(["status"]).expect(0).stdout.contains("NOTHING GOES THERE NOW"));
    // It dies, too, and comes up without the database.
    new.stops();
    new.starts();
    new.works(2);
    fleet.postgres.start();
    for member in [&old, &new] {
        member.arrives();
    }
    fleet.is_whole();
    new.site.cli(["audit", "verify"]).expect(0);

    // A host that leaves sends nothing any more, and goes on.
    new.site.cli(["fleet", "leave"]).expect(0);
    until("the end", || new.standing().is_null().then_some(()));
    let sent = fleet.postgres.sql("SELECT count(*) FROM record WHERE host = 'new'").expect(0).stdout;
    new.works(2);
    assert_eq!(fleet.postgres.sql("SELECT count(*) FROM record WHERE host = 'new'").expect(0).stdout, sent);
    let refused = fleet.cli(&["revoke", "nobody"]).expect(1);
    assert!(refused.stderr.contains("no host `nobody`") && refused.stderr.contains("fleet list"), "{refused:?}");
}

/// What a process says until it ends.
fn said_by(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Each way of tampering, as statements of somebody who may do everything in the database, and what is found: host, kind and record.
/// Each host has 12 records at least.
const TAMPERINGS: &[(&str, &str, &str, Option<u64>)] = &[
    ("UPDATE record SET body = replace(body, 'make', 'fake') WHERE host = 'a' AND seq = 5", "a", "changed", Some(5)),
    ("UPDATE record SET hash = decode(repeat('00', 32), 'hex') WHERE host = 'a' AND seq = 5", "a", "changed", Some(5)),
    ("UPDATE record SET hash = 'short' WHERE host = 'a' AND seq = 5", "a", "changed", Some(5)),
    ("UPDATE record SET body = 'none' WHERE host = 'a' AND seq = 1", "a", "changed", Some(1)),
    ("DELETE FROM record WHERE host = 'a' AND seq = 5", "a", "gap", Some(5)),
    ("DELETE FROM record WHERE host = 'a' AND seq = 1", "a", "gap", Some(1)),
    ("DELETE FROM record WHERE host = 'a' AND seq > 9", "a", "cut_tail", Some(10)),
    ("DELETE FROM record WHERE host = 'a'", "a", "cut_tail", Some(1)),
    // A tail and the word that says so.
    (
        "DELETE FROM record WHERE host = 'a' AND seq > 9; DELETE FROM head WHERE host = 'a'",
        "a",
        "no_head",
        None,
    ),
    ("DELETE FROM head WHERE host = 'a'", "a", "no_head", None),
    // Everything of a host.
    (
        "DELETE FROM record WHERE host = 'a'; DELETE FROM head WHERE host = 'a'; DELETE FROM host WHERE host = 'a'",
        "a",
        "gone",
        None,
    ),
    ("DELETE FROM host WHERE host = 'a'", "a", "gone", None),
    // Two records change places.
    (
        "UPDATE record SET seq = -1 WHERE host = 'a' AND seq = 5; UPDATE record SET seq = 5 WHERE host = 'a' AND seq = 6;
         UPDATE record SET seq = 6 WHERE host = 'a' AND seq = -1",
        "a",
        "changed",
        Some(5),
    ),
    // A record that was added, in between and at the end.
    (
        "INSERT INTO record SELECT host, number, seq, at_ms + 1, kind, workspace, request_id, body, hash
         FROM record WHERE host = 'a' AND seq = 5",
        "a",
        "twice",
        Some(5),
    ),
    (
        "INSERT INTO record SELECT host, number, seq + 1, at_ms, kind, workspace, request_id, body, hash
         FROM record WHERE host = 'a' ORDER BY seq DESC LIMIT 1",
        "a",
        "changed",
        None,
    ),
    // One host's records, or its head, as another's.
    (
        "DELETE FROM record WHERE host = 'a';
         INSERT INTO record SELECT 'a', number, seq, at_ms, kind, workspace, request_id, body, hash FROM record WHERE host = 'b'",
        "a",
        "changed",
        None,
    ),
    (
        "UPDATE head SET (head, head_signature) = (SELECT head, head_signature FROM head WHERE host = 'b') WHERE host = 'a'",
        "a",
        "no_head",
        None,
    ),
    ("UPDATE head SET head = replace(head, '\"seq\":', '\"seq\":1') WHERE host = 'a'", "a", "no_head", None),
    ("UPDATE head SET head_signature = repeat('0', 128) WHERE host = 'a'", "a", "no_head", None),
    // Its beginning is said to be later.
    (
        "UPDATE head SET start = '{\"member\":{\"fleet\":\"x\",\"host\":\"a\",\"number\":1},\"seq\":5,\"hash\":\"00\"}',
         start_signature = repeat('0', 128) WHERE host = 'a'",
        "a",
        "no_start",
        None,
    ),
    // Looked up by something else.
    ("UPDATE record SET kind = 'reject' WHERE host = 'a' AND seq = 5", "a", "misfiled", Some(5)),
    ("UPDATE record SET workspace = 'other' WHERE host = 'a' AND seq = 5", "a", "misfiled", Some(5)),
    ("UPDATE record SET request_id = NULL WHERE host = 'a' AND seq = 5", "a", "misfiled", Some(5)),
    ("UPDATE record SET at_ms = 7 WHERE host = 'a' AND seq = 5", "a", "misfiled", Some(5)),
    // Who belongs to the fleet.
    ("UPDATE host SET member = NULL WHERE host = 'a'", "a", "not_member", None),
    ("UPDATE host SET member_signature = repeat('0', 128) WHERE host = 'a'", "a", "not_member", None),
    (
        "UPDATE host SET (member, member_signature) = (SELECT member, member_signature FROM host WHERE host = 'b') WHERE host = 'a'",
        "a",
        "not_member",
        None,
    ),
    ("INSERT INTO host (host, number, key, proof) VALUES ('c', 1, 'ed25519:00', 'x')", "c", "stranger", None),
    (
        "INSERT INTO record SELECT 'c', number, seq, at_ms, kind, workspace, request_id, body, hash FROM record WHERE host = 'b'",
        "c",
        "stranger",
        None,
    ),
    ("INSERT INTO head SELECT 'a', 2, start, start_signature, head, head_signature FROM head WHERE host = 'a'", "a", "stranger", None),
];

#[test]
fn every_tampering_is_found_and_nobody_else_is_blamed() {
    let fleet = Fleet::new();
    let mut members = ["a", "b"].map(|name| fleet.member(name));
    for member in &mut members {
        member.works(12);
        member.arrives();
        member.stops();
    }
    let postgres = &fleet.postgres;
    let tables = ["host", "head", "record"];
    // What was there, and the folder as it was before anything was verified and after.
    for table in tables {
        postgres.sql(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).expect(0);
    }
    let put_back = || {
        for table in tables {
            postgres.sql(&format!("TRUNCATE {table}; INSERT INTO {table} SELECT * FROM kept_{table}")).expect(0);
        }
    };
    for is_verified_before in [false, true] {
        if is_verified_before {
            fleet.is_whole();
        }
        let folder = std::fs::read(fleet.path().join("fleet.json")).unwrap();
        for (statements, host, kind, record) in TAMPERINGS {
            postgres.sql(statements).expect(0);
            let found = fleet.findings();
            let is_it = |(of, what, at): &(String, String, Option<u64>)| {
                of == host && what == kind && record.is_none_or(|record| *at == Some(record))
            };
            assert!(found.iter().any(is_it), "{statements}: {found:?}");
            assert!(found.iter().all(|(of, ..)| of == host), "{statements}: {found:?}");
            put_back();
            std::fs::write(fleet.path().join("fleet.json"), &folder).unwrap();
        }
    }
    fleet.is_whole();
    println!("{} ways of tampering, each found before and after a first look", TAMPERINGS.len());
}

#[test]
fn a_database_that_is_put_back_is_found_and_filled_again() {
    let fleet = Fleet::new();
    let mut member = fleet.member("a");
    member.works(4);
    member.arrives();
    member.stops();
    for table in ["head", "record"] {
        fleet.postgres.sql(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).expect(0);
    }
    let early = member.site.audit().len() as u64;
    member.starts();
    member.works(4);
    member.arrives();
    fleet.is_whole();
    member.stops();
    let late = until("the last record", || {
        let seq = fleet.postgres.sql("SELECT max(seq) FROM record").expect(0).stdout;
        seq.trim().parse::<u64>().ok()
    });
    assert!(late > early);
    for table in ["head", "record"] {
        fleet.postgres.sql(&format!("TRUNCATE {table}; INSERT INTO {table} SELECT * FROM kept_{table}")).expect(0);
    }
    // It is whole in itself, and older than it was.
    assert_eq!(fleet.findings(), [("a".to_owned(), "put_back".to_owned(), Some(late))]);
    // The host has everything, and sends it again.
    member.starts();
    member.arrives();
    fleet.is_whole();
}

#[test]
fn a_host_says_nothing_of_another_one_and_takes_nothing_back() {
    let fleet = Fleet::new();
    let members = ["a", "b"].map(|name| fleet.member(name));
    let file = std::fs::read_to_string(members[0].site.path().join("state/fleet.json")).unwrap();
    let own: Value = serde_json::from_str(&file).unwrap();
    let role = fleet.postgres.sql("SELECT rolname FROM pg_roles WHERE rolname LIKE '%\\_a\\_1'").expect(0).stdout;
    let (role, password) = (role.trim(), own["password"].as_str().unwrap());
    let as_host = |statements: &str| fleet.postgres.sql_as(role, password, "fleet", statements);
    assert_eq!(as_host("SELECT DISTINCT host FROM record").expect(0).stdout, "a\n");
    assert_eq!(as_host("SELECT DISTINCT host FROM head UNION SELECT host FROM host").expect(0).stdout, "a\n");
    for refused in [
        "DELETE FROM record",
        "UPDATE record SET body = 'x'",
        "TRUNCATE record",
        "DELETE FROM head",
        "DELETE FROM host",
        "INSERT INTO record SELECT 'b', number, seq + 1000, at_ms, kind, workspace, request_id, body, hash FROM record",
        "INSERT INTO record SELECT host, 2, seq, at_ms, kind, workspace, request_id, body, hash FROM record",
        "INSERT INTO head SELECT 'b', 7, start, start_signature, head, head_signature FROM head",
        "UPDATE head SET host = 'b', number = 9",
        "UPDATE host SET member = 'x'",
        "UPDATE host SET revoked = NULL",
        "INSERT INTO host (host, number) VALUES ('c', 1)",
        "UPDATE fleet SET root = 'x'",
        "CREATE TABLE x (y int)",
        "CREATE ROLE x",
        "SELECT * FROM record_other",
        "COPY record TO PROGRAM 'cat'",
        "COPY record TO '/tmp/x'",
        "ALTER TABLE record DISABLE ROW LEVEL SECURITY",
        "SET ROLE boss",
    ] {
        let output = as_host(refused);
        assert_ne!(output.code, Some(0), "{refused}: {output:?}");
    }
    // Rows of others are not there to be changed; its own key is given once.
    for nothing in ["UPDATE head SET head = 'x' WHERE host = 'b'", "UPDATE host SET key = 'x', proof = 'y'"] {
        as_host(nothing).expect(0);
    }
    fleet.is_whole();
    // Who is revoked is let in no more, and what it sends through an open connection has ended.
    fleet.cli(&["revoke", "a"]).expect(0);
    assert_ne!(as_host("SELECT 1").code, Some(0));
    members[0].works(1);
    members[0].is_in_trouble("does not let");
    fleet.is_whole();
    let listed = fleet.cli(&["list"]).expect(0).stdout;
    assert!(listed.lines().any(|line| line.starts_with("a  revoked")), "{listed}");
    // Under its name another one may join, with a chain of its own.
    let again = fleet.member("a");
    again.works(2);
    again.arrives();
    fleet.is_whole();
}

#[test]
fn a_token_makes_one_host_once() {
    let fleet = Fleet::new();
    let token = fleet.token("a");
    let used = std::fs::read_to_string(&token).unwrap();
    assert_eq!(mode(&token), 0o600);
    let sites = [Site::default(), Site::default()];
    let join = |site: &Site, file: &Path| site.cli(["fleet", "join", file.to_str().unwrap()]);
    join(&sites[0], &token).expect(0);
    let late = join(&sites[1], &token).expect(1);
    assert!(late.stderr.contains("does not let") && late.stderr.contains("token"), "{late:?}");
    // The one that joined can do so again, to no effect; and not as somebody else.
    let again = join(&sites[0], &token).expect(1);
    assert!(again.stderr.contains("a of a fleet already"), "{again:?}");
    // Whoever writes into the database without a token's secret is taken in as nobody.
    let stolen = fleet.token("b");
    let key = "ed25519:7b3c1bd0d1cc4a4ba8c0a1e4a2e8e9c4a5f0c3d2b1a09f8e7d6c5b4a39281706";
    fleet.postgres.sql(&format!("UPDATE host SET key = '{key}', proof = 'guess' WHERE host = 'b'")).expect(0);
    let listed = fleet.cli(&["list"]).expect(0);
    assert!(listed.stderr.contains("without having had its token"), "{listed:?}");
    let late = join(&sites[1], &stolen).expect(1);
    assert!(late.stderr.contains("somebody else has joined with this token"), "{late:?}");
    // A new one for the same host.
    std::fs::remove_file(&stolen).unwrap();
    let better = fleet.token("b");
    join(&sites[1], &better).expect(0);
    assert!(fleet.cli(&["list"]).expect(0).stderr.contains("b (2) has joined."));
    // Files that are no tokens.
    for text in
        ["", "{}", "[1]", &used.replace("member", "remember"), &used.replace("\"number\": 1", "\"number\": \"x\"")]
    {
        let file = fleet.folder.path().join("bad.token");
        std::fs::write(&file, text).unwrap();
        let output = join(&Site::default(), &file).expect(1);
        assert!(output.stderr.contains("is no token"), "{output:?}");
    }
    std::fs::remove_file(&token).unwrap();
    let twice = fleet.cli(&["enrol", "a", "--no-wait"]).expect(1);
    assert!(twice.stderr.contains("a is a host of the fleet already"), "{twice:?}");
    for name in ["", "A", "a b", "a_b", "-a"] {
        fleet.cli(&["enrol", "--no-wait", "--", name]).expect(64);
    }
    let other = tempfile::tempdir().unwrap();
    let mut second = Command::new(bin("bashgate"));
    second.args(["fleet", "init", &fleet.postgres.url(), "--folder"]).arg(other.path().join("f"));
    let second = Output::of(second.env("PGPASSWORD", fleet.postgres.password()), b"").expect(1);
    assert!(second.stderr.contains("the database holds another fleet"), "{second:?}");
}

fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions()) & 0o777
}

#[test]
fn two_hosts_with_one_identity_and_a_host_that_is_put_back_are_found() {
    let fleet = Fleet::new();
    let mut first = fleet.member("a");
    first.works(2);
    first.arrives();
    first.stops();
    // Its state is copied to another machine; both go on.
    let twin = Site::default();
    copy(&first.site.path().join("state"), &twin.path().join("state"));
    let key = |site: &Site| {
        let text = std::fs::read_to_string(site.hook_toml()).unwrap();
        text.lines().find(|line| line.starts_with("public_key")).unwrap().to_owned()
    };
    twin.hook_setting(&key(&twin), &key(&first.site));
    let mut twin = Member { site: twin, host: None };
    first.starts();
    first.works(3);
    first.arrives();
    twin.starts();
    twin.works(1);
    twin.is_in_trouble("put back to an older state");
    first.works(2);
    first.arrives();
    fleet.is_whole();
    // It decides all the same.
    twin.works(20);
    twin.is_in_trouble("put back to an older state");
    // The way on: a new chain.
    twin.site.cli(["fleet", "leave"]).expect(0);
    fleet.join(&twin.site, "twin");
    fleet.cli(&["list"]).expect(0);
    twin.arrives();
    fleet.is_whole();
}

/// Copies a folder, and what is in it, as it is.
fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    Output::of(Command::new("cp").arg("-a").arg(from).arg(to), b"").expect(0);
}

#[test]
fn what_was_pruned_before_a_host_joined_is_said_and_nothing_is_pruned_that_the_fleet_has_not() {
    let mut fleet = Fleet::new();
    let site = Site::new("[audit]\nkeep_records = 100\nkeep_days = 0\n");
    let host = Some(site.serve());
    let member = Member { site, host };
    let pruned = |member: &Member| member.site.audit()[0]["seq"].as_u64().unwrap() - 1;
    member.works(130);
    let before = until("the first records to go", || Some(pruned(&member)).filter(|pruned| *pruned > 0));
    fleet.join(&member.site, "a");
    fleet.cli(&["list"]).expect(0);
    member.arrives();
    fleet.is_whole();
    let first = fleet.postgres.sql("SELECT min(seq) FROM record").expect(0).stdout;
    assert!(first.trim().parse::<u64>().unwrap() > before);
    fleet.postgres.kill();
    let kept = pruned(&member);
    member.works(150);
    let sent = member.standing()["sent"].as_u64().unwrap();
    assert!(pruned(&member) <= sent.max(kept), "what the fleet has not is kept");
    assert!(member.head() - pruned(&member) > 140);
    fleet.postgres.start();
    member.arrives();
    fleet.is_whole();
    until("pruning to go on", || (pruned(&member) > sent).then_some(()));
    member.site.cli(["audit", "verify"]).expect(0);
}

/// A certificate of an issuer of the test's own for 127.0.0.1, and the issuer's.
fn certificates(folder: &Path) {
    let openssl = |words: &str| {
        Output::of(Command::new("openssl").args(words.split_whitespace()).current_dir(folder), b"").expect(0);
    };
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!("req -x509 {key} -days 2 -keyout ca.key -out ca.pem -subj /CN=issuer"));
    openssl(&format!("req {key} -keyout server.key -out server.csr -subj /CN=server"));
    openssl("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem");
}

#[test]
fn the_server_is_known_by_its_certificate() {
    let keys = tempfile::tempdir().unwrap();
    std::fs::set_permissions(keys.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    certificates(keys.path());
    let server_key = keys.path().join("server.key");
    if rustix::process::geteuid().is_root() {
        Output::of(Command::new("chown").arg("postgres").arg(&server_key), b"").expect(0);
    }
    let (certificate, key) = (keys.path().join("server.pem"), server_key.display());
    let tls = format!("ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{key}'", certificate.display());
    let fleet = Fleet { postgres: Postgres::with(&tls), folder: tempfile::tempdir().unwrap() };
    let ca = keys.path().join("ca.pem");
    fleet.cli(&["init", &fleet.postgres.url(), "--ca", ca.to_str().unwrap()]).expect(0);
    let member = fleet.member("a");
    member.arrives();
    fleet.is_whole();
    let encrypted =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'bashgate'";
    assert_eq!(fleet.postgres.sql(encrypted).expect(0).stdout, "t\n");
    // Another issuer's, and none.
    let others = tempfile::tempdir().unwrap();
    certificates(others.path());
    for (name, why) in [("ca.pem", "certificate"), ("names", "cannot be used")] {
        let mut command = Command::new(bin("bashgate"));
        command.args(["fleet", "init", &fleet.postgres.url(), "--folder"]).arg(others.path().join("fleet"));
        command.arg("--ca").arg(others.path().join(name)).env("PGPASSWORD", fleet.postgres.password());
        let refused = Output::of(&mut command, b"").expect(1);
        assert!(refused.stderr.contains(why), "{refused:?}");
    }
    // A server that has no TLS is told nothing, where it should have.
    let bare = Postgres::default();
    let mut command = Command::new(bin("bashgate"));
    command.args(["fleet", "init", &bare.url(), "--folder"]).arg(others.path().join("bare"));
    command.arg("--ca").arg(&ca).env("PGPASSWORD", bare.password());
    let refused = Output::of(&mut command, b"").expect(1);
    assert!(refused.stderr.contains("TLS"), "{refused:?}");
}

/// What is taken away on purpose is not missed; what somebody else takes away is, and what is wrong stays.
#[test]
fn old_records_go_when_the_fleet_says_so() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.member("one"), fleet.member("two"));
    one.works(6);
    two.works(6);
    one.arrives();
    two.arrives();
    let count = |host: &str| {
        let sql = format!("SELECT count(*), min(seq) FROM record WHERE host = '{host}'");
        fleet.postgres.sql(&sql).expect(0).stdout.trim().to_owned()
    };
    let before = count("one");
    assert!(fleet.cli(&["prune", "--keep", "1d"]).expect(0).stdout.contains("one: none is older"));
    assert_eq!(count("one"), before);
    fleet
        .postgres
        .sql("UPDATE record SET body = replace(body, 'make', 'fake') WHERE host = 'two' AND seq = 4")
        .expect(0);
    let pruned = fleet.cli(&["prune", "--keep", "0s"]).expect(1);
    assert!(
        pruned.stdout.contains("two: something is wrong") && pruned.stdout.contains("records are gone"),
        "{pruned:?}"
    );
    assert!(count("one").starts_with("1|"), "the last one stays");
    assert_ne!(count("two"), count("one"));
    fleet
        .postgres
        .sql("UPDATE record SET body = replace(body, 'fake', 'make') WHERE host = 'two' AND seq = 4")
        .expect(0);
    fleet.is_whole();
    // The chain goes on.
    one.works(3);
    one.arrives();
    fleet.is_whole();
    let last = count("one");
    let (_, first) = last.split_once('|').unwrap();
    let first: u64 = first.parse().unwrap();
    // More than that is missed, and so is the word that it was on purpose; a word of another host's is none.
    fleet.postgres.sql("CREATE TABLE kept AS SELECT * FROM record WHERE host = 'one'; CREATE TABLE word AS SELECT * FROM checkpoint").expect(0);
    for (statement, kind, record) in [
        (format!("DELETE FROM record WHERE host = 'one' AND seq = {first}"), "gap", Some(first)),
        ("DELETE FROM checkpoint".to_owned(), "gap", Some(1)),
        ("UPDATE checkpoint SET signature = repeat('0', 128)".to_owned(), "gap", Some(1)),
        (
            format!("UPDATE checkpoint SET text = replace(text, '\"seq\":{}', '\"seq\":{}')", first - 1, first),
            "gap",
            Some(1),
        ),
    ] {
        fleet.postgres.sql(&statement).expect(0);
        let found = fleet.findings();
        assert!(found.contains(&("one".to_owned(), kind.to_owned(), record)), "{statement}: {found:?}");
        fleet
            .postgres
            .sql("DELETE FROM record WHERE host = 'one'; INSERT INTO record SELECT * FROM kept; DELETE FROM checkpoint; INSERT INTO checkpoint SELECT * FROM word")
            .expect(0);
    }
    fleet.is_whole();
}

/// Whoever looks for a record finds it by what it says, on whatever host it is, and can hand it on.
#[test]
fn records_are_found_and_handed_on() {
    let fleet = Fleet::new();
    let (one, two) = (fleet.member("one"), fleet.member("two"));
    one.works(3);
    two.site.raise_both("default");
    let running = two.site.check_later("curl -s https://x.example/a");
    let id = two.site.held("curl -s https://x.example/a");
    two.site.cli(["deny", &id]).expect(0);
    running.join().unwrap().expect(2);
    one.arrives();
    two.arrives();
    let lines = |words: &[&str]| -> Vec<String> {
        let output = fleet.cli(&[&["search"], words].concat()).expect(0);
        output.stdout.lines().map(str::to_owned).collect()
    };
    let steps = lines(&["step-", "--kind", "decision"]);
    assert!(steps.len() == 3 && steps[0].starts_with("one") && steps[0].contains("step-2"), "{steps:?}");
    assert_eq!(lines(&["step-", "--host", "two"]).len(), 0);
    assert_eq!(lines(&["--program", "make", "--lines", "2"]).len(), 2);
    for found in
        [lines(&["--to", "x.example"]), lines(&["--program", "curl", "--workspace", "default", "--since", "1h"])]
    {
        assert!(found.len() == 1 && found[0].starts_with("two") && found[0].contains("deny"), "{found:?}");
    }
    let by = serde_json::from_str::<Value>(&lines(&["--to", "x.example", "--json"])[0]).unwrap();
    let person = by["record"]["detail"]["by"].as_str().unwrap().trim_start_matches("human:").to_owned();
    assert!(lines(&["--person", &person]).iter().all(|line| line.starts_with("two")));
    assert_eq!(lines(&["--until", "1d"]).len(), 0);
    assert!(fleet.cli(&["search", "--since", "yesterday"]).expect(64).stderr.contains("is no time"));
    // Handed on whole and in order, also where somebody has written nonsense among it.
    let all = fleet.cli(&["export"]).expect(0).stdout;
    let count = fleet.postgres.sql("SELECT count(*) FROM record").expect(0).stdout;
    assert_eq!(all.lines().count().to_string(), count.trim());
    fleet.postgres.sql("UPDATE record SET body = 'nonsense' WHERE host = 'one' AND seq = 1").expect(0);
    let events = fleet.cli(&["export", "--format", "ocsf"]).expect(0).stdout;
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len().to_string(), count.trim());
    assert!(events.iter().any(|event| event["unmapped"] == "nonsense"));
    let denied = events.iter().find(|event| event["process"]["cmd_line"] == "curl -s https://x.example/a").unwrap();
    assert_eq!((denied["action_id"].as_u64(), denied["device"]["hostname"].as_str()), (Some(2), Some("two")));
    let times: Vec<u64> = events.iter().filter_map(|event| event["time"].as_u64()).filter(|at| *at > 0).collect();
    assert!(times.is_sorted(), "{times:?}");
}
