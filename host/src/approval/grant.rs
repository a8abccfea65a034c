//! A grant: others of a kind may run for a while without being asked about. One workspace, named hosts, a kind of act.
//!
//! It answers ahead what the decision table alone would ask. What a rule made stricter (a secret that is read, a credential, what
//! acts later) is asked all the same. It ends with its time, with the taint epoch, and with the host.

use std::collections::BTreeSet;

use bashgate_shared::classify::Classification;
use bashgate_shared::protocol::BashCheck;
use serde::{Deserialize, Serialize};

use super::pending::{Forecast, sends};

/// The usual and the longest life of a grant, in minutes.
pub const USUAL_MINUTES: u64 = 30;
/// See [`USUAL_MINUTES`].
pub const MOST_MINUTES: u64 = 60;

/// What a command does in the network, as far as a grant can cover it: all of this is known from its text and from files whose
/// digests are bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// What is done: a program and what it is to do, as `git push origin` or `curl, which sends`.
    pub acts: BTreeSet<String>,
    /// Programs with the hosts that the text names.
    pub hosts: BTreeSet<(String, String)>,
    /// Files that say where it goes, with their digests.
    pub settings: BTreeSet<(String, String)>,
    /// Who asks, in which sandbox.
    pub asker: (Option<String>, Option<String>),
}

impl Reach {
    /// What a command does, or `None` where text and bound files do not say all of it.
    pub fn of(found: &Classification, check: &BashCheck, forecast: &Forecast) -> Option<Self> {
        let effects = &found.effects;
        if !found.understood || effects.network.is_empty() || !forecast.is_determined(found) {
            return None;
        }
        let mut acts = BTreeSet::new();
        for call in &found.calls {
            let words: Vec<&str> = call.iter().map(Option::as_deref).collect::<Option<_>>()?;
            let [program, rest @ ..] = words.as_slice() else { continue };
            if !effects.network.iter().any(|used| used.program == **program) {
                continue;
            }
            acts.insert(act(program, rest)?);
        }
        let hosts = effects.network.iter().filter_map(|used| Some((used.program.clone(), used.host.clone()?)));
        let is_sent = |path: &str| effects.reads.iter().any(|read| read == path || path.ends_with(&format!("/{read}")));
        let settings = check.evidence.iter().filter(|file| !is_sent(&file.path));
        Some(Self {
            acts,
            hosts: hosts.collect(),
            settings: settings.map(|file| (file.path.clone(), file.sha256.clone())).collect(),
            asker: (check.agent.clone(), check.runner.as_ref().map(|runner| runner.preset.clone())),
        })
    }

    /// True when a grant of this covers what another command does.
    pub fn covers(&self, other: &Self) -> bool {
        other.acts.is_subset(&self.acts)
            && other.hosts.is_subset(&self.hosts)
            && other.settings == self.settings
            && other.asker == self.asker
    }

    /// What it lets through, in words.
    pub fn words(&self) -> String {
        let acts: Vec<&str> = self.acts.iter().map(String::as_str).collect();
        let hosts: Vec<&str> = self.hosts.iter().map(|(_, host)| host.as_str()).collect();
        match hosts.as_slice() {
            [] => acts.join(", "),
            hosts => format!("{} with {}", acts.join(", "), hosts.join(", ")),
        }
    }
}

/// What a call does, where a grant can name it. A remote that git takes by itself may be another one next time.
fn act(program: &str, rest: &[&str]) -> Option<String> {
    // What anybody on the way can read and answer is no named host.
    if rest.iter().any(|word| word.starts_with("http://")) {
        return None;
    }
    if program == "git" {
        let mut words = rest.iter().filter(|word| !word.starts_with('-'));
        let (verb, remote) = (words.next()?, words.next()?);
        // It takes away what is there.
        let forces = |word: &str| matches!(word, "-f" | "--force" | "--prune" | "-p" | "--all");
        return (!rest.iter().any(|word| forces(word)) && !words.any(|reference| reference.starts_with(['+', ':'])))
            .then(|| format!("git {verb} {remote}"));
    }
    let sends = sends(rest);
    // Where it is led to, it may be sent, too.
    if sends && (program == "wget" || rest.iter().any(|word| matches!(*word, "-L" | "-sL" | "--location"))) {
        return None;
    }
    Some(format!("{program}, which {}", if sends { "sends" } else { "reads" }))
}
