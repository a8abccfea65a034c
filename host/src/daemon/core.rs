//! The state of the host and what each event does to it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashgate_shared::programs::handed_out::{self, Signed};
use bashgate_shared::protocol::WorkspaceName;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::acting::Acting;
use super::caged::Caged;
use super::cases::Cases;
use super::drafts::Drafts;
use super::heard::Lines;
use super::inspect::Inspectors;
use super::outbox::Outbox;
use super::people::Told;
use super::reading::Readers;
use super::records::Records;
use super::rejects::Rejects;
use super::{After, CaseId, Event, ServeError};
use crate::allowance::Allowance;
use crate::approval::codes::Codes;
use crate::approval::{Book, Card, RequestKey};
use crate::audit::RecordKind;
use crate::case::{self};
use crate::chat::notice::Decided;
use crate::chat::{Desk, Notice, Watcher};
use crate::clock::{self};
use crate::config::{self, Config};
use crate::control::Reply;
use crate::egress::answers::Answers;
use crate::fault;
use crate::fleet::tells;
use crate::inspector::Panel;
use crate::metrics::{Metrics, Stand};
use crate::state::{Folder, Keys};
use crate::store::{ApprovedScript, Write};
use crate::taint::{Cause, Label, Seen, Taint};

/// How long after the start requests are checked for having been left behind by an asker that is gone.
pub(super) const STARTING: Duration = Duration::from_secs(3);

/// From this age on an answer that an earlier host has left is nobody's: longer than any hook waits.
const LEFT_BEHIND: Duration = Duration::from_secs(3700);

/// So many cards of one workspace are told one by one in a minute.
const TOLD_A_MINUTE: u64 = 10;

pub(super) struct Workspace {
    pub(super) seen: Seen,
    /// Which other host of the fleet cannot be asked what it has seen of it, and as what it counts as long as that is so.
    pub(super) beside: Option<(String, Taint)>,
    pub(super) settings: config::WorkspaceSettings,
    pub(super) caged: Caged,
    /// What acts later in its projects.
    pub(super) acting: Acting,
    /// Scripts that people approved, by their digest.
    pub(super) scripts: BTreeMap<String, ApprovedScript>,
    pub(super) turn: Arc<Semaphore>,
    /// Requests.
    pub(super) requests: Allowance,
    /// Bytes on record.
    pub(super) recorded: Allowance,
    /// Questions to the inspector's model.
    pub(super) model_calls: Allowance,
    /// Bytes that commands which only read may send without anybody being asked.
    pub(super) reads: Allowance,
    /// Cards.
    pub(super) cards: Allowance,
    /// Cards that are told one by one.
    pub(super) told: Allowance,
    /// When people last heard that there are more.
    pub(super) flood_told: Option<Instant>,
    /// Its cards are not told one by one.
    pub(super) muted: bool,
    /// It asks nobody, by whose word and until when, in milliseconds since the boot.
    pub(super) paused: Option<(String, u64)>,
}

impl Workspace {
    /// What it counts as having seen at the moment.
    pub(super) fn seen_now(&self) -> Seen {
        let mut seen = self.seen.clone();
        if let Some((host, taint)) = &self.beside {
            tells::hear(&mut seen, *taint, &format!("{host} cannot be asked what it has seen of it"));
            seen.epoch = self.seen.epoch;
        }
        seen
    }

    /// Its taint at the moment.
    pub(super) fn taint(&self) -> Taint {
        self.seen.taint.join(self.beside.as_ref().map_or(Taint::Clean, |(_, taint)| *taint))
    }
}

/// What is done now and then, and when it was done last.
pub(super) struct Times {
    pub(super) started: Instant,
    /// When a waiting command was last tried with the inspector, which does not answer.
    pub(super) last_try: Instant,
    pub(super) last_beat: Option<Instant>,
    pub(super) last_look: Option<Instant>,
}

/// The host's state. One event at a time changes it.
pub struct Core {
    /// What counts: the host's own configuration, joined with the policy of its fleet.
    pub(super) config: Config,
    /// The host's own configuration.
    pub(super) own_config: Config,
    pub(super) folder: Arc<Folder>,
    pub(super) keys: Keys,
    pub(super) boot: String,
    pub(super) records: Records,
    pub(super) workspaces: BTreeMap<WorkspaceName, Workspace>,
    /// A workspace was added, and nobody has looked at its mailbox yet.
    pub(super) new_workspace: bool,
    /// The operator's own programs.
    pub(super) own_programs: Option<Signed>,
    pub(super) cases: Cases,
    /// Long texts that are being read.
    pub(super) readers: Readers,
    /// Scripts that are being written.
    pub(super) drafts: Drafts,
    pub(super) rejects: Rejects,
    pub(super) outbox: Outbox,
    pub(super) inspectors: Inspectors,
    pub(super) book: Book,
    /// People's sheets of one-time codes.
    pub(super) codes: Codes,
    /// What was held when the host stopped, until its requests are read again.
    pub(super) restored: HashMap<RequestKey, Card>,
    /// What goes with answers to runs.
    pub(super) way_out: Answers,
    pub(super) desk: Desk,
    /// Channels to people, and what strangers and guesses did in them.
    pub(super) lines: Lines,
    /// People whose answers are being written.
    pub(super) answers: Vec<Unrecorded>,
    pub(super) metrics: Metrics,
    /// The fleet that this host may belong to.
    pub(super) fleet: super::fleet::Membership,
    pub(super) times: Times,
}

/// A person's answer that is being written: it is confirmed when it is on record.
pub(super) struct Unrecorded {
    cases: Vec<CaseId>,
    approves: bool,
    reply: Reply,
    asker: Asker,
}

/// Where the reply to a person's words goes.
pub(super) enum Asker {
    /// The host's own terminal.
    Terminal,
    /// The control socket.
    Socket(oneshot::Sender<Reply>),
    /// A channel.
    Channel(oneshot::Sender<Option<Reply>>),
}

impl Core {
    /// Opens the store and restores what it holds.
    pub fn open(
        config: Config,
        folder: &Arc<Folder>,
        panel: Panel,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<Self, ServeError> {
        let keys = folder.keys()?;
        let records = Records::open(folder, events.clone())?;
        let boot = clock::boot_id();
        let restored = records.reader.held(&boot)?.into_iter().map(|card| (card.key, card)).collect();
        let taints: HashMap<_, _> = records.reader.taints()?.into_iter().collect();
        let names = records.reader.workspaces()?;
        let own_programs = config.programs.as_ref().map(|file| handed_out::sign(file, &keys.current)).transpose()?;
        let now = Instant::now();
        let mut core = Self {
            way_out: Answers::default(),
            folder: folder.clone(),
            keys,
            boot,
            records,
            workspaces: BTreeMap::new(),
            new_workspace: false,
            own_programs,
            cases: Cases::default(),
            readers: Readers::new(events.clone()),
            drafts: Drafts::new(events.clone()),
            rejects: Rejects::default(),
            outbox: Outbox::new(&config.mailboxes),
            inspectors: Inspectors::new(panel, events),
            book: Book::default(),
            codes: Codes::in_folder(folder.path().join("codes")),
            restored,
            desk: Desk::default(),
            lines: Lines::default(),
            answers: Vec::new(),
            metrics: Metrics::default(),
            fleet: super::fleet::Membership::default(),
            times: Times { started: now, last_try: now, last_beat: None, last_look: None },
            own_config: config.clone(),
            config,
        };
        core.restore_policy()?;
        let configured: Vec<_> = core.config.workspaces.keys().cloned().collect();
        for name in names.into_iter().chain(configured) {
            core.register(&name, taints.get(&name).cloned().unwrap_or_default());
        }
        for script in core.records.reader.scripts()? {
            core.script_is_approved(script);
        }
        for row in core.records.reader.acting()? {
            if let Some(known) = core.workspaces.get_mut(&row.workspace) {
                known.acting.restore(row.root, row.files, row.unlooked);
            }
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
        self.outbox.responder.sweep(name, LEFT_BEHIND);
        self.hand_out(name);
        let turn = Arc::new(Semaphore::new(self.config.parallel));
        let hour = Duration::from_hours(1);
        let requests = Allowance::new(u64::from(self.config.requests_per_second), Duration::from_secs(1));
        let recorded = Allowance::new(self.config.record_bytes_per_hour, hour);
        let model_calls = Allowance::new(self.config.model_calls_per_hour, hour);
        let reads = Allowance::new(self.config.reads.as_ref().map_or(0, |reads| reads.bytes_per_hour), hour);
        let cards = Allowance::new(self.config.cards_per_hour, hour);
        let told = Allowance::new(TOLD_A_MINUTE, Duration::from_mins(1));
        self.workspaces.insert(
            name.clone(),
            Workspace {
                seen,
                beside: None,
                settings,
                caged: Caged::default(),
                acting: Acting::default(),
                scripts: BTreeMap::new(),
                turn,
                requests,
                recorded,
                model_calls,
                reads,
                cards,
                told,
                flood_told: None,
                muted: false,
                paused: None,
            },
        );
    }

    fn hand_out(&self, name: &WorkspaceName) {
        let signed = self.own_programs.as_ref().map(|signed| signed.text.as_bytes());
        if let Err(error) = self.outbox.responder.put_programs(name, signed) {
            tracing::warn!(workspace = %name, %error, "cannot hand out the operator's own programs; the host decides them");
        }
    }

    /// Hands the operator's own programs out again, signed with the key that counts now. Hooks with another one do not believe
    /// them: the host decides those programs.
    pub(super) fn hand_out_programs(&mut self) {
        let signed = self.config.programs.as_ref().map(|file| handed_out::sign(file, &self.keys.current)).transpose();
        match signed {
            Ok(signed) => self.own_programs = signed,
            Err(error) => tracing::warn!(%error, "cannot sign the operator's own programs"),
        }
        for name in self.workspaces.keys() {
            self.hand_out(name);
        }
    }

    /// The taint that the store has for a workspace, registered or not.
    pub(super) fn stored_taint(&self, name: &WorkspaceName) -> Seen {
        let taints = self.records.reader.taints().unwrap_or_default();
        taints.into_iter().find(|(of, _)| of == name).map(|(_, seen)| seen).unwrap_or_default()
    }

    /// A workspace that holds secrets counts as having seen them.
    pub(super) fn taint_by_settings(&mut self, name: &WorkspaceName, seen: &mut Seen) {
        let cause = Cause {
            label: Label::Secret,
            source: "contains_secrets = true".to_owned(),
            by: "the configuration".to_owned(),
            at_ms: clock::now().unix_ms,
            heard: false,
        };
        if seen.raise(cause) {
            self.records.submit(vec![Write::Taint(name.clone(), seen.clone())], true, After::Nothing);
        }
    }

    /// Adds channels to people.
    pub fn watch_by(&mut self, channels: Vec<Box<dyn Watcher>>) {
        for channel in channels {
            self.desk.add(channel);
        }
    }

    /// Puts the start on record.
    pub fn starts(&mut self) {
        let detail = json!({"event": "start", "version": env!("CARGO_PKG_VERSION"), "key": self.keys.current.id(), "boot": self.boot, "enforce": self.config.policy.enforce});
        self.records.record(RecordKind::Host, None, detail);
    }

    /// Puts the end on record and waits until everything is written.
    pub fn stops(self) {
        let detail = json!({"event": "stop", "open": self.cases.len()});
        if let Err(error) = self.records.write(RecordKind::Host, None, detail, Vec::new()) {
            tracing::error!(error, "the end could not be recorded");
        }
        fault::here("stop.recorded");
    }

    /// Tells a person what became of the words, now or when it is on record.
    pub(super) fn tell(&mut self, told: Told, asker: Asker) {
        match (told, asker) {
            (Told::Now(reply), Asker::Terminal) => self.desk.tell(&Notice::Reply(reply.text)),
            // Who has hung up does not wait for it.
            (Told::Now(reply), Asker::Socket(asked)) => drop(asked.send(reply)),
            (Told::Now(reply), Asker::Channel(asked)) => drop(asked.send(Some(reply))),
            (Told::Recorded { cases, approves, reply }, asker) => {
                self.answers.push(Unrecorded { cases, approves, reply, asker });
            }
        }
    }

    /// The verdict of a case is on record, or it is not and why: the answer that it waits for the longest is confirmed
    /// when all its cases are.
    fn answer_is_recorded(&mut self, id: CaseId, error: Option<&String>) {
        let Some(at) = self.answers.iter().position(|answer| answer.cases.contains(&id)) else { return };
        let overtaken = self.cases.get(id).is_some_and(|open| open.case.is_overtaken());
        if let Some(answer) = self.answers.get_mut(at) {
            answer.cases.retain(|case| *case != id);
            if let Some(error) = error {
                let why = format!("the answer could not be recorded ({error}), so the command was denied");
                answer.reply = Reply::refused(why);
            } else if answer.approves && overtaken {
                answer.reply = Reply::refused("a denial came before the approval took effect, and counts");
            }
            if answer.cases.is_empty() {
                let Unrecorded { reply, asker, .. } = self.answers.remove(at);
                self.tell(Told::Now(reply), asker);
            }
        }
    }

    /// What people see of held commands.
    pub fn board(&self) -> &crate::chat::Board {
        self.desk.board()
    }

    /// The numbers that this host counts into.
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Renews the numbers about what there is right now. `waiting` requests wait for their turn.
    pub fn counts(&self, waiting: usize) {
        self.metrics.stands(&Stand {
            waiting,
            open: self.cases.len(),
            held: self.book.cards().count(),
            taints: self.workspaces.values().map(Workspace::taint).collect(),
            uptime: self.times.started.elapsed(),
        });
    }

    /// Tells whoever watches about a decision, and counts it.
    pub(super) fn tell_decided(&mut self, decided: Decided) {
        self.metrics.decided(decided.word(), &decided.by, decided.took);
        self.desk.tell(&Notice::Decided(Box::new(decided)));
    }

    /// True once after a workspace was added.
    pub fn take_new_workspace(&mut self) -> bool {
        std::mem::take(&mut self.new_workspace)
    }

    pub(super) fn has_new_workspace(&mut self) {
        self.new_workspace = true;
    }

    /// Takes one event.
    pub fn handle(&mut self, event: Event) {
        if let Event::Stored(_, Err(_)) = &event {
            self.metrics.store_failed();
        }
        match event {
            Event::Arrived(arrival) => self.arrived(arrival),
            Event::Read(unread, found) => {
                self.readers.is_read(&unread);
                self.weigh((*unread, *found));
            }
            Event::Found(id, ask, finding) => {
                fault::here("inspector.answered");
                self.metrics.found(&finding);
                self.found(id, ask, &finding);
            }
            Event::Drafted(drafted) => self.is_drafted(*drafted),
            Event::WentOut(closed) => self.went_out(&closed),
            Event::Stored(After::Recorded(id), result) => {
                fault::here("verdict.recorded");
                self.answer_is_recorded(id, result.as_ref().err());
                let event = result.map_or_else(case::Event::NotRecorded, |()| case::Event::Recorded);
                self.step(id, event);
            }
            Event::Stored(After::Held(id, approval), result) => match result {
                Ok(()) => {
                    fault::here("approval.held");
                    self.step(id, case::Event::Held);
                }
                Err(error) => self.not_held(id, &approval, &error),
            },
            Event::Stored(After::Respond(plain), result) => {
                let plain = match result {
                    Ok(()) => *plain,
                    Err(error) => plain.denied(format!("the decision could not be recorded ({error}); for the operator: look at the state folder's disk")),
                };
                self.respond(plain);
            }
            Event::Stored(after @ (After::Nothing | After::Pruned), result) => {
                if matches!(after, After::Pruned) {
                    self.records.pruning = false;
                }
                if let Err(error) = result {
                    tracing::error!(error, "the store does not take a record");
                }
            }
            Event::Said(line) => {
                let by = crate::chat::owner().to_string();
                if let Some(told) = self.say(&line, &by) {
                    self.tell(told, Asker::Terminal);
                }
            }
            // Whoever hung up meanwhile does not see what comes of it.
            Event::Control(_, _, asked) if asked.is_closed() => {}
            Event::Control(command, by, asked) => {
                let told = self.control(command, &by);
                self.tell(told, Asker::Socket(asked));
            }
            Event::Overheard(overheard) => self.overheard(overheard),
            Event::FromFleet(said) => self.fleet_says(said),
            Event::PolicyChecked(checked) => self.policy_is_checked(*checked),
        }
    }
}
