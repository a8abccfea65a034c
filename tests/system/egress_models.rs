//! The model of an agent in a container, asked by the host with a key of the operator's: a real agent, and whatever else may be inside.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bashgate_tests::{Host, Site, until};
use serde_json::{Value, json};

use super::agents::{Agent, Kind};
use super::agents_egress::{free_address, gated, with_model_outside};

/// A key that nobody else has.
fn made_up() -> String {
    format!("key-{}-{}", std::process::id(), std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos())
}

#[test]
fn claude_code_and_codex_work_with_a_key_that_they_never_have() {
    for (kind, api) in [(Kind::Claude, "anthropic"), (Kind::Codex, "openai")] {
        let agent = Agent::of(kind);
        let model = free_address();
        let (key, file) = (made_up(), agent.site.path().join("model.key"));
        fs::write(&file, format!("{key}\n")).unwrap();
        let egress = format!(
            "[egress.models.of-ours]\nkind = \"{api}\"\nbase_url = \"http://{model}\"\nkey_file = \"{}\"\n",
            file.display()
        );
        let _host = gated(&agent, &egress);
        let script = json!([agent.shell("touch local"), agent.shell("env > told")]);
        // Codex goes by its own settings.
        let output = with_model_outside(&agent, &script, "127.0.0.1:3128/model/of-ours", (&model, &key));
        assert!(agent.ran("local") && agent.ran("told"), "{kind:?}: {output:?}");
        let told = fs::read_to_string(agent.project.join("told")).unwrap();
        assert!(told.contains("/model/of-ours") && !told.contains(&key), "{kind:?}: {told}");
        assert!(!output.stdout.contains(&key) && !output.stderr.contains(&key), "{kind:?}");
        let records: Vec<Value> = agent.site.audit().into_iter().filter(|record| record["kind"] == "egress").collect();
        let reached = |record: &Value| record["detail"]["ended"] == "closed";
        assert!(records.iter().any(reached), "{kind:?}: {records:#?}");
        for record in records.iter().filter(|record| reached(record)) {
            assert_eq!(record["detail"]["host"], "127.0.0.2", "{kind:?}: {record:#}");
        }
        let refused: Vec<&Value> = records.iter().filter(|record| !reached(record)).collect();
        println!("{kind:?}: {refused:#?}");
        // What is on record tells the key as little.
        assert!(!agent.site.audit().iter().any(|record| record.to_string().contains(&key)), "{kind:?}");
    }
}

/// A service that keeps all that it is asked, and answers in two pieces, the second when it is told to.
struct Service {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    goes_on: Arc<Mutex<bool>>,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, goes_on) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(Mutex::new(true)));
        let (log, waits) = (asked.clone(), goes_on.clone());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (log, waits) = (log.clone(), waits.clone());
                std::thread::spawn(move || {
                    let mut text = Vec::new();
                    let mut piece = [0; 8192];
                    loop {
                        let Ok(count @ 1..) = stream.read(&mut piece) else { return };
                        text.extend_from_slice(&piece[..count]);
                        let said = String::from_utf8_lossy(&text).into_owned();
                        let Some((head, body)) = said.split_once("\r\n\r\n") else { continue };
                        let length = head.lines().find_map(|line| {
                            line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
                        });
                        if body.len() < length.unwrap_or(0) {
                            continue;
                        }
                        log.lock().unwrap().push(said.clone());
                        let begins = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nset-cookie: a=b\r\n\
                             anthropic-organization-id: ours\r\nanthropic-ratelimit-requests-limit: 5\r\nconnection: close\r\n\r\n";
                        let _ = write!(stream, "{begins}data: 1\n\n");
                        while !*waits.lock().unwrap() {
                            std::thread::sleep(Duration::from_millis(5));
                        }
                        let _ = stream.write_all(b"data: 2\n\n");
                        return;
                    }
                });
            }
        });
        Self { port, asked, goes_on }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

struct Inside {
    site: Site,
    service: Service,
    key: String,
    _host: Host,
    _folder: tempfile::TempDir,
}

impl Inside {
    fn new(more: &str) -> Self {
        let (service, key) = (Service::start(), made_up());
        let mut config = "[egress]\nenabled = true\nprivate = [\"127.0.0.1\"]\n".to_owned();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, &key).unwrap();
        for kind in ["anthropic", "openai", "gemini"] {
            config += &format!(
                "[egress.models.{kind}]\nkind = \"{kind}\"\nbase_url = \"http://127.0.0.1:{}/\"\nkey_file = \"{}\"\n{more}\n",
                service.port,
                file.display()
            );
        }
        let site = Site::new(&config);
        let host = site.serve();
        Self { site, service, key, _host: host, _folder: folder }
    }

    fn open(&self) -> UnixStream {
        let stream = UnixStream::connect(self.site.path().join("egress/default/proxy.sock")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// What a raw request is answered.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.open();
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\n{headers}content-length: {}\r\n\r\n", body.len());
        self.raw(format!("{head}{body}").as_bytes())
    }

    /// What a question to Anthropic's API comes to at the service, or why it does not.
    fn sent(&self, body: &Value) -> Result<Value, String> {
        self.sent_to("/model/anthropic/v1/messages", body)
    }

    fn sent_to(&self, path: &str, body: &Value) -> Result<Value, String> {
        let answer = self.post(path, "", &body.to_string());
        match self.service.asked().as_slice() {
            [asked] => Ok(serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap()),
            _ => Err(answer),
        }
    }
}

#[test]
fn a_question_goes_with_the_operators_key_and_nothing_else_of_whoever_asks() {
    let inside = Inside::new("");
    assert_eq!(
        inside.raw(b"GET /model HTTP/1.1\r\nHost: x\r\n\r\n").lines().last().unwrap(),
        r#"{"models":[{"kind":"anthropic","name":"anthropic"},{"kind":"gemini","name":"gemini"},{"kind":"openai","name":"openai"}]}"#
    );
    let own = "authorization: Bearer own\r\nx-api-key: own\r\nx-goog-api-key: own\r\ncookie: own=1\r\nopenai-organization: own\r\n\
         x-forwarded-for: own\r\nproxy-authorization: own\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/x-protobuf\r\n";
    for (path, body, shown) in [
        (
            "/model/anthropic/v1/messages?beta=true",
            r#"{"model":"m","messages":[]}"#,
            format!("x-api-key: {}", inside.key),
        ),
        ("/model/openai/v1/responses", r#"{"model":"m","input":[]}"#, format!("authorization: Bearer {}", inside.key)),
        (
            "/model/gemini/v1beta/models/m:streamGenerateContent?alt=sse",
            r#"{"contents":[]}"#,
            format!("x-goog-api-key: {}", inside.key),
        ),
    ] {
        let answer = inside.post(path, own, body);
        assert!(answer.contains("data: 1") && answer.contains("data: 2"), "{path}: {answer}");
        assert!(answer.contains("anthropic-ratelimit-requests-limit: 5"), "{answer}");
        assert!(!answer.contains("set-cookie") && !answer.contains("organization"), "{answer}");
        let asked = inside.service.asked();
        let [asked] = asked.as_slice() else { panic!("{path}: {asked:?}") };
        assert!(asked.contains(&shown) && asked.contains("anthropic-version: 2023-06-01"), "{asked}");
        assert!(asked.ends_with(body) && !asked.contains("own"), "{asked}");
        assert!(asked.contains("content-type: application/json") && !asked.contains("protobuf"), "{asked}");
        let (_, tail) = path.split_at("/model/".len());
        assert!(asked.starts_with(&format!("POST {} ", tail.split_at(tail.find('/').unwrap()).1)), "{asked}");
    }
    // The service itself is on no list.
    let tunnel = inside.raw(format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", inside.service.port).as_bytes());
    assert!(tunnel.contains("403") && tunnel.contains("is not on this workspace's list"), "{tunnel}");
}

#[test]
fn what_asks_no_model_is_refused() {
    let inside = Inside::new("");
    for path in [
        "/model/anthropic/v1/files",
        "/model/anthropic/v1/messages/batches",
        "/model/anthropic/v1/organizations/me",
        "/model/anthropic/",
        "/model/anthropic",
        "/model/other/v1/messages",
        "/model//v1/messages",
        "/model/anthropic//v1/messages",
        "/model/anthropic/v1/messages/",
        "/model/anthropic/v1/messages/../files",
        "/model/anthropic/v1/%6dessages",
        "/model/anthropic/v1/messages%2f..%2ffiles",
        "/model/anthropic/v1/messages?beta=true&x=y",
        "/model/anthropic/v1/messages?x",
        "/model/anthropic/v1/models/../files",
        "/model/gemini/v1beta/models/a/b:generateContent",
        "/model/gemini/v1beta/models/..:generateContent",
        "/model/gemini/v1beta/models/m:generateContent?key=own",
        "/model/gemini/upload/v1beta/files",
        "/model/openai/v1/files",
        "/model/openai/v1/fine_tuning/jobs",
        "/model/openai/v1/embeddings",
        "/modelx/anthropic/v1/messages",
        "/MODEL/anthropic/v1/messages",
        "/v1/messages",
    ] {
        let answer = inside.post(path, "", "{}");
        assert!(answer.starts_with("HTTP/1.1 4"), "{path}: {answer}");
        assert_eq!(inside.service.asked(), Vec::<String>::new(), "{path}");
    }
    for method in ["GET", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"] {
        let answer =
            inside.raw(format!("{method} /model/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 404"), "{method}: {answer}");
    }
    let all = inside.raw(b"GET /model/anthropic/v1/models?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(all.starts_with("HTTP/1.1 200"), "{all}");
    assert_eq!(inside.service.asked().len(), 1);
    assert!(inside.site.audit().iter().any(|record| {
        record["detail"]["ended"].as_str().is_some_and(|ended| ended.contains("does not ask a model"))
    }));
}

/// The service reaches what it likes: whatever has it do so is a way out.
#[test]
fn what_would_have_the_service_go_elsewhere_does_not_go_there() {
    let inside = Inside::new("");
    let with = |more: Value| {
        let mut body = json!({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "x"}]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let block = |block: Value| with(json!({"messages": [{"role": "user", "content": [block]}]}));
    for body in [
        with(json!({"mcp_servers": [{"type": "url", "url": "https://evil.example/"}]})),
        with(json!({"Tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]})),
        with(json!({"container": "x"})),
        with(json!({"callback_url": "https://evil.example/"})),
        with(json!({"tools": {"type": "web_fetch_20250910"}})),
        with(json!({"tools": [{"Type": "web_fetch_20250910", "name": "web_fetch"}]})),
        with(json!({"tools": [{"type": "custom", "server_url": "https://evil.example/"}]})),
        block(json!({"type": "image", "source": {"type": "url", "url": "https://evil.example/?x"}})),
        block(json!({"type": "document", "source": {"type": "url", "url": "https://evil.example/?x"}})),
        block(
            json!({"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": {"type": "url", "url": "https://evil.example"}}]}),
        ),
        block(
            json!({"type": "document", "source": {"type": "content", "content": [{"type": "image", "source": {"type": "url", "url": "https://e"}}]}}),
        ),
    ] {
        let refused = inside.sent(&body).unwrap_err();
        assert!(refused.starts_with("HTTP/1.1 400"), "{body}: {refused}");
    }
    for body in [
        r#"{"model":"m","tools":[{"type":"web_fetch_20250910"}],"tools":[]}"#,
        r#"{"model":"m","tools":[{"type":"web_fetch_20250910"}],"tool\u0073":[]}"#,
        r#"{"model":"m","messages":[{"content":[],"Content":[]}]}"#,
        "{\"model\":\"m\"} {}",
        "[]",
        "",
        "not json",
    ] {
        let refused = inside.post("/model/anthropic/v1/messages", "", body);
        assert!(refused.starts_with("HTTP/1.1 400"), "{body}: {refused}");
    }
    let picture = json!({"type": "input_image", "image_url": "https://evil.example/?x"});
    for (path, body) in [
        ("openai/v1/responses", json!({"model": "m", "input": [{"role": "user", "content": [picture]}]})),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": [picture]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "input_file", "file_url": "https://evil.example"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": "x", "tools": [{"type": "mcp", "server_url": "https://evil.example"}]}),
        ),
        ("openai/v1/responses", json!({"model": "m", "input": "x", "prompt": {"id": "p"}})),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"type": "additional_tools", "tools": [{"type": "mcp", "server_url": "https://e"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"type": "tool_search_output", "tools": [{"type": "web_search"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "video_url", "image_url": "data:x", "video_url": {"url": "https://e"}}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "x", "audio_url": "https://e"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "x", "image_url": {"URL": "https://e"}}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "input_file", "file_data": "https://e"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "input_file", "file_id": "https://e"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "input_image", "image_url": "data:image/svg+xml,<svg/>"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "video", "video": "HTTPS://e/x.mp4"}]}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"content": [{"type": "input_file", "file_data": "data:audio/x-mpegurl;base64,I0VY"}]}]}),
        ),
        ("openai/v1/responses", json!({"model": "m", "input": [{"\u{17f}ource": 1}]})),
        (
            "openai/v1/chat/completions",
            json!({"model": "m", "messages": [], "prediction": {"content": [{"image_url": "https://e"}]}}),
        ),
        ("openai/v1/chat/completions", json!({"model": "gpt-5-search-api", "messages": []})),
        ("gemini/v1beta/models/m:generateContent", json!({"generateContentRequest": {}, "contents": []})),
        ("gemini/v1beta/models/m:generateContent", json!({"generateContentRequest": {}})),
        ("gemini/v1beta/models/m:countTokens", json!({"generateContentRequest": {}, "contents": []})),
        ("gemini/v1beta/models/m:countTokens", json!({"generateContentRequest": {"generateContentRequest": {}}})),
        (
            "openai/v1/chat/completions",
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://evil.example"}}]}]}),
        ),
        ("openai/v1/chat/completions", json!({"model": "m", "messages": [], "web_search_options": {}})),
        (
            "gemini/v1beta/models/m:generateContent",
            json!({"contents": [{"parts": [{"fileData": {"fileUri": "https://evil.example"}}]}]}),
        ),
        (
            "gemini/v1beta/models/m:generateContent",
            json!({"contents": {"parts": {"file_data": {"file_uri": "https://evil.example"}}}}),
        ),
        (
            "gemini/v1beta/models/m:countTokens",
            json!({"generateContentRequest": {"contents": [{"parts": [{"fileData": {}}]}]}}),
        ),
        (
            "gemini/v1beta/models/m:generateContent",
            json!({"contents": [{"parts": [{"functionResponse": {"parts": [{"fileData": {"fileUri": "https://evil.example"}}]}}]}]}),
        ),
        ("gemini/v1beta/models/m:generateContent", json!({"contents": [], "cachedContent": "x"})),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": [{"type": "code_interpreter_call", "outputs": [{"type": "image", "url": "https://e"}]}]}),
        ),
        ("openai/v1/responses", json!({"model": "m", "input": [{"content": [{"image_url\u{0}": "https://e"}]}]})),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": "x", "tools": [{"type": "namespace", "tools": {"type": "mcp"}}]}),
        ),
        (
            "openai/v1/responses",
            json!({"model": "m", "input": "x", "tools": [{"type": "namespace", "Tools": [{"type": "mcp"}]}]}),
        ),
        ("openai/v1/chat/completions", json!({"model": "GPT-4o-SEARCH-preview", "messages": []})),
    ] {
        let refused = inside.sent_to(&format!("/model/{path}"), &body).unwrap_err();
        assert!(refused.starts_with("HTTP/1.1 400"), "{body}: {refused}");
    }
    // Readers of addresses need neither both slashes nor the same ones, and pass over what is blank.
    for url in [
        json!({"url": "http:/\n/evil.example/x"}),
        json!({"url": "http:evil.example"}),
        json!({"url": "http:\\\\evil.example\\x"}),
        json!({"url": "h\ttp:/\t/evil.example"}),
        json!({"url": "file:/etc/passwd"}),
        json!({"url": "evil.example/x"}),
        json!({"url": ["https://e"]}),
        json!({"url": {"url": "https://e"}}),
        json!({"detail": "//evil.example/x"}),
        json!({"detail": "http:evil.example"}),
    ] {
        let body =
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": url}]}]});
        let refused = inside.sent_to("/model/openai/v1/chat/completions", &body).unwrap_err();
        assert!(refused.starts_with("HTTP/1.1 400"), "{body}: {refused}");
    }
    let plain = json!({"url": "data:image/png;base64,AA==", "detail": "high"});
    let body =
        json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": plain}]}]});
    assert_eq!(inside.sent_to("/model/openai/v1/chat/completions", &body).unwrap(), body);
    // Tools of the service are taken out, and those of the agent stay.
    let own = json!({"name": "Bash", "input_schema": {"properties": {"type": {"type": "url"}}}});
    let tools = json!([own, {"type": "web_search_20250305", "name": "web_search"}, {"type": "code_execution_20250825", "name": "c"}]);
    assert_eq!(inside.sent(&with(json!({"tools": tools}))).unwrap()["tools"], json!([own]));
    let none = inside
        .sent(&with(json!({"tools": [{"type": "web_search_20250305"}], "tool_choice": {"type": "any"}})))
        .unwrap();
    assert!(none.get("tools").is_none() && none.get("tool_choice").is_none(), "{none}");
    let others =
        json!([{"type": "shell", "environment": {"type": "container_auto"}}, {"type": "bash_code_execution_20250825"}]);
    for (path, text) in [("anthropic/v1/messages", "messages"), ("openai/v1/responses", "input")] {
        let sent =
            inside.sent_to(&format!("/model/{path}"), &json!({"model": "m", (text): [], "tools": others})).unwrap();
        assert!(sent.get("tools").is_none(), "{sent}");
    }
    let counts = json!({"generateContentRequest": {"contents": [], "tools": [{"googleSearch": {}}]}});
    let sent = inside.sent_to("/model/gemini/v1beta/models/m:countTokens", &counts).unwrap();
    assert_eq!(sent, json!({"generateContentRequest": {"contents": []}}));
    let openai = json!({"model": "m", "input": "x", "tools": [{"type": "function", "name": "f"}, {"type": "web_search"}, {"type": "custom", "name": "p"}]});
    let sent = inside.sent_to("/model/openai/v1/responses", &openai).unwrap();
    assert_eq!(sent["tools"], json!([{"type": "function", "name": "f"}, {"type": "custom", "name": "p"}]));
    let gemini = json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f"}], "urlContext": {}}, {"googleSearch": {}}]});
    let sent = inside.sent_to("/model/gemini/v1beta/models/m:generateContent", &gemini).unwrap();
    assert_eq!(sent["tools"], json!([{"functionDeclarations": [{"name": "f"}]}]));
    // What is said about addresses, and what tools are given, is no address to the service.
    let said = with(json!({"messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Fetch", "input": {"source": {"type": "url"}, "file_url": "x"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "see https://evil.example"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]}]}));
    assert_eq!(inside.sent(&said).unwrap(), said);
    let said = with(json!({
        "tools": [{"name": "Plot", "input_schema": {"type": "object", "properties": {"x": {}, "X": {}}}}],
        "messages": [
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Run", "input": {"env": {"http_proxy": "a", "HTTP_PROXY": "b"}}},
                {"type": "text", "text": "x", "citations": [{"type": "web_search_result_location", "url": "https://h.example/"}]}]}]}));
    assert_eq!(
        inside.sent(&said).unwrap(),
        said,
        "names that differ in the size of a letter, in what is text to everybody"
    );
}

#[test]
fn the_operator_may_let_more_through() {
    let inside = Inside::new("server_tools = [\"web_search\"]\nfields = [\"novelty\"]");
    let body = json!({"model": "m", "novelty": 1, "tools": [{"type": "web_search_20250305"}, {"type": "web_searching"}, {"type": "web_fetch_20250910"}]});
    let sent = inside.sent(&body).unwrap();
    assert_eq!(sent, json!({"model": "m", "novelty": 1, "tools": [{"type": "web_search_20250305"}]}));
    // What was found so is told again.
    let found = |kind: &str| {
        let block = json!({"type": "web_search_tool_result", "content": [{"type": kind, "url": "https://h.example/"}]});
        inside.sent(&json!({"model": "m", "messages": [{"role": "assistant", "content": [block]}]}))
    };
    assert!(found("web_search_result").is_ok() && found("web_fetch_result").is_err() && found("image").is_err());
}

#[test]
fn an_answer_comes_as_it_is_written_and_ends_with_the_host() {
    let inside = Inside::new("");
    *inside.service.goes_on.lock().unwrap() = false;
    let ask = || {
        let mut stream = inside.open();
        stream
            .write_all(
                b"POST /model/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\ncontent-length: 13\r\n\r\n{\"model\":\"m\"}",
            )
            .unwrap();
        let (mut text, mut piece) = (String::new(), [0; 4096]);
        while !text.contains("data: 1") {
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        assert!(!text.contains("data: 2"));
        stream
    };
    let mut first = ask();
    *inside.service.goes_on.lock().unwrap() = true;
    let mut rest = String::new();
    first.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("data: 2"), "{rest}");
    *inside.service.goes_on.lock().unwrap() = false;
    let mut second = ask();
    let Inside { site, service, _host: mut host, _folder, .. } = inside;
    host.terminate();
    let mut rest = Vec::new();
    let _ = second.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("data: 2"));
    *service.goes_on.lock().unwrap() = true;
    let _host = site.serve();
    let told = || site.audit().iter().filter(|record| record["kind"] == "egress").count() == 2;
    until("both records", || told().then_some(()));
}

#[test]
fn what_is_too_large_or_never_whole_harms_nobody_else() {
    let inside = Inside::new("");
    let large = format!("{{\"model\":\"{}\"}}", "x".repeat(33 << 20));
    let refused = inside.post("/model/anthropic/v1/messages", "", &large);
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 413"), "{}", refused.get(..200).unwrap_or(&refused));
    let many = format!("{{\"model\":[{}1]}}", "1,".repeat(200_000));
    assert!(inside.post("/model/anthropic/v1/messages", "", &many).starts_with("HTTP/1.1 400"));
    // Some begin a question and do not go on.
    let mut half: Vec<UnixStream> = (0..40).map(|_| inside.open()).collect();
    for stream in &mut half {
        stream
            .write_all(b"POST /model/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\ncontent-length: 13\r\n\r\n{")
            .unwrap();
    }
    let asked = inside.sent(&json!({"model": "m"}));
    assert!(asked.is_ok(), "{asked:?}");
    drop(half);
    assert_eq!(inside.service.asked(), Vec::<String>::new());
}

/// What goes there besides the question counts as well, and one workspace's questions keep nobody else's from their answers.
#[test]
fn fields_count_and_long_ones_stay_here() {
    let inside = Inside::new("");
    let long = format!("user-agent: {}\r\nanthropic-beta: short\r\n", "x".repeat(9000));
    inside.post("/model/anthropic/v1/messages", &long, "{\"model\":\"m\"}");
    let asked = inside.service.asked();
    assert!(asked[0].contains("anthropic-beta: short") && !asked[0].contains("xxxx"), "{asked:?}");
    let record = || inside.site.audit().into_iter().rfind(|record| record["kind"] == "egress");
    let up = until("a record", record)["detail"]["up"].as_u64().unwrap();
    assert!(up > 60, "more than the question's bytes: {up}");
}
