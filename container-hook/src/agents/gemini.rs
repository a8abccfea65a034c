//! The answer to Gemini CLI's `BeforeTool`: exit 2 with the reason on stderr denies, and the JSON says the same again.
//!
//! It has no word that spares people its own prompts, so that no objection is silence.

use serde_json::json;

use crate::gate::HookDecision;

pub(super) fn answer(decision: &HookDecision) -> Option<String> {
    match decision {
        HookDecision::Deny { reason } => Some(json!({"decision": "deny", "reason": reason}).to_string()),
        HookDecision::Allow(_) | HookDecision::Cage { .. } => None,
    }
}
