//! What counts as an answer: exactly `approve <id>`, `approve <id> session`, `deny <id> [reason]`, `deny all`,
//! `deny all in <workspace> [reason]`, `pause <workspace> [minutes]`, `resume <workspace>`, `mute <workspace>`,
//! `unmute <workspace>`, `pending`, `show <id>` and `help`. Anything else is talk.

use bashgate_shared::protocol::WorkspaceName;

use crate::approval::{ApprovalId, Scope, Word};

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// An answer to a held command.
    Answer(ApprovalId, Word),
    /// A denial of all that is held, in one workspace or in all.
    DenyAll(Option<WorkspaceName>, String),
    /// A workspace asks nobody for so many minutes.
    Pause(WorkspaceName, u64),
    /// It may ask again.
    Resume(WorkspaceName),
    /// A workspace's cards are held without a word about each, or are told again.
    Mute(WorkspaceName, bool),
    /// What is held?
    Pending,
    /// The whole card of one.
    Show(ApprovalId),
    /// What can be said?
    Help,
    /// Nothing of this.
    Talk,
}

/// Reads one line. Its first letter may be a capital, as phones make it.
pub fn read(line: &str) -> Said {
    let line = line.trim();
    let mut letters = line.chars();
    let line = match letters.next() {
        Some(first) => format!("{}{}", first.to_ascii_lowercase(), letters.as_str()),
        None => return Said::Talk,
    };
    let line = line.as_str();
    if let Some(said) = about_many(line) {
        return said;
    }
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or("");
    let id = words.next().and_then(ApprovalId::parse);
    let rest: Vec<&str> = words.collect();
    match (first, id, rest.as_slice()) {
        ("approve", Some(id), [] | ["once"]) => Said::Answer(id, Word::Approve(Scope::Once)),
        ("approve", Some(id), ["session"]) => Said::Answer(id, Word::Approve(Scope::Session)),
        ("deny", Some(id), reason) => {
            Said::Answer(id, Word::Deny { reason: reason.join(" ").chars().take(500).collect() })
        }
        ("show", Some(id), []) => Said::Show(id),
        ("pending", None, _) if line == "pending" => Said::Pending,
        ("help", None, _) if line == "help" => Said::Help,
        _ => Said::Talk,
    }
}

/// Words about a whole workspace.
fn about_many(line: &str) -> Option<Said> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = |text: &str| WorkspaceName::parse(text);
    let reason = |rest: &[&str]| rest.join(" ").chars().take(500).collect::<String>();
    match words.as_slice() {
        ["deny", "all"] => Some(Said::DenyAll(None, String::new())),
        ["deny", "all", "in", workspace, rest @ ..] => Some(Said::DenyAll(Some(name(workspace)?), reason(rest))),
        ["pause", workspace] => Some(Said::Pause(name(workspace)?, USUAL_PAUSE)),
        ["pause", workspace, minutes] => {
            let minutes = minutes.parse().ok().filter(|minutes| (1..=LONGEST_PAUSE).contains(minutes))?;
            Some(Said::Pause(name(workspace)?, minutes))
        }
        ["resume", workspace] => Some(Said::Resume(name(workspace)?)),
        ["mute", workspace] => Some(Said::Mute(name(workspace)?, true)),
        ["unmute", workspace] => Some(Said::Mute(name(workspace)?, false)),
        _ => None,
    }
}

/// How long a pause is, in minutes, where nobody says it, and at most.
const USUAL_PAUSE: u64 = 60;
const LONGEST_PAUSE: u64 = 1440;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_words_count() {
        let id = ApprovalId::parse("k7f39x2m").unwrap();
        for (line, want) in [
            ("approve k7f39x2m", Said::Answer(id.clone(), Word::Approve(Scope::Once))),
            ("  approve K7F39X2M \n", Said::Answer(id.clone(), Word::Approve(Scope::Once))),
            ("Approve k7f39x2m", Said::Answer(id.clone(), Word::Approve(Scope::Once))),
            ("approve k7f39x2m session", Said::Answer(id.clone(), Word::Approve(Scope::Session))),
            ("deny k7f39x2m", Said::Answer(id.clone(), Word::Deny { reason: String::new() })),
            ("deny k7f39x2m not now", Said::Answer(id.clone(), Word::Deny { reason: "not now".to_owned() })),
            ("show k7f39x2m", Said::Show(id)),
            ("deny all", Said::DenyAll(None, String::new())),
            ("deny all in web too many", Said::DenyAll(WorkspaceName::parse("web"), "too many".to_owned())),
            ("pause web", Said::Pause(WorkspaceName::parse("web").unwrap(), 60)),
            ("pause web 5", Said::Pause(WorkspaceName::parse("web").unwrap(), 5)),
            ("resume web", Said::Resume(WorkspaceName::parse("web").unwrap())),
            ("mute web", Said::Mute(WorkspaceName::parse("web").unwrap(), true)),
            ("unmute web", Said::Mute(WorkspaceName::parse("web").unwrap(), false)),
            ("pending", Said::Pending),
            ("help", Said::Help),
        ] {
            assert_eq!(read(line), want, "{line}");
        }
        for line in [
            "",
            "yes",
            "approve",
            "approve k7f39x2",
            "approve k7f39x2m please",
            "please approve k7f39x2m",
            "> approve k7f39x2m",
            "approve k7f39x2m k7f39x2m",
            "APPROVE k7f39x2m",
            "aPprove k7f39x2m",
            "аpprove k7f39x2m",
            "pending x",
            "deny all of it",
            "approve all",
            "deny all in",
            "pause web 0",
            "pause web 9999",
            "pause web for 5",
            "mute",
            "approve \u{200b}k7f39x2m",
        ] {
            assert_eq!(read(line), Said::Talk, "{line}");
        }
    }
}
