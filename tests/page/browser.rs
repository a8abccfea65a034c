//! A real browser that a test drives.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bashgate_tests::repository;
use serde_json::{Value, json};

/// A browser, and what is open in it.
pub(super) struct Browser {
    child: Child,
    say: Option<ChildStdin>,
    hear: BufReader<ChildStdout>,
}

impl Browser {
    pub(super) fn start() -> Self {
        let folder = repository().join("target/tools/browser");
        assert!(folder.join("node_modules/puppeteer-core").exists(), "the browser's driver is missing: make tools");
        let home = tempfile::tempdir().unwrap().keep();
        let mut child = Command::new("setpriv")
            .args(["--pdeathsig", "TERM", "--", "node"])
            .arg(repository().join("tests/page/driver.mjs"))
            .arg(&folder)
            .arg("/usr/bin/chromium")
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (say, hear) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, say, hear }
    }

    /// Does something, and gives back what came of it.
    #[track_caller]
    pub(super) fn act(&mut self, act: &Value) -> Value {
        let answer = self.try_act(act);
        assert!(answer["failed"].is_null(), "{act}: {answer}");
        answer["done"].clone()
    }

    fn try_act(&mut self, act: &Value) -> Value {
        writeln!(self.say.as_mut().unwrap(), "{act}").unwrap();
        let mut line = String::new();
        self.hear.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the browser is gone: {line}"))
    }

    /// Opens an address in a browser of its own.
    pub(super) fn open(&mut self, tab: &str, url: &str) {
        self.act(&json!({"do": "open", "tab": tab, "url": url}));
    }

    /// Waits until a script gives something that is true, and gives it back.
    #[track_caller]
    pub(super) fn wait(&mut self, tab: &str, script: &str) -> Value {
        self.act(&json!({"do": "wait", "tab": tab, "script": script}))
    }

    pub(super) fn read(&mut self, tab: &str, script: &str) -> Value {
        self.act(&json!({"do": "read", "tab": tab, "script": script}))
    }

    pub(super) fn press(&mut self, tab: &str, key: &str) {
        self.act(&json!({"do": "press", "tab": tab, "key": key}));
    }

    pub(super) fn click(&mut self, tab: &str, selector: &str) {
        self.act(&json!({"do": "click", "tab": tab, "selector": selector}));
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub(super) fn sees(&mut self, tab: &str, text: &str) {
        self.wait(tab, &format!("document.body.innerText.includes({})", json!(text)));
    }

    /// What an accessibility checker finds serious.
    pub(super) fn barriers(&mut self, tab: &str) -> Vec<Value> {
        let found = self.act(&json!({"do": "accessible", "tab": tab}));
        let is_serious = |one: &&Value| matches!(one["impact"].as_str(), Some("serious" | "critical"));
        found.as_array().unwrap().iter().filter(is_serious).cloned().collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.say.take());
        let _ = self.child.wait();
    }
}
