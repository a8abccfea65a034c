//! Codex's hooks, checked against version 0.169.0. They look like Claude Code's, with differences that count:
//!
//! A denial is exit 2 with a reason on stderr, and the JSON on stdout may hold nothing that its closed schema does not
//! know. What is typed into a terminal that is open already passes no hook ([`Asker::types_past_hooks`]).

use bashgate_shared::object;

use super::{EventError, Head, Incoming, ToolName};
use crate::event::{Asker, BeforeToolUse, ToolUse};

pub(super) fn read(event: &[u8]) -> Result<Incoming, EventError> {
    let head: Head = object::from_slice(event)?;
    match head.hook_event_name.as_str() {
        "PreToolUse" => {}
        "PostToolUse" => return super::after(event),
        "SessionStart" | "UserPromptSubmit" | "Stop" | "SubagentStart" | "SubagentStop" | "PreCompact"
        | "PostCompact" => return Ok(Incoming::Nothing),
        other => return Err(EventError::UnknownEvent(other.chars().take(64).collect())),
    }
    let name: ToolName = object::from_slice(event)?;
    // A patch comes as a `command`, too, but no shell reads it. Like other edits of files, it is not gated.
    let tool = match name.tool_name.as_str() {
        "apply_patch" => ToolUse::Other,
        other => super::tool_use(other, event)?,
    };
    Ok(Incoming::Before(BeforeToolUse { tool, cwd: head.cwd, session: head.session_id, tool_use_id: name.tool_use_id }))
}

/// It replaces commands, types into open terminals, and starts a login shell for each command.
pub(super) const fn asker(plain: Asker) -> Asker {
    Asker { rewrites: true, types_past_hooks: true, reads_startup_files: true, ..plain }
}
