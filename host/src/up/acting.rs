//! What acts later in a project: existing files are mounted read-only, what came or changed while an agent worked is told, and
//! set aside on request. The person's own git, editor and shell would run it outside of the container.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::later::{self, Tier};
use bashgate_shared::command::Digest;

/// Most names that are looked at.
const MAX_NAMES: usize = 200_000;
/// Most files and folders that are mounted.
pub const MAX_MOUNTS: usize = 256;
/// Folders that are as large as they are useless to look through: what acts in them is made anew by everyday tools.
const PASSED_OVER: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__"];

/// Files that act later, relative to the project, each with the digest of what is in it.
pub type Acting = BTreeMap<PathBuf, String>;

/// Looks through a project. What is a folder as a whole stands with every file in it. The second says whether all was seen.
pub fn look(project: &Path) -> (Acting, bool) {
    let cwd = project.to_string_lossy().into_owned();
    let mut found = Acting::new();
    let mut folders = vec![(PathBuf::new(), false)];
    let mut names = 0;
    while let Some((folder, all)) = folders.pop() {
        for entry in std::fs::read_dir(project.join(&folder)).into_iter().flatten().flatten() {
            names += 1;
            if names > MAX_NAMES {
                return (found, false);
            }
            let path = folder.join(entry.file_name());
            let acts = all || acts(project, &path, &cwd);
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                let is_passed = entry.file_name().to_str().is_some_and(|name| PASSED_OVER.contains(&name));
                // Git's own objects act through nothing.
                let is_objects = folder.ends_with(".git") && entry.file_name() == "objects";
                if !is_objects && (acts || !is_passed) {
                    folders.push((path, acts && !is_git(&folder.join(entry.file_name()))));
                }
            } else if acts {
                let digest = digest_of(&project.join(&path));
                found.insert(path, digest);
            }
        }
    }
    (found, true)
}

/// True for git's own folder: of what lies in it, only some act.
fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".git")
}

fn acts(project: &Path, path: &Path, cwd: &str) -> bool {
    let absolute = project.join(path);
    let Some(text) = absolute.to_str() else { return true };
    if path.components().any(|part| part.as_os_str() == ".git") {
        // What git writes with every commit steers nothing by itself.
        let of_git: Vec<_> =
            path.iter().skip_while(|part| *part != ".git").skip(1).filter_map(|part| part.to_str()).collect();
        return matches!(of_git.as_slice(), ["hooks" | "info", ..] | ["config" | "config.worktree"])
            || matches!(of_git.as_slice(), ["modules" | "worktrees", .., "config" | "config.worktree"])
            || of_git.contains(&"hooks");
    }
    later::of(text, Some(cwd)).is_some_and(|later| matches!(later.tier, Tier::Gate | Tier::ByItself))
}

fn digest_of(path: &Path) -> String {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => {
            let target = std::fs::read_link(path).unwrap_or_default();
            format!("link {}", Digest::of(target.as_os_str().as_encoded_bytes()).hex())
        }
        Ok(meta) if meta.is_file() && meta.len() <= 16 << 20 => {
            std::fs::read(path).map_or_else(|error| error.to_string(), |bytes| Digest::of(&bytes).hex())
        }
        Ok(meta) => format!("{} bytes", meta.len()),
        Err(error) => error.to_string(),
    }
}

/// What to mount read-only so that none of these can be changed: files, and folders in which everything acts.
pub fn mounts(project: &Path, acting: &Acting) -> Vec<PathBuf> {
    let cwd = project.to_string_lossy().into_owned();
    let mut found: Vec<PathBuf> = Vec::new();
    for path in acting.keys() {
        // The outermost folder that acts as a whole. Git's own folder is written by every commit.
        let whole = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty() && !is_git(folder));
        let whole = whole.filter(|folder| acts(project, folder, &cwd)).last().unwrap_or(path).to_owned();
        // A link is not mounted over, and leads where it leads.
        let is_link = project.join(&whole).is_symlink();
        if !is_link && !found.contains(&whole) {
            found.push(whole);
        }
    }
    found
}

/// What is new or another one now.
pub fn changes(before: &Acting, now: &Acting) -> Vec<PathBuf> {
    now.iter().filter(|(path, digest)| before.get(*path) != Some(digest)).map(|(path, _)| path.clone()).collect()
}

/// Moves files out of a project into a folder of the gate, keeping their places below it.
pub fn set_aside(project: &Path, paths: &[PathBuf], to: &Path) -> io::Result<()> {
    for path in paths {
        let place = to.join(path);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let from = project.join(path);
        // Across file systems a link stays a link, and a file is copied before it goes.
        if std::fs::rename(&from, &place).is_err() {
            if from.is_symlink() {
                std::os::unix::fs::symlink(std::fs::read_link(&from)?, &place)?;
            } else {
                std::fs::copy(&from, &place)?;
            }
            std::fs::remove_file(&from)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_later_is_found_mounted_and_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("p");
        let write = |path: &str, text: &str| {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for path in [
            "src/a.rs",
            ".git/HEAD",
            ".git/objects/aa/bb",
            ".git/hooks/pre-commit.sample",
            ".git/config",
            ".claude/settings.json",
            ".claude/hooks/x.sh",
            ".vscode/tasks.json",
            "sub/.envrc",
            "node_modules/x/.vscode/tasks.json",
            ".git/modules/m/config",
            "README.md",
        ] {
            write(path, "1");
        }
        let (acting, whole) = look(&project);
        assert!(whole);
        let names: Vec<&str> = acting.keys().filter_map(|path| path.to_str()).collect();
        assert_eq!(
            names,
            [
                ".claude/hooks/x.sh",
                ".claude/settings.json",
                ".git/config",
                ".git/hooks/pre-commit.sample",
                ".git/modules/m/config",
                ".vscode/tasks.json",
                "sub/.envrc"
            ]
        );
        let mounted: Vec<_> = mounts(&project, &acting).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(mounted, [".claude", ".git/config", ".git/hooks", ".git/modules/m/config", ".vscode", "sub/.envrc"]);
        write(".git/hooks/post-merge", "evil");
        write("sub/.envrc", "2");
        write("src/b.rs", "2");
        std::os::unix::fs::symlink("/bin/true", project.join(".mcp.json")).unwrap();
        let (now, _) = look(&project);
        let changed = changes(&acting, &now);
        assert_eq!(changed, [".git/hooks/post-merge", ".mcp.json", "sub/.envrc"].map(PathBuf::from));
        let aside = folder.path().join("aside");
        set_aside(&project, &changed, &aside).unwrap();
        assert!(changes(&acting, &look(&project).0).is_empty());
        assert_eq!(std::fs::read_to_string(aside.join("sub/.envrc")).unwrap(), "2");
        assert!(aside.join(".mcp.json").is_symlink());
    }
}
