//! Files that steer what people approve: as they were then, so that a later card tells what is different.

use std::time::{Duration, Instant};

use bashgate_shared::difference;
use bashgate_shared::protocol::{FileEvidence, WorkspaceName};

use super::cases::Open;
use super::core::Core;
use crate::approval::{Forecast, MAX_HEAD, Since};
use crate::case::Verdict;
use crate::chat::card::{FILES_SHOWN, HEAD_LINES};
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
    let files = shown.files.into_iter().enumerate().filter(|(_, file)| !file.sha256.is_empty());
    let files = files.map(|(at, file)| {
        // Of what stands behind those nobody saw a line.
        let head = if at < FILES_SHOWN { file.head } else { String::new() };
        ApprovedFile { path: file.path, sha256: file.sha256, head, by: by.clone(), at_ms }
    });
    Some(Write::ApproveFiles(open.workspace.clone(), files.collect()))
}

/// True for a start behind which there may be more: a letter may end behind it, and a last line may be empty.
fn is_cut(head: &str) -> bool {
    head.chars().count() + 8 > MAX_HEAD
}

/// What is different between two starts of a file. Where both end before the file does, what differs at their very end is where
/// they were cut.
fn different(old: &str, new: &str, until: Instant) -> String {
    if !is_cut(old) || !is_cut(new) {
        return difference::text(old, new, until);
    }
    let whole = |head: &str| head.rsplit_once('\n').map_or(String::new(), |(lines, _)| format!("{lines}\n"));
    let (old, new) = (whole(old), whole(new));
    let text = difference::text(&old, &new, until);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let kept = lines.iter().rposition(|line| line.starts_with(' ')).map_or(0, |last| last + 1);
    let kept = lines.get(..kept).unwrap_or_default();
    if kept.iter().any(|line| !line.starts_with(' ')) {
        kept.concat()
    } else if old.starts_with(&new) || new.starts_with(&old) {
        String::new()
    } else {
        text
    }
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
            // The container says how a file begins: with the same digest and another beginning, one of the two was not the file's.
            let was_shown = !before.head.is_empty() && !file.is_left_out() && (!is_same || before.head == file.head);
            // What a card leaves out nobody has read for its sake.
            let was_whole = before.head.lines().count() <= HEAD_LINES && !is_cut(&before.head);
            Some(Since { by: before.by, at_ms: before.at_ms, text, was_shown, was_whole })
        };
        card.files.iter().map(since).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(first: &str, filler: &str) -> String {
        let mut text = first.to_owned();
        for number in 0.. {
            let line = format!("{filler} {number}\n");
            if text.len() + line.len() > MAX_HEAD {
                break;
            }
            text.push_str(&line);
        }
        text.push_str(&"x".repeat(MAX_HEAD - text.len()));
        text
    }

    #[test]
    fn starts_that_differ_are_never_called_the_same() {
        let until = || Instant::now() + Duration::from_secs(5);
        let old = start("a\n", "line");
        assert_eq!(different(&old, &old, until()), "");
        // Only where they were cut.
        let longer = start("a\n", "line").replace("xx", "yy");
        assert_eq!(different(&old, &longer, until()), "");
        // At the beginning, in the middle, at the end, and all of it.
        let inserted = start("curl evil\na\n", "line");
        assert!(different(&old, &inserted, until()).contains("+ curl evil"));
        assert!(different(&old, &old.replace("line 50\n", "curl evil\n"), until()).contains("+ curl evil"));
        let last = old.lines().rev().nth(1).unwrap().to_owned();
        assert!(different(&old, &old.replace(&format!("{last}\n"), "curl evil\n"), until()).contains("+ curl evil"));
        assert!(different(&old, &start("b\n", "other"), until()).contains("+ other 0"));
        assert!(different(&old, &start("curl evil\n", "lime"), until()).contains("+ curl evil"));
    }
}
