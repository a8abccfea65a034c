//! The canary: the hooks in an agent's settings, started as the agent starts them.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bashgate_shared::agents::{AgentRow, Happens, Scope, SettingsForm};
use bashgate_shared::checkup::Report;
use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::shell::quoted;
use serde_json::{Value, json};

use super::{Settings, can_change, is_root};
use crate::gate::config::Config;
use crate::install::entries;

/// A command that no policy allows: the gate's own command line, typed by the agent.
pub const NEVER: &str = "bashgate-hook uninstall --agent canary";
/// How long a hook may take for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A hook as the settings name it.
struct Entry {
    event: String,
    matcher: Option<String>,
    command: String,
    timeout_ms: Option<u64>,
    /// How the agent would run a tool past it.
    flaws: Vec<&'static str>,
}

/// Sends a canary through every entry that names our hook before a tool is used.
pub fn send(row: &AgentRow, found: &[Settings], project: &Path, config: Option<&Config>, report: &mut Report) {
    let mut seen = 0;
    for settings in found {
        for entry in entries(settings) {
            // Events about one kind of other tool bring no command.
            let brings_commands = !matches!(entry.event.as_str(), "beforeReadFile" | "beforeMCPExecution");
            if row.event(&entry.event) != Some(Happens::Before)
                || !entry.command.contains("bashgate-hook")
                || !brings_commands
            {
                continue;
            }
            seen += 1;
            look(row, settings, &entry, project, config, report);
        }
    }
    if seen == 0 {
        let says = format!("{} has no bashgate hook before its tools: everything runs unseen", row.title);
        let help = format!("bashgate-hook install --agent {}", row.name);
        report.broken(row.name, says, help);
    }
}

fn look(
    row: &AgentRow,
    settings: &Settings,
    entry: &Entry,
    project: &Path,
    config: Option<&Config>,
    report: &mut Report,
) {
    let file = settings.file.display();
    let again = format!("bashgate-hook install --agent {} --scope {}", row.name, settings.scope.name());
    // A project can write anything there: nothing but this very program is started.
    let Some(words) = own_call(&entry.command) else {
        let says = format!("{file}: `{}` is not this program, called by its whole path", entry.command);
        report.broken(row.name, says, again);
        return;
    };
    match run(&words, &event(row, &entry.event, project)) {
        Ok(Some(2)) => report.fine(row.name, format!("{file}: `{}` is denied on {}", NEVER, entry.event)),
        Ok(code) => {
            let says = format!("{file}: the hook answered `{NEVER}` with {code:?} on {}, not with 2", entry.event);
            report.broken(row.name, says, again.clone());
        }
        Err(why) => report.broken(row.name, format!("{file}: the hook does not run: {why}"), again.clone()),
    }
    let deadline_ms = config.map_or(crate::gate::config::DEFAULT_DEADLINE_S, Config::longest_s) * 1000;
    match entry.timeout_ms {
        Some(timeout) if timeout <= deadline_ms => {
            let says = format!(
                "{file}: the agent waits {timeout} ms for the hook, which waits {deadline_ms} ms for the host; a hook that is late lets the command run"
            );
            report.broken(row.name, says, again.clone());
        }
        None => {
            let says = format!(
                "{file}: the hook has no timeout of its own; the agent's default may be shorter than {deadline_ms} ms"
            );
            report.doubtful(row.name, says, again.clone());
        }
        Some(_) => {}
    }
    if entry.matcher.as_deref().is_some_and(|matcher| !matches!(matcher, "" | "*" | ".*")) {
        let says =
            format!("{file}: the hook only sees some tools (matcher `{}`)", entry.matcher.as_deref().unwrap_or(""));
        report.broken(row.name, says, format!("let the matcher be `*`: {again}"));
    }
    for flaw in &entry.flaws {
        report.broken(row.name, format!("{file}: the entry on {} {flaw}", entry.event), again.clone());
    }
    if can_change(&settings.file) && !(settings.scope == Scope::Managed && is_root()) {
        let says = format!("{file} can be changed from here: the agent can take the hook out");
        report.doubtful(row.name, says, "mount it read-only, or install with --scope managed as root");
    }
}

/// An event of the agent's own form.
fn event(row: &AgentRow, event: &str, project: &Path) -> String {
    let shell = row.tools.iter().find(|(does, _)| *does == bashgate_shared::agents::Does::Shell);
    let tool = shell.and_then(|(_, names)| names.first()).copied().unwrap_or("Bash");
    let input = json!({"command": NEVER});
    match row.name {
        "copilot" => {
            json!({"sessionId": "doctor", "timestamp": 0, "cwd": project, "toolName": tool, "toolArgs": input})
        }
        "opencode" => json!({"event": event, "tool_name": tool, "tool_input": input, "cwd": project}),
        _ => json!({
            "hook_event_name": event, "session_id": "doctor", "cwd": project, "tool_name": tool, "tool_input": input,
            "command": NEVER,
        }),
    }
    .to_string()
}

/// The words of a command that starts this very program, by its whole path and with plain words alone.
fn own_call(command: &str) -> Option<Vec<String>> {
    let found = classify(&CommandLine::parse(command).ok()?, &Surroundings::default());
    let [call] = found.calls.as_slice() else { return None };
    let words: Vec<String> = call.iter().cloned().collect::<Option<_>>()?;
    // Nothing besides: no other part, no redirection, no assignment.
    let plain: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let is_same_text = plain.join(" ") == command.trim() || words.join(" ") == command.trim();
    let program = Path::new(words.first()?);
    let of = |path: &Path| std::fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    let own = std::env::current_exe().ok();
    let is_own = program.is_absolute() && own.is_some_and(|own| of(&own).is_some() && of(&own) == of(program));
    (is_same_text && is_own).then_some(words)
}

/// Runs a hook with the event on its standard input.
fn run(words: &[String], event: &str) -> Result<Option<i32>, String> {
    let (program, arguments) = words.split_first().ok_or("there is no program")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(event.as_bytes());
    }
    let end = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let mut said = String::new();
                if let Some(stderr) = child.stderr.take() {
                    let _ = stderr.take(4096).read_to_string(&mut said);
                }
                return match status.code() {
                    Some(code @ (126 | 127)) => Err(format!("exit {code}: {}", said.trim())),
                    code => Ok(code),
                };
            }
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {PATIENCE:?}"));
            }
        }
    }
}

/// Every hook that settings name.
fn entries(settings: &Settings) -> Vec<Entry> {
    let value: Value = match settings.form {
        SettingsForm::OpenCode => return plugin(&settings.text).into_iter().collect(),
        SettingsForm::CodexRequirements => toml::from_str(&settings.text).unwrap_or(Value::Null),
        _ => bare_json(&settings.text),
    };
    let mut found = Vec::new();
    for (event, list) in value.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for entry in list.as_array().into_iter().flatten() {
            let matcher = entry.get("matcher").and_then(Value::as_str).map(str::to_owned);
            match entry.get("hooks").and_then(Value::as_array) {
                Some(hooks) => found.extend(hooks.iter().map(|hook| one(settings.form, event, matcher.clone(), hook))),
                None => found.push(one(settings.form, event, matcher, entry)),
            }
        }
    }
    found
}

fn one(form: SettingsForm, event: &str, matcher: Option<String>, hook: &Value) -> Entry {
    let text = |name: &str| hook.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let command = if form == SettingsForm::Copilot { text("bash") } else { text("command") };
    let args = hook.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let command = args.fold(command, |command, arg| format!("{command} {}", quoted(arg)));
    let number = |name: &str| hook.get(name).and_then(Value::as_u64);
    let timeout_ms = match form {
        SettingsForm::Gemini => number("timeout"),
        SettingsForm::Copilot => number("timeoutSec").map(|seconds| seconds * 1000),
        _ => number("timeout").map(|seconds| seconds * 1000),
    };
    let is = |name: &str, value: bool| hook.get(name) == Some(&Value::Bool(value));
    let flaws = [
        (hook.get("type").is_some_and(|kind| kind != "command"), "is no command"),
        (is("async", true) || is("asyncRewake", true), "is `async`: it is not waited for"),
        (hook.get("if").is_some(), "has an `if`: it is not asked about everything"),
        (is("failClosed", false), "has `\"failClosed\": false`: when it fails, the tool runs"),
        (
            form == SettingsForm::Claude && text("onFailure") != "block",
            "has no `\"onFailure\": \"block\"`: a hook that is missing or killed lets the command run",
        ),
    ];
    let flaws = flaws.into_iter().filter(|(is_so, _)| *is_so).map(|(_, flaw)| flaw).collect();
    Entry { event: event.to_owned(), matcher, command, timeout_ms, flaws }
}

/// What our plug-in starts.
fn plugin(text: &str) -> Option<Entry> {
    let after = |mark: &str| text.split_once(mark).and_then(|(_, rest)| rest.lines().next());
    let hook: String = serde_json::from_str(after("const HOOK = ")?).ok()?;
    let arguments: Vec<String> = serde_json::from_str(after("const ARGUMENTS = ")?).ok()?;
    let words = std::iter::once(&hook).chain(&arguments).map(|word| quoted(word).clone());
    let timeout_ms = after("const TIMEOUT_MS = ").and_then(|text| text.trim().parse().ok());
    let is_ours = timeout_ms.is_some_and(|timeout| entries::plugin(&hook, &arguments, timeout) == text);
    Some(Entry {
        event: "before_tool_use".to_owned(),
        matcher: None,
        command: words.collect::<Vec<_>>().join(" "),
        timeout_ms,
        // One that the agent cannot load it runs without.
        flaws: if is_ours { Vec::new() } else { vec!["is not the plug-in that `bashgate-hook install` writes"] },
    })
}

/// JSON, with comments where an agent takes them.
pub fn bare_json(text: &str) -> Value {
    let root = jsonc_parser::cst::CstRootNode::parse(text, &jsonc_parser::ParseOptions::default());
    root.ok().and_then(|root| root.to_serde_value()).unwrap_or(Value::Null)
}
