//! What every agent's event comes down to.

use bashgate_shared::agents::{AgentRow, Startup};
use bashgate_shared::classify::tool::ToolAct;
use serde_json::{Map, Value};

/// A tool is about to be used (the `BEFORE_TOOL_USE` event).
#[derive(Debug, Clone)]
pub struct BeforeToolUse {
    /// What would be used.
    pub tool: ToolUse,
    /// What it is called and given, in the agent's words. `None` for what is no tool: a person's words.
    pub called: Option<Called>,
    /// The agent's working directory, absolute, when it says so.
    pub cwd: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent's id of the call.
    pub tool_use_id: Option<String>,
}

/// A tool as the agent calls it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Called {
    /// Its name.
    pub name: String,
    /// What it is given.
    pub input: Map<String, Value>,
}

/// A tool has been used.
#[derive(Debug, Clone)]
pub struct AfterToolUse {
    /// The text of the shell command, as the agent says, or what else was used.
    pub command: String,
    /// True for a shell command.
    pub is_shell: bool,
    /// True for what may have written files that nobody was asked about: a service.
    pub is_service: bool,
    /// Where the agent works, absolute, when it says so.
    pub cwd: Option<String>,
    /// What the agent gets of it, as text.
    pub result: String,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent's id of the call.
    pub tool_use_id: String,
}

/// Who asks, and what it does besides. Only what it was seen doing counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// Its name, for the audit.
    pub name: &'static str,
    /// It replaces a command by the one that a hook gives it.
    pub rewrites: bool,
    /// It can type into a terminal that is open already, and no hook is asked about that.
    pub types_past_hooks: bool,
    /// Its shell reads start-up files, or a snapshot made from them, before each command.
    pub reads_startup_files: bool,
}

impl Asker {
    /// One of this name that does nothing of it.
    pub const fn plain(name: &'static str) -> Self {
        Self { name, rewrites: false, types_past_hooks: false, reads_startup_files: false }
    }

    /// An agent that we know.
    pub fn of(row: &'static AgentRow) -> Self {
        let reads_startup_files = match row.reads_startup_files {
            None => false,
            Some(Startup::Always) => true,
            Some(Startup::With(variable)) => std::env::var_os(variable).is_some(),
        };
        let AgentRow { name, rewrites, types_past_hooks, .. } = *row;
        Self { name, rewrites, types_past_hooks, reads_startup_files }
    }
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
        /// The folder in which it runs, where the tool's input names one: absolute, or relative to the agent's.
        folder: Option<String>,
        /// Why nobody here can say what it does, if so.
        doubt: Option<&'static str>,
        /// True where the agent goes on while it runs.
        background: bool,
        /// What else its input says and may change how it runs, a field each.
        asked_with: Vec<String>,
    },
    /// A tool that reads or writes files and asks nobody.
    Files {
        /// The tool's name.
        tool: String,
        /// What it does.
        acts: Vec<ToolAct>,
        /// What it writes, or the start of that.
        content: Option<String>,
    },
    /// A tool that asks somebody: an address, a search engine, a service.
    Asks {
        /// The tool's name.
        tool: String,
        /// A path, a URL or a query.
        target: Option<String>,
        /// What it does to files and addresses.
        acts: Vec<ToolAct>,
        /// What a service is sent, or its start.
        sends: Option<String>,
        /// Forms of credentials in what is sent and not told.
        shown: Vec<&'static str>,
    },
    /// A tool that does nothing which the gate weighs.
    Inert,
}
