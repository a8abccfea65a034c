//! What counts in a fleet now, as its own key says: who belongs to it, and which policy holds.
//!
//! INVARIANT: whoever runs the fleet signs it anew every minute, and it counts for minutes only. Who withholds a newer one from a host, to
//! keep a revoked desk heard or an old policy in force, makes the fleet unreachable for it instead; an older one never follows a newer one.

use std::path::Path;

use bashgate_shared::command::Digest;
use bashgate_shared::seal::PublicKey;
use serde::{Deserialize, Serialize};

use super::member::{HostName, MemberId};
use super::signed::{Signed, Statement};
use crate::clock::{self, Now};
use crate::state;

/// For how long a roll counts that is signed while somebody keeps the fleet, in milliseconds.
pub const COUNTS_MS: u64 = 5 * 60_000;
/// How far a roll's time may be ahead of this machine's, in milliseconds.
const AHEAD_MS: u64 = 2 * 60_000;
/// Longest list of members, in bytes.
pub const MOST_MEMBERS: usize = 8 << 20;
/// Longest policy, in bytes.
pub const MOST_POLICY: usize = 1 << 20;

/// What counts from now on, and until when. Members and policies are named by their digests: they change seldom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roll {
    /// The fleet.
    pub fleet: String,
    /// Which one: each has a greater number than the one before, whatever a clock says.
    pub number: u64,
    /// When it was signed, in milliseconds since 1970 by the clock of whoever runs the fleet.
    pub at_ms: u64,
    /// Until when it counts.
    pub until_ms: u64,
    /// The digest of the list of all members, in hexadecimal digits.
    pub members: String,
    /// The policy of all hosts, but for those of `first`.
    pub policy: Option<Version>,
    /// A policy that some hosts have before the others.
    pub first: Option<First>,
}

impl Statement for Roll {
    const KIND: &'static str = "fleet roll";
}

/// A version of the fleet's policy. A later one has a greater number, also where it brings an earlier text back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Its number, from 1.
    pub number: i32,
    /// The digest of its text, in hexadecimal digits.
    pub digest: String,
}

/// A version that some hosts have before the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct First {
    /// The version.
    pub version: Version,
    /// The hosts.
    pub hosts: Vec<HostName>,
}

impl Roll {
    /// The policies that it names.
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        self.policy.iter().chain(self.first.as_ref().map(|first| &first.version))
    }

    /// The policy that a host is to have.
    pub fn policy_of(&self, host: &HostName) -> Option<&Version> {
        let first = self.first.as_ref().filter(|first| first.hosts.contains(host));
        first.map(|first| &first.version).or(self.policy.as_ref())
    }
}

/// A host or a desk that belongs to the fleet. Who is revoked is not in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Belongs {
    /// Which one.
    pub member: MemberId,
    /// Its key, as `ed25519:` and 64 hexadecimal digits.
    pub key: String,
    /// True for a desk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desk: bool,
}

/// A roll with what it names, as the database brings it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Brought {
    /// The [`Roll`].
    pub roll: Signed,
    /// A list of [`Belongs`] as JSON; `None` where it is the one that was brought before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<String>,
    /// The text of the policy for this host, in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// Why what was brought does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RollError {
    /// Not signed by the fleet's key, or another fleet's.
    #[error("what the database holds for the fleet's roll, the fleet has not signed")]
    Forged,
    /// Older than one that is known.
    #[error("the database brings an older roll of the fleet than it did before")]
    Older,
    /// It counts no more.
    #[error(
        "the fleet has not said for a while who belongs to it: does `bashgate fleet run` run, and is this clock right?"
    )]
    Stale,
    /// From the future.
    #[error("the fleet's roll is of a time that has not come yet: this machine's clock or that of the fleet is wrong")]
    Ahead,
    /// Members or policy are not those that the roll names.
    #[error("what the database holds with the fleet's roll is not what the roll names")]
    Other,
}

/// Which fleet and which member of it this is, as its membership says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    /// Which one.
    pub member: MemberId,
    /// The fleet's key.
    pub root: PublicKey,
    /// True for a desk, which no policy is for.
    pub desk: bool,
}

impl Own {
    /// Reads it from a state folder; `None` where there is none, or one that is not finished.
    pub fn read(state: &Path) -> Option<Self> {
        #[derive(Deserialize)]
        struct File {
            member: MemberId,
            root: String,
            #[serde(default)]
            desk: bool,
        }
        let text = std::fs::read_to_string(super::membership_file(state)).ok()?;
        let file: File = serde_json::from_str(&text).ok()?;
        Some(Self { member: file.member, root: PublicKey::parse(&file.root)?, desk: file.desk })
    }
}

/// What a member of a fleet knows of what counts there.
#[derive(Debug)]
pub struct Known {
    own: Own,
    roll: Option<Roll>,
    members: Vec<(Belongs, PublicKey)>,
    members_text: String,
    /// The policy's text, by its digest.
    policy: Option<(Version, String)>,
    /// When the roll was taken, in milliseconds since the boot: a wall clock that is behind lets none count for longer.
    taken_boot_ms: u64,
    /// The last one that was brought is of a time that has not come yet: nobody knows by this clock how old another one is.
    is_ahead: bool,
}

impl Known {
    /// Nothing yet.
    pub fn new(own: Own) -> Self {
        Self {
            own,
            roll: None,
            members: Vec::new(),
            members_text: String::new(),
            policy: None,
            taken_boot_ms: 0,
            is_ahead: false,
        }
    }

    /// Who this is.
    pub fn own(&self) -> &Own {
        &self.own
    }

    /// Takes what was brought, where the fleet has signed it and it is younger than what is known. Whether it still counts, says
    /// [`Self::trouble`]. Nothing changes where it is refused.
    pub fn take(&mut self, brought: &Brought, now: Now) -> Result<(), RollError> {
        let roll: Roll = brought.roll.read(&self.own.root).ok_or(RollError::Forged)?;
        if roll.fleet != self.own.member.fleet {
            return Err(RollError::Forged);
        }
        if let Some(known) = &self.roll {
            if *known == roll {
                return Ok(());
            }
            if roll.number <= known.number {
                return Err(RollError::Older);
            }
        }
        if roll.at_ms > now.unix_ms.saturating_add(AHEAD_MS) {
            self.is_ahead = true;
            return Err(RollError::Ahead);
        }
        let is = |digest: &str, text: &str| Digest::of(text.as_bytes()).hex() == digest;
        let members = match brought.members.as_deref() {
            Some(text) if text.len() <= MOST_MEMBERS && is(&roll.members, text) => {
                let all: Vec<Belongs> = serde_json::from_str(text).map_err(|_| RollError::Other)?;
                let keyed = all.into_iter().filter_map(|one| PublicKey::parse(&one.key).map(|key| (one, key)));
                Some((keyed.collect(), text.to_owned()))
            }
            None if is(&roll.members, &self.members_text) => None,
            _ => return Err(RollError::Other),
        };
        let policy = match roll.policy_of(&self.own.member.host).filter(|_| !self.own.desk) {
            None => None,
            Some(version) => match (&brought.policy, &self.policy) {
                (Some(text), _) if text.len() <= MOST_POLICY && is(&version.digest, text) => {
                    Some((version.clone(), text.clone()))
                }
                (_, Some((known, text))) if known.digest == version.digest => Some((version.clone(), text.clone())),
                _ => return Err(RollError::Other),
            },
        };
        if let Some((members, text)) = members {
            (self.members, self.members_text) = (members, text);
        }
        (self.roll, self.policy, self.taken_boot_ms, self.is_ahead) = (Some(roll), policy, now.boot_ms, false);
        Ok(())
    }

    /// Why the fleet counts as unreachable; `None` where what is known still counts.
    pub fn trouble(&self, now: Now) -> Option<RollError> {
        if self.is_ahead {
            return Some(RollError::Ahead);
        }
        let counts = |roll: &Roll| {
            let run = now.boot_ms.saturating_sub(self.taken_boot_ms);
            now.unix_ms <= roll.until_ms && run <= roll.until_ms.saturating_sub(roll.at_ms)
        };
        (!self.roll.as_ref().is_some_and(counts)).then_some(RollError::Stale)
    }

    /// The roll that was taken last.
    pub fn roll(&self) -> Option<&Roll> {
        self.roll.as_ref()
    }

    /// The policy that this host is to have, by the roll that was taken last.
    pub fn policy(&self) -> Option<&(Version, String)> {
        self.policy.as_ref()
    }

    /// The hosts that belong to the fleet, with their keys.
    pub fn hosts(&self) -> impl Iterator<Item = (&MemberId, &PublicKey)> {
        self.members.iter().filter(|(one, _)| !one.desk).map(|(one, key)| (&one.member, key))
    }

    /// The key of a host that belongs to the fleet.
    pub fn key_of(&self, host: &MemberId) -> Option<&PublicKey> {
        self.hosts().find(|(member, _)| *member == host).map(|(_, key)| key)
    }

    /// True for a key of a desk that belongs to the fleet.
    pub fn is_desk(&self, desk: &PublicKey) -> bool {
        self.members.iter().any(|(one, key)| one.desk && key == desk)
    }

    /// Keeps what was taken in a state folder, for the next start.
    pub fn keep(&self, brought: &Brought, state: &Path) -> std::io::Result<()> {
        let policy = self.policy.as_ref().map(|(_, text)| text.clone());
        let whole = Brought { roll: brought.roll.clone(), members: Some(self.members_text.clone()), policy };
        state::write_whole(&super::kept(state).roll, serde_json::to_string(&whole).unwrap_or_default().as_bytes())
    }

    /// What the last run has kept, as far as the fleet has signed it.
    pub fn kept(own: Own, state: &Path) -> Self {
        let mut known = Self::new(own);
        let text = std::fs::read_to_string(super::kept(state).roll).unwrap_or_default();
        if let Ok(brought) = serde_json::from_str(&text) {
            // Nothing that was taken once is too far ahead now.
            if let Err(error) = known.take(&brought, Now { unix_ms: u64::MAX, ..clock::now() }) {
                tracing::warn!(%error, "what is kept of the fleet's roll does not count");
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use bashgate_shared::seal::HostKey;

    use super::*;

    fn own(root: &HostKey) -> Own {
        let host = HostName::parse("web-1").unwrap();
        Own { member: MemberId { fleet: "f".to_owned(), host, number: 1 }, root: *root.public(), desk: false }
    }

    fn brought(root: &HostKey, at_ms: u64, members: &str, policy: Option<(i32, &str)>) -> Brought {
        let digest = |text: &str| Digest::of(text.as_bytes()).hex();
        let roll = Roll {
            fleet: "f".to_owned(),
            number: at_ms,
            at_ms,
            until_ms: at_ms + COUNTS_MS,
            members: digest(members),
            policy: policy.map(|(number, text)| Version { number, digest: digest(text) }),
            first: None,
        };
        Brought {
            roll: roll.sign(root),
            members: Some(members.to_owned()),
            policy: policy.map(|(_, text)| text.to_owned()),
        }
    }

    #[test]
    fn only_what_the_fleet_has_signed_last_counts_and_not_for_long() {
        let (root, other) = (HostKey::from_seed(&[1; 32]), HostKey::from_seed(&[2; 32]));
        let now = 1_000_000_000;
        let at = |unix_ms| Now { unix_ms, boot_ms: unix_ms };
        let mut known = Known::new(own(&root));
        assert_eq!(known.trouble(at(now)), Some(RollError::Stale));
        assert_eq!(known.take(&brought(&other, now, "[]", None), at(now)), Err(RollError::Forged));
        known.take(&brought(&root, now, "[]", Some((1, "a"))), at(now)).unwrap();
        assert_eq!((known.trouble(at(now)), known.policy().unwrap().0.number), (None, 1));
        // Older, from the future, with another list or another text.
        let refused = [
            (brought(&root, now - 1, "[]", None), RollError::Older),
            (brought(&root, now, "[ ]", None), RollError::Older),
            (brought(&root, now + 2 * AHEAD_MS, "[]", None), RollError::Ahead),
            (Brought { members: Some("[ ]".to_owned()), ..brought(&root, now + 1, "[]", None) }, RollError::Other),
            (
                Brought { policy: Some("c".to_owned()), ..brought(&root, now + 1, "[]", Some((2, "b"))) },
                RollError::Other,
            ),
            (Brought { policy: None, ..brought(&root, now + 1, "[]", Some((2, "b"))) }, RollError::Other),
        ];
        for (one, why) in refused {
            assert_eq!(known.take(&one, at(now)), Err(why));
        }
        assert_eq!(known.policy().unwrap().1, "a");
        // What is known need not be brought again.
        let next = brought(&root, now + 60_000, "[]", Some((2, "a")));
        let next = Brought { members: None, policy: None, ..next };
        known.take(&next, at(now + 60_000)).unwrap();
        assert_eq!(known.policy().unwrap().0.number, 2);
        assert_eq!(known.trouble(at(now + 60_000 + COUNTS_MS)), None);
        assert_eq!(known.trouble(at(now + 60_001 + COUNTS_MS)), Some(RollError::Stale));
        // A wall clock that is set back lets it count no longer, and one that is behind says so.
        assert_eq!(known.trouble(Now { unix_ms: now, boot_ms: now + 60_001 + COUNTS_MS }), Some(RollError::Stale));
        assert_eq!(known.take(&brought(&root, now + 120_000, "[]", None), at(now - 1)), Err(RollError::Ahead));
        assert_eq!(known.trouble(at(now + 60_000)), Some(RollError::Ahead));
        // The next start knows the same, and nobody else's.
        let state = tempfile::tempdir().unwrap();
        known.keep(&next, state.path()).unwrap();
        let kept = Known::kept(own(&root), state.path());
        assert_eq!((kept.roll(), kept.policy()), (known.roll(), known.policy()));
        assert_eq!(Known::kept(own(&other), state.path()).roll(), None);
    }

    #[test]
    fn who_is_not_in_the_list_is_no_desk() {
        let (root, desk, host) =
            (HostKey::from_seed(&[1; 32]), HostKey::from_seed(&[2; 32]), HostKey::from_seed(&[3; 32]));
        let one = |name: &str, key: &HostKey, desk| Belongs {
            member: MemberId { fleet: "f".to_owned(), host: HostName::parse(name).unwrap(), number: 1 },
            key: key.public().to_string(),
            desk,
        };
        let all = serde_json::to_string(&[one("office", &desk, true), one("web-1", &host, false)]).unwrap();
        let mut known = Known::new(own(&root));
        known.take(&brought(&root, 10, &all, None), Now { unix_ms: 10, boot_ms: 10 }).unwrap();
        assert!(known.is_desk(desk.public()) && !known.is_desk(host.public()));
        assert_eq!(known.hosts().count(), 1);
        known.take(&brought(&root, 11, "[]", None), Now { unix_ms: 11, boot_ms: 11 }).unwrap();
        assert!(!known.is_desk(desk.public()));
    }
}
