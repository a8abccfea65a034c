//! The fleet's policy on this host: checked before it counts, kept for the next start.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

use super::Core;
use crate::audit::RecordKind;
use crate::clock;
use crate::config::Config;
use crate::daemon::{Event, ServeError};
use crate::fleet;
use crate::fleet::bundle::{Bundle, BundleError};
use crate::fleet::roll::{Own, Version};
use crate::state;
use crate::store::{Reader, Write};

/// How this host stands with the fleet's policy.
#[derive(Default)]
pub(super) struct State {
    /// What is in force.
    pub(super) in_force: Option<InForce>,
    /// What is being checked.
    checking: Option<Version>,
    /// What was refused, and why.
    refused: Option<(Version, String)>,
}

/// A policy that is in force.
pub(super) struct InForce {
    version: Version,
    pub(super) bundle: Bundle,
}

/// A policy that was checked.
pub struct Checked {
    version: Version,
    text: String,
    result: Result<(Bundle, Box<Config>), BundleError>,
}

/// A policy as it is kept for the next start: one that counts here already.
#[derive(Serialize, Deserialize)]
struct Kept {
    fleet: String,
    version: Version,
    text: String,
}

impl Core {
    /// Puts in force again what was when the host stopped. A host whose own configuration no longer goes with it does not start.
    pub(in crate::daemon) fn restore_policy(&mut self) -> Result<(), ServeError> {
        let path = fleet::kept(self.folder.path()).policy;
        let wrong = |why: String| ServeError::FleetPolicy { path: path.clone(), why };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let kept: Kept = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        // It has left that one since; but what is not known to be over is not over.
        let own = Own::read(self.folder.path());
        let Some(own) = own else {
            let is_member = fleet::is_member(self.folder.path());
            return if is_member { Err(wrong("the membership cannot be read".to_owned())) } else { Ok(()) };
        };
        if kept.fleet != own.member.fleet {
            return Ok(());
        }
        let Kept { version, text, .. } = kept;
        let bundle = Bundle::read(&text).map_err(|error| wrong(error.to_string()))?;
        self.config = bundle.join(&self.own_config).map_err(|error| wrong(error.to_string()))?;
        self.fleet.policy.in_force = Some(InForce { version, bundle });
        Ok(())
    }

    /// What people have approved by another policy counts no more: everything is asked anew.
    fn asks_anew(&mut self) {
        let names: Vec<_> = self.workspaces.keys().cloned().collect();
        for name in names {
            let Some(known) = self.workspaces.get_mut(&name) else { continue };
            known.seen.epoch += 1;
            let seen = known.seen.clone();
            let detail = json!({"event": "another policy", "taint": seen.taint, "epoch": seen.epoch});
            let writes = vec![Write::Taint(name.clone(), seen)];
            if let Err(error) = self.records.write(RecordKind::Taint, Some(&name), detail, writes) {
                tracing::error!(error, "that another policy holds could not be recorded");
            }
        }
    }

    /// Checks what the fleet wants to hold here, beside everything else.
    pub(super) fn look_at_policy(&mut self, events: &mpsc::UnboundedSender<Event>) {
        let Some(known) = self.fleet.counts.as_ref().filter(|known| known.roll().is_some()) else { return };
        // What counts no more is no reason to change anything.
        if known.trouble(clock::now()).is_some() {
            return;
        }
        let Some((version, text)) = known.policy() else {
            if self.fleet.policy.in_force.is_some() {
                self.policy_ends();
            }
            return;
        };
        let state = &mut self.fleet.policy;
        let is_known = state.in_force.as_ref().is_some_and(|now| now.version == *version)
            || state.checking.as_ref() == Some(version)
            || state.refused.as_ref().is_some_and(|(refused, _)| refused == version);
        if is_known {
            return;
        }
        let (version, text) = (version.clone(), text.clone());
        state.checking = Some(version.clone());
        let (own, now, store) = (self.own_config.clone(), self.config.clone(), self.folder.store());
        let events = events.clone();
        // A thread of its own: nobody who ends the host waits for it.
        let spawned = std::thread::Builder::new().name("policy".to_owned()).spawn(move || {
            let check = || {
                let bundle = Bundle::parse(&text)?;
                let joined = bundle.join(&own)?;
                bundle.replay(&now, &joined, &Reader::open(&store)?)?;
                Ok((bundle, Box::new(joined)))
            };
            let result = check();
            let _ = events.send(Event::PolicyChecked(Box::new(Checked { version, text, result })));
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "the fleet's policy cannot be checked now");
            self.fleet.policy.checking = None;
        }
    }

    /// A policy was checked: it counts from now on, or not at all.
    pub(in crate::daemon) fn policy_is_checked(&mut self, checked: Checked) {
        let Checked { version, text, result } = checked;
        if self.fleet.policy.checking.take().as_ref() != Some(&version) {
            return;
        }
        // It may have been taken back meanwhile.
        let wanted = self.fleet.counts.as_ref().and_then(|known| known.policy()).map(|(wanted, _)| wanted);
        if wanted != Some(&version) {
            return;
        }
        let Some(fleet) = self.fleet.counts.as_ref().map(|known| known.own().member.fleet.clone()) else { return };
        let result = result.map_err(|error| error.to_string()).and_then(|(bundle, joined)| {
            let kept = Kept { fleet, version: version.clone(), text };
            let kept = serde_json::to_string(&kept).unwrap_or_default();
            state::write_whole(&fleet::kept(self.folder.path()).policy, kept.as_bytes())
                .map_err(|error| error.to_string())?;
            let detail = json!({"event": "policy", "version": version.number, "digest": version.digest});
            self.records.write(RecordKind::Host, None, detail, Vec::new())?;
            Ok((bundle, joined))
        });
        match result {
            Ok((bundle, joined)) => {
                self.config = *joined;
                self.fleet.policy.refused = None;
                self.fleet.policy.in_force = Some(InForce { version, bundle });
                self.asks_anew();
                self.look_at_taints();
            }
            Err(why) => {
                tracing::warn!(version = version.number, why, "the fleet's policy does not count here");
                let detail =
                    json!({"event": "policy refused", "version": version.number, "digest": version.digest, "why": why});
                self.records.record(RecordKind::Host, None, detail);
                self.fleet.policy.refused = Some((version, why));
            }
        }
    }

    /// Nothing but the host's own policy holds.
    pub(super) fn policy_ends(&mut self) {
        if let Err(error) = state::remove(&fleet::kept(self.folder.path()).policy) {
            tracing::error!(%error, "the fleet's policy is still kept for the next start");
        }
        self.config = self.own_config.clone();
        let had = std::mem::take(&mut self.fleet.policy).in_force.is_some();
        if had {
            self.records.record(RecordKind::Host, None, json!({"event": "policy", "version": null}));
            self.asks_anew();
        }
    }

    /// Which policy is in force here, and which is not and why.
    pub(super) fn policy_numbers(&self) -> (Option<i32>, Option<(i32, String)>) {
        let State { in_force, refused, .. } = &self.fleet.policy;
        let refused = refused.as_ref().map(|(version, why)| (version.number, why.clone()));
        (in_force.as_ref().map(|now| now.version.number), refused)
    }

    /// In words; `None` where there is nothing to say.
    pub(super) fn policy_standing(&self) -> Option<String> {
        let wanted = self.fleet.counts.as_ref().and_then(|known| known.policy()).map(|(version, _)| version.number);
        let (now, refused) = self.policy_numbers();
        let is = now.map_or_else(|| "no policy of the fleet".to_owned(), |number| format!("policy {number}"));
        match (now, wanted, refused) {
            (_, _, Some((number, why))) => Some(format!("{is}; BEHIND: policy {number} was refused here: {why}")),
            (now, Some(number), None) if now != Some(number) => {
                Some(format!("{is}; BEHIND: policy {number} is being checked"))
            }
            (None, _, None) => None,
            (Some(_), _, None) => Some(is),
        }
    }
}
