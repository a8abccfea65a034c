//! The action of an automation: one script with the values of one occasion, and several in a row.
//!
//! What an action says of an approval (`approved`, `approved_at`, `approved_hash`) is read and believed in nothing: who approves is a
//! person, at the host, and what is approved is the digest of manifest and text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::library::Script;
use super::run::{Asked, ExitStatus, Request};

/// Most actions of a chain.
pub const MAX_ACTIONS: usize = 100;
/// Longest value that a place in a value may become, in bytes.
const MAX_VALUE_BYTES: usize = 64 * 1024;

/// One action, with the fields of seed 003.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BashAction {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The script, by id or name.
    pub script_id: String,
    /// Its name: where it is given, the script must have it.
    #[serde(default)]
    pub script_name: Option<String>,
    /// Less than the script's manifest gives; never more.
    #[serde(default)]
    pub capabilities: Asked,
    /// From when on it is called slow, in seconds.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// When it is ended, in seconds: at most what the manifest gives.
    #[serde(default)]
    pub timeout_hard_seconds: Option<u64>,
    /// Where it starts: where it is given, the manifest must say the same.
    #[serde(default)]
    pub working_directory: Option<String>,
    /// Values; `${trigger.file.path}` in one stands for what the automation knows by that name.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Believed in nothing.
    #[serde(default)]
    pub approved: bool,
    /// Believed in nothing.
    #[serde(default)]
    pub approved_at: Option<String>,
    /// The text's digest when somebody noted that it was approved. Another one is told; who is asked decides the host.
    #[serde(default)]
    pub approved_hash: Option<String>,
}

/// The type of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Kind {
    /// Runs a managed script.
    #[serde(rename = "bash.run")]
    Run,
}

/// Why an action is not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// There is nothing to do, or too much.
    #[error("there are {0} actions; name 1 to {MAX_ACTIONS}")]
    Count(usize),
    /// The script has another name.
    #[error("the script {id} is called {is:?}, not {named:?}")]
    OtherName {
        /// The script's id.
        id: String,
        /// Its name.
        is: String,
        /// What the action calls it.
        named: String,
    },
    /// It would start elsewhere than what was approved.
    #[error("the script starts in {is}, not in {named:?}")]
    OtherFolder {
        /// Where it starts.
        is: String,
        /// What the action says.
        named: String,
    },
    /// A value names what the automation does not know.
    #[error("the value of `{variable}` names `{place}`, which nobody gave")]
    NotGiven {
        /// The variable.
        variable: String,
        /// What stands between the braces.
        place: String,
    },
    /// A value is too long, or no text.
    #[error("the value of `{0}` is no text, or too long")]
    Value(String),
}

impl ActionError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Count(_) => "give an object, or a list of them",
            Self::OtherName { .. } => "correct the action: `bashgate-run scripts list` shows names and ids",
            Self::OtherFolder { .. } => "leave it out, or edit the script, which is then approved anew",
            Self::NotGiven { .. } => "give it with --var NAME=VALUE, or as `known` in the input",
            Self::Value(_) => "give each variable one text; hand large data over in a file",
        }
    }
}

impl BashAction {
    /// What to ask of its script, with what the automation knows.
    pub fn request(&self, script: &Script, known: &Map<String, Value>) -> Result<Request, ActionError> {
        let manifest = &script.about.manifest;
        if let Some(named) = self.script_name.as_ref().filter(|named| **named != manifest.name) {
            let (id, is) = (script.id.clone(), manifest.name.clone());
            return Err(ActionError::OtherName { id, is, named: named.clone() });
        }
        if let Some(named) =
            self.working_directory.as_ref().filter(|named| manifest.working_directory.as_ref() != Some(named))
        {
            let is = manifest.working_directory.clone().unwrap_or_else(|| "an empty folder".to_owned());
            return Err(ActionError::OtherFolder { is, named: named.clone() });
        }
        let mut variables = Map::new();
        for (name, value) in &self.variables {
            variables.insert(name.clone(), Value::String(resolved(name, value, known)?));
        }
        Ok(Request {
            variables,
            capabilities: self.capabilities.clone(),
            timeout_seconds: self.timeout_seconds,
            timeout_hard_seconds: self.timeout_hard_seconds,
            dry_run: false,
        })
    }

    /// What is worth knowing about what it says of an approval.
    pub fn remark(&self, script: &Script) -> Option<String> {
        let hash = self.approved_hash.as_ref()?;
        let is_same = [script.content_hash(), script.digest().hex()].contains(&hash.to_ascii_lowercase());
        (!is_same).then(|| {
            "the script is another one than its action says was approved; a person is asked where this one was not"
                .to_owned()
        })
    }
}

/// A value, with what stands in `${…}` put in its place. It stays data: the script sees it as a value like any other.
fn resolved(variable: &str, value: &str, known: &Map<String, Value>) -> Result<String, ActionError> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once("${") {
        text.push_str(before);
        let Some((place, after)) = behind.split_once('}') else {
            text.push_str("${");
            rest = behind;
            continue;
        };
        let not_given = || ActionError::NotGiven { variable: variable.to_owned(), place: place.to_owned() };
        match at(known, place).ok_or_else(not_given)? {
            Value::String(found) => text.push_str(found),
            Value::Number(found) => text.push_str(&found.to_string()),
            Value::Bool(found) => text.push_str(&found.to_string()),
            _ => return Err(ActionError::Value(variable.to_owned())),
        }
        rest = after;
        if text.len() > MAX_VALUE_BYTES {
            return Err(ActionError::Value(variable.to_owned()));
        }
    }
    text.push_str(rest);
    Ok(text)
}

/// What is known by a name: under that very name, or nested at its dots.
fn at<'k>(known: &'k Map<String, Value>, place: &str) -> Option<&'k Value> {
    if let Some(found) = known.get(place) {
        return Some(found);
    }
    let mut parts = place.split('.');
    let first = known.get(parts.next()?)?;
    parts.try_fold(first, |found, part| found.as_object()?.get(part))
}

/// How a chain went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainStatus {
    /// All ended with 0.
    Success,
    /// All ran, some ended with 1 to 127.
    SoftFailure,
    /// One was refused, or ended with 128 or more, by a signal or its time; those behind it did not run.
    HardFailure,
}

impl ChainStatus {
    /// With one more step. `None` for one that was refused.
    #[must_use]
    pub fn with(self, step: Option<ExitStatus>) -> Self {
        match (self, step) {
            (Self::HardFailure, _) | (_, None | Some(ExitStatus::HardFailure)) => Self::HardFailure,
            (Self::SoftFailure, _) | (_, Some(ExitStatus::SoftFailure)) => Self::SoftFailure,
            (Self::Success, Some(ExitStatus::Success)) => Self::Success,
        }
    }

    /// True where what comes next is run.
    pub const fn goes_on(self) -> bool {
        !matches!(self, Self::HardFailure)
    }
}

#[cfg(test)]
mod tests {
    use bashgate_shared::script::Manifest;
    use serde_json::json;

    use super::super::library::{Author, Library};
    use super::*;

    fn action(more: &Value) -> Result<BashAction, String> {
        let mut whole = json!({"type": "bash.run", "script_id": "x", "capabilities": {}});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(whole).map_err(|error| error.to_string())
    }

    #[test]
    fn every_field_of_the_seed_is_read_and_no_other() {
        let all = json!({
            "script_name": "log-cleanup", "timeout_seconds": 60, "timeout_hard_seconds": 1800, "working_directory": null,
            "variables": {"LOG_PATH": "${trigger.file.path}"}, "approved": true, "approved_at": "2026-01-28T00:00:00Z",
            "approved_hash": "00", "capabilities": {"paths_read": [], "paths_write": [], "network": false, "commands": []},
        });
        assert!(action(&all).is_ok());
        for bad in [
            json!({"type": "bash.eval"}),
            json!({"shell": "sh"}),
            json!({"variables": {"x": 1}}),
            json!({"approved": "yes"}),
        ] {
            assert!(action(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_come_from_what_the_automation_knows() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::named("x");
        manifest.variables = vec!["path".to_owned()];
        let script =
            Library::at(folder.path().join("s")).create("wc -l -- ${path}", manifest, "", Author::User).unwrap();
        let known = json!({"trigger": {"file": {"path": "a b", "size": 7}}, "who.is": "x", "list": []});
        let known = known.as_object().unwrap();
        let value = |text: &str| {
            let found = action(&json!({"variables": {"path": text}})).unwrap().request(&script, known);
            found.map(|request| request.variables["path"].as_str().unwrap().to_owned())
        };
        assert_eq!(value("${trigger.file.path}").unwrap(), "a b");
        assert_eq!(value("<${trigger.file.size}${who.is}>").unwrap(), "<7x>");
        assert_eq!(value("$HOME ${").unwrap(), "$HOME ${");
        // What comes in is not looked at again.
        assert_eq!(resolved("x", "${a}", json!({"a": "${b}", "b": "c"}).as_object().unwrap()).unwrap(), "${b}");
        for bad in ["${trigger.file}", "${list}", "${nobody}", "${}", "${trigger.file.path.x}"] {
            assert!(value(bad).is_err(), "{bad}");
        }
        for (more, want) in [
            (json!({"script_name": "y"}), "is called"),
            (json!({"working_directory": "/srv"}), "starts in an empty folder"),
        ] {
            let error = action(&more).unwrap().request(&script, known).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
        assert!(action(&json!({"approved_hash": script.content_hash()})).unwrap().remark(&script).is_none());
        assert!(action(&json!({"approved_hash": "00"})).unwrap().remark(&script).is_some());
    }

    #[test]
    fn a_soft_failure_goes_on_and_a_hard_one_stops() {
        let soft = ChainStatus::Success.with(Some(ExitStatus::SoftFailure));
        assert_eq!((soft, soft.goes_on()), (ChainStatus::SoftFailure, true));
        assert_eq!(soft.with(Some(ExitStatus::Success)), ChainStatus::SoftFailure);
        for hard in [Some(ExitStatus::HardFailure), None] {
            let found = ChainStatus::Success.with(hard);
            assert_eq!((found, found.goes_on()), (ChainStatus::HardFailure, false));
        }
    }
}
