//! The tools: their schemas, what a call of one says on the command line, and what its answer becomes.

use std::path::Path;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::called::Called;

/// One tool.
pub(super) struct Offer {
    name: &'static str,
    description: &'static str,
    /// The properties of its arguments, and which must be there.
    schema: fn() -> (Value, &'static [&'static str]),
    only_reads: bool,
}

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
    /// One JSON object or list.
    Json,
    /// Text as it is.
    Plain,
}

/// Longest command, in bytes: it is one argument of a program, for which the kernel has a limit.
const MAX_COMMAND_BYTES: usize = 120_000;

const BASH: &str = "\
Executes shell commands in a sandbox, returning combined stdout/stderr. Each command is checked first; one that is not \
provably harmless may wait for a person's approval.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With background=true, returns immediately with output redirected to a file; bash_jobs, bash_tail and bash_stop look after it.
Use background for servers/demos that need to stay running.

MUST set slow_ok=true for potentially slow commands: builds, downloads, installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. The command input must be less than 60k tokens.
For complex scripts, write them to a file first and then execute the file.";

const OFFERS: [Offer; 10] = [
    Offer {
        name: "bash",
        description: BASH,
        schema: || {
            let properties = json!({
                "command": {"type": "string", "description": "Shell command to execute via bash -c"},
                "slow_ok": {"type": "boolean", "description": "Use extended 15-minute timeout for builds, tests, installs"},
                "background": {"type": "boolean", "description": "Run detached, return immediately with PID and output file"},
                "network": {"type": "boolean", "description": "Ask for network; whether there is any is decided elsewhere"},
            });
            (properties, &["command"])
        },
        only_reads: false,
    },
    Offer {
        name: "bash_jobs",
        description: "Lists background jobs and how they stand.",
        schema: || (json!({}), &[]),
        only_reads: true,
    },
    Offer {
        name: "bash_tail",
        description: "Shows the end of a background job's output.",
        schema: || (json!({"job": {"type": "string", "description": "The job's id"}}), &["job"]),
        only_reads: true,
    },
    Offer {
        name: "bash_stop",
        description: "Stops a background job with everything that it started.",
        schema: || (json!({"job": {"type": "string", "description": "The job's id"}}), &["job"]),
        only_reads: false,
    },
    Offer {
        name: "run_script",
        description: "Execute a script by ID with sandboxing. The first time, a person is asked; until anything of the script changes it then runs without a question. No tool can approve it.",
        schema: || {
            let properties = json!({
                "script_id": {"type": "string", "description": "The script's id or name"},
                "variables": {"type": "object", "description": "One value for each variable of the script, by name or nested at the dots"},
                "capabilities": capabilities("Less than the script's own; never more"),
                "timeout_seconds": {"type": "integer", "description": "From when on it is reported as slow (default: 60)"},
                "dry_run": {"type": "boolean", "description": "Only show what would run (default: false)"},
            });
            (properties, &["script_id"])
        },
        only_reads: false,
    },
    Offer {
        name: "create_script",
        description: "Write a new script to the managed directory, with everything that it may reach. Values come in as ${name} or ${word.word}, declared as variables; they are always data, so no quoting is needed.",
        schema: || {
            let (mut properties, required) = script_properties();
            if let Some(fields) = properties.as_object_mut() {
                fields
                    .insert("description".to_owned(), json!({"type": "string", "description": "What the script does"}));
            }
            (properties, required)
        },
        only_reads: false,
    },
    Offer {
        name: "list_scripts",
        description: "List available scripts with metadata.",
        schema: || (json!({}), &[]),
        only_reads: true,
    },
    Offer {
        name: "get_script",
        description: "Read a script's content and metadata by ID.",
        schema: || (json!({"script_id": {"type": "string", "description": "The script's id or name"}}), &["script_id"]),
        only_reads: true,
    },
    Offer {
        name: "delete_script",
        description: "Remove a script.",
        schema: || (json!({"script_id": {"type": "string", "description": "The script's id or name"}}), &["script_id"]),
        only_reads: false,
    },
    Offer {
        name: "validate_script",
        description: "Syntax check and static analysis (shellcheck) of a script, by id, or of a text that is not kept.",
        schema: || {
            let (mut properties, _) = script_properties();
            if let Some(fields) = properties.as_object_mut() {
                let id = json!({"type": "string", "description": "A kept script; leave out the other fields then"});
                fields.insert("script_id".to_owned(), id);
            }
            (properties, &[])
        },
        only_reads: true,
    },
];

fn capabilities(description: &str) -> Value {
    let list = |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
    json!({
        "type": "object", "description": description, "additionalProperties": false, "properties": {
            "paths_read": list("Absolute paths that may be read"),
            "paths_write": list("Absolute folders that may be written"),
            "network": {"type": "boolean", "description": "Whether there is network"},
            "commands": list("Programs that may run, by name; bash and its builtins always may"),
        }
    })
}

fn script_properties() -> (Value, &'static [&'static str]) {
    let properties = json!({
        "content": {"type": "string", "description": "The script, in bash"},
        "name": {"type": "string", "description": "Letters, digits, spaces, `.`, `_` and `-`"},
        "capabilities": capabilities("What it may reach; nothing if left out"),
        "variables": {"type": "array", "items": {"type": "string"}, "description": "Names that each run has a value for"},
        "timeout_seconds": {"type": "integer", "description": "From when on it is reported as slow (default: 60)"},
        "timeout_hard_seconds": {"type": "integer", "description": "When it is ended (default and most: 1800)"},
        "working_directory": {"type": "string", "description": "Where it starts, absolute"},
    });
    (properties, &["content", "name"])
}

/// All tools, for a working directory.
pub(super) fn all(cwd: &Path) -> Vec<Tool> {
    let describe = |offer: &Offer| {
        let (properties, required) = (offer.schema)();
        let schema =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        let mut description = offer.description.to_owned();
        if offer.name == "bash" {
            description.push_str(&format!("\n\n<pwd>{}</pwd>", cwd.display()));
        }
        Tool::new(offer.name, description, schema)
            .with_annotations(ToolAnnotations::new().read_only(offer.only_reads).destructive(!offer.only_reads))
    };
    OFFERS.iter().map(describe).collect()
}

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
        "bash_jobs" => parsed::<Nothing>(arguments).map(|_| json(&["jobs", "--json"])),
        "bash_tail" => job("tail", arguments),
        "bash_stop" => job("stop", arguments),
        "run_script" => {
            let mut request = arguments;
            match request.remove("script_id") {
                Some(Value::String(id)) => {
                    let mut order = by_input("run", request);
                    order.arguments.extend(["--".to_owned(), id]);
                    Ok(order)
                }
                _ => Err("`script_id` must be a text".to_owned()),
            }
        }
        "create_script" => Ok(by_input("create", arguments)),
        "list_scripts" => parsed::<Nothing>(arguments).map(|_| json(&["scripts", "list", "--json"])),
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

/// The answer of a call.
pub(super) fn answer(called: &Called, shown: Shown) -> CallToolResult {
    let failed = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
    let said =
        || if called.stderr.trim().is_empty() { "the call came to no end".to_owned() } else { called.stderr.clone() };
    if shown == Shown::Plain {
        let text = format!("{}{}", called.stdout, called.stderr);
        return if called.ok { CallToolResult::success(vec![ContentBlock::text(text)]) } else { failed(text) };
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
            if called.ok { CallToolResult::success(vec![ContentBlock::text(output)]) } else { failed(output) }
        }
        Shown::Job => {
            let pid = value.get("pid").map(ToString::to_string).unwrap_or_default();
            let (job, file) = (text("job"), text("output_file"));
            let text = format!(
                "<pid>{pid}</pid>\n<output_file>{file}</output_file>\n<reminder>To stop: bash_stop with job {job}; to look: bash_tail</reminder>"
            );
            CallToolResult::success(vec![ContentBlock::text(text)])
        }
        // A list is no object, which is what structured content has to be.
        Shown::Json | Shown::Plain if value.is_array() => {
            CallToolResult::success(vec![ContentBlock::text(value.to_string())])
        }
        Shown::Json | Shown::Plain if called.ok || value.get("valid").is_some() => CallToolResult::structured(value),
        Shown::Json | Shown::Plain => CallToolResult::structured_error(value),
    }
}

#[cfg(test)]
mod tests {
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
            for name in least
                .keys()
                .filter(|_| tool.name.starts_with("bash") || tool.name.ends_with("_script") && least.len() == 1)
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
