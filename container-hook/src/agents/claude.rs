//! Claude Code's hooks. Input and output as its documentation of hooks has them, checked against version 2.1.330.
//!
//! A denial is exit 2 with the reason on stderr; the JSON on stdout says the same again. No objection is exit 0 with
//! nothing printed: an explicit `allow` would overrule the user's own permission rules.

use bashgate_shared::object;

use super::{EventError, Head, Incoming, ToolName};
use crate::event::{Asker, BeforeToolUse};

pub(super) fn read(event: &[u8]) -> Result<Incoming, EventError> {
    let head: Head = object::from_slice(event)?;
    match head.hook_event_name.as_str() {
        "PreToolUse" => {}
        "PostToolUse" | "PostToolUseFailure" => return super::after(event),
        "PermissionDenied" | "SessionStart" | "SessionEnd" | "Setup" | "UserPromptSubmit" | "Stop" | "StopFailure"
        | "SubagentStart" | "SubagentStop" | "PreCompact" | "PostCompact" | "Notification" | "ConfigChange" => {
            return Ok(Incoming::Nothing);
        }
        other => return Err(EventError::UnknownEvent(other.chars().take(64).collect())),
    }
    let name: ToolName = object::from_slice(event)?;
    let tool = super::tool_use(&name.tool_name, event)?;
    Ok(Incoming::Before(BeforeToolUse { tool, cwd: head.cwd, session: head.session_id, tool_use_id: name.tool_use_id }))
}

/// It replaces commands. It reads start-up files into a snapshot, and says that it is itself with a variable.
pub(super) fn asker(plain: Asker) -> Asker {
    let reads_startup_files = std::env::var_os("CLAUDE_PROJECT_DIR").is_some();
    Asker { rewrites: true, reads_startup_files, ..plain }
}
