//! What a record says about the last word on a request, or on the use of a tool: written and read back by this one type.

use bashgate_shared::classify::tool::ToolAct;
use bashgate_shared::classify::{CommandClass, Effects};
use bashgate_shared::protocol::{Answer, RemoteWire, ScriptWire};
use serde::{Deserialize, Serialize};

use crate::authority::By;
use crate::policy::Finding;
use crate::taint::Taint;

/// The detail of a record of [`super::RecordKind::Decision`]. What does not apply is left out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the record")]
pub struct DecisionRecord {
    /// The request's type.
    #[serde(rename = "type")]
    pub request: String,
    /// The answer.
    pub answer: Answer,
    /// Who said it.
    pub by: By,
    pub reason: String,
    /// The rule that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The tool, if it was not a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool was used on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the tool does to files and addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acts: Vec<ToolAct>,
    /// The service that the tool belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Where the command would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The agent, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// What bashgate's own Bash tool asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    /// The preset of that tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The managed script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptWire>,
    /// Its digest, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script_sha256: Option<String>,
    /// The digest of the request's bytes, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sha256: Option<String>,
    /// What the command is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<CommandClass>,
    /// Why it is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_reason: Option<String>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// What the inspector said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
    /// The approval under which it was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// It could have run in the cage.
    #[serde(default)]
    pub can_cage: bool,
    /// It runs in the cage behind a denial.
    #[serde(default)]
    pub caged: bool,
    /// The hosts that it had a way out to there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub egress: Vec<String>,
    /// Set where it could have run with a way out: where the remotes lie that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remotes: Option<Vec<RemoteWire>>,
    /// It failed in the cage, as it says for want of network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wanted_network: bool,
    /// Shadow mode lets a denial through.
    #[serde(default)]
    pub let_through: bool,
    /// Shadow mode would ask a person here.
    #[serde(default)]
    pub would_ask: bool,
    /// The workspace's taint before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taint_before: Option<Taint>,
    /// The workspace's taint afterwards.
    pub taint: Taint,
    /// The taint epoch afterwards.
    pub epoch: u64,
    /// How long it took, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_us: Option<u64>,
}

impl DecisionRecord {
    /// One of which only the answer is known.
    pub fn new(request: &str, answer: Answer, by: By, reason: impl Into<String>, taint: Taint, epoch: u64) -> Self {
        Self {
            request: request.to_owned(),
            answer,
            by,
            reason: reason.into(),
            rule: None,
            command: None,
            tool: None,
            target: None,
            acts: Vec::new(),
            service: None,
            cwd: None,
            agent: None,
            session: None,
            tool_use_id: None,
            permission: None,
            preset: None,
            script: None,
            script_sha256: None,
            request_sha256: None,
            class: None,
            class_reason: None,
            effects: None,
            finding: None,
            approval: None,
            can_cage: false,
            caged: false,
            egress: Vec::new(),
            remotes: None,
            wanted_network: false,
            let_through: false,
            would_ask: false,
            taint_before: None,
            taint,
            epoch,
            took_us: None,
        }
    }
}
