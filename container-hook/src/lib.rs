//! The hook: one event of an agent in, one exit code out.
//!
//! Exit 2 with a reason on stderr denies; exit 0 raises no objection. Whatever goes wrong denies: see [`guard`].
//! In the order of a command's way: [`agents`] (an agent's event into ours), [`gate`] (what to do with it),
//! [`git`] (the guard, and what steers git), [`interactive`] (what could be typed into later), [`cage`] (what can run caged), [`conditions`] (what only the container can tell), [`evidence`] (what the host is told),
//! [`ask`] (the host's answer).

pub mod agents;
pub mod ask;
pub mod cage;
pub mod conditions;
pub mod config;
pub mod event;
pub mod evidence;
pub mod gate;
pub mod git;
pub mod guard;
pub mod interactive;
