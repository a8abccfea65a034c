//! What does a real shell execute? Runs commands with every `execve`, `connect` and `socket` traced.
//!
//! Reads JSON lines `{"shell": "bash", "command": "…"}` and answers each with a line of what ran. It must run inside the
//! wall that `wall.sh` builds and refuses to start elsewhere: a command may be `kill -9 -1`.
//!
//! A line may name a world, `"world": FOLDER, "environment": ["NAME=value", …]`: a folder with `w`, `home` and `outside`, of
//! which the command gets a copy, and starts in its `w`. The answer then also has what the command printed, which files it
//! changed, and, with `"canary": TEXT`, which hold that text and did not before.
//!
//! Each command gets a folder with files of hostile names, a pid namespace of its own, limits, no capability, and a
//! seccomp filter that hands the traced calls to this process (`SECCOMP_RET_USER_NOTIF`, `seccomp_unotify(2)`). The
//! supervisor lets `execve` go on after reading its arguments and refuses every socket. A tracer in the shell (`set -x`, a
//! DEBUG trap) would be no witness: the command could switch it off.
#![expect(unsafe_code, reason = "clone, seccomp and process_vm_readv have no safe form")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::{BufRead as _, Write as _};
use std::os::fd::RawFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest run of one command.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most arguments, and most bytes of one, that are read from a process.
const MAX_ARGUMENTS: u64 = 256;
const MAX_TEXT: usize = 128 * 1024;

/// `AUDIT_ARCH_X86_64` (linux/audit.h).
const ARCH: u32 = 0xc000_003e;
/// `SECCOMP_IOCTL_NOTIF_RECV` and `…_SEND` (linux/seccomp.h)
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
/// `SECCOMP_IOCTL_NOTIF_ID_VALID`.
const STILL_VALID: libc::c_ulong = 0x4008_2102;
/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const CONTINUE: u32 = 1;

/// Files in each command's folder: names that turn into options and commands when somebody is careless.
const FILES: &[(&str, &str)] = &[
    ("a", "one\ntwo a[$(EVIL)]\n3\n"),
    ("b.txt", "x\ny\n"),
    ("c.sh", "EVIL\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/lib.rs", "a[$(EVIL)]\n"),
    ("-n", "x\n"),
    ("-exec", "x\n"),
    ("--pre=EVIL", "x\n"),
    ("--compress-program=EVIL", "x\n"),
    ("x;EVIL", "x\n"),
    ("$(EVIL)", "x\n"),
    ("data.json", "{\"key\": [1, 2]}\n"),
    ("r", "($(EVIL))\n"),
    ("it's", "x\n"),
    ("src/x -e1e EVIL y.txt", "x\n"),
    ("src/x\nEVIL\n", "x\n"),
];

/// Links beside them, and where they lead.
const LINKS: &[(&str, &str)] = &[("link", "/etc"), ("loop", "loop"), ("up", ".."), ("src/out", "/usr/bin")];

/// Variables that the commands inherit: what an attacker would put there.
const ENVIRONMENT: &[&str] = &[
    "HOME=/tmp/home",
    "x=a[$(EVIL)]",
    "y=-exec EVIL ;",
    "f=EVIL",
    "n=a[$(EVIL)]",
    "v=x $(EVIL)",
    "opt=--pre=EVIL",
    "m=($(EVIL))",
    "e=",
];

const fn statement(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: 0, k }
}

/// The filter: another architecture's calls and `io_uring` fail, the listed calls go to the supervisor.
fn filter() -> Vec<libc::sock_filter> {
    let number = |call: libc::c_long| u32::try_from(call).unwrap();
    let jump = |k: u32| libc::sock_filter { code: 0x15, jt: 0, jf: 1, k };
    let mut program = vec![statement(0x20, 4)];
    program.push(libc::sock_filter { code: 0x15, jt: 1, jf: 0, k: ARCH });
    program.push(statement(0x06, libc::SECCOMP_RET_KILL_PROCESS));
    program.push(statement(0x20, 0));
    // The x32 calls carry this bit.
    program.push(libc::sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 });
    program.push(statement(0x06, libc::SECCOMP_RET_KILL_PROCESS));
    for call in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register] {
        program.push(jump(number(call)));
        program.push(statement(0x06, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()));
    }
    for call in [libc::SYS_execve, libc::SYS_execveat, libc::SYS_socket, libc::SYS_connect] {
        program.push(jump(number(call)));
        program.push(statement(0x06, libc::SECCOMP_RET_USER_NOTIF));
    }
    program.push(statement(0x06, libc::SECCOMP_RET_ALLOW));
    program
}

/// Reads another process's memory, at most to the end of a page that may be the last one.
fn memory(pid: u32, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0_u8; length];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    // SAFETY: `local` is ours and as long as it says; the kernel checks the other side.
    let read = unsafe { libc::process_vm_readv(pid.cast_signed(), &raw const local, 1, &raw const remote, 1, 0) };
    bytes.truncate(usize::try_from(read).unwrap_or(0));
    bytes
}

fn text(pid: u32, address: u64) -> String {
    let mut out = Vec::new();
    let mut at = address;
    while out.len() < MAX_TEXT {
        let page = 4096 - usize::try_from(at & 4095).unwrap();
        let part = memory(pid, at, page.min(512));
        if let Some(end) = part.iter().position(|byte| *byte == 0) {
            out.extend(&part[..end]);
            break;
        }
        if part.is_empty() {
            break;
        }
        at += part.len() as u64;
        out.extend(part);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The arguments, and whether these are all.
fn arguments(pid: u32, address: u64) -> (Vec<String>, bool) {
    let mut out = Vec::new();
    for index in 0..MAX_ARGUMENTS {
        let Ok(pointer) = <[u8; 8]>::try_from(memory(pid, address + index * 8, 8)) else { return (out, true) };
        let pointer = u64::from_ne_bytes(pointer);
        if pointer == 0 {
            return (out, true);
        }
        out.push(text(pid, pointer));
    }
    (out, false)
}

struct Shells {
    filter: Vec<libc::sock_filter>,
}

/// Where a command runs.
struct Place {
    folder: PathBuf,
    environment: Vec<CString>,
    /// Where its output goes, if anybody wants it.
    output: Option<std::fs::File>,
}

/// A NULL-terminated array for execve.
fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Files for one command.
fn make_folder(folder: &Path) {
    for (name, content) in FILES {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    for (name, to) in LINKS {
        std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    }
}

/// Copies a folder as it is, links as links.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (kind, to) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path()).unwrap(), to).unwrap();
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// What each file and link below a folder holds, and the modes of all but links.
fn contents(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let mode = entry.metadata().map_or(0, |meta| meta.permissions().mode());
        let content = match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                contents(&path, found);
                (mode, Vec::new())
            }
            Ok(kind) if kind.is_symlink() => {
                (0, std::fs::read_link(&path).unwrap_or_default().into_os_string().into_encoded_bytes())
            }
            _ => (mode, std::fs::read(&path).unwrap_or_default()),
        };
        found.insert(path, content);
    }
}

/// The files that hold this text and did not before, by their names below the folder.
fn holding(folder: &Path, text: &str, before: &BTreeMap<PathBuf, (u32, Vec<u8>)>) -> Vec<String> {
    let mut after = BTreeMap::new();
    contents(folder, &mut after);
    let holds = |content: &[u8]| content.windows(text.len()).any(|part| part == text.as_bytes());
    let new = after
        .iter()
        .filter(|(path, (_, content))| holds(content) && !before.get(*path).is_some_and(|(_, content)| holds(content)));
    new.map(|(path, _)| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()).collect()
}

/// What is no longer what it was, by its name below the folder; a folder's ends with a slash.
fn changed(folder: &Path, before: &BTreeMap<PathBuf, (u32, Vec<u8>)>) -> Vec<String> {
    let mut after = BTreeMap::new();
    contents(folder, &mut after);
    let names = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    names
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
            let is_folder = after.get(path).or(before.get(path)).is_some_and(|(mode, _)| mode & 0o170_000 == 0o040_000);
            if is_folder { name + "/" } else { name }
        })
        .collect()
}

impl Shells {
    fn run(&self, shell: &str, command: &str, place: &Place) -> Value {
        let program = CString::new(format!("/usr/bin/{shell}")).unwrap();
        let words: &[&str] = match shell {
            "bash" => &["bash", "--norc", "--noprofile", "-c"],
            "zsh" => &["zsh", "-f", "-c"],
            _ => &["dash", "-c"],
        };
        let Ok(command) = CString::new(command) else { return json!({"lost": "a NUL in the command"}) };
        let words: Vec<CString> = words.iter().map(|word| CString::new(*word).unwrap()).chain([command]).collect();
        let (argv, envp) = (pointers(&words), pointers(&place.environment));
        let cwd = CString::new(place.folder.to_str().unwrap()).unwrap();
        let mut ends: [RawFd; 2] = [0; 2];
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        // SAFETY: `ends` has room for two descriptors.
        let made = unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) };
        assert_eq!(made, 0, "socketpair");
        let [ours, theirs] = ends;
        let filter = libc::sock_fprog {
            len: u16::try_from(self.filter.len()).unwrap(),
            filter: self.filter.as_ptr().cast_mut(),
        };
        let output = place.output.as_ref().map_or(-1, std::os::fd::AsRawFd::as_raw_fd);
        let flags = libc::SIGCHLD | libc::CLONE_NEWPID;
        // SAFETY: like fork; the child calls only what is safe between fork and exec.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
        if pid == 0 {
            // SAFETY: everything was made before the clone; nothing in here allocates or returns.
            unsafe {
                let start = [program.as_ptr(), cwd.as_ptr()];
                child([theirs, output], &raw const filter, start, argv.as_ptr(), envp.as_ptr())
            }
        }
        // SAFETY: `theirs` is open and belongs to the child now.
        unsafe { libc::close(theirs) };
        let pid = i32::try_from(pid).unwrap();
        // With -1 a later kill would reach everybody.
        assert!(pid > 0, "clone failed: {}", std::io::Error::last_os_error());
        let found = supervise(pid, ours);
        let mut status = 0;
        // SAFETY: `pid` is our child and has not been waited for.
        unsafe {
            libc::waitpid(pid, &raw mut status, 0);
            libc::close(ours);
        }
        found
    }
}

/// The first process of the case's pid namespace: limits itself, hands over the listener, runs the shell, reaps all.
///
/// # Safety
/// Runs between fork and exit: only calls that are safe there, and never returns.
unsafe fn child(
    [pair, output]: [RawFd; 2],
    filter: *const libc::sock_fprog,
    [program, cwd]: [*const libc::c_char; 2],
    argv: *const *const libc::c_char,
    envp: *const *const libc::c_char,
) -> ! {
    // SAFETY: plain system calls on values that outlive this process.
    unsafe {
        libc::setsid();
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for number in 0..3 {
            libc::dup2(if number > 0 && output >= 0 { output } else { null }, number);
        }
        if libc::chdir(cwd) != 0 {
            libc::_exit(126);
        }
        for (what, most) in [
            (libc::RLIMIT_CPU, 2),
            (libc::RLIMIT_FSIZE, 1 << 20),
            (libc::RLIMIT_CORE, 0),
            (libc::RLIMIT_AS, 1 << 30),
            (libc::RLIMIT_NPROC, 600),
        ] {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            libc::setrlimit(what, &raw const limit);
        }
        let header = [0x2008_0522_u32, 0];
        let none = [0_u32; 6];
        libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr());
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let listener =
            libc::syscall(libc::SYS_seccomp, 1_u64, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER, filter).to_ne_bytes();
        libc::write(pair, listener.as_ptr().cast(), 8);
        let mut go = [0_u8; 1];
        libc::read(pair, go.as_mut_ptr().cast(), 1);
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32);
        let shell = libc::syscall(libc::SYS_fork);
        if shell == 0 {
            libc::execve(program, argv, envp);
            libc::_exit(127);
        }
        let mut status = 0;
        while libc::waitpid(-1, &raw mut status, 0) >= 0 {}
        libc::_exit(0);
    }
}

fn supervise(pid: i32, pair: RawFd) -> Value {
    let mut number = [0_u8; 8];
    // SAFETY: descriptors that we opened; the buffers are as long as said.
    let (process, listener) = unsafe {
        libc::read(pair, number.as_mut_ptr().cast(), 8);
        let process = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        let listener = libc::syscall(libc::SYS_pidfd_getfd, process, i64::from_ne_bytes(number), 0);
        libc::write(pair, number.as_ptr().cast(), 1);
        (RawFd::try_from(process).unwrap(), RawFd::try_from(listener).unwrap())
    };
    let stop = || {
        // SAFETY: the pid is that of our child, which nobody has reaped yet; with it dies its namespace.
        unsafe { libc::kill(pid, libc::SIGKILL) }
    };
    if listener < 0 {
        stop();
        return json!({"lost": format!("no listener: {}", std::io::Error::last_os_error())});
    }
    let mut execs: Vec<Value> = Vec::new();
    let mut sockets: Vec<i64> = Vec::new();
    let mut connects = 0;
    let mut timeout = false;
    let begin = Instant::now();
    loop {
        if begin.elapsed() > PATIENCE {
            timeout = true;
            stop();
            break;
        }
        let interest = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut polled = [interest(listener), interest(process)];
        // SAFETY: two entries.
        unsafe { libc::poll(polled.as_mut_ptr(), 2, 50) };
        if polled[0].revents & libc::POLLIN == 0 {
            if polled[1].revents != 0 || polled[0].revents != 0 {
                break;
            }
            continue;
        }
        // SAFETY: zero is a valid value of each field.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel fills the structure that the request's number names.
        if unsafe { libc::ioctl(listener, RECEIVE, &raw mut notice) } != 0 {
            continue;
        }
        let args = notice.data.args;
        let refused = libc::seccomp_notif_resp { id: notice.id, val: 0, error: -libc::EACCES, flags: 0 };
        let goes_on = libc::seccomp_notif_resp { id: notice.id, val: 0, error: 0, flags: CONTINUE };
        let exec = |path: u64, list: u64| {
            let (words, whole) = arguments(notice.pid, list);
            json!([text(notice.pid, path), words, whole])
        };
        let seen = match libc::c_long::from(notice.data.nr) {
            libc::SYS_execve => Some(exec(args[0], args[1])),
            libc::SYS_execveat => Some(exec(args[1], args[2])),
            _ => None,
        };
        // A signal may have interrupted the call, and the process gone on: then its memory was another one while it was
        // read. The call comes again, or never happens.
        // SAFETY: the number of the notification is as long as the request says.
        if unsafe { libc::ioctl(listener, STILL_VALID, &raw const notice.id) } != 0 {
            continue;
        }
        let answer = match libc::c_long::from(notice.data.nr) {
            libc::SYS_execve | libc::SYS_execveat => {
                execs.extend(seen);
                goes_on
            }
            libc::SYS_socket => {
                sockets.push(args[0].cast_signed());
                refused
            }
            _ => {
                connects += 1;
                refused
            }
        };
        // SAFETY: as above.
        unsafe { libc::ioctl(listener, SEND, &raw const answer) };
    }
    // SAFETY: both are ours.
    unsafe {
        libc::close(listener);
        libc::close(process);
    }
    // The first one is the shell of the case itself.
    json!({"execs": execs.get(1..).unwrap_or(&[]), "sockets": sockets, "connects": connects, "timeout": timeout})
}

/// Never outside of a private user and pid namespace.
fn refuse_outside_of_the_wall() {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    assert!(!map.contains("4294967295"), "refused: this is the initial user namespace");
    let first = std::fs::read_to_string("/proc/1/comm").unwrap_or_default();
    assert_eq!(first.trim(), "bwrap", "refused: not inside of wall.sh");
}

fn main() {
    refuse_outside_of_the_wall();
    let threads: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3);
    let cases: Vec<Value> =
        std::io::stdin().lock().lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    let path = "PATH=/tmp/stubs:/usr/bin:/bin";
    let friendly: Vec<&str> = ENVIRONMENT.iter().copied().chain([path, "LC_ALL=C.UTF-8"]).collect();
    let shells = Shells { filter: filter() };
    let next = AtomicUsize::new(0);
    let out = Mutex::new(std::io::BufWriter::new(std::io::stdout()));
    std::fs::create_dir_all("/tmp/home").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (next, out, shells, cases, friendly) = (&next, &out, &shells, &cases, &friendly);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let shell = case["shell"].as_str().unwrap_or("bash");
                    let command = case["command"].as_str().unwrap_or("");
                    let mut found = if let Some(world) = case["world"].as_str() {
                        in_a_world(shells, shell, command, Path::new(world), case, thread)
                    } else {
                        // Folders of old cases are removed at once: a thread's own name is free again.
                        let folder = PathBuf::from(format!("/tmp/case{thread}"));
                        let _ = std::fs::remove_dir_all(&folder);
                        make_folder(&folder);
                        let place = Place { folder, environment: texts(friendly.iter().copied()), output: None };
                        shells.run(shell, command, &place)
                    };
                    found["id"] = index.into();
                    let mut out = out.lock().unwrap();
                    writeln!(out, "{found}").unwrap();
                }
            });
        }
    });
}

fn texts<'t>(all: impl Iterator<Item = &'t str>) -> Vec<CString> {
    all.map(|text| CString::new(text).unwrap()).collect()
}

/// Runs a command in a copy of a world, and looks at what it printed and changed.
fn in_a_world(shells: &Shells, shell: &str, command: &str, world: &Path, case: &Value, thread: usize) -> Value {
    let own = PathBuf::from(format!("/srv/case{thread}"));
    let _ = std::fs::remove_dir_all(&own);
    copy(world, &own);
    let printed = PathBuf::from(format!("/tmp/printed{thread}"));
    let home = format!("HOME={}/home", own.display());
    let given = case["environment"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let place = Place {
        folder: own.join("w"),
        environment: texts(given.chain([home.as_str()])),
        output: Some(std::fs::File::create(&printed).unwrap()),
    };
    let mut before = BTreeMap::new();
    contents(&own, &mut before);
    let mut found = shells.run(shell, command, &place);
    found["printed"] = String::from_utf8_lossy(&std::fs::read(&printed).unwrap_or_default()).into();
    found["changed"] = changed(&own, &before).into();
    if let Some(text) = case["canary"].as_str() {
        found["copied"] = holding(&own, text, &before).into();
    }
    found
}
