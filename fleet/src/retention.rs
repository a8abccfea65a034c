//! How long records stay in the fleet's database. What is taken away goes from the beginning of a chain, and the fleet's key signs up to
//! where: what is missing without that is found by [`crate::verify`] as ever.

use tokio_postgres::Client;

use super::MemberId;
use super::database::DatabaseError;
use super::folder::{Folder, FolderError};
use super::statement::{Checkpoint, Statement as _};
use super::verify::{self, Chain};
use bashgate::audit::Hash;
use bashgate::clock;

/// What became of a host's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pruned {
    /// So many are gone, and the chain goes on behind this one.
    Gone(u64, u64),
    /// None is old enough.
    Nothing,
    /// Something is wrong with them: they are evidence, and stay.
    Wrong,
}

/// Takes away records that are older than a moment, in milliseconds since 1970. All of them are verified first; the last one of each host
/// stays. What is wrong with whose is said by [`verify::verify`].
pub async fn prune(
    folder: &mut Folder,
    client: &mut Client,
    before_ms: u64,
) -> Result<Vec<(MemberId, Pruned)>, FolderError> {
    let report = verify::verify(folder, client).await?;
    let mut all = Vec::new();
    for Chain { member, upto, .. } in &report.chains {
        let is_its = |finding: &&verify::Finding| {
            finding.host == member.host.as_str()
                && finding.number == member.number
                && finding.kind != verify::Kind::Silent
        };
        let what = if report.findings.iter().any(|finding| is_its(&finding)) {
            Pruned::Wrong
        } else {
            prune_one(folder, client, member, *upto, before_ms).await?
        };
        all.push((member.clone(), what));
    }
    drop_empty_months(client, before_ms).await?;
    Ok(all)
}

async fn prune_one(
    folder: &Folder,
    client: &mut Client,
    member: &MemberId,
    upto: u64,
    before_ms: u64,
) -> Result<Pruned, FolderError> {
    let (host, number) = (member.host.as_str(), member.number);
    let (before, last) = (i64::try_from(before_ms).unwrap_or(i64::MAX), upto.cast_signed());
    let transaction = client.transaction().await.map_err(DatabaseError::from)?;
    // Up to the first one that is young enough: a chain has no hole.
    let row = transaction
        .query_opt(
            "SELECT seq, hash FROM bashgate.record WHERE host = $1 AND number = $2 AND seq < $4 AND seq < coalesce(
                 (SELECT min(seq) FROM bashgate.record WHERE host = $1 AND number = $2 AND at_ms >= $3), $4)
             ORDER BY seq DESC LIMIT 1",
            &[&host, &number, &before, &last],
        )
        .await?;
    let Some(row) = row else { return Ok(Pruned::Nothing) };
    let seq: i64 = row.get(0);
    let Ok(hash) = <[u8; 32]>::try_from(row.get::<_, Vec<u8>>(1)) else { return Ok(Pruned::Wrong) };
    let signed = Checkpoint {
        member: member.clone(),
        seq: seq.cast_unsigned(),
        hash: Hash(hash).to_string(),
        at_ms: clock::now().unix_ms,
    }
    .sign(&folder.key);
    transaction
        .execute(
            "INSERT INTO bashgate.checkpoint (host, number, text, signature) VALUES ($1, $2, $3, $4)
             ON CONFLICT (host, number) DO UPDATE SET text = $3, signature = $4",
            &[&host, &number, &signed.text, &signed.signature],
        )
        .await?;
    let gone = transaction
        .execute("DELETE FROM bashgate.record WHERE host = $1 AND number = $2 AND seq <= $3", &[&host, &number, &seq])
        .await?;
    transaction.commit().await?;
    Ok(Pruned::Gone(gone, seq.cast_unsigned()))
}

/// Months that are over and have no record any more need no part of their own.
async fn drop_empty_months(client: &Client, before_ms: u64) -> Result<(), DatabaseError> {
    let before = i64::try_from(before_ms).unwrap_or(i64::MAX);
    let rows = client
        .query(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'bashgate' AND tablename ~ '^record_[0-9]{4}_[0-9]{2}$'
             AND tablename < 'record_' || to_char(to_timestamp($1::bigint / 1000) AT TIME ZONE 'UTC', 'YYYY_MM')",
            &[&before],
        )
        .await?;
    for row in &rows {
        let name: String = row.get(0);
        // Made of letters, digits and `_`.
        let empty = client.query_opt(&format!("SELECT 1 FROM bashgate.{name} LIMIT 1"), &[]).await?.is_none();
        if empty {
            client.batch_execute(&format!("DROP TABLE bashgate.{name}")).await?;
        }
    }
    Ok(())
}
