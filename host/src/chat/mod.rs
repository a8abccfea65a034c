//! Talking with people: what they are told, and what they say.
//!
//! All wording is in [`notice`] and [`card`], what counts as an answer in [`grammar`]. The host's own terminal and log are
//! [`Watcher`]s: they are told what happens as it happens. Everybody else is reached through a [`channel`]: the [`Desk`] puts
//! cards up on a [`board`], and each channel brings what it has shown up to it ([`link`]).

pub mod board;
pub mod card;
pub mod channel;
pub mod columns;
pub mod grammar;
mod hours;
mod journal;
pub mod link;
mod memory;
pub mod notice;
mod services;
pub mod settings;
mod terminal;
pub mod tones;

pub use board::Board;
pub use journal::Journal;
pub use notice::Notice;
pub use terminal::{Terminal, listen, owner};

/// Somebody at the host itself, who is told everything as it happens.
pub trait Watcher: Send {
    /// Tells it. One that fails says so in the log; the command stays held.
    fn tell(&mut self, notice: &Notice);
}

/// All who are told.
#[derive(Default)]
pub struct Desk {
    watchers: Vec<Box<dyn Watcher>>,
    board: Board,
}

impl Desk {
    /// Adds a watcher.
    pub fn add(&mut self, watcher: Box<dyn Watcher>) {
        self.watchers.push(watcher);
    }

    /// What channels show.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Tells everybody.
    pub fn tell(&mut self, notice: &Notice) {
        for watcher in &mut self.watchers {
            watcher.tell(notice);
        }
        if let Notice::Held(card) = notice {
            self.board.put((**card).clone());
        } else {
            self.note(notice);
        }
    }

    /// Notes on the board what nobody is told of by itself.
    pub fn note(&mut self, notice: &Notice) {
        match notice {
            Notice::Held(card) => self.board.put_quietly((**card).clone()),
            Notice::Advice(id, words) => self.board.renew(id, |card| card.advice = Some(words.clone())),
            Notice::Joined { id, waiting, expires_boot_ms, command } => self.board.renew(id, |card| {
                (card.waiting, card.expires_boot_ms) = (*waiting, *expires_boot_ms);
                if let Some(command) = command {
                    card.waits_too(command);
                }
            }),
            Notice::Over(id, became) => self.board.end(id, &became.words),
            Notice::Flood { workspace, .. } => self.board.remark(workspace, &notice::words(notice, 0)),
            // Decisions are many; replies go to who asked.
            Notice::Decided(_) | Notice::Reply(_) => {}
        }
    }
}
