//! The embedded store (SQLite): audit, taints, workspaces, held approvals.
//!
//! One thread writes, in groups: what waits while a group is written makes the next one. A write that says so is on the
//! disk before it counts (human answers, taints, held approvals); the rest survives a killed process, not a power cut.

mod schema;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use bashgate_shared::protocol::{RequestId, WorkspaceName};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use serde::Serialize;

use crate::approval::Card;
use crate::audit::{Checkpoint, Entry, Hash, Record};
use crate::fault;
use crate::taint::Seen;

/// Most jobs in one group.
const GROUP: usize = 512;
/// So many groups are written before the log is moved into the file. Its thread is told, and nobody waits for it.
const GROUPS: u32 = 256;
/// A log of so many pages is moved by the writer itself, at about 64 MiB: under a load that never ends, its thread never
/// sees the end of it.
const LOG_PAGES: u32 = 16_384;

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite says no.
    #[error("the store {} fails", path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    /// A newer version made it.
    #[error("the store {} has version {found}, this bashgate knows {}", path.display(), schema::VERSION)]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Something in it does not read back.
    #[error("the store {} holds something that does not read back: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        what: String,
    },
}

impl StoreError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Sql { .. } => {
                "check the disk's space and health, and the file's owner; a copy from a backup works too"
            }
            Self::Newer { .. } => "run the newer bashgate again",
            Self::Damaged { .. } => "run `bashgate audit verify`, and restore a backup",
        }
    }
}

/// One change.
#[derive(Debug)]
pub enum Write {
    /// Append a record.
    Audit(Entry),
    /// Forget the records up to a checkpoint.
    Prune(Checkpoint),
    /// A workspace's taint.
    Taint(WorkspaceName, Seen),
    /// Register a workspace.
    AddWorkspace(WorkspaceName),
    /// Forget a workspace.
    RemoveWorkspace(WorkspaceName),
    /// A held approval, with the boot that its times belong to.
    Hold(Box<Card>, String),
    /// An approval that is over.
    Drop(String),
    /// A script that a person approved.
    ApproveScript(ApprovedScript),
    /// An approval of a script, by its digest, that counts no more.
    RevokeScript(WorkspaceName, String),
    /// Files with which a person approved a command.
    ApproveFiles(WorkspaceName, Vec<ApprovedFile>),
    /// What acts later in a workspace's project, by the project's folder. Somebody has looked.
    Acting(WorkspaceName, String, BTreeMap<String, String>),
    /// A command that may plant something was let through in a workspace.
    Unlooked(WorkspaceName),
}

/// A person's approval of a managed script: it counts for all its runs in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovedScript {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// What was approved: the digest of manifest and text, in hexadecimal digits.
    pub sha256: String,
    /// The script's name, which is part of the manifest.
    pub name: String,
    /// Who approved it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Manifest and text, as they were shown; empty where an older host has not kept them.
    #[serde(skip)]
    pub shown: String,
}

/// A file as it was when a person last said yes to a command that it steers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedFile {
    /// Where it lies, as the container says.
    pub path: String,
    /// Its digest, in hexadecimal digits, as the container says.
    pub sha256: String,
    /// How it began.
    pub head: String,
    /// Who approved it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Most such files that are kept of a workspace; the newest count.
const MOST_FILES: i64 = 256;

/// What acts later in a workspace's project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingRow {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// The project's folder, as the container names it.
    pub root: String,
    /// Digests by paths.
    pub files: BTreeMap<String, String>,
    /// A command that may plant something was let through since somebody looked.
    pub unlooked: bool,
}

/// Changes that are made together or not at all.
pub struct Job {
    /// The changes.
    pub writes: Vec<Write>,
    /// True when they must be on the disk before they count.
    pub durable: bool,
    /// Called on the writer's thread when they are written, or with the reason why not.
    pub done: Box<dyn FnOnce(Result<(), String>) + Send>,
}

/// The writing end.
pub struct Store {
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens the store, makes or migrates it, and starts its writer.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = connect(path)?;
        let mut writer = Writer::new(connection, path)?;
        let (due, dues) = mpsc::sync_channel(1);
        let mover = connect(path)?;
        let failed = |error: std::io::Error| StoreError::Damaged { path: path.to_owned(), what: error.to_string() };
        // It ends with the writer, which holds the other end.
        std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || checkpoints(&mover, &dues))
            .map_err(failed)?;
        let (jobs, queue) = mpsc::channel::<Job>();
        let writer = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || writer.run(&queue, &due))
            .map_err(failed)?;
        Ok(Self { jobs: Some(jobs), writer: Some(writer) })
    }

    /// Hands a job to the writer. Where the writer is gone, the job is told so.
    pub fn submit(&self, job: Job) {
        let Some(jobs) = &self.jobs else { return (job.done)(Err("the store is closed".to_owned())) };
        if let Err(mpsc::SendError(job)) = jobs.send(job) {
            (job.done)(Err("the store's writer has ended".to_owned()));
        }
    }

    /// Writes and waits.
    pub fn write_now(&self, writes: Vec<Write>) -> Result<(), String> {
        let (sender, receiver) = mpsc::channel();
        let done = Box::new(move |result| {
            let _ = sender.send(result);
        });
        self.submit(Job { writes, durable: true, done });
        receiver.recv().unwrap_or_else(|_| Err("the store's writer has ended".to_owned()))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn sql(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
    move |source| StoreError::Sql { path: path.to_owned(), source }
}

/// Moves the log into the file whenever it is due. That waits for the disk, which may be slow or busy with what somebody
/// else writes; an answer that need not be on the disk must not wait for it.
fn checkpoints(connection: &Connection, due: &mpsc::Receiver<()>) {
    while due.recv().is_ok() {
        if let Err(error) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::warn!(%error, "the store's log cannot be moved into its file");
        }
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    // SQLite takes the mode of a new file from the umask; the folder's 0700 is what protects it.
    let mut connection = Connection::open(path).map_err(sql(path))?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(sql(path))?;
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(sql(path))?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES).map_err(sql(path))?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(sql(path))?;
    schema::migrate(&mut connection, path)?;
    Ok(connection)
}

struct Writer {
    connection: Connection,
    seq: u64,
    head: Hash,
}

impl Writer {
    fn new(connection: Connection, path: &Path) -> Result<Self, StoreError> {
        let (seq, head) = head(&connection, path)?;
        Ok(Self { connection, seq, head })
    }

    fn run(&mut self, queue: &mpsc::Receiver<Job>, due: &mpsc::SyncSender<()>) {
        let mut groups = 0;
        while let Ok(first) = queue.recv() {
            let mut jobs = vec![first];
            while jobs.len() < GROUP
                && let Ok(more) = queue.try_recv()
            {
                jobs.push(more);
            }
            let results = self.write(&jobs).unwrap_or_else(|error| {
                // Nothing of the group was kept.
                let error = error.to_string();
                vec![Err(error); jobs.len()]
            });
            for (job, result) in jobs.into_iter().zip(results) {
                (job.done)(result);
            }
            groups += 1;
            // One that is told already, or gone, is told nothing.
            if groups >= GROUPS && due.try_send(()).is_ok() {
                groups = 0;
            }
        }
    }

    /// Writes a group in one transaction. A job that the tables refuse (a second decision on a request) fails alone;
    /// everything else that goes wrong (the disk) fails the group.
    fn write(&mut self, jobs: &[Job]) -> rusqlite::Result<Vec<Result<(), String>>> {
        let durable = jobs.iter().any(|job| job.durable);
        fails("store.begin")?;
        self.connection.pragma_update(None, "synchronous", if durable { "FULL" } else { "NORMAL" })?;
        let mut transaction = self.connection.transaction()?;
        let (mut seq, mut head) = (self.seq, self.head);
        let mut results = Vec::with_capacity(jobs.len());
        for job in jobs {
            let (seq_before, head_before) = (seq, head);
            let mut savepoint = transaction.savepoint()?;
            match job.writes.iter().try_for_each(|write| apply(&savepoint, write, &mut seq, &mut head)) {
                Ok(()) => {
                    savepoint.commit()?;
                    results.push(Ok(()));
                }
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                    savepoint.rollback()?;
                    (seq, head) = (seq_before, head_before);
                    results.push(Err(error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
        fails("store.written")?;
        transaction.commit()?;
        (self.seq, self.head) = (seq, head);
        fault::here("store.committed");
        Ok(results)
    }
}

/// The errors that a test wants here.
fn fails(name: &str) -> rusqlite::Result<()> {
    fault::point(name).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Makes one change, and moves the audit's end along.
fn apply(connection: &Connection, write: &Write, seq: &mut u64, head: &mut Hash) -> rusqlite::Result<()> {
    match write {
        Write::Audit(entry) => {
            let record = entry.at(*seq + 1, *head);
            connection
                .prepare_cached(
                    "INSERT INTO audit (seq, kind, workspace, request_id, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![
                    record.seq.cast_signed(),
                    entry.kind.as_str(),
                    entry.workspace.as_ref().map(WorkspaceName::as_str),
                    entry.request_id.as_ref().map(RequestId::as_str),
                    record.body,
                    record.hash.0,
                ])?;
            (*seq, *head) = (record.seq, record.hash);
        }
        Write::Prune(checkpoint) => {
            let upto = checkpoint.seq.cast_signed();
            connection.execute("DELETE FROM audit WHERE seq <= ?1", [upto])?;
            connection.execute(
                "INSERT OR REPLACE INTO checkpoint (one, seq, hash, signature) VALUES (1, ?1, ?2, ?3)",
                params![upto, checkpoint.hash.0, checkpoint.signature],
            )?;
        }
        Write::Taint(workspace, seen) => {
            let json = serde_json::to_string(seen).unwrap_or_default();
            connection
                .prepare_cached("INSERT INTO taint (workspace, seen) VALUES (?1, ?2) ON CONFLICT (workspace) DO UPDATE SET seen = ?2")?
                .execute(params![workspace.as_str(), json])?;
        }
        Write::AddWorkspace(workspace) => {
            connection.execute("INSERT OR IGNORE INTO workspace (name) VALUES (?1)", [workspace.as_str()])?;
        }
        Write::RemoveWorkspace(workspace) => {
            connection.execute("DELETE FROM workspace WHERE name = ?1", [workspace.as_str()])?;
            for table in ["script", "acting", "approved_file"] {
                connection.execute(&format!("DELETE FROM {table} WHERE workspace = ?1"), [workspace.as_str()])?;
            }
        }
        Write::Hold(card, boot) => {
            let json = serde_json::to_string(card).unwrap_or_default();
            connection.execute(
                "INSERT OR REPLACE INTO held (id, boot, card) VALUES (?1, ?2, ?3)",
                params![card.id.as_str(), boot, json],
            )?;
        }
        Write::Drop(id) => {
            connection.execute("DELETE FROM held WHERE id = ?1", [id])?;
        }
        Write::ApproveScript(script) => {
            let ApprovedScript { workspace, sha256, name, by, at_ms, shown } = script;
            connection.execute(
                "INSERT OR REPLACE INTO script (workspace, sha256, name, by, at_ms, shown) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![workspace.as_str(), sha256, name, by, at_ms.cast_signed(), shown],
            )?;
        }
        Write::RevokeScript(workspace, sha256) => {
            let of = [workspace.as_str(), sha256.as_str()];
            connection.execute("DELETE FROM script WHERE workspace = ?1 AND sha256 = ?2", of)?;
        }
        Write::ApproveFiles(workspace, files) => {
            for ApprovedFile { path, sha256, head, by, at_ms } in files {
                connection
                    .prepare_cached("INSERT OR REPLACE INTO approved_file VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                    .execute(params![workspace.as_str(), path, sha256, head, by, at_ms.cast_signed()])?;
            }
            connection
                .prepare_cached(
                    "DELETE FROM approved_file WHERE workspace = ?1 AND path NOT IN
                     (SELECT path FROM approved_file WHERE workspace = ?1 ORDER BY at_ms DESC LIMIT ?2)",
                )?
                .execute(params![workspace.as_str(), MOST_FILES])?;
        }
        Write::Acting(workspace, root, files) => {
            let files = serde_json::to_string(files).unwrap_or_default();
            connection
                .prepare_cached("INSERT OR REPLACE INTO acting (workspace, root, files) VALUES (?1, ?2, ?3)")?
                .execute(params![workspace.as_str(), root, files])?;
            // As many as the host remembers; the newest count.
            connection
                .prepare_cached(
                    "DELETE FROM acting WHERE workspace = ?1 AND at NOT IN
                     (SELECT at FROM acting WHERE workspace = ?1 ORDER BY at DESC LIMIT 8)",
                )?
                .execute([workspace.as_str()])?;
        }
        Write::Unlooked(workspace) => {
            connection
                .prepare_cached("UPDATE acting SET unlooked = 1 WHERE workspace = ?1")?
                .execute([workspace.as_str()])?;
        }
    }
    Ok(())
}

fn head(connection: &Connection, path: &Path) -> Result<(u64, Hash), StoreError> {
    // The record that says what was pruned always stays, so an audit is never empty but at its beginning.
    let row = connection
        .query_row("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, [u8; 32]>(1)?))
        })
        .optional()
        .map_err(sql(path))?;
    Ok(row.map_or((0, Hash::START), |(seq, hash)| (seq.cast_unsigned(), Hash(hash))))
}

/// The reading end; any number of them may be open, also in other processes.
pub struct Reader {
    connection: Connection,
    path: PathBuf,
    /// Of the tables; an older store becomes a current one when the host starts.
    version: u32,
}

impl Reader {
    /// Opens the store for reading.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // Reading a WAL needs write access to its index, so the file is opened for both and never written.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(sql(path))?;
        connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(sql(path))?;
        connection.pragma_update(None, "query_only", true).map_err(sql(path))?;
        let version = schema::check(&connection, path)?;
        Ok(Self { connection, path: path.to_owned(), version })
    }

    /// Copies the store into a new file, as it is at one moment. The host goes on writing meanwhile: readers of a WAL
    /// hold nobody up. In one go, since a copy in steps begins anew with every write in between.
    pub fn copy_to(&self, to: &Path) -> Result<(), StoreError> {
        let mut copy = Connection::open(to).map_err(sql(to))?;
        let backup = rusqlite::backup::Backup::new(&self.connection, &mut copy).map_err(sql(to))?;
        let done = backup.step(-1).map_err(sql(to))?;
        drop(backup);
        if done != rusqlite::backup::StepResult::Done {
            return Err(self.damaged("it is locked; try again"));
        }
        copy.pragma_update(None, "journal_mode", "WAL").map_err(sql(to))?;
        copy.close().map_err(|(_, error)| sql(to)(error))
    }

    /// The error for something that does not read back.
    pub fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into() }
    }

    fn texts(&self, query: &str) -> Result<Vec<Vec<String>>, StoreError> {
        let mut statement = self.connection.prepare(query).map_err(sql(&self.path))?;
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..columns).map(|at| row.get::<_, String>(at)).collect())
            .map_err(sql(&self.path))?;
        rows.collect::<Result<_, _>>().map_err(sql(&self.path))
    }

    /// Registered workspaces.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceName>, StoreError> {
        let rows = self.texts("SELECT name FROM workspace ORDER BY name")?;
        rows.into_iter().flatten().map(|name| WorkspaceName::parse(&name).ok_or_else(|| self.damaged(name))).collect()
    }

    /// Taints by workspace.
    pub fn taints(&self) -> Result<Vec<(WorkspaceName, Seen)>, StoreError> {
        let rows = self.texts("SELECT workspace, seen FROM taint")?;
        rows.into_iter()
            .map(|row| match row.as_slice() {
                [name, seen] => WorkspaceName::parse(name)
                    .zip(serde_json::from_str(seen).ok())
                    .ok_or_else(|| self.damaged(name.clone())),
                _ => Err(self.damaged("a row")),
            })
            .collect()
    }

    /// Held approvals of this boot; those of another one have lapsed.
    pub fn held(&self, boot: &str) -> Result<Vec<Card>, StoreError> {
        let rows = self.texts("SELECT boot, card FROM held")?;
        let of_boot = rows.into_iter().filter(|row| row.first().is_some_and(|of| of == boot));
        of_boot
            .map(|row| {
                row.get(1)
                    .and_then(|card| serde_json::from_str(card).ok())
                    .ok_or_else(|| self.damaged("a held approval"))
            })
            .collect()
    }

    /// Scripts that people approved.
    pub fn scripts(&self) -> Result<Vec<ApprovedScript>, StoreError> {
        if self.version < 3 {
            return Ok(Vec::new());
        }
        let shown = if self.version < 5 { "''" } else { "shown" };
        let rows =
            self.texts(&format!("SELECT workspace, sha256, name, by, CAST(at_ms AS TEXT), {shown} FROM script"))?;
        let parsed = rows.into_iter().map(|row| {
            let [workspace, sha256, name, by, at_ms, shown] = <[String; 6]>::try_from(row).ok()?;
            let (workspace, at_ms) = (WorkspaceName::parse(&workspace)?, at_ms.parse().ok()?);
            Some(ApprovedScript { workspace, sha256, name, by, at_ms, shown })
        });
        parsed.map(|script| script.ok_or_else(|| self.damaged("an approval of a script"))).collect()
    }

    /// A file as it was when a person last approved a command with it.
    pub fn approved_file(&self, workspace: &WorkspaceName, path: &str) -> Result<Option<ApprovedFile>, StoreError> {
        if self.version < 6 {
            return Ok(None);
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT sha256, head, by, at_ms FROM approved_file WHERE workspace = ?1 AND path = ?2")
            .map_err(sql(&self.path))?;
        statement
            .query_row(params![workspace.as_str(), path], |row| {
                let at_ms = row.get::<_, i64>(3)?.cast_unsigned();
                Ok(ApprovedFile {
                    path: path.to_owned(),
                    sha256: row.get(0)?,
                    head: row.get(1)?,
                    by: row.get(2)?,
                    at_ms,
                })
            })
            .optional()
            .map_err(sql(&self.path))
    }

    /// What acts later in each workspace's projects, and whether a command was let through since somebody looked.
    pub fn acting(&self) -> Result<Vec<ActingRow>, StoreError> {
        if self.version < 4 {
            return Ok(Vec::new());
        }
        let rows = self.texts("SELECT workspace, root, files, CAST(unlooked AS TEXT) FROM acting ORDER BY at")?;
        let parsed = rows.into_iter().map(|row| {
            let [workspace, root, files, unlooked] = <[String; 4]>::try_from(row).ok()?;
            let (workspace, files) = (WorkspaceName::parse(&workspace)?, serde_json::from_str(&files).ok()?);
            Some(ActingRow { workspace, root, files, unlooked: unlooked != "0" })
        });
        parsed.map(|row| row.ok_or_else(|| self.damaged("what acts later in a workspace"))).collect()
    }

    /// True when a request of this id has had its last word.
    pub fn is_decided(&self, workspace: &WorkspaceName, id: &RequestId) -> Result<bool, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT 1 FROM audit WHERE workspace = ?1 AND request_id = ?2 AND kind = 'decision'")
            .map_err(sql(&self.path))?;
        statement.exists(params![workspace.as_str(), id.as_str()]).map_err(sql(&self.path))
    }

    /// The audit's last place and hash.
    pub fn head(&self) -> Result<(u64, Hash), StoreError> {
        head(&self.connection, &self.path)
    }

    /// Where the audit begins, if its first records were pruned.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>, StoreError> {
        if self.version < 2 {
            return Ok(None);
        }
        self.connection
            .query_row("SELECT seq, hash, signature FROM checkpoint", [], |row| {
                let (seq, hash) = (row.get::<_, i64>(0)?.cast_unsigned(), Hash(row.get(1)?));
                Ok(Checkpoint { seq, hash, signature: row.get(2)? })
            })
            .optional()
            .map_err(sql(&self.path))
    }

    /// From now on this reader sees the store as it is at one moment, whatever is written meanwhile.
    pub fn hold_still(&self) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN").map_err(sql(&self.path))
    }

    /// Passes every record from a place on, in order, until the visitor has enough.
    pub fn audit(&self, from: u64, visit: impl FnMut(Record) -> bool) -> Result<(), StoreError> {
        self.records("seq >= ?1 ORDER BY seq", from, visit)
    }

    /// Passes the records in front of a place, the newest first, until the visitor has enough.
    pub fn audit_backwards(&self, before: u64, visit: impl FnMut(Record) -> bool) -> Result<(), StoreError> {
        self.records("seq < ?1 ORDER BY seq DESC", before, visit)
    }

    fn records(&self, which: &str, at: u64, mut visit: impl FnMut(Record) -> bool) -> Result<(), StoreError> {
        let query = format!("SELECT seq, body, hash, kind, workspace, request_id FROM audit WHERE {which}");
        let mut statement = self.connection.prepare(&query).map_err(sql(&self.path))?;
        let mut rows = statement.query([i64::try_from(at).unwrap_or(i64::MAX)]).map_err(sql(&self.path))?;
        while let Some(row) = rows.next().map_err(sql(&self.path))? {
            let read = || -> rusqlite::Result<Record> {
                let looked_up_by = [row.get(3)?, row.get(4)?, row.get(5)?];
                let seq = row.get::<_, i64>(0)?.cast_unsigned();
                Ok(Record { seq, body: row.get(1)?, hash: Hash(row.get(2)?), looked_up_by })
            };
            if !visit(read().map_err(sql(&self.path))?) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{RecordKind, Verifier};
    use serde_json::json;

    fn entry(n: u64) -> Write {
        Write::Audit(Entry {
            at_ms: n,
            kind: RecordKind::Decision,
            workspace: WorkspaceName::parse("default"),
            request_id: RequestId::parse(&format!("00000000-0000-4000-8000-{n:012x}")),
            detail: json!({}),
        })
    }

    #[test]
    fn what_is_written_is_there_again_and_chained() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.db");
        let name = WorkspaceName::parse("default").unwrap();
        for round in 0..2_u64 {
            let store = Store::open(&path).unwrap();
            store.write_now(vec![entry(round * 2), entry(round * 2 + 1), Write::AddWorkspace(name.clone())]).unwrap();
            let seen = Seen { epoch: round, ..Seen::default() };
            store.write_now(vec![Write::Taint(name.clone(), seen.clone())]).unwrap();
            let reader = Reader::open(&path).unwrap();
            assert_eq!(reader.workspaces().unwrap(), std::slice::from_ref(&name));
            assert_eq!(reader.taints().unwrap(), [(name.clone(), seen)]);
        }
        let reader = Reader::open(&path).unwrap();
        let mut verifier = Verifier::new(None);
        reader.audit(1, |record| verifier.next(&record).is_ok()).unwrap();
        assert_eq!(verifier.finish().unwrap(), reader.head().unwrap());
        assert_eq!(reader.head().unwrap().0, 4);
        let id = RequestId::parse("00000000-0000-4000-8000-000000000001").unwrap();
        assert!(reader.is_decided(&name, &id).unwrap());
        assert!(!reader.is_decided(&WorkspaceName::parse("other").unwrap(), &id).unwrap());
    }

    #[test]
    fn a_second_decision_on_a_request_is_refused_and_leaves_no_trace() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.db");
        let store = Store::open(&path).unwrap();
        store.write_now(vec![entry(1)]).unwrap();
        assert!(store.write_now(vec![entry(2), entry(1)]).is_err());
        store.write_now(vec![entry(3)]).unwrap();
        assert_eq!(Reader::open(&path).unwrap().head().unwrap().0, 2);
    }

    #[test]
    fn in_a_group_a_refused_job_fails_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.db");
        let mut writer = Writer::new(connect(&path).unwrap(), &path).unwrap();
        let job = |writes| Job { writes, durable: false, done: Box::new(|_| ()) };
        let jobs = [job(vec![entry(1)]), job(vec![entry(2), entry(1)]), job(vec![entry(3), entry(4)])];
        let results: Vec<bool> = writer.write(&jobs).unwrap().iter().map(Result::is_ok).collect();
        assert_eq!(results, [true, false, true]);
        let reader = Reader::open(&path).unwrap();
        let mut verifier = Verifier::new(None);
        let mut times = Vec::new();
        reader
            .audit(1, |record| {
                times.push(serde_json::from_str::<serde_json::Value>(&record.body).unwrap()["at_ms"].as_u64().unwrap());
                verifier.next(&record).is_ok()
            })
            .unwrap();
        assert_eq!(verifier.finish().unwrap().0, 3, "the chain has no gap");
        assert_eq!(times, [1, 3, 4]);
    }

    #[test]
    fn a_store_of_the_first_version_becomes_a_current_one_and_loses_nothing_but_its_cards() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(schema::MIGRATIONS[0]).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        old.execute_batch(
            r#"INSERT INTO workspace VALUES ('default');
               INSERT INTO taint VALUES ('default', '{"taint":"corruption","epoch":3,"causes":[]}');
               INSERT INTO held VALUES ('00000000', 'boot', '{"id":"00000000"}');"#,
        )
        .unwrap();
        let (mut seq, mut head) = (0, Hash::START);
        apply(&old, &entry(1), &mut seq, &mut head).unwrap();
        drop(old);
        // It can be read as it is, too.
        assert_eq!(Reader::open(&path).unwrap().checkpoint().unwrap(), None);
        drop(Store::open(&path).unwrap());
        let reader = Reader::open(&path).unwrap();
        assert_eq!(reader.head().unwrap(), (1, head));
        assert_eq!(reader.workspaces().unwrap().len(), 1);
        assert_eq!(reader.taints().unwrap()[0].1.epoch, 3);
        assert!(reader.held("boot").unwrap().is_empty());
        assert_eq!(reader.checkpoint().unwrap(), None);
        drop(Store::open(&path).unwrap());
    }

    #[test]
    fn a_pruned_chain_goes_on_behind_its_checkpoint() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.db");
        let store = Store::open(&path).unwrap();
        for n in 1..=5 {
            store.write_now(vec![entry(n)]).unwrap();
        }
        let reader = Reader::open(&path).unwrap();
        let key = bashgate_shared::seal::HostKey::from_seed(&[7; 32]);
        let mut third = None;
        reader.audit(3, |record| third.replace(record.hash).is_some()).unwrap();
        let checkpoint = Checkpoint::sign(&key, 3, third.unwrap());
        store.write_now(vec![Write::Prune(checkpoint.clone()), entry(6)]).unwrap();
        drop(store);
        let store = Store::open(&path).unwrap();
        store.write_now(vec![entry(7)]).unwrap();
        assert_eq!(reader.checkpoint().unwrap().as_ref(), Some(&checkpoint));
        assert!(checkpoint.is_signed_by(key.public()));
        let other = Checkpoint { seq: 4, ..checkpoint.clone() };
        assert!(!other.is_signed_by(key.public()));
        let verify = |mut verifier: Verifier| {
            let mut broken = None;
            reader
                .audit(1, |record| {
                    broken = verifier.next(&record).err();
                    broken.is_none()
                })
                .unwrap();
            broken.map_or_else(|| verifier.finish(), Err)
        };
        assert_eq!(verify(Verifier::behind(&checkpoint, None)).unwrap(), reader.head().unwrap());
        assert!(verify(Verifier::behind(&checkpoint, Some(checkpoint.hash))).is_ok(), "the head of then still counts");
        assert!(verify(Verifier::new(None)).is_err() && verify(Verifier::behind(&other, None)).is_err());
        // What was pruned is no longer known as decided; what is left is.
        let id = |n| RequestId::parse(&format!("00000000-0000-4000-8000-{n:012x}")).unwrap();
        let name = WorkspaceName::parse("default").unwrap();
        assert!(!reader.is_decided(&name, &id(3)).unwrap() && reader.is_decided(&name, &id(4)).unwrap());
    }

    #[test]
    fn a_store_of_a_newer_version_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x.db");
        drop(Store::open(&path).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Store::open(&path), Err(StoreError::Newer { found: 99, .. })));
        assert!(matches!(Reader::open(&path), Err(StoreError::Newer { found: 99, .. })));
    }
}
