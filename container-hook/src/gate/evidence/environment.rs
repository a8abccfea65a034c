//! The environment, which any program may read: an answer is bound to all of it, and those variables are named that are known
//! to steer something.

use std::os::unix::ffi::OsStrExt as _;

use bashgate_shared::classify::secrets;
use bashgate_shared::command::Digest;
use bashgate_shared::programs;
use bashgate_shared::protocol::{ENVIRONMENT, FileEvidence};
use bashgate_shared::variables::{self, Steers};

use super::told::bound;
use crate::gate::shown;

/// Most of them that are shown with what they are set to.
const MAX_SHOWN: usize = 16;
/// Most letters of a value that is shown.
const MAX_VALUE: usize = 200;
/// Most variables that it names.
const MAX_NAMED: usize = 8;

/// The variables that say where the network's programs send: proxies, git's, what steers the shell and all programs, and what
/// their rows name.
pub(super) fn steering_variables(rows: &[&programs::Program]) -> Vec<(String, String)> {
    let steers = |name: &str| {
        // What differs from one call to the next and leads nowhere.
        let is_told = name != "HOME" && !name.starts_with("SSH_") || name.starts_with("SSH_ASKPASS");
        is_told && (variables::leads_network(name) || variables::leads_to_code(name)) || is_of_a_row(name, rows)
    };
    all().into_iter().filter(|(name, _)| steers(name)).collect()
}

/// True for a variable that one of these rows names.
pub(super) fn is_of_a_row(name: &str, rows: &[&programs::Program]) -> bool {
    rows.iter().any(|row| row.environment.contains(&name))
}

/// What it is bound to: what they and all others are set to, but for those that differ from one call to the next and that the text does
/// not name.
pub(super) fn environment(steering: &[(String, String)], text: &str) -> FileEvidence {
    let is_named = |name: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name);
    let is_bound = |name: &str| !variables::differs_by_call(name) || is_named(name);
    let mut bytes = Vec::new();
    let mut count = 0_usize;
    let mut all: Vec<_> = std::env::vars_os().collect();
    all.sort();
    for (name, value) in all.iter().filter(|(name, _)| is_bound(&name.to_string_lossy())) {
        count += 1;
        // Neither may hold a NUL.
        for part in [name, value] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
    }
    let sha256 = Digest::of(&bytes).hex();
    // What runs in place of programs, and proxies, before what only a few of them read.
    let mut shown: Vec<&(String, String)> = steering.iter().filter(|(name, value)| is_shown(name, value)).collect();
    shown.sort_by_key(|(name, _)| (!is_of_all(name), !variables::is_proxy(name)));
    let more = shown.len().saturating_sub(MAX_SHOWN);
    let mut head: String = shown.into_iter().take(MAX_SHOWN).map(line_of).collect();
    if more > 0 {
        head.push_str(&format!("({more} more variables that say where programs send or what they load)\n"));
    }
    let mut names: Vec<&str> = steering.iter().map(|(name, _)| name.as_str()).collect();
    // What steers git and whatever runs is not hidden by what a few programs read.
    names.sort_by_key(|name| (!name.starts_with("GIT_"), !is_of_all(name), !variables::is_proxy(name)));
    names.truncate(MAX_NAMED);
    let rest = count.saturating_sub(names.len());
    let path = match names.as_slice() {
        [] => format!("{ENVIRONMENT}{rest} variables"),
        names => format!("{ENVIRONMENT}{} and {rest} other variables", names.join(", ")),
    };
    FileEvidence { head, ..bound(&path, sha256) }
}

/// True for a variable of which a person sees what it is set to: what runs in place of programs, and where the network's go.
fn is_shown(name: &str, value: &str) -> bool {
    let is_address = || value.contains("://") || variables::is_proxy(name);
    is_of_all(name) || variables::leads_network(name) && !variables::names_certificates(name) && is_address()
}

/// True for a variable that steers programs of any kind.
fn is_of_all(name: &str) -> bool {
    variables::steers_every_command(name) || matches!(variables::steers(name), Some(Steers::Library))
}

/// A variable as it is shown: on one line, and without the password that an address may hold.
fn line_of((name, value): &(String, String)) -> String {
    // The key and the value of a setting of git's are none, whatever the names say.
    let is_secret = secrets::is_secret_variable(name) && !name.starts_with("GIT_CONFIG_");
    let shown = shown_of(value).filter(|_| !is_secret);
    let shown = shown.unwrap_or_else(|| "(a secret)".to_owned());
    let mut line: String = shown.chars().take(MAX_VALUE).map(|c| if c == '\n' { ' ' } else { c }).collect();
    if shown.chars().nth(MAX_VALUE).is_some() {
        line.push_str(" (and more)");
    }
    format!("{name}={line}\n")
}

/// A value without what stands in front of an address's host. `None` for one that may be a secret.
fn shown_of(value: &str) -> Option<String> {
    let Some((scheme, rest)) = value.split_once("://") else {
        return Some(value.to_owned()).filter(|value| !shown::is_credential(value));
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // What stands there for a port may be a password with a slash in it.
    let is_port = host.rsplit_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let shown = format!("{scheme}://{host}{}", path.split('@').next().unwrap_or_default());
    Some(shown).filter(|shown| is_port && shown::credentials_in(shown).is_empty())
}

/// All variables, by their names.
fn all() -> Vec<(String, String)> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let mut all: Vec<_> = std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_where_a_variable_leads_and_no_password() {
        let random = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        for (name, value, want) in [
            ("https_proxy", "http://evil.example:1", Some("https_proxy=http://evil.example:1\n")),
            ("https_proxy", "http://me:hunter2@h.example:1", Some("https_proxy=http://h.example:1\n")),
            ("https_proxy", "http://evil.example:1/@good.example", Some("https_proxy=http://evil.example:1/\n")),
            ("https_proxy", "http://a@evil.example:1?@b", Some("https_proxy=http://evil.example:1?\n")),
            ("https_proxy", "http://me:a/b@h.example", Some("https_proxy=(a secret)\n")),
            ("BASH_FUNC_curl%%", "() { sh x\n}", Some("BASH_FUNC_curl%%=() { sh x }\n")),
            ("LD_LIBRARY_PATH", "p", Some("LD_LIBRARY_PATH=p\n")),
            ("AWS_SECRET_ACCESS_KEY", random, None),
            ("AWS_ENDPOINT_URL", "http://evil.example", Some("AWS_ENDPOINT_URL=http://evil.example\n")),
            ("GIT_PROXY_X", &format!("https://h/?t=ghp_{random}"), Some("GIT_PROXY_X=(a secret)\n")),
            (
                "GIT_CONFIG_KEY_0",
                "url.https://evil.example/.insteadOf",
                Some("GIT_CONFIG_KEY_0=url.https://evil.example/.insteadOf\n"),
            ),
            ("GIT_CONFIG_VALUE_0", "https://good.example/", Some("GIT_CONFIG_VALUE_0=https://good.example/\n")),
            ("CURL_CA_BUNDLE", "/etc/ssl/x.pem", None),
            ("CARGO_TERM_COLOR", "always", None),
        ] {
            let shown = is_shown(name, value).then(|| line_of(&(name.to_owned(), value.to_owned())));
            assert_eq!(shown.as_deref(), want, "{name}");
        }
    }
}
