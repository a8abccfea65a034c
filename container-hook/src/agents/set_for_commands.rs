//! Variables that an agent's settings set for the commands that it runs. A hook's own environment does not show them: Claude Code and
//! Codex give them to the shell alone (measured with 2.1.330 and 0.169.0).

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bashgate_shared::agents::{self, AgentRow, SetsVariables};
use bashgate_shared::{programs, variables};
use serde_json::Value;

use crate::doctor::bare_json;
use crate::gate::git::inert;

/// Largest file of settings that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A variable that settings set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetVariable {
    /// Its name; empty where the settings cannot be read, so that nobody knows.
    pub name: String,
    /// What it is set to.
    pub value: String,
    /// The settings.
    pub file: PathBuf,
}

impl SetVariable {
    /// Why commands that run these programs are not what they look like, if so.
    pub fn doubt(&self, called: &[String]) -> Option<String> {
        let Self { name, value, file } = self;
        if name.is_empty() {
            return Some(format!("{} cannot be read, so that nobody knows what it sets for commands", file.display()));
        }
        let leads_elsewhere = finds_programs(name) || agents::folder_named_by(name).is_some();
        let steers_all = variables::steers_every_command(name) || name == "LD_LIBRARY_PATH";
        let steers_one = || {
            let mut rows = called.iter().filter_map(|program| programs::row(program));
            rows.any(|row| row.environment.contains(&name.as_str()))
                || called.iter().any(|program| programs::is_git(program)) && inert::steers(name, value)
        };
        let is_doubt = leads_elsewhere || !value.is_empty() && (steers_all || steers_one());
        is_doubt.then(|| format!("{} sets {name} for commands", file.display()))
    }
}

/// True for a variable by which commands run other code, or find other settings, than the hook sees.
pub fn chooses_code(name: &str) -> bool {
    variables::is_code(name) || agents::folder_named_by(name).is_some()
}

/// True for a variable by which commands find other programs and files.
pub fn finds_programs(name: &str) -> bool {
    name == "PATH" || name == "HOME"
}

/// What an agent's settings set for commands there: those of the machine, of the person, of the project and of the folders that it lies in.
pub fn set_for_commands(row: &AgentRow, cwd: &Path) -> Vec<SetVariable> {
    let Some(sets) = &row.sets else { return Vec::new() };
    // Where the agent was started, whatever folder a command runs in.
    let project = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let mut above: Vec<&Path> = cwd.ancestors().collect();
    above.extend(project.iter().flat_map(|folder| folder.ancestors()).filter(|folder| !cwd.starts_with(folder)));
    let named = row.places.iter().filter_map(|place| place.variable.and_then(std::env::var_os)).map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let at_home = home.iter().flat_map(|home| row.folders.iter().map(move |folder| home.join(folder)));
    let in_project = above.iter().flat_map(|above| row.folders.iter().map(move |folder| above.join(folder)));
    let folders = named.chain(at_home).chain(in_project);
    let mut files: Vec<PathBuf> =
        folders.flat_map(|folder| sets.files.iter().map(move |file| folder.join(file))).collect();
    files.extend(sets.of_machine.iter().map(PathBuf::from));
    files.sort();
    files.dedup();
    files.into_iter().flat_map(|file| set_by(sets, file)).collect()
}

fn set_by(sets: &SetsVariables, file: PathBuf) -> Vec<SetVariable> {
    let mut text = String::new();
    let read = std::fs::File::open(&file).and_then(|open| open.take(MAX_BYTES + 1).read_to_string(&mut text));
    match read {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Vec::new();
        }
        Ok(_) if text.len() as u64 <= MAX_BYTES => {}
        Ok(_) | Err(_) => return vec![SetVariable { name: String::new(), value: String::new(), file }],
    }
    let is_toml = file.extension().is_some_and(|ending| ending == "toml");
    // What the agent cannot read either sets nothing.
    let value = if is_toml { toml::from_str(&text).unwrap_or_default() } else { bare_json(&text) };
    // By themselves, or by one of their profiles.
    let profiles = value.get("profiles").and_then(Value::as_object).into_iter().flatten().map(|(_, profile)| profile);
    let set = std::iter::once(&value).chain(profiles).filter_map(|value| value.pointer(sets.at)?.as_object());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    set.flatten()
        .map(|(name, value)| SetVariable { name: name.clone(), value: text(value), file: file.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use bashgate_shared::agents::AGENTS;
    use serde_json::json;

    use super::*;

    fn row(name: &str) -> &'static AgentRow {
        AGENTS.iter().find(|row| row.name == name).unwrap()
    }

    #[test]
    fn what_settings_set_for_commands_is_found_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        for (agent, file, text, name) in [
            ("claude", ".claude/settings.json", r#"{"env": {"BASH_ENV": "x"}}"#, "BASH_ENV"),
            ("claude", ".claude/settings.local.json", r#"{"env": {"PATH": "x"}}"#, "PATH"),
            ("codex", ".codex/config.toml", "[shell_environment_policy.set]\nLD_PRELOAD = \"x\"\n", "LD_PRELOAD"),
            ("codex", ".codex/config.toml", "[profiles.a.shell_environment_policy]\nset = { ENV = \"x\" }\n", "ENV"),
            ("codex", ".codex/config.toml", "shell_environment_policy.set.HOME = \"x\"\n", "HOME"),
        ] {
            for (at, from) in [(folder.path(), below.as_path()), (&below, &below), (folder.path(), folder.path())] {
                let file = at.join(file);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(&file, text).unwrap();
                let found: Vec<_> =
                    set_for_commands(row(agent), from).into_iter().filter(|set| set.file == file).collect();
                assert!(
                    found.len() == 1 && found[0].name == name && found[0].value == "x",
                    "{agent} {text}: {found:?}"
                );
                assert!(found[0].doubt(&[]).unwrap().contains(name), "{agent} {text}");
                std::fs::remove_file(&file).unwrap();
            }
        }
    }

    #[test]
    fn what_steers_no_command_is_no_doubt_and_what_cannot_be_read_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".claude/settings.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let doubts = |called: &[&str]| {
            let called: Vec<String> = called.iter().map(|name| (*name).to_owned()).collect();
            let set = set_for_commands(row("claude"), folder.path());
            set.iter().filter(|set| set.file == file).filter_map(|set| set.doubt(&called)).collect::<Vec<_>>()
        };
        let harmless = json!({"DISABLE_TELEMETRY": 1, "GIT_AUTHOR_NAME": "x", "GIT_EDITOR": "true", "PAGER": "cat", "BASH_ENV": ""});
        std::fs::write(&file, json!({"env": harmless}).to_string()).unwrap();
        assert!(doubts(&["ls", "git"]).is_empty(), "{:?}", doubts(&["ls", "git"]));
        std::fs::write(&file, r#"{"env": {"GIT_DIR": "x", "GREP_OPTIONS": "x"}}"#).unwrap();
        assert!(doubts(&["ls"]).is_empty() && doubts(&["git"]).len() == 1, "{:?}", doubts(&["git"]));
        std::fs::write(&file, " ".repeat(2 << 20)).unwrap();
        assert!(doubts(&["ls"])[0].contains("cannot be read"));
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(doubts(&["ls"])[0].contains("cannot be read"));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(doubts(&["ls"])[0].contains("cannot be read"));
    }
}
