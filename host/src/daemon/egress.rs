//! What goes out of containers: which workspaces may, and what is put on record of it.

use bashgate_shared::protocol::WorkspaceName;
use serde_json::json;

use super::After;
use super::core::Core;
use crate::audit::{Entry, RecordKind};
use crate::clock::{self, Now};
use crate::egress::Closed;
use crate::egress::answers::Answers;
use crate::egress::hosts::Entry as Listed;
use crate::store::Write;

impl Core {
    /// The workspaces, with what each of them may reach besides what all may.
    pub fn egress(&self) -> impl Iterator<Item = (&WorkspaceName, &[Listed])> {
        self.workspaces.iter().map(|(name, known)| (name, known.settings.egress.as_slice()))
    }

    /// What goes with answers to runs.
    pub fn way_out(&self) -> Answers {
        self.way_out.clone()
    }

    /// Ends the ways out of answers that rest on another taint, or on what is let through ahead no more: also of runs that go on.
    pub(super) fn end_ways_out(&self, now: Now) {
        let epoch_of = |name: &WorkspaceName| self.workspaces.get(name).map(|known| known.seen.epoch);
        self.way_out.end_unless(|workspace, on| {
            let Some(epoch) = epoch_of(workspace) else { return false };
            on.epoch.is_none_or(|given| given == epoch)
                && on.ahead.as_ref().is_none_or(|id| self.book.lets_ahead(id, now, epoch))
        });
    }

    /// A connection is over, or was refused.
    pub(super) fn went_out(&mut self, closed: &Closed) {
        self.metrics.went_out(closed);
        if !closed.is_recorded {
            return;
        }
        let [up, down] = closed.bytes;
        let detail = json!({
            "host": closed.host,
            "port": closed.port,
            "address": closed.address.map(|address| address.ip().to_string()),
            "up": up,
            "down": down,
            "ms": u64::try_from(closed.took.as_millis()).unwrap_or(u64::MAX),
            "ended": closed.why.as_deref().unwrap_or("closed"),
            "pid": closed.peer.map(|(pid, _)| pid),
            "uid": closed.peer.map(|(_, uid)| uid),
        });
        let entry = Entry {
            at_ms: clock::now().unix_ms,
            kind: RecordKind::Egress,
            workspace: Some(closed.workspace.clone()),
            request_id: closed.answer.clone(),
            detail,
        };
        self.records.submit(vec![Write::Audit(entry)], false, After::Nothing);
    }
}
