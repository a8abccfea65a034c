//! A Bash tool that is gated, sandboxed, and cannot be left running.
//!
//! In the order of a command's way: [`presets`] (what a run may do, as data), [`permit`] (the gate's word),
//! [`policy`] (a preset's own rules), [`environment`], [`git`], [`sandbox`] (what is enforced, and by what), [`run`]
//! (the run itself), [`inner`] (the process inside), [`output`], [`watch`] (what was changed), [`outcome`].
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bound;
mod called;
pub mod cli;
pub mod doctor;
pub mod egress;
pub mod environment;
pub mod gate;
pub mod git;
pub mod inner;
pub mod job;
pub mod mcp;
pub mod outcome;
pub mod output;
pub mod permit;
pub mod policy;
pub mod presets;
pub mod registry;
pub mod run;
pub mod sandbox;
pub mod scripts;
mod turns;
pub mod user;
pub mod watch;
