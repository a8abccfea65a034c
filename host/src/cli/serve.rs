//! `bashgate serve`.

use std::io::IsTerminal as _;

use super::{Failure, Run};
use crate::config::Config;
use crate::daemon::{Serve, serve};
use bashgate_shared::say_aside;
use tracing_appender::non_blocking::WorkerGuard;

/// Most lines of the log that wait to be written.
const MOST_LINES: usize = 10_000;

pub(super) fn run(config: Config) -> Run {
    let _writes_the_log = log(&config.log);
    let runtime = runtime()?;
    let ready = Box::new(|config: &Config| {
        say_aside!(
            "bashgate is ready: mailboxes in {}, state in {}",
            config.mailboxes.display(),
            config.state.display()
        );
        if !config.policy.enforce {
            say_aside!(
                "warning: shadow mode (`enforce = false` in {}): denials are recorded and LET THROUGH; nothing is protected",
                config.file.display()
            );
        }
    });
    let result = runtime.block_on(serve(Serve { config, show_decisions: false, ready, stop: None }));
    // Tasks that wait for a model are not waited for.
    runtime.shutdown_background();
    result.map_err(|error| Failure::of(&error, error.help()))
}

/// Structured logs on standard error, until the guard is dropped. `RUST_LOG` refines the configured level.
///
/// They are written beside the loop: one who does not read them holds up no decision. What does not find room meanwhile is lost;
/// the audit has it.
pub fn log(level: &str) -> WorkerGuard {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level));
    let colour = std::io::stderr().is_terminal();
    let room = tracing_appender::non_blocking::NonBlockingBuilder::default().buffered_lines_limit(MOST_LINES);
    let (writer, guard) = room.thread_name("log").finish(std::io::stderr());
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colour).with_writer(writer).try_init();
    guard
}

pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(error, "check the limits on threads and files"))
}
