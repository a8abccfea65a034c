//! What comes to lie somewhere because a whole folder is copied there: no text names it.

use std::path::{Path, PathBuf};

use bashgate_shared::classify::{EACH_BELOW, Effects};

use super::place;
use crate::gate::acting::project_of;

/// Most names in copied folders that are looked at.
const MAX_NAMES: usize = 4000;

/// The files that arrive in a project, or at home, with copied folders, by the names that they get there; and whether that is all.
pub(super) fn arriving(effects: &Effects, cwd: &Path) -> (Vec<PathBuf>, bool) {
    // Of most commands nothing is asked here.
    if effects.copies.is_empty() {
        return (Vec::new(), true);
    }
    let project = project_of(cwd);
    let home = super::home();
    let (mut arrive, mut left) = (Vec::new(), MAX_NAMES);
    let is_all = effects.has_all_copies();
    for (from, to) in &effects.copies {
        let (Some(from), Some(to)) = (place(from, cwd), place(to, cwd)) else { continue };
        // Without the dots in the middle.
        let [from, to] = [from, to].map(|path| path.components().collect::<PathBuf>());
        let each = from.file_name().is_some_and(|name| name == EACH_BELOW);
        let from = if each { from.parent().map(Path::to_owned).unwrap_or_default() } else { from };
        // Elsewhere nobody works with it.
        let counts = |folder: &Path| to.starts_with(folder) || folder.starts_with(&to);
        if !from.is_dir() || !(counts(&project) || home.as_deref().is_some_and(counts)) {
            continue;
        }
        // Into a folder that is there it comes with its name, and to one that is not without it; `from/.` always without.
        let is_there = to.is_dir();
        let with_name = from.file_name().map(|name| to.join(name)).filter(|_| is_there);
        let mut waiting = vec![from.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Some(rest) = left.checked_sub(1) else { return (arrive, false) };
                left = rest;
                let path = entry.path();
                // Inside of git's own store no name says anything.
                if path.is_dir() && !path.is_symlink() && entry.file_name() != "objects" {
                    waiting.push(path.clone());
                }
                let Ok(inside) = path.strip_prefix(&from) else { continue };
                if each {
                    let steps: Vec<_> = inside.components().collect();
                    arrive.extend((1..steps.len()).map(|at| to.join(steps.iter().skip(at).collect::<PathBuf>())));
                }
                arrive.extend(std::iter::once(to.join(inside)).chain(with_name.as_ref().map(|name| name.join(inside))));
            }
        }
    }
    (arrive, is_all)
}
