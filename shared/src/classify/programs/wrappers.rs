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
        not_safe: &["timeout 5 curl x", "nohup curl x", "time -o log ls", "timeout --foo 5 ls", "nice $x"],
    },
    Program {
        names: &["sudo", "doas", "su", "runuser", "chroot", "unshare", "nsenter", "setpriv"],
        about: "runs a program as somebody else or somewhere else",
        kind: Kind::Runner,
        rule: Rule::Custom(elevate),
        safe: &[],
        not_safe: &["sudo ls", "sudo curl x", "su -c 'curl x'"],
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
        Some((first, _)) if first.may_be_option() => Judgement::unknown(format!("`{}` is not on its list", first.text)),
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
        let rest = call.args.get(leading..).unwrap_or(&[]);
        return Judgement::unknown(reason).max(judge.inner_call(rest, call));
    }
    let rest = call.args.get(leading + operands..).unwrap_or(&[]);
    if call
        .args
        .get(leading..leading + operands)
        .is_some_and(|skipped| skipped.iter().any(|arg| arg.known == Known::Anything))
    {
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
    let mut judgement = Judgement::unknown("it runs a program with other rights or in another place");
    // Which options take a value differs; every literal word that may be the program is looked at.
    for (index, arg) in call.args.iter().enumerate().take(12) {
        let Some(text) = arg.exact() else { continue };
        if text == "-c" || text == "--command" {
            if let Some(script) = call.args.get(index + 1).and_then(Arg::exact) {
                judgement = judgement.max(judge.inner_script(script, Shell::Other));
            }
        } else if !text.starts_with('-')
            && !text.contains('=')
            && (super::kind_of(file_name(text)).is_some() || text.starts_with("bashgate"))
        {
            let rest = call.args.get(index..).unwrap_or(&[]);
            return judgement.max(judge.inner_call(rest, call));
        }
    }
    judgement
}

fn xargs(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let (flags, values) = ("0rtx", "nLPIsdE");
    let long =
        &["--null", "--no-run-if-empty", "--verbose", "--max-args=", "--max-procs=", "--delimiter=", "--max-lines="];
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
            if let Some(mark) = scan.value(&["-I"]).and_then(Arg::exact) {
                for arg in &mut inner {
                    if arg.text.contains(mark) {
                        let before = arg.text.split(mark).next().unwrap_or("").to_owned();
                        *arg = Arg::unknown(before, Known::OneWord);
                    }
                }
            }
        }
        Err(reason) => judgement = Judgement::unknown(reason.clone()),
    }
    inner.push(Arg::unknown("", Known::Anything));
    judgement.max(judge.inner_call(&inner, call))
}

fn shell(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let kind = if file_name(&call.program) == "bash" { Shell::Bash } else { Shell::Other };
    let mut judgement = Judgement::safe();
    for (index, arg) in call.args.iter().enumerate() {
        let Some(text) = arg.exact() else {
            judge.runs_code(call, true, None);
            return Judgement::unknown("the script is only known when it runs");
        };
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            judge.runs_code(call, false, Some(text));
            return Judgement::unknown("it runs a file whose content is not read here");
        };
        // -e -u: how errors end it. -l, -i and others read start-up files first.
        if letters == "c" || letters.ends_with('c') && !letters.starts_with('-') {
            if !letters.bytes().all(|letter| b"ceu".contains(&letter)) {
                judgement = Judgement::unknown(format!("`-{letters}` reads start-up files first"));
            }
            let Some(script) = call.args.get(index + 1) else { return Judgement::unknown("`-c` without a script") };
            judge.runs_code(call, false, None);
            return match script.exact() {
                // A here-document or pipe is still its standard input: `sh -c sh` would run it.
                Some(script) => judgement.max(judge.inner_script(script, kind)),
                None => Judgement::network("it runs a script that is only known when it runs"),
            };
        }
        if !matches!(letters, "e" | "u" | "eu") {
            judgement = Judgement::unknown(format!("`-{letters}` is not on its list"));
        }
    }
    judge.runs_code(call, true, None);
    judgement.max(Judgement::unknown("it runs whatever comes on its standard input"))
}

fn eval(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    judge.runs_code(call, false, None);
    let words: Option<Vec<&str>> = call.args.iter().map(Arg::exact).collect();
    match words {
        Some(words) if !words.is_empty() => judge.inner_script(&words.join(" "), Shell::Bash),
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
