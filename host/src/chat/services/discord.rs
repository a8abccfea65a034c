//! Discord: the HTTP API, and events over the gateway, which needs no address that Discord can reach.
//!
//! Source: <https://docs.discord.com/developers/events/gateway>, <https://docs.discord.com/developers/resources/message>,
//! <https://docs.discord.com/developers/interactions/receiving-and-responding>.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Method;
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

const SERVICE: &str = "Discord";
/// How long one wait for news lasts.
const WAIT: Duration = Duration::from_secs(25);
/// Longest text of one message, in UTF-16 units: 2000 characters with what marks a block.
const LONGEST: usize = 1900;
/// Most pages of a hundred messages that were missed and are still looked at.
const MOST_PAGES: usize = 50;

/// Messages in servers, direct ones, and what stands in them.
const INTENTS: u64 = 1 << 9 | 1 << 12;
const MESSAGE_CONTENT: u64 = 1 << 15;

/// A message of the gateway.
mod op {
    pub(super) const DISPATCH: u64 = 0;
    pub(super) const HEARTBEAT: u64 = 1;
    pub(super) const IDENTIFY: u64 = 2;
    pub(super) const RESUME: u64 = 6;
    pub(super) const RECONNECT: u64 = 7;
    pub(super) const INVALID_SESSION: u64 = 9;
    pub(super) const HELLO: u64 = 10;
    pub(super) const HEARTBEAT_ACK: u64 = 11;
}

/// The channel.
pub(in crate::chat) struct Discord {
    client: reqwest::Client,
    base_url: String,
    token: Key,
    /// The room, or a thread of it, which is a room of its own there.
    room: String,
    me: OnceCell<String>,
    gateway: Mutex<Gateway>,
    /// The intent for what stands in messages is not granted: mentions and buttons only.
    only_mentions: AtomicBool,
    heard: Once<u64>,
}

/// The connection for events.
#[derive(Default)]
struct Gateway {
    live: Option<Live>,
    session: Option<Session>,
}

struct Live {
    socket: Socket,
    beat: Duration,
    next_beat: Instant,
    /// A heartbeat that was not answered.
    unanswered: bool,
    sequence: Option<u64>,
}

/// What a connection that broke is taken up with.
#[derive(Clone)]
struct Session {
    id: String,
    url: String,
    sequence: u64,
}

/// Where a reply goes.
#[derive(Debug, Clone)]
pub(in crate::chat) enum To {
    /// Behind a message.
    Message(String),
    /// To the one who pressed a button, who alone sees it.
    Press {
        /// Our application.
        application: String,
        /// What lets us answer, for a quarter of an hour.
        token: String,
    },
}

#[derive(Deserialize)]
struct Sent {
    id: String,
    #[serde(default)]
    embeds: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize)]
struct HasId {
    id: String,
}

#[derive(Deserialize)]
struct Room {
    last_message_id: Option<String>,
}

#[derive(Deserialize)]
struct Address {
    url: String,
}

#[derive(Default, Deserialize)]
struct Trouble {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    retry_after: Option<f64>,
}

#[derive(Deserialize)]
struct Payload {
    op: u64,
    #[serde(default)]
    d: Value,
    s: Option<u64>,
    t: Option<String>,
}

/// A message that may count. One that has a field of [`SECONDHAND`] does not.
#[derive(Deserialize)]
struct Text {
    id: String,
    channel_id: String,
    author: User,
    content: String,
    #[serde(rename = "type")]
    kind: u64,
    message_reference: Option<Reference>,
}

#[derive(Deserialize)]
struct User {
    id: String,
    #[serde(default)]
    bot: bool,
    #[serde(default)]
    system: bool,
    #[serde(default)]
    username: String,
    #[serde(default)]
    discriminator: String,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "type", default)]
    kind: u64,
}

/// What a message has that is not a person's own fresh word.
const SECONDHAND: &[&str] = &[
    "webhook_id",
    "edited_timestamp",
    "application_id",
    "interaction",
    "interaction_metadata",
    "message_snapshots",
    "poll",
];

#[derive(Deserialize)]
struct Press {
    id: String,
    application_id: String,
    token: String,
    #[serde(rename = "type")]
    kind: u64,
    channel_id: Option<String>,
    member: Option<Member>,
    user: Option<User>,
    message: Option<Pressed>,
    #[serde(default)]
    data: Value,
}

#[derive(Deserialize)]
struct Member {
    user: User,
}

#[derive(Deserialize)]
struct Pressed {
    id: String,
    channel_id: String,
}

/// What was heard, with the message's number where it has one.
type Said = (Option<u64>, Spoken<To>);

impl Discord {
    /// The channel with these settings.
    pub(in crate::chat) fn new(settings: &Settings) -> Result<Self, String> {
        let room = settings.thread.clone().unwrap_or_else(|| settings.room.clone());
        Ok(Self {
            client: outgoing::client()?,
            base_url: settings.base_url.clone(),
            token: settings.token.clone(),
            room,
            me: OnceCell::new(),
            gateway: Mutex::default(),
            only_mentions: AtomicBool::new(false),
            heard: Once::default(),
        })
    }

    async fn call<T: DeserializeOwned>(&self, method: Method, path: &str, body: Option<&Value>) -> Result<T, Failure> {
        let mut request = self.client.request(method, format!("{}/{path}", self.base_url));
        request = request.header("authorization", format!("Bot {}", self.token.0));
        if let Some(body) = body {
            request = request.json(body);
        }
        let http::Answer { status, bytes, .. } = http::call(SERVICE, request, PATIENCE).await?;
        if (200..300).contains(&status) {
            let bytes: &[u8] = if status == 204 { b"null" } else { &bytes };
            return serde_json::from_slice(bytes).map_err(|_| http::malformed(SERVICE, status));
        }
        let trouble: Trouble = serde_json::from_slice(&bytes).map_err(|_| http::malformed(SERVICE, status))?;
        Err(failure(status, &trouble))
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, None).await
    }

    async fn put_message(&self, mut body: Value, behind: Option<&str>) -> Result<String, Failure> {
        if let (Some(behind), Some(body)) = (behind, body.as_object_mut()) {
            body.insert("message_reference".to_owned(), json!({"message_id": behind, "fail_if_not_exists": false}));
        }
        let sent: Sent = self.call(Method::POST, &format!("channels/{}/messages", self.room), Some(&body)).await?;
        // Who may not embed has the card left away, without an error.
        let has_card = body.get("embeds").and_then(Value::as_array).is_some_and(|embeds| !embeds.is_empty());
        if has_card && sent.embeds.is_some_and(|embeds| embeds.is_empty()) {
            let path = format!("channels/{}/messages/{}", self.room, segment(&sent.id));
            let _ = self.call::<Value>(Method::DELETE, &path, None).await;
            let why = "Discord leaves the cards away: give the bot the permission *Embed Links* in this channel";
            return Err(Failure::Refused(why.to_owned()));
        }
        Ok(sent.id)
    }

    /// A card. Discord reads markup everywhere, so that what is not ours stands in blocks that nothing in it can end, and the rest
    /// is escaped.
    fn card(message: &Message, rings: bool) -> Value {
        let parts = &message.parts;
        let mut text = format!("**{}**\n", escape(&parts.head));
        if !parts.command.is_empty() {
            text.push_str(&block("bash", &parts.command));
        }
        if !parts.about.is_empty() {
            text.push_str(&block("", &parts.about));
        }
        let rung: String = message.rings.iter().map(|id| format!("<@{id}>")).collect::<Vec<_>>().join(" ");
        let buttons: Vec<Value> = message
            .buttons
            .iter()
            .map(|button| {
                json!({"type": 2, "style": style(*button), "label": button.label(), "custom_id": format!("{}:{}", button.word(), message.id)})
            })
            .collect();
        let rows = if buttons.is_empty() { json!([]) } else { json!([{"type": 1, "components": buttons}]) };
        json!({
            "content": if rings { rung.as_str() } else { "" },
            "embeds": [{"description": text}, {"description": escape(&message.foot)}],
            "components": rows,
            "allowed_mentions": {"parse": [], "users": if rings { message.rings.as_slice() } else { &[] }},
        })
    }

    /// What a message says, where it counts.
    fn spoken(&self, message: &Value) -> Option<Said> {
        if SECONDHAND.iter().any(|field| message.get(field).is_some_and(|value| !value.is_null())) {
            return None;
        }
        let text = Text::deserialize(message).ok()?;
        let me = self.me.get()?;
        let number: u64 = text.id.parse().ok()?;
        // 19: a reply. A reference of another kind than 0 is something forwarded.
        let is_own = matches!(text.kind, 0 | 19) && text.message_reference.is_none_or(|reference| reference.kind == 0);
        if text.channel_id != self.room
            || !is_own
            || !is_person(&text.author)
            || text.author.id == *me
            || !self.heard.is_new(number)
        {
            return None;
        }
        let words = words(&text.content, me);
        let to = To::Message(text.id);
        Some((Some(number), Spoken { user: text.author.id, name: text.author.username, words, on: None, to }))
    }

    /// What a pressed button says. Discord is told at once that it was heard: it gives three seconds.
    async fn pressed(&self, interaction: Value) -> Result<Option<Said>, Failure> {
        let Ok(press) = serde_json::from_value::<Press>(interaction) else { return Ok(None) };
        let Some(spoken) = self.press(&press) else { return Ok(None) };
        let later = json!({"type": 5, "data": {"flags": 64}});
        let path = format!("interactions/{}/{}/callback", segment(&press.id), segment(&press.token));
        match self.call::<Value>(Method::POST, &path, Some(&later)).await {
            Ok(_) => {}
            // It counts, and only the reply is lost.
            Err(failure) => tracing::warn!(why = failure.why(), "a button that was pressed could not be confirmed"),
        }
        Ok(Some((None, spoken)))
    }

    fn press(&self, press: &Press) -> Option<Spoken<To>> {
        let user = press.member.as_ref().map(|member| &member.user).or(press.user.as_ref())?;
        let message = press.message.as_ref()?;
        // 3: something under a message. 2: a button.
        let is_button = press.kind == 3 && *at(&press.data, "/component_type") == 2;
        let is_here = message.channel_id == self.room && press.channel_id.as_ref().is_some_and(|id| *id == self.room);
        if !is_button || !is_here || !is_person(user) {
            return None;
        }
        let (what, id) = at(&press.data, "/custom_id").as_str()?.split_once(':')?;
        let id = ApprovalId::parse(id)?;
        let button = Button::of_word(what)?;
        Some(Spoken {
            user: user.id.clone(),
            name: user.username.clone(),
            words: button.words(&id),
            on: Some(message.id.clone()),
            to: To::Press { application: press.application_id.clone(), token: press.token.clone() },
        })
    }

    /// The newest message's number.
    async fn newest(&self) -> Result<u64, Failure> {
        let room: Room = self.get(&format!("channels/{}", self.room)).await?;
        Ok(room.last_message_id.and_then(|id| id.parse().ok()).unwrap_or(0))
    }

    /// Everything behind a message, in order.
    async fn missed(&self, since: u64) -> Result<Vec<Value>, Failure> {
        let mut all: Vec<Value> = Vec::new();
        let mut since = since;
        for _ in 0..MOST_PAGES {
            let path = format!("channels/{}/messages?after={since}&limit=100", self.room);
            let mut page: Vec<Value> = self.get(&path).await?;
            page.sort_by_key(number_of);
            let is_last = page.len() < 100;
            since = page.last().and_then(number_of).unwrap_or(since).max(since);
            all.extend(page);
            if is_last {
                break;
            }
        }
        all.sort_by_key(number_of);
        Ok(all)
    }

    /// Connects, and takes up what broke off where that is possible.
    async fn connect(&self, session: &mut Option<Session>) -> Result<Live, Failure> {
        let needs_tls = self.base_url.starts_with("https:");
        let url = match &session {
            Some(session) => session.url.clone(),
            None => self.get::<Address>("gateway/bot").await?.url,
        };
        let url = format!("{}/?v=10&encoding=json", url.trim_end_matches('/'));
        let mut socket = match Socket::connect(SERVICE, &url, needs_tls).await {
            Ok(socket) => socket,
            Err(failure) => {
                *session = None;
                return Err(failure);
            }
        };
        let hello = match socket.next(Instant::now() + PATIENCE).await? {
            Came::Message(hello) if *at(&hello, "/op") == op::HELLO => hello,
            _ => return Err(Failure::Away("Discord does not say hello".to_owned(), None)),
        };
        let beat = at(&hello, "/d/heartbeat_interval").as_u64().unwrap_or(41_250).clamp(100, 120_000);
        let first = if let Some(session) = session {
            json!({"op": op::RESUME, "d": {"token": self.token.0, "session_id": session.id, "seq": session.sequence}})
        } else {
            let content = if self.only_mentions.load(Ordering::Relaxed) { 0 } else { MESSAGE_CONTENT };
            json!({"op": op::IDENTIFY, "d": {
                "token": self.token.0, "intents": INTENTS | content,
                "properties": {"os": "linux", "browser": "bashgate", "device": "bashgate"},
            }})
        };
        socket.send(&first).await?;
        let beat = Duration::from_millis(beat);
        let sequence = session.as_ref().map(|session| session.sequence);
        Ok(Live { socket, beat, next_beat: Instant::now() + beat, unanswered: false, sequence })
    }

    /// Waits for the next thing that counts; `None` where the connection has to be made anew.
    async fn hear(
        &self,
        live: &mut Live,
        session: &mut Option<Session>,
        until: Instant,
    ) -> Result<Option<Vec<Said>>, Failure> {
        loop {
            if Instant::now() >= live.next_beat {
                if live.unanswered {
                    return Ok(None);
                }
                live.beats().await?;
            }
            let message = match live.socket.next(until.min(live.next_beat)).await? {
                Came::Message(message) => message,
                Came::Nothing if Instant::now() >= until => return Ok(Some(Vec::new())),
                Came::Nothing => continue,
                Came::Closed(code) => return self.closed(code, session).map(|()| None),
            };
            let Ok(payload) = serde_json::from_value::<Payload>(message) else { continue };
            if let Some(sequence) = payload.s {
                live.sequence = Some(sequence);
                if let Some(session) = session {
                    session.sequence = sequence;
                }
            }
            match payload.op {
                op::HEARTBEAT => live.beats().await?,
                op::HEARTBEAT_ACK => live.unanswered = false,
                op::RECONNECT => return Ok(None),
                op::INVALID_SESSION => {
                    if payload.d != json!(true) {
                        *session = None;
                    }
                    return Ok(None);
                }
                op::DISPATCH => {
                    let said = match payload.t.as_deref() {
                        Some("READY") => {
                            *session = started(&payload.d, payload.s);
                            None
                        }
                        Some("MESSAGE_CREATE") => self.spoken(&payload.d),
                        Some("INTERACTION_CREATE") => self.pressed(payload.d).await?,
                        _ => None,
                    };
                    if let Some(said) = said {
                        return Ok(Some(vec![said]));
                    }
                }
                _ => {}
            }
        }
    }

    /// The gateway has closed. Some of its reasons are for people.
    fn closed(&self, code: Option<u16>, session: &mut Option<Session>) -> Result<(), Failure> {
        match code {
            Some(4004) => Err(Failure::Refused("Discord: the token is not valid (any more)".to_owned())),
            Some(4014) if !self.only_mentions.swap(true, Ordering::Relaxed) => {
                tracing::warn!(
                    "the Message Content Intent is not switched on for the bot: it hears buttons, and words that mention it"
                );
                *session = None;
                Ok(())
            }
            Some(code @ 4010..=4014) => Err(Failure::Refused(format!("Discord: the gateway has closed ({code})"))),
            // A session that is out of order or too old cannot be taken up.
            Some(4007 | 4009) => {
                *session = None;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Live {
    async fn beats(&mut self) -> Result<(), Failure> {
        self.socket.send(&json!({"op": op::HEARTBEAT, "d": self.sequence})).await?;
        (self.next_beat, self.unanswered) = (Instant::now() + self.beat, true);
        Ok(())
    }
}

fn started(ready: &Value, sequence: Option<u64>) -> Option<Session> {
    let text = |place: &str| at(ready, place).as_str().map(str::to_owned);
    Some(Session { id: text("/session_id")?, url: text("/resume_gateway_url")?, sequence: sequence.unwrap_or(0) })
}

fn number_of(message: &Value) -> Option<u64> {
    at(message, "/id").as_str()?.parse().ok()
}

/// Not a bot, not the service, and not a webhook, whose authors have no discriminator of four digits but `0000`.
fn is_person(user: &User) -> bool {
    !user.bot && !user.system && user.discriminator != "0000"
}

/// A word of the service in a path: it makes no other path of it.
fn segment(word: &str) -> String {
    word.chars().filter(|letter| letter.is_ascii_alphanumeric() || "-_.~=".contains(*letter)).collect()
}

/// A text outside of blocks, in which nothing is markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii_punctuation() && !".,;'\"!?/%&=+".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A block in which everything stands as it is but three backquotes, which would end it: the last of them is shown by its number.
fn block(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n", text.trim_end_matches('\n').replace("```", "``\\u{60}"))
}

/// What is said, as it is: a line without markup, lines in a block.
fn content(words: &str) -> String {
    let line = escape(words);
    if words.contains('\n') || line.chars().count() > 2000 { block("", words) } else { line }
}

/// The words without our name in front.
fn words(text: &str, me: &str) -> String {
    let text = text.trim();
    let rest = text.strip_prefix(&format!("<@{me}>")).or_else(|| text.strip_prefix(&format!("<@!{me}>")));
    rest.unwrap_or(text).trim_start_matches([':', ',', ' ']).to_owned()
}

/// Green, red and grey.
const fn style(button: Button) -> u8 {
    match button {
        Button::Approve | Button::GoOn => 3,
        Button::Deny => 4,
        Button::Session | Button::Show => 2,
    }
}

/// What an error of the service means for us.
fn failure(status: u16, trouble: &Trouble) -> Failure {
    let why = format!("Discord: {status} {}", http::brief(&trouble.message));
    match (status, trouble.code) {
        (429, _) => Failure::Away(why, Some(http::pause(trouble.retry_after.unwrap_or(5.0)))),
        (_, 10_008) => Failure::Gone,
        (401 | 403, _) | (404, 10_003) => Failure::Refused(why),
        (400 | 404 | 405 | 413, _) => Failure::Unfit(why),
        _ => Failure::Away(why, None),
    }
}

impl Channel for Discord {
    type To = To;
    /// A code block on a phone.
    const WIDTH: usize = 44;
    const LONGEST: usize = LONGEST;

    async fn begin(&self) -> Result<(), Failure> {
        let me: HasId = self.get("users/@me").await?;
        let _ = self.me.set(me.id);
        self.newest().await.map(drop)
    }

    async fn post(&self, message: &Message, version: u64) -> Result<String, Failure> {
        let mut body = Self::card(message, true);
        if let Some(body) = body.as_object_mut() {
            // The same nonce within some minutes is the same message.
            body.insert("nonce".to_owned(), json!(format!("{}-{}", message.id, version % 1_000_000_000)));
            body.insert("enforce_nonce".to_owned(), json!(true));
        }
        self.put_message(body, None).await
    }

    async fn change(&self, posted: &str, message: &Message, _version: u64) -> Result<(), Failure> {
        if posted.parse::<u64>().is_err() {
            return Err(Failure::Gone);
        }
        let path = format!("channels/{}/messages/{posted}", self.room);
        self.call::<Value>(Method::PATCH, &path, Some(&Self::card(message, false))).await.map(drop)
    }

    async fn say(&self, words: &str, behind: Option<&str>) -> Result<(), Failure> {
        let body = json!({"content": content(words), "allowed_mentions": {"parse": []}, "flags": 4});
        self.put_message(body, behind.filter(|id| !id.is_empty())).await.map(drop)
    }

    async fn reply(&self, to: &To, piece: Piece<'_>) -> Result<(), Failure> {
        match to {
            To::Message(id) => self.say(piece.words, Some(id)).await,
            To::Press { application, token } => {
                let path = format!("webhooks/{}/{}", segment(application), segment(token));
                let body = json!({"content": content(piece.words), "allowed_mentions": {"parse": []}, "flags": 64});
                let (method, path) = match piece.number {
                    0 => (Method::PATCH, format!("{path}/messages/@original")),
                    _ => (Method::POST, path),
                };
                self.call::<Value>(method, &path, Some(&body)).await.map(drop)
            }
        }
    }

    async fn listen(&self, since: Option<&str>, _cards: &[String]) -> Result<Heard<To>, Failure> {
        let Some(mut position) = since.and_then(|since| since.parse::<u64>().ok()) else {
            // Before anything was listened to nothing was shown, either, so that nothing said then can be an answer.
            return Ok(Heard { spoken: Vec::new(), position: self.newest().await?.to_string() });
        };
        self.heard.begins_behind(position);
        let mut gateway = self.gateway.lock().await;
        let Gateway { live, session } = &mut *gateway;
        let mut said = Vec::new();
        // One that fails is made anew.
        let mut now = if let Some(now) = live.take() {
            now
        } else {
            let now = self.connect(session).await?;
            // What was said while nothing was connected; events that come meanwhile wait in the socket.
            let missed = self.missed(position).await?;
            said.extend(missed.iter().filter_map(|message| self.spoken(message)));
            position = missed.iter().filter_map(number_of).chain([position]).max().unwrap_or(position);
            now
        };
        if !said.is_empty() {
            *live = Some(now);
        } else if let Some(heard) = self.hear(&mut now, session, Instant::now() + WAIT).await? {
            said = heard;
            *live = Some(now);
        } else {
            now.socket.has_lived()?;
        }
        position = said.iter().filter_map(|(number, _)| *number).chain([position]).max().unwrap_or(position);
        Ok(Heard { spoken: said.into_iter().map(|(_, spoken)| spoken).collect(), position: position.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_block_or_becomes_markup() {
        for text in ["```", "a ``` b", "``````", "````", "x\n```\n**Approved**", "`````````"] {
            let block = block("bash", text);
            let inside = block.strip_prefix("```bash\n").and_then(|rest| rest.strip_suffix("\n```\n")).unwrap();
            assert!(!inside.contains("```"), "{text:?}: {inside}");
            assert!(!inside.ends_with('`') || inside.len() < 3 || !inside.ends_with("```"), "{inside}");
        }
        assert_eq!(
            escape("<@1> **x** [a](b) approve k7f39x2m, #c"),
            r"\<\@1\> \*\*x\*\* \[a\]\(b\) approve k7f39x2m, \#c"
        );
    }
}
