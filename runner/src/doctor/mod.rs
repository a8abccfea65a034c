//! `doctor`: what sandboxes there are here, what each claims, and what each really keeps, tried with real escapes.

mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::Serialize;

pub use probes::{ARGUMENT as PROBE, main as probe};

use crate::inner::landlock;
use crate::outcome::{Outcome, RunError};
use crate::permit;
use crate::presets::{Access, NetworkAccess, Preset, PresetError, Presets, UnixSockets};
use crate::run::{RunSpec, Runner, Time};
use crate::sandbox::{BackendName, Guarantee};
use probes::{Found, Targets};

/// What was found about one guarantee.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The guarantee.
    pub guarantee: Guarantee,
    /// Whether the backend says that it keeps it.
    pub claimed: bool,
    /// Whether it did; `None` where that was not tried.
    pub kept: Option<bool>,
    /// What could be done, where it did not.
    pub broken: Option<String>,
}

impl Check {
    /// True for a claim that does not hold, or was not tried.
    pub fn is_over_claim(&self) -> bool {
        self.claimed && self.kept != Some(true)
    }
}

/// What was found about one backend.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The backend.
    pub backend: BackendName,
    /// Why it cannot be used here.
    pub unavailable: Option<String>,
    /// What it keeps.
    pub findings: Vec<Check>,
}

/// What was found on this machine.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// The kernel's version of Landlock; 0 for none.
    pub landlock: u32,
    /// Who asked.
    pub uid: u32,
    /// What the control groups limit.
    pub control_groups: BTreeSet<Guarantee>,
    /// Each backend.
    pub backends: Vec<Report>,
}

/// Why nothing could be found out.
#[derive(Debug, thiserror::Error)]
pub enum DoctorError {
    /// The targets cannot be set up.
    #[error("cannot set up the probes: {0}")]
    Io(#[from] io::Error),
    /// The presets are broken.
    #[error(transparent)]
    Preset(#[from] PresetError),
}

/// Tries every backend with real escapes. Takes some seconds; what it makes is removed again.
pub fn examine(runner: &Runner, own: &Path, backends: &[BackendName]) -> Result<Diagnosis, DoctorError> {
    let ground = Ground::new(own)?;
    let mut reports = Vec::new();
    for backend in backends {
        reports.push(ground.report(runner, *backend)?);
    }
    let groups = crate::sandbox::cgroup::Groups::make(64, 64).enforces();
    Ok(Diagnosis {
        landlock: landlock::version(),
        uid: rustix::process::geteuid().as_raw(),
        control_groups: groups,
        backends: reports,
    })
}

/// Targets outside of a workspace, as real as can be.
struct Ground {
    folder: PathBuf,
    mark: String,
    tcp: TcpListener,
    _unix: UnixListener,
    _abstract: UnixListener,
    in_tmp: PathBuf,
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(&self.in_tmp);
    }
}

impl Ground {
    fn new(own: &Path) -> io::Result<Self> {
        let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        let mark = format!("doctor{random:016x}");
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let here = std::env::current_dir().ok();
        // Not in /tmp, which a sandbox may replace.
        let places = home.into_iter().chain(here).chain(["/srv", "/var/lib"].map(PathBuf::from));
        let folder = places
            .filter(|place| place.is_absolute() && !place.starts_with("/tmp") && *place != Path::new("/"))
            .filter_map(|place| fs::canonicalize(place).ok())
            .map(|place| place.join(format!(".{mark}")))
            .find(|folder| fs::create_dir(folder).is_ok())
            .ok_or_else(|| io::Error::other("neither the home folder nor the current one can be written"))?;
        let work = folder.join("work");
        for name in ["work", "outside", "hidden"] {
            fs::create_dir(folder.join(name))?;
        }
        fs::write(folder.join("hidden/secret"), "secret")?;
        fs::copy(own, work.join(PROBE))?;
        fs::set_permissions(work.join(PROBE), fs::Permissions::from_mode(0o755))?;
        let in_tmp = PathBuf::from("/tmp").join(&mark);
        fs::write(&in_tmp, "")?;
        Ok(Self {
            tcp: TcpListener::bind("127.0.0.1:0")?,
            _unix: UnixListener::bind(folder.join("outside/socket"))?,
            _abstract: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&mark)?)?,
            folder,
            mark,
            in_tmp,
        })
    }

    /// What a backend that keeps little has changed is as it was.
    fn reset(&self) -> io::Result<()> {
        let outside = self.folder.join("outside");
        for entry in fs::read_dir(&outside)?.flatten().filter(|entry| entry.file_name() != "socket") {
            let path = entry.path();
            if entry.file_type()?.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        fs::write(outside.join("victim"), "untouched")?;
        fs::write(outside.join("modes"), "")?;
        let work = self.folder.join("work");
        for git in [work.join(".git"), work.join("moved")] {
            let _ = fs::remove_dir_all(git);
        }
        fs::create_dir_all(work.join(".git/hooks"))?;
        fs::write(work.join(".git/config"), "[core]\n")
    }

    fn report(&self, runner: &Runner, backend: BackendName) -> Result<Report, DoctorError> {
        let preset = preset(backend)?;
        self.reset()?;
        let mut victim = self.victim()?;
        let targets = Targets {
            outside: self.folder.join("outside"),
            secret: self.folder.join("hidden/secret"),
            port: self.tcp.local_addr()?.port(),
            abstract_name: self.mark.clone(),
            socket: self.folder.join("outside/socket"),
            victim: victim.id(),
            mark: self.mark.clone(),
            in_tmp: self.in_tmp.clone(),
            terminal: rustix::termios::ttyname(std::io::stdin(), Vec::new())
                .ok()
                .and_then(|name| Some(PathBuf::from(name.to_str().ok()?))),
        };
        let json = serde_json::to_string(&targets).map_err(io::Error::from)?;
        // What a careless caller would leave open.
        let leaked = fs::File::open(self.folder.join("outside"))?;
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).map_err(io::Error::from)?;
        let first = self.run(runner, &preset, &format!("./{PROBE} {PROBE} all '{}'", json.replace('\'', "'\\''")));
        drop(leaked);
        let alive = matches!(victim.try_wait(), Ok(None)) && !is_being_killed(victim.id());
        let _ = victim.kill();
        let _ = victim.wait();
        let outcome = match first {
            Ok(outcome) => outcome,
            Err(error) => {
                return Ok(Report { backend, unavailable: Some(error.to_string()), findings: Vec::new() });
            }
        };
        let said = outcome.stdout.text.lines().filter_map(|line| serde_json::from_str::<Found>(line).ok());
        let mut kept: BTreeMap<Guarantee, Option<String>> = said.map(|found| (found.guarantee, found.broken)).collect();
        kept.insert(Guarantee::Signals, (!alive).then(|| "killed a process of somebody else".to_owned()));
        if fs::read_to_string(self.folder.join("outside/victim")).ok().as_deref() != Some("untouched") {
            kept.insert(Guarantee::Writes, Some("changed a file outside".to_owned()));
        }
        kept.insert(Guarantee::KillTree, self.kill_tree(runner, &preset));
        let claimed = &outcome.sandbox.enforces;
        if claimed.contains(&Guarantee::Memory) {
            kept.insert(Guarantee::Memory, self.memory(runner, &preset));
        }
        if claimed.contains(&Guarantee::Processes) {
            kept.insert(Guarantee::Processes, self.processes(runner, &preset));
        }
        let finding = |guarantee: Guarantee| Check {
            guarantee,
            claimed: claimed.contains(&guarantee),
            kept: kept.get(&guarantee).map(Option::is_none),
            broken: kept.get(&guarantee).cloned().flatten(),
        };
        Ok(Report { backend, unavailable: None, findings: Guarantee::ALL.into_iter().map(finding).collect() })
    }

    fn run(&self, runner: &Runner, preset: &Preset, command: &str) -> Result<Outcome, RunError> {
        let work = self.folder.join("work");
        let source = |why: String| RunError::Io { what: "make the probe's permit", source: io::Error::other(why) };
        let permit = permit::cage(command, None, preset, &work).map_err(|error| source(error.to_string()))?;
        let mut spec = RunSpec::new(preset.clone(), &work, &work);
        spec.gate = vec![self.folder.join("hidden")];
        spec.time = Time::Seconds(30);
        runner.run(permit, &spec)
    }

    fn victim(&self) -> io::Result<Child> {
        let own = self.folder.join("work").join(PROBE);
        let mut command = Command::new(own);
        command.args([PROBE, "linger", &self.mark]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn()
    }

    /// Processes that try to stay: in sessions of their own, with their supervisor attacked.
    fn kill_tree(&self, runner: &Runner, preset: &Preset) -> Option<String> {
        let stays = format!("{}stays", self.mark);
        let command = format!(
            "setsid ./{PROBE} {PROBE} linger {stays} & (setsid ./{PROBE} {PROBE} linger {stays} &) & sleep 0.2; kill -9 $PPID; sleep 0.1"
        );
        if let Err(error) = self.run(runner, preset, &command) {
            return Some(error.to_string());
        }
        let left: Vec<rustix::process::Pid> = processes_with(&stays);
        for pid in &left {
            let _ = rustix::process::kill_process(*pid, rustix::process::Signal::KILL);
        }
        (!left.is_empty()).then(|| format!("{} processes stayed", left.len()))
    }

    fn memory(&self, runner: &Runner, preset: &Preset) -> Option<String> {
        let mut small = preset.clone();
        small.limits.memory_mib = 64;
        let outcome = self.run(runner, &small, &format!("./{PROBE} {PROBE} eat 96"));
        outcome.is_ok_and(|outcome| outcome.succeeded()).then(|| "two processes used 96 MiB of 64".to_owned())
    }

    fn processes(&self, runner: &Runner, preset: &Preset) -> Option<String> {
        let mut few = preset.clone();
        few.limits.processes = 16;
        let outcome = self.run(runner, &few, &format!("./{PROBE} {PROBE} fork 32"));
        outcome.is_ok_and(|outcome| outcome.succeeded()).then(|| "32 processes of 16".to_owned())
    }
}

/// What the probes run under: everything that can be refused is.
fn preset(backend: BackendName) -> Result<Preset, PresetError> {
    let mut preset = Presets::built_in().for_agent(None, None)?;
    preset.network.access = NetworkAccess::Never;
    // Those of the run itself, so that the others are seen to be out of reach all the same.
    preset.network.unix_sockets = UnixSockets::Own;
    preset.git.repository = Access::Read;
    preset.sandbox.order = vec![backend];
    preset.sandbox.require.clear();
    Ok(preset)
}

/// True for a process that was sent a signal which nothing survives, and has not had the time to end.
fn is_being_killed(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let sets = status.lines().filter_map(|line| line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:")));
    let kill = 1 << (rustix::process::Signal::KILL.as_raw() - 1);
    sets.filter_map(|set| u64::from_str_radix(set.trim(), 16).ok()).any(|set| set & kill != 0)
}

fn processes_with(mark: &str) -> Vec<rustix::process::Pid> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let with = all.filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let pid = entry.file_name().to_str()?.parse().ok().and_then(rustix::process::Pid::from_raw)?;
        String::from_utf8_lossy(&line).contains(mark).then_some(pid)
    });
    with.collect()
}
