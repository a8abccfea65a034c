//! `scripts run`.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bashgate_shared::{say, say_aside, say_part};
use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Value, json};

use super::{Failure, Kept, MAX_INPUT_BYTES, read_input, wrong_input};
use crate::cli::Common;
use crate::cli::exec::{self, stop_on_signals};
use crate::gate::Gate;
use crate::outcome::{Ending, Outcome};
use crate::permit::Ask;
use crate::presets::Form;
use crate::registry::Stop;
use crate::run::{Internet, Runner};
use crate::scripts::run::{ExitStatus, PRESET};
use crate::scripts::template::Filled;
use crate::scripts::{Prepared, Request, Script};
use crate::watch;

#[derive(Debug, Args)]
pub(super) struct RunScript {
    #[command(flatten)]
    place: Behind,
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The script, by id or name.
    script: String,
    /// A value; may be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = exec::variable)]
    var: Vec<(String, String)>,
    /// Take values and less capabilities as one JSON object from standard input: `variables`, `capabilities`,
    /// `timeout_seconds`, `dry_run`.
    #[arg(long, conflicts_with_all = ["var", "dry_run"])]
    input: bool,
    /// Only show what would run.
    #[arg(long)]
    dry_run: bool,
}

/// What runs scripts, besides their library.
#[derive(Debug, Args)]
pub(super) struct Behind {
    #[command(flatten)]
    common: Common,
    /// The preset of scripts, from runner.toml.
    #[arg(long, value_name = "NAME", default_value = PRESET)]
    preset: String,
    /// The agent on whose behalf, for runner.toml and the record.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// The exit status of who was interrupted before anything ran.
const INTERRUPTED: i32 = 130;

/// Runs scripts one after another, behind one gate.
pub(super) struct Runs<'r> {
    behind: &'r Behind,
    gate: Gate,
    runner: Runner,
    state: Option<PathBuf>,
    /// Once something has run: signals stop what runs, and no longer this process by themselves.
    stop: OnceCell<Stop>,
    /// A person is being asked.
    waits: Arc<AtomicBool>,
}

/// What became of a script.
pub(super) struct Ran {
    pub(super) outcome: Outcome,
    slow: std::time::Duration,
    form: Form,
}

impl<'r> Runs<'r> {
    pub(super) fn new(behind: &'r Behind, kept: &Kept) -> Result<Self, Failure> {
        Ok(Self {
            behind,
            gate: behind.common.gate()?,
            runner: Runner::of_this_program().map_err(|error| Failure::new(error, "start it by its path"))?,
            state: kept.place.folder(),
            stop: OnceCell::new(),
            waits: Arc::default(),
        })
    }

    /// What stops a run. Before the first one a signal ends this process, and between two runs as well, while a person is asked.
    fn stop(&self) -> Result<&Stop, Failure> {
        if let Some(stop) = self.stop.get() {
            return Ok(stop);
        }
        let failed = |error| Failure::new(error, "free some resources");
        let stop = stop_on_signals().map_err(failed)?;
        let (said, waits) = (stop.clone(), self.waits.clone());
        let ends = move || {
            let mut ready = [PollFd::new(&said, PollFlags::IN)];
            while poll(&mut ready, None) == Err(rustix::io::Errno::INTR) {}
            while !waits.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(50));
            }
            say_aside!("bashgate-run: interrupted");
            std::process::exit(INTERRUPTED);
        };
        std::thread::Builder::new().name("interrupted".to_owned()).spawn(ends).map_err(failed)?;
        Ok(self.stop.get_or_init(|| stop))
    }

    /// Has a script approved, where it is not, and runs it to its end.
    pub(super) fn run(&self, script: Script, request: &Request) -> Result<Ran, Failure> {
        let Behind { preset: preset_name, agent, .. } = self.behind;
        let name = script.about.manifest.name.clone();
        let prepared = Prepared::new(script, request)?;
        let preset = self.gate.presets()?.for_agent(agent.as_deref(), Some(preset_name))?;
        let form = preset.output.form;
        // Where it starts in its own empty `/tmp`, an empty folder stands for that: what lies where somebody calls it is none of its.
        let empty =
            tempfile::tempdir().map_err(|error| Failure::new(error, "make room in the folder for temporary files"))?;
        let cwd = prepared.working_directory().unwrap_or_else(|| empty.path().to_owned());
        let ask = Ask {
            gate: &self.gate,
            preset_name,
            preset: &preset,
            cwd: &cwd,
            workspace: &cwd,
            agent: agent.as_deref(),
            background: false,
            asked_with: &[],
            variables: &[],
            home: preset.home_in(&cwd),
            // What a script does is more than one text: it has the network that it was approved with.
            internet: Internet::NotRequested,
        };
        self.waits.store(true, Ordering::Release);
        let permit = prepared.permit(&ask);
        self.waits.store(false, Ordering::Release);
        let permit = permit?;
        let mut spec = prepared.spec(preset.clone())?;
        spec.agent.clone_from(agent);
        spec.gate = self.gate.hidden_files();
        spec.told.clone_from(&self.gate.config);
        spec.own = self.gate.readable_files();
        spec.state.clone_from(&self.state);
        let over = Arc::new(AtomicBool::new(false));
        let (slow, ended) = (prepared.slow_after, over.clone());
        let _ = std::thread::Builder::new().name("slow".to_owned()).spawn(move || {
            std::thread::sleep(slow);
            if !ended.load(Ordering::Acquire) {
                say_aside!("bashgate-run: the script {name} has been running for {} s", slow.as_secs());
            }
        });
        let outcome = self.runner.run_until(permit, &spec, self.stop()?);
        over.store(true, Ordering::Release);
        Ok(Ran { outcome: outcome?, slow, form })
    }
}

impl Ran {
    /// How it counts.
    pub(super) fn exit_status(&self) -> ExitStatus {
        ExitStatus::of(self.outcome.ending)
    }

    /// Seed 003's fields, and what else is worth knowing.
    pub(super) fn result(&self) -> Value {
        let Self { outcome, slow, .. } = self;
        let exit_status = self.exit_status();
        let violations = watch::folded(&outcome.violations, watch::MOST_NAMED);
        let violations: Vec<String> = violations.iter().map(ToString::to_string).collect();
        json!({
            "success": exit_status == ExitStatus::Success,
            "exit_code": outcome.code.unwrap_or_else(|| i32::from(outcome.status())),
            "exit_status": exit_status,
            "stdout": outcome.stdout.text,
            "stderr": outcome.stderr.text,
            "duration_ms": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
            "timed_out": outcome.ending == Ending::TimedOut,
            "slow": outcome.duration > *slow,
            "sandbox_violations": violations,
            "ending": outcome.ending,
            "stdout_bytes": outcome.stdout.bytes,
            "stderr_bytes": outcome.stderr.bytes,
            "sandbox": outcome.sandbox,
        })
    }

    /// Prints its output.
    pub(super) fn print(&self) {
        let (stdout, stderr) = self.outcome.shown(self.form);
        say_part!("{stdout}");
        let _ = std::io::Write::write_all(&mut std::io::stderr(), stderr.as_bytes());
    }
}

impl RunScript {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let script = self.kept.library()?.get(&self.script)?;
        let request = self.request()?;
        if request.dry_run {
            return self.show(script, &request);
        }
        let ran = Runs::new(&self.place, &self.kept)?.run(script, &request)?;
        if self.kept.json {
            say!("{}", ran.result());
            return Ok(ExitCode::from(u8::from(ran.outcome.ending != Ending::Exited(0))));
        }
        ran.print();
        Ok(ExitCode::from(ran.outcome.status()))
    }

    /// What would run.
    fn show(&self, script: Script, request: &Request) -> Result<ExitCode, Failure> {
        let manifest = script.about.manifest.clone();
        let prepared = Prepared::new(script, request)?;
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
        Ok(ExitCode::SUCCESS)
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
