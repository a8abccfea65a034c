//! A model server for the inspector: the wire format of the Messages and chat completions APIs, and every way to fail.

use std::io::{BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http;

/// How the server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Flags commands that hold the word `flag`, clears others.
    None,
    /// This HTTP status, with a `retry-after` of this many seconds if there is one.
    Status(u16, Option<u32>),
    /// Nothing comes for this long.
    Slow(Duration),
    /// Not JSON at all.
    Garbage,
    /// A body that never ends.
    Huge,
    /// The model refuses.
    Refusal,
    /// The text ends behind `"flagged": true`.
    Truncated,
    /// This text in place of the reply.
    Text(String),
    /// A redirect to another address.
    Redirect,
    /// The connection is closed without an answer.
    Closed,
    /// This, but only where the command holds this word.
    If(&'static str, Box<Fault>),
}

/// A running server.
pub struct Model {
    address: std::net::SocketAddr,
    fault: Arc<Mutex<Fault>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Default for Model {
    fn default() -> Self {
        Self::start()
    }
}

impl Model {
    /// Starts it on a port of its own.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let fault = Arc::new(Mutex::new(Fault::None));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (mode, log) = (fault.clone(), requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (mode, log) = (mode.clone(), log.clone());
                std::thread::spawn(move || {
                    let fault = mode.lock().unwrap().clone();
                    // A client that hangs up early is part of the game.
                    let _ = answer(stream, &fault, &log);
                });
            }
        });
        Self { address, fault, requests }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The host's configuration that asks it.
    pub fn config(&self, kind: &str, deadline_ms: u64) -> String {
        format!(
            "[inspector]\nkind = \"{kind}\"\nmodel = \"test-model\"\nbase_url = \"{}\"\ndeadline_ms = {deadline_ms}\n",
            self.url()
        )
    }

    /// Answers this way from now on.
    pub fn fail(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, fault: &Fault, log: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    // A client that died, or never said anything.
    let Some(request) = http::read(&mut BufReader::new(stream.try_clone()?))? else { return Ok(()) };
    let body = request.body;
    log.lock().unwrap().push(body.clone());
    let asks = |path: &str| request.method == "POST" && request.path.starts_with(path);
    let chat = asks("/v1/chat/completions");
    assert!(chat || asks("/v1/messages"), "{} {}", request.method, request.path);
    let message = if chat { body["messages"][1]["content"].clone() } else { body["messages"][0]["content"].clone() };
    let flagged = message
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .is_some_and(|brief| brief["command"].as_str().is_some_and(|command| command.contains("flag")));
    let fault = match fault {
        Fault::If(word, fault) if message.as_str().is_some_and(|text| text.contains(word)) => fault,
        Fault::If(..) => &Fault::None,
        fault => fault,
    };
    let verdict = json!({"flagged": flagged, "reason": "the test's model says so"}).to_string();
    let wrap = |text: &str, ended: bool| {
        if chat {
            json!({"usage": {"prompt_tokens": 700, "completion_tokens": 30}, "choices": [{"index": 0, "finish_reason": if ended { "stop" } else { "length" }, "message": {"role": "assistant", "content": text}}]})
        } else {
            json!({"type": "message", "usage": {"input_tokens": 700, "output_tokens": 30}, "role": "assistant", "stop_reason": if ended { "end_turn" } else { "max_tokens" }, "content": [{"type": "text", "text": text}]})
        }
    };
    let (status, extra, text) = match fault {
        Fault::None => (200, String::new(), wrap(&verdict, true).to_string()),
        Fault::Status(status, retry) => {
            let extra = retry.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
            (*status, extra, json!({"type": "error", "error": {"type": "x", "message": "x"}}).to_string())
        }
        Fault::Slow(time) => {
            std::thread::park_timeout(*time);
            (200, String::new(), wrap(&verdict, true).to_string())
        }
        Fault::Garbage => (200, String::new(), "<html>flagged: false</html>".to_owned()),
        Fault::Refusal => (200, String::new(), json!({"stop_reason": "refusal", "content": [], "choices": [{"finish_reason": "content_filter", "message": {"refusal": "no", "content": null}}]}).to_string()),
        Fault::Truncated => (200, String::new(), wrap("{\"flagged\": true", false).to_string()),
        Fault::Text(text) => (200, String::new(), wrap(text, true).to_string()),
        Fault::Redirect => (307, "location: http://169.254.169.254/latest\r\n".to_owned(), String::new()),
        Fault::Closed | Fault::If(..) => return Ok(()),
        Fault::Huge => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"x\":\"")?;
            for _ in 0..4096 {
                stream.write_all(&[b'a'; 4096])?;
            }
            return Ok(());
        }
    };
    http::respond(&mut stream, status, &extra, &text)
}
