//! What a person's yes may be about, as far as it says how much that yes takes: a one-time code, a second person.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use crate::approval::Scope;

/// Why something is asked, or how far the answer reaches. Most are rules of [`super::judge`], by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Matter {
    /// The decision table alone.
    Table,
    /// A credential in the text.
    Credential,
    /// A secret is read and the network reached.
    SecretToNetwork,
    /// A tool sends a secret.
    SecretToService,
    /// What it has just fetched would run.
    RunsFetched,
    /// It changes what runs later.
    Persistence,
    /// It changes what steers builds, CI or agents.
    Steering,
    /// What a tool writes may be for good.
    DangerousWrites,
    /// It reads what was not looked through for secrets.
    Unlooked,
    /// An operator's rule.
    Operator,
    /// A managed script.
    Script,
    /// The inspector is out, and a workspace wants to go on.
    Outage,
    /// The answer lets the same run until the taint changes.
    Session,
    /// The answer lets others of its kind run for a while.
    Grant,
    /// The answer overrules the inspector's denial.
    Overrule,
}

impl Matter {
    /// What takes a one-time code where nothing else is said: what cannot be undone once it has happened.
    pub const USUAL: [Self; 9] = [
        Self::Credential,
        Self::SecretToNetwork,
        Self::SecretToService,
        Self::Persistence,
        Self::DangerousWrites,
        Self::Script,
        Self::Outage,
        Self::Grant,
        Self::Overrule,
    ];

    /// The matter of how far an answer reaches, where that is one.
    pub const fn of_scope(scope: Scope) -> Option<Self> {
        match scope {
            Scope::Once => None,
            Scope::Session => Some(Self::Session),
            Scope::Grant { .. } => Some(Self::Grant),
        }
    }

    /// The matter of a rule.
    pub fn of_rule(rule: &str) -> Option<Self> {
        Self::deserialize(IntoDeserializer::<Error>::into_deserializer(rule)).ok()
    }
}

/// What is asked in which way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk {
    /// What takes a one-time code in a channel.
    pub high: BTreeSet<Matter>,
    /// What two people must approve.
    pub two_people: BTreeSet<Matter>,
}

impl Default for Risk {
    fn default() -> Self {
        Self { high: Matter::USUAL.into(), two_people: BTreeSet::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_the_names_that_judging_gives_them() {
        for (rule, matter) in [
            ("table", Matter::Table),
            ("credential", Matter::Credential),
            ("secret-to-network", Matter::SecretToNetwork),
            ("runs-fetched", Matter::RunsFetched),
            (super::super::cage::UNLOOKED, Matter::Unlooked),
            ("operator", Matter::Operator),
        ] {
            assert_eq!(Matter::of_rule(rule), Some(matter), "{rule}");
        }
        assert_eq!(Matter::of_rule("something"), None);
    }
}
