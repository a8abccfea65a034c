//! Programs that read text and print it again in another form.

use super::{Judge, Judgement, Kind, Operands, Program, Rule};
use crate::classify::call::{Call, Options};

const fn harmless(names: &'static [&'static str], about: &'static str, safe: &'static [&'static str]) -> Program {
    Program { names, about, kind: Kind::Local, rule: Rule::Harmless(Operands::Files), safe, not_safe: &[] }
}

pub(super) const TABLE: &[Program] = &[
    harmless(&["cat", "tac", "nl", "rev"], "prints files", &["cat README.md", "cat -n a b", "nl a"]),
    harmless(
        &["head", "tail"],
        "prints the start or end of files",
        &["head -n 10 file.txt", "tail -5 log", "head -c 100 *.md"],
    ),
    harmless(&["wc"], "counts", &["wc -l file.txt"]),
    harmless(&["od", "hexdump", "hd"], "prints bytes", &["od -c x"]),
    harmless(&["strings"], "prints the text in a file", &["LC_ALL=C strings binary"]),
    harmless(&["cut", "paste", "join", "comm", "column", "colrm"], "works on columns", &["cut -d: -f1 x", "comm a b"]),
    harmless(&["fold", "fmt", "expand", "unexpand", "pr"], "breaks lines", &["fold -w 80 x"]),
    harmless(&["base64", "base32"], "encodes", &["base64 x"]),
    harmless(&["cmp"], "compares files", &["cmp a b"]),
    harmless(&["bc"], "calculates", &["echo '1+2' | bc"]),
    Program {
        names: &["tr"],
        about: "replaces characters",
        kind: Kind::Local,
        rule: Rule::Harmless(Operands::Data),
        safe: &["tr a-z A-Z", "echo x | tr -d '\\n'"],
        not_safe: &[],
    },
    Program {
        names: &["sort"],
        about: "sorts lines",
        kind: Kind::Local,
        rule: Rule::Listed(
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
        safe: &["sort file.txt | uniq", "sort -rn -k2,2 -t: a b", "sort -- *"],
        not_safe: &[
            "sort -o out x",
            "sort --compress-program=sh x",
            "sort --compress-prog=sh x",
            "sort *",
            "sort $x",
            "sort \"$x\"",
        ],
    },
    Program {
        names: &["uniq"],
        about: "drops repeated lines",
        kind: Kind::Local,
        rule: Rule::Listed(
            Options { flags: "cdDuiz", values: "fsw", long: &["--count", "--repeated", "--unique", "--ignore-case"] },
            Operands::OneFile,
        ),
        safe: &["uniq -c", "uniq x"],
        not_safe: &["uniq in out", "uniq ./*"],
    },
    Program {
        names: &["diff"],
        about: "compares files",
        kind: Kind::Local,
        rule: Rule::Custom(diff),
        safe: &["diff a.txt b.txt", "diff -u a b", "diff -r a b", "diff <(ls a) <(ls b)"],
        not_safe: &["diff -l a b", "diff --to-file=x a"],
    },
    Program {
        names: &["iconv"],
        about: "converts between encodings",
        kind: Kind::Local,
        rule: Rule::Listed(
            Options { flags: "cls", values: "ft", long: &["--from-code=", "--to-code=", "--list"] },
            Operands::Files,
        ),
        safe: &["iconv -f latin1 -t utf-8 x"],
        not_safe: &["iconv -o out x", "iconv --output=out x"],
    },
    Program {
        names: &["xxd"],
        about: "prints bytes",
        kind: Kind::Local,
        rule: Rule::Listed(Options { flags: "abeipEu", values: "cgls", long: &[] }, Operands::OneFile),
        safe: &["xxd x", "xxd -l 16 x"],
        not_safe: &["xxd -r in out", "xxd in out"],
    },
    Program {
        names: &["readelf"],
        about: "shows what an ELF file holds",
        kind: Kind::Local,
        rule: Rule::Listed(Options { flags: "aehlSsdnrVWgtuAI", values: "", long: &[] }, Operands::Names),
        safe: &["readelf -h a.out"],
        not_safe: &["readelf -wK a.out", "readelf --debug-dump=follow-links a.out"],
    },
    Program {
        names: &["less", "more"],
        about: "shows a file page by page",
        kind: Kind::Local,
        rule: Rule::Custom(less),
        safe: &["less README.md", "less -R x"],
        not_safe: &["less +!sh x", "less -o log x", "less -k keys x"],
    },
    Program {
        names: &["tee"],
        about: "copies its input to files",
        kind: Kind::Local,
        rule: Rule::Listed(Options { flags: "ai", values: "", long: &["--append"] }, Operands::Writes),
        safe: &["ls | tee out.txt", "ls | tee -a /tmp/x"],
        not_safe: &["ls | tee /etc/x", "ls | tee ~/.bashrc", "ls | tee .git/hooks/pre-commit"],
    },
];

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
    let recursive = scan.has(&["-r", "--recursive"]);
    let mut judgement = Judgement::safe();
    for operand in &scan.operands {
        judgement = judgement.max(if recursive { judge.read_tree(operand) } else { judge.read(operand) });
    }
    judgement
}

fn less(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let options = Options { flags: "NRFXSiIMmnsrEeGgQ", values: "", long: &[] };
    match options.scan(&call.args) {
        Ok(scan) if scan.operands.iter().any(|operand| operand.text.starts_with('+')) => {
            Judgement::unknown("`+` starts a command of the pager")
        }
        Ok(scan) => super::read_behind(judge, &scan.operands, 0),
        Err(reason) => Judgement::unknown(reason),
    }
}
