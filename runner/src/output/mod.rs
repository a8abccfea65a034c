//! A command's output: captured without end in little memory, shown within a limit as valid UTF-8.
//!
//! [`Capture`] keeps what the limit will show and counts the rest; [`Limit`] says how much that is and how it is cut.
//! [`Plain`] leaves out what changes a terminal, [`Echo`] hands output on while it comes.

mod capture;
mod echo;
mod limit;
mod plain;

pub use capture::Capture;
pub use echo::Echo;
pub use limit::{Binary, Control, Limit, Shape, Text};
pub use plain::Plain;
