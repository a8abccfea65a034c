//! What bashgate knows about programs: one table per family, each row with its rule and examples for and against.
//!
//! A program that is in no table is Unknown. The examples of every row run as tests.

mod build;
mod builtins;
mod coreutils;
mod files;
mod git;
mod launchers;
mod machine;
mod network;
mod packages;
mod runtimes;
mod scripts;
mod search;
mod text;
pub mod versions;
pub(super) mod wrappers;

use super::call::{Arg, Call, Known, Options};
use super::judge::{Judge, Judgement};
use super::{CommandClass, Condition, paths, protected};

/// What kind of program it is, for rules that only see a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Works on what is here.
    Local,
    /// Runs another program or a script.
    Runner,
    /// Hands control to another program, and ordinary work seldom needs it.
    Launcher,
    /// Runs code of a language.
    Runtime,
    /// Reaches the network.
    Network,
    /// Depends on the subcommand.
    Mixed,
}

/// One row of a table.
pub struct Program {
    /// The names under which it is called.
    pub names: &'static [&'static str],
    /// What it does, for people.
    pub about: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// How its calls are judged.
    pub(super) rule: Rule,
    /// Calls that are Safe.
    pub safe: &'static [&'static str],
    /// Calls that are not.
    pub not_safe: &'static [&'static str],
}

/// How the calls of a program are judged.
pub(super) enum Rule {
    /// No option makes it run, send or write anything.
    Harmless(Operands),
    /// Only these options; any other makes the call Unknown.
    Listed(Options, Operands),
    /// A rule of its own.
    Custom(fn(&mut Judge<'_>, &Call) -> Judgement),
}

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Text, numbers, names of users: no files.
    Data,
    /// Files of which it tells names and sizes, never content.
    Names,
    /// Files whose content it shows.
    Files,
    /// At most one file whose content it shows; a second one would be written.
    OneFile,
    /// Files that it writes.
    Writes,
}

/// Every family, in the order in which the documentation lists them.
pub const FAMILIES: &[(&str, &[Program])] = &[
    ("Shell builtins", builtins::TABLE),
    ("Files and folders", coreutils::TABLE),
    ("Changing files", files::TABLE),
    ("The machine", machine::TABLE),
    ("Text", text::TABLE),
    ("Searching", search::TABLE),
    ("Programs with a script", scripts::TABLE),
    ("Wrappers and shells", wrappers::TABLE),
    ("Programs that start others", launchers::TABLE),
    ("Git", git::TABLE),
    ("Languages", runtimes::TABLE),
    ("Building and testing", build::TABLE),
    ("Packages", packages::TABLE),
    ("Network", network::TABLE),
];

/// Calls of git that are local where its configuration is inert, and calls that are not.
pub const GIT_EXAMPLES: &[(&str, bool)] = git::EXAMPLES;

/// Folders whose programs are the ones that the tables mean.
const SYSTEM_FOLDERS: &[&str] =
    &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// What bash does itself, whether a table has it or not.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// True for a name that bash itself answers to.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Languages whose programs carry a version in their name (`python3.11`).
const VERSIONED: &[&str] = &["python", "pip", "ruby", "perl", "php", "lua", "node", "nodejs", "tclsh", "awk"];

/// `python` for `python3.11`.
fn without_version(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if VERSIONED.contains(&bare) { bare } else { name }
}

/// True when this is the program, whatever version its name carries (`python3.11` for `python`).
pub fn is_program(name: &str, program: &str) -> bool {
    name == program || without_version(name) == program
}

fn row(name: &str) -> Option<&'static Program> {
    let find = |name: &str| FAMILIES.iter().flat_map(|(_, rows)| rows.iter()).find(|row| row.names.contains(&name));
    find(name).or_else(|| find(without_version(name)))
}

/// The kind of the program of this name, if a table has it.
pub fn kind_of(name: &str) -> Option<Kind> {
    row(name).map(|row| row.kind)
}

/// The family of tables that has the program of this name.
pub fn family_of(name: &str) -> Option<&'static str> {
    let found = row(name)?;
    FAMILIES.iter().find(|(_, rows)| rows.iter().any(|row| row.names == found.names)).map(|(family, _)| *family)
}

/// The name of the rule that judges a program, for people.
pub(super) fn rule_name(program: &str) -> String {
    let name = paths::file_name(program);
    if row(name).is_some() { name.to_owned() } else { "not in a table".to_owned() }
}

/// True for calls whose arguments are messages and patterns, so that a name in them is a mention, not a use.
pub(super) fn only_talks(call: &Call) -> bool {
    let first = call.args.iter().find_map(|arg| arg.exact().filter(|text| !text.starts_with('-')));
    match paths::file_name(&call.program) {
        "git" => matches!(first, Some("commit" | "tag" | "log" | "grep" | "notes" | "status" | "diff" | "show")),
        "gh" => true,
        _ => false,
    }
}

/// Judges a call by its program's row.
pub(super) fn judge(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = paths::file_name(&call.program);
    if name.starts_with("bashgate") {
        judge.tampering(name);
        return Judgement::unknown("only people and agents' hooks call the gate, not the agent");
    }
    if let Some((folder, _)) = call.program.rsplit_once('/')
        && !SYSTEM_FOLDERS.contains(&folder)
    {
        judge.runs_code(call, false, Some(&call.program));
        return match kind_of(name) {
            Some(Kind::Network | Kind::Runtime) => {
                by_row(judge, call, name).max(Judgement::network(format!("`{name}` in `{folder}`")))
            }
            Some(Kind::Runner | Kind::Launcher) => {
                by_row(judge, call, name).max(Judgement::unknown(format!("`{name}` in `{folder}`")))
            }
            _ => Judgement::unknown(format!("a program in `{folder}`, not one of the system's")),
        };
    }
    by_row(judge, call, name)
}

fn by_row(judge: &mut Judge<'_>, call: &Call, name: &str) -> Judgement {
    let Some(row) = row(name) else {
        if judge.was_fetched(name) {
            judge.runs_code(call, false, Some(name));
        }
        return Judgement::unknown(format!("`{name}` is not in the table of known programs"));
    };
    if let Some(judgement) = versions::judge(judge, call, name) {
        return judgement;
    }
    let takes_names = matches!(row.rule, Rule::Listed(..)) || NAMES_ARE_FILES.contains(&name);
    let named = if takes_names { without_dashes(judge, call) } else { None };
    let call = named.as_ref().unwrap_or(call);
    let judgement = match &row.rule {
        Rule::Custom(rule) => rule(judge, call),
        Rule::Harmless(operands) => {
            let scan = match ANY_OPTION.scan_loosely(&call.args) {
                Ok(scan) => scan,
                Err(reason) => return Judgement::unknown(reason),
            };
            let mut judgement = Judgement::safe();
            for (name, value) in &scan.options {
                if let Some(value) = value.as_ref().filter(|_| name.starts_with("--") && *operands == Operands::Files) {
                    judgement = judgement.max(judge.read(value));
                }
            }
            judgement.max(operands_of(judge, &scan.operands, *operands))
        }
        Rule::Listed(options, operands) => match options.scan(&call.args) {
            Ok(scan) => operands_of(judge, &scan.operands, *operands),
            Err(reason) => Judgement::unknown(reason),
        },
    };
    let Judgement { class, reason, local } = judgement;
    let reason = match reason {
        reason if reason.is_empty() => format!("`{name}` {}", row.about),
        reason if class > CommandClass::Safe && !reason.contains('`') => format!("`{name}`: {reason}"),
        reason => reason,
    };
    Judgement { class, reason, local }
}

/// Programs with rules of their own to which a name that does not start with a dash is a file and nothing else.
const NAMES_ARE_FILES: &[&str] = &["sed", "awk", "gawk", "mawk", "jq", "diff", "rg", "wc", "less", "more", "gofmt"];

/// The call with its patterns taken as `./*` instead of `*`, under the condition that no name there starts with a dash.
fn without_dashes(judge: &mut Judge<'_>, call: &Call) -> Option<Call> {
    let opens = |arg: &Arg| arg.known == Known::Words && arg.text.is_empty() && !arg.wanders;
    // Behind `--` nothing is an option.
    let before = call.args.iter().position(|arg| arg.exact() == Some("--")).unwrap_or(call.args.len());
    if !call.args.iter().take(before).any(opens) {
        return None;
    }
    for folder in judge.folders()? {
        judge.condition(Condition::NoDashNames { folder });
    }
    let mut named = call.clone();
    for arg in named.args.iter_mut().filter(|arg| opens(arg)) {
        "./".clone_into(&mut arg.text);
    }
    Some(named)
}

const ANY_OPTION: Options = Options { flags: "", values: "", long: &[] };

fn operands_of(judge: &mut Judge<'_>, operands: &[&Arg], kind: Operands) -> Judgement {
    let mut judgement = Judgement::safe();
    match kind {
        Operands::Data | Operands::Names => {}
        Operands::Files => {
            for operand in operands {
                judgement = judgement.max(judge.read(operand));
            }
        }
        Operands::OneFile => match operands {
            [] => {}
            [one] if one.is_one() => judgement = judge.read(one),
            _ => judgement = Judgement::unknown("with a second file it writes there"),
        },
        Operands::Writes => {
            for operand in operands {
                judgement = judgement.max(judge.write(operand));
            }
        }
    }
    judgement
}

/// Reads all operands behind the first `skip`; the shape of programs that take a pattern or script first.
pub(super) fn read_behind(judge: &mut Judge<'_>, operands: &[&Arg], skip: usize) -> Judgement {
    let mut judgement = Judgement::safe();
    for operand in operands.iter().skip(skip) {
        judgement = judgement.max(judge.read(operand));
    }
    judgement
}

/// Looks for a program behind words that are not read here, so that its effects are seen all the same. Never Safe.
pub(super) fn suspect(judge: &mut Judge<'_>, call: &Call, words: &[Arg]) -> Judgement {
    let mut judgement = Judgement::unknown("");
    let (mut looked_at, mut named) = (0, false);
    for (index, arg) in words.iter().enumerate() {
        let Some(text) = arg.exact() else { continue };
        let name = paths::file_name(text);
        // A lone dot is a folder far more often than the builtin. Where options are not read, the first word that
        // is no option is probably the program; later ones may be anything.
        let first = !named && !text.starts_with('-') && !text.contains('=');
        named |= first;
        let kind = kind_of(name).filter(|kind| text != "." && (first || *kind != Kind::Local));
        let runs = kind.is_some() || name.starts_with("bashgate");
        if looked_at < MAX_SUSPECTS && (runs || text.contains(' ')) {
            looked_at += 1;
            judgement = judgement.max(if runs {
                judge.inner_call(words.get(index..).unwrap_or(&[]), call)
            } else {
                judge.inner_script(text, crate::shell::Shell::Bash)
            });
        }
    }
    judgement
}

/// Most words that are looked at as programs or scripts.
const MAX_SUSPECTS: usize = 8;

/// True when a pattern for process names can reach the gate.
pub(super) fn reaches_gate(pattern: &Arg) -> bool {
    protected::reaches_gate_process(&pattern.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Surroundings, classify};
    use crate::command::CommandLine;

    #[test]
    fn every_example_of_every_row_holds() {
        for (family, rows) in FAMILIES {
            for row in *rows {
                for (examples, safe) in [(row.safe, true), (row.not_safe, false)] {
                    for example in examples {
                        let found = classify(&CommandLine::parse(*example).unwrap(), &Surroundings::default());
                        assert!(found.understood, "{family}: `{example}`: {}", found.reason);
                        let asked = |condition: &Condition| matches!(condition, Condition::NoDashNames { .. });
                        let safe_as_it_is = found.class == CommandClass::Safe && !found.conditions.iter().any(asked);
                        assert_eq!(safe_as_it_is, safe, "{family}: `{example}`: {}", found.reason);
                    }
                }
                assert!(!(row.safe.is_empty() && row.not_safe.is_empty()), "{:?} has no example", row.names);
            }
        }
    }

    #[test]
    fn no_name_stands_twice_and_none_is_a_reserved_word() {
        let mut seen = std::collections::HashSet::new();
        for name in FAMILIES.iter().flat_map(|(_, rows)| rows.iter()).flat_map(|row| row.names) {
            assert!(seen.insert(name), "{name} stands twice");
            let reserved = [
                "if", "then", "else", "fi", "do", "done", "case", "esac", "in", "for", "while", "until", "select",
                "function", "coproc", "{", "}", "!", "[[",
            ];
            assert!(!reserved.contains(name), "{name}");
        }
    }
}
