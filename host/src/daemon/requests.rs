//! Requests as they come in: taken, refused, or opened as a case.

use std::collections::BTreeSet;
use std::time::Instant;

use bashgate_shared::cage::MAX_CAGED_BYTES;
use bashgate_shared::classify::later::{self, Tier};
use bashgate_shared::classify::{Classification, CommandClass, Decided, Surroundings, classify, protected};
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{
    Answer, BASH_RAN, BashCheck, BashRan, Request, RequestError, RequestId, WorkspaceName, parse_request,
};
use bashgate_shared::seal::Unsigned;
use bashgate_shared::shell::Shell;
use serde_json::json;

use super::After;
use super::acting;
use super::cards;
use super::cases::{self, Open, Plain};
use super::core::{Core, STARTING, Workspace};
use super::reading::{Read, SHORT, Unread};
use super::{scripts, verdicts};
use crate::approval::{ApprovalId, Forecast, RequestKey};
use crate::audit::{self, Entry, RecordKind};
use crate::authority::By;
use crate::case::{self, Case};
use crate::chat::notice::Decided as DecidedNotice;
use crate::clock;
use crate::fault;
use crate::inspector::ReadAlone;
use crate::intake::Arrival;
use crate::intake::folder::{self, Taken};
use crate::policy::cage::Cage;
use crate::policy::egress::{self, End};
use crate::policy::trust::{self, Terms};
use crate::policy::{self, Asked, Decision, Judged, tools};
use crate::store::Write;
use crate::taint::{Cause, Label};

/// What a record takes besides what came in, in bytes.
const RECORD_BYTES: usize = 2048;

impl Core {
    pub(super) fn arrived(&mut self, arrival: Arrival) {
        fault::here("request.arrived");
        let Arrival { workspace, id, taken, at } = arrival;
        let named = (workspace.clone(), id.clone());
        if self.cases.is_asked(&named)
            || self.readers.has(&named)
            || self.drafts.has(&named)
            || self.outbox.holds(&named)
        {
            // The first one stands. The answer is bound to its bytes, so another text under this id gets none.
            tracing::info!(%workspace, %id, "a request of this id is being decided; another one is not looked at");
            return;
        }
        if let Some(known) = self.workspaces.get_mut(&workspace)
            && !known.requests.take(1)
        {
            let why = "too many requests in a second; run it again a little later";
            return self.reject(&workspace, id, None, why, at);
        }
        let bytes = match taken {
            Taken::Bytes(bytes) => bytes,
            Taken::Nothing => return,
            Taken::Refused(why) => {
                return self.reject(&workspace, id, None, &format!("the request is refused: {why}"), at);
            }
            Taken::Unreadable { uid, mode } => {
                let own = rustix::process::getuid().as_raw();
                let why = format!(
                    "the host (user id {own}) may not read the request, which belongs to user id {uid} with mode {mode:o}; for the operator: \
                     run `bashgate serve` as that user or as root, or let the container write requests with mode 644 as bashgate-hook does"
                );
                return self.reject(&workspace, id, None, &why, at);
            }
        };
        let digest = Digest::of(&bytes);
        // A record holds the text, what it does and why: about as much again.
        if let Some(known) = self.workspaces.get_mut(&workspace)
            && !known.recorded.take(RECORD_BYTES + 2 * bytes.len())
        {
            let why = "this workspace has put as much on record as it may in an hour (`limits.record_mib_per_hour`); run it again later, with shorter commands";
            return self.reject(&workspace, id, Some(digest), why, at);
        }
        if !self.workspaces.contains_key(&workspace) {
            let why = format!(
                "the host does not know the workspace `{workspace}`; for the operator: bashgate workspace add {workspace}"
            );
            return self.reject(&workspace, id, Some(digest), &why, at);
        }
        match self.records.reader.is_decided(&workspace, &id) {
            Ok(false) => {}
            Ok(true) => {
                return self.reject(
                    &workspace,
                    id,
                    Some(digest),
                    "a request of this id was answered before; use a new id",
                    at,
                );
            }
            Err(error) => {
                return self.reject(&workspace, id, Some(digest), &format!("the host's store fails ({error})"), at);
            }
        }
        let request = match parse_request(&bytes, &id) {
            Ok(request) => request,
            Err(error) => {
                let why = match &error {
                    RequestError::Command(_) => format!("{error}; {}", error.help()),
                    _ => format!("{error}; for the operator: {}", error.help()),
                };
                return self.reject(&workspace, id, Some(digest), &why, at);
            }
        };
        if self.times.started.elapsed() < STARTING && self.is_left_behind(&workspace, &id, &request) {
            tracing::info!(%workspace, %id, "dropped a request whose asker is gone");
            folder::remove(&self.config.mailboxes, &workspace, &id);
            return;
        }
        match request {
            Request::BashCheck(check) if check.refused().is_some() => {
                self.refused_by_runner((workspace, id, digest), &check, at);
            }
            Request::BashCheck(mut check) => {
                if let Some(report) = &mut check.acting {
                    self.look_for_plants(&workspace, report);
                    // That there was one is all that counts from here on.
                    report.files.clear();
                }
                let (request_id, bytes) = (id, bytes.len());
                self.check(Unread { workspace, request_id, digest, bytes, check: *check, since: at });
            }
            Request::ToolEvent(event) => match event.into_question() {
                Ok(check) => {
                    let (request_id, bytes) = (id, bytes.len());
                    self.check(Unread { workspace, request_id, digest, bytes, check, since: at });
                }
                Err(error) => self.reject(&workspace, id, Some(digest), &format!("{error}; {}", error.help()), at),
            },
            Request::BashRan(ran) => self.bash_ran(workspace, id, digest, &ran, at),
            Request::ScriptDraft(draft) => self.draft((workspace, id, digest), draft, at),
        }
    }

    pub(super) fn is_left_behind(&self, workspace: &WorkspaceName, id: &RequestId, request: &Request) -> bool {
        if request.is_locked_while_waiting() {
            // Whoever holds the lock waits, whatever the wall clock says.
            return folder::asker_is_gone(&self.config.mailboxes, workspace, id);
        }
        let timeout = request.timeout_ms().unwrap_or(300_000);
        let written = folder::written_ms(&self.config.mailboxes, workspace, id);
        written.is_some_and(|written| clock::now().unix_ms.saturating_sub(written) > timeout)
    }

    /// Denies a request that cannot be taken. The denial goes out even where it cannot be recorded.
    pub(super) fn reject(
        &mut self,
        workspace: &WorkspaceName,
        id: RequestId,
        digest: Option<Digest>,
        why: &str,
        since: Instant,
    ) {
        tracing::info!(%workspace, %id, why, "rejected");
        self.metrics.rejected();
        self.rejects.note(&self.records, workspace, &id, why);
        let taint = self.workspaces.get(workspace).map_or_else(Default::default, |known| known.seen.taint);
        let unsigned = Unsigned {
            decision: Answer::Deny,
            reason: why.to_owned(),
            request_id: id,
            workspace: workspace.clone(),
            request: digest,
            decided_by: By::Host.to_string(),
            taint_epoch: self.workspaces.get(workspace).map_or(0, |known| known.seen.epoch),
            valid_for_ms: 3_600_000,
            cage: false,
            egress: Vec::new(),
            asked_key: None,
        };
        let what = "a request that cannot be taken".to_owned();
        self.respond(Plain { unsigned, by: By::Host, what, taint, since });
    }

    pub(super) fn respond(&mut self, plain: Plain) {
        let Plain { unsigned, by, what, taint, since } = plain;
        self.release(&unsigned);
        self.tell_decided(DecidedNotice {
            workspace: unsigned.workspace.to_string(),
            what,
            class: None,
            answer: unsigned.decision,
            let_through: false,
            caged: false,
            by,
            reason: unsigned.reason,
            taint,
            took: since.elapsed(),
        });
    }

    pub(super) fn release(&mut self, unsigned: &Unsigned) {
        // Before anybody hears of what is another thing now.
        self.end_ways_out(clock::now());
        self.outbox.release(&self.keys, unsigned);
    }

    /// Has a command read: here when it is short, else beside the loop.
    fn check(&mut self, unread: Unread) {
        let Some(known) = self.workspaces.get(&unread.workspace) else { return };
        let check = &unread.check;
        let shell = if check.other_shell { Shell::Other } else { known.settings.shell() };
        // A hook that has looked with other rows, or with none, does not know what their names mean there.
        // What is narrowed, is so for everybody.
        let programs = self.own_programs.as_ref().map(|signed| {
            let has_looked = check.programs.as_ref() == Some(&signed.known.digest.hex());
            if has_looked { signed.known.programs } else { signed.narrowing }
        });
        let around = Surroundings { shell, cwd: check.cwd.clone(), protected: check.protected.clone(), programs };
        if let Some(call) = &check.tool {
            let name = trust::service_of(call);
            let found = tools::classify(call, name, &self.config.service(name), &around);
            self.weigh((unread, found));
        } else if check.command.text().len() <= SHORT {
            let found = classify(&check.command, &around);
            self.weigh((unread, found));
        } else if self.readers.has_room(&unread.workspace) {
            self.readers.read(unread, around);
        } else {
            let why =
                "too many long commands of this workspace wait to be read; run it again when they have their answers";
            self.reject(&unread.workspace.clone(), unread.request_id, Some(unread.digest), why, unread.since);
        }
    }

    /// A command was read: opens its case.
    pub(super) fn weigh(&mut self, (unread, mut found): Read) {
        let Unread { workspace, request_id, digest, bytes, check, since } = unread;
        let Some(known) = self.workspaces.get(&workspace) else { return };
        let seen = known.seen_now();
        let read_alone = weigh_evidence(&mut found, &check);
        scripts::weigh(&mut found, &check);
        let script = self.approved_script(&workspace, &check);
        let weight = cases::weight(bytes, &found);
        if !self.cases.has_room(&workspace, weight) {
            let why = "too many commands of this workspace wait for an answer; run it again when they have one";
            return self.reject(&workspace, request_id, Some(digest), why, since);
        }
        let cwd = check.cwd.clone().unwrap_or_default();
        let leads_to = check.egress.as_ref().map(|told| (&told.folder, &told.remotes));
        let evidence = (&check.evidence, check.says(), check.other_shell, &check.script, leads_to);
        let evidence = serde_json::to_string(&evidence).unwrap_or_default();
        // What one agent, or one sandbox, was given, no other one has.
        // And a call of a tool is no command that reads the same.
        let asker = json!([
            check.agent,
            check.runner.as_ref().map(|runner| &runner.preset),
            check.asked_with,
            check.tool.as_ref().map(|call| (&call.name, call.sends.is_some())),
        ])
        .to_string();
        let key = RequestKey::of(&workspace, &[check.command.text(), &cwd, &evidence, &asker], seen.epoch);
        // Values can hold what the text does not.
        let text = check.shown().into_owned();
        let can_cage = check.caged_form.is_some() && script.is_none() && check.command.text().len() <= MAX_CAGED_BYTES;
        let instead = if can_cage { known.settings.cage() } else { Cage::default() };
        let by_runner = check.runner.is_some();
        let terms = check.tool.as_ref().map(|call| {
            let name = trust::service_of(call);
            let mut terms = Terms::of(name, &self.config.service(name), known.settings.clean_room);
            // Whatever it may belong to by its name is forbidden with that.
            let may_be = self.config.services.iter().find(|(of, service)| {
                service.is_forbidden() && trust::may_belong_to(&call.name, of) && name != of.as_str()
            });
            if let Some((of, service)) = may_be
                && trust::About::of(call) == trust::About::Service
            {
                terms.forbidden = Terms::of(of, service, false).forbidden;
            }
            terms
        });
        let cwd = check.cwd.as_deref();
        let asked = Asked { text: &text, cwd, by_runner, script, service: terms.as_ref() };
        let judged = policy::judge(&self.config.policy, seen.taint, &found, asked);
        let questioned = judged.decision > Decision::Allow;
        let ends = self.readable(&workspace, &judged, &found, asked, &check);
        let way = self.way_of(&found, &check);
        let now = clock::now();
        let pass = if questioned { self.book.take_pass(&key, now) } else { None };
        let pass = pass.map(|(by, id)| (case::Pass::Request(by), id));
        let pass =
            pass.or_else(|| if questioned { self.granted(&workspace, seen.epoch, &found, &check, now) } else { None });
        let held_before = self.restored.get(&key).filter(|card| card.expires_boot_ms > now.boot_ms);
        let held_before = held_before.map(|card| card.id.clone());
        let (pass, passed) = pass.unzip();
        let open = Open {
            workspace,
            request_id,
            digest,
            read_alone,
            case: Case::new(found, text, instead)
                .with_egress(ends)
                .with_way(way)
                .in_folder(check.cwd.clone())
                .by_runner(by_runner)
                .of_script(script)
                .of_service(terms),
            check,
            key,
            approval: None,
            passed,
            card_over: false,
            became: None,
            asks: 0,
            asking: None,
            weight,
            joined: false,
            announced: false,
            finding: None,
            taint_before: seen.taint,
            epoch: None,
            since,
        };
        let id = self.cases.add(open);
        fault::here("case.opened");
        self.step(id, case::Event::Opened { pass, held_before });
    }

    /// The hosts that a command goes to, where it can run with a way out to just these once it is allowed.
    fn way_of(&self, found: &Classification, check: &BashCheck) -> BTreeSet<End> {
        let (Some(told), Some(reaches)) = (&check.egress, &found.reaches) else { return BTreeSet::new() };
        if self.config.egress.is_none() || !keeps_to_hosts(check) {
            return BTreeSet::new();
        }
        egress::ends(reaches, &egress::remotes(&told.remotes)).unwrap_or_default()
    }

    /// The hosts that a command goes to which needs nobody's word for that: it only reads, its asker can run it so, and what such commands may
    /// send in an hour is not used up.
    fn readable(
        &mut self,
        workspace: &WorkspaceName,
        judged: &Judged,
        found: &Classification,
        asked: Asked<'_>,
        check: &BashCheck,
    ) -> BTreeSet<End> {
        let (Some(reads), Some(said)) = (&self.config.reads, &check.egress) else { return BTreeSet::new() };
        let is_question = matches!(judged.decision, Decision::Inspect | Decision::AskHuman);
        let has_doubts = !(check.unproven.is_empty() && check.secrets.is_empty() && check.brings.is_empty());
        // What it is asked with nobody would have seen.
        let has_doubts = has_doubts || !check.asked_with.is_empty();
        if !is_question || has_doubts || !keeps_to_hosts(check) {
            return BTreeSet::new();
        }
        let from = (&reads.hosts, &egress::remotes(&said.remotes));
        let ends = egress::hosts(&self.config.policy, judged, found, asked, from).unwrap_or_default();
        let bytes = found.reaches.as_ref().map_or(0, |reaches| usize::try_from(reaches.up_bytes).unwrap_or(usize::MAX));
        let has_room = |known: &mut Workspace| known.reads.take(bytes);
        if ends.is_empty() || !self.workspaces.get_mut(workspace).is_some_and(has_room) {
            return BTreeSet::new();
        }
        ends
    }

    /// What a person has let through ahead, where it covers this command.
    fn granted(
        &mut self,
        workspace: &WorkspaceName,
        epoch: u64,
        found: &Classification,
        check: &BashCheck,
        now: clock::Now,
    ) -> Option<(case::Pass, ApprovalId)> {
        if !self.book.has_grants(workspace) {
            return None;
        }
        let reach = cards::reach(found, check, &Forecast::new(found, &found.effects, check));
        let (by, id, is_everything) = self.book.granted(workspace, epoch, reach.as_ref(), now)?;
        let pass = if is_everything { case::Pass::Everything } else { case::Pass::Kind };
        Some((pass(by, id.clone()), id))
    }

    /// The Bash tool refuses a command by its own rules: the attempt goes on record, and the answer is no.
    fn refused_by_runner(
        &mut self,
        (workspace, request_id, request): (WorkspaceName, RequestId, Digest),
        check: &BashCheck,
        since: Instant,
    ) {
        let Some(known) = self.workspaces.get(&workspace) else { return };
        let (taint, taint_epoch) = (known.seen.taint, known.seen.epoch);
        let reason = check.refused().unwrap_or_default().to_owned();
        let seen = (taint, taint_epoch);
        let record = verdicts::of_check(check, request, Answer::Deny, By::Runner, &reason, seen);
        let detail = json!(audit::DecisionRecord { cwd: check.cwd.clone(), ..record });
        let entry = Entry {
            at_ms: clock::now().unix_ms,
            kind: RecordKind::Decision,
            workspace: Some(workspace.clone()),
            request_id: Some(request_id.clone()),
            detail,
        };
        let unsigned = Unsigned {
            decision: Answer::Deny,
            reason,
            request_id,
            workspace,
            request: Some(request),
            decided_by: By::Runner.to_string(),
            taint_epoch,
            valid_for_ms: 300_000,
            cage: false,
            egress: Vec::new(),
            asked_key: check.key_id.clone(),
        };
        let what = check.command.text().chars().take(200).collect();
        let plain = Plain { unsigned, by: By::Runner, what, taint, since };
        self.records.submit(vec![Write::Audit(entry)], false, After::Respond(Box::new(plain)));
    }

    /// Something has run, says the agent, or the Bash tool. Where it was to run in the cage and another text ran, the agent's
    /// rewriting cannot be relied on: the workspace counts as having seen everything. What it planted or shows taints.
    fn bash_ran(
        &mut self,
        workspace: WorkspaceName,
        request_id: RequestId,
        digest: Digest,
        ran: &BashRan,
        since: Instant,
    ) {
        let now = clock::now();
        let mut planted = ran.planted.clone();
        if let Some(report) = &ran.acting {
            planted.extend(self.compare_acting(&workspace, report, true));
        }
        let Some(known) = self.workspaces.get_mut(&workspace) else { return };
        let escaped = known.caged.has_escaped(&ran.tool_use_id, &ran.ran_sha256);
        let before = known.seen.taint;
        let mut causes: Vec<(Label, String, &str)> = Vec::new();
        if escaped {
            let source = "a command that was to be caged ran as it was";
            causes.extend([Label::Corruption, Label::Secret].map(|label| (label, source.to_owned(), "cage")));
        }
        causes.extend(ran.shown.iter().map(|form| (Label::Secret, format!("a result that shows a {form}"), "result")));
        causes.extend(acting::said(&planted).map(|source| (Label::Corruption, source, "what a command left")));
        let mut rose = false;
        for (label, source, by) in causes {
            rose |= known.seen.raise(Cause { label, source, by: by.to_owned(), at_ms: now.unix_ms, heard: false });
        }
        let seen = known.seen.clone();
        let mut words = Vec::new();
        if !ran.shown.is_empty() {
            words.push(format!("its result shows {}", ran.shown.join(", ")));
        }
        if !planted.is_empty() {
            let more = planted.len().saturating_sub(acting::MOST_NAMED);
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            let named = planted.get(..planted.len() - more).unwrap_or_default().join(", ");
            words.push(format!("it left what acts later: {named}{others}"));
        }
        if ran.wanted_network {
            words.push("it failed in the cage, as it says for want of network".to_owned());
            self.metrics.wanted_network();
        }
        let (decision, reason) = if escaped {
            (
                Answer::Deny,
                "it was to run in the cage but ran without; the workspace is now treated as having seen everything; for the operator: another hook rewrites commands, or this version of the agent ignores rewriting: turn the cage off".to_owned(),
            )
        } else if words.is_empty() {
            (Answer::Allow, "noted".to_owned())
        } else {
            (Answer::Allow, words.join("; "))
        };
        let unsigned = Unsigned {
            decision,
            reason: reason.clone(),
            request_id: request_id.clone(),
            workspace: workspace.clone(),
            request: Some(digest),
            decided_by: By::Policy.to_string(),
            taint_epoch: seen.epoch,
            valid_for_ms: ran.timeout_ms.unwrap_or(300_000),
            cage: false,
            egress: Vec::new(),
            asked_key: ran.key_id.clone(),
        };
        let plain =
            Plain { unsigned, by: By::Policy, what: ran.command.chars().take(200).collect(), taint: seen.taint, since };
        if !escaped && words.is_empty() {
            // Nothing that is worth a record: the decision on it is there.
            return self.release(&plain.unsigned);
        }
        if escaped {
            tracing::error!(%workspace, "a command that was to be caged ran as it was");
        }
        let detail = json!(audit::DecisionRecord {
            command: Some(ran.command.clone()),
            agent: ran.agent.clone(),
            session: ran.session.clone(),
            tool_use_id: Some(ran.tool_use_id.clone()),
            taint_before: Some(before),
            request_sha256: Some(digest.hex()),
            wanted_network: ran.wanted_network,
            ..audit::DecisionRecord::new(BASH_RAN, decision, By::Policy, reason, seen.taint, seen.epoch)
        });
        let entry = Entry {
            at_ms: now.unix_ms,
            kind: RecordKind::Decision,
            workspace: Some(workspace.clone()),
            request_id: Some(request_id),
            detail,
        };
        let writes = vec![Write::Audit(entry), Write::Taint(workspace, seen)];
        self.records.submit(writes, rose, After::Respond(Box::new(plain)));
    }
}

/// What the container reports can only make the answer stricter. What was read without its word is given back where that joins it.
fn weigh_evidence(found: &mut Classification, check: &BashCheck) -> Option<Box<ReadAlone>> {
    let says = check.says().iter().any(|list| !list.is_empty());
    let read = || Box::new(ReadAlone { reason: found.reason.clone(), effects: found.effects.clone() });
    let read_alone = says.then(read);
    found.effects.secrets.extend(check.secrets.iter().cloned());
    if let Some(why) = check.unproven.first()
        && found.class == CommandClass::Safe
    {
        found.class = CommandClass::Unknown;
        found.reason = format!("not proven to be local: {why}");
    }
    found.effects.unlooked.extend(check.unlooked.iter().cloned());
    for path in &check.leads_to {
        let cwd = check.cwd.as_deref();
        let gate = protected::gate_part(path, &check.protected, cwd);
        let tier = later::of(path, cwd).map(|later| later.tier);
        let runs_later = matches!(tier, Some(Tier::Gate | Tier::ByItself));
        if (gate.is_some() || runs_later) && found.class == CommandClass::Safe {
            found.class = CommandClass::Unknown;
            found.reason = format!("it writes to {path}, through a link or with a folder");
        }
        found.effects.tampering.extend(gate);
        match tier {
            Some(Tier::Steers) => found.effects.steering.push(path.clone()),
            Some(Tier::ByItself) => found.effects.persistence.push(path.clone()),
            // Told above.
            Some(Tier::Gate) | None => {}
        }
    }
    found.effects.persistence.extend(check.brings.iter().cloned());
    found.effects.brought.extend(check.brings.iter().cloned());
    // The hook decides such a command itself unless it met a secret or could not look everywhere.
    let nothing_said = check.unproven.is_empty() && check.unlooked.is_empty();
    if found.decided == Decided::LocalIf && found.effects.secrets.is_empty() && nothing_said {
        found.effects.secrets.push("files that were not looked through".to_owned());
    }
    if found.decided != Decided::Host {
        found.decided = Decided::Host;
    }
    read_alone
}

/// True for a command that its asker can run with a way out to just its hosts: in the cage, or in the sandbox of the Bash tool.
fn keeps_to_hosts(check: &BashCheck) -> bool {
    let is_command = check.tool.is_none() && check.script.is_none();
    let can_run = check.caged_form.is_some() || check.runner.is_some();
    can_run && is_command && check.command.text().len() <= MAX_CAGED_BYTES
}
