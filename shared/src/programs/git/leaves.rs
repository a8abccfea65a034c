//! What calls of git leave in the working tree.

use super::{checks_out, subcommand_of};

/// What a call of git does to files of the working tree of which its words are not the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaves {
    /// What others have committed takes the place of what was committed here. Where a file was changed here and there, git refuses.
    Commits,
    /// The same out of what was put by.
    Stashed,
    /// What was changed here goes back to what was committed, or to what a word names.
    Restored,
    /// The same, and what nobody tracks goes.
    Cleared(Untracked),
    /// What nobody tracks goes.
    Cleaned(Untracked),
    /// What is tracked goes.
    Removed,
    /// Nobody knows: an alias, or a subcommand of others.
    Unknown,
}

/// Which of the files that nobody tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    /// Those that git does not ignore.
    Plain,
    /// Those that it ignores.
    Ignored,
    /// All of them.
    All,
}

/// They leave no file, and nothing that is tracked, checked out or meant by a name becomes another.
const LOOK: &[&str] = &[
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "grep",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "verify-pack",
    "version",
];
/// The same of the working tree and of names, but for files that they are told to write, elsewhere or of their own.
const APART: &[&str] = &[
    "archive",
    "bundle",
    "clone",
    "credential",
    "format-patch",
    "gc",
    "maintenance",
    "range-diff",
    "repack",
    "request-pull",
    "send-email",
    "stripspace",
    "submodule",
    "var",
    "verify-commit",
    "verify-tag",
    "whatchanged",
    "worktree",
];

/// What a call of git leaves, given its words, and the subcommand's own; `None` where it changes no file whose name does not stand in it.
pub fn leaves<'w>(words: &'w [Option<&'w str>]) -> Option<(Leaves, &'w str, &'w [Option<&'w str>])> {
    /// They change nothing in the working tree, or what each of their words names.
    const NONE: &[&str] = &[
        "am",
        "apply",
        "checkout-index",
        "commit-tree",
        "config",
        "difftool",
        "fast-export",
        "fast-import",
        "hash-object",
        "index-pack",
        "init",
        "instaweb",
        "interpret-trailers",
        "lfs",
        "mailinfo",
        "mergetool",
        "mktag",
        "mktree",
        "pack-objects",
        "pack-refs",
        "prune",
        "remote",
        "replace",
        "rerere",
        "symbolic-ref",
        "unpack-objects",
        "update-index",
        "update-ref",
        "write-tree",
    ];
    let (subcommand, rest) = subcommand_of(words)?;
    let is = |options: &[&str]| has_any(rest, &|word| options.iter().any(|option| word.starts_with(option)));
    // A later one takes an option back.
    let takes_back = is(&["--no-"]);
    // Letters that stand together: `-fdn`.
    let has_letter =
        |letter: char| has_any(rest, &|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter));
    let first = rest.first().copied().flatten();
    let what = match subcommand {
        // On a branch without a past nothing is tracked.
        "switch" if is(&["--o"]) => Leaves::Removed,
        "switch" if has_letter('f') || is(&["--f", "--di"]) => Leaves::Restored,
        "switch" | "merge" | "pull" | "rebase" | "cherry-pick" | "revert" | "bisect" => Leaves::Commits,
        "restore" if !takes_back && (has_letter('S') || is(&["--st"])) && !has_letter('W') && !is(&["--w"]) => {
            return None;
        }
        "checkout" | "restore" => Leaves::Restored,
        "reset" if is(&["--h", "--me", "--k"]) => Leaves::Restored,
        "reset" => return None,
        "read-tree" if has_letter('u') => Leaves::Restored,
        "stash" => match first {
            Some("list" | "show" | "drop" | "clear" | "create" | "store") => return None,
            Some("pop" | "apply" | "branch") => Leaves::Stashed,
            _ if has_letter('a') || is(&["--a"]) => Leaves::Cleared(Untracked::All),
            _ if has_letter('u') || is(&["--i"]) => Leaves::Cleared(Untracked::Plain),
            _ => Leaves::Restored,
        },
        "clean" if only_says(rest) => return None,
        "clean" if has_letter('x') => Leaves::Cleaned(Untracked::All),
        "clean" if has_letter('X') => Leaves::Cleaned(Untracked::Ignored),
        "clean" => Leaves::Cleaned(Untracked::Plain),
        "rm" if is(&["--c"]) && !takes_back => return None,
        "rm" | "mv" | "sparse-checkout" => Leaves::Removed,
        _ if NONE.contains(&subcommand) || APART.contains(&subcommand) || !may_leave_files(words) => return None,
        _ => Leaves::Unknown,
    };
    Some((what, subcommand, rest))
}

/// True for a subcommand whose words are paths, and never commits.
pub fn takes_only_paths(subcommand: &str) -> bool {
    matches!(subcommand, "rm" | "mv" | "clean")
}

/// The words of a call that may change what git tracks, what is checked out or what names mean: the subcommand, and its own. `None` for
/// what only reads, or changes nothing of that here.
pub fn moves<'w>(words: &'w [Option<&'w str>]) -> Option<(&'w str, &'w [Option<&'w str>])> {
    const STAY: &[&str] = &["check-ref-format", "show-branch"];
    let (subcommand, rest) = subcommand_of(words)?;
    let only_looks = match (subcommand, rest.first().copied().unwrap_or(Some(""))) {
        // One makes branches, the other calls those of others otherwise.
        ("worktree", Some("list" | "lock" | "unlock" | "prune"))
        | ("remote", Some("" | "-v" | "--verbose" | "show" | "get-url" | "add" | "set-url")) => true,
        ("worktree" | "remote", _) => false,
        _ => [LOOK, APART].iter().any(|list| list.contains(&subcommand)),
    };
    let stays = only_looks || STAY.contains(&subcommand);
    (!stays).then_some((subcommand, rest))
}

/// True for a `git clean` that certainly only says what it would take away. Behind an `e` stands what it leaves alone.
fn only_says(words: &[Option<&str>]) -> bool {
    let known = || words.iter().flatten();
    let says = |word: &&str| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.and_then(|letters| letters.split('e').next()).is_some_and(|letters| letters.contains('n'))
            || "--dry-run".starts_with(*word) && word.len() > 3
    };
    known().any(says) && words.iter().all(Option::is_some) && !known().any(|word| word.starts_with("--no"))
}

/// True where a word is so, or may be.
fn has_any(words: &[Option<&str>], is: &dyn Fn(&str) -> bool) -> bool {
    words.iter().any(|word| word.is_none_or(is))
}

/// True for a call of git that may leave other files where it stands than were there: of all but those that are known to leave none.
pub fn may_leave_files(args: &[Option<&str>]) -> bool {
    const LEAVE_NONE: &[&str] = &["add", "branch", "commit", "config", "fetch", "notes", "push", "reflog", "tag"];
    let writes = args.iter().any(|word| word.is_none_or(|word| word.starts_with("--ou")));
    writes
        || !subcommand_of(args)
            .is_some_and(|(subcommand, _)| [LOOK, LEAVE_NONE].iter().any(|list| list.contains(&subcommand)))
}

/// True for a call of git by which files come to be of which no word is the name: out of objects that were made by number, or in another
/// working tree than the one around it.
pub(in crate::programs) fn writes_by_number(words: &[Option<&str>]) -> bool {
    let elsewhere = |word: &&str| word.starts_with("--work-tree");
    if words.iter().flatten().any(elsewhere) {
        return true;
    }
    let Some((subcommand, rest)) = subcommand_of(words) else { return false };
    let has = |options: &[&str]| has_any(rest, &|word| options.iter().any(|option| word.starts_with(option)));
    let known = || rest.iter().flatten();
    // What comes under another name than it was committed by: a folder of a commit, or of what is merged.
    let is_inside = |word: &&str| word.split_once(':').is_some_and(|(of, _)| !of.is_empty() && !of.ends_with('='));
    let is_strategy = |word: &&str| word.starts_with('-') && word.contains("subtree") || word.starts_with("subtree");
    match subcommand {
        "checkout" | "restore" if known().any(is_inside) => true,
        _ if checks_out(subcommand) && known().any(is_strategy) => true,
        "mktree" | "commit-tree" | "fast-import" | "unpack-objects" | "checkout-index" | "replace" | "subtree" => true,
        "update-index" => has(&["--index-i", "--cacheinfo", "--stdin", "-z"]),
        "hash-object" => has(&["-w", "--stdin-p"]),
        // Without it, only the index is another one.
        "read-tree" => has_any(rest, &|word| {
            word.starts_with('-') && !word.starts_with("--") && word.contains('u') || is_inside(&word)
        }),
        _ => false,
    }
}
