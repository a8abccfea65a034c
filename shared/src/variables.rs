//! Variables of the environment and of the shell that are more than a place for text: one table, from which every rule
//! takes what it asks for, and `harm_of_setting`, which knows shapes of names besides. Which of them steer one program
//! alone stands in that program's row.

use crate::shell::Shell;

/// What goes by a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steers {
    /// The shell: it runs, expands or reads what the value says or names, in a script too.
    Shell,
    /// The shell, when it shows a prompt or a trace: it expands the value again.
    Prompt,
    /// How the shell reads a command, and what it finds.
    Reading,
    /// Settings of the shell that change no command's meaning.
    Settings,
    /// The shell counts in it: assigning to it evaluates the value as arithmetic, or may.
    Counter,
    /// The shell fills it with what it has met.
    Filled,
    /// The loader and the libraries of every program.
    Loader,
    /// Libraries of many programs: names of machines, terminals, memory.
    Library,
    /// Programs run what the value says, or read code and settings from what it names.
    Code,
    /// Where programs look for things, in which language they speak, which version of them runs.
    Place,
}

use Steers::{Code, Counter, Filled, Library, Loader, Place, Prompt, Reading, Settings};

/// All that are known by name. One that ends in `*` stands for all that start like it; the first that fits counts.
const TABLE: &[(&str, Steers)] = &[
    ("BASH_ENV", Steers::Shell),
    ("ENV", Steers::Shell),
    ("SHELLOPTS", Steers::Shell),
    ("BASHOPTS", Steers::Shell),
    ("BASH_LOADABLES_PATH", Steers::Shell),
    ("BASH_XTRACEFD", Steers::Shell),
    ("BASH_FUNC_*", Steers::Shell),
    ("PS4", Steers::Shell),
    ("PS0", Prompt),
    ("PS1", Prompt),
    ("PS2", Prompt),
    ("PS3", Prompt),
    ("PROMPT_COMMAND", Prompt),
    ("IFS", Reading),
    ("GLOBIGNORE", Reading),
    ("CDPATH", Reading),
    ("EXECIGNORE", Reading),
    ("POSIXLY_CORRECT", Reading),
    ("FIGNORE", Settings),
    ("FUNCNEST", Settings),
    ("TIMEFORMAT", Settings),
    ("HISTFILE", Settings),
    ("HISTCONTROL", Settings),
    ("INPUTRC", Settings),
    ("OPTIND", Settings),
    ("RANDOM", Counter),
    ("SRANDOM", Counter),
    ("SECONDS", Counter),
    ("LINENO", Counter),
    ("EPOCHSECONDS", Counter),
    ("EPOCHREALTIME", Counter),
    ("HISTCMD", Counter),
    ("HISTSIZE", Counter),
    ("HISTFILESIZE", Counter),
    ("UID", Counter),
    ("EUID", Counter),
    ("PPID", Counter),
    ("OPTERR", Counter),
    ("COLUMNS", Counter),
    ("LINES", Counter),
    ("TMOUT", Counter),
    ("MAILCHECK", Counter),
    ("COMP_CWORD", Counter),
    ("COMP_POINT", Counter),
    ("COMP_KEY", Counter),
    ("COMP_TYPE", Counter),
    ("_", Filled),
    ("REPLY", Filled),
    ("BASH_REMATCH", Filled),
    ("BASH_COMMAND", Filled),
    ("BASH_ARGV", Filled),
    ("BASH_ARGC", Filled),
    ("BASH_EXECUTION_STRING", Filled),
    ("MAPFILE", Filled),
    ("OPTARG", Filled),
    ("BASH_*", Settings),
    // Where shared libraries lie is the system's own on many machines.
    ("LD_LIBRARY_PATH", Library),
    ("LD_*", Loader),
    ("DYLD_*", Loader),
    ("GCONV_*", Loader),
    ("LOCPATH", Loader),
    ("NLSPATH", Loader),
    ("DPKG_*", Place),
    ("PROC_ROOT", Place),
    ("TCPDIAG_FILE", Place),
    ("HOSTALIASES", Library),
    ("LOCALDOMAIN", Library),
    ("RES_OPTIONS", Library),
    ("MALLOC_TRACE", Library),
    ("TERMINFO", Library),
    ("TERMCAP", Library),
    ("GIT_INDEX_FILE", Place),
    ("GIT_*", Code),
    ("npm_config_*", Code),
    ("NPM_CONFIG_*", Code),
    ("PYTHON*", Code),
    ("NODE_*", Code),
    ("PERL*", Code),
    ("RUBY*", Code),
    ("LUA_INIT", Code),
    ("PHPRC", Code),
    ("PHP_INI_SCAN_DIR", Code),
    ("JAVA_TOOL_OPTIONS", Code),
    ("JDK_JAVA_OPTIONS", Code),
    ("JDK_JAVAC_OPTIONS", Code),
    ("_JAVA_OPTIONS", Code),
    ("CLASSPATH", Code),
    ("RUSTC_WRAPPER", Code),
    ("RUSTC_WORKSPACE_WRAPPER", Code),
    ("MAKEFLAGS", Code),
    ("GNUMAKEFLAGS", Code),
    ("MAKEFILES", Code),
    ("GCC_EXEC_PREFIX", Code),
    ("COMPILER_PATH", Code),
    ("CCC_OVERRIDE_OPTIONS", Code),
    ("OPENSSL_CONF", Code),
    ("OPENSSL_MODULES", Code),
    ("OPENSSL_ENGINES", Code),
    ("LESS*", Code),
    ("MORE", Code),
    ("SHELL_MORE", Code),
    ("MANPAGER", Code),
    ("PAGER", Code),
    ("BROWSER", Code),
    ("EDITOR", Code),
    ("VISUAL", Code),
    ("SSH_ASKPASS", Code),
    ("SUDO_ASKPASS", Code),
    ("TAR_*", Code),
    ("TAPE", Code),
    ("GREP_OPTIONS", Code),
    ("GETCONF_DIR", Code),
    ("RIPGREP_CONFIG_PATH", Code),
    ("SHELLCHECK_OPTS", Code),
    ("GHCRTS", Code),
    ("DOTNET_STARTUP_HOOKS", Code),
    ("COR_PROFILER*", Code),
    ("CORECLR_PROFILER*", Code),
    ("ERL_*", Code),
    ("R_PROFILE*", Code),
    ("R_ENVIRON*", Code),
    ("LLVM_PROFILE_FILE", Code),
    ("GCOV_PREFIX*", Code),
    ("FD_OPTIONS", Code),
    ("AWKPATH", Code),
    ("AWKLIBPATH", Code),
    ("BC_ENV_ARGS", Code),
    ("VIMINIT", Code),
    ("EXINIT", Code),
    ("UNZIP", Place),
    ("UNZIPOPT", Place),
    ("ZIPINFO", Place),
    ("ZIPINFOOPT", Place),
    ("GZIP", Place),
    ("GZIP_BINDIR", Place),
    ("BZIP", Place),
    ("BZIP2", Place),
    ("XZ_OPT", Place),
    ("XZ_DEFAULTS", Place),
    ("ZSTD_CLEVEL", Place),
    ("ZSTD_NBTHREADS", Place),
    ("MAGIC", Place),
    ("PS_FORMAT", Place),
    ("LIBPROC_HIDE_KERNEL", Place),
    ("PS_PERSONALITY", Place),
    ("CMD_ENV", Place),
    ("I_WANT_A_BROKEN_PS", Place),
    ("LIBMOUNT_FSTAB", Place),
    ("LIBMOUNT_MTAB", Place),
    ("LIBMOUNT_UTAB", Place),
    ("GAWK_READ_TIMEOUT", Place),
    ("GAWK_PERSIST_FILE", Code),
    ("GAWK_MSG_SRC", Place),
    ("GAWK_LOCALE_DIR", Code),
    ("INT_CHAIN_MAX", Place),
    ("RUSTUP_TOOLCHAIN", Place),
    ("RUSTUP_HOME", Place),
    ("GOTOOLCHAIN", Place),
    ("GOENV", Place),
    ("GOROOT", Place),
    ("GOFLAGS", Code),
    ("GOWORK", Place),
    ("DOCKER_CONFIG", Place),
    ("CONTAINERS_CONF", Place),
    // An agent's own shell, what is put in front of each command, and what it reads into each.
    ("CLAUDE_CODE_SHELL*", Code),
    ("CLAUDE_ENV_FILE", Code),
    ("LEFTHOOK_*", Code),
    ("PRE_COMMIT_*", Code),
    ("UV_PYTHON", Code),
    ("UV_CONFIG_FILE", Code),
    ("COREPACK_*", Code),
    ("YARN_RC_FILENAME", Code),
    ("BUNDLE_GEMFILE", Code),
    ("BUNDLE_PATH", Code),
    ("CMAKE_TOOLCHAIN_FILE", Code),
    ("ESLINT_USE_FLAT_CONFIG", Code),
    ("JUST_JUSTFILE", Code),
    ("TASK_X_*", Code),
    ("WATCHEXEC_*", Place),
    ("VIRTUAL_ENV", Place),
    ("CONDA_PREFIX", Place),
    ("GOBIN", Place),
    ("GOPATH", Place),
    ("PATH", Place),
    ("HOME", Place),
    ("TMPDIR", Place),
    ("SHELL", Place),
    ("TZ", Place),
    ("LANG", Place),
    ("LANGUAGE", Place),
    ("LC_*", Place),
];

/// The rows whose names begin with a letter, as bits. The hook asks for every variable of its environment.
static BY_LETTER: [[u64; WORDS]; LETTERS] = by_letter();
const LETTERS: usize = 64;
const WORDS: usize = TABLE.len().div_ceil(64);

#[expect(clippy::indexing_slicing, reason = "evaluated when this is compiled, where an index out of range is an error")]
const fn by_letter() -> [[u64; WORDS]; LETTERS] {
    let mut rows = [[0; WORDS]; LETTERS];
    let mut row = 0;
    while row < TABLE.len() {
        rows[TABLE[row].0.as_bytes()[0] as usize % LETTERS][row / 64] |= 1 << (row % 64);
        row += 1;
    }
    rows
}

/// What goes by this variable, if anything is known to.
pub fn steers(name: &str) -> Option<Steers> {
    let letter = usize::from(*name.as_bytes().first()?) % LETTERS;
    for (word, rows) in BY_LETTER.get(letter)?.iter().enumerate() {
        let mut rows = *rows;
        while rows != 0 {
            let (known, steers) = TABLE.get(word * 64 + rows.trailing_zeros() as usize)?;
            let fits = match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *known == name,
            };
            if fits {
                return Some(*steers);
            }
            rows &= rows - 1;
        }
    }
    None
}

/// True for a variable that changes what every command of a script is, whatever program it runs.
pub fn steers_every_command(name: &str) -> bool {
    matches!(steers(name), Some(Steers::Shell | Reading | Loader))
}

/// True for a variable through which the shell or a program would run what it says, or read files that it names.
pub fn is_code(name: &str) -> bool {
    matches!(steers(name), Some(Steers::Shell | Prompt | Reading | Loader | Library | Code))
}

/// True for a variable whose own text the shell runs or expands again, whoever assigns it.
pub fn is_expanded_again(name: &str) -> bool {
    matches!(steers(name), Some(Steers::Shell | Prompt))
}

/// The variables that the shell fills with what it has met.
pub fn filled() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|(_, steers)| *steers == Filled).map(|(name, _)| *name)
}

/// True for a variable that names a program which builds start, by its usual names: a compiler, a linker, a runner of tests.
pub fn names_program(name: &str) -> bool {
    matches!(
        name,
        "RUSTC"
            | "RUSTDOC"
            | "RUSTFLAGS"
            | "CC"
            | "CXX"
            | "LD"
            | "AR"
            | "PKG_CONFIG"
            | "GNUPGHOME"
            | "SHELL"
            | "TF_REATTACH_PROVIDERS"
    ) || name.starts_with("CARGO_BUILD_")
        || name.starts_with("CARGO_TARGET_") && name.len() > "CARGO_TARGET_DIR".len()
}

/// The file or folder of the home folder for which this variable names another one, as programs' manuals say.
pub fn stands_for(name: &str) -> Option<&'static str> {
    const PLACES: &[(&str, &str)] = &[
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("ZDOTDIR", ""),
        ("CURL_HOME", ""),
        ("CARGO_HOME", ".cargo"),
        ("RUSTUP_HOME", ".rustup"),
        ("DOCKER_CONFIG", ".docker"),
        ("NVM_DIR", ".nvm"),
        ("PYENV_ROOT", ".pyenv"),
        ("RBENV_ROOT", ".rbenv"),
        ("ASDF_DATA_DIR", ".asdf"),
        ("SDKMAN_DIR", ".sdkman"),
        ("VOLTA_HOME", ".volta"),
        ("BUN_INSTALL", ".bun"),
        ("DENO_INSTALL", ".deno"),
        ("BUNDLE_USER_HOME", ".bundle"),
        ("BUNDLE_APP_CONFIG", ".bundle"),
        ("IPYTHONDIR", ".ipython"),
        ("JUPYTER_CONFIG_DIR", ".jupyter"),
        ("GH_CONFIG_DIR", ".config/gh"),
        ("GNUPGHOME", ".gnupg"),
        ("TIG_USER_CONFIG", ".tigrc"),
        ("KUBECONFIG", ".kube/config"),
        ("AWS_CONFIG_FILE", ".aws/config"),
        ("PSQLRC", ".psqlrc"),
        ("INPUTRC", ".inputrc"),
        ("SCREENRC", ".screenrc"),
        ("WGETRC", ".wgetrc"),
        ("NETRC", ".netrc"),
        ("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
        ("NPM_CONFIG_USERCONFIG", ".npmrc"),
        ("npm_config_userconfig", ".npmrc"),
        ("MYVIMRC", ".vimrc"),
        ("STARSHIP_CONFIG", ".config/starship.toml"),
        ("JULIA_DEPOT_PATH", ".julia"),
        ("OPENCODE_CONFIG", ".config/opencode/opencode.json"),
        ("OPENCODE_CONFIG_DIR", ".config/opencode"),
        ("LEFTHOOK_CONFIG", "lefthook.yml"),
        ("PRE_COMMIT_HOME", ".cache/pre-commit"),
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", ".gemini/settings.json"),
        ("MISE_GLOBAL_CONFIG_FILE", ".config/mise/config.toml"),
        ("MISE_CONFIG_DIR", ".config/mise"),
        ("DIRENV_CONFIG", ".config/direnv"),
        ("HGRCPATH", ".hgrc"),
        ("ANSIBLE_CONFIG", "ansible.cfg"),
        ("TF_CLI_CONFIG_FILE", ".terraformrc"),
        ("XDG_CONFIG_DIRS", ".config"),
        ("XDG_DATA_DIRS", ".local/share"),
        ("GOENV", ".config/go/env"),
        ("GRADLE_USER_HOME", ".gradle"),
        ("ZSH", ".oh-my-zsh"),
        ("ZSH_CUSTOM", ".oh-my-zsh"),
        ("KITTY_CONFIG_DIRECTORY", ".config/kitty"),
        ("WEZTERM_CONFIG_FILE", ".wezterm.lua"),
        ("BASH_COMPLETION_USER_FILE", ".bash_completion"),
        ("BASH_COMPLETION_USER_DIR", ".local/share/bash-completion"),
        ("PYTHONSTARTUP", ".pythonrc"),
        ("GIT_CONFIG_GLOBAL", ".gitconfig"),
        ("GIT_CONFIG_SYSTEM", ".gitconfig"),
        ("VIMRUNTIME", ".vim"),
    ];
    PLACES.iter().find(|(variable, _)| *variable == name).map(|(_, place)| *place)
}

/// True for a variable whose folders are where a project's own code or repository lies: what is written there is code that its
/// programs read, as everything that is written in a project may be.
pub fn names_folders_of_projects(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PYTHONPATH",
        "PYTHONPYCACHEPREFIX",
        "NODE_PATH",
        "PERL5LIB",
        "PERLLIB",
        "RUBYLIB",
        "CLASSPATH",
        "AWKPATH",
        "GIT_DIR",
        "GIT_COMMON_DIR",
        "GIT_WORK_TREE",
        "GIT_CEILING_DIRECTORIES",
        "GCOV_PREFIX",
    ];
    NAMES.contains(&name) || name.to_ascii_lowercase().starts_with("npm_config_")
}

/// True for a variable that is code, names it, or names folders out of which it is loaded. PATH is none of them: where programs
/// are looked for, and which language they speak, is in each environment.
pub fn leads_to_code(name: &str) -> bool {
    is_code(name) || names_folders_of_projects(name)
}

/// True for a variable that names a file of certificates, which says who is believed and names no further file.
pub fn names_certificates(name: &str) -> bool {
    ["CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CAINFO", "CA_CERTS", "CA_CERTS_FILE", "PIP_CERT", "CAFILE"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// True for a variable that has a client read settings, start a program, send something more or go elsewhere: no run with a way out has
/// one, and no text that sets one has a way out.
pub fn steers_client(name: &str) -> bool {
    const STARTS: &[&str] = &[
        "CURL_",
        "WGETRC",
        "SYSTEM_WGETRC",
        "NETRC",
        "XDG_CONFIG_",
        "CARGO_",
        "RUSTC",
        "RUSTUP_",
        "RUSTFLAGS",
        "GO",
        "GH_",
        "GITHUB_",
        "BROWSER",
        "PIP_",
        "NPM_CONFIG_",
        "npm_config_",
        "NODE_",
        "PYTHON",
        "SSH_",
        "GIT_",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "LESS",
        "ALL_PROXY",
        "all_proxy",
        "FTP_PROXY",
        "ftp_proxy",
        "SSLKEYLOGFILE",
        // gh says it to the service.
        "TZ",
    ];
    let is_of_people = ["GIT_AUTHOR_", "GIT_COMMITTER_"].iter().any(|start| name.starts_with(start));
    STARTS.iter().any(|start| name.starts_with(start)) && !is_of_people && !names_certificates(name)
}

/// True for a variable that may say where programs of the network send, whichever they are: a proxy, a file of settings or the
/// folder with such files, what steers the shell and every program. The rows of single programs name more.
pub fn leads_network(name: &str) -> bool {
    const STARTS: &[&str] = &[
        "GIT_",
        "SSH_",
        "CURL_",
        "WGETRC",
        "SYSTEM_WGETRC",
        "NETRC",
        "XDG_CONFIG_HOME",
        "HOME",
        "RSYNC_",
        "AWS_",
        "DOCKER_HOST",
        "DOCKER_CONTEXT",
        "DOCKER_CONFIG",
        "npm_config_",
        "NPM_CONFIG_",
        "PIP_",
        "RCLONE_",
        "KUBECONFIG",
        "GH_HOST",
        "GH_CONFIG_DIR",
        "CARGO_HOME",
        "CARGO_REGISTR",
        "CARGO_SOURCE",
        "CARGO_HTTP",
        "CARGO_NET",
        "TWINE_",
        "HTTPIE_",
        "SSL_CERT",
        "LYNX_",
        "W3M_",
        "PGHOST",
        "PGSERVICE",
        "PGSYSCONFDIR",
        "MYSQL_HOST",
        "GOPROXY",
        "GONOSUMDB",
        "GONOPROXY",
        "UV_",
        "YARN_",
        "REQUESTS_CA_BUNDLE",
        "CLOUDSDK_",
        "AZURE_",
        "VAULT_ADDR",
        "HELM_",
        "TF_CLI_",
        "KRB5_CONFIG",
        "SSLKEYLOGFILE",
        "QLOGDIR",
        "RESOLV_HOST_CONF",
    ];
    let name = name.strip_suffix('+').unwrap_or(name);
    is_proxy(name)
        || STARTS.iter().any(|start| name.starts_with(start))
            && name != "GIT_INDEX_FILE"
            && !name.starts_with("GIT_AUTHOR_")
            && !name.starts_with("GIT_COMMITTER_")
        || matches!(steers(name), Some(Steers::Shell | Steers::Loader | Steers::Library))
}

/// True for a variable that names a proxy, in small letters or capitals.
pub fn is_proxy(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("_proxy")
}

/// True for a variable that is another one in each call and steers nothing: where the shell is, which the question says itself, the
/// size of its window, and numbers by which calls are followed.
pub fn differs_by_call(name: &str) -> bool {
    const NAMES: &[&str] =
        &["_", "SHLVL", "PWD", "COLUMNS", "LINES", "TRACEPARENT", "TRACESTATE", "INVOCATION_ID", "SECONDS"];
    const AGENTS: &[&str] = &["CLAUDE_", "CODEX_", "GEMINI_", "COPILOT_", "OPENCODE_", "CURSOR_"];
    const ENDS: &[&str] =
        &["TOOL_USE_ID", "TOOL_CALL_ID", "CALL_ID", "REQUEST_ID", "PROMPT_ID", "TURN_ID", "MESSAGE_ID"];
    NAMES.contains(&name)
        || AGENTS.iter().any(|start| name.starts_with(start)) && ENDS.iter().any(|end| name.ends_with(end))
}

/// The variables that say in which letters a shell reads its text.
pub const LOCALES: [&str; 3] = ["LANG", "LC_ALL", "LC_CTYPE"];

/// The variable with the languages of messages: with a slash in one of them, the libraries read messages from there, and
/// programs take some for formats (gettext(3)).
pub const LANGUAGES: &str = "LANGUAGE";

/// True for languages that are looked for where the system has them.
pub fn are_plain_languages(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.@:-".contains(&byte)) && !value.contains("..")
}

/// True for one of [`LOCALES`].
pub fn is_locale(name: &str) -> bool {
    LOCALES.contains(&name.strip_suffix('+').unwrap_or(name))
}

/// True for a locale in which no byte of a character is a quote or a backslash: in some of the others, what ends a quoted text
/// is another place than in UTF-8.
pub fn is_plain_locale(value: &str) -> bool {
    let codeset = value.split_once('.').map_or("", |(_, codeset)| codeset);
    let codeset = codeset.split('@').next().unwrap_or("");
    matches!(value, "" | "C" | "POSIX") || ["utf-8", "utf8"].iter().any(|known| codeset.eq_ignore_ascii_case(known))
}

/// Why setting this variable is more than data in this shell, or `None` when it is data only.
///
/// The list is one of shapes, not of names: better to call a harmless name harmful than to miss one. Names of variables
/// that steer programs are in capitals; in small letters only those of proxies are.
pub fn harm_of_setting(name: &str, shell: Shell) -> Option<&'static str> {
    let name = name.strip_suffix('+').unwrap_or(name);
    if HARMLESS.contains(&name) || name.starts_with("LC_") {
        return None;
    }
    if shell == Shell::Other && TIED_IN_ZSH.contains(&name) {
        return Some("is tied to another one in some shells");
    }
    let is_evaluated = matches!(steers(name), Some(Counter | Filled | Settings));
    if is_evaluated && name != "_"
        || ["EPOCH", "HIST", "COMP_", "READLINE"].iter().any(|start| name.starts_with(start))
        || matches!(name, "DIRSTACK" | "GROUPS" | "FUNCNAME" | "histchars" | "auto_resume")
    {
        return Some("is evaluated by the shell itself");
    }
    if steers(name).is_some() && name != "_" {
        return Some("can change what programs do");
    }
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.ends_with("_proxy") {
        return None;
    }
    let upper = name.to_ascii_uppercase();
    if steers(&upper).is_some() {
        return Some("can change what programs do");
    }
    let starts = [
        "LD_",
        "DYLD_",
        "BASH",
        "GIT",
        "GCONV",
        "NLS",
        "LOCPATH",
        "PYTHON",
        "PERL",
        "RUBY",
        "NODE",
        "NPM_",
        "JAVA",
        "JDK",
        "LESS",
        "MAN",
        "SSH",
        "RIPGREP",
        "GREP",
        "TAR_",
        "GZIP",
        "XZ_",
        "ZSTD_",
        "BZIP",
        "MAKE",
        "CARGO",
        "RUST",
        "GO",
        "JQ_",
        "CURL",
        "WGET",
        "PIP_",
        "UV_",
        "GLIBC",
        "MALLOC",
        "TERMINFO",
        "TERMCAP",
        "XDG_",
        "ZDOTDIR",
        "FPATH",
        "DOCKER",
        "KUBE",
        "AWS_",
        "PS",
        "PROMPT",
        "SHELL",
        "POSIX",
        "HTTP",
        "ALL_PROXY",
        "HTTPS",
        "FD_",
        "FZF",
        "LUA",
        "TCL",
        "DEBUGINFOD",
        "RPM",
        "DPKG",
        "GAWK",
        "LIBMOUNT",
        "CMD_ENV",
        "I_WANT_A_BROKEN_PS",
        "AWK",
        "ZSTD",
        "LZMA",
        "BZIP",
        "LSOF",
        "PCI",
        "SHELLCHECK",
        "YQ",
        "LIBPROC",
        "UNZIP",
        "ZIP",
        "OPENSSL",
        "BC_",
        // Version managers: which program a name means.
        "PYENV",
        "RBENV",
        "PLENV",
        "PHP",
        "JENV",
        "NODENV",
        "VOLTA",
        "MISE",
        "RTX_",
        "ASDF",
        "FNM_",
        "NVM_",
        "SDKMAN",
        "COREPACK",
        "CONTAINERS",
        "GETCONF",
        "EXECIGNORE",
        "CC",
        "CXX",
        "AR",
        "AS",
    ];
    let ends = [
        "PATH", "PAGER", "EDITOR", "_OPTIONS", "_OPTS", "_FLAGS", "_COMMAND", "_CMD", "PRELOAD", "_CONFIG", "RC",
        "PROXY",
    ];
    let exact = ["TERM", "USER", "LOGNAME", "PWD", "OLDPWD", "MAIL"];
    if starts.iter().any(|start| upper.starts_with(start))
        || ends.iter().any(|end| upper.ends_with(end))
        || exact.contains(&upper.as_str())
    {
        return Some("can change what programs do");
    }
    None
}

/// Variables of zsh that are another name for one of the environment, or a table of the shell's own.
const TIED_IN_ZSH: &[&str] = &[
    "path",
    "fpath",
    "cdpath",
    "manpath",
    "mailpath",
    "module_path",
    "fignore",
    "psvar",
    "watch",
    "prompt",
    "status",
    "options",
    "argv",
    "pipestatus",
    "aliases",
    "functions",
    "commands",
    "parameters",
    "galiases",
    "saliases",
    "builtins",
    "modules",
    "nameddirs",
    "userdirs",
    "signals",
    "zsh_eval_context",
    "ttyidle",
    "jobstates",
    "jobtexts",
    "jobdirs",
    "dirstack",
];

const HARMLESS: &[&str] = &[
    "LANG",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "CI",
    "DEBIAN_FRONTEND",
    "RUST_BACKTRACE",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::FAMILIES;

    #[test]
    fn what_steers_a_program_is_in_the_list_and_no_data() {
        for row in FAMILIES.iter().flat_map(|(_, rows)| rows.iter()) {
            for name in row.environment {
                assert!(steers(name).is_some(), "{name} of {:?}", row.names);
                assert!(harm_of_setting(name, Shell::Bash).is_some(), "{name}");
            }
        }
        for (name, _) in TABLE.iter().filter(|(name, _)| !HARMLESS.contains(name) && *name != "_") {
            let name = name.replace('*', "X");
            assert!(harm_of_setting(&name, Shell::Bash).is_some() || name.starts_with("LC_"), "{name}");
        }
    }

    #[test]
    fn a_name_stands_once() {
        for (at, (name, _)) in TABLE.iter().enumerate() {
            assert!(!TABLE.iter().skip(at + 1).any(|(other, _)| other == name), "{name} stands twice");
            let before = TABLE
                .iter()
                .take(at)
                .find(|(known, _)| known.strip_suffix('*').is_some_and(|start| name.starts_with(start)));
            assert!(before.is_none(), "{name} never counts: {before:?}");
        }
    }

    #[test]
    fn what_every_list_had_is_there() {
        for name in [
            "BASH_ENV",
            "LD_PRELOAD",
            "LD_AUDIT",
            "GCONV_PATH",
            "IFS",
            "PS4",
            "POSIXLY_CORRECT",
            "DYLD_INSERT_LIBRARIES",
        ] {
            assert!(steers_every_command(name) && is_code(name), "{name}");
        }
        for name in ["PS1", "LD_LIBRARY_PATH", "TERMINFO", "NODE_OPTIONS", "PAGER", "GIT_DIR", "npm_config_registry"] {
            assert!(!steers_every_command(name) && is_code(name), "{name}");
        }
        for name in ["PATH", "HOME", "TZ", "RANDOM", "RUSTUP_HOME"] {
            assert!(!is_code(name) && steers(name).is_some(), "{name}");
        }
        assert!(is_expanded_again("PS3") && is_expanded_again("SHELLOPTS") && !is_expanded_again("PAGER"));
        assert_eq!(steers("MY_NAME"), None);
    }

    #[test]
    fn names_that_steer_programs_are_not_data() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "BASH_ENV",
            "IFS",
            "GIT_SSH_COMMAND",
            "PAGER",
            "PS4",
            "RANDOM",
            "https_proxy",
            "histchars",
            "GCONV_PATH",
            "RIPGREP_CONFIG_PATH",
            "LESSOPEN",
            "PATH+",
            "HOME",
            "RUSTC_WRAPPER",
            "POSIXLY_CORRECT",
        ] {
            assert!(harm_of_setting(name, Shell::Bash).is_some(), "{name}");
        }
        assert!(harm_of_setting("path", Shell::Other).is_some() && harm_of_setting("path", Shell::Bash).is_none());
        for name in ["tmpdir", "LC_ALL", "TZ", "FOO", "x", "file", "count", "NO_COLOR"] {
            assert!(harm_of_setting(name, Shell::Bash).is_none(), "{name}");
        }
    }
}
