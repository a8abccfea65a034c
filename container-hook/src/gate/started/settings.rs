//! The commands in an agent's settings: what their fields mean.

use bashgate_shared::{agents, variables};
use serde_json::Value;

/// Deepest value.
const DEEPEST: usize = 32;

/// How an editor's settings are called that name a program, or a folder of code that it loads.
const NAMES_PROGRAM: [&str; 8] = ["Path", ".path", "Paths", "sdk", "Sdk", "xecutable", "nterpreter", "Binary"];

/// A command of settings, or a part of one.
pub(super) struct Line {
    pub text: String,
    /// The folder in which it says that it starts.
    pub starts_in: Option<String>,
}

/// Every text of a setting that is a command, or a word of one, and its words in one line; and whether none lies deeper than is looked.
pub(super) fn commands(value: &Value) -> (Vec<Line>, bool) {
    let mut found = Vec::new();
    let is_all = into(value, (false, None), 0, &mut found);
    (found, is_all)
}

fn into(value: &Value, (is_command, starts_in): (bool, Option<&str>), depth: usize, found: &mut Vec<Line>) -> bool {
    let starts = || starts_in.map(str::to_owned);
    if depth > DEEPEST {
        return false;
    }
    match value {
        Value::String(text) if is_command => {
            found.push(Line { text: text.clone(), starts_in: starts() });
            true
        }
        // All of them, also behind one that is too deep.
        Value::Array(all) => {
            found.extend(texts(value).filter(|_| is_command).map(|text| Line { text, starts_in: starts() }));
            all.iter().filter(|one| !into(one, (is_command, starts_in), depth + 1, found)).count() == 0
        }
        Value::Object(fields) => {
            let field = |name: &str| fields.get(name).and_then(Value::as_str);
            let options = fields.get("options").and_then(|options| options.get("cwd")).and_then(Value::as_str);
            let starts_in = field("cwd").or(options).or(starts_in);
            // An editor's task by its kind.
            if let Some(kind) = field("type").filter(|_| field("script").is_some() || field("task").is_some()) {
                found.push(Line { text: format!("{kind} run"), starts_in: field("path").map(str::to_owned) });
            }
            if let Some(program) = field("command") {
                let words = fields.get("args").and_then(texts).unwrap_or_default();
                found.push(Line { text: format!("{program} {words}"), starts_in: starts_in.map(str::to_owned) });
            }
            // Also behind a tool's own word for what it puts in the environment.
            let paths = [fields.get("PATH"), fields.get("_").and_then(|own| own.get("path"))];
            found.extend(paths.into_iter().flatten().filter_map(path_of));
            let too_deep = fields.iter().filter(|(name, value)| {
                // A variable that names code as well.
                let is_one = is_command
                    || variables::is_code(name)
                    || agents::holds_command(name)
                    || NAMES_PROGRAM.iter().any(|end| name.ends_with(end))
                    || *name == "_";
                // The words behind a program stand with it.
                let is_part = name.as_str() == "args" && field("command").is_some();
                !into(value, (is_one && !is_part, starts_in), depth + 1, found)
            });
            too_deep.count() == 0
        }
        _ => true,
    }
}

/// The words of a list as one line; of a word that is quoted in a way of its own, its value.
fn texts(all: &Value) -> Option<String> {
    let text = |one: &Value| one.as_str().or_else(|| one.get("value").and_then(Value::as_str)).map(str::to_owned);
    Some(all.as_array()?.iter().filter_map(text).collect::<Vec<_>>().join(" "))
}

/// The setting of `PATH`, from one text or a list of folders.
fn path_of(value: &Value) -> Option<Line> {
    let one = |value: &Value| value.as_str().map(str::to_owned);
    let all = |all: &Value| Some(all.as_array()?.iter().filter_map(one).collect::<Vec<_>>().join(":"));
    Some(Line { text: format!("PATH={}", one(value).or_else(|| all(value))?), starts_in: None })
}
