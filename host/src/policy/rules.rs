//! The operator's own rules: argv prefixes, matched on the parsed command.
//!
//! A rule carries examples; a configuration whose examples fail does not load.

use bashgate_shared::classify::{Argv, Classification, CommandClass, Part, Surroundings, classify, is_system_folder};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs::{self, Builtin, builtin_of};
use serde::{Deserialize, Serialize};

use super::Decision;
use super::trust::Terms;

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

/// What stands before the program's name in the permission that a command of bashgate's own Bash tool needs. A rule whose
/// first word starts with it is about these commands only.
const PERMISSION: &str = "tool:bash:";

/// A command as it was asked about.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its text.
    pub text: &'a str,
    /// The folder where it would run, where that is known.
    pub cwd: Option<&'a str>,
    /// True when bashgate's own Bash tool asked.
    pub by_runner: bool,
    /// Set for a managed script.
    pub script: Option<Approved>,
    /// Set for a call of another tool than the shell.
    pub service: Option<&'a Terms>,
}

/// Whether a person has approved a managed script with its manifest, as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approved {
    /// Somebody has.
    Yes,
    /// Nobody has.
    NotYet,
}

impl<'a> From<&'a str> for Asked<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, cwd: None, by_runner: false, script: None, service: None }
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it does.
    pub action: Action,
    /// The first words of the calls it is about. The program is compared by its name, without its folder; where it is let through,
    /// only the system's own folders do not count. With `tool:bash:` before the name, only commands of bashgate's own Bash tool.
    pub argv: Vec<String>,
    /// These are all words of the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Only in this folder, and where nothing goes to another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
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
            let cwd = rule.cwd.as_deref();
            let fits = |example: &str| {
                let (by_runner, example) = match example.strip_prefix(PERMISSION) {
                    Some(rest) => (true, rest),
                    None => (false, example),
                };
                CommandLine::parse(example).is_ok_and(|command| {
                    let found = classify(&command, &Surroundings::default());
                    rule.applies(&found, Asked { cwd, by_runner, ..Asked::from(command.text()) })
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
    pub fn applies(&self, found: &Classification, asked: Asked<'_>) -> bool {
        if self.argv.first().is_some_and(|first| first.starts_with(PERMISSION)) && !asked.by_runner {
            return false;
        }
        if self.cwd.is_some() && (self.cwd.as_deref() != asked.cwd || goes_elsewhere(found)) {
            return false;
        }
        match self.action {
            Action::Deny | Action::Ask if found.understood => {
                found.calls.iter().any(|call| self.fits(call) || self.may_fit(call))
            }
            Action::Deny | Action::Ask => self.stands_in(asked.text),
            Action::Allow => {
                let mut open = found.parts.iter().filter(|part| part.class != CommandClass::Safe).peekable();
                let is_meant = |call: &Argv| {
                    self.fits(call) && call.first().is_some_and(|program| self.is_the_systems(program.as_deref()))
                };
                found.understood
                    && open.peek().is_some()
                    && open.all(|part| is_meant(&part.argv) && !is_preceded(part) && !is_fed_code(part))
            }
        }
    }

    fn fits(&self, call: &Argv) -> bool {
        call.len() >= self.argv.len()
            && (!self.exact || call.len() == self.argv.len())
            && self.words().zip(call).enumerate().all(|(index, (want, word))| {
                let Some(word) = word else { return false };
                word == want || index == 0 && word.rsplit('/').next() == Some(want)
            })
    }

    /// True for a call that is what the rule says, if its program is: which that is, is only known when it runs.
    fn may_fit(&self, call: &Argv) -> bool {
        self.argv.len() > 1
            && call.first().is_some_and(Option::is_none)
            // One of them may be several.
            && (call.len() >= self.argv.len() || call.iter().any(Option::is_none))
            && self.words().zip(call).skip(1).all(|(want, word)| word.as_deref().is_none_or(|word| word == want))
    }

    /// True for a program as the rule writes it, or the system's own of that name: anybody's may be called like it.
    fn is_the_systems(&self, program: Option<&str>) -> bool {
        let Some(program) = program else { return false };
        let is_written_so = self.words().next() == Some(program);
        is_written_so || program.rsplit_once('/').is_some_and(|(folder, _)| is_system_folder(folder))
    }

    fn stands_in(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| c.is_whitespace() || "'\"`$(){}<>|&;,=/\\".contains(c));
        self.words().all(|want| words.any(|word| word == want))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.argv.iter().enumerate().map(|(index, word)| match word.strip_prefix(PERMISSION) {
            Some(name) if index == 0 => name,
            _ => word.as_str(),
        })
    }
}

/// True for a call that may run what it is fed: no word of a rule says what that is.
pub(crate) fn is_fed_code(part: &Part) -> bool {
    let program = part.argv.first().and_then(Option::as_deref).unwrap_or_default();
    part.fed && programs::runs_of(program.rsplit('/').next().unwrap_or(program)).takes_code()
}

/// True for a call with a variable in front of it: that may choose what it runs, and no word of the rule says so.
fn is_preceded(part: &Part) -> bool {
    let first = part.text.split_whitespace().next().unwrap_or_default();
    let name = first.split(['=', '[']).next().unwrap_or_default().trim_end_matches('+');
    first.contains('=')
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && part.argv.first().is_none_or(|program| program.as_deref() != Some(first))
}

/// True for a command in which something goes to another folder.
fn goes_elsewhere(found: &Classification) -> bool {
    let goes = |call: &Argv| {
        let program = call.first().and_then(Option::as_deref);
        program.is_none_or(|program| matches!(builtin_of(program), Some(Builtin::GoesTo)))
            || call.iter().flatten().any(|word| matches!(word.as_str(), "-C" | "--directory" | "--chdir"))
    };
    found.calls.iter().any(goes)
}

/// The strictest rule that applies, with what it makes of a decision. Only what the decision table alone would have inspected
/// (`is_plain`) is let through.
pub fn apply<'r>(
    rules: &'r [Rule],
    found: &Classification,
    asked: Asked<'_>,
    decision: Decision,
    is_plain: bool,
) -> Option<(&'r Rule, Decision)> {
    let applying = |action| rules.iter().find(|rule| rule.action == action && rule.applies(found, asked));
    if let Some(rule) = applying(Action::Deny) {
        return Some((rule, Decision::Deny));
    }
    if let Some(rule) = applying(Action::Ask) {
        return Some((rule, decision.max(Decision::AskHuman)));
    }
    applying(Action::Allow).filter(|_| decision == Decision::Inspect && is_plain).map(|rule| (rule, Decision::Allow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(action: Action, argv: &[&str], matches: &[&str], not_match: &[&str]) -> Rule {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Rule {
            action,
            argv: own(argv),
            exact: false,
            cwd: None,
            reason: String::new(),
            matches: own(matches),
            not_match: own(not_match),
        }
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
        let of_the_runner = rule(
            Action::Deny,
            &["tool:bash:make", "install"],
            &["tool:bash:make install", "tool:bash:cd x && sudo make install"],
            &["make install", "tool:bash:make", "tool:bash:echo make install"],
        );
        Rule::check(&[deny, allow, of_the_runner]).unwrap();
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
        let make =
            |decision| apply(&rules, &found, command.text().into(), decision, true).map(|(_, decision)| decision);
        assert_eq!(make(Decision::Inspect), Some(Decision::Allow));
        for decision in [Decision::Allow, Decision::AskHuman, Decision::Deny] {
            assert_eq!(make(decision), None);
        }
        // Where more than the table speaks, it says nothing.
        assert_eq!(apply(&rules, &found, command.text().into(), Decision::Inspect, false), None);
    }

    #[test]
    fn what_is_let_through_is_the_very_program_and_where_that_is_said_the_very_call_in_its_folder() {
        let applies = |rule: &Rule, text: &str, cwd: &str| {
            let found = classify(&CommandLine::parse(text).unwrap(), &Surroundings::default());
            rule.applies(&found, Asked { cwd: Some(cwd), ..Asked::from(text) })
        };
        let make = rule(Action::Allow, &["make", "test"], &["make test"], &[]);
        assert!(applies(&make, "/usr/bin/make test -s", "/w"));
        assert!(!applies(&make, "/tmp/x/make test", "/w") && !applies(&make, "./make test", "/w"));
        let very = Rule { exact: true, cwd: Some("/w".to_owned()), ..make };
        assert!(applies(&very, "make test", "/w") && applies(&very, "make test | tail -3", "/w"));
        for (text, cwd) in [
            ("make test -f /tmp/x.mk", "/w"),
            ("make test SHELL=/tmp/x", "/w"),
            ("make test", "/tmp"),
            ("cd /tmp && make test", "/w"),
            ("pushd /tmp; make test", "/w"),
            ("env -C /tmp make test", "/w"),
        ] {
            assert!(!applies(&very, text, cwd), "{text} in {cwd}");
        }
        let script = rule(Action::Allow, &["./check.sh"], &["./check.sh"], &[]);
        assert!(applies(&script, "./check.sh", "/w") && !applies(&script, "/tmp/x/check.sh", "/w"));
    }
}
