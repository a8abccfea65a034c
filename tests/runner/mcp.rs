//! The MCP server as a client sees it: JSON-RPC on its standard input and output, whatever runs behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use bashgate_tests::{Site, bin, until};
use serde_json::{Value, json};

use super::{USER, Who};

const PATIENCE: Duration = Duration::from_mins(1);

/// A client, and the server that it started.
struct Client {
    server: Child,
    /// Taken to close the connection.
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    next: u64,
    /// Answers that nobody has asked for yet.
    answers: BTreeMap<u64, Value>,
    notices: Vec<Value>,
    _state: tempfile::TempDir,
}

impl Client {
    fn start(site: &Site, more: &[&str]) -> Self {
        Self::start_as(Who::Root, site, more)
    }

    fn start_as(who: Who, site: &Site, more: &[&str]) -> Self {
        Self::speaking("2025-06-18", who, site, more)
    }

    /// A client of a revision of the protocol, and the server's user. The host is root's in any case.
    fn speaking(revision: &str, who: Who, site: &Site, more: &[&str]) -> Self {
        let state = tempfile::Builder::new().prefix("jobs-").tempdir_in("/srv").unwrap();
        let mut command = bashgate_tests::runner();
        if who == Who::User {
            let reached = [(site.path().to_owned(), 0o755), (site.path().join("mailbox"), 0o711), (site.work(), 0o755)];
            for (path, mode) in reached {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            super::install(&bin("bashgate-run"), &state.path().join("bashgate-run"));
            for path in [state.path(), &site.work()] {
                std::os::unix::fs::lchown(path, Some(USER), Some(USER)).unwrap();
            }
            command = Command::new("setpriv");
            command.args([format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()]);
            command.arg(state.path().join("bashgate-run")).env("HOME", state.path());
        }
        command
            .arg("mcp")
            .arg("--config")
            .arg(site.hook_toml())
            .arg("--state")
            .arg(state.path().join("state"))
            .args(more);
        command.current_dir(site.work()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (send, lines) = channel();
        let stdout = BufReader::new(server.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let stdin = server.stdin.take();
        let mut client =
            Self { server, stdin, lines, next: 0, answers: BTreeMap::new(), notices: Vec::new(), _state: state };
        let hello = client.ask(
            "initialize",
            &json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        let hello = client.answer(hello);
        assert_eq!(hello["result"]["serverInfo"]["name"], "bashgate-run", "{hello:#}");
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    fn say(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The answer to a request. Every line of the stream must be a message.
    #[track_caller]
    fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            self.read(PATIENCE).expect("an answer in time");
        }
    }

    #[track_caller]
    fn read(&mut self, time: Duration) -> Result<(), RecvTimeoutError> {
        let line = self.lines.recv_timeout(time)?;
        let message: Value = serde_json::from_slice(&line)
            .unwrap_or_else(|_| panic!("no message: {:?}", String::from_utf8_lossy(&line)));
        assert_eq!(message["jsonrpc"], "2.0", "{message:#}");
        match message["id"].as_u64() {
            Some(id) => drop(self.answers.insert(id, message)),
            None => self.notices.push(message),
        }
        Ok(())
    }

    /// The text of a tool's answer, and whether it is an error.
    #[track_caller]
    fn result(&mut self, id: u64) -> (String, bool) {
        let answer = self.answer(id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
        (text, answer["result"]["isError"] == true)
    }

    #[track_caller]
    fn tool(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let id = self.call(tool, arguments);
        self.result(id)
    }

    #[track_caller]
    fn json(&mut self, tool: &str, arguments: &Value) -> Value {
        let (text, _) = self.tool(tool, arguments);
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{tool}: {text}"))
    }

    fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.server.id())).unwrap().count()
    }

    fn children(&self) -> usize {
        let own = self.server.id().to_string();
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let parent = |entry: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            Some(stat.rsplit_once(") ")?.1.split(' ').nth(1)?.to_owned())
        };
        all.filter_map(parent).filter(|parent| *parent == own).count()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn the_tools_are_those_of_the_seeds_and_none_approves() {
    let site = Site::default();
    let mut client = Client::start(&site, &[]);
    let id = client.ask("tools/list", &json!({}));
    let listed = client.answer(id);
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let want = [
        "bash",
        "bash_jobs",
        "bash_stop",
        "bash_tail",
        "create_script",
        "delete_script",
        "diff_script",
        "edit_script",
        "find_scripts",
        "generate_script",
        "get_script",
        "list_scripts",
        "restore_script",
        "run_action",
        "run_script",
        "script_versions",
        "validate_script",
    ];
    assert_eq!(names, want.into());
    let bash = tools.iter().find(|tool| tool["name"] == "bash").unwrap();
    assert_eq!(bash["inputSchema"]["required"], json!(["command"]));
    for field in ["command", "slow_ok", "background"] {
        assert!(bash["inputSchema"]["properties"][field].is_object(), "{bash:#}");
    }
    let description = bash["description"].as_str().unwrap();
    assert!(description.contains(&format!("<pwd>{}</pwd>", site.work().display())), "{description}");
    for said in ["don't persist between calls", "MUST set slow_ok=true", "servers/demos", "Keep commands concise"] {
        assert!(description.contains(said), "{said}: {description}");
    }
    let id = client.call("approve_script", &json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    let id = client.call("bash", &json!({"command": "ls", "approved": true}));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    for tool in tools {
        let hints = &tool["annotations"];
        let name = tool["name"].as_str().unwrap();
        let reads = ["list", "get", "find", "diff", "versions", "jobs", "tail", "validate"];
        let reads = reads.iter().any(|part| name.contains(part));
        let adds = matches!(name, "create_script" | "generate_script");
        assert_eq!(hints["readOnlyHint"], reads, "{name}");
        assert_eq!(hints["destructiveHint"], !reads && !adds, "{name}");
        assert!(tool["title"].is_string() && hints["title"] == tool["title"], "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
    }
}

/// What a model gave wrongly is told as the negotiated revision wants it; what a client did wrongly has JSON-RPC's codes.
#[test]
fn mistakes_are_told_as_each_revision_wants() {
    let site = Site::default();
    let _host = site.serve();
    for (revision, as_result) in [
        ("2024-11-05", false),
        ("2025-03-26", false),
        ("2025-06-18", false),
        ("2025-11-25", true),
        ("2026-07-28", true),
    ] {
        let mut client = Client::speaking(revision, Who::Root, &site, &[]);
        for (tool, arguments) in [
            ("bash", json!({"command": 1})),
            ("bash", json!({})),
            ("bash", json!({"command": "ls", "approved": true})),
            ("bash", json!({"command": "x".repeat(120_001)})),
            ("run_script", json!({})),
            ("restore_script", json!({"script_id": "x", "version": "one"})),
            ("find_scripts", json!({"words": []})),
        ] {
            let id = client.call(tool, &arguments);
            let answer = client.answer(id);
            assert_eq!(answer["result"]["isError"] == true, as_result, "{revision} {tool}: {answer:#}");
            assert_eq!(answer["error"]["code"] == -32602, !as_result, "{revision} {tool}: {answer:#}");
        }
        let id = client.call("nosuch", &json!({}));
        assert_eq!(client.answer(id)["error"]["code"], -32602, "{revision}");
        let id = client.ask("no/such", &json!({}));
        assert_eq!(client.answer(id)["error"]["code"], -32601, "{revision}");
        assert_eq!(client.tool("bash", &json!({"command": "echo whole"})).0, "whole\n", "{revision}");
    }
}

/// Two calls under one id cannot be told apart: the second one does not run, and nothing is taken for the first one's answer.
#[test]
fn one_id_is_used_once_at_a_time() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    let command = |text: &str| json!({"jsonrpc": "2.0", "id": 4000, "method": "tools/call", "params": {"name": "bash", "arguments": {"command": text}}});
    client.say(&command("sleep 1; echo first; touch first"));
    client.say(&command("sleep 1; echo second; touch second"));
    // Which of them comes first is the library's to say.
    let (text, failed) = client.result(4000);
    let other = if text == "first\n" { "second" } else { "first" };
    assert!(["first\n", "second\n"].contains(&text.as_str()) && !failed, "{text}");
    // Nothing more comes under that id: it could be taken for another call's answer.
    assert_eq!(client.tool("bash", &json!({"command": "sleep 2; echo between"})).0, "between\n");
    assert!(!client.answers.contains_key(&4000));
    assert!(site.work().join(text.trim()).exists() && !site.work().join(other).exists());
    client.say(&command("echo third"));
    assert_eq!(client.result(4000).0, "third\n", "afterwards it is free");
    // Whoever cancels the id means what runs under it.
    let mark = super::mark();
    client.say(&command(&format!("sleep 600 # {mark}")));
    client.say(&command(&format!("sleep 600; true # {mark}")));
    until("a running command", || (!super::processes_with(&mark).is_empty()).then_some(()));
    bashgate_tests::pause(Duration::from_millis(300));
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4000}}));
    until("the end of it", || super::processes_with(&mark).is_empty().then_some(()));
}

#[test]
fn a_client_that_wants_to_hear_it_is_told_what_goes_on() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    client.tool("bash", &json!({"command": "false"}));
    assert!(client.notices.is_empty(), "nobody asked: {:?}", client.notices);
    let id = client.ask("logging/setLevel", &json!({"level": "warning"}));
    assert!(client.answer(id)["result"].is_object());
    client.tool("bash", &json!({"command": "false"}));
    let said: Vec<&Value> =
        client.notices.iter().filter(|notice| notice["method"] == "notifications/message").collect();
    assert_eq!(said.len(), 1, "{:?}", client.notices);
    assert_eq!(said[0]["params"]["level"], "warning");
    let id = client.ask("logging/setLevel", &json!({"level": "loud"}));
    assert!(client.answer(id)["error"]["code"].is_i64());
}

/// Every answer is an object as its schema says, besides the text.
#[test]
fn answers_are_structured_as_their_schemas_say() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    let id = client.ask("tools/list", &json!({}));
    let listed = client.answer(id);
    let schemas: BTreeMap<String, Value> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone()))
        .collect();
    let mut seen = BTreeSet::new();
    let script = json!({"name": "greet", "content": "echo hello\n", "description": "greets"});
    let made = client.json("create_script", &script);
    assert_eq!(made["can_run"], true);
    let never = client.json("create_script", &json!({"name": "never", "content": "if true; then\n"}));
    assert_eq!(never["can_run"], false, "{never:#}");
    client.tool("bash", &json!({"command": "sleep 600", "background": true}));
    let job = client.json("bash_jobs", &json!({}))["jobs"][0]["id"].clone();
    for (tool, arguments) in [
        ("bash", json!({"command": "echo x"})),
        ("bash", json!({"command": "exit 3"})),
        ("bash", json!({"command": "sleep 600", "background": true})),
        ("bash_jobs", json!({})),
        ("bash_tail", json!({"job": job})),
        ("bash_stop", json!({"job": job})),
        ("create_script", json!({"name": "other", "content": "true"})),
        ("generate_script", json!({"description": "greet"})),
        ("edit_script", json!({"script_id": "greet", "content": "echo hello again\n"})),
        ("script_versions", json!({"script_id": "greet"})),
        ("diff_script", json!({"script_id": "greet"})),
        ("restore_script", json!({"script_id": "greet", "version": 1})),
        ("get_script", json!({"script_id": "greet"})),
        ("find_scripts", json!({"words": "greets"})),
        ("list_scripts", json!({})),
        ("validate_script", json!({"script_id": "greet"})),
        ("run_script", json!({"script_id": "greet", "dry_run": true})),
        ("run_action", json!({"actions": [{"type": "bash.run", "script_id": "nosuch"}]})),
        ("delete_script", json!({"script_id": "greet"})),
    ] {
        let id = client.call(tool, &arguments);
        let answer = client.answer(id);
        let found = &answer["result"]["structuredContent"];
        let schema = &schemas[tool];
        assert!(found.is_object(), "{tool}: {answer:#}");
        for name in schema["required"].as_array().unwrap() {
            assert!(!found[name.as_str().unwrap()].is_null(), "{tool} lacks {name}: {answer:#}");
        }
        for (name, value) in found.as_object().unwrap() {
            let Some(said) = schema["properties"].get(name) else { continue };
            let kinds: Vec<&str> = match &said["anyOf"] {
                Value::Array(forms) => forms.iter().map(|form| form["type"].as_str().unwrap()).collect(),
                _ => vec![said["type"].as_str().unwrap()],
            };
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            assert!(kinds.contains(&kind), "{tool}: {name} is {kind}, not one of {kinds:?}");
        }
        assert!(answer["result"]["content"][0]["text"].is_string(), "{tool}");
        seen.insert(tool.to_owned());
    }
    assert_eq!(seen, schemas.into_keys().collect());
}

#[test]
fn the_bash_tool_runs_behind_the_gate() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &["--preset", "phoenix"]);
    assert_eq!(client.tool("bash", &json!({"command": "echo one; echo two >&2"})), ("one\ntwo\n".to_owned(), false));
    let (text, failed) = client.tool("bash", &json!({"command": "echo x; exit 3"}));
    assert_eq!((text.as_str(), failed), ("[command failed: exit code 3]\nx\n", true));
    let (text, failed) = client.tool("bash", &json!({"command": "rm -rf /"}));
    assert!(failed && text.contains("deletes /") && text.contains("help: "), "{text}");
    site.raise_both("default");
    let held = client.call("bash", &json!({"command": "curl -s https://x.example; touch ran"}));
    // Others go on meanwhile.
    assert_eq!(client.tool("bash", &json!({"command": "echo three"})).0, "three\n");
    let id = site.held("curl -s https://x.example; touch ran");
    site.cli(["deny", &id, "not today"]).expect(0);
    let (text, failed) = client.result(held);
    assert!(failed && text.contains("not today"), "{text}");
    assert!(!site.work().join("ran").exists());
}

#[test]
fn how_long_the_host_may_take_says_nothing_about_a_call() {
    let site = Site::default();
    site.hook_setting("deadline_s = 300", "deadline_s = 5");
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    let command = "python3 -c 'import time; time.sleep(20); print(\"late\")'";
    let (text, is_error) = client.tool("bash", &json!({"command": command}));
    assert!(text.contains("late") && !is_error, "{text}");
}

#[test]
fn a_script_is_made_looked_at_approved_by_a_person_run_and_removed() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    let script =
        json!({"name": "greet", "content": "echo \"hello ${who}\"\n", "variables": ["who"], "description": "greets"});
    let made = client.json("create_script", &script);
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!((&made["created_by"], &made["findings"]), (&json!("llm"), &json!([])), "{made:#}");
    assert_eq!(client.json("validate_script", &json!({"script_id": id}))["valid"], true);
    assert_eq!(client.json("validate_script", &json!({"name": "x", "content": "if"}))["valid"], false);
    assert_eq!(client.json("list_scripts", &json!({}))["scripts"][0]["name"], "greet");
    assert_eq!(client.json("get_script", &json!({"script_id": id}))["content"], script["content"]);
    let value = "you\"; touch x; \u{1b}[31m";
    let run = json!({"script_id": id, "variables": {"who": value}});
    let running = client.call("run_script", &run);
    let approval = until("a held script", || site.pending().first().cloned());
    site.cli(["approve", approval["id"].as_str().unwrap()]).expect(0);
    let answer = client.answer(running);
    let done = &answer["result"]["structuredContent"];
    assert_eq!(done["stdout"], format!("hello {value}\n"), "{answer:#}");
    assert_eq!(
        (&done["success"], &done["exit_status"], &done["sandbox_violations"]),
        (&json!(true), &json!("success"), &json!([]))
    );
    assert_eq!(client.json("run_script", &run)["success"], true, "it is not asked about again");
    let (text, failed) = client.tool("run_script", &json!({"script_id": id, "variables": {}}));
    assert!(failed && text.contains("`who` has none"), "{text}");
    assert_eq!(client.json("delete_script", &json!({"script_id": "greet"}))["deleted"], json!(id));
    let (text, failed) = client.tool("run_script", &run);
    assert!(failed && text.contains("there is no script"), "{text}");
}

#[test]
fn a_job_in_the_background_is_listed_looked_at_and_stopped() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    let (text, failed) = client.tool("bash", &json!({"command": "echo begun; sleep 600", "background": true}));
    assert!(!failed && text.contains("<pid>") && text.contains("<output_file>"), "{text}");
    let jobs = client.json("bash_jobs", &json!({}));
    let job = jobs["jobs"][0]["id"].as_str().unwrap_or_else(|| panic!("{jobs:#}")).to_owned();
    let look = json!({"job": job});
    until("the job's output", || client.tool("bash_tail", &look).0.contains("begun").then_some(()));
    let (text, failed) = client.tool("bash_stop", &look);
    assert!(!failed && text.contains("stopped"), "{text}");
    let (text, failed) = client.tool("bash_stop", &json!({"job": "--agent=x"}));
    assert!(failed, "{text}");
}

/// Whatever a command writes wherever it can, and whatever a client sends, the stream stays one of messages.
#[test]
fn the_stream_stays_whole() {
    for who in [Who::Root, Who::User] {
        let site = Site::default();
        let _host = site.serve();
        let mut client = Client::start_as(who, &site, &[]);
        let own = client.server.id();
        let garbage = format!(
            "for fd in 0 1 2 3 4 5 6 7 8 9; do echo garbage >/proc/{own}/fd/$fd; echo garbage >/proc/1/fd/$fd; echo garbage >/proc/$PPID/fd/$fd; \
             echo garbage >&$fd; done 2>/dev/null; printf '\\377\\376\\000\\r\\n{{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{{}}}}\\n'; printf '\\033]0;x\\007'"
        );
        let (text, failed) = client.tool("bash", &json!({"command": garbage}));
        assert!(
            !failed && text.contains("garbage") && text.contains('\u{fffd}') && text.contains("\"id\":999"),
            "{text:?}"
        );
        assert!(!client.answers.contains_key(&999), "a command answered for the server");
        let id = client.call("bash", &json!({"command": format!("# {}", "x".repeat(900_000))}));
        let refused = client.answer(id);
        assert!(refused["error"]["message"].as_str().unwrap().contains("write it to a file"), "{refused:#}");
        client.raw(b"\xff\xfe\x00 no json");
        client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":7000,\"method\":\"tools/call\",\"params\":{\"name\":\"bash\",\"arguments\":{\"command\":\"\xff\"}}}");
        client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":7001,\"method\":\"tools/call\",\"params\":[]}");
        client.raw("[".repeat(200_000).as_bytes());
        client.raw(&vec![b'x'; 17 << 20]);
        client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":7002,\"method\":7}");
        let (text, failed) = client.tool("bash", &json!({"command": "echo a\\\\0b"}));
        assert!(!failed, "{text}");
        let id = client.call("bash", &json!({"command": "echo a\0b"}));
        let answer = client.answer(id);
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer:#}");
        assert_eq!(client.tool("bash", &json!({"command": "echo whole"})).0, "whole\n");
        // Each of them was answered with the code that JSON-RPC has for it.
        let codes: Vec<_> = client.notices.iter().filter_map(|notice| notice["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [-32700, -32700, -32700, -32600], "{:#?}", client.notices);
        assert_eq!(client.answer(7002)["error"]["code"], -32600);
        assert!(client.answer(7001)["error"].is_object());
    }
}

/// While a call goes on, a client that gave a token for it hears so.
#[test]
fn progress_is_told_under_the_clients_own_token() {
    let site = Site::default();
    let _host = site.serve();
    let mut client = Client::start(&site, &[]);
    let ask = |token: bool| {
        let meta = if token { json!({"progressToken": "mine"}) } else { json!({}) };
        json!({"name": "bash", "arguments": {"command": "sleep 12"}, "_meta": meta})
    };
    let ids = [ask(false), ask(true)].map(|call| client.ask("tools/call", &call));
    for id in ids {
        assert!(client.answer(id)["result"].is_object());
    }
    let told: Vec<&Value> =
        client.notices.iter().filter(|notice| notice["method"] == "notifications/progress").collect();
    assert!(told.len() >= 2 && told.iter().all(|notice| notice["params"]["progressToken"] == "mine"), "{told:#?}");
    let progress: Vec<f64> = told.iter().map(|notice| notice["params"]["progress"].as_f64().unwrap()).collect();
    assert!(progress.is_sorted_by(|one, next| one < next), "{progress:?}");
}

#[test]
fn calls_that_are_cancelled_end_and_leave_nothing() {
    const CALLS: usize = 40;
    for who in [Who::Root, Who::User] {
        let site = Site::default();
        let _host = site.serve();
        let mut client = Client::start_as(who, &site, &[]);
        assert_eq!(client.tool("bash", &json!({"command": "echo first"})).0, "first\n");
        let before = client.descriptors();
        let mark = super::mark();
        let long = json!({"command": format!("trap '' TERM; setsid sleep 600 & sleep 600 # {mark}")});
        let short = json!({"command": format!("sleep 1; echo done # {mark}")});
        let calls: Vec<(u64, bool)> =
            (0..CALLS).map(|at| (client.call("bash", if at % 2 == 0 { &long } else { &short }), at % 2 == 0)).collect();
        until("running commands", || (super::processes_with(&mark).len() >= CALLS / 2).then_some(()));
        for (id, cancel) in &calls {
            if *cancel {
                client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}));
            }
        }
        for (id, _) in calls.iter().filter(|(_, cancel)| !cancel) {
            let (text, failed) = client.result(*id);
            assert_eq!((text.as_str(), failed), ("done\n", false));
        }
        until("the end of all", || super::processes_with(&mark).is_empty().then_some(()));
        until("no child", || (client.children() == 0).then_some(()));
        until("no descriptor more", || (client.descriptors() <= before).then_some(()));
        let answered = calls.iter().filter(|(id, cancel)| *cancel && client.answers.contains_key(id)).count();
        assert_eq!(answered, 0, "who cancels a request gets no answer to it");
    }
}

#[test]
fn what_runs_ends_with_the_connection_and_with_the_server() {
    let site = Site::default();
    let _host = site.serve();
    for by_kill in [false, true] {
        let mut client = Client::start(&site, &[]);
        let mark = super::mark();
        client.call("bash", &json!({"command": format!("trap '' TERM; setsid sleep 600 & sleep 600 # {mark}")}));
        until("a running command", || (!super::processes_with(&mark).is_empty()).then_some(()));
        if by_kill {
            client.server.kill().unwrap();
        } else {
            client.stdin = None;
        }
        until("the end of it", || super::processes_with(&mark).is_empty().then_some(()));
        until("the server's end", || client.server.try_wait().unwrap());
    }
}
