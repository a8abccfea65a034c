//! Which commands can run in the cage instead: a sandbox without network, see `bashgate-run exec --cage`.

use std::path::Path;

use bashgate_shared::cage::{self, Note};
use bashgate_shared::classify::Classification;
use bashgate_shared::command::CommandLine;

use super::Question;
use super::conditions::{self, ShellSetup};
use super::config::{self, Config, OnAllow};

/// The command's form for the cage, if this agent, this configuration and the command allow for it.
///
/// Rewriting is an approval, so it needs `on_allow = "approve"`. The agent's own shell reads the form before anything of
/// ours does: where that shell may take our program's name for something else, there is no form. And the call needs an id,
/// so that the agent's word on what ran can be held against it.
pub fn form_of(
    question: &Question<'_>,
    command: &CommandLine,
    found: &Classification,
    config: &Config,
    setup: ShellSetup<'_>,
    note: Note,
) -> Option<String> {
    let wanted = question.rewrites
        && config.on_allow == OnAllow::Approve
        && question.tool_use_id.as_ref().is_some_and(|id| !id.is_empty())
        && cage::has_its_point_inside(found, command.text());
    let runner = config.cage_runner.as_ref().filter(|_| wanted)?;
    (is_program(runner) && conditions::paths_mean_themselves(setup)).then_some(())?;
    cage::caged_form(runner, named(config), note, command.text())
}

/// The configuration's file, where the runner has to be told which one it is.
pub(super) fn named(config: &Config) -> Option<&Path> {
    Some(config.file.as_path()).filter(|file| *file != Path::new(config::DEFAULT))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
