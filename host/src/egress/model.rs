//! The model of an agent in a container, asked by the host: the operator's key never comes into the container, and whoever is inside
//! cannot use an account of his own at the same service as a way out.
//!
//! What comes to `/model/NAME/…` goes to the service of that name as a request of the host's own: with its key, to the calls that ask a
//! model and no other, and with nothing in it that has the service connect to somebody else. What is not on a list here is refused, or,
//! where it is a tool that runs at the service, taken out of the request.

mod asking;
mod strict;

use hyper::Method;
use hyper::header::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::inspector::Key;

pub(super) use asking::{answer, is_one};

/// Where the paths of models begin.
const PREFIX: &str = "/model";
/// Largest request, in bytes: pictures stand in them.
const MAX_REQUEST: usize = 32 * 1024 * 1024;
/// How deep what a model is asked may be nested.
const MAX_DEPTH: usize = 8;

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
        tools: &["", "custom", "bash_", "text_editor_", "memory_", "computer_", "tool_search_tool_"],
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
        query: &[],
        fields: "model input instructions tools tool_choice parallel_tool_calls reasoning store stream stream_options include \
            prompt_cache_key prompt_cache_retention text metadata client_metadata max_output_tokens temperature top_p \
            previous_response_id truncation user safety_identifier service_tier messages max_tokens max_completion_tokens \
            response_format stop n presence_penalty frequency_penalty seed logprobs top_logprobs logit_bias functions \
            function_call modalities verbosity reasoning_effort prediction max_tool_calls",
        tools: &["function", "custom", "local_shell", "shell", "apply_patch", "namespace"],
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
            safety_settings generationConfig generation_config generateContentRequest",
        tools: &["functionDeclarations", "function_declarations"],
    },
];

/// Fields of a request that go to the service; all others stay here, and with them every key and cookie of whoever asks.
const SENT: &[&str] =
    &["accept", "accept-encoding", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "user-agent"];
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
        match query.split('&').find(|part| !self.api.query.contains(part)) {
            Some(part) => Err(Refused::Query(part.chars().take(60).flat_map(char::escape_default).collect())),
            None => Ok(format!("{path}?{query}")),
        }
    }

    /// The fields that go with a request.
    fn headers(&self, of_client: &HeaderMap) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for name in SENT {
            if let Some(value) = of_client.get(*name) {
                headers.insert(HeaderName::from_static(name), value.clone());
            }
        }
        let (name, front) = self.api.key;
        if let Some(Ok(mut value)) =
            self.key.as_ref().map(|Key(key)| format!("{front}{key}").parse::<hyper::header::HeaderValue>())
        {
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        headers
    }

    /// A question as it goes to the service: as it came, or without the tools that run there.
    fn question(&self, body: Vec<u8>) -> Result<Vec<u8>, Refused> {
        let mut asked = strict::object(&body).map_err(|error| Refused::NoJson(error.to_string()))?;
        let known = |name: &str| {
            self.api.fields.split_ascii_whitespace().any(|one| one == name) || self.fields.iter().any(|one| one == name)
        };
        if let Some(name) = asked.keys().find(|name| !known(name)) {
            let name: String = name.chars().take(60).flat_map(char::escape_default).collect();
            return Err(Refused::Field(name, self.name.clone()));
        }
        // A question about a question (counting) holds that one.
        if let Some(inner) = asked.get("generateContentRequest") {
            let inner = self.question(inner.to_string().into_bytes())?;
            if let Ok(inner) = serde_json::from_slice::<Value>(&inner) {
                asked.insert("generateContentRequest".to_owned(), inner);
            }
            return Ok(Value::Object(asked).to_string().into_bytes());
        }
        for name in
            ["messages", "input", "contents", "system", "instructions", "systemInstruction", "system_instruction"]
        {
            asked.get(name).map_or(Ok(()), |value| brings_nothing(value, 0))?;
        }
        let mut is_other = false;
        if let Some(tools) = asked.get_mut("tools") {
            let Value::Array(all) = tools else { return Err(Refused::NoJson("`tools` is no list".to_owned())) };
            let before = all.clone();
            for tool in all.iter_mut() {
                self.only_ours(tool)?;
            }
            all.retain(|tool| self.is_ours(tool));
            is_other = *all != before;
            if all.is_empty() {
                asked.remove("tools");
                asked.remove("tool_choice");
                asked.remove("toolConfig");
                asked.remove("tool_config");
            }
        }
        Ok(if is_other { Value::Object(asked).to_string().into_bytes() } else { body })
    }

    /// Takes out of an entry of tools, where it may hold several, what runs at the service; an error for what would be read in two ways.
    fn only_ours(&self, tool: &mut Value) -> Result<(), Refused> {
        let Value::Object(tool) = tool else { return Err(Refused::NoJson("a tool is no object".to_owned())) };
        if tool.keys().any(|name| name.eq_ignore_ascii_case("type") && name != "type") {
            return Err(Refused::NoJson("a tool has a type of another name".to_owned()));
        }
        if tool.get("server_url").is_some() || tool.get("mcp_server_name").is_some() {
            return Err(Refused::Elsewhere("a tool of a server elsewhere"));
        }
        if self.api.kind == "gemini" {
            tool.retain(|name, _| self.may_be(name));
        }
        // A tool may hold others.
        if let Some(Value::Array(inner)) = tool.get_mut("tools") {
            for one in inner.iter_mut() {
                self.only_ours(one)?;
            }
            inner.retain(|one| self.is_ours(one));
        }
        Ok(())
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
        let is = |known: &str| kind == known || known.ends_with('_') && kind.starts_with(known);
        self.api.tools.iter().any(|known| is(known))
            || self.server_tools.iter().any(|known| {
                kind == known || kind.strip_prefix(known.as_str()).is_some_and(|rest| rest.starts_with('_'))
            })
    }
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

/// An error where what a model is shown lies elsewhere, so that the service fetches it. Arguments and results of tools are text to it.
fn brings_nothing(value: &Value, depth: usize) -> Result<(), Refused> {
    if depth > MAX_DEPTH {
        return Err(Refused::NoJson(format!("it is nested more than {MAX_DEPTH} deep")));
    }
    match value {
        Value::Array(all) => all.iter().try_for_each(|one| brings_nothing(one, depth + 1)),
        Value::Object(block) => {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
            let is_inline = |value: &Value| {
                let url = value.get("url").unwrap_or(value);
                url.as_str().is_none_or(|url| url.starts_with("data:"))
            };
            if block.get("source").is_some_and(|source| text(source.get("type")).is_some_and(|kind| kind == "url")) {
                return Err(Refused::Elsewhere("a source that is an address"));
            }
            if block.get("image_url").or_else(|| block.get("video_url")).is_some_and(|url| !is_inline(url)) {
                return Err(Refused::Elsewhere("a picture that is an address"));
            }
            if block.contains_key("file_url") || block.contains_key("server_url") {
                return Err(Refused::Elsewhere("a file that is an address"));
            }
            if block.contains_key("fileData")
                || block.contains_key("file_data") && block.get("file_data").is_some_and(Value::is_object)
            {
                return Err(Refused::Elsewhere("a file that is an address"));
            }
            for name in ["content", "parts", "output", "source", "file", "functionResponse", "function_response"] {
                block.get(name).map_or(Ok(()), |inner| brings_nothing(inner, depth + 1))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
