//! What an agent's settings start: the words of their commands that may be files.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Most words of one file that are looked at.
const MOST_WORDS: usize = 4096;
/// Deepest value.
const DEEPEST: usize = 32;

/// The files that the words of all commands in settings may name, as seen from these folders. Variables in front of a path stand for
/// the project in all agents.
pub(super) fn scripts(settings: &Value, folders: &[&Path]) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    commands(settings, false, 0, &mut texts);
    let breaks = |letter: char| letter.is_whitespace() || "\"'`;&|()<>$={}!\\".contains(letter);
    let words =
        texts.iter().flat_map(|text| text.split(breaks)).filter(|word| word.contains(['/', '.'])).take(MOST_WORDS);
    let mut found = Vec::new();
    for word in words {
        found.push(PathBuf::from(word));
        let inside = word.trim_start_matches('/');
        found.extend(folders.iter().map(|folder| folder.join(inside)));
    }
    found.retain(|path| path.is_absolute() && path.is_file());
    found.sort();
    found.dedup();
    found
}

/// Every text that stands under `command` or `args`.
fn commands<'v>(value: &'v Value, is_command: bool, depth: usize, into: &mut Vec<&'v str>) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::String(text) if is_command => into.push(text),
        Value::Array(all) => all.iter().for_each(|one| commands(one, is_command, depth + 1, into)),
        Value::Object(fields) => {
            for (name, value) in fields {
                commands(value, matches!(name.as_str(), "command" | "args"), depth + 1, into);
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
            "mcpServers": {"x": {"command": "node", "args": ["./server.js"]}},
        });
        let names = scripts(&settings, &[root]);
        assert_eq!(names, ["gate.sh", "lint.py", "server.js"].map(|name| root.join(name)));
    }
}
