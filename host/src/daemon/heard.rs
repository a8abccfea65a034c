//! What is said in channels: who may say what, and what is nobody's business there.
//!
//! A channel's list names who may answer. What anybody else says is talk: no answer, no word about what is held. A channel that
//! is about some workspaces only knows of no others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use bashgate_shared::classify::CommandClass;
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use serde_json::json;
use tokio::sync::mpsc;

use super::Event;
use super::answers::Coded;
use super::cards::is_told_whole;
use super::core::{Asker, Core, STARTING};
use super::people::Told;
use crate::allowance::Allowance;
use crate::approval::codes::Act;
use crate::approval::{ApprovalId, Card, Demands, Forecast, RequestKey, Word};
use crate::authority::Person;
use crate::chat::grammar::{self, Said};
use crate::chat::link::{self, Health, Overheard, Running};
use crate::chat::notice;
use crate::chat::settings::Settings;
use crate::clock;
use crate::control::Reply;
use crate::state::Folder;
use crate::taint::Taint;

/// Ids that lead nowhere, of one person in ten minutes. Beyond it what they say counts for nothing until that is over.
const GUESSES: u64 = 20;
const GUESSED_IN: Duration = Duration::from_mins(10);
/// Most strangers that are remembered for having been reported.
const MOST_STRANGERS: usize = 256;
/// Most words that wait for cards of an earlier run.
const MOST_EARLY: usize = 256;
/// What is said of a channel that shows and hears.
const WORKS: &str = "works";
/// How long a card that only tests a channel can be answered, in milliseconds.
const TEST_MS: u64 = 120_000;

/// The channels, and what strangers and guesses did in them.
#[derive(Default)]
pub(super) struct Lines {
    running: BTreeMap<String, Running>,
    guesses: HashMap<(String, String), Allowance>,
    strangers: HashSet<(String, String)>,
    tests: HashMap<ApprovalId, Test>,
    /// What was said about cards of an earlier run, until they are asked about again.
    early: Vec<(ApprovalId, Overheard)>,
}

/// A card that only tests a channel.
struct Test {
    channel: String,
    until_boot_ms: u64,
    /// Who answered what.
    heard: Option<String>,
    /// Who answered and may not.
    stranger: Option<String>,
}

impl Core {
    /// Opens the channels that the configuration names.
    pub(super) fn open_channels(&mut self, folder: &Folder, events: &mpsc::UnboundedSender<Event>) {
        let memories = folder.path().join("chat");
        let events = events.clone();
        let hears: link::Hears = std::sync::Arc::new(move |heard| events.send(Event::Overheard(heard)).is_ok());
        // Desks are reached through the fleet.
        for settings in self.config.chat.values().filter(|settings| settings.desk.is_none()) {
            let made = std::fs::create_dir_all(&memories).map_err(|error| error.to_string());
            match made.and_then(|()| link::start(settings, self.desk.board(), &memories, &hears)) {
                Ok(running) => {
                    self.lines.running.insert(settings.name.clone(), running);
                }
                // Others go on.
                Err(why) => tracing::error!(channel = settings.name, why, "the channel cannot be opened"),
            }
        }
    }

    /// Takes what was said in a channel.
    pub(super) fn overheard(&mut self, overheard: Overheard) {
        if let Said::Answer(id, ..) = grammar::read(&overheard.words)
            && self.times.started.elapsed() < STARTING
            && self.lines.early.len() < MOST_EARLY
            && self.restored.values().any(|card| card.id == id)
        {
            return self.lines.early.push((id, overheard));
        }
        self.take_words(overheard);
    }

    /// Takes what was said about cards that have come back, and what will wait for nothing any more.
    pub(super) fn take_early_words(&mut self) {
        if self.lines.early.is_empty() {
            return;
        }
        let is_starting = self.times.started.elapsed() < STARTING;
        let restored = &self.restored;
        let waits = |id: &ApprovalId| is_starting && restored.values().any(|card| card.id == *id);
        let ready: Vec<_> = self.lines.early.extract_if(.., |(id, _)| !waits(id)).collect();
        for (_, overheard) in ready {
            self.take_words(overheard);
        }
    }

    fn take_words(&mut self, overheard: Overheard) {
        let Overheard { channel, user, name, words, on, sees_all, reply } = overheard;
        match self.said_in(&channel, (&user, &name), &words, on, sees_all) {
            Some(told) => self.tell(told, Asker::Channel(reply)),
            None => drop(reply.send(None)),
        }
    }

    /// What becomes of words in a channel; `None` when they are nobody's business.
    fn said_in(
        &mut self,
        channel: &str,
        (user, name): (&str, &str),
        words: &str,
        on: Option<bool>,
        sees_all: bool,
    ) -> Option<Told> {
        let settings = self.config.chat.get(channel)?.clone();
        let said = grammar::read(words);
        if said == Said::Talk {
            return None;
        }
        let person = settings.person(user, name);
        let is_approver = settings.is_heard(user);
        if let Said::Answer(id, ..) = &said
            && let Some(test) = self.lines.tests.get_mut(id).filter(|test| test.channel == channel)
        {
            *(if is_approver { &mut test.heard } else { &mut test.stranger }) = Some(person.clone());
            let said =
                if is_approver { "The channel works" } else { "You are heard here, and are not among its `approvers`" };
            self.desk.board().end(id, &format!("{said}: {person}"));
            return Some(Reply { ok: is_approver, text: format!("{said}."), data: json!(null) }.into());
        }
        if !is_approver {
            self.stranger(channel, user, &person);
            return None;
        }
        let key = (channel.to_owned(), user.to_owned());
        if self.lines.guesses.get(&key).is_some_and(|guesses| !guesses.has_some()) {
            return Some(Reply::refused("too many wrong ids and codes; you are heard again in a while").into());
        }
        let may_answer = |workspace: &WorkspaceName| settings.who_answers(workspace).contains(user);
        let is_about = |workspace: &WorkspaceName| settings.is_about(workspace) && may_answer(workspace);
        let told = match &said {
            Said::Answer(id, ..) | Said::Show(id) | Said::Why(id) => match self.workspace_under(id) {
                Some(workspace) if is_about(workspace) => {
                    if on == Some(false) {
                        let why = format!(
                            "this is not the card that counts; look for the newest one, or say: pending ({id})"
                        );
                        return Some(Reply::refused(why).into());
                    }
                    if !sees_all && matches!(said, Said::Answer(_, Word::Approve(scope), _) if scope.is_for_longer()) {
                        let why = format!("not all of it is shown here, so it can only be approved once: {id}");
                        return Some(Reply::refused(why).into());
                    }
                    let is_cut = |id| {
                        self.book.is_denied(id) && self.book.card(id).is_some_and(|card| !is_told_whole(&card.command))
                    };
                    match &said {
                        Said::Answer(id, Word::Approve(_), _) if is_cut(id) => Reply::refused(format!(
                            "not all of it was shown here; read it on the host, with bashgate show {id}, and approve it there"
                        ))
                        .into(),
                        Said::Answer(id, Word::Approve(scope), code)
                            // No desk speaks for both of two people: what only they know shows that it was them.
                            if settings.asks_code(self.takes_code(id, *scope))
                                || settings.desk.is_some() && self.takes_two(id, *scope) =>
                        {
                            // Before the code, which counts once.
                            if let Some(more) = self.more_wait(id) {
                                return Some(more.into());
                            }
                            match self.coded(Person::named(&person).account(), id, Act::Approve(*scope), code.as_ref()) {
                                Coded::Counts(more) => self.answer(id, &Word::Approve(*scope), &person).with(&more),
                                Coded::Refused { words, is_guess } => {
                                    if is_guess {
                                        self.has_guessed(key, &person);
                                    }
                                    Reply::refused(words).into()
                                }
                            }
                        }
                        _ => self.say(words, &person)?,
                    }
                }
                // Its card is shown here, and is for others.
                Some(workspace) if settings.is_about(workspace) => {
                    Reply::refused(format!("you are not among those who may answer for workspace {workspace} ({id})"))
                        .into()
                }
                None if self.book.knows(id)
                    && self.desk.board().card(id).is_none_or(|shown| is_about(&shown.card.workspace)) =>
                {
                    Reply::refused(format!("`{id}` is over: it was answered, withdrawn or has lapsed")).into()
                }
                // One of another workspace is a guess, too. A desk asks all hosts about a denial.
                _ => {
                    let is_asked_around =
                        settings.desk.is_some() && matches!(said, Said::Answer(_, Word::Deny { .. }, _));
                    if !is_asked_around {
                        self.has_guessed(key, &person);
                    }
                    Reply::refused(format!("{} `{id}`", notice::NOTHING_PENDING)).into()
                }
            },
            Said::DenyAll(None, reason) => self.deny_all(is_about, reason, &person),
            Said::DenyAll(Some(workspace), _)
            | Said::Pause(workspace, _)
            | Said::Resume(workspace)
            | Said::Mute(workspace, _) => {
                if !is_about(workspace) {
                    return Some(Reply::refused(format!("there is no workspace `{workspace}` here")).into());
                }
                self.say(words, &person)?
            }
            Said::Taint(Some(workspace)) if !is_about(workspace) => {
                Reply::refused(format!("there is no workspace `{workspace}` here")).into()
            }
            Said::Pending => self.pending(false, is_about).into(),
            Said::Denied => self.pending(true, is_about).into(),
            Said::Taint(None) => self.taints(is_about).into(),
            Said::Tasks => self.tasks(is_about).into(),
            Said::Grants => self.grants(is_about).into(),
            Said::Status => self.status(is_about, settings.workspaces.is_none()).into(),
            Said::Taint(Some(_)) | Said::Help => self.say(words, &person)?,
            Said::Talk => return None,
        };
        Some(told)
    }

    /// Somebody named an id that leads nowhere here, or a code that is wrong.
    fn has_guessed(&mut self, (channel, user): (String, String), person: &str) {
        let key = (channel.clone(), user);
        let guesses = self.lines.guesses.entry(key).or_insert_with(|| Allowance::new(GUESSES, GUESSED_IN));
        guesses.take(1);
        if !guesses.has_some() {
            tracing::warn!(
                channel,
                person,
                "too many wrong ids and codes; what this person says does not count for now"
            );
        }
    }

    /// The workspace of what an answer to this id would be about: something held, something that was let through for later, or an
    /// approval that has not gone out yet.
    fn workspace_under(&self, id: &ApprovalId) -> Option<&WorkspaceName> {
        let is_its = |of: &Option<ApprovalId>| of.as_ref() == Some(id);
        let open = || self.cases.values().find(|open| is_its(&open.approval) || is_its(&open.passed));
        self.book.workspace_of(id).or_else(|| open().map(|open| &open.workspace))
    }

    /// Somebody who may not answer tried to. Said once for each, to the operator alone.
    fn stranger(&mut self, channel: &str, user: &str, person: &str) {
        let key = (channel.to_owned(), user.to_owned());
        if self.lines.strangers.len() < MOST_STRANGERS && self.lines.strangers.insert(key) {
            tracing::warn!(channel, person, "somebody who is not among the channel's `approvers` tried to answer");
        }
    }

    /// The channels, and how they fare.
    pub(super) fn chat_list(&self) -> Reply {
        let mut lines = Vec::new();
        let mut data = Vec::new();
        for (name, settings) in &self.config.chat {
            let health = self.lines.running.get(name).map(Running::health);
            let is_desk = settings.desk.is_some();
            let trouble = if is_desk {
                self.desks_trouble()
            } else {
                health.as_ref().and_then(Health::trouble).map(str::to_owned)
            };
            let state = match (trouble, &health) {
                (None, None) if !is_desk => "could not be opened".to_owned(),
                (Some(why), _) => format!("does not work: {why}"),
                (None, Some(health)) if !health.has_begun => "is being opened".to_owned(),
                (None, _) => WORKS.to_owned(),
            };
            let count = |ids: &BTreeSet<String>| match ids.len() {
                0 => "nobody may answer".to_owned(),
                1 => "1 may answer".to_owned(),
                n => format!("{n} may answer"),
            };
            let of = settings.approvers_of.iter().map(|(name, ids)| format!(", for {name} {}", count(ids)));
            let who = count(&settings.approvers) + &of.collect::<String>();
            lines.push(format!("{name}  {}  {state}; {who}", settings.kind.word()));
            data.push(json!({"name": name, "kind": settings.kind.word(), "works": state == WORKS, "state": state,
                             "approvers": settings.approvers, "approvers_of": settings.approvers_of, "workspaces": settings.workspaces}));
        }
        if lines.is_empty() {
            lines.push(
                "There is no channel but the host's own terminal. docs/chat.md says how to set one up.".to_owned(),
            );
        }
        Reply::done(lines.join("\n"), json!(data))
    }

    /// Sends a card to a channel that only tests it.
    pub(super) fn chat_test(&mut self, channel: &str) -> Reply {
        let now = clock::now();
        self.lines.tests.retain(|_, test| test.until_boot_ms > now.boot_ms);
        let Some(settings) = self.config.chat.get(channel) else {
            return Reply::refused(format!("there is no channel `{channel}`; see: bashgate chat list"));
        };
        let Some(id) = self.new_approval_id() else { return Reply::refused("the host cannot make an approval id") };
        let Some(card) = test_card(settings, id.clone(), now.boot_ms + TEST_MS) else {
            return Reply::refused("the channel is about no workspace");
        };
        let test =
            Test { channel: channel.to_owned(), until_boot_ms: card.expires_boot_ms, heard: None, stranger: None };
        self.desk.board().put_for(channel, card);
        self.lines.tests.insert(id.clone(), test);
        Reply::done(format!("A card is on its way to `{channel}`: {id}"), json!({"id": id}))
    }

    /// What became of such a card.
    pub(super) fn chat_tested(&mut self, id: &str) -> Reply {
        let Some((id, test)) = ApprovalId::parse(id).and_then(|id| self.lines.tests.get(&id).map(|test| (id, test)))
        else {
            return Reply::refused(format!("no test goes by `{id}`"));
        };
        let is_desk = self.config.chat.get(&test.channel).is_some_and(|settings| settings.desk.is_some());
        let trouble = match self.lines.running.get(&test.channel).map(Running::health) {
            _ if is_desk => self.desks_trouble(),
            Some(health) => health.trouble().map(str::to_owned),
            None => Some("the channel could not be opened".to_owned()),
        };
        let is_late = clock::now().boot_ms >= test.until_boot_ms;
        let data = json!({"heard": test.heard, "stranger": test.stranger, "late": is_late, "trouble": trouble});
        if is_late {
            self.desk.board().end(&id, "Nobody answered the test");
        }
        Reply::done("", data)
    }
}

fn test_card(settings: &Settings, id: ApprovalId, expires_boot_ms: u64) -> Option<Card> {
    let workspace = match &settings.workspaces {
        Some(names) => names.first()?.clone(),
        None => WorkspaceName::parse("default")?,
    };
    let command = "echo \"this is a test of the channel; nothing runs\"".to_owned();
    Some(Card {
        key: RequestKey::of(&workspace, &[id.as_str()], 0),
        id,
        workspace,
        request_id: RequestId::parse("00000000-0000-4000-8000-000000000000")?,
        request_sha256: String::new(),
        command,
        cwd: None,
        agent: None,
        class: CommandClass::Safe,
        rule: "test".to_owned(),
        reason: "a test of this channel".to_owned(),
        taint: Taint::Clean,
        causes: Vec::new(),
        epoch: 0,
        advice: None,
        asked_at_ms: clock::now().unix_ms,
        expires_boot_ms,
        offers_session: false,
        waiting: 1,
        outage: false,
        also: Vec::new(),
        demands: Demands::default(),
        grant: None,
        way: Vec::new(),
        forecast: Forecast::default(),
    })
}
