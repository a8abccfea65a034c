//! `bashgate suggest`: drafts of rows and rules, from the audit or from commands on standard input.

use std::fmt::Write as _;

use bashgate_shared::programs::own::{OwnForm, OwnOperands, OwnReach, OwnRow, ProgramsFile};
use bashgate_shared::protocol::Answer;
use bashgate_shared::{say_aside, say_part};
use serde::Deserialize;

use super::{ConfigFile, Failure, Run, audit, judge};
use crate::audit::DecisionRecord;
use crate::policy::Policy;
use crate::policy::rules::Rule;
use crate::replay::Past;
use crate::rule_draft::{self, list, quoted};
use crate::suggest::{Commands, Draft, Suggestion, Suggestions, suggest};

/// What is looked at.
#[derive(clap::Args)]
pub(super) struct Input {
    /// Read {"command":…} a line from standard input instead of the audit
    #[arg(long)]
    jsonl: bool,
    /// Leave out what was seen in fewer questions
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    least: u64,
    /// Most drafts
    #[arg(long, value_name = "N", default_value_t = 30)]
    most: usize,
    #[command(flatten)]
    programs: judge::Programs,
    #[command(flatten)]
    config: ConfigFile,
}

pub(super) fn run(input: &Input) -> Run {
    let mut commands = Commands::default();
    let (policy, configured) = if input.jsonl {
        judge::each_line(|command| {
            match command {
                Ok(command) => commands.add(command, None),
                Err(_) => commands.skip(),
            }
            Ok(())
        })?;
        (Policy::default(), None)
    } else {
        let config = input.config.load()?;
        from_audit(&config, &mut commands)?;
        (config.policy, config.programs)
    };
    let base = input.programs.file()?.or(configured).unwrap_or_default();
    let found = suggest(&commands, &base, &policy, input.least).map_err(|error| {
        let help = bashgate_shared::programs::own::RowError::help();
        Failure::failed(error, help)
    })?;
    let shown = found.drafts.len().min(input.most);
    say_part!("{}", drafts(found.drafts.get(..shown).unwrap_or_default(), &base));
    say_aside!("{}", summary(&commands, &found, shown));
    Ok(())
}

/// What was let through: an agent may ask for anything as often as it likes.
fn from_audit(config: &crate::config::Config, commands: &mut Commands) -> Run {
    let reader = audit::open(&config.state)?;
    let each = |record: crate::audit::Record| {
        if let Ok(past) = serde_json::from_str::<Past>(&record.body)
            && past.kind == "decision"
            && let Ok(DecisionRecord { command: Some(command), cwd, answer: Answer::Allow, .. }) =
                DecisionRecord::deserialize(&past.detail)
        {
            commands.add(&command, cwd.as_deref());
        }
        true
    };
    reader.audit(1, each).map_err(|error| audit::failed(&error))
}

fn summary(commands: &Commands, found: &Suggestions, shown: usize) -> String {
    let mut text = format!(
        "{} commands, {} of them questions once the agent has seen untrusted content; {shown} of {} drafts are shown, and all together would have settled {} of the questions.",
        commands.all,
        found.questions,
        found.drafts.len(),
        found.settled
    );
    if commands.left_out > 0 {
        let _ =
            write!(text, "\n{} commands were left out: there are too many, or they cannot be read.", commands.left_out);
    }
    if shown > 0 {
        text.push_str(
            "\nA draft says what was seen, not what a program does. Read each, correct it, and give every row its `about` and a `not_safe` example; \
             it does not load before. Rows go into the file that `programs` names (docs/programs.md), rules into bashgate.toml (docs/policy.md).",
        );
    }
    text
}

fn drafts(suggestions: &[Suggestion], base: &ProgramsFile) -> String {
    let mut text = String::new();
    let is_row = |suggestion: &&Suggestion| matches!(suggestion.draft, Draft::Row(_));
    let (rows, rules): (Vec<&Suggestion>, Vec<&Suggestion>) = suggestions.iter().partition(is_row);
    if !rows.is_empty() {
        let beside = if base.programs.is_empty() { "" } else { ", beside the rows that are there" };
        let _ = writeln!(text, "# For programs.toml{beside}: what stays on this machine.\n");
    }
    for suggestion in rows {
        if let Draft::Row(row) = &suggestion.draft {
            text.push_str(&row_text(row, suggestion));
        }
    }
    if !rules.is_empty() {
        text.push_str(
            "# For bashgate.toml: what the inspector need not look at. It runs whatever the repository says.\n\n",
        );
    }
    for suggestion in rules {
        if let Draft::Rule(rule) = &suggestion.draft {
            text.push_str(&rule_text(rule, suggestion));
        }
    }
    text
}

fn worth(suggestion: &Suggestion) -> String {
    format!("# In {} questions; would have settled {} of them.", suggestion.seen, suggestion.settles)
}

fn row_text(row: &OwnRow, suggestion: &Suggestion) -> String {
    let mut text = format!("{}\n[[program]]\nnames = {}\n", worth(suggestion), list(&row.names));
    text.push_str("about = \"\"  # ends the sentence \"it ...\"\n");
    if let Some(form) = &row.form {
        let _ = writeln!(text, "form = {}", form_text(form));
    }
    if !row.tells_version.is_empty() {
        let _ = writeln!(text, "tells_version = {}", list(&row.tells_version));
    }
    let _ = writeln!(text, "safe = {}\nnot_safe = []  # calls that must stay questions\n", list(&row.safe));
    for (word, count) in &suggestion.calls {
        let Some(subcommand) = row.subcommands.iter().find(|subcommand| subcommand.words == *word) else { continue };
        let _ = writeln!(text, "# Seen {count} times.\n[[program.subcommand]]\nwords = {}", quoted(word));
        if let Some(form) = &subcommand.form {
            let _ = writeln!(text, "form = {}  # only if it opens no connection and runs nothing", form_text(form));
        }
        if let Some(reach) = subcommand.reach {
            let reach = if reach == OwnReach::Reads { "reads" } else { "writes" };
            let _ = writeln!(text, "reach = {}  # going by its name", quoted(reach));
        }
        text.push('\n');
    }
    text
}

fn form_text(form: &OwnForm) -> String {
    let mut keys = Vec::new();
    for (key, letters) in [("flags", &form.flags), ("values", &form.values)] {
        if !letters.is_empty() {
            keys.push(format!("{key} = {}", quoted(letters)));
        }
    }
    if !form.long.is_empty() {
        keys.push(format!("long = {}", list(&form.long)));
    }
    let operands = match form.operands {
        OwnOperands::None => None,
        OwnOperands::Data => Some("data"),
        OwnOperands::Names => Some("names"),
        OwnOperands::Files => Some("files"),
        OwnOperands::Writes => Some("writes"),
    };
    keys.extend(operands.map(|operands| format!("operands = {}", quoted(operands))));
    if keys.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", keys.join(", ")) }
}

fn rule_text(rule: &Rule, suggestion: &Suggestion) -> String {
    // Every word of it stands there, since what it runs lies in a folder.
    let open = if rule.exact && rule.cwd.is_none() {
        "# cwd = \"/workspace\"  # without it, the rule is for this text in any folder\n"
    } else {
        ""
    };
    format!("{}\n{}{open}\n", worth(suggestion), rule_draft::text(rule))
}
