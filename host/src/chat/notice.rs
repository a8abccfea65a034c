//! Every word that people read about a command.
//!
//! Control characters are visible, credentials masked. Nothing is cut without saying how much.

use std::collections::BTreeMap;
use std::time::Duration;

use bashgate_shared::classify::CommandClass;
use bashgate_shared::protocol::{Answer, WorkspaceName};

use crate::approval::{ApprovalId, Card};
use crate::authority::{By, Person};
use crate::case::Verdict;
use crate::clock;
use crate::inspector::prompt::visible;
use crate::policy::credentials;
use crate::taint::Taint;

use super::{card, columns};

/// Something to tell people.
#[derive(Debug, Clone)]
pub enum Notice {
    /// A command is held.
    Held(Box<Card>),
    /// The inspector's advice on a held command came in.
    Advice(ApprovalId, String),
    /// One more request waits for a card that is there: the same command again, or, where it is named, another one that
    /// the inspector does not answer on.
    Joined {
        /// The card.
        id: ApprovalId,
        /// How many wait now.
        waiting: usize,
        /// When it lapses now, in milliseconds since boot.
        expires_boot_ms: u64,
        /// The command, where it is another one.
        command: Option<String>,
    },
    /// A held command is over.
    Over(ApprovalId, Became),
    /// A workspace asks more than is told one by one: how many of it are held.
    Flood {
        /// The workspace.
        workspace: WorkspaceName,
        /// How many are held now.
        held: usize,
    },
    /// A decision fell.
    Decided(Box<Decided>),
    /// The answer to something a person said.
    Reply(String),
}

/// A decision, for whoever watches.
#[derive(Debug, Clone)]
pub struct Decided {
    /// The workspace.
    pub workspace: String,
    /// The command, or the tool with its target.
    pub what: String,
    /// The class, for a command.
    pub class: Option<CommandClass>,
    /// The answer.
    pub answer: Answer,
    /// True where shadow mode lets a denial through.
    pub let_through: bool,
    /// True where it runs in the cage behind a denial.
    pub caged: bool,
    /// Who said it.
    pub by: By,
    pub reason: String,
    /// The workspace's taint afterwards.
    pub taint: Taint,
    /// How long it took since the request was seen.
    pub took: Duration,
}

impl Decided {
    /// What came of it, in one word.
    pub const fn word(&self) -> &'static str {
        match (self.answer, self.let_through, self.caged) {
            (Answer::Allow, ..) => "allow",
            (Answer::Deny, true, _) => "let_through",
            (Answer::Deny, false, true) => "caged",
            (Answer::Deny, false, false) => "deny",
        }
    }
}

/// So many cards of one workspace are listed; a flood must not hide what others ask.
const LISTED: usize = 10;

/// One line for each held command, what lapses first above; of a workspace with very many only the first.
pub fn list<'c>(cards: impl Iterator<Item = &'c Card>, now_boot_ms: u64) -> String {
    let mut cards: Vec<&Card> = cards.collect();
    cards.sort_by_key(|card| (card.asked_at_ms, card.expires_boot_ms));
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for card in cards {
        let count = listed.entry(card.workspace.as_str()).or_default();
        *count += 1;
        if *count <= LISTED {
            let left = card.expires_boot_ms.saturating_sub(now_boot_ms) / 1000;
            lines.push(format!("{}  {}  {left} s  {}", card.id, card.workspace, what(card, 100)));
        }
    }
    for (workspace, count) in listed {
        if count > LISTED {
            lines.push(format!("and {} more in workspace {workspace} (pending --json lists all)", count - LISTED));
        }
    }
    if lines.is_empty() { "Nothing is held.".to_owned() } else { columns::fit(&lines.join("\n")) }
}

/// What is asked, on one line.
pub fn what(card: &Card, most: usize) -> String {
    let command = card::counted(&one_line(&card.command, most));
    match (card.outage, card.waiting) {
        (true, n) => format!("[the inspector is out: may the workspace go on without it? {n} wait] {command}"),
        (false, n) if n > 1 => format!("[asked {n} times] {command}"),
        (false, _) => command,
    }
}

/// What became of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Became {
    /// In words, on one line.
    pub words: String,
    /// The person who answered it, if one did.
    pub by: Option<Person>,
}

impl Default for Became {
    /// Nobody waits for it any more.
    fn default() -> Self {
        Self { words: "No longer held".to_owned(), by: None }
    }
}

/// What became of a card: who said what, and when.
pub fn became(verdict: &Verdict, unix_ms: u64) -> Became {
    let by_person = if let By::Human(person) = &verdict.by { Some(person.clone()) } else { None };
    let done = match (verdict.answer, verdict.is_caged()) {
        (Answer::Allow, _) => "Approved",
        (Answer::Deny, true) => "Runs in the cage",
        (Answer::Deny, false) => "Denied",
    };
    let by = match &verdict.by {
        By::Human(person) => format!(" by {}", one_line(&person.to_string(), 120)),
        by => format!(" by the {}", by.kind()),
    };
    let time = clock::date(unix_ms);
    let why =
        if verdict.answer == Answer::Deny { format!(": {}", one_line(&verdict.reason, 200)) } else { String::new() };
    Became { words: format!("{done}{by} at {time}{why}"), by: by_person }
}

/// A text on one line, with what was left out said.
pub fn one_line(text: &str, most: usize) -> String {
    one_line_but(text, most, &[])
}

/// The same, but where one of these hosts stands nothing is masked.
pub fn one_line_but(text: &str, most: usize, hosts: &[&str]) -> String {
    let text = visible(&credentials::mask_but(text, hosts)).replace('\n', "\\n").replace('\t', "\\t");
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… ({} more)", text.get(..end).unwrap_or(""), text.len() - end),
        None => text,
    }
}

/// How it is said that an id is of nothing that is held.
pub const NOTHING_PENDING: &str = "nothing is pending here under";

/// A notice in words.
pub fn words(notice: &Notice, now_boot_ms: u64) -> String {
    match notice {
        Notice::Held(held) => card::render(held, now_boot_ms, false),
        Notice::Advice(id, advice) => format!("{}, about {id}", one_line(advice, 500)),
        Notice::Joined { id, waiting, command: None, .. } => format!("Asked again, {waiting} requests wait now: {id}"),
        Notice::Joined { id, waiting, command: Some(command), .. } => {
            format!("{waiting} commands wait for the inspector now, also {}: {id}", one_line(command, 200))
        }
        Notice::Flood { workspace, held } => format!(
            "{held} commands are held in workspace {workspace}; more of it are not told one by one for now. See: pending. Say: \
             deny all in {workspace}, mute {workspace}, or pause {workspace}"
        ),
        Notice::Over(id, became) => format!("{}: {id}", became.words),
        Notice::Decided(decided) => {
            let class = decided.class.map_or_else(|| "tool".to_owned(), |class| class.to_string());
            let time = if decided.took < Duration::from_millis(10) {
                format!("{} us", decided.took.as_micros())
            } else {
                format!("{} ms", decided.took.as_millis())
            };
            let answer = if decided.let_through { "let through, not denied:" } else { decided.word() };
            format!(
                "{answer:5} {class:7} {} ({}, {time}, taint now {}): {}",
                one_line(&decided.what, 80),
                decided.by,
                decided.taint,
                one_line(&decided.reason, 160)
            )
        }
        Notice::Reply(text) => text.clone(),
    }
}

/// What can be said.
pub const HELP: &str = "\
Say one of:
  pending                  what is held
  denied                   what the inspector denied and can be overruled: approve ID
  show ID                  everything about one
  why ID                   why it is asked
  approve ID               let it run, once
  approve ID session       let this exact command run until the taint changes, where that is offered
  approve ID grant [MIN]   let its kind run for half an hour, or so many minutes, where that is offered
  approve ID ... CODE      the same with a one-time code, where one is asked for
  deny ID [REASON]         do not let it run
  deny all [in WORKSPACE]  nothing that is held there runs
  pause WORKSPACE [MIN]    it asks nobody for an hour, or so many minutes: what would be asked is denied
  resume WORKSPACE         it may ask again
  mute WORKSPACE           its cards are held without a word about each; see: pending
  unmute WORKSPACE         they are told again
  grants                   what is let through ahead; end one with: deny ID
  taint [WORKSPACE]        what it has seen, and where from
  tasks                    what is being decided now
  status                   how everything stands";
