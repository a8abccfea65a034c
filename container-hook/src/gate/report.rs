//! What the host is told of what has run.

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::{ActingWire, BASH_RAN, BashRanWire, MAX_EVIDENCE, MAX_LABEL_BYTES, RequestId, VERSION};

use super::config::{Config, OnAllow};
use super::{About, HookDecision, HostRequest, LetThroughBy, Step, label};

/// What came of something that has run, as far as the host has to know of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// Files that it made or changed and that act later.
    pub planted: Vec<String>,
    /// What its result shows of secrets: see [`super::held::shown_by`].
    pub shown: Vec<String>,
    /// It ran in the cage and failed, as it says for want of network.
    pub wanted_network: bool,
}

impl Aftermath {
    /// True when there is nothing to say.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A command that has run, as the agent says.
#[derive(Debug)]
pub struct CommandRan<'t> {
    /// Its text.
    pub command: &'t str,
    /// The agent's id of the call.
    pub tool_use_id: &'t str,
    /// Who says so, for the audit.
    pub asker: &'t str,
    /// The agent's session, for the audit.
    pub session: Option<String>,
    /// What came of it.
    pub result: Aftermath,
    /// What acts later in the project now, where it may have left something: see [`super::acting`].
    pub acting: Option<ActingWire>,
}

impl CommandRan<'_> {
    /// Tells the host, so that it can see whether what it sent into the cage ran there.
    pub fn report(self, config: &Config) -> Step {
        // Without approvals nothing is rewritten, and there is nothing to compare.
        let compares = config.on_allow == OnAllow::Approve && self.tool_use_id.len() <= MAX_LABEL_BYTES;
        if !compares && self.result.is_plain() && self.acting.is_none() {
            return Step::Decided(HookDecision::Allow(LetThroughBy::Nobody));
        }
        let wire = |id: &RequestId| BashRanWire {
            kind: BASH_RAN.to_owned(),
            request_id: id.to_string(),
            tool_use_id: label(self.tool_use_id.to_owned()),
            command: self.command.chars().take(1000).collect(),
            ran_sha256: Digest::of(self.command.as_bytes()).hex(),
            planted: self
                .result
                .planted
                .iter()
                .take(MAX_EVIDENCE)
                .map(|path| path.chars().take(1000).collect())
                .collect(),
            shown: self.result.shown.iter().take(MAX_EVIDENCE).cloned().collect(),
            wanted_network: self.result.wanted_network,
            acting: self.acting,
            v: Some(VERSION),
            agent: Some(self.asker.to_owned()),
            session: self.session.map(label),
            timeout_ms: Some(config.deadline_s * 1000),
            locked: true,
            key_id: Some(config.public_key.id()),
        };
        // What came of it is as much a matter for the host as what a tool brings in.
        HostRequest::step(wire, if self.result.is_plain() { About::Ran } else { About::input_without_writes() })
    }
}
