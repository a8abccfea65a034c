//! What people do: answers to held commands, taints, workspaces.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use bashgate_shared::mailbox;
use bashgate_shared::protocol::WorkspaceName;
use serde_json::{Value, json};

use super::CaseId;
use super::core::Core;
use crate::approval::{ApprovalId, Word};
use crate::audit::RecordKind;
use crate::authority::{By, Person};
use crate::chat::grammar::{self, Said};
use crate::chat::notice;
use crate::clock;
use crate::control::{ControlCommand, HAS_CHANGED, Reply};
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

impl Told {
    /// The same, with something said behind it.
    pub(super) fn with(mut self, more: &str) -> Self {
        let (Self::Now(reply) | Self::Recorded { reply, .. }) = &mut self;
        if !more.is_empty() {
            reply.text.push_str("; ");
            reply.text.push_str(more);
        }
        self
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
            ControlCommand::Say { words, version } => {
                if let Said::Answer(id, Word::Approve(_), _) = grammar::read(&words)
                    && version.is_some()
                    && !self.is_on_screen(&id, version)
                {
                    return Reply::refused(HAS_CHANGED).into();
                }
                return self
                    .say(&words, by)
                    .unwrap_or_else(|| Reply::refused("that is no answer; an id has 8 letters and digits").into());
            }
            ControlCommand::Pending { denied, is_glance: true } => self.pending(denied, |_| true),
            ControlCommand::Pending { denied, is_glance: false } => self.look_at_all(denied),
            ControlCommand::PageLink | ControlCommand::PageLock => {
                Reply::refused("the page is served by a running host: bashgate serve")
            }
            ControlCommand::ChatList => self.chat_list(),
            ControlCommand::ChatTest { channel } => self.chat_test(&channel),
            ControlCommand::ChatTested { id } => self.chat_tested(&id),
            ControlCommand::Show { id } => match ApprovalId::parse(&id) {
                Some(id) => self.look_at(&id),
                None => Reply::refused(format!("`{id}` is no id: it has 8 letters and digits")),
            },
            ControlCommand::RuleDraft { id } => self.rule_draft(&id),
            ControlCommand::RuleSave { id, digest, code } => self.rule_save(&id, &digest, code.as_deref(), by),
            ControlCommand::CodesNew { account } => self.codes_new(&account, by),
            ControlCommand::CodesList => self.codes_list(),
            ControlCommand::CodesRemove { account } => self.codes_remove(&account, by),
            ControlCommand::BreakGlass { workspace, minutes, why } => {
                self.with(&workspace, |core, name| core.break_glass(&name, minutes, &why, by))
            }
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

    /// Shows a card to somebody at the host, who has then been told how many wait for it.
    fn look_at(&mut self, id: &ApprovalId) -> Reply {
        self.book.told(Some(id));
        self.show(id)
    }

    /// True where a screen with this version of a card shows all that a yes would let run: one that joins is on the board when it is on
    /// record.
    pub(super) fn is_on_screen(&self, id: &ApprovalId, version: Option<u64>) -> bool {
        let shown = self.desk.board().card(id);
        let waiting = self.book.card(id).map(|card| card.waiting);
        shown.is_some_and(|shown| Some(shown.version) == version && Some(shown.card.waiting) >= waiting)
    }

    /// The same of all that is held, or of what was denied and can be overruled.
    fn look_at_all(&mut self, denied: bool) -> Reply {
        if !denied {
            self.book.told(None);
        }
        self.pending(denied, |_| true)
    }

    /// Takes a line that a person said; `None` when it is talk.
    pub fn say(&mut self, line: &str, by: &str) -> Option<Told> {
        let everywhere = |_: &WorkspaceName| true;
        match grammar::read(line) {
            Said::Answer(id, word, code) => Some(self.answer_from_here(&id, &word, code.as_ref(), by)),
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
            Said::Taint(Some(workspace)) => {
                Some(self.with(workspace.as_str(), |core, name| core.taint_show(&name)).into())
            }
            Said::Show(id) => Some(self.look_at(&id).into()),
            Said::Why(id) => Some(self.why(&id).into()),
            Said::Pending => Some(self.look_at_all(false).into()),
            Said::Denied => Some(self.pending(true, everywhere).into()),
            Said::Taint(None) => Some(self.taints(everywhere).into()),
            Said::Tasks => Some(self.tasks(everywhere).into()),
            Said::Grants => Some(self.grants(everywhere).into()),
            Said::Status => Some(self.status(everywhere, true).into()),
            Said::Help => Some(Reply::done(notice::HELP, Value::Null).into()),
            Said::Talk => None,
        }
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
        self.say_everywhere(name, &format!("{text} ({by})"));
        Reply::done(text, json!({"workspace": name, "minutes": minutes}))
    }

    fn resume(&mut self, name: &WorkspaceName, by: &str) -> Reply {
        let was_paused = self.workspaces.get_mut(name).and_then(|known| known.paused.take()).is_some();
        if !was_paused {
            return Reply::refused(format!("{name} is not paused"));
        }
        let detail = json!({"event": "resumed", "by": by});
        match self.records.write(RecordKind::Workspace, Some(name), detail, Vec::new()) {
            Ok(()) => {
                self.say_everywhere(name, &format!("{name} may ask again ({by})"));
                Reply::done(format!("{name} may ask again"), json!({"workspace": name}))
            }
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

    fn taint_raise(&mut self, name: &WorkspaceName, label: &str, why: &str, by: &str) -> Reply {
        let Some(label) = Label::named(label) else {
            return Reply::refused(format!("`{label}` is no label; use corruption or secret"));
        };
        if why.trim().is_empty() {
            return Reply::refused("say why, with --why TEXT");
        }
        let at_ms = clock::now().unix_ms;
        let Some(known) = self.workspaces.get_mut(name) else { return Reply::refused("there is no such workspace") };
        known.seen.raise(Cause {
            label,
            source: why.to_owned(),
            by: By::Human(Person::named(by)).to_string(),
            at_ms,
            heard: false,
        });
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
        self.look_at_taints();
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
        let mut over = self.workspaces.get(name).map(|known| known.seen.start_over()).unwrap_or_default();
        // What other hosts have seen of it its next life hears anew.
        over.joined.clear();
        let writes = vec![Write::RemoveWorkspace(name.clone()), Write::Taint(name.clone(), over)];
        if let Err(why) =
            self.records.write(RecordKind::Workspace, Some(name), json!({"event": "removed", "by": by}), writes)
        {
            return Reply::refused(why);
        }
        self.close_all(name, by);
        self.workspaces.remove(name);
        // Whoever keeps a list of them looks again.
        self.has_new_workspace();
        // What was let through ahead was for this life of it.
        let workspaces = &self.workspaces;
        self.book.end_grants(clock::now(), |name| workspaces.get(name).map(|known| known.seen.epoch));
        self.show_ahead();
        Reply::done(
            format!("Workspace {name} is forgotten; its requests are denied. Its mailbox folder stays."),
            Value::Null,
        )
    }

    fn workspace_list(&self) -> Reply {
        let lines: Vec<String> =
            self.workspaces.iter().map(|(name, known)| format!("{name}  {}", known.taint())).collect();
        let data: Vec<Value> = self
            .workspaces
            .iter()
            .map(|(name, known)| json!({"workspace": name, "taint": known.taint(), "epoch": known.seen.epoch}))
            .collect();
        let text = if lines.is_empty() {
            "There is no workspace. Add one with: bashgate workspace add NAME".to_owned()
        } else {
            lines.join("\n")
        };
        Reply::done(text, Value::Array(data))
    }
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
