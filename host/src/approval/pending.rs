//! A held command, as a person sees it.

use std::fmt;

use bashgate_shared::classify::CommandClass;
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use serde::{Deserialize, Serialize};

use crate::taint::{Cause, Taint};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of a held command: 8 characters of Crockford's base 32, from 40 random bits. Used once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// The id made of these random bytes.
    pub fn from_random(bytes: [u8; 5]) -> Self {
        let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let letter = |index: u32| {
            let value = usize::try_from(bits >> (35 - 5 * index) & 31).unwrap_or(0);
            char::from(ALPHABET.get(value).copied().unwrap_or(b'0'))
        };
        Self((0..8).map(letter).collect())
    }

    /// Reads an id as a person types it: any case; `o` counts as 0, `i` and `l` as 1.
    pub fn parse(text: &str) -> Option<Self> {
        let id: Option<String> = text
            .chars()
            .map(|c| match c.to_ascii_lowercase() {
                'o' => Some('0'),
                'i' | 'l' => Some('1'),
                c if c.is_ascii() && ALPHABET.contains(&(c as u8)) => Some(c),
                _ => None,
            })
            .collect();
        id.filter(|id| id.len() == 8).map(Self)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an approval is about: workspace, command, working directory, evidence and taint epoch, as one digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestKey([u8; 32]);

impl RequestKey {
    /// The key of a request.
    pub fn of(workspace: &WorkspaceName, parts: &[&str], epoch: u64) -> Self {
        let mut bytes = Vec::new();
        for part in std::iter::once(&workspace.as_str()).chain(parts) {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes.extend(epoch.to_be_bytes());
        Self(*Digest::of(&bytes).bytes())
    }

    /// The key of the question whether a workspace may go on without the inspector.
    pub fn of_outage(workspace: &WorkspaceName, epoch: u64) -> Self {
        Self::of(workspace, &["the inspector does not answer"], epoch)
    }
}

/// How far an approval reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// This request.
    Once,
    /// This exact command, until the taint changes.
    Session,
}

/// Everything that a person needs to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its id.
    pub id: ApprovalId,
    /// The workspace.
    #[serde(serialize_with = "as_text", deserialize_with = "workspace")]
    pub workspace: WorkspaceName,
    /// The request.
    #[serde(serialize_with = "as_text", deserialize_with = "request")]
    pub request_id: RequestId,
    /// SHA-256 of the request's bytes, in hexadecimal digits.
    pub request_sha256: String,
    /// What it is about: a request of the same key waits for the same answer.
    pub key: RequestKey,
    /// The whole command. Credentials in it are masked by whoever shows it.
    pub command: String,
    /// Where it would run.
    pub cwd: Option<String>,
    /// The agent, as the container says.
    pub agent: Option<String>,
    /// What the command is.
    pub class: CommandClass,
    /// The rule that holds it.
    pub rule: String,
    /// Why it is held.
    pub reason: String,
    /// The workspace's taint.
    pub taint: Taint,
    /// Where the taint came from.
    pub causes: Vec<Cause>,
    /// The taint epoch.
    pub epoch: u64,
    /// What the inspector thinks, once it has answered.
    pub advice: Option<String>,
    /// When it lapses, in milliseconds since boot.
    pub expires_boot_ms: u64,
    /// True when `approve ID session` may be said.
    pub offers_session: bool,
    /// How many requests wait for it: the same command more than once, or all that the inspector does not answer on.
    #[serde(default)]
    pub waiting: usize,
    /// True when it asks whether the workspace may go on without the inspector, which does not answer.
    #[serde(default)]
    pub outage: bool,
}

fn as_text<T: fmt::Display, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn workspace<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<WorkspaceName, D::Error> {
    WorkspaceName::deserialize(deserializer)
}

fn request<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<RequestId, D::Error> {
    let text = String::deserialize(deserializer)?;
    RequestId::parse(&text).ok_or_else(|| serde::de::Error::custom("not a request id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_however_it_is_typed() {
        for bytes in [[0; 5], [255; 5], [1, 2, 3, 4, 5], [200, 100, 50, 25, 12]] {
            let id = ApprovalId::from_random(bytes);
            assert_eq!(id.as_str().len(), 8);
            assert_eq!(ApprovalId::parse(id.as_str()), Some(id.clone()));
            assert_eq!(ApprovalId::parse(&id.as_str().to_uppercase()), Some(id));
        }
        assert_eq!(ApprovalId::parse("OIL00000"), ApprovalId::parse("01100000"));
        for bad in ["", "short", "toolonggg", "uuuuuuuu", "аbcdefgh", "abc defg"] {
            assert_eq!(ApprovalId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_differs_in_every_part() {
        let name = |text| WorkspaceName::parse(text).unwrap();
        let keys = [
            RequestKey::of(&name("a"), &["ls", "/w", ""], 0),
            RequestKey::of(&name("b"), &["ls", "/w", ""], 0),
            RequestKey::of(&name("a"), &["ls /w", "", ""], 0),
            RequestKey::of(&name("a"), &["ls", "/w", "x"], 0),
            RequestKey::of(&name("a"), &["ls", "/w", ""], 1),
        ];
        assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), keys.len());
    }
}
