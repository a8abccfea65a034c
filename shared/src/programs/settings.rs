//! Settings of the network's clients: which lines say where they send, what they add, or what they run. Everything but a list of what
//! is harmless counts.

/// What may stand in curl's settings and changes neither what is sent nor where, without hyphens.
const CURL: &[&str] = &[
    "silent",
    "s",
    "show-error",
    "S",
    "location",
    "L",
    "fail",
    "f",
    "fail-with-body",
    "compressed",
    "connect-timeout",
    "max-time",
    "m",
    "retry",
    "retry-delay",
    "retry-max-time",
    "retry-connrefused",
    "retry-all-errors",
    "progress-bar",
    "#",
    "no-progress-meter",
    "user-agent",
    "A",
    "ipv4",
    "4",
    "ipv6",
    "6",
    "tlsv1.2",
    "tlsv1.3",
    "http1.1",
    "http2",
    "http3",
    "globoff",
    "g",
    "include",
    "i",
    "verbose",
    "v",
    "write-out",
    "w",
    "speed-limit",
    "speed-time",
    "remote-time",
    "R",
    "tcp-nodelay",
    "keepalive-time",
];
/// The same for wget, in small letters, without what divides words.
const WGET: &[&str] = &[
    "tries",
    "timeout",
    "wait",
    "waitretry",
    "randomwait",
    "quiet",
    "verbose",
    "continue",
    "timestamping",
    "progress",
    "useragent",
    "retryconnrefused",
    "connecttimeout",
    "readtimeout",
    "dnstimeout",
    "dircreate",
    "inet4only",
    "inet6only",
    "noclobber",
    "passiveftp",
];
/// What in ssh's settings leads elsewhere or runs something, in small letters.
const SSH: &[&str] = &[
    "hostname",
    "proxycommand",
    "proxyjump",
    "localcommand",
    "permitlocalcommand",
    "knownhostscommand",
    "match",
    "localforward",
    "remoteforward",
    "dynamicforward",
    "pkcs11provider",
    "securitykeyprovider",
    "sendenv",
    "setenv",
    "tunnel",
    "port",
    "canonicaldomains",
    "canonicalizehostname",
    "remotecommand",
    "controlpath",
    "controlmaster",
    "proxyusefdpass",
    "hostkeyalias",
    "usekeychain",
    "xauthlocation",
    "bindinterface",
    "bindaddress",
    "forwardagent",
    "stricthostkeychecking",
    "userknownhostsfile",
    "globalknownhostsfile",
    "identityagent",
    "identityfile",
    "certificatefile",
];

/// Which lines of the settings of this name count; `None` for a file that is none of these.
pub fn of(name: &str) -> Option<fn(&str) -> bool> {
    let file = name.rsplit('/').next().unwrap_or(name);
    match file {
        ".curlrc" | "curlrc" => Some(of_curl),
        ".wgetrc" | "wgetrc" => Some(of_wget),
        _ => are_of_ssh(name).then_some(of_ssh as fn(&str) -> bool),
    }
}

/// True for a file of ssh's settings, which may include others.
pub fn are_of_ssh(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file == "ssh_config" || file == "config" && name.contains(".ssh/")
}

/// True for a line that may bring in what no list of files names.
pub fn brings_more(name: &str, line: &str) -> bool {
    const RUNS: &[&str] = &[
        "proxycommand",
        "match",
        "localcommand",
        "knownhostscommand",
        "pkcs11provider",
        "securitykeyprovider",
        "remotecommand",
        // Whoever has bound the socket is the machine that is spoken to.
        "controlpath",
        "identityagent",
    ];
    let is_of_ssh = name.contains("ssh");
    !is_of_ssh || key(line).is_some_and(|key| RUNS.contains(&key.to_ascii_lowercase().as_str()))
}

/// What stands behind the word of a line of ssh's settings that names something to start or to load.
pub(super) fn started(line: &str) -> Option<&str> {
    const STARTS: &[&str] = &[
        "proxycommand",
        "localcommand",
        "knownhostscommand",
        "pkcs11provider",
        "securitykeyprovider",
        "xauthlocation",
        "match",
    ];
    let key = key(line)?;
    let rest = line.trim_start().get(key.len()..)?;
    STARTS.contains(&key.to_ascii_lowercase().as_str()).then_some(rest.trim_start_matches('='))
}

/// The first word of a line, and whether there is one.
fn key(line: &str) -> Option<&str> {
    let line = line.trim();
    let key = line.split(|c: char| c.is_whitespace() || c == '=' || c == ':').next().unwrap_or("");
    // ssh takes a word in quotes for the same.
    let key = key.trim_matches('"');
    (!line.is_empty() && !line.starts_with('#')).then_some(key)
}

fn of_curl(line: &str) -> bool {
    key(line).is_some_and(|key| {
        let word = key.trim_start_matches('-');
        // Letters in one word, none of which takes a value.
        let is_cluster =
            !key.starts_with("--") && key.starts_with('-') && word.chars().all(|letter| "sSLfgivR46#".contains(letter));
        !CURL.contains(&word) && !is_cluster
    })
}

fn of_wget(line: &str) -> bool {
    key(line).is_some_and(|key| {
        let word: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        !WGET.contains(&word.as_str())
    })
}

fn of_ssh(line: &str) -> bool {
    // As many systems have it: in which language the other machine speaks.
    let mut words = line.split(|letter: char| letter.is_whitespace() || letter == '=').filter(|word| !word.is_empty());
    let sends = words.next().is_some_and(|key| key.eq_ignore_ascii_case("sendenv"));
    if sends && words.all(|name| name == "LANG" || name.starts_with("LC_")) {
        return false;
    }
    key(line).is_some_and(|key| SSH.contains(&key.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_harmless_counts() {
        for (name, line, counts) in [
            ("~/.curlrc", "data = @f", true),
            ("~/.curlrc", "-d@f", true),
            ("~/.curlrc", "form = \"x=@f\"", true),
            ("~/.curlrc", "proxy: evil", true),
            ("~/.curlrc", "-sSL", false),
            ("~/.curlrc", "silent", false),
            ("~/.curlrc", "# data = @f", false),
            ("~/.config/curlrc", "-sKx", true),
            ("/x/.wgetrc", "post_file = f", true),
            ("/x/.wgetrc", "Post-File=f", true),
            ("/x/.wgetrc", "random_wait = on", false),
            ("~/.ssh/config", "ProxyCommand sh f", true),
            ("~/.ssh/config", "match exec \"sh f\"", true),
            ("~/.ssh/config", "  HostName=evil", true),
            ("~/.ssh/config", "User me", false),
        ] {
            assert_eq!(of(name).is_some_and(|counts| counts(line)), counts, "{name}: {line}");
        }
        assert!(of("~/.netrc").is_none());
    }
}
