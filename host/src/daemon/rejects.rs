//! Requests that were rejected: the first one of a workspace is put on record, those of the next second are counted.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bashgate_shared::protocol::{RequestId, WorkspaceName};
use serde_json::json;

use super::records::Records;
use crate::audit::RecordKind;

struct Counted {
    since: Instant,
    /// How many more there were, and why the last one was.
    more: u64,
    why: String,
}

/// What was rejected in the last second.
#[derive(Default)]
pub(super) struct Rejects(BTreeMap<WorkspaceName, Counted>);

impl Rejects {
    /// Puts one on record, or counts it.
    pub(super) fn note(&mut self, records: &Records, workspace: &WorkspaceName, id: &RequestId, why: &str) {
        if let Some(counted) = self.0.get_mut(workspace) {
            counted.more += 1;
            why.clone_into(&mut counted.why);
        } else {
            records.record(RecordKind::Reject, Some(workspace), json!({"request": id, "why": why}));
            let counted = Counted { since: Instant::now(), more: 0, why: String::new() };
            self.0.insert(workspace.clone(), counted);
        }
    }

    /// Puts on record how many more there were in a second that is over.
    pub(super) fn settle(&mut self, records: &Records) {
        for (name, counted) in self.0.extract_if(.., |_, counted| counted.since.elapsed() >= Duration::from_secs(1)) {
            if counted.more > 0 {
                let detail = json!({"more": counted.more, "why": counted.why});
                records.record(RecordKind::Reject, Some(&name), detail);
            }
        }
    }
}
