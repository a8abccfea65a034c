//! A small HTTP server for services that cannot be had here: one thread for each connection, one request on each.

use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST` and its like.
    pub method: String,
    /// With the query.
    pub path: String,
    /// In lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// Read as JSON, or null.
    pub body: Value,
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status with JSON.
    Json(u16, Value),
    /// A status with JSON and headers, each with its line's end.
    With(u16, String, Value),
    /// The connection is closed without a word.
    Closed,
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    is_down: Arc<AtomicBool>,
}

impl Server {
    /// Starts it on a port of its own.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_down = Arc::new(AtomicBool::new(false));
        let (handler, down) = (Arc::new(handler), is_down.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if down.load(Ordering::SeqCst) {
                    continue;
                }
                let (handler, down) = (handler.clone(), down.clone());
                std::thread::spawn(move || {
                    // A client that hangs up early is part of the game.
                    let _ = answer(stream, &*handler, &down);
                });
            }
        });
        Self { address, is_down }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on connections are closed without a word, open ones too, or are answered again.
    pub fn goes_down(&self, down: bool) {
        self.is_down.store(down, Ordering::SeqCst);
    }
}

/// Reads one request; `None` from a client that never said anything.
pub(crate) fn read(reader: &mut impl std::io::BufRead) -> std::io::Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_form = headers.iter().any(|(name, value)| name == "content-type" && value.contains("x-www-form-urlencoded"));
    let body = if is_form { form(&body) } else { serde_json::from_slice(&body).unwrap_or(Value::Null) };
    Ok(Some(Request { method, path, headers, body }))
}

/// The fields of a form, as an object of texts.
fn form(body: &[u8]) -> Value {
    let decoded = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, more)) = rest.split_first() {
            let digits = more.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            bytes.push(byte.unwrap_or(if *first == b'+' { b' ' } else { *first }));
            rest = if byte.is_some() { &more[2..] } else { more };
        }
        String::from_utf8(bytes).unwrap()
    };
    let text = std::str::from_utf8(body).unwrap();
    let fields = text.split('&').filter_map(|field| field.split_once('='));
    fields.map(|(name, value)| (decoded(name), Value::String(decoded(value)))).collect::<serde_json::Map<_, _>>().into()
}

fn answer(mut stream: TcpStream, handler: &dyn Fn(&Request) -> Reply, down: &AtomicBool) -> std::io::Result<()> {
    let Some(request) = read(&mut BufReader::new(stream.try_clone()?))? else { return Ok(()) };
    let (status, extra, body) = match handler(&request) {
        Reply::Json(status, body) => (status, String::new(), body),
        Reply::With(status, extra, body) => (status, extra, body),
        Reply::Closed => return Ok(()),
    };
    if down.load(Ordering::SeqCst) {
        return Ok(());
    }
    respond(&mut stream, status, &extra, &body.to_string())
}

/// Writes a response. `extra` are headers, each with its line's end.
pub(crate) fn respond(stream: &mut TcpStream, status: u16, extra: &str, text: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{extra}content-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )?;
    stream.flush()
}
