//! What is running in this process now, for whom, and how to stop it.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

/// A way to stop a run: once said, it stays said.
#[derive(Debug, Clone)]
pub struct Stop {
    listen: Arc<OwnedFd>,
    say: Arc<Mutex<Option<OwnedFd>>>,
}

impl Stop {
    /// A new one, not said yet.
    pub fn new() -> io::Result<Self> {
        let (listen, say) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { listen: Arc::new(listen), say: Arc::new(Mutex::new(Some(say))) })
    }

    /// Stops the run.
    pub fn stop(&self) {
        // A pipe without a writer is readable for good.
        self.say.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Waits so long, or until it is said, and tells whether it was.
    pub fn is_said_within(&self, time: Duration) -> bool {
        let mut said = [PollFd::new(&*self.listen, PollFlags::IN)];
        let time = Timespec::try_from(time).ok();
        poll(&mut said, time.as_ref()).is_ok_and(|count| count > 0)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listen.as_fd()
    }
}

/// A run that is going on.
#[derive(Debug, Clone)]
pub struct Running {
    /// Its number in this process.
    pub id: u64,
    /// The agent on whose behalf.
    pub agent: Option<String>,
    /// The command.
    pub command: String,
    /// How long it has been running.
    pub age: Duration,
}

#[derive(Debug)]
struct Entry {
    agent: Option<String>,
    command: String,
    since: Instant,
    stop: Stop,
}

/// All runs of a process.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    runs: Arc<Mutex<BTreeMap<u64, Entry>>>,
    next: Arc<AtomicU64>,
}

impl Registry {
    /// What is running, oldest first; of one agent, or of all.
    pub fn running(&self, agent: Option<&str>) -> Vec<Running> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = runs.iter().filter(|(_, entry)| agent.is_none() || entry.agent.as_deref() == agent);
        let running = wanted.map(|(id, entry)| Running {
            id: *id,
            agent: entry.agent.clone(),
            command: entry.command.clone(),
            age: entry.since.elapsed(),
        });
        running.collect()
    }

    /// Stops one run. False when it is not running.
    pub fn stop(&self, id: u64) -> bool {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.get(&id).map(|entry| entry.stop.stop()).is_some()
    }

    /// Stops everything that runs for an agent, because the agent is gone. Says how many there were.
    pub fn remove_agent(&self, agent: &str) -> usize {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let own = runs.values().filter(|entry| entry.agent.as_deref() == Some(agent));
        own.map(|entry| entry.stop.stop()).count()
    }

    pub(crate) fn track(&self, agent: Option<&str>, command: &str, stop: &Stop) -> Tracked {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let entry = Entry {
            agent: agent.map(str::to_owned),
            command: command.to_owned(),
            since: Instant::now(),
            stop: stop.clone(),
        };
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(id, entry);
        Tracked { registry: self.clone(), id }
    }
}

/// As long as it lives, the run is listed.
#[derive(Debug)]
pub(crate) struct Tracked {
    registry: Registry,
    id: u64,
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.registry.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
