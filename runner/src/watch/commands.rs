//! What an agent's settings start: the words of their commands that may be files.

use std::path::{Path, PathBuf};

use bashgate_hook::gate::words;
use bashgate_shared::{agents, variables};
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
                let is_one = variables::is_code(name)
                    || matches!(
                        name.as_str(),
                        "command" | "args" | "notify" | "shell" | "bash" | "powershell" | "plugin"
                    )
                    || agents::names_program(name);
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
