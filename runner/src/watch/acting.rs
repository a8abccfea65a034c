//! Files of a workspace that act later, wherever they lie in it: by the one list of [`bashgate_shared::classify::later`].
//!
//! What was there is remembered with its content, so that it can be put back where a sandbox could not keep it. What is new
//! is set aside when nobody was asked about the command and no everyday tool makes such files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_hook::gate::started::{self, Look};
use bashgate_shared::classify::later::{self, Later, Tier};
use bashgate_shared::programs;
use rustix::fs::RenameFlags;
use serde::{Deserialize, Serialize};

use super::aside::{folder_without_links, is_set_aside, may_be_written, open_without_links, set_aside};
use super::baseline::{Foreign, folders_around};
use super::put_back::{Kept, made_without_links, put_back};
use super::seen::{Seen, Stamp};
use super::{Around, Change, Violation, taken_away};

/// Most files of settings outside of a workspace that are read.
const MOST_OUTSIDE: usize = 256;
/// Longest file that is remembered with its content, and the most of all of them, in bytes.
const MOST_KEPT: u64 = 256 << 10;
/// Longest of those that gate an agent.
const MOST_KEPT_GATE: u64 = 4 << 20;
const MOST_KEPT_OF_ALL: usize = 16 << 20;
/// A new folder with more files is set aside as a whole.
const LARGE: usize = 64;
/// What git's settings name, or a link or variable outside, acts as surely as a hook in its usual place.
const NAMED: Later = Later { tier: Tier::ByItself, what: "what git's settings name", is_called: true, is_kept: true };

/// Settings of a repository inside of another one, which git makes itself with it: what was there is kept.
const SETTINGS: Later = Later { tier: Tier::ByItself, what: "git's configuration", is_called: false, is_kept: true };

/// What git's hooks, and what a shell or an editor reads by itself, start in their turn: people change such scripts all day, so that
/// it is told.
const STARTED: Later =
    Later { tier: Tier::ByItself, what: "what runs by itself starts", is_called: true, is_kept: false };

/// What an agent's settings start to gate it.
const GATES: Later = Later { tier: Tier::Gate, what: "what an agent's settings start", is_called: true, is_kept: true };

/// A file that acts later, as it was.
#[derive(Debug)]
struct Acting {
    stamp: Stamp,
    later: Later,
    kept: Option<Kept>,
    /// The folders around it, up to the workspace, by their inodes: another one in the place of one of them brings other files.
    around: Vec<u64>,
    /// It has other names, by which it could be written.
    has_other_names: bool,
    /// The link by way of which alone it is called so.
    via: Option<PathBuf>,
    /// A run that had begun before has seen another one.
    is_of_others: bool,
}

impl Acting {
    /// True for something else in its place, as far as its times and its content tell.
    fn is_another(&self, path: &Path) -> bool {
        match &self.kept {
            Some(Kept::Link(target)) => !leads_to(path, target),
            Some(Kept::File { bytes, .. }) => open_without_links(path).is_ok_and(|file| {
                let mut now = Vec::new();
                let read = file.take(bytes.len() as u64 + 1).read_to_end(&mut now);
                read.is_err() || now != *bytes
            }),
            None => false,
        }
    }
}

/// What such a file holds, as it is written down for the case that nobody lives to put it back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Content {
    text: String,
    mode: u32,
    owner: (u32, u32),
    /// It gates an agent.
    pub(super) gates: bool,
}

impl Content {
    fn kept(&self) -> Kept {
        Kept::File { bytes: self.text.clone().into_bytes(), mode: self.mode, owner: self.owner }
    }

    /// Gives a file this content again.
    pub(super) fn put_back(&self, path: &Path, root: &Path) -> Violation {
        put_back(path, &self.kept(), root)
    }
}

/// All of them, by their paths.
#[derive(Debug, Default)]
pub(super) struct ActingFiles {
    found: BTreeMap<PathBuf, Acting>,
    /// Folders that count as a whole.
    folders: Vec<PathBuf>,
    /// Links by way of which files are called what acts later, and where they lead.
    links: BTreeMap<PathBuf, PathBuf>,
    kept_bytes: usize,
    /// Scripts whose own ones are looked for last: what else is known of a file goes before.
    pub(super) runs_by_itself: Vec<PathBuf>,
    /// What was read for what it starts, and what alone may be.
    pub(super) texts: BTreeSet<PathBuf>,
    only: Option<BTreeSet<PathBuf>>,
    look: Look,
}

/// Folders full of what others have made, which nobody enters to work there.
const OF_OTHERS: [&str; 2] = ["node_modules", "site-packages"];

impl ActingFiles {
    /// None yet; of what these texts alone start, where some are known.
    pub(super) fn following(only: Option<&BTreeSet<PathBuf>>) -> Self {
        Self { only: only.cloned(), ..Self::default() }
    }

    /// True for a text that is read for what it starts.
    pub(super) fn follows(&mut self, text: &Path, workspace: &Path) -> bool {
        let inside = text.strip_prefix(workspace).unwrap_or(text);
        let is_of_others = inside.components().any(|part| OF_OTHERS.iter().any(|name| part.as_os_str() == *name));
        let follows = !is_of_others && self.only.as_ref().is_none_or(|only| only.contains(text));
        if follows {
            self.texts.insert(text.to_owned());
        }
        follows
    }

    /// Takes a path in, if it acts later for whoever works in `cwd`.
    pub(super) fn look_at(&mut self, seen: &mut Seen, path: &Path, is_folder: bool, cwd: &str) {
        // What is no text in a name is no part of the names that are looked for.
        let Some(later) = later::of(&path.to_string_lossy(), Some(cwd)).filter(counts) else { return };
        let later = for_whoever_works_below(later, path, &seen.real_root());
        if is_set_aside(path) {
            return;
        }
        if is_folder {
            if later.is_kept {
                self.folders.push(path.to_owned());
            }
            return;
        }
        self.take(seen, path, later, None);
        self.take_scripts_of(seen, path);
        if started::starts_others(path) {
            self.runs_by_itself.push(path.to_owned());
        }
        // What a link leads to is what counts.
        if let Some(real) = seen.file_behind(path) {
            let links = seen.links_on(path);
            self.by_links(links);
            self.take(seen, &real, later, Some(path));
        }
    }

    /// What gates an agent may be a script that its settings start: of the workspace, like they themselves.
    fn take_scripts_of(&mut self, seen: &mut Seen, settings: &Path) {
        let Some(Acting { later: Later { tier: Tier::Gate, .. }, kept: Some(Kept::File { bytes, .. }), .. }) =
            self.found.get(settings)
        else {
            return;
        };
        let text = String::from_utf8_lossy(bytes).into_owned();
        if self.follows(settings, &seen.real_root()) {
            self.scripts_of(seen, &text, settings);
        }
    }

    /// The scripts that another one starts which runs by itself. False where not all of it could be looked at.
    pub(super) fn started_by(&mut self, seen: &mut Seen, script: &Path) -> bool {
        let root = seen.real_root();
        // The folder of its project is two above it, or less.
        let folders = script.ancestors().skip(1).take(3).take_while(|folder| folder.starts_with(&root));
        let folders: Vec<&Path> = folders.collect();
        self.look.at_file(script, &folders, &started::is_there);
        self.look.follow(&[&root], &started::is_there);
        let (files, folders) = self.look.taken();
        let inside: Vec<PathBuf> = folders.iter().flat_map(|folder| seen.files_in(folder)).collect();
        self.take_new(seen, files.into_iter().chain(inside), STARTED);
        self.look.is_all
    }

    /// Takes in those of these files that lie in the workspace and that nothing else is known of.
    fn take_new(&mut self, seen: &mut Seen, files: impl Iterator<Item = PathBuf>, later: Later) {
        let root = seen.real_root();
        for real in files.filter_map(|file| inside(&root, &file)) {
            if !self.found.contains_key(&real) {
                self.take(seen, &real, later, None);
            }
        }
    }

    /// The files of the workspace that the text of settings starts.
    fn scripts_of(&mut self, seen: &mut Seen, text: &str, settings: &Path) {
        let Some(parsed) = started::parsed(text) else { return };
        let root = seen.real_root();
        let above = settings.parent().and_then(Path::parent).unwrap_or(&root).to_owned();
        self.look.at_gate(&parsed, &[&root, &above], &started::is_there);
        self.look.follow(&[&root], &started::is_there);
        let (files, folders) = self.look.taken();
        // What lies in the project's own folder beside a script is all its code: it is told, and a build goes on.
        let mut all: Vec<(PathBuf, Later)> = files.into_iter().map(|file| (file, GATES)).collect();
        for folder in &folders {
            let later = if folder.path == root { STARTED } else { GATES };
            all.extend(seen.files_in(folder).into_iter().map(|file| (file, later)));
        }
        for (script, later) in all {
            if let Some(real) = inside(&root, &script).filter(|real| !self.is_gate(real)) {
                let links = seen.links_on(&script);
                self.by_links(links);
                self.take(seen, &real, later, None);
            }
        }
    }

    /// What start-up files of the home folder name in the workspace.
    pub(super) fn started_at_home(&mut self, seen: &mut Seen, files: &[PathBuf]) {
        let root = seen.real_root();
        self.look.at_home(files, (&root, &root), &started::is_there);
        self.look.follow(&[&root], &started::is_there);
        let (files, _) = self.look.taken();
        self.take_new(seen, files.into_iter(), NAMED);
    }

    /// True for a file that is known to gate an agent.
    fn is_gate(&self, file: &Path) -> bool {
        self.found.get(file).is_some_and(|acting| acting.later.tier == Tier::Gate)
    }

    /// What settings of agents outside of the workspace start in it: those at home, of the machine, and of the folders above.
    pub(super) fn scripts_of_outside(&mut self, seen: &mut Seen) {
        let root = seen.real_root();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let folders: Vec<PathBuf> = root.ancestors().skip(1).map(Path::to_owned).chain(home).collect();
        // Opening a pipe would wait for whoever writes it.
        for settings in started::settings_of(folders).take(MOST_OUTSIDE) {
            let Ok(file) = fs::File::open(&settings) else { continue };
            let mut text = String::new();
            if file.take(MOST_KEPT_GATE).read_to_string(&mut text).is_ok() {
                self.scripts_of(seen, &text, &settings);
            }
        }
    }

    /// The same for a file that is called by another name, by way of a link to a folder.
    pub(super) fn look_at_alias(&mut self, seen: &mut Seen, called: &Path, (path, link): (&Path, &Path), cwd: &str) {
        let later = later::of(&called.to_string_lossy(), Some(cwd)).filter(counts);
        if let Some(later) = later.filter(|_| !is_set_aside(path)) {
            let later = for_whoever_works_below(later, called, &seen.real_root());
            self.take(seen, path, later, Some(link));
        }
    }

    /// Links by way of which files are called so, each with its target. Another target of one of them brings other files.
    pub(super) fn by_links(&mut self, links: Vec<(PathBuf, PathBuf)>) {
        self.links.extend(links);
    }

    /// Takes in what git's settings name.
    pub(super) fn named(&mut self, seen: &mut Seen, path: &Path, via: Option<&Path>) {
        if !is_set_aside(path) {
            self.take(seen, path, NAMED, via);
        }
    }

    /// Takes in the settings of a repository in the workspace.
    pub(super) fn settings(&mut self, seen: &mut Seen, path: &Path) {
        if !is_set_aside(path) {
            self.take(seen, path, SETTINGS, None);
        }
    }

    /// What is called so by its own name, too, is so whatever links there are.
    fn take(&mut self, seen: &mut Seen, path: &Path, later: Later, via: Option<&Path>) {
        if via.is_some() && self.found.contains_key(path) {
            return;
        }
        let via = via.map(Path::to_owned);
        let stamp = seen.stamp(path);
        let root = seen.real_root();
        let kept = if later.is_kept { self.content(path, &root, later.tier == Tier::Gate) } else { None };
        let inside = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&root));
        let inode = |folder: &Path| fs::symlink_metadata(folder).map_or(0, |meta| meta.ino());
        let around = if later.is_kept { inside.map(inode).collect() } else { Vec::new() };
        let has_other_names = fs::symlink_metadata(path).is_ok_and(|meta| meta.nlink() > 1);
        self.found
            .insert(path.to_owned(), Acting { stamp, later, kept, around, has_other_names, via, is_of_others: false });
    }

    fn content(&mut self, path: &Path, root: &Path, gates: bool) -> Option<Kept> {
        let most = if gates { MOST_KEPT_GATE } else { MOST_KEPT };
        if let Ok(target) = fs::read_link(path) {
            return Some(Kept::Link(target));
        }
        // On no link, which another run could put on the way to show this process something that is hidden from that run; and
        // only what is of whoever looks, who will be the one to write it.
        let file = open_without_links(path).ok()?;
        let meta = file.metadata().ok()?;
        let has_room = meta.len() <= most && self.kept_bytes < MOST_KEPT_OF_ALL;
        // Root may work for whoever the workspace belongs to.
        let user = rustix::process::geteuid().as_raw();
        let is_own = meta.uid() == user || user == 0 && fs::metadata(root).is_ok_and(|root| root.uid() == meta.uid());
        // What gates an agent is better kept by its own user than by nobody; who could open it here may read it.
        let may_keep = is_own || user != 0 && gates;
        if !meta.is_file() || !has_room || !may_keep {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).ok()?;
        self.kept_bytes += bytes.len();
        Some(Kept::File { bytes, mode: meta.permissions().mode() & 0o777, owner: (meta.uid(), meta.gid()) })
    }

    /// What no run may write: the kept ones that are there, folders as a whole. First what gates an agent, last folders in which there
    /// is nothing yet: there may be more than can be kept.
    pub(super) fn to_protect(&self) -> impl Iterator<Item = &PathBuf> {
        let known: BTreeSet<&Path> = self.folders.iter().map(PathBuf::as_path).collect();
        let in_folder = |path: &Path| path.ancestors().skip(1).any(|folder| known.contains(folder));
        let files = self.found.iter().filter(|(_, acting)| acting.later.is_kept);
        let mut all: Vec<(u8, &PathBuf)> = files
            .filter(|(path, _)| !in_folder(path))
            .map(|(path, acting)| (u8::from(acting.later.tier != Tier::Gate), path))
            .collect();
        for folder in self.folders.iter().filter(|folder| !in_folder(folder)) {
            let gates = self.found.range(folder.clone()..).take_while(|(path, _)| path.starts_with(folder));
            let best = gates.map(|(_, acting)| u8::from(acting.later.tier != Tier::Gate)).min();
            all.push((best.unwrap_or(2), folder));
        }
        all.sort();
        all.into_iter().map(|(_, path)| path)
    }

    /// All of them, with what they were and whether everyday tools make none.
    pub(super) fn stamps(&self) -> impl Iterator<Item = (&PathBuf, &Stamp, bool)> {
        self.found.iter().map(|(path, acting)| (path, &acting.stamp, acting.later.is_kept))
    }

    /// What those hold that no run is to write, as far as that is text.
    pub(super) fn contents(&self) -> impl Iterator<Item = (&PathBuf, Content)> {
        self.found.iter().filter_map(|(path, acting)| {
            let Some(Kept::File { bytes, mode, owner }) = &acting.kept else { return None };
            let text = String::from_utf8(bytes.clone()).ok()?;
            Some((path, Content { text, mode: *mode, owner: *owner, gates: acting.later.tier == Tier::Gate }))
        })
    }

    /// Forgets what others have left that were still going on: what it holds now is nothing to be given back, but what the first of them
    /// has seen there is.
    pub(super) fn without(&mut self, others: &[Foreign]) {
        let mut others: Vec<&Foreign> = others.iter().collect();
        others.sort_by_key(|file| file.began_s);
        let mut known = BTreeSet::new();
        for file in others.into_iter().filter(|file| known.insert(&file.path)) {
            // What leads there now may lead elsewhere by right.
            self.links.remove(&file.path);
            if let Some(acting) = self.found.get_mut(&file.path) {
                acting.kept = file.content.as_ref().map(Content::kept);
                acting.is_of_others = true;
            }
        }
    }

    /// Forgets what lies below a folder.
    pub(super) fn without_below(&mut self, folder: &Path) {
        self.found.retain(|path, _| !path.starts_with(folder));
    }

    /// True for one of them that no run is to write.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        self.found.get(path).is_some_and(|acting| acting.later.is_kept)
    }

    /// True for a file that was among them.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.found.contains_key(path)
    }

    /// What has changed since, and what was done about it where nobody was asked.
    pub(super) fn changes_to(&self, after: &Self, around: &Around<'_>) -> Vec<Violation> {
        let nobody_was_asked = around.nobody_was_asked;
        let mut found = Vec::new();
        // A folder that is new as a whole goes as a whole: there may be very many files in it.
        let mut gone: Vec<&PathBuf> = Vec::new();
        if nobody_was_asked && !around.checks_out {
            let is_new = |folder: &&PathBuf| !self.folders.contains(folder) && !self.has_below(folder);
            let is_large = |folder: &&PathBuf| after.count_below(folder) > LARGE;
            let mut new: Vec<&PathBuf> = after.folders.iter().filter(is_new).filter(is_large).collect();
            new.sort();
            for folder in new {
                if !gone.iter().any(|whole| folder.starts_with(whole))
                    && let Ok(aside) = set_aside(folder, around.workspace)
                {
                    found.push(Violation::set_aside(folder, &aside));
                    gone.push(folder);
                }
            }
        }
        let mut led_elsewhere = false;
        let mut taken: BTreeSet<PathBuf> = BTreeSet::new();
        for (link, target) in &self.links {
            if leads_to(link, target) {
                continue;
            }
            led_elsewhere = true;
            // Taken away: without what gates an agent it may run ungated. Anything else is only missing.
            let gates = || self.found.values().any(|acting| acting.via.is_some() && acting.later.tier == Tier::Gate);
            if fs::symlink_metadata(link).is_err() && !gates() {
                found.push(Violation::of(link, Change::Removed));
                continue;
            }
            found.push(if nobody_was_asked && (!around.checks_out || gates()) {
                put_back(link, &Kept::Link(target.clone()), around.workspace)
            } else {
                Violation::of(link, Change::Modified)
            });
        }
        let whole: BTreeSet<&Path> = gone.iter().map(|folder| folder.as_path()).collect();
        for (path, now) in &after.found {
            if path.ancestors().any(|folder| whole.contains(folder)) {
                continue;
            }
            // What was there before under another name is not new: the link is.
            if let (None, Some(via)) = (self.found.get(path), &now.via)
                && self.links.get(via).is_none_or(|target| !leads_to(via, target))
            {
                if !self.links.contains_key(via) && !taken.contains(via) && via.symlink_metadata().is_ok() {
                    taken.insert(via.clone());
                    let later = after.found.get(via).map_or(NAMED, |link| link.later);
                    found.push(created(via, &later, around));
                }
                continue;
            }
            if taken.contains(path) {
                continue;
            }
            match self.found.get(path) {
                // Taken away already, as what it is besides.
                None if fs::symlink_metadata(path).is_err() => {}
                // It acted before, in another role, and is looked after there.
                None if (around.acted)(path) => {}
                // Of a new repository it is told as that.
                None if now.later == SETTINGS => {}
                None => found.push(created(path, &now.later, around)),
                // Another run has given it back what it held before that.
                Some(before) if before.is_of_others && !before.is_another(path) => {}
                Some(before) if before.stamp != now.stamp => {
                    // What the sandbox kept from being written, in folders that are the same, somebody outside has changed. Of a
                    // link it keeps what it leads to, and of a file the name that it knows.
                    let was_kept = path.ancestors().any(|part| around.kept.contains(part));
                    let is_plain = !matches!(before.kept, Some(Kept::Link(_))) && !before.has_other_names;
                    let is_others = was_kept && is_plain && before.around == now.around;
                    // A link that leads where it did has nothing to be given back.
                    let is_same = |kept: &&Kept| matches!(kept, Kept::Link(target) if leads_to(path, target));
                    let kept = before.kept.as_ref().filter(|kept| nobody_was_asked && !is_others && !is_same(kept));
                    let change = kept.map_or_else(
                        || Violation::of(path, Change::Modified),
                        |kept| put_back(path, kept, around.workspace),
                    );
                    found.push(Violation { is_rare: is_rare(&before.later), ..change });
                }
                Some(_) => {}
            }
        }
        // What another run had left and is gone again was never there.
        let was_none = |before: &Acting| before.is_of_others && before.kept.is_none();
        let gone = self.found.iter().filter(|(path, before)| !after.found.contains_key(*path) && !was_none(before));
        for (path, before) in gone {
            // Behind a link that took the place of a folder on the way lies another file.
            let turned = around.nobody_was_asked.then(|| self.link_on_the_way(path, before, around)).flatten();
            if let Some(link) = turned.filter(|link| taken.insert(link.clone())) {
                found.push(taken_away(&link, around.workspace, Change::Created));
            }
            let is_there = fs::symlink_metadata(path).is_ok();
            // It is there, and no longer called so; or it is only that nobody has come so far as to look.
            if is_there && (led_elsewhere || !(around.is_made_since)(path) && !before.is_another(path)) {
                continue;
            }
            // Without them an agent may run ungated.
            let is_wanted = nobody_was_asked && before.later.tier == Tier::Gate;
            let given_back =
                before.kept.as_ref().filter(|_| is_wanted).map(|kept| put_back(path, kept, around.workspace));
            let change = match given_back {
                Some(change) if change.change == Change::PutBack => change,
                // Where there is no room for it, or too much of it, it may still be there under another name.
                _ if is_wanted
                    && !is_there
                    && self.comes_home(path, &before.stamp, after, &found, around.workspace) =>
                {
                    Violation::of(path, Change::PutBack)
                }
                _ if is_there => Violation::of(path, Change::Modified),
                _ => Violation::of(path, Change::Removed),
            };
            found.push(Violation { is_rare: is_rare(&before.later), ..change });
        }
        found
    }

    /// The outermost link on the way to a file to which none led. A checkout may bring some, but none to what gates an agent.
    fn link_on_the_way(&self, path: &Path, before: &Acting, around: &Around<'_>) -> Option<PathBuf> {
        if before.via.is_some() || around.checks_out && before.later.tier != Tier::Gate {
            return None;
        }
        let link = folders_around(path, around.workspace).filter(|folder| folder.is_symlink()).last()?;
        (!self.links.contains_key(link)).then(|| link.to_owned())
    }

    /// Gives a file its old name again that a run has moved elsewhere in the workspace, maybe with the folder around it.
    fn comes_home(&self, path: &Path, stamp: &Stamp, after: &Self, found: &[Violation], root: &Path) -> bool {
        let is_it = |(other, acting): &(&PathBuf, &Acting)| !self.found.contains_key(*other) && acting.stamp == *stamp;
        let Some((moved, _)) = after.found.iter().find(is_it) else { return false };
        let aside =
            found.iter().find(|violation| Path::new(&violation.path) == moved).and_then(|one| one.aside.as_ref());
        let from = aside.map_or_else(|| moved.clone(), PathBuf::from);
        let (Some(parent), Some(name), Some(from_parent), Some(from_name)) =
            (path.parent(), path.file_name(), from.parent(), from.file_name())
        else {
            return false;
        };
        let folders = made_without_links(parent, root)
            .and_then(|to| Ok((folder_without_links(from_parent)?, to)))
            .and_then(|(from, to)| Ok(rustix::fs::renameat_with(&from, from_name, &to, name, RenameFlags::NOREPLACE)?));
        folders.is_ok()
    }

    fn has_below(&self, folder: &Path) -> bool {
        self.count_below(folder) > 0
    }

    fn count_below(&self, folder: &Path) -> usize {
        self.found.range(folder.to_owned()..).take_while(|(path, _)| path.starts_with(folder)).count()
    }
}

/// What steers only what somebody starts is left alone, but for what everyday tools do not make.
fn counts(later: &Later) -> bool {
    later.tier != Tier::Steers || later.is_kept
}

fn leads_to(link: &Path, target: &Path) -> bool {
    fs::read_link(link).is_ok_and(|found| found == *target)
}

/// What acts later for whoever starts an agent in a folder of the workspace, wherever this run works: the same file gates that one.
fn for_whoever_works_below(later: Later, path: &Path, workspace: &Path) -> Later {
    let name = path.to_string_lossy();
    let gates = |folder: &Path| later::of(&name, folder.to_str()).filter(|one| one.tier == Tier::Gate);
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace));
    // Whoever works in a folder full of what others have made works on something else.
    let inside = path.strip_prefix(workspace).unwrap_or(path);
    let is_of_others = inside.components().any(|part| OF_OTHERS.iter().any(|name| part.as_os_str() == *name));
    let mut found = folders.filter(|_| later.tier != Tier::Gate && !is_of_others).filter_map(gates);
    found.next().unwrap_or(later)
}

fn created(path: &Path, later: &Later, around: &Around<'_>) -> Violation {
    // By the name that it has by way of a link, too.
    let gates = later.tier == Tier::Gate || for_whoever_works_below(*later, path, around.workspace).tier == Tier::Gate;
    let by_git = || !gates && around.checks_out && (around.is_tracked)(path);
    // A worktree or a clone in the project brings the project's own files: the same bytes under the same names. What gates an agent here
    // gates it there.
    let is_copy = || {
        own_file_of_copy(path, around.workspace).is_some_and(|own| {
            let means_the_same = later::of(&own.to_string_lossy(), around.workspace.to_str())
                .is_some_and(|of_own| of_own.what == later.what);
            means_the_same
                && (around.is_kept)(&own)
                && (around.is_tracked)(&own)
                && !(around.is_made_since)(&own)
                && have_same_bytes(path, &own)
        })
    };
    // What was there and is called so only now: it is the naming that is new. Of what is named a hook, what an earlier run may have
    // left there is nobody's: only what git tracks, and nobody has written since, stays.
    let is_gits_link = path.is_symlink() && path.components().any(|part| part.as_os_str() == ".git");
    let is_old = || {
        let is_hook = path.file_name().is_some_and(|name| programs::is_git_hook(&name.to_string_lossy()));
        let is_untouched = || !(around.is_made_since)(path);
        // Where an earlier run could have left nothing, it has left nothing.
        let is_out_of_reach = || path.parent().is_some_and(|folder| !may_be_written(folder, around.workspace));
        !is_gits_link
            && (around.was_there)(path)
            && (!is_hook || is_untouched() && ((around.is_tracked)(path) || is_out_of_reach()))
    };
    // What no run could write is none's: it was kept from all of them.
    let is_as_it_lies = || fs::canonicalize(path).is_ok_and(|real| real == path);
    let was_kept =
        || (around.was_there)(path) && is_as_it_lies() && path.ancestors().any(|part| around.kept.contains(part));
    let change = if around.nobody_was_asked && later.is_kept && !by_git() && !was_kept() && !is_old() && !is_copy() {
        taken_away(path, around.workspace, Change::Created)
    } else {
        Violation::of(path, Change::Created)
    };
    Violation { is_rare: is_rare(later), ..change }
}

/// The file of the project that one in another working tree, which lies in the project, is called like. A folder that acts by its own
/// name is no working tree, whatever lies in it.
fn own_file_of_copy(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let mut inside = path.ancestors().skip(1).take_while(|folder| *folder != workspace);
    let root = inside.find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let acts = later::of(&root.join("x").to_string_lossy(), None).is_some();
    (!acts && root.starts_with(workspace))
        .then(|| path.strip_prefix(root).ok().map(|name| workspace.join(name)))
        .flatten()
}

fn have_same_bytes(one: &Path, other: &Path) -> bool {
    let text = |path: &Path| super::aside::whole_text_of(path);
    text(one).is_some_and(|text_of_one| text(other) == Some(text_of_one))
}

/// Where a file of the workspace really lies, if it lies in it.
fn inside(root: &Path, file: &Path) -> Option<PathBuf> {
    fs::canonicalize(file).ok().filter(|real| real.starts_with(root) && real.is_file())
}

/// True for what no everyday tool makes: of so much, somebody hears first.
fn is_rare(later: &Later) -> bool {
    later.is_kept || later.what == STARTED.what
}
