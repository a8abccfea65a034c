//! The form of a command that runs in the cage: `'/path/bashgate-run' exec --cage -- 'COMMAND'`.
//!
//! The text carries no authority: no permit, no preset. Whoever replays it or types it runs the same command with less.

use std::path::Path;

use crate::classify::Classification;
use crate::programs::{self, Builtin, Program, Trait};
use crate::protocol::RequestId;
use crate::shell::quoted;

/// Where the programs of a run with a way out lie: those of the machine, and none of somebody's own folder.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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
    let quiet = if note == Note::OnFailure { " --quiet" } else { "" };
    form(runner, quiet, config, command)
}

/// The same for a command with a way out: the host gives it to the first who asks with the id of the answer, and this command.
pub fn egress_form(runner: &Path, config: Option<&Path>, answer: &RequestId, command: &str) -> Option<String> {
    form(runner, &format!(" --egress {answer}"), config, command)
}

fn form(runner: &Path, options: &str, config: Option<&Path>, command: &str) -> Option<String> {
    let mut form = format!("{} exec --cage{options}", quoted(runner.to_str()?));
    if let Some(config) = config {
        form.push_str(&format!(" --config {}", quoted(config.to_str()?)));
    }
    form.push_str(&format!(" -- {}", always_quoted(command)));
    (form.len() <= MAX_CAGED_BYTES).then_some(form)
}

/// True for a text that is the caged form of some command and nothing else besides.
pub fn is_form_of(runner: &Path, text: &str) -> bool {
    let Some(runner) = runner.to_str() else { return false };
    let start = format!("{} exec --cage ", quoted(runner));
    let Some((options, command)) = text.strip_prefix(&start).and_then(|rest| rest.split_once("-- ")) else {
        return false;
    };
    let is_id = |id: &str| id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let options = match options.strip_prefix("--egress ").and_then(|rest| rest.split_once(' ')) {
        Some((id, rest)) if is_id(id) => rest,
        Some(_) => return false,
        None => options,
    };
    // A file's name in the options is quoted, and could hold anything.
    let are_options = options.is_empty()
        || options == "--quiet "
        || options.strip_prefix("--config ").or_else(|| options.strip_prefix("--quiet --config ")).is_some_and(
            |file| {
                !file.is_empty() && file.trim_end().bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b))
            },
        );
    let inner = command.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    are_options && inner.is_some_and(|inner| !inner.replace("'\\''", "").contains('\''))
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
    fn a_form_is_known_and_what_only_begins_like_one_is_none() {
        let runner = Path::new("/usr/local/bin/bashgate-run");
        for command in ["it's", "", "a\nb", "'", "-- x"] {
            for (note, config) in [(Note::Always, None), (Note::OnFailure, Some(Path::new("/srv/gate/hook.toml")))] {
                let form = caged_form(runner, config, note, command).unwrap();
                assert!(is_form_of(runner, &form), "{form}");
                for more in [format!("{form}; id"), format!("{form} x"), format!("x={form}"), format!("{form}'a'")] {
                    assert!(!is_form_of(runner, &more), "{more}");
                }
            }
        }
        let id = RequestId::parse("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap();
        for config in [None, Some(Path::new("/srv/gate/hook.toml"))] {
            let form = egress_form(runner, config, &id, "git fetch").unwrap();
            assert!(is_form_of(runner, &form), "{form}");
            assert!(!is_form_of(runner, &form.replace("2f1c7d1e-", "$(id)-aa")), "{form}");
        }
        assert!(!is_form_of(runner, "/usr/local/bin/bashgate-run exec --cage --config $(id) -- 'x'"));
        assert!(!is_form_of(Path::new("/x/bashgate-run"), "/usr/local/bin/bashgate-run exec --cage -- 'x'"));
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
