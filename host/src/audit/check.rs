//! Following the chain of a store from its start.

use std::path::Path;

use super::{Broken, Hash, Verifier};
use crate::state::{self, StateError};
use crate::store::{Reader, StoreError};

/// A chain in which nothing is changed, missing or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// How many records there have been.
    pub records: u64,
    /// So many of them were pruned; the host's key has signed where.
    pub pruned: u64,
    /// The head.
    pub head: Hash,
}

/// Why a chain could not be followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key that signs checkpoints cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// Somebody changed it.
    #[error("{0}")]
    Broken(Broken),
    /// The head that was kept is not in it.
    #[error("the chain does not hold the given head: it is one of those that were pruned, or the chain was replaced")]
    PrunedHead,
}

/// Follows the chain from its start, or from the checkpoint behind which its first records were pruned, up to the first record
/// that does not fit. A head that was kept elsewhere must come by.
pub fn check(reader: &Reader, folder: &Path, wanted: Option<Hash>) -> Result<Checked, CheckError> {
    let checkpoint = reader.checkpoint()?;
    let mut verifier = match &checkpoint {
        None => Verifier::new(wanted),
        Some(checkpoint) => {
            if !state::has_signed(folder, &state::key_in(folder)?, checkpoint) {
                return Err(CheckError::Broken(Broken::Unsigned(checkpoint.seq)));
            }
            Verifier::behind(checkpoint, wanted)
        }
    };
    let mut broken = None;
    reader.audit(1, |record| {
        broken = verifier.next(&record).err();
        broken.is_none()
    })?;
    let (records, head) = broken.map_or_else(|| verifier.finish(), Err).map_err(|broken| match broken {
        Broken::HeadMissing if checkpoint.is_some() => CheckError::PrunedHead,
        broken => CheckError::Broken(broken),
    })?;
    Ok(Checked { records, pruned: checkpoint.map_or(0, |checkpoint| checkpoint.seq), head })
}
