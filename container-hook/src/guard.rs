//! The fail-closed shell around everything: a crash, a hang or a memory blow-up comes out as exit 2.
//!
//! Agents let the command run when a hook ends by a signal, with exit 1 or 101, or not in time. So fatal signals, the
//! alarm of a timer and panics all end here, in a handler that only polls, writes and exits. What no process can catch
//! (SIGKILL, a missing binary) is outside of it.
//!
//! This is the one file of the hook with `unsafe` code (besides the name of its `main`): the kernel offers no other way to
//! these calls.
#![expect(unsafe_code, reason = "signal handlers, timers and limits have no safe interface in std")]

use std::ffi::c_ulong;
use std::time::Duration;

/// How long reading the event and thinking about it may take. A wait for the host sets its own limit.
pub const THINKING: Duration = Duration::from_secs(5);
/// Most memory that the hook may map, in bytes.
const MEMORY: u64 = 512 * 1024 * 1024;
const MESSAGE: &[u8] =
    b"bashgate-hook: denied: the hook itself failed (crash, limit or timeout); see docs/operating.md\n";

/// Ends the process with exit 2 and a message, whatever state it is in.
extern "C" fn die(_signal: i32) {
    // SAFETY: only async-signal-safe calls: poll, write, _exit.
    unsafe {
        // A full pipe that nobody reads would block the write for good.
        let mut stderr = libc::pollfd { fd: 2, events: libc::POLLOUT, revents: 0 };
        if libc::poll(&raw mut stderr, 1, 0) == 1 {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        }
        libc::_exit(2)
    }
}

/// As many signals as the kernel has.
const SIGNALS: i32 = 64;
/// "The handler's way back is named here", which the kernel insists on on some machines.
const SA_RESTORER: i32 = 0x0400_0000;

/// What `rt_sigaction(2)` takes, in the kernel's words: `struct sigaction` of 64-bit Linux, with a mask of its 64 signals.
#[repr(C)]
struct Action {
    handler: extern "C" fn(i32),
    flags: c_ulong,
    restorer: extern "C" fn(),
    mask: u64,
}

/// The way back from [`die`], which has none.
extern "C" fn never_returned_from() {
    die(0);
}

/// Arms everything. Comes before anything else in `main`; risky work stays on the main thread, whose stack it guards.
pub fn arm() {
    std::panic::set_hook(Box::new(|_| die(0)));
    open_standard_streams();
    // SAFETY: plain system calls on values that live long enough; the handler's stack is a static of its own.
    unsafe {
        static mut STACK: [u8; 64 * 1024] = [0; 64 * 1024];
        let stack = libc::stack_t { ss_sp: (&raw mut STACK).cast(), ss_flags: 0, ss_size: 64 * 1024 };
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        // The kernel's own call: C libraries keep some signals for themselves (glibc two, musl three), and the default for
        // those is to end the process, too.
        let action = Action {
            handler: die,
            flags: (libc::SA_ONSTACK | SA_RESTORER) as c_ulong,
            restorer: never_returned_from,
            mask: 0,
        };
        // Everything that would end the process, real-time signals included. KILL and STOP cannot be caught.
        let harmless = [
            libc::SIGKILL,
            libc::SIGSTOP,
            libc::SIGCONT,
            libc::SIGCHLD,
            libc::SIGURG,
            libc::SIGWINCH,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
        ];
        for signal in (1..=SIGNALS).filter(|signal| !harmless.contains(signal)) {
            let old = std::ptr::null_mut::<Action>();
            libc::syscall(libc::SYS_rt_sigaction, signal, &raw const action, old, size_of_val(&action.mask));
        }
        // A mask inherited from the parent would silence the timer and the handlers.
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        for (resource, limit) in [(libc::RLIMIT_AS, MEMORY), (libc::RLIMIT_CORE, 0)] {
            let mut now: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(resource, &raw mut now);
            let limit = libc::rlimit { rlim_cur: now.rlim_max.min(limit), rlim_max: now.rlim_max.min(limit) };
            libc::setrlimit(resource, &raw const limit);
        }
    }
    end_after(THINKING);
}

/// Opens the null device where standard input, output or error is closed: the next file to be opened would take its place,
/// and an answer would be written into it.
fn open_standard_streams() {
    for stream in 0..=2 {
        // SAFETY: plain system calls; the path is a constant that ends in a zero byte.
        unsafe {
            if libc::fcntl(stream, libc::F_GETFD) == -1 && libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) != stream {
                die(0);
            }
        }
    }
}

/// Lets a write into a pipe that nobody reads be an error, and not the end: for commands that start other programs.
pub fn survive_closed_pipes() {
    // SAFETY: a plain system call.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// Sets the alarm anew: the process ends with exit 2 when this much time has passed.
pub fn end_after(time: Duration) {
    // Without the names of their types, which the C libraries do not agree about.
    let value =
        libc::timeval { tv_sec: time.as_secs().try_into().unwrap_or(3600), tv_usec: time.subsec_micros().into() };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: the value lives through the call; no old value is asked for.
    unsafe {
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}

/// Lets a program start alone: with no file that was open here, whoever opened it, and with an end when this process has one.
pub fn start_alone(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;

    let alone = || {
        // SAFETY: between fork and exec there are only plain system calls on numbers.
        unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            // Closed when the program begins, not before: std tells its own errors over one of them.
            if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) != 0 {
                // Kernels before 5.11.
                for file in 3..65_536 {
                    libc::fcntl(file, libc::F_SETFD, libc::FD_CLOEXEC);
                }
            }
        }
        Ok(())
    };
    // SAFETY: the closure takes no lock and allocates nothing.
    unsafe {
        command.pre_exec(alone);
    }
}
