//! bashgate's own event, for agents without a dialect:
//! `{"event":"before_tool_use","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/work"}`.
//!
//! The answer on standard output is `{"allowed":true}` or `{"allowed":false,"reason":"…"}`; the exit code says the same.

use bashgate_shared::object;
use serde::Deserialize;
use serde_json::json;

use super::{EventError, Incoming};
use crate::event::BeforeToolUse;
use crate::gate::HookDecision;

#[derive(Deserialize)]
struct Event {
    event: String,
    tool_name: String,
    cwd: Option<String>,
    session: Option<String>,
    tool_use_id: Option<String>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Incoming, EventError> {
    let event: Event = object::from_slice(bytes)?;
    if event.event != "before_tool_use" {
        return Err(EventError::UnknownEvent(event.event.chars().take(64).collect()));
    }
    let tool = super::tool_use(&event.tool_name, bytes)?;
    Ok(Incoming::Before(BeforeToolUse { tool, cwd: event.cwd, session: event.session, tool_use_id: event.tool_use_id }))
}

pub(super) fn answer(decision: &HookDecision) -> Option<String> {
    match decision {
        HookDecision::Allow(_) => Some(json!({"allowed": true}).to_string()),
        HookDecision::Deny { reason } => Some(json!({"allowed": false, "reason": reason}).to_string()),
        // It has no word for it.
        HookDecision::Cage { .. } => None,
    }
}
