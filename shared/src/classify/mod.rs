//! What a command is ([`CommandClass`]), what it does ([`Effects`]), and why.
//!
//! [`classify`] walks the syntax of [`crate::shell`] and asks the rows in [`crate::programs`] about each program. A command
//! is Safe only when every part of it is: when for every way in which the shell could take the text, it runs only
//! listed programs in listed ways, opens no network and runs no code from data. Whatever is not understood is Unknown.
//!
//! The same function runs in the hook and on the host. The host never takes the container's word for a class.

mod braces;
pub(crate) mod call;
mod dotenv;
mod effects;
pub mod git_config;
mod git_shown;
pub(crate) mod judge;
pub mod later;
pub mod passed_by;
pub mod patch;
pub mod paths;
pub mod protected;
mod raw;
mod reach;
pub mod secrets;
mod terminal;
pub mod tool;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use effects::{EACH_BELOW, Effects, NetworkUse};
pub use git_shown::{GitShown, ShownOf};
pub use passed_by::{PassedBy, fits, is_plain_pattern};

use crate::command::CommandLine;
use crate::programs::reaches::Reaches;
use crate::programs::{self, own::OwnPrograms};
use crate::shell::{self, Shell};

/// What a command is.
///
/// Ordered from the mildest to the strictest; a command is what its strictest part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandClass {
    /// Provably local.
    Safe,
    /// Neither proven local nor known to reach the network.
    Unknown,
    /// Known to reach the network, or to run arbitrary code given on its command line.
    Network,
}

impl CommandClass {
    /// All classes, for tests over every input.
    pub const ALL: [Self; 3] = [Self::Safe, Self::Unknown, Self::Network];
}

impl fmt::Display for CommandClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "safe",
            Self::Unknown => "unknown",
            Self::Network => "network",
        })
    }
}

/// Who can decide a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// The hook, from the text alone.
    Local,
    /// The hook, when it has checked the conditions.
    LocalIf,
    /// The host.
    Host,
}

/// Something that only the container's file system can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Condition {
    /// No file below this folder has a name that secrets have. The folder is as resolved as the text allows.
    NoSecretBelow {
        /// The folder, absolute, relative to the working directory, or starting with `~`.
        folder: String,
        /// What is not read of it.
        #[serde(skip_serializing_if = "PassedBy::is_nothing")]
        passed_by: PassedBy,
    },
    /// This file, whose name may be a private key's, holds nothing but certificates and public keys.
    OnlyPublic {
        /// The path, as above.
        path: String,
    },
    /// This folder is there, so that `cd` takes it and none that a link leads to.
    Folder {
        /// The path, as above.
        path: String,
    },
    /// No file in this folder whose name begins and ends so is a secret, or leads to one.
    NoSecretNamed {
        /// The folder, as above.
        folder: String,
        /// How the names begin.
        start: String,
        /// How they end.
        end: String,
    },
    /// No name below this folder has a blank, a quote, a backslash or a newline, at which `xargs` takes names apart.
    PlainNamesBelow {
        /// The folder, as above.
        folder: String,
    },
    /// `git add` would take in no secret there: git tracks it already, or ignores it.
    NoSecretAdded {
        /// The folder in which git starts, as above.
        folder: String,
        /// What it is told to add; `None` for the whole working tree.
        path: Option<String>,
    },
    /// No file in this folder has a name that starts with `-`, which a pattern would turn into an option.
    NoDashNames {
        /// The folder, as above.
        folder: String,
    },
    /// This is no folder.
    NoFolder {
        /// The path, as above.
        path: String,
    },
    /// No link has one of these names below this folder.
    NoLinkBelow {
        /// The folder, as above.
        folder: String,
        /// Names without a folder.
        names: Vec<String>,
    },
    /// No file of these names lies in this folder or in any above it.
    NoFileAbove {
        /// The folder, as above.
        folder: String,
        /// Names without a folder.
        names: Vec<String>,
    },
    /// Git runs nothing but itself there: no configuration, hook or repository in a repository makes it start a
    /// program.
    GitIsInert {
        /// The folder in which git starts.
        folder: String,
        /// What it shows.
        shows: Shown,
        /// What it does besides.
        work: GitWork,
    },
    /// Git shows no file there that has a secret's name, in whatever commit.
    GitShowsNoSecret {
        /// The folder in which git starts.
        folder: String,
        /// What it shows.
        shown: GitShown,
    },
    /// Each of these numbers, or beginnings of such, is that of something in git's history there: packed, or a commit that a branch,
    /// a tag or a log has.
    GitNumbers {
        /// The folder in which git starts.
        folder: String,
        /// In hexadecimal digits; `?` for one that is only known when it runs.
        numbers: Vec<String>,
    },
}

impl Condition {
    /// True where whatever it is about opens files: by a pattern, a whole tree, or what git finds there.
    pub const fn opens_files(&self) -> bool {
        match self {
            Self::NoSecretBelow { .. }
            | Self::OnlyPublic { .. }
            | Self::NoSecretNamed { .. }
            | Self::PlainNamesBelow { .. }
            | Self::NoSecretAdded { .. }
            | Self::GitShowsNoSecret { .. } => true,
            Self::GitIsInert { shows, work, .. } => {
                shows.is_content()
                    || matches!(shows, Shown::Named)
                    || matches!(work, GitWork::Compares | GitWork::ComparesAny)
            }
            Self::Folder { .. }
            | Self::NoDashNames { .. }
            | Self::NoFolder { .. }
            | Self::NoLinkBelow { .. }
            | Self::NoFileAbove { .. }
            | Self::GitNumbers { .. } => false,
        }
    }

    /// The file or folder that it is about.
    pub fn path(&self) -> &str {
        let (Self::NoSecretBelow { folder: path, .. }
        | Self::NoSecretNamed { folder: path, .. }
        | Self::NoSecretAdded { folder: path, .. }
        | Self::NoDashNames { folder: path }
        | Self::PlainNamesBelow { folder: path }
        | Self::OnlyPublic { path }
        | Self::Folder { path }
        | Self::NoFolder { path }
        | Self::NoFileAbove { folder: path, .. }
        | Self::NoLinkBelow { folder: path, .. }
        | Self::GitNumbers { folder: path, .. }
        | Self::GitShowsNoSecret { folder: path, .. }
        | Self::GitIsInert { folder: path, .. }) = self;
        path
    }
}

/// What of a repository a call of git shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shown {
    /// Nothing that could be secret.
    Nothing,
    /// Files that its words name, and nothing else of what files hold.
    Named,
    /// Settings, so that no secret may be among them.
    Settings,
    /// What files hold.
    Content,
    /// The same of commits that are named by their numbers, so that there may be no stash with files that were never tracked.
    Numbered,
    /// What was done when, with addresses as they were typed: no password may be among them.
    Logs,
}

impl Shown {
    /// True where what files hold is shown.
    pub const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::Numbered)
    }
}

/// What a call of git does with the files around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GitWork {
    /// It reads what git keeps.
    Reads,
    /// It compares files of the working tree as well, so that filters may run that attributes of a file name.
    Compares,
    /// It records something, so that every hook counts as well.
    Records,
    /// It compares files that git does not track, or no longer: which attributes these have, nobody has looked.
    ComparesAny,
    /// It talks to a remote, or works with what has come from one: whatever files those are, every hook counts, and every setting by which
    /// a connection is made.
    Fetches,
    /// The same, and it looks into repositories that lie below, where what came makes them the repository's own: there may be none.
    ChecksOut,
}

impl GitWork {
    /// True where it works with what comes from a remote.
    pub const fn is_of_remotes(self) -> bool {
        matches!(self, Self::Fetches | Self::ChecksOut)
    }
}

/// What is known around a command.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The shell that will run it.
    pub shell: Shell,
    /// The working directory it will run in, absolute, when known.
    pub cwd: Option<String>,
    /// The gate's own files in the container (mailbox, configuration, binaries), absolute.
    pub protected: Vec<String>,
    /// The operator's own programs.
    pub programs: Option<&'static OwnPrograms>,
}

impl Surroundings {
    /// What a resolved path does later, if anything.
    fn later(&self, path: &str) -> Option<later::Later> {
        later::of(path, self.cwd.as_deref())
    }

    /// What a path may do later of which only the beginning and the end are known.
    fn later_in_part(&self, start: &str, tail: &str) -> Option<(String, later::Later, bool)> {
        later::may_be(start, tail, self.cwd.as_deref())
    }

    /// The part of the gate that a resolved path is, holds or lies in.
    fn gate_part(&self, path: &str) -> Option<String> {
        protected::gate_part(path, &self.protected, self.cwd.as_deref())
    }
}

/// The rule of a part whose program is only known when it runs.
pub const COMPUTED: &str = "command name";
/// The rule of a part that calls a function which the text defines.
pub const FUNCTION_CALL: &str = "function call";

/// One part of a command with its own class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The part's text.
    pub text: String,
    /// What it is.
    pub class: CommandClass,
    /// True when it is local as it stands, or under the conditions of the whole.
    pub local: bool,
    /// How many constructs stand around it: 0 for a part of the outermost list.
    pub depth: usize,
    /// The rule that said so: a program's name, or the construct.
    pub rule: String,
    /// Why, for people.
    pub reason: String,
    /// The call's words; `None` for one that is only known when it runs. Empty where there is no call.
    #[serde(skip)]
    pub argv: Argv,
    /// With what each of these words begins, as far as is known: one that is known with the whole of it. `None` for one that may fall
    /// into several.
    #[serde(skip)]
    pub begins: Argv,
    /// True when something is fed to its standard input: by a pipe, a file or a here-document.
    #[serde(skip)]
    pub fed: bool,
}

/// The words of a call, program first; `None` for a word that is only known when it runs.
pub type Argv = Vec<Option<String>>;

/// The answer of [`classify`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The class of the whole.
    pub class: CommandClass,
    /// Who can decide it.
    pub decided: Decided,
    /// What the hook must check when `decided` is [`Decided::LocalIf`].
    pub conditions: Vec<Condition>,
    /// Why the class is what it is: the reason of the strictest part.
    pub reason: String,
    /// What it does, as far as its text tells.
    pub effects: Effects,
    /// Its parts, in the order in which they were judged.
    pub parts: Vec<Part>,
    /// Every call in it, those behind wrappers and in nested scripts included.
    #[serde(skip)]
    pub calls: Vec<Argv>,
    /// The first program that would read commands from its terminal.
    #[serde(skip)]
    pub reads_terminal: Option<String>,
    /// False when the reader did not understand the text; then effects come from a search of the raw text.
    pub understood: bool,
    /// What it reaches over the network, where every word of that is understood and all else in it is local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reaches: Option<Reaches>,
}

impl Classification {
    /// True where there may be more conditions than are kept.
    pub fn has_all_conditions(&self) -> bool {
        self.conditions.len() >= judge::MAX_CONDITIONS
    }

    /// True where all that reaches a network is requests to this very machine that send nothing but their addresses, and everything else is
    /// local: nothing is taken away.
    pub fn asks_only_this_machine(&self) -> bool {
        let asks = |part: &Part| {
            let words: Vec<Option<&str>> = part.argv.iter().map(Option::as_deref).collect();
            let Some((Some(program), words)) = words.split_first() else { return false };
            if !programs::asks_this_machine(program, words) {
                return false;
            }
            // Variables in front of it, and files that it writes, are part of its text.
            let rest = ["2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null"]
                .iter()
                .fold(part.text.clone(), |text, harmless| text.replace(harmless, ""));
            rest.starts_with(program) && !rest.contains(['<', '>'])
        };
        self.understood
            && self.parts.iter().any(asks)
            && self.parts.iter().all(|part| part.local || part.class == CommandClass::Safe || asks(part))
    }
}

/// What a text mentions that nobody has read as a command.
pub fn mentioned_in(text: &str, around: &Surroundings) -> Effects {
    raw::effects(text, around)
}

/// Says what a call of another tool is, by the rules of the shell. Pure. Acts beyond [`tool::MAX_ACTS`] are not followed: then it
/// counts as not understood.
pub fn classify_tool(name: &str, acts: &[tool::ToolAct], around: &Surroundings) -> Classification {
    judge::tool_call(name, acts, around)
}

/// True for a folder whose programs are the ones that the rows mean.
pub fn is_system_folder(folder: &str) -> bool {
    judge::calls::SYSTEM_FOLDERS.contains(&folder)
}

/// Reads a command and says what it is, what it does, and why. Pure.
pub fn classify(command: &CommandLine, around: &Surroundings) -> Classification {
    if command.is_blank() {
        return Classification {
            class: CommandClass::Unknown,
            decided: Decided::Host,
            conditions: Vec::new(),
            reason: "there is no command".to_owned(),
            effects: Effects::default(),
            parts: Vec::new(),
            calls: Vec::new(),
            reads_terminal: None,
            understood: true,
            reaches: None,
        };
    }
    match shell::read(command.text(), around.shell) {
        Ok(document) => judge::document(&document, command.text(), around),
        Err(trouble) => {
            let reason = format!("not understood: {trouble}");
            let effects = raw::effects_of_unread(command.text(), around);
            let part = Part {
                text: command.text().to_owned(),
                class: CommandClass::Unknown,
                local: false,
                depth: 0,
                rule: "reader".to_owned(),
                reason: reason.clone(),
                argv: Vec::new(),
                begins: Vec::new(),
                fed: false,
            };
            Classification {
                class: CommandClass::Unknown,
                decided: Decided::Host,
                conditions: Vec::new(),
                reason,
                effects,
                parts: vec![part],
                calls: Vec::new(),
                reads_terminal: terminal::named_in(command.text()),
                understood: false,
                reaches: None,
            }
        }
    }
}
