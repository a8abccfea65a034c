//! The hook: one event of an agent in, one exit code out.
//!
//! Exit 2 with a reason on stderr denies; exit 0 raises no objection. Whatever goes wrong denies: see [`guard`].
//! In the order of an event's way: [`agents`] (an agent's event into ours, [`event`]), [`tools`] (what becomes of a use of
//! a tool), [`gate`] (may this command run?).
//!
//! [`commands`] are what people type: [`install`] and [`doctor`].
//!
//! [`gate`] is a library of its own, which the Bash tool uses, too. Only the program itself arms [`guard`].
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod agents;
pub mod commands;
pub mod doctor;
pub mod event;
pub mod gate;
pub mod guard;
pub mod install;
pub mod tools;
