//! An agent in a gated container, by one command.
//!
//! In the order in which it happens: the gate is found or made and its host started ([`sidecar`]), the project's workspace
//! registered, what acts later in the project is looked at ([`acting`]), and [`plan`] says with which arguments the container
//! starts; [`runtime`] starts it.
//!
//! INVARIANT: the container never gets the runtime's socket, the host's network, the person's home folder, the gate's state
//! or a writable copy of what gates it.

pub mod acting;
pub mod plan;
pub mod runtime;
pub mod sidecar;
