//! Cursor's events, some of which name a command or a file outside of any tool's input, and its answers. From its documentation
//! alone: it cannot be run where the tests run.

use bashgate_shared::object::Once;
use serde_json::{Value, json};

use super::Event;
use crate::gate::HookDecision;

/// The same event with the tool that it is about.
pub(super) fn with_tool(mut event: Event) -> Event {
    let (tool, field, value) = match event.hook_event_name.as_deref() {
        Some("beforeShellExecution" | "afterShellExecution") => ("Shell", "command", event.command.take()),
        Some("beforeReadFile") => ("Read", "file_path", event.file_path.take()),
        // A server's tools have names of their own choice.
        Some("beforeMCPExecution" | "afterMCPExecution") => {
            event.tool_name = event.tool_name.map(|name| format!("MCP:{name}"));
            return event;
        }
        _ => return event,
    };
    event.tool_name = Some(tool.to_owned());
    if let Some(Once(value)) = value {
        event.tool_input = Some(Once(Value::Object([(field.to_owned(), value)].into_iter().collect())));
    }
    event
}

pub(super) fn answer(decision: &HookDecision, approve: bool) -> Option<String> {
    match decision {
        HookDecision::Deny { reason } => {
            Some(json!({"permission": "deny", "user_message": reason, "agent_message": reason}).to_string())
        }
        HookDecision::Allow(_) if approve => Some(json!({"permission": "allow"}).to_string()),
        HookDecision::Allow(_) | HookDecision::Cage { .. } => None,
    }
}
