//! Opening a folder of a mailbox so that nothing in the mailbox leads elsewhere.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use bashgate_shared::protocol::WorkspaceName;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens `root/WORKSPACE/part`, following no link beneath `root`, whatever is exchanged meanwhile. By `openat2` where the
/// kernel has it (since Linux 5.6) and a sandbox around the host lets it through; else one folder after the other.
pub fn open(root: &Path, workspace: &WorkspaceName, part: &str) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match at_once(&root, workspace, part) {
        // Unknown to the kernel, refused by a filter, or something was moved meanwhile.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => step_by_step(&root, workspace, part),
        result => result,
    }
    .map_err(io::Error::from)
}

fn at_once(root: &OwnedFd, workspace: &WorkspaceName, part: &str) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, format!("{workspace}/{part}"), FOLDER, Mode::empty(), resolve)
}

fn step_by_step(root: &OwnedFd, workspace: &WorkspaceName, part: &str) -> rustix::io::Result<OwnedFd> {
    let own = rustix::fs::openat(root, workspace.as_str(), FOLDER, Mode::empty())?;
    rustix::fs::openat(&own, part, FOLDER, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn both_ways_open_the_same_and_refuse_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let name = |text| WorkspaceName::parse(text).unwrap();
        std::fs::create_dir_all(dir.path().join("w/requests")).unwrap();
        std::fs::create_dir_all(dir.path().join("file")).unwrap();
        std::fs::write(dir.path().join("file/requests"), "x").unwrap();
        std::fs::create_dir_all(dir.path().join("linked")).unwrap();
        symlink(dir.path().join("w/requests"), dir.path().join("linked/requests")).unwrap();
        symlink("w", dir.path().join("alias")).unwrap();
        symlink("/proc/self/cwd", dir.path().join("magic")).unwrap();
        let root = rustix::fs::open(dir.path(), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        for (workspace, opens) in
            [("w", true), ("file", false), ("linked", false), ("alias", false), ("magic", false), ("none", false)]
        {
            assert_eq!(at_once(&root, &name(workspace), "requests").is_ok(), opens, "{workspace}");
            assert_eq!(step_by_step(&root, &name(workspace), "requests").is_ok(), opens, "{workspace}");
            assert_eq!(open(dir.path(), &name(workspace), "requests").is_ok(), opens, "{workspace}");
        }
    }
}
