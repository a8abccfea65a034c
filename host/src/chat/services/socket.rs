//! A WebSocket to a service, which notices by itself that nobody is at the other end any more.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use rustls_platform_verifier::ConfigVerifierExt as _;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream};

use super::super::channel::Failure;
use super::http::PATIENCE;

/// Largest message, in bytes.
const MOST: usize = 4 << 20;
/// How long nothing may come before the other end is asked whether it is there, and how long it has to answer.
const QUIET: Duration = Duration::from_secs(20);
/// What ends within this time has not lived.
const YOUNG: Duration = Duration::from_secs(10);

/// A connection.
pub(super) struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    service: &'static str,
    since: Instant,
    heard_at: Instant,
    is_asked: bool,
}

/// What came.
pub(super) enum Came {
    /// A message.
    Message(Value),
    /// Nothing, in the time that there was.
    Nothing,
    /// The other end has closed, with a code where it said one.
    Closed(Option<u16>),
}

impl Socket {
    /// Connects. A service that is reached by TLS must name an address with TLS.
    pub(super) async fn connect(service: &'static str, url: &str, needs_tls: bool) -> Result<Self, Failure> {
        let away = |why: &str| Failure::Away(why.replace("{}", service), None);
        if !url.starts_with("wss://") && (needs_tls || !url.starts_with("ws://")) {
            return Err(away("{} names an address that is none"));
        }
        let tls = rustls::ClientConfig::with_platform_verifier()
            .map_err(|error| Failure::Away(format!("no certificates to know {service} by: {error}"), None))?;
        let mut config = WebSocketConfig::default();
        (config.max_message_size, config.max_frame_size) = (Some(MOST), Some(MOST));
        let connecting = tokio_tungstenite::connect_async_tls_with_config(
            url,
            Some(config),
            true,
            Some(Connector::Rustls(Arc::new(tls))),
        );
        // The address holds a ticket: no error is printed.
        let connected =
            tokio::time::timeout(PATIENCE, connecting).await.map_err(|_| away("{} did not answer in time"))?;
        let (stream, _) = connected.map_err(|_| away("cannot connect to the events of {}"))?;
        let now = Instant::now();
        Ok(Self { stream, service, since: now, heard_at: now, is_asked: false })
    }

    /// A connection that ends at once is trouble, so that the next one is not made at once.
    pub(super) fn has_lived(&self) -> Result<(), Failure> {
        if self.since.elapsed() > YOUNG {
            return Ok(());
        }
        Err(Failure::Away(format!("{} has closed the connection at once", self.service), None))
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, message: &Value) -> Result<(), Failure> {
        self.put(Message::text(message.to_string())).await
    }

    async fn put(&mut self, message: Message) -> Result<(), Failure> {
        let broke = || Failure::Away(format!("the connection to {} broke off", self.service), None);
        let sent = tokio::time::timeout(PATIENCE, self.stream.send(message)).await;
        sent.map_err(|_| broke())?.map_err(|_| broke())
    }

    /// Waits for the next message. Being dropped while it waits loses nothing.
    pub(super) async fn next(&mut self, until: Instant) -> Result<Came, Failure> {
        loop {
            let quiet = self.heard_at + if self.is_asked { 2 * QUIET } else { QUIET };
            let Ok(came) = tokio::time::timeout_at(until.min(quiet), self.stream.next()).await else {
                if Instant::now() < quiet {
                    return Ok(Came::Nothing);
                }
                if self.is_asked {
                    return Err(Failure::Away(format!("{} is not at the other end any more", self.service), None));
                }
                self.is_asked = true;
                self.put(Message::Ping(Vec::new().into())).await?;
                continue;
            };
            (self.heard_at, self.is_asked) = (Instant::now(), false);
            match came {
                None | Some(Err(_)) => return Ok(Came::Closed(None)),
                Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                    Ok(message) => return Ok(Came::Message(message)),
                    Err(_) => return Err(Failure::Away(format!("what {} sends is malformed", self.service), None)),
                },
                Some(Ok(Message::Close(frame))) => return Ok(Came::Closed(frame.map(|frame| frame.code.into()))),
                Some(Ok(_)) => {}
            }
        }
    }
}
