//! Landlock: what a process and its descendants may open, whoever they are, without namespaces.
//!
//! Structures and rights as in the kernel's `include/uapi/linux/landlock.h`. What a kernel does not know is left out,
//! and [`version`] says what it knows; who relies on a right asks for the version that brought it.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use serde::{Deserialize, Serialize};

use super::{Expected, kernel};

pub use kernel::landlock_version as version;

/// Version with which truncation is covered, so that nothing outside of the write roots can be changed.
pub const COVERS_TRUNCATION: u32 = 3;
/// Version with which abstract sockets and signals stay inside.
pub const COVERS_SIGNALS: u32 = 6;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// `TMPFS_MAGIC` of the kernel's `include/uapi/linux/magic.h`.
const TMPFS: i64 = 0x0102_1994;
/// The rights that a file can have; a folder has all.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
const ABSTRACT_SOCKETS: u64 = 1;
const SIGNALS: u64 = 1 << 1;

/// The kernel's `landlock_ruleset_attr`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Attributes {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

/// The kernel's `landlock_path_beneath_attr`.
#[repr(C, packed)]
#[derive(Debug)]
pub struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// What may be opened below which paths. What is in no list cannot be opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Read, listed and executed.
    pub read: Vec<String>,
    /// Read and listed, never executed.
    pub data: Vec<String>,
    /// Listed only.
    pub list: Vec<String>,
    /// Everything.
    pub write: Vec<String>,
    /// True when what is written is never executed.
    pub written_is_data: bool,
    /// Devices: read and written.
    pub devices: Vec<String>,
    /// Covers of hidden paths: read as the empty things that they are, and only while they are that.
    pub covers: Vec<String>,
}

fn rights(version: u32) -> u64 {
    let all = (1 << 13) - 1;
    let later = [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)];
    later.iter().filter(|(since, _)| version >= *since).fold(all, |all, (_, right)| all | right)
}

/// A ruleset that allows this and nothing else. `None` where the kernel has no Landlock.
///
/// A path that does not exist needs no rule.
///
/// What is granted is opened without following a link, and what is written must be what was checked: whoever could swap a
/// folder for a link meanwhile would choose what is granted.
pub fn ruleset(files: &Files, expected: &[Expected]) -> io::Result<Option<OwnedFd>> {
    let version = version();
    if version == 0 {
        return Ok(None);
    }
    let all = rights(version);
    let scoped = if version >= COVERS_SIGNALS { ABSTRACT_SOCKETS | SIGNALS } else { 0 };
    let attributes = Attributes { handled_access_fs: all, handled_access_net: 0, scoped };
    let ruleset = if version >= COVERS_SIGNALS {
        kernel::landlock_ruleset(&attributes)?
    } else {
        // Older kernels refuse fields that they do not know unless these are zero, and these are.
        kernel::landlock_ruleset(&Attributes { handled_access_fs: all, ..Attributes::default() })?
    };
    let groups = [
        (&files.read, EXECUTE | READ_FILE | READ_DIR),
        (&files.data, READ_FILE | READ_DIR),
        (&files.list, READ_DIR),
        (&files.write, if files.written_is_data { all & !EXECUTE } else { all }),
        (&files.devices, READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV),
    ];
    for (paths, wanted) in groups {
        for path in paths {
            let what = expected.iter().find(|expected| expected.path == *path).map_or(Kind::Any, Kind::This);
            allow(&ruleset, Path::new(path), wanted & all, what)?;
        }
    }
    for path in &files.covers {
        allow(&ruleset, Path::new(path), (READ_FILE | READ_DIR) & all, Kind::Cover)?;
    }
    Ok(Some(ruleset))
}

/// Opens what a path names, with no link on its way.
fn open_itself(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6: the last part at least is no link, and the rest is compared.
        Err(rustix::io::Errno::NOSYS) => {
            let real = std::fs::canonicalize(path).map_err(|_| rustix::io::Errno::NOENT)?;
            if real == path { rustix::fs::open(path, flags, Mode::empty()) } else { Err(rustix::io::Errno::LOOP) }
        }
        opened => opened,
    }
}

/// What must lie at a path for a rule to be made.
#[derive(Clone, Copy)]
enum Kind<'e> {
    Any,
    /// The folder that was checked.
    This(&'e Expected),
    /// A device, or a folder in memory: whoever replaces a hidden file removes its cover too.
    Cover,
}

fn allow(ruleset: &OwnedFd, path: &Path, wanted: u64, kind: Kind<'_>) -> io::Result<()> {
    let opened = match open_itself(path) {
        Ok(opened) => opened,
        Err(
            rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP,
        ) if !matches!(kind, Kind::This(_)) => return Ok(()),
        Err(error) => {
            return Err(io::Error::new(io::Error::from(error).kind(), format!("{}: {error}", path.display())));
        }
    };
    let status = rustix::fs::fstat(&opened)?;
    if let Kind::This(expected) = kind
        && (status.st_dev, status.st_ino) != (expected.dev, expected.ino)
    {
        return Err(io::Error::other(format!("{} is not the folder that was checked", path.display())));
    }
    let found = rustix::fs::FileType::from_raw_mode(status.st_mode);
    let is_folder = found.is_dir();
    let is_cover = || match rustix::fs::fstatfs(&opened) {
        Ok(system) if is_folder => system.f_type == TMPFS,
        _ => found.is_char_device(),
    };
    if matches!(kind, Kind::Cover) && !is_cover() {
        return Ok(());
    }
    let allowed_access = if is_folder { wanted } else { wanted & OF_FILES };
    if allowed_access == 0 {
        return Ok(());
    }
    kernel::landlock_allow(ruleset, &PathBeneath { allowed_access, parent_fd: opened.as_raw_fd() })
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
