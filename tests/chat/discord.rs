//! Discord as its documentation describes it: the API and the gateway, with people who write in a channel, and everything that
//! can go wrong.
//!
//! Source: <https://docs.discord.com/developers/events/gateway>, <https://docs.discord.com/developers/resources/message>,
//! <https://docs.discord.com/developers/interactions/receiving-and-responding>. The forms of events are those of its examples;
//! nothing here is taken from our client.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bashgate_tests::http::{Reply, Request, Server};
use bashgate_tests::until;
use serde_json::{Value, json};

use super::cases::{ASKED, Buttons, Fault, Service, Shown, Stage, Who, secret_file, test_each};
use super::events::{Events, Out, Script, To};

test_each!(Discord);

const ROOM: &str = "290926798626357999";
const ELSEWHERE: &str = "290926798626357111";
const BOT: &str = "80351110224678912";
const APPLICATION: &str = "80351110224678000";
const TOKEN: &str = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";
const MESSAGE_CONTENT: u64 = 1 << 15;
const BEAT_MS: u64 = 300;

#[derive(Default)]
struct State {
    next: u64,
    messages: BTreeMap<u64, Value>,
    changes: BTreeMap<u64, usize>,
    /// Every event of the session, with its number.
    events: Vec<Value>,
    session: u64,
    /// Connections that have said who they are, and whether they are told what stands in messages.
    live: BTreeMap<usize, (To, bool)>,
    /// Interactions: when, whether they were confirmed, and what was said in the end.
    presses: BTreeMap<String, (Instant, bool, Option<String>)>,
    nonces: BTreeMap<String, u64>,
    faults: VecDeque<Fault>,
    token_is_revoked: bool,
    no_content: bool,
    /// The bot may not embed: what it embeds is left away.
    no_embeds: bool,
    /// From now on no heartbeat is answered on connections below this number.
    deaf_below: usize,
    connections: usize,
    resumed: usize,
    wrong: Vec<String>,
    url: String,
}

/// The service.
pub(super) struct Discord {
    server: Server,
    gateway: Events,
    state: Arc<Mutex<State>>,
}

struct Gateway(Arc<Mutex<State>>);

impl Script for Gateway {
    fn connected(&self, number: usize, path: &str, to: &To) {
        let mut state = self.0.lock().unwrap();
        state.connections = number + 1;
        if path != "/?v=10&encoding=json" {
            state.wrong.push(format!("the gateway is asked for {path}"));
        }
        let _ = to.send(Out::Say(
            json!({"op": 10, "d": {"heartbeat_interval": BEAT_MS, "_trace": []}, "s": null, "t": null}),
        ));
    }

    fn heard(&self, number: usize, message: &Value, to: &To) {
        let mut state = self.0.lock().unwrap();
        let token_is_good = message["d"]["token"] == TOKEN && !state.token_is_revoked;
        match message["op"].as_u64() {
            Some(1) if number >= state.deaf_below => {
                let _ = to.send(Out::Say(json!({"op": 11, "d": null, "s": null, "t": null})));
            }
            Some(1) => {}
            Some(2 | 6) if !token_is_good => drop(to.send(Out::Close(4004))),
            Some(2) => {
                let intents = message["d"]["intents"].as_u64().unwrap_or(0);
                if intents & MESSAGE_CONTENT != 0 && state.no_content {
                    drop(to.send(Out::Close(4014)));
                    return;
                }
                if intents & 1 << 9 == 0 || message["d"]["properties"]["os"].is_null() {
                    state.wrong.push(format!("{message}"));
                }
                state.session += 1;
                state.events.clear();
                state.live.insert(number, (to.clone(), intents & MESSAGE_CONTENT != 0));
                let ready = json!({"v": 10, "user": {"id": BOT, "username": "gate", "bot": true}, "guilds": [], "session_id": format!("s{}", state.session),
                                   "resume_gateway_url": state.url, "application": {"id": APPLICATION, "flags": 0}});
                state.dispatch("READY", &ready);
            }
            Some(6) => {
                if message["d"]["session_id"] != format!("s{}", state.session) {
                    drop(to.send(Out::Say(json!({"op": 9, "d": false, "s": null, "t": null}))));
                    return;
                }
                state.resumed += 1;
                let from = usize::try_from(message["d"]["seq"].as_u64().unwrap_or(0)).unwrap();
                for event in state.events.iter().skip(from) {
                    let _ = to.send(Out::Say(event.clone()));
                }
                let sees = !state.no_content;
                state.live.insert(number, (to.clone(), sees));
                state.dispatch("RESUMED", &json!({}));
            }
            _ => state.wrong.push(format!("{message}")),
        }
    }

    fn left(&self, number: usize) {
        self.0.lock().unwrap().live.remove(&number);
    }
}

impl State {
    fn id(&mut self) -> u64 {
        self.next += 1;
        1_100_000_000_000_000_000 + self.next
    }

    fn dispatch(&mut self, kind: &str, content: &Value) {
        let event = json!({"op": 0, "t": kind, "s": self.events.len() + 1, "d": content});
        self.events.push(event.clone());
        let Some((to, sees)) = self.live.values().last() else { return };
        let mut event = event;
        let mentions = content["content"].as_str().is_some_and(|text| text.contains(BOT));
        if kind == "MESSAGE_CREATE" && !sees && !mentions {
            event["d"]["content"] = json!("");
        }
        let _ = to.send(Out::Say(event));
    }

    /// A person's message, with something that differs.
    fn message(&mut self, user: i64, words: &str, more: &Value) -> Value {
        let id = self.id();
        let mut message = json!({
            "id": id.to_string(), "channel_id": ROOM, "guild_id": "1", "type": 0, "content": words, "timestamp": "2026-01-01T00:00:00.000000+00:00",
            "edited_timestamp": null, "tts": false, "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [], "embeds": [],
            "pinned": false, "flags": 0, "components": [],
            "author": {"id": user.to_string(), "username": "ann", "global_name": "Ann", "discriminator": "0", "avatar": null},
        });
        for (key, value) in more.as_object().unwrap() {
            message[key] = value.clone();
        }
        if message["channel_id"] == ROOM {
            self.messages.insert(id, message.clone());
        }
        message
    }

    fn say(&mut self, user: i64, words: &str, more: &Value) {
        let message = self.message(user, words, more);
        self.dispatch("MESSAGE_CREATE", &message);
    }

    fn press(&mut self, press: &Value, counts: bool) {
        if counts {
            self.presses.insert(press["token"].as_str().unwrap().to_owned(), (Instant::now(), false, None));
        }
        self.dispatch("INTERACTION_CREATE", press);
    }
}

impl Service for Discord {
    const APPROVER: &'static str = "4201";

    fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let of_server = state.clone();
        let server = Server::start(move |request| answer(request, &mut of_server.lock().unwrap()));
        let gateway = Events::start(Arc::new(Gateway(state.clone())));
        state.lock().unwrap().url = gateway.url();
        Self { server, gateway, state }
    }

    fn config(&self, folder: &Path) -> String {
        secret_file(folder, "discord.token", TOKEN);
        format!(
            "[chat.x]\nkind = \"discord\"\ntoken_file = \"discord.token\"\nroom = \"{ROOM}\"\nbase_url = \"{}/api/v10\"\n",
            self.server.url()
        )
    }

    fn says(&self, who: Who, words: &str) {
        self.state.lock().unwrap().say(who.id(), words, &json!({}));
    }

    fn says_what_does_not_count(&self, words: &str) -> usize {
        let mut state = self.state.lock().unwrap();
        let ann = json!({"id": "4201", "username": "ann", "discriminator": "0"});
        let author = |key: &str, value: Value| {
            let mut author = ann.clone();
            author[key] = value;
            json!({"author": author})
        };
        let forward = json!([{"message": {"content": words, "type": 0}}]);
        let all = [
            json!({"channel_id": ELSEWHERE}),
            json!({"webhook_id": "1"}),
            author("bot", json!(true)),
            author("system", json!(true)),
            author("discriminator", json!("0000")),
            author("id", Value::Null),
            author("id", json!(BOT)),
            json!({"author": null}),
            json!({"type": 18}),
            json!({"type": 20}),
            json!({"type": 24}),
            json!({"edited_timestamp": "2026-01-01T00:00:01.000000+00:00"}),
            json!({"message_reference": {"type": 1, "message_id": "1"}, "message_snapshots": forward}),
            json!({"message_reference": {"type": 1, "message_id": "1"}}),
            json!({"message_snapshots": forward}),
            json!({"interaction_metadata": {"id": "1", "type": 2, "user": ann}}),
            json!({"application_id": "1"}),
            json!({"poll": {"question": {"text": words}}}),
            json!({"content": "", "embeds": [{"description": words}]}),
            json!({"content": format!("> {words}")}),
            json!({"content": format!("please {words}")}),
            json!({"content": format!("<@1> {words}")}),
        ];
        for more in &all {
            state.say(4201, words, more);
        }
        let edited = state.message(4201, "hello", &json!({}));
        let mut new = edited.clone();
        (new["content"], new["edited_timestamp"]) = (json!(words), json!("2026-01-01T00:00:01.000000+00:00"));
        state.dispatch("MESSAGE_CREATE", &edited);
        state.dispatch("MESSAGE_UPDATE", &new);
        state.dispatch(
            "MESSAGE_REACTION_ADD",
            &json!({"user_id": "4201", "channel_id": ROOM, "message_id": "1", "emoji": {"name": words}}),
        );
        all.len() + 2
    }

    fn says_in_other_ways(&self, words: &str) -> Vec<String> {
        vec![format!("<@{BOT}> {words}"), format!("<@!{BOT}>: {words}"), format!(" {words} ")]
    }

    fn messages(&self) -> Vec<Shown> {
        let state = self.state.lock().unwrap();
        let ours = state
            .messages
            .iter()
            .filter(|(_, message)| message["author"]["id"] == BOT && message["author"]["bot"] == true);
        let all = ours.map(|(id, message)| Shown {
            message: id.to_string(),
            text: seen(message).unwrap(),
            buttons: buttons(message).map(|button| button["label"].as_str().unwrap().to_owned()).collect(),
            changes: state.changes.get(id).copied().unwrap_or(0),
        });
        all.collect()
    }

    fn goes_down(&self, down: bool) {
        self.server.goes_down(down);
        self.gateway.goes_down(down);
    }

    fn fails(&self, faults: &[Fault]) {
        let mut state = self.state.lock().unwrap();
        state.faults.extend(faults.iter().cloned());
        // It wants its clients to connect anew.
        for (to, _) in state.live.values() {
            let _ = to.send(Out::Say(json!({"op": 7, "d": null, "s": null, "t": null})));
        }
    }

    fn revokes(&self, revoked: bool) {
        let mut state = self.state.lock().unwrap();
        state.token_is_revoked = revoked;
        for (to, _) in state.live.values() {
            let _ = to.send(Out::Close(4004));
        }
    }

    fn deletes(&self, card: &str) {
        self.state.lock().unwrap().messages.remove(&card.parse().unwrap());
    }

    fn repeats(&self) {
        // The same event once more, as after a connection is taken up with an old number.
        let mut state = self.state.lock().unwrap();
        let said = state.events.iter().find(|event| event["t"] == "MESSAGE_CREATE").map(|event| event["d"].clone());
        if let Some(said) = said {
            state.dispatch("MESSAGE_CREATE", &said);
        }
    }

    fn complaints(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let mut wrong = state.wrong.clone();
        for (token, (_, confirmed, said)) in &state.presses {
            if !confirmed || said.is_none() {
                wrong.push(format!("the press {token} is not answered"));
            }
        }
        wrong
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }
}

impl Buttons for Discord {
    fn presses(&self, who: Who, card: &str, label: &str) {
        let mut state = self.state.lock().unwrap();
        let message = state.messages[&card.parse().unwrap()].clone();
        let button = buttons(&message).find(|button| button["label"] == label).expect(label).clone();
        let press = press(&mut state, who.id(), &message, &button["custom_id"]);
        state.press(&press, true);
    }

    fn presses_what_does_not_count(&self, card: &Shown) {
        let mut state = self.state.lock().unwrap();
        let message = state.messages[&card.message.parse().unwrap()].clone();
        let data = json!(format!("approve:{}", card.id()));
        let mut changed = |place: &str, value: Value| {
            let mut press = press(&mut state, 4201, &message, &data);
            *press.pointer_mut(place).unwrap() = value;
            press
        };
        let all = [
            changed("/type", json!(2)),
            changed("/channel_id", json!(ELSEWHERE)),
            changed("/message/channel_id", json!(ELSEWHERE)),
            changed("/data/component_type", json!(3)),
            changed("/data/custom_id", json!("approve")),
            changed("/data/custom_id", json!(format!("all:{}", card.id()))),
            changed("/member/user/bot", json!(true)),
            changed("/member", Value::Null),
            changed("/message", Value::Null),
        ];
        // This is told that it does not count.
        let other = changed("/message/id", json!("1"));
        for press in &all {
            state.press(press, false);
        }
        state.press(&other, true);
    }

    fn answers_to_presses(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.presses.values().filter_map(|(.., said)| said.clone()).collect()
    }
}

fn press(state: &mut State, user: i64, message: &Value, data: &Value) -> Value {
    let id = state.id();
    json!({
        "id": id.to_string(), "application_id": APPLICATION, "type": 3, "version": 1, "token": format!("aW50ZXJhY3Rpb24_{id}-x"), "guild_id": "1",
        "channel_id": ROOM, "channel": {"id": ROOM, "type": 0}, "message": message, "data": {"custom_id": data, "component_type": 2, "id": 2},
        "member": {"user": {"id": user.to_string(), "username": "ann", "global_name": "Ann", "discriminator": "0", "bot": false}, "roles": [], "permissions": "0"},
        "app_permissions": "0", "locale": "en-US",
    })
}

fn buttons(message: &Value) -> impl Iterator<Item = &Value> {
    let rows = message["components"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().flat_map(|row| row["components"].as_array().unwrap())
}

/// What people see of a message; an error where something in it is markup that we did not mean.
fn seen(message: &Value) -> Result<String, String> {
    let mut out = String::new();
    for embed in message["embeds"].as_array().map(Vec::as_slice).unwrap_or_default() {
        out.push_str(&rendered(embed["description"].as_str().ok_or("no description")?)?);
        out.push('\n');
    }
    let content = message["content"].as_str().unwrap_or_default();
    if content == "<@4201>" { Ok(out) } else { Ok(out + &rendered(content)?) }
}

fn rendered(text: &str) -> Result<String, String> {
    let pieces: Vec<&str> = text.split("```").collect();
    if pieces.len().is_multiple_of(2) {
        return Err(format!("a block has no end: {text}"));
    }
    let mut out = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        if number % 2 == 1 {
            // In a block everything stands as it is, behind its language.
            out.push_str(piece.split_once('\n').map_or(*piece, |(_, rest)| rest));
            continue;
        }
        let mut letters = piece.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if letters.peek().is_some_and(char::is_ascii_punctuation) => out.extend(letters.next()),
                '*' if letters.peek() == Some(&'*') => drop(letters.next()),
                '<' | '>' | '[' | ']' | '_' | '~' | '|' | '`' | '#' | '@' | '*' => {
                    return Err(format!("markup outside of a block: {text}"));
                }
                _ => out.push(letter),
            }
        }
    }
    Ok(out)
}

fn failed(status: u16, code: u64, message: &str) -> Reply {
    Reply::Json(status, json!({"code": code, "message": message}))
}

fn answer(request: &Request, state: &mut State) -> Reply {
    let Some(path) = request.path.strip_prefix("/api/v10/") else { return failed(404, 0, "404: Not Found") };
    // What answers an interaction needs no token of ours.
    let is_open = path.starts_with("interactions/") || path.starts_with("webhooks/");
    let is_ours = request.header("authorization") == Some(&format!("Bot {TOKEN}"));
    if !is_open && (!is_ours || state.token_is_revoked) {
        return failed(401, 0, "401: Unauthorized");
    }
    if request.header("user-agent").is_none() {
        state.wrong.push("no User-Agent".to_owned());
    }
    match state.faults.pop_front() {
        Some(Fault::TooMany(seconds)) => {
            let body = json!({"message": "You are being rate limited.", "retry_after": seconds, "global": false});
            return Reply::With(429, format!("retry-after: {seconds}\r\n"), body);
        }
        Some(Fault::Status(code)) => return Reply::Json(code, json!({"message": "Internal Server Error", "code": 0})),
        Some(Fault::Garbage) => return Reply::Json(200, json!(["<html>", 7])),
        Some(Fault::Closed) => return Reply::Closed,
        Some(Fault::Lost) => {
            let _ = act(request, path, state);
            return Reply::Closed;
        }
        None => {}
    }
    act(request, path, state)
}

fn act(request: &Request, path: &str, state: &mut State) -> Reply {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<&str> = path.split('/').collect();
    let body = &request.body;
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["users", "@me"]) => Reply::Json(200, json!({"id": BOT, "username": "gate", "bot": true})),
        ("GET", ["gateway", "bot"]) => Reply::Json(
            200,
            json!({"url": state.url, "shards": 1, "session_start_limit": {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}}),
        ),
        ("GET", ["channels", room]) if *room == ROOM => {
            let last = state.messages.keys().last().map(ToString::to_string);
            Reply::Json(200, json!({"id": ROOM, "type": 0, "guild_id": "1", "last_message_id": last}))
        }
        ("GET", ["channels", room, "messages"]) if *room == ROOM => {
            let value = |name: &str| {
                query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok())
            };
            let after = value("after").unwrap_or(0);
            let limit = usize::try_from(value("limit").unwrap_or(50)).unwrap();
            let mut page: Vec<Value> =
                state.messages.range(after + 1..).take(limit).map(|(_, message)| message.clone()).collect();
            page.reverse();
            Reply::Json(200, json!(page))
        }
        ("POST", ["channels", room, "messages"]) if *room == ROOM => {
            if let Err(why) = taken(body) {
                state.wrong.push(why.clone());
                return failed(400, 50_035, &format!("Invalid Form Body: {why}"));
            }
            if let Some(known) = body["nonce"].as_str().and_then(|nonce| state.nonces.get(nonce)) {
                return Reply::Json(
                    200,
                    state.messages.get(known).cloned().unwrap_or(json!({"id": known.to_string()})),
                );
            }
            let id = state.id();
            let mut message = body.clone();
            (message["id"], message["channel_id"], message["type"]) = (json!(id.to_string()), json!(ROOM), json!(0));
            message["author"] = json!({"id": BOT, "username": "gate", "discriminator": "1234", "bot": true});
            if state.no_embeds {
                message["embeds"] = json!([]);
            }
            state.messages.insert(id, message.clone());
            if let Some(nonce) = body["nonce"].as_str() {
                state.nonces.insert(nonce.to_owned(), id);
            }
            state.dispatch("MESSAGE_CREATE", &message);
            Reply::Json(200, message)
        }
        ("DELETE", ["channels", room, "messages", id]) if *room == ROOM => {
            state.messages.remove(&id.parse().unwrap());
            Reply::Json(204, Value::Null)
        }
        ("PATCH", ["channels", room, "messages", id]) if *room == ROOM => {
            if let Err(why) = taken(body) {
                state.wrong.push(why.clone());
                return failed(400, 50_035, &format!("Invalid Form Body: {why}"));
            }
            let id: u64 = id.parse().unwrap();
            let Some(message) = state.messages.get_mut(&id) else { return failed(404, 10_008, "Unknown Message") };
            for key in ["content", "embeds", "components"] {
                message[key] = body[key].clone();
            }
            let message = message.clone();
            *state.changes.entry(id).or_default() += 1;
            state.dispatch("MESSAGE_UPDATE", &message);
            Reply::Json(200, message)
        }
        ("POST", ["interactions", _, token, "callback"]) => {
            let Some((since, confirmed, _)) = state.presses.get_mut(*token) else {
                return failed(404, 10_062, "Unknown interaction");
            };
            if since.elapsed().as_secs() >= 3 || *confirmed || body["type"] != 5 {
                return failed(404, 10_062, "Unknown interaction");
            }
            *confirmed = true;
            Reply::Json(204, Value::Null)
        }
        ("PATCH", ["webhooks", APPLICATION, token, "messages", "@original"])
        | ("POST", ["webhooks", APPLICATION, token]) => {
            if let Err(why) = taken(body) {
                state.wrong.push(why.clone());
                return failed(400, 50_035, "Invalid Form Body");
            }
            let words = rendered(body["content"].as_str().unwrap()).unwrap();
            let Some((_, true, said)) = state.presses.get_mut(*token) else {
                return failed(404, 10_015, "Unknown Webhook");
            };
            said.get_or_insert_default().push_str(&words);
            Reply::Json(200, json!({"id": "1"}))
        }
        ("GET" | "POST", ["channels", ..]) => failed(404, 10_003, "Unknown Channel"),
        _ => failed(404, 0, "404: Not Found"),
    }
}

/// What the service takes.
fn taken(body: &Value) -> Result<(), String> {
    let content = body["content"].as_str().unwrap_or_default();
    if content.chars().count() > 2000 {
        return Err("content: must be 2000 or fewer in length".to_owned());
    }
    let embeds = body["embeds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lengths: Vec<usize> =
        embeds.iter().map(|embed| embed["description"].as_str().unwrap_or_default().chars().count()).collect();
    if lengths.iter().any(|length| *length > 4096 || *length == 0) || lengths.iter().sum::<usize>() > 6000 {
        return Err(format!("embeds: {lengths:?}"));
    }
    if content.is_empty() && embeds.is_empty() {
        return Err("cannot send an empty message".to_owned());
    }
    if body["allowed_mentions"]["parse"] != json!([]) {
        return Err("everybody could be rung for".to_owned());
    }
    if body["nonce"].as_str().is_some_and(|nonce| nonce.len() > 25) {
        return Err("nonce".to_owned());
    }
    for row in body["components"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let buttons = row["components"].as_array().ok_or("a row without components")?;
        let fits = |button: &Value| {
            button["type"] == 2
                && button["label"].as_str().is_some_and(|label| label.chars().count() <= 80)
                && button["custom_id"].as_str().is_some_and(|id| (1..=100).contains(&id.len()))
        };
        if row["type"] != 1 || !(1..=5).contains(&buttons.len()) || !buttons.iter().all(fits) {
            return Err(format!("components: {row}"));
        }
    }
    seen(body).map(drop)
}

/// What was said while the host was away comes from the history, whatever else was said there.
#[test]
fn what_was_missed_is_paged() {
    let mut stage = Stage::<Discord>::new("");
    let (running, card) = stage.ask(ASKED);
    stage.is_through();
    stage.host.kill();
    {
        let mut state = stage.service.state.lock().unwrap();
        state.say(4201, &format!("approve {}", card.id()), &json!({}));
        for number in 0..230 {
            state.say(666, &format!("talk {number}"), &json!({}));
        }
    }
    stage.host = stage.site.serve();
    running.join().unwrap().expect(0);
    stage.says(&card.message, "Approved by ");
    stage.ends();
}

/// Without the right to read messages, buttons and mentions still work.
#[test]
fn without_the_intent_for_content_mentions_count() {
    let stage = Stage::<Discord>::with("", |service| service.state.lock().unwrap().no_content = true);
    let (running, card) = stage.ask(ASKED);
    until("the bot to be there", || (!stage.service.state.lock().unwrap().live.is_empty()).then_some(()));
    stage.service.says(Who::Approver, &format!("approve {}", card.id()));
    stage.service.says(Who::Approver, &format!("<@{BOT}> approve {}", card.id()));
    running.join().unwrap().expect(0);
    assert!(stage.said().contains("Message Content Intent is not switched on"), "{}", stage.said());
    stage.ends();
}

/// A card that the service leaves away is none that anybody was shown.
#[test]
fn without_the_permission_to_embed_it_is_said() {
    let stage = Stage::<Discord>::with("", |service| service.state.lock().unwrap().no_embeds = true);
    let running = stage.site.check_later(ASKED);
    let id = stage.site.held(ASKED);
    let says_so = || stage.site.cli(["chat", "list"]).expect(0).stdout.contains("Embed Links").then_some(());
    until("the trouble to be said", says_so);
    assert!(stage.service.messages().is_empty(), "no buttons under nothing");
    stage.site.cli(["deny", &id]).expect(0);
    running.join().unwrap().expect(2);
}

/// A connection at whose other end is nobody is noticed by its heartbeat, and taken up where it was.
#[test]
fn a_connection_that_is_half_open_is_made_anew() {
    let stage = Stage::<Discord>::new("");
    let (running, card) = stage.ask(ASKED);
    stage.is_through();
    {
        let mut state = stage.service.state.lock().unwrap();
        state.deaf_below = state.connections;
        for (to, _) in state.live.values() {
            let _ = to.send(Out::Deaf);
        }
    }
    stage.service.says(Who::Approver, &format!("approve {}", card.id()));
    running.join().unwrap().expect(0);
    assert!(stage.service.state.lock().unwrap().resumed > 0, "the session is taken up");
    stage.ends();
}
