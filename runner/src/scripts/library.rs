//! Where scripts are kept: two files each, the text (`ID.sh`) and what is known about it (`ID.json`), and one file for each
//! version before ([`super::versions`]). Nothing here is believed: an approval is bound to what these files say, not to the files.
//!
//! Whoever changes something holds the library's lock. A change of a script that is there is first written down whole as `ID.next`
//! (a journal of one entry) and then carried out, so that whoever comes after a crash carries it out to its end.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::RequestId;
use bashgate_shared::script::{MAX_TEXT_BYTES, Manifest, ManifestError};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::Jobs;

/// Longest file with what is known about a script, in bytes.
pub(super) const MAX_ABOUT_BYTES: u64 = 1024 * 1024;
/// Longest description, in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 4096;
/// Most scripts of a library.
const MAX_SCRIPTS: usize = 1000;
/// Most automations that use one script, and the longest name of one, in bytes.
const MAX_AUTOMATIONS: usize = 100;
const MAX_AUTOMATION_BYTES: usize = 128;
/// The lock of all who read or change the library.
const LOCK: &str = ".lock";
/// Longest wait for it.
const LOCK_TIME: Duration = Duration::from_secs(10);

/// Who wrote a script, by its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// A language model.
    Llm,
    /// A person.
    User,
}

/// What is known about a script besides its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// By whom.
    pub created_by: Author,
    /// Which version this is, from 1.
    #[serde(default = "first_version")]
    pub version: u32,
    /// When this version was made, in milliseconds since 1970, where it is not the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at_ms: Option<u64>,
    /// By whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<Author>,
    /// The automations that use it. While there are any, it is not removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub automation_ids: Vec<String>,
    /// What it may reach.
    pub manifest: Manifest,
}

const fn first_version() -> u32 {
    1
}

/// A script, read once: what was read is what is approved and run.
#[derive(Debug, Clone)]
pub struct Script {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// What is known about it, the manifest in canonical form.
    pub about: About,
}

impl Script {
    /// What a person approves.
    pub fn digest(&self) -> Digest {
        self.about.manifest.digest(&self.text)
    }

    /// SHA-256 of the text alone, in hexadecimal digits.
    pub fn content_hash(&self) -> String {
        Digest::of(self.text.as_bytes()).hex()
    }
}

/// What goes wrong with the library.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// There is no folder for it.
    #[error("there is no HOME to keep scripts in")]
    NoHome,
    /// There is no such script.
    #[error("there is no script `{0}`")]
    Unknown(String),
    /// None that can be read has this name, and there are some that cannot be.
    #[error("there is no script `{named}` among those that can be read; {damaged} are damaged")]
    UnknownBesideDamaged {
        /// The name.
        named: String,
        /// How many are damaged.
        damaged: usize,
    },
    /// Several have this name.
    #[error("several scripts have the name `{0}`")]
    SeveralOf(String),
    /// A manifest that says what none may.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A text that is none.
    #[error("the script {0}")]
    Text(String),
    /// There are too many.
    #[error("there are {MAX_SCRIPTS} scripts already")]
    Full,
    /// Automations use it.
    #[error("the script is used by {}", .0.join(", "))]
    InUse(Vec<String>),
    /// The name of an automation is none.
    #[error(
        "{0:?} is no id of an automation: use 1 to {MAX_AUTOMATION_BYTES} letters, digits, `.`, `_`, `:` and `-`, at most {MAX_AUTOMATIONS} of them"
    )]
    Automation(String),
    /// There is no such version any more, or not yet.
    #[error("there is no version {version} of it")]
    NoVersion {
        /// The number that was named.
        version: u32,
    },
    /// Nothing would change.
    #[error("that is what it says already")]
    Unchanged,
    /// Somebody else changed it meanwhile.
    #[error("it is at version {now}, not at {expected}")]
    Moved {
        /// The version that the caller has seen.
        expected: u32,
        /// The version that is there.
        now: u32,
    },
    /// It is somebody else's.
    #[error("{} is not your own", .0.display())]
    NotYours(PathBuf),
    /// Somebody else holds the lock.
    #[error("another program has been at work in {} for more than {} s", .0.display(), LOCK_TIME.as_secs())]
    Busy(PathBuf),
    /// A file of a script is not what it should be.
    #[error("{} is wrong: {why}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("cannot work in {}: {source}", folder.display())]
    Io {
        /// The library.
        folder: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl LibraryError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoHome => "name a folder with --state DIR",
            Self::Unknown(_) => "`bashgate-run scripts list` shows which there are",
            Self::UnknownBesideDamaged { .. } => {
                "`bashgate-run scripts list` shows which there are, and what is wrong with those that are damaged"
            }
            Self::SeveralOf(_) => "name it by its id",
            Self::Manifest(_) | Self::Text(_) => "correct it, then create it again",
            Self::Full => "delete some",
            Self::InUse(_) => "take them off with `bashgate-run scripts unlink SCRIPT AUTOMATION` first",
            Self::Automation(_) => "name it as the automation's own program does",
            Self::NoVersion { .. } => "`bashgate-run scripts versions SCRIPT` shows which are kept",
            Self::Unchanged => "change something, or leave it",
            Self::Moved { .. } => "look at what it says now, then decide again",
            Self::NotYours(_) => "change it as the user whose scripts they are",
            Self::Busy(_) => "wait, or look at who holds the file `.lock` there",
            Self::Damaged { .. } => "correct or remove the file",
            Self::Io { .. } => "look at the folder's owner and its disk",
        }
    }
}

/// All scripts of a folder.
#[derive(Debug, Clone)]
pub struct Library {
    state: PathBuf,
    pub(super) folder: PathBuf,
}

impl Library {
    /// The library in the runner's own folder.
    pub fn at(state: PathBuf) -> Self {
        let folder = state.join("scripts");
        Self { state, folder }
    }

    pub(super) fn io(&self, source: io::Error) -> LibraryError {
        LibraryError::Io { folder: self.folder.clone(), source }
    }

    /// Keeps a new script.
    pub fn create(
        &self,
        text: &str,
        manifest: Manifest,
        description: &str,
        created_by: Author,
    ) -> Result<Script, LibraryError> {
        let manifest = manifest.canonical()?;
        check(text, description)?;
        Jobs::at(self.state.clone()).own_folder().map_err(|source| self.io(source))?;
        match std::fs::DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(self.io(error)),
            _ => {}
        }
        let _lock = self.lock(Lock::Exclusive)?;
        if self.ids()?.len() >= MAX_SCRIPTS {
            return Err(LibraryError::Full);
        }
        let id = uuid::Uuid::new_v4().to_string();
        let about = About {
            description: description.to_owned(),
            created_at_ms: now_ms(),
            created_by,
            version: 1,
            edited_at_ms: None,
            edited_by: None,
            automation_ids: Vec::new(),
            manifest,
        };
        let script = Script { id, text: text.to_owned(), about };
        // The text comes first: a script is there once its second file is.
        self.put(&script).inspect_err(|_| {
            for ending in ["json", "sh"] {
                let _ = std::fs::remove_file(self.file(&script.id, ending));
            }
        })?;
        Ok(script)
    }

    /// The file of a script with this ending.
    pub(super) fn file(&self, id: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{id}.{ending}"))
    }

    /// Writes both files of a script: neither has its name before both are on disk.
    pub(super) fn put(&self, script: &Script) -> Result<(), LibraryError> {
        let json = json_of(&script.about);
        // Nobody would read it again.
        if json.len() as u64 > MAX_ABOUT_BYTES {
            return Err(LibraryError::Text(format!(
                "has a manifest of {} bytes, more than {MAX_ABOUT_BYTES}",
                json.len()
            )));
        }
        let staged = [("sh", script.text.as_str()), ("json", json.as_str())]
            .into_iter()
            .map(|(ending, content)| self.stage(&format!("{}.{ending}", script.id), content));
        // The text comes first: a script is there once its second file is.
        let put =
            staged.collect::<io::Result<Vec<_>>>().and_then(|staged| staged.into_iter().try_for_each(Staged::name));
        put.map_err(|source| self.io(source))
    }

    /// True where the library's folder is one of our own, which nobody else can exchange.
    fn is_ours(&self) -> io::Result<bool> {
        let own = rustix::process::geteuid().as_raw();
        let is_own = |folder: &Path| {
            std::fs::symlink_metadata(folder).map(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o022 == 0)
        };
        Ok(is_own(&self.state)? && is_own(&self.folder)?)
    }

    /// Takes the library's lock. Where there is no library yet, there is none to take; who only looks makes none.
    pub(super) fn lock(&self, kind: Lock) -> Result<Option<File>, LibraryError> {
        let flags = i32::try_from(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits()).unwrap_or(0);
        let path = self.folder.join(LOCK);
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags);
        if kind == Lock::Exclusive {
            match self.is_ours() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Ok(false) => return Err(LibraryError::NotYours(self.folder.clone())),
                ours => ours.map_err(|source| self.io(source))?,
            };
            options.write(true).create(true).truncate(false).mode(0o600);
        }
        let file = match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|source| self.io(source))?,
        };
        let since = Instant::now();
        loop {
            let tried = match kind {
                Lock::Shared => file.try_lock_shared(),
                Lock::Exclusive => file.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::WouldBlock) if since.elapsed() < LOCK_TIME => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => return Err(LibraryError::Busy(self.folder.clone())),
                Err(TryLockError::Error(source)) => return Err(self.io(source)),
            }
        }
    }

    /// Writes a file whole, or not at all.
    pub(super) fn write(&self, name: &str, content: &str) -> io::Result<()> {
        self.stage(name, content)?.name()
    }

    /// Writes a file under a name that nobody reads.
    fn stage(&self, name: &str, content: &str) -> io::Result<Staged> {
        let staged = Staged {
            temporary: self.folder.join(format!(".{name}.new")),
            path: self.folder.join(name),
            is_named: false,
        };
        // What a crash has left.
        let _ = std::fs::remove_file(&staged.temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&staged.temporary)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        Ok(staged)
    }

    pub(super) fn ids(&self) -> Result<Vec<String>, LibraryError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|source| self.io(source))?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
        ids.retain(|id| RequestId::parse(id).is_some());
        ids.sort();
        Ok(ids)
    }

    /// All scripts, oldest first, and what is wrong with those that cannot be read.
    pub fn list(&self) -> Result<(Vec<Script>, Vec<LibraryError>), LibraryError> {
        let (mut scripts, mut wrong) = (Vec::new(), Vec::new());
        let (mut unfinished, lock) = (Vec::new(), self.lock(Lock::Shared)?);
        for id in self.ids()? {
            if self.file(&id, "next").exists() {
                unfinished.push(id);
                continue;
            }
            match self.read_locked(&id) {
                Ok(script) => scripts.push(script),
                Err(error) => wrong.push(error),
            }
        }
        drop(lock);
        for id in unfinished {
            match self.read(&id) {
                Ok(script) => scripts.push(script),
                Err(error) => wrong.push(error),
            }
        }
        scripts.sort_by(|a, b| (a.about.created_at_ms, &a.id).cmp(&(b.about.created_at_ms, &b.id)));
        Ok((scripts, wrong))
    }

    /// A script by its id, or by its name where only one has it.
    pub fn get(&self, named: &str) -> Result<Script, LibraryError> {
        if RequestId::parse(named).is_some() {
            return self.read(named);
        }
        let (scripts, wrong) = self.list()?;
        let mut found = scripts.into_iter().filter(|script| script.about.manifest.name == named);
        match (found.next(), found.next()) {
            (Some(script), None) => Ok(script),
            (Some(_), Some(_)) => Err(LibraryError::SeveralOf(named.to_owned())),
            (None, _) if wrong.is_empty() => Err(LibraryError::Unknown(named.to_owned())),
            // It may be one of those that cannot be read.
            (None, _) => Err(LibraryError::UnknownBesideDamaged { named: named.to_owned(), damaged: wrong.len() }),
        }
    }

    /// A script as it stands, after a change that was not carried out to its end.
    fn read(&self, id: &str) -> Result<Script, LibraryError> {
        {
            let _lock = self.lock(Lock::Shared)?;
            if !self.file(id, "next").exists() {
                return self.read_locked(id);
            }
        }
        // Who may not carry it out, reads what it will be.
        if !self.is_ours().map_err(|source| self.io(source))? {
            let _lock = self.lock(Lock::Shared)?;
            let next = Self::whole(id, &self.file(id, "next"))?;
            return next.map_or_else(|| self.read_locked(id), Ok);
        }
        let _lock = self.lock(Lock::Exclusive)?;
        self.finish(id)?;
        self.read_locked(id)
    }

    /// The same for who holds the lock.
    pub(super) fn read_locked(&self, id: &str) -> Result<Script, LibraryError> {
        let file = |ending: &str| self.file(id, ending);
        let read = |path: &Path, most: u64| match read_capped(path, most) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(LibraryError::Unknown(id.to_owned())),
            Err(error) => Err(LibraryError::Damaged { file: path.to_owned(), why: error.to_string() }),
        };
        let about = read(&file("json"), MAX_ABOUT_BYTES)?;
        let text = read(&file("sh"), MAX_TEXT_BYTES as u64).map_err(|error| match error {
            LibraryError::Unknown(_) => LibraryError::Damaged { file: file("sh"), why: "it is not there".to_owned() },
            error => error,
        })?;
        let about = serde_json::from_str(&about)
            .map_err(|error| LibraryError::Damaged { file: file("json"), why: error.to_string() })?;
        checked(id, about, text, &file("json"), &file("sh"))
    }

    /// Removes a script and its versions: its id and its name. An approval of it stays with the host, for the same script made again.
    pub fn delete(&self, named: &str) -> Result<(String, String), LibraryError> {
        let id = self.id_of(named)?;
        let _lock = self.lock(Lock::Exclusive)?;
        let finished = self.finish(&id);
        let script = finished.and_then(|()| self.read_locked(&id));
        let script = match script {
            Ok(script) if !script.about.automation_ids.is_empty() => {
                return Err(LibraryError::InUse(script.about.automation_ids));
            }
            // What is damaged is of no use to anybody but to whoever has noted that he uses it; who it was is told by its id.
            Err(LibraryError::Damaged { .. }) => match self.users_of_damaged(&id) {
                users if users.is_empty() => None,
                users => return Err(LibraryError::InUse(users)),
            },
            script => Some(script?),
        };
        // Without the first file there is no script.
        let mut files: Vec<PathBuf> = ["json", "sh", "next"].iter().map(|ending| self.file(&id, ending)).collect();
        files.extend(self.version_files(&id)?.into_values());
        for file in files {
            match std::fs::remove_file(file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // A folder that somebody has put there is none of ours.
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {}
                removed => removed.map_err(|source| self.io(source))?,
            }
        }
        Ok(script.map_or_else(|| (id, "damaged".to_owned()), |script| (script.id, script.about.manifest.name)))
    }

    /// The automations that use a script of which only the first file can be read.
    fn users_of_damaged(&self, id: &str) -> Vec<String> {
        let about = read_capped(&self.file(id, "json"), MAX_ABOUT_BYTES).ok();
        let about = about.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let users = about.as_ref().and_then(|about| about.get("automation_ids")?.as_array());
        users.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The id of a script that is named by id or name.
    pub(super) fn id_of(&self, named: &str) -> Result<String, LibraryError> {
        if RequestId::parse(named).is_some() { Ok(named.to_owned()) } else { Ok(self.get(named)?.id) }
    }

    /// Notes that an automation uses a script, or does so no more.
    pub fn link(&self, named: &str, automation: &str, is_used: bool) -> Result<Script, LibraryError> {
        let id = self.id_of(named)?;
        let _lock = self.lock(Lock::Exclusive)?;
        self.finish(&id)?;
        let mut script = self.read_locked(&id)?;
        let all = &mut script.about.automation_ids;
        let known = all.iter().position(|one| one == automation);
        match (known, is_used) {
            (None, true) => all.push(automation.to_owned()),
            (Some(at), false) => drop(all.remove(at)),
            (Some(_), true) | (None, false) => return Err(LibraryError::Unchanged),
        }
        check_about(&script.about).map_err(|_| LibraryError::Automation(automation.to_owned()))?;
        // Text and manifest stay as they are.
        let written = self.write(&format!("{id}.json"), &json_of(&script.about));
        written.map_err(|source| self.io(source))?;
        Ok(script)
    }
}

/// A file that is on disk and has not its name yet. Where it gets none, it is removed again.
struct Staged {
    temporary: PathBuf,
    path: PathBuf,
    is_named: bool,
}

impl Staged {
    fn name(mut self) -> io::Result<()> {
        std::fs::rename(&self.temporary, &self.path)?;
        self.is_named = true;
        // The name is there after a loss of power, too.
        self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_named {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// How the lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// With others who only look.
    Shared,
    /// Alone.
    Exclusive,
}

/// The present time, in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    u64::try_from(now).unwrap_or(u64::MAX)
}

/// As it is written to a file.
pub(super) fn json_of<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// A script as two files say that it is, or one file both.
pub(super) fn checked(
    id: &str,
    about: About,
    text: String,
    about_file: &Path,
    text_file: &Path,
) -> Result<Script, LibraryError> {
    let damaged = |file: &Path, why: String| LibraryError::Damaged { file: file.to_owned(), why };
    let manifest = about.manifest.clone().canonical().map_err(|error| damaged(about_file, error.to_string()))?;
    check_about(&about).map_err(|why| damaged(about_file, why))?;
    check(&text, &about.description).map_err(|error| damaged(text_file, error.to_string()))?;
    Ok(Script { id: id.to_owned(), text, about: About { manifest, ..about } })
}

/// What no file about a script may say, whoever wrote it.
fn check_about(about: &About) -> Result<(), String> {
    let plain = |id: &&String| {
        (1..=MAX_AUTOMATION_BYTES).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
    };
    match about {
        _ if about.version == 0 => Err("there is no version 0".to_owned()),
        _ if about.automation_ids.len() > MAX_AUTOMATIONS => {
            Err(format!("it has more than {MAX_AUTOMATIONS} automations"))
        }
        _ => match about.automation_ids.iter().find(|id| !plain(id)) {
            Some(id) => Err(format!("{id:?} is no id of an automation")),
            None => Ok(()),
        },
    }
}

pub(super) fn check(text: &str, description: &str) -> Result<(), LibraryError> {
    let wrong = |why: String| Err(LibraryError::Text(why));
    match text {
        _ if text.len() > MAX_TEXT_BYTES => wrong(format!("has {} bytes, more than {MAX_TEXT_BYTES}", text.len())),
        _ if text.contains('\0') => wrong("holds a NUL byte".to_owned()),
        _ if text.trim().is_empty() => wrong("is empty".to_owned()),
        _ if description.len() > MAX_DESCRIPTION_BYTES => {
            wrong(format!("has a description of more than {MAX_DESCRIPTION_BYTES} bytes"))
        }
        _ => Ok(()),
    }
}

/// Reads a regular file whole, following no link and waiting for no pipe.
pub(super) fn read_capped(path: &Path, most: u64) -> io::Result<String> {
    let flags = i32::try_from(OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits()).unwrap_or(0);
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> (tempfile::TempDir, Library) {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::at(folder.path().join("state"));
        (folder, library)
    }

    #[test]
    fn a_script_is_found_by_id_and_by_a_name_that_one_has() {
        let (_folder, library) = library();
        assert!(library.list().unwrap().0.is_empty());
        let one = library.create("echo 1", Manifest::named("one"), "says 1", Author::Llm).unwrap();
        assert_eq!(library.get(&one.id).unwrap().text, "echo 1");
        assert_eq!(library.get("one").unwrap().digest(), one.digest());
        library.create("echo 2", Manifest::named("one"), "", Author::User).unwrap();
        assert!(matches!(library.get("one"), Err(LibraryError::SeveralOf(_))));
        library.delete(&one.id).unwrap();
        assert!(matches!(library.get(&one.id), Err(LibraryError::Unknown(_))));
        assert_eq!(library.get("one").unwrap().text, "echo 2");
    }

    #[test]
    fn what_is_no_script_is_refused() {
        let (folder, library) = library();
        for text in ["", " \n", "a\0b", &"x".repeat(MAX_TEXT_BYTES + 1)] {
            assert!(library.create(text, Manifest::named("x"), "", Author::User).is_err());
        }
        for named in ["../../etc/passwd", "", "x/y", "2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b"] {
            assert!(matches!(library.get(named), Err(LibraryError::Unknown(_))), "{named}");
        }
        let one = library.create("echo 1", Manifest::named("one"), "", Author::User).unwrap();
        let text = folder.path().join("state/scripts").join(format!("{}.sh", one.id));
        std::fs::remove_file(&text).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &text).unwrap();
        assert!(matches!(library.get(&one.id), Err(LibraryError::Damaged { .. })));
        std::fs::remove_file(&text).unwrap();
        std::fs::write(&text, [0xff]).unwrap();
        assert!(matches!(library.get(&one.id), Err(LibraryError::Damaged { .. })));
        let (scripts, wrong) = library.list().unwrap();
        assert_eq!((scripts.len(), wrong.len()), (0, 1));
        assert!(matches!(library.get("no such"), Err(LibraryError::UnknownBesideDamaged { damaged: 1, .. })));
        for content in [vec![b'x'; 10 << 20], b"echo \0".to_vec()] {
            std::fs::write(&text, content).unwrap();
            assert!(matches!(library.get(&one.id), Err(LibraryError::Damaged { .. })));
        }
    }

    #[test]
    fn a_damaged_script_that_is_used_stays() {
        let (folder, library) = library();
        for (ending, stays) in [("sh", true), ("json", false)] {
            let one = library.create("echo 1", Manifest::named("one"), "", Author::User).unwrap();
            library.link(&one.id, "nightly", true).unwrap();
            std::fs::write(folder.path().join("state/scripts").join(format!("{}.{ending}", one.id)), [0xff]).unwrap();
            let deleted = library.delete(&one.id);
            assert_eq!(matches!(deleted, Err(LibraryError::InUse(_))), stays, "{ending}: {deleted:?}");
        }
    }
}
