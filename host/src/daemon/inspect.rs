//! Asking the inspector, and what comes of its answers.

use std::sync::Arc;

use bashgate_shared::protocol::WorkspaceName;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

use super::cases::Open;
use super::core::{Core, Workspace};
use super::{CaseId, Event};
use crate::approval::{Forecast, RequestKey};
use crate::case;
use crate::clock;
use crate::fault;
use crate::inspector::{Brief, Panel};
use crate::policy::Finding;

/// The inspectors, asked in the background.
pub(super) struct Inspectors {
    panel: Arc<Panel>,
    /// How often its model had answered when somebody last looked.
    answers_seen: u64,
    events: mpsc::UnboundedSender<Event>,
}

impl Inspectors {
    pub(super) fn new(panel: Panel, events: mpsc::UnboundedSender<Event>) -> Self {
        Self { panel: Arc::new(panel), answers_seen: 0, events }
    }

    pub(super) fn panel(&self) -> Arc<Panel> {
        self.panel.clone()
    }

    /// True once after the model has answered anything.
    fn has_answered(&mut self) -> bool {
        let answers = self.panel.answers();
        std::mem::replace(&mut self.answers_seen, answers) != answers
    }

    /// Asks. The answer comes as an event.
    fn ask(&self, case: CaseId, ask: u32, brief: Brief, turn: Arc<Semaphore>) -> AbortHandle {
        let (panel, events) = (self.panel.clone(), self.events.clone());
        let task = tokio::spawn(async move {
            let finding = panel.ask(&brief, &turn).await;
            let _ = events.send(Event::Found(case, ask, finding));
        });
        task.abort_handle()
    }
}

impl Core {
    pub(super) fn brief(&self, open: &Open) -> Brief {
        let seen = self.workspaces.get(&open.workspace).map(Workspace::seen_now);
        let causes = seen.as_ref().map_or(&[][..], |seen| &seen.causes);
        let taint = seen.as_ref().map_or(open.taint_before, |seen| seen.taint);
        let brief = Brief::new(
            &open.check.shown(),
            open.check.cwd.as_deref(),
            open.case.classification(),
            taint,
            causes,
            &open.check.evidence,
        );
        Brief {
            unproven: open.check.unproven.first().cloned(),
            read_alone: open.read_alone.as_deref().cloned(),
            container_says: Forecast::says(&open.check),
            is_from_container: true,
            ..brief
        }
    }

    pub(super) fn inspect(&mut self, id: CaseId) -> Option<case::Event> {
        let brief = self.brief(self.cases.get(id)?);
        let open = self.cases.get_mut(id)?;
        open.asks += 1;
        if let Some(asking) = open.asking.take() {
            asking.abort();
        }
        let (ask, workspace) = (open.asks, open.workspace.clone());
        if let Some(finding) = self.inspectors.panel.at_once(&brief) {
            self.metrics.found(&finding);
            self.cases.get_mut(id)?.finding = Some(finding.clone());
            return Some(case::Event::Found(finding));
        }
        let known = self.workspaces.get_mut(&workspace)?;
        if !known.model_calls.take(1) {
            let why = "the workspace has asked the model as often as it may in an hour (`inspector.calls_per_hour`)"
                .to_owned();
            let finding = Finding::NoAnswer { why };
            self.metrics.found(&finding);
            self.cases.get_mut(id)?.finding = Some(finding.clone());
            return Some(case::Event::Found(finding));
        }
        let turn = known.turn.clone();
        fault::here("inspector.asked");
        self.cases.get_mut(id)?.asking = Some(self.inspectors.ask(id, ask, brief, turn));
        None
    }

    /// The inspector answered on a case, or did not.
    pub(super) fn found(&mut self, id: CaseId, ask: u32, finding: &Finding) {
        self.look_for_answers();
        let of = self.cases.get(id).filter(|open| open.asks == ask).map(|open| self.outage_key(&open.workspace));
        let is_out = matches!(finding, Finding::Unavailable { .. });
        if let Some((key, open)) = of.zip(self.cases.get_mut(id)) {
            open.finding = Some(finding.clone());
            open.asking = None;
            let standing = self.book.standing(&key, clock::now()).filter(|_| is_out && open.case.is_inspected());
            match standing {
                Some((reply, by, word)) => {
                    self.step(id, case::Event::WithoutInspector(reply, by));
                    // A denial of that word overtakes what it let through.
                    if let Some(open) = self.cases.get_mut(id).filter(|open| open.case.is_approved()) {
                        open.passed = Some(word);
                    }
                }
                None => self.step(id, case::Event::Found(finding.clone())),
            }
        }
        if is_out {
            self.book.inspector_is_out();
        }
    }

    /// Where the inspector's model has answered anything since the last look, words on going on without it are over, and
    /// what waits for it is asked again.
    pub(super) fn look_for_answers(&mut self) {
        if self.inspectors.has_answered() {
            for waiting in self.book.inspector_answers() {
                self.ask_again(waiting);
            }
        }
    }

    /// Tries the inspector once more for a case that waits for it.
    pub(super) fn ask_again(&mut self, id: CaseId) {
        let waits = |open: &Open| open.case.is_inspected() && open.asking.is_none();
        if !self.cases.get(id).is_some_and(waits) {
            return;
        }
        if let Some(event) = self.inspect(id) {
            self.step(id, event);
        }
    }

    /// The question whether a workspace may go on without the inspector, in its taint epoch.
    pub(super) fn outage_key(&self, workspace: &WorkspaceName) -> RequestKey {
        let epoch = self.workspaces.get(workspace).map_or(u64::MAX, |known| known.seen.epoch);
        RequestKey::of_outage(workspace, epoch)
    }
}
