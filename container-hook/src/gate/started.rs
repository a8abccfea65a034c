//! What an agent's settings, git's hooks and what a shell reads on entering a folder start: the words of their commands that may be
//! files. Whoever writes such a file writes what runs outside of the gate.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::programs::{self, Kind, Runs};
use bashgate_shared::{agents, variables};
use serde_json::Value;

use super::conditions::{home, place};
use super::{git, words};
use crate::doctor::bare_json;

/// Most files of settings outside of a project that are read, and most bytes of each.
const MOST_OUTSIDE: usize = 64;
const MOST_BYTES: u64 = 256 * 1024;
/// Scripts that run by themselves, in a project's folder: whatever they name counts.
const SCRIPTS: [&str; 15] = [
    ".envrc",
    ".autoenv",
    ".autoenv.zsh",
    ".mcp.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".devcontainer.json",
    ".devcontainer/devcontainer.json",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook-local.yml",
    "mise.toml",
    ".mise.toml",
    "mise.local.toml",
];
/// Folders of a project with its hooks, besides those that git is told of.
const HUSKY: &str = ".husky";
const FOLDERS_OF_SCRIPTS: [&str; 2] = [".git/hooks", HUSKY];

/// What is in force in a folder starts these files.
#[derive(Debug)]
pub struct Started {
    /// By the names that are used for them, and where they really lie.
    pub files: Vec<PathBuf>,
    /// Folders of which it starts what lies directly in them, whatever it is called.
    pub folders: Vec<PathBuf>,
    /// Whether all was looked at that says so.
    pub is_all: bool,
}

impl Started {
    /// What a file is to what is in force: the script that it is, or a folder of such. Also for a folder with such in it.
    pub fn names(&self, written: &Path, real: &Path) -> Option<&Path> {
        let is_it = |script: &&PathBuf| script.starts_with(real) || *script == written;
        let holds = |folder: &&PathBuf| {
            folder.starts_with(real) || [written, real].into_iter().any(|file| file.parent() == Some(folder.as_path()))
        };
        self.files.iter().find(is_it).or_else(|| self.folders.iter().find(holds)).map(PathBuf::as_path)
    }
}

/// The files that what is in force in a folder starts: agents' settings there, above it, at home and of the machine, and in the folder
/// and those above it what git and shells start; the same where files are made `soon`. These count as if they were there.
pub fn in_force(start: &Path, soon: &[PathBuf]) -> Started {
    let mut look = Look::default();
    let counts = |place: &Path| place.is_file() || soon.iter().any(|made| made == place);
    let below = soon.iter().flat_map(|file| file.ancestors().skip(1).take_while(|folder| folder.starts_with(start)));
    let mut folders: Vec<&Path> = start.ancestors().chain(below).collect();
    folders.sort_by_key(|folder| (folder.as_os_str().len(), *folder));
    folders.dedup();
    let mut found = Vec::new();
    let with_home = folders.iter().rev().map(|folder| (*folder).to_owned()).chain(home()).collect();
    for (number, file) in settings_of(with_home).enumerate() {
        if number == MOST_OUTSIDE {
            look.is_all = false;
            break;
        }
        let above = file.parent().and_then(Path::parent).unwrap_or(start);
        if let Some(settings) = look.text_of(&file).as_deref().and_then(parsed) {
            found.extend(look.scripts(&settings, &[start, above], &counts));
        }
    }
    for folder in &folders {
        for file in SCRIPTS.iter().map(|name| folder.join(name)).filter(|file| file.is_file()) {
            let Some(text) = look.text_of(&file) else { continue };
            found.extend(look.named_by(&file, &text, folder, &counts));
        }
        // Its hooks are those of a repository that is found from there; the ones above have been looked at from there.
        let is_a_root = *folder == start || folder.starts_with(start) && folder.join(".git").symlink_metadata().is_ok();
        let of_git = if is_a_root { git::hook_folders(folder) } else { Vec::new() };
        let husky = (folder.join(HUSKY), (*folder).to_owned());
        for (hooks, root) in of_git.into_iter().chain([husky]) {
            let hooks = fs::read_dir(hooks).into_iter().flatten().flatten();
            for hook in hooks.filter(|entry| programs::is_git_hook(&entry.file_name().to_string_lossy())) {
                let Some(text) = look.text_of(&hook.path()) else { continue };
                found.extend(look.named_by(&hook.path(), &text, &root, &counts));
            }
        }
    }
    // What such a script starts in its turn.
    for script in found.clone() {
        let ending = script.extension().map(|ending| ending.to_string_lossy().into_owned());
        let is_of_a_shell =
            ending.is_some_and(|ending| programs::row(&ending).is_some_and(|row| row.runs == Runs::Shell));
        if is_of_a_shell && let Some(text) = look.text_of(&script) {
            for folder in [Some(start), script.parent()].into_iter().flatten() {
                found.extend(look.named_by(&script, &text, folder, &counts));
            }
        }
    }
    let real = |all: &mut Vec<PathBuf>| {
        all.extend(all.iter().filter_map(|file| file.canonicalize().ok()).collect::<Vec<_>>());
        all.sort();
        all.dedup();
    };
    let mut folders = look.folders;
    real(&mut found);
    real(&mut folders);
    Started { files: found, folders, is_all: look.is_all }
}

/// A folder behind one of these words is one whose files run, as behind an interpreter.
const RUN_FOLDERS: [&str; 8] = ["run-parts", "PATH_add", "path_add", "source_dir", "tsx", "ts-node", "run", "in"];

/// A look at what is started, by as many words as there is room for.
#[derive(Debug)]
pub struct Look {
    words_left: usize,
    folders: Vec<PathBuf>,
    /// False once something was passed by.
    pub is_all: bool,
}

impl Default for Look {
    /// With room for the words of all that is in force.
    fn default() -> Self {
        Self::for_words(MOST_WORDS_OF_ALL)
    }
}

impl Look {
    fn for_words(words: usize) -> Self {
        Self { words_left: words, folders: Vec::new(), is_all: true }
    }

    /// The existing files that a [script](runs_by_itself) may start, as seen from these folders.
    pub fn files_named_by<'f>(&mut self, script: &Path, folders: impl Iterator<Item = &'f Path>) -> BTreeSet<PathBuf> {
        let Some(text) = self.text_of(script) else { return BTreeSet::new() };
        folders.flat_map(|folder| self.named_by(script, &text, folder, &Path::is_file)).collect()
    }

    fn named_by(&mut self, file: &Path, text: &str, folder: &Path, counts: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        if file.extension().is_some_and(|ending| ending == "json") {
            return parsed(text).iter().flat_map(|settings| self.scripts(settings, &[folder], counts)).collect();
        }
        let named = self.files(text, &[folder], counts);
        named.into_iter().filter(|named| *named != file).collect()
    }

    fn scripts(&mut self, settings: &Value, folders: &[&Path], counts: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut lines = Vec::new();
        self.is_all &= commands(settings, false, 0, &mut lines);
        let mut found = Vec::new();
        for Line { text, starts_in } in lines {
            let elsewhere: Vec<PathBuf> =
                folders.iter().filter_map(|base| place(starts_in.as_deref()?, base)).collect();
            let folders: Vec<&Path> = folders.iter().copied().chain(elsewhere.iter().map(PathBuf::as_path)).collect();
            found.extend(self.files(&text, &folders, counts));
        }
        found.sort();
        found.dedup();
        found
    }

    /// The files that the words of one text name.
    fn files(&mut self, text: &str, folders: &[&Path], counts: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut all = words::of(text);
        let words: Vec<&str> = all.by_ref().take(self.words_left).collect();
        self.words_left -= words.len();
        let (mut found, is_all) = words::files_that(&words, folders, counts);
        self.is_all &= is_all && all.next().is_none();
        // What such a program runs stands in files of these names.
        let by_runners: BTreeSet<&str> =
            words.iter().filter_map(|word| programs::row(word)).flat_map(|row| row.steered_by).copied().collect();
        let in_folders = |name: &str| folders.iter().map(|folder| folder.join(name)).collect::<Vec<_>>();
        found.extend(by_runners.into_iter().flat_map(in_folders).filter(|place| counts(place)));
        for pair in words.windows(2) {
            let [runs, folder] = pair else { continue };
            let folder = folder.split('*').next().unwrap_or(folder);
            let is_pattern = pair.last().is_some_and(|word| word.contains('*'));
            let folder = if is_pattern { folder.rsplit_once('/').map_or("", |(folder, _)| folder) } else { folder };
            // `npm run test` names no folder, and `go run ./cmd` does.
            let is_meant = match *runs {
                "in" => is_pattern,
                "run" => folder.starts_with('.'),
                _ => true,
            };
            let is_interpreter = || programs::row(runs).is_some_and(|row| row.kind == Kind::Runtime);
            if (RUN_FOLDERS.contains(runs) || is_interpreter()) && is_meant {
                let places = folders.iter().filter_map(|base| place(folder, base));
                self.folders.extend(places.filter(|place| place.is_dir()));
            }
        }
        found
    }

    /// The text of a script or of settings. Nobody runs what nobody here may read, and a program of the machine's names nothing in
    /// words.
    fn text_of(&mut self, file: &Path) -> Option<String> {
        let mut bytes = Vec::new();
        // Opening a pipe would wait for whoever writes it.
        let opened = fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file);
        let read = opened.and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        if read.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied))
            || bytes.starts_with(b"\x7fELF")
        {
            return None;
        }
        self.is_all &= read.is_ok() && bytes.len() as u64 <= MOST_BYTES;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// True for a script that runs by itself in a project's folder: one of git's hooks, what a shell reads on entering, and the like.
pub fn runs_by_itself(file: &Path) -> bool {
    let is_in = |folder: &str| file.parent().is_some_and(|parent| parent.ends_with(folder));
    let is_sample = file.extension().is_some_and(|ending| ending == "sample");
    SCRIPTS.iter().any(|name| file.ends_with(name))
        || FOLDERS_OF_SCRIPTS.iter().any(|folder| is_in(folder)) && !is_sample
}

/// Agents' settings in these folders, and those of the machine.
pub fn settings_of(folders: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let in_folder = |folder: PathBuf| agents::settings().flat_map(move |name| called_so(&folder.join(name)));
    let managed = agents::managed().flat_map(|folder| called_so(&Path::new(folder).join("*")));
    folders.into_iter().flat_map(in_folder).chain(managed).filter(|file| file.is_file())
}

/// Settings in any of the languages that agents' settings are written in.
pub fn parsed(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    Some(bare_json(text)).filter(|value| !value.is_null()).or_else(|| toml::from_str(text).ok())
}

/// The files that are called so: with a `*` at its end, all whose names begin so.
fn called_so(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(start) = name.strip_suffix('*') else { return vec![path.to_owned()] };
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let meant = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    // One more than are read: then it is known that there are more.
    meant.map(|entry| entry.path()).filter(|file| file.is_file()).take(MOST_OUTSIDE + 1).collect()
}

/// Most words of the settings of one agent, and of all that is in force, that are looked at.
const MOST_WORDS: usize = 4096;
const MOST_WORDS_OF_ALL: usize = 16_384;
/// Deepest value.
const DEEPEST: usize = 32;

/// The files that the words of all commands in settings may name, as seen from these folders. Variables in front of a path stand for
/// the project in all agents.
pub fn scripts(settings: &Value, folders: &[&Path]) -> Vec<PathBuf> {
    Look::for_words(MOST_WORDS).scripts(settings, folders, &Path::is_file)
}

/// A command of settings, or a part of one.
struct Line {
    text: String,
    /// The folder in which it says that it starts.
    starts_in: Option<String>,
}

/// Every text of a setting that is a command, or a word of one, and its words in one line. False where there are deeper ones.
fn commands(value: &Value, is_command: bool, depth: usize, into: &mut Vec<Line>) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let texts =
        |all: &Value| all.as_array().map(|all| all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "));
    match value {
        Value::String(text) if is_command => {
            into.push(Line { text: text.clone(), starts_in: None });
            true
        }
        // All of them, also behind one that is too deep.
        Value::Array(all) => {
            into.extend(texts(value).filter(|_| is_command).map(|text| Line { text, starts_in: None }));
            all.iter().filter(|one| !commands(one, is_command, depth + 1, into)).count() == 0
        }
        Value::Object(fields) => {
            let field = |name: &str| fields.get(name).and_then(Value::as_str);
            if let Some(program) = field("command") {
                let words = fields.get("args").and_then(texts).unwrap_or_default();
                let starts_in = field("cwd").map(str::to_owned);
                into.push(Line { text: format!("{program} {words}"), starts_in });
            }
            let too_deep = fields.iter().filter(|(name, value)| {
                // A variable that names code as well.
                let is_one = variables::is_code(name) || agents::holds_command(name);
                !commands(value, is_one, depth + 1, into)
            });
            too_deep.count() == 0
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_hooks_are_found_and_what_only_permissions_name_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["gate.sh", "lint.py", "src.rs", "server.js"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        let settings = serde_json::json!({
            "permissions": {"allow": ["Edit(./src.rs)"]},
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/gate.sh --x"},
                {"type": "command", "command": "cd . && python3 ${CLAUDE_PROJECT_DIR}/lint.py"}]}]},
            "mcpServers": {"x": {"command": "node", "args": ["-r", "./server.js"]}},
        });
        let names = scripts(&settings, &[root]);
        assert_eq!(names, ["gate.sh", "lint.py", "server.js"].map(|name| root.join(name)));
        // In other spellings, and under other keys.
        std::fs::create_dir(root.join("tools")).unwrap();
        for name in ["tools/gate", "tools/deep.sh", "tools/g.js", "key.sh", "notify.py", "Bash"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        for (settings, want) in [
            (
                serde_json::json!({"hooks": [{"command": "cd \"$CLAUDE_PROJECT_DIR/tools\" && sh deep.sh"}]}),
                "tools/deep.sh",
            ),
            (serde_json::json!({"hooks": [{"command": "cd tools; sh gate"}]}), "tools/gate"),
            (serde_json::json!({"hooks": [{"command": "node tools/g"}]}), "tools/g.js"),
            (serde_json::json!({"apiKeyHelper": "sh ./key.sh"}), "key.sh"),
            (serde_json::json!({"notify": ["python3", "notify.py"]}), "notify.py"),
        ] {
            assert!(scripts(&settings, &[root]).contains(&root.join(want)), "{settings}");
        }
        let matcher = serde_json::json!({"hooks": [{"matcher": "Bash", "command": "true"}]});
        assert_eq!(scripts(&matcher, &[root]), Vec::<PathBuf>::new());
    }
}
