//! Forgetting old records where the configuration asks for it, so that the rest can still be verified.

use serde_json::json;

use super::After;
use super::core::Core;
use crate::audit::{Checkpoint, Entry, RecordKind, Verifier};
use crate::clock;
use crate::state;
use crate::store::{StoreError, Write};

/// Most records that are forgotten in one go: they are verified on the loop first.
const AT_ONCE: u64 = 500;
const DAY_MS: u64 = 86_400_000;

impl Core {
    /// Prunes a piece of the audit where there is more than is to be kept and it is old enough. By number, since the clock
    /// may be wrong; and by age, since one workspace must not be able to drown what another one did.
    pub(super) fn prune(&mut self) {
        if self.records.pruning || self.config.keep_records == 0 {
            return;
        }
        match self.to_prune() {
            Ok(None) => {}
            Ok(Some(checkpoint)) => {
                let detail = json!({"event": "pruned", "upto": checkpoint.seq, "hash": checkpoint.hash.to_string()});
                let at_ms = clock::now().unix_ms;
                let entry = Entry { at_ms, kind: RecordKind::Host, workspace: None, request_id: None, detail };
                self.records.pruning = true;
                self.records.submit(vec![Write::Prune(checkpoint), Write::Audit(entry)], true, After::Pruned);
            }
            Err(error) => {
                tracing::error!(%error, "the audit is not pruned; run `bashgate audit verify`, and restart the host to try again");
                self.records.pruning = true;
            }
        }
    }

    /// The checkpoint behind the next piece, if all is in order. A tenth more than is to be kept is kept, so that pruning is rare.
    fn to_prune(&self) -> Result<Option<Checkpoint>, StoreError> {
        let keep = self.config.keep_records;
        let (last, _) = self.records.reader.head()?;
        let pruned = self.records.reader.checkpoint()?.map_or(0, |checkpoint| checkpoint.seq);
        if last.saturating_sub(pruned) <= keep + keep / 10 {
            return Ok(None);
        }
        // What a fleet is to have is kept until it has it.
        let upto = (last - keep).min(pruned + AT_ONCE).min(self.kept_for_fleet().unwrap_or(u64::MAX));
        let young = clock::now().unix_ms.saturating_sub(self.config.keep_days * DAY_MS);
        // What is signed is what was verified: from the last checkpoint on, record by record.
        let before = self.records.reader.checkpoint()?;
        if before.as_ref().is_some_and(|before| !state::has_signed(self.folder.path(), &self.keys.current, before)) {
            return Err(self.records.reader.damaged("its checkpoint is not signed by this host's key"));
        }
        let mut verifier = before.as_ref().map_or_else(|| Verifier::new(None), |before| Verifier::behind(before, None));
        let (mut end, mut broken) = (None, None);
        self.records.reader.audit(pruned + 1, |record| {
            if record.seq > upto || record.at_ms() > young {
                return false;
            }
            broken = verifier.next(&record).err();
            end = Some((record.seq, record.hash));
            broken.is_none()
        })?;
        if let Some(broken) = broken {
            return Err(self.records.reader.damaged(broken.to_string()));
        }
        Ok(end.map(|(seq, hash)| Checkpoint::sign(&self.keys.current, seq, hash)))
    }
}
