//! What services bring and take: the trust table for tools other than the shell.

use bashgate_shared::protocol::Answer;
use serde::{Deserialize, Serialize};

use crate::taint::Label;

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

    /// What its use adds to the taint.
    pub fn labels(&self) -> Vec<Label> {
        let mut labels = Vec::new();
        if self.public_source == Property::Yes {
            labels.push(Label::Corruption);
        }
        if self.secret_data == Property::Yes {
            labels.push(Label::Secret);
        }
        labels
    }
}

/// The service that a tool belongs to: `web` and `files` for the agent's own tools, the server's name for MCP tools.
///
/// An MCP server that takes the name of a built-in service, or whose name cannot be told from its tool's, is nobody we
/// know: the agent may have added it itself.
pub fn service_of(tool: &str) -> &str {
    match tool {
        "WebFetch" | "WebSearch" => "web",
        "Read" | "Grep" | "NotebookRead" => "files",
        _ => match tool.strip_prefix("mcp__").map(|rest| rest.split("__").collect::<Vec<_>>()).as_deref() {
            Some([server] | [server, _]) if !matches!(*server, "web" | "files" | "") => server,
            _ => tool,
        },
    }
}

/// Whether a tool of this service may be used, and why. `clean_room` is the workspace's setting.
pub fn judge_tool(name: &str, service: &Service, clean_room: bool) -> (Answer, String) {
    if service.is_forbidden() {
        (Answer::Deny, format!("the operator forbids the service `{name}`"))
    } else if clean_room && service.labels().contains(&Label::Corruption) {
        (Answer::Deny, format!("this workspace is a clean room, and anybody can write what `{name}` delivers"))
    } else {
        (Answer::Allow, format!("`{name}` may be used; what it brings is remembered"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_assumed() {
        let partly: Service = toml::from_str("public_source = false").unwrap();
        assert_eq!(partly.labels(), [Label::Secret]);
        assert_eq!(Service::UNKNOWN.labels(), [Label::Corruption, Label::Secret]);
        assert_eq!(Service::WEB.labels(), [Label::Corruption]);
        assert!(toml::from_str::<Service>("public_sink = \"forbidden\"").unwrap().is_forbidden());
        assert!(toml::from_str::<Service>("public_sink = \"maybe\"").is_err());
        assert!(toml::from_str::<Service>("colour = true").is_err());
    }

    #[test]
    fn tools_belong_to_services() {
        for (tool, service) in [
            ("WebFetch", "web"),
            ("Read", "files"),
            ("mcp__github__create_issue", "github"),
            ("mcp__x", "x"),
            ("Other", "Other"),
            ("mcp__web__x", "mcp__web__x"),
            ("mcp__issues__evil__x", "mcp__issues__evil__x"),
        ] {
            assert_eq!(service_of(tool), service);
        }
    }
}
