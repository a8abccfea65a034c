//! A request for the text of a managed script, from words that say what it is to do. The host asks its own model: the key is
//! the host's. What comes back is a text that nobody has approved, and nothing else.

use serde::{Deserialize, Serialize};

use crate::object;
use crate::protocol::{MAX_LABEL_BYTES, MAX_TIMEOUT_MS, RequestError, RequestId, VERSION};
use crate::script::{Capabilities, MAX_ENTRIES, MAX_ENTRY_BYTES, Manifest};

/// The type of a request to have a script written.
pub const SCRIPT_DRAFT: &str = "security:script_draft";
/// Longest description of what a script is to do, in bytes.
pub const MAX_TASK_BYTES: usize = 4096;
/// Longest text of all entries of a request, in bytes.
const MAX_ENTRIES_BYTES: usize = 32 * 1024;

/// A request to have a script written; also its wire form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptDraft {
    /// [`SCRIPT_DRAFT`].
    #[serde(rename = "type")]
    pub kind: String,
    /// The request's id.
    pub request_id: String,
    /// What it is to do, in words. At most [`MAX_TASK_BYTES`].
    pub task: String,
    /// What it may use; an empty list of commands, folders or files leaves the choice to the model.
    #[serde(default, deserialize_with = "object::required")]
    pub capabilities: Capabilities,
    /// The names that each run has a value for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// Version; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v: Option<u32>,
    /// The agent, for the audit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How long the asker waits, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The asker holds a lock on its request file while it waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locked: bool,
    /// The id of the public key with which the asker checks the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
}

impl ScriptDraft {
    /// Reads a request's bytes.
    pub(crate) fn parse(bytes: &[u8], id: &RequestId) -> Result<Self, RequestError> {
        let mut draft: Self = object::from_slice(bytes)?;
        if draft.request_id != id.as_str() {
            return Err(RequestError::WrongId);
        }
        draft.check()?;
        if draft.agent.as_ref().is_some_and(|agent| agent.len() > MAX_LABEL_BYTES) {
            return Err(RequestError::FieldTooLong("agent"));
        }
        draft.timeout_ms = draft.timeout_ms.map(|ms| ms.min(MAX_TIMEOUT_MS));
        draft.key_id = draft.key_id.filter(|id| id.len() <= 64);
        Ok(draft)
    }

    /// Whether it is within what the protocol allows.
    pub fn check(&self) -> Result<(), RequestError> {
        if self.task.len() > MAX_TASK_BYTES {
            return Err(RequestError::FieldTooLong("task"));
        }
        if self.task.trim().is_empty() {
            return Err(RequestError::Empty("task"));
        }
        let given = &self.capabilities;
        let lists = [
            ("paths_read", &given.paths_read),
            ("paths_write", &given.paths_write),
            ("commands", &given.commands),
            ("variables", &self.variables),
        ];
        for (name, list) in lists {
            if list.len() > MAX_ENTRIES || list.iter().any(|entry| entry.len() > MAX_ENTRY_BYTES) {
                return Err(RequestError::FieldTooLong(name));
            }
        }
        let bytes = lists.iter().flat_map(|(_, list)| list.iter()).map(String::len).sum::<usize>();
        if bytes > MAX_ENTRIES_BYTES {
            return Err(RequestError::FieldTooLong("capabilities"));
        }
        // Places, programs and names alone: anything else would be a text to the model.
        self.manifest().canonical()?;
        Ok(())
    }

    /// All that is said besides the task, as a manifest.
    pub fn manifest(&self) -> Manifest {
        let variables = self.variables.clone();
        Manifest { capabilities: self.capabilities.clone(), variables, ..Manifest::named("draft") }
    }

    /// A request that asks for this.
    pub fn of(id: &RequestId, task: &str, capabilities: Capabilities, variables: Vec<String>) -> Self {
        Self {
            kind: SCRIPT_DRAFT.to_owned(),
            request_id: id.to_string(),
            task: task.to_owned(),
            capabilities,
            variables,
            v: Some(VERSION),
            agent: None,
            timeout_ms: None,
            locked: true,
            key_id: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Request, parse_request};

    #[test]
    fn a_request_is_read_strictly() {
        let id = RequestId::parse("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap();
        let given = Capabilities { paths_read: vec!["/srv".to_owned()], ..Capabilities::default() };
        let draft = ScriptDraft::of(&id, "count the photos", given, vec!["who".to_owned()]);
        let bytes = serde_json::to_vec(&draft).unwrap();
        let Ok(Request::ScriptDraft(read)) = parse_request(&bytes, &id) else { panic!("{draft:?}") };
        assert_eq!((read.task, read.capabilities, read.variables), (draft.task, draft.capabilities, draft.variables));

        let text = |more: &str| format!(r#"{{"type":"{SCRIPT_DRAFT}","request_id":"{id}"{more}}}"#);
        assert!(parse_request(text(r#","task":"x""#).as_bytes(), &id).is_ok());
        let long = format!(r#","task":"{}""#, "x".repeat(MAX_TASK_BYTES + 1));
        let many = format!(r#","task":"x","variables":{:?}"#, vec!["x"; MAX_ENTRIES + 1]);
        for wrong in [
            "",
            r#","task":"""#,
            r#","task":"  ""#,
            r#","task":["x"]"#,
            r#","task":"x","capabilities":null"#,
            r#","task":"x","capabilities":[[],[],false,[]]"#,
            r#","task":"x","approved":true"#,
            r#","task":"x","variables":["a text that goes to the model"]"#,
            r#","task":"x","capabilities":{"commands":["wc -l"]}"#,
            r#","task":"x","capabilities":{"paths_read":["not absolute"]}"#,
            r#","task":"x","v":2"#,
            &long,
            &many,
        ] {
            assert!(parse_request(text(wrong).as_bytes(), &id).is_err(), "{wrong}");
        }
        let other = RequestId::parse("3f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap();
        assert!(parse_request(&bytes, &other).is_err());
    }
}
