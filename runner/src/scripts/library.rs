//! Where scripts are kept: two files each, the text and what is known about it. Nothing here is believed: an approval is
//! bound to what these files say, not to the files.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::RequestId;
use bashgate_shared::script::{MAX_TEXT_BYTES, Manifest, ManifestError};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::job::Jobs;

/// Longest file with what is known about a script, in bytes.
const MAX_ABOUT_BYTES: u64 = 1024 * 1024;
/// Longest description, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 4096;
/// Most scripts of a library.
const MAX_SCRIPTS: usize = 1000;

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
    /// What it may reach.
    pub manifest: Manifest,
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
            Self::SeveralOf(_) => "name it by its id",
            Self::Manifest(_) | Self::Text(_) => "correct it, then create it again",
            Self::Full => "delete some",
            Self::Damaged { .. } => "correct or remove the file",
            Self::Io { .. } => "look at the folder's owner and its disk",
        }
    }
}

/// All scripts of a folder.
#[derive(Debug, Clone)]
pub struct Library {
    state: PathBuf,
    folder: PathBuf,
}

impl Library {
    /// The library in the runner's own folder.
    pub fn at(state: PathBuf) -> Self {
        let folder = state.join("scripts");
        Self { state, folder }
    }

    fn io(&self, source: io::Error) -> LibraryError {
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
        check_text(text)?;
        if description.len() > MAX_DESCRIPTION_BYTES {
            return Err(LibraryError::Text(format!("has a description of more than {MAX_DESCRIPTION_BYTES} bytes")));
        }
        Jobs::at(self.state.clone()).own_folder().map_err(|source| self.io(source))?;
        match std::fs::DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(self.io(error)),
            _ => {}
        }
        if self.ids()?.len() >= MAX_SCRIPTS {
            return Err(LibraryError::Full);
        }
        let id = uuid::Uuid::new_v4().to_string();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let created_at_ms = u64::try_from(now).unwrap_or(u64::MAX);
        let about = About { description: description.to_owned(), created_at_ms, created_by, manifest };
        let json = serde_json::to_string_pretty(&about).unwrap_or_default() + "\n";
        // The text comes first: a script is there once its second file is.
        for (ending, content) in [("sh", text), ("json", json.as_str())] {
            self.write(&format!("{id}.{ending}"), content).map_err(|source| self.io(source))?;
        }
        Ok(Script { id, text: text.to_owned(), about })
    }

    fn write(&self, name: &str, content: &str) -> io::Result<()> {
        let temporary = self.folder.join(format!(".{name}.new"));
        let put = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(content.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&temporary, self.folder.join(name))
        };
        put().inspect_err(|_| {
            let _ = std::fs::remove_file(&temporary);
        })
    }

    fn ids(&self) -> Result<Vec<String>, LibraryError> {
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
        for id in self.ids()? {
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
        let (scripts, _) = self.list()?;
        let mut found = scripts.into_iter().filter(|script| script.about.manifest.name == named);
        match (found.next(), found.next()) {
            (Some(script), None) => Ok(script),
            (Some(_), Some(_)) => Err(LibraryError::SeveralOf(named.to_owned())),
            (None, _) => Err(LibraryError::Unknown(named.to_owned())),
        }
    }

    fn read(&self, id: &str) -> Result<Script, LibraryError> {
        let file = |ending: &str| self.folder.join(format!("{id}.{ending}"));
        let read = |path: &Path, most: u64| match read_capped(path, most) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(LibraryError::Unknown(id.to_owned())),
            Err(error) => Err(LibraryError::Damaged { file: path.to_owned(), why: error.to_string() }),
        };
        let about = read(&file("json"), MAX_ABOUT_BYTES)?;
        let text = read(&file("sh"), MAX_TEXT_BYTES as u64)?;
        let damaged = |why: String| LibraryError::Damaged { file: file("json"), why };
        let about: About = serde_json::from_str(&about).map_err(|error| damaged(error.to_string()))?;
        let manifest = about.manifest.clone().canonical().map_err(|error| damaged(error.to_string()))?;
        check_text(&text)?;
        Ok(Script { id: id.to_owned(), text, about: About { manifest, ..about } })
    }

    /// Removes a script. An approval of it stays with the host, for the same script made again.
    pub fn delete(&self, named: &str) -> Result<Script, LibraryError> {
        let script = self.get(named)?;
        for ending in ["json", "sh"] {
            match std::fs::remove_file(self.folder.join(format!("{}.{ending}", script.id))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.io(error)),
                _ => {}
            }
        }
        Ok(script)
    }
}

fn check_text(text: &str) -> Result<(), LibraryError> {
    let wrong = |why: String| Err(LibraryError::Text(why));
    match text {
        _ if text.len() > MAX_TEXT_BYTES => wrong(format!("has {} bytes, more than {MAX_TEXT_BYTES}", text.len())),
        _ if text.contains('\0') => wrong("holds a NUL byte".to_owned()),
        _ if text.trim().is_empty() => wrong("is empty".to_owned()),
        _ => Ok(()),
    }
}

/// Reads a regular file whole, following no link and waiting for no pipe.
fn read_capped(path: &Path, most: u64) -> io::Result<String> {
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
    }
}
