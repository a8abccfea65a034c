//! The answer to `PreToolUse`, which Claude Code and Codex word alike.
//!
//! A denial is exit 2 with the reason on stderr; the JSON on stdout says the same again. No objection is exit 0 with
//! nothing printed: an explicit `allow` would overrule the user's own permission rules.

use bashgate_shared::object;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::gate::HookDecision;

#[derive(Deserialize)]
struct WithInput {
    tool_input: Map<String, Value>,
}

pub(super) fn answer(decision: &HookDecision, approve: bool, event: &[u8]) -> Option<String> {
    let mut input = None;
    let (permission, reason) = match decision {
        HookDecision::Deny { reason } => ("deny", reason.as_str()),
        HookDecision::Allow(_) if approve => ("allow", "bashgate let it through"),
        HookDecision::Allow(_) => return None,
        HookDecision::Cage { form } => {
            // Everything else that the agent gave its tool stays as it is.
            let mut fields = object::from_slice::<WithInput>(event).ok()?.tool_input;
            fields.insert("command".to_owned(), Value::String(form.clone()));
            input = Some(fields);
            ("allow", "bashgate runs it without network")
        }
    };
    // Codex knows no field that is not in its schema, and none that is null.
    let mut output = json!({
        "hookEventName": "PreToolUse", "permissionDecision": permission, "permissionDecisionReason": reason,
    });
    if let (Some(output), Some(input)) = (output.as_object_mut(), input) {
        output.insert("updatedInput".to_owned(), Value::Object(input));
    }
    Some(json!({"hookSpecificOutput": output}).to_string())
}
