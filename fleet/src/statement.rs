//! What is signed in a fleet: by the fleet's own key, which hosts and desks belong to it; by a host's, where its chain of records begins
//! and ends, what it holds, and what it replies. What hosts check themselves is [`bashgate::fleet::roll`], [`bashgate::fleet::tells`] and
//! [`bashgate::fleet::wire::Words`].

use serde::{Deserialize, Serialize};

use super::MemberId;
use bashgate::audit::Hash;
pub use bashgate::fleet::signed::{Signed, Statement};
use bashgate::fleet::wire::{Answered, Shown};

/// The statement whose text and signature stand in these two columns of a row, one behind the other; `None` where there is none.
pub fn in_row(row: &tokio_postgres::Row, at: usize) -> Option<Signed> {
    Some(Signed { text: row.get::<_, Option<_>>(at)?, signature: row.get::<_, Option<_>>(at + 1)? })
}

/// The fleet's key says that a host belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Which host.
    pub member: MemberId,
    /// Its fleet key, as `ed25519:` and 64 hexadecimal digits.
    pub key: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// True for a desk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desk: bool,
}

impl Statement for Member {
    const KIND: &'static str = "fleet member";
}

/// The fleet's key says that a host belongs to it no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    /// Which host.
    pub member: MemberId,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Statement for Revoked {
    const KIND: &'static str = "fleet member revoked";
}

/// A host says where its chain of records in the fleet begins, where the first ones were forgotten before it joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Which host.
    pub member: MemberId,
    /// The last record that is not there.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

impl Statement for Start {
    const KIND: &'static str = "fleet start";
}

/// A host says where its chain of records ends, and when it said so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Which host.
    pub member: MemberId,
    /// The last record.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// By the host's own clock, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Statement for Head {
    const KIND: &'static str = "fleet head";
}

/// The fleet's key says that records were taken away on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Whose.
    pub member: MemberId,
    /// Those up to this one.
    pub seq: u64,
    /// Its hash, behind which the chain goes on.
    pub hash: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Statement for Checkpoint {
    const KIND: &'static str = "fleet checkpoint";
}

impl Head {
    /// Place and hash; `None` where the hash is none.
    pub fn end(&self) -> Option<(u64, Hash)> {
        Some((self.seq, Hash::parse(&self.hash)?))
    }
}

/// A host says what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Which host.
    pub member: MemberId,
    /// The card as it stands.
    pub shown: Shown,
}

impl Statement for Question {
    const KIND: &'static str = "fleet question";
}

/// A host replies to words of a desk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Which host.
    pub member: MemberId,
    /// The words, exactly as the desk has signed them.
    pub to: String,
    /// What the person is told; `None` where the words are none of the host's business.
    pub reply: Option<Answered>,
}

impl Statement for Reply {
    const KIND: &'static str = "fleet reply";
}

#[cfg(test)]
mod tests {
    use bashgate_shared::seal::HostKey;

    use super::super::HostName;
    use super::*;

    #[test]
    fn a_statement_counts_as_what_it_was_signed_as_and_by_whom() {
        let member = MemberId { fleet: "f".to_owned(), host: HostName::parse("web-1").unwrap(), number: 1 };
        let key = HostKey::from_seed(&[1; 32]);
        let revoked = Revoked { member: member.clone(), at_ms: 5 };
        let signed = revoked.sign(&key);
        assert_eq!(signed.read::<Revoked>(key.public()), Some(revoked));
        assert_eq!(signed.read::<Revoked>(HostKey::from_seed(&[2; 32]).public()), None);
        // The same fields, and more, as another kind.
        let head = Head { member, seq: 1, hash: Hash::START.to_string(), at_ms: 5 }.sign(&key);
        assert_eq!(head.read::<Revoked>(key.public()), None);
        let moved = Signed { text: signed.text.replace('5', "6"), ..signed };
        assert_eq!(moved.read::<Revoked>(key.public()), None);
    }
}
