//! The terminal of a desk: who runs it sees there what all hosts hold, and answers as `desk:USER`, where hosts hear that.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use bashgate::control::{self, ControlCommand, Reply};
use bashgate::state;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};

/// As what service the desk's own terminal stands in an account.
pub(super) const SERVICE: &str = "desk";
/// How long a command may take to come in.
const COMES_IN: Duration = Duration::from_secs(10);

/// What somebody has asked.
pub(super) struct Asked {
    pub(super) command: ControlCommand,
    /// The user of this machine.
    pub(super) by: String,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// Opens the socket of a desk's folder. Where another desk runs there, that one keeps it.
pub(super) fn open(folder: &Path) -> Result<UnixListener, String> {
    let socket = state::socket(folder);
    if std::os::unix::net::UnixStream::connect(&socket).is_ok() {
        return Err("a desk runs in this folder already".to_owned());
    }
    let _ = std::fs::remove_file(&socket);
    let failed = |error: std::io::Error| format!("{}: {error}", socket.display());
    let listener = UnixListener::bind(&socket).map_err(failed)?;
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Takes what is asked there, until nobody wants it any more.
pub(super) async fn serve(listener: UnixListener, asks: mpsc::UnboundedSender<Asked>) {
    while !asks.is_closed() {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(answer(stream, asks.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "the desk's terminal fails");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn answer(stream: UnixStream, asks: mpsc::UnboundedSender<Asked>) {
    let by = stream.peer_cred().map_or_else(|_| "unknown".to_owned(), |peer| control::user_name(peer.uid()));
    let (reading, mut writing) = stream.into_split();
    let mut line = String::new();
    let mut reader = BufReader::new(reading.take(control::MAX_LINE as u64));
    if !matches!(tokio::time::timeout(COMES_IN, reader.read_line(&mut line)).await, Ok(Ok(_))) {
        return;
    }
    let reply = match serde_json::from_str(&line) {
        Err(error) => Reply::refused(format!("the command is not understood: {error}")),
        Ok(command) => {
            let (reply, told) = oneshot::channel();
            if asks.send(Asked { command, by, reply }).is_err() {
                return;
            }
            told.await.unwrap_or_else(|_| Reply::refused("the desk does not reach its fleet now"))
        }
    };
    if let Ok(mut text) = serde_json::to_string(&reply) {
        text.push('\n');
        let _ = writing.write_all(text.as_bytes()).await;
    }
}
