//! The host side of bashgate.
//!
//! From the ground up: [`authority`] (who said it) and [`taint`] under [`policy`] and [`approval`] under [`case`] (one
//! request's life), [`suggest`] on top of these (what could be
//! written down against questions) and [`replay`] (what another policy would have said), all pure; then the adapters [`intake`], [`inspector`], [`chat`], [`audit`], [`store`], [`respond`],
//! [`control`], [`metrics`], [`programs`] and [`fleet`] (many hosts, one record), [`telemetry`], none of which starts another one's work, [`registered`] (where a person's gates are), on top of [`mailbox_folder`] (folders that
//! are not left) and [`fault`] (places where tests let it die) and [`outgoing`] (how services are called); then [`daemon`], the one loop (event in, effect out), with [`page`], the web page, and [`up`], a container beside it; then
//! [`cli`].
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod allowance;
pub mod approval;
pub mod audit;
pub mod authority;
pub mod case;
pub mod chat;
pub mod cli;
pub mod clock;
pub mod config;
pub mod control;
pub mod daemon;
pub mod egress;
pub mod fault;
pub mod fleet;
pub mod held;
pub mod inspector;
pub mod intake;
pub mod mailbox_folder;
pub mod metrics;
pub mod outgoing;
pub mod page;
pub mod policy;
pub mod programs;
pub mod registered;
pub mod replay;
pub mod respond;
pub mod rule_draft;
pub mod state;
pub mod store;
pub mod suggest;
pub mod taint;
pub mod telemetry;
pub mod up;
