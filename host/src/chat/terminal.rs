//! The terminal of `serve` and `demo`: notices on standard error, answers on standard input.

use std::io::{BufRead as _, IsTerminal as _};

use super::notice::{self, Notice};
use super::{Watcher, tones};
use crate::authority::Person;
use crate::clock;
use crate::control;
use bashgate_shared::say_aside;

/// Prints notices.
pub struct Terminal {
    decisions: bool,
    owner: Person,
}

/// Who sits at the terminal.
pub fn owner() -> Person {
    Person::named(format!("terminal:{}", control::user_name(rustix::process::getuid().as_raw())))
}

impl Terminal {
    /// A terminal that shows held commands, and with `decisions` every decision as it falls.
    pub fn new(decisions: bool) -> Self {
        Self { decisions, owner: owner() }
    }
}

impl Watcher for Terminal {
    fn tell(&mut self, notice: &Notice) {
        let is_known = match notice {
            Notice::Decided(_) => !self.decisions,
            // Who answered here is told so as the reply.
            Notice::Over(_, became) => became.by.as_ref() == Some(&self.owner),
            _ => false,
        };
        if is_known {
            return;
        }
        let words = notice::words(notice, clock::now().boot_ms);
        say_aside!("{}", tones::for_stream(words, std::io::stderr().is_terminal()));
    }
}

/// Reads lines from standard input on a thread of its own, as long as somebody takes them.
///
/// Only a terminal is listened to: whoever can write to a pipe is not known to be a person.
pub fn listen(mut heard: impl FnMut(String) -> bool + Send + 'static) {
    if !std::io::stdin().is_terminal() {
        return;
    }
    let _ = std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let goes_on = line.is_ok_and(&mut heard);
            if !goes_on {
                return;
            }
        }
    });
}
