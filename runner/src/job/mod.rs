//! Jobs in the background: a supervisor of its own for each, which outlives the caller; a folder with what is known.
//!
//! A process id says nothing by itself: the machine may have been restarted, the number given to somebody else. A job's
//! supervisor is its process id, the time it started and the boot it belongs to; nothing else is ever signalled.

mod log;

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

pub use log::Log;

use crate::outcome::{Ending, Outcome, RunError};

/// Ended jobs that are kept.
const KEPT: usize = 100;
/// Longest record, in bytes: a command of the longest kind, escaped.
const MAX_RECORD: u64 = 4 << 20;
const RECORD: &str = "job.json";
const END: &str = "end.json";
const OUTPUT: &str = "output";
const ROOM: &str = "room";
const ROOM_BYTES: usize = 16 * 1024;

/// The id of a job: eight characters of Crockford's base 32.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(String);

impl JobId {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    /// A new one.
    fn new() -> io::Result<Self> {
        let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        let digit = |at: u32| {
            let index = usize::try_from(random >> (5 * at) & 31).unwrap_or(0);
            char::from(*Self::DIGITS.get(index).unwrap_or(&b'0'))
        };
        Ok(Self((0..8).map(digit).collect()))
    }

    /// Accepts an id, or `None` for what could be anything but a plain name.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 8 && text.bytes().all(|byte| Self::DIGITS.contains(&byte));
        fits.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is known of a job when it starts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: JobId,
    /// The command.
    pub command: String,
    /// The agent on whose behalf.
    pub agent: Option<String>,
    /// Its supervisor's process id.
    pub pid: u32,
    /// When the supervisor started, in the kernel's ticks since boot.
    pub start_ticks: u64,
    /// The boot it belongs to.
    pub boot_id: String,
    /// When it started, in milliseconds since 1970.
    pub started_ms: u64,
    /// Where it works.
    pub cwd: PathBuf,
    /// The file with its output.
    pub output: PathBuf,
    /// Somebody waits for it, and has its output; nothing of it is kept.
    #[serde(default)]
    pub foreground: bool,
}

/// A run in the foreground, listed until this is dropped.
#[derive(Debug)]
pub struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// It is running.
    Running,
    /// It has ended.
    Ended {
        /// With this exit code, if it had one.
        exit_code: Option<i32>,
        /// In words.
        how: String,
    },
    /// It never started, for this reason.
    Failed { why: String },
    /// Its supervisor is gone without a word: killed, or the machine was restarted.
    Lost,
}

/// A job and how it stands.
#[derive(Debug, Clone, Serialize)]
pub struct Job {
    /// What it is.
    #[serde(flatten)]
    pub record: Record,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
}

/// What can go wrong with jobs.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There is none of this id.
    #[error("there is no job {0}")]
    Unknown(String),
    /// There are enough already.
    #[error("{0} jobs are running, as many as the preset allows")]
    TooMany(usize),
    /// It is not running.
    #[error("the job {0} is not running")]
    NotRunning(String),
    /// It is somebody's who has its output.
    #[error("the output of {0} goes to whoever started it")]
    Foreground(String),
    /// It does not end.
    #[error("the job {0} does not end")]
    DoesNotEnd(String),
    /// There is no home to keep jobs in.
    #[error("there is no folder for jobs: neither HOME nor XDG_STATE_HOME is set")]
    NoHome,
    /// The folder cannot be used.
    #[error("cannot use the folder of jobs {}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl JobError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "`bashgate-run jobs` lists them",
            Self::TooMany(_) => "stop one with `bashgate-run stop ID`, or raise `background.max_jobs`",
            Self::Foreground(_) => "start it with --background to have its output kept",
            Self::NotRunning(_) => "`bashgate-run jobs` says how it ended",
            Self::DoesNotEnd(_) => "look at its supervisor with ps",
            Self::Folder { .. } | Self::NoHome => "name another folder with --state DIR",
        }
    }
}

/// The folder with all jobs of a user.
#[derive(Debug, Clone)]
pub struct Jobs {
    folder: PathBuf,
}

impl Jobs {
    /// The jobs in this folder, which is made when it is first needed.
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where a user's jobs are: `$XDG_STATE_HOME/bashgate-run`, or `~/.local/state/bashgate-run`.
    /// `None` without a home: in a folder of everybody's, everybody could write what is believed here.
    pub fn usual_folder() -> Option<PathBuf> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        state.map(|state| state.join("bashgate-run"))
    }

    /// Makes the folder where it is missing, and makes sure that nobody else writes there.
    pub fn own_folder(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        self.check_owner()
    }

    fn check_owner(&self) -> io::Result<()> {
        let found = fs::symlink_metadata(&self.folder)?;
        let own = rustix::process::geteuid().as_raw();
        if !found.is_dir() || found.uid() != own || found.mode() & 0o022 != 0 {
            return Err(io::Error::other("it is no folder that only you can write to"));
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> JobError {
        JobError::Folder { folder: self.folder.clone(), source }
    }

    /// Makes room for a job of an agent: an id, and the file for its output.
    pub fn reserve(&self, agent: Option<&str>, most: usize) -> Result<(JobId, PathBuf), JobError> {
        let jobs = self.list(None)?;
        let is_one = |job: &&Job| job.state == State::Running && !job.record.foreground;
        let running = jobs.iter().filter(|job| is_one(job) && job.record.agent.as_deref() == agent);
        let running = running.count();
        if running >= most {
            return Err(JobError::TooMany(running));
        }
        let ended: Vec<&Job> = jobs.iter().filter(|job| job.state != State::Running).collect();
        for job in ended.iter().take(ended.len().saturating_sub(KEPT)) {
            let _ = fs::remove_dir_all(self.folder.join(job.record.id.as_str()));
        }
        let (id, folder) = self.place()?;
        Ok((id, folder.join(OUTPUT)))
    }

    /// A folder for one more.
    fn place(&self) -> Result<(JobId, PathBuf), JobError> {
        let id = JobId::new().map_err(|error| self.failed(error))?;
        self.own_folder().map_err(|error| self.failed(error))?;
        let folder = self.folder.join(id.as_str());
        fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|error| self.failed(error))?;
        Ok((id, folder))
    }

    /// Lists a run of this process for which somebody waits.
    pub fn in_foreground(&self, command: &str, agent: Option<&str>, cwd: &Path) -> Result<Listed, JobError> {
        let (id, folder) = self.place()?;
        let listed = Listed(folder);
        let record = Record { foreground: true, ..self.record(id, command, agent, cwd)? };
        self.put(&record.id, RECORD, &record)?;
        Ok(listed)
    }

    /// A log for a job's output, appended to by whoever still writes.
    pub fn log(output: &Path, max_mib: u64) -> io::Result<Log> {
        let file = fs::OpenOptions::new().append(true).create_new(true).mode(0o600).open(output)?;
        Ok(Log::new(file, max_mib.saturating_mul(1 << 20)))
    }

    /// What is known of a run whose supervisor is this process.
    fn record(&self, id: JobId, command: &str, agent: Option<&str>, cwd: &Path) -> Result<Record, JobError> {
        let pid = std::process::id();
        let (start_ticks, boot_id) =
            identity(pid).ok_or_else(|| self.failed(io::Error::other("/proc cannot be read")))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Record {
            output: self.folder.join(id.as_str()).join(OUTPUT),
            id,
            command: command.to_owned(),
            agent: agent.map(str::to_owned),
            pid,
            start_ticks,
            boot_id,
            started_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            cwd: cwd.to_owned(),
            foreground: false,
        })
    }

    /// Writes down a job whose supervisor is this process.
    pub fn begin(&self, id: JobId, command: &str, agent: Option<&str>, cwd: &Path) -> Result<Record, JobError> {
        let record = self.record(id, command, agent, cwd)?;
        self.put(&record.id, RECORD, &record)?;
        // A job's own output may fill the disk. How it ended has its room before that.
        let room = self.folder.join(record.id.as_str()).join(ROOM);
        fs::write(room, vec![b' '; ROOM_BYTES]).map_err(|error| self.failed(error))?;
        Ok(record)
    }

    /// Writes down how a job ended, and says so at the end of its output.
    pub fn end(&self, id: &JobId, result: &Result<Outcome, RunError>, log: &mut Log) -> Result<(), JobError> {
        let (line, state) = match result {
            Ok(outcome) if outcome.succeeded() => (
                "[background process completed]".to_owned(),
                State::Ended { exit_code: Some(0), how: "completed".to_owned() },
            ),
            Ok(outcome) => {
                let how = match outcome.ending {
                    Ending::Exited(code) => format!("exit code {code}"),
                    Ending::Signalled(signal) => format!("signal {signal}"),
                    Ending::TimedOut => format!("timed out after {:?}", outcome.timeout),
                    Ending::OutOfMemory => "out of memory".to_owned(),
                    Ending::Stopped => "stopped".to_owned(),
                    Ending::Lost => "its sandbox vanished".to_owned(),
                };
                (format!("[background process failed: {how}]"), State::Ended { exit_code: outcome.code, how })
            }
            Err(error) => (format!("[background process error: {error}]"), State::Failed { why: error.to_string() }),
        };
        let _ = fs::remove_file(self.folder.join(id.as_str()).join(ROOM));
        log.close(&line);
        self.put(id, END, &state)
    }

    fn put(&self, id: &JobId, name: &str, value: &impl Serialize) -> Result<(), JobError> {
        let folder = self.folder.join(id.as_str());
        let temporary = folder.join(format!("{name}.new"));
        let write = || {
            fs::write(&temporary, serde_json::to_vec(value)?)?;
            fs::rename(&temporary, folder.join(name))
        };
        write().map_err(|error| self.failed(error))
    }

    /// All jobs, oldest first; of one agent, or of all.
    pub fn list(&self, agent: Option<&str>) -> Result<Vec<Job>, JobError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        self.check_owner().map_err(|error| self.failed(error))?;
        let ids = entries.flatten().filter_map(|entry| JobId::parse(entry.file_name().to_str()?));
        let mut jobs: Vec<Job> = ids.filter_map(|id| self.job(&id).ok()).collect();
        // Whoever was killed in the foreground could not take its own away.
        jobs.retain(|job| {
            let is_left = job.record.foreground && job.state == State::Lost;
            if is_left {
                drop(Listed(self.folder.join(job.record.id.as_str())));
            }
            !is_left
        });
        jobs.retain(|job| agent.is_none() || job.record.agent.as_deref() == agent);
        jobs.sort_by(|a, b| (a.record.started_ms, &a.record.id).cmp(&(b.record.started_ms, &b.record.id)));
        Ok(jobs)
    }

    /// One job.
    pub fn job(&self, id: &JobId) -> Result<Job, JobError> {
        match self.check_owner() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(JobError::Unknown(id.0.clone())),
            checked => checked.map_err(|error| self.failed(error))?,
        }
        let folder = self.folder.join(id.as_str());
        let mut record: Record = read(&folder.join(RECORD)).ok_or_else(|| JobError::Unknown(id.0.clone()))?;
        // Where a job is says who it is and where its output lies; what its record says of both counts for nothing.
        record.id = id.clone();
        record.output = folder.join(OUTPUT);
        let state = match read(&folder.join(END)) {
            Some(state) => state,
            None if is_alive(&record) => State::Running,
            // It may have ended between the two looks.
            None => read(&folder.join(END)).unwrap_or(State::Lost),
        };
        Ok(Job { record, state })
    }

    /// The last bytes of a job's output, replaced to be valid UTF-8, from the start of a line where that is near.
    pub fn tail(&self, id: &JobId, bytes: u64) -> Result<String, JobError> {
        let job = self.job(id)?;
        if job.record.foreground {
            return Err(JobError::Foreground(id.0.clone()));
        }
        let read = || {
            let mut file = open_plain(&job.record.output)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
            let mut tail = Vec::new();
            file.take(bytes).read_to_end(&mut tail)?;
            Ok((tail, length > bytes))
        };
        let (tail, cut) = read().map_err(|error| self.failed(error))?;
        let text = String::from_utf8_lossy(&tail).into_owned();
        Ok(match text.split_once('\n') {
            Some((_, rest)) if cut => rest.to_owned(),
            _ => text,
        })
    }

    /// Stops a job: TERM, grace, KILL, by its supervisor. Returns when it has ended.
    pub fn stop(&self, id: &JobId) -> Result<Job, JobError> {
        let job = self.job(id)?;
        if job.state != State::Running {
            return Err(JobError::NotRunning(id.0.clone()));
        }
        signal(&job.record, Signal::TERM);
        for _ in 0..600 {
            let now = match self.job(id) {
                // It takes its own away.
                Err(JobError::Unknown(_)) if job.record.foreground => {
                    let state = State::Ended { exit_code: None, how: "stopped".to_owned() };
                    return Ok(Job { state, ..job });
                }
                now => now?,
            };
            if now.state != State::Running {
                return Ok(now);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(JobError::DoesNotEnd(id.0.clone()))
    }
}

/// Opens a regular file by its own name.
fn open_plain(path: &Path) -> io::Result<fs::File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Option<T> {
    let mut bytes = Vec::new();
    open_plain(file).ok()?.take(MAX_RECORD).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// When a process started, in ticks since boot, and this boot's id.
fn identity(pid: u32) -> Option<(u64, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything; the start is the 22nd field.
    let (_, rest) = stat.rsplit_once(") ")?;
    if rest.starts_with('Z') {
        return None;
    }
    let ticks = rest.split(' ').nth(19)?.parse().ok()?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some((ticks, boot.trim().to_owned()))
}

/// True when the very process that was written down is there.
fn is_alive(record: &Record) -> bool {
    identity(record.pid) == Some((record.start_ticks, record.boot_id.clone()))
}

/// Signals a job's supervisor, and nobody else who may have its number.
fn signal(record: &Record, signal: Signal) {
    let Some(pid) = i32::try_from(record.pid).ok().and_then(Pid::from_raw) else { return };
    // Held first, then looked at: what is held cannot become another process.
    if let Ok(held) = pidfd_open(pid, PidfdFlags::empty())
        && is_alive(record)
    {
        let _ = pidfd_send_signal(&held, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs() -> (tempfile::TempDir, Jobs) {
        let folder = tempfile::tempdir().unwrap();
        let jobs = Jobs::at(folder.path().join("jobs"));
        (folder, jobs)
    }

    /// A job whose supervisor is this test, and which the test may change.
    fn started(jobs: &Jobs) -> Record {
        let (id, _) = jobs.reserve(None, 3).unwrap();
        jobs.begin(id, "sleep 1", None, Path::new("/")).unwrap()
    }

    #[test]
    fn a_process_that_only_has_the_number_is_not_the_job() {
        let (_folder, jobs) = jobs();
        let record = started(&jobs);
        assert_eq!(jobs.job(&record.id).unwrap().state, State::Running);
        for other in [
            Record { start_ticks: record.start_ticks + 1, ..record.clone() },
            Record { boot_id: "another boot".to_owned(), ..record.clone() },
            Record { pid: 1, ..record.clone() },
            Record { pid: u32::MAX, ..record.clone() },
        ] {
            jobs.put(&record.id, RECORD, &other).unwrap();
            assert_eq!(jobs.job(&record.id).unwrap().state, State::Lost, "{other:?}");
            assert!(matches!(jobs.stop(&record.id), Err(JobError::NotRunning(_))));
            // Had this test been signalled, it would be gone.
            signal(&other, Signal::KILL);
        }
    }

    #[test]
    fn broken_records_and_odd_names_harm_nobody() {
        let (_folder, jobs) = jobs();
        assert!(jobs.list(None).unwrap().is_empty());
        let record = started(&jobs);
        fs::create_dir(jobs.folder.join("not-an-id")).unwrap();
        fs::create_dir(jobs.folder.join("aaaaaaaa")).unwrap();
        fs::create_dir(jobs.folder.join("bbbbbbbb")).unwrap();
        fs::write(jobs.folder.join("bbbbbbbb").join(RECORD), "{").unwrap();
        assert_eq!(jobs.list(None).unwrap().len(), 1);
        assert!(JobId::parse("../../etc").is_none() && JobId::parse("ABCDEFGH").is_none());
        assert_eq!(JobId::parse(record.id.as_str()), Some(record.id));
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_believed() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_folder, jobs) = jobs();
        let record = started(&jobs);
        // What a record says of its own place counts for nothing, and links are not followed.
        let secret = jobs.folder.join("secret");
        fs::write(&secret, "secret").unwrap();
        jobs.put(&record.id, RECORD, &Record { output: secret.clone(), ..record.clone() }).unwrap();
        let output = jobs.folder.join(record.id.as_str()).join(OUTPUT);
        assert_eq!(jobs.job(&record.id).unwrap().record.output, output);
        std::os::unix::fs::symlink(&secret, &output).unwrap();
        assert!(jobs.tail(&record.id, 100).is_err());
        assert!(Jobs::log(&output, 1).is_err());
        fs::set_permissions(&jobs.folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(jobs.list(None).is_err() && jobs.job(&record.id).is_err() && jobs.reserve(None, 9).is_err());
        assert!(Jobs::at(secret).list(None).is_err());
    }

    #[test]
    fn there_are_only_so_many_at_a_time() {
        let (_folder, jobs) = jobs();
        started(&jobs);
        assert!(matches!(jobs.reserve(None, 1), Err(JobError::TooMany(1))));
        assert!(jobs.reserve(Some("other"), 1).is_ok());
    }

    #[test]
    fn what_runs_in_the_foreground_is_listed_while_it_runs() {
        let (_folder, jobs) = jobs();
        let listed = jobs.in_foreground("sleep 1", Some("a"), Path::new("/")).unwrap();
        let all = jobs.list(Some("a")).unwrap();
        let [job] = all.as_slice() else { panic!("{all:?}") };
        assert!(job.record.foreground && job.state == State::Running && job.record.command == "sleep 1");
        assert!(matches!(jobs.tail(&job.record.id, 100), Err(JobError::Foreground(_))));
        // It takes no job's place.
        assert!(jobs.reserve(Some("a"), 1).is_ok());
        // One that was killed is cleared away by whoever looks next.
        jobs.put(&job.record.id, RECORD, &Record { start_ticks: 1, ..job.record.clone() }).unwrap();
        assert!(jobs.list(Some("a")).unwrap().is_empty());
        assert!(!listed.0.exists());
        drop(listed);
    }

    #[test]
    fn a_log_is_cut_and_still_says_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log");
        let mut log = Jobs::log(&file, 0).unwrap();
        log.add(b"lost");
        log.add(b"lost");
        log.close("[background process completed]");
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, "\n[output limit reached; the rest is not kept]\n\n\n[background process completed]\n");
    }
}
