//! Output passed on while it comes, to a reader that may be slow, or gone.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Plain;
use crate::registry::Stop;

/// A pipe that takes anything takes this many bytes without waiting (`PIPE_BUF`).
const AT_ONCE: usize = 4096;
const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Most bytes that are passed on to one of them.
const MAX_BYTES: usize = 16 << 20;

/// This program's own standard output and error, to be written to without ever waiting for good.
#[derive(Debug)]
pub struct Echo([Passage; 2]);

#[derive(Debug)]
struct Passage {
    to: Option<File>,
    plain: Plain,
    /// How many bytes may still be passed on.
    room: usize,
}

impl Echo {
    /// Opens them. A terminal or pipe is opened anew, so that not waiting is a matter between it and us: whoever shares the
    /// old descriptor with us goes on as before.
    pub fn of_this_program() -> Self {
        let passage = |to| Passage { to, plain: Plain::default(), room: MAX_BYTES };
        Self([open(std::io::stdout().as_fd(), 1), open(std::io::stderr().as_fd(), 2)].map(passage))
    }

    /// Passes on what of the bytes is plain text, up to a limit. What nobody takes until then is lost here, and kept where
    /// output is kept anyway: a reader that stands still must not keep a command from ending in time.
    pub fn pass_on(&mut self, to_error: bool, bytes: &[u8], until: Instant, stop: &Stop) {
        let [out, err] = &mut self.0;
        let Passage { to: Some(file), plain, room } = (if to_error { err } else { out }) else { return };
        if *room == 0 {
            return;
        }
        let mut text = plain.push(bytes);
        *room = room.saturating_sub(text.len());
        if *room == 0 {
            text.push_str("\n[output cut: no more than 16 MiB are shown]\n");
        }
        let mut rest = text.as_bytes();
        while !rest.is_empty() && is_taken(file, until, stop) {
            let part = rest.get(..rest.len().min(AT_ONCE)).unwrap_or(rest);
            match file.write(part) {
                Ok(count) if count > 0 => rest = rest.get(count..).unwrap_or_default(),
                Err(error)
                    if [std::io::ErrorKind::WouldBlock, std::io::ErrorKind::Interrupted].contains(&error.kind()) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}

fn open(now: BorrowedFd<'_>, number: u32) -> Option<File> {
    let file = File::from(now.try_clone_to_owned().ok()?);
    let kind = file.metadata().ok()?.file_type();
    if !(kind.is_fifo() || kind.is_char_device()) {
        return Some(file);
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().write(true).custom_flags(flags).open(format!("/proc/self/fd/{number}")).ok().or(Some(file))
}

/// Waits until something can be written.
fn is_taken(file: &File, until: Instant, stop: &Stop) -> bool {
    while Instant::now() < until {
        let mut fds = [PollFd::new(file, PollFlags::OUT), PollFd::new(stop, PollFlags::IN)];
        match poll(&mut fds, Some(&MOMENT)) {
            Ok(_) if !fds[0].revents().is_empty() => return true,
            Ok(_) if !fds[1].revents().is_empty() => return false,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    false
}
