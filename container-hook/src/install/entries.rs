//! What stands in an agent's settings so that it asks our hook: one function for each form, text in and text out.
//!
//! What is there stays as it is, comments and order included; an entry of ours that is there already is replaced, and ours
//! comes first. No I/O.

use bashgate_shared::agents::{AgentRow, Happens, Scope, SettingsForm};
use bashgate_shared::object::Once;
use bashgate_shared::shell::quoted;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// The hook's name in a command.
const HOOK: &str = "bashgate-hook";
/// A shell guard that did what our git guard does; ours takes its place.
const OLD_GUARD: &str = "guard_git.sh";
/// The plug-in for `OpenCode`.
const PLUGIN: &str = include_str!("opencode.js");

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Wanted<'w> {
    /// The agent.
    pub agent: &'w AgentRow,
    /// For whom.
    pub scope: Scope,
    /// The hook with its arguments, each an argument.
    pub hook: &'w [String],
    /// How long the agent waits for the hook, in seconds.
    pub timeout_s: u64,
    /// The agent's own tool that fetches pages is taken away.
    pub deny_webfetch: bool,
    /// Managed settings leave MCP servers as people and projects configure them.
    pub keep_mcp: bool,
}

/// Why settings cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// They are not what the agent reads.
    #[error("it is not understood: {0}")]
    NotUnderstood(String),
    /// A field stands twice, so that nobody knows which one counts.
    #[error("the field `{0}` stands twice")]
    Twice(String),
    /// Something of another kind stands where hooks stand.
    #[error("`{0}` is not what it is in such settings")]
    OtherKind(String),
    /// The agent has no such setting.
    #[error("{0} has no setting that takes its web tool away")]
    NoWebFetch(&'static str),
    /// A file that is ours alone is somebody else's.
    #[error("it is there and not of bashgate's making")]
    Foreign,
}

impl Wanted<'_> {
    /// The settings with our entries. `None` where there were none.
    pub fn added(&self, form: SettingsForm, before: Option<&str>) -> Result<String, EntryError> {
        if self.deny_webfetch && !matches!(form, SettingsForm::Claude | SettingsForm::Gemini) {
            return Err(EntryError::NoWebFetch(self.agent.title));
        }
        match form {
            SettingsForm::CodexRequirements => self.requirements(before.unwrap_or_default()),
            SettingsForm::OpenCode => own(before, "Written by `bashgate-hook install`", self.plugin()),
            SettingsForm::Copilot => own(before, HOOK, self.copilot()),
            SettingsForm::Claude | SettingsForm::Codex | SettingsForm::Gemini | SettingsForm::Cursor => {
                self.json(form, before)
            }
        }
    }

    fn command(&self) -> String {
        self.hook.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn json(&self, form: SettingsForm, before: Option<&str>) -> Result<String, EntryError> {
        // With a line of its own, so that what comes in is written on lines of its own, too.
        let root = parsed(before.filter(|text| !text.trim().is_empty()).unwrap_or("{\n}\n"), form)?;
        let top = root.object_value().ok_or_else(|| EntryError::NotUnderstood("it is no JSON object".to_owned()))?;
        if form == SettingsForm::Cursor && top.get("version").is_none() {
            top.append("version", CstInputValue::from(1));
        }
        without(&top)?;
        let hooks = object_in(&top, "hooks")?;
        for event in self.agent.hooked {
            array_in(&hooks, event)?.insert(0, input(&self.entry(form, event)));
        }
        if form == SettingsForm::Claude {
            self.close_ways_of_claude(&top)?;
        }
        if self.deny_webfetch {
            let (within, list, tool) = match form {
                SettingsForm::Gemini => ("tools", "exclude", "web_fetch"),
                _ => ("permissions", "deny", "WebFetch"),
            };
            let list = array_in(&object_in(&top, within)?, list)?;
            if !list.elements().iter().any(|known| known.to_serde_value() == Some(json!(tool))) {
                list.append(CstInputValue::from(tool));
            }
        }
        Ok(root.to_string())
    }

    fn entry(&self, form: SettingsForm, event: &str) -> Value {
        let command = self.command();
        let hook = match form {
            SettingsForm::Cursor => return json!({"command": command, "timeout": self.timeout_s, "failClosed": true}),
            SettingsForm::Gemini => json!({"type": "command", "command": command, "timeout": self.timeout_s * 1000}),
            SettingsForm::Claude => {
                json!({"type": "command", "command": command, "timeout": self.timeout_s, "onFailure": "block"})
            }
            _ => json!({"type": "command", "command": command, "timeout": self.timeout_s}),
        };
        if self.agent.event(event) == Some(Happens::Prompt) {
            json!({"hooks": [hook]})
        } else {
            json!({"matcher": "*", "hooks": [hook]})
        }
    }

    /// What no event tells of is closed by settings.
    fn close_ways_of_claude(&self, top: &CstObject) -> Result<(), EntryError> {
        // Skills and commands run programs without an event.
        set(top, "disableSkillShellExecution", CstInputValue::from(true));
        if self.scope == Scope::Managed {
            // Whoever can write a project's settings could add hooks, and servers that run at the start.
            set(top, "allowManagedHooksOnly", CstInputValue::from(true));
            if !self.keep_mcp {
                set(top, "allowManagedMcpServersOnly", CstInputValue::from(true));
                if top.get("allowedMcpServers").is_none() {
                    array_in(top, "allowedMcpServers")?;
                }
            }
        }
        Ok(())
    }

    fn requirements(&self, before: &str) -> Result<String, EntryError> {
        let mut document = toml(before)?;
        // Tables with a dot in their name belong below it, which a new table says of itself.
        let hooks = document.entry("hooks").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let hooks = hooks.as_table_mut().ok_or_else(|| EntryError::OtherKind("hooks".to_owned()))?;
        for event in self.agent.hooked {
            let entries = hooks.entry(event).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            let entries =
                entries.as_array_of_tables_mut().ok_or_else(|| EntryError::OtherKind(format!("hooks.{event}")))?;
            strip_tables(entries);
            let mut hook = Table::new();
            hook.insert("type", value("command"));
            hook.insert("command", value(self.command()));
            hook.insert("timeout", value(i64::try_from(self.timeout_s).unwrap_or(i64::MAX)));
            let mut entry = Table::new();
            if self.agent.event(event) != Some(Happens::Prompt) {
                entry.insert("matcher", value("*"));
            }
            entry.insert("hooks", Item::ArrayOfTables(std::iter::once(hook).collect()));
            entries.push(entry);
        }
        // Hooks of others may be any program, and a project's settings could turn all of them off.
        document.insert("allow_managed_hooks_only", value(true));
        let features = document.entry("features").or_insert_with(|| Item::Table(Table::new()));
        let features = features.as_table_like_mut().ok_or_else(|| EntryError::OtherKind("features".to_owned()))?;
        features.insert("hooks", value(true));
        // A list without entries: servers of projects run before any hook is asked.
        if !self.keep_mcp && !document.contains_key("mcp_servers") {
            document.insert("mcp_servers", Item::Table(Table::new()));
        }
        // What a hosted search brings has no event.
        if !document.contains_key("allowed_web_search_modes") {
            document.insert("allowed_web_search_modes", value(toml_edit::Array::new()));
        }
        Ok(document.to_string())
    }

    fn copilot(&self) -> String {
        let entry = json!({"type": "command", "bash": self.command(), "timeoutSec": self.timeout_s});
        let hooks: serde_json::Map<String, Value> =
            self.agent.hooked.iter().map(|event| ((*event).to_owned(), json!([entry]))).collect();
        let mut text = serde_json::to_string_pretty(&json!({"version": 1, "hooks": hooks})).unwrap_or_default();
        text.push('\n');
        text
    }

    fn plugin(&self) -> String {
        let (hook, arguments) = self.hook.split_first().map_or(("", &[][..]), |(hook, rest)| (hook.as_str(), rest));
        plugin(hook, arguments, self.timeout_s * 1000)
    }
}

/// The plug-in that starts this hook.
pub fn plugin(hook: &str, arguments: &[String], timeout_ms: u64) -> String {
    // Texts of JSON are texts of JavaScript, too.
    PLUGIN
        .replace("\"@HOOK@\"", &json!(hook).to_string())
        .replace("@ARGUMENTS@", &json!(arguments).to_string())
        .replace("@TIMEOUT_MS@", &timeout_ms.to_string())
}

/// The settings without anything of ours, or `None` where nothing would be left of them.
pub fn removed(form: SettingsForm, text: &str) -> Result<Option<String>, EntryError> {
    match form {
        SettingsForm::OpenCode | SettingsForm::Copilot => {
            if text.contains(HOOK) {
                Ok(None)
            } else {
                Err(EntryError::Foreign)
            }
        }
        SettingsForm::CodexRequirements => {
            let mut document = toml(text)?;
            if let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_mut) {
                for (_, entries) in hooks.iter_mut() {
                    if let Some(entries) = entries.as_array_of_tables_mut() {
                        strip_tables(entries);
                    }
                }
            }
            Ok(Some(document.to_string()))
        }
        SettingsForm::Claude | SettingsForm::Codex | SettingsForm::Gemini | SettingsForm::Cursor => {
            let root = parsed(text, form)?;
            let top =
                root.object_value().ok_or_else(|| EntryError::NotUnderstood("it is no JSON object".to_owned()))?;
            without(&top)?;
            Ok(Some(root.to_string()))
        }
    }
}

/// True when settings hold an entry of ours.
pub fn holds_ours(text: &str) -> bool {
    text.contains(HOOK)
}

fn own(before: Option<&str>, mark: &str, ours: String) -> Result<String, EntryError> {
    match before {
        Some(text) if !text.contains(mark) => Err(EntryError::Foreign),
        _ => Ok(ours),
    }
}

fn toml(text: &str) -> Result<DocumentMut, EntryError> {
    text.parse().map_err(|error: toml_edit::TomlError| EntryError::NotUnderstood(error.to_string()))
}

/// Reads settings as strictly as the agent does.
fn parsed(text: &str, form: SettingsForm) -> Result<CstRootNode, EntryError> {
    let comments = form == SettingsForm::Gemini;
    let options = ParseOptions {
        allow_comments: comments,
        allow_loose_object_property_names: false,
        allow_trailing_commas: comments,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..ParseOptions::default()
    };
    if !comments {
        // The other parser lets comments pass.
        serde_json::from_str::<Once>(text).map_err(|error| EntryError::NotUnderstood(error.to_string()))?;
    }
    let root = CstRootNode::parse(text, &options).map_err(|error| EntryError::NotUnderstood(error.to_string()))?;
    for node in root.children() {
        fields_stand_once(&node)?;
    }
    Ok(root)
}

fn fields_stand_once(node: &CstNode) -> Result<(), EntryError> {
    if let Some(object) = node.as_object() {
        let mut names = std::collections::HashSet::new();
        for property in object.properties() {
            let name = property.decoded_name().unwrap_or_default();
            if !names.insert(name.clone()) {
                return Err(EntryError::Twice(name));
            }
        }
    }
    node.children().iter().try_for_each(fields_stand_once)
}

fn object_in(parent: &CstObject, name: &str) -> Result<CstObject, EntryError> {
    parent.object_value_or_create(name).ok_or_else(|| EntryError::OtherKind(name.to_owned()))
}

fn array_in(parent: &CstObject, name: &str) -> Result<jsonc_parser::cst::CstArray, EntryError> {
    parent.array_value_or_create(name).ok_or_else(|| EntryError::OtherKind(name.to_owned()))
}

fn set(object: &CstObject, name: &str, value: CstInputValue) {
    match object.get(name) {
        Some(property) => property.set_value(value),
        None => drop(object.append(name, value)),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// True for a hook that is ours, or whose place ours takes.
fn is_ours(hook: &Value) -> bool {
    let words = ["command", "bash"].iter().filter_map(|name| hook.get(name)?.as_str());
    let mut args =
        hook.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).chain(words);
    args.any(|text| text.contains(HOOK) || text.contains(OLD_GUARD))
}

/// Takes our entries out, and what they leave empty.
fn without(top: &CstObject) -> Result<(), EntryError> {
    let Some(hooks) = top.get("hooks") else { return Ok(()) };
    let hooks = hooks.object_value().ok_or_else(|| EntryError::OtherKind("hooks".to_owned()))?;
    for event in hooks.properties() {
        let name = event.decoded_name().unwrap_or_default();
        let entries = event.array_value().ok_or_else(|| EntryError::OtherKind(format!("hooks.{name}")))?;
        let mut took = false;
        for entry in entries.elements() {
            if entry.to_serde_value().is_some_and(|entry| is_ours(&entry)) {
                entry.remove();
                took = true;
                continue;
            }
            let Some(inner) = entry.as_object().and_then(|entry| entry.array_value("hooks")) else { continue };
            for hook in inner.elements() {
                if hook.to_serde_value().is_some_and(|hook| is_ours(&hook)) {
                    hook.remove();
                    took = true;
                }
            }
            if took && inner.elements().is_empty() {
                entry.remove();
            }
        }
        if took && entries.elements().is_empty() {
            event.remove();
        }
    }
    Ok(())
}

fn strip_tables(entries: &mut ArrayOfTables) {
    entries.retain(|entry| {
        let hooks = entry.get("hooks").map(std::string::ToString::to_string);
        !hooks.is_some_and(|text| text.contains(HOOK))
    });
}
