//! Which channels there are, and who may say what in them: `[chat.NAME]` of the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::seal::PublicKey;
use serde::Deserialize;

use super::hours::Hours;
use crate::inspector::Key;

/// One channel.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// The service that it goes through.
    pub kind: Kind,
    /// The service's address.
    pub base_url: String,
    /// The credential of our account there.
    pub token: Key,
    /// The credential for events, where the service has one of its own for them.
    pub app_token: Option<Key>,
    /// The room that it is bound to: what is said elsewhere counts for nothing.
    pub room: String,
    /// A thread of it.
    pub thread: Option<String>,
    /// Who may answer, by the service's own ids. Empty means nobody.
    pub approvers: BTreeSet<String>,
    /// The same for single workspaces, in place of that list.
    pub approvers_of: BTreeMap<WorkspaceName, BTreeSet<String>>,
    /// The workspaces whose cards it shows and whose cards can be answered in it; `None` for all.
    pub workspaces: Option<BTreeSet<WorkspaceName>>,
    /// Which answers take a one-time code.
    pub codes: CodesFor,
    /// When its people are told.
    pub hours: Hours,
    /// The key of the desk that speaks here, for a desk of a fleet.
    pub desk: Option<PublicKey>,
}

/// Which answers of a channel take a one-time code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodesFor {
    /// What `policy.high_risk` names.
    #[default]
    HighRisk,
    /// Each approval.
    All,
    /// None: whoever runs the service is trusted with everything.
    None,
}

impl Settings {
    /// True when an approval takes a code here; `is_risky` is what the policy says about it.
    pub const fn asks_code(&self, is_risky: bool) -> bool {
        match self.codes {
            CodesFor::HighRisk => is_risky,
            CodesFor::All => true,
            CodesFor::None => false,
        }
    }

    /// Who may answer for a workspace, by the service's own ids.
    pub fn who_answers(&self, workspace: &WorkspaceName) -> &BTreeSet<String> {
        self.approvers_of.get(workspace).unwrap_or(&self.approvers)
    }

    /// True for somebody who may answer for some workspace.
    pub fn is_heard(&self, user: &str) -> bool {
        std::iter::once(&self.approvers).chain(self.approvers_of.values()).any(|ids| ids.contains(user))
    }

    /// True for a workspace that this channel is about.
    pub fn is_about(&self, workspace: &WorkspaceName) -> bool {
        self.workspaces.as_ref().is_none_or(|names| names.contains(workspace))
    }

    /// A person who speaks in it, as records have them: the service's id says who it is, the name is for readers.
    pub fn person(&self, user: &str, name: &str) -> String {
        let name: String =
            name.chars().filter(|letter| letter.is_alphanumeric() || " .-_".contains(*letter)).take(40).collect();
        match name.trim() {
            // The account has its service's name already.
            name if self.kind == Kind::Desk => format!("{user} ({name} at {})", self.name),
            "" => format!("{}:{user}", self.kind.word()),
            name => format!("{}:{user} ({name})", self.kind.word()),
        }
    }
}

/// A service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A desk of the fleet that this host belongs to: its people are the accounts of its own channels.
    Desk,
    /// Discord's API and gateway.
    Discord,
    /// Matrix' client-server API.
    Matrix,
    /// A topic of ntfy: it only tells.
    Ntfy,
    /// Slack's Web API and Socket Mode.
    Slack,
    /// Telegram's Bot API.
    Telegram,
    /// An address of one's own that is told: it only tells.
    Webhook,
}

/// What its ids look like.
struct Ids {
    room: &'static str,
    is_room: fn(&str) -> bool,
    person: &'static str,
    is_person: fn(&str) -> bool,
}

impl Kind {
    /// Its name, as people's names begin with it in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Desk => "desk",
            Self::Discord => "discord",
            Self::Matrix => "matrix",
            Self::Ntfy => "ntfy",
            Self::Slack => "slack",
            Self::Telegram => "telegram",
            Self::Webhook => "webhook",
        }
    }

    /// Where it is to be found, for a service that is one place.
    const fn usual_address(self) -> Option<&'static str> {
        match self {
            Self::Discord => Some("https://discord.com/api/v10"),
            Self::Matrix | Self::Webhook => None,
            // It is reached through the fleet.
            Self::Desk => Some(""),
            Self::Ntfy => Some("https://ntfy.sh"),
            Self::Slack => Some("https://slack.com/api"),
            Self::Telegram => Some("https://api.telegram.org"),
        }
    }

    const fn ids(self) -> Ids {
        match self {
            Self::Matrix => Ids {
                room: "`!…`, not the `#…` that people see",
                is_room: |id| id.len() > 1 && id.starts_with('!'),
                person: "`@name:server`",
                is_person: |id| id.starts_with('@') && id.contains(':'),
            },
            Self::Slack => Ids {
                room: "of capitals and digits, as in C0123ABCD",
                is_room: is_of_capitals,
                person: "`TEAM:USER`, as in T0123ABCD:U0123ABCD",
                is_person: |id| {
                    id.split_once(':').is_some_and(|(team, user)| is_of_capitals(team) && is_of_capitals(user))
                },
            },
            Self::Ntfy => Ids {
                room: "topics: letters, digits, `-` and `_`",
                is_room: |id| {
                    !id.is_empty() && id.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
                },
                person: "nobody's: nobody answers there",
                is_person: |_| false,
            },
            Self::Desk => Ids {
                room: "left out",
                is_room: str::is_empty,
                person: "`SERVICE:ID`, as in telegram:123456789",
                is_person: |id| id.split_once(':').is_some_and(|(service, id)| !service.is_empty() && !id.is_empty()),
            },
            Self::Webhook => Ids {
                room: "left out",
                is_room: str::is_empty,
                person: "nobody's: nobody answers there",
                is_person: |_| false,
            },
            Self::Discord | Self::Telegram => {
                Ids { room: "numbers", is_room: is_number, person: "numbers", is_person: is_number }
            }
        }
    }
}

fn is_of_capitals(id: &str) -> bool {
    id.len() > 1 && id.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
}

/// As the service itself writes it: what only reads as the same number would never be met.
fn is_number(id: &str) -> bool {
    id.parse::<i64>().is_ok_and(|number| number.to_string() == id)
}

/// A `[chat.NAME]` as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatFile {
    kind: Kind,
    #[serde(default)]
    base_url: Option<String>,
    #[serde(default)]
    token_file: Option<PathBuf>,
    #[serde(default)]
    app_token_file: Option<PathBuf>,
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    room: String,
    #[serde(default)]
    thread: Option<String>,
    #[serde(default)]
    approvers: Vec<String>,
    #[serde(default)]
    approvers_of: BTreeMap<WorkspaceName, Vec<String>>,
    #[serde(default)]
    workspaces: Option<Vec<WorkspaceName>>,
    #[serde(default)]
    codes: CodesFor,
    #[serde(default)]
    after_s: i64,
    #[serde(default = "remind_s")]
    remind_s: i64,
    #[serde(default)]
    quiet: Option<String>,
}

fn remind_s() -> i64 {
    Hours::REMIND_S
}

/// Checks what stands in the file, and reads the credentials that it names.
pub fn read(files: BTreeMap<String, ChatFile>, folder: &Path) -> Result<BTreeMap<String, Settings>, String> {
    let all: BTreeMap<String, Settings> = files
        .into_iter()
        .map(|(name, file)| Ok((name.clone(), one(name, file, folder)?)))
        .collect::<Result<_, String>>()?;
    let mut accounts: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (name, settings) in &all {
        // Each would take the other's news away.
        if matches!(settings.kind, Kind::Ntfy | Kind::Webhook | Kind::Desk) {
            continue;
        }
        if let Some(other) = accounts.insert((settings.kind.word(), &settings.token.0), name) {
            return Err(format!(
                "`[chat.{other}]` and `[chat.{name}]` are one account of {}: each needs its own",
                settings.kind.word()
            ));
        }
    }
    Ok(all)
}

fn one(name: String, file: ChatFile, folder: &Path) -> Result<Settings, String> {
    let key = |field: &str| format!("`chat.{name}.{field}`");
    if WorkspaceName::parse(&name).is_none() {
        return Err(format!("`[chat.{name}]`: a channel's name is of a-z, 0-9, `.`, `_` and `-`"));
    }
    let base_url = match &file.base_url {
        Some(url) if !url.starts_with("http://") && !url.starts_with("https://") => {
            return Err(format!("{} is `{url}`; it must start with http:// or https://", key("base_url")));
        }
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => match file.kind.usual_address() {
            Some(url) => url.to_owned(),
            None => return Err(format!("{} is missing: the address of your server", key("base_url"))),
        },
    };
    let ids = file.kind.ids();
    if !(ids.is_room)(&file.room) {
        return Err(format!("{} is `{}`; rooms of {} are {}", key("room"), file.room, file.kind.word(), ids.room));
    }
    let of = |workspace: &WorkspaceName| key(&format!("approvers_of.{workspace}"));
    let of_workspaces = file.approvers_of.iter().map(|(workspace, ids)| (of(workspace), ids));
    for (field, all) in std::iter::once((key("approvers"), &file.approvers)).chain(of_workspaces) {
        if let Some(wrong) = all.iter().find(|id| !(ids.is_person)(id)) {
            return Err(format!(
                "{field} has `{wrong}`; people are named by ids, which nobody can change, and those of {} are {}",
                file.kind.word(),
                ids.person
            ));
        }
    }
    let is_shown = |name: &WorkspaceName| file.workspaces.as_ref().is_none_or(|names| names.contains(name));
    if let Some(name) = file.approvers_of.keys().find(|name| !is_shown(name)) {
        return Err(format!("{} names people for a workspace that is not among its `workspaces`", of(name)));
    }
    let token = match &file.token_file {
        Some(path) => secret(&folder.join(path), &key("token_file"))?,
        // What only tells may need none.
        None if matches!(file.kind, Kind::Ntfy | Kind::Webhook | Kind::Desk) => Key(String::new()),
        None => {
            return Err(format!("{} is missing: a file with the account's token and nothing else", key("token_file")));
        }
    };
    let desk = match (file.kind, &file.key) {
        (Kind::Desk, Some(text)) => Some(PublicKey::parse(text).ok_or_else(|| {
            format!("{} is no key: `bashgate fleet list` where the fleet is run shows it", key("key"))
        })?),
        (Kind::Desk, None) => {
            return Err(format!("{} is missing: `bashgate fleet list` where the fleet is run shows it", key("key")));
        }
        (_, Some(_)) => return Err(format!("{} is for desks only", key("key"))),
        (_, None) => None,
    };
    let hours = Hours::read(file.after_s, file.remind_s, file.quiet.as_deref());
    let hours = hours.map_err(|(field, why)| format!("{} {why}", key(field)))?;
    let app_token = match (file.kind, &file.app_token_file) {
        (Kind::Slack, Some(path)) => Some(secret(&folder.join(path), &key("app_token_file"))?),
        (Kind::Slack, None) => {
            return Err(format!("{} is missing: the app-level token, `xapp-…`", key("app_token_file")));
        }
        (_, Some(_)) => return Err(format!("{} is for Slack only", key("app_token_file"))),
        (_, None) => None,
    };
    Ok(Settings {
        app_token,
        kind: file.kind,
        base_url,
        token,
        room: file.room,
        thread: file.thread,
        approvers: file.approvers.into_iter().collect(),
        approvers_of: file.approvers_of.into_iter().map(|(name, ids)| (name, ids.into_iter().collect())).collect(),
        codes: file.codes,
        hours,
        desk,
        workspaces: file.workspaces.map(|names| names.into_iter().collect()),
        name,
    })
}

/// Reads a credential, which nobody else may be able to read.
fn secret(path: &Path, key: &str) -> Result<Key, String> {
    let failed = |error: std::io::Error| format!("cannot read {key} {}: {error}", path.display());
    let mode = std::fs::metadata(path).map_err(failed)?.mode();
    if mode & 0o077 != 0 {
        return Err(format!("{key} {} can be read by others: chmod 600 it", path.display()));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    match text.trim() {
        "" => Err(format!("{key} {} is empty", path.display())),
        text if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) => {
            Err(format!("{key} {} holds more than one word", path.display()))
        }
        text => Ok(Key(text.to_owned())),
    }
}
