//! Opening what a run may have put in the way of whoever looks, and giving what should not be there another name.
//!
//! INVARIANT: nothing here follows a link, waits for a pipe, or renames anything outside of the folder that it is given.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::classify::later;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

use super::MOST_BYTES;

/// What stands in the names of files that were set aside, before a random number.
const ASIDE: &str = ".set-aside-";

/// Opens a file by its own name. It may have become something meanwhile that would be waited for.
pub(super) fn open(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// The same, by a path on which there is no link either.
pub(super) fn open_without_links(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?.into())
}

/// The start of a regular file; nothing where it cannot be read.
pub(crate) fn bytes_of(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = open(file).and_then(|opened| {
        let is_file = opened.metadata()?.is_file();
        if is_file { opened.take(MOST_BYTES).read_to_end(&mut bytes) } else { Ok(0) }
    });
    read.map(|_| bytes).unwrap_or_default()
}

/// The text of a regular file that is no longer than is read, and can be.
pub(super) fn whole_text_of(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let opened = open(file).ok()?;
    let meta = opened.metadata().ok()?;
    if !meta.is_file() || meta.len() > MOST_BYTES {
        return None;
    }
    opened.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// Gives what should not be there another name, under which nothing looks for it: beside it, or, where its folder acts as a
/// whole, beside that folder. Nothing outside of `root` is touched, and no link is followed: a command could have put one on
/// the way.
pub(super) fn set_aside(path: &Path, root: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no name"));
    };
    if !parent.starts_with(root) || path.components().any(|part| matches!(part, std::path::Component::ParentDir)) {
        return Err(io::Error::other("it lies outside of the folder that is looked after"));
    }
    let to = parent.ancestors().take_while(|folder| folder.starts_with(root)).find(|folder| !acts_as_a_whole(folder));
    let to = to.unwrap_or(root);
    let (from_folder, to_folder) = (folder_without_links(parent)?, folder_without_links(to)?);
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    // Room for what is added.
    let name_bytes = name.as_bytes();
    let mut aside = OsStr::from_bytes(name_bytes.get(..200).unwrap_or(name_bytes)).to_owned();
    aside.push(format!("{ASIDE}{random:016x}"));
    let rename = || rustix::fs::renameat(&from_folder, name, &to_folder, &aside);
    match rename() {
        Err(rustix::io::Errno::ACCESS) => {
            // The run has closed its own folders, which are ours to open.
            let _opened = [opened_again(parent, root), opened_again(to, root)];
            rename()?;
        }
        renamed => renamed?,
    }
    Ok(to.join(aside))
}

/// Empties what a run has made and what cannot be given another name for want of room, so that nothing reads it; a link goes.
pub(super) fn empty(path: &Path, root: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, FileType, statat, unlinkat};
    let (Some(parent), Some(name)) = (path.parent().filter(|parent| parent.starts_with(root)), path.file_name()) else {
        return Err(io::Error::other("it lies outside of the folder that is looked after"));
    };
    let folder = &folder_without_links(parent)?;
    let _opened = opened_again(parent, root);
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => unlinkat(folder, name, AtFlags::empty())?,
        // Whoever is root reads it all the same: its content goes, which needs no room.
        FileType::RegularFile => {
            let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::TRUNC;
            // What goes by another name, too, may be somebody else's, so its content stays.
            if found.st_nlink > 1 {
                return Ok(unlinkat(folder, name, AtFlags::empty())?);
            }
            let opened = rustix::fs::openat(folder, name, flags, Mode::empty())?;
            rustix::fs::fchmod(&opened, Mode::empty())?;
        }
        kind => {
            // Opened first, and without following it: another run may put a link there at any time.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            match rustix::fs::openat(folder, name, flags, Mode::empty()) {
                Ok(opened) => rustix::fs::fchmod(&opened, Mode::empty())?,
                Err(error) if kind == FileType::Directory => return Err(error.into()),
                // A socket, which nothing reads as a file.
                Err(_) => unlinkat(folder, name, AtFlags::empty())?,
            }
        }
    }
    Ok(())
}

/// True for a folder in which whoever a workspace belongs to can make names. Root may look after what is somebody else's.
pub(super) fn may_be_written(folder: &Path, root: &Path) -> bool {
    let (Ok(folder), Ok(root)) = (fs::symlink_metadata(folder), fs::symlink_metadata(root)) else { return true };
    let mode = folder.permissions().mode();
    folder.uid() == root.uid() || mode & 0o002 != 0 || folder.gid() == root.gid() && mode & 0o020 != 0
}

/// True for a folder in which every name acts.
fn acts_as_a_whole(folder: &Path) -> bool {
    let any = folder.join("any-name-at-all");
    let in_git = folder.components().any(|part| part.as_os_str() == ".git");
    in_git && folder.ends_with("hooks")
        || later::of(&any.to_string_lossy(), None).is_some_and(|later| later.tier != later::Tier::Steers)
}

/// True for what lies in the folder of hooks of a repository in a workspace: any folder of this name beside what makes a repository.
pub(super) fn lies_in_hooks(path: &Path, workspace: &Path) -> bool {
    let inside = path.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace) && *folder != workspace);
    let is_of_git = |folder: &Path| {
        let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
        folder.ends_with(".git") || is_there("HEAD") || is_there("config") && is_there("objects")
    };
    inside.filter(|folder| folder.ends_with("hooks")).any(|folder| folder.parent().is_some_and(is_of_git))
}

/// True for a name that [`set_aside`] gave, under which nothing looks for a file.
pub(super) fn is_set_aside(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_named_so = name
        .rsplit_once(ASIDE)
        .is_some_and(|(_, rest)| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    // A command can choose such a name, too, where any name will do.
    is_named_so && !path.parent().is_some_and(acts_as_a_whole)
}

/// Opens a folder by a path on which there is no link: a command could have put one on the way.
pub(super) fn folder_without_links(folder: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// Closed folders that were opened to look into them. They are closed again when this goes. None is held open meanwhile: a run can make
/// more of them than there are descriptors.
#[derive(Debug, Default)]
pub(super) struct Reopened(Vec<OpenedAgain>);

/// One of them.
#[derive(Debug)]
struct OpenedAgain {
    path: PathBuf,
    /// Its device and number: at its path may lie another one by then.
    place: (u64, u64),
    mode: u32,
}

impl Reopened {
    /// Gives the owner of a folder in `root`, who is this process's user, all rights in it for a while, where some are missing.
    pub(super) fn opens(&mut self, folder: &Path, root: &Path) -> bool {
        let Some((opened, meta)) = own_folder(folder, root) else { return false };
        let mode = meta.permissions().mode() & 0o7777;
        let is_opened = mode & 0o700 != 0o700
            && fs::set_permissions(by_descriptor(&opened), fs::Permissions::from_mode(mode | 0o700)).is_ok();
        if is_opened {
            self.0.push(OpenedAgain { path: folder.to_owned(), place: (meta.dev(), meta.ino()), mode });
        }
        is_opened
    }

    /// Closes all of them again.
    pub(super) fn close(&mut self) {
        // The inner ones first: behind a closed one nobody gets to them.
        while let Some(OpenedAgain { path, place, mode }) = self.0.pop() {
            if let Some((opened, meta)) = own_folder(&path, &path)
                && (meta.dev(), meta.ino()) == place
            {
                let _ = fs::set_permissions(by_descriptor(&opened), fs::Permissions::from_mode(mode));
            }
        }
    }
}

impl Drop for Reopened {
    fn drop(&mut self) {
        self.close();
    }
}

/// A folder by its descriptor, which is of this one and no other.
fn by_descriptor(folder: &fs::File) -> String {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(folder))
}

/// One folder, for as long as what is given back lasts.
pub(super) fn opened_again(folder: &Path, root: &Path) -> Reopened {
    let mut opened = Reopened::default();
    opened.opens(folder, root);
    opened
}

/// A folder in `root` that is of this process's user, on no link.
fn own_folder(folder: &Path, root: &Path) -> Option<(fs::File, fs::Metadata)> {
    // What a file of git's names may lie anywhere.
    if !folder.starts_with(root) || folder.components().any(|part| part == std::path::Component::ParentDir) {
        return None;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    let opened = opened.map(fs::File::from).ok()?;
    let meta = opened.metadata().ok()?;
    (meta.uid() == rustix::process::geteuid().as_raw()).then_some((opened, meta))
}
