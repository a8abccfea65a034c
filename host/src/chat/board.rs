//! What people see of held commands at this moment: the cards that were told, each open or over, and a few remarks.
//!
//! A channel brings what it has shown up to what stands here, whenever it can. One that was away for an hour shows what is
//! held now and changes what it had shown before; nothing queues up for it, and nobody waits for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bashgate_shared::protocol::WorkspaceName;
use serde::Serialize;
use tokio::sync::watch;

use crate::approval::{ApprovalId, Card};
use crate::clock;

/// Most cards that are over and still kept, for channels that have not changed theirs.
const MOST_OVER: usize = 1024;
/// How long behind its time a card is over without a word, in milliseconds.
const LATE_MS: u64 = 10_000;
/// Most remarks that are kept for channels that are away.
const MOST_REMARKS: usize = 16;

/// A card as it stands now.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The card.
    pub card: Arc<Card>,
    /// What became of it, in words; `None` while it can be answered.
    pub over: Option<String>,
    /// Grows with each change.
    pub version: u64,
    /// The only channel that shows it, for a test of that one.
    pub only: Option<String>,
    /// Nobody is told of it one by one: its workspace is muted, or asks too much.
    pub is_quiet: bool,
    /// Since when it is up, in milliseconds since boot.
    pub since_boot_ms: u64,
}

/// Words that belong to no card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Grows with each remark.
    pub number: u64,
    /// The workspace that it is about.
    pub workspace: WorkspaceName,
    /// The words.
    pub words: String,
}

/// Something that is let through without being asked about, as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ahead {
    /// By this it can be ended.
    pub id: ApprovalId,
    /// The workspace.
    pub workspace: WorkspaceName,
    /// What, by whom, for how long: on one line.
    pub words: String,
    /// Whether it ends by itself: then that is told.
    #[serde(skip)]
    pub is_for_a_time: bool,
}

#[derive(Debug, Default)]
struct Everything {
    ahead: Vec<Ahead>,
    cards: BTreeMap<ApprovalId, Shown>,
    /// Cards that are over, the oldest first.
    over: VecDeque<ApprovalId>,
    remarks: VecDeque<Remark>,
    /// How many remarks there have been.
    remarked: u64,
    version: u64,
}

/// The board. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Board {
    everything: Arc<Mutex<Everything>>,
    changed: watch::Sender<u64>,
}

impl Default for Board {
    fn default() -> Self {
        Self { everything: Arc::default(), changed: watch::Sender::new(0) }
    }
}

impl Board {
    /// Puts a card up, or renews one that is there.
    pub fn put(&self, card: Card) {
        self.put_up(card, None, false);
    }

    /// Puts a card up of which nobody is told by itself.
    pub fn put_quietly(&self, card: Card) {
        self.put_up(card, None, true);
    }

    /// Puts a card up for one channel only.
    pub fn put_for(&self, channel: &str, card: Card) {
        self.put_up(card, Some(channel.to_owned()), false);
    }

    fn put_up(&self, card: Card, only: Option<String>, is_quiet: bool) {
        self.change(|all| {
            let version = all.version;
            let id = card.id.clone();
            all.over.retain(|over| *over != id);
            // What comes up again was seen before.
            let before = all.cards.get(&id).filter(|shown| shown.over.is_none());
            let since_boot_ms = before.map_or_else(|| clock::now().boot_ms, |shown| shown.since_boot_ms);
            // What is only told now has not changed for who sees it already.
            let version = before.filter(|shown| *shown.card == card).map_or(version, |shown| shown.version);
            all.cards.insert(id, Shown { card: Arc::new(card), over: None, version, only, is_quiet, since_boot_ms });
        });
    }

    /// Changes a card that is there and open.
    pub fn renew(&self, id: &ApprovalId, change: impl FnOnce(&mut Card)) {
        self.change(|all| {
            let version = all.version;
            if let Some(shown) = all.cards.get_mut(id).filter(|shown| shown.over.is_none()) {
                change(Arc::make_mut(&mut shown.card));
                shown.version = version;
            }
        });
    }

    /// A card is over. What became of it first stays.
    pub fn end(&self, id: &ApprovalId, what: &str) {
        self.change(|all| {
            let version = all.version;
            let Some(shown) = all.cards.get_mut(id).filter(|shown| shown.over.is_none()) else { return };
            shown.over = Some(what.to_owned());
            shown.version = version;
            all.over.push_back(id.clone());
            while all.over.len() > MOST_OVER {
                if let Some(oldest) = all.over.pop_front() {
                    all.cards.remove(&oldest);
                }
            }
        });
    }

    /// Cards whose time was over a while ago, and of which nobody has said what became of them, are over.
    pub fn lapse(&self, now_boot_ms: u64) {
        let late = |shown: &&Shown| shown.over.is_none() && shown.card.expires_boot_ms + LATE_MS < now_boot_ms;
        let late: Vec<ApprovalId> =
            self.with(|all| all.cards.values().filter(late).map(|shown| shown.card.id.clone()).collect());
        for id in late {
            self.end(&id, "No longer held");
        }
    }

    /// Says something that belongs to no card.
    pub fn remark(&self, workspace: &WorkspaceName, words: &str) {
        self.change(|all| {
            all.remarked += 1;
            let number = all.remarked;
            all.remarks.push_back(Remark { number, workspace: workspace.clone(), words: words.to_owned() });
            while all.remarks.len() > MOST_REMARKS {
                all.remarks.pop_front();
            }
        });
    }

    /// What is let through ahead from now on.
    pub fn lets_ahead(&self, ahead: Vec<Ahead>) {
        if self.ahead() != ahead {
            self.change(|all| all.ahead = ahead);
        }
    }

    /// What is let through ahead.
    pub fn ahead(&self) -> Vec<Ahead> {
        self.with(|all| all.ahead.clone())
    }

    /// All cards.
    pub fn cards(&self) -> Vec<Shown> {
        self.with(|all| all.cards.values().cloned().collect())
    }

    /// Cards that can be answered and of which nobody was told by itself, what lapses first in front.
    pub fn quiet(&self) -> Vec<ApprovalId> {
        self.with(|all| {
            let quiet = all.cards.values().filter(|shown| shown.is_quiet && shown.over.is_none());
            let mut quiet: Vec<(u64, ApprovalId)> =
                quiet.map(|shown| (shown.card.expires_boot_ms, shown.card.id.clone())).collect();
            quiet.sort();
            quiet.into_iter().map(|(_, id)| id).collect()
        })
    }

    /// One card.
    pub fn card(&self, id: &ApprovalId) -> Option<Shown> {
        self.with(|all| all.cards.get(id).cloned())
    }

    /// The remarks behind this one, and how many there have been.
    pub fn remarks(&self, since: u64) -> (Vec<Remark>, u64) {
        self.with(|all| (all.remarks.iter().filter(|remark| remark.number > since).cloned().collect(), all.remarked))
    }

    /// Says when something changed.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut Everything)) {
        let version = self.with(|all| {
            all.version += 1;
            change(all);
            all.version
        });
        self.changed.send_replace(version);
    }

    fn with<T>(&self, act: impl FnOnce(&mut Everything) -> T) -> T {
        // What a thread that panicked left is whole: no change stops half way.
        act(&mut self.everything.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::card::tests::held;

    #[test]
    fn a_card_is_put_up_changed_and_over_once() {
        let board = Board::default();
        let mut changes = board.watch();
        let card = held("curl x");
        board.put(card.clone());
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        board.renew(&card.id, |card| card.waiting = 3);
        let shown = board.card(&card.id).unwrap();
        assert_eq!((shown.card.waiting, shown.over.clone()), (3, None));
        board.end(&card.id, "Approved by ann");
        board.end(&card.id, "No longer held");
        board.renew(&card.id, |card| card.waiting = 9);
        let over = board.card(&card.id).unwrap();
        assert_eq!((over.card.waiting, over.over.as_deref()), (3, Some("Approved by ann")));
        assert!(over.version > shown.version && changes.has_changed().unwrap());
        board.put(Card { expires_boot_ms: 5, ..card.clone() });
        board.lapse(LATE_MS + 5);
        assert_eq!(board.card(&card.id).unwrap().over, None);
        board.lapse(LATE_MS + 6);
        assert!(board.card(&card.id).unwrap().over.is_some());
        // What comes back is open again.
        board.put(card.clone());
        assert_eq!(board.card(&card.id).unwrap().over, None);
    }

    #[test]
    fn what_is_over_and_what_was_said_is_kept_within_bounds() {
        let board = Board::default();
        for number in 0..MOST_OVER + 10 {
            let [.., high, low] = number.to_be_bytes();
            let bytes = [0, 0, 0, high, low];
            let card = Card { id: ApprovalId::from_random(bytes), ..held("x") };
            board.put(card.clone());
            board.end(&card.id, "over");
        }
        assert_eq!(board.cards().len(), MOST_OVER);
        let name = WorkspaceName::parse("web").unwrap();
        for number in 0..100 {
            board.remark(&name, &number.to_string());
        }
        let (said, last) = board.remarks(95);
        assert_eq!((said.len(), last), (5, 100));
        assert_eq!(board.remarks(0).0.len(), MOST_REMARKS);
    }
}
