//! `egress`: the inside of the way out of a container that has no network.

use std::io;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};

use bashgate_shared::{mailbox, say};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use super::{REFUSED, complain};
use crate::egress;

#[derive(Debug, Args)]
pub(super) struct Egress {
    /// Listen at this address of loopback, and pass on what comes.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3128")]
    listen: SocketAddr,
    /// The host's socket.
    #[arg(long, value_name = "FILE", default_value_os_t = egress::socket())]
    socket: PathBuf,
    /// Connect standard input and output to this host instead: for ssh, as `ProxyCommand=bashgate-run egress --connect %h:%p`.
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["command", "print_env"])]
    connect: Option<String>,
    /// With --connect: through this port of loopback that leads out, instead of the host's socket.
    #[arg(long, value_name = "ADDRESS", requires = "connect")]
    via: Option<SocketAddr>,
    /// Print the variables with which programs use it, and end.
    #[arg(long, conflicts_with = "command")]
    print_env: bool,
    /// A program to run meanwhile, with these variables: `-- claude`. When it ends, so does this, with its exit status.
    #[arg(last = true)]
    command: Vec<String>,
}

impl Egress {
    pub(super) fn run(self) -> ExitCode {
        if self.print_env {
            for (name, value) in self.environment(self.listen) {
                say!("export {name}={value}");
            }
            return ExitCode::SUCCESS;
        }
        let help = if self.connect.is_some() {
            "the operator can add the host: `egress` under [workspaces.NAME] in bashgate.toml".to_owned()
        } else {
            format!("choose another port of loopback, and mount the workspace's egress folder at {}", mailbox::EGRESS)
        };
        self.start().unwrap_or_else(|error| {
            complain(&error, &help);
            ExitCode::from(REFUSED)
        })
    }

    /// What programs are told: the way out, and the models that the host asks for them.
    fn environment(&self, at: SocketAddr) -> Vec<(&'static str, String)> {
        let models = egress::models(&self.socket).unwrap_or_else(|error| {
            let why = format!("the host does not say which models it has ({}: {error})", self.socket.display());
            complain(&io::Error::other(why), "where it has some, start this again when it runs");
            Vec::new()
        });
        let mut all = egress::environment(at);
        all.extend(egress::environment_of_models(&models, at));
        all
    }

    fn start(self) -> io::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(async {
            if let (Some(host), Some(at)) = (&self.connect, self.via) {
                return egress::connect_via(at, host).await.map(|()| ExitCode::SUCCESS);
            }
            if let Some(host) = &self.connect {
                return egress::connect(&self.socket, host).await.map(|()| ExitCode::SUCCESS);
            }
            let listener = egress::listen(self.listen).await?;
            let at = listener.local_addr()?;
            let serving = tokio::spawn(egress::serve(listener, self.socket.clone()));
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            let Some((program, arguments)) = self.command.split_first() else {
                say!("bashgate-run: {at} leads out");
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                return Ok(ExitCode::SUCCESS);
            };
            let child = Command::new(program).args(arguments).envs(self.environment(at)).spawn()?;
            let code = until_ended(child, [terminate, interrupt]).await;
            serving.abort();
            code
        });
        // Reading standard input cannot be ended otherwise.
        runtime.shutdown_background();
        done
    }
}

/// Waits for a program, and passes on what this process is told.
async fn until_ended(
    mut child: Child,
    [mut terminate, mut interrupt]: [tokio::signal::unix::Signal; 2],
) -> io::Result<ExitCode> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut waiting = tokio::task::spawn_blocking(move || child.wait());
    let status = loop {
        tokio::select! {
            status = &mut waiting => break status.map_err(io::Error::other)??,
            _ = terminate.recv() => drop(pid.map(|pid| kill_process(pid, Signal::TERM))),
            // From a terminal it has had that one itself.
            _ = interrupt.recv() => {}
        }
    };
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
