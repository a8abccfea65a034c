//! The tools as a client sees them: names, schemas of what goes in and comes out, and what is true of what they do.
//!
//! Names are letters and underscores: models' services take no dot in a name, and clients put the server's name in front
//! (`mcp__bash__run_script`).

use std::path::Path;
use std::sync::Arc;

use bashgate_shared::draft::MAX_TASK_BYTES;
use bashgate_shared::script::{MAX_ENTRIES, MAX_NAME_CHARS, MAX_TEXT_BYTES, MAX_TIMEOUT_S};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::calls::MAX_COMMAND_BYTES;
use crate::scripts::action::MAX_ACTIONS;
use crate::scripts::library::MAX_DESCRIPTION_BYTES;

/// One tool.
struct Offer {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The properties of its arguments, and which must be there.
    input: fn() -> (Value, &'static [&'static str]),
    /// The same of what comes back.
    output: fn() -> (Value, &'static [&'static str]),
    hints: Hints,
}

/// What is true of what a tool does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hints {
    /// It changes nothing.
    Reads,
    /// It adds, and what was there stays.
    Adds,
    /// The same, with what somebody outside of this machine may have said.
    Asks,
    /// It ends or removes something that is kept here, or what was kept longest.
    Removes,
    /// It may do whatever a command may do.
    Acts,
}

const BASH: &str = "\
Executes shell commands in a sandbox, returning combined stdout/stderr. Each command is checked first; one that is not \
provably harmless may wait for a person's approval.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With background=true, returns immediately with output redirected to a file; bash_jobs, bash_tail and bash_stop look after it.
Use background for servers/demos that need to stay running.

MUST set slow_ok=true for potentially slow commands: builds, downloads, installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. A command of more than 120,000 bytes is refused.
For complex scripts, write them to a file first and then execute the file.";

const OFFERS: [Offer; 17] = [
    Offer {
        name: "bash",
        title: "Run a command",
        description: BASH,
        input: || {
            let properties = json!({
                "command": {"type": "string", "minLength": 1, "maxLength": MAX_COMMAND_BYTES, "description": "Shell command to execute via bash -c"},
                "slow_ok": {"type": "boolean", "description": "Use extended 15-minute timeout for builds, tests, installs"},
                "background": {"type": "boolean", "description": "Run detached, return immediately with PID and output file"},
                "network": {"type": "boolean", "description": "Ask for network; whether there is any is decided elsewhere"},
            });
            (properties, &["command"])
        },
        output: || {
            let properties = json!({
                "output": text("What it wrote, and how it failed"),
                "exit_code": or_null("integer", "Its exit status; null where it came to none"),
                "job": text("The job's id, of one in the background"),
                "pid": {"type": "integer", "description": "Its process, of one in the background"},
                "output_file": text("The file with its output, of one in the background"),
            });
            (properties, &["output"])
        },
        hints: Hints::Acts,
    },
    Offer {
        name: "bash_jobs",
        title: "List background jobs",
        description: "Lists background jobs and how they stand.",
        input: nothing,
        output: || (json!({"jobs": list_of_objects("The jobs, oldest first")}), &["jobs"]),
        hints: Hints::Reads,
    },
    Offer {
        name: "bash_tail",
        title: "Look at a background job",
        description: "Shows the end of a background job's output.",
        input: job,
        output: || (json!({"output": text("The end of its output")}), &["output"]),
        hints: Hints::Reads,
    },
    Offer {
        name: "bash_stop",
        title: "Stop a background job",
        description: "Stops a background job with everything that it started.",
        input: job,
        output: || (json!({"output": text("What became of it")}), &["output"]),
        hints: Hints::Removes,
    },
    Offer {
        name: "run_script",
        title: "Run a managed script",
        description: "Execute a script by ID with sandboxing. The first time, a person is asked; until anything of the script changes it then runs without a question. No tool can approve it.",
        input: || {
            let properties = json!({
                "script_id": id(),
                "variables": {"type": "object", "description": "One value for each variable of the script, by name or nested at the dots"},
                "capabilities": capabilities("Less than the script's own; never more"),
                "timeout_seconds": seconds("From when on it is reported as slow (default: 60)"),
                "timeout_hard_seconds": seconds("When it is ended; at most what the script has"),
                "dry_run": {"type": "boolean", "description": "Only show what would run (default: false)"},
            });
            (properties, &["script_id"])
        },
        output: || {
            let more = json!({
                "dry_run": {"type": "boolean", "description": "True where nothing ran"},
                "script": text("The text that would run, of a dry run"),
            });
            (with(ran(), more), &[])
        },
        hints: Hints::Acts,
    },
    Offer {
        name: "run_action",
        title: "Run an automation's actions",
        description: "Run actions of the form {\"type\": \"bash.run\", \"script_id\": …} one after another. An exit status of 1 to 127 is a soft failure, and the next one runs; 128 and more, a signal, a timeout or a denial stop the chain.",
        input: || {
            let properties = json!({
                "actions": {"type": "array", "minItems": 1, "maxItems": MAX_ACTIONS, "items": action(), "description": "In this order"},
                "known": {"type": "object", "description": "What ${…} in the actions' variables stands for, nested at the dots"},
            });
            (properties, &["actions"])
        },
        output: || {
            let properties = json!({
                "success": {"type": "boolean", "description": "All ended with 0"},
                "exit_status": exit_status(),
                "steps": list_of_objects("One for each action that was tried: script_id, script_name, and the fields of run_script or an error"),
                "not_run": {"type": "integer", "description": "How many did not run because of the one before"},
            });
            (properties, &["success", "exit_status", "steps", "not_run"])
        },
        hints: Hints::Acts,
    },
    Offer {
        name: "create_script",
        title: "Keep a new script",
        description: "Write a new script to the managed directory, with everything that it may reach. Values come in as ${name} or ${word.word}, declared as variables; they are always data, so no quoting is needed. The answer says whether it can run as it is; a person is asked when it first does. Look with find_scripts first: there may be one already.",
        input: || {
            let (properties, required) = script_properties();
            (with(properties, json!({"description": description()})), required)
        },
        output: made,
        hints: Hints::Adds,
    },
    Offer {
        name: "generate_script",
        title: "Have a script written",
        description: "Have the host's model write a script from words that say what it is to do, where none that does it is kept. What it may reach is read out of its text, and never more than is named here. A person is asked when it first runs.",
        input: || {
            let properties = json!({
                "description": {"type": "string", "minLength": 1, "maxLength": MAX_TASK_BYTES, "description": "What it is to do"},
                "name": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS, "description": "Its name; made of the description if left out"},
                "capabilities": capabilities("The most that it may be given; a list that is left out is left to its text, and network is only given where it is named"),
                "variables": {"type": "array", "maxItems": MAX_ENTRIES, "items": {"type": "string"}, "description": "Names that each run has a value for"},
                "new": {"type": "boolean", "description": "Also where one that does it is kept (default: false)"},
            });
            (properties, &["description"])
        },
        output: || {
            let more = json!({
                "generated": {"type": "boolean", "description": "False where nothing was written: see `existing`"},
                "existing": list_of(&about(), "Those that are kept and do it"),
            });
            (with(made().0, more), &[])
        },
        hints: Hints::Asks,
    },
    Offer {
        name: "edit_script",
        title: "Make the next version of a script",
        description: "Change a script: what is not named stays as it is. Its id stays, and the version before is kept, as the ten before it are. A person is asked before the new one first runs, unless just that was approved before.",
        input: || {
            let more = json!({
                "script_id": id(),
                "description": description(),
                "expected_version": number("Only if this is the version that counts now"),
            });
            (with(script_properties().0, more), &["script_id"])
        },
        output: made,
        hints: Hints::Removes,
    },
    Offer {
        name: "restore_script",
        title: "Restore an earlier version of a script",
        description: "Make an earlier version the one that counts, as the next version. Where it was approved, it runs without a question.",
        input: || (json!({"script_id": id(), "version": number("The version to restore")}), &["script_id", "version"]),
        output: made,
        hints: Hints::Removes,
    },
    Offer {
        name: "list_scripts",
        title: "List scripts",
        description: "List available scripts with metadata.",
        input: nothing,
        output: || (json!({"scripts": list_of(&about(), "Oldest first")}), &["scripts"]),
        hints: Hints::Reads,
    },
    Offer {
        name: "find_scripts",
        title: "Find scripts",
        description: "Find scripts by words of their names and descriptions, the best first.",
        input: || {
            (
                json!({"words": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "What it is called, or what it is to do"}}),
                &["words"],
            )
        },
        output: || {
            (json!({"scripts": list_of(&about(), "The best first, each with its score from 0 to 1")}), &["scripts"])
        },
        hints: Hints::Reads,
    },
    Offer {
        name: "get_script",
        title: "Show a script",
        description: "Read a script's content and metadata by ID.",
        input: || (json!({"script_id": id()}), &["script_id"]),
        output: || (with(about_properties(), json!({"content": text("The script")})), &["id", "name", "content"]),
        hints: Hints::Reads,
    },
    Offer {
        name: "script_versions",
        title: "List a script's versions",
        description: "List the versions of a script that are kept, oldest first; the last one is what counts.",
        input: || (json!({"script_id": id()}), &["script_id"]),
        output: || (json!({"versions": list_of(&about(), "Oldest first")}), &["versions"]),
        hints: Hints::Reads,
    },
    Offer {
        name: "diff_script",
        title: "Compare two versions of a script",
        description: "Show what is different between two versions: the last two, if none is named.",
        input: || {
            let properties =
                json!({"script_id": id(), "from": number("The older version"), "to": number("The newer version")});
            (properties, &["script_id"])
        },
        output: || {
            let properties = json!({"from": number("The older version"), "to": number("The newer version"), "difference": text("Lines that are gone with `-`, new ones with `+`")});
            (properties, &["from", "to", "difference"])
        },
        hints: Hints::Reads,
    },
    Offer {
        name: "delete_script",
        title: "Remove a script",
        description: "Remove a script with all of its versions. One that automations use stays.",
        input: || (json!({"script_id": id()}), &["script_id"]),
        output: || (json!({"deleted": text("Its id")}), &["deleted"]),
        hints: Hints::Removes,
    },
    Offer {
        name: "validate_script",
        title: "Look at a script without running it",
        description: "Syntax check and static analysis (shellcheck) of a script, by id, or of a text that is not kept.",
        input: || {
            let more = json!({"script_id": text("A kept script; leave out the other fields then")});
            (with(script_properties().0, more), &[])
        },
        output: || {
            (
                json!({"valid": {"type": "boolean", "description": "It can run as it is"}, "findings": findings()}),
                &["valid", "findings"],
            )
        },
        hints: Hints::Reads,
    },
];

fn nothing() -> (Value, &'static [&'static str]) {
    (json!({}), &[])
}

fn job() -> (Value, &'static [&'static str]) {
    (json!({"job": text("The job's id")}), &["job"])
}

fn id() -> Value {
    text("The script's id or name")
}

fn description() -> Value {
    json!({"type": "string", "maxLength": MAX_DESCRIPTION_BYTES, "description": "What the script does"})
}

fn seconds(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_S, "description": description})
}

/// Properties, and more of them.
fn with(mut properties: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (properties.as_object_mut(), more) {
        fields.extend(more);
    }
    properties
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "description": description})
}

/// Two types at once are not understood by all clients when they stand in one list.
fn or_null(kind: &str, description: &str) -> Value {
    json!({"anyOf": [{"type": kind}, {"type": "null"}], "description": description})
}

fn list_of(item: &Value, description: &str) -> Value {
    json!({"type": "array", "items": item, "description": description})
}

fn list_of_objects(description: &str) -> Value {
    list_of(&json!({"type": "object"}), description)
}

fn exit_status() -> Value {
    json!({"type": "string", "enum": ["success", "soft_failure", "hard_failure"], "description": "0; 1 to 127; anything else"})
}

/// What a script's run comes back with.
fn ran() -> Value {
    json!({
        "success": {"type": "boolean", "description": "It ended with 0"},
        "exit_code": {"type": "integer"},
        "exit_status": exit_status(),
        "stdout": text("At most 10 KB, by default"),
        "stderr": text("At most 10 KB, by default"),
        "duration_ms": {"type": "integer"},
        "timed_out": {"type": "boolean"},
        "slow": {"type": "boolean"},
        "sandbox_violations": list_of(&json!({"type": "string"}), "What it left that acts later"),
    })
}

fn action() -> Value {
    json!({
        "type": "object", "required": ["type", "script_id"], "additionalProperties": false, "properties": {
            "type": {"type": "string", "enum": ["bash.run"]},
            "script_id": id(),
            "script_name": text("Its name; must be the script's"),
            "capabilities": capabilities("Less than the script's own; never more"),
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_S},
            "timeout_hard_seconds": {"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_S},
            "working_directory": text("Must be the script's"),
            "variables": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Values, in which ${…} stands for what is known"},
            "approved": {"type": "boolean", "description": "Believed in nothing"},
            "approved_at": text("Believed in nothing"),
            "approved_hash": text("Compared, and told where it differs"),
        }
    })
}

fn about_properties() -> Value {
    json!({
        "id": text("Its id"), "name": text("Its name"), "description": text("What it does"),
        "created_at_ms": {"type": "integer"}, "created_by": {"type": "string", "enum": ["llm", "user"]},
        "version": number("Which version it is"), "edited_at_ms": or_null("integer", "When this version was made"),
        "edited_by": or_null("string", "By whom"), "automation_ids": list_of(&json!({"type": "string"}), "Which use it"),
        "content_hash": text("SHA-256 of the text"), "approval_hash": text("What a person approves"),
        "manifest": {"type": "object", "description": "What it may reach"},
    })
}

fn about() -> Value {
    json!({"type": "object", "properties": about_properties(), "required": ["id", "name", "version"]})
}

fn findings() -> Value {
    let finding = json!({
        "type": "object", "required": ["level", "message"], "properties": {
            "level": {"type": "string", "enum": ["error", "warning", "info"]}, "line": {"type": "integer"}, "message": {"type": "string"},
        }
    });
    list_of(&finding, "What is found, gravest first")
}

/// A script that was kept.
fn made() -> (Value, &'static [&'static str]) {
    let more = json!({
        "findings": findings(),
        "can_run": {"type": "boolean", "description": "False where it can never run as it is"},
    });
    (with(about_properties(), more), &["id", "version", "findings", "can_run"])
}

fn capabilities(description: &str) -> Value {
    let list = |description: &str| json!({"type": "array", "maxItems": MAX_ENTRIES, "items": {"type": "string"}, "description": description});
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
        "content": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_BYTES, "description": "The script, in bash, at most 64 KiB"},
        "name": {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARS, "description": "Letters, digits, spaces, `.`, `_` and `-`"},
        "capabilities": capabilities("What it may reach; nothing if left out"),
        "variables": {"type": "array", "maxItems": MAX_ENTRIES, "items": {"type": "string"}, "description": "Names that each run has a value for"},
        "timeout_seconds": seconds("From when on it is reported as slow (default: 60)"),
        "timeout_hard_seconds": seconds("When it is ended (default and most: 1800)"),
        "working_directory": text("Where it starts, absolute"),
    });
    (properties, &["content", "name"])
}

impl Hints {
    fn annotations(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Reads)
            // One that asks and one that adds leave all as it was.
            .destructive(matches!(self, Self::Removes | Self::Acts))
            .idempotent(self == Self::Reads)
            .open_world(matches!(self, Self::Acts | Self::Asks))
    }
}

/// All tools, for a working directory.
pub(super) fn all(cwd: &Path) -> Vec<Tool> {
    let object = |(properties, required): (Value, &[&str]), is_closed: bool| -> JsonObject {
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if let Some(fields) = schema.as_object_mut().filter(|_| is_closed) {
            fields.insert("additionalProperties".to_owned(), json!(false));
        }
        schema.as_object().cloned().unwrap_or_default()
    };
    let describe = |offer: &Offer| {
        let mut description = offer.description.to_owned();
        if offer.name == "bash" {
            description.push_str(&format!("\n\n<pwd>{}</pwd>", cwd.display()));
        }
        Tool::new(offer.name, description, object((offer.input)(), true))
            .with_title(offer.title)
            .with_raw_output_schema(Arc::new(object((offer.output)(), false)))
            .with_annotations(offer.hints.annotations(offer.title))
    };
    OFFERS.iter().map(describe).collect()
}
