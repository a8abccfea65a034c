//! What the tests and benches share: a site with the real host and hook, a model server that can misbehave, and
//! waiting for events instead of sleeping.

pub mod clients;
mod corpora;
mod dice;
pub mod http;
mod model;
mod postgres;
mod site;

pub use corpora::{commands_of, corpora, corpus_files, lines_of, rows_of};
pub use dice::Dice;
pub use model::{Fault, Model};
pub use postgres::Postgres;
pub use site::{Host, Killed, Output, Site, bin, built, hook, repository, runner};

use std::time::{Duration, Instant};

/// Longest wait for anything in a test: a machine whose disk is busy takes its time.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Looks again and again until something is there, and fails the test when it does not come.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Lets so much time pass. A parked thread may wake up early.
pub fn pause(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
    }
}

/// How often something random is done: a few times, and very often under `make soak`.
pub fn rounds(usually: usize, in_soak: usize) -> usize {
    if std::env::var_os("BASHGATE_SOAK").is_some() { in_soak } else { usually }
}
