//! What a workspace was before a run, kept on the disk until somebody has looked at what the run left.
//!
//! A runner can be killed. What its command had planted by then would be there before the next run, which would take it for the
//! person's own. So the next run in the workspace holds what it finds against what the killed one had seen.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bashgate_hook::gate::git::Tracked;
use bashgate_shared::classify::later;
use bashgate_shared::command::Digest;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::acting::Content;
use super::seen::{Seen, Stamp};
use super::{Change, Violation, taken_away};
use crate::job::Jobs;

/// How long a run may need to end when its time is over.
const SPARE: Duration = Duration::from_mins(1);
/// So often a runner shows that it lives, and how long behind its last sign it may have lived.
const SIGN: Duration = Duration::from_secs(2);
const SIGN_SPARE_S: i64 = 8;
/// How far the clocks of files and processes may be apart.
const CLOCK_S: i64 = 2;
/// Longest file that is read back, in bytes.
const MOST_BYTES: u64 = if cfg!(test) { 64 << 10 } else { 64 << 20 };

/// A baseline on the disk. It is locked while its runner lives, and removed with it.
#[derive(Debug)]
pub(super) struct Baseline {
    path: PathBuf,
    _lock: File,
    /// What came since has not all been seen: the next run looks again.
    stays: AtomicBool,
    /// Ends the signs of life when it goes.
    _lives: mpsc::Sender<()>,
}

impl Drop for Baseline {
    fn drop(&mut self) {
        if !self.stays.load(Ordering::Relaxed) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What is written down.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    /// The workspace.
    workspace: String,
    /// Nobody was asked about the command.
    nobody_was_asked: bool,
    /// When the run has ended at the latest, in seconds since 1970: what is younger is a person's.
    ends_by_s: i64,
    /// When it began, in seconds since 1970: what is older is nobody's but a person's.
    #[serde(default)]
    began_s: i64,
    /// The file's time of change is the last sign of its runner's life.
    #[serde(default)]
    shows_signs: bool,
    /// By their paths; a name that is no text by what of it is.
    files: BTreeMap<String, Stamp>,
    /// What those of them hold that no run is to write.
    #[serde(default)]
    contents: BTreeMap<String, Content>,
}

/// What is to be done about something that a killed run has left.
#[derive(Debug, Clone)]
enum Answer {
    /// It is told.
    Told,
    /// It is given what it held.
    PutBack(Content),
    /// It is set aside.
    SetAside,
}

impl Answer {
    /// How much is done.
    const fn weight(&self) -> u8 {
        match self {
            Self::Told => 0,
            Self::PutBack(_) => 1,
            Self::SetAside => 2,
        }
    }
}

/// Opens again what a run may have closed to hide what it has left: without mounts of its own a sandbox keeps nobody from changing the
/// modes of what belongs to them.
fn opens_again(folder: &Path) {
    let open = |path: &Path, mode: u32| {
        let closed = fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink() && found.mode() & mode != mode);
        if closed {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        }
    };
    // From the outermost of those that belong to whoever this is.
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let is_inside = |path: &&Path| home.as_ref().is_some_and(|home| path.starts_with(home));
    let mut above: Vec<&Path> = folder.ancestors().skip(2).take_while(is_inside).collect();
    above.reverse();
    for above in above.into_iter().chain(folder.parent()).chain([folder]) {
        open(above, 0o700);
    }
    for file in fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().is_file()) {
        open(&file.path(), 0o600);
    }
}

impl Baseline {
    /// Keeps it for the next run.
    pub(super) fn stays(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    /// Writes down what was seen, below the runner's own folder, but for what other runs have made that nobody has seen yet: that was
    /// not there before anybody ran. `None` where it cannot be written.
    pub(super) fn keep(
        state: &Path,
        workspace: &Path,
        (seen, left): (&Seen, &Left),
        nobody_was_asked: bool,
        lasts: Duration,
    ) -> Option<Self> {
        Jobs::at(state.to_owned()).own_folder().ok()?;
        let folder = kept_in(state);
        fs::create_dir_all(&folder).ok()?;
        let random = getrandom::u64().ok()?;
        // Others see it when it is whole and locked: half of one is what a killed runner has left.
        let name = format!("{}-{random:016x}", name_of(workspace));
        let new = state.join(format!("watch-{name}"));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).ok()?;
        let unfinished = Unfinished(&new);
        let path = folder.join(name);
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let is_foreign = |path: &Path| left.unseen_by_others.iter().any(|file| file.path == path && !file.was_there);
        let files = stamps(seen).filter(|(path, ..)| !is_foreign(path));
        let files = files.map(|(path, stamp, _)| (text(path), stamp.clone())).collect();
        let (lives, ended) = mpsc::channel::<()>();
        let baseline = Self { path, _lock: file.try_clone().ok()?, stays: AtomicBool::new(false), _lives: lives };
        let sign = file.try_clone().ok()?;
        // Without a thread for it the time that the run may last counts.
        let signs = std::thread::Builder::new().name("signs".to_owned()).spawn(move || {
            while ended.recv_timeout(SIGN) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = sign.set_modified(SystemTime::now());
            }
        });
        let shows_signs = signs.is_ok();
        let end = SystemTime::now().checked_add(lasts.saturating_add(SPARE))?;
        let seconds =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).ok().and_then(|at| i64::try_from(at.as_secs()).ok());
        let began_s = seconds(SystemTime::now())? - CLOCK_S;
        let ends_by_s = end.duration_since(UNIX_EPOCH).ok().and_then(|end| i64::try_from(end.as_secs()).ok())?;
        let workspace = text(workspace);
        let contents = seen.acting.contents().filter(|(path, _)| !is_foreign(path));
        let contents = contents.map(|(path, content)| (text(path), content)).collect();
        let written = Written { workspace, nobody_was_asked, ends_by_s, began_s, shows_signs, files, contents };
        // What is longer than is read back says nothing.
        let bytes = serde_json::to_vec(&written).ok().filter(|bytes| bytes.len() as u64 <= MOST_BYTES)?;
        file.write_all(&bytes).ok()?;
        fs::rename(&new, &baseline.path).ok()?;
        drop(unfinished);
        Some(baseline)
    }
}

/// A file that goes when it has not got its name.
struct Unfinished<'p>(&'p Path);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
    }
}

/// What other runs in the workspace mean for one that begins.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// What came or changed since the baselines whose runners are gone, and what is to be set aside of it.
    changes: Vec<(PathBuf, Violation, Answer)>,
    /// Those baselines, locked. They go when somebody has been told.
    over: Vec<(PathBuf, File)>,
    /// What was not there, or was another one, when a run began that still goes on.
    pub(super) unseen_by_others: Vec<Foreign>,
}

/// A file that another run had not seen.
#[derive(Debug)]
pub(super) struct Foreign {
    pub(super) path: PathBuf,
    /// Nobody was asked about that run.
    pub(super) nobody_was_asked: bool,
    /// Everyday tools make none, and it is no older than that run.
    pub(super) is_kept: bool,
    /// That run had seen one there, of another content.
    pub(super) was_there: bool,
    /// What that held, where it was written down.
    pub(super) content: Option<Content>,
    /// When that run began, in seconds since 1970.
    pub(super) began_s: i64,
    /// Its baseline.
    baseline: PathBuf,
}

impl Foreign {
    /// True when that run has ended, and said what it left.
    pub(super) fn is_over(&self) -> bool {
        fs::symlink_metadata(&self.baseline).is_err()
    }
}

/// The baselines that are there before somebody looks. What ends while that goes on has seen less than whoever looks.
pub(super) fn open_ones(state: &Path) -> Vec<(PathBuf, io::Result<File>)> {
    opens_again(&kept_in(state));
    let entries = fs::read_dir(kept_in(state)).into_iter().flatten().flatten();
    entries.map(|entry| (entry.path(), File::open(entry.path()))).collect()
}

/// The folder in a runner's own where baselines lie.
fn kept_in(state: &Path) -> PathBuf {
    state.join("watch")
}

impl Left {
    /// Holds what is there now against all baselines of the workspace, of those in it, and of those that it lies in: those that were
    /// there before somebody looked, and those that have come since.
    pub(super) fn of(state: &Path, workspace: &Path, now: &Seen, before: Vec<(PathBuf, io::Result<File>)>) -> Self {
        let start = format!("{}-", name_of(workspace));
        let mut left = Self::default();
        let known: HashSet<PathBuf> = before.iter().map(|(path, _)| path.clone()).collect();
        let since = open_ones(state).into_iter().filter(|(path, _)| !known.contains(path));
        for (path, file) in before.into_iter().chain(since).collect::<Vec<_>>() {
            let is_own = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start));
            let Ok(file) = file else {
                // It has ended meanwhile; or somebody has closed it, who had a reason.
                if is_own && fs::symlink_metadata(&path).is_ok() {
                    left.changes.push((
                        workspace.to_owned(),
                        Violation::of(workspace, Change::NotAllSeen),
                        Answer::Told,
                    ));
                }
                continue;
            };
            let mut bytes = Vec::new();
            let read = (&file).take(MOST_BYTES).read_to_end(&mut bytes).ok();
            // One that was killed while it wrote this had started nothing.
            let mut before = read.and_then(|_| serde_json::from_slice::<Written>(&bytes).ok());
            if let (Some(before), Ok(meta)) = (&mut before, file.metadata())
                && before.shows_signs
            {
                // It died with its runner. Nobody sets this time back.
                before.ends_by_s = before.ends_by_s.min(meta.ctime().saturating_add(SIGN_SPARE_S));
            }
            // It has ended by itself since, and has told what it saw: what it had not seen may have been made again behind it.
            let has_ended = fs::symlink_metadata(&path).is_err();
            let touches = |before: &Written| {
                let other = Path::new(&before.workspace);
                other.starts_with(workspace) || workspace.starts_with(other)
            };
            // Nobody else's is locked, not even for a moment: its own next run would take that for a run that goes on.
            if !is_own && !before.as_ref().is_some_and(touches) {
                continue;
            }
            if has_ended || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                if let Some(before) = &before {
                    let foreign = |(file, is_kept, was_there): (PathBuf, bool, bool)| Foreign {
                        is_kept: is_kept
                            // What is gone meanwhile can only be made again.
                            && fs::symlink_metadata(&file).map_or(true, |meta| meta.ctime() >= before.began_s),
                        was_there,
                        content: before.contents.get(&text(&file)).cloned(),
                        began_s: before.began_s,
                        path: file,
                        nobody_was_asked: before.nobody_was_asked,
                        baseline: path.clone(),
                    };
                    left.unseen_by_others.extend(before.unseen(now, workspace).into_iter().map(foreign));
                }
                continue;
            }
            if file.metadata().is_ok_and(|meta| meta.len() > MOST_BYTES) {
                left.changes.push((workspace.to_owned(), Violation::of(workspace, Change::NotAllSeen), Answer::Told));
            }
            for (path, violation, answer) in before.iter().flat_map(|before| before.changes_to(now, workspace)) {
                match left.changes.iter_mut().find(|(known, ..)| *known == path) {
                    // A file acts in more than one role; in one of them nobody makes it but to plant something.
                    Some((.., known)) if known.weight() >= answer.weight() => {}
                    Some((.., known)) => *known = answer,
                    None => left.changes.push((path, violation, answer)),
                }
            }
            // Another workspace's own next run has more to say.
            if is_own {
                left.over.push((path, file));
            }
        }
        left
    }

    /// Says it, sets aside what nobody was asked about, and lets the baselines go.
    pub(super) fn told(&self, root: &Path) -> Vec<Violation> {
        let told = |(path, violation, answer): &(PathBuf, Violation, Answer)| match answer {
            Answer::Told => violation.clone(),
            Answer::PutBack(content) => content.put_back(path, root),
            Answer::SetAside => taken_away(path, root, violation.change),
        };
        let all = self.changes.iter().map(told).collect();
        for (path, _) in &self.over {
            let _ = fs::remove_file(path);
        }
        all
    }
}

/// The folders around a file, within the workspace.
pub(super) fn folders_around<'p>(path: &'p Path, workspace: &'p Path) -> impl Iterator<Item = &'p Path> {
    path.ancestors().skip(1).take_while(move |folder| folder.starts_with(workspace) && *folder != workspace)
}

impl Written {
    fn is_of_its_time(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|meta| (self.began_s..=self.ends_by_s).contains(&meta.ctime()))
    }

    /// True for a file that was made when the run may have gone on, and that git does not track: one that it does is told of alone, like
    /// those that a person checks out.
    fn may_be_its(&self, path: &Path, workspace: &Path, tracked: Option<&Tracked>) -> bool {
        // What acts by its name was not there under it.
        let acts_by_name = || later::of(&path.to_string_lossy(), None).is_some();
        // A repository that was made around them puts older settings in force.
        let became_one = || {
            let mut made =
                folders_around(path, workspace).flat_map(|one| ["HEAD", "commondir"].map(|name| one.join(name)));
            made.any(|file| self.is_of_its_time(&file))
        };
        (self.is_of_its_time(path) || acts_by_name() && self.came_with_folder(path, workspace) || became_one())
            && !tracked.is_some_and(|tracked| tracked.holds(path))
    }

    /// True where a folder around it may be the run's: one that was moved keeps the times of what lies in it.
    fn came_with_folder(&self, path: &Path, workspace: &Path) -> bool {
        folders_around(path, workspace).any(|folder| self.is_of_its_time(folder))
    }

    /// What is there now and was not, or not so; and whether it is to be set aside.
    fn changes_to(&self, now: &Seen, workspace: &Path) -> Vec<(PathBuf, Violation, Answer)> {
        let tracked = Tracked::of(workspace);
        let changed = |(path, stamp, is_kept): (&PathBuf, &Stamp, bool)| match self.files.get(&text(path)) {
            Some(before) if before == stamp => None,
            Some(_) => {
                // What a sandbox without mounts of its own could not keep, or came under its name with a folder. A person who has
                // git bring another one does so to all of them but what gates an agent.
                let was = self.contents.get(&text(path)).filter(|content| {
                    let tracked = tracked.as_ref().filter(|_| !content.gates);
                    // Whatever it is called: another folder may have got the name of the one around it.
                    let came_with_folder = || {
                        !tracked.is_some_and(|tracked| tracked.holds(path)) && self.came_with_folder(path, workspace)
                    };
                    self.nobody_was_asked && (self.may_be_its(path, workspace, tracked) || came_with_folder())
                });
                let answer = was.map_or(Answer::Told, |content| Answer::PutBack(content.clone()));
                Some((path.clone(), Violation::of(path, Change::Modified), answer))
            }
            None => {
                let is_kept = is_kept || super::makes_git_start(path, workspace);
                let aside = self.nobody_was_asked && is_kept && self.may_be_its(path, workspace, tracked.as_ref());
                let answer = if aside { Answer::SetAside } else { Answer::Told };
                Some((path.clone(), Violation::of(path, Change::Created), answer))
            }
        };
        // None was on the way to what gates an agent: a link leads to another file.
        let gating = self.contents.iter().filter(|(_, content)| content.gates);
        let links: BTreeMap<&String, PathBuf> =
            gating.filter_map(|(path, _)| Some((path, self.new_link_on(path, workspace)?))).collect();
        // It goes before the file comes back; one in its very place when it does.
        let turned: BTreeSet<&PathBuf> =
            links.iter().filter(|(path, link)| **link != Path::new(path)).map(|(_, link)| link).collect();
        let set_aside = turned.iter().map(|link| {
            let is_its = self.nobody_was_asked && self.may_be_its(link, workspace, None);
            let answer = if is_its { Answer::SetAside } else { Answer::Told };
            ((*link).clone(), Violation::of(link, Change::Created), answer)
        });
        // Without what gates an agent it may run ungated. A person may have taken it away since, and hears of it.
        let is_gone = |(path, _): &(&String, &Content)| links.contains_key(path) || fs::symlink_metadata(path).is_err();
        let gone = self.contents.iter().filter(is_gone).map(|(path, content)| {
            let path = PathBuf::from(path);
            // The folder may be gone with it.
            let folder = || path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok());
            let of_its_time = || folder().is_some_and(|folder| self.may_be_its(folder, workspace, None));
            let comes_back = content.gates && self.nobody_was_asked && of_its_time();
            let answer = if comes_back { Answer::PutBack(content.clone()) } else { Answer::Told };
            (path.clone(), Violation::of(&path, Change::Removed), answer)
        });
        let others = self.common(now, workspace).filter_map(changed).filter(|(path, ..)| !turned.contains(path));
        set_aside.chain(others).chain(gone).collect()
    }

    /// The outermost link on a path within the workspace, itself among them, that came while the run went on.
    fn new_link_on(&self, path: &str, workspace: &Path) -> Option<PathBuf> {
        let path = Path::new(path);
        let inside = std::iter::once(path).chain(folders_around(path, workspace));
        let link = inside.filter(|folder| folder.is_symlink()).last()?;
        self.is_of_its_time(link).then(|| link.to_owned())
    }

    /// What both can have seen. In a workspace within another one, the two agree about what acts later, and about nothing else.
    fn common<'s>(&self, now: &'s Seen, workspace: &Path) -> impl Iterator<Item = (&'s PathBuf, &'s Stamp, bool)> {
        let other = PathBuf::from(&self.workspace);
        let is_same = other == workspace;
        let (all, acting) = (is_same.then(|| stamps(now)), (!is_same).then(|| now.acting.stamps()));
        let acting = acting.into_iter().flatten().filter(move |(path, ..)| path.starts_with(&other));
        all.into_iter().flatten().chain(acting)
    }

    /// The paths of the same.
    fn unseen(&self, now: &Seen, workspace: &Path) -> Vec<(PathBuf, bool, bool)> {
        let other = |(path, stamp, is_kept): (&PathBuf, &Stamp, bool)| {
            let before = self.files.get(&text(path));
            (before != Some(stamp)).then(|| (path.clone(), is_kept, before.is_some()))
        };
        self.common(now, workspace).filter_map(other).collect()
    }
}

/// Everything that was seen, and whether everyday tools make no such file.
fn stamps(seen: &Seen) -> impl Iterator<Item = (&PathBuf, &Stamp, bool)> {
    // What lies in a repository's own folder is git's work but for its hooks, and for what leads it elsewhere.
    let of_git = move |path: &Path| seen.is_hook(path) || is_start_file_of_git(path);
    let own = seen.own.iter().chain(&seen.nested).map(move |(path, stamp)| (path, stamp, of_git(path)));
    own.chain(seen.acting.stamps())
}

/// True for a file in a repository's own folder that everyday work with git does not make, and by which it would run something.
pub(super) fn is_start_file_of_git(path: &Path) -> bool {
    const NAMES: &[&str] =
        &["config.worktree", "commondir", "gitdir", "info/attributes", "hooks", "remotes", "branches"];
    let inside = path.ancestors().skip(1).find(|folder| folder.ends_with(".git"));
    inside.is_some_and(|git| NAMES.iter().any(|name| path.starts_with(git.join(name)))) || is_of_another(path)
}

/// True for what says where a worktree or a submodule has its settings. What git itself writes for a worktree that it makes leads to
/// the repository around it.
fn is_of_another(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let mut folders = path.ancestors().skip(2);
    let is_inside = folders.any(|folder| ["worktrees", "modules"].iter().any(|name| folder.ends_with(name)));
    let leads_back = || matches!(super::bytes_of(path).as_slice(), b"../.." | b"../..\n");
    is_inside && name == "config.worktree" || name == "commondir" && !(is_inside && leads_back())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn name_of(workspace: &Path) -> String {
    Digest::of(workspace.as_os_str().as_encoded_bytes()).hex().chars().take(24).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::super::Watch;
    use super::*;

    /// Leaves the baseline of a run that was killed, and says where it lies and what it holds.
    fn killed(run: Watch, state: &Path) -> (PathBuf, String) {
        let file = fs::read_dir(kept_in(state)).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        drop(run);
        fs::write(&file, &text).unwrap();
        (file, text)
    }

    /// What is older than a killed run, or tracked, is nobody's plant: it is only told that it acts now.
    #[test]
    fn a_killed_run_costs_nobody_what_was_there_or_is_tracked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (work, state) = (root.join("w"), root.join("state"));
        fs::create_dir_all(work.join("scripts/hooks")).unwrap();
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.args(["-c", "user.name=n", "-c", "user.email=n@example.invalid"]).args(arguments);
            assert!(command.current_dir(&work).output().unwrap().status.success(), "{arguments:?}");
        };
        git(&["init", "-q"]);
        fs::write(work.join("scripts/hooks/pre-commit"), "mine").unwrap();
        let watch = || Watch::before(&work, &work, Vec::new(), Some((&state, Duration::from_mins(5))), true);
        let (file, text) = killed(watch(), &state);
        let began = |began: i64| {
            let (start, rest) = text.split_once("\"began_s\":").unwrap();
            fs::write(&file, format!("{start}\"began_s\":{began},{}", rest.split_once(',').unwrap().1)).unwrap();
        };
        git(&["config", "core.hooksPath", "scripts/hooks"]);
        let looks = || {
            let after = watch().after(false, &std::collections::HashSet::new());
            after.into_iter().map(|one| (one.path, one.change)).collect::<Vec<_>>()
        };
        let hook = work.join("scripts/hooks/pre-commit");
        let told = (hook.display().to_string(), Change::Created);
        // Older than the run.
        began(i64::from(u32::MAX));
        let all = looks();
        assert!(all.contains(&told) && hook.exists(), "{all:?}");
        // Of its time, and tracked.
        git(&["add", "."]);
        began(0);
        let all = looks();
        assert!(all.contains(&told) && hook.exists(), "{all:?}");
        // Neither. The settings are what they were before that run.
        git(&["config", "core.hooksPath", "scripts/hooks"]);
        git(&["rm", "-q", "--cached", "scripts/hooks/pre-commit"]);
        began(0);
        let all = looks();
        assert!(!hook.exists(), "{all:?}");
    }

    /// What was there and is no run's to write is what it was, however the run got at it; what a person has written since stays.
    #[test]
    fn what_a_killed_run_changed_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (work, state) = (root.join("w"), root.join("state"));
        let names = ["app/.claude/settings.json", "app/.vscode/tasks.json", ".mcp.json", ".claude/settings.json"];
        for name in names {
            fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
            fs::write(work.join(name), "mine").unwrap();
        }
        let watch = || Watch::before(&work, &work, Vec::new(), Some((&state, Duration::from_mins(5))), true);
        let holds = |name: &str| fs::read_to_string(work.join(name)).unwrap_or_default();
        for is_persons in [false, true] {
            let (file, written) = killed(watch(), &state);
            let (start, rest) = written.split_once("\"ends_by_s\":").unwrap();
            let rest = rest.split_once(',').unwrap().1;
            let ends = if is_persons { 1 } else { i64::from(u32::MAX) };
            fs::write(
                &file,
                format!("{start}\"ends_by_s\":{ends},{rest}").replace("\"shows_signs\":true", "\"shows_signs\":false"),
            )
            .unwrap();
            fs::rename(work.join("app"), work.join("a2")).unwrap();
            for name in ["app/.claude/settings.json", "app/.vscode/tasks.json", ".mcp.json"] {
                fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
                fs::write(work.join(name), "evil").unwrap();
            }
            fs::remove_dir_all(work.join(".claude")).unwrap();
            fs::remove_dir_all(work.join("a2")).unwrap();
            let all = watch().after(false, &std::collections::HashSet::new());
            // Who has taken away what gates an agent is not known then: it is told.
            let is_told =
                |one: &Violation| one.path.ends_with("w/.claude/settings.json") && one.change == Change::Removed;
            assert_eq!(all.iter().any(is_told), is_persons, "{all:#?}");
            for name in names {
                let want = match (is_persons, name.starts_with(".claude")) {
                    (false, _) => "mine",
                    (true, false) => "evil",
                    (true, true) => "",
                };
                assert_eq!(holds(name), want, "{name}: {all:#?}");
            }
        }
    }

    /// What settings start has a name like any other: a folder that took the place of the one around it brings another file.
    #[test]
    fn what_a_killed_run_has_exchanged_with_its_folder_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (work, state) = (root.join("w"), root.join("state"));
        for (name, text) in [
            (
                ".claude/settings.json",
                r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"sh tools/gate.sh"}]}]}}"#,
            ),
            ("tools/gate.sh", "exit 2"),
            ("t0/gate.sh", "exit 0"),
        ] {
            fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
            fs::write(work.join(name), text).unwrap();
        }
        std::thread::sleep(Duration::from_millis(2100));
        let watch = || Watch::before(&work, &work, Vec::new(), Some((&state, Duration::from_mins(5))), true);
        killed(watch(), &state);
        fs::rename(work.join("tools"), work.join("t2")).unwrap();
        fs::rename(work.join("t0"), work.join("tools")).unwrap();
        let all = watch().after(false, &HashSet::new());
        assert_eq!(fs::read_to_string(work.join("tools/gate.sh")).unwrap(), "exit 2", "{all:#?}");
    }

    /// A folder of settings is one for whoever works in it, too.
    #[test]
    fn what_a_path_means_begins_above_the_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (inside, plant) in
            [(".agents", "skills/deploy/SKILL.md"), (".idx", "dev.nix"), (".config/nvim", "init.lua")]
        {
            let work = root.join(inside);
            fs::create_dir_all(&work).unwrap();
            let watch = Watch::before(&work, &work, Vec::new(), None, true);
            fs::create_dir_all(work.join(plant).parent().unwrap()).unwrap();
            fs::write(work.join(plant), "evil").unwrap();
            let all = watch.after(false, &std::collections::HashSet::new());
            let path = work.join(plant).display().to_string();
            assert!(all.iter().any(|one| one.path == path), "{inside}: {all:?}");
            assert_eq!(work.join(plant).exists(), inside == ".config/nvim", "{inside}: {all:?}");
        }
    }

    /// A run that ends while another one looks takes its baseline along; what it had not seen is known all the same.
    #[test]
    fn what_ends_during_a_look_is_not_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (work, state) = (root.join("w"), root.join("state"));
        fs::create_dir_all(&work).unwrap();
        let other = Watch::before(&work, &work, Vec::new(), Some((&state, Duration::from_mins(5))), true);
        fs::write(work.join(".envrc"), "evil").unwrap();
        let there = open_ones(&state);
        let seen = Seen::of(&work, &work, &[], super::super::seen::Known::default(), None);
        other.after(false, &HashSet::new());
        drop(other);
        let left = Left::of(&state, &work, &seen, there);
        let plant = left.unseen_by_others.iter().find(|file| file.path == work.join(".envrc"));
        assert!(plant.is_some_and(|file| file.is_over() && file.is_kept), "{left:?}");
        // It does not go into the next one's baseline as what was there.
        let baseline = Baseline::keep(&state, &work, (&seen, &left), true, Duration::from_mins(5)).unwrap();
        let text = fs::read_to_string(&baseline.path).unwrap();
        assert!(!text.contains(".envrc"), "{text}");
        let path = baseline.path.clone();
        baseline.stays();
        drop(baseline);
        assert!(path.exists(), "where not all was seen the next run looks again");
    }

    /// A folder that is moved keeps the times of what lies in it.
    #[test]
    fn a_folder_that_a_killed_run_has_moved_in_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (work, state) = (root.join("w"), root.join("state"));
        fs::create_dir_all(work.join("stage")).unwrap();
        fs::create_dir_all(work.join(std::ffi::OsStr::from_bytes(b"pkg\xff"))).unwrap();
        fs::write(work.join("stage/tasks.json"), "evil").unwrap();
        std::thread::sleep(Duration::from_millis(2100));
        let watch = || Watch::before(&work, &work, Vec::new(), Some((&state, Duration::from_mins(5))), true);
        killed(watch(), &state);
        fs::rename(work.join("stage"), work.join(".vscode")).unwrap();
        let odd = work.join(std::ffi::OsStr::from_bytes(b"pkg\xff/.vscode"));
        fs::create_dir_all(&odd).unwrap();
        fs::write(odd.join("tasks.json"), "evil").unwrap();
        let all = watch().after(false, &HashSet::new());
        assert!(!work.join(".vscode/tasks.json").exists(), "{all:?}");
        assert!(!odd.join("tasks.json").exists(), "{all:?}");
    }

    #[test]
    fn what_a_killed_run_has_planted_is_found_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (work, state) = (root.join("w"), root.join("state"));
        fs::create_dir_all(work.join(".vscode")).unwrap();
        fs::write(work.join(".vscode/tasks.json"), "mine").unwrap();
        let watch = |caged| Watch::before(&work, &work, Vec::new(), Some((&state, Duration::from_mins(5))), caged);
        let changes = |watch: &Watch| {
            watch
                .after(false, &std::collections::HashSet::new())
                .into_iter()
                .map(|one| (one.path, one.change))
                .collect::<Vec<_>>()
        };
        let kept = || fs::read_dir(kept_in(&state)).unwrap().count();

        let killed = watch(true);
        assert_eq!(kept(), 1);
        // Another one that runs at the same time takes nothing of it away.
        assert_eq!(changes(&watch(true)), []);
        assert_eq!(kept(), 1);
        let file = fs::read_dir(kept_in(&state)).unwrap().next().unwrap().unwrap().path();
        let before_all = fs::read(&file).unwrap();
        drop(killed);
        fs::write(&file, &before_all).unwrap();
        fs::write(work.join(".envrc"), "evil").unwrap();
        fs::write(work.join(".vscode/tasks.json"), "evil").unwrap();

        // A run that never comes to its end has told nobody, and leaves all as it was.
        drop(watch(true));
        assert!(work.join(".envrc").exists());
        let next = watch(true);
        let plant = |name: &str, change| (work.join(name).display().to_string(), change);
        assert_eq!(changes(&next), [plant(".envrc", Change::SetAside), plant(".vscode/tasks.json", Change::PutBack)]);
        assert!(!work.join(".envrc").exists());
        drop(next);
        assert_eq!(kept(), 0);
        assert_eq!(changes(&watch(true)), []);
        // What another run has made that goes on is not believed to have been there, when it is made again.
        let other = watch(true);
        fs::write(work.join(".envrc"), "evil").unwrap();
        let second = watch(true);
        fs::remove_file(work.join(".envrc")).unwrap();
        assert_eq!(changes(&other), []);
        std::thread::sleep(Duration::from_millis(30));
        fs::write(work.join(".envrc"), "evil").unwrap();
        assert_eq!(changes(&second), [plant(".envrc", Change::SetAside)]);
        drop((other, second));
        // What is only still there is the other one's.
        let other = watch(true);
        fs::write(work.join(".envrc"), "evil").unwrap();
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(changes(&watch(true)), []);
        assert_eq!(changes(&other), [plant(".envrc", Change::SetAside)]);
        drop(other);
        // What is younger than the killed run can have been is the person's, and stays.
        let text = String::from_utf8(before_all.clone()).unwrap();
        let (start, rest) = text.split_once("\"ends_by_s\":").unwrap();
        let (_, rest) = rest.split_once(',').unwrap();
        fs::write(&file, format!("{start}\"ends_by_s\":1000,{rest}")).unwrap();
        fs::write(work.join(".envrc"), "mine").unwrap();
        let next = watch(true);
        assert!(work.join(".envrc").exists());
        let all = changes(&next);
        assert!(all.contains(&plant(".envrc", Change::Created)) && work.join(".envrc").exists(), "{all:?}");
        drop(next);
        // So is what is younger than the last sign of that runner's life.
        fs::remove_file(work.join(".envrc")).unwrap();
        fs::write(&file, &before_all).unwrap();
        std::thread::sleep(Duration::from_secs(SIGN_SPARE_S.unsigned_abs() + 2));
        fs::write(work.join(".envrc"), "mine").unwrap();
        let all = changes(&watch(true));
        assert!(all.contains(&plant(".envrc", Change::Created)) && work.join(".envrc").exists(), "{all:?}");
        // A time that somebody sets back is no sign, and what cannot be opened says nothing.
        fs::remove_file(work.join(".envrc")).unwrap();
        fs::write(&file, &before_all).unwrap();
        let long_ago = SystemTime::now() - Duration::from_mins(1);
        File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
        fs::write(work.join(".envrc"), "evil").unwrap();
        let next = watch(true);
        assert!(changes(&next).contains(&plant(".envrc", Change::SetAside)));
        drop(next);
        // What is no baseline is none; of what is too long to be compared, somebody hears.
        fs::write(&file, "{").unwrap();
        assert_eq!(changes(&watch(false)), []);
        assert_eq!(kept(), 0);
        fs::write(&file, vec![b' '; 65_537]).unwrap();
        assert_eq!(changes(&watch(false)), [(work.display().to_string(), Change::NotAllSeen)]);
        assert_eq!(kept(), 0);
    }
}
