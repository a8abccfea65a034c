//! The hook's configuration: one small TOML file on a read-only mount.
//!
//! It comes from `--config FILE` or from [`DEFAULT`], never from the environment, the home folder or the working
//! directory: those are the agent's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bashgate_shared::agents::AGENTS;
use bashgate_shared::command::is_sha256;
use bashgate_shared::protocol::MAX_PROTECTED;
use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::seal::PublicKey;
use bashgate_shared::shell::Shell;
use bashgate_shared::{located, mailbox};
use serde::Deserialize;

use super::plugins::{self, Plugin};

/// Where the configuration lies when the command line does not say.
pub const DEFAULT: &str = "/etc/bashgate/hook.toml";

/// What the hook goes by.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file it was read from.
    pub file: PathBuf,
    /// This container's workspace.
    pub workspace: WorkspaceName,
    /// The folder with `requests/` and `responses/`.
    pub mailbox: PathBuf,
    /// The host's public key.
    pub public_key: PublicKey,
    /// The shell that runs the agent's commands.
    pub shell: Shell,
    /// Whether that shell reads start-up files, or a snapshot made from them, before each command.
    pub startup_files: StartupFiles,
    /// SHA-256 digests, in hexadecimal, of start-up files that somebody has looked at.
    pub trusted_startup: Vec<String>,
    /// What happens when no host answers.
    pub when_host_silent: WhenSilent,
    /// What is said when there is no objection.
    pub on_allow: OnAllow,
    /// Whether commands that are let through run in the cage, too.
    pub cage_safe: bool,
    /// The `bashgate-run` that cages: the one beside this program if not named. `None` when there is no telling.
    pub cage_runner: Option<PathBuf>,
    /// The folder with the socket of the host's way out, which need not be there.
    pub egress: PathBuf,
    /// Longest wait for an answer, in seconds.
    pub deadline_s: u64,
    /// Git subcommands that are denied; empty when the guard is off.
    pub git_deny: Vec<String>,
    /// What the guard tells the agent.
    pub git_reason: String,
    /// The operator's own checks, in their order.
    pub plugins: Vec<Plugin>,
}

/// Whether the agent's shell reads start-up files before a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum StartupFiles {
    /// It does when the agent that asks is known for it.
    #[default]
    Auto,
    /// It does.
    Always,
    /// It does not: a plain `bash -c`.
    Never,
}

impl StartupFiles {
    /// Whether start-up files count, when the asker's shell is known to read them, or is not.
    pub const fn count(self, known_to_read_them: bool) -> bool {
        match self {
            Self::Auto => known_to_read_them,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// What happens when no host answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum WhenSilent {
    /// The command does not run.
    #[default]
    Deny,
    /// The command runs unchecked, and the hook says so on stderr.
    Allow,
}

/// What is said when there is no objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum OnAllow {
    /// Nothing: the agent's own permission rules go on.
    #[default]
    Silent,
    /// The agent's approval, which spares people its prompt.
    Approve,
}

/// What can be wrong with the configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("cannot read the configuration {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        source: std::io::Error,
    },
    /// It is not what the hook understands.
    #[error("the configuration {} is wrong: {why}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl ConfigError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "mount the hook.toml that `bashgate init` made, or name it with --config FILE",
            Self::Wrong { .. } => "compare it with the hook.toml that `bashgate init` makes",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    workspace: WorkspaceName,
    mailbox: PathBuf,
    public_key: String,
    #[serde(default)]
    shell: Option<String>,
    #[serde(default)]
    startup_files: StartupFiles,
    #[serde(default)]
    trusted_startup: Vec<String>,
    #[serde(default)]
    when_host_silent: WhenSilent,
    #[serde(default)]
    on_allow: OnAllow,
    #[serde(default)]
    cage_safe: bool,
    #[serde(default)]
    cage_runner: Option<PathBuf>,
    #[serde(default)]
    egress: Option<PathBuf>,
    #[serde(default = "default_deadline")]
    deadline_s: i64,
    #[serde(default)]
    git_guard: GitGuard,
    #[serde(default)]
    plugin: Vec<PluginTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PluginTable {
    program: PathBuf,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default = "default_plugin_timeout")]
    timeout_ms: i64,
}

const fn default_plugin_timeout() -> i64 {
    2000
}

impl PluginTable {
    /// An error names the key.
    fn read(self, number: usize) -> Result<Plugin, String> {
        let key = format!("`plugin` {number}");
        if !self.program.is_absolute() {
            return Err(format!("{key}: `program` is `{}`, which is no absolute path", self.program.display()));
        }
        if self.tools.iter().any(|tool| tool.trim().is_empty()) {
            return Err(format!("{key}: `tools` holds an empty name; leave it out to mean all tools"));
        }
        match u64::try_from(self.timeout_ms).ok().filter(|time| (1..=60_000).contains(time)) {
            Some(time) => Ok(Plugin { program: self.program, tools: self.tools, timeout: Duration::from_millis(time) }),
            None => Err(format!("{key}: `timeout_ms` is {}; it must be from 1 to 60000", self.timeout_ms)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GitGuard {
    #[serde(default)]
    enabled: bool,
    #[serde(default = "default_git_deny")]
    deny: Vec<String>,
    #[serde(default = "default_git_reason")]
    reason: String,
}

impl Default for GitGuard {
    fn default() -> Self {
        Self { enabled: false, deny: default_git_deny(), reason: default_git_reason() }
    }
}

/// Most plug-ins. Each takes its time of every call.
const MAX_PLUGINS: usize = 16;

/// How long the host is waited for unless the configuration says otherwise, in seconds.
pub const DEFAULT_DEADLINE_S: u64 = 300;

const fn default_deadline() -> i64 {
    DEFAULT_DEADLINE_S.cast_signed()
}

fn default_git_deny() -> Vec<String> {
    ["push", "pull", "rebase"].map(str::to_owned).to_vec()
}

fn default_git_reason() -> String {
    "git push, pull and rebase are not for the agent here; commit, and ask a person to publish".to_owned()
}

impl Config {
    /// Reads a configuration file.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| ConfigError::Unreadable { file: file.to_owned(), source })?;
        Self::parse(&text, file)
    }

    /// Reads a configuration's text. Relative paths in it are relative to the file's folder.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let wrong = |why: String| ConfigError::Wrong { file: file.to_owned(), why };
        let parsed: File = toml::from_str(text).map_err(|error| wrong(located(text, error.span(), error.message())))?;
        let shell = Shell::configured(parsed.shell.as_deref());
        let Some(public_key) = PublicKey::parse(&parsed.public_key) else {
            return Err(wrong("`public_key` is not `ed25519:` and 64 hexadecimal digits".to_owned()));
        };
        let Some(deadline_s) = u64::try_from(parsed.deadline_s).ok().filter(|seconds| (1..=3600).contains(seconds))
        else {
            return Err(wrong(format!("`deadline_s` is {}; it must be from 1 to 3600", parsed.deadline_s)));
        };
        if parsed.git_guard.reason.trim().is_empty() {
            return Err(wrong("`git_guard.reason` is empty".to_owned()));
        }
        if parsed.cage_safe && parsed.on_allow != OnAllow::Approve {
            return Err(wrong(
                "`cage_safe` needs `on_allow = \"approve\"`: an agent takes another command only with an approval"
                    .to_owned(),
            ));
        }
        if let Some(other) = parsed.cage_runner.as_ref().filter(|path| !path.is_absolute()) {
            return Err(wrong(format!("`cage_runner` is `{}`, which is no absolute path", other.display())));
        }
        if let Some(other) = parsed.egress.as_ref().filter(|path| !path.is_absolute()) {
            return Err(wrong(format!("`egress` is `{}`, which is no absolute path", other.display())));
        }
        let beside = || Some(std::env::current_exe().ok()?.with_file_name("bashgate-run"));
        if let Some(other) = parsed.trusted_startup.iter().find(|text| !is_sha256(text)) {
            return Err(wrong(format!(
                "`trusted_startup` holds `{other}`, which is no SHA-256 digest as sha256sum prints it"
            )));
        }
        if parsed.plugin.len() > MAX_PLUGINS {
            return Err(wrong(format!("there are {} of `[[plugin]]`; {MAX_PLUGINS} are allowed", parsed.plugin.len())));
        }
        let plugins = parsed.plugin.into_iter().zip(1..).map(|(plugin, number)| plugin.read(number));
        let plugins = plugins.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let folder = file.parent().unwrap_or(Path::new("."));
        let mailbox = folder.join(&parsed.mailbox);
        let mailbox = if mailbox.is_absolute() { mailbox } else { std::path::absolute(&mailbox).unwrap_or(mailbox) };
        Ok(Self {
            file: std::path::absolute(file).unwrap_or_else(|_| file.to_owned()),
            workspace: parsed.workspace,
            mailbox,
            public_key,
            shell,
            startup_files: parsed.startup_files,
            trusted_startup: parsed.trusted_startup,
            when_host_silent: parsed.when_host_silent,
            on_allow: parsed.on_allow,
            cage_safe: parsed.cage_safe,
            cage_runner: parsed.cage_runner.or_else(beside),
            egress: parsed.egress.unwrap_or_else(|| mailbox::EGRESS.into()),
            deadline_s,
            git_deny: if parsed.git_guard.enabled { parsed.git_guard.deny } else { Vec::new() },
            git_reason: parsed.git_guard.reason,
            plugins,
        })
    }

    /// The longest time that a whole question takes, in seconds: the host's answer, and what the plug-ins say to it.
    pub fn longest_s(&self) -> u64 {
        let plugins = plugins::timeouts(&self.plugins);
        self.deadline_s + plugins.as_secs() + u64::from(plugins.subsec_nanos() > 0)
    }

    /// The gate's own files in this container, which no command may touch.
    pub fn protected(&self) -> Vec<String> {
        let own = std::env::current_exe().ok();
        [Some(self.mailbox.clone()), Some(self.file.clone()), own, self.cage_runner.clone()]
            .into_iter()
            .flatten()
            .chain(self.plugins.iter().map(|plugin| plugin.program.clone()))
            .chain(moved_settings())
            .filter_map(|path| path.to_str().map(str::to_owned))
            .take(MAX_PROTECTED)
            .collect()
    }
}

/// Settings of agents in folders that variables name: there they count, whatever the folder is called.
fn moved_settings() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for agent in AGENTS {
        for place in agent.places {
            let folder =
                place.variable.and_then(std::env::var_os).map(PathBuf::from).filter(|folder| folder.is_absolute());
            let Some(folder) = folder else { continue };
            let here = format!("{}/", place.folder);
            for name in agent.settings.iter().filter_map(|name| name.strip_prefix(here.as_str())) {
                match name.split_once('*') {
                    None => found.push(folder.join(name)),
                    // What such a name goes on with: nothing, or the ends in use.
                    Some((start, _)) if start.contains('.') => found.push(folder.join(start)),
                    Some((start, _)) => {
                        found.extend([".json", ".local.json"].map(|end| folder.join(format!("{start}{end}"))));
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ed25519:fd1724385aa0c75b64fb78cd602fa1d991fdebf76b13c58ed702eac835e9f618";

    fn parse(more: &str) -> Result<Config, ConfigError> {
        let text = format!("workspace = \"default\"\nmailbox = \"mailbox/default\"\npublic_key = \"{KEY}\"\n{more}");
        Config::parse(&text, Path::new("/etc/bashgate/hook.toml"))
    }

    #[test]
    fn three_keys_are_enough_and_paths_are_relative_to_the_file() {
        let config = parse("").unwrap();
        assert_eq!(config.mailbox, Path::new("/etc/bashgate/mailbox/default"));
        assert_eq!(config.when_host_silent, WhenSilent::Deny);
        assert_eq!(config.shell, Shell::Bash);
        assert!(config.git_deny.is_empty());
    }

    #[test]
    fn mistakes_are_errors_that_say_what_is_wrong() {
        for (more, want) in [
            ("colour = 1", "unknown field"),
            ("on_allow = \"always\"", "unknown variant"),
            ("cage_safe = true", "on_allow"),
            ("cage_runner = \"bashgate-run\"", "absolute"),
            ("egress = \"egress\"", "absolute"),
            ("deadline_s = 0", "`deadline_s` is 0; it must be from 1 to 3600"),
            ("deadline_s = -1", "`deadline_s` is -1"),
            ("deadline_s = \"x\"", "invalid type"),
            ("[git_guard]\nenabled = true\nreason = \"\"", "git_guard.reason"),
            ("[[plugin]]\nprogram = \"guard\"", "no absolute path"),
            ("[[plugin]]\nprogram = \"/x\"\ntimeout_ms = 0", "`timeout_ms` is 0"),
            ("[[plugin]]\nprogram = \"/x\"\ntools = [\"\"]", "`tools`"),
            ("[[plugin]]\nprogram = \"/x\"\nenv = {}", "unknown field"),
            ("[[plugin]]", "missing field `program`"),
            ("workspace = \"x\"", "duplicate key"),
            ("trusted_startup = [\"abc\"]", "trusted_startup"),
        ] {
            let error = parse(more).unwrap_err();
            assert!(error.to_string().contains(want), "{more}: {error}");
        }
        let bad_key = Config::parse("workspace='a'\nmailbox='m'\npublic_key='x'", Path::new("h.toml")).unwrap_err();
        assert!(bad_key.to_string().contains("public_key"));
    }
}
