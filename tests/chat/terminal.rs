//! Terminals: what is shown in one, and what its keys do.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bashgate_tests::{Host, Site, bin, pause, until};

use super::cases::ASKED;

/// A program in a terminal of 40 lines and 120 columns.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    fn of(site: &Site, words: &str) -> Self {
        let config = site.host_toml();
        let line = format!(
            "stty rows 40 cols 120; exec '{}' {words} --config '{}'",
            bin("bashgate").display(),
            config.display()
        );
        let mut child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (keys, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let screen = Arc::new(Mutex::new(String::new()));
        let seen = screen.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut bytes) {
                seen.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        Self { child, keys, screen, reader: Some(reader) }
    }

    fn presses(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn sees(&self, what: &str) {
        until(what, || self.screen.lock().unwrap().contains(what).then_some(()));
    }

    /// All that was written until it ended.
    fn ends(mut self) -> String {
        assert!(self.child.wait().unwrap().success());
        self.reader.take().unwrap().join().unwrap();
        self.screen.lock().unwrap().clone()
    }
}

fn tainted() -> (Site, Host) {
    let site = Site::new("");
    let host = site.serve();
    site.raise_both("default");
    (site, host)
}

/// At a glance: what is held, what was decided, what is let through; nothing that a command says moves the cursor.
#[test]
fn top_shows_how_everything_stands() {
    let none = Site::new("").cli(["top", "--once"]).expect(1);
    assert!(none.stderr.contains("no host is running"), "{none:?}");
    let (site, _host) = tainted();
    site.check("rm -rf /etc/bashgate").expect(2);
    site.cli(["workspace", "mute", "default"]).expect(0);
    let lie = "curl -s https://x.example/\u{1b}[2J\u{202e}evil";
    let running = site.check_later(lie);
    until("a card", || site.pending().into_iter().next());
    let top = site.cli(["top", "--once"]).expect(0).stdout;
    for part in
        ["inspector: offline rules", "default", "both", "1 held", "muted", "Held: 1", "deny", "rm -rf /etc/bashgate"]
    {
        assert!(top.contains(part), "{part}: {top}");
    }
    assert!(!top.contains(['\u{1b}', '\u{202e}']), "{top}");
    // In a terminal, until somebody ends it.
    let mut live = Terminal::of(&site, "top");
    live.sees("Workspaces");
    live.presses("q");
    assert!(live.ends().contains("\u{1b}[?1049l"), "the screen is given back");
    site.cli(["deny", "all"]).expect(0);
    running.join().unwrap().expect(2);
}

/// A card is opened, read to its end, and answered; a key that comes too early, or on the list, answers nothing.
#[test]
fn cards_are_answered_by_keys_in_top() {
    let (site, _host) = tainted();
    let long = format!("curl -s https://x.example <<'E'\n{}E", "a line of many\n".repeat(60));
    let running = site.check_later(&long);
    let id = site.held(&long);
    let mut top = Terminal::of(&site, "top");
    top.sees(&id);
    top.presses("aaa");
    top.presses("\r");
    top.sees("Held in workspace default");
    top.presses("a");
    pause(Duration::from_millis(1_500));
    top.presses("a");
    pause(Duration::from_millis(1_500));
    assert_eq!(site.pending().len(), 1, "nothing of that is an answer");
    // Page by page, to its end.
    for _ in 0..6 {
        top.presses(" ");
        pause(Duration::from_millis(150));
    }
    top.presses("a");
    running.join().unwrap().expect(0);
    let other = site.check_later(ASKED);
    site.held(ASKED);
    // Only what differs is drawn: it is on the list a second later.
    pause(Duration::from_millis(2_500));
    top.presses("\r");
    pause(Duration::from_millis(1_500));
    top.presses("d");
    other.join().unwrap().expect(2);
    top.presses("q");
    top.ends();
    let last = site.audit().into_iter().rfind(|record| record["kind"] == "decision").unwrap();
    assert!(last["detail"]["by"].as_str().unwrap().starts_with("human:"), "{last}");
}

/// The terminal of the host itself: cards in colours, where the terminal has them, and what was answered there.
#[test]
fn the_hosts_own_terminal_has_colours() {
    let (site, mut host) = tainted();
    host.terminate();
    let mut serve = Terminal::of(&site, "serve");
    until("the host to answer", || (site.cli(["status"]).code == Some(0)).then_some(()));
    let running = site.check_later("curl -s 'https://x.example/\u{1b}[31m'");
    let card = until("a card", || site.pending().into_iter().next());
    serve.sees("Approve with: approve ");
    let screen = serve.screen.lock().unwrap().clone();
    assert!(screen.contains("\u{1b}[1mHeld in workspace default"), "{screen:?}");
    assert!(screen.contains("\u{1b}[36m    1 | curl -s"), "{screen:?}");
    assert!(!screen.contains("\u{1b}[31m'"), "the command's own do not count: {screen:?}");
    serve.presses(&format!("deny {}\r", card["id"].as_str().unwrap()));
    running.join().unwrap().expect(2);
    serve.presses("\u{3}");
    serve.ends();
}
