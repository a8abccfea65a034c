//! `jobs`, `tail` and `stop`: what runs in the background.

use std::path::PathBuf;
use std::process::ExitCode;

use bashgate_shared::{say, say_aside, say_part};
use clap::Args;

use super::complain;
use crate::job::{Job, JobError, JobId, Jobs, State};

/// Where jobs are.
#[derive(Debug, Args)]
pub(super) struct Place {
    /// The folder of jobs: `$XDG_STATE_HOME/bashgate-run` if not given, or `~/.local/state/bashgate-run`.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl Place {
    /// The folder, if there is one.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let folder = self.state.clone().or_else(Jobs::usual_folder)?;
        Some(std::path::absolute(&folder).unwrap_or(folder))
    }

    pub(super) fn jobs(&self) -> Result<Jobs, JobError> {
        self.folder().map(Jobs::at).ok_or(JobError::NoHome)
    }
}

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    place: Place,
    /// Only this job.
    id: Option<String>,
    /// Only this agent's.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print a JSON list.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Tail {
    #[command(flatten)]
    place: Place,
    /// The job.
    id: String,
    /// How much of its output, in bytes.
    #[arg(long, default_value_t = 10_240)]
    bytes: u64,
}

#[derive(Debug, Args)]
pub(super) struct Stop {
    #[command(flatten)]
    place: Place,
    /// The job.
    #[arg(required_unless_present = "agent")]
    id: Option<String>,
    /// All jobs of this agent, because it is gone.
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    agent: Option<String>,
}

fn parse(id: &str) -> Result<JobId, JobError> {
    JobId::parse(id).ok_or_else(|| JobError::Unknown(id.to_owned()))
}

fn finish(result: Result<(), JobError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error, error.help());
            ExitCode::FAILURE
        }
    }
}

impl List {
    pub(super) fn run(&self) -> ExitCode {
        finish(self.list())
    }

    fn list(&self) -> Result<(), JobError> {
        let jobs = self.place.jobs()?;
        let found = match &self.id {
            Some(id) => vec![jobs.job(&parse(id)?)?],
            None => jobs.list(self.agent.as_deref())?,
        };
        if self.json {
            say!("{}", serde_json::to_string(&found).unwrap_or_default());
            return Ok(());
        }
        for job in &found {
            say!("{}", line(job));
        }
        if found.is_empty() {
            say_aside!("There are no jobs.");
        }
        Ok(())
    }
}

fn line(job: &Job) -> String {
    let state = match &job.state {
        State::Running if job.record.foreground => "running in the foreground".to_owned(),
        State::Running => "running".to_owned(),
        State::Ended { how, .. } => how.clone(),
        State::Failed { why } => format!("not started: {why}"),
        State::Lost => "lost: its supervisor is gone".to_owned(),
    };
    let command = super::one_line(&job.record.command, 120);
    format!("{}  {state}  {command}", job.record.id.as_str())
}

impl Tail {
    pub(super) fn run(&self) -> ExitCode {
        finish(self.tail().map(|text| say_part!("{text}")))
    }

    fn tail(&self) -> Result<String, JobError> {
        self.place.jobs()?.tail(&parse(&self.id)?, self.bytes)
    }
}

impl Stop {
    pub(super) fn run(&self) -> ExitCode {
        finish(self.stop())
    }

    fn stop(&self) -> Result<(), JobError> {
        let jobs = self.place.jobs()?;
        if let Some(id) = &self.id {
            say!("{}", line(&jobs.stop(&parse(id)?)?));
            return Ok(());
        }
        let all = jobs.list(self.agent.as_deref())?;
        for job in all.iter().filter(|job| job.state == State::Running) {
            match jobs.stop(&job.record.id) {
                Ok(job) => say!("{}", line(&job)),
                // It ended by itself meanwhile.
                Err(JobError::NotRunning(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
