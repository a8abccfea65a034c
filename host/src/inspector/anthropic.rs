//! The Anthropic Messages API.
//!
//! Current models refuse sampling parameters, and think unless told not to; a refusal or a cut-off reply is no answer.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Value, json};

use super::http::{self, Endpoint, Tokens};
use super::{Brief, Inspector, reply};
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
            "model": self.endpoint.model,
            "max_tokens": 1024,
            "thinking": {"type": "disabled"},
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": reply::schema()}},
            "system": Brief::SYSTEM,
            "messages": [{"role": "user", "content": message}],
        });
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        if let Some(key) = &self.endpoint.key {
            headers.push(("x-api-key", key.0.clone()));
        }
        let url = format!("{}/v1/messages", self.endpoint.base_url.trim_end_matches('/'));
        match http::post(&self.client, &url, &headers, &body, self.endpoint.deadline).await {
            Ok(value) => {
                self.tokens.add(&value);
                read(&value)
            }
            Err(unanswered) => unanswered.into(),
        }
    }
}

impl Inspector for Anthropic {
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
    match value.get("stop_reason").and_then(Value::as_str) {
        Some("end_turn" | "stop_sequence") => {}
        Some("refusal") => return Finding::NoAnswer { why: "the model refused".to_owned() },
        other => return Finding::NoAnswer { why: format!("its reply ended with `{}`", other.unwrap_or("nothing")) },
    }
    let blocks = value.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text: String = blocks
        .iter()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    reply::finding(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_text_counts() {
        let value = |stop: &str, text: &str| json!({"stop_reason": stop, "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": text}]});
        let good = r#"{"flagged": false, "reason": "local"}"#;
        assert!(matches!(read(&value("end_turn", good)), Finding::Clear { .. }));
        for (stop, text) in [
            ("refusal", good),
            ("max_tokens", good),
            ("tool_use", good),
            ("end_turn", r#"{"flagged": true"#),
            ("end_turn", ""),
        ] {
            assert!(matches!(read(&value(stop, text)), Finding::NoAnswer { .. }), "{stop} {text}");
        }
        assert!(matches!(read(&json!({})), Finding::NoAnswer { .. }));
    }
}
