//! The web page, in a real browser and as strangers see it.

mod at_a_desk;
mod browser;
mod people;
mod strangers;

pub(crate) use strangers::Visitor;
