//! What came of a run. Different ends are different values: no exit code ever stands for something else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashgate_hook::gate::config::Config;
use bashgate_hook::gate::{self, CommandRan, HookDecision, LetThroughBy, held};
use bashgate_shared::classify::later;
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::Text;
use crate::permit;
use crate::presets::{Access, Form, Preset, PresetError, Streams, Tmp};
use crate::sandbox::{BackendName, Guarantee, NotListed, PlaceError, Unavailable};
use crate::user::RunAs;
use crate::watch::{self, Violation};

/// What programs say when there is no network: the C library's and the languages' own words.
const WITHOUT_NETWORK: &[&str] = &[
    "Temporary failure in name resolution",
    "Could not resolve host",
    "could not resolve host",
    "Name or service not known",
    "Network is unreachable",
    "network is unreachable",
    "EAI_AGAIN",
    "ENETUNREACH",
    "ENOTFOUND",
    "no such host",
    "nodename nor servname provided",
    "Failed to resolve",
    "failed to lookup address information",
];
/// Most lines about files that were not to be written that are looked at.
const MOST_REFUSED: usize = 50;
/// Longest wait for the host to take note of what came of a run, in seconds.
const TELLING_S: u64 = 5;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which the runner did not send.
    Signalled(i32),
    /// It ran out of time and was ended.
    TimedOut,
    /// It ran out of memory and was ended by the kernel.
    OutOfMemory,
    /// Somebody stopped it.
    Stopped,
    /// Its sandbox vanished while it ran.
    Lost,
}

/// The sandbox that a command ran in.
#[derive(Debug, Clone, Serialize)]
pub struct Sandboxed {
    pub backend: BackendName,
    /// As whom.
    pub user: RunAs,
    /// What held.
    pub enforces: BTreeSet<Guarantee>,
    /// True when there was internet.
    pub internet: bool,
    /// The hosts that it had a way out to, and to nothing else.
    pub hosts: Vec<String>,
    /// Backends that would have come first, and why they were not used.
    pub passed_over: Vec<String>,
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The command.
    pub command: String,
    /// How it ended.
    pub ending: Ending,
    /// The exit code that the command gave, also where it was told to end and did so by itself.
    pub code: Option<i32>,
    /// Its output; all of it where the streams are combined.
    pub stdout: Text,
    /// Its errors; empty where the streams are combined.
    pub stderr: Text,
    /// One stream or two.
    pub streams: Streams,
    /// From the start of the shell to the end of all of it.
    pub duration: Duration,
    /// The time it was given.
    pub timeout: Duration,
    /// How long was looked for what acts later, before it and behind it. No part of its duration.
    pub looked: [Duration; 2],
    /// Where it ran.
    pub sandbox: Sandboxed,
    /// Processes that were still there when the command ended, and were killed.
    pub killed_leftovers: u32,
    /// Processes that could not be killed; `None` where nobody is left to know.
    pub survivors: Option<u32>,
    /// What it changed that it should not have.
    pub violations: Vec<Violation>,
    /// True when the host should have heard of something, and did not.
    pub host_not_told: bool,
    /// Why something that it tried does not work here, and what to do.
    pub hints: Vec<String>,
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A place is wrong.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The built-in presets cannot be read.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// A program cannot be given.
    #[error(transparent)]
    Program(#[from] NotListed),
    /// What is given cannot be executed, and programs lie below it.
    #[error("{} holds programs that the run needs, so it cannot be given as data", .0.display())]
    HoldsPrograms(PathBuf),
    /// No sandbox can be had that enforces enough.
    #[error("no sandbox here enforces what the preset requires:{}", list(.0))]
    NoSandbox(Vec<Unavailable>),
    /// More time than the preset gives.
    #[error("the time must be from 1 to {most} seconds, as the preset has it; {asked} was asked for")]
    TooLong {
        /// Seconds asked for.
        asked: u64,
        /// Most seconds.
        most: u64,
    },
    /// The preset never gives network.
    #[error("the preset gives no network")]
    NoNetwork,
    /// A script is another one than the command was allowed with.
    #[error("{0} was changed after the command was allowed")]
    Changed(String),
    /// Another run goes on in the project, and one of both may not have others beside it.
    #[error("{}", if *.alone { WAITS_FOR_OTHERS } else { WAITS_FOR_ONE })]
    NoTurn {
        /// It is the one that wants to be alone.
        alone: bool,
    },
    /// Nobody could say afterwards what it has left.
    #[error("{0}")]
    TooMuch(String),
    /// Something else failed before the start.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
}

/// Why a run that was asked about does not start.
const WAITS_FOR_OTHERS: &str =
    "other commands go on in this project, and what they change there might be what this one was allowed with";
/// Why another one does not.
const WAITS_FOR_ONE: &str =
    "a command that was asked about goes on in this project, and nothing may change there what it was allowed with";

/// What programs say of a file that is not to be written.
const NOT_WRITTEN: &[&str] = &["Read-only file system", "Permission denied", "EROFS", "EACCES", "not permitted"];

/// Why what a failed command says of files that it may not write is so, and what to do.
pub(crate) fn hints(output: &str, preset: &Preset, workspace: &Path) -> Vec<String> {
    let refused: Vec<&str> =
        output.lines().filter(|line| NOT_WRITTEN.iter().any(|words| line.contains(words))).take(MOST_REFUSED).collect();
    let words = |line: &str| {
        let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ':' | ',' | '(' | ')');
        line.split(ends).filter(|word| word.contains(['/', '.'])).map(str::to_owned).collect::<Vec<_>>()
    };
    let paths: Vec<String> = refused.into_iter().flat_map(words).collect();
    let mut hints = Vec::new();
    let is_of_git = |path: &String| Path::new(path).components().any(|part| part.as_os_str() == ".git");
    if paths.iter().any(is_of_git) {
        let git = workspace.join(".git");
        hints.push(if preset.git.repository == Access::Read {
            "`.git` is read-only with this preset; one with `[git] repository = \"write\"` commits, such as chorus or \
             runner-build, or one of your own in runner.toml"
                .to_owned()
        } else if git.is_file() {
            "the repository of this linked worktree lies outside of its folder and is read-only here; commit in its main \
             working tree, or ask for the command as it is"
                .to_owned()
        } else {
            "git's configuration and hooks are read-only here: they run code later; ask a person to change them".to_owned()
        });
    }
    // The shell stands in front of what it says.
    let is_here = |path: &String| !path.starts_with('/') || Path::new(path).starts_with(workspace);
    let reasons = ["No such file", "Device or resource busy", "Permission denied"];
    let wants_tmp = |line: &str| line.contains("/tmp") && reasons.iter().any(|reason| line.contains(reason));
    if preset.filesystem.tmp == Tmp::Named && output.lines().any(wants_tmp) {
        hints.push(
            "/tmp is the run's own here: of the machine's it has what the command names (`/tmp/x`), and a folder that it is lent cannot be \
             removed itself; name what the command needs in its text, or work in the project or in $TMPDIR"
                .to_owned(),
        );
    }
    let acts_later =
        |path: &&String| !is_of_git(path) && is_here(path) && later::of(path, workspace.to_str()).is_some();
    if let Some(path) = paths.iter().find(acts_later) {
        hints.push(format!("{path} is read-only here: other programs run or obey it later; ask a person to change it"));
    }
    hints
}

fn list(unavailable: &[Unavailable]) -> String {
    let mut text = String::new();
    for one in unavailable {
        text.push_str(&format!("\n  {one}; {}", one.help));
    }
    text
}

impl RunError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Place(error) => error.help(),
            Self::Preset(error) => error.help(),
            Self::Program(error) => error.help(),
            Self::HoldsPrograms(_) => "give folders below it",
            Self::NoSandbox(_) => "do what stands behind each; `bashgate-run doctor` shows what works here",
            Self::TooLong { asked: 0, .. } => "leave the time out to get the preset's usual one",
            Self::TooLong { .. } => "ask for less, or run it in the background",
            Self::NoNetwork => "leave out --network, or use another preset",
            Self::Changed(_) => "run it again, so that it is decided with what the file says now",
            Self::NoTurn { alone: true } => {
                "run it again when the others have ended, or stop them: `bashgate-run jobs` lists what goes on"
            }
            Self::NoTurn { alone: false } => "run it again when that has ended: `bashgate-run jobs` lists what goes on",
            Self::TooMuch(_) => "work in a smaller folder, or ask a person",
            Self::Io { .. } => "look at the cause, then run it again",
        }
    }
}

/// In milliseconds, to the tenth.
fn in_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

impl Outcome {
    /// True when the command ended by itself with code 0.
    pub fn succeeded(&self) -> bool {
        self.ending == Ending::Exited(0)
    }

    /// The exit status that a shell would show: the code, 128 and the signal, 124 after a timeout, 137 for want of memory.
    pub fn status(&self) -> u8 {
        match self.ending {
            Ending::Exited(code) => u8::try_from(code).unwrap_or(255),
            Ending::Signalled(signal) => u8::try_from(128 + signal).unwrap_or(255),
            Ending::TimedOut => 124,
            Ending::OutOfMemory => 137,
            Ending::Stopped => 143,
            Ending::Lost => 255,
        }
    }

    /// The signal that ended it, for those who want one.
    pub const fn signal(&self) -> Option<i32> {
        match self.ending {
            Ending::Signalled(signal) => Some(signal),
            _ => None,
        }
    }

    /// One JSON object: the field names of seed 000, and what else is worth knowing.
    pub fn json(&self) -> Value {
        json!({
            "command": self.command,
            "exit_code": self.code,
            "stdout": self.stdout.text,
            "stderr": self.stderr.text,
            "timed_out": self.ending == Ending::TimedOut,
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            "looked_ms": {"before": in_ms(self.looked[0]), "after": in_ms(self.looked[1])},
            "truncated": self.stdout.truncated || self.stderr.truncated,
            "ending": self.ending,
            "signal": self.signal(),
            "failure": self.failure(),
            "remarks": self.remarks(),
            "out_of_memory": self.ending == Ending::OutOfMemory,
            "stdout_bytes": self.stdout.bytes,
            "stderr_bytes": self.stderr.bytes,
            "killed_leftovers": self.killed_leftovers,
            "survivors": self.survivors,
            "violations": watch::folded(&self.violations, watch::MOST_LISTED),
            "sandbox": self.sandbox,
        })
    }

    /// The line that says how it failed; `None` when it did not.
    pub fn failure(&self) -> Option<String> {
        Some(match self.ending {
            Ending::Exited(0) => return None,
            Ending::Exited(code) => format!("[command failed: exit code {code}]"),
            Ending::Signalled(signal) => format!("[command failed: exit code -1, ended by signal {signal}]"),
            Ending::TimedOut => format!("[command timed out after {:?}]", self.timeout),
            Ending::OutOfMemory => "[command failed: out of memory]".to_owned(),
            Ending::Stopped => "[command stopped]".to_owned(),
            Ending::Lost => "[command failed: its sandbox vanished]".to_owned(),
        })
    }

    /// One text for an agent: the output, behind the line that says how it failed.
    pub fn text(&self) -> String {
        let output = format!("{}{}", self.stdout.text, self.stderr.text);
        match self.failure() {
            Some(line) => format!("{line}\n{output}"),
            None => output,
        }
    }

    /// What there is to say besides the output: how it ended, unless its exit code says so, and what it left.
    pub fn notes(&self) -> String {
        let told = matches!(self.ending, Ending::Exited(_));
        let mut notes = self.failure().filter(|_| !told).map(|line| line + "\n").unwrap_or_default();
        notes.push_str(&self.remarks());
        notes
    }

    fn remarks(&self) -> String {
        let mut notes = String::new();
        for violation in &watch::folded(&self.violations, watch::MOST_NAMED) {
            notes.push_str(&format!("bashgate-run: {violation}\n"));
        }
        for hint in &self.hints {
            notes.push_str(&format!("bashgate-run: {hint}\n"));
        }
        match self.survivors {
            Some(0) => {}
            Some(_) => notes.push_str("bashgate-run: a process of it could not be killed\n"),
            None => notes.push_str("bashgate-run: its supervisor was killed; processes of it may be left\n"),
        }
        if self.host_not_told {
            notes.push_str("bashgate-run: the host could not be told of that\n");
        }
        notes
    }

    /// Tells the host what it has to know of what came of this: what acts later, what is secret, what the cage has broken.
    pub(crate) fn tell(&mut self, gate: Option<&Config>, agent: Option<&str>, caged: bool, workspace: &Path) {
        let Some(gate) = gate else { return };
        let output = format!("{}\n{}", self.stdout.text, self.stderr.text);
        let failed = !matches!(self.ending, Ending::Exited(0));
        // What no everyday tool makes first: the host hears of so many.
        let mut staying: Vec<&Violation> = self.violations.iter().filter(|violation| violation.stays()).collect();
        staying.sort_by_key(|violation| !violation.is_rare);
        let result = gate::Aftermath {
            planted: staying.into_iter().map(Violation::on_record).collect(),
            shown: held::shown_by(&output, workspace),
            wanted_network: caged && failed && WITHOUT_NETWORK.iter().any(|words| output.contains(words)),
        };
        if result.is_plain() {
            return;
        }
        // What has run, has run: nobody waits long for the host to take note of it.
        let gate = Config { deadline_s: gate.deadline_s.min(TELLING_S), ..gate.clone() };
        let ran = CommandRan {
            command: &self.command,
            tool_use_id: "",
            asker: agent.unwrap_or(permit::AGENT),
            session: None,
            result,
            acting: None,
        };
        let told = ran.report(&gate).finish(&gate, |_| ());
        self.host_not_told = !matches!(told, HookDecision::Allow(LetThroughBy::Host));
    }

    /// What people are shown on standard output and standard error.
    pub fn shown(&self, form: Form) -> (String, String) {
        match form {
            Form::Text => (self.text(), self.remarks()),
            Form::Fields => (self.stdout.text.clone(), format!("{}{}", self.stderr.text, self.notes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets::Presets;

    #[test]
    fn what_may_not_be_written_is_explained() {
        let presets = Presets::built_in();
        let folder = tempfile::tempdir().unwrap();
        let hints = |preset: &str, output: &str| {
            hints(output, &presets.for_agent(None, Some(preset)).unwrap(), folder.path()).join("\n")
        };
        let lock = "fatal: Unable to create '/w/.git/index.lock': Read-only file system";
        assert!(hints("default", lock).contains("is read-only with this preset"));
        assert!(
            hints("chorus", "error: could not lock config file .git/config: Read-only file system")
                .contains("configuration and hooks")
        );
        let envrc = hints("default", "bash: line 1: app/.envrc: Permission denied");
        assert!(envrc.contains("app/.envrc is read-only here: other programs run or obey it later"), "{envrc}");
        for other in [
            "cat: missing/.git: No such file or directory",
            "bash: /root/x: Permission denied",
            "Read-only file system",
            "",
        ] {
            assert_eq!(hints("default", other), "", "{other}");
        }
        std::fs::write(folder.path().join(".git"), "gitdir: /elsewhere/.git/worktrees/w\n").unwrap();
        assert!(hints("chorus", lock).contains("linked worktree"));
    }
}
