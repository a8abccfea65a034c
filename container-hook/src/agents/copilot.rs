//! Copilot CLI's events, which have no name in them, and its answers.
//!
//! With exit 2 alone its model only learns that a hook failed: the flat JSON brings the reason.

use serde_json::json;

use super::Event;
use crate::gate::HookDecision;

/// The same event with the name under which it was asked for.
pub(super) fn named(mut event: Event) -> Event {
    if event.hook_event_name.is_none() {
        let name = if event.tool_response.is_some() {
            "postToolUse"
        } else if event.tool_name.is_some() {
            "preToolUse"
        } else if event.prompt.is_some() {
            "userPromptSubmitted"
        } else {
            "sessionStart"
        };
        event.hook_event_name = Some(name.to_owned());
    } else if event.hook_event_name.as_deref() == Some("PreToolUse") {
        event.hook_event_name = Some("preToolUse".to_owned());
    } else if event.hook_event_name.as_deref() == Some("PostToolUse") {
        event.hook_event_name = Some("postToolUse".to_owned());
    }
    event
}

pub(super) fn answer(decision: &HookDecision, approve: bool) -> Option<String> {
    let (permission, reason) = match decision {
        HookDecision::Deny { reason } => ("deny", reason.as_str()),
        HookDecision::Allow(_) if approve => ("allow", "bashgate let it through"),
        HookDecision::Allow(_) | HookDecision::Cage { .. } => return None,
    };
    Some(json!({"permissionDecision": permission, "permissionDecisionReason": reason}).to_string())
}
