//! What the gate says of one use of a tool, and who said it.

/// Who raises no objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LetThroughBy {
    /// The hook: the command is provably local.
    Hook,
    /// The host, which has it on record.
    Host,
    /// Nobody was asked: it is nothing that is gated.
    Nobody,
    /// No host answered, and `when_host_silent` is `allow`. Whoever takes this says so aloud.
    Silence {
        /// Why there was no answer.
        why: String,
    },
}

/// The decision on one use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum HookDecision {
    /// No objection: the agent's own rules go on.
    Allow(LetThroughBy),
    /// This text runs instead, which is the same command in the cage.
    Cage {
        /// The text for the agent's shell.
        form: String,
    },
    /// Not to be used, for this reason.
    Deny {
        /// For people and agents; never empty.
        reason: String,
    },
}

impl HookDecision {
    /// A denial with a reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// True when there is no objection.
    pub const fn allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// What must be said aloud: nobody checked this.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Allow(LetThroughBy::Silence { why }) => {
                Some(format!("let through unchecked, because {why} and `when_host_silent` is `allow`"))
            }
            _ => None,
        }
    }
}
