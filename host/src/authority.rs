//! Who says something: people by name, and who said the last word on a request.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A person's name, as the channel that heard them has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Person(String);

impl Person {
    /// The person of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The account that speaks, without what it is called there: a service's name with its own id, or a user of this machine.
    pub fn account(&self) -> &str {
        self.0.split_once(" (").map_or(&self.0, |(account, _)| account)
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who said the last word. On the wire and in records it is one word, with a person's name behind `human:`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum By {
    /// The policy.
    Policy,
    /// The inspector.
    Inspector,
    /// A person.
    Human(Person),
    /// bashgate's own Bash tool, by a preset's rules.
    Runner,
    /// The host itself: a limit, a fault, an asker that went away.
    Host,
}

/// What stands before a person's name.
const HUMAN: &str = "human:";

impl By {
    /// The kind without a name, as metrics count it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Inspector => "inspector",
            Self::Human(_) => "human",
            Self::Runner => "runner",
            Self::Host => "host",
        }
    }

    /// True for a person's word.
    pub const fn is_human(&self) -> bool {
        matches!(self, Self::Human(_))
    }

    /// Reads it back from a record.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "policy" => Some(Self::Policy),
            "inspector" => Some(Self::Inspector),
            "runner" => Some(Self::Runner),
            "host" => Some(Self::Host),
            _ => text.strip_prefix(HUMAN).map(|name| Self::Human(Person::named(name))),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human(person) => write!(f, "{HUMAN}{person}"),
            other => f.write_str(other.kind()),
        }
    }
}

impl Serialize for By {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for By {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is nobody who decides")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for by in [By::Policy, By::Inspector, By::Human(Person::named("ann:b host")), By::Runner, By::Host] {
            assert_eq!(By::parse(&by.to_string()), Some(by.clone()), "{by}");
        }
        assert_eq!(By::parse("somebody"), None);
        // A person's name makes nobody else of them.
        assert!(By::parse("human:policy").is_some_and(|by| by.is_human()));
    }
}
