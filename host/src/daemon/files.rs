//! Files that steer what people approve: as they were then, so that a later card tells what is different.

use std::time::{Duration, Instant};

use bashgate_shared::difference;
use bashgate_shared::protocol::{FileEvidence, WorkspaceName};

use super::cases::Open;
use super::core::Core;
use crate::approval::{Forecast, MAX_HEAD, Since};
use crate::case::Verdict;
use crate::clock;
use crate::store::{ApprovedFile, Write};

/// How long is looked for the shortest description of what is different in all files of a card, on the loop of all workspaces.
const COMPARING: Duration = Duration::from_millis(20);

/// What a person's yes to a command adds to the store: the files that were shown with it, as they were.
pub(super) fn approved_with(open: &Open, verdict: &Verdict) -> Option<Write> {
    if open.check.evidence.is_empty() || open.approval.is_none() || !verdict.approves_what_was_shown() {
        return None;
    }
    let (by, at_ms) = (verdict.by.to_string(), clock::now().unix_ms);
    let shown = Forecast::new(open.case.classification(), open.read_effects(), &open.check);
    let files = shown.files.into_iter().filter(|file| !file.sha256.is_empty());
    let files =
        files.map(|file| ApprovedFile { path: file.path, sha256: file.sha256, head: file.head, by: by.clone(), at_ms });
    Some(Write::ApproveFiles(open.workspace.clone(), files.collect()))
}

/// What is different between two starts of a file. Where both end before the file does, what differs at their very end is where
/// they were cut.
fn different(old: &str, new: &str, until: Instant) -> String {
    // A letter may end behind it, and a last line may be empty.
    let is_cut = |head: &str| head.chars().count() + 8 > MAX_HEAD;
    if !is_cut(old) || !is_cut(new) {
        return difference::text(old, new, until);
    }
    let whole = |head: &str| head.rsplit_once('\n').map_or(String::new(), |(lines, _)| format!("{lines}\n"));
    let text = difference::text(&whole(old), &whole(new), until);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let kept = lines.iter().rposition(|line| line.starts_with(' ')).map_or(0, |last| last + 1);
    let kept = lines.get(..kept).unwrap_or_default();
    if kept.iter().all(|line| line.starts_with(' ')) { String::new() } else { kept.concat() }
}

impl Core {
    /// Of each file of a card that was approved before: what is different now.
    pub(super) fn since_approved(&self, workspace: &WorkspaceName, card: &Forecast) -> Vec<Option<Since>> {
        let until = Instant::now() + COMPARING;
        let since = |file: &FileEvidence| {
            let before = match self.records.reader.approved_file(workspace, &file.path) {
                Ok(before) => before?,
                Err(error) => {
                    tracing::warn!(%error, "what was approved before cannot be read");
                    return None;
                }
            };
            let is_same = before.sha256 == file.sha256;
            let text = (!is_same).then(|| different(&before.head, &file.head, until));
            Some(Since { by: before.by, at_ms: before.at_ms, text })
        };
        card.files.iter().map(since).collect()
    }
}
