//! The audit: append-only records, each bound to the one before by a hash.
//!
//! A record holds commands as they were; only here are credentials not masked. A cut at the tail shows only against a
//! head that was kept elsewhere.

mod check;
mod decision;

pub use check::{CheckError, Checked, check};
pub use decision::DecisionRecord;

use bashgate_shared::command::{hex, unhex};
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use bashgate_shared::seal::{HostKey, PublicKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// The host started or stopped.
    Host,
    /// The last word on a request.
    Decision,
    /// A command was held, or an approval ended without an answer.
    Approval,
    /// A person's answer.
    Answer,
    /// A taint was raised or cleared by a person or the configuration.
    Taint,
    /// A workspace was added, renewed or removed.
    Workspace,
    /// A request that could not be taken.
    Reject,
    /// A connection out of a container, or one that was refused.
    Egress,
}

impl RecordKind {
    /// The word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Decision => "decision",
            Self::Approval => "approval",
            Self::Answer => "answer",
            Self::Taint => "taint",
            Self::Workspace => "workspace",
            Self::Reject => "reject",
            Self::Egress => "egress",
        }
    }
}

/// A record before it has its place in the chain.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What it is about.
    pub kind: RecordKind,
    /// The workspace, if it is about one.
    pub workspace: Option<WorkspaceName>,
    /// The request, if it is about one.
    pub request_id: Option<RequestId>,
    /// Everything else.
    pub detail: Value,
}

/// A record in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place, from 1, without gaps.
    pub seq: u64,
    /// Its JSON text, exactly as it is hashed.
    pub body: String,
    /// Its hash.
    pub hash: Hash,
    /// Kind, workspace and request as the store looks it up by them; the body says the same.
    pub looked_up_by: [Option<String>; 3],
}

impl Record {
    /// When it was written, in milliseconds since 1970.
    pub fn at_ms(&self) -> u64 {
        serde_json::from_str::<Value>(&self.body).ok().and_then(|body| body.get("at_ms")?.as_u64()).unwrap_or(0)
    }
}

/// What came of a decision, in a word, by its record: behind a denial it may have run all the same.
pub fn outcome(body: &Value) -> &str {
    let is = |flag: &str| body.pointer(flag) == Some(&Value::Bool(true));
    match (is("/detail/caged"), is("/detail/let_through")) {
        (true, _) => "caged",
        (false, true) => "let through",
        (false, false) => body.pointer("/detail/answer").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// The hash of a record, which covers all records before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first record.
    pub const START: Self = Self([0; 32]);

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text).and_then(|bytes| bytes.try_into().ok()).map(Self)
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// The hash of a record at a place behind another one.
pub fn link(before: Hash, seq: u64, body: &str) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(b"bashgate audit 1");
    hasher.update(before.0);
    hasher.update(seq.to_be_bytes());
    hasher.update((body.len() as u64).to_be_bytes());
    hasher.update(body.as_bytes());
    Hash(hasher.finalize().into())
}

impl Entry {
    /// The record at the place behind `before`.
    pub fn at(&self, seq: u64, before: Hash) -> Record {
        let body = json!({
            "seq": seq,
            "at_ms": self.at_ms,
            "kind": self.kind.as_str(),
            "workspace": self.workspace,
            "request_id": self.request_id,
            "detail": self.detail,
        })
        .to_string();
        let hash = link(before, seq, &body);
        let looked_up_by = [
            Some(self.kind.as_str().to_owned()),
            self.workspace.as_ref().map(ToString::to_string),
            self.request_id.as_ref().map(ToString::to_string),
        ];
        Record { seq, body, hash, looked_up_by }
    }
}

/// Where a chain begins whose first records were pruned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The last record that was pruned.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// The host's signature of both, in hexadecimal digits.
    pub signature: String,
}

impl Checkpoint {
    /// Signs that everything up to a record is pruned.
    pub fn sign(key: &HostKey, seq: u64, hash: Hash) -> Self {
        Self { seq, hash, signature: key.checkpoint(seq, &hash.0) }
    }

    /// True when the host has signed it.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        key.check_checkpoint(self.seq, &self.hash.0, &self.signature)
    }
}

/// What is wrong with a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A record is missing, or one stands twice.
    #[error("record {expected} is missing: {found} stands in its place")]
    Gap {
        /// The place that should come.
        expected: u64,
        /// The one that stands there.
        found: u64,
    },
    /// A record does not fit its hash.
    #[error("record {0} was changed, or one before it was")]
    Changed(u64),
    /// The record from which the chain goes on is not signed by the host's key.
    #[error("records up to {0} are missing, and the checkpoint that says so is not signed by this host's key")]
    Unsigned(u64),
    /// The chain does not hold the head that was kept.
    #[error("the chain does not hold the given head: it was cut off or replaced")]
    HeadMissing,
}

/// Checks a chain record by record.
#[derive(Debug, Clone, Copy)]
pub struct Verifier {
    seq: u64,
    hash: Hash,
    wanted: Option<Hash>,
    seen: bool,
}

impl Verifier {
    /// Starts before the first record. A head that was kept elsewhere must come by.
    pub const fn new(wanted: Option<Hash>) -> Self {
        Self { seq: 0, hash: Hash::START, wanted, seen: false }
    }

    /// Starts behind a checkpoint that was checked.
    pub fn behind(checkpoint: &Checkpoint, wanted: Option<Hash>) -> Self {
        let Checkpoint { seq, hash, .. } = *checkpoint;
        Self { wanted, seen: wanted == Some(hash), ..Self::after(seq, hash) }
    }

    /// Starts behind a record of which somebody is sure.
    pub const fn after(seq: u64, hash: Hash) -> Self {
        Self { seq, hash, wanted: None, seen: false }
    }

    /// True for a record that follows by its text and its hash, whatever it is looked up by.
    pub fn fits(&self, record: &Record) -> bool {
        record.seq == self.seq + 1 && link(self.hash, record.seq, &record.body) == record.hash
    }

    /// Checks the next record.
    pub fn next(&mut self, record: &Record) -> Result<(), Broken> {
        let expected = self.seq + 1;
        if record.seq != expected {
            return Err(Broken::Gap { expected, found: record.seq });
        }
        let hash = link(self.hash, record.seq, &record.body);
        let body = serde_json::from_str::<Value>(&record.body).unwrap_or_default();
        let said = body.get("seq").and_then(Value::as_u64);
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        let same = [text("kind"), text("workspace"), text("request_id")] == record.looked_up_by;
        if hash != record.hash || said != Some(record.seq) || !same {
            return Err(Broken::Changed(record.seq));
        }
        (self.seq, self.hash) = (record.seq, hash);
        self.seen |= self.wanted == Some(hash);
        Ok(())
    }

    /// Ends the check: how many records, and the head.
    pub fn finish(self) -> Result<(u64, Hash), Broken> {
        if self.wanted.is_some_and(|wanted| wanted != Hash::START) && !self.seen {
            return Err(Broken::HeadMissing);
        }
        Ok((self.seq, self.hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(length: u64) -> Vec<Record> {
        let mut before = Hash::START;
        (1..=length)
            .map(|seq| {
                let entry = Entry {
                    at_ms: seq,
                    kind: RecordKind::Decision,
                    workspace: None,
                    request_id: None,
                    detail: json!({"n": seq}),
                };
                let record = entry.at(seq, before);
                before = record.hash;
                record
            })
            .collect()
    }

    fn verify(records: &[Record], head: Option<Hash>) -> Result<(u64, Hash), Broken> {
        let mut verifier = Verifier::new(head);
        records.iter().try_for_each(|record| verifier.next(record))?;
        verifier.finish()
    }

    #[test]
    fn every_edit_gap_and_reordering_is_found() {
        let good = chain(5);
        assert_eq!(verify(&good, None).unwrap().0, 5);
        let mut edited = good.clone();
        edited[2].body = edited[2].body.replace("\"n\":3", "\"n\":4");
        assert_eq!(verify(&edited, None), Err(Broken::Changed(3)));
        // Even with a hash made to fit, the next record gives it away.
        edited[2].hash = link(edited[1].hash, 3, &edited[2].body);
        assert_eq!(verify(&edited, None), Err(Broken::Changed(4)));
        let mut gap = good.clone();
        gap.remove(1);
        assert_eq!(verify(&gap, None), Err(Broken::Gap { expected: 2, found: 3 }));
        let mut swapped = good.clone();
        swapped.swap(1, 2);
        assert!(verify(&swapped, None).is_err());
        let cut = &good[..3];
        assert!(verify(cut, None).is_ok(), "a cut at the tail needs a head to show");
        assert_eq!(verify(cut, Some(good[4].hash)), Err(Broken::HeadMissing));
        assert!(verify(&good, Some(good[2].hash)).is_ok(), "an older head is still in the chain");
    }
}
