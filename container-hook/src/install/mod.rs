//! Puts the hook into an agent's settings, and takes it out again.
//!
//! What was there is kept beside the settings with a digest of what was written, so that taking the hook out gives back the
//! same bytes. Where somebody has edited the settings meanwhile, only our entries go. A settings file is exchanged as a whole:
//! it is the old one or the new one, also on a full disk and when the process dies here; two at once wait for each other.

pub(crate) mod entries;

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::agents::{AGENTS, AgentRow, Place, Scope};
use bashgate_shared::command::Digest;
use bashgate_shared::object;
use serde::{Deserialize, Serialize};

pub use entries::{EntryError, Wanted, holds_ours};

/// Largest settings that are touched, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// What stands behind a settings file's name for what was there before.
const UNDO: &str = ".before-bashgate";

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The agent has no such settings.
    #[error("{agent} has no {} settings", scope.name())]
    NoPlace {
        /// The agent.
        agent: &'static str,
        /// For whom they were to count.
        scope: Scope,
    },
    /// There is no home folder.
    #[error("there is no home folder: HOME is not set to an absolute path")]
    NoHome,
    /// The settings cannot be used.
    #[error("{}: {source}", file.display())]
    File {
        /// The file or folder.
        file: PathBuf,
        source: io::Error,
    },
    /// They are no regular file.
    #[error("{} is {what}", file.display())]
    Odd {
        /// The file.
        file: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// What is in them is not what it should be.
    #[error("{}: {source}; it is left as it is", file.display())]
    Entry {
        /// The file.
        file: PathBuf,
        source: EntryError,
    },
}

impl InstallError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoPlace { .. } => "choose another --scope: user, project or managed",
            Self::NoHome => "set HOME, or choose --scope project or managed",
            Self::File { .. } => "check its owner, its mode and the disk; managed settings belong to root",
            Self::Odd { .. } => "make it a plain file of its own",
            Self::Entry { source: EntryError::NoWebFetch(_), .. } => "leave --deny-webfetch out",
            Self::Entry { source: EntryError::Foreign, .. } => "move it away, then run this again",
            Self::Entry { .. } => "correct the settings first; the agent may be ignoring them as well",
        }
    }
}

/// What was done to a settings file.
#[derive(Debug, PartialEq, Eq)]
pub enum Done {
    /// Our entries are in it now; these are its texts before and now.
    Written {
        /// `None` where there was no file.
        before: Option<String>,
        now: String,
    },
    /// They were in it already, the same.
    AsBefore,
    /// It is as it was before us, byte for byte; `false` where there was none, and is none again.
    Restored {
        /// True when there was one.
        exists: bool,
    },
    /// Somebody has edited it since: only our entries are gone.
    Stripped,
    /// There was nothing of ours in it.
    NothingThere,
}

/// Where an agent's settings lie for somebody.
pub fn settings_file(
    agent: &'static AgentRow,
    scope: Scope,
    project: &Path,
) -> Result<(PathBuf, &'static Place), InstallError> {
    let place = agent.places.iter().find(|place| place.scope == scope);
    let place = place.ok_or(InstallError::NoPlace { agent: agent.title, scope })?;
    let variable = place.variable.and_then(std::env::var_os).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = match (scope, variable) {
        (Scope::User, Some(folder)) => folder,
        (Scope::User, None) => {
            let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
            home.ok_or(InstallError::NoHome)?.join(place.folder)
        }
        (Scope::Project, _) => project.join(place.folder),
        (Scope::Managed, _) => PathBuf::from(place.folder),
    };
    Ok((folder.join(place.file), place))
}

/// The settings in which the hook stands: those of this person, of the machine, and of the folders that these lie in.
pub fn where_we_stand(project: &Path) -> Vec<PathBuf> {
    let files = AGENTS.iter().flat_map(|agent| {
        let of_all = [(Scope::User, project), (Scope::Managed, project)].into_iter();
        let of_projects = project.ancestors().map(|folder| (Scope::Project, folder));
        let places = of_all.chain(of_projects);
        places.filter_map(|(scope, folder)| settings_file(agent, scope, folder).ok()).map(|(file, _)| file)
    });
    files.filter(|file| read(file).ok().flatten().is_some_and(|text| holds_ours(&text))).collect()
}

/// Puts the hook into a settings file. With `dry_run` nothing is changed.
pub fn install(file: &Path, place: &Place, wanted: &Wanted<'_>, dry_run: bool) -> Result<Done, InstallError> {
    let failed = |source| InstallError::File { file: file.to_owned(), source };
    let folder = file.parent().unwrap_or(Path::new("/"));
    if !dry_run {
        DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(failed)?;
    }
    let _turn = if folder.is_dir() { Some(turn(folder).map_err(failed)?) } else { None };
    let now = read(file)?;
    let undo = Undo::read(file);
    // What was there before us is what ours is added to, unless somebody has edited it since.
    let original = match (&undo, &now) {
        (Some(undo), Some(now)) if undo.wrote == digest(now) => undo.original.clone(),
        _ => now.clone(),
    };
    let entry = |source| InstallError::Entry { file: file.to_owned(), source };
    let new = wanted.added(place.form, original.as_deref()).map_err(entry)?;
    if now.as_ref() == Some(&new) && (undo.is_some() || dry_run) {
        return Ok(Done::AsBefore);
    }
    // Ours that stood there without a note of what was before: a copied folder, or another version.
    let original = match original {
        Some(text) if entries::holds_ours(&text) => entries::removed(place.form, &text).map_err(entry)?,
        original => original,
    };
    if !dry_run {
        let mode = if now.is_some() { mode_of(file) } else { 0o644 };
        Undo { wrote: digest(&new), original }.write(file).map_err(failed)?;
        exchange(file, new.as_bytes(), mode).map_err(failed)?;
    }
    Ok(Done::Written { before: now, now: new })
}

/// Takes the hook out of a settings file. With `dry_run` nothing is changed.
pub fn uninstall(file: &Path, place: &Place, dry_run: bool) -> Result<Done, InstallError> {
    let failed = |source| InstallError::File { file: file.to_owned(), source };
    let folder = file.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        return Ok(Done::NothingThere);
    }
    let _turn = turn(folder).map_err(failed)?;
    let now = read(file)?;
    let undo = Undo::read(file);
    let forget = || match std::fs::remove_file(undo_file(file)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    };
    let Some(now) = now else {
        if !dry_run {
            forget()?;
        }
        return Ok(Done::NothingThere);
    };
    match undo {
        Some(undo) if undo.wrote == digest(&now) => {
            if !dry_run {
                match &undo.original {
                    Some(original) => exchange(file, original.as_bytes(), mode_of(file)).map_err(failed)?,
                    None => std::fs::remove_file(file).map_err(failed)?,
                }
                forget()?;
            }
            Ok(Done::Restored { exists: undo.original.is_some() })
        }
        _ if entries::holds_ours(&now) => {
            let stripped = entries::removed(place.form, &now);
            let stripped = stripped.map_err(|source| InstallError::Entry { file: file.to_owned(), source })?;
            if !dry_run {
                match stripped {
                    Some(text) => exchange(file, text.as_bytes(), mode_of(file)).map_err(failed)?,
                    None => std::fs::remove_file(file).map_err(failed)?,
                }
                forget()?;
            }
            Ok(Done::Stripped)
        }
        _ => {
            if !dry_run {
                forget()?;
            }
            Ok(Done::NothingThere)
        }
    }
}

/// What was there before us, and a digest of what we wrote.
#[derive(Serialize, Deserialize)]
struct Undo {
    wrote: String,
    original: Option<String>,
}

impl Undo {
    /// What cannot be read counts as not there: then only our entries are taken out.
    fn read(file: &Path) -> Option<Self> {
        let text = read(&undo_file(file)).ok().flatten()?;
        object::from_slice(text.as_bytes()).ok()
    }

    fn write(&self, file: &Path) -> io::Result<()> {
        exchange(&undo_file(file), serde_json::to_string(self).unwrap_or_default().as_bytes(), 0o600)
    }
}

/// Where what was there before is kept: beside the settings, or, where those lie in a project that somebody may have written, in
/// this person's own folder.
fn undo_file(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(UNDO);
    let beside = file.with_file_name(&name);
    let homes = [std::env::var_os("HOME").map(PathBuf::from), Some(PathBuf::from("/etc"))];
    let is_ours = homes.iter().flatten().any(|home| {
        // `~/.claude/settings.json`, and not `~/project/.claude/settings.json`.
        file.strip_prefix(home).is_ok_and(|inside| {
            inside
                .components()
                .next()
                .is_some_and(|first| home == Path::new("/etc") || first.as_os_str().to_string_lossy().starts_with('.'))
        })
    });
    let state = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state/bashgate-hook"));
    match state {
        Some(state) if !is_ours => {
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(&state);
            let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
            let digest: String = digest(&whole.to_string_lossy()).chars().take(24).collect();
            state.join(format!("{digest}{UNDO}"))
        }
        _ => beside,
    }
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).hex()
}

/// One after the other in a folder.
fn turn(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

fn mode_of(file: &Path) -> u32 {
    std::fs::metadata(file).map_or(0o644, |meta| meta.permissions().mode() & 0o7777)
}

/// A settings file as a text; `None` where there is none. No link is followed: what it leads to is somebody else's.
pub fn read(file: &Path) -> Result<Option<String>, InstallError> {
    let failed = |source| InstallError::File { file: file.to_owned(), source };
    let odd = |what| InstallError::Odd { file: file.to_owned(), what };
    let meta = match std::fs::symlink_metadata(file) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if meta.is_symlink() {
        return Err(odd("a link"));
    }
    if !meta.is_file() {
        return Err(odd("no regular file"));
    }
    if meta.len() > MAX_BYTES {
        return Err(odd("larger than 4 MiB"));
    }
    let mut bytes = Vec::new();
    let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(failed)?;
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map(Some).map_err(|_| odd("no UTF-8 text"))
}

/// Exchanges a file as a whole. What it was stays until the new one is safely on the disk.
fn exchange(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = file.with_file_name(name);
    let _ = std::fs::remove_file(&temporary);
    let put = || {
        let mut new = OpenOptions::new().write(true).create_new(true).mode(mode & 0o777).open(&temporary)?;
        new.set_permissions(Permissions::from_mode(mode))?;
        if let Ok(meta) = std::fs::metadata(file) {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            // Root keeps somebody's file theirs.
            let _ = fchown(&new, Some(meta.uid()), Some(meta.gid()));
        }
        new.write_all(bytes)?;
        new.sync_all()?;
        std::fs::rename(&temporary, file)
    };
    put().inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}
