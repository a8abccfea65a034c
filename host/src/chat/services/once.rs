//! Messages that are heard once, whichever way and however often they come.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Most messages that are remembered for having been heard.
const MOST: usize = 4096;

/// What was heard in this run, by what the service orders its messages by.
pub(super) struct Once<T> {
    heard: Mutex<BTreeSet<T>>,
    /// What is not behind this was dealt with in an earlier run.
    floor: OnceLock<T>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { heard: Mutex::default(), floor: OnceLock::new() }
    }
}

impl<T: Ord> Once<T> {
    /// This run begins behind a message. Only the first word on it counts.
    pub(super) fn begins_behind(&self, floor: T) {
        let _ = self.floor.set(floor);
    }

    /// True the first time, for what is behind the beginning.
    pub(super) fn is_new(&self, message: T) -> bool {
        if self.floor.get().is_none_or(|floor| message <= *floor) {
            return false;
        }
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() >= MOST {
            heard.pop_first();
        }
        heard.insert(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_new_once_and_behind_the_beginning() {
        let once = Once::default();
        assert!(!once.is_new(5), "before it has begun");
        once.begins_behind(5);
        once.begins_behind(9);
        assert_eq!([5, 4, 7, 6, 7].map(|message| once.is_new(message)), [false, false, true, true, false]);
    }
}
