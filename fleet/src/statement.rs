//! What is signed in a fleet: by the fleet's own key, which hosts and desks belong to it; by a host's, where its chain of records begins
//! and ends, what it holds, and what it replies. What desks sign is [`bashgate::fleet::wire::Words`].

use bashgate_shared::seal::{HostKey, PublicKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::MemberId;
use bashgate::audit::Hash;
use bashgate::fleet::wire::{Answered, Shown};

/// A statement as it was signed: its exact text, and the signature in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The text.
    pub text: String,
    /// The signature.
    pub signature: String,
}

/// What can be signed.
pub trait Statement: Serialize + DeserializeOwned {
    /// What kind of statement it is: one kind never passes for another.
    const KIND: &'static str;

    /// Signs it.
    fn sign(&self, key: &HostKey) -> Signed {
        let text = serde_json::to_string(self).unwrap_or_default();
        let signature = key.attest(Self::KIND, &text);
        Signed { text, signature }
    }
}

impl Signed {
    /// The statement whose text and signature stand in these two columns of a row, one behind the other; `None` where there is none.
    pub fn of(row: &tokio_postgres::Row, at: usize) -> Option<Self> {
        Some(Self { text: row.get::<_, Option<_>>(at)?, signature: row.get::<_, Option<_>>(at + 1)? })
    }

    /// What it says, if this key has signed it as that kind of statement.
    pub fn read<S: Statement>(&self, key: &PublicKey) -> Option<S> {
        let is_signed = key.check_attested(S::KIND, &self.text, &self.signature);
        is_signed.then(|| serde_json::from_str(&self.text).ok()).flatten()
    }
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
