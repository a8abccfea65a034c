//! What people do: answers to held commands, taints, workspaces.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use bashgate_shared::mailbox;
use bashgate_shared::protocol::WorkspaceName;
use serde_json::{Value, json};

use super::CaseId;
use super::core::Core;
use crate::approval::{AnswerError, ApprovalId, Card, Given, Word};
use crate::audit::RecordKind;
use crate::authority::{By, Person};
use crate::case;
use crate::chat::grammar::{self, Said};
use crate::chat::{card, notice};
use crate::clock;
use crate::control::{ControlCommand, Reply};
use crate::fault;
use crate::store::Write;
use crate::taint::{Cause, Label};

/// What a person is told, and when.
#[must_use]
pub enum Told {
    /// At once.
    Now(Reply),
    /// When the verdicts of these cases are on record.
    Recorded {
        /// The cases.
        cases: Vec<CaseId>,
        /// True for an approval, which a denial may still overtake.
        approves: bool,
        /// What to say then.
        reply: Reply,
    },
}

impl Told {
    /// What there is to tell, for where nothing is waited for: no host runs, so no case is open.
    pub fn reply(self) -> Reply {
        match self {
            Self::Now(reply) | Self::Recorded { reply, .. } => reply,
        }
    }
}

impl From<Reply> for Told {
    fn from(reply: Reply) -> Self {
        Self::Now(reply)
    }
}

impl Core {
    /// Does what a command on the control socket says.
    pub fn control(&mut self, command: ControlCommand, by: &str) -> Told {
        let reply = match command {
            ControlCommand::Say { words } => {
                return self
                    .say(&words, by)
                    .unwrap_or_else(|| Reply::refused("that is no answer; an id has 8 letters and digits").into());
            }
            ControlCommand::Pending { denied } => self.pending(denied, |_| true),
            ControlCommand::PageLink | ControlCommand::PageLock => {
                Reply::refused("the page is served by a running host: bashgate serve")
            }
            ControlCommand::ChatList => self.chat_list(),
            ControlCommand::ChatTest { channel } => self.chat_test(&channel),
            ControlCommand::ChatTested { id } => self.chat_tested(&id),
            ControlCommand::Show { id } => match ApprovalId::parse(&id) {
                Some(id) => self.show(&id),
                None => Reply::refused(format!("`{id}` is no id: it has 8 letters and digits")),
            },
            ControlCommand::TaintShow { workspace } => self.with(&workspace, |core, name| core.taint_show(&name)),
            ControlCommand::TaintRaise { workspace, label, why } => {
                self.with(&workspace, |core, name| core.taint_raise(&name, &label, &why, by))
            }
            ControlCommand::TaintClear { workspace } => {
                self.with(&workspace, |core, name| core.start_over(&name, by, RecordKind::Taint, "cleared"))
            }
            ControlCommand::WorkspaceRenew { workspace } => {
                self.with(&workspace, |core, name| core.start_over(&name, by, RecordKind::Workspace, "renewed"))
            }
            ControlCommand::WorkspaceAdd { workspace } => self.workspace_add(&workspace, by),
            ControlCommand::WorkspaceRemove { workspace } => {
                self.with(&workspace, |core, name| core.workspace_remove(&name, by))
            }
            ControlCommand::WorkspaceList => self.workspace_list(),
            ControlCommand::KeyRotate { revoke } => self.exchange_key(Some(revoke), by),
            ControlCommand::KeyRetire => self.exchange_key(None, by),
            ControlCommand::ScriptList { workspace } => self.with(&workspace, |core, name| core.script_list(&name)),
            ControlCommand::ScriptRevoke { workspace, sha256 } => {
                self.with(&workspace, |core, name| core.script_revoke(&name, &sha256, by))
            }
        };
        reply.into()
    }

    fn with(&mut self, workspace: &str, act: impl FnOnce(&mut Self, WorkspaceName) -> Reply) -> Reply {
        match WorkspaceName::parse(workspace) {
            Some(name) if self.workspaces.contains_key(&name) => act(self, name),
            _ => Reply::refused(format!(
                "there is no workspace `{workspace}`; add it with: bashgate workspace add {workspace}"
            )),
        }
    }

    /// Takes a line that a person said; `None` when it is talk.
    pub fn say(&mut self, line: &str, by: &str) -> Option<Told> {
        match grammar::read(line) {
            Said::Answer(id, word) => Some(self.answer(&id, &word, by)),
            Said::DenyAll(workspace, reason) => {
                Some(self.deny_all(|of| workspace.as_ref().is_none_or(|name| of == name), &reason, by))
            }
            Said::Pause(workspace, minutes) => {
                Some(self.with(workspace.as_str(), |core, name| core.pause(&name, minutes, by)).into())
            }
            Said::Resume(workspace) => Some(self.with(workspace.as_str(), |core, name| core.resume(&name, by)).into()),
            Said::Mute(workspace, muted) => {
                Some(self.with(workspace.as_str(), |core, name| core.mute(&name, muted, by)).into())
            }
            Said::Pending => Some(self.pending(false, |_| true).into()),
            Said::Show(id) => Some(self.show(&id).into()),
            Said::Help => Some(Reply::done(notice::HELP, Value::Null).into()),
            Said::Talk => None,
        }
    }

    /// Denies everything that is held in these workspaces.
    pub(super) fn deny_all(&mut self, is_meant: impl Fn(&WorkspaceName) -> bool, reason: &str, by: &str) -> Told {
        let meant = self.book.cards().filter(|card| is_meant(&card.workspace));
        let ids: Vec<ApprovalId> = meant.map(|card| card.id.clone()).collect();
        if ids.is_empty() {
            return Reply::refused("nothing is held there").into();
        }
        let word = Word::Deny { reason: reason.to_owned() };
        let mut waited = Vec::new();
        for id in &ids {
            if let Told::Recorded { cases, .. } = self.answer(id, &word, by) {
                waited.extend(cases);
            }
        }
        let reply = Reply::done(format!("Denied: all {} that were held", ids.len()), json!({"denied": ids.len()}));
        if waited.is_empty() { reply.into() } else { Told::Recorded { cases: waited, approves: false, reply } }
    }

    /// A workspace asks nobody for some minutes: what would be asked is denied.
    fn pause(&mut self, name: &WorkspaceName, minutes: u64, by: &str) -> Reply {
        let detail = json!({"event": "paused", "minutes": minutes, "by": by});
        if let Err(why) = self.records.write(RecordKind::Workspace, Some(name), detail, Vec::new()) {
            return Reply::refused(why);
        }
        let until = clock::now().boot_ms + minutes * 60_000;
        if let Some(known) = self.workspaces.get_mut(name) {
            known.paused = Some((by.to_owned(), until));
        }
        let text = format!(
            "{name} asks nobody for {minutes} minutes, or until the host restarts. What is held stays; end it with: deny all in {name}"
        );
        Reply::done(text, json!({"workspace": name, "minutes": minutes}))
    }

    fn resume(&mut self, name: &WorkspaceName, by: &str) -> Reply {
        let was_paused = self.workspaces.get_mut(name).and_then(|known| known.paused.take()).is_some();
        if !was_paused {
            return Reply::refused(format!("{name} is not paused"));
        }
        let detail = json!({"event": "resumed", "by": by});
        match self.records.write(RecordKind::Workspace, Some(name), detail, Vec::new()) {
            Ok(()) => Reply::done(format!("{name} may ask again"), json!({"workspace": name})),
            Err(why) => Reply::refused(format!("{name} may ask again, but {why}")),
        }
    }

    fn mute(&mut self, name: &WorkspaceName, muted: bool, by: &str) -> Reply {
        let detail = json!({"event": if muted { "muted" } else { "unmuted" }, "by": by});
        if let Err(why) = self.records.write(RecordKind::Workspace, Some(name), detail, Vec::new()) {
            return Reply::refused(why);
        }
        if let Some(known) = self.workspaces.get_mut(name) {
            known.muted = muted;
        }
        let text = if muted {
            format!("The cards of {name} are held without a word about each, until the host restarts; see: pending")
        } else {
            format!("The cards of {name} are told again")
        };
        Reply::done(text, json!({"workspace": name, "muted": muted}))
    }

    fn answer(&mut self, id: &ApprovalId, word: &Word, by: &str) -> Told {
        let approves = matches!(word, Word::Approve(_));
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
                self.answered(id, approves, by, cases)
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
                let detail = json!({"event": "revoked", "approval": id, "by": by});
                match self.records.write(RecordKind::Answer, Some(&workspace), detail, Vec::new()) {
                    Ok(()) => Reply::done(format!("The approval counts no more: {id}"), json!({"id": id})).into(),
                    Err(why) => Reply::refused(format!("the approval counts no more, but {why}")).into(),
                }
            }
        }
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

    /// What is held in these workspaces, or what was denied and can be overruled.
    pub(super) fn pending(&self, denied: bool, is_meant: impl Fn(&WorkspaceName) -> bool) -> Reply {
        let now = clock::now();
        let mut cards: Vec<&Card> = if denied {
            self.book.denied(now).map(|denied| &denied.card).collect()
        } else {
            // What is not on record yet is not asked about yet.
            let told: HashSet<&ApprovalId> =
                self.cases.values().filter(|open| open.announced).filter_map(|open| open.approval.as_ref()).collect();
            self.book.cards().filter(|card| told.contains(&card.id)).collect()
        };
        cards.retain(|card| is_meant(&card.workspace));
        let data: Vec<Value> = cards.iter().map(|card| card_json(card, now.boot_ms)).collect();
        let text = if cards.is_empty() && denied {
            "No denial can be overruled.".to_owned()
        } else {
            notice::list(cards.into_iter(), now.boot_ms)
        };
        Reply::done(text, Value::Array(data))
    }

    fn show(&self, id: &ApprovalId) -> Reply {
        let now = clock::now();
        match self.book.card(id) {
            Some(card) => Reply::done(card::render(card, now.boot_ms, true), card_json(card, now.boot_ms)),
            None => Reply::refused(format!("nothing is held under `{id}`")),
        }
    }

    /// Makes a new signing key, revoking the old one or not; or lets the old one count no more. What waits for an answer gets it
    /// with the key that it asked with, as long as that counts.
    fn exchange_key(&mut self, revoke: Option<bool>, by: &str) -> Reply {
        let before = self.keys.current.id().to_owned();
        let event = match revoke {
            Some(false) => "key rotated",
            Some(true) => "key revoked",
            None => "old key retired",
        };
        let exchanged = match revoke {
            Some(revoke) => self.folder.rotate_key(revoke),
            None => self.folder.retire_key(),
        };
        match exchanged {
            Ok(keys) => self.keys = keys,
            Err(error) => return Reply::refused(format!("{error}; {}", error.help())),
        }
        let current = &self.keys.current;
        let data = json!({"key": current.public().to_string(), "key_id": current.id(), "old_key_id": before,
                          "old_key_counts": self.keys.previous.is_some()});
        let detail = json!({"event": event, "by": by, "key": current.id(), "before": before});
        self.records.record(RecordKind::Host, None, detail);
        self.hand_out_programs();
        self.beat(clock::now());
        let words = match revoke {
            None => format!("Only the key {} counts now.", self.keys.current.id()),
            Some(_) => format!("The signing key is {} now; it was {before}.", self.keys.current.id()),
        };
        Reply::done(words, data)
    }

    fn taint_show(&self, name: &WorkspaceName) -> Reply {
        let seen = self.workspaces.get(name).map(|known| known.seen.clone()).unwrap_or_default();
        let mut text = format!("{name}: {} (epoch {})", seen.taint, seen.epoch);
        for cause in &seen.causes {
            let label = serde_json::to_value(cause.label)
                .ok()
                .and_then(|label| label.as_str().map(str::to_owned))
                .unwrap_or_default();
            text.push_str(&format!(
                "\n  {label}: {} by {} at {}",
                notice::one_line(&cause.source, 200),
                notice::one_line(&cause.by, 200),
                clock::date(cause.at_ms)
            ));
        }
        Reply::done(text, json!({"workspace": name, "taint": seen.taint, "epoch": seen.epoch, "causes": seen.causes}))
    }

    fn taint_raise(&mut self, name: &WorkspaceName, label: &str, why: &str, by: &str) -> Reply {
        let Some(label) = Label::named(label) else {
            return Reply::refused(format!("`{label}` is no label; use corruption or secret"));
        };
        if why.trim().is_empty() {
            return Reply::refused("say why, with --why TEXT");
        }
        let at_ms = clock::now().unix_ms;
        let Some(known) = self.workspaces.get_mut(name) else { return Reply::refused("there is no such workspace") };
        known.seen.raise(Cause { label, source: why.to_owned(), by: By::Human(Person::named(by)).to_string(), at_ms });
        let seen = known.seen.clone();
        let detail =
            json!({"event": "raised", "label": label, "why": why, "by": by, "taint": seen.taint, "epoch": seen.epoch});
        match self.records.write(RecordKind::Taint, Some(name), detail, vec![Write::Taint(name.clone(), seen)]) {
            Ok(()) => self.taint_show(name),
            // The taint counts all the same: it is in memory, and more is never wrong.
            Err(why) => Reply::refused(why),
        }
    }

    fn start_over(&mut self, name: &WorkspaceName, by: &str, kind: RecordKind, what: &str) -> Reply {
        let Some(known) = self.workspaces.get(name) else { return Reply::refused("there is no such workspace") };
        let mut seen = known.seen.start_over();
        let (before, contains_secrets) = (known.seen.taint, known.settings.contains_secrets);
        if contains_secrets {
            self.taint_by_settings(name, &mut seen);
        }
        let detail = json!({"event": what, "by": by, "taint_before": before, "taint": seen.taint, "epoch": seen.epoch});
        if let Err(why) = self.records.write(kind, Some(name), detail, vec![Write::Taint(name.clone(), seen.clone())]) {
            return Reply::refused(why);
        }
        if let Some(known) = self.workspaces.get_mut(name) {
            known.seen = seen;
        }
        self.taint_show(name)
    }

    fn workspace_add(&mut self, workspace: &str, by: &str) -> Reply {
        let Some(name) = WorkspaceName::parse(workspace) else {
            return Reply::refused(format!(
                "`{workspace}` is no workspace name: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit"
            ));
        };
        let folder = self.config.mailboxes.join(name.as_str());
        if let Err(error) = make_mailbox(&folder) {
            return Reply::refused(format!("cannot make the mailbox {}: {error}", folder.display()));
        }
        if let Err(why) = self.records.write(
            RecordKind::Workspace,
            Some(&name),
            json!({"event": "added", "by": by}),
            vec![Write::AddWorkspace(name.clone())],
        ) {
            return Reply::refused(why);
        }
        let seen = self.stored_taint(&name);
        self.register(&name, seen);
        self.has_new_workspace();
        let text =
            format!("Workspace {name} is registered. Mount its mailbox into the container:\n{}", mounts(&folder));
        Reply::done(text, json!({"workspace": name, "mailbox": folder}))
    }

    fn workspace_remove(&mut self, name: &WorkspaceName, by: &str) -> Reply {
        if self.config.workspaces.contains_key(name) {
            return Reply::refused(format!("`{name}` stands in {}; take it out there", self.config.file.display()));
        }
        // Its epoch goes on where it stops, so that no approval of this life counts in a later one.
        let over = self.workspaces.get(name).map(|known| known.seen.start_over()).unwrap_or_default();
        let writes = vec![Write::RemoveWorkspace(name.clone()), Write::Taint(name.clone(), over)];
        if let Err(why) =
            self.records.write(RecordKind::Workspace, Some(name), json!({"event": "removed", "by": by}), writes)
        {
            return Reply::refused(why);
        }
        self.close_all(name, by);
        self.workspaces.remove(name);
        Reply::done(
            format!("Workspace {name} is forgotten; its requests are denied. Its mailbox folder stays."),
            Value::Null,
        )
    }

    fn workspace_list(&self) -> Reply {
        let lines: Vec<String> =
            self.workspaces.iter().map(|(name, known)| format!("{name}  {}", known.seen.taint)).collect();
        let data: Vec<Value> = self
            .workspaces
            .iter()
            .map(|(name, known)| json!({"workspace": name, "taint": known.seen.taint, "epoch": known.seen.epoch}))
            .collect();
        let text = if lines.is_empty() {
            "There is no workspace. Add one with: bashgate workspace add NAME".to_owned()
        } else {
            lines.join("\n")
        };
        Reply::done(text, Value::Array(data))
    }
}

fn card_json(card: &Card, now_boot_ms: u64) -> Value {
    let mut value = serde_json::to_value(card).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("key");
        fields.insert("command".to_owned(), json!(crate::policy::credentials::mask(&card.command)));
        fields.insert("expires_in_ms".to_owned(), json!(card.expires_boot_ms.saturating_sub(now_boot_ms)));
    }
    value
}

/// Makes a workspace's two folders. The container's user may be another one, so it may write into `requests` and read
/// single files in `responses`; nobody else gets as far, since the folder around them is private on the host.
pub fn make_mailbox(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    for (name, mode) in [(mailbox::REQUESTS, 0o1733), (mailbox::RESPONSES, 0o755)] {
        let path = folder.join(name);
        match DirBuilder::new().mode(mode).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?,
        }
    }
    Ok(())
}

/// The two mounts of a mailbox, as options of `docker run` and `podman run`.
pub fn mounts(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "  -v {0}/requests:/etc/bashgate/mailbox/{name}/requests\n  -v {0}/responses:/etc/bashgate/mailbox/{name}/responses:ro",
        folder.display()
    )
}
