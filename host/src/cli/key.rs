//! `bashgate key`: the signing key, and how hooks get a new one while they work.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::{say, say_aside};

use super::{Failure, KeyAct, Run, people};
use crate::config::Config;
use crate::control::{ControlCommand, Reply};
use crate::registered;

pub(super) fn run(config: &Config, act: &KeyAct) -> Run {
    let command = match act {
        KeyAct::Show => {
            say!("{}", people::public_key(config)?);
            return Ok(());
        }
        KeyAct::Rotate { revoke } => ControlCommand::KeyRotate { revoke: *revoke },
        KeyAct::Retire => ControlCommand::KeyRetire,
    };
    // One after the other: what holds the old one would get the key of another exchange.
    let _turn = turn(&config.file)
        .map_err(|source| Failure::Refused(format!("cannot lock {}: {source}", config.file.display())))?;
    // Before it changes, so that what holds the old one is known.
    let old = people::public_key(config)?;
    let Reply { ok, text, .. } = people::ask(config, command)?;
    if !ok {
        return Err(Failure::Refused(text));
    }
    say!("{text}");
    let KeyAct::Rotate { revoke } = act else { return Ok(()) };
    let new = people::public_key(config)?;
    let mut failed = Vec::new();
    for file in configurations(config) {
        match exchange(&file, &old, &new) {
            Ok(true) => say!("  {} has it.", file.display()),
            Ok(false) => {}
            Err(error) => failed.push(format!("{}: {error}", file.display())),
        }
    }
    for why in &failed {
        say_aside!("warning: cannot change {why}");
    }
    say!("Where a hook has a hook.toml from elsewhere, put this into it:\n  public_key = \"{new}\"");
    if *revoke {
        say!("Until then it denies everything that it has to ask about.");
    } else {
        say!("Until then the old key counts there, too. When every hook has the new one: bashgate key retire");
    }
    Ok(())
}

/// Waits until no other exchange of keys goes on at this gate; it ends with what is returned.
fn turn(config: &Path) -> std::io::Result<File> {
    let file = File::open(config)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}

/// The hooks' configurations that lie in the gate's folder.
fn configurations(config: &Config) -> Vec<PathBuf> {
    let gate = config.file.parent().unwrap_or(Path::new("/"));
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name == registered::HOOK_CONFIG
            || name.starts_with("hook-") && path.extension().is_some_and(|end| end == "toml")
    };
    let of_agents = entries(&gate.join("agents")).map(|folder| folder.join(registered::HOOK_CONFIG));
    let mut found: Vec<PathBuf> =
        entries(gate).filter(is_ours).chain(of_agents).filter(|path| path.is_file()).collect();
    found.sort();
    found
}

/// Puts one key in another's place, in the file itself: containers have it mounted, and would not see another file of its name.
/// False where the old one is not in it.
fn exchange(file: &Path, old: &str, new: &str) -> std::io::Result<bool> {
    let text = std::fs::read_to_string(file)?;
    let Some(at) = text.find(old).filter(|_| old.len() == new.len()) else { return Ok(false) };
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let opened = OpenOptions::new().write(true).custom_flags(flags).open(file)?;
    // One write of the same length: who reads meanwhile has the one or the other.
    opened.write_all_at(new.as_bytes(), at as u64)?;
    opened.sync_all()?;
    Ok(true)
}
