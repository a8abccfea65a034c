//! Dialects: how an agent words its event and the answer. One small file for each; nothing here decides.

mod claude;
mod codex;
mod neutral;

use bashgate_shared::object::{self, Object};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::event::{AfterToolUse, Asker, BeforeToolUse, Source, ToolUse};
use crate::gate::HookDecision;
use crate::gate::shown::credentials_in;

/// An agent whose events are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code: `PreToolUse`.
    Claude,
    /// Codex: `PreToolUse`, in a form of its own.
    Codex,
    /// bashgate's own form, for agents without a dialect and for SDK executors.
    Neutral,
}

/// What to do with an event.
#[derive(Debug)]
pub enum Incoming {
    /// A tool is about to be used.
    Before(BeforeToolUse),
    /// A shell command has run.
    After(AfterToolUse),
    /// An event that starts nothing, such as `SessionStart`: there is nothing to object to.
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
    #[error("there is no agent `{0}`; known are: claude, codex, neutral")]
    UnknownAgent(String),
}

/// Largest event that is read, in bytes.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

impl Agent {
    /// The agent of this name.
    pub fn named(name: &str) -> Result<Self, EventError> {
        match name {
            "claude" => Ok(Self::Claude),
            "codex" => Ok(Self::Codex),
            "neutral" => Ok(Self::Neutral),
            other => Err(EventError::UnknownAgent(other.to_owned())),
        }
    }

    /// The agent's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Neutral => "neutral",
        }
    }

    /// The agent whose event this is, by the field that names the event.
    pub fn of(event: &[u8]) -> Result<Self, EventError> {
        #[derive(serde::Deserialize)]
        struct Names {
            hook_event_name: Option<String>,
            event: Option<String>,
            turn_id: Option<String>,
        }
        let names: Names = object::from_slice(event)?;
        match names {
            Names { hook_event_name: Some(_), event: None, turn_id: Some(_) } => Ok(Self::Codex),
            Names { hook_event_name: Some(_), event: None, turn_id: None } => Ok(Self::Claude),
            Names { hook_event_name: None, event: Some(_), .. } => Ok(Self::Neutral),
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
            Self::Codex => codex::read(event),
            Self::Neutral => neutral::read(event),
        }
    }

    /// The agent as the one who asks.
    pub fn asker(self) -> Asker {
        let plain = Asker::plain(self.name());
        match self {
            Self::Claude => claude::asker(plain),
            Self::Codex => codex::asker(plain),
            Self::Neutral => plain,
        }
    }

    /// What to print on standard output besides the exit code, if the agent wants anything there. `event` is the event
    /// that is answered.
    pub fn answer(self, decision: &HookDecision, approve: bool, event: &[u8]) -> Option<String> {
        match self {
            Self::Claude | Self::Codex => pre_tool_use(decision, approve, event),
            Self::Neutral => neutral::answer(decision),
        }
    }
}

/// The answer to `PreToolUse`, which Claude Code and Codex word alike.
fn pre_tool_use(decision: &HookDecision, approve: bool, event: &[u8]) -> Option<String> {
    let mut input = None;
    let (permission, reason) = match decision {
        HookDecision::Deny { reason } => ("deny", reason.as_str()),
        HookDecision::Allow(_) if approve => ("allow", "bashgate let it through"),
        HookDecision::Allow(_) => return None,
        HookDecision::Cage { form } => {
            // Everything else that the agent gave its tool stays as it is.
            let mut fields = serde_json::from_slice::<WithInput<Map<String, Value>>>(event).ok()?.tool_input;
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

/// A tool has been used: a shell command, or another one whose result may show a secret.
fn after(event: &[u8]) -> Result<Incoming, EventError> {
    let head: Head = object::from_slice(event)?;
    let used: ToolName = object::from_slice(event)?;
    let result: WithResult = object::from_slice(event)?;
    let mut texts = Vec::new();
    let values = [result.tool_response, result.error];
    values.iter().flatten().for_each(|value| texts_in(value, &mut texts));
    let shown = credentials_in(&texts.join("\n"));
    let is_shell = used.tool_name == "Bash" && used.tool_use_id.is_some();
    let command = if is_shell {
        object::from_slice::<WithInput<Object<Command>>>(event)?.tool_input.0.command
    } else {
        format!("the tool {}", used.tool_name)
    };
    let tool_use_id = used.tool_use_id.unwrap_or_default();
    Ok(Incoming::After(AfterToolUse { command, is_shell, shown, session: head.session_id, tool_use_id }))
}

/// Every text in a value, in its order. JSON is never nested deeper than its reader goes.
fn texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts_in(value, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            texts.push(name);
            texts_in(value, texts);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a tool's result is called; a failed one's in Claude Code is an error.
#[derive(Deserialize)]
struct WithResult {
    tool_response: Option<Value>,
    error: Option<Value>,
}

/// What every event of Claude Code's form starts with.
#[derive(Deserialize)]
struct Head {
    hook_event_name: String,
    cwd: Option<String>,
    session_id: Option<String>,
}

/// What an event about a tool has besides.
#[derive(Deserialize)]
struct ToolName {
    tool_name: String,
    tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct WithInput<Input> {
    tool_input: Input,
}

#[derive(Deserialize)]
struct Command {
    command: String,
}

/// The fields under which tools name what they work on. Each may hold anything; only texts count.
#[derive(Deserialize, Default)]
struct Fields {
    command: Option<Value>,
    file_path: Option<Value>,
    notebook_path: Option<Value>,
    path: Option<Value>,
    glob: Option<Value>,
    url: Option<Value>,
    query: Option<Value>,
}

/// What a tool call is, by the tool's name and the fields of its input. The names are Claude Code's, which others share.
fn tool_use(tool: &str, event: &[u8]) -> Result<ToolUse, EventError> {
    if tool == "Bash" {
        let event: WithInput<Object<Command>> = object::from_slice(event)?;
        return Ok(ToolUse::Shell { command: event.tool_input.0.command, is_bash: true });
    }
    // Read with the type, which refuses a field that is given twice; an input that is no object has no fields.
    let whole: WithInput<Value> = object::from_slice(event)?;
    let fields = match whole.tool_input {
        Value::Object(_) => object::from_slice::<WithInput<Object<Fields>>>(event)?.tool_input.0,
        _ => Fields::default(),
    };
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    let is_service = tool.starts_with("mcp__");
    if let Some(command) = text(fields.command).filter(|_| !is_service) {
        // Whatever the tool is called: it runs a command.
        return Ok(ToolUse::Shell { command, is_bash: false });
    }
    let source = match tool {
        "Read" | "Grep" | "NotebookRead" => Source::File,
        "WebFetch" | "WebSearch" => Source::Web,
        _ if is_service => Source::Service,
        _ => return Ok(ToolUse::Other),
    };
    let target =
        [fields.file_path, fields.notebook_path, fields.path, fields.url, fields.query].into_iter().find_map(text);
    Ok(ToolUse::Input { tool: tool.to_owned(), target, pattern: text(fields.glob), source })
}
