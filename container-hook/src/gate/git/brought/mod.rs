//! Parts of the gate that git would change, bring or take away: the settings and hooks of an agent that lie in a repository. No word of
//! `git stash`, `git clean -fdx` or `git switch other` names them.

mod words;

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::agents;
use bashgate_shared::classify::{Argv, Effects, paths};
use bashgate_shared::programs::{self, Leaves, Untracked};

use self::words::Words;
use super::objects::{Id, Looked, Objects};
use super::revisions::{self, Meaning, peeled};
use super::{Repository, added, existing, index, those_understood};
use crate::gate::conditions::place;
use crate::gate::evidence::folders_of_git;
use crate::gate::started;

/// Most names in folders of the gate's parts, and most branches and tags, that are looked at.
const MAX_NAMES: usize = 4000;
const MAX_REFS: usize = 1000;
/// Most commits of a past that are looked at, and of those of which each is looked into.
const MAX_PAST: usize = 5000;
const MAX_ON_ITS_WAY: usize = 1000;

/// What git would do to parts of the gate, by their whole paths.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Brought {
    /// What stands there by now and nobody has committed goes.
    pub lost: Vec<String>,
    /// What others have committed, or put by, takes its place, or comes where none was.
    pub brought: Vec<String>,
}

/// What the calls of a command would do to the parts of the gate for an agent that works in `cwd`.
pub fn by(all_calls: &[Argv], effects: &Effects, cwd: &Path) -> Brought {
    let mut all = Brought::default();
    let words: Vec<Vec<Option<&str>>> = all_calls
        .iter()
        .filter(|call| call.first().and_then(Option::as_deref).is_some_and(programs::is_git))
        .map(words_of)
        .collect();
    // What goes on beside others, or waits, finds what they have made of it.
    let waits = |call: &Argv| {
        let program = call.first().and_then(Option::as_deref).map(paths::file_name);
        program.is_some_and(|program| programs::has(program, programs::Trait::Waits))
    };
    let is_late = effects.jobs > 0 || all_calls.iter().any(waits);
    // Other variables of git's have it take another index, or another place for what it puts there.
    let has_another_index = std::env::var_os("GIT_INDEX_FILE").is_some()
        || effects.sets.iter().any(|name| name.starts_with("GIT_INDEX") || name.starts_with("GIT_OBJ"));
    let has_settings = std::env::var_os("GIT_CONFIG_COUNT").is_some()
        || effects
            .sets
            .iter()
            .any(|name| name.starts_with("GIT_CONFIG") || name == "HOME" || name == "XDG_CONFIG_HOME");
    // What no such call stands behind changes nothing that counts.
    let Some(last) = words.iter().rposition(|words| programs::leaves(words).is_some()) else { return all };
    let calls = words.get(..=last).unwrap_or_default();
    let folders: Vec<PathBuf> = folders_of_git(effects).into_iter().filter_map(|folder| place(&folder, cwd)).collect();
    // What one call names by what is checked out in another folder has no word there.
    let is_elsewhere = folders.iter().collect::<BTreeSet<_>>().len() > 1;
    for repository in folders.iter().flat_map(|folder| those_taken(folder)) {
        let look = if has_another_index {
            Err("its index is said to be another one".to_owned())
        } else {
            Look::at(&repository, cwd)
        };
        let looked: Vec<Looked<Brought>> = match look {
            Ok(mut look) => {
                look.before.is_unsure |= is_late || is_elsewhere && calls.len() > 1;
                look.before.told_settings |= has_settings;
                calls.iter().map(|words| look.next(words)).collect()
            }
            Err(why) => vec![Err(why)],
        };
        for found in looked {
            let Brought { lost, brought } = found.unwrap_or_else(|why| {
                let place = repository.root.display();
                Brought { brought: vec![format!("{place}/.claude/settings.json ({why})")], ..Brought::default() }
            });
            all.lost.extend(lost);
            all.brought.extend(brought);
        }
    }
    for list in [&mut all.lost, &mut all.brought] {
        list.sort();
        list.dedup();
    }
    all
}

/// The words behind the program; of `git-stash` the subcommand stands in its name.
fn words_of(call: &Argv) -> Vec<Option<&str>> {
    let program = call.first().and_then(Option::as_deref).map(paths::file_name);
    let subcommand = program.and_then(|name| name.strip_prefix("git-"));
    subcommand.map(Some).into_iter().chain(call.iter().skip(1).map(Option::as_deref)).collect()
}

/// The repositories that git may take in a folder: the innermost, and what stands in front of one that is whole.
fn those_taken(folder: &Path) -> Vec<Repository> {
    let mut taken = Vec::new();
    for repository in those_understood(folder).0 {
        let is_whole = repository.common.join("objects").is_dir() && repository.git_dir.join("HEAD").exists();
        taken.push(repository);
        if is_whole {
            break;
        }
    }
    taken
}

/// Where parts of the gate may lie in a repository, by the beginnings of their paths from its root on.
struct Parts {
    /// Each with whether its name may go on.
    starts: Vec<(String, bool)>,
}

impl Parts {
    /// Those that are in force for whoever works in this folder: in it, and in each above, and what they start.
    fn new(root: &Path, cwd: &Path) -> Self {
        let inside = cwd.strip_prefix(root).unwrap_or(Path::new(""));
        let above = inside.ancestors().map(|folder| folder.to_string_lossy().into_owned());
        let starts = above.flat_map(|folder| {
            agents::settings().chain(agents::hooks()).map(move |pattern| {
                let start = pattern.trim_end_matches('*');
                let start = if folder.is_empty() { start.to_owned() } else { format!("{folder}/{start}") };
                (start, pattern.ends_with('*'))
            })
        });
        let started = started::by_settings(cwd).files.into_iter();
        let started = started.filter_map(|file| Some(file.strip_prefix(root).ok()?.to_string_lossy().into_owned()));
        Self { starts: starts.chain(started.map(|file| (file, false))).collect() }
    }

    /// True for one of them.
    fn is(&self, path: &str) -> bool {
        self.starts.iter().any(|(start, goes_on)| {
            path.strip_prefix(start.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || *goes_on)
        })
    }

    /// True for a folder in which some may lie.
    fn may_hold(&self, folder: &str) -> bool {
        self.is(folder) || self.starts.iter().any(|(start, _)| paths::is_within(start, folder))
    }
}

/// The parts of the gate somewhere, each with what it holds.
type Held = BTreeMap<String, Id>;

struct Look<'r> {
    repository: &'r Repository,
    root: PathBuf,
    cwd: PathBuf,
    parts: Parts,
    objects: Objects,
    /// What git tracks.
    tracked: Held,
    /// What lies there.
    there: BTreeSet<String>,
    /// What is checked out, and the parts of the gate in it.
    heads: Vec<Id>,
    head: Held,
    /// The branch that is checked out.
    branch: String,
    before: Before,
}

/// What earlier calls of the command may have done.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Before {
    /// They have changed what is tracked, what is checked out or what names mean.
    is_unsure: bool,
    /// They have set what git goes by, or this one or its environment does.
    told_settings: bool,
    /// They have given each stash another number.
    moved_stashes: bool,
    /// They have moved what is checked out.
    moved_head: bool,
}

/// What a commit is laid beside: what differs comes from it.
#[derive(Clone)]
enum Beside {
    Head,
    Commit(Id),
    Nothing,
}

impl<'r> Look<'r> {
    fn at(repository: &'r Repository, cwd: &Path) -> Looked<Self> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (root, cwd) = (real(&repository.root), real(cwd));
        let parts = Parts::new(&root, &cwd);
        let id_length = super::shown::id_length(repository)?;
        let mut there = BTreeSet::new();
        on_disk(&root, "", &parts, &mut there)?;
        let path = repository.git_dir.join("index");
        let trouble = |error: io::Error| format!("its index cannot be read ({error})");
        let mut tracked = Held::new();
        if let Some(bytes) = existing(super::read(&path)).map_err(trouble)? {
            let index = index::read(&bytes, id_length).ok_or("its index is not understood")?;
            for (at, name) in index.names.iter().enumerate().filter(|(_, name)| parts.is(name)) {
                let known = index.known(&bytes, at, id_length).ok_or("its index is not understood")?;
                tracked.insert(name.clone(), known.id);
            }
        }
        let objects = Objects::of(repository, id_length);
        let mut look = Self {
            repository,
            root,
            cwd,
            parts,
            objects,
            tracked,
            there,
            heads: Vec::new(),
            head: Held::new(),
            branch: String::new(),
            before: Before::default(),
        };
        let head = super::read_text(&repository.git_dir.join("HEAD")).unwrap_or_default();
        head.trim().strip_prefix("ref: refs/heads/").unwrap_or_default().clone_into(&mut look.branch);
        if let Meaning::Objects(ids) = revisions::meaning(repository, &mut look.objects, "HEAD")? {
            for id in &ids {
                look.head = look.held(id)?;
            }
            look.heads = ids;
        }
        Ok(look)
    }

    /// The parts of the gate in a commit, or a folder of one.
    fn held(&mut self, id: &Id) -> Looked<Held> {
        let id = peeled(&mut self.objects, id)?;
        let tree = self.objects.commit(&id).map_or(id, |commit| commit.tree);
        let mut held = Held::new();
        let mut waiting = vec![(String::new(), tree)];
        let mut seen = 0;
        while let Some((folder, tree)) = waiting.pop() {
            for entry in self.objects.tree(&tree)? {
                let name = String::from_utf8_lossy(&entry.name).into_owned();
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                if entry.is_tree() && self.parts.may_hold(&path) {
                    waiting.push((path, entry.id));
                } else if !entry.is_tree() && self.parts.may_hold(&path) {
                    // A link, a file or a repository in the place of a folder of theirs, too.
                    held.insert(path, entry.id);
                }
            }
            seen += 1;
            if seen > MAX_NAMES {
                return Err("there are more folders than are looked at".to_owned());
            }
        }
        Ok(held)
    }

    /// What one call does, behind those that were looked at before it.
    fn next(&mut self, words: &[Option<&str>]) -> Looked<Brought> {
        // In front of the subcommand, and `git config` before.
        let is_setting = |word: Option<&str>| {
            word.is_none_or(|word| word.starts_with("-c") || word.starts_with("--config-env") || word == "config")
        };
        self.before.told_settings |= words.iter().copied().any(is_setting);
        let found = match programs::leaves(words) {
            Some(call) => self.call(call)?,
            None => Brought::default(),
        };
        if let Some((subcommand, rest)) = programs::moves(words) {
            self.before.is_unsure |= self.may_move(subcommand, rest)?;
            self.before.moved_stashes |= subcommand == "stash" && !matches!(rest.first(), Some(Some("list" | "show")));
            self.before.moved_head |=
                !matches!(subcommand, "add" | "branch" | "tag" | "fetch" | "push" | "config" | "stash");
        }
        Ok(found)
    }

    /// True for a call behind which parts of the gate may be tracked that were not, or others may be checked out, or meant by names.
    fn may_move(&mut self, subcommand: &str, rest: &[Option<&str>]) -> Looked<bool> {
        let words = self.words(Leaves::Commits, subcommand, rest)?;
        if matches!(subcommand, "switch" | "checkout")
            && let Some(last) = &words.last
        {
            self.branch.clone_from(last);
        }
        for (_, id) in &words.targets {
            if self.held(id)? != self.head {
                return Ok(true);
            }
        }
        // What is committed as it lies there stays as it is, whatever is added, committed or reset.
        let mut differing = Vec::new();
        for name in
            self.there.iter().chain(self.tracked.keys()).chain(self.head.keys()).cloned().collect::<BTreeSet<_>>()
        {
            if self.tracked.get(&name) != self.head.get(&name) || !self.is_as_committed(&name) {
                differing.push(name);
            }
        }
        Ok(match subcommand {
            // Without paths it takes nothing, but for the options that say all.
            "add" => {
                let takes_all = rest.iter().flatten().any(|word| word.starts_with('-')) || !words.has_paths();
                differing.iter().any(|name| takes_all && !words.has_paths() || self.is_meant(name, &words))
            }
            "commit" if !words.has_paths() && !rest.iter().any(|word| word.is_none_or(takes_in_changes)) => {
                self.tracked != self.head
            }
            "commit" => !differing.is_empty(),
            "branch" | "tag" | "fetch" | "push" | "config" | "notes" | "reflog" => false,
            "switch" | "checkout" | "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "stash" | "restore"
            | "clean" | "reset" | "bisect" => self.tracked != self.head,
            _ => !self.there.is_empty() || !self.tracked.is_empty(),
        })
    }

    /// What one call does.
    fn call(&mut self, (leaves, subcommand, rest): (Leaves, &str, &[Option<&str>])) -> Looked<Brought> {
        if revisions::replaces_objects(self.repository)? {
            return Err("other objects stand in the place of some".to_owned());
        }
        let words = self.words(leaves, subcommand, rest)?;
        let has_paths = words.has_paths();
        let is = |options: &[&str]| rest.iter().flatten().any(|word| options.iter().any(|one| word.starts_with(one)));
        let has_letter = |letters: &[char]| {
            rest.iter().flatten().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letters))
        };
        let is_forced =
            subcommand != "checkout" || has_paths || has_letter(&['f', 'p']) || is(&["--f", "--p", "--ou", "--th"]);
        let mut all = match leaves {
            Leaves::Restored | Leaves::Cleared(_) if is_forced => self.restored(subcommand, &words)?,
            Leaves::Commits | Leaves::Stashed | Leaves::Restored | Leaves::Cleared(_) => {
                self.committed(matches!(subcommand, "merge" | "pull"), &words)?
            }
            Leaves::Removed | Leaves::Cleaned(_) | Leaves::Unknown => Brought::default(),
        };
        // Where a link or a file takes the place of a folder, all below it goes; and the other way round.
        for name in self.there.clone() {
            let place = self.whole(&name);
            let is_beside = |other: &String| paths::is_within(&place, other) || paths::is_within(other, &place);
            if all.brought.iter().any(|other| *other != place && is_beside(other)) {
                let list = if self.is_as_committed(&name) { &mut all.brought } else { &mut all.lost };
                list.push(place);
            }
        }
        if matches!(subcommand, "bisect" | "rebase") || subcommand == "pull" && (is(&["--r"]) || has_letter(&['r'])) {
            let on_its_way = self.on_its_way(&words, subcommand == "bisect")?;
            all.brought.extend(on_its_way);
        }
        let joins = matches!(subcommand, "merge" | "pull" | "rebase" | "cherry-pick" | "revert");
        let leaves_head = !matches!(leaves, Leaves::Commits) || !words.targets.is_empty() && !joins;
        if self.before.is_unsure
            && leaves_head
            && matches!(leaves, Leaves::Commits | Leaves::Restored | Leaves::Cleared(_))
        {
            // What was added or committed before goes with what is left.
            for name in self.there.clone() {
                if self.is_meant(&name, &words) && !self.is_as_committed(&name) {
                    all.lost.push(self.whole(&name));
                }
            }
        }
        let is_unsure = self.before.is_unsure;
        let meant = |path: &&String| self.is_meant(path, &words);
        let untracked = self.there.iter().filter(|path| is_unsure || !self.tracked.contains_key(*path)).filter(meant);
        let tracked = self.there.iter().filter(|path| is_unsure || self.tracked.contains_key(*path)).filter(meant);
        match leaves {
            Leaves::Cleaned(which) | Leaves::Cleared(which) => {
                let names: HashSet<String> = added::tracked(self.repository).unwrap_or_default();
                let is_plain =
                    |path: &String| added::takes_in(self.repository, &names, &self.repository.root.join(path));
                let goes = |path: &&String| match which {
                    // What git ignores it may have been told elsewhere.
                    Untracked::All | Untracked::Ignored => true,
                    Untracked::Plain => is_plain(path),
                };
                all.lost.extend(untracked.filter(goes).map(|path| self.whole(path)));
            }
            Leaves::Removed if subcommand == "sparse-checkout" => {
                let is_list = rest.first() == Some(&Some("list"));
                all.brought.extend(tracked.filter(|_| !is_list).map(|path| self.whole(path)));
            }
            Leaves::Removed => all.lost.extend(tracked.map(|path| self.whole(path))),
            Leaves::Unknown => {
                for path in self.there.clone() {
                    let id = self.tracked.get(&path).cloned();
                    if !self.is_there(&path, id.as_ref()) || self.head.get(&path) != id.as_ref() {
                        all.brought.push(self.whole(&path));
                    }
                }
            }
            Leaves::Commits | Leaves::Stashed | Leaves::Restored => {}
        }
        Ok(all)
    }

    /// What comes with other commits, where they differ from what they are laid beside.
    fn committed(&mut self, joins: bool, words: &Words) -> Looked<Brought> {
        let mut all = Brought::default();
        for (base, id) in &words.targets {
            let target = self.held(id)?;
            let base = match base {
                Beside::Head => self.head.clone(),
                Beside::Commit(base) => self.held(base)?,
                Beside::Nothing => Held::new(),
            };
            let names: BTreeSet<&String> = base.keys().chain(target.keys()).collect();
            let others: Vec<&String> = names.into_iter().filter(|name| base.get(*name) != target.get(*name)).collect();
            if !others.is_empty() && joins && self.is_as_before(id, &target)? {
                continue;
            }
            all.brought.extend(others.into_iter().map(|name| self.whole(name)));
        }
        Ok(all)
    }

    /// What stands there for a while: commits are looked at one by one, or made anew one upon another, and either may stop at each.
    fn on_its_way(&mut self, words: &Words, all_of_the_past: bool) -> Looked<Vec<String>> {
        let targets: Vec<Id> = words.targets.iter().map(|(_, id)| id.clone()).collect();
        let heads = self.heads.clone();
        let range: Vec<Id> = if all_of_the_past {
            let past = self.past(heads.iter().chain(&targets), MAX_ON_ITS_WAY)?.ok_or_else(too_many)?;
            past.into_iter().collect()
        } else {
            self.apart(&heads, &targets)?
        };
        let mut found = BTreeSet::new();
        for id in range {
            let held = self.held(&id)?;
            let before = if all_of_the_past {
                self.head.clone()
            } else {
                match self.objects.commit(&id)?.parents.into_iter().next() {
                    Some(parent) => self.held(&parent)?,
                    None => Held::new(),
                }
            };
            let names = held.keys().chain(before.keys()).filter(|name| held.get(*name) != before.get(*name));
            found.extend(names.cloned());
        }
        Ok(found.iter().map(|name| self.whole(name)).collect())
    }

    /// Commits that lead to these, or to those, and not to both. The newest are looked at first, so that it ends soon behind what both have
    /// in common; where clocks were wrong, some of that are taken for others.
    fn apart(&mut self, these: &[Id], those: &[Id]) -> Looked<Vec<Id>> {
        const BOTH: u8 = 3;
        let mut sides: HashMap<Id, u8> = HashMap::new();
        let mut waiting: BinaryHeap<(i64, Id)> = BinaryHeap::new();
        for (ids, side) in [(these, 1), (those, 2)] {
            for id in ids {
                let id = peeled(&mut self.objects, id)?;
                waiting.push((self.objects.commit(&id)?.date, id.clone()));
                *sides.entry(id).or_default() |= side;
            }
        }
        while waiting.iter().any(|(_, id)| sides.get(id) != Some(&BOTH)) {
            let Some((_, id)) = waiting.pop() else { break };
            let side = sides.get(&id).copied().unwrap_or(BOTH);
            for parent in self.objects.commit(&id)?.parents {
                let known = sides.get(&parent).copied().unwrap_or_default();
                if known | side != known {
                    waiting.push((self.objects.commit(&parent)?.date, parent.clone()));
                    sides.insert(parent, known | side);
                }
            }
            if sides.len() > MAX_ON_ITS_WAY {
                return Err(too_many());
            }
        }
        Ok(sides.into_iter().filter(|(_, side)| *side != BOTH).map(|(id, _)| id).collect())
    }

    /// Commits with all that lead to them; `None` where there are more than so many.
    fn past<'i>(&mut self, ids: impl Iterator<Item = &'i Id>, most: usize) -> Looked<Option<HashSet<Id>>> {
        let mut seen = HashSet::new();
        let mut waiting = Vec::new();
        for id in ids {
            waiting.push(peeled(&mut self.objects, id)?);
        }
        while let Some(id) = waiting.pop() {
            if seen.len() > most {
                return Ok(None);
            }
            if seen.insert(id.clone()) {
                waiting.extend(self.objects.commit(&id)?.parents);
            }
        }
        Ok(Some(seen))
    }

    /// True where the parts of the gate in a commit are those of whatever it has in common with what is checked out: joined with that, it
    /// changes none of them. Where the past is too long, or there is none in common, false.
    fn is_as_before(&mut self, id: &Id, held: &Held) -> Looked<bool> {
        let heads = self.heads.clone();
        let Some(own) = self.past(heads.iter(), MAX_PAST)? else { return Ok(false) };
        let mut seen: HashSet<Id> = HashSet::new();
        let mut waiting = vec![peeled(&mut self.objects, id)?];
        let mut common = Vec::new();
        while let Some(id) = waiting.pop() {
            if seen.len() > MAX_PAST {
                return Ok(false);
            }
            if own.contains(&id) {
                common.push(id);
            } else if seen.insert(id.clone()) {
                waiting.extend(self.objects.commit(&id)?.parents);
            }
        }
        for id in &common {
            if self.held(id)? != *held {
                return Ok(false);
            }
        }
        Ok(!common.is_empty())
    }

    /// What goes back to what was committed, or added, or to what a word names.
    fn restored(&mut self, subcommand: &str, words: &Words) -> Looked<Brought> {
        let mut all = Brought::default();
        let by_index = subcommand == "restore" || subcommand == "checkout" && words.has_paths();
        let mut sources = Vec::new();
        for (_, target) in &words.targets {
            sources.push(self.held(target)?);
        }
        if sources.is_empty() {
            sources.push(if by_index { self.tracked.clone() } else { self.head.clone() });
        }
        // What git writes is not always what was committed.
        let writes_otherwise = self.writes_otherwise();
        for source in sources {
            let names: BTreeSet<String> = source.keys().chain(self.tracked.keys()).cloned().collect();
            for name in names {
                let wanted = source.get(&name);
                let stays = self.is_there(&name, wanted) && !(writes_otherwise && wanted.is_some());
                if !self.is_meant(&name, words) || stays {
                    continue;
                }
                // What is committed here can be had again.
                let is_own = self.there.contains(&name) && !self.is_as_committed(&name);
                let place = self.whole(&name);
                if is_own { all.lost.push(place) } else { all.brought.push(place) }
            }
        }
        Ok(all)
    }

    /// True where attributes that may be about parts of the gate have git write another text than was committed: in another encoding, or with
    /// a number put in.
    fn writes_otherwise(&self) -> bool {
        let folders = self.tracked.keys().flat_map(|name| Path::new(name).ancestors().skip(1));
        let folders: BTreeSet<PathBuf> =
            folders.map(|folder| self.root.join(folder)).chain([self.root.clone()]).collect();
        let files = folders.iter().map(|folder| folder.join(".gitattributes"));
        let own = self.repository.common.join("info/attributes");
        files.chain([own]).filter_map(|file| super::read_text(&file).ok()).any(|text| {
            text.lines().any(|line| {
                line.split_whitespace()
                    .skip(1)
                    .any(|word| word == "ident" || word.starts_with("working-tree-encoding="))
            })
        })
    }

    /// True where just this lies there; or nothing, where nothing is wanted.
    fn is_there(&mut self, name: &str, wanted: Option<&Id>) -> bool {
        let Some(wanted) = wanted else { return !self.there.contains(name) };
        let path = self.root.join(name);
        let content = match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() => {
                std::fs::read_link(&path).map(|to| to.into_os_string().into_encoded_bytes())
            }
            Ok(_) => super::read(&path),
            Err(error) => Err(error),
        };
        content.is_ok_and(|content| self.objects.get(wanted).is_ok_and(|object| object.bytes == content))
    }

    /// True where what is checked out lies there.
    fn is_as_committed(&mut self, name: &str) -> bool {
        let head = self.head.get(name).cloned();
        self.is_there(name, head.as_ref())
    }

    fn whole(&self, name: &str) -> String {
        self.root.join(name).to_string_lossy().into_owned()
    }

    /// True for a name that the paths of a call mean, or may mean; without any, all of them.
    fn is_meant(&self, name: &str, words: &Words) -> bool {
        let means = |word: &String| {
            if let Some(at) = word.rfind(['*', '?', ']']) {
                return word.get(at + 1..).is_some_and(|end| name.ends_with(end));
            }
            let place = PathBuf::from(paths::resolve(Some(&self.cwd.to_string_lossy()), word));
            // Outside of the repository nothing is known of it.
            place.strip_prefix(&self.root).map_or(true, |inside| {
                let inside = inside.to_string_lossy();
                inside.is_empty() || paths::is_within(name, &inside) || paths::is_within(&inside, name)
            })
        };
        words.any_path || words.paths.is_empty() || words.paths.iter().any(means)
    }
}

fn too_many() -> String {
    "it goes through more commits than are looked at".to_owned()
}

/// True for an option of `git commit` by which it takes in what nobody has added before.
fn takes_in_changes(word: &str) -> bool {
    word.starts_with('-')
        && !word.starts_with("--")
        && word.split('m').next().is_some_and(|letters| letters.contains(['a', 'i', 'o', 'p']))
        || ["--a", "--i", "--o", "--pat"].iter().any(|start| word.starts_with(start) && !word.starts_with("--au"))
}

/// The parts of the gate that lie in a folder, and below it.
fn on_disk(root: &Path, folder: &str, parts: &Parts, there: &mut BTreeSet<String>) -> Looked<()> {
    let place = root.join(folder);
    let trouble = |error: io::Error| format!("{} cannot be looked through ({error})", place.display());
    for entry in existing(std::fs::read_dir(&place)).map_err(trouble)?.into_iter().flatten() {
        let entry = entry.map_err(trouble)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && parts.may_hold(&path) {
            on_disk(root, &path, parts, there)?;
        } else if !is_folder && parts.may_hold(&path) {
            there.insert(path);
            if there.len() > MAX_NAMES {
                return Err("there are more settings of agents than are looked at".to_owned());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
