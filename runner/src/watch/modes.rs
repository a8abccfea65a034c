//! The modes of folders in which files lie that act later, and of what gates an agent at home: a sandbox without mounts of its own keeps
//! nobody from closing what belongs to them, and an agent that cannot read its settings runs ungated.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_hook::gate::started;

use super::{Change, Violation};

/// Most files of settings at home that are remembered.
const MOST_AT_HOME: usize = 256;
/// Most programs that one of them names.
const MOST_NAMED: usize = 64;
/// The bits of a mode without which its owner cannot get in.
const OF_OWNER: u32 = 0o700;

/// Whether it was a folder, and its mode.
type Was = (bool, u32);

/// How they were.
#[derive(Debug, Default)]
pub(super) struct Modes(BTreeMap<PathBuf, Was>);

impl Modes {
    /// Those of the folders around these files of a workspace, and of what is at home and gates an agent.
    pub(super) fn around<'p>(workspace: &Path, files: impl Iterator<Item = &'p PathBuf>) -> Self {
        let mut found = Self::default();
        found.note(workspace);
        for file in files {
            for folder in file.ancestors().take_while(|folder| folder.starts_with(workspace)) {
                if !found.note(folder) {
                    break;
                }
            }
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let Some(home) = home else { return found };
        found.note(&home);
        // An agent reads those of the folders above as well.
        let above = workspace.ancestors().skip(1).map(Path::to_owned);
        for settings in started::settings_of(above.chain([home.clone()]).collect()).take(MOST_AT_HOME) {
            // And the programs that they name.
            let text = super::aside::whole_text_of(&settings).unwrap_or_default();
            let divides = |letter: char| letter.is_whitespace() || "\"'`;|&()<>=,:".contains(letter);
            let named = text.split(divides).filter_map(|word| {
                let inside = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|start| word.strip_prefix(start));
                inside.map(|inside| home.join(inside)).or_else(|| word.starts_with('/').then(|| PathBuf::from(word)))
            });
            let named: Vec<PathBuf> = named.filter(|path| path.is_file()).take(MOST_NAMED).collect();
            let own = settings.ancestors().take(2);
            let at_home = named.iter().chain([&settings]).flat_map(|file| file.ancestors());
            for path in own.chain(at_home.filter(|path| path.starts_with(&home))) {
                found.note(path);
            }
        }
        found
    }

    /// False for what was noted before, or is not there.
    fn note(&mut self, path: &Path) -> bool {
        let Ok(meta) = fs::symlink_metadata(path) else { return true };
        let was = (meta.is_dir(), meta.mode() & 0o7777);
        (meta.is_dir() || meta.is_file()) && self.0.insert(path.to_owned(), was).is_none()
    }

    /// Gives back what their owner may do with whatever has their names now. From the outermost inwards: what lies in a closed folder is not
    /// seen before that is open.
    pub(super) fn given_back(&self) -> Vec<Violation> {
        let mut told = Vec::new();
        for (path, (is_folder, mode)) in &self.0 {
            let Ok(now) = fs::symlink_metadata(path) else { continue };
            let is_closed = now.is_dir() == *is_folder && !now.is_symlink() && (mode & !now.mode()) & OF_OWNER != 0;
            if is_closed {
                let opened = fs::set_permissions(path, fs::Permissions::from_mode(*mode)).is_ok();
                told.push(Violation::of(path, if opened { Change::PutBack } else { Change::Modified }));
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_closes_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let settings = root.join("app/.claude/settings.json");
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, "{}").unwrap();
        let modes = Modes::around(&root, [settings.clone()].iter());
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(modes.given_back(), []);
        let before: Vec<u32> = settings.ancestors().take(4).map(mode).collect();
        for closed in [0, 0o300, 0o500] {
            for path in settings.ancestors().take(4) {
                set(path, closed);
            }
            assert_eq!(modes.given_back().len(), 4, "{closed:o}");
            assert_eq!(settings.ancestors().take(4).map(mode).collect::<Vec<_>>(), before);
        }
        // What became readable to more is another matter; and one that was exchanged is read as well.
        set(&settings, 0o777);
        assert_eq!(modes.given_back(), []);
        let folder = settings.parent().unwrap();
        fs::rename(folder, root.join("away")).unwrap();
        fs::create_dir(folder).unwrap();
        set(folder, 0);
        assert_eq!((modes.given_back().len(), mode(folder) & 0o700), (1, 0o700));
    }
}
