//! What people answer: one card, all of them, ahead of what is asked; and the codes that show who they are.

use bashgate_shared::protocol::WorkspaceName;
use serde_json::{Value, json};

use super::CaseId;
use super::core::Core;
use super::people::Told;
use crate::approval::codes::{Act, Code, FEW, ROWS, Tried};
use crate::approval::{AnswerError, ApprovalId, Given, MOST_MINUTES, Scope, Second, Word};
use crate::audit::RecordKind;
use crate::authority::{By, Person};
use crate::case;
use crate::chat::{Notice, notice};
use crate::clock;
use crate::control::Reply;
use crate::fault;
use crate::policy::risk::Matter;

/// How the accounts of whoever was let in to the page begin.
pub(super) const PAGE: &str = "page:";

/// What came of a code that an answer takes.
pub(super) enum Coded {
    /// The answer counts, with what is to be said besides.
    Counts(String),
    /// It does not, and what to say.
    Refused {
        /// The words.
        words: String,
        /// True for a code that was wrong.
        is_guess: bool,
    },
}

/// What a code lets somebody do, and what to do with it, in words.
fn purpose(act: Act, id: &ApprovalId) -> String {
    let (reaches, word) = match act {
        Act::Approve(Scope::Once) => ("once".to_owned(), String::new()),
        Act::Approve(Scope::Session) => ("until the taint changes".to_owned(), " session".to_owned()),
        Act::Approve(Scope::Grant { minutes }) => {
            (format!("with others of its kind for {minutes} minutes"), format!(" grant {minutes}"))
        }
        Act::SaveRule => return "saves the rule; give it, and save again".to_owned(),
    };
    format!("lets it run {reaches}; say: approve {id}{word} 12345678")
}

impl Core {
    /// An answer from the host's own terminal or its page. Who was let in from there needs no code, but for what lets others run
    /// on the page: a browser is open longer than anybody looks at it.
    pub(super) fn answer_from_here(&mut self, id: &ApprovalId, word: &Word, code: Option<&Code>, by: &str) -> Told {
        // The page shows each one as it comes.
        if matches!(word, Word::Approve(_))
            && !by.starts_with(PAGE)
            && let Some(more) = self.more_wait(id)
        {
            return more.into();
        }
        if let Word::Approve(scope @ Scope::Grant { .. }) = word
            && by.starts_with(PAGE)
            && self.book.card(id).is_some()
        {
            return match self.coded(by, id, Act::Approve(*scope), code) {
                Coded::Refused { words, .. } => Reply::refused(words).into(),
                Coded::Counts(more) => self.answer(id, word, by).with(&more),
            };
        }
        self.answer(id, word, by)
    }

    /// What is said instead of a yes where more wait for a card than were shown.
    pub(super) fn more_wait(&mut self, id: &ApprovalId) -> Option<Reply> {
        let waiting = self.book.grown(id)?;
        self.book.told(Some(id));
        Some(Reply::refused(format!(
            "{waiting} requests wait for {id} now, more than you were shown; say it again to let all of them run"
        )))
    }

    /// True when an answer from a channel takes a code.
    pub(super) fn takes_code(&self, id: &ApprovalId, scope: Scope) -> bool {
        let Some(card) = self.book.card(id) else { return false };
        let high = &self.config.policy.risk.high;
        let by_scope = Matter::of_scope(scope).is_some_and(|matter| high.contains(&matter));
        card.demands.code || by_scope || self.book.is_denied(id) && high.contains(&Matter::Overrule)
    }

    /// Whether what an account does about a card counts, as far as its code says so.
    pub(super) fn coded(&mut self, account: &str, id: &ApprovalId, act: Act, code: Option<&Code>) -> Coded {
        let refused = |words: String, is_guess| Coded::Refused { words, is_guess };
        let tried = match code {
            None => Ok(Tried::NotAsked),
            Some(code) => self.codes.tried(account, id, act, code),
        };
        let before = match tried {
            Ok(Tried::Right { left: 0 }) => {
                return Coded::Counts(format!("that was your last code: bashgate codes new {account}"));
            }
            Ok(Tried::Right { left }) if left <= FEW => {
                return Coded::Counts(format!("{left} codes are left: bashgate codes new {account}"));
            }
            Ok(Tried::Right { .. }) => return Coded::Counts(String::new()),
            Ok(Tried::Wrong { number, tries: 1.. }) => {
                return refused(format!("that is not code {number} of your sheet; look again: {id}"), true);
            }
            Ok(Tried::Wrong { .. }) => "that was wrong again; ",
            Ok(Tried::NotAsked) => "",
            Err(why) => return refused(format!("{why}: {id}"), false),
        };
        match self.codes.ask(account, id, act) {
            Ok(number) => refused(
                format!("{before}this takes code {number} of your sheet, which {}", purpose(act, id)),
                !before.is_empty(),
            ),
            Err(why) => refused(format!("this takes a one-time code, and {why} ({id})"), false),
        }
    }

    /// Makes a sheet of codes for an account.
    pub(super) fn codes_new(&mut self, account: &str, by: &str) -> Reply {
        if account.is_empty()
            || account.len() > 200
            || account.chars().any(|letter| letter.is_control() || letter == ' ')
        {
            return Reply::refused(format!(
                "`{account}` is no account: it is a service with the id that it gives people, as telegram:123456789, or {PAGE}USER"
            ));
        }
        let detail = json!({"event": "codes made", "account": account, "by": by});
        // What is not on record does not count.
        if let Err(why) = self.records.write(RecordKind::Host, None, detail, Vec::new()) {
            return Reply::refused(why);
        }
        match self.codes.make(account) {
            Ok(sheet) => {
                let codes: Vec<String> = sheet
                    .codes
                    .iter()
                    .zip(1..)
                    .map(|(code, number)| {
                        let (first, second) = code.split_at(4);
                        format!("{number:>3}  {first} {second}")
                    })
                    .collect();
                let lines: Vec<String> = codes.chunks(4).map(|row| row.join("    ")).collect();
                let text = format!(
                    "One-time codes of {account}. They are shown once: print them, or keep them where this account's service cannot read them.\n\n{}",
                    lines.join("\n")
                );
                Reply::done(text, json!({"account": account, "codes": sheet.codes}))
            }
            Err(error) => Reply::refused(format!("the sheet cannot be written: {error}")),
        }
    }

    /// Who has codes.
    pub(super) fn codes_list(&self) -> Reply {
        match self.codes.all() {
            Ok(all) => {
                let lines: Vec<String> =
                    all.iter().map(|(account, left)| format!("{account}  {left} of {ROWS} codes are left")).collect();
                let data: Vec<Value> =
                    all.iter().map(|(account, left)| json!({"account": account, "left": left})).collect();
                let none = "Nobody has codes. Make a sheet with: bashgate codes new ACCOUNT".to_owned();
                Reply::done(if lines.is_empty() { none } else { lines.join("\n") }, json!(data))
            }
            Err(error) => Reply::refused(format!("the sheets cannot be read: {error}")),
        }
    }

    /// An account's codes count no more.
    pub(super) fn codes_remove(&mut self, account: &str, by: &str) -> Reply {
        match self.codes.remove(account) {
            Ok(true) => {
                self.records.record(
                    RecordKind::Host,
                    None,
                    json!({"event": "codes removed", "account": account, "by": by}),
                );
                Reply::done(format!("The codes of {account} count no more."), json!({"account": account}))
            }
            Ok(false) => Reply::refused(format!("`{account}` has no codes; see: bashgate codes list")),
            Err(error) => Reply::refused(format!("the sheet cannot be taken away: {error}")),
        }
    }

    /// Lets everything through that would be asked in a workspace, for a while. On record before it counts, and said everywhere.
    pub(super) fn break_glass(&mut self, name: &WorkspaceName, minutes: u64, why: &str, by: &str) -> Reply {
        if !(1..=MOST_MINUTES).contains(&minutes) {
            return Reply::refused(format!("from 1 to {MOST_MINUTES} minutes, not {minutes}"));
        }
        if why.trim().is_empty() {
            return Reply::refused("say why, with --why TEXT");
        }
        let Some(id) = self.new_approval_id() else { return Reply::refused("the host cannot make an approval id") };
        let detail = json!({"event": "break-glass", "approval": id, "minutes": minutes, "why": why, "by": by});
        if let Err(why) = self.records.write(RecordKind::Answer, Some(name), detail, Vec::new()) {
            return Reply::refused(why);
        }
        let until = clock::now().boot_ms + minutes * 60_000;
        self.book.let_all(id.clone(), name.clone(), Person::named(by), until, why);
        let text = format!(
            "For {minutes} minutes everything in {name} runs that would be asked about, by {by}: {}. End it with: deny {id}",
            notice::one_line(why, 200)
        );
        self.say_everywhere(name, &text);
        Reply::done(text, json!({"id": id, "workspace": name, "minutes": minutes}))
    }

    /// Says something about a workspace in every channel, and to whoever watches here.
    pub(super) fn say_everywhere(&mut self, workspace: &WorkspaceName, words: &str) {
        self.show_ahead();
        self.remark(workspace, words);
    }

    /// The same where what is let through ahead has been shown.
    pub(super) fn remark(&mut self, workspace: &WorkspaceName, words: &str) {
        self.desk.board().remark(workspace, words);
        self.desk.tell(&Notice::Reply(words.to_owned()));
    }

    /// True where two people must approve.
    pub(super) fn takes_two(&self, id: &ApprovalId, scope: Scope) -> bool {
        let two = &self.config.policy.risk.two_people;
        let by_scope = Matter::of_scope(scope).is_some_and(|matter| two.contains(&matter));
        self.book.card(id).is_some_and(|card| card.demands.two_people || by_scope)
    }

    /// Where two people must approve: whether this one's word is the second. `Err` is what to tell them.
    fn two_people(&mut self, id: &ApprovalId, scope: Scope, by: &Person) -> Result<Scope, Reply> {
        let Some(card) = self.book.card(id).filter(|_| self.takes_two(id, scope)) else { return Ok(scope) };
        let workspace = card.workspace.clone();
        let Some(human) = self.config.people.get(by.account()).cloned() else {
            return Err(Reply::refused(format!(
                "two people must approve this, and nobody knows whose account `{}` is; for the operator: name it under `[people]` ({id})",
                by.account()
            )));
        };
        match self.book.second(id, scope, &human, clock::now()) {
            Ok(Second::Counts(scope)) => Ok(scope),
            Ok(Second::First) => {
                let detail = json!({"event": "first of two", "approval": id, "person": human, "by": by.to_string()});
                if let Err(why) = self.records.write(RecordKind::Answer, Some(&workspace), detail, Vec::new()) {
                    self.book.not_first(id);
                    return Err(Reply::refused(why));
                }
                let first = Some((human.clone(), scope));
                self.desk.board().renew(id, |card| card.demands.first = first);
                Err(Reply::done(
                    format!("Approved by {human}; another person must approve it, too: {id}"),
                    json!({"id": id, "first": human}),
                ))
            }
            Err(error) => Err(Reply::refused(error.to_string())),
        }
    }

    /// Denies everything that is held in these workspaces.
    pub(super) fn deny_all(&mut self, is_meant: impl Fn(&WorkspaceName) -> bool, reason: &str, by: &str) -> Told {
        let meant = self.book.cards().filter(|card| is_meant(&card.workspace));
        let ids: Vec<ApprovalId> = meant.map(|card| card.id.clone()).collect();
        let ahead = self.ahead(&is_meant).len();
        let more =
            if ahead == 0 { String::new() } else { format!(". {ahead} let through ahead still count (see: grants)") };
        if ids.is_empty() {
            return Reply::refused(format!("nothing is held there{more}")).into();
        }
        let word = Word::Deny { reason: reason.to_owned() };
        let mut waited = Vec::new();
        for id in &ids {
            if let Told::Recorded { cases, .. } = self.answer(id, &word, by) {
                waited.extend(cases);
            }
        }
        let reply =
            Reply::done(format!("Denied: all {} that were held{more}", ids.len()), json!({"denied": ids.len()}));
        if waited.is_empty() { reply.into() } else { Told::Recorded { cases: waited, approves: false, reply } }
    }

    /// Takes an answer that counts as far as who says it.
    pub(super) fn answer(&mut self, id: &ApprovalId, word: &Word, by: &str) -> Told {
        let approves = matches!(word, Word::Approve(_));
        let mut word = word.clone();
        if let Word::Approve(scope) = &mut word {
            match self.two_people(id, *scope, &Person::named(by)) {
                Ok(both) => *scope = both,
                Err(reply) => return reply.into(),
            }
        }
        let word = &word;
        let answered = || case::Event::Answered(word.clone(), Person::named(by));
        // A denial counts as long as the approval before it has not gone out.
        let overtaken = if approves { Vec::new() } else { self.approved_under(id) };
        let person = Person::named(by);
        let given = self.book.answer(id, word, &person, clock::now());
        for case in &overtaken {
            self.step(*case, answered());
        }
        match given {
            Err(AnswerError::Over(_) | AnswerError::Unknown(_)) | Ok(Given::Revoked(_)) if !overtaken.is_empty() => {
                let reply = Reply::done(format!("Denied before the approval took effect: {id}"), json!({"id": id}));
                Told::Recorded { cases: overtaken, approves, reply }
            }
            Err(error) => Reply::refused(error.to_string()).into(),
            Ok(Given::Cases(cases, _)) => {
                for case in &cases {
                    self.step(*case, answered());
                }
                fault::here("approval.answered");
                let told = self.answered(id, approves, by, cases);
                match word {
                    Word::Approve(Scope::Grant { .. }) => self.is_granted(id),
                    Word::Approve(Scope::Session) => self.show_ahead(),
                    _ => {}
                }
                told
            }
            Ok(Given::Pass(workspace)) => {
                let detail = json!({"event": "overruled", "approval": id, "approved": approves, "by": by});
                if let Err(why) = self.records.write(RecordKind::Answer, Some(&workspace), detail, Vec::new()) {
                    // What is not on record does not count.
                    let _ = self.book.answer(id, &Word::Deny { reason: String::new() }, &person, clock::now());
                    return Reply::refused(why).into();
                }
                let text = if approves {
                    format!("The same command may run once, when the agent asks again: {id}")
                } else {
                    format!("Stays denied: {id}")
                };
                Reply::done(text, json!({"id": id})).into()
            }
            Ok(Given::Revoked(workspace)) => {
                self.show_ahead();
                let detail = json!({"event": "revoked", "approval": id, "by": by});
                match self.records.write(RecordKind::Answer, Some(&workspace), detail, Vec::new()) {
                    Ok(()) => Reply::done(format!("The approval counts no more: {id}"), json!({"id": id})).into(),
                    Err(why) => Reply::refused(format!("the approval counts no more, but {why}")).into(),
                }
            }
        }
    }

    /// A grant was given: it is on record, or does not count; and everybody hears of it.
    fn is_granted(&mut self, id: &ApprovalId) {
        let Some(grant) = self.ahead(|_| true).into_iter().find(|grant| grant.id == *id) else { return };
        let minutes = grant.until_boot_ms.saturating_sub(clock::now().boot_ms).div_ceil(60_000);
        let detail = json!({"event": "granted", "approval": id, "covers": grant.words, "minutes": minutes, "by": grant.by.to_string()});
        if let Err(why) = self.records.write(RecordKind::Answer, Some(&grant.workspace), detail, Vec::new()) {
            tracing::error!(why, "a grant could not be recorded, so it does not count");
            let _ = self.book.answer(id, &Word::Deny { reason: String::new() }, &grant.by, clock::now());
            return;
        }
        let words = format!(
            "Granted in {} for {minutes} minutes, or until its taint changes, by {}: {}. End it with: deny {id}",
            grant.workspace,
            grant.by,
            notice::one_line(&grant.words, 300)
        );
        self.say_everywhere(&grant.workspace, &words);
    }

    /// What came of an answer to a card. Where the taint changed since the card was shown, a command is judged anew: then it
    /// is asked again, or decided without the answer, and either is said.
    fn answered(&self, id: &ApprovalId, approves: bool, by: &str, cases: Vec<CaseId>) -> Told {
        let human = By::Human(Person::named(by));
        let (mut by_answer, mut otherwise, mut again) = (Vec::new(), Vec::new(), 0);
        for case in cases {
            match self.cases.get(case).and_then(|open| open.case.verdict()) {
                Some(verdict) if verdict.by == human => by_answer.push(case),
                Some(verdict) => otherwise.push(format!("{} by {}", verdict.answer.as_str(), verdict.by)),
                None => again += 1,
            }
        }
        let mut more = String::new();
        if again > 0 {
            more.push_str(&format!(
                "; the workspace's taint changed since then, so {again} are judged anew; see: bashgate pending"
            ));
        }
        if !otherwise.is_empty() {
            let otherwise = otherwise.join(", ");
            more.push_str(&format!(
                "; the workspace's taint changed since then, and without the answer it is now: {otherwise}"
            ));
        }
        if by_answer.is_empty() {
            return Reply::refused(format!("the answer to `{id}` does not count{more}")).into();
        }
        let mut text = format!("{}: {id}", if approves { "Approved" } else { "Denied" });
        if by_answer.len() > 1 {
            text.push_str(&format!(" ({} requests)", by_answer.len()));
        }
        text.push_str(&more);
        if approves && self.book.stands(id) {
            text.push_str("; until the inspector answers again, the offline rules alone decide what it would look at in this workspace");
        }
        let data = json!({"id": id, "requests": by_answer.len(), "judged_anew": again + otherwise.len()});
        Told::Recorded { cases: by_answer, approves, reply: Reply::done(text, data) }
    }

    /// The cases that were approved under an id and whose approval is still being written.
    fn approved_under(&self, id: &ApprovalId) -> Vec<CaseId> {
        let under = |of: &Option<ApprovalId>| of.as_ref() == Some(id);
        let approved = self.cases.iter().filter(|(_, open)| under(&open.approval) || under(&open.passed));
        approved.filter(|(_, open)| open.case.is_approved()).map(|(case, _)| *case).collect()
    }
}
