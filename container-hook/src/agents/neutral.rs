//! bashgate's own event, for agents without a dialect and for plug-ins that speak for one:
//! `{"event":"before_tool_use","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/work"}`.
//!
//! The answer on standard output is `{"allowed":true}` or `{"allowed":false,"reason":"…"}`; the exit code says the same.

use bashgate_shared::agents::Happens;
use serde_json::json;

use super::{Event, EventError};
use crate::gate::HookDecision;

const BEFORE: &str = "before_tool_use";

/// The same event with its name where all others have theirs.
pub(super) fn named(mut event: Event) -> Result<Event, EventError> {
    if event.tool_name.is_none() || event.tool_input.is_none() {
        return Err(EventError::NoDialect);
    }
    event.hook_event_name = event.event.take();
    Ok(event)
}

pub(super) fn happens(name: &str) -> Option<Happens> {
    (name == BEFORE).then_some(Happens::Before)
}

pub(super) fn answer(decision: &HookDecision) -> Option<String> {
    match decision {
        HookDecision::Allow(_) => Some(json!({"allowed": true}).to_string()),
        HookDecision::Deny { reason } => Some(json!({"allowed": false, "reason": reason}).to_string()),
        // It has no word for it.
        HookDecision::Cage { .. } => None,
    }
}
