//! Telegram's Bot API as its documentation describes it, with people who write in a chat, and everything that can go wrong.
//!
//! Source: <https://core.telegram.org/bots/api>. The forms of updates are those of its examples; nothing here is taken from our
//! client.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use bashgate_tests::http::{Reply, Request, Server};
use serde_json::{Value, json};

use super::cases::{Buttons, Fault, Service, Shown, Who, plain_of_html, secret_file, test_each};

test_each!(Telegram);

const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const ROOM: i64 = -1_001_234_567_890;
const ELSEWHERE: i64 = -1_009_999_999_999;

#[derive(Default)]
struct State {
    next_update: i64,
    next_message: i64,
    updates: VecDeque<(i64, Value)>,
    messages: BTreeMap<i64, Message>,
    answered: Vec<(String, Value)>,
    presses: Vec<String>,
    faults: VecDeque<Fault>,
    token_is_revoked: bool,
    polls: usize,
    /// What a client did that the real service does not accept.
    wrong: Vec<String>,
}

#[derive(Clone)]
struct Message {
    text: String,
    keyboard: Value,
    changes: usize,
}

/// The service.
pub(super) struct Telegram {
    server: Server,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Service for Telegram {
    const APPROVER: &'static str = "4201";

    fn start() -> Self {
        let state =
            Arc::new((Mutex::new(State { next_update: 7000, next_message: 40, ..State::default() }), Condvar::new()));
        let of_server = state.clone();
        let server = Server::start(move |request| answer(request, &of_server));
        Self { server, state }
    }

    fn config(&self, folder: &Path) -> String {
        secret_file(folder, "telegram.token", TOKEN);
        format!(
            "[chat.x]\nkind = \"telegram\"\ntoken_file = \"telegram.token\"\nroom = \"{ROOM}\"\nbase_url = \"{}\"\n",
            self.server.url()
        )
    }

    fn says(&self, who: Who, words: &str) {
        self.update("message", &self.message(who.id(), ROOM, words));
    }

    fn says_what_does_not_count(&self, words: &str) -> usize {
        let own = self.message(Who::Approver.id(), ROOM, words);
        let with = |field: &str, value: Value| {
            let mut message = own.clone();
            message[field] = value;
            message
        };
        let channel = json!({"id": ELSEWHERE, "title": "News", "type": "channel"});
        let messages = [
            self.message(Who::Approver.id(), ELSEWHERE, words),
            with(
                "forward_origin",
                json!({"type": "user", "date": 1, "sender_user": {"id": 4201, "is_bot": false, "first_name": "Ann"}}),
            ),
            with("forward_origin", json!({"type": "hidden_user", "date": 1, "sender_user_name": "Ann"})),
            with("forward_date", json!(1_700_000_000)),
            with("sender_chat", channel),
            // An anonymous administrator speaks as the group itself.
            with("sender_chat", json!({"id": ROOM, "title": "Gate", "type": "supergroup"})),
            with("via_bot", json!({"id": 5, "is_bot": true, "first_name": "Inline"})),
            with("from", json!({"id": 4201, "is_bot": true, "first_name": "Ann"})),
            with("from", Value::Null),
            // Quoted, crossed out, on a timer, for a business, or in a way that there is not yet.
            with("entities", json!([{"type": "blockquote", "offset": 0, "length": 9}])),
            with("entities", json!([{"type": "expandable_blockquote", "offset": 0, "length": 9}])),
            with("entities", json!([{"type": "strikethrough", "offset": 0, "length": 9}])),
            with("entities", json!([{"type": "spoiler", "offset": 0, "length": 9}])),
            with("quote", json!({"text": "x", "position": 0})),
            with("is_from_offline", json!(true)),
            with("business_connection_id", json!("b")),
            with("guest_query_id", json!("g")),
            with("said_by_a_machine", json!({"id": 1})),
            with("text", json!(format!("> {words}"))),
            with("text", json!(format!("please {words}"))),
            with(
                "text",
                json!(format!("{}@another_bot {}", words.split_once(' ').map_or("", |(first, _)| first), "x")),
            ),
        ];
        let count = messages.len();
        for message in messages {
            self.update("message", &message);
        }
        let mut edited = self.message(Who::Approver.id(), ROOM, words);
        edited["edit_date"] = json!(1_700_000_100);
        self.update("edited_message", &edited);
        self.update("message", &edited);
        let mut post = self.message(Who::Approver.id(), ROOM, words);
        post.as_object_mut().unwrap().remove("from");
        self.update("channel_post", &post);
        let reaction = json!({"chat": {"id": ROOM, "type": "supergroup"}, "message_id": 41, "user": {"id": 4201, "is_bot": false, "first_name": "Ann"},
            "date": 1, "old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "\u{1F44D}"}]});
        self.update("message_reaction", &reaction);
        count + 4
    }

    fn says_in_other_ways(&self, words: &str) -> Vec<String> {
        let (first, rest) = words.split_once(' ').unwrap();
        vec![format!("/{first} {rest}"), format!("/{first}@Gate_Test_Bot {rest}"), format!("@gate_test_bot {words}")]
    }

    fn messages(&self) -> Vec<Shown> {
        let state = self.state.0.lock().unwrap();
        let all = state.messages.iter().map(|(id, message)| Shown {
            message: id.to_string(),
            text: plain(&message.text),
            buttons: message.keyboard["inline_keyboard"]
                .as_array()
                .map(|rows| rows.iter().map(|row| row[0]["text"].as_str().unwrap().to_owned()).collect())
                .unwrap_or_default(),
            changes: message.changes,
        });
        all.collect()
    }

    fn goes_down(&self, down: bool) {
        self.server.goes_down(down);
        self.state.1.notify_all();
    }

    fn fails(&self, faults: &[Fault]) {
        self.state.0.lock().unwrap().faults.extend(faults.iter().cloned());
        self.state.1.notify_all();
    }

    fn revokes(&self, revoked: bool) {
        self.state.0.lock().unwrap().token_is_revoked = revoked;
        self.state.1.notify_all();
    }

    fn deletes(&self, card: &str) {
        self.state.0.lock().unwrap().messages.remove(&card.parse().unwrap());
    }

    fn repeats(&self) {
        // The same update once more, out of its order.
        let mut state = self.state.0.lock().unwrap();
        if let Some(first) = state.updates.front().cloned() {
            state.updates.push_back(first);
        }
    }

    fn complaints(&self) -> Vec<String> {
        let state = self.state.0.lock().unwrap();
        let mut wrong = state.wrong.clone();
        // A button that was pressed in the room spins until it is answered.
        wrong.extend(
            state
                .presses
                .iter()
                .filter(|id| !state.answered.iter().any(|(of, _)| of == *id))
                .map(|id| format!("{id} is not answered")),
        );
        wrong
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }
}

impl Buttons for Telegram {
    fn presses(&self, who: Who, card: &str, label: &str) {
        let data = {
            let state = self.state.0.lock().unwrap();
            let message = &state.messages[&card.parse::<i64>().unwrap()];
            let mut buttons =
                message.keyboard["inline_keyboard"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
            buttons.find(|button| button["text"] == label).expect(label)["callback_data"].as_str().unwrap().to_owned()
        };
        self.press(who.id(), ROOM, card.parse().unwrap(), &data);
    }

    fn presses_what_does_not_count(&self, card: &Shown) {
        let message: i64 = card.message.parse().unwrap();
        let id = card.id();
        // Another message's button, another room's, and data that nobody made.
        self.press(Who::Approver.id(), ROOM, message + 1000, &format!("approve:{id}"));
        self.press(Who::Approver.id(), ELSEWHERE, message, &format!("approve:{id}"));
        self.press(Who::Approver.id(), ROOM, message, &format!("approve {id}"));
        self.press(Who::Approver.id(), ROOM, message, &format!("approve-all:{id}"));
        self.press(Who::Approver.id(), ROOM, message, "approve:");
    }

    fn answers_to_presses(&self) -> Vec<String> {
        let state = self.state.0.lock().unwrap();
        state.answered.iter().map(|(_, body)| body["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Telegram {
    fn message(&self, from: i64, chat: i64, words: &str) -> Value {
        let mut state = self.state.0.lock().unwrap();
        state.next_message += 1;
        json!({
            "message_id": state.next_message,
            "from": {"id": from, "is_bot": false, "first_name": "A</pre>nn", "username": "ann", "language_code": "en"},
            "chat": {"id": chat, "title": "Gate", "type": "supergroup"},
            "date": 1_700_000_000, "text": words,
        })
    }

    fn update(&self, kind: &str, content: &Value) {
        let mut state = self.state.0.lock().unwrap();
        state.next_update += 1;
        let id = state.next_update;
        state.updates.push_back((id, json!({"update_id": id, kind: content})));
        self.state.1.notify_all();
    }

    fn press(&self, from: i64, chat: i64, message: i64, data: &str) {
        let id = {
            let mut state = self.state.0.lock().unwrap();
            let id = format!("q{}", state.next_update + 1);
            let is_one = data
                .split_once(':')
                .is_some_and(|(what, id)| ["approve", "session", "deny", "show"].contains(&what) && id.len() == 8);
            if chat == ROOM && is_one {
                state.presses.push(id.clone());
            }
            id
        };
        self.update(
            "callback_query",
            &json!({
                "id": id, "from": {"id": from, "is_bot": false, "first_name": "Ann"},
                "message": {"message_id": message, "from": {"id": 110_201_543, "is_bot": true, "first_name": "gate"},
                            "chat": {"id": chat, "type": "supergroup", "title": "Gate"}, "date": 1_700_000_000, "text": "x"},
                "chat_instance": "-1", "data": data,
            }),
        );
    }
}

fn failed(code: u16, description: &str) -> Reply {
    Reply::Json(code, json!({"ok": false, "error_code": code, "description": description}))
}

fn done(result: &Value) -> Reply {
    Reply::Json(200, json!({"ok": true, "result": result}))
}

fn answer(request: &Request, state: &(Mutex<State>, Condvar)) -> Reply {
    let Some((token, method)) = request.path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')) else {
        return failed(404, "Not Found");
    };
    let body = &request.body;
    let mut now = state.0.lock().unwrap();
    if token != TOKEN || now.token_is_revoked {
        return failed(401, "Unauthorized");
    }
    if let Some(fault) = now.faults.pop_front() {
        return match fault {
            Fault::TooMany(seconds) => Reply::Json(
                429,
                json!({"ok": false, "error_code": 429, "description": format!("Too Many Requests: retry after {seconds}"),
                       "parameters": {"retry_after": seconds}}),
            ),
            Fault::Status(code) => failed(code, "Internal Server Error"),
            Fault::Garbage => Reply::Json(200, json!(["<html>", 7])),
            Fault::Closed => Reply::Closed,
            Fault::Lost => {
                // It is taken, and the answer is lost.
                let _ = act(method, body, &mut now);
                Reply::Closed
            }
        };
    }
    if method != "getUpdates" {
        return act(method, body, &mut now);
    }
    if let Some(offset) = body["offset"].as_i64() {
        now.updates.retain(|(id, _)| *id >= offset);
    }
    now.polls += 1;
    let poll = now.polls;
    let until = Instant::now() + Duration::from_secs(body["timeout"].as_u64().unwrap_or(0));
    let allowed: Vec<&str> = body["allowed_updates"]
        .as_array()
        .map(|kinds| kinds.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    loop {
        if now.polls != poll {
            return failed(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
            );
        }
        if now.token_is_revoked {
            return failed(401, "Unauthorized");
        }
        let wanted = |update: &Value| allowed.iter().any(|kind| update.get(kind).is_some());
        let found: Vec<Value> = now.updates.iter().map(|(_, update)| update.clone()).filter(wanted).take(100).collect();
        if !found.is_empty() || Instant::now() >= until {
            return done(&json!(found));
        }
        now = state
            .1
            .wait_timeout(now, until.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)))
            .unwrap()
            .0;
    }
}

fn act(method: &str, body: &Value, state: &mut State) -> Reply {
    match method {
        "getMe" => done(
            &json!({"id": 110_201_543, "is_bot": true, "first_name": "gate", "username": "gate_test_bot", "can_join_groups": true}),
        ),
        "sendMessage" => {
            if body["chat_id"] != ROOM {
                return failed(400, "Bad Request: chat not found");
            }
            match taken(body) {
                Err(why) => {
                    state.wrong.push(why.clone());
                    failed(400, &format!("Bad Request: {why}"))
                }
                Ok(text) => {
                    state.next_message += 1;
                    let id = state.next_message;
                    state.messages.insert(id, Message { text, keyboard: body["reply_markup"].clone(), changes: 0 });
                    done(&json!({"message_id": id, "chat": {"id": ROOM}, "date": 1_700_000_000}))
                }
            }
        }
        "editMessageText" => {
            let id = body["message_id"].as_i64().unwrap_or(0);
            let text = match taken(body) {
                Ok(text) => text,
                Err(why) => {
                    state.wrong.push(why.clone());
                    return failed(400, &format!("Bad Request: {why}"));
                }
            };
            let Some(message) = state.messages.get_mut(&id) else {
                return failed(400, "Bad Request: message to edit not found");
            };
            if message.text == text && message.keyboard == body["reply_markup"] {
                return failed(
                    400,
                    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same",
                );
            }
            *message = Message { text, keyboard: body["reply_markup"].clone(), changes: message.changes + 1 };
            done(&json!({"message_id": id}))
        }
        "answerCallbackQuery" => {
            let id = body["callback_query_id"].as_str().unwrap_or_default().to_owned();
            if body["text"].as_str().is_some_and(|text| text.chars().count() > 200) {
                return failed(400, "Bad Request: MESSAGE_TOO_LONG");
            }
            state.answered.push((id, body.clone()));
            done(&json!(true))
        }
        _ => failed(404, "Not Found"),
    }
}

/// A text as the service takes it: its HTML must be whole and of the few tags that there are, and not too long without them.
fn taken(body: &Value) -> Result<String, String> {
    let text = body["text"].as_str().ok_or("message text is empty")?;
    if text.contains('\0') {
        return Err("strings must be encoded in UTF-8".to_owned());
    }
    if body["parse_mode"] == "HTML" {
        plain_of_html(text, TAGS)?;
    }
    let length = plain(text).encode_utf16().count();
    if length == 0 || length > 4096 {
        return Err(format!("message is too long ({length})"));
    }
    let buttons = body["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    for button in buttons.iter().flat_map(|row| row.as_array().unwrap()) {
        if !(1..=64).contains(&button["callback_data"].as_str().unwrap_or_default().len()) {
            return Err("BUTTON_DATA_INVALID".to_owned());
        }
    }
    Ok(text.to_owned())
}

/// The tags that we use of those that it knows.
const TAGS: &[&str] = &["b", "pre", "code", "code class=\"language-bash\""];

/// What people see of a text, with markup or without.
fn plain(text: &str) -> String {
    plain_of_html(text, TAGS).unwrap_or_else(|_| text.to_owned())
}
