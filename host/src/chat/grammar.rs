//! What counts as an answer: exactly `approve <id>`, `approve <id> session`, `deny <id> [reason]`, `pending`,
//! `show <id>` and `help`. Anything else is talk.

use crate::approval::{ApprovalId, Scope, Word};

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// An answer to a held command.
    Answer(ApprovalId, Word),
    /// What is held?
    Pending,
    /// The whole card of one.
    Show(ApprovalId),
    /// What can be said?
    Help,
    /// Nothing of this.
    Talk,
}

/// Reads one line.
pub fn read(line: &str) -> Said {
    let line = line.trim();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_words_count() {
        let id = ApprovalId::parse("k7f39x2m").unwrap();
        for (line, want) in [
            ("approve k7f39x2m", Said::Answer(id.clone(), Word::Approve(Scope::Once))),
            ("  approve K7F39X2M \n", Said::Answer(id.clone(), Word::Approve(Scope::Once))),
            ("approve k7f39x2m session", Said::Answer(id.clone(), Word::Approve(Scope::Session))),
            ("deny k7f39x2m", Said::Answer(id.clone(), Word::Deny { reason: String::new() })),
            ("deny k7f39x2m not now", Said::Answer(id.clone(), Word::Deny { reason: "not now".to_owned() })),
            ("show k7f39x2m", Said::Show(id)),
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
            "Approve k7f39x2m",
            "аpprove k7f39x2m",
            "pending x",
            "approve \u{200b}k7f39x2m",
        ] {
            assert_eq!(read(line), Said::Talk, "{line}");
        }
    }
}
