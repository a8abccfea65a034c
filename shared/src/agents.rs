//! The agents: one row for each, with everything that the gate has to know about it.
//!
//! Detection, help, errors, protected paths, the hook's installation and the documents read it. How an agent words its events
//! and wants its answers is code, a small file for each in the hook; what is a fact stands here.

/// An agent.
#[derive(Debug)]
pub struct AgentRow {
    /// Its name, as `--agent` takes it and the audit shows it.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How it was checked, for people.
    pub checked: &'static str,
    /// Folders with its settings, in a home folder or a project. Where one is in force, it is the gate's as a whole.
    pub folders: &'static [&'static str],
    /// What names its hooks, as the end of a path, in lower case. With a `*` at its end, any name that starts so.
    pub settings: &'static [&'static str],
    /// The code that they name, usually. People run it on purpose, too.
    pub hooks: &'static [&'static str],
    /// Settings that count for the whole machine.
    pub managed: &'static [&'static str],
    /// What its events are, by their names.
    pub events: &'static [(Happens, &'static [&'static str])],
    /// What its tools do, by their names.
    pub tools: &'static [(Does, &'static [&'static str])],
    /// How it comes into a container.
    pub packaged: Packaged,
    /// Where its hooks are written down.
    pub places: &'static [Place],
    /// The events on which our hook stands.
    pub hooked: &'static [&'static str],
    /// The fields of its shell's input that name the folder in which a command runs.
    pub folder_fields: &'static [&'static str],
    /// Tools that change files and also show them, where their field `command` says `view`.
    pub views_by_command: &'static [&'static str],
    /// It replaces a command by the one that a hook gives it.
    pub rewrites: bool,
    /// It can type into a terminal that is open already, and no hook is asked about that.
    pub types_past_hooks: bool,
    /// Its shell reads start-up files, or a snapshot made from them, before each command: always, or when this variable is set.
    pub reads_startup_files: Option<Startup>,
    /// Where its settings set variables for the commands that it runs, and for them alone.
    pub sets: Option<SetsVariables>,
}

/// Where an agent's settings set variables for commands.
#[derive(Debug)]
pub struct SetsVariables {
    /// Files of its folders.
    pub files: &'static [&'static str],
    /// Files of the machine, by their whole paths.
    pub of_machine: &'static [&'static str],
    /// The table of variables in them, as a JSON pointer.
    pub at: &'static str,
}

/// How an agent comes into a container: what `bashgate up` installs and hands over.
#[derive(Debug)]
pub struct Packaged {
    /// The npm package, with the version that was checked.
    pub npm: &'static str,
    /// The program.
    pub program: &'static str,
    /// Variables that log it in.
    pub variables: &'static [&'static str],
    /// The file in the home folder that logs it in, if it has one.
    pub login: Option<&'static str>,
    /// Hosts without which it does nothing: the model's, and those that log it in. What else it tries (telemetry, updates) it does without.
    pub hosts: &'static [&'static str],
}

/// A file in which an agent's hooks are written down.
#[derive(Debug)]
pub struct Place {
    /// For whom it counts.
    pub scope: Scope,
    /// The folder: in the home folder, in the project, or absolute.
    pub folder: &'static str,
    /// A variable that names another folder in its place.
    pub variable: Option<&'static str>,
    /// The file's name.
    pub file: &'static str,
    /// How it is written.
    pub form: SettingsForm,
}

/// For whom settings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything that one person starts.
    User,
    /// One project.
    Project,
    /// The whole machine; people and projects cannot change them.
    Managed,
}

impl Scope {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Managed => "managed",
        }
    }
}

/// How an agent's settings name hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsForm {
    /// `hooks.EVENT[].hooks[]` in JSON, with a timeout in seconds and `onFailure`.
    Claude,
    /// The same without `onFailure`.
    Codex,
    /// The same in TOML, which Codex trusts without a dialogue.
    CodexRequirements,
    /// The same in JSON with comments, with a timeout in milliseconds.
    Gemini,
    /// A file of our own: `hooks.EVENT[]` with `bash` and `timeoutSec`.
    Copilot,
    /// `hooks.EVENT[]` with `command` and `failClosed`.
    Cursor,
    /// A file of our own: a plug-in.
    OpenCode,
}

const fn place(scope: Scope, folder: &'static str, file: &'static str, form: SettingsForm) -> Place {
    Place { scope, folder, variable: None, file, form }
}

/// When an agent's shell reads start-up files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Startup {
    /// Before each command.
    Always,
    /// When this variable of the agent's is set.
    With(&'static str),
}

/// What an event of an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happens {
    /// A tool is about to be used.
    Before,
    /// A tool was used.
    After,
    /// A person's words are about to be read; files that they mention come in with them.
    Prompt,
    /// Nothing that could be objected to.
    Nothing,
}

/// What a tool of an agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It runs a shell command.
    Shell,
    /// It reads the files that it names.
    Read,
    /// It searches everything below the folder that it names.
    Search,
    /// It writes the files that it names.
    Write,
    /// It changes the files that a patch names.
    Patch,
    /// It asks an address on the web: what stands in it is sent, and anybody may have written what comes back.
    Fetch,
    /// It asks a search engine.
    SearchWeb,
    /// It asks a service that its input names.
    Service,
    /// Nothing that the gate weighs: it plans, waits, asks the person, starts a subagent whose own calls are events.
    Nothing,
}

use Does::{Fetch, Patch, Read, Search, SearchWeb, Service, Shell, Write};
use Happens::{After, Before, Prompt};

/// All of them.
pub const AGENTS: &[AgentRow] = &[CLAUDE, CODEX, GEMINI, COPILOT, OPENCODE, CURSOR];

const CLAUDE: AgentRow = AgentRow {
    name: "claude",
    title: "Claude Code",
    checked: "2.1.330, run by the tests",
    folders: &[".claude"],
    settings: &[".claude/settings*", ".claude/managed-settings*"],
    hooks: &[".claude/hooks"],
    managed: &["/etc/claude-code"],
    events: &[
        (Before, &["PreToolUse"]),
        (After, &["PostToolUse", "PostToolUseFailure"]),
        (Prompt, &["UserPromptSubmit", "UserPromptExpansion"]),
        (
            Happens::Nothing,
            &[
                "PostToolBatch",
                "Notification",
                "SessionStart",
                "SessionEnd",
                "Stop",
                "StopFailure",
                "SubagentStart",
                "SubagentStop",
                "PreCompact",
                "PostCompact",
                "PreModelSwitch",
                "PostModelSwitch",
                "PermissionRequest",
                "PermissionDenied",
                "Setup",
                "TeammateIdle",
                "TaskCreated",
                "TaskCompleted",
                "Elicitation",
                "ElicitationResult",
                "ConfigChange",
                "WorktreeCreate",
                "WorktreeRemove",
                "InstructionsLoaded",
                "CwdChanged",
                "FileChanged",
                "DirectoryAdded",
                "MessageDisplay",
            ],
        ),
    ],
    tools: &[
        (Shell, &["Bash", "Monitor"]),
        (Read, &["Read", "NotebookRead", "LSP"]),
        (Search, &["Grep"]),
        (Write, &["Write", "Edit", "MultiEdit", "NotebookEdit"]),
        (Fetch, &["WebFetch"]),
        (SearchWeb, &["WebSearch"]),
        (Service, &["ReadMcpResourceTool", "ReadMcpResourceDirTool"]),
        (
            Does::Nothing,
            &[
                "Glob",
                "LS",
                "Task",
                "Agent",
                "Skill",
                "SlashCommand",
                "TodoWrite",
                "TodoRead",
                "TaskCreate",
                "TaskGet",
                "TaskList",
                "TaskUpdate",
                "TaskStop",
                "TaskOutput",
                "BashOutput",
                "KillBash",
                "KillShell",
                "AskUserQuestion",
                "EnterPlanMode",
                "ExitPlanMode",
                "EnterWorktree",
                "ExitWorktree",
                "ToolSearch",
                "StructuredOutput",
                "SendUserMessage",
                "ListMcpResourcesTool",
                "Sleep",
                "CronList",
                "CronDelete",
            ],
        ),
    ],
    packaged: Packaged {
        npm: "@anthropic-ai/claude-code@2.1.330",
        program: "claude",
        variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"],
        login: Some(".claude/.credentials.json"),
        hosts: &["api.anthropic.com", "platform.claude.com"],
    },
    places: &[
        Place {
            variable: Some("CLAUDE_CONFIG_DIR"),
            ..place(Scope::User, ".claude", "settings.json", SettingsForm::Claude)
        },
        place(Scope::Project, ".claude", "settings.json", SettingsForm::Claude),
        place(Scope::Managed, "/etc/claude-code", "managed-settings.json", SettingsForm::Claude),
    ],
    hooked: &["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"],
    folder_fields: &[],
    views_by_command: &[],
    rewrites: true,
    types_past_hooks: false,
    // It reads start-up files into a snapshot, and says that it is itself with a variable.
    reads_startup_files: Some(Startup::With("CLAUDE_PROJECT_DIR")),
    sets: Some(SetsVariables {
        files: &["settings.json", "settings.local.json"],
        of_machine: &["/etc/claude-code/managed-settings.json"],
        at: "/env",
    }),
};

const CODEX: AgentRow = AgentRow {
    name: "codex",
    title: "Codex",
    checked: "0.169.0, run by the tests",
    folders: &[".codex"],
    settings: &[".codex/hooks.json*", ".codex/config.toml*", ".codex/requirements.toml*"],
    hooks: &[".codex/hooks"],
    managed: &["/etc/codex"],
    events: &[
        (Before, &["PreToolUse"]),
        (After, &["PostToolUse"]),
        (Prompt, &["UserPromptSubmit"]),
        (
            Happens::Nothing,
            &[
                "SessionStart",
                "SessionEnd",
                "Stop",
                "SubagentStart",
                "SubagentStop",
                "PreCompact",
                "PostCompact",
                "PermissionRequest",
            ],
        ),
    ],
    tools: &[
        (Shell, &["Bash"]),
        (Read, &["view_image"]),
        (Patch, &["apply_patch"]),
        (SearchWeb, &["web_search"]),
        (Service, &["read_mcp_resource"]),
        (
            Does::Nothing,
            &[
                "update_plan",
                "list_mcp_resources",
                "list_mcp_resource_templates",
                "spawn_agent",
                "wait_agent",
                "send_input",
                "close_agent",
                "request_user_input",
            ],
        ),
    ],
    packaged: Packaged {
        npm: "@openai/codex@0.169.0",
        program: "codex",
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        login: Some(".codex/auth.json"),
        hosts: &["api.openai.com", "chatgpt.com", "auth.openai.com"],
    },
    places: &[
        Place { variable: Some("CODEX_HOME"), ..place(Scope::User, ".codex", "hooks.json", SettingsForm::Codex) },
        place(Scope::Project, ".codex", "hooks.json", SettingsForm::Codex),
        place(Scope::Managed, "/etc/codex", "requirements.toml", SettingsForm::CodexRequirements),
    ],
    hooked: &["PreToolUse", "PostToolUse", "UserPromptSubmit"],
    folder_fields: &["workdir"],
    views_by_command: &[],
    rewrites: true,
    types_past_hooks: true,
    reads_startup_files: Some(Startup::Always),
    sets: Some(SetsVariables {
        files: &["config.toml"],
        of_machine: &["/etc/codex/config.toml", "/etc/codex/managed_config.toml"],
        at: "/shell_environment_policy/set",
    }),
};

const GEMINI: AgentRow = AgentRow {
    name: "gemini",
    title: "Gemini CLI",
    checked: "0.61.0, run by the tests",
    folders: &[".gemini"],
    settings: &[".gemini/settings.json*"],
    hooks: &[".gemini/hooks"],
    managed: &["/etc/gemini-cli"],
    events: &[
        (Before, &["BeforeTool"]),
        (After, &["AfterTool"]),
        (Prompt, &["BeforeAgent"]),
        (
            Happens::Nothing,
            &[
                "AfterAgent",
                "BeforeModel",
                "AfterModel",
                "BeforeToolSelection",
                "SessionStart",
                "SessionEnd",
                "PreCompress",
                "Notification",
            ],
        ),
    ],
    tools: &[
        (Shell, &["run_shell_command"]),
        (Read, &["read_file", "read_many_files"]),
        (Search, &["grep_search", "search_file_content"]),
        (Write, &["write_file", "replace", "edit"]),
        (Fetch, &["web_fetch"]),
        (SearchWeb, &["google_web_search"]),
        (
            Does::Nothing,
            &[
                "list_directory",
                "glob",
                "write_todos",
                "ask_user",
                "enter_plan_mode",
                "exit_plan_mode",
                "activate_skill",
                "get_internal_docs",
                "cli_help",
                "codebase_investigator",
                "complete_task",
            ],
        ),
    ],
    packaged: Packaged {
        npm: "@google/gemini-cli@0.61.0",
        program: "gemini",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        login: Some(".gemini/oauth_creds.json"),
        hosts: &["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"],
    },
    places: &[
        place(Scope::User, ".gemini", "settings.json", SettingsForm::Gemini),
        place(Scope::Project, ".gemini", "settings.json", SettingsForm::Gemini),
        place(Scope::Managed, "/etc/gemini-cli", "settings.json", SettingsForm::Gemini),
    ],
    hooked: &["BeforeTool", "AfterTool", "BeforeAgent"],
    folder_fields: &["dir_path", "directory"],
    views_by_command: &[],
    rewrites: false,
    types_past_hooks: false,
    reads_startup_files: None,
    sets: None,
};

const COPILOT: AgentRow = AgentRow {
    name: "copilot",
    title: "Copilot CLI",
    checked: "1.0.102, run by the tests",
    folders: &[".copilot"],
    settings: &[".copilot/hooks", ".copilot/config.json", ".copilot/settings.json", ".github/hooks"],
    hooks: &[],
    managed: &[],
    events: &[
        (Before, &["preToolUse"]),
        (After, &["postToolUse"]),
        (Prompt, &["userPromptSubmitted"]),
        (Happens::Nothing, &["sessionStart", "sessionEnd", "errorOccurred", "agentStop", "subagentStop"]),
    ],
    tools: &[
        (Shell, &["bash"]),
        (Read, &["view", "show_file"]),
        (Search, &["grep", "rg"]),
        (Write, &["create", "edit", "str_replace_editor"]),
        (Patch, &["apply_patch"]),
        (Fetch, &["web_fetch", "fetch"]),
        (SearchWeb, &["web_search"]),
        (
            Does::Nothing,
            &[
                "glob",
                "task",
                "read_bash",
                "stop_bash",
                "list_bash",
                "report_intent",
                "update_todo",
                "ask_user",
                "skill",
                "fetch_copilot_cli_documentation",
                "read_agent",
                "list_agents",
                "task_complete",
                "exit_plan_mode",
            ],
        ),
    ],
    packaged: Packaged {
        npm: "@github/copilot@1.0.102",
        program: "copilot",
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        login: None,
        hosts: &["api.githubcopilot.com", "api.individual.githubcopilot.com", "api.github.com"],
    },
    places: &[
        Place {
            variable: Some("COPILOT_HOME"),
            ..place(Scope::User, ".copilot", "hooks/bashgate.json", SettingsForm::Copilot)
        },
        place(Scope::Project, ".github/hooks", "bashgate.json", SettingsForm::Copilot),
    ],
    hooked: &["preToolUse", "postToolUse", "userPromptSubmitted"],
    folder_fields: &["cwd"],
    views_by_command: &["str_replace_editor"],
    rewrites: false,
    // `write_bash` has an event of its own, and is denied there.
    types_past_hooks: false,
    reads_startup_files: None,
    sets: None,
};

const OPENCODE: AgentRow = AgentRow {
    name: "opencode",
    title: "OpenCode",
    checked: "1.18.33, run by the tests",
    folders: &[".opencode"],
    settings: &[".opencode/opencode.json*", ".config/opencode/opencode.json*", "opencode.json", "opencode.jsonc"],
    hooks: &[".opencode/plugin*", ".config/opencode/plugin*"],
    managed: &["/etc/opencode"],
    events: &[(Before, &["before_tool_use"])],
    tools: &[
        (Shell, &["bash"]),
        (Read, &["read", "lsp"]),
        (Search, &["grep"]),
        (Write, &["write", "edit", "multiedit"]),
        (Patch, &["patch", "apply_patch"]),
        (Fetch, &["webfetch"]),
        (SearchWeb, &["websearch", "codesearch"]),
        (
            Does::Nothing,
            &[
                "glob",
                "list",
                "ls",
                "task",
                "todowrite",
                "todoread",
                "skill",
                "question",
                "invalid",
                "plan_exit",
                "plan_enter",
            ],
        ),
    ],
    packaged: Packaged {
        npm: "opencode-ai@1.18.33",
        program: "opencode",
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        login: Some(".local/share/opencode/auth.json"),
        hosts: &["models.dev"],
    },
    places: &[
        place(Scope::User, ".config/opencode/plugin", "bashgate.js", SettingsForm::OpenCode),
        place(Scope::Project, ".opencode/plugin", "bashgate.js", SettingsForm::OpenCode),
    ],
    hooked: &["before_tool_use"],
    folder_fields: &["workdir"],
    views_by_command: &[],
    rewrites: false,
    types_past_hooks: false,
    reads_startup_files: None,
    sets: None,
};

const CURSOR: AgentRow = AgentRow {
    name: "cursor",
    title: "Cursor",
    checked: "from its documentation alone",
    folders: &[".cursor"],
    settings: &[".cursor/hooks.json*", ".cursor/cli*"],
    hooks: &[".cursor/hooks"],
    managed: &["/etc/cursor"],
    events: &[
        (Before, &["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"]),
        (After, &["postToolUse", "postToolUseFailure", "afterShellExecution", "afterMCPExecution"]),
        (Prompt, &["beforeSubmitPrompt"]),
        (
            Happens::Nothing,
            &[
                "afterFileEdit",
                "afterAgentResponse",
                "afterAgentThought",
                "beforeTabFileRead",
                "afterTabFileEdit",
                "stop",
                "sessionStart",
                "sessionEnd",
                "subagentStart",
                "subagentStop",
                "preCompact",
            ],
        ),
    ],
    tools: &[
        (Shell, &["Shell"]),
        (Read, &["Read"]),
        (Search, &["Grep"]),
        (Write, &["Write", "Edit", "Delete"]),
        (Does::Nothing, &["Task", "Glob", "LS"]),
    ],
    packaged: Packaged {
        npm: "",
        program: "cursor-agent",
        variables: &["CURSOR_API_KEY"],
        login: None,
        hosts: &["api2.cursor.sh"],
    },
    places: &[
        place(Scope::User, ".cursor", "hooks.json", SettingsForm::Cursor),
        place(Scope::Project, ".cursor", "hooks.json", SettingsForm::Cursor),
        place(Scope::Managed, "/etc/cursor", "hooks.json", SettingsForm::Cursor),
    ],
    hooked: &[
        "preToolUse",
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "postToolUse",
        "beforeSubmitPrompt",
    ],
    folder_fields: &["working_directory"],
    views_by_command: &[],
    rewrites: false,
    types_past_hooks: false,
    reads_startup_files: None,
    sets: None,
};

/// The agent of this name.
pub fn named(name: &str) -> Option<&'static AgentRow> {
    AGENTS.iter().find(|agent| agent.name == name)
}

impl AgentRow {
    /// What an event of this name is.
    pub fn event(&self, name: &str) -> Option<Happens> {
        self.events.iter().find(|(_, names)| names.contains(&name)).map(|(happens, _)| *happens)
    }

    /// What a tool of this name does.
    pub fn tool(&self, name: &str) -> Option<Does> {
        does_in(self.tools, name)
    }
}

/// What stands in a tool's place where a person's words bring files along.
pub const PROMPT: &str = "prompt";

/// What a tool of this name does, whichever agent has it.
pub fn does(tool: &str) -> Option<Does> {
    if tool == PROMPT {
        return Some(Read);
    }
    AGENTS.iter().find_map(|agent| agent.tool(tool))
}

fn does_in(tools: &[(Does, &[&str])], name: &str) -> Option<Does> {
    tools.iter().find(|(_, names)| names.contains(&name)).map(|(does, _)| *does)
}

/// Folders with agents' settings: see [`AgentRow::folders`].
pub fn folders() -> impl Iterator<Item = &'static str> + Clone {
    AGENTS.iter().flat_map(|agent| agent.folders).copied()
}

/// The folder of an agent's settings, as it is called at home, for which this variable names another one.
pub fn folder_named_by(variable: &str) -> Option<&'static str> {
    let mut places = AGENTS.iter().flat_map(|agent| agent.places);
    places.find(|place| place.variable == Some(variable)).map(|place| place.folder)
}

/// What names agents' hooks: see [`AgentRow::settings`]. With a `*` at its end, each name that begins so.
pub fn settings() -> impl Iterator<Item = &'static str> + Clone {
    AGENTS.iter().flat_map(|agent| agent.settings).copied()
}

/// The code that agents' settings name, usually: see [`AgentRow::hooks`].
pub fn hooks() -> impl Iterator<Item = &'static str> + Clone {
    AGENTS.iter().flat_map(|agent| agent.hooks).copied()
}

/// True for a setting that, by how its name ends, names a program which the agent starts by itself.
pub fn names_program(setting: &str) -> bool {
    ["Helper", "Command", "Refresh", "Export", "_command"].iter().any(|end| setting.ends_with(end))
}

/// True for a setting that holds a command line or a word of one.
pub fn holds_command(setting: &str) -> bool {
    matches!(setting, "command" | "args" | "notify" | "shell" | "bash" | "powershell" | "plugin")
        || names_program(setting)
}

/// Agents' settings that count for the whole machine: see [`AgentRow::managed`].
pub fn managed() -> impl Iterator<Item = &'static str> + Clone {
    AGENTS.iter().flat_map(|agent| agent.managed).copied()
}

/// The names of all agents, for help and errors.
pub fn names() -> String {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_thing() {
        for agent in AGENTS {
            let events: Vec<&str> = agent.events.iter().flat_map(|(_, names)| *names).copied().collect();
            let tools: Vec<&str> = agent.tools.iter().flat_map(|(_, names)| *names).copied().collect();
            for names in [events, tools] {
                for (at, name) in names.iter().enumerate() {
                    assert!(!names[at + 1..].contains(name), "{}: {name} twice", agent.name);
                }
            }
        }
        // Whoever asks about a tool need not know whose it is.
        for (agent, (does, names)) in
            AGENTS.iter().flat_map(|agent| agent.tools.iter().map(move |tools| (agent, tools)))
        {
            for name in *names {
                assert_eq!(super::does(name), Some(*does), "{} of {}", name, agent.name);
            }
        }
    }

    #[test]
    fn hooks_stand_on_events_that_are_known() {
        for agent in AGENTS {
            assert!(!agent.places.is_empty() && !agent.hooked.is_empty(), "{}", agent.name);
            for event in agent.hooked {
                assert!(agent.event(event).is_some_and(|happens| happens != Happens::Nothing), "{event}");
            }
        }
    }

    #[test]
    fn places_are_written_as_the_list_of_what_acts_later_needs_them() {
        for place in folders().chain(settings()).chain(hooks()) {
            assert!(!place.starts_with('/') && !place.ends_with('/') && place == place.to_ascii_lowercase(), "{place}");
        }
        assert!(managed().all(|place| place.starts_with("/etc/")));
        assert_eq!(named("claude").map(|agent| agent.title), Some("Claude Code"));
        assert!(named("Claude").is_none());
        let claude = named("claude").unwrap();
        assert_eq!(claude.events.iter().map(|(_, names)| names.len()).sum::<usize>(), 33);
    }
}
