//! The ask: one request file out, one response file in.
//!
//! The hook polls with growing pauses; it does not watch the folder, since closing a watch stalls a short-lived process
//! for many milliseconds. It holds a lock on its request while it waits, so that the host can tell when nobody waits
//! any more.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::mailbox;
use bashgate_shared::object;
use bashgate_shared::protocol::{Answer, Heartbeat, RequestId, Response};
use bashgate_shared::seal::{Asked, SealError};

use super::config::Config;

/// Where no sign of life is seen for this long after asking, and none was given of late, there is no host.
const NO_HOST: Duration = Duration::from_secs(2);
/// How long a host is waited for behind its last sign of life: it may be starting again, or stand still with the machine's disk.
const HOST_RESTARTS: Duration = Duration::from_secs(30);
/// Shortest and longest pause between two looks, and the longest once a person is probably being asked.
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);
const PATIENT_PAUSE: Duration = Duration::from_millis(100);
const PATIENT_AFTER: Duration = Duration::from_secs(3);

/// Why no answer counts.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// There is no mailbox.
    #[error("there is no mailbox at {}", folder.display())]
    NoMailbox {
        /// The folder that is missing.
        folder: PathBuf,
    },
    /// The request could not be written.
    #[error("cannot write the request into {}: {source}", folder.display())]
    NotWritten {
        /// The folder.
        folder: PathBuf,
        source: io::Error,
    },
    /// No host gave a sign of life.
    #[error("no host answers at {}", folder.display())]
    NoHost {
        /// The mailbox.
        folder: PathBuf,
    },
    /// The deadline passed.
    #[error("no answer within {seconds} s")]
    TooLate {
        /// The deadline.
        seconds: u64,
    },
    /// The response is there but cannot be read.
    #[error("the response at {} cannot be read: {why}", file.display())]
    Unreadable {
        /// The response.
        file: PathBuf,
        why: String,
    },
    /// The response is not the host's answer to this request.
    #[error("the response does not count: {0}")]
    Rejected(#[from] SealError),
}

impl AskError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            Self::NoMailbox { .. } => "mount the workspace's mailbox there, or correct `mailbox` in hook.toml".to_owned(),
            Self::NotWritten { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space on the mailbox's disk".to_owned(),
                io::ErrorKind::ReadOnlyFilesystem => "mount `requests` writable (only `responses` is read-only)".to_owned(),
                io::ErrorKind::PermissionDenied => {
                    "on the host, run `bashgate workspace add NAME` again: it makes `requests` writable for the container's user".to_owned()
                }
                _ => "look at the mailbox's mount".to_owned(),
            },
            Self::NoHost { .. } => "start `bashgate serve` on the host, or mount the mailbox that it serves".to_owned(),
            Self::TooLate { .. } => "ask a person to answer sooner, or raise `deadline_s` on both sides".to_owned(),
            Self::Unreadable { .. } => {
                "let the container's user read `responses`: the host's umask or a mount option hides them".to_owned()
            }
            Self::Rejected(SealError::OtherKey | SealError::Forged) => {
                "copy the host's `public_key` into hook.toml (`bashgate init` prints it); if it is right, somebody forges responses".to_owned()
            }
            Self::Rejected(_) => "run the command again".to_owned(),
        }
    }

    /// True when it says that no host is there, which `when_host_silent` rules.
    pub const fn is_silence(&self) -> bool {
        matches!(self, Self::NoHost { .. } | Self::TooLate { .. } | Self::NoMailbox { .. })
    }
}

/// A new request id: 122 random bits.
pub fn new_id() -> Option<RequestId> {
    RequestId::parse(&uuid::Uuid::new_v4().to_string())
}

/// Writes a request and waits for the host's answer to exactly these bytes.
///
/// The request's file is removed again on every way out that is left to this process.
pub fn ask(config: &Config, id: &RequestId, bytes: &[u8]) -> Result<Response, AskError> {
    let asked_at = Instant::now();
    let deadline = Duration::from_secs(config.deadline_s);
    let posted = Posted::write(config, id, bytes)?;
    let answer = wait(config, id, Digest::of(bytes), asked_at, deadline);
    drop(posted);
    answer
}

/// A request file that lies in the mailbox, locked.
struct Posted {
    path: PathBuf,
    _lock: File,
}

impl Posted {
    fn write(config: &Config, id: &RequestId, bytes: &[u8]) -> Result<Self, AskError> {
        let folder = config.mailbox.join(mailbox::REQUESTS);
        let not_written = |source: io::Error| {
            if source.kind() == io::ErrorKind::NotFound {
                AskError::NoMailbox { folder: folder.clone() }
            } else {
                AskError::NotWritten { folder: folder.clone(), source }
            }
        };
        let temporary = folder.join(mailbox::temporary_name(id));
        let path = folder.join(mailbox::file_name(id));
        let put = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&temporary)?;
            // The host may run as somebody else, whatever this process's umask is.
            file.set_permissions(Permissions::from_mode(0o644))?;
            file.write_all(bytes)?;
            file.lock()?;
            std::fs::rename(&temporary, &path)?;
            Ok(file)
        };
        match put() {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = std::fs::remove_file(&temporary);
                Err(not_written(error))
            }
        }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn wait(
    config: &Config,
    id: &RequestId,
    request: Digest,
    asked_at: Instant,
    deadline: Duration,
) -> Result<Response, AskError> {
    let file = config.mailbox.join(mailbox::RESPONSES).join(mailbox::file_name(id));
    let mut pause = FIRST_PAUSE;
    let mut host = HostLife::new(config);
    let mut trouble: Option<(Instant, String)> = None;
    loop {
        let elapsed = asked_at.elapsed();
        match read_response(&file) {
            Look::Nothing => trouble = None,
            Look::Response(response) => {
                let elapsed_ms = u64::try_from(asked_at.elapsed().as_millis()).unwrap_or(u64::MAX);
                let asked = Asked { request_id: id, workspace: &config.workspace, request, elapsed_ms };
                config.public_key.check(&response, &asked)?;
                return Ok(*response);
            }
            // On some shares a file is there before its content is: look again for a while.
            Look::Unreadable(why) => {
                let (since, _) = trouble.get_or_insert((Instant::now(), why.clone()));
                if since.elapsed() > Duration::from_millis(500) {
                    return Err(AskError::Unreadable { file, why });
                }
            }
        }
        if elapsed > deadline {
            return Err(AskError::TooLate { seconds: config.deadline_s });
        }
        if host.is_gone(elapsed) {
            return Err(AskError::NoHost { folder: config.mailbox.clone() });
        }
        std::thread::sleep(pause);
        let longest = if elapsed > PATIENT_AFTER { PATIENT_PAUSE } else { LONGEST_PAUSE };
        pause = (pause * 5 / 4).min(longest);
    }
}

enum Look {
    Nothing,
    Response(Box<Response>),
    Unreadable(String),
}

fn read_response(file: &Path) -> Look {
    let bytes = match read_capped(file, mailbox::MAX_RESPONSE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Look::Nothing,
        Err(error) => return Look::Unreadable(error.to_string()),
    };
    match object::from_slice::<Response>(&bytes) {
        Ok(response) => Look::Response(Box::new(response)),
        Err(error) => Look::Unreadable(error.to_string()),
    }
}

/// Opens a regular file, without following a link or waiting for a pipe.
pub(super) fn open_plain(file: &Path) -> io::Result<File> {
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK).bits()).unwrap_or(0);
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(opened)
}

/// Reads one of at most so many bytes.
pub(super) fn read_capped(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(file)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other("it is too large"));
    }
    Ok(bytes)
}

/// Whether the host is there, by its signed heartbeat.
struct HostLife<'c> {
    config: &'c Config,
    next_look: Duration,
    /// Until then, counted from the question, a host without a sign of life is waited for.
    awaited: Duration,
    last_beat: Option<Heartbeat>,
}

impl<'c> HostLife<'c> {
    const fn new(config: &'c Config) -> Self {
        // Most answers come long before the first look.
        Self { config, next_look: Duration::from_millis(250), awaited: NO_HOST, last_beat: None }
    }

    fn is_gone(&mut self, elapsed: Duration) -> bool {
        if elapsed >= self.next_look {
            self.next_look = elapsed + Duration::from_millis(mailbox::HEARTBEAT_MS);
            if let Some(age) = self.last_sign() {
                self.awaited = self.awaited.max((elapsed + HOST_RESTARTS).saturating_sub(age));
            }
        }
        elapsed > self.awaited
    }

    /// How long ago the host gave its last sign of life, where that is known: its heartbeat is signed, and either of this boot, whose
    /// clock tells its age, or different from the last one (in a virtual machine the clocks differ).
    fn last_sign(&mut self) -> Option<Duration> {
        let file = self.config.mailbox.join(mailbox::RESPONSES).join(mailbox::HEARTBEAT);
        let bytes = read_capped(&file, mailbox::MAX_RESPONSE_BYTES).ok()?;
        let beat = object::from_slice::<Heartbeat>(&bytes).ok()?;
        if !self.config.public_key.check_heartbeat(&beat) {
            return None;
        }
        let changed = self.last_beat.as_ref().is_some_and(|last| *last != beat);
        let age = boot()
            .filter(|(id, now)| *id == beat.boot_id && beat.boot_ms < now + 1000)
            .map(|(_, now)| Duration::from_millis(now.saturating_sub(beat.boot_ms)));
        self.last_beat = Some(beat);
        if changed { Some(Duration::ZERO) } else { age }
    }
}

/// The kernel's boot id, and the time since boot in milliseconds.
pub fn boot() -> Option<(String, u64)> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ms = u64::try_from(now.tv_sec).ok()? * 1000 + u64::try_from(now.tv_nsec).ok()? / 1_000_000;
    Some((id.trim().to_owned(), ms))
}

/// True when the host said yes.
pub fn is_allowed(response: &Response) -> bool {
    response.decision == Answer::Allow
}
