//! One call to a service over HTTP.

use std::time::Duration;

use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::super::channel::Failure;
use crate::outgoing::{self, Broken};

/// Longest wait for a call that is answered at once.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);
/// Largest answer, in bytes: a hundred messages.
const MOST: usize = 4 << 20;
/// Longest pause that a service can ask for.
const LONGEST_PAUSE_S: f64 = 3600.0;

/// What came back.
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    /// The headers.
    headers: HeaderMap,
    /// The body.
    pub(super) bytes: Vec<u8>,
}

impl Answer {
    /// How long the service asks to be left alone, by its header, in seconds.
    pub(super) fn retry_after_s(&self) -> Option<f64> {
        self.headers.get("retry-after").and_then(|after| after.to_str().ok()?.parse().ok())
    }
}

/// Calls a service. No error says the address, which may hold a credential.
pub(super) async fn call(service: &str, request: RequestBuilder, within: Duration) -> Result<Answer, Failure> {
    let away = |why: &str| Failure::Away(why.replace("{}", service), None);
    let call = async {
        let response = request.send().await.map_err(|error| {
            away(if error.is_connect() { "cannot connect to {}" } else { "the connection to {} failed" })
        })?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = outgoing::body(response, MOST).await.map_err(|error| match error {
            Broken::TooLarge => away("the answer of {} is too large"),
            Broken::BrokeOff => away("the answer of {} broke off"),
        })?;
        Ok(Answer { status, headers, bytes })
    };
    tokio::time::timeout(within, call).await.map_err(|_| away("{} did not answer in time"))?
}

/// An answer that makes no sense.
pub(super) fn malformed(service: &str, status: u16) -> Failure {
    Failure::Away(format!("the answer of {service} is malformed (HTTP {status})"), None)
}

/// A pause that a service asks for, in seconds, within reason.
pub(super) fn pause(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.1, LONGEST_PAUSE_S)).unwrap_or(Duration::from_secs(5))
}

/// What stands at a place of a message; null where there is nothing.
pub(super) fn at<'v>(value: &'v Value, place: &str) -> &'v Value {
    value.pointer(place).unwrap_or(&Value::Null)
}

/// A text of a service in few words, for logs and people.
pub(super) fn brief(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

/// A text in HTML. Nothing in it is markup.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
