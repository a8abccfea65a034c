//! Whether everything that hosts have sent is in the database, as they have sent it.
//!
//! It is held against what the database cannot know how to forge: the fleet's key and what is known of each host in the fleet's own
//! folder, each host's signature of where its chain ends, and the end of each chain as it was when it was verified last.

use std::collections::BTreeMap;

use bashgate_shared::seal::PublicKey;
use serde::Serialize;
use tokio_postgres::{Client, IsolationLevel, Row, Transaction};

use super::MemberId;
use super::database::DatabaseError;
use super::folder::{Folder, FolderError, Known, Seen};
use super::pages;
use super::statement::{self, Checkpoint, Head, Member, Revoked, Start};
use bashgate::audit::{Broken, Hash, Record, Verifier};
use bashgate::clock;

/// So many records are fetched at a time.
const PAGE: usize = 2000;
/// How old a head may be, in milliseconds, and how far in the future by another clock.
pub const FRESH_MS: u64 = 5 * 60 * 1000;

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Records are missing in between.
    Gap,
    /// A record, or one before it, was changed, moved or replaced.
    Changed,
    /// A record stands there twice.
    Twice,
    /// A record's columns say something else than its body.
    Misfiled,
    /// Records are missing at the end.
    CutTail,
    /// Records stand behind the end that the host has signed.
    Added,
    /// The end of the chain is not said, or not by the host.
    NoHead,
    /// Where the chain begins is not said by the host.
    NoStart,
    /// The database is older than it was: what was there when it was verified last is gone or replaced.
    PutBack,
    /// The host has not spoken for a while: it is cut off, or what it says is held back.
    Silent,
    /// The host's clock is ahead.
    Clock,
    /// What the fleet's key has signed of the host is missing or changed.
    NotMember,
    /// A host is in the database that the fleet does not know.
    Stranger,
    /// A host that joined is not in the database any more.
    Gone,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The host, as the database or the fleet's folder names it.
    pub host: String,
    /// Which of its chains.
    pub number: i32,
    /// The record, where it is about one.
    pub record: Option<u64>,
    /// What kind.
    pub kind: Kind,
    /// In words.
    pub words: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = if self.number == 1 { String::new() } else { format!(" ({})", self.number) };
        write!(f, "{}{number}: {}", self.host, self.words)
    }
}

/// A host's chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// The host.
    pub member: MemberId,
    /// How many records were looked at.
    pub records: u64,
    /// The last one that is in order.
    pub upto: u64,
    /// When the host spoke last, in milliseconds since 1970 by its own clock.
    pub spoke_ms: Option<u64>,
    /// It belongs to the fleet no more.
    pub revoked: bool,
}

/// What was found.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Every host that has joined.
    pub chains: Vec<Chain>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Looks at everything, as it is at one moment. What is in order is kept in the folder, to be held against later.
pub async fn verify(folder: &mut Folder, client: &mut Client) -> Result<Report, FolderError> {
    let (report, seen) = look(folder.hosts(), *folder.root(), client).await?;
    folder.saw(seen)?;
    Ok(report)
}

/// The same without a folder, which others may work on meanwhile: what is wrong, and what is to be kept there of each host.
pub async fn look(
    hosts: &[Known],
    root: PublicKey,
    client: &mut Client,
) -> Result<(Report, Vec<(MemberId, Seen)>), DatabaseError> {
    let mut report = Report::default();
    let mut seen = Vec::new();
    let snapshot = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true).start();
    let snapshot = snapshot.await.map_err(DatabaseError::from)?;
    // What is said at one moment is not older than it: see `Silent`.
    let now = clock::now().unix_ms;
    for known in hosts.iter().filter(|known| known.key.is_some() && !known.desk) {
        let (chain, end) = Look { root: &root, known, now, findings: &mut report.findings }.host(&snapshot).await?;
        if let Some((seq, hash)) = end {
            seen.push((known.member.clone(), Seen { seq, hash: hash.to_string(), at_ms: now }));
        }
        report.chains.push(chain);
    }
    report.findings.extend(strangers(hosts, &snapshot).await?);
    Ok((report, seen))
}

/// Rows of hosts that the fleet does not know. One whose token nobody has used yet has a row, and no records.
async fn strangers(hosts: &[Known], snapshot: &Transaction<'_>) -> Result<Vec<Finding>, DatabaseError> {
    let named = |known: &Known| (known.member.host.to_string(), known.member.number);
    let known: BTreeMap<(String, i32), bool> =
        hosts.iter().map(|known| (named(known), known.key.is_some() && !known.desk)).collect();
    let rows = snapshot
        .query(
            "SELECT host, number, false FROM host
             UNION SELECT DISTINCT host, number, true FROM head
             UNION SELECT DISTINCT host, number, true FROM record",
            &[],
        )
        .await?;
    let stranger = |row: &Row| {
        let (host, number, has_records): (String, i32, bool) = (row.get(0), row.get(1), row.get(2));
        let is_fine = known.get(&(host.clone(), number)).is_some_and(|joined| *joined || !has_records);
        let words = if has_records {
            "has records, and has never joined: somebody added them".to_owned()
        } else {
            "is in the database, and not among the fleet's hosts: somebody added it".to_owned()
        };
        (!is_fine).then_some(Finding { host, number, record: None, kind: Kind::Stranger, words })
    };
    Ok(rows.iter().filter_map(stranger).collect())
}

/// A look at one host.
struct Look<'a> {
    root: &'a PublicKey,
    known: &'a Known,
    now: u64,
    findings: &'a mut Vec<Finding>,
}

impl Look<'_> {
    fn found(&mut self, kind: Kind, record: Option<u64>, words: impl Into<String>) {
        let MemberId { host, number, .. } = &self.known.member;
        self.findings.push(Finding { host: host.to_string(), number: *number, record, kind, words: words.into() });
    }

    async fn host(mut self, snapshot: &Transaction<'_>) -> Result<(Chain, Option<(u64, Hash)>), DatabaseError> {
        let member = &self.known.member;
        let of: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&member.host.as_str(), &member.number];
        let revoked = self.known.revoked_ms.is_some();
        let mut chain = Chain { member: member.clone(), records: 0, upto: 0, spoke_ms: None, revoked };
        let key = self.known.key.as_deref().and_then(PublicKey::parse);
        let row = snapshot.query_opt(
            "SELECT member, member_signature, revoked, revoked_signature FROM host WHERE host = $1 AND number = $2",
            &of,
        );
        match row.await? {
            None => self.found(Kind::Gone, None, "is not in the database any more"),
            Some(row) => self.membership(&row),
        }
        let row = snapshot.query_opt(
            "SELECT head, head_signature, start, start_signature FROM head WHERE host = $1 AND number = $2",
            &of,
        );
        let row = row.await?;
        let head = row.as_ref().and_then(|row| statement::in_row(row, 0)?.read::<Head>(&key?));
        let head = head.filter(|head| head.member == *member);
        let end = head.as_ref().and_then(Head::end);
        if row.is_some() && end.is_none() {
            self.found(Kind::NoHead, None, "the end of its chain is not what it has signed");
        }
        chain.spoke_ms = head.as_ref().map(|head| head.at_ms);
        self.speaks(chain.spoke_ms);
        // Where the chain begins: with the first record, or where the host has signed that the ones before were pruned.
        let said = row.as_ref().filter(|row| row.get::<_, Option<String>>(2).is_some());
        let start = said
            .and_then(|row| statement::in_row(row, 2)?.read::<Start>(&key?))
            .filter(|start| start.member == *member);
        let start = start.and_then(|start| Some((start.seq, Hash::parse(&start.hash)?)));
        if said.is_some() && start.is_none() {
            self.found(Kind::NoStart, None, "the beginning of its chain is not what it has signed");
        }
        // What the fleet has taken away on purpose is not missed.
        let said =
            snapshot.query_opt("SELECT text, signature FROM checkpoint WHERE host = $1 AND number = $2", &of).await?;
        let taken = said.and_then(|row| statement::in_row(&row, 0)?.read::<Checkpoint>(self.root));
        let taken = taken.filter(|taken| taken.member == *member);
        let taken = taken.and_then(|taken| Some((taken.seq, Hash::parse(&taken.hash)?)));
        let start = start.unwrap_or((0, Hash::START));
        let begin = taken.filter(|taken| taken.0 > start.0).unwrap_or(start);
        let seen = self.known.seen.as_ref().and_then(|seen| Some((seen.seq, Hash::parse(&seen.hash)?, seen.at_ms)));
        let followed = self.follow(snapshot, begin, seen.map(|(seq, hash, _)| (seq, hash))).await?;
        chain.records = followed.records;
        chain.upto = followed.last.0;
        if row.is_none() && followed.records > 0 {
            self.found(Kind::NoHead, None, "it has records, and nothing says where they end");
        }
        if let Some((seq, _, at_ms)) = seen.filter(|_| !followed.passed && !followed.broken) {
            let words =
                format!("the database is older than it was: it held records up to {seq} at {}", clock::date(at_ms));
            self.found(Kind::PutBack, Some(seq), words);
        }
        if !followed.broken
            && let Some((seq, hash)) = end
        {
            let (last, last_hash) = followed.last;
            if last < seq {
                self.found(
                    Kind::CutTail,
                    Some(last + 1),
                    format!("records {} to {seq} are missing at the end", last + 1),
                );
            } else if last > seq {
                self.found(Kind::Added, Some(seq + 1), format!("records behind {seq} are none that it has signed for"));
            } else if last_hash != hash {
                self.found(Kind::Changed, Some(last), "the last record is another one than it has signed for");
            }
        }
        let is_whole = !followed.broken && end == Some(followed.last);
        Ok((chain, is_whole.then_some(followed.last)))
    }

    /// What the fleet's key has signed of it.
    fn membership(&mut self, row: &Row) {
        let member = statement::in_row(row, 0).and_then(|signed| signed.read::<Member>(self.root));
        if member
            .is_none_or(|member| member.member != self.known.member || Some(&member.key) != self.known.key.as_ref())
        {
            self.found(Kind::NotMember, None, "what the fleet's key has signed of it is gone or changed");
        }
        let revoked = statement::in_row(row, 2).and_then(|signed| signed.read::<Revoked>(self.root));
        let is_said = revoked.is_some_and(|revoked| revoked.member == self.known.member);
        if is_said != self.known.revoked_ms.is_some() {
            let words = if is_said {
                "the database says that it was revoked, and the fleet's folder does not: an old copy of the folder?"
            } else {
                "the database does not say that it was revoked: revoke it again"
            };
            self.found(Kind::NotMember, None, words);
        }
    }

    /// Whether it has spoken of late.
    fn speaks(&mut self, spoke_ms: Option<u64>) {
        if self.known.revoked_ms.is_some() {
            return;
        }
        match spoke_ms {
            None => self.found(Kind::Silent, None, "has joined, and nothing that it has signed is there"),
            Some(at_ms) if at_ms > self.now + FRESH_MS => {
                self.found(Kind::Clock, None, format!("its clock is ahead: it says {}", clock::date(at_ms)));
            }
            Some(at_ms) if at_ms + FRESH_MS < self.now => {
                let words =
                    format!("has not spoken since {}: it is cut off, or what it says is held back", clock::date(at_ms));
                self.found(Kind::Silent, None, words);
            }
            Some(_) => {}
        }
    }

    /// Follows its records from where they begin, up to the first one that does not fit.
    async fn follow(
        &mut self,
        snapshot: &Transaction<'_>,
        begin: (u64, Hash),
        seen: Option<(u64, Hash)>,
    ) -> Result<Followed, DatabaseError> {
        let member = &self.known.member;
        let (host, number) = (member.host.as_str().to_owned(), member.number);
        let mut verifier = Verifier::after(begin.0, begin.1);
        let mut followed = Followed {
            records: 0,
            last: begin,
            passed: seen.is_none_or(|seen| seen == begin || seen.0 < begin.0),
            broken: false,
        };
        let mut from = (i64::MIN, i64::MIN);
        // By place and time: a place that stands there twice stands there at two times.
        let query = pages::query(
            "seq, at_ms, hash, kind, workspace, request_id",
            "host = $1 AND number = $2 AND (seq, at_ms) > ($3, $4)",
            "seq, at_ms",
            PAGE,
        );
        let query = snapshot.prepare(&query).await?;
        loop {
            let rows = snapshot.query(&query, &[&host, &number, &from.0, &from.1]).await?;
            for row in &rows {
                from = (row.get(0), row.get(1));
                followed.records += 1;
                let Some(record) = record(row) else {
                    self.found(Kind::Changed, u64::try_from(from.0).ok(), "the record does not read back");
                    followed.broken = true;
                    return Ok(followed);
                };
                if let Err(broken) = verifier.next(&record) {
                    let kind = match broken {
                        Broken::Gap { expected, found } if found + 1 == expected => Kind::Twice,
                        Broken::Gap { .. } => Kind::Gap,
                        _ => Kind::Changed,
                    };
                    let at = match broken {
                        Broken::Gap { expected, .. } if kind == Kind::Gap => expected,
                        _ => record.seq,
                    };
                    let is_misfiled = kind == Kind::Changed && verifier.fits(&record);
                    let kind = if is_misfiled { Kind::Misfiled } else { kind };
                    let words = if is_misfiled {
                        format!("record {} is looked up by something else than it says", record.seq)
                    } else {
                        broken.to_string()
                    };
                    self.found(kind, Some(at), words);
                    followed.broken = true;
                    return Ok(followed);
                }
                if i64::try_from(record.at_ms()).ok() != Some(from.1) {
                    let words = format!("record {} is looked up by another time than it says", record.seq);
                    self.found(Kind::Misfiled, Some(record.seq), words);
                    followed.broken = true;
                    return Ok(followed);
                }
                followed.last = (record.seq, record.hash);
                followed.passed |= seen == Some(followed.last);
            }
            if rows.is_empty() {
                return Ok(followed);
            }
        }
    }
}

/// How far a chain could be followed.
struct Followed {
    records: u64,
    last: (u64, Hash),
    /// The end that was seen when it was verified last came by.
    passed: bool,
    broken: bool,
}

/// The record of a row; `None` where the row can be none.
fn record(row: &Row) -> Option<Record> {
    let hash: Vec<u8> = row.get(2);
    let (kind, workspace, request): (String, Option<String>, Option<String>) = (row.get(3), row.get(4), row.get(5));
    Some(Record {
        seq: u64::try_from(row.get::<_, i64>(0)).ok()?,
        body: row.get::<_, Option<String>>(6)?,
        hash: Hash(hash.try_into().ok()?),
        looked_up_by: [Some(kind), workspace, request],
    })
}

/// A host's latest word and how many records it has, for a list.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// The host, or desk.
    pub member: MemberId,
    /// For a desk, its key once it has joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desk: Option<Option<String>>,
    /// It has joined.
    pub joined: bool,
    /// It was revoked.
    pub revoked: bool,
    /// The end of its chain, as it has signed.
    pub records: Option<u64>,
    /// When it said so, in milliseconds since 1970 by its own clock.
    pub spoke_ms: Option<u64>,
}

/// The fleet's hosts, as far as signatures say; chains are not followed.
pub async fn list(folder: &Folder, client: &Client) -> Result<Vec<Listed>, DatabaseError> {
    let mut listed = Vec::new();
    for known in folder.hosts() {
        let member = &known.member;
        let row = client
            .query_opt(
                "SELECT head, head_signature FROM head WHERE host = $1 AND number = $2",
                &[&member.host.as_str(), &member.number],
            )
            .await?;
        let key = known.key.as_deref().and_then(PublicKey::parse);
        let head =
            row.and_then(|row| statement::in_row(&row, 0)?.read::<Head>(&key?)).filter(|head| head.member == *member);
        listed.push(Listed {
            member: member.clone(),
            desk: known.desk.then(|| known.key.clone()),
            joined: known.key.is_some(),
            revoked: known.revoked_ms.is_some(),
            records: head.as_ref().map(|head| head.seq),
            spoke_ms: head.as_ref().map(|head| head.at_ms),
        });
    }
    Ok(listed)
}
