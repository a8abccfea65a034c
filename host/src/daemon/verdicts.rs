//! What a case says is to be done: ask, hold, record, release.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bashgate_shared::classify::Condition;
use bashgate_shared::classify::tool::ToolAct;
use bashgate_shared::command::Digest;
use bashgate_shared::programs::reaches::Reaches;
use bashgate_shared::programs::{opens_no_file, opens_nothing, row};
use bashgate_shared::protocol::{Answer, BASH_CHECK, BashCheck, EgressEnd, TOOL_EVENT, WorkspaceName};
use bashgate_shared::seal::Unsigned;
use serde_json::json;

use super::cases::Open;
use super::core::Core;
use super::{After, CaseId};
use super::{files, scripts};
use crate::approval::{ApprovalId, Card};
use crate::audit::{self, RecordKind};
use crate::authority::By;
use crate::case::{self, Standing, Step, Verdict, View};
use crate::chat::Notice;
use crate::chat::notice::{self, Became, Decided};
use crate::clock;
use crate::egress::answers::RestsOn;
use crate::fault;
use crate::policy::egress::{self, End};
use crate::policy::trust;
use crate::store::Write;
use crate::taint::{Cause, Label, Taint};

/// Most bytes that the run of a command that only reads receives: a large repository.
const MOST_DOWN: u64 = 4 << 30;
/// After this long a card is told of, if somebody still waits for it, in milliseconds.
const RINGS_AFTER_MS: u64 = 300;

impl Core {
    /// Gives a case an event and does what it says, until it says nothing more.
    pub(super) fn step(&mut self, id: CaseId, event: case::Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let Some(open) = self.cases.get_mut(id) else { return };
            // A workspace that was removed meanwhile is as tainted as can be.
            let view =
                self.workspaces.get(&open.workspace).map_or(View { taint: Taint::Both, epoch: u64::MAX }, |known| {
                    View { taint: known.taint(), epoch: known.seen.epoch }
                });
            // Broken glass that somebody has mended meanwhile, or whose time is over, lets nothing through.
            let now = clock::now();
            if open.case.glass().is_some_and(|id| !self.book.lets_ahead(id, now, view.epoch)) {
                open.case.glass_is_over();
            }
            for step in open.case.on(event, view, &self.config.policy) {
                events.extend(self.perform(id, step));
            }
        }
    }

    /// Tells people of a card, one by one as long as they are not flooded. It is on the board all the same.
    fn tell_of_card(&mut self, workspace: &WorkspaceName, notice: &Notice) {
        let Some(known) = self.workspaces.get_mut(workspace) else { return };
        let is_told = !known.muted && known.told.take(1);
        if is_told {
            return self.desk.tell(notice);
        }
        self.desk.note(notice);
        self.tell_of_flood(workspace);
    }

    /// That there are more cards than are told one by one.
    fn tell_of_flood(&mut self, workspace: &WorkspaceName) {
        const EACH: Duration = Duration::from_secs(30);
        let Some(known) = self.workspaces.get_mut(workspace).filter(|known| !known.muted) else { return };
        if known.flood_told.is_none_or(|last| last.elapsed() > EACH) {
            known.flood_told = Some(Instant::now());
            let held = self.book.cards().filter(|card| card.workspace == *workspace).count();
            self.desk.tell(&Notice::Flood { workspace: workspace.clone(), held });
        }
    }

    /// Tells of cards that nobody was told of yet: new ones whose asker has not gone at once, and those that were held while a
    /// workspace was muted or asked too much, once it is not and does not any more.
    pub(super) fn tell_of_quiet_cards(&mut self) {
        let now = clock::now().unix_ms;
        let quiet: Vec<_> =
            self.desk.board().quiet().into_iter().filter_map(|id| self.book.card(&id).cloned()).collect();
        let is_muted = |name: &WorkspaceName| self.workspaces.get(name).is_none_or(|known| known.muted);
        let is_due = |card: &Card| card.asked_at_ms + RINGS_AFTER_MS <= now && !is_muted(&card.workspace);
        let due: Vec<Card> = quiet.into_iter().filter(is_due).collect();
        if due.is_empty() {
            return;
        }
        self.look_for_askers();
        for card in due {
            let Some(card) = self.book.card(&card.id).cloned() else { continue };
            let Some(known) = self.workspaces.get_mut(&card.workspace) else { continue };
            if !known.muted && known.told.take(1) {
                self.desk.tell(&Notice::Held(Box::new(card)));
            } else {
                self.tell_of_flood(&card.workspace);
            }
        }
    }

    /// True for a card that is on the board, and of which nobody was told by itself.
    fn is_quiet(&self, id: &ApprovalId) -> bool {
        self.desk.board().card(id).is_some_and(|shown| shown.is_quiet)
    }

    /// Tells what becomes of a card whoever was told of it.
    fn tell_who_knows(&mut self, id: &ApprovalId, notice: &Notice) {
        if self.is_quiet(id) { self.desk.note(notice) } else { self.desk.tell(notice) }
    }

    /// Tells of the end of a card whoever was told of it.
    pub(super) fn tell_end(&mut self, id: ApprovalId, became: Became) {
        self.tell_who_knows(&id.clone(), &Notice::Over(id, became));
    }

    /// Ends everything that is open for a workspace with a denial.
    pub(super) fn close_all(&mut self, name: &WorkspaceName, by: &str) {
        for id in self.cases.those(|open| open.workspace == *name) {
            self.step(id, case::Event::Refused(format!("the workspace was removed by {by}")));
        }
    }

    pub(super) fn perform(&mut self, id: CaseId, step: Step) -> Option<case::Event> {
        match step {
            Step::Inspect => self.inspect(id),
            Step::Hold { judged, id: again, advice, outage } => self.hold(id, &judged, again, advice, outage),
            Step::Announce => {
                let open = self.cases.get_mut(id)?;
                open.announced = true;
                let (joined, approval, is_locked) = (open.joined, open.approval.clone()?, open.check.locked);
                let command = open.check.shown().into_owned();
                let card = self.book.card(&approval)?.clone();
                let workspace = card.workspace.clone();
                let notice = if joined {
                    Notice::Joined {
                        id: approval.clone(),
                        waiting: card.waiting,
                        expires_boot_ms: card.expires_boot_ms,
                        command: card.outage.then_some(command),
                    }
                } else {
                    Notice::Held(Box::new(card))
                };
                // Who asks and is gone at once rings nobody: the next look tells of it.
                let waits = if joined { self.is_quiet(&approval) } else { is_locked };
                if waits {
                    self.desk.note(&notice);
                } else {
                    self.tell_of_card(&workspace, &notice);
                }
                fault::here("approval.announced");
                None
            }
            Step::Advise(words) => {
                let open = self.cases.get(id)?;
                let approval = open.approval.clone()?;
                if let Some(card) = self.book.card_mut(&approval) {
                    card.advice = Some(words.clone());
                }
                if open.announced {
                    self.tell_who_knows(&approval.clone(), &Notice::Advice(approval, words));
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
                let open = self.cases.remove(id)?;
                if let Some(asking) = &open.asking {
                    asking.abort();
                }
                let approval = open.approval?;
                if self.book.card(&approval).is_some() && !open.card_over {
                    self.leave(id, &approval);
                } else if !self.cases.values().any(|other| other.approval.as_ref() == Some(&approval)) {
                    // The last one that waited for it says what became of it.
                    self.tell_end(approval, open.became.unwrap_or_default());
                }
                None
            }
        }
    }

    pub(super) fn record_verdict(&mut self, id: CaseId, verdict: &Verdict, raises: Vec<(Label, String)>) {
        let now = clock::now();
        let Some(open) = self.cases.get(id) else { return };
        let Some(known) = self.workspaces.get_mut(&open.workspace) else { return };
        let found = open.case.classification();
        let by = match &open.check.tool {
            // Not in the words of a person: whoever asks chooses the tool's name.
            Some(call) => call.name.replace(':', "_"),
            None => found.effects.programs.join(", ").chars().take(120).collect(),
        };
        let mut rose = false;
        let touched = !raises.is_empty();
        for (label, source) in raises {
            // Of a page the whole address says more than its host.
            let acts = open.check.tool.iter().flat_map(|call| &call.acts);
            let mut pages = acts.filter(|act| matches!(act, ToolAct::Fetch { .. })).map(ToolAct::on);
            let source = pages.find(|page| page.contains(&source)).map_or(source.clone(), str::to_owned);
            rose |= known.seen.raise(Cause {
                label,
                source: source.chars().take(512).collect(),
                by: by.clone(),
                at_ms: now.unix_ms,
                heard: false,
            });
        }
        let check = &open.check;
        let seen = (known.taint(), known.seen.epoch);
        let record = audit::DecisionRecord {
            rule: Some(verdict.rule.to_owned()),
            cwd: check.cwd.clone(),
            tool_use_id: check.tool_use_id.clone(),
            script: check.script.as_deref().cloned(),
            script_sha256: check.script_digest().map(|digest| digest.hex()),
            class: Some(found.class),
            class_reason: Some(found.reason.clone()),
            effects: Some(found.effects.clone()),
            finding: open.finding.clone(),
            approval: open.approval.as_ref().map(ToString::to_string),
            can_cage: check.caged_form.is_some(),
            caged: verdict.is_caged(),
            egress: open.case.egress(verdict).iter().map(egress::written).collect(),
            remotes: check.egress.as_ref().map(|egress| egress.remotes.clone()),
            let_through: verdict.let_through,
            would_ask: verdict.standing == Standing::WouldAsk,
            taint_before: Some(open.taint_before),
            took_us: Some(u64::try_from(open.since.elapsed().as_micros()).unwrap_or(u64::MAX)),
            ..of_check(check, open.digest, verdict.answer, verdict.by.clone(), &verdict.reason, seen)
        };
        let detail = json!(record);
        let entry = open.entry(RecordKind::Decision, detail);
        let mut writes = vec![Write::Audit(entry)];
        writes.extend(scripts::approved_by(open, verdict).map(Write::ApproveScript));
        writes.extend(files::approved_with(open, verdict));
        if touched {
            writes.push(Write::Taint(open.workspace.clone(), known.seen.clone()));
        }
        // With the record: once the answer is out, a host that starts anew must know that something may have run.
        if may_plant(open, verdict) {
            writes.extend(known.acting.is_let_through().then(|| Write::Unlooked(open.workspace.clone())));
        }
        let durable = rose || open.approval.is_some() || verdict.by.is_human();
        // Who else waits for the card goes on waiting; the last one takes it away. From now on it cannot be answered.
        if let Some(approval) = open.approval.clone() {
            let over = self.book.leave(&approval, id).is_some();
            if over || self.book.card(&approval).is_none() {
                writes.push(Write::Drop(approval.to_string()));
            }
            if let Some(open) = self.cases.get_mut(id) {
                open.card_over = over;
                open.became = Some(notice::became(verdict, now.unix_ms));
            }
        }
        if let Some(open) = self.cases.get_mut(id) {
            open.epoch = Some(seen.1);
        }
        self.records.submit(writes, durable, After::Recorded(id));
        fault::here("verdict.submitted");
    }

    /// Puts on record that a denial came behind the approval.
    fn record_denial(&mut self, id: CaseId, verdict: &Verdict) {
        let Some(open) = self.cases.get(id) else { return };
        let detail = json!({"event": "denied", "approval": open.approval, "request": open.request_id, "by": verdict.by, "reason": verdict.reason});
        let became = notice::became(verdict, clock::now().unix_ms);
        let mut writes = vec![Write::Audit(open.entry(RecordKind::Answer, detail))];
        if let Some(digest) = open.check.script_digest() {
            writes.push(Write::RevokeScript(open.workspace.clone(), digest.hex()));
            if let Some(known) = self.workspaces.get_mut(&open.workspace) {
                known.scripts.remove(&digest.hex());
            }
        }
        if let Some(open) = self.cases.get_mut(id) {
            open.became = Some(became);
        }
        self.records.submit(writes, true, After::Recorded(id));
    }

    /// Where the command may go that an answer is about, which is ready for its run from now on.
    fn given(&self, open: &Open, verdict: &Verdict) -> Vec<EgressEnd> {
        let goes_to = open.case.egress(verdict);
        if goes_to.is_empty() {
            return Vec::new();
        }
        let found = open.case.classification();
        let up_bytes = found.reaches.as_ref().map_or(0, |reaches| reaches.up_bytes);
        let end = |(host, port): &End| EgressEnd { host: host.clone(), port: *port, up_bytes, down_bytes: MOST_DOWN };
        let ends: Vec<EgressEnd> = goes_to.iter().map(end).collect();
        let ports = || goes_to.iter().map(|(_, port)| *port);
        let signs_in = |name: &&String| row(name).is_some_and(|row| row.signs_in.iter().any(|one| one.is_for(ports())));
        // What lies under any name may be a link to what a program signs in with, or somebody's own program, by the time that it is opened:
        // where nobody was asked, no credentials are in a run where anything else opens files. A person has seen what does; there that counts
        // for what comes in, and on the way up from a folder that somebody moves meanwhile.
        let is_asked = verdict.standing != Standing::Egress;
        let opens = !found.effects.reads.is_empty() || found.effects.reads_unknown;
        let opens_by_git = !found.effects.git.iter().all(|name| opens_no_file(name));
        let opens_more = !is_asked && found.conditions.iter().any(Condition::opens_files);
        let opens_none = !opens && !opens_by_git && !opens_more;
        let is_of_theirs = |name: &String| signs_in(&name) || opens_nothing(name);
        let others_open_none = opens_none && found.effects.programs.iter().all(is_of_theirs);
        let brings = found.reaches.as_ref().is_some_and(Reaches::brings_files);
        let climbs = open.check.command.text().contains("..");
        let is_shown = if brings || climbs { others_open_none } else { is_asked || opens_none };
        let programs = found.effects.programs.iter().filter(|name| is_shown && signs_in(name)).cloned().collect();
        let Some(told) = &open.check.egress else { return Vec::new() };
        let subject = told.subject(open.check.command.text());
        // What is let go because it only reads is so under any taint. Whatever else was allowed was so in the taint of its decision.
        let rests = verdict.standing != Standing::Egress;
        let epoch = open.epoch.filter(|_| rests);
        let now_is = self.workspaces.get(&open.workspace).map_or(u64::MAX, |known| known.seen.epoch);
        let is_ahead = |id: &&ApprovalId| self.book.lets_ahead(id, clock::now(), now_is);
        let ahead = open.passed.as_ref().or(open.approval.as_ref()).filter(is_ahead).cloned();
        // What lets everything through does so under any taint.
        let is_everything = ahead.as_ref().is_some_and(|id| self.book.lets_ahead(id, clock::now(), u64::MAX));
        let rests_on = RestsOn { epoch: epoch.filter(|_| !is_everything), ahead };
        let is_ready = self.way_out.put(&open.workspace, &open.request_id, subject, &ends, (programs, rests_on));
        if is_ready { ends } else { Vec::new() }
    }

    pub(super) fn release_verdict(&mut self, id: CaseId, verdict: Verdict) {
        let Some(open) = self.cases.get(id) else { return };
        let (epoch, taint) = self
            .workspaces
            .get(&open.workspace)
            .map_or((0, open.taint_before), |known| (known.seen.epoch, known.taint()));
        let ends = self.given(open, &verdict);
        let verdict = if ends.is_empty() && !open.case.egress(&verdict).is_empty() {
            tracing::warn!(workspace = %open.workspace, "too many answers wait for their runs; one more is a denial");
            verdict.without_room()
        } else {
            verdict
        };
        let unsigned = Unsigned {
            decision: verdict.released(),
            reason: if verdict.let_through { let_through(&verdict.reason) } else { verdict.reason.clone() },
            request_id: open.request_id.clone(),
            workspace: open.workspace.clone(),
            request: Some(open.digest),
            decided_by: verdict.by.to_string(),
            taint_epoch: epoch,
            valid_for_ms: open.valid_for_ms(),
            cage: verdict.is_caged(),
            egress: ends,
            asked_key: open.check.key_id.clone(),
        };
        if let Some(script) = scripts::approved_by(open, &verdict) {
            self.script_is_approved(script);
        }
        let Some(open) = self.cases.get(id) else { return };
        if verdict.is_caged()
            && let (Some(call), Some(form)) = (&open.check.tool_use_id, form_of(open, &unsigned.egress))
            && let Some(known) = self.workspaces.get_mut(&open.workspace)
        {
            known.caged.put(call, form);
        }
        let may_plant = may_plant(open, &verdict);
        let notice = Decided {
            caged: verdict.is_caged(),
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
        if verdict.standing == Standing::Overrulable && !verdict.let_through {
            self.keep_denied(id, verdict.rule, &notice.reason);
        }
        // Once more: somebody may have looked while it was written down.
        if may_plant {
            self.may_plant(&unsigned.workspace);
        }
        self.release(&unsigned);
        self.tell_decided(notice);
    }
}

/// The digest of the text that runs it.
fn form_of<'o>(open: &'o Open, ends: &[EgressEnd]) -> Option<&'o String> {
    let outward = open.check.egress.as_ref().filter(|_| !ends.is_empty()).map(|egress| &egress.form);
    outward.or(open.check.caged_form.as_ref())
}

/// True for a command that is let through as it is, so that nobody knows what it leaves until somebody looks.
fn may_plant(open: &Open, verdict: &Verdict) -> bool {
    open.check.acting.is_some() && verdict.released() == Answer::Allow && !verdict.is_caged()
}

/// The reason of an answer that shadow mode lets through.
pub(super) fn let_through(reason: &str) -> String {
    format!("shadow mode lets it through; it would be denied: {reason}")
}

/// What every record about a command has.
pub(super) fn of_check(
    check: &BashCheck,
    request: Digest,
    answer: Answer,
    by: By,
    reason: &str,
    (taint, epoch): (Taint, u64),
) -> audit::DecisionRecord {
    let request_type = if check.tool.is_some() { TOOL_EVENT } else { BASH_CHECK };
    audit::DecisionRecord {
        command: check.tool.is_none().then(|| check.command.text().to_owned()),
        tool: check.tool.as_ref().map(|call| call.name.clone()),
        target: check.tool.as_ref().and_then(|call| call.target.clone()),
        acts: check.tool.as_ref().map(|call| call.acts.clone()).unwrap_or_default(),
        service: check.tool.as_ref().map(|call| trust::service_of(call).to_owned()),
        agent: check.agent.clone(),
        session: check.session.clone(),
        permission: check.permission(),
        preset: check.runner.as_ref().map(|runner| runner.preset.clone()),
        request_sha256: Some(request.hex()),
        ..audit::DecisionRecord::new(request_type, answer, by, reason, taint, epoch)
    }
}
