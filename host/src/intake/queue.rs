//! Requests that were read and wait for the loop: one line for each workspace, served in turn, so that a flood in one
//! costs the others a turn each and no more.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bashgate_shared::protocol::WorkspaceName;
use tokio::sync::Notify;

use super::Arrival;

/// Most requests of one workspace that wait. What comes beyond stays in its mailbox.
pub const MAX_WAITING: usize = 256;
/// Most bytes of one workspace that wait, up to one request more.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;
/// Beyond so many bytes in all, a workspace that has a request waiting gets no room for another.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The lines, one for each workspace.
#[derive(Debug, Default)]
pub struct Queue {
    lines: Mutex<Lines>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Lines {
    of: HashMap<WorkspaceName, Line>,
    /// The workspaces that have something waiting, the next one first.
    turns: VecDeque<WorkspaceName>,
    bytes: usize,
    /// Workspaces that were told that there is no room.
    turned_away: HashSet<WorkspaceName>,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Arrival>,
    bytes: usize,
}

impl Queue {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a workspace may hand in another request. Where it may not, [`Queue::next`] says when it may.
    pub(super) fn has_room(&self, workspace: &WorkspaceName) -> bool {
        let mut lines = self.lines();
        let full = lines.of.get(workspace).is_some_and(|line| {
            line.waiting.len() >= MAX_WAITING || line.bytes >= MAX_WAITING_BYTES || lines.bytes >= MAX_BYTES
        });
        if full {
            lines.turned_away.insert(workspace.clone());
        }
        !full
    }

    pub(super) fn push(&self, arrival: Arrival) {
        let mut lines = self.lines();
        let (size, workspace) = (arrival.size(), arrival.workspace.clone());
        lines.bytes += size;
        let line = lines.of.entry(workspace.clone()).or_default();
        line.bytes += size;
        line.waiting.push_back(arrival);
        if line.waiting.len() == 1 {
            lines.turns.push_back(workspace);
        }
        drop(lines);
        self.arrived.notify_one();
    }

    /// The next request, and the workspaces that were turned away and have room now.
    pub(super) fn next(&self) -> Option<(Arrival, Vec<WorkspaceName>)> {
        let mut lines = self.lines();
        let workspace = lines.turns.pop_front()?;
        let line = lines.of.get_mut(&workspace)?;
        let arrival = line.waiting.pop_front()?;
        let size = arrival.size();
        line.bytes -= size;
        if line.waiting.is_empty() {
            lines.of.remove(&workspace);
        } else {
            lines.turns.push_back(workspace);
        }
        lines.bytes -= size;
        // Not at every single one, so that a look at a full mailbox brings more than one request.
        let Lines { of, turned_away, bytes, .. } = &mut *lines;
        let has_room = |workspace: &WorkspaceName| {
            of.get(workspace).is_none_or(|line| {
                line.waiting.len() <= MAX_WAITING / 2 && line.bytes < MAX_WAITING_BYTES / 2 && *bytes < MAX_BYTES
            })
        };
        let called: Vec<WorkspaceName> = turned_away.extract_if(has_room).collect();
        Some((arrival, called))
    }

    /// Waits until something was handed in.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    pub(super) fn wake(&self) {
        self.arrived.notify_one();
    }

    /// How many requests wait.
    pub(super) fn len(&self) -> usize {
        self.lines().of.values().map(|line| line.waiting.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::folder::Taken;
    use bashgate_shared::protocol::RequestId;
    use std::time::Instant;

    fn hand_in(queue: &Queue, workspace: &str, bytes: usize) -> bool {
        let workspace = WorkspaceName::parse(workspace).unwrap();
        let room = queue.has_room(&workspace);
        if room {
            let id = RequestId::parse("00000000-0000-4000-8000-000000000001").unwrap();
            queue.push(Arrival { workspace, id, taken: Taken::Bytes(vec![0; bytes]), at: Instant::now() });
        }
        room
    }

    #[test]
    fn workspaces_take_turns() {
        let queue = Queue::default();
        for _ in 0..3 {
            hand_in(&queue, "flood", 1);
        }
        hand_in(&queue, "calm", 1);
        let order: Vec<String> =
            std::iter::from_fn(|| queue.next()).map(|(next, _)| next.workspace.to_string()).collect();
        assert_eq!(order, ["flood", "calm", "flood", "flood"]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_full_line_turns_away_and_calls_again_when_half_is_gone() {
        let queue = Queue::default();
        let handed_in = (0..1000).filter(|_| hand_in(&queue, "flood", 1)).count();
        assert_eq!((handed_in, queue.len()), (MAX_WAITING, MAX_WAITING));
        assert!(hand_in(&queue, "calm", 1), "others have room");
        let calls: Vec<usize> = std::iter::from_fn(|| queue.next()).map(|(_, called)| called.len()).collect();
        assert_eq!(calls.iter().sum::<usize>(), 1, "it is called once");
        assert_eq!(calls.iter().position(|called| *called == 1), Some(MAX_WAITING / 2));
    }

    #[test]
    fn bytes_are_bounded_for_one_and_for_all() {
        let queue = Queue::default();
        let big = 1024 * 1024;
        assert_eq!((0..100).filter(|_| hand_in(&queue, "flood", big)).count(), 4);
        for number in 0..100 {
            hand_in(&queue, &format!("w{number}"), big);
            hand_in(&queue, &format!("w{number}"), big);
        }
        // One each is always taken, a second one only while there is room for all.
        let waiting = queue.len();
        assert!((104..=120).contains(&waiting), "{waiting}");
        let called: usize = std::iter::from_fn(|| queue.next()).map(|(_, called)| called.len()).sum();
        assert!(called >= 85, "{called}");
    }
}
