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
}
