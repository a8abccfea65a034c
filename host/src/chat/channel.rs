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
}

/// A button under a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Button {
    /// Let it run once.
    Approve,
    /// Let this text run until the taint changes.
    Session,
    /// Do not let it run.
    Deny,
    /// Show all of it.
    Show,
}

impl Button {
    /// What stands on it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Approve => "Approve once",
            Self::Session => "Approve until the taint changes",
            Self::Deny => "Deny",
            Self::Show => "Show all of it",
        }
    }

    /// The words that it stands for.
    pub fn words(self, id: &ApprovalId) -> String {
        match self {
            Self::Approve => format!("approve {id}"),
            Self::Session => format!("approve {id} session"),
            Self::Deny => format!("deny {id}"),
            Self::Show => format!("show {id}"),
        }
    }
}

/// What a channel shows of a card, with lines of at most so many columns.
pub fn message(shown: &Shown, now_boot_ms: u64, now_unix_ms: u64, width: usize) -> Message {
    let card: &Card = &shown.card;
    let mut parts = card::parts(card, Room::MESSAGE);
    parts.command = columns::fit_to(parts.command.trim_end_matches('\n'), width);
    parts.about = columns::fit_to(&short(&parts.about, &card.id), width);
    if let Some(over) = &shown.over {
        return Message { id: card.id.clone(), parts, foot: one_line(over, 600), buttons: Vec::new() };
    }
    let left = card.expires_boot_ms.saturating_sub(now_boot_ms);
    let until = crate::clock::date(now_unix_ms + left);
    let mut foot =
        format!("approve {0} or deny {0}. If nobody answers by {1}, it is denied.", card.id, time_of(&until));
    let mut buttons = vec![Button::Approve, Button::Deny];
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
    }
    Message { id: card.id.clone(), parts, foot, buttons }
}

/// Most bytes of what stands behind a command, in a message.
const MOST_ABOUT: usize = 1600;

/// The time of day of a date.
fn time_of(date: &str) -> &str {
    date.split_once(' ').map_or(date, |(_, time)| time)
}

/// What stands behind the command, as far as there is room for it.
fn short(about: &str, id: &ApprovalId) -> String {
    if about.len() <= MOST_ABOUT {
        return about.to_owned();
    }
    let lines: Vec<&str> = about.lines().collect();
    let mut used = 0;
    let fitting = lines.iter().take_while(|line| {
        used += line.len() + 1;
        used <= MOST_ABOUT
    });
    let shown = fitting.count();
    let kept = lines.get(..shown).unwrap_or_default().join("\n");
    format!("{kept}\n  ({} more lines about it: show {id})", lines.len() - shown)
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

    /// Gets ready: checks that the credential and the room are usable. Called until it succeeds.
    fn begin(&self) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Shows a card. Gives back the service's id of the message. Showing the same version again may show it once only, where
    /// the service knows how.
    fn post(&self, message: &Message, version: u64) -> impl Future<Output = Result<String, Failure>> + Send;

    /// Changes a card that was shown.
    fn change(&self, posted: &str, message: &Message, version: u64)
    -> impl Future<Output = Result<(), Failure>> + Send;

    /// Says something in the room, behind a card where one is named.
    fn say(&self, words: &str, behind: Option<&str>) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Answers a person.
    fn reply(&self, to: &Self::To, done: bool, words: &str) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Waits for what people say behind a position, for half a minute or so. Only what persons say for themselves in the room
    /// counts: nothing forwarded, edited, said by a machine, or said elsewhere.
    fn listen(&self, since: Option<&str>) -> impl Future<Output = Result<Heard<Self::To>, Failure>> + Send;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chat::card::tests::held;

    fn shown(command: &str) -> Shown {
        let card = Card { offers_session: true, ..held(command) };
        Shown { card: Arc::new(card), over: None, version: 1, only: None, is_quiet: false }
    }

    #[test]
    fn a_message_offers_what_can_be_said_and_no_more() {
        let open = message(&shown("curl x"), 0, 0, 44);
        assert_eq!(open.buttons, [Button::Approve, Button::Session, Button::Deny]);
        assert!(open.foot.contains("by 00:01:00Z, it is denied"), "{}", open.foot);
        let folded = message(&shown(&"x".repeat(9000)), 0, 0, 44);
        assert_eq!(folded.buttons, [Button::Approve, Button::Deny, Button::Show], "not for more than once, unseen");
        let over = Shown { over: Some("Approved by ann".to_owned()), ..shown("curl x") };
        let over = message(&over, 0, 0, 44);
        assert_eq!((over.buttons.len(), over.foot.as_str()), (0, "Approved by ann"));
    }

    #[test]
    fn a_message_is_never_longer_than_a_service_takes() {
        for command in ["x".repeat(60_000), "y\n".repeat(5000), "\u{1F600}".repeat(9000), "z ".repeat(30_000)] {
            let mut long = held(&command);
            long.forecast.container_says = vec!["w".repeat(300); 100];
            let long = Shown { card: Arc::new(long), over: None, version: 1, only: None, is_quiet: false };
            let message = message(&long, 0, 0, 44);
            let all: usize = [&message.parts.head, &message.parts.command, &message.parts.about, &message.foot]
                .map(|text| text.encode_utf16().count())
                .iter()
                .sum();
            assert!(all < 3900, "{all}");
            assert!(message.parts.command.lines().all(|line| line.chars().count() < 44), "{}", message.parts.command);
        }
    }
}
