//! The services that channels go through. Each module speaks one service's protocol and knows nothing else.

mod announce;
mod discord;
mod http;
mod matrix;
mod once;
mod slack;
mod socket;
mod telegram;

pub(super) use announce::Announce;
pub(super) use discord::Discord;
pub(super) use matrix::Matrix;
pub(super) use slack::Slack;
pub(super) use telegram::Telegram;
