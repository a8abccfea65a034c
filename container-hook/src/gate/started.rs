//! What an agent's settings, git's hooks and what a shell reads on entering a folder start: the words of their commands that may be
//! files. Whoever writes such a file writes what runs outside of the gate.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bashgate_shared::{agents, variables};
use serde_json::Value;

use super::{inward, words};
use crate::doctor::bare_json;

/// Most files of settings outside of a project that are read, and most bytes of each.
const MOST_OUTSIDE: usize = 64;
const MOST_BYTES: u64 = 256 * 1024;
/// Scripts that run by themselves, in a project's folder: whatever they name counts.
const SCRIPTS: [&str; 4] = [".envrc", ".mcp.json", ".vscode/tasks.json", ".pre-commit-config.yaml"];
const FOLDERS_OF_SCRIPTS: [&str; 2] = [".git/hooks", ".husky"];

/// The files that what is in force in a folder starts: agents' settings there, above it, at home and of the machine, and in the folder
/// and those above it what git and shells start.
pub fn in_force(start: &Path) -> Vec<PathBuf> {
    let folders = start.ancestors().map(Path::to_owned).chain(inward::home()).collect();
    let mut found = Vec::new();
    for file in settings_of(folders).take(MOST_OUTSIDE) {
        let above = file.parent().and_then(Path::parent).unwrap_or(start);
        if let Some(settings) = text_of(&file).as_deref().and_then(parsed) {
            found.extend(scripts(&settings, &[start, above]));
        }
    }
    for folder in start.ancestors() {
        let inside = FOLDERS_OF_SCRIPTS.iter().flat_map(|inner| called_so(&folder.join(inner).join("*")));
        let files = SCRIPTS.iter().map(|name| folder.join(name)).chain(inside);
        for file in files.filter(|file| file.extension().is_none_or(|ending| ending != "sample") && file.is_file()) {
            let Some(text) = text_of(&file) else { continue };
            if file.extension().is_some_and(|ending| ending == "json") {
                found.extend(parsed(&text).iter().flat_map(|settings| scripts(settings, &[folder])));
            } else {
                let words: Vec<&str> = words::of(&text).take(MOST_WORDS).collect();
                found.extend(words::files(&words, &[folder]).into_iter().filter(|named| *named != file));
            }
        }
    }
    found.retain(|file| file.is_file());
    found.sort();
    found.dedup();
    found
}

/// Agents' settings in these folders, and those of the machine.
pub fn settings_of(folders: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let in_folder = |folder: PathBuf| agents::settings().flat_map(move |name| called_so(&folder.join(name)));
    let managed = agents::managed().flat_map(|folder| called_so(&Path::new(folder).join("*")));
    folders.into_iter().flat_map(in_folder).chain(managed).filter(|file| file.is_file())
}

/// The start of a file. Opening a pipe would wait for whoever writes it, so that only plain files are opened.
fn text_of(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
    meant.map(|entry| entry.path()).filter(|file| file.is_file()).take(MOST_OUTSIDE).collect()
}

/// Most words of one file that are looked at.
const MOST_WORDS: usize = 4096;
/// Deepest value.
const DEEPEST: usize = 32;

/// The files that the words of all commands in settings may name, as seen from these folders. Variables in front of a path stand for
/// the project in all agents.
pub fn scripts(settings: &Value, folders: &[&Path]) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    commands(settings, false, 0, &mut texts);
    let mut found = Vec::new();
    let mut words_left = MOST_WORDS;
    for text in texts {
        let words: Vec<&str> = words::of(text).take(words_left).collect();
        words_left -= words.len();
        found.extend(words::files(&words, folders));
    }
    found.sort();
    found.dedup();
    found
}

/// Every text of a setting that is a command, or a word of one.
fn commands<'v>(value: &'v Value, is_command: bool, depth: usize, into: &mut Vec<&'v str>) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::String(text) if is_command => into.push(text),
        Value::Array(all) => all.iter().for_each(|one| commands(one, is_command, depth + 1, into)),
        Value::Object(fields) => {
            for (name, value) in fields {
                // A variable that names code as well.
                let is_one = variables::is_code(name) || agents::holds_command(name);
                commands(value, is_one, depth + 1, into);
            }
        }
        _ => {}
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
