//! Which commits a word means (gitrevisions(7)).
//!
//! Of several meanings all count. A form that is not read here is a doubt, never nothing.

use std::path::Path;

use super::objects::{Id, Kind, Looked, Objects};
use super::{Repository, existing};

/// Most steps from tags to what they point at, and from refs to refs.
const MAX_STEPS: usize = 16;
/// Most refs.
const MAX_REFS: usize = 20_000;

/// What a word means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// One object, or several where it is not told which.
    Objects(Vec<Id>),
    /// What leads to the second and not to the first: `A..B`.
    Range(Vec<Id>, Vec<Id>),
    /// What leads to one of them and not to both: `A...B`.
    Either(Vec<Id>, Vec<Id>),
    /// What leads there is left out: `^A`.
    Not(Vec<Id>),
    /// A commit without those that lead to it: `A^!`.
    Alone(Vec<Id>),
    /// A file or folder of a commit, by its path: `A:path`.
    Inside(Vec<Id>, String),
    /// Nothing that git knows.
    Nothing,
}

/// What a word means there.
pub(super) fn meaning(repository: &Repository, objects: &mut Objects, word: &str) -> Looked<Meaning> {
    let mut one = |word: &str| resolve(repository, objects, if word.is_empty() { "HEAD" } else { word });
    let all =
        |ids: Option<Vec<Id>>, word: &str| ids.ok_or_else(|| format!("it is not known what `{word}` means to git"));
    if let Some((from, to)) = word.split_once("...") {
        return Ok(Meaning::Either(all(one(from)?, word)?, all(one(to)?, word)?));
    }
    // `../x` is a path.
    if let Some((from, to)) = word.split_once("..").filter(|(_, to)| !to.starts_with('/') && word != "..") {
        return Ok(Meaning::Range(all(one(from)?, word)?, all(one(to)?, word)?));
    }
    if let Some(left_out) = word.strip_prefix('^') {
        return Ok(Meaning::Not(all(one(left_out)?, word)?));
    }
    if let Some(alone) = word.strip_suffix("^!") {
        return Ok(Meaning::Alone(all(one(alone)?, word)?));
    }
    if let Some((of, path)) = word.split_once(':').filter(|(of, _)| !of.contains('{')) {
        // `:/text` searches, `:(magic)` is a path, `:path` and `:1:path` are of the index.
        if of.is_empty() {
            return if path.starts_with('/') { doubt(word) } else { Ok(Meaning::Nothing) };
        }
        return Ok(Meaning::Inside(all(one(of)?, word)?, path.to_owned()));
    }
    Ok(one(word)?.map_or(Meaning::Nothing, Meaning::Objects))
}

fn doubt<T>(word: &str) -> Looked<T> {
    Err(format!("it is not known what `{word}` means to git"))
}

/// The objects that a word means which names one; `None` where it names none.
fn resolve(repository: &Repository, objects: &mut Objects, word: &str) -> Looked<Option<Vec<Id>>> {
    let start = if word.starts_with('@') && !word.starts_with("@{") {
        1
    } else {
        word.find(['^', '~']).into_iter().chain(word.find("@{")).min().unwrap_or(word.len())
    };
    let (base, steps) = word.split_at(start);
    let base = if matches!(base, "@" | "") { "HEAD" } else { base };
    let mut steps = steps;
    let mut ids = if let Some(rest) = steps.strip_prefix("@{") {
        let (number, rest) = rest.split_once('}').ok_or_else(|| format!("`{word}` is no revision"))?;
        let Ok(number) = number.parse::<usize>() else { return doubt(word) };
        steps = rest;
        from_log(repository, base, number)?
    } else {
        named(repository, objects, base)?
    };
    if ids.is_empty() {
        return if steps.is_empty() { Ok(None) } else { doubt(word) };
    }
    while let Some(step) = steps.chars().next() {
        let rest = steps.get(1..).unwrap_or_default();
        if let Some(kind) = rest.strip_prefix('{').filter(|_| step == '^') {
            let (kind, rest) = kind.split_once('}').ok_or_else(|| format!("`{word}` is no revision"))?;
            // A folder of it is shown by its names.
            if !matches!(kind, "" | "commit" | "object" | "tree") {
                return doubt(word);
            }
            steps = rest;
            continue;
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, rest) = rest.split_at(digits);
        let Ok(number) = (if number.is_empty() { Ok(1) } else { number.parse::<usize>() }) else { return doubt(word) };
        steps = rest;
        let mut next = Vec::new();
        for id in ids {
            next.extend(match step {
                '~' => generations_before(objects, &id, number)?,
                '^' => parent(objects, &id, number)?,
                _ => return doubt(word),
            });
        }
        ids = next;
        if ids.is_empty() {
            // It is before the first one.
            return doubt(word);
        }
    }
    // Of several, git takes one, and which one is no business of ours.
    if ids.len() > 1 { doubt(word) } else { Ok(Some(ids)) }
}

fn generations_before(objects: &mut Objects, id: &Id, number: usize) -> Looked<Option<Id>> {
    let mut id = Some(peeled(objects, id)?);
    for _ in 0..number {
        let Some(here) = id else { break };
        id = objects.commit(&here)?.parents.into_iter().next();
    }
    Ok(id)
}

fn parent(objects: &mut Objects, id: &Id, number: usize) -> Looked<Option<Id>> {
    let id = peeled(objects, id)?;
    if number == 0 {
        return Ok(Some(id));
    }
    Ok(objects.commit(&id)?.parents.into_iter().nth(number - 1))
}

/// What stands behind tags.
pub(super) fn peeled(objects: &mut Objects, id: &Id) -> Looked<Id> {
    let mut id = id.clone();
    for _ in 0..MAX_STEPS {
        let object = objects.get(&id)?;
        if object.kind != Kind::Tag {
            return Ok(id);
        }
        let text = String::from_utf8_lossy(&object.bytes);
        let target = text.lines().next().and_then(|line| line.strip_prefix("object ")).and_then(Id::parse);
        id = target.ok_or("a tag of nothing")?;
    }
    Err("a tag of a tag of a tag".to_owned())
}

/// What a name without steps means: a ref, or the beginning of a number.
fn named(repository: &Repository, objects: &mut Objects, name: &str) -> Looked<Vec<Id>> {
    let mut found = Vec::new();
    if is_name(name) {
        for name in whole_names(name).chain([format!("refs/remotes/{name}/HEAD")]) {
            found.extend(of_ref(repository, &name)?);
        }
    }
    // `v1.0-3-gabcdef` is what `git describe` says.
    let described = name.rsplit_once("-g").map(|(_, digits)| digits);
    for digits in [Some(name), described].into_iter().flatten() {
        if (4..=64).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            found.extend(objects.beginning_with(digits)?);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The whole names of refs that a short one may stand for.
fn whole_names(name: &str) -> impl Iterator<Item = String> {
    ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].into_iter().map(move |start| format!("{start}{name}"))
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 1024
        && !name.starts_with(['/', '-', '.'])
        && !name.contains("..")
        && !name.contains([':', '\\', '*', '?', '[', ' '])
        && !name.contains(char::is_control)
}

/// What a ref points at, by its whole name.
fn of_ref(repository: &Repository, name: &str) -> Looked<Option<Id>> {
    let mut name = name.to_owned();
    for _ in 0..MAX_STEPS {
        let mut text = None;
        for folder in repository.folders() {
            let path = folder.join(&name);
            if std::fs::metadata(&path).is_ok_and(|meta| meta.is_file()) {
                let read =
                    super::read_text(&path).map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
                text = Some(read);
                break;
            }
        }
        let Some(text) = text else { return packed(repository, &name) };
        // So a fetch leaves it that brought nothing.
        if name == "FETCH_HEAD" && text.is_empty() {
            return Ok(None);
        }
        match text.strip_prefix("ref:") {
            Some(next) if is_name(next.trim()) => next.trim().clone_into(&mut name),
            Some(_) => return Err(format!("{name} leads to what is no name")),
            // Behind it, `FETCH_HEAD` says from where it came.
            None => {
                let id = text.split(char::is_whitespace).next().and_then(Id::parse);
                return id.map(Some).ok_or_else(|| format!("{name} is not as git writes it"));
            }
        }
    }
    Err(format!("{name} leads in a ring"))
}

fn packed_refs(repository: &Repository) -> Looked<String> {
    let path = repository.common.join("packed-refs");
    let text = existing(super::read_text(&path))
        .map(Option::unwrap_or_default)
        .map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
    // Git believes the list to be in order where it says so, and finds others, or none, where it is not.
    let says_so = |line: &str| line.starts_with('#') && line.contains("sorted");
    // It packs references alone, but takes any name that stands there for one, behind any blank, and, where it searches, behind anything.
    let is_written_by_git = |(at, line): (usize, &str)| {
        let is_name =
            |name: &str| name.starts_with("refs/") && !name.contains(|c: char| c.is_whitespace() || c.is_control());
        match (line.strip_prefix('#'), line.strip_prefix('^')) {
            (Some(_), _) => at == 0,
            (None, Some(id)) => at > 0 && Id::parse(id).is_some(),
            (None, None) => line.split_once(' ').is_some_and(|(id, name)| Id::parse(id).is_some() && is_name(name)),
        }
    };
    if (!text.is_empty() && !text.ends_with('\n')) || !text.split_terminator('\n').enumerate().all(is_written_by_git) {
        return Err(format!("{} is not as git writes it", path.display()));
    }
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    let names = lines.filter_map(|line| line.split_once(' '));
    if text.lines().any(says_so) && !names.is_sorted_by(|(_, one), (_, next)| one < next) {
        return Err(format!("{} is not in order", path.display()));
    }
    Ok(text)
}

fn packed(repository: &Repository, name: &str) -> Looked<Option<Id>> {
    let text = packed_refs(repository)?;
    let mut all = text.lines().filter_map(|line| line.split_once(' ')).filter(|(_, known)| *known == name);
    let first = all.next();
    // Git searches from the middle, and meets either.
    if all.any(|other| Some(other) != first) {
        return Err(format!("packed-refs says of {name} more than one thing"));
    }
    Ok(first.and_then(|(id, _)| Id::parse(id)))
}

/// The only name of what was stashed.
const STASH: &str = "refs/stash";

/// What every ref points at; what was stashed, and not dropped, only where that is asked for.
pub(super) fn every_ref(repository: &Repository, stashes: bool) -> Looked<Vec<Id>> {
    let trouble = |path: &Path, error: &std::io::Error| format!("{} cannot be read ({error})", path.display());
    let mut found: Vec<Id> = packed_refs(repository)?
        .lines()
        .filter_map(|line| {
            line.split_once(' ').filter(|(_, name)| stashes || *name != STASH).and_then(|(id, _)| Id::parse(id))
        })
        .collect();
    let mut waiting: Vec<_> = repository.folders().map(|folder| folder.join("refs")).collect();
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        seen += 1;
        if seen > MAX_REFS || found.len() > MAX_REFS {
            return Err("there are more branches and tags than are looked at".to_owned());
        }
        let Some(meta) = existing(std::fs::metadata(&path)).map_err(|error| trouble(&path, &error))? else { continue };
        if meta.is_dir() {
            for entry in std::fs::read_dir(&path).map_err(|error| trouble(&path, &error))? {
                waiting.push(entry.map_err(|error| trouble(&path, &error))?.path());
            }
        } else if meta.is_file() && (stashes || !repository.folders().any(|folder| folder.join(STASH) == path)) {
            let text = super::read_text(&path).map_err(|error| trouble(&path, &error))?;
            let line = text.strip_suffix('\n').unwrap_or(&text);
            match (Id::parse(line), line.strip_prefix("ref: refs/")) {
                (Some(id), _) => found.push(id),
                // What it stands for lies here as well.
                (None, Some(name)) if is_name(name) && name != "stash" => {}
                (None, _) => return Err(format!("{} is not as git writes it", path.display())),
            }
        }
    }
    found.extend(of_ref(repository, "HEAD")?);
    for log in repository.folders().map(|folder| folder.join("logs").join(STASH)).filter(|_| stashes) {
        let text = existing(super::read_text(&log)).map_err(|error| trouble(&log, &error))?.unwrap_or_default();
        found.extend(text.lines().filter_map(|line| Id::parse(line.split(' ').nth(1)?)));
        if found.len() > MAX_REFS {
            return Err("there is more stashed than is looked at".to_owned());
        }
    }
    // What is checked out elsewhere: `--all` takes it, too.
    let others = existing(std::fs::read_dir(repository.common.join("worktrees")))
        .map_err(|error| trouble(&repository.common, &error))?;
    for other in others.into_iter().flatten().flatten().take(MAX_REFS) {
        let head = other.path().join("HEAD");
        let text = existing(super::read_text(&head)).map_err(|error| trouble(&head, &error))?.unwrap_or_default();
        found.extend(Id::parse(text.trim()));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// True where other objects are shown in the place of those that are named.
pub(super) fn replaces_objects(repository: &Repository) -> Looked<bool> {
    let has_own =
        std::fs::read_dir(repository.common.join("refs/replace")).is_ok_and(|mut names| names.next().is_some());
    let has_grafts = std::fs::symlink_metadata(repository.common.join("info/grafts")).is_ok();
    Ok(has_own || has_grafts || packed_refs(repository)?.lines().any(|line| line.contains(" refs/replace/")))
}

/// Commits that this repository has without those that lead to them.
pub(super) fn without_parents(repository: &Repository) -> Looked<Vec<Id>> {
    let path = repository.common.join("shallow");
    let text =
        existing(super::read_text(&path)).map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
    let line = |line: &str| Id::parse(line).ok_or_else(|| format!("{} is not as git writes it", path.display()));
    text.unwrap_or_default().lines().map(line).collect()
}

/// What a ref pointed at some steps ago, by its log.
fn from_log(repository: &Repository, name: &str, number: usize) -> Looked<Vec<Id>> {
    if !is_name(name) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for name in whole_names(name) {
        for folder in repository.folders() {
            let path = folder.join("logs").join(&name);
            if !path.is_file() {
                continue;
            }
            let text =
                super::read_text(&path).map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
            let new = |line: &str| line.split(' ').nth(1).and_then(Id::parse);
            // The oldest line has one more in front of it.
            let line = text.lines().rev().nth(number).and_then(new);
            found.extend(line.or_else(|| {
                (text.lines().count() == number)
                    .then(|| text.lines().next()?.split(' ').next().and_then(Id::parse))
                    .flatten()
            }));
        }
    }
    if found.is_empty() { doubt(&format!("{name}@{{{number}}}")) } else { Ok(found) }
}
