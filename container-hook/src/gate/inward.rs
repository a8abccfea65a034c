//! What leads to a file by another name: links in the home folder and in the project that are called like something that acts later,
//! and variables that name files. Whoever writes such a file writes what a person's shell, git or agent reads.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use bashgate_shared::agents;
use bashgate_shared::classify::later::{self, Begun, Names};
use bashgate_shared::variables::{self, Steers};

use super::acting::project_of;
use super::conditions::home;
use super::listing;
use super::real::{Leads, follow};
use super::words;

/// Deepest folder that is looked into below one whose name may begin that of something that acts later: at home, of git's own, and of
/// what tools make.
const DEEPEST: usize = 3;
/// Most names in a project, and in a home folder's own folders, which are not a project's to fill.
const MAX_NAMES: usize = 100_000;
const MAX_NAMES_AT_HOME: usize = 20_000;
/// Folders full of what tools make, in which nobody works: looked into last, and only where they act.
pub(super) const MADE_BY_TOOLS: [&str; 6] = ["node_modules", "target", "__pycache__", ".venv", "venv", "site-packages"];
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// What leads in, and the files that act later by their own names, as far as the same look meets them.
#[derive(Debug)]
pub struct Around {
    /// What leads in.
    pub inward: Vec<Inward>,
    /// Files, by their names.
    pub acting: Vec<PathBuf>,
    /// Those of the home folder that are read at the start of something.
    pub at_home: Vec<PathBuf>,
    /// False where a project has more names than are looked at.
    pub is_all: bool,
}

impl Default for Around {
    fn default() -> Self {
        Self { inward: Vec::new(), acting: Vec::new(), at_home: Vec::new(), is_all: true }
    }
}

/// How far is looked.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Whether folders count that are called anything.
    has_projects: bool,
    /// Most names in all folders but the first one.
    names: usize,
}

const AT_HOME: Room = Room { has_projects: false, names: MAX_NAMES_AT_HOME };
const ON_THE_WAY: Room = Room { has_projects: false, names: MAX_NAMES };
const IN_PROJECT: Room = Room { has_projects: true, names: MAX_NAMES };

/// A file or folder, and what it is to those outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inward {
    /// Where it really lies.
    pub real: PathBuf,
    /// What it is called outside: a path, or a variable.
    pub called: String,
}

impl Inward {
    /// What a path is called outside, if it is this or lies in it.
    fn name_of(&self, real: &Path) -> Option<String> {
        let rest = real.strip_prefix(&self.real).ok()?;
        let is_it = rest.as_os_str().is_empty();
        Some(if is_it { self.called.clone() } else { format!("{}/{}", self.called, rest.to_string_lossy()) })
    }
}

/// All that leads in from outside, for who works in a folder. Where there is more than is looked at, what lies deeper is not found.
pub fn all(start: &Path) -> Around {
    from_outside(start, &[], &Names::all())
}

fn from_outside(start: &Path, soon: &[PathBuf], names: &Names) -> Around {
    /// Where further ones lie.
    const FURTHER: [&str; 4] = [".ssh", ".config/systemd/user", ".config/autostart", ".config/fish"];
    let home = home();
    let seen = home.as_deref().map(|home| look_at(home, names, AT_HOME)).unwrap_or_default();
    let is_read = |file: &Path| {
        let folder = file.parent().zip(home.as_deref()).and_then(|(folder, home)| folder.strip_prefix(home).ok());
        folder.is_some_and(|folder| {
            folder.as_os_str().is_empty() || FURTHER.iter().any(|known| folder == Path::new(known))
        })
    };
    let at_home = seen.acting.into_iter().filter(|file| is_read(file)).collect();
    let mut found = seen.inward;
    let variables =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    found.extend(by_variables(variables, home.as_deref(), (start, soon)));
    found.extend(by_programs(home.as_deref()));
    Around { inward: found, at_home, ..Around::default() }
}

/// The same, with what leads to a file from a project: links anywhere in the one around the folder where a command starts, in the
/// folders above that, and on the way to these files.
pub fn around(start: &Path, files: &[PathBuf]) -> Around {
    let home = home();
    let is_own = |folder: &&Path| folder.parent().is_some() && Some(*folder) != home.as_deref();
    let names = Names::all();
    let top = project_of(start);
    let mut found = look_at(&top, &names, IN_PROJECT);
    let above = top.ancestors().skip(1).take_while(is_own);
    // Whatever else lies there: a look at many names may not come so far.
    let is_below = |folder: &&Path| *folder != top && folder.starts_with(&top);
    let below: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1)).filter(is_below).collect();
    let on_the_way = if found.is_all { BTreeSet::new() } else { below };
    for folder in above.chain(on_the_way) {
        let more = look_at(folder, &names, ON_THE_WAY);
        found.inward.extend(more.inward);
        found.acting.extend(more.acting);
    }
    let outside = from_outside(start, files, &names);
    found.inward.extend(outside.inward);
    Around { at_home: outside.at_home, ..found }
}

/// What this file is to those outside, where it acts for them.
pub fn name_of(all: &[Inward], real: &Path) -> Option<String> {
    let acts = |called: &String| called.starts_with('$') || later::of(called, None).is_some();
    all.iter().filter_map(|inward| inward.name_of(real)).find(acts)
}

/// Where a path leads, or where that will lie which it leads to and which is not there yet.
pub(super) fn there_or_later(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = path.canonicalize() {
            return Some(real);
        }
        match fs::read_link(&path) {
            Ok(target) => path = path.parent()?.join(target),
            Err(_) => match follow(path.parent()?) {
                Leads::To(real) | Leads::Nowhere(real) => return Some(real.join(path.file_name()?)),
                // The folder will be there by another name: each step is one part shorter.
                Leads::Dangling(_) => return Some(there_or_later(path.parent()?)?.join(path.file_name()?)),
                Leads::Doubt(_) => return None,
            },
        }
    }
    None
}

/// The links and files in a folder that are called like something that acts later, or links that stand for a folder of such; also in
/// folders below it, as far as there is room.
fn look_at(top: &Path, names: &Names, room: Room) -> Around {
    let mut found = Around::default();
    let mut folders = VecDeque::from([(top.to_owned(), Begun::No, 0)]);
    let mut seen = 0;
    let mut made = VecDeque::new();
    while let Some((folder, begun, inside)) = folders.pop_front().or_else(|| made.pop_front()) {
        let is_first = folder == top;
        let is_of_tools = folder.strip_prefix(top).is_ok_and(|inside| inside.iter().any(is_made_by_tools));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        // Git's own are found by its names for them.
        let is_gits = folder.components().any(|part| part.as_os_str() == ".git");
        // Objects go by their content, whatever they are reached by.
        let are_objects = is_gits && folder.ends_with("objects");
        for (number, entry) in entries.enumerate() {
            seen += usize::from(!is_first);
            if seen > room.names || number > MAX_NAMES {
                return Around { is_all: false, ..found };
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                if !is_gits && names.step(begun, &entry.file_name().to_string_lossy()) == Begun::Yes {
                    found.acting.push(entry.path());
                }
                continue;
            }
            if !kind.is_symlink() && !kind.is_dir() {
                continue;
            }
            if are_objects && kind.is_dir() && entry.file_name().len() == 2 {
                continue;
            }
            let begun = names.step(begun, &entry.file_name().to_string_lossy());
            let is_made = is_of_tools || is_made_by_tools(&entry.file_name());
            let path = entry.path();
            if begun == Begun::No {
                if kind.is_dir() && room.has_projects && !is_made {
                    folders.push_back((path, Begun::No, 0));
                }
                continue;
            }
            if kind.is_dir() {
                let is_near = inside < DEEPEST;
                if is_made && is_near {
                    made.push_back((path, begun, inside + 1));
                } else if !is_made && (is_near || room.has_projects && !is_gits) {
                    // Before all others: a folder full of names must not hide what acts.
                    folders.push_front((path, begun, inside + 1));
                }
            } else if let Some(real) = there_or_later(&path) {
                found.acting.extend(Some(&path).filter(|path| path.is_file()).cloned());
                // What lies behind it acts by the names that it has here.
                if inside < DEEPEST && path.is_dir() && !is_gits {
                    folders.push_front((path.clone(), begun, inside + 1));
                }
                found.inward.push(Inward { real, called: path.to_string_lossy().into_owned() });
            }
        }
    }
    found
}

fn is_made_by_tools(name: &OsStr) -> bool {
    MADE_BY_TOOLS.iter().any(|known| name == *known)
}

/// Links in folders of PATH that are neither the system's nor at home, where they are met anyway.
fn by_programs(home: Option<&Path>) -> Vec<Inward> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_own = |folder: &PathBuf| {
        let is_of_system = ["/usr", "/bin", "/sbin"].iter().any(|system| folder.starts_with(system));
        folder.is_absolute() && !is_of_system && home.is_none_or(|home| !folder.starts_with(home))
    };
    let entries = std::env::split_paths(&path).filter(is_own).filter_map(|folder| fs::read_dir(folder).ok());
    let entries = entries.flat_map(|entries| entries.flatten().take(MAX_NAMES_AT_HOME));
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())).map(|entry| entry.path());
    let called = |link: &Path| format!("$PATH ({})", link.display());
    links.filter_map(|link| Some(Inward { real: there_or_later(&link)?, called: called(&link) })).collect()
}

/// What variables name: code and settings of shells and programs, and folders and files that stand for usual ones, as those of agents.
/// What is named relatively may be meant from the folder where somebody works and from any above it.
fn by_variables(
    variables: impl Iterator<Item = (String, String)>,
    home: Option<&Path>,
    (start, soon): (&Path, &[PathBuf]),
) -> Vec<Inward> {
    let mut found = Vec::new();
    let folders: Vec<&Path> = start.ancestors().collect();
    let names = RefCell::new(listing::Names::new());
    let top = project_of(start);
    let is_there = |place: &Path| listing::is_there_or_soon(&mut names.borrow_mut(), place, soon);
    // Elsewhere nothing is written that goes by another name.
    let counts = |place: &Path| place.starts_with(&top) && is_there(place);
    let mut add = |path: &str, called: String| {
        let folders = start.ancestors().take(if path.starts_with('/') { 1 } else { usize::MAX });
        let places = folders.map(|folder| folder.join(path)).filter_map(|place| there_or_later(&place));
        found.extend(places.map(|real| Inward { real, called: called.clone() }));
    };
    let mut completed = Vec::new();
    let is_code = |name: &str| {
        matches!(variables::steers(name), Some(Steers::Shell | Steers::Prompt | Steers::Loader | Steers::Code))
            || variables::names_program(name)
    };
    for (name, value) in variables.filter(|(_, value)| !value.is_empty()) {
        let (name, value) = (name.as_str(), value.as_str());
        if let Some(usual) = agents::folder_named_by(name).or_else(|| variables::stands_for(name)) {
            // As it would be called at home.
            let called = home.unwrap_or(Path::new("/")).join(usual).to_string_lossy().into_owned();
            for path in value.split(':').filter(|path| !path.is_empty()) {
                add(path, called.clone());
            }
        } else if is_code(name) {
            let is_of_projects = variables::names_folders_of_projects(name);
            for word in words::of(value).flat_map(|word| word.split([':', '='])).filter(|word| word.contains('/')) {
                if !(is_of_projects && Path::new(word).is_dir()) {
                    add(word, format!("${name}"));
                }
            }
            // Names that interpreters complete, and bare ones: also of files that are made soon.
            let words: Vec<&str> = words::of(value).collect();
            let named = words::files_that(&words, &folders, &counts).0.into_iter();
            let named = named.filter_map(|file| there_or_later(&file));
            completed.extend(named.map(|real| Inward { real, called: format!("${name}") }));
        }
    }
    found.append(&mut completed);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_at_home_lead_in_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("dots"));
        for name in ["home/.config/git", "dots/claude", "dots/nvim", "home/.cache"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["bashrc", "claude/settings.json", "gitconfig", "other"] {
            fs::write(project.join(name), "x").unwrap();
        }
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(project.join(to), home.join(at)).unwrap();
        link("bashrc", ".bashrc");
        link("claude", ".claude");
        link("gitconfig", ".config/git/config");
        link("nvim", ".config/nvim");
        link("other", "notes.txt");
        link("other", ".cache/x");
        link("zshrc", ".zshrc");
        // By a folder that is not there yet, either.
        link("soon/profile", ".profile");
        std::os::unix::fs::symlink("later", project.join("soon")).unwrap();
        let found = look_at(&home, &Names::all(), AT_HOME).inward;
        let name_of = |path: &str| super::name_of(&found, &project.join(path));
        let at_home = |path: &str| Some(home.join(path).to_string_lossy().into_owned());
        assert_eq!(name_of("bashrc"), at_home(".bashrc"));
        assert_eq!(name_of("claude/settings.json"), at_home(".claude/settings.json"));
        assert_eq!(name_of("gitconfig"), at_home(".config/git/config"));
        assert_eq!(name_of("nvim/init.lua"), at_home(".config/nvim/init.lua"));
        // What is not there yet.
        assert_eq!(name_of("zshrc"), at_home(".zshrc"));
        assert_eq!(name_of("later/profile"), at_home(".profile"));
        assert_eq!(name_of("other"), None);
    }

    /// A project's own code is not what somebody outside reads without knowing.
    #[test]
    fn variables_lead_in_unless_they_name_where_a_projects_code_lies() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        fs::create_dir(project.join("src")).unwrap();
        for name in ["start.py", "env.sh"] {
            fs::write(project.join(name), "x").unwrap();
        }
        for (name, value, leads) in [
            ("PYTHONPATH", "src", false),
            ("PYTHONPATH", "", false),
            ("NODE_PATH", "src", false),
            ("GIT_WORK_TREE", "", false),
            ("npm_config_cache", "src", false),
            ("CARGO_TARGET_DIR", "src", false),
            ("PYTHONSTARTUP", "start.py", true),
            ("PYTHONPATH", "start.py", true),
            ("BASH_ENV", "env.sh", true),
            ("GIT_TEMPLATE_DIR", "src", true),
            ("LD_PRELOAD", "env.sh", true),
            ("CLAUDE_CONFIG_DIR", "src", true),
        ] {
            let value = project.join(value).to_string_lossy().into_owned();
            let found = by_variables(
                [(name.to_owned(), value.clone())].into_iter(),
                Some(Path::new("/home/x")),
                (Path::new("/srv"), &[]),
            );
            assert_eq!(!found.is_empty(), leads, "{name}={value}");
        }
    }
}
