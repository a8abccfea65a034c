//! What every agent's event comes down to, and what every answer starts from.

/// A tool is about to be used (the `BEFORE_TOOL_USE` event).
#[derive(Debug, Clone)]
pub struct BeforeToolUse {
    /// What would be used.
    pub tool: ToolUse,
    /// The agent's working directory, absolute, when it says so.
    pub cwd: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent's id of the call.
    pub tool_use_id: Option<String>,
}

/// A shell command has run.
#[derive(Debug, Clone)]
pub struct AfterToolUse {
    /// Its text, as the agent says.
    pub command: String,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent's id of the call.
    pub tool_use_id: String,
}

/// What an agent can do besides asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// It replaces a command by the one that a hook gives it.
    pub rewrites: bool,
    /// It can type into a terminal that is open already, and no hook is asked about that.
    pub types_past_hooks: bool,
}

/// A use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolUse {
    /// A shell command.
    Shell {
        /// Its text.
        command: String,
        /// True for the agent's shell tool itself, false for another tool that runs a command.
        is_bash: bool,
    },
    /// A tool that brings something to the agent's eyes.
    Input {
        /// The tool's name.
        tool: String,
        /// A path, a URL or a query.
        target: Option<String>,
        /// A pattern for the names of files.
        pattern: Option<String>,
        /// What kind of thing the target is.
        source: Source,
    },
    /// Any other tool: not gated.
    Other,
}

/// Where the content comes from that a tool brings in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A file of the container.
    File,
    /// The web.
    Web,
    /// A service, such as an MCP server.
    Service,
}

/// Who raises no objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The hook: the command is provably local.
    Hook,
    /// The host, which has it on record.
    Host,
    /// Nobody was asked: it is nothing that is gated, or `when_host_silent` is `allow`.
    Nobody,
}

/// The hook's decision on one event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum HookDecision {
    /// No objection: the agent's own rules go on.
    Allow(By),
    /// This text runs instead, which is the same command in the cage.
    Cage {
        /// The text for the agent's shell.
        form: String,
    },
    /// Not to be used, for this reason.
    Deny {
        /// For people and agents; never empty.
        reason: String,
    },
}

impl HookDecision {
    /// A denial with a reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// True when there is no objection.
    pub const fn allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }
}
