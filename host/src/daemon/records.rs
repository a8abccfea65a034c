//! What the host writes down, and reads back.

use bashgate_shared::protocol::WorkspaceName;
use serde_json::Value;
use tokio::sync::mpsc;

use super::{After, Event};
use crate::audit::{Entry, RecordKind};
use crate::clock;
use crate::state::Folder;
use crate::store::{Job, Reader, Store, StoreError, Write};

/// The store: what was written comes back to the loop as an event.
pub(super) struct Records {
    store: Store,
    pub(super) reader: Reader,
    events: mpsc::UnboundedSender<Event>,
    /// True while a piece of the audit is being pruned.
    pub(super) pruning: bool,
}

impl Records {
    pub(super) fn open(folder: &Folder, events: mpsc::UnboundedSender<Event>) -> Result<Self, StoreError> {
        let store = Store::open(&folder.store())?;
        let reader = Reader::open(&folder.store())?;
        Ok(Self { store, reader, events, pruning: false })
    }

    pub(super) fn submit(&self, writes: Vec<Write>, durable: bool, after: After) {
        let events = self.events.clone();
        let done = Box::new(move |result| {
            // Once the loop is gone nothing is released any more.
            let _ = events.send(Event::Stored(after, result));
        });
        self.store.submit(Job { writes, durable, done });
    }

    /// A record that nothing waits for.
    pub(super) fn record(&self, kind: RecordKind, workspace: Option<&WorkspaceName>, detail: Value) {
        self.submit(vec![entry(kind, workspace, detail)], false, After::Nothing);
    }

    /// Writes a record with what belongs to it, and waits until it is on the disk.
    pub(super) fn write(
        &self,
        kind: RecordKind,
        workspace: Option<&WorkspaceName>,
        detail: Value,
        mut writes: Vec<Write>,
    ) -> Result<(), String> {
        writes.push(entry(kind, workspace, detail));
        self.store.write_now(writes).map_err(|error| format!("it could not be recorded ({error}), so it was not done"))
    }
}

/// A record of now that belongs to no request.
fn entry(kind: RecordKind, workspace: Option<&WorkspaceName>, detail: Value) -> Write {
    let at_ms = clock::now().unix_ms;
    Write::Audit(Entry { at_ms, kind, workspace: workspace.cloned(), request_id: None, detail })
}
