//! Who a command runs as. Root hands over to the workspace's owner where that is somebody else.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use serde::Serialize;

/// Who a command runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "as")]
pub enum RunAs {
    /// The caller, an ordinary user.
    Caller {
        /// Its id.
        uid: u32,
    },
    /// The owner of the workspace, handed over to by root.
    Owner {
        /// Its id.
        uid: u32,
        /// Its group.
        gid: u32,
    },
    /// Root without capabilities: the workspace is root's.
    Root,
}

/// A user's own group, by `/etc/passwd`. Never the folder's, which may be root's.
fn group_of(uid: u32) -> u32 {
    let table = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let group = table.lines().find_map(|line| match line.split(':').collect::<Vec<_>>().as_slice() {
        [_, _, id, group, ..] if id.parse() == Ok(uid) => group.parse().ok(),
        _ => None,
    });
    group.filter(|group| *group != 0).unwrap_or(uid)
}

impl RunAs {
    /// Whom to try, best first, for work in this folder.
    pub fn candidates(workspace: &Path) -> Vec<Self> {
        let own = rustix::process::geteuid().as_raw();
        if own != 0 {
            return vec![Self::Caller { uid: own }];
        }
        match std::fs::metadata(workspace) {
            // Never root instead: what lies in the folder could make the hand-over fail.
            Ok(found) if found.uid() != 0 => vec![Self::Owner { uid: found.uid(), gid: group_of(found.uid()) }],
            _ => vec![Self::Root],
        }
    }

    /// True when a folder of this owner is one that this user may work in.
    pub const fn may_work_for(self, owner: u32) -> bool {
        match self {
            Self::Caller { .. } => true,
            Self::Owner { uid, .. } => uid == owner,
            Self::Root => owner == 0,
        }
    }

    /// True for a file whose mode, or that of a folder above it, this user could change without writing it: it is the user's, and not
    /// mounted read-only. What is not there is nobody's. Root goes through a folder whatever its mode.
    pub(crate) fn may_change_mode(self, path: &Path) -> bool {
        let id = self.uid();
        let is_fixed = |path: &Path| {
            rustix::fs::statvfs(path).is_ok_and(|mount| mount.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
        };
        let may_change = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.uid() == id) && !is_fixed(path);
        let is_there = || std::fs::symlink_metadata(path).is_ok();
        may_change(path) || !self.is_root() && is_there() && path.ancestors().skip(1).any(may_change)
    }

    /// The user's number.
    pub const fn uid(self) -> u32 {
        match self {
            Self::Caller { uid } | Self::Owner { uid, .. } => uid,
            Self::Root => 0,
        }
    }

    /// True for root.
    pub const fn is_root(self) -> bool {
        matches!(self, Self::Root)
    }

    /// Makes a command run as this user.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Self::Owner { uid, gid } = self {
            // As root, this also gives up all other groups.
            command.gid(gid).uid(uid);
        }
    }

    /// False when, by the modes of the folders above it, this user cannot even come near a path that the caller can.
    pub(crate) fn can_reach(self, path: &Path) -> bool {
        let Self::Owner { uid, gid } = self else { return true };
        path.ancestors().skip(1).all(|folder| {
            std::fs::metadata(folder).is_ok_and(|found| {
                let shift = if found.uid() == uid {
                    6
                } else if found.gid() == gid {
                    3
                } else {
                    0
                };
                found.mode() >> shift & 1 == 1
            })
        })
    }

    /// Gives a file to this user.
    pub(crate) fn give(self, path: &Path) -> std::io::Result<()> {
        match self {
            Self::Owner { uid, gid } => std::os::unix::fs::chown(path, Some(uid), Some(gid)),
            Self::Caller { .. } | Self::Root => Ok(()),
        }
    }

    /// The user's name and home folder, by `/etc/passwd`.
    pub fn account(self) -> Option<(String, String)> {
        let uid = self.uid();
        let table = std::fs::read_to_string("/etc/passwd").ok()?;
        let lines = table.lines().map(|line| line.split(':').collect::<Vec<_>>());
        lines.into_iter().find_map(|fields| match fields.as_slice() {
            [name, _, id, _, _, home, ..] if id.parse() == Ok(uid) => Some(((*name).to_owned(), (*home).to_owned())),
            _ => None,
        })
    }
}
