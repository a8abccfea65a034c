//! What a host tells the others of its fleet of itself: what workspaces that they share have seen, and how it stands with the policy.

use std::collections::BTreeMap;

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::WorkspaceName;
use serde::{Deserialize, Serialize};

use super::member::MemberId;
use super::roll::COUNTS_MS;
use super::signed::Statement;
use crate::clock;
use crate::taint::{Cause, Seen, Taint};

/// Longest statement of a host, in bytes.
pub const MOST_TELLS: usize = 256 << 10;
/// How far another host's clock may be ahead, in milliseconds.
const AHEAD_MS: u64 = 2 * 60_000;
/// Most sources that are told of a taint, and how long each may be in letters.
const SOURCES: usize = 4;
const LONGEST: usize = 80;

/// What a host says; its fleet key signs it anew every minute, so that an old word counts as none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tells {
    /// Which host.
    pub member: MemberId,
    /// When, in milliseconds since 1970 by its clock.
    pub at_ms: u64,
    /// What it says.
    #[serde(flatten)]
    pub what: Told,
}

impl Statement for Tells {
    const KIND: &'static str = "fleet host tells";
}

impl Tells {
    /// True where it is no older than what counts.
    pub fn is_fresh(&self, now_ms: u64) -> bool {
        now_ms <= self.at_ms.saturating_add(COUNTS_MS) && !self.is_ahead(now_ms)
    }

    /// True where it is of a time that has not come yet.
    pub fn is_ahead(&self, now_ms: u64) -> bool {
        self.at_ms > now_ms.saturating_add(AHEAD_MS)
    }
}

/// What a host has to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// What the workspaces that it shares have seen, by their names on this host.
    pub taints: BTreeMap<WorkspaceName, Tainted>,
    /// The number of the policy that is in force there.
    pub policy: Option<i32>,
    /// A number of one that is not, and why.
    pub refused: Option<(i32, String)>,
}

/// What a workspace has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tainted {
    /// The taint.
    pub taint: Taint,
    /// Another one whenever it has seen something more, or has begun anew. It says nothing of the order.
    pub mark: String,
    /// What it was, shortened.
    pub sources: Vec<String>,
}

impl Tainted {
    /// What is told of a workspace that is to be here and is not: nobody has seen anything in it.
    pub fn nothing() -> Self {
        Self { taint: Taint::Clean, mark: "none".to_owned(), sources: Vec::new() }
    }

    /// What is told of what was seen here. What other hosts have told goes on from them.
    pub fn of(seen: &Seen) -> Self {
        let own: Vec<_> = seen.causes.iter().filter(|cause| !cause.heard).collect();
        let taint = own.iter().fold(Taint::Clean, |all, cause| all.join(cause.label.taint()));
        // Also where it has seen the same again, and where its store was put back and it then sees as often as before.
        let first = own.first().map_or(0, |cause| cause.at_ms);
        let mark = Digest::of(format!("{} {first} {} {taint}", seen.raised, seen.raised_ms).as_bytes()).hex();
        let sources = own.iter().rev().take(SOURCES).map(|cause| cause.source.chars().take(LONGEST).collect());
        Self { taint, mark: mark.chars().take(32).collect(), sources: sources.collect() }
    }
}

/// Raises a taint by what another host has told, or by that it does not.
pub fn hear(seen: &mut Seen, taint: Taint, source: &str) {
    let at_ms = clock::now().unix_ms;
    for label in taint.labels() {
        seen.raise(Cause { label, source: source.to_owned(), by: BY_FLEET.to_owned(), at_ms, heard: true });
    }
}

/// As who has seen it what another host has told stands among the causes of a taint.
pub const BY_FLEET: &str = "another host of the fleet";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taint::Label;

    #[test]
    fn a_host_tells_its_own_and_marks_what_is_new() {
        let mut seen = Seen::default();
        let cause = |label, source: &str, by: &str| Cause {
            label,
            source: source.to_owned(),
            by: by.to_owned(),
            at_ms: 7,
            heard: by == BY_FLEET,
        };
        assert_eq!(Tainted::of(&seen).taint, Taint::Clean);
        seen.raise(cause(Label::Secret, "web-2: .env", BY_FLEET));
        assert_eq!(Tainted::of(&seen).taint, Taint::Clean, "that is told by web-2");
        seen.raise(cause(Label::Corruption, "evil.example", "curl"));
        let first = Tainted::of(&seen);
        assert_eq!(
            (first.taint, first.sources.as_slice()),
            (Taint::Corruption, ["evil.example".to_owned()].as_slice())
        );
        seen.raise(cause(Label::Corruption, "other.example", "curl"));
        let second = Tainted::of(&seen).mark;
        assert_ne!(second, first.mark, "more of the same is new, too");
        seen.raise(cause(Label::Corruption, "other.example", "curl"));
        assert_ne!(Tainted::of(&seen).mark, second, "and the same again");
        // A store that was put back, and as many causes as before.
        let mut put_back = seen.clone();
        seen.raise(Cause { at_ms: 20, ..cause(Label::Secret, ".env", "cat") });
        put_back.raise(Cause { at_ms: 30, ..cause(Label::Secret, ".env", "cat") });
        assert_ne!(Tainted::of(&put_back).mark, Tainted::of(&seen).mark);
        // Whoever calls himself another host is none.
        seen.raise(Cause { heard: false, ..cause(Label::Secret, "web-2: .env", BY_FLEET) });
        assert_eq!(Tainted::of(&seen).taint, Taint::Both);
        let before = Tainted::of(&seen).mark;
        seen.raise(cause(Label::Secret, "web-2: id_rsa", BY_FLEET));
        assert_eq!(Tainted::of(&seen).mark, before, "what was heard is nothing new");
    }
}
