//! A folder with a host's and a hook's configuration, and the real binaries to run in it.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::SystemTime;

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::Response;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::until;

/// Where the repository lay when the tests were built.
fn built_in() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The repository's folder.
pub fn repository() -> PathBuf {
    // To a user who may not go where it lies, `tests/ordinary.sh` shows it elsewhere.
    std::env::var_os("BASHGATE_CHECKOUT").map_or_else(|| built_in().to_owned(), PathBuf::from)
}

/// A program of the tests, by the path at which it was built.
pub fn built(path: &str) -> PathBuf {
    Path::new(path).strip_prefix(built_in()).map_or_else(|_| path.into(), |rest| repository().join(rest))
}

/// The hook, as an agent would start it.
pub fn hook() -> Command {
    started("bashgate-hook")
}

/// The runner, as an agent would start it.
pub fn runner() -> Command {
    started("bashgate-run")
}

/// A program without the one variable that the test runner sets, for its own libraries.
fn started(name: &str) -> Command {
    let mut command = Command::new(bin(name));
    command.env_remove("LD_LIBRARY_PATH");
    command
}

/// A binary that `make build` or `make quick` made, of the sources as they are now.
pub fn bin(name: &str) -> PathBuf {
    let path = repository().join("target/bin").join(name);
    let made = std::fs::metadata(&path).and_then(|found| found.modified());
    let made = made.unwrap_or_else(|error| panic!("{}: {error}; run `make quick`", path.display()));
    let (source, changed) = &*NEWEST_SOURCE;
    assert!(made >= *changed, "{} is older than {}; run `make quick`", path.display(), source.display());
    path
}

/// The source of our programs that was changed last.
static NEWEST_SOURCE: LazyLock<(PathBuf, SystemTime)> = LazyLock::new(|| {
    let mut folders: Vec<PathBuf> = ["shared", "container-hook", "runner", "host", "fleet", "Cargo.lock", "Cargo.toml"]
        .map(|name| repository().join(name))
        .into();
    let mut newest = (PathBuf::new(), SystemTime::UNIX_EPOCH);
    while let Some(path) = folders.pop() {
        let found = std::fs::metadata(&path).unwrap();
        // What a failing property test leaves is no source.
        if path.ends_with("proptest-regressions") {
            continue;
        }
        if found.is_dir() {
            folders.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if found.modified().unwrap() > newest.1 {
            newest = (path, found.modified().unwrap());
        }
    }
    newest
});

/// What a process left behind.
#[derive(Debug)]
pub struct Output {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Runs a command to its end, with this on its standard input.
    pub fn of(command: &mut Command, input: &[u8]) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // A process that does not read its input closes the pipe; that is its right.
            scope.spawn(move || stdin.write_all(input));
            child.wait_with_output().unwrap()
        });
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails the test unless the exit code is this.
    #[track_caller]
    #[expect(clippy::return_self_not_must_use, reason = "the check is the point")]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// A process that ends with what holds it.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `bashgate serve`.
pub struct Host {
    /// The process.
    pub child: Child,
    /// What it has said on standard error so far.
    pub said: Arc<Mutex<String>>,
}

impl Host {
    /// Starts a host and waits until it is ready.
    pub fn start(command: &mut Command) -> Self {
        let (host, ready) = Self::try_start(command);
        assert!(ready, "the host did not get ready: {}", host.said.lock().unwrap());
        host
    }

    /// Starts a host; false when it ended before it was ready.
    pub fn try_start(command: &mut Command) -> (Self, bool) {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, receiver) = std::sync::mpsc::channel();
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if line.contains("bashgate is ready") {
                    let _ = sender.send(());
                }
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        let ready = receiver.recv_timeout(crate::PATIENCE).is_ok();
        (Self { child, said }, ready)
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end, and waits: its exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A folder made by `bashgate init`, with a working directory for the agent.
pub struct Site {
    dir: TempDir,
}

impl Default for Site {
    fn default() -> Self {
        Self::new("")
    }
}

impl Site {
    /// Makes a site whose configuration starts with these lines.
    pub fn new(config: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("bashgate-test-").tempdir().unwrap();
        let site = Self { dir };
        // Where the gate is, is noted in a home folder.
        let home = site.path().join("home-of-the-operator");
        std::fs::create_dir(&home).unwrap();
        Output::of(Command::new(bin("bashgate")).arg("init").arg(site.path()).env("HOME", &home), b"").expect(0);
        site.configure(config);
        // The home folder of whoever runs the tests is none of their business.
        site.hook_setting("startup_files = \"auto\"", "startup_files = \"never\"");
        std::fs::create_dir(site.work()).unwrap();
        site
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The agent's working directory.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Writes a file of the agent's working directory, with the folders that it lies in.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.work().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    /// The host's configuration.
    pub fn host_toml(&self) -> PathBuf {
        self.path().join("bashgate.toml")
    }

    /// The hook's configuration for the workspace `default`.
    pub fn hook_toml(&self) -> PathBuf {
        self.path().join("hook.toml")
    }

    /// A mailbox.
    pub fn mailbox(&self, workspace: &str) -> PathBuf {
        self.path().join("mailbox").join(workspace)
    }

    /// Writes the host's configuration anew.
    pub fn configure(&self, config: &str) {
        std::fs::write(self.host_toml(), format!("{config}\n[workspaces.default]\n")).unwrap();
    }

    /// Adds lines to the settings of the workspace `default`.
    pub fn workspace_setting(&self, lines: &str) {
        let text = std::fs::read_to_string(self.host_toml()).unwrap();
        std::fs::write(self.host_toml(), format!("{text}{lines}\n")).unwrap();
    }

    /// Changes a line of the hook's configuration.
    pub fn hook_setting(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.hook_toml()).unwrap();
        assert!(text.contains(from), "hook.toml has no `{from}`");
        std::fs::write(self.hook_toml(), text.replace(from, to)).unwrap();
    }

    /// Adds a workspace and a hook configuration for it: its path.
    pub fn add_workspace(&self, name: &str) -> PathBuf {
        self.cli(["workspace", "add", name]).expect(0);
        let text = std::fs::read_to_string(self.hook_toml()).unwrap();
        let path = self.path().join(format!("hook-{name}.toml"));
        let text = text.replace("workspace = \"default\"", &format!("workspace = \"{name}\""));
        std::fs::write(&path, text.replace("mailbox/default", &format!("mailbox/{name}"))).unwrap();
        path
    }

    /// A command that starts the host.
    pub fn host_command(&self) -> Command {
        let mut command = Command::new(bin("bashgate"));
        command.arg("serve").arg("--config").arg(self.host_toml()).env_remove("RUST_LOG");
        command
    }

    /// Starts the host.
    pub fn serve(&self) -> Host {
        Host::start(&mut self.host_command())
    }

    /// Runs `bashgate` with this site's configuration.
    pub fn cli<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        let mut command = Command::new(bin("bashgate"));
        command.args(args).arg("--config").arg(self.host_toml());
        Output::of(&mut command, b"")
    }

    /// A hook's configuration without a mailbox, so that the hook need not wait to hear that no host is there.
    pub fn hook_toml_alone(&self) -> PathBuf {
        let alone = self.path().join("alone.toml");
        let config = std::fs::read_to_string(self.hook_toml()).unwrap();
        let nowhere =
            |line| if str::starts_with(line, "mailbox = ") { "mailbox = \"/nonexistent/mailbox\"" } else { line };
        let config: Vec<&str> = config.lines().map(nowhere).collect();
        std::fs::write(&alone, config.join("\n")).unwrap();
        alone
    }

    /// A command that runs the hook with a configuration, in the agent's working directory.
    pub fn hook_command(&self, config: &Path) -> Command {
        let mut command = hook();
        command.arg("--config").arg(config).current_dir(self.work());
        command
    }

    /// Checks a command in the workspace `default`.
    pub fn check(&self, command: &str) -> Output {
        self.check_with(&self.hook_toml(), command)
    }

    /// Checks a command with a hook configuration.
    pub fn check_with(&self, config: &Path, command: &str) -> Output {
        Output::of(self.hook_command(config).args(["check", "--", command]), b"")
    }

    /// Checks a command in the background.
    pub fn check_later(&self, command: &str) -> std::thread::JoinHandle<Output> {
        let mut hook = self.hook_command(&self.hook_toml());
        hook.args(["check", "--", command]);
        std::thread::spawn(move || Output::of(&mut hook, b""))
    }

    /// Sends an event of Claude Code's form to the hook.
    pub fn event(&self, tool: &str, input: &Value) -> Output {
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.work(), "tool_name": tool, "tool_input": input});
        Output::of(&mut self.hook_command(&self.hook_toml()), event.to_string().as_bytes())
    }

    /// Raises a taint.
    pub fn raise(&self, workspace: &str, label: &str) {
        self.cli(["taint", "raise", workspace, label, "--why", "a test"]).expect(0);
    }

    /// Raises both.
    pub fn raise_both(&self, workspace: &str) {
        for label in ["corruption", "secret"] {
            self.raise(workspace, label);
        }
    }

    /// A workspace's taint.
    pub fn taint(&self, workspace: &str) -> String {
        let shown = self.cli(["taint", "show", workspace, "--json"]).expect(0);
        serde_json::from_str::<Value>(&shown.stdout).unwrap()["taint"].as_str().unwrap().to_owned()
    }

    /// What is held.
    pub fn pending(&self) -> Vec<Value> {
        let listed = self.cli(["pending", "--json"]).expect(0);
        serde_json::from_str(&listed.stdout).unwrap()
    }

    /// Waits until a command is held: its approval's id.
    pub fn held(&self, command: &str) -> String {
        until(&format!("`{command}` to be held"), || {
            let pending = self.pending();
            let found = pending.iter().find(|card| card["command"] == command)?;
            Some(found["id"].as_str()?.to_owned())
        })
    }

    /// Waits until something is held, or whoever may ask has ended: its approval's id, if it is held.
    pub fn held_or_ended<T>(&self, asking: &std::thread::JoinHandle<T>) -> Option<String> {
        until("a card, or the end", || {
            let held = self.pending().first().map(|card| card["id"].as_str().unwrap().to_owned());
            held.map(Some).or_else(|| asking.is_finished().then_some(None))
        })
    }

    /// Lets other users in, as the mounts of a container would: to the working directory, and through to the mailbox.
    pub fn lets_others_in(&self) {
        for (path, mode) in
            [(self.path().to_owned(), 0o755), (self.work(), 0o755), (self.path().join("mailbox"), 0o711)]
        {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
    }

    /// Sends an event to the hook in the background, and waits until it is held: its approval's id.
    pub fn held_by(&self, config: &Path, event: &Value) -> String {
        let before: Vec<Value> = self.pending().iter().map(|card| card["id"].clone()).collect();
        let mut hook = self.hook_command(config);
        let bytes = event.to_string().into_bytes();
        std::thread::spawn(move || Output::of(&mut hook, &bytes));
        until(&format!("{event} to be held"), || {
            let pending = self.pending();
            let found = pending.iter().find(|card| !before.contains(&card["id"]))?;
            Some(found["id"].as_str()?.to_owned())
        })
    }

    /// Every record of the audit.
    pub fn audit(&self) -> Vec<Value> {
        let exported = self.cli(["audit", "export"]).expect(0);
        exported.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Writes a request by hand, as any client may: its id and the digest of its bytes.
    pub fn post(&self, workspace: &str, request: &Value) -> (String, Digest) {
        let id = request["request_id"].as_str().unwrap().to_owned();
        let bytes = request.to_string().into_bytes();
        self.post_bytes(workspace, &id, &bytes);
        (id, Digest::of(&bytes))
    }

    /// Writes these bytes as a request of this id.
    pub fn post_bytes(&self, workspace: &str, id: &str, bytes: &[u8]) {
        let folder = self.mailbox(workspace).join("requests");
        let temporary = folder.join(format!(".{id}.tmp"));
        std::fs::write(&temporary, bytes).unwrap();
        std::fs::rename(temporary, folder.join(format!("{id}.json"))).unwrap();
    }

    /// The response to a request, if it is there.
    pub fn response(&self, workspace: &str, id: &str) -> Option<Response> {
        let bytes = std::fs::read(self.mailbox(workspace).join("responses").join(format!("{id}.json"))).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// Asks with the three fields of the first protocol and waits for the response.
    pub fn ask(&self, workspace: &str, command: &str) -> Response {
        let id = uuid::Uuid::new_v4().to_string();
        self.post(workspace, &json!({"type": "security:bash_check", "request_id": id, "command": command}));
        until("a response", || self.response(workspace, &id))
    }
}
