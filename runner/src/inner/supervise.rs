//! The innermost process at work: start the shell, obey orders, reap, end everything, report.

use std::collections::HashSet;
use std::ffi::CString;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::kernel::{self, BeforeExec, Privileges};
use super::{Ended, KILL, MAX_PLAN_BYTES, Outer, Plan, Reap, Report, Resource, TERM, filters, landlock, sockets, tree};

/// Longest time in which leftovers are killed again and again.
const CLEANUP: Duration = Duration::from_secs(5);

/// Runs as the innermost process: the plan comes on standard input.
pub fn main() -> ExitCode {
    // Signals meant for the shell's tree must not end the one who reports.
    kernel::outlive(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE]);
    let Ok(socket) = std::io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut runner = UnixStream::from(socket);
    let report = match supervise(&mut runner) {
        Ok(ended) => Report::Ended(ended),
        Err(why) => Report::Failed(why),
    };
    say(&mut runner, &report);
    ExitCode::SUCCESS
}

fn say(runner: &mut UnixStream, report: &Report) {
    // When nobody listens any more there is nobody to tell.
    let _ = runner.write_all(&line_of(report));
}

fn line_of(report: &Report) -> Vec<u8> {
    let mut line = serde_json::to_vec(report).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The same with descriptors, two at most.
fn say_with(runner: &UnixStream, report: &Report, descriptors: &[BorrowedFd<'_>]) {
    let line = line_of(report);
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = rustix::net::SendAncillaryBuffer::new(&mut space);
    control.push(rustix::net::SendAncillaryMessage::ScmRights(descriptors));
    let _ = rustix::net::sendmsg(runner, &[io::IoSlice::new(&line)], &mut control, rustix::net::SendFlags::empty());
}

/// A port of loopback in the network of the run, whichever that is, before anything of the command runs.
fn way_out(plan: &mut Plan) -> Result<Option<TcpListener>, String> {
    if !plan.way_out {
        return Ok(None);
    }
    let failed = |error: io::Error| format!("cannot make the way out: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let at = listener.local_addr().map_err(failed)?;
    let own = std::env::current_exe().map_err(failed)?;
    let told = crate::egress::environment_of_run(at, &own);
    plan.env.retain(|(name, _)| !told.iter().any(|(told, _)| told == name));
    plan.env.extend(told);
    Ok(Some(listener))
}

fn supervise(runner: &mut UnixStream) -> Result<Ended, String> {
    let mut plan = read_plan(runner).map_err(|error| format!("cannot read the plan: {error}"))?;
    if plan.reap == Reap::Namespace && std::process::id() != 1 {
        return Err("this is no process namespace of its own".to_owned());
    }
    forbid_exec(&plan)?;
    kernel::become_supervisor(plan.reap == Reap::Descendants).map_err(|error| error.to_string())?;
    check_expected(&plan)?;
    check_mounts(&plan)?;
    plan.outer.map_or(Ok(()), check_outer)?;
    let signals = kernel::signals(&[libc::SIGCHLD]).map_err(|error| format!("cannot watch processes: {error}"))?;
    let way_out = way_out(&mut plan)?;
    let is_others = plan.calls.is_some_and(|calls| calls.only_way_out);
    let (ports, tells) = match is_others.then(io::pipe).transpose() {
        Ok(pipe) => pipe.unzip(),
        Err(error) => return Err(format!("cannot make a pipe: {error}")),
    };
    let child = start(&plan, way_out.as_ref(), tells.map(OwnedFd::from))?;
    match way_out {
        // From now on the runner takes what connects to it.
        Some(listener) => {
            let descriptors: Vec<_> =
                [Some(listener.as_fd()), ports.as_ref().map(AsFd::as_fd)].into_iter().flatten().collect();
            say_with(runner, &Report::Started, &descriptors);
        }
        None => say(runner, &Report::Started),
    }
    let mut tree = Tree { reap: plan.reap, child, ended: None };
    tree.obey(runner, &signals);
    Ok(tree.finish())
}

/// A length of eight bytes, then so many bytes of JSON.
fn read_plan(runner: &mut UnixStream) -> io::Result<Plan> {
    let mut length = [0; 8];
    runner.read_exact(&mut length)?;
    let length = usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_PLAN_BYTES {
        return Err(io::Error::other("it is too long"));
    }
    let mut bytes = vec![0; length];
    runner.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// A folder that was swapped for another between check and mount must not be worked in.
fn check_expected(plan: &Plan) -> Result<(), String> {
    for expected in &plan.expect {
        let path = Path::new(&expected.path);
        let found = std::fs::symlink_metadata(path).map_err(|error| format!("{}: {error}", expected.path))?;
        if (found.dev(), found.ino()) != (expected.dev, expected.ino) {
            return Err(format!("{} is not the folder that was checked", expected.path));
        }
    }
    Ok(())
}

/// What was to be covered or kept as it is must be: who swaps a folder for a link in the right moment moves a mount elsewhere.
fn check_mounts(plan: &Plan) -> Result<(), String> {
    if plan.mounts.is_empty() {
        return Ok(());
    }
    let table = std::fs::read("/proc/self/mountinfo").map_err(|error| format!("cannot see the mounts: {error}"))?;
    // Others' mounts may have any name.
    let table = String::from_utf8_lossy(&table);
    // proc(5): the fifth field is the place, in which blanks and backslashes are written in octal digits.
    let points: HashSet<&str> = table.lines().filter_map(|line| line.split(' ').nth(4)).collect();
    for mount in &plan.mounts {
        let changed = || format!("{} was changed while the run was prepared; start it again", mount.path);
        let mut written = String::new();
        for c in mount.path.chars() {
            if matches!(c, ' ' | '\t' | '\n' | '\\') {
                written.push_str(&format!("\\{:03o}", u32::from(c)));
            } else {
                written.push(c);
            }
        }
        if !points.contains(written.as_str()) {
            return Err(changed());
        }
        if let Some(shows) = mount.shows {
            let found = std::fs::symlink_metadata(&mount.path).map_err(|_| changed())?;
            if (found.dev(), found.ino()) != shows {
                return Err(changed());
            }
        }
    }
    Ok(())
}

/// A sandbox around this one that has done nothing is found before it is believed.
fn check_outer(outer: Outer) -> Result<(), String> {
    let root = rustix::fs::statvfs("/").map_err(|error| format!("cannot look at the root: {error}"))?;
    if !root.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        return Err(
            "the sandbox around it has not made the machine read-only; is it inside of another sandbox?".to_owned()
        );
    }
    let cards =
        std::fs::read_to_string("/proc/net/dev").map_err(|error| format!("cannot look at the network: {error}"))?;
    // Two lines of titles, then one for each.
    let others = cards.lines().skip(2).filter_map(|line| line.split_once(':')).any(|(name, _)| name.trim() != "lo");
    if outer.no_network && others {
        return Err("the sandbox around it has left the network; is it inside of another sandbox?".to_owned());
    }
    Ok(())
}

fn forbid_exec(plan: &Plan) -> Result<(), String> {
    if plan.no_exec.is_empty() {
        return Ok(());
    }
    for mount in &plan.no_exec {
        let name = CString::new(mount.as_str()).map_err(|error| error.to_string())?;
        kernel::forbid_exec(&name).map_err(|error| format!("cannot keep {mount} from being executed: {error}"))?;
    }
    kernel::give_up_privileges().map_err(|error| format!("cannot give up privileges: {error}"))
}

/// Starts the shell. Where nobody can be let answer for its sockets, as in a sandbox whose own supervisor does that, it has
/// no unix sockets.
fn start(plan: &Plan, way_out: Option<&TcpListener>, ports: Option<OwnedFd>) -> Result<Child, String> {
    let failed = |error: &io::Error| {
        let program = plan.argv.first().map_or("", String::as_str);
        format!("cannot start {program} in {}: {error}", plan.cwd)
    };
    let Some(calls) = plan.calls.filter(|calls| calls.unix || calls.only_way_out) else {
        return spawn(plan, plan.calls, None)?.map_err(|error| failed(&error));
    };
    let only = match way_out.map(TcpListener::local_addr) {
        Some(Ok(SocketAddr::V4(at))) if calls.only_way_out => Some(at),
        _ if calls.only_way_out => return Err("the way out has no address".to_owned()),
        _ => None,
    };
    let (own, other) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::STREAM,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|error| format!("cannot make a socket: {error}"))?;
    match spawn(plan, plan.calls, Some(other))? {
        Ok(mut child) => {
            let Some(listener) = taken(&own) else {
                let _ = child.kill();
                return Err("nobody answers for the run's sockets".to_owned());
            };
            let bounds = sockets::Bounds { own_network: calls.own_network, reap: plan.reap, only };
            sockets::serve(listener, bounds, ports);
            Ok(child)
        }
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EINVAL | libc::ENOSYS)) => {
            // Then nothing can be held to the way out, either.
            let internet = calls.internet && !calls.only_way_out;
            let without = super::Calls { unix: false, only_way_out: false, internet, ..calls };
            spawn(plan, Some(without), None)?.map_err(|error| failed(&error))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// The descriptor that a child has sent before it became another program.
fn taken(from: &OwnedFd) -> Option<OwnedFd> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = rustix::net::RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = rustix::net::RecvFlags::CMSG_CLOEXEC | rustix::net::RecvFlags::DONTWAIT;
    rustix::net::recvmsg(from, &mut [io::IoSliceMut::new(&mut byte)], &mut control, flags).ok()?;
    control.drain().find_map(|message| match message {
        rustix::net::RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    })
}

/// The inner error is the kernel's answer to the attempt itself.
fn spawn(plan: &Plan, calls: Option<super::Calls>, connects: Option<OwnedFd>) -> Result<io::Result<Child>, String> {
    let (program, arguments) = plan.argv.split_first().ok_or("the plan names no program")?;
    let before = BeforeExec {
        supervised: true,
        privileges: match plan {
            Plan { drop_privileges: true, .. } => Privileges::Dropped,
            // The kernel wants this of whoever limits itself.
            Plan { files: None, calls: None, .. } => Privileges::Kept,
            _ => Privileges::NoneNew,
        },
        limits: plan.limits.iter().map(|(resource, value)| (number(*resource), *value)).collect(),
        landlock: match &plan.files {
            Some(files) => landlock::ruleset(files, &plan.expect).map_err(|error| format!("Landlock: {error}"))?,
            None => None,
        },
        filters: match calls {
            Some(calls) => filters::programs(calls).map_err(|error| format!("seccomp: {error}"))?,
            None => Vec::new(),
        },
        connects,
        ..BeforeExec::default()
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(plan.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&plan.cwd).stdin(Stdio::null());
    before.attach(&mut command);
    Ok(command.spawn())
}

const fn number(resource: Resource) -> super::kernel::LimitNumber {
    match resource {
        Resource::Processes => libc::RLIMIT_NPROC,
        Resource::Data => libc::RLIMIT_DATA,
        Resource::FileSize => libc::RLIMIT_FSIZE,
        Resource::Cpu => libc::RLIMIT_CPU,
    }
}

struct Tree {
    reap: Reap,
    child: Child,
    /// How the shell itself ended: its code, or its signal.
    ended: Option<(Option<i32>, Option<i32>)>,
}

impl Tree {
    /// Until the shell has ended, or the runner wants an end or is gone.
    fn obey(&mut self, runner: &mut UnixStream, signals: &OwnedFd) {
        while self.ended.is_none() {
            let mut ready = [PollFd::new(runner, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
            let (ordered, changed) = match poll(&mut ready, None) {
                Ok(_) => (!ready[0].revents().is_empty(), !ready[1].revents().is_empty()),
                Err(rustix::io::Errno::INTR) => continue,
                // Who cannot hear orders ends.
                Err(_) => return self.kill(signals),
            };
            if changed {
                let _ = rustix::io::read(signals, &mut [0; 1024]);
                self.reap_ended();
            }
            if ordered && self.ended.is_none() {
                let mut order = [0];
                match runner.read(&mut order) {
                    Ok(1) if order == [TERM] => self.signal_all(libc::SIGTERM),
                    Ok(1) if order != [KILL] => {}
                    // The order to kill; or the runner is gone, and so must everything be.
                    _ => return self.kill(signals),
                }
            }
        }
    }

    /// Kills everything, until the shell has ended or does not end.
    fn kill(&mut self, signals: &OwnedFd) {
        let until = Instant::now() + CLEANUP;
        loop {
            self.signal_all(libc::SIGKILL);
            self.reap_ended();
            if self.ended.is_some() || Instant::now() > until {
                return;
            }
            if poll(&mut [PollFd::new(signals, PollFlags::IN)], Some(&MOMENT)).is_err() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = rustix::io::read(signals, &mut [0; 1024]);
        }
    }

    fn signal_all(&self, signal: i32) {
        match self.reap {
            Reap::Namespace => kernel::signal_everyone(signal),
            Reap::Descendants => tree::signal_descendants(signal),
        }
    }

    /// Takes note of every process that has ended, and says how many there were besides the shell.
    fn reap_ended(&mut self) -> u32 {
        let main = Pid::from_child(&self.child);
        let mut others = 0;
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == main {
                self.ended = Some(how(status));
            } else {
                others += 1;
            }
        }
        others
    }

    /// Kills orphans as they come: a process that forks and ends again and again is gone before a look at all processes
    /// is over, but each of its children becomes a child of this one at once. Says how many ended.
    fn chase(&mut self) -> u32 {
        let mut ended = 0;
        for _ in 0..2000 {
            let children = tree::children();
            if children.is_empty() {
                break;
            }
            for pid in children {
                kernel::end_child(pid);
            }
            ended += self.reap_ended();
        }
        ended
    }

    /// Kills what is left until nothing is.
    fn finish(mut self) -> Ended {
        let until = Instant::now() + CLEANUP;
        // What ended by itself was not left behind.
        self.reap_ended();
        let mut leftovers = 0;
        loop {
            self.signal_all(libc::SIGKILL);
            leftovers += self.reap_ended();
            if self.reap == Reap::Descendants {
                leftovers += self.chase();
            }
            // Without a child there is no descendant: orphans become children of this process.
            match wait(WaitOptions::NOHANG) {
                Err(rustix::io::Errno::CHILD) => break,
                Ok(Some((pid, status))) if pid == Pid::from_child(&self.child) => self.ended = Some(how(status)),
                Ok(Some(_)) => leftovers += 1,
                _ if Instant::now() > until => break,
                _ => std::thread::sleep(Duration::from_micros(500)),
            }
        }
        let survivors = u32::from(!matches!(wait(WaitOptions::NOHANG), Err(rustix::io::Errno::CHILD)));
        let (code, signal) = self.ended.unwrap_or((None, Some(libc::SIGKILL)));
        Ended { code, signal, leftovers, survivors }
    }
}

const MOMENT: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

fn how(status: WaitStatus) -> (Option<i32>, Option<i32>) {
    (status.exit_status(), status.terminating_signal())
}
