//! What git does in a repository by itself: its settings, hooks and submodules.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::{Effects, git_config, paths};
use bashgate_shared::programs;

use super::told::{Told, files_of, unknown};
use super::{Gathered, MAX_FILES};
use crate::gate::conditions::place;
use crate::gate::git;
use crate::gate::listing::tidy;

/// Most remotes that settings name as those that are used.
const MAX_USUAL: usize = 1000;
/// Deepest folder of submodules that is looked at.
const MAX_DEPTH: usize = 12;

impl Gathered<'_> {
    /// The settings of every repository in which git talks to a remote.
    /// These words may name one where the text does not say for certain which it is: `git -C $PWD/p`.
    pub(super) fn add_git(&mut self, effects: &Effects, words: &[&str]) {
        if !effects.programs.iter().any(|program| programs::is_git(program)) {
            return;
        }
        let leaves = !effects.network.is_empty();
        let told = if leaves { Told::Remotes } else { Told::Digest };
        let mut folders = folders_of_git(effects);
        let is_one = |folder: &PathBuf| [".git", "HEAD"].iter().any(|name| folder.join(name).exists());
        let meant = self.folders_meant(words).into_iter().filter(is_one);
        folders.extend(meant.map(|folder| folder.to_string_lossy().into_owned()).collect::<Vec<_>>());
        folders.dedup();
        // Without a digest: such an answer is for once.
        let mut is_unknown = folders.iter().any(|folder| folder == "?");
        for folder in folders.iter().filter_map(|folder| place(folder, self.cwd)) {
            let repositories = git::repositories(&folder);
            is_unknown |= repositories.is_err();
            let repositories = repositories.unwrap_or_default();
            self.remotes.extend(repositories.iter().flat_map(usual_remotes));
            let inside = repositories.iter().flat_map(git::Repository::files);
            for file in inside.chain(git::files_outside()) {
                self.add(&file.to_string_lossy(), told);
            }
            // The branch that is checked out says what goes where.
            for repository in repositories.iter().filter(|_| leaves) {
                self.add(&repository.git_dir.join("HEAD").to_string_lossy(), Told::Digest);
            }
            for repository in &repositories {
                self.add_hooks(repository, effects);
            }
            // Where a remote is a folder, its own hooks run here.
            let (beyond, is_all) = repositories_beyond(&repositories, &self.remotes, &folder);
            is_unknown |= !is_all;
            for there in beyond {
                for file in there.files() {
                    self.add(&file.to_string_lossy(), Told::Digest);
                }
                self.add_hooks(&there, effects);
                // Hooks elsewhere, what its settings include, and what else they name.
                let (named, is_all) = git::named::started(&there.root);
                is_unknown |= !is_all;
                for file in named.iter().flat_map(|path| files_of(path)) {
                    self.add(&file.to_string_lossy(), Told::Head);
                }
            }
            // What settings include, and remotes of the older forms.
            let more = repositories
                .iter()
                .flat_map(|repository| ["remotes", "branches"].map(|name| repository.common.join(name)));
            let named = git::named::for_remotes(&folder).ok().flatten();
            is_unknown |= named.is_none();
            for path in more.chain(named.unwrap_or_default()) {
                for file in files_of(&path) {
                    // What may be executed is more likely a hook or a helper than settings, and a ref is neither.
                    let is_code = std::fs::metadata(&file).is_ok_and(|meta| meta.mode() & 0o111 != 0);
                    let is_ref = repositories.iter().any(|one| file.starts_with(one.common.join("refs")));
                    let told = if is_ref { Told::Digest } else { told };
                    self.add(&file.to_string_lossy(), if is_code { Told::Head } else { told });
                }
            }
            // What git shows of a repository may be what another program sends.
            let sends = effects.network.iter().any(|used| used.program != "git");
            for repository in repositories.iter().filter(|_| sends) {
                self.add_folder(&repository.root.to_string_lossy());
                if !repository.common.starts_with(&repository.root) {
                    self.add_folder(&repository.common.to_string_lossy());
                }
            }
            for repository in &repositories {
                for name in [".lfsconfig", ".gitmodules"] {
                    self.add(&repository.root.join(name).to_string_lossy(), Told::Digest);
                }
                is_unknown |= !self.add_submodules(repository, effects);
            }
        }
        if is_unknown {
            self.found.push(unknown("settings of git that are only known when it runs"));
        }
    }

    /// Hooks that it runs on the way are code: those first that this command may start.
    fn add_hooks(&mut self, repository: &git::Repository, effects: &Effects) {
        let mut files = files_of(&repository.common.join("hooks"));
        files.sort_by_cached_key(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_started = programs::is_git_hook(&name)
                && effects.git.iter().any(|subcommand| programs::starts_hook(subcommand, &name));
            let is_alike = effects.git.iter().any(|subcommand| name.contains(subcommand.as_str()));
            (!is_started, !is_alike, !programs::is_git_hook(&name), name)
        });
        for file in &files {
            self.add(&file.to_string_lossy(), Told::Head);
        }
        let is_started = |file: &&PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            effects.git.iter().any(|subcommand| programs::starts_hook(subcommand, &name))
        };
        let started: Vec<PathBuf> = files.iter().filter(is_started).cloned().collect();
        self.add_started_by((&started, &[], HashSet::new()), &repository.root);
    }

    /// The settings and hooks of a repository's submodules, which are sent or fetched with it. False where there are more than are
    /// looked at, or some that cannot be read.
    fn add_submodules(&mut self, repository: &git::Repository, effects: &Effects) -> bool {
        let mut waiting = vec![(repository.common.join("modules"), 0)];
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut seen = 0;
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MAX_FILES || depth > MAX_DEPTH {
                    return false;
                }
                let path = entry.path();
                if path.is_dir() && entry.file_name() != "objects" {
                    if path.join("HEAD").exists() {
                        folders.push(path.clone());
                    }
                    waiting.push((path, depth + 1));
                }
            }
        }
        // Those of the older form, with a repository of their own in the working tree.
        let listed = std::fs::read_to_string(repository.root.join(".gitmodules")).unwrap_or_default();
        let paths = listed.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim_start().strip_prefix('='));
        folders.extend(
            paths
                .map(|path| repository.root.join(path.trim().trim_matches('"')).join(".git"))
                .filter(|git| git.is_dir()),
        );
        let mut is_all = true;
        for git_dir in folders {
            let submodule = submodule(git_dir);
            for file in submodule.files() {
                self.add(&file.to_string_lossy(), Told::Remotes);
            }
            self.add_hooks(&submodule, effects);
            let (named, is_whole) = git::named::of_all(std::slice::from_ref(&submodule));
            is_all &= is_whole;
            for file in named.iter().flat_map(|path| files_of(path)) {
                self.add(&file.to_string_lossy(), Told::Head);
            }
        }
        is_all
    }
}

/// The repository of a submodule: where its files lie, its settings say.
fn submodule(git_dir: PathBuf) -> git::Repository {
    let settings = git::read_text(&git_dir.join("config")).ok().and_then(|text| git::config::read(&text));
    let worktree = settings.into_iter().flatten().rfind(|setting| setting.key == "core.worktree");
    let root = match worktree {
        Some(worktree) => tidy(&git_dir.join(worktree.value)),
        None if git_dir.file_name().is_some_and(|name| name == ".git") => {
            git_dir.parent().unwrap_or(&git_dir).to_owned()
        }
        None => git_dir.clone(),
    };
    git::Repository { common: git_dir.clone(), git_dir, root }
}

/// The folders in which a command calls git.
pub(in crate::gate) fn folders_of_git(effects: &Effects) -> Vec<String> {
    if effects.git_in.is_empty() { vec![".".to_owned()] } else { effects.git_in.clone() }
}

/// Most places that words and settings name as repositories.
const MAX_BEYOND: usize = 64;

/// The repositories on this machine that words of the command, or settings of these repositories, name by a path or a `file:` address,
/// and whether that is all.
fn repositories_beyond(
    repositories: &[git::Repository],
    words: &BTreeSet<String>,
    folder: &Path,
) -> (Vec<git::Repository>, bool) {
    let files = repositories.iter().flat_map(git::Repository::files).chain(git::files_outside());
    let texts = files.filter_map(|file| git::read_text(&file).ok());
    let settings: Vec<_> = texts.filter_map(|text| git::config::read(&text)).flatten().collect();
    let mut named: BTreeSet<String> = settings.iter().map(|setting| setting.value.clone()).collect();
    named.extend(words.iter().cloned());
    // `[url "../"] insteadOf = h:` puts a folder in an address's place.
    for setting in &settings {
        let lower = setting.key.to_ascii_lowercase();
        let is_base = lower.ends_with(".insteadof") || lower.ends_with(".pushinsteadof");
        let Some(base) = setting.key.get(4..).filter(|_| lower.starts_with("url.") && is_base) else { continue };
        let base = base.rsplit_once('.').map_or(base, |(base, _)| base);
        let behind: Vec<String> = named
            .iter()
            .filter_map(|name| name.strip_prefix(setting.value.as_str()))
            .map(|rest| format!("{base}{rest}"))
            .collect();
        named.extend(behind);
    }
    let (mut found, mut is_all, mut seen): (Vec<git::Repository>, bool, BTreeSet<PathBuf>) =
        (Vec::new(), true, BTreeSet::new());
    for name in named.iter().filter(|name| !name.is_empty() && !name.starts_with('-')) {
        let path = paths::of_address(name).unwrap_or(name);
        for path in [path.to_owned(), programs::percent_decoded(path), format!("{path}.git")] {
            // A remote is the very folder that is named.
            let there = place(&path, folder).and_then(|there| there.canonicalize().ok());
            let Some(there) = there.filter(|there| there.join(".git").exists() || there.join("HEAD").exists()) else {
                continue;
            };
            if !seen.insert(there.clone()) || repositories.iter().any(|known| known.root == there) {
                continue;
            }
            let Ok(all) = git::repositories(&there) else {
                is_all = false;
                continue;
            };
            is_all &= found.len() < MAX_BEYOND;
            found
                .extend(all.into_iter().filter(|one| one.root == there).take(MAX_BEYOND - found.len().min(MAX_BEYOND)));
        }
    }
    (found, is_all)
}

/// What git goes to where the command names no remote: by the branch that is checked out.
fn usual_remotes(repository: &git::Repository) -> Vec<String> {
    let text = |file: &Path| git::read_text(file).unwrap_or_default();
    let head = text(&repository.git_dir.join("HEAD"));
    let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap_or_default().to_owned();
    let settings = repository.files().into_iter().filter_map(|file| git::config::read(&text(&file))).flatten();
    let is_usual = |key: &str| {
        let lower = key.to_ascii_lowercase();
        lower == "remote.pushdefault" || git_config::is_of_branch(key, &branch)
    };
    let usual = settings.filter(|setting| is_usual(&setting.key)).map(|setting| setting.value);
    let mut all: Vec<String> = usual.collect();
    // The last one counts.
    all.drain(..all.len().saturating_sub(MAX_USUAL));
    all.extend([branch, "origin".to_owned()]);
    all
}

/// The settings by which git finds out where it sends, a line each: first those that change what a remote's address says.
pub(super) fn remotes(text: &str, named: &BTreeSet<String>) -> String {
    let Some(settings) = git::config::read(text) else {
        return "(settings that are not understood here; git may understand them)\n".to_owned();
    };
    // What people and git take for different keys is shown as what it is.
    let shown = |text: &str| {
        let is_plain = |c: char| c.is_ascii_graphic() && !"\"\\".contains(c);
        if text.chars().all(is_plain) { text.to_owned() } else { format!("{text:?}") }
    };
    let says = |setting: &&git::config::Setting| git_config::says_where(&setting.key, &setting.value);
    let mut lines: Vec<_> = settings.iter().filter(says).collect();
    // What is used stands in front of what is not, however much of that there is.
    lines.sort_by_cached_key(|setting| git_config::rank(&setting.key, &setting.value, named));
    lines
        .into_iter()
        .flat_map(|setting| [shown(&setting.key), " = ".to_owned(), setting.value.clone(), "\n".to_owned()])
        .collect()
}
