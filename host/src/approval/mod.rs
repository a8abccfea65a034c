//! Approvals by people: what is held, who may be answered, once. Pure.

mod book;
pub mod codes;
mod grant;
mod pending;
pub mod writes;

pub use book::{Ahead, AnswerError, Book, CaseId, Full, GO_ON_MS, Given, OVERRULE_MS, Overruled, STAY_MS, Second};
pub use grant::{MOST_MINUTES, Reach, USUAL_MINUTES};
pub use pending::{ApprovalId, Card, Changed, Demands, Forecast, MAX_HEAD, RequestKey, Scope, Since};

/// What a person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// It may run.
    Approve(Scope),
    /// It may not.
    Deny {
        /// In the person's words; may be empty.
        reason: String,
    },
}
