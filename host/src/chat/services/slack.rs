//! Slack: the Web API, and events over Socket Mode, which needs no address that Slack can reach.
//!
//! Source: <https://docs.slack.dev/apis/events-api/using-socket-mode>, <https://docs.slack.dev/reference/methods>
//! (`apps.connections.open`, `auth.test`, `chat.postMessage`, `chat.postEphemeral`, `chat.update`, `conversations.history`, `conversations.replies`).

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{Mutex, OnceCell};
use tokio::time::Instant;

use crate::approval::ApprovalId;
use crate::inspector::Key;
use crate::outgoing;

use super::super::channel::{Button, Channel, Failure, Heard, Message, Piece, Spoken};
use super::super::settings::Settings;
use super::http::{self, PATIENCE, at};
use super::once::Once;
use super::socket::{Came, Socket};

const SERVICE: &str = "Slack";
/// How long one wait for news lasts.
const WAIT: Duration = Duration::from_secs(25);
/// Longest text of one message, in UTF-16 units: a block holds a little more.
const LONGEST: usize = 2800;
/// Most pages of a hundred messages that were missed and are still looked at.
const MOST_PAGES: usize = 50;
/// Most threads that were answered while nobody was connected and are still looked at.
const MOST_THREADS: usize = 20;

/// The channel.
pub(in crate::chat) struct Slack {
    client: reqwest::Client,
    base_url: String,
    token: Key,
    app_token: Key,
    room: String,
    thread: Option<String>,
    /// Who we are there.
    me: OnceCell<Me>,
    socket: Mutex<Option<Socket>>,
    /// Each message comes as an event, perhaps twice, and once more from the history.
    heard: Once<Time>,
}

#[derive(Debug, Deserialize)]
struct Me {
    team_id: String,
    user_id: String,
}

/// The time of a message, by which Slack names it: seconds and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Time(u64, u64);

impl Time {
    fn read(text: &str) -> Option<Self> {
        let (seconds, number) = text.split_once('.')?;
        Some(Self(seconds.parse().ok()?, number.parse().ok().filter(|_| number.len() == 6)?))
    }

    /// The last time in front of it.
    const fn before(self) -> Self {
        match self {
            Self(seconds, 0) => Self(seconds.saturating_sub(1), 999_999),
            Self(seconds, number) => Self(seconds, number - 1),
        }
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0, self.1)
    }
}

/// Where a reply goes.
#[derive(Debug, Clone)]
pub(in crate::chat) enum To {
    /// Into the thread of a message.
    Thread(String),
    /// To the one who pressed a button, who alone sees it.
    Press(String),
}

#[derive(Deserialize)]
struct Outcome {
    ok: bool,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct Posted {
    ts: String,
}

#[derive(Deserialize)]
struct Opened {
    url: String,
}

#[derive(Deserialize)]
struct History {
    messages: Vec<Value>,
    #[serde(default)]
    has_more: bool,
    response_metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    next_cursor: String,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    envelope_id: Option<String>,
    #[serde(default)]
    payload: Value,
    #[serde(default)]
    reason: String,
}

/// A message that may count. One that has a field of [`SECONDHAND`] does not.
#[derive(Deserialize)]
struct Text {
    user: String,
    text: String,
    ts: String,
    thread_ts: Option<String>,
    user_team: Option<String>,
    source_team: Option<String>,
    team: Option<String>,
}

/// What a message has that is not a person's own fresh word.
const SECONDHAND: &[&str] = &[
    "subtype",
    "bot_id",
    "bot_profile",
    "app_id",
    "edited",
    "hidden",
    "attachments",
    "files",
    "is_ephemeral",
    "previous_message",
];

#[derive(Deserialize)]
struct Press {
    user: Presser,
    channel: Option<HasId>,
    container: Option<Container>,
    #[serde(default)]
    actions: Vec<Action>,
}

#[derive(Deserialize)]
struct Presser {
    id: String,
    #[serde(default)]
    name: String,
    team_id: String,
}

#[derive(Deserialize)]
struct HasId {
    id: String,
}

#[derive(Deserialize)]
struct Container {
    #[serde(rename = "type")]
    kind: String,
    message_ts: String,
    channel_id: String,
}

#[derive(Deserialize)]
struct Action {
    action_id: String,
    #[serde(default)]
    value: String,
}

impl Slack {
    /// The channel with these settings.
    pub(in crate::chat) fn new(settings: &Settings) -> Result<Self, String> {
        let app_token = settings.app_token.clone().ok_or("Slack needs an `app_token_file`")?;
        Ok(Self {
            client: outgoing::client()?,
            base_url: settings.base_url.clone(),
            token: settings.token.clone(),
            app_token,
            room: settings.room.clone(),
            thread: settings.thread.clone(),
            me: OnceCell::new(),
            socket: Mutex::default(),
            heard: Once::default(),
        })
    }

    async fn call<T: DeserializeOwned>(&self, method: &str, token: &Key, body: &Value) -> Result<T, Failure> {
        let url = format!("{}/{method}", self.base_url);
        self.answered(method, self.client.post(url).bearer_auth(&token.0).json(body)).await
    }

    /// Asks a method that reads: these take no JSON, only a form.
    async fn read<T: DeserializeOwned>(&self, method: &str, fields: &[(&str, &str)]) -> Result<T, Failure> {
        let url = format!("{}/{method}", self.base_url);
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.client.post(url).bearer_auth(&self.token.0);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        self.answered(method, request).await
    }

    async fn answered<T: DeserializeOwned>(
        &self,
        method: &str,
        request: reqwest::RequestBuilder,
    ) -> Result<T, Failure> {
        let answer = http::call(SERVICE, request, PATIENCE).await?;
        let after = answer.retry_after_s().unwrap_or(5.0);
        let http::Answer { status, bytes, .. } = answer;
        if status == 429 {
            return Err(Failure::Away(format!("Slack: {method} is called too often"), Some(http::pause(after))));
        }
        let malformed = |_| http::malformed(SERVICE, status);
        let outcome: Outcome = serde_json::from_slice(&bytes).map_err(malformed)?;
        if outcome.ok {
            return serde_json::from_slice(&bytes).map_err(malformed);
        }
        Err(failure(method, status, &outcome.error))
    }

    async fn call_as_bot<T: DeserializeOwned>(&self, method: &str, body: &Value) -> Result<T, Failure> {
        self.call(method, &self.token, body).await
    }

    /// Blocks in which a text stands as it is, and the words for a notification.
    fn as_it_is(words: &str) -> Value {
        let element = if words.trim_end().contains('\n') { "rich_text_preformatted" } else { "rich_text_section" };
        json!([{"type": "rich_text", "elements": [{"type": element, "elements": [literal(words)]}]}])
    }

    async fn say_to(&self, words: &str, thread: Option<&str>) -> Result<(), Failure> {
        let mut body = json!({
            "channel": self.room, "text": plain(words), "blocks": Self::as_it_is(words), "unfurl_links": false, "unfurl_media": false,
        });
        put_if(&mut body, "thread_ts", thread.or(self.thread.as_deref()));
        self.call_as_bot::<Posted>("chat.postMessage", &body).await.map(drop)
    }

    /// A card as blocks. Nothing in it is read as markup: all text stands in elements that have none.
    fn card(message: &Message, rings: bool) -> Value {
        let parts = &message.parts;
        let mut elements = vec![
            json!({"type": "rich_text_section", "elements": [{"type": "text", "text": parts.head, "style": {"bold": true}}]}),
        ];
        for text in [&parts.command, &parts.about] {
            if !text.is_empty() {
                elements.push(
                    json!({"type": "rich_text_preformatted", "elements": [literal(text.trim_end_matches('\n'))]}),
                );
            }
        }
        let mut foot = vec![literal(&message.foot)];
        if rings {
            for approver in &message.rings {
                let (_, user) = approver.split_once(':').unwrap_or_default();
                foot.extend([literal(" "), json!({"type": "user", "user_id": user})]);
            }
        }
        elements.push(json!({"type": "rich_text_section", "elements": foot}));
        let mut blocks = vec![json!({"type": "rich_text", "elements": elements})];
        if !message.buttons.is_empty() {
            let buttons: Vec<Value> = message.buttons.iter().map(|button| self::button(*button, &message.id)).collect();
            blocks.push(json!({"type": "actions", "elements": buttons}));
        }
        json!(blocks)
    }

    /// What a message says, where it counts. `ours` is the team whose event it is.
    fn spoken(&self, message: &Value, ours: &str) -> Option<Spoken<To>> {
        if *at(message, "/type") != "message" || SECONDHAND.iter().any(|field| message.get(field).is_some_and(is_there))
        {
            return None;
        }
        if message.get("channel").is_some_and(|channel| *channel != self.room.as_str()) {
            return None;
        }
        let text = Text::deserialize(message).ok()?;
        let me = self.me.get()?;
        let time = Time::read(&text.ts)?;
        if text.user == me.user_id || !self.heard.is_new(time) {
            return None;
        }
        // Bound to a thread it hears nothing else.
        if self.thread.is_some() && self.thread != text.thread_ts {
            return None;
        }
        // In a room that several organisations share, people belong to their own.
        let team = text.user_team.or(text.source_team).or(text.team);
        let team = team.as_deref().unwrap_or(ours);
        let words = words(&text.text, &me.user_id);
        let to = To::Thread(text.thread_ts.unwrap_or(text.ts));
        Some(Spoken { user: format!("{team}:{}", text.user), name: String::new(), words, on: None, to })
    }

    /// What a pressed button says, where it counts.
    fn pressed(&self, payload: Value) -> Option<Spoken<To>> {
        if *at(&payload, "/type") != "block_actions" {
            return None;
        }
        let press: Press = serde_json::from_value(payload).ok()?;
        let (container, channel) = (press.container?, press.channel?);
        if container.kind != "message" || container.channel_id != self.room || channel.id != self.room {
            return None;
        }
        let [action] = press.actions.as_slice() else { return None };
        let button = Button::of_word(&action.action_id)?;
        let id = ApprovalId::parse(&action.value)?;
        Some(Spoken {
            user: format!("{}:{}", press.user.team_id, press.user.id),
            name: press.user.name,
            words: button.words(&id),
            on: Some(container.message_ts),
            to: To::Press(press.user.id),
        })
    }

    /// Everything behind a time, in order: in the room, and in the threads of what was said since the oldest of these cards. The
    /// room's history holds no answers in threads, but says of each message when it was last answered.
    async fn missed(&self, since: Time, cards: &[String]) -> Result<Vec<Value>, Failure> {
        let mut all = if self.thread.is_some() {
            self.pages(since, self.thread.as_deref()).await?
        } else {
            let oldest = cards.iter().filter_map(|card| Time::read(card)).min().map_or(since, Time::before);
            self.pages(oldest.min(since), None).await?
        };
        // The newest first, as the history gives them.
        let last = |message: &Value| at(message, "/latest_reply").as_str().and_then(Time::read);
        let answered =
            all.iter().filter(|message| self.thread.is_none() && last(message).is_some_and(|last| last > since));
        let threads: Vec<String> =
            answered.filter_map(|message| Some(at(message, "/ts").as_str()?.to_owned())).collect();
        if threads.len() > MOST_THREADS {
            tracing::warn!(
                "more threads were answered than are looked at; what was said in the oldest of them does not count"
            );
        }
        for thread in threads.iter().take(MOST_THREADS) {
            all.extend(self.pages(since, Some(thread)).await?);
        }
        all.retain(|message| time_of(message).is_some_and(|time| time > since));
        all.sort_by_key(time_of);
        Ok(all)
    }

    /// Everything behind a time in the room, or in a thread.
    async fn pages(&self, since: Time, thread: Option<&str>) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        let oldest = since.to_string();
        for _ in 0..MOST_PAGES {
            let mut fields =
                vec![("channel", self.room.as_str()), ("oldest", &oldest), ("inclusive", "false"), ("limit", "100")];
            fields.extend((!cursor.is_empty()).then_some(("cursor", cursor.as_str())));
            fields.extend(thread.map(|thread| ("ts", thread)));
            let method = if thread.is_some() { "conversations.replies" } else { "conversations.history" };
            let page: History = self.read(method, &fields).await?;
            all.extend(page.messages);
            cursor = page.response_metadata.map(|metadata| metadata.next_cursor).unwrap_or_default();
            if !page.has_more || cursor.is_empty() {
                return Ok(all);
            }
        }
        tracing::warn!("more was said in a room than is looked at; the oldest of it does not count");
        Ok(all)
    }

    /// The newest message's time.
    async fn newest(&self) -> Result<Time, Failure> {
        let page: History =
            self.read("conversations.history", &[("channel", self.room.as_str()), ("limit", "1")]).await?;
        Ok(page.messages.first().and_then(time_of).unwrap_or(Time(0, 0)))
    }

    async fn connect(&self) -> Result<Socket, Failure> {
        let opened: Opened = self.call("apps.connections.open", &self.app_token, &json!({})).await?;
        let mut socket = Socket::connect(SERVICE, &opened.url, self.base_url.starts_with("https:")).await?;
        match socket.next(Instant::now() + PATIENCE).await? {
            Came::Message(hello) if *at(&hello, "/type") == "hello" => Ok(socket),
            _ => Err(Failure::Away("Slack does not say hello".to_owned(), None)),
        }
    }

    /// Waits for the next thing that counts; `None` where the connection has to be made anew.
    async fn hear(
        &self,
        socket: &mut Socket,
        until: Instant,
    ) -> Result<Option<Vec<(Option<Time>, Spoken<To>)>>, Failure> {
        loop {
            let message = match socket.next(until).await? {
                Came::Message(message) => message,
                Came::Nothing => return Ok(Some(Vec::new())),
                Came::Closed(_) => return Ok(None),
            };
            let Ok(envelope) = serde_json::from_value::<Envelope>(message) else { continue };
            if let Some(id) = &envelope.envelope_id {
                socket.send(&json!({"envelope_id": id})).await?;
            }
            match envelope.kind.as_str() {
                "disconnect" if envelope.reason == "link_disabled" => {
                    return Err(Failure::Refused("Slack: Socket Mode is switched off for the app".to_owned()));
                }
                "disconnect" => return Ok(None),
                "events_api" => {
                    let event = at(&envelope.payload, "/event");
                    let ours = at(&envelope.payload, "/team_id").as_str().unwrap_or_default();
                    if *at(event, "/channel") == self.room.as_str()
                        && let Some(spoken) = self.spoken(event, ours)
                    {
                        return Ok(Some(vec![(time_of(event), spoken)]));
                    }
                }
                "interactive" => {
                    if let Some(spoken) = self.pressed(envelope.payload) {
                        return Ok(Some(vec![(None, spoken)]));
                    }
                }
                _ => {}
            }
        }
    }
}

fn time_of(message: &Value) -> Option<Time> {
    at(message, "/ts").as_str().and_then(Time::read)
}

fn is_there(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(all) => !all.is_empty(),
        _ => true,
    }
}

fn put_if(body: &mut Value, key: &str, value: Option<&str>) {
    if let (Some(value), Some(body)) = (value, body.as_object_mut()) {
        body.insert(key.to_owned(), json!(value));
    }
}

fn literal(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Words for a notification, in which nothing is markup.
fn plain(text: &str) -> String {
    let text: String = text.chars().take(300).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The words as the person wrote them: without our name in front, and without what Slack escapes.
fn words(text: &str, me: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix(&format!("<@{me}>")).unwrap_or(text);
    text.trim_start_matches([':', ',', ' ', '\u{a0}']).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn button(button: Button, id: &ApprovalId) -> Value {
    let mut drawn = json!({
        "type": "button", "action_id": button.word(), "value": id, "text": {"type": "plain_text", "text": button.label()},
    });
    let style = match button {
        Button::Approve | Button::GoOn => Some("primary"),
        Button::Deny => Some("danger"),
        Button::Session | Button::Show => None,
    };
    put_if(&mut drawn, "style", style);
    drawn
}

/// What an error of the service means for us.
fn failure(method: &str, status: u16, error: &str) -> Failure {
    let why = format!("Slack: {method}: {}", http::brief(error));
    match error {
        "message_not_found" => Failure::Gone,
        "ratelimited" | "rate_limited" => Failure::Away(why, Some(Duration::from_secs(5))),
        "msg_too_long"
        | "invalid_blocks"
        | "invalid_blocks_format"
        | "no_text"
        | "cant_update_message"
        | "edit_window_closed" => Failure::Unfit(why),
        "not_in_channel" => Failure::Refused(format!("{why} (invite the app into the room)")),
        "missing_scope" => Failure::Refused(format!("{why} (docs/chat.md lists the scopes)")),
        "invalid_auth"
        | "not_authed"
        | "token_revoked"
        | "token_expired"
        | "account_inactive"
        | "no_permission"
        | "org_login_required"
        | "access_denied"
        | "channel_not_found"
        | "is_archived"
        | "not_allowed_token_type"
        | "restricted_action"
        | "team_access_not_granted" => Failure::Refused(why),
        _ if error.is_empty() => http::malformed(SERVICE, status),
        _ => Failure::Away(why, None),
    }
}

impl Channel for Slack {
    type To = To;
    /// A code block on a phone.
    const WIDTH: usize = 44;
    const LONGEST: usize = LONGEST;

    async fn begin(&self) -> Result<(), Failure> {
        let me: Me = self.call_as_bot("auth.test", &json!({})).await?;
        let _ = self.me.set(me);
        self.newest().await.map(drop)
    }

    async fn post(&self, message: &Message, _version: u64) -> Result<String, Failure> {
        let mut body = json!({
            "channel": self.room, "text": plain(&message.parts.head), "blocks": Self::card(message, true),
            "unfurl_links": false, "unfurl_media": false,
        });
        put_if(&mut body, "thread_ts", self.thread.as_deref());
        let posted: Posted = self.call_as_bot("chat.postMessage", &body).await?;
        Ok(posted.ts)
    }

    async fn change(&self, posted: &str, message: &Message, _version: u64) -> Result<(), Failure> {
        if posted.is_empty() {
            return Err(Failure::Gone);
        }
        let body = json!({
            "channel": self.room, "ts": posted, "text": plain(&message.parts.head), "blocks": Self::card(message, false),
        });
        self.call_as_bot::<Value>("chat.update", &body).await.map(drop)
    }

    async fn say(&self, words: &str, behind: Option<&str>) -> Result<(), Failure> {
        self.say_to(words, behind.filter(|id| !id.is_empty())).await
    }

    async fn reply(&self, to: &To, piece: Piece<'_>) -> Result<(), Failure> {
        match to {
            To::Thread(thread) => self.say_to(piece.words, Some(thread)).await,
            To::Press(user) => {
                let words = piece.words;
                let mut body =
                    json!({"channel": self.room, "user": user, "text": plain(words), "blocks": Self::as_it_is(words)});
                put_if(&mut body, "thread_ts", self.thread.as_deref());
                self.call_as_bot::<Value>("chat.postEphemeral", &body).await.map(drop)
            }
        }
    }

    async fn listen(&self, since: Option<&str>, cards: &[String]) -> Result<Heard<To>, Failure> {
        let Some(mut position) = since.and_then(Time::read) else {
            // Before anything was listened to nothing was shown, either, so that nothing said then can be an answer.
            return Ok(Heard { spoken: Vec::new(), position: self.newest().await?.to_string() });
        };
        self.heard.begins_behind(position);
        let mut held = self.socket.lock().await;
        // One that fails is made anew.
        let mut spoken = Vec::new();
        let mut socket = if let Some(socket) = held.take() {
            socket
        } else {
            let socket = self.connect().await?;
            // What was said while nothing was connected; events that come meanwhile wait in the socket.
            let missed = self.missed(position, cards).await?;
            let ours = self.me.get().map(|me| me.team_id.as_str()).unwrap_or_default();
            position = missed.iter().filter_map(time_of).chain([position]).max().unwrap_or(position);
            spoken.extend(missed.iter().filter_map(|message| self.spoken(message, ours)));
            socket
        };
        if !spoken.is_empty() {
            *held = Some(socket);
        } else if let Some(heard) = self.hear(&mut socket, Instant::now() + WAIT).await? {
            for (time, said) in heard {
                position = time.into_iter().chain([position]).max().unwrap_or(position);
                spoken.push(said);
            }
            *held = Some(socket);
        } else {
            socket.has_lived()?;
        }
        Ok(Heard { spoken, position: position.to_string() })
    }
}
