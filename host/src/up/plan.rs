//! With which arguments a container starts. Pure: paths in, words out.

use std::path::{Path, PathBuf};

use bashgate_shared::agents::{AgentRow, Scope};
use bashgate_shared::command::Digest;
use bashgate_shared::mailbox;
use bashgate_shared::protocol::WorkspaceName;

/// The agent's home folder in the container.
pub const HOME: &str = "/home/agent";
/// Where hook and runner lie in the container: where every document says they do.
pub const BINARIES: &str = "/usr/local/bin";
/// The gate's folder in the container.
pub const GATE: &str = "/etc/bashgate";

/// A folder or a file of this machine in the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// On this machine.
    pub from: PathBuf,
    /// In the container.
    pub to: PathBuf,
    /// The container cannot change it.
    pub read_only: bool,
}

impl Mount {
    /// One that the container cannot change.
    pub fn fixed(from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Self {
        Self { from: from.into(), to: to.into(), read_only: true }
    }

    /// One that it can.
    pub fn open(from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Self {
        Self { from: from.into(), to: to.into(), read_only: false }
    }

    fn word(&self) -> String {
        let mode = if self.read_only { ":ro" } else { "" };
        format!("{}:{}{mode}", self.from.display(), self.to.display())
    }
}

/// Everything that is known about a container before it starts.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that the machine has or has not")]
pub struct Plan<'p> {
    /// The agent.
    pub agent: &'static AgentRow,
    /// Its workspace.
    pub workspace: &'p WorkspaceName,
    /// The project, absolute and without links. It has the same path inside.
    pub project: &'p Path,
    /// The image.
    pub image: &'p str,
    /// The mounts besides the project, in their order.
    pub mounts: Vec<Mount>,
    /// Variables that are handed over by their names.
    pub variables: Vec<String>,
    /// Who the agent is in the container.
    pub user: (u32, u32),
    /// The runtime maps the caller to that user.
    pub keep_id: bool,
    /// The container's network, where it is not the runtime's own choice.
    pub network: Option<&'p str>,
    /// The runtime has a first process of its own that collects what others leave.
    pub init: bool,
    /// There is a terminal.
    pub terminal: bool,
    /// `SELinux` is in force, and would keep the container from the mounts.
    pub selinux: bool,
    /// What runs, the program first.
    pub command: Vec<String>,
}

impl Plan<'_> {
    /// The words after the runtime's name.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = ["run", "--rm", "--interactive"].map(str::to_owned).into();
        let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        if self.init {
            add(&["--init"]);
        }
        if self.terminal {
            add(&["--tty"]);
        }
        add(&["--name", &container(self.workspace), "--hostname", self.workspace.as_str()]);
        // Rights that nobody who writes programs needs, and a way back to none of them.
        add(&["--cap-drop", "all", "--security-opt", "no-new-privileges", "--pids-limit", "4096"]);
        if self.selinux {
            add(&["--security-opt", "label=disable"]);
        }
        if self.keep_id {
            add(&["--userns", "keep-id"]);
        }
        add(&["--user", &format!("{}:{}", self.user.0, self.user.1)]);
        if let Some(network) = self.network {
            add(&["--network", network]);
        }
        add(&["--env", &format!("HOME={HOME}"), "--env", "SHELL=/bin/bash"]);
        for name in &self.variables {
            add(&["--env", name]);
        }
        add(&["--workdir", &self.project.display().to_string()]);
        let project = Mount::open(self.project, self.project);
        for mount in std::iter::once(&project).chain(&self.mounts) {
            add(&["--volume", &mount.word()]);
        }
        add(&[self.image]);
        words.extend(self.command.iter().cloned());
        words
    }
}

/// The container's name.
pub fn container(workspace: &WorkspaceName) -> String {
    format!("bashgate-{workspace}")
}

/// The mounts of the gate itself: configuration, programs, mailbox.
pub fn gate(hook_toml: &Path, hook: &Path, runner: &Path, mailboxes: &Path, workspace: &WorkspaceName) -> Vec<Mount> {
    let inside = Path::new(GATE).join("mailbox").join(workspace.as_str());
    let own = mailboxes.join(workspace.as_str());
    vec![
        Mount::fixed(hook_toml, Path::new(GATE).join("hook.toml")),
        Mount::fixed(hook, Path::new(BINARIES).join("bashgate-hook")),
        Mount::fixed(runner, Path::new(BINARIES).join("bashgate-run")),
        Mount::open(own.join(mailbox::REQUESTS), inside.join(mailbox::REQUESTS)),
        Mount::fixed(own.join(mailbox::RESPONSES), inside.join(mailbox::RESPONSES)),
    ]
}

/// For whom the settings count that gate an agent in a container, and where they lie there: the machine's, which nobody in it
/// can change, or else the agent's own, mounted read-only.
pub fn settings(agent: &AgentRow) -> Option<(Scope, PathBuf)> {
    let of = |scope: Scope| agent.places.iter().find(|place| place.scope == scope);
    let place = of(Scope::Managed).or_else(|| of(Scope::User))?;
    Some((place.scope, Path::new(HOME).join(place.folder).join(place.file)))
}

/// The name of a project's workspace: its folder's, and enough of its path's digest to tell it from others.
pub fn workspace_of(project: &Path) -> Option<WorkspaceName> {
    let name = project.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let digest: String = Digest::of(project.as_os_str().as_encoded_bytes()).hex().chars().take(8).collect();
    WorkspaceName::parse(format!("{}-{digest}", plain.trim_matches('-')).trim_start_matches('-'))
}

/// Why a folder is no project for an agent, if it is none.
pub fn unfit(project: &Path, home: Option<&Path>, gate: &Path) -> Option<String> {
    let holds = |inner: &Path| inner.starts_with(project);
    if project == Path::new("/") || home.is_some_and(holds) {
        return Some("it holds a whole home folder, with all that logs you in".to_owned());
    }
    if holds(gate) || project.starts_with(gate) {
        return Some("it holds the gate itself, or lies in it".to_owned());
    }
    // What the container has of its own lies there.
    let own = ["/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/sys", "/dev", "/run", "/var/run", "/boot"];
    let is_system = own.iter().any(|folder| project.starts_with(folder));
    if is_system || project.starts_with(HOME) || Path::new(HOME).starts_with(project) {
        return Some("the container has folders of its own there".to_owned());
    }
    // The runtime takes them apart there.
    let is_odd = project.to_str().is_none_or(|path| path.contains([':', '\n']));
    is_odd.then(|| "its name has a colon or a line's end, or is no UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashgate_shared::agents;

    #[test]
    fn a_container_has_no_more_than_it_must() {
        let workspace = WorkspaceName::parse("w").unwrap();
        let plan = Plan {
            agent: agents::named("claude").unwrap(),
            workspace: &workspace,
            project: Path::new("/home/u/p"),
            image: "image",
            mounts: gate(
                Path::new("/g/hook.toml"),
                Path::new("/b/h"),
                Path::new("/b/r"),
                Path::new("/g/mailbox"),
                &workspace,
            ),
            variables: vec!["ANTHROPIC_API_KEY".to_owned()],
            user: (1000, 1000),
            keep_id: true,
            network: None,
            init: true,
            terminal: false,
            selinux: false,
            command: vec!["claude".to_owned(), "-p".to_owned(), "a b".to_owned()],
        };
        let words = plan.words().join(" ");
        for part in [
            "--cap-drop all",
            "no-new-privileges",
            "--user 1000:1000",
            "--env ANTHROPIC_API_KEY --workdir",
            "/g/hook.toml:/etc/bashgate/hook.toml:ro",
            "/b/h:/usr/local/bin/bashgate-hook:ro",
            "/g/mailbox/w/requests:/etc/bashgate/mailbox/w/requests --volume",
            "/g/mailbox/w/responses:/etc/bashgate/mailbox/w/responses:ro",
            "--volume /home/u/p:/home/u/p ",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(words.ends_with("image claude -p a b"));
        for never in ["privileged", "docker.sock", "podman.sock", "--network", "cap-add", "--pid "] {
            assert!(!words.contains(never), "{never}: {words}");
        }
    }

    #[test]
    fn every_project_has_a_workspace_of_its_own() {
        let name = |path: &str| workspace_of(Path::new(path)).unwrap().to_string();
        assert!(name("/home/u/My App").starts_with("my-app-"));
        assert_ne!(name("/home/u/app"), name("/home/v/app"));
        assert_eq!(name("/home/u/app"), name("/home/u/app"));
        for odd in ["/", "/home/u/---", "/home/u/ä", &format!("/{}", "x".repeat(200)), "/a/.b"] {
            assert!(workspace_of(Path::new(odd)).is_some(), "{odd}");
        }
    }

    #[test]
    fn folders_that_are_no_projects() {
        let unfit =
            |path: &str| unfit(Path::new(path), Some(Path::new("/home/u")), Path::new("/home/u/.config/bashgate"));
        for path in [
            "/",
            "/home",
            "/home/u",
            "/home/u/.config",
            "/home/u/.config/bashgate",
            "/home/u/.config/bashgate/x",
            "/etc",
            "/usr/src/x",
            "/home/agent/x",
            "/home/u/a:b",
        ] {
            assert!(unfit(path).is_some(), "{path}");
        }
        for path in ["/home/u/app", "/srv/app", "/home/u/.config/app", "/tmp/x"] {
            assert!(unfit(path).is_none(), "{path}: {:?}", unfit(path));
        }
    }

    #[test]
    fn settings_lie_where_the_agent_cannot_change_them() {
        for agent in agents::AGENTS {
            let (scope, path) = settings(agent).unwrap();
            assert!(path.starts_with("/etc") || scope == Scope::User && path.starts_with(HOME), "{path:?}");
        }
        assert_eq!(
            settings(agents::named("claude").unwrap()).unwrap().1,
            Path::new("/etc/claude-code/managed-settings.json")
        );
        assert_eq!(
            settings(agents::named("copilot").unwrap()).unwrap().1,
            Path::new("/home/agent/.copilot/hooks/bashgate.json")
        );
    }
}
