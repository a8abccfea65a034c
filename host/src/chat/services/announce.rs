//! Services that only tell: ntfy, and a webhook of one's own. Nobody answers there.
//!
//! Source: <https://docs.ntfy.sh/publish/>.

use std::time::Duration;

use reqwest::{RequestBuilder, Url};
use serde_json::{Value, json};

use crate::inspector::Key;
use crate::outgoing;

use super::super::channel::{Channel, Failure, Heard, Message, Piece};
use super::super::settings::{Kind, Settings};
use super::http::{self, PATIENCE};

/// How long one wait for answers that never come lasts.
const WAIT: Duration = Duration::from_mins(10);
/// Longest text, in UTF-16 units: ntfy makes a file of what is longer than 4096 bytes.
const LONGEST: usize = 1000;

/// The channel.
pub(in crate::chat) struct Announce {
    client: reqwest::Client,
    kind: Kind,
    url: Url,
    token: Option<Key>,
}

impl Announce {
    /// The channel with these settings.
    pub(in crate::chat) fn new(settings: &Settings) -> Result<Self, String> {
        let mut url = Url::parse(&settings.base_url).map_err(|error| format!("`base_url`: {error}"))?;
        if settings.kind == Kind::Ntfy {
            url.path_segments_mut().map_err(|()| "`base_url` has no path")?.pop_if_empty().push(&settings.room);
        }
        let token = Some(settings.token.clone()).filter(|token| !token.0.is_empty());
        Ok(Self { client: outgoing::client()?, kind: settings.kind, url, token })
    }

    const fn name(&self) -> &'static str {
        if matches!(self.kind, Kind::Ntfy) { "ntfy" } else { "the webhook" }
    }

    async fn send(&self, request: RequestBuilder) -> Result<(), Failure> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(&token.0),
            None => request,
        };
        let answer = http::call(self.name(), request, PATIENCE).await?;
        let after = answer.retry_after_s().unwrap_or(10.0);
        let http::Answer { status, bytes, .. } = answer;
        let why = || format!("{}: {status} {}", self.name(), http::brief(&String::from_utf8_lossy(&bytes)));
        match status {
            200..300 => Ok(()),
            429 => Err(Failure::Away(why(), Some(http::pause(after)))),
            401 | 403 | 404 => Err(Failure::Refused(why())),
            400..500 => Err(Failure::Unfit(why())),
            _ => Err(Failure::Away(why(), None)),
        }
    }

    /// A topic may be anybody's to read: what would run is not told there, only where it is to be seen.
    async fn tell(&self, event: &str, title: &str, words: &str, card: Option<&Message>) -> Result<(), Failure> {
        let request = if self.kind == Kind::Ntfy {
            let priority = if event == "held" { "high" } else { "low" };
            // In a header only ASCII is what it is.
            let title: String =
                title.chars().filter(|letter| letter.is_ascii_graphic() || *letter == ' ').take(120).collect();
            self.client
                .post(self.url.clone())
                .header("title", title)
                .header("priority", priority)
                .body(words.to_owned())
        } else {
            let shown = card.map(|message| {
                json!({"id": message.id, "head": message.parts.head, "command": message.parts.command, "about": message.parts.about,
                       "folded": message.parts.folded})
            });
            let body = json!({"event": event, "title": title, "text": words, "card": shown.unwrap_or(Value::Null)});
            self.client.post(self.url.clone()).json(&body)
        };
        self.send(request).await
    }
}

impl Channel for Announce {
    type To = ();
    const WIDTH: usize = 80;
    const LONGEST: usize = LONGEST;

    async fn begin(&self) -> Result<(), Failure> {
        Ok(())
    }

    async fn post(&self, message: &Message, _version: u64) -> Result<String, Failure> {
        let words = format!("A command is held: bashgate show {}", message.id);
        let title = first_words(&message.parts.head);
        self.tell("held", &title, &words, Some(message)).await?;
        Ok(message.id.to_string())
    }

    /// Said once more when it is over; what changes meanwhile is nobody's news.
    async fn change(&self, _posted: &str, message: &Message, _version: u64) -> Result<(), Failure> {
        if !message.buttons.is_empty() {
            return Ok(());
        }
        self.tell("over", "bashgate", &message.foot, Some(message)).await
    }

    async fn say(&self, words: &str, _behind: Option<&str>) -> Result<(), Failure> {
        self.tell("said", "bashgate", words, None).await
    }

    async fn reply(&self, (): &(), _piece: Piece<'_>) -> Result<(), Failure> {
        Ok(())
    }

    async fn listen(&self, since: Option<&str>, _cards: &[String]) -> Result<Heard<()>, Failure> {
        if since.is_some() {
            tokio::time::sleep(WAIT).await;
        }
        Ok(Heard { spoken: Vec::new(), position: String::new() })
    }
}

/// `Held in workspace NAME`, without the reason, which may name files.
fn first_words(head: &str) -> String {
    head.split_once(':').map_or(head, |(first, _)| first).to_owned()
}
