//! What of a workspace could make other programs run something: git's own files, and what acts later by the one list.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, Metadata};
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use bashgate_hook::gate::git;
use bashgate_hook::gate::inward::{self, Inward};
use bashgate_hook::gate::started::Folder;
use bashgate_shared::classify::later::{Begun, Names};
use bashgate_shared::command::Digest;
use serde::{Deserialize, Serialize};

use super::acting::ActingFiles;
use super::aside::{Reopened, lies_in_hooks, open, whole_text_of};
use super::waiting::{LARGE, Part, Waiting};
use super::{MOST_BYTES, MOST_NAMES};

/// Most of all files together, in bytes.
const MOST_BYTES_OF_ALL: u64 = 64 << 20;
/// Longest look. What has not been seen by then was not all seen.
const LONGEST: Duration = Duration::from_secs(20);
/// Longest time for following links, of which a run may have made many that lead far.
const LONGEST_ON_LINKS: Duration = Duration::from_secs(5);
/// Deepest folder of hooks or settings that is looked into.
const DEEPEST: usize = 8;
/// Names by which a repository is known.
const OF_REPOSITORIES: &[&str] = &[".git", "HEAD", "config", "commondir"];
/// Most folders of objects: one for each first byte, and a few.
const MOST_OF_OBJECTS: usize = 512;
/// Most names in a repository's own folder but for its objects.
const MOST_OF_GIT: usize = if cfg!(test) { 2_000 } else { 200_000 };
/// Most repositories in a workspace whose settings are read.
const MOST_REPOSITORIES: usize = 2000;
/// As many links as the kernel follows.
pub(crate) const MOST_LINKS: usize = 40;
/// Most files behind a link to a folder.
const MOST_BEHIND: usize = 4000;
/// Most files of a folder of which something is started.
const MOST_BESIDE: usize = 4000;

/// What a file was: its kind, and a digest of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp(pub(super) String);

/// What of a workspace could make other programs run something.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Folders to which a link leads that stands for a folder of hooks.
    hook_folders: BTreeSet<PathBuf>,
    /// Its real path.
    workspace: PathBuf,
    /// The repository's own, and the preset's protected files.
    pub(super) own: BTreeMap<PathBuf, Stamp>,
    /// What acts later by the one list, anywhere in the workspace, and what git's settings name.
    pub(super) acting: ActingFiles,
    /// Of repositories elsewhere in the workspace.
    pub(super) nested: BTreeMap<PathBuf, Stamp>,
    /// The folders in which those have their files, each with its device and inode.
    pub(super) homes: HashMap<PathBuf, (u64, u64)>,
    /// Folders that could not be listed, and the workspace where it is too large.
    pub(super) unseen: BTreeSet<PathBuf>,
    /// Folders in which each file counts, and of which there are more than are looked at.
    pub(super) flooded: BTreeSet<PathBuf>,
    /// Folders of which nobody can say what git would start there. Their names were looked at.
    pub(super) unclear: BTreeSet<PathBuf>,
    /// Bytes that have been compared.
    bytes: u64,
    /// Names that have been looked at.
    names: usize,
    /// Repositories in it whose settings have been read.
    repositories: usize,
    /// See [`Self::links_of_git`].
    git_links: Vec<PathBuf>,
    since: Option<Instant>,
    /// How long following links has taken so far.
    on_links: Duration,
    /// What was read for what it starts.
    texts: BTreeSet<PathBuf>,
    /// What the workspace's own settings of git name: whoever makes them unreadable hides nothing of that.
    named_by_own: Vec<PathBuf>,
    /// Closed folders, opened until somebody has dealt with what was found.
    reopened: Reopened,
    /// Every name below the workspace but git's own, as a number: what was there is not new because something names it.
    there: HashSet<u64>,
    /// Folders in which others than their owner may write, with these bits of their modes.
    open: BTreeMap<PathBuf, u32>,
    /// Folders that came since the earlier look and were not looked at to their end.
    pub(super) unseen_new: Vec<PathBuf>,
}

/// What an earlier look has found that a later one has to know.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known<'k> {
    /// What the workspace's own settings of git name.
    pub named: &'k [PathBuf],
    /// What was read for what it starts. What came to be since is dealt with by its own name, and starts nothing before.
    pub texts: Option<&'k BTreeSet<PathBuf>>,
    /// The names that were there, as numbers.
    pub there: Option<&'k HashSet<u64>>,
}

impl Seen {
    /// Looks at a workspace, and hands the names of every other file to somebody, folder by folder.
    pub(super) fn of(
        workspace: &Path,
        cwd: &Path,
        protect: &[String],
        known: Known<'_>,
        other: Option<&mut dyn FnMut(PathBuf, Vec<OsString>)>,
    ) -> Self {
        let real = fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
        let mut seen = Self { workspace: real, since: Some(Instant::now()), ..Self::default() };
        let _many = ManyFiles::allowed();
        let mut acting = ActingFiles::following(known.texts);
        let mut own = BTreeMap::new();
        let git = workspace.join(".git");
        if let Some(found) = seen.meta(&git) {
            // The folder itself may change all the time, but not become another one.
            let stamp = if found.is_dir() { Stamp(format!("folder {}", found.ino())) } else { seen.stamp(&git) };
            own.insert(git.clone(), stamp);
            seen.repository(&git, &mut own, 0);
            seen.git_file(&git, &mut own);
        }
        // Also without one: a folder above may have it, and the workspace itself may look like one.
        let (mut named, is_whole) = git::named::started(workspace);
        if !is_whole {
            // Too much of it, or not to be understood: then nobody knows what else git would run.
            seen.unclear.insert(git.clone());
        }
        named.extend(known.named.iter().cloned());
        seen.named_by_own.clone_from(&named);
        seen.named(named, &mut acting);
        for name in protect {
            seen.add(&workspace.join(name), &mut own, 0);
        }
        seen.own = own;
        seen.walk((workspace, cwd), &git, acting, known.there, other);
        let objects = git.join("objects");
        let folders = fs::read_dir(&objects).into_iter().flatten().flatten().map(|entry| entry.path());
        for folder in [objects.clone()].into_iter().chain(folders.take(MOST_OF_OBJECTS)) {
            seen.note_open(&folder);
        }
        seen
    }

    /// Notes a folder in which others may write.
    fn note_open(&mut self, folder: &Path) {
        let mode = fs::symlink_metadata(folder).ok().filter(Metadata::is_dir).map_or(0, |found| found.mode());
        if mode & FOR_OTHERS != 0 {
            self.open.insert(folder.to_owned(), mode & FOR_OTHERS);
        }
    }

    /// Folders of an earlier look that have been opened to others since, each with the bits that it had.
    pub(super) fn opened_since<'s>(&'s self, before: &'s Self) -> impl Iterator<Item = (&'s Path, u32)> {
        let was = |folder: &Path| before.open.get(folder).copied().unwrap_or(0);
        let was_there = move |folder: &Path| folder == before.workspace || is_in(&before.there, folder, true);
        let is_gits = move |folder: &Path| folder.starts_with(before.workspace.join(".git"));
        let is_more =
            move |(folder, now): &(&PathBuf, &u32)| **now & !was(folder) != 0 && (was_there(folder) || is_gits(folder));
        self.open.iter().filter(is_more).map(move |(folder, _)| (folder.as_path(), was(folder)))
    }

    /// Closes again what was opened to look into it. Else it is closed when this goes.
    pub(super) fn closes(&mut self) {
        self.reopened.close();
    }

    /// What a later look has to know.
    pub(super) fn known(&self) -> Known<'_> {
        Known { named: &self.named_by_own, texts: Some(&self.texts), there: Some(&self.there) }
    }

    /// Where not all was looked at, or nobody can say what is started.
    pub(super) fn not_known(&self) -> impl Iterator<Item = &PathBuf> {
        self.unseen.iter().chain(&self.unclear)
    }

    /// True where not all was looked at in which this path lies.
    pub(super) fn may_have_missed(&self, path: &Path) -> bool {
        self.unseen.iter().any(|part| path.starts_with(part))
    }

    /// As if the look had ended before it came to a path.
    #[cfg(test)]
    pub(super) fn miss(&mut self, path: &Path) {
        self.workspace = path.to_owned();
        self.unseen.insert(path.to_owned());
    }

    /// True where the workspace itself was not looked at to its end.
    pub(super) fn is_cut_off(&self) -> bool {
        self.not_known().any(|part| *part == self.workspace)
    }

    /// Opens a closed folder for a while.
    fn opens(&mut self, folder: &Path) -> bool {
        self.reopened.opens(folder, &self.workspace)
    }

    /// True for a name that was there, or that git itself has in its folder.
    pub(super) fn was_there(&self, path: &Path) -> bool {
        let mut parts = path.components().skip_while(|part| part.as_os_str() != ".git").skip(1);
        let is_gits = parts.next().is_some_and(|part| GITS_OWN.iter().any(|name| part.as_os_str() == *name));
        if path.file_name().is_none() {
            return true;
        }
        let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        is_gits || is_in(&self.there, path, is_folder)
    }

    /// The workspace's real path.
    pub(super) fn real_root(&self) -> PathBuf {
        self.workspace.clone()
    }

    /// What git's settings name and what lies in the workspace: hooks, and further settings. Kept as other hooks are.
    fn named(&mut self, mut named: Vec<PathBuf>, acting: &mut ActingFiles) {
        named.sort();
        named.dedup();
        let mut named: Vec<_> = named.into_iter().map(|path| (self.links_on(&path), path)).collect::<Vec<_>>();
        // By their own names last: what is named by way of a link is so by way of it alone.
        named.sort_by_key(|(links, _)| links.is_empty());
        let mut known = BTreeSet::new();
        for (links, path) in named {
            let Some(real) = self.real(&path) else { continue };
            if !known.insert(real.clone()) {
                continue;
            }
            let via = links.first().map(|(link, _)| link.clone());
            acting.by_links(links);
            if !real.starts_with(&self.workspace) || real == self.workspace {
                // A link of the workspace's own that leads out: whoever writes there says what runs.
                if path.starts_with(&self.workspace) && path.is_symlink() {
                    acting.named(self, &path, None);
                }
                continue;
            }
            let mut waiting = vec![(real, 0)];
            while let Some((path, depth)) = waiting.pop() {
                let Some(found) = self.meta(&path) else { continue };
                if !self.has_room() || depth > DEEPEST {
                    self.unseen.insert(path);
                } else if found.is_dir() {
                    waiting.extend(self.entries(&path).into_iter().map(|entry| (entry.path(), depth + 1)));
                } else if depth == 0 || !is_sample(&path) {
                    acting.named(self, &path, via.as_deref());
                }
            }
        }
    }

    /// The same for a repository in the workspace, for a worktree of one, and for a bare one.
    fn named_by_nested(&mut self, folder: &Path, acting: &mut ActingFiles) {
        self.repositories += 1;
        if self.repositories > MOST_REPOSITORIES || self.is_late() {
            self.unclear.insert(folder.to_owned());
            return;
        }
        let (named, is_whole) = git::named::started(folder);
        if !is_whole {
            self.unclear.insert(folder.to_owned());
        }
        self.named(named, acting);
    }

    /// Everything below the workspace, without following links out of it.
    fn walk(
        &mut self,
        (workspace, cwd): (&Path, &Path),
        own: &Path,
        mut acting: ActingFiles,
        there: Option<&HashSet<u64>>,
        mut other: Option<&mut dyn FnMut(PathBuf, Vec<OsString>)>,
    ) {
        let mut nested = BTreeMap::new();
        // What their settings name is looked for when everything has been seen: it may take as long as whoever wrote them likes.
        let mut repositories: Vec<PathBuf> = Vec::new();
        // What a run has put among git's own files must not take the time of the rest.
        (self.names, self.since) = (0, Some(Instant::now()));
        let (names, cwd) = (Names::all(), cwd.to_string_lossy().into_owned());
        // What a path means begins above the workspace: it may be a folder of settings itself.
        let above = self.workspace.components().filter_map(|part| part.as_os_str().to_str());
        let begun = above.filter(|part| *part != "/").fold(Begun::No, |begun, part| names.step(begun, part));
        let mut waiting = Waiting::new(workspace, begun, there);
        // Who hears of the names looks afterwards: then nobody asks what was there.
        let remembers = other.is_none();
        let mut cut_at = None;
        'all: while let Some((folder, begun, part)) = waiting.next() {
            let entries = if part == Part::Whole {
                self.entries_up_to(&folder, LARGE)
            } else {
                let matters = |name: &str| names.step(begun, name) != Begun::No || OF_REPOSITORIES.contains(&name);
                self.entries_of_large(&folder, part, matters)
            };
            if part == Part::Whole && entries.len() == LARGE {
                waiting.defer(folder, begun, Part::First);
                continue;
            }
            if part == Part::First {
                waiting.defer(folder.clone(), begun, Part::Rest);
            }
            self.note_open(&folder);
            let of_folder = numbered(&folder);
            // A folder that looks like a repository is one to git, whatever it is called.
            let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
            if has("HEAD") && (has("objects") || has("commondir") || has("config")) {
                self.repository(&folder, &mut nested, 0);
                if folder != workspace {
                    repositories.push(folder.clone());
                }
            }
            let mut others = Vec::new();
            for entry in entries {
                if !self.has_room() {
                    self.unseen.insert(workspace.to_owned());
                    cut_at = Some(folder);
                    break 'all;
                }
                let name = entry.file_name();
                let kind = entry.file_type().ok();
                let is_folder = kind.is_some_and(|kind| kind.is_dir());
                if remembers {
                    self.there.insert(in_folder(&of_folder, &name, is_folder));
                }
                let begun = names.step(begun, &name.to_string_lossy());
                if !is_folder && begun == Begun::No && name != ".git" {
                    if kind.is_some_and(|kind| kind.is_symlink()) {
                        self.repository_elsewhere(&entry.path(), &mut nested);
                    }
                    others.push(name);
                    continue;
                }
                let path = entry.path();
                if path == own {
                    continue;
                }
                if begun == Begun::Yes && name != ".git" {
                    acting.look_at(self, &path, is_folder, &cwd);
                }
                if begun != Begun::No && kind.is_some_and(|kind| kind.is_symlink()) {
                    self.behind(&path, begun, &names, &cwd, &mut acting);
                }
                if name == ".git" {
                    if !is_folder {
                        nested.insert(path.clone(), self.stamp(&path));
                        self.git_file(&path, &mut nested);
                    }
                    if let Some(home) = self.meta(&folder) {
                        self.homes.insert(folder.clone(), (home.dev(), home.ino()));
                    }
                    self.repository(&path, &mut nested, 0);
                    repositories.push(folder.clone());
                } else if is_folder {
                    waiting.add(path, begun);
                } else {
                    others.push(name);
                }
            }
            if let Some(other) = &mut other
                && !others.is_empty()
            {
                other(folder, others);
            }
        }
        if let Some(folder) = cut_at {
            self.unseen_new = waiting.unseen_new(&folder);
        }
        (self.names, self.since) = (0, Some(Instant::now()));
        for folder in repositories {
            self.named_by_nested(&folder, &mut acting);
        }
        (self.names, self.since) = (0, Some(Instant::now()));
        // A hook of a repository in the workspace is one like any other, of a submodule, too.
        let folders = ["modules", "worktrees"].map(|name| self.workspace.join(".git").join(name));
        let of_others = self.own.keys().filter(|path| folders.iter().any(|folder| path.starts_with(folder)));
        let own_file = Some(own).filter(|own| own.is_file()).map(Path::to_owned);
        // No run's to change: a backend that cannot keep them as they are gives them back.
        let own_settings = ["config", "config.worktree"].map(|name| self.workspace.join(".git").join(name));
        let own_settings = own_settings.into_iter().filter(|path| self.own.contains_key(path));
        let all = nested.keys().chain(of_others).cloned().chain(own_file).chain(own_settings);
        for path in all.collect::<Vec<_>>() {
            let name = path.file_name().unwrap_or_default();
            if self.is_hook(&path) {
                acting.named(self, &path, None);
            } else if name == "config" || name == "config.worktree" {
                acting.settings(self, &path);
            } else if name == "commondir" || name == ".git" && !self.is_of_own_worktree(&path) {
                acting.named(self, &path, None);
            }
        }
        for link in std::mem::take(&mut self.git_links) {
            acting.named(self, &link, None);
        }
        // What git hands out as examples it does not run.
        let is_run = |path: &&PathBuf| self.is_hook(path) && path.extension().is_none_or(|ending| ending != "sample");
        let hooks = self.own.keys().chain(nested.keys()).filter(is_run).cloned();
        let by_themselves = hooks.chain(std::mem::take(&mut acting.runs_by_itself));
        let root = self.real_root();
        let by_themselves: BTreeSet<PathBuf> = by_themselves.filter(|script| acting.follows(script, &root)).collect();
        for script in by_themselves {
            if !acting.started_by(self, &script) {
                self.unclear.insert(self.workspace.clone());
            }
        }
        acting.scripts_of_outside(self);
        let outside = inward::all(&self.workspace);
        acting.started_at_home(self, &outside.at_home);
        for inward in outside.inward {
            // Also where the workspace is a part of what is called so.
            if inward.real.starts_with(&self.workspace) || self.workspace.starts_with(&inward.real) {
                self.read_from_outside(&inward, &mut acting);
            }
        }
        self.nested = nested;
        self.texts = std::mem::take(&mut acting.texts);
        self.acting = acting;
    }

    /// The files in a folder of the workspace of which something is started.
    pub(super) fn files_in(&mut self, folder: &Folder) -> Vec<PathBuf> {
        let Ok(top) = fs::canonicalize(&folder.path) else { return Vec::new() };
        if !top.starts_with(&self.workspace) {
            return Vec::new();
        }
        let (mut found, mut waiting) = (Vec::new(), vec![top.clone()]);
        while let Some(path) = waiting.pop() {
            for entry in self.entries(&path) {
                if found.len() >= MOST_BESIDE || !self.has_room() {
                    self.flooded.insert(top.clone());
                    self.unseen.insert(top);
                    return found;
                }
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && folder.is_deep {
                    waiting.push(entry.path());
                } else if !kind.is_dir() && folder.holds(&entry.path()) {
                    found.push(entry.path());
                }
            }
        }
        found
    }

    /// What a link or a variable outside names is what it is called there.
    fn read_from_outside(&mut self, inward: &Inward, acting: &mut ActingFiles) {
        let is_part = self.workspace.starts_with(&inward.real);
        let mut waiting = vec![if is_part { self.workspace.clone() } else { inward.real.clone() }];
        let mut count = 0;
        while let Some(path) = waiting.pop() {
            count += 1;
            if count > MOST_BEHIND || !self.has_room() {
                self.unseen.insert(inward.real.clone());
                return;
            }
            if path.is_dir() {
                waiting.extend(self.entries(&path).into_iter().map(|entry| entry.path()));
            } else if inward::name_of(std::slice::from_ref(inward), &path).is_some() {
                acting.named(self, &path, None);
            }
        }
    }

    /// A link to a folder outside of the workspace in which git would find a repository, or in which the run may have left anything.
    fn repository_elsewhere(&mut self, link: &Path, into: &mut BTreeMap<PathBuf, Stamp>) {
        let Some(real) = self.real(link) else {
            // What is made there later is found through it.
            if fs::read_link(link).is_ok_and(|target| target.is_absolute() && !target.starts_with(&self.workspace))
                || super::leads_to_nobodys(link, &self.workspace)
            {
                into.insert(link.to_owned(), self.stamp(link));
            }
            return;
        };
        let has = |name: &str| real.join(name).symlink_metadata().is_ok();
        // Where everybody may write, and so the run itself; or where nobody looks, among git's own.
        let is_elsewhere = !real.starts_with(&self.workspace) && (has(".git") || has("HEAD") && has("objects"));
        if is_elsewhere || super::leads_to_nobodys(link, &self.workspace) {
            into.insert(link.to_owned(), self.stamp(link));
        }
    }

    /// What lies behind a link to a folder of the workspace, as what it is called by way of the link.
    fn behind(&mut self, link: &Path, begun: Begun, names: &Names, cwd: &str, acting: &mut ActingFiles) {
        let Some(real) = self.real(link) else { return };
        if !real.is_dir() {
            return;
        }
        if !real.starts_with(&self.workspace) || real == self.workspace {
            // What lies there is called so by way of the link alone.
            acting.named(self, link, None);
            return;
        }
        let links = self.links_on(link);
        acting.by_links(links);
        let mut waiting = vec![(link.to_owned(), real, begun)];
        let mut count = 0;
        while let Some((called, folder, begun)) = waiting.pop() {
            for entry in self.entries(&folder) {
                count += 1;
                if count > MOST_BEHIND || !self.has_room() {
                    self.flooded.extend(fs::canonicalize(link).ok());
                    self.unseen.insert(link.to_owned());
                    return;
                }
                let begun = names.step(begun, &entry.file_name().to_string_lossy());
                let called = called.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    waiting.push((called, entry.path(), begun));
                } else if begun == Begun::Yes {
                    acting.look_at_alias(self, &called, (&entry.path(), link), cwd);
                }
            }
        }
    }

    /// Where a path leads, as long as that takes no time of which the rest of the look is short. Else nobody has seen it.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        if self.on_links > LONGEST_ON_LINKS {
            self.unseen.insert(path.to_owned());
            return None;
        }
        let since = Instant::now();
        let real = fs::canonicalize(path).ok();
        self.on_links += since.elapsed();
        real
    }

    /// The links within the workspace that are met on the way to a path, each with its target.
    pub(super) fn links_on(&mut self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        if self.on_links > LONGEST_ON_LINKS {
            self.unseen.insert(path.to_owned());
            return Vec::new();
        }
        let since = Instant::now();
        let found = self.links_on_the_way(path);
        self.on_links += since.elapsed();
        found
    }

    fn links_on_the_way(&self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mut found: Vec<(PathBuf, PathBuf)> = Vec::new();
        let mut rest = path.to_owned();
        while found.len() < MOST_LINKS {
            let Ok(inside) = rest.strip_prefix(&self.workspace) else { break };
            let mut at = self.workspace.clone();
            let mut parts = inside.components();
            let mut next = None;
            while let Some(part) = parts.next() {
                if part == Component::ParentDir {
                    at.pop();
                    continue;
                }
                let here = at.join(part);
                if let Ok(target) = fs::read_link(&here) {
                    next = Some(at.join(&target).join(parts.as_path()));
                    found.push((here, target));
                    break;
                }
                at = here;
            }
            match next {
                Some(next) => rest = next,
                None => break,
            }
        }
        found
    }

    /// The file in the workspace that a link leads to.
    pub(super) fn file_behind(&mut self, path: &Path) -> Option<PathBuf> {
        if !path.is_symlink() {
            return None;
        }
        self.real(path).filter(|real| real.is_file() && real.starts_with(&self.workspace))
    }

    fn is_late(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() > LONGEST)
    }

    /// True while not too much has been looked at, and not for too long.
    fn has_room(&mut self) -> bool {
        self.names += 1;
        if self.names.is_multiple_of(64) && self.is_late() {
            self.names = MOST_NAMES;
        }
        self.names <= MOST_NAMES
    }

    /// What is in a folder. A run may have closed a folder of its own, so that nobody looks into it.
    fn entries(&mut self, folder: &Path) -> Vec<DirEntry> {
        self.entries_up_to(folder, MOST_NAMES)
    }

    /// The same of a part of a folder that may hold more than there is room for: folders and what matters by its name first, however
    /// far behind they stand.
    fn entries_of_large(&mut self, folder: &Path, part: Part, matters: impl Fn(&str) -> bool) -> Vec<DirEntry> {
        let Ok(all) = fs::read_dir(folder) else { return self.entries(folder) };
        let most = MOST_NAMES.saturating_sub(self.names) + 1;
        let mut found = Vec::new();
        for (count, entry) in all.flatten().enumerate() {
            if count % 1024 == 0 && self.is_late() || found.len() >= most {
                break;
            }
            let is_folder = || entry.file_type().is_ok_and(|kind| kind.is_dir());
            if (part == Part::First) == (is_folder() || matters(&entry.file_name().to_string_lossy())) {
                found.push(entry);
            }
        }
        found
    }

    fn entries_up_to(&mut self, folder: &Path, most: usize) -> Vec<DirEntry> {
        let read = || fs::read_dir(folder).map(|entries| entries.flatten().take(most).collect());
        match read() {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Vec::new(),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && self.opens(folder) => read()
                .unwrap_or_else(|_| {
                    self.unseen.insert(folder.to_owned());
                    Vec::new()
                }),
            Err(_) => {
                self.unseen.insert(folder.to_owned());
                Vec::new()
            }
        }
    }

    /// What a name stands for, if it is there. The same about closed folders.
    fn meta(&mut self, path: &Path) -> Option<Metadata> {
        match fs::symlink_metadata(path) {
            Ok(found) => Some(found),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(_) if path.parent().is_some_and(|folder| self.opens(folder)) => fs::symlink_metadata(path).ok(),
            Err(_) => {
                self.unseen.insert(path.to_owned());
                None
            }
        }
    }

    /// True for the `.git` of a worktree that the workspace's own repository has made, and that says so itself.
    fn is_of_own_worktree(&self, file: &Path) -> bool {
        let Some(git) = crate::git::folder_named_in(file).and_then(|git| fs::canonicalize(git).ok()) else {
            return false;
        };
        let is_own = git.parent() == Some(&self.workspace.join(".git/worktrees"));
        let back =
            crate::git::path_in(&git.join("gitdir")).map_or(Err(io::ErrorKind::InvalidData.into()), fs::canonicalize);
        is_own && back.is_ok_and(|back| fs::canonicalize(file).is_ok_and(|file| file == back))
    }

    /// Where a `.git` that is a file points to.
    fn git_file(&mut self, file: &Path, into: &mut BTreeMap<PathBuf, Stamp>) {
        if let Some(git) = crate::git::folder_named_in(file) {
            self.repository(&git, into, 0);
        }
    }

    /// What makes git run something in a repository, and in its submodules and worktrees. By its real path; what lies outside of
    /// the workspace no run can change, and nobody's business is it to look there.
    fn repository(&mut self, git: &Path, into: &mut BTreeMap<PathBuf, Stamp>, depth: usize) {
        // Closed by the run, maybe.
        self.meta(&git.join("config"));
        let Ok(git) = fs::canonicalize(git) else { return };
        if !git.starts_with(&self.workspace) {
            return;
        }
        for name in git::ACTS {
            self.add(&git.join(name), into, 0);
        }
        // Where references are packed, what stands in the place of other objects is a line among all.
        let packed = git.join("packed-refs");
        if whole_text_of(&packed).is_some_and(|text| text.contains(" refs/replace/")) {
            into.insert(packed.clone(), self.stamp(&packed));
        }
        self.links_of_git(&git);
        if depth > DEEPEST {
            self.unseen.insert(git.clone());
            return;
        }
        let common = crate::git::path_in(&git.join("commondir")).filter(|_| depth == 0);
        if let Some(common) = common.filter(|common| fs::canonicalize(common).is_ok_and(|real| real != git)) {
            self.repository(&common, into, depth + 1);
        }
        // A submodule's name may hold slashes, so that its folder lies deeper.
        let deeper = if depth == 0 { vec![git.join("modules"), git.join("worktrees")] } else { vec![git.clone()] };
        for folder in deeper {
            // Behind a link lies somebody else's folder.
            if self.meta(&folder).is_some_and(|found| found.is_symlink()) {
                into.insert(folder.clone(), self.stamp(&folder));
                continue;
            }
            for entry in self.entries(&folder) {
                if !self.has_room() {
                    self.unseen.insert(git.clone());
                    return;
                }
                let is_data = depth > 0
                    && self.meta(&git.join("HEAD")).is_some()
                    && ["objects", "refs", "logs", "hooks", "info"].iter().any(|name| entry.file_name() == *name);
                if !is_data && entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    into.insert(entry.path(), self.stamp(&entry.path()));
                }
                if !is_data && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    self.repository(&entry.path(), into, depth + 1);
                }
            }
        }
    }

    /// Links in a folder of git's that lead out of the workspace: git makes none, and a person's git would write through them.
    fn links_of_git(&mut self, git: &Path) {
        let mut waiting = vec![(git.to_owned(), 0)];
        let mut count = 0;
        while let Some((folder, depth)) = waiting.pop() {
            self.note_open(&folder);
            for entry in self.entries_up_to(&folder, MOST_OF_GIT) {
                count += 1;
                if count > MOST_OF_GIT || count % 64 == 0 && self.is_late() {
                    self.unseen.insert(git.to_owned());
                    return;
                }
                let (path, kind) = (entry.path(), entry.file_type().ok());
                // Repositories of others are looked at as such.
                let is_passed_by = depth == 0
                    && ["objects", "lfs", "modules", "worktrees"].iter().any(|name| entry.file_name() == *name);
                if kind.is_some_and(|kind| kind.is_symlink()) {
                    let inside = self.real(&path).is_some_and(|real| real.starts_with(&self.workspace));
                    if !inside {
                        self.git_links.push(path);
                    }
                } else if kind.is_some_and(|kind| kind.is_dir()) && !is_passed_by && depth < DEEPEST {
                    waiting.push((path, depth + 1));
                }
            }
        }
    }

    fn add(&mut self, path: &Path, into: &mut BTreeMap<PathBuf, Stamp>, depth: usize) {
        let Some(found) = self.meta(path) else { return };
        // Git puts them there itself, and runs none.
        if is_sample(path) && found.is_file() {
            return;
        }
        if !self.has_room() || depth > DEEPEST {
            self.unseen.insert(path.to_owned());
        } else if found.is_dir() {
            for entry in self.entries(path) {
                self.add(&entry.path(), into, depth + 1);
            }
        } else {
            into.insert(path.to_owned(), self.stamp(path));
            // A folder behind a link counts as a folder, as long as it lies in the workspace.
            let real = if found.is_symlink() { self.real(path) } else { None };
            if let Some(real) = real.filter(|real| real.is_dir() && real.starts_with(&self.workspace)) {
                // Many links may lead to one.
                let is_new = !(path.ends_with("hooks") || self.is_hook(path)) || self.hook_folders.insert(real.clone());
                if is_new && !path.starts_with(&real) {
                    self.add(&real, into, depth + 1);
                } else if is_new {
                    // It leads to a folder above itself, in which everything lies: what git would find there are the files in it.
                    for entry in self.entries(&real) {
                        if entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
                            self.add(&entry.path(), into, depth + 1);
                        }
                    }
                }
            }
        }
    }

    /// True for what lies in a repository's folder of hooks, maybe behind a link.
    pub(super) fn is_hook(&self, path: &Path) -> bool {
        lies_in_hooks(path, &self.workspace) || self.hook_folders.iter().any(|folder| path.starts_with(folder))
    }

    pub(super) fn stamp(&mut self, path: &Path) -> Stamp {
        let Ok(found) = fs::symlink_metadata(path) else { return Stamp("gone".to_owned()) };
        let kind = found.mode();
        if found.is_symlink() {
            // What lies behind it counts as well.
            let target = self.real(path).filter(|target| target.is_file());
            let behind = target.map(|target| self.stamp(&target));
            return Stamp(format!("link {:?} {behind:?}", fs::read_link(path).ok()));
        }
        let by_times = || Stamp(format!("{kind:o} {} {} {}", found.len(), found.ctime(), found.ctime_nsec()));
        if found.is_file() && found.len() > 0 {
            let length = found.len().min(MOST_BYTES);
            if found.len() > MOST_BYTES || self.bytes + length > MOST_BYTES_OF_ALL {
                return by_times();
            }
            self.bytes += length;
        }
        let mut bytes = Vec::new();
        let read = if found.is_file() {
            open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes))
        } else {
            Ok(0)
        };
        match read {
            Ok(_) => Stamp(format!("{kind:o} {} {:?}", found.len(), Digest::of(&bytes))),
            Err(_) => by_times(),
        }
    }
}

/// More open files for as long as somebody looks: each closed folder takes one.
struct ManyFiles(Option<rustix::process::Rlimit>);

impl ManyFiles {
    fn allowed() -> Self {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let before = getrlimit(Resource::Nofile);
        let more = Rlimit { current: before.maximum, maximum: before.maximum };
        Self(setrlimit(Resource::Nofile, more).ok().map(|()| before))
    }
}

impl Drop for ManyFiles {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            // Where more are open by now, it stays.
            let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, before);
        }
    }
}

/// What git keeps in its folder, and runs nothing of.
const GITS_OWN: [&str; 15] = [
    "HEAD",
    "index",
    "config",
    "description",
    "packed-refs",
    "objects",
    "refs",
    "logs",
    "info",
    "COMMIT_EDITMSG",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "shallow",
    "worktrees",
];

/// The rights of others than the owner to make and remove names in a folder.
const FOR_OTHERS: u32 = 0o022;

/// True for a path that is one of these numbers.
pub(super) fn is_in(there: &HashSet<u64>, path: &Path, is_folder: bool) -> bool {
    there.contains(&number(path, is_folder))
}

/// A path as a number.
pub(super) fn number(path: &Path, is_folder: bool) -> u64 {
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    in_folder(&numbered(folder), name, is_folder)
}

/// Nobody can look for two names with one number who does not know these; both looks of a run have the same.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The state of a number of a path, up to the name in this folder.
fn numbered(folder: &Path) -> DefaultHasher {
    let mut hasher = KEYS.build_hasher();
    hasher.write(folder.as_os_str().as_encoded_bytes());
    hasher.write_u8(0);
    hasher
}

fn in_folder(folder: &DefaultHasher, name: &OsStr, is_folder: bool) -> u64 {
    let mut hasher = folder.clone();
    hasher.write_u8(u8::from(is_folder));
    hasher.write(name.as_encoded_bytes());
    hasher.finish()
}

fn is_sample(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "sample")
}
