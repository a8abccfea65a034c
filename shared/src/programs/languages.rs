//! Interpreters: they run arbitrary code, given on their command line, in a file or on their standard input.

use super::{Builtin, Flag, Judge, Judgement, Kind, Program, Rule, Runs, Terminal, Trait};
use crate::classify::call::Call;
use crate::classify::paths::file_name;

/// Options with which an interpreter runs something else than its terminal, or nothing.
pub(super) const GIVEN: &[&str] = &[
    "-c",
    "-e",
    "-m",
    "-p",
    "-f",
    "-V",
    "-VV",
    "-v",
    "-h",
    "-E",
    "-r",
    "-l",
    "-n",
    "-pe",
    "-ne",
    "-pi",
    "-M",
    "-x",
    "--version",
    "--help",
    "--eval",
    "--print",
    "--command",
    "--file",
    "--execute",
    "--list",
    "--test",
    "--run",
    "--batch",
];

/// Reads its terminal when it is given nothing to run.
pub(super) const PROMPT: Terminal = Terminal {
    asked: ("i", &["-a", "repl"]),
    settled: ("", GIVEN),
    operands: 1,
    runs_operand: true,
    ..Terminal::ALWAYS
};

const CONSOLES: &[&str] = &["code", "IPython", "pdb", "ptpython"];

const fn language(names: &'static [&'static str], not_safe: &'static [&'static str]) -> Program {
    Program::new(names, "runs arbitrary code", Kind::Runtime, Rule::Custom(interpreter))
        .versioned()
        .runs(Runs::Code)
        .terminal(PROMPT)
        .not_safe(not_safe)
}

/// The endings of the files of one language, whose code loads more of it from its own folder.
pub const LOAD_BESIDE: &[&[&str]] = &[
    &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "json"],
    &["py"],
    &["rb"],
    &["pl", "pm"],
    &["lua"],
    &["php"],
];

/// The endings of what code on the command line of this program loads from the folder where it starts. Of the others none looks there.
pub fn loads_where_it_starts(program: &str) -> &'static [&'static str] {
    let is_python = ["python", "pypy", "ipython"].iter().any(|name| program.starts_with(name));
    if is_python { &["py"] } else { &[] }
}

/// Endings of what no interpreter runs as it is.
pub const ONLY_WORKED_ON: &[&str] = &[
    "c", "h", "cc", "cpp", "hpp", "rs", "go", "java", "kt", "cs", "swift", "md", "txt", "json", "yml", "yaml", "toml",
    "html", "css", "scss",
];

/// The fields of a package's manifest, besides its scripts, in which commands stand.
pub const COMMANDS_OF_PACKAGES: &[&str] = &["lint-staged", "husky", "simple-git-hooks", "gitHooks", "pre-commit"];

/// True for what lists of tasks call a command.
pub fn is_label_of_command(label: &str) -> bool {
    const LABELS: &[&str] = &["cmd", "cmds", "script", "scripts", "entry", "sh", "init", "before", "prebuild"];
    LABELS.contains(&label) || crate::agents::holds_command(label) || takes_what_it_runs(label)
}

/// What else may be a script than what has one of these endings.
pub const SHELL_ENDING: &str = "sh";

/// How many words behind a wrapper's name are its own.
pub fn own_operands(name: &str) -> usize {
    match super::row(name).map(|row| row.runs) {
        Some(Runs::Behind(wrapper)) => wrapper.operands,
        _ => 0,
    }
}

/// The words behind which stands what a program runs that takes other operands before that; none for one that runs its operands.
pub fn runs_behind(name: &str) -> &'static [&'static str] {
    if super::has(name, Trait::PrintsNames) { super::search::ACTIONS } else { &[] }
}

/// True for an option with which an interpreter reads a script, says whether it can be read, and runs nothing of it.
pub fn only_checks(name: &str, option: &str) -> bool {
    match option {
        "-n" => super::has(name, Trait::SpeaksShell),
        "-l" | "--syntax-check" => super::row(name).is_some_and(|row| row.environment.contains(&"PHPRC")),
        "--check" => super::row(name).is_some_and(|row| row.environment.contains(&"NODE_OPTIONS")),
        _ => false,
    }
}

/// True for a word behind whose options may stand what is run: a program that runs others, or code; a manager's own word for it.
pub fn takes_what_it_runs(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "run",
        "exec",
        "x",
        "dlx",
        "tsx",
        "ts-node",
        "run-parts",
        "PATH_add",
        "path_add",
        "source_dir",
        "source_env",
        "source_env_if_exists",
        "shell",
        "include",
        "-include",
        "nx",
    ];
    let runs = |row: &Program| {
        row.runs != Runs::Nothing
            || row.kind == Kind::Runtime
            || row.here.is_some()
            || matches!(row.builtin, Some(Builtin::Sources | Builtin::RunsBehind | Builtin::Evaluates))
    };
    WORDS.contains(&name) || super::row(name).is_some_and(runs)
}

pub(super) const TABLE: &[Program] = &[
    language(&["python"], &["python3 -c 'import urllib'", "python script.py", "python3.11 x", "python"])
        .flag(Flag::Code)
        .tells_version(&["--version", "-V"])
        .environment(&[
            "PYTHONHOME",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "PYTHONUSERBASE",
            "PYTHONINSPECT",
            "PYTHONBREAKPOINT",
        ])
        .terminal(Terminal { valued: &["-W", "-X"], consoles: CONSOLES, ..PROMPT })
        .belongings(&["/usr/lib", "/usr/share/python3"])
        .safe(&["python3 --version"]),
    language(&["pypy"], &["pypy x"])
        .flag(Flag::Code)
        .tells_version(&["--version"])
        .environment(&["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE"])
        .terminal(Terminal { valued: &["-W", "-X"], consoles: CONSOLES, ..PROMPT }),
    language(&["ipython", "bpython"], &["ipython x"]).terminal(Terminal { consoles: CONSOLES, ..PROMPT }),
    language(&["node", "nodejs"], &["node -e 'fetch(url)'", "node x.js"])
        .flag(Flag::Code)
        .tells_version(&["--version", "-v"])
        .environment(&["NODE_OPTIONS", "NODE_PATH"])
        .belongings(&["/usr/lib", "/usr/share/nodejs"])
        .safe(&["node --version"]),
    language(&["perl"], &["perl -v x", "perl -e 1"])
        .flag(Flag::Code)
        .tells_version(&["--version", "-v"])
        .environment(&["PERL5OPT", "PERL5LIB", "PERL5DB", "PERLLIB"])
        .terminal(Terminal { settled: ("enp", GIVEN), asked: ("", &[]), ..PROMPT })
        .belongings(&["/usr/lib", "/usr/share/perl", "/usr/share/perl5"])
        .safe(&["perl -v"]),
    language(&["ruby"], &["ruby -e 1", "ruby x.rb"])
        .flag(Flag::Code)
        .tells_version(&["--version", "-v"])
        .environment(&["RUBYOPT", "RUBYLIB"])
        .terminal(Terminal { settled: ("enp", GIVEN), asked: ("", &[]), ..PROMPT })
        .belongings(&["/usr/lib", "/usr/share/rubygems-integration"]),
    language(&["php"], &["php -r 1"])
        .flag(Flag::Code)
        .tells_version(&["--version", "-v"])
        .environment(&["PHPRC", "PHP_INI_SCAN_DIR"]),
    language(&["deno"], &["deno run x"])
        .flag(Flag::Code)
        .steered_by(&["deno.json", "deno.jsonc"])
        .traits(WITH_SUBCOMMANDS),
    language(&["bun"], &["bun x"])
        .flag(Flag::Code)
        .steered_by(&["package.json"])
        .publishes(&["publish"])
        .traits(WITH_SUBCOMMANDS),
    language(&["lua", "luajit"], &["lua -e 1"]).flag(Flag::Code).environment(&["LUA_INIT"]),
    language(&["tclsh", "wish"], &["tclsh x"]).flag(Flag::Always("runs code that is not read here")),
    language(&["Rscript", "R", "octave", "julia"], &["Rscript -e 1", "julia x"]),
    language(&["osascript"], &["osascript -e 1"]),
    language(&["irb", "pry"], &["irb"]),
    language(&["guile", "racket", "sbcl", "clj", "ghci", "ocaml", "iex", "elixir", "erl"], &["guile x", "erl -eval 1"]),
    language(&["jshell", "groovy", "scala"], &["jshell x", "groovy -e 1"]),
    language(&["gnuplot"], &["gnuplot -e 1"]),
];

const WITH_SUBCOMMANDS: &[Trait] = &[Trait::HasSubcommands];

pub(super) fn interpreter(judge: &mut Judge<'_>, call: &Call) -> Judgement {
    // `deno run x`, `bun run x`: a word that says what is done with the file.
    let says_what =
        call.args.first().is_some_and(|arg| ["run", "exec", "eval", "repl"].iter().any(|word| arg.is(word)));
    let starts = usize::from(says_what && super::has(file_name(&call.program), Trait::HasSubcommands));
    let args = call.args.get(starts..).unwrap_or_default();
    let operand =
        args.iter().enumerate().find_map(|(at, arg)| Some((at, arg.exact().filter(|text| !text.starts_with('-'))?)));
    let file = operand.map(|(_, text)| text);
    // Behind an option, a bare word may be the option's value, or the script's own.
    let is_file = operand.is_some_and(|(at, text)| at == 0 || text.contains(['.', '/']));
    let from_stdin = args.iter().any(|arg| arg.is("-")) || !is_file;
    judge.runs_code(call, from_stdin, file);
    super::build::note_steering(judge, call);
    mentions(judge, call);
    Judgement::network("")
}

/// Code on the command line: what it says about secrets and hosts is taken from its text.
fn mentions(judge: &mut Judge<'_>, call: &Call) {
    for arg in &call.args {
        for word in arg.start().split(|c: char| c.is_whitespace() || "'\"`()[]{},;=".contains(c)) {
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
