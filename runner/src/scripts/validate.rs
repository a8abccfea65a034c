//! What can be said about a script before it runs: whether bash can read it, where its values land, what it uses that its
//! manifest does not give, and what shellcheck finds. Advice: what holds is the sandbox, and who decides is a person.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bashgate_shared::classify::Effects;
use bashgate_shared::programs::{self as tables, Runs};
use bashgate_shared::script::{MAX_TEXT_BYTES, Manifest};
use serde::{Deserialize, Serialize};

use super::template::{self, Template};
use super::used::{OWN, THERE, Used, is_below};
use crate::called::{self, Called, Limits};
use crate::sandbox::Listed;

/// What shellcheck calls a variable that is referenced but not assigned: those that carry values come with the environment.
const UNASSIGNED: u64 = 2154;
/// Longest time for `bash -n` and for shellcheck.
const TIME: Duration = Duration::from_secs(10);
/// Their memory, in bytes.
const MEMORY: u64 = 2 << 30;
/// Most of their output, in bytes.
const MAX_OUTPUT: u64 = 4 << 20;
/// Most findings that are told.
const MAX_FINDINGS: usize = 100;
/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It cannot run as it is.
    Error,
    /// It may not do what was meant, or do more.
    Warning,
    /// Worth knowing.
    Info,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Objection {
    /// How much it weighs.
    pub level: Level,
    /// The line, from 1, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What it is.
    pub message: String,
}

fn finding(level: Level, line: Option<u64>, message: impl Into<String>) -> Objection {
    Objection { level, line, message: message.into() }
}

/// Looks at a script, gravest findings first. `valid` scripts have no [`Level::Error`].
pub fn validate(text: &str, manifest: &Manifest) -> Vec<Objection> {
    let mut found = Vec::new();
    if text.len() > MAX_TEXT_BYTES {
        let message = format!("it has {} bytes, more than {MAX_TEXT_BYTES}; nothing of it was looked at", text.len());
        return vec![finding(Level::Error, None, message)];
    }
    if let Err(error) = manifest.clone().canonical() {
        found.push(finding(Level::Error, None, error.to_string()));
    }
    let template = Template::parse(text, &manifest.variables);
    if let Err(error) = &template {
        found.push(finding(Level::Error, None, format!("{error}; {}", error.help())));
    }
    // Line by line the same, but with the places of values as bash will see them.
    let text = template.as_ref().map_or(text, Template::text);
    syntax(text, &mut found);
    programs(text, manifest, &mut found);
    shellcheck(text, &mut found);
    found.sort_by_key(|finding| (finding.level, finding.line));
    let more = found.len().saturating_sub(MAX_FINDINGS);
    found.truncate(MAX_FINDINGS);
    if more > 0 {
        found.push(finding(Level::Info, None, format!("{more} more findings")));
    }
    found
}

fn syntax(text: &str, found: &mut Vec<Objection>) {
    match tool("/bin/bash", &["--noprofile", "--norc", "-n"], text) {
        Ran::Ended(Called { ok: true, .. }) => {}
        Ran::Ended(Called { stderr, .. }) => {
            // `bash: line 3: syntax error …`
            let first = stderr.lines().next().unwrap_or("bash cannot read it");
            let line = first.split("line ").nth(1).and_then(|rest| rest.split(':').next()).and_then(|n| n.parse().ok());
            found.push(finding(Level::Error, line, first.to_owned()));
        }
        Ran::TooLong => found.push(finding(Level::Error, None, "bash does not come to an end reading it")),
        Ran::Missing => found.push(finding(Level::Warning, None, "there is no /bin/bash to check its syntax")),
    }
}

/// What it uses, as far as that can be read, and what its manifest gives: both ways.
fn programs(text: &str, manifest: &Manifest, found: &mut Vec<Objection>) {
    let given = &manifest.capabilities;
    for name in &given.commands {
        if tables::runs_of(name) != Runs::Nothing {
            let message =
                format!("`{name}` can run other programs or code: whoever approves it approves all that it can do");
            found.push(finding(Level::Warning, None, message));
        } else if tables::row(name).is_none() {
            let message =
                format!("`{name}` is not known here: it may run other programs, or what an option of it names");
            found.push(finding(Level::Warning, None, message));
        }
    }
    let reachable = || given.paths_read.iter().chain(&given.paths_write);
    match Listed::of("/bin/bash", &given.commands, given.network) {
        Err(error) => found.push(finding(Level::Error, None, format!("{error}; {}", error.help()))),
        // What is given cannot be executed.
        Ok(listed) => {
            for place in reachable().filter(|place| listed.names().any(|name| Path::new(name).starts_with(place))) {
                let message = format!("{place:?} holds programs that it may run; give folders below it");
                found.push(finding(Level::Error, None, message));
            }
        }
    }
    for place in reachable() {
        if let Some(link) = Path::new(place).ancestors().find(|above| above.is_symlink()) {
            let message = format!("{place:?} goes through the link {}; name where it leads", link.display());
            found.push(finding(Level::Error, None, message));
        }
    }
    if let Some(folder) =
        manifest.working_directory.as_ref().filter(|folder| !reachable().any(|place| is_below(folder, place)))
    {
        let message = format!("it starts in {folder:?}, which it may neither read nor write");
        found.push(finding(Level::Error, None, message));
    }
    for place in reachable().filter(|place| !Path::new(place).exists()) {
        found.push(finding(Level::Warning, None, format!("{place:?} is not there")));
    }
    let used = match Used::of(text, manifest.working_directory.clone()) {
        Ok(used) => used,
        Err(why) => {
            let message = format!("which programs it uses cannot be told: {why}");
            found.push(finding(Level::Info, None, message));
            return;
        }
    };
    for name in used.programs.iter().filter(|name| !given.commands.contains(name)) {
        found.push(finding(Level::Warning, None, format!("it uses `{name}`, which is not among its commands")));
    }
    if let Some(why) = used.network.as_ref().filter(|_| !given.network) {
        found.push(finding(Level::Warning, None, format!("it looks as if it needs network: {why}")));
    }
    undeclared_places(&used.effects, manifest, found);
    // A program that starts others may need what no text names.
    let starts_others = used
        .programs
        .iter()
        .any(|name| tables::row(name).is_none_or(|row| row.runs != Runs::Nothing || !row.starts.is_empty()));
    if used.is_open || starts_others {
        return;
    }
    for name in given.commands.iter().filter(|name| !used.programs.contains(*name)) {
        found.push(finding(Level::Info, None, format!("it may run `{name}` and does not")));
    }
    if given.network && used.network.is_none() {
        found.push(finding(Level::Info, None, "it has network, and nothing in it reaches the network"));
    }
    for (what, folder) in
        given.paths_read.iter().map(|path| ("read", path)).chain(given.paths_write.iter().map(|path| ("write", path)))
    {
        let is_named = used.places().any(|path| is_below(path, folder) || is_below(folder, path));
        // Where values come in, any place may be meant.
        if manifest.variables.is_empty() && !is_named {
            found.push(finding(Level::Info, None, format!("it may {what} {folder:?} and does not name it")));
        }
    }
}

/// True where nothing is found that keeps it from running.
pub fn can_run(found: &[Objection]) -> bool {
    !found.iter().any(|finding| finding.level == Level::Error)
}

/// Places outside of what it may reach.
fn undeclared_places(effects: &Effects, manifest: &Manifest, found: &mut Vec<Objection>) {
    let given = &manifest.capabilities;
    let own = |all: &[&'static str]| all.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let writable = [given.paths_write.clone(), own(OWN)].concat();
    let readable = [given.paths_read.clone(), given.paths_write.clone(), own(THERE)].concat();
    for (does, may, paths, there) in
        [("writes", "write", &effects.writes, writable), ("reads", "read", &effects.reads, readable)]
    {
        let is_there = |path: &String| there.iter().any(|folder| is_below(path, folder));
        for path in paths.iter().filter(|path| path.starts_with('/') && !is_there(path)) {
            let message = format!("it {does} {path:?}, which is not among what it may {may}");
            found.push(finding(Level::Warning, None, message));
        }
    }
}

/// One remark of `shellcheck --format json1`.
#[derive(Deserialize)]
struct Remark {
    line: u64,
    level: String,
    code: u64,
    message: String,
}

#[derive(Deserialize)]
struct Remarks {
    comments: Vec<Remark>,
}

/// A script cannot silence it: its directives are made into plain comments, and settings files are not read.
fn shellcheck(text: &str, found: &mut Vec<Objection>) {
    let mut plain = String::with_capacity(text.len());
    for (number, line) in (1_u64..).zip(text.split_inclusive('\n')) {
        match line.split_once('#').filter(|(_, comment)| comment.trim_start().starts_with("shellcheck ")) {
            Some((before, comment)) => {
                let message = "it tries to silence shellcheck here; everything is reported all the same";
                found.push(finding(Level::Warning, Some(number), message));
                plain.push_str(&format!("{before}#{}", comment.replacen("shellcheck", "a remark to shellcheck", 1)));
            }
            None => plain.push_str(line),
        }
    }
    match tool("/usr/bin/shellcheck", &["--norc", "--shell=bash", "--format=json1", "-"], &plain) {
        Ran::Ended(Called { stdout, stderr, .. }) => {
            let Ok(remarks) = serde_json::from_str::<Remarks>(&stdout) else {
                let why = stderr.lines().next().unwrap_or("it says nothing").to_owned();
                return found.push(finding(Level::Warning, None, format!("shellcheck fails on it: {why}")));
            };
            let is_ours = |remark: &Remark| remark.code == UNASSIGNED && remark.message.contains(template::PREFIX);
            found.extend(remarks.comments.into_iter().filter(|remark| !is_ours(remark)).map(|remark| {
                // What it calls an error may be its own misunderstanding; `bash -n` decides that.
                let level =
                    if matches!(remark.level.as_str(), "error" | "warning") { Level::Warning } else { Level::Info };
                finding(level, Some(remark.line), format!("SC{}: {}", remark.code, remark.message))
            }));
        }
        Ran::TooLong => {
            let message = format!("shellcheck does not come to an end within {} s", TIME.as_secs());
            found.push(finding(Level::Warning, None, message));
        }
        Ran::Missing => {
            let message = "shellcheck is not installed; apt-get install shellcheck";
            found.push(finding(Level::Info, None, message));
        }
    }
}

enum Ran {
    Ended(Called),
    TooLong,
    Missing,
}

/// Lets a program read a hostile text: within limits, with nothing in its environment.
fn tool(program: &str, arguments: &[&str], input: &str) -> Ran {
    if !Path::new(program).exists() {
        return Ran::Missing;
    }
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("LC_ALL", "C.UTF-8").current_dir("/");
    let resources = vec![(libc::RLIMIT_AS, MEMORY), (libc::RLIMIT_FSIZE, 0), (libc::RLIMIT_CPU, TIME.as_secs())];
    let limits = Limits { output: MAX_OUTPUT, time: Some(TIME), stop: None, grace: None, resources };
    match called::call(command, input, limits) {
        Ok(called) if called.cut_short || called.killed => Ran::TooLong,
        Ok(called) => Ran::Ended(called),
        Err(_) => Ran::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str, change: impl FnOnce(&mut Manifest)) -> Vec<String> {
        let mut manifest = Manifest::named("test");
        change(&mut manifest);
        validate(text, &manifest).into_iter().map(|found| format!("{:?} {}", found.level, found.message)).collect()
    }

    #[test]
    fn what_is_wrong_is_said() {
        let has =
            |found: &[String], want: &str| assert!(found.iter().any(|one| one.contains(want)), "{want}: {found:?}");
        has(&messages("if true; then", |_| ()), "line 2: syntax error");
        has(&messages("tar -cf x y", |_| ()), "uses `tar`, which is not among");
        has(&messages("curl -s https://example.com", |_| ()), "needs network");
        has(
            &messages("ls", |m| m.capabilities.commands = vec!["python3".to_owned()]),
            "`python3` can run other programs",
        );
        has(&messages("ls", |m| m.capabilities.commands = vec!["nosuch".to_owned()]), "Error the program `nosuch`");
        let may = |read: &[&str], write: &[&str], run: &[&str]| {
            let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            let (read, write, run) = (texts(read), texts(write), texts(run));
            move |m: &mut Manifest| {
                (m.capabilities.paths_read, m.capabilities.paths_write, m.capabilities.commands) = (read, write, run);
            }
        };
        has(&messages("cat /srv/a > /srv/b/x", may(&[], &[], &["cat"])), "it reads \"/srv/a\", which is not among");
        has(
            &messages("cat /srv/a > /srv/b/x", may(&["/srv"], &[], &["cat"])),
            "it writes \"/srv/b/x\", which is not among",
        );
        has(&messages("cat /srv/a", may(&["/srv/a"], &[], &["cat", "wc"])), "Info it may run `wc` and does not");
        has(&messages("cat /srv/a", may(&["/srv/a", "/srv/b"], &[], &["cat"])), "Info it may read \"/srv/b\"");
        has(&messages("cat /srv/a", may(&["/srv/a"], &["/srv/w"], &["cat"])), "Info it may write \"/srv/w\"");
        has(&messages("echo x", |m| m.capabilities.network = true), "Info it has network, and nothing");
        has(&messages("ls", may(&[], &[], &["true", "pandoc"])), "`pandoc` is not known here");
        has(&messages("ls", may(&["/srv/nosuch"], &[], &["ls"])), "Warning \"/srv/nosuch\" is not there");
        has(&messages("ls", may(&["/usr"], &[], &["ls"])), "Error \"/usr\" holds programs");
        has(&messages("ls", may(&["/bin"], &[], &["ls"])), "Error \"/bin\" goes through the link /bin");
        has(&messages("ls", |m| m.working_directory = Some("/srv".to_owned())), "Error it starts in \"/srv\"");
        let folder = tempfile::tempdir_in("/srv").unwrap();
        let here = folder.path().to_str().unwrap();
        let exact = messages(&format!("cat {here}/x > {here}/y"), may(&[], &[here], &["cat"]));
        assert!(exact.is_empty(), "{exact:?}");
        has(&messages("eval ${x}", |m| m.variables = vec!["x".to_owned()]), "Error a value could become code");
        let clean = messages("f() { printf '%s\\n' \"$1\"; }\nf \"${x}\"\n", |m| m.variables = vec!["x".to_owned()]);
        assert!(clean.is_empty(), "{clean:?}");
    }
}
