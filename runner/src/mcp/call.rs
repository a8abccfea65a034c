//! One call of this program's own command line, as a process of its own: what goes wrong there, and what it starts, has
//! nothing to do with the server and its streams.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::inner::kernel::BeforeExec;
use crate::registry::Stop;
use crate::sandbox::spawn;

/// Most of what a call may say, in bytes: its output is cut far below.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// After the order to stop, so long until it is killed. A command's own grace is shorter.
const STOPPING: Duration = Duration::from_secs(15);

/// What came of it.
#[derive(Debug)]
pub(super) struct Called {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// True when it ended with 0.
    pub ok: bool,
    /// True when it was stopped.
    pub stopped: bool,
}

/// Calls it, and waits for its end. When this process dies, so does the call, and with it all that it started.
pub(super) fn call(own: &Path, arguments: &[String], input: &str, stop: &Stop) -> io::Result<Called> {
    let mut command = Command::new(own);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    BeforeExec { supervised: true, ..BeforeExec::default() }.attach(&mut command);
    let mut child = spawn(command)?;
    let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = taken else {
        return Err(io::Error::other("it has no streams"));
    };
    std::thread::scope(|scope| {
        // Who does not read it does not need it.
        scope.spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
        let stdout = scope.spawn(move || whole(stdout));
        let stderr = scope.spawn(move || whole(stderr));
        let ended = end(&mut child, stop);
        let text = |thread: std::thread::ScopedJoinHandle<'_, String>| thread.join().unwrap_or_default();
        let (stdout, stderr) = (text(stdout), text(stderr));
        ended.map(|(ok, stopped)| Called { stdout, stderr, ok, stopped })
    })
}

fn whole(from: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = from.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for the end, or brings it about.
fn end(child: &mut Child, stop: &Stop) -> io::Result<(bool, bool)> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("it has no id"))?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let ended = |also: Option<&Stop>, wait: Option<&Timespec>| -> io::Result<bool> {
        loop {
            let mut ready = vec![PollFd::new(&process, PollFlags::IN)];
            ready.extend(also.map(|stop| PollFd::new(stop, PollFlags::IN)));
            match poll(&mut ready, wait) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(ready.first().is_some_and(|process| !process.revents().is_empty())),
            }
        }
    };
    let stopped = !ended(Some(stop), None).unwrap_or(false);
    if stopped {
        let _ = pidfd_send_signal(&process, Signal::TERM);
        let wait = Timespec { tv_sec: STOPPING.as_secs().try_into().unwrap_or(15), tv_nsec: 0 };
        if !ended(None, Some(&wait)).unwrap_or(false) {
            let _ = child.kill();
        }
    }
    Ok((child.wait()?.success(), stopped))
}
