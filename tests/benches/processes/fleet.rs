//! What many hosts send to their fleet's database, beside COPY of as many rows into a table with the same indices, in as large batches;
//! and a host of a fleet beside one that is alone.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bashgate::audit::{Entry, RecordKind};
use bashgate::control::{self, ControlCommand};
use bashgate::fleet::signed::Statement as _;
use bashgate::fleet::wire::{Shown, Words};
use bashgate::store::{Store, Write};
use bashgate_fleet::HostName;
use bashgate_fleet::database::Address;
use bashgate_fleet::folder::Folder;
use bashgate_fleet::membership::Membership;
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use bashgate_tests::{Host, Killed, Output, Postgres, Site, bin, pause, until};
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::table::{Table, Times};
use super::{event, interleave, run};

const HOSTS: u32 = 100;
/// As many as a host sends in one go.
const RECORDS: u32 = 2000;
/// Rows of a COPY: as many as a host sends at once.
const BATCH: usize = RECORDS as usize;

/// A store with records as decisions make them.
fn record(state: &Path) {
    let store = Store::open(&bashgate::state::store(state)).unwrap();
    let entry = |n: u32| Entry {
        at_ms: bashgate::clock::now().unix_ms,
        kind: RecordKind::Decision,
        workspace: WorkspaceName::parse("default"),
        request_id: RequestId::parse(&format!("00000000-0000-4000-8000-{n:012x}")),
        detail: json!({"command": format!("make step-{n} {}", "x".repeat(200)), "cwd": "/work/project", "agent": "claude",
            "class": "unknown", "taint": "clean", "rule": "table", "answer": "allow", "decided_by": "policy",
            "reason": "an unknown command in a clean workspace", "effects": {"programs": ["make"], "reads": [], "writes": []}}),
    };
    store.write_now((0..RECORDS).map(|n| Write::Audit(entry(n))).collect()).unwrap();
}

/// Makes a fleet.
fn init(postgres: &Postgres, folder: &Path) {
    let mut init = Command::new(bin("bashgate"));
    init.args(["fleet", "init", &postgres.url(), "--folder"]).arg(folder.join("fleet"));
    Output::of(init.env("PGPASSWORD", postgres.password()), b"").expect(0);
}

/// Makes a fleet with its hosts, all of which have recorded something and sent nothing yet.
fn fleet(postgres: &Postgres, folder: &Path) {
    init(postgres, folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut fleet = Folder::open(&folder.join("fleet")).unwrap();
        let client = fleet.connect().await.unwrap();
        for n in 0..HOSTS {
            let state = folder.join(format!("state-{n}"));
            std::fs::create_dir(&state).unwrap();
            std::fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            record(&state);
            let token = fleet.enrol(&client, HostName::parse(&format!("host-{n}")).unwrap(), false).await.unwrap();
            Membership::begin(&state, token).unwrap().complete(&state).await.unwrap();
        }
        assert_eq!(fleet.settle(&client).await.unwrap().joined.len(), HOSTS as usize);
    });
}

/// Records a second of all of them at once, each as a process of its own, and rows a second of COPY.
pub fn beside_copy(table: &mut Table) {
    let postgres = Postgres::with("fsync = on\nmax_connections = 300\nshared_buffers = '256MB'");
    let folder = tempfile::tempdir().unwrap();
    fleet(&postgres, folder.path());
    let all = HOSTS * RECORDS;
    let count = || postgres.sql("SELECT count(*) FROM record").expect(0).stdout.trim().parse::<u32>().unwrap();
    let since = Instant::now();
    let ship = |n: u32| {
        let mut ship = Command::new(bin("bashgate-fleet"));
        ship.args(["ship", "--state"]).arg(folder.path().join(format!("state-{n}")));
        Killed(ship.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let hosts: Vec<Killed> = (0..HOSTS).map(ship).collect();
    until("all records", || (count() >= all).then_some(()));
    let ours = f64::from(all) / since.elapsed().as_secs_f64();
    drop(hosts);
    let rows = postgres.sql("COPY (SELECT * FROM record ORDER BY host, seq) TO STDOUT").expect(0).stdout;
    postgres
        .sql("CREATE TABLE copied (LIKE record INCLUDING ALL) PARTITION BY RANGE (at_ms); CREATE TABLE copied_all PARTITION OF copied DEFAULT")
        .expect(0);
    let lines: Vec<&str> = rows.lines().collect();
    let batch = |rows: &[&str]| format!("COPY copied FROM STDIN;\n{}\n\\.\n", rows.join("\n"));
    let batches: Vec<String> = lines.chunks(BATCH).map(batch).collect();
    let batches = batches.concat();
    let since = Instant::now();
    postgres.sql(&batches).expect(0);
    let copy = f64::from(all) / since.elapsed().as_secs_f64();
    assert_eq!(postgres.sql("SELECT count(*) FROM copied").expect(0).stdout.trim(), all.to_string());
    table.row(
        "records that 100 hosts send to their fleet",
        &format!("{ours:.0} /s"),
        &format!("COPY: {copy:.0} /s"),
        &format!("{:.2}", ours / copy),
        "5000 /s, 0.4 x",
    );
}

fn run_fleet(postgres: &Postgres, folder: &Path, words: &[&str]) -> Output {
    let mut fleet = Command::new(bin("bashgate"));
    fleet.arg("fleet").args(words).arg("--folder").arg(folder.join("fleet")).current_dir(folder);
    Output::of(fleet.env("PGPASSWORD", postgres.password()), b"").expect(0)
}

/// A host of a fleet.
fn member(postgres: &Postgres, folder: &Path, site: &Site) -> Host {
    let fleet = |words: &[&str]| run_fleet(postgres, folder, words);
    fleet(&["enrol", "host", "--no-wait"]);
    site.cli(["fleet", "join", folder.join("host.token").to_str().unwrap()]).expect(0);
    let host = site.serve();
    fleet(&["sign", "--for", "1h"]);
    until("the fleet to have everything", || {
        let status = site.cli(["status", "--json"]).expect(0).stdout;
        let status: Value = serde_json::from_str(&status).unwrap();
        status["fleet"]["sent"].as_u64().filter(|_| status["fleet"]["trouble"].is_null())
    });
    host
}

/// The decision of a host that sends what it records to a fleet, beside that of one that does not.
pub fn decides_beside_one_alone(table: &mut Table) {
    let postgres = Postgres::with("fsync = on");
    let folder = tempfile::tempdir().unwrap();
    let (ours, alone) = (Site::default(), Site::default());
    init(&postgres, folder.path());
    let _hosts = (member(&postgres, folder.path(), &ours), alone.serve());
    let (input, other) = (event(&ours, "make build"), event(&alone, "make build"));
    let (mut hook, mut other_hook) = (ours.hook_command(&ours.hook_toml()), alone.hook_command(&alone.hook_toml()));
    let (with, without) = interleave(|| run(&mut hook, &input), || run(&mut other_hook, &other));
    table.compare("round trip of a host of a fleet", &with, "of one that is alone", &without, ["1.05", ""]);
}

/// How long it takes from an answer to the end of the hook that waits for it: said at a desk, beside said at the host itself.
pub fn answers_beside_local_ones(table: &mut Table) {
    const ROUNDS: usize = 60;
    let postgres = Postgres::with("fsync = on");
    let folder = tempfile::tempdir().unwrap();
    let site = Site::new("");
    init(&postgres, folder.path());
    let fleet = |words: &[&str]| run_fleet(&postgres, folder.path(), words);
    fleet(&["enrol", "office", "--desk", "--no-wait"]);
    let office = folder.path().join("office");
    let mut join = Command::new(bin("bashgate"));
    join.args(["desk", "join"]).arg(folder.path().join("office.token")).arg("--folder").arg(&office);
    Output::of(&mut join, b"").expect(0);
    let own = Membership::load(&office).unwrap().unwrap();
    let desk = own.key(&office).unwrap();
    site.configure(&format!(
        "[chat.office]\nkind = \"desk\"\nkey = \"{}\"\napprovers = [\"bench:1\"]\n",
        desk.public()
    ));
    let _host = member(&postgres, folder.path(), &site);
    site.raise_both("default");
    // A host that has only just started hears no desk.
    pause(Duration::from_secs(6));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (address, login) = Address::parse(&postgres.url(), Some(postgres.password().to_owned()), None).unwrap();
    let client = runtime.block_on(address.connect(&login)).unwrap();
    // As a desk does.
    runtime.block_on(client.batch_execute("SET synchronous_commit = off")).unwrap();
    let member = Membership::load(&site.path().join("state")).unwrap().unwrap().member;
    let asks = |number: usize| -> (Child, String) {
        let command = format!("curl -s https://x.example/{number}");
        let mut hook = site.hook_command(&site.hook_toml());
        hook.args(["check", "--", &command]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = hook.spawn().unwrap();
        (child, site.held(&command))
    };
    let ends = |mut child: Child, since: Instant| {
        assert!(child.wait().unwrap().success());
        since.elapsed().as_secs_f64() * 1000.0
    };
    let (mut at_desk, mut at_host, mut trips) = (Times(Vec::new()), Times(Vec::new()), Times(Vec::new()));
    let socket = bashgate::state::socket(&site.path().join("state"));
    for number in 0..ROUNDS {
        let (child, id) = asks(2 * number);
        let card = until("the question", || runtime.block_on(question(&client, &id)));
        let words = Words {
            member: member.clone(),
            nonce: format!("{number:032x}"),
            at_ms: bashgate::clock::now().unix_ms,
            account: "bench:1".to_owned(),
            name: "bench".to_owned(),
            words: format!("approve {id}"),
            digest: Some(card.digest()),
            on: None,
            sees_all: true,
        };
        let words = words.sign(&desk);
        let since = Instant::now();
        runtime.block_on(bashgate_fleet::desk::say(&client, &member, &own.member, &words)).unwrap();
        at_desk.0.push(ends(child, since));
        let (child, id) = asks(2 * number + 1);
        // A hook looks less often the longer it waits: both have waited as long.
        until("the question", || runtime.block_on(question(&client, &id)));
        let since = Instant::now();
        control::ask(&socket, &ControlCommand::say(format!("approve {id}"))).unwrap();
        at_host.0.push(ends(child, since));
        let since = Instant::now();
        runtime.block_on(client.batch_execute("SELECT 1")).unwrap();
        trips.0.push(since.elapsed().as_secs_f64() * 1000.0);
    }
    let least = Times(at_host.0.iter().map(|time| time + trips.at(0.5)).collect());
    table.compare(
        "an answer at a desk until the hook ends",
        &at_desk,
        "at the host, and a round trip",
        &least,
        ["2", ""],
    );
}

/// The card of an id as desks see it.
async fn question(client: &Client, id: &str) -> Option<Shown> {
    let row = client.query_opt("SELECT text FROM question WHERE id = $1", &[&id]).await.unwrap()?;
    let text: String = row.get(0);
    serde_json::from_value(serde_json::from_str::<Value>(&text).unwrap()["shown"].clone()).ok()
}
