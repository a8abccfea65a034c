//! Programs that run another program: they are looked through.

use super::Trait;
use super::{Judge, Judgement, Kind, Program, Rule, Runs, Terminal, Wrapper, runs_of};
use crate::classify::call::{Arg, Call, Known, Options};
use crate::classify::judge::calls::Suspicion;
use crate::classify::{paths, secrets};
use crate::shell::Shell;

/// One whose options are all known, so that what stands behind them is judged as it is.
const fn transparent(names: &'static [&'static str], options: Options, operands: usize) -> Program {
    Program::new(names, "runs a program in another way", Kind::Runner, Rule::Custom(wrapper))
        .runs(Runs::Behind(Wrapper { options, operands, ..Wrapper::PLAIN }))
}

/// One that runs a program as somebody else, somewhere else, or in a way that is not read here.
const fn opaque(names: &'static [&'static str], wrapper: Wrapper) -> Program {
    let about = "runs a program as somebody else, somewhere else, or in a way that is not read here";
    Program::new(names, about, Kind::Runner, Rule::Custom(look_through)).runs(Runs::Behind(wrapper))
}

const fn with_values(values: &'static str) -> Wrapper {
    Wrapper { options: Options { values, ..Options::NONE }, ..Wrapper::PLAIN }
}

const SUDO: Wrapper = Wrapper { assigns: true, ..with_values("ughpCDRTU") };
const SUDO_TERMINAL: Terminal = Terminal {
    valued: &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"],
    asked: ("is", &["--shell", "--login"]),
    operands: 0,
    past_input: true,
    ..Terminal::ALWAYS
};

pub(super) const TABLE: &[Program] = &[
    Program::new(&["env"], "prints the environment, or runs a program in another one", Kind::Runner, Rule::Custom(env))
        .runs(Runs::Behind(Wrapper {
            options: Options { flags: "i0", values: "uC", long: &["--unset=", "--chdir="] },
            assigns: true,
            ..Wrapper::PLAIN
        }))
        .traits(&[Trait::PrintsEnvironment])
        .safe(&["env FOO=1 ls", "env -i ls"])
        .not_safe(&["env curl x", "env PATH=/x ls", "env -S 'curl x'"]),
    Program::new(&["printenv"], "prints the environment", Kind::Mixed, Rule::Custom(printenv))
        .traits(&[Trait::PrintsEnvironment])
        .safe(&["printenv HOME", "printenv | wc -l"]),
    transparent(
        &["timeout"],
        Options {
            flags: "v",
            values: "ks",
            long: &["--foreground", "--preserve-status", "--kill-after=", "--signal="],
        },
        1,
    )
    .safe(&["timeout 5 ls", "timeout -k 1 5s grep x y"])
    .not_safe(&["timeout 5 curl x", "timeout --foo 5 ls", "timeout -k $(x) 5 ls", "timeout 5{,/../x}"]),
    transparent(&["nice"], Options { flags: "", values: "n", long: &["--adjustment="] }, 0)
        .safe(&["nice -n 10 ls"])
        .not_safe(&["nice $x", "nice -n $x ls"]),
    Program::new(&["nohup"], "runs a program in another way", Kind::Runner, Rule::Custom(nohup))
        .runs(Runs::Behind(Wrapper::PLAIN))
        .safe(&["nohup ls"])
        .not_safe(&["nohup curl x"]),
    // It goes on in the background where its caller leads a group of processes.
    opaque(&["setsid"], Wrapper::PLAIN).not_safe(&["setsid ls", "setsid curl x"]),
    // A word of the language where it stands bare and first, which the reader takes; any other way it is a program.
    transparent(&["time"], Options { flags: "p", values: "", long: &[] }, 0)
        .safe(&["time ls -la"])
        .not_safe(&["env time -o log ls"]),
    transparent(&["stdbuf"], Options { flags: "", values: "ioe", long: &["--input=", "--output=", "--error="] }, 0)
        .safe(&["stdbuf -oL cat x"])
        .not_safe(&["stdbuf -oL curl x"]),
    transparent(&["ionice"], Options { flags: "t", values: "cn", long: &[] }, 0)
        .safe(&["ionice -c 3 ls"])
        .not_safe(&["ionice -c 3 curl x"]),
    opaque(&["sudo", "doas"], SUDO).terminal(SUDO_TERMINAL).not_safe(&["sudo ls", "sudo curl x", "sudo -i"]),
    Program::new(&["su"], "starts a shell as somebody else", Kind::Runner, Rule::Custom(look_through))
        .runs(Runs::Shell)
        .terminal(Terminal { unattended: &["-c", "-lc", "--command"], past_input: true, ..Terminal::ALWAYS })
        .not_safe(&["su -c 'curl x'", "su x"]),
    opaque(&["runuser"], with_values("ugGc")).not_safe(&["runuser -u x curl y"]),
    opaque(&["chroot"], Wrapper { operands: 1, opens_shell: true, ..Wrapper::PLAIN }).not_safe(&["chroot /x ls"]),
    opaque(&["unshare"], Wrapper { opens_shell: true, ..with_values("SGRw") }).not_safe(&["unshare -r ls"]),
    opaque(&["nsenter"], Wrapper { opens_shell: true, ..with_values("tSG") }).not_safe(&["nsenter -t 1 -a ls"]),
    opaque(&["setpriv", "fakeroot"], Wrapper { opens_shell: true, ..Wrapper::PLAIN })
        .not_safe(&["setpriv --reuid=1 ls", "fakeroot sh -c \"$x\""]),
    opaque(&["flock"], Wrapper { operands: 1, ..with_values("wEc") })
        .not_safe(&["flock x curl y"])
        .traits(&[Trait::Waits]),
    opaque(&["watch"], with_values("n")).not_safe(&["watch -n 1 curl x"]).traits(&[Trait::Waits]),
    opaque(&["parallel", "entr", "torsocks"], Wrapper::PLAIN).not_safe(&["parallel curl ::: x", "ls | entr make"]),
    opaque(&["proxychains", "proxychains4"], with_values("f")).not_safe(&["proxychains curl x"]),
    opaque(&["strace", "ltrace"], with_values("eopsu")).elsewhere(&["-o", "--output"]).not_safe(&["strace -o x ls"]),
    opaque(&["taskset", "chrt"], Wrapper { operands: 1, ..Wrapper::PLAIN }).not_safe(&["taskset 1 ls"]),
    opaque(&["firejail", "bwrap"], Wrapper::PLAIN).not_safe(&["bwrap --bind / / ls"]),
    opaque(&["ld-*", "ld.*"], Wrapper::PLAIN).not_safe(&["/lib64/ld-linux-x86-64.so.2 /bin/ls"]),
    Program::new(&["xargs"], "runs a program on words from its input", Kind::Runner, Rule::Custom(xargs))
        .runs(Runs::Behind(Wrapper {
            words_from_input: true,
            options: Options { values: "anLPIsdE", ..XARGS },
            ..Wrapper::PLAIN
        }))
        .passes_on(usize::MAX)
        // Without a program.
        .starts(&["echo"])
        .safe(&["ls | xargs -n1 basename", "ls | xargs echo", "ls | xargs"])
        .not_safe(&[
            "xargs curl",
            "xargs -a .env curl",
            "ls | xargs sh -c",
            "ls | xargs sort",
            "ls | xargs -I{} sh -c '{}'",
            // A folder `*.` may lead elsewhere.
            "find . -name x | xargs -I{} cat ./*{}",
        ]),
];

const XARGS: Options = Options {
    flags: "0rtx",
    values: "nLPIsdE",
    long: &["--null", "--no-run-if-empty", "--verbose", "--max-args=", "--max-procs=", "--delimiter=", "--max-lines=?"],
};

impl Wrapper {
    /// How many arguments are its own: options with their values, operands, and assignments.
    pub(crate) fn own(&self, args: &[Arg]) -> usize {
        let mut at = leading_options(args, &self.options) + self.operands;
        if self.assigns {
            let rest = args.get(at..).unwrap_or(&[]);
            at += rest
                .iter()
                .take_while(|arg| arg.is_one() && !arg.start().starts_with('-') && arg.start().contains('='))
                .count();
        }
        at.min(args.len())
    }

    /// The program that it runs, with its arguments.
    pub(crate) fn behind<'a>(&self, args: &'a [Arg]) -> &'a [Arg] {
        args.get(self.own(args)..).unwrap_or(&[])
    }
}

/// The wrapper's own words, by its row.
fn wrapper_of(call: &Call) -> Wrapper {
    match runs_of(&call.program) {
        Runs::Behind(wrapper) => wrapper,
        _ => Wrapper::PLAIN,
    }
}

pub(super) fn command(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    match call.args.split_first() {
        None => Judgement::safe(),
        Some((first, _)) if call.program == "command" && matches!(first.exact(), Some("-v" | "-V")) => {
            Judgement::safe()
        }
        Some((first, rest)) if first.exact().is_none() => {
            // It may also be nothing, and then the next word is the program.
            judge.inner_call(&call.args, call).max(judge.suspect(call, rest))
        }
        Some((first, _)) if first.may_be_option() => {
            Judgement::unknown(format!("`{}` is not on its list", first.start())).max(guess(judge, call))
        }
        Some(_) => judge.inner_call(&call.args, call),
    }
}

/// On a terminal it writes what the program prints into a file.
fn nohup(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let written = judge.write(&Arg::literal("nohup.out"));
    written.max(wrapper(judge, call))
}

fn wrapper(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let Wrapper { options, operands, .. } = wrapper_of(call);
    // The program's own options come behind it, so only what stands before the first operand is the wrapper's.
    let leading = leading_options(&call.args, &options);
    // A word that may become several may hold the program, too.
    if let Some(at) = call.args.iter().take(leading + operands).position(|arg| !arg.is_one()) {
        let from_there = call.args.get(at..).unwrap_or(&[]);
        return judge.inner_call(from_there, call).max(judge.suspect(call, &call.args));
    }
    if let Err(reason) = options.scan(call.args.get(..leading).unwrap_or(&[])) {
        return Judgement::unknown(reason).max(judge.suspect(call, &call.args));
    }
    let rest = call.args.get(leading + operands..).unwrap_or(&[]);
    judge.inner_call(rest, call)
}

/// Never Safe, but what it runs still tells whether it reaches the network.
pub(super) fn look_through(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let text = |arg: &Arg| arg.start().strip_prefix("--command=").map(str::to_owned);
    let mut judgement = Judgement::unknown("it runs a program with other rights, or in a way that is not read here");
    for script in call.args.iter().filter_map(text) {
        judgement = judgement.max(judge.inner_script(&script, Shell::Bash));
    }
    judgement.max(guess(judge, call))
}

/// Looks for the program among the words: where the row says that it stands, and wherever else one may be.
pub(super) fn guess(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let suspicion = match runs_of(&call.program) {
        Runs::Behind(wrapper) => Suspicion::At(wrapper.own(&call.args)),
        _ => Suspicion::Guesses,
    };
    judge.suspect_with(call, &call.args, suspicion)
}

/// How many arguments are a wrapper's own options and their values.
fn leading_options(args: &[Arg], options: &Options) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.start();
        if !arg.may_be_option() {
            break;
        }
        at += 1;
        if text == "--" {
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            at += usize::from(!name.contains('=') && options.long.contains(&format!("--{name}=").as_str()));
        } else if let Some(at_letter) =
            text.chars().skip(1).position(|letter| options.values.contains(letter) && !options.flags.contains(letter))
        {
            // A value that is not glued is the next argument.
            at += usize::from(at_letter + 2 == text.chars().count());
        }
    }
    at.min(args.len())
}

/// What it runs without a variable does not go by what a run with a way out sets, so nothing that reaches hosts is understood behind that.
fn env(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let takes_away = |arg: &Arg| arg.exact().is_none_or(|text| text.starts_with('-'));
    let mut before = call.args.iter().take_while(|arg| arg.start().starts_with('-') || arg.start().contains('='));
    let takes_away = before.any(takes_away);
    let judgement = in_environment(judge, call);
    if takes_away { judgement.reaching(None) } else { judgement }
}

fn in_environment(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut judgement = Judgement::safe();
    let mut rest = call.args.as_slice();
    let mut cleared = false;
    while let Some((first, more)) = rest.split_first() {
        let Some(text) = first.exact() else {
            // `NAME=$x` is an assignment, whatever the value.
            match first.start().split_once('=') {
                Some((name, _)) if first.known == Known::OneWord && !name.starts_with('-') => {
                    judgement = judgement.max(judge.assignment_of(name, None));
                    rest = more;
                    continue;
                }
                // It may become several words, or none: what stands behind it may be the program all the same.
                _ => {
                    // Without a word it prints.
                    if more.is_empty() && !cleared {
                        judge.environment_is_shown();
                    }
                    return judgement.max(judge.inner_call(rest, call)).max(judge.suspect(call, more));
                }
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
                    cleared |= ["PATH", "PWD", "OLDPWD", "HOME"].contains(&name.start());
                    rest = behind;
                }
                _ => {
                    return Judgement::unknown("a name is only known when it runs").max(judge.suspect(call, more));
                }
            },
            _ if text.starts_with('-') => {
                return Judgement::unknown(format!("the option `{text}` is not on its list"))
                    .max(judge.suspect(call, more));
            }
            _ => {
                if let Some((name, value)) = text.split_once('=') {
                    judgement = judgement.max(judge.assignment_of(name, Some(value)));
                    rest = more;
                } else if cleared {
                    return judgement.max(judge.inner_call_cleared(rest, call));
                } else {
                    return judgement.max(judge.inner_call(rest, call));
                }
            }
        }
    }
    judge.environment_is_shown();
    judgement
}

fn printenv(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let all_named = call.args.iter().all(|arg| arg.known == Known::Literal && !arg.start().starts_with('-'));
    if call.args.is_empty() || !all_named {
        judge.environment_is_shown();
    }
    for arg in call.args.iter().filter(|arg| secrets::is_secret_variable(arg.start())) {
        judge.secret(format!("${}", arg.start()));
    }
    Judgement::safe()
}

fn xargs(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let leading = leading_options(&call.args, &XARGS);
    let own = call.args.get(..leading).unwrap_or(&[]);
    let scanned = XARGS.scan(own);
    let mut inner = call.args.get(leading..).unwrap_or(&[]).to_vec();
    if inner.is_empty() {
        judge.started("echo");
        return match scanned {
            Ok(_) => Judgement::safe(),
            Err(reason) => Judgement::unknown(reason),
        };
    }
    let mut judgement = Judgement::safe();
    match &scanned {
        Ok(scan) => {
            if scan.value(&["-I"]).is_some_and(|mark| mark.exact().is_none_or(str::is_empty)) {
                judgement = Judgement::unknown("what it replaces is only known when it runs");
            }
            if let Some(mark) = scan.value(&["-I"]).and_then(Arg::exact).filter(|mark| !mark.is_empty()) {
                for arg in &mut inner {
                    if arg.start().contains(mark) || arg.tail.contains(mark) {
                        let before = arg.start().split(mark).next().unwrap_or("").to_owned();
                        *arg = Arg::unknown(before, Known::OneWord);
                    }
                }
            }
        }
        Err(reason) => judgement = Judgement::unknown(reason.clone()).max(judge.suspect(call, &call.args)),
    }
    // Whether it takes its input apart at NULs alone, or as lines.
    let null = match &scanned {
        Ok(scan) => match scan.value(&["-d", "--delimiter"]) {
            Some(delimiter) => matches!(delimiter.exact(), Some("\\n" | "\n")).then_some(false),
            None => Some(scan.has(&["-0", "--null"])),
        },
        Err(_) => None,
    };
    match judge.names_on_stdin() {
        // They start with the folder that was searched, so none is an option, where none is taken apart.
        Some(names)
            if Some(names.null) == null
                && (names.null || names.below.iter().all(|folder| paths::stays_whole(folder.as_bytes()))) =>
        {
            for folder in &names.below {
                if !names.null {
                    judge.plain_names_below(folder);
                }
                let start = format!("{}/", folder.trim_end_matches('/'));
                inner.push(Arg::unknown(start, Known::Words).found_by(&names.found_by));
            }
        }
        Some(_) | None => inner.push(Arg::unknown("", Known::Anything)),
    }
    judgement.max(judge.inner_call(&inner, call))
}
