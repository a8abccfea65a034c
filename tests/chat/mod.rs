//! Channels to people: the same cases for each service, through the real host and hook.

mod announce;
pub(crate) mod cases;
mod desk;
mod desks_in_faults;
pub(crate) mod desks_of_a_fleet;
mod discord;
mod events;
mod fleet_in_compose;
mod matrix;
mod races;
mod slack;
mod synapse;
mod telegram;
mod terminal;
