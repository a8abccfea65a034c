//! Is the model there at all? A harmless question of our own says so.
//!
//! A call that fails may fail because of what was asked: an agent can write a command that a gateway refuses, or that makes
//! a model think too long. So a failure alone is no outage, and no agent's question is what tries a model that was out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::{Brief, Inspector};
use crate::policy::Finding;

/// How long an answer to the harmless question counts.
const FRESH: Duration = Duration::from_secs(2);
/// How long nobody asks a model that did not answer it.
const PAUSE: Duration = Duration::from_secs(5);

/// What came of the harmless question: why the model is out, if it is; `None` while it is being asked.
type Answer = Option<Option<String>>;

#[derive(Default)]
struct State {
    /// When it was asked last, and why the model did not answer, if it did not.
    last: Option<(Instant, Option<String>)>,
    /// The question that is being asked.
    asking: Option<watch::Receiver<Answer>>,
    /// How often the model has answered anything.
    answers: u64,
}

/// Shared by everybody who waits: nobody's leaving ends the question.
#[derive(Clone, Default)]
pub(super) struct Canary(Arc<Mutex<State>>);

impl Canary {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the model is out, if it is known to be: nobody is asked for a while.
    pub(super) fn is_out(&self) -> Option<String> {
        let (at, failure) = self.state().last.clone()?;
        failure.filter(|_| at.elapsed() < PAUSE)
    }

    /// True when it was out the last time, and it is time to see whether it still is.
    pub(super) fn must_be_tried(&self) -> bool {
        self.state().last.as_ref().is_some_and(|(at, failure)| failure.is_some() && at.elapsed() >= PAUSE)
    }

    /// How often the model has answered anything, this question or another.
    pub(super) fn answers(&self) -> u64 {
        self.state().answers
    }

    /// The model answered somebody.
    pub(super) fn answered(&self) {
        self.state().answers += 1;
    }

    /// Asks the harmless question, or waits for the answer to the one that is being asked: why the model is out, if it is.
    pub(super) async fn ask(&self, model: &Arc<dyn Inspector>) -> Option<String> {
        let mut answer = {
            let mut state = self.state();
            if let Some((_, failure)) = state.last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
                return failure.clone();
            }
            if let Some(asking) = &state.asking {
                asking.clone()
            } else {
                let (sender, receiver) = watch::channel(None);
                state.asking = Some(receiver.clone());
                tokio::spawn(self.clone().put(model.clone(), sender));
                receiver
            }
        };
        let answered = answer.wait_for(Option::is_some).await;
        answered.map_or_else(|_| Some("the host is shutting down".to_owned()), |answer| answer.clone().flatten())
    }

    async fn put(self, model: Arc<dyn Inspector>, sender: watch::Sender<Answer>) {
        let failure = match model.inspect(&Brief::harmless()).await {
            Finding::Unavailable { why } => Some(why),
            Finding::Clear { .. } | Finding::Flagged { .. } | Finding::NoAnswer { .. } => None,
        };
        {
            let mut state = self.state();
            state.answers += u64::from(failure.is_none());
            state.last = Some((Instant::now(), failure.clone()));
            state.asking = None;
        }
        let _ = sender.send(Some(failure));
    }
}
