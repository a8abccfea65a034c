//! What keys do. A yes takes more than one key that may have been meant for something else: the card has to be open, all of it has to
//! have been on the screen, and for a moment after it appears or changes no key answers it.

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::Value;

use crate::chat::notice::one_line;
use crate::control::Reply;

/// How long a card that appears or changes takes no answer.
const SETTLES: Duration = Duration::from_secs(1);
/// Most letters of what the host says that stand in the last line.
const MOST_SAID: usize = 100;

/// What a key asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing of the host.
    Nothing,
    /// To end.
    End,
    /// All of a card.
    Open(String),
    /// To say these words, about this version of a card.
    Say(String, Option<u64>),
}

/// What is chosen and open.
#[derive(Default)]
pub(super) struct View {
    /// The id of the card that is chosen.
    chosen: Option<String>,
    /// The card that is open.
    pub(super) open: Option<Open>,
    /// What came of the last key, on one line.
    pub(super) said: String,
}

/// A card that is open.
pub(super) struct Open {
    pub(super) id: String,
    /// All that the host says of it.
    pub(super) text: String,
    /// The line that is shown first.
    pub(super) first: usize,
    /// Its last line was on the screen.
    pub(super) has_end_been_seen: bool,
    /// Nobody can answer it any more.
    pub(super) is_over: bool,
    /// The window is wide enough for its lines.
    lines_fit: bool,
    /// How far down it can be moved, and by how much at a time.
    last_first: usize,
    page: usize,
    since: Instant,
    /// Which version of it that is.
    version: Option<u64>,
}

impl Open {
    /// It is drawn with room for so many lines; nothing of it has been seen where they do not fit.
    pub(super) fn is_drawn(&mut self, room: usize, lines_fit: bool) {
        self.page = room.max(1);
        self.lines_fit = lines_fit;
        self.last_first = self.text.split('\n').count().saturating_sub(self.page);
        self.first = self.first.min(self.last_first);
        self.has_end_been_seen |= lines_fit && room > 0 && self.first == self.last_first;
    }

    fn moved(&mut self, to: usize) {
        self.first = to.min(self.last_first);
    }
}

/// A card without what changes by itself: how much time is left.
fn lasting(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.contains(" s left, then it is denied."))
}

impl View {
    /// Where the card that is chosen stands.
    pub(super) fn chosen(&self, held: &[Value]) -> Option<usize> {
        let at = |id: &str| held.iter().position(|card| id_of(card) == id);
        self.chosen.as_deref().and_then(at).or(if held.is_empty() { None } else { Some(0) })
    }

    /// The id of the card that is open and may change.
    pub(super) fn open_id(&self) -> Option<String> {
        self.open.as_ref().filter(|open| !open.is_over).map(|open| open.id.clone())
    }

    /// What the host says of the card that is, or is to be, open.
    pub(super) fn opened(&mut self, id: &str, card: &Reply, now: Instant) {
        let version = card.data.get("version").and_then(Value::as_u64);
        match &mut self.open {
            Some(open) if open.id == id => {
                if !card.ok {
                    open.is_over = true;
                    self.said = one_line(&card.text, MOST_SAID);
                } else if open.version == version && lasting(&open.text).eq(lasting(&card.text)) {
                    (open.text, open.version) = (card.text.clone(), version);
                } else {
                    (open.text, open.version) = (card.text.clone(), version);
                    (open.has_end_been_seen, open.first) = (false, 0);
                    open.since = now;
                    "It has changed.".clone_into(&mut self.said);
                }
            }
            _ if card.ok => {
                self.said.clear();
                self.open = Some(Open {
                    id: id.to_owned(),
                    text: card.text.clone(),
                    first: 0,
                    has_end_been_seen: false,
                    is_over: false,
                    lines_fit: true,
                    last_first: 0,
                    page: 1,
                    since: now,
                    version,
                });
            }
            _ => self.said = one_line(&card.text, MOST_SAID),
        }
    }

    /// What the host answers to what was said.
    pub(super) fn answered(&mut self, reply: &Reply) {
        self.said = one_line(&reply.text, MOST_SAID);
        if reply.ok {
            self.open = None;
        }
    }

    /// What a key asks for.
    pub(super) fn key(&mut self, key: KeyEvent, held: &[Value], now: Instant) -> Act {
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Act::End;
        }
        self.said.clear();
        match self.open.take() {
            Some(open) => self.key_on_card(key.code, open, now),
            None => self.key_on_list(key.code, held),
        }
    }

    fn key_on_list(&mut self, key: KeyCode, held: &[Value]) -> Act {
        let at = self.chosen(held);
        let id = |at: usize| held.get(at).map(|card| id_of(card).to_owned());
        match (key, at) {
            (KeyCode::Char('q') | KeyCode::Esc, _) => return Act::End,
            (KeyCode::Char('j') | KeyCode::Down, Some(at)) => self.chosen = id((at + 1).min(held.len() - 1)),
            (KeyCode::Char('k') | KeyCode::Up, Some(at)) => self.chosen = id(at.saturating_sub(1)),
            (KeyCode::Enter | KeyCode::Right, Some(at)) => {
                self.chosen = id(at);
                return id(at).map_or(Act::Nothing, Act::Open);
            }
            (KeyCode::Char('a' | 'd'), Some(_)) => "Enter opens it; it is answered there.".clone_into(&mut self.said),
            _ => {}
        }
        Act::Nothing
    }

    fn key_on_card(&mut self, key: KeyCode, mut open: Open, now: Instant) -> Act {
        let (first, page) = (open.first, open.page);
        let mut act = Act::Nothing;
        match key {
            KeyCode::Char('q') | KeyCode::Esc | KeyCode::Left => return Act::Nothing,
            KeyCode::Char('j') | KeyCode::Down => open.moved(first + 1),
            KeyCode::Char('k') | KeyCode::Up => open.moved(first.saturating_sub(1)),
            KeyCode::Char(' ') | KeyCode::PageDown => open.moved(first + page),
            KeyCode::PageUp => open.moved(first.saturating_sub(page)),
            KeyCode::Char('a' | 'd') if open.is_over => {}
            KeyCode::Char('a' | 'd') if now.duration_since(open.since) < SETTLES => {
                "It has only just appeared: once more, please.".clone_into(&mut self.said);
            }
            KeyCode::Char('a') if !open.lines_fit => {
                "This window is too narrow for its lines.".clone_into(&mut self.said);
            }
            KeyCode::Char('a') if !open.has_end_been_seen => {
                "Not all of it was on the screen yet: space goes on.".clone_into(&mut self.said);
            }
            KeyCode::Char('a') => act = Act::Say(format!("approve {}", open.id), open.version),
            KeyCode::Char('d') => act = Act::Say(format!("deny {}", open.id), None),
            _ => {}
        }
        self.open = Some(open);
        act
    }
}

fn id_of(card: &Value) -> &str {
    card.get("id").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn press(view: &mut View, code: KeyCode, held: &[Value], after: Duration) -> Act {
        view.key(KeyEvent::from(code), held, Instant::now() + after)
    }

    const LATER: Duration = Duration::from_secs(5);

    #[test]
    fn a_yes_takes_a_card_that_was_seen_to_its_end() {
        let held = [json!({"id": "aaaaaaaa"}), json!({"id": "bbbbbbbb"})];
        let mut view = View::default();
        let key = |view: &mut View, code| press(view, code, &held, LATER);
        assert_eq!(key(&mut view, KeyCode::Char('a')), Act::Nothing, "nothing is open");
        key(&mut view, KeyCode::Char('j'));
        assert_eq!(key(&mut view, KeyCode::Enter), Act::Open("bbbbbbbb".to_owned()));
        let card = |left: u32| {
            Reply::done(
                format!("Held\n{}  {left} s left, then it is denied.", "line\n".repeat(30)),
                json!({"version": 7}),
            )
        };
        view.opened("bbbbbbbb", &card(9), Instant::now());
        view.open.as_mut().unwrap().is_drawn(99, false);
        assert_eq!(key(&mut view, KeyCode::Char('a')), Act::Nothing, "its lines were cut");
        view.open.as_mut().unwrap().is_drawn(20, true);
        assert_eq!(key(&mut view, KeyCode::Char('a')), Act::Nothing, "its end was not seen");
        key(&mut view, KeyCode::Char(' '));
        view.open.as_mut().unwrap().is_drawn(20, true);
        assert_eq!(press(&mut view, KeyCode::Char('a'), &held, Duration::ZERO), Act::Nothing, "it has just appeared");
        assert_eq!(press(&mut view, KeyCode::Char('d'), &held, Duration::ZERO), Act::Nothing);
        // Only its time goes on: it is the same card.
        view.opened("bbbbbbbb", &card(8), Instant::now() + LATER);
        assert_eq!(key(&mut view, KeyCode::Char('a')), Act::Say("approve bbbbbbbb".to_owned(), Some(7)));
        assert_eq!(key(&mut view, KeyCode::Char('d')), Act::Say("deny bbbbbbbb".to_owned(), None));
        // Something else of it changes: it has to be seen anew.
        view.opened("bbbbbbbb", &Reply::done(format!("More\n{}", "line\n".repeat(60)), json!(null)), Instant::now());
        view.open.as_mut().unwrap().is_drawn(20, true);
        assert_eq!(key(&mut view, KeyCode::Char('a')), Act::Nothing);
        // It is over.
        view.opened("bbbbbbbb", &Reply::refused("it is over"), Instant::now());
        assert_eq!((key(&mut view, KeyCode::Char('d')), view.open_id()), (Act::Nothing, None));
        assert_eq!((key(&mut view, KeyCode::Esc), view.open.is_none()), (Act::Nothing, true));
        assert_eq!(key(&mut view, KeyCode::Char('q')), Act::End);
    }

    #[test]
    fn what_is_chosen_stays_chosen() {
        let [a, b, c] = ["a", "b", "c"].map(|id| json!({"id": id}));
        let mut view = View::default();
        assert_eq!(view.chosen(&[]), None);
        press(&mut view, KeyCode::Char('j'), &[a.clone(), b.clone()], LATER);
        // A card that lapses first is shown above.
        assert_eq!(view.chosen(&[c.clone(), a.clone(), b]), Some(2));
        assert_eq!(view.chosen(&[c, a]), Some(0), "and when it is over, the first one is");
        press(&mut view, KeyCode::Char('j'), &[], LATER);
    }
}
