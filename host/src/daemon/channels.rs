//! Which channels a host talks through: its terminal when it has one, the log otherwise.

use std::io::IsTerminal as _;

use crate::chat::{Journal, Terminal, Watcher};

/// The channels of this process.
pub(super) fn channels(show_decisions: bool) -> Vec<Box<dyn Watcher>> {
    if std::io::stdin().is_terminal() || show_decisions {
        vec![Box::new(Terminal::new(show_decisions))]
    } else {
        vec![Box::new(Journal)]
    }
}
