//! What `bashgate serve` starts to send telemetry.

use std::path::Path;

use crate::telemetry::{self, Settings};
use bashgate::cli::{Failure, Run};

pub(super) async fn run(state: &Path, endpoint: String, headers: Option<&Path>, commands: bool) -> Run {
    let headers = headers.map(read_headers).transpose()?.unwrap_or_default();
    let settings = Settings { endpoint, headers, commands };
    let state = state.to_owned();
    std::thread::spawn(move || telemetry::send(&state, &settings));
    // The host's end of the pipe is closed when it ends.
    let waits = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let _ = waits.await;
    Ok(())
}

/// Headers from a file that nobody else can read: a key stands there.
fn read_headers(file: &Path) -> Result<Vec<(String, String)>, Failure> {
    let failed = |why: String| {
        Failure::failed(format!("{}: {why}", file.display()), "one header in each line, as NAME: VALUE; mode 600")
    };
    bashgate::state::private(file).map_err(|error| failed(error.to_string()))?;
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = lines.map(|line| {
        let (name, value) = line.split_once(':').ok_or_else(|| failed("a line has no `:`".to_owned()))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    read.collect()
}
