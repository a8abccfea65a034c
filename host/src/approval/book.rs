//! The book of approvals: every held command stands in it once, and is answered once.

use std::collections::{BTreeMap, HashMap};

use bashgate_shared::protocol::WorkspaceName;

use super::Reply;
use super::pending::{ApprovalId, Card, RequestKey, Scope};
use crate::clock::Now;

/// How long a denial by the inspector can still be overruled, in milliseconds.
pub const OVERRULE_MS: u64 = 600_000;
/// Most denials that are kept for overruling.
const MAX_DENIED: usize = 1024;
/// Most answered ids that are remembered, to tell a late answer from a wrong one.
const MAX_CLOSED: usize = 4096;

/// Names one case of the daemon.
pub type CaseId = u64;

/// What is held, what was denied, and what people have let through.
#[derive(Debug, Default)]
pub struct Book {
    pending: BTreeMap<ApprovalId, (CaseId, Card, RequestKey)>,
    denied: BTreeMap<ApprovalId, Overruled>,
    /// Requests that may run once, by a person's word.
    passes: HashMap<RequestKey, (String, u64)>,
    /// Commands that may run until the taint changes.
    sessions: HashMap<RequestKey, String>,
    closed: Vec<ApprovalId>,
}

/// A denial by the inspector that a person can still overrule.
#[derive(Debug, Clone)]
pub struct Overruled {
    /// What was denied.
    pub card: Card,
    /// What a pass would be for.
    pub key: RequestKey,
    /// Until when, in milliseconds since boot.
    pub until_boot_ms: u64,
}

/// What an answer led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// It answers this case.
    Case(CaseId, WorkspaceName),
    /// It overrules a denial: the same request passes once.
    Pass(WorkspaceName),
}

/// Why an answer counts for nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// There is nothing of this id.
    #[error("nothing is pending under `{0}`")]
    Unknown(String),
    /// It was answered, withdrawn or has lapsed before.
    #[error("`{0}` is over: it was answered, withdrawn or has lapsed; nothing was changed")]
    Over(ApprovalId),
    /// This command may not be approved for longer than once.
    #[error("`{0}` can only be approved once: it runs code or is too open to be let through again unseen")]
    OnlyOnce(ApprovalId),
}

impl Book {
    /// Writes a held command in.
    pub fn hold(&mut self, case: CaseId, card: Card, key: RequestKey) {
        self.pending.insert(card.id.clone(), (case, card, key));
    }

    /// True when the id is in use or was lately.
    pub fn knows(&self, id: &ApprovalId) -> bool {
        self.pending.contains_key(id) || self.denied.contains_key(id) || self.closed.contains(id)
    }

    /// Everything that is held, in the order of ids.
    pub fn cards(&self) -> impl Iterator<Item = &Card> {
        self.pending.values().map(|(_, card, _)| card)
    }

    /// How many commands of a workspace are held.
    pub fn held_by(&self, workspace: &WorkspaceName) -> usize {
        self.cards().filter(|card| card.workspace == *workspace).count()
    }

    /// Denials that can still be overruled.
    pub fn denied(&self, now: Now) -> impl Iterator<Item = &Overruled> {
        self.denied.values().filter(move |denied| denied.until_boot_ms > now.boot_ms)
    }

    /// The card of this id, held or denied.
    pub fn card(&self, id: &ApprovalId) -> Option<&Card> {
        self.pending.get(id).map(|(_, card, _)| card).or_else(|| self.denied.get(id).map(|denied| &denied.card))
    }

    /// Changes a held card, for the inspector's advice.
    pub fn card_mut(&mut self, id: &ApprovalId) -> Option<&mut Card> {
        self.pending.get_mut(id).map(|(_, card, _)| card)
    }

    /// Takes an answer. A command is answered once; an answer after its time changes nothing.
    pub fn answer(&mut self, id: &ApprovalId, reply: &Reply, by: &str, now: Now) -> Result<Given, AnswerError> {
        let approves = matches!(reply, Reply::Approve(_));
        if let Some((_, card, key)) = self.pending.get(id) {
            if card.expires_boot_ms <= now.boot_ms {
                return Err(AnswerError::Over(id.clone()));
            }
            if let Reply::Approve(Scope::Session) = reply {
                if !card.offers_session {
                    return Err(AnswerError::OnlyOnce(id.clone()));
                }
                self.sessions.insert(*key, by.to_owned());
            }
            let Some((case, card, _)) = self.pending.remove(id) else {
                return Err(AnswerError::Unknown(id.to_string()));
            };
            self.close(id.clone());
            return Ok(Given::Case(case, card.workspace));
        }
        if let Some(denied) = self.denied.get(id) {
            if denied.until_boot_ms <= now.boot_ms {
                return Err(AnswerError::Over(id.clone()));
            }
            let (key, workspace, until) = (denied.key, denied.card.workspace.clone(), denied.until_boot_ms);
            self.denied.remove(id);
            self.close(id.clone());
            if approves {
                self.passes.insert(key, (by.to_owned(), until));
            }
            return Ok(Given::Pass(workspace));
        }
        if self.closed.contains(id) {
            Err(AnswerError::Over(id.clone()))
        } else {
            Err(AnswerError::Unknown(id.to_string()))
        }
    }

    /// Strikes a held command out without an answer: withdrawn, lapsed, or decided by other means.
    pub fn strike(&mut self, id: &ApprovalId) -> Option<Card> {
        let (_, card, _) = self.pending.remove(id)?;
        self.close(id.clone());
        Some(card)
    }

    /// Keeps a denial by the inspector for overruling.
    pub fn keep_denied(&mut self, card: Card, key: RequestKey, now: Now) {
        self.denied.retain(|_, denied| denied.until_boot_ms > now.boot_ms);
        if self.denied.len() < MAX_DENIED {
            let until_boot_ms = now.boot_ms + OVERRULE_MS;
            self.denied.insert(card.id.clone(), Overruled { card, key, until_boot_ms });
        }
    }

    /// Takes the pass for a request, if a person gave one: who it was.
    pub fn take_pass(&mut self, key: &RequestKey, now: Now) -> Option<String> {
        self.passes.retain(|_, (_, until)| *until > now.boot_ms);
        self.passes.remove(key).map(|(by, _)| by).or_else(|| self.sessions.get(key).cloned())
    }

    /// Ids of held commands whose time is over.
    pub fn lapsed(&self, now: Now) -> Vec<(ApprovalId, CaseId)> {
        let over = self.pending.values().filter(|(_, card, _)| card.expires_boot_ms <= now.boot_ms);
        over.map(|(case, card, _)| (card.id.clone(), *case)).collect()
    }

    fn close(&mut self, id: ApprovalId) {
        if self.closed.len() >= MAX_CLOSED {
            self.closed.drain(..MAX_CLOSED / 2);
        }
        self.closed.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taint::Taint;
    use bashgate_shared::classify::CommandClass;
    use bashgate_shared::protocol::RequestId;

    fn now(boot_ms: u64) -> Now {
        Now { boot_ms, unix_ms: 0 }
    }

    fn card(random: u8, offers_session: bool) -> Card {
        Card {
            id: ApprovalId::from_random([random; 5]),
            workspace: WorkspaceName::parse("default").unwrap(),
            request_id: RequestId::parse("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap(),
            request_sha256: String::new(),
            command: "curl x".to_owned(),
            cwd: None,
            agent: None,
            class: CommandClass::Network,
            rule: "table".to_owned(),
            reason: String::new(),
            taint: Taint::Both,
            causes: Vec::new(),
            epoch: 1,
            advice: None,
            expires_boot_ms: 100,
            offers_session,
        }
    }

    fn key(epoch: u64) -> RequestKey {
        RequestKey::of(&WorkspaceName::parse("default").unwrap(), &["curl x"], epoch)
    }

    const APPROVE: Reply = Reply::Approve(Scope::Once);

    #[test]
    fn an_id_is_answered_once_and_in_time() {
        let mut book = Book::default();
        let first = card(1, false);
        book.hold(7, first.clone(), key(1));
        assert_eq!(book.answer(&first.id, &APPROVE, "ann", now(99)).unwrap(), Given::Case(7, first.workspace.clone()));
        assert_eq!(book.answer(&first.id, &APPROVE, "ann", now(99)), Err(AnswerError::Over(first.id)));
        let late = card(2, false);
        book.hold(8, late.clone(), key(1));
        assert_eq!(book.answer(&late.id, &APPROVE, "ann", now(100)), Err(AnswerError::Over(late.id.clone())));
        assert_eq!(book.lapsed(now(100)), [(late.id.clone(), 8)]);
        assert!(book.strike(&late.id).is_some());
        let never = ApprovalId::from_random([9; 5]);
        assert!(matches!(book.answer(&never, &APPROVE, "ann", now(0)), Err(AnswerError::Unknown(_))));
    }

    #[test]
    fn a_session_is_offered_only_where_the_card_says_so_and_ends_with_the_epoch() {
        let mut book = Book::default();
        let closed = card(1, false);
        book.hold(1, closed.clone(), key(1));
        let session = Reply::Approve(Scope::Session);
        assert_eq!(book.answer(&closed.id, &session, "ann", now(0)), Err(AnswerError::OnlyOnce(closed.id.clone())));
        assert!(book.card(&closed.id).is_some(), "a refused answer leaves it pending");
        let open = card(2, true);
        book.hold(2, open.clone(), key(1));
        book.answer(&open.id, &session, "ann", now(0)).unwrap();
        assert_eq!(book.take_pass(&key(1), now(1)).as_deref(), Some("ann"));
        assert_eq!(book.take_pass(&key(1), now(2)).as_deref(), Some("ann"));
        assert_eq!(book.take_pass(&key(2), now(2)), None);
    }

    #[test]
    fn an_overruled_denial_passes_once() {
        let mut book = Book::default();
        let denied = card(1, false);
        book.keep_denied(denied.clone(), key(1), now(0));
        assert_eq!(book.answer(&denied.id, &APPROVE, "ann", now(5)).unwrap(), Given::Pass(denied.workspace));
        assert_eq!(book.take_pass(&key(1), now(6)).as_deref(), Some("ann"));
        assert_eq!(book.take_pass(&key(1), now(7)), None);
        let other = card(2, false);
        book.keep_denied(other.clone(), key(1), now(0));
        assert_eq!(book.answer(&other.id, &APPROVE, "ann", now(OVERRULE_MS)), Err(AnswerError::Over(other.id)));
    }
}
