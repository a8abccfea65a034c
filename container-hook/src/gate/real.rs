//! Where a path leads, link by link: the one way in which the gate follows a name to a file.
//!
//! `canonicalize` says "not there" of a link whose target is missing and of one that leads through another process's folder
//! alike, and fails for names that the kernel itself follows. Here nothing is "not there" but a plain name that nobody has made
//! yet; whatever else keeps a path from being followed is doubt.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Most names on the way, those of links as well: a link's target may have two thousand of them.
const MOST_STEPS: usize = 1024;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate) enum Leads {
    /// To this file or folder, whose own path has no link on it.
    To(PathBuf),
    /// To nothing yet: this is where its plain names would be made.
    Nowhere(PathBuf),
    /// Through this link to what is not there. Whoever makes that decides where the path leads.
    Dangling(PathBuf),
    /// Nobody here can say where, for this reason.
    Doubt(String),
}

impl Leads {
    /// Why it is not known to lead nowhere for good, if so. `makes` says that the command makes something, which may be what a link
    /// waits for.
    pub(in crate::gate) fn doubt(&self, makes: bool) -> Option<String> {
        match self {
            Self::Dangling(link) if makes => Some(format!("{} leads to what is not there yet", link.display())),
            Self::Doubt(why) => Some(why.clone()),
            Self::To(_) | Self::Nowhere(_) | Self::Dangling(_) => None,
        }
    }
}

/// True for a path on whose way there is a link of somebody's, now: below a folder that the system does not keep to itself.
pub(in crate::gate) fn meets_link(path: &Path) -> bool {
    // Links there are the machine's own.
    const SYSTEM: &[&str] =
        &["/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc", "/dev", "/proc", "/sys", "/run", "/var/run"];
    let mut at = PathBuf::new();
    for part in path.components() {
        at.push(part);
        match std::fs::symlink_metadata(&at) {
            Ok(meta) if meta.is_symlink() && !SYSTEM.iter().any(|folder| at.starts_with(folder)) => return true,
            Ok(_) => {}
            // What comes to lie there may be one.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return false,
            Err(_) => return true,
        }
    }
    false
}

/// Follows a path from the root. A relative one is doubt.
pub(in crate::gate) fn follow(path: &Path) -> Leads {
    let is_stream =
        |path: &Path| path.parent() == Some(Path::new("/dev")) || path.parent() == Some(Path::new("/dev/fd"));
    if !path.is_absolute() {
        return Leads::Doubt(format!("{} is no absolute path", path.display()));
    }
    if let Some(leads) = without_links(path) {
        return leads;
    }
    // Each part, and the link that it comes from.
    let parts = |path: &Path, link: Option<usize>| {
        path.components().rev().map(|part| (part.as_os_str().to_owned(), link)).collect::<Vec<_>>()
    };
    let mut waiting: Vec<(OsString, Option<usize>)> = parts(path, None);
    let mut links: Vec<PathBuf> = Vec::new();
    let mut by_kernel = false;
    let mut at = PathBuf::from("/");
    let mut steps = 0_usize;
    while let Some((part, link)) = waiting.pop() {
        steps += 1;
        if steps > MOST_STEPS {
            return Leads::Doubt(format!("{} leads further than anybody follows", path.display()));
        }
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                at.pop();
                continue;
            }
            Some(Component::RootDir) => {
                at = PathBuf::from("/");
                continue;
            }
            Some(Component::Normal(_)) => {}
            _ => continue,
        }
        let here = at.join(&part);
        // A file that is named outright is judged by its name; what lies deeper, or is reached by a link, is not. The kernel's own
        // links lead to files of whoever looks (`/proc/mounts`). The standard streams are everybody's own.
        let of_process = is_process_folder(&here);
        if !is_stream(path)
            && (of_process && (!links.is_empty() && !by_kernel || is_magic(&waiting))
                || here == Path::new("/dev/fd") && !waiting.is_empty())
        {
            return Leads::Doubt(format!("{} leads through {}", path.display(), here.display()));
        }
        match rustix::fs::readlink(&here, Vec::new()) {
            Err(Errno::INVAL) => at = here,
            // Names of processes come and go, and were judged by their text.
            Ok(_) if of_process => at = here,
            Ok(target) => {
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                by_kernel = links.is_empty() && (at == Path::new("/proc") || here == Path::new("/etc/mtab"));
                if links.len() == MOST_LINKS {
                    return Leads::Doubt(format!("{} leads through too many links", path.display()));
                }
                waiting.extend(parts(&target, Some(links.len())));
                links.push(here);
            }
            Err(Errno::NOENT | Errno::NOTDIR) => {
                let rest: Vec<&(OsString, Option<usize>)> = waiting.iter().rev().collect();
                let of_link = link.or_else(|| rest.iter().find_map(|(_, link)| *link));
                if let Some(link) = of_link.and_then(|link| links.get(link)) {
                    return Leads::Dangling(link.clone());
                }
                if rest.iter().any(|(part, _)| part == "..") {
                    return Leads::Doubt(format!("{} leads back from what is not there", path.display()));
                }
                return Leads::Nowhere(rest.iter().fold(here, |path, (part, _)| path.join(part)));
            }
            Err(error) => return Leads::Doubt(format!("{} cannot be looked at ({error})", here.display())),
        }
    }
    Leads::To(at)
}

/// The same in one call for what most paths are: without a link, and outside of `/proc`. `None` for any other, and for whatever else
/// the kernel says of it (before Linux 5.6, all of them).
fn without_links(path: &Path) -> Option<Leads> {
    if path.starts_with("/proc") || path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let plain = || path.components().collect();
    match rustix::fs::openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) => Some(Leads::To(plain())),
        // A link in front of what is not there would have been met first.
        Err(Errno::NOENT) => Some(Leads::Nowhere(plain())),
        Err(_) => None,
    }
}

fn is_process_folder(path: &Path) -> bool {
    path.parent() == Some(Path::new("/proc"))
        && path.file_name().map(|name| name.to_string_lossy()).is_some_and(|name| {
            name == "self" || name == "thread-self" || name.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// True when what stands behind a process's folder leads on to its files: its folders, root, threads and descriptors.
fn is_magic(rest: &[(OsString, Option<usize>)]) -> bool {
    let next = rest.last();
    next.is_none_or(|(next, _)| {
        ["cwd", "root", "exe", "fd", "task", "map_files", "ns"].iter().any(|name| next == *name)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_names_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/f"), "").unwrap();
        for (link, target) in [
            ("l", "a/b"),
            ("up", "a/b/.."),
            ("dangling", "nd/../a"),
            ("next", "dangling/f"),
            ("loop", "loop"),
            ("proc", "/proc/self/cwd/x"),
            ("pid", "/proc/999999/environ"),
            ("mounts", "/proc/mounts"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        for (path, want) in [
            ("a/f", Leads::To(at("a/f"))),
            ("l/../f", Leads::To(at("a/f"))),
            ("up/f", Leads::To(at("a/f"))),
            ("l/new/er", Leads::Nowhere(at("a/b/new/er"))),
            ("a/f/x", Leads::Nowhere(at("a/f/x"))),
            ("dangling", Leads::Dangling(at("dangling"))),
            ("dangling/f", Leads::Dangling(at("dangling"))),
            ("next", Leads::Dangling(at("dangling"))),
        ] {
            assert_eq!(follow(&at(path)), want, "{path}");
        }
        for doubt in ["nd/../a/f", "loop", "proc", "pid", "mounts/x"] {
            let leads = follow(&at(doubt));
            assert!(matches!(leads, Leads::Doubt(_)) || doubt == "mounts/x", "{doubt}: {leads:?}");
        }
        assert!(matches!(follow(&at(&"x".repeat(5000))), Leads::Doubt(_)));
        // Deeper than one name may say, though each link is short.
        let mut deep = at("deep");
        std::fs::create_dir(&deep).unwrap();
        for _ in 0..3 {
            deep.push("d".repeat(200));
            std::fs::create_dir(&deep).unwrap();
        }
        assert_eq!(follow(&deep), Leads::To(deep.clone()));
        assert!(matches!(follow(Path::new("a")), Leads::Doubt(_)));
    }
}
