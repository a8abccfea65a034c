//! Parts of the gate that git would change, bring or take away: the settings and hooks of an agent that lie in a repository. No word of
//! `git stash`, `git clean -fdx` or `git switch other` names them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::agents;
use bashgate_shared::classify::{Argv, Effects, paths};
use bashgate_shared::programs::{self, Leaves, Untracked};

use super::objects::{Id, Looked, Objects};
use super::revisions::{self, Meaning, every_ref, peeled};
use super::{Repository, added, existing, index, those_understood};
use crate::gate::conditions::place;
use crate::gate::evidence::folders_of_git;

/// Most names in folders of the gate's parts, and most branches and tags, that are looked at.
const MAX_NAMES: usize = 4000;
const MAX_REFS: usize = 200;
/// Most commits of a past that are looked at.
const MAX_PAST: usize = 5000;

/// What git would do to parts of the gate, by their whole paths.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Brought {
    /// What stands there by now and nobody has committed goes.
    pub lost: Vec<String>,
    /// What others have committed, or put by, takes its place, or comes where none was.
    pub brought: Vec<String>,
}

/// What the calls of a command would do to the parts of the gate for an agent that works in `cwd`.
pub fn by(calls: &[Argv], effects: &Effects, cwd: &Path) -> Brought {
    let mut all = Brought::default();
    let words: Vec<Vec<Option<&str>>> = calls
        .iter()
        .filter(|call| call.first().and_then(Option::as_deref).is_some_and(programs::is_git))
        .map(words_of)
        .collect();
    let calls: Vec<_> = words.iter().filter_map(|words| programs::leaves(words)).collect();
    if calls.is_empty() {
        return all;
    }
    let folders = folders_of_git(effects).into_iter().filter_map(|folder| place(&folder, cwd));
    for repository in folders.flat_map(|folder| those_taken(&folder)) {
        let looked: Vec<Looked<Brought>> = match Look::at(&repository, cwd) {
            Ok(mut look) => calls.iter().map(|call| look.call(*call)).collect(),
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
    /// Those that are in force for whoever works in this folder: in it, and in each above.
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
        Self { starts: starts.collect() }
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
}

/// What a commit is laid beside: what differs comes from it.
#[derive(Clone)]
enum Beside {
    Head,
    Commit(Id),
    Nothing,
}

/// What the words of a call mean.
#[derive(Default)]
struct Words {
    /// Commits, or folders of such.
    targets: Vec<(Beside, Id)>,
    /// Paths as they stand there.
    paths: Vec<String>,
    /// There are such, and they may mean anything.
    any_path: bool,
}

impl Words {
    fn has_paths(&self) -> bool {
        self.any_path || !self.paths.is_empty()
    }
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
        let mut look =
            Self { repository, root, cwd, parts, objects, tracked, there, heads: Vec::new(), head: Held::new() };
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
                } else if !entry.is_tree() && self.parts.is(&path) {
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

    /// What one call does.
    fn call(&mut self, (leaves, subcommand, rest): (Leaves, &str, &[Option<&str>])) -> Looked<Brought> {
        if revisions::replaces_objects(self.repository)? {
            return Err("other objects stand in the place of some".to_owned());
        }
        let words = self.words(leaves, subcommand, rest)?;
        let is = |options: &[&str]| rest.iter().flatten().any(|word| options.iter().any(|one| word.starts_with(one)));
        let has_paths = words.has_paths();
        let is_forced = subcommand != "checkout" || has_paths || is(&["-f", "--f", "-p", "--p", "--o", "--t"]);
        let mut all = match leaves {
            Leaves::Restored | Leaves::Cleared(_) if is_forced => self.restored(subcommand, &words)?,
            Leaves::Commits | Leaves::Stashed | Leaves::Restored | Leaves::Cleared(_) => {
                self.committed(matches!(subcommand, "merge" | "pull"), &words)?
            }
            Leaves::Removed | Leaves::Cleaned(_) | Leaves::Unknown => Brought::default(),
        };
        let meant = |path: &&String| self.is_meant(path, &words);
        let untracked = self.there.iter().filter(|path| !self.tracked.contains_key(*path)).filter(meant);
        let tracked = self.there.iter().filter(|path| self.tracked.contains_key(*path)).filter(meant);
        match leaves {
            Leaves::Cleaned(which) | Leaves::Cleared(which) => {
                let names: HashSet<String> = added::tracked(self.repository).unwrap_or_default();
                let is_plain =
                    |path: &String| added::takes_in(self.repository, &names, &self.repository.root.join(path));
                let goes = |path: &&String| match which {
                    Untracked::All => true,
                    Untracked::Plain => is_plain(path),
                    Untracked::Ignored => !is_plain(path),
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

    /// True where the parts of the gate in a commit are those of whatever it has in common with what is checked out: joined with that, it
    /// changes none of them. Where the past is too long, or there is none in common, false.
    fn is_as_before(&mut self, id: &Id, held: &Held) -> Looked<bool> {
        let mut own: HashSet<Id> = HashSet::new();
        let mut waiting = self.heads.clone();
        while let Some(id) = waiting.pop() {
            if own.len() > MAX_PAST {
                return Ok(false);
            }
            if own.insert(id.clone()) {
                waiting.extend(self.objects.commit(&id)?.parents);
            }
        }
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
        for source in sources {
            let names: BTreeSet<String> = source.keys().chain(self.tracked.keys()).cloned().collect();
            for name in names {
                let wanted = source.get(&name);
                if !self.is_meant(&name, words) || self.is_there(&name, wanted) {
                    continue;
                }
                // What is committed here can be had again.
                let head = self.head.get(&name).cloned();
                let is_own = self.there.contains(&name) && !self.is_there(&name, head.as_ref());
                let place = self.whole(&name);
                if is_own { all.lost.push(place) } else { all.brought.push(place) }
            }
        }
        Ok(all)
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

    /// What the words behind a subcommand mean.
    fn words(&mut self, leaves: Leaves, subcommand: &str, rest: &[Option<&str>]) -> Looked<Words> {
        let mut found = Words::default();
        let mut only_paths = false;
        let mut is_value = false;
        let mut is_open = false;
        let skipped = usize::from(matches!(subcommand, "stash" | "sparse-checkout" | "bisect"));
        let takes_paths = rest.first() != Some(&Some("save"));
        for word in rest.iter().skip(skipped) {
            let was_value = std::mem::replace(&mut is_value, false);
            let Some(word) = word else {
                is_open = true;
                found.any_path |= only_paths;
                continue;
            };
            if only_paths {
                found.paths.push((*word).to_owned());
                continue;
            }
            if *word == "--" {
                only_paths = true;
                continue;
            }
            if word.starts_with("--pathspec-from") {
                found.any_path = true;
                continue;
            }
            let named = match word.strip_prefix('-') {
                Some(option) if !option.is_empty() => {
                    // Behind all others a value may stand, which is no path.
                    is_value = !is_flag(word);
                    match word.split_once('=') {
                        Some((_, value)) => value,
                        None => word.strip_prefix("-s").unwrap_or_default(),
                    }
                }
                _ => word,
            };
            let ids = self.ids(leaves, named)?;
            let is_revision = !ids.is_empty();
            found.targets.extend(ids);
            let is_path = takes_paths && named == *word && !was_value && self.is_path(word);
            if is_path && (!is_revision || !matches!(subcommand, "switch" | "merge" | "rebase")) {
                found.paths.push((*word).to_owned());
            }
        }
        if leaves == Leaves::Stashed && found.targets.is_empty() {
            found.targets = self.ids(leaves, "stash")?;
        }
        let by_upstream = matches!(subcommand, "merge" | "pull" | "rebase");
        if by_upstream && found.targets.is_empty() && !rest.iter().flatten().any(|word| word.starts_with("--")) {
            found.targets = self.upstream()?;
        }
        if is_open && !matches!(leaves, Leaves::Cleaned(_) | Leaves::Removed | Leaves::Stashed) {
            let every = self.every()?;
            found.targets.extend(every);
        }
        if leaves != Leaves::Stashed && matches!(subcommand, "cherry-pick" | "revert") {
            for (base, target) in found.targets.iter_mut().filter(|(base, _)| matches!(base, Beside::Head)) {
                let id = peeled(&mut self.objects, target)?;
                let parent = self.objects.commit(&id)?.parents.into_iter().next();
                *base = parent.map_or(Beside::Nothing, Beside::Commit);
            }
        }
        Ok(found)
    }

    /// True for a word that names something that lies there or is tracked, or a pattern.
    fn is_path(&self, word: &str) -> bool {
        word.starts_with(':')
            || word.contains(['*', '?', '['])
            || std::fs::symlink_metadata(self.cwd.join(word)).is_ok()
            || self.tracked.keys().any(|name| paths::is_within(name, word.trim_end_matches('/')))
    }

    /// The objects that a word means, each with what it is laid beside; none where it means nothing to git.
    fn ids(&mut self, leaves: Leaves, word: &str) -> Looked<Vec<(Beside, Id)>> {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if leaves == Leaves::Stashed {
            let name = if is_number { format!("stash@{{{word}}}") } else { word.to_owned() };
            if !name.starts_with("stash") && !name.starts_with("refs/stash") {
                return Ok(Vec::new());
            }
            return self.stashed(&name);
        }
        if word == "-" {
            let before = self.before()?;
            return Ok(before.into_iter().map(|id| (Beside::Head, id)).collect());
        }
        // A message. Of revisions only those that search have blanks.
        if word.is_empty() || word.contains(char::is_whitespace) && !word.contains('{') && !word.starts_with(":/") {
            return Ok(Vec::new());
        }
        Ok(match revisions::meaning(self.repository, &mut self.objects, word) {
            Ok(Meaning::Objects(ids) | Meaning::Alone(ids) | Meaning::Not(ids) | Meaning::Inside(ids, _)) => {
                ids.into_iter().map(|id| (Beside::Head, id)).collect()
            }
            Ok(Meaning::Range(from, to) | Meaning::Either(from, to)) => {
                let pairs =
                    to.iter().flat_map(|to| from.iter().map(move |from| (Beside::Commit(from.clone()), to.clone())));
                pairs.chain(to.iter().map(|to| (Beside::Head, to.clone()))).collect()
            }
            Ok(Meaning::Nothing) => Vec::new(),
            Err(_) => self.every()?,
        })
    }

    /// What was put by: what it changed, and the files that nobody tracked.
    fn stashed(&mut self, name: &str) -> Looked<Vec<(Beside, Id)>> {
        let ids = match revisions::meaning(self.repository, &mut self.objects, name) {
            Ok(Meaning::Objects(ids)) => ids,
            Ok(_) => return Ok(Vec::new()),
            Err(why) => return Err(why),
        };
        let mut found = Vec::new();
        for id in ids {
            let parents = self.objects.commit(&id)?.parents;
            found.push((parents.first().cloned().map_or(Beside::Nothing, Beside::Commit), id));
            // Its third parent holds what nobody tracked.
            found.extend(parents.into_iter().skip(2).map(|others| (Beside::Nothing, others)));
        }
        Ok(found)
    }

    /// Where it was before: `git switch -`.
    fn before(&mut self) -> Looked<Vec<Id>> {
        let path = self.repository.git_dir.join("logs/HEAD");
        let text = existing(super::read_text(&path)).map_err(|error| format!("{} ({error})", path.display()))?;
        let text = text.unwrap_or_default();
        let moved = text.lines().rev().find_map(|line| line.split_once("\tcheckout: moving from ").map(|(_, how)| how));
        let Some((from, _)) = moved.and_then(|how| how.split_once(" to ")) else { return Ok(Vec::new()) };
        match revisions::meaning(self.repository, &mut self.objects, from)? {
            Meaning::Objects(ids) => Ok(ids),
            _ => Ok(Vec::new()),
        }
    }

    /// What was fetched last, and what remotes call as the branch is called that is checked out.
    fn upstream(&mut self) -> Looked<Vec<(Beside, Id)>> {
        let head = super::read_text(&self.repository.git_dir.join("HEAD")).unwrap_or_default();
        let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap_or_default().to_owned();
        let listed = std::fs::read_dir(self.repository.common.join("refs/remotes")).into_iter().flatten().flatten();
        let remotes = listed.filter_map(|entry| entry.file_name().into_string().ok()).take(MAX_REFS);
        let mut names: BTreeSet<String> =
            remotes.chain(["origin".to_owned()]).map(|name| format!("{name}/{branch}")).collect();
        names.insert("FETCH_HEAD".to_owned());
        let mut found = Vec::new();
        for name in names {
            if let Meaning::Objects(ids) = revisions::meaning(self.repository, &mut self.objects, &name)? {
                found.extend(ids.into_iter().map(|id| (Beside::Head, id)));
            }
        }
        Ok(found)
    }

    /// Whatever branches and tags there are: one of them is meant.
    fn every(&mut self) -> Looked<Vec<(Beside, Id)>> {
        let all = every_ref(self.repository, true)?;
        if all.len() > MAX_REFS {
            return Err("which of its commits is meant is not known".to_owned());
        }
        Ok(all.into_iter().map(|id| (Beside::Head, id)).collect())
    }
}

/// True for an option behind which no value stands.
fn is_flag(word: &str) -> bool {
    const LONG: &[&str] = &["--quiet", "--force", "--staged", "--worktree", "--cached", "--hard", "--detach", "--all"];
    LONG.contains(&word)
        || !word.starts_with("--") && word.bytes().skip(1).all(|letter| b"fdqxXrauSWpk".contains(&letter))
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
        } else if !is_folder && parts.is(&path) {
            there.insert(path);
            if there.len() > MAX_NAMES {
                return Err("there are more settings of agents than are looked at".to_owned());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::process::Command;

    use bashgate_shared::classify::{Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    use super::*;

    /// How the settings of a project lie there.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Settings {
        None,
        Untracked,
        Committed,
        Changed,
    }

    /// Whether it worked, and what it said.
    fn git(folder: &Path, command: &str) -> (bool, String) {
        let mut call = Command::new("bash");
        call.args(["-c", command]).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
            call.env(name, "a");
        }
        let output = call.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), told)
    }

    const OWN: &str = r#"{"hooks":{"PreToolUse":["gate"]}}"#;

    /// A project with another branch, something put by, and settings of an agent that nobody has committed.
    fn project(settings: Settings) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let all = "git init -q -b main; mkdir -p src app/.claude; echo a > src/a.py; echo .cache > .gitignore; git add .; git commit -qm one
            git switch -qc same; echo b > src/b.py; git add .; git commit -qm same; git switch -q main
            git switch -qc other; mkdir .claude; echo '{}' > .claude/settings.json; git add .; git commit -qm other; echo c > src/c.py; git add .; git commit -qm more; git switch -q main
            git tag v1; mkdir .claude; echo put > .claude/settings.json; git stash -qu
            echo d > src/a.py; git stash -q";
        git(root.path(), all);
        if matches!(settings, Settings::Committed | Settings::Changed) {
            git(
                root.path(),
                "mkdir -p .claude; echo '{\"a\":1}' > .claude/settings.json; git add .; git commit -qm settings; git branch behind main~1",
            );
        }
        if matches!(settings, Settings::Untracked | Settings::Changed) {
            std::fs::create_dir_all(root.path().join(".claude")).unwrap();
            std::fs::write(root.path().join(".claude/settings.json"), OWN).unwrap();
        }
        root
    }

    /// The parts of the gate by what they hold.
    fn parts(root: &Path) -> BTreeMap<String, String> {
        let parts = Parts::new(root, &root.join("app"));
        let mut there = BTreeSet::new();
        on_disk(root, "", &parts, &mut there).unwrap();
        there.into_iter().map(|name| (name.clone(), std::fs::read_to_string(root.join(name)).unwrap())).collect()
    }

    fn said(root: &Path, command: &str) -> Brought {
        let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
        by(&found.calls, &found.effects, root)
    }

    /// Whatever git really does to settings was said. What is said too much stands in `TOO_STRICT`.
    #[test]
    fn nothing_happens_to_the_gate_unsaid() {
        const COMMANDS: &[&str] = &[
            "git stash",
            "git stash -u",
            "git stash push -m src",
            "git stash save src",
            "git stash push -- src",
            "git stash push src",
            "git stash -a",
            "git stash push -um 'wip: x'",
            "git stash pop",
            "git stash pop 1",
            "git stash apply stash@{1}",
            "git stash apply --index",
            "git stash branch new stash@{1}",
            "git stash drop",
            "git checkout .",
            "git checkout -- .",
            "git checkout src",
            "git checkout -- src/a.py",
            "git checkout -- '*.py'",
            "git checkout -- '*.json'",
            "git checkout -f",
            "git checkout same",
            "git checkout other",
            "git checkout -f other",
            "git checkout -q other",
            "git checkout -b new",
            "git checkout -b new other",
            "git checkout other -- .",
            "git checkout other src",
            "git checkout other -- .claude",
            "git checkout behind",
            "git checkout -f behind",
            "git checkout v1",
            "git checkout -f v1",
            "git checkout -",
            "git switch -",
            "git switch same",
            "git switch other",
            "git switch -f other",
            "git switch --discard-changes other",
            "git switch -c new",
            "git restore .",
            "git restore src",
            "git restore -s other .",
            "git restore --source=other .",
            "git restore --staged .",
            "git restore -SW .",
            "git restore -sother .claude",
            "git reset --hard",
            "git reset --hard HEAD~1",
            "git reset --hard other",
            "git reset",
            "git reset --soft HEAD~1",
            "git reset --keep other",
            "git reset --merge other",
            "git merge same",
            "git merge other",
            "git merge -m 'fix: other' same",
            "git merge --no-ff other -m x",
            "git rebase other",
            "git rebase same",
            "git cherry-pick other",
            "git cherry-pick other~1",
            "git cherry-pick main..other",
            "git cherry-pick -n other~1",
            "git revert HEAD",
            "git revert --no-edit HEAD",
            "git clean -fd",
            "git clean -fdx",
            "git clean -fdn",
            "git clean -fdx -en",
            "git clean -fdX",
            "git clean -ndx",
            "git clean -fd src",
            "git clean -fd .claude",
            "git clean -ffdx -- .",
            "git rm -rf --ignore-unmatch .",
            "git rm -r src",
            "git rm -rqf .claude",
            "git mv src lib",
            "git mv .claude aside",
            "git sparse-checkout set --no-cone src",
            "git read-tree -u --reset other",
            "git read-tree -um other",
            "git commit -qam x",
            "git status",
            "git add -A",
            "cd app && git stash",
            "cd app && git stash -u",
            "git -C src stash -u",
            "cd src && git checkout ..",
            "cd src && git clean -fdx ..",
            "bash -c 'git stash -u'",
            "git stash; git switch other",
            "git checkout $(echo other) -- .",
            "git -c alias.x='stash -u' x",
            "git gc -q",
        ];
        // What is said though this git leaves it alone: it refuses, or takes only what is as it was.
        const TOO_STRICT: &[&str] = &["git sparse-checkout set --no-cone src", "git rebase same"];
        let mut wrong = Vec::new();
        for settings in [Settings::None, Settings::Untracked, Settings::Committed, Settings::Changed] {
            let made = project(settings);
            for command in COMMANDS {
                let copy = tempfile::tempdir().unwrap();
                let root = copy.path().canonicalize().unwrap();
                assert!(git(made.path(), &format!("cp -a . '{}'", root.display())).0);
                let before = parts(&root);
                assert_eq!(before.is_empty(), settings == Settings::None);
                let said = said(&root, command);
                let (worked, told) = git(&root, command);
                let after = parts(&root);
                let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
                let changed: Vec<&String> =
                    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).collect();
                let unsaid: Vec<_> = changed
                    .iter()
                    .filter(|name| {
                        !said.lost.iter().chain(&said.brought).any(|path| Path::new(path) == root.join(name.as_str()))
                    })
                    .collect();
                let too_much =
                    worked && changed.is_empty() && said != Brought::default() && !TOO_STRICT.contains(command);
                if !unsaid.is_empty() || too_much {
                    wrong.push(format!("{settings:?} {command}: {changed:?} {said:?} {told}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
