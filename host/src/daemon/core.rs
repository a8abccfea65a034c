//! The state of the host and what each event does to it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashgate_shared::classify::{Classification, CommandClass, Decided, Surroundings, classify};
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{
    Answer, BashCheck, Request, RequestError, RequestId, ToolEvent, WorkspaceName, parse_request,
};
use bashgate_shared::seal::{HostKey, Unsigned};
use bashgate_shared::shell::Shell;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use super::open::{Open, Plain};
use super::{After, CaseId, Event, ServeError};
use crate::approval::{ApprovalId, Book, Card, RequestKey};
use crate::audit::{Entry, Kind};
use crate::case::{self, Case, Step, Verdict, View};
use crate::chat::notice::Decided as DecidedNotice;
use crate::chat::{Chat, Desk, Notice};
use crate::clock::{self, Now};
use crate::config::{self, Config};
use crate::inspector::{Brief, Panel};
use crate::intake::Arrival;
use crate::intake::folder::{self, Taken};
use crate::policy::{self, Decision, Judged, trust};
use crate::respond::Responder;
use crate::state::Folder;
use crate::store::{Job, Reader, Store, Write};
use crate::taint::{Cause, Label, Seen};

/// How long an answer lies in the mailbox before it is taken away.
const RESPONSE_LIFE: Duration = Duration::from_mins(1);
/// How long after the start requests are checked for having been left behind by an asker that is gone.
const STARTING: Duration = Duration::from_secs(3);

pub(super) struct Workspace {
    pub(super) seen: Seen,
    pub(super) settings: config::Workspace,
    turn: Arc<Semaphore>,
    tokens: f64,
    filled: Instant,
}

/// The host's state. One event at a time changes it.
pub struct Core {
    pub(super) config: Config,
    key: HostKey,
    pub(super) store: Store,
    reader: Reader,
    pub(super) book: Book,
    pub(super) workspaces: BTreeMap<WorkspaceName, Workspace>,
    cases: HashMap<CaseId, Open>,
    next_case: CaseId,
    pub(super) desk: Desk,
    panel: Arc<Panel>,
    events: mpsc::UnboundedSender<Event>,
    responder: Responder,
    boot: String,
    restored: HashMap<(WorkspaceName, RequestId), Card>,
    started: Instant,
    settled: bool,
    last_beat: Option<Instant>,
    last_look: Option<Instant>,
    released: VecDeque<(Instant, WorkspaceName, RequestId)>,
    new_workspace: bool,
}

impl Core {
    /// Opens the store and restores what it holds.
    pub fn open(
        config: Config,
        folder: &Folder,
        panel: Panel,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<Self, ServeError> {
        let key = folder.key()?;
        let store = Store::open(&folder.store())?;
        let reader = Reader::open(&folder.store())?;
        let boot = clock::boot_id();
        let restored = reader
            .held(&boot)?
            .into_iter()
            .map(|card| ((card.workspace.clone(), card.request_id.clone()), card))
            .collect();
        let taints: HashMap<_, _> = reader.taints()?.into_iter().collect();
        let names = reader.workspaces()?;
        let responder = Responder::new(&config.mailboxes);
        let mut core = Self {
            key,
            store,
            reader,
            book: Book::default(),
            workspaces: BTreeMap::new(),
            cases: HashMap::new(),
            next_case: 1,
            desk: Desk::default(),
            panel: Arc::new(panel),
            events,
            responder,
            boot,
            restored,
            started: Instant::now(),
            settled: false,
            last_beat: None,
            last_look: None,
            released: VecDeque::new(),
            new_workspace: false,
            config,
        };
        let configured: Vec<_> = core.config.workspaces.keys().cloned().collect();
        for name in names.into_iter().chain(configured) {
            core.register(&name, taints.get(&name).cloned().unwrap_or_default());
        }
        Ok(core)
    }

    /// Takes a workspace in, with the taint it has.
    pub(super) fn register(&mut self, name: &WorkspaceName, seen: Seen) {
        if self.workspaces.contains_key(name) {
            return;
        }
        let settings = self.config.workspaces.get(name).cloned().unwrap_or_default();
        let mut seen = seen;
        if settings.contains_secrets {
            self.taint_by_settings(name, &mut seen);
        }
        let turn = Arc::new(Semaphore::new(self.config.parallel));
        let tokens = f64::from(self.config.requests_per_second);
        self.workspaces.insert(name.clone(), Workspace { seen, settings, turn, tokens, filled: Instant::now() });
    }

    /// A workspace that holds secrets counts as having seen them.
    pub(super) fn taint_by_settings(&mut self, name: &WorkspaceName, seen: &mut Seen) {
        let cause = Cause {
            label: Label::Secret,
            source: "contains_secrets = true".to_owned(),
            by: "the configuration".to_owned(),
            at_ms: clock::now().unix_ms,
        };
        if seen.raise(cause) {
            self.submit(vec![Write::Taint(name.clone(), seen.clone())], true, After::Nothing);
        }
    }

    /// Adds channels to people.
    pub fn watch_by(&mut self, channels: Vec<Box<dyn Chat>>) {
        for channel in channels {
            self.desk.add(channel);
        }
    }

    /// Puts the start on record.
    pub fn starts(&mut self) {
        let detail = json!({"event": "start", "version": env!("CARGO_PKG_VERSION"), "key": self.key.public().id(), "boot": self.boot});
        self.record(Kind::Host, None, detail);
    }

    /// Puts the end on record and waits until everything is written.
    pub fn stops(self) {
        let detail = json!({"event": "stop", "open": self.cases.len()});
        let entry = Entry { at_ms: clock::now().unix_ms, kind: Kind::Host, workspace: None, request_id: None, detail };
        if let Err(error) = self.store.write_now(vec![Write::Audit(entry)]) {
            tracing::error!(error, "the end could not be recorded");
        }
    }

    /// The host's public key.
    pub fn public_key(&self) -> String {
        self.key.public().to_string()
    }

    /// True once after a workspace was added.
    pub fn take_new_workspace(&mut self) -> bool {
        std::mem::take(&mut self.new_workspace)
    }

    pub(super) fn has_new_workspace(&mut self) {
        self.new_workspace = true;
    }

    fn submit(&self, writes: Vec<Write>, durable: bool, after: After) {
        let events = self.events.clone();
        let done = Box::new(move |result| {
            // Once the loop is gone nothing is released any more.
            let _ = events.send(Event::Stored(after, result));
        });
        self.store.submit(Job { writes, durable, done });
    }

    pub(super) fn record(&self, kind: Kind, workspace: Option<&WorkspaceName>, detail: Value) {
        let entry =
            Entry { at_ms: clock::now().unix_ms, kind, workspace: workspace.cloned(), request_id: None, detail };
        self.submit(vec![Write::Audit(entry)], false, After::Nothing);
    }

    /// Takes one event.
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Arrived(arrival) => self.arrived(arrival),
            Event::Found(id, finding) => {
                if let Some(open) = self.cases.get_mut(&id) {
                    open.finding = Some(case::advice(&finding));
                }
                self.step(id, case::Event::Found(finding));
            }
            Event::Stored(After::Recorded(id), result) => {
                let event = result.map_or_else(case::Event::NotRecorded, |()| case::Event::Recorded);
                self.step(id, event);
            }
            Event::Stored(After::Held(id, approval), result) => match result {
                Ok(()) => self.step(id, case::Event::Held),
                Err(error) => {
                    self.book.strike(&approval);
                    self.step(id, case::Event::NotRecorded(error));
                }
            },
            Event::Stored(After::Respond(plain), result) => {
                let plain = match result {
                    Ok(()) => *plain,
                    Err(error) => plain.denied(format!("the decision could not be recorded ({error}); for the operator: look at the state folder's disk")),
                };
                self.respond(plain);
            }
            Event::Stored(After::Nothing, result) => {
                if let Err(error) = result {
                    tracing::error!(error, "the store does not take a record");
                }
            }
            Event::Said(line) => {
                let by = format!("terminal:{}", crate::control::user_name(rustix::process::getuid().as_raw()));
                if let Some(reply) = self.say(&line, &by) {
                    self.desk.tell(&Notice::Reply(reply.text));
                }
            }
            Event::Control(command, by, reply) => {
                let _ = reply.send(self.control(command, &by));
            }
        }
    }

    // Requests.

    fn arrived(&mut self, arrival: Arrival) {
        let Arrival { workspace, id, taken, at } = arrival;
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
        if !self.workspaces.contains_key(&workspace) {
            let why = format!(
                "the host does not know the workspace `{workspace}`; for the operator: bashgate workspace add {workspace}"
            );
            return self.reject(&workspace, id, Some(digest), &why, at);
        }
        if !self.take_token(&workspace) {
            return self.reject(
                &workspace,
                id,
                Some(digest),
                "too many requests in a second; run it again a little later",
                at,
            );
        }
        match self.reader.is_decided(&workspace, &id) {
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
        if self.started.elapsed() < STARTING && self.is_left_behind(&workspace, &id, &request) {
            tracing::info!(%workspace, %id, "dropped a request whose asker is gone");
            folder::remove(&self.config.mailboxes, &workspace, &id);
            return;
        }
        match request {
            Request::BashCheck(check) => self.check(workspace, id, digest, check, at),
            Request::ToolEvent(event) => self.tool_event(workspace, id, digest, &event, at),
        }
    }

    fn is_left_behind(&self, workspace: &WorkspaceName, id: &RequestId, request: &Request) -> bool {
        if request.is_locked_while_waiting() && folder::asker_is_gone(&self.config.mailboxes, workspace, id) {
            return true;
        }
        let timeout = request.timeout_ms().unwrap_or(300_000);
        let written = folder::written_ms(&self.config.mailboxes, workspace, id);
        written.is_some_and(|written| clock::now().unix_ms.saturating_sub(written) > timeout)
    }

    fn take_token(&mut self, name: &WorkspaceName) -> bool {
        let most = f64::from(self.config.requests_per_second);
        let Some(workspace) = self.workspaces.get_mut(name) else { return false };
        workspace.tokens = (workspace.tokens + workspace.filled.elapsed().as_secs_f64() * most).min(most);
        workspace.filled = Instant::now();
        let enough = workspace.tokens >= 1.0;
        if enough {
            workspace.tokens -= 1.0;
        }
        enough
    }

    /// Denies a request that cannot be taken. The denial goes out even where it cannot be recorded.
    fn reject(&mut self, workspace: &WorkspaceName, id: RequestId, digest: Option<Digest>, why: &str, since: Instant) {
        tracing::info!(%workspace, %id, why, "rejected");
        self.record(Kind::Reject, Some(workspace), json!({"request": id, "why": why}));
        let taint = self.workspaces.get(workspace).map_or_else(Default::default, |known| known.seen.taint);
        let unsigned = Unsigned {
            decision: Answer::Deny,
            reason: why.to_owned(),
            request_id: id,
            workspace: workspace.clone(),
            request: digest,
            decided_by: "host".to_owned(),
            taint_epoch: self.workspaces.get(workspace).map_or(0, |known| known.seen.epoch),
            valid_for_ms: 3_600_000,
        };
        self.respond(Plain { unsigned, what: "a request that cannot be taken".to_owned(), taint, since });
    }

    fn respond(&mut self, plain: Plain) {
        let Plain { unsigned, what, taint, since } = plain;
        self.release(&unsigned);
        self.desk.tell(&Notice::Decided(Box::new(DecidedNotice {
            workspace: unsigned.workspace.to_string(),
            what,
            class: None,
            answer: unsigned.decision,
            by: unsigned.decided_by,
            reason: unsigned.reason,
            taint,
            took_us: since.elapsed().as_micros(),
        })));
    }

    fn release(&mut self, unsigned: &Unsigned) {
        let (workspace, id) = (&unsigned.workspace, &unsigned.request_id);
        match self.responder.release(workspace, id, &self.key.respond(unsigned)) {
            Ok(()) => {
                self.released.push_back((Instant::now(), workspace.clone(), id.clone()));
                folder::remove(&self.config.mailboxes, workspace, id);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                tracing::warn!(%workspace, %id, "a response of this name is there already; nothing was written over it");
            }
            // The hook hears nothing and denies.
            Err(error) => tracing::error!(%workspace, %id, %error, "cannot write the response"),
        }
    }

    fn check(
        &mut self,
        workspace: WorkspaceName,
        request_id: RequestId,
        digest: Digest,
        check: BashCheck,
        since: Instant,
    ) {
        let Some(known) = self.workspaces.get(&workspace) else { return };
        let seen = known.seen.clone();
        let shell = if check.other_shell { Shell::Other } else { known.settings.shell() };
        let around = Surroundings { shell, cwd: check.cwd.clone(), protected: check.protected.clone() };
        let mut found = classify(&check.command, &around);
        weigh_evidence(&mut found, &check);
        let cwd = check.cwd.clone().unwrap_or_default();
        let evidence = serde_json::to_string(&check.evidence).unwrap_or_default();
        let key = RequestKey::of(&workspace, &[check.command.text(), &cwd, &evidence], seen.epoch);
        let text = check.command.text().to_owned();
        let questioned = policy::judge(&self.config.policy, seen.taint, &found, &text).decision > Decision::Allow;
        let pass = if questioned { self.book.take_pass(&key, clock::now()) } else { None };
        let id = self.next_case;
        self.next_case += 1;
        let restored = self.restored.get(&(workspace.clone(), request_id.clone()));
        let held_before = restored.filter(|card| card.request_sha256 == digest.hex()).map(|card| card.id.clone());
        let open = Open {
            workspace,
            request_id,
            digest,
            check,
            case: Case::new(found, text),
            key,
            approval: None,
            announced: false,
            finding: None,
            taint_before: seen.taint,
            since,
        };
        self.cases.insert(id, open);
        self.step(id, case::Event::Opened { pass, held_before });
    }

    fn tool_event(
        &mut self,
        workspace: WorkspaceName,
        request_id: RequestId,
        digest: Digest,
        event: &ToolEvent,
        since: Instant,
    ) {
        let now = clock::now();
        let service_name = trust::service_of(&event.tool).to_owned();
        let service = self.config.service(&service_name);
        let Some(known) = self.workspaces.get_mut(&workspace) else { return };
        let labels = service.labels();
        let in_clean_room = known.settings.clean_room && labels.contains(&Label::Corruption);
        let target = event.target.clone().unwrap_or_default();
        let (decision, reason) = if service.is_forbidden() {
            (Answer::Deny, format!("the operator forbids the service `{service_name}`"))
        } else if in_clean_room {
            (
                Answer::Deny,
                format!("this workspace is a clean room, and anybody can write what `{service_name}` delivers"),
            )
        } else {
            (Answer::Allow, format!("`{service_name}` may be used; what it brings is remembered"))
        };
        let mut rose = false;
        let before = known.seen.taint;
        if decision == Answer::Allow {
            for label in labels {
                let source = if target.is_empty() { service_name.clone() } else { target.clone() };
                rose |= known.seen.raise(Cause { label, source, by: event.tool.clone(), at_ms: now.unix_ms });
            }
        }
        let seen = known.seen.clone();
        let detail = json!({
            "type": bashgate_shared::protocol::TOOL_EVENT, "tool": event.tool, "target": event.target, "agent": event.agent, "session": event.session,
            "service": service_name, "answer": decision, "reason": reason, "by": "policy", "taint_before": before, "taint": seen.taint, "epoch": seen.epoch,
            "request_sha256": digest.hex(),
        });
        let entry = Entry {
            at_ms: now.unix_ms,
            kind: Kind::Decision,
            workspace: Some(workspace.clone()),
            request_id: Some(request_id.clone()),
            detail,
        };
        let mut writes = vec![Write::Audit(entry)];
        if decision == Answer::Allow {
            writes.push(Write::Taint(workspace.clone(), seen.clone()));
        }
        let unsigned = Unsigned {
            decision,
            reason,
            request_id,
            workspace,
            request: Some(digest),
            decided_by: "policy".to_owned(),
            taint_epoch: seen.epoch,
            valid_for_ms: event.timeout_ms.unwrap_or(300_000),
        };
        let what = if target.is_empty() { event.tool.clone() } else { format!("{} {target}", event.tool) };
        let plain = Plain { unsigned, what, taint: seen.taint, since };
        self.submit(writes, rose, After::Respond(Box::new(plain)));
    }

    // Cases.

    /// Gives a case an event and does what it says, until it says nothing more.
    pub(super) fn step(&mut self, id: CaseId, event: case::Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let Some(open) = self.cases.get_mut(&id) else { return };
            let Some(known) = self.workspaces.get(&open.workspace) else { return };
            let view = View { taint: known.seen.taint, epoch: known.seen.epoch };
            for step in open.case.on(event, view, &self.config.policy) {
                events.extend(self.perform(id, step));
            }
        }
    }

    fn perform(&mut self, id: CaseId, step: Step) -> Option<case::Event> {
        match step {
            Step::Inspect => self.inspect(id),
            Step::Hold { judged, id: again, advice } => self.hold(id, &judged, again, advice),
            Step::Announce => {
                let open = self.cases.get_mut(&id)?;
                open.announced = true;
                let approval = open.approval.clone()?;
                let card = self.book.card(&approval)?.clone();
                self.desk.tell(&Notice::Held(Box::new(card)));
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
            Step::Release(verdict) => {
                self.release_verdict(id, verdict);
                None
            }
            Step::Close => {
                if let Some(open) = self.cases.remove(&id)
                    && let Some(approval) = open.approval
                    && self.book.strike(&approval).is_some()
                {
                    self.desk.tell(&Notice::Over(approval, "No longer held".to_owned()));
                }
                None
            }
        }
    }

    fn brief(&self, open: &Open) -> Brief {
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

    fn inspect(&mut self, id: CaseId) -> Option<case::Event> {
        let open = self.cases.get(&id)?;
        let brief = self.brief(open);
        if let Some(finding) = self.panel.at_once(&brief) {
            let open = self.cases.get_mut(&id)?;
            open.finding = Some(case::advice(&finding));
            return Some(case::Event::Found(finding));
        }
        let turn = self.workspaces.get(&open.workspace)?.turn.clone();
        let (panel, events) = (self.panel.clone(), self.events.clone());
        tokio::spawn(async move {
            let finding = panel.ask(&brief, &turn).await;
            let _ = events.send(Event::Found(id, finding));
        });
        None
    }

    fn hold(
        &mut self,
        id: CaseId,
        judged: &Judged,
        again: Option<ApprovalId>,
        advice: Option<String>,
    ) -> Option<case::Event> {
        let now = clock::now();
        let open = self.cases.get(&id)?;
        if again.is_none() && self.book.held_by(&open.workspace) >= self.config.max_held {
            let why =
                "too many commands of this workspace wait for a person; run it again when they are answered".to_owned();
            return Some(case::Event::Refused(why));
        }
        let restored = self
            .restored
            .remove(&(open.workspace.clone(), open.request_id.clone()))
            .filter(|card| Some(&card.id) == again.as_ref());
        let Some(approval) = again.or_else(|| self.new_approval_id()) else {
            return Some(case::Event::Refused("the host cannot make an approval id".to_owned()));
        };
        let open = self.cases.get(&id)?;
        let known = self.workspaces.get(&open.workspace)?;
        // The asker must hear the end before it stops listening.
        let asked_for = Duration::from_millis(open.valid_for_ms()).saturating_sub(Duration::from_secs(5));
        let wait = self.config.expires.min(asked_for.max(Duration::from_secs(1)));
        let card = Card {
            id: approval.clone(),
            workspace: open.workspace.clone(),
            request_id: open.request_id.clone(),
            request_sha256: open.digest.hex(),
            command: open.check.command.text().to_owned(),
            cwd: open.check.cwd.clone(),
            agent: open.check.agent.clone(),
            class: open.case.classification().class,
            rule: judged.rule.to_owned(),
            reason: judged.reason.clone(),
            taint: known.seen.taint,
            causes: known.seen.causes.clone(),
            epoch: known.seen.epoch,
            advice,
            expires_boot_ms: restored
                .map_or(now.boot_ms + u64::try_from(wait.as_millis()).unwrap_or(290_000), |card| card.expires_boot_ms),
            offers_session: !open.case.is_open_ended(),
        };
        let detail = json!({"event": "held", "approval": approval, "request": card.request_id, "command": card.command, "rule": card.rule, "reason": card.reason});
        let entry = Entry {
            at_ms: now.unix_ms,
            kind: Kind::Approval,
            workspace: Some(card.workspace.clone()),
            request_id: Some(card.request_id.clone()),
            detail,
        };
        let writes = vec![Write::Hold(Box::new(card.clone()), self.boot.clone()), Write::Audit(entry)];
        let key = open.key;
        self.book.hold(id, card, key);
        if let Some(open) = self.cases.get_mut(&id) {
            open.approval = Some(approval.clone());
        }
        self.submit(writes, true, After::Held(id, approval));
        None
    }

    fn new_approval_id(&self) -> Option<ApprovalId> {
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

    fn record_verdict(&mut self, id: CaseId, verdict: &Verdict, raises: Vec<(Label, String)>) {
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
            "answer": verdict.answer, "reason": verdict.reason, "by": verdict.by, "rule": verdict.rule, "finding": open.finding, "approval": open.approval,
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
        if let Some(approval) = &open.approval {
            writes.push(Write::Drop(approval.to_string()));
        }
        let durable = rose || open.approval.is_some() || verdict.by.starts_with("human:");
        self.submit(writes, durable, After::Recorded(id));
    }

    fn release_verdict(&mut self, id: CaseId, verdict: Verdict) {
        let Some(open) = self.cases.get(&id) else { return };
        let (epoch, taint) = self
            .workspaces
            .get(&open.workspace)
            .map_or((0, open.taint_before), |known| (known.seen.epoch, known.seen.taint));
        let unsigned = Unsigned {
            decision: verdict.answer,
            reason: verdict.reason.clone(),
            request_id: open.request_id.clone(),
            workspace: open.workspace.clone(),
            request: Some(open.digest),
            decided_by: verdict.by.clone(),
            taint_epoch: epoch,
            valid_for_ms: open.valid_for_ms(),
        };
        let notice = DecidedNotice {
            workspace: open.workspace.to_string(),
            what: open.check.command.text().to_owned(),
            class: Some(open.case.classification().class),
            answer: verdict.answer,
            by: verdict.by,
            reason: verdict.reason,
            taint,
            took_us: open.since.elapsed().as_micros(),
        };
        if verdict.overrulable {
            self.keep_denied(id, &verdict.rule, &notice.reason);
        }
        self.release(&unsigned);
        self.desk.tell(&Notice::Decided(Box::new(notice)));
    }

    fn keep_denied(&mut self, id: CaseId, rule: &str, reason: &str) {
        let Some(approval) = self.new_approval_id() else { return };
        let Some(open) = self.cases.get(&id) else { return };
        let Some(known) = self.workspaces.get(&open.workspace) else { return };
        let now = clock::now();
        let card = Card {
            id: approval,
            workspace: open.workspace.clone(),
            request_id: open.request_id.clone(),
            request_sha256: open.digest.hex(),
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
            expires_boot_ms: now.boot_ms + 600_000,
            offers_session: false,
        };
        self.book.keep_denied(card, open.key, now);
    }

    // Time.

    /// What has to be done now and then.
    pub fn tick(&mut self) {
        let now = clock::now();
        for (_, case) in self.book.lapsed(now) {
            self.step(case, case::Event::Lapsed);
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
        }
        while self.released.front().is_some_and(|(when, ..)| when.elapsed() > RESPONSE_LIFE) {
            if let Some((_, workspace, id)) = self.released.pop_front() {
                self.responder.remove(&workspace, &id);
            }
        }
        if !self.settled && self.started.elapsed() > STARTING {
            self.settled = true;
            // What was held and whose request is gone is over.
            let gone: Vec<Write> = self.restored.drain().map(|(_, card)| Write::Drop(card.id.to_string())).collect();
            if !gone.is_empty() {
                self.submit(gone, false, After::Nothing);
            }
        }
    }

    /// Gives a sign of life where somebody waits for one.
    fn beat(&mut self, now: Now) {
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

    fn look_for_askers(&mut self) {
        let held: Vec<(CaseId, WorkspaceName, RequestId)> = self
            .cases
            .iter()
            .filter(|(_, open)| open.case.is_held() && open.check.locked)
            .map(|(id, open)| (*id, open.workspace.clone(), open.request_id.clone()))
            .collect();
        for (id, workspace, request) in held {
            if folder::asker_is_gone(&self.config.mailboxes, &workspace, &request) {
                self.step(id, case::Event::Withdrawn);
            }
        }
    }
}

/// What the container reports can only make the answer stricter.
fn weigh_evidence(found: &mut Classification, check: &BashCheck) {
    found.effects.secrets.extend(check.secrets.iter().cloned());
    if let Some(why) = check.unproven.first()
        && found.class == CommandClass::Safe
    {
        found.class = CommandClass::Unknown;
        found.reason = format!("not proven to be local: {why}");
    }
    // The hook decides such a command itself unless it met a secret or could not look everywhere.
    if found.decided == Decided::LocalIf && found.effects.secrets.is_empty() && check.unproven.is_empty() {
        found.effects.secrets.push("files that were not looked through".to_owned());
    }
    if found.decided != Decided::Host {
        found.decided = Decided::Host;
    }
}
