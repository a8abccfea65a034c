//! A held command, as a person sees it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use bashgate_shared::classify::{Classification, CommandClass, Condition, Effects, NetworkUse, git_config, secrets};
use bashgate_shared::command::Digest;
use bashgate_shared::programs::{Builtin, Request, Trait, builtin_of, row};
use bashgate_shared::protocol::{
    BashCheck, ENVIRONMENT, FileEvidence, MAX_EVIDENCE, MAX_HEAD_BYTES, RequestId, WorkspaceName,
};
use bashgate_shared::variables;
use serde::{Deserialize, Serialize};

use super::grant::Reach;
use crate::inspector::replaced;
use crate::taint::{Cause, Taint};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of a held command: 8 characters of Crockford's base 32, from 40 random bits. Used once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// The id made of these random bytes.
    pub fn from_random(bytes: [u8; 5]) -> Self {
        let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let letter = |index: u32| {
            let value = usize::try_from(bits >> (35 - 5 * index) & 31).unwrap_or(0);
            char::from(ALPHABET.get(value).copied().unwrap_or(b'0'))
        };
        Self((0..8).map(letter).collect())
    }

    /// Reads an id as a person types it: any case; `o` counts as 0, `i` and `l` as 1.
    pub fn parse(text: &str) -> Option<Self> {
        let id: Option<String> = text
            .chars()
            .map(|c| match c.to_ascii_lowercase() {
                'o' => Some('0'),
                'i' | 'l' => Some('1'),
                c if c.is_ascii() && ALPHABET.contains(&(c as u8)) => Some(c),
                _ => None,
            })
            .collect();
        id.filter(|id| id.len() == 8).map(Self)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an approval is about: workspace, command, working directory, evidence, who asks in which sandbox, and taint epoch, as
/// one digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestKey([u8; 32]);

impl RequestKey {
    /// The key of a request.
    pub fn of(workspace: &WorkspaceName, parts: &[&str], epoch: u64) -> Self {
        let mut bytes = Vec::new();
        for part in std::iter::once(&workspace.as_str()).chain(parts) {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes.extend(epoch.to_be_bytes());
        Self(*Digest::of(&bytes).bytes())
    }

    /// The key of the question whether a workspace may go on without the inspector.
    pub fn of_outage(workspace: &WorkspaceName, epoch: u64) -> Self {
        Self::of(workspace, &["the inspector does not answer"], epoch)
    }
}

/// How far an approval reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// This request.
    Once,
    /// This exact command, until the taint changes.
    Session,
    /// Others of its kind, too, for so many minutes, until the taint changes.
    Grant {
        /// From 1 to [`super::MOST_MINUTES`].
        minutes: u64,
    },
}

impl Scope {
    /// True when more may run by it than what is asked.
    pub const fn is_for_longer(self) -> bool {
        match self {
            Self::Once => false,
            Self::Session | Self::Grant { .. } => true,
        }
    }
}

/// Everything that a person needs to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its id.
    pub id: ApprovalId,
    /// The workspace.
    #[serde(serialize_with = "as_text", deserialize_with = "workspace")]
    pub workspace: WorkspaceName,
    /// The request.
    #[serde(serialize_with = "as_text", deserialize_with = "request")]
    pub request_id: RequestId,
    /// SHA-256 of the request's bytes, in hexadecimal digits.
    pub request_sha256: String,
    /// What it is about: a request of the same key waits for the same answer.
    pub key: RequestKey,
    /// The whole command. Credentials in it are masked by whoever shows it.
    pub command: String,
    /// Where it would run.
    pub cwd: Option<String>,
    /// The agent, as the container says.
    pub agent: Option<String>,
    /// What the command is.
    pub class: CommandClass,
    /// The rule that holds it.
    pub rule: String,
    /// Why it is held.
    pub reason: String,
    /// The workspace's taint.
    pub taint: Taint,
    /// Where the taint came from.
    pub causes: Vec<Cause>,
    /// The taint epoch.
    pub epoch: u64,
    /// What the inspector thinks, once it has answered.
    pub advice: Option<String>,
    /// When it was first asked, in milliseconds since 1970.
    #[serde(default)]
    pub asked_at_ms: u64,
    /// When it lapses, in milliseconds since boot.
    pub expires_boot_ms: u64,
    /// True when `approve ID session` may be said.
    pub offers_session: bool,
    /// How many requests wait for it: the same command more than once, or all that the inspector does not answer on.
    #[serde(default)]
    pub waiting: usize,
    /// True when it asks whether the workspace may go on without the inspector, which does not answer.
    #[serde(default)]
    pub outage: bool,
    /// What a yes to it takes.
    #[serde(default)]
    pub demands: Demands,
    /// What a grant from it would cover, where one is offered.
    #[serde(default)]
    pub grant: Option<Reach>,
    /// The hosts that it has a way out to once it is allowed, where it runs with one of its own.
    #[serde(default)]
    pub way: Vec<String>,
    /// Other commands that wait for the same answer about the inspector, as far as there is room for them.
    #[serde(default)]
    pub also: Vec<String>,
    /// What it would do.
    #[serde(default)]
    pub forecast: Forecast,
}

/// What a person's yes takes besides the word.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Demands {
    /// A one-time code, where it comes through a channel.
    pub code: bool,
    /// Two people.
    pub two_people: bool,
    /// Who has approved it so far, and for how far, where two must.
    pub first: Option<(String, Scope)>,
}

/// Most other commands that a card about the inspector names, and most letters of each.
const MOST_ALSO: usize = 50;
const MOST_OF_EACH: usize = 300;

impl Card {
    /// One more command waits for the same answer about the inspector.
    pub fn waits_too(&mut self, command: &str) {
        if !self.outage || self.also.len() >= MOST_ALSO {
            return;
        }
        let mut text: String = command.chars().take(MOST_OF_EACH).collect();
        let more = command.len() - text.len();
        if more > 0 {
            text.push_str(&format!("… ({more} more)"));
        }
        self.also.push(text);
    }
}

/// What a command would do, as far as its text tells, and what the container says about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Forecast {
    /// What was read out of the text.
    pub effects: Effects,
    /// The preset of the sandbox in which it would run.
    pub preset: Option<String>,
    /// The files to which an approval is bound, as the container says, with the first lines of those that are code.
    pub files: Vec<FileEvidence>,
    /// What else the container says, in sentences of ours.
    pub container_says: Vec<String>,
    /// How many lines of each file were sent and are not kept here.
    #[serde(default)]
    pub lines_cut: Vec<usize>,
    /// Of which of these files only the beginning was sent.
    #[serde(default)]
    pub goes_on: Vec<bool>,
    /// What is different from the script of the same name that somebody approved.
    #[serde(default)]
    pub changed: Option<Changed>,
    /// Of each of these files that was approved before: by whom and when, and what is different now.
    #[serde(default)]
    pub since: Vec<Option<Since>>,
    /// Of what it runs, what it writes first: another file runs than was sent.
    #[serde(default)]
    pub replaced: Vec<String>,
    /// The call that may bring another one first: git's, or what unpacks or patches.
    #[serde(default)]
    pub brought_by: Option<String>,
    /// A setting among these files puts another address in a remote's place, or may do so.
    #[serde(default = "nobody_knows")]
    pub leads_elsewhere: bool,
}

/// A file that a person approved a command with before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// Who approved that.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What is different in its first lines; empty where these are the same. `None` where all of it is.
    pub text: Option<String>,
    /// False where only its digest was shown then.
    pub was_shown: bool,
    /// False where the card showed the first of its lines only.
    #[serde(default)]
    pub was_whole: bool,
}

/// What is different from what was approved before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Who approved that.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The lines that are gone and new, with some around them.
    pub text: String,
}

const fn nobody_knows() -> bool {
    true
}

/// What is kept of a file with a card, and how many of its lines are not. Of git's settings stands first what leads elsewhere, then
/// what the command names, so that it is never cut off: where a remote lies that it goes to.
fn kept(file: &FileEvidence, words: &BTreeSet<String>) -> (FileEvidence, usize) {
    let mut lines: Vec<&str> = file.head.lines().collect();
    let settings = lines.iter().filter_map(|line| line.split_once(" = "));
    let is_of_git = secrets::is_git_config(&file.path.to_ascii_lowercase());
    if is_of_git && settings.clone().any(|(key, value)| git_config::says_where(key, value)) {
        lines.sort_by_cached_key(|line| match line.split_once(" = ") {
            Some((key, value)) => git_config::rank(key, value, words),
            // What is none may be the start of one that was cut.
            None => (false, false),
        });
    }
    let ordered = lines.join("\n");
    let head: String = ordered.chars().take(MAX_HEAD).collect();
    let cut = lines.len() - head.lines().count();
    (FileEvidence { path: file.path.clone(), sha256: file.sha256.clone(), head }, cut)
}

/// True where as much was sent of a file as there is room for.
fn is_beginning(file: &FileEvidence) -> bool {
    file.head.len() + 4 > MAX_HEAD_BYTES
}

/// True where a file's start, as it was sent, leaves open where git goes: a setting puts another address in a remote's place, or there
/// may be one behind the start's end.
fn leads_elsewhere(file: &FileEvidence) -> bool {
    let mut settings = file.head.lines().filter_map(|line| line.split_once(" = "));
    is_beginning(file) || settings.any(|(key, value)| git_config::leads_elsewhere(key, value))
}

/// What stands in front of how it was asked.
const ASKED_WITH: &str = "asked for with";

/// Longest start of a file that is kept with a card, in characters.
pub const MAX_HEAD: usize = 2000;

impl Forecast {
    /// What the container says of a command, in sentences of ours.
    pub fn says(check: &BashCheck) -> Vec<String> {
        let lists = [
            (ASKED_WITH, &check.asked_with),
            ("meets a secret", &check.secrets),
            ("not proven to be local", &check.unproven),
            ("not looked through for secrets", &check.unlooked),
            ("writes through a link, or with a folder that is copied", &check.leads_to),
            ("git puts another file there, a part of the gate", &check.brings),
        ];
        lists.iter().flat_map(|(what, list)| list.iter().map(move |one| format!("{what}: {one}"))).collect()
    }

    /// For a request whose text alone has these effects.
    pub fn new(found: &Classification, effects: &Effects, check: &BashCheck) -> Self {
        let words = git_config::words_of(check.command.text(), &found.calls);
        let (files, lines_cut) = check.evidence.iter().map(|file| kept(file, &words)).unzip();
        Self {
            lines_cut,
            goes_on: check.evidence.iter().map(is_beginning).collect(),
            changed: None,
            since: Vec::new(),
            leads_elsewhere: check.evidence.iter().any(leads_elsewhere),
            replaced: effects
                .runs
                .iter()
                .filter(|path| replaced::is_written(&effects.writes, &found.calls, path))
                .cloned()
                .collect(),
            brought_by: replaced::brought_by(&found.calls).filter(|_| !effects.runs.is_empty()),
            effects: effects.clone(),
            preset: check.runner.as_ref().map(|runner| runner.preset.clone()),
            files,
            container_says: Self::says(check),
        }
    }

    /// True when text and bound files determine what it sends and where: every word is a literal and there is no pattern, each host
    /// is named, or git's settings are bound that name it, and each file that is read has a digest.
    pub fn is_determined(&self, found: &Classification) -> bool {
        let calls = &found.calls;
        // A variable may choose what runs, what is read and where that goes, and no list of files says so.
        if !found.effects.sets.is_empty() {
            return false;
        }
        // How it was asked may be another thing each time: a shell that is kept, a job, a way out of a sandbox.
        if self.container_says.iter().any(|said| said.starts_with(ASKED_WITH)) {
            return false;
        }
        // Settings that only the environment has say where git goes as well, and the card shows others.
        let leads = |name: &str| name.starts_with("GIT_") && !variables::names_certificates(name);
        let is_of_git = |file: &FileEvidence| {
            let names = file.path.strip_prefix(ENVIRONMENT).unwrap_or_default();
            names.split([',', ' ']).any(leads)
        };
        if self.files.iter().any(is_of_git) {
            return false;
        }
        if found.conditions.iter().any(brings_more) || calls.iter().flatten().any(Option::is_none) {
            return false;
        }
        if found.parts.iter().any(replaced::reads_unknown_input) {
            return false;
        }
        // What a setting adds or puts in the address's place no list of files says in full.
        if self.files.len() >= MAX_EVIDENCE || self.leads_elsewhere {
            return false;
        }
        // What a hook loads no list of files says in full, either.
        if self.files.iter().any(|file| Path::new(&file.path).components().any(|part| part.as_os_str() == "hooks")) {
            return false;
        }
        // What comes in from nowhere that is named may be anything.
        let passes_on = |name: &String| row(name).is_some_and(|row| row.passes_on.is_some());
        if self.effects.programs.iter().any(passes_on) && self.effects.reads.is_empty() {
            return false;
        }
        let bound = |path: &String| self.files.iter().any(|file| file.path == *path && !file.sha256.is_empty());
        // The settings that were looked at are those of the folder where it starts.
        let stays = |name: &String| name == "git" || matches!(builtin_of(name), Some(Builtin::Text | Builtin::Format));
        let is_plain = |call: &Vec<Option<String>>| match call.as_slice() {
            [Some(name), rest @ ..] if name == "git" => {
                let words: Vec<&str> = rest.iter().flatten().map(String::as_str).collect();
                // A word that is no remote of the settings may be a folder, or a file.
                let remote = words.iter().skip(1).find(|word| !word.starts_with('-'));
                let is_set = |remote: &&&str| {
                    let start = format!("remote.{remote}.url = ");
                    self.files.iter().flat_map(|file| file.head.lines()).any(|line| line.starts_with(&start))
                };
                is_simple_git(&words) && remote.is_none_or(|remote| is_set(&remote))
            }
            _ => true,
        };
        let by_git = self.effects.programs.iter().all(stays)
            && calls.iter().all(is_plain)
            && self.files.iter().any(|file| file.path.ends_with("/config") && !file.head.is_empty());
        let sent = |path: &str| {
            // What comes through a pipe was read by another part, which must be bound, too.
            path == "-" || bound(&path.to_owned()) || self.files.iter().any(|file| file.is_called(path))
        };
        let is_simple = |call: &Vec<Option<String>>| match call.as_slice() {
            [Some(name), rest @ ..]
                if name != "git" && self.effects.network.iter().any(|used| used.program == *name) =>
            {
                Request::of(name, rest).is_some_and(|request| request.files.iter().all(|path| sent(path)))
            }
            _ => true,
        };
        let goes_where_said = |used: &NetworkUse| {
            // Of a program of which nobody knows what else says where it goes, nothing settles it.
            let knows_settings = || row(&used.program).is_some_and(|row| row.has(Trait::SettledByFiles));
            if used.program == "git" {
                by_git
            } else {
                used.host.is_some() && knows_settings() && calls.iter().all(is_simple)
            }
        };
        // What others put into a pipe is not among what is read.
        let is_known = |name: &String| {
            self.effects.network.iter().any(|used| used.program == *name)
                || matches!(builtin_of(name), Some(Builtin::Text | Builtin::Format))
                || row(name).is_some_and(|row| row.passes_on.is_some())
        };
        self.effects.network.is_empty()
            || self.effects.network.iter().all(goes_where_said)
                && self.effects.programs.iter().all(is_known)
                && self.effects.reads.iter().all(bound)
                && self.files.iter().all(|file| !file.sha256.is_empty())
    }
}

/// True for what a command reads that no list of files names: a folder as a whole, or what fits a pattern.
fn brings_more(condition: &Condition) -> bool {
    matches!(
        condition,
        Condition::NoSecretBelow { .. }
            | Condition::NoSecretNamed { .. }
            | Condition::PlainNamesBelow { .. }
            | Condition::NoDashNames { .. }
    )
}

/// True for a call of git that goes to a remote which its settings name, and that names no program and no other address.
fn is_simple_git(words: &[&str]) -> bool {
    const FLAGS: &[&str] = &[
        "-u",
        "--set-upstream",
        "--tags",
        "--all",
        "--prune",
        "-p",
        "-v",
        "-q",
        "--quiet",
        "--verbose",
        "--ff-only",
        "-f",
        "--force",
    ];
    let [subcommand @ ("push" | "fetch" | "pull"), rest @ ..] = words else { return false };
    let names_others =
        |word: &str| word.contains("::") || word.contains('/') && word.contains(':') || word.contains('@');
    // The first is the remote: `host:path` is none that settings name.
    let remote = rest.iter().find(|word| !word.starts_with('-'));
    // A path is a repository whose own hooks run.
    !subcommand.is_empty()
        && remote.is_none_or(|remote| !remote.contains(':') && !remote.contains('/') && !remote.starts_with('.'))
        && rest.iter().all(|word| FLAGS.contains(word) || !word.starts_with('-') && !names_others(word))
}

fn as_text<T: fmt::Display, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn workspace<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<WorkspaceName, D::Error> {
    WorkspaceName::deserialize(deserializer)
}

fn request<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<RequestId, D::Error> {
    let text = String::deserialize(deserializer)?;
    RequestId::parse(&text).ok_or_else(|| serde::de::Error::custom("not a request id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_however_it_is_typed() {
        for bytes in [[0; 5], [255; 5], [1, 2, 3, 4, 5], [200, 100, 50, 25, 12]] {
            let id = ApprovalId::from_random(bytes);
            assert_eq!(id.as_str().len(), 8);
            assert_eq!(ApprovalId::parse(id.as_str()), Some(id.clone()));
            assert_eq!(ApprovalId::parse(&id.as_str().to_uppercase()), Some(id));
        }
        assert_eq!(ApprovalId::parse("OIL00000"), ApprovalId::parse("01100000"));
        for bad in ["", "short", "toolonggg", "uuuuuuuu", "аbcdefgh", "abc defg"] {
            assert_eq!(ApprovalId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_remote_that_is_named_is_kept_however_many_others_there_are() {
        let decoys: Vec<String> =
            (0..300).map(|number| format!("remote.decoy{number}.url = https://fine.example/{number}\n")).collect();
        let decoys = decoys.concat();
        let head = format!("{decoys}remote.used.url = https://evil.example/x\n");
        let file = FileEvidence { path: "/w/.git/config".to_owned(), sha256: String::new(), head };
        let (kept, cut) = kept(&file, &git_config::words_of("git push 'used' main", &[]));
        assert_eq!(kept.head.lines().next(), Some("remote.used.url = https://evil.example/x"));
        assert_eq!(cut + kept.head.lines().count(), 301);
    }

    #[test]
    fn a_key_differs_in_every_part() {
        let name = |text| WorkspaceName::parse(text).unwrap();
        let keys = [
            RequestKey::of(&name("a"), &["ls", "/w", ""], 0),
            RequestKey::of(&name("b"), &["ls", "/w", ""], 0),
            RequestKey::of(&name("a"), &["ls /w", "", ""], 0),
            RequestKey::of(&name("a"), &["ls", "/w", "x"], 0),
            RequestKey::of(&name("a"), &["ls", "/w", ""], 1),
        ];
        assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), keys.len());
    }

    #[test]
    fn what_a_command_sets_is_no_settled_text() {
        use bashgate_shared::classify::{Surroundings, classify};
        use bashgate_shared::command::CommandLine;
        let look = |text: &str| {
            let found = classify(&CommandLine::parse(text).unwrap(), &Surroundings::default());
            let forecast = Forecast { effects: found.effects.clone(), leads_elsewhere: false, ..Forecast::default() };
            forecast.is_determined(&found)
        };
        let get = "curl https://h.example/x";
        for text in [
            "A=1 GET",
            "x=1; PATH=. GET",
            "(A=1); GET",
            "export A; GET",
            "read x; GET",
            "A+=b GET",
            "if A[0]=1 true; then GET; fi",
            "declare -x A; GET",
            "printf -v PATH %s%s s ub; GET",
            "printf -vPATH sub; GET",
            "printf %n PATH; GET",
            "printf '%5n' https_proxy; GET",
            "for PATH in s{u,}b; do GET; done",
            "for HOME in sub; do GET; done",
            "for ((PATH=10;;)); do GET; done",
            "select PATH in sub; do GET; done",
            "((PATH=10)); GET",
            ": $((PATH=10)); GET",
            ": ${PATH:=sub}; GET",
            "[[ -v 'a[PATH=10]' ]]; GET",
            "[[ x -eq y ]]; GET",
            "[ -v 'a[PATH=10]' ]; GET",
            "let PATH=10; GET",
            "mapfile PATH; GET",
            "getopts a PATH; GET",
            "unset PATH; GET",
            "wait -n -p PATH; GET",
            "true() { sub/x; }; true; GET",
            "set -k; GET PATH=sub",
            "set -o keyword; GET PATH=sub",
            "alias curl=sub/x; GET",
            "hash -p sub/x curl; GET",
            "env PATH=sub GET",
            "coproc true; GET",
            "eval 'PATH=sub'; GET",
            "cat <<E\n${PATH:=sub}\nE\nGET",
        ] {
            let text = text.replace("GET", get);
            assert!(!look(&text), "{text}");
        }
        for text in ["GET", "echo a=b; GET", "printf 'a=%s' b; GET", "GET -o out", "true && GET"] {
            let text = text.replace("GET", get);
            assert!(look(&text), "{text}");
        }
    }
}
