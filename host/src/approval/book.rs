//! The book of approvals: every held command stands in it once, and is answered once.

use std::collections::{BTreeMap, HashMap};

use bashgate_shared::protocol::WorkspaceName;

use super::Word;
use super::grant::{MOST_MINUTES, Reach};
use super::pending::{ApprovalId, Card, RequestKey, Scope};
use crate::authority::Person;
use crate::clock::Now;

/// How long a denial by the inspector can still be overruled, in milliseconds.
pub const OVERRULE_MS: u64 = 600_000;
/// How long a person's word on going on without the inspector counts, in milliseconds: an approval and a denial.
pub const GO_ON_MS: u64 = 3_600_000;
/// See [`GO_ON_MS`].
pub const STAY_MS: u64 = 600_000;
/// Most denials of a workspace that are kept for overruling, and most bytes of commands in them.
const MAX_DENIED: usize = 64;
const MAX_DENIED_BYTES: usize = 1 << 20;
/// Most bytes of commands that are held for one workspace.
const MAX_HELD_BYTES: usize = 4 << 20;
/// Most requests that wait for one card. One answer goes to all of them.
const MAX_JOINED: usize = 16;
/// Most answered ids that are remembered, to tell a late answer from a wrong one.
const MAX_CLOSED: usize = 4096;

/// Names one case of the daemon.
pub type CaseId = u64;

/// What is held, what was denied, and what people have let through.
#[derive(Debug, Default)]
pub struct Book {
    pending: BTreeMap<ApprovalId, Held>,
    /// The card that a request of this key joins.
    by_key: HashMap<RequestKey, ApprovalId>,
    /// Cards and bytes of commands held, by workspace.
    load: HashMap<WorkspaceName, (usize, usize)>,
    denied: BTreeMap<ApprovalId, Overruled>,
    /// Requests that may run once, by a person's word.
    passes: HashMap<RequestKey, Pass>,
    /// Commands that may run until the taint changes.
    sessions: HashMap<RequestKey, Session>,
    /// Words on going on without the inspector, by the key of the outage.
    standing: HashMap<RequestKey, (Word, Pass)>,
    /// What may run without being asked about, by a person's word.
    grants: Vec<Grant>,
    closed: Vec<ApprovalId>,
    /// True from the time the inspector was unavailable until it answers.
    outage: bool,
}

/// A card and the cases that wait for its answer.
#[derive(Debug)]
struct Held {
    cases: Vec<CaseId>,
    card: Card,
    /// How many waited when it was last looked at from the host itself.
    told: usize,
}

/// A person's word for requests to come.
#[derive(Debug)]
struct Pass {
    by: Person,
    /// Until when, in milliseconds since boot; a session has no such end.
    until_boot_ms: u64,
    /// The card that it was said about.
    id: ApprovalId,
    workspace: WorkspaceName,
}

/// A person's word for one command, as often as it is asked again.
#[derive(Debug)]
struct Session {
    /// The taint epoch with which it ends.
    epoch: u64,
    pass: Pass,
    used: u64,
    command: String,
}

/// A person's word for commands that have not been asked about yet.
#[derive(Debug)]
struct Grant {
    /// What it covers; `None` is all that would be asked about.
    reach: Option<Reach>,
    /// The taint epoch with which it ends; one for everything has no such end.
    epoch: u64,
    pass: Pass,
    used: u64,
    words: String,
}

impl Grant {
    /// True while it counts in its workspace, of this taint epoch.
    fn counts(&self, now: Now, epoch: Option<u64>) -> bool {
        self.pass.until_boot_ms > now.boot_ms && epoch.is_some_and(|epoch| self.reach.is_none() || self.epoch == epoch)
    }
}

/// What is let through ahead, for people to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    /// By this it can be revoked.
    pub id: ApprovalId,
    /// The workspace.
    pub workspace: WorkspaceName,
    /// Who said so.
    pub by: Person,
    /// When it ends, in milliseconds since boot; `u64::MAX` where only the taint epoch ends it.
    pub until_boot_ms: u64,
    /// What it lets through, in words.
    pub words: String,
    /// How many commands it has let through.
    pub used: u64,
    /// True for everything that would be asked.
    pub is_everything: bool,
}

/// What an approval is where two people must give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Second {
    /// This is the second: it counts, for as far as both said. So does one on a card that is over, which is told elsewhere.
    Counts(Scope),
    /// It is the first. Another person must approve, too.
    First,
}

/// A denial by the inspector that a person can still overrule.
#[derive(Debug, Clone)]
pub struct Overruled {
    /// What was denied.
    pub card: Card,
    /// Until when, in milliseconds since boot.
    pub until_boot_ms: u64,
}

/// What an answer led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// It answers these cases.
    Cases(Vec<CaseId>, WorkspaceName),
    /// It overrules a denial: the same request passes once.
    Pass(WorkspaceName),
    /// It takes back an approval for requests that have not come yet.
    Revoked(WorkspaceName),
}

/// Why a command cannot be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// There are as many cards as the configuration allows.
    #[error("too many commands of this workspace wait for a person; run it again when they are answered")]
    Cards,
    /// The commands that are held are too long together.
    #[error(
        "the commands of this workspace that wait for a person are too long together; run it again when they are answered"
    )]
    Bytes,
    /// Too many requests wait for the same answer.
    #[error("too many commands of this workspace wait for the same answer; run it again when it is given")]
    Joined,
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
    /// No grant is offered for it.
    #[error("no grant is offered for `{0}`: text and files do not say all of where it goes, or a rule asks about each")]
    NoGrant(ApprovalId),
    /// Two people must approve, and this one has.
    #[error("two people must approve `{0}`; you have, and another one is missing")]
    Twice(ApprovalId),
}

impl Book {
    /// Writes a held command in.
    pub fn hold(&mut self, case: CaseId, card: Card) {
        let (cards, bytes) = self.load.entry(card.workspace.clone()).or_default();
        *cards += 1;
        *bytes += card.command.len();
        self.by_key.insert(card.key, card.id.clone());
        self.pending.insert(card.id.clone(), Held { cases: vec![case], card, told: 1 });
    }

    /// True when another card may be held for the workspace, of which at most `most` are.
    pub fn has_room(&self, workspace: &WorkspaceName, command: &str, most: usize) -> Result<(), Full> {
        let (cards, bytes) = self.load.get(workspace).copied().unwrap_or_default();
        if cards >= most {
            Err(Full::Cards)
        } else if cards > 0 && bytes + command.len() > MAX_HELD_BYTES {
            Err(Full::Bytes)
        } else {
            Ok(())
        }
    }

    /// Lets a case wait for the card of this key, where there is one: what was asked once is not asked again. The card
    /// waits at least as long as the case; one whose time is over is joined by nobody.
    pub fn join(
        &mut self,
        case: CaseId,
        key: &RequestKey,
        until_boot_ms: u64,
        now: Now,
    ) -> Result<Option<ApprovalId>, Full> {
        let Some(id) = self.by_key.get(key) else { return Ok(None) };
        let Some(held) = self.pending.get_mut(id).filter(|held| held.card.expires_boot_ms > now.boot_ms) else {
            return Ok(None);
        };
        if held.cases.len() >= MAX_JOINED {
            return Err(Full::Joined);
        }
        held.cases.push(case);
        held.card.expires_boot_ms = held.card.expires_boot_ms.max(until_boot_ms);
        held.card.waiting = held.cases.len();
        Ok(Some(id.clone()))
    }

    /// Somebody at the host looks at a card, or at all of them: how many wait for it has been shown.
    pub fn told(&mut self, id: Option<&ApprovalId>) {
        for (_, held) in self.pending.iter_mut().filter(|(known, _)| id.is_none_or(|id| id == *known)) {
            held.told = held.card.waiting;
        }
    }

    /// How many wait for a card, where more do than have been shown at the host.
    pub fn grown(&self, id: &ApprovalId) -> Option<usize> {
        self.pending.get(id).filter(|held| held.card.waiting > held.told).map(|held| held.card.waiting)
    }

    /// A case waits no longer. Gives back the card when nobody else waits for it: then it is struck out.
    pub fn leave(&mut self, id: &ApprovalId, case: CaseId) -> Option<Card> {
        let held = self.pending.get_mut(id)?;
        held.cases.retain(|waiting| *waiting != case);
        held.card.waiting = held.cases.len();
        if held.cases.is_empty() { self.strike(id).map(|held| held.card) } else { None }
    }

    /// True when the id is in use or was lately.
    pub fn knows(&self, id: &ApprovalId) -> bool {
        self.pending.contains_key(id) || self.denied.contains_key(id) || self.closed.contains(id)
    }

    /// Everything that is held, in the order of ids.
    pub fn cards(&self) -> impl Iterator<Item = &Card> {
        self.pending.values().map(|held| &held.card)
    }

    /// Denials that can still be overruled.
    pub fn denied(&self, now: Now) -> impl Iterator<Item = &Overruled> {
        self.denied.values().filter(move |denied| denied.until_boot_ms > now.boot_ms)
    }

    /// The card of this id, held or denied.
    pub fn card(&self, id: &ApprovalId) -> Option<&Card> {
        self.pending.get(id).map(|held| &held.card).or_else(|| self.denied.get(id).map(|denied| &denied.card))
    }

    /// The workspace of whatever an answer to this id would be about.
    pub fn workspace_of(&self, id: &ApprovalId) -> Option<&WorkspaceName> {
        let standing = self.standing.values().map(|(_, pass)| pass);
        let grants = self.grants.iter().map(|grant| &grant.pass);
        let sessions = self.sessions.values().map(|session| &session.pass);
        let mut passes = self.passes.values().chain(sessions).chain(standing).chain(grants);
        self.card(id)
            .map(|card| &card.workspace)
            .or_else(|| passes.find(|pass| pass.id == *id).map(|pass| &pass.workspace))
    }

    /// Changes a held card, for the inspector's advice.
    pub fn card_mut(&mut self, id: &ApprovalId) -> Option<&mut Card> {
        self.pending.get_mut(id).map(|held| &mut held.card)
    }

    /// Takes an answer. A card is answered once; an answer after its time changes nothing. A denial that comes behind an
    /// approval takes back what the approval has not let through yet.
    pub fn answer(&mut self, id: &ApprovalId, reply: &Word, by: &Person, now: Now) -> Result<Given, AnswerError> {
        if let Some(held) = self.pending.get(id) {
            if held.card.expires_boot_ms <= now.boot_ms {
                return Err(AnswerError::Over(id.clone()));
            }
            if *reply == Word::Approve(Scope::Session) && !held.card.offers_session {
                return Err(AnswerError::OnlyOnce(id.clone()));
            }
            if matches!(reply, Word::Approve(Scope::Grant { .. })) && held.card.grant.is_none() {
                return Err(AnswerError::NoGrant(id.clone()));
            }
            let Some(Held { cases, card, .. }) = self.strike(id) else {
                return Err(AnswerError::Unknown(id.to_string()));
            };
            let pass = |until_boot_ms| Pass {
                by: by.clone(),
                until_boot_ms,
                id: id.clone(),
                workspace: card.workspace.clone(),
            };
            // The word is about an outage that lasts.
            if card.outage && self.outage {
                let last = if matches!(reply, Word::Approve(_)) { GO_ON_MS } else { STAY_MS };
                self.standing.insert(card.key, (reply.clone(), pass(now.boot_ms + last)));
            } else if *reply == Word::Approve(Scope::Session) && !card.outage {
                let session = Session { epoch: card.epoch, pass: pass(u64::MAX), used: 0, command: card.command };
                self.sessions.insert(card.key, session);
            } else if let Word::Approve(Scope::Grant { minutes }) = reply
                && let Some(reach) = card.grant
            {
                let words = reach.words();
                let pass = pass(now.boot_ms + (*minutes).min(MOST_MINUTES) * 60_000);
                self.grants.push(Grant { reach: Some(reach), epoch: card.epoch, pass, used: 0, words });
            }
            return Ok(Given::Cases(cases, card.workspace));
        }
        if let Some(denied) = self.denied.get(id) {
            if denied.until_boot_ms <= now.boot_ms {
                return Err(AnswerError::Over(id.clone()));
            }
            let (key, workspace, until_boot_ms) =
                (denied.card.key, denied.card.workspace.clone(), denied.until_boot_ms);
            self.denied.remove(id);
            self.close(id.clone());
            if matches!(reply, Word::Approve(_)) {
                let pass = Pass { by: by.clone(), until_boot_ms, id: id.clone(), workspace: workspace.clone() };
                self.passes.insert(key, pass);
            }
            return Ok(Given::Pass(workspace));
        }
        if matches!(reply, Word::Deny { .. })
            && let Some(workspace) = self.revoke(id, now)
        {
            return Ok(Given::Revoked(workspace));
        }
        if self.closed.contains(id) {
            Err(AnswerError::Over(id.clone()))
        } else {
            Err(AnswerError::Unknown(id.to_string()))
        }
    }

    /// Takes back what was let through under an id for requests to come.
    fn revoke(&mut self, id: &ApprovalId, now: Now) -> Option<WorkspaceName> {
        let of_id = |pass: &Pass| pass.id == *id && pass.until_boot_ms > now.boot_ms;
        let standing = self.standing.values().filter(|(reply, _)| matches!(reply, Word::Approve(_)));
        let grants = self.grants.iter().map(|grant| &grant.pass);
        let passes = self.passes.values().chain(self.sessions.values().map(|session| &session.pass));
        let passes = passes.chain(standing.map(|(_, pass)| pass)).chain(grants);
        let workspace = passes.into_iter().find(|pass| of_id(pass))?.workspace.clone();
        self.passes.retain(|_, pass| pass.id != *id);
        self.sessions.retain(|_, session| session.pass.id != *id);
        self.grants.retain(|grant| grant.pass.id != *id);
        self.standing.retain(|_, (_, pass)| pass.id != *id);
        Some(workspace)
    }

    /// An approval that two people must give; `human` is who says it, whatever account they use.
    pub fn second(&mut self, id: &ApprovalId, scope: Scope, human: &str, now: Now) -> Result<Second, AnswerError> {
        let Some(card) = self.answerable(id).filter(|card| card.expires_boot_ms > now.boot_ms) else {
            return Ok(Second::Counts(scope));
        };
        match &card.demands.first {
            Some((first, _)) if first == human => Err(AnswerError::Twice(id.clone())),
            Some((_, before)) => Ok(Second::Counts(if *before == scope { scope } else { Scope::Once })),
            None => {
                card.demands.first = Some((human.to_owned(), scope));
                Ok(Second::First)
            }
        }
    }

    /// A first approval of two could not be recorded: it does not count.
    pub fn not_first(&mut self, id: &ApprovalId) {
        if let Some(card) = self.answerable(id) {
            card.demands.first = None;
        }
    }

    /// The card of this id, held or denied.
    fn answerable(&mut self, id: &ApprovalId) -> Option<&mut Card> {
        let held = self.pending.get_mut(id).map(|held| &mut held.card);
        held.or_else(|| self.denied.get_mut(id).map(|denied| &mut denied.card))
    }

    /// True for what the inspector denied.
    pub fn is_denied(&self, id: &ApprovalId) -> bool {
        self.denied.contains_key(id)
    }

    /// Lets all that would be asked in a workspace through, for a while.
    pub fn let_all(&mut self, id: ApprovalId, workspace: WorkspaceName, by: Person, until_boot_ms: u64, why: &str) {
        let pass = Pass { by, until_boot_ms, id, workspace };
        self.grants.push(Grant { reach: None, epoch: 0, pass, used: 0, words: format!("everything: {why}") });
    }

    /// True when commands of a workspace may be let through ahead.
    pub fn has_grants(&self, workspace: &WorkspaceName) -> bool {
        self.grants.iter().any(|grant| grant.pass.workspace == *workspace)
    }

    /// The grant that covers a command of this taint epoch: who gave it, under which id, and whether it is one for everything.
    pub fn granted(
        &mut self,
        workspace: &WorkspaceName,
        epoch: u64,
        reach: Option<&Reach>,
        now: Now,
    ) -> Option<(Person, ApprovalId, bool)> {
        let counts = |grant: &&mut Grant| {
            grant.pass.workspace == *workspace
                && grant.counts(now, Some(epoch))
                && grant.reach.as_ref().is_none_or(|of| reach.is_some_and(|wanted| of.covers(wanted)))
        };
        let grant = self.grants.iter_mut().find(counts)?;
        grant.used += 1;
        Some((grant.pass.by.clone(), grant.pass.id.clone(), grant.reach.is_none()))
    }

    /// Grants whose time is over, or whose taint epoch is, count no more.
    pub fn end_grants(&mut self, now: Now, epoch_of: impl Fn(&WorkspaceName) -> Option<u64>) {
        self.grants.retain(|grant| grant.counts(now, epoch_of(&grant.pass.workspace)));
    }

    /// True while what goes by this id lets others through.
    pub fn lets_ahead(&self, id: &ApprovalId, now: Now, epoch: u64) -> bool {
        let by_session = |session: &Session| session.pass.id == *id && session.epoch == epoch;
        let by_word = |(word, pass): &(Word, Pass)| {
            pass.id == *id && pass.until_boot_ms > now.boot_ms && matches!(word, Word::Approve(_))
        };
        self.grants.iter().any(|grant| grant.pass.id == *id && grant.counts(now, Some(epoch)))
            || self.sessions.values().any(by_session)
            || self.standing.values().any(by_word)
    }

    /// What is let through ahead.
    pub fn ahead(&self, now: Now, epoch_of: impl Fn(&WorkspaceName) -> Option<u64>) -> Vec<Ahead> {
        let shown = |pass: &Pass, used: u64, words: String, is_everything: bool| Ahead {
            id: pass.id.clone(),
            workspace: pass.workspace.clone(),
            by: pass.by.clone(),
            until_boot_ms: pass.until_boot_ms,
            words,
            used,
            is_everything,
        };
        let counting = self.grants.iter().filter(|grant| grant.counts(now, epoch_of(&grant.pass.workspace)));
        let grants = counting.map(|grant| shown(&grant.pass, grant.used, grant.words.clone(), grant.reach.is_none()));
        let counts = |session: &&Session| epoch_of(&session.pass.workspace) == Some(session.epoch);
        let mut sessions: Vec<Ahead> = self
            .sessions
            .values()
            .filter(counts)
            .map(|session| shown(&session.pass, session.used, format!("the same command: {}", session.command), false))
            .collect();
        sessions.sort_by(|one, other| one.id.cmp(&other.id));
        grants.chain(sessions).collect()
    }

    /// The word on going on without the inspector, if there is one that counts: what, by whom, under which id.
    pub fn standing(&self, outage: &RequestKey, now: Now) -> Option<(Word, Person, ApprovalId)> {
        let (reply, pass) = self.standing.get(outage)?;
        (pass.until_boot_ms > now.boot_ms).then(|| (reply.clone(), pass.by.clone(), pass.id.clone()))
    }

    /// True when the word on going on without the inspector that was said under this id counts.
    pub fn stands(&self, id: &ApprovalId) -> bool {
        self.standing.values().any(|(_, pass)| pass.id == *id)
    }

    /// True while the inspector is unavailable.
    pub const fn is_out(&self) -> bool {
        self.outage
    }

    /// The inspector is unavailable, until it answers.
    pub fn inspector_is_out(&mut self) {
        self.outage = true;
    }

    /// The inspector answers. If it was out, words on going on without it are over: gives back the cases that wait for it.
    pub fn inspector_answers(&mut self) -> Vec<CaseId> {
        self.standing.clear();
        if !std::mem::take(&mut self.outage) {
            return Vec::new();
        }
        self.pending.values().filter(|held| held.card.outage).flat_map(|held| held.cases.iter().copied()).collect()
    }

    /// One case of each card that waits for the inspector, to try it with.
    pub fn waits_for_inspector(&self) -> Vec<CaseId> {
        self.pending.values().filter(|held| held.card.outage).filter_map(|held| held.cases.first().copied()).collect()
    }

    /// Strikes a card out without an answer: it lapsed, or it could not be recorded. Gives back the cases that waited.
    pub fn remove(&mut self, id: &ApprovalId) -> Vec<CaseId> {
        self.strike(id).map(|held| held.cases).unwrap_or_default()
    }

    fn strike(&mut self, id: &ApprovalId) -> Option<Held> {
        let held = self.pending.remove(id)?;
        let card = &held.card;
        if self.by_key.get(&card.key) == Some(id) {
            self.by_key.remove(&card.key);
        }
        if let Some((cards, bytes)) = self.load.get_mut(&card.workspace) {
            *cards -= 1;
            *bytes -= card.command.len();
            if *cards == 0 {
                self.load.remove(&card.workspace);
            }
        }
        self.close(id.clone());
        Some(held)
    }

    /// Keeps a denial by the inspector for overruling. Where a workspace has too many, its oldest go.
    pub fn keep_denied(&mut self, card: Card, now: Now) {
        self.denied.retain(|_, denied| denied.until_boot_ms > now.boot_ms);
        loop {
            let of_workspace = || self.denied.values().filter(|denied| denied.card.workspace == card.workspace);
            let bytes: usize = of_workspace().map(|denied| denied.card.command.len()).sum();
            if of_workspace().count() < MAX_DENIED && bytes + card.command.len() <= MAX_DENIED_BYTES {
                break;
            }
            let oldest = of_workspace().min_by_key(|denied| denied.until_boot_ms).map(|denied| denied.card.id.clone());
            let Some(oldest) = oldest else { break };
            self.denied.remove(&oldest);
            self.close(oldest);
        }
        let until_boot_ms = now.boot_ms + OVERRULE_MS;
        self.denied.insert(card.id.clone(), Overruled { card, until_boot_ms });
    }

    /// Takes the pass for a request, if a person gave one: who it was, and under which id.
    pub fn take_pass(&mut self, key: &RequestKey, now: Now) -> Option<(Person, ApprovalId)> {
        self.passes.retain(|_, pass| pass.until_boot_ms > now.boot_ms);
        let once = self.passes.remove(key).map(|pass| (pass.by, pass.id));
        once.or_else(|| {
            let session = self.sessions.get_mut(key)?;
            session.used += 1;
            Some((session.pass.by.clone(), session.pass.id.clone()))
        })
    }

    /// Ids of cards whose time is over.
    pub fn lapsed(&self, now: Now) -> Vec<ApprovalId> {
        self.cards().filter(|card| card.expires_boot_ms <= now.boot_ms).map(|card| card.id.clone()).collect()
    }

    /// The cases that wait for a card.
    pub fn waiting(&self, id: &ApprovalId) -> Vec<CaseId> {
        self.pending.get(id).map(|held| held.cases.clone()).unwrap_or_default()
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

    fn ann() -> Person {
        Person::named("ann")
    }
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
            key: key(1),
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
            asked_at_ms: 0,
            expires_boot_ms: 100,
            offers_session,
            waiting: 1,
            outage: false,
            also: Vec::new(),
            demands: super::super::Demands::default(),
            grant: None,
            way: Vec::new(),
            forecast: crate::approval::Forecast::default(),
        }
    }

    fn key(epoch: u64) -> RequestKey {
        RequestKey::of(&WorkspaceName::parse("default").unwrap(), &["curl x"], epoch)
    }

    const APPROVE: Word = Word::Approve(Scope::Once);

    #[test]
    fn an_id_is_answered_once_and_in_time() {
        let mut book = Book::default();
        let first = card(1, false);
        book.hold(7, first.clone());
        assert_eq!(
            book.answer(&first.id, &APPROVE, &Person::named("ann"), now(99)).unwrap(),
            Given::Cases(vec![7], first.workspace.clone())
        );
        assert_eq!(book.answer(&first.id, &APPROVE, &Person::named("ann"), now(99)), Err(AnswerError::Over(first.id)));
        let late = card(2, false);
        book.hold(8, late.clone());
        assert_eq!(
            book.answer(&late.id, &APPROVE, &Person::named("ann"), now(100)),
            Err(AnswerError::Over(late.id.clone()))
        );
        assert_eq!(book.lapsed(now(100)), std::slice::from_ref(&late.id));
        assert_eq!(book.remove(&late.id), [8]);
        let never = ApprovalId::from_random([9; 5]);
        assert!(matches!(book.answer(&never, &APPROVE, &Person::named("ann"), now(0)), Err(AnswerError::Unknown(_))));
    }

    #[test]
    fn a_session_is_offered_only_where_the_card_says_so_and_ends_with_the_epoch() {
        let mut book = Book::default();
        let closed = card(1, false);
        book.hold(1, closed.clone());
        let session = Word::Approve(Scope::Session);
        assert_eq!(
            book.answer(&closed.id, &session, &Person::named("ann"), now(0)),
            Err(AnswerError::OnlyOnce(closed.id.clone()))
        );
        assert!(book.card(&closed.id).is_some(), "a refused answer leaves it pending");
        let open = card(2, true);
        book.hold(2, open.clone());
        book.answer(&open.id, &session, &Person::named("ann"), now(0)).unwrap();
        assert_eq!(book.take_pass(&key(1), now(1)).map(|(by, _)| by), Some(ann()));
        assert_eq!(book.take_pass(&key(1), now(2)).map(|(by, _)| by), Some(ann()));
        assert_eq!(book.take_pass(&key(2), now(2)), None);
    }

    #[test]
    fn what_is_asked_twice_is_one_card_and_one_answer() {
        let mut book = Book::default();
        let first = card(1, true);
        book.hold(7, first.clone());
        assert_eq!(book.join(8, &key(1), 0, now(0)), Ok(Some(first.id.clone())));
        assert_eq!(book.join(9, &key(2), 0, now(0)), Ok(None), "another epoch is another question");
        assert_eq!((book.cards().count(), book.card(&first.id).unwrap().waiting), (1, 2));
        assert_eq!(book.leave(&first.id, 7), None, "somebody still waits");
        assert_eq!(book.leave(&first.id, 8).map(|card| card.id), Some(first.id.clone()));
        assert_eq!(book.join(9, &key(1), 0, now(0)), Ok(None), "a card that is over is joined by nobody");
        let late = card(3, true);
        book.hold(7, late.clone());
        assert_eq!(book.join(8, &key(1), 250, now(50)), Ok(Some(late.id.clone())));
        assert_eq!(book.card(&late.id).unwrap().expires_boot_ms, 250, "it waits for the last that asked");
        assert_eq!(book.join(9, &key(1), 999, now(250)), Ok(None), "its time is over");
        book.remove(&late.id);
        let second = card(2, true);
        book.hold(7, second.clone());
        for case in 1..16 {
            assert_eq!(book.join(case, &key(1), 0, now(0)), Ok(Some(second.id.clone())));
        }
        assert_eq!(book.join(16, &key(1), 0, now(0)), Err(Full::Joined));
        let Ok(Given::Cases(cases, _)) = book.answer(&second.id, &APPROVE, &Person::named("ann"), now(0)) else {
            panic!()
        };
        assert_eq!(cases.len(), 16);
    }

    #[test]
    fn a_workspace_holds_so_many_cards_and_bytes() {
        let mut book = Book::default();
        let name = WorkspaceName::parse("default").unwrap();
        let long = "x".repeat(256 << 10);
        for n in 0..16 {
            book.has_room(&name, &long, 17).unwrap();
            let one = card(n, false);
            book.hold(1, Card { command: long.clone(), key: key(u64::from(n)), ..one });
        }
        assert_eq!(book.has_room(&name, "x", 17), Err(Full::Bytes));
        assert_eq!(book.has_room(&name, "x", 16), Err(Full::Cards));
        assert_eq!(book.has_room(&WorkspaceName::parse("other").unwrap(), "x", 16), Ok(()));
        for n in 0..16 {
            assert_eq!(book.remove(&ApprovalId::from_random([n; 5])), [1]);
        }
        assert_eq!(book.has_room(&name, &long, 17), Ok(()));
        assert!(book.load.is_empty() && book.by_key.is_empty());
    }

    #[test]
    fn a_word_on_going_on_without_the_inspector_lasts_until_it_answers_or_is_taken_back() {
        let mut book = Book::default();
        let ask = |book: &mut Book, n| {
            let asked = Card { outage: true, ..card(n, false) };
            book.hold(7, asked.clone());
            asked.id
        };
        book.inspector_is_out();
        let first = ask(&mut book, 1);
        book.answer(&first, &APPROVE, &Person::named("ann"), now(0)).unwrap();
        assert_eq!(book.standing(&key(1), now(GO_ON_MS - 1)).map(|(_, by, _)| by), Some(ann()));
        assert_eq!(book.standing(&key(1), now(GO_ON_MS)), None);
        assert_eq!(book.standing(&key(2), now(1)), None, "not in another epoch");
        let deny = Word::Deny { reason: String::new() };
        assert!(matches!(book.answer(&first, &deny, &Person::named("bob"), now(1)), Ok(Given::Revoked(_))));
        assert_eq!(book.standing(&key(1), now(1)), None);
        let second = ask(&mut book, 2);
        book.answer(&second, &deny, &Person::named("bob"), now(0)).unwrap();
        assert!(matches!(book.standing(&key(1), now(1)), Some((Word::Deny { .. }, ..))));
        let third = ask(&mut book, 3);
        assert_eq!(book.waits_for_inspector(), [7]);
        assert_eq!(book.inspector_answers(), [7]);
        assert_eq!(book.inspector_answers(), [0; 0], "they are asked again once");
        assert_eq!(book.standing(&key(1), now(1)), None);
        assert!(book.card(&third).is_some());
        // Who says it when the inspector is back says it about what waits, not about what comes.
        book.answer(&third, &APPROVE, &Person::named("ann"), now(2)).unwrap();
        assert_eq!(book.standing(&key(1), now(2)), None);
    }

    #[test]
    fn a_denial_takes_back_what_was_approved_for_later() {
        let mut book = Book::default();
        let deny = Word::Deny { reason: String::new() };
        let session = card(1, true);
        book.hold(1, session.clone());
        book.answer(&session.id, &Word::Approve(Scope::Session), &Person::named("ann"), now(0)).unwrap();
        assert_eq!(
            book.answer(&session.id, &deny, &Person::named("bob"), now(1)),
            Ok(Given::Revoked(session.workspace))
        );
        assert_eq!(book.take_pass(&key(1), now(2)), None);
        assert_eq!(book.answer(&session.id, &deny, &Person::named("bob"), now(3)), Err(AnswerError::Over(session.id)));
        let denied = card(2, false);
        book.keep_denied(denied.clone(), now(0));
        book.answer(&denied.id, &APPROVE, &Person::named("ann"), now(1)).unwrap();
        assert!(matches!(book.answer(&denied.id, &deny, &Person::named("bob"), now(2)), Ok(Given::Revoked(_))));
        assert_eq!(book.take_pass(&key(1), now(3)), None);
    }

    #[test]
    fn denials_of_one_workspace_push_out_only_their_own() {
        let mut book = Book::default();
        let other = Card { workspace: WorkspaceName::parse("other").unwrap(), ..card(200, false) };
        book.keep_denied(other.clone(), now(0));
        for n in 0..100 {
            book.keep_denied(card(n, false), now(u64::from(n)));
        }
        assert_eq!(book.denied(now(100)).count(), MAX_DENIED + 1);
        assert!(book.card(&other.id).is_some() && book.card(&card(0, false).id).is_none());
        book.keep_denied(Card { command: "x".repeat(MAX_DENIED_BYTES), ..card(101, false) }, now(101));
        assert_eq!(book.denied(now(102)).count(), 2);
    }

    #[test]
    fn an_overruled_denial_passes_once() {
        let mut book = Book::default();
        let denied = card(1, false);
        book.keep_denied(denied.clone(), now(0));
        assert_eq!(
            book.answer(&denied.id, &APPROVE, &Person::named("ann"), now(5)).unwrap(),
            Given::Pass(denied.workspace)
        );
        assert_eq!(book.take_pass(&key(1), now(6)).map(|(by, _)| by), Some(ann()));
        assert_eq!(book.take_pass(&key(1), now(7)), None);
        let other = card(2, false);
        book.keep_denied(other.clone(), now(0));
        assert_eq!(
            book.answer(&other.id, &APPROVE, &Person::named("ann"), now(OVERRULE_MS)),
            Err(AnswerError::Over(other.id))
        );
    }
}
