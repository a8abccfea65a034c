//! Proves from inside of a container that an agent is gated, and names the ways around that can be seen.
//!
//! A canary goes through the agent's own settings as the agent would send it: the hooks that stand there are started with an
//! event about a command that is never allowed. Everything else is read.

mod canary;
mod holes;

pub use canary::bare_json;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::agents::{AGENTS, AgentRow, Scope};
use bashgate_shared::checkup::Report;
use bashgate_shared::mailbox;
use bashgate_shared::protocol::{BASH_CHECK, BashCheckWire, VERSION};

use crate::gate::ask;
use crate::gate::config::{Config, OnAllow};
use crate::install;

/// Settings of an agent that are there.
struct Settings {
    scope: Scope,
    file: PathBuf,
    text: String,
    form: bashgate_shared::agents::SettingsForm,
}

/// Looks at everything. Without an agent, at all those that have settings here.
pub fn look(config: &Path, project: &Path, agent: Option<&'static AgentRow>) -> Report {
    let mut report = Report::default();
    let config = match Config::load(config) {
        Ok(config) => {
            gate(&config, &mut report);
            Some(config)
        }
        Err(error) => {
            report.broken("configuration", error.to_string(), error.help());
            None
        }
    };
    let mut gated = 0;
    for row in AGENTS.iter().filter(|row| agent.is_none_or(|agent| agent.name == row.name)) {
        let found = settings(row, project, &mut report);
        if agent.is_none() && !found.iter().any(|settings| install::holds_ours(&settings.text)) {
            continue;
        }
        gated += 1;
        canary::send(row, &found, project, config.as_ref(), &mut report);
        let cages = config.as_ref().is_some_and(|config| config.on_allow == OnAllow::Approve);
        holes::look(row, &found, (project, cages), &mut report);
    }
    if gated == 0 {
        let help = "put the hook into an agent's settings: bashgate-hook install --agent NAME";
        report.broken("agents", "no agent here has bashgate in its settings", help);
    }
    shell(&mut report);
    report
}

/// True when whoever runs this could change a file, or exchange it in its folder.
fn can_change(path: &Path) -> bool {
    let writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    writable(path) || path.parent().is_some_and(writable)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The gate's own parts.
fn gate(config: &Config, report: &mut Report) {
    let what = "configuration";
    if is_root() {
        let help = "run the agent as an ordinary user (`--user` of docker and podman)";
        report.doubtful("user", "this is root, who can change everything that is not mounted read-only", help);
    }
    if can_change(&config.file) {
        let says = format!("{} can be changed from here, and with it who is asked", config.file.display());
        report.broken(what, says, "mount it read-only, and let it belong to somebody else");
    } else {
        report.fine(what, format!("{}, workspace {}", config.file.display(), config.workspace));
    }
    if let Ok(own) = std::env::current_exe() {
        let mode = std::fs::metadata(&own).map_or(0, |meta| meta.mode());
        if mode & 0o111 == 0 {
            report.broken("hook", format!("{} has no right to be run (mode {mode:o})", own.display()), "chmod 755 it");
        } else if can_change(&own) {
            let says = format!("{} can be changed from here", own.display());
            report.broken("hook", says, "mount it read-only, and let it belong to somebody else");
        } else {
            report.fine("hook", format!("{}, version {}", own.display(), env!("CARGO_PKG_VERSION")));
        }
    }
    let (requests, responses) = (config.mailbox.join(mailbox::REQUESTS), config.mailbox.join(mailbox::RESPONSES));
    let mounts = "mount both as `bashgate workspace add NAME` prints it: requests writable, responses read-only";
    if !requests.is_dir() || !responses.is_dir() {
        report.broken("mailbox", format!("{} has no `requests` and `responses`", config.mailbox.display()), mounts);
    } else if rustix::fs::access(&requests, rustix::fs::Access::WRITE_OK).is_err() {
        report.broken("mailbox", format!("{} cannot be written", requests.display()), mounts);
    } else if rustix::fs::access(&responses, rustix::fs::Access::WRITE_OK).is_ok() {
        let says =
            format!("{} can be written from here; answers are signed, but can be taken away", responses.display());
        report.doubtful("mailbox", says, mounts);
    } else {
        report.fine("mailbox", config.mailbox.display().to_string());
    }
    host(config, report);
}

/// Asks the host about a command that nobody may run.
fn host(config: &Config, report: &mut Report) {
    let Some(id) = ask::new_id() else { return };
    let wire = BashCheckWire {
        kind: BASH_CHECK.to_owned(),
        request_id: id.to_string(),
        command: canary::NEVER.to_owned(),
        v: Some(VERSION),
        agent: Some("doctor".to_owned()),
        timeout_ms: Some(10_000),
        locked: true,
        ..BashCheckWire::default()
    };
    let bytes = serde_json::to_vec(&wire).unwrap_or_default();
    let config = Config { deadline_s: 10, ..config.clone() };
    match ask::ask(&config, &id, &bytes) {
        Err(error) => report.broken("host", error.to_string(), error.help()),
        Ok(answer) if ask::is_allowed(&answer) => {
            let says = format!("the host lets `{}` through: {}", canary::NEVER, answer.reason);
            report.broken(
                "host",
                says,
                "set `enforce = true` under [policy] in bashgate.toml; now nothing is protected",
            );
        }
        Ok(_) => report.fine("host", "it answers, and its signature is right"),
    }
}

/// An agent's settings, wherever there are any.
fn settings(row: &'static AgentRow, project: &Path, report: &mut Report) -> Vec<Settings> {
    let mut found = Vec::new();
    for place in row.places {
        let Ok((file, _)) = install::settings_file(row, place.scope, project) else { continue };
        let local = file.with_file_name("settings.local.json");
        let has_local = file.ends_with("settings.json");
        match install::read(&file) {
            Ok(Some(text)) => found.push(Settings { scope: place.scope, file, text, form: place.form }),
            Ok(None) => {}
            Err(error) => report.doubtful(row.name, error.to_string(), error.help()),
        }
        // What one person adds for one project counts like the project's own.
        if has_local && let Ok(Some(text)) = install::read(&local) {
            found.push(Settings { scope: place.scope, file: local, text, form: place.form });
        }
    }
    found
}

/// What the shell of whoever runs this brings along.
fn shell(report: &mut Report) {
    if let Some(file) = std::env::var_os("BASH_ENV") {
        let says = format!("BASH_ENV names {}, which bash reads before every command", Path::new(&file).display());
        report.broken("shell", says, "take it out of the container's environment");
    }
}
