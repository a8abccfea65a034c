//! What was set aside, until a person gives it its name back or removes it.
//!
//! A name alone does not say where a file was: what lay in a folder that acts as a whole is beside that folder. So each is written down in
//! the runner's own folder, which no run sees.

use std::fs;
use std::io;
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::command::Digest;
use rustix::fs::RenameFlags;
use serde::{Deserialize, Serialize};

use super::aside::{folder_without_links, open};
use super::{MOST_BYTES, Violation};

/// Most that are remembered. Beyond it a person renames by hand, as the report of the run says.
const MOST: usize = 10_000;

/// A file or folder that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Aside {
    /// Where it was.
    pub path: PathBuf,
    /// Where it is.
    pub aside: PathBuf,
    /// What it was when it was set aside: a digest of a file's content, else what a link leads to or how many names a folder has.
    pub was: String,
}

/// Most names in a folder that is told from another one.
const MOST_INSIDE: usize = 2_000;
/// What is said of a folder that holds more.
const TOO_MUCH: &str = "a folder with more in it than is looked at";

/// What lies in a folder, by names, kinds and contents. `None` where it is too much.
fn all_that_it_holds(folder: &Path) -> Option<String> {
    let (mut lines, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(inner) = waiting.pop() {
        for entry in fs::read_dir(&inner).ok()? {
            let path = entry.ok()?.path();
            let name = path.strip_prefix(folder).ok()?.to_string_lossy().into_owned();
            let is_folder = fs::symlink_metadata(&path).ok()?.is_dir();
            let is = if is_folder { "a folder".to_owned() } else { what_it_is(&path) };
            if is == TOO_MUCH {
                return None;
            }
            lines.push(format!("{name}\0{is}\n"));
            if lines.len() > MOST_INSIDE {
                return None;
            }
            waiting.extend(Some(path).filter(|_| is_folder));
        }
    }
    lines.sort();
    Some(format!("a folder with {}", Digest::of(lines.concat().as_bytes()).hex()))
}

/// What a file is, as far as it can be told from another one.
fn what_it_is(path: &Path) -> String {
    let Ok(found) = fs::symlink_metadata(path) else { return "gone".to_owned() };
    if found.is_symlink() {
        // What it leads to is what somebody has read. A folder may lead anywhere, also back.
        return match fs::metadata(path) {
            Ok(behind) if behind.is_dir() => TOO_MUCH.to_owned(),
            Ok(_) => {
                format!("a link to {}, {}", fs::read_link(path).unwrap_or_default().display(), what_a_file_is(path))
            }
            Err(_) => format!("a link to {}", fs::read_link(path).unwrap_or_default().display()),
        };
    }
    if found.is_dir() {
        return all_that_it_holds(path).unwrap_or_else(|| TOO_MUCH.to_owned());
    }
    what_a_file_is(path)
}

/// The same of the file that a path leads to.
fn what_a_file_is(path: &Path) -> String {
    let Ok(found) = fs::metadata(path) else { return "gone".to_owned() };
    let mut bytes = Vec::new();
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let read = open(&real).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    match read {
        Ok(_) if found.len() <= MOST_BYTES => Digest::of(&bytes).hex(),
        _ => format!("{} bytes changed at {}.{:09}", found.len(), found.ctime(), found.ctime_nsec()),
    }
}

/// Why it is not given back.
#[derive(Debug, thiserror::Error)]
pub enum NotGivenBack {
    /// Nothing was set aside under this name.
    #[error("{0} is nothing that was set aside here")]
    Unknown(PathBuf),
    /// It is another one than was set aside.
    #[error("{0} has been changed since it was set aside")]
    Changed(PathBuf),
    /// Nobody can tell whether it is what it was.
    #[error("{0} holds more than is looked at; read it again, and give it its name yourself (mv)")]
    TooMuch(PathBuf),
    /// Its old name is taken.
    #[error("{0} is there by now")]
    Taken(PathBuf),
    /// It could not be renamed.
    #[error("cannot rename {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl NotGivenBack {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::TooMuch(_) => "list what it holds, then rename it",
            Self::Unknown(_) => "`bashgate-run set-aside` lists what there is",
            Self::Changed(_) => "read it again, and rename it yourself if you want it",
            Self::Taken(_) => "look at both, remove one, and try again",
            Self::Io { .. } => "look at the cause, then try again",
        }
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("set-aside")
}

/// Writes down what a run has found set aside. Where that fails, the report has it all the same.
pub fn remember_asides(state: &Path, found: &[Violation]) {
    let asides: Vec<_> = found.iter().filter_map(|found| Some((&*found.path, found.aside.as_deref()?))).collect();
    if asides.is_empty() {
        return;
    }
    let folder = folder(state);
    let _ = fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder);
    let room = MOST.saturating_sub(fs::read_dir(&folder).map_or(0, Iterator::count));
    for (path, aside) in asides.into_iter().take(room) {
        remember(&folder, Path::new(path), Path::new(aside));
    }
}

fn remember(folder: &Path, path: &Path, aside: &Path) {
    let name = aside.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit('-').next());
    let Some(name) = name else { return };
    let one = Aside { path: path.to_owned(), aside: aside.to_owned(), was: what_it_is(aside) };
    let mut options = fs::OpenOptions::new();
    if let Ok(file) = options.write(true).create_new(true).mode(0o600).open(folder.join(format!("{name}.json"))) {
        let _ = serde_json::to_writer(file, &one);
    }
}

/// What was set aside below a folder and still is. What is gone is forgotten.
pub fn remembered(state: &Path, below: &Path) -> Vec<Aside> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder(state)).into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let Ok(one) = serde_json::from_str::<Aside>(&text) else { continue };
        if one.aside.symlink_metadata().is_err() {
            let _ = fs::remove_file(entry.path());
        } else if one.aside.starts_with(below) {
            all.push(one);
        }
    }
    all.sort();
    all
}

/// Gives a file its name back. Nothing is replaced, and no link is followed.
pub fn give_back(state: &Path, aside: &Path) -> Result<PathBuf, NotGivenBack> {
    let one = remembered(state, Path::new("/")).into_iter().find(|one| one.aside == aside);
    let one = one.ok_or_else(|| NotGivenBack::Unknown(aside.to_owned()))?;
    let io = |source| NotGivenBack::Io { path: aside.to_owned(), source };
    if one.was == TOO_MUCH {
        return Err(NotGivenBack::TooMuch(aside.to_owned()));
    }
    if what_it_is(aside) != one.was {
        return Err(NotGivenBack::Changed(aside.to_owned()));
    }
    let parts = |path: &Path| Some((path.parent()?.to_owned(), path.file_name()?.to_owned()));
    let (Some((from, old)), Some((to, new))) = (parts(&one.aside), parts(&one.path)) else {
        return Err(NotGivenBack::Unknown(aside.to_owned()));
    };
    let (from, to) = (folder_without_links(&from).map_err(io)?, folder_without_links(&to).map_err(io)?);
    match rustix::fs::renameat_with(&from, old, &to, new, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(one.path),
        Err(rustix::io::Errno::EXIST) => Err(NotGivenBack::Taken(one.path)),
        Err(error) => Err(io(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;

    #[test]
    fn it_has_its_name_again_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap().join("work");
        let state = folder.path().join("state");
        fs::create_dir(&work).unwrap();
        let aside = work.join("hook.set-aside-0123456789abcdef");
        fs::write(&aside, "mine").unwrap();
        let path = work.join("hooks/hook");
        let found = Violation { aside: Some(aside.display().to_string()), ..Violation::of(&path, Change::SetAside) };
        remember_asides(&state, std::slice::from_ref(&found));
        let all = remembered(&state, &work);
        assert_eq!(all.iter().map(|one| (&one.path, &one.aside)).collect::<Vec<_>>(), [(&path, &aside)]);
        fs::write(&aside, "another").unwrap();
        assert!(matches!(give_back(&state, &aside), Err(NotGivenBack::Changed(_))));
        fs::write(&aside, "mine").unwrap();
        assert_eq!(remembered(&state, &folder.path().join("other")), []);
        assert!(matches!(give_back(&state, &work.join("x")), Err(NotGivenBack::Unknown(_))));
        fs::create_dir(work.join("hooks")).unwrap();
        fs::write(&path, "another").unwrap();
        assert!(matches!(give_back(&state, &aside), Err(NotGivenBack::Taken(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "another");
        fs::remove_file(&path).unwrap();
        assert_eq!(give_back(&state, &aside).unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(remembered(&state, &work), []);
        // Through a link nothing comes back.
        fs::write(&aside, "mine").unwrap();
        fs::remove_dir_all(work.join("hooks")).unwrap();
        std::os::unix::fs::symlink("/tmp", work.join("hooks")).unwrap();
        remember_asides(&state, std::slice::from_ref(&found));
        assert!(give_back(&state, &aside).is_err() && aside.exists());
    }
}
