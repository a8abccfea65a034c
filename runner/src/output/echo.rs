//! Output passed on while it comes, to a reader that may be slow, or gone.

use std::io::{self, Write as _};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::registry::Stop;

/// A pipe that takes anything takes this many bytes without waiting (`PIPE_BUF`).
const AT_ONCE: usize = 4096;
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Passes bytes on to this program's own standard output, or error. What nobody takes until then is lost here, and kept
/// where output is kept anyway: a reader that stands still must not keep a command from ending in time.
pub fn pass_on(to_error: bool, bytes: &[u8], until: Instant, stop: &Stop) {
    for part in bytes.chunks(AT_ONCE) {
        if !is_taken(to_error, until, stop) {
            return;
        }
        let mut out: Box<dyn io::Write> = if to_error { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
        if out.write_all(part).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Waits until something can be written.
fn is_taken(to_error: bool, until: Instant, stop: &Stop) -> bool {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    while Instant::now() < until {
        let out = if to_error { PollFd::new(&stderr, PollFlags::OUT) } else { PollFd::new(&stdout, PollFlags::OUT) };
        let mut fds = [out, PollFd::new(stop, PollFlags::IN)];
        match poll(&mut fds, Some(&MOMENT)) {
            Ok(_) if !fds[0].revents().is_empty() => return true,
            Ok(_) if !fds[1].revents().is_empty() => return false,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    false
}
