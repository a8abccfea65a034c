//! The Anthropic Messages API.
//!
//! Current models refuse sampling parameters, and think unless told not to; a refusal or a cut-off reply is no answer.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bashgate_shared::draft::ScriptDraft;
use serde_json::{Value, json};

use super::http::{self, Endpoint, Tokens, Unanswered};
use super::{Brief, Inspector, draft, reply};
use crate::policy::Finding;

/// Asks a model over the Messages API.
pub struct Anthropic {
    endpoint: Endpoint,
    client: reqwest::Client,
    tokens: Tokens,
}

impl Anthropic {
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
            "max_tokens": 1024,
            "thinking": {"type": "disabled"},
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": reply::schema()}},
            "system": Brief::SYSTEM,
            "messages": [{"role": "user", "content": message}],
        });
        match self.post(body, self.endpoint.deadline).await {
            Ok(text) => reply::finding(&text),
            Err(unanswered) => unanswered.into(),
        }
    }

    async fn write(&self, draft: &ScriptDraft) -> Result<String, String> {
        let body = json!({
            "max_tokens": draft::MAX_TOKENS,
            "thinking": {"type": "disabled"},
            "system": draft::SYSTEM,
            "messages": [{"role": "user", "content": draft::message(draft)}],
        });
        let text = self.post(body, self.endpoint.deadline * http::WRITING).await.map_err(Unanswered::why)?;
        draft::script(&text)
    }

    /// The text of the reply to a question to this model.
    async fn post(&self, mut body: Value, deadline: Duration) -> Result<String, Unanswered> {
        if let Some(fields) = body.as_object_mut() {
            fields.insert("model".to_owned(), json!(self.endpoint.model));
        }
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        if let Some(key) = &self.endpoint.key {
            headers.push(("x-api-key", key.0.clone()));
        }
        let url = format!("{}/v1/messages", self.endpoint.base_url.trim_end_matches('/'));
        let value = http::post(&self.client, &url, &headers, &body, deadline).await?;
        self.tokens.add(&value);
        read(&value).map_err(Unanswered::by_reply)
    }
}

impl Inspector for Anthropic {
    fn inspect<'a>(&'a self, brief: &'a Brief) -> Pin<Box<dyn Future<Output = Finding> + Send + 'a>> {
        Box::pin(self.ask(brief))
    }

    fn write<'a>(
        &'a self,
        draft: &'a ScriptDraft,
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        Box::pin(self.write(draft))
    }

    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn tokens(&self) -> [u64; 2] {
        self.tokens.so_far()
    }
}

/// The text of a reply, or why it has none.
fn read(value: &Value) -> Result<String, String> {
    match value.get("stop_reason").and_then(Value::as_str) {
        Some("end_turn" | "stop_sequence") => {}
        Some("refusal") => return Err("the model refused".to_owned()),
        other => return Err(format!("its reply ended with `{}`", other.unwrap_or("nothing"))),
    }
    let blocks = value.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts = blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text").and_then(Value::as_str));
    Ok(texts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_counts() {
        let value = |stop: &str, text: &str| json!({"stop_reason": stop, "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": text}]});
        let good = r#"{"flagged": false, "reason": "local"}"#;
        assert_eq!(read(&value("end_turn", good)).as_deref(), Ok(good));
        for (stop, text) in [("refusal", good), ("max_tokens", good), ("tool_use", good)] {
            assert!(read(&value(stop, text)).is_err(), "{stop} {text}");
        }
        assert!(read(&json!({})).is_err());
    }
}
