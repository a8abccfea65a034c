//! What a call does over the network, where every word of it is understood: whom it asks, whether it sends more than the question,
//! and how much it needs for that.
//!
//! A read sends what names the thing that it asks for, and nothing else. What is not on a list here is no read: an option that is
//! not known may send, start or configure anything. The lists are of the programs' manuals, as their modules say.

pub(super) mod forge;
pub(super) mod git;
pub(super) mod registries;
pub(super) mod web;

use std::collections::BTreeSet;

pub use git::{address_of, repository_of};
use serde::Serialize;

use crate::classify::call::Arg;
use crate::classify::{Condition, GitWork, Shown};
use crate::classify::{later, paths};

/// A view of a page, a list or a package, upwards, in bytes: the request with its headers and TLS around it, a few times over.
const VIEW_BYTES: u64 = 16 * 1024;
/// A request that says more than that, upwards, in bytes: what stands in a text.
const WORDS_BYTES: u64 = 64 * 1024;
/// What git says to fetch, upwards, in bytes: which commits it has.
const FETCH_BYTES: u64 = 64 * 1024;
/// What a push may carry besides, upwards, in bytes: what a branch adds, and no film.
const PUSH_BYTES: u64 = 64 * 1024 * 1024;
/// Longest word that is sent with a read, in bytes.
const MAX_WORD: usize = 512;

/// What a command reaches, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reaches {
    /// What of it sends more than a question: `pull requests and issues`, `push`. Nothing for a command that only reads.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub writes: BTreeSet<String>,
    /// Where it goes.
    pub places: BTreeSet<Place>,
    /// The repositories that it writes to.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub targets: BTreeSet<Target>,
    /// Most bytes that it may send, to all of them.
    pub up_bytes: u64,
    /// Whether files of others come into folders here by it.
    #[serde(skip)]
    pub(crate) brings: Brings,
    /// Folders that it makes, from where the text starts.
    #[serde(skip)]
    makes: BTreeSet<String>,
    /// It rests on something that was looked at before, and on more than git's own settings.
    #[serde(skip)]
    rests: bool,
    /// A part of it rests on something that was looked at, behind a part that brings files, which that look does not hold for.
    #[serde(skip)]
    rests_behind: bool,
    /// What must hold so that it starts nothing else.
    #[serde(skip)]
    pub conditions: Vec<Condition>,
}

/// Whether files of others come in. What was looked at before is another thing then, for whatever stands behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Brings {
    #[default]
    Nothing,
    /// By git, into the working tree of the repository where it starts. Into a repository's own folder git brings none, so that what was
    /// looked at there still holds.
    ByGit,
    /// Wherever its words say, also a whole repository.
    Anywhere,
}

/// A repository that is written to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub enum Target {
    /// One that the text names: `owner/name`, with its host in front where a program may go to any.
    Named(String),
    /// What a remote of the repository in a folder is, which only the repository tells.
    Remote {
        /// As of [`Place::Remote`].
        folder: String,
        /// As of [`Place::Remote`]; `*` for any of them.
        remote: String,
    },
}

/// One end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case", untagged)]
pub enum Place {
    /// A host that the text names, or the program.
    Host {
        /// Its name, in small letters.
        host: String,
        /// The port.
        port: u16,
    },
    /// A remote of the repository in a folder, whose address only the repository tells.
    Remote {
        /// The folder in which git starts, as resolved as the text allows.
        folder: String,
        /// Its name; empty for the one that git takes by itself.
        remote: String,
    },
}

impl Place {
    fn https(host: impl Into<String>) -> Self {
        Self::Host { host: host.into(), port: 443 }
    }
}

impl Reaches {
    fn reads(places: impl IntoIterator<Item = Place>, up_bytes: u64) -> Self {
        let places = places.into_iter().collect();
        let (writes, targets, conditions) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        Self {
            writes,
            places,
            targets,
            up_bytes,
            brings: Brings::Nothing,
            makes: BTreeSet::new(),
            rests: false,
            rests_behind: false,
            conditions,
        }
    }

    /// The same where it makes this folder, from any of these.
    fn making(mut self, folder: &str, folders: &[String]) -> Self {
        self.makes.extend(folders.iter().map(|start| paths::resolve(Some(start), folder)));
        self
    }

    /// True where what it makes is something that acts later where the text starts: a package of an interpreter's, hooks, an agent's skills.
    pub(crate) fn makes_what_acts(&self, cwd: Option<&str>) -> bool {
        const INSIDE: [&str; 5] = ["", "/x", "/__init__.py", "/index.js", "/bin/x"];
        self.makes.iter().any(|made| {
            let whole = paths::resolve(cwd, made);
            INSIDE.iter().any(|file| later::of(&format!("{whole}{file}"), cwd).is_some())
        })
    }

    /// The same where files of others come in.
    fn bringing(self, brings: Brings) -> Self {
        Self { brings, ..self }
    }

    fn when(mut self, conditions: impl IntoIterator<Item = Condition>) -> Self {
        self.conditions.extend(conditions);
        // What git itself goes by is looked at for whatever comes in.
        self.rests = !self.conditions.iter().all(is_of_remotes);
        self
    }

    /// True where what was looked at before holds for all of it.
    pub(crate) fn holds_throughout(&self) -> bool {
        !(self.brings > Brings::Nothing && self.rests || self.rests_behind)
    }

    /// True where a condition that was looked at before still holds when this has brought what it brings: git's own settings are none of
    /// it, and this has asked for more of them than the condition does.
    pub(crate) fn leaves(&self, condition: &Condition) -> bool {
        let looks = |folder: &str| self.conditions.iter().any(|one| is_of_remotes(one) && one.path() == folder);
        match (self.brings, condition) {
            (Brings::Nothing, _) => true,
            (Brings::ByGit, Condition::GitIsInert { folder, shows: Shown::Nothing, .. }) => looks(folder),
            (Brings::ByGit | Brings::Anywhere, _) => false,
        }
    }

    /// The same where git looks behind it into whatever it tracks by then.
    pub(crate) fn with_no_repository_below(&mut self) {
        for condition in &mut self.conditions {
            if let Condition::GitIsInert { work, .. } = condition
                && work.is_of_remotes()
            {
                *work = GitWork::ChecksOut;
            }
        }
        self.look_once();
    }

    /// The look of a fetch is a part of the other one: in each folder one of them is enough.
    fn look_once(&mut self) {
        let looks_below = |one: &Condition| matches!(one, Condition::GitIsInert { work: GitWork::ChecksOut, .. });
        let mut seen: Vec<Condition> = Vec::new();
        for condition in std::mem::take(&mut self.conditions) {
            let of_folder = |one: &&mut Condition| is_of_remotes(one) && one.path() == condition.path();
            match seen.iter_mut().find(of_folder).filter(|_| is_of_remotes(&condition)) {
                Some(there) if looks_below(&condition) => *there = condition,
                Some(_) => {}
                None => seen.push(condition),
            }
        }
        self.conditions = seen;
    }

    /// The remotes of repositories that it goes to, or writes to: the folder of each, and its name.
    pub fn remotes(&self) -> impl Iterator<Item = (&String, &String)> {
        let places = self.places.iter().filter_map(|place| match place {
            Place::Remote { folder, remote } => Some((folder, remote)),
            Place::Host { .. } => None,
        });
        let targets = self.targets.iter().filter_map(|target| match target {
            Target::Remote { folder, remote } => Some((folder, remote)),
            Target::Named(_) => None,
        });
        places.chain(targets)
    }

    /// True where files of others come into folders by it, which whoever reads behind it would read.
    pub fn brings_files(&self) -> bool {
        self.brings > Brings::Nothing
    }

    /// True where it sends nothing but what names the things that it asks for.
    pub fn only_reads(&self) -> bool {
        self.writes.is_empty()
    }

    /// Both of them, one behind the other.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.rests_behind |= other.rests_behind || !other.conditions.iter().all(|one| self.leaves(one));
        self.writes.extend(other.writes);
        self.places.extend(other.places);
        self.targets.extend(other.targets);
        self.up_bytes = self.up_bytes.saturating_add(other.up_bytes);
        self.brings = self.brings.max(other.brings);
        self.makes.extend(other.makes);
        self.rests |= other.rests;
        let new: Vec<_> = other.conditions.into_iter().filter(|one| !self.conditions.contains(one)).collect();
        self.conditions.extend(new);
        self.look_once();
        self
    }
}

/// True for a look at what git goes by where it works with what comes from a remote.
fn is_of_remotes(condition: &Condition) -> bool {
    matches!(condition, Condition::GitIsInert { work, .. } if work.is_of_remotes())
}

/// The words of a call, where all of them are known.
pub(super) fn known(args: &[Arg]) -> Option<Vec<&str>> {
    args.iter().map(Arg::exact).collect()
}

/// The options of a call, apart from the rest.
struct Sorted<'w> {
    /// Each option as it is written out, with its value.
    options: Vec<(&'w str, Option<&'w str>)>,
    operands: Vec<&'w str>,
}

impl<'w> Sorted<'w> {
    /// Sorts words by these options, blanks between them: `-n= --depth=` have a value, in the same word or the next one, `--sort?` only in
    /// the same word, `-q --quiet` have none. `None` where one is not among them. Letters stand alone.
    fn of(words: &[&'w str], known: &'w str) -> Option<Self> {
        let mut found = Self { options: Vec::new(), operands: Vec::new() };
        let mut words = words.iter().copied();
        let form = |name: &str| {
            let mut of_name = known.split_ascii_whitespace().filter_map(|one| {
                let (known, form) = match one.as_bytes().last()? {
                    b'=' => (one.strip_suffix('=')?, Takes::Value),
                    b'?' => (one.strip_suffix('?')?, Takes::Glued),
                    _ => (one, Takes::Nothing),
                };
                (known == name).then_some(form)
            });
            of_name.next()
        };
        while let Some(word) = words.next() {
            if word == "--" {
                found.operands.extend(words.by_ref());
            } else if !word.starts_with('-') || word == "-" {
                found.operands.push(word);
            } else if word.starts_with("--") {
                let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
                let value = match (form(name)?, value) {
                    (Takes::Nothing, Some(_)) => return None,
                    (Takes::Value, None) => Some(words.next()?),
                    (_, value) => value,
                };
                found.options.push((name, value));
            } else {
                let name = word.get(..2)?;
                let glued = word.get(2..).filter(|rest| !rest.is_empty());
                // Some take that for the sign in front of the value, others for a part of it.
                if glued.is_some_and(|value| value.starts_with('=')) {
                    return None;
                }
                match (form(name)?, glued) {
                    (Takes::Nothing, None) => found.options.push((name, None)),
                    (Takes::Value, None) => found.options.push((name, Some(words.next()?))),
                    (Takes::Value | Takes::Glued, value) => found.options.push((name, value)),
                    // Letters that stand together, none of them with a value.
                    (Takes::Nothing, Some(_)) => {
                        for at in 1..word.len() {
                            let letter = word.get(at..=at)?;
                            let whole =
                                known.split_ascii_whitespace().find(|one| one.strip_prefix('-') == Some(letter))?;
                            found.options.push((whole, None));
                        }
                    }
                }
            }
        }
        Some(found)
    }

    fn value(&self, names: &[&str]) -> Option<&'w str> {
        self.options.iter().rev().find(|(name, _)| names.contains(name)).and_then(|(_, value)| *value)
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }

    fn values(&self) -> impl Iterator<Item = &'w str> {
        self.options.iter().filter_map(|(_, value)| *value)
    }
}

#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    Value,
    Glued,
}

/// True for a word that may be the name of the folder where it stands, whatever that is called: `$PWD` and `~+` are read as such.
pub fn may_be_folder(word: &str) -> bool {
    word == "." || word.starts_with("./") || word.starts_with('~')
}

/// True for a word that says what is asked for in a way that people read: no longer than names are, and without what looks like data in
/// another form. The numbers of commits, gists and digests stay names.
pub fn is_plain(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+=_-".contains(c);
    let is_name = |part: &str| {
        let count = |is: fn(&u8) -> bool| part.bytes().filter(is).count();
        let (upper, lower, digits) =
            (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
        let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_number = is_hex && matches!(part.len(), 32 | 40 | 64);
        let is_data = if is_hex && digits > 0 {
            part.len() > 20
        } else {
            part.len() > 20 && upper > 1 && lower > 1 && digits > 1 || part.len() > 60 || digits > 20
        };
        is_number || !is_data
    };
    word.len() <= MAX_WORD
        && !may_be_folder(word)
        && word.bytes().filter(|byte| *byte == b'%').count() <= 6
        && !word.contains("%2e")
        && !word.contains("%2E")
        && !word.chars().any(char::is_control)
        && word.split(|c| !is_part(c)).all(is_name)
}

/// Host and port of an address that begins with `https://`, without a user in it.
fn of_https(address: &str) -> Option<Place> {
    let rest = address.strip_prefix("https://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0)?),
        None => (authority, 443),
    };
    is_host(host).then(|| Place::Host { host: host.to_ascii_lowercase(), port })
}

/// True for a plain name of a host with a dot in it, no address.
pub(crate) fn is_host(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    name.contains('.')
        && name.len() <= 253
        && name.split('.').all(is_label)
        && last.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !last.to_ascii_lowercase().starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_data_in_another_form_are_not() {
        for word in [
            "repos/owner/name/pulls/112/comments?per_page=100&sort=created",
            "https://raw.example.org/o/r/da39a3ee5e6b4b0d3255bfef95601890afd80709/README.md",
            "@types/node@20.11.5",
            "refs/heads/feature/2024-11-03-rename-everything",
            "ISSUE_TEMPLATE/bug_report.yml",
        ] {
            assert!(is_plain(word), "{word}");
        }
        let long = "a".repeat(600);
        for word in [
            "https://x.example/aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldDEyMw",
            "https://x.example/?q=68656c6c6f20776f726c6421686921",
            "x%41%42%43%44%45%46%47%48",
            "a\u{7}b",
            "123456789012345678901234567890",
            &long,
        ] {
            assert!(!is_plain(word), "{word}");
        }
    }

    #[test]
    fn addresses_are_of_plain_names() {
        let of = |host: &str, port| Some(Place::Host { host: host.to_owned(), port });
        assert_eq!(of_https("https://A.example/x"), of("a.example", 443));
        assert_eq!(of_https("https://a.example:8443"), of("a.example", 8443));
        for address in [
            "http://a.example/",
            "https://u@a.example/",
            "https://u:p@a.example/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://0x7f.1/",
            "https://localhost/",
            "https://a.example\\@b.example/",
            "https://a.example:0/",
            "https://a..example/",
            "https:///x",
        ] {
            assert_eq!(of_https(address), None, "{address}");
        }
    }

    /// The look that git's part of a command asks for, where what was looked at before holds until its end.
    fn git_looks(text: &str) -> Option<Vec<GitWork>> {
        let command = crate::command::CommandLine::parse(text).unwrap();
        let found = crate::classify::classify(&command, &crate::classify::Surroundings::default());
        let work = |one: &Condition| match one {
            Condition::GitIsInert { work, .. } => Some(*work),
            _ => None,
        };
        Some(found.reaches?.conditions.iter().filter_map(work).collect())
    }

    #[test]
    fn what_was_looked_at_holds_for_what_stands_in_front_of_what_came_and_for_git_itself() {
        for text in [
            "git pull",
            "git pull && git log --oneline -5",
            "git log -p -3 && git pull",
            "git fetch && git rebase origin/main",
            "git branch --show-current && git pull --rebase && git push",
            "f() { git log -p; }; f; git pull",
        ] {
            assert_eq!(git_looks(text), Some(vec![GitWork::Fetches]), "{text}");
        }
        for text in [
            "git pull && git status",
            "git status && git pull; git status",
            "git fetch && git checkout -b x origin/y",
            "git checkout x && git pull",
            "git stash && git pull && git stash pop",
            "git fetch && git reset --hard origin/x && git log --oneline",
            "git pull && git describe",
            "cd sub && git pull && git status",
        ] {
            let looks = git_looks(text);
            assert!(looks.as_ref().is_some_and(|looks| looks.contains(&GitWork::ChecksOut)), "{text}: {looks:?}");
        }
        for text in [
            "git pull && git log -p",
            "git log -p; git pull; git log -p",
            "git pull | git log -p",
            "git log -p | git pull",
            "f() { git log -p; }; f; git pull; f",
            "for x in a b; do git log -p; git pull; done",
            "{ git log -p; git pull; }",
            "git pull && git -C sub log --oneline",
            "git -C sub pull && git -C sub log --oneline",
            "git -C sub fetch && git pull && git -C sub pull",
            "git -C sub fetch && git pull && git -C sub log --oneline",
            "cd sub && git pull && cd ../sub && git log --oneline",
            "cd sub && git pull && cd . && git fetch",
            "for x in a b; do git -C sub fetch; git pull; done",
            "git pull && cd sub && git fetch",
            "git clone https://h.example/o/r . && git fetch",
            "git clone https://h.example/o/r && git -C r fetch",
            "git checkout x && npm view y",
            "git checkout x; git fetch; make",
            "trap 'git log -p' EXIT; git pull",
        ] {
            assert_eq!(git_looks(text), None, "{text}");
        }
    }

    #[test]
    fn options_are_sorted_or_the_call_is_not_understood() {
        let sort = |text: &str| {
            Sorted::of(&text.split(' ').collect::<Vec<_>>(), "-q -v --depth= -n= --color?")
                .map(|s| s.operands.join(" "))
        };
        assert_eq!(sort("-q a --depth 3 b --depth=4 -n5 -n 6 --color"), Some("a b".to_owned()));
        assert_eq!(sort("-qv a -- -x"), Some("a -x".to_owned()));
        for text in ["-x", "-qx", "--dept=3", "a --depth", "-q=1 -vn", "--qv"] {
            assert_eq!(sort(text), None, "{text}");
        }
    }
}
