//! What is recorded, as OpenTelemetry has it. What knows its protocol is another program, `bashgate-fleet`, which reads the host's own record:
//! the host starts it where its configuration names a collector, and waits for nothing.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::config::Telemetry;
use crate::fleet;

/// How long is waited before it is started again.
const AGAIN: Duration = Duration::from_secs(5);

/// Starts it for the host with this state folder, and again whenever it ends. It ends with the host, whose end of the pipe closes then.
pub fn start(settings: &Telemetry, state: &Path) -> io::Result<()> {
    let (settings, state) = (settings.clone(), state.to_owned());
    let run = move || {
        loop {
            let mut command = Command::new(fleet::program());
            command.arg("telemetry").arg("--state").arg(&state).arg("--endpoint").arg(&settings.endpoint);
            if let Some(headers) = &settings.headers {
                command.arg("--headers").arg(headers);
            }
            if settings.commands {
                command.arg("--commands");
            }
            let ended = command
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .and_then(|mut child| {
                    // As long as this end is open it goes on.
                    let kept = child.stdin.take();
                    let ended = child.wait();
                    drop(kept);
                    ended
                })
                .map_or_else(|error| error.to_string(), |status| status.to_string());
            tracing::warn!(ended, "{} sends no telemetry now, and is started again", fleet::PROGRAM);
            std::thread::sleep(AGAIN);
        }
    };
    std::thread::Builder::new().name("telemetry".to_owned()).spawn(run).map(drop)
}
