//! An operator's own programs: rows in the form of ours, read from a file and checked before any of them counts.
//!
//! They add programs that no row of ours has, and narrow rows of ours; they never widen one. Whoever shapes a command can
//! then call such a program, so its row says as little as it can: subcommands and options that stay on this machine.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::row::{Form, Kind, Needs, Operands, Program, Reach, Rule, Subcommand, TellsVersion};
use crate::classify::call::Options;
use crate::classify::{CommandClass, Decided, Surroundings, classify};
use crate::command::CommandLine;
use crate::shell::RESERVED;

/// Largest file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 256 * 1024;
/// Most rows of a file, narrowed ones included.
const MAX_ROWS: usize = 500;
/// Most subcommands, options or examples of one row.
const MAX_LIST: usize = 200;

/// The file, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramsFile {
    /// Programs that no row of ours has.
    #[serde(default, rename = "program", skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<OwnRow>,
    /// Rows of ours that say too much for this place.
    #[serde(default, rename = "narrow", skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<Narrowed>,
}

/// One program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnRow {
    /// The names under which it is called.
    pub names: Vec<String>,
    /// What it does, for people; ends the sentence "it …".
    pub about: String,
    /// How a call without a subcommand stays on this machine, if there is a way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<OwnForm>,
    /// Its subcommands, as far as they matter.
    #[serde(default, rename = "subcommand", skip_serializing_if = "Vec::is_empty")]
    pub subcommands: Vec<OwnSubcommand>,
    /// The arguments with which it only tells its version, such as `--version`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tells_version: Vec<String>,
    /// Calls that must be Safe with this row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub safe: Vec<String>,
    /// Calls that must not be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_safe: Vec<String>,
}

/// How a call looks that stays on this machine. Any other option, and anything that is only known when it runs and could
/// turn into one, makes it Unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnForm {
    /// Letters of short options without a value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// Letters of short options with a value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub values: String,
    /// Long options: `--x` has no value, `--x=` has one, `--x=?` may have one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long: Vec<String>,
    /// What its operands are.
    #[serde(default)]
    pub operands: OwnOperands,
}

/// What operands are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnOperands {
    /// There are none.
    #[default]
    None,
    /// Text, numbers, names of users: no files.
    Data,
    /// Files of which it tells names and sizes, never content.
    Names,
    /// Files whose content it shows.
    Files,
    /// Files that it writes.
    Writes,
}

/// One subcommand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSubcommand {
    /// Its words: one, or two with a blank.
    pub words: String,
    /// How it stays on this machine, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<OwnForm>,
    /// What it does on the network, where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<OwnReach>,
}

/// What a subcommand does on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnReach {
    /// It asks for something, and sends no more than what names it.
    Reads,
    /// It sends, or may.
    Writes,
}

impl OwnReach {
    /// What a subcommand does, going by its word; for a draft, which a person reads.
    pub fn by_word(word: &str) -> Option<Self> {
        match word {
            "push" | "sync" | "publish" | "upload" | "deploy" | "login" | "send" | "share" | "submit" => {
                Some(Self::Writes)
            }
            "pull" | "fetch" | "download" | "update" | "upgrade" | "install" | "clone" => Some(Self::Reads),
            _ => None,
        }
    }
}

/// A row of ours of which nothing is local here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Narrowed {
    /// Names of programs that have a row.
    pub names: Vec<String>,
    /// Why, for people.
    pub why: String,
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct RowError {
    /// The row and the key, as `program bd, subcommand list, long`.
    pub place: String,
    /// What is wrong with it.
    pub why: String,
}

impl RowError {
    pub(super) fn at(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self { place: place.into(), why: why.into() }
    }

    /// What to do.
    pub const fn help() -> &'static str {
        "correct it there; docs/programs.md says what a row may hold, and `bashgate classify --programs FILE` tries it"
    }
}

/// Rows of an operator that were checked.
pub struct OwnPrograms {
    rows: HashMap<&'static str, &'static Program>,
    narrowed: HashMap<String, String>,
}

impl std::fmt::Debug for OwnPrograms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OwnPrograms({} names, {} narrowed)", self.rows.len(), self.narrowed.len())
    }
}

impl OwnPrograms {
    /// Checks a file, examples and all, and makes rows of it, which live as long as the process: it is read once.
    pub fn compile(file: &ProgramsFile) -> Result<&'static Self, RowError> {
        let own = Self::draft(file)?;
        file.programs.iter().try_for_each(|row| own.examples_hold(row))?;
        Ok(own)
    }

    /// Rows without a look at their examples: a draft, or what was checked before.
    pub fn draft(file: &ProgramsFile) -> Result<&'static Self, RowError> {
        let all = file.programs.len() + file.narrowed.len();
        if all > MAX_ROWS {
            return Err(RowError::at("the file", format!("it has {all} rows, more than {MAX_ROWS}")));
        }
        let mut own = Self { rows: HashMap::new(), narrowed: HashMap::new() };
        for row in &file.programs {
            let place = format!("program {}", row.names.first().map_or("without a name", String::as_str));
            let program: &'static Program = Box::leak(Box::new(row.program(&place)?));
            for name in program.names {
                if own.rows.insert(name, program).is_some() {
                    return Err(RowError::at(place, format!("`{name}` stands in two rows")));
                }
            }
        }
        for narrowed in &file.narrowed {
            let place = format!("narrow {}", narrowed.names.first().map_or("without a name", String::as_str));
            if narrowed.why.trim().is_empty() {
                return Err(RowError::at(format!("{place}, why"), "it is empty"));
            }
            for name in &narrowed.names {
                if super::row(name).is_none() || name.contains('/') {
                    return Err(RowError::at(format!("{place}, names"), format!("`{name}` has no row of ours")));
                }
                own.narrowed.insert(name.clone(), narrowed.why.clone());
            }
        }
        Ok(Box::leak(Box::new(own)))
    }

    /// The row of a program of the operator.
    pub fn row(&self, name: &str) -> Option<&'static Program> {
        self.rows.get(name).copied()
    }

    /// Why nothing of a program that has a row of ours is local here.
    pub fn narrows(&self, name: &str) -> Option<&str> {
        self.narrowed.get(name).map(String::as_str)
    }

    fn examples_hold(&'static self, row: &OwnRow) -> Result<(), RowError> {
        let place = |key: &str| format!("program {}, {key}", row.names.first().map_or("", String::as_str));
        let around = Surroundings { programs: Some(self), ..Surroundings::default() };
        let claims = row.form.is_some()
            || !row.tells_version.is_empty()
            || row.subcommands.iter().any(|subcommand| subcommand.form.is_some());
        if claims && (row.safe.is_empty() || row.not_safe.is_empty()) {
            let why = "a row that calls something local needs an example of what is, and one of what is not";
            return Err(RowError::at(place("safe and not_safe"), why));
        }
        for (key, examples, wanted) in [("safe", &row.safe, true), ("not_safe", &row.not_safe, false)] {
            for example in examples {
                let line = CommandLine::parse(example.clone())
                    .map_err(|error| RowError::at(place(key), format!("`{example}`: {error}")))?;
                let found = classify(&line, &around);
                if !found.effects.programs.iter().any(|program| row.names.contains(program)) {
                    return Err(RowError::at(place(key), format!("`{example}` does not call it")));
                }
                let is_safe = found.class == CommandClass::Safe && found.decided != Decided::Host;
                if is_safe != wanted {
                    let said = if is_safe { "is Safe" } else { "is not Safe" };
                    return Err(RowError::at(place(key), format!("`{example}` {said}: {}", found.reason)));
                }
            }
        }
        Ok(())
    }
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn all_leaked(texts: &[String]) -> &'static [&'static str] {
    Vec::leak(texts.iter().map(|text| leaked(text)).collect())
}

/// Why a program of this name can have no row of an operator.
pub fn refusal(name: &str) -> Option<&'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) || name.starts_with(['-', '.']) {
        Some("a name has letters, digits, `.`, `_`, `+` and `-`, and starts with none of the marks")
    } else if name.starts_with("bashgate") {
        Some("only people call the gate")
    } else if RESERVED.contains(&name) {
        Some("it is a word of the shell")
    } else if super::row(name).is_some() {
        Some("it has a row of ours; `[[narrow]]` can make that stricter")
    } else if name.ends_with("sh") || super::row(stem).is_some_and(|row| row.runs.takes_code()) {
        Some("it looks like a shell, an interpreter or a wrapper, and those are never local")
    } else {
        None
    }
}

impl OwnRow {
    fn program(&self, place: &str) -> Result<Program, RowError> {
        if self.names.is_empty() {
            return Err(RowError::at(format!("{place}, names"), "it is empty"));
        }
        for name in &self.names {
            if let Some(why) = refusal(name) {
                return Err(RowError::at(format!("{place}, names"), format!("`{name}`: {why}")));
            }
        }
        if self.about.trim().is_empty() || self.about.len() > 200 || self.about.contains(char::is_control) {
            return Err(RowError::at(
                format!("{place}, about"),
                "it says in 1 to 200 characters what the program does",
            ));
        }
        let lists = [
            ("names", self.names.len()),
            ("subcommand", self.subcommands.len()),
            ("tells_version", self.tells_version.len()),
            ("safe", self.safe.len()),
            ("not_safe", self.not_safe.len()),
        ];
        if let Some((key, length)) = lists.into_iter().find(|(_, length)| *length > MAX_LIST) {
            return Err(RowError::at(format!("{place}, {key}"), format!("{length} are more than {MAX_LIST}")));
        }
        if let Some(other) = self.tells_version.iter().find(|text| !text.starts_with('-') && *text != "version") {
            let why = format!("`{other}` is neither an option nor `version`");
            return Err(RowError::at(format!("{place}, tells_version"), why));
        }
        let rule = match &self.form {
            Some(_) if !self.subcommands.is_empty() => {
                let why = "a program has subcommands or a form of its own, not both";
                return Err(RowError::at(format!("{place}, form"), why));
            }
            Some(form) => Rule::Alone(form.form(&format!("{place}, form"))?),
            None => Rule::Forms,
        };
        let mut subcommands: Vec<Subcommand> = Vec::new();
        for subcommand in &self.subcommands {
            let place = format!("{place}, subcommand {}", subcommand.words);
            let one = subcommand.subcommand(&place)?;
            if subcommands.iter().any(|other| other.words == one.words) {
                return Err(RowError::at(place, "it stands twice"));
            }
            subcommands.push(one);
        }
        let mut program = Program::new(all_leaked(&self.names), leaked(&self.about), Kind::Mixed, rule)
            .subcommands(Vec::leak(subcommands))
            .safe(all_leaked(&self.safe))
            .not_safe(all_leaked(&self.not_safe));
        if !self.tells_version.is_empty() {
            program.version = Some(TellsVersion { arguments: all_leaked(&self.tells_version), chosen_by: &[] });
        }
        Ok(program)
    }
}

impl OwnSubcommand {
    fn subcommand(&self, place: &str) -> Result<Subcommand, RowError> {
        let words: Vec<&str> = self.words.split(' ').collect();
        let is_word = |word: &&str| {
            !word.is_empty()
                && !word.starts_with('-')
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:.-".contains(&byte))
        };
        if words.len() > 2 || !words.iter().all(is_word) {
            return Err(RowError::at(format!("{place}, words"), "it is one word, or two with one blank between them"));
        }
        let words = leaked(&self.words);
        match (&self.form, self.reach) {
            (Some(form), None) => Ok(Subcommand { words, reach: Reach::Local, form: Some(form.form(place)?) }),
            (None, Some(OwnReach::Reads)) => Ok(Subcommand { words, reach: Reach::Reads, form: None }),
            (None, Some(OwnReach::Writes)) => Ok(Subcommand { words, reach: Reach::Writes, form: None }),
            _ => {
                let why = "it says how it stays on this machine (`form`), or what it does on the network (`reach`)";
                Err(RowError::at(place, why))
            }
        }
    }
}

impl OwnForm {
    fn form(&self, place: &str) -> Result<Form, RowError> {
        for (key, letters) in [("flags", &self.flags), ("values", &self.values)] {
            if let Some(other) = letters.chars().find(|letter| !letter.is_ascii_alphanumeric()) {
                return Err(RowError::at(format!("{place}, {key}"), format!("`{other}` is no letter of an option")));
            }
        }
        if let Some(twice) = self.flags.chars().find(|letter| self.values.contains(*letter)) {
            return Err(RowError::at(format!("{place}, values"), format!("`{twice}` is in `flags`, too")));
        }
        if self.long.len() > MAX_LIST {
            let why = format!("{} are more than {MAX_LIST}", self.long.len());
            return Err(RowError::at(format!("{place}, long"), why));
        }
        let is_long = |text: &str| {
            let name = text.trim_end_matches('?').trim_end_matches('=');
            let mark = text.get(name.len()..).unwrap_or("");
            name.len() > 2
                && name.starts_with("--")
                && matches!(mark, "" | "=" | "=?")
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if let Some(other) = self.long.iter().find(|text| !is_long(text)) {
            let why = format!("`{other}` is not of the form `--x`, `--x=` or `--x=?`");
            return Err(RowError::at(format!("{place}, long"), why));
        }
        let options =
            Options { flags: leaked(&self.flags), values: leaked(&self.values), long: all_leaked(&self.long) };
        let (operands, needs) = match self.operands {
            OwnOperands::None => (Operands::Data, Needs::AtMost(0)),
            OwnOperands::Data => (Operands::Data, Needs::Nothing),
            OwnOperands::Names => (Operands::Names, Needs::Nothing),
            OwnOperands::Files => (Operands::Files, Needs::Nothing),
            OwnOperands::Writes => (Operands::Writes, Needs::Nothing),
        };
        let form = Form::new(Vec::leak(vec![options])).needs(needs);
        Ok(Form { operands, ..form })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BD: &str = r#"{"program": [{
        "names": ["bd"], "about": "keeps issues",
        "subcommand": [
            {"words": "list", "form": {"values": "s", "long": ["--json", "--status="]}},
            {"words": "show", "form": {"operands": "data"}},
            {"words": "sync", "reach": "writes"},
            {"words": "dep tree", "form": {"operands": "data"}}
        ],
        "tells_version": ["--version"],
        "safe": ["bd list --json", "bd show bd-12", "bd dep tree bd-12"],
        "not_safe": ["bd sync", "bd edit x", "bd list -x", "bd list > /etc/x"]
    }], "narrow": [{"names": ["rg"], "why": "its configuration is shared here"}]}"#;

    fn compile(text: &str) -> Result<&'static OwnPrograms, RowError> {
        OwnPrograms::compile(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn rows_of_an_operator_add_and_narrow() {
        let around = Surroundings { programs: Some(compile(BD).unwrap()), ..Surroundings::default() };
        let of = |command: &str, around: &Surroundings| {
            let found = classify(&CommandLine::parse(command).unwrap(), around);
            (found.class, found.decided)
        };
        for (command, wanted) in [
            ("bd list", (CommandClass::Safe, Decided::Local)),
            ("bd --version", (CommandClass::Safe, Decided::Local)),
            ("bd list | head -3", (CommandClass::Safe, Decided::Local)),
            ("timeout 5 bd show x", (CommandClass::Safe, Decided::Local)),
            ("bd sync", (CommandClass::Network, Decided::Host)),
            ("bd show \"$x\"", (CommandClass::Unknown, Decided::Host)),
            ("bd list extra", (CommandClass::Unknown, Decided::Host)),
            ("./bd list", (CommandClass::Unknown, Decided::Host)),
            ("bd() { curl x; }; bd list", (CommandClass::Network, Decided::Host)),
            ("rg x", (CommandClass::Unknown, Decided::Host)),
            ("rg --version", (CommandClass::Unknown, Decided::Host)),
        ] {
            assert_eq!(of(command, &around), wanted, "{command}");
        }
        assert_eq!(of("bd list", &Surroundings::default()), (CommandClass::Unknown, Decided::Host));
        assert_eq!(of("rg x", &Surroundings::default()).0, CommandClass::Safe);
    }

    #[test]
    fn what_is_wrong_names_row_and_key() {
        let row = |names: &str, more: &str| {
            format!(
                r#"{{"program": [{{"names": [{names}], "about": "x", "safe": ["x a"], "not_safe": ["x b"] {more}}}]}}"#
            )
        };
        for (text, place, why) in [
            (row("", ""), "names", "empty"),
            (row("\"curl\"", ""), "program curl, names", "row of ours"),
            (row("\"python3.13\"", ""), "names", "row of ours"),
            (row("\"xonsh\"", ""), "names", "shell"),
            (row("\"perl6\"", ""), "names", "ours"),
            (row("\"bashgate-x\"", ""), "names", "gate"),
            (row("\"a/b\"", ""), "names", "letters"),
            (row("\"x*\"", ""), "names", "letters"),
            (row("\"fi\"", ""), "names", "word of the shell"),
            (row("\"x\"", r#", "form": {"flags": "-"}"#), "program x, form, flags", "no letter"),
            (row("\"x\"", r#", "form": {"flags": "a", "values": "a"}"#), "form, values", "`flags`, too"),
            (row("\"x\"", r#", "form": {"long": ["-x"]}"#), "form, long", "not of the form"),
            (row("\"x\"", r#", "subcommand": [{"words": "a b c", "reach": "reads"}]"#), "words", "one word"),
            (row("\"x\"", r#", "subcommand": [{"words": "a"}]"#), "subcommand a", "says how"),
            (
                row("\"x\"", r#", "subcommand": [{"words": "a", "reach": "reads", "form": {}}]"#),
                "subcommand a",
                "says how",
            ),
            (row("\"x\"", r#", "form": {}, "subcommand": [{"words": "a", "reach": "reads"}]"#), "form", "not both"),
            (row("\"x\"", ""), "program x, safe", "is not Safe"),
            (row("\"x\"", r#", "form": {"operands": "data"}"#), "program x, not_safe", "is Safe"),
            (
                r#"{"program": [{"names": ["x"], "about": "x", "form": {}}]}"#.to_owned(),
                "safe and not_safe",
                "needs an example",
            ),
            (
                r#"{"program": [{"names": ["x"], "about": "x", "form": {}, "safe": ["ls"], "not_safe": ["x b"]}]}"#
                    .to_owned(),
                "program x, safe",
                "does not call it",
            ),
            (
                r#"{"program": [{"names": ["x", "x"], "about": "x", "form": {}, "safe": ["x"], "not_safe": ["x b"]}]}"#
                    .to_owned(),
                "program x",
                "two rows",
            ),
            (r#"{"narrow": [{"names": ["nosuch"], "why": "x"}]}"#.to_owned(), "narrow nosuch", "no row of ours"),
            (r#"{"narrow": [{"names": ["rg"], "why": ""}]}"#.to_owned(), "narrow rg, why", "empty"),
        ] {
            let error = compile(&text).unwrap_err();
            assert!(error.place.contains(place) && error.why.contains(why), "{text}: {error}");
        }
        for text in [
            r#"{"program": [{"names": ["x"]}]}"#,
            r#"{"rows": []}"#,
            r#"{"program": [{"names": ["x"], "about": "x", "kind": "local"}]}"#,
        ] {
            assert!(serde_json::from_str::<ProgramsFile>(text).is_err(), "{text}");
        }
    }

    /// `go vet` runs what it builds, and sqlite3 has commands of its own that start programs: what can be said of them is
    /// said in one row each all the same.
    #[test]
    fn one_row_is_enough_for_a_program() {
        let text = r#"{"program": [
            {"names": ["gox"], "about": "is a tool for Go", "subcommand": [{"words": "vet", "form": {"operands": "data"}}],
             "safe": ["gox vet ./..."], "not_safe": ["gox build", "gox vet -vettool=x ./..."]},
            {"names": ["sqlite3-ro"], "about": "answers queries", "form": {"long": ["--json"], "operands": "files"},
             "safe": ["sqlite3-ro --json a.db"], "not_safe": ["sqlite3-ro -cmd .shell a.db"]}
        ]}"#;
        compile(text).unwrap();
    }
}
