//! The operator's configuration, read once at start.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashgate_shared::located;
use bashgate_shared::programs::own::ProgramsFile;
use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::shell::Shell;
use serde::Deserialize;

use crate::chat::settings::{self as channels, ChatFile};
use crate::egress;
use crate::egress::addresses::Network;
use crate::egress::hosts::Entry;
use crate::egress::model::{APIS, Model};
use crate::inspector::Endpoint;
use crate::inspector::Key;
use crate::policy::cage::{Cage, OnAsk, OnInspect};
use crate::policy::egress::ReadHosts;
use crate::policy::risk::{Matter, Risk};
use crate::policy::rules::{Rule, RuleError};
use crate::policy::trust::{Property, Service};
use crate::policy::{Decision, Policy};
use crate::programs::{self, ProgramsError};
use crate::registered;

/// The commented example, with every key at its default. The tests load it.
pub const EXAMPLE: &str = include_str!("../bashgate.example.toml");

/// What the host goes by.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file it came from.
    pub file: PathBuf,
    /// The state folder.
    pub state: PathBuf,
    /// The folder of the mailboxes.
    pub mailboxes: PathBuf,
    /// The operator's own programs, checked.
    pub programs: Option<ProgramsFile>,
    /// The log level.
    pub log: String,
    /// Who inspects.
    pub inspector: InspectorKind,
    /// Calls at once for a workspace.
    pub parallel: usize,
    /// How long a command is held.
    pub expires: Duration,
    /// Most held commands of a workspace.
    pub max_held: usize,
    /// Requests of a workspace in a second.
    pub requests_per_second: u32,
    /// Most bytes that a workspace may put on record in an hour.
    pub record_bytes_per_hour: u64,
    /// Most cards of a workspace in an hour.
    pub cards_per_hour: u64,
    /// Most questions of a workspace to the inspector's model in an hour.
    pub model_calls_per_hour: u64,
    /// How often mailboxes are looked through.
    pub rescan: Duration,
    /// False: file notifications are not even tried.
    pub notifications: bool,
    /// How often mailboxes are looked through where no notifications arrive.
    pub poll: Duration,
    /// How many records of the audit are kept; 0 keeps all.
    pub keep_records: u64,
    /// How many days every record is kept at least.
    pub keep_days: u64,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Where OpenTelemetry goes.
    pub telemetry: Option<Telemetry>,
    /// Where the page is served from the start; else at a port of its own once somebody asks for a link.
    pub page: Option<SocketAddr>,
    /// The policy.
    pub policy: Policy,
    /// What is known about services.
    pub services: BTreeMap<String, Service>,
    /// Workspaces with settings.
    pub workspaces: BTreeMap<WorkspaceName, WorkspaceSettings>,
    /// Where people are asked, besides the host's own terminal.
    pub chat: BTreeMap<String, channels::Settings>,
    /// The way out of containers that have no network; none, where nobody turned it on.
    pub egress: Option<egress::Settings>,
    /// What runs with a way out instead of being asked about, where anything does.
    pub reads: Option<Reads>,
    /// Whose an account is, in channels, on the page or in the terminal: the person's name, by the account.
    pub people: BTreeMap<String, String>,
}

/// Who inspects.
#[derive(Debug, Clone)]
pub enum InspectorKind {
    /// Rules only.
    Offline,
    /// A model behind the Messages API.
    Anthropic(Endpoint),
    /// A model behind the chat completions API.
    OpenAi(Endpoint),
}

/// Settings of one workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceSettings {
    /// It counts as having seen secrets from the start.
    pub contains_secrets: bool,
    /// It must never see untrusted content.
    pub clean_room: bool,
    /// What happens to a command that the inspector would look at.
    pub on_inspect: OnInspect,
    /// What happens to a command that a person would be asked about.
    pub on_ask: OnAsk,
    /// Hosts that it may reach through the host, besides those of all.
    pub egress: Vec<Entry>,
    shell: Option<String>,
}

impl WorkspaceSettings {
    /// Which of the table's questions are replaced by a run in the cage.
    pub const fn cage(&self) -> Cage {
        Cage { on_inspect: self.on_inspect, on_ask: self.on_ask }
    }

    /// The shell that runs its commands.
    pub fn shell(&self) -> Shell {
        Shell::configured(self.shell.as_deref())
    }
}

/// What can be wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("cannot read the configuration {}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is not TOML of the expected shape.
    #[error("the configuration {} is wrong: {why}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What and where.
        why: String,
    },
    /// A rule's examples fail.
    #[error("the configuration {} is wrong: {rule}", file.display())]
    Rule {
        /// The file.
        file: PathBuf,
        /// Which rule, and what is wrong with it.
        rule: RuleError,
    },
    /// The operator's own programs are wrong.
    #[error(transparent)]
    Programs(#[from] ProgramsError),
    /// The list of gates, or what it names, may be somebody else's.
    #[error(transparent)]
    Untrusted(#[from] registered::Untrusted),
    /// There is none.
    #[error("there is no configuration at {}", tried.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or "))]
    None {
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
}

impl ConfigError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check the file's path and mode",
            Self::Wrong { .. } => {
                "every key is explained in bashgate.example.toml, and in the file that `bashgate init` makes"
            }
            Self::Rule { .. } => "correct the rule or its examples",
            Self::Programs(error) => error.help(),
            Self::Untrusted(_) => {
                "let it be yours and writable by nobody else (chmod go-w), or name the configuration with --config FILE"
            }
            Self::None { .. } => "make one with `bashgate init DIR`, or name one with --config FILE",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "state")]
    state: PathBuf,
    #[serde(default = "mailboxes")]
    mailboxes: PathBuf,
    #[serde(default)]
    programs: Option<PathBuf>,
    #[serde(default = "log")]
    log: String,
    #[serde(default)]
    inspector: InspectorFile,
    #[serde(default)]
    approval: ApprovalFile,
    #[serde(default)]
    limits: LimitsFile,
    #[serde(default)]
    audit: AuditFile,
    #[serde(default)]
    metrics: ListenFile,
    #[serde(default)]
    telemetry: TelemetryFile,
    #[serde(default)]
    page: ListenFile,
    #[serde(default)]
    policy: PolicyFile,
    #[serde(default)]
    services: BTreeMap<String, Service>,
    #[serde(default)]
    workspaces: BTreeMap<WorkspaceName, WorkspaceSettings>,
    #[serde(default)]
    chat: BTreeMap<String, ChatFile>,
    #[serde(default)]
    egress: EgressFile,
    #[serde(default)]
    people: BTreeMap<String, Vec<String>>,
}

/// Commands that only read over the network, and run without being asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reads {
    /// From where.
    pub hosts: ReadHosts,
    /// Most bytes that all of them in a workspace may send in an hour: beyond that a person is asked.
    pub bytes_per_hour: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EgressFile {
    enabled: bool,
    folder: PathBuf,
    hosts: Vec<Entry>,
    private: Vec<Network>,
    up_mib_per_hour: i64,
    down_mib_per_hour: i64,
    run_reads: bool,
    read_hosts: Vec<Entry>,
    read_kib_per_hour: i64,
    models: BTreeMap<String, ModelFile>,
}

/// A model that the host asks for whoever is inside.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    kind: String,
    base_url: Option<String>,
    key_file: Option<PathBuf>,
    #[serde(default)]
    server_tools: Vec<String>,
    #[serde(default)]
    fields: Vec<String>,
}

impl Default for EgressFile {
    fn default() -> Self {
        Self {
            enabled: false,
            folder: "egress".into(),
            hosts: Vec::new(),
            private: Vec::new(),
            up_mib_per_hour: 256,
            down_mib_per_hour: 8192,
            run_reads: false,
            read_hosts: Vec::new(),
            read_kib_per_hour: 4096,
            models: BTreeMap::new(),
        }
    }
}

fn state() -> PathBuf {
    "state".into()
}

fn mailboxes() -> PathBuf {
    "mailbox".into()
}

fn log() -> String {
    "warn".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct InspectorFile {
    kind: String,
    base_url: Option<String>,
    model: Option<String>,
    key_file: Option<PathBuf>,
    deadline_ms: i64,
    parallel: i64,
    calls_per_hour: i64,
}

impl Default for InspectorFile {
    fn default() -> Self {
        Self {
            kind: "offline".to_owned(),
            base_url: None,
            model: None,
            key_file: None,
            deadline_ms: 10_000,
            parallel: 2,
            calls_per_hour: 3600,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ApprovalFile {
    expires_s: i64,
    max_held: i64,
    cards_per_hour: i64,
}

impl Default for ApprovalFile {
    fn default() -> Self {
        Self { expires_s: 290, max_held: 100, cards_per_hour: 600 }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsFile {
    requests_per_second: i64,
    record_mib_per_hour: i64,
    rescan_ms: i64,
    notifications: String,
    poll_ms: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AuditFile {
    keep_records: i64,
    keep_days: i64,
}

impl Default for AuditFile {
    fn default() -> Self {
        Self { keep_records: 0, keep_days: 30 }
    }
}

/// Where what is recorded goes as OpenTelemetry has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telemetry {
    /// The address of a collector: OTLP over HTTP.
    pub endpoint: String,
    /// A file with a header in each line, as `authorization: Bearer …`.
    pub headers: Option<PathBuf>,
    /// The texts of commands go along.
    pub commands: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TelemetryFile {
    endpoint: String,
    headers_file: Option<PathBuf>,
    commands: bool,
}

impl TelemetryFile {
    fn read(self, folder: &Path) -> Result<Option<Telemetry>, String> {
        let Self { endpoint, headers_file, commands } = self;
        if endpoint.is_empty() {
            return Ok(None);
        }
        if !endpoint.starts_with("http://") && !endpoint.starts_with("https://") {
            return Err(format!(
                "`telemetry.endpoint` is `{endpoint}`; it must be an address, as http://127.0.0.1:4318"
            ));
        }
        Ok(Some(Telemetry { endpoint, headers: headers_file.map(|file| folder.join(file)), commands }))
    }
}

/// Something that is served: `[metrics]` and `[page]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListenFile {
    listen: String,
}

impl ListenFile {
    /// Where it is served, if anywhere. Numbers say who works when, and the page says more: nobody outside of the machine gets them.
    pub fn address(&self, section: &str) -> Result<Option<SocketAddr>, String> {
        if self.listen.is_empty() {
            return Ok(None);
        }
        match self.listen.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(Some(address)),
            Ok(_) => Err(format!(
                "`{section}.listen` is `{}`, which others can reach; use 127.0.0.1:PORT or [::1]:PORT",
                self.listen
            )),
            Err(_) => Err(format!(
                "`{section}.listen` is `{}`; it must be an address with a port, as 127.0.0.1:9464",
                self.listen
            )),
        }
    }
}

impl Default for LimitsFile {
    fn default() -> Self {
        Self {
            requests_per_second: 1000,
            record_mib_per_hour: 256,
            rescan_ms: 500,
            notifications: "auto".to_owned(),
            poll_ms: 25,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicyFile {
    enforce: bool,
    floor: Decision,
    trusted_hosts: Vec<String>,
    rules: Vec<Rule>,
    high_risk: BTreeSet<Matter>,
    two_people: BTreeSet<Matter>,
}

impl Default for PolicyFile {
    fn default() -> Self {
        let Risk { high, two_people } = Risk::default();
        Self {
            enforce: true,
            floor: Decision::Allow,
            trusted_hosts: Vec::new(),
            rules: Vec::new(),
            high_risk: high,
            two_people,
        }
    }
}

/// Fewer records are of no use to anybody.
const MIN_RECORDS: i64 = 100;

/// A number that was checked to be none below zero.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

impl Config {
    /// Reads the file that the command line names, or the first of the usual places.
    pub fn find(named: Option<&Path>) -> Result<Self, ConfigError> {
        match named {
            Some(file) => Self::load(file),
            None => Self::load(&Self::place()?),
        }
    }

    /// The configuration that counts where none is named: the machine's, the person's own, or the one of the gate that they made
    /// last.
    pub fn place() -> Result<PathBuf, ConfigError> {
        let own = registered::folder().map(|folder| folder.join(registered::CONFIG));
        let tried: Vec<PathBuf> = std::iter::once(PathBuf::from("/etc/bashgate/bashgate.toml")).chain(own).collect();
        match tried.iter().find(|path| path.exists()) {
            Some(file) => Ok(file.clone()),
            None => registered::newest()?.ok_or(ConfigError::None { tried }),
        }
    }

    /// Reads a file.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| ConfigError::Unreadable { file: file.to_owned(), source })?;
        Self::parse(&text, file)
    }

    /// Reads a text as the content of a file.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let wrong = |why: String| ConfigError::Wrong { file: file.to_owned(), why };
        let parsed: File = toml::from_str(text).map_err(|error| wrong(located(text, error.span(), error.message())))?;
        Rule::check(&parsed.policy.rules).map_err(|rule| ConfigError::Rule { file: file.to_owned(), rule })?;
        let folder = std::path::absolute(file.parent().unwrap_or(Path::new("."))).unwrap_or_default();
        if !["error", "warn", "info", "debug", "trace"].contains(&parsed.log.as_str()) {
            return Err(wrong(format!("`log` is `{}`; use error, warn, info, debug or trace", parsed.log)));
        }
        let numbers = [
            ("inspector.deadline_ms", parsed.inspector.deadline_ms, 1, 120_000),
            ("inspector.parallel", parsed.inspector.parallel, 1, 256),
            ("approval.expires_s", parsed.approval.expires_s, 1, 3600),
            ("approval.max_held", parsed.approval.max_held, 1, 10_000),
            ("approval.cards_per_hour", parsed.approval.cards_per_hour, 1, 100_000),
            ("limits.requests_per_second", parsed.limits.requests_per_second, 1, 1_000_000),
            ("limits.record_mib_per_hour", parsed.limits.record_mib_per_hour, 1, 1_000_000),
            ("inspector.calls_per_hour", parsed.inspector.calls_per_hour, 1, 1_000_000),
            ("audit.keep_days", parsed.audit.keep_days, 0, 36_500),
            ("audit.keep_records", parsed.audit.keep_records, 0, i64::MAX),
            ("limits.rescan_ms", parsed.limits.rescan_ms, 10, 60_000),
            ("limits.poll_ms", parsed.limits.poll_ms, 1, 60_000),
            ("egress.up_mib_per_hour", parsed.egress.up_mib_per_hour, 1, 1_000_000),
            ("egress.down_mib_per_hour", parsed.egress.down_mib_per_hour, 1, 1_000_000),
            ("egress.read_kib_per_hour", parsed.egress.read_kib_per_hour, 1, 1_000_000_000),
        ];
        if let Some((key, value, least, most)) =
            numbers.iter().find(|(_, value, least, most)| value < least || value > most)
        {
            return Err(wrong(format!("`{key}` is {value}; it must be from {least} to {most}")));
        }
        if (1..MIN_RECORDS).contains(&parsed.audit.keep_records) {
            let kept = parsed.audit.keep_records;
            return Err(wrong(format!(
                "`audit.keep_records` is {kept}; it must be 0, which keeps all, or at least {MIN_RECORDS}"
            )));
        }
        let notifications = match parsed.limits.notifications.as_str() {
            "auto" => true,
            "never" => false,
            other => return Err(wrong(format!("`limits.notifications` is `{other}`; use auto or never"))),
        };
        let rooms = parsed.workspaces.iter().filter(|(_, settings)| settings.clean_room);
        for (room, _) in rooms {
            let open = parsed.services.iter().find(|(_, service)| service.public_source == Property::Yes);
            if let Some((service, _)) = open {
                return Err(wrong(format!(
                    "workspace `{room}` is a clean room, but service `{service}` is a public source; set its `public_source` to false or \"forbidden\""
                )));
            }
        }
        if parsed.egress.run_reads && !parsed.egress.enabled {
            return Err(wrong(
                "`egress.run_reads` needs `egress.enabled`: there is no way out to run them with".to_owned(),
            ));
        }
        let models = parsed.egress.models.iter().map(|(name, file)| model(name, file, &folder));
        let models = models.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let reads = parsed.egress.run_reads.then(|| Reads {
            hosts: ReadHosts::new(&parsed.egress.read_hosts),
            bytes_per_hour: count(parsed.egress.read_kib_per_hour) << 10,
        });
        let inspector = inspector(&parsed.inspector, &folder).map_err(wrong)?;
        let chat = channels::read(parsed.chat, &folder).map_err(wrong)?;
        let people = people(parsed.people).map_err(wrong)?;
        if !parsed.policy.two_people.is_empty() && people.values().collect::<BTreeSet<_>>().len() < 2 {
            return Err(wrong(
                "`policy.two_people` needs two people: `[people]` says which accounts are whose, as ann = [\"telegram:123456789\"]"
                    .to_owned(),
            ));
        }
        let metrics = parsed.metrics.address("metrics").map_err(wrong)?;
        let telemetry = parsed.telemetry.read(&folder).map_err(wrong)?;
        let page = parsed.page.address("page").map_err(wrong)?;
        let programs = parsed.programs.as_ref().map(|path| programs::load(&folder.join(path))).transpose()?;
        Ok(Self {
            file: std::path::absolute(file).unwrap_or_else(|_| file.to_owned()),
            state: folder.join(parsed.state),
            mailboxes: folder.join(parsed.mailboxes),
            programs: programs.map(|(file, _)| file),
            log: parsed.log,
            inspector,
            parallel: usize::try_from(parsed.inspector.parallel).unwrap_or(1),
            expires: Duration::from_secs(count(parsed.approval.expires_s)),
            max_held: usize::try_from(parsed.approval.max_held).unwrap_or(1),
            requests_per_second: u32::try_from(parsed.limits.requests_per_second).unwrap_or(1),
            record_bytes_per_hour: count(parsed.limits.record_mib_per_hour) << 20,
            cards_per_hour: count(parsed.approval.cards_per_hour),
            model_calls_per_hour: count(parsed.inspector.calls_per_hour),
            rescan: Duration::from_millis(count(parsed.limits.rescan_ms)),
            notifications,
            poll: Duration::from_millis(count(parsed.limits.poll_ms)),
            keep_records: count(parsed.audit.keep_records),
            keep_days: count(parsed.audit.keep_days),
            metrics,
            telemetry,
            page,
            policy: Policy {
                enforce: parsed.policy.enforce,
                floor: parsed.policy.floor,
                rules: parsed.policy.rules,
                trusted_hosts: parsed.policy.trusted_hosts,
                risk: Risk { high: parsed.policy.high_risk, two_people: parsed.policy.two_people },
            },
            services: parsed.services,
            workspaces: parsed.workspaces,
            chat,
            egress: parsed.egress.enabled.then(|| egress::Settings {
                folder: folder.join(parsed.egress.folder),
                hosts: parsed.egress.hosts,
                private: parsed.egress.private,
                up_bytes_per_hour: count(parsed.egress.up_mib_per_hour) << 20,
                down_bytes_per_hour: count(parsed.egress.down_mib_per_hour) << 20,
                models,
            }),
            reads,
            people,
        })
    }

    /// What is known about a service.
    pub fn service(&self, name: &str) -> Service {
        let built_in = match name {
            "web" => Service::WEB,
            "files" => Service::FILES,
            _ => Service::UNKNOWN,
        };
        self.services.get(name).copied().unwrap_or(built_in)
    }
}

/// Whose each account is.
fn people(named: BTreeMap<String, Vec<String>>) -> Result<BTreeMap<String, String>, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (name, accounts) in named {
        for account in accounts {
            // Whoever sits at the host answers at its terminal and on its page.
            let local = account.strip_prefix("page:").or_else(|| account.strip_prefix("terminal:")).unwrap_or(&account);
            let same = if local.contains(':') {
                vec![account.clone()]
            } else {
                vec![local.to_owned(), format!("terminal:{local}"), format!("page:{local}")]
            };
            if let Some(other) = same.iter().find_map(|one| all.get(one)).filter(|other| **other != name) {
                return Err(format!(
                    "`people`: the account `{account}` is {other}'s and {name}'s; it can be one person's only"
                ));
            }
            all.extend(same.into_iter().map(|one| (one, name.clone())));
        }
    }
    Ok(all)
}

/// The key in a file, where one is named.
fn key_of(key_file: Option<&Path>, table: &str, folder: &Path) -> Result<Option<Key>, String> {
    let Some(path) = key_file.map(|path| folder.join(path)) else { return Ok(None) };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("cannot read `{table}.key_file` {}: {error}", path.display()))?;
    Ok(Some(Key(text.trim().to_owned())))
}

/// Where an API is: what the file says, or the usual place.
fn base_url_of(named: Option<&str>, usual: &str, table: &str) -> Result<String, String> {
    let base_url = named.unwrap_or(usual);
    if base_url.starts_with("http://") || base_url.starts_with("https://") {
        Ok(base_url.to_owned())
    } else {
        Err(format!("`{table}.base_url` is `{base_url}`; it must start with http:// or https://"))
    }
}

fn model(name: &str, file: &ModelFile, folder: &Path) -> Result<Model, String> {
    let table = format!("egress.models.{name}");
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || !name.bytes().all(is_name) {
        return Err(format!("`{table}`: use small letters, digits and `-` for its name"));
    }
    let Some(api) = APIS.iter().find(|api| api.kind == file.kind) else {
        let known: Vec<&str> = APIS.iter().map(|api| api.kind).collect();
        return Err(format!("`{table}.kind` is `{}`; use {}", file.kind, known.join(", ")));
    };
    let base_url = base_url_of(file.base_url.as_deref(), api.base_url, &table)?.trim_end_matches('/').to_owned();
    let url = reqwest::Url::parse(&base_url).ok().filter(|url| url.query().is_none() && url.username().is_empty());
    let end = url.and_then(|url| Some((url.host_str()?.to_owned(), url.port_or_known_default()?)));
    let wrong = || format!("`{table}.base_url` is `{base_url}`, which is no address such as {}", api.base_url);
    let end = end.ok_or_else(wrong)?;
    let key = key_of(file.key_file.as_deref(), &table, folder)?;
    if key.as_ref().is_some_and(|Key(key)| key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(format!("the file of `{table}.key_file` does not hold one key on one line"));
    }
    let (server_tools, fields) = (file.server_tools.clone(), file.fields.clone());
    Ok(Model { name: name.to_owned(), api, base_url, end, key, server_tools, fields })
}

fn inspector(file: &InspectorFile, folder: &Path) -> Result<InspectorKind, String> {
    let endpoint = |base_url: &str, model: &str| {
        let key = key_of(file.key_file.as_deref(), "inspector", folder)?;
        let base_url = base_url_of(file.base_url.as_deref(), base_url, "inspector")?;
        let model = file.model.clone().unwrap_or_else(|| model.to_owned());
        Ok(Endpoint { base_url, model, key, deadline: Duration::from_millis(count(file.deadline_ms)) })
    };
    match file.kind.as_str() {
        "offline" => Ok(InspectorKind::Offline),
        "anthropic" => endpoint("https://api.anthropic.com", "claude-haiku-4-5").map(InspectorKind::Anthropic),
        "openai" if file.model.is_none() => {
            Err("`inspector.kind` is `openai`, so `inspector.model` must name a model".to_owned())
        }
        "openai" => endpoint("https://api.openai.com", "").map(InspectorKind::OpenAi),
        other => Err(format!("`inspector.kind` is `{other}`; use offline, anthropic or openai")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("/etc/bashgate/bashgate.toml"))
    }

    #[test]
    fn the_example_holds_every_default_and_its_comments_are_valid_too() {
        let empty = parse("").unwrap();
        let example = parse(EXAMPLE).unwrap();
        assert_eq!(format!("{empty:?}"), format!("{example:?}"));
        // Every line that is commented out is a key that works.
        let all: String = EXAMPLE
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest)
                    if rest.starts_with('[')
                        || rest
                            .split_once(" = ")
                            .is_some_and(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')) =>
                {
                    rest
                }
                _ => line,
            })
            // Files that must be there.
            .filter(|line| !line.starts_with("key_file") && !line.starts_with("programs = "))
            .collect::<Vec<_>>()
            .join("\n");
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("telegram.token");
        std::fs::write(&token, "1:x\n").unwrap();
        std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let all = Config::parse(&all, &folder.path().join("bashgate.toml")).unwrap();
        assert_eq!((all.policy.rules.len(), all.services.len(), all.workspaces.len(), all.chat.len()), (1, 1, 1, 1));
        let phone = &all.chat["phone"];
        assert!(phone.approvers.contains("123456789") && phone.thread.is_some() && phone.workspaces.is_some());
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, want) in [
            ("colour = 1", "line 1, `colour = 1`: unknown field `colour`"),
            ("state = 1", "invalid type"),
            ("[inspector]\nkind = \"magic\"", "use offline, anthropic or openai"),
            ("[inspector]\nkind = \"openai\"", "must name a model"),
            ("[inspector]\nkind = \"anthropic\"\nkey_file = \"/nonexistent\"", "cannot read `inspector.key_file`"),
            ("[inspector]\nkind = \"anthropic\"\nbase_url = \"ftp://x\"", "http://"),
            ("[approval]\nexpires_s = 0", "from 1 to 3600"),
            ("[approval]\nexpires_s = -1", "`approval.expires_s` is -1; it must be from 1 to 3600"),
            ("[limits]\nrescan_ms = -5", "`limits.rescan_ms` is -5"),
            ("[audit]\nkeep_records = -1", "`audit.keep_records` is -1"),
            ("[approval]\nmax_held = \"x\"", "line 2, `max_held = \"x\"`"),
            ("log = \"loud\"", "use error, warn"),
            ("[limits]\nnotifications = \"maybe\"", "use auto or never"),
            ("[metrics]\nlisten = \"0.0.0.0:9464\"", "others can reach"),
            ("[page]\nlisten = \"0.0.0.0:9465\"", "`page.listen` is `0.0.0.0:9465`, which others can reach"),
            ("[metrics]\nlisten = \"localhost\"", "an address with a port"),
            ("[telemetry]\nendpoint = \"127.0.0.1:4318\"", "as http://127.0.0.1:4318"),
            ("[audit]\nkeep_records = 7", "at least 100"),
            ("[policy]\nfloor = \"never\"", "unknown variant"),
            ("[chat.x]\nkind = \"pigeon\"", "unknown variant"),
            ("[chat.x]\nkind = \"telegram\"\nroom = \"1\"", "`chat.x.token_file` is missing"),
            ("[chat.x]\nkind = \"telegram\"\nroom = \"#ops\"\ntoken_file = \"t\"", "rooms of telegram are numbers"),
            (
                "[chat.x]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"t\"\napprovers = [\"@ann\"]",
                "`chat.x.approvers` has `@ann`; people are named by ids",
            ),
            (
                "[chat.x]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"t\"\n[chat.x.approvers_of]\npay = [\"@ann\"]",
                "`chat.x.approvers_of.pay` has `@ann`; people are named by ids",
            ),
            (
                "[chat.x]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"t\"\nworkspaces = [\"web\"]\n[chat.x.approvers_of]\npay = []",
                "is not among its `workspaces`",
            ),
            ("[chat.x]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"none\"", "cannot read `chat.x.token_file`"),
            (
                "[chat.x]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"/etc/passwd\"",
                "can be read by others: chmod 600 it",
            ),
            (
                "[chat.x]\nkind = \"matrix\"\nroom = \"!r:s\"\ntoken_file = \"t\"",
                "`chat.x.base_url` is missing: the address of your server",
            ),
            (
                "[chat.x]\nkind = \"matrix\"\nroom = \"#r:s\"\ntoken_file = \"t\"\nbase_url = \"https://s\"",
                "not the `#…` that people see",
            ),
            (
                "[chat.x]\nkind = \"slack\"\nroom = \"C1\"\ntoken_file = \"t\"\napprovers = [\"U1\"]",
                "those of slack are `TEAM:USER`",
            ),
            ("[chat.\"A b\"]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"t\"", "a channel's name"),
            (
                "[chat.x]\nkind = \"telegram\"\nroom = \"1\"\ntoken_file = \"t\"\nbase_url = \"x\"",
                "must start with http",
            ),
            ("[workspaces.\"A/b\"]", "no workspace name"),
            ("[services.x]\npublic_sink = 3", "forbidden"),
            ("[workspaces.a]\nclean_room = true\n[services.x]\nsecret_data = false", "clean room"),
            (
                "[[policy.rules]]\naction = \"deny\"\nargv = [\"git\", \"push\"]\nmatch = [\"git pull\"]",
                "does not match its own example",
            ),
            ("[[policy.rules]]\naction = \"deny\"\nargv = [\"x\"]\nmatch = [\"x\"]\ntext = \"y\"", "unknown field"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(want), "{text}: {error}");
            assert!(!error.help().is_empty());
        }
    }
}
