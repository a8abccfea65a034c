//! Matrix, with a real Synapse behind a proxy that makes faults.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bashgate_tests::http::{Reply, Request, Server};
use bashgate_tests::{pause, until};
use serde_json::{Value, json};

use super::cases::{self, ASKED, Fault, Service, Shown, Stage, Who, run_at_once, secret_file};
use super::synapse::Synapse;

static SYNAPSE: OnceLock<Synapse> = OnceLock::new();
static USERS: OnceLock<Users> = OnceLock::new();
/// Each message is another transaction.
static SENT: AtomicU64 = AtomicU64::new(0);

struct Users {
    approver: String,
    stranger: String,
    /// The gate's account, in a client of somebody else's.
    gate: String,
}

#[derive(Default)]
struct State {
    faults: VecDeque<Fault>,
    /// The last news that were any.
    news: Option<Value>,
    repeats: bool,
    wrong: Vec<String>,
}

/// A room on the server.
pub(super) struct Matrix {
    proxy: Server,
    state: Arc<Mutex<State>>,
    room: String,
    elsewhere: String,
    token: String,
}

fn synapse() -> &'static Synapse {
    SYNAPSE.get().expect("the server is started first")
}

fn users() -> &'static Users {
    USERS.get().expect("the server is started first")
}

fn new_room() -> String {
    let invited = json!({"preset": "private_chat", "invite": ["@gate:gate.test", "@mallory:gate.test"]});
    let room =
        synapse().call(&users().approver, "POST", "createRoom", &invited)["room_id"].as_str().unwrap().to_owned();
    for token in [&users().stranger, &users().gate] {
        synapse().call(token, "POST", &format!("join/{room}"), &json!({}));
    }
    room
}

fn send(token: &str, room: &str, kind: &str, content: &Value) -> String {
    let number = SENT.fetch_add(1, Ordering::SeqCst);
    let sent = synapse().call(token, "PUT", &format!("rooms/{room}/send/{kind}/t{number}"), content);
    sent["event_id"].as_str().unwrap().to_owned()
}

fn text(words: &str) -> Value {
    json!({"msgtype": "m.text", "body": words})
}

impl Service for Matrix {
    const APPROVER: &'static str = "@ann:gate.test";

    fn start() -> Self {
        let (room, elsewhere) = (new_room(), new_room());
        let state = Arc::new(Mutex::new(State::default()));
        let of_proxy = state.clone();
        let proxy = Server::start(move |request| forward(request, &of_proxy));
        Self { proxy, state, room, elsewhere, token: synapse().logs_in("gate") }
    }

    fn config(&self, folder: &Path) -> String {
        secret_file(folder, "matrix.token", &self.token);
        format!(
            "[chat.x]\nkind = \"matrix\"\ntoken_file = \"matrix.token\"\nroom = \"{}\"\nbase_url = \"{}\"\n",
            self.room,
            self.proxy.url()
        )
    }

    fn says(&self, who: Who, words: &str) {
        send(token_of(who), &self.room, "m.room.message", &text(words));
    }

    fn says_what_does_not_count(&self, words: &str) -> usize {
        let (ann, mallory) = (&users().approver, &users().stranger);
        let innocent = send(ann, &self.room, "m.room.message", &text("good morning"));
        let replaces = json!({"rel_type": "m.replace", "event_id": innocent});
        let edit = json!({"msgtype": "m.text", "body": words, "m.new_content": text(words), "m.relates_to": replaces});
        let with = |more: Value| {
            let mut content = text(words);
            content.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            content
        };
        let all = [
            // Anybody can send an edit of anybody's message, and the server delivers it.
            (mallory, &self.room, "m.room.message", edit.clone()),
            (ann, &self.room, "m.room.message", edit),
            (ann, &self.elsewhere, "m.room.message", text(words)),
            (ann, &self.room, "m.room.message", with(json!({"msgtype": "m.notice"}))),
            (ann, &self.room, "m.room.message", with(json!({"msgtype": "m.emote"}))),
            (ann, &self.room, "m.room.message", with(json!({"msgtype": "m.file", "url": "mxc://gate.test/x"}))),
            (ann, &self.room, "m.room.message", with(json!({"m.new_content": text(words)}))),
            (
                ann,
                &self.room,
                "m.room.message",
                with(json!({"m.relates_to": {"rel_type": "m.reference", "event_id": innocent}})),
            ),
            (ann, &self.room, "m.room.message", with(json!({"m.relates_to": {"rel_type": 7}}))),
            (ann, &self.room, "m.room.message", with(json!({"m.relates_to": "x"}))),
            (ann, &self.room, "m.room.message", text(&format!("> {words}"))),
            (ann, &self.room, "m.room.message", text(&format!("please {words}"))),
            (ann, &self.room, "m.room.message", text(&format!("mallory: {words}"))),
            (ann, &self.room, "m.room.message", text(&format!("{words}\n{words}"))),
            (ann, &self.room, "org.example.message", text(words)),
            (
                ann,
                &self.room,
                "m.reaction",
                json!({"m.relates_to": {"rel_type": "m.annotation", "event_id": innocent, "key": words}}),
            ),
            (&users().gate, &self.room, "m.room.message", text(words)),
        ];
        let count = all.len();
        for (token, room, kind, content) in all {
            send(token, room, kind, &content);
        }
        synapse().call(ann, "PUT", &format!("rooms/{}/state/m.room.topic", self.room), &json!({"topic": words}));
        count + 1
    }

    fn says_in_other_ways(&self, words: &str) -> Vec<String> {
        ["gate: ", "@gate:gate.test ", "@gate:gate.test: ", "!"].map(|name| format!("{name}{words}")).to_vec()
    }

    fn messages(&self) -> Vec<Shown> {
        // It is asked very often.
        pause(Duration::from_millis(100));
        let mut events = Vec::new();
        let mut from = String::new();
        loop {
            let path = format!("rooms/{}/messages?dir=f&limit=1000{from}", self.room);
            let page = synapse().call(&users().approver, "GET", &path, &Value::Null);
            events.extend(page["chunk"].as_array().unwrap().clone());
            let Some(end) = page["end"].as_str() else { break };
            from = format!("&from={end}");
        }
        let ours = |event: &&Value| event["sender"] == "@gate:gate.test" && event["type"] == "m.room.message";
        let mut shown: BTreeMap<usize, Shown> = BTreeMap::new();
        for (number, event) in events.iter().filter(ours).enumerate() {
            let content = &event["content"];
            if !event["unsigned"]["redacted_because"].is_null() || content.is_null() || content["body"].is_null() {
                continue;
            }
            let id = event["event_id"].as_str().unwrap().to_owned();
            if content["m.relates_to"]["rel_type"] == "m.replace" {
                let old = shown.values_mut().find(|shown| content["m.relates_to"]["event_id"] == shown.message);
                if let Some(old) = old {
                    old.text = seen(&content["m.new_content"]);
                    old.changes += 1;
                }
                continue;
            }
            shown.insert(number, Shown { message: id, text: seen(content), buttons: Vec::new(), changes: 0 });
        }
        shown.into_values().collect()
    }

    fn goes_down(&self, down: bool) {
        self.proxy.goes_down(down);
        // A question for news that is open ends.
        send(&users().stranger, &self.room, "m.room.message", &text("hello?"));
    }

    fn fails(&self, faults: &[Fault]) {
        self.state.lock().unwrap().faults.extend(faults.iter().cloned());
        send(&users().stranger, &self.room, "m.room.message", &text("hello?"));
    }

    fn revokes(&self, revoked: bool) {
        assert!(revoked, "a token that is revoked stays so");
        synapse().call(&self.token, "POST", "logout", &json!({}));
    }

    fn deletes(&self, card: &str) {
        let path = format!("rooms/{}/redact/{card}/r{}", self.room, SENT.fetch_add(1, Ordering::SeqCst));
        synapse().call(&users().approver, "PUT", &path, &json!({}));
    }

    fn repeats(&self) {
        self.state.lock().unwrap().repeats = true;
    }

    fn complaints(&self) -> Vec<String> {
        self.state.lock().unwrap().wrong.clone()
    }

    fn secrets(&self) -> Vec<String> {
        vec![self.token.clone()]
    }
}

fn token_of(who: Who) -> &'static str {
    match who {
        Who::Approver => &users().approver,
        Who::Stranger => &users().stranger,
    }
}

/// What people see of a message whose markup their client knows. What has none must be words alone.
fn seen(content: &Value) -> String {
    let body = content["body"].as_str().unwrap();
    match content["formatted_body"].as_str() {
        None => body.to_owned(),
        Some(html) => {
            assert_eq!(content["format"], "org.matrix.custom.html");
            cases::plain_of_html(html, &["strong", "pre", "code", "code class=\"language-bash\"", "p"]).unwrap()
        }
    }
}

/// Hands a request on to the server, or makes it fail.
fn forward(request: &Request, state: &Mutex<State>) -> Reply {
    let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let ask = || synapse().ask(&request.method, &request.path, token, &request.body);
    let fault = state.lock().unwrap().faults.pop_front();
    match fault {
        Some(Fault::TooMany(seconds)) => {
            let body =
                json!({"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests", "retry_after_ms": seconds * 1000});
            return Reply::Json(429, body);
        }
        Some(Fault::Status(code)) => return Reply::Json(code, json!({"errcode": "M_UNKNOWN", "error": "Internal"})),
        Some(Fault::Garbage) => return Reply::Json(200, json!(["<html>", 7])),
        Some(Fault::Closed) => return Reply::Closed,
        Some(Fault::Lost) => {
            let _ = ask();
            return Reply::Closed;
        }
        None => {}
    }
    let is_news = request.path.starts_with("/_matrix/client/v3/sync");
    let mut now = state.lock().unwrap();
    if is_news
        && std::mem::take(&mut now.repeats)
        && let Some(news) = now.news.take()
    {
        return Reply::Json(200, news);
    }
    drop(now);
    let Some((status, answer)) = ask() else { return Reply::Closed };
    let mut now = state.lock().unwrap();
    if matches!(status, 400 | 403 | 405 | 413) {
        now.wrong.push(format!("{} {}: {status} {answer}", request.method, request.path));
    }
    if is_news && !answer["rooms"]["join"].is_null() {
        now.news = Some(answer.clone());
    }
    Reply::Json(status, answer)
}

/// Approves in a thread, and by replying to the card.
fn in_threads_and_replies() {
    let stage = Stage::<Matrix>::new("");
    let ann = &users().approver;
    let room = stage.service.room.clone();
    let ways = |card: &str, words: &str| {
        let quoted = format!("> <@gate:gate.test> approve 12345678\n\n{words}");
        let reply = json!({"m.in_reply_to": {"event_id": card}});
        let thread = json!({"rel_type": "m.thread", "event_id": card, "is_falling_back": true, "m.in_reply_to": {"event_id": card}});
        [(words.to_owned(), reply.clone()), (quoted, reply), (words.to_owned(), thread)]
    };
    for number in 0..3 {
        let (running, card) = stage.ask(&format!("curl -s https://{number}.example"));
        let (words, relation) = ways(&card.message, &format!("approve {}", card.id()))[number].clone();
        send(ann, &room, "m.room.message", &json!({"msgtype": "m.text", "body": words, "m.relates_to": relation}));
        running.join().unwrap().expect(0);
        stage.says(&card.message, "Approved by ");
    }
    stage.ends();
}

/// The server gives only the newest of what was missed; the rest is asked for.
fn what_was_missed_is_paged() {
    let stage = Stage::<Matrix>::new("");
    let (running, card) = stage.ask(ASKED);
    stage.is_through();
    stage.service.goes_down(true);
    stage.service.says(Who::Approver, &format!("approve {}", card.id()));
    for number in 0..120 {
        stage.service.says(Who::Stranger, &format!("talk {number}"));
    }
    assert_eq!(stage.site.pending().len(), 1);
    stage.service.goes_down(false);
    running.join().unwrap().expect(0);
    stage.says(&card.message, "Approved by ");
    stage.ends();
}

fn an_encrypted_room_is_refused() {
    let stage = Stage::<Matrix>::new("");
    stage.is_through();
    let path = format!("rooms/{}/state/m.room.encryption", stage.service.room);
    synapse().call(&users().approver, "PUT", &path, &json!({"algorithm": "m.megolm.v1.aes-sha2"}));
    let says_so =
        || stage.site.cli(["chat", "list"]).expect(0).stdout.contains("is encrypted end to end").then_some(());
    until("the trouble to be said", says_so);
    stage.ends();
}

fn a_room_that_we_are_thrown_out_of_is_said() {
    let stage = Stage::<Matrix>::new("");
    stage.is_through();
    let kicked = json!({"user_id": "@gate:gate.test", "reason": "x"});
    synapse().call(&users().approver, "POST", &format!("rooms/{}/kick", stage.service.room), &kicked);
    let says_so = || stage.site.cli(["chat", "list"]).expect(0).stdout.contains("we are not in the room").then_some(());
    until("the trouble to be said", says_so);
}

/// The server itself ends and starts again; what is held meanwhile is shown then.
fn the_server_is_started_again() {
    let stage = Stage::<Matrix>::new("");
    let (first, card) = stage.ask(ASKED);
    synapse().falls();
    let running = stage.site.check_later("curl -s https://y.example");
    let id = stage.site.held("curl -s https://y.example");
    stage.site.cli(["approve", &card.id()]).expect(0);
    first.join().unwrap().expect(0);
    synapse().rises();
    stage.says(&card.message, "Approved by ");
    let card = stage.card(&id);
    stage.service.says(Who::Approver, &format!("approve {}", card.id()));
    running.join().unwrap().expect(0);
    stage.ends();
}

/// One server for all cases, which run beside each other in rooms of their own.
#[test]
fn every_case_with_a_real_server() {
    let ends = Ends::begin();
    let mut all = cases::all::<Matrix>();
    all.extend([
        ("in_threads_and_replies", in_threads_and_replies as fn()),
        ("what_was_missed_is_paged", what_was_missed_is_paged),
        ("an_encrypted_room_is_refused", an_encrypted_room_is_refused),
        ("a_room_that_we_are_thrown_out_of_is_said", a_room_that_we_are_thrown_out_of_is_said),
    ]);
    run_at_once(all, 4);
    the_server_is_started_again();
    drop(ends);
}

/// Ends the server when the test is over, however it is.
pub(super) struct Ends;

impl Ends {
    /// Starts the server that all rooms of this process are on, with its people.
    pub(super) fn begin() -> Self {
        let _ = SYNAPSE.set(Synapse::start());
        let ends = Self;
        let [approver, stranger, gate] = ["ann", "mallory", "gate"].map(|name| synapse().registers(name));
        let _ = USERS.set(Users { approver, stranger, gate });
        ends
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        synapse().falls();
    }
}
