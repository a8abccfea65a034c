//! A container that fights the host through its mailbox. Each attack is named, says where it ends, and is followed by a
//! look at another workspace, which must not notice anything.

mod contents;
mod files;
mod floods;
mod folders;
mod identities;
mod names;
mod responses;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bashgate_shared::protocol::{Answer, Response};
use bashgate_tests::{Host, Site, until};
use serde_json::{Value, json};

/// One attack.
pub struct Attack {
    /// What the container does.
    pub name: &'static str,
    /// Where it ends, for people.
    pub ends: &'static str,
    /// Does it and checks where it ends.
    pub run: fn(&Stage),
}

/// All of them, with the file that they stand in.
pub const ALL: &[(&str, &[Attack])] = &[
    ("files", files::ATTACKS),
    ("names", names::ATTACKS),
    ("contents", contents::ATTACKS),
    ("identities", identities::ATTACKS),
    ("responses", responses::ATTACKS),
    ("folders", folders::ATTACKS),
    ("floods", floods::ATTACKS),
];

/// A host with a hostile workspace, `default`, and a calm one, `other`.
pub struct Stage {
    pub site: Site,
    pub host: Host,
}

impl Stage {
    fn new() -> Self {
        let site = Site::new("[limits]\nrescan_ms = 50\n[approval]\nmax_held = 20\n");
        site.add_workspace("other");
        let host = site.serve();
        // A file that nobody may reach through the mailbox.
        std::fs::write(site.path().join("secret"), command("00000000-0000-4000-8000-000000000000", "ls").to_string())
            .unwrap();
        // In its first seconds the host drops what seems to have been left behind from before.
        std::thread::sleep(Duration::from_millis(3500));
        Self { site, host }
    }

    /// The processor's time that the host has used, in hundredths of a second.
    pub fn ticks(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.host.child.id())).unwrap();
        let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    pub fn requests(&self) -> PathBuf {
        self.site.mailbox("default").join("requests")
    }

    pub fn responses(&self) -> PathBuf {
        self.site.mailbox("default").join("responses")
    }

    pub fn secret(&self) -> PathBuf {
        self.site.path().join("secret")
    }

    /// A new id and the path of its request.
    pub fn fresh(&self) -> (String, PathBuf) {
        let id = uuid::Uuid::new_v4().to_string();
        let path = self.requests().join(format!("{id}.json"));
        (id, path)
    }

    /// Waits for the response to a request of the hostile workspace.
    pub fn response(&self, id: &str) -> Response {
        until("a response", || self.site.response("default", id))
    }

    /// The request is denied, for this reason.
    pub fn denied(&self, id: &str, why: &str) {
        let response = self.response(id);
        assert_eq!(response.decision, Answer::Deny, "{response:?}");
        assert!(response.reason.contains(why), "`{}` lacks `{why}`", response.reason);
    }

    /// These bytes as a request are denied, for this reason. `ID` in them stands for the request's id.
    pub fn refuses(&self, bytes: impl AsRef<[u8]>, why: &str) {
        let (id, _) = self.fresh();
        let mut text = Vec::new();
        let mut rest = bytes.as_ref();
        while let Some(at) = rest.windows(2).position(|pair| pair == b"ID") {
            text.extend_from_slice(&rest[..at]);
            text.extend_from_slice(id.as_bytes());
            rest = &rest[at + 2..];
        }
        text.extend_from_slice(rest);
        self.site.post_bytes("default", &id, &text);
        self.denied(&id, why);
    }

    /// After two looks through the mailbox, nothing has come out of it but what was asked for properly.
    pub fn nothing_comes(&self) {
        let before = self.answers();
        let since = Instant::now();
        while since.elapsed() < Duration::from_millis(200) {
            assert_eq!(self.answers(), before);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn answers(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.responses())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| !name.contains("heartbeat"))
            .collect();
        names.sort();
        names
    }

    /// The hostile workspace itself is served on.
    pub fn is_served(&self) {
        assert_eq!(self.site.ask("default", "make x").decision, Answer::Allow);
    }
}

/// A request to run a command.
pub fn command(id: &str, command: &str) -> Value {
    json!({"type": "security:bash_check", "request_id": id, "command": command})
}

/// Does all of a family, each followed by a look at the other workspace.
fn trouble_nobody_else(family: &str) {
    let mut stage = Stage::new();
    let mut slowest = (Duration::ZERO, "");
    let attacks = ALL.iter().filter(|(name, _)| *name == family).flat_map(|(_, attacks)| *attacks);
    let mut count = 0;
    for attack in attacks {
        count += 1;
        let began = Instant::now();
        (attack.run)(&stage);
        println!("{:8.0?}  {}", began.elapsed(), attack.name);
        let since = Instant::now();
        let response = stage.site.ask("other", "make x");
        assert_eq!(response.decision, Answer::Allow, "{}: {response:?}", attack.name);
        assert_eq!(stage.host.child.try_wait().unwrap(), None, "{}: the host has ended", attack.name);
        slowest = slowest.max((since.elapsed(), attack.name));
    }
    assert!(count > 0, "there is no family `{family}`");
    println!("{count} attacks; the slowest answer to the other workspace took {slowest:?}");
    assert_eq!(stage.host.terminate(), Some(0));
    stage.site.cli(["audit", "verify"]).expect(0);
    assert_eq!(stage.site.taint("other"), "clean");
    assert!(stage.secret().exists());
}

macro_rules! families {
    ($($test:ident $family:literal),*) => {
        $(#[test]
        fn $test() {
            trouble_nobody_else($family);
        })*

        #[test]
        fn each_family_has_its_test() {
            let families: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(families, [$($family),*]);
        }
    };
}

families! {
    hostile_files "files",
    hostile_names "names",
    hostile_contents "contents",
    hostile_identities "identities",
    hostile_responses "responses",
    hostile_folders "folders",
    hostile_floods "floods"
}
