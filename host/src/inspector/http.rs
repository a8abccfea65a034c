//! One call over HTTP with everything that can go wrong on the way: one deadline, few retries, no redirects, a cap on
//! the reply. What went wrong is told apart, and none of it is an answer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::outgoing;
use crate::policy::Finding;

/// Where and how a model is asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The address, without the API's own path.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The key, if one is needed. Never printed.
    pub key: Option<Key>,
    /// The whole time for one inspection, retries included.
    pub deadline: Duration,
}

/// Tokens that a model has read and written.
#[derive(Debug, Default)]
pub struct Tokens([AtomicU64; 2]);

impl Tokens {
    /// Adds what a reply says about itself, in the words of either API.
    pub(super) fn add(&self, reply: &Value) {
        let names = [["input_tokens", "prompt_tokens"], ["output_tokens", "completion_tokens"]];
        for (total, names) in self.0.iter().zip(names) {
            let used = names.iter().find_map(|name| reply.get("usage")?.get(name)?.as_u64());
            total.fetch_add(used.unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// How many so far: read, written.
    pub(super) fn so_far(&self) -> [u64; 2] {
        self.0.each_ref().map(|total| total.load(Ordering::Relaxed))
    }
}

/// An API key. It never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Why a call brought nothing.
#[derive(Debug)]
pub(super) struct Unanswered {
    why: String,
    /// True when it says nothing about the request: others would fare no better.
    unavailable: bool,
}

impl Unanswered {
    /// A reply that came and holds nothing that was asked for.
    pub(super) fn by_reply(why: impl Into<String>) -> Self {
        Self { why: why.into(), unavailable: false }
    }

    /// What went wrong.
    pub(super) fn why(self) -> String {
        self.why
    }
}

/// What a script may take longer to write than a command to look at.
pub(super) const WRITING: u32 = 4;

impl From<Unanswered> for Finding {
    fn from(Unanswered { why, unavailable }: Unanswered) -> Self {
        if unavailable { Self::Unavailable { why } } else { Self::NoAnswer { why } }
    }
}

/// Largest reply, in bytes.
const MAX_REPLY: usize = 64 * 1024;
const RETRIES: u32 = 2;

/// Posts a JSON body and reads a JSON reply, or says why there is none.
pub(super) async fn post(
    client: &reqwest::Client,
    url: &str,
    headers: &[(&str, String)],
    body: &Value,
    deadline: Duration,
) -> Result<Value, Unanswered> {
    let late = || Unanswered { why: format!("timed out after {} ms", deadline.as_millis()), unavailable: true };
    let until = Instant::now() + deadline;
    let mut pause = Duration::from_millis(300);
    let mut last = None;
    for attempt in 0..=RETRIES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match tokio::time::timeout(left, once(client, url, headers, body)).await {
            Err(_) => return Err(late()),
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(Failed { unanswered, retry: Retry::No })) => return Err(unanswered),
            Ok(Err(Failed { unanswered, retry })) => {
                last = Some(unanswered);
                let wait = if let Retry::After(asked) = retry { asked } else { pause };
                pause *= 2;
                // A wait that the deadline does not allow is no wait.
                if attempt == RETRIES || wait >= until.saturating_duration_since(Instant::now()) {
                    break;
                }
                tokio::time::sleep(wait).await;
            }
        }
    }
    Err(last.unwrap_or_else(late))
}

struct Failed {
    unanswered: Unanswered,
    retry: Retry,
}

impl Failed {
    fn unavailable(what: &str, retry: Retry) -> Self {
        Self { unanswered: Unanswered { why: format!("unavailable: {what}"), unavailable: true }, retry }
    }

    fn unusable(why: String) -> Self {
        Self { unanswered: Unanswered { why, unavailable: false }, retry: Retry::No }
    }
}

enum Retry {
    /// Trying again is pointless.
    No,
    /// It may help, after our own pause.
    Soon,
    /// It may help, after the time that the server asks for.
    After(Duration),
}

async fn once(client: &reqwest::Client, url: &str, headers: &[(&str, String)], body: &Value) -> Result<Value, Failed> {
    let mut request = client.post(url).json(body);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let response = request.send().await.map_err(|error| {
        Failed::unavailable(if error.is_connect() { "cannot connect" } else { "the connection failed" }, Retry::Soon)
    })?;
    let status = response.status();
    if !status.is_success() {
        let after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.parse().ok());
        let status = status.as_u16();
        let again = status == 429 || status == 408 || status >= 500;
        let retry = match after {
            _ if !again => Retry::No,
            None => Retry::Soon,
            Some(seconds) => Retry::After(Duration::from_secs(seconds)),
        };
        // These three are about what was sent. That it was asked too often (429) is something that one agent can bring about
        // for all: no outage, or it would pay.
        return Err(if status == 429 {
            let unanswered = Unanswered { why: "busy: HTTP 429".to_owned(), unavailable: false };
            Failed { unanswered, retry }
        } else if [400, 413, 422].contains(&status) {
            Failed::unusable(format!("it does not take the question: HTTP {status}"))
        } else {
            Failed::unavailable(&format!("HTTP {status}"), retry)
        });
    }
    let bytes = outgoing::body(response, MAX_REPLY).await.map_err(|error| match error {
        outgoing::Broken::TooLarge => Failed::unusable(format!("its reply is larger than {MAX_REPLY} bytes")),
        outgoing::Broken::BrokeOff => Failed::unavailable("the reply broke off", Retry::Soon),
    })?;
    serde_json::from_slice(&bytes).map_err(|error| Failed::unusable(format!("its reply is malformed: {error}")))
}
