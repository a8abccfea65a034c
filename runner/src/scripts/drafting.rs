//! Having the host's model write a script. What comes back is a text that nobody has approved.

use std::path::PathBuf;

use bashgate_hook::gate;
use bashgate_hook::gate::ask::{self, AskError};
use bashgate_hook::gate::config::Config;
use bashgate_shared::draft::ScriptDraft;
use bashgate_shared::protocol::RequestError;
use bashgate_shared::script::{Capabilities, MAX_NAME_CHARS, MAX_TEXT_BYTES};

use crate::gate::Gate;
use crate::permit::AGENT;

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// There is no host that could be asked.
    #[error("there is no host to ask: there is no {}", config.display())]
    NoGate {
        /// Where the configuration was looked for.
        config: PathBuf,
    },
    /// Nobody can make an id for the request.
    #[error("cannot make a request id")]
    NoId,
    /// What is wanted cannot be put.
    #[error("{0}")]
    Wrong(#[from] RequestError),
    /// No answer counts.
    #[error("{0}")]
    Unanswered(#[from] AskError),
    /// The host or its model does not write it.
    #[error("the host writes no script: {0}")]
    Denied(String),
    /// What came back is none.
    #[error("what the host's model wrote has {0} bytes")]
    Size(usize),
}

impl DraftError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            Self::NoGate { .. } => {
                "run `bashgate init DIR` and `bashgate serve` on the host, and pass --config DIR/hook.toml".to_owned()
            }
            Self::NoId | Self::Size(_) => "try it again".to_owned(),
            Self::Wrong(error) => error.help().to_owned(),
            Self::Unanswered(error) => format!("for the operator: {}", error.help()),
            Self::Denied(_) => "do what the reason says, or write it and keep it with `scripts create`".to_owned(),
        }
    }
}

/// Asks the host for a script that does this. It waits as long as the gate's configuration says.
pub fn text(
    gate: &Gate,
    agent: Option<&str>,
    task: &str,
    given: &Capabilities,
    variables: &[String],
) -> Result<String, DraftError> {
    let Some(config) = &gate.config else { return Err(DraftError::NoGate { config: gate.config_file.clone() }) };
    let Config { deadline_s, public_key, .. } = config;
    let id = ask::new_id().ok_or(DraftError::NoId)?;
    let draft = ScriptDraft {
        agent: Some(gate::label(agent.unwrap_or(AGENT).to_owned())),
        timeout_ms: Some(deadline_s * 1000),
        key_id: Some(public_key.id()),
        ..ScriptDraft::of(&id, task, given.clone(), variables.to_vec())
    };
    draft.check()?;
    let bytes = serde_json::to_vec(&draft).map_err(RequestError::from)?;
    let response = ask::ask(config, &id, &bytes)?;
    if !ask::is_allowed(&response) {
        return Err(DraftError::Denied(response.reason));
    }
    match response.reason.len() {
        1..=MAX_TEXT_BYTES => Ok(response.reason),
        bytes => Err(DraftError::Size(bytes)),
    }
}

/// A name for a script that has none yet, out of the words that say what it does.
pub fn name_of(task: &str) -> String {
    let words = task.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = String::new();
    for word in words {
        if name.len() + word.len() + 1 > MAX_NAME_CHARS / 2 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&word.to_lowercase());
    }
    if name.is_empty() { "script".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use bashgate_shared::script::Manifest;

    use super::*;

    #[test]
    fn every_task_has_a_name_that_a_script_may_have() {
        for (task, want) in [
            ("Compress logs and upload them", "compress-logs-and-upload-them"),
            ("  count!  ", "count"),
            ("Übersicht", "bersicht"),
            ("文", "script"),
            ("", "script"),
            (&"a".repeat(200), "script"),
            ("../../etc", "etc"),
        ] {
            assert_eq!(name_of(task), want, "{task}");
            assert!(Manifest::named(&name_of(task)).canonical().is_ok(), "{task}");
        }
    }
}
