//! Variables that a command may set without changing what other programs do.

use crate::shell::Shell;

/// Why setting this variable is more than data in this shell, or `None` when it is data only.
///
/// The list is one of shapes, not of names: better to call a harmless name harmful than to miss one. Names of variables
/// that steer programs are in capitals; in small letters only those of proxies are.
pub(super) fn harm_of_setting(name: &str, shell: Shell) -> Option<&'static str> {
    let name = name.strip_suffix('+').unwrap_or(name);
    if HARMLESS.contains(&name) || name.starts_with("LC_") {
        return None;
    }
    if shell == Shell::Other && TIED_IN_ZSH.contains(&name) {
        return Some("is tied to another one in some shells");
    }
    if ["RANDOM", "SRANDOM", "SECONDS", "LINENO", "OPTIND", "OPTARG", "DIRSTACK", "GROUPS", "FUNCNAME", "EPOCHSECONDS"]
        .contains(&name)
        || name.starts_with("EPOCH")
        || name.starts_with("HIST")
        || name.starts_with("COMP_")
        || name.starts_with("READLINE")
        || matches!(name, "histchars" | "auto_resume")
    {
        return Some("is evaluated by the shell itself");
    }
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.ends_with("_proxy") {
        return None;
    }
    let upper = name.to_ascii_uppercase();
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
    let exact = [
        "IFS",
        "ENV",
        "HOME",
        "VISUAL",
        "BROWSER",
        "CDPATH",
        "GLOBIGNORE",
        "FIGNORE",
        "INPUTRC",
        "HOSTALIASES",
        "RES_OPTIONS",
        "TMPDIR",
        "TERM",
        "USER",
        "LOGNAME",
        "UID",
        "EUID",
        "PPID",
        "PWD",
        "OLDPWD",
        "MAIL",
        "REPLY",
        "MAGIC",
        "SUDO_ASKPASS",
    ];
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

const HARMLESS: &[&str] =
    &["LANG", "LANGUAGE", "TZ", "NO_COLOR", "CLICOLOR", "FORCE_COLOR", "COLUMNS", "LINES", "CI", "DEBIAN_FRONTEND"];

#[cfg(test)]
mod tests {
    use super::harm_of_setting;
    use crate::shell::Shell;

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
