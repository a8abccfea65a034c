//! Named places where a test lets the host die, or an operation fail. Without the feature `faults`, which only the tests
//! turn on, they are nothing.

use std::io;

/// Every place, in the order in which a request comes by.
pub const POINTS: &[&str] = &[
    "start.opened",
    "start.listening",
    "intake.taken",
    "request.arrived",
    "case.opened",
    "inspector.asked",
    "inspector.answered",
    "approval.submitted",
    "approval.held",
    "approval.announced",
    "approval.answered",
    "verdict.submitted",
    "store.begin",
    "store.written",
    "store.committed",
    "verdict.recorded",
    "response.begin",
    "response.written",
    "response.renamed",
    "response.released",
    "heartbeat.written",
    "stop.recorded",
];

/// Lets the host die here, or an operation fail, when a test says so in `FAILPOINTS` (see the crate `fail`):
/// `return(kill)`, or the number of an error as `return(28)`.
#[cfg(feature = "faults")]
pub fn point(name: &str) -> io::Result<()> {
    debug_assert!(POINTS.contains(&name), "{name} is no place of the list");
    fail::fail_point!(name, |what| {
        let what = what.unwrap_or_default();
        if let Ok(number) = what.parse() {
            return Err(io::Error::from_raw_os_error(number));
        }
        // As a crash or the kernel would: nothing is run, flushed or cleaned up behind this line.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    });
    Ok(())
}

/// See the other one.
#[cfg(not(feature = "faults"))]
#[expect(clippy::missing_const_for_fn, reason = "the other one is none")]
#[inline]
pub fn point(_name: &str) -> io::Result<()> {
    Ok(())
}

/// A place where only the host's death is of interest.
#[inline]
pub fn here(name: &str) {
    let _ = point(name);
}

/// Reads what `FAILPOINTS` says. To be called once, by the test's own binary.
#[cfg(feature = "faults")]
pub fn set_up() {
    // Lives as long as the process.
    std::mem::forget(fail::FailScenario::setup());
}
