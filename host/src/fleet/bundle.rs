//! The fleet's policy: what holds on every host besides what its own operator has set.
//!
//! It joins a host's own policy, and never takes away from it: rules of both hold, the stricter floor, what either asks more of people for.
//! Before it counts, its examples must come out as it says, and what the host has on record must not come out too differently.

use std::collections::{BTreeMap, BTreeSet};

use bashgate_shared::classify::{Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::protocol::{Answer, WorkspaceName};
use serde::Deserialize;

use super::member::HostName;
use crate::config::Config;
use crate::policy::risk::Matter;
use crate::policy::rules::{Rule, RuleError};
use crate::policy::trust::{Property, Service};
use crate::policy::{self, Decision};
use crate::replay::{self, End, Read};
use crate::store::{Reader, StoreError};
use crate::taint::Taint;

/// So many of a host's youngest records are judged again.
pub const REPLAYED: u64 = 20_000;

/// Of fewer decisions that come out otherwise nobody says how many that is in per cent.
const LEAST: u64 = 10;

/// A policy as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    #[serde(default)]
    policy: PolicyPart,
    #[serde(default)]
    services: BTreeMap<String, Service>,
    #[serde(default)]
    workspaces: BTreeMap<WorkspaceName, Shared>,
    #[serde(default)]
    checks: Checks,
    #[serde(default)]
    examples: Vec<Example>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicyPart {
    floor: Decision,
    trusted_hosts: Vec<String>,
    rules: Vec<Rule>,
    high_risk: BTreeSet<Matter>,
    two_people: BTreeSet<Matter>,
}

impl Default for PolicyPart {
    fn default() -> Self {
        Self {
            floor: Decision::Allow,
            trusted_hosts: Vec::new(),
            rules: Vec::new(),
            high_risk: BTreeSet::new(),
            two_people: BTreeSet::new(),
        }
    }
}

/// A workspace that several hosts have: what it has seen on one of them, it has seen on all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Where it is, as HOST.WORKSPACE.
    pub on: Vec<Place>,
    /// What it counts as having seen, besides what was last known, while one of these hosts cannot be asked.
    #[serde(default = "everything")]
    pub when_unknown: Taint,
}

fn everything() -> Taint {
    Taint::Both
}

/// A workspace on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Place {
    /// The host.
    pub host: HostName,
    /// Its name there.
    pub workspace: WorkspaceName,
}

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // A host's name has no dot.
        let both = text.split_once('.').and_then(|(host, workspace)| {
            Some(Self { host: HostName::parse(host)?, workspace: WorkspaceName::parse(workspace)? })
        });
        both.ok_or_else(|| format!("`{text}` is no workspace of a host: say HOST.WORKSPACE, as in web-1.default"))
    }
}

/// How much of what a host has on record may come out otherwise, in per cent of the decisions, before the policy is refused there.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Checks {
    most_asked: f64,
    most_denied: f64,
    most_let_through: f64,
}

impl Default for Checks {
    fn default() -> Self {
        Self { most_asked: 10.0, most_denied: 2.0, most_let_through: 10.0 }
    }
}

/// A command, and what the policy is to say about it where the host has none of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    command: String,
    #[serde(default)]
    taint: Taint,
    outcome: Decision,
}

/// Why a policy does not count.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A rule's own examples.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// An example comes out otherwise.
    #[error("its example `{command}` comes out as {is}, not as {wanted} (workspace {taint})")]
    Example {
        /// The command.
        command: String,
        /// Under which taint.
        taint: Taint,
        /// As what it was to come out.
        wanted: &'static str,
        /// As what it does.
        is: &'static str,
    },
    /// It needs what the host has not.
    #[error("{0}")]
    Host(String),
    /// Too much comes out otherwise.
    #[error(
        "of {of} decisions on record here {changed} would be {what}, {percent:.1} %: more than the {most} % that it allows itself"
    )]
    Replay {
        /// How many were judged again.
        of: u64,
        /// How many come out otherwise.
        changed: u64,
        /// How.
        what: &'static str,
        /// In per cent.
        percent: f64,
        /// How many may.
        most: f64,
    },
    /// The host's own record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Bundle {
    /// Reads a policy, and checks it as far as that goes without a host.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let bundle = Self::read(text)?;
        Rule::check(&bundle.policy.rules)?;
        bundle.shows()?;
        Ok(bundle)
    }

    /// Reads a policy that was checked before: another version of bashgate may see its examples otherwise, and it holds all the same.
    pub fn read(text: &str) -> Result<Self, BundleError> {
        let bundle: Self = toml::from_str(text).map_err(|error| BundleError::Unreadable(error.message().to_owned()))?;
        let percents = [bundle.checks.most_asked, bundle.checks.most_denied, bundle.checks.most_let_through];
        if percents.iter().any(|percent| !(0.0..=100.0).contains(percent)) {
            return Err(BundleError::Unreadable("`checks` are per cent, from 0 to 100".to_owned()));
        }
        let mut places = BTreeSet::new();
        for place in bundle.workspaces.values().flat_map(|shared| &shared.on) {
            if !places.insert(place) {
                let Place { host, workspace } = place;
                return Err(BundleError::Unreadable(format!("`{host}.{workspace}` is two shared workspaces")));
            }
        }
        Ok(bundle)
    }

    /// Its examples come out as it says, by itself.
    fn shows(&self) -> Result<(), BundleError> {
        let alone = policy::Policy {
            floor: self.policy.floor,
            rules: self.policy.rules.clone(),
            trusted_hosts: self.policy.trusted_hosts.clone(),
            ..policy::Policy::default()
        };
        for Example { command, taint, outcome } in &self.examples {
            let unreadable = |_| BundleError::Unreadable(format!("its example `{command}` is no command"));
            let line = CommandLine::parse(command.clone()).map_err(unreadable)?;
            let found = classify(&line, &Surroundings::default());
            let judged = policy::judge(&alone, *taint, &found, line.text());
            if judged.decision != *outcome {
                return Err(BundleError::Example {
                    command: command.clone(),
                    taint: *taint,
                    wanted: outcome.as_str(),
                    is: judged.decision.as_str(),
                });
            }
        }
        Ok(())
    }

    /// Whom a host's workspace is shared with, and what it counts as while one of them cannot be asked.
    pub fn shared(&self, host: &HostName, workspace: &WorkspaceName) -> Option<(Vec<&Place>, Taint)> {
        let is_it = |place: &&Place| place.host == *host && place.workspace == *workspace;
        let shared = self.workspaces.values().find(|shared| shared.on.iter().any(|place| is_it(&place)))?;
        Some((shared.on.iter().filter(|place| !is_it(place)).collect(), shared.when_unknown))
    }

    /// The workspaces of a host that others have, too.
    pub fn of_host<'a>(&'a self, host: &'a HostName) -> impl Iterator<Item = &'a WorkspaceName> {
        let all = self.workspaces.values().flat_map(|shared| &shared.on);
        all.filter(move |place| place.host == *host).map(|place| &place.workspace)
    }

    /// The hosts whose workspaces it names.
    pub fn hosts_of_workspaces(&self) -> BTreeSet<&HostName> {
        self.workspaces.values().flat_map(|shared| &shared.on).map(|place| &place.host).collect()
    }

    /// A host's own configuration, joined with this.
    pub fn join(&self, own: &Config) -> Result<Config, BundleError> {
        let mut joined = own.clone();
        let policy = &mut joined.policy;
        policy.floor = policy.floor.max(self.policy.floor);
        policy.rules.splice(0..0, self.policy.rules.iter().cloned());
        policy.trusted_hosts.extend(self.policy.trusted_hosts.iter().cloned());
        policy.risk.high.extend(&self.policy.high_risk);
        policy.risk.two_people.extend(&self.policy.two_people);
        if !policy.risk.two_people.is_empty() && joined.people.values().collect::<BTreeSet<_>>().len() < 2 {
            let why = "it wants two people for some approvals, and this host's configuration names no two (`[people]`)";
            return Err(BundleError::Host(why.to_owned()));
        }
        for (name, service) in &self.services {
            // What the host says or, where it says nothing, assumes.
            joined.services.insert(name.clone(), stricter(own.service(name), *service));
        }
        let has_room = joined.workspaces.values().any(|settings| settings.clean_room);
        // What it says itself, not what is assumed where nobody says anything.
        let is_open = |(_, of): &(&String, &Service)| of.public_source == Property::Yes;
        if has_room && let Some((name, _)) = self.services.iter().find(is_open) {
            return Err(BundleError::Host(format!(
                "it knows `{name}` as a public source, and a workspace here is a clean room"
            )));
        }
        Ok(joined)
    }

    /// Judges what the host has on record again, by its own configuration as it is now and by that joined with this. Refused where more
    /// comes out otherwise than the policy allows itself.
    pub fn replay(&self, now: &Config, joined: &Config, reader: &Reader) -> Result<(), BundleError> {
        let (mut of, mut asked, mut denied, mut allowed) = (0_u64, 0_u64, 0_u64, 0_u64);
        let (last, _) = reader.head()?;
        reader.audit(last.saturating_sub(REPLAYED) + 1, |record| {
            let Read::Decision(decided) = replay::read(&record) else { return true };
            if let Some((was, is)) = decided.now(now).zip(decided.now(joined)) {
                let (before, then) = (was.end, is.end);
                of += 1;
                asked += u64::from(then == End::Ask && before != End::Ask);
                // What was denied then is missed by nobody, however often it was tried.
                let was_let = decided.detail.answer == Answer::Allow;
                denied += u64::from(then == End::Deny && before != End::Deny && was_let);
                allowed += u64::from(then < before && before >= End::Ask);
            }
            true
        })?;
        let checks = [
            (asked, "asked about that are not now", self.checks.most_asked),
            (denied, "denied that are not now", self.checks.most_denied),
            (allowed, "let through that are not now", self.checks.most_let_through),
        ];
        for (changed, what, most) in checks {
            let percent = per_cent(changed, of);
            if percent > most && changed >= LEAST {
                return Err(BundleError::Replay { of, changed, what, percent, most });
            }
        }
        Ok(())
    }
}

/// Both are below 2^53.
#[expect(clippy::cast_precision_loss, reason = "numbers of records that were just counted")]
fn per_cent(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 }
}

fn stricter(one: Service, other: Service) -> Service {
    let both = |a: Property, b: Property| match (a, b) {
        (Property::Forbidden, _) | (_, Property::Forbidden) => Property::Forbidden,
        (Property::Yes, _) | (_, Property::Yes) => Property::Yes,
        (Property::No, Property::No) => Property::No,
    };
    Service {
        public_source: both(one.public_source, other.public_source),
        secret_data: both(one.secret_data, other.secret_data),
        public_sink: both(one.public_sink, other.public_sink),
        dangerous_writes: both(one.dangerous_writes, other.dangerous_writes),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const RULE: &str = "[[policy.rules]]\naction = \"deny\"\nargv = [\"git\", \"push\"]\nmatch = [\"git push\"]\n";

    fn own(text: &str) -> Config {
        Config::parse(text, Path::new("/x/bashgate.toml")).unwrap()
    }

    #[test]
    fn it_takes_nothing_away_from_a_hosts_own() {
        let bundle = Bundle::parse(&format!(
            "[policy]\nfloor = \"inspect\"\nhigh_risk = [\"steering\"]\ntrusted_hosts = [\"good.example\"]\n{RULE}\
             [services.issues]\npublic_source = false\nsecret_data = false\n[services.mail]\npublic_sink = false\n"
        ))
        .unwrap();
        let config = own(&format!(
            "[policy]\nfloor = \"ask\"\ntrusted_hosts = [\"own.example\"]\n{}[services.issues]\npublic_source = \"forbidden\"\n\
             secret_data = false\n",
            RULE.replace("push", "pull")
        ));
        let joined = bundle.join(&config).unwrap();
        assert_eq!((joined.policy.floor, joined.policy.rules.len()), (Decision::AskHuman, 2));
        assert_eq!(joined.policy.trusted_hosts, ["own.example", "good.example"]);
        assert!(joined.policy.risk.high.is_superset(&config.policy.risk.high));
        assert!(joined.policy.risk.high.contains(&Matter::Steering));
        let issues = joined.service("issues");
        assert_eq!((issues.public_source, issues.secret_data), (Property::Forbidden, Property::No));
        assert_eq!(
            joined.service("mail").public_sink,
            Property::Yes,
            "of what the host does not name everything is assumed"
        );
        // What it needs of a host.
        let two = Bundle::parse("[policy]\ntwo_people = [\"table\"]\n").unwrap();
        assert!(matches!(two.join(&config), Err(BundleError::Host(_))));
        let people = own("[people]\nann = [\"telegram:1\"]\nbob = [\"telegram:2\"]\n");
        assert!(two.join(&people).is_ok());
        let room = own("[workspaces.x]\nclean_room = true\n");
        let open = Bundle::parse("[services.mail]\npublic_source = true\n").unwrap();
        assert!(matches!(open.join(&room), Err(BundleError::Host(_))));
        let shut = Bundle::parse("[services.mail]\npublic_source = false\n").unwrap();
        assert_eq!(shut.join(&room).unwrap().service("mail").public_source, Property::Yes, "as it was");
    }

    #[test]
    fn what_does_not_come_out_as_it_says_is_refused() {
        let fine = "[[examples]]\ncommand = \"ls\"\noutcome = \"allow\"\n[[examples]]\ncommand = \"git push\"\noutcome = \"deny\"\n";
        assert!(Bundle::parse(&format!("{RULE}{fine}")).is_ok());
        for bad in [
            format!("{RULE}{}", fine.replace("\"deny\"", "\"ask\"")),
            RULE.replace("match = [\"git push\"]", "match = [\"git pull\"]"),
            "[policy]\nenforce = false\n".to_owned(),
            "[chat.x]\nkind = \"telegram\"\n".to_owned(),
            "[workspaces.shop]\non = [\"default\"]\n".to_owned(),
            "[workspaces.shop]\non = [\"a.x\"]\n[workspaces.other]\non = [\"a.x\"]\n".to_owned(),
            "[checks]\nmost_denied = 101\n".to_owned(),
            "[checks]\nmost_denied = nan\n".to_owned(),
        ] {
            assert!(Bundle::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_workspace_is_shared_with_those_that_are_named() {
        let bundle = Bundle::parse("[workspaces.shop]\non = [\"a.x\", \"b.y\"]\nwhen_unknown = \"secret\"\n").unwrap();
        let (host, name) = (HostName::parse("a").unwrap(), WorkspaceName::parse("x").unwrap());
        let (others, unknown) = bundle.shared(&host, &name).unwrap();
        assert_eq!((others.len(), others[0].host.as_str(), others[0].workspace.as_str()), (1, "b", "y"));
        assert_eq!(unknown, Taint::Secret);
        assert!(bundle.shared(&host, &WorkspaceName::parse("y").unwrap()).is_none());
        assert_eq!(bundle.of_host(&host).count(), 1);
    }
}
