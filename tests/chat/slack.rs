//! Slack as its documentation describes it: the Web API and Socket Mode, with people who write in a room, and everything that
//! can go wrong.
//!
//! Source: <https://docs.slack.dev/apis/events-api/using-socket-mode>, <https://docs.slack.dev/reference/methods>,
//! <https://docs.slack.dev/reference/block-kit>. The forms of events are those of its examples; nothing here is taken from our
//! client.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bashgate_tests::http::{Reply, Request, Server};
use bashgate_tests::until;
use serde_json::{Value, json};

use super::cases::{ASKED, Buttons, Fault, Service, Shown, Stage, Who, secret_file, test_each};
use super::events::{Events, Out, Script, To};

test_each!(Slack);

const TEAM: &str = "T0GATE";
const ROOM: &str = "C0ROOM1";
const ELSEWHERE: &str = "C0ELSE1";
const BOT: &str = "U0GATE";
const TOKEN: &str = "xoxb-1234567890-abcdefghijkl";
const APP_TOKEN: &str = "xapp-1-A0GATE-1234567890-abcdefghijkl";

#[derive(Default)]
struct State {
    next: u64,
    /// Messages in the room by their time, as the history gives them.
    messages: BTreeMap<String, Value>,
    changes: BTreeMap<String, usize>,
    /// What was sent as an event and is not acknowledged, with when.
    waiting: Vec<(String, Value, Instant)>,
    sent: Vec<Value>,
    live: BTreeMap<usize, To>,
    presses: usize,
    answers: Vec<String>,
    tickets: u64,
    faults: VecDeque<Fault>,
    token_is_revoked: bool,
    /// What a client did that the real service does not accept.
    wrong: Vec<String>,
    url: String,
}

/// The service.
pub(super) struct Slack {
    server: Server,
    events: Events,
    state: Arc<Mutex<State>>,
}

struct Socket(Arc<Mutex<State>>);

impl Script for Socket {
    fn connected(&self, number: usize, path: &str, to: &To) {
        let mut state = self.0.lock().unwrap();
        // A ticket is good once.
        if path != format!("/link/?ticket={}&app_id=A0GATE", state.tickets) {
            let _ = to.send(Out::Close(1008));
            return;
        }
        let _ = to.send(Out::Say(json!({
            "type": "hello", "num_connections": 1, "connection_info": {"app_id": "A0GATE"},
            "debug_info": {"host": "applink-1", "started": "2026-01-01 00:00:00.000", "build_number": 1, "approximate_connection_time": 18060},
        })));
        state.live.insert(number, to.clone());
        for (_, envelope, since) in &mut state.waiting {
            *since = Instant::now();
            let _ = to.send(Out::Say(envelope.clone()));
        }
    }

    fn heard(&self, _: usize, message: &Value, _: &To) {
        let id = message["envelope_id"].as_str().unwrap_or_default();
        self.0.lock().unwrap().waiting.retain(|(of, ..)| of != id);
    }

    fn left(&self, number: usize) {
        self.0.lock().unwrap().live.remove(&number);
    }
}

impl State {
    fn time(&mut self) -> String {
        self.next += 1;
        format!("1700000000.{:06}", self.next)
    }

    fn send(&mut self, kind: &str, payload: &Value) {
        let id = uuid::Uuid::new_v4().to_string();
        let envelope = json!({"envelope_id": id, "type": kind, "payload": payload, "accepts_response_payload": kind == "interactive"});
        // Of several connections one gets it.
        if let Some(to) = self.live.values().last() {
            let _ = to.send(Out::Say(envelope.clone()));
        }
        self.waiting.push((id, envelope, Instant::now()));
    }

    fn event(&mut self, event: &Value) {
        self.next += 1;
        let payload = json!({
            "token": "x", "team_id": TEAM, "api_app_id": "A0GATE", "event": event, "type": "event_callback",
            "event_id": format!("Ev{}", self.next), "event_time": 1_700_000_000,
        });
        self.sent.push(payload.clone());
        self.send("events_api", &payload);
    }

    /// A person's message, with something that differs.
    fn message(&mut self, user: &str, words: &str, more: &Value) -> Value {
        let time = self.time();
        let mut message = json!({
            "type": "message", "user": user, "team": TEAM, "text": words, "ts": time, "client_msg_id": uuid::Uuid::new_v4().to_string(),
            "blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": words}]}]}],
        });
        for (key, value) in more.as_object().unwrap() {
            message[key] = value.clone();
        }
        let channel = message["channel"].as_str().unwrap_or(ROOM).to_owned();
        if channel == ROOM && message["type"] == "message" {
            // The history does not say the room.
            self.messages.insert(time.clone(), message.clone());
        }
        message["channel"] = json!(channel);
        message["channel_type"] = json!("channel");
        message["event_ts"] = json!(time);
        message
    }

    /// What the history of the room gives: no answers in threads, but of each message when it was answered last.
    fn room(&self, oldest: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for (time, message) in self.messages.iter().rev().filter(|(time, _)| time.as_str() > oldest) {
            if message["thread_ts"].is_string() {
                continue;
            }
            let mut message = message.clone();
            let answers = || self.messages.iter().filter(|(_, answer)| answer["thread_ts"] == time.as_str());
            if let Some((last, _)) = answers().next_back() {
                message["thread_ts"] = json!(time);
                message["reply_count"] = json!(answers().count());
                message["latest_reply"] = json!(last);
            }
            all.push(message);
        }
        all
    }

    /// What stands in a thread, its first message with it.
    fn thread(&self, first: &str, oldest: &str) -> Vec<Value> {
        let belongs = |time: &str, message: &Value| time == first || message["thread_ts"] == first && time > oldest;
        self.messages
            .iter()
            .filter(|(time, message)| belongs(time, message))
            .map(|(_, message)| message.clone())
            .collect()
    }

    fn say(&mut self, user: &str, words: &str, more: &Value) {
        let message = self.message(user, words, more);
        self.event(&message);
    }
}

const fn user(who: Who) -> &'static str {
    match who {
        Who::Approver => "U0ANN",
        Who::Stranger => "U0MAL",
    }
}

impl Service for Slack {
    const APPROVER: &'static str = "T0GATE:U0ANN";

    fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let of_server = state.clone();
        let server = Server::start(move |request| answer(request, &mut of_server.lock().unwrap()));
        let events = Events::start(Arc::new(Socket(state.clone())));
        state.lock().unwrap().url = events.url();
        Self { server, events, state }
    }

    fn config(&self, folder: &Path) -> String {
        secret_file(folder, "bot.token", TOKEN);
        secret_file(folder, "app.token", APP_TOKEN);
        format!(
            "[chat.x]\nkind = \"slack\"\ntoken_file = \"bot.token\"\napp_token_file = \"app.token\"\nroom = \"{ROOM}\"\nbase_url = \"{}/api\"\n",
            self.server.url()
        )
    }

    fn says(&self, who: Who, words: &str) {
        self.state.lock().unwrap().say(user(who), words, &json!({}));
    }

    fn says_what_does_not_count(&self, words: &str) -> usize {
        let mut state = self.state.lock().unwrap();
        let share = json!([{"is_share": true, "is_msg_unfurl": true, "author_id": "U0ANN", "text": words}]);
        let all = [
            json!({"channel": ELSEWHERE}),
            json!({"subtype": "bot_message", "bot_id": "B1"}),
            json!({"subtype": "me_message"}),
            json!({"subtype": "thread_broadcast", "thread_ts": "1700000000.000001"}),
            json!({"subtype": "file_share", "files": [{"id": "F1"}]}),
            json!({"bot_id": "B1", "app_id": "A1"}),
            json!({"bot_profile": {"id": "B1"}}),
            json!({"edited": {"user": "U0ANN", "ts": "1700000001.000001"}}),
            json!({"hidden": true}),
            json!({"attachments": share}),
            // Somebody of another organisation in a shared room.
            json!({"user_team": "T0EVIL", "source_team": "T0EVIL"}),
            json!({"team": "T0EVIL"}),
            json!({"user": BOT}),
            json!({"user": null}),
            json!({"text": format!("&gt; {words}")}),
            json!({"text": format!("please {words}")}),
            json!({"text": format!("<@U0OTHER> {words}")}),
            json!({"ts": "x"}),
            json!({"type": "app_mention"}),
        ];
        for more in &all {
            state.say("U0ANN", words, more);
        }
        let edited = state.message("U0ANN", words, &json!({}));
        state.messages.remove(edited["ts"].as_str().unwrap());
        state.event(&json!({"type": "message", "subtype": "message_changed", "hidden": true, "channel": ROOM, "ts": edited["ts"],
                            "message": edited, "previous_message": edited}));
        state.event(&json!({"type": "reaction_added", "user": "U0ANN", "reaction": "+1", "item_user": BOT,
                            "item": {"type": "message", "channel": ROOM, "ts": "1700000000.000001"}, "event_ts": "1"}));
        state.send(
            "slash_commands",
            &json!({"command": "/approve", "text": words, "user_id": "U0ANN", "channel_id": ROOM}),
        );
        all.len() + 3
    }

    fn says_in_other_ways(&self, words: &str) -> Vec<String> {
        vec![format!("<@{BOT}> {words}"), format!("<@{BOT}>: {words}"), format!(" {words} ")]
    }

    fn messages(&self) -> Vec<Shown> {
        let state = self.state.lock().unwrap();
        let ours = state.messages.iter().filter(|(_, message)| message["bot_id"] == "B0GATE");
        let all = ours.map(|(time, message)| Shown {
            message: time.clone(),
            text: seen(&message["blocks"]),
            buttons: buttons(&message["blocks"])
                .map(|button| button["text"]["text"].as_str().unwrap().to_owned())
                .collect(),
            changes: state.changes.get(time).copied().unwrap_or(0),
        });
        all.collect()
    }

    fn goes_down(&self, down: bool) {
        self.server.goes_down(down);
        self.events.goes_down(down);
    }

    fn fails(&self, faults: &[Fault]) {
        let mut state = self.state.lock().unwrap();
        state.faults.extend(faults.iter().cloned());
        // It wants its clients to connect anew.
        for to in state.live.values() {
            let _ = to.send(Out::Say(
                json!({"type": "disconnect", "reason": "refresh_requested", "debug_info": {"host": "applink-1"}}),
            ));
        }
    }

    fn revokes(&self, revoked: bool) {
        let mut state = self.state.lock().unwrap();
        state.token_is_revoked = revoked;
        for to in state.live.values() {
            let _ = to.send(Out::Cut);
        }
    }

    fn deletes(&self, card: &str) {
        self.state.lock().unwrap().messages.remove(card);
    }

    fn repeats(&self) {
        let mut state = self.state.lock().unwrap();
        if let Some(first) = state.sent.first().cloned() {
            state.send("events_api", &first);
        }
    }

    fn complaints(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let mut wrong = state.wrong.clone();
        let late = state
            .waiting
            .iter()
            .filter(|(.., since)| since.elapsed() > Duration::from_secs(3) && !state.live.is_empty());
        wrong.extend(late.map(|(_, envelope, _)| format!("not acknowledged: {envelope}")));
        if state.answers.len() < state.presses {
            wrong.push(format!("{} presses, {} answers", state.presses, state.answers.len()));
        }
        wrong
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned(), APP_TOKEN.to_owned()]
    }
}

impl Buttons for Slack {
    fn presses(&self, who: Who, card: &str, label: &str) {
        let mut state = self.state.lock().unwrap();
        let blocks = state.messages[card]["blocks"].clone();
        let button = buttons(&blocks).find(|button| button["text"]["text"] == label).expect(label).clone();
        state.presses += 1;
        let press = press(user(who), card, &button);
        state.send("interactive", &press);
    }

    fn presses_what_does_not_count(&self, card: &Shown) {
        let mut state = self.state.lock().unwrap();
        let blocks = state.messages[&card.message]["blocks"].clone();
        let button = buttons(&blocks).find(|button| button["action_id"] == "approve").unwrap().clone();
        let right = press("U0ANN", &card.message, &button);
        let changed = |place: &str, value: Value| {
            let mut press = right.clone();
            *press.pointer_mut(place).unwrap() = value;
            press
        };
        let all = [
            changed("/type", json!("message_action")),
            changed("/container/channel_id", json!(ELSEWHERE)),
            changed("/channel/id", json!(ELSEWHERE)),
            changed("/container/type", json!("view")),
            changed("/actions", json!([])),
            changed("/actions", json!([button, button])),
            changed("/actions/0/action_id", json!("approve all")),
            changed("/actions/0/value", json!("x")),
            changed("/user/team_id", Value::Null),
        ];
        for press in all {
            state.send("interactive", &press);
        }
        // These are told that they do not count.
        state.presses += 2;
        state.send("interactive", &changed("/container/message_ts", json!("1700000000.999999")));
        state.send("interactive", &changed("/user/team_id", json!("T0EVIL")));
    }

    fn answers_to_presses(&self) -> Vec<String> {
        self.state.lock().unwrap().answers.clone()
    }
}

fn press(user: &str, message: &str, button: &Value) -> Value {
    json!({
        "type": "block_actions", "user": {"id": user, "username": "ann", "name": "ann", "team_id": TEAM}, "api_app_id": "A0GATE", "token": "x",
        "container": {"type": "message", "message_ts": message, "channel_id": ROOM, "is_ephemeral": false}, "trigger_id": "1.2.3",
        "team": {"id": TEAM, "domain": "gate"}, "enterprise": null, "is_enterprise_install": false, "channel": {"id": ROOM, "name": "gate"},
        "state": {"values": {}}, "response_url": "https://hooks.slack.com/actions/x",
        "actions": [{"action_id": button["action_id"], "block_id": "b", "text": button["text"], "value": button["value"], "type": "button",
                     "action_ts": "1700000000.5"}],
    })
}

fn buttons(blocks: &Value) -> impl Iterator<Item = &Value> {
    let actions = blocks.as_array().unwrap().iter().filter(|block| block["type"] == "actions");
    actions.flat_map(|block| block["elements"].as_array().unwrap())
}

/// What people see of blocks.
fn seen(blocks: &Value) -> String {
    let mut out = String::new();
    for element in blocks
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "rich_text")
        .flat_map(|block| block["elements"].as_array().unwrap())
    {
        for piece in element["elements"].as_array().unwrap() {
            match piece["type"].as_str().unwrap() {
                "text" => out.push_str(piece["text"].as_str().unwrap()),
                "user" => out.push_str("@somebody"),
                other => panic!("an element {other}"),
            }
        }
        out.push('\n');
    }
    out
}

fn failed(error: &str) -> Reply {
    Reply::Json(200, json!({"ok": false, "error": error}))
}

fn answer(request: &Request, state: &mut State) -> Reply {
    let Some(method) = request.path.strip_prefix("/api/") else { return Reply::Json(404, json!(null)) };
    let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let wanted = if method == "apps.connections.open" { APP_TOKEN } else { TOKEN };
    if state.token_is_revoked || ![TOKEN, APP_TOKEN].contains(&token) {
        return failed("invalid_auth");
    }
    if token != wanted {
        state.wrong.push(format!("{method} with the other token"));
        return failed("not_allowed_token_type");
    }
    // Methods that read take a form and no JSON.
    let kind =
        if method.starts_with("conversations.") { "application/x-www-form-urlencoded" } else { "application/json" };
    if request.method != "POST" || !request.header("content-type").is_some_and(|said| said.starts_with(kind)) {
        state.wrong.push(format!("{method} is no {kind}"));
        return failed(if method.starts_with("conversations.") { "invalid_arguments" } else { "invalid_post_type" });
    }
    match state.faults.pop_front() {
        Some(Fault::TooMany(seconds)) => {
            return Reply::With(
                429,
                format!("retry-after: {seconds}\r\n"),
                json!({"ok": false, "error": "ratelimited"}),
            );
        }
        Some(Fault::Status(code)) => return Reply::Json(code, json!({"ok": false, "error": "internal_error"})),
        Some(Fault::Garbage) => return Reply::Json(200, json!(["<html>", 7])),
        Some(Fault::Closed) => return Reply::Closed,
        Some(Fault::Lost) => {
            let _ = act(method, &request.body, state);
            return Reply::Closed;
        }
        None => {}
    }
    act(method, &request.body, state)
}

fn act(method: &str, body: &Value, state: &mut State) -> Reply {
    let done = |mut more: Value| {
        more["ok"] = json!(true);
        Reply::Json(200, more)
    };
    if method == "auth.test" {
        return done(
            json!({"url": "https://gate.slack.com/", "team": "Gate", "user": "gate", "team_id": TEAM, "user_id": BOT, "bot_id": "B0GATE"}),
        );
    }
    if method == "apps.connections.open" {
        state.tickets += 1;
        return done(json!({"url": format!("{}/link/?ticket={}&app_id=A0GATE", state.url, state.tickets)}));
    }
    if body["channel"] != ROOM {
        return failed("channel_not_found");
    }
    if let Err(why) = taken(method, body) {
        state.wrong.push(format!("{method}: {why}"));
        return failed("invalid_blocks");
    }
    match method {
        "chat.postMessage" => {
            let time = state.time();
            let message = json!({"type": "message", "user": BOT, "bot_id": "B0GATE", "text": body["text"], "ts": time,
                                 "blocks": body["blocks"], "thread_ts": body["thread_ts"]});
            state.messages.insert(time.clone(), message.clone());
            let mut event = message.clone();
            event["channel"] = json!(ROOM);
            state.event(&event);
            done(json!({"channel": ROOM, "ts": time, "message": message}))
        }
        "chat.update" => {
            let time = body["ts"].as_str().unwrap_or_default().to_owned();
            let Some(message) = state.messages.get_mut(&time).filter(|message| message["user"] == BOT) else {
                return failed("message_not_found");
            };
            message["blocks"] = body["blocks"].clone();
            *state.changes.entry(time.clone()).or_default() += 1;
            done(json!({"channel": ROOM, "ts": time, "text": body["text"]}))
        }
        "chat.postEphemeral" => {
            state.answers.push(seen(&body["blocks"]).trim().to_owned());
            let time = state.time();
            done(json!({"message_ts": time}))
        }
        "conversations.history" | "conversations.replies" => {
            let oldest = body["oldest"].as_str().unwrap_or("0").to_owned();
            let thread = (method == "conversations.replies").then(|| body["ts"].as_str().unwrap().to_owned());
            if thread.as_ref().is_some_and(|thread| !state.messages.contains_key(thread)) {
                return failed("thread_not_found");
            }
            let limit: usize = body["limit"].as_str().map_or(100, |limit| limit.parse().unwrap());
            // The newest first in a room; a thread begins with its first message, whatever is asked for.
            let from: usize = body["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
            let all: Vec<Value> = match &thread {
                Some(thread) => state.thread(thread, &oldest),
                None => state.room(&oldest),
            };
            let page: Vec<Value> = all.iter().skip(from).take(limit).cloned().collect();
            let more = from + page.len() < all.len();
            let cursor = if more { (from + page.len()).to_string() } else { String::new() };
            done(json!({"messages": page, "has_more": more, "response_metadata": {"next_cursor": cursor}}))
        }
        _ => failed("unknown_method"),
    }
}

/// What the service takes.
fn taken(method: &str, body: &Value) -> Result<(), String> {
    if method == "conversations.history" {
        return Ok(());
    }
    if method == "conversations.replies" {
        return body["ts"].is_string().then_some(()).ok_or_else(|| "no thread".to_owned());
    }
    let text = body["text"].as_str().ok_or("no text")?;
    if text.is_empty() || text.contains(['<', '>']) {
        return Err(format!("the words for a notification are empty or hold markup: {text}"));
    }
    let blocks = body["blocks"].as_array().ok_or("no blocks")?;
    for block in blocks {
        match block["type"].as_str() {
            Some("rich_text") => {
                for element in block["elements"].as_array().ok_or("no elements")? {
                    if !matches!(element["type"].as_str(), Some("rich_text_section" | "rich_text_preformatted")) {
                        return Err(format!("an element {element}"));
                    }
                    for piece in element["elements"].as_array().ok_or("no elements")? {
                        let is_text =
                            piece["type"] == "text" && piece["text"].as_str().is_some_and(|text| !text.is_empty());
                        if !is_text && (piece["type"] != "user" || piece["user_id"] != "U0ANN") {
                            return Err(format!("a piece {piece}"));
                        }
                    }
                }
            }
            Some("actions") => {
                let buttons = block["elements"].as_array().ok_or("no elements")?;
                let mut names: Vec<&str> = buttons.iter().filter_map(|button| button["action_id"].as_str()).collect();
                names.dedup();
                if names.len() != buttons.len() || buttons.is_empty() || buttons.len() > 25 {
                    return Err("buttons without names of their own".to_owned());
                }
                for button in buttons {
                    let label = button["text"]["text"].as_str().ok_or("no label")?;
                    if button["text"]["type"] != "plain_text"
                        || label.len() > 75
                        || button["value"].as_str().is_none_or(|value| value.len() > 2000)
                    {
                        return Err(format!("a button {button}"));
                    }
                }
            }
            other => return Err(format!("a block {other:?}")),
        }
    }
    if seen(&body["blocks"]).chars().count() > 12_000 {
        return Err("msg_blocks_too_long".to_owned());
    }
    Ok(())
}

/// What was said while the host was away comes from the history, whatever else was said there.
#[test]
fn what_was_missed_is_paged() {
    let mut stage = Stage::<Slack>::new("");
    let (running, card) = stage.ask(ASKED);
    stage.is_through();
    stage.host.kill();
    {
        let mut state = stage.service.state.lock().unwrap();
        state.say("U0ANN", &format!("approve {}", card.id()), &json!({}));
        for number in 0..230 {
            state.say("U0MAL", &format!("talk {number}"), &json!({}));
        }
        // Nobody was connected, and the service does not keep events for long.
        state.waiting.clear();
    }
    stage.host = stage.site.serve();
    running.join().unwrap().expect(0);
    stage.says(&card.message, "Approved by ");
    stage.ends();
}

/// What was written into a card's thread while the host was away counts: the room's own history does not hold it.
#[test]
fn what_was_missed_in_threads_counts() {
    let mut stage = Stage::<Slack>::new("");
    let (first, card) = stage.ask(ASKED);
    let (second, other) = stage.ask("curl -s https://y.example");
    stage.is_through();
    stage.host.kill();
    {
        let mut state = stage.service.state.lock().unwrap();
        let behind = |card: &Shown| json!({"thread_ts": card.message});
        state.say("U0MAL", &format!("approve {}", other.id()), &behind(&other));
        state.say("U0ANN", &format!("approve {}", card.id()), &behind(&card));
        state.say("U0ANN", &format!("deny {}", other.id()), &behind(&other));
        state.waiting.clear();
    }
    stage.host = stage.site.serve();
    first.join().unwrap().expect(0);
    second.join().unwrap().expect(2);
    stage.says(&card.message, "Approved by ");
    stage.says(&other.message, "Denied by ");
    stage.ends();
}

/// A channel that is bound to a thread hears what was missed there, and nothing of what was said beside it.
#[test]
fn what_was_missed_in_the_only_thread_counts() {
    let begun = |service: &Slack| {
        let mut state = service.state.lock().unwrap();
        let first = state.message("U0ANN", "commands go here", &json!({}));
        assert_eq!(first["ts"], "1700000000.000001");
    };
    let mut stage = Stage::<Slack>::of("", "thread = \"1700000000.000001\"\n", begun);
    let (running, card) = stage.ask(ASKED);
    let kept = stage.site.path().join("state/chat/x.json");
    until("the card to be kept", || {
        std::fs::read_to_string(&kept).is_ok_and(|text| text.contains(&card.id())).then_some(())
    });
    stage.host.kill();
    {
        let mut state = stage.service.state.lock().unwrap();
        state.say("U0ANN", &format!("approve {}", card.id()), &json!({}));
        state.say("U0ANN", &format!("deny {}", card.id()), &json!({"thread_ts": "1700000000.000001"}));
        state.waiting.clear();
    }
    stage.host = stage.site.serve();
    running.join().unwrap().expect(2);
    stage.says(&card.message, "Denied by ");
    stage.ends();
}
