//! A WebSocket server for services that send events over one: each connection says what it says, and can be cut.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::CloseFrame;
use tungstenite::{Error, Message, WebSocket};

/// What goes to a client.
pub(super) enum Out {
    Say(Value),
    /// A frame that closes, with a code.
    Close(u16),
    /// The connection is gone without a word.
    Cut,
    /// From now on nothing is read or written, and the connection stays.
    Deaf,
}

/// One connection: what is said there.
pub(super) type To = Sender<Out>;

/// What becomes of connections.
pub(super) trait Script: Send + Sync + 'static {
    /// A client has connected, to a path.
    fn connected(&self, number: usize, path: &str, to: &To);
    /// It says something.
    fn heard(&self, number: usize, message: &Value, to: &To);
    /// It is gone.
    fn left(&self, number: usize);
}

/// A running server.
pub(super) struct Events {
    address: SocketAddr,
    is_down: Arc<AtomicBool>,
}

impl Events {
    /// Starts it on a port of its own.
    pub(super) fn start(script: Arc<impl Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_down = Arc::new(AtomicBool::new(false));
        let down = is_down.clone();
        let numbers = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if down.load(Ordering::SeqCst) {
                    continue;
                }
                let (script, down, numbers) = (script.clone(), down.clone(), numbers.clone());
                std::thread::spawn(move || serve(stream, &*script, &down, numbers.fetch_add(1, Ordering::SeqCst)));
            }
        });
        Self { address, is_down }
    }

    pub(super) fn url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// From now on connections are cut, open ones too, or are taken again.
    pub(super) fn goes_down(&self, down: bool) {
        self.is_down.store(down, Ordering::SeqCst);
    }
}

fn serve(stream: TcpStream, script: &impl Script, down: &AtomicBool, number: usize) {
    let path = Mutex::new(String::new());
    #[expect(clippy::result_large_err, reason = "the library's own type")]
    let note = |request: &Request, response: Response| {
        *path.lock().unwrap() = request.uri().to_string();
        Ok(response)
    };
    // A client that hangs up early is part of the game.
    let Ok(mut socket) = tungstenite::accept_hdr(stream, note) else { return };
    socket.get_ref().set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let (to, out) = channel();
    script.connected(number, &path.lock().unwrap(), &to);
    while !down.load(Ordering::SeqCst) && step(&mut socket, script, number, &to, &out) {}
    script.left(number);
}

/// Writes what there is to be written and reads a little. False when it is over.
fn step(socket: &mut WebSocket<TcpStream>, script: &impl Script, number: usize, to: &To, out: &Receiver<Out>) -> bool {
    loop {
        match out.try_recv() {
            Ok(Out::Say(value)) if socket.send(Message::text(value.to_string())).is_ok() => {}
            Ok(Out::Close(code)) => {
                let _ = socket.close(Some(CloseFrame { code: code.into(), reason: "".into() }));
                let _ = socket.flush();
                // It is given time to be read.
                bashgate_tests::pause(Duration::from_millis(100));
                return false;
            }
            Ok(Out::Deaf) => loop {
                match out.recv() {
                    Ok(Out::Cut) | Err(_) => return false,
                    Ok(_) => {}
                }
            },
            Ok(Out::Say(_) | Out::Cut) | Err(TryRecvError::Disconnected) => return false,
            Err(TryRecvError::Empty) => break,
        }
    }
    match socket.read() {
        Ok(Message::Text(text)) => {
            script.heard(number, &serde_json::from_str(&text).unwrap(), to);
            true
        }
        Ok(Message::Close(_)) => false,
        Ok(_) => true,
        Err(Error::Io(error)) => {
            matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        }
        Err(_) => false,
    }
}
