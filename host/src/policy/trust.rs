//! What services bring and take: the trust table for tools other than the shell.

use bashgate_shared::agents::{self, Does};
use bashgate_shared::classify::tool::ToolAct;
use bashgate_shared::protocol::ToolCall;
use serde::{Deserialize, Serialize};

/// One property of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Property {
    /// It has the property. What is not known about a service is assumed.
    #[default]
    Yes,
    /// It has not.
    No,
    /// It must not be used at all.
    Forbidden,
}

impl Serialize for Property {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Yes => serializer.serialize_bool(true),
            Self::No => serializer.serialize_bool(false),
            Self::Forbidden => serializer.serialize_str("forbidden"),
        }
    }
}

impl<'de> Deserialize<'de> for Property {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Bool(bool),
            Text(String),
        }
        match Written::deserialize(deserializer) {
            Ok(Written::Bool(true)) => Ok(Self::Yes),
            Ok(Written::Bool(false)) => Ok(Self::No),
            Ok(Written::Text(text)) if text == "forbidden" => Ok(Self::Forbidden),
            _ => Err(serde::de::Error::custom("use true, false or \"forbidden\"")),
        }
    }
}

/// What is known about a service. What is left out is assumed to be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Service {
    /// Anybody can write what it delivers.
    pub public_source: Property,
    /// It delivers secret data.
    pub secret_data: Property,
    /// What it is sent can be read by others.
    pub public_sink: Property,
    /// What it writes cannot be taken back.
    pub dangerous_writes: Property,
}

impl Service {
    /// The service of a name that no table has: everything is assumed of it.
    pub const UNKNOWN: Self = Self {
        public_source: Property::Yes,
        secret_data: Property::Yes,
        public_sink: Property::Yes,
        dangerous_writes: Property::Yes,
    };
    /// The web, as the agent's own fetch and search tools reach it.
    pub const WEB: Self = Self {
        public_source: Property::Yes,
        secret_data: Property::No,
        public_sink: Property::Yes,
        dangerous_writes: Property::No,
    };
    /// Files of the container; the hook only reports those that are secrets.
    pub const FILES: Self = Self {
        public_source: Property::No,
        secret_data: Property::Yes,
        public_sink: Property::No,
        dangerous_writes: Property::No,
    };

    /// True when the operator forbids it in any respect.
    pub fn is_forbidden(&self) -> bool {
        [self.public_source, self.secret_data, self.public_sink, self.dangerous_writes].contains(&Property::Forbidden)
    }
}

/// What a call of a tool is about. What is sent something is a service, whatever it is called: names of tools are no agent's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The container's files.
    Files,
    /// A page.
    Page,
    /// A search engine.
    Search,
    /// A service.
    Service,
}

impl About {
    /// By what the call does and sends; its name says only whether it asks a search engine.
    pub fn of(call: &ToolCall) -> Self {
        let fetches = call.acts.iter().any(|act| matches!(act, ToolAct::Fetch { .. }));
        match agents::does(&call.name) {
            _ if call.sends.is_some() => Self::Service,
            Some(Does::Fetch) => Self::Page,
            _ if fetches => Self::Page,
            Some(Does::SearchWeb) => Self::Search,
            Some(Does::Read | Does::Search | Does::Write | Does::Patch) => Self::Files,
            _ => Self::Service,
        }
    }
}

/// The service that a call belongs to: `web` and `files` for the agents' own tools, the server's name for MCP tools.
///
/// An MCP server that takes the name of a built-in service, or whose name cannot be told from its tool's, is nobody we
/// know: the agent may have added it itself.
pub fn service_of(call: &ToolCall) -> &str {
    match About::of(call) {
        About::Page | About::Search => "web",
        About::Files => "files",
        About::Service => {
            match call.name.strip_prefix("mcp__").map(|rest| rest.split("__").collect::<Vec<_>>()).as_deref() {
                Some([server] | [server, _]) if !matches!(*server, "web" | "files" | "") => server,
                _ => &call.name,
            }
        }
    }
}

/// True where a tool's name may be that of a tool of this service, in any agent's way to write it. Only for what forbids: a name
/// can be chosen so.
pub fn may_belong_to(tool: &str, service: &str) -> bool {
    let (tool, service) = (tool.to_lowercase(), service.to_lowercase());
    let bare = ["mcp__", "mcp_", "mcp:", "mcp-"].iter().find_map(|start| tool.strip_prefix(start)).unwrap_or(&tool);
    let begins = |name: &str| {
        name.strip_prefix(&service).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-', '.', ':', '/']))
    };
    // A plug-in's server: `mcp__plugin_NAME_SERVER__TOOL`.
    let of_plugin = || {
        let name = bare.strip_prefix("plugin_").or_else(|| bare.strip_prefix("plugin-"))?;
        name.match_indices(['_', '-']).map(|(at, _)| name.get(at + 1..).unwrap_or_default()).find(|rest| begins(rest))
    };
    begins(bare) || of_plugin().is_some()
}

/// On what terms a service is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Why it must not be used at all.
    pub forbidden: Option<String>,
    /// What it writes cannot be taken back.
    pub irrevocable: bool,
}

impl Terms {
    /// The terms of a service. `clean_room` is the workspace's setting.
    pub fn of(name: &str, service: &Service, clean_room: bool) -> Self {
        let forbidden = if service.is_forbidden() {
            Some(format!("the operator forbids the service `{name}`; do it without, or ask the person you work for"))
        } else if clean_room && service.public_source == Property::Yes {
            Some(format!("this workspace is a clean room, and anybody can write what `{name}` delivers"))
        } else {
            None
        };
        Self { forbidden, irrevocable: service.dangerous_writes == Property::Yes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_assumed() {
        let partly: Service = toml::from_str("public_source = false").unwrap();
        assert_eq!(partly, Service { public_source: Property::No, ..Service::UNKNOWN });
        assert!(toml::from_str::<Service>("public_sink = \"forbidden\"").unwrap().is_forbidden());
        assert!(toml::from_str::<Service>("public_sink = \"maybe\"").is_err());
        assert!(toml::from_str::<Service>("colour = true").is_err());
    }

    #[test]
    fn what_a_tool_is_called_by_any_agent_is_forbidden_with_its_service() {
        for tool in [
            "mcp__issues__create",
            "mcp__issues__create__sub",
            "mcp_issues_create",
            "issues_create",
            "issues-create",
            "issues",
            "MCP:issues/create",
            "MCP__Issues__create",
            "mcp__plugin_tracker_issues__create",
            "mcp__plugin_a-b_issues__create",
        ] {
            assert!(may_belong_to(tool, "issues"), "{tool}");
        }
        for tool in ["mcp__issuesx__create", "other", "my_issues", ""] {
            assert!(!may_belong_to(tool, "issues"), "{tool}");
        }
    }

    #[test]
    fn tools_belong_to_services() {
        for (tool, service) in [
            ("WebFetch", "web"),
            ("Read", "files"),
            ("mcp__github__create_issue", "github"),
            ("mcp__x", "x"),
            ("Other", "Other"),
            ("google_web_search", "web"),
            ("write_file", "files"),
            ("ReadMcpResourceTool", "ReadMcpResourceTool"),
            ("mcp__web__x", "mcp__web__x"),
            ("mcp__issues__evil__x", "mcp__issues__evil__x"),
        ] {
            let call = |sends: Option<&str>| ToolCall {
                name: tool.to_owned(),
                target: None,
                acts: Vec::new(),
                sends: sends.map(Into::into),
            };
            assert_eq!(service_of(&call(None)), service);
            // What is sent something is no file and no page.
            assert!(!matches!(service_of(&call(Some("{}"))), "web" | "files"), "{tool}");
        }
    }
}
