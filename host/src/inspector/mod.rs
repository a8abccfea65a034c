//! The inspector: a second opinion on what the table does not settle.
//!
//! Every inspection starts with the offline rules; a language model can only make the finding stricter. Anything but a
//! clear answer is no answer, and no answer is never an allow.

pub mod anthropic;
mod cache;
mod canary;
mod draft;
mod http;
pub mod offline;
pub mod openai;
pub mod prompt;
mod reach;
mod recipes;
pub mod replaced;
mod reply;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bashgate_shared::draft::ScriptDraft;
use tokio::sync::Semaphore;

use crate::policy::Finding;
pub use http::{Endpoint, Key, Tokens};
pub use prompt::{Brief, ReadAlone};

/// Something that looks at a command and says what it thinks of it.
pub trait Inspector: Send + Sync {
    /// Looks at one command. Ends within its own deadline.
    fn inspect<'a>(&'a self, brief: &'a Brief) -> Pin<Box<dyn Future<Output = Finding> + Send + 'a>>;

    /// Writes the script that is asked for, or says why it does not. Ends within four times its own deadline.
    fn write<'a>(&'a self, draft: &'a ScriptDraft)
    -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

    /// Its name and model, for cache keys and records.
    fn name(&self) -> &str;

    /// The tokens that it has read and written so far, as its endpoint counts them.
    fn tokens(&self) -> [u64; 2];
}

/// The inspector that the host asks: offline rules first, then a model, behind a cache. A model that is out is left alone
/// for a while.
pub struct Panel {
    model: Option<Arc<dyn Inspector>>,
    cache: cache::Cache,
    canary: canary::Canary,
}

impl Panel {
    /// A panel of the offline rules and, if there is one, a model.
    pub fn new(model: Option<Arc<dyn Inspector>>) -> Self {
        Self { model, cache: cache::Cache::default(), canary: canary::Canary::default() }
    }

    /// The finding of the offline rules, when no model has to be asked any more.
    pub fn at_once(&self, brief: &Brief) -> Option<Finding> {
        let offline = offline::inspect(brief);
        match (&offline, &self.model) {
            (Finding::Clear { .. } | Finding::NoAnswer { .. }, Some(model)) => {
                self.cache.get(&brief.cache_key(model.name())).map(|reason| Finding::Clear { reason })
            }
            _ => Some(offline),
        }
    }

    /// How often the model has answered anything.
    pub fn answers(&self) -> u64 {
        self.canary.answers()
    }

    /// Whether there is a model, which can write as well.
    pub const fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Has the model write a script. `turn` limits how many calls of one workspace run at once.
    pub async fn write(&self, draft: &ScriptDraft, turn: &Semaphore) -> Result<String, String> {
        let Some(model) = &self.model else { return Err("there is no model".to_owned()) };
        let Ok(_turn) = turn.acquire().await else { return Err("the host is shutting down".to_owned()) };
        model.write(draft).await
    }

    /// Asks the model. `turn` limits how many calls of one workspace run at once.
    pub async fn ask(&self, brief: &Brief, turn: &Semaphore) -> Finding {
        let Some(model) = &self.model else { return offline::inspect(brief) };
        if let Some(why) = self.canary.is_out() {
            return Finding::Unavailable { why };
        }
        if self.canary.must_be_tried()
            && let Some(why) = self.canary.ask(model).await
        {
            return Finding::Unavailable { why };
        }
        let Ok(turn) = turn.acquire().await else {
            return Finding::Unavailable { why: "the host is shutting down".to_owned() };
        };
        let finding = model.inspect(brief).await;
        if matches!(finding, Finding::Clear { .. } | Finding::Flagged { .. } | Finding::NoAnswer { .. }) {
            self.canary.answered();
        }
        match finding {
            Finding::Clear { ref reason } if brief.is_cacheable() => {
                self.cache.put(brief.cache_key(model.name()), reason.clone());
                finding
            }
            // It may be this command's doing. The permit is given back: others need not wait for that.
            Finding::Unavailable { why } => {
                drop(turn);
                match self.canary.ask(model).await {
                    Some(_) => Finding::Unavailable { why },
                    None => Finding::NoAnswer { why },
                }
            }
            _ => finding,
        }
    }
}

/// A model that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("the inspector cannot be set up: {0}")]
pub struct InspectorError(String);

/// The model that a configuration names, if it names one.
pub fn model(kind: &crate::config::InspectorKind) -> Result<Option<Arc<dyn Inspector>>, InspectorError> {
    use crate::config::InspectorKind;
    match kind {
        InspectorKind::Offline => Ok(None),
        InspectorKind::Anthropic(endpoint) => {
            Ok(Some(Arc::new(anthropic::Anthropic::new(endpoint.clone()).map_err(InspectorError)?)))
        }
        InspectorKind::OpenAi(endpoint) => {
            Ok(Some(Arc::new(openai::OpenAi::new(endpoint.clone()).map_err(InspectorError)?)))
        }
    }
}
