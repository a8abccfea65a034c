//! Any endpoint that speaks the OpenAI chat completions API: OpenAI, vLLM, llama.cpp, ollama and others.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bashgate_shared::draft::ScriptDraft;
use serde_json::{Value, json};

use super::http::{self, Endpoint, Tokens, Unanswered};
use super::{Brief, Inspector, draft, reply};
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
        let format = json!({"type": "json_schema", "json_schema": {"name": "finding", "strict": true, "schema": reply::schema()}});
        let body =
            json!({"messages": [said("system", Brief::SYSTEM), said("user", &message)], "response_format": format});
        match self.post(body, self.endpoint.deadline).await {
            Ok(text) => reply::finding(&text),
            Err(unanswered) => unanswered.into(),
        }
    }

    async fn write(&self, draft: &ScriptDraft) -> Result<String, String> {
        let body = json!({"messages": [said("system", draft::SYSTEM), said("user", &draft::message(draft))], "max_tokens": draft::MAX_TOKENS});
        let text = self.post(body, self.endpoint.deadline * http::WRITING).await.map_err(Unanswered::why)?;
        draft::script(&text)
    }

    /// The text of the reply to a question to this model.
    async fn post(&self, mut body: Value, deadline: Duration) -> Result<String, Unanswered> {
        if let Some(fields) = body.as_object_mut() {
            fields.insert("model".to_owned(), json!(self.endpoint.model));
        }
        let headers: Vec<_> =
            self.endpoint.key.iter().map(|key| ("authorization", format!("Bearer {}", key.0))).collect();
        let url =
            format!("{}/v1/chat/completions", self.endpoint.base_url.trim_end_matches('/').trim_end_matches("/v1"));
        let value = http::post(&self.client, &url, &headers, &body, deadline).await?;
        self.tokens.add(&value);
        read(&value).map_err(Unanswered::by_reply)
    }
}

fn said(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

impl Inspector for OpenAi {
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
    let choices = value.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let [choice] = choices else { return Err(format!("its reply has {} choices", choices.len())) };
    let message = choice.get("message");
    if message.and_then(|message| message.get("refusal")).is_some_and(|refusal| !refusal.is_null()) {
        return Err("the model refused".to_owned());
    }
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("stop") => {
            Ok(message.and_then(|message| message.get("content")).and_then(Value::as_str).unwrap_or("").to_owned())
        }
        other => Err(format!("its reply ended with `{}`", other.unwrap_or("nothing"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_choice_counts() {
        let choice = |finish: &str, refusal: Value| json!({"finish_reason": finish, "message": {"content": "{\"flagged\": true, \"reason\": \"sends\"}", "refusal": refusal}});
        assert!(read(&json!({"choices": [choice("stop", Value::Null)]})).unwrap().contains("sends"));
        for value in [
            json!({"choices": [choice("length", Value::Null)]}),
            json!({"choices": [choice("stop", json!("no"))]}),
            json!({"choices": [choice("stop", Value::Null), choice("stop", Value::Null)]}),
            json!({"choices": []}),
            json!({}),
        ] {
            assert!(read(&value).is_err(), "{value}");
        }
    }
}
