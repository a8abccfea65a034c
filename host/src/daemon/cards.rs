//! Commands that wait for people: held, joined, over.

use std::collections::BTreeSet;

use bashgate_shared::classify::Classification;
use bashgate_shared::protocol::BashCheck;
use serde_json::json;

use super::cases::Open;
use super::core::Core;
use super::{After, CaseId};
use crate::approval::{ApprovalId, Card, Demands, Forecast, OVERRULE_MS, Reach};
use crate::audit::RecordKind;
use crate::case;
use crate::chat;
use crate::chat::notice::{Became, one_line};
use crate::clock;
use crate::fault;
use crate::policy::Judged;
use crate::policy::egress;
use crate::policy::risk::Matter;
use crate::store::Write;

impl Core {
    pub(super) fn hold(
        &mut self,
        id: CaseId,
        judged: &Judged,
        again: Option<ApprovalId>,
        advice: Option<String>,
        outage: bool,
    ) -> Option<case::Event> {
        let now = clock::now();
        let open = self.cases.get(id)?;
        let before = open.approval.clone();
        let key = if outage { self.outage_key(&open.workspace) } else { open.key };
        if let Some(before) = before {
            self.leave(id, &before);
        }
        let open = self.cases.get(id)?;
        let until = now.boot_ms + u64::try_from(open.patience(self.config.expires).as_millis()).unwrap_or(290_000);
        match self.book.join(id, &key, until, now) {
            Err(full) => return Some(case::Event::Refused(full.to_string())),
            Ok(Some(approval)) => {
                self.joined(id, approval);
                return None;
            }
            Ok(None) => {}
        }
        let open = self.cases.get(id)?;
        if let Some(known) = self.workspaces.get_mut(&open.workspace) {
            if let Some((by, until)) = &known.paused {
                if now.boot_ms < *until {
                    let minutes = (until - now.boot_ms).div_ceil(60_000);
                    let why = format!(
                        "{by} takes no questions from this workspace for {minutes} more minutes; do what needs none"
                    );
                    return Some(case::Event::Refused(why));
                }
                known.paused = None;
            }
            // What was a card before is none anew.
            if again.is_none() && !self.restored.contains_key(&key) && !known.cards.take(1) {
                let why = "this workspace has asked people as often as it may in an hour (`approval.cards_per_hour`); do what needs no approval";
                return Some(case::Event::Refused(why.to_owned()));
            }
        }
        if again.is_none()
            && let Err(full) = self.book.has_room(&open.workspace, open.check.command.text(), self.config.max_held)
        {
            return Some(case::Event::Refused(full.to_string()));
        }
        // One whose time is over is not taken up again.
        let lives = self.restored.get(&key).is_some_and(|card| card.expires_boot_ms > now.boot_ms);
        let restored = if lives { self.restored.remove(&key) } else { None };
        let is_restored = restored.is_some();
        let again = restored.as_ref().map(|card| card.id.clone()).or(again);
        let Some(approval) = again.or_else(|| self.new_approval_id()) else {
            return Some(case::Event::Refused("the host cannot make an approval id".to_owned()));
        };
        let open = self.cases.get(id)?;
        let shown = self.card(open, approval.clone(), judged.rule, &judged.reason)?;
        let card = Card {
            key,
            advice,
            asked_at_ms: restored.as_ref().map_or(now.unix_ms, |card| card.asked_at_ms),
            expires_boot_ms: match restored {
                Some(card) if card.request_id == open.request_id => card.expires_boot_ms,
                Some(card) => card.expires_boot_ms.max(until),
                None => until,
            },
            offers_session: !outage
                && open.check.script.is_none()
                && !open.case.is_open_ended()
                && !chat::card::Room::USUAL.folds(open.check.command.text())
                // What a tool sends is no text that comes again.
                && open.check.tool.is_none()
                && shown.forecast.is_determined(open.case.classification()),
            outage,
            demands: self.demands(judged, outage),
            ..shown
        };
        // What is said at a forge, or pushed, is another thing each time: its kind can be granted where the text itself cannot.
        let found = open.case.classification();
        let is_whole = !outage && !chat::card::Room::USUAL.folds(open.check.command.text());
        let reach = || {
            if card.offers_session {
                reach(found, &open.check, &card.forecast)
            } else {
                kind(found, &open.check).filter(|_| is_whole)
            }
        };
        let grant = judged.is_by_table_alone().then(reach).flatten();
        let card = Card { grant, ..card };
        let detail = json!({"event": "held", "approval": approval, "request": card.request_id, "command": card.command, "rule": card.rule, "reason": card.reason, "outage": outage});
        let entry = open.entry(RecordKind::Approval, detail);
        let writes = vec![Write::Hold(Box::new(card.clone()), self.boot.clone()), Write::Audit(entry)];
        if is_restored {
            // It was shown before, and may be answered before it is announced again.
            self.desk.board().put(card.clone());
        }
        self.book.hold(id, card);
        if let Some(open) = self.cases.get_mut(id) {
            open.approval = Some(approval.clone());
            (open.joined, open.announced) = (false, false);
        }
        self.records.submit(writes, true, After::Held(id, approval));
        fault::here("approval.submitted");
        None
    }

    /// What a yes to a question takes.
    pub(super) fn demands(&self, judged: &Judged, outage: bool) -> Demands {
        let risk = &self.config.policy.risk;
        let is_among = |set: &BTreeSet<Matter>| {
            // A yes about the inspector lets what waits run, too.
            if outage && set.contains(&Matter::Outage) {
                return true;
            }
            // What nobody named here takes all there is.
            !judged.matters.is_disjoint(set) || Matter::of_rule(judged.rule).is_none_or(|matter| set.contains(&matter))
        };
        Demands {
            code: is_among(&risk.high),
            two_people: !risk.two_people.is_empty() && is_among(&risk.two_people),
            first: None,
        }
    }

    /// A case waits for a card that is there: on record, too, before people are told that it does.
    pub(super) fn joined(&mut self, id: CaseId, approval: ApprovalId) {
        let Some(open) = self.cases.get_mut(id) else { return };
        open.approval = Some(approval.clone());
        (open.joined, open.announced) = (true, false);
        let detail = json!({"event": "joined", "approval": approval, "request": open.request_id, "command": open.check.command.text()});
        let entry = open.entry(RecordKind::Approval, detail);
        let mut writes = vec![Write::Audit(entry)];
        let command = open.check.shown();
        if let Some(card) = self.book.card_mut(&approval) {
            card.waits_too(&command);
        }
        if let Some(card) = self.book.card(&approval) {
            // It may have got more time.
            writes.push(Write::Hold(Box::new(card.clone()), self.boot.clone()));
        }
        self.records.submit(writes, true, After::Held(id, approval));
    }

    /// A case waits no longer for its card. A card that nobody waits for is over.
    pub(super) fn leave(&mut self, id: CaseId, approval: &ApprovalId) {
        if self.book.leave(approval, id).is_some() {
            self.records.submit(vec![Write::Drop(approval.to_string())], false, After::Nothing);
            self.tell_end(approval.clone(), Became::default());
        }
    }

    /// A card, or that a case waits for it, could not be recorded: who waits for it is denied.
    pub(super) fn not_held(&mut self, id: CaseId, approval: &ApprovalId, error: &str) {
        let joined = self.cases.get(id).is_some_and(|open| open.joined);
        let waited = if joined { Vec::new() } else { self.book.remove(approval) };
        for case in waited.into_iter().filter(|case| *case != id).chain([id]) {
            self.step(case, case::Event::NotRecorded(error.to_owned()));
        }
    }

    /// What people are shown about an open request.
    pub(super) fn card(&self, open: &Open, id: ApprovalId, rule: &str, reason: &str) -> Option<Card> {
        let seen = self.workspaces.get(&open.workspace)?.seen_now();
        let mut forecast = Forecast::new(open.case.classification(), open.read_effects(), &open.check);
        forecast.changed = self.changed_since_approved(&open.workspace, &open.check);
        forecast.since = self.since_approved(&open.workspace, &forecast);
        Some(Card {
            id,
            workspace: open.workspace.clone(),
            request_id: open.request_id.clone(),
            request_sha256: open.digest.hex(),
            key: open.key,
            command: open.check.shown().into_owned(),
            cwd: open.check.cwd.clone(),
            agent: open.check.agent.clone(),
            class: open.case.classification().class,
            rule: rule.to_owned(),
            reason: open.for_people(reason),
            taint: seen.taint,
            causes: seen.causes,
            epoch: seen.epoch,
            advice: open.finding.as_ref().map(case::advice),
            asked_at_ms: clock::now().unix_ms,
            expires_boot_ms: 0,
            offers_session: false,
            waiting: 1,
            outage: false,
            also: Vec::new(),
            demands: Demands::default(),
            grant: None,
            way: open.case.way().iter().map(egress::written).collect(),
            forecast,
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

    pub(super) fn keep_denied(&mut self, id: CaseId, rule: &str, reason: &str) {
        let Some(approval) = self.new_approval_id() else { return };
        let Some(open) = self.cases.get(id) else { return };
        let Some(card) = self.card(open, approval, rule, reason) else { return };
        let now = clock::now();
        let judged = open.case.judged(card.taint, &self.config.policy);
        let mut demands = self.demands(&judged, false);
        demands.two_people |= self.config.policy.risk.two_people.contains(&Matter::Overrule);
        let card = Card { expires_boot_ms: now.boot_ms + OVERRULE_MS, demands, ..card };
        self.tell_of_denied(&card);
        self.book.keep_denied(card, now);
    }

    /// Channels hear of a denial by the inspector, within the same bounds as of cards: it may be a wrong one.
    fn tell_of_denied(&mut self, card: &Card) {
        let Some(known) = self.workspaces.get_mut(&card.workspace) else { return };
        if known.muted || !known.told.take(1) {
            return;
        }
        let how = if is_told_whole(&card.command) {
            ""
        } else {
            "not all of it is shown here; read it on the host, with bashgate show, and there "
        };
        let words = format!(
            "Denied in workspace {}: {}\n{}\nIt stays denied. To let the same command run once, when the agent asks again within {} \
             minutes: {how}approve {}",
            card.workspace,
            one_line(&card.command, MOST_TOLD),
            one_line(&card.reason, 400),
            OVERRULE_MS / 60_000,
            card.id
        );
        self.desk.board().remark(&card.workspace, &words);
    }
}

/// Longest command of a denial that is told, in letters.
const MOST_TOLD: usize = 600;

/// True where all of a denied command was told.
pub(super) fn is_told_whole(command: &str) -> bool {
    one_line(command, MOST_TOLD) == one_line(command, usize::MAX)
}

/// What a grant would cover that is given for this command, or has to cover to let it through.
pub(super) fn reach(found: &Classification, check: &BashCheck, forecast: &Forecast) -> Option<Reach> {
    is_command(check).then(|| Reach::of(found, check, forecast)).flatten()
}

/// The same where the kind of it can be granted though the text itself cannot.
fn kind(found: &Classification, check: &BashCheck) -> Option<Reach> {
    is_command(check).then(|| Reach::of_writes(found, check)).flatten()
}

fn is_command(check: &BashCheck) -> bool {
    check.script.is_none() && check.tool.is_none()
}
