//! The order in which folders are looked at: what was there and is small comes first, so that nobody can put so much in the way
//! that the rest is not seen.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::later::Begun;

use super::seen::is_in;

/// Most names of a folder that is looked at before those that have fewer.
pub(super) const LARGE: usize = if cfg!(test) { 500 } else { 50_000 };

/// What of a folder is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it, if it is not large.
    Whole,
    /// Of a large one: folders, and names that matter.
    First,
    /// The rest of it.
    Rest,
}

/// Folders that have not been looked at.
#[derive(Debug, Default)]
pub(super) struct Waiting<'k> {
    /// What an earlier look has found; without one, everything was there.
    there: Option<&'k HashSet<u64>>,
    workspace: PathBuf,
    old: Vec<(PathBuf, Begun)>,
    /// Those that came since: first what begins a name that acts later.
    new: [Vec<(PathBuf, Begun)>; 2],
    large: Vec<(PathBuf, Begun)>,
    rest: Vec<(PathBuf, Begun)>,
}

impl<'k> Waiting<'k> {
    pub(super) fn new(workspace: &Path, begun: Begun, there: Option<&'k HashSet<u64>>) -> Self {
        Self { there, workspace: workspace.to_owned(), old: vec![(workspace.to_owned(), begun)], ..Self::default() }
    }

    /// Adds a folder.
    pub(super) fn add(&mut self, folder: PathBuf, begun: Begun) {
        let [begun_ones, others] = &mut self.new;
        let list = match begun {
            _ if self.there.is_none_or(|there| is_in(there, &folder, true)) => &mut self.old,
            Begun::No => others,
            Begun::With(_) | Begun::Yes => begun_ones,
        };
        list.push((folder, begun));
    }

    /// Puts a folder behind all that are small; the rest of it behind everything.
    pub(super) fn defer(&mut self, folder: PathBuf, begun: Begun, part: Part) {
        let list = if part == Part::Rest { &mut self.rest } else { &mut self.large };
        list.push((folder, begun));
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Option<(PathBuf, Begun, Part)> {
        let small = self.old.pop().or_else(|| self.new.iter_mut().find_map(Vec::pop));
        let found = small.map(|one| (one, Part::Whole));
        let found = found.or_else(|| self.large.pop().map(|one| (one, Part::First)));
        let ((folder, begun), part) = found.or_else(|| self.rest.pop().map(|one| (one, Part::Rest)))?;
        Some((folder, begun, part))
    }

    /// Those that are still to be looked at and were not there at the earlier look, without those that lie in others.
    pub(super) fn unseen_new(self, at: &Path) -> Vec<PathBuf> {
        let lists = self.new.iter().flatten().chain(&self.large).chain(&self.rest);
        let all = [at].into_iter().chain(lists.map(|(folder, _)| folder.as_path()));
        let is_new =
            |folder: &&Path| *folder != self.workspace && self.there.is_some_and(|there| !is_in(there, folder, true));
        let mut new: Vec<PathBuf> = all.filter(is_new).map(Path::to_owned).collect();
        new.sort();
        // In this order what lies in a folder stands behind it.
        new.dedup_by(|folder, before| folder.starts_with(before));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_and_is_small_comes_first() {
        let top = Path::new("/w");
        let there = [super::super::seen::number(Path::new("/w/old"), true)].into();
        let mut waiting = Waiting::new(top, Begun::No, Some(&there));
        assert_eq!(waiting.next().map(|(folder, ..)| folder), Some(top.to_owned()));
        waiting.defer("/w/huge".into(), Begun::No, Part::First);
        waiting.defer(top.to_owned(), Begun::No, Part::Rest);
        for name in ["/w/new", "/w/old", "/w/new2"] {
            waiting.add(name.into(), Begun::No);
        }
        let next = |waiting: &mut Waiting<'_>| waiting.next().map(|(folder, _, part)| (folder, part)).unwrap();
        assert_eq!(next(&mut waiting), ("/w/old".into(), Part::Whole));
        assert_eq!(next(&mut waiting), ("/w/new2".into(), Part::Whole));
        waiting.add("/w/new2/a".into(), Begun::No);
        assert_eq!(waiting.unseen_new(Path::new("/w/new2")), ["/w/huge", "/w/new", "/w/new2"].map(PathBuf::from));
    }
}
