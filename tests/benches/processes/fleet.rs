//! What many hosts send to their fleet's database, beside COPY of as many rows into a table with the same indices, in as large batches.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use bashgate::audit::{Entry, RecordKind};
use bashgate::store::{Store, Write};
use bashgate_fleet::HostName;
use bashgate_fleet::folder::Folder;
use bashgate_fleet::membership::Membership;
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use bashgate_tests::{Killed, Output, Postgres, bin, until};
use serde_json::json;

use super::table::Table;

const HOSTS: u32 = 100;
const RECORDS: u32 = 500;
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

/// Makes a fleet with its hosts, all of which have recorded something and sent nothing yet.
fn fleet(postgres: &Postgres, folder: &Path) {
    let mut init = Command::new(bin("bashgate"));
    init.args(["fleet", "init", &postgres.url(), "--folder"]).arg(folder.join("fleet"));
    Output::of(init.env("PGPASSWORD", postgres.password()), b"").expect(0);
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
