//! What has to be done now and then: deadlines, signs of life, askers that are gone, old answers.

use std::time::{Duration, Instant};

use bashgate_shared::mailbox::HEARTBEAT_MS;
use bashgate_shared::protocol::{RequestId, WorkspaceName};

use super::cases::Open;
use super::core::{Core, STARTING};
use super::{After, CaseId};
use crate::approval::Card;
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
        self.end_cards(now);
        self.look_for_answers();
        self.try_inspector();
        self.take_early_words();
        self.tell_of_quiet_cards();
        if self.times.last_beat.is_none_or(|last| last.elapsed() >= Duration::from_millis(HEARTBEAT_MS)) {
            self.times.last_beat = Some(Instant::now());
            self.beat(now);
        }
        if self.times.last_look.is_none_or(|last| last.elapsed() >= Duration::from_secs(1)) {
            self.times.last_look = Some(Instant::now());
            self.look_for_askers();
            self.lapse();
            self.desk.board().lapse(now.boot_ms);
            self.show_ahead();
            let workspaces = &self.workspaces;
            self.book.end_grants(now, |name| workspaces.get(name).map(|known| known.seen.epoch));
        }
        self.outbox.tidy(&self.keys);
        self.prune();
        self.rejects.settle(&self.records);
        self.forget_restored(now);
    }

    /// Ends the cards whose time is over.
    fn end_cards(&mut self, now: Now) {
        for case in self.book.lapsed(now).iter().flat_map(|id| self.book.waiting(id)).collect::<Vec<_>>() {
            self.step(case, case::Event::Lapsed);
        }
    }

    /// Tries the inspector once more with what waits for it.
    fn try_inspector(&mut self) {
        if self.times.last_try.elapsed() < TRY_AGAIN {
            return;
        }
        self.times.last_try = Instant::now();
        for case in self.book.waits_for_inspector() {
            self.ask_again(case);
        }
    }

    /// What was held before the start and whose request is gone is over. The question about an inspector that is out comes
    /// back only when it was seen to be out again.
    fn forget_restored(&mut self, now: Now) {
        if self.times.started.elapsed() <= STARTING || self.restored.is_empty() {
            return;
        }
        let is_over = |card: &Card| !card.outage || card.expires_boot_ms <= now.boot_ms;
        let gone = self.restored.extract_if(|_, card| is_over(card));
        let gone: Vec<Write> = gone.map(|(_, card)| Write::Drop(card.id.to_string())).collect();
        if !gone.is_empty() {
            self.records.submit(gone, false, After::Nothing);
        }
    }

    /// Gives a sign of life where somebody waits for one.
    pub(super) fn beat(&mut self, now: Now) {
        let waiting: std::collections::BTreeSet<&WorkspaceName> =
            self.cases.values().map(|open| &open.workspace).chain(self.readers.waiting()).collect();
        let first = self.times.last_look.is_none();
        let all = self.workspaces.keys().filter(|_| first);
        let beat = self.keys.beat(&self.boot, now.boot_ms);
        for workspace in waiting.into_iter().chain(all) {
            if let Err(error) = self.outbox.responder.beat(workspace, &beat) {
                tracing::debug!(%workspace, %error, "cannot give a sign of life");
            }
        }
    }

    /// Ends what nobody listens for any more, whatever it waits for.
    fn lapse(&mut self) {
        let most = self.config.expires;
        let late = |open: &Open| !open.case.is_decided() && open.since.elapsed() >= open.patience(most);
        for id in self.cases.those(late) {
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
