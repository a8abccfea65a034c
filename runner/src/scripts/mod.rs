//! Managed scripts: kept under an id ([`library`]), looked at ([`validate`]), approved by a person with everything they
//! may reach, run ([`run`]) from the very bytes that were approved, with values that are data ([`template`]).

mod flow;
pub mod library;
pub mod run;
mod shape;
pub mod template;
pub mod validate;

pub use library::{Author, Library, LibraryError, Script};
pub use run::{Prepared, Request, ScriptError};
