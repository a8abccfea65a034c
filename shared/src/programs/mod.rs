//! What bashgate knows about programs: one row for each, with every fact that any rule asks for. Nothing else of the
//! project names two of them in one list.
//!
//! The rows stand in families, as the documentation lists them. A program that is in no row is Unknown. The examples of
//! every row run as tests.

mod addresses;
mod build;
mod builtins;
mod containers;
mod copies;
mod coreutils;
mod databases;
pub mod dependencies;
mod editors;
mod files;
pub(crate) mod git;
pub mod handed_out;
mod index;
mod keepers;
mod languages;
mod launchers;
mod machine;
mod network;
pub mod own;
mod packages;
pub mod reaches;
mod request;
mod row;
mod scripts;
mod search;
pub mod settings;
mod shells;
mod system;
mod text;
mod wrappers;

pub(crate) use row::Rule;
pub use row::{
    Builtin, Flag, Form, Kind, Needs, Operands, Program, Reach, Runs, SSH, Subcommand, Talks, TellsVersion, Terminal,
    Trait, Wrapper,
};

pub(crate) use addresses::{files_in_address, hosts_in_words};
pub use build::{MADE_FROM, MAKE_FUNCTIONS, MAKE_VARIABLES, is_outward};
pub use builtins::CHANGE_FOLDER;
pub(crate) use copies::{Copies, made_by, only_read};
pub use files::{names_its_input, writes_as_told};
pub(crate) use git::ends_by_state as git_ends_by_state;
pub use git::{
    GIT_HOOKS_OF_WORK, Leaves, Untracked, brings_files, brings_from_remote, checks_out, does_to_folders, git_hooks,
    is_git, is_git_hook, leaves, may_leave_files, moves, opens_editor, opens_no_file, records, starts_hook,
    takes_only_paths,
};
pub use languages::{
    COMMANDS_OF_PACKAGES, LOAD_BESIDE, ONLY_WORKED_ON, SHELL_ENDING, is_label_of_command, loads_where_it_starts,
    only_checks, own_operands, runs_behind, takes_what_it_runs,
};
pub(crate) use network::asks_this_machine;
pub use network::{credential_in, percent_decoded};
pub(crate) use network::{host_in, is_this_machine};
pub use request::Request;
pub(crate) use search::found_by;

use crate::classify::judge::{Judge, Judgement};
use crate::classify::paths;

/// Every family, in the order in which the documentation lists them.
pub const FAMILIES: &[(&str, &[Program])] = &[
    ("Shell builtins", builtins::TABLE),
    ("Files and folders", coreutils::TABLE),
    ("Changing files", files::TABLE),
    ("The machine", machine::TABLE),
    ("Changing the machine", system::TABLE),
    ("Text", text::TABLE),
    ("Searching", search::TABLE),
    ("Programs with a script", scripts::TABLE),
    ("Editors and pagers", editors::TABLE),
    ("Shells", shells::TABLE),
    ("Wrappers", wrappers::TABLE),
    ("Programs that start others", launchers::TABLE),
    ("Git", git::TABLE),
    ("Languages", languages::TABLE),
    ("Databases", databases::TABLE),
    ("Building and testing", build::TABLE),
    ("Packages", packages::TABLE),
    ("Containers", containers::TABLE),
    ("Network", network::TABLE),
    ("Keepers of secrets", keepers::TABLE),
];

/// Calls of git that are local where its configuration is inert, and calls that are not.
pub const GIT_EXAMPLES: &[(&str, bool)] = git::EXAMPLES;

/// The row of the program that is called by this word: a name, or a path that ends in one.
pub fn row(program: &str) -> Option<&'static Program> {
    let name = paths::file_name(program);
    index::find(name).or_else(|| {
        // `python3.11`, `python3`.
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if bare == name { None } else { index::find(bare).filter(|row| row.versioned) }
    })
}

/// Everything of this kind that a row says about a program, or the default for one without a row.
fn fact<T>(program: &str, of: impl FnOnce(&'static Program) -> T, otherwise: T) -> T {
    row(program).map_or(otherwise, of)
}

/// The kind of the program of this name, if it has a row.
pub fn kind_of(program: &str) -> Option<Kind> {
    row(program).map(|row| row.kind)
}

/// Whether and how this program runs code, or another program, as far as is known.
pub fn runs_of(program: &str) -> Runs {
    fact(program, |row| row.runs, Runs::Nothing)
}

/// What this program is to the shell itself, when it answers to the name.
pub fn builtin_of(program: &str) -> Option<Builtin> {
    // A path is never the shell's own.
    if program.contains('/') { None } else { fact(program, |row| row.builtin, None) }
}

/// True for a name that bash itself answers to.
pub fn is_builtin(program: &str) -> bool {
    builtin_of(program).is_some()
}

/// True for a builtin that every shell has. Of others, a shell that lacks them starts a program of that name.
pub fn is_in_every_shell(program: &str) -> bool {
    fact(program, |row| row.in_every_shell, false)
}

/// True when its row says so.
pub fn has(program: &str, of: Trait) -> bool {
    fact(program, |row| row.has(of), false)
}

/// True for an option by which a program that takes a script changes the files that stand behind it (`sed -i`).
pub fn says_in_place(option: &str) -> bool {
    option.starts_with("-i") || option.starts_with("--in")
}

/// True for a variable that some program's row knows to steer it.
pub fn is_steered_by(variable: &str) -> bool {
    FAMILIES.iter().flat_map(|(_, rows)| rows.iter()).any(|row| row.environment.contains(&variable))
}

/// True for a file that says what runs and that a package manager writes anew at its work, as npm does `package.json`.
pub fn is_a_managers_own(path: &str) -> bool {
    packages::TABLE.iter().any(|row| row.steered_by.contains(&paths::file_name(path)))
}

/// The family of the program of this name.
pub fn family_of(program: &str) -> Option<&'static str> {
    let found = row(program)?;
    FAMILIES.iter().find(|(_, rows)| rows.iter().any(|row| row.names == found.names)).map(|(family, _)| *family)
}

/// True for a call that may end the text before its end, or have it end there: `exit`, `set -e`, and what runs a text of its own. Also for what
/// sets how the shell ends by itself, and which variables cannot be set any more.
pub(crate) fn may_leave(argv: &[Option<String>]) -> bool {
    const LEAVES: &[&str] = &[
        "exit", "return", "break", "continue", "exec", "logout", "kill", "shopt", "readonly", "declare", "typeset",
        "local", "ulimit", "trap", "set", "eval",
    ];
    let Some((Some(program), words)) = argv.split_first() else { return false };
    let leaves = |name: &str| LEAVES.contains(&name) || shells::TABLE.iter().any(|row| row.names.contains(&name));
    match program.as_str() {
        "set" => !words.is_empty(),
        "builtin" | "command" => words.iter().any(|word| word.as_deref().is_none_or(leaves)),
        name => leaves(name),
    }
}

/// True for a builtin that speaks, or goes somewhere, and opens no file.
pub fn opens_nothing(name: &str) -> bool {
    matches!(builtin_of(name), Some(Builtin::Text | Builtin::Format | Builtin::GoesTo))
}

/// True for a program that runs what its words say once, whatever it finds.
pub(crate) fn runs_words_once(name: &str) -> bool {
    const ONCE: &[&str] =
        &["timeout", "gtimeout", "env", "nohup", "time", "command", "stdbuf", "setsid", "chrt", "taskset"];
    ONCE.contains(&paths::file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Classification, CommandClass, Condition, Decided, Surroundings, classify};
    use crate::command::CommandLine;

    fn found(command: &str) -> Classification {
        classify(&CommandLine::parse(command).unwrap(), &Surroundings::default())
    }

    fn rows() -> impl Iterator<Item = &'static Program> {
        FAMILIES.iter().flat_map(|(_, rows)| rows.iter())
    }

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
                        let stands = if safe { "safe" } else { "not_safe" };
                        let is = (found.class, found.decided, &found.conditions);
                        assert_eq!(
                            safe_as_it_is, safe,
                            "{family}: `{example}` stands in `{stands}` and is {is:?}: {}",
                            found.reason
                        );
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

    #[test]
    fn a_name_means_one_row() {
        let all: Vec<&str> = rows().flat_map(|row| row.names.iter().copied()).collect();
        for name in &all {
            let fits = |other: &&&str| other.strip_suffix('*').map_or(*other == name, |start| name.starts_with(start));
            assert_eq!(all.iter().filter(fits).count(), 1, "{name}");
        }
    }

    #[test]
    fn facts_of_one_row_do_not_contradict_each_other() {
        for row in rows() {
            let runs = row.runs != Runs::Nothing || row.builtin.is_some() || !row.steered_by.is_empty();
            let name = row.names[0];
            assert!(
                runs || !matches!(row.kind, Kind::Runner | Kind::Launcher | Kind::Runtime),
                "{name} runs something"
            );
            assert!(row.kind != Kind::Runtime || row.runs == Runs::Code, "{name} is a language");
            assert!(row.safe.is_empty() || !matches!(row.rule, Rule::Never(_)), "{name} is never proven");
            assert_eq!(
                matches!(row.rule, Rule::Forms),
                row.subcommands.iter().all(|of| of.form.is_some()) && !row.subcommands.is_empty(),
                "{name}"
            );
            let twice = |words: &str| row.subcommands.iter().filter(|of| of.words == words).count() > 1;
            assert!(!row.subcommands.iter().any(|of| twice(of.words)), "{name} has a subcommand twice");
            let network = row.subcommands.iter().any(|of| of.reach != Reach::Local);
            assert!(!network || row.kind != Kind::Local, "{name} reaches the network");
        }
    }

    /// Programs that load or do more before they tell their version have no such fact: npm, yarn, pnpm and tsc, whose shims
    /// read which version `package.json` names; go, which looks for `go.mod` above the folder as the shell names it; pip,
    /// which opens a socket to see whether there is IPv6; mvn, dotnet, pytest, terraform, gh.
    #[test]
    fn exactly_the_arguments_of_a_row_ask_for_a_version_alone() {
        for (row, version) in rows().filter_map(|row| Some((row, row.version?))) {
            for (name, argument) in row.names.iter().flat_map(|name| version.arguments.iter().map(move |of| (name, of)))
            {
                let call = format!("{name} {argument}");
                let (class, decided) = if version.chosen_by.is_empty() {
                    (CommandClass::Safe, Decided::Local)
                } else {
                    (CommandClass::Unknown, Decided::LocalIf)
                };
                assert_eq!((found(&call).class, found(&call).decided), (class, decided), "{call}");
                for more in [format!("{call} x"), format!("{call} \"$x\""), format!("./{call}"), format!("{call}x")] {
                    assert_eq!(found(&more).decided, Decided::Host, "{more}");
                }
            }
        }
        assert_eq!(found("python3.11 --version").decided, Decided::Local);
        let names = ["rust-toolchain", "rust-toolchain.toml"].map(str::to_owned).to_vec();
        let wants = [Condition::NoFileAbove { folder: "sub".to_owned(), names }];
        assert_eq!(found("cd sub && cargo -V").conditions, wants);
        for command in [
            "cd \"$x\" && cargo -V",
            "touch ../rust-toolchain && cargo -V",
            "PYENV_VERSION=../../x python --version",
            "npm --version",
            "pip --version",
            "go version",
            "cargo -vV",
        ] {
            assert_eq!(found(command).decided, Decided::Host, "{command}");
        }
    }
}
