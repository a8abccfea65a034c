//! `bashgate chat list|test`.

use std::time::Duration;

use bashgate_shared::{say, say_aside};
use clap::Subcommand;
use serde_json::Value;

use super::people::{ask_running, needs_host, no_host};
use super::{Failure, Run};
use crate::config::Config;
use crate::control::ControlCommand;

#[derive(Subcommand)]
pub(super) enum Chat {
    /// The channels, and how they fare
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send a card to a channel and hear the answer; nothing runs
    Test {
        /// Its name
        name: String,
    },
}

pub(super) fn run(config: &Config, act: Chat) -> Run {
    match act {
        Chat::List { json } => needs_host(config, &ControlCommand::ChatList, json),
        Chat::Test { name } => test(config, &name),
    }
}

fn ask(config: &Config, command: &ControlCommand) -> Result<Value, Failure> {
    match ask_running(config, command)? {
        Some(reply) if reply.ok => Ok(reply.data),
        Some(reply) => Err(Failure::Refused(reply.text)),
        None => Err(no_host(config)),
    }
}

fn text(data: &Value, field: &str) -> String {
    data.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Sends a card and waits for an answer, and says what is in the way meanwhile.
fn test(config: &Config, name: &str) -> Run {
    let sent = ask(config, &ControlCommand::ChatTest { channel: name.to_owned() })?;
    let id = text(&sent, "id");
    say_aside!("A card is on its way to `{name}`. Answer it there, by a button or with: approve {id}");
    let mut trouble_said = String::new();
    loop {
        let tested = ask(config, &ControlCommand::ChatTested { id: id.clone() })?;
        let [heard, trouble, stranger] = ["heard", "trouble", "stranger"].map(|field| text(&tested, field));
        if !heard.is_empty() {
            say!("{name} works: heard {heard}.");
            return Ok(());
        }
        if trouble != trouble_said && !trouble.is_empty() {
            say_aside!("{name} does not work yet: {trouble}");
        }
        trouble_said = trouble;
        if !stranger.is_empty() {
            return Err(Failure::failed(
                format!("heard {stranger}, who may not answer there"),
                "if that is you, put the id into `approvers` and start the host again",
            ));
        }
        if tested.get("late") == Some(&Value::Bool(true)) {
            return Err(Failure::failed(
                format!("nobody answered in `{name}` within two minutes"),
                "see docs/chat.md: is the bot in the room, and is it the right one?",
            ));
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
