//! The environment, which any program may read: an answer is bound to all of it, and those variables are named that are known
//! to steer something.

use std::os::unix::ffi::OsStrExt as _;

use bashgate_shared::command::Digest;
use bashgate_shared::programs;
use bashgate_shared::protocol::FileEvidence;
use bashgate_shared::variables::{self, Steers};

use super::told::bound;

/// How the entry begins.
pub(super) const ENVIRONMENT: &str = "the environment's ";
/// Most variables that it names.
const MAX_NAMED: usize = 8;

/// The variables that say where the network's programs send: proxies, git's, what steers the shell and all programs, and what
/// their rows name.
pub(super) fn steering_variables(rows: &[&programs::Program]) -> Vec<(String, String)> {
    let steers = |name: &str| {
        // What differs from one call to the next and leads nowhere.
        let is_told = name != "HOME" && !name.starts_with("SSH_") || name.starts_with("SSH_ASKPASS");
        // Where programs look for things and which language they speak is no code, and in each environment.
        let is_code = || matches!(variables::steers(name), Some(Steers::Code));
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
    // Their values may hold a password; whoever looks at a card sees which they are.
    let names: Vec<&str> = steering.iter().map(|(name, _)| name.as_str()).take(MAX_NAMED).collect();
    let rest = count.saturating_sub(names.len());
    let path = match names.as_slice() {
        [] => format!("{ENVIRONMENT}{rest} variables"),
        names => format!("{ENVIRONMENT}{} and {rest} other variables", names.join(", ")),
    };
    bound(&path, sha256)
}

/// All variables, by their names.
fn all() -> Vec<(String, String)> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let mut all: Vec<_> = std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    all.sort();
    all
}
