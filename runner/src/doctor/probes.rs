//! The probes inside of a sandbox: each tries for real what a guarantee rules out, and says whether it could.
//!
//! They are part of this program, so that nothing else need be installed; the doctor copies it into the workspace.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use bashgate_shared::say;
use rustix::net::{AddressFamily, SocketType, socket};
use serde::{Deserialize, Serialize};

use crate::inner::kernel;
use crate::sandbox::Guarantee;

/// The argument with which the doctor starts this program inside.
pub const ARGUMENT: &str = "probe";

/// Where the targets are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Targets {
    pub outside: PathBuf,
    pub secret: PathBuf,
    pub port: u16,
    pub abstract_name: String,
    pub socket: PathBuf,
    pub victim: u32,
    pub mark: String,
    pub in_tmp: PathBuf,
    /// The doctor's own terminal, if it has one.
    pub terminal: Option<PathBuf>,
}

/// What a probe found: nothing could be done, or this could.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub guarantee: Guarantee,
    pub broken: Option<String>,
}

/// Runs as a probe.
pub fn main(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("all"), Some(targets)) => match serde_json::from_str::<Targets>(&targets) {
            Ok(targets) => all(&targets),
            Err(_) => ExitCode::FAILURE,
        },
        // A process that stays, under a name that can be found.
        (Some("linger"), Some(_)) => {
            std::thread::sleep(Duration::from_mins(1));
            ExitCode::SUCCESS
        }
        (Some("eat"), Some(mib)) => eat(mib.parse().unwrap_or(0)),
        (Some("hold"), Some(mib)) => hold(mib.parse().unwrap_or(0)),
        (Some("fork"), Some(count)) => fork(count.parse().unwrap_or(0)),
        _ => ExitCode::FAILURE,
    }
}

fn all(targets: &Targets) -> ExitCode {
    // Signals last: they end the process that others look for.
    let order = Guarantee::ALL.into_iter().filter(|guarantee| *guarantee != Guarantee::Signals);
    for guarantee in order.chain([Guarantee::Signals]) {
        if !IN_RUNS_OF_THEIR_OWN.contains(&guarantee) {
            let found = Found { guarantee, broken: probe(guarantee, targets) };
            say!("{}", serde_json::to_string(&found).unwrap_or_default());
        }
    }
    ExitCode::SUCCESS
}

/// Guarantees about a whole tree, which the doctor tries one by one.
const IN_RUNS_OF_THEIR_OWN: [Guarantee; 3] = [Guarantee::KillTree, Guarantee::Memory, Guarantee::Processes];

/// What could be done that the guarantee rules out.
fn probe(guarantee: Guarantee, targets: &Targets) -> Option<String> {
    match guarantee {
        Guarantee::Writes => writes(&targets.outside),
        Guarantee::FileModes => {
            let done = fs::set_permissions(targets.outside.join("modes"), fs::Permissions::from_mode(0o606));
            done.is_ok().then(|| "changed a mode".to_owned())
        }
        Guarantee::GateModes => {
            let done = fs::set_permissions(&targets.secret, fs::Permissions::from_mode(0o606));
            done.is_ok().then(|| "changed the mode of a file of the gate".to_owned())
        }
        Guarantee::Secrets => fs::read(&targets.secret).is_ok().then(|| "read a hidden file".to_owned()),
        Guarantee::GitMetadata => git_metadata(),
        Guarantee::Network => {
            let there = SocketAddr::from(([127, 0, 0, 1], targets.port));
            let connected = TcpStream::connect_timeout(&there, Duration::from_secs(1));
            connected.is_ok().then(|| format!("connected to {there}"))
        }
        Guarantee::SocketFamilies => socket_families(),
        Guarantee::UnixSockets => {
            let connected = UnixStream::connect(&targets.socket);
            connected.is_ok().then(|| format!("connected to {}", targets.socket.display()))
        }
        Guarantee::AbstractSockets => {
            let name = UnixAddr::from_abstract_name(&targets.abstract_name);
            let connected = name.and_then(|name| UnixStream::connect_addr(&name));
            connected.is_ok().then(|| "connected to an abstract socket".to_owned())
        }
        Guarantee::Signals => {
            // The doctor looks whether it is still alive: its number may belong to somebody else here.
            if targets.victim > 64
                && let Some(victim) = i32::try_from(targets.victim).ok().and_then(rustix::process::Pid::from_raw)
            {
                let _ = rustix::process::kill_process(victim, rustix::process::Signal::KILL);
            }
            None
        }
        Guarantee::ProcessList => {
            let line = fs::read(format!("/proc/{}/cmdline", targets.victim)).unwrap_or_default();
            let sees = String::from_utf8_lossy(&line).contains(&targets.mark);
            sees.then(|| "saw a process of somebody else".to_owned())
        }
        Guarantee::PrivateTmp => targets.in_tmp.exists().then(|| "saw the machine's /tmp".to_owned()),
        Guarantee::Descriptors => descriptors(),
        Guarantee::Privileges => privileges(),
        Guarantee::Terminal => {
            let open = |path: &Path| OpenOptions::new().read(true).write(true).open(path).is_ok();
            let mut terminals = [Path::new("/dev/tty")].into_iter().chain(targets.terminal.as_deref());
            terminals.any(open).then(|| "opened the terminal".to_owned())
        }
        Guarantee::KernelSurface => {
            let reached: Vec<&str> = kernel::try_refused_calls()
                .into_iter()
                .filter(|(_, error)| ![libc::EPERM, libc::ENOSYS].contains(error))
                .map(|(name, _)| name)
                .collect();
            (!reached.is_empty()).then(|| format!("reached {}", reached.join(", ")))
        }
        Guarantee::KillTree | Guarantee::Memory | Guarantee::Processes => None,
    }
}

fn writes(outside: &Path) -> Option<String> {
    let victim = outside.join("victim");
    let attempts = [
        ("wrote to a file", OpenOptions::new().append(true).open(&victim).is_ok()),
        (
            "truncated a file",
            rustix::fs::open(
                &victim,
                rustix::fs::OFlags::TRUNC | rustix::fs::OFlags::RDONLY,
                rustix::fs::Mode::empty(),
            )
            .is_ok(),
        ),
        ("made a file", fs::File::create(outside.join("new")).is_ok()),
        ("made a folder", fs::create_dir(outside.join("folder")).is_ok()),
        ("made a link", std::os::unix::fs::symlink("x", outside.join("link")).is_ok()),
        ("made a hard link", fs::hard_link(&victim, outside.join("other")).is_ok()),
        ("moved a file", fs::rename(&victim, outside.join("moved")).is_ok()),
        ("removed a file", fs::remove_file(&victim).is_ok()),
    ];
    let could: Vec<&str> = attempts.into_iter().filter(|(_, done)| *done).map(|(name, _)| name).collect();
    (!could.is_empty()).then(|| could.join(", "))
}

fn git_metadata() -> Option<String> {
    let attempts = [
        ("changed .git/config", OpenOptions::new().append(true).open(".git/config").is_ok()),
        ("made a hook", fs::write(".git/hooks/pre-commit", "#!/bin/sh\n").is_ok()),
        ("made .git/commondir", fs::write(".git/commondir", "..\n").is_ok()),
        ("moved .git", fs::rename(".git", "moved").is_ok()),
    ];
    let could: Vec<&str> = attempts.into_iter().filter(|(_, done)| *done).map(|(name, _)| name).collect();
    (!could.is_empty()).then(|| could.join(", "))
}

fn socket_families() -> Option<String> {
    let families: [(&str, i32, SocketType); 4] = [
        ("vsock", libc::AF_VSOCK, SocketType::STREAM),
        ("netlink", libc::AF_NETLINK, SocketType::RAW),
        ("packet", libc::AF_PACKET, SocketType::RAW),
        ("algorithm", libc::AF_ALG, SocketType::SEQPACKET),
    ];
    let made: Vec<&str> = families
        .into_iter()
        .filter(|(_, family, kind)| {
            u16::try_from(*family).is_ok_and(|family| socket(AddressFamily::from_raw(family), *kind, None).is_ok())
        })
        .map(|(name, ..)| name)
        .collect();
    (!made.is_empty()).then(|| format!("made sockets: {}", made.join(", ")))
}

fn descriptors() -> Option<String> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Some("cannot look".to_owned()) };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    // Besides the three, only the folder that is being read.
    let open: Vec<String> = links.map(|link| link.display().to_string()).filter(|link| link.starts_with('/')).collect();
    let foreign: Vec<String> =
        open.into_iter().filter(|link| !link.starts_with("/proc/") && link != "/dev/null").collect();
    (!foreign.is_empty()).then(|| format!("inherited {}", foreign.join(", ")))
}

fn privileges() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|rest| rest.trim_start_matches(':').trim().to_owned())
    };
    if value("NoNewPrivs").as_deref() != Some("1") {
        return Some("can gain privileges".to_owned());
    }
    if let Some(kept) = ["CapEff", "CapPrm", "CapInh", "CapAmb"]
        .into_iter()
        .find(|name| value(name).is_none_or(|set| set.bytes().any(|b| b != b'0')))
    {
        return Some(format!("{kept} is not empty"));
    }
    let kernel = OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern");
    kernel.is_ok().then(|| "opened a setting of the kernel for writing".to_owned())
}

/// Two processes that together use so many MiB at the same time, each half.
fn eat(mib: usize) -> ExitCode {
    let own = std::env::current_exe().unwrap_or_default();
    let other = Command::new(&own).args([ARGUMENT, "hold", &(mib / 2).to_string()]).spawn();
    let held = hold(mib / 2) == ExitCode::SUCCESS;
    let fine = other.is_ok_and(|mut other| other.wait().is_ok_and(|status| status.success()));
    if fine && held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Uses memory for a while.
fn hold(mib: usize) -> ExitCode {
    let bytes: Vec<u8> = (0..mib << 20).map(|at| u8::try_from(at % 251).unwrap_or(0)).collect();
    std::thread::sleep(Duration::from_secs(1));
    if bytes.contains(&250) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// So many processes at once.
fn fork(count: usize) -> ExitCode {
    let own = std::env::current_exe().unwrap_or_default();
    let mut children = Vec::new();
    for _ in 0..count {
        match Command::new(&own).args([ARGUMENT, "linger", "x"]).spawn() {
            Ok(child) => children.push(child),
            Err(_) => break,
        }
    }
    let all = children.len() == count;
    for mut child in children {
        let _ = child.kill();
        let _ = child.wait();
    }
    let _ = std::io::stdout().flush();
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
