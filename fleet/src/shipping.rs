//! What the host recorded goes to the fleet's database, in order and once, whenever the database is there.
//!
//! Nothing is queued for it: the queue is the host's own audit, of which is sent what the database has not got yet.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashgate_shared::say;
use bashgate_shared::seal::HostKey;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Transaction};

use super::database::{DatabaseError, Notices, Pauses};
use super::membership::{Membership, MembershipError, Taken};
use super::statement::{self, Head, Start, Statement as _};
use bashgate::audit::{Hash, Record};
use bashgate::clock;
use bashgate::fleet::Standing;
use bashgate::fleet::wire::FromFleet;
use bashgate::state::{self, StateError};
use bashgate::store::{Reader, StoreError};

/// How often the host's own record is looked at for something new.
const LOOK: Duration = Duration::from_millis(250);
/// How often it is looked whether the host is a member again.
const MEMBER: Duration = Duration::from_secs(2);
/// How often a head is signed anew where nothing is new: whoever reads an older one knows that the host is cut off.
pub const HEAD_EVERY: Duration = Duration::from_mins(1);
/// How long is waited before the next try, first and most.
const WAITS: [Duration; 2] = [Duration::from_millis(500), Duration::from_mins(1)];
/// Most records that are sent in one go.
const RECORDS: usize = 2000;
/// So many bytes of them are enough for one go.
const BYTES: usize = 4 << 20;

/// Why nothing can be sent at the moment, or until somebody does something.
#[derive(Debug, thiserror::Error)]
pub enum ShippingError {
    /// The membership.
    #[error(transparent)]
    Membership(#[from] MembershipError),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The host's own store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A key.
    #[error(transparent)]
    State(#[from] StateError),
    /// The host has not given the database its key yet.
    #[error(
        "joining the fleet is not finished; where it was cut off, run `bashgate fleet join` with the same token again"
    )]
    Unfinished,
    /// The fleet's key has not signed yet.
    #[error("whoever runs the fleet has not taken this host in yet; `bashgate fleet list` there does it")]
    NotTaken,
    /// The host was revoked.
    #[error("this host was revoked: it belongs to the fleet no more")]
    Revoked,
    /// The database has what the host has not.
    #[error(
        "the fleet has records up to {there} of this host, which has {here} itself: it was put back to an older state, or two hosts \
         have one identity; revoke it, and join again with a new token"
    )]
    Behind {
        /// The last one there.
        there: u64,
        /// The last one here.
        here: u64,
    },
    /// The database has another record than the host.
    #[error(
        "record {0} is another one in the fleet than here: two hosts have one identity, or this one was put back to an older state; \
         revoke it, and join again with a new token"
    )]
    Other(u64),
    /// What would come next was forgotten here.
    #[error(
        "records behind {there} were pruned here, up to {here}, before the fleet had them; revoke this host, and join again"
    )]
    Pruned {
        /// The last one there.
        there: u64,
        /// The last one that is gone here.
        here: u64,
    },
    /// The database's tables are an earlier version's.
    #[error(
        "the fleet's tables are of an older version; where the fleet is run, with this version: bashgate fleet list"
    )]
    OldTables,
    /// What the database says of this host, this host has not said.
    #[error(
        "somebody changed what the fleet's database holds of this host; run `bashgate fleet verify`, and see who could"
    )]
    Forged,
}

impl From<tokio_postgres::Error> for ShippingError {
    fn from(error: tokio_postgres::Error) -> Self {
        if error.code() == Some(&SqlState::UNDEFINED_TABLE) {
            return Self::OldTables;
        }
        Self::Database(error.into())
    }
}

/// Sends the record of the host with this state folder for as long as somebody keeps this process, and says how it stands in a line of JSON
/// ([`FromFleet`]) each time when that is another.
pub async fn ship(state: &Path) {
    Work { state: state.to_owned(), standing: Standing::default() }.run().await;
}

struct Work {
    state: PathBuf,
    standing: Standing,
}

/// Where the chain in the database ends, as the host has signed; `None` where it has sent nothing yet.
type End = Option<(u64, Hash)>;

impl Work {
    fn stands(&mut self, change: impl FnOnce(&mut Standing)) {
        let before = self.standing.clone();
        change(&mut self.standing);
        if self.standing != before {
            // Whoever has gone hears no more of it.
            let said = FromFleet::Standing(self.standing.clone());
            say!("{}", serde_json::to_string(&said).unwrap_or_default());
        }
    }

    async fn run(mut self) {
        let [first, most] = WAITS;
        let mut pauses = Pauses::new(first, most);
        loop {
            pauses.begins();
            let error = match Membership::load(&self.state) {
                Ok(Some(membership)) => match self.send(membership).await {
                    Ok(()) => continue,
                    Err(error) => error,
                },
                // It has left: whoever started this ends it.
                Ok(None) => {
                    self.stands(|standing| *standing = Standing::default());
                    tokio::time::sleep(MEMBER).await;
                    continue;
                }
                Err(error) => error.into(),
            };
            self.stands(|standing| standing.trouble = Some(error.to_string()));
            tokio::time::sleep(pauses.pause()).await;
        }
    }

    /// Sends what is there and what comes, until something fails or the host belongs to the fleet no more.
    async fn send(&mut self, membership: Membership) -> Result<(), ShippingError> {
        self.stands(|standing| standing.member = Some(membership.member.to_string()));
        let (key, mut client) = entered(&membership, &self.state, Arc::default()).await?;
        let reader = Reader::open(&state::store(&self.state))?;
        let sender = Sender { membership: &membership, key: &key, reader: &reader };
        let mut said_at = None::<Instant>;
        let mut sent = None;
        loop {
            let (here, _) = reader.head()?;
            let is_due = said_at.is_none_or(|at| at.elapsed() >= HEAD_EVERY);
            if sent == Some(here) && !is_due {
                tokio::time::sleep(LOOK).await;
                // It may have left the fleet.
                if Membership::load(&self.state)?.as_ref() != Some(&membership) {
                    return Ok(());
                }
                continue;
            }
            let seq = sender.round(&mut client).await?;
            (sent, said_at) = (Some(seq), Some(Instant::now()));
            self.stands(|standing| (standing.sent, standing.trouble) = (Some(seq), None));
        }
    }
}

/// The key of a host that belongs to its fleet, and a connection to the fleet's database, which tells what was listened for.
pub(crate) async fn entered(
    membership: &Membership,
    state: &Path,
    hears: Arc<Notices>,
) -> Result<(HostKey, Client), ShippingError> {
    // Two at once would use up the token under each other's hands.
    if !membership.is_complete() {
        return Err(ShippingError::Unfinished);
    }
    let key = membership.key(state)?;
    let client = membership.address.connect_and_hear(&membership.login(), hears).await?;
    match membership.taken(&client, key.public()).await? {
        Taken::Yes => Ok((key, client)),
        Taken::NotYet => Err(ShippingError::NotTaken),
        Taken::Revoked => Err(ShippingError::Revoked),
    }
}

struct Sender<'a> {
    membership: &'a Membership,
    key: &'a HostKey,
    reader: &'a Reader,
}

impl Sender<'_> {
    /// Sends what comes next, and says where the chain ends now: all of it, or nothing.
    async fn round(&self, client: &mut Client) -> Result<u64, ShippingError> {
        let transaction = client.transaction().await?;
        let end = self.end(&transaction).await?;
        let (seq, hash) = self.follows(end)?;
        let (mut records, mut bytes) = (Vec::new(), 0);
        self.reader.audit(seq + 1, |record| {
            bytes += record.body.len();
            records.push(record);
            records.len() < RECORDS && bytes < BYTES
        })?;
        let (mut last, mut head) = (seq, hash);
        for record in &records {
            // A chain with a hole is not sent on: the store is damaged.
            if record.seq != last + 1 {
                return Err(self.reader.damaged(format!("record {} is missing", last + 1)).into());
            }
            (last, head) = (record.seq, record.hash);
        }
        // One behind the other, without waiting in between.
        tokio::try_join!(
            self.add(&transaction, &records),
            self.say(&transaction, end.is_none().then_some((seq, hash)), (last, head))
        )?;
        transaction.commit().await?;
        Ok(last)
    }

    /// Where the chain in the database ends. Whoever else sends as this host waits.
    async fn end(&self, transaction: &Transaction<'_>) -> Result<End, ShippingError> {
        let (host, number) = (self.membership.member.host.as_str(), self.membership.member.number);
        let of: [(&(dyn ToSql + Sync), Type); 2] = [(&host, Type::TEXT), (&number, Type::INT4)];
        // The second one is looked at once the first one is locked, without waiting in between.
        let (row, there) = tokio::try_join!(
            transaction.query_typed_opt(
                "SELECT head, head_signature FROM head WHERE host = $1 AND number = $2 FOR UPDATE",
                &of,
            ),
            transaction.query_typed_one("SELECT max(seq) FROM record WHERE host = $1 AND number = $2", &of),
        )?;
        let there: Option<i64> = there.get(0);
        let Some(row) = row else {
            // Records that no head speaks of are not ours, or their head is gone.
            return if there.is_none() { Ok(None) } else { Err(ShippingError::Forged) };
        };
        let head = statement::in_row(&row, 0).and_then(|signed| signed.read::<Head>(self.key.public()));
        let head = head.filter(|head| head.member == self.membership.member);
        let (seq, hash) = head.and_then(|head| head.end()).ok_or(ShippingError::Forged)?;
        let there = there.map_or(0, i64::cast_unsigned);
        if there > seq {
            return Err(ShippingError::Forged);
        }
        Ok(Some((seq, hash)))
    }

    /// The record behind which the host goes on, after a look at whether both chains are one.
    fn follows(&self, end: End) -> Result<(u64, Hash), ShippingError> {
        let (pruned, pruned_hash) =
            self.reader.checkpoint()?.map_or((0, Hash::START), |checkpoint| (checkpoint.seq, checkpoint.hash));
        let Some((seq, hash)) = end else { return Ok((pruned, pruned_hash)) };
        let (here, _) = self.reader.head()?;
        if seq > here {
            return Err(ShippingError::Behind { there: seq, here });
        }
        if seq < pruned {
            return Err(ShippingError::Pruned { there: seq, here: pruned });
        }
        let mut own = (seq == pruned).then_some(pruned_hash);
        if own.is_none() {
            self.reader.audit(seq, |record| {
                own = Some(record.hash).filter(|_| record.seq == seq);
                false
            })?;
        }
        if own == Some(hash) { Ok((seq, hash)) } else { Err(ShippingError::Other(seq)) }
    }

    async fn add(&self, transaction: &Transaction<'_>, records: &[Record]) -> Result<(), ShippingError> {
        if records.is_empty() {
            return Ok(());
        }
        let (host, number) = (self.membership.member.host.as_str(), self.membership.member.number);
        let seqs: Vec<i64> = records.iter().map(|record| record.seq.cast_signed()).collect();
        let times: Vec<i64> = records.iter().map(|record| i64::try_from(record.at_ms()).unwrap_or(i64::MAX)).collect();
        let by = |at: usize| records.iter().map(move |record| record.looked_up_by.get(at).and_then(Option::as_deref));
        let kinds: Vec<&str> = by(0).map(Option::unwrap_or_default).collect();
        let (workspaces, requests): (Vec<_>, Vec<_>) = (by(1).collect(), by(2).collect());
        let bodies: Vec<&str> = records.iter().map(|record| record.body.as_str()).collect();
        let hashes: Vec<&[u8]> = records.iter().map(|record| record.hash.0.as_slice()).collect();
        transaction
            .execute_typed(
                "INSERT INTO record (host, number, seq, at_ms, kind, workspace, request_id, body, hash)
                 SELECT $1, $2, * FROM unnest($3, $4, $5, $6, $7, $8, $9)",
                &[
                    (&host, Type::TEXT),
                    (&number, Type::INT4),
                    (&seqs, Type::INT8_ARRAY),
                    (&times, Type::INT8_ARRAY),
                    (&kinds, Type::TEXT_ARRAY),
                    (&workspaces, Type::TEXT_ARRAY),
                    (&requests, Type::TEXT_ARRAY),
                    (&bodies, Type::TEXT_ARRAY),
                    (&hashes, Type::BYTEA_ARRAY),
                ],
            )
            .await?;
        Ok(())
    }

    /// Signs where the chain begins, if that is not said yet, and where it ends.
    async fn say(
        &self,
        transaction: &Transaction<'_>,
        start: End,
        (seq, hash): (u64, Hash),
    ) -> Result<(), ShippingError> {
        let member = &self.membership.member;
        let (host, number) = (member.host.as_str(), member.number);
        let at_ms = clock::now().unix_ms;
        let head = Head { member: member.clone(), seq, hash: hash.to_string(), at_ms }.sign(self.key);
        let Some((from, before)) = start else {
            transaction
                .execute_typed(
                    "UPDATE head SET head = $3, head_signature = $4 WHERE host = $1 AND number = $2",
                    &[
                        (&host, Type::TEXT),
                        (&number, Type::INT4),
                        (&head.text, Type::TEXT),
                        (&head.signature, Type::TEXT),
                    ],
                )
                .await?;
            return Ok(());
        };
        let start =
            (from > 0).then(|| Start { member: member.clone(), seq: from, hash: before.to_string() }.sign(self.key));
        let (text, signature) = start.map(|signed| (signed.text, signed.signature)).unzip();
        transaction
            .execute(
                "INSERT INTO head (host, number, start, start_signature, head, head_signature) VALUES ($1, $2, $3, $4, $5, $6)",
                &[&host, &number, &text, &signature, &head.text, &head.signature],
            )
            .await?;
        Ok(())
    }
}
