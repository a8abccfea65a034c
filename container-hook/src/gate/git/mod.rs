//! Git as it lies in the container: which repository a folder belongs to, and which configuration is in force there.
//!
//! The same rules as git's own discovery, read without running git. What cannot be read for certain is an error.

pub(super) mod added;
pub(super) mod brought;
pub mod config;
mod filters;
mod graph;
pub mod guard;
pub(in crate::gate) mod ignoring;
mod index;
pub mod inert;
pub mod named;
pub(in crate::gate) mod numbers;
mod objects;
mod revisions;
pub(in crate::gate) mod shown;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::conditions::home;
use super::real::{Leads, follow};

/// Largest file of git's that is read, in bytes: an index of some hundred thousand files.
const MAX_FILE: u64 = 128 << 20;
/// Largest list of attributes, or of what is ignored, that is read, in bytes.
pub(in crate::gate) const MAX_LIST: u64 = 1 << 20;

/// What in a repository's folder makes git run something, or says where it sends.
pub const ACTS: [&str; 16] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "info/attributes",
    "hooks",
    "rebase-merge/git-rebase-todo",
    "rebase-merge/strategy",
    "rebase-merge/strategy_opts",
    "rebase-apply",
    "sequencer",
    "objects/info/alternates",
    "remotes",
    "branches",
    // Objects in the place of others: what is checked out then is nothing that anybody has committed.
    "refs/replace",
    "info/grafts",
];

/// Opens a file of git's, and says how long it is. Whoever made it may have made a pipe, which would be waited for.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other(format!("{} is no file", path.display())));
    }
    Ok((file, meta.len()))
}

/// Reads a file of git's, unless it is without an end.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    if length > MAX_FILE {
        return Err(io::Error::other(format!("{} is too large", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same, as text.
pub(in crate::gate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// A repository that git may find from a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder with HEAD and the index.
    pub git_dir: PathBuf,
    /// The folder with the configuration and the hooks; another one only in a linked worktree.
    pub common: PathBuf,
    /// The folder that its files lie in.
    pub root: PathBuf,
}

/// Every repository that git may find from a folder: what looks like one in it or in a folder above. Which of them git
/// takes depends on details of each; all must be harmless.
///
/// # Errors
/// When something on the way cannot be read.
pub fn repositories(folder: &Path) -> io::Result<Vec<Repository>> {
    let start = match std::fs::canonicalize(folder) {
        Ok(start) => start,
        // Git itself fails there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for root in start.ancestors() {
        let dot_git = root.join(".git");
        if let Some(real) = there(&dot_git)? {
            let git_dir = if std::fs::metadata(real)?.is_dir() { dot_git } else { pointed_at(root, &dot_git)? };
            found.push(repository(git_dir, root)?);
        }
        // A bare repository is the folder itself.
        let has = |name: &str| existing(std::fs::symlink_metadata(root.join(name))).map(|meta| meta.is_some());
        if has("HEAD")? || has("objects")? && has("refs")? {
            found.push(repository(root.to_owned(), root)?);
        }
    }
    Ok(found)
}

/// The folders whose hooks git may run for work in these repositories, of which the innermost stands first, each with the root that they
/// start in: their own, which linked worktrees share, and what settings name instead.
pub(in crate::gate) fn hook_folders(repositories: &[Repository]) -> Vec<(PathBuf, PathBuf)> {
    let Some(innermost) = repositories.first().map(|repository| repository.root.clone()) else { return Vec::new() };
    let own = repositories.iter().flat_map(|one| one.hooks().map(|folder| (folder, one.root.clone())));
    let named = named::started_by(repositories).0.into_iter().filter(|place| place.is_dir());
    own.chain(named.map(|place| (place, innermost.clone()))).collect()
}

/// Those of the repositories around a folder that are understood, and whether that is all. One whose `commondir` or `.git` file is nonsense has what lies in its
/// own folder.
pub(in crate::gate) fn those_understood(folder: &Path) -> (Vec<Repository>, bool) {
    if let Ok(all) = repositories(folder) {
        return (all, true);
    }
    let Ok(start) = std::fs::canonicalize(folder) else { return (Vec::new(), false) };
    let mut found = Vec::new();
    for root in start.ancestors() {
        let dot_git = root.join(".git");
        for git_dir in [dot_git, root.to_owned()] {
            let is_one = git_dir.join("HEAD").symlink_metadata().is_ok()
                || git_dir.join("config").symlink_metadata().is_ok()
                    && git_dir.join("objects").symlink_metadata().is_ok();
            if is_one {
                let own = Repository { git_dir: git_dir.clone(), common: git_dir.clone(), root: root.to_owned() };
                found.push(repository(git_dir, root).unwrap_or(own));
            }
        }
    }
    (found, false)
}

/// The files that the repository of a very folder tracks, as far as that is certain: git's checkout makes such files.
#[derive(Debug)]
pub struct Tracked {
    root: PathBuf,
    files: HashSet<String>,
}

impl Tracked {
    /// Those of the repository of this folder; `None` where that is not certain.
    pub fn of(root: &Path) -> Option<Self> {
        let git_dir = root.join(".git");
        // A link, or a file that points elsewhere, may be of somebody else's making.
        if !git_dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return None;
        }
        let repository = Repository { common: git_dir.clone(), git_dir, root: root.to_owned() };
        Some(Self { root: root.to_owned(), files: added::tracked(&repository)? })
    }

    /// True for one of them. What a repository in the repository says does not count.
    pub fn holds(&self, file: &Path) -> bool {
        let Ok(inside) = file.strip_prefix(&self.root) else { return false };
        let mut lies_in = inside.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        self.files.contains(inside.to_string_lossy().as_ref())
            && !lies_in.any(|folder| self.root.join(folder).join(".git").symlink_metadata().is_ok())
    }
}

fn repository(git_dir: PathBuf, root: &Path) -> io::Result<Repository> {
    let common = match existing(read_text(&git_dir.join("commondir")))? {
        Some(text) => {
            let path = text.trim_end_matches(['\n', '\r']);
            if path.contains(char::is_control) {
                return Err(io::Error::other("a `commondir` that names no folder"));
            }
            followed(git_dir.join(path))?
        }
        None => git_dir.clone(),
    };
    Ok(Repository { git_dir, common, root: root.to_owned() })
}

/// The folder that a `.git` file names.
fn pointed_at(root: &Path, file: &Path) -> io::Result<PathBuf> {
    let text = read_text(file)?;
    match text.strip_prefix("gitdir: ") {
        Some(path) => followed(root.join(path.trim_end_matches(['\n', '\r']))),
        None => Err(io::Error::other("a `.git` file that names no folder")),
    }
}

/// What a path leads to; `None` where that is plainly not there. Whatever keeps it from being followed is an error.
fn there(path: &Path) -> io::Result<Option<PathBuf>> {
    match follow(path) {
        Leads::To(real) => Ok(Some(real)),
        Leads::Nowhere(_) => Ok(None),
        Leads::Dangling(link) => Err(io::Error::other(format!("{} leads to what is not there", link.display()))),
        Leads::Doubt(why) => Err(io::Error::other(why)),
    }
}

/// The same path, if it leads to something that is there.
fn followed(path: PathBuf) -> io::Result<PathBuf> {
    match there(&path)? {
        Some(_) => Ok(path),
        None => Err(io::Error::other(format!("{} is not there", path.display()))),
    }
}

/// `None` for what does not exist; other errors stay errors.
fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where the user's configuration lies: the folder that is named first, and the usual one.
pub(in crate::gate) fn config_folders() -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    let usual = home().map(|home| home.join(".config"));
    named.into_iter().chain(usual)
}

/// The configuration files outside of repositories: the machine's and the user's.
pub fn files_outside() -> Vec<PathBuf> {
    let user = home().map(|home| home.join(".gitconfig"));
    // A run with a way out has the usual folder, whatever its caller's environment names: both count.
    let config = config_folders().map(|config| config.join("git/config"));
    ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/usr/etc/gitconfig"]
        .into_iter()
        .map(PathBuf::from)
        .chain(user)
        .chain(config)
        .collect()
}

impl Repository {
    /// Its folders: one, or two in a linked worktree.
    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.git_dir).chain((self.common != self.git_dir).then_some(&self.common))
    }

    /// Where its hooks lie unless settings say otherwise; the folder of a linked worktree counts as well.
    fn hooks(&self) -> [PathBuf; 2] {
        [&self.common, &self.git_dir].map(|folder| folder.join("hooks"))
    }

    /// Its configuration files.
    pub fn files(&self) -> [PathBuf; 2] {
        [self.common.join("config"), self.git_dir.join("config.worktree")]
    }
}
