//! `exec`: one command, to its end.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bashgate_shared::protocol::RequestId;
use bashgate_shared::shell::quoted;
use bashgate_shared::{say, say_aside};
use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::json;

use super::jobs::Place;
use super::{Common, Failure, REFUSED, complain};
use crate::gate::Gate;
use crate::inner::kernel::{self, Side};
use crate::job::{JobError, Jobs, Record};
use crate::outcome::{Ending, Outcome};
use crate::permit::{self, Ask, Denied, Permit, Reach, WayOut};
use crate::presets::{self, Access, Preset, Presets};
use crate::registry::Stop;
use crate::run::{Internet, RunSpec, Runner, Time};
use crate::sandbox::{self, PlaceError};

/// What stands at the end of a caged command's output.
const CAGED: &str = "bashgate: this ran without network, in a shell of its own; put `# bashgate: network` on the first line to ask for it";
const CAGED_READING: &str = "bashgate: this ran without network, in a shell of its own, and without writing to its folder, which is no project's; work in a project's folder, or put `# bashgate: network` on the first line to ask for it as it is";

const WITH_EGRESS: &str = "bashgate: this ran in a shell of its own, and could reach nothing but the hosts that it names; put `# bashgate: network` on the first line to ask for it as it is";

const NO_NETWORK: &str = "bashgate: there is no network here, and this command wants it; put `# bashgate: network` on the first line to ask for it";

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(super) struct Exec {
    #[command(flatten)]
    common: Common,
    /// The preset: default, chorus, phoenix, runner-readonly, runner-build, pai, or one of runner.toml.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Time for the command, in seconds, within what the preset gives.
    #[arg(long, value_name = "SECONDS", conflicts_with = "slow_ok")]
    timeout: Option<u64>,
    /// Give it the preset's time for slow commands: builds, tests, installs.
    #[arg(long)]
    slow_ok: bool,
    /// Ask for network; the host decides.
    #[arg(long)]
    network: bool,
    /// Run it in the cage: without any network, and without asking anybody.
    #[arg(long, conflicts_with_all = ["preset", "network", "agent", "env"])]
    cage: bool,
    /// With `--cage`: say that it was the cage only when the command fails.
    #[arg(long, requires = "cage")]
    quiet: bool,
    /// With `--cage`: with the way out that the host gives with this answer of its, once and for this command alone.
    #[arg(long, value_name = "ANSWER", requires = "cage", conflicts_with = "quiet", value_parser = answer)]
    egress: Option<RequestId>,
    /// Run it in the background: returns at once with its id, its process and the file with its output.
    #[arg(long, conflicts_with_all = ["timeout", "slow_ok", "cage"])]
    background: bool,
    #[command(flatten)]
    place: Place,
    /// Print one JSON object instead of the output.
    #[arg(long)]
    json: bool,
    /// Where the command starts.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The folder that it may write: the repository around the working directory if not given, else that directory.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The agent on whose behalf, for runner.toml and the record.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// A variable for the command; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The command, after `--`. Several words are an argv, not a text.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("`{text}` is not NAME=VALUE"))
}

fn answer(text: &str) -> Result<RequestId, String> {
    RequestId::parse(text).ok_or_else(|| format!("`{text}` is no answer's id"))
}

impl Exec {
    pub(super) fn run(self) -> ExitCode {
        match self.outcome() {
            Ok(Done::Foreground(done)) => self.show(&done.0, &done.1),
            Ok(Done::Background(record)) => self.show_job(&record),
            // The supervisor has done its work.
            Ok(Done::Supervised) => ExitCode::SUCCESS,
            Err(Failure { error, help }) => {
                if self.json {
                    let text = self.text();
                    let object = json!({"command": text, "error": error.to_string(), "help": help, "exit_code": null, "stdout": "", "stderr": "", "timed_out": false, "duration_ms": 0, "truncated": false});
                    say!("{object}");
                } else {
                    complain(error.as_ref(), &help);
                }
                ExitCode::from(REFUSED)
            }
        }
    }

    /// The text of the command: one word as it is, several as words.
    fn text(&self) -> String {
        match self.command.as_slice() {
            [text] => text.clone(),
            words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }

    const fn internet(&self) -> Internet {
        if self.network { Internet::Requested } else { Internet::NotRequested }
    }

    fn outcome(&self) -> Result<Done, Failure> {
        let gate = self.common.gate()?;
        let mut preset = self.preset(&gate)?;
        let cwd = self.cwd.clone().map_or_else(std::env::current_dir, Ok);
        let cwd =
            cwd.and_then(std::path::absolute).map_err(|error| Failure::new(error, "start in a folder that exists"))?;
        // Before anybody is asked, and by its own name: elsewhere it would count as the folder to write to.
        if std::fs::metadata(&cwd).is_err() {
            return Err(PlaceError::NoFolder(cwd).into());
        }
        let workspace = match &self.workspace {
            Some(folder) => std::path::absolute(folder).unwrap_or_else(|_| folder.clone()),
            None => sandbox::around(&cwd),
        };
        let own = gate.readable_files();
        let by_accident = self.workspace.is_none() && sandbox::is_home(&workspace);
        if preset.filesystem.workspace == Access::Write && by_accident && !self.cage {
            return Err(PlaceError::Home(workspace).into());
        }
        let permit = self.permit(&gate, &preset, (&cwd, &workspace))?;
        let permit = if self.cage {
            let way = self.way_out(&gate, &permit, (&cwd, &workspace));
            permit.with_way_out(way)
        } else {
            permit
        };
        // Where nobody was asked it writes in a project's folder, or nowhere. A project whose settings call the gate is one as well: no run
        // changes those settings.
        let guarded: Vec<PathBuf> = gate.installed_files().into_iter().chain(gate.hidden_files()).collect();
        if permit.reach() == Reach::Cage && (by_accident || !sandbox::is_project(&workspace, &guarded)) {
            preset.filesystem.workspace = Access::Read;
            preset.git.repository = Access::Read;
        }
        if permit.foresees_network() && permit.way_out().is_none() && !self.json {
            // First, not behind what it makes of that.
            say_aside!("{NO_NETWORK}");
        }
        if let Some(warning) = permit.warning() {
            say_aside!("bashgate-run: WARNING: {warning}");
        }
        let mut spec = RunSpec::new(preset, &cwd, &workspace);
        spec.env_overrides = self.env.iter().cloned().collect::<BTreeMap<_, _>>();
        spec.time = match (self.timeout, self.slow_ok) {
            (Some(seconds), _) => Time::Seconds(seconds),
            (None, true) => Time::Slow,
            (None, false) => Time::Usual,
        };
        spec.internet = self.internet();
        spec.agent.clone_from(&self.agent);
        spec.gate = gate.hidden_files();
        spec.told.clone_from(&gate.config);
        spec.own = own;
        spec.state = self.place.folder();
        spec.live = self.cage && !self.json;
        let runner = Runner::of_this_program().map_err(|error| Failure::new(error, "start it by its path"))?;
        if self.background {
            return self.background(&runner, permit, spec);
        }
        let stop = stop_on_signals().map_err(|error| Failure::new(error, "free some resources"))?;
        // Where it cannot be listed, it runs all the same.
        let jobs = self.place.jobs();
        let listed = jobs.and_then(|jobs| jobs.in_foreground(permit.command().text(), self.agent.as_deref(), &cwd));
        let _listed = listed.ok();
        let outcome = runner.run_until(permit, &spec, &stop)?;
        Ok(Done::Foreground(Box::new((spec.preset, outcome))))
    }

    /// What the host has given with the answer, if it still has it. Without it the command runs all the same, and reaches nothing.
    fn way_out(&self, gate: &Gate, permit: &Permit, places: (&Path, &Path)) -> Option<WayOut> {
        let answer = self.egress.clone()?;
        let way = permit::way_out_of(answer, permit.command(), gate.config.as_ref()?, places);
        way.inspect_err(|why| {
            say_aside!(
                "bashgate: this runs without network: {why}; run the command itself again to have it decided anew"
            );
        })
        .ok()
    }

    /// Goes on in a supervisor of its own; the caller gets what it needs to find the job again.
    fn background(&self, runner: &Runner, permit: Permit, mut spec: RunSpec) -> Result<Done, Failure> {
        let io = |error: std::io::Error| Failure::new(error, "free some resources");
        if !spec.preset.background.allowed {
            return Err(Failure::new(
                std::io::Error::other("the preset allows no background jobs"),
                "run it in the foreground, or choose a preset with `background.allowed = true`",
            ));
        }
        let jobs = self.place.jobs()?;
        let agent = self.agent.as_deref();
        let (id, output) = jobs.reserve(agent, spec.preset.background.max_jobs)?;
        let mut log = Jobs::log(&output, spec.preset.background.max_output_mib).map_err(io)?;
        let (ready, tell) = std::io::pipe().map_err(io)?;
        if let Side::Parent(_) = kernel::detach().map_err(io)? {
            drop(tell);
            // The supervisor says a word when the job is written down; its end says that it never will be.
            let said = (&ready).read(&mut [0]).unwrap_or(0);
            let job = jobs.job(&id)?;
            return if said == 1 {
                Ok(Done::Background(job.record))
            } else {
                Err(JobError::Unknown(id.as_str().to_owned()).into())
            };
        }
        drop(ready);
        let stop = stop_on_signals().map_err(io)?;
        let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").map_err(io)?;
        for (fd, restore) in [
            (0, rustix::stdio::dup2_stdin(&null)),
            (1, rustix::stdio::dup2_stdout(&null)),
            (2, rustix::stdio::dup2_stderr(&null)),
        ] {
            restore.map_err(|error| Failure::new(error, if fd == 0 { "no input" } else { "no output" }))?;
        }
        jobs.begin(id.clone(), permit.command().text(), agent, &spec.cwd)?;
        let _ = (&tell).write_all(b"!");
        drop(tell);
        spec.time = Time::Background;
        spec.log = Some(log.clone());
        let result = runner.run_until(permit, &spec, &stop);
        // Nobody is left to be told when even this fails; the job is then lost, and listed as that.
        let _ = jobs.end(&id, &result, &mut log);
        Ok(Done::Supervised)
    }

    fn show_job(&self, record: &Record) -> ExitCode {
        let (id, pid, output) = (record.id.as_str(), record.pid, record.output.display());
        if self.json {
            say!("{}", json!({"job": id, "pid": pid, "output_file": record.output, "command": record.command}));
        } else {
            say!(
                "<pid>{pid}</pid>\n<output_file>{output}</output_file>\n<reminder>To stop: bashgate-run stop {id}</reminder>"
            );
        }
        ExitCode::SUCCESS
    }

    fn preset(&self, gate: &Gate) -> Result<Preset, Failure> {
        if self.cage {
            return Ok(Presets::cage()?);
        }
        let presets = gate.presets()?;
        Ok(presets.for_agent(self.agent.as_deref(), self.preset.as_deref())?)
    }

    fn permit(&self, gate: &Gate, preset: &Preset, (cwd, workspace): (&Path, &Path)) -> Result<Permit, Denied> {
        let text = self.text();
        if self.cage {
            return permit::cage(&text, gate.config.as_ref(), preset, cwd);
        }
        let preset_name = self.preset.as_deref().unwrap_or(presets::DEFAULT);
        // What it may write, and what it finds, is not in its text.
        let folder = self.workspace.as_ref().map(|folder| format!("the workspace {}", folder.display()));
        let asked_with: Vec<String> = self.env.iter().map(permit::told_variable).chain(folder).collect();
        let ask = Ask {
            gate,
            preset_name,
            preset,
            cwd,
            workspace,
            agent: self.agent.as_deref(),
            background: self.background,
            asked_with: &asked_with,
            variables: &self.env,
            home: preset.home_in(workspace),
            internet: self.internet(),
        };
        permit::ask(&text, &ask)
    }

    fn show(&self, preset: &Preset, outcome: &Outcome) -> ExitCode {
        if self.json {
            say!("{}", outcome.json());
            let fine = matches!(outcome.ending, Ending::Exited(_));
            return ExitCode::from(u8::from(!fine || !outcome.succeeded()));
        }
        // In the cage, the agent's own tool has seen the output already.
        let (stdout, stderr) =
            if self.cage { (String::new(), outcome.notes()) } else { outcome.shown(preset.output.form) };
        // A reader that has gone away has seen enough.
        let _ = std::io::stdout().write_all(stdout.as_bytes());
        let _ = std::io::stderr().write_all(stderr.as_bytes());
        if self.cage {
            let note = if preset.filesystem.workspace == Access::Write { CAGED } else { CAGED_READING };
            let note = if self.egress.is_some() { WITH_EGRESS } else { note };
            let is_told = !self.quiet || !outcome.succeeded();
            let _ = if is_told { writeln!(std::io::stderr(), "{note}") } else { Ok(()) };
        }
        ExitCode::from(outcome.status())
    }
}

/// What came of it, in which process.
enum Done {
    Foreground(Box<(Preset, Outcome)>),
    Background(Record),
    Supervised,
}

/// TERM, INT and HUP to this process stop the command, with its grace, instead of leaving it to be killed.
pub(super) fn stop_on_signals() -> std::io::Result<Stop> {
    let stop = Stop::new()?;
    let signals = kernel::signals(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
    let say = stop.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut ready = [PollFd::new(&signals, PollFlags::IN)];
        while poll(&mut ready, None) == Err(rustix::io::Errno::INTR) {}
        say.stop();
    })?;
    Ok(stop)
}
