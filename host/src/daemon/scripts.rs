//! Managed scripts: what people approved, and what an approval makes of a request.

use std::time::{Duration, Instant};

use bashgate_shared::classify::{Classification, CommandClass};
use bashgate_shared::difference;
use bashgate_shared::protocol::{BashCheck, WorkspaceName};
use serde_json::{Value, json};

use super::cases::Open;
use super::core::Core;
use crate::approval::Changed;
use crate::audit::RecordKind;
use crate::case::{self, Verdict};
use crate::chat::notice::one_line;
use crate::clock;
use crate::control::Reply;
use crate::policy::Approved;
use crate::store::{ApprovedScript, Write};

/// How long is looked for the shortest description of what is different, on the loop of all workspaces.
const COMPARING: Duration = Duration::from_millis(20);

/// What a script can do is what its manifest gives, whatever its text says: the sandbox holds it to that, and a person reads
/// it before they approve. So without network it is local, and with it, it is a command that reaches the network.
pub(super) fn weigh(found: &mut Classification, check: &BashCheck) {
    let Some(script) = &check.script else { return };
    let (class, reason) = if script.manifest.capabilities.network {
        (CommandClass::Network, "a script with network")
    } else {
        (CommandClass::Safe, "a script without network, in a sandbox")
    };
    found.class = class;
    reason.clone_into(&mut found.reason);
}

/// What a person's yes to a script adds to the store. A word about something else (that the workspace may go on without the
/// inspector) approves no script.
pub(super) fn approved_by(open: &Open, verdict: &Verdict) -> Option<ApprovedScript> {
    let script = open.check.script.as_ref().filter(|_| verdict.approves_what_was_shown() && open.approval.is_some())?;
    Some(ApprovedScript {
        workspace: open.workspace.clone(),
        sha256: open.check.script_digest()?.hex(),
        name: script.manifest.name.clone(),
        by: verdict.by.to_string(),
        at_ms: clock::now().unix_ms,
        shown: script.manifest.shown(open.check.command.text()),
    })
}

impl Core {
    /// Whether a person has approved a script; `None` for what is none.
    pub(super) fn approved_script(&self, workspace: &WorkspaceName, check: &BashCheck) -> Option<Approved> {
        let digest = check.script_digest()?.hex();
        let known = self.workspaces.get(workspace).is_some_and(|known| known.scripts.contains_key(&digest));
        Some(if known { Approved::Yes } else { Approved::NotYet })
    }

    /// What is different from the script of the same name that was approved last, where this one is not approved.
    pub(super) fn changed_since_approved(&self, workspace: &WorkspaceName, check: &BashCheck) -> Option<Changed> {
        let script = check.script.as_ref()?;
        let digest = check.script_digest()?.hex();
        let approved = &self.workspaces.get(workspace)?.scripts;
        let of_name = approved.values().filter(|known| known.name == script.manifest.name && !known.shown.is_empty());
        let last = of_name.max_by_key(|known| known.at_ms).filter(|_| !approved.contains_key(&digest))?;
        let until = Instant::now() + COMPARING;
        let text = difference::text(&last.shown, &script.manifest.shown(check.command.text()), until);
        Some(Changed { by: last.by.clone(), at_ms: last.at_ms, text })
    }

    /// The approval is on record: from now on it counts.
    pub(super) fn script_is_approved(&mut self, script: ApprovedScript) {
        if let Some(known) = self.workspaces.get_mut(&script.workspace) {
            known.scripts.insert(script.sha256.clone(), script);
        }
    }

    pub(super) fn script_list(&self, name: &WorkspaceName) -> Reply {
        let mut scripts: Vec<&ApprovedScript> =
            self.workspaces.get(name).into_iter().flat_map(|known| known.scripts.values()).collect();
        scripts.sort_by_key(|script| (script.at_ms, &script.sha256));
        let line = |script: &&ApprovedScript| {
            let (by, date) = (one_line(&script.by, 100), clock::date(script.at_ms));
            format!("{}  {}  by {by} at {date}", script.sha256, script.name)
        };
        let text = if scripts.is_empty() {
            format!("No script is approved in workspace {name}.")
        } else {
            scripts.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        Reply::done(text, json!(scripts))
    }

    /// An approval counts no more. What waits for an answer on the script is denied: it was opened under the approval.
    pub(super) fn script_revoke(&mut self, name: &WorkspaceName, start: &str, by: &str) -> Reply {
        let Some(known) = self.workspaces.get(name) else { return Reply::refused("there is no such workspace") };
        let found: Vec<&ApprovedScript> =
            known.scripts.values().filter(|script| start.len() >= 8 && script.sha256.starts_with(start)).collect();
        let [script] = found.as_slice() else {
            let why = "names no single approved script; give at least 8 digits of what `bashgate scripts list` shows";
            return Reply::refused(format!("`{start}` {why}"));
        };
        let (sha256, title) = (script.sha256.clone(), script.name.clone());
        let detail = json!({"event": "script_revoked", "script": sha256, "name": title, "by": by});
        // It counts no more even where that cannot be recorded.
        if let Some(known) = self.workspaces.get_mut(name) {
            known.scripts.remove(&sha256);
        }
        let written = self.records.write(
            RecordKind::Answer,
            Some(name),
            detail,
            vec![Write::RevokeScript(name.clone(), sha256.clone())],
        );
        let is_of = |open: &Open| {
            open.workspace == *name && open.check.script_digest().is_some_and(|digest| digest.hex() == sha256)
        };
        for id in self.cases.those(is_of) {
            self.step(id, case::Event::Refused(format!("the script's approval was revoked by {by}")));
        }
        match written {
            Ok(()) => Reply::done(format!("The script {title} needs an approval again."), Value::Null),
            Err(why) => {
                Reply::refused(format!("until the host is restarted the script needs an approval again, but {why}"))
            }
        }
    }
}
