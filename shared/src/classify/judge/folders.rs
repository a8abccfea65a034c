//! Where a command runs: every folder that a `cd` on the way may have led to.

use super::Judge;
use crate::classify::call::Arg;
use crate::classify::{Condition, paths};

/// Most working directories that a command is followed through.
const MAX_FOLDERS: usize = 6;

/// A folder in which a command may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Folder {
    /// Where the whole command starts, when nobody said where that is.
    Start,
    /// Here: absolute, starting with `~`, or relative to the start.
    At(String),
    /// After a `cd` whose target is not known.
    Anywhere,
}

impl Judge<'_> {
    /// The next command may run in these folders, too.
    pub(super) fn also_in(&mut self, folders: &[Folder]) {
        for folder in folders {
            if !self.folders.contains(folder) {
                self.folders.push(folder.clone());
            }
        }
        if self.folders.len() > MAX_FOLDERS {
            self.folders = vec![Folder::Anywhere];
        }
    }

    /// The command moves to another folder; `None` for one that is not known.
    pub fn change_folder(&mut self, to: Option<&str>) {
        // Behind a wrapper another process may do it, which changes nothing here.
        let stays = if self.nested > 1 { self.folders.clone() } else { Vec::new() };
        // Up from a folder that was moved leads elsewhere.
        let Some(path) = to.filter(|path| !self.is_above_what_moved(path)) else {
            self.folders = vec![Folder::Anywhere];
            return;
        };
        // Where the folder that the text names is not there, the shell goes by the links on the way.
        let steps: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let goes_back_and_on = steps.contains(&"..") && steps.iter().any(|part| *part != "..");
        let mut next = Vec::new();
        for folder in &self.folders {
            let target = match folder {
                _ if path.starts_with(['/', '~']) => Folder::At(paths::resolve(None, path)),
                Folder::Start => Folder::At(paths::resolve(None, path)),
                Folder::At(folder) => Folder::At(paths::resolve(Some(folder), path)),
                Folder::Anywhere => Folder::Anywhere,
            };
            if !next.contains(&target) {
                next.push(target);
            }
        }
        if goes_back_and_on {
            for folder in &next {
                if let Folder::At(path) = folder {
                    self.condition(Condition::Folder { path: path.clone() });
                }
            }
        }
        self.climbed += usize::from(self.may_be_moved_beside(path));
        self.went += 1;
        self.folders = next;
        self.goes_behind();
        self.also_in(&stays);
    }

    /// Whatever has come in by now lies in front of a `cd`.
    fn goes_behind(&mut self) {
        if let Some(brought) = &mut self.brought {
            brought.goes_behind = true;
        }
    }

    /// Something is moved: behind a `cd` that may be the folder at hand, or one around it, and what is above it is another one then.
    pub fn may_move_folders(&mut self) {
        self.moved_behind += usize::from(self.folders.iter().any(|folder| *folder != Folder::Start));
        self.moved_beside += usize::from(self.apart > 0 || self.beside > 0);
    }

    /// What a `cd` is told, for where the text alone does not say what that is.
    pub fn may_go_to(&mut self, folder: &Arg) {
        self.goes_behind();
        if self.went_to.len() < MAX_FOLDERS {
            self.went_to.push(folder.clone());
        }
    }

    /// A relative path that goes up from a folder which may have been moved by now.
    pub(super) fn is_above_what_moved(&self, path: &str) -> bool {
        self.moved_behind > 0 && goes_up(path)
    }

    /// A relative path in a folder which may have been moved by now.
    pub(super) fn has_moved(&self, path: &str) -> bool {
        self.moved_behind > 0 && !path.starts_with(['/', '~'])
    }

    /// A relative path above a folder that a `cd` has led to: another command that runs beside this one may move that folder
    /// meanwhile.
    pub(super) fn may_be_moved_beside(&self, path: &str) -> bool {
        self.went > 0 && !path.starts_with(['/', '~']) && (self.climbed > 0 || climbs(path))
    }

    /// A relative path after a `cd` to an unknown place, and a path whose `..` the text cannot resolve.
    pub(super) fn is_lost(&self, path: &str) -> bool {
        let slippery = |path: &str| {
            path.split('/').any(|part| part == "..")
                && path.starts_with(['~', '/'])
                && ["~", "/dev", "/proc"].iter().any(|root| path.starts_with(root))
        };
        self.folders.iter().any(|folder| match folder {
            _ if path.starts_with(['/', '~']) => slippery(path),
            Folder::Anywhere => true,
            Folder::Start => false,
            Folder::At(folder) => self.is_above_what_moved(path) || slippery(&format!("{folder}/{path}")),
        })
    }

    /// The places that a path with `..` means, unresolved, so that whoever has the file system can follow its links.
    pub(super) fn unresolved(&self, path: &str) -> Vec<String> {
        if !path.split('/').any(|part| part == "..") {
            return Vec::new();
        }
        let joined = |folder: &Folder| match folder {
            Folder::At(folder) if !path.starts_with(['/', '~']) => format!("{folder}/{path}"),
            _ => path.to_owned(),
        };
        self.folders.iter().map(joined).collect()
    }

    /// Every place that a path can mean: as the text resolves it, and as the kernel does, which follows a link before it goes
    /// back.
    pub fn places(&self, path: &str) -> Vec<String> {
        let mut all = self.resolved(path);
        for place in self.unresolved(path) {
            if !all.contains(&place) {
                all.push(place);
            }
        }
        all
    }

    /// Every path that a literal argument can mean.
    pub(super) fn resolved(&self, path: &str) -> Vec<String> {
        let base = |folder: &'_ Folder| match folder {
            Folder::At(folder) => Some(folder.clone()),
            Folder::Start | Folder::Anywhere => None,
        };
        self.folders.iter().map(|folder| paths::resolve(base(folder).as_deref(), path)).collect()
    }

    /// The folders in which the call at hand may run, or `None` when that is not known.
    pub fn folders(&self) -> Option<Vec<String>> {
        let named = |folder: &Folder| match folder {
            Folder::Start => Some(".".to_owned()),
            Folder::At(folder) => Some(folder.clone()),
            Folder::Anywhere => None,
        };
        self.folders.iter().map(named).collect()
    }
}

/// True for a relative path on which `..` stands.
fn goes_up(path: &str) -> bool {
    !path.starts_with(['/', '~']) && path.split('/').any(|part| part == "..")
}

/// True for a relative path that leads above where it starts.
fn climbs(path: &str) -> bool {
    let mut depth = 0_i32;
    path.split('/').filter(|part| !part.is_empty() && *part != ".").any(|part| {
        depth += if part == ".." { -1 } else { 1 };
        depth < 0
    })
}
