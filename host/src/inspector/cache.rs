//! Remembered findings: only clear ones, for a while, for the very same question.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;

/// How long a clear finding counts, and how many are kept.
const LIFE: Duration = Duration::from_mins(10);
const MOST: usize = 4096;

#[derive(Default)]
pub(super) struct Cache {
    clear: Mutex<HashMap<Digest, (Instant, String)>>,
}

impl Cache {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<Digest, (Instant, String)>) -> T) -> T {
        change(&mut self.clear.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(super) fn get(&self, key: &Digest) -> Option<String> {
        self.with(|clear| clear.get(key).filter(|(since, _)| since.elapsed() < LIFE).map(|(_, reason)| reason.clone()))
    }

    pub(super) fn put(&self, key: Digest, reason: String) {
        self.with(|clear| {
            if clear.len() >= MOST {
                clear.retain(|_, (since, _)| since.elapsed() < LIFE);
            }
            if clear.len() < MOST {
                clear.insert(key, (Instant::now(), reason));
            }
        });
    }
}
