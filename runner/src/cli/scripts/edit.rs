//! `scripts create` and `scripts edit`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bashgate_shared::say;
use bashgate_shared::script::{Capabilities, MAX_TEXT_BYTES, Manifest};
use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::{Failure, Kept, MAX_INPUT_BYTES, about, read_input, tell, wrong_input};
use crate::scripts::run::Asked;
use crate::scripts::validate::{can_run, validate};
use crate::scripts::versions::{Change, KEPT};
use crate::scripts::{Author, Script};

#[derive(Debug, Args)]
pub(super) struct Create {
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The file with its text; `-` for standard input.
    #[arg(required_unless_present = "input", requires = "name")]
    file: Option<PathBuf>,
    /// Its name.
    #[arg(long)]
    name: Option<String>,
    /// What it does.
    #[arg(long, default_value = "")]
    description: String,
    /// A file or folder that it may read, absolute; may be repeated.
    #[arg(long, value_name = "PATH")]
    read: Vec<String>,
    /// A folder that it may write, absolute; may be repeated.
    #[arg(long, value_name = "DIR")]
    write: Vec<String>,
    /// Give it network.
    #[arg(long)]
    network: bool,
    /// A program that it may run; may be repeated.
    #[arg(long, value_name = "NAME")]
    command: Vec<String>,
    /// A name that each run has a value for, such as `trigger.file.path`; may be repeated.
    #[arg(long, value_name = "NAME")]
    variable: Vec<String>,
    /// Where it starts, absolute.
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// From when on it is called slow, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// When it is ended, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout_hard: Option<u64>,
    /// Take all of it as one JSON object from standard input instead: `content`, `name`, `description` and the
    /// manifest's other fields.
    #[arg(long, conflicts_with_all = ["file", "name", "read", "write", "network", "command", "variable", "cwd", "timeout", "timeout_hard"])]
    input: bool,
}

/// What an edit names; the rest stays.
#[derive(Debug, Args)]
pub(super) struct Edit {
    #[command(flatten)]
    pub(super) kept: Kept,
    /// The script, by id or name.
    script: String,
    /// The file with the new text; `-` for standard input.
    file: Option<PathBuf>,
    /// Its new name.
    #[arg(long)]
    name: Option<String>,
    /// What it does.
    #[arg(long)]
    description: Option<String>,
    /// Instead of what it may read now: a file or folder, absolute; may be repeated, an empty text for none.
    #[arg(long, value_name = "PATH")]
    read: Option<Vec<String>>,
    /// Instead of what it may write now: a folder, absolute; may be repeated, an empty text for none.
    #[arg(long, value_name = "DIR")]
    write: Option<Vec<String>>,
    /// Whether it has network.
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    network: Option<bool>,
    /// Instead of the programs that it may run now; may be repeated, an empty text for none.
    #[arg(long, value_name = "NAME")]
    command: Option<Vec<String>>,
    /// Instead of the names that each run has a value for now; may be repeated, an empty text for none.
    #[arg(long, value_name = "NAME")]
    variable: Option<Vec<String>>,
    /// Where it starts, absolute; an empty text for its own empty folder.
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// From when on it is called slow, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// When it is ended, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout_hard: Option<u64>,
    /// Only if this is the version that counts now.
    #[arg(long, value_name = "NUMBER")]
    expect: Option<u32>,
    /// How many versions to keep besides the new one.
    #[arg(long, value_name = "NUMBER", default_value_t = KEPT)]
    keep: usize,
    /// Take it as one JSON object from standard input instead, with the fields of `create --input`; what it does not name stays.
    #[arg(long, conflicts_with_all = ["file", "name", "description", "read", "write", "network", "command", "variable", "cwd", "timeout", "timeout_hard", "expect"])]
    input: bool,
}

/// A script as one JSON object, as a model gives it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whole {
    pub(super) content: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    capabilities: Capabilities,
    timeout_seconds: Option<u64>,
    timeout_hard_seconds: Option<u64>,
    working_directory: Option<String>,
    #[serde(default)]
    variables: Vec<String>,
}

impl Whole {
    pub(super) fn manifest(&self) -> Manifest {
        let usual = Manifest::named(&self.name);
        let hard = self.timeout_hard_seconds.unwrap_or(usual.timeout_hard_seconds);
        Manifest {
            capabilities: self.capabilities.clone(),
            timeout_seconds: self.timeout_seconds.unwrap_or(usual.timeout_seconds.min(hard)),
            timeout_hard_seconds: hard,
            working_directory: self.working_directory.clone(),
            variables: self.variables.clone(),
            ..usual
        }
    }
}

/// A change as one JSON object: a field that is not there changes nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    content: Option<String>,
    name: Option<String>,
    description: Option<String>,
    capabilities: Option<Asked>,
    timeout_seconds: Option<u64>,
    timeout_hard_seconds: Option<u64>,
    working_directory: Option<String>,
    variables: Option<Vec<String>>,
    expected_version: Option<u32>,
}

impl Part {
    fn into_change(self, now: &Script) -> Change {
        let mut manifest = now.about.manifest.clone();
        manifest.capabilities = self.capabilities.unwrap_or_default().of(&manifest.capabilities);
        set(&mut manifest.name, self.name);
        set(&mut manifest.variables, self.variables);
        set(&mut manifest.timeout_hard_seconds, self.timeout_hard_seconds);
        // Less time in all is less until it is slow.
        manifest.timeout_seconds =
            self.timeout_seconds.unwrap_or(manifest.timeout_seconds.min(manifest.timeout_hard_seconds));
        manifest.working_directory =
            self.working_directory.or(manifest.working_directory).filter(|folder| !folder.is_empty());
        Change {
            text: self.content,
            description: self.description,
            manifest: Some(manifest),
            // What nobody names was read just now: who changed it meanwhile would be written over.
            expected: Some(self.expected_version.unwrap_or(now.about.version)),
        }
    }
}

fn set<T>(old: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *old = new;
    }
}

pub(super) fn whole_input() -> Result<Whole, Failure> {
    let text = read_input(std::io::stdin(), MAX_INPUT_BYTES).map_err(wrong_input)?;
    serde_json::from_str(&text).map_err(wrong_input)
}

impl Create {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let library = self.kept.library()?;
        let as_json = self.kept.json;
        let (whole, created_by) =
            if self.input { (whole_input()?, Author::Llm) } else { (self.whole()?, Author::User) };
        let script = library.create(&whole.content, whole.manifest(), &whole.description, created_by)?;
        tell_new(&script, as_json);
        Ok(ExitCode::SUCCESS)
    }

    fn whole(self) -> Result<Whole, Failure> {
        let content = read_text(&self.file.unwrap_or_default())?;
        Ok(Whole {
            content,
            name: self.name.unwrap_or_default(),
            description: self.description,
            capabilities: Capabilities {
                paths_read: self.read,
                paths_write: self.write,
                network: self.network,
                commands: self.command,
            },
            timeout_seconds: self.timeout,
            timeout_hard_seconds: self.timeout_hard,
            working_directory: self.cwd,
            variables: self.variable,
        })
    }
}

/// The text of a script.
fn read_text(file: &Path) -> Result<String, Failure> {
    let most = MAX_TEXT_BYTES as u64;
    let content = if file.as_os_str() == "-" {
        read_input(std::io::stdin(), most)
    } else {
        std::fs::File::open(file).and_then(|file| read_input(file, most))
    };
    content.map_err(|error| {
        let why = std::io::Error::other(format!("cannot read {}: {error}", file.display()));
        Failure::new(why, "name a text file of at most 64 KiB")
    })
}

impl Edit {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let library = self.kept.library()?;
        let (named, as_json, keep) = (self.script.clone(), self.kept.json, self.keep);
        let now = library.get(&named)?;
        let (part, by) = if self.input {
            let text = read_input(std::io::stdin(), MAX_INPUT_BYTES).map_err(wrong_input)?;
            (serde_json::from_str(&text).map_err(wrong_input)?, Author::Llm)
        } else {
            (self.part()?, Author::User)
        };
        let script = library.edit(&now.id, part.into_change(&now), by, keep)?;
        tell_new(&script, as_json);
        Ok(ExitCode::SUCCESS)
    }

    fn part(self) -> Result<Part, Failure> {
        Ok(Part {
            content: self.file.as_deref().map(read_text).transpose()?,
            name: self.name,
            description: self.description,
            capabilities: Some(Asked {
                paths_read: named(self.read),
                paths_write: named(self.write),
                network: self.network,
                commands: named(self.command),
            }),
            timeout_seconds: self.timeout,
            timeout_hard_seconds: self.timeout_hard,
            working_directory: self.cwd,
            variables: named(self.variable),
            expected_version: self.expect,
        })
    }
}

/// What was named; an empty text names nothing.
fn named(list: Option<Vec<String>>) -> Option<Vec<String>> {
    list.map(|list| list.into_iter().filter(|entry| !entry.is_empty()).collect())
}

/// Tells what there is now, and what is found about it.
pub(super) fn tell_new(script: &Script, as_json: bool) {
    let found = validate(&script.text, &script.about.manifest);
    if as_json {
        let mut object = about(script);
        if let Some(fields) = object.as_object_mut() {
            fields.insert("can_run".to_owned(), json!(can_run(&found)));
            fields.insert("findings".to_owned(), json!(found));
        }
        say!("{object}");
    } else {
        tell(&found, false);
        say!(
            "Kept as {}, version {}. A person is asked where it was not approved as it is.",
            script.id,
            script.about.version
        );
    }
}
