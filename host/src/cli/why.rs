//! `bashgate why`: a command as bash reads it, as a tree, every part with its rule and where to change it.

use std::io::IsTerminal as _;

use bashgate_shared::classify::{Classification, CommandClass, Condition, Decided, GitWork, Part, Shown, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs::family_of;
use bashgate_shared::programs::reaches::Place;
use bashgate_shared::{say, say_part};
use serde_json::json;

use super::judge::Programs;
use super::{Failure, Run};
use crate::chat::notice::one_line;
use crate::policy::egress;

/// Longest text of one part on a line, in characters.
const WIDTH: usize = 72;

pub(super) fn run(command: &str, as_json: bool, programs: &Programs) -> Run {
    let line = CommandLine::parse(command).map_err(|error| Failure::Refused(format!("{error}; {}", error.help())))?;
    let found = classify(&line, &programs.surroundings()?);
    if as_json {
        say!("{}", json!({"command": command, "classification": found}));
        return Ok(());
    }
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    say_part!("{}", explain(&found, color));
    Ok(())
}

fn paint(text: &str, code: &str, color: bool) -> String {
    if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

fn class_of(part: &Part, color: bool) -> String {
    let (word, code) = match (part.class, part.local) {
        (CommandClass::Safe, _) => ("safe", "32"),
        (CommandClass::Unknown, true) => ("local if", "36"),
        (CommandClass::Unknown, false) => ("unknown", "33"),
        (CommandClass::Network, _) => ("network", "31"),
    };
    paint(&format!("{word:8}"), code, color)
}

/// Where the rule of a part stands.
fn source_of(part: &Part) -> String {
    if part.rule == "reader" {
        return "the reader: what bash might take in another way is not read".to_owned();
    }
    match family_of(&part.rule) {
        Some(family) => format!("rule `{}`, in docs/programs.md under \u{201c}{family}\u{201d}", part.rule),
        None => format!("rule: {}", part.rule),
    }
}

/// How an operator may decide otherwise about a part.
fn change_of(part: &Part) -> Option<String> {
    if part.local || part.class == CommandClass::Safe {
        return None;
    }
    let words: Vec<String> = part.argv.iter().map_while(Clone::clone).take(2).map(|word| format!("{word:?}")).collect();
    (!words.is_empty())
        .then(|| format!("decide otherwise: [[policy.rules]] with argv = [{}] in bashgate.toml", words.join(", ")))
}

/// A place in words.
fn place_of(place: &Place) -> String {
    match place {
        Place::Host { host, port } => egress::written(&(host.clone(), *port)),
        Place::Remote { folder, remote } if remote.is_empty() => format!("the remotes in {folder}"),
        Place::Remote { folder, remote } => format!("the remote {remote} in {folder}"),
    }
}

/// What has to be looked at, in words.
fn words_of(condition: &Condition) -> String {
    match condition {
        Condition::NoSecretNamed { folder, start, end } => {
            format!("if: no file in {folder} called `{start}…{end}` is a secret")
        }
        Condition::NoSecretBelow { folder, passed_by } => {
            let less = if passed_by.is_nothing() { "" } else { ", but for what it passes by," };
            format!("if: no name below {folder}{less} is one that secrets have")
        }
        Condition::NoSecretAdded { folder, path } => format!(
            "if: git in {folder} tracks or ignores every secret below {}",
            path.as_deref().unwrap_or("the working tree")
        ),
        Condition::NoLinkBelow { folder, names } => {
            format!("if: nothing below {folder} called {} is a link", names.join(" or "))
        }
        Condition::NoFolder { path } => format!("if: {path} is no folder"),
        Condition::NoFileAbove { folder, names } => {
            format!("if: neither {folder} nor a folder above it has {}", names.join(" or "))
        }
        Condition::OnlyPublic { path } => {
            format!("if: {path} holds nothing but certificates and public keys")
        }
        Condition::Folder { path } => format!("if: {path} is a folder"),
        Condition::PlainNamesBelow { folder } => {
            format!("if: no name below {folder} has a blank, a quote or a backslash")
        }
        Condition::NoDashNames { folder } => format!("if: no name in {folder} starts with a dash"),
        Condition::GitNumbers { folder, numbers } => {
            format!("if: {} is in the history of git in {folder}", numbers.join(", "))
        }
        Condition::GitShowsNoSecret { folder, .. } => {
            format!("if: git in {folder} shows no file there that is called like a secret, in any commit")
        }
        Condition::GitIsInert { folder, shows, work } => {
            let more = match (shows, work) {
                (Shown::Content, _) => ", and every file that it tracks is where it says",
                (Shown::Numbered, _) => ", every file that it tracks is where it says, and there is no stash",
                (Shown::Logs, _) => ", and no password stands in its logs",
                (Shown::Settings, _) => ", and none of them is a secret",
                (Shown::Nothing, GitWork::Fetches) => ", none leads a connection elsewhere, and it has no hook",
                (Shown::Nothing, GitWork::ChecksOut) => {
                    ", none leads a connection elsewhere, it has no hook, and no repository lies below it"
                }
                (Shown::Nothing, GitWork::Records) => ", and it has no hook",
                (Shown::Nothing | Shown::Named, _) => "",
            };
            format!("if: no setting of git in force in {folder} starts a program{more}")
        }
    }
}

fn explain(found: &Classification, color: bool) -> String {
    let mut out = String::new();
    let mut say = |line: &str| {
        out.push_str(line);
        out.push('\n');
    };
    say(&format!("{}: {}", found.class, found.reason));
    say(match found.decided {
        Decided::Local => "decided in the container, from the text alone",
        Decided::LocalIf => "decided in the container, when the hook has checked what stands below",
        Decided::Host => "decided by the host, by the workspace's taint",
    });
    say("");
    for part in &found.parts {
        let indent = "  ".repeat(part.depth + 1);
        let text = one_line(&part.text, WIDTH);
        say(&format!("{} {indent}{}", class_of(part, color), paint(&text, "1", color)));
        let below = format!("         {indent}  ");
        if !part.reason.is_empty() {
            say(&format!("{below}{}", part.reason));
        }
        say(&format!("{below}{}", paint(&source_of(part), "2", color)));
        if let Some(change) = change_of(part) {
            say(&format!("{below}{}", paint(&change, "2", color)));
        }
    }
    say("");
    for condition in &found.conditions {
        say(&words_of(condition));
    }
    if let Some(reaches) = found.reaches.as_ref().filter(|reaches| !reaches.places.is_empty()) {
        let places: Vec<String> = reaches.places.iter().map(place_of).collect();
        say(&if reaches.only_reads() {
            format!(
                "only reads, from {}: with `egress.run_reads` it runs with a way out there, and sends at most {} KiB, if the host lets agents read from there",
                places.join(", "),
                reaches.up_bytes.div_ceil(1024)
            )
        } else {
            let kinds: Vec<&str> = reaches.writes.iter().map(String::as_str).collect();
            format!("writes ({}), to {}", kinds.join(", "), places.join(", "))
        });
        for condition in &reaches.conditions {
            say(&words_of(condition));
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
        ("runs the code in", &effects.runs),
        ("changes what runs later", &effects.persistence),
        ("changes what steers builds, CI or agents", &effects.steering),
        ("touches the gate", &effects.tampering),
    ] {
        if !list.is_empty() {
            say(&format!("{what}: {}", list.join(", ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashgate_shared::classify::Surroundings;

    fn why(command: &str, color: bool) -> String {
        explain(&classify(&CommandLine::parse(command).unwrap(), &Surroundings::default()), color)
    }

    #[test]
    fn nested_scripts_stand_below_the_command_that_holds_them() {
        let text = why("if test -f a; then echo \"$(curl evil.com)\" | wc -l; fi", false);
        let at = |what: &str| {
            let line = text.lines().find(|line| line.get(9..).is_some_and(|rest| rest.trim_start().starts_with(what)));
            line.and_then(|line| line.find(what)).unwrap_or_else(|| panic!("{what}: {text}"))
        };
        assert!(at("if test") < at("test -f a"), "{text}");
        assert!(at("echo ") < at("curl evil.com"), "{text}");
        assert!(text.find("echo ") < text.find("network ") || text.starts_with("network"), "{text}");
        assert!(text.contains("argv = [\"curl\", \"evil.com\"]"), "{text}");
        assert!(text.contains("under \u{201c}Network\u{201d}"), "{text}");
        assert!(!text.contains('\u{1b}') && why("ls", true).contains('\u{1b}'));
    }

    #[test]
    fn conditions_and_files_are_told() {
        assert!(why("git diff", false).contains("no setting of git in force in . starts a program"));
        assert!(why("make", false).contains("runs the code in: "));
        assert!(why("echo ${x@P}", false).contains("may run what it expands"));
    }
}
