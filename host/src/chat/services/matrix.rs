//! Matrix' client-server API: messages heard by `/sync`, changed by `m.replace`.
//!
//! Source: <https://spec.matrix.org/v1.16/client-server-api/>. There are no buttons on Matrix, and a reaction is no answer: people
//! write. Rooms with end-to-end encryption are refused, because nothing in them could be read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Method, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::approval::ApprovalId;
use crate::inspector::Key;
use crate::outgoing;

use super::super::channel::{Channel, Failure, Heard, Message, Piece, Spoken};
use super::super::settings::Settings;
use super::http::{self, PATIENCE, escape};

const SERVICE: &str = "the Matrix server";
/// How long one question for news stays open, in milliseconds.
const SYNC_MS: u64 = 25_000;
/// Longest text of one message, in UTF-16 units: an event is at most 65,536 bytes, with the text in it twice.
const LONGEST: usize = 8000;
/// Most messages that were missed and are still looked at: a hundred pages of a hundred.
const MOST_PAGES: usize = 100;
/// Longest text that can be an answer, in bytes.
const MOST_WORDS: usize = 4096;

/// The channel.
pub(in crate::chat) struct Matrix {
    client: reqwest::Client,
    base_url: Url,
    token: Key,
    room: String,
    thread: Option<String>,
    /// Tells the transactions of this run from another's.
    run: String,
    /// Who we are there.
    me: OnceCell<Me>,
    /// How often a card was taken away by somebody: one that is shown again is another message.
    taken_away: Mutex<HashMap<String, u64>>,
}

#[derive(Debug)]
struct Me {
    id: String,
    name: Option<String>,
}

/// The message that a reply stands behind.
#[derive(Debug, Clone)]
pub(in crate::chat) struct To {
    event: String,
    thread: Option<String>,
}

#[derive(Deserialize)]
struct Trouble {
    #[serde(default)]
    errcode: String,
    #[serde(default)]
    error: String,
    retry_after_ms: Option<f64>,
}

#[derive(Deserialize)]
struct WhoAmI {
    user_id: String,
}

#[derive(Deserialize)]
struct Profile {
    displayname: Option<String>,
}

#[derive(Deserialize)]
struct Sent {
    event_id: String,
}

#[derive(Deserialize)]
struct Sync {
    next_batch: String,
    #[serde(default)]
    rooms: Rooms,
}

#[derive(Default, Deserialize)]
struct Rooms {
    #[serde(default)]
    join: HashMap<String, Joined>,
    #[serde(default)]
    leave: HashMap<String, Value>,
}

#[derive(Default, Deserialize)]
struct Joined {
    #[serde(default)]
    timeline: Timeline,
}

#[derive(Default, Deserialize)]
struct Timeline {
    #[serde(default)]
    events: Vec<Value>,
    #[serde(default)]
    limited: bool,
    prev_batch: Option<String>,
}

#[derive(Deserialize)]
struct Page {
    chunk: Vec<Value>,
    end: Option<String>,
}

/// A message that may count.
#[derive(Deserialize)]
struct Event {
    event_id: String,
    sender: String,
    #[serde(rename = "type")]
    kind: String,
    state_key: Option<Value>,
    #[serde(default)]
    content: Content,
    #[serde(default)]
    unsigned: Value,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    msgtype: String,
    #[serde(default)]
    body: String,
    #[serde(rename = "m.relates_to", default)]
    relates_to: Value,
    #[serde(rename = "m.new_content", default)]
    new_content: Value,
}

impl Matrix {
    /// The channel with these settings.
    pub(in crate::chat) fn new(settings: &Settings) -> Result<Self, String> {
        let mut base_url = Url::parse(&settings.base_url).map_err(|error| format!("`base_url`: {error}"))?;
        base_url.path_segments_mut().map_err(|()| "`base_url` has no path")?.pop_if_empty();
        Ok(Self {
            client: outgoing::client()?,
            base_url,
            token: settings.token.clone(),
            room: settings.room.clone(),
            thread: settings.thread.clone(),
            run: uuid::Uuid::new_v4().simple().to_string(),
            me: OnceCell::new(),
            taken_away: Mutex::default(),
        })
    }

    /// Calls the server. No part of a path can become another one.
    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
        within: Duration,
    ) -> Result<T, Failure> {
        let mut url = self.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(["_matrix", "client", "v3"]).extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.client.request(method, url).bearer_auth(&self.token.0);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = http::call(SERVICE, request, within).await?;
        let after = answer.retry_after_s();
        let http::Answer { status, bytes, .. } = answer;
        if (200..300).contains(&status) {
            return serde_json::from_slice(&bytes).map_err(|_| http::malformed(SERVICE, status));
        }
        let trouble: Trouble = serde_json::from_slice(&bytes).map_err(|_| http::malformed(SERVICE, status))?;
        Err(failure(status, &trouble, after))
    }

    async fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, &str)]) -> Result<T, Failure> {
        self.call(Method::GET, path, query, None, PATIENCE).await
    }

    /// Sends a message. The same transaction twice is one message.
    async fn send(&self, transaction: &str, content: &Value) -> Result<String, Failure> {
        let path = ["rooms", &self.room, "send", "m.room.message", transaction];
        let sent: Sent = self.call(Method::PUT, &path, &[], Some(content), PATIENCE).await?;
        Ok(sent.event_id)
    }

    /// A transaction that is never used again.
    fn transaction(&self, what: &str) -> String {
        format!("{what}-{}-{}", self.run, uuid::Uuid::new_v4().simple())
    }

    fn in_thread(&self, mut content: Value) -> Value {
        if let (Some(thread), Some(content)) = (&self.thread, content.as_object_mut()) {
            content.insert("m.relates_to".to_owned(), json!({"rel_type": "m.thread", "event_id": thread}));
        }
        content
    }

    /// A card's content. Those who may answer are rung for; nobody is by what a command says.
    fn card(message: &Message) -> Value {
        let rung: &[String] = if message.buttons.is_empty() { &[] } else { &message.rings };
        json!({
            "msgtype": "m.text", "body": plain(message), "format": "org.matrix.custom.html", "formatted_body": html(message),
            "m.mentions": {"user_ids": rung},
        })
    }

    fn taken_away(&self, id: &ApprovalId) -> u64 {
        let counts = self.taken_away.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(id.as_str()).copied().unwrap_or(0)
    }

    /// Says something; lines as they are.
    async fn say_to(&self, words: &str, relation: Option<&Value>) -> Result<(), Failure> {
        let mut content = json!({"msgtype": "m.notice", "body": words, "m.mentions": {}});
        if let Some(content) = content.as_object_mut() {
            if words.contains('\n') {
                content.insert("format".to_owned(), json!("org.matrix.custom.html"));
                content.insert("formatted_body".to_owned(), json!(format!("<pre>{}</pre>", escape(words))));
            }
            if let Some(relation) = relation {
                content.insert("m.relates_to".to_owned(), relation.clone());
            }
        }
        if relation.is_none() {
            content = self.in_thread(content);
        }
        self.send(&self.transaction("say"), &content).await.map(drop)
    }

    /// What an event says, where it counts.
    fn spoken(&self, event: Value) -> Option<Spoken<To>> {
        let event: Event = serde_json::from_value(event).ok()?;
        let me = self.me.get()?;
        if event.kind != "m.room.message"
            || event.content.msgtype != "m.text"
            || event.sender == me.id
            || event.state_key.is_some()
            || event.unsigned.get("redacted_because").is_some()
            || !event.content.new_content.is_null()
            || event.content.body.len() > MOST_WORDS
        {
            return None;
        }
        let relation = &event.content.relates_to;
        let thread = relation.get("event_id").and_then(Value::as_str).map(str::to_owned);
        let is_reply = relation.get("m.in_reply_to").is_some();
        // An edit is another message about somebody's message, and anybody can send one.
        let thread = match relation.get("rel_type").map(Value::as_str) {
            None if relation.is_null() || is_reply => None,
            Some(Some("m.thread")) => Some(thread?),
            _ => return None,
        };
        // Bound to a thread it hears nothing else.
        if self.thread.is_some() && self.thread != thread {
            return None;
        }
        let words = words(&event.content.body, is_reply, me);
        let to = To { event: event.event_id, thread };
        Some(Spoken { user: event.sender, name: String::new(), words, on: None, to })
    }

    /// What was said between two positions and did not fit into one answer.
    async fn missed(&self, from: &str, until: &str) -> Result<Vec<Value>, Failure> {
        let filter = json!({"types": ["m.room.message"]}).to_string();
        let mut from = from.to_owned();
        let mut pages = Vec::new();
        for _ in 0..MOST_PAGES {
            let query = [("dir", "b"), ("from", &from), ("to", until), ("limit", "100"), ("filter", &filter)];
            let page: Page = self.get(&["rooms", &self.room, "messages"], &query).await?;
            pages.push(page.chunk);
            match page.end {
                Some(end) if end != from => from = end,
                _ => return Ok(in_order(pages)),
            }
        }
        tracing::warn!("more was said in a room than is looked at; the oldest of it does not count");
        Ok(in_order(pages))
    }
}

/// Pages that were read backwards, in the order in which things were said.
fn in_order(pages: Vec<Vec<Value>>) -> Vec<Value> {
    let mut all: Vec<Value> = pages.into_iter().flatten().collect();
    all.reverse();
    all
}

/// The words without what people write in front of them: the quotation of a reply, and our name.
fn words(body: &str, is_reply: bool, me: &Me) -> String {
    let mut text = body.trim();
    if is_reply && text.starts_with("> ") {
        let quoted: usize = text.lines().take_while(|line| line.starts_with('>')).map(|line| line.len() + 1).sum();
        text = text.get(quoted.min(text.len())..).unwrap_or_default().trim();
    }
    let local = me.id.trim_start_matches('@').split(':').next().unwrap_or_default();
    let names = [Some(me.id.as_str()), me.name.as_deref(), Some(local)];
    for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
        let rest = text.strip_prefix('@').unwrap_or(text).strip_prefix(name.trim_start_matches('@'));
        let rest = rest.filter(|rest| rest.starts_with([':', ',', ' ', '\u{a0}']));
        if let Some(rest) = rest {
            text = rest.trim_start_matches([':', ',', ' ', '\u{a0}']);
            break;
        }
    }
    text.trim_start_matches('!').trim().to_owned()
}

/// What an error of the server means for us.
fn failure(status: u16, trouble: &Trouble, retry_after_s: Option<f64>) -> Failure {
    let why = format!("Matrix: {status} {} {}", http::brief(&trouble.errcode), http::brief(&trouble.error));
    match status {
        429 => {
            let after = trouble.retry_after_ms.map(|ms| ms / 1000.0).or(retry_after_s).unwrap_or(5.0);
            Failure::Away(why, Some(http::pause(after)))
        }
        401 | 403 => Failure::Refused(why),
        404 if trouble.errcode == "M_NOT_FOUND" => Failure::Gone,
        400 | 413 => Failure::Unfit(why),
        _ => Failure::Away(why, None),
    }
}

impl Channel for Matrix {
    type To = To;
    /// A code block on a phone.
    const WIDTH: usize = 44;
    const LONGEST: usize = LONGEST;

    async fn begin(&self) -> Result<(), Failure> {
        let me: WhoAmI = self.get(&["account", "whoami"], &[]).await?;
        let profile: Result<Profile, Failure> = self.get(&["profile", &me.user_id], &[]).await;
        let name = match profile {
            Ok(profile) => profile.displayname,
            Err(Failure::Gone) => None,
            Err(failure) => return Err(failure),
        };
        // Joining a room in which one is already changes nothing.
        let _: Value = self.call(Method::POST, &["join", &self.room], &[], Some(&json!({})), PATIENCE).await.map_err(
            |failure| match failure {
                Failure::Gone => {
                    Failure::Refused(format!("there is no room {} for us; invite {}", self.room, me.user_id))
                }
                Failure::Refused(why) => Failure::Refused(format!("{why} (is {} invited to the room?)", me.user_id)),
                other => other,
            },
        )?;
        match self.get::<Value>(&["rooms", &self.room, "state", "m.room.encryption"], &[]).await {
            Err(Failure::Gone) => {}
            Ok(_) => return Err(encrypted()),
            Err(failure) => return Err(failure),
        }
        let _ = self.me.set(Me { id: me.user_id, name });
        Ok(())
    }

    async fn post(&self, message: &Message, _version: u64) -> Result<String, Failure> {
        // Not of this run: what was sent before a death is not sent again behind it.
        let transaction = format!("card-{}-{}", message.id, self.taken_away(&message.id));
        match self.send(&transaction, &self.in_thread(Self::card(message))).await {
            Err(Failure::Gone) => Err(Failure::Refused("Matrix: the room is gone".to_owned())),
            done => done,
        }
    }

    async fn change(&self, posted: &str, message: &Message, version: u64) -> Result<(), Failure> {
        if posted.is_empty() {
            return Err(Failure::Gone);
        }
        // A message that somebody removed can still be replaced, and nobody sees it.
        let there: Result<Value, Failure> = self.get(&["rooms", &self.room, "event", posted], &[]).await;
        let is_there = match there {
            Ok(event) => event.pointer("/unsigned/redacted_because").is_none(),
            Err(Failure::Gone) => false,
            Err(failure) => return Err(failure),
        };
        if !is_there {
            let mut counts = self.taken_away.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(message.id.to_string()).or_default() += 1;
            return Err(Failure::Gone);
        }
        let new = Self::card(message);
        let old = format!("* {}", message.foot);
        // Whoever was rung for once is not rung for again.
        let content = json!({
            "msgtype": "m.text", "body": old, "m.mentions": {}, "m.new_content": new,
            "m.relates_to": {"rel_type": "m.replace", "event_id": posted},
        });
        self.send(&format!("change-{}-{}-{version}", self.run, message.id), &content).await.map(drop)
    }

    async fn say(&self, words: &str, behind: Option<&str>) -> Result<(), Failure> {
        let relation = behind.filter(|id| !id.is_empty()).map(|id| match &self.thread {
            Some(thread) => json!({"rel_type": "m.thread", "event_id": thread, "m.in_reply_to": {"event_id": id}}),
            None => json!({"m.in_reply_to": {"event_id": id}}),
        });
        self.say_to(words, relation.as_ref()).await
    }

    async fn reply(&self, to: &To, piece: Piece<'_>) -> Result<(), Failure> {
        let mut relation = json!({"m.in_reply_to": {"event_id": to.event}});
        if let Some(thread) = &to.thread {
            relation = json!({"rel_type": "m.thread", "event_id": thread, "m.in_reply_to": {"event_id": to.event}});
        }
        self.say_to(piece.words, Some(&relation)).await
    }

    async fn listen(&self, since: Option<&str>, _cards: &[String]) -> Result<Heard<To>, Failure> {
        let filter = json!({
            "room": {
                "rooms": [self.room], "include_leave": true, "state": {"types": []}, "ephemeral": {"types": []}, "account_data": {"types": []},
                "timeline": {"types": ["m.room.message", "m.room.encryption", "m.room.member"], "limit": if since.is_some() { 100 } else { 1 }},
            },
            "presence": {"types": []}, "account_data": {"types": []},
        })
        .to_string();
        let timeout = if since.is_some() { SYNC_MS } else { 0 }.to_string();
        let mut query = vec![("filter", filter.as_str()), ("timeout", &timeout), ("set_presence", "offline")];
        query.extend(since.map(|since| ("since", since)));
        let within = Duration::from_millis(SYNC_MS) + PATIENCE;
        let mut sync: Sync = self.call(Method::GET, &["sync"], &query, None, within).await?;
        if sync.rooms.leave.contains_key(&self.room) {
            return Err(Failure::Refused(format!("Matrix: we are not in the room {} any more", self.room)));
        }
        let timeline = sync.rooms.join.remove(&self.room).unwrap_or_default().timeline;
        let mut events = Vec::new();
        // Before anything was listened to nothing was shown, either, so that nothing said then can be an answer.
        if let Some(since) = since {
            if timeline.limited
                && let Some(from) = &timeline.prev_batch
            {
                events = self.missed(from, since).await?;
            }
            events.extend(timeline.events);
        }
        let is_encryption = |event: &Value| event.get("type").is_some_and(|kind| kind == "m.room.encryption");
        if events.iter().any(is_encryption) {
            return Err(encrypted());
        }
        let spoken = events.into_iter().filter_map(|event| self.spoken(event)).collect();
        Ok(Heard { spoken, position: sync.next_batch })
    }
}

fn encrypted() -> Failure {
    Failure::Refused("the room is encrypted end to end, and the channel cannot read it; use one that is not".to_owned())
}

/// A card for readers who show no markup.
fn plain(message: &Message) -> String {
    let parts = &message.parts;
    let pieces = [&parts.head, &parts.command, &parts.about, &message.foot];
    let pieces: Vec<&str> =
        pieces.into_iter().map(|piece| piece.trim_end()).filter(|piece| !piece.is_empty()).collect();
    pieces.join("\n")
}

/// A card in the HTML that Matrix knows.
fn html(message: &Message) -> String {
    let parts = &message.parts;
    let mut out = format!("<strong>{}</strong>", escape(&parts.head));
    if !parts.command.is_empty() {
        out.push_str(&format!("<pre><code class=\"language-bash\">{}</code></pre>", escape(&parts.command)));
    }
    if !parts.about.is_empty() {
        out.push_str(&format!("<pre><code>{}</code></pre>", escape(&parts.about)));
    }
    out.push_str(&format!("<p>{}</p>", escape(&message.foot)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_quotations_in_front_of_words_are_no_part_of_them() {
        let me = Me { id: "@gate:x.example".to_owned(), name: Some("Gate Keeper".to_owned()) };
        for (body, is_reply, want) in [
            ("approve abc", false, "approve abc"),
            ("gate: approve abc", false, "approve abc"),
            ("@gate:x.example approve abc", false, "approve abc"),
            ("Gate Keeper, deny abc no", false, "deny abc no"),
            ("!approve abc", false, "approve abc"),
            ("gatekeeper approve abc", false, "gatekeeper approve abc"),
            ("> <@a:x> approve abc\n\ndeny abc", true, "deny abc"),
            ("> <@a:x> approve abc\n\ndeny abc", false, "> <@a:x> approve abc\n\ndeny abc"),
            ("> approve abc", true, ""),
        ] {
            assert_eq!(words(body, is_reply, &me), want, "{body:?}");
        }
    }
}
