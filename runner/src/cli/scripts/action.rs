//! `scripts action`: what an automation does with scripts, one after another.

use std::path::PathBuf;
use std::process::ExitCode;

use bashgate_shared::{say, say_aside};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::run::{Behind, Runs};
use super::{Failure, Kept, MAX_INPUT_BYTES, read_input, wrong_input};
use crate::cli::{complain, exec};
use crate::scripts::action::{ActionError, BashAction, ChainStatus, MAX_ACTIONS};

#[derive(Debug, Args)]
pub(super) struct RunAction {
    #[command(flatten)]
    behind: Behind,
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The file with the action, or with a list of them, as JSON; standard input if not given, or for `-`.
    file: Option<PathBuf>,
    /// What the automation knows, for `${…}` in the actions' values; may be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = exec::variable)]
    var: Vec<(String, String)>,
    /// Take `actions` and `known` as one JSON object from standard input.
    #[arg(long, conflicts_with_all = ["file", "var"])]
    input: bool,
}

/// Actions with what the automation knows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    actions: Value,
    #[serde(default)]
    known: Map<String, Value>,
}

impl RunAction {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let (actions, known) = self.read()?;
        if actions.is_empty() || actions.len() > MAX_ACTIONS {
            return Err(refused(ActionError::Count(actions.len())));
        }
        let library = self.kept.library()?;
        let runs = Runs::new(&self.behind, &self.kept)?;
        let (mut status, mut steps) = (ChainStatus::Success, Vec::new());
        for action in &actions {
            let ran = library.get(&action.script_id).map_err(Failure::from).and_then(|script| {
                let (id, name, remark) =
                    (script.id.clone(), script.about.manifest.name.clone(), action.remark(&script));
                if let Some(remark) = remark.as_ref().filter(|_| !self.kept.json) {
                    say_aside!("bashgate-run: {remark}");
                }
                let request = action.request(&script, &known).map_err(refused)?;
                Ok((id, name, remark, runs.run(script, &request)?))
            });
            let step = match ran {
                Ok((id, name, remark, ran)) => {
                    status = status.with(Some(ran.exit_status()));
                    if !self.kept.json {
                        ran.print();
                    }
                    let mut step = json!({"script_id": id, "script_name": name, "remark": remark});
                    if let (Some(step), Value::Object(result)) = (step.as_object_mut(), ran.result()) {
                        step.extend(result);
                    }
                    step
                }
                Err(Failure { error, help }) => {
                    status = status.with(None);
                    if !self.kept.json {
                        complain(error.as_ref(), &help);
                    }
                    let (error, exit_status) = (error.to_string(), ChainStatus::HardFailure);
                    json!({"script_id": action.script_id, "success": false, "exit_status": exit_status, "error": error, "help": help})
                }
            };
            steps.push(step);
            if !status.goes_on() {
                break;
            }
        }
        let not_run = actions.len() - steps.len();
        if self.kept.json {
            say!(
                "{}",
                json!({"success": status == ChainStatus::Success, "exit_status": status, "steps": steps, "not_run": not_run})
            );
        } else if not_run > 0 {
            say_aside!(
                "bashgate-run: {not_run} of {} actions did not run: the one before them failed hard",
                actions.len()
            );
        }
        Ok(ExitCode::from(match status {
            ChainStatus::Success => 0,
            ChainStatus::SoftFailure => 1,
            ChainStatus::HardFailure => 128,
        }))
    }

    fn read(&self) -> Result<(Vec<BashAction>, Map<String, Value>), Failure> {
        let file = self.file.as_ref().filter(|file| file.as_os_str() != "-" && !self.input);
        let text = match file {
            None => read_input(std::io::stdin(), MAX_INPUT_BYTES),
            Some(file) => std::fs::File::open(file).and_then(|file| read_input(file, MAX_INPUT_BYTES)),
        };
        let text = text.map_err(wrong_input)?;
        if self.input {
            let Whole { actions, known } = serde_json::from_str(&text).map_err(wrong_input)?;
            return Ok((actions_of(actions)?, known));
        }
        let all = actions_of(serde_json::from_str(&text).map_err(wrong_input)?)?;
        let known = self.var.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
        Ok((all, known))
    }
}

/// One action, or a list of them.
fn actions_of(value: Value) -> Result<Vec<BashAction>, Failure> {
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    all.into_iter().map(|one| serde_json::from_value(one).map_err(wrong_input)).collect()
}

fn refused(error: ActionError) -> Failure {
    let help = error.help();
    Failure::new(error, help)
}
