//! Dialects: how an agent words its event and the answer. One small file for each form; nothing here decides.
//!
//! What is a fact about an agent (its events, its tools, what it can do) stands in its row, [`bashgate_shared::agents`].

mod claude;
mod copilot;
mod cursor;
mod gemini;
mod neutral;
mod set_for_commands;
mod uses;

use bashgate_shared::agents::{self, AgentRow, Happens};
use bashgate_shared::object::{self, Once};
use serde::Deserialize;
use serde_json::{Map, Value};

pub use set_for_commands::{SetVariable, chooses_code, finds_programs, set_for_commands};

use crate::event::{AfterToolUse, Asker, BeforeToolUse, Called, ToolUse};
use crate::gate::HookDecision;

/// An agent whose events are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code: `PreToolUse`.
    Claude,
    /// Codex: `PreToolUse`, in a form of its own.
    Codex,
    /// Gemini CLI: `BeforeTool`.
    Gemini,
    /// Copilot CLI: `preToolUse`.
    Copilot,
    /// `OpenCode`: our plug-in for it sends bashgate's own form.
    OpenCode,
    /// Cursor: `preToolUse`, `beforeShellExecution` and others.
    Cursor,
    /// bashgate's own form, for agents without a dialect and for SDK executors.
    Neutral,
}

/// What to do with an event.
#[derive(Debug)]
pub enum Incoming {
    /// A tool is about to be used.
    Before(BeforeToolUse),
    /// A tool has been used.
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
    #[error("the event is not understood: {0}; let the agent and bashgate-hook be of versions that belong together")]
    Malformed(#[from] serde_json::Error),
    /// No dialect knows it.
    #[error(
        "no agent's event has this shape; name the agent with --agent ({}), or send bashgate's own form (docs/agents.md)",
        agents::names()
    )]
    NoDialect,
    /// The agent has an event of this name, but not one that this version knows.
    #[error("the event `{0}` is not known to this version; take the hook off that event, or update bashgate-hook")]
    UnknownEvent(String),
    /// A field that every event about a tool has.
    #[error("the event has no `{0}`, so that nobody can tell what it is about")]
    Missing(&'static str),
    /// A tool whose input has not the shape that we know.
    #[error(
        "the input of the tool `{tool}` has no {what} of the form that we know, so that nobody can tell what it does"
    )]
    UnknownShape {
        /// The tool.
        tool: String,
        /// What is missing.
        what: &'static str,
    },
    /// `--agent` with another name.
    #[error("there is no agent `{0}`; known are: {known}, neutral", known = agents::names())]
    UnknownAgent(String),
}

/// Largest event that is read, in bytes.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

impl Agent {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Copilot, Self::OpenCode, Self::Cursor, Self::Neutral];

    /// The agent of this name.
    pub fn named(name: &str) -> Result<Self, EventError> {
        Self::ALL
            .into_iter()
            .find(|agent| agent.name() == name)
            .ok_or_else(|| EventError::UnknownAgent(name.to_owned()))
    }

    /// The agent's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Cursor => "cursor",
            Self::Neutral => "neutral",
        }
    }

    /// What is known about it; nothing about whoever speaks bashgate's own form.
    pub fn row(self) -> Option<&'static AgentRow> {
        agents::named(self.name())
    }

    /// The agent whose event this is, by the fields that it has.
    pub fn of(event: &[u8]) -> Result<Self, EventError> {
        let event: Event = object::from_slice(event)?;
        let is_of = |agent: Self, name: &str| agent.row().is_some_and(|row| row.event(name).is_some());
        match &event {
            Event { hook_event_name: None, event: Some(_), .. } => Ok(Self::Neutral),
            Event { hook_event_name: Some(_), generation_id: Some(_), event: None, .. } => Ok(Self::Cursor),
            Event { hook_event_name: Some(_), turn_id: Some(_), event: None, .. } => Ok(Self::Codex),
            // What both have starts nothing in either.
            Event { hook_event_name: Some(name), event: None, .. }
                if is_of(Self::Gemini, name) && !is_of(Self::Claude, name) =>
            {
                Ok(Self::Gemini)
            }
            Event { hook_event_name: Some(_), event: None, .. } => Ok(Self::Claude),
            Event { hook_event_name: None, event: None, timestamp: Some(_), .. } => Ok(Self::Copilot),
            Event { .. } => Err(EventError::NoDialect),
        }
    }

    /// Reads the agent's event.
    pub fn read(self, bytes: &[u8]) -> Result<Incoming, EventError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(EventError::Empty);
        }
        if bytes.len() > MAX_EVENT_BYTES {
            return Err(EventError::TooLarge);
        }
        let event: Event = object::from_slice(bytes)?;
        let event = match self {
            Self::Claude | Self::Codex | Self::Gemini => event,
            Self::Copilot => copilot::named(event),
            Self::Cursor => cursor::with_tool(event),
            Self::OpenCode | Self::Neutral => neutral::named(event)?,
        };
        let name = event.hook_event_name.clone().unwrap_or_default();
        let happens = self.row().map_or_else(|| neutral::happens(&name), |row| row.event(&name));
        match happens {
            Some(Happens::Before) => event.before(self.row()).map(Incoming::Before),
            Some(Happens::After) => event.after(self.row()).map(Incoming::After),
            Some(Happens::Prompt) => Ok(event.prompted()),
            Some(Happens::Nothing) => Ok(Incoming::Nothing),
            None => Err(EventError::UnknownEvent(name.chars().take(64).collect())),
        }
    }

    /// The agent as the one who asks.
    pub fn asker(self) -> Asker {
        self.row().map_or_else(|| Asker::plain(self.name()), Asker::of)
    }

    /// What to print on standard output besides the exit code, if the agent wants anything there. `event` is the event
    /// that is answered.
    pub fn answer(self, decision: &HookDecision, approve: bool, event: &[u8]) -> Option<String> {
        match self {
            Self::Claude | Self::Codex => claude::answer(decision, approve, event),
            Self::Gemini => gemini::answer(decision),
            Self::Copilot => copilot::answer(decision, approve),
            Self::Cursor => cursor::answer(decision, approve),
            Self::OpenCode | Self::Neutral => neutral::answer(decision),
        }
    }
}

/// An event as it comes, in whichever of the agents' words.
#[derive(Deserialize)]
struct Event {
    hook_event_name: Option<String>,
    /// In bashgate's own form.
    event: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "sessionId", alias = "conversation_id", alias = "session")]
    session_id: Option<String>,
    #[serde(alias = "toolName")]
    tool_name: Option<String>,
    #[serde(alias = "toolCallId", alias = "callID")]
    tool_use_id: Option<String>,
    #[serde(alias = "toolArgs")]
    tool_input: Option<Once>,
    /// What came of it; a failed tool's in Claude Code is an error.
    #[serde(alias = "toolResult", alias = "tool_output", alias = "result_json")]
    tool_response: Option<Once>,
    error: Option<Once>,
    #[serde(alias = "user_prompt")]
    prompt: Option<Once>,
    /// Only Codex has it.
    turn_id: Option<Once>,
    /// Only Cursor has it.
    generation_id: Option<Once>,
    timestamp: Option<Once>,
    /// Cursor's events about a command and a file name them here.
    command: Option<Once>,
    file_path: Option<Once>,
    /// Files that come along with what it is about.
    attachments: Option<Once>,
}

impl Event {
    fn tool(&self) -> Result<String, EventError> {
        self.tool_name.clone().filter(|tool| !tool.is_empty()).ok_or(EventError::Missing("tool_name"))
    }

    fn input(&self) -> Result<Map<String, Value>, EventError> {
        match &self.tool_input {
            Some(Once(Value::Object(fields))) => Ok(fields.clone()),
            Some(Once(Value::Null)) => Ok(Map::new()),
            // Some versions of Copilot CLI write it as a text.
            Some(Once(Value::String(text))) => match serde_json::from_str::<Once>(text)? {
                Once(Value::Object(fields)) => Ok(fields),
                Once(_) => Err(EventError::Missing("tool_input")),
            },
            _ => Err(EventError::Missing("tool_input")),
        }
    }

    fn before(self, row: Option<&AgentRow>) -> Result<BeforeToolUse, EventError> {
        let called = Called { name: self.tool()?, input: self.input()? };
        let mut tool = uses::of(row, &called.name, &called.input)?;
        if let (ToolUse::Files { acts, .. }, Some(Once(files))) = (&mut tool, &self.attachments) {
            acts.extend(uses::attached(files));
        }
        Ok(BeforeToolUse {
            tool,
            called: Some(called),
            cwd: self.cwd,
            session: self.session_id,
            tool_use_id: self.tool_use_id,
        })
    }

    fn after(self, row: Option<&AgentRow>) -> Result<AfterToolUse, EventError> {
        let tool = self.tool()?;
        let mut texts = Vec::new();
        let values = [self.tool_response.as_ref(), self.error.as_ref()];
        values.iter().flatten().for_each(|Once(value)| uses::texts_in(value, &mut texts));
        let result = texts.join("\n");
        let does = row.map_or_else(|| agents::does(&tool), |row| row.tool(&tool));
        let is_service = matches!(does, None | Some(agents::Does::Service));
        let is_shell = does == Some(agents::Does::Shell) && self.tool_use_id.is_some();
        let command = if !is_shell {
            format!("the tool {tool}")
        } else if let Some(Value::String(command)) = self.input()?.get("command") {
            command.clone()
        } else {
            return Err(EventError::UnknownShape { tool, what: "`command`" });
        };
        let tool_use_id = self.tool_use_id.unwrap_or_default();
        Ok(AfterToolUse { command, is_shell, is_service, cwd: self.cwd, result, session: self.session_id, tool_use_id })
    }

    /// What a person's words bring along: files that they mention.
    fn prompted(self) -> Incoming {
        let mut texts = Vec::new();
        if let Some(Once(words)) = &self.prompt {
            uses::texts_in(words, &mut texts);
        }
        let mut acts = uses::mentioned(&texts.join("\n"));
        if let Some(Once(files)) = &self.attachments {
            acts.extend(uses::attached(files));
        }
        if acts.is_empty() {
            return Incoming::Nothing;
        }
        let tool = ToolUse::Files { tool: agents::PROMPT.to_owned(), acts, content: None };
        Incoming::Before(BeforeToolUse {
            tool,
            called: None,
            cwd: self.cwd,
            session: self.session_id,
            tool_use_id: None,
        })
    }
}
