//! Interpreters: they run arbitrary code, given on their command line, in a file or on their standard input.

use super::{Judge, Judgement, Kind, Program, Rule};
use crate::classify::call::{Arg, Call};
use crate::classify::paths::file_name;

pub(super) const TABLE: &[Program] = &[Program {
    names: &[
        "python",
        "pypy",
        "node",
        "nodejs",
        "ruby",
        "perl",
        "php",
        "deno",
        "bun",
        "lua",
        "luajit",
        "tclsh",
        "Rscript",
        "julia",
        "osascript",
        "pwsh",
    ],
    about: "runs arbitrary code",
    kind: Kind::Runtime,
    rule: Rule::Custom(interpreter),
    safe: &["python3 --version", "node --version", "perl -v"],
    not_safe: &[
        "python3 -c 'import urllib'",
        "python script.py",
        "python3.11 x",
        "node -e 'fetch(url)'",
        "python",
        "perl -v x",
    ],
}];

fn interpreter(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    let file = call.args.iter().find_map(|arg| arg.exact().filter(|text| !text.starts_with('-')));
    let from_stdin =
        call.args.iter().all(|arg| arg.text.starts_with('-')) || call.args.first().and_then(Arg::exact) == Some("-");
    judge.runs_code(call, from_stdin, file);
    super::build::note_steering(judge, call);
    mentions(judge, call);
    Judgement::network("")
}

/// Code on the command line: what it says about secrets and hosts is taken from its text.
fn mentions(judge: &mut Judge<'_>, call: &Call) {
    for arg in &call.args {
        for word in arg.text.split(|c: char| c.is_whitespace() || "'\"`()[]{},;=".contains(c)) {
            if crate::classify::secrets::is_secret_path(word)
                || word.len() > 4
                    && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                    && crate::classify::secrets::is_secret_variable(word)
            {
                judge.secret(word);
            }
            if word.contains("://")
                && let Some(host) = super::network::host_in(word)
            {
                judge.network(file_name(&call.program), Some(host));
            }
        }
    }
}
