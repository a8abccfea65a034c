//! A grant: others of a kind may run for a while without being asked about. One workspace, named hosts, a kind of act.
//!
//! It answers ahead what the decision table alone would ask. What a rule made stricter (a secret that is read, a credential, what
//! acts later) is asked all the same. It ends with its time, with the taint epoch, and with the host.

use std::collections::BTreeSet;

use bashgate_shared::classify::{Classification, Effects};
use bashgate_shared::programs::{Request, row};
use bashgate_shared::protocol::{BashCheck, ENVIRONMENT, FileEvidence};
use serde::{Deserialize, Serialize};

use super::pending::Forecast;
use super::writes;
use crate::policy::egress;

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
    /// Programs with where they go: scheme, host and port, or the address that settings give a remote.
    pub hosts: BTreeSet<(String, String)>,
    /// Files that it writes: what is fetched may be anything.
    #[serde(default)]
    pub writes: BTreeSet<String>,
    /// Files that say where it goes, with their digests and what people were shown of them.
    pub settings: BTreeSet<(String, String, String)>,
    /// Who asks, in which sandbox.
    pub asker: (Option<String>, Option<String>),
}

impl Reach {
    /// What a command does, or `None` where text and bound files do not say all of it.
    pub fn of(found: &Classification, check: &BashCheck, forecast: &Forecast) -> Option<Self> {
        let effects = &found.effects;
        if let Some(reach) = Self::of_writes(found, check) {
            return Some(reach);
        }
        if !found.understood || effects.network.is_empty() || !forecast.is_determined(found) {
            return None;
        }
        // What is written where a link leads, or where something else is not certain, goes by no name that was shown.
        let writes_elsewhere = !check.leads_to.is_empty()
            || !check.brings.is_empty()
            || !effects.writes.is_empty() && !check.unproven.is_empty();
        if writes_elsewhere {
            return None;
        }
        let (mut acts, mut hosts) = (BTreeSet::new(), BTreeSet::new());
        for call in &found.calls {
            let words: Vec<&str> = call.iter().map(Option::as_deref).collect::<Option<_>>()?;
            let [program, rest @ ..] = words.as_slice() else { continue };
            if !effects.network.iter().any(|used| used.program == **program) {
                continue;
            }
            if *program == "git" {
                // What it would read besides could be what says where it goes.
                let (act, remote) = act_of_git(rest).filter(|_| effects.reads.is_empty())?;
                acts.insert(act);
                hosts.extend(addresses_of(&remote, check).map(|address| ("git".to_owned(), address)));
            } else {
                let request = Request::of(program, call.get(1..)?)?;
                acts.insert(act(program, &request)?);
                hosts.extend(request.origins.into_iter().map(|origin| ((*program).to_owned(), origin)));
            }
        }
        // What is sent may be another file each time; what says where it goes may not, whether or not that is sent, too.
        let is_sent = |path: &String| effects.reads.contains(path) && !says_where(effects, path);
        let writes = effects.writes.iter().cloned().collect();
        Some(Self::bound(check, (acts, hosts, writes), |file| !is_sent(&file.path)))
    }

    /// What a command writes to repositories, see [`writes::kind_of`].
    pub fn of_writes(found: &Classification, check: &BashCheck) -> Option<Self> {
        let remotes = check.egress.as_ref().map(|told| egress::remotes(&told.remotes)).unwrap_or_default();
        let (acts, hosts) = writes::kind_of(found, &remotes)?;
        // Without an asker that has looked at that.
        if check.egress.is_none() && writes::looks_at_folder(found) {
            return None;
        }
        let says_more = !(check.leads_to.is_empty() && check.brings.is_empty() && check.unproven.is_empty());
        // How it was asked, and what else was found, is as it is each time.
        if says_more || !check.asked_with.is_empty() || !check.unlooked.is_empty() || !check.secrets.is_empty() {
            return None;
        }
        // Whatever else it would meet is no program, and nothing that it reads. Where the asker has looked at all that could lead it
        // elsewhere, and says where it goes, that is what counts.
        let is_bound = |file: &FileEvidence| {
            file.path.starts_with(ENVIRONMENT) || check.egress.is_none() && says_where(&found.effects, &file.path)
        };
        Some(Self::bound(check, (acts, hosts, BTreeSet::new()), is_bound))
    }

    /// The same bound to files of the evidence, as they are, and to who asks.
    fn bound(
        check: &BashCheck,
        (acts, hosts, writes): (BTreeSet<String>, BTreeSet<(String, String)>, BTreeSet<String>),
        to: impl Fn(&FileEvidence) -> bool,
    ) -> Self {
        let settings = check.evidence.iter().filter(|file| to(file));
        let settings = settings.map(|file| (file.path.clone(), file.sha256.clone(), file.head.clone())).collect();
        let asker = (check.agent.clone(), check.runner.as_ref().map(|runner| runner.preset.clone()));
        Self { acts, hosts, writes, settings, asker }
    }

    /// True when a grant of this covers what another command does.
    pub fn covers(&self, other: &Self) -> bool {
        other.acts.is_subset(&self.acts)
            && other.hosts.is_subset(&self.hosts)
            && other.writes.is_subset(&self.writes)
            && other.settings == self.settings
            && other.asker == self.asker
    }

    /// Where it goes: nothing of that is masked where people read it.
    pub fn addresses(&self) -> Vec<&str> {
        self.hosts.iter().map(|(_, host)| host.as_str()).collect()
    }

    /// What it lets through, in words.
    pub fn words(&self) -> String {
        let acts: Vec<&str> = self.acts.iter().map(String::as_str).collect();
        let hosts = self.addresses();
        let mut words = match hosts.as_slice() {
            [] => acts.join(", "),
            hosts => format!("{} with {}", acts.join(", "), hosts.join(", ")),
        };
        if !self.writes.is_empty() {
            let writes: Vec<&str> = self.writes.iter().map(String::as_str).collect();
            words.push_str(&format!(", and writes {}", writes.join(", ")));
        }
        words
    }
}

/// True for a file that says where one of a command's programs goes.
fn says_where(effects: &Effects, path: &str) -> bool {
    let rows = effects.network.iter().filter_map(|used| row(&used.program));
    rows.flat_map(|row| row.configured_by).any(|name| path.ends_with(name.trim_start_matches('~')))
}

/// What a request does, where a grant can name it.
fn act(program: &str, request: &Request) -> Option<String> {
    // What anybody on the way can read and answer is no named host; where it is led to, it may be sent, too; and what is written
    // under a name that the address gives may be anything's.
    let is_open = request.origins.iter().any(|origin| origin.starts_with("http://"));
    if is_open || request.follows && request.sends || request.writes_by_name {
        return None;
    }
    let method = request.method.as_ref().map_or_else(String::new, |method| format!(" by {method}"));
    let does = if request.sends || request.method.is_some() { "sends" } else { "reads" };
    let follows = if request.follows { ", and goes where it is led" } else { "" };
    Some(format!("{program}, which {does}{method}{follows}"))
}

/// What a call of git does, and the remote. One that git takes by itself may be another one next time.
fn act_of_git(rest: &[&str]) -> Option<(String, String)> {
    let mut words = rest.iter().filter(|word| !word.starts_with('-'));
    let (verb, remote) = (words.next()?, words.next()?);
    // It takes away what is there.
    let forces = |word: &str| matches!(word, "-f" | "--force" | "--prune" | "-p" | "--all");
    let fits = !rest.iter().any(|word| forces(word)) && !words.any(|reference| reference.starts_with(['+', ':']));
    fits.then(|| (format!("git {verb} {remote}"), (*remote).to_owned()))
}

/// The addresses that settings give a remote, as the container says.
fn addresses_of(remote: &str, check: &BashCheck) -> impl Iterator<Item = String> {
    let keys = [format!("remote.{remote}.url = "), format!("remote.{remote}.pushurl = ")];
    let lines = check.evidence.iter().flat_map(|file| file.head.lines());
    lines.filter_map(move |line| keys.iter().find_map(|key| line.strip_prefix(key.as_str())).map(str::to_owned))
}
