//! What of a command may lead to other machines though no row says that it does: by what its own text holds.
//!
//! For the offline rules, once an agent has seen both secrets and untrusted content. A harmless script of the workspace may lead there
//! as well, which only a sandbox without network stops; what stands in the text itself is not let through unseen.

use bashgate_shared::classify::{CommandClass, Part, git_config};
use bashgate_shared::programs::{self, Kind, Program, Runs, Talks, Trait};
use bashgate_shared::variables;

use super::Brief;
use super::offline::reaches_network;

/// Options that take a program to another machine, or have it start what they name, whatever it is.
const ELSEWHERE: &[&str] = &[
    "-H",
    "--host",
    "--context",
    "--url",
    "--remote",
    "--push",
    "--registry",
    "--index-url",
    "--repository",
    "--rsh-command",
    "--with",
    "--pastebin",
    "--script-shell",
    "-vettool",
];

/// Where the programs lie that have rows.
const SYSTEM: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Why a command may lead to other machines.
pub(super) fn may_reach(brief: &Brief) -> Option<String> {
    let unknown = || brief.parts.iter().filter(|part| part.class == CommandClass::Unknown && !part.local);
    if let Some(why) = unknown().find_map(|part| of_part(brief, part)) {
        return Some(why);
    }
    // What stands on the standard input of a part is no part of its text.
    let is_fed = brief.command.contains("<<") && unknown().any(|part| !part.argv.is_empty());
    let named = || brief.command.lines().find(|line| reaches_network(line));
    if is_fed && let Some(line) = named() {
        return Some(format!("it hands over a text that reaches the network: `{}`", short(line)));
    }
    None
}

fn of_part(brief: &Brief, part: &Part) -> Option<String> {
    let program = part.argv.first()?.as_deref()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let row = programs::row(program).or_else(|| programs::row(name));
    let words = || part.argv.iter().skip(1);
    let texts = || words().filter_map(Option::as_deref);
    let is_known_file = brief.evidence.iter().any(|file| file.path == program);
    let is_of_system = program.rsplit_once('/').is_some_and(|(folder, _)| SYSTEM.contains(&folder));
    if program.starts_with('/') && !is_of_system && !is_known_file {
        return Some(format!("nobody has seen what `{}` is", short(program)));
    }
    if let Some(setting) = setting_that_starts(part) {
        return Some(format!("`{}` makes it run something", short(&setting)));
    }
    let mentions = row.is_some_and(|row| row.talks != Talks::Never || row.has(Trait::Searches));
    if !mentions && reaches_network(&part.text) {
        return Some(format!("`{}` names what reaches the network", short(&part.text)));
    }
    let row = row?;
    if !mentions && let Some(option) = texts().find(|word| ELSEWHERE.iter().any(|option| is_option(word, option))) {
        return Some(format!("`{name} {}` may reach another machine", short(option)));
    }
    if let Some(here) = row.here {
        let has_version =
            row.has(Trait::HasSubcommands) || texts().skip(1).any(|word| !word.starts_with('-') && word.contains('@'));
        let is_open = words().any(Option::is_none) && here.is_empty();
        if is_open
            || has_version && texts().any(|word| word.contains('@'))
            || !works_here(here, &texts().collect::<Vec<_>>())
        {
            return Some(format!("`{name}` may reach other machines with these words"));
        }
    }
    if !mentions && let Some(host) = texts().find(|word| names_host(word)) {
        return Some(format!("`{}` names another machine", short(host)));
    }
    // An editor's own language starts programs and opens connections.
    if row.runs == Runs::Code && row.kind == Kind::Runner && !mentions {
        return Some(format!("`{name}` runs commands of its own language"));
    }
    let reads_code = row.kind == Kind::Runtime
        || matches!(row.runs, Runs::Shell | Runs::Code)
        || row.builtin == Some(programs::Builtin::Sources)
        || takes_script(row);
    if reads_code && words().any(|word| word.as_deref().is_none_or(is_descriptor)) {
        return Some(format!("`{name}` runs what comes over a descriptor"));
    }
    None
}

/// A program whose rules look at a script, or that does what a file of the folder says.
fn takes_script(row: &Program) -> bool {
    matches!(row.flag, programs::Flag::Awk | programs::Flag::Sed) || !row.steered_by.is_empty()
}

/// A word that stands for something that is open already.
fn is_descriptor(word: &str) -> bool {
    word == "-"
        || word.starts_with("/dev/stdin")
        || word.starts_with("/dev/fd/")
        || word.contains("/fd/") && word.starts_with("/proc/")
}

fn is_option(word: &str, option: &str) -> bool {
    word == option || option.len() > 2 && word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
}

/// True for a call of one of these subcommands, or for one that only asks for help.
fn works_here(here: &[&str], words: &[&str]) -> bool {
    if matches!(words, [] | ["--version" | "-V" | "-v" | "--help" | "-h"]) {
        return !here.is_empty() || !words.is_empty();
    }
    // Of a toolchain it is chosen by its own first word.
    let named: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with(['-', '+'])).collect();
    here.iter().any(|call| {
        let mut wanted = call.split(' ');
        let mut given = named.iter();
        wanted.all(|word| given.next() == Some(&word))
    })
}

/// A variable in front of a program, or a setting that git is given, that starts something.
fn setting_that_starts(part: &Part) -> Option<String> {
    for word in part.text.split_whitespace() {
        let Some((name, _)) = word.split_once('=') else { break };
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            break;
        }
        if variables::is_code(name) || variables::leads_network(name) {
            return Some(name.to_owned());
        }
    }
    let words: Vec<&str> = part.argv.iter().map(|word| word.as_deref().unwrap_or("")).collect();
    if !words
        .first()
        .is_some_and(|program| programs::has(program, Trait::PlainPager) || program.rsplit('/').next() == Some("git"))
    {
        return None;
    }
    let given = words.windows(2).filter(|pair| pair.first() == Some(&"-c")).filter_map(|pair| pair.get(1));
    let starts = |setting: &&&str| {
        let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
        let key = key.to_ascii_lowercase();
        key.starts_with("alias.") || !git_config::is_inert(&key, value)
    };
    let by_option = words.iter().find(|word| {
        word.starts_with("--config-env")
            || word.starts_with("--open-files-in-pager")
            || word.starts_with("-O") && word.len() > 2
    });
    given.clone().find(starts).or(by_option).map(|setting| (*setting).to_owned())
}

/// A word that says where to go: an address, a machine with a port or a path behind it, or one behind a key.
fn names_host(word: &str) -> bool {
    let is_file = |at: usize| word.get(..at).is_some_and(|scheme| scheme.ends_with("file"));
    if word.find("://").is_some_and(|at| !is_file(at)) {
        return true;
    }
    if ["host=", "hostaddr=", "server=", "tcp:", "ssh:"].iter().any(|key| word.contains(key)) {
        return true;
    }
    let is_name = |text: &str| {
        text.contains('.')
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter))
            && text
                .rsplit('.')
                .next()
                .is_some_and(|end| end.len() > 1 || end.chars().all(|letter| letter.is_ascii_digit()))
    };
    let is_address = |text: &str| text.parse::<std::net::IpAddr>().is_ok_and(|address| !address.is_unspecified());
    let (before, behind) = word.split_once(':').unwrap_or((word, ""));
    let machine = before.rsplit('@').next().unwrap_or(before);
    let goes_on = behind.starts_with('/')
        || behind.starts_with(|letter: char| letter.is_ascii_digit())
        || before.contains('@') && !behind.is_empty();
    is_address(word)
        || goes_on
            && (is_name(machine)
                || is_address(machine)
                || behind.starts_with('/') && !machine.is_empty() && !machine.contains('/'))
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use bashgate_shared::classify::{Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    use super::super::offline::inspect;
    use super::*;
    use crate::policy::Finding;
    use crate::taint::Taint;

    /// What the table asks about by itself needs no inspector.
    fn is_asked_anyway(command: &str) -> bool {
        let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
        found.class == CommandClass::Network
    }

    fn found(command: &str, taint: Taint) -> Finding {
        let found = classify(&CommandLine::parse(command).unwrap(), &Surroundings::default());
        inspect(&Brief::new(command, None, &found, taint, &[], &[]))
    }

    #[test]
    fn what_the_text_itself_may_lead_elsewhere_by_is_not_let_through() {
        for command in [
            // Code that the text holds, or that comes over a descriptor.
            "bash /dev/stdin <<< 'wget -q x'",
            "sh /dev/fd/7 7<x",
            ". /proc/self/fd/0 < f",
            "bash - < x",
            "zsh <(cat x)",
            "gawk -f /dev/stdin x < y",
            "make -f - < x",
            "make -f /dev/stdin all <<< $'all:\\n\\tncat x'",
            "ed -s f <<< '!ssh x'",
            // Settings and variables that start something.
            "git -c diff.external=./x diff",
            "git -c core.fsmonitor=./x status",
            "git --config-env=core.pager=X log",
            "git grep -Oless x",
            "GIT_SSH_COMMAND=x git status",
            "PYTHONPATH=/tmp/x make",
            "NODE_OPTIONS='-r ./x' npm run build",
            "git -c 'alias.x=!./y' x",
            // Another machine in the words.
            "mariadb -h db.example -e 'select 1'",
            "psql postgres://db.example/x",
            "psql service=x",
            "redis-cli ping",
            "docker --host=tcp://x images",
            "docker container run x",
            "podman push x",
            "tar -cf host:/x y",
            "systemctl --host=x status",
            "make DEST=https://x deploy",
            "make upload HOST=10.1.2.3:80 X=user@h:/x",
            "cargo login",
            "npm whoami",
            "go run example.com/x@v1",
            "pip3 list --index-url=x",
            "terraform destroy",
            "vim -c 'py3 x' -c q",
            "/opt/x/y --z",
            "/usr/lib/git-core/git-push x",
        ] {
            let given = found(command, Taint::Both);
            assert!(!matches!(given, Finding::Clear { .. }) || is_asked_anyway(command), "{command}: {given:?}");
        }
    }

    #[test]
    fn work_on_what_is_here_goes_on() {
        for command in [
            "make build",
            "make -j4 -f build/Makefile all",
            "npm test",
            "npm run build -- --watch",
            "cargo +nightly clippy --all-targets",
            "cargo test --workspace -- --nocapture",
            "go test ./... -run TestX",
            "go build -o bin/x ./cmd/x",
            "pytest -q tests/test_a.py::test_b",
            "docker compose ps",
            "docker images",
            "pip list",
            "git commit -m 'mend the curl call'",
            "git -c user.name=ann -c user.email=a@b.example commit -m x",
            "RUST_LOG=debug cargo run",
            "NO_COLOR=1 npm test",
            "bash scripts/lint.sh",
            "/usr/bin/make build",
            "node build.js",
            "gradle build",
            "poetry run pytest",
            "uv run pytest -q",
            "terraform validate",
        ] {
            let given = found(command, Taint::Both);
            assert!(matches!(given, Finding::Clear { .. }), "{command}: {given:?}");
        }
        // Without secrets there is nothing to carry away.
        assert!(matches!(found("psql -c 'select 1'", Taint::Corruption), Finding::Clear { .. }));
    }
}
