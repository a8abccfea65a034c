//! What the host and the program that speaks to the fleet's database say to each other, and what desks sign.
//!
//! INVARIANT: a desk's word counts by its signature alone, which is checked here, in the host: neither the database nor what brings the
//! word from there can make one. A word is about one host, and about a card as it was shown; it counts once, and not for long.

use bashgate_shared::command::Digest;
use serde::{Deserialize, Serialize};

use super::Standing;
use super::member::MemberId;
use super::roll::Brought;
use super::signed::{Signed, Statement};
use super::tells::Told;

/// How far a word's time may be from the host's own clock, in milliseconds: what is held back for longer is void.
pub const FRESH_MS: u64 = 30_000;
/// How far it may be ahead, in milliseconds. For so long a host that has started hears no desk: what an earlier run has heard is none of
/// its own.
pub const AHEAD_MS: u64 = 5_000;
/// Longest text of a word, in bytes.
pub const MOST: usize = 16 << 10;
/// Longest card that desks are shown, in bytes. A longer one is answered at the host.
pub const MOST_CARD: usize = 1 << 20;

/// What the host says to the program, in a line of JSON each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToFleet {
    /// Desks may answer for this host. All cards follow.
    Begin,
    /// What this host tells the others.
    Tells {
        /// What it says.
        what: Told,
        /// Whom of the others it wants to hear.
        hears: Vec<MemberId>,
    },
    /// What was brought of the roll was refused: the next one is to come with all that it names.
    Whole,
    /// A card as it stands now.
    Card(Shown),
    /// What somebody who spoke through a desk is told.
    Reply {
        /// The word's number in the database.
        number: i64,
        /// What is told; `None` where the words are none of the host's business.
        reply: Option<Answered>,
    },
}

/// What a person is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// True when it was done.
    pub ok: bool,
    /// The words.
    pub text: String,
}

/// A card as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// Its id.
    pub id: String,
    /// [`crate::approval::Card`] as JSON: exactly what answers are bound to.
    pub card: String,
    /// What became of it; `None` while it can be answered.
    pub over: Option<String>,
    /// Nobody is told of it by itself.
    pub is_quiet: bool,
    /// When it lapses, in milliseconds since 1970 by the host's clock.
    pub until_ms: u64,
}

impl Shown {
    /// What an answer to it is bound to, in hexadecimal digits.
    pub fn digest(&self) -> String {
        Digest::of(self.card.as_bytes()).hex()
    }
}

/// What the program says to the host, in a line of JSON each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromFleet {
    /// How the record stands in the database.
    Standing(Standing),
    /// What keeps desks from answering; `None` where nothing does.
    Desks(Option<String>),
    /// The fleet's roll, as it is in the database.
    Brought(Brought),
    /// What other hosts have signed that they tell: [`super::tells::Tells`].
    Told(Vec<Signed>),
    /// Something was said at a desk.
    Said {
        /// Its number in the database.
        number: i64,
        /// [`Words`] as JSON.
        text: String,
        /// The desk's signature.
        signature: String,
    },
}

/// What a person said at a desk. The desk says who it was; the host says whether they are anybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The host that it is said to.
    pub member: MemberId,
    /// Said once: 32 random hexadecimal digits.
    pub nonce: String,
    /// When, in milliseconds since 1970 by the desk's clock.
    pub at_ms: u64,
    /// The person's account, as `telegram:123456789`.
    pub account: String,
    /// What they are called there.
    pub name: String,
    /// The words.
    pub words: String,
    /// For words about a card: [`Shown::digest`] of what the desk has shown.
    pub digest: Option<String>,
    /// For a pressed button: whether its message is the one that counts.
    pub on: Option<bool>,
    /// All of the card was shown.
    pub sees_all: bool,
}

impl Statement for Words {
    const KIND: &'static str = "fleet desk words";
}
