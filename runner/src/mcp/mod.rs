//! The MCP server: the Bash tool and the tools of managed scripts, on standard input and output.
//!
//! It holds no state and decides nothing: each call is a call of this program's own command line, with its own process,
//! gate and sandbox. No tool approves anything.

mod tools;

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use tokio::sync::Semaphore;

use crate::called::{self, Limits};
use crate::registry::Stop;

/// Most calls at a time.
const MAX_CALLS: usize = 256;
/// Most of what a call may say, in bytes: its output is cut far below.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// After the order to stop, so long until it is killed. A command's own grace is shorter.
const STOPPING: Duration = Duration::from_secs(15);
/// How often a client that asks for it hears that a call goes on: a person may have to be asked.
const PROGRESS: Duration = Duration::from_secs(5);

/// What is the same for all calls.
#[derive(Debug, Clone)]
pub struct Settings {
    /// This program.
    pub own: PathBuf,
    /// Where commands run.
    pub cwd: PathBuf,
    /// Options of every call of `exec`, `scripts` and `jobs`, by subcommand.
    pub exec: Vec<String>,
    /// See `exec`.
    pub scripts_run: Vec<String>,
    /// Options of all that look into the folder of jobs and scripts.
    pub state: Vec<String>,
}

#[derive(Debug)]
struct Server {
    settings: Settings,
    room: Arc<Semaphore>,
}

/// Serves until the client closes the connection; what runs then is ended.
pub fn serve(settings: Settings) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MAX_CALLS + 16)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let server = Server { settings, room: Arc::new(Semaphore::new(MAX_CALLS)) };
        let running = server.serve(rmcp::transport::stdio()).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)
    });
    // Calls that still run end with this process.
    runtime.shutdown_background();
    served.map(|_| ())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bashgate-run", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Commands and scripts run in a sandbox behind a gate. A denial is final for what was asked: do what its reason says, or ask the person you work for.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(&self.settings.cwd)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let order = tools::order(&request.name, request.arguments.unwrap_or_default())
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None))?
            .map_err(|why| ErrorData::invalid_params(why, None))?;
        let failed = |why: String| Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
        let Ok(_room) = self.room.clone().try_acquire_owned() else {
            return failed(format!("more than {MAX_CALLS} calls at a time; wait for one to end"));
        };
        let Ok(stop) = Stop::new() else { return failed("the system has no more file descriptors".to_owned()) };
        let mut command = Command::new(&self.settings.own);
        command.args(self.arguments(&order.arguments));
        let (said, shown) = (stop.clone(), order.shown);
        let mut calling = tokio::task::spawn_blocking(move || {
            let output = MAX_OUTPUT_BYTES;
            let limits = Limits { output, time: None, stop: Some(&said), grace: Some(STOPPING), resources: Vec::new() };
            called::call(command, &order.input, limits)
        });
        let mut progress = 0.0;
        let called = loop {
            tokio::select! {
                called = &mut calling => break called,
                () = context.ct.cancelled() => {
                    stop.stop();
                    break calling.await;
                }
                () = tokio::time::sleep(PROGRESS) => {
                    progress += PROGRESS.as_secs_f64();
                    if let Some(token) = context.meta.get_progress_token() {
                        let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, progress)).await;
                    }
                }
            }
        };
        match called {
            Ok(Ok(called)) if called.cut_short => failed("stopped".to_owned()),
            Ok(Ok(called)) => Ok(tools::answer(&called, shown).into()),
            Ok(Err(error)) => failed(format!("the call cannot be started: {error}")),
            Err(error) => failed(format!("the call failed: {error}")),
        }
    }
}

impl Server {
    /// The options that are the same for all calls come behind the subcommand, before what a caller says.
    fn arguments(&self, words: &[String]) -> Vec<String> {
        let settings = &self.settings;
        let mut all = words.to_vec();
        let subcommands = if words.first().is_some_and(|word| word == "scripts") { 2 } else { 1 };
        let mut options = settings.state.clone();
        match words.iter().map(String::as_str).take(2).collect::<Vec<_>>().as_slice() {
            ["exec", ..] => options.extend(settings.exec.iter().cloned()),
            ["scripts", "run"] => options.extend(settings.scripts_run.iter().cloned()),
            _ => {}
        }
        all.splice(subcommands.min(all.len())..subcommands.min(all.len()), options);
        all
    }
}
