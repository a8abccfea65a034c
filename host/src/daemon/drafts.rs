//! Scripts that a container wants to have written: the host's model is asked, within what the workspace may ask it in an hour, and
//! the text goes back. It is nobody's approval: what comes of it is asked about like any other script.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use bashgate_shared::command::Digest;
use bashgate_shared::draft::{SCRIPT_DRAFT, ScriptDraft};
use bashgate_shared::protocol::{Answer, RequestId, ScriptWire, WorkspaceName};
use bashgate_shared::seal::Unsigned;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use super::cases::Plain;
use super::core::Core;
use super::{After, Event};
use crate::audit::{self, Entry, RecordKind};
use crate::authority::By;
use crate::chat::notice::one_line;
use crate::clock;
use crate::inspector::Panel;
use crate::store::Write;

/// Most scripts of one workspace that are being written at once.
const MAX_WAITING: usize = 2;

/// Most scripts of all workspaces that are being written at once; more wait.
const MAX_AT_ONCE: usize = 4;

/// A script that was asked for, with what the model made of it.
pub struct Drafted {
    workspace: WorkspaceName,
    request_id: RequestId,
    digest: Digest,
    draft: Box<ScriptDraft>,
    since: Instant,
    result: Result<String, String>,
}

/// Those that are being written.
pub(super) struct Drafts {
    events: mpsc::UnboundedSender<Event>,
    asked: HashSet<(WorkspaceName, RequestId)>,
    /// Not those of commands, which are not to wait for a script.
    turns: Arc<Semaphore>,
}

impl Drafts {
    pub(super) fn new(events: mpsc::UnboundedSender<Event>) -> Self {
        Self { events, asked: HashSet::new(), turns: Arc::new(Semaphore::new(MAX_AT_ONCE)) }
    }

    /// True while a script of this id is being written.
    pub(super) fn has(&self, named: &(WorkspaceName, RequestId)) -> bool {
        self.asked.contains(named)
    }

    fn of(&self, workspace: &WorkspaceName) -> usize {
        self.asked.iter().filter(|(of, _)| of == workspace).count()
    }

    fn ask(&mut self, mut drafted: Drafted, panel: Arc<Panel>) {
        let turn = self.turns.clone();
        self.asked.insert((drafted.workspace.clone(), drafted.request_id.clone()));
        let events = self.events.clone();
        tokio::spawn(async move {
            drafted.result = panel.write(&drafted.draft, &turn).await;
            let _ = events.send(Event::Drafted(Box::new(drafted)));
        });
    }
}

impl Core {
    /// A container wants a script written.
    pub(super) fn draft(
        &mut self,
        (workspace, request_id, digest): (WorkspaceName, RequestId, Digest),
        draft: Box<ScriptDraft>,
        since: Instant,
    ) {
        let is_busy = self.drafts.of(&workspace) >= MAX_WAITING;
        let panel = self.inspectors.panel();
        let has_model = panel.has_model();
        let mut drafted = Drafted { workspace, request_id, digest, draft, since, result: Ok(String::new()) };
        let Some(known) = self.workspaces.get_mut(&drafted.workspace) else { return };
        let refusal = if !has_model {
            Some(
                "the host has no model that could write it; for the operator: name one in `[inspector]` of bashgate.toml",
            )
        } else if is_busy {
            Some("scripts of this workspace are being written; ask again when they are done")
        } else if !known.model_calls.take(1) {
            Some("the workspace has asked the model as often as it may in an hour (`inspector.calls_per_hour`)")
        } else {
            None
        };
        if let Some(why) = refusal {
            drafted.result = Err(why.to_owned());
            return self.is_drafted(drafted);
        }
        self.drafts.ask(drafted, panel);
    }

    /// The model has written it, or has not. The answer goes out when that is on record.
    pub(super) fn is_drafted(&mut self, drafted: Drafted) {
        let Drafted { workspace, request_id, digest, draft, since, result } = drafted;
        self.drafts.asked.remove(&(workspace.clone(), request_id.clone()));
        let Some(known) = self.workspaces.get(&workspace) else { return };
        let (decision, by, reason, told) = match result {
            Ok(text) => {
                let told = format!("wrote a script of {} bytes, {}", text.len(), Digest::of(text.as_bytes()).hex());
                (Answer::Allow, By::Inspector, text, told)
            }
            Err(why) => (Answer::Deny, By::Host, why.clone(), why),
        };
        let detail = json!(audit::DecisionRecord {
            command: Some(draft.task.clone()),
            // With the task it is all that the model is told.
            script: Some(ScriptWire { manifest: draft.manifest(), values: BTreeMap::new() }),
            agent: draft.agent.clone(),
            request_sha256: Some(digest.hex()),
            ..audit::DecisionRecord::new(SCRIPT_DRAFT, decision, by.clone(), told, known.taint(), known.seen.epoch)
        });
        let entry = Entry {
            at_ms: clock::now().unix_ms,
            kind: RecordKind::Decision,
            workspace: Some(workspace.clone()),
            request_id: Some(request_id.clone()),
            detail,
        };
        let unsigned = Unsigned {
            decision,
            reason,
            request_id,
            workspace,
            request: Some(digest),
            decided_by: by.to_string(),
            taint_epoch: known.seen.epoch,
            valid_for_ms: draft.timeout_ms.unwrap_or(300_000),
            cage: false,
            egress: Vec::new(),
            asked_key: draft.key_id.clone(),
        };
        let what = format!("a script that is to: {}", one_line(&draft.task, 200));
        let plain = Plain { unsigned, by, what, taint: known.taint(), since };
        self.records.submit(vec![Write::Audit(entry)], false, After::Respond(Box::new(plain)));
    }
}
