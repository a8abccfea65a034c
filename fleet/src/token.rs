//! What a new host is handed once: where the fleet is, and a password and a secret by which it is known until it has its own.

use bashgate_shared::command::hex;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::MemberId;
use super::database::Address;

/// Largest token that is read, in bytes: certificates may be in it.
pub const MOST: u64 = 1 << 20;

/// A token. Whoever has it may become that host, until somebody did.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Who it makes.
    pub member: MemberId,
    /// True for a desk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desk: bool,
    /// Where the database is.
    pub address: Address,
    /// The role's password until the host gives it another one.
    pub password: String,
    /// What the fleet's key knows the host by. It is never sent.
    pub secret: String,
    /// The fleet's key.
    pub root: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Token({})", self.member)
    }
}

/// The proof that whoever holds a token's secret has this key, in hexadecimal digits.
pub fn proof(secret: &str, member: &MemberId, key: &str) -> String {
    let text = serde_json::json!(["bashgate fleet proof 1", member, key]).to_string();
    // A key of any length is one.
    Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_or_else(
        |_| String::new(),
        |mut mac| {
            mac.update(text.as_bytes());
            hex(&mac.finalize().into_bytes())
        },
    )
}
