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
pub mod keeping;
pub mod membership;
mod pages;
pub mod retention;
pub mod schema;
pub mod search;
pub mod shipping;
pub mod statement;
pub mod telemetry;
pub mod token;
pub mod verify;

pub use bashgate::fleet::member::{HostName, MemberId};

/// The database's role of a member. Policies of rows compute the same from a row's own columns: see [`schema`].
pub fn role(member: &MemberId) -> String {
    format!("{}{}_{}", role_prefix(&member.fleet), member.host, member.number)
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
    fn names_fit_into_a_role() {
        let host = HostName::parse(&"x".repeat(32)).unwrap();
        let longest = MemberId { fleet: "0123456789abcdef".to_owned(), host, number: 9999 };
        // PostgreSQL cuts a name behind 63 bytes.
        assert!(role(&longest).len() <= 63);
    }
}
