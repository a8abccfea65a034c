//! Calls of an agent's other tools, by the rules of the shell: what reads a file is judged as a command that reads it, and so
//! is what writes and what sends. There is no second list.

use serde::{Deserialize, Serialize};

/// One thing that a tool call does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "does", deny_unknown_fields)]
pub enum ToolAct {
    /// It reads a file.
    Read {
        /// The path, as the tool was given it.
        path: String,
    },
    /// It reads everything below a folder, or one file.
    Search {
        /// The path, as the tool was given it.
        path: String,
    },
    /// It writes a file.
    Write {
        /// The path, as the tool was given it.
        path: String,
    },
    /// It asks an address on the web.
    Fetch {
        /// The address, or a text that holds it.
        address: String,
    },
}

impl ToolAct {
    /// What it is done to.
    pub fn on(&self) -> &str {
        match self {
            Self::Read { path } | Self::Search { path } | Self::Write { path } => path,
            Self::Fetch { address } => address,
        }
    }
}

/// Most acts of one call.
pub const MAX_ACTS: usize = 256;

/// What is asked in a text that holds addresses: each address, or the whole text where there is none.
pub(super) fn addresses_in(text: &str) -> Vec<&str> {
    let starts = ["http://", "https://"];
    let mut found = Vec::new();
    let lower = text.to_ascii_lowercase();
    let mut rest = text;
    // The same places in both: letters of ASCII are as long in either form.
    let find = |rest: &str, start: &&str| lower.get(text.len() - rest.len()..).and_then(|rest| rest.find(*start));
    while let Some(at) = starts.iter().filter_map(|start| find(rest, start)).min() {
        let Some(address) = rest.get(at..) else { break };
        let end = address.find(|c: char| c.is_whitespace() || "'\"<>`".contains(c)).unwrap_or(address.len());
        found.push(address.get(..end).unwrap_or(address));
        rest = address.get(end..).unwrap_or("");
    }
    if found.is_empty() { vec![text] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Classification, CommandClass, Condition, Decided, Surroundings, classify_tool};

    fn of(act: ToolAct) -> Classification {
        let around = Surroundings {
            cwd: Some("/home/u/w".to_owned()),
            protected: vec!["/mnt/box".to_owned()],
            ..Surroundings::default()
        };
        classify_tool("Tool", &[act], &around)
    }

    #[test]
    fn files_are_judged_as_by_the_shell() {
        for path in ["src/a.rs", "/home/u/w/new/b", "/tmp/x"] {
            let found = of(ToolAct::Write { path: path.to_owned() });
            assert_eq!((found.class, found.decided), (CommandClass::Safe, Decided::Local), "{path}: {found:?}");
        }
        for (path, is_denied) in [
            (".claude/settings.json", true),
            ("/mnt/box/requests/x.json", true),
            ("/home/u/.codex/config.toml", true),
            (".git/hooks/post-commit", false),
            ("/home/u/.bashrc", false),
            ("sub/.mcp.json", false),
        ] {
            let found = of(ToolAct::Write { path: path.to_owned() });
            assert_eq!(found.decided, Decided::Host, "{path}");
            assert_eq!(!found.effects.tampering.is_empty(), is_denied, "{path}: {:?}", found.effects);
            assert_eq!(!found.effects.persistence.is_empty(), !is_denied, "{path}: {:?}", found.effects);
        }
        assert_eq!(of(ToolAct::Write { path: "CLAUDE.md".to_owned() }).effects.steering, ["/home/u/w/CLAUDE.md"]);
        assert_eq!(of(ToolAct::Write { path: "/opt/x".to_owned() }).class, CommandClass::Unknown);
        assert_eq!(of(ToolAct::Read { path: "src/a.rs".to_owned() }).decided, Decided::Local);
        assert_eq!(of(ToolAct::Read { path: ".env".to_owned() }).effects.secrets, ["/home/u/w/.env"]);
        let search = of(ToolAct::Search { path: ".".to_owned() });
        assert_eq!(search.conditions, [Condition::NoSecretBelow { folder: "/home/u/w".to_owned() }]);
    }

    #[test]
    fn every_address_in_a_text_is_asked() {
        let ask = |address: &str| of(ToolAct::Fetch { address: address.to_owned() });
        let found = ask("read https://a.example/x?y=1 and 'http://b.example'");
        let hosts: Vec<_> = found.effects.network.iter().filter_map(|used| used.host.clone()).collect();
        assert_eq!(hosts, ["a.example", "b.example"]);
        assert_eq!(found.effects.untrusted, ["a.example", "b.example"]);
        assert_eq!(found.class, CommandClass::Network);
        assert!(ask("http://localhost:3000/x").effects.untrusted.is_empty());
        assert_eq!(ask("the weather").effects.untrusted, ["the weather"]);
        assert_eq!(ask("http://localhost.evil.example/").effects.untrusted, ["localhost.evil.example"]);
    }
}
