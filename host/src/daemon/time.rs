//! What has to be done now and then: deadlines, signs of life, askers that are gone, old answers.

use std::time::{Duration, Instant};

use bashgate_shared::protocol::{RequestId, WorkspaceName};

use serde_json::json;

use super::core::{Core, RESPONSE_LIFE, STARTING};
use super::open::Open;
use super::{After, CaseId};
use crate::approval::Card;
use crate::audit::RecordKind;
use crate::case;
use crate::clock::{self, Now};
use crate::intake::folder;
use crate::store::Write;

/// How often a command that waits for the inspector is tried with it again.
const TRY_AGAIN: Duration = Duration::from_secs(10);

impl Core {
    /// What has to be done now and then.
    pub fn tick(&mut self) {
        let now = clock::now();
        for case in self.book.lapsed(now).iter().flat_map(|id| self.book.waiting(id)).collect::<Vec<_>>() {
            self.step(case, case::Event::Lapsed);
        }
        self.look_for_answers();
        if self.last_try.elapsed() >= TRY_AGAIN {
            self.last_try = Instant::now();
            for case in self.book.waits_for_inspector() {
                self.ask_again(case);
            }
        }
        if self
            .last_beat
            .is_none_or(|last| last.elapsed() >= Duration::from_millis(bashgate_shared::mailbox::HEARTBEAT_MS))
        {
            self.last_beat = Some(Instant::now());
            self.beat(now);
        }
        if self.last_look.is_none_or(|last| last.elapsed() >= Duration::from_secs(1)) {
            self.last_look = Some(Instant::now());
            self.look_for_askers();
            self.lapse();
        }
        while self.released.front().is_some_and(|(when, ..)| when.elapsed() > RESPONSE_LIFE) {
            if let Some((_, workspace, id)) = self.released.pop_front() {
                self.responder.remove(&workspace, &id);
            }
        }
        self.release_again();
        self.prune();
        self.record_rejects();
        if self.started.elapsed() > STARTING && !self.restored.is_empty() {
            // What was held and whose request is gone is over. The question about an inspector that is out comes back only
            // when it was seen to be out again.
            let is_over = |card: &Card| !card.outage || card.expires_boot_ms <= now.boot_ms;
            let gone = self.restored.extract_if(|_, card| is_over(card));
            let gone: Vec<Write> = gone.map(|(_, card)| Write::Drop(card.id.to_string())).collect();
            if !gone.is_empty() {
                self.submit(gone, false, After::Nothing);
            }
        }
    }

    /// Puts on record how many more requests were rejected in the second behind the one that is on record.
    fn record_rejects(&mut self) {
        let over: Vec<WorkspaceName> = self
            .rejects
            .iter()
            .filter(|(_, rejects)| rejects.since.elapsed() >= Duration::from_secs(1))
            .map(|(name, _)| name.clone())
            .collect();
        for name in over {
            if let Some(rejects) = self.rejects.remove(&name).filter(|rejects| rejects.more > 0) {
                self.record(RecordKind::Reject, Some(&name), json!({"more": rejects.more, "why": rejects.why}));
            }
        }
    }

    /// Gives a sign of life where somebody waits for one.
    pub(super) fn beat(&mut self, now: Now) {
        let waiting: std::collections::BTreeSet<&WorkspaceName> =
            self.cases.values().map(|open| &open.workspace).collect();
        let first = self.last_look.is_none();
        let all = self.workspaces.keys().filter(|_| first);
        let beat = self.key.beat(&self.boot, now.boot_ms);
        for workspace in waiting.into_iter().chain(all) {
            if let Err(error) = self.responder.beat(workspace, &beat) {
                tracing::debug!(%workspace, %error, "cannot give a sign of life");
            }
        }
    }

    /// Ends what nobody listens for any more, whatever it waits for.
    fn lapse(&mut self) {
        let most = self.config.expires;
        let late = |open: &Open| !open.case.is_decided() && open.since.elapsed() >= open.patience(most);
        let late: Vec<CaseId> = self.cases.iter().filter(|(_, open)| late(open)).map(|(id, _)| *id).collect();
        for id in late {
            self.step(id, case::Event::Lapsed);
        }
    }

    pub(super) fn look_for_askers(&mut self) {
        let held: Vec<(CaseId, WorkspaceName, RequestId)> = self
            .cases
            .iter()
            .filter(|(_, open)| !open.case.is_decided() && open.check.locked)
            .map(|(id, open)| (*id, open.workspace.clone(), open.request_id.clone()))
            .collect();
        for (id, workspace, request) in held {
            if folder::asker_is_gone(&self.config.mailboxes, &workspace, &request) {
                self.step(id, case::Event::Withdrawn);
            }
        }
    }
}
