//! Calls that only tell a version, of programs whose other calls run code. Some programs let files of the workspace say
//! which version of themselves runs, or is fetched; their answer is local where no such file is in force.
//!
//! Programs that load or do more before they answer are not here: npm, yarn, pnpm and tsc, whose shims read which
//! version `package.json` names; go, which looks for `go.mod` above the folder as the shell names it; pip, which opens
//! a socket to see whether there is IPv6; mvn, dotnet, pytest, terraform, gh. Shims of version managers in the home
//! folder are no trusted programs to the hook.

use super::{Call, Condition, Judge, Judgement};

/// Programs and the arguments with which they tell their version, the whole of them.
pub struct Teller {
    /// Names; those of languages may carry a version of their own (`python3.11`).
    pub names: &'static [&'static str],
    /// Calls with exactly one of these arguments.
    pub arguments: &'static [&'static str],
    /// Files that choose the program that runs, in the folder or any above it.
    pub chosen_by: &'static [&'static str],
}

const fn teller(names: &'static [&'static str], arguments: &'static [&'static str]) -> Teller {
    Teller { names, arguments, chosen_by: &[] }
}

/// All that are known.
pub const TABLE: &[Teller] = &[
    // The other letters of Python, ruby and perl read a script from their standard input all the same.
    teller(&["python"], &["--version", "-V"]),
    teller(&["ruby", "perl", "php", "node", "nodejs"], &["--version", "-v"]),
    teller(&["pypy"], &["--version"]),
    teller(&["deno", "uv", "ruff"], &["--version", "-V"]),
    teller(&["make", "gmake"], &["--version", "-v"]),
    teller(&["gcc", "cc", "g++", "clang", "cmake", "ctest", "ninja"], &["--version"]),
    teller(&["java", "javac"], &["-version", "--version"]),
    teller(&["docker", "podman"], &["--version", "-v"]),
    teller(&["openssl"], &["version"]),
    teller(&["rg"], &["--version", "-V"]),
    teller(&["bash", "zsh"], &["--version"]),
    Teller {
        names: &["cargo", "rustc"],
        arguments: &["--version", "-V"],
        chosen_by: &["rust-toolchain", "rust-toolchain.toml"],
    },
];

/// The judgement of a call that only tells a version; `None` for any other.
pub(super) fn judge(judge: &mut Judge<'_>, call: &Call, name: &str) -> Option<Judgement> {
    let [only] = call.args.as_slice() else { return None };
    let asked = only.exact()?;
    let teller = TABLE.iter().find(|teller| teller.names.iter().any(|of| super::is_program(name, of)))?;
    if !teller.arguments.contains(&asked) {
        return None;
    }
    if teller.chosen_by.is_empty() {
        return Some(Judgement::safe());
    }
    for folder in judge.folders()? {
        let names = teller.chosen_by.iter().map(|name| (*name).to_owned()).collect();
        judge.condition(Condition::NoFileAbove { folder, names });
    }
    Some(Judgement::conditional(format!("`{name}`: files of the workspace may choose the version that runs")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{CommandClass, Decided, Surroundings, classify, programs};
    use crate::command::CommandLine;

    fn found(command: &str) -> crate::classify::Classification {
        classify(&CommandLine::parse(command).unwrap(), &Surroundings::default())
    }

    #[test]
    fn exactly_these_arguments_are_local() {
        for teller in TABLE {
            for name in teller.names {
                assert!(programs::kind_of(name).is_some(), "{name} has no row");
                for argument in teller.arguments {
                    let call = format!("{name} {argument}");
                    let (class, decided) = if teller.chosen_by.is_empty() {
                        (CommandClass::Safe, Decided::Local)
                    } else {
                        (CommandClass::Unknown, Decided::LocalIf)
                    };
                    assert_eq!((found(&call).class, found(&call).decided), (class, decided), "{call}");
                    for more in [format!("{call} x"), format!("{call} \"$x\""), format!("./{call}"), format!("{call}x")]
                    {
                        assert_eq!(found(&more).decided, Decided::Host, "{more}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_version_in_the_name_and_a_folder_count() {
        assert_eq!(found("python3.11 --version").decided, Decided::Local);
        let names = ["rust-toolchain", "rust-toolchain.toml"].map(str::to_owned).to_vec();
        let wants = [Condition::NoFileAbove { folder: "sub".to_owned(), names }];
        assert_eq!(found("cd sub && cargo -V").conditions, wants);
        assert_eq!(found("cd \"$x\" && cargo -V").decided, Decided::Host);
        assert_eq!(found("touch ../rust-toolchain && cargo -V").decided, Decided::Host);
        for command in
            ["PYENV_VERSION=../../x python --version", "npm --version", "pip --version", "go version", "cargo -vV"]
        {
            assert_eq!(found(command).decided, Decided::Host, "{command}");
        }
    }
}
