//! Shells. A script on the command line is read here, in the language that the shell shares with bash.

use super::{Flag, Judge, Judgement, Kind, Program, Rule, Runs, Terminal, Trait};
use crate::classify::call::{Arg, Call, Known};
use crate::shell::Shell;

/// Reads commands where neither a script nor `-c` is given, and where it is asked to.
const TERMINAL: Terminal = Terminal {
    valued: &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
    asked: ("is", &[]),
    settled: ("c", &["--version", "--help"]),
    operands: 1,
    runs_operand: true,
    ..Terminal::ALWAYS
};

/// Shells whose scripts are in the language that is read here.
const SPEAKS: &[Trait] = &[Trait::SpeaksShell];

const fn reads_files(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program::new(names, "runs a script", Kind::Runner, Rule::Custom(other))
        .traits(SPEAKS)
        .runs(Runs::Shell)
        .terminal(TERMINAL)
        .not_safe(not_safe)
}

/// Languages of their own: what they share with bash is read, and never proven.
const fn foreign(names: &'static [&'static str], kind: Kind, not_safe: &'static [&'static str]) -> Program {
    Program::new(names, "runs a script", kind, Rule::Custom(foreign_script))
        .runs(Runs::Shell)
        .terminal(TERMINAL)
        .not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    Program::new(&["bash"], "runs a script", Kind::Runner, Rule::Custom(bash))
        .traits(SPEAKS)
        .runs(Runs::Shell)
        .terminal(TERMINAL)
        .tells_version(&["--version"])
        .safe(&["bash -c 'ls -la'"])
        .not_safe(&["bash -c 'curl evil.com'", "bash script.sh", "bash", "bash -lc ls", "bash -i"]),
    Program::new(&["sh", "dash"], "runs a script", Kind::Runner, Rule::Custom(posix))
        .traits(SPEAKS)
        .runs(Runs::Shell)
        .terminal(TERMINAL)
        .safe(&["sh -c 'echo x | wc -c'"])
        .not_safe(&["sh -c \"$x\"", "curl x | sh", "sh -c \"echo $'x'\""]),
    reads_files(&["zsh"], &["zsh -c ls", "zsh x"]).tells_version(&["--version"]),
    reads_files(&["ksh", "mksh", "ash", "rbash"], &["ksh -c ls", "curl x | ksh"]),
    foreign(&["fish", "nu", "csh", "tcsh"], Kind::Runner, &["fish -c ls", "csh x"]),
    foreign(&["elvish", "posh", "sash", "yash"], Kind::Launcher, &["elvish x", "posh -c ls"]),
    Program::new(&["pwsh"], "runs arbitrary code", Kind::Runtime, Rule::Custom(super::languages::interpreter))
        .runs(Runs::Code)
        .flag(Flag::Always("runs code that is not read here"))
        .terminal(TERMINAL)
        .not_safe(&["pwsh -c ls"]),
    Program::new(&["busybox", "toybox"], "is many programs in one", Kind::Runner, Rule::Custom(applet))
        .runs(Runs::Behind(super::Wrapper::PLAIN))
        .not_safe(&["busybox wget x", "busybox ls", "busybox sh -c 'nc x 1'"]),
    Program::new(
        &["expect", "unbuffer"],
        "types into another program",
        Kind::Runner,
        Rule::Custom(super::wrappers::look_through),
    )
    .runs(Runs::Code)
    .terminal(Terminal { settled: ("c", &[]), operands: 1, past_input: true, ..Terminal::ALWAYS })
    .not_safe(&["expect x", "unbuffer curl x"]),
    Program::new(
        &["script"],
        "writes down what a shell shows",
        Kind::Runner,
        Rule::Custom(super::wrappers::look_through),
    )
    .runs(Runs::Shell)
    .terminal(Terminal { settled: ("c", &["--command"]), past_input: true, ..Terminal::ALWAYS })
    .not_safe(&["script -c 'curl x' y", "script x"]),
    Program::new(
        &["rlwrap"],
        "edits lines for another program",
        Kind::Launcher,
        Rule::Custom(super::wrappers::look_through),
    )
    .runs(Runs::Behind(super::Wrapper::PLAIN))
    .not_safe(&["rlwrap sh"]),
];

fn bash(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    shell(judge, call, Shell::Bash, Judgement::safe())
}

fn posix(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    shell(judge, call, Shell::Other, Judgement::safe())
}

/// Others read start-up files of their own even for a script on the command line.
fn other(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    shell(judge, call, Shell::Other, Judgement::unknown("this shell reads start-up files of its own"))
}

fn foreign_script(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    other(judge, call).max(super::wrappers::look_through(judge, call))
}

fn shell(judge: &mut Judge<'_>, call: &Call, kind: Shell, at_best: Judgement) -> Judgement {
    let mut judgement = at_best;
    let mut args = call.args.iter();
    let mut reads_input = false;
    while let Some(arg) = args.next() {
        let Some(text) = arg.exact() else {
            judge.runs_code(call, true, None);
            return Judgement::unknown("the script is only known when it runs")
                .max(judge.suspect(call, args.as_slice()));
        };
        // It ends the options, as `--` does.
        if text == "-" {
            let Some(file) = args.next() else { break };
            judge.runs_code(call, reads_input || file.exact().is_none(), file.exact());
            return Judgement::unknown("it runs a file whose content is not read here");
        }
        let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
            // Behind `-s` they are the script's words.
            if reads_input {
                break;
            }
            judge.runs_code(call, false, Some(text));
            return Judgement::unknown("it runs a file whose content is not read here");
        };
        if letters.starts_with('-') || letters == "O" {
            judgement = Judgement::unknown(format!("`{text}` is not on its list"));
            // Its value is no script.
            if TERMINAL.valued.contains(&text) {
                args.next();
            }
            continue;
        }
        // -e, -u and -o pipefail: how errors end it. -l, -i and others read start-up files first.
        if !letters.bytes().all(|letter| b"ceuo".contains(&letter)) {
            judgement = Judgement::unknown(format!("`{text}` changes what the shell does"));
        }
        if letters.contains('o')
            && !matches!(args.next().and_then(Arg::exact), Some("pipefail" | "errexit" | "nounset"))
        {
            judgement = Judgement::unknown("this option of the shell is not on its list");
        }
        reads_input |= !letters.starts_with('-') && letters.contains('s');
        if letters.contains('c') {
            judge.runs_code(call, false, None);
            let mut script = args.next();
            while script.is_some_and(|arg| arg.start().starts_with(['-', '+']) && arg.known == Known::Literal) {
                judgement = Judgement::unknown("an option behind `-c`");
                script = args.next();
            }
            return match script.map(Arg::exact) {
                // A here-document or pipe is still its standard input: `sh -c sh` would run it.
                Some(Some(script)) => judgement.max(judge.inner_script(script, kind)),
                Some(None) => Judgement::network("it runs a script that is only known when it runs"),
                None => Judgement::unknown("`-c` without a script"),
            };
        }
    }
    judge.runs_code(call, true, None);
    judge.mentioned_network();
    let fed = call.fed.as_deref().map_or_else(Judgement::safe, |script| judge.inner_script(script, kind));
    judgement.max(fed).max(Judgement::unknown("it runs whatever comes on its standard input"))
}

fn applet(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    // Its applets are not the programs that the rows mean, so none is Safe.
    Judgement::unknown("its applets take other options").max(judge.inner_call(&call.args, call))
}
