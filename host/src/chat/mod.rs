//! Talking with people: what they are told, and what they say.
//!
//! A channel implements [`Chat`]; the [`Desk`] tells all of them. All wording is in [`notice`], what counts as an
//! answer in [`grammar`]. Matrix, Slack, Telegram, Discord and a web page dock here.

pub mod card;
pub mod columns;
pub mod grammar;
mod journal;
pub mod notice;
mod terminal;

pub use journal::Journal;
pub use notice::Notice;
pub use terminal::{Terminal, listen};

/// A channel to people.
pub trait Chat: Send {
    /// Tells people something. A channel that fails says so in the log; the command stays held.
    fn tell(&mut self, notice: &Notice);
}

/// All channels.
#[derive(Default)]
pub struct Desk {
    channels: Vec<Box<dyn Chat>>,
}

impl Desk {
    /// Adds a channel.
    pub fn add(&mut self, channel: Box<dyn Chat>) {
        self.channels.push(channel);
    }

    /// Tells every channel.
    pub fn tell(&mut self, notice: &Notice) {
        for channel in &mut self.channels {
            channel.tell(notice);
        }
    }
}
