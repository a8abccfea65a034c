//! Any endpoint that speaks the OpenAI chat completions API: OpenAI, vLLM, llama.cpp, ollama and others.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Value, json};

use super::http::{self, Endpoint, Tokens};
use super::{Brief, Inspector, reply};
use crate::policy::Finding;

/// Asks a model over the chat completions API.
pub struct OpenAi {
    endpoint: Endpoint,
    client: reqwest::Client,
    tokens: Tokens,
}

impl OpenAi {
    /// An inspector at this endpoint.
    pub fn new(endpoint: Endpoint) -> Result<Self, String> {
        Ok(Self { endpoint, client: crate::outgoing::client()?, tokens: Tokens::default() })
    }

    async fn ask(&self, brief: &Brief) -> Finding {
        let message = match brief.message() {
            Ok(message) => message,
            Err(why) => return Finding::NoAnswer { why },
        };
        let body = json!({
            "model": self.endpoint.model,
            "messages": [{"role": "system", "content": Brief::SYSTEM}, {"role": "user", "content": message}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "finding", "strict": true, "schema": reply::schema()}},
        });
        let headers: Vec<_> =
            self.endpoint.key.iter().map(|key| ("authorization", format!("Bearer {}", key.0))).collect();
        let url =
            format!("{}/v1/chat/completions", self.endpoint.base_url.trim_end_matches('/').trim_end_matches("/v1"));
        match http::post(&self.client, &url, &headers, &body, self.endpoint.deadline).await {
            Ok(value) => {
                self.tokens.add(&value);
                read(&value)
            }
            Err(unanswered) => unanswered.into(),
        }
    }
}

impl Inspector for OpenAi {
    fn inspect<'a>(&'a self, brief: &'a Brief) -> Pin<Box<dyn Future<Output = Finding> + Send + 'a>> {
        Box::pin(self.ask(brief))
    }

    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn tokens(&self) -> [u64; 2] {
        self.tokens.so_far()
    }
}

fn read(value: &Value) -> Finding {
    let choices = value.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let [choice] = choices else {
        return Finding::NoAnswer { why: format!("its reply has {} choices", choices.len()) };
    };
    let message = choice.get("message");
    if message.and_then(|message| message.get("refusal")).is_some_and(|refusal| !refusal.is_null()) {
        return Finding::NoAnswer { why: "the model refused".to_owned() };
    }
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("stop") => {
            reply::finding(message.and_then(|message| message.get("content")).and_then(Value::as_str).unwrap_or(""))
        }
        other => Finding::NoAnswer { why: format!("its reply ended with `{}`", other.unwrap_or("nothing")) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_choice_counts() {
        let choice = |finish: &str, refusal: Value| json!({"finish_reason": finish, "message": {"content": "{\"flagged\": true, \"reason\": \"sends\"}", "refusal": refusal}});
        assert!(matches!(read(&json!({"choices": [choice("stop", Value::Null)]})), Finding::Flagged { .. }));
        for value in [
            json!({"choices": [choice("length", Value::Null)]}),
            json!({"choices": [choice("stop", json!("no"))]}),
            json!({"choices": [choice("stop", Value::Null), choice("stop", Value::Null)]}),
            json!({"choices": []}),
            json!({}),
        ] {
            assert!(matches!(read(&value), Finding::NoAnswer { .. }), "{value}");
        }
    }
}
