//! The operator's own rules: argv prefixes, matched on the parsed command.
//!
//! A rule carries examples; a configuration whose examples fail does not load.

use bashgate_shared::classify::{Argv, Classification, CommandClass, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use serde::{Deserialize, Serialize};

use super::Decision;

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Never.
    Deny,
    /// A person decides.
    Ask,
    /// Turns an inspection into an allow, and nothing stricter.
    Allow,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it does.
    pub action: Action,
    /// The first words of the calls it is about. The program is compared by its name, without its folder.
    pub argv: Vec<String>,
    /// What people and agents are told.
    #[serde(default)]
    pub reason: String,
    /// Commands that it must match.
    #[serde(rename = "match", default)]
    pub matches: Vec<String>,
    /// Commands that it must not match.
    #[serde(default)]
    pub not_match: Vec<String>,
}

/// What is wrong with a rule.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// No words.
    #[error("rule {0} has no `argv`")]
    Empty(usize),
    /// No examples.
    #[error("rule {0} ({1}) has no `match` example; give at least one command that it is for")]
    NoExample(usize, String),
    /// An example fails.
    #[error("rule {number} ({argv}) does not match its own example `{example}`")]
    NoMatch {
        /// Which rule, from 1.
        number: usize,
        /// Its words.
        argv: String,
        /// The example.
        example: String,
    },
    /// A counter-example matches.
    #[error("rule {number} ({argv}) matches `{example}`, which `not_match` rules out")]
    Match {
        /// Which rule, from 1.
        number: usize,
        /// Its words.
        argv: String,
        /// The example.
        example: String,
    },
}

impl Rule {
    /// Checks a list of rules by their examples.
    pub fn check(rules: &[Self]) -> Result<(), RuleError> {
        for (index, rule) in rules.iter().enumerate() {
            let number = index + 1;
            let argv = rule.argv.join(" ");
            if rule.argv.is_empty() || rule.argv.iter().any(String::is_empty) {
                return Err(RuleError::Empty(number));
            }
            if rule.matches.is_empty() {
                return Err(RuleError::NoExample(number, argv));
            }
            let fits = |example: &str| {
                CommandLine::parse(example).is_ok_and(|command| {
                    let found = classify(&command, &Surroundings::default());
                    rule.applies(&found, command.text())
                })
            };
            if let Some(example) = rule.matches.iter().find(|example| !fits(example)) {
                return Err(RuleError::NoMatch { number, argv, example: example.clone() });
            }
            if let Some(example) = rule.not_match.iter().find(|example| fits(example)) {
                return Err(RuleError::Match { number, argv, example: example.clone() });
            }
        }
        Ok(())
    }

    /// True when the rule is about this command.
    ///
    /// `deny` and `ask` are about a command when any call in it matches, or, where the text was not understood, when
    /// their words stand in it in order. `allow` is about it only when every part that is not Safe matches.
    pub fn applies(&self, found: &Classification, text: &str) -> bool {
        match self.action {
            Action::Deny | Action::Ask if found.understood => found.calls.iter().any(|call| self.fits(call)),
            Action::Deny | Action::Ask => self.stands_in(text),
            Action::Allow => {
                let mut open = found.parts.iter().filter(|part| part.class != CommandClass::Safe).peekable();
                found.understood && open.peek().is_some() && open.all(|part| self.fits(&part.argv))
            }
        }
    }

    fn fits(&self, call: &Argv) -> bool {
        call.len() >= self.argv.len()
            && self.argv.iter().zip(call).enumerate().all(|(index, (want, word))| {
                let Some(word) = word else { return false };
                word == want || index == 0 && word.rsplit('/').next() == Some(want)
            })
    }

    fn stands_in(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| c.is_whitespace() || "'\"`$(){}<>|&;,=/\\".contains(c));
        self.argv.iter().all(|want| words.any(|word| word == want))
    }
}

/// The strictest rule that applies, with what it makes of a decision.
pub fn apply<'r>(
    rules: &'r [Rule],
    found: &Classification,
    text: &str,
    decision: Decision,
) -> Option<(&'r Rule, Decision)> {
    let applying = |action| rules.iter().find(|rule| rule.action == action && rule.applies(found, text));
    if let Some(rule) = applying(Action::Deny) {
        return Some((rule, Decision::Deny));
    }
    if let Some(rule) = applying(Action::Ask) {
        return Some((rule, decision.max(Decision::AskHuman)));
    }
    applying(Action::Allow).filter(|_| decision == Decision::Inspect).map(|rule| (rule, Decision::Allow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(action: Action, argv: &[&str], matches: &[&str], not_match: &[&str]) -> Rule {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Rule { action, argv: own(argv), reason: String::new(), matches: own(matches), not_match: own(not_match) }
    }

    #[test]
    fn rules_match_parsed_calls_and_not_mentions() {
        let deny = rule(
            Action::Deny,
            &["git", "push"],
            &["git push origin", "sudo git push", "cd x && /usr/bin/git push", "[[ x ]] && git push"],
            &["git status", "echo git push", "git commit -m 'git push'"],
        );
        let allow = rule(
            Action::Allow,
            &["cargo", "test"],
            &["cargo test", "cargo test --all | tail -5", "ls && cargo test"],
            &["cargo build", "cargo test && curl x", "cargo test; $x", "echo ${!x} && cargo test", "ls"],
        );
        Rule::check(&[deny, allow]).unwrap();
    }

    #[test]
    fn examples_that_fail_are_named() {
        for (rule, want) in [
            (rule(Action::Deny, &[], &["x"], &[]), "has no `argv`"),
            (rule(Action::Deny, &["x"], &[], &[]), "no `match` example"),
            (rule(Action::Deny, &["git", "push"], &["git pull"], &[]), "does not match its own example `git pull`"),
            (rule(Action::Deny, &["git"], &["git pull"], &["git status"]), "matches `git status`"),
        ] {
            let error = Rule::check(&[rule]).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
    }

    #[test]
    fn allow_turns_an_inspection_into_an_allow_and_nothing_stricter() {
        let rules = [rule(Action::Allow, &["make"], &["make"], &[])];
        let command = CommandLine::parse("make build").unwrap();
        let found = classify(&command, &Surroundings::default());
        let make = |decision| apply(&rules, &found, command.text(), decision).map(|(_, decision)| decision);
        assert_eq!(make(Decision::Inspect), Some(Decision::Allow));
        for decision in [Decision::Allow, Decision::AskHuman, Decision::Deny] {
            assert_eq!(make(decision), None);
        }
    }
}
