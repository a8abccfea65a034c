//! Programs that read text and print it again in another form.

use super::languages::PROMPT;
use super::{Judge, Judgement, Kind, Operands, Program, Rule, Runs, Trait};
use crate::classify::Condition;
use crate::classify::call::{Arg, Call, Options};

const fn harmless(names: &'static [&'static str], about: &'static str, safe: &'static [&'static str]) -> Program {
    Program::new(names, about, Kind::Local, Rule::Harmless(Operands::Files)).safe(safe)
}

pub(super) const TABLE: &[Program] = &[
    harmless(&["cat"], "prints files", &["cat README.md", "cat -n a b"])
        .passes_on(0)
        .traits(&[Trait::Searches, Trait::PlainPager]),
    harmless(&["tac", "nl"], "prints files", &["nl a"]).passes_on(0),
    harmless(&["rev"], "prints files", &["rev a"]).passes_on(0).traits(&[Trait::OpensDash]),
    harmless(
        &["head", "tail"],
        "prints the start or end of files",
        &["head -n 10 file.txt", "tail -5 log", "head -c 100 *.md"],
    )
    .passes_on(0)
    .traits(&[Trait::Searches, Trait::KeepsLines, Trait::TakesCount, Trait::Follows]),
    Program::new(&["wc"], "counts", Kind::Local, Rule::Custom(wc))
        .traits(&[Trait::Searches, Trait::NamesAreFiles])
        .safe(&["wc -l file.txt", "find . -name '*.rs' | xargs wc -l"])
        .not_safe(&["wc -l \"$x\"", "ls | xargs wc", "wc --files0-from=x", "wc --files0=x"]),
    Program::new(
        &["paste", "join", "comm", "colrm", "tsort"],
        "puts columns and lines together or takes them apart",
        Kind::Local,
        Rule::Harmless(Operands::Files),
    )
    .safe(&["paste -sd, x", "comm -3 <(sort a) <(sort b)", "join a b"])
    .not_safe(&["paste \"$x\""]),
    harmless(&["column"], "puts lines into columns", &["column -t x"]).traits(&[Trait::OpensDash]),
    Program::new(&["cut"], "takes columns apart", Kind::Local, Rule::Harmless(Operands::Files))
        .passes_on(0)
        .safe(&["cut -d: -f1 /etc/passwd"])
        .not_safe(&["cut -f1 \"$x\""]),
    Program::new(&["shellcheck"], "looks for mistakes in scripts", Kind::Local, Rule::Custom(shellcheck))
        .environment(&["SHELLCHECK_OPTS"])
        .loads_at_home(&[".config/shellcheckrc", ".shellcheckrc"])
        .safe(&["shellcheck --norc run.sh", "shellcheck --norc -s bash -e SC2086 run.sh"])
        .not_safe(&["shellcheck -x run.sh", "shellcheck -P x run.sh", "shellcheck -Calways run.sh"]),
    Program::new(
        &["shuf"],
        "mixes lines",
        Kind::Local,
        Rule::Listed(
            Options { flags: "erz", values: "ni", long: &["--echo", "--head-count=", "--input-range=", "--repeat"] },
            Operands::Files,
        ),
    )
    .safe(&["shuf -n 5 x", "shuf -i 1-10"])
    .not_safe(&["shuf -o out x", "shuf --random-source=x y"]),
    harmless(&["numfmt", "md5"], "prints text in another form", &["numfmt --to=iec 2048", "md5 -q x"])
        .traits(&[Trait::OpensDash]),
    Program::new(&["gofmt"], "formats Go code", Kind::Local, Rule::Custom(gofmt))
        .traits(&[Trait::NamesAreFiles])
        .safe(&["gofmt -l .", "gofmt -d a.go", "gofmt -w a.go"])
        .not_safe(&["gofmt -cpuprofile x .", "gofmt -w .", "gofmt -w /etc/x"]),
    harmless(&["od"], "prints bytes", &["od -c x"]),
    harmless(&["fold", "fmt", "expand", "unexpand", "pr"], "breaks lines", &["fold -w 80 x"]),
    // On some systems `-o` writes.
    Program::new(
        &["base64", "base32"],
        "encodes",
        Kind::Local,
        Rule::Listed(
            Options { flags: "dDi", values: "wb", long: &["--decode", "--ignore-garbage", "--wrap=", "--break="] },
            Operands::Files,
        ),
    )
    .traits(&[Trait::Decodes])
    .safe(&["base64 x", "base64 -d x", "base64 -w0 x", "echo x | base64 --decode"])
    .not_safe(&["base64 -o y x", "base64 -d -i x -o y", "base64 --output=y x"]),
    harmless(&["cmp"], "compares files", &["cmp a b"]),
    harmless(&["bc"], "calculates", &["echo '1+2' | bc"]).environment(&["BC_ENV_ARGS"]).terminal(PROMPT),
    Program::new(
        &["hexdump", "hd"],
        "prints bytes",
        Kind::Local,
        Rule::Listed(Options { flags: "bcCdovxX", values: "ns", long: &[] }, Operands::Files),
    )
    .traits(&[Trait::OpensDash])
    .safe(&["hexdump -C x"])
    .not_safe(&["hexdump -f format x"]),
    Program::new(&["strings"], "prints the text in a file", Kind::Local, Rule::Custom(strings))
        .safe(&["LC_ALL=C strings binary", "strings -n 8 x"])
        .not_safe(&["strings @options", "strings *", "strings -n \"$x\" a"]),
    Program::new(&["tr"], "replaces characters", Kind::Local, Rule::Harmless(Operands::Data))
        .passes_on(usize::MAX)
        .safe(&["tr a-z A-Z", "echo x | tr -d '\\n'"]),
    Program::new(
        &["sort"],
        "sorts lines",
        Kind::Local,
        Rule::Listed(
            Options {
                flags: "bdfghiMnrRVcCmsuz",
                values: "ktS",
                long: &[
                    "--reverse",
                    "--unique",
                    "--numeric-sort",
                    "--human-numeric-sort",
                    "--version-sort",
                    "--ignore-case",
                    "--stable",
                    "--check",
                    "--zero-terminated",
                    "--general-numeric-sort",
                    "--month-sort",
                    "--merge",
                    "--key=",
                    "--field-separator=",
                    "--sort=",
                    "--parallel=",
                    "--ignore-leading-blanks",
                    "--dictionary-order",
                ],
            },
            Operands::Files,
        ),
    )
    .passes_on(0)
    .runs(Runs::Named)
    .traits(&[Trait::KeepsLines])
    .safe(&["sort file.txt | uniq", "sort -rn -k2,2 -t: a b", "sort -- *"])
    .not_safe(&[
        "sort -o out x",
        "sort --compress-program=sh x",
        "sort --compress-prog=sh x",
        "sort *",
        "sort $x",
        "sort \"$x\"",
    ]),
    Program::new(
        &["uniq"],
        "drops repeated lines",
        Kind::Local,
        Rule::Listed(
            Options { flags: "cdDuiz", values: "fsw", long: &["--count", "--repeated", "--unique", "--ignore-case"] },
            Operands::OneFile,
        ),
    )
    .safe(&["uniq -c", "uniq x"])
    .not_safe(&["uniq in out", "uniq ./*"]),
    Program::new(&["diff"], "compares files", Kind::Local, Rule::Custom(diff))
        .traits(&[Trait::NamesAreFiles])
        .safe(&["diff a.txt b.txt", "diff -u a b", "diff -r a b", "diff <(ls a) <(ls b)"])
        .not_safe(&["diff -l a b", "diff --to-file=x a"]),
    Program::new(&["iconv"], "converts between encodings", Kind::Local, Rule::Custom(iconv))
        .traits(&[Trait::NamesAreFiles])
        .safe(&["iconv -f latin1 -t utf-8 x", "iconv -t ASCII//TRANSLIT x"])
        .not_safe(&[
            "iconv -o out x",
            "iconv --output=out x",
            "iconv -f ./x y",
            "iconv -f sub/x y",
            "iconv -t d//cm y",
            "iconv -f d//../.env -t utf-8 y",
            "iconv -f utf-8//TRANSLIT//x y",
            "iconv -t \"$x\" y",
        ]),
    Program::new(&["xxd"], "prints bytes", Kind::Local, Rule::Custom(xxd))
        .traits(&[Trait::Decodes])
        .safe(&["xxd x", "xxd -l 16 x"])
        .not_safe(&["xxd -r in out", "xxd in out", "xxd -ac in out", "xxd in -l out"]),
    Program::new(&["readelf"], "shows what an ELF file holds", Kind::Local, Rule::Custom(readelf))
        .safe(&["readelf -h a.out"])
        .not_safe(&["readelf -wK a.out", "readelf --debug-dump=follow-links a.out"]),
    Program::new(
        &["tee"],
        "copies its input to files",
        Kind::Local,
        Rule::Listed(Options { flags: "ai", values: "", long: &["--append"] }, Operands::Writes),
    )
    .passes_on(usize::MAX)
    .traits(&[Trait::ChangesFiles, Trait::Overwrites])
    .safe(&["ls | tee out.txt", "ls | tee -a /tmp/x"])
    .not_safe(&["ls | tee /etc/x", "ls | tee ~/.bashrc", "ls | tee .git/hooks/pre-commit"]),
];

/// Only numbers are shown, so the files' names do not matter.
fn wc(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let from_file =
        call.args.iter().any(|arg| arg.start().starts_with("--f") || arg.exact().is_none() && arg.may_be_option());
    if from_file {
        return Judgement::unknown("it takes file names from a file");
    }
    for arg in call.args.iter().filter(|arg| arg.exact().is_some_and(|text| !text.starts_with('-'))) {
        // What is read is still worth knowing.
        let _ = judge.read(arg);
    }
    Judgement::safe()
}

fn shellcheck(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        // `-C` takes a value only where it is glued to it.
        flags: "C",
        values: "sSef",
        long: &["--shell=", "--severity=", "--exclude=", "--format=", "--color=?", "--norc"],
    };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    let judgement = judge.read_behind(&scan.operands, 0);
    if scan.has(&["--norc"]) {
        return judgement;
    }
    // It looks for its settings from the script's folder upwards; they may let it read what a script names.
    let names = [".shellcheckrc", "shellcheckrc"].map(str::to_owned).to_vec();
    for operand in &scan.operands {
        let Some(path) = operand.exact() else {
            return Judgement::unknown("where it looks for settings is only known when it runs");
        };
        for folder in judge.places(path.rsplit_once('/').map_or(".", |(folder, _)| folder)) {
            judge.condition(Condition::NoFileAbove { folder, names: names.clone() });
        }
    }
    judgement.max(Judgement::conditional("files of the workspace may let it read more"))
}

fn gofmt(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "lwdse", values: "r", long: &[] };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    let mut judgement = Judgement::safe();
    for operand in &scan.operands {
        judgement = judgement.max(judge.read_tree(operand));
        if scan.has(&["-w"]) {
            let file = operand.exact().is_some_and(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "go"));
            judgement = judgement.max(if file {
                // All of a folder would be written, whatever it is called.
                judge.is_no_folder(operand);
                judge.write(operand)
            } else {
                Judgement::unknown("it writes files whose names are only known when it runs")
            });
        }
    }
    judgement
}

fn diff(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options {
        flags: "abBcdeEiNnpqrstTuwy0123456789",
        values: "UCxIFLW",
        long: &[
            "--brief",
            "--unified=?",
            "--context=?",
            "--recursive",
            "--new-file",
            "--ignore-case",
            "--ignore-all-space",
            "--ignore-space-change",
            "--ignore-blank-lines",
            "--side-by-side",
            "--color=?",
            "--exclude=",
            "--width=",
            "--suppress-common-lines",
            "--strip-trailing-cr",
            "--label=",
            "--report-identical-files",
            "--text",
            "--minimal",
        ],
    };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    // A folder among the operands is compared file by file, with or without -r.
    let mut judgement = Judgement::safe();
    for operand in &scan.operands {
        judgement = judgement.max(judge.read_tree(operand));
    }
    judgement
}

/// An encoding with a slash in its name is a file that describes one.
fn iconv(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "cls", values: "ft", long: &["--from-code=", "--to-code=", "--list"] };
    let scan = match options.scan(&call.args) {
        Ok(scan) => scan,
        Err(reason) => return Judgement::unknown(reason),
    };
    // Whatever has a slash may be a file, but for what says how letters are put that are not there.
    let is_name = |value: &Arg| {
        let how = |text: &str| text.split("//").skip(1).all(|how| matches!(how, "" | "TRANSLIT" | "IGNORE"));
        value.exact().is_some_and(|text| {
            let name = text.split("//").next().unwrap_or_default();
            !name.is_empty() && !name.contains('/') && how(text)
        })
    };
    if !scan.options.iter().filter_map(|(_, value)| value.as_ref()).all(is_name) {
        return Judgement::unknown("a file may describe the encoding");
    }
    judge.read_behind(&scan.operands, 0)
}

/// binutils take options from a file that is named with `@`.
fn without_response_files(options: Options, judge: &mut Judge<'_>, call: &Call, reads: bool) -> Judgement {
    let may_name_one = |arg: &Arg| arg.start().starts_with('@') || arg.exact().is_none() && arg.start().is_empty();
    if call.args.iter().any(may_name_one) {
        return Judgement::unknown("it may take options from a file");
    }
    match options.scan(&call.args) {
        Ok(scan) if reads => judge.read_behind(&scan.operands, 0),
        Ok(_) => Judgement::safe(),
        Err(reason) => Judgement::unknown(reason),
    }
}

fn strings(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    without_response_files(
        Options { flags: "afow", values: "ntes", long: &["--all", "--bytes=", "--radix="] },
        judge,
        call,
        true,
    )
}

fn readelf(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    without_response_files(Options { flags: "aehlSsdnrVWgtuAI", values: "", long: &[] }, judge, call, false)
}

/// xxd reads no clusters and stops at the first file: a second one would be written.
fn xxd(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.exact() {
            Some("-a" | "-b" | "-e" | "-i" | "-p" | "-E" | "-u") => {}
            Some("-c" | "-g" | "-l" | "-s") => {
                if !args.next().is_some_and(|value| {
                    value.exact().is_some_and(|text| text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'x'))
                }) {
                    return Judgement::unknown("a value is not a number");
                }
            }
            Some(text) if text.len() > 1 && text.starts_with('-') => {
                return Judgement::unknown(format!("the option `{text}` is not on its list"));
            }
            _ if arg.is_one() && !arg.may_be_option() && args.len() == 0 => return judge.read(arg),
            _ => return Judgement::unknown("with a second file it writes there"),
        }
    }
    Judgement::safe()
}
