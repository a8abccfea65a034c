//! A program that is called and waited for: what it says, and its end, which is brought about where it does not come.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::inner::kernel::BeforeExec;
use crate::registry::Stop;
use crate::sandbox::spawn;

/// How far a call may go.
#[derive(Debug)]
pub(crate) struct Limits<'s> {
    /// Most of each stream, in bytes; the rest is cut.
    pub output: u64,
    /// How long it may take.
    pub time: Option<Duration>,
    /// What ends it before.
    pub stop: Option<&'s Stop>,
    /// Between TERM and KILL; killed at once where there is none.
    pub grace: Option<Duration>,
    /// Limits of the kernel, by its numbers.
    pub resources: Vec<(crate::inner::kernel::LimitNumber, u64)>,
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Called {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// True when it ended with 0.
    pub ok: bool,
    /// True when it was ended by a signal, ours or another.
    pub killed: bool,
    /// True when its time was over, or it was stopped.
    pub cut_short: bool,
}

/// Calls a program in a session of its own, and waits for its end. When this process dies, so does the program.
pub(crate) fn call(mut command: Command, input: &str, limits: Limits<'_>) -> io::Result<Called> {
    let Limits { output, time, stop, grace, resources } = limits;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    BeforeExec { supervised: true, limits: resources, ..BeforeExec::default() }.attach(&mut command);
    let mut child = spawn(command)?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(io::Error::other("it has no streams"));
    };
    std::thread::scope(|scope| {
        // Who does not read it does not need it.
        scope.spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
        let stdout = scope.spawn(move || whole(stdout, output));
        let stderr = scope.spawn(move || whole(stderr, output));
        let ended = end(&mut child, time, stop, grace);
        let text = |thread: std::thread::ScopedJoinHandle<'_, String>| thread.join().unwrap_or_default();
        let (stdout, stderr) = (text(stdout), text(stderr));
        ended.map(|(status, cut_short)| {
            let killed = status.code().is_none();
            Called { stdout, stderr, ok: status.success(), killed, cut_short }
        })
    })
}

fn whole(from: impl Read, most: u64) -> String {
    let mut bytes = Vec::new();
    let _ = from.take(most).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for the end, or brings it about.
fn end(
    child: &mut Child,
    time: Option<Duration>,
    stop: Option<&Stop>,
    grace: Option<Duration>,
) -> io::Result<(std::process::ExitStatus, bool)> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("it has no id"))?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let ends = |stop: Option<&Stop>, time: Option<Duration>| {
        let until = time.map(|time| Instant::now() + time);
        let mut ready = vec![PollFd::new(&process, PollFlags::IN)];
        ready.extend(stop.map(|stop| PollFd::new(stop, PollFlags::IN)));
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut ready, left.as_ref()) {
                Err(rustix::io::Errno::INTR) => {}
                // Whom nobody can wait for is ended.
                Err(_) => return false,
                Ok(_) => return ready.first().is_some_and(|process| !process.revents().is_empty()),
            }
        }
    };
    let cut_short = !ends(stop, time);
    if cut_short {
        let in_grace = grace.is_some_and(|grace| {
            let _ = pidfd_send_signal(&process, Signal::TERM);
            ends(None, Some(grace))
        });
        if !in_grace {
            let _ = child.kill();
        }
    }
    Ok((child.wait()?, cut_short))
}
