//! The words that the container and the host agree on.
//!
//! From the bottom up: [`command`] (the text of one command), [`shell`] (bash text into a syntax we trust), [`variables`] (which are more than text),
//! [`programs`] and [`agents`] (what is known about each), [`classify`] (syntax into class, effects and reasons), [`credentials`] (known forms of them), [`protocol`] (requests and responses),
//! [`seal`] (signing and checking them), [`mailbox`] (names and layout of the shared folder), [`cage`] (the form of a
//! command that runs in the cage), [`script`] (what is approved about a managed script), [`draft`] (the wish for one) and [`checkup`] (what a doctor says).
//!
//! Nothing here does I/O, reads a clock or waits: time, ids and bytes come in as values, so that the same input gives
//! the same answer in the hook, on the host and in a test.

pub mod agents;
pub mod cage;
pub mod checkup;
pub mod classify;
pub mod command;
pub mod credentials;
pub mod difference;
pub mod draft;
mod located;
pub mod mailbox;
pub mod object;
pub mod planted;
pub mod programs;
pub mod protocol;
mod say;
pub mod script;
pub mod seal;
pub mod shell;
pub mod variables;

pub use located::located;
