//! Firejail in a hardened form: a degraded alternative where bubblewrap cannot be had. It is a set-user-ID program
//! with a history of its own; as root it keeps all capabilities, so it is never used as root.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

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
        command.arg(format!("--blacklist={hidden}"));
    }
    for path in &wanted.places.protect {
        command.arg(format!("--read-only={path}"));
    }
    let mut plan = super::plan(wanted, Reap::Descendants, false);
    let mut keep = Vec::new();
    let files = landlock::files(wanted, run_as, &mut plan, &mut keep)
        .map_err(|why| unavailable(&why, "work in a folder that holds no secrets of its own"))?;
    // Its own temporary folder is one for all and would hide what lies in the machine's.
    for folder in files.write.iter().filter(|folder| folder.starts_with("/tmp") || folder.starts_with("/var/tmp")) {
        command.arg(format!("--read-write={folder}"));
    }
    command.arg("--").arg(&wanted.own).arg(inner::ARGUMENT);
    plan.files = Some(files);
    plan.expect = wanted.places.expected();
    plan.outer = Some(Outer { no_network: !wanted.internet });
    Ok(Nest { command, plan, enforces: super::enforces(BackendName::Firejail, wanted), keep })
}
