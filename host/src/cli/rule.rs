//! `bashgate rule`: a rule for the future, drafted from one command, shown with what else it would have let through, and saved on a
//! person's word.

use bashgate_shared::{say, say_aside};
use serde::Deserialize as _;
use serde_json::Value;

use super::{ConfigFile, Failure, Run, audit, judge, people};
use crate::chat::notice::one_line;
use crate::config::Config;
use crate::control::ControlCommand;
use crate::rule_draft::{self, Matched, NoDraft, NotSaved, Source};
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
    let source = match (&input.command, &input.id) {
        (Some(command), _) => Source { command: command.clone(), cwd: input.cwd.clone(), taint: Taint::Corruption },
        (None, Some(id)) => of_card(&config, id)?,
        (None, None) => return Err(Failure::Usage("give an ID, or --command TEXT".to_owned())),
    };
    let around = input.programs.surroundings()?;
    let rule = rule_draft::draft(&config.policy, &around, &source, &input.reason).map_err(|why| match why {
        NoDraft::Unreadable(_) => Failure::Usage(why.to_string()),
        _ => Failure::Refused(why.to_string()),
    })?;
    let text = rule_draft::text(&rule);
    say!("{text}");
    say_aside!("{}", rule_draft::reach(&rule));
    let Matched { count, commands } = match audit::open(&config.state) {
        Ok(reader) => rule_draft::matched(&reader, &around, &rule).map_err(|error| audit::failed(&error))?,
        // No host has run yet.
        Err(_) => Matched::default(),
    };
    if count == 0 {
        say_aside!("Nothing on record matches it.");
    } else {
        say_aside!("On record it matches {count} commands; of these the inspector would not be asked any more:");
        for ((command, outcome), times) in commands.iter().take(NAMED) {
            say_aside!("  {times:>5} x {outcome:7} {}", one_line(command, 120));
        }
        if commands.len() > NAMED {
            say_aside!("  and {} more", commands.len() - NAMED);
        }
    }
    if input.save {
        rule_draft::save(&config.file, &text).map_err(|why| match &why {
            NotSaved::Config(error) => Failure::of(error, error.help()),
            NotSaved::File(_) => Failure::failed(why.to_string(), "check its mode, and the disk"),
            NotSaved::There => Failure::Refused(why.to_string()),
        })?;
        say_aside!("Written into {}. It counts when the host is started again.", config.file.display());
    } else {
        say_aside!("Nothing was written. Say it again with --save, or put it into {} yourself.", config.file.display());
    }
    Ok(())
}

/// The command of a card.
fn of_card(config: &Config, id: &str) -> Result<Source, Failure> {
    let asked = ControlCommand::Show { id: id.to_owned() };
    let reply = people::ask_running(config, &asked)?.ok_or_else(|| people::no_host(config))?;
    if !reply.ok {
        return Err(Failure::Refused(reply.text));
    }
    let field = |name: &str| reply.data.get(name);
    if field("is_masked").and_then(Value::as_bool) != Some(false) {
        return Err(Failure::Refused(NoDraft::Credential.to_string()));
    }
    // What was asked then is asked again, whatever a rule says about less.
    let taint = field("taint").and_then(|taint| Taint::deserialize(taint).ok()).unwrap_or(Taint::Both);
    let text = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
    text("command")
        .map(|command| Source { command, cwd: text("cwd"), taint })
        .ok_or_else(|| Failure::failed("the host's answer has no command", "is it of this version?"))
}
