//! The MCP server as the official clients see it: the SDK for Python and the inspector's command line, over both transports.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bashgate_tests::{Output, Site, bin, repository, until};
use serde_json::{Value, json};

fn tool(name: &str) -> PathBuf {
    repository().join("target/tools").join(name)
}

/// A server over HTTP, with its address and its token.
struct Http {
    server: Child,
    port: u16,
    token: String,
    _state: tempfile::TempDir,
}

impl Http {
    fn start(site: &Site) -> Self {
        let state = tempfile::Builder::new().prefix("jobs-").tempdir_in("/srv").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let file = state.path().join("token");
        let mut command = bashgate_tests::runner();
        command.arg("mcp").arg("--config").arg(site.hook_toml()).arg("--state").arg(state.path().join("state"));
        command.args(["--http", &format!("127.0.0.1:{port}"), "--token-file"]).arg(&file);
        let server = command.current_dir(site.work()).stdin(Stdio::null()).spawn().unwrap();
        until("the server", || TcpStream::connect(("127.0.0.1", port)).ok());
        let token = std::fs::read_to_string(file).unwrap();
        Self { server, port, token, _state: state }
    }

    /// What a raw request is answered.
    fn ask(&self, head: &str, body: &str) -> String {
        use std::io::Write as _;
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // Whoever refuses by the head may have closed before the body comes: the answer counts.
        let _ = write!(stream, "{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Says yes to whatever is held, but no to what says `forbidden`, until it is dropped.
fn people(site: &Site) -> (std::sync::Arc<std::sync::atomic::AtomicBool>, std::thread::JoinHandle<()>) {
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (ended, config) = (over.clone(), site.host_toml());
    let handle = std::thread::spawn(move || {
        let cli = |words: &[&str]| {
            let mut command = Command::new(bin("bashgate"));
            command.args(words).arg("--config").arg(&config);
            Output::of(&mut command, b"")
        };
        while !ended.load(std::sync::atomic::Ordering::Acquire) {
            let held: Vec<Value> = serde_json::from_str(&cli(&["pending", "--json"]).stdout).unwrap_or_default();
            for card in held {
                let is_forbidden = card["command"].as_str().is_some_and(|text| text.contains("forbidden"));
                cli(&[if is_forbidden { "deny" } else { "approve" }, card["id"].as_str().unwrap_or_default()]);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    (over, handle)
}

fn sdk(site: &Site, target: &[String]) {
    let mut command = Command::new(tool("mcp/bin/python"));
    command.arg(repository().join("tests/runner/mcp_sdk.py")).args(target).current_dir(site.work());
    let (over, people) = people(site);
    let output = Output::of(&mut command, b"");
    over.store(true, std::sync::atomic::Ordering::Release);
    people.join().unwrap();
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "all of it\n"), "{output:?}");
}

#[test]
fn the_sdk_for_python_does_all_of_it_over_both_transports() {
    let site = Site::default();
    let _host = site.serve();
    site.raise_both("default");
    let state = tempfile::Builder::new().prefix("jobs-").tempdir_in("/srv").unwrap();
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let own = [
        text(&bin("bashgate-run")),
        "mcp".to_owned(),
        "--config".to_owned(),
        text(&site.hook_toml()),
        "--state".to_owned(),
        text(&state.path().join("state")),
    ];
    sdk(&site, &[vec!["stdio".to_owned()], own.to_vec()].concat());
    let http = Http::start(&site);
    sdk(&site, &["http".to_owned(), format!("http://127.0.0.1:{}/mcp", http.port), http.token.clone()]);
}

fn inspector_command(site: &Site, options: &[&str], target: &[String]) -> Command {
    let mut command = Command::new("node");
    command.arg(tool("inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
    command.arg("--cli").args(options).args(target).current_dir(site.work()).env("HOME", site.path());
    command
}

fn is_running(text: &str) -> bool {
    let programs = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = programs.filter_map(|program| std::fs::read(program.path().join("cmdline")).ok());
    let sleeps = lines.filter(|line| line.starts_with(b"sleep\0"));
    sleeps.into_iter().any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
}

/// The inspector's command line, told to find fault with what it sees.
fn inspector(site: &Site, options: &[&str], target: &[String]) -> Value {
    let output = Output::of(&mut inspector_command(site, options, target), b"");
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{options:?}: {output:?}"))
}

#[test]
fn the_inspector_lists_and_calls_over_both_transports() {
    let site = Site::default();
    let _host = site.serve();
    let state = tempfile::Builder::new().prefix("jobs-").tempdir_in("/srv").unwrap();
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let stdio = vec![
        "--".to_owned(),
        text(&bin("bashgate-run")),
        "mcp".to_owned(),
        format!("--config={}", text(&site.hook_toml())),
        format!("--state={}", text(&state.path().join("state"))),
    ];
    let http = Http::start(&site);
    let remote = vec![
        "--transport".to_owned(),
        "http".to_owned(),
        "--header".to_owned(),
        format!("Authorization: Bearer {}", http.token),
        "--server-url".to_owned(),
        format!("http://127.0.0.1:{}/mcp", http.port),
    ];
    for (name, target) in [("one", stdio), ("two", remote)] {
        let listed = inspector(&site, &["--method", "tools/list"], &target);
        assert_eq!(listed["tools"].as_array().unwrap().len(), 17, "{listed:#}");
        let call = |options: &[&str]| {
            inspector(&site, &[&["--method", "tools/call", "--tool-name"], options].concat(), &target)
        };
        let ran = call(&["bash", "--tool-arg", "command=echo seen"]);
        assert_eq!(ran["structuredContent"]["output"], "seen\n", "{ran:#}");
        let made = call(&["create_script", "--tool-arg", &format!("name={name}"), "--tool-arg", "content=echo 1"]);
        assert_eq!(made["structuredContent"]["version"], 1, "{made:#}");
        let scripts = call(&["list_scripts"]);
        assert_eq!(scripts["structuredContent"]["scripts"][0]["name"], name, "{scripts:#}");
        let named = &format!("script_id={name}");
        let looked = call(&["validate_script", "--tool-arg", named]);
        assert_eq!(looked["structuredContent"]["valid"], true, "{looked:#}");
        // A person answers each question about a script, and denies the other one.
        let runs = |answer: &str| {
            std::thread::scope(|scope| {
                let running = scope.spawn(|| call(&["run_script", "--tool-arg", named]));
                let card = until("a card", || site.pending().first().cloned());
                site.cli([answer, card["id"].as_str().unwrap()]).expect(0);
                running.join().unwrap()
            })
        };
        let denied = runs("deny");
        assert_eq!(denied["isError"], true, "{denied:#}");
        assert_eq!(runs("approve")["structuredContent"]["stdout"], "1\n");
        let edited = call(&["edit_script", "--tool-arg", named, "--tool-arg", "content=echo 2"]);
        assert_eq!(edited["structuredContent"]["version"], 2, "{edited:#}");
        assert_eq!(runs("approve")["structuredContent"]["stdout"], "2\n");
        let restored = call(&["restore_script", "--tool-arg", named, "--tool-arg", "version=1"]);
        assert_eq!(restored["structuredContent"]["version"], 3, "{restored:#}");
        let actions = json!([{"type": "bash.run", "script_id": name}, {"type": "bash.run", "script_id": name}]);
        let chain = call(&["run_action", "--tool-arg", &format!("actions={actions}")]);
        assert_eq!(chain["structuredContent"]["steps"][1]["stdout"], "1\n", "{chain:#}");
        let job = call(&["bash", "--tool-arg", "command=sleep 600", "--tool-arg", "background=true"]);
        let job = job["structuredContent"]["job"].as_str().unwrap().to_owned();
        let listed = call(&["bash_jobs"]);
        assert!(listed.to_string().contains(&job), "{listed:#}");
        call(&["bash_stop", "--tool-arg", &format!("job={job}")]);
        // Whoever goes away while it waits takes nothing along.
        let marker = format!("sleep 60{}{}", name.len(), std::process::id());
        let options = ["--method", "tools/call", "--tool-name", "bash", "--tool-arg", &format!("command={marker}")];
        let mut waiting = inspector_command(&site, &options, &target).stdout(Stdio::null()).spawn().unwrap();
        until("it runs", || is_running(&marker).then_some(()));
        waiting.kill().unwrap();
        waiting.wait().unwrap();
        if name == "one" {
            until("its end", || (!is_running(&marker)).then_some(()));
        }
        call(&["delete_script", "--tool-arg", named]);
    }
}

/// Whoever has no token, was led here by a name of his own, or is a page, gets nothing.
#[test]
fn the_door_of_http_is_shut_for_others() {
    let site = Site::default();
    let _host = site.serve();
    let http = Http::start(&site);
    let (port, token) = (http.port, http.token.as_str());
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
    .to_string();
    let usual = "content-type: application/json\r\naccept: application/json, text/event-stream";
    let head = |path: &str, host: &str, more: &str| format!("POST {path} HTTP/1.1\r\nhost: {host}\r\n{usual}{more}");
    let here = format!("127.0.0.1:{port}");
    let key = format!("\r\nauthorization: Bearer {token}");
    let fine = http.ask(&head("/mcp", &here, &key), &hello);
    assert!(fine.starts_with("HTTP/1.1 200") && fine.contains("bashgate-run"), "{fine}");
    for (what, head, status) in [
        ("no token", head("/mcp", &here, ""), "401"),
        ("a wrong token", head("/mcp", &here, "\r\nauthorization: Bearer 0123"), "401"),
        (
            "a token that begins right",
            head("/mcp", &here, &format!("\r\nauthorization: Bearer {}", &token[..63])),
            "401",
        ),
        ("another scheme", head("/mcp", &here, &format!("\r\nauthorization: Basic {token}")), "401"),
        ("a name that leads here", head("/mcp", &format!("evil.example:{port}"), &key), "403"),
        ("another port", head("/mcp", "127.0.0.1:1", &key), "403"),
        ("a page of somebody else's", head("/mcp", &here, &format!("{key}\r\norigin: https://evil.example")), "403"),
        ("a page from here", head("/mcp", &here, &format!("{key}\r\norigin: http://127.0.0.1:{port}")), "403"),
        ("a file", head("/mcp", &here, &format!("{key}\r\norigin: null")), "403"),
        ("another place", head("/", &here, &key), "404"),
    ] {
        let answer = http.ask(&head, &hello);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{what}: {answer}");
    }
    for (body, code) in [("{", "-32700"), ("[]", "-32600"), ("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":5}", "-32600")] {
        let answer = http.ask(&head("/mcp", &here, &key), body);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(code), "{body}: {answer}");
    }
    let long = http.ask(&head("/mcp", &here, &key), &"x".repeat(17 << 20));
    assert!(long.is_empty() || long.starts_with("HTTP/1.1 413"), "{long}");
    assert!(http.ask(&head("/mcp", &here, &key), &hello).starts_with("HTTP/1.1 200"), "it goes on");
    // Slow and half-open connections take no place from others.
    let idle: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    assert!(http.ask(&head("/mcp", &here, &key), &hello).starts_with("HTTP/1.1 200"));
    drop(idle);
    // It is for loopback alone.
    let mut elsewhere = bashgate_tests::runner();
    elsewhere.args(["mcp", "--http", "0.0.0.0:0", "--token-file"]).arg(site.path().join("t"));
    let refused = Output::of(&mut elsewhere, b"");
    assert!(refused.code == Some(2) && refused.stderr.contains("no address of loopback"), "{refused:?}");
}
