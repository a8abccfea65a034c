//! What the loop holds while it works on a request.

use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{Answer, BashCheck, RequestId, WorkspaceName};
use bashgate_shared::seal::Unsigned;

use serde_json::Value;
use tokio::task::AbortHandle;

use crate::approval::{ApprovalId, RequestKey};
use crate::audit::{Entry, RecordKind};
use crate::authority::By;
use crate::case::Case;
use crate::clock;
use crate::policy::Finding;
use crate::taint::Taint;

/// An open request to check a command.
pub(super) struct Open {
    pub(super) workspace: WorkspaceName,
    pub(super) request_id: RequestId,
    pub(super) digest: Digest,
    pub(super) check: BashCheck,
    pub(super) case: Case,
    pub(super) key: RequestKey,
    pub(super) approval: Option<ApprovalId>,
    /// The card of an earlier word of a person by which it is allowed.
    pub(super) passed: Option<ApprovalId>,
    /// The card was struck out when this case stopped waiting for it.
    pub(super) card_over: bool,
    /// How often the inspector was asked. An answer to an earlier question does not count: the taint may be another one.
    pub(super) asks: u32,
    /// The question that the inspector thinks about.
    pub(super) asking: Option<AbortHandle>,
    /// Its weight while it is open, in bytes.
    pub(super) weight: usize,
    /// True when it waits for a card that another request brought up.
    pub(super) joined: bool,
    pub(super) announced: bool,
    pub(super) finding: Option<Finding>,
    pub(super) taint_before: Taint,
    pub(super) since: Instant,
}

impl Open {
    /// A record about it.
    pub(super) fn entry(&self, kind: RecordKind, detail: Value) -> Entry {
        Entry {
            at_ms: clock::now().unix_ms,
            kind,
            workspace: Some(self.workspace.clone()),
            request_id: Some(self.request_id.clone()),
            detail,
        }
    }

    /// How long the hook lets an answer count, in milliseconds from its asking.
    pub(super) fn valid_for_ms(&self) -> u64 {
        self.check.timeout_ms.unwrap_or(300_000)
    }

    /// How long it is worked on, from the time it was seen: the asker must hear the end before it stops listening.
    pub(super) fn patience(&self, most: Duration) -> Duration {
        let asked_for = Duration::from_millis(self.valid_for_ms()).saturating_sub(Duration::from_secs(5));
        most.min(asked_for.max(Duration::from_secs(1)))
    }
}

/// An answer that needs no case: to a tool event, or to a request that cannot be taken.
#[derive(Debug)]
pub struct Plain {
    pub(super) unsigned: Unsigned,
    pub(super) by: By,
    pub(super) what: String,
    pub(super) taint: Taint,
    pub(super) since: Instant,
}

impl Plain {
    /// The same answer as a denial, for when it could not be recorded.
    pub(super) fn denied(mut self, reason: String) -> Self {
        self.unsigned.decision = Answer::Deny;
        self.unsigned.reason = reason;
        self.by = By::Host;
        self.unsigned.decided_by = self.by.to_string();
        self
    }
}
