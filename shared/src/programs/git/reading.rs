//! Calls of `git config` that only read.

use crate::classify::call::Arg;

/// Options that say what is read.
const ASKS: &[&str] = &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"];
/// Options that say from where, and in which form.
const FORMS: &[&str] = &[
    "-z",
    "--all",
    "--regexp",
    "--global",
    "--system",
    "--local",
    "--worktree",
    "--bool",
    "--int",
    "--bool-or-int",
    "--path",
    "--expiry-date",
    "--null",
    "--name-only",
    "--show-names",
    "--show-origin",
    "--show-scope",
    "--includes",
    "--no-includes",
    "--fixed-value",
    "--no-type",
];
/// The same with a value behind them.
const VALUED: &[&str] = &["-f", "--file", "--blob", "--type", "--url", "--default"];

/// True for an option of `git config` behind which a value of its own stands.
pub(super) fn takes_value(option: &str) -> bool {
    VALUED.contains(&option) || matches!(option, "--comment" | "--value")
}

/// True where these words, behind `config`, read settings and set none. Git looks for options in front of the first name only: behind it,
/// `-l` is a value, and what looks like a question sets it.
pub(super) fn only_reads_settings(words: &[Arg]) -> bool {
    let mut reads = false;
    let mut by_word = false;
    let mut names = 0;
    let mut is_setting = false;
    let mut words = words.iter().map(Arg::exact);
    while let Some(word) = words.next() {
        let Some(text) = word else { return false };
        if !text.starts_with('-') {
            // Newer versions have words for what options say in older ones, and options behind those.
            by_word |= names == 0 && !reads && matches!(text, "get" | "list");
            names += 1;
            // `section.name` alone asks for it; one with a value sets it.
            is_setting |= text.contains('.') && !text.contains(['=', ' ']);
            continue;
        }
        if names > 0 && !by_word {
            return false;
        }
        let (name, glued) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
        if ASKS.contains(&name) {
            reads = true;
        } else if VALUED.contains(&name) {
            if !glued && words.next().flatten().is_none() {
                return false;
            }
        } else if !FORMS.contains(&name) {
            return false;
        }
    }
    reads || by_word || names == 1 && is_setting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_name_is_its_value() {
        let reads = |text: &str| only_reads_settings(&text.split(' ').map(Arg::literal).collect::<Vec<_>>());
        for text in [
            "--get core.hooksPath",
            "--global --get core.hooksPath",
            "-l",
            "--list --show-origin",
            "--type int --get x.y",
            "--type=int --get x.y",
            "-f .git/config --get x.y",
            "--get-regexp remote.*",
            "get x.y",
            "get --all x.y",
            "list --global",
            "user.name",
            "--global user.email",
            "-f .git/config x.y",
        ] {
            assert!(reads(text), "{text}");
        }
        for text in [
            "core.fsmonitor ./x -l",
            "core.fsmonitor ./x --list",
            "core.hooksPath --list",
            "--global core.fsmonitor /x -l",
            "-f -l core.hooksPath x",
            "-f -l -f .git/config core.hooksPath x",
            "--get x.y --unset",
            "--get x.y -e",
            "-e --get",
            "--unset x.y",
            "x.y z",
            "set x.y z -l",
            "get x.y --replace-all",
            "x.y get",
        ] {
            assert!(!reads(text), "{text}");
        }
    }
}
