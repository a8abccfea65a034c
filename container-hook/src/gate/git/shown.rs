//! Whether git would show a file that is called like a secret: in the working tree, in the index, or in a commit of whatever branch.
//!
//! What is looked at may be more than git shows, never less: then it says too much of a secret that is there. What cannot be looked
//! at is a doubt.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{GitShown, ShownOf, paths, secrets};

use super::objects::{Id, Kind, Looked, Objects, TreeEntry};
use super::revisions::{self, Meaning, every_ref, meaning, peeled};
use super::{Repository, config, existing, index, repositories};
use crate::gate::conditions::{holds_public_blocks, is_public, is_public_content, may_be_public};

/// Most secrets that are named.
const MAX_NAMED: usize = 8;
/// Most commits that are gone through, those among them that are left out.
const MAX_COMMITS: usize = 20_000;
/// Largest file that is compared with what git has of it, in bytes.
const MAX_COMPARED: u64 = 1 << 20;
/// How many commits that are left out are still gone through when no others are met: with wrong dates, more may be left out.
const LEFT_OUT_BEHIND: usize = 16;
/// Deepest folder.
const MAX_DEPTH: usize = 200;

/// What git would show.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Files that are called like secrets, by their paths.
    pub secrets: Vec<String>,
    /// What could not be looked through, and why.
    pub unlooked: Vec<String>,
}

/// Looks for what a call of git that starts in a folder would show.
///
/// # Errors
/// When the repositories around it cannot be read.
pub fn secrets_in(folder: &Path, shown: &GitShown) -> io::Result<Met> {
    let mut met = Met::default();
    // Which one git takes is settled elsewhere.
    for repository in repositories(folder)? {
        let looked = Look::at(&repository, folder, shown).and_then(|mut look| {
            look.at_all(shown)?;
            Ok(look.found)
        });
        match looked {
            Ok(found) => met.secrets.extend(found),
            Err(why) => met.unlooked.push(format!("what git shows in {}: {why}", repository.root.display())),
        }
    }
    Ok(met)
}

/// Names that git tracks, and how they lie there.
struct Tracked {
    bytes: Vec<u8>,
    index: index::Index,
    meta: Option<Metadata>,
    /// Places in the list of names that are called like secrets, once somebody asks.
    secrets: OnceCell<Vec<usize>>,
}

struct Look<'r> {
    repository: &'r Repository,
    /// Where git starts.
    folder: PathBuf,
    objects: Objects,
    tracked: Tracked,
    without_parents: Vec<Id>,
    /// Where the words that are paths lead, from the root of the repository on; empty where everything counts.
    paths: Vec<String>,
    found: Vec<String>,
}

/// The revisions among the words of a call.
#[derive(Default)]
struct Named {
    /// Commits, in order.
    starts: Vec<Id>,
    /// What leads there is left out.
    left_out: Vec<Id>,
    /// Without what leads to them.
    alone: Vec<Id>,
    /// Two that are laid beside each other by their common past.
    either: bool,
    /// Folders of commits.
    trees: Vec<Id>,
    /// There are paths as well, whatever they mean.
    has_paths: bool,
    /// A file or folder of a commit is named.
    has_file: bool,
}

impl<'r> Look<'r> {
    fn at(repository: &'r Repository, folder: &Path, shown: &GitShown) -> Looked<Self> {
        let id_length = id_length(repository)?;
        let looks_into_commits = shown.of != ShownOf::Difference || !shown.words.is_empty();
        if looks_into_commits && revisions::replaces_objects(repository)? {
            return Err("other objects stand in the place of some".to_owned());
        }
        if std::fs::symlink_metadata(repository.common.join("objects/info/alternates")).is_ok() {
            return Err("it has objects of another repository".to_owned());
        }
        let path = repository.git_dir.join("index");
        let trouble = |error: io::Error| format!("its index cannot be read ({error})");
        let meta = existing(std::fs::metadata(&path)).map_err(trouble)?;
        let bytes = existing(super::read(&path)).map_err(trouble)?.unwrap_or_default();
        let index = match meta {
            Some(_) => index::read(&bytes, id_length).ok_or("its index is not understood")?,
            None => index::Index::default(),
        };
        Ok(Self {
            repository,
            folder: std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()),
            objects: Objects::of(repository, id_length),
            tracked: Tracked { bytes, index, meta, secrets: OnceCell::new() },
            without_parents: revisions::without_parents(repository)?,
            paths: Vec::new(),
            found: Vec::new(),
        })
    }

    /// Paths from the root on; none where one of them may mean anything.
    fn paths_of(&self, words: &[String]) -> Vec<String> {
        let root = std::fs::canonicalize(&self.repository.root).unwrap_or_else(|_| self.repository.root.clone());
        let inside = |word: &String| {
            if word.is_empty() || word.starts_with([':', '~']) || is_pattern(word) {
                return None;
            }
            let place = PathBuf::from(paths::resolve(Some(&self.folder.to_string_lossy()), word));
            let inside = place.strip_prefix(&root).ok()?.to_string_lossy().into_owned();
            (!inside.is_empty()).then_some(inside)
        };
        words.iter().map(inside).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// True for a path that is shown, or a folder in which some are.
    fn is_meant(&self, path: &str) -> bool {
        self.paths.is_empty()
            || self.paths.iter().any(|wanted| paths::is_within(path, wanted) || paths::is_within(wanted, path))
    }

    fn at_all(&mut self, shown: &GitShown) -> Looked<()> {
        let mut named = self.named(shown)?;
        if shown.every_ref {
            for id in every_ref(self.repository, shown.stashes)? {
                let id = peeled(&mut self.objects, &id)?;
                if self.objects.get(&id)?.kind == Kind::Commit {
                    named.starts.push(id);
                }
            }
        }
        if shown.added {
            self.working_tree();
        }
        match shown.of {
            ShownOf::Difference | ShownOf::Trees if named.either || !named.left_out.is_empty() => {
                self.history(&named, None, true)
            }
            ShownOf::Trees if named.starts.len() == 1 && named.trees.is_empty() => {
                named.starts.iter().try_for_each(|commit| self.commit(commit, true))
            }
            ShownOf::Difference | ShownOf::Trees => {
                match (named.trees.as_slice(), named.starts.as_slice(), named.alone.as_slice()) {
                    ([], [], []) if shown.of == ShownOf::Trees => Ok(()),
                    ([], [], []) => {
                        self.working_tree();
                        Ok(())
                    }
                    ([], [commit], []) => {
                        self.working_tree();
                        self.index_beside(commit)
                    }
                    ([], [one, other], []) => {
                        let (one, other) = (self.root_of(one)?, self.root_of(other)?);
                        self.trees(Some(&one), Some(&other), "", 0)
                    }
                    ([], [], [alone]) => self.commit(alone, true),
                    ([one, other], [], []) => self.trees(Some(one), Some(other), "", 0),
                    _ => Err("more is laid beside each other than is followed".to_owned()),
                }
            }
            ShownOf::Staged if !named.alone.is_empty() => {
                Err("more is laid beside each other than is followed".to_owned())
            }
            ShownOf::Staged => match named.starts.as_slice() {
                [] => self.head().and_then(|head| head.map_or(Ok(()), |head| self.index_beside(&head))),
                [commit] => self.index_beside(commit),
                _ => Err("more is laid beside each other than is followed".to_owned()),
            },
            ShownOf::Files if named.starts.is_empty() && named.trees.is_empty() => {
                self.every_tracked();
                Ok(())
            }
            ShownOf::Files => {
                let mut roots = named.trees.clone();
                for commit in &named.starts {
                    roots.push(self.root_of(commit)?);
                }
                roots.iter().try_for_each(|root| self.trees(None, Some(root), "", 0))
            }
            ShownOf::Commits => {
                if named.either || !named.left_out.is_empty() {
                    return self.history(&named, None, shown.each_parent);
                }
                let mut commits = [named.starts.as_slice(), named.alone.as_slice()].concat();
                // A file of a commit may be all that is shown.
                if commits.is_empty() && named.trees.is_empty() && !named.has_file {
                    commits.extend(self.head()?);
                }
                commits.iter().try_for_each(|commit| self.commit(commit, shown.each_parent))
            }
            ShownOf::History { most } => {
                if named.starts.is_empty() && named.alone.is_empty() {
                    named.starts.extend(self.head()?);
                }
                // With paths, commits without them are passed by.
                self.history(&named, most.filter(|_| !named.has_paths), true)
            }
            ShownOf::Objects => named.starts.iter().try_for_each(|id| match self.objects.get(id)?.kind {
                Kind::Blob => Err("what has a number may be any file that was ever added".to_owned()),
                _ => Ok(()),
            }),
            ShownOf::Stash => {
                let mut stashes = named.starts.clone();
                if stashes.is_empty() {
                    match meaning(self.repository, &mut self.objects, "refs/stash")? {
                        Meaning::Objects(ids) => stashes.extend(ids),
                        _ => return Ok(()),
                    }
                }
                stashes.iter().try_for_each(|stash| self.beside_first_parent(stash))
            }
            ShownOf::Unknown => Err("it is not known what it shows".to_owned()),
        }
    }

    fn head(&mut self) -> Looked<Option<Id>> {
        match meaning(self.repository, &mut self.objects, "HEAD")? {
            Meaning::Objects(mut ids) if ids.len() == 1 => Ok(ids.pop()),
            // There is no commit yet.
            Meaning::Nothing => Ok(None),
            _ => Err("it is not known what the last commit is".to_owned()),
        }
    }

    /// What the words mean. Those that are no revisions are paths.
    fn named(&mut self, shown: &GitShown) -> Looked<Named> {
        let mut named = Named::default();
        let mut files = Vec::new();
        // Then a revision is one of two, whatever stands in front of it.
        let lays_beside = matches!(shown.of, ShownOf::Difference | ShownOf::Trees | ShownOf::Staged);
        for word in &shown.words {
            if word == "?" {
                return Err("which object git shows is only known when it runs".to_owned());
            }
            // A stash may be meant by its number.
            let number = word.parse::<usize>().ok().filter(|_| shown.of == ShownOf::Stash);
            let word = number.map_or_else(|| word.clone(), |number| format!("stash@{{{number}}}"));
            match meaning(self.repository, &mut self.objects, &word)? {
                Meaning::Objects(ids) => {
                    for id in ids {
                        let id = peeled(&mut self.objects, &id)?;
                        let kind = self.objects.get(&id)?.kind;
                        match kind {
                            Kind::Commit => named.starts.push(id),
                            // `git show` lists the names in it.
                            Kind::Tree if shown.of != ShownOf::Commits => named.trees.push(id),
                            Kind::Tree => {}
                            Kind::Blob => return Err(format!("`{word}` is a file of which nobody knows the name")),
                            Kind::Tag => return Err(format!("`{word}` is a tag of tags")),
                        }
                    }
                }
                Meaning::Range(from, to) => {
                    if lays_beside {
                        named.starts.extend(from);
                    } else {
                        named.left_out.extend(from);
                    }
                    named.starts.extend(to);
                }
                Meaning::Either(one, other) => {
                    named.either = true;
                    // What is in the one alone is shown by `log`, and not by `diff`.
                    if lays_beside {
                        named.left_out.extend(one);
                    } else {
                        named.starts.extend(one);
                    }
                    named.starts.extend(other);
                }
                Meaning::Not(ids) if lays_beside => named.starts.extend(ids),
                Meaning::Not(ids) => named.left_out.extend(ids),
                Meaning::Alone(ids) => {
                    for id in ids {
                        let id = peeled(&mut self.objects, &id)?;
                        // A first commit has nothing that it could be laid beside, and counts as one that is named.
                        let has_parents = !self.without_parents.contains(&id)
                            && self.objects.get(&id)?.kind == Kind::Commit
                            && !self.objects.commit(&id)?.parents.is_empty();
                        if lays_beside && !has_parents { &mut named.starts } else { &mut named.alone }.push(id);
                    }
                }
                Meaning::Inside(commits, path) => {
                    named.has_file = true;
                    for commit in commits {
                        self.inside(&commit, &path, shown)?;
                    }
                }
                Meaning::Nothing if shown.of != ShownOf::Stash && self.is_path(&word) => files.push(word),
                Meaning::Nothing => return Err(format!("it is not known what `{word}` means to git")),
            }
        }
        files.extend(shown.paths.iter().cloned());
        named.has_paths = !files.is_empty();
        if !shown.every_path {
            self.paths = self.paths_of(&files);
        }
        // Tags stand for commits.
        for list in [&mut named.starts, &mut named.left_out, &mut named.alone] {
            for id in list.iter_mut() {
                *id = peeled(&mut self.objects, id)?;
            }
        }
        Ok(named)
    }

    /// True where git takes a word that is no revision for a path: it wants to see it.
    fn is_path(&self, word: &str) -> bool {
        let is_tracked = || {
            let paths = self.paths_of(std::slice::from_ref(&word.to_owned()));
            paths.first().is_some_and(|path| self.tracked.index.names.iter().any(|name| paths::is_within(name, path)))
        };
        word.starts_with(':')
            || is_pattern(word)
            || std::fs::symlink_metadata(self.folder.join(word)).is_ok()
            || is_tracked()
    }

    /// A path of a commit: a file is judged by its name, the names in a folder are shown.
    fn inside(&mut self, commit: &Id, path: &str, shown: &GitShown) -> Looked<()> {
        let folder_of_a_commit = || Err("a folder of a commit is searched, or laid beside something".to_owned());
        let only_names = matches!(shown.of, ShownOf::Commits | ShownOf::Objects);
        // These start where git does.
        if path.starts_with("./") || path.starts_with("../") {
            return if only_names { Ok(()) } else { folder_of_a_commit() };
        }
        let mut id = self.root_of(commit)?;
        let mut is_tree = true;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let entries = if is_tree { self.objects.tree(&id)? } else { Vec::new() };
            let Some(entry) = entries.into_iter().find(|entry| entry.name == part.as_bytes()) else {
                return Err(format!("{path} is not in that commit"));
            };
            is_tree = entry.is_tree();
            id = entry.id;
        }
        match is_tree {
            false => self.meet(path, &[Some(id)]),
            true if only_names => Ok(()),
            true => folder_of_a_commit(),
        }
    }

    fn root_of(&mut self, commit: &Id) -> Looked<Id> {
        let commit = peeled(&mut self.objects, commit)?;
        if self.objects.get(&commit)?.kind == Kind::Tree {
            return Ok(commit);
        }
        Ok(self.objects.commit(&commit)?.tree)
    }

    /// A file is shown, in one or in two states.
    fn meet(&mut self, path: &str, states: &[Option<Id>]) -> Looked<()> {
        let place = self.repository.root.join(path);
        if self.found.len() >= MAX_NAMED || !secrets::is_secret_path(&place.to_string_lossy()) {
            return Ok(());
        }
        if may_be_public(path) {
            let mut is_public = true;
            for id in states.iter().flatten() {
                let object = self.objects.get(id)?;
                is_public &= std::str::from_utf8(&object.bytes).is_ok_and(holds_public_blocks);
            }
            if is_public {
                return Ok(());
            }
        }
        if !self.found.iter().any(|known| known == path) {
            self.found.push(path.to_owned());
        }
        Ok(())
    }

    /// Names that git tracks and that are called like secrets, with their places in the list.
    fn tracked_secrets(&self) -> Vec<(usize, String)> {
        let names = &self.tracked.index.names;
        let is_secret = |name: &str| secrets::is_secret_path(&self.repository.root.join(name).to_string_lossy());
        let all = || names.iter().enumerate().filter(|(_, name)| is_secret(name)).map(|(at, _)| at).collect();
        let secrets = self.tracked.secrets.get_or_init(all).iter().filter_map(|at| Some((*at, names.get(*at)?)));
        secrets.filter(|(_, name)| self.is_meant(name)).map(|(at, name)| (at, name.clone())).collect()
    }

    /// The working tree beside the index.
    fn working_tree(&mut self) {
        for (at, name) in self.tracked_secrets() {
            let place = self.repository.root.join(&name);
            if !self.is_unchanged(at, &place) && !self.is_public_there(at, &place) && self.found.len() < MAX_NAMED {
                self.found.push(name);
            }
        }
    }

    /// True for a file that is as in the index: by its times, or, where these do not tell, by what it holds.
    fn is_unchanged(&mut self, at: usize, place: &Path) -> bool {
        let known = self.tracked.index.known(&self.tracked.bytes, at, self.objects.id_length());
        let Some(known) = known.filter(|known| known.is_settled) else { return false };
        let Ok(meta) = std::fs::symlink_metadata(place) else { return false };
        if self.tracked.meta.as_ref().is_some_and(|index| known.is_as(&meta, index)) {
            return true;
        }
        let is_small = meta.is_file() && meta.len() <= MAX_COMPARED;
        is_small
            .then(|| super::read(place).ok())
            .flatten()
            .is_some_and(|bytes| self.objects.get(&known.id).is_ok_and(|object| object.bytes == bytes))
    }

    /// True for a file that holds nothing secret, neither in the working tree nor in the index.
    fn is_public_there(&mut self, at: usize, place: &Path) -> bool {
        if !is_public(place) {
            return false;
        }
        let known = self.tracked.index.known(&self.tracked.bytes, at, self.objects.id_length());
        let kept = known.filter(|known| known.is_settled).and_then(|known| self.objects.get(&known.id).ok());
        kept.is_some_and(|kept| is_public_content(place, &kept.bytes))
    }

    fn every_tracked(&mut self) {
        for (at, name) in self.tracked_secrets() {
            if !self.is_public_there(at, &self.repository.root.join(&name)) && self.found.len() < MAX_NAMED {
                self.found.push(name);
            }
        }
    }

    /// The index beside a commit.
    fn index_beside(&mut self, commit: &Id) -> Looked<()> {
        let root = self.root_of(commit)?;
        let id_length = self.objects.id_length();
        let whole = self.tracked.index.whole_folders(&self.tracked.bytes, id_length);
        let mut known = HashMap::new();
        for (at, name) in self.tracked_secrets() {
            let entry = self.tracked.index.known(&self.tracked.bytes, at, id_length);
            let id = entry.filter(|entry| entry.is_settled).map(|entry| entry.id);
            known.insert(name, id);
        }
        let mut in_commit = HashSet::new();
        let mut waiting = vec![(root, String::new(), 0)];
        while let Some((tree, path, depth)) = waiting.pop() {
            if whole.get(&path) == Some(&tree) {
                // All of it is as in the index.
                known.retain(|name, _| !(path.is_empty() || paths::is_within(name, &path)));
                continue;
            }
            if depth > MAX_DEPTH {
                return Err("its folders lie deeper than is looked at".to_owned());
            }
            for entry in self.objects.tree(&tree)? {
                let path = joined(&path, &entry.name);
                if !self.is_meant(&path) || entry.is_repository() {
                    continue;
                }
                if entry.is_tree() {
                    waiting.push((entry.id, path, depth + 1));
                } else if known.get(&path).is_some_and(|id| id.as_ref() == Some(&entry.id)) {
                    in_commit.insert(path);
                } else {
                    let id = known.get(&path).cloned().flatten();
                    self.meet(&path, &[id, Some(entry.id)])?;
                }
            }
        }
        for (name, id) in known {
            if !in_commit.contains(&name) {
                self.meet(&name, &[id])?;
            }
        }
        Ok(())
    }

    /// What lies in the one folder and not, or not so, in the other one. Folders that are the same are passed by.
    fn trees(&mut self, one: Option<&Id>, other: Option<&Id>, path: &str, depth: usize) -> Looked<()> {
        if one == other {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err("its folders lie deeper than is looked at".to_owned());
        }
        let mut entries = |id: Option<&Id>| id.map_or(Ok(Vec::new()), |id| self.objects.tree(id));
        let (one, other) = (entries(one)?, entries(other)?);
        for (left, right) in beside(&one, &other) {
            if left.map(|entry| (entry.mode, &entry.id)) == right.map(|entry| (entry.mode, &entry.id)) {
                continue;
            }
            let Some(entry) = left.or(right) else { continue };
            let path = joined(path, &entry.name);
            if !self.is_meant(&path) {
                continue;
            }
            let tree = |entry: Option<&TreeEntry>| entry.filter(|entry| entry.is_tree()).map(|entry| entry.id.clone());
            let file = |entry: Option<&TreeEntry>| {
                entry.filter(|entry| !entry.is_tree() && !entry.is_repository()).map(|entry| entry.id.clone())
            };
            let (one, other) = (tree(left), tree(right));
            if one.is_some() || other.is_some() {
                self.trees(one.as_ref(), other.as_ref(), &path, depth + 1)?;
            }
            let states = [file(left), file(right)];
            if states.iter().any(Option::is_some) {
                self.meet(&path, &states)?;
            }
        }
        Ok(())
    }

    /// What a commit changed. Merges show what differs from all of their parents, or from any of them.
    fn commit(&mut self, id: &Id, each_parent: bool) -> Looked<()> {
        let id = peeled(&mut self.objects, id)?;
        let commit = self.objects.commit(&id)?;
        if commit.parents.is_empty() || self.without_parents.contains(&id) {
            return self.trees(None, Some(&commit.tree), "", 0);
        }
        let mut of_all: Option<Vec<String>> = None;
        let before = std::mem::take(&mut self.found);
        for parent in &commit.parents {
            let parent = self.root_of(parent)?;
            self.trees(Some(&parent), Some(&commit.tree), "", 0)?;
            if !each_parent {
                let found = std::mem::take(&mut self.found);
                // Where there are more than are named, what differs from all of them may be among the others.
                of_all = Some(match of_all {
                    Some(known) if found.len() < MAX_NAMED => {
                        known.into_iter().filter(|path| found.contains(path)).collect()
                    }
                    Some(known) => known,
                    None => found,
                });
            }
        }
        let found = of_all.unwrap_or_else(|| std::mem::take(&mut self.found));
        self.found = before;
        self.found.extend(found);
        Ok(())
    }

    fn beside_first_parent(&mut self, id: &Id) -> Looked<()> {
        let commit = self.objects.commit(id)?;
        let first = commit.parents.first().map(|parent| self.root_of(parent)).transpose()?;
        self.trees(first.as_ref(), Some(&commit.tree), "", 0)
    }

    /// What these commits and those that lead to them changed.
    fn history(&mut self, named: &Named, most: Option<usize>, each_parent: bool) -> Looked<()> {
        let commits = self.walk(named, most)?;
        for id in commits.iter().chain(&named.alone) {
            if self.found.len() >= MAX_NAMED {
                break;
            }
            self.commit(id, each_parent)?;
        }
        Ok(())
    }

    /// These commits and those that lead to them, the newest first, as git goes: by their dates.
    fn walk(&mut self, named: &Named, most: Option<usize>) -> Looked<Vec<Id>> {
        let mut waiting: BinaryHeap<(i64, Reverse<usize>, Id)> = BinaryHeap::new();
        let mut left_out: HashSet<Id> = named.left_out.iter().cloned().collect();
        // Those that have been waiting, and whether they still are.
        let mut seen: HashMap<Id, bool> = HashMap::new();
        for id in named.starts.iter().chain(&named.left_out) {
            if seen.insert(id.clone(), true).is_none() {
                waiting.push((self.objects.commit(id)?.date, Reverse(seen.len()), id.clone()));
            }
        }
        let mut wanted = seen.keys().filter(|id| !left_out.contains(id)).count();
        let (mut found, mut gone_through, mut more) = (Vec::new(), 0, LEFT_OUT_BEHIND);
        // What is left out is known when the rest has been met; without any, the last ones are enough.
        let is_enough =
            |found: &Vec<(i64, Id)>| named.left_out.is_empty() && most.is_some_and(|most| found.len() >= most);
        while let Some((date, _, id)) = waiting.pop() {
            gone_through += 1;
            if gone_through > MAX_COMMITS {
                return Err("it goes back further than is looked through".to_owned());
            }
            seen.insert(id.clone(), false);
            let is_left_out = left_out.contains(&id);
            if is_left_out && wanted == 0 {
                more -= 1;
                if more == 0 {
                    break;
                }
            }
            if !is_left_out {
                wanted -= 1;
                // Of several of one date, git may take another one first.
                let is_older = found.last().is_none_or(|(last, _)| date < *last);
                if is_enough(&found) && is_older {
                    break;
                }
                found.push((date, id.clone()));
            }
            if is_enough(&found) || self.without_parents.contains(&id) {
                continue;
            }
            for parent in self.objects.commit(&id)?.parents {
                // Of dates that go back git leaves out less than it could, and takes others for the last ones.
                if self.objects.commit(&parent)?.date > date && (most.is_some() || !named.left_out.is_empty()) {
                    let starts = named.starts.clone();
                    return self.walk(&Named { starts, ..Named::default() }, None);
                }
                let is_waiting = seen.get(&parent).copied();
                let is_news = is_left_out && left_out.insert(parent.clone());
                if is_news && is_waiting == Some(true) {
                    wanted -= 1;
                }
                // What was met before is gone through once more, to leave out what leads to it.
                if is_waiting.is_none() || is_news && is_waiting == Some(false) {
                    wanted += usize::from(!is_left_out);
                    seen.insert(parent.clone(), true);
                    waiting.push((self.objects.commit(&parent)?.date, Reverse(seen.len()), parent));
                }
            }
        }
        found.retain(|(_, id)| !left_out.contains(id));
        let last = most.and_then(|most| found.get(most.saturating_sub(1))).map_or(i64::MIN, |(date, _)| *date);
        Ok(found.into_iter().filter(|(date, _)| *date >= last).map(|(_, id)| id).collect())
    }
}

/// True for a word that git takes apart itself, or that is only known when it runs.
fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '[', '\\'])
}

fn joined(path: &str, name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") }
}

/// The entries of two folders, those of one name together. Git's order is that of names where folders end in a slash.
fn beside<'e>(one: &'e [TreeEntry], other: &'e [TreeEntry]) -> Vec<(Option<&'e TreeEntry>, Option<&'e TreeEntry>)> {
    let known: HashMap<&[u8], &TreeEntry> = other.iter().map(|entry| (entry.name.as_slice(), entry)).collect();
    let in_one: HashSet<&[u8]> = one.iter().map(|entry| entry.name.as_slice()).collect();
    let both = one.iter().map(|entry| (Some(entry), known.get(entry.name.as_slice()).copied()));
    both.chain(other.iter().filter(|entry| !in_one.contains(entry.name.as_slice())).map(|entry| (None, Some(entry))))
        .collect()
}

/// How long the numbers of objects are, in bytes.
pub(super) fn id_length(repository: &Repository) -> Looked<usize> {
    let path = repository.common.join("config");
    let text = existing(super::read_text(&path)).map_err(|error| format!("its settings cannot be read ({error})"))?;
    let settings = config::read(&text.unwrap_or_default()).ok_or("its settings are not understood")?;
    let is_long = settings.iter().any(|setting| setting.key == "extensions.objectformat" && setting.value == "sha256");
    Ok(if is_long { 32 } else { 20 })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use bashgate_shared::classify::{Condition, Decided, Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    use super::*;

    const CANARY: &str = "canary-of-the-secret";

    /// Runs git there, apart from the machine's own settings, and says what it printed.
    fn git(folder: &Path, args: &[&str]) -> String {
        run(folder, args, None)
    }

    /// The same at a time of somebody's choice.
    fn dated(folder: &Path, args: &[&str], date: &str) -> String {
        run(folder, args, Some(date))
    }

    fn run(folder: &Path, args: &[&str], date: Option<&str>) -> String {
        let who = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        let output = Command::new("git")
            .args(args)
            .current_dir(folder)
            .envs(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].map(|name| (name, "/dev/null")))
            .envs(who.map(|name| (name, "a@b")))
            .envs(date.map(|date| ("GIT_COMMITTER_DATE", date)))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A history in which secrets came and went, on two branches, with a merge, tags and a stash.
    fn history(format: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |args: &[&str]| git(root, args);
        let commit = |message: &str| {
            git(&["add", "-A", "-f"]);
            git(&["commit", "-qm", message]);
        };
        git(&["init", "-q", "-b", "main", "--object-format", format, "."]);
        for number in 0..40 {
            write(root, &format!("src/{number}.txt"), &format!("line {number}\n").repeat(50));
        }
        commit("first");
        write(root, "deploy/.env", &format!("KEY={CANARY}\n"));
        write(root, "src/1.txt", "changed\n");
        commit("a secret comes");
        git(&["tag", "-a", "v1", "-m", "first version"]);
        std::fs::remove_file(root.join("deploy/.env")).unwrap();
        commit("a secret goes");
        write(root, "src/2.txt", "changed\n");
        commit("nothing to hide");
        git(&["checkout", "-q", "-b", "other"]);
        write(root, "keys/id_rsa", &format!("{CANARY}\n{}", "of another kind\n".repeat(20)));
        commit("another secret");
        git(&["checkout", "-q", "main"]);
        write(root, "src/3.txt", "changed\n");
        commit("on main");
        git(&["checkout", "-q", "-b", "clean"]);
        write(root, "src/4.txt", "changed\n");
        commit("clean work");
        git(&["checkout", "-q", "main"]);
        git(&["merge", "-q", "--no-ff", "-m", "merged", "clean"]);
        // A test's key, which stays.
        write(root, "tests/server.key", &format!("{CANARY}\n"));
        commit("a key for tests");
        write(root, "certs/ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
        commit("a certificate");
        write(root, "src/5.txt", "changed\n");
        git(&["stash", "-q"]);
        write(root, "tests/server.key", &format!("{CANARY} of the stash\n"));
        git(&["stash", "-q"]);
        folder
    }

    /// What the words of a command show, by the rules and by git itself: whether we say that it is a secret, whether we doubt, and whether
    /// git prints it.
    fn both(root: &Path, command: &str) -> (bool, Option<String>, bool) {
        let around = Surroundings { cwd: Some(root.to_string_lossy().into_owned()), ..Surroundings::default() };
        let found = classify(&CommandLine::parse(command).unwrap(), &around);
        let mut met = Met::default();
        for condition in &found.conditions {
            if let Condition::GitShowsNoSecret { folder, shown } = condition {
                let more = secrets_in(&root.join(folder), shown).unwrap();
                met.secrets.extend(more.secrets);
                met.unlooked.extend(more.unlooked);
            }
        }
        met.secrets.extend(found.effects.secrets.iter().cloned());
        if found.decided == Decided::Host {
            met.unlooked.push("the host is asked".to_owned());
        }
        let args: Vec<&str> = command.split(' ').skip(1).collect();
        (!met.secrets.is_empty(), met.unlooked.pop(), git(root, &args).contains(CANARY))
    }

    /// Calls and whether they show a secret. What is said must be what git does.
    const CALLS: &[(&str, bool)] = &[
        ("git show", false),
        ("git show HEAD", false),
        ("git show HEAD~1", true),
        ("git show HEAD^", true),
        ("git show @~2", false),
        ("git show v1", true),
        ("git show v1^{commit}", true),
        ("git show v1~1", false),
        ("git show other", true),
        ("git show other~1", false),
        ("git show clean", false),
        ("git show refs/heads/other", true),
        ("git show --stat v1", false),
        ("git show -s other", false),
        ("git show HEAD~3..HEAD~1", true),
        ("git show HEAD~2 HEAD", false),
        ("git show other -- src", false),
        ("git show other -- keys", true),
        ("git show HEAD~1 -- src/3.txt", false),
        ("git show v1^!", true),
        ("git show clean:src/1.txt", false),
        ("git log", false),
        ("git log --oneline other", false),
        ("git log --stat --all", false),
        ("git log -p", true),
        ("git log -p -1", false),
        ("git log -1 -p", false),
        ("git log -p -n 2", true),
        ("git log -p -1 -9", true),
        ("git log -p -n 1 -n 9", true),
        ("git log -p -1 --max-count=-1", true),
        ("git log -p -n1 HEAD~2", false),
        ("git log -p --max-count=1 other", true),
        ("git log -p HEAD~1..HEAD", false),
        ("git log -p HEAD~2..", true),
        ("git log -p main..other", true),
        ("git log -p main..clean", false),
        ("git log -p ^main clean", false),
        ("git log -p -- src", false),
        ("git log -p -- src/1.txt", false),
        ("git log -p -- deploy", true),
        ("git log -p src", false),
        ("git log -p -3 --author=nobody", false),
        ("git log -p --branches", true),
        ("git log -p --tags", true),
        ("git log -p --grep=secret", true),
        ("git log -m -p -2 clean", false),
        ("git diff", false),
        ("git diff HEAD", false),
        ("git diff --cached", false),
        ("git diff HEAD~1", false),
        ("git diff HEAD~2", true),
        ("git diff HEAD~2 HEAD", true),
        ("git diff HEAD~2..HEAD", true),
        ("git diff HEAD~1..HEAD", false),
        ("git diff main other", true),
        ("git diff main...other", true),
        ("git diff main...clean", false),
        ("git diff other...main", true),
        ("git diff --stat main other", false),
        ("git diff main other -- src", false),
        ("git diff HEAD~2 -- src", false),
        ("git diff v1", true),
        ("git diff-tree -p HEAD", false),
        ("git diff-tree -p HEAD~1", true),
        ("git diff-tree -p main other", true),
        ("git diff-index -p HEAD", false),
        ("git grep -n canary", true),
        ("git grep -n canary -- src", false),
        ("git grep -n canary clean", false),
        ("git grep -n canary other", true),
        ("git grep -n canary v1 -- src", false),
        ("git grep -n canary v1 -- deploy", true),
        ("git grep -e canary v1", true),
        ("git stash show -p", true),
        ("git stash show -p stash@{0}", true),
        ("git stash show -p stash@{1}", false),
        ("git cat-file -p HEAD", false),
        ("git cat-file -p HEAD^{tree}", false),
    ];

    #[test]
    fn what_git_would_show_is_said_and_nothing_else() {
        for format in ["sha1", "sha256"] {
            let folder = history(format);
            let root = folder.path();
            for packed in [false, true] {
                if packed {
                    git(root, &["gc", "-q", "--aggressive"]);
                    assert!(std::fs::read_dir(root.join(".git/objects/pack")).unwrap().count() > 0);
                }
                for (command, want) in CALLS {
                    let (said, doubted, shown) = both(root, command);
                    let place = format!("{command} ({format}, packed: {packed})");
                    assert_eq!(doubted, None, "{place}");
                    assert_eq!(shown, *want, "what git does: {place}");
                    // Some of it is looked at more widely than git shows it.
                    let is_wide = command.contains("--grep") || command.contains("--author");
                    assert!(said == *want || said && is_wide, "{place}: said {said}");
                }
            }
        }
    }

    #[test]
    fn what_is_changed_or_staged_is_shown() {
        let folder = history("sha1");
        let root = folder.path();
        let said = |command: &str| {
            let (said, doubted, shown) = both(root, command);
            assert!(said == shown && doubted.is_none(), "{command}: said {said}, shown {shown}, doubted {doubted:?}");
            said
        };
        assert!(!said("git diff") && !said("git diff --cached") && !said("git diff HEAD"));
        write(root, "tests/server.key", &format!("{CANARY} anew\n"));
        assert!(said("git diff") && !said("git diff --cached") && said("git diff HEAD"));
        assert!(!said("git diff -- src") && said("git diff -- tests") && said("git diff-files -p"));
        git(root, &["add", "tests/server.key"]);
        assert!(!said("git diff") && said("git diff --cached") && said("git diff HEAD") && said("git diff --staged"));
        git(root, &["commit", "-qm", "anew"]);
        assert!(!said("git diff --cached") && said("git show"));
        git(root, &["rm", "-q", "--cached", "tests/server.key"]);
        assert!(said("git diff --cached") && said("git diff-index -p --cached HEAD"));
        std::fs::remove_file(root.join("src/1.txt")).unwrap();
        assert!(!said("git diff") && !said("git diff -- src/1.txt"));
    }

    #[test]
    fn from_a_folder_below_paths_mean_what_lies_there() {
        let folder = history("sha1");
        let below = folder.path().join("src");
        assert_eq!(both(&below, "git log -p -- 1.txt"), (false, None, false));
        assert_eq!(both(&below, "git log -p -- ../deploy"), (true, None, true));
        assert_eq!(both(&below, "git log -p ."), (false, None, false));
    }

    #[test]
    fn what_cannot_be_looked_at_is_doubted() {
        let folder = history("sha1");
        let root = folder.path();
        let doubted = |command: &str| both(root, command).1.is_some();
        for command in [
            "git show main@{yesterday}",
            "git show @{u}",
            "git show nosuch",
            "git diff nosuch",
            "git show HEAD^{/secret}",
            "git show HEAD~50",
            "git log -p @{-1}",
            "git reflog -p",
            "git stash list -p",
            "git diff main other clean",
            "git grep canary HEAD:src",
            "git grep canary HEAD:./",
            "git diff HEAD~2:deploy HEAD:src",
            "git log -p --not ^other main",
            "git log -p --boundary main..clean",
            "git diff -C HEAD~3",
            "git diff --merge-base other",
        ] {
            assert!(doubted(command), "{command}");
        }
        assert!(!doubted("git show other~1"));
        git(root, &["tag", "clean", "other~1"]);
        assert!(doubted("git diff clean") && doubted("git show clean"));
        git(root, &["tag", "-d", "clean"]);
        let head = git(root, &["rev-parse", "other~1"]);
        let clean = git(root, &["rev-parse", "clean"]);
        git(root, &["replace", clean.trim(), head.trim()]);
        assert!(doubted("git show clean") && doubted("git log -p -1"));
        git(root, &["replace", "-d", clean.trim()]);
        write(root, ".git/info/grafts", "");
        assert!(doubted("git show clean"));
        std::fs::remove_file(root.join(".git/info/grafts")).unwrap();
        git(root, &["gc", "-q"]);
        assert!(!doubted("git show clean"));
        let pack = std::fs::read_dir(root.join(".git/objects/pack")).unwrap();
        let pack =
            pack.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "pack"));
        let pack = pack.unwrap();
        let bytes = std::fs::read(&pack).unwrap();
        std::fs::set_permissions(&pack, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        std::fs::write(&pack, &bytes[..bytes.len() / 2]).unwrap();
        assert!(doubted("git log -p"));
        std::fs::write(&pack, bytes.iter().map(|byte| byte ^ 0x55).collect::<Vec<_>>()).unwrap();
        assert!(doubted("git show clean"));
    }

    /// Numbers that are the same in every run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % sides
        }

        fn one<'w>(&mut self, of: &[&'w str]) -> &'w str {
            of[self.roll(of.len())]
        }
    }

    #[test]
    fn in_any_history_nothing_that_git_shows_is_missed() {
        const FILES: &[&str] = &[".env", "a/.env", "a/b/id_rsa", "a/x", "b/x", "x", "y", "a/b/c", "k.pem"];
        for seed in 0..if std::env::var_os("BASHGATE_SOAK").is_some() { 400 } else { 3 } {
            let mut dice = Dice(seed);
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            git(root, &["init", "-q", "-b", "main", "."]);
            for number in 0..40 {
                for _ in 0..=dice.roll(3) {
                    let file = dice.one(FILES);
                    match dice.roll(4) {
                        0 => drop(std::fs::remove_file(root.join(file))),
                        _ => write(root, file, &format!("{CANARY} {number} {file}\n")),
                    }
                }
                git(root, &["add", "-A", "-f"]);
                let number = number.to_string();
                if seed % 3 == 1 {
                    // Dates are anybody's choice.
                    let date = format!("@{} +0000", 1_700_000_000 + 3600 * dice.roll(50));
                    dated(root, &["commit", "-q", "--allow-empty", "-m", &number], &date);
                } else {
                    git(root, &["commit", "-q", "--allow-empty", "-m", &number]);
                }
                match dice.roll(8) {
                    0 => drop(git(root, &["checkout", "-q", "-B", dice.one(&["one", "two"])])),
                    1 => drop(git(root, &["checkout", "-q", dice.one(&["main", "one", "two"])])),
                    2 => {
                        git(root, &["merge", "-q", "-m", "m", "-X", "ours", dice.one(&["main", "one", "two"])]);
                        git(root, &["add", "-A", "-f"]);
                        git(root, &["commit", "-q", "-m", "settled"]);
                    }
                    3 => drop(git(root, &["tag", "-f", "-a", "t", "-m", "t"])),
                    4 => drop(git(root, &["gc", "-q"])),
                    _ => {}
                }
            }
            git(root, &["branch", "-f", "one", "HEAD~3"]);
            git(root, &["branch", "-f", "two", "HEAD~5"]);
            write(root, dice.one(FILES), &format!("{CANARY} now\n"));
            let number = git(root, &["rev-parse", "--short", "HEAD~7"]);
            let mut shown_at_all = 0;
            for _ in 0..150 {
                let revisions =
                    ["HEAD", "main", "one", "two", "t", "@", "HEAD~2", "one^", "HEAD@{3}", "t~1", number.trim()];
                let (a, b) = (dice.one(&revisions), dice.one(&revisions));
                let revision = match dice.roll(7) {
                    6 => format!("{a}^!"),
                    0 => format!("{a}..{b}"),
                    1 => format!("{a}...{b}"),
                    2 => format!("{a} {b}"),
                    3 => format!("^{a} {b}"),
                    4 => String::new(),
                    _ => a.to_owned(),
                };
                let options = [
                    "-p",
                    "-p -1",
                    "-p -n2",
                    "-p -m",
                    "-p --cc",
                    "-p --first-parent",
                    "-p -3 --reverse",
                    "-p -2 --graph",
                    "-p --full-diff",
                    "-p --follow",
                    "-p -2",
                ];
                let of_show = ["", " -2", " -n 3", " --max-count=4", " --full-diff", " --follow", " -m"];
                let start = match dice.roll(7) {
                    0 => format!("git show{}", dice.one(&of_show)),
                    1 => "git diff".to_owned(),
                    2 => "git diff --cached".to_owned(),
                    3 => format!("git diff-tree -p{}", dice.one(&["", "", " --full-diff", " --follow"])),
                    4 => format!("git grep -h {CANARY}"),
                    _ => format!("git log {}", dice.one(&options)),
                };
                let paths =
                    ["", "", "", " -- a", " -- x", " -- a/b y", " -- *", " -- .", " -- :!x", " -- :(top)", " -- :."];
                let path = dice.one(&paths);
                let command = format!("{start} {revision}{path}").replace("  ", " ").trim().to_owned();
                let (said, doubted, _) = both(root, &command);
                let args: Vec<&str> = command.split(' ').skip(1).collect();
                let printed = git(root, &args);
                // The lines of files that are called like secrets say so.
                let is_shown = [".env", "id_rsa", "k.pem"].iter().any(|name| {
                    printed
                        .lines()
                        .any(|line| line.contains(CANARY) && line.contains(name) || line.contains(" now") && said)
                });
                shown_at_all += usize::from(is_shown);
                assert!(said || doubted.is_some() || !is_shown, "seed {seed}: {command}\n{printed}");
            }
            assert!(shown_at_all > 10, "{shown_at_all}");
        }
    }
}
