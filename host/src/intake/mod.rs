//! The intake: takes requests out of the mailboxes, which are an attacker's folders.
//!
//! A notification is a wake-up, never the truth: every folder is looked through on a timer, at start, and whenever
//! notifications were lost. What lies there is opened by [`folder`]'s rules or not at all.

pub mod files;
pub mod folder;
pub mod probe;
mod queue;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bashgate_shared::mailbox::{self, Name};
use bashgate_shared::protocol::{RequestId, WorkspaceName};
use notify::{RecursiveMode, Watcher as _};

use folder::{Folder, Names, Taken};
use queue::Queue;

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
    /// There is room again for more of this workspace.
    Room(WorkspaceName),
    /// Anything may have happened.
    Anything,
    Stop,
}

/// Most wake-ups that wait. Beyond it everything is looked through instead.
const MAX_WAKES: usize = 16 * 1024;

/// Wakes the intake's thread without ever waiting for it.
#[derive(Clone)]
struct Waker {
    sender: mpsc::SyncSender<Wake>,
    /// A wake-up was lost.
    lost: Arc<AtomicBool>,
}

impl Waker {
    fn wake(&self, wake: Wake) {
        // Once the thread is gone there is nobody to wake.
        if let Err(mpsc::TrySendError::Full(_)) = self.sender.try_send(wake) {
            self.lost.store(true, Ordering::Release);
        }
    }
}

/// The running intake. It ends when this is dropped.
pub struct Intake {
    waker: Waker,
    queue: Arc<Queue>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Intake {
    /// Starts to look at the mailboxes below `root`, whenever something is notified there and on a timer. Every request is
    /// handed out once by [`Intake::next`].
    pub fn start(root: &Path, pace: Pace) -> std::io::Result<Self> {
        let notified = pace.notifications && is_notified(root, pace)?;
        let rescan = if notified { pace.rescan } else { pace.poll };
        let (sender, woken) = mpsc::sync_channel(MAX_WAKES);
        let waker = Waker { sender, lost: Arc::default() };
        let (watched, by_file) = (root.to_owned(), waker.clone());
        let handler = move |event: notify::Result<notify::Event>| {
            for message in wakes(&watched, event) {
                by_file.wake(message);
            }
        };
        let watcher = match notify::recommended_watcher(handler) {
            Ok(watcher) => notified.then_some(watcher),
            Err(error) => {
                tracing::warn!(%error, "no file notifications; the mailboxes are only looked through on the timer");
                None
            }
        };
        let (queue, stop) = (Arc::new(Queue::default()), Arc::new(AtomicBool::new(false)));
        let mut looker = Looker {
            root: root.to_owned(),
            watcher,
            boxes: HashMap::new(),
            queue: queue.clone(),
            lost: waker.lost.clone(),
            stop: stop.clone(),
            most: files::raise_limit(),
            told: None,
        };
        let thread = std::thread::Builder::new().name("intake".to_owned()).spawn(move || looker.run(&woken, rescan))?;
        Ok(Self { waker, queue, stop, thread: Some(thread) })
    }

    /// The next request, each workspace in its turn.
    pub fn next(&self) -> Option<Arrival> {
        let (arrival, called) = self.queue.next()?;
        for workspace in called {
            self.waker.wake(Wake::Room(workspace));
        }
        Some(arrival)
    }

    /// Waits until there may be a request.
    pub async fn arrived(&self) {
        self.queue.arrived().await;
    }

    /// Makes [`Intake::arrived`] return once more: the loop stopped before it had everything.
    pub fn wake_loop(&self) {
        self.queue.wake();
    }

    /// How many requests were read and wait for [`Intake::next`].
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Looks through everything now: a workspace was added.
    pub fn look(&self) {
        self.waker.wake(Wake::Anything);
    }
}

/// Whether notifications arrive in this folder; says so where they do not.
fn is_notified(root: &Path, pace: Pace) -> std::io::Result<bool> {
    let took = probe::notifications(root)?;
    if took.is_none() {
        tracing::warn!(
            root = %root.display(),
            "no notifications of files arrive here; the mailboxes are looked through every {:?} (`limits.poll_ms`)",
            pace.poll
        );
    }
    Ok(took.is_some())
}

/// When the mailboxes are looked through.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// False: notifications are not even tried.
    pub notifications: bool,
    /// How often besides, where notifications arrive.
    pub rescan: Duration,
    /// How often where none arrive.
    pub poll: Duration,
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.waker.wake(Wake::Stop);
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

/// Most names of one mailbox that are looked at before the next mailbox has its turn: somebody else's request waits so long.
const SLICE: usize = 16;
/// So many times as long as a look through a mailbox took it is left alone by the timer: names that are no requests cost no more than
/// their share of a processor. Whoever leaves them there waits longer where notifications are lost.
const REST: u32 = 20;
/// But no longer than this.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// Most wake-ups that are taken before the mailboxes have their turns again.
const WAKES: usize = 32;

/// Why the mailboxes are looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// Something may have happened.
    Called,
    /// It is time.
    Timer,
}

struct Mailbox {
    folder: Folder,
    /// Requests that were handed over and may still lie there, with the look in which they were last seen.
    seen: HashMap<RequestId, u64>,
    /// The number of the look that goes on, or of the last one.
    look: u64,
    /// What is left of the look that goes on.
    left: Option<Names>,
    /// The request for which there was no more room.
    held: Option<RequestId>,
    /// There was no more room, and nobody has called since.
    full: bool,
    /// Something happened since the look began.
    again: bool,
    /// When the look began that goes on, or the last one.
    began: Instant,
    /// Until when the timer leaves it alone.
    rests_until: Option<Instant>,
}

impl Mailbox {
    /// Begins a look, or another one behind the one that goes on.
    fn begin(&mut self) {
        if self.left.is_some() {
            self.again = true;
            return;
        }
        self.again = false;
        self.left = self.folder.names();
        self.look += 1;
        self.began = Instant::now();
    }

    /// Ends the look.
    fn end(&mut self) {
        self.left = None;
        self.seen.retain(|_, seen| *seen == self.look);
        let now = Instant::now();
        self.rests_until = now.checked_add((now - self.began).saturating_mul(REST).min(LONGEST_REST));
        if self.again {
            self.begin();
        }
    }

    /// True where the timer looks again.
    fn is_due(&self) -> bool {
        self.rests_until.is_none_or(|until| Instant::now() >= until)
    }

    /// True when there is something to look at right now.
    fn is_looking(&self) -> bool {
        self.left.is_some() && !self.full
    }
}

struct Looker {
    root: PathBuf,
    watcher: Option<notify::RecommendedWatcher>,
    boxes: HashMap<WorkspaceName, Mailbox>,
    queue: Arc<Queue>,
    lost: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    /// How many mailboxes can be open at once.
    most: usize,
    /// When somebody was last told that there are more.
    told: Option<Instant>,
}

impl Looker {
    fn run(&mut self, woken: &mpsc::Receiver<Wake>, rescan: Duration) {
        self.look_through(Why::Called);
        let mut next = Instant::now() + rescan;
        while !self.stop.load(Ordering::Acquire) {
            self.look_at_slices();
            let busy = self.boxes.values().any(Mailbox::is_looking);
            if busy {
                // Notifications for others wait for a processor, too.
                std::thread::yield_now();
            }
            let wait = if busy { Duration::ZERO } else { next.saturating_duration_since(Instant::now()) };
            // All that woke us meanwhile, but not without end, before the mailboxes have their turns again.
            let mut patience = wait;
            for _ in 0..WAKES {
                match woken.recv_timeout(patience) {
                    Ok(Wake::Named(workspace, file)) => self.named(&workspace, &file),
                    Ok(Wake::Gone(workspace, file)) => self.forget(&workspace, &file),
                    Ok(Wake::Room(workspace)) => self.go_on(&workspace),
                    Ok(Wake::Anything) => self.look_through(Why::Called),
                    Ok(Wake::Stop) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
                    Err(mpsc::RecvTimeoutError::Timeout) => break,
                }
                patience = Duration::ZERO;
            }
            let is_lost = self.lost.swap(false, Ordering::AcqRel);
            if is_lost || Instant::now() >= next {
                self.look_through(if is_lost { Why::Called } else { Why::Timer });
                next = Instant::now() + rescan;
            }
        }
    }

    /// Begins to look at every name in every mailbox.
    fn look_through(&mut self, why: Why) {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(root = %self.root.display(), %error, "cannot look through the mailboxes");
                return;
            }
        };
        self.boxes.retain(|workspace, _| self.root.join(workspace.as_str()).is_dir());
        for entry in entries.flatten() {
            let Some(workspace) = entry.file_name().to_str().and_then(WorkspaceName::parse) else { continue };
            if let Some(opened) = self.open(&workspace) {
                // A call that was lost must not stop it for ever.
                opened.full = false;
                if why == Why::Called || opened.is_due() {
                    opened.begin();
                }
            } else {
                self.boxes.remove(&workspace);
            }
        }
    }

    fn open(&mut self, workspace: &WorkspaceName) -> Option<&mut Mailbox> {
        let path = self.root.join(workspace.as_str()).join(mailbox::REQUESTS);
        if self.boxes.get(workspace).is_some_and(|known| !known.folder.is_still_at(&path)) {
            self.boxes.remove(workspace);
        }
        if !self.boxes.contains_key(workspace) {
            if self.boxes.len() >= self.most {
                if self.told.is_none_or(|told| told.elapsed() > Duration::from_mins(1)) {
                    self.told = Some(Instant::now());
                    tracing::error!(
                        most = self.most,
                        "there are more mailboxes than this process may have open files for, and some get no answers; raise its \
                         limit (LimitNOFILE= of a systemd service, `ulimit -n`)"
                    );
                }
                return None;
            }
            let folder = Folder::open(&self.root, workspace)?;
            if let Some(watcher) = &mut self.watcher
                && let Err(error) = watcher.watch(&path, RecursiveMode::NonRecursive)
            {
                tracing::warn!(%workspace, %error, "no file notifications for this mailbox; it is looked through on the timer");
            }
            let opened = Mailbox {
                folder,
                seen: HashMap::new(),
                look: 0,
                left: None,
                held: None,
                full: false,
                again: false,
                began: Instant::now(),
                rests_until: None,
            };
            self.boxes.insert(workspace.clone(), opened);
        }
        self.boxes.get_mut(workspace)
    }

    fn forget(&mut self, workspace: &WorkspaceName, file: &str) {
        if let (Name::Request(id), Some(opened)) = (mailbox::name(file), self.boxes.get_mut(workspace)) {
            opened.seen.remove(&id);
        }
    }

    fn go_on(&mut self, workspace: &WorkspaceName) {
        if let Some(opened) = self.boxes.get_mut(workspace) {
            opened.full = false;
        }
    }

    /// A file that was named by a notification is taken at once, unless its mailbox is being looked through anyway.
    fn named(&mut self, workspace: &WorkspaceName, file: &str) {
        let Name::Request(id) = mailbox::name(file) else { return };
        let Some(opened) = self.boxes.get_mut(workspace) else { return };
        if opened.left.is_some() {
            opened.again = true;
        } else if !take(&self.queue, workspace, opened, id) {
            // The next look finds it.
            opened.again = true;
            opened.begin();
        }
    }

    /// A few names of each mailbox.
    fn look_at_slices(&mut self) {
        for (workspace, opened) in self.boxes.iter_mut().filter(|(_, opened)| opened.is_looking()) {
            for _ in 0..SLICE {
                let next = match (opened.held.take(), &mut opened.left) {
                    (Some(id), _) => Some(id),
                    (None, Some(names)) => match names.next() {
                        None => None,
                        Some(name) => match mailbox::name(&name) {
                            Name::Request(id) => Some(id),
                            _ => continue,
                        },
                    },
                    (None, None) => break,
                };
                let Some(id) = next else {
                    opened.end();
                    break;
                };
                if !take(&self.queue, workspace, opened, id.clone()) {
                    (opened.held, opened.full) = (Some(id), true);
                    break;
                }
            }
        }
    }
}

/// Hands a request over, if it was not before. False when there is no room.
fn take(queue: &Queue, workspace: &WorkspaceName, opened: &mut Mailbox, id: RequestId) -> bool {
    if let Some(seen) = opened.seen.get_mut(&id) {
        *seen = opened.look;
        return true;
    }
    if !queue.has_room(workspace) {
        return false;
    }
    let taken = opened.folder.take(&id);
    crate::fault::here("intake.taken");
    if matches!(taken, Taken::Nothing) {
        return true;
    }
    opened.seen.insert(id.clone(), opened.look);
    queue.push(Arrival { workspace: workspace.clone(), id, taken, at: Instant::now() });
    true
}
