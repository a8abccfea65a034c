//! Managed scripts: kept under an id ([`library`]) with what they said before ([`versions`]), looked at ([`validate`], [`used`]), written by a model ([`drafting`]), approved by a person with everything they
//! may reach, run ([`run`]) from the very bytes that were approved, with values that are data ([`template`]).

pub mod action;
pub mod drafting;
pub mod find;
mod flow;
pub mod library;
pub mod run;
mod shape;
pub mod template;
pub mod used;
pub mod validate;
pub mod versions;

pub use library::{Author, Library, LibraryError, Script};
pub use run::{Prepared, Request, ScriptError};
