//! A rule for the future, drafted from one command: what it would say, what else on record it would have let through, and how it
//! gets into the configuration. For the command line and the page alike.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use bashgate_shared::classify::{CommandClass, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use serde::Deserialize as _;
use serde_json::Value;

use crate::audit::{self, DecisionRecord};
use crate::chat::notice::one_line;
use crate::config::{Config, ConfigError};
use crate::inspector::prompt::visible;
use crate::policy::rules::{self, Action, Rule};
use crate::policy::{self, Asked, Decision, Policy, credentials};
use crate::store::{Reader, StoreError};
use crate::taint::Taint;

/// Why there is no draft.
#[derive(Debug, thiserror::Error)]
pub enum NoDraft {
    /// A rule is read by more people than a card.
    #[error("its text holds a credential, which no rule should keep")]
    Credential,
    /// It is no command.
    #[error("the command cannot be read: {0}")]
    Unreadable(String),
    /// More than one call, or words that are only known when it runs.
    #[error(
        "no rule can be drafted for this: a rule is for one call whose every word stands in the text; put what else it does into a \
         command of its own"
    )]
    NotOneCall,
    /// It goes somewhere that is not named.
    #[error("no rule can be drafted for this: where it goes no word of it says, and a rule has nothing else to go by")]
    Nowhere,
    /// A rule would not change what becomes of it.
    #[error(
        "no rule can be drafted for this: a rule answers what the decision table alone would have the inspector look at, and nothing \
         stricter. What a person must decide is let through ahead by a grant (`approve ID grant`), where one is offered"
    )]
    NothingToAnswer,
}

/// The command that a rule is drafted from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its text.
    pub command: String,
    /// Its folder, as the agent sees it, where that is known.
    pub cwd: Option<String>,
    /// What the workspace had seen. It is asked again with that, whatever a rule says about less.
    pub taint: Taint,
}

/// The rule that would let this very command through where the inspector looks: its words and no more, in its folder.
pub fn draft(policy: &Policy, around: &Surroundings, source: &Source, reason: &str) -> Result<Rule, NoDraft> {
    let command = &source.command;
    if credentials::find(command).is_some() || credentials::mask(command) != *command {
        return Err(NoDraft::Credential);
    }
    let line = CommandLine::parse(command.clone()).map_err(|error| NoDraft::Unreadable(error.to_string()))?;
    let found = classify(&line, around);
    let mut open: Vec<_> =
        found.parts.iter().filter(|part| part.class != CommandClass::Safe).map(|part| &part.argv).collect();
    open.dedup();
    let words = match open.as_slice() {
        [only] if found.understood && !found.parts.iter().any(rules::is_fed_code) => {
            only.iter().cloned().collect::<Option<Vec<String>>>()
        }
        _ => None,
    };
    let argv = words.filter(|words| !words.is_empty()).ok_or(NoDraft::NotOneCall)?;
    if found.effects.network.iter().any(|used| used.host.is_none()) {
        return Err(NoDraft::Nowhere);
    }
    let rule = Rule {
        action: Action::Allow,
        argv,
        exact: true,
        cwd: source.cwd.clone(),
        reason: reason.to_owned(),
        matches: vec![command.clone()],
        not_match: Vec::new(),
    };
    let asked = Asked { cwd: rule.cwd.as_deref(), ..Asked::from(command.as_str()) };
    let decided = |rules: Vec<Rule>| {
        let policy = Policy { rules, ..policy.clone() };
        policy::judge(&policy, source.taint, &found, asked).decision
    };
    let with = decided(policy.rules.iter().cloned().chain([rule.clone()]).collect());
    if Rule::check(std::slice::from_ref(&rule)).is_err()
        || with != Decision::Allow
        || decided(policy.rules.clone()) == with
    {
        return Err(NoDraft::NothingToAnswer);
    }
    Ok(rule)
}

/// A text as a string in TOML, in which what cannot be seen, or seems to be something else, is an escape.
pub fn quoted(text: &str) -> String {
    // A string of JSON is one of TOML, too, but for DEL, which is one of the characters that are escaped here.
    let mut out = String::new();
    for letter in Value::from(text).to_string().chars() {
        if visible(letter.encode_utf8(&mut [0; 4])).len() == letter.len_utf8() {
            out.push(letter);
        } else {
            // A `String` takes everything.
            let _ = write!(out, "\\U{:08x}", u32::from(letter));
        }
    }
    out
}

/// Texts as a list in TOML.
pub fn list(texts: &[String]) -> String {
    let all: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", all.join(", "))
}

/// A rule as it stands in `bashgate.toml`.
pub fn text(rule: &Rule) -> String {
    let exact = if rule.exact { "exact = true\n" } else { "" };
    let cwd = rule.cwd.as_ref().map_or_else(String::new, |cwd| format!("cwd = {}\n", quoted(cwd)));
    format!(
        "[[policy.rules]]\naction = \"allow\"\nargv = {}\n{exact}{cwd}reason = {}\nmatch = {}\n",
        list(&rule.argv),
        quoted(&rule.reason),
        list(&rule.matches)
    )
}

/// What a rule that was drafted lets through, in words.
pub fn reach(rule: &Rule) -> String {
    let place = match &rule.cwd {
        Some(cwd) => format!("in {} and nowhere else", one_line(cwd, 200)),
        None => "in any folder".to_owned(),
    };
    format!(
        "It lets this very call through, {place}; whoever may write what it runs or reads there says what it does. For more of its \
         kind take words off `argv`, and `exact`."
    )
}

/// What on record a rule would have covered.
#[derive(Debug, Default)]
pub struct Matched {
    /// How many commands.
    pub count: u64,
    /// Each, with what became of it then, and how often; the most frequent first.
    pub commands: Vec<((String, String), u64)>,
}

/// Looks through the whole record.
pub fn matched(reader: &Reader, around: &Surroundings, rule: &Rule) -> Result<Matched, StoreError> {
    let only = std::slice::from_ref(rule);
    let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
    let each = |record: audit::Record| {
        if let Ok(body) = serde_json::from_str::<Value>(&record.body)
            && body.get("kind").and_then(Value::as_str) == Some("decision")
            && let Some(Ok(decision)) = body.get("detail").map(DecisionRecord::deserialize)
            && let Some(command) = &decision.command
            && let Ok(line) = CommandLine::parse(command.clone())
        {
            let class = classify(&line, around);
            let asked = Asked { cwd: decision.cwd.as_deref(), ..Asked::from(line.text()) };
            if rules::apply(only, &class, asked, Decision::Inspect, true).is_some() {
                *found.entry((command.clone(), audit::outcome(&body).to_owned())).or_default() += 1;
            }
        }
        true
    };
    reader.audit(1, each)?;
    let mut commands: Vec<_> = found.into_iter().collect();
    commands.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    Ok(Matched { count: commands.iter().map(|(_, times)| times).sum(), commands })
}

/// Why a rule was not saved. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum NotSaved {
    /// The disk, or the file's mode.
    #[error("cannot write the configuration: {0}")]
    File(#[from] io::Error),
    /// What comes of it would be none.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Somebody saved it before.
    #[error("the configuration has this rule already; it counts when the host is started again")]
    There,
}

/// Writes a rule at the end of the configuration, if what comes of it is one. It counts when the host is started again.
pub fn save(file: &Path, rule: &str) -> Result<(), NotSaved> {
    // Where a link leads the file is replaced, and not the link.
    let file = &std::fs::canonicalize(file)?;
    let before = std::fs::read_to_string(file)?;
    if before.contains(rule) {
        return Err(NotSaved::There);
    }
    let after = format!("{}\n\n{rule}", before.trim_end());
    Config::parse(&after, file)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(after.as_bytes())?;
    let mode = std::fs::metadata(file)?.permissions();
    new.as_file().set_permissions(mode)?;
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_back_as_it_was_written() {
        for odd in [
            "",
            "a b",
            "\"\\\n\t\r\0\u{1b}\u{7f}\u{85}",
            "\u{202e}live\u{200b}",
            "größe",
            "р\u{430}ypal",
            "\u{1f600}'''",
        ] {
            let rule = Rule {
                action: Action::Allow,
                argv: vec!["make".to_owned(), odd.to_owned()],
                exact: true,
                cwd: Some(format!("/w/{odd}")),
                reason: odd.to_owned(),
                matches: vec![format!("make '{odd}'")],
                not_match: Vec::new(),
            };
            let text = text(&rule);
            assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{7f}', '\u{1b}']), "{text}");
            let read: toml::Table = text.parse().unwrap();
            let read = read["policy"]["rules"][0].clone();
            assert_eq!(read.try_into::<Rule>().unwrap(), rule);
        }
    }
}
