//! Telegram's Bot API: messages with buttons, heard by long polling.
//!
//! Source: <https://core.telegram.org/bots/api> (`getMe`, `getUpdates`, `sendMessage`, `editMessageText`, `answerCallbackQuery`).

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::approval::ApprovalId;
use crate::inspector::Key;
use crate::outgoing;

use super::super::channel::{Button, Channel, Failure, Heard, Message, Piece, Spoken};
use super::super::settings::Settings;
use super::http::{self, PATIENCE, escape};

const SERVICE: &str = "Telegram";

/// How long one question for news stays open, in seconds.
const POLL_S: u64 = 25;
/// Longest text of a message, in UTF-16 units, and of the words that appear when a button is pressed, in letters.
const LONGEST: usize = 4000;
const LONGEST_TOAST: usize = 190;

/// The channel.
pub(in crate::chat) struct Telegram {
    client: reqwest::Client,
    base_url: String,
    token: Key,
    room: i64,
    thread: Option<i64>,
    /// What we are called there.
    name: OnceCell<String>,
}

/// Where a reply goes.
#[derive(Debug, Clone)]
pub(in crate::chat) enum To {
    /// Behind a message.
    Message(i64),
    /// To whoever pressed a button.
    Press(String),
}

#[derive(Deserialize)]
struct Answer<T> {
    ok: bool,
    result: Option<T>,
    error_code: Option<u16>,
    description: Option<String>,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    retry_after: Option<f64>,
}

#[derive(Deserialize)]
struct Update {
    update_id: i64,
    message: Option<Value>,
    callback_query: Option<Value>,
}

/// Updates that were heard: so many below the position may come again. What is further away is a new count, which the service begins
/// after a week without news.
const NEAR: i64 = 1000;

/// A message that counts. One that has a field that is not in [`OWN`] does not.
#[derive(Deserialize)]
struct Text {
    message_id: i64,
    message_thread_id: Option<i64>,
    from: User,
    chat: Chat,
    text: String,
    #[serde(default)]
    entities: Vec<Entity>,
}

/// What a person's own fresh word has. Anything else makes it somebody else's, an old one, or one that only looks said: it is forwarded,
/// edited, quoted, sent by a machine, for a business, on a timer, or in a way that the service does not have yet.
const OWN: &[&str] = &[
    "message_id",
    "message_thread_id",
    "is_topic_message",
    "direct_messages_topic",
    "from",
    "chat",
    "date",
    "text",
    "entities",
    "reply_to_message",
    "link_preview_options",
    "sender_boost_count",
    "has_protected_content",
    "sender_tag",
];

/// Markup in which words still are said.
const SAID: &[&str] =
    &["mention", "text_mention", "bot_command", "hashtag", "code", "pre", "bold", "italic", "underline", "url"];

#[derive(Deserialize)]
struct Entity {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    is_bot: bool,
    #[serde(default)]
    first_name: String,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
}

#[derive(Deserialize)]
struct Press {
    id: String,
    from: User,
    message: Option<Pressed>,
    data: Option<String>,
}

#[derive(Deserialize)]
struct Pressed {
    message_id: i64,
    message_thread_id: Option<i64>,
    chat: Chat,
}

#[derive(Deserialize)]
struct Sent {
    message_id: i64,
}

#[derive(Deserialize)]
struct Me {
    username: String,
}

impl Telegram {
    /// The channel with these settings.
    pub(in crate::chat) fn new(settings: &Settings) -> Result<Self, String> {
        let room = settings.room.parse().map_err(|_| format!("`{}` is no chat id of Telegram", settings.room))?;
        let thread = settings.thread.as_ref().map(|thread| {
            thread.parse().map_err(|_| format!("`{thread}` is no id of a topic; those of Telegram are numbers"))
        });
        Ok(Self {
            client: outgoing::client()?,
            base_url: settings.base_url.clone(),
            token: settings.token.clone(),
            room,
            thread: thread.transpose()?,
            name: OnceCell::new(),
        })
    }

    async fn call<T: DeserializeOwned>(&self, method: &str, body: &Value, within: Duration) -> Result<T, Failure> {
        // The address holds the token: no error of the client may be printed with it.
        let url = format!("{}/bot{}/{method}", self.base_url, self.token.0);
        let http::Answer { status, bytes, .. } = http::call(SERVICE, self.client.post(url).json(body), within).await?;
        let answer: Answer<T> = serde_json::from_slice(&bytes).map_err(|_| http::malformed(SERVICE, status))?;
        match answer {
            Answer { ok: true, result: Some(result), .. } => Ok(result),
            answer => Err(failure(answer.error_code.unwrap_or(status), answer.description, answer.parameters)),
        }
    }

    fn sent_to_room(&self, more: Value) -> Value {
        let mut body = json!({"chat_id": self.room, "link_preview_options": {"is_disabled": true}});
        if let (Some(thread), Some(body)) = (self.thread, body.as_object_mut()) {
            body.insert("message_thread_id".to_owned(), json!(thread));
        }
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        body
    }

    /// Says something; a text of several lines in a block in which nothing is markup.
    async fn say_one(&self, words: &str, behind: Option<i64>) -> Result<(), Failure> {
        let mut more = if words.contains('\n') {
            json!({"text": format!("<pre>{}</pre>", escape(words)), "parse_mode": "HTML"})
        } else {
            json!({"text": words})
        };
        if let (Some(id), Some(more)) = (behind, more.as_object_mut()) {
            let reply = json!({"message_id": id, "allow_sending_without_reply": true});
            more.insert("reply_parameters".to_owned(), reply);
        }
        let _: Value = self.call("sendMessage", &self.sent_to_room(more), PATIENCE).await?;
        Ok(())
    }

    /// What an update says, where it counts.
    fn spoken(&self, update: Update) -> Option<Spoken<To>> {
        if let Some(message) = update.message {
            let is_own =
                |(field, value): (&String, &Value)| *value == Value::Bool(false) || OWN.contains(&field.as_str());
            if !message.as_object()?.iter().all(is_own) {
                return None;
            }
            let text: Text = serde_json::from_value(message).ok()?;
            let is_said = text.entities.iter().all(|entity| SAID.contains(&entity.kind.as_str()));
            if text.chat.id != self.room || !self.is_thread(text.message_thread_id) || text.from.is_bot || !is_said {
                return None;
            }
            let words = self.words(&text.text);
            let to = To::Message(text.message_id);
            return Some(Spoken { user: text.from.id.to_string(), name: text.from.first_name, words, on: None, to });
        }
        let press: Press = serde_json::from_value(update.callback_query?).ok()?;
        let pressed = press.message?;
        if pressed.chat.id != self.room || !self.is_thread(pressed.message_thread_id) || press.from.is_bot {
            return None;
        }
        let words = from_data(&press.data?)?;
        let on = Some(pressed.message_id.to_string());
        Some(Spoken {
            user: press.from.id.to_string(),
            name: press.from.first_name,
            words,
            on,
            to: To::Press(press.id),
        })
    }

    /// True for the topic that the channel is bound to, or where it is bound to none.
    fn is_thread(&self, thread: Option<i64>) -> bool {
        self.thread.is_none() || self.thread == thread
    }

    /// The words without what makes a bot hear them in a group: `/approve@our_bot ID`, `@our_bot approve ID`.
    fn words(&self, text: &str) -> String {
        let ours = self.name.get().map(|name| format!("@{name}")).unwrap_or_default();
        let text = text.trim();
        let is_ours = |word: &str| !ours.is_empty() && word.eq_ignore_ascii_case(&ours);
        let text = match text.split_once(char::is_whitespace) {
            Some((first, rest)) if is_ours(first) => rest.trim_start(),
            _ => text,
        };
        let Some(command) = text.strip_prefix('/') else { return text.to_owned() };
        let (first, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let first = match first.split_once('@') {
            Some((word, to)) if is_ours(&format!("@{to}")) => word,
            // It is somebody else's command.
            Some(_) => return String::new(),
            None => first,
        };
        format!("{first} {rest}").trim().to_owned()
    }
}

/// What an error of the service means for us.
fn failure(code: u16, description: Option<String>, parameters: Option<Parameters>) -> Failure {
    let description = http::brief(&description.unwrap_or_default());
    let why = format!("Telegram: {code} {description}");
    match code {
        429 => {
            let after = parameters.and_then(|parameters| parameters.retry_after).unwrap_or(5.0);
            Failure::Away(why, Some(http::pause(after)))
        }
        401 | 403 | 404 | 409 => Failure::Refused(why),
        400 if description.contains("message to edit not found") || description.contains("MESSAGE_ID_INVALID") => {
            Failure::Gone
        }
        400 if description.contains("chat not found") || description.contains("not enough rights") => {
            Failure::Refused(why)
        }
        400 | 413 => Failure::Unfit(why),
        _ => Failure::Away(why, None),
    }
}

impl Channel for Telegram {
    type To = To;
    /// A code block on a phone.
    const WIDTH: usize = 44;
    const LONGEST: usize = LONGEST;

    async fn begin(&self) -> Result<(), Failure> {
        let me: Me = self.call("getMe", &json!({}), PATIENCE).await?;
        let _ = self.name.set(me.username);
        Ok(())
    }

    async fn post(&self, message: &Message, _version: u64) -> Result<String, Failure> {
        let body = self.sent_to_room(json!({
            "text": html(message), "parse_mode": "HTML", "reply_markup": keyboard(message),
        }));
        let sent: Sent = self.call("sendMessage", &body, PATIENCE).await?;
        Ok(sent.message_id.to_string())
    }

    async fn change(&self, posted: &str, message: &Message, _version: u64) -> Result<(), Failure> {
        let Ok(id) = posted.parse::<i64>() else { return Err(Failure::Gone) };
        let body = json!({
            "chat_id": self.room, "message_id": id, "text": html(message), "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": true}, "reply_markup": keyboard(message),
        });
        match self.call::<Value>("editMessageText", &body, PATIENCE).await {
            Err(Failure::Unfit(why)) if why.contains("message is not modified") => Ok(()),
            Err(failure) => Err(failure),
            Ok(_) => Ok(()),
        }
    }

    async fn say(&self, words: &str, behind: Option<&str>) -> Result<(), Failure> {
        self.say_one(words, behind.and_then(|id| id.parse().ok())).await
    }

    async fn reply(&self, to: &To, piece: Piece<'_>) -> Result<(), Failure> {
        match to {
            To::Message(id) => self.say_one(piece.words, (piece.number == 0).then_some(*id)).await,
            To::Press(_) if piece.number > 0 => self.say_one(piece.words, None).await,
            To::Press(press) => {
                let fits = piece.of == 1 && piece.words.chars().count() <= LONGEST_TOAST && !piece.words.contains('\n');
                let toast = if fits { piece.words } else { "See below." };
                let body = json!({"callback_query_id": press, "text": toast, "show_alert": !piece.done});
                let answered: Result<Value, Failure> = self.call("answerCallbackQuery", &body, PATIENCE).await;
                if fits {
                    // A press can be answered for some seconds only.
                    return match answered {
                        Err(Failure::Unfit(_)) => self.say_one(piece.words, None).await,
                        answered => answered.map(drop),
                    };
                }
                self.say_one(piece.words, None).await
            }
        }
    }

    async fn listen(&self, since: Option<&str>, _cards: &[String]) -> Result<Heard<To>, Failure> {
        let since: Option<i64> = since.and_then(|since| since.parse().ok());
        let wait = if since.is_some() { POLL_S } else { 0 };
        // Without a position all that the service still has comes in: `offset` 0 confirms nothing.
        let body =
            json!({"timeout": wait, "offset": since.unwrap_or(0), "allowed_updates": ["message", "callback_query"]});
        let updates: Vec<Value> = self.call("getUpdates", &body, Duration::from_secs(POLL_S) + PATIENCE).await?;
        // One that cannot be read keeps nobody else's from being heard.
        let updates = updates.into_iter().filter_map(|update| serde_json::from_value::<Update>(update).ok());
        let (mut position, mut spoken) = (since, Vec::new());
        for update in updates {
            let id = update.update_id;
            // What came twice counts once.
            if position.is_some_and(|position| id < position && id > position.saturating_sub(NEAR)) {
                continue;
            }
            position = Some(id.saturating_add(1));
            spoken.extend(self.spoken(update));
        }
        let position = position.unwrap_or(0);
        Ok(Heard { spoken, position: position.to_string() })
    }
}

/// A card in Telegram's HTML. Whatever is not ours stands escaped in a block that nothing in it can end.
fn html(message: &Message) -> String {
    let parts = &message.parts;
    let mut out = format!("<b>{}</b>\n", escape(&parts.head));
    if !parts.command.is_empty() {
        out.push_str(&format!("<pre><code class=\"language-bash\">{}</code></pre>\n", escape(&parts.command)));
    }
    if !parts.about.is_empty() {
        out.push_str(&format!("<pre>{}</pre>\n", escape(&parts.about)));
    }
    out.push_str(&escape(&message.foot));
    out
}

/// The buttons, which say only which card and what: less than half of the 64 bytes that there are.
fn keyboard(message: &Message) -> Value {
    let button =
        |button: &Button| json!({"text": button.label(), "callback_data": format!("{}:{}", button.word(), message.id)});
    let rows: Vec<Value> = message.buttons.iter().map(|one| json!([button(one)])).collect();
    json!({"inline_keyboard": rows})
}

/// The words that a pressed button stands for.
fn from_data(data: &str) -> Option<String> {
    let (what, id) = data.split_once(':')?;
    Some(Button::of_word(what)?.words(&ApprovalId::parse(id)?))
}
