//! The proxy as clients speak to it: HTTP `CONNECT` (RFC 9110, section 9.3.6), requests in absolute form (RFC 9112, section 3.2.2), and
//! SOCKS 5 (RFC 1928) for what speaks neither. One connection has one request.

use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::ext::ReasonPhrase;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use bashgate_shared::mailbox;
use bashgate_shared::protocol::RequestId;
use serde_json::json;

use super::client::Client;
use super::door::{Door, Passage, Refusal, Way};
use super::hosts::Host;
use super::model;
use super::tunnel::{self, Cut, Meter};

/// How long a client may take to say what it wants.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How often is looked whether the process of a run is still there.
const LOOKING: Duration = Duration::from_millis(200);
/// How long a host may take to begin its answer over plain HTTP.
const ANSWERING: Duration = Duration::from_mins(5);
/// How long a client may leave what a model says unread.
const UNREAD: Duration = Duration::from_mins(5);
/// Longest head of a request, in bytes, and most of its fields.
const MAX_HEAD: usize = 64 * 1024;
const MAX_FIELDS: usize = 100;
/// Fields that are about one connection, and never passed on (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The port of plain HTTP, and that of TLS, where nothing else is spoken.
const PLAIN: u16 = 80;
const TLS: u16 = 443;
/// The version byte of SOCKS 5.
const SOCKS: u8 = 5;

pub(super) type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// A connection's place among those of its workspace and of all: it is free again when nothing of it goes on.
pub(super) type Seat = Arc<Seated>;

/// See [`Seat`].
pub(super) struct Seated {
    _permits: (OwnedSemaphorePermit, OwnedSemaphorePermit),
    /// Since when a piece of an answer is there that the client has not read.
    unread: Mutex<Option<Instant>>,
}

impl Seated {
    /// A piece is there for the client, or it has read what was.
    pub(super) fn has_unread(&self, is_there: bool) {
        *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = is_there.then(Instant::now);
    }

    /// Ends when the client has left something unread for so long.
    async fn is_left(&self, most: Duration) {
        loop {
            tokio::time::sleep(most / 10).await;
            let since = *self.unread.lock().unwrap_or_else(PoisonError::into_inner);
            if since.is_some_and(|since| since.elapsed() > most) {
                return;
            }
        }
    }
}

/// Takes connections until it is ended.
pub(super) async fn serve(listener: UnixListener, door: Arc<Door>, seats: Arc<Semaphore>) {
    loop {
        let Ok(own) = door.seats.clone().acquire_owned().await else { return };
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // No descriptors, say: others may give some back.
                tracing::warn!(%error, "a way out fails to take a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let door = door.clone();
        tokio::spawn(async move {
            let seat = Seated { _permits: (own, seat), unread: Mutex::default() };
            connection(Client::new(stream, door.clone()), door, Arc::new(seat)).await;
        });
    }
}

async fn connection(stream: Client, door: Arc<Door>, seat: Seat) {
    let peer = stream.peer();
    let first = async |stream: &Client| tokio::time::timeout(HEAD_TIME, stream.begins()).await.ok().flatten();
    let (door, stream, begins) = match first(&stream).await {
        Some(mailbox::EGRESS_PRESENTS) => return presented(stream, &door, peer).await,
        Some(mailbox::EGRESS_CONNECTS) => {
            let Some((door, stream)) = of_run(stream, &door, peer).await else { return };
            let begins = first(&stream).await;
            (Arc::new(door), stream, begins)
        }
        begins => (door, stream, begins),
    };
    match begins {
        Some(SOCKS) => socks(stream, door, peer).await,
        Some(_) => http(stream, door, peer, seat).await,
        None => {}
    }
}

/// Length of an answer's id, and of a digest in hexadecimal digits.
const ID: usize = 36;
const DIGEST: usize = 64;

/// Exactly so many bytes behind the first one, as text.
async fn said<const N: usize>(stream: &mut Client) -> Option<String> {
    let mut bytes = [0; N];
    let read = async {
        stream.read_u8().await?;
        stream.read_exact(&mut bytes).await
    };
    tokio::time::timeout(HEAD_TIME, read).await.ok()?.ok()?;
    String::from_utf8(bytes.to_vec()).ok()
}

/// A run asks for what goes with an answer. It has it for as long as it keeps the connection.
async fn presented(mut stream: Client, door: &Door, peer: Option<(i32, u32)>) {
    let Some(text) = said::<{ ID + DIGEST }>(&mut stream).await else { return };
    let Some((id, command)) = text.split_at_checked(ID) else { return };
    let given = RequestId::parse(id).ok_or("this is no answer's id");
    let pid = peer.map_or(0, |(pid, _)| pid);
    // Whoever takes over its descriptors is another process.
    let process = process_of(pid);
    let given = given.and_then(|id| {
        let process = process.ok_or(
            "the host cannot tell which process asks; let it run in the first process namespace of its machine",
        )?;
        door.answers.present(&door.workspace, (&id, command), pid).map(|(answer, told)| (answer, told, process))
    });
    let (answer, mut told, process) = match given {
        Ok(given) => given,
        Err(why) => return drop(stream.write_all(format!("{}\n", json!({ "refused": why })).as_bytes()).await),
    };
    let word = json!({"hosts": answer.hosts(), "programs": answer.programs()});
    let mut is_there = stream.write_all(format!("{word}\n").as_bytes()).await.is_ok();
    let mut more = [0; 64];
    while is_there {
        tokio::select! {
            read = stream.read(&mut more) => is_there = read.is_ok_and(|bytes| bytes > 0),
            Some(why) = told.recv() => {
                let line = format!("{}\n", json!({ "refused": why }));
                is_there = tokio::time::timeout(HEAD_TIME, stream.write_all(line.as_bytes())).await.is_ok_and(|sent| sent.is_ok());
            }
            () = end_of(&process) => is_there = false,
            () = answer.ends() => is_there = false,
            () = door.is_shut() => is_there = false,
        }
    }
    answer.end();
}

/// A process itself: its number may be another one's when it has ended.
fn process_of(pid: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// Comes back when a process has ended.
async fn end_of(process: &OwnedFd) {
    let now = rustix::time::Timespec::default();
    let is_there = || poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)) == Ok(0);
    while is_there() {
        tokio::time::sleep(LOOKING).await;
    }
}

/// A connection of a run: the way out as its answer opens it.
async fn of_run(mut stream: Client, door: &Door, peer: Option<(i32, u32)>) -> Option<(Door, Client)> {
    let id = RequestId::parse(&said::<ID>(&mut stream).await?)?;
    let answer = door.answers.of_run(&door.workspace, &id, peer?.0)?;
    Some((door.of_answer(answer), stream))
}

async fn http(stream: Client, door: Arc<Door>, peer: Option<(i32, u32)>, seat: Seat) {
    let (ends, sits) = (door.clone(), seat.clone());
    let answer = service_fn(move |request: Request<Incoming>| {
        let (door, seat) = (door.clone(), seat.clone());
        async move {
            let answered = if request.method() == Method::CONNECT {
                connect(request, door, peer, seat).await
            } else if request.uri().authority().is_none() && model::is_one(request.uri().path()) {
                model::answer(request, door, peer, seat).await
            } else {
                forward(request, door, peer, seat).await
            };
            Ok::<_, Infallible>(answered)
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).keep_alive(false);
    http.max_buf_size(MAX_HEAD).max_headers(MAX_FIELDS);
    // What it has begun goes on by itself, and notes how it ends.
    tokio::select! {
        _ = http.serve_connection(TokioIo::new(stream), answer).with_upgrades() => {}
        () = ends.is_shut() => {}
        () = sits.is_left(UNREAD) => {}
    }
}

/// A body that is there at once.
pub(super) fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed_unsync()
}

/// An answer of our own. The words stand in the reason phrase, too: that is what most clients show.
pub(super) fn refused(status: StatusCode, why: &str) -> Response<Body> {
    let text = format!("bashgate: {why}\n");
    let phrase: String =
        text.trim_end().chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    let mut response = Response::new(whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert("x-bashgate", HeaderValue::from_static("refused"));
    if let Ok(phrase) = ReasonPhrase::try_from(phrase.into_bytes()) {
        response.extensions_mut().insert(phrase);
    }
    response
}

const fn status_of(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::NoHost(_) => StatusCode::BAD_REQUEST,
        Refusal::NotListed { .. }
        | Refusal::NotOfAnswer { .. }
        | Refusal::PlainTunnel
        | Refusal::Private(..)
        | Refusal::TooManyNames(_)
        | Refusal::BudgetOfAnswer(_)
        | Refusal::Budget(..) => StatusCode::FORBIDDEN,
        Refusal::Unresolved(_) | Refusal::Unreached(..) => StatusCode::BAD_GATEWAY,
    }
}

/// Looks whether a host may be reached, and reaches it; what comes of that is noted.
async fn reached(
    passage: &mut Passage,
    (written, port): (&str, u16),
    is_tunnel: bool,
) -> Result<(Host, TcpStream), Refusal> {
    let door = passage.door.clone();
    let reaches = async {
        if is_tunnel && port == PLAIN {
            return Err(Refusal::PlainTunnel);
        }
        let host = door.host(written, port)?;
        let (stream, address) = door.connect(&host, port).await?;
        Ok((host, stream, address))
    };
    match reaches.await {
        Ok((host, stream, address)) => {
            passage.goes_to(&host, address);
            Ok((host, stream))
        }
        Err(refusal) => {
            passage.because(&refusal);
            Err(refusal)
        }
    }
}

async fn connect(request: Request<Incoming>, door: Arc<Door>, peer: Option<(i32, u32)>, seat: Seat) -> Response<Body> {
    let Some((written, port)) = request.uri().authority().and_then(|to| Some((to.host().to_owned(), to.port_u16()?)))
    else {
        return refused(StatusCode::BAD_REQUEST, "CONNECT needs HOST:PORT");
    };
    if request.uri().authority().is_some_and(|to| to.as_str().contains('@')) {
        return refused(StatusCode::BAD_REQUEST, "CONNECT names a host and no user");
    }
    let mut passage = Passage::new(door.clone(), &written, port, peer);
    let (host, server) = match reached(&mut passage, (&written, port), true).await {
        Ok(reached) => reached,
        Err(refusal) => return refused(status_of(&refusal), &refusal.to_string()),
    };
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else {
            return passage.because("the client went away");
        };
        let Ok(parts) = upgraded.downcast::<TokioIo<Client>>() else {
            return passage.because("the client's connection is none of ours");
        };
        carry(&mut passage, parts.io.into_inner(), server, (&host, port), parts.read_buf.to_vec()).await;
        drop(seat);
    });
    Response::new(whole(Bytes::new()))
}

/// Lets bytes through to the end, and notes what went.
async fn carry(passage: &mut Passage, client: Client, server: TcpStream, to: (&Host, u16), begun: Vec<u8>) {
    let meter = Meter::default();
    let door = passage.door.clone();
    if let Err(cut) = tunnel::through(&door, client, server, to, begun, &meter).await {
        passage.because(cut);
    }
    passage.went(meter.so_far());
}

/// A request over plain HTTP is made anew: to the host of its address, whatever its `Host` says, and one on a connection.
async fn forward(request: Request<Incoming>, door: Arc<Door>, peer: Option<(i32, u32)>, seat: Seat) -> Response<Body> {
    let uri = request.uri().clone();
    let Some(authority) = uri.authority().filter(|_| uri.scheme_str() == Some("http")) else {
        return refused(StatusCode::BAD_REQUEST, "this is a proxy: it takes CONNECT, and http:// addresses");
    };
    if authority.as_str().contains('@') {
        return refused(StatusCode::BAD_REQUEST, "an address names a host and no user");
    }
    if authority.as_str().len() > authority.host().len() && authority.port_u16().is_none() {
        return refused(StatusCode::BAD_REQUEST, "the port is none");
    }
    let (written, port) = (authority.host().to_owned(), authority.port_u16().unwrap_or(PLAIN));
    if port == TLS {
        return refused(StatusCode::BAD_REQUEST, "port 443 is for TLS: it is reached through CONNECT");
    }
    let mut passage = Passage::new(door.clone(), &written, port, peer);
    let (host, server) = match reached(&mut passage, (&written, port), false).await {
        Ok(reached) => reached,
        Err(refusal) => return refused(status_of(&refusal), &refusal.to_string()),
    };
    let request = match made_anew(request, &uri, &host, port) {
        Ok(request) => request,
        Err(why) => {
            passage.because(why);
            return refused(StatusCode::BAD_REQUEST, why);
        }
    };
    let meter = Arc::new(Meter::default());
    let counted = Counted { stream: server, door: door.clone(), meter: meter.clone() };
    let asked = async {
        let mut http = hyper::client::conn::http1::Builder::new();
        http.max_buf_size(MAX_HEAD);
        let (mut sender, connection) = http.handshake(TokioIo::new(counted)).await?;
        let ends = door.clone();
        // It ends, and with it what is known of it, when the answer is read or the client is gone.
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = connection => ended.map_err(|error| cause(&error)),
                cut = meter.falls_silent() => Err(cut.to_string()),
                () = ends.is_shut() => Err(Cut::Shut.to_string()),
            };
            // To whoever reads the answer a cut is no more than its end.
            if let Some(budget) = meter.met() {
                passage.because(budget);
            } else if let Err(why) = ended {
                passage.because(why);
            }
            passage.went(meter.so_far());
            drop(seat);
        });
        sender.send_request(request).await
    };
    match tokio::time::timeout(ANSWERING, asked).await {
        Ok(Ok(response)) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
            refused(StatusCode::BAD_GATEWAY, "the host wants to speak another protocol")
        }
        Ok(Ok(response)) => {
            let (mut head, body) = response.into_parts();
            only_end_to_end(&mut head.headers);
            head.version = Version::HTTP_11;
            Response::from_parts(head, body.map_err(Into::into).boxed_unsync())
        }
        Ok(Err(error)) => refused(StatusCode::BAD_GATEWAY, &format!("{host} gives no answer: {}", cause(&error))),
        Err(_) => refused(StatusCode::GATEWAY_TIMEOUT, &format!("{host} gives no answer in time")),
    }
}

/// The innermost reason of an error, which names what happened.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

fn made_anew(request: Request<Incoming>, uri: &Uri, host: &Host, port: u16) -> Result<Request<Incoming>, &'static str> {
    let (mut head, body) = request.into_parts();
    only_end_to_end(&mut head.headers);
    let named = if port == PLAIN { host.to_string() } else { format!("{host}:{port}") };
    head.headers.insert(header::HOST, HeaderValue::from_str(&named).map_err(|_| "the host's name is no field")?);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse().map_err(|_| "the path is none")?;
    head.version = Version::HTTP_11;
    Ok(Request::from_parts(head, body))
}

/// Takes off what is about one connection, and what it names.
fn only_end_to_end(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// A connection whose bytes are counted, and which fails where there is no budget for them.
struct Counted {
    stream: TcpStream,
    door: Arc<Door>,
    meter: Arc<Meter>,
}

impl Counted {
    fn count(&self, way: Way, bytes: usize) -> io::Result<()> {
        self.meter.count(&self.door, way, bytes).map_err(io::Error::other)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = read {
            let count = buffer.filled().len() - before;
            self.count(Way::Down, count)?;
        }
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // Nothing is written for which there is no budget.
        let may = self.door.take(Way::Up, bytes.len());
        if may == 0 && !bytes.is_empty() {
            return Poll::Ready(self.count(Way::Up, 1).map(|()| 0));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes.get(..may).unwrap_or_default());
        let count = if let Poll::Ready(Ok(count)) = written { count } else { 0 };
        self.door.give_back(Way::Up, may.saturating_sub(count));
        self.meter.went(Way::Up, count);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// SOCKS 5 without a password, and nothing of it but to connect: neither to listen nor to send datagrams.
async fn socks(mut stream: Client, door: Arc<Door>, peer: Option<(i32, u32)>) {
    let Ok(Some((written, port))) = tokio::time::timeout(HEAD_TIME, asked_by_socks(&mut stream)).await else { return };
    let mut passage = Passage::new(door.clone(), &written, port, peer);
    match reached(&mut passage, (&written, port), true).await {
        Ok((host, server)) => {
            if stream.write_all(&answer_of_socks(0)).await.is_ok() {
                carry(&mut passage, stream, server, (&host, port), Vec::new()).await;
            }
        }
        Err(refusal) => {
            let code = match &refusal {
                Refusal::Unresolved(_) => 4,
                Refusal::Unreached(..) => 5,
                Refusal::NoHost(_)
                | Refusal::NotListed { .. }
                | Refusal::NotOfAnswer { .. }
                | Refusal::BudgetOfAnswer(_)
                | Refusal::PlainTunnel
                | Refusal::Private(..)
                | Refusal::TooManyNames(_)
                | Refusal::Budget(..) => 2,
            };
            let _ = stream.write_all(&answer_of_socks(code)).await;
        }
    }
}

/// A reply with this code, and no address.
const fn answer_of_socks(code: u8) -> [u8; 10] {
    [SOCKS, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// The host and the port that a client asks for; what is wrong is answered here.
async fn asked_by_socks(stream: &mut Client) -> Option<(String, u16)> {
    let (mut head, mut methods) = ([0; 2], [0; 255]);
    stream.read_exact(&mut head).await.ok()?;
    let methods = methods.get_mut(..usize::from(head[1]))?;
    stream.read_exact(methods).await.ok()?;
    if !methods.contains(&0) {
        stream.write_all(&[SOCKS, 0xff]).await.ok()?;
        return None;
    }
    stream.write_all(&[SOCKS, 0]).await.ok()?;
    let mut request = [0; 4];
    stream.read_exact(&mut request).await.ok()?;
    let [version, command, _, kind] = request;
    if version != SOCKS || command != 1 {
        stream.write_all(&answer_of_socks(7)).await.ok()?;
        return None;
    }
    let host = match kind {
        1 => {
            let mut address = [0; 4];
            stream.read_exact(&mut address).await.ok()?;
            std::net::Ipv4Addr::from(address).to_string()
        }
        4 => {
            let mut address = [0; 16];
            stream.read_exact(&mut address).await.ok()?;
            format!("[{}]", std::net::Ipv6Addr::from(address))
        }
        3 => {
            let length = usize::from(stream.read_u8().await.ok()?);
            let mut name = vec![0; length];
            stream.read_exact(&mut name).await.ok()?;
            String::from_utf8_lossy(&name).into_owned()
        }
        _ => {
            stream.write_all(&answer_of_socks(8)).await.ok()?;
            return None;
        }
    };
    Some((host, stream.read_u16().await.ok()?))
}
