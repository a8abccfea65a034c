//! What a command does, as far as its text tells. A list that is empty means "nothing seen", never "proven absent":
//! only the class proves anything.

use serde::{Deserialize, Serialize};

/// The effects of one command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Effects {
    /// Programs by the name under which they were judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Builtins' names under which programs are started, by a wrapper or by a shell that has no such builtin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<String>,
    /// Files whose content is read, as resolved as the text allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// What stands among the words of calls of which no rule has understood what they do, as resolved as the text allows: they may
    /// read it.
    #[serde(skip)]
    pub named: Vec<String>,
    /// Files that are written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Secrets that are read: paths, or variables as `$NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Secret data that a service may deliver: it comes in with the answer, and is not what is sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delivers: Vec<String>,
    /// What it reads and nobody could look through for secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlooked: Vec<String>,
    /// Uses of the network.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<NetworkUse>,
    /// Sources of untrusted content that come in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<String>,
    /// Files through which a command would run again later: start-up files, hooks, cron, `PATH` folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persistence: Vec<String>,
    /// Those of them that git brings out of what somebody has committed.
    #[serde(skip)]
    pub brought: Vec<String>,
    /// Files that steer builds, CI and agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steering: Vec<String>,
    /// Parts of the gate that it touches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tampering: Vec<String>,
    /// Git subcommands that run, for the git guard; `?` for one that is only known when it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<String>,
    /// Folders in which git talks to a remote, as resolved as the text allows; `?` for one that is only known when it runs.
    #[serde(skip)]
    pub git_in: Vec<String>,
    /// It reads files whose names are only known when it runs.
    #[serde(skip)]
    pub reads_unknown: bool,
    /// How many parts of it go on in the background, while other things happen.
    #[serde(skip)]
    pub jobs: usize,
    /// What jobs in the background read, which may be read when everything else is over.
    #[serde(skip)]
    pub reads_beside: Vec<String>,
    /// Variables that it sets, and functions (`name()`) that it defines; `?` where nobody knows which, or what names mean from then on.
    #[serde(skip)]
    pub sets: Vec<String>,
    /// The shell evaluates in it what is only known when it runs, as a number or a name: a subscript there may run any command.
    #[serde(skip)]
    pub evaluates_unknown: bool,
    /// What may be a folder that is copied with all that is in it, and where to, as resolved as the text allows.
    #[serde(skip)]
    pub copies: Vec<(String, String)>,
    /// Files whose code it runs, or that may hold it, as resolved as the text allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// It runs code that it has just fetched.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs_fetched: bool,
}

/// One use of the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkUse {
    /// The program.
    pub program: String,
    /// The host, where the text names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// Stands at the end of a folder that is copied: not the folder, but each of what lies below it, by itself.
pub const EACH_BELOW: &str = "**";

impl Effects {
    /// True where a list of what is read or named may lack more.
    pub fn is_full(&self) -> bool {
        self.reads.len() >= MAX_LISTED || self.named.len() >= MAX_LISTED
    }

    /// False when there may be more copies than are listed.
    pub fn has_all_copies(&self) -> bool {
        self.copies.len() < MAX_LISTED
    }

    /// True when one command both reads a secret and reaches the network.
    pub fn sends_secret(&self) -> bool {
        !self.secrets.is_empty() && !self.network.is_empty()
    }

    /// Its lists of texts, always in the same order.
    pub(super) fn lists(&mut self) -> [&mut Vec<String>; 18] {
        let Self {
            programs,
            started,
            reads,
            named,
            writes,
            secrets,
            delivers,
            unlooked,
            network: _,
            untrusted,
            persistence,
            brought,
            steering,
            tampering,
            git,
            git_in,
            reads_unknown: _,
            evaluates_unknown: _,
            jobs: _,
            reads_beside,
            sets,
            copies: _,
            runs,
            runs_fetched: _,
        } = self;
        [
            programs,
            started,
            reads,
            named,
            writes,
            secrets,
            delivers,
            unlooked,
            untrusted,
            persistence,
            brought,
            steering,
            tampering,
            git,
            git_in,
            reads_beside,
            sets,
            runs,
        ]
    }

    /// True when there may be more than is listed.
    pub(super) fn is_cut(&mut self) -> bool {
        self.network.len() >= MAX_LISTED
            || !self.has_all_copies()
            || self.lists().iter().any(|list| list.len() >= MAX_LISTED)
    }

    /// True when a variable of this name may have another value for what follows.
    pub fn may_set(&self, name: &str) -> bool {
        self.sets.iter().any(|set| set == name || set == ANY)
    }

    /// True when there is nothing that the host would have to remember or refuse.
    pub fn nothing_to_report(&self) -> bool {
        self.secrets.is_empty()
            && self.network.is_empty()
            && self.untrusted.is_empty()
            && self.persistence.is_empty()
            && self.steering.is_empty()
            && self.tampering.is_empty()
    }
}

/// In the place of a name that is only known when it runs.
pub(super) const ANY: &str = "?";

/// Longest list of one kind of effects. Where one is full, nobody knows what is missing.
pub(super) const MAX_LISTED: usize = 256;

/// Adds a text to a list of effects once.
pub(super) fn note(list: &mut Vec<String>, text: impl Into<String>) {
    let text = text.into();
    if !list.contains(&text) && list.len() < MAX_LISTED {
        list.push(text);
    }
}
