//! What counts: exactly `approve <id> [session | grant [minutes]] [code]`, `deny <id> [reason]`, `deny all`,
//! `deny all in <workspace> [reason]`, `pause <workspace> [minutes]`, `resume <workspace>`, `mute <workspace>`,
//! `unmute <workspace>`, `pending`, `denied`, `show <id>`, `why <id>`, `status`, `tasks`, `grants`, `taint [workspace]` and
//! `help`. Anything else is talk.

use bashgate_shared::protocol::WorkspaceName;

use crate::approval::codes::Code;
use crate::approval::{ApprovalId, MOST_MINUTES, Scope, USUAL_MINUTES, Word};

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// An answer to a held command, with a one-time code where the person gave one.
    Answer(ApprovalId, Word, Option<Code>),
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
    /// What was denied by the inspector, and can be overruled?
    Denied,
    /// Why is one asked about?
    Why(ApprovalId),
    /// How does everything stand?
    Status,
    /// What is being decided now?
    Tasks,
    /// What is let through ahead?
    Grants,
    /// What has a workspace seen, or each?
    Taint(Option<WorkspaceName>),
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
        ("approve", Some(id), rest) => {
            approval(rest).map_or(Said::Talk, |(scope, code)| Said::Answer(id, Word::Approve(scope), code))
        }
        ("deny", Some(id), reason) => {
            Said::Answer(id, Word::Deny { reason: reason.join(" ").chars().take(500).collect() }, None)
        }
        ("show", Some(id), []) => Said::Show(id),
        ("why", Some(id), []) => Said::Why(id),
        _ => question(line).unwrap_or(Said::Talk),
    }
}

/// What stands behind `approve ID`: how far it reaches, and a code.
fn approval(rest: &[&str]) -> Option<(Scope, Option<Code>)> {
    let code = |rest: &[&str]| match rest {
        [] => Some(None),
        rest => Code::parse(&rest.join(" ")).map(Some),
    };
    match rest {
        ["session", rest @ ..] => Some((Scope::Session, code(rest)?)),
        ["grant", rest @ ..] => {
            let minutes = |text: &&str| text.parse().ok().filter(|minutes| (1..=MOST_MINUTES).contains(minutes));
            let (minutes, rest) = match rest {
                // What is no code is too long a time, and nothing is guessed.
                [first, rest @ ..] if first.len() < 4 => (minutes(first)?, rest),
                rest => (USUAL_MINUTES, rest),
            };
            Some((Scope::Grant { minutes }, code(rest)?))
        }
        ["once", rest @ ..] | rest => Some((Scope::Once, code(rest)?)),
    }
}

/// A question about how things stand.
fn question(line: &str) -> Option<Said> {
    let words: Vec<&str> = line.split_whitespace().collect();
    Some(match words.as_slice() {
        ["pending"] => Said::Pending,
        ["denied"] => Said::Denied,
        ["help"] => Said::Help,
        ["status"] => Said::Status,
        ["tasks"] => Said::Tasks,
        ["grants"] => Said::Grants,
        ["taint"] => Said::Taint(None),
        ["taint", workspace] => Said::Taint(Some(WorkspaceName::parse(workspace)?)),
        _ => return None,
    })
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
        let approve =
            |scope, code: Option<&str>| Said::Answer(id.clone(), Word::Approve(scope), code.and_then(Code::parse));
        let deny = |reason: &str| Said::Answer(id.clone(), Word::Deny { reason: reason.to_owned() }, None);
        for (line, want) in [
            ("approve k7f39x2m", approve(Scope::Once, None)),
            ("  approve K7F39X2M \n", approve(Scope::Once, None)),
            ("Approve k7f39x2m", approve(Scope::Once, None)),
            ("approve k7f39x2m once", approve(Scope::Once, None)),
            ("approve k7f39x2m session", approve(Scope::Session, None)),
            ("approve k7f39x2m 12345678", approve(Scope::Once, Some("12345678"))),
            ("approve k7f39x2m 1234 5678", approve(Scope::Once, Some("12345678"))),
            ("approve k7f39x2m session 1234-5678", approve(Scope::Session, Some("12345678"))),
            ("approve k7f39x2m grant", approve(Scope::Grant { minutes: 30 }, None)),
            ("approve k7f39x2m grant 5", approve(Scope::Grant { minutes: 5 }, None)),
            ("approve k7f39x2m grant 60 1234 5678", approve(Scope::Grant { minutes: 60 }, Some("12345678"))),
            ("approve k7f39x2m grant 1234 5678", approve(Scope::Grant { minutes: 30 }, Some("12345678"))),
            ("deny k7f39x2m", deny("")),
            ("deny k7f39x2m not now", deny("not now")),
            ("show k7f39x2m", Said::Show(id.clone())),
            ("why k7f39x2m", Said::Why(id.clone())),
            ("deny all", Said::DenyAll(None, String::new())),
            ("deny all in web too many", Said::DenyAll(WorkspaceName::parse("web"), "too many".to_owned())),
            ("pause web", Said::Pause(WorkspaceName::parse("web").unwrap(), 60)),
            ("pause web 5", Said::Pause(WorkspaceName::parse("web").unwrap(), 5)),
            ("resume web", Said::Resume(WorkspaceName::parse("web").unwrap())),
            ("mute web", Said::Mute(WorkspaceName::parse("web").unwrap(), true)),
            ("unmute web", Said::Mute(WorkspaceName::parse("web").unwrap(), false)),
            ("pending", Said::Pending),
            ("help", Said::Help),
            ("denied", Said::Denied),
            ("status", Said::Status),
            ("Tasks", Said::Tasks),
            ("grants", Said::Grants),
            ("taint", Said::Taint(None)),
            ("taint web", Said::Taint(WorkspaceName::parse("web"))),
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
            "approve k7f39x2m 1234567",
            "approve k7f39x2m 123456789",
            "approve k7f39x2m session please",
            "approve k7f39x2m grant 0",
            "approve k7f39x2m grant 61",
            "approve k7f39x2m grant 999",
            "approve k7f39x2m grant all",
            "approve k7f39x2m 1234 5678 session",
            "status please",
            "taint web now",
            "why not",
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
