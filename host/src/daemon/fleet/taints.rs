//! What other hosts have seen of workspaces that they share with this one.
//!
//! It only adds to what is known here: what another host says raises a taint, once for each thing that it has seen, and nothing that it says
//! lowers one. While one of them cannot be asked, the workspace counts as what the fleet's policy says besides.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::protocol::WorkspaceName;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Core, Seldom};
use crate::audit::RecordKind;
use crate::clock;
use crate::daemon::After;
use crate::fleet;
use crate::fleet::bundle::Place;
use crate::fleet::member::MemberId;
use crate::fleet::signed::Signed;
use crate::fleet::tells::{self, BY_FLEET, MOST_TELLS, Tainted, Tells, Told};
use crate::state;
use crate::store::Write;
use crate::taint::Taint;

/// How often it is kept for the next start, at most, that others have said the same again.
const KEEPS: Duration = Duration::from_secs(5);

/// Longest mark that is kept as it is.
const LONGEST_MARK: usize = 64;

/// What is known of other hosts. It is kept for the next start, which so misses nobody that has spoken of late.
#[derive(Default)]
pub(super) struct State {
    /// What each has said last.
    told: BTreeMap<MemberId, Tells>,
    /// What came and is not the last of it, by the time that it says: what it has seen counts, too.
    others: Vec<Tells>,
    kept: Kept,
    /// The file has been read.
    is_read: bool,
    /// The file lacks something.
    is_new: bool,
    /// When it was written last, where it lacks nothing but that others have said the same again.
    written: Option<Instant>,
    /// When words were last heard that nobody of the fleet has signed.
    forged: Seldom,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// What each host has said last, by its name.
    told: BTreeMap<String, Signed>,
}

fn named(place: &Place) -> String {
    format!("{}.{}", place.host, place.workspace)
}

impl Core {
    /// Another host has said something. What its key in the fleet's roll has not signed, it has not said.
    pub(super) fn others_tell(&mut self, told: &[Signed]) {
        self.hears(told);
        self.look_at_taints();
    }

    fn hears(&mut self, told: &[Signed]) {
        let Some(known) = &self.fleet.counts else { return };
        for signed in told.iter().filter(|signed| signed.text.len() <= MOST_TELLS) {
            // As whom it says that it speaks says which key that takes.
            let named = serde_json::from_str::<Tells>(&signed.text).ok().map(|tells| tells.member);
            let key = named.and_then(|member| known.key_of(&member));
            let Some(tells) = key.and_then(|key| signed.read::<Tells>(key)) else {
                if self.fleet.taints.forged.is_time() {
                    tracing::warn!("what another host is to have said, no host of the fleet has signed");
                }
                continue;
            };
            let member = tells.member.clone();
            // What is of a time that has not come yet would count as heard for too long.
            if tells.is_ahead(clock::now().unix_ms) {
                continue;
            }
            let state = &mut self.fleet.taints;
            let known = state.told.get(&member);
            if let Some(known) = known.filter(|known| tells.at_ms <= known.at_ms) {
                // A clock that was put right says an earlier time of what was seen later.
                if known.what.taints != tells.what.taints {
                    state.others.push(tells);
                }
                continue;
            }
            // What says nothing new but the time can wait.
            if known.is_none_or(|known| known.what != tells.what) {
                state.written = None;
            }
            state.kept.told.insert(member.to_string(), signed.clone());
            state.is_new = true;
            state.told.insert(member, tells);
        }
    }

    /// Takes what the last run has heard, as far as it is signed by who belongs to the fleet still.
    fn read_heard(&mut self) {
        // Where it is not known who belongs to the fleet, nothing of it could be checked.
        let has_roll = self.fleet.counts.as_ref().is_some_and(|known| known.roll().is_some());
        if !has_roll || std::mem::replace(&mut self.fleet.taints.is_read, true) {
            return;
        }
        let text = std::fs::read_to_string(fleet::kept(self.folder.path()).heard).unwrap_or_default();
        let kept: Kept = serde_json::from_str(&text).unwrap_or_default();
        self.hears(&kept.told.into_values().collect::<Vec<_>>());
    }

    /// Keeps what others have said. Who lacks the last of it counts as cut off a little earlier.
    fn keep_heard(&mut self) {
        let state = &mut self.fleet.taints;
        if !state.is_new || state.written.is_some_and(|at| at.elapsed() < KEEPS) {
            return;
        }
        (state.is_new, state.written) = (false, Some(Instant::now()));
        let text = serde_json::to_string(&self.fleet.taints.kept).unwrap_or_default();
        if let Err(error) = state::write_whole(&fleet::kept(self.folder.path()).heard, text.as_bytes()) {
            tracing::warn!(%error, "the next start has heard nobody");
        }
    }

    /// Joins what other hosts have seen, and tells them what was seen here.
    pub(in crate::daemon) fn look_at_taints(&mut self) {
        if self.fleet.counts.is_none() {
            return;
        }
        self.read_heard();
        let Some(known) = &self.fleet.counts else { return };
        let own = known.own().member.clone();
        let is_stale = known.trouble(clock::now()).is_some();
        let now = clock::now().unix_ms;
        let members: Vec<MemberId> = known.hosts().map(|(member, _)| member.clone()).collect();
        let newest = |place: &Place| {
            members.iter().filter(|member| member.host == place.host).max_by_key(|member| member.number).cloned()
        };
        let (mut hears, mut taints, mut changes) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (name, workspace) in &self.workspaces {
            let bundle = self.fleet.policy.in_force.as_ref().map(|now| &now.bundle);
            let Some((places, when_unknown)) = bundle.and_then(|bundle| bundle.shared(&own.host, name)) else {
                changes.push((name.clone(), Vec::new(), None));
                continue;
            };
            taints.insert(name.clone(), Tainted::of(&workspace.seen));
            let (mut new, mut silent) = (Vec::new(), None);
            for place in places {
                // Where nobody says who belongs to the fleet, none of them can be asked. Who belongs to it no more says nothing, and nobody
                // waits for it.
                if is_stale {
                    silent = Some((place.host.to_string(), when_unknown));
                }
                let Some(member) = newest(place) else { continue };
                let told = self.fleet.taints.told.get(&member);
                let others = self.fleet.taints.others.iter().filter(|others| others.member == member);
                let others = others.filter_map(|others| others.what.taints.get(&place.workspace));
                new.extend(others.map(|of| (named(place), of.clone())));
                hears.push(member);
                match told.and_then(|told| told.what.taints.get(&place.workspace).map(|of| (told, of))) {
                    Some((told, of)) => {
                        new.push((named(place), of.clone()));
                        if !told.is_fresh(now) {
                            silent = Some((place.host.to_string(), when_unknown));
                        }
                    }
                    None => silent = Some((place.host.to_string(), when_unknown)),
                }
            }
            changes.push((name.clone(), new, silent));
        }
        for name in self.fleet.policy.in_force.iter().flat_map(|now| now.bundle.of_host(&own.host)) {
            taints.entry(name.clone()).or_insert_with(Tainted::nothing);
        }
        for (name, new, silent) in changes {
            for (place, tainted) in new {
                self.joins(&name, &place, &tainted);
            }
            self.is_unknown(&name, silent);
        }
        self.fleet.taints.others.clear();
        let (policy, refused) = self.policy_numbers();
        hears.sort();
        hears.dedup();
        if let Some(shipper) = &self.fleet.shipper {
            shipper.tells(Told { taints, policy, refused }, hears);
        }
        self.keep_heard();
    }

    /// What was seen elsewhere is seen here, too: on record, in one with that it counts here already.
    fn joins(&mut self, name: &WorkspaceName, place: &str, tainted: &Tainted) {
        let Some(known) = self.workspaces.get_mut(name) else { return };
        // In one with what it raises: a store that is put back has neither.
        let mark = if tainted.mark.len() > LONGEST_MARK {
            Digest::of(tainted.mark.as_bytes()).hex()
        } else {
            tainted.mark.clone()
        };
        if !known.seen.joins(place, &mark) {
            return;
        }
        let before = (known.seen.taint, known.seen.causes.len());
        let source = format!("{place}: {}", tainted.sources.join(", "));
        tells::hear(&mut known.seen, tainted.taint, &source);
        let seen = known.seen.clone();
        if (seen.taint, seen.causes.len()) == before {
            return self.records.submit(vec![Write::Taint(name.clone(), seen)], false, After::Nothing);
        }
        let detail =
            json!({"event": "raised", "by": BY_FLEET, "why": source, "taint": seen.taint, "epoch": seen.epoch});
        let writes = vec![Write::Taint(name.clone(), seen)];
        if let Err(error) = self.records.write(RecordKind::Taint, Some(name), detail, writes) {
            // It counts all the same.
            tracing::error!(error, "what another host has seen could not be recorded");
        }
    }

    /// Another host cannot be asked, or can be again.
    fn is_unknown(&mut self, name: &WorkspaceName, silent: Option<(String, Taint)>) {
        let Some(known) = self.workspaces.get_mut(name) else { return };
        let taint = |of: &Option<(String, Taint)>| of.as_ref().map_or(Taint::Clean, |(_, taint)| *taint);
        let (was, is) = (taint(&known.beside), taint(&silent));
        known.beside = silent.filter(|(_, taint)| *taint != Taint::Clean);
        if was == is {
            return;
        }
        // What was approved under less counts no more.
        known.seen.epoch += u64::from(!was.covers(is));
        let (seen, now) = (known.seen.clone(), known.seen_now());
        let of = known.beside.as_ref().map(|(of, _)| of.clone());
        let event = if of.is_some() { "another host cannot be asked" } else { "all hosts can be asked" };
        let detail = json!({"event": event, "by": BY_FLEET, "of": of, "taint": now.taint, "epoch": now.epoch});
        let writes = vec![Write::Taint(name.clone(), seen)];
        if let Err(error) = self.records.write(RecordKind::Taint, Some(name), detail, writes) {
            tracing::error!(error, "whether other hosts can be asked could not be recorded");
        }
    }

    /// The host belongs to a fleet no more.
    pub(super) fn taints_end(&mut self) {
        for known in self.workspaces.values_mut() {
            known.beside = None;
        }
    }
}
