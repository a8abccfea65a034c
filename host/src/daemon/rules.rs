//! A rule for the future, drafted from a card and saved on a person's word.

use bashgate_shared::classify::Surroundings;
use bashgate_shared::command::Digest;
use bashgate_shared::programs::own::OwnPrograms;
use serde_json::json;

use super::answers::{Coded, PAGE};
use super::core::Core;
use crate::approval::ApprovalId;
use crate::approval::codes::{Act, Code};
use crate::audit::RecordKind;
use crate::control::Reply;
use crate::policy::rules::Rule;
use crate::rule_draft::{self, Source};

impl Core {
    /// The operator's own programs.
    pub(super) fn programs(&self) -> Option<&'static OwnPrograms> {
        self.own_programs.as_ref().map(|signed| signed.known.programs)
    }

    /// The rule that would let a held command through the next time, or one that the inspector denied.
    pub(super) fn rule_draft(&self, id: &str) -> Reply {
        match self.drafted(id) {
            Ok((id, rule)) => {
                let text = rule_draft::text(&rule);
                let digest = Digest::of(text.as_bytes()).hex();
                let reach = rule_draft::reach(&rule);
                Reply::done(text, json!({"id": id, "rule": rule, "digest": digest, "reach": reach}))
            }
            Err(why) => Reply::refused(why),
        }
    }

    fn drafted(&self, id: &str) -> Result<(ApprovalId, Rule), String> {
        let id = ApprovalId::parse(id).ok_or_else(|| format!("`{id}` is no id: it has 8 letters and digits"))?;
        let card = self.book.card(&id).ok_or_else(|| format!("nothing is held under `{id}`"))?;
        let source = Source { command: card.command.clone(), cwd: card.cwd.clone(), taint: card.taint };
        let around = Surroundings { programs: self.programs(), ..Surroundings::default() };
        let reason = format!("drafted from {id}");
        let rule = rule_draft::draft(&self.config.policy, &around, &source, &reason).map_err(|why| why.to_string())?;
        Ok((id, rule))
    }

    /// Saves such a rule as it was shown. From the page it takes a code: a browser is open longer than anybody looks at it.
    pub(super) fn rule_save(&mut self, id: &str, digest: &str, code: Option<&str>, by: &str) -> Reply {
        let (id, rule) = match self.drafted(id) {
            Ok(drafted) => drafted,
            Err(why) => return Reply::refused(why),
        };
        let text = rule_draft::text(&rule);
        if Digest::of(text.as_bytes()).hex() != digest {
            return Reply::refused("that is not the rule that was shown; look at it again");
        }
        let mut more = String::new();
        if by.starts_with(PAGE) {
            match self.coded(by, &id, Act::SaveRule, code.and_then(Code::parse).as_ref()) {
                Coded::Refused { words, .. } => return Reply::refused(words),
                Coded::Counts(words) => more = words,
            }
        }
        let workspace = self.book.workspace_of(&id).cloned();
        let detail = json!({"event": "rule saved", "approval": id, "rule": text, "by": by});
        // What is not on record does not count.
        if let Err(why) = self.records.write(RecordKind::Host, workspace.as_ref(), detail, Vec::new()) {
            return Reply::refused(why);
        }
        if let Err(why) = rule_draft::save(&self.config.file, &text) {
            let why = why.to_string();
            self.records.record(
                RecordKind::Host,
                workspace.as_ref(),
                json!({"event": "rule not saved", "approval": id, "why": why, "by": by}),
            );
            return Reply::refused(why);
        }
        let file = self.config.file.display();
        let words = format!("Written into {file}. It counts when the host is started again.");
        Reply::done(if more.is_empty() { words } else { format!("{words} {more}") }, json!({"id": id}))
    }
}
