//! The web page: what is held, live; who decided what; and what the record says. On loopback, for whoever the host's own user
//! lets in by a link that works once. A desk of a fleet serves the same page of what all hosts hold; it has no record.
//!
//! Everybody else on the machine is a stranger here, other users and containers on the host's network included: nothing but the
//! page's own empty files is served without a session (`door.rs`), no other site can ask in a person's name, and nothing that a
//! command says is ever markup.

mod api;
mod door;
mod files;
mod history;
mod live;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bashgate_shared::programs::own::OwnPrograms;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;

use crate::chat::Board;
use crate::control::{self, ControlCommand, Reply};

use door::Door;

/// Most questions about the record at once; more wait.
const READERS: usize = 2;

/// What comes of a question; `None` where whoever was asked has ended.
pub type Told = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// Asks what the page is of, in the name of a user of this machine.
pub type Asks = Box<dyn Fn(ControlCommand, String) -> Told + Send + Sync>;

/// What a page is of.
pub enum Of {
    /// A host.
    Host {
        /// Its state folder.
        state: PathBuf,
        /// The operator's own programs.
        programs: Option<&'static OwnPrograms>,
    },
    /// A desk of a fleet, which has neither records nor rules.
    Desk {
        /// Its name.
        name: String,
        /// It reaches its fleet.
        reaches: Arc<AtomicBool>,
    },
}

/// What the page shows, and to whom.
pub struct Page {
    door: Door,
    board: Board,
    asks: Asks,
    of: Of,
    readers: Semaphore,
}

/// The page of a host or a desk. It is served from the first link on, or from the start where the configuration names an address.
pub struct Served {
    page: Arc<Page>,
    address: Mutex<Option<(SocketAddr, JoinHandle<()>)>>,
}

impl Served {
    /// A page that nobody can reach yet.
    pub fn new(board: Board, asks: Asks, of: Of) -> Self {
        let page = Page { door: Door::default(), board, asks, of, readers: Semaphore::new(READERS) };
        Self { page: Arc::new(page), address: Mutex::default() }
    }

    /// Serves it from now on, at an address of the configuration or at a port of its own.
    pub async fn open(&self, wanted: Option<SocketAddr>) -> std::io::Result<SocketAddr> {
        let mut address = self.address.lock().await;
        if let Some((address, _)) = &*address {
            return Ok(*address);
        }
        let listener = match wanted {
            Some(address) => TcpListener::bind(address).await?,
            // Another address each time: nobody has served anything there before, or been given a cookie.
            None => match TcpListener::bind(SocketAddr::from((own_address(), 0))).await {
                Ok(listener) => listener,
                // Not every system has more than one.
                Err(_) => TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?,
            },
        };
        let at = listener.local_addr()?;
        *address = Some((at, tokio::spawn(server::serve(listener, at, self.page.clone()))));
        Ok(at)
    }

    /// A link that lets one browser in, once, as this user.
    pub async fn link(&self, by: &str) -> Reply {
        let address = match self.open(None).await {
            Ok(address) => address,
            Err(error) => return Reply::refused(format!("the page cannot be served: {error}")),
        };
        match self.page.door.link(by) {
            // Behind `#` it stands in no log and no request; the page itself hands it in.
            Ok(token) => {
                let url = format!("http://{address}/#{token}");
                Reply::done(url.clone(), serde_json::json!({"url": url, "minutes": door::LINK_MINUTES}))
            }
            Err(why) => Reply::refused(why),
        }
    }

    /// Ends all sessions.
    pub fn lock(&self) -> Reply {
        let ended = self.page.door.lock();
        Reply::done(format!("{ended} sessions of the page have ended."), serde_json::json!({"ended": ended}))
    }

    /// Answers on a control socket for as long as it runs: what is about the page here, all else by what this asks.
    pub async fn answers(self: Arc<Self>, listener: UnixListener, asks: Asks) {
        let asks = Arc::new(asks);
        let answers = move |command, by: String| {
            let (page, asks) = (self.clone(), asks.clone());
            async move {
                match command {
                    ControlCommand::PageLink => Some(page.link(&by).await),
                    ControlCommand::PageLock => Some(page.lock()),
                    command => asks(command, by).await,
                }
            }
        };
        control::serve(listener, answers).await;
    }

    /// Serves it no longer.
    pub async fn close(&self) {
        if let Some((_, task)) = self.address.lock().await.take() {
            task.abort();
        }
    }
}

/// A loopback address that hardly anything else has.
fn own_address() -> [u8; 4] {
    let mut bytes = [0; 3];
    // Without randomness no link can be made, either.
    let _ = getrandom::fill(&mut bytes);
    let [a, b, c] = bytes;
    [127, a.max(1), b, c.clamp(1, 254)]
}
