//! Presets: what a run may do, as data. One TOML file each; a preset extends another and says only what differs.
//!
//! Code never looks at a preset's name: whatever a preset changes is an axis here. Operators add presets and change
//! them for single agents in `runner.toml`, see [`Presets::load`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use crate::output::{Binary, Control, Shape};
use crate::sandbox::{BackendName, Guarantee};

const BUILT_IN: [(&str, &str); 7] = [
    ("default", include_str!("default.toml")),
    ("chorus", include_str!("chorus.toml")),
    ("phoenix", include_str!("phoenix.toml")),
    ("runner-readonly", include_str!("runner-readonly.toml")),
    ("runner-build", include_str!("runner-build.toml")),
    ("pai", include_str!("pai.toml")),
    ("cage", include_str!("cage.toml")),
];
/// The preset that runs when none is named.
pub const DEFAULT: &str = "default";
/// The preset of `--cage`, which no configuration can change.
pub const CAGE: &str = "cage";
/// How deep presets may extend each other.
const DEPTH: usize = 8;

/// One preset, complete.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// What it is for, in a few words.
    pub description: String,
    /// The shell.
    pub shell: ShellAxis,
    /// What may run, by the command's text.
    pub rules: Rules,
    /// What may be read and written.
    pub filesystem: Filesystem,
    /// What git may do.
    pub git: Git,
    /// What may be reached.
    pub network: Network,
    /// What the command finds in its environment.
    pub environment: Environment,
    /// Time, memory, processes.
    pub limits: Limits,
    /// What becomes of its output.
    pub output: Output,
    /// Jobs that go on after the call.
    pub background: Background,
    /// Which sandbox, and the least that it must enforce.
    pub sandbox: Sandbox,
}

/// See `default.toml`, which explains each key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellAxis {
    /// The shell's program.
    pub program: ShellProgram,
}

/// A shell that commands are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShellProgram {
    /// `bash --noprofile --norc -c`.
    Bash,
    /// `sh -c`.
    Sh,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Programs and subcommands that may run; empty for any.
    pub allow: Vec<String>,
    /// Whether commands may be substituted.
    pub substitution: bool,
    /// Heuristic patterns that refuse.
    pub patterns: Vec<Pattern>,
    /// Where redirections may lead.
    #[serde(default)]
    pub redirects: Redirects,
    /// Longest command, in bytes.
    pub max_bytes: usize,
    /// What is said about a longer one.
    pub advice: String,
}

/// Where a redirection may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Redirects {
    /// Wherever the sandbox lets it.
    #[default]
    Any,
    /// Into the workspace, `/tmp` and `/dev/null`.
    Workspace,
}

/// One heuristic.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// A regular expression over the raw text.
    pub regex: String,
    /// What it is taken for; ends the sentence "the command …".
    pub why: String,
    /// The key that judges the same by the syntax; then the pattern itself is only on record.
    #[serde(default)]
    pub instead: Option<String>,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filesystem {
    /// Whether the workspace may be written.
    pub workspace: Access,
    /// More folders that may be written.
    pub write: Vec<PathBuf>,
    /// How much of the machine there is.
    pub machine: Machine,
    /// Files and folders that are read where only listed things exist.
    pub read: Vec<PathBuf>,
    /// Programs that exist there, besides the shell.
    pub programs: Vec<String>,
    /// The temporary folders.
    pub tmp: Tmp,
    /// Size of private temporary folders, in MiB.
    pub tmp_mib: u64,
    /// Paths that may not be read, besides those where secrets are known to lie.
    pub hide: Vec<String>,
    /// Names in the workspace that may not be changed, besides those that are known to act later.
    pub protect: Vec<String>,
}

/// How much of the machine a run sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Machine {
    /// All of it, but for what is hidden.
    All,
    /// What is listed, and nothing else.
    Listed,
}

/// Reading, or writing too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    Write,
}

/// Whose temporary folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tmp {
    /// The run's own.
    Private,
    /// The run's own, with what its command names of the machine's in them.
    Named,
    /// The machine's.
    Shared,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Git {
    /// Whether the repository may be written.
    pub repository: Access,
    /// A trailer for commits; empty for none.
    pub trailer: String,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// When there is network.
    pub access: NetworkAccess,
    /// Which unix sockets there are.
    pub unix_sockets: UnixSockets,
}

/// When a command has network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkAccess {
    /// Never.
    Never,
    /// When the caller asks for it and the gate allowed the command.
    Requested,
    /// When the gate allowed the command.
    Always,
}

/// Whether the caller asks for network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Internet {
    /// It does.
    Requested,
    /// It does not.
    NotRequested,
}

impl NetworkAccess {
    /// Whether a command that the gate has allowed has network.
    pub fn gives(self, asked: Internet) -> bool {
        match self {
            Self::Never => false,
            Self::Requested => asked == Internet::Requested,
            Self::Always => true,
        }
    }
}

/// Which unix sockets a command can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnixSockets {
    /// Those made inside.
    Own,
    /// Only pairs, which have no name.
    None,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// What it starts from.
    pub inherit: Inherit,
    /// Names that are kept.
    pub names: Vec<String>,
    /// Prefixes of names that are removed.
    pub remove_prefixes: Vec<String>,
    /// What HOME is.
    pub home: Home,
    /// Variables that are set last.
    pub set: BTreeMap<String, String>,
    /// Variables that name folders for caches. Unless the preset sets them, each run gets folders of its own, which are gone afterwards,
    /// whatever the caller's environment says: what a run leaves in a cache, whoever uses it later believes. And those at home cannot be written, and tools that insist on one would fail.
    pub caches: Vec<String>,
}

/// What an environment starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inherit {
    /// The listed names.
    Listed,
    /// All that the caller has.
    All,
}

/// What HOME is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Home {
    /// The caller's.
    Real,
    /// The workspace.
    Workspace,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Time for a command, in seconds.
    pub timeout_s: u64,
    /// Time for a slow command, in seconds.
    pub slow_timeout_s: u64,
    /// Most time that a caller may ask for, in seconds.
    pub max_timeout_s: u64,
    /// Time between TERM and KILL, in milliseconds.
    pub term_grace_ms: u64,
    /// Memory, in MiB; 0 for no limit.
    pub memory_mib: u64,
    /// Processes; 0 for no limit.
    pub processes: u64,
    /// Largest file, in MiB; 0 for no limit.
    pub file_mib: u64,
    /// Processor time of a process, in seconds; 0 for no limit.
    pub cpu_s: u64,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// One stream or two.
    pub streams: Streams,
    /// How much is shown.
    pub limit: Shape,
    /// What no text becomes.
    pub binary: Binary,
    /// What escape sequences become.
    pub control: Control,
    /// How a result is put.
    pub form: Form,
}

/// One stream or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Streams {
    /// Two streams.
    Separate,
    /// One, in the order of writing.
    Combined,
}

/// How a result is put for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Streams as they are.
    Fields,
    /// One text, failures announced in its first line.
    Text,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// Whether there may be any.
    pub allowed: bool,
    /// Most at a time, for each agent.
    pub max_jobs: usize,
    /// Most output of one, in MiB.
    pub max_output_mib: u64,
    /// Longest time of one, in seconds.
    pub max_s: u64,
}

/// See `default.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// Tried in this order.
    pub order: Vec<BackendName>,
    /// The least that must be enforced.
    pub require: Vec<Guarantee>,
}

/// What is wrong with presets.
#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    /// There is none of this name.
    #[error("there is no preset `{name}`; known are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// It extends itself, or too many others.
    #[error("the preset `{0}` extends itself, or more than {DEPTH} others")]
    Circle(String),
    /// It has a key or value that is not understood.
    #[error("the preset `{name}` is wrong: {why}")]
    Wrong {
        /// The name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        source: std::io::Error,
    },
    /// The file is not what is expected.
    #[error("{} is wrong: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl PresetError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "name one of them, or add it to runner.toml",
            Self::Circle(_) | Self::Wrong { .. } => "correct it in runner.toml; docs/runner.md explains each key",
            Self::Unreadable { .. } | Self::File { .. } => "correct the file, or remove it to use the built-in presets",
        }
    }
}

/// All presets that there are, and what single agents change.
#[derive(Debug, Clone)]
pub struct Presets {
    /// The operator's own, which come before the built-in ones.
    presets: BTreeMap<String, Table>,
    agents: BTreeMap<String, Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    presets: BTreeMap<String, Table>,
    #[serde(default)]
    agents: BTreeMap<String, Table>,
}

impl Presets {
    /// The built-in presets.
    pub fn built_in() -> Self {
        Self { presets: BTreeMap::new(), agents: BTreeMap::new() }
    }

    /// The built-in presets, and what a `runner.toml` adds. A file that is not there adds nothing.
    ///
    /// The cage stays as it is: a file that names it is refused.
    pub fn load(file: &Path) -> Result<Self, PresetError> {
        let mut all = Self::built_in();
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(all),
            Err(source) => return Err(PresetError::Unreadable { file: file.to_owned(), source }),
        };
        let wrong = |why: String| PresetError::File { file: file.to_owned(), why };
        let parsed: File = toml::from_str(&text)
            .map_err(|error| wrong(bashgate_shared::located(&text, error.span(), error.message())))?;
        if parsed.presets.contains_key(CAGE) {
            return Err(wrong(format!("the preset `{CAGE}` cannot be changed")));
        }
        all.presets.extend(parsed.presets);
        all.agents = parsed.agents;
        // Mistakes show at once, not when the preset is first used.
        for name in all.presets.keys() {
            all.named(name, None)?;
        }
        for agent in all.agents.keys() {
            all.for_agent(Some(agent), None)?;
        }
        Ok(all)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let built_in = BUILT_IN.iter().map(|(name, _)| *name).filter(|name| !self.presets.contains_key(*name));
        built_in.chain(self.presets.keys().map(String::as_str))
    }

    /// The preset for an agent's command: the one that was asked for, else the agent's, else the default; with the
    /// agent's own changes.
    pub fn for_agent(&self, agent: Option<&str>, asked: Option<&str>) -> Result<Preset, PresetError> {
        let own = agent.and_then(|agent| self.agents.get(agent));
        let mut own = own.cloned().unwrap_or_default();
        let preset = own.remove("preset");
        let preset = preset.as_ref().and_then(Value::as_str);
        self.named(asked.or(preset).unwrap_or(DEFAULT), Some(own))
    }

    /// The cage.
    pub fn cage() -> Result<Preset, PresetError> {
        Self::built_in().named(CAGE, None)
    }

    /// What a preset itself says; a built-in one is read when it is needed.
    fn table(&self, name: &str) -> Result<Option<Table>, PresetError> {
        if let Some(own) = self.presets.get(name) {
            return Ok(Some(own.clone()));
        }
        let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) else { return Ok(None) };
        let wrong =
            |error: toml::de::Error| PresetError::Wrong { name: name.to_owned(), why: error.message().to_owned() };
        toml::from_str(text).map(Some).map_err(wrong)
    }

    fn named(&self, name: &str, changes: Option<Table>) -> Result<Preset, PresetError> {
        let mut layers: Vec<Table> = changes.into_iter().collect();
        let mut next = Some(name.to_owned());
        while let Some(current) = next {
            if layers.len() > DEPTH {
                return Err(PresetError::Circle(name.to_owned()));
            }
            let Some(mut table) = self.table(&current)? else {
                let known = self.names().collect::<Vec<_>>().join(", ");
                return Err(PresetError::Unknown { name: current, known });
            };
            next = table.remove("extends").and_then(|base| base.as_str().map(str::to_owned));
            layers.push(table);
        }
        let mut whole = Table::new();
        for layer in layers.into_iter().rev() {
            merge(&mut whole, layer);
        }
        let wrong = |why: String| PresetError::Wrong { name: name.to_owned(), why };
        let preset: Preset =
            Value::Table(whole).try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
        preset.check().map_err(wrong)?;
        Ok(preset)
    }
}

/// Tables are merged key by key; anything else is replaced. A table that says what it `keep`s is one value.
fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) if !new.contains_key("keep") => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

impl Preset {
    /// The home folder of what runs under it in a workspace, where that is another one than the caller's.
    pub fn home_in(&self, workspace: &Path) -> Option<PathBuf> {
        (self.environment.home == Home::Workspace).then(|| workspace.to_owned())
    }

    fn check(&self) -> Result<(), String> {
        for pattern in &self.rules.patterns {
            regex_lite::Regex::new(&pattern.regex).map_err(|error| format!("`{}`: {error}", pattern.regex))?;
        }
        let limits = &self.limits;
        if limits.timeout_s == 0
            || limits.timeout_s > limits.max_timeout_s
            || limits.slow_timeout_s > limits.max_timeout_s
        {
            return Err("`timeout_s` must be at least 1, and no timeout above `max_timeout_s`".to_owned());
        }
        if let Shape::Ends { max_bytes, head_bytes, tail_bytes } = self.output.limit
            && head_bytes + tail_bytes > max_bytes
        {
            return Err("`head_bytes` and `tail_bytes` are more than `max_bytes`".to_owned());
        }
        let trailer = &self.git.trailer;
        if !trailer.is_empty() && (!trailer.contains(": ") || trailer.contains('\n')) {
            return Err(format!("`{trailer}` is no trailer: it needs the form `Key: value`"));
        }
        if self.rules.max_bytes == 0 || self.sandbox.order.is_empty() {
            return Err("`max_bytes` and `sandbox.order` must not be empty".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_preset_is_complete() {
        let presets = Presets::built_in();
        for name in presets.names() {
            let preset = presets.named(name, None).unwrap();
            assert!(!preset.description.is_empty(), "{name}");
        }
    }

    #[test]
    fn the_seeds_numbers() {
        let all = Presets::built_in();
        let of = |name: &str| all.named(name, None).unwrap();
        let times = |name: &str| {
            let limits = of(name).limits;
            (limits.timeout_s, limits.slow_timeout_s, limits.max_timeout_s, limits.term_grace_ms)
        };
        assert_eq!(times("chorus"), (120, 120, 3600, 2000));
        assert_eq!(times("phoenix"), (30, 900, 900, 0));
        assert_eq!(times("runner-readonly"), (10, 60, 60, 0));
        assert_eq!(of("chorus").output.limit, Shape::Tail { max_chars: 50_000 });
        assert_eq!(of("phoenix").output.limit, Shape::Ends { max_bytes: 131_072, head_bytes: 4096, tail_bytes: 4096 });
        assert_eq!(of("runner-build").output.limit, Shape::Head { max_bytes: 10_240 });
        assert_eq!(of("runner-build").rules.patterns.len(), of("runner-readonly").rules.patterns.len());
    }

    #[test]
    fn an_agent_changes_single_keys() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runner.toml");
        let text = "[presets.mine]\nextends = \"chorus\"\ndescription = \"mine\"\n[presets.mine.limits]\ntimeout_s = 7\n\
                    [agents.reviewer]\npreset = \"mine\"\n[agents.reviewer.environment.set]\nMODE = \"review\"\n";
        std::fs::write(&file, text).unwrap();
        let presets = Presets::load(&file).unwrap();
        let reviewer = presets.for_agent(Some("reviewer"), None).unwrap();
        assert_eq!((reviewer.limits.timeout_s, reviewer.limits.term_grace_ms), (7, 2000));
        assert_eq!(reviewer.environment.set["MODE"], "review");
        assert_eq!(presets.for_agent(Some("other"), None).unwrap().limits.timeout_s, 120);
        assert_eq!(presets.for_agent(Some("reviewer"), Some("phoenix")).unwrap().limits.timeout_s, 30);
    }

    #[test]
    fn mistakes_in_the_file_are_errors_that_say_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("runner.toml");
        for (text, want) in [
            ("[presets.x]\nextends = \"y\"", "no preset `y`"),
            ("[presets.x]\nextends = \"x\"", "extends itself"),
            ("[presets.x]\nextends = \"default\"\ncolour = 1", "unknown field `colour`"),
            ("[presets.x]\nextends = \"default\"\n[presets.x.limits]\ntimeout_s = 0", "timeout_s"),
            ("[presets.x]\nextends = \"default\"\n[presets.x.rules]\npatterns = [{regex='(', why='x'}]", "`(`"),
            ("[presets.x]\nextends = \"default\"\n[presets.x.git]\ntrailer = \"no\"", "no trailer"),
            ("[presets.x]\nextends = \"default\"\n[presets.x.sandbox]\nrequire = [\"magic\"]", "magic"),
            ("[presets.cage]\nextends = \"default\"", "cannot be changed"),
            ("[agents.a.limits]\ntimeout_s = \"long\"", "invalid type"),
            ("nonsense", "runner.toml is wrong"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = Presets::load(&file).unwrap_err().to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
        assert!(Presets::load(Path::new("/nonexistent/runner.toml")).is_ok());
    }
}
