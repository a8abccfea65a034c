//! The circuit breaker: after some failures in a row nobody waits for the model for a while.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Failures in a row that open the circuit, and for how long.
const FAILURES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct Breaker {
    state: Mutex<(u32, Option<Instant>)>,
}

impl Breaker {
    fn with<T>(&self, change: impl FnOnce(&mut (u32, Option<Instant>)) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Why nobody is asked right now, if so. When the pause is over, one call may try again.
    pub(super) fn is_open(&self) -> Option<String> {
        self.with(|(failures, until)| match until {
            Some(when) if *when > Instant::now() => {
                Some(format!("it failed {failures} times in a row and is left alone for a while"))
            }
            Some(_) => {
                *until = None;
                None
            }
            None => None,
        })
    }

    pub(super) fn succeeded(&self) {
        self.with(|state| *state = (0, None));
    }

    pub(super) fn failed(&self) {
        self.with(|(failures, until)| {
            *failures += 1;
            if *failures >= FAILURES {
                *until = Some(Instant::now() + PAUSE);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_it_and_a_success_closes_it() {
        let breaker = Breaker::default();
        for _ in 1..FAILURES {
            breaker.failed();
            assert!(breaker.is_open().is_none());
        }
        breaker.failed();
        assert!(breaker.is_open().is_some());
        breaker.succeeded();
        assert!(breaker.is_open().is_none());
    }
}
