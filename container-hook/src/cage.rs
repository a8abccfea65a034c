//! Which commands can run in the cage instead: a sandbox without network, see `bashgate-run exec --cage`.

use std::path::Path;

use bashgate_shared::cage;
use bashgate_shared::classify::Classification;
use bashgate_shared::command::CommandLine;

use crate::config::{self, Config, OnAllow};
use crate::event::Abilities;

/// The command's form for the cage, if this agent, this configuration and the command allow for it.
///
/// Rewriting is an approval, so it needs `on_allow = "approve"`; and a runner that is there.
pub fn form_of(command: &CommandLine, found: &Classification, config: &Config, abilities: Abilities) -> Option<String> {
    let wanted =
        abilities.rewrites && config.on_allow == OnAllow::Approve && cage::has_its_point_inside(found, command.text());
    let runner = config.cage_runner.as_ref().filter(|_| wanted)?;
    is_program(runner).then_some(())?;
    let config = Some(config.file.as_path()).filter(|file| *file != Path::new(config::DEFAULT));
    cage::caged_form(runner, config, command.text())
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
