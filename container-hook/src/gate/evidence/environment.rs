//! The environment, which any program may read: an answer is bound to all of it, and those variables are named that are known
//! to steer something.

use bashgate_shared::command::Digest;
use bashgate_shared::programs;
use bashgate_shared::protocol::FileEvidence;
use bashgate_shared::variables::{self, Steers};

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

/// What it is bound to: what they and all others are set to that do not differ from one call to the next.
pub(super) fn environment(steering: &[(String, String)]) -> FileEvidence {
    let bound = all().into_iter().filter(|(name, _)| !variables::differs_by_call(name));
    let lines: Vec<String> = bound.map(|(name, value)| format!("{name}={value}")).collect();
    let sha256 = Digest::of(lines.join("\n").as_bytes()).hex();
    // Their values may hold a password; whoever looks at a card sees which they are.
    let names: Vec<&str> = steering.iter().map(|(name, _)| name.as_str()).take(MAX_NAMED).collect();
    let rest = lines.len().saturating_sub(names.len());
    let path = match names.as_slice() {
        [] => format!("{ENVIRONMENT}{rest} variables"),
        names => format!("{ENVIRONMENT}{} and {rest} other variables", names.join(", ")),
    };
    FileEvidence { path: path.chars().take(1024).collect(), sha256, head: String::new() }
}

/// All variables, by their names.
fn all() -> Vec<(String, String)> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let mut all: Vec<_> = std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    all.sort();
    all
}
