//! The commands that people type: `install`, `uninstall` and `doctor`. Nothing here decides about a tool.

use std::path::{Path, PathBuf};

use bashgate_shared::agents::{AgentRow, Scope, SettingsForm};
use bashgate_shared::{say, say_aside};

use crate::agents::Agent;
use crate::doctor;
use crate::gate::config::{self, Config};
use crate::install::{self, Done, InstallError, Wanted};

/// How much longer the agent waits for the hook than the hook for the host, in seconds.
pub const SPARE_S: u64 = 30;

/// Their names.
pub const NAMES: &[&str] = &["install", "uninstall", "doctor"];

/// What was asked for.
#[expect(clippy::struct_excessive_bools, reason = "each is an option on the command line")]
struct Asked {
    agent: Option<&'static AgentRow>,
    scope: Scope,
    config: PathBuf,
    hook: PathBuf,
    project: PathBuf,
    file: Option<PathBuf>,
    timeout_s: Option<u64>,
    dry_run: bool,
    deny_webfetch: bool,
    keep_mcp: bool,
    json: bool,
}

/// Does what the words after the program's name say: true when it is done and nothing is wrong.
pub fn run(name: &str, args: &[String]) -> Result<bool, String> {
    let asked = read(name, args)?;
    if name == "doctor" {
        let report = doctor::look(&asked.config, &asked.project, asked.agent);
        for line in report.lines(asked.json) {
            say!("{line}");
        }
        Ok(report.count(bashgate_shared::checkup::State::Broken) == 0)
    } else {
        let agent = asked.agent.ok_or("name the agent with --agent (see bashgate-hook --help)")?;
        let in_words = |error: InstallError| format!("{error}; {}", error.help());
        let (file, place) = install::settings_file(agent, asked.scope, &asked.project).map_err(in_words)?;
        let file = asked.file.clone().unwrap_or(file);
        if name == "uninstall" {
            let done = install::uninstall(&file, place, asked.dry_run).map_err(in_words)?;
            tell_uninstalled(&file, &done, asked.dry_run);
            return Ok(true);
        }
        let timeout_s = asked.timeout_s.unwrap_or_else(|| {
            Config::load(&asked.config).map_or(config::DEFAULT_DEADLINE_S, |config| config.longest_s()) + SPARE_S
        });
        let mut hook = vec![utf8(&asked.hook)?, "--agent".to_owned(), agent.name.to_owned()];
        if asked.config != Path::new(config::DEFAULT) {
            hook.extend(["--config".to_owned(), utf8(&asked.config)?]);
        }
        let Asked { scope, deny_webfetch, keep_mcp, .. } = asked;
        let wanted = Wanted { agent, scope, hook: &hook, timeout_s, deny_webfetch, keep_mcp };
        let done = install::install(&file, place, &wanted, asked.dry_run).map_err(in_words)?;
        tell_installed(&file, &done, &asked, place.form);
        Ok(true)
    }
}

fn utf8(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not UTF-8", path.display()))
}

fn tell_installed(file: &Path, done: &Done, asked: &Asked, form: SettingsForm) {
    let Some(agent) = asked.agent else { return };
    match done {
        Done::Written { now, .. } if asked.dry_run => {
            say_aside!("{} would be:", file.display());
            say!("{}", now.trim_end_matches('\n'));
            return;
        }
        Done::Written { .. } => say!("{} asks bashgate now: {}", agent.title, file.display()),
        _ => say!("{} asks bashgate already: {}", agent.title, file.display()),
    }
    if form == SettingsForm::Codex {
        say_aside!(
            "Codex skips hooks that nobody has trusted: start it once and trust this one with /hooks, or use --scope managed, which needs no trust."
        );
    }
    if asked.scope != Scope::Managed && agent.places.iter().any(|place| place.scope == Scope::Managed) {
        say_aside!(
            "An agent that can write this file can take the hook out: mount it read-only, or use --scope managed as root."
        );
    }
    say_aside!("See whether it works with: bashgate-hook doctor --agent {}", agent.name);
}

fn tell_uninstalled(file: &Path, done: &Done, dry_run: bool) {
    let would = if dry_run { "would be" } else { "is" };
    match done {
        Done::Restored { exists: true } => say!("{} {would} as it was before, byte for byte.", file.display()),
        Done::Restored { exists: false } => say!("{} {would} gone; there was none before.", file.display()),
        Done::Stripped => say!("{} was edited since: bashgate's entries {would} out of it.", file.display()),
        _ => say!("There is nothing of bashgate in {}.", file.display()),
    }
}

fn read(name: &str, args: &[String]) -> Result<Asked, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot tell where bashgate-hook lies: {error}"))?;
    let mut asked = Asked {
        agent: None,
        scope: Scope::User,
        config: PathBuf::from(config::DEFAULT),
        hook: own,
        project: std::env::current_dir().map_err(|error| format!("there is no working directory: {error}"))?,
        file: None,
        timeout_s: None,
        dry_run: false,
        deny_webfetch: false,
        keep_mcp: false,
        json: false,
    };
    let is_doctor = name == "doctor";
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (option, glued) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
            _ => (arg.as_str(), None),
        };
        let mut value =
            || glued.clone().or_else(|| args.next().cloned()).ok_or_else(|| format!("{option} needs a value"));
        let absolute = |path: String| std::path::absolute(&path).map_err(|error| format!("{path}: {error}"));
        match option {
            "--agent" => {
                let agent = Agent::named(&value()?).map_err(|error| error.to_string())?;
                asked.agent = Some(agent.row().ok_or("`neutral` has no settings of its own; see docs/agents.md")?);
            }
            "--config" => asked.config = absolute(value()?)?,
            "--project" => asked.project = absolute(value()?)?,
            "--json" if is_doctor => asked.json = true,
            "--file" if !is_doctor => asked.file = Some(absolute(value()?)?),
            "--scope" if !is_doctor => {
                let scope = value()?;
                let scopes = [Scope::User, Scope::Project, Scope::Managed];
                asked.scope = scopes
                    .into_iter()
                    .find(|known| known.name() == scope)
                    .ok_or_else(|| format!("there is no scope `{scope}`; known are: user, project, managed"))?;
            }
            "--dry-run" if !is_doctor => asked.dry_run = true,
            "--hook" if name == "install" => asked.hook = absolute(value()?)?,
            "--timeout" if name == "install" => {
                let seconds = value()?;
                let known = seconds.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
                asked.timeout_s =
                    Some(known.ok_or_else(|| format!("--timeout is {seconds}; it must be from 1 to 86400 seconds"))?);
            }
            "--deny-webfetch" if name == "install" => asked.deny_webfetch = true,
            "--keep-mcp" if name == "install" => asked.keep_mcp = true,
            _ => return Err(format!("the argument `{arg}` is not known to {name}; see bashgate-hook --help")),
        }
    }
    Ok(asked)
}
