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

use super::super::channel::{Button, Channel, Failure, Heard, Message, Spoken};
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

/// A message that counts. One that has a field of [`SECONDHAND`] does not.
#[derive(Deserialize)]
struct Text {
    message_id: i64,
    from: User,
    chat: Chat,
    text: String,
}

/// What a message has that is not a person's own word: a channel's or an anonymous administrator's post, something forwarded,
/// sent through a machine, or quoted from elsewhere.
const SECONDHAND: &[&str] = &[
    "sender_chat",
    "forward_origin",
    "forward_date",
    "forward_from",
    "forward_from_chat",
    "is_automatic_forward",
    "via_bot",
    "sender_business_bot",
    "external_reply",
    "edit_date",
];

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

    /// Says a text of several lines in blocks in which nothing is markup.
    async fn say_as_it_is(&self, words: &str) -> Result<(), Failure> {
        for piece in http::pieces(words, LONGEST) {
            let more = json!({"text": format!("<pre>{}</pre>", escape(piece)), "parse_mode": "HTML"});
            let _: Value = self.call("sendMessage", &self.sent_to_room(more), PATIENCE).await?;
        }
        Ok(())
    }

    /// What an update says, where it counts.
    fn spoken(&self, update: Update) -> Option<Spoken<To>> {
        if let Some(message) = update.message {
            if SECONDHAND.iter().any(|field| message.get(field).is_some_and(|value| *value != Value::Bool(false))) {
                return None;
            }
            let text: Text = serde_json::from_value(message).ok()?;
            if text.chat.id != self.room || text.from.is_bot {
                return None;
            }
            let words = self.words(&text.text);
            let to = To::Message(text.message_id);
            return Some(Spoken { user: text.from.id.to_string(), name: text.from.first_name, words, on: None, to });
        }
        let press: Press = serde_json::from_value(update.callback_query?).ok()?;
        let pressed = press.message?;
        if pressed.chat.id != self.room || press.from.is_bot {
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
        for piece in http::pieces(words, LONGEST) {
            let behind = behind.and_then(|id| id.parse::<i64>().ok());
            let more = match behind {
                Some(id) => {
                    json!({"text": piece, "reply_parameters": {"message_id": id, "allow_sending_without_reply": true}})
                }
                None => json!({"text": piece}),
            };
            let _: Value = self.call("sendMessage", &self.sent_to_room(more), PATIENCE).await?;
        }
        Ok(())
    }

    async fn reply(&self, to: &To, done: bool, words: &str) -> Result<(), Failure> {
        match to {
            To::Message(id) => {
                let lines = words.lines().count();
                if lines <= 1 {
                    return self.say(words, Some(&id.to_string())).await;
                }
                self.say_as_it_is(words).await
            }
            To::Press(press) => {
                let fits = words.chars().count() <= LONGEST_TOAST && !words.contains('\n');
                let toast = if fits { words } else { "See below." };
                let body = json!({"callback_query_id": press, "text": toast, "show_alert": !done});
                let answered: Result<Value, Failure> = self.call("answerCallbackQuery", &body, PATIENCE).await;
                if !fits {
                    self.say_as_it_is(words).await?;
                }
                answered.map(drop)
            }
        }
    }

    async fn listen(&self, since: Option<&str>) -> Result<Heard<To>, Failure> {
        let since: Option<i64> = since.and_then(|since| since.parse().ok());
        // Without a position all that the service still has comes in: `offset` 0 confirms nothing.
        let body =
            json!({"timeout": POLL_S, "offset": since.unwrap_or(0), "allowed_updates": ["message", "callback_query"]});
        let updates: Vec<Update> = self.call("getUpdates", &body, Duration::from_secs(POLL_S) + PATIENCE).await?;
        let last = updates.iter().map(|update| update.update_id).max();
        let position = last.map(|last| last + 1).or(since).unwrap_or(0);
        // What came twice counts once.
        let new = updates.into_iter().filter(|update| since.is_none_or(|since| update.update_id >= since));
        let spoken = new.filter_map(|update| self.spoken(update)).collect();
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

/// The buttons, which say only which card and what: 10 bytes of the 64 that there are.
fn keyboard(message: &Message) -> Value {
    let button = |button: &Button| json!({"text": button.label(), "callback_data": format!("{}:{}", letter(*button), message.id)});
    let rows: Vec<Value> = message.buttons.iter().map(|one| json!([button(one)])).collect();
    json!({"inline_keyboard": rows})
}

const fn letter(button: Button) -> char {
    match button {
        Button::Approve => 'a',
        Button::Session => 's',
        Button::Deny => 'd',
        Button::Show => 'w',
    }
}

/// The words that a pressed button stands for.
fn from_data(data: &str) -> Option<String> {
    let (what, id) = data.split_once(':')?;
    let id = ApprovalId::parse(id)?;
    let all = [Button::Approve, Button::Session, Button::Deny, Button::Show];
    let button = all.into_iter().find(|button| what.chars().eq([letter(*button)]))?;
    Some(button.words(&id))
}
