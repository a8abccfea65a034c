//! What a tool call is, by the tool's row and the fields of its input. The names of fields are those of all agents together.
//!
//! A tool that nobody knows counts as a service of its own name; one that is known, with an input of another shape, is denied:
//! nobody can tell what it does.

use bashgate_shared::agents::{self, AgentRow, Does};
use bashgate_shared::classify::secrets;
use bashgate_shared::classify::tool::{MAX_ACTS, ToolAct};
use bashgate_shared::protocol::MAX_SENT_BYTES;
use serde_json::{Map, Value};

use super::EventError;
use crate::event::ToolUse;

type Input = Map<String, Value>;

/// Fields that name a file or a folder.
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "notebook_path",
    "absolute_path",
    "path",
    "paths",
    "file_paths",
    "dir_path",
    "directory",
    "include",
];
/// Fields that name an address.
const ADDRESSES: &[&str] = &["url", "urls", "uri", "prompt", "query"];
/// Fields that hold a patch.
const PATCHES: &[&str] = &["patch", "patchText", "patch_text", "input", "command"];
/// Fields under which tools say what they work on, for people.
const TARGETS: &[&str] = &["url", "uri", "query", "path", "file_path", "name"];

/// What a call of a tool is.
pub(super) fn of(row: Option<&AgentRow>, tool: &str, input: &Input) -> Result<ToolUse, EventError> {
    let unknown = |what| EventError::UnknownShape { tool: tool.chars().take(64).collect(), what };
    // Whoever has no row may use any agent's names for the same things.
    let does = row.map_or_else(|| agents::does(tool), |row| row.tool(tool));
    let files = |acts| ToolUse::Files { tool: tool.to_owned(), acts };
    match does {
        Some(Does::Shell) => {
            let command = text(input, &["command"]).ok_or_else(|| unknown("`command`"))?;
            Ok(ToolUse::Shell { command, is_bash: tool != "Monitor" })
        }
        // What it reads is not said: it may be anything that lies there.
        Some(Does::Read) => Ok(files(match texts(input, PATHS) {
            paths if paths.is_empty() => vec![ToolAct::Search { path: ".".to_owned() }],
            paths => paths.into_iter().map(read).collect(),
        })),
        Some(Does::Search) => {
            let paths = texts(input, PATHS);
            let paths = if paths.is_empty() { vec![".".to_owned()] } else { paths };
            let named = text(input, &["glob"]).filter(|glob| secrets::is_secret_path(glob) || glob.contains("env"));
            let searches = paths.into_iter().map(|path| ToolAct::Search { path });
            Ok(files(searches.chain(named.map(read)).collect()))
        }
        Some(Does::Write) => match texts(input, PATHS) {
            paths if paths.is_empty() => Err(unknown("path")),
            paths => Ok(files(paths.into_iter().map(write).collect())),
        },
        Some(Does::Patch) => match text(input, PATCHES).map(|patch| patched(&patch)) {
            Some(acts) if !acts.is_empty() => Ok(files(acts)),
            _ => Err(unknown("patch")),
        },
        Some(Does::Fetch) => match texts(input, ADDRESSES) {
            addresses if addresses.is_empty() => Err(unknown("address")),
            addresses => {
                let target = addresses.first().cloned();
                let acts = addresses.into_iter().map(|address| ToolAct::Fetch { address: shortened(&address, 8000) });
                Ok(ToolUse::Asks { tool: tool.to_owned(), target, acts: acts.collect(), sends: None })
            }
        },
        Some(Does::SearchWeb) => {
            Ok(ToolUse::Asks { tool: tool.to_owned(), target: text(input, TARGETS), acts: Vec::new(), sends: None })
        }
        Some(Does::Nothing) => Ok(ToolUse::Inert),
        Some(Does::Service) => {
            let server = text(input, &["server", "server_name"]).ok_or_else(|| unknown("`server`"))?;
            Ok(service(&format!("mcp__{server}__{tool}"), input))
        }
        // Whatever it is called: it runs a command.
        None if !tool.starts_with("mcp__") && input.contains_key("command") => {
            let command = text(input, &["command"]).ok_or_else(|| unknown("`command`"))?;
            Ok(ToolUse::Shell { command, is_bash: false })
        }
        None => Ok(service(tool, input)),
    }
}

fn service(tool: &str, input: &Input) -> ToolUse {
    let mut all = Vec::new();
    input.values().for_each(|value| texts_in(value, &mut all));
    // What it is told to take along.
    let files = all.into_iter().filter(|text| !text.contains(char::is_whitespace) && secrets::is_secret_path(text));
    let acts = files.take(MAX_ACTS).map(|path| read(path.to_owned())).collect();
    let sent = serde_json::to_string(input).unwrap_or_default();
    let sends = (!input.is_empty()).then(|| shortened(&sent, MAX_SENT_BYTES - 64));
    ToolUse::Asks { tool: tool.to_owned(), target: text(input, TARGETS), acts, sends }
}

const fn read(path: String) -> ToolAct {
    ToolAct::Read { path }
}

const fn write(path: String) -> ToolAct {
    ToolAct::Write { path }
}

/// A text, or its start and how much more there is.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}… and {} bytes more", text.get(..end).unwrap_or_default(), text.len() - end)
}

/// The first text under one of these names.
fn text(input: &Input, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| input.get(*name)?.as_str().map(str::to_owned))
}

/// All texts under these names, lists of them included.
fn texts(input: &Input, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for value in names.iter().filter_map(|name| input.get(*name)) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(values) => found.extend(values.iter().filter_map(Value::as_str).map(str::to_owned)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }
    found
}

/// Every text in a value, in its order. JSON is never nested deeper than its reader goes.
pub(super) fn texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts_in(value, texts)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            texts.push(name);
            texts_in(value, texts);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The files that a patch of Codex's form makes, changes, moves or removes.
fn patched(patch: &str) -> Vec<ToolAct> {
    const MARKS: &[&str] = &["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];
    let named = patch.lines().filter_map(|line| MARKS.iter().find_map(|mark| line.trim_start().strip_prefix(mark)));
    // One more than is followed is enough to be not understood.
    named.map(|path| write(path.trim().to_owned())).take(MAX_ACTS + 1).collect()
}

/// The files that a person's words mention as `@path`, whose content the agent then reads in.
pub(super) fn mentioned(words: &str) -> Vec<ToolAct> {
    let marks = words.match_indices('@').filter(|(at, _)| {
        let before = words.get(..*at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || "([{'\"`,;:".contains(c))
    });
    let path = |(at, _): (usize, &str)| {
        let rest = words.get(at + 1..)?;
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c));
        let path = match quote {
            Some(quote) => rest.get(1..)?.split(quote).next()?,
            None => rest.split(|c: char| c.is_whitespace() || ",;)]}'\"`".contains(c)).next()?,
        };
        let path = path.trim_end_matches(['.', ':', '!', '?']);
        // Lines of a file.
        let path = path.split_once('#').map_or(path, |(path, _)| path);
        (!path.is_empty()).then(|| path.to_owned())
    };
    marks.filter_map(path).take(MAX_ACTS + 1).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(acts: &[ToolAct]) -> Vec<String> {
        acts.iter().map(|act| act.on().to_owned()).collect()
    }

    #[test]
    fn a_patch_names_every_file_that_it_touches() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+*** Add File: no\n*** Update File: b/c.rs\n*** Move to: d.rs\n@@\n-x\n+y\n*** Delete File: e f.md\n*** End Patch";
        assert_eq!(paths(&patched(patch)), ["a.txt", "b/c.rs", "d.rs", "e f.md"]);
        assert!(patched("diff --git a/x b/x").is_empty());
    }

    #[test]
    fn files_that_are_mentioned_are_read() {
        let words = "look at @.env, (@src/a.rs#L1-3) and @\"a b.txt\"; write to me@example.org. @README.md.";
        assert_eq!(paths(&mentioned(words)), [".env", "src/a.rs", "a b.txt", "README.md"]);
        assert!(mentioned("no @ here").is_empty());
    }
}
