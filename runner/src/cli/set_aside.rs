//! `set-aside`: what runs in the cage have left and nobody was asked about.

use std::path::PathBuf;
use std::process::ExitCode;

use bashgate_shared::{say, say_aside};
use clap::Args;
use serde_json::json;

use super::jobs::Place;
use super::{REFUSED, complain};
use crate::watch::{Aside, give_back, remembered};

/// List what runs in the cage have left that acts later and was given another name, or give it its name back.
///
/// An editor, a shell or git would run what such files say, and nobody was asked. Read a file before you give it its name back: from
/// then on it acts.
#[derive(Debug, Args)]
pub(super) struct SetAside {
    #[command(flatten)]
    place: Place,
    /// Only what lies below this folder.
    #[arg(long, value_name = "DIR", default_value = ".")]
    below: PathBuf,
    /// Give these files, by the names that they have now, their old names back.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    give_back: Vec<PathBuf>,
    /// Print a JSON list.
    #[arg(long)]
    json: bool,
}

impl SetAside {
    pub(super) fn run(self) -> ExitCode {
        let Some(state) = self.place.folder() else {
            say_aside!("error: there is no HOME, so nothing was written down");
            return ExitCode::from(REFUSED);
        };
        if !self.give_back.is_empty() {
            let mut code = ExitCode::SUCCESS;
            for file in &self.give_back {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                match give_back(&state, &file) {
                    Ok(path) => say!("{} is {} again", file.display(), path.display()),
                    Err(error) => {
                        complain(&error, error.help());
                        code = ExitCode::from(REFUSED);
                    }
                }
            }
            return code;
        }
        let below = std::fs::canonicalize(&self.below).unwrap_or(self.below);
        let all = remembered(&state, &below);
        if self.json {
            say!("{}", json!(all));
            return ExitCode::SUCCESS;
        }
        if all.is_empty() {
            say!("nothing below {} was set aside", below.display());
        }
        for Aside { path, aside, .. } in &all {
            let shown = |path: &PathBuf| super::one_line(&path.display().to_string(), 1000);
            say!("{}\n  was {}", shown(aside), shown(path));
        }
        ExitCode::SUCCESS
    }
}
