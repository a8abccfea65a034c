//! One call over HTTP with everything that can go wrong on the way: one deadline, few retries, no redirects, a cap on
//! the reply. What went wrong is told apart, and none of it is an answer.

use std::time::{Duration, Instant};

use serde_json::Value;

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

/// An API key. It never prints itself.
#[derive(Clone)]
pub struct Key(pub String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Largest reply, in bytes.
const MAX_REPLY: usize = 64 * 1024;
const CONNECT: Duration = Duration::from_secs(2);
const RETRIES: u32 = 2;

/// Makes a client that follows no redirect and asks no proxy of the environment.
pub(super) fn client() -> Result<reqwest::Client, String> {
    // Only the first call installs it; later ones find it in place.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT)
        .user_agent(concat!("bashgate/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}

/// Posts a JSON body and reads a JSON reply, or says why there is none.
pub(super) async fn post(
    client: &reqwest::Client,
    url: &str,
    headers: &[(&str, String)],
    body: &Value,
    deadline: Duration,
) -> Result<Value, String> {
    let until = Instant::now() + deadline;
    let mut pause = Duration::from_millis(300);
    let mut last = String::new();
    for attempt in 0..=RETRIES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match tokio::time::timeout(left, once(client, url, headers, body)).await {
            Err(_) => return Err(format!("timed out after {} ms", deadline.as_millis())),
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(Failed { why, retry: Retry::No })) => return Err(why),
            Ok(Err(Failed { why, retry })) => {
                last = why;
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
    Err(if last.is_empty() { format!("timed out after {} ms", deadline.as_millis()) } else { last })
}

struct Failed {
    why: String,
    retry: Retry,
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
    let mut response = request.send().await.map_err(|error| Failed {
        why: format!("unavailable: {}", if error.is_connect() { "cannot connect" } else { "the connection failed" }),
        retry: Retry::Soon,
    })?;
    let status = response.status();
    if !status.is_success() {
        let after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.parse().ok());
        let again = status.as_u16() == 429 || status.as_u16() == 408 || status.is_server_error();
        return Err(Failed {
            why: format!("unavailable: HTTP {}", status.as_u16()),
            retry: if again {
                after.map_or(Retry::Soon, |seconds| Retry::After(Duration::from_secs(seconds)))
            } else {
                Retry::No
            },
        });
    }
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() <= MAX_REPLY => bytes.extend_from_slice(&chunk),
            Ok(Some(_)) => {
                return Err(Failed { why: format!("its reply is larger than {MAX_REPLY} bytes"), retry: Retry::No });
            }
            Ok(None) => break,
            Err(_) => return Err(Failed { why: "unavailable: the reply broke off".to_owned(), retry: Retry::Soon }),
        }
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Failed { why: format!("its reply is malformed: {error}"), retry: Retry::No })
}
