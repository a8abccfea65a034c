//! What people do: answers, taints, workspaces. The running host does it; without one, this process does.

use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::{say, say_aside};
use serde_json::Value;

use super::top::Source;
use super::{Codes, Failure, Run, Scripts, Taint, Workspace, init};
use crate::chat::tones;
use crate::config::Config;
use crate::control::{self, ControlCommand, Reply};
use crate::daemon::{self, Core};
use crate::inspector::Panel;
use crate::registered;
use crate::state::{self, Folder};

/// Asks the running host.
pub(super) fn ask_running(config: &Config, command: &ControlCommand) -> Result<Option<Reply>, Failure> {
    let socket = state::socket(&config.state);
    control::ask(&socket, command).map_err(|error| {
        Failure::failed(
            format!("cannot talk to the host at {}: {error}", socket.display()),
            "run this as the user who runs `bashgate serve`",
        )
    })
}

/// Asks the running host, or opens its state here when none is running.
pub(super) fn ask(config: &Config, command: ControlCommand) -> Result<Reply, Failure> {
    if let Some(reply) = ask_running(config, &command)? {
        return Ok(reply);
    }
    let folder = Folder::open(&config.state).map_err(|error| Failure::of(&error, error.help()))?;
    let folder = std::sync::Arc::new(folder);
    let (events, _queue) = tokio::sync::mpsc::unbounded_channel();
    let mut core = Core::open(config.clone(), &folder, Panel::new(None), events)
        .map_err(|error| Failure::of(&error, error.help()))?;
    Ok(core.control(command, &control::user_name(rustix::process::getuid().as_raw())).reply())
}

/// The public key of a host, which its state folder has, or gets now.
pub(super) fn public_key(config: &Config) -> Result<String, Failure> {
    let key = state::key_in(&config.state).map_err(|error| Failure::of(&error, error.help()))?;
    Ok(key.public().to_string())
}

fn show_reply(reply: Reply, json: bool) -> Run {
    if !reply.ok {
        return Err(Failure::Refused(reply.text));
    }
    if json {
        say!("{}", reply.data);
    } else {
        // A terminal would break lines where what follows looks like a line of ours.
        say!("{}", tones::for_stream(reply.text, std::io::stdout().is_terminal()));
    }
    Ok(())
}

/// A link to the page of a host or a desk, or the end of all its sessions, by the command of this name.
pub fn page(of: &impl Source, (lock, json): (bool, bool), named: &str) -> Run {
    show_reply(of.ask(if lock { &ControlCommand::PageLock } else { &ControlCommand::PageLink })?, json)?;
    if !lock && !json {
        say_aside!("Open it on this machine. It works once, within five minutes; `{named} --lock` ends all sessions.");
    }
    Ok(())
}

pub(super) fn needs_host(config: &Config, command: &ControlCommand, json: bool) -> Run {
    match ask_running(config, command)? {
        Some(reply) => show_reply(reply, json),
        None => Err(no_host(config)),
    }
}

pub(super) fn no_host(config: &Config) -> Failure {
    Failure::failed(
        format!("no host is running on {}", config.state.display()),
        "start it with `bashgate serve`; without it nothing is held, and hooks deny",
    )
}

pub(super) fn pending(config: &Config, denied: bool, json: bool) -> Run {
    match ask_running(config, &ControlCommand::Pending { denied, is_glance: false })? {
        Some(reply) => show_reply(reply, json),
        None if json => show_reply(Reply::done("", Value::Array(Vec::new())), json),
        None => needs_host(config, &ControlCommand::Pending { denied, is_glance: false }, json),
    }
}

pub(super) fn show(config: &Config, id: &str, json: bool) -> Run {
    needs_host(config, &ControlCommand::Show { id: id.to_owned() }, json)
}

pub(super) fn say(config: &Config, words: &str) -> Run {
    needs_host(config, &ControlCommand::say(words.trim()), false)
}

/// A question about how things stand.
pub(super) fn standing(config: &Config, words: &str, json: bool) -> Run {
    needs_host(config, &ControlCommand::say(words), json)
}

pub(super) fn codes(config: &Config, act: Codes) -> Run {
    let (command, json) = match act {
        Codes::New { account, json } => (ControlCommand::CodesNew { account }, json),
        Codes::List { json } => (ControlCommand::CodesList, json),
        Codes::Remove { account } => (ControlCommand::CodesRemove { account }, false),
    };
    show_reply(ask(config, command)?, json)
}

pub(super) fn scripts(config: &Config, act: Scripts) -> Run {
    let (command, json) = match act {
        Scripts::List { workspace, json } => (ControlCommand::ScriptList { workspace }, json),
        Scripts::Revoke { workspace, sha256 } => (ControlCommand::ScriptRevoke { workspace, sha256 }, false),
    };
    show_reply(ask(config, command)?, json)
}

pub(super) fn taint(config: &Config, act: Taint) -> Run {
    let (command, json) = match act {
        Taint::Show { workspace, json } => (ControlCommand::TaintShow { workspace }, json),
        Taint::Raise { workspace, label, why } => (ControlCommand::TaintRaise { workspace, label, why }, false),
        Taint::Clear { workspace } => (ControlCommand::TaintClear { workspace }, false),
    };
    show_reply(ask(config, command)?, json)
}

pub(super) fn workspace(config: &Config, act: Workspace) -> Run {
    let (command, json) = match act {
        Workspace::Pause { name, minutes } => return say(config, &format!("pause {name} {minutes}")),
        Workspace::Resume { name } => return say(config, &format!("resume {name}")),
        Workspace::Mute { name } => return say(config, &format!("mute {name}")),
        Workspace::Unmute { name } => return say(config, &format!("unmute {name}")),
        Workspace::BreakGlass { name, minutes, why } => {
            return needs_host(config, &ControlCommand::BreakGlass { workspace: name, minutes, why }, false);
        }
        Workspace::Add { name } => (ControlCommand::WorkspaceAdd { workspace: name }, false),
        Workspace::List { json } => (ControlCommand::WorkspaceList, json),
        Workspace::Renew { name } => (ControlCommand::WorkspaceRenew { workspace: name }, false),
        Workspace::Remove { name } => (ControlCommand::WorkspaceRemove { workspace: name }, false),
    };
    let added = if let ControlCommand::WorkspaceAdd { workspace } = &command { Some(workspace.clone()) } else { None };
    show_reply(ask(config, command)?, json)?;
    match added.as_deref().and_then(WorkspaceName::parse) {
        Some(name) => tell_mounts(config, &name),
        None => Ok(()),
    }
}

/// Writes the hook's configuration of a workspace, where there is none, and prints what its container needs.
fn tell_mounts(config: &Config, name: &WorkspaceName) -> Run {
    let folder = config.file.parent().unwrap_or(Path::new("/"));
    let named = folder.join(format!("hook-{name}.toml"));
    let file = if name.as_str() == "default" { folder.join(registered::HOOK_CONFIG) } else { named };
    let text = init::hook_toml(name, &public_key(config)?);
    match OpenOptions::new().write(true).create_new(true).mode(0o644).open(&file) {
        Ok(mut made) => made
            .write_all(text.as_bytes())
            .map_err(|error| Failure::failed(format!("cannot write {}: {error}", file.display()), "check the disk"))?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        // The mailbox is there; where the configuration lies may be root's.
        Err(error) => {
            say_aside!("warning: cannot write {} ({error}); make it from another workspace's", file.display());
            return Ok(());
        }
    }
    let bin = std::env::current_exe().ok().and_then(|own| own.parent().map(Path::to_owned)).unwrap_or_default();
    say!("Its container needs:");
    say!("  -v {}:/etc/bashgate/hook.toml:ro", file.display());
    for program in ["bashgate-hook", "bashgate-run"] {
        say!("  -v {}:/usr/local/bin/{program}:ro", bin.join(program).display());
    }
    say!("{}", daemon::mounts(&config.mailboxes.join(name.as_str())));
    Ok(())
}
