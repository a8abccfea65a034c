//! The places of a run: where it works, what it may write, what it may not read. Checked before anything starts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use crate::inner::Expected;
use crate::presets::Access;

/// Folders that are never a workspace: whoever may write there owns the machine.
const NEVER: [&str; 16] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var", "/home",
    "/root", "/tmp",
];

/// What is wrong with a run's places.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The working directory is not there.
    #[error("Working directory does not exist: {0} (conversation may need to be recreated)")]
    NoFolder(PathBuf),
    /// It is no folder.
    #[error("Working directory is not a directory: {0}")]
    NotAFolder(PathBuf),
    /// A write root cannot be used.
    #[error("{} cannot be a folder to write to: {why}", path.display())]
    BadRoot {
        /// The folder.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A path is not UTF-8.
    #[error("the path {} is not UTF-8", .0.display())]
    NotText(PathBuf),
    /// A folder to work in is one that must stay hidden.
    #[error("{} lies in {}, which the preset hides", root.display(), hidden.display())]
    Hidden {
        /// The folder.
        root: PathBuf,
        /// What is hidden.
        hidden: PathBuf,
    },
}

impl PlaceError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoFolder(_) => "create it, or start again in a folder that exists",
            Self::NotAFolder(_) => "name the folder that holds it",
            Self::BadRoot { .. } => "name a folder that exists, by its real path, below a project or home folder",
            Self::NotText(_) => "rename it",
            Self::Hidden { .. } => "work in another folder, or change `filesystem.hide` in runner.toml",
        }
    }
}

/// Where a run works and what it may write, before anything is checked.
#[derive(Debug, Clone)]
pub struct Roots {
    /// Where the command starts.
    pub cwd: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
    /// Whether it may be written.
    pub access: Access,
    /// More folders that may be written.
    pub write: Vec<PathBuf>,
}

/// What is kept from a run.
#[derive(Debug, Clone, Default)]
pub struct Hidden {
    /// Paths that are not read.
    pub hide: Vec<PathBuf>,
    /// Paths that are not written, below the write roots.
    pub protect: Vec<PathBuf>,
    /// Paths below protected ones that may be written all the same.
    pub keep_writable: Vec<PathBuf>,
}

/// The checked places of a run. All paths are absolute, real and UTF-8.
#[derive(Debug, Clone)]
pub struct Places {
    /// Where the command starts.
    pub cwd: String,
    /// The workspace.
    pub workspace: String,
    /// Folders that may be written, and what they are.
    pub write: Vec<(String, u64, u64)>,
    /// Existing paths that must not be read, shortest first.
    pub hide: Vec<String>,
    /// Existing paths below the write roots that must not be written.
    pub protect: Vec<String>,
    /// Folders that are only read, and must be seen even where their surroundings are hidden.
    pub read: Vec<String>,
    /// Folders below the write roots that must stay what and where they are, though they may be written.
    pub pinned: Vec<String>,
}

impl Places {
    /// Checks everything that can be checked before the start.
    pub fn check(roots: &Roots, hidden: &Hidden) -> Result<Self, PlaceError> {
        let cwd = folder(&roots.cwd)?;
        let workspace = folder(&roots.workspace)?;
        let mut write = Vec::new();
        if roots.access == Access::Write {
            write.push(root(&roots.workspace)?);
        }
        for more in &roots.write {
            write.push(root(more)?);
        }
        // A folder below another one is part of it.
        let all: Vec<String> = write.iter().map(|(path, ..)| path.clone()).collect();
        write.retain(|(path, ..)| !all.iter().any(|other| other != path && is_below(path, other)));
        write.sort();
        write.dedup();
        let mut hide = existing(&hidden.hide);
        let nested: Vec<String> = hide.clone();
        hide.retain(|path| !nested.iter().any(|other| other != path && is_below(path, other)));
        for place in write.iter().map(|(path, ..)| path).chain([&cwd]) {
            if let Some(over) = hide.iter().find(|hidden| is_below(place, hidden)) {
                return Err(PlaceError::Hidden { root: place.into(), hidden: over.into() });
            }
        }
        let below_a_root = |path: &String| write.iter().any(|(root, ..)| path != root && is_below(path, root));
        let mut protect = existing(&hidden.protect);
        protect.retain(below_a_root);
        let mut pinned = existing(&hidden.keep_writable);
        pinned.retain(below_a_root);
        Ok(Self { cwd, workspace, write, hide, protect, read: Vec::new(), pinned })
    }

    /// What the innermost process must find where the write roots are.
    pub(super) fn expected(&self) -> Vec<Expected> {
        self.write.iter().map(|(path, dev, ino)| Expected { path: path.clone(), dev: *dev, ino: *ino }).collect()
    }
}

/// True when a path is another one or lies below it.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    Path::new(path).starts_with(folder)
}

/// A folder that is there, by its real path.
fn folder(path: &Path) -> Result<String, PlaceError> {
    let real = std::fs::canonicalize(path).map_err(|_| PlaceError::NoFolder(path.to_owned()))?;
    if !real.is_dir() {
        return Err(PlaceError::NotAFolder(path.to_owned()));
    }
    real.into_os_string().into_string().map_err(|path| PlaceError::NotText(path.into()))
}

/// A folder that may be written. No link on its way: whoever can put one there would choose the folder.
fn root(path: &Path) -> Result<(String, u64, u64), PlaceError> {
    let bad = |why: &str| PlaceError::BadRoot { path: path.to_owned(), why: why.to_owned() };
    if !path.is_absolute() || path.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
        return Err(bad("it is not an absolute path"));
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => opened,
        // Kernels before 5.6: no link may be found by resolving either.
        Err(rustix::io::Errno::NOSYS) => match std::fs::canonicalize(path) {
            Ok(real) if real == path => {
                rustix::fs::open(path, flags, Mode::empty()).map_err(|error| bad(&error.to_string()))?
            }
            _ => return Err(bad("it is a link, or lies behind one")),
        },
        Err(error) if error == rustix::io::Errno::LOOP || path.is_symlink() => {
            let real = std::fs::canonicalize(path).map(|real| format!("; it leads to {}", real.display()));
            return Err(bad(&format!("it is a link, or lies behind one{}", real.unwrap_or_default())));
        }
        Err(error) => return Err(bad(&std::io::Error::from(error).to_string())),
    };
    let status = rustix::fs::fstat(&opened).map_err(|error| bad(&error.to_string()))?;
    let plain: PathBuf = path.components().collect();
    if NEVER.iter().any(|never| plain == Path::new(never)) {
        return Err(bad("it belongs to the system"));
    }
    if ["/proc", "/sys", "/dev"].iter().any(|never| plain.starts_with(never)) {
        return Err(bad("it is no ordinary file system"));
    }
    let text = plain.into_os_string().into_string().map_err(|path| PlaceError::NotText(path.into()))?;
    Ok((text, status.st_dev, status.st_ino))
}

/// The real paths of those that exist, shortest first, each once. One that is no text has no name to be asked for.
fn existing(paths: &[PathBuf]) -> Vec<String> {
    let real = paths.iter().filter_map(|path| std::fs::canonicalize(path).ok());
    let mut found: Vec<String> = real.filter_map(|path| path.into_os_string().into_string().ok()).collect();
    found.sort();
    found.dedup();
    found
}

/// The workspace around a folder: the repository that holds it, else the folder itself.
pub fn around(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    let own = device(&cwd);
    let candidates = cwd.ancestors().take_while(|folder| {
        home.as_deref() != Some(*folder)
            && !NEVER.iter().any(|never| *folder == Path::new(never))
            && device(folder) == own
    });
    candidates.filter(|folder| folder.join(".git").exists()).last().map_or(cwd.clone(), Path::to_owned)
}
