//! The places of a run: where it works, what it may write, what it may not read. Checked before anything starts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::later::{self, Tier};
use bashgate_shared::classify::paths::{TEMPORARY, is_within};
use bashgate_shared::programs::dependencies;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use super::real::RealPaths;
use crate::inner::{Expected, Mounted};
use crate::presets::Access;
use crate::user::RunAs;

/// Folders that are never a workspace, though workspaces lie below them.
const NEVER: [&str; 6] = ["/", "/home", "/tmp", "/usr/src", "/var", "/var/tmp"];
/// Folders below which no workspace lies: whoever may write there owns the machine.
const SYSTEM: [&str; 17] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/spool",
];
/// Folders below those, below which images keep sources all the same.
const SOURCES: [&str; 2] = ["/usr/src", "/usr/local/src"];

/// True for a folder that no command is given to write to. What somebody else than root owns below `/var/lib` is a home.
fn is_system(path: &Path, owner: u32) -> bool {
    let below = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let is_service = owner != 0 && path.starts_with("/var/lib") && path != Path::new("/var/lib");
    NEVER.iter().any(|never| path == Path::new(never)) || (below(&SYSTEM) && !below(&SOURCES) && !is_service)
}

/// What is wrong with a run's places.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The working directory is not there.
    #[error("Working directory does not exist: {0} (conversation may need to be recreated)")]
    NoFolder(PathBuf),
    /// It is no folder.
    #[error("Working directory is not a directory: {0}")]
    NotAFolder(PathBuf),
    /// What is to be read where nothing else is cannot be used.
    #[error("{} cannot be given to read: {why}", path.display())]
    BadGiven {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        why: String,
    },
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
    /// The workspace would be a whole home folder, and nobody named it.
    #[error("{} is a home folder, too much to be written to by accident", .0.display())]
    Home(PathBuf),
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
            Self::BadGiven { .. } => "name a file or folder that exists, by its real path",
            Self::BadRoot { .. } => "name a folder that exists, by its real path, below a project or home folder",
            Self::NotText(_) => "rename it",
            Self::Home(_) => "start in a project's folder, or name the folder to write to with --workspace DIR",
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
    /// Files and folders that are read where nothing else of the machine is.
    pub read: Vec<PathBuf>,
    /// Whether the machine's temporary folders may be written, too.
    pub shared_tmp: bool,
    /// Who works there.
    pub run_as: RunAs,
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
    /// The runner's own folders: read, never written.
    pub own: Vec<PathBuf>,
}

/// The checked places of a run. All paths are absolute, real and UTF-8.
#[derive(Debug, Clone)]
pub struct Places {
    /// Where the command starts.
    pub cwd: String,
    /// The workspace.
    pub workspace: String,
    /// Folders that may be written, and what they are: device and inode.
    pub write: Vec<(String, u64, u64)>,
    /// Existing paths that must not be read, shortest first.
    pub hide: Vec<String>,
    /// The same, and those that do not exist yet: by the real path of what exists of them.
    pub never_read: Vec<String>,
    /// Those of them that lie where may be written: no grant can leave them out.
    pub exposed: Vec<String>,
    /// The runner's and the gate's own files that lie in a write root.
    pub own: Vec<String>,
    /// Existing paths below the write roots that must not be written.
    pub protect: Vec<String>,
    /// Files and folders that are read where nothing else of the machine is, and what they are: device and inode.
    pub given: Vec<(String, u64, u64)>,
    /// Folders that are only read, and must be seen even where their surroundings are hidden.
    pub read: Vec<String>,
    /// Folders below the write roots that must stay what and where they are, though they may be written.
    pub pinned: Vec<String>,
}

impl Places {
    /// An error for a folder that never may be written, whoever works there. It costs nothing, so that nobody looks through all of
    /// a system before it is refused.
    pub fn may_be_root(path: &Path) -> Result<(), PlaceError> {
        root(path, None).map(drop)
    }

    /// Checks everything that can be checked before the start.
    pub fn check(roots: &Roots, hidden: &Hidden) -> Result<Self, PlaceError> {
        let cwd = folder(&roots.cwd)?;
        let workspace = folder(&roots.workspace)?;
        let mut write = Vec::new();
        if roots.access == Access::Write {
            write.push(root(&roots.workspace, Some(roots.run_as))?);
        }
        for more in &roots.write {
            write.push(root(more, None)?);
        }
        let mut read = Vec::new();
        for path in &roots.read {
            let given = opened(path, OFlags::empty()).map_err(|error| match error {
                PlaceError::BadRoot { path, why } => PlaceError::BadGiven { path, why },
                error => error,
            })?;
            let (path, status) = given;
            read.push((path, status.st_dev, status.st_ino));
        }
        // A folder below another one is part of it.
        let all: Vec<String> = write.iter().map(|(path, ..)| path.clone()).collect();
        write.retain(|(path, ..)| !all.iter().any(|other| other != path && is_within(path, other)));
        write.sort();
        write.dedup();
        let mut paths = RealPaths::default();
        if let Some(odd) = paths.without_text(&hidden.hide) {
            return Err(PlaceError::NotText(odd));
        }
        let never_read: Vec<String> = hidden.hide.iter().flat_map(|path| paths.as_far_as_real(path)).collect();
        let mut hide = paths.existing(&hidden.hide);
        let nested: Vec<String> = hide.clone();
        hide.retain(|path| !nested.iter().any(|other| other != path && is_within(path, other)));
        for place in write.iter().chain(&read).map(|(path, ..)| path).chain([&cwd]) {
            if let Some(over) = hide.iter().find(|hidden| is_within(place, hidden)) {
                return Err(PlaceError::Hidden { root: place.into(), hidden: over.into() });
            }
        }
        let shared = if roots.shared_tmp { paths.existing(&TEMPORARY.map(PathBuf::from)) } else { Vec::new() };
        let roots = || write.iter().map(|(root, ..)| root).chain(&shared);
        let below_a_root = |path: &String| roots().any(|root| path != root && is_within(path, root));
        let exposed: Vec<String> = never_read.iter().filter(|path| below_a_root(path)).cloned().collect();
        let mut protect = paths.existing(&hidden.protect);
        let mut own = paths.existing(&hidden.own);
        own.retain(|path| roots().any(|root| is_within(path, root)));
        // What is the runner's own is never a root itself, nor does one lie in it.
        if let Some((root, over)) =
            write.iter().find_map(|(root, ..)| Some((root, own_folder_over(root, &hidden.own)?)))
        {
            return Err(PlaceError::Hidden { root: root.into(), hidden: over.into() });
        }
        protect.extend(own.iter().cloned());
        // What is hidden cannot be written either.
        protect.retain(|path| below_a_root(path) && !hide.iter().any(|over| is_within(path, over)));
        let mut pinned = paths.existing(&hidden.keep_writable);
        pinned.retain(below_a_root);
        Ok(Self {
            cwd,
            workspace,
            write,
            hide,
            never_read,
            exposed,
            own,
            protect,
            given: read,
            read: Vec::new(),
            pinned,
        })
    }

    /// What the innermost process must find where the write roots are.
    pub(super) fn expected(&self) -> Vec<Expected> {
        let roots = self.write.iter().chain(&self.given);
        roots.map(|(path, dev, ino)| Expected { path: path.clone(), dev: *dev, ino: *ino }).collect()
    }
}

impl Places {
    /// What must be mounted to keep places below the write roots as they are. What is gone by now is no longer what was checked.
    pub(super) fn mounted(&self) -> Vec<Mounted> {
        let places = self.pinned.iter().chain(&self.protect);
        // They are real paths: one that is a link by now is not what was checked, and nothing is like it.
        let identity = |path: &String| match std::fs::symlink_metadata(path) {
            Ok(meta) if !meta.is_symlink() => (meta.dev(), meta.ino()),
            _ => (0, 0),
        };
        places.map(|path| Mounted { path: path.clone(), shows: Some(identity(path)) }).collect()
    }
}

/// The runner's own folder that holds a path, or is it.
fn own_folder_over(root: &str, own: &[PathBuf]) -> Option<String> {
    RealPaths::default().existing(own).into_iter().find(|own| is_within(root, own))
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
/// What root hands over to its owner must still be that owner's.
fn root(path: &Path, worker: Option<RunAs>) -> Result<(String, u64, u64), PlaceError> {
    let bad = |why: &str| PlaceError::BadRoot { path: path.to_owned(), why: why.to_owned() };
    let (text, status) = opened(path, OFlags::DIRECTORY)?;
    if worker.is_some_and(|worker| !worker.may_work_for(status.st_uid)) {
        return Err(bad("its owner is another one than a moment ago"));
    }
    if is_system(Path::new(&text), status.st_uid) {
        return Err(bad("it belongs to the system"));
    }
    Ok((text, status.st_dev, status.st_ino))
}

/// What a path names, with no link on its way.
fn opened(path: &Path, more: OFlags) -> Result<(String, rustix::fs::Stat), PlaceError> {
    let bad = |why: &str| PlaceError::BadRoot { path: path.to_owned(), why: why.to_owned() };
    if !path.is_absolute() || path.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
        return Err(bad("it is not an absolute path"));
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
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
    if rustix::fs::FileType::from_raw_mode(status.st_mode).is_symlink() {
        return Err(bad("it is a link"));
    }
    let plain: PathBuf = path.components().collect();
    let text = plain.into_os_string().into_string().map_err(|path| PlaceError::NotText(path.into()))?;
    Ok((text, status))
}

/// The workspace around a folder: the repository that holds it, else the folder itself.
///
/// A `.git` that is a file belongs to a submodule or worktree: the repository that holds that is taken, if there is one.
/// What lies in another file system or is a home folder is nobody's workspace by accident.
pub fn around(cwd: &Path) -> PathBuf {
    let cwd = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let place = |path: &Path| std::fs::symlink_metadata(path).map_or((0, 0), |found| (found.dev(), found.uid()));
    let (device, own) = place(&cwd);
    let caller = rustix::process::geteuid().as_raw();
    // As git does: what somebody else has put above this folder says nothing.
    let is_ours =
        |folder: &Path| [folder, &folder.join(".git")].iter().all(|path| [own, caller].contains(&place(path).1));
    let candidates = cwd.ancestors().take_while(|folder| {
        let (now, owner) = place(folder);
        now == device && !is_home(folder) && !is_system(folder, owner)
    });
    // Nor does a repository in a folder in which what lies there acts later: somebody may have made it to work there.
    let repositories: Vec<&Path> = candidates
        .filter(|folder| folder.join(".git").exists() && is_ours(folder) && !acts_as_a_whole(folder))
        .collect();
    let whole = repositories.iter().find(|folder| folder.join(".git").is_dir()).or(repositories.last());
    whole.map_or(cwd.clone(), |folder| (*folder).to_owned())
}

/// True for a folder in which a command that nobody was asked about may write: no folder of the system, none in whose
/// files programs or settings of the user lie, and none that holds the gate's own.
pub fn is_project(folder: &Path, gate: &[PathBuf]) -> bool {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let owner = std::fs::metadata(&real).map_or(0, |found| found.uid());
    // Of whoever calls, and of every account: root works for others.
    let homes: Vec<PathBuf> = real_homes().filter(|home| home != Path::new("/")).collect();
    let below_a_home = || homes.iter().filter_map(|home| real.strip_prefix(home).ok());
    let in_settings = below_a_home().any(|below| {
        let first = below.components().next().map(|part| part.as_os_str().to_string_lossy());
        first.is_some_and(|first| first.starts_with('.') || first == "bin")
    });
    let is_installed = || below_a_home().filter_map(Path::to_str).any(dependencies::is_installed_at_home);
    // Whoever writes there writes what a shell starts.
    let holds_a_home = homes.iter().any(|home| home.starts_with(&real));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let holds_programs = std::env::split_paths(&path)
        .filter(|entry| entry.is_absolute())
        .filter_map(|entry| std::fs::canonicalize(entry).ok())
        .any(|entry| real.starts_with(&entry));
    let holds_gate =
        gate.iter().filter_map(|file| std::fs::canonicalize(file).ok()).any(|file| file.starts_with(&real));
    !is_system(&real, owner)
        && !in_settings
        && !holds_programs
        && !holds_gate
        && !acts_as_a_whole(&real)
        && !holds_a_home
        && (is_in_repository(&real) || !is_installed() && !holds_dependencies(&real))
}

fn is_in_repository(real: &Path) -> bool {
    around(real).join(".git").exists()
}

/// True for a folder whose files other projects use.
fn holds_dependencies(real: &Path) -> bool {
    let is_marked = real.ancestors().any(|folder| dependencies::MARKS.iter().any(|mark| folder.join(mark).exists()));
    real.to_str().is_none_or(dependencies::lie_in) || is_marked
}

/// True for a folder in which files act later whatever they are called, or any of some names: in an agent's settings, among git's
/// hooks, in a repository's own folder.
fn acts_as_a_whole(folder: &Path) -> bool {
    let names = ["any-name-at-all", "settings.json", "hooks.json", "config", "config.toml", "tasks.json", "hooks/x"];
    // As seen by whoever works above it.
    let above = folder.parent().unwrap_or(folder);
    let of_list = names.iter().any(|name| {
        let path = folder.join(name);
        let acts = later::of(&path.to_string_lossy(), above.to_str());
        acts.is_some_and(|later| later.tier != Tier::Steers && later.what != later::IN_PATH)
    });
    let is_repository = |folder: &Path| {
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        has("HEAD") && has("refs") && (has("objects") || has("commondir"))
    };
    of_list || folder.ancestors().any(is_repository)
}

/// True for the home folder of the caller, or of any account: too much to be written unless somebody names it.
pub fn is_home(folder: &Path) -> bool {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    real_homes().any(|home| home == real)
}

/// The home folders of whoever calls and of every account that are there, by their real paths.
fn real_homes() -> impl Iterator<Item = PathBuf> {
    let own = std::env::var_os("HOME").map(PathBuf::from);
    let table = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let accounts: Vec<PathBuf> = table.lines().filter_map(|line| line.split(':').nth(5)).map(PathBuf::from).collect();
    own.into_iter().chain(accounts).filter_map(|home| std::fs::canonicalize(home).ok())
}
