//! `bashgate why`: a command for people, each part with its rule.

use std::io::IsTerminal as _;

use bashgate_shared::classify::{CommandClass, Condition, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use serde_json::json;

use super::{Failure, Run};
use crate::chat::notice::one_line;

pub(super) fn run(command: &str, as_json: bool) -> Run {
    let line = CommandLine::parse(command).map_err(|error| Failure::Refused(format!("{error}; {}", error.help())))?;
    let found = classify(&line, &Surroundings::default());
    if as_json {
        println!("{}", json!({"command": command, "classification": found}));
        return Ok(());
    }
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let paint = |class: CommandClass| {
        let code = match class {
            CommandClass::Safe => "32",
            CommandClass::Unknown => "33",
            CommandClass::Network => "31",
        };
        if color { format!("\u{1b}[{code}m{class:7}\u{1b}[0m") } else { format!("{class:7}") }
    };
    println!("{} {}", paint(found.class), found.reason);
    for part in &found.parts {
        println!("  {} {}", paint(part.class), one_line(&part.text, 120));
        println!("          rule {}: {}", part.rule, part.reason);
    }
    for condition in &found.conditions {
        match condition {
            Condition::NoSecretBelow { folder } => {
                println!("  let through by the hook only if no name below {folder} is one that secrets have");
            }
            Condition::GitIsInert { folder, .. } => {
                println!("  let through by the hook only if git's configuration in {folder} names no program");
            }
        }
    }
    let effects = &found.effects;
    let network: Vec<String> = effects
        .network
        .iter()
        .map(|used| {
            used.host.as_ref().map_or_else(|| used.program.clone(), |host| format!("{} to {host}", used.program))
        })
        .collect();
    for (what, list) in [
        ("reads", &effects.reads),
        ("writes", &effects.writes),
        ("reads secrets", &effects.secrets),
        ("reaches the network", &network),
        ("brings in untrusted content", &effects.untrusted),
        ("changes what runs later", &effects.persistence),
        ("touches the gate", &effects.tampering),
    ] {
        if !list.is_empty() {
            println!("  {what}: {}", list.join(", "));
        }
    }
    println!(
        "  decided by: {}",
        serde_json::to_value(found.decided)
            .ok()
            .and_then(|decided| decided.as_str().map(str::to_owned))
            .unwrap_or_default()
    );
    Ok(())
}
