//! Is the model there at all? A harmless question of our own says so.
//!
//! A call that fails may fail because of what was asked: an agent can write a command that a gateway refuses, or that makes
//! a model think too long. So a failure alone is no outage, and no agent's question is what tries a model that was out.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::{Brief, Inspector};
use crate::policy::Finding;

/// How long an answer to the harmless question counts.
const FRESH: Duration = Duration::from_secs(2);
/// How long nobody asks a model that did not answer it.
const PAUSE: Duration = Duration::from_secs(5);

/// When it was asked last, and why it did not answer, if it did not.
type Last = Option<(Instant, Option<String>)>;

#[derive(Default)]
pub(super) struct Canary {
    last: Mutex<Last>,
    /// One question at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Canary {
    fn last(&self) -> Last {
        self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Why the model is out, if it is known to be: nobody is asked for a while.
    pub(super) fn is_out(&self) -> Option<String> {
        let (at, failure) = self.last()?;
        failure.filter(|_| at.elapsed() < PAUSE)
    }

    /// True when it was out the last time, and it is time to see whether it still is.
    pub(super) fn must_be_tried(&self) -> bool {
        self.last().is_some_and(|(at, failure)| failure.is_some() && at.elapsed() >= PAUSE)
    }

    /// Asks the harmless question: why the model is out, if it is.
    pub(super) async fn ask(&self, model: &dyn Inspector) -> Option<String> {
        let _turn = self.turn.lock().await;
        if let Some((_, failure)) = self.last().filter(|(at, _)| at.elapsed() < FRESH) {
            return failure;
        }
        let failure = match model.inspect(&Brief::harmless()).await {
            Finding::Unavailable { why } => Some(why),
            Finding::Clear { .. } | Finding::Flagged { .. } | Finding::NoAnswer { .. } => None,
        };
        let now = Some((Instant::now(), failure.clone()));
        *self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = now;
        failure
    }
}
