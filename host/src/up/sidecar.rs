//! The host beside the container: found, or started so that it stays when this command has ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::control::{self, ControlCommand};
use crate::state;

/// How long a host may take to be ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum SidecarError {
    /// It does not answer.
    #[error("the host does not answer on its control socket")]
    Silent(#[source] io::Error),
    /// It cannot be started.
    #[error("cannot start the host")]
    NotStarted(#[source] io::Error),
    /// It ended, or is not ready in time.
    #[error("the host did not get ready: {said}")]
    NotReady {
        /// The end of its log.
        said: String,
    },
}

impl SidecarError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Silent(_) => "run this as the user who runs `bashgate serve`",
            Self::NotStarted(_) | Self::NotReady { .. } => {
                "run `bashgate serve` by hand to see why; `bashgate doctor` looks for reasons"
            }
        }
    }
}

/// Where a host that this started writes what it says.
pub fn log_file(config: &Config) -> PathBuf {
    config.state.join("serve.log")
}

/// True when a host runs.
pub fn is_running(config: &Config) -> Result<bool, SidecarError> {
    let asked = control::ask(&state::socket(&config.state), &ControlCommand::WorkspaceList);
    asked.map(|reply| reply.is_some()).map_err(SidecarError::Silent)
}

/// Finds the host, or starts it: true when it was started.
pub fn ensure(config: &Config) -> Result<bool, SidecarError> {
    if is_running(config)? {
        return Ok(false);
    }
    let log = log_file(config);
    let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(&log);
    let written = open().map_err(SidecarError::NotStarted)?;
    let start = written.metadata().map_or(0, |meta| meta.len());
    let own = std::env::current_exe().map_err(SidecarError::NotStarted)?;
    let other = written.try_clone().map_err(SidecarError::NotStarted)?;
    // In a process group of its own, so that what ends the agent in this terminal does not end the host.
    let mut child = Command::new(own)
        .arg("serve")
        .arg("--config")
        .arg(&config.file)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(written)
        .stderr(other)
        .process_group(0)
        .spawn()
        .map_err(SidecarError::NotStarted)?;
    let end = Instant::now() + PATIENCE;
    loop {
        if is_running(config)? {
            return Ok(true);
        }
        let has_ended = !matches!(child.try_wait(), Ok(None));
        if has_ended || Instant::now() > end {
            // Another one may have been quicker.
            return if is_running(config)? {
                Ok(false)
            } else {
                Err(SidecarError::NotReady { said: said(&log, start) })
            };
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What was written to a log since.
fn said(log: &std::path::Path, start: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(log)?;
        file.seek(SeekFrom::Start(start))?;
        let mut text = String::new();
        file.take(4096).read_to_string(&mut text)?;
        Ok(text.trim().to_owned())
    };
    read().unwrap_or_default()
}
