//! The innermost process of a sandbox: it starts the shell under the kernel's limits, ends what must end, and reports.
//!
//! It is this very binary, started as PID 1 of a process namespace where there is one, else as the reaper of its
//! descendants. Its standard input is a socket to the runner: a [`Plan`] comes in first, then single orders; reports
//! go out. When the runner is gone, so is everything here. It takes nothing from its environment or arguments.

mod filters;
pub mod kernel;
pub mod landlock;
mod sockets;
mod supervise;
mod tree;

use serde::{Deserialize, Serialize};

pub use supervise::main;

/// The argument with which the runner starts itself as the innermost process.
pub const ARGUMENT: &str = "inner";
/// Longest plan, in bytes.
pub const MAX_PLAN_BYTES: usize = 16 * 1024 * 1024;
/// Order: TERM to all.
pub const TERM: u8 = b'T';
/// Order: KILL to all.
pub const KILL: u8 = b'K';

/// What to start, and under which limits.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The shell's argv, the program as an absolute path.
    pub argv: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: String,
    /// How descendants are found.
    pub reap: Reap,
    /// Resource limits of each process.
    pub limits: Vec<(Resource, u64)>,
    /// What may be opened; `None` for no such limit.
    pub files: Option<landlock::Files>,
    /// What may be called; `None` for no such limit.
    pub calls: Option<Calls>,
    /// True to give up all privileges even as root.
    pub drop_privileges: bool,
    /// What must lie at a path before anything starts.
    pub expect: Vec<Expected>,
    /// What must be mounted where, as the sandbox was told to.
    pub mounts: Vec<Mounted>,
    /// What an outer sandbox says that it keeps, and must be seen to keep before anything starts.
    pub outer: Option<Outer>,
    /// It has a way out: a port of loopback is made here, in the run's network, whose other end is sent to the runner, and the command is
    /// told of it.
    pub way_out: bool,
    /// Mounts below which nothing is executed. Needs the right to mount, which is given up afterwards.
    pub no_exec: Vec<String>,
}

/// How the innermost process knows its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reap {
    /// It is PID 1: all processes that it sees are its descendants.
    Namespace,
    /// It adopts orphans, and looks for its descendants in `/proc`.
    Descendants,
}

/// A limit of each process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resource {
    /// Processes of the user.
    Processes,
    /// Bytes of writable memory.
    Data,
    /// Bytes of a file.
    FileSize,
    /// Seconds of processor time.
    Cpu,
}

/// Which system calls are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for calls that are refused or not")]
pub struct Calls {
    /// Internet sockets.
    pub internet: bool,
    /// Unix sockets that connect to those of the run itself.
    pub unix: bool,
    /// Internet sockets connect to the way out alone, in a network that others have as well.
    pub only_way_out: bool,
    /// The network namespace is the run's own.
    pub own_network: bool,
    /// Shared memory, semaphores and message queues of System V, and POSIX message queues: true where they are the
    /// run's own.
    pub ipc: bool,
    /// Files without a name, which are on no mount and could be executed.
    pub nameless_files: bool,
}

/// What an outer sandbox must have done. One that runs inside of another sandbox may do nothing, and not say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outer {
    /// There is no network but the loopback.
    pub no_network: bool,
}

/// A file or folder that must be the one that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Its path, as seen inside.
    pub path: String,
    /// Its device.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
}

/// A mount that the sandbox was told to make. It follows links when it mounts, also such as somebody has put there since its
/// places were checked.
#[derive(Debug, Serialize, Deserialize)]
pub struct Mounted {
    /// The place, as a real path.
    pub path: String,
    /// Device and inode of what must lie there; `None` for a cover, which shows nothing.
    pub shows: Option<(u64, u64)>,
}

/// What the innermost process says, one JSON object a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// Nothing was started, for this reason.
    Failed(String),
    /// The shell is running.
    Started,
    /// The shell has ended, and nothing is left.
    Ended(Ended),
}

/// How the shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code, or
    pub code: Option<i32>,
    /// the signal that ended it.
    pub signal: Option<i32>,
    /// Processes that it left behind and that were killed.
    pub leftovers: u32,
    /// Processes that could not be killed.
    pub survivors: u32,
}
