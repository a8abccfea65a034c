//! The open requests: what the loop holds while it works on one, and how many of them there may be.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use bashgate_shared::classify::{Classification, Effects};
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{Answer, BashCheck, RequestId, WorkspaceName};
use bashgate_shared::seal::Unsigned;

use serde_json::Value;
use tokio::task::AbortHandle;

use super::CaseId;
use crate::approval::{ApprovalId, RequestKey};
use crate::audit::{Entry, RecordKind};
use crate::authority::By;
use crate::case::Case;
use crate::chat::notice::Became;
use crate::clock;
use crate::inspector::ReadAlone;
use crate::policy::Finding;
use crate::taint::Taint;

/// Most requests of a workspace that are open at once, and what they may weigh, in bytes: whatever they wait for, the host
/// holds them. A request is held about as often as `TIMES` says (as it came, on its card, in the inspector's question), and
/// each call and part of a command takes room beside its text.
const MAX_OPEN: usize = 2048;
const MAX_WEIGHT: usize = 16 << 20;
const TIMES: usize = 4;
const EACH_PART: usize = 256;

/// What a request weighs while it is open.
pub(super) fn weight(bytes: usize, found: &Classification) -> usize {
    TIMES * bytes + EACH_PART * (found.calls.len() + found.parts.len())
}

/// The open requests.
#[derive(Default)]
pub(super) struct Cases {
    open: HashMap<CaseId, Open>,
    /// By their ids. What comes under the same id meanwhile is not looked at.
    asked: HashSet<(WorkspaceName, RequestId)>,
    /// How many each workspace has, and their weight.
    load: HashMap<WorkspaceName, (usize, usize)>,
    /// How many there were.
    count: CaseId,
}

impl Cases {
    pub(super) fn get(&self, id: CaseId) -> Option<&Open> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: CaseId) -> Option<&mut Open> {
        self.open.get_mut(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&CaseId, &Open)> {
        self.open.iter()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Open> {
        self.open.values()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// The open requests that are so.
    pub(super) fn those(&self, are: impl Fn(&Open) -> bool) -> Vec<CaseId> {
        self.open.iter().filter(|(_, open)| are(open)).map(|(id, _)| *id).collect()
    }

    /// True while a request of this id is open.
    pub(super) fn is_asked(&self, named: &(WorkspaceName, RequestId)) -> bool {
        self.asked.contains(named)
    }

    /// True when a workspace may have one more of this weight. A first one always may.
    pub(super) fn has_room(&self, workspace: &WorkspaceName, weight: usize) -> bool {
        let (cases, others) = self.load.get(workspace).copied().unwrap_or_default();
        cases == 0 || cases < MAX_OPEN && others + weight <= MAX_WEIGHT
    }

    /// Takes one in.
    pub(super) fn add(&mut self, open: Open) -> CaseId {
        let (cases, others) = self.load.entry(open.workspace.clone()).or_default();
        *cases += 1;
        *others += open.weight;
        self.asked.insert((open.workspace.clone(), open.request_id.clone()));
        self.count += 1;
        self.open.insert(self.count, open);
        self.count
    }

    /// Lets one go.
    pub(super) fn remove(&mut self, id: CaseId) -> Option<Open> {
        let open = self.open.remove(&id)?;
        if let Some((cases, others)) = self.load.get_mut(&open.workspace) {
            *cases = cases.saturating_sub(1);
            *others = others.saturating_sub(open.weight);
            if *cases == 0 {
                self.load.remove(&open.workspace);
            }
        }
        self.asked.remove(&(open.workspace.clone(), open.request_id.clone()));
        Some(open)
    }
}

/// An open request to check a command.
pub(super) struct Open {
    pub(super) workspace: WorkspaceName,
    pub(super) request_id: RequestId,
    pub(super) digest: Digest,
    pub(super) check: BashCheck,
    /// What was read out of the text, where what the container says has joined it in the case.
    pub(super) read_alone: Option<Box<ReadAlone>>,
    pub(super) case: Case,
    pub(super) key: RequestKey,
    pub(super) approval: Option<ApprovalId>,
    /// The card of an earlier word of a person by which it is allowed.
    pub(super) passed: Option<ApprovalId>,
    /// The card was struck out when this case stopped waiting for it.
    pub(super) card_over: bool,
    /// What became of its card, in words.
    pub(super) became: Option<Became>,
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
    /// The taint epoch in which it was decided, once it is.
    pub(super) epoch: Option<u64>,
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

    /// What it does, as far as its text tells.
    pub(super) fn read_effects(&self) -> &Effects {
        self.read_alone.as_ref().map_or(&self.case.classification().effects, |read| &read.effects)
    }

    /// A reason for people, who hear where it is the container's word.
    pub(super) fn for_people(&self, reason: &str) -> String {
        let check = &self.check;
        let said = check.says().into_iter().flatten();
        let is_said = |word: &String| reason.contains(word.as_str());
        let is_read = |read: &ReadAlone| read.effects.secrets.iter().any(is_said);
        let is_heard = said.into_iter().any(is_said) && !self.read_alone.as_ref().is_some_and(|read| is_read(read));
        if is_heard { format!("{reason} (as the container says)") } else { reason.to_owned() }
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
