//! The fleet that the host belongs to, where it belongs to one: its record goes there, desks of it may answer, its policy holds here, and
//! what its other hosts have seen of a workspace that they share counts here, too.

mod desks;
mod policy;
mod taints;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::Event;
use super::core::Core;
use crate::clock;
use crate::fleet::roll::{Brought, Known, Own};
use crate::fleet::wire::FromFleet;
use crate::fleet::{self, Shipper, Standing};

pub use policy::Checked;

/// How often it is looked whether the host has joined a fleet, or left it.
const LOOK: Duration = Duration::from_secs(1);
/// How often is said that somebody has forged something.
const SAID_AGAIN: Duration = Duration::from_mins(1);

/// What the host has to do with its fleet.
#[derive(Default)]
pub(super) struct Membership {
    shipper: Option<Shipper>,
    looked: Option<Instant>,
    desks: desks::Desks,
    /// What counts in the fleet.
    counts: Option<Known>,
    policy: policy::State,
    taints: taints::State,
}

/// What is said once in a minute at most, however often there is reason to.
#[derive(Default)]
struct Seldom(Option<Instant>);

impl Seldom {
    fn is_time(&mut self) -> bool {
        let is_time = self.0.is_none_or(|at| at.elapsed() > SAID_AGAIN);
        if is_time {
            self.0 = Some(Instant::now());
        }
        is_time
    }
}

impl Core {
    /// Begins to send what is recorded when the host has joined a fleet, and ends it when it has left: neither needs a restart.
    pub(super) fn look_for_fleet(&mut self, events: &mpsc::UnboundedSender<Event>) {
        self.show_desks();
        if self.fleet.looked.is_some_and(|at| at.elapsed() < LOOK) {
            return;
        }
        self.fleet.looked = Some(Instant::now());
        match (fleet::is_member(self.folder.path()), &self.fleet.shipper) {
            (true, None) => {
                let sends = events.clone();
                let hears = Arc::new(move |said| {
                    // A host that ends hears nothing more.
                    let _ = sends.send(Event::FromFleet(said));
                });
                match Shipper::start(self.folder.path(), hears) {
                    Ok(shipper) => self.fleet.shipper = Some(shipper),
                    Err(error) => tracing::error!(%error, "nothing goes to the fleet's database"),
                }
            }
            (false, Some(_)) => self.leaves_fleet(),
            // Another one in one go: that fleet's program and all that it said are no more.
            (true, Some(_)) if self.has_moved() => return self.leaves_fleet(),
            _ => {}
        }
        // A membership that is not finished has no name yet.
        if self.fleet.shipper.is_some() && self.fleet.counts.is_none() {
            self.fleet.counts = Own::read(self.folder.path()).map(|own| Known::kept(own, self.folder.path()));
        }
        self.look_at_policy(events);
        self.look_at_taints();
    }

    /// What the program has said that speaks to the fleet's database.
    pub(super) fn fleet_says(&mut self, said: FromFleet) {
        match said {
            FromFleet::Said { number, text, signature } => self.said_at_desk(number, &text, &signature),
            FromFleet::Brought(brought) => self.counts_now(&brought),
            FromFleet::Told(told) => self.others_tell(&told),
            // The shipper keeps these itself.
            FromFleet::Standing(_) | FromFleet::Desks(_) => {}
        }
    }

    /// A roll of the fleet has come.
    fn counts_now(&mut self, brought: &Brought) {
        let Some(known) = &mut self.fleet.counts else { return };
        let before = known.roll().cloned();
        if let Err(error) = known.take(brought, clock::now()) {
            tracing::warn!(%error, "the fleet's roll counts for nothing");
            // The next one is to come with all that it names.
            if let Some(shipper) = &self.fleet.shipper {
                shipper.wants_whole();
            }
            return;
        }
        if known.roll() != before.as_ref()
            && let Err(error) = known.keep(brought, self.folder.path())
        {
            tracing::warn!(%error, "the fleet's roll cannot be kept; the next start waits for it");
        }
    }

    /// True where the membership is another one than what is known counts for.
    fn has_moved(&self) -> bool {
        let known = self.fleet.counts.as_ref().map(Known::own);
        known.is_some_and(|own| Own::read(self.folder.path()).is_some_and(|now| now != *own))
    }

    fn leaves_fleet(&mut self) {
        // As long as it is known what was in force.
        self.policy_ends();
        self.taints_end();
        self.fleet = Membership::default();
        if let Err(error) = fleet::forget(self.folder.path()) {
            tracing::warn!(%error, "what the fleet has said is still kept");
        }
    }

    /// How the fleet stands, where the host belongs to one.
    pub(super) fn fleet_standing(&self) -> Option<Standing> {
        let mut standing = self.fleet.shipper.as_ref().map(Shipper::standing)?;
        if let Some(known) = &self.fleet.counts
            && standing.desks.is_none()
            && self.has_desks()
        {
            standing.desks = known.trouble(clock::now()).map(|trouble| trouble.to_string());
        }
        standing.policy = self.policy_standing();
        Some(standing)
    }

    fn has_desks(&self) -> bool {
        self.config.chat.values().any(|settings| settings.desk.is_some())
    }

    /// What keeps desks from answering for this host.
    pub(super) fn desks_trouble(&self) -> Option<String> {
        let Some(standing) = self.fleet_standing() else { return Some("this host belongs to no fleet".to_owned()) };
        standing.desks.or(standing.trouble)
    }

    /// The last record that the fleet has: none behind it is forgotten here. `None` where the host belongs to no fleet.
    pub(super) fn kept_for_fleet(&self) -> Option<u64> {
        fleet::is_member(self.folder.path())
            .then(|| self.fleet_standing().and_then(|standing| standing.sent).unwrap_or(0))
    }
}
