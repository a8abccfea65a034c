//! What is known by name: programs and variables of which a value must be kept away.

use crate::environment;

/// Programs that take code, or a command, as an argument or on standard input.
const RUN_CODE: &[&str] = &[
    "sh",
    "bash",
    "rbash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "csh",
    "tcsh",
    "fish",
    "nu",
    "elvish",
    "pwsh",
    "busybox",
    "toybox",
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "guile",
    "racket",
    "R",
    "Rscript",
    "julia",
    "octave",
    "java",
    "jshell",
    "groovy",
    "scala",
    "elixir",
    "erl",
    "ghci",
    "ocaml",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "gsed",
    "ssed",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "nano",
    "m4",
    "dc",
    "gnuplot",
    "make",
    "gmake",
    "ninja",
    "cmake",
    "ssh",
    "rsh",
    "su",
    "sudo",
    "doas",
    "pkexec",
    "env",
    "xargs",
    "parallel",
    "nohup",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "time",
    "timeout",
    "setsid",
    "stdbuf",
    "unbuffer",
    "chroot",
    "unshare",
    "nsenter",
    "setarch",
    "linux32",
    "linux64",
    "i386",
    "x86_64",
    "uname26",
    "setpriv",
    "runuser",
    "capsh",
    "bwrap",
    "firejail",
    "strace",
    "ltrace",
    "flock",
    "watch",
    "entr",
    "script",
    "at",
    "batch",
    "crontab",
    "gdb",
    "lldb",
    "sqlite3",
    "psql",
    "mysql",
    "mariadb",
    "mail",
    "mailx",
    "ftp",
    "telnet",
    "run-parts",
    "start-stop-daemon",
    "systemd-run",
    "tmux",
    "screen",
];
/// Shells whose literal code can be followed.
pub(super) const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];
/// Builtins whose arguments are only text to them.
pub(super) const ONLY_TEXT: [&str; 6] = ["echo", ":", "true", "false", "cd", "pushd"];
/// Builtins that give variables attributes and values.
pub(super) const DECLARE: [&str; 5] = ["local", "declare", "typeset", "export", "readonly"];
/// Variables that programs and the shell obey, besides those through which they run code.
const OBEYED: &[&str] = &[
    "PATH",
    "HOME",
    "PS3",
    "OPTIND",
    "TMPDIR",
    "SHELL",
    "HISTFILE",
    "HISTCONTROL",
    "INPUTRC",
    "TZ",
    "LANG",
    "LANGUAGE",
    "FIGNORE",
    "EXECIGNORE",
    "POSIXLY_CORRECT",
    "FUNCNEST",
    "TIMEFORMAT",
];
const OBEYED_PREFIXES: &[&str] = &["BASH_", "PYTHON", "PERL", "NODE_", "RUBY", "LESS", "LC_", "TAR_", "GCONV_"];
/// Assigning to these evaluates the value as arithmetic: the shell gives them the attribute of integers, or may.
const INTEGERS: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "HISTCMD",
    "HISTSIZE",
    "HISTFILESIZE",
    "UID",
    "EUID",
    "PPID",
    "OPTERR",
    "COLUMNS",
    "LINES",
    "TMOUT",
    "MAILCHECK",
    "COMP_CWORD",
    "COMP_POINT",
    "COMP_KEY",
    "COMP_TYPE",
];
/// Variables whose own text the shell runs or expands again, whoever assigns it.
pub(super) const EXPANDED_AGAIN: &[&str] =
    &["PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND", "ENV", "BASH_ENV", "SHELLOPTS"];
/// Variables that the shell fills with what it has met.
pub(super) const FILLED: &[&str] = &[
    "_",
    "REPLY",
    "BASH_REMATCH",
    "BASH_COMMAND",
    "BASH_ARGV",
    "BASH_ARGC",
    "BASH_EXECUTION_STRING",
    "MAPFILE",
    "OPTARG",
];
/// Programs in which a word may name what is run: only what stands behind `--` is surely data.
pub(super) const HAS_SUBCOMMANDS: &[&str] = &["git", "docker", "podman", "kubectl", "systemctl"];
/// Programs of which an option's argument can be a command, besides those that run code anyway.
pub(super) const EXEC_OPTIONS: &[&str] = &[
    "tar", "bsdtar", "zip", "unzip", "7z", "rsync", "git", "sort", "find", "fd", "scp", "sftp", "curl", "wget", "gpg",
    "man", "less", "more", "split", "docker", "podman", "kubectl", "gcc", "ld",
];

/// True for a program that runs what it is given, whatever version its name ends with.
pub(in crate::scripts) fn runs_code(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    RUN_CODE.contains(&name) || RUN_CODE.contains(&plain) || name.starts_with("ld-") || name.starts_with("ld.")
}

/// True for a variable that is more than a place for text.
pub(super) fn is_obeyed(variable: &str) -> bool {
    environment::is_code(variable)
        || OBEYED.contains(&variable)
        || INTEGERS.contains(&variable)
        || OBEYED_PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
}
