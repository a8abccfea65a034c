//! The only way out of a container that has no network: one unix socket for each workspace, through which connections go to the hosts
//! of its list ([`hosts`]) and to nowhere else.
//!
//! Names are resolved here, never inside, and each connection goes to the very address that was looked at ([`addresses`]): a name that
//! means another one a moment later gains nothing. What TLS asks for must be the host that was allowed ([`hello`]). Every connection is
//! on record with what went through it. What this does not do: look into TLS. Whoever may reach a host may tell it anything.

pub mod addresses;
pub mod answers;
mod client;
mod door;
pub mod hello;
pub mod hosts;
pub mod model;
mod server;
mod tunnel;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bashgate_shared::mailbox::EGRESS_SOCKET;
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use crate::daemon::Event;
use addresses::Network;
use answers::Answers;
use door::Door;
use hosts::Entry;
use model::Model;

/// Most connections of all workspaces.
const MAX_SEATS: usize = 8192;

/// What the configuration says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The folder that holds a folder for each workspace. It is mounted, not the socket: behind a restart another socket lies there.
    pub folder: PathBuf,
    /// Hosts of all workspaces.
    pub hosts: Vec<Entry>,
    /// Private addresses that may be reached.
    pub private: Vec<Network>,
    /// Most bytes that a workspace may send in an hour.
    pub up_bytes_per_hour: u64,
    /// Most bytes that it may receive in an hour.
    pub down_bytes_per_hour: u64,
    /// Models that the host asks for whoever is inside, with the operator's keys.
    pub models: Vec<Model>,
}

impl Settings {
    /// True where the host itself asks the service at one of these hosts.
    pub fn asks_for(&self, hosts: &[&str]) -> bool {
        let is_at = |model: &Model| hosts.iter().any(|host| model.api.base_url.strip_prefix("https://") == Some(host));
        self.models.iter().any(is_at)
    }
}

/// A connection that is over, or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Whose it was.
    pub workspace: WorkspaceName,
    /// The host that was asked for, as it was understood; as it was written, where it was not.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Where it went.
    pub address: Option<SocketAddr>,
    /// Bytes to the host, and from it.
    pub bytes: [u64; 2],
    /// How long it lasted.
    pub took: Duration,
    /// Why it was refused or cut, if it was.
    pub why: Option<String>,
    /// It goes on record; of what is beyond a minute's share only the number does.
    pub is_recorded: bool,
    /// The answer that it went by.
    pub answer: Option<RequestId>,
    /// The process that asked, as the kernel says at its end of the socket: its id and its user's.
    pub peer: Option<(i32, u32)>,
}

/// The proxies of all workspaces. They end, with all of their connections, when this is dropped.
pub struct Egress {
    settings: Arc<Settings>,
    events: mpsc::UnboundedSender<Event>,
    open: BTreeMap<WorkspaceName, (Arc<Door>, JoinHandle<()>)>,
    /// Connections of all workspaces, and how many of them one may have.
    seats: Arc<Semaphore>,
    own_seats: usize,
    answers: Answers,
    /// Asks models.
    client: reqwest::Client,
}

impl Egress {
    /// None is open yet.
    pub fn new(settings: Settings, events: mpsc::UnboundedSender<Event>, answers: Answers) -> io::Result<Self> {
        match std::fs::DirBuilder::new().mode(0o755).create(&settings.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // Each takes two descriptors; the rest is for mailboxes, channels and the store.
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1 << 16);
        let most = usize::try_from(most / 4).unwrap_or(MAX_SEATS).min(MAX_SEATS);
        let seats = Arc::new(Semaphore::new(most));
        let client = crate::outgoing::client_apart().map_err(io::Error::other)?;
        Ok(Self {
            settings: Arc::new(settings),
            events,
            open: BTreeMap::new(),
            seats,
            own_seats: most / 4,
            answers,
            client,
        })
    }

    /// Opens one for each of these workspaces, which have these hosts besides those of all, and ends the others.
    pub fn serve<'w>(&mut self, workspaces: impl Iterator<Item = (&'w WorkspaceName, &'w [Entry])>) {
        let mut left: BTreeSet<WorkspaceName> = self.open.keys().cloned().collect();
        for (name, hosts) in workspaces {
            left.remove(name);
            if self.open.contains_key(name) {
                continue;
            }
            match listen(&self.settings.folder.join(name.as_str())) {
                Ok(listener) => {
                    let hosts = self.settings.hosts.iter().chain(hosts).cloned().collect();
                    let shared = (self.events.clone(), self.answers.clone(), self.client.clone());
                    let door =
                        Arc::new(Door::new(name.clone(), hosts, (self.settings.clone(), self.own_seats), shared));
                    let task = tokio::spawn(server::serve(listener, door.clone(), self.seats.clone()));
                    self.open.insert(name.clone(), (door, task));
                }
                Err(error) => tracing::error!(workspace = %name, %error, "its way out cannot be opened; it has none"),
            }
        }
        for name in left {
            if let Some((door, task)) = self.open.remove(&name) {
                door.shut();
                task.abort();
            }
            let _ = std::fs::remove_file(self.settings.folder.join(name.as_str()).join(EGRESS_SOCKET));
        }
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        for (name, (door, task)) in &self.open {
            door.shut();
            task.abort();
            let _ = std::fs::remove_file(self.settings.folder.join(name.as_str()).join(EGRESS_SOCKET));
        }
    }
}

/// A socket in a folder of its own, which any user of the container that has it mounted may use.
fn listen(folder: &Path) -> io::Result<UnixListener> {
    match std::fs::DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !std::fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other(format!("{} is no folder", folder.display())));
    }
    // Made beside the folder, where no container writes, and put into it when it is as it has to be: what lies there is a dead one, since
    // we hold the state folder's lock.
    let made = folder.with_file_name(format!(".{}", folder.file_name().unwrap_or_default().to_string_lossy()));
    match std::fs::remove_file(&made) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&made)?;
    client::takes_none(&listener);
    std::fs::set_permissions(&made, Permissions::from_mode(0o666))?;
    std::fs::rename(&made, folder.join(EGRESS_SOCKET))?;
    Ok(listener)
}
