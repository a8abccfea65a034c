//! `scripts`: managed scripts.

mod action;
mod edit;
mod generate;
mod run;
mod versions;

use std::io::Read as _;
use std::process::ExitCode;

use bashgate_shared::{say, say_aside};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::jobs::Place;
use super::{Failure, REFUSED, complain};
use crate::scripts::find;
use crate::scripts::validate::{Level, Objection, can_run, validate};
use crate::scripts::{Library, LibraryError, Script};

/// Longest input, in bytes.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Args)]
pub(super) struct Scripts {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List the scripts: id, name, description.
    List {
        #[command(flatten)]
        kept: Kept,
    },
    /// Find scripts by words of their names and descriptions, the best first.
    Find {
        #[command(flatten)]
        kept: Kept,
        /// What it is called, or what it is to do.
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Show a script with what it may reach.
    Show {
        #[command(flatten)]
        kept: Kept,
        /// The script, by id or name.
        script: String,
    },
    /// Keep a new script; its text comes from a file, or from standard input.
    Create(edit::Create),
    /// Have the host's model write a script, from words that say what it is to do. Nobody has approved it then.
    Generate(generate::Generate),
    /// Make the next version of a script; what is not named stays as it is, and the version before is kept.
    Edit(edit::Edit),
    /// List the versions of a script that are kept, oldest first.
    Versions(versions::Versions),
    /// Show what is different between two versions: the last two, if none is named.
    Diff(versions::Diff),
    /// Make an earlier version the one that counts. Where it was approved, it runs without a question.
    Restore(versions::Restore),
    /// Note that an automation uses a script, which cannot be removed while one does.
    Link {
        #[command(flatten)]
        kept: Kept,
        /// The script, by id or name.
        script: String,
        /// The automation's id.
        automation: String,
    },
    /// Note that an automation uses a script no more.
    Unlink {
        #[command(flatten)]
        kept: Kept,
        /// The script, by id or name.
        script: String,
        /// The automation's id.
        automation: String,
    },
    /// Remove a script with all of its versions.
    Delete {
        #[command(flatten)]
        kept: Kept,
        /// The script, by id or name.
        script: String,
    },
    /// Look at a script without running it: syntax, where values land, programs, shellcheck.
    Validate {
        #[command(flatten)]
        kept: Kept,
        /// The script, by id or name.
        #[arg(required_unless_present = "input")]
        script: Option<String>,
        /// Look at a script that is not kept: JSON on standard input, with the fields of `create --input`.
        #[arg(long, conflicts_with = "script")]
        input: bool,
    },
    /// Run a script. The first time, a person is asked; afterwards it runs without a question until anything of it changes.
    Run(run::RunScript),
    /// Run the actions of an automation, `{"type": "bash.run", "script_id": …}`, one after another.
    Action(action::RunAction),
}

#[derive(Debug, Args)]
struct Kept {
    #[command(flatten)]
    place: Place,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn wrong_input(error: impl std::error::Error + 'static) -> Failure {
    Failure::new(error, "`bashgate-run scripts --help` and docs/scripts.md show the fields")
}

fn read_input(from: impl std::io::Read, most: u64) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(std::io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}

impl Kept {
    fn library(&self) -> Result<Library, Failure> {
        self.place.folder().map(Library::at).ok_or_else(|| LibraryError::NoHome.into())
    }
}

impl Scripts {
    pub(super) fn run(self) -> ExitCode {
        let as_json = match &self.act {
            Act::List { kept }
            | Act::Find { kept, .. }
            | Act::Show { kept, .. }
            | Act::Link { kept, .. }
            | Act::Unlink { kept, .. }
            | Act::Delete { kept, .. }
            | Act::Validate { kept, .. } => kept.json,
            Act::Create(create) => create.kept.json,
            Act::Generate(generate) => generate.kept.json,
            Act::Edit(edit) => edit.kept.json,
            Act::Versions(versions) => versions.kept.json,
            Act::Diff(diff) => diff.kept.json,
            Act::Restore(restore) => restore.kept.json,
            Act::Run(run) => run.kept.json,
            Act::Action(action) => action.kept.json,
        };
        let done = match self.act {
            Act::List { kept } => list(&kept),
            Act::Find { kept, words } => search(&kept, &words.join(" ")),
            Act::Show { kept, script } => show(&kept, &script),
            Act::Create(create) => create.run(),
            Act::Generate(generate) => generate.run(),
            Act::Edit(edit) => edit.run(),
            Act::Versions(versions) => versions.run(),
            Act::Diff(diff) => diff.run(),
            Act::Restore(restore) => restore.run(),
            Act::Link { kept, script, automation } => link(&kept, &script, &automation, true),
            Act::Unlink { kept, script, automation } => link(&kept, &script, &automation, false),
            Act::Delete { kept, script } => delete(&kept, &script),
            Act::Validate { kept, script, .. } => look(&kept, script.as_deref()),
            Act::Run(run) => run.run(),
            Act::Action(action) => action.run(),
        };
        done.unwrap_or_else(|Failure { error, help }| {
            if as_json {
                say!("{}", json!({"error": error.to_string(), "help": help}));
            } else {
                complain(error.as_ref(), &help);
            }
            ExitCode::from(REFUSED)
        })
    }
}

/// Everything about a script but its text.
fn about(script: &Script) -> Value {
    let about = &script.about;
    json!({
        "id": script.id, "name": about.manifest.name, "description": about.description, "created_at_ms": about.created_at_ms,
        "created_by": about.created_by, "version": about.version, "edited_at_ms": about.edited_at_ms, "edited_by": about.edited_by,
        "automation_ids": about.automation_ids, "content_hash": script.content_hash(), "approval_hash": script.digest().hex(),
        "manifest": about.manifest,
    })
}

/// One line of a list of scripts.
fn tell_line(script: &Script) {
    say!("{}  {}  {}", script.id, script.about.manifest.name, super::one_line(&script.about.description, 100));
}

/// What is wrong with those that cannot be read.
fn tell_wrong(wrong: &[LibraryError]) {
    for error in wrong {
        complain(error, error.help());
    }
}

fn list(kept: &Kept) -> Result<ExitCode, Failure> {
    let (scripts, wrong) = kept.library()?.list()?;
    if kept.json {
        say!("{}", Value::Array(scripts.iter().map(about).collect()));
    } else {
        for script in &scripts {
            tell_line(script);
        }
        if scripts.is_empty() {
            say_aside!("There are no scripts. Keep one with: bashgate-run scripts create FILE --name NAME");
        }
    }
    tell_wrong(&wrong);
    Ok(ExitCode::SUCCESS)
}

fn show(kept: &Kept, named: &str) -> Result<ExitCode, Failure> {
    let script = kept.library()?.get(named)?;
    if kept.json {
        let mut object = about(&script);
        if let Some(fields) = object.as_object_mut() {
            fields.insert("content".to_owned(), json!(script.text));
        }
        say!("{object}");
    } else {
        say!("{}", script.about.manifest.shown(&script.text));
    }
    Ok(ExitCode::SUCCESS)
}

fn delete(kept: &Kept, named: &str) -> Result<ExitCode, Failure> {
    let (id, name) = kept.library()?.delete(named)?;
    if kept.json {
        say!("{}", json!({"deleted": id}));
    } else {
        say!("Removed {id} ({name}).");
    }
    Ok(ExitCode::SUCCESS)
}

fn look(kept: &Kept, named: Option<&str>) -> Result<ExitCode, Failure> {
    let (text, manifest) = match named {
        Some(named) => {
            let script = kept.library()?.get(named)?;
            (script.text, script.about.manifest)
        }
        None => edit::whole_input().map(|whole| (whole.content.clone(), whole.manifest()))?,
    };
    let found = validate(&text, &manifest);
    let valid = tell(&found, kept.json);
    Ok(ExitCode::from(u8::from(!valid)))
}

/// Notes an automation, or takes it off.
fn link(kept: &Kept, named: &str, automation: &str, is_used: bool) -> Result<ExitCode, Failure> {
    let script = kept.library()?.link(named, automation, is_used)?;
    if kept.json {
        say!("{}", about(&script));
    } else if is_used {
        say!("{automation} uses {} ({}).", script.id, script.about.manifest.name);
    } else {
        say!("{automation} uses {} ({}) no more.", script.id, script.about.manifest.name);
    }
    Ok(ExitCode::SUCCESS)
}

fn search(kept: &Kept, words: &str) -> Result<ExitCode, Failure> {
    let (scripts, wrong) = kept.library()?.list()?;
    let found = find::best(words, &scripts);
    if kept.json {
        let object = |(script, score): &(&Script, f64)| {
            let mut object = about(script);
            if let Some(fields) = object.as_object_mut() {
                fields.insert("score".to_owned(), json!(score));
            }
            object
        };
        say!("{}", Value::Array(found.iter().map(object).collect()));
    } else {
        for (script, _) in &found {
            tell_line(script);
        }
        if found.is_empty() {
            say_aside!("No script is called like that. Keep one with: bashgate-run scripts create FILE --name NAME");
        }
    }
    tell_wrong(&wrong);
    Ok(ExitCode::from(u8::from(found.is_empty() && !kept.json)))
}

/// Prints findings. True when none of them is an error.
fn tell(found: &[Objection], as_json: bool) -> bool {
    let valid = can_run(found);
    if as_json {
        say!("{}", json!({"valid": valid, "findings": found}));
        return valid;
    }
    for Objection { level, line, message } in found {
        let level = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
        };
        let line = line.map(|line| format!(" line {line}:")).unwrap_or_default();
        say!("{level}:{line} {message}");
    }
    if found.is_empty() {
        say!("Nothing to complain about.");
    }
    valid
}
