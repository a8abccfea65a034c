//! The server over streamable HTTP: on loopback, for who has the token.
//!
//! A page in a browser, another user and a container on the host's network can all reach a port of loopback. So each request must
//! carry the token, be sent to a name of loopback (a name of somebody else's that leads here is refused), and come from no page.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bashgate_shared::command::Digest;
use bashgate_shared::say_aside;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rustix::fs::OFlags;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::messages::{self, Text};
use super::{Server, Settings};

/// Where the server answers.
const PATH: &str = "/mcp";
/// Most connections at once; more wait. None is kept for a second request.
const CONNECTIONS: usize = 1024;
/// After so long without a word a session ends, and with it what it still runs: longer than any chain of scripts with a person in it.
const QUIET: Duration = Duration::from_hours(12);
/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long its body may take.
const BODY_TIME: Duration = Duration::from_mins(1);
/// Bytes of chance in a new token.
const CHANCE: usize = 32;
/// Shortest and longest token, in characters.
const TOKEN: std::ops::RangeInclusive<usize> = 32..=256;

/// Where it listens, and who may ask.
#[derive(Debug)]
pub struct Door {
    address: SocketAddr,
    token: Digest,
}

impl Door {
    /// A door on loopback. The token stands in a file that only its owner reads; where there is none, it is made.
    pub fn new(address: SocketAddr, token_file: &Path) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(io::Error::other(format!("{address} is no address of loopback, such as 127.0.0.1:8931")));
        }
        Ok(Self { address, token: Digest::of(token(token_file)?.as_bytes()) })
    }

    /// True for a request with the token.
    fn lets_in(&self, request: &Request<Incoming>) -> bool {
        let said = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token =
            said.and_then(|said| said.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        // Two digests are compared, so that the time says nothing about the token.
        token.is_some_and(|(_, token)| Digest::of(token.trim().as_bytes()) == self.token)
    }
}

/// Reads the token, or makes one.
fn token(file: &Path) -> io::Result<String> {
    let wrong = |why: &str| io::Error::other(format!("{} {why}", file.display()));
    let mut chance = [0; CHANCE];
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut new) => {
            getrandom::fill(&mut chance).map_err(io::Error::other)?;
            let token = Digest::of(&chance).hex();
            new.write_all(token.as_bytes())?;
            new.sync_all()?;
            return Ok(token);
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(wrong(&format!("cannot be made: {error}"))),
    }
    let flags = i32::try_from(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits()).unwrap_or(0);
    let open =
        OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(|error| wrong(&error.to_string()))?;
    let meta = open.metadata()?;
    if !meta.is_file() || meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o077 != 0 {
        return Err(wrong("must be a file of your own that nobody else can read: chmod 600"));
    }
    let mut text = String::new();
    open.take(*TOKEN.end() as u64 + 2).read_to_string(&mut text)?;
    let token = text.trim_end_matches(['\n', '\r']);
    if !TOKEN.contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong(&format!(
            "must hold {} to {} letters or digits; remove it, and a new one is made",
            TOKEN.start(),
            TOKEN.end()
        )));
    }
    Ok(token.to_owned())
}

/// Serves until it is ended.
pub(super) async fn serve(settings: Settings, room: Arc<Semaphore>, door: Door) -> io::Result<()> {
    let listener = TcpListener::bind(door.address).await?;
    let address = listener.local_addr()?;
    let port = address.port();
    let named = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
    let hosts = named.into_iter().chain([address.to_string()]);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .enforce_origin_validation()
        .with_max_request_body_bytes(super::MAX_MESSAGE_BYTES);
    let serves = move || Ok(Server::new(settings.clone(), room.clone()));
    // A session is quiet while a person is asked, or a build runs.
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(QUIET);
    let service = Arc::new(StreamableHttpService::new(serves, Arc::new(sessions), config));
    let door = Arc::new(door);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    say_aside!("bashgate-run: MCP at http://{address}{PATH}, for who sends `Authorization: Bearer` and the token");
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else { return Ok(()) };
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptors, say: others may give some back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (service, door) = (service.clone(), door.clone());
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let (service, door) = (service.clone(), door.clone());
                async move {
                    let plain = |status: StatusCode, text: &'static str| {
                        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
                        *response.status_mut() = status;
                        response
                    };
                    let response = if !door.lets_in(&request) {
                        plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n")
                    } else if request.uri().path() != PATH {
                        plain(StatusCode::NOT_FOUND, "the server is at /mcp\n")
                    } else {
                        match whole(request).await {
                            Ok(request) => service.handle(request).await,
                            Err((status, fault)) => {
                                let mut response = plain(status, "");
                                // A notice has no answer.
                                let text = if fault.is_null() { String::new() } else { fault.to_string() };
                                *response.body_mut() = Full::new(Bytes::from(text)).boxed();
                                let kind = header::HeaderValue::from_static("application/json");
                                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                                response
                            }
                        }
                    };
                    Ok::<_, std::convert::Infallible>(response)
                }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).keep_alive(false);
            let _ = http.serve_connection(TokioIo::new(stream), answer).await;
            drop(permit);
        });
    }
}

/// A request with all of its body, which is a message; or how what is none is answered.
async fn whole(request: Request<Incoming>) -> Result<Request<Full<Bytes>>, (StatusCode, Value)> {
    let (head, body) = request.into_parts();
    let too_long = || (StatusCode::PAYLOAD_TOO_LARGE, messages::too_long());
    let limited = Limited::new(body, super::MAX_MESSAGE_BYTES);
    let body = match tokio::time::timeout(BODY_TIME, limited.collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return Err(too_long()),
        Err(_) => return Err((StatusCode::REQUEST_TIMEOUT, messages::too_long())),
    };
    match (head.method == Method::POST).then(|| messages::look_at(&body)) {
        Some(Text::Fault(fault)) => Err((StatusCode::BAD_REQUEST, fault)),
        Some(Text::Nothing) => Err((StatusCode::ACCEPTED, Value::Null)),
        Some(Text::Message) | None => Ok(Request::from_parts(head, Full::new(body))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_door_is_on_loopback_and_its_token_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let here: SocketAddr = "127.0.0.1:0".parse().unwrap();
        for elsewhere in ["0.0.0.0:1", "192.168.0.1:1", "[::]:1"] {
            assert!(Door::new(elsewhere.parse().unwrap(), &file).is_err(), "{elsewhere}");
        }
        let first = Door::new(here, &file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap().len(), 2 * CHANCE);
        assert_eq!(Door::new("[::1]:0".parse().unwrap(), &file).unwrap().token, first.token, "it stays");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Door::new(here, &file).is_err());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        for bad in ["", "short", &"x".repeat(257), "0123456789012345678901234567890\u{e9}"] {
            fs::write(&file, bad).unwrap();
            assert!(Door::new(here, &file).is_err(), "{bad}");
        }
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &file).unwrap();
        assert!(Door::new(here, &file).is_err());
    }
}
