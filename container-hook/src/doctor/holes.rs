//! Ways around the hook that an agent's settings and files open: what runs without an event.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bashgate_shared::agents::{self, AgentRow, Scope, SettingsForm};
use bashgate_shared::checkup::Report;
use serde_json::Value;

use super::Settings;
use super::canary::bare_json;
use crate::agents::{SetVariable, chooses_code, finds_programs, set_for_commands};

/// The first version of Claude Code that heeds `onFailure`.
const CLAUDE_HEEDS_ON_FAILURE: [u64; 3] = [2, 1, 295];
/// Most files that are looked through for one kind of thing.
const MAX_FILES: usize = 2000;

/// Looks at one agent, and whether what it runs may be put into the cage.
pub fn look(row: &AgentRow, found: &[Settings], (project, cages): (&Path, bool), report: &mut Report) {
    let values: Vec<(&Settings, Value)> = found.iter().map(|settings| (settings, value_of(settings))).collect();
    variables_set(row, project, report);
    for (settings, value) in &values {
        programs_started(row, settings, value, report);
    }
    match row.name {
        "claude" => {
            claude(&values, project, report);
            let off = "set \"sandbox\": {\"enabled\": false}";
            own_sandbox(row.name, claude_sandbox(&values).as_deref(), off, cages, report);
        }
        "codex" => {
            codex(&values, project, report);
            let off = "set sandbox_mode = \"danger-full-access\"";
            own_sandbox(row.name, codex_sandbox(project).as_deref(), off, cages, report);
        }
        "gemini" => gemini(&values, report),
        "copilot" => copilot(report),
        _ => {}
    }
}

fn value_of(settings: &Settings) -> Value {
    match settings.form {
        SettingsForm::CodexRequirements => toml::from_str(&settings.text).unwrap_or(Value::Null),
        SettingsForm::OpenCode => Value::Null,
        _ => bare_json(&settings.text),
    }
}

fn is_true(value: &Value, name: &str) -> bool {
    value.get(name) == Some(&Value::Bool(true))
}

/// Variables that settings set for commands, and for them alone.
fn variables_set(row: &AgentRow, project: &Path, report: &mut Report) {
    for SetVariable { name, file, .. } in set_for_commands(row, project) {
        let file = file.display();
        if name.is_empty() {
            let says = format!("{file} cannot be read, so that nothing is decided in the hook");
            report.doubtful(row.name, says, "look at it, or take it away");
        } else if chooses_code(&name) {
            let says = format!(
                "{file} sets {name} for commands, which chooses what they run: what goes by it is not decided in the hook"
            );
            report.broken(row.name, says, "take it out");
        } else if finds_programs(&name) {
            let says =
                format!("{file} sets {name} for commands, by which they find programs: nothing is decided in the hook");
            report.doubtful(row.name, says, "see that the agent can write nothing there, or take it out");
        }
    }
}

/// Programs that settings start by themselves.
fn programs_started(row: &AgentRow, settings: &Settings, value: &Value, report: &mut Report) {
    if settings.scope == Scope::Managed {
        return;
    }
    for name in programs_in(value) {
        let says = format!("{}: `{name}` runs a program without asking any hook", settings.file.display());
        report.doubtful(row.name, says, "look at it, and keep the file out of the agent's reach");
    }
}

/// The names of settings that start a program by themselves, hooks excepted.
fn programs_in(value: &Value) -> Vec<String> {
    const NAMES: &[&str] = &["statusLine", "notify", "mcpServers", "mcp_servers", "mcp"];
    let is_one = |name: &str| NAMES.contains(&name) || agents::names_program(name);
    let mut found = Vec::new();
    for (name, inner) in value.as_object().into_iter().flatten().filter(|(name, _)| *name != "hooks") {
        if is_one(name) {
            found.push(name.clone());
        } else {
            let inner = inner.as_object().into_iter().flatten().filter(|(name, _)| is_one(name));
            found.extend(inner.map(|(inner, _)| format!("{name}.{inner}")));
        }
    }
    found
}

/// An agent's sandbox of its own around each command. The hook runs outside of it and decides as ever; what is started inside finds no
/// folder for its state and no namespaces.
fn own_sandbox(agent: &str, by: Option<&str>, off: &str, cages: bool, report: &mut Report) {
    let Some(by) = by else { return };
    if cages {
        let says = format!(
            "its own sandbox ({by}) is around each command, and in it no cage starts: what would be caged fails"
        );
        let help =
            format!("{off} where the container holds the agent, or on_allow = \"silent\" in hook.toml, and no cage");
        report.broken(agent, says, help);
    } else {
        let says = format!(
            "its own sandbox ({by}) is around each command; the hook decides as ever, and bashgate-run starts nothing in it"
        );
        report.doubtful(agent, says, format!("nothing; to use the cage, {off}"));
    }
}

/// What says that Claude Code puts commands into its sandbox.
fn claude_sandbox(values: &[(&Settings, Value)]) -> Option<String> {
    let is_on = |(_, value): &&(&Settings, Value)| value.pointer("/sandbox/enabled") == Some(&Value::Bool(true));
    let (settings, _) = values.iter().find(is_on)?;
    Some(format!("`sandbox.enabled` in {}", settings.file.display()))
}

/// What says that Codex puts commands into its sandbox, unless its command line says otherwise: it does where nothing is set.
fn codex_sandbox(project: &Path) -> Option<String> {
    let mode = |file: PathBuf| {
        let value = toml::from_str::<Value>(&std::fs::read_to_string(&file).ok()?).ok()?;
        let mode = value.get("sandbox_mode")?.as_str()?.to_owned();
        Some((file, mode))
    };
    // The project's settings come before the person's.
    match codex_settings(project).into_iter().rev().find_map(mode) {
        Some((_, mode)) if mode == "danger-full-access" => None,
        Some((file, mode)) => Some(format!("sandbox_mode = \"{mode}\" in {}", file.display())),
        None => Some("as it is where sandbox_mode is not set".to_owned()),
    }
}

/// Codex's own settings: a person's, and a project's.
fn codex_settings(project: &Path) -> Vec<PathBuf> {
    let home = own_folder("CODEX_HOME", ".codex");
    home.into_iter().map(|home| home.join("config.toml")).chain([project.join(".codex/config.toml")]).collect()
}

/// The folder of an agent's own settings: as its variable names it, or as it is called at home.
fn own_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(usual)))
}

fn claude(values: &[(&Settings, Value)], project: &Path, report: &mut Report) {
    const WHAT: &str = "claude";
    let managed =
        |name: &str| values.iter().any(|(settings, value)| settings.scope == Scope::Managed && is_true(value, name));
    let anywhere = |name: &str| values.iter().any(|(_, value)| is_true(value, name));
    let reinstall = "bashgate-hook install --agent claude --scope managed";
    for (settings, value) in values.iter().filter(|(settings, _)| settings.scope != Scope::Managed) {
        if is_true(value, "disableAllHooks") && !managed("allowManagedHooksOnly") {
            let says = format!("{}: `disableAllHooks` turns the hook off", settings.file.display());
            report.broken(WHAT, says, format!("take it out, or use managed settings: {reinstall}"));
        }
    }
    if !managed("allowManagedHooksOnly") {
        let says =
            "hooks of projects, plug-ins and agents run, too, and settings that the agent can write may turn ours off";
        report.doubtful(WHAT, says, reinstall);
    }
    if !anywhere("disableSkillShellExecution") {
        let skills = files_with(&claude_folders(project, &["skills", "commands"]), "!`");
        if skills.is_empty() {
            let says = "skills and commands may run shell commands without any event, and the agent can write skills";
            report.doubtful(WHAT, says, "set \"disableSkillShellExecution\": true, as `bashgate-hook install` does");
        } else {
            let named: Vec<String> = skills.iter().take(5).map(|file| file.display().to_string()).collect();
            let says = format!("{} run shell commands without any event", named.join(", "));
            report.broken(WHAT, says, "set \"disableSkillShellExecution\": true, as `bashgate-hook install` does");
        }
    }
    let servers = project.join(".mcp.json");
    if servers.exists() && !managed("allowManagedMcpServersOnly") {
        let says = format!("{} starts programs before any hook is asked", servers.display());
        report.doubtful(WHAT, says, format!("look at it, or use managed settings: {reinstall}"));
    }
    match version(Path::new(WHAT)) {
        Some(version) if version < CLAUDE_HEEDS_ON_FAILURE => {
            let says = format!(
                "this is version {}; a hook that is missing, killed or late lets the command run before {}",
                dotted(version),
                dotted(CLAUDE_HEEDS_ON_FAILURE)
            );
            report.broken(
                WHAT,
                says,
                "install a newer one; on Node 20, npm takes an old one unless its version is named",
            );
        }
        Some(version) => report.fine(WHAT, format!("version {}", dotted(version))),
        None => report.doubtful(WHAT, "its version cannot be told from here", "run this where the agent runs"),
    }
}

fn codex(values: &[(&Settings, Value)], project: &Path, report: &mut Report) {
    const WHAT: &str = "codex";
    let ours = |(settings, _): &&(&Settings, Value)| crate::install::holds_ours(&settings.text);
    if !values.iter().filter(ours).any(|(settings, _)| settings.scope == Scope::Managed)
        && values.iter().any(|one| ours(&one))
    {
        let says = "hooks outside of /etc/codex/requirements.toml are skipped in silence until a person trusts them, and after each change";
        report.doubtful(
            WHAT,
            says,
            "trust it with /hooks in Codex, or: bashgate-hook install --agent codex --scope managed",
        );
    }
    for file in codex_settings(project) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let Ok(value) = toml::from_str::<Value>(&text) else { continue };
        let shown = file.display();
        for name in programs_in(&value) {
            let says = format!("{shown}: `{name}` runs a program without asking any hook");
            report.doubtful(WHAT, says, "look at it, and keep the file out of the agent's reach");
        }
        let profiles =
            value.get("profiles").and_then(Value::as_object).into_iter().flatten().map(|(_, profile)| profile);
        let is_off = |value: &Value| {
            ["/features/hooks", "/features/codex_hooks"]
                .iter()
                .any(|path| value.pointer(path) == Some(&Value::Bool(false)))
        };
        if std::iter::once(&value).chain(profiles).any(is_off) {
            report.broken(
                WHAT,
                format!("{shown}: `features.hooks` turns hooks off"),
                "take it out, or use --scope managed",
            );
        }
        if value.get("web_search").and_then(Value::as_str).is_some_and(|mode| mode != "disabled") {
            let says = format!("{shown}: what the hosted search brings has no event and taints nothing");
            report.doubtful(WHAT, says, "set web_search = \"disabled\"");
        }
    }
    report.doubtful(
        WHAT,
        "what is typed into a terminal that is open already (write_stdin) has no event; programs that are known to take commands there are denied before they start",
        "nothing; know it",
    );
}

fn gemini(values: &[(&Settings, Value)], report: &mut Report) {
    for (settings, value) in values {
        let off = [("/hooksConfig/enabled", Value::Bool(false)), ("/tools/enableHooks", Value::Bool(false))];
        if off.iter().any(|(path, off)| value.pointer(path) == Some(off)) {
            report.broken("gemini", format!("{}: hooks are turned off", settings.file.display()), "turn them on");
        }
        let disabled = value.pointer("/hooksConfig/disabled").and_then(Value::as_array).into_iter().flatten();
        if disabled.filter_map(Value::as_str).any(|name| name.contains("bashgate")) {
            report.broken(
                "gemini",
                format!("{}: our hook is disabled", settings.file.display()),
                "take it off that list",
            );
        }
    }
}

/// Copilot's own settings lie beside the hooks.
fn copilot(report: &mut Report) {
    let home = own_folder("COPILOT_HOME", ".copilot");
    for file in home.iter().flat_map(|home| ["config.json", "settings.json"].map(|name| home.join(name))) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if is_true(&bare_json(&text), "disableAllHooks") {
            let says = format!("{}: `disableAllHooks` turns the hook off", file.display());
            report.broken("copilot", says, "take it out");
        }
    }
}

/// Claude Code's folders of a kind, the person's and the project's.
fn claude_folders(project: &Path, names: &[&str]) -> Vec<PathBuf> {
    let own = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let own = own.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".claude")));
    let roots: Vec<PathBuf> = own.into_iter().chain([project.join(".claude")]).collect();
    roots.iter().flat_map(|root| names.iter().map(move |name| root.join(name))).collect()
}

/// Text files below folders that hold this text.
fn files_with(folders: &[PathBuf], mark: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folders.to_vec();
    let (mut found, mut looked) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            looked += 1;
            if looked > MAX_FILES {
                return found;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind)
                    if kind.is_file()
                        && entry.metadata().is_ok_and(|meta| meta.len() < 1 << 20)
                        && std::fs::read(entry.path())
                            .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark)) =>
                {
                    found.push(entry.path());
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn dotted(version: [u64; 3]) -> String {
    version.map(|number| number.to_string()).join(".")
}

/// What a program says is its version.
fn version(program: &Path) -> Option<[u64; 3]> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let end = Instant::now() + Duration::from_secs(20);
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().next()?.split('.').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(
            [2, 1, 197] < CLAUDE_HEEDS_ON_FAILURE && [2, 1, 330] > CLAUDE_HEEDS_ON_FAILURE && [2, 2, 0] > [2, 1, 330]
        );
        assert_eq!(dotted([2, 1, 30]), "2.1.30");
        assert_eq!(version(Path::new("/nonexistent")), None);
    }
}
