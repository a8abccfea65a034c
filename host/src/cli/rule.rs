//! `bashgate rule`: a rule for the future, drafted from one command, shown with what else it would have let through, and saved on a
//! person's word.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use bashgate_shared::classify::{CommandClass, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::{say, say_aside};
use serde::Deserialize as _;
use serde_json::Value;

use super::{ConfigFile, Failure, Run, audit, judge, people, suggest as drafts};
use crate::audit::DecisionRecord;
use crate::chat::notice::one_line;
use crate::config::Config;
use crate::control::ControlCommand;
use crate::policy::rules::{self, Action, Rule};
use crate::policy::{self, Asked, Decision, Policy, credentials};
use crate::taint::Taint;

/// Most commands of the record that are named.
const NAMED: usize = 20;

/// What is to be drafted.
#[derive(clap::Args)]
pub(super) struct Input {
    /// The id of a held command, or of one that the inspector denied
    #[arg(required_unless_present = "command")]
    id: Option<String>,
    /// A command instead
    #[arg(long, conflicts_with = "id")]
    command: Option<String>,
    /// The folder where it runs, as the agent sees it; of a card it is known
    #[arg(long, requires = "command")]
    cwd: Option<String>,
    /// Write the rule into bashgate.toml. It counts when the host is started again
    #[arg(long)]
    save: bool,
    /// Why, for whoever reads the configuration
    #[arg(long, default_value = "")]
    reason: String,
    #[command(flatten)]
    programs: judge::Programs,
    #[command(flatten)]
    config: ConfigFile,
}

pub(super) fn run(input: &Input) -> Run {
    let config = input.config.load()?;
    let (command, cwd, taint) = match (&input.command, &input.id) {
        (Some(command), _) => (command.clone(), input.cwd.clone(), Taint::Corruption),
        (None, Some(id)) => of_card(&config, id)?,
        (None, None) => return Err(Failure::Usage("give an ID, or --command TEXT".to_owned())),
    };
    if credentials::find(&command).is_some() {
        return Err(Failure::Refused("its text holds a credential, which no rule should keep".to_owned()));
    }
    let rule = Rule { reason: input.reason.clone(), ..draft(input, &config, &command, cwd, taint)? };
    let text = drafts::rule_toml(&rule);
    say!("{text}");
    let place = rule
        .cwd
        .as_ref()
        .map_or_else(|| "in any folder".to_owned(), |cwd| format!("in {} and nowhere else", one_line(cwd, 200)));
    say_aside!(
        "It lets this very call through, {place}; whoever may write what it runs or reads there says what it does. For more of its kind take words off `argv`, and `exact`."
    );
    let (count, others) = matched(input, &config, &rule)?;
    if count == 0 {
        say_aside!("Nothing on record matches it.");
    } else {
        say_aside!("On record it matches {count} commands; of these the inspector would not be asked any more:");
        for ((command, outcome), times) in others.iter().take(NAMED) {
            say_aside!("  {times:>5} x {outcome:7} {}", one_line(command, 120));
        }
        if others.len() > NAMED {
            say_aside!("  and {} more", others.len() - NAMED);
        }
    }
    if input.save {
        save(&config.file, &text)?;
        say_aside!("Written into {}. It counts when the host is started again.", config.file.display());
    } else {
        say_aside!("Nothing was written. Say it again with --save, or put it into {} yourself.", config.file.display());
    }
    Ok(())
}

/// The command of a card.
fn of_card(config: &Config, id: &str) -> Result<(String, Option<String>, Taint), Failure> {
    let asked = ControlCommand::Show { id: id.to_owned() };
    let reply = people::ask_running(config, &asked)?.ok_or_else(|| people::no_host(config))?;
    if !reply.ok {
        return Err(Failure::Refused(reply.text));
    }
    let field = |name: &str| reply.data.get(name);
    if field("is_masked").and_then(Value::as_bool) != Some(false) {
        return Err(Failure::Refused("its text holds a credential, which no rule should keep".to_owned()));
    }
    // What was asked then is asked again, whatever a rule says about less.
    let taint = field("taint").and_then(|taint| Taint::deserialize(taint).ok()).unwrap_or(Taint::Both);
    let text = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
    text("command")
        .map(|command| (command, text("cwd"), taint))
        .ok_or_else(|| Failure::failed("the host's answer has no command", "is it of this version?"))
}

/// The rule that would let this very command through where the inspector looks: its words and no more, in its folder.
fn draft(input: &Input, config: &Config, command: &str, cwd: Option<String>, taint: Taint) -> Result<Rule, Failure> {
    let refused = |why: &str| Failure::Refused(format!("no rule can be drafted for this: {why}"));
    let line = CommandLine::parse(command.to_owned())
        .map_err(|error| Failure::Usage(format!("the command cannot be read: {error}")))?;
    let found = classify(&line, &input.programs.surroundings()?);
    let mut open: Vec<_> =
        found.parts.iter().filter(|part| part.class != CommandClass::Safe).map(|part| &part.argv).collect();
    open.dedup();
    let words = match open.as_slice() {
        [only] if found.understood => only.iter().cloned().collect::<Option<Vec<String>>>(),
        _ => None,
    };
    let argv = words.filter(|words| !words.is_empty()).ok_or_else(|| {
        refused("a rule is for one call whose every word stands in the text; put what else it does into a command of its own")
    })?;
    if found.effects.network.iter().any(|used| used.host.is_none()) {
        return Err(refused("where it goes no word of it says, and a rule has nothing else to go by"));
    }
    let rule = Rule {
        action: Action::Allow,
        argv,
        exact: true,
        cwd,
        reason: String::new(),
        matches: vec![command.to_owned()],
        not_match: Vec::new(),
    };
    let asked = Asked { cwd: rule.cwd.as_deref(), ..Asked::from(command) };
    let decided = |rules: Vec<Rule>| {
        let policy = Policy { rules, ..config.policy.clone() };
        policy::judge(&policy, taint, &found, asked).decision
    };
    let with = decided(config.policy.rules.iter().cloned().chain([rule.clone()]).collect());
    if Rule::check(std::slice::from_ref(&rule)).is_err()
        || with != Decision::Allow
        || decided(config.policy.rules.clone()) == with
    {
        return Err(refused(
            "a rule answers what the decision table alone would have the inspector look at, and nothing stricter. What a person must \
             decide is let through ahead by a grant (`approve ID grant`), where one is offered",
        ));
    }
    Ok(rule)
}

/// What on record the rule would have covered, with what became of it then: how often each.
type Matches = Vec<((String, String), u64)>;

fn matched(input: &Input, config: &Config, rule: &Rule) -> Result<(u64, Matches), Failure> {
    let Ok(reader) = audit::open(&config.state) else { return Ok((0, Vec::new())) };
    let around = input.programs.surroundings()?;
    let only = std::slice::from_ref(rule);
    let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
    let each = |record: crate::audit::Record| {
        if let Ok(body) = serde_json::from_str::<Value>(&record.body)
            && body.get("kind").and_then(Value::as_str) == Some("decision")
            && let Some(Ok(decision)) = body.get("detail").map(DecisionRecord::deserialize)
            && let Some(command) = &decision.command
            && let Ok(line) = CommandLine::parse(command.clone())
        {
            let class = classify(&line, &around);
            if rules::apply(
                only,
                &class,
                Asked { cwd: decision.cwd.as_deref(), ..Asked::from(line.text()) },
                Decision::Inspect,
                true,
            )
            .is_some()
            {
                *found.entry((command.clone(), crate::audit::outcome(&body).to_owned())).or_default() += 1;
            }
        }
        true
    };
    reader.audit(1, each).map_err(|error| audit::failed(&error))?;
    let mut all: Matches = found.into_iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    Ok((all.iter().map(|(_, times)| times).sum(), all))
}

/// Writes the rule at the end of the configuration, if what comes of it is one.
fn save(file: &Path, rule: &str) -> Run {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {error}", file.display()), "check its mode, and the disk")
    };
    let before = std::fs::read_to_string(file).map_err(failed)?;
    let after = format!("{}\n\n{rule}", before.trim_end());
    Config::parse(&after, file).map_err(|error| Failure::of(&error, error.help()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    new.write_all(after.as_bytes()).map_err(failed)?;
    let mode = std::fs::metadata(file).map_err(failed)?.permissions();
    new.as_file().set_permissions(mode).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    new.persist(file).map_err(|error| failed(error.error))?;
    Ok(())
}
