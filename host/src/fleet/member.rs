//! Who belongs to a fleet, by name.

use serde::{Deserialize, Serialize};

/// Longest name of a host, in bytes.
const LONGEST: usize = 32;

/// A host's name in its fleet, or a desk's: 1 to 32 small letters, digits and `-`, of which the first is no `-`.
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

impl std::fmt::Display for MemberId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.number {
            1 => write!(f, "{}", self.host),
            number => write!(f, "{} ({number})", self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_of_hosts() {
        for good in ["a", "web-1", "9", &"x".repeat(32)] {
            assert!(HostName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "-a", "Web", "a_b", "a b", "a'b", "ä", &"x".repeat(33)] {
            assert!(HostName::parse(bad).is_none(), "{bad}");
        }
    }
}
