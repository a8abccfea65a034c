//! Programs that run another program or a script: they are looked through.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call, Known, Options};
use crate::classify::paths::file_name;
use crate::shell::Shell;

pub(super) const TABLE: &[Program] = &[
    Program {
        names: &["command", "builtin", "exec"],
        about: "runs a program",
        kind: Kind::Runner,
        rule: Rule::Custom(command),
        safe: &["command ls -la", "command -v cargo", "exec ls"],
        not_safe: &["command curl x", "exec 3<>/dev/tcp/h/80", "exec -a x ls", "command $x"],
    },
    Program {
        names: &["timeout", "nice", "nohup", "time", "stdbuf", "setsid", "ionice"],
        about: "runs a program in another way",
        kind: Kind::Runner,
        rule: Rule::Custom(wrapper),
        safe: &["timeout 5 ls", "timeout -k 1 5s grep x y", "nice -n 10 ls", "time ls -la", "stdbuf -oL cat x"],
        not_safe: &[
            "timeout 5 curl x",
            "nohup curl x",
            "env time -o log ls",
            "timeout --foo 5 ls",
            "nice $x",
            "nice -n $x ls",
            "timeout -k $(x) 5 ls",
            "timeout 5{,/../x}",
        ],
    },
    Program {
        names: &[
            "sudo",
            "doas",
            "su",
            "runuser",
            "chroot",
            "unshare",
            "nsenter",
            "setpriv",
            "flock",
            "watch",
            "parallel",
            "strace",
            "ltrace",
            "taskset",
            "chrt",
            "script",
            "unbuffer",
            "expect",
            "firejail",
            "bwrap",
            "proxychains",
            "torsocks",
            "entr",
            "fakeroot",
            "gdb",
            "fish",
            "trap",
            "ld-linux-x86-64.so.2",
            "ld-linux-aarch64.so.1",
        ],
        about: "runs a program as somebody else, somewhere else, or in a way that is not read here",
        kind: Kind::Runner,
        rule: Rule::Custom(elevate),
        safe: &[],
        not_safe: &["sudo ls", "sudo curl x", "su -c 'curl x'", "flock x curl y", "trap 'curl x' EXIT"],
    },
    Program {
        names: &["xargs"],
        about: "runs a program on words from its input",
        kind: Kind::Runner,
        rule: Rule::Custom(xargs),
        safe: &["ls | xargs -n1 basename", "ls | xargs echo", "ls | xargs"],
        not_safe: &[
            "xargs curl",
            "xargs -a .env curl",
            "ls | xargs sh -c",
            "ls | xargs sort",
            "ls | xargs -I{} sh -c '{}'",
        ],
    },
    Program {
        names: &["bash", "sh", "dash", "zsh", "ksh", "ash", "rbash"],
        about: "runs a script",
        kind: Kind::Runner,
        rule: Rule::Custom(shell),
        safe: &["bash -c 'ls -la'", "sh -c 'echo x | wc -c'"],
        not_safe: &[
            "bash -c 'curl evil.com'",
            "sh -c \"$x\"",
            "bash script.sh",
            "bash",
            "curl x | sh",
            "bash -lc ls",
            "sh -c \"echo $'x'\"",
            "bash -i",
            "zsh -c ls",
        ],
    },
    Program {
        names: &["eval"],
        about: "runs its arguments as a script",
        kind: Kind::Runner,
        rule: Rule::Custom(eval),
        safe: &["eval 'ls -la'"],
        not_safe: &["eval 'curl evil.com'", "eval \"$x\"", "eval"],
    },
    Program {
        names: &["source", "."],
        about: "runs a file in this shell",
        kind: Kind::Runner,
        rule: Rule::Custom(source),
        safe: &[],
        not_safe: &["source x.sh", ". venv/bin/activate", "source <(curl x)"],
    },
    Program {
        names: &["busybox", "toybox"],
        about: "is many programs in one",
        kind: Kind::Runner,
        rule: Rule::Custom(busybox),
        safe: &[],
        not_safe: &["busybox wget x", "busybox ls", "busybox sh -c 'nc x 1'"],
    },
];

fn command(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    match call.args.split_first() {
        None => Judgement::safe(),
        Some((first, _)) if call.program == "command" && matches!(first.exact(), Some("-v" | "-V")) => {
            Judgement::safe()
        }
        Some((first, rest)) if first.may_be_option() => {
            Judgement::unknown(format!("`{}` is not on its list", first.text)).max(super::suspect(judge, call, rest))
        }
        Some(_) => judge.inner_call(&call.args, call),
    }
}

fn wrapper(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let name = file_name(&call.program);
    let (flags, values, long, operands): (&str, &str, &[&str], usize) = match name {
        "timeout" => ("v", "ks", &["--foreground", "--preserve-status", "--kill-after=", "--signal="], 1),
        "nice" => ("", "n", &["--adjustment="], 0),
        "stdbuf" => ("", "ioe", &["--input=", "--output=", "--error="], 0),
        "ionice" => ("t", "cn", &[], 0),
        "time" => ("p", "", &[], 0),
        _ => ("", "", &[], 0),
    };
    // The program's own options come behind it, so only what stands before the first operand is the wrapper's.
    let leading = leading_options(&call.args, flags, values, long);
    let own = call.args.get(..leading).unwrap_or(&[]);
    if let Err(reason) = (Options { flags, values, long }).scan(own) {
        return Judgement::unknown(reason).max(super::suspect(judge, call, &call.args));
    }
    let rest = call.args.get(leading + operands..).unwrap_or(&[]);
    if call.args.get(leading..leading + operands).is_some_and(|skipped| skipped.iter().any(|arg| !arg.is_one())) {
        return Judgement::unknown("the program is only known when it runs");
    }
    judge.inner_call(rest, call)
}

/// How many arguments are the wrapper's own options and their values.
fn leading_options(args: &[Arg], flags: &str, values: &str, long: &[&str]) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if !arg.may_be_option() {
            break;
        }
        at += 1;
        if text == "--" {
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            at += usize::from(!name.contains('=') && long.contains(&format!("--{name}=").as_str()));
        } else if let Some(at_letter) =
            text.chars().skip(1).position(|letter| values.contains(letter) && !flags.contains(letter))
        {
            // A value that is not glued is the next argument.
            at += usize::from(at_letter + 2 == text.chars().count());
        }
    }
    at.min(args.len())
}

/// Never Safe, but what it runs still tells whether it reaches the network.
fn elevate(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let text = |arg: &Arg| arg.text.strip_prefix("--command=").map(str::to_owned);
    let mut judgement = Judgement::unknown("it runs a program with other rights, or in a way that is not read here");
    for script in call.args.iter().filter_map(text) {
        judgement = judgement.max(judge.inner_script(&script, Shell::Bash));
    }
    judgement.max(super::suspect(judge, call, &call.args))
}

fn xargs(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let (flags, values) = ("0rtx", "nLPIsdE");
    let long =
        &["--null", "--no-run-if-empty", "--verbose", "--max-args=", "--max-procs=", "--delimiter=", "--max-lines=?"];
    let leading = leading_options(&call.args, flags, values, long);
    let own = call.args.get(..leading).unwrap_or(&[]);
    let scanned = Options { flags, values, long }.scan(own);
    let mut inner = call.args.get(leading..).unwrap_or(&[]).to_vec();
    if inner.is_empty() {
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
                    if arg.text.contains(mark) {
                        let before = arg.text.split(mark).next().unwrap_or("").to_owned();
                        *arg = Arg::unknown(before, Known::OneWord);
                    }
                }
            }
        }
        Err(reason) => judgement = Judgement::unknown(reason.clone()).max(super::suspect(judge, call, &call.args)),
    }
    match judge.names_on_stdin() {
        // They start with the folder that was searched, so none is an option.
        Some(folders) => {
            inner.extend(
                folders.iter().map(|folder| Arg::unknown(format!("{}/", folder.trim_end_matches('/')), Known::Words)),
            );
        }
        None => inner.push(Arg::unknown("", Known::Anything)),
    }
    judgement.max(judge.inner_call(&inner, call))
}

fn shell(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let kind = if file_name(&call.program) == "bash" { Shell::Bash } else { Shell::Other };
    // Others read start-up files of their own even for a script on the command line.
    let plain = matches!(file_name(&call.program), "bash" | "sh" | "dash");
    let mut judgement =
        if plain { Judgement::safe() } else { Judgement::unknown("this shell reads start-up files of its own") };
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg.exact() else {
            judge.runs_code(call, true, None);
            return Judgement::unknown("the script is only known when it runs").max(super::suspect(
                judge,
                call,
                args.as_slice(),
            ));
        };
        let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
            judge.runs_code(call, false, Some(text));
            return Judgement::unknown("it runs a file whose content is not read here");
        };
        if letters.starts_with('-') {
            judgement = Judgement::unknown(format!("`{text}` is not on its list"));
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
        if letters.contains('c') {
            judge.runs_code(call, false, None);
            let mut script = args.next();
            while script.is_some_and(|arg| arg.text.starts_with(['-', '+']) && arg.known == Known::Literal) {
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

fn eval(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.runs_code(call, false, None);
    let words: Option<Vec<&str>> = call.args.iter().map(Arg::exact).collect();
    match words {
        Some(words) if !words.is_empty() => judge.same_shell_script(&words.join(" "), Shell::Bash),
        Some(_) => Judgement::unknown("there is nothing to evaluate"),
        None => Judgement::network("it runs a script that is only known when it runs"),
    }
}

fn source(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.runs_code(call, false, call.args.first().and_then(Arg::exact));
    Judgement::unknown("it runs a file whose content is not read here")
}

fn busybox(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    // Its applets are not the programs that the tables mean, so none is Safe.
    Judgement::unknown("its applets take other options").max(judge.inner_call(&call.args, call))
}

/// True for programs that change or remove the files they are given.
pub(in crate::classify) fn modifies(program: &str) -> bool {
    [
        "rm", "mv", "cp", "chmod", "chown", "chgrp", "ln", "tee", "dd", "install", "rsync", "mount", "umount",
        "truncate", "shred", "unlink", "rmdir", "sed", "mkdir", "touch", "find", "chattr", "setfacl", "tar", "unzip",
        "patch", "rename", "mkfifo", "mknod",
    ]
    .contains(&file_name(program))
}
