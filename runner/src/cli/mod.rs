//! The command line. Results on standard output, the rest on standard error.

mod doctor;
mod egress;
mod exec;
mod jobs;
mod mcp;
mod scripts;
mod set_aside;

use std::path::PathBuf;
use std::process::ExitCode;

use bashgate_hook::gate::config::{self, ConfigError};
use bashgate_shared::say_aside;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::gate::Gate;
use crate::job::JobError;
use crate::outcome::RunError;
use crate::permit::Denied;
use crate::presets::PresetError;
use crate::sandbox::PlaceError;
use crate::scripts::drafting::DraftError;
use crate::scripts::{LibraryError, ScriptError};

/// A Bash tool that is gated and sandboxed.
///
/// Each command is checked by the gate first: provably local ones run at once, the host is asked about the others. What
/// runs is held by the kernel: it writes where the preset lets it, reaches what the preset gives, and leaves nothing
/// behind.
#[derive(Debug, Parser)]
#[command(name = "bashgate-run", version, infer_subcommands = false)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one command to its end.
    Exec(exec::Exec),
    /// List the jobs in the background, or show how one stands.
    Jobs(jobs::List),
    /// Print the end of a job's output.
    Tail(jobs::Tail),
    /// Stop a job, or all jobs of an agent.
    Stop(jobs::Stop),
    SetAside(set_aside::SetAside),
    /// Managed scripts: kept here, approved by a person with all that they may reach, run as they were approved.
    Scripts(scripts::Scripts),
    /// Serve the Bash tool and the tools of managed scripts to an agent, over MCP on standard input and output.
    Mcp(mcp::Mcp),
    /// Lead out of a container that has no network: a port on loopback whose connections go to the host's socket.
    Egress(egress::Egress),
    /// Show which sandboxes there are here, and try what each really keeps.
    Doctor(doctor::Doctor),
}

/// What several commands take.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The gate's configuration. `runner.toml` beside it may add presets. Without one, only provably local commands run.
    #[arg(long, value_name = "FILE", default_value = config::DEFAULT)]
    config: PathBuf,
}

impl Common {
    /// The gate, as it is configured now.
    pub(crate) fn gate(&self) -> Result<Gate, Failure> {
        Ok(Gate::load(&self.config)?)
    }
}

/// Why something was not done, and what to do about it.
pub(crate) struct Failure {
    error: Box<dyn std::error::Error>,
    help: String,
}

impl Failure {
    pub(crate) fn new(error: impl std::error::Error + 'static, help: impl Into<String>) -> Self {
        Self { error: Box::new(error), help: help.into() }
    }
}

/// What knows its own help.
macro_rules! failures {
    ($($error:ty),+ $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let help = error.help();
                Self::new(error, help)
            }
        }
    )+};
}
failures!(ConfigError, Denied, DraftError, JobError, LibraryError, PlaceError, PresetError, RunError, ScriptError);

/// A text on one line, cut.
fn one_line(text: &str, most: usize) -> String {
    text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A run that failed before it began.
pub(crate) const REFUSED: u8 = 2;
const USAGE: u8 = 64;

/// The command line, for the manual pages.
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// The program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
                _ => ExitCode::from(USAGE),
            };
        }
    };
    match cli.command {
        Command::Exec(exec) => exec.run(),
        Command::Jobs(list) => list.run(),
        Command::Tail(tail) => tail.run(),
        Command::Stop(stop) => stop.run(),
        Command::SetAside(files) => files.run(),
        Command::Scripts(scripts) => scripts.run(),
        Command::Mcp(mcp) => mcp.run(),
        Command::Egress(egress) => egress.run(),
        Command::Doctor(doctor) => doctor.run(),
    }
}

/// Prints an error the way all of ours look.
pub(crate) fn complain(error: &dyn std::error::Error, help: &str) {
    say_aside!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        say_aside!("cause: {error}");
        cause = error.source();
    }
    if !help.is_empty() {
        say_aside!("help: {help}");
    }
}
