//! What a case says is to be done.

use std::collections::VecDeque;

use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::seal::Unsigned;
use serde_json::json;

use super::core::Core;
use super::open::Open;
use super::{After, CaseId, Event};
use crate::approval::{ApprovalId, Card, OVERRULE_MS, RequestKey};
use crate::audit::{Entry, Kind};
use crate::case::{self, Step, Verdict, View};
use crate::chat::Notice;
use crate::chat::notice::Decided;
use crate::clock;
use crate::fault;
use crate::inspector::Brief;
use crate::policy::{Finding, Judged};
use crate::store::Write;
use crate::taint::{Cause, Label, Taint};

impl Core {
    /// Gives a case an event and does what it says, until it says nothing more.
    pub(super) fn step(&mut self, id: CaseId, event: case::Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let Some(open) = self.cases.get_mut(&id) else { return };
            // A workspace that was removed meanwhile is as tainted as can be.
            let view =
                self.workspaces.get(&open.workspace).map_or(View { taint: Taint::Both, epoch: u64::MAX }, |known| {
                    View { taint: known.seen.taint, epoch: known.seen.epoch }
                });
            for step in open.case.on(event, view, &self.config.policy) {
                events.extend(self.perform(id, step));
            }
        }
    }

    /// True while this case has no verdict.
    pub(super) fn is_undecided(&self, id: CaseId) -> bool {
        self.cases.get(&id).is_some_and(|open| !open.case.is_decided())
    }

    /// Ends everything that is open for a workspace with a denial.
    pub(super) fn close_all(&mut self, name: &WorkspaceName, by: &str) {
        let open: Vec<CaseId> =
            self.cases.iter().filter(|(_, open)| open.workspace == *name).map(|(id, _)| *id).collect();
        for id in open {
            self.step(id, case::Event::Refused(format!("the workspace was removed by {by}")));
        }
    }

    pub(super) fn perform(&mut self, id: CaseId, step: Step) -> Option<case::Event> {
        match step {
            Step::Inspect => self.inspect(id),
            Step::Hold { judged, id: again, advice, outage } => self.hold(id, &judged, again, advice, outage),
            Step::Announce => {
                let open = self.cases.get_mut(&id)?;
                open.announced = true;
                let (joined, approval) = (open.joined, open.approval.clone()?);
                let command = open.check.command.text().to_owned();
                let card = self.book.card(&approval)?.clone();
                let notice = if joined {
                    Notice::Joined { id: approval, waiting: card.waiting, command: card.outage.then_some(command) }
                } else {
                    Notice::Held(Box::new(card))
                };
                self.desk.tell(&notice);
                fault::here("approval.announced");
                None
            }
            Step::Advise(words) => {
                let open = self.cases.get(&id)?;
                let approval = open.approval.clone()?;
                if let Some(card) = self.book.card_mut(&approval) {
                    card.advice = Some(words.clone());
                }
                if open.announced {
                    self.desk.tell(&Notice::Advice(approval, words));
                }
                None
            }
            Step::Record(verdict, raises) => {
                self.record_verdict(id, &verdict, raises);
                None
            }
            Step::RecordDenial(verdict) => {
                self.record_denial(id, &verdict);
                None
            }
            Step::Release(verdict) => {
                self.release_verdict(id, verdict);
                None
            }
            Step::Close => {
                let open = self.cases.remove(&id)?;
                if let Some(asking) = &open.asking {
                    asking.abort();
                }
                self.unload(&open.workspace, open.bytes);
                self.asked.remove(&(open.workspace, open.request_id));
                let approval = open.approval?;
                if open.card_over {
                    self.desk.tell(&Notice::Over(approval, "No longer held".to_owned()));
                } else {
                    self.leave(id, &approval);
                }
                None
            }
        }
    }

    pub(super) fn brief(&self, open: &Open) -> Brief {
        let causes = self.workspaces.get(&open.workspace).map(|known| known.seen.causes.clone()).unwrap_or_default();
        let taint = self.workspaces.get(&open.workspace).map_or(open.taint_before, |known| known.seen.taint);
        Brief::new(
            open.check.command.text(),
            open.check.cwd.as_deref(),
            open.case.classification(),
            taint,
            &causes,
            &open.check.evidence,
        )
    }

    pub(super) fn inspect(&mut self, id: CaseId) -> Option<case::Event> {
        let brief = self.brief(self.cases.get(&id)?);
        let open = self.cases.get_mut(&id)?;
        open.asks += 1;
        if let Some(asking) = open.asking.take() {
            asking.abort();
        }
        let (ask, workspace) = (open.asks, open.workspace.clone());
        if let Some(finding) = self.panel.at_once(&brief) {
            self.metrics.found(&finding);
            self.cases.get_mut(&id)?.finding = Some(case::advice(&finding));
            return Some(case::Event::Found(finding));
        }
        let turn = self.workspaces.get(&workspace)?.turn.clone();
        let (panel, events) = (self.panel.clone(), self.events.clone());
        fault::here("inspector.asked");
        let task = tokio::spawn(async move {
            let finding = panel.ask(&brief, &turn).await;
            let _ = events.send(Event::Found(id, ask, finding));
        });
        self.cases.get_mut(&id)?.asking = Some(task.abort_handle());
        None
    }

    pub(super) fn hold(
        &mut self,
        id: CaseId,
        judged: &Judged,
        again: Option<ApprovalId>,
        advice: Option<String>,
        outage: bool,
    ) -> Option<case::Event> {
        let now = clock::now();
        let open = self.cases.get(&id)?;
        let before = open.approval.clone();
        let key = if outage { self.outage_key(&open.workspace) } else { open.key };
        if let Some(before) = before {
            self.leave(id, &before);
        }
        let open = self.cases.get(&id)?;
        let until = now.boot_ms + u64::try_from(open.patience(self.config.expires).as_millis()).unwrap_or(290_000);
        match self.book.join(id, &key, until, now) {
            Err(full) => return Some(case::Event::Refused(full.to_string())),
            Ok(Some(approval)) => {
                self.joined(id, approval, now);
                return None;
            }
            Ok(None) => {}
        }
        let open = self.cases.get(&id)?;
        if again.is_none()
            && let Err(full) = self.book.has_room(&open.workspace, open.check.command.text(), self.config.max_held)
        {
            return Some(case::Event::Refused(full.to_string()));
        }
        let restored = self.restored.remove(&key);
        let again = restored.as_ref().map(|card| card.id.clone()).or(again);
        let Some(approval) = again.or_else(|| self.new_approval_id()) else {
            return Some(case::Event::Refused("the host cannot make an approval id".to_owned()));
        };
        let open = self.cases.get(&id)?;
        let card = Card {
            key,
            advice,
            expires_boot_ms: restored.map_or(until, |card| card.expires_boot_ms),
            offers_session: !outage && !open.case.is_open_ended(),
            outage,
            ..self.card(open, approval.clone(), judged.rule, &judged.reason)?
        };
        let detail = json!({"event": "held", "approval": approval, "request": card.request_id, "command": card.command, "rule": card.rule, "reason": card.reason, "outage": outage});
        let entry = Entry {
            at_ms: now.unix_ms,
            kind: Kind::Approval,
            workspace: Some(card.workspace.clone()),
            request_id: Some(card.request_id.clone()),
            detail,
        };
        let writes = vec![Write::Hold(Box::new(card.clone()), self.boot.clone()), Write::Audit(entry)];
        self.book.hold(id, card);
        if let Some(open) = self.cases.get_mut(&id) {
            open.approval = Some(approval.clone());
            open.joined = false;
        }
        self.submit(writes, true, After::Held(id, approval));
        fault::here("approval.submitted");
        None
    }

    /// A case waits for a card that is there: on record, too, before people are told that it does.
    fn joined(&mut self, id: CaseId, approval: ApprovalId, now: clock::Now) {
        let Some(open) = self.cases.get_mut(&id) else { return };
        open.approval = Some(approval.clone());
        open.joined = true;
        let detail = json!({"event": "joined", "approval": approval, "request": open.request_id, "command": open.check.command.text()});
        let entry = Entry {
            at_ms: now.unix_ms,
            kind: Kind::Approval,
            workspace: Some(open.workspace.clone()),
            request_id: Some(open.request_id.clone()),
            detail,
        };
        self.submit(vec![Write::Audit(entry)], true, After::Held(id, approval));
    }

    /// A case waits no longer for its card. A card that nobody waits for is over.
    fn leave(&mut self, id: CaseId, approval: &ApprovalId) {
        if self.book.leave(approval, id).is_some() {
            self.submit(vec![Write::Drop(approval.to_string())], false, After::Nothing);
            self.desk.tell(&Notice::Over(approval.clone(), "No longer held".to_owned()));
        }
    }

    /// A card, or that a case waits for it, could not be recorded: who waits for it is denied.
    pub(super) fn not_held(&mut self, id: CaseId, approval: &ApprovalId, error: &str) {
        let joined = self.cases.get(&id).is_some_and(|open| open.joined);
        let waited = if joined { Vec::new() } else { self.book.remove(approval) };
        for case in waited.into_iter().filter(|case| *case != id).chain([id]) {
            self.step(case, case::Event::NotRecorded(error.to_owned()));
        }
    }

    /// A case is no longer open.
    fn unload(&mut self, workspace: &WorkspaceName, bytes: usize) {
        if let Some((cases, weight)) = self.load.get_mut(workspace) {
            *cases = cases.saturating_sub(1);
            *weight = weight.saturating_sub(bytes);
            if *cases == 0 {
                self.load.remove(workspace);
            }
        }
    }

    /// The question whether a workspace may go on without the inspector, in its taint epoch.
    pub(super) fn outage_key(&self, workspace: &WorkspaceName) -> RequestKey {
        let epoch = self.workspaces.get(workspace).map_or(u64::MAX, |known| known.seen.epoch);
        RequestKey::of_outage(workspace, epoch)
    }

    /// The inspector answered on a case, or did not.
    pub(super) fn found(&mut self, id: CaseId, ask: u32, finding: &Finding) {
        if let Some(open) = self.cases.get_mut(&id).filter(|open| open.asks == ask) {
            open.finding = Some(case::advice(finding));
            open.asking = None;
            let key = RequestKey::of_outage(
                &open.workspace,
                self.workspaces.get(&open.workspace).map_or(u64::MAX, |known| known.seen.epoch),
            );
            let is_out = matches!(finding, Finding::Unavailable { .. });
            let standing = self.book.standing(&key, clock::now()).filter(|_| is_out && open.case.is_inspected());
            let event = match standing {
                Some((reply, by, word)) => {
                    open.passed = Some(word);
                    case::Event::WithoutInspector(reply, by)
                }
                None => case::Event::Found(finding.clone()),
            };
            self.step(id, event);
        }
        if matches!(finding, Finding::Unavailable { .. }) {
            self.book.inspector_is_out();
        } else {
            for waiting in self.book.inspector_answers() {
                self.ask_again(waiting);
            }
        }
    }

    /// Tries the inspector once more for a case that waits for it.
    pub(super) fn ask_again(&mut self, id: CaseId) {
        let waits = |open: &Open| open.case.is_inspected() && open.asking.is_none();
        if !self.cases.get(&id).is_some_and(waits) {
            return;
        }
        if let Some(event) = self.inspect(id) {
            self.step(id, event);
        }
    }

    /// What people are shown about an open request.
    fn card(&self, open: &Open, id: ApprovalId, rule: &str, reason: &str) -> Option<Card> {
        let known = self.workspaces.get(&open.workspace)?;
        Some(Card {
            id,
            workspace: open.workspace.clone(),
            request_id: open.request_id.clone(),
            request_sha256: open.digest.hex(),
            key: open.key,
            command: open.check.command.text().to_owned(),
            cwd: open.check.cwd.clone(),
            agent: open.check.agent.clone(),
            class: open.case.classification().class,
            rule: rule.to_owned(),
            reason: reason.to_owned(),
            taint: known.seen.taint,
            causes: known.seen.causes.clone(),
            epoch: known.seen.epoch,
            advice: open.finding.clone(),
            expires_boot_ms: 0,
            offers_session: false,
            waiting: 1,
            outage: false,
        })
    }

    pub(super) fn new_approval_id(&self) -> Option<ApprovalId> {
        for _ in 0..16 {
            let mut bytes = [0; 5];
            getrandom::fill(&mut bytes).ok()?;
            let id = ApprovalId::from_random(bytes);
            if !self.book.knows(&id) && !self.restored.values().any(|card| card.id == id) {
                return Some(id);
            }
        }
        None
    }

    pub(super) fn record_verdict(&mut self, id: CaseId, verdict: &Verdict, raises: Vec<(Label, String)>) {
        let now = clock::now();
        let Some(open) = self.cases.get(&id) else { return };
        let Some(known) = self.workspaces.get_mut(&open.workspace) else { return };
        let found = open.case.classification();
        let by: String = found.effects.programs.join(", ").chars().take(120).collect();
        let mut rose = false;
        let touched = !raises.is_empty();
        for (label, source) in raises {
            rose |= known.seen.raise(Cause {
                label,
                source: source.chars().take(512).collect(),
                by: by.clone(),
                at_ms: now.unix_ms,
            });
        }
        let check = &open.check;
        let detail = json!({
            "type": bashgate_shared::protocol::BASH_CHECK, "command": check.command.text(), "cwd": check.cwd, "agent": check.agent, "session": check.session,
            "tool_use_id": check.tool_use_id, "request_sha256": open.digest.hex(), "class": found.class, "class_reason": found.reason, "effects": found.effects,
            "answer": verdict.answer, "let_through": verdict.let_through, "reason": verdict.reason, "by": verdict.by, "rule": verdict.rule, "finding": open.finding, "approval": open.approval,
            "taint_before": open.taint_before, "taint": known.seen.taint, "epoch": known.seen.epoch,
            "took_us": u64::try_from(open.since.elapsed().as_micros()).unwrap_or(u64::MAX),
        });
        let entry = Entry {
            at_ms: now.unix_ms,
            kind: Kind::Decision,
            workspace: Some(open.workspace.clone()),
            request_id: Some(open.request_id.clone()),
            detail,
        };
        let mut writes = vec![Write::Audit(entry)];
        if touched {
            writes.push(Write::Taint(open.workspace.clone(), known.seen.clone()));
        }
        let durable = rose || open.approval.is_some() || verdict.by.starts_with("human:");
        // Who else waits for the card goes on waiting; the last one takes it away. From now on it cannot be answered.
        if let Some(approval) = open.approval.clone() {
            let over = self.book.leave(&approval, id).is_some();
            if over || self.book.card(&approval).is_none() {
                writes.push(Write::Drop(approval.to_string()));
            }
            if let Some(open) = self.cases.get_mut(&id) {
                open.card_over = over;
            }
        }
        self.submit(writes, durable, After::Recorded(id));
        fault::here("verdict.submitted");
    }

    /// Puts on record that a denial came behind the approval.
    fn record_denial(&mut self, id: CaseId, verdict: &Verdict) {
        let Some(open) = self.cases.get(&id) else { return };
        let detail = json!({"event": "denied", "approval": open.approval, "request": open.request_id, "by": verdict.by, "reason": verdict.reason});
        let entry = Entry {
            at_ms: clock::now().unix_ms,
            kind: Kind::Answer,
            workspace: Some(open.workspace.clone()),
            request_id: Some(open.request_id.clone()),
            detail,
        };
        self.submit(vec![Write::Audit(entry)], true, After::Recorded(id));
    }

    pub(super) fn release_verdict(&mut self, id: CaseId, verdict: Verdict) {
        let Some(open) = self.cases.get(&id) else { return };
        let (epoch, taint) = self
            .workspaces
            .get(&open.workspace)
            .map_or((0, open.taint_before), |known| (known.seen.epoch, known.seen.taint));
        let unsigned = Unsigned {
            decision: verdict.released(),
            reason: if verdict.let_through { let_through(&verdict.reason) } else { verdict.reason.clone() },
            request_id: open.request_id.clone(),
            workspace: open.workspace.clone(),
            request: Some(open.digest),
            decided_by: verdict.by.clone(),
            taint_epoch: epoch,
            valid_for_ms: open.valid_for_ms(),
        };
        let notice = Decided {
            workspace: open.workspace.to_string(),
            what: open.check.command.text().to_owned(),
            class: Some(open.case.classification().class),
            answer: verdict.answer,
            let_through: verdict.let_through,
            by: verdict.by,
            reason: verdict.reason,
            taint,
            took: open.since.elapsed(),
        };
        if verdict.overrulable && !verdict.let_through {
            self.keep_denied(id, &verdict.rule, &notice.reason);
        }
        self.release(&unsigned);
        self.tell_decided(notice);
    }

    pub(super) fn keep_denied(&mut self, id: CaseId, rule: &str, reason: &str) {
        let Some(approval) = self.new_approval_id() else { return };
        let Some(open) = self.cases.get(&id) else { return };
        let Some(card) = self.card(open, approval, rule, reason) else { return };
        let now = clock::now();
        let card = Card { expires_boot_ms: now.boot_ms + OVERRULE_MS, ..card };
        self.book.keep_denied(card, now);
    }
}

/// The reason of an answer that shadow mode lets through.
pub(super) fn let_through(reason: &str) -> String {
    format!("shadow mode lets it through; it would be denied: {reason}")
}
