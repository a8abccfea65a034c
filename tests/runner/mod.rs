//! The sandboxed Bash tool, for real: every backend, as root and as an ordinary user.

mod acting;
pub(crate) mod cage;
mod claims;
mod escapes;
mod gate;
mod gating;
mod inward;
mod lifetime;
mod mcp;
mod mcp_clients;
mod outputs;
mod over_two_runs;
mod own_tmp;
mod script_drafts;
mod script_versions;
mod scripts;
mod seed_promises;
mod seeds;
mod sidecar;
mod up;
mod work;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bashgate_tests::{Output, bin, repository};
use serde_json::{Value, json};

/// An ordinary user.
pub const USER: u32 = 23_011;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Root,
    User,
}

/// A folder with a workspace, something outside of it, and a `runner.toml` for one backend.
pub struct Ground {
    folder: tempfile::TempDir,
    pub who: Who,
    pub backend: &'static str,
}

/// What the last arguments of a command start: another one, with its arguments and nothing but its own environment.
pub fn behind(mut before: Command, last: &Command) -> Command {
    before.arg(last.get_program()).args(last.get_args()).env_clear();
    before.envs(last.get_envs().filter_map(|(name, value)| Some((name, value?))));
    before
}

/// Who can use which backend.
pub const MATRIX: [(Who, &str); 5] = [
    (Who::Root, "bwrap"),
    (Who::User, "bwrap"),
    (Who::Root, "landlock"),
    (Who::User, "landlock"),
    (Who::User, "firejail"),
];

/// A ground for each place of the matrix, with more keys for its preset.
pub fn everywhere(more: &str) -> impl Iterator<Item = Ground> + use<'_> {
    MATRIX.into_iter().map(move |(who, backend)| Ground::new(who, backend, more))
}

/// A ground of the cage for each backend that keeps what it requires.
pub fn cages() -> impl Iterator<Item = Ground> {
    let keep = MATRIX.into_iter().filter(|(_, backend)| *backend != "firejail");
    keep.map(|(who, backend)| Ground::new(who, backend, CAGE))
}

/// What makes the preset `p` the cage.
pub const CAGE: &str = "extends = \"cage\"\n";

impl Ground {
    /// The preset `p` extends `default`, uses this backend, requires nothing, and has these lines besides.
    pub fn new(who: Who, backend: &'static str, more: &str) -> Self {
        // Not below /tmp, which a sandbox may replace.
        let folder = tempfile::Builder::new().prefix("sandbox-").tempdir_in("/srv").unwrap();
        let ground = Self { folder, who, backend };
        std::fs::set_permissions(ground.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["work", "outside", "bin", "home"] {
            std::fs::create_dir(ground.path().join(name)).unwrap();
            ground.give(&ground.path().join(name));
        }
        let driver = Path::new(env!("CARGO_BIN_EXE_runner-driver"));
        install(&bin("bashgate-run"), &ground.path().join("bin/bashgate-run"));
        install(driver, &ground.path().join("bin/runner-driver"));
        ground.presets(more);
        ground
    }

    /// Another preset `p`.
    pub fn presets(&self, more: &str) {
        let base = if more.contains("extends") { "" } else { "extends = \"default\"\n" };
        let sandbox = if more.contains("[presets.p.sandbox]") {
            String::new()
        } else {
            format!("[presets.p.sandbox]\norder = [\"{}\"]\nrequire = []\n", self.backend)
        };
        let text = format!("[presets.p]\n{base}{more}\n{sandbox}");
        std::fs::write(self.path().join("runner.toml"), text).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub fn outside(&self) -> PathBuf {
        self.path().join("outside")
    }

    /// A file of this ground's user.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.give(&path);
        self.give(path.parent().unwrap());
        path
    }

    pub fn give(&self, path: &Path) {
        if self.who == Who::User {
            std::os::unix::fs::lchown(path, Some(USER), Some(USER)).unwrap();
        }
    }

    /// A program of this ground's user, with a private home.
    pub fn as_user(&self, program: &Path) -> Command {
        let mut command = match self.who {
            Who::Root => Command::new(program),
            Who::User => {
                let mut command = Command::new("setpriv");
                if self.backend == "firejail" {
                    // Firejail wants to know its user. A table of accounts with one more, in a mount namespace of its own.
                    let accounts = self.path().join("passwd");
                    let own = format!("tester:x:{USER}:{USER}::{}:/bin/bash\n", self.path().join("home").display());
                    std::fs::write(&accounts, std::fs::read_to_string("/etc/passwd").unwrap() + &own).unwrap();
                    command = Command::new("unshare");
                    let bind = "mount --bind \"$1\" /etc/passwd && shift && exec setpriv \"$@\"";
                    command.args(["--mount", "sh", "-c", bind, "sh"]).arg(accounts);
                }
                command.args([format!("--reuid={USER}"), format!("--regid={USER}"), "--clear-groups".to_owned()]);
                command.arg(program);
                command
            }
        };
        command.env_clear().envs([("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("LANG", "C.UTF-8")]);
        command.env("HOME", self.path().join("home")).current_dir(self.path());
        command
    }

    pub fn driver(&self) -> Command {
        self.as_user(&self.path().join("bin/runner-driver"))
    }

    pub fn order(&self, command: &str) -> Value {
        json!({
            "own": self.path().join("bin/bashgate-run"), "presets": self.path().join("runner.toml"), "preset": "p",
            "command": command, "workspace": self.work(),
        })
    }

    /// Runs a command under the preset `p`.
    #[track_caller]
    pub fn run(&self, command: &str) -> Value {
        self.run_order(&self.order(command))
    }

    #[track_caller]
    pub fn run_order(&self, order: &Value) -> Value {
        self.run_with(self.driver(), order)
    }

    #[track_caller]
    pub fn run_with(&self, mut driver: Command, order: &Value) -> Value {
        let output = Output::of(&mut driver, order.to_string().as_bytes());
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}: {output:?}", self.name()))
    }

    /// Runs a script that the gate's own guards would not let pass as a command.
    #[track_caller]
    pub fn run_script(&self, text: &str) -> Value {
        self.write("work/script.sh", text);
        self.run("bash script.sh")
    }

    /// What it prints, when it ends well.
    #[track_caller]
    pub fn prints(&self, command: &str) -> String {
        let outcome = self.run(command);
        assert_eq!(outcome["exit_code"], 0, "{} {command}: {outcome:#}", self.name());
        outcome["stdout"].as_str().unwrap().to_owned()
    }

    pub fn name(&self) -> String {
        format!("{} as {:?}", self.backend, self.who)
    }
}

/// Copies a program. By another process: a descriptor of this one, open for writing, would be inherited by whatever other
/// tests start at this moment, and a program that is open for writing cannot be run.
pub fn install(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// Compiles a C program of the tests once.
pub fn compiled(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(name);
    let source = repository().join("tests/runner/programs").join(format!("{name}.c"));
    let fresh = folder.join(format!("{name}.{}", std::process::id()));
    let built = Command::new("cc").args(["-O1", "-static", "-Wall", "-o"]).arg(&fresh).arg(source).status().unwrap();
    assert!(built.success());
    std::fs::rename(&fresh, &program).unwrap();
    program
}

/// Processes whose command line holds this text.
pub fn processes_with(mark: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let own = entry.file_name().to_str() == Some(std::process::id().to_string().as_str());
        (!own).then(|| String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(mark)).collect()
}

/// A mark that no other test uses.
pub fn mark() -> String {
    format!("mark{}", uuid::Uuid::new_v4().simple())
}
