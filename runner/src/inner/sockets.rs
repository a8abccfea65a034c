//! To whom a run's sockets connect: each `connect` is made here, to an address that was copied out of the caller, and to
//! a unix socket only when one of the run's own processes listens there.
//!
//! A name says little: sockets are bound by relative names, renamed, linked to, and those of other network namespaces are in
//! no list. So what the name leads to is opened first, and the kernel is asked who listens at this very file (`sock_diag`).
//! The connection is then made through what was opened, whatever the name says by now.
//!
//! INVARIANT: nothing of a call is taken from the caller's memory twice, and no call is let go on by itself: another thread
//! could change the address in between.

use std::fs::File;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::linux::fs::MetadataExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{ForeignRawFd, Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::kernel::{self, WaitingCall};
use super::{Reap, tree};

/// Most calls that wait at once; each has a thread here.
const MOST_WAITING: usize = 512;
/// Longest address, as the kernel takes it, in bytes.
const MOST_BYTES: usize = 128;
/// A socket that takes connections, in `sock_diag`'s words.
const LISTENS: u8 = 10;

/// What a run's connections are judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The network namespace is the run's own: every unix socket in it is.
    pub(super) own_network: bool,
    /// How the run's processes are found.
    pub(super) reap: Reap,
    /// The only internet address that may be connected to, where there is one.
    pub(super) only: Option<SocketAddrV4>,
}

/// Answers every call until there can be no more. Where there is but one address, `ports` hears from where each connection to it comes,
/// by address and port: whoever else connects there is none of the run.
pub(super) fn serve(listener: OwnedFd, bounds: Bounds, ports: Option<OwnedFd>) {
    let (listener, ports) = (Arc::new(listener), Arc::new(ports));
    let waiting = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        while let Ok(call) = kernel::next_call(&listener) {
            if waiting.load(Ordering::Relaxed) >= MOST_WAITING {
                kernel::answer_call(&listener, call.id, Errno::AGAIN.raw_os_error());
                continue;
            }
            waiting.fetch_add(1, Ordering::Relaxed);
            let (at, count, ports) = (listener.clone(), waiting.clone(), ports.clone());
            // To connect can take long, and others may be needed before it is done.
            let started = std::thread::Builder::new().stack_size(256 * 1024).spawn(move || {
                let mut goes_out = None;
                let error = connect(&at, &call, bounds, &mut goes_out).err().map_or(0, Errno::raw_os_error);
                // Whose port it is is said when there is a connection, and not of one that may come to nothing.
                let tell = || {
                    if let (Some(ports), Some(socket)) = (&*ports, &goes_out) {
                        tell_of(socket, ports);
                    }
                };
                if error == 0 {
                    tell();
                }
                kernel::answer_call(&at, call.id, error);
                // One that is still on its way, which its caller must not wait for.
                if error != 0 {
                    tell();
                }
                count.fetch_sub(1, Ordering::Relaxed);
            });
            if started.is_err() {
                waiting.fetch_sub(1, Ordering::Relaxed);
                kernel::answer_call(&listener, call.id, Errno::AGAIN.raw_os_error());
            }
        }
    });
}

/// Makes one connection as its caller has asked for it.
fn connect(
    listener: &OwnedFd,
    call: &WaitingCall,
    bounds: Bounds,
    goes_out: &mut Option<OwnedFd>,
) -> Result<(), Errno> {
    let [descriptor, pointer, length] = call.arguments;
    // The kernel takes both as `int`.
    let descriptor = i32::try_from(descriptor & 0xffff_ffff).map_err(|_| Errno::BADF)?;
    let length = usize::try_from(length & 0xffff_ffff).unwrap_or(usize::MAX);
    let caller = Caller::open(call.thread)?;
    if !kernel::still_waits(listener, call.id) {
        return Err(Errno::INTR);
    }
    let socket = caller.socket(descriptor)?;
    if length > MOST_BYTES {
        return Err(Errno::INVAL);
    }
    let mut address = [0; MOST_BYTES];
    let address = address.get_mut(..length).unwrap_or_default();
    caller.memory.read_exact_at(address, pointer).map_err(|_| Errno::FAULT)?;
    let Some((family, rest)) = address.split_first_chunk::<2>() else { return Err(Errno::INVAL) };
    match AddressFamily::from_raw(u16::from_ne_bytes(*family)) {
        AddressFamily::UNSPEC => rustix::net::connect_unspec(&socket),
        AddressFamily::INET => {
            let to = inet(rest).ok_or(Errno::INVAL)?;
            if bounds.only.is_some_and(|only| only != to) {
                return Err(Errno::NETUNREACH);
            }
            let connected = rustix::net::connect(&socket, &to);
            if matches!(connected, Ok(()) | Err(Errno::INPROGRESS)) {
                *goes_out = Some(socket);
            }
            connected
        }
        AddressFamily::INET6 if bounds.only.is_some() => Err(Errno::NETUNREACH),
        AddressFamily::INET6 => rustix::net::connect(&socket, &inet6(rest).ok_or(Errno::INVAL)?),
        AddressFamily::UNIX => match rest.split_first() {
            None => Err(Errno::INVAL),
            Some((0, name)) => to_name(&socket, name, bounds),
            Some(_) => to_path(&socket, rest.split(|byte| *byte == 0).next().unwrap_or_default(), &caller, bounds),
        },
        _ => Err(Errno::AFNOSUPPORT),
    }
}

/// Says from where a connection comes, once there is one.
fn tell_of(socket: &OwnedFd, ports: &OwnedFd) {
    const LONGEST: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 60, tv_nsec: 0 };
    let is_over = poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&LONGEST));
    // Its error, if there is one, is the caller's to read.
    let is_there = is_over == Ok(1) && rustix::net::getpeername(socket).is_ok_and(|peer| peer.is_some());
    let from = rustix::net::getsockname(socket).ok().and_then(|from| SocketAddrV4::try_from(from).ok());
    if let Some(from) = from.filter(|from| is_there && from.ip().is_loopback()) {
        let said = [&from.ip().octets()[..], &from.port().to_be_bytes()].concat();
        let _ = rustix::io::write(ports, &said);
    }
}

/// Port and address, behind the family.
fn inet(bytes: &[u8]) -> Option<SocketAddrV4> {
    let (port, rest) = bytes.split_first_chunk::<2>()?;
    let (address, _) = rest.split_first_chunk::<4>()?;
    Some(SocketAddrV4::new(Ipv4Addr::from(*address), u16::from_be_bytes(*port)))
}

/// Port, flow, address and zone, behind the family.
fn inet6(bytes: &[u8]) -> Option<SocketAddrV6> {
    let (port, rest) = bytes.split_first_chunk::<2>()?;
    let (flow, rest) = rest.split_first_chunk::<4>()?;
    let (address, rest) = rest.split_first_chunk::<16>()?;
    // Very old programs leave the zone out.
    let zone = rest.first_chunk::<4>().map_or(0, |zone| u32::from_ne_bytes(*zone));
    let flow = u32::from_be_bytes(*flow);
    Some(SocketAddrV6::new(Ipv6Addr::from(*address), u16::from_be_bytes(*port), flow, zone))
}

/// Connects to a socket whose name is no file's.
fn to_name(socket: &OwnedFd, name: &[u8], bounds: Bounds) -> Result<(), Errno> {
    let whole = [b"\0", name].concat();
    let known = unix_sockets()?.into_iter().any(|bound| bound.name == whole && bounds.is_own(bound.inode));
    // Nobody else's can be told from none.
    if !known {
        return Err(Errno::CONNREFUSED);
    }
    rustix::net::connect(socket, &SocketAddrUnix::new_abstract_name(name)?)
}

/// Connects to a socket at a path, as the caller would find it.
fn to_path(socket: &OwnedFd, path: &[u8], caller: &Caller, bounds: Bounds) -> Result<(), Errno> {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = if path.is_relative() {
        let cwd = rustix::fs::open(caller.folder.join("cwd"), flags | OFlags::DIRECTORY, Mode::empty())?;
        rustix::fs::openat(&cwd, path, flags, Mode::empty())?
    } else if let Ok(rest) = path.strip_prefix("/proc/self") {
        rustix::fs::openat(CWD, caller.folder.join(rest), flags, Mode::empty())?
    } else {
        rustix::fs::openat(CWD, path, flags, Mode::empty())?
    };
    let opened = File::from(opened);
    if !opened.metadata().map_err(|_| Errno::ACCESS)?.file_type().is_socket() {
        return Err(Errno::CONNREFUSED);
    }
    let place = Place::of(&opened).ok_or(Errno::ACCESS)?;
    let mut here = unix_sockets()?.into_iter().filter(|bound| bound.place == Some(place)).peekable();
    // Nobody listens there any more, or nobody of this network namespace.
    here.peek().ok_or(Errno::CONNREFUSED)?;
    if !here.any(|bound| bounds.is_own(bound.inode)) {
        return Err(Errno::ACCESS);
    }
    // Another socket cannot be bound to a file that is there.
    rustix::net::connect(socket, &SocketAddrUnix::new(format!("/proc/self/fd/{}", opened.as_raw_fd()))?)?;
    // Some file systems number the files of their parts alike. The kernel knows who listens: a process outside has no number here.
    let is_stream = rustix::net::sockopt::socket_type(socket)? != SocketType::DGRAM;
    if bounds.reap == Reap::Namespace && is_stream && kernel::listener_of(socket).map_err(|_| Errno::ACCESS)? == 0 {
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        return Err(Errno::ACCESS);
    }
    Ok(())
}

impl Bounds {
    /// True for a socket that a process of this run holds.
    fn is_own(self, inode: u32) -> bool {
        if self.own_network {
            return true;
        }
        let wanted = format!("socket:[{inode}]");
        let holds = |pid: &i32| {
            let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            descriptors
                .into_iter()
                .any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == wanted.as_str()))
        };
        match self.reap {
            Reap::Descendants => tree::descendants().iter().any(holds),
            Reap::Namespace => tree::everyone().iter().any(holds),
        }
    }
}

/// The thread whose call waits.
struct Caller {
    /// Its folder in `/proc`.
    folder: PathBuf,
    memory: File,
}

impl Caller {
    fn open(thread: u32) -> Result<Self, Errno> {
        let folder = PathBuf::from(format!("/proc/{thread}"));
        let memory = File::open(folder.join("mem")).map_err(|_| Errno::ACCESS)?;
        Ok(Self { folder, memory })
    }

    /// A copy of one of its descriptors.
    fn socket(&self, descriptor: i32) -> Result<OwnedFd, Errno> {
        // Only whole processes can be held, and the number is a thread's.
        let status = std::fs::read_to_string(self.folder.join("status")).map_err(|_| Errno::ACCESS)?;
        let process = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
        let held = pidfd_open(process.and_then(Pid::from_raw).ok_or(Errno::ACCESS)?, PidfdFlags::empty())?;
        pidfd_getfd(&held, descriptor as ForeignRawFd, PidfdGetfdFlags::empty())
    }
}

/// A file as the kernel itself knows it, whatever file systems lie over each other there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    device: u32,
    /// As much of it as `sock_diag` tells.
    inode: u32,
}

impl Place {
    fn of(file: &File) -> Option<Self> {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
        let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let meta = file.metadata().ok()?;
        // Linux 5.14 tells it.
        let inode = field("ino:").unwrap_or_else(|| meta.st_ino());
        let mount = field("mnt_id:")?.to_string();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let device = mounts.lines().find_map(|line| {
            let mut fields = line.split(' ');
            (fields.next()? == mount).then_some(())?;
            let (major, minor) = fields.nth(1)?.split_once(':')?;
            Some(major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?)
        })?;
        Some(Self { device, inode: low(inode) })
    }
}

const fn low(inode: u64) -> u32 {
    let [a, b, c, d, ..] = inode.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// A unix socket of this network namespace that takes connections.
struct Bound {
    inode: u32,
    name: Vec<u8>,
    place: Option<Place>,
}

/// All of them, by `sock_diag` (`include/uapi/linux/unix_diag.h`).
fn unix_sockets() -> Result<Vec<Bound>, Errno> {
    const BY_FAMILY: u16 = 20;
    const REQUEST_DUMP: u16 = 0x301;
    const SHOW_NAME_AND_FILE: u32 = 3;
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(rustix::net::netlink::SOCK_DIAG),
    )?;
    let mut request = Vec::with_capacity(40);
    request.extend(40u32.to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST_DUMP.to_ne_bytes());
    request.extend([0; 8]);
    // Family, protocol, padding; states; inode; what to show; cookie.
    request.extend([AddressFamily::UNIX.as_raw().to_le_bytes()[0], 0, 0, 0]);
    request.extend((1u32 << LISTENS).to_ne_bytes());
    request.extend(0u32.to_ne_bytes());
    request.extend(SHOW_NAME_AND_FILE.to_ne_bytes());
    request.extend([0xff; 8]);
    rustix::net::sendto(&socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut found = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let (_, length) = rustix::net::recv(socket.as_fd(), &mut buffer, RecvFlags::empty())?;
        let mut rest = buffer.get(..length).unwrap_or_default();
        if rest.is_empty() {
            return Ok(found);
        }
        while let Some((kind, body, behind)) = message(rest) {
            match kind {
                BY_FAMILY => found.extend(bound(body)),
                // The end of the list, or an error.
                3 => return Ok(found),
                _ => return Err(Errno::ACCESS),
            }
            rest = behind;
        }
    }
}

/// The first message of netlink's, and what stands behind it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(16..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// A `unix_diag_msg`: family, kind, state, padding, inode, cookie, then attributes.
fn bound(bytes: &[u8]) -> Option<Bound> {
    let state = *bytes.get(2)?;
    let inode = u32::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let mut found = Bound { inode, name: Vec::new(), place: None };
    let mut rest = bytes.get(16..)?;
    while let Some(length) = rest.first_chunk().map(|length| usize::from(u16::from_ne_bytes(*length))) {
        let kind = u16::from_ne_bytes(*rest.get(2..)?.first_chunk()?);
        let value = rest.get(4..length)?;
        match kind {
            0 => found.name = value.to_vec(),
            1 => {
                let word = |at: usize| Some(u32::from_ne_bytes(*value.get(at..)?.first_chunk()?));
                found.place = Some(Place { inode: word(0)?, device: word(4)? });
            }
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    (state == LISTENS).then_some(found)
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};

    use super::*;

    #[test]
    fn a_socket_is_known_by_what_it_is_and_not_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let listener = UnixListener::bind(&path).unwrap();
        let moved = folder.path().join("b");
        std::fs::rename(&path, &moved).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&moved, &link).unwrap();
        let place = |path: &Path| {
            let opened = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
            Place::of(&File::from(opened)).unwrap()
        };
        let all = unix_sockets().unwrap();
        let here: Vec<&Bound> = all.iter().filter(|bound| bound.place == Some(place(&link))).collect();
        assert_eq!(here.len(), 1);
        let own = Bounds { own_network: false, reap: Reap::Descendants, only: None };
        // This process is no descendant of itself.
        assert!(!own.is_own(here[0].inode));
        drop(listener);
        assert!(!unix_sockets().unwrap().iter().any(|bound| bound.place == Some(place(&moved))));
    }

    #[test]
    fn names_that_are_no_files_are_known_whole() {
        let name = format!("bashgate-test-{}", std::process::id());
        let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let whole = [b"\0", name.as_bytes()].concat();
        assert!(unix_sockets().unwrap().iter().any(|bound| bound.name == whole));
    }

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        assert_eq!(inet(&[0, 80, 127, 0, 0, 1, 0, 0]).unwrap().to_string(), "127.0.0.1:80");
        assert!(inet(&[0, 80, 127]).is_none());
        let mut six = vec![1, 187, 0, 0, 0, 0];
        six.extend(Ipv6Addr::LOCALHOST.octets());
        assert_eq!(inet6(&six).unwrap().to_string(), "[::1]:443");
        assert!(inet6(&six[..20]).is_none());
    }
}
