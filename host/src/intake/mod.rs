//! The intake: takes requests out of the mailboxes, which are an attacker's folders.
//!
//! A notification is a wake-up, never the truth: every folder is looked through on a timer, at start, and whenever
//! notifications were lost. What lies there is opened by [`folder`]'s rules or not at all.

pub mod folder;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use bashgate_shared::mailbox::{self, Name};
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use notify::{RecursiveMode, Watcher as _};

use folder::{Folder, Taken};

/// Something that came in.
#[derive(Debug)]
pub struct Arrival {
    /// The folder that it came from: the only thing that says who asks.
    pub workspace: WorkspaceName,
    /// The request's name.
    pub id: RequestId,
    /// Its bytes, or why it has none.
    pub taken: Taken,
    /// When it was seen.
    pub at: Instant,
}

/// Most bytes of requests that wait for the loop at once. Beyond it the intake waits, and so do the mailboxes.
const MAX_WAITING: usize = 32 * 1024 * 1024;

/// How many bytes have been read that the loop has not taken yet.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// `None` once the loop has ended and nobody takes anything any more.
    bytes: Arc<(Mutex<Option<usize>>, Condvar)>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { bytes: Arc::new((Mutex::new(Some(0)), Condvar::new())) }
    }
}

impl Waiting {
    fn add(&self, more: usize) {
        let (bytes, changed) = &*self.bytes;
        let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while bytes.is_some_and(|bytes| bytes > MAX_WAITING) {
            bytes = changed.wait(bytes).unwrap_or_else(PoisonError::into_inner);
        }
        *bytes = bytes.map(|bytes| bytes.saturating_add(more));
    }

    /// The loop has taken something of this size.
    pub fn taken(&self, size: usize) {
        let (bytes, changed) = &*self.bytes;
        let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *bytes = bytes.map(|bytes| bytes.saturating_sub(size));
        changed.notify_all();
    }

    fn close(&self) {
        let (bytes, changed) = &*self.bytes;
        *bytes.lock().unwrap_or_else(PoisonError::into_inner) = None;
        changed.notify_all();
    }
}

impl Arrival {
    /// What it weighs while it waits, in bytes.
    pub fn size(&self) -> usize {
        let own = 512;
        if let Taken::Bytes(bytes) = &self.taken { bytes.len() + own } else { own }
    }
}

enum Wake {
    /// This file may have arrived.
    Named(WorkspaceName, String),
    /// This file is gone; its name may come again.
    Gone(WorkspaceName, String),
    /// Anything may have happened.
    Anything,
    Stop,
}

/// The running intake. It ends when this is dropped.
pub struct Intake {
    wake: mpsc::Sender<Wake>,
    waiting: Waiting,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Intake {
    /// Starts to look at the mailboxes below `root`. Every request is given to `deliver` once.
    pub fn start(
        root: &Path,
        rescan: Duration,
        deliver: impl FnMut(Arrival) -> bool + Send + 'static,
    ) -> std::io::Result<Self> {
        let (wake, woken) = mpsc::channel();
        let sender = wake.clone();
        let watched = root.to_owned();
        let handler = move |event: notify::Result<notify::Event>| {
            for message in wakes(&watched, event) {
                // Once the loop is gone there is nobody to wake.
                let _ = sender.send(message);
            }
        };
        let watcher = match notify::recommended_watcher(handler) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(%error, "no file notifications; the mailboxes are only looked through on the timer");
                None
            }
        };
        let waiting = Waiting::default();
        let mut looker =
            Looker { root: root.to_owned(), watcher, boxes: HashMap::new(), deliver, waiting: waiting.clone() };
        let thread = std::thread::Builder::new().name("intake".to_owned()).spawn(move || looker.run(&woken, rescan))?;
        Ok(Self { wake, waiting, thread: Some(thread) })
    }

    /// The count that the loop keeps up to date.
    pub fn waiting(&self) -> Waiting {
        self.waiting.clone()
    }

    /// Looks through everything now: a workspace was added.
    pub fn look(&self) {
        let _ = self.wake.send(Wake::Anything);
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        let _ = self.wake.send(Wake::Stop);
        // The thread may wait for room, and nobody takes anything any more.
        self.waiting.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn wakes(root: &Path, event: notify::Result<notify::Event>) -> Vec<Wake> {
    let Ok(event) = event else { return vec![Wake::Anything] };
    if event.need_rescan() {
        return vec![Wake::Anything];
    }
    if event.kind.is_access() {
        return Vec::new();
    }
    let gone = event.kind.is_remove();
    let named = event.paths.iter().filter_map(|path| {
        let mut parts = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str());
        match (parts.next()?, parts.next()?, parts.next()?) {
            (Some(workspace), Some(mailbox::REQUESTS), Some(file)) if !file.starts_with('.') => {
                let (workspace, file) = (WorkspaceName::parse(workspace)?, file.to_owned());
                Some(if gone { Wake::Gone(workspace, file) } else { Wake::Named(workspace, file) })
            }
            _ => None,
        }
    });
    named.collect()
}

struct Mailbox {
    folder: Folder,
    seen: HashSet<RequestId>,
}

struct Looker<D> {
    root: PathBuf,
    watcher: Option<notify::RecommendedWatcher>,
    boxes: HashMap<WorkspaceName, Mailbox>,
    deliver: D,
    waiting: Waiting,
}

impl<D: FnMut(Arrival) -> bool> Looker<D> {
    fn run(&mut self, woken: &mpsc::Receiver<Wake>, rescan: Duration) {
        self.look_through();
        let mut next = Instant::now() + rescan;
        loop {
            let wait = next.saturating_duration_since(Instant::now());
            match woken.recv_timeout(wait) {
                Ok(Wake::Named(workspace, file)) => self.take(&workspace, &file),
                Ok(Wake::Gone(workspace, file)) => self.forget(&workspace, &file),
                Ok(Wake::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Ok(Wake::Anything) | Err(mpsc::RecvTimeoutError::Timeout) => {
                    self.look_through();
                    next = Instant::now() + rescan;
                }
            }
            if Instant::now() >= next {
                self.look_through();
                next = Instant::now() + rescan;
            }
        }
    }

    /// Every mailbox, every name.
    fn look_through(&mut self) {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(root = %self.root.display(), %error, "cannot look through the mailboxes");
                return;
            }
        };
        for entry in entries.flatten() {
            let Some(workspace) = entry.file_name().to_str().and_then(WorkspaceName::parse) else { continue };
            let Some(names) = self.open(&workspace).and_then(|opened| opened.folder.names()) else {
                self.boxes.remove(&workspace);
                continue;
            };
            if let Some(opened) = self.boxes.get_mut(&workspace) {
                let here: HashSet<&str> = names.iter().map(String::as_str).collect();
                opened.seen.retain(|id| here.contains(mailbox::file_name(id).as_str()));
            }
            for name in &names {
                self.take(&workspace, name);
            }
        }
    }

    fn open(&mut self, workspace: &WorkspaceName) -> Option<&mut Mailbox> {
        let path = self.root.join(workspace.as_str()).join(mailbox::REQUESTS);
        if self.boxes.get(workspace).is_some_and(|known| !known.folder.is_still_at(&path)) {
            self.boxes.remove(workspace);
        }
        if !self.boxes.contains_key(workspace) {
            let folder = Folder::open(&self.root, workspace)?;
            if let Some(watcher) = &mut self.watcher
                && let Err(error) = watcher.watch(&path, RecursiveMode::NonRecursive)
            {
                tracing::warn!(%workspace, %error, "no file notifications for this mailbox; it is looked through on the timer");
            }
            self.boxes.insert(workspace.clone(), Mailbox { folder, seen: HashSet::new() });
        }
        self.boxes.get_mut(workspace)
    }

    fn forget(&mut self, workspace: &WorkspaceName, file: &str) {
        if let (Name::Request(id), Some(opened)) = (mailbox::name(file), self.boxes.get_mut(workspace)) {
            opened.seen.remove(&id);
        }
    }

    fn take(&mut self, workspace: &WorkspaceName, file: &str) {
        let Name::Request(id) = mailbox::name(file) else { return };
        let Some(opened) = self.boxes.get_mut(workspace) else { return };
        if opened.seen.contains(&id) {
            return;
        }
        let taken = opened.folder.take(&id);
        if matches!(taken, Taken::Nothing) {
            return;
        }
        opened.seen.insert(id.clone());
        let arrival = Arrival { workspace: workspace.clone(), id, taken, at: Instant::now() };
        self.waiting.add(arrival.size());
        (self.deliver)(arrival);
    }
}
