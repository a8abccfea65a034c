//! `bashgate init`: everything for one workspace, ready to run.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::{say, say_aside};

use super::{Failure, Run};
use crate::config::{Config, ConfigError, EXAMPLE};
use crate::daemon;
use crate::registered;
use crate::state::Folder;

/// The hook's configuration for a workspace, with every key explained.
pub(super) fn hook_toml(workspace: &WorkspaceName, public_key: &str) -> String {
    format!(
        "\
# hook.toml: the configuration of bashgate-hook in the agent's container. Mount it read-only.

# This container's workspace.
workspace = \"{workspace}\"

# The folder with `requests` and `responses`. A relative path is relative to this file's folder.
mailbox = \"mailbox/{workspace}\"

# The host's public key: only answers signed with the other half count.
public_key = \"{public_key}\"

# The shell that runs the agent's commands. Anything but bash makes local verdicts rarer.
shell = \"bash\"

# Whether that shell reads start-up files, or a snapshot of them, before each command: an alias in ~/.bashrc could take the
# place of `ls`. \"auto\" means that Claude Code does; \"always\" and \"never\" say it for any agent. Files in the home folder
# are fine when they are empty, as Debian ships them, or when their digest (sha256sum FILE) stands in the list; otherwise
# the host is asked.
startup_files = \"auto\"
trusted_startup = []

# What happens when no host answers: \"deny\", or \"allow\" to let commands run unchecked.
when_host_silent = \"deny\"

# What is said when there is no objection: \"silent\" leaves the agent's own permission rules in force, \"approve\" spares
# people its prompts.
on_allow = \"silent\"

# The cage, a sandbox without network (`bashgate-run exec --cage`), for agents that replace a command by the one they are
# given (Claude Code, Codex). It needs `on_allow = \"approve\"`. With `true`, commands that are let through run in it, too,
# so that a mistake in letting them through fails closed. Which questions it replaces, the host's bashgate.toml says.
cage_safe = false
# The program that cages, if it does not lie beside the hook.
# cage_runner = \"/usr/local/bin/bashgate-run\"
# The folder with the socket of the host's way out, where that is not the usual one (`[egress]` in the host's bashgate.toml).
# egress = \"/run/bashgate/egress\"

# Longest wait for an answer, in seconds. The agent's own timeout for hooks must be longer (330).
deadline_s = 300

[git_guard]
# Denies git subcommands however they are spelled.
enabled = false
deny = [\"push\", \"pull\", \"rebase\"]
reason = \"git push, pull and rebase are not for the agent here; commit, and ask a person to publish\"

# Checks of your own, as many as you want, in their order: programs that are asked behind bashgate's own answer and can only
# deny (docs/agents.md says how they answer). Only root may be able to write the program and the folders that it lies in.
# [[plugin]]
# program = \"/etc/bashgate/plugins/no-friday-deploys\"
# tools = [\"Bash\"]     # all of them, if it is left out
# timeout_ms = 2000
"
    )
}

/// What was made.
pub(super) struct Made {
    pub(super) host: PathBuf,
    pub(super) hook: PathBuf,
    pub(super) mailbox: PathBuf,
}

/// Makes the files and folders of a workspace `default` below a folder.
pub(super) fn make(dir: &Path, host_toml: &str) -> Result<Made, Failure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| {
            Failure::failed(format!("cannot make {}: {error}", path.display()), "choose a folder of your own")
        }
    };
    std::fs::create_dir_all(dir).map_err(failed(dir))?;
    let dir = dir.canonicalize().map_err(failed(dir))?;
    let (host, hook) = (dir.join("bashgate.toml"), dir.join("hook.toml"));
    if let Some(there) = [&host, &hook].into_iter().find(|path| path.exists()) {
        return Err(Failure::Refused(format!("{} is there already and is not overwritten", there.display())));
    }
    let folder = Folder::open(&dir.join("state")).map_err(|error| Failure::of(&error, error.help()))?;
    let key = folder.key().map_err(|error| Failure::of(&error, error.help()))?;
    let mailboxes = dir.join("mailbox");
    if !mailboxes.exists() {
        DirBuilder::new().mode(0o700).create(&mailboxes).map_err(failed(&mailboxes))?;
    }
    let Some(workspace) = WorkspaceName::parse("default") else { return Err(Failure::failed("no name", "")) };
    let mailbox = mailboxes.join(workspace.as_str());
    daemon::make_mailbox(&mailbox).map_err(failed(&mailbox))?;
    for (path, text) in [(&host, host_toml), (&hook, &hook_toml(&workspace, &key.public().to_string()))] {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path).map_err(failed(path))?;
        file.write_all(text.as_bytes()).map_err(failed(path))?;
    }
    Ok(Made { host, hook, mailbox })
}

/// The example with the workspace `default` switched on.
pub(super) fn host_toml() -> String {
    format!("{EXAMPLE}\n[workspaces.default]\n")
}

pub(super) fn run(dir: &Path) -> Run {
    let made = make(dir, &host_toml())?;
    let (host, hook) = (made.host.display(), made.hook.display());
    say!("Made {host}, {hook}, the signing key and the mailbox of workspace default.");
    let is_found = match made.host.parent().map(registered::register) {
        Some(Ok(())) => true,
        Some(Err(error)) => {
            say_aside!("warning: other commands will not find it by themselves ({error}); give them --config {host}");
            false
        }
        None => false,
    };
    // The machine's configuration, or the person's own, counts before it.
    let config = match Config::place() {
        Ok(place) if is_found && place == made.host => String::new(),
        _ => format!(" --config {host}"),
    };
    if config.is_empty() {
        say!(
            "Every `bashgate` command of yours uses it from now on (`bashgate config use DIR` chooses another one).\n"
        );
    } else {
        say!("Other commands use it with --config {host}.\n");
    }
    say!("1. Start the host:\n     bashgate serve{config}\n");
    say!("2. Try it from another terminal on this machine:");
    say!("     bashgate-hook --config {hook} check -- 'curl https://example.com'\n");
    say!(
        "3. Put it in front of an agent: `bashgate up claude` does it all, in a container of its own. Into a container that you"
    );
    say!("   have already, mount these, and run `bashgate-hook install --agent claude` in it (docs/agents.md):");
    say!("  -v {hook}:/etc/bashgate/hook.toml:ro");
    say!("  -v /usr/local/bin/bashgate-hook:/usr/local/bin/bashgate-hook:ro");
    say!("{}", daemon::mounts(&made.mailbox));
    Ok(())
}

/// Makes a gate that is there already the one that commands find.
pub(super) fn choose(dir: &Path) -> Run {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("cannot use {}: {error}", dir.display()), "name a folder that `bashgate init` has made")
    };
    let gate = dir.canonicalize().map_err(failed)?;
    let config = gate.join(registered::CONFIG);
    Config::load(&config)?;
    for path in [&gate, &config] {
        registered::is_trusted(path).map_err(ConfigError::from)?;
    }
    registered::register(&gate).map_err(failed)?;
    match Config::place()? {
        place if place == config => say!("`bashgate` commands use {} from now on.", config.display()),
        place => say_aside!("{} counts before it; give commands --config {}", place.display(), config.display()),
    }
    Ok(())
}
