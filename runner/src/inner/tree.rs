//! Finding and signalling descendants where there is no process namespace.
//!
//! A process id can be given to somebody else between the look and the signal. So each process is held by a pidfd
//! first, looked at again, and only then signalled through it.

use std::collections::{HashMap, HashSet};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Sends a signal to every descendant of this process.
pub(super) fn signal_descendants(signal: i32) {
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    for pid in descendants() {
        let Some(held) = Pid::from_raw(pid) else { continue };
        let Ok(held) = pidfd_open(held, PidfdFlags::empty()) else { continue };
        if is_descendant(pid) {
            let _ = pidfd_send_signal(&held, signal);
        }
    }
}

/// The children of this process's one thread. Empty where the kernel does not list them.
pub(super) fn children() -> Vec<i32> {
    let list = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The parent of a process, by `/proc/PID/stat`; `None` when it is gone.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}

fn own() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(0)
}

fn is_descendant(pid: i32) -> bool {
    let own = own();
    let mut at = pid;
    // Longer chains do not end here, but at the limit on processes.
    for _ in 0..65_536 {
        match parent(at) {
            Some(next) if next == own => return true,
            Some(next) if next > 1 => at = next,
            _ => return false,
        }
    }
    false
}

/// Every process that this one sees but itself.
pub(super) fn everyone() -> Vec<i32> {
    let own = own();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|pid| *pid != own).collect()
}

/// All descendants, parents before their children.
pub(super) fn descendants() -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for pid in everyone() {
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![own()];
    let mut seen: HashSet<i32> = HashSet::new();
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        if let Some(of_it) = children.get(&pid) {
            found.extend(of_it.iter().copied().filter(|child| seen.insert(*child)));
        }
        at += 1;
    }
    found.remove(0);
    found
}
