//! What a tool call is, by the tool's row and the fields of its input. The names of fields are those of all agents together.
//!
//! A tool that nobody knows counts as a service of its own name; one that is known, with an input of another shape, is denied:
//! nobody can tell what it does.

use bashgate_shared::agents::{self, AgentRow, Does};
use bashgate_shared::classify::tool::{MAX_ACTS, ToolAct};
use bashgate_shared::classify::{Surroundings, classify, patch, paths, secrets};
use bashgate_shared::command::{CommandLine, Digest};
use bashgate_shared::programs::percent_decoded;
use bashgate_shared::protocol::MAX_SENT_BYTES;
use serde_json::{Map, Value};

use super::EventError;
use crate::event::ToolUse;
use crate::gate::shown::credentials_in;

type Input = Map<String, Value>;

/// Fields that name a file or a folder.
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "notebook_path",
    "absolute_path",
    "target_file",
    "path",
    "paths",
    "file_paths",
    "dir_path",
    "directory",
    "uri",
];
/// Fields that name the folder in which a command runs.
const FOLDERS: &[&str] = &["dir_path", "directory", "workdir", "working_directory", "cwd"];
/// Fields with patterns for names.
const PATTERNS: &[&str] = &["include", "glob", "include_pattern"];
/// Fields with lists of paths, in which patterns count.
const LISTS: &[&str] = &["paths", "file_paths"];
/// Fields that hold what is looked for, and words for people.
const SEARCHED: &[&str] = &["pattern", "query", "regex", "description", "explanation", "prompt"];
/// Fields with what is typed into a terminal.
const TYPED: &[&str] = &["chars", "input"];
/// What such a tool's input holds besides.
const OF_TERMINALS: &[&str] = &["session_id", "sessionId", "shellId", "yield_time_ms", "max_output_tokens", "delay"];
/// Fields that name an address.
const ADDRESSES: &[&str] = &["url", "urls", "uri"];
/// Fields with a text that may hold addresses.
const ASKED: &[&str] = &["prompt", "query"];
/// What a tool that looks at an address may be given besides.
const OF_FETCHES: &[&str] = &[
    "url",
    "urls",
    "uri",
    "prompt",
    "query",
    "format",
    "timeout",
    "description",
    "explanation",
    "max_length",
    "start_index",
];
/// Fields that hold a patch.
const PATCHES: &[&str] = &["patch", "patchText", "patch_text", "input", "command"];
/// Fields under which tools say what they work on, for people.
const TARGETS: &[&str] = &["url", "uri", "query", "path", "file_path", "name"];
/// What a shell tool's input holds besides the command.
const OF_SHELLS: &[&str] = &["command", "description", "explanation", "title", "timeout", "timeout_ms", "timeoutMs"];
/// Fields of a shell tool that say that the agent goes on while the command runs.
const BACKGROUND: &[&str] =
    &["run_in_background", "is_background", "background", "detach", "detached", "async", "persistent"];
/// Fields of a shell tool about what is shown of its output, or why it asks.
const OF_OUTPUTS: &[&str] = &["max_output_tokens", "max_output_length", "justification"];
/// How long the agent waits for it before it goes on.
const WAITS: &[&str] = &["initial_wait", "block_until_ms"];
/// A shell in which commands run one after another.
const KEPT_SHELLS: &[&str] = &["shellId", "shell_id", "sessionId", "session_id"];
/// Longest text that may be a path, in bytes.
const MAX_PATH: usize = 4096;
/// Most letters of another field that are told.
const MAX_SAID: usize = 300;
/// Longest address that is told whole, in bytes.
const MAX_ADDRESS: usize = 8000;
/// Most of a file's new content that is told, in bytes.
const MAX_CONTENT: usize = 12 * 1024;

/// What a call of a tool is.
pub(super) fn of(row: Option<&AgentRow>, tool: &str, input: &Input) -> Result<ToolUse, EventError> {
    let unknown = |what| EventError::UnknownShape { tool: tool.chars().take(64).collect(), what };
    // Whoever has no row may use any agent's names for the same things.
    let does = row.map_or_else(|| agents::does(tool), |row| row.tool(tool));
    let files = |acts| ToolUse::Files { tool: tool.to_owned(), acts, content: None };
    match does {
        Some(Does::Shell) => shell(row, tool, input).map_err(unknown),
        Some(Does::Read) => {
            let mut acts: Vec<ToolAct> = reads(input);
            // What it reads is not said: it may be anything that lies there.
            if acts.is_empty() {
                acts.push(ToolAct::Search { path: ".".to_owned() });
            }
            Ok(files(acts.into_iter().chain(other_secrets(input)).collect()))
        }
        Some(Does::Search) => {
            let found = paths_in(input, PATHS);
            let found = if found.is_empty() { vec![".".to_owned()] } else { found };
            let named = texts(input, PATTERNS).into_iter().filter(|glob| glob.contains("env")).flat_map(by_pattern);
            let searches = found.into_iter().map(|path| ToolAct::Search { path });
            Ok(files(searches.chain(named).chain(other_secrets(input)).collect()))
        }
        Some(Does::Write) => match paths_in(input, PATHS) {
            found if found.is_empty() => Err(unknown("path")),
            found => {
                // Some tools both show and change files. Where `view` is no word of theirs, they change them all the same.
                let shows = text(input, &["command"]).is_some_and(|command| command == "view");
                if shows && row.is_some_and(|row| row.views_by_command.contains(&tool)) {
                    return Ok(files(reads(input)));
                }
                let shown = if shows { reads(input) } else { Vec::new() };
                let acts = found.into_iter().map(write).chain(shown).collect();
                Ok(ToolUse::Files { tool: tool.to_owned(), acts, content: Some(content_of(input)) })
            }
        },
        Some(Does::Patch) => {
            let patches = PATCHES.iter().filter_map(|name| input.get(*name)?.as_str());
            let acts: Vec<ToolAct> = patches.flat_map(patched).take(MAX_ACTS + 1).collect();
            match acts {
                acts if acts.is_empty() => Err(unknown("patch")),
                acts => Ok(ToolUse::Files { tool: tool.to_owned(), acts, content: Some(content_of(input)) }),
            }
        }
        Some(Does::Fetch) => match addresses(input) {
            addresses if addresses.is_empty() => Err(unknown("address")),
            addresses => {
                let target = addresses.first().cloned();
                // Behind what is told, any address may stand.
                let rest = addresses.iter().any(|address| address.len() > MAX_ADDRESS).then(|| "?".to_owned());
                // A method, a body, headers: behind the address, as a part of it that goes nowhere.
                let with = sent_with(input).and_then(|with| Some(format!("{}#sent-with:{with}", addresses.first()?)));
                let told = addresses.iter().map(|address| shortened(address, MAX_ADDRESS)).chain(rest);
                let told = told.chain(with.map(|address| shortened(&address, MAX_ADDRESS)));
                let acts = told.map(|address| ToolAct::Fetch { address }).collect();
                let shown = credentials_in(&text_of(input));
                Ok(ToolUse::Asks { tool: tool.to_owned(), target, acts, sends: None, shown })
            }
        },
        Some(Does::SearchWeb) => {
            let (target, shown) = (text(input, TARGETS), credentials_in(&text_of(input)));
            Ok(ToolUse::Asks { tool: tool.to_owned(), target, acts: Vec::new(), sends: None, shown })
        }
        // Words for another agent, or for a command of the client's own: files that they mention are read in.
        Some(Does::Nothing) => {
            let mut all = Vec::new();
            input.values().for_each(|value| values_in(value, &mut all));
            // What is handed over with them as well.
            let handed = all.iter().flat_map(|text| secret_in(text));
            let mentioned = all.iter().flat_map(|text| mentioned(text));
            let acts: Vec<ToolAct> = mentioned.chain(handed).take(MAX_ACTS + 1).collect();
            Ok(if acts.is_empty() { ToolUse::Inert } else { files(acts) })
        }
        Some(Does::Service) => {
            let server = text(input, &["server", "server_name"]).ok_or_else(|| unknown("`server`"))?;
            Ok(service(&format!("mcp__{server}__{tool}"), input))
        }
        // What is typed into a program that reads commands is a command.
        None if tool.starts_with("write_")
            && input.keys().any(|name| TYPED.contains(&name.as_str()))
            && input.keys().all(|name| TYPED.contains(&name.as_str()) || OF_TERMINALS.contains(&name.as_str())) =>
        {
            let command = text(input, TYPED).ok_or_else(|| unknown("input"))?;
            let doubt = Some("it is typed into a program's terminal");
            Ok(ToolUse::Shell {
                command,
                is_bash: false,
                folder: None,
                doubt,
                background: true,
                asked_with: Vec::new(),
            })
        }
        // Whatever it is called: it runs a command, and nothing else is said. A name of several parts may begin with a service's.
        None if tool.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !tool.to_ascii_lowercase().starts_with("mcp")
            && input.contains_key("command")
            && input
                .keys()
                .all(|name| [OF_SHELLS, BACKGROUND, FOLDERS].iter().any(|names| names.contains(&name.as_str()))) =>
        {
            shell(row, tool, input).map_err(unknown)
        }
        // Nobody knows who runs a command that it has, here or elsewhere: a service, which may do here what the command says.
        None => Ok(service(tool, input)),
    }
}

/// What is asked: the address, or, where there is none, the text that holds some.
fn addresses(input: &Input) -> Vec<String> {
    let named = texts(input, ADDRESSES);
    if named.is_empty() { texts(input, ASKED) } else { named }
}

/// A command, or what is not understood about it.
fn shell(row: Option<&AgentRow>, tool: &str, input: &Input) -> Result<ToolUse, &'static str> {
    let command = text(input, &["command"]).ok_or("`command`")?;
    // A field that this agent does not know says nothing about where it runs the command, nor does one of two.
    let named: Vec<&str> = FOLDERS.iter().copied().filter(|name| input.contains_key(*name)).collect();
    let folder = match named.as_slice() {
        [] => None,
        [name] if row.is_none_or(|row| row.folder_fields.contains(name)) => {
            Some(text(input, &[name]).ok_or("folder that is a text")?)
        }
        _ => return Err("one folder of a known name"),
    };
    let lower = tool.to_ascii_lowercase();
    let is_bash = lower == "bash" || row.is_some_and(|row| row.tool(tool) == Some(Does::Shell)) && tool != "Monitor";
    let is_powershell = lower.contains("powershell") || lower == "pwsh";
    let doubt = is_powershell.then_some("PowerShell reads it in another way than bash");
    let goes_on =
        |name: &&str| input.get(*name).is_some_and(|value| !matches!(value, Value::Bool(false) | Value::Null));
    let by_mode = text(input, &["mode"]).is_some_and(|mode| mode != "sync");
    let waits_less = WAITS.iter().any(|name| input.contains_key(*name));
    let background = BACKGROUND.iter().any(goes_on) || by_mode || waits_less || tool == "Monitor";
    // A shell that is kept may be in any folder by now.
    let is_kept = KEPT_SHELLS.iter().any(|name| input.get(*name).is_some_and(|value| !value.is_null()));
    let doubt = doubt.or(is_kept.then_some("it runs in a shell that earlier commands may have moved"));
    let (mut asked_with, is_known) = besides(input);
    // What another one holds is another one's.
    let kept = KEPT_SHELLS.iter().filter_map(|name| input.get_key_value(*name)).filter(|(_, value)| !value.is_null());
    asked_with.extend(kept.map(field));
    let doubt = doubt.or((!is_known).then_some("its input has a field that nobody here knows"));
    Ok(ToolUse::Shell { command, is_bash: is_bash && !is_powershell, folder, doubt, background, asked_with })
}

/// True for a value that says something.
const fn is_said(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// What a tool that looks at an address is to send with it, without blanks.
fn sent_with(input: &Input) -> Option<String> {
    let others = input.iter().filter(|(name, value)| is_said(value) && !OF_FETCHES.contains(&name.as_str()));
    let others: Input = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    (!others.is_empty())
        .then(|| Value::Object(others).to_string().replace(|c: char| c.is_whitespace() || c.is_control(), "_"))
}

/// A field as it is told; what is cut is told apart all the same.
fn field((name, value): (&String, &Value)) -> String {
    let text = format!("{name}: {value}");
    let cut: String = text.chars().take(MAX_SAID).collect();
    let digest = Digest::of(text.as_bytes()).hex();
    if cut == text { text } else { format!("{cut}… ({})", digest.get(..16).unwrap_or_default()) }
}

/// What else the input of a shell tool says, as far as it says anything, and whether all of that is known to change no more than
/// where the command runs.
fn besides(input: &Input) -> (Vec<String>, bool) {
    let known = [OF_SHELLS, OF_OUTPUTS, BACKGROUND, WAITS, KEPT_SHELLS, FOLDERS, &["mode"]];
    let others = input
        .iter()
        .filter(|(name, value)| is_said(value) && !known.iter().any(|names| names.contains(&name.as_str())));
    // Out of the agent's own sandbox.
    let is_way_out =
        |name: &str| ["sandbox", "escalat", "permission"].iter().any(|part| name.to_lowercase().contains(part));
    let mut all_known = true;
    let mut said = Vec::new();
    for (name, value) in others {
        all_known &= is_way_out(name);
        said.push(field((name, value)));
    }
    (said, all_known)
}

fn service(tool: &str, input: &Input) -> ToolUse {
    let mut all = Vec::new();
    input.values().for_each(|value| texts_in(value, &mut all));
    // What it is told to take along.
    let mut acts: Vec<ToolAct> = all.into_iter().flat_map(secrets_for_service).take(MAX_ACTS).collect();
    acts.extend(text(input, &["command"]).into_iter().flat_map(|command| done_by(&command)));
    let sent = text_of(input);
    let most = MAX_SENT_BYTES - 128;
    let sends = Some(shortened(&sent, most));
    // The host is told all of a short one, and looks for itself.
    let shown = if sent.len() <= most { Vec::new() } else { credentials_in(&sent) };
    ToolUse::Asks { tool: tool.to_owned(), target: text(input, TARGETS), acts, sends, shown }
}

/// What a command would do to files where it runs.
fn done_by(command: &str) -> Vec<ToolAct> {
    let Ok(line) = CommandLine::parse(command) else { return Vec::new() };
    let effects = classify(&line, &Surroundings::default()).effects;
    let writes = effects.writes.into_iter().chain(effects.persistence).chain(effects.steering).chain(effects.tampering);
    let reads = effects.reads.into_iter().chain(effects.secrets).map(|path| ToolAct::Read { path });
    writes.map(write).chain(reads).take(MAX_ACTS).collect()
}

/// An input as text.
fn text_of(input: &Input) -> String {
    serde_json::to_string(input).unwrap_or_default()
}

/// What a file is to hold, as the tool's input says it: fields one below the other, and of a text each line behind a mark, so that
/// people read lines and no text can look like another field.
fn content_of(input: &Input) -> String {
    let of = |(name, value): (&String, &Value)| {
        let name = Value::from(name.as_str());
        match value {
            Value::String(text) if text.contains('\n') => {
                let lines: Vec<String> = text.split('\n').map(|line| format!("| {line}")).collect();
                format!("{name}:\n{}", lines.join("\n"))
            }
            other => format!("{name}: {other}"),
        }
    };
    shortened(&input.iter().map(of).collect::<Vec<_>>().join("\n"), MAX_CONTENT)
}

/// Paths under these names, as whoever gets them may take them: without blanks around them, without the mark of a mention, and
/// without a scheme.
fn paths_in(input: &Input, names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for form in texts(input, names).iter().flat_map(|path| forms_of(path)) {
        if !found.contains(&form) {
            found.push(form);
        }
    }
    found
}

/// A path in each form in which it may be taken.
fn forms_of(path: &str) -> Vec<String> {
    let address = paths::of_address(path);
    let bare = address.unwrap_or(path).to_owned();
    let decoded = address.map(percent_decoded).unwrap_or_default();
    let mut trimmed = paths::trimmed(&bare).to_owned();
    // Where nothing is left, the folder where the agent is.
    if trimmed.is_empty() {
        ".".clone_into(&mut trimmed);
    }
    let unmarked = trimmed.trim_start_matches('@').to_owned();
    let mut forms = Vec::new();
    for form in [path.to_owned(), bare, decoded, trimmed, unmarked] {
        if !form.is_empty() && !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

/// What a tool that reads is told to read.
fn reads(input: &Input) -> Vec<ToolAct> {
    let found = paths_in(input, PATHS).into_iter().flat_map(|path| {
        // `[slug].tsx` is the name of a file; only who takes a list of paths takes patterns in them.
        let may_be_pattern = path.contains('*') || LISTS.iter().any(|name| input.contains_key(*name));
        if may_be_pattern { by_pattern(path) } else { vec![ToolAct::Read { path }] }
    });
    found.chain(texts(input, PATTERNS).into_iter().flat_map(by_pattern)).collect()
}

/// Secrets that an input names in any other field, what is searched for excepted.
fn other_secrets(input: &Input) -> Vec<ToolAct> {
    let mut all = Vec::new();
    let others = input.iter().filter(|(name, _)| !SEARCHED.contains(&name.as_str()));
    others.for_each(|(_, value)| values_in(value, &mut all));
    all.into_iter().flat_map(secret_in).take(16).collect()
}

/// The secret that a text names as a path, in whatever form.
fn secret_in(text: &str) -> Vec<ToolAct> {
    if text.len() > MAX_PATH || text.contains('\n') {
        return Vec::new();
    }
    let forms = forms_of(text);
    let named = forms.iter().find(|path| secrets::is_secret_path(path));
    named.map(|path| ToolAct::Read { path: path.clone() }).into_iter().collect()
}

/// The same for a service, which may take a pattern for what it finds.
fn secrets_for_service(text: &str) -> Vec<ToolAct> {
    let named = secret_in(text);
    if !named.is_empty() || text.len() > MAX_PATH || text.contains('\n') {
        return named;
    }
    let pattern = forms_of(text).into_iter().find(|path| may_find_secret(path));
    pattern.map(by_pattern).unwrap_or_default()
}

/// True for a pattern that may fit the name of a secret: one for hidden files, for names that secrets have a part of, or of which
/// the end says that it is one.
fn may_find_secret(path: &str) -> bool {
    let marks = ['*', '?', '[', '{', '\\', '('];
    let name = path.rsplit('/').next().unwrap_or(path);
    if !name.contains(marks) || path.contains(char::is_whitespace) {
        return false;
    }
    let end = name.rsplit(marks).next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    name.starts_with('.')
        || end.is_empty() && !name.starts_with('*')
        || ["env", "key", "secret", "cred", "id_", "token", "passw"].iter().any(|part| lower.contains(part))
        || !end.is_empty() && secrets::is_secret_path(&format!("x{end}"))
}

/// The file of this very name, and, with a pattern in it, everything below the folder in front of it. A pattern that may lead
/// anywhere else means everything.
fn by_pattern(path: String) -> Vec<ToolAct> {
    // Behind one of these signs, a bracket begins a pattern as well; a backslash takes its meaning from a letter.
    let extended = || ["@(", "+(", "!(", "?(", "*("].iter().filter_map(|mark| path.find(mark)).min();
    let plain = path.find(['*', '?', '[', '{', '\\']);
    let Some(at) = plain.into_iter().chain(extended()).min() else { return vec![ToolAct::Read { path }] };
    let (start, rest) = path.split_at(at);
    let leads_away = rest.split('/').any(|part| part == "..") || rest.contains('{') && rest.contains(['~', '/']);
    let folder = match start.rsplit_once('/') {
        _ if leads_away => "/",
        None => ".",
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
    };
    let search = ToolAct::Search { path: folder.to_owned() };
    vec![ToolAct::Read { path }, search]
}

/// The texts among the values of a value.
fn values_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| values_in(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| values_in(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
    // Two that differ behind it are two.
    let digest: String = Digest::of(text.as_bytes()).hex().chars().take(16).collect();
    format!("{}… and {} bytes more (sha256 of all {digest})", text.get(..end).unwrap_or_default(), text.len() - end)
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

/// The files that a patch makes, changes, moves or removes; what it moves shows what it holds under another name.
fn patched(text: &str) -> Vec<ToolAct> {
    let patch = patch::of(text, MAX_ACTS);
    let moved = patch.moves.into_iter().map(|path| ToolAct::Read { path });
    patch.writes.into_iter().map(write).chain(moved).take(MAX_ACTS + 1).collect()
}

/// The files that come along with an event.
pub(super) fn attached(files: &Value) -> Vec<ToolAct> {
    let mut named = Vec::new();
    let lists: &[Value] = files.as_array().map_or_else(|| std::slice::from_ref(files), Vec::as_slice);
    for file in lists.iter().take(MAX_ACTS + 1) {
        match file {
            Value::Object(fields) => {
                named.extend(paths_in(fields, PATHS));
                named.extend(fields.get("file").and_then(Value::as_str).map(str::to_owned));
            }
            other => {
                let mut all = Vec::new();
                values_in(other, &mut all);
                named.extend(all.into_iter().map(str::to_owned));
            }
        }
    }
    // One more than is followed is enough to be not understood.
    named.into_iter().take(MAX_ACTS + 1).map(|path| ToolAct::Read { path }).collect()
}

/// The files that a person's words mention as `@path`, whose content the agent then reads in.
pub(super) fn mentioned(words: &str) -> Vec<ToolAct> {
    // Agents differ in what may stand in front of the mark; what is no file shows nothing.
    let marks = words.match_indices('@');
    let path = |(at, _): (usize, &str)| {
        let rest = words.get(at + 1..)?;
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c));
        let path = match quote {
            Some(quote) => rest.get(1..)?.split(quote).next()?,
            None => until_blank(rest),
        };
        let path = path.replace('\\', "");
        let path = path.trim_end_matches(['.', ':', '!', '?', '>', '|', '*', '。', '、', '，']);
        // Lines of a file.
        let path = path.split_once('#').map_or(path, |(path, _)| path);
        (!path.is_empty()).then(|| path.to_owned())
    };
    marks.filter_map(path).take(MAX_ACTS + 1).map(|path| ToolAct::Read { path }).collect()
}

/// Up to the first blank or sign that ends a mention; behind a backslash it does not.
fn until_blank(rest: &str) -> &str {
    let mut is_escaped = false;
    let ends = |letter: char| letter.is_whitespace() || ",;)]}'\"`".contains(letter);
    let end =
        rest.char_indices().find(|(_, letter)| !std::mem::replace(&mut is_escaped, *letter == '\\') && ends(*letter));
    rest.get(..end.map_or(rest.len(), |(at, _)| at)).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(acts: &[ToolAct]) -> Vec<String> {
        acts.iter().map(|act| act.on().to_owned()).collect()
    }

    #[test]
    fn files_that_are_mentioned_are_read() {
        let words = "look at @.env, (@src/a.rs#L1-3) and @\"a b.txt\"; write to me@example.org. @README.md.";
        assert_eq!(on(&mentioned(words)), [".env", "src/a.rs", "a b.txt", "example.org", "README.md"]);
        assert!(mentioned("no @ here").is_empty());
    }
}
