//! What goes on, told to a client that wants to hear it.
#![expect(deprecated, reason = "the coming revision has no logging; clients of those in use ask for it")]

use std::sync::Mutex;

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ServerCapabilities, SetLevelRequestParams};
use rmcp::service::{RequestContext, RoleServer};

use super::held;

/// A client's word from which level on it wants to hear something.
pub(super) type SetLevel = SetLevelRequestParams;

/// How much a message weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Worth knowing.
    Info,
    /// Something did not work out.
    Warning,
}

/// From which level on a client hears something; nothing before it says so.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Option<u8>>);

/// What this server can do.
pub(super) fn capabilities() -> ServerCapabilities {
    ServerCapabilities::builder().enable_tools().enable_logging().build()
}

const fn number(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

impl Log {
    /// The client has said so.
    pub(super) fn set(&self, said: &SetLevel) {
        *held(&self.0) = Some(number(said.level));
    }

    /// Tells the client, if it wants to hear it.
    pub(super) async fn say(&self, context: &RequestContext<RoleServer>, weight: Weight, text: String) {
        let level = match weight {
            Weight::Info => LoggingLevel::Info,
            Weight::Warning => LoggingLevel::Warning,
        };
        let least = *held(&self.0);
        if least.is_some_and(|least| number(level) >= least) {
            let message = LoggingMessageNotificationParam::new(level, text.into()).with_logger("bashgate-run");
            let _ = context.peer.notify_logging_message(message).await;
        }
    }
}
