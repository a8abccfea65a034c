//! The form of a command that runs in the cage: `'/path/bashgate-run' exec --cage -- 'COMMAND'`.
//!
//! The text carries no authority: no permit, no preset. Whoever replays it or types it runs the same command with less.

use std::path::Path;

use crate::classify::Classification;
use crate::programs::{self, Builtin, Program, Trait};
use crate::shell::quoted;

/// Longest command that is caged, in bytes: the kernel takes at most 128 KiB as one argument, and quoting adds some.
pub const MAX_CAGED_BYTES: usize = 96 * 1024;
/// A first line that asks for the decision as it would be without the cage.
pub const UNCAGED: &str = "# bashgate: network";

/// True for a command that does in the cage what it is for, unless that is the network, and that does not ask to be left
/// out of it. What it does to its shell is over with it, as the agent is told.
pub fn has_its_point_inside(found: &Classification, command: &str) -> bool {
    !asks_for_network(command) && !runs_any(found, |row| row.has(Trait::AboutTheOutside))
}

/// The same for a command that would be let through: then the agent's shell may as well keep the folder that it goes to.
pub fn loses_nothing_inside(found: &Classification, command: &str) -> bool {
    has_its_point_inside(found, command) && !runs_any(found, |row| row.builtin == Some(Builtin::GoesTo))
}

fn runs_any(found: &Classification, of: impl Fn(&Program) -> bool) -> bool {
    found.effects.programs.iter().any(|program| programs::row(program).is_some_and(&of))
}

/// True when the first line of a command asks for the uncaged decision.
pub fn asks_for_network(command: &str) -> bool {
    command.trim_start().lines().next().is_some_and(|line| line.trim_end() == UNCAGED)
}

/// How much the cage says at the end of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// That it was the cage: for what would have been asked about.
    Always,
    /// The same, but only when the command fails: for what would have been let through.
    OnFailure,
}

/// The caged form of a command, or `None` for one that is too long. `config` is named where it is not the usual one.
pub fn caged_form(runner: &Path, config: Option<&Path>, note: Note, command: &str) -> Option<String> {
    let mut form = format!("{} exec --cage", quoted(runner.to_str()?));
    if note == Note::OnFailure {
        form.push_str(" --quiet");
    }
    if let Some(config) = config {
        form.push_str(&format!(" --config {}", quoted(config.to_str()?)));
    }
    form.push_str(&format!(" -- {}", always_quoted(command)));
    (form.len() <= MAX_CAGED_BYTES).then_some(form)
}

fn always_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_one_word_behind_two_dashes() {
        let runner = Path::new("/usr/local/bin/bashgate-run");
        let config = Path::new("/srv/ga te/hook.toml");
        let form = |config, note, command: &str| caged_form(runner, config, note, command);
        assert_eq!(form(None, Note::Always, "it's").unwrap(), "/usr/local/bin/bashgate-run exec --cage -- 'it'\\''s'");
        assert_eq!(
            form(Some(config), Note::OnFailure, "").unwrap(),
            "/usr/local/bin/bashgate-run exec --cage --quiet --config '/srv/ga te/hook.toml' -- ''"
        );
        assert!(form(None, Note::Always, &"x".repeat(MAX_CAGED_BYTES)).is_none());
    }

    #[test]
    fn only_the_very_first_line_asks_for_network() {
        for (command, asks) in [
            ("# bashgate: network\ncurl x", true),
            ("\n  # bashgate: network  \nmake", true),
            ("make # bashgate: network", false),
            ("make\n# bashgate: network", false),
            ("# bashgate: networks\nmake", false),
            ("", false),
        ] {
            assert_eq!(asks_for_network(command), asks, "{command:?}");
        }
    }
}
