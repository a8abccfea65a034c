//! What container and host write to each other: requests, responses, and their versions.
//!
//! A request is evidence from a hostile place: it is parsed strictly, names no workspace and cannot lower anything.
//! A response is only worth its signature, see [`crate::seal`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::classify::paths::ends_in;
use crate::classify::tool::{MAX_ACTS, ToolAct};
use crate::command::{CommandError, CommandLine, Digest, is_sha256};
use crate::draft::{SCRIPT_DRAFT, ScriptDraft};
use crate::object;
use crate::programs::reaches::is_host;
use crate::script::{self, Manifest, ManifestError};
use crate::shell::quoted;

/// Version of requests and responses.
pub const VERSION: u32 = 1;
/// The type of a request to check a shell command.
pub const BASH_CHECK: &str = "security:bash_check";
/// The type of a report that a tool is about to be used.
pub const TOOL_EVENT: &str = "security:tool_event";
/// The type of a report that a shell command has run.
pub const BASH_RAN: &str = "security:bash_ran";
/// Longest text of a short field (agent, session, tool), in bytes.
pub const MAX_LABEL_BYTES: usize = 256;
/// Most places of the gate's own in a request.
pub const MAX_PROTECTED: usize = 32;
/// Most files that a request tells about.
pub const MAX_EVIDENCE: usize = 16;
/// Longest start of a file of evidence, in bytes: one that is as long as this goes on. Of a file that is no code nothing is told
/// but its digest: it may be a secret.
pub const MAX_HEAD_BYTES: usize = 12 * 1024;
/// What stands behind the name of a file in the evidence that is a pipe or a device: nobody can say what it holds.
pub const NO_PLAIN_FILE: &str = " (no plain file: what is read is only known when it runs)";
/// What the entry that stands for more files says behind their number.
pub const MORE_FILES: &str = " more files";
/// What it says behind that where some of them are code.
pub const CODE_AMONG_THEM: &str = ", code among them: ";
/// The entry of evidence that stands for files in folders which the words of a command name beyond those that are looked into.
pub const FURTHER_FOLDERS: &str = "files in more folders than are looked into";
/// How the entry of evidence begins that stands for the environment; behind it the variables that steer something are named.
pub const ENVIRONMENT: &str = "the environment's ";
/// How the entry of evidence begins that stands for the files in a folder, without those in the folders below.
pub const FILES_DIRECTLY_IN: &str = "the files directly in ";
/// The entry that says that the folders in which a command works go by a variable.
pub const CD_BY_VARIABLE: &str = "where `cd` goes by CDPATH";
/// Longest part of a tool's input that a request tells, in bytes.
pub const MAX_SENT_BYTES: usize = 64 * 1024;
/// Longest wait that a request may ask for, in milliseconds.
pub const MAX_TIMEOUT_MS: u64 = 3_600_000;

/// The name of a request: a UUID in canonical form (lower case, with hyphens). Also the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct RequestId(String);

impl RequestId {
    /// Accepts a canonical UUID and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            });
        fits.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a workspace: one agent's identity on the host, and the name of its mailbox folder.
///
/// 1 to 64 characters of `a-z`, `0-9`, `.`, `_` and `-`, starting with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct WorkspaceName(String);

impl WorkspaceName {
    /// Accepts a name, or `None` for one that could be anything but a plain folder name.
    pub fn parse(text: &str) -> Option<Self> {
        let first = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let rest = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
        (first && rest && text.len() <= 64).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WorkspaceName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "`{text}` is no workspace name: use 1 to 64 of a-z, 0-9, `.`, `_` and `-`, starting with a letter or digit"
            ))
        })
    }
}

/// A request, as the container wrote it.
#[derive(Debug, Clone)]
pub enum Request {
    /// May this command run?
    BashCheck(Box<BashCheck>),
    /// This tool is about to be used.
    ToolEvent(Box<ToolEvent>),
    /// This command has run.
    BashRan(Box<BashRan>),
    /// Write a script that does this.
    ScriptDraft(Box<ScriptDraft>),
}

impl Request {
    /// How long the asker waits, in milliseconds, if it says so.
    pub fn timeout_ms(&self) -> Option<u64> {
        match self {
            Self::BashCheck(check) => check.timeout_ms,
            Self::ToolEvent(event) => event.timeout_ms,
            Self::BashRan(ran) => ran.timeout_ms,
            Self::ScriptDraft(draft) => draft.timeout_ms,
        }
    }

    /// True when the asker holds a lock on its request file for as long as it waits.
    pub fn is_locked_while_waiting(&self) -> bool {
        match self {
            Self::BashCheck(check) => check.locked,
            Self::ToolEvent(event) => event.locked,
            Self::BashRan(ran) => ran.locked,
            Self::ScriptDraft(draft) => draft.locked,
        }
    }
}

/// A request to check a shell command.
#[derive(Debug, Clone)]
pub struct BashCheck {
    /// The command.
    pub command: CommandLine,
    /// The working directory it would run in.
    pub cwd: Option<String>,
    /// The agent, for the audit.
    pub agent: Option<String>,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// The agent's own id of the tool call, for the audit.
    pub tool_use_id: Option<String>,
    /// How long the asker waits.
    pub timeout_ms: Option<u64>,
    /// True when the shell that will read the command is not known to be bash. Can only make the class stricter.
    pub other_shell: bool,
    /// The gate's own files in the container, so that the host knows what must not be touched.
    pub protected: Vec<String>,
    /// The asker holds a lock on its request file while it waits.
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    pub key_id: Option<String>,
    /// Files that the command would run, as the container says. Can only make the answer stricter.
    pub evidence: Vec<FileEvidence>,
    /// Secrets that the hook found behind links and patterns. They count as read.
    pub secrets: Vec<String>,
    /// What the hook found that the text does not tell (a link out of the workspace): the class is at least Unknown.
    pub unproven: Vec<String>,
    /// What the command reads and the hook could not look through for secrets, and why.
    pub unlooked: Vec<String>,
    /// Where the files that it writes really lie, where that is not what their names say.
    pub leads_to: Vec<String>,
    /// Parts of the gate in the place of which git would put others, that somebody has committed.
    pub brings: Vec<String>,
    /// What else it was asked with (in the background, outside of the agent's own sandbox), as the hook words it.
    pub asked_with: Vec<String>,
    /// Set when bashgate's own Bash tool asks.
    pub runner: Option<RunnerWire>,
    /// SHA-256, in hexadecimal digits, of the text that would run the command in the cage, from an asker that can run it
    /// there instead. An asker that lies about it runs what it was denied.
    pub caged_form: Option<String>,
    /// The digest of the operator's own programs with which the hook has looked at the command, in hexadecimal: it knows
    /// what their names mean there. Without it they count as not known.
    pub programs: Option<String>,
    /// Set by an asker that can run the command with a way out to the hosts that it names, and has looked at what must hold for that.
    pub egress: Option<Box<EgressWire>>,
    /// Set when the command is a managed script: then `command` is its text.
    pub script: Option<Box<ScriptWire>>,
    /// Set when it is a call of another tool than the shell: then `command` is the call in words, which nothing reads.
    pub tool: Option<Box<ToolCall>>,
    /// What acts later in the project now.
    pub acting: Option<Box<ActingWire>>,
}

/// Files of a project that act later, as its container says: what a command leaves there is found by comparing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActingWire {
    /// The project's folder.
    pub root: String,
    /// By their paths, which are absolute, what they are: a digest, which nobody reads but to compare. At most
    /// [`MAX_ACTING`]; a folder in which everyday tools make many stands as one, with a `/` at its end.
    pub files: BTreeMap<String, String>,
}

/// Most files of an [`ActingWire`].
pub const MAX_ACTING: usize = 512;
/// Most bytes of all their names and digests together.
pub const MAX_ACTING_BYTES: usize = 256 * 1024;

impl ActingWire {
    fn is_within_bounds(&self) -> bool {
        let bytes: usize = self.files.iter().map(|(path, digest)| path.len() + digest.len()).sum();
        self.root.len() <= 4096 && self.files.len() <= MAX_ACTING && bytes <= MAX_ACTING_BYTES
    }
}

/// A call of another tool than the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// What it works on: a path, a URL or a query.
    pub target: Option<String>,
    /// What it does to files and addresses, as far as the hook knows the tool.
    pub acts: Vec<ToolAct>,
    /// What a service is sent, or its start: then it is a service's, whatever it is called.
    pub sends: Option<Box<str>>,
}

/// What makes a command a managed script: who runs it holds it in a sandbox to what its manifest gives, and a person must
/// have approved manifest and text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptWire {
    /// Its manifest, in canonical form.
    #[serde(deserialize_with = "object::required")]
    pub manifest: Manifest,
    /// The values of its variables in this run. They are data: no approval covers them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

/// A report that a shell command has run, from an agent whose commands may be caged.
#[derive(Debug, Clone)]
pub struct BashRan {
    /// The agent's id of the tool call.
    pub tool_use_id: String,
    /// The start of the command, as the agent says that it ran; for the audit.
    pub command: String,
    /// SHA-256 of all of it, in hexadecimal digits.
    pub ran_sha256: String,
    /// Files that it made or changed and that act later.
    pub planted: Vec<String>,
    /// Known forms of credentials that its result shows, by their names. Never a value.
    pub shown: Vec<String>,
    /// It ran in the cage and failed, as it says for want of network.
    pub wanted_network: bool,
    /// What acts later in the project now, where somebody has looked.
    pub acting: Option<Box<ActingWire>>,
    /// The agent, for the audit.
    pub agent: Option<String>,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// How long the asker waits.
    pub timeout_ms: Option<u64>,
    /// The asker holds a lock on its request file while it waits.
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    pub key_id: Option<String>,
}

/// What an asker says of a command that it can run with egress: in a sandbox whose only way out leads to the hosts of the answer, where it
/// starts nothing but what its text says. Whoever lies about a remote gains a way to a host that the command does not go to, and that may
/// be read from, or that a person was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressWire {
    /// SHA-256, in hexadecimal digits, of the text that would run it so.
    pub form: String,
    /// The folder in which it would run, behind all links.
    pub folder: String,
    /// Where the remotes lie that its text names. At most [`MAX_REMOTES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "object::list")]
    pub remotes: Vec<RemoteWire>,
    /// SHA-256, in hexadecimal digits, of what the files hold that it reads and may send; empty where it reads none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub files: String,
}

/// A remote of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteWire {
    /// The folder in which git starts, as the text has it.
    pub folder: String,
    /// Its name; empty for the one that git takes by itself, `*` for all.
    pub remote: String,
    /// Its hosts. At most [`MAX_ENDS`].
    #[serde(deserialize_with = "object::list")]
    pub hosts: Vec<HostWire>,
    /// For what is written there: the repositories that it is, `host/owner/name`. At most [`MAX_ENDS`]. Nothing where they have no such
    /// names, or where a plain push would do more than its text says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repositories: Vec<String>,
}

/// A host, with a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostWire {
    /// Its name.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Most remotes of an [`EgressWire`].
pub const MAX_REMOTES: usize = 16;
/// Most hosts of a remote, and of an answer.
pub const MAX_ENDS: usize = 16;

impl EgressWire {
    /// What an answer with a way out is about: the command, where it runs, what its remotes are and what it would send. The run says the
    /// same of itself.
    pub fn subject(&self, command: &str) -> Digest {
        let Self { folder, remotes, files, .. } = self;
        Digest::of(serde_json::to_string(&(command, folder, remotes, files)).unwrap_or_default().as_bytes())
    }

    /// What the container calls a host and is none: it names them, and an address that it names would be reached unlooked.
    fn other_than_host(&self) -> Option<&str> {
        let mut hosts = self.remotes.iter().flat_map(|remote| &remote.hosts);
        hosts.find(|host| !is_host(&host.host) || host.port == 0).map(|host| host.host.as_str())
    }

    fn is_within_bounds(&self) -> bool {
        let fits = |remote: &RemoteWire| {
            remote.folder.len() <= 4096
                && remote.remote.len() <= MAX_LABEL_BYTES
                && remote.hosts.len() <= MAX_ENDS
                && remote.hosts.iter().all(|host| host.host.len() <= MAX_LABEL_BYTES)
                && remote.repositories.len() <= MAX_ENDS
                && remote.repositories.iter().all(|name| name.len() <= MAX_LABEL_BYTES)
        };
        self.form.len() <= 64
            && self.files.len() <= 64
            && self.folder.len() <= 4096
            && self.remotes.len() <= MAX_REMOTES
            && self.remotes.iter().all(fits)
    }
}

/// What bashgate's own Bash tool adds to a request. Can only make the answer stricter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerWire {
    /// The preset under which the command would run, for the audit.
    pub preset: String,
    /// Why the tool refuses the command by its own rules. Then the request is only for the record: the answer is no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl BashCheck {
    /// What the container says that the text does not: each of it can only make the answer stricter.
    pub fn says(&self) -> [&[String]; 5] {
        [&self.secrets, &self.unproven, &self.unlooked, &self.leads_to, &self.brings]
    }

    /// Why bashgate's own Bash tool refuses the command by its own rules, if it does.
    pub fn refused(&self) -> Option<&str> {
        self.runner.as_ref()?.refused.as_deref()
    }

    /// What a person approves, where the command is a managed script.
    pub fn script_digest(&self) -> Option<Digest> {
        self.script.as_ref().map(|script| script.manifest.digest(self.command.text()))
    }

    /// What is asked about, for people and the inspector: the command, or a script with its manifest and its values.
    pub fn shown(&self) -> Cow<'_, str> {
        let Some(script) = &self.script else { return Cow::Borrowed(self.command.text()) };
        let mut shown = script.manifest.shown(self.command.text());
        for (name, value) in &script.values {
            shown.push_str(&format!("\n# in this run {name} is {value:?}"));
        }
        Cow::Owned(shown)
    }

    /// The permission that the command needs, as operators' rules and the audit show it for bashgate's own Bash tool.
    pub fn permission(&self) -> Option<String> {
        self.runner.as_ref().map(|_| format!("tool:bash:{}", self.command.text()))
    }
}

/// Behind the name of a folder that is told with everything in it.
pub const ALL_OF_IT: &str = " (all of it)";

/// What stands in the place of the first bytes of code that is no text.
pub const NOT_TEXT: &str = "(a program, or what begins like one: nothing of it is shown)";

/// What is told of a command that its asker does not wait for.
pub const IN_BACKGROUND: &str = "runs in the background, while the agent goes on";

/// What is told, behind its name, of a file of settings by which scripts run in another way than they say, and of one that names a program
/// that builds start. Neither has a digest.
pub const SAYS_HOW_SCRIPTS_RUN: &str = "says of how scripts run";
/// See [`SAYS_HOW_SCRIPTS_RUN`].
pub const NAMES_PROGRAM_OF_BUILDS: &str = "names as a program of builds";

/// A file that a command would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEvidence {
    /// Its path.
    pub path: String,
    /// SHA-256 of its content in hexadecimal digits; empty for what could not be read.
    pub sha256: String,
    /// Its first bytes; [`NOT_TEXT`] for code that is none. Empty for what is not told.
    pub head: String,
}

impl FileEvidence {
    /// True for the entry of this very file or folder, also where it says why there is no digest.
    pub fn is_of(&self, path: &str) -> bool {
        let Some(rest) = self.path.strip_prefix(path) else { return false };
        rest.is_empty() || self.sha256.is_empty() && rest.starts_with(" (") || rest.strip_prefix('/') == Some(ALL_OF_IT)
    }

    /// True for what is told of a file that has programs run of which no text says anything.
    pub fn says_what_runs(&self) -> bool {
        let says = |what: &&str| self.path.ends_with(*what);
        self.sha256.is_empty() && [SAYS_HOW_SCRIPTS_RUN, NAMES_PROGRAM_OF_BUILDS].iter().any(says)
    }

    /// True for the entry of all the files that lie in a folder.
    pub fn is_folders(&self) -> bool {
        self.path.starts_with(FILES_DIRECTLY_IN)
    }

    /// True where this is the file that a text names, by the last parts of its path.
    pub fn is_called(&self, named: &str) -> bool {
        ends_in(&self.path, named.strip_prefix("./").unwrap_or(named))
    }

    /// True for code of which nobody is shown anything but the digest.
    pub fn is_left_out(&self) -> bool {
        self.head == NOT_TEXT
    }
}

/// A report that a tool other than the shell is about to be used.
#[derive(Debug, Clone)]
pub struct ToolEvent {
    /// The tool's name.
    pub tool: String,
    /// What it works on: a path, a URL or a query.
    pub target: Option<String>,
    /// What it does to files and addresses, as far as the hook knows the tool. At most [`MAX_ACTS`].
    pub acts: Vec<ToolAct>,
    /// What a service is sent: the tool's input, or its start and how much there is more. Only a service is sent something.
    pub sends: Option<String>,
    /// What is written: the tool's input, or its start and how much there is more.
    pub content: Option<String>,
    /// The agent's working directory.
    pub cwd: Option<String>,
    /// See [`BashCheck`].
    pub protected: Vec<String>,
    /// See [`BashCheck`].
    pub evidence: Vec<FileEvidence>,
    /// See [`BashCheck`].
    pub secrets: Vec<String>,
    /// See [`BashCheck`].
    pub unproven: Vec<String>,
    /// See [`BashCheck`].
    pub unlooked: Vec<String>,
    /// See [`BashCheck`].
    pub leads_to: Vec<String>,
    /// The agent, for the audit.
    pub agent: Option<String>,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// The agent's own id of the call, for the audit.
    pub tool_use_id: Option<String>,
    /// How long the asker waits.
    pub timeout_ms: Option<u64>,
    /// The asker holds a lock on its request file while it waits.
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    pub key_id: Option<String>,
}

impl ToolEvent {
    /// The call in words, for people and the inspector: the tool's name, what it works on, and on lines of their own what it
    /// sends.
    fn words(&self) -> String {
        let on = self.acts.iter().map(|act| match act {
            ToolAct::Read { path } | ToolAct::Search { path } | ToolAct::Write { path } => quoted(path),
            ToolAct::Fetch { address } => address.clone(),
        });
        let on: Vec<String> = if self.acts.is_empty() { self.target.iter().cloned().collect() } else { on.collect() };
        let mut words = std::iter::once(self.tool.clone()).chain(on).collect::<Vec<_>>().join(" ");
        for more in self.sends.iter().chain(&self.content) {
            words.push('\n');
            words.push_str(more);
        }
        // No shell reads it, so that nothing has to end there.
        words.replace('\0', "\u{fffd}")
    }

    /// The same as a question that is decided like one about a command.
    pub fn into_question(self) -> Result<BashCheck, CommandError> {
        Ok(BashCheck {
            command: CommandLine::parse(self.words())?,
            cwd: self.cwd,
            agent: self.agent,
            session: self.session,
            tool_use_id: self.tool_use_id,
            timeout_ms: self.timeout_ms,
            other_shell: false,
            protected: self.protected,
            locked: self.locked,
            key_id: self.key_id,
            evidence: self.evidence,
            secrets: self.secrets,
            unproven: self.unproven,
            unlooked: self.unlooked,
            leads_to: self.leads_to,
            brings: Vec::new(),
            asked_with: Vec::new(),
            runner: None,
            caged_form: None,
            programs: None,
            egress: None,
            script: None,
            tool: Some(Box::new(ToolCall {
                name: self.tool,
                target: self.target,
                acts: self.acts,
                sends: self.sends.map(String::into_boxed_str),
            })),
            acting: None,
        })
    }
}

/// The wire form of a request to check a command.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BashCheckWire {
    /// [`BASH_CHECK`].
    #[serde(rename = "type")]
    pub kind: String,
    /// The request's id.
    pub request_id: String,
    /// The command.
    pub command: String,
    /// Version; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<u32>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_shell: bool,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "object::list")]
    pub evidence: Vec<FileEvidence>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlooked: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads_to: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brings: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_with: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub runner: Option<RunnerWire>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caged_form: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub egress: Option<EgressWire>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub script: Option<ScriptWire>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub acting: Option<ActingWire>,
}

/// The wire form of a report that a command has run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BashRanWire {
    /// [`BASH_RAN`].
    #[serde(rename = "type")]
    pub kind: String,
    /// The request's id.
    pub request_id: String,
    /// See [`BashRan`].
    pub tool_use_id: String,
    /// See [`BashRan`].
    pub command: String,
    /// See [`BashRan`].
    pub ran_sha256: String,
    /// See [`BashRan`]. At most [`MAX_EVIDENCE`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planted: Vec<String>,
    /// See [`BashRan`]. At most [`MAX_EVIDENCE`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// See [`BashRan`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wanted_network: bool,
    /// See [`BashRan`].
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub acting: Option<ActingWire>,
    /// Version; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<u32>,
    /// See [`BashRan`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// See [`BashRan`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// See [`BashRan`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// See [`BashRan`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
}

/// The wire form of a tool event.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolEventWire {
    /// [`TOOL_EVENT`].
    #[serde(rename = "type")]
    pub kind: String,
    /// The request's id.
    pub request_id: String,
    /// The tool's name.
    pub tool: String,
    /// Version; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<u32>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ToolAct>,
    /// See [`ToolEvent`]. At most [`MAX_SENT_BYTES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sends: Option<String>,
    /// See [`ToolEvent`]. At most [`MAX_SENT_BYTES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<FileEvidence>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlooked: Vec<String>,
    /// See [`BashCheck`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads_to: Vec<String>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// See [`ToolEvent`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
}

/// Why a request is answered with a denial at once.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// Not JSON, or not of the expected shape.
    #[error("the request is not what the protocol allows: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Not a request type that this host knows.
    #[error("the request type `{0}` is not known here")]
    UnknownType(String),
    /// The version is not ours.
    #[error("the request has version {0}, this host speaks {VERSION}")]
    Version(u32),
    /// The id inside is not the name of the file.
    #[error("the request's id is not the name of its file")]
    WrongId,
    /// A field is longer than it may be.
    #[error("the field `{0}` is too long")]
    FieldTooLong(&'static str),
    /// A field says nothing.
    #[error("the field `{0}` is empty")]
    Empty(&'static str),
    /// What a file of evidence is bound by is no digest.
    #[error("a file of evidence has no SHA-256 digest in hexadecimal digits")]
    NoDigest,
    /// Where a remote lies is no name of a host.
    #[error("a remote lies at `{0}`, which is no name of a host")]
    NoHost(String),
    /// The command cannot be looked at.
    #[error("{0}")]
    Command(#[from] CommandError),
    /// A script's manifest is none.
    #[error("the script's manifest is not what the protocol allows: {0}")]
    Manifest(#[from] ManifestError),
}

impl RequestError {
    /// What the agent can do instead.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Command(error) => error.help(),
            Self::Version(_) | Self::UnknownType(_) | Self::Malformed(_) | Self::NoDigest | Self::NoHost(_) => {
                "install bashgate-hook and bashgate of the same version"
            }
            Self::WrongId => "name the file after its request_id",
            Self::FieldTooLong(_) => "shorten it",
            Self::Empty(_) => "say what is wanted",
            Self::Manifest(_) => "correct the script",
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    v: Option<u32>,
}

/// Parses the bytes of a request file. The id must be the one in the file's name.
pub fn parse_request(bytes: &[u8], id: &RequestId) -> Result<Request, RequestError> {
    let envelope: Envelope = object::from_slice(bytes)?;
    if let Some(version) = envelope.v.filter(|version| *version != VERSION) {
        return Err(RequestError::Version(version));
    }
    let label = |text: &Option<String>, name: &'static str, most: usize| match text {
        Some(text) if text.len() > most => Err(RequestError::FieldTooLong(name)),
        _ => Ok(()),
    };
    match envelope.kind.as_str() {
        BASH_CHECK => {
            let wire: BashCheckWire = object::from_slice(bytes)?;
            if wire.request_id != id.as_str() {
                return Err(RequestError::WrongId);
            }
            label(&wire.agent, "agent", MAX_LABEL_BYTES)?;
            label(&wire.session, "session", MAX_LABEL_BYTES)?;
            label(&wire.tool_use_id, "tool_use_id", MAX_LABEL_BYTES)?;
            label(&wire.cwd, "cwd", 4096)?;
            label(&wire.caged_form, "caged_form", 64)?;
            label(&wire.programs, "programs", 64)?;
            looked(&[
                ("protected", &wire.protected),
                ("secrets", &wire.secrets),
                ("unproven", &wire.unproven),
                ("unlooked", &wire.unlooked),
                ("leads_to", &wire.leads_to),
                ("brings", &wire.brings),
                ("asked_with", &wire.asked_with),
            ])?;
            bounded(&wire.evidence)?;
            if let Some(runner) = &wire.runner {
                label(&Some(runner.preset.clone()), "runner.preset", MAX_LABEL_BYTES)?;
                label(&runner.refused, "runner.refused", 4096)?;
            }
            if wire.acting.as_ref().is_some_and(|acting| !acting.is_within_bounds()) {
                return Err(RequestError::FieldTooLong("acting"));
            }
            if wire.egress.as_ref().is_some_and(|egress| !egress.is_within_bounds()) {
                return Err(RequestError::FieldTooLong("egress"));
            }
            if let Some(other) = wire.egress.as_ref().and_then(EgressWire::other_than_host) {
                return Err(RequestError::NoHost(other.chars().take(100).collect()));
            }
            let script = wire.script.map(|script| checked(script, &wire.command)).transpose()?;
            Ok(Request::BashCheck(Box::new(BashCheck {
                command: CommandLine::parse(wire.command)?,
                script: script.map(Box::new),
                cwd: wire.cwd,
                agent: wire.agent,
                session: wire.session,
                tool_use_id: wire.tool_use_id,
                timeout_ms: wire.timeout_ms.map(|ms| ms.min(MAX_TIMEOUT_MS)),
                other_shell: wire.other_shell,
                protected: wire.protected,
                locked: wire.locked,
                key_id: wire.key_id.filter(|id| id.len() <= 64),
                evidence: wire.evidence,
                secrets: wire.secrets,
                unproven: wire.unproven,
                unlooked: wire.unlooked,
                leads_to: wire.leads_to,
                brings: wire.brings,
                asked_with: wire.asked_with,
                runner: wire.runner,
                caged_form: wire.caged_form,
                programs: wire.programs,
                egress: wire.egress.map(Box::new),
                tool: None,
                acting: wire.acting.map(Box::new),
            })))
        }
        BASH_RAN => {
            let wire: BashRanWire = object::from_slice(bytes)?;
            if wire.request_id != id.as_str() {
                return Err(RequestError::WrongId);
            }
            label(&Some(wire.tool_use_id.clone()), "tool_use_id", MAX_LABEL_BYTES)?;
            label(&wire.agent, "agent", MAX_LABEL_BYTES)?;
            label(&wire.session, "session", MAX_LABEL_BYTES)?;
            label(&Some(wire.command.clone()), "command", 4096)?;
            label(&Some(wire.ran_sha256.clone()), "ran_sha256", 64)?;
            for (list, name) in [(&wire.planted, "planted"), (&wire.shown, "shown")] {
                if list.len() > MAX_EVIDENCE {
                    return Err(RequestError::FieldTooLong(name));
                }
                for text in list {
                    label(&Some(text.clone()), name, 4096)?;
                }
            }
            if wire.acting.as_ref().is_some_and(|acting| !acting.is_within_bounds()) {
                return Err(RequestError::FieldTooLong("acting"));
            }
            Ok(Request::BashRan(Box::new(BashRan {
                acting: wire.acting.map(Box::new),
                tool_use_id: wire.tool_use_id,
                command: wire.command,
                ran_sha256: wire.ran_sha256,
                planted: wire.planted,
                shown: wire.shown,
                wanted_network: wire.wanted_network,
                agent: wire.agent,
                session: wire.session,
                timeout_ms: wire.timeout_ms.map(|ms| ms.min(MAX_TIMEOUT_MS)),
                locked: wire.locked,
                key_id: wire.key_id.filter(|id| id.len() <= 64),
            })))
        }
        TOOL_EVENT => {
            let wire: ToolEventWire = object::from_slice(bytes)?;
            if wire.request_id != id.as_str() {
                return Err(RequestError::WrongId);
            }
            label(&Some(wire.tool.clone()), "tool", MAX_LABEL_BYTES)?;
            label(&wire.agent, "agent", MAX_LABEL_BYTES)?;
            label(&wire.session, "session", MAX_LABEL_BYTES)?;
            label(&wire.tool_use_id, "tool_use_id", MAX_LABEL_BYTES)?;
            label(&wire.target, "target", 8192)?;
            label(&wire.sends, "sends", MAX_SENT_BYTES)?;
            label(&wire.content, "content", MAX_SENT_BYTES)?;
            label(&wire.cwd, "cwd", 4096)?;
            looked(&[
                ("protected", &wire.protected),
                ("secrets", &wire.secrets),
                ("unproven", &wire.unproven),
                ("unlooked", &wire.unlooked),
                ("leads_to", &wire.leads_to),
            ])?;
            bounded(&wire.evidence)?;
            if wire.acts.len() > MAX_ACTS || wire.acts.iter().any(|act| act.on().len() > 8192) {
                return Err(RequestError::FieldTooLong("acts"));
            }
            Ok(Request::ToolEvent(Box::new(ToolEvent {
                tool: wire.tool,
                target: wire.target,
                acts: wire.acts,
                sends: wire.sends,
                content: wire.content,
                cwd: wire.cwd,
                protected: wire.protected,
                evidence: wire.evidence,
                secrets: wire.secrets,
                unproven: wire.unproven,
                unlooked: wire.unlooked,
                leads_to: wire.leads_to,
                tool_use_id: wire.tool_use_id,
                agent: wire.agent,
                session: wire.session,
                timeout_ms: wire.timeout_ms.map(|ms| ms.min(MAX_TIMEOUT_MS)),
                locked: wire.locked,
                key_id: wire.key_id.filter(|id| id.len() <= 64),
            })))
        }
        SCRIPT_DRAFT => Ok(Request::ScriptDraft(Box::new(ScriptDraft::parse(bytes, id)?))),
        other => Err(RequestError::UnknownType(other.chars().take(64).collect())),
    }
}

/// The files that a question is about: no more, and no longer, than the hook tells.
fn bounded(evidence: &[FileEvidence]) -> Result<(), RequestError> {
    let length = evidence.iter().map(|file| file.path.len() + file.sha256.len() + file.head.len());
    let is_long = evidence.len() > MAX_EVIDENCE || length.sum::<usize>() > 256 * 1024;
    if is_long {
        return Err(RequestError::FieldTooLong("evidence"));
    }
    let is_bound = |file: &FileEvidence| file.sha256.is_empty() || is_sha256(&file.sha256);
    if evidence.iter().all(is_bound) { Ok(()) } else { Err(RequestError::NoDigest) }
}

/// What the hook has looked at: the gate's own files, and what it found. None of it may be longer than it ever is.
fn looked(lists: &[(&'static str, &Vec<String>)]) -> Result<(), RequestError> {
    let is_long = |field: &str, list: &[String]| {
        let most = if field == "protected" { MAX_PROTECTED } else { 64 };
        list.len() > most || list.iter().any(|text| text.len() > 4096)
    };
    match lists.iter().find(|(field, list)| is_long(field, list)) {
        Some((field, _)) => Err(RequestError::FieldTooLong(field)),
        None => Ok(()),
    }
}

/// A script whose manifest is as it was approved: canonical, with a value for each of its variables and for nothing else.
fn checked(wire: ScriptWire, text: &str) -> Result<ScriptWire, RequestError> {
    if text.len() > script::MAX_TEXT_BYTES {
        return Err(RequestError::FieldTooLong("command"));
    }
    if wire.values.values().map(String::len).sum::<usize>() > script::MAX_VALUES_BYTES {
        return Err(RequestError::FieldTooLong("script.values"));
    }
    let manifest = wire.manifest.clone().canonical()?;
    if manifest != wire.manifest {
        let why = "its lists are not sorted".to_owned();
        return Err(ManifestError { field: "script.manifest", why }.into());
    }
    if !wire.values.keys().eq(&manifest.variables) {
        let why = "they are not those of the manifest".to_owned();
        return Err(ManifestError { field: "script.values", why }.into());
    }
    Ok(wire)
}

/// The last word on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

impl Answer {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A response file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Allow or deny.
    pub decision: Answer,
    /// Why, for people and agents; on a denial also what can be done instead. Of a script that was asked for, its text.
    pub reason: String,
    /// Version.
    pub v: u32,
    /// The first 16 hexadecimal digits of the SHA-256 of the host's public key.
    pub key_id: String,
    /// The request that is answered.
    pub request_id: String,
    /// The workspace that asked.
    pub workspace: String,
    /// SHA-256 of the exact bytes of the request; empty on a denial of a request that could not be read.
    pub request_sha256: String,
    /// Who said it: `policy`, `inspector`, or `human:NAME`.
    pub decided_by: String,
    /// The workspace's taint epoch when it was decided.
    pub taint_epoch: u64,
    /// How long the answer counts, in milliseconds from the moment the hook asked.
    pub valid_for_ms: u64,
    /// On a denial: the command may run in the cage instead, by an asker that said it can.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cage: bool,
    /// With `cage`, or with an allow of what the asker can run so: the hosts to which it has a way out, and how many bytes may go to all of
    /// them and come from them. Nothing for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "object::list")]
    pub egress: Vec<EgressEnd>,
    /// Ed25519 over [`crate::seal::response_bytes`], in hexadecimal digits.
    pub signature: String,
}

/// A host that a command may reach, and how much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressEnd {
    /// Its name.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Most bytes to all hosts of the answer together.
    pub up_bytes: u64,
    /// Most bytes from all of them together.
    pub down_bytes: u64,
}

/// The host's sign of life in `responses/`. It never allows anything; it only ends a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// Version.
    pub v: u32,
    /// The kernel's boot id, so that boot times can be compared.
    pub boot_id: String,
    /// Time since boot when it was written, in milliseconds.
    pub boot_ms: u64,
    /// See [`Response`].
    pub key_id: String,
    /// Ed25519 over [`crate::seal::heartbeat_bytes`], in hexadecimal digits.
    pub signature: String,
    /// The same by the key before this one, while hooks that have it are still believed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object::optional")]
    pub previous: Option<PreviousSignature>,
}

/// A signature by the key before the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousSignature {
    /// See [`Response`].
    pub key_id: String,
    /// See [`Heartbeat`].
    pub signature: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b";

    #[test]
    fn a_remote_lies_at_a_name() {
        let id = RequestId::parse(ID).unwrap();
        let parsed = |host: &str, port: u16| {
            let remote =
                serde_json::json!({"folder": ".", "remote": "origin", "hosts": [{"host": host, "port": port}]});
            let egress = serde_json::json!({"form": "0".repeat(64), "folder": "/w", "remotes": [remote]});
            let text = serde_json::json!({"type": BASH_CHECK, "request_id": id.to_string(), "command": "git fetch", "egress": egress});
            parse_request(text.to_string().as_bytes(), &id)
        };
        assert!(parsed("git.example.org", 22).is_ok());
        for host in [
            "127.0.0.1",
            "169.254.169.254",
            "[::1]",
            "::1",
            "0x7f.1",
            "2130706433",
            "localhost",
            "",
            "a b.example",
            "a.example.",
        ] {
            assert!(matches!(parsed(host, 22), Err(RequestError::NoHost(_))), "{host}");
        }
        assert!(parsed("git.example.org", 0).is_err());
    }

    fn parse(json: &str) -> Result<Request, RequestError> {
        parse_request(json.as_bytes(), &RequestId::parse(ID).unwrap())
    }

    #[test]
    fn the_three_fields_of_the_first_protocol_are_enough() {
        let request =
            parse(&format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"ls"}}"#)).unwrap();
        assert!(matches!(request, Request::BashCheck(check) if check.command.text() == "ls"));
    }

    #[test]
    fn anything_else_is_refused_with_a_reason() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (json, want) in [
            (String::new(), "not what the protocol allows"),
            ("{".to_owned(), "not what the protocol allows"),
            (deep, "not what the protocol allows"),
            (format!(r#"{{"type":"security:other","request_id":"{ID}"}}"#), "not known"),
            (format!(r#"{{"type":"security:bash_check","request_id":"{ID}"}}"#), "missing field"),
            (
                format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"ls","command":"curl"}}"#),
                "duplicate field",
            ),
            (
                format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"ls","approved":true}}"#),
                "unknown field",
            ),
            (
                format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"ls","workspace":"x"}}"#),
                "unknown field",
            ),
            (
                format!(r#"{{"type":"security:bash_check","request_id":"{}","command":"ls"}}"#, ID.replace('2', "3")),
                "name of its file",
            ),
            (format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"ls","v":9}}"#), "version 9"),
            (format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"\ud800"}}"#), "hex escape"),
            (
                format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"{}"}}"#, "x".repeat(262_145)),
                "limit",
            ),
            (format!(r#"{{"type":"security:bash_check","request_id":"{ID}","command":"ls"}} x"#), "trailing"),
        ] {
            let error = parse(&json).unwrap_err();
            assert!(error.to_string().contains(want), "{error} lacks {want}");
            assert!(!error.help().is_empty());
        }
    }

    #[test]
    fn ids_and_names_are_plain() {
        for bad in [
            "",
            "x",
            "../../etc/passwd",
            "2F1C7D1E-0A4B-4C8E-9B1D-5A6F7E8D9C0B",
            "2f1c7d1e0a4b4c8e9b1d5a6f7e8d9c0b",
            &format!("{ID}\0"),
        ] {
            assert!(RequestId::parse(bad).is_none(), "{bad:?}");
        }
        for bad in ["", ".", "..", "a/b", "A", "-x", "a b", "ä", &"x".repeat(65)] {
            assert!(WorkspaceName::parse(bad).is_none(), "{bad:?}");
        }
        assert!(WorkspaceName::parse("team-1.agent_2").is_some());
    }
}
