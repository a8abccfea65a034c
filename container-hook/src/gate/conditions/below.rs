//! What lies below a folder: names that secrets have, and names that a list of them would not survive.

use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use bashgate_shared::classify::{PassedBy, paths, secrets};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::{Findings, ignored, public, text};
use crate::gate::git::{self, added};
use crate::gate::real::{Leads, follow};

/// Most names that are looked at below a folder. What has more is not looked through.
// So many take the tests a minute to make.
pub const MAX_NAMES: usize = if cfg!(test) { 2_500 } else { 250_000 };
/// Most folders that wait to be looked at.
const MAX_WAITING: usize = 100_000;

/// Reading everything below a folder, but what is passed by, shows these secrets.
pub(super) fn secrets_below(folder: &Path, passed_by: &PassedBy, findings: &mut Findings) {
    let leads = follow(folder);
    if let Some(why) = findings.doubt_of(&leads) {
        findings.unlooked.push(why);
        return;
    }
    let real = if let Leads::To(real) = leads { real } else { folder.to_owned() };
    // What lies there are other processes and the machine itself.
    if ["/proc", "/sys/kernel", "/dev"].iter().any(|top| real.starts_with(top)) {
        findings.unlooked.push(format!("{} leads to {}", folder.display(), real.display()));
        return;
    }
    if [folder, real.as_path()].into_iter().any(|path| secrets::is_secret_path(&text(path))) {
        if !public::is_public(&real) {
            findings.secrets.push(text(&real));
        }
        return;
    }
    let in_secret_folder = real.components().any(|part| {
        let name = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        secrets::is_secret_folder(&name)
    });
    if in_secret_folder {
        findings.secrets.push(text(&real));
        return;
    }
    let makes = findings.makes;
    // Behind a link, other lists may count than above the place where it leads.
    let is_there = paths::resolve(None, &text(folder)) == text(&real);
    let passed_by = &PassedBy { hidden: passed_by.hidden && is_there, ..passed_by.clone() };
    let end = walk(&real, Depth::All, &|entry: &Entry<'_>| {
        let stop = look(entry, &real, makes).or_else(|| leads_to_what_is_passed_by(entry, &real, passed_by));
        stop.filter(|stop| !matches!(stop, Stop::Secret(_)) || !is_passed_by(entry, &real, passed_by))
    });
    finish(end, folder, findings);
}

/// True for what the program that goes through a folder passes by.
fn is_passed_by(entry: &Entry<'_>, root: &Path, passed_by: &PassedBy) -> bool {
    if passed_by.is_nothing() {
        return false;
    }
    let path = entry.path();
    let Some(inside) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return false };
    let (folders, name) = inside.rsplit_once('/').unwrap_or(("", inside));
    // A folder is passed by for its own sake, and a link to one may be.
    let is_folder = entry.kind == FileType::Directory || std::fs::metadata(&path).is_ok_and(|meta| meta.is_dir());
    let folders = if is_folder { inside } else { folders };
    let folders: Vec<&str> = folders.split('/').filter(|part| !part.is_empty()).collect();
    let told = passed_by.has_folder(&folders) || !is_folder && passed_by.has_file(name);
    told || passed_by.hidden && ignored::is_hidden_or_ignored(root, inside)
}

/// A link to a secret that is met at its own place, where it is passed by: what is told by names alone opens the link.
fn leads_to_what_is_passed_by(entry: &Entry<'_>, root: &Path, passed_by: &PassedBy) -> Option<Stop> {
    let by_names = PassedBy { hidden: false, ..passed_by.clone() };
    if entry.kind != FileType::Symlink || by_names.is_nothing() {
        return None;
    }
    let Leads::To(real) = follow(&entry.path()) else { return None };
    let is_secret = real.starts_with(root) && real.is_file() && public::is_secret(&real);
    is_secret.then(|| Stop::Secret(text(&entry.path())))
}

/// Reading the files in a folder whose names begin and end so shows these secrets. Case does not count: bash can be told so.
pub(super) fn secrets_named(folder: &Path, start: &str, end: &str, findings: &mut Findings) {
    // Each letter by itself: `str::to_lowercase` goes by what stands behind a sigma.
    let fold = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
    let (start, end) = (fold(start), fold(end));
    let is_meant = |name: &[u8]| {
        let name = fold(&String::from_utf8_lossy(name));
        name.len() >= start.len() + end.len() && name.starts_with(&start) && name.ends_with(&end)
    };
    let leads = follow(folder);
    findings.unlooked.extend(findings.doubt_of(&leads));
    // What is not there shows nothing.
    let Leads::To(real) = leads else { return };
    let makes = findings.makes;
    let stop = walk(&real, Depth::One, &|entry: &Entry<'_>| {
        let is_file = entry.kind != FileType::Directory;
        if !is_file || !is_meant(entry.name) {
            return None;
        }
        if entry.kind != FileType::Symlink {
            return look(entry, &real, makes);
        }
        let leads = match link_leads(entry, makes) {
            Ok(leads) => leads?,
            Err(stop) => return Some(stop),
        };
        (entry.is_called_secret() && !public::is_public(&leads) || public::is_secret(&leads))
            .then(|| Stop::Secret(text(&entry.path())))
    });
    finish(stop, folder, findings);
}

/// Secrets that `git add` would take in, called in a folder for a path, or for the whole working tree.
pub(super) fn secrets_added(folder: &Path, wanted: Option<&Path>, findings: &mut Findings) {
    let Ok(repositories) = git::repositories(folder) else {
        findings.unchecked = true;
        return;
    };
    // Which one git takes is settled elsewhere.
    for repository in repositories {
        let Some(tracked) = added::tracked(&repository) else {
            findings.unproven.push("the repository's index is not understood".to_owned());
            return;
        };
        let start = wanted.unwrap_or(&repository.root);
        let leads = follow(start);
        findings.unproven.extend(findings.doubt_of(&leads));
        let Leads::To(start) = leads else { continue };
        let Leads::To(root) = follow(&repository.root) else {
            findings.unchecked = true;
            return;
        };
        let inner = start.ancestors().take_while(|folder| *folder != root && folder.starts_with(&root));
        if inner.into_iter().any(|folder| folder.join(".git").symlink_metadata().is_ok()) {
            findings.unproven.push(format!("{} lies in a repository in the repository", start.display()));
            return;
        }
        let see = |entry: &Entry<'_>| {
            makes_repository(entry, &root).or_else(|| {
                let path = entry.path();
                let is_taken = entry.is_called_secret()
                    && entry.kind != FileType::Directory
                    && added::takes_in(&repository, &tracked, &path);
                is_taken.then(|| Stop::Secret(text(&path)))
            })
        };
        if start.is_dir() {
            finish(walk(&start, Depth::All, &see), folder, findings);
        } else if added::is_secret(&start) && added::takes_in(&repository, &tracked, &start) {
            findings.secrets.push(text(&start));
        }
    }
}

/// Repositories below the working trees in which git works in a folder: it may look into them as soon as a commit names them, each by its
/// own settings.
pub(super) fn no_repository_below(folder: &Path, findings: &mut Findings) {
    let Ok(repositories) = git::repositories(folder) else {
        findings.unchecked = true;
        return;
    };
    for repository in repositories {
        let Leads::To(root) = follow(&repository.root) else {
            findings.unchecked = true;
            return;
        };
        let see = |entry: &Entry<'_>| makes_repository(entry, &root);
        finish(walk(&root, Depth::All, &see), folder, findings);
    }
}

/// A folder with a repository of its own, in the working tree of another one.
fn makes_repository(entry: &Entry<'_>, root: &Path) -> Option<Stop> {
    // An older git follows a link to one, too.
    let leads_to_one = || {
        let is_own = || entry.path().canonicalize().is_ok_and(|to| to == *root);
        entry.kind.is_symlink() && entry.path().join(".git").symlink_metadata().is_ok() && !is_own()
    };
    let is_one = entry.name.eq_ignore_ascii_case(b".git") && *entry.folder != *root || leads_to_one();
    is_one.then(|| Stop::Unproven(format!("{} makes a repository in the repository", entry.path().display())))
}

/// Names below a folder that `xargs` would take apart.
pub(super) fn plain_names_below(folder: &Path, findings: &mut Findings) {
    let leads = follow(folder);
    findings.unproven.extend(findings.doubt_of(&leads));
    // It holds no names.
    let Leads::To(real) = leads else { return };
    let end = walk(&real, Depth::All, &|entry: &Entry<'_>| {
        if paths::stays_whole(entry.name) {
            None
        } else {
            Some(Stop::Unproven(format!("the name {:?} would be taken apart", text(&entry.path()))))
        }
    });
    finish(end, folder, findings);
}

/// Links of these names below a folder: what they lead to is read as what they are called.
pub(super) fn no_links_below(folder: &Path, names: &[String], findings: &mut Findings) {
    let leads = follow(folder);
    findings.unproven.extend(findings.doubt_of(&leads));
    let Leads::To(real) = leads else { return };
    let end = walk(&real, Depth::All, &|entry: &Entry<'_>| {
        let is_one = entry.kind == FileType::Symlink && names.iter().any(|name| name.as_bytes() == entry.name);
        is_one.then(|| Stop::Unproven(format!("{} is a link", entry.path().display())))
    });
    finish(end, folder, findings);
}

/// The folders below this one in which something of this name lies, or why they could not all be looked at.
pub(in crate::gate) fn folders_with(name: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let found = Mutex::new(Vec::new());
    let end = walk(folder, Depth::All, &|entry: &Entry<'_>| {
        if entry.name.eq_ignore_ascii_case(name.as_bytes()) {
            found.lock().unwrap_or_else(PoisonError::into_inner).push(entry.folder.to_owned());
        }
        None
    });
    match end {
        None => Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner)),
        Some(Stop::Secret(why) | Stop::Unproven(why) | Stop::Unlooked(why)) => Err(why),
    }
}

/// A name in a folder.
struct Entry<'e> {
    folder: &'e Path,
    folder_text: &'e str,
    name: &'e [u8],
    kind: FileType,
    /// What the folder is called may make any name in it a secret's.
    of_note: bool,
}

impl Entry<'_> {
    fn path(&self) -> PathBuf {
        self.folder.join(std::ffi::OsStr::from_bytes(self.name))
    }

    /// True where the name, or the place, says that a secret lies there.
    fn is_secret(&self) -> bool {
        secrets::is_secret_in(self.folder_text, self.of_note, self.name)
    }

    /// True for a name that folders with secrets have.
    fn is_secret_folder(&self) -> bool {
        secrets::is_secret_folder(&String::from_utf8_lossy(self.name).to_ascii_lowercase())
    }

    /// True for a name, or a place, that says that a secret lies there.
    fn is_called_secret(&self) -> bool {
        self.is_secret() || self.kind != FileType::RegularFile && self.is_secret_folder()
    }
}

/// Why a walk ends.
enum Stop {
    /// It met a secret.
    Secret(String),
    /// It met something that is no secret and yet stands against the command.
    Unproven(String),
    /// There is too much, or it leads out: this was not looked through.
    Unlooked(String),
}

fn finish(end: Option<Stop>, folder: &Path, findings: &mut Findings) {
    match end {
        None => {}
        Some(Stop::Secret(path)) => findings.secrets.push(path),
        Some(Stop::Unproven(why)) => findings.unproven.push(why),
        Some(Stop::Unlooked(why)) => findings.unlooked.push(format!("{}: {why}", folder.display())),
    }
}

/// Where a link leads; `None` for one that leads nowhere and so shows nothing. `makes` says that the command makes something.
fn link_leads(entry: &Entry<'_>, makes: bool) -> Result<Option<PathBuf>, Stop> {
    match follow(&entry.path()) {
        Leads::To(real) => Ok(Some(real)),
        leads => leads.doubt(makes).map_or(Ok(None), |why| Err(Stop::Unlooked(why))),
    }
}

/// What keeps a name from being passed by.
fn look(entry: &Entry<'_>, root: &Path, makes: bool) -> Option<Stop> {
    match entry.kind {
        FileType::RegularFile => {
            (entry.is_called_secret() && !public::is_public(&entry.path())).then(|| Stop::Secret(text(&entry.path())))
        }
        FileType::Directory => {
            // A folder with logs in it, such as that of a remote, is none.
            let is_log = || secrets::is_git_log(&text(&entry.path()).to_ascii_lowercase());
            (entry.is_secret_folder() || entry.of_note && secrets::is_secret_path(&text(&entry.path())) && !is_log())
                .then(|| Stop::Secret(text(&entry.path())))
        }
        FileType::Symlink => {
            let real = match link_leads(entry, makes) {
                Ok(real) => real?,
                Err(stop) => return Some(stop),
            };
            // Where it leads may be called anything.
            if entry.is_called_secret() && !public::is_public(&real) {
                return Some(Stop::Secret(text(&entry.path())));
            }
            if real.starts_with(root) {
                // It is met at its own place.
                return None;
            }
            if real.is_dir() {
                // Some programs follow links to folders, and what lies there was not looked at.
                Some(Stop::Unlooked(format!("{} leads to {}", entry.path().display(), real.display())))
            } else {
                public::is_secret(&real).then(|| Stop::Secret(text(&real)))
            }
        }
        // What its numbers say, whatever it is called.
        FileType::CharacterDevice | FileType::BlockDevice => {
            Some(Stop::Unlooked(format!("{} is a device", entry.path().display())))
        }
        _ => None,
    }
}

/// How far a walk goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The folder's own names.
    One,
    /// All below it.
    All,
}

/// Names after which a walk is long enough for a second thread: another processor takes a while to wake.
const WORTH_A_THREAD: usize = 600;

/// Shows each name below a folder, whose path leads through no link, to somebody, until they have seen enough. Links are not
/// followed. What cannot be listed was not looked through: the command itself may open it.
fn walk(root: &Path, depth: Depth, see: &See<'_>) -> Option<Stop> {
    let walk = Walk {
        root,
        depth,
        see,
        count: AtomicUsize::new(0),
        ahead: Mutex::new(Ahead { folders: vec![root.to_owned()], busy: 0, waiting: 0, end: None }),
        changed: Condvar::new(),
    };
    if walk.goes_on_behind(WORTH_A_THREAD) {
        std::thread::scope(|scope| {
            // Where none can be had, one does it all.
            drop(std::thread::Builder::new().spawn_scoped(scope, || walk.goes_on_behind(usize::MAX)));
            walk.goes_on_behind(usize::MAX);
        });
    }
    walk.ahead.into_inner().unwrap_or_else(PoisonError::into_inner).end
}

/// Looks at a name, and says why the walk ends there. It calls nothing that goes deep: it may run on a thread whose stack nobody
/// guards.
type See<'s> = dyn Fn(&Entry<'_>) -> Option<Stop> + Sync + 's;

/// A walk, by one thread or by two.
struct Walk<'w> {
    root: &'w Path,
    depth: Depth,
    see: &'w See<'w>,
    count: AtomicUsize,
    ahead: Mutex<Ahead>,
    /// There are more folders, or there is an end.
    changed: Condvar,
}

/// What lies ahead of a walk.
struct Ahead {
    folders: Vec<PathBuf>,
    /// Threads that are in a folder, and may find more.
    busy: usize,
    /// Threads that wait for one.
    waiting: usize,
    end: Option<Stop>,
}

impl Walk<'_> {
    /// Looks at folders until there are no more, or until more names than this have been seen: true if there may be more.
    fn goes_on_behind(&self, most: usize) -> bool {
        // Larger than what the kernel gives of most folders at once.
        let mut buffer = Vec::<u8>::with_capacity(64 * 1024);
        let mut found = Vec::new();
        while let Some(folder) = self.next() {
            let end = self.look_into(&folder, buffer.spare_capacity_mut(), &mut found);
            self.done(&mut found, end);
            if self.count.load(Ordering::Relaxed) > most {
                return true;
            }
        }
        false
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next folder, once there is one. `None` at the end.
    fn next(&self) -> Option<PathBuf> {
        let mut ahead = self.ahead();
        loop {
            if ahead.end.is_some() {
                return None;
            }
            if let Some(folder) = ahead.folders.pop() {
                ahead.busy += 1;
                return Some(folder);
            }
            if ahead.busy == 0 {
                return None;
            }
            ahead.waiting += 1;
            ahead = self.changed.wait(ahead).unwrap_or_else(PoisonError::into_inner);
            ahead.waiting -= 1;
        }
    }

    /// A folder is done: what was found in it, and why the walk ends there.
    fn done(&self, found: &mut Vec<PathBuf>, end: Option<Stop>) {
        let mut ahead = self.ahead();
        ahead.busy -= 1;
        ahead.folders.append(found);
        let too_many = ahead.folders.len() > MAX_WAITING;
        let end = end.or_else(|| too_many.then(Self::too_much));
        // The first one stands.
        if ahead.end.is_none() {
            ahead.end = end;
        }
        let is_awaited = ahead.waiting > 0;
        drop(ahead);
        // To wake nobody is a call of the kernel, too.
        if is_awaited {
            self.changed.notify_all();
        }
    }

    fn too_much() -> Stop {
        Stop::Unlooked("there is more than is looked through".to_owned())
    }

    fn look_into(&self, folder: &Path, buffer: &mut [MaybeUninit<u8>], found: &mut Vec<PathBuf>) -> Option<Stop> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = match rustix::fs::open(folder, flags, Mode::empty()) {
            Ok(opened) => opened,
            // What was a folder a moment ago and is a link now, nobody has looked through.
            Err(Errno::NOENT) => return None,
            Err(Errno::NOTDIR) if folder == self.root => return None,
            Err(error) => return Some(Stop::Unlooked(format!("{} cannot be opened ({error})", folder.display()))),
        };
        let whole = text(folder);
        let of_note = secrets::may_hold_by_place(&whole);
        let before = self.count.load(Ordering::Relaxed);
        let mut count = 0;
        let mut entries = RawDir::new(&opened, buffer);
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else {
                return Some(Stop::Unlooked(format!("{} cannot be read", folder.display())));
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            count += 1;
            if before + count > MAX_NAMES || found.len() > MAX_WAITING {
                return Some(Self::too_much());
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                let Ok(stat) = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            let entry = Entry { folder, folder_text: &whole, name: name.to_bytes(), kind, of_note };
            if let Some(stop) = (self.see)(&entry) {
                return Some(stop);
            }
            if kind == FileType::Directory && self.depth == Depth::All {
                found.push(entry.path());
            }
        }
        self.count.fetch_add(count, Ordering::Relaxed);
        None
    }
}
