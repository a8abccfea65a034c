//! Managed scripts: approved by a person as they are, run with what their manifest gives, values as data.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use bashgate_run::scripts::template::Template;

use bashgate_tests::{Dice, Output, Site, bin, rounds, until};
use serde_json::{Value, json};

use super::{USER, Who};

/// A site with a host, a library of scripts, and folders that scripts may be given.
pub(super) struct Ground {
    pub(super) site: Site,
    folder: tempfile::TempDir,
    who: Who,
}

impl Ground {
    pub(super) fn new() -> Self {
        Self::of(Who::Root)
    }

    /// The scripts' user. The host is root's in any case.
    pub(super) fn of(who: Who) -> Self {
        Self::on(who, Site::default())
    }

    /// The same with a host that is configured in another way.
    pub(super) fn on(who: Who, site: Site) -> Self {
        // Not below /tmp, which a script has for itself.
        let folder = tempfile::Builder::new().prefix("scripts-").tempdir_in("/srv").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        site.lets_others_in();
        let ground = Self { site, folder, who };
        super::install(&bin("bashgate-run"), &ground.path("bashgate-run"));
        for name in ["in", "out", "state", "home"] {
            fs::create_dir(ground.path(name)).unwrap();
            fs::set_permissions(ground.path(name), fs::Permissions::from_mode(0o700)).unwrap();
            ground.give(&ground.path(name));
        }
        ground
    }

    fn give(&self, path: &Path) {
        if self.who == Who::User {
            std::os::unix::fs::lchown(path, Some(USER), Some(USER)).unwrap();
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = bashgate_tests::runner();
        if self.who == Who::User {
            command = Command::new("setpriv");
            command.args([format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()]);
            command.arg(self.path("bashgate-run")).env("HOME", self.path("home"));
        }
        command.arg("scripts").args(&arguments[..1]).arg("--state").arg(self.path("state"));
        if matches!(arguments[0], "run" | "action" | "generate") {
            command.arg("--config").arg(self.site.hook_toml());
        }
        command.args(&arguments[1..]).current_dir(self.site.work());
        command
    }

    pub(super) fn call(&self, arguments: &[&str], input: &Value) -> Output {
        Output::of(&mut self.command(arguments), input.to_string().as_bytes())
    }

    /// Keeps a script; its id.
    #[track_caller]
    pub(super) fn create(&self, content: &str, manifest: &Value) -> String {
        let mut whole = json!({"content": content, "name": "test"});
        whole.as_object_mut().unwrap().extend(manifest.as_object().unwrap().clone());
        let output = self.call(&["create", "--json", "--input"], &whole).expect(0);
        let made: Value = serde_json::from_str(&output.stdout).unwrap();
        made["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn start(&self, id: &str, request: &Value) -> JoinHandle<Output> {
        let mut command = self.command(&["run", "--json", "--input", id]);
        let input = request.to_string();
        std::thread::spawn(move || Output::of(&mut command, input.as_bytes()))
    }

    /// The approval under which a script is held.
    #[track_caller]
    pub(super) fn held(&self) -> Value {
        until("a held script", || {
            let pending: Value = serde_json::from_str(&self.site.cli(["pending", "--json"]).stdout).ok()?;
            pending.as_array()?.first().cloned()
        })
    }

    pub(super) fn nothing_is_held(&self) -> bool {
        self.site.cli(["pending", "--json"]).stdout.trim() == "[]"
    }

    /// Runs a script for the first time: a person says yes.
    #[track_caller]
    pub(super) fn approved(&self, id: &str, request: &Value) -> Value {
        let running = self.start(id, request);
        if let Some(card) = self.site.held_or_ended(&running) {
            self.site.cli(["approve", &card]).expect(0);
        }
        let output = running.join().unwrap();
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// Runs a script that is held, and a person says no: the card, and what became of the run.
    #[track_caller]
    pub(super) fn denied(&self, id: &str, why: &str) -> (Value, Output) {
        let running = self.start(id, &json!({}));
        let card = self.held();
        self.site.cli(["deny", card["id"].as_str().unwrap(), why]).expect(0);
        (card, running.join().unwrap())
    }

    /// Runs a script that is approved.
    #[track_caller]
    pub(super) fn again(&self, id: &str, request: &Value) -> Value {
        let output = self.start(id, request).join().unwrap();
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    /// Creates, approves and runs.
    #[track_caller]
    pub(super) fn once(&self, content: &str, manifest: &Value) -> Value {
        let id = self.create(content, manifest);
        self.approved(&id, &json!({}))
    }
}

#[test]
fn the_seeds_example_runs_after_its_first_approval_without_another() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        fs::write(ground.path("in/my file with spaces.txt"), "content").unwrap();
        let script = format!(
            "#!/bin/bash\ntar -czf {0}/backup.tar.gz ${{trigger.file.path}} 2>/dev/null\necho \"Backed up: ${{trigger.file.path}}\"\n",
            ground.text("out")
        );
        let id = ground.create(
            &script,
            &json!({"variables": ["trigger.file.path"], "capabilities": {
                "paths_read": [ground.text("in")], "paths_write": [ground.text("out")], "commands": ["tar", "gzip"]}}),
        );
        let file = ground.text("in/my file with spaces.txt");
        let request = json!({"variables": {"trigger": {"file": {"path": file}}}});
        let running = ground.start(&id, &request);
        let card = ground.held();
        let shown = card["command"].as_str().unwrap();
        for part in ["network:  no", &ground.text("out"), "\"gzip\", \"tar\"", "#!/bin/bash", &file] {
            assert!(shown.contains(part), "the card lacks {part}: {shown}");
        }
        ground.site.cli(["approve", card["id"].as_str().unwrap()]).expect(0);
        let first: Value = serde_json::from_str(&running.join().unwrap().stdout).unwrap();
        assert_eq!((&first["success"], &first["exit_status"]), (&json!(true), &json!("success")), "{first:#}");
        assert_eq!(first["stdout"], format!("Backed up: {file}\n"));
        assert!(ground.path("out/backup.tar.gz").exists());
        for taint in ["corruption", "secret"] {
            ground.site.raise("default", taint);
            let second = ground.again(&id, &request);
            assert_eq!(second["success"], true, "{second:#}");
        }
        assert!(ground.nothing_is_held());
        let listed = ground.site.cli(["scripts", "list", "default", "--json"]).expect(0);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        let about: Value = serde_json::from_str(&ground.call(&["show", "--json", &id], &json!({})).stdout).unwrap();
        assert_eq!(listed[0]["sha256"], about["approval_hash"]);
        ground.site.cli(["audit", "verify"]).expect(0);
    }
}

#[test]
fn an_approval_outlives_the_host_and_ends_when_it_is_revoked() {
    let ground = Ground::new();
    let host = ground.site.serve();
    let id = ground.create("echo hello", &json!({}));
    assert_eq!(ground.approved(&id, &json!({}))["stdout"], "hello\n");
    drop(host);
    let _host = ground.site.serve();
    assert_eq!(ground.again(&id, &json!({}))["stdout"], "hello\n");
    let about: Value = serde_json::from_str(&ground.call(&["show", "--json", &id], &json!({})).stdout).unwrap();
    let hash = about["approval_hash"].as_str().unwrap();
    ground.site.cli(["scripts", "revoke", "default", &hash[..7]]).expect(2);
    ground.site.cli(["scripts", "revoke", "default", &hash[..8]]).expect(0);
    let output = ground.denied(&id, "not any more").1.expect(2);
    assert!(output.stdout.contains("not any more"), "{output:?}");
}

#[test]
fn whatever_changes_needs_another_approval() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        let id = ground.create("echo one", &json!({}));
        ground.approved(&id, &json!({}));
        let files = [
            ground.path("state/scripts").join(format!("{id}.sh")),
            ground.path("state/scripts").join(format!("{id}.json")),
        ];
        let asks = |what: &str| {
            assert_eq!(ground.denied(&id, "").1.code, Some(2), "{what}");
        };
        let edit = |file: &Path, from: &str, to: &str| {
            let text = fs::read_to_string(file).unwrap();
            assert!(text.contains(from), "{text}");
            fs::write(file, text.replacen(from, to, 1)).unwrap();
        };
        edit(&files[0], "one", "two");
        asks("the text");
        edit(&files[0], "two", "one");
        assert_eq!(ground.again(&id, &json!({}))["stdout"], "one\n", "it is what was approved again");
        for (from, to) in [
            ("\"network\": false", "\"network\": true"),
            ("\"commands\": []", "\"commands\": [\"ls\"]"),
            ("\"paths_write\": []", "\"paths_write\": [\"/srv\"]"),
            ("\"timeout_hard_seconds\": 1800", "\"timeout_hard_seconds\": 900"),
        ] {
            edit(&files[1], from, to);
            asks(to);
            edit(&files[1], to, from);
        }
        edit(&files[1], "\"network\"", "\"approved\": true,\n      \"network\"");
        let output = ground.start(&id, &json!({})).join().unwrap().expect(2);
        assert!(output.stdout.contains("unknown field `approved`"), "{output:?}");
    }
}

#[test]
fn what_runs_is_what_was_shown_even_when_the_file_is_swapped_meanwhile() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        let id = ground.create("echo shown", &json!({}));
        let running = ground.start(&id, &json!({}));
        let card = ground.held();
        let file = ground.path("state/scripts").join(format!("{id}.sh"));
        fs::write(&file, "echo swapped").unwrap();
        ground.site.cli(["approve", card["id"].as_str().unwrap()]).expect(0);
        let done: Value = serde_json::from_str(&running.join().unwrap().stdout).unwrap();
        assert_eq!(done["stdout"], "shown\n");
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &file).unwrap();
        let output = ground.start(&id, &json!({})).join().unwrap().expect(2);
        assert!(output.stdout.contains("is wrong"), "{output:?}");
    }
}

#[test]
fn more_than_was_approved_cannot_be_asked_for_and_nobody_runs_without_a_host() {
    let ground = Ground::new();
    let id = ground.create("echo one", &json!({}));
    let output = ground.start(&id, &json!({})).join().unwrap().expect(2);
    assert!(output.stdout.contains("no host answers"), "{output:?}");
    let _host = ground.site.serve();
    ground.approved(&id, &json!({}));
    for capabilities in [json!({"network": true}), json!({"paths_read": ["/etc"]}), json!({"commands": ["ls"]})] {
        let output = ground.start(&id, &json!({"capabilities": capabilities})).join().unwrap().expect(2);
        assert!(output.stdout.contains("more than the script's manifest"), "{output:?}");
    }
    assert!(ground.nothing_is_held());
    // Whatever an operator lets a silent host mean for commands.
    let ground = Ground::new();
    let id = ground.create("echo one", &json!({}));
    ground.site.hook_setting("when_host_silent = \"deny\"", "when_host_silent = \"allow\"");
    let output = ground.start(&id, &json!({})).join().unwrap().expect(2);
    assert!(output.stdout.contains("only a person's approval"), "{output:?}");
}

#[test]
fn a_script_with_network_is_asked_about_again_when_the_workspace_has_seen_too_much() {
    let ground = Ground::new();
    let _host = ground.site.serve();
    let id = ground.create("echo sent", &json!({"capabilities": {"network": true}}));
    ground.approved(&id, &json!({}));
    assert_eq!(ground.again(&id, &json!({}))["success"], true);
    ground.site.raise_both("default");
    let (card, output) = ground.denied(&id, "");
    assert_eq!(card["class"], "network");
    assert_eq!(output.code, Some(2));
}

#[test]
fn a_script_reaches_what_its_manifest_gives_and_nothing_else() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        fs::write(ground.path("in/a"), "given\n").unwrap();
        fs::write(ground.path("other"), "hidden\n").unwrap();
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let (input, out, other) = (ground.text("in"), ground.text("out"), ground.text("other"));
        let script = format!(
            "cat {input}/a; cat {other} && echo READ; ls /home && echo HOME; ls /etc/shadow && echo SHADOW\n\
             echo x > {out}/a && echo WROTE; echo x > {input}/b && echo CHANGED; echo x > /usr/x && echo USR; echo x > /tmp/x && echo TMP\n\
             (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo NETWORK; ls {} && echo STATE; true",
            ground.text("state")
        );
        let done = ground.once(
            &script,
            &json!({"capabilities": {"paths_read": [input], "paths_write": [out], "commands": ["cat", "ls"]}}),
        );
        assert_eq!(done["stdout"], "given\nWROTE\nTMP\n", "{done:#}");
        assert_eq!(fs::read_to_string(ground.path("out/a")).unwrap(), "x\n");
        // A secret below what is given stays hidden, and what is given must be what it was.
        let home = match who {
            Who::Root => PathBuf::from(std::env::var_os("HOME").unwrap()),
            Who::User => ground.path("home"),
        };
        let key = home.join(".ssh");
        fs::create_dir_all(&key).unwrap();
        ground.give(&key);
        let done = ground.once(
            &format!("ls -a {}", key.display()),
            &json!({"capabilities": {"paths_read": [key], "commands": ["ls"]}}),
        );
        assert!(done["error"].as_str().unwrap().contains("hides"), "{done:#}");
        fs::rename(ground.path("in"), ground.path("was")).unwrap();
        std::os::unix::fs::symlink("/etc", ground.path("in")).unwrap();
        let done = ground.once("ls", &json!({"capabilities": {"paths_read": [ground.text("in")], "commands": ["ls"]}}));
        assert!(done["error"].as_str().unwrap().contains("link"), "{done:#}");
    }
}

/// Whatever is not among the commands cannot be run: not by name, by path or by the loader, not as a copy and not from
/// memory.
#[test]
fn programs_that_are_not_listed_cannot_be_run_in_any_way() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        let own = super::compiled("memfd");
        super::install(&own, &ground.path("in/given"));
        super::install(Path::new("/usr/bin/id"), &ground.path("in/id"));
        let loader = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
        let loader = loader.into_iter().find(|path| Path::new(path).exists()).unwrap();
        let (input, out) = (ground.text("in"), ground.text("out"));
        let script = format!(
            "id && echo ID; /usr/bin/id && echo PATH; {loader} /usr/bin/id && echo LOADER\n\
             python3 -c 'print(1)' && echo PYTHON\n\
             {input}/id && echo GIVEN; {loader} {input}/id && echo LOADED; {input}/given && echo MEMORY\n\
             for to in {out} /tmp /dev/shm; do cp {input}/id $to/copy && $to/copy && echo COPIED $to; {loader} $to/copy && echo LOADED $to; done\n\
             cp /bin/ls /tmp/ls && /tmp/ls / && echo LISTED; enable -f {out}/copy x && echo ENABLED\n\
             ls / >/dev/null && echo LS; true",
        );
        let capabilities = json!({"paths_read": [input], "paths_write": [out], "commands": ["ls", "cp"]});
        let done = ground.once(&script, &json!({"capabilities": capabilities}));
        assert_eq!(done["stdout"], "LS\n", "{done:#}");
        assert!(ground.path("out/copy").exists(), "the copies were made: {done:#}");
        // The program from memory runs where programs may come from memory.
        assert_eq!(Output::of(&mut Command::new(&own), b"").stdout, "from memory\n");
    }
}

/// Every folder that a script writes is somebody's project, in whatever order a run asks for them.
#[test]
fn start_files_of_every_folder_are_protected_and_narrowing_a_run_frees_nothing() {
    let ground = Ground::new();
    let _host = ground.site.serve();
    let (out, other) = (ground.text("out"), ground.text("other"));
    for folder in [&out, &other] {
        fs::create_dir_all(folder).unwrap();
        assert!(Command::new("git").args(["init", "-q", folder]).status().unwrap().success());
        fs::create_dir_all(format!("{folder}/.vscode")).unwrap();
    }
    let script = format!(
        "for to in {out} {other}; do echo x > $to/${{g}}/hooks/pre-commit; echo x >> $to/${{g}}/config; \
         echo x > $to/${{v}}/tasks.json; echo x > $to/${{e}}rc; echo x > $to/plain; done; true"
    );
    let id =
        ground.create(&script, &json!({"variables": ["g", "v", "e"], "capabilities": {"paths_write": [out, other]}}));
    // Names that no reader of the script knows.
    let names = json!({"g": ".git", "v": ".vscode", "e": ".env"});
    let check = |done: &Value, folders: &[&String]| {
        for folder in folders {
            assert!(Path::new(&format!("{folder}/plain")).exists(), "{done:#}");
            for kept in [".git/hooks/pre-commit", ".vscode/tasks.json"] {
                assert!(!Path::new(&format!("{folder}/{kept}")).exists(), "{folder}/{kept}: {done:#}");
            }
            assert!(!fs::read_to_string(format!("{folder}/.git/config")).unwrap().contains('x'), "{done:#}");
            // What did not exist cannot be mounted over: it is reported.
            assert!(done["sandbox_violations"].to_string().contains(&format!("{folder}/.envrc")), "{done:#}");
            fs::remove_file(format!("{folder}/.envrc")).unwrap();
        }
    };
    check(&ground.approved(&id, &json!({"variables": names})), &[&out, &other]);
    let swapped = json!({"variables": names, "capabilities": {"paths_write": [other, out]}});
    check(&ground.again(&id, &swapped), &[&out, &other]);
    let one = json!({"variables": names, "capabilities": {"paths_write": [other]}});
    check(&ground.again(&id, &one), &[&other]);
    let done = ground.once("true", &json!({"capabilities": {"paths_write": [ground.text("state/scripts")]}}));
    assert!(done["error"].as_str().unwrap().contains("hides"), "{done:#}");
}

#[test]
fn the_seeds_exit_statuses_times_and_limits() {
    let ground = Ground::new();
    let _host = ground.site.serve();
    for (script, code, status) in
        [("exit 3", 3, "soft_failure"), ("exit 130", 130, "hard_failure"), ("kill -9 $$", 137, "hard_failure")]
    {
        let done = ground.once(script, &json!({}));
        assert_eq!((&done["exit_code"], &done["exit_status"]), (&json!(code), &json!(status)), "{done:#}");
        assert_eq!((&done["success"], &done["timed_out"]), (&json!(false), &json!(false)));
    }
    let done = ground.once("printf x%.0s {1..20000}; printf y%.0s {1..20000} >&2", &json!({}));
    for stream in ["stdout", "stderr"] {
        let text = done[stream].as_str().unwrap();
        assert!(text.len() < 11_000 && done[format!("{stream}_bytes")] == 20_000, "{stream}: {}", text.len());
    }
    let id =
        ground.create("echo begun; while :; do :; done", &json!({"timeout_seconds": 1, "timeout_hard_seconds": 3}));
    let running = ground.start(&id, &json!({}));
    ground.site.cli(["approve", ground.held()["id"].as_str().unwrap()]).expect(0);
    let output = running.join().unwrap();
    assert!(output.stderr.contains("has been running for 1 s"), "{output:?}");
    let done: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        (&done["timed_out"], &done["slow"], &done["stdout"]),
        (&json!(true), &json!(true), &json!("begun\n")),
        "{done:#}"
    );
}

#[test]
fn a_bomb_of_processes_or_memory_ends_with_the_script() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        let mark = super::mark();
        let bomb = format!("# {mark}\nwhile :; do (while :; do :; done) & done");
        let done = ground.once(&bomb, &json!({"timeout_seconds": 2, "timeout_hard_seconds": 2}));
        assert_eq!(done["success"], false, "{done:#}");
        assert!(super::processes_with(&mark).is_empty());
        let done =
            ground.once("x=x; while :; do x=$x$x; done", &json!({"timeout_seconds": 120, "timeout_hard_seconds": 120}));
        assert_eq!((&done["success"], &done["timed_out"]), (&json!(false), &json!(false)), "{done:#}");
    }
}

/// Values that break out of one context or another, where they can.
const VALUES: [&str; 32] = [
    "plain",
    "",
    " ",
    "two words",
    "$(touch canary)",
    "`touch canary`",
    "; touch canary",
    "\"; touch canary; \"",
    "'; touch canary; '",
    "'\"; touch canary; \"'",
    "\\",
    "\\'",
    "\\\"",
    "\\\\n",
    "line\nbreak",
    "\n",
    "trailing\n\n",
    "\r\n",
    "\t",
    "*",
    "/etc/pass*",
    "{a,b}",
    "~",
    "$HOME",
    "${PATH}",
    "$((1+1))",
    "a[$(touch canary)]",
    "E\ntouch canary\nE",
    "-n",
    "--",
    "ünïcödé \u{202e} 🦀",
    "!!",
];

#[test]
fn values_arrive_byte_for_byte_in_every_context_and_never_run() {
    for who in [Who::Root, Who::User] {
        let ground = Ground::of(who);
        let _host = ground.site.serve();
        let out = ground.text("out");
        let script = format!(
            "cd {out}\n\
             show() {{ printf '%s\\0' \"$@\"; }}\n\
             show ${{v.x}}\n\
             show \"a${{v.x}}b\"\n\
             show 'a${{v.x}}b'\n\
             show p${{v.x}}s # ${{v.x}}\n\
             copy=${{v.x}}; show \"$copy\"\n\
             list=(${{v.x}} x); show \"${{list[0]}}\"\n\
             show \"$(printf '%s.' ${{v.x}})\"\n\
             [[ ${{v.x}} == \"$copy\" ]] && show same\n\
             case ${{v.x}} in \"$copy\") show case;; esac\n\
             cat <<E\na${{v.x}}b\nE\n\
             printf '\\0'; cat <<< ${{v.x}}\ntouch made\n"
        );
        let id = ground.create(
            &script,
            &json!({"variables": ["v.x"], "capabilities": {"paths_write": [out], "commands": ["cat", "touch"]}}),
        );
        let mut runs = 0;
        for value in VALUES {
            let request = json!({"variables": {"v.x": value}});
            let done = if runs == 0 { ground.approved(&id, &request) } else { ground.again(&id, &request) };
            runs += 1;
            let want = format!(
                "{value}\0a{value}b\0a{value}b\0p{value}s\0{value}\0{value}\0{value}.\0same\0case\0a{value}b\n\0{value}\n"
            );
            // A NUL is no text that is shown.
            let shown = |text: &str| text.replace(['\0', '\u{fffd}'], "␀");
            assert_eq!(shown(done["stdout"].as_str().unwrap()), shown(&want), "{value:?}: {done:#}");
            assert!(!ground.path("out/canary").exists(), "{value:?}");
        }
        assert_eq!(runs, VALUES.len());
        assert!(ground.path("out/made").exists(), "a canary could have been made");
        let refused = ground.start(&id, &json!({"variables": {"v.x": "a\0b"}})).join().unwrap().expect(2);
        assert!(refused.stdout.contains("NUL"), "{refused:?}");
    }
}

/// The text as bash gets it, for values of any characters: each arrives byte for byte in each of six contexts, and nothing in it runs.
/// In a namespace of its own, in a folder in which any canary would lie.
#[test]
fn any_value_arrives_in_every_context_and_never_runs() {
    const CONTEXTS: usize = 6;
    let values = rounds(5_000, 100_000) / CONTEXTS + 1;
    let text = "printf '%s\\0' ${v}\nprintf '%s\\0' \"a${v}b\"\nprintf '%s\\0' 'a${v}b'\ncopy=${v}; printf '%s\\0' \"$copy\"\n\
                printf '%s\\0' \"$(printf '%s.' ${v})\"\ncat <<E\na${v}b\nE\nprintf '\\0'\n";
    let template = Template::parse(text, &["v".to_owned()]).unwrap();
    let mut dice = Dice::thrown("values of scripts");
    let mut all: Vec<String> = VALUES.iter().map(|value| (*value).to_owned()).collect();
    while all.len() < values {
        let mut value = String::new();
        for _ in 0..dice.below(40) {
            match dice.below(8) {
                0 => value.push_str(dice.pick(&VALUES)),
                1 => value.push(
                    *['\'', '"', '\\', '`', '$', '\n', '(', ')', '{', '}', '!', '*'].get(dice.below(12)).unwrap(),
                ),
                2 => value
                    .extend(u32::try_from(dice.below(0x11_0000)).ok().and_then(char::from_u32).filter(|c| *c != '\0')),
                _ => value.extend(u32::try_from(1 + dice.below(127)).ok().and_then(char::from_u32)),
            }
        }
        all.push(value);
    }
    let folder = tempfile::tempdir().unwrap();
    let (given, got) = (folder.path().join("given"), folder.path().join("got"));
    let work = folder.path().join("work");
    fs::create_dir(&work).unwrap();
    let joined: Vec<u8> = all.iter().flat_map(|value| value.bytes().chain([0])).collect();
    fs::write(&given, joined).unwrap();
    let filled = template.with(&[("v".to_owned(), String::new())].into()).unwrap();
    let carrier = filled.environment[0].0.clone();
    let driver = format!(
        "cd \"$1\" && while IFS= read -r -d '' value; do env -i LC_ALL=C.UTF-8 PATH=/usr/bin:/bin {carrier}=\"$value\" \
         /bin/bash --noprofile --norc -c \"$2\" < /dev/null; done < \"$3\" > \"$4\""
    );
    let mut command = Command::new("unshare");
    command.args(["-n", "-p", "-f", "--mount-proc", "bash", "-c", &driver, "driver"]);
    command.arg(&work).arg(filled.text).arg(&given).arg(&got);
    let output = Output::of(&mut command, b"");
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let got = fs::read(&got).unwrap();
    let mut parts = got.split(|byte| *byte == 0);
    for value in &all {
        template.with(&[("v".to_owned(), value.clone())].into()).unwrap();
        // What a substitution prints loses no end of a line here, since a full stop stands behind it.
        let want = [
            value.clone(),
            format!("a{value}b"),
            format!("a{value}b"),
            value.clone(),
            format!("{value}."),
            format!("a{value}b\n"),
        ];
        for (context, want) in want.iter().enumerate() {
            let found = parts.next().unwrap_or_default();
            assert!(found == want.as_bytes(), "{value:?} in context {context}: {:?}", String::from_utf8_lossy(found));
        }
    }
    assert_eq!(parts.next(), Some(b"".as_slice()));
    assert!(parts.next().is_none());
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0, "a canary");
}

#[test]
fn a_dry_run_shows_the_script_and_asks_nobody() {
    let ground = Ground::new();
    let id = ground.create("echo 'is ${x}'", &json!({"variables": ["x"]}));
    let done = ground.again(&id, &json!({"variables": {"x": "$(id)"}, "dry_run": true}));
    assert_eq!(done["script"], "echo 'is '\"${__bashgate_v0}\"''");
    assert_eq!(done["environment"], json!({"__bashgate_v0": "$(id)"}));
}

#[test]
fn shellcheck_cannot_be_silenced_and_comes_to_an_end() {
    let ground = Ground::new();
    fs::write(ground.site.work().join(".shellcheckrc"), "disable=all\n").unwrap();
    let look = |content: &str| -> Value {
        let output = ground.call(&["validate", "--json", "--input"], &json!({"content": content, "name": "x"}));
        serde_json::from_str(&output.stdout).unwrap()
    };
    for content in [
        "echo $x\n",
        "#!/bin/bash\n# shellcheck disable=all\necho $x\n",
        "# shellcheck source=/etc/passwd disable=SC2086\necho $x\n",
    ] {
        let found = look(content);
        assert!(found.to_string().contains("SC2086"), "{content}: {found:#}");
        assert_eq!(found.to_string().contains("silence"), content.contains("disable"), "{found:#}");
    }
    let found = look(&"echo $x\n".repeat(20_000));
    assert_eq!(found["valid"], false, "more than 64 KiB: {found:#}");
    let found = look(&"f() { a=$((b+1)); }\n".repeat(3000));
    assert!(found["findings"].as_array().is_some_and(|found| found.len() <= 101), "{found:#}");
}

#[test]
fn how_long_the_host_may_take_says_nothing_about_a_script() {
    let ground = Ground::new();
    let _host = ground.site.serve();
    let id = ground.create("sleep 20; echo done; exit 3", &json!({"capabilities": {"commands": ["sleep"]}}));
    let first = ground.start(&id, &json!({}));
    ground.site.cli(["approve", ground.held()["id"].as_str().unwrap()]).expect(0);
    ground.site.hook_setting("deadline_s = 300", "deadline_s = 1");
    let second = ground.again(&id, &json!({}));
    let first: Value = serde_json::from_str(&first.join().unwrap().stdout).unwrap();
    for outcome in [first, second] {
        assert_eq!((&outcome["exit_code"], &outcome["stdout"]), (&3.into(), &"done\n".into()), "{outcome:#}");
    }
}

/// What a script's text names lies where it runs, not where somebody calls it.
#[test]
fn a_script_is_looked_at_where_it_runs() {
    let ground = Ground::new();
    ground.site.raise_both("default");
    let _host = ground.site.serve();
    ground.site.file("c.cfg", "url = \"http://127.0.0.1:9/good\"\n");
    fs::write(ground.path("in/c.cfg"), "url = \"http://127.0.0.1:9/evil\"\n").unwrap();
    let id = ground.create(
        "sleep 0; curl -s -K c.cfg\n",
        &json!({"capabilities": {"paths_read": [ground.text("in")], "network": true, "commands": ["curl", "sleep"]},
            "working_directory": ground.text("in")}),
    );
    let running = ground.start(&id, &json!({}));
    let card = ground.held();
    let shown = ground.site.cli(["show", card["id"].as_str().unwrap()]).expect(0).stdout;
    assert!(shown.contains(&ground.text("in/c.cfg")) && !shown.contains("work/c.cfg"), "{shown}");
    // Exchanged while it is open, it does not run.
    fs::write(ground.path("in/c.cfg"), "url = \"http://127.0.0.1:9/worse\"\n").unwrap();
    ground.site.cli(["approve", card["id"].as_str().unwrap()]).expect(0);
    let output = running.join().unwrap();
    assert!(output.code != Some(0) && format!("{output:?}").contains("c.cfg"), "{output:?}");
}
