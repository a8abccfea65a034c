//! Dialects: how an agent words its event and the answer. One small file for each; nothing here decides.

mod claude;
mod neutral;

use crate::event::{BeforeToolUse, HookDecision};

/// An agent whose events are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code: `PreToolUse`.
    Claude,
    /// bashgate's own form, for agents without a dialect and for SDK executors.
    Neutral,
}

/// What to do with an event.
#[derive(Debug)]
pub enum Incoming {
    /// A tool is about to be used.
    Before(BeforeToolUse),
    /// An event that starts nothing, such as `PostToolUse`: there is nothing to object to.
    Nothing,
}

/// Why an event is denied unread.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Nothing on standard input.
    #[error("the event on standard input is empty")]
    Empty,
    /// Too large.
    #[error("the event is larger than {MAX_EVENT_BYTES} bytes")]
    TooLarge,
    /// Not JSON, or not of the agent's shape.
    #[error("the event is not understood: {0}")]
    Malformed(#[from] serde_json::Error),
    /// No dialect knows it.
    #[error("no agent's event has this shape")]
    NoDialect,
    /// The agent has an event of this name, but not one that this version knows.
    #[error("the event `{0}` is not known")]
    UnknownEvent(String),
    /// `--agent` with another name.
    #[error("there is no agent `{0}`; known are: claude, neutral")]
    UnknownAgent(String),
}

/// Largest event that is read, in bytes.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

impl Agent {
    /// The agent of this name.
    pub fn named(name: &str) -> Result<Self, EventError> {
        match name {
            "claude" => Ok(Self::Claude),
            "neutral" => Ok(Self::Neutral),
            other => Err(EventError::UnknownAgent(other.to_owned())),
        }
    }

    /// The agent's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Neutral => "neutral",
        }
    }

    /// The agent whose event this is, by the field that names the event.
    pub fn of(event: &[u8]) -> Result<Self, EventError> {
        #[derive(serde::Deserialize)]
        struct Names {
            hook_event_name: Option<String>,
            event: Option<String>,
        }
        let names: Names = serde_json::from_slice(event)?;
        match names {
            Names { hook_event_name: Some(_), event: None } => Ok(Self::Claude),
            Names { hook_event_name: None, event: Some(_) } => Ok(Self::Neutral),
            _ => Err(EventError::NoDialect),
        }
    }

    /// Reads the agent's event.
    pub fn read(self, event: &[u8]) -> Result<Incoming, EventError> {
        if event.iter().all(u8::is_ascii_whitespace) {
            return Err(EventError::Empty);
        }
        if event.len() > MAX_EVENT_BYTES {
            return Err(EventError::TooLarge);
        }
        match self {
            Self::Claude => claude::read(event),
            Self::Neutral => neutral::read(event),
        }
    }

    /// What to print on standard output besides the exit code, if the agent wants anything there.
    pub fn answer(self, decision: &HookDecision, approve: bool) -> Option<String> {
        match self {
            Self::Claude => claude::answer(decision, approve),
            Self::Neutral => Some(neutral::answer(decision)),
        }
    }
}
