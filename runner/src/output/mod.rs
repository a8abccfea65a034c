//! A command's output: captured without end in little memory, shown within a limit as valid UTF-8.
//!
//! [`Capture`] keeps what the limit will show and counts the rest; [`Limit`] says how much that is and how it is cut.

mod capture;
mod limit;

pub use capture::Capture;
pub use limit::{Binary, Control, Limit, Shape, Text};
