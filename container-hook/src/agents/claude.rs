//! Claude Code's hooks. Input and output as its documentation of hooks has them, checked against version 2.1.330.
//!
//! A denial is exit 2 with the reason on stderr; the JSON on stdout says the same again. No objection is exit 0 with
//! nothing printed: an explicit `allow` would overrule the user's own permission rules.

use serde::Deserialize;
use serde_json::json;

use super::{EventError, Incoming};
use crate::event::{BeforeToolUse, HookDecision, Source, ToolUse};

#[derive(Deserialize)]
struct Event {
    hook_event_name: String,
    cwd: Option<String>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
struct Tool<Input> {
    tool_name: String,
    tool_input: Input,
    tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct Bash {
    command: String,
}

/// The fields in which tools name what they read. Unknown fields are theirs.
#[derive(Deserialize, Default)]
struct Target {
    file_path: Option<String>,
    notebook_path: Option<String>,
    path: Option<String>,
    url: Option<String>,
    query: Option<String>,
}

#[derive(Deserialize)]
struct ToolName {
    tool_name: String,
    tool_use_id: Option<String>,
}

pub(super) fn read(event: &[u8]) -> Result<Incoming, EventError> {
    let head: Event = serde_json::from_slice(event)?;
    match head.hook_event_name.as_str() {
        "PreToolUse" => {}
        "PostToolUse" | "PostToolUseFailure" | "PermissionDenied" | "SessionStart" | "SessionEnd" | "Setup"
        | "UserPromptSubmit" | "Stop" | "StopFailure" | "SubagentStart" | "SubagentStop" | "PreCompact"
        | "PostCompact" | "Notification" | "ConfigChange" => {
            return Ok(Incoming::Nothing);
        }
        other => return Err(EventError::UnknownEvent(other.chars().take(64).collect())),
    }
    let name: ToolName = serde_json::from_slice(event)?;
    let tool = match name.tool_name.as_str() {
        "Bash" => {
            let tool: Tool<Bash> = serde_json::from_slice(event)?;
            ToolUse::Shell { command: tool.tool_input.command }
        }
        "Read" | "Grep" | "NotebookRead" => input(event, Source::File)?,
        "WebFetch" | "WebSearch" => input(event, Source::Web)?,
        mcp if mcp.starts_with("mcp__") => input(event, Source::Service)?,
        _ => ToolUse::Other,
    };
    Ok(Incoming::Before(BeforeToolUse { tool, cwd: head.cwd, session: head.session_id, tool_use_id: name.tool_use_id }))
}

fn input(event: &[u8], source: Source) -> Result<ToolUse, EventError> {
    let tool: Tool<serde_json::Value> = serde_json::from_slice(event)?;
    let _ = tool.tool_use_id;
    // The input of an MCP tool has any shape; only a text under a known name is taken from it.
    let target: Target = serde_json::from_value(tool.tool_input).unwrap_or_default();
    let target = target.file_path.or(target.notebook_path).or(target.path).or(target.url).or(target.query);
    Ok(ToolUse::Input { tool: tool.tool_name, target, source })
}

pub(super) fn answer(decision: &HookDecision, approve: bool) -> Option<String> {
    let (permission, reason) = match decision {
        HookDecision::Deny { reason } => ("deny", reason.as_str()),
        HookDecision::Allow if approve => ("allow", "bashgate let it through"),
        HookDecision::Allow => return None,
    };
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": permission,
        "permissionDecisionReason": reason,
    }});
    Some(output.to_string())
}
