//! The environment, which any program may read: an answer is bound to all of it, and those variables are named that are known
//! to steer something.

use std::os::unix::ffi::OsStrExt as _;

use bashgate_shared::classify::secrets;
use bashgate_shared::command::Digest;
use bashgate_shared::programs;
use bashgate_shared::protocol::FileEvidence;
use bashgate_shared::variables::{self, Steers};

use super::told::bound;
use crate::gate::shown;

/// How the entry begins.
pub(super) const ENVIRONMENT: &str = "the environment's ";
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
        // Where programs look for things and which language they speak is no code, and in each environment.
        let is_code = || variables::is_code(name) || variables::names_folders_of_projects(name);
        is_told && (variables::leads_network(name) || is_code()) || is_of_a_row(name, rows)
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
    let head: String = steering.iter().filter(|(name, _)| is_shown(name)).take(MAX_NAMED).map(line_of).collect();
    let names: Vec<&str> = steering.iter().map(|(name, _)| name.as_str()).take(MAX_NAMED).collect();
    let rest = count.saturating_sub(names.len());
    let path = match names.as_slice() {
        [] => format!("{ENVIRONMENT}{rest} variables"),
        names => format!("{ENVIRONMENT}{} and {rest} other variables", names.join(", ")),
    };
    FileEvidence { head, ..bound(&path, sha256) }
}

/// True for a variable of which a person sees what it is set to: what runs in place of programs, and where the network's go.
fn is_shown(name: &str) -> bool {
    let is_of_all = variables::steers_every_command(name) || matches!(variables::steers(name), Some(Steers::Library));
    is_of_all || variables::leads_network(name) && !variables::names_certificates(name)
}

/// A variable as it is shown: on one line, and without the password that an address may hold.
fn line_of((name, value): &(String, String)) -> String {
    let value = match value.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            // What stands in front of it may be a password.
            Some((_, host)) => format!("{scheme}://{host}"),
            None => value.clone(),
        },
        None => value.clone(),
    };
    let value =
        if secrets::is_secret_variable(name) || shown::is_credential(&value) { "(a secret)".to_owned() } else { value };
    let value: String = value.chars().take(MAX_VALUE).map(|letter| if letter == '\n' { ' ' } else { letter }).collect();
    format!("{name}={value}\n")
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
            ("BASH_FUNC_curl%%", "() { sh x\n}", Some("BASH_FUNC_curl%%=() { sh x }\n")),
            ("LD_LIBRARY_PATH", "p", Some("LD_LIBRARY_PATH=p\n")),
            ("AWS_SECRET_ACCESS_KEY", random, Some("AWS_SECRET_ACCESS_KEY=(a secret)\n")),
            ("GIT_ASKPASS_X", &format!("ghp_{random}"), Some("GIT_ASKPASS_X=(a secret)\n")),
            ("CURL_CA_BUNDLE", "/etc/ssl/x.pem", None),
            ("CARGO_TERM_COLOR", "always", None),
        ] {
            let shown = is_shown(name).then(|| line_of(&(name.to_owned(), value.to_owned())));
            assert_eq!(shown.as_deref(), want, "{name}");
        }
    }
}
