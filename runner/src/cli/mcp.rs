//! `mcp`: the server for agents.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::jobs::Place;
use super::{Common, REFUSED, complain};
use crate::mcp::{Door, Settings, serve};

#[derive(Debug, Args)]
pub(super) struct Mcp {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    place: Place,
    /// The preset of commands; the agent's of runner.toml, or `default`, if not given.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The agent on whose behalf, for runner.toml and the record.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The folder that commands may write: the repository around the working directory if not given, else that directory.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Serve streamable HTTP at this address of loopback instead, such as `127.0.0.1:8931`, under the path `/mcp`.
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    http: Option<SocketAddr>,
    /// The file with the token that each request must carry; made if it is not there.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
}

impl Mcp {
    pub(super) fn run(&self) -> ExitCode {
        let door =
            self.http.zip(self.token_file.as_deref()).map(|(address, file)| Door::new(address, file)).transpose();
        let served = door.and_then(|door| serve(self.settings()?, door));
        match served {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let help = if self.http.is_some() {
                    "name a free port of loopback, and a file of your own for the token"
                } else {
                    "an MCP client starts this program and talks to it over its standard input and output"
                };
                complain(&error, help);
                ExitCode::from(REFUSED)
            }
        }
    }

    fn settings(&self) -> std::io::Result<Settings> {
        let text = |path: &Path| {
            let path = std::path::absolute(path)?;
            path.into_os_string().into_string().map_err(|_| std::io::Error::other("a path is not UTF-8"))
        };
        let option = |name: &str, value: Option<&String>| value.map(|value| format!("--{name}={value}"));
        let config = format!("--config={}", text(&self.common.config)?);
        let workspace = self.workspace.as_deref().map(text).transpose()?;
        let state = self.place.folder().as_deref().map(text).transpose()?;
        let agent = option("agent", self.agent.as_ref());
        let exec = [
            Some(config.clone()),
            agent.clone(),
            option("preset", self.preset.as_ref()),
            option("workspace", workspace.as_ref()),
        ];
        Ok(Settings {
            own: std::env::current_exe()?,
            cwd: std::env::current_dir()?,
            exec: exec.into_iter().flatten().collect(),
            scripts_run: [Some(config), agent].into_iter().flatten().collect(),
            state: option("state", state.as_ref()).into_iter().collect(),
        })
    }
}
