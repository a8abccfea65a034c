//! What the words behind a subcommand mean: commits, and paths. What may be one of both is both.

use std::collections::BTreeSet;

use bashgate_shared::classify::paths;
use bashgate_shared::programs::{self, Leaves};

use super::super::objects::{Id, Looked};
use super::super::revisions::{self, Meaning, every_ref, peeled};
use super::super::{config, existing, files_outside, read_text};
use super::{Beside, Look, MAX_REFS};

/// What the words of a call mean.
#[derive(Default)]
pub(super) struct Words {
    /// Commits, or folders of such.
    pub(super) targets: Vec<(Beside, Id)>,
    /// Paths as they stand there.
    pub(super) paths: Vec<String>,
    /// There are such, and they may mean anything.
    pub(super) any_path: bool,
    /// The last word that names something, whatever it is.
    pub(super) last: Option<String>,
}

impl Words {
    pub(super) fn has_paths(&self) -> bool {
        self.any_path || !self.paths.is_empty()
    }

    /// Adds a path. One with a sign in front, or with a backslash, means what only git knows: `:/`, `:!src`, `:(top)`, `a\\b`.
    fn add_path(&mut self, word: &str) {
        if word.starts_with(':') || word.contains('\\') {
            self.any_path = true;
        } else {
            self.paths.push(word.to_owned());
        }
    }
}

/// Options of a subcommand behind which a word stands that is neither a commit nor a path: a message, a number, the name of something new.
fn takes_value(subcommand: &str, option: &str) -> bool {
    // Letters that take the next word, those behind which the rest of the word may be their own, and whole names.
    let (taking, own, long): (&[char], &[char], &[&str]) = match subcommand {
        "stash" => (&['m'], &[], &["--message"]),
        "merge" => (&['m', 'F', 'X'], &['S', 's'], &["--message", "--file", "--strategy-option", "--into-name"]),
        "pull" => {
            (&['m', 'F', 'X', 'o'], &['S', 's', 'j', 'r'], &["--message", "--file", "--strategy-option", "--into-name"])
        }
        "cherry-pick" | "revert" => (&['m', 'X'], &['S', 's'], &["--mainline", "--strategy-option"]),
        "commit" => (&['m', 'F'], &['S', 'u', 'c', 'C', 't'], &["--message", "--file", "--author", "--date"]),
        "checkout" => (&['b', 'B'], &['U'], &["--orphan", "--conflict"]),
        "switch" => (&['c', 'C'], &['U'], &["--create", "--force-create", "--orphan", "--conflict"]),
        "rebase" => (&['x', 'X'], &['S', 'C', 's'], &["--exec", "--strategy-option"]),
        "clean" => (&['e'], &[], &["--exclude"]),
        "tag" => (&['m', 'F'], &['n', 'u'], &["--message", "--file"]),
        _ => return false,
    };
    if option.starts_with("--") {
        return long.contains(&option);
    }
    let letters = option.strip_prefix('-').unwrap_or_default();
    let first = letters.find(|letter| taking.contains(&letter) || own.contains(&letter));
    first.is_some_and(|at| at + 1 == letters.len() && letters.ends_with(taking))
}

/// True where `--` only ends the options, and commits stand behind it as before.
fn ends_options(subcommand: &str, rest: &[Option<&str>]) -> bool {
    match subcommand {
        "stash" => !matches!(rest.first(), None | Some(Some("push" | "save" | "--"))),
        "merge" | "pull" | "switch" | "cherry-pick" | "revert" | "rebase" | "branch" | "tag" => true,
        _ => false,
    }
}

impl Look<'_> {
    /// What the words behind a subcommand mean.
    pub(super) fn words(&mut self, leaves: Leaves, subcommand: &str, rest: &[Option<&str>]) -> Looked<Words> {
        let mut found = Words::default();
        let mut only_paths = false;
        let mut is_value = false;
        let mut is_open = false;
        let mut after_source = false;
        let skipped = usize::from(matches!(subcommand, "stash" | "sparse-checkout" | "bisect"));
        let takes_paths = rest.first() != Some(&Some("save"));
        for word in rest.iter().skip(skipped) {
            let was_value = std::mem::replace(&mut is_value, false);
            let Some(word) = word else {
                is_open = true;
                found.any_path |= only_paths;
                continue;
            };
            if was_value {
                continue;
            }
            if only_paths {
                found.add_path(word);
                continue;
            }
            if *word == "--" {
                only_paths = !ends_options(subcommand, rest);
                continue;
            }
            if word.starts_with("--pathspec-from") {
                found.any_path = true;
                continue;
            }
            let named = match word.strip_prefix('-') {
                Some(option) if !option.is_empty() => {
                    is_value = takes_value(subcommand, word);
                    match word.split_once('=') {
                        Some((_, value)) => value,
                        None => word.strip_prefix("-s").unwrap_or_default(),
                    }
                }
                _ => word,
            };
            // `git restore` takes commits from an option alone; `:/` is the root of the working tree.
            let is_source = |option: &&str| *option == "-s" || option.len() > 3 && "--source".starts_with(*option);
            let was_source = std::mem::replace(&mut after_source, is_source(word));
            let is_only_path = subcommand == "restore" && named == *word && !was_source || named == ":/";
            let mut ids = if is_only_path { Vec::new() } else { self.ids(leaves, named)? };
            // Also such as name nothing.
            let is_path =
                takes_paths && named == *word && (programs::takes_only_paths(subcommand) || self.is_path(word));
            if ids.is_empty() && !is_path && matches!(subcommand, "switch" | "checkout") {
                ids = self.of_a_remote(named)?;
            }
            let is_revision = !ids.is_empty();
            if named == *word {
                found.last = Some((*word).to_owned());
            }
            found.targets.extend(ids);
            if is_path && (!is_revision || !matches!(subcommand, "switch" | "merge" | "rebase")) {
                found.add_path(word);
            }
        }
        if leaves == Leaves::Stashed && self.before.moved_stashes {
            // Whatever number they have by then.
            for name in self.logged("refs/stash")? {
                let more = self.stashed(&name)?;
                found.targets.extend(more);
            }
        }
        if leaves == Leaves::Stashed && found.targets.is_empty() {
            found.targets = self.ids(leaves, "stash")?;
        }
        if subcommand == "bisect" {
            let more = self.ids(leaves, "refs/bisect/bad")?;
            found.targets.extend(more);
        }
        let joins_upstream = matches!(subcommand, "merge" | "pull" | "rebase");
        let goes_on = |word: &&str| ["--ab", "--cont", "--sk", "--q"].iter().any(|start| word.starts_with(start));
        if matches!(subcommand, "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "am") {
            // One that was begun before: what it is about stands elsewhere.
            is_open |= rest.iter().flatten().any(goes_on);
        }
        if joins_upstream && found.targets.is_empty() {
            found.targets = self.upstream()?;
        }
        // What a name means, or what is checked out, may be another one by then.
        let goes_back = matches!(leaves, Leaves::Restored | Leaves::Cleared(_) | Leaves::Stashed);
        let names_any = self.before.is_unsure && (found.last.is_some() || goes_back || joins_upstream);
        if names_any || is_open && !matches!(leaves, Leaves::Cleaned(_) | Leaves::Removed | Leaves::Stashed) {
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
            || word.contains(['*', '?', '[', '\\'])
            || std::fs::symlink_metadata(self.cwd.join(word)).is_ok()
            || self.tracked.keys().any(|name| paths::is_within(name, word.trim_end_matches('/')))
    }

    /// The objects that a word means, each with what it is laid beside; none where it means nothing to git.
    fn ids(&mut self, leaves: Leaves, word: &str) -> Looked<Vec<(Beside, Id)>> {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if leaves == Leaves::Stashed {
            let name = if is_number { format!("stash@{{{word}}}") } else { word.to_owned() };
            // Any commit that looks like one does.
            return if name.is_empty() { Ok(Vec::new()) } else { self.stashed(&name) };
        }
        if word == "-" {
            let before = self.where_it_was()?;
            return Ok(before.into_iter().map(|id| (Beside::Head, id)).collect());
        }
        // A message. Of revisions only those that search have blanks.
        if word.is_empty() || word.contains(char::is_whitespace) && !word.contains('{') && !word.starts_with(":/") {
            return Ok(Vec::new());
        }
        // What is counted from what is checked out, or from what it was, is another one behind a commit.
        if self.before.moved_head && word.contains(['~', '^', '@']) {
            let mut found = self.ancestors(word)?;
            let logged = if word.contains('@') { self.logged("HEAD")? } else { Vec::new() };
            for name in logged {
                if let Ok(Meaning::Objects(ids)) = revisions::meaning(self.repository, &mut self.objects, &name) {
                    found.extend(ids);
                }
            }
            return Ok(found.into_iter().map(|id| (Beside::Head, id)).collect());
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

    /// The commits that what is checked out goes back to, as many as a word counts and some more.
    fn ancestors(&mut self, word: &str) -> Looked<Vec<Id>> {
        const MORE: usize = 16;
        let numbers =
            word.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse::<usize>().ok());
        let steps = numbers.chain([word.matches(['~', '^']).count()]).max().unwrap_or_default() + MORE;
        if steps > MAX_REFS {
            return Err("it counts further than is looked".to_owned());
        }
        let mut found = self.heads.clone();
        let mut last = found.clone();
        for _ in 0..steps {
            let mut parents = Vec::new();
            for id in &last {
                let id = peeled(&mut self.objects, id)?;
                parents.extend(self.objects.commit(&id)?.parents);
            }
            parents.retain(|id| !found.contains(id));
            if parents.is_empty() || found.len() > MAX_REFS {
                break;
            }
            found.extend(parents.iter().cloned());
            last = parents;
        }
        Ok(found)
    }

    /// What a name meant before, by the numbers of its log.
    fn logged(&self, name: &str) -> Looked<Vec<String>> {
        let folder = if name == "HEAD" { &self.repository.git_dir } else { &self.repository.common };
        let path = folder.join("logs").join(name);
        let text = existing(read_text(&path)).map_err(|error| format!("{} ({error})", path.display()))?;
        let lines = text.unwrap_or_default().lines().take(MAX_REFS).count();
        Ok((0..lines).map(|number| format!("{name}@{{{number}}}")).collect())
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
    fn where_it_was(&mut self) -> Looked<Vec<Id>> {
        let path = self.repository.git_dir.join("logs/HEAD");
        let text = existing(read_text(&path)).map_err(|error| format!("{} ({error})", path.display()))?;
        let text = text.unwrap_or_default();
        let moved = text.lines().rev().find_map(|line| line.split_once("\tcheckout: moving from ").map(|(_, how)| how));
        let Some((from, _)) = moved.and_then(|how| how.split_once(" to ")) else { return Ok(Vec::new()) };
        match revisions::meaning(self.repository, &mut self.objects, from)? {
            Meaning::Objects(ids) => Ok(ids),
            _ => Ok(Vec::new()),
        }
    }

    /// A branch that only remotes have, by its name without theirs: git makes one of the same name from it.
    fn of_a_remote(&mut self, name: &str) -> Looked<Vec<(Beside, Id)>> {
        let mut found = Vec::new();
        if name.is_empty() {
            return Ok(found);
        }
        for remote in self.remotes() {
            let name = format!("refs/remotes/{remote}/{name}");
            match revisions::meaning(self.repository, &mut self.objects, &name) {
                Ok(Meaning::Objects(ids)) => found.extend(ids.into_iter().map(|id| (Beside::Head, id))),
                Ok(_) => {}
                Err(_) => found.extend(self.every()?),
            }
        }
        Ok(found)
    }

    /// Remotes of which something was fetched.
    fn remotes(&self) -> BTreeSet<String> {
        let listed = std::fs::read_dir(self.repository.common.join("refs/remotes")).into_iter().flatten().flatten();
        let mut remotes: BTreeSet<String> =
            listed.filter_map(|entry| entry.file_name().into_string().ok()).take(MAX_REFS).collect();
        // Those of which all is packed.
        let packed = read_text(&self.repository.common.join("packed-refs")).unwrap_or_default();
        let names = packed.lines().filter_map(|line| line.split_once(" refs/remotes/")?.1.split('/').next());
        remotes.extend(names.take(MAX_REFS).map(str::to_owned));
        remotes.insert("origin".to_owned());
        remotes
    }

    /// What was fetched last, what the branch that is checked out is set to follow, and what remotes call as it is called.
    fn upstream(&mut self) -> Looked<Vec<(Beside, Id)>> {
        let branch = self.branch.clone();
        let mut names: BTreeSet<String> =
            self.remotes().into_iter().map(|remote| format!("{remote}/{branch}")).collect();
        names.insert("FETCH_HEAD".to_owned());
        // What the call or its environment says, or other files that these name, is not looked at.
        if self.before.told_settings {
            return self.every();
        }
        let own = [self.repository.common.join("config"), self.repository.git_dir.join("config.worktree")];
        let mut settings = Vec::new();
        for path in files_outside().into_iter().chain(own) {
            let text = existing(read_text(&path)).map_err(|error| format!("{} ({error})", path.display()))?;
            match config::read(&text.unwrap_or_default()) {
                Some(read) => settings.extend(read),
                None => return self.every(),
            }
        }
        if settings.iter().any(|setting| setting.key.starts_with("include")) {
            return self.every();
        }
        let set = |name: &str| {
            let key = format!("branch.{branch}.{name}");
            settings.iter().rfind(|setting| setting.key == key).map(|setting| setting.value.clone())
        };
        if let Some(merged) = set("merge") {
            let short = merged.strip_prefix("refs/heads/").unwrap_or(&merged).to_owned();
            match set("remote") {
                Some(remote) if remote != "." => names.insert(format!("{remote}/{short}")),
                _ => names.insert(merged),
            };
        }
        let mut found = Vec::new();
        for name in names {
            if let Meaning::Objects(ids) = revisions::meaning(self.repository, &mut self.objects, &name)? {
                found.extend(ids.into_iter().map(|id| (Beside::Head, id)));
            }
        }
        Ok(found)
    }

    /// Whatever branches and tags there are: one of them is meant.
    pub(super) fn every(&mut self) -> Looked<Vec<(Beside, Id)>> {
        let all = every_ref(self.repository, true)?;
        if all.len() > MAX_REFS {
            return Err("which of its commits is meant is not known".to_owned());
        }
        Ok(all.into_iter().map(|id| (Beside::Head, id)).collect())
    }
}
