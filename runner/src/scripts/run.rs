//! One run of a script: its manifest becomes a preset, its values an environment, its approval a permit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashgate_shared::protocol::ScriptWire;
use bashgate_shared::script::{Capabilities, MAX_VALUES_BYTES};
use serde::{Deserialize, Serialize};

use super::library::Script;
use super::template::{Filled, Template, TemplateError};
use crate::outcome::{Ending, RunError};
use crate::permit::{self, Ask, Denied, Permit};
use crate::presets::{Access, Preset};
use crate::run::{Internet, RunSpec, Time};

/// The preset of scripts, unless another one is named.
pub const PRESET: &str = "pai";

/// What a caller asks for: seed 003's fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Values of the script's variables: by their names, or nested at the dots.
    #[serde(default)]
    pub variables: serde_json::Map<String, serde_json::Value>,
    /// Less than the manifest gives; never more. What is not named is the manifest's.
    #[serde(default)]
    pub capabilities: Asked,
    /// From when on it is called slow, in seconds.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// When it is ended, in seconds.
    #[serde(default)]
    pub timeout_hard_seconds: Option<u64>,
    /// Only say what would run.
    #[serde(default)]
    pub dry_run: bool,
}

/// Capabilities that a run or an edit asks for: each that is not named is as the manifest gives it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// See [`Capabilities`].
    #[serde(default)]
    pub paths_read: Option<Vec<String>>,
    /// See [`Capabilities`].
    #[serde(default)]
    pub paths_write: Option<Vec<String>>,
    /// See [`Capabilities`].
    #[serde(default)]
    pub network: Option<bool>,
    /// See [`Capabilities`].
    #[serde(default)]
    pub commands: Option<Vec<String>>,
}

impl Asked {
    /// What there is then.
    pub fn of(&self, given: &Capabilities) -> Capabilities {
        let list = |asked: &Option<Vec<String>>, given: &[String]| asked.clone().unwrap_or_else(|| given.to_vec());
        Capabilities {
            paths_read: list(&self.paths_read, &given.paths_read),
            paths_write: list(&self.paths_write, &given.paths_write),
            network: self.network.unwrap_or(given.network),
            commands: list(&self.commands, &given.commands),
        }
    }
}

/// Why a script was not run.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// More was asked for than the manifest gives.
    #[error("the run asks for more than the script's manifest gives")]
    Wider,
    /// More time than the manifest gives.
    #[error("{asked} s is more time than the script has, {most} s")]
    TooLong {
        /// Seconds asked for.
        asked: u64,
        /// Most seconds.
        most: u64,
    },
    /// A value is no text.
    #[error("the value of `{0}` is no text, number or truth value")]
    NoText(String),
    /// The values are too large.
    #[error("the values have {0} bytes, more than {MAX_VALUES_BYTES}")]
    TooLarge(usize),
    /// Its places or values are wrong.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// There is no permit.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// It could not be started.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ScriptError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Wider => "create a script with these capabilities, and have it approved",
            Self::TooLong { .. } => "ask for less, or create a script with more time",
            Self::NoText(_) => "give each variable one value",
            Self::TooLarge(_) => "hand large data over in a file",
            Self::Template(error) => error.help(),
            Self::Denied(error) => error.help(),
            Self::Run(error) => error.help(),
        }
    }
}

/// How an exit status counts, as seed 003 puts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It ended with 0.
    Success,
    /// It ended with 1 to 127: go on.
    SoftFailure,
    /// It ended with 128 or more, by a signal, or was ended: stop.
    HardFailure,
}

impl ExitStatus {
    /// How a run counts.
    pub const fn of(ending: Ending) -> Self {
        match ending {
            Ending::Exited(0) => Self::Success,
            Ending::Exited(1..=127) => Self::SoftFailure,
            _ => Self::HardFailure,
        }
    }
}

/// A script that can be run: its text with its places, its values, its limits.
#[derive(Debug)]
pub struct Prepared {
    script: Script,
    template: Template,
    values: BTreeMap<String, String>,
    given: Capabilities,
    /// When it is ended, in seconds.
    hard_seconds: u64,
    /// From when on it is called slow.
    pub slow_after: Duration,
}

impl Prepared {
    /// Checks a request against a script.
    pub fn new(script: Script, request: &Request) -> Result<Self, ScriptError> {
        let manifest = &script.about.manifest;
        let given = request.capabilities.of(&manifest.capabilities);
        if !given.are_within(&manifest.capabilities) {
            return Err(ScriptError::Wider);
        }
        let most = manifest.timeout_hard_seconds;
        let hard = request.timeout_hard_seconds.unwrap_or(most);
        let slow = request.timeout_seconds.unwrap_or(manifest.timeout_seconds.min(hard));
        for (asked, most) in [(hard, most), (slow, hard)] {
            if asked == 0 || asked > most {
                return Err(ScriptError::TooLong { asked, most });
            }
        }
        let mut values = BTreeMap::new();
        flatten("", &request.variables, &mut values)?;
        let bytes: usize = values.values().map(String::len).sum();
        if bytes > MAX_VALUES_BYTES {
            return Err(ScriptError::TooLarge(bytes));
        }
        let template = Template::parse(&script.text, &manifest.variables)?;
        template.with(&values)?;
        Ok(Self { script, template, values, given, hard_seconds: hard, slow_after: Duration::from_secs(slow) })
    }

    /// The text that would run, and the values that it would find.
    pub fn resolved(&self) -> Result<Filled<'_>, ScriptError> {
        Ok(self.template.with(&self.values)?)
    }

    /// Asks the host whether a person has approved it; where nobody has yet, a person is asked.
    pub fn permit(&self, ask: &Ask<'_>) -> Result<Permit, ScriptError> {
        let script = &self.script;
        let text = self.resolved()?.text;
        let wire = ScriptWire { manifest: script.about.manifest.clone(), values: self.values.clone() };
        Ok(permit::script(&script.text, wire, text, ask)?)
    }

    /// Where it starts: what its text names lies there, wherever it is called. `None` for its own empty `/tmp`.
    pub fn working_directory(&self) -> Option<PathBuf> {
        self.script.about.manifest.working_directory.clone().map(PathBuf::from)
    }

    /// How it is run: with what its manifest gives, and nothing else.
    pub fn spec(&self, mut preset: Preset) -> Result<RunSpec, ScriptError> {
        let manifest = &self.script.about.manifest;
        let cwd = self.working_directory().unwrap_or_else(|| PathBuf::from("/tmp"));
        let filesystem = &mut preset.filesystem;
        filesystem.read = self.given.paths_read.iter().map(PathBuf::from).collect();
        filesystem.programs.clone_from(&self.given.commands);
        // In whose name it runs is the manifest's to say, however little of it a run asks for.
        let workspace = manifest.capabilities.paths_write.first().map_or_else(|| cwd.clone(), PathBuf::from);
        let is_given = |path: &String| self.given.paths_write.contains(path);
        let (first, rest): (Vec<&String>, Vec<&String>) = manifest
            .capabilities
            .paths_write
            .iter()
            .filter(|path| is_given(path))
            .partition(|path| Path::new(path) == workspace);
        filesystem.workspace = if first.is_empty() { Access::Read } else { Access::Write };
        filesystem.write = rest.into_iter().map(PathBuf::from).collect();
        preset.limits.max_timeout_s = self.hard_seconds;
        let mut spec = RunSpec::new(preset, &cwd, &workspace);
        spec.time = Time::Seconds(self.hard_seconds);
        spec.carried = self.resolved()?.environment;
        spec.internet = if self.given.network { Internet::Requested } else { Internet::NotRequested };
        Ok(spec)
    }
}

/// `{"trigger": {"file": {"path": "x"}}}` names the same as `{"trigger.file.path": "x"}`.
fn flatten(
    above: &str,
    from: &serde_json::Map<String, serde_json::Value>,
    into: &mut BTreeMap<String, String>,
) -> Result<(), ScriptError> {
    for (key, value) in from {
        let name = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        let text = match value {
            serde_json::Value::Object(inner) if name.len() < 4096 => {
                flatten(&name, inner, into)?;
                continue;
            }
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Number(number) => number.to_string(),
            serde_json::Value::Bool(truth) => truth.to_string(),
            _ => return Err(ScriptError::NoText(name)),
        };
        if into.insert(name.clone(), text).is_some() {
            return Err(ScriptError::NoText(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bashgate_shared::script::Manifest;
    use serde_json::json;

    use super::super::library::{About, Author};
    use super::*;

    fn script(text: &str) -> Script {
        let mut manifest = Manifest::named("test");
        manifest.variables = vec!["trigger.file.path".to_owned()];
        manifest.capabilities.paths_read = vec!["/srv/a".to_owned()];
        let about = About {
            description: String::new(),
            created_at_ms: 0,
            created_by: Author::User,
            version: 1,
            edited_at_ms: None,
            edited_by: None,
            automation_ids: Vec::new(),
            manifest,
        };
        Script { id: String::new(), text: text.to_owned(), about }
    }

    fn prepared(request: serde_json::Value) -> Result<Prepared, String> {
        let request: Request = serde_json::from_value(request).unwrap();
        Prepared::new(script("wc -l -- ${trigger.file.path}"), &request).map_err(|error| error.to_string())
    }

    #[test]
    fn nested_and_dotted_values_are_the_same() {
        for variables in [
            json!({"trigger": {"file": {"path": "a b"}}}),
            json!({"trigger.file.path": "a b"}),
            json!({"trigger": {"file.path": "a b"}}),
        ] {
            let found = prepared(json!({"variables": variables})).unwrap();
            assert_eq!(found.resolved().unwrap().environment, [("__bashgate_v0".to_owned(), "a b".to_owned())]);
        }
    }

    #[test]
    fn more_than_the_manifest_gives_is_refused() {
        let variables = json!({"trigger.file.path": "a"});
        for (request, want) in [
            (json!({"variables": variables, "capabilities": {"network": true}}), "more than the script's manifest"),
            (json!({"variables": variables, "capabilities": {"paths_write": ["/srv/a"]}}), "more than the script's"),
            (json!({"variables": variables, "timeout_seconds": 1801}), "more time"),
            (json!({"variables": {}}), "has none"),
            (json!({"variables": {"trigger.file.path": "a", "x": "b"}}), "no variable"),
            (json!({"variables": {"trigger.file.path": ["a"]}}), "no text"),
            (json!({"variables": {"trigger.file.path": "a", "trigger": {"file.path": "b"}}}), "no text"),
            (json!({"variables": {"trigger.file.path": "a".repeat(70_000)}}), "bytes"),
        ] {
            let got = prepared(request.clone()).unwrap_err();
            assert!(got.contains(want), "{request}: {got}");
        }
        let narrower = json!({"variables": variables, "capabilities": {"paths_read": []}});
        assert!(prepared(narrower).unwrap().given.paths_read.is_empty());
    }

    #[test]
    fn exit_codes_count_as_success_soft_and_hard() {
        for (ending, want) in [
            (Ending::Exited(0), ExitStatus::Success),
            (Ending::Exited(1), ExitStatus::SoftFailure),
            (Ending::Exited(127), ExitStatus::SoftFailure),
            (Ending::Exited(128), ExitStatus::HardFailure),
            (Ending::Signalled(9), ExitStatus::HardFailure),
            (Ending::TimedOut, ExitStatus::HardFailure),
        ] {
            assert_eq!(ExitStatus::of(ending), want, "{ending:?}");
        }
    }
}
