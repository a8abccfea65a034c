//! Many hosts, one record: what the hosts of a team put on record, together in a PostgreSQL database that nobody has to trust.
//!
//! A host stays whole alone: its own store is its durable record, and it decides without the network. What it records goes to the
//! database in order, by [`shipping`], whenever the database is there.
//!
//! Its own program, `bashgate-fleet`, which the host starts where it belongs to a fleet: what speaks to a database that may be hostile is
//! apart from what decides. See [`bashgate::fleet`].
//!
//! INVARIANT: the database is a mailbox, as the folder between hook and host is. Whoever can write it can delay and delete; he forges
//! nothing, and what he changes, moves or deletes is found by [`verify`]. Three kinds of keys see to it: the fleet's own, in the folder of
//! whoever runs it ([`folder`]), says which hosts belong to it; each host's fleet key, in its state folder ([`membership`]), signs the head
//! of its chain of records; and each record is bound to the one before it, as in the host's own store. What is signed is a
//! [`statement`].

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod asking;
pub mod cli;
pub mod database;
pub mod desk;
pub mod folder;
pub mod membership;
pub mod schema;
pub mod search;
pub mod shipping;
pub mod statement;
pub mod token;
pub mod verify;

use serde::{Deserialize, Serialize};

/// Longest name of a host, in bytes.
const LONGEST: usize = 32;

/// A host's name in its fleet: 1 to 32 small letters, digits and `-`, of which the first is no `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

impl HostName {
    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = !text.is_empty() && text.len() <= LONGEST && !text.starts_with('-') && text.bytes().all(is_fine);
        is_name.then(|| Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HostName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("a host's name has 1 to 32 small letters, digits and `-`")
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

impl std::fmt::Display for HostName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One host for as long as its record goes on. A host that is made anew, or put back to an older state, begins another chain under the
/// next number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemberId {
    /// The fleet, by the id that it was given when it was made.
    pub fleet: String,
    /// The host.
    pub host: HostName,
    /// Which of its chains, from 1.
    pub number: i32,
}

impl MemberId {
    /// The database's role of it. Policies of rows compute the same from a row's own columns: see [`schema`].
    pub fn role(&self) -> String {
        format!("{}{}_{}", role_prefix(&self.fleet), self.host, self.number)
    }
}

impl std::fmt::Display for MemberId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.number {
            1 => write!(f, "{}", self.host),
            number => write!(f, "{} ({number})", self.host),
        }
    }
}

/// How the roles of a fleet's hosts begin: a server's roles are shared by all of its databases.
fn role_prefix(fleet: &str) -> String {
    format!("bashgate_{}_", fleet.chars().filter(char::is_ascii_hexdigit).take(12).collect::<String>())
}

/// Random bytes as hexadecimal digits.
fn random_hex<const N: usize>() -> std::io::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bashgate_shared::command::hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_of_hosts_and_fit_into_a_role() {
        for good in ["a", "web-1", "9", &"x".repeat(32)] {
            assert!(HostName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "-a", "Web", "a_b", "a b", "a'b", "ä", &"x".repeat(33)] {
            assert!(HostName::parse(bad).is_none(), "{bad}");
        }
        let host = HostName::parse(&"x".repeat(32)).unwrap();
        let longest = MemberId { fleet: "0123456789abcdef".to_owned(), host, number: i32::MAX };
        // PostgreSQL cuts a name behind 63 bytes.
        assert!(MemberId { number: 9999, ..longest }.role().len() <= 63);
    }
}
