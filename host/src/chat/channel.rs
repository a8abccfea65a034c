//! A channel: a place where people talk, that takes cards, changes them, and hears answers with an identity.
//!
//! A service's own module only speaks its protocol. What is shown when, who may answer, and what counts is decided above it, once
//! for all of them.

use std::future::Future;
use std::time::Duration;

use crate::approval::{ApprovalId, Card};

use super::board::Shown;
use super::card::{self, Parts, Room};
use super::columns;
use super::notice::one_line;

/// A card as a channel shows it. Everything in it but our own words may be hostile, in whatever markup the channel has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: ApprovalId,
    /// The card in pieces.
    pub parts: Parts,
    /// What can be said, or what became of it. Words of ours.
    pub foot: String,
    /// What can be pressed.
    pub buttons: Vec<Button>,
    /// Who may answer it, by the service's ids: they are rung for while there is something to answer.
    pub rings: Vec<String>,
}

/// A button under a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Button {
    /// Let it run once.
    Approve,
    /// Let a workspace go on without the inspector.
    GoOn,
    /// Let this text run until the taint changes.
    Session,
    /// Do not let it run.
    Deny,
    /// Show all of it.
    Show,
}

impl Button {
    const ALL: [Self; 5] = [Self::Approve, Self::GoOn, Self::Session, Self::Deny, Self::Show];

    /// What stands on it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Approve => "Approve once",
            Self::GoOn => "Go on without it, up to an hour",
            Self::Session => "Approve until the taint changes",
            Self::Deny => "Deny",
            Self::Show => "Show all of it",
        }
    }

    /// Its name, for what a service gives back.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::GoOn => "go-on",
            Self::Session => "session",
            Self::Deny => "deny",
            Self::Show => "show",
        }
    }

    /// The button of a name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|button| button.word() == word)
    }

    /// The words that it stands for.
    pub fn words(self, id: &ApprovalId) -> String {
        match self {
            Self::Approve | Self::GoOn => format!("approve {id}"),
            Self::Session => format!("approve {id} session"),
            Self::Deny => format!("deny {id}"),
            Self::Show => format!("show {id}"),
        }
    }
}

/// How much of a command a message shows, from the most on: until all of it fits.
const ROOMS: [Room; 4] =
    [Room::MESSAGE, Room { lines: 20, bytes: 800 }, Room { lines: 10, bytes: 320 }, Room { lines: 4, bytes: 120 }];
/// Most of the parts of a message, as services count letters: what is asked, what stands behind it, its first and its last line.
const MOST_COMMAND: usize = 2100;
const MOST_ABOUT: usize = 1000;
const MOST_HEAD: usize = 420;
const MOST_FOOT: usize = 680;

/// What a channel shows of a card, with lines of at most so many columns; `takes_code` where an approval takes one here.
pub fn message(shown: &Shown, now_boot_ms: u64, now_unix_ms: u64, width: usize, takes_code: bool) -> Message {
    let card: &Card = &shown.card;
    let in_room = |room: Room| {
        let parts = card::parts(card, room);
        Parts { command: columns::fit_to(parts.command.trim_end_matches('\n'), width), ..parts }
    };
    let [first, .., last] = ROOMS;
    let fits = |parts: &Parts| units(&parts.command) <= MOST_COMMAND;
    let mut parts = in_room(first);
    if !fits(&parts) {
        parts = ROOMS.into_iter().skip(1).map(in_room).find(fits).unwrap_or_else(|| in_room(last));
        parts.folded = true;
    }
    let (about, is_cut) = short(&parts.about, &card.id, width);
    parts.about = about;
    parts.head = clipped(&parts.head, MOST_HEAD);
    // What is not shown is not approved for later.
    parts.folded |= is_cut;
    if let Some(over) = &shown.over {
        let foot = format!("{} ({})", one_line(over, MOST_FOOT - 100), card.id);
        return Message { id: card.id.clone(), parts, foot, buttons: Vec::new(), rings: Vec::new() };
    }
    let left = card.expires_boot_ms.saturating_sub(now_boot_ms);
    let until = crate::clock::date(now_unix_ms + left);
    let mut foot =
        format!("approve {0} or deny {0}. If nobody answers by {1}, it is denied.", card.id, time_of(&until));
    if takes_code {
        foot.push_str(" Approving takes a one-time code; you are told which.");
    }
    if let Some((first, _)) = &card.demands.first {
        foot.push_str(&format!(" {} said yes; another person must, too.", one_line(first, 60)));
    } else if card.demands.two_people {
        foot.push_str(" Two people must say yes.");
    }
    let mut buttons = vec![if card.outage { Button::GoOn } else { Button::Approve }, Button::Deny];
    if parts.folded {
        foot.push_str(" Not all of it is shown.");
        buttons.push(Button::Show);
    } else if card.offers_session {
        foot.push_str(&format!(
            " approve {} session: this text, in this folder, by this agent, with these files as they are, until the taint changes.",
            card.id
        ));
        if card::sends_by_git(card) {
            foot.push_str(" The same push then sends what is committed later, too.");
        }
        buttons.insert(1, Button::Session);
        if card.grant.is_some() {
            foot.push_str(&format!(" approve {} grant 30: others of its kind, too, for so many minutes.", card.id));
        }
    }
    Message { id: card.id.clone(), parts, foot, buttons, rings: Vec::new() }
}

/// Letters as services count them.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The beginning of a text, with what was left out said.
fn clipped(text: &str, most: usize) -> String {
    let mut used = 0;
    let end = text.char_indices().find(|(_, letter)| {
        used += letter.len_utf16();
        used > most
    });
    match end {
        Some((end, _)) => format!("{}… ({} more)", text.get(..end).unwrap_or(""), text.len() - end),
        None => text.to_owned(),
    }
}

/// The time of day of a date.
fn time_of(date: &str) -> &str {
    date.split_once(' ').map_or(date, |(_, time)| time)
}

/// What stands behind the command, as far as there is room for it; and whether something was left out.
fn short(about: &str, id: &ApprovalId, width: usize) -> (String, bool) {
    let about = columns::fit_to(about, width);
    if units(&about) <= MOST_ABOUT {
        return (about, false);
    }
    let lines: Vec<&str> = about.lines().collect();
    let mut used = 0;
    let fitting = lines.iter().take_while(|line| {
        used += units(line) + 1;
        used <= MOST_ABOUT
    });
    let shown = fitting.count();
    let kept = lines.get(..shown).unwrap_or_default().join("\n");
    (format!("{kept}\n  ({} more lines about it: show {id})", lines.len() - shown), true)
}

/// Something that a person said in a channel's room, or pressed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken<To> {
    /// The service's own id of the person, which nobody can change.
    pub user: String,
    /// What the person is called there. Chosen by them.
    pub name: String,
    /// The words.
    pub words: String,
    /// The message whose button was pressed.
    pub on: Option<String>,
    /// Where the reply goes.
    pub to: To,
}

/// Why a channel did not do what it was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The service cannot be reached or is busy; it is tried again, after this time where it says one.
    Away(String, Option<Duration>),
    /// It does not know us, or does not let us: somebody has to do something about it.
    Refused(String),
    /// The message that was to be changed is gone.
    Gone,
    /// It does not take this one.
    Unfit(String),
}

impl Failure {
    /// What happened, in words.
    pub fn why(&self) -> &str {
        match self {
            Self::Away(why, _) | Self::Refused(why) | Self::Unfit(why) => why,
            Self::Gone => "the message is gone",
        }
    }
}

/// A piece of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'w> {
    /// Which one, from 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// What was asked was done.
    pub done: bool,
    /// The words, of at most [`Channel::LONGEST`].
    pub words: &'w str,
}

/// What was heard, and from where to listen on. It is listened to again from the same place when the host dies before it has
/// dealt with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard<To> {
    /// In the order in which it was said.
    pub spoken: Vec<Spoken<To>>,
    /// From where to listen on.
    pub position: String,
}

/// A service that a channel goes through. Each call ends by itself, whatever the service does.
pub trait Channel: Send + Sync + 'static {
    /// Where a reply goes.
    type To: Clone + Send + Sync + 'static;

    /// Most columns of a line that its readers see in one piece.
    const WIDTH: usize;
    /// Longest text that is said in one message, in UTF-16 units.
    const LONGEST: usize;

    /// Gets ready: checks that the credential and the room are usable. Called until it succeeds.
    fn begin(&self) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Shows a card. Gives back the service's id of the message. Showing the same version again may show it once only, where
    /// the service knows how.
    fn post(&self, message: &Message, version: u64) -> impl Future<Output = Result<String, Failure>> + Send;

    /// Changes a card that was shown.
    fn change(&self, posted: &str, message: &Message, version: u64)
    -> impl Future<Output = Result<(), Failure>> + Send;

    /// Says something of at most [`Self::LONGEST`] in the room, behind a card where one is named.
    fn say(&self, words: &str, behind: Option<&str>) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Answers a person. Of an answer in several pieces each comes by itself.
    fn reply(&self, to: &Self::To, reply: Piece<'_>) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Waits for what people say behind a position, for half a minute or so; without one it does not wait, and finds the position from
    /// where on to listen. Only what persons say for themselves in the room
    /// counts: nothing forwarded, edited, said by a machine, or said elsewhere. `cards` are the messages, as [`Channel::post`] named
    /// them, that people may have answered meanwhile: a service may keep what is said behind a message apart from the rest.
    fn listen(
        &self,
        since: Option<&str>,
        cards: &[String],
    ) -> impl Future<Output = Result<Heard<Self::To>, Failure>> + Send;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chat::card::tests::held;

    fn shown(command: &str) -> Shown {
        let card = Card { offers_session: true, ..held(command) };
        Shown { card: Arc::new(card), over: None, version: 1, only: None, is_quiet: false, since_boot_ms: 0 }
    }

    #[test]
    fn a_message_offers_what_can_be_said_and_no_more() {
        let open = message(&shown("curl x"), 0, 0, 44, false);
        assert_eq!(open.buttons, [Button::Approve, Button::Session, Button::Deny]);
        assert!(open.foot.contains("by 00:01:00Z, it is denied"), "{}", open.foot);
        let folded = message(&shown(&"x".repeat(9000)), 0, 0, 44, false);
        assert_eq!(folded.buttons, [Button::Approve, Button::Deny, Button::Show], "not for more than once, unseen");
        let over = Shown { over: Some("Approved by ann".to_owned()), ..shown("curl x") };
        let over = message(&over, 0, 0, 44, false);
        let id = held("x").id;
        assert_eq!((over.buttons.len(), over.foot), (0, format!("Approved by ann ({id})")));
    }

    /// What is asked stands where nothing is cut, and what is cut is never approved for later.
    #[test]
    fn where_a_message_is_cut_it_says_so() {
        let mut card =
            Card { offers_session: true, outage: true, cwd: Some("\u{10400}".repeat(900)), ..held("x --version") };
        card.forecast.container_says = vec!["w".repeat(300); 20];
        let of = |card: Card| {
            message(
                &Shown { card: Arc::new(card), over: None, version: 1, only: None, is_quiet: false, since_boot_ms: 0 },
                0,
                0,
                44,
                false,
            )
        };
        let asked = of(card.clone());
        assert!(asked.parts.head.contains("go on without it"), "{}", asked.parts.head);
        assert_eq!(asked.buttons, [Button::GoOn, Button::Deny, Button::Show]);
        card.outage = false;
        let cut = of(card);
        assert!(cut.parts.folded && cut.foot.contains("Not all of it is shown"), "{}", cut.foot);
        assert_eq!(cut.buttons, [Button::Approve, Button::Deny, Button::Show]);
    }

    #[test]
    fn a_message_is_never_longer_than_a_service_takes() {
        for command in [
            "x".repeat(60_000),
            "y\n".repeat(5000),
            "\u{1F600}".repeat(9000),
            "z ".repeat(30_000),
            // What is shown is longer than what is asked.
            "\u{200b}".repeat(520),
            "\u{1}".repeat(1500),
            "\u{441}a".repeat(350),
            "a\u{300}".repeat(700),
            format!("curl -d '{}' x", "\t".repeat(1500)),
            format!("curl -d '{}' x", "d ".repeat(760)),
            "\u{5d0}".repeat(1500),
        ] {
            let mut long = held(&command);
            long.reason = "\u{1F600}\u{200b}".repeat(400);
            long.cwd = Some("\u{10400}".repeat(900));
            long.forecast.container_says = vec!["w".repeat(300); 100];
            let long =
                Shown { card: Arc::new(long), over: None, version: 1, only: None, is_quiet: false, since_boot_ms: 0 };
            let message = message(&long, 0, 0, 44, false);
            let all: usize = [&message.parts.head, &message.parts.command, &message.parts.about, &message.foot]
                .map(|text| text.encode_utf16().count())
                .iter()
                .sum();
            assert!(all < 3950, "{all}");
            assert!(
                !message.buttons.contains(&Button::Session) && message.buttons.contains(&Button::Show),
                "{command:.20}"
            );
            assert!(message.parts.command.lines().all(|line| line.chars().count() < 44), "{}", message.parts.command);
        }
    }
}
