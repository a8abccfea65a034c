//! The fleet that the host belongs to, where it belongs to one.

use std::time::{Duration, Instant};

use super::core::Core;
use crate::fleet::{self, Shipper, Standing};

/// How often it is looked whether the host has joined a fleet, or left it.
const LOOK: Duration = Duration::from_secs(1);

impl Core {
    /// Begins to send what is recorded when the host has joined a fleet, and ends it when it has left: neither needs a restart.
    pub(super) fn look_for_fleet(&mut self) {
        if self.times.fleet_look.is_some_and(|at| at.elapsed() < LOOK) {
            return;
        }
        self.times.fleet_look = Some(Instant::now());
        match (fleet::is_member(self.folder.path()), &self.fleet) {
            (true, None) => match Shipper::start(self.folder.path()) {
                Ok(shipper) => self.fleet = Some(shipper),
                Err(error) => tracing::error!(%error, "nothing goes to the fleet's database"),
            },
            (false, Some(_)) => self.fleet = None,
            _ => {}
        }
    }

    /// How the fleet stands, where the host belongs to one.
    pub(super) fn fleet_standing(&self) -> Option<Standing> {
        self.fleet.as_ref().map(Shipper::standing)
    }

    /// The last record that the fleet has: none behind it is forgotten here. `None` where the host belongs to no fleet.
    pub(super) fn kept_for_fleet(&self) -> Option<u64> {
        fleet::is_member(self.folder.path())
            .then(|| self.fleet_standing().and_then(|standing| standing.sent).unwrap_or(0))
    }
}
