//! What a run changed that would run code later: git's configuration and hooks, other tools' start files.
//!
//! A sandbox keeps what exists from being changed, where it can. What does not exist yet cannot be covered without
//! leaving an empty file behind, and a repository that may be committed to can be changed in other ways; so the
//! workspace is looked at before and after.

mod acting;
mod aside;
mod baseline;
mod modes;
mod put_back;
mod restored;
mod seen;
mod shared;
mod waiting;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) use aside::bytes_of;
use aside::set_aside;
use baseline::{Baseline, Foreign, Left};
use bashgate_hook::gate::git::{self, Tracked};
use bashgate_shared::classify::{git_config, paths};
use modes::Modes;
pub use restored::{Aside, give_back, remember_asides, remembered};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
pub(crate) use seen::MOST_LINKS;
use seen::{Known, Seen, Stamp};
use serde::Serialize;
pub use shared::SharedFolders;

/// Most names that are looked at in a workspace; fewer in tests, which have to make them.
const MOST_NAMES: usize = if cfg!(test) { 4_000 } else { 2_000_000 };
/// Most of a file that is compared, in bytes; what is longer is known by its times too.
const MOST_BYTES: u64 = 1 << 20;
/// Most changes of one kind that are named one by one; those of files that no everyday tool makes, and others.
pub const MOST_NAMED: [usize; 2] = [64, 8];
/// The same where programs read them.
pub const MOST_LISTED: [usize; 2] = [256, 64];

/// How far the clock of files may be behind the one that tells the time: it ticks.
const CLOCK_NS: i128 = 10_000_000;

/// When a file's content, mode or name was changed last.
fn changed_ns(found: &fs::Metadata) -> i128 {
    nanoseconds(found.ctime(), found.ctime_nsec())
}

fn nanoseconds(seconds: i64, more: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(more)
}

/// Something that a run changed and should not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// What was changed.
    pub path: String,
    pub change: Change,
    /// The name that what is new was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aside: Option<String>,
    /// How many more there are like it.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Everyday tools make no such file, so that it is named before others.
    #[serde(skip)]
    pub is_rare: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Violation {
    pub(crate) fn of(path: &Path, change: Change) -> Self {
        Self { path: path.display().to_string(), change, aside: None, more: 0, is_rare: true }
    }

    /// True for what is there now, and acts later.
    pub const fn stays(&self) -> bool {
        matches!(
            self.change,
            Change::Created
                | Change::Modified
                | Change::NestedRepository
                | Change::Opened
                | Change::NotAllSeen
                | Change::Exchanged
        )
    }

    /// What the host hears of it.
    pub fn on_record(&self) -> String {
        match self.change {
            Change::Exchanged => format!("{}, exchanged while it ran", self.path),
            _ => self.path.clone(),
        }
    }

    fn set_aside(path: &Path, aside: &Path) -> Self {
        Self { aside: Some(aside.display().to_string()), ..Self::of(path, Change::SetAside) }
    }
}

/// How something was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not there before.
    Created,
    /// It was not there before, and has been given another name.
    SetAside,
    /// It was not there before, and there was no room for another name: it has no content any more.
    Emptied,
    /// It is another one, or has other content.
    Modified,
    /// It was changed or removed, and has its old content again.
    PutBack,
    /// It is gone.
    Removed,
    /// It belongs to a repository inside of the workspace, and makes git run something there.
    NestedRepository,
    /// It was written to, and has another name outside of the workspace.
    WrittenThroughHardLink,
    /// Other users of the machine were given the right to make names in it.
    Opened,
    /// The same, and it was taken from them again.
    Closed,
    /// Not everything in it could be looked at.
    NotAllSeen,
    /// The command was allowed with it, and another file was put in its place while it ran.
    Exchanged,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name is the command's own choice, and goes to somebody's terminal.
        let is_plain = |c: char| {
            !c.is_control()
                && !matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        };
        let shown = |text: &str| text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect::<String>();
        let path = shown(&self.path);
        let aside = self.aside.as_deref().map(shown);
        let is_now = || aside.as_ref().map_or_else(String::new, |name| format!("; it is now {name}"));
        match self.change {
            Change::Created => write!(f, "{path} was created: other programs may run what it says"),
            Change::SetAside => write!(
                f,
                "{path} was created, and set aside: nobody was asked, and other programs would run what it says{}. A person who wants it gives it its name back",
                is_now()
            ),
            Change::Emptied => write!(
                f,
                "{path} was created, and emptied: nobody was asked, other programs would run what it says, and there is no room to give it another name"
            ),
            Change::PutBack => write!(
                f,
                "{path} was changed, and is again what it was: nobody was asked, and other programs run what it says{}",
                is_now()
            ),
            Change::Modified => write!(f, "{path} was changed: other programs may run what it says"),
            Change::Removed => write!(f, "{path} was removed"),
            Change::NestedRepository => write!(f, "{path} was created or changed: git there may run what it says"),
            Change::WrittenThroughHardLink => {
                write!(f, "{path} was written and has another name outside of the workspace")
            }
            Change::Opened => write!(f, "{path} was opened to other users of this machine: they can put files there"),
            Change::Closed => {
                write!(f, "{path} was opened to other users of this machine, and is closed to them again")
            }
            Change::NotAllSeen => write!(f, "{path} holds more than could be looked at"),
            Change::Exchanged => write!(
                f,
                "{path} was exchanged while the command ran that was allowed with it: what ran is perhaps not what was allowed"
            ),
        }?;
        if self.more > 0 { write!(f, " (and {} more like it)", self.more) } else { Ok(()) }
    }
}

/// Names below a workspace that are looked at besides what acts later by the one list.
#[derive(Debug, Default)]
pub struct Looked {
    /// What is new there is set aside.
    pub kept: Vec<String>,
    /// What is new or changed there is told of.
    pub told: Vec<String>,
}

impl Looked {
    fn all(&self) -> Vec<String> {
        self.kept.iter().chain(&self.told).cloned().collect()
    }
}

impl From<Vec<String>> for Looked {
    fn from(kept: Vec<String>) -> Self {
        Self { kept, told: Vec::new() }
    }
}

/// The state of a workspace before a run.
#[derive(Debug)]
pub struct Watch {
    workspace: PathBuf,
    /// The folder itself, wherever it lies by now.
    itself: Option<OwnedFd>,
    cwd: PathBuf,
    names: Looked,
    before: Seen,
    modes: Modes,
    /// The steps that run commands, of each rebase that has stopped.
    steps: BTreeMap<PathBuf, BTreeSet<String>>,
    /// In nanoseconds since 1970, by the file system's clock at the latest.
    since: i128,
    /// Nobody was asked about the command.
    nobody_was_asked: bool,
    /// What runs have left whose runners were killed before they could look, and what others that go on have not seen.
    left: Left,
    /// The same as `before`, on the disk until somebody has looked.
    kept: Option<Baseline>,
    /// Where there should be one that could not be written.
    lacks_baseline: Option<PathBuf>,
}

impl Watch {
    /// Looks at a workspace that is about to be written. With a folder `state`, what is seen is kept there until the end, so that
    /// what a run plants whose runner is killed does not count as having been there before.
    ///
    /// `cwd` is where the command works: what gates an agent there counts most. `kept` is the runner's own folder, and how long the
    /// run may last.
    pub fn before(
        workspace: &Path,
        cwd: &Path,
        names: impl Into<Looked>,
        kept: Option<(&Path, Duration)>,
        nobody_was_asked: bool,
    ) -> Self {
        let names = names.into();
        let workspace = &fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
        let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let others = kept.map(|(state, _)| baseline::open_ones(state)).unwrap_or_default();
        let mut before = Seen::of(workspace, &cwd, &names.all(), Known::default(), None);
        before.closes();
        let left = kept.map(|(state, _)| Left::of(state, workspace, &before, others)).unwrap_or_default();
        before.acting.without(&left.unseen_by_others);
        let wanted = kept.map(|(state, _)| state.to_owned());
        let kept =
            kept.and_then(|(state, lasts)| Baseline::keep(state, workspace, (&before, &left), nobody_was_asked, lasts));
        // Where somebody was asked, nothing is given back.
        let modes =
            if nobody_was_asked { Modes::around(workspace, before.acting.to_protect()) } else { Modes::default() };
        let open = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self {
            workspace: workspace.to_owned(),
            itself: rustix::fs::open(workspace, open, Mode::empty()).ok(),
            cwd,
            modes,
            steps: before
                .own
                .keys()
                .chain(before.nested.keys())
                .filter_map(|path| Some((path.clone(), steps_of(path)?)))
                .collect(),
            before,
            names,
            since: i128::try_from(since).unwrap_or(i128::MAX) - CLOCK_NS,
            nobody_was_asked,
            left,
            lacks_baseline: wanted.filter(|_| kept.is_none()),
            kept,
        }
    }

    /// Why nobody could say afterwards what the run has left, if so: then none may begin about which nobody was asked.
    pub fn objection(&self) -> Option<String> {
        if let Some(state) = self.lacks_baseline.as_ref().filter(|_| self.nobody_was_asked) {
            return Some(format!(
                "what {} is before a run in the cage cannot be written down below {}: what the run leaves could not be told from what was \
                 there if it were killed. Make room on that disk; or turn off the agent's own sandbox if it is what forbids to write there \
                 (`bashgate-hook doctor` knows); or have the command asked about: a first line `# bashgate: network`",
                self.workspace.display(),
                state.display(),
            ));
        }
        (self.nobody_was_asked && self.before.is_cut_off()).then(|| {
            format!(
                "{} holds more than can be looked at before a run in the cage (2,000,000 names, 20 s): what the run leaves could not be \
                 told from what was there. Work in a smaller folder of it, or have the command asked about: a first line `# bashgate: network`",
                self.workspace.display()
            )
        })
    }

    /// What acts later and is there already: no run may write it.
    pub fn to_protect(&self) -> impl Iterator<Item = &PathBuf> {
        self.before.acting.to_protect()
    }

    /// What has changed since. What is new and would be run by git or another tool in this very workspace is set aside, when
    /// nobody was asked about the command. `kept` is what the sandbox kept from being written: files, and folders as a whole.
    pub fn after(&self, checks_out: bool, kept: &HashSet<PathBuf>) -> Vec<Violation> {
        let nobody_was_asked = self.nobody_was_asked;
        let mut found = self.modes.given_back();
        if let Some(elsewhere) = self.moved_to().filter(|_| nobody_was_asked) {
            // Under its new name all that it holds may be what acts later, and nobody has looked at it.
            let around = elsewhere.parent().unwrap_or(Path::new("/")).to_owned();
            found.push(taken_away(&elsewhere, &around, Change::Created));
        }
        // What was not looked at may have been there.
        let was_there =
            |path: &Path| self.before.was_there(path) || self.before.may_have_missed(path) && !self.is_made_since(path);
        let is_made_since = |path: &Path| self.is_made_since(path);
        let tracked = OnceCell::new();
        let is_tracked = |path: &Path| {
            let known: &Option<Tracked> = tracked.get_or_init(|| Tracked::of(&self.workspace));
            known.as_ref().is_some_and(|tracked| tracked.holds(path))
        };
        let acted = |path: &Path| self.before.own.contains_key(path) || self.before.nested.contains_key(path);
        let is_kept = |path: &Path| self.before.acting.keeps(path);
        let around = Around {
            is_kept: &is_kept,
            acted: &acted,
            workspace: &self.workspace,
            nobody_was_asked,
            checks_out,
            kept,
            was_there: &was_there,
            is_made_since: &is_made_since,
            is_tracked: &is_tracked,
        };
        // One looks around, the other at what it has found: to ask for each file takes as long as to list it.
        let (mut after, linked) = std::thread::scope(|scope| {
            let (found, files) = mpsc::channel();
            let written = scope.spawn(|| self.written_with_other_names(files));
            let mut tell = |folder: PathBuf, names: Vec<OsString>| drop(found.send((folder, names)));
            let after = Seen::of(&self.workspace, &self.cwd, &self.names.all(), self.before.known(), Some(&mut tell));
            drop(found);
            (after, written.join().unwrap_or_default())
        });
        if let Some(kept) =
            self.kept.as_ref().filter(|_| after.not_known().any(|part| !self.before.not_known().any(|one| one == part)))
        {
            // What could not be looked at now is no older because of that.
            kept.stays();
        }
        for (path, stamp) in &after.own {
            match self.before.own.get(path) {
                None if nobody_was_asked && self.is_new(path) && self.starts_something(path, &after) => {
                    found.push(self.taken_away(path, Change::Created));
                }
                None => found.push(Violation::of(path, Change::Created)),
                // Told below, where it is given back.
                Some(_) if self.before.acting.knows(path) => {}
                // Its steps, say, which named no program before.
                Some(before) if before != stamp && nobody_was_asked && self.starts_more(path) => {
                    found.push(self.taken_away(path, Change::Modified));
                }
                Some(before) if before != stamp => found.push(Violation::of(path, Change::Modified)),
                Some(_) => {}
            }
        }
        for (path, stamp) in &after.nested {
            match self.before.nested.get(path) {
                // Git makes no hook but its samples. What was in force in a repository that is moved is no news.
                None if nobody_was_asked
                    && self.is_new(path)
                    && self.starts_something(path, &after)
                    && !self.was_moved(path, stamp, &after) =>
                {
                    found.push(self.taken_away(path, Change::NestedRepository));
                }
                _ if self.before.acting.knows(path) => {}
                Some(before) if before != stamp && nobody_was_asked && self.starts_more(path) => {
                    found.push(self.taken_away(path, Change::NestedRepository));
                }
                before if before != Some(stamp) => found.push(Violation::of(path, Change::NestedRepository)),
                _ => {}
            }
        }
        // Where each file counts, and there were so few that each was looked at, more of them go as a whole. What was there and gates an
        // agent is put back then.
        let is_in = |folder: &&PathBuf| folder.starts_with(&self.workspace) && **folder != self.workspace;
        for folder in after.flooded.difference(&self.before.flooded).filter(is_in).filter(|_| nobody_was_asked) {
            found.push(self.taken_away(folder, Change::Created));
            after.acting.without_below(folder);
        }
        found.extend(self.before.acting.changes_to(&after.acting, &around));
        // Who put so much there that nobody can look through it has left nothing that anybody relies on.
        if nobody_was_asked {
            found.extend(after.unseen_new.iter().map(|folder| self.taken_away(folder, Change::Created)));
            let opened = after.opened_since(&self.before);
            found.extend(opened.map(|(folder, mode)| closed_again(folder, mode, &self.workspace)));
        }
        let mut note = |path: &Path, change| found.push(Violation::of(path, change));
        for (before, after) in [(&self.before.own, &after.own), (&self.before.nested, &after.nested)] {
            // Those that it looks after are told with them.
            let is_gone = |path: &&PathBuf| !after.contains_key(*path) && !self.before.acting.knows(path);
            for path in before.keys().filter(is_gone) {
                note(path, Change::Removed);
            }
        }
        let is_news = |path: &&PathBuf| {
            **path == self.workspace || nobody_was_asked || !self.before.not_known().any(|one| one == *path)
        };
        for path in after.not_known().filter(is_news) {
            note(path, Change::NotAllSeen);
        }
        for path in &linked {
            note(path, Change::WrittenThroughHardLink);
        }
        // What other runs have made that were still going on when this one began is theirs, but for what was made again since.
        for Foreign { path, is_kept, was_there, .. } in self.left.unseen_by_others.iter().filter(|file| {
            // One that has ended and left it where it acts would have set it aside, had it seen it.
            self.is_made_since(&file.path)
                || file.nobody_was_asked && file.is_over() && file.path.symlink_metadata().is_ok()
        }) {
            found.push(if *was_there {
                Violation::of(path, Change::Modified)
            } else if nobody_was_asked && *is_kept && !is_tracked(path) {
                self.taken_away(path, Change::Created)
            } else {
                Violation::of(path, Change::Created)
            });
        }
        // Last: only now is anybody told.
        found.extend(self.left.told(&self.workspace));
        found.sort();
        found.dedup_by(|one, other| one.path == other.path && one.change == other.change);
        found
    }

    /// Files that were written, and have a name outside of the workspace as well: they have more names than are in it. Times of
    /// change cannot be set back, those of modification can. A name that is gone again is not seen.
    fn written_with_other_names(&self, files: mpsc::Receiver<(PathBuf, Vec<OsString>)>) -> Vec<PathBuf> {
        let mut linked: BTreeMap<(u64, u64), (_, _, PathBuf)> = BTreeMap::new();
        for (path, names) in files {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(folder) = rustix::fs::open(&path, flags, Mode::empty()) else { continue };
            for name in names {
                let look = || rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW);
                // The run may have closed the folder behind itself.
                let found = match look() {
                    Err(rustix::io::Errno::ACCESS) => {
                        let _opened = aside::opened_again(&path, &self.workspace);
                        look()
                    }
                    found => found,
                };
                let Ok(found) = found else { continue };
                let is_file = FileType::from_raw_mode(found.st_mode).is_file();
                if is_file
                    && found.st_nlink > 1
                    && nanoseconds(found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or(0)) >= self.since
                {
                    let entry = linked.entry((found.st_dev, found.st_ino));
                    entry.or_insert((0, found.st_nlink, path.join(name))).0 += 1;
                }
            }
        }
        linked.into_values().filter(|(inside, all, _)| inside < all).map(|(_, _, path)| path).collect()
    }

    /// True for what acts now and did not before in any role, whatever its age: it may have been moved there, or have become a part of
    /// a repository. What the look before may have missed counts by its age.
    fn is_new(&self, path: &Path) -> bool {
        let is_known = self.before.own.contains_key(path)
            || self.before.nested.contains_key(path)
            || self.before.acting.knows(path);
        !is_known && (!self.before.may_have_missed(path) || self.is_made_since(path))
    }

    /// True for a file of git's that was changed and makes it start something that it did not before: steps of a rebase that stood there
    /// are no news.
    fn starts_more(&self, path: &Path) -> bool {
        let before = self.steps.get(path);
        let is_new = |step: &String| before.is_none_or(|before| !before.contains(step));
        match steps_of(path) {
            Some(steps) => steps.iter().any(is_new),
            None => makes_git_start(path, &self.workspace),
        }
    }

    /// True for what acted so, with the same content, in a repository that was moved with all its files: settings name others of them.
    fn was_moved(&self, path: &Path, stamp: &Stamp, after: &Seen) -> bool {
        let home_of = |path: &Path| {
            let git = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".git"))?;
            Some((git.parent()?.to_owned(), path.strip_prefix(git).ok()?.to_owned()))
        };
        let Some((home, inside)) = home_of(path) else { return false };
        let is_it = |(old, was): (&PathBuf, &Stamp)| {
            home_of(old).is_some_and(|(before, old_inside)| {
                was == stamp
                    && inside == old_inside
                    && before.symlink_metadata().is_err()
                    && !self.before.homes.contains_key(&home)
                    && after.homes.get(&home).is_some_and(|one| self.before.homes.get(&before) == Some(one))
            })
        };
        // What lies around it is another thing there.
        let leads_out = || aside::whole_text_of(path).is_none_or(|text| text.contains("../.."));
        !path.is_symlink() && self.before.nested.iter().any(is_it) && !leads_out()
    }

    /// True for what was written or got its name since the run began: neither leaves its time of change as it was.
    fn is_made_since(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| changed_ns(&found) >= self.since)
    }

    /// What became of a file that should not be there.
    fn taken_away(&self, path: &Path, otherwise: Change) -> Violation {
        taken_away(path, &self.workspace, otherwise)
    }

    /// Where the folder lies that the run wrote in, where somebody has moved it meanwhile.
    fn moved_to(&self) -> Option<PathBuf> {
        let itself = self.itself.as_ref()?;
        let there = fs::read_link(format!("/proc/self/fd/{}", itself.as_raw_fd())).ok()?;
        // One that is gone is called so.
        (there != self.workspace && there.exists()).then_some(there)
    }

    /// True for a file of git's that makes it run something: a hook, one that says where settings are, or settings that name programs.
    fn starts_something(&self, path: &Path, after: &Seen) -> bool {
        after.is_hook(path) || self.is_start_file(path) || makes_git_start(path, &self.workspace)
    }

    /// True for what other programs run at their start, and false for what git itself makes at its work.
    fn is_start_file(&self, path: &Path) -> bool {
        let is_own = path.starts_with(self.workspace.join(".git")) || self.workspace.ends_with(".git");
        // A repository that was made brings samples of hooks; those that are none are told apart by themselves.
        let is_sample = !is_own && path.parent().is_some_and(|folder| folder.ends_with("hooks"));
        !is_sample && baseline::is_start_file_of_git(path)
            || self.names.kept.iter().any(|name| path.starts_with(self.workspace.join(name)))
    }
}

/// True for settings of git, of a repository in this folder, that may name programs or lead to further ones, or that cannot be read for
/// certain: any but those of which it is known that they do neither.
fn names_programs(text: &str, (root, workspace): (&Path, &Path)) -> bool {
    let Some(settings) = git::config::read(text) else { return true };
    settings.iter().any(|setting| {
        let (key, value) = (setting.key.as_str(), setting.value.as_str());
        let ends = |all: &[&str]| all.iter().any(|end| key.ends_with(end));
        // What a clone, and what makes submodules, writes: where it came from.
        let is_of_clone = key.starts_with("remote.") && ends(&[".url", ".fetch", ".tagopt"])
            || key.starts_with("submodule.") && ends(&[".url", ".active", ".branch"]);
        if is_of_clone {
            return ends(&[".url"]) && !is_harmless_address(value, (root, workspace));
        }
        // A name of a remote, which may be an address, and one of a tool, which may be a path.
        let is_name = key == "remote.pushdefault"
            || key.starts_with("branch.") && ends(&[".remote", ".pushremote"])
            || ends(&[".tool", ".guitool"]);
        if is_name {
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
            return value != "." && (value.starts_with('-') || !value.chars().all(is_plain));
        }
        // From whom it comes, and who may write what is made there.
        if key.starts_with("protocol.") || key == "core.sharedrepository" {
            return true;
        }
        let is_known = git_config::is_inert(key, value)
            && !git_config::leads_elsewhere(key, value)
            && (!git_config::names_program(key) || git_config::is_switch(value));
        !is_known && key != "extensions.objectformat"
    })
}

/// True for an address at which no hook of a run's making runs: one of another machine, or a folder that is there under this very name
/// and lies where no run leaves any. Another repository on this machine has hooks of its own, which run at a push; of a name that is
/// not there git tries others.
fn is_harmless_address(address: &str, (root, workspace): (&Path, &Path)) -> bool {
    if address.is_empty() || address.starts_with(['-', '~']) || address.contains(char::is_control) {
        return false;
    }
    let elsewhere = ["https://", "http://", "ssh://", "git://", "git+ssh://"];
    if let Some(rest) = elsewhere.iter().find_map(|scheme| address.strip_prefix(scheme)) {
        // Of a host that looks like an option.
        let host = rest.split('/').next().unwrap_or_default();
        return !host.is_empty() && !host.split('@').any(|part| part.starts_with('-'));
    }
    // Another transport is a program.
    if address.contains("::") || address.contains("://") {
        return false;
    }
    // `git@host:path`: a path that has a colon in it begins with a slash or a dot.
    if address.split_once(':').is_some_and(|(host, _)| !host.contains('/')) {
        return true;
    }
    let Ok(real) = fs::canonicalize(root.join(address)) else { return false };
    // Inside of git's own folder nobody sees a repository.
    let inside = real.components().rev().skip(1).any(|part| part.as_os_str() == ".git");
    real.is_dir() && !inside && !is_anybodys(&real, workspace)
}

/// True for a path in a folder where everybody writes, but for the workspace, wherever that lies.
fn is_anybodys(path: &Path, workspace: &Path) -> bool {
    let path = PathBuf::from(paths::resolve(None, &path.to_string_lossy()));
    !path.starts_with(workspace) && (anybodys().any(|folder| path.starts_with(folder)) || path.starts_with("/proc"))
}

/// True for a link in a repository in the place of a folder that git itself makes there: what it leads to is nobody's to look through.
fn is_link_for_gits(path: &Path) -> bool {
    const FOLDERS: [&str; 8] =
        ["rebase-merge", "rebase-apply", "sequencer", "hooks", "info", "modules", "worktrees", "remotes"];
    let is_called = path.file_name().is_some_and(|name| FOLDERS.iter().any(|one| name == *one));
    is_called && path.is_symlink() && path.parent().is_some_and(|git| git.join("HEAD").symlink_metadata().is_ok())
}

/// How branches are joined: of any other name git runs a program that is called so.
const STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// True for options of a sequence of commits that name another way to join branches, or cannot be read.
fn joins_otherwise(text: &str) -> bool {
    let is_other = |setting: &git::config::Setting| {
        setting.key.ends_with("strategy") && !STRATEGIES.contains(&setting.value.as_str())
    };
    git::config::read(text).is_none_or(|settings| settings.iter().any(is_other))
}

/// The steps of a rebase that run commands; `None` for another file.
fn steps_of(path: &Path) -> Option<BTreeSet<String>> {
    path.file_name().filter(|name| *name == "git-rebase-todo")?;
    Some(steps_in(&aside::whole_text_of(path)?))
}

fn steps_in(text: &str) -> BTreeSet<String> {
    let runs = |line: &&str| line.split_whitespace().next().is_some_and(|step| matches!(step, "exec" | "x"));
    text.lines().filter(runs).map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect()
}

/// Folders in which everybody writes.
fn anybodys() -> impl Iterator<Item = &'static str> {
    paths::TEMPORARY.iter().copied().chain(["/dev/shm"])
}

/// True for settings of git that name programs, steps of a rebase that do, objects in the place of others, and links to what is
/// anybody's.
fn makes_git_start(path: &Path, workspace: &Path) -> bool {
    let is_called = |names: &[&str]| path.file_name().is_some_and(|name| names.iter().any(|one| name == *one));
    let says = |is: &dyn Fn(&str) -> bool| aside::whole_text_of(path).is_none_or(|text| is(&text));
    let folder = path.parent().unwrap_or(path);
    let root = folder.parent().filter(|_| folder.ends_with(".git")).unwrap_or(folder);
    is_called(&["config", "config.worktree"]) && says(&|text| names_programs(text, (root, workspace)))
        || is_called(&["git-rebase-todo"]) && says(&|text| !steps_in(text).is_empty())
        || is_called(&["opts"]) && folder.ends_with("sequencer") && says(&joins_otherwise)
        || is_called(&["strategy"]) && says(&|text| !STRATEGIES.contains(&text.trim_end_matches('\n')))
        || folder.ends_with("refs/replace")
        || path.ends_with("info/grafts")
        || is_link_for_gits(path)
        || leads_to_nobodys(path, workspace)
}

/// True for a link to what nobody looks through: a folder where everybody writes, there or not yet, or one among git's own.
fn leads_to_nobodys(path: &Path, workspace: &Path) -> bool {
    let Ok(target) = fs::read_link(path) else { return false };
    let place = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    // One that leads nowhere yet is judged by what it says.
    let real =
        fs::canonicalize(&place).unwrap_or_else(|_| PathBuf::from(paths::resolve(None, &place.to_string_lossy())));
    let is_in_git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
    !real.is_file() && (is_anybodys(&real, workspace) || is_in_git(&real) && !is_in_git(path))
}

/// Takes from others the right to make names in a folder, which a run has given them.
fn closed_again(folder: &Path, others: u32, root: &Path) -> Violation {
    let close = || {
        let opened = aside::folder_without_links(folder)?;
        let mode = rustix::fs::fstat(&opened)?.st_mode & 0o7777;
        io::Result::Ok(rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode & !0o022 | others))?)
    };
    let is_closed = folder.starts_with(root) && close().is_ok();
    Violation::of(folder, if is_closed { Change::Closed } else { Change::Opened })
}

/// Gives what should not be there another name, or empties it where there is no room for one.
fn taken_away(path: &Path, root: &Path, otherwise: Change) -> Violation {
    match set_aside(path, root) {
        Ok(aside) => Violation::set_aside(path, &aside),
        Err(error) => {
            let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
            let change = if is_full && aside::empty(path, root).is_ok() { Change::Emptied } else { otherwise };
            Violation::of(path, change)
        }
    }
}

/// The first few of each kind, and how many more there are: a package manager makes hundreds. What everyday tools do not make
/// is counted apart, so that it does not vanish among them; and what is called like a program of the system stands first.
pub fn folded(all: &[Violation], [most_rare, most_other]: [usize; 2]) -> Vec<Violation> {
    let shadows = |violation: &Violation| {
        let name = Path::new(&violation.path).file_name().unwrap_or_default();
        ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(name).exists())
    };
    let mut all: Vec<&Violation> = all.iter().collect();
    all.sort_by_cached_key(|violation| (violation.change, !shadows(violation)));
    let mut counts: BTreeMap<(Change, bool), usize> = BTreeMap::new();
    let mut shown: Vec<Violation> = Vec::new();
    let most = |is_rare: bool| if is_rare { most_rare } else { most_other };
    for violation in all {
        let count = counts.entry((violation.change, violation.is_rare)).or_default();
        *count += 1;
        if *count <= most(violation.is_rare) {
            shown.push(violation.clone());
        }
    }
    for ((change, is_rare), count) in counts {
        let more = count.saturating_sub(most(is_rare));
        let is_last = |violation: &&mut Violation| violation.change == change && violation.is_rare == is_rare;
        if more > 0
            && let Some(last) = shown.iter_mut().rfind(is_last)
        {
            last.more = more;
        }
    }
    shown
}

/// How a run went, as far as it matters for what it left.
#[derive(Clone, Copy)]
pub struct Around<'w> {
    /// Whether a file acted before, and no run was to write it.
    pub is_kept: &'w dyn Fn(&Path) -> bool,
    /// Whether a file acted before in another role: one of git's own.
    pub acted: &'w dyn Fn(&Path) -> bool,
    /// The folder that it worked in.
    pub workspace: &'w Path,
    /// Nobody was asked about the command.
    pub nobody_was_asked: bool,
    /// Its text has git bring files of commits into the working tree, and make none.
    pub checks_out: bool,
    /// What the sandbox kept from being written: files, and folders as a whole.
    pub kept: &'w HashSet<PathBuf>,
    /// Whether a name was there when it began.
    pub was_there: &'w dyn Fn(&Path) -> bool,
    /// Whether a file was written, or got its name, since then.
    pub is_made_since: &'w dyn Fn(&Path) -> bool,
    /// Whether git tracks a file; its index is read once, and only where somebody asks.
    pub is_tracked: &'w dyn Fn(&Path) -> bool,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// However a run arranges what drowns the look: what was there and what is small is seen, and the rest is put aside whole.
    #[test]
    fn what_drowns_the_look_is_set_aside_and_hides_nothing() {
        let names = |folder: &Path, count: usize| {
            fs::create_dir_all(folder).unwrap();
            (0..count).for_each(|name| fs::write(folder.join(name.to_string()), "").unwrap());
        };
        let plants =
            [".envrc", "app/.envrc", "src/.vscode/tasks.json", "new/deep/.mcp.json", "zz/.claude/settings.json"];
        let ways: [&dyn Fn(&Path); 6] = [
            &|work| names(&work.join("decoy"), MOST_NAMES + 10),
            &|work| (0..40).for_each(|at| names(&work.join(format!("decoy{at}")), 120)),
            &|work| (0..40).for_each(|at| names(&work.join(format!("decoy/{at}/x")), 120)),
            &|work| names(&work.join("new/decoy"), MOST_NAMES + 10),
            &|work| (0..40).for_each(|at| names(&work.join(format!(".vscode/{at}")), 120)),
            &|work| names(&work.join("src"), MOST_NAMES + 10),
        ];
        for (at, way) in ways.iter().enumerate() {
            for plants_first in [true, false] {
                let folder = tempfile::tempdir().unwrap();
                let work = folder.path().canonicalize().unwrap().join("w");
                fs::create_dir_all(work.join("src")).unwrap();
                fs::create_dir(work.join("app")).unwrap();
                std::thread::sleep(Duration::from_millis(30));
                let watch = Watch::before(&work, &work, Vec::new(), None, true);
                let plant = || {
                    for plant in plants {
                        fs::create_dir_all(work.join(plant).parent().unwrap()).unwrap();
                        fs::write(work.join(plant), "evil").unwrap();
                    }
                };
                if plants_first {
                    plant();
                }
                way(&work);
                if !plants_first {
                    plant();
                }
                let found = watch.after(false, &HashSet::new());
                for plant in plants {
                    assert!(!work.join(plant).exists(), "{at} {plants_first} {plant}: {found:#?}");
                }
                assert!(found.iter().any(|one| one.change == Change::NotAllSeen), "{at}: {found:#?}");
                assert!(work.join("src").is_dir() && work.join("app").is_dir(), "what was there stays");
            }
        }
    }

    #[test]
    fn what_is_opened_to_others_is_closed_again() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap().join("w");
        for name in ["", ".git", ".git/objects", ".git/refs/heads", ".git/hooks", "src/deep", "shared"] {
            fs::create_dir_all(work.join(name)).unwrap();
            fs::set_permissions(work.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let set =
            |name: &str, mode: u32| fs::set_permissions(work.join(name), fs::Permissions::from_mode(mode)).unwrap();
        let mode = |name: &str| fs::metadata(work.join(name)).unwrap().permissions().mode() & 0o7777;
        fs::write(work.join(".git/HEAD"), "ref: refs/heads/main").unwrap();
        set("shared", 0o775);
        for asked in [false, true] {
            let watch = Watch::before(&work, &work, Vec::new(), None, !asked);
            let opened = ["", ".git", ".git/objects", ".git/refs/heads", ".git/hooks", "src/deep"];
            for name in opened {
                set(name, 0o777);
            }
            set("shared", 0o777);
            fs::create_dir_all(work.join("new")).unwrap();
            set("new", 0o777);
            let found = watch.after(false, &HashSet::new());
            let closed = found.iter().filter(|one| one.change == Change::Closed).count();
            if asked {
                assert_eq!((closed, mode("src/deep")), (0, 0o777), "who was asked allowed it: {found:#?}");
                continue;
            }
            assert_eq!(closed, opened.len() + 1, "{found:#?}");
            assert!(opened.iter().all(|name| mode(name) == 0o755) && mode("shared") == 0o775 && mode("new") == 0o777);
        }
    }

    #[test]
    fn what_could_not_be_looked_at_is_not_new_for_that() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap();
        fs::create_dir_all(work.join(".claude")).unwrap();
        fs::create_dir_all(work.join("app/.vscode")).unwrap();
        for name in [".claude/settings.json", "app/.vscode/tasks.json", ".envrc"] {
            fs::write(work.join(name), "mine").unwrap();
        }
        std::thread::sleep(Duration::from_millis(30));
        let mut watch = Watch::before(&work, &work, Vec::new(), None, true);
        assert_eq!(watch.objection(), None);
        // As if the look had ended before it came there.
        watch.before = Seen::default();
        watch.before.miss(&work);
        assert!(watch.objection().is_some(), "nobody begins a run that nobody can judge");
        let found = watch.after(false, &HashSet::new());
        assert!(found.iter().all(|one| one.change != Change::SetAside), "{found:?}");
        for name in [".claude/settings.json", "app/.vscode/tasks.json", ".envrc"] {
            assert!(work.join(name).exists(), "{name}");
        }
        std::thread::sleep(Duration::from_millis(30));
        watch.since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos().cast_signed();
        std::thread::sleep(Duration::from_millis(30));
        fs::write(work.join(".envrc"), "evil").unwrap();
        watch.after(false, &HashSet::new());
        assert!(!work.join(".envrc").exists(), "what was made since is new");
    }

    /// Another run moves the folder of one that goes on to where its files act later: nobody looks for them there.
    #[test]
    fn a_folder_that_is_moved_while_its_run_goes_on_is_set_aside() {
        let root = tempfile::tempdir().unwrap();
        let project = fs::canonicalize(root.path()).unwrap();
        for nobody_was_asked in [true, false] {
            let work = project.join("g");
            fs::create_dir_all(work.join(".git")).unwrap();
            let watch = Watch::before(&work, &work, Vec::new(), None, nobody_was_asked);
            fs::write(work.join("settings.json"), "{}").unwrap();
            let moved = project.join(".claude");
            fs::rename(&work, &moved).unwrap();
            let found = watch.after(false, &HashSet::new());
            assert_eq!(moved.exists(), !nobody_was_asked, "{found:?}");
            assert_eq!(found.iter().any(|one| one.aside.is_some()), nobody_was_asked, "{found:?}");
        }
    }
}
