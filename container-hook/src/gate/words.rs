//! The files that the words of a command line may name, as settings hold such lines: git's programs, an agent's hooks. Nobody runs it
//! here, so that whatever a word may mean counts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use bashgate_shared::programs::{LOAD_BESIDE, SHELL_ENDING};

use super::conditions::place;

/// What divides words, in the shell and in what is put into it.
const BREAKS: &str = "\"'`;&|()<>$={}!\\,";
/// What programs add to the name of a library that they are told to load: `.load x`.
const LIBRARY_ENDING: &str = "so";
/// Most folders that one line is taken to go into.
const MAX_FOLDERS: usize = 16;

/// What interpreters add to a name.
fn endings() -> impl Iterator<Item = &'static str> {
    ["", SHELL_ENDING, LIBRARY_ENDING].into_iter().chain(LOAD_BESIDE.iter().copied().flatten().copied())
}

/// The words of a line.
pub fn of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| letter.is_whitespace() || BREAKS.contains(letter)).filter(|word| !word.is_empty())
}

/// The files that these words may name, seen from these folders: by a path, behind an option's letter, below a folder that another
/// word names, with an ending that interpreters add, or as a module. A word that is a bare name of letters counts where it is not the
/// first, which PATH knows.
pub fn files(words: &[&str], folders: &[&Path]) -> Vec<PathBuf> {
    files_of(words, folders).0
}

/// The same, and whether all folders were looked into that the words name.
pub fn files_of(words: &[&str], folders: &[&Path]) -> (Vec<PathBuf>, bool) {
    files_that(words, folders, &|place| place.is_file())
}

/// The same for whatever counts as a file.
pub fn files_that(words: &[&str], folders: &[&Path], counts: &dyn Fn(&Path) -> bool) -> (Vec<PathBuf>, bool) {
    let mut bases: Vec<PathBuf> = folders.iter().map(|folder| (*folder).to_owned()).collect();
    let named = |word: &str, bases: &[PathBuf]| {
        let mut places: Vec<PathBuf> = bases.iter().filter_map(|base| place(word, base)).collect();
        for base in bases {
            let inside = word.trim_start_matches('/');
            places.push(base.join(inside));
            // A variable in front of it, of which the sign is gone, may stand for any folder.
            if let Some((_, rest)) =
                inside.split_once('/').filter(|(name, _)| is_name(name) && !base.join(name).is_dir())
            {
                places.push(base.join(rest.trim_start_matches('/')));
            }
        }
        places
    };
    // A folder, and those on the way to a file in it.
    let mut known: HashSet<PathBuf> = bases.iter().filter_map(|base| std::fs::canonicalize(base).ok()).collect();
    // Each word once, and once more where the first one comes again.
    let mut met = HashSet::new();
    let words = words.iter().enumerate().map(|(at, word)| (at == 0, *word));
    let words: Vec<(bool, &str)> = words.filter(|word| met.insert(*word)).collect();
    let mut inner: Vec<PathBuf> = words
        .iter()
        .flat_map(|(_, word)| named(word, &bases))
        .filter(|place| place.is_dir())
        // One folder goes by many names.
        .filter(|place| std::fs::canonicalize(place).is_ok_and(|real| known.insert(real)))
        .take(MAX_FOLDERS + 1)
        .collect();
    let is_all = inner.len() <= MAX_FOLDERS;
    inner.truncate(MAX_FOLDERS);
    bases.extend(inner);
    let mut found = Vec::new();
    for (is_first, word) in &words {
        let glued = word.strip_prefix('-').and_then(|rest| rest.split_at_checked(1)).map(|(_, rest)| rest);
        let is_program = *is_first && !word.contains(['/', '.']);
        for word in [Some(*word).filter(|_| !is_program), glued].into_iter().flatten().filter(|word| !word.is_empty()) {
            let module = word.replace("::", "/").replace('.', "/");
            let as_module = ["", "/__main__", "/__init__"].map(|file| format!("{module}{file}.py"));
            let as_module = as_module.into_iter().chain(word.contains("::").then(|| format!("{module}.pm")));
            let as_module = as_module.flat_map(|name| named(&name, &bases)).collect::<Vec<_>>();
            let as_file = named(word, &bases)
                .into_iter()
                .flat_map(|place| endings().map(|ending| with_ending(&place, ending)).collect::<Vec<_>>());
            found.extend(as_file.chain(as_module).filter(|place| place.is_absolute() && counts(place)));
        }
    }
    found.sort();
    found.dedup();
    (found, is_all)
}

fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    if !ending.is_empty() {
        name.push(".");
    }
    name.push(ending);
    PathBuf::from(name)
}

/// True for what a variable may be called.
fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_word_may_mean_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "scripts/clean.sh",
            "tools/clean.js",
            "tools/pclean.py",
            "tools/mod/__main__.py",
            ".git/x",
            "c.sh",
            "plain",
        ] {
            let file = root.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        }
        for (line, want) in [
            ("\"$(git rev-parse --show-toplevel)/scripts/clean.sh\" %f", "scripts/clean.sh"),
            ("node tools/clean", "tools/clean.js"),
            ("python3 -m tools.pclean", "tools/pclean.py"),
            ("python3 -mtools.mod", "tools/mod/__main__.py"),
            ("!\"$PWD\"/scripts/clean.sh", "scripts/clean.sh"),
            ("\"${GIT_WORK_TREE:-.}\"/scripts/clean.sh", "scripts/clean.sh"),
            ("\"$GIT_DIR/../scripts/clean.sh\"", "scripts/clean.sh"),
            ("D=scripts; \"$D/clean.sh\"", "scripts/clean.sh"),
            ("cd scripts && sh clean", "scripts/clean.sh"),
            ("cd . && cd .. && cd ./. && cd scripts && sh clean.sh", "scripts/clean.sh"),
            ("env X=1 ./scripts/clean.sh", "scripts/clean.sh"),
            ("bash -c \"scripts/clean.sh %O\"", "scripts/clean.sh"),
            ("ssh -Fc.sh", "c.sh"),
            ("sh plain", "plain"),
        ] {
            let words: Vec<&str> = of(line).collect();
            let git = root.join(".git");
            let found: Vec<PathBuf> =
                files(&words, &[root, &git]).iter().filter_map(|file| std::fs::canonicalize(file).ok()).collect();
            let want = std::fs::canonicalize(root.join(want)).unwrap();
            assert!(found.contains(&want), "{line}: {found:?}");
        }
        assert_eq!(files(&["plain"], &[root]), Vec::<PathBuf>::new(), "a program of PATH");
    }
}
