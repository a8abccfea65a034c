//! Answers on their way out: written into the mailboxes, tried again where that fails, and taken away when nobody reads
//! them any more.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bashgate_shared::protocol::{RequestId, WorkspaceName};
use bashgate_shared::seal::Unsigned;

use crate::fault;
use crate::intake::folder;
use crate::respond::Responder;
use crate::state::Keys;

/// How long an answer lies in the mailbox before it is taken away.
const LIFE: Duration = Duration::from_mins(1);
/// Most responses of a workspace that wait to be written.
const MAX_WAITING: usize = 64;
/// How often they are tried again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The answers of the host.
pub(super) struct Outbox {
    mailboxes: PathBuf,
    pub(super) responder: Responder,
    /// Responses that could not be written, and since when.
    waiting: HashMap<(WorkspaceName, RequestId), (Instant, Unsigned)>,
    /// When they were last tried again.
    tried: Instant,
    released: VecDeque<(Instant, WorkspaceName, RequestId)>,
}

impl Outbox {
    pub(super) fn new(mailboxes: &Path) -> Self {
        Self {
            mailboxes: mailboxes.to_owned(),
            responder: Responder::new(mailboxes),
            waiting: HashMap::new(),
            tried: Instant::now(),
            released: VecDeque::new(),
        }
    }

    /// True when an answer to this request could not be written yet.
    pub(super) fn holds(&self, named: &(WorkspaceName, RequestId)) -> bool {
        self.waiting.contains_key(named)
    }

    /// Signs an answer and writes it, now or as soon as that is possible.
    pub(super) fn release(&mut self, keys: &Keys, unsigned: &Unsigned) {
        let (workspace, id) = (&unsigned.workspace, &unsigned.request_id);
        let key = keys.answering(unsigned.asked_key.as_deref());
        match self.responder.release(workspace, id, &key.respond(unsigned)) {
            Ok(()) => {
                self.released.push_back((Instant::now(), workspace.clone(), id.clone()));
                folder::remove(&self.mailboxes, workspace, id);
                fault::here("response.released");
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                tracing::warn!(%workspace, %id, "a response of this name is there already; nothing was written over it");
            }
            // The hook hears nothing for now; when its time is over it denies.
            Err(error) => {
                let waiting = self.waiting.keys().filter(|(of, _)| of == workspace).count();
                if waiting == 0 {
                    tracing::error!(%workspace, %id, %error, "cannot write the response; it is tried again");
                }
                if waiting < MAX_WAITING {
                    let named = (workspace.clone(), id.clone());
                    self.waiting.insert(named, (Instant::now(), unsigned.clone()));
                }
            }
        }
    }

    /// Takes away what nobody reads any more, and tries again to write what could not be written: the disk may have room
    /// again.
    pub(super) fn tidy(&mut self, keys: &Keys) {
        while self.released.front().is_some_and(|(when, ..)| when.elapsed() > LIFE) {
            if let Some((_, workspace, id)) = self.released.pop_front() {
                self.responder.remove(&workspace, &id);
            }
        }
        if self.tried.elapsed() < TRY_AGAIN {
            return;
        }
        self.tried = Instant::now();
        for (named, (since, unsigned)) in std::mem::take(&mut self.waiting) {
            if since.elapsed() < Duration::from_millis(unsigned.valid_for_ms) {
                self.release(keys, &unsigned);
                // The time counts from the first try.
                if let Some((first, _)) = self.waiting.get_mut(&named) {
                    *first = since;
                }
            }
        }
    }
}
