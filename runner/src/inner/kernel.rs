//! The system calls without a safe interface. The one file of the runner with `unsafe` code.
//!
//! Everything here is either one call on values that live long enough, or runs between fork and exec and then makes
//! nothing but such calls.
#![expect(unsafe_code, reason = "the kernel offers no other way to these calls, and std none to act before exec")]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use seccompiler::BpfProgram;

use super::landlock::{Attributes, PathBeneath};

/// How the C library numbers what can be limited: musl's are signed.
#[cfg(target_env = "musl")]
pub type LimitNumber = libc::c_int;
/// See above.
#[cfg(not(target_env = "musl"))]
pub type LimitNumber = libc::__rlimit_resource_t;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// What a process does to itself before it becomes another program. In this order.
#[derive(Debug, Default)]
pub struct BeforeExec {
    /// Moves into the control groups through these files.
    pub groups: Vec<OwnedFd>,
    /// Starts a session of its own, without a terminal, and dies with its parent.
    pub supervised: bool,
    /// What becomes of its privileges.
    pub privileges: Privileges,
    /// Resource limits: the kernel's numbers.
    pub limits: Vec<(LimitNumber, u64)>,
    /// A Landlock ruleset to live under.
    pub landlock: Option<OwnedFd>,
    /// Filters on system calls, the first installed first.
    pub filters: Vec<BpfProgram>,
    /// Where whoever answers its calls of `connect` waits for the descriptor that [`next_call`] takes.
    pub connects: Option<OwnedFd>,
}

/// What becomes of a process's privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Privileges {
    /// They stay, and can grow.
    #[default]
    Kept,
    /// They can never grow.
    NoneNew,
    /// Every capability is gone from all sets, and none can come back.
    Dropped,
}

impl BeforeExec {
    /// Lets a command do this before its exec. Every file descriptor above 2 is closed by the exec, whoever opened it.
    pub fn attach(self, command: &mut Command) {
        // SAFETY: the closure allocates nothing and makes only system calls on values that it owns.
        unsafe { command.pre_exec(move || self.run()) };
    }

    fn run(&self) -> io::Result<()> {
        for group in &self.groups {
            // SAFETY: one write of two bytes that live long enough.
            checked(unsafe { libc::write(group.as_raw_fd(), c"0\n".as_ptr().cast(), 2) } as libc::c_long)?;
        }
        close_on_exec_from(3)?;
        unblock_signals()?;
        // SAFETY: plain calls; the structures live through them.
        unsafe {
            if self.supervised {
                checked(libc::setsid().into())?;
                checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0).into())?;
            }
            for (resource, value) in &self.limits {
                let mut now: libc::rlimit = std::mem::zeroed();
                checked(libc::getrlimit(*resource, &raw mut now).into())?;
                let value = now.rlim_max.min(*value);
                let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
                checked(libc::setrlimit(*resource, &raw const limit).into())?;
            }
            if self.privileges == Privileges::Dropped {
                drop_capabilities()?;
            }
            if self.privileges != Privileges::Kept {
                checked(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
            }
            if let Some(ruleset) = &self.landlock {
                checked(libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0))?;
            }
        }
        for filter in &self.filters {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        }
        self.connects.as_ref().map_or(Ok(()), hand_over_connects)
    }
}

/// Lets another process answer every `connect` of this one and of its descendants: installs the filter and sends its
/// descriptor. Fails with `EBUSY` where somebody further out does this already. Linux 5.0.
fn hand_over_connects(to: &OwnedFd) -> io::Result<()> {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    #[expect(clippy::cast_possible_truncation, reason = "numbers of calls are small, and this one is known")]
    const CONNECT: u32 = libc::SYS_connect as u32;
    let step = |code, jf, k| libc::sock_filter { code, jt: 0, jf, k };
    let mut filter = [
        // The number of the call is the first field of the kernel's `seccomp_data`. Other architectures' calls are ended by
        // the filters that are there.
        step(LOAD, 0, 0),
        step(JUMP_IF_EQUAL, 1, CONNECT),
        step(RETURN, 0, libc::SECCOMP_RET_USER_NOTIF),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
    // SAFETY: the program lives through the call; the descriptor is new.
    let listener = unsafe {
        let fd = checked(libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        ))?;
        OwnedFd::from_raw_fd(RawFd::try_from(fd).unwrap_or(-1))
    };
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [std::os::fd::AsFd::as_fd(&listener)];
    control.push(SendAncillaryMessage::ScmRights(&fds));
    rustix::net::sendmsg(to, &[io::IoSlice::new(b"c")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// A `connect` that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub struct WaitingCall {
    /// The kernel's number of it.
    pub id: u64,
    /// The thread that calls.
    pub thread: u32,
    /// The call's arguments: a descriptor, an address in the caller's memory, its length.
    pub arguments: [u64; 3],
}

/// Numbers of `ioctl`, as in the kernel's `include/uapi/linux/seccomp.h`.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const IS_VALID: libc::c_ulong = 0x4008_2102;

/// Waits for the next call. An error means that there will be none.
pub fn next_call(listener: &OwnedFd) -> io::Result<WaitingCall> {
    loop {
        // SAFETY: the structure lives through the call, is as large as the number says, and all zero as the kernel wants it.
        let (done, call) = unsafe {
            let mut call: libc::seccomp_notif = std::mem::zeroed();
            (libc::ioctl(listener.as_raw_fd(), RECEIVE as _, &raw mut call), call)
        };
        match checked(done.into()) {
            Ok(_) => {
                let [descriptor, address, length, ..] = call.data.args;
                return Ok(WaitingCall { id: call.id, thread: call.pid, arguments: [descriptor, address, length] });
            }
            // Whoever called was killed meanwhile; or a signal came.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
    }
}

/// True while a call still waits: what was opened of its thread before is then of that thread.
pub fn still_waits(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the number lives through the call.
    unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID as _, &raw const id) == 0 }
}

/// Lets a call return: with 0, or with an error's number. When nobody waits for it any more, nothing happens.
pub fn answer_call(listener: &OwnedFd, id: u64, error: i32) {
    let answer = libc::seccomp_notif_resp { id, val: 0, error: -error, flags: 0 };
    // SAFETY: the structure lives through the call and is as large as the number says.
    unsafe { libc::ioctl(listener.as_raw_fd(), SEND as _, &raw const answer) };
}

/// What this program listens for in its own way would stay blocked behind exec.
fn unblock_signals() -> io::Result<()> {
    // SAFETY: the set lives through the calls.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        checked(libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()).into()).map(|_| ())
    }
}

/// Closes every file descriptor above 2. Only at the start of a program, before it has opened any itself.
pub fn close_inherited() {
    // SAFETY: one call without pointers; nobody owns these descriptors yet.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    if done < 0 {
        // Kernels before 5.9: what is open is listed.
        let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
            .map(|entries| entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
            .unwrap_or_default();
        for fd in open.into_iter().filter(|fd| *fd > 2) {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
    }
}

/// Marks every file descriptor from this one on to be closed by the next exec.
fn close_on_exec_from(first: libc::c_uint) -> io::Result<()> {
    const CLOEXEC: libc::c_uint = 4;
    // SAFETY: one call without pointers.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOEXEC) };
    if checked(done).is_ok() {
        return Ok(());
    }
    // Kernels before 5.11: one by one, up to the limit.
    // SAFETY: plain calls; the structure lives through them.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        checked(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit).into())?;
        for fd in first.cast_signed()..i32::try_from(limit.rlim_cur.min(1 << 20)).unwrap_or(1 << 20) {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
    Ok(())
}

/// Empties every set of capabilities, so that not even root can regain one.
///
/// # Safety
/// Makes only plain system calls; unsafe because of them.
unsafe fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    const LAST: libc::c_ulong = 63;
    // SAFETY: the structures live through the calls; version 3 has two elements of three words.
    unsafe {
        for capability in 0..=LAST {
            // Fails behind the last capability, or without the right to drop: then the set below decides.
            if libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 {
                break;
            }
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        let header = Header { version: VERSION_3, pid: 0 };
        let none = [[0u32; 3]; 2];
        checked(libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()))?;
    }
    Ok(())
}

/// Gives up every capability, of this process and of those that it starts.
pub fn give_up_privileges() -> io::Result<()> {
    // SAFETY: it makes only system calls on values of its own.
    unsafe { drop_capabilities() }
}

/// Lets nothing below a mount be executed from now on, nor mapped as code, whatever is mounted below it. Needs the right to
/// mount in the namespace of these mounts; Linux 5.12.
pub fn forbid_exec(mount: &std::ffi::CStr) -> io::Result<()> {
    /// The kernel's `mount_attr`, in `include/uapi/linux/mount.h`.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    const NO_EXEC: u64 = 8;
    let attributes = Attributes { set: NO_EXEC, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = libc::AT_RECURSIVE | libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: name and structure live through the call, whose last argument is the structure's size.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            mount.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    checked(done).map(|_| ())
}

/// What a supervising process does to itself: nobody reads its memory, and orphans of its descendants become its own.
pub fn become_supervisor(adopt_orphans: bool) -> io::Result<()> {
    keep_from_others()?;
    if adopt_orphans {
        // SAFETY: a plain call without pointers.
        checked(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }.into())?;
    }
    Ok(())
}

/// From now on no process of the same user reads this one's memory, or takes its descriptors.
pub fn keep_from_others() -> io::Result<()> {
    // SAFETY: a plain call without pointers.
    checked(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }.into()).map(drop)
}

/// A file descriptor that becomes readable when one of these signals comes. They are blocked from then on, in this
/// thread and in those that it starts.
pub fn signals(wanted: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: the set lives through the calls; the descriptor is new and owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in wanted {
            libc::sigaddset(&raw mut set, *signal);
        }
        checked(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()).into())?;
        let fd = checked(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK).into())?;
        Ok(OwnedFd::from_raw_fd(RawFd::try_from(fd).unwrap_or(-1)))
    }
}

/// Which side of a fork this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that was there before; with the other's process id.
    Parent(u32),
    /// The new one, in a session of its own.
    Child,
}

/// Goes on in a second process, which outlives the first one and its terminal. Only before there is a second thread.
pub fn detach() -> io::Result<Side> {
    let threads = std::fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        return Err(io::Error::other("there is more than one thread"));
    }
    // SAFETY: there is one thread, so the child has all that it needs.
    unsafe {
        let pid = checked(libc::fork().into())?;
        if pid > 0 {
            return Ok(Side::Parent(u32::try_from(pid).unwrap_or(0)));
        }
        checked(libc::setsid().into())?;
    }
    Ok(Side::Child)
}

/// Does nothing, and so keeps a signal from doing what it does by default.
extern "C" fn nothing(_signal: i32) {}

/// Lets a supervisor outlive the signals that end its descendants. They themselves start with the defaults: an ignored
/// signal would stay ignored behind exec, and a shell could not even trap it.
pub fn outlive(signals: &[i32]) {
    for signal in signals {
        // SAFETY: the handler makes no call at all; the structure lives through the call.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(*signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Sends a signal to every process that this one may signal. Only for PID 1 of a process namespace.
pub fn signal_everyone(signal: i32) {
    if std::process::id() != 1 {
        return;
    }
    // SAFETY: one call without pointers; PID 1 itself is not among the receivers.
    unsafe { libc::kill(-1, signal) };
}

/// Ends a child of this process, which may start no others from now on. Its number is its own until it is waited for.
pub fn end_child(pid: i32) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure lives through the call; the number is that of a child that nobody has waited for.
    unsafe {
        libc::prlimit(pid, libc::RLIMIT_NPROC, &raw const none, std::ptr::null_mut());
        libc::kill(pid, libc::SIGKILL);
    }
}

/// The version of Landlock that the kernel has; 0 for none.
pub fn landlock_version() -> u32 {
    const VERSION: u32 = 1;
    // SAFETY: without attributes the call only answers.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// A new Landlock ruleset.
pub fn landlock_ruleset(attributes: &Attributes) -> io::Result<OwnedFd> {
    // SAFETY: the structure lives through the call and has the size that is given; the descriptor is new.
    unsafe {
        let fd = checked(libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::from_ref(attributes),
            size_of::<Attributes>(),
            0u32,
        ))?;
        Ok(OwnedFd::from_raw_fd(RawFd::try_from(fd).unwrap_or(-1)))
    }
}

/// Adds a rule to a Landlock ruleset.
pub fn landlock_allow(ruleset: &OwnedFd, rule: &PathBeneath) -> io::Result<()> {
    const PATH_BENEATH: u32 = 1;
    // SAFETY: the structure lives through the call.
    let done = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, std::ptr::from_ref(rule), 0u32)
    };
    checked(done).map(|_| ())
}

/// Calls that no command needs, with arguments that do nothing, and the error of each. For the doctor's probes.
pub fn try_refused_calls() -> Vec<(&'static str, i32)> {
    let calls: [(&str, libc::c_long); 9] = [
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("bpf", libc::SYS_bpf),
        ("perf_event_open", libc::SYS_perf_event_open),
        ("userfaultfd", libc::SYS_userfaultfd),
        ("keyctl", libc::SYS_keyctl),
        ("process_vm_writev", libc::SYS_process_vm_writev),
        ("mount", libc::SYS_mount),
        ("open_by_handle_at", libc::SYS_open_by_handle_at),
        ("setns", libc::SYS_setns),
    ];
    let attempt = |(name, number): (&'static str, libc::c_long)| {
        // SAFETY: null pointers and an invalid descriptor: what is not refused fails without an effect.
        let done = unsafe { libc::syscall(number, -1, 0, 0, 0, 0, 0) };
        let error = if done < 0 { io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 };
        (name, error)
    };
    calls.map(attempt).to_vec()
}

/// The number, in this namespace of processes, of the process that listens where a socket is connected to; 0 for one outside of it.
pub fn listener_of(socket: &OwnedFd) -> io::Result<i32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or_default();
    // SAFETY: one call that fills a structure of the length that it is told.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(peer.pid) }
}
