//! The operator's own programs: checked and signed by the host, believed by the hook only as they were signed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use bashgate_tests::{Output, Site, bin, until};

const BD: &str = r#"
[[program]]
names = ["bd"]
about = "keeps issues"
tells_version = ["--version"]
safe = ["bd list --json", "bd show bd-12"]
not_safe = ["bd sync", "bd edit x", "bd list --export=x"]

[[program.subcommand]]
words = "list"
form = { long = ["--json"] }

[[program.subcommand]]
words = "show"
form = { operands = "data" }

[[program.subcommand]]
words = "sync"
reach = "writes"

[[narrow]]
names = ["rg", "grep"]
why = "its configuration is shared here"
"#;

/// A site whose operator knows `bd`, and a folder of PATH that only root can write with a program of that name.
struct Ground {
    site: Site,
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(programs: &str) -> Self {
        let site = Site::new("programs = \"programs.toml\"");
        std::fs::write(site.path().join("programs.toml"), programs).unwrap();
        let folder = tempfile::Builder::new().prefix("path-").tempdir_in("/srv").unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::copy("/usr/bin/true", folder.path().join("bd")).unwrap();
        std::fs::set_permissions(folder.path().join("bd"), std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { site, folder }
    }

    fn handed_out(&self) -> std::path::PathBuf {
        self.site.mailbox("default").join("responses/programs.jsonl")
    }

    /// Starts the host, waits until the hooks have their rows, and ends it: what is decided from here on, the hook decides.
    fn handing_out(&self) {
        let mut host = self.site.serve();
        until("the rows", || self.handed_out().exists().then_some(()));
        host.terminate();
    }

    fn check(&self, command: &str) -> Output {
        let mut hook = self.site.hook_command(&self.site.hook_toml());
        hook.env("PATH", format!("{}:/usr/bin:/bin", self.folder.path().display()));
        Output::of(hook.args(["check", "--", command]), b"")
    }
}

#[test]
fn the_hook_decides_what_the_host_has_signed() {
    let ground = Ground::new(BD);
    assert_eq!(ground.check("bd list").code, Some(2), "nothing is handed out yet");
    assert_eq!(ground.check("grep x file").code, Some(0));
    ground.handing_out();
    for command in ["bd list", "bd list --json | head -3", "bd show bd-12 && bd --version"] {
        ground.check(command).expect(0);
    }
    // A script loads what it needs from where the agent may write.
    std::fs::write(ground.folder.path().join("bd"), "#!/usr/bin/python3\n").unwrap();
    ground.check("bd list").expect(2);
    std::fs::copy("/usr/bin/true", ground.folder.path().join("bd")).unwrap();
    for command in [
        "bd sync",
        "bd edit x",
        "bd list -x",
        "bd show \"$x\"",
        "./bd list",
        "bd list > /etc/x",
        "nosuch list",
        "rg x",
        "grep x file",
    ] {
        ground.check(command).expect(2);
    }
}

#[test]
fn what_was_not_signed_by_this_host_says_nothing() {
    let ground = Ground::new(BD);
    ground.handing_out();
    let text = std::fs::read_to_string(ground.handed_out()).unwrap();
    let other = Ground::new(BD);
    other.handing_out();
    let of_another_host = std::fs::read_to_string(other.handed_out()).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    for (what, bytes, head_is_there) in [
        ("changed", text.replace("sync", "list2"), true),
        ("without its end", format!("{head}\n{}", &rows[..rows.len() / 2]), true),
        ("another host's", of_another_host, true),
        ("without its beginning", rows.to_owned(), false),
        ("cut", head[..head.len() / 2].to_owned(), false),
        ("empty", String::new(), false),
        ("huge", " ".repeat(2 << 20), false),
        ("no text", "{}".to_owned(), false),
    ] {
        std::fs::write(ground.handed_out(), bytes).unwrap();
        ground.check("bd list").expect(2);
        // What cannot be read at all may narrow anything.
        let expected = if head_is_there { 0 } else { 2 };
        assert_eq!(ground.check("ls").code, Some(expected), "{what}");
        assert_eq!(ground.check("grep x file").code, Some(2), "{what}: it is narrowed");
    }
    std::fs::remove_file(ground.handed_out()).unwrap();
    std::os::unix::fs::symlink("/dev/zero", ground.handed_out()).unwrap();
    ground.check("bd list").expect(2);
    std::fs::remove_file(ground.handed_out()).unwrap();
    std::fs::write(ground.handed_out(), text).unwrap();
    ground.check("bd list").expect(0);
}

#[test]
fn a_program_that_the_agent_could_have_written_is_not_the_operators() {
    let ground = Ground::new(BD);
    ground.handing_out();
    std::fs::set_permissions(ground.folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    ground.check("bd list").expect(2);
    // The host hears why, does not call it Safe either, and lets it through on nobody's word but a person's.
    let _host = ground.site.serve();
    ground.site.raise_both("default");
    let held = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ground.check("bd list"));
        let card = until("a card", || ground.site.pending().first().cloned());
        ground.site.cli(["deny", card["id"].as_str().unwrap()]).expect(0);
        waiting.join().unwrap().expect(2);
        card
    });
    assert_eq!(held["class"], "unknown", "{held:#}");
}

#[test]
fn a_hook_without_the_rows_makes_nothing_safe_at_the_host() {
    let ground = Ground::new(BD);
    let _host = ground.site.serve();
    until("the rows", || ground.handed_out().exists().then_some(()));
    // The three fields of the first protocol: nobody has looked at what the name means there.
    ground.site.ask("default", "bd list");
    // What is narrowed, is so whoever asks.
    ground.site.ask("default", "grep x file");
    for command in ["bd list", "grep x file"] {
        let of =
            |records: Vec<serde_json::Value>| records.into_iter().find(|record| record["detail"]["command"] == command);
        let record = until("the record", || of(ground.site.audit()));
        assert_eq!(record["detail"]["class"], "unknown", "{record:#}");
    }
}

#[test]
fn a_file_that_is_wrong_keeps_the_host_from_starting() {
    for (text, want) in [
        ("[[program]]\nnames = [\"xonsh\"]\nabout = \"x\"\n", "program xonsh, names"),
        ("[[program]]\nnames = [\"curl\"]\nabout = \"x\"\n", "row of ours"),
        (&BD.replace("bd sync\", \"bd edit x", "bd list\", \"bd edit x"), "program bd, not_safe"),
        (&BD.replace("why = ", "because = "), "unknown field"),
        (&BD.repeat(2), "stands in two rows"),
        ("x", "line 1"),
    ] {
        let ground = Ground::new(text);
        let (host, ready) = bashgate_tests::Host::try_start(&mut ground.site.host_command());
        assert!(!ready, "{text}");
        let said = host.said.lock().unwrap().clone();
        assert!(said.contains(want) && said.contains("help:"), "{text}: {said}");
        let checked = ground.site.cli(["config", "check"]);
        assert!(checked.code != Some(0) && checked.stderr.contains(want), "{checked:?}");
    }
    let ground = Ground::new(BD);
    std::fs::remove_file(ground.site.path().join("programs.toml")).unwrap();
    assert!(ground.site.cli(["config", "check"]).stderr.contains("programs.toml"));
}

#[test]
fn rows_that_are_taken_away_are_gone_for_the_hook() {
    let ground = Ground::new(BD);
    ground.handing_out();
    ground.check("bd list").expect(0);
    ground.site.configure("");
    let mut host = ground.site.serve();
    until("the end of the rows", || (!ground.handed_out().exists()).then_some(()));
    host.terminate();
    ground.check("bd list").expect(2);
}

#[test]
fn a_file_can_be_tried_without_a_host() {
    let ground = Ground::new(BD);
    let file = ground.site.path().join("programs.toml");
    let say = |arguments: &[&str], file: &Path| {
        Output::of(Command::new(bin("bashgate")).args(arguments).arg("--programs").arg(file), b"")
    };
    assert!(say(&["classify", "bd list"], &file).expect(0).stdout.starts_with("safe (local)"));
    assert!(say(&["why", "bd list"], &file).expect(0).stdout.contains("safe"));
    assert!(say(&["decide", "--taint", "both", "bd list"], &file).expect(0).stdout.starts_with("allow"));
    assert!(say(&["decide", "--taint", "both", "bd sync"], &file).expect(0).stdout.starts_with("ask"));
    assert!(say(&["classify", "rg x"], &file).expect(0).stdout.starts_with("unknown"));
    let wrong = say(&["classify", "ls"], Path::new("/nonexistent"));
    assert!(wrong.code == Some(1) && wrong.stderr.contains("/nonexistent"), "{wrong:?}");
}

/// From the record of questions to a row that settles them, with a person in between.
#[test]
fn a_draft_from_the_audit_is_finished_by_a_person_and_settles_what_it_says() {
    let site = Site::new("");
    let mut host = site.serve();
    for command in ["bd list --json", "bd list", "bd list --json", "bd show bd-12", "bd sync", "make x", "ls"] {
        site.ask("default", command);
    }
    host.terminate();
    let drafted = site.cli(["suggest", "--least", "2"]).expect(0);
    let said = drafted.stderr;
    assert!(said.contains("7 commands, 6 of them questions"), "{said}");
    assert!(said.contains("would have settled 4 of the questions"), "{said}");
    let text = drafted.stdout;
    assert!(text.contains("In 5 questions; would have settled 4 of them."), "{text}");
    assert!(text.contains("reach = \"writes\""), "{text}");
    // As it is, it does not load: nobody has said what the program does.
    let file = site.path().join("programs.toml");
    let tried = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(bin("bashgate"));
        Output::of(command.args(["classify", "--programs"]).arg(&file).arg("bd list --json"), b"")
    };
    let refused = tried(&text).expect(1);
    assert!(refused.stderr.contains("program bd, about"), "{}", refused.stderr);
    let finished = text.replace("about = \"\"", "about = \"keeps issues\"");
    assert!(tried(&finished).stderr.contains("not_safe"), "an example of what stays a question is missing");
    let finished = finished.replace("not_safe = []", "not_safe = [\"bd sync\"]");
    let found = tried(&finished).expect(0);
    assert!(found.stdout.starts_with("safe"), "{}", found.stdout);
    // With the row in force nothing is left to suggest.
    let mut command = Command::new(bin("bashgate"));
    let again = Output::of(
        command.args(["suggest", "--jsonl", "--least", "1", "--programs"]).arg(&file),
        b"{\"command\": \"bd list --json\"}\n{\"command\": \"bd show x\"}\nnonsense\n",
    )
    .expect(0);
    assert_eq!(again.stdout, "");
    assert!(again.stderr.contains("0 of 0 drafts") && again.stderr.contains("1 commands were left out"));
}
