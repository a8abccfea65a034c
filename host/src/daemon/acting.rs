//! What acts later in each workspace's project, as its container said last. What is another one now, or new, was made by what
//! ran meanwhile, whatever that was.
//!
//! The container's word can only make things stricter: one that says nothing is found nowhere else either, and the threat model
//! says so. It is kept in the store, so that a host that starts again does not take a plant for what was there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bashgate_shared::classify::later::{self, Tier};
use bashgate_shared::protocol::{ActingWire, WorkspaceName};
use serde_json::json;

use super::core::Core;
use crate::audit::RecordKind;
use crate::clock;
use crate::store::Write;
use crate::taint::{Cause, Label};

/// Most projects of one workspace that are remembered; its agent chooses where it works.
const MOST_ROOTS: usize = 8;
/// Most of them that are known to have been there before.
const MOST_FORGOTTEN: usize = 1024;
/// Most files that are named in a record.
pub(super) const MOST_NAMED: usize = 16;

/// The projects of one workspace.
#[derive(Debug, Default)]
pub(super) struct Acting {
    /// The last one that is new stands at the end.
    known: VecDeque<Project>,
    /// The folders of those that had to make room. Not kept over a start of the host.
    forgotten: BTreeSet<String>,
}

#[derive(Debug)]
struct Project {
    root: String,
    files: BTreeMap<String, String>,
    /// A command that may plant something was let through, and nobody has looked here since.
    unlooked: bool,
}

impl Acting {
    /// As the store has it.
    pub(super) fn restore(&mut self, root: String, files: BTreeMap<String, String>, unlooked: bool) {
        self.known.push_back(Project { root, files, unlooked });
    }

    /// Takes in what acts later now. What came or changed, if a command may have made it: one that has just run, or one that was
    /// let through before. The second says whether there is anything new to be remembered.
    fn take(&mut self, report: &ActingWire, has_run: bool) -> (Vec<String>, bool) {
        let Some(known) = self.known.iter_mut().find(|known| known.root == report.root) else {
            if self.known.len() == MOST_ROOTS
                && let Some(oldest) = self.known.pop_front()
                && self.forgotten.len() < MOST_FORGOTTEN
            {
                self.forgotten.insert(oldest.root);
            }
            let (root, files) = (report.root.clone(), report.files.clone());
            // Of one that comes again nobody can say what was there before.
            let said = if self.forgotten.remove(&root) { files.keys().cloned().collect() } else { Vec::new() };
            self.known.push_back(Project { root, files, unlooked: false });
            return (said, true);
        };
        let was_unlooked = std::mem::replace(&mut known.unlooked, false);
        if known.files == report.files {
            return (Vec::new(), was_unlooked);
        }
        let before = std::mem::replace(&mut known.files, report.files.clone());
        if !has_run && !was_unlooked {
            return (Vec::new(), true);
        }
        let changed = report.files.iter().filter(|(path, digest)| before.get(*path) != Some(*digest));
        // What gates an agent is missed where it has gone; anything else that has gone acts no more.
        let gates = |path: &&String| {
            !report.files.contains_key(*path)
                && later::of(path, Some(&report.root)).is_some_and(|later| later.tier == Tier::Gate)
        };
        let gone = before.keys().filter(gates);
        (changed.map(|(path, _)| path).chain(gone).cloned().collect(), true)
    }

    /// A command that may plant something is let through. True when that is news.
    pub(super) fn is_let_through(&mut self) -> bool {
        let is_news = self.known.iter().any(|known| !known.unlooked);
        self.known.iter_mut().for_each(|known| known.unlooked = true);
        is_news
    }
}

impl Core {
    /// What acts later in a workspace's project now: what came or changed since, as far as a command may have made it.
    pub(super) fn compare_acting(
        &mut self,
        workspace: &WorkspaceName,
        report: &ActingWire,
        has_run: bool,
    ) -> Vec<String> {
        let Some(known) = self.workspaces.get_mut(workspace) else { return Vec::new() };
        let (changed, is_new) = known.acting.take(report, has_run);
        if is_new {
            let write = Write::Acting(workspace.clone(), report.root.clone(), report.files.clone());
            self.records.submit(vec![write], false, super::After::Nothing);
        }
        changed
    }

    /// The same before a command is judged: what is found taints.
    pub(super) fn look_for_plants(&mut self, workspace: &WorkspaceName, report: &ActingWire) {
        let changed = self.compare_acting(workspace, report, false);
        let Some(source) = said(&changed) else { return };
        let Some(known) = self.workspaces.get_mut(workspace) else { return };
        let by = "what an earlier command left".to_owned();
        known.seen.raise(Cause { label: Label::Corruption, source, by, at_ms: clock::now().unix_ms, heard: false });
        let seen = known.seen.clone();
        let files: Vec<&String> = changed.iter().take(MOST_NAMED).collect();
        let detail = json!({
            "event": "found", "label": Label::Corruption, "acts_later": files, "count": changed.len(),
            "taint": seen.taint, "epoch": seen.epoch,
        });
        // Before anything is judged by it: what cannot be written is in memory, and more is never wrong.
        let write = Write::Taint(workspace.clone(), seen);
        if let Err(error) = self.records.write(RecordKind::Taint, Some(workspace), detail, vec![write]) {
            tracing::error!(error, "what was found in a workspace could not be recorded");
        }
    }

    /// A command that may plant something is let through.
    pub(super) fn may_plant(&mut self, workspace: &WorkspaceName) {
        if self.workspaces.get_mut(workspace).is_some_and(|known| known.acting.is_let_through()) {
            self.records.submit(vec![Write::Unlooked(workspace.clone())], false, super::After::Nothing);
        }
    }
}

/// The first of them, and how many more there are.
pub(super) fn said(changed: &[String]) -> Option<String> {
    let first = changed.first()?;
    let more = changed.len() - 1;
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{first}{others}, which acts later"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(root: &str, files: &[(&str, &str)]) -> ActingWire {
        let files = files.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned())).collect();
        ActingWire { root: root.to_owned(), files }
    }

    #[test]
    fn what_came_or_changed_is_a_commands_where_one_ran() {
        let mut acting = Acting::default();
        assert!(!acting.is_let_through(), "there is nothing to compare with yet");
        assert_eq!(acting.take(&report("/p", &[("/p/.envrc", "1")]), true), (vec![], true));
        assert_eq!(acting.take(&report("/p", &[("/p/.envrc", "1")]), true), (vec![], false));
        // A person's own work.
        assert_eq!(acting.take(&report("/p", &[("/p/.envrc", "2")]), false), (vec![], true));
        // A command's that has just run.
        let more = report("/p", &[("/p/.envrc", "2"), ("/p/.mcp.json", "1")]);
        assert_eq!(acting.take(&more, true), (vec!["/p/.mcp.json".to_owned()], true));
        // A command's of which nobody has said that it ran.
        assert!(acting.is_let_through() && !acting.is_let_through());
        assert_eq!(acting.take(&report("/p", &[("/p/.envrc", "3")]), false), (vec!["/p/.envrc".to_owned()], true));
        assert_eq!(acting.take(&report("/p", &[("/p/.envrc", "4")]), false), (vec![], true));
        // What is gone does nothing.
        assert_eq!(acting.take(&report("/p", &[]), true), (vec![], true));
        // What gates an agent is missed.
        let gate = "/p/.claude/settings.json";
        acting.take(&report("/p", &[(gate, "1")]), true);
        assert_eq!(acting.take(&report("/p", &[]), true), (vec![gate.to_owned()], true));
        // Whoever looks at one project has not looked at another.
        acting.take(&report("/q", &[]), true);
        assert!(acting.is_let_through());
        acting.take(&report("/q", &[]), true);
        acting.take(&report("/new", &[]), true);
        let planted = report("/p", &[("/p/.envrc", "5")]);
        assert_eq!(acting.take(&planted, false), (vec!["/p/.envrc".to_owned()], true));
        for number in 0..20 {
            acting.take(&report(&number.to_string(), &[]), true);
        }
        assert_eq!(acting.known.len(), MOST_ROOTS);
    }

    #[test]
    fn what_had_to_make_room_may_have_been_changed_meanwhile() {
        let mut acting = Acting::default();
        acting.take(&report("/p", &[("/p/.envrc", "1")]), false);
        for number in 0..MOST_ROOTS {
            acting.take(&report(&format!("/other/{number}"), &[("x", "1")]), false);
        }
        assert_eq!(acting.take(&report("/p", &[("/p/.envrc", "2")]), false), (vec!["/p/.envrc".to_owned()], true));
        assert_eq!(acting.take(&report("/new", &[("/new/.envrc", "2")]), false), (vec![], true));
    }
}
