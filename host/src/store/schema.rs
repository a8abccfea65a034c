//! The store's tables and how an older store becomes a current one.

use std::path::Path;

use rusqlite::Connection;

use super::{StoreError, sql};

/// The version of the tables, kept in `user_version`.
pub(super) const VERSION: u32 = 6;

/// One script for each version, in order.
pub(super) const MIGRATIONS: &[&str] = &["
    CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        workspace TEXT,
        request_id TEXT,
        body TEXT NOT NULL,
        hash BLOB NOT NULL
    );
    -- One last word for each request.
    CREATE UNIQUE INDEX audit_decision ON audit (workspace, request_id) WHERE kind = 'decision';
    CREATE TABLE taint (workspace TEXT PRIMARY KEY, seen TEXT NOT NULL);
    CREATE TABLE workspace (name TEXT PRIMARY KEY);
    CREATE TABLE held (id TEXT PRIMARY KEY, boot TEXT NOT NULL, card TEXT NOT NULL);
",
"
    -- Where the audit begins when its first records were pruned.
    CREATE TABLE checkpoint (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL, signature TEXT NOT NULL);
    -- Cards of version 1 lack what they are about; who still waits asks again under a new one.
    DELETE FROM held;
",
"
    -- Managed scripts that a person approved: the digest of manifest and text, and who said so when.
    CREATE TABLE script (
        workspace TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        name TEXT NOT NULL,
        by TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (workspace, sha256)
    );
",
"
    -- What acts later in each workspace's projects, as its container said last; and whether a command was let through since.
    CREATE TABLE acting (
        workspace TEXT NOT NULL,
        root TEXT NOT NULL,
        files TEXT NOT NULL,
        unlooked INTEGER NOT NULL DEFAULT 0,
        at INTEGER PRIMARY KEY AUTOINCREMENT,
        UNIQUE (workspace, root)
    );
",
"
    -- What people approved a script as, to be compared with what somebody makes of it later.
    ALTER TABLE script ADD COLUMN shown TEXT NOT NULL DEFAULT '';
",
"
    -- Files as they were when people last said yes to a command that they steer, to be compared with what somebody makes of them later.
    CREATE TABLE approved_file (
        workspace TEXT NOT NULL,
        path TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        head TEXT NOT NULL,
        by TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (workspace, path)
    ) WITHOUT ROWID;
"];

fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(sql(path))?;
    if found > VERSION { Err(StoreError::Newer { path: path.to_owned(), found }) } else { Ok(found) }
}

/// Brings a store to the current version, each step whole or not at all.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let found = version(connection, path)?;
    for (number, script) in (1_u32..).zip(MIGRATIONS).filter(|(number, _)| *number > found) {
        let transaction = connection.transaction().map_err(sql(path))?;
        transaction.execute_batch(script).map_err(sql(path))?;
        transaction.pragma_update(None, "user_version", number).map_err(sql(path))?;
        transaction.commit().map_err(sql(path))?;
    }
    Ok(())
}

/// Refuses a store that this version does not know: which version it has.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    version(connection, path)
}
