//! `scripts versions`, `diff` and `restore`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bashgate_shared::{difference, say, say_aside};
use clap::Args;
use serde_json::{Value, json};

use super::{Failure, Kept, about, edit, tell_wrong};
use crate::scripts::versions::KEPT;
use crate::scripts::{Author, LibraryError, Script};

#[derive(Debug, Args)]
pub(super) struct Versions {
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The script, by id or name.
    script: String,
}

#[derive(Debug, Args)]
pub(super) struct Diff {
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The script, by id or name.
    script: String,
    /// The older version; the one before the last, if not given.
    #[arg(long, value_name = "NUMBER")]
    from: Option<u32>,
    /// The newer version; the one that counts, if not given.
    #[arg(long, value_name = "NUMBER")]
    to: Option<u32>,
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The script, by id or name.
    script: String,
    /// The version to restore.
    version: u32,
    /// How many versions to keep besides the one that counts.
    #[arg(long, value_name = "NUMBER", default_value_t = KEPT)]
    keep: usize,
    /// A model restores it, not a person.
    #[arg(long, hide = true)]
    by_model: bool,
}

impl Versions {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let (all, wrong) = self.kept.library()?.versions(&self.script)?;
        if self.kept.json {
            say!("{}", Value::Array(all.iter().map(about).collect()));
        } else {
            for script in &all {
                let by = script.about.edited_by.unwrap_or(script.about.created_by);
                let by =
                    serde_json::to_value(by).ok().and_then(|by| by.as_str().map(str::to_owned)).unwrap_or_default();
                let digest = script.digest().hex();
                let digest = digest.get(..16).unwrap_or_default();
                say!(
                    "{}  by {by}  {digest}…  {}",
                    script.about.version,
                    super::super::one_line(&script.about.description, 80)
                );
            }
        }
        tell_wrong(&wrong);
        Ok(ExitCode::SUCCESS)
    }
}

impl Diff {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let library = self.kept.library()?;
        let to = match self.to {
            Some(number) => library.version(&self.script, number)?,
            None => library.get(&self.script)?,
        };
        let from = self.from.unwrap_or(to.about.version.saturating_sub(1));
        let from = library.version(&to.id, from).map_err(|error| match error {
            LibraryError::NoVersion { version: 0 } => {
                LibraryError::NoVersion { version: to.about.version.saturating_sub(1) }
            }
            error => error,
        })?;
        // With what it may reach: that is approved, too.
        let shown = |script: &Script| script.about.manifest.shown(&script.text);
        let until = Instant::now() + Duration::from_secs(1);
        let text = difference::text(&shown(&from), &shown(&to), until);
        if self.kept.json {
            say!("{}", json!({"from": from.about.version, "to": to.about.version, "difference": text}));
        } else if text.is_empty() {
            say_aside!("Versions {} and {} say the same.", from.about.version, to.about.version);
        } else {
            bashgate_shared::say_part!("{text}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Restore {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let by = if self.by_model { Author::Llm } else { Author::User };
        let script = self.kept.library()?.restore(&self.script, self.version, by, self.keep)?;
        edit::tell_new(&script, self.kept.json);
        Ok(ExitCode::SUCCESS)
    }
}
