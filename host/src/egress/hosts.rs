//! Names of hosts as a client may write them, and the operator's list of those that may be reached.
//!
//! What is no plain name is refused before anybody resolves it: a question about a name leaves the machine, too.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

/// Ports that an entry without one means.
const USUAL_PORTS: [u16; 2] = [443, 80];
/// Longest name and longest part of one, in bytes (RFC 1035, section 2.3.4).
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// A host that a client names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name, in small letters, without a dot at its end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl Host {
    /// Reads what a client wrote. An address counts in its canonical form only: what else resolvers take for one (`127.1`,
    /// `0x7f000001`, `2130706433`, `[::1%lo]`) is nobody's name.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            return inside.parse::<Ipv6Addr>().ok().map(|address| Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        // A name that ends in a number is an address to many resolvers.
        let is_number = last.bytes().all(|b| b.is_ascii_digit())
            || last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
        if is_number {
            return text.parse::<Ipv4Addr>().ok().map(|address| Self::Address(address.into()));
        }
        let is_label = |label: &str| {
            let plain = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
            (1..=MAX_LABEL).contains(&label.len()) && plain && !label.starts_with('-') && !label.ends_with('-')
        };
        (name.len() <= MAX_NAME && name.split('.').all(is_label)).then_some(Self::Name(name))
    }
}

/// An entry of the list: `example.org`, `*.example.org`, `git.example.org:22`, `192.0.2.1:8080`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Entry {
    host: Host,
    /// The names below it, and not itself.
    below: bool,
    /// The only port; 443 and 80 otherwise.
    port: Option<u16>,
}

impl TryFrom<String> for Entry {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no host: use a name such as `api.example.org`, `*.example.org` or `git.example.org:22`"
            )
        };
        let (named, port) = match text.rsplit_once(':') {
            Some((named, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
                (named, Some(port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(wrong)?))
            }
            _ => (text.as_str(), None),
        };
        let (named, below) = named.strip_prefix("*.").map_or((named, false), |rest| (rest, true));
        let host = Host::parse(named).ok_or_else(wrong)?;
        match &host {
            Host::Address(_) if below => Err(wrong()),
            // Everything below a top-level domain is nearly everything.
            Host::Name(name) if below && !name.contains('.') => {
                Err(format!("`{text}` is too much: name a domain below `{name}`"))
            }
            _ => Ok(Self { host, below, port }),
        }
    }
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let below = if self.below { "*." } else { "" };
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        write!(f, "{below}{}{port}", self.host)
    }
}

impl Entry {
    fn allows(&self, host: &Host, port: u16) -> bool {
        let is_host = match (&self.host, host) {
            (Host::Name(domain), Host::Name(name)) if self.below => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (listed, host) => listed == host,
        };
        is_host && self.port.map_or_else(|| USUAL_PORTS.contains(&port), |listed| listed == port)
    }
}

/// True for a host that one of these names itself, and not as one of those below it.
pub fn names<'e>(entries: impl IntoIterator<Item = &'e Entry>, host: &Host) -> bool {
    entries.into_iter().any(|entry| !entry.below && entry.host == *host)
}

/// True where one of these allows it.
pub fn allow<'e>(entries: impl IntoIterator<Item = &'e Entry>, host: &Host, port: u16) -> bool {
    entries.into_iter().any(|entry| entry.allows(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_name_and_an_address_is_written_in_one_way() {
        for (text, want) in [
            ("Example.ORG", Some("example.org")),
            ("example.org.", Some("example.org")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("_dmarc.example.org", Some("_dmarc.example.org")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("[::1]", Some("[::1]")),
            ("[::ffff:127.0.0.1]", Some("[::ffff:127.0.0.1]")),
            ("localhost", Some("localhost")),
        ] {
            assert_eq!(Host::parse(text).map(|host| host.to_string()).as_deref(), want, "{text}");
        }
        for text in [
            "",
            ".",
            "..",
            "a..b",
            "-a.b",
            "a-.b",
            "a b",
            "a%00.test",
            "evil.example#.test",
            "a@b",
            "a/b",
            "a\\b",
            "bücher.example",
            "127.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "017700000001",
            "1.2.3.4.5",
            "127.0.0.01",
            "0177.0.0.1",
            "[::1%lo]",
            "[::1%25lo]",
            "[127.0.0.1]",
            "::1",
            "[fe80::1%eth0]",
            "a\0b",
            "a\tb",
            "１２７.0.0.1",
            "a。b",
            &"a".repeat(64),
            &["a"; 128].join("."),
        ] {
            assert_eq!(Host::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_entry_means_what_it_says_and_nothing_beside() {
        let entry = |text: &str| Entry::try_from(text.to_owned());
        let allows =
            |listed: &str, host: &str, port: u16| entry(listed).unwrap().allows(&Host::parse(host).unwrap(), port);
        for (listed, host, port, want) in [
            ("example.org", "example.org", 443, true),
            ("example.org", "example.org", 80, true),
            ("example.org", "EXAMPLE.org.", 443, true),
            ("example.org", "example.org", 22, false),
            ("example.org", "example.org", 25, false),
            ("example.org", "a.example.org", 443, false),
            ("example.org", "notexample.org", 443, false),
            ("*.example.org", "a.example.org", 443, true),
            ("*.example.org", "a.b.example.org", 443, true),
            ("*.example.org", "example.org", 443, false),
            ("*.example.org", "notexample.org", 443, false),
            ("*.example.org", "example.org.evil.example", 443, false),
            ("example.org:22", "example.org", 22, true),
            ("example.org:22", "example.org", 443, false),
            ("127.0.0.1:8080", "127.0.0.1", 8080, true),
            ("127.0.0.1:8080", "localhost", 8080, false),
            ("[::1]:8080", "[::1]", 8080, true),
        ] {
            assert_eq!(allows(listed, host, port), want, "{listed}: {host}:{port}");
        }
        for wrong in [
            "",
            "*",
            "*.org",
            "*.",
            "a b",
            "https://example.org",
            "example.org/x",
            "example.org:0",
            "example.org:70000",
            "*.127.0.0.1",
            "example.*",
        ] {
            assert!(entry(wrong).is_err(), "{wrong}");
        }
    }
}
