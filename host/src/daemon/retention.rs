//! Forgetting old records where the configuration asks for it, so that the rest can still be verified.

use serde_json::json;

use super::After;
use super::core::Core;
use crate::audit::{Checkpoint, Entry, Kind};
use crate::clock;
use crate::store::{StoreError, Write};

/// Most records that are forgotten in one go.
const AT_ONCE: u64 = 5000;

impl Core {
    /// Prunes a piece of the audit where there is more than is to be kept. By number, not by age: the clock may be wrong.
    pub(super) fn prune(&mut self) {
        if self.pruning || self.config.keep_records == 0 {
            return;
        }
        match self.to_prune() {
            Ok(None) => {}
            Ok(Some(checkpoint)) => {
                let detail = json!({"event": "pruned", "upto": checkpoint.seq, "hash": checkpoint.hash.to_string()});
                let at_ms = clock::now().unix_ms;
                let entry = Entry { at_ms, kind: Kind::Host, workspace: None, request_id: None, detail };
                self.pruning = true;
                self.submit(vec![Write::Prune(checkpoint), Write::Audit(entry)], true, After::Pruned);
            }
            Err(error) => tracing::error!(%error, "the audit cannot be pruned"),
        }
    }

    /// The checkpoint behind the next piece. A tenth more than is to be kept is kept, so that pruning is rare.
    fn to_prune(&self) -> Result<Option<Checkpoint>, StoreError> {
        let keep = self.config.keep_records;
        let (last, _) = self.reader.head()?;
        let pruned = self.reader.checkpoint()?.map_or(0, |checkpoint| checkpoint.seq);
        if last.saturating_sub(pruned) <= keep + keep / 10 {
            return Ok(None);
        }
        let upto = (last - keep).min(pruned + AT_ONCE);
        Ok(self.reader.hash_of(upto)?.map(|hash| Checkpoint::sign(&self.key, upto, hash)))
    }
}
