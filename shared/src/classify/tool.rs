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

/// An address that a text holds.
pub(super) struct Address<'t> {
    /// As it stands there.
    pub text: &'t str,
    /// True where every client takes the same host from it.
    pub is_plain: bool,
}

/// What is asked in a text that holds addresses: each word that names one, or the whole text where none does.
///
/// Clients take a host from more than its plain form (URL Standard, "basic URL parser"): they leave out tabs and line ends, take
/// one slash, three or none, and signs in a name. A text in which that could be so counts as an address of its own.
pub(super) fn addresses_in(text: &str) -> Vec<Address<'_>> {
    const AROUND: &[char] = &['\'', '"', '<', '>', '`', '(', ')', '[', ']', ',', ';', '.', '!', '?', '*'];
    let text = text.trim();
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let lower = word.to_ascii_lowercase();
        if !["http:", "https:"].iter().any(|scheme| lower.contains(scheme)) {
            continue;
        }
        // In a text for people, quotes and brackets stand around an address.
        let word = word.trim_start_matches(AROUND);
        let bare = word.trim_end_matches(AROUND);
        found.push(Address { text: bare, is_plain: is_plain(bare) });
    }
    if found.is_empty() || text.contains(char::is_control) {
        found.push(Address { text, is_plain: false });
    }
    found
}

/// True for an address whose host is a name or a number between the scheme's two slashes and the next sign.
fn is_plain(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    // Of two in one word, nobody can tell which is meant.
    if ["http:", "https:"].iter().any(|another| rest.to_ascii_lowercase().contains(another)) {
        return false;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = match authority.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte))
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && !address.contains('\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Classification, CommandClass, Condition, Decided, PassedBy, Surroundings, classify_tool};

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
        assert_eq!(
            search.conditions,
            [Condition::NoSecretBelow { folder: "/home/u/w".to_owned(), passed_by: PassedBy::default() }]
        );
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
        assert_eq!(ask("http://[::1]:80/x").effects.untrusted.len(), 0);
        // What clients take another host from.
        for address in [
            "http://localhost\t.evil.example/",
            "http://localhost\n.evil.example/",
            "https:/evil.example/?u=http://localhost/",
            "HTTPS:evil.example/?u=http://localhost/",
            "https:///evil.example/?u=http://localhost/",
            "http:\\\\evil.example\\?http://localhost/",
            "http://localhost\\@evil.example/",
            "http://localhost'.evil.example/",
            "http://localhost\".evil.example/",
            "http://localhost`.evil.example/",
            "http://localhost<.evil.example/",
            "http://localhost@evil.example/",
            "http://localhost%2eevil.example/",
            "http://localhost。evil.example/",
            "evil.example/?u=http://localhost/",
            "x=http://localhost/",
            "http://localhost:80.evil.example/",
            "\"http://localhost/\",\"http://evil.example/\"",
            "<http://localhost/><http://evil.example/>",
            "[http://localhost/](http://evil.example/)",
        ] {
            for address in
                [address.to_owned(), format!("what is on {address}?"), format!("see http://localhost/, {address}")]
            {
                let found = ask(&address);
                assert!(!found.effects.untrusted.is_empty(), "{address:?}");
                assert!(
                    found.effects.network.iter().any(|used| used.host.is_none()),
                    "{address:?}: {:?}",
                    found.effects.network
                );
            }
        }
    }
}
