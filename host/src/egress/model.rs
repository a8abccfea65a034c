//! The model of an agent in a container, asked by the host: the operator's key never comes into the container, and whoever is inside
//! cannot use an account of his own at the same service as a way out.
//!
//! What comes to `/model/NAME/…` goes to the service of that name as a request of the host's own: with its key, to the calls that ask a
//! model and no other, and with nothing in it that has the service connect to somebody else. What is not on a list here is refused, or,
//! where it is a tool that runs at the service, taken out of the request.

mod asking;
mod strict;

use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::inspector::Key;

pub(super) use asking::{answer, is_one};

/// Where the paths of models begin.
const PREFIX: &str = "/model";
/// Largest request, in bytes: pictures stand in them.
const MAX_REQUEST: usize = 32 * 1024 * 1024;
/// How deep what a model is asked may be nested.
const MAX_DEPTH: usize = 16;

/// What a service understands, by its documentation (November 2026).
#[derive(Debug, PartialEq, Eq)]
pub struct Api {
    /// Its name in the configuration.
    pub kind: &'static str,
    /// Where it is, unless the configuration says it.
    pub base_url: &'static str,
    /// The field with the key, and what stands in front of it there.
    key: (&'static str, &'static str),
    /// What asks a model: method and path; `*` is one name.
    calls: &'static [(&'static str, &'static str)],
    /// What may stand behind `?`.
    query: &'static [&'static str],
    /// What a question may hold at its top, blanks between them.
    fields: &'static str,
    /// The tools that run where the agent is: types, or beginnings of such, and nothing for a tool without a type.
    tools: &'static [&'static str],
}

/// The services that are known.
pub const APIS: &[Api] = &[
    Api {
        kind: "anthropic",
        base_url: "https://api.anthropic.com",
        key: ("x-api-key", ""),
        calls: &[
            ("POST", "/v1/messages"),
            ("POST", "/v1/messages/count_tokens"),
            ("GET", "/v1/models"),
            ("GET", "/v1/models/*"),
        ],
        query: &["beta=true", "limit=1000"],
        fields: "model messages max_tokens metadata stop_sequences stream system temperature thinking tool_choice tools top_k \
            top_p service_tier context_management output_config output_format cache_control speed betas",
        tools: &[
            "",
            "custom",
            "bash_",
            "text_editor_",
            "memory_",
            "computer_",
            "tool_search_tool_regex_",
            "tool_search_tool_bm25_",
        ],
    },
    Api {
        kind: "openai",
        base_url: "https://api.openai.com",
        key: ("authorization", "Bearer "),
        calls: &[
            ("POST", "/v1/responses"),
            ("POST", "/v1/responses/compact"),
            ("POST", "/v1/chat/completions"),
            ("GET", "/v1/models"),
            ("GET", "/v1/models/*"),
        ],
        query: &["client_version=*"],
        fields: "model input instructions tools tool_choice parallel_tool_calls reasoning store stream stream_options include \
            prompt_cache_key prompt_cache_retention text metadata client_metadata max_output_tokens temperature top_p \
            previous_response_id truncation user safety_identifier service_tier messages max_tokens max_completion_tokens \
            response_format stop n presence_penalty frequency_penalty seed logprobs top_logprobs logit_bias functions \
            function_call modalities verbosity reasoning_effort prediction max_tool_calls",
        tools: &["function", "custom", "local_shell", "apply_patch", "namespace"],
    },
    Api {
        kind: "gemini",
        base_url: "https://generativelanguage.googleapis.com",
        key: ("x-goog-api-key", ""),
        calls: &[
            ("POST", "/v1beta/models/*:generateContent"),
            ("POST", "/v1beta/models/*:streamGenerateContent"),
            ("POST", "/v1beta/models/*:countTokens"),
            ("GET", "/v1beta/models"),
            ("GET", "/v1beta/models/*"),
        ],
        query: &["alt=sse", "alt=json"],
        fields: "model contents systemInstruction system_instruction tools toolConfig tool_config safetySettings \
            safety_settings generationConfig generation_config",
        tools: &["functionDeclarations", "function_declarations"],
    },
];

/// What of a question is said to the model.
const SAID: &str = "messages input contents system instructions systemInstruction system_instruction prediction";
/// What of that is text to everybody: what a tool was called with, what came of it, and where something was found.
const FREE: &str = "input arguments args response operation metadata citations annotations";
/// The same of calls that the service has made, or had made.
const FREE_OF_CALLS: &str = "action";
/// What of a question may hold names that differ in the size of a letter alone: what [`FREE`] is, and forms of what a tool takes.
const FORMS: &str = "input_schema parameters parametersjsonschema schema env";
/// Longest field of a request that goes along, in bytes: a service may end all that is asked on a connection over a longer one.
const MAX_FIELD: usize = 4096;
/// The field in which Gemini is asked how long a question would be.
const COUNTED: &str = "generateContentRequest";
/// Tools of services that find addresses.
const FINDS: &[&str] = &["web_search", "web_fetch"];
/// What models of OpenAI's are called that search without a tool.
const SEARCH: &[&str] = &["search", "research"];

/// Fields of a request that go to the service; all others stay here, and with them every key and cookie of whoever asks.
const SENT: &[&str] = &["accept-encoding", "anthropic-beta", "anthropic-version", "openai-beta", "user-agent"];
/// Fields of an answer that come back: these, and those that begin so.
const RETURNED: &[&str] = &[
    "content-type",
    "content-encoding",
    "retry-after",
    "request-id",
    "x-request-id",
    "x-should-retry",
    "anthropic-ratelimit-",
    "x-ratelimit-",
];

/// A model as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// What it is called in the container.
    pub name: String,
    /// What it understands.
    pub api: &'static Api,
    /// Where it is, without the API's own path and without a slash at the end.
    pub base_url: String,
    /// The host and the port of that.
    pub end: (String, u16),
    /// The operator's key.
    pub key: Option<Key>,
    /// Tools that may run at the service, by the beginnings of their types.
    pub server_tools: Vec<String>,
    /// More of what a question may hold at its top.
    pub fields: Vec<String>,
}

/// Why something is not asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("{0} {1} does not ask a model: only {2} do")]
    Call(String, String, String),
    #[error("`{0}` behind the `?` is none of what is passed on")]
    Query(String),
    #[error("the question is larger than {} MiB", MAX_REQUEST >> 20)]
    TooLarge,
    #[error("the question is no plain JSON object: {0}")]
    NoJson(String),
    #[error(
        "`{0}` is none of what a question may hold; the operator can add it: `fields = [\"{0}\"]` under [egress.models.{1}] in bashgate.toml"
    )]
    Field(String, String),
    #[error("{0} has the service fetch something from elsewhere, which is a way out")]
    Elsewhere(&'static str),
}

impl Model {
    /// The path and the query at the service, for what was asked for behind the model's name.
    fn call(&self, method: &Method, path: &str, query: Option<&str>) -> Result<String, Refused> {
        let is_call = |(known, pattern): &&(&str, &str)| *known == method.as_str() && fits(pattern, path);
        if self.api.calls.iter().find(is_call).is_none() {
            let short = |text: &str| text.chars().take(100).flat_map(char::escape_default).collect();
            let known: Vec<String> = self.api.calls.iter().map(|(method, path)| format!("{method} {path}")).collect();
            return Err(Refused::Call(method.to_string(), short(path), known.join(", ")));
        }
        let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(path.to_owned()) };
        let is_known = |part: &&str| self.api.query.iter().any(|known| fits(known, part));
        match query.split('&').find(|part| !is_known(part)) {
            Some(part) => Err(Refused::Query(part.chars().take(60).flat_map(char::escape_default).collect())),
            None => Ok(format!("{path}?{query}")),
        }
    }

    /// The fields that go with a request.
    fn headers(&self, of_client: &HeaderMap, has_body: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        // It was read as nothing else.
        if has_body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for name in SENT {
            if let Some(value) = of_client.get(*name).filter(|value| value.len() <= MAX_FIELD) {
                headers.insert(HeaderName::from_static(name), value.clone());
            }
        }
        let (name, front) = self.api.key;
        if let Some(Ok(mut value)) = self.key.as_ref().map(|Key(key)| format!("{front}{key}").parse::<HeaderValue>()) {
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        headers
    }

    /// A question to a call as it goes to the service: as it came, or without the tools that run there.
    fn question(&self, body: Vec<u8>, path: &str) -> Result<Vec<u8>, Refused> {
        let mut asked = strict::object(&body).map_err(|error| Refused::NoJson(error.to_string()))?;
        // How long a question would be is asked with that one in it, alone.
        let is_inner = path.ends_with(":countTokens") && asked.len() == 1 && asked.contains_key(COUNTED);
        let looked_at = if is_inner { asked.get_mut(COUNTED).and_then(Value::as_object_mut) } else { Some(&mut asked) };
        let looked_at = looked_at.ok_or_else(|| Refused::NoJson(format!("`{COUNTED}` is no object")))?;
        if self.only_known(looked_at)? { Ok(Value::Object(asked).to_string().into_bytes()) } else { Ok(body) }
    }

    /// Refuses what is not known, and takes out the tools that run at the service. True where there were some.
    fn only_known(&self, asked: &mut Map<String, Value>) -> Result<bool, Refused> {
        let known = |name: &str| has(self.api.fields, name) || self.fields.iter().any(|one| one == name);
        if let Some(name) = asked.keys().find(|name| !known(name)) {
            let name: String = name.chars().take(60).flat_map(char::escape_default).collect();
            return Err(Refused::Field(name, self.name.clone()));
        }
        let model = asked.get("model").and_then(Value::as_str).unwrap_or_default();
        let model = model.to_ascii_lowercase();
        if self.api.kind == "openai" && SEARCH.iter().any(|word| model.contains(word)) && !self.may_be("web_search") {
            return Err(Refused::Elsewhere("a model that searches by itself"));
        }
        for (_, value) in asked.iter().filter(|(name, _)| has(SAID, name)) {
            self.brings_nothing(value, 0)?;
        }
        let Some(tools) = asked.get_mut("tools") else { return Ok(false) };
        let Value::Array(all) = tools else { return Err(Refused::NoJson("`tools` is no list".to_owned())) };
        let is_other = self.only_ours(all, 0)?;
        if all.is_empty() {
            for name in ["tools", "tool_choice", "toolConfig", "tool_config"] {
                asked.remove(name);
            }
        }
        Ok(is_other)
    }

    /// Takes the tools that run at the service out of a list; true where there were some. An error for what would be read in two ways.
    fn only_ours(&self, tools: &mut Vec<Value>, nested: usize) -> Result<bool, Refused> {
        let mut is_other = false;
        for tool in tools.iter_mut() {
            looked_at(tool, nested)?;
            let Value::Object(tool) = tool else { continue };
            if self.api.kind == "gemini" {
                let before = tool.len();
                tool.retain(|name, _| self.may_be(name));
                is_other |= tool.len() != before;
            }
            // A tool may hold others.
            if let Some(Value::Array(inner)) = tool.get_mut("tools") {
                is_other |= self.only_ours(inner, nested + 1)?;
            }
        }
        let before = tools.len();
        tools.retain(|tool| self.is_ours(tool));
        tools.iter().try_for_each(|tool| self.says_nothing_else(tool, 0))?;
        Ok(is_other || tools.len() != before)
    }

    /// The same of a list in the middle of what is said, of which nothing can be taken: true where all of them are ours.
    fn all_ours(&self, tools: &[Value], nested: usize, depth: usize) -> Result<bool, Refused> {
        for tool in tools {
            looked_at(tool, nested)?;
            let Value::Object(fields) = tool else { continue };
            let inner = match fields.get("tools") {
                Some(Value::Array(inner)) => self.all_ours(inner, nested + 1, depth + 1)?,
                _ => true,
            };
            let is_plain = self.api.kind != "gemini" || fields.keys().all(|name| self.may_be(name));
            if !(inner && is_plain && self.is_ours(tool)) {
                return Ok(false);
            }
            self.says_nothing_else(tool, depth + 1)?;
        }
        Ok(true)
    }

    /// One that the operator lets run at the service says to it what it says; of the agent's own, names and forms are text.
    fn says_nothing_else(&self, tool: &Value, depth: usize) -> Result<(), Refused> {
        let kind = tool.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_own = self.api.kind == "gemini" || self.api.tools.iter().any(|known| is_version_of(kind, known));
        if is_own { Ok(()) } else { self.brings_nothing(tool, depth) }
    }

    fn is_ours(&self, tool: &Value) -> bool {
        if self.api.kind == "gemini" {
            return tool.as_object().is_some_and(|tool| !tool.is_empty());
        }
        match tool.get("type") {
            None => self.may_be(""),
            Some(Value::String(kind)) => self.may_be(kind),
            Some(_) => false,
        }
    }

    /// True for a type of tools that run where the agent is, or that the operator lets run at the service.
    fn may_be(&self, kind: &str) -> bool {
        self.api.tools.iter().any(|known| is_version_of(kind, known))
            || self.server_tools.iter().any(|known| {
                kind == known || kind.strip_prefix(known.as_str()).is_some_and(|rest| rest.starts_with('_'))
            })
    }
}

/// An error for a tool that is none, that is read in two ways, or that is a server's elsewhere.
fn looked_at(tool: &Value, nested: usize) -> Result<(), Refused> {
    let Value::Object(tool) = tool else { return Err(Refused::NoJson("a tool is no object".to_owned())) };
    let is_like = |name: &String, one: &str| name.eq_ignore_ascii_case(one) && name != one;
    if nested > 1
        || tool.keys().any(|name| is_like(name, "type") || is_like(name, "tools") || !is_plain_name(name))
        || tool.get("tools").is_some_and(|inner| !inner.is_array())
    {
        return Err(Refused::NoJson("a tool has a name that is read in two ways".to_owned()));
    }
    if tool.contains_key("server_url") || tool.contains_key("mcp_server_name") {
        return Err(Refused::Elsewhere("a tool of a server elsewhere"));
    }
    Ok(())
}

/// True for a type of tools that is the known one; where a version stands behind that, with any.
fn is_version_of(kind: &str, known: &str) -> bool {
    let version = kind.strip_prefix(known).filter(|_| known.ends_with('_'));
    kind == known || version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// True for a name that everybody reads in the same way.
fn is_plain_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

/// True where a list with blanks between its names has this one.
fn has(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|one| one == name)
}

/// True for a field of an answer that the client gets.
fn is_returned(name: &HeaderName) -> bool {
    RETURNED.iter().any(|known| name == *known || known.ends_with('-') && name.as_str().starts_with(known))
}

/// True where a path is this pattern: letters of plain names, and nothing that is read in two ways.
fn fits(pattern: &str, path: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.len() <= 128
            && !text.starts_with('.')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    match pattern.split_once('*') {
        None => pattern == path,
        Some((front, end)) => path.strip_prefix(front).and_then(|rest| rest.strip_suffix(end)).is_some_and(is_name),
    }
}

/// Fields that hold what is shown, in base64 or as `data:…`, or the name that the service has given it: some proxies of services take an
/// address there, too, and fetch it.
const HOLDS_DATA: &str = "audio data document file file_id fileid image image_file media source video";

/// What may be shown inline: what a decoder reads as it is. A playlist, or a drawing, names other files.
const SHOWN: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/jpg",
    "image/gif",
    "image/webp",
    "application/pdf",
    "text/plain",
    "audio/wav",
    "audio/x-wav",
    "audio/mp3",
    "audio/mpeg",
    "audio/mp4",
    "audio/ogg",
    "audio/flac",
    "audio/aac",
    "audio/webm",
    "video/mp4",
    "video/webm",
];

/// True for what is there itself. Neither base64 nor a name that a service gives has a colon.
fn is_data(text: &str) -> bool {
    let lower = text.trim_start().to_ascii_lowercase();
    match lower.strip_prefix("data:") {
        Some(rest) => SHOWN.iter().any(|kind| rest.strip_prefix(kind).is_some_and(|rest| rest.starts_with([';', ',']))),
        None => !text.contains(':'),
    }
}

impl Model {
    /// An error where what a model is shown lies elsewhere, so that the service fetches it. Arguments of tools are text to it.
    fn brings_nothing(&self, value: &Value, depth: usize) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            return Err(Refused::NoJson(format!("it is nested more than {MAX_DEPTH} deep")));
        }
        match value {
            Value::Array(all) => all.iter().try_for_each(|one| self.brings_nothing(one, depth + 1)),
            Value::Object(block) => {
                // What the service has found by a tool that it may use.
                let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
                let is_found =
                    kind.strip_suffix("_result").is_some_and(|tool| FINDS.contains(&tool) && self.may_be(tool));
                let is_call = kind.ends_with("_call");
                // A call that the service has not answered it may make when it is told of it.
                let tool = block.get("name").and_then(Value::as_str).unwrap_or_default();
                let may_be = self.may_be(tool) || tool.ends_with("_code_execution") && self.may_be("code_execution");
                let is_made = kind == "server_tool_use" && !tool.starts_with("tool_search_tool_") && !may_be;
                if is_made || kind.starts_with("mcp_") && !self.may_be("mcp") {
                    return Err(Refused::Elsewhere("a call of a tool of the service"));
                }
                for (name, inner) in block {
                    let lower = name.to_ascii_lowercase();
                    if !is_plain_name(name) {
                        return Err(Refused::NoJson("a name is read in two ways".to_owned()));
                    }
                    if lower.ends_with("url") || lower.ends_with("uri") {
                        if !is_found {
                            is_inline(inner)?;
                        }
                    } else if matches!(&*lower, "filedata" | "file_data")
                        || inner.is_string() && has(HOLDS_DATA, &lower)
                    {
                        if !inner.as_str().is_some_and(is_data) {
                            return Err(Refused::Elsewhere("a file that is an address"));
                        }
                    } else if lower == "tools" {
                        let is_ours = match inner.as_array() {
                            Some(tools) => self.all_ours(tools, 0, depth + 1)?,
                            None => false,
                        };
                        if !is_ours {
                            return Err(Refused::Elsewhere("a tool of the service, in the middle of what is said,"));
                        }
                    } else if !(has(FREE, &lower) || is_call && has(FREE_OF_CALLS, &lower)) {
                        self.brings_nothing(inner, depth + 1)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// An error for an address of something elsewhere, also within an object that says more of it.
fn is_inline(value: &Value) -> Result<(), Refused> {
    let address = |text: &str| !(text.is_empty() || text.starts_with("data:") && is_data(text));
    // What says how, in words: `high`, `image/png`. Readers of addresses pass over blanks and take a backslash for a slash.
    let is_words = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+/".contains(&byte)) && !text.starts_with('/')
    };
    let is_elsewhere = match value {
        Value::String(text) => address(text),
        Value::Object(more) => more.iter().any(|(name, one)| match one {
            Value::String(text) => {
                let lower = name.to_ascii_lowercase();
                let is_address = lower.ends_with("url") || lower.ends_with("uri");
                if is_address { address(text) } else { !text.starts_with("data:") && !is_words(text) }
            }
            Value::Array(_) | Value::Object(_) => true,
            _ => false,
        }),
        Value::Array(all) => !all.is_empty(),
        _ => false,
    };
    if is_elsewhere { Err(Refused::Elsewhere("an address in the place of a picture or a file")) } else { Ok(()) }
}
