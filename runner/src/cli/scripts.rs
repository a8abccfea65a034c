//! `scripts`: managed scripts.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bashgate_shared::script::{Capabilities, MAX_TEXT_BYTES, Manifest};
use bashgate_shared::{say, say_aside, say_part};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use super::exec::stop_on_signals;
use super::jobs::Place;
use super::{Common, Failure, REFUSED, complain};
use crate::outcome::{Ending, Outcome};
use crate::permit::Ask;
use crate::run::Runner;
use crate::scripts::run::{ExitStatus, PRESET};
use crate::scripts::template::Filled;
use crate::scripts::validate::{Level, Objection, validate};
use crate::scripts::{Author, Library, LibraryError, Prepared, Request, Script};

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
    /// Show a script with what it may reach.
    Show {
        #[command(flatten)]
        kept: Kept,
        /// The script, by id or name.
        script: String,
    },
    /// Keep a new script; its text comes from a file, or from standard input.
    Create(Create),
    /// Remove a script.
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
    Run(RunScript),
}

#[derive(Debug, Args)]
struct Kept {
    #[command(flatten)]
    place: Place,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    kept: Kept,
    /// The file with its text; `-` for standard input.
    #[arg(required_unless_present = "input", requires = "name")]
    file: Option<PathBuf>,
    /// Its name.
    #[arg(long)]
    name: Option<String>,
    /// What it does.
    #[arg(long, default_value = "")]
    description: String,
    /// A file or folder that it may read, absolute; may be repeated.
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// A folder that it may write, absolute; may be repeated.
    #[arg(long, value_name = "DIR")]
    write: Vec<String>,
    /// Give it network.
    #[arg(long)]
    network: bool,
    /// A program that it may run; may be repeated.
    #[arg(long, value_name = "NAME")]
    command: Vec<String>,
    /// A name that each run has a value for, such as `trigger.file.path`; may be repeated.
    #[arg(long, value_name = "NAME")]
    variable: Vec<String>,
    /// Where it starts, absolute.
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// From when on it is called slow, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// When it is ended, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout_hard: Option<u64>,
    /// Take all of it as one JSON object from standard input instead: `content`, `name`, `description` and the
    /// manifest's other fields.
    #[arg(long, conflicts_with_all = ["file", "name", "read", "write", "network", "command", "variable", "cwd", "timeout", "timeout_hard"])]
    input: bool,
}

#[derive(Debug, Args)]
struct RunScript {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    kept: Kept,
    /// The script, by id or name.
    script: String,
    /// A value; may be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = super::exec::variable)]
    var: Vec<(String, String)>,
    /// Take values and less capabilities as one JSON object from standard input: `variables`, `capabilities`,
    /// `timeout_seconds`, `dry_run`.
    #[arg(long, conflicts_with_all = ["var", "dry_run"])]
    input: bool,
    /// Only show what would run.
    #[arg(long)]
    dry_run: bool,
    /// The preset of scripts, from runner.toml.
    #[arg(long, value_name = "NAME", default_value = PRESET)]
    preset: String,
    /// The agent on whose behalf, for runner.toml and the record.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// A script as one JSON object, as a model gives it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    content: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    capabilities: Capabilities,
    timeout_seconds: Option<u64>,
    timeout_hard_seconds: Option<u64>,
    working_directory: Option<String>,
    #[serde(default)]
    variables: Vec<String>,
}

impl Whole {
    fn manifest(&self) -> Manifest {
        let usual = Manifest::named(&self.name);
        let hard = self.timeout_hard_seconds.unwrap_or(usual.timeout_hard_seconds);
        Manifest {
            capabilities: self.capabilities.clone(),
            timeout_seconds: self.timeout_seconds.unwrap_or(usual.timeout_seconds.min(hard)),
            timeout_hard_seconds: hard,
            working_directory: self.working_directory.clone(),
            variables: self.variables.clone(),
            ..usual
        }
    }
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

fn whole_input() -> Result<Whole, Failure> {
    let text = read_input(std::io::stdin(), MAX_INPUT_BYTES).map_err(wrong_input)?;
    serde_json::from_str(&text).map_err(wrong_input)
}

impl Kept {
    fn library(&self) -> Result<Library, Failure> {
        self.place.folder().map(Library::at).ok_or_else(|| LibraryError::NoHome.into())
    }
}

impl Scripts {
    pub(super) fn run(self) -> ExitCode {
        let as_json = match &self.act {
            Act::List { kept } | Act::Show { kept, .. } | Act::Delete { kept, .. } | Act::Validate { kept, .. } => {
                kept.json
            }
            Act::Create(create) => create.kept.json,
            Act::Run(run) => run.kept.json,
        };
        let done = match self.act {
            Act::List { kept } => list(&kept),
            Act::Show { kept, script } => show(&kept, &script),
            Act::Create(create) => create.run(),
            Act::Delete { kept, script } => delete(&kept, &script),
            Act::Validate { kept, script, .. } => look(&kept, script.as_deref()),
            Act::Run(run) => run.run(),
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
        "created_by": about.created_by, "content_hash": script.content_hash(), "approval_hash": script.digest().hex(),
        "manifest": about.manifest,
    })
}

fn list(kept: &Kept) -> Result<ExitCode, Failure> {
    let (scripts, wrong) = kept.library()?.list()?;
    if kept.json {
        say!("{}", Value::Array(scripts.iter().map(about).collect()));
    } else {
        for script in &scripts {
            say!("{}  {}  {}", script.id, script.about.manifest.name, super::one_line(&script.about.description, 100));
        }
        if scripts.is_empty() {
            say_aside!("There are no scripts. Keep one with: bashgate-run scripts create FILE --name NAME");
        }
    }
    for error in wrong {
        complain(&error, error.help());
    }
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
    let script = kept.library()?.delete(named)?;
    if kept.json {
        say!("{}", json!({"deleted": script.id}));
    } else {
        say!("Removed {} ({}).", script.id, script.about.manifest.name);
    }
    Ok(ExitCode::SUCCESS)
}

fn look(kept: &Kept, named: Option<&str>) -> Result<ExitCode, Failure> {
    let (text, manifest) = match named {
        Some(named) => {
            let script = kept.library()?.get(named)?;
            (script.text, script.about.manifest)
        }
        None => whole_input().map(|whole| (whole.content.clone(), whole.manifest()))?,
    };
    let found = validate(&text, &manifest);
    let valid = tell(&found, kept.json);
    Ok(ExitCode::from(u8::from(!valid)))
}

/// Prints findings. True when none of them is an error.
fn tell(found: &[Objection], as_json: bool) -> bool {
    let valid = !found.iter().any(|finding| finding.level == Level::Error);
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

impl Create {
    fn run(self) -> Result<ExitCode, Failure> {
        let library = self.kept.library()?;
        let as_json = self.kept.json;
        let (whole, created_by) =
            if self.input { (whole_input()?, Author::Llm) } else { (self.whole()?, Author::User) };
        let script = library.create(&whole.content, whole.manifest(), &whole.description, created_by)?;
        let found = validate(&script.text, &script.about.manifest);
        if as_json {
            let mut object = about(&script);
            if let Some(fields) = object.as_object_mut() {
                fields.insert("findings".to_owned(), json!(found));
            }
            say!("{object}");
        } else {
            tell(&found, false);
            say!("Kept as {}. A person is asked when it first runs.", script.id);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn whole(self) -> Result<Whole, Failure> {
        let file = self.file.unwrap_or_default();
        let most = MAX_TEXT_BYTES as u64;
        let content = if file.as_os_str() == "-" {
            read_input(std::io::stdin(), most)
        } else {
            std::fs::File::open(&file).and_then(|file| read_input(file, most))
        };
        let content = content.map_err(|error| {
            let why = std::io::Error::other(format!("cannot read {}: {error}", file.display()));
            Failure::new(why, "name a text file of at most 64 KiB")
        })?;
        Ok(Whole {
            content,
            name: self.name.unwrap_or_default(),
            description: self.description,
            capabilities: Capabilities {
                paths_read: self.read,
                paths_write: self.write,
                network: self.network,
                commands: self.command,
            },
            timeout_seconds: self.timeout,
            timeout_hard_seconds: self.timeout_hard,
            working_directory: self.cwd,
            variables: self.variable,
        })
    }
}

impl RunScript {
    fn run(self) -> Result<ExitCode, Failure> {
        let gate = self.common.gate()?;
        let script = self.kept.library()?.get(&self.script)?;
        let request = self.request()?;
        let manifest = script.about.manifest.clone();
        let prepared = Prepared::new(script, &request)?;
        if request.dry_run {
            let Filled { text, environment } = prepared.resolved()?;
            if self.kept.json {
                let values: serde_json::Map<String, Value> =
                    environment.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
                say!("{}", json!({"dry_run": true, "script": text, "environment": values, "manifest": manifest}));
            } else {
                for (name, value) in environment {
                    say!("{name}={}", bashgate_shared::shell::quoted(&value));
                }
                say!("{text}");
            }
            return Ok(ExitCode::SUCCESS);
        }
        let preset = gate.presets()?.for_agent(self.agent.as_deref(), Some(&self.preset))?;
        let form = preset.output.form;
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let ask = Ask {
            gate: &gate,
            preset_name: &self.preset,
            preset: &preset,
            cwd: &cwd,
            agent: self.agent.as_deref(),
            background: false,
        };
        let runner = Runner::of_this_program().map_err(|error| Failure::new(error, "start it by its path"))?;
        let permit = prepared.permit(&ask)?;
        let mut spec = prepared.spec(preset.clone())?;
        spec.agent.clone_from(&self.agent);
        spec.gate = gate.hidden_files();
        spec.told.clone_from(&gate.config);
        spec.own = gate.readable_files();
        spec.state = self.kept.place.folder();
        let stop = stop_on_signals().map_err(|error| Failure::new(error, "free some resources"))?;
        let over = Arc::new(AtomicBool::new(false));
        let (slow, name, ended) = (prepared.slow_after, manifest.name, over.clone());
        let _ = std::thread::Builder::new().name("slow".to_owned()).spawn(move || {
            std::thread::sleep(slow);
            if !ended.load(Ordering::Acquire) {
                say_aside!("bashgate-run: the script {name} has been running for {} s", slow.as_secs());
            }
        });
        let outcome = runner.run_until(permit, &spec, &stop)?;
        over.store(true, Ordering::Release);
        if self.kept.json {
            say!("{}", result(&outcome, slow));
        } else {
            let (stdout, stderr) = outcome.shown(form);
            say_part!("{stdout}");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), stderr.as_bytes());
        }
        let fine = outcome.ending == Ending::Exited(0);
        Ok(if self.kept.json { ExitCode::from(u8::from(!fine)) } else { ExitCode::from(outcome.status()) })
    }

    fn request(&self) -> Result<Request, Failure> {
        if self.input {
            let text = read_input(std::io::stdin(), MAX_INPUT_BYTES).map_err(wrong_input)?;
            return serde_json::from_str(&text).map_err(wrong_input);
        }
        let variables = self.var.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
        Ok(Request { variables, dry_run: self.dry_run, ..Request::default() })
    }
}

/// Seed 003's fields, and what else is worth knowing.
fn result(outcome: &Outcome, slow: std::time::Duration) -> Value {
    let exit_status = ExitStatus::of(outcome.ending);
    json!({
        "success": exit_status == ExitStatus::Success,
        "exit_code": outcome.code.unwrap_or_else(|| i32::from(outcome.status())),
        "exit_status": exit_status,
        "stdout": outcome.stdout.text,
        "stderr": outcome.stderr.text,
        "duration_ms": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        "timed_out": outcome.ending == Ending::TimedOut,
        "slow": outcome.duration > slow,
        "sandbox_violations": outcome.violations.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "ending": outcome.ending,
        "stdout_bytes": outcome.stdout.bytes,
        "stderr_bytes": outcome.stderr.bytes,
        "sandbox": outcome.sandbox,
    })
}
