//! The services that channels go through. Each module speaks one service's protocol and knows nothing else.

mod http;
mod matrix;
mod telegram;

pub(super) use matrix::Matrix;
pub(super) use telegram::Telegram;
