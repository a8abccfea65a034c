//! `bashgate up` and `bashgate down`.

use std::io::IsTerminal as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bashgate_shared::agents::{self, AgentRow};
use bashgate_shared::mailbox;
use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::shell::quoted;
use bashgate_shared::{say, say_aside};
use clap::Args;

use super::{Failure, Run, init, people};
use crate::config::{Config, ConfigError};
use crate::control::ControlCommand;
use crate::registered;
use crate::up::acting::{self, Acting};
use crate::up::plan::{self, Mount, Plan};
use crate::up::runtime::Runtime;
use crate::up::sidecar;

/// Words for `bashgate up`.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for an option of the command line")]
pub(super) struct Up {
    /// The agent: claude, codex, gemini, copilot, opencode
    agent: String,
    /// The project
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Only print the command that starts the container; nothing is made
    #[arg(long)]
    print: bool,
    /// The image; without it one with the agent is built once
    #[arg(long)]
    image: Option<String>,
    /// What logs the agent in: a variable, by its name, or a file, which is copied into the agent's home folder [default: the
    /// agent's usual variables that are set]
    #[arg(long, value_name = "VARIABLE|FILE")]
    login: Vec<String>,
    /// Hand over a variable, by its name
    #[arg(long, value_name = "VARIABLE")]
    env: Vec<String>,
    /// podman or docker [default: whichever is there]
    #[arg(long, value_name = "PROGRAM")]
    runtime: Option<String>,
    /// The container's network [default: the runtime's own]
    #[arg(long)]
    network: Option<String>,
    /// Ask about what is unknown instead of running it without network
    #[arg(long)]
    no_cage: bool,
    /// Move what came or changed since the last time, and acts later, out of the project first
    #[arg(long)]
    set_aside: bool,
    /// Do not run the agent but look whether it would be gated
    #[arg(long)]
    doctor: bool,
    #[command(flatten)]
    config: super::ConfigFile,
    /// Words for the agent
    #[arg(last = true)]
    words: Vec<String>,
}

/// Words for `bashgate down`.
#[derive(Args)]
pub(super) struct Down {
    /// The project
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Move what came or changed, and acts later, out of the project
    #[arg(long)]
    set_aside: bool,
    /// podman or docker [default: whichever is there]
    #[arg(long, value_name = "PROGRAM")]
    runtime: Option<String>,
    #[command(flatten)]
    config: super::ConfigFile,
}

/// A project and the gate that it is behind.
struct Place {
    project: PathBuf,
    workspace: WorkspaceName,
    config: Config,
    /// The gate's folder.
    gate: PathBuf,
}

impl Place {
    fn of(dir: &Path, config: Config) -> Result<Self, Failure> {
        let project = dir.canonicalize().map_err(|error| {
            Failure::failed(format!("there is no project at {}: {error}", dir.display()), "name the project's folder")
        })?;
        if !project.is_dir() {
            return Err(Failure::Usage(format!("{} is no folder", project.display())));
        }
        let gate = config.file.parent().unwrap_or(Path::new("/")).to_owned();
        let gate = gate.canonicalize().unwrap_or(gate);
        let home = std::env::var_os("HOME").map(PathBuf::from);
        if let Some(why) = plan::unfit(&project, home.as_deref(), &gate) {
            return Err(Failure::Refused(format!("{} cannot be an agent's project: {why}", project.display())));
        }
        let workspace = plan::workspace_of(&project)
            .ok_or_else(|| Failure::Usage(format!("{} gives no name for a workspace", project.display())))?;
        Ok(Self { project, workspace, config, gate })
    }

    /// A file of this workspace's in the gate's folder.
    fn own(&self, name: &str) -> PathBuf {
        self.gate.join("agents").join(self.workspace.as_str()).join(name)
    }

    /// Says what came or changed since the container was started, and moves it out of the project where that is wanted.
    fn look_back(&self, aside: bool) -> Result<(), Failure> {
        let Some(before) = std::fs::read(self.own("acting.json")).ok() else { return Ok(()) };
        let Ok(before) = serde_json::from_slice::<Acting>(&before) else { return Ok(()) };
        let changed = acting::changes(&before, &acting::look(&self.project).0);
        if changed.is_empty() {
            return Ok(());
        }
        if aside {
            let to = self.own("aside").join(crate::clock::now().unix_ms.to_string());
            acting::set_aside(&self.project, &changed, &to).map_err(|error| {
                Failure::failed(format!("cannot set it aside: {error}"), "move it by hand; see below")
            })?;
            say_aside!("Set aside into {}:", to.display());
        } else {
            say_aside!("These came or changed while an agent worked here, and act later, outside of its container:");
        }
        for path in changed.iter().take(50) {
            say_aside!("  {}", path.display().to_string().escape_debug());
        }
        if changed.len() > 50 {
            say_aside!("  … and {} more", changed.len() - 50);
        }
        if !aside {
            say_aside!(
                "Look at them before you use git, an editor or a shell here; --set-aside moves them out of the project."
            );
        }
        Ok(())
    }
}

pub(super) fn down(words: &Down) -> Run {
    let place = Place::of(&words.dir, words.config.load()?)?;
    let runtime = Runtime::find(words.runtime.as_deref()).map_err(|error| Failure::of(&error, error.help()))?;
    let name = plan::container(&place.workspace);
    match runtime.ask("stopping the container", &["stop", &name]) {
        Ok(_) => say!("Stopped {name}."),
        Err(_) => say!("{name} does not run."),
    }
    place.look_back(words.set_aside)
}

pub(super) fn up(words: &Up) -> Run {
    let agent = agents::named(&words.agent).ok_or_else(|| {
        Failure::Usage(format!("there is no agent `{}`; known are: {}", words.agent, agents::names()))
    })?;
    if words.network.as_deref().is_some_and(|network| network.starts_with("host") || network.starts_with("container:"))
    {
        return Err(Failure::Refused(
            "a container on somebody else's network reaches what is open only there; choose another --network"
                .to_owned(),
        ));
    }
    let runtime = Runtime::find(words.runtime.as_deref()).map_err(|error| Failure::of(&error, error.help()))?;
    let config = config(words)?;
    let place = Place::of(&words.dir, config)?;
    let image = words
        .image
        .clone()
        .unwrap_or_else(|| format!("localhost/bashgate-{}:{}", agent.name, env!("CARGO_PKG_VERSION")));
    let caged = agent.rewrites && !words.no_cage;
    let (hook, runner) = (beside("bashgate-hook")?, beside("bashgate-run")?);
    let user = user_of(&place.project);
    if !words.print {
        place.look_back(words.set_aside)?;
        make(&place, agent, &hook, caged, user)?;
        login(&place, agent, &words.login, user)?;
        if words.image.is_none() && !runtime.has_image(&image) {
            say_aside!("Building {image} with {} (once)…", agent.packaged.npm);
            runtime.build(agent, &image).map_err(|error| Failure::of(&error, error.help()))?;
        }
    }
    let (acting, whole) = acting::look(&place.project);
    let plan = plan_of(words, &place, agent, &image, (&hook, &runner), &acting, user, &runtime)?;
    let words_of = plan.words();
    if words.print {
        let line = std::iter::once(runtime.program.display().to_string()).chain(words_of);
        say!("{}", line.map(|word| quoted(&word)).collect::<Vec<_>>().join(" "));
        return Ok(());
    }
    save(&place, &acting)?;
    tell(&place, words, caged, whole);
    let code = runtime.run(&words_of).map_err(|error| Failure::of(&error, error.help()))?;
    place.look_back(false)?;
    match code {
        0 => Ok(()),
        // The agent's own.
        code => std::process::exit(code),
    }
}

/// The configuration in use; where there is none, it is made.
fn config(words: &Up) -> Result<Config, Failure> {
    match Config::find(words.config.config.as_deref()) {
        Err(ConfigError::None { tried }) if words.config.config.is_none() => {
            let gate = registered::folder()
                .ok_or_else(|| Failure::failed("HOME is not set", "set it, or name a configuration with --config"))?;
            if words.print {
                return Err(ConfigError::None { tried }.into());
            }
            let made = init::make(&gate, &init::host_toml())?;
            std::fs::set_permissions(&gate, std::fs::Permissions::from_mode(0o700))
                .map_err(|error| Failure::failed(error, "check the folder's owner"))?;
            say_aside!("Made a gate in {}.", gate.display());
            Ok(Config::load(&made.host)?)
        }
        found => Ok(found?),
    }
}

/// A program that was built with this one.
fn beside(name: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).unwrap_or_default();
    let path = own.with_file_name(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(Failure::failed(
            format!("there is no {} beside this program", path.display()),
            "install all three programs into one folder",
        ))
    }
}

/// Who the agent is: the caller, or, where root calls, the project's owner, never root.
fn user_of(project: &Path) -> (u32, u32) {
    let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if own.0 != 0 {
        return own;
    }
    match std::fs::metadata(project) {
        Ok(meta) if meta.uid() != 0 => (meta.uid(), meta.gid()),
        _ => (1000, 1000),
    }
}

/// Makes what the container needs: the workspace with its host, the hook's configuration, the agent's settings and home.
fn make(place: &Place, agent: &'static AgentRow, hook: &Path, caged: bool, user: (u32, u32)) -> Run {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| {
            Failure::failed(format!("cannot make {}: {error}", path.display()), "check the gate's folder")
        }
    };
    let running = sidecar::is_running(&place.config).map_err(|error| Failure::of(&error, error.help()))?;
    if caged {
        cage(place, agent, running)?;
    }
    let started = sidecar::ensure(&place.config).map_err(|error| Failure::of(&error, error.help()))?;
    if started {
        say_aside!("Started the host; it says what it does in {}.", sidecar::log_file(&place.config).display());
    }
    let add = ControlCommand::WorkspaceAdd { workspace: place.workspace.to_string() };
    let reply = people::ask(&place.config, add)?;
    if !reply.ok {
        return Err(Failure::Refused(reply.text));
    }
    let folder = place.own("");
    std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let home = place.own("home");
    std::fs::create_dir_all(&home).map_err(failed(&home))?;
    give(&home, user);
    let hook_toml = place.own("hook.toml");
    let mut text = init::hook_toml(&place.workspace, &people::public_key(&place.config)?);
    if caged {
        text = text.replace("on_allow = \"silent\"", "on_allow = \"approve\"");
    }
    std::fs::write(&hook_toml, text).map_err(failed(&hook_toml))?;
    // The mounts are of the files themselves; whoever the agent is can read them.
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644));
    open(&hook_toml).map_err(failed(&hook_toml))?;
    let Some((scope, _)) = plan::settings(agent) else {
        return Err(Failure::Refused(format!("{} has no settings that could be mounted", agent.title)));
    };
    let settings = place.own(&settings_name(agent));
    let inside = Path::new(plan::BINARIES).join("bashgate-hook");
    let output = Command::new(hook)
        .args(["install", "--agent", agent.name, "--scope", scope.name(), "--timeout", "330", "--file"])
        .arg(&settings)
        .arg("--hook")
        .arg(inside)
        .stdin(Stdio::null())
        .output()
        .map_err(failed(&settings))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::failed(
            format!("cannot write the agent's settings: {said}"),
            "remove the file, then run this again",
        ));
    }
    open(&settings).map_err(failed(&settings))
}

fn settings_name(agent: &AgentRow) -> String {
    let file = plan::settings(agent).map(|(_, path)| path);
    let name = file.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    format!("{}-{name}", agent.name)
}

/// Lets what is unknown run in the cage, in this workspace, and lets the agent reach its model.
fn cage(place: &Place, agent: &AgentRow, running: bool) -> Run {
    if place.config.workspaces.contains_key(&place.workspace) {
        return Ok(());
    }
    let failed = |error: std::io::Error| {
        Failure::failed(
            format!("cannot write {}: {error}", place.config.file.display()),
            "check its owner, or use --no-cage",
        )
    };
    let mut text = std::fs::read_to_string(&place.config.file).map_err(failed)?;
    text.push_str(&format!("\n[workspaces.{}]\non_inspect = \"cage\"\non_ask = \"cage\"\n", place.workspace));
    if let Some(egress) = &place.config.egress {
        text.push_str(&if egress.asks_for(agent.packaged.hosts) {
            "# The host asks the agent's model for it; add what its work needs.\negress = []\n".to_owned()
        } else {
            let hosts = agent.packaged.hosts;
            format!("# What the agent itself needs; add what its work needs.\negress = {hosts:?}\n")
        });
    }
    Config::parse(&text, &place.config.file)?;
    let temporary = place.config.file.with_extension("toml.new");
    std::fs::write(&temporary, &text).map_err(failed)?;
    std::fs::rename(&temporary, &place.config.file).map_err(failed)?;
    if running {
        say_aside!(
            "The host that runs has read its configuration before; what was added for this workspace counts when you start it again."
        );
    }
    Ok(())
}

/// Root makes things for whoever the agent is.
fn give(path: &Path, (user, group): (u32, u32)) {
    if rustix::process::geteuid().is_root() {
        let _ = std::os::unix::fs::lchown(path, Some(user), Some(group));
    }
}

/// Copies the files that log the agent in into its home folder.
fn login(place: &Place, agent: &AgentRow, named: &[String], user: (u32, u32)) -> Run {
    for file in named.iter().filter(|name| !is_variable(name)) {
        let Some(target) = agent.packaged.login else {
            return Err(Failure::Usage(format!(
                "{} is logged in by variables alone: {}",
                agent.title,
                agent.packaged.variables.join(", ")
            )));
        };
        let target = place.own("home").join(target);
        let failed = |error: std::io::Error| {
            Failure::failed(format!("cannot copy {file}: {error}"), "name the file that logs the agent in")
        };
        let folder = target.parent().unwrap_or(&target);
        std::fs::create_dir_all(folder).map_err(failed)?;
        std::fs::copy(file, &target).map_err(failed)?;
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        for path in [folder, &target] {
            give(path, user);
        }
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[expect(clippy::too_many_arguments, reason = "what a plan is made of")]
fn plan_of<'p>(
    words: &'p Up,
    place: &'p Place,
    agent: &'static AgentRow,
    image: &'p str,
    (hook, runner): (&Path, &Path),
    acting: &Acting,
    user: (u32, u32),
    runtime: &Runtime,
) -> Result<Plan<'p>, Failure> {
    let mut mounts = plan::gate(&place.own("hook.toml"), hook, runner, &place.config.mailboxes, &place.workspace);
    mounts.push(Mount::open(place.own("home"), plan::HOME));
    if let Some((_, inside)) = plan::settings(agent) {
        mounts.push(Mount::fixed(place.own(&settings_name(agent)), inside));
    }
    let fixed = acting::mounts(&place.project, acting);
    if fixed.len() > acting::MAX_MOUNTS {
        let why = format!("{} files and folders in it act later, more than can be mounted", fixed.len());
        return Err(Failure::Refused(why));
    }
    // What leads out is the host's. The folder is mounted: another host makes another socket in it.
    let leads_out = place.config.egress.as_ref().filter(|_| words.network.is_none());
    if let Some(egress) = leads_out {
        mounts.push(Mount::fixed(egress.folder.join(place.workspace.as_str()), mailbox::EGRESS));
    }
    mounts.extend(fixed.iter().map(|path| place.project.join(path)).map(|path| Mount::fixed(path.clone(), path)));
    let mut variables: Vec<String> = words.env.clone();
    // Where the host asks its model, it needs no key.
    if words.login.is_empty() && !leads_out.is_some_and(|egress| egress.asks_for(agent.packaged.hosts)) {
        let is_set = |name: &&&str| std::env::var_os(name).is_some();
        variables.extend(agent.packaged.variables.iter().filter(is_set).map(|name| (*name).to_owned()));
    }
    variables.extend(words.login.iter().filter(|name| is_variable(name)).cloned());
    if let Some(odd) = variables.iter().find(|name| !is_variable(name)) {
        return Err(Failure::Usage(format!("`{odd}` is no variable's name; its value is taken from here")));
    }
    let command: Vec<String> = if words.doctor {
        ["bashgate-hook", "doctor", "--agent", agent.name].map(str::to_owned).into()
    } else {
        let through = leads_out.map(|_| ["bashgate-run", "egress", "--"].map(str::to_owned));
        let program = std::iter::once(agent.packaged.program.to_owned());
        through.into_iter().flatten().chain(program).chain(words.words.iter().cloned()).collect()
    };
    Ok(Plan {
        agent,
        workspace: &place.workspace,
        project: &place.project,
        image,
        mounts,
        variables,
        user,
        keep_id: runtime.is_podman && !rustix::process::geteuid().is_root(),
        network: words.network.as_deref().or(leads_out.map(|_| "none")),
        init: runtime.has_init(),
        terminal: std::io::stdin().is_terminal() && std::io::stdout().is_terminal(),
        selinux: Path::new("/sys/fs/selinux/enforce").exists(),
        command,
    })
}

/// Keeps what acts later as it is now.
fn save(place: &Place, acting: &Acting) -> Run {
    let file = place.own("acting.json");
    let text = serde_json::to_vec(acting).unwrap_or_default();
    std::fs::write(&file, text)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", file.display()), "check the disk"))
}

fn tell(place: &Place, words: &Up, caged: bool, whole: bool) {
    let network = words.network.as_deref();
    say_aside!("{} works in {} as workspace {}.", words.agent, place.project.display(), place.workspace);
    if caged {
        say_aside!("What is unknown runs without network instead of being asked about (--no-cage).");
    }
    if network.is_none() && place.config.egress.is_some() {
        say_aside!(
            "It has no network but through the host, to the hosts of its list: `egress` under [workspaces.{}] in {}, `bashgate egress tail`.",
            place.workspace,
            place.config.file.display()
        );
    } else if network != Some("none") {
        say_aside!(
            "The network is open: a process outside of the agent's tool calls is not stopped by a hook (docs/threat-model.md)."
        );
    }
    if !whole {
        say_aside!(
            "The project has more names than were looked through: some of what acts later may not be mounted read-only."
        );
    }
    say_aside!("Answer what is held in another terminal: bashgate pending, bashgate approve ID, bashgate deny ID");
}
