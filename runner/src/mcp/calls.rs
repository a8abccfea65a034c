//! What a call of a tool says on this program's command line, and what its answer becomes.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::called::Called;

/// A call of this program's own command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Subcommand and arguments; options that are the same for all calls come besides.
    pub arguments: Vec<String>,
    /// Standard input.
    pub input: String,
    /// How its answer is shown.
    pub shown: Shown,
}

/// What an answer becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// A command's output as one text, a failure announced before it.
    Output,
    /// A job in the background.
    Job,
    /// One JSON object.
    Json,
    /// A JSON list, under this name.
    List(&'static str),
    /// Text as it is.
    Plain,
}

/// Longest command, in bytes: it is one argument of a program, for which the kernel has a limit.
pub(super) const MAX_COMMAND_BYTES: usize = 120_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bash {
    command: String,
    #[serde(default)]
    slow_ok: bool,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    network: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    job: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    script_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restored {
    script_id: String,
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compared {
    script_id: String,
    from: Option<u32>,
    to: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    words: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What a call says on the command line; `None` for a tool that there is not, an error for arguments that it does not take.
pub(super) fn order(name: &str, arguments: Map<String, Value>) -> Option<Result<Order, String>> {
    let order = |arguments: &[&str], shown| Order {
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        input: String::new(),
        shown,
    };
    let json = |words: &[&str]| order(words, Shown::Json);
    let named = |verb: &str, arguments| {
        parsed::<Named>(arguments).map(|named| json(&["scripts", verb, "--json", "--", &named.script_id]))
    };
    let job = |verb: &str, arguments| parsed::<Job>(arguments).map(|job| order(&[verb, "--", &job.job], Shown::Plain));
    let by_input = |verb: &str, arguments| Order {
        input: Value::Object(arguments).to_string(),
        ..json(&["scripts", verb, "--json", "--input"])
    };
    // What is named by id comes behind the options, the rest by input.
    let by_id = |verb: &str, mut arguments: Map<String, Value>| match arguments.remove("script_id") {
        Some(Value::String(id)) => {
            let mut order = by_input(verb, arguments);
            order.arguments.extend(["--".to_owned(), id]);
            Ok(order)
        }
        _ => Err("`script_id` must be a text".to_owned()),
    };
    Some(match name {
        "bash" => parsed::<Bash>(arguments).and_then(|bash| {
            if bash.command.len() > MAX_COMMAND_BYTES {
                return Err(format!("the command has {} bytes, more than {MAX_COMMAND_BYTES}; write it to a file first and then execute the file", bash.command.len()));
            }
            let mut words = vec!["exec", "--json"];
            words.extend(bash.slow_ok.then_some("--slow-ok").filter(|_| !bash.background));
            words.extend(bash.network.then_some("--network"));
            words.extend(bash.background.then_some("--background"));
            words.extend(["--", &bash.command]);
            Ok(order(&words, if bash.background { Shown::Job } else { Shown::Output }))
        }),
        "bash_jobs" => parsed::<Nothing>(arguments).map(|_| order(&["jobs", "--json"], Shown::List("jobs"))),
        "bash_tail" => job("tail", arguments),
        "bash_stop" => job("stop", arguments),
        "run_script" => by_id("run", arguments),
        "edit_script" => by_id("edit", arguments),
        "run_action" => Ok(by_input("action", arguments)),
        "restore_script" => parsed::<Restored>(arguments).map(|Restored { script_id, version }| {
            json(&["scripts", "restore", "--json", "--by-model", "--", &script_id, &version.to_string()])
        }),
        "script_versions" => parsed::<Named>(arguments).map(|named| {
            order(&["scripts", "versions", "--json", "--", &named.script_id], Shown::List("versions"))
        }),
        "diff_script" => parsed::<Compared>(arguments).map(|Compared { script_id, from, to }| {
            let number = |option: &str, value: Option<u32>| value.map(|value| format!("--{option}={value}"));
            let numbers: Vec<String> = [number("from", from), number("to", to)].into_iter().flatten().collect();
            let mut words = vec!["scripts", "diff", "--json"];
            words.extend(numbers.iter().map(String::as_str));
            words.extend(["--", &script_id]);
            json(&words)
        }),
        "find_scripts" => parsed::<Words>(arguments)
            .map(|words| order(&["scripts", "find", "--json", "--", &words.words], Shown::List("scripts"))),
        "create_script" => Ok(by_input("create", arguments)),
        "generate_script" => Ok(by_input("generate", arguments)),
        "list_scripts" => {
            parsed::<Nothing>(arguments).map(|_| order(&["scripts", "list", "--json"], Shown::List("scripts")))
        }
        "get_script" => named("show", arguments),
        "delete_script" => named("delete", arguments),
        "validate_script" if arguments.contains_key("script_id") => named("validate", arguments),
        "validate_script" => Ok(by_input("validate", arguments)),
        _ => return None,
    })
}

fn parsed<T: for<'de> Deserialize<'de>>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// The answer of a call: text for people and models, and the same as an object.
pub(super) fn answer(called: &Called, shown: Shown) -> CallToolResult {
    let failed = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
    let said =
        || if called.stderr.trim().is_empty() { "the call came to no end".to_owned() } else { called.stderr.clone() };
    if shown == Shown::Plain {
        let text = format!("{}{}", called.stdout, called.stderr);
        return if called.ok { both(text.clone(), json!({"output": text})) } else { failed(text) };
    }
    let Ok(value) = serde_json::from_str::<Value>(called.stdout.trim()) else { return failed(said()) };
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    if value.get("error").is_some() {
        return failed(format!("error: {}\nhelp: {}", text("error"), text("help")));
    }
    match shown {
        Shown::Output => {
            let line = value.get("failure").and_then(Value::as_str).map(|line| format!("{line}\n")).unwrap_or_default();
            let output = format!("{line}{}{}{}", text("stdout"), text("stderr"), text("remarks"));
            let whole = json!({"output": output, "exit_code": value.get("exit_code").unwrap_or(&Value::Null)});
            let mut result = both(output, whole);
            result.is_error = Some(!called.ok);
            result
        }
        Shown::Job => {
            let pid = value.get("pid").unwrap_or(&Value::Null);
            let (job, file) = (text("job"), text("output_file"));
            let output = format!(
                "<pid>{pid}</pid>\n<output_file>{file}</output_file>\n<reminder>To stop: bash_stop with job {job}; to look: bash_tail</reminder>"
            );
            let whole = json!({"output": output, "job": job, "pid": pid, "output_file": file});
            both(output, whole)
        }
        // A list is no object, which is what structured content has to be.
        Shown::List(name) if value.is_array() => {
            let mut whole = json!({name: value});
            let wrong = called.stderr.trim();
            if let Some(fields) = whole.as_object_mut().filter(|_| !wrong.is_empty()) {
                fields.insert("remarks".to_owned(), json!(wrong));
            }
            CallToolResult::structured(whole)
        }
        Shown::Json if called.ok || value.get("valid").is_some() => CallToolResult::structured(value),
        Shown::Json | Shown::List(_) | Shown::Plain => CallToolResult::structured_error(value),
    }
}

/// A text, and what it says as an object.
fn both(text: String, object: Value) -> CallToolResult {
    let mut result = CallToolResult::structured(object);
    result.content = vec![ContentBlock::text(text)];
    result
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tools::all;
    use super::*;

    fn words(name: &str, arguments: &Value) -> Result<String, String> {
        let order = order(name, arguments.as_object().unwrap().clone()).unwrap()?;
        Ok(order.arguments.join(" ") + &order.input)
    }

    #[test]
    fn every_tool_takes_what_its_schema_says_and_nothing_else() {
        for tool in all(Path::new("/w")) {
            let schema = tool.schema_as_json_value();
            let of = |kind: &str| match kind {
                "string" => json!("x"),
                "boolean" => json!(true),
                "integer" => json!(5),
                "array" => json!([]),
                _ => json!({}),
            };
            let properties = schema["properties"].as_object().unwrap();
            let required = schema["required"].as_array().unwrap();
            let least: Map<String, Value> = required
                .iter()
                .map(|name| name.as_str().unwrap())
                .map(|name| (name.to_owned(), of(properties[name]["type"].as_str().unwrap())))
                .collect();
            assert!(words(&tool.name, &Value::Object(least.clone())).is_ok(), "{}", tool.name);
            for name in
                least.keys().filter(|name| tool.name.starts_with("bash") || *name == "script_id" && least.len() == 1)
            {
                let mut less = least.clone();
                less.remove(name);
                assert!(words(&tool.name, &Value::Object(less)).is_err(), "{} without {name}", tool.name);
            }
        }
        assert!(order("approve_script", Map::new()).is_none());
        assert!(words("bash", &json!({"command": "ls", "approved": true})).is_err());
        assert!(words("bash", &json!({"command": 1})).is_err());
    }

    #[test]
    fn what_a_caller_says_is_never_an_option() {
        assert_eq!(words("bash", &json!({"command": "--cage"})).unwrap(), "exec --json -- --cage");
        assert_eq!(
            words("get_script", &json!({"script_id": "--state=/x"})).unwrap(),
            "scripts show --json -- --state=/x"
        );
        assert_eq!(words("bash_stop", &json!({"job": "--agent=x"})).unwrap(), "stop -- --agent=x");
        let run = words("run_script", &json!({"script_id": "-x", "dry_run": true})).unwrap();
        assert_eq!(run, "scripts run --json --input -- -x{\"dry_run\":true}");
    }
}
