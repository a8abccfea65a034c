//! The one loop: event in, effect out. Everything that happens to the host comes through here, one after the other.

mod acting;
mod answers;
mod caged;
mod cards;
mod cases;
mod channels;
mod core;
mod drafts;
mod egress;
mod files;
mod fleet;
mod heard;
mod inspect;
mod outbox;
mod people;
mod reading;
mod records;
mod rejects;
mod requests;
mod retention;
mod rules;
mod scripts;
mod standing;
mod ticks;
mod verdicts;

use std::io;
use std::time::Duration;

use bashgate_shared::classify::Classification;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

pub use core::Core;
pub use people::{make_mailbox, mounts};

use crate::approval::ApprovalId;
use crate::chat::link::Overheard;
use crate::config::Config;
use crate::control::{self, ControlCommand, Reply};
use crate::egress::{Closed, Egress};
use crate::fault;
use crate::fleet::wire::FromFleet;
use crate::inspector::{Inspector, InspectorError, Panel};
use crate::intake::{Arrival, Intake, Pace};
use crate::metrics;
use crate::page;
use crate::policy::Finding;
use crate::state::{self, Folder, StateError};
use crate::store::StoreError;
use crate::telemetry;

pub use crate::approval::CaseId;
pub use fleet::Checked;

/// Everything that can happen.
pub enum Event {
    /// A request came in.
    Arrived(Arrival),
    /// The long text of a request was read.
    Read(Box<reading::Unread>, Box<Classification>),
    /// The inspector answered the question of this number about a case.
    Found(CaseId, u32, Finding),
    /// The model wrote a script, or did not.
    Drafted(Box<drafts::Drafted>),
    /// A connection out of a container is over, or was refused.
    WentOut(Box<Closed>),
    /// A job of the store is done, or is not.
    Stored(After, Result<(), String>),
    /// A person said something in the terminal.
    Said(String),
    /// Somebody said something in a channel.
    Overheard(Overheard),
    /// The program that speaks to the fleet's database has said something.
    FromFleet(FromFleet),
    /// A policy of the fleet was checked.
    PolicyChecked(Box<Checked>),
    /// A command on the control socket, by whom, and where the answer goes.
    Control(ControlCommand, String, oneshot::Sender<Reply>),
}

/// What a job of the store was for.
#[derive(Debug)]
pub enum After {
    /// The verdict of a case.
    Recorded(CaseId),
    /// A held approval.
    Held(CaseId, ApprovalId),
    /// An answer that needs no case.
    Respond(Box<cases::Plain>),
    /// A piece of the audit that was pruned.
    Pruned,
    /// Nothing depends on it.
    Nothing,
}

/// Why the host does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The state folder.
    #[error(transparent)]
    State(#[from] StateError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operator's own programs are wrong.
    #[error("the operator's own programs are wrong: {0}")]
    Programs(#[from] bashgate_shared::programs::own::RowError),
    /// The fleet's policy, which was in force, cannot be any more.
    #[error("the fleet's policy, which is in force here, cannot be ({}): {why}", path.display())]
    FleetPolicy { path: std::path::PathBuf, why: String },
    /// The inspector.
    #[error(transparent)]
    Inspector(#[from] InspectorError),
    /// The metrics endpoint.
    #[error("cannot serve metrics on {address}")]
    Metrics {
        address: std::net::SocketAddr,
        #[source]
        source: io::Error,
    },
    /// The page.
    #[error("cannot serve the page on {address}")]
    Page {
        address: std::net::SocketAddr,
        #[source]
        source: io::Error,
    },
    /// The way out of containers.
    #[error("cannot open the way out of containers in {}", folder.display())]
    Egress {
        folder: std::path::PathBuf,
        #[source]
        source: io::Error,
    },
    /// A folder or the control socket.
    #[error("cannot use {}", path.display())]
    Path {
        path: std::path::PathBuf,
        #[source]
        source: io::Error,
    },
}

impl ServeError {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::State(error) => error.help(),
            Self::Store(error) => error.help(),
            Self::Programs(_) => bashgate_shared::programs::own::RowError::help(),
            Self::FleetPolicy { .. } => "mend bashgate.toml, or leave the fleet with `bashgate fleet leave`",
            Self::Inspector(_) => "check [inspector] in bashgate.toml",
            Self::Metrics { .. } => "choose another port for `metrics.listen` in bashgate.toml, or stop what has it",
            Self::Page { .. } => "choose another port for `page.listen` in bashgate.toml, or stop what has it",
            Self::Egress { .. } => "let `egress.folder` of bashgate.toml be in a folder that the host may write",
            Self::Path { .. } => "check its owner and mode, and the disk",
        }
    }
}

/// How a host is run.
pub struct Serve {
    /// The configuration.
    pub config: Config,
    /// Show every decision in the terminal.
    pub show_decisions: bool,
    /// Called once, when requests are taken.
    pub ready: Box<dyn FnOnce(&Config) + Send>,
    /// Ends the host when it is given something; besides SIGTERM and SIGINT.
    pub stop: Option<oneshot::Receiver<()>>,
}

/// Runs the host until it is told to stop.
pub async fn serve(serve: Serve) -> Result<(), ServeError> {
    let Serve { config, show_decisions, ready, stop } = serve;
    let folder = std::sync::Arc::new(Folder::open(&config.state)?);
    let (events, mut queue) = mpsc::unbounded_channel();
    let panel = Panel::new(model(&config)?);
    std::fs::create_dir_all(&config.mailboxes)
        .map_err(|source| ServeError::Path { path: config.mailboxes.clone(), source })?;
    let socket = state::socket(folder.path());
    let mut core = Core::open(config.clone(), &folder, panel, events.clone())?;
    fault::here("start.opened");
    core.watch_by(channels::channels(show_decisions));
    core.starts();
    core.open_channels(&folder, &events);
    let pace = Pace { notifications: config.notifications, rescan: config.rescan, poll: config.poll };
    let intake = Intake::start(&config.mailboxes, pace)
        .map_err(|source| ServeError::Path { path: config.mailboxes.clone(), source })?;
    // We hold the state folder's lock, so a socket that lies there is a dead one.
    let listener = control::listen(&socket).map_err(|source| ServeError::Path { path: socket.clone(), source })?;
    let scraped = match config.metrics {
        None => None,
        Some(address) => {
            let listener = metrics::bind(address).await.map_err(|source| ServeError::Metrics { address, source })?;
            Some(tokio::spawn(metrics::serve(listener, core.metrics())))
        }
    };
    if let Some(settings) = &config.telemetry
        && let Err(error) = telemetry::start(settings, folder.path())
    {
        tracing::error!(%error, "no telemetry is sent");
    }
    let mut egress = match config.egress.clone() {
        None => None,
        Some(settings) => {
            let folder = settings.folder.clone();
            let opened = Egress::new(settings, events.clone(), core.way_out());
            let mut opened = opened.map_err(|source| ServeError::Egress { folder, source })?;
            opened.serve(core.egress());
            Some(opened)
        }
    };
    let asked = events.clone();
    let by_page = move |command, by| -> page::Told { Box::pin(asks(asked.clone(), command, format!("page:{by}"))) };
    let of = page::Of::Host { state: folder.path().to_owned(), programs: core.programs() };
    let page = page::Served::new(core.board().clone(), Box::new(by_page), of);
    if let Some(address) = config.page {
        page.open(Some(address)).await.map_err(|source| ServeError::Page { address, source })?;
    }
    let page = std::sync::Arc::new(page);
    let asked = events.clone();
    let in_the_loop = move |command, by| -> page::Told { Box::pin(asks(asked.clone(), command, by)) };
    let commands = tokio::spawn(page.clone().answers(listener, Box::new(in_the_loop)));
    // Before anybody is told that the host is ready: who then asks it to stop must be heard.
    let mut stopped = Box::pin(until_stopped(stop, terminations()));
    let lines = events.clone();
    crate::chat::listen(move |line| lines.send(Event::Said(line)).is_ok());
    fault::here("start.listening");
    ready(&config);

    let mut ticks = tokio::time::interval(Duration::from_millis(250));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = &mut stopped => break,
            _ = ticks.tick() => {
                core.tick();
                core.look_for_fleet(&events);
                core.counts(intake.waiting());
            }
            Some(event) = queue.recv() => core.handle(event),
            () = intake.arrived() => {}
        }
        core.end_ways_out(crate::clock::now());
        // What is there, in one go: what the host has begun before what is new, and one new request at a time, each
        // workspace in its turn. Never for so long that deadlines and signs of life have to wait.
        let since = std::time::Instant::now();
        let mut more = true;
        while more && since.elapsed() < Duration::from_millis(50) {
            more = false;
            for _ in 0..16 {
                let Ok(event) = queue.try_recv() else { break };
                core.handle(event);
                more = true;
            }
            if let Some(arrival) = intake.next() {
                core.handle(Event::Arrived(arrival));
                more = true;
                if intake.waiting() > 0 {
                    // The threads that bring in what others ask share the processors with this one.
                    std::thread::yield_now();
                }
            }
        }
        if core.take_new_workspace() {
            intake.look();
            if let Some(egress) = &mut egress {
                egress.serve(core.egress());
            }
        }
        if more {
            // There may be more than was handed in since we last waited for it.
            intake.wake_loop();
        }
    }
    commands.abort();
    if let Some(egress) = egress.take() {
        drop(egress);
        // What was open ends now, and says so.
        tokio::time::sleep(Duration::from_millis(100)).await;
        while let Ok(event) = queue.try_recv() {
            core.handle(event);
        }
    }
    page.close().await;
    if let Some(scraped) = scraped {
        scraped.abort();
    }
    drop(intake);
    let _ = std::fs::remove_file(&socket);
    core.stops();
    Ok(())
}

/// The model that the configuration names.
fn model(config: &Config) -> Result<Option<std::sync::Arc<dyn Inspector>>, InspectorError> {
    crate::inspector::model(&config.inspector)
}

/// SIGTERM and SIGINT, taken from the moment of the call.
fn terminations() -> [Option<Signal>; 2] {
    [SignalKind::terminate(), SignalKind::interrupt()].map(|kind| signal(kind).ok())
}

async fn until_stopped(stop: Option<oneshot::Receiver<()>>, signals: [Option<Signal>; 2]) {
    let [mut terminate, mut interrupt] = signals;
    let received = async |signal: &mut Option<Signal>| match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    };
    let told = async {
        match stop {
            Some(stop) => {
                let _ = stop.await;
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = received(&mut terminate) => {}
        () = received(&mut interrupt) => {}
        () = told => {}
    }
}

/// Asks the loop, and waits for what it says; `None` where it has ended.
async fn asks(events: mpsc::UnboundedSender<Event>, command: ControlCommand, by: String) -> Option<Reply> {
    let (sender, receiver) = oneshot::channel();
    events.send(Event::Control(command, by, sender)).ok()?;
    Some(receiver.await.unwrap_or_else(|_| Reply::refused("the host is shutting down")))
}
