//! What a channel has shown and how far it has listened: in a file of the state folder, or wherever a desk keeps it.
//!
//! Nothing is decided by it. Without it cards are shown once more, and what was said is heard once more, which the host
//! answers with "it is over".

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::approval::ApprovalId;

/// Most cards that are remembered. The oldest are forgotten first.
const MOST: usize = 4096;

/// A card that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Posted {
    /// The service's id of the message; empty where it did not take it.
    pub(super) message: String,
    /// When, in milliseconds since 1970.
    pub(super) at_ms: u64,
    /// People were reminded of it.
    #[serde(default)]
    pub(super) reminded: bool,
    /// The version of it that is shown; another run's says nothing.
    #[serde(skip)]
    pub(super) version: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    position: Option<String>,
    #[serde(default)]
    posted: BTreeMap<ApprovalId, Posted>,
}

/// Keeps what a channel remembers, as text.
pub type Keeps = Box<dyn Fn(String) + Send + Sync>;

/// Where it is kept.
enum Place {
    File(PathBuf),
    Elsewhere(Keeps),
}

/// The memory of one channel.
pub(super) struct Memory {
    place: Place,
    kept: Mutex<Kept>,
}

impl Memory {
    /// Reads the file, or starts with nothing.
    pub(super) fn open(file: PathBuf) -> Self {
        let kept = match std::fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(file = %file.display(), %error, "what a channel has shown cannot be read; it starts anew");
                Kept::default()
            }),
            Err(_) => Kept::default(),
        };
        Self { place: Place::File(file), kept: Mutex::new(kept) }
    }

    /// As it was kept elsewhere: nothing where that cannot be read. It is heard from now on, whatever stands there: who could set it back
    /// would have old words heard again.
    pub(super) fn kept(was: &str, keeps: Keeps) -> Self {
        let kept: Kept = serde_json::from_str(was).unwrap_or_default();
        Self { place: Place::Elsewhere(keeps), kept: Mutex::new(Kept { position: None, ..kept }) }
    }

    /// From where to listen.
    pub(super) fn position(&self) -> Option<String> {
        self.with(|kept| kept.position.clone())
    }

    /// What is in front of this position is dealt with.
    pub(super) fn has_heard(&self, position: String) {
        self.with(|kept| {
            if kept.position.as_ref() != Some(&position) {
                kept.position = Some(position);
                // Elsewhere nobody reads it: see `kept`.
                if matches!(self.place, Place::File(_)) {
                    self.write(kept);
                }
            }
        });
    }

    /// What is shown of a card.
    pub(super) fn posted(&self, id: &ApprovalId) -> Option<Posted> {
        self.with(|kept| kept.posted.get(id).cloned())
    }

    /// All cards that are shown.
    pub(super) fn all(&self) -> Vec<(ApprovalId, Posted)> {
        self.with(|kept| kept.posted.iter().map(|(id, posted)| (id.clone(), posted.clone())).collect())
    }

    /// A card is shown.
    pub(super) fn has_shown(&self, id: &ApprovalId, posted: Posted) {
        self.with(|kept| {
            kept.posted.insert(id.clone(), posted);
            if kept.posted.len() > MOST
                && let Some(oldest) =
                    kept.posted.iter().min_by_key(|(_, posted)| posted.at_ms).map(|(id, _)| id.clone())
            {
                kept.posted.remove(&oldest);
            }
            self.write(kept);
        });
    }

    /// A card needs no more changes.
    pub(super) fn is_done_with(&self, id: &ApprovalId) {
        self.with(|kept| {
            if kept.posted.remove(id).is_some() {
                self.write(kept);
            }
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        act(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, kept: &Kept) {
        match &self.place {
            Place::File(file) => {
                if let Err(error) = replace(file, kept) {
                    tracing::warn!(file = %file.display(), %error, "what a channel has shown cannot be written");
                }
            }
            Place::Elsewhere(keeps) => keeps(serde_json::to_string(kept).unwrap_or_default()),
        }
    }
}

fn replace(file: &Path, kept: &Kept) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(&serde_json::to_vec(kept)?)?;
    new.as_file().sync_data()?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_and_heard_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("phone.json");
        let id = ApprovalId::from_random([7; 5]);
        let memory = Memory::open(file.clone());
        assert_eq!(memory.position(), None);
        memory.has_heard("17".to_owned());
        memory.has_shown(&id, Posted { message: "5".to_owned(), at_ms: 1, reminded: false, version: Some(3) });
        let again = Memory::open(file.clone());
        assert_eq!(again.position().as_deref(), Some("17"));
        assert_eq!(again.posted(&id).map(|posted| (posted.message, posted.version)), Some(("5".to_owned(), None)));
        again.is_done_with(&id);
        assert!(Memory::open(file.clone()).all().is_empty());
        std::fs::write(&file, "{").unwrap();
        assert_eq!(Memory::open(file).position(), None, "what cannot be read is nothing");
    }
}
