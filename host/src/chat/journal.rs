//! The log as a channel, for a host without a terminal: held commands are warnings, decisions are information.

use super::Watcher;
use super::notice::{self, Notice};
use crate::clock;

/// Writes notices to the log.
pub struct Journal;

impl Watcher for Journal {
    fn tell(&mut self, notice: &Notice) {
        match notice {
            Notice::Held(card) => {
                tracing::warn!(workspace = %card.workspace, command = notice::what(card, 400), reason = card.reason, "held; approve with: bashgate approve {}", card.id);
            }
            Notice::Flood { .. } => tracing::warn!("{}", notice::words(notice, clock::now().boot_ms)),
            Notice::Decided(decided) if decided.let_through => {
                tracing::warn!("{}", notice::words(notice, clock::now().boot_ms));
            }
            Notice::Decided(decided) => {
                tracing::info!(
                    workspace = decided.workspace,
                    what = notice::one_line(&decided.what, 400),
                    answer = decided.answer.as_str(),
                    by = %decided.by,
                    took_us = u64::try_from(decided.took.as_micros()).unwrap_or(u64::MAX),
                    "{}",
                    decided.reason
                );
            }
            other => tracing::info!("{}", notice::words(other, clock::now().boot_ms)),
        }
    }
}
