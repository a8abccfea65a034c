//! A managed script's manifest: everything that a person approves, in one canonical form with one digest.
//!
//! The manifest is evidence from a hostile place until a person has approved its digest. Whoever changes anything in it,
//! the text, a capability or a limit, has another digest and asks again.

use serde::{Deserialize, Serialize};

use crate::command::Digest;
use crate::shell::is_name;

/// Longest text of a script, in bytes: what is longer is never understood whole.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Longest name, in characters.
pub const MAX_NAME_CHARS: usize = 64;
/// Most entries of a list: folders, commands, variables.
pub const MAX_ENTRIES: usize = 64;
/// Longest path or name of a variable, in bytes.
pub const MAX_ENTRY_BYTES: usize = 4096;
/// Longest time that a script may have, in seconds.
pub const MAX_TIMEOUT_S: u64 = 1800;
/// Most that the values of one run may weigh, in bytes: the kernel passes them on in the environment.
pub const MAX_VALUES_BYTES: usize = 64 * 1024;

/// What a script may reach. All of it is held by the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// Files and folders that may be read, absolute.
    #[serde(default)]
    pub paths_read: Vec<String>,
    /// Folders that may be written, absolute.
    #[serde(default)]
    pub paths_write: Vec<String>,
    /// Whether there is network.
    #[serde(default)]
    pub network: bool,
    /// Programs that may run, by name, besides the shell's own.
    #[serde(default)]
    pub commands: Vec<String>,
}

impl Capabilities {
    /// True when these ask for nothing that the others do not give.
    pub fn are_within(&self, given: &Self) -> bool {
        let all = |asked: &[String], given: &[String]| asked.iter().all(|entry| given.contains(entry));
        all(&self.paths_read, &given.paths_read)
            && all(&self.paths_write, &given.paths_write)
            && all(&self.commands, &given.commands)
            && (given.network || !self.network)
    }
}

/// All that a person approves about a script, but for its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name, for people.
    pub name: String,
    /// What may be reached.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// From when on it is called slow, in seconds.
    #[serde(default = "usual_timeout")]
    pub timeout_seconds: u64,
    /// When it is ended, in seconds.
    #[serde(default = "hard_timeout")]
    pub timeout_hard_seconds: u64,
    /// Where it starts: an absolute path, below one that may be read or written; its own empty folder if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// Names for which each run has a value: `word` or `word.word`.
    #[serde(default)]
    pub variables: Vec<String>,
}

/// The time that a script has when its manifest says nothing, in seconds.
pub const fn usual_timeout() -> u64 {
    60
}

const fn hard_timeout() -> u64 {
    MAX_TIMEOUT_S
}

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is wrong: {why}")]
pub struct ManifestError {
    /// Which field.
    pub field: &'static str,
    /// What is wrong.
    pub why: String,
}

impl Manifest {
    /// A manifest that gives nothing.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            capabilities: Capabilities::default(),
            timeout_seconds: usual_timeout(),
            timeout_hard_seconds: hard_timeout(),
            working_directory: None,
            variables: Vec::new(),
        }
    }

    /// The same in canonical form: lists sorted, each entry once. An error for what no manifest may say.
    pub fn canonical(mut self) -> Result<Self, ManifestError> {
        let wrong = |field, why: String| Err(ManifestError { field, why });
        let plain = |c: char| c.is_ascii_alphanumeric() || " ._-".contains(c);
        if self.name.trim().is_empty()
            || self.name.chars().count() > MAX_NAME_CHARS
            || !self.name.chars().all(plain)
            || !self.name.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            return wrong(
                "name",
                format!("use 1 to {MAX_NAME_CHARS} letters, digits, spaces, `.`, `_` and `-`, a letter or digit first"),
            );
        }
        let capabilities = &mut self.capabilities;
        for (field, list) in [
            ("capabilities.paths_read", &mut capabilities.paths_read),
            ("capabilities.paths_write", &mut capabilities.paths_write),
            ("capabilities.commands", &mut capabilities.commands),
            ("variables", &mut self.variables),
        ] {
            list.sort();
            list.dedup();
            if list.len() > MAX_ENTRIES {
                return wrong(field, format!("it has more than {MAX_ENTRIES} entries"));
            }
            if let Some(long) = list.iter().find(|entry| entry.len() > MAX_ENTRY_BYTES) {
                return wrong(field, format!("an entry has {} bytes, more than {MAX_ENTRY_BYTES}", long.len()));
            }
        }
        let paths = capabilities.paths_read.iter().map(|path| ("capabilities.paths_read", path));
        let paths = paths.chain(capabilities.paths_write.iter().map(|path| ("capabilities.paths_write", path)));
        let paths = paths.chain(self.working_directory.iter().map(|path| ("working_directory", path)));
        for (field, path) in paths {
            if let Some(why) = no_path(path) {
                return wrong(field, format!("{path:?} {why}"));
            }
        }
        let program =
            |name: &&String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-[".contains(c));
        if let Some(bad) = capabilities.commands.iter().find(|name| !program(name) || name.starts_with(['-', '.'])) {
            return wrong("capabilities.commands", format!("{bad:?} is no program's name, such as `tar`"));
        }
        if let Some(bad) = self.variables.iter().find(|name| !name.split('.').all(is_name)) {
            return wrong("variables", format!("{bad:?} is no name such as `path` or `trigger.file.path`"));
        }
        if !(1..=MAX_TIMEOUT_S).contains(&self.timeout_hard_seconds) {
            return wrong("timeout_hard_seconds", format!("it is not between 1 and {MAX_TIMEOUT_S}"));
        }
        if !(1..=self.timeout_hard_seconds).contains(&self.timeout_seconds) {
            return wrong(
                "timeout_seconds",
                format!("it is not between 1 and {}, the hard one", self.timeout_hard_seconds),
            );
        }
        Ok(self)
    }

    /// What is approved: SHA-256 over the manifest's canonical form and the script's text. The manifest must be
    /// [`canonical`](Self::canonical).
    pub fn digest(&self, text: &str) -> Digest {
        let manifest = serde_json::to_string(self).unwrap_or_default();
        let parts = ["bashgate script 1\n", "bash\n", &manifest.len().to_string(), "\n", &manifest, "\n", text];
        Digest::of(parts.concat().as_bytes())
    }

    /// The manifest and the text for people: what is given first, where the text cannot speak for it.
    pub fn shown(&self, text: &str) -> String {
        let list = |entries: &[String]| {
            let quoted: Vec<String> = entries.iter().map(|entry| format!("{entry:?}")).collect();
            if quoted.is_empty() { "nothing".to_owned() } else { quoted.join(", ") }
        };
        let given = &self.capabilities;
        let mut out = format!("# script {:?}, run by bash in a sandbox\n", self.name);
        out.push_str(&format!("# network:  {}\n", if given.network { "YES" } else { "no" }));
        out.push_str(&format!("# writes:   {}\n", list(&given.paths_write)));
        out.push_str(&format!("# reads:    {}\n", list(&given.paths_read)));
        out.push_str(&format!("# programs: {}\n", list(&given.commands)));
        if !self.variables.is_empty() {
            out.push_str(&format!("# values:   {}\n", list(&self.variables)));
        }
        let at =
            self.working_directory.as_ref().map_or_else(|| "an empty folder".to_owned(), |path| format!("{path:?}"));
        out.push_str(&format!("# starts in {at}, ends after {} s at the latest\n", self.timeout_hard_seconds));
        out.push_str(&format!("# approved as {}\n\n", self.digest(text).hex()));
        out.push_str(text);
        out
    }
}

/// Why a text is no path that can be given.
fn no_path(path: &str) -> Option<&'static str> {
    if !path.starts_with('/') {
        return Some("is not absolute");
    }
    if path.chars().any(char::is_control) {
        return Some("holds a control character");
    }
    let is_plain = path == "/" || path.strip_prefix('/')?.split('/').all(|part| !matches!(part, "" | "." | ".."));
    (!is_plain).then_some("is not written out: no `.`, `..`, `//` and no slash at its end")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Manifest);

    fn backup() -> Manifest {
        let mut manifest = Manifest::named("backup");
        manifest.capabilities.paths_read = vec!["/srv/b".to_owned(), "/srv/a".to_owned(), "/srv/a".to_owned()];
        manifest.capabilities.commands = vec!["tar".to_owned(), "gzip".to_owned()];
        manifest.variables = vec!["trigger.file.path".to_owned()];
        manifest
    }

    #[test]
    fn the_order_of_lists_does_not_matter_and_everything_else_does() {
        let one = backup().canonical().unwrap();
        let mut other = backup();
        other.capabilities.paths_read.reverse();
        assert_eq!(one.digest("ls"), other.canonical().unwrap().digest("ls"));
        let changes: [Change; 8] = [
            |m| m.name.push('x'),
            |m| m.capabilities.network = true,
            |m| m.capabilities.paths_read.clear(),
            |m| m.capabilities.paths_write.push("/srv/c".to_owned()),
            |m| m.capabilities.commands.push("curl".to_owned()),
            |m| m.timeout_hard_seconds = 900,
            |m| m.working_directory = Some("/srv/a".to_owned()),
            |m| m.variables.push("x".to_owned()),
        ];
        for change in changes {
            let mut other = backup();
            change(&mut other);
            assert_ne!(one.digest("ls"), other.canonical().unwrap().digest("ls"));
        }
        assert_ne!(one.digest("ls"), one.digest("ls "));
    }

    #[test]
    fn what_no_manifest_may_say_is_named() {
        let changes: [(Change, &str); 10] = [
            (|m| m.name.clear(), "name"),
            (|m| m.name = "a\nnetwork: no".to_owned(), "name"),
            (|m| m.capabilities.paths_read.push("srv".to_owned()), "capabilities.paths_read"),
            (|m| m.capabilities.paths_write.push("/srv/../etc".to_owned()), "capabilities.paths_write"),
            (|m| m.capabilities.paths_write.push("/srv/a\n".to_owned()), "capabilities.paths_write"),
            (|m| m.capabilities.commands.push("../ls".to_owned()), "capabilities.commands"),
            (|m| m.variables.push("a.".to_owned()), "variables"),
            (|m| m.timeout_hard_seconds = 1801, "timeout_hard_seconds"),
            (|m| m.timeout_seconds = 0, "timeout_seconds"),
            (|m| m.variables = (0..65).map(|n| format!("v{n}")).collect(), "variables"),
        ];
        for (change, field) in changes {
            let mut manifest = backup();
            change(&mut manifest);
            assert_eq!(manifest.canonical().unwrap_err().field, field);
        }
    }

    #[test]
    fn asking_for_less_is_within_and_asking_for_more_is_not() {
        let given = backup().capabilities;
        let mut asked = given.clone();
        asked.commands.pop();
        assert!(asked.are_within(&given) && !given.are_within(&asked));
        asked.network = true;
        assert!(!asked.are_within(&given));
    }

    #[test]
    fn a_text_cannot_speak_for_its_manifest() {
        let manifest = backup().canonical().unwrap();
        let shown = manifest.shown("# network:  YES\nls");
        let line = shown.lines().find(|line| line.starts_with("# network")).unwrap();
        assert_eq!(line, "# network:  no");
    }
}
