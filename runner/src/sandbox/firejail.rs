//! Firejail in a hardened form: a degraded alternative where bubblewrap cannot be had. It is a set-user-ID program
//! with a history of its own; as root it keeps all capabilities, so it is never used as root.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use bashgate_shared::classify::paths;

use super::{BackendName, Guarantee, Nest, Unavailable, Wanted, landlock};
use crate::inner::{self, Outer, Reap};
use crate::user::RunAs;

const PROGRAM: &str = "/usr/bin/firejail";

pub(super) fn enforces(wanted: &Wanted, version: u32) -> BTreeSet<Guarantee> {
    // Its mounts make the rest read-only, so modes and owners hold too; processes have a namespace of their own.
    let mut set = landlock::enforces(wanted, version);
    set.extend([Guarantee::FileModes, Guarantee::GateModes, Guarantee::ProcessList]);
    set
}

pub(super) fn prepare(wanted: &Wanted, run_as: RunAs) -> Result<Nest, Unavailable> {
    let unavailable = |why: &str, help| Unavailable { backend: BackendName::Firejail, why: why.to_owned(), help };
    if !Path::new(PROGRAM).exists() {
        return Err(unavailable("firejail is not installed", "install bubblewrap instead: apt-get install bubblewrap"));
    }
    if run_as.is_root() {
        return Err(unavailable(
            "firejail as root keeps every capability",
            "run as an ordinary user, or install bubblewrap",
        ));
    }
    let mut command = Command::new(PROGRAM);
    command.args([
        "--quiet",
        "--noprofile",
        "--caps.drop=all",
        "--nonewprivs",
        "--noroot",
        "--seccomp",
        "--private-dev",
        "--deterministic-exit-code",
        "--deterministic-shutdown",
        "--read-only=/",
    ]);
    if !wanted.internet {
        command.arg("--net=none");
    }
    for (root, ..) in &wanted.places.write {
        command.arg(format!("--read-write={root}"));
    }
    for hidden in &wanted.places.hide {
        let is_shown = |path: &str| wanted.places.read.iter().any(|read| paths::is_within(read, path));
        if !is_shown(hidden) {
            command.arg(format!("--blacklist={hidden}"));
            continue;
        }
        // It takes away whole folders, so that what is to be seen must be gone around.
        for entry in std::fs::read_dir(hidden).into_iter().flatten().flatten() {
            let path = entry.path();
            if let Some(path) = path.to_str().filter(|path| !is_shown(path)) {
                command.arg(format!("--blacklist={path}"));
            }
        }
    }
    for path in &wanted.places.protect {
        command.arg(format!("--read-only={path}"));
    }
    let mut plan = super::plan(wanted, Reap::Descendants, false);
    let tmp = landlock::files(wanted, run_as, &mut plan)
        .map_err(|why| unavailable(&why, "work in a folder that holds no secrets of its own"))?;
    // Its own temporary folder is one for all and would hide what lies in the machine's.
    let written = plan.files.iter().flat_map(|files| &files.write);
    for folder in written.filter(|folder| paths::TEMPORARY.iter().any(|over| folder.starts_with(over))) {
        command.arg(format!("--read-write={folder}"));
    }
    command.arg("--").arg(&wanted.own).arg(inner::ARGUMENT);
    plan.outer = Some(Outer { no_network: !wanted.internet });
    Ok(Nest { command, plan, enforces: super::enforces(BackendName::Firejail, wanted), tmp })
}
