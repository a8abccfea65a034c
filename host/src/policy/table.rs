//! The decision table. Two matches without a catch-all arm: a new variant must break the build.

use bashgate_shared::classify::CommandClass;
use serde::{Deserialize, Serialize};

use crate::taint::Taint;

/// What happens next. Ordered from the mildest: the strictest of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// The inspector looks at it.
    Inspect,
    /// A person decides.
    #[serde(rename = "ask")]
    AskHuman,
    /// It may not run.
    Deny,
}

impl Decision {
    /// The next stricter decision.
    #[must_use]
    pub const fn stricter(self) -> Self {
        match self {
            Self::Allow => Self::Inspect,
            Self::Inspect => Self::AskHuman,
            Self::AskHuman | Self::Deny => Self::Deny,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Inspect => "inspect",
            Self::AskHuman => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The reason of a clear finding that no model was asked for.
pub const NO_MODEL: &str = "rules found nothing; no model was asked";

/// The inspector's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case")]
pub enum Finding {
    /// Nothing suspicious.
    Clear {
        /// In the inspector's words, for the record.
        reason: String,
    },
    /// Suspicious.
    Flagged {
        /// In the inspector's words.
        reason: String,
    },
    /// No answer that counts, on this command.
    NoAnswer {
        /// What went wrong: refused, malformed, too long.
        why: String,
    },
    /// The inspector cannot be reached or does not answer in time, whatever the command.
    Unavailable {
        /// What went wrong.
        why: String,
    },
}

/// What a finding makes of an inspection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It may run.
    Allow,
    /// A person decides.
    AskHuman,
    /// It may not run.
    Deny,
}

/// Decides the next step for one command. Pure. The operator's floor can tighten the table, never loosen it.
pub fn decide(floor: Decision, taint: Taint, class: CommandClass) -> Decision {
    table(taint, class).max(floor)
}

const fn table(taint: Taint, class: CommandClass) -> Decision {
    match (taint, class) {
        (Taint::Clean, CommandClass::Safe | CommandClass::Network | CommandClass::Unknown)
        | (Taint::Corruption | Taint::Secret | Taint::Both, CommandClass::Safe) => Decision::Allow,
        (Taint::Corruption | Taint::Secret, CommandClass::Network | CommandClass::Unknown)
        | (Taint::Both, CommandClass::Unknown) => Decision::Inspect,
        (Taint::Both, CommandClass::Network) => Decision::AskHuman,
    }
}

/// What a finding makes of an `Inspect`.
pub const fn resolve(taint: Taint, finding: &Finding) -> Outcome {
    match (taint, finding) {
        (Taint::Clean | Taint::Corruption | Taint::Secret | Taint::Both, Finding::Clear { .. }) => Outcome::Allow,
        (Taint::Clean | Taint::Corruption | Taint::Secret, Finding::Flagged { .. }) => Outcome::Deny,
        (Taint::Both, Finding::Flagged { .. })
        | (
            Taint::Clean | Taint::Corruption | Taint::Secret | Taint::Both,
            Finding::NoAnswer { .. } | Finding::Unavailable { .. },
        ) => Outcome::AskHuman,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CommandClass::{Network, Safe, Unknown};
    use Decision::{Allow, AskHuman, Deny, Inspect};

    const DECISIONS: [Decision; 4] = [Allow, Inspect, AskHuman, Deny];

    #[test]
    fn the_table_is_the_documented_one() {
        for (taint, safe, network, unknown) in [
            (Taint::Clean, Allow, Allow, Allow),
            (Taint::Corruption, Allow, Inspect, Inspect),
            (Taint::Secret, Allow, Inspect, Inspect),
            (Taint::Both, Allow, AskHuman, Inspect),
        ] {
            for (class, want) in [(Safe, safe), (Network, network), (Unknown, unknown)] {
                assert_eq!(decide(Allow, taint, class), want, "{taint} x {class}");
            }
        }
    }

    #[test]
    fn more_taint_or_a_stricter_class_never_loosens() {
        for floor in DECISIONS {
            for taint in Taint::ALL {
                for more in Taint::ALL.into_iter().filter(|more| more.covers(taint)) {
                    for class in CommandClass::ALL {
                        for stricter in CommandClass::ALL.into_iter().filter(|other| *other >= class) {
                            assert!(decide(floor, more, stricter) >= decide(floor, taint, class));
                        }
                        assert!(decide(floor, taint, class) >= floor);
                    }
                }
            }
        }
    }

    #[test]
    fn flagged_or_unanswered_is_never_looser_than_clear() {
        let clear = Finding::Clear { reason: String::new() };
        let flagged = Finding::Flagged { reason: String::new() };
        let none = Finding::NoAnswer { why: String::new() };
        for taint in Taint::ALL {
            assert_eq!(resolve(taint, &clear), Outcome::Allow);
            assert!(resolve(taint, &flagged) > Outcome::Allow);
            assert_eq!(resolve(taint, &none), Outcome::AskHuman);
        }
        assert_eq!(resolve(Taint::Both, &flagged), Outcome::AskHuman);
        assert_eq!(resolve(Taint::Secret, &flagged), Outcome::Deny);
        assert_eq!(resolve(Taint::Corruption, &flagged), Outcome::Deny);
    }
}
