//! Control groups, version 1 and 2: limits on memory and processes of a whole tree, where they can be written.
//!
//! A group is made below this process's own one, joined before exec, and removed when the run is over. Where that is
//! refused, as for most ordinary users and in most containers, limits of each process remain.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{Guarantee, temporary};

const PREFIX: &str = "bashgate-run-";

/// The groups of one run.
#[derive(Debug, Default)]
pub struct Groups {
    made: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    folder: PathBuf,
    enforces: Vec<Guarantee>,
    version: Version,
    /// Keeps other runners from sweeping it away.
    _lock: OwnedFd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Groups {
    /// Groups with these limits, as far as they can be made. 0 is no limit.
    pub fn make(memory_mib: u64, processes: u64) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let mut groups = Self::default();
        let memory = (memory_mib > 0).then(|| (memory_mib << 20).to_string());
        let processes = (processes > 0).then(|| processes.to_string());
        for own in own_groups() {
            sweep(&own.folder);
            let wanted: Vec<(&str, &Option<String>, Guarantee)> = match own.version {
                Version::One => own
                    .controllers
                    .iter()
                    .filter_map(|controller| match controller.as_str() {
                        "memory" => Some(("memory.limit_in_bytes", &memory, Guarantee::Memory)),
                        "pids" => Some(("pids.max", &processes, Guarantee::Processes)),
                        _ => None,
                    })
                    .collect(),
                Version::Two => {
                    let given = fs::read_to_string(own.folder.join("cgroup.subtree_control")).unwrap_or_default();
                    let has = |name: &str| given.split_ascii_whitespace().any(|controller| controller == name);
                    let all = [
                        ("memory", "memory.max", &memory, Guarantee::Memory),
                        ("pids", "pids.max", &processes, Guarantee::Processes),
                    ];
                    all.into_iter()
                        .filter(|(name, ..)| has(name))
                        .map(|(_, file, value, kept)| (file, value, kept))
                        .collect()
                }
            };
            if wanted.iter().all(|(_, value, _)| value.is_none()) {
                continue;
            }
            let Some((folder, lock)) = make_locked(&own.folder.join(&name)) else { continue };
            let mut group = Group { folder, enforces: Vec::new(), version: own.version, _lock: lock };
            for (file, value, kept) in wanted {
                let Some(value) = value else { continue };
                if fs::write(group.folder.join(file), value).is_ok() {
                    group.enforces.push(kept);
                }
                if kept == Guarantee::Memory {
                    // Without this, memory that is full goes on in the swap.
                    let swap = if group.version == Version::One {
                        ("memory.memsw.limit_in_bytes", value.as_str())
                    } else {
                        ("memory.swap.max", "0")
                    };
                    let _ = fs::write(group.folder.join(swap.0), swap.1);
                }
            }
            groups.made.push(group);
        }
        groups
    }

    /// What they limit.
    pub fn enforces(&self) -> BTreeSet<Guarantee> {
        self.made.iter().flat_map(|group| group.enforces.iter().copied()).collect()
    }

    /// The files through which a process with one thread joins them, open for writing.
    pub fn doors(&self) -> io::Result<Vec<OwnedFd>> {
        let open = |group: &Group| {
            // For a single thread the first version needs no lock over all processes, which takes 10 ms and more.
            let name = if group.version == Version::One { "tasks" } else { "cgroup.procs" };
            fs::OpenOptions::new().write(true).open(group.folder.join(name)).map(OwnedFd::from)
        };
        self.made.iter().map(open).collect()
    }

    /// True when the kernel has killed a process for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        let killed = |group: &Group| {
            let file = if group.version == Version::One { "memory.oom_control" } else { "memory.events" };
            let text = fs::read_to_string(group.folder.join(file)).unwrap_or_default();
            text.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count.trim() != "0"))
        };
        self.made.iter().any(killed)
    }

    /// Kills what is still inside, again and again for a moment. What is left then; `None` without groups.
    ///
    /// For a supervisor that was itself killed: nobody else knows its tree.
    pub fn end(&self) -> Option<usize> {
        if self.made.is_empty() {
            return None;
        }
        let until = Instant::now() + Duration::from_secs(2);
        while self.processes() > 0 && Instant::now() < until {
            self.made.iter().for_each(Group::kill);
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(self.processes())
    }

    /// The processes in them.
    pub fn processes(&self) -> usize {
        let count = |group: &Group| {
            fs::read_to_string(group.folder.join("cgroup.procs")).map_or(0, |text| text.lines().count())
        };
        self.made.iter().map(count).max().unwrap_or(0)
    }
}

impl Group {
    fn kill(&self) {
        if self.version == Version::Two && fs::write(self.folder.join("cgroup.kill"), "1").is_ok() {
            return;
        }
        let list = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        let is_inside = |pid: &str| {
            let now = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
            now.lines().any(|line| line == pid)
        };
        for line in list.lines() {
            // Held first, then looked for again: what is held cannot become another process.
            let held =
                line.parse().ok().and_then(Pid::from_raw).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
            if let Some(held) = held
                && is_inside(line)
            {
                let _ = pidfd_send_signal(&held, Signal::KILL);
            }
        }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for group in &self.made {
            // A group can be removed once its last process is gone for good, a moment after its end is known.
            let until = Instant::now() + Duration::from_secs(2);
            while fs::remove_dir(&group.folder).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
                if Instant::now() > until {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

struct Own {
    folder: PathBuf,
    version: Version,
    controllers: Vec<String>,
}

/// The groups of this process, by `/proc/self/cgroup` and where they are mounted.
fn own_groups() -> Vec<Own> {
    let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    memberships.lines().filter_map(|line| own_group(line, &mounts)).collect()
}

fn own_group(membership: &str, mounts: &str) -> Option<Own> {
    let mut fields = membership.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let controllers: Vec<String> = controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let version = if controllers.is_empty() { Version::Two } else { Version::One };
    if version == Version::One && !controllers.iter().any(|name| name == "memory" || name == "pids") {
        return None;
    }
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, point) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let fits = match version {
            Version::One => {
                kind == "cgroup" && options.split(',').any(|option| controllers.iter().any(|name| name == option))
            }
            Version::Two => kind == "cgroup2",
        };
        let inside = Path::new(path).strip_prefix(root).ok()?;
        fits.then(|| Own { folder: Path::new(point).join(inside), version, controllers: controllers.clone() })
    })
}

/// Makes a group and locks it. Between the two somebody may take it for one that was left, and remove it: then again.
fn make_locked(folder: &Path) -> Option<(PathBuf, OwnedFd)> {
    (0..8).find_map(|attempt| {
        let folder = folder.with_file_name(format!("{}-{attempt}", folder.file_name()?.to_str()?));
        fs::create_dir(&folder).ok()?;
        let lock = temporary::lock(&folder).ok()?;
        folder.exists().then_some((folder, lock))
    })
}

/// Removes what runners that were killed have left: groups without a process that nobody holds.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            && let Ok(_lock) = temporary::lock(&entry.path())
        {
            // Fails as long as a process is inside.
            let _ = fs::remove_dir(entry.path());
        }
    }
}
