//! An operator's own checks: programs that are asked about each use of a tool behind the gate's own answer.
//!
//! They can only deny: the first denial stands, and what is not a plain "no objection" (a crash, a signal, too long, too much,
//! an answer that is none) is a denial. A plug-in reads bashgate's own event on standard input,
//! `{"event":"before_tool_use","tool_name":…,"tool_input":…,"cwd":…}`, and answers as `bashgate-hook` itself does: exit 0, or
//! exit 2 with the reason on standard error, or `{"allowed":false,"reason":"…"}` on standard output. It gets no environment, no
//! open file and no terminal, works in `/`, and is killed with what it has started.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use bashgate_shared::object;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::conditions::only_root_writes;
use super::config::Config;
use super::{GRACE, HookDecision};
use crate::guard;

/// Most that is read of each of a plug-in's outputs, in bytes. One that says more is ended, which denies.
const MOST_OUTPUT: usize = 64 * 1024;
/// Most of a reason that is handed on, in characters.
const MOST_REASON: usize = 1000;

/// A program of the operator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// The program, absolute.
    pub program: PathBuf,
    /// Names of tools that it is asked about; empty means all of them. A shell command is `Bash`, whatever the agent calls it.
    pub tools: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// A use of a tool, as a plug-in sees it.
#[derive(Debug, Clone, Serialize)]
pub struct Call<'c> {
    event: &'static str,
    /// The agent's name, or the runner's.
    pub agent: &'c str,
    /// The tool's name: `Bash` for a shell command.
    pub tool_name: &'c str,
    /// What the tool is given, in the agent's own fields; of a shell command its text, as `command`.
    pub tool_input: &'c Map<String, Value>,
    /// Where it works.
    pub cwd: &'c Path,
    /// The agent's session.
    pub session: Option<&'c str>,
    /// The agent's id of the call.
    pub tool_use_id: Option<&'c str>,
}

impl<'c> Call<'c> {
    /// One of a tool that is about to be used.
    pub const fn before(
        agent: &'c str,
        tool_name: &'c str,
        tool_input: &'c Map<String, Value>,
        cwd: &'c Path,
        (session, tool_use_id): (Option<&'c str>, Option<&'c str>),
    ) -> Self {
        Self { event: "before_tool_use", agent, tool_name, tool_input, cwd, session, tool_use_id }
    }
}

/// What a plug-in may say on standard output.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    allowed: bool,
    #[serde(default)]
    reason: Option<String>,
}

/// A shell command's tool, whatever the agent calls it.
pub const SHELL: &str = "Bash";

/// What such a tool is given.
pub fn input_of_command(text: &str) -> Map<String, Value> {
    Map::from_iter([("command".to_owned(), Value::from(text))])
}

/// Longest time that all of them together take. Whoever waits longer is hung.
pub fn longest(config: &Config) -> Duration {
    timeouts(&config.plugins).saturating_add(GRACE)
}

/// What all of them together are given.
pub(super) fn timeouts(plugins: &[Plugin]) -> Duration {
    plugins.iter().map(|plugin| plugin.timeout).sum()
}

/// The decision behind the gate's own: what is denied stays denied, and nobody else is asked about it.
pub fn ask_all(decision: HookDecision, call: &Call<'_>, config: &Config) -> HookDecision {
    if matches!(decision, HookDecision::Deny { .. }) || config.plugins.is_empty() {
        return decision;
    }
    let Ok(event) = serde_json::to_vec(call) else {
        return HookDecision::deny("the plug-ins' event cannot be written");
    };
    for plugin in &config.plugins {
        let is_meant = plugin.tools.is_empty() || plugin.tools.iter().any(|tool| tool == call.tool_name);
        if is_meant && let Err(why) = plugin.ask(&event) {
            return HookDecision::deny(why);
        }
    }
    decision
}

impl Plugin {
    /// Asks it. An error is a denial, with the reason.
    fn ask(&self, event: &[u8]) -> Result<(), String> {
        let name = self.program.display();
        let failed = |what: &str| {
            format!(
                "the plug-in {name} {what}, and what it does not let through is denied; for the operator: mend it, or take it out of hook.toml"
            )
        };
        if !only_root_writes(&self.program) {
            return Err(failed("is not there, or lies where others than root can write"));
        }
        let ended = self.run(event).map_err(|error| failed(&format!("cannot be run ({error})")))?;
        let Some((status, [said, aside])) = ended else {
            return Err(failed(&format!("has given no answer in {:?}, or has said too much", self.timeout)));
        };
        let denied = |reason: Option<&str>| {
            let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).unwrap_or("it gives no reason");
            format!("denied by the plug-in {name}: {}", reason.chars().take(MOST_REASON).collect::<String>())
        };
        let said: Option<Said> = match said.trim_ascii() {
            [] => None,
            text => Some(object::from_slice(text).map_err(|_| failed("has said something that is no answer"))?),
        };
        match (status.code(), said) {
            (Some(0), None | Some(Said { allowed: true, .. })) => Ok(()),
            (Some(0 | 2), Some(Said { allowed: false, reason })) => Err(denied(reason.as_deref())),
            (Some(2), _) => Err(denied(Some(&String::from_utf8_lossy(&aside)))),
            (Some(code), _) => Err(failed(&format!("has failed (exit code {code})"))),
            (None, _) => Err(failed(&format!("was ended by signal {}", status.signal().unwrap_or_default()))),
        }
    }

    /// Runs it to its end: how it ended, and what it said on both outputs. `None` when it was late or said too much.
    fn run(&self, event: &[u8]) -> io::Result<Option<(ExitStatus, [Vec<u8>; 2])>> {
        let until = Instant::now() + self.timeout;
        let mut command = Command::new(&self.program);
        command.env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        guard::start_alone(&mut command);
        let mut family = Family(command.spawn()?);
        let Some(heard) = family.listen(event, until)? else { return Ok(None) };
        family.end();
        Ok(Some((family.0.wait()?, heard)))
    }
}

/// A plug-in and what it has started, which does not outlive the question.
struct Family(Child);

impl Family {
    /// Kills all of them. Before the first one is reaped: its number is the group's.
    fn end(&self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Hands the event over and hears what it says until it has ended. `None` when it is late or says too much.
    fn listen(&mut self, event: &[u8], until: Instant) -> io::Result<Option<[Vec<u8>; 2]>> {
        let (stdin, stdout, stderr) = (self.0.stdin.take(), self.0.stdout.take(), self.0.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::Error::other("it has no pipes"));
        };
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).ok_or(ErrorKind::NotFound)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        let mut stdin = Some(File::from(OwnedFd::from(stdin)));
        let mut outputs = [OwnedFd::from(stdout), OwnedFd::from(stderr)].map(|pipe| Output::of(File::from(pipe)));
        for pipe in outputs.iter().filter_map(|output| output.pipe.as_ref()).chain(&stdin) {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let mut rest = event;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let mut waits = vec![PollFd::new(&process, PollFlags::IN)];
            waits.extend(stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
            let open = outputs.iter().filter_map(|output| output.pipe.as_ref());
            waits.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let wait = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            match poll(&mut waits, Some(&wait)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_over = waits.first().is_some_and(|wait| !wait.revents().is_empty());
            if let Some(pipe) = &mut stdin {
                match pipe.write(rest) {
                    Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    // It need not read.
                    Err(_) => rest = &[],
                }
                if rest.is_empty() {
                    stdin = None;
                }
            }
            for output in &mut outputs {
                output.hear()?;
            }
            if outputs.iter().any(|output| output.heard.len() > MOST_OUTPUT) {
                return Ok(None);
            }
            if is_over {
                return Ok(Some(outputs.map(|output| output.heard)));
            }
        }
    }
}

/// One of a plug-in's outputs.
struct Output {
    /// `None` at its end.
    pipe: Option<File>,
    heard: Vec<u8>,
}

impl Output {
    const fn of(pipe: File) -> Self {
        Self { pipe: Some(pipe), heard: Vec::new() }
    }

    /// Takes in what there is, up to the most and a little more.
    fn hear(&mut self) -> io::Result<()> {
        let mut part = [0; 4096];
        while let Some(pipe) = self.pipe.as_mut().filter(|_| self.heard.len() <= MOST_OUTPUT) {
            match pipe.read(&mut part) {
                Ok(0) => self.pipe = None,
                Ok(length) => self.heard.extend_from_slice(part.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.end();
            let _ = self.0.wait();
        }
    }
}
