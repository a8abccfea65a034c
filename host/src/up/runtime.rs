//! The container runtime: podman or docker, whichever is there.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bashgate_shared::agents::AgentRow;

/// The image that is built where none is named.
pub const CONTAINERFILE: &str = include_str!("../../../packaging/Containerfile");

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// There is none.
    #[error("there is neither podman nor docker in PATH")]
    None,
    /// The one that was named is not there.
    #[error("there is no `{0}` in PATH")]
    Missing(String),
    /// It cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        source: std::io::Error,
    },
    /// It failed.
    #[error("{what} failed: {said}")]
    Failed {
        /// What it was to do.
        what: &'static str,
        /// What it said.
        said: String,
    },
    /// The agent has no package that could be installed.
    #[error("there is no package of {0} that could be put into an image")]
    NoPackage(&'static str),
}

impl RuntimeError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::None => "install podman (apt-get install podman), or docker",
            Self::Missing(_) => "install it, or choose another one with --runtime",
            Self::NotStarted { .. } => "check that you may run it",
            Self::Failed { .. } => "see what it says; with --print you get the command to try by hand",
            Self::NoPackage(_) => "name an image that has it, with --image",
        }
    }
}

/// A container runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// Its program.
    pub program: PathBuf,
    /// It is podman, which can map the caller to a user of the container.
    pub is_podman: bool,
}

impl Runtime {
    /// The one of this name, or whichever is there.
    pub fn find(named: Option<&str>) -> Result<Self, RuntimeError> {
        let found = |name: &str| {
            let program = if name.contains('/') { Some(PathBuf::from(name)) } else { in_path(name) };
            let is_podman =
                Path::new(name).file_name().is_some_and(|name| name.to_string_lossy().starts_with("podman"));
            program.filter(|program| program.is_file()).map(|program| Self { program, is_podman })
        };
        match named {
            Some(name) => found(name).ok_or_else(|| RuntimeError::Missing(name.to_owned())),
            None => found("podman").or_else(|| found("docker")).ok_or(RuntimeError::None),
        }
    }

    /// A command of it.
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// True when it can put a first process of its own into a container. Docker brings one; podman's is a package that may be missing.
    pub fn has_init(&self) -> bool {
        let places =
            ["/usr/libexec/podman", "/usr/local/libexec/podman", "/usr/lib/podman", "/usr/bin", "/usr/local/bin"];
        !self.is_podman || places.iter().any(|folder| Path::new(folder).join("catatonit").is_file())
    }

    fn not_started(&self, source: std::io::Error) -> RuntimeError {
        RuntimeError::NotStarted { program: self.program.clone(), source }
    }

    /// Runs a command of it to its end and gives what it prints.
    pub fn ask(&self, what: &'static str, words: &[&str]) -> Result<String, RuntimeError> {
        let output =
            self.command().args(words).stdin(Stdio::null()).output().map_err(|error| self.not_started(error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(RuntimeError::Failed { what, said });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// True when an image is there.
    pub fn has_image(&self, image: &str) -> bool {
        let mut command = self.command();
        command.args(["image", "inspect", image]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Builds the image for an agent. What it says goes to standard error, so that people see how far it is.
    pub fn build(&self, agent: &AgentRow, image: &str) -> Result<(), RuntimeError> {
        if agent.packaged.npm.is_empty() {
            return Err(RuntimeError::NoPackage(agent.title));
        }
        let package = format!("PACKAGE={}", agent.packaged.npm);
        let mut child = self
            .command()
            .args(["build", "--tag", image, "--build-arg", &package, "-"])
            .stdin(Stdio::piped())
            .stdout(std::io::stderr())
            .spawn()
            .map_err(|error| self.not_started(error))?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(CONTAINERFILE.as_bytes());
        }
        let status = child.wait().map_err(|error| self.not_started(error))?;
        if status.success() {
            Ok(())
        } else {
            Err(RuntimeError::Failed { what: "building the image", said: "see above".to_owned() })
        }
    }

    /// Runs a container in this terminal: its exit code.
    pub fn run(&self, words: &[String]) -> Result<i32, RuntimeError> {
        let status = self.command().args(words).status().map_err(|error| self.not_started(error))?;
        Ok(status.code().unwrap_or(1))
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
