//! Channels to people: the same cases for each service, through the real host and hook.

mod cases;
mod matrix;
mod synapse;
mod telegram;
