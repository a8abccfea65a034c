//! `scripts generate`: from words to a script that nobody has approved.

use std::process::ExitCode;

use bashgate_shared::script::{Capabilities, Manifest};
use bashgate_shared::{say, say_aside};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::edit::tell_new;
use super::{Failure, Kept, MAX_INPUT_BYTES, about, read_input, tell_line, wrong_input};
use crate::cli::Common;
use crate::scripts::used::capabilities_of;
use crate::scripts::{Author, LibraryError, drafting, find};

/// How much a script that is there must fit, from 0 to 1, so that no other one is written.
const FITS: f64 = 0.8;

#[derive(Debug, Args)]
pub(super) struct Generate {
    #[command(flatten)]
    pub(super) kept: Kept,
    #[command(flatten)]
    common: Common,
    /// The agent on whose behalf, for the record.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What it is to do.
    #[arg(required_unless_present = "input")]
    words: Vec<String>,
    /// Its name; made of the words, if not given.
    #[arg(long)]
    name: Option<String>,
    /// The only files and folders that it may read, absolute; may be repeated. What its text names, if not given.
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// The only folders that it may write, absolute; may be repeated. Those of its text, if not given.
    #[arg(long, value_name = "DIR")]
    write: Vec<String>,
    /// It may use network, if its text does.
    #[arg(long)]
    network: bool,
    /// The only programs that it may run; may be repeated. Those of its text, if not given.
    #[arg(long, value_name = "NAME")]
    command: Vec<String>,
    /// A name that each run has a value for, such as `trigger.file.path`; may be repeated.
    #[arg(long, value_name = "NAME")]
    variable: Vec<String>,
    /// Have one written even where one that fits is kept already.
    #[arg(long)]
    new: bool,
    /// Take it as one JSON object from standard input instead: `description`, `name`, `capabilities`, `variables`, `new`.
    #[arg(long, conflicts_with_all = ["words", "name", "read", "write", "network", "command", "variable", "new"])]
    input: bool,
}

/// What is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    description: String,
    name: Option<String>,
    #[serde(default)]
    capabilities: Capabilities,
    #[serde(default)]
    variables: Vec<String>,
    #[serde(default)]
    new: bool,
}

impl Generate {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let library = self.kept.library()?;
        let (gate, as_json) = (self.common.gate()?, self.kept.json);
        let agent = self.agent.clone();
        let wanted = self.wanted()?;
        let name = wanted.name.clone().unwrap_or_else(|| drafting::name_of(&wanted.description));
        let (capabilities, variables) = (wanted.capabilities.clone(), wanted.variables.clone());
        let manifest = Manifest { capabilities, variables, ..Manifest::named(&name) };
        // Before anybody is asked.
        let mut manifest = manifest.canonical().map_err(LibraryError::from)?;
        let (scripts, _) = library.list()?;
        let fits = |found: &(&_, f64)| found.1 >= FITS;
        let existing: Vec<_> = find::best(&wanted.description, &scripts).into_iter().filter(fits).collect();
        if !existing.is_empty() && !wanted.new {
            if as_json {
                let existing: Vec<_> = existing.iter().map(|(script, _)| about(script)).collect();
                say!("{}", json!({"existing": existing, "generated": false}));
                return Ok(ExitCode::SUCCESS);
            }
            for (script, _) in &existing {
                tell_line(script);
            }
            say_aside!("One that does this is kept already. --new has another one written.");
            return Ok(ExitCode::FAILURE);
        }
        if !as_json {
            say_aside!("The host's model is asked …");
        }
        let text =
            drafting::text(&gate, agent.as_deref(), &wanted.description, &wanted.capabilities, &wanted.variables)?;
        manifest.capabilities = capabilities_of(&text, &manifest);
        let description = wanted.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let script = library.create(&text, manifest, &description, Author::Llm)?;
        if !as_json {
            say!("{}", script.about.manifest.shown(&script.text));
        }
        tell_new(&script, as_json);
        Ok(ExitCode::SUCCESS)
    }

    fn wanted(self) -> Result<Wanted, Failure> {
        if self.input {
            let text = read_input(std::io::stdin(), MAX_INPUT_BYTES).map_err(wrong_input)?;
            return serde_json::from_str(&text).map_err(wrong_input);
        }
        Ok(Wanted {
            description: self.words.join(" "),
            name: self.name,
            capabilities: Capabilities {
                paths_read: self.read,
                paths_write: self.write,
                network: self.network,
                commands: self.command,
            },
            variables: self.variable,
            new: self.new,
        })
    }
}
