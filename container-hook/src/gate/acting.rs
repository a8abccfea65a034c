//! What acts later in a project right now: the list that the host holds against the one before, so that what a command plants
//! is found whatever made it. By the one list of [`bashgate_shared::classify::later`].

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::classify::git_config;
use bashgate_shared::classify::later::{self, Begun, Names, Tier};
use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{ActingWire, MAX_ACTING, MAX_ACTING_BYTES};

use super::ask::open_plain;
use super::conditions::home;
use super::git;

/// Most names that are looked at.
const MAX_NAMES: usize = 250_000;
/// Longest file whose content is compared, in bytes. A longer one is known by its length and time.
const MAX_FILE: u64 = 1 << 20;
/// Most bytes of all of them together.
const MAX_ALL: u64 = 8 << 20;
/// What is looked for in the home folder lies so deep at the most.
const DEEPEST_AT_HOME: usize = 8;
/// From here on it is mostly what tools have installed.
const DEEP: usize = 3;
/// Most names of the home folder that are looked at, those in its upper folders first.
const MAX_AT_HOME: usize = 4000;
/// Most files behind a link to a folder.
const MOST_BEHIND: usize = 256;
/// What the entry is called that says that not all was looked at.
const NOT_ALL: &str = "more names than are looked through";

/// Looks through the project around a folder, and at the home folder's start-up files.
pub fn look(cwd: &Path) -> ActingWire {
    let root = project_of(cwd);
    let mut looked = Looked { root: root.clone(), ..Looked::default() };
    // First what is smaller: whoever fills the other hides nothing here.
    if let Some(home) = home() {
        looked.walk(&home, DEEPEST_AT_HOME, &root);
    }
    looked.of_project(&root, cwd);
    looked.finish()
}

/// The outermost repository around a folder, else the folder itself. A home folder is no project.
pub(super) fn project_of(cwd: &Path) -> PathBuf {
    let home = home();
    let is_project = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let inside = cwd.ancestors().take_while(|folder| home.as_deref() != Some(*folder) && *folder != Path::new("/"));
    inside.filter(is_project).last().unwrap_or(cwd).to_owned()
}

#[derive(Default)]
struct Looked {
    root: PathBuf,
    names: usize,
    /// Bytes that were compared.
    bytes: u64,
    files: BTreeMap<String, String>,
    /// By the folder, what everyday tools make in it.
    many: BTreeMap<PathBuf, Vec<String>>,
}

impl Looked {
    /// Everything in a project, and what git runs there that lies elsewhere.
    fn of_project(&mut self, root: &Path, cwd: &Path) {
        self.walk(root, usize::MAX, root);
        // In a linked worktree.
        for repository in git::repositories(cwd).unwrap_or_default() {
            let common = repository.common.canonicalize().unwrap_or(repository.common);
            if !common.starts_with(root) {
                self.repository(&common, 0);
            }
        }
        for named in git::named::by_settings(root, &[]).ok().flatten().unwrap_or_default() {
            if named.starts_with(root) {
                self.all_of(&named);
            }
        }
    }

    fn has_room(&mut self) -> bool {
        self.names += 1;
        let has_room = self.names <= MAX_NAMES;
        if !has_room {
            self.files.insert(NOT_ALL.to_owned(), String::new());
        }
        has_room
    }

    /// Everything below a folder. At home, only what begins like something that acts is followed.
    fn walk(&mut self, top: &Path, depth: usize, cwd: &Path) {
        let names = Names::all();
        let is_home = depth != usize::MAX;
        let cwd = cwd.to_string_lossy().into_owned();
        let mut folders = VecDeque::from([(top.to_owned(), Begun::No, 0)]);
        let most = if is_home { self.names + MAX_AT_HOME } else { MAX_NAMES };
        while let Some((folder, begun, deep)) = folders.pop_front() {
            let entries = fs::read_dir(&folder);
            // What lies in a closed folder acts when it is open again.
            if entries.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) {
                self.files.insert(folder.to_string_lossy().into_owned(), "closed".to_owned());
            }
            for entry in entries.into_iter().flatten().flatten() {
                if !self.has_room() {
                    return;
                }
                if self.names > most {
                    self.files.insert(NOT_ALL.to_owned(), String::new());
                    return;
                }
                let name = entry.file_name();
                let path = entry.path();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if name == ".git" {
                    self.repository(&path, 0);
                    continue;
                }
                let begun = names.step(begun, &name.to_string_lossy());
                if is_folder {
                    let goes_on = if is_home {
                        begun != Begun::No && !is_installed_by_thousands(&name, deep)
                    } else {
                        begun != Begun::No || !is_passed_over(&entry)
                    };
                    if goes_on && deep < depth && !(is_home && path == self.root) {
                        folders.push_back((path, begun, deep + 1));
                    } else if !is_home {
                        self.beside(&path, &names, &cwd);
                    }
                } else if begun == Begun::Yes {
                    self.note(&path, &cwd, is_home && deep >= DEEP);
                }
            }
        }
    }

    /// In a large folder that tools make, only what acts in it at once.
    fn beside(&mut self, folder: &Path, names: &Names, cwd: &str) {
        let above = folder.file_name().map_or(Begun::No, |name| names.step(Begun::No, &name.to_string_lossy()));
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let begun = names.step(above, &entry.file_name().to_string_lossy());
            if begun != Begun::Yes || !self.has_room() {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                for inner in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
                    self.note(&inner.path(), cwd, false);
                }
            } else {
                self.note(&entry.path(), cwd, false);
            }
        }
    }

    /// One file that acts later; one that lies deep in what tools have installed at home is told apart by its times, which any
    /// write changes: there are thousands of them.
    fn note(&mut self, path: &Path, cwd: &str, is_installed: bool) {
        let Some(later) = later::of(&path.to_string_lossy(), Some(cwd)).filter(|later| later.tier != Tier::Steers)
        else {
            return;
        };
        // Of a thousand large files their times must do.
        let length = path.symlink_metadata().map_or(0, |meta| meta.len());
        let has_room = self.bytes + length <= MAX_ALL && (later.is_kept || !is_installed);
        self.bytes += if has_room { length } else { 0 };
        let stamp = if has_room { stamp(path) } else { by_time(path) };
        if later.is_kept || later.tier == Tier::Gate || self.files.len() < MAX_ACTING / 4 && !is_made_by_tools(path) {
            self.files.insert(path.to_string_lossy().into_owned(), stamp);
        } else {
            let folder = path.parent().unwrap_or(path).to_owned();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.many.entry(folder).or_default().push(format!("{name}\0{stamp}"));
        }
    }

    fn all_of(&mut self, path: &Path) {
        if path.is_dir() {
            for entry in fs::read_dir(path).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| !kind.is_dir()) && !is_sample(&entry.path()) && self.has_room() {
                    let path = entry.path();
                    self.files.insert(path.to_string_lossy().into_owned(), stamp(&path));
                }
            }
        } else if path.symlink_metadata().is_ok() {
            self.files.insert(path.to_string_lossy().into_owned(), stamp(path));
        }
    }

    /// What makes git run something in a repository, its submodules and worktrees.
    fn repository(&mut self, git: &Path, depth: usize) {
        if git.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            // A file that points elsewhere, or a link.
            self.files.insert(git.to_string_lossy().into_owned(), stamp(git));
            return;
        }
        for name in git::ACTS {
            let path = git.join(name);
            if name.starts_with("config") && path.symlink_metadata().is_ok() {
                self.files.insert(path.to_string_lossy().into_owned(), settings_of(&path));
            } else {
                self.all_of(&path);
            }
        }
        if depth > 4 {
            return;
        }
        for more in ["modules", "worktrees"] {
            for entry in fs::read_dir(git.join(more)).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) && self.has_room() {
                    self.repository(&entry.path(), depth + 1);
                }
            }
        }
    }

    fn finish(self) -> ActingWire {
        let Self { root, mut files, many, .. } = self;
        for (folder, mut inside) in many {
            inside.sort();
            files.insert(format!("{}/", folder.to_string_lossy()), digest(inside.join("\n").as_bytes()));
        }
        // What is too much to be told one by one is told as one, so that a change in it is seen all the same.
        let mut bytes = 0;
        let mut rest = String::new();
        let mut told = BTreeMap::new();
        for (path, stamp) in files {
            bytes += path.len() + stamp.len();
            if told.len() < MAX_ACTING - 1 && bytes < MAX_ACTING_BYTES - 8192 && path.len() <= 4096 {
                told.insert(path, stamp);
            } else {
                rest.push_str(&format!("{path}\0{stamp}\n"));
            }
        }
        if !rest.is_empty() {
            told.insert("more files than are told one by one".to_owned(), digest(rest.as_bytes()));
        }
        ActingWire { root: root.to_string_lossy().chars().take(4096).collect(), files: told }
    }
}

/// A folder that is as large as it is useless to look through: what acts in it acts at its top.
fn is_passed_over(entry: &DirEntry) -> bool {
    const FOLDERS: [&str; 5] = ["node_modules", "target", ".venv", "venv", "__pycache__"];
    entry.file_name().to_str().is_some_and(|name| FOLDERS.contains(&name))
}

/// Whole compilers, and what tools at home read for nothing but to install others or to test themselves.
fn is_installed_by_thousands(name: &OsStr, deep: usize) -> bool {
    name == "toolchains" || deep >= DEEP && ["share", "test"].iter().any(|one| name == *one)
}

/// True for files that tools make by the hundred.
fn is_made_by_tools(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    folder == ".bin" || folder == "bin" || folder == "Scripts"
}

fn is_sample(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "sample")
}

fn digest(bytes: &[u8]) -> String {
    Digest::of(bytes).hex().chars().take(32).collect()
}

/// What a file is: its kind, whether it may be executed, and its content or where it leads.
fn stamp(path: &Path) -> String {
    let Ok(meta) = path.symlink_metadata() else { return "gone".to_owned() };
    if meta.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        let target: String = target.display().to_string().chars().take(256).collect();
        return format!("link {target} {}", behind(path));
    }
    let mode = meta.permissions().mode() & 0o111;
    if !meta.is_file() {
        return format!("no file {:o}", meta.mode());
    }
    if meta.len() > MAX_FILE {
        return by_time(path);
    }
    let mut bytes = Vec::new();
    match open_plain(path).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes)) {
        Ok(_) => format!("{mode:o} {}", digest(&bytes)),
        Err(_) => by_time(path),
    }
}

/// The same of a file that is not read: any change of it, and of its times, changes this one.
fn by_time(path: &Path) -> String {
    let Ok(meta) = path.symlink_metadata() else { return "gone".to_owned() };
    format!("{:o} {} {}.{}", meta.mode(), meta.len(), meta.ctime(), meta.ctime_nsec())
}

/// What a link leads to: a file's content, or those in a folder.
fn behind(link: &Path) -> String {
    let Ok(real) = link.canonicalize() else { return "nowhere".to_owned() };
    if !real.is_dir() {
        return stamp(&real);
    }
    let mut lines = Vec::new();
    let mut folders = vec![real];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if lines.len() == MOST_BEHIND {
                return "more than is looked at".to_owned();
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                // Where another link leads is its own business.
                Ok(kind) if kind.is_symlink() => lines.push(format!("{} link", path.display())),
                _ => lines.push(format!("{} {}", path.display(), stamp(&path))),
            }
        }
    }
    lines.sort();
    digest(lines.join("\n").as_bytes())
}

/// Git's settings, as far as they make it do something: everyday commands write others all the time.
fn settings_of(path: &Path) -> String {
    let whole = stamp(path);
    let Some(settings) = fs::read_to_string(path).ok().as_deref().and_then(git::config::read) else { return whole };
    let acting = settings.iter().filter(|setting| !git_config::is_inert(&setting.key, &setting.value));
    let mut lines: Vec<String> = acting.map(|setting| format!("{}={}", setting.key, setting.value)).collect();
    lines.sort();
    digest(lines.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_later_is_seen_and_what_does_not_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("p");
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".git/config", "[core]\n\tbare = false\n");
        write(".git/hooks/pre-commit.sample", "x");
        write("src/main.rs", "x");
        write("web/node_modules/.bin/tsc", "x");
        write("web/node_modules/deep/er/.envrc", "x");
        let seen = || look(&root.join("src"));
        let changes = |before: &ActingWire, now: &ActingWire| {
            let changed = now.files.iter().filter(|(path, stamp)| before.files.get(*path) != Some(*stamp));
            let here = changed.filter_map(|(path, _)| Path::new(path).strip_prefix(&root).ok());
            here.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let before = seen();
        assert_eq!(Path::new(&before.root), root);
        for (path, text, found) in [
            ("src/b.rs", "x", vec![]),
            (".git/config", "[core]\n\tbare = true\n[user]\n\tname = x\n", vec![]),
            (".git/hooks/post-merge.sample", "y", vec![]),
            (".git/index", "y", vec![]),
            (".git/config", "[core]\n\tfsmonitor = ./x\n", vec![".git/config"]),
            (".git/hooks/pre-push", "x", vec![".git/hooks/pre-push"]),
            (".git/modules/a/config", "[core]\n\tfsmonitor = ./x\n", vec![".git/modules/a/config"]),
            ("src/.envrc", "x", vec!["src/.envrc"]),
            (".vscode/tasks.json", "x", vec![".vscode/tasks.json"]),
            ("web/node_modules/.bin/eslint", "x", vec!["web/node_modules/.bin"]),
            ("vendor/x/.git/hooks/pre-push", "x", vec!["vendor/x/.git/hooks/pre-push"]),
            (".claude/settings.json", "{}", vec![".claude/settings.json"]),
        ] {
            let before = seen();
            write(path, text);
            assert_eq!(changes(&before, &seen()), found, "{path}");
        }
        let before = seen();
        fs::set_permissions(root.join(".git/hooks/pre-push"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("/bin/true", root.join(".mcp.json")).unwrap();
        assert_eq!(changes(&before, &seen()), [".git/hooks/pre-push", ".mcp.json"]);
        // What is behind a link, what git goes on with, and what lies in a closed folder.
        write("pl/tasks.json", "x");
        write("pl2/a", "x");
        fs::create_dir(root.join("sub")).unwrap();
        fs::create_dir_all(root.join("sub/.vscode")).unwrap();
        std::os::unix::fs::symlink("../../pl/tasks.json", root.join("sub/.vscode/tasks.json")).unwrap();
        std::os::unix::fs::symlink("pl2", root.join(".zed")).unwrap();
        for (path, found) in [
            ("pl/tasks.json", "sub/.vscode/tasks.json"),
            ("pl2/tasks.json", ".zed"),
            (".git/rebase-merge/git-rebase-todo", ".git/rebase-merge/git-rebase-todo"),
        ] {
            let before = seen();
            write(path, "exec x");
            assert_eq!(changes(&before, &seen()), [found], "{path}");
        }
    }

    #[test]
    fn what_a_linked_worktree_shares_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let git = root.join("p/.git");
        for name in ["hooks", "objects", "refs", "worktrees/wt"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        fs::create_dir(root.join("wt")).unwrap();
        let write = |path: &Path, text: String| fs::write(path, text).unwrap();
        write(&git.join("HEAD"), "ref: refs/heads/main\n".to_owned());
        write(&git.join("worktrees/wt/HEAD"), "ref: refs/heads/wt\n".to_owned());
        write(&git.join("worktrees/wt/commondir"), "../..\n".to_owned());
        write(&root.join("wt/.git"), format!("gitdir: {}\n", git.join("worktrees/wt").display()));
        let look = |folder: &Path| {
            // What lies at home is no business of this test, and may be more than is told one by one.
            let mut looked = Looked { root: folder.to_owned(), ..Looked::default() };
            looked.of_project(folder, folder);
            looked.finish()
        };
        let before = look(&root.join("wt"));
        write(&git.join("hooks/post-commit"), "x".to_owned());
        let now = look(&root.join("wt"));
        let hook = git.join("hooks/post-commit").display().to_string();
        assert!(!before.files.contains_key(&hook) && now.files.contains_key(&hook), "{now:?}");
    }

    #[test]
    fn more_than_can_be_told_is_told_as_one() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..700 {
            let place = folder.path().join(number.to_string());
            fs::create_dir(&place).unwrap();
            fs::write(place.join(".envrc"), "x").unwrap();
        }
        let before = look(folder.path());
        assert!(before.files.len() <= MAX_ACTING);
        fs::write(folder.path().join("99/.envrc"), "y").unwrap();
        assert_ne!(before, look(folder.path()));
    }
}
