//! Programs that look at files, folders and the machine, and the few that write where it is told.

use super::{Form, Judge, Judgement, Kind, Needs, Operands, Program, Rule, Trait};
use crate::classify::call::{Arg, Call, Options};

const fn harmless(
    names: &'static [&'static str],
    about: &'static str,
    operands: Operands,
    safe: &'static [&'static str],
) -> Program {
    Program::new(names, about, Kind::Local, Rule::Harmless(operands)).safe(safe)
}

const fn listed(
    names: &'static [&'static str],
    about: &'static str,
    options: Options,
    operands: Operands,
    safe: &'static [&'static str],
    not_safe: &'static [&'static str],
) -> Program {
    Program::new(names, about, Kind::Local, Rule::Listed(options, operands)).safe(safe).not_safe(not_safe)
}

pub(super) const TABLE: &[Program] = &[
    harmless(
        &["ls", "dir", "vdir"],
        "lists folders",
        Operands::Names,
        &["ls -la /workspace", "ls *.rs", "ls \"$HOME\""],
    )
    .traits(&[Trait::Searches]),
    harmless(&["stat"], "shows what a file is", Operands::Names, &["stat -c %s file.txt"]).traits(&[Trait::Searches]),
    listed(
        &["du"],
        "adds up sizes",
        Options {
            flags: "abcDhHklLmPsSx0",
            values: "dBt",
            long: &[
                "--max-depth=",
                "--summarize",
                "--human-readable",
                "--apparent-size",
                "--all",
                "--total",
                "--exclude=",
                "--threshold=",
            ],
        },
        Operands::Names,
        &["du -sh .", "du -d 1 src"],
        &["du --files0-from=x", "du -X x"],
    ),
    harmless(&["df"], "shows free space", Operands::Names, &["df -h"]).traits(&[Trait::AboutTheOutside]),
    harmless(&["realpath", "readlink"], "resolves a path", Operands::Names, &["realpath ../x"]),
    harmless(&["basename", "dirname"], "takes a path apart", Operands::Data, &["basename /a/b.txt .txt"]),
    harmless(
        &["uname", "nproc", "uptime", "whoami", "id", "groups", "logname", "tty", "free", "getconf"],
        "tells about the machine or the user",
        Operands::Data,
        &["uname -a", "id -u", "nproc", "free -m"],
    )
    // Where programs lie that some releases of `getconf` start.
    .environment(&["GETCONF_DIR"]),
    // On some systems it starts the program behind it.
    Program::new(
        &["arch"],
        "tells about the machine",
        Kind::Local,
        Rule::Alone(Form::new(&[]).needs(Needs::AtMost(0))),
    )
    .safe(&["arch"])
    .not_safe(&["arch -x86_64 X", "arch X"]),
    Program::new(
        &["lscpu"],
        "tells about the processor",
        Kind::Local,
        // `-s` takes another folder for the system's.
        Rule::Listed(
            Options {
                flags: "abcexyBJpr",
                values: "",
                long: &[
                    "--all",
                    "--online",
                    "--offline",
                    "--json",
                    "--bytes",
                    "--hex",
                    "--physical",
                    "--parse=?",
                    "--extended=?",
                    "--output-all",
                ],
            },
            Operands::Data,
        ),
    )
    .safe(&["lscpu", "lscpu -J", "lscpu --extended=CPU"])
    .not_safe(&["lscpu -s x", "lscpu --sysroot=x"]),
    Program::new(
        &["locale"],
        "tells about languages and letters",
        Kind::Local,
        // `-m` unpacks each of the system's tables.
        Rule::Listed(
            Options {
                flags: "ackv",
                values: "",
                long: &["--all-locales", "--category-name", "--keyword-name", "--verbose"],
            },
            Operands::Data,
        ),
    )
    .safe(&["locale", "locale -a", "locale charmap"])
    .not_safe(&["locale -m", "locale --charmaps"]),
    harmless(&["cal"], "prints a calendar", Operands::Data, &["cal 2026"]),
    harmless(&["seq", "factor"], "prints numbers", Operands::Data, &["seq 1 10"]),
    harmless(&["expr"], "calculates", Operands::Data, &["expr 1 + 2"]),
    harmless(&["sleep"], "waits", Operands::Data, &["sleep 1"]).traits(&[Trait::Waits]),
    harmless(&["which", "whereis"], "finds programs", Operands::Data, &["which cargo", "whereis python3"])
        .traits(&[Trait::Searches, Trait::ShellScript]),
    Program::new(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum"],
        "adds up a checksum",
        Kind::Local,
        Rule::Custom(checksum),
    )
    .traits(&[Trait::NamesAreFiles])
    .safe(&["sha256sum file.txt", "md5sum -b file.txt"])
    .not_safe(&["sha256sum -c list", "md5sum -bc list", "b2sum --check list"]),
    Program::new(&["date"], "prints the time", Kind::Local, Rule::Custom(date))
        .safe(&["date", "date +%s", "date -u -d '1 day ago' '+%F %T'", "date -Iseconds", "date -uI"])
        .not_safe(&[
            "date -Id 010112002030",
            "date -uId 010112002030",
            "date -Ir x",
            "date -s 12:00",
            "date 010112002030",
            "date --set=12:00",
        ]),
    Program::new(&["tree"], "draws folders", Kind::Local, Rule::Custom(tree))
        .safe(&["tree -L 2 src", "tree -a -I node_modules"])
        .not_safe(&["tree -o out.html", "tree -R -H . -L 1", "tree -Po x y", "tree -Io x f", "tree -L $x"]),
    Program::new(&["file"], "guesses what a file is", Kind::Local, Rule::Custom(file))
        .safe(&["file a.out", "file -b --mime-type x"])
        .not_safe(&["file -C -m magic", "file -z x.gz", "file -m magic x", "file -f list"])
        .traits(&[Trait::Searches, Trait::NamesAreFiles])
        .loads_at_home(&[".magic", ".magic.mgc"])
        .environment(&["MAGIC"]),
    Program::new(&["mktemp"], "makes a temporary file", Kind::Local, Rule::Custom(mktemp))
        .environment(&["TMPDIR"])
        .safe(&["mktemp", "mktemp -d", "mktemp /tmp/x.XXXXXX"])
        .not_safe(&["mktemp /etc/x.XXXX", "mktemp -p /etc"]),
    listed(
        &["mkdir"],
        "makes folders",
        Options { flags: "pv", values: "m", long: &["--parents", "--verbose", "--mode="] },
        Operands::Folders,
        &["mkdir -p src/a", "mkdir /tmp/x", "mkdir -p .github/workflows"],
        &["mkdir /etc/x", "mkdir .claude", "mkdir \"$x\""],
    )
    .traits(&[Trait::NamesOnly]),
    listed(
        &["touch"],
        "makes empty files or changes their time",
        Options { flags: "acm", values: "", long: &["--no-create"] },
        Operands::Writes,
        &["touch src/a.rs"],
        &["touch ~/.bashrc", "touch /etc/x"],
    )
    .traits(&[Trait::ChangesFiles, Trait::NamesOnly]),
];

fn file(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        flags: "bhikLNprs0",
        values: "F",
        long: &["--brief", "--mime", "--mime-type", "--mime-encoding", "--dereference", "--no-pad"],
    };
    match options.scan(&call.args) {
        Ok(scan) => judge.operands(&scan.operands, Operands::Names),
        Err(reason) => {
            // A list of names, or of kinds: what it does not understand of one it shows.
            let words: Vec<&Arg> = call.args.iter().collect();
            for value in words.windows(2).filter(|pair| pair.iter().any(|arg| arg.start().starts_with('-'))) {
                let _ = value.last().map(|value| judge.read(value));
            }
            Judgement::unknown(reason)
        }
    }
}

fn date(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        // `-I` takes what is glued to it: `-Id` is no `-d`.
        flags: "uR",
        values: "dr",
        long: &["--utc", "--universal", "--date=", "--reference=", "--rfc-email", "--iso-8601=?", "--rfc-3339="],
    };
    let is_iso = |arg: &&Arg| {
        let format = arg.exact().and_then(|text| text.strip_prefix("-I").or_else(|| text.strip_prefix("-uI")));
        format.is_some_and(|format| matches!(format, "" | "date" | "hours" | "minutes" | "seconds" | "ns"))
    };
    let others: Vec<Arg> = call.args.iter().filter(|arg| !is_iso(arg)).cloned().collect();
    match options.scan(&others) {
        Ok(scan) if scan.operands.iter().all(|operand| operand.start().starts_with('+')) => Judgement::safe(),
        Ok(_) => Judgement::unknown("an operand without `+` sets the clock"),
        Err(reason) => Judgement::unknown(reason),
    }
}

/// What is checked stands in a list, which says whose guesses about a file are right.
fn checksum(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let checks = |arg: &Arg| match arg.exact() {
        Some(text) if text.starts_with("--") => "--check".starts_with(text) && text.len() > 2,
        Some(text) => text.starts_with('-') && text.contains('c'),
        None => arg.may_be_option(),
    };
    if call.args.iter().any(checks) {
        return judge.read_unknown();
    }
    let files = call.args.iter().filter(|arg| !arg.start().starts_with('-') || arg.is("-"));
    files.fold(Judgement::safe(), |judgement, file| judgement.max(judge.read(file)))
}

/// tree takes the value of `-L`, `-P` and `-I` from the next argument and reads the rest of a cluster as flags.
fn tree(_: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        flags: "adfilpshugDFQNqCxrtUcASnvJX",
        values: "LPI",
        long: &[
            "--dirsfirst",
            "--noreport",
            "--gitignore",
            "--prune",
            "--filelimit=",
            "--sort=",
            "--charset=",
            "--du",
            "--si",
        ],
    };
    let clustered = |arg: &Arg| {
        arg.start().len() > 2
            && arg.start().starts_with('-')
            && !arg.start().starts_with("--")
            && arg.start().contains(['L', 'P', 'I'])
    };
    if call.args.iter().any(clustered) {
        return Judgement::unknown("an option with a value stands in a cluster");
    }
    options.scan(&call.args).map_or_else(Judgement::unknown, |_| Judgement::safe())
}

fn mktemp(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "duqt", values: "p", long: &["--directory", "--quiet", "--suffix=", "--tmpdir=?"] };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    let mut judgement = Judgement::safe();
    if let Some(folder) = scan.value(&["-p", "--tmpdir"]) {
        let inside = folder.exact().map(|folder| Arg::literal(format!("{folder}/x")));
        judgement = inside
            .map_or_else(|| Judgement::unknown("the folder is only known when it runs"), |path| judge.write(&path));
    }
    for operand in &scan.operands {
        if scan.has(&["-p", "--tmpdir"]) && operand.start().contains('/') {
            return Judgement::unknown("the place is only known when it runs");
        }
        judgement = judgement.max(judge.write(operand));
    }
    judgement
}
