//! Where package managers and languages keep what projects use.

/// Folders in which what other projects use lies: whoever writes there writes into all of them. By a package manager, or by a
/// language's own layout of a home folder.
const FOLDERS: [&[&str]; 16] = [
    &["node_modules"],
    &["bower_components"],
    &["jspm_packages"],
    &["site-packages"],
    &["dist-packages"],
    &["go", "pkg"],
    &["pkg", "mod"],
    &["perl5", "lib"],
    &["lib", "perl5"],
    &["lib", "ruby"],
    &["gems"],
    &["lib", "R"],
    &["R", "win-library"],
    &["ocaml", "site-lib"],
    &["elm-stuff"],
    &["deps", "ebin"],
];
/// The first folder below a home folder where that is an installation, or holds what starts by itself.
const AT_HOME: [&str; 17] = [
    "Applications",
    "Library",
    "R",
    "anaconda",
    "anaconda2",
    "anaconda3",
    "dotfiles",
    "mambaforge",
    "micromamba",
    "miniconda",
    "miniconda2",
    "miniconda3",
    "miniforge3",
    "opam",
    "perl5",
    "sdk",
    "snap",
];
/// Files by which a folder says that it is an installation.
pub const MARKS: [&str; 4] = ["conda-meta", "pyvenv.cfg", "pip-selfcheck.json", "lib/site-packages"];

/// True for a path in which dependencies of others lie.
pub fn lie_in(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    FOLDERS.iter().any(|names| parts.windows(names.len()).any(|at| at == *names))
}

/// True for a path below a home folder that is part of an installation there.
pub fn is_installed_at_home(below: &str) -> bool {
    let mut names = below.split('/').filter(|part| !part.is_empty());
    match names.next() {
        // Sources of the language's older layout lie below it.
        Some("go") => names.next() != Some("src"),
        Some(first) => AT_HOME.contains(&first),
        None => false,
    }
}

/// Names that builds, tests and version control look for in the folders above the one where they work, besides those that rows have.
const LOOKED_FOR: &[&str] = &[
    "go.work",
    "setup.cfg",
    "setup.py",
    "pytest.ini",
    "tsconfig.json",
    "jsconfig.json",
    "global.json",
    "settings.gradle",
    "settings.gradle.kts",
    "lerna.json",
    "babel.config.json",
    "babel.config.js",
    "hardhat.config.js",
    "rollup.config.js",
    "Vagrantfile",
    "Gemfile",
    "krb5cc_0",
    "commondir",
    "config",
    "objects",
    "refs",
    "hooks",
    "venv",
    "bin",
    "lib",
    "src",
];
/// Modules that Python brings (its documentation, "Python Module Index"): a file called so beside a script is loaded in their place.
const PYTHON_BRINGS: &[&str] = &[
    "abc",
    "aifc",
    "argparse",
    "array",
    "ast",
    "asynchat",
    "asyncio",
    "asyncore",
    "atexit",
    "audioop",
    "base64",
    "bdb",
    "binascii",
    "bisect",
    "builtins",
    "bz2",
    "cProfile",
    "calendar",
    "cgi",
    "cgitb",
    "chunk",
    "cmath",
    "cmd",
    "code",
    "codecs",
    "codeop",
    "collections",
    "colorsys",
    "compileall",
    "concurrent",
    "configparser",
    "contextlib",
    "contextvars",
    "copy",
    "copyreg",
    "crypt",
    "csv",
    "ctypes",
    "curses",
    "dataclasses",
    "datetime",
    "dbm",
    "decimal",
    "difflib",
    "dis",
    "distutils",
    "doctest",
    "email",
    "encodings",
    "ensurepip",
    "enum",
    "errno",
    "faulthandler",
    "fcntl",
    "filecmp",
    "fileinput",
    "fnmatch",
    "fractions",
    "ftplib",
    "functools",
    "gc",
    "genericpath",
    "getopt",
    "getpass",
    "gettext",
    "glob",
    "graphlib",
    "grp",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http",
    "imaplib",
    "imghdr",
    "imp",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "locale",
    "logging",
    "lzma",
    "mailbox",
    "mailcap",
    "marshal",
    "math",
    "mimetypes",
    "mmap",
    "modulefinder",
    "msilib",
    "msvcrt",
    "multiprocessing",
    "netrc",
    "nis",
    "nntplib",
    "nt",
    "ntpath",
    "nturl2path",
    "numbers",
    "opcode",
    "operator",
    "optparse",
    "os",
    "ossaudiodev",
    "pathlib",
    "pdb",
    "pickle",
    "pickletools",
    "pipes",
    "pkgutil",
    "platform",
    "plistlib",
    "poplib",
    "posix",
    "posixpath",
    "pprint",
    "profile",
    "pstats",
    "pty",
    "pwd",
    "py_compile",
    "pyclbr",
    "pydoc",
    "pydoc_data",
    "pyexpat",
    "queue",
    "quopri",
    "random",
    "re",
    "readline",
    "reprlib",
    "resource",
    "rlcompleter",
    "runpy",
    "sched",
    "secrets",
    "select",
    "selectors",
    "shelve",
    "shlex",
    "shutil",
    "signal",
    "site",
    "smtpd",
    "smtplib",
    "sndhdr",
    "socket",
    "socketserver",
    "spwd",
    "sqlite3",
    "sre_compile",
    "sre_constants",
    "sre_parse",
    "ssl",
    "stat",
    "statistics",
    "string",
    "stringprep",
    "struct",
    "subprocess",
    "sunau",
    "symtable",
    "sys",
    "sysconfig",
    "syslog",
    "tabnanny",
    "tarfile",
    "telnetlib",
    "tempfile",
    "termios",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "tkinter",
    "token",
    "tokenize",
    "tomllib",
    "trace",
    "traceback",
    "tracemalloc",
    "tty",
    "turtle",
    "types",
    "typing",
    "unicodedata",
    "unittest",
    "urllib",
    "uu",
    "uuid",
    "venv",
    "warnings",
    "wave",
    "weakref",
    "webbrowser",
    "winreg",
    "winsound",
    "wsgiref",
    "xdrlib",
    "xml",
    "xmlrpc",
    "zipapp",
    "zipfile",
    "zipimport",
    "zlib",
    "zoneinfo",
];

/// True for a name that programs look for by itself where somebody works below or beside it: what steers builds, what they keep, and
/// what a script loads from its own folder.
pub fn is_looked_for(name: &str) -> bool {
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    let of_rows = || {
        let rows = super::FAMILIES.iter().flat_map(|(_, rows)| rows.iter());
        rows.flat_map(|row| row.steered_by.iter().chain(row.configured_by)).any(is)
    };
    // As a text, compiled or a library: `json.py`, `random.pyc`, `json.cpython-311-x86_64-linux-gnu.so`, a folder; and parts of it: `_json.py`.
    let is_python = [".py", ".pyc", ".pyo", ".so"].iter().any(|ending| name.ends_with(ending)) || !name.contains('.');
    let module = name.split('.').next().unwrap_or(name);
    let is_pythons = is_python && (PYTHON_BRINGS.contains(&module) || module.starts_with('_'));
    is_pythons
        || [".pyc", ".pyo", ".pth"].iter().any(|ending| name.ends_with(ending))
        || LOOKED_FOR.iter().any(is)
        || FOLDERS.iter().any(|names| names.first().is_some_and(is))
        || of_rows()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_told_from_sources() {
        for path in ["/w/node_modules", "/w/node_modules/a/b", "/v/lib/python3/site-packages/x", "/h/go/pkg/mod/x@v1"] {
            assert!(lie_in(path), "{path}");
        }
        for path in ["/w", "/w/my_node_modules", "/w/pkg/model", "/w/lib", "/w/go/src"] {
            assert!(!lie_in(path), "{path}");
        }
        for (below, expected) in
            [("go/bin", true), ("go/src/x", false), ("go", true), ("miniconda3/x", true), ("src", false), ("", false)]
        {
            assert_eq!(is_installed_at_home(below), expected, "{below}");
        }
    }

    #[test]
    fn what_programs_look_for_is_told_from_what_somebody_names() {
        for name in [
            "node_modules",
            "package.json",
            "Cargo.toml",
            "conftest.py",
            "json.py",
            "random",
            "random.pyc",
            "json.cpython-311-x86_64-linux-gnu.so",
            "_json.py",
            "__pycache__",
            "_strptime",
            "go.work",
            "Makefile",
            "venv",
        ] {
            assert!(is_looked_for(name), "{name}");
        }
        for name in [
            "analyze.py",
            "out.log",
            "x",
            "libx.so",
            "test_parser.py",
            "data.json",
            "build.log",
            "plan.md",
            "commit-msg.txt",
        ] {
            assert!(!is_looked_for(name), "{name}");
        }
    }
}
