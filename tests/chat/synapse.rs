//! A real Matrix server on loopback, started for one test.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bashgate_tests::{pause, repository};
use serde_json::{Value, json};

/// A running Synapse.
pub(super) struct Synapse {
    folder: tempfile::TempDir,
    url: String,
    child: Mutex<Option<Child>>,
    client: ureq::Agent,
}

impl Synapse {
    /// Makes a server in a folder of its own and starts it.
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let log = json!({"version": 1, "disable_existing_loggers": false, "root": {"level": "WARNING", "handlers": ["file"]},
            "handlers": {"file": {"class": "logging.FileHandler", "filename": at("log")}}});
        std::fs::write(at("log.yaml"), log.to_string()).unwrap();
        let often = json!({"per_second": 1000, "burst_count": 1000});
        // YAML reads JSON.
        let config = json!({
            "server_name": "gate.test", "pid_file": at("pid"), "report_stats": false, "log_config": at("log.yaml"),
            "listeners": [{"port": port, "bind_addresses": ["127.0.0.1"], "type": "http", "tls": false,
                           "resources": [{"names": ["client"], "compress": false}]}],
            "database": {"name": "sqlite3", "args": {"database": at("db")}},
            "media_store_path": at("media"), "signing_key_path": at("key"), "trusted_key_servers": [],
            "macaroon_secret_key": "only for this test", "form_secret": "only for this test",
            "federation_domain_whitelist": [], "url_preview_enabled": false, "presence": {"enabled": false},
            "enable_registration": true, "enable_registration_without_verification": true,
            "rc_registration": often, "rc_message": often, "rc_invites": {"per_user": often, "per_room": often, "per_issuer": often},
            "rc_login": {"address": often, "account": often, "failed_attempts": often},
            "rc_joins": {"local": often, "remote": often}, "rc_joins_per_room": often,
            "rc_admin_redaction": often, "rc_room_creation": often,
        });
        std::fs::write(at("homeserver.yaml"), config.to_string()).unwrap();
        let made = Command::new(python())
            .args(["-m", "synapse.app.homeserver", "--generate-keys", "--config-path", &at("homeserver.yaml")])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_mins(1)))
            .build();
        let synapse =
            Self { folder, url: format!("http://127.0.0.1:{port}"), child: Mutex::default(), client: config.into() };
        synapse.rises();
        synapse
    }

    /// Starts the server, and waits until it answers.
    pub(super) fn rises(&self) {
        let log = std::fs::File::create(self.folder.path().join("out")).unwrap();
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "--"])
            .arg(python())
            .args(["-m", "synapse.app.homeserver", "--config-path"])
            .arg(self.folder.path().join("homeserver.yaml"))
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        *self.child() = Some(child);
        let end = Instant::now() + Duration::from_mins(1);
        while self.client.get(format!("{}/health", self.url)).call().is_err() {
            let said = || std::fs::read_to_string(self.folder.path().join("out")).unwrap_or_default();
            assert!(Instant::now() < end, "the server does not start: {}", said());
            pause(Duration::from_millis(50));
        }
    }

    /// Ends the server.
    pub(super) fn falls(&self) {
        if let Some(mut child) = self.child().take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn child(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One request, as it is: the status and what came back.
    pub(super) fn ask(&self, method: &str, path: &str, token: Option<&str>, body: &Value) -> Option<(u16, Value)> {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let answer = if body.is_null() {
            self.client.run(request.body(()).unwrap())
        } else {
            let request = request.header("content-type", "application/json");
            self.client.run(request.body(body.to_string()).unwrap())
        };
        let mut answer = answer.ok()?;
        let status = answer.status().as_u16();
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// A request to the client API that must succeed.
    pub(super) fn call(&self, token: &str, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("/_matrix/client/v3/{path}");
        let (status, answer) = self.ask(method, &path, Some(token), body).expect("no answer");
        assert_eq!(status, 200, "{method} {path}: {answer}");
        answer
    }

    /// A new user's token.
    pub(super) fn registers(&self, name: &str) -> String {
        let body = json!({"username": name, "password": "only for this test", "auth": {"type": "m.login.dummy"}});
        let (status, answer) = self.ask("POST", "/_matrix/client/v3/register", None, &body).expect("no answer");
        assert_eq!(status, 200, "{answer}");
        answer["access_token"].as_str().unwrap().to_owned()
    }

    /// One more token of a user.
    pub(super) fn logs_in(&self, name: &str) -> String {
        let body = json!({"type": "m.login.password", "password": "only for this test",
                          "identifier": {"type": "m.id.user", "user": name}});
        let (status, answer) = self.ask("POST", "/_matrix/client/v3/login", None, &body).expect("no answer");
        assert_eq!(status, 200, "{answer}");
        answer["access_token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Synapse {
    fn drop(&mut self) {
        self.falls();
    }
}

fn python() -> PathBuf {
    let python = repository().join("target/tools/synapse/bin/python");
    assert!(python.exists(), "the Matrix server is missing: make tools");
    python
}
