//! Long texts are read beside the loop, so that what one workspace asks costs the others no more than a turn: one text of
//! each workspace at a time, and one processor is left to everything else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use bashgate_shared::classify::{Classification, Surroundings, classify};
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{BashCheck, RequestId, WorkspaceName};
use tokio::sync::{Semaphore, mpsc};

use super::Event;

/// Up to this length, in bytes, a text is read at once: it takes less time than to hand it over and back would hold things up.
pub(super) const SHORT: usize = 2048;
/// Most long texts of one workspace that wait to be read.
const MAX_WAITING: usize = 64;

/// A request whose text nobody has read yet.
#[derive(Debug)]
pub struct Unread {
    pub(super) workspace: WorkspaceName,
    pub(super) request_id: RequestId,
    pub(super) digest: Digest,
    /// Its length as it came, in bytes.
    pub(super) bytes: usize,
    pub(super) check: BashCheck,
    pub(super) since: Instant,
}

/// Who reads.
pub(super) struct Readers {
    events: mpsc::UnboundedSender<Event>,
    /// As many as may read at once.
    seats: Arc<Semaphore>,
    lines: HashMap<WorkspaceName, Line>,
    asked: HashSet<(WorkspaceName, RequestId)>,
}

struct Line {
    turn: Arc<Semaphore>,
    waiting: usize,
}

impl Readers {
    pub(super) fn new(events: mpsc::UnboundedSender<Event>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let seats = Arc::new(Semaphore::new(processors.saturating_sub(1).max(1)));
        Self { events, seats, lines: HashMap::new(), asked: HashSet::new() }
    }

    /// True while the text of a request of this id is read or waits for it.
    pub(super) fn has(&self, named: &(WorkspaceName, RequestId)) -> bool {
        self.asked.contains(named)
    }

    /// The workspaces that wait for something to be read.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &WorkspaceName> {
        self.lines.keys()
    }

    /// True when a workspace may have one more text read.
    pub(super) fn has_room(&self, workspace: &WorkspaceName) -> bool {
        self.lines.get(workspace).is_none_or(|line| line.waiting < MAX_WAITING)
    }

    /// Has a text read. What it is comes as [`Event::Read`].
    pub(super) fn read(&mut self, unread: Unread, around: Surroundings) {
        let new = || Line { turn: Arc::new(Semaphore::new(1)), waiting: 0 };
        let line = self.lines.entry(unread.workspace.clone()).or_insert_with(new);
        line.waiting += 1;
        self.asked.insert((unread.workspace.clone(), unread.request_id.clone()));
        let (turn, seats, events) = (line.turn.clone(), self.seats.clone(), self.events.clone());
        tokio::spawn(async move {
            // Neither is ever closed. In this order a workspace has one text in the line for a seat, however many it sends.
            let turn = turn.acquire_owned().await;
            let seat = seats.acquire_owned().await;
            tokio::task::spawn_blocking(move || {
                let found = classify(&unread.check.command, &around);
                drop((turn, seat));
                let _ = events.send(Event::Read(Box::new(unread), Box::new(found)));
            });
        });
    }

    /// A text was read.
    pub(super) fn is_read(&mut self, unread: &Unread) {
        self.asked.remove(&(unread.workspace.clone(), unread.request_id.clone()));
        if let Some(line) = self.lines.get_mut(&unread.workspace) {
            line.waiting = line.waiting.saturating_sub(1);
            if line.waiting == 0 {
                self.lines.remove(&unread.workspace);
            }
        }
    }
}

/// A text that was read, and what it is.
pub(super) type Read = (Unread, Classification);
