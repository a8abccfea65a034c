//! The MCP server: the Bash tool and the tools of managed scripts (`tools.rs`), on standard input and output or over HTTP on loopback
//! (`http.rs`).
//!
//! It holds no state and decides nothing: each call is a call of this program's own command line, with its own process,
//! gate and sandbox. No tool approves anything.

mod calls;
mod http;
mod logging;
mod messages;
mod tools;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, RequestId, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use tokio::sync::{Notify, Semaphore};

use crate::called::{self, Limits};
use crate::registry::Stop;

/// Most calls at a time.
const MAX_CALLS: usize = 256;
/// Longest message of a client, in bytes. A list of small values takes some hundred times as much while it is read.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// Most of what a call may say, in bytes: its output is cut far below.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// After the order to stop, so long until it is killed. A command's own grace is shorter.
const STOPPING: Duration = Duration::from_secs(15);
/// How often a client that asks for it hears that a call goes on: a person may have to be asked.
const PROGRESS: Duration = Duration::from_secs(5);

/// How long the last answers may take to be read when a client is gone.
const LAST_WORDS: Duration = Duration::from_secs(2);

use logging::{Log, SetLevel, Weight};

pub use http::Door;

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

/// One client's connection.
#[derive(Debug)]
struct Server {
    settings: Settings,
    room: Arc<Semaphore>,
    log: Log,
    /// The calls that have no answer yet. Two under one id could not be told apart.
    open: Mutex<HashMap<RequestId, Call>>,
}

impl Server {
    fn new(settings: Settings, room: Arc<Semaphore>) -> Self {
        Self { settings, room, log: Log::default(), open: Mutex::new(HashMap::new()) }
    }
}

/// Serves until the client closes the connection, or over HTTP until it is ended; what runs then is ended.
pub fn serve(settings: Settings, door: Option<Door>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(MAX_CALLS + 16)
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let room = Arc::new(Semaphore::new(MAX_CALLS));
        if let Some(door) = door {
            return tokio::select! {
                served = http::serve(settings, room, door) => served.map(|()| None),
                signal = ended() => signal.map(|()| None),
            };
        }
        let server = Server::new(settings, room);
        let (transport, writing) = messages::between(tokio::io::stdin(), tokio::io::stdout());
        let running = server.serve(transport).await.map_err(io::Error::other)?;
        let ended = running.waiting().await.map(Some).map_err(io::Error::other);
        // Behind a client that does not read, nobody waits.
        let _ = tokio::time::timeout(LAST_WORDS, writing).await;
        ended
    });
    // Calls that still run end with this process.
    runtime.shutdown_background();
    served.map(|_| ())
}

/// Waits for the order to end.
async fn ended() -> io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(logging::capabilities())
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

    async fn set_level(&self, request: SetLevel, _context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.log.set(&request);
        Ok(())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let open = self.opened(&context).await?;
        let name = request.name.clone();
        let order = calls::order(&request.name, request.arguments.unwrap_or_default())
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None))?;
        let order = match order {
            Ok(order) => order,
            // From that revision on a model is to see what was wrong with what it gave.
            Err(why) if context.protocol_version().is_none_or(|version| version >= ProtocolVersion::V_2025_11_25) => {
                return Ok(CallToolResult::error(vec![ContentBlock::text(format!("error: {why}"))]).into());
            }
            Err(why) => return Err(ErrorData::invalid_params(why, None)),
        };
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
                () = open.call.given_up.notified() => {
                    stop.stop();
                    break calling.await;
                }
                () = tokio::time::sleep(PROGRESS) => {
                    progress += PROGRESS.as_secs_f64();
                    let text = format!("{name} has been going on for {progress} s; a person may have to be asked");
                    self.log.say(&context, Weight::Info, text).await;
                    if let Some(token) = context.meta.get_progress_token() {
                        let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, progress)).await;
                    }
                }
            }
        };
        if let Ok(Ok(called)) = &called
            && !called.ok
        {
            self.log.say(&context, Weight::Warning, format!("{name} came to no good end")).await;
        }
        match called {
            Ok(Ok(called)) if called.cut_short => failed("stopped".to_owned()),
            Ok(Ok(called)) => Ok(calls::answer(&called, shown).into()),
            Ok(Err(error)) => failed(format!("the call cannot be started: {error}")),
            Err(error) => failed(format!("the call failed: {error}")),
        }
    }
}

/// What others of the same id know of a call.
#[derive(Debug, Clone)]
struct Call {
    /// Closed when it has its answer.
    ends: Arc<Semaphore>,
    /// Told when the client gives it up by way of another one.
    given_up: Arc<Notify>,
}

/// A call that has no answer yet.
struct OpenCall<'s> {
    server: &'s Server,
    id: RequestId,
    call: Call,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        held(&self.server.open).remove(&self.id);
        self.call.ends.close();
    }
}

/// What a lock guards is whole whoever has died meanwhile.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Notes a call. One under an id that is in use does not run. Its refusal comes once the other has its answer, for which it must
    /// not be taken, and the library then knows nobody to send it to.
    async fn opened(&self, context: &RequestContext<RoleServer>) -> Result<OpenCall<'_>, ErrorData> {
        let id = &context.id;
        let call = Call { ends: Arc::new(Semaphore::new(0)), given_up: Arc::default() };
        let other = {
            let mut open = held(&self.open);
            let other = open.get(id).cloned();
            if other.is_none() {
                open.insert(id.clone(), call.clone());
            }
            other
        };
        let Some(other) = other else { return Ok(OpenCall { server: self, id: id.clone(), call }) };
        tokio::select! {
            _ = other.ends.acquire() => {}
            // The library knows the later one alone; whoever cancels the id means both.
            () = context.ct.cancelled() => {
                other.given_up.notify_one();
                let _ = other.ends.acquire().await;
            }
        }
        Err(ErrorData::invalid_request(format!("the id {id} was in use; use each one once"), None))
    }

    /// The options that are the same for all calls come behind the subcommand, before what a caller says.
    fn arguments(&self, words: &[String]) -> Vec<String> {
        let settings = &self.settings;
        let mut all = words.to_vec();
        let subcommands = if words.first().is_some_and(|word| word == "scripts") { 2 } else { 1 };
        let mut options = settings.state.clone();
        match words.iter().map(String::as_str).take(2).collect::<Vec<_>>().as_slice() {
            ["exec", ..] => options.extend(settings.exec.iter().cloned()),
            ["scripts", "run" | "action" | "generate"] => options.extend(settings.scripts_run.iter().cloned()),
            _ => {}
        }
        all.splice(subcommands.min(all.len())..subcommands.min(all.len()), options);
        all
    }
}
