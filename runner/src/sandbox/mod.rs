//! Sandboxes: what each can enforce, and how a run is put into one.
//!
//! A backend says before the start what it will enforce ([`Guarantee`]); a run that needs more is refused. Inside of
//! every backend but `none`, the innermost process adds Landlock, seccomp and limits (see [`crate::inner`]), so that
//! namespaces and they back each other.

mod bwrap;
pub mod cgroup;
mod firejail;
mod landlock;
mod listed;
mod none;
mod own_tmp;
mod places;
mod real;
mod spawn;
mod temporary;

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

pub use listed::{Listed, NotListed};
pub use own_tmp::{Lent, OwnTmp};
pub use places::{Hidden, PlaceError, Places, Roots, around, is_home, is_project};
pub(crate) use spawn::spawn;
pub use temporary::Temporary;

use crate::inner::{self, Calls, Plan, Reap, Resource};
use crate::presets::Tmp;
use crate::user::RunAs;

/// Something that a sandbox keeps, whatever the command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// No file outside of the write roots is created, changed or removed.
    Writes,
    /// Nor are modes, owners or times of files there.
    FileModes,
    /// Nor are those of the gate's own files, without which the next command would not be asked about.
    GateModes,
    /// Hidden paths are not read.
    Secrets,
    /// The configuration and hooks of the workspace's git repository are not changed.
    GitMetadata,
    /// Nothing is reached over the network.
    Network,
    /// Sockets are internet or unix sockets: no vsock, netlink, packet or algorithm sockets.
    SocketFamilies,
    /// No service is reached through a unix socket with a path.
    UnixSockets,
    /// No service is reached through an abstract unix socket.
    AbstractSockets,
    /// Other processes are not signalled or traced.
    Signals,
    /// Other processes are not seen.
    ProcessList,
    /// When the run is over, none of its processes is left.
    KillTree,
    /// Temporary folders are the run's own.
    PrivateTmp,
    /// No file descriptor is inherited but the standard ones.
    Descriptors,
    /// No privilege is kept or gained.
    Privileges,
    /// The caller's terminal is out of reach.
    Terminal,
    /// Rarely needed, often attacked system calls are refused.
    KernelSurface,
    /// Memory is limited for the whole tree.
    Memory,
    /// Processes are limited for the whole tree.
    Processes,
}

impl Guarantee {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Writes,
        Self::FileModes,
        Self::GateModes,
        Self::Secrets,
        Self::GitMetadata,
        Self::Network,
        Self::SocketFamilies,
        Self::UnixSockets,
        Self::AbstractSockets,
        Self::Signals,
        Self::ProcessList,
        Self::KillTree,
        Self::PrivateTmp,
        Self::Descriptors,
        Self::Privileges,
        Self::Terminal,
        Self::KernelSurface,
        Self::Memory,
        Self::Processes,
    ];

    /// Its name in presets and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writes => "writes",
            Self::FileModes => "file_modes",
            Self::GateModes => "gate_modes",
            Self::Secrets => "secrets",
            Self::GitMetadata => "git_metadata",
            Self::Network => "network",
            Self::SocketFamilies => "socket_families",
            Self::UnixSockets => "unix_sockets",
            Self::AbstractSockets => "abstract_sockets",
            Self::Signals => "signals",
            Self::ProcessList => "process_list",
            Self::KillTree => "kill_tree",
            Self::PrivateTmp => "private_tmp",
            Self::Descriptors => "descriptors",
            Self::Privileges => "privileges",
            Self::Terminal => "terminal",
            Self::KernelSurface => "kernel_surface",
            Self::Memory => "memory",
            Self::Processes => "processes",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A kind of sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendName {
    /// Namespaces by bubblewrap, and all of the next.
    Bwrap,
    /// Landlock and seccomp alone: where user namespaces are refused, as in most containers.
    Landlock,
    /// Namespaces by firejail, a set-user-ID program, and Landlock and seccomp. Never as root.
    Firejail,
    /// Nothing but a supervisor that ends what it started.
    None,
}

impl BackendName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bwrap, Self::Landlock, Self::Firejail, Self::None];

    /// Its name in presets and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::Firejail => "firejail",
            Self::None => "none",
        }
    }

    /// The backend of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

impl fmt::Display for BackendName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a run needs of its sandbox.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that there is for a run, or not")]
pub struct Wanted {
    /// The shell's argv.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// Variables that are to name folders of this run's own, for caches.
    pub caches: Vec<String>,
    /// What may be read and written, checked.
    pub places: Places,
    /// The programs that exist, where not all of the machine's do.
    pub listed: Option<Listed>,
    /// Whose temporary folders.
    pub tmp: Tmp,
    /// What the command names in the machine's.
    pub lent: Lent,
    /// Size of private ones, in MiB.
    pub tmp_mib: u64,
    /// Whether there is internet.
    pub internet: bool,
    /// Whether there is a way out that the host keeps, and nothing else.
    pub way_out: bool,
    /// Whether there are unix sockets with names.
    pub unix: bool,
    /// Limits of each process.
    pub limits: Vec<(Resource, u64)>,
    /// Which guarantees the control groups give.
    pub by_groups: BTreeSet<Guarantee>,
    /// This program, which is also the innermost process.
    pub own: PathBuf,
    /// Nothing of the gate belongs to whoever runs.
    pub gate_is_others: bool,
    /// Files that lie over others, by their real paths, and cannot be written.
    pub scripts: Vec<(String, String)>,
}

/// Why a backend cannot be used for a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{backend}: {why}")]
pub struct Unavailable {
    /// The backend.
    pub backend: BackendName,
    /// Why not.
    pub why: String,
    /// What to do about it.
    pub help: &'static str,
}

/// A sandbox, ready to be started.
#[derive(Debug)]
pub struct Nest {
    /// What is started from outside.
    pub command: Command,
    /// What the innermost process is told.
    pub plan: Plan,
    /// What will hold.
    pub enforces: BTreeSet<Guarantee>,
    /// Its own temporary folders, where they lie in files.
    pub tmp: Option<OwnTmp>,
}

/// What lets bubblewrap make namespaces, where it may not.
pub const NAMESPACES: &str = "install bubblewrap, and let it make namespaces: as root in a container with `--cap-add SYS_ADMIN --security-opt \
     seccomp=unconfined`, as an ordinary user with `--security-opt seccomp=unconfined`, on a machine of your own with \
     `sysctl kernel.unprivileged_userns_clone=1` or `kernel.apparmor_restrict_unprivileged_userns=0`";

/// True where a backend can hold a run to its way out.
pub const fn holds_to_way_out(backend: BackendName) -> bool {
    matches!(backend, BackendName::Bwrap | BackendName::Landlock)
}

/// True where a sandbox of this kind is known to start for a run that asks for nothing.
pub fn works(backend: BackendName) -> bool {
    backend == BackendName::Bwrap && bwrap::works()
}

/// Prepares a run for this backend as this user.
pub fn prepare(backend: BackendName, wanted: &Wanted, run_as: RunAs) -> Result<Nest, Unavailable> {
    if wanted.listed.is_some() && backend != BackendName::Bwrap {
        return Err(Unavailable {
            backend,
            why: "it cannot keep a run to listed programs: the loader that they need would run any other file"
                .to_owned(),
            help: NAMESPACES,
        });
    }
    let mut nest = match backend {
        BackendName::Bwrap => bwrap::prepare(wanted, run_as),
        BackendName::Landlock => landlock::prepare(wanted, run_as),
        BackendName::Firejail => firejail::prepare(wanted, run_as),
        BackendName::None => Ok(none::prepare(wanted)),
    }?;
    nest.command.env_clear();
    run_as.apply(&mut nest.command);
    Ok(nest)
}

/// What a backend enforces for such a run on this kernel, without starting it.
pub fn enforces(backend: BackendName, wanted: &Wanted) -> BTreeSet<Guarantee> {
    let version = inner::landlock::version();
    let mut set: BTreeSet<Guarantee> = match backend {
        BackendName::Bwrap => bwrap::enforces(wanted),
        BackendName::Landlock => landlock::enforces(wanted, version),
        BackendName::Firejail => firejail::enforces(wanted, version),
        BackendName::None => none::enforces(),
    };
    set.extend(&wanted.by_groups);
    set
}

/// The variables for caches, with folders below this one, which tools make when they need them.
fn caches_in(folder: &str, wanted: &Wanted) -> impl Iterator<Item = (String, String)> {
    wanted.caches.iter().map(move |name| (name.clone(), format!("{folder}/.caches/{name}")))
}

/// What the innermost process is told in every backend that filters.
fn plan(wanted: &Wanted, reap: Reap, unix: bool) -> Plan {
    Plan {
        argv: wanted.argv.clone(),
        env: wanted.env.clone(),
        cwd: wanted.places.cwd.clone(),
        reap,
        limits: wanted.limits.clone(),
        files: None,
        calls: Some(Calls {
            internet: wanted.internet || wanted.way_out,
            unix,
            only_way_out: wanted.way_out,
            own_network: false,
            ipc: reap == Reap::Namespace,
            nameless_files: true,
        }),
        drop_privileges: true,
        expect: Vec::new(),
        outer: None,
        mounts: Vec::new(),
        way_out: wanted.way_out,
        no_exec: Vec::new(),
    }
}

/// This program as the innermost process, started directly.
fn inner_command(wanted: &Wanted) -> Command {
    let mut command = Command::new(&wanted.own);
    // Whoever kills this program with its whole group must leave somebody to end what it has started.
    command.arg(inner::ARGUMENT).process_group(0);
    command
}
