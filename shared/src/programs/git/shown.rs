//! Which files' content a call of git shows, as far as its words tell.

use crate::classify::call::{Arg, Scan};
use crate::classify::{GitShown, ShownOf};

/// Options of `git log` that leave out no commit and keep their order, so that a number of commits means the last ones.
const KEEP_THE_LAST: &[&str] = &[
    "-p",
    "-u",
    "-U",
    "-n",
    "-w",
    "-b",
    "-M",
    "-m",
    "-c",
    "--cc",
    "--patch",
    "--unified",
    "--max-count",
    "--oneline",
    "--format",
    "--pretty",
    "--decorate",
    "--no-decorate",
    "--color",
    "--no-color",
    "--stat",
    "--name-only",
    "--name-status",
    "--abbrev-commit",
    "--date",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--word-diff",
    "--binary",
];

/// Options with which merges are shown beside each of their parents.
const EACH_PARENT: &[&str] = &["-m", "--first-parent", "--diff-merges", "--remerge-diff"];

/// Options by which a call shows more than what differs, or something else than its words say: files that a copy was made of, what leads to
/// a commit that is left out, what both sides have in common.
const OTHERWISE: &[&str] = &["-C", "--find-copies", "--not", "--boundary", "--merge-base"];

/// Options by which a call goes by other paths than those that it names, or shows others with them.
const EVERY_PATH: &[&str] = &["--follow", "-L", "--full-diff"];

/// All that a repository holds.
pub(super) fn everything() -> GitShown {
    GitShown {
        of: ShownOf::History { most: None },
        words: Vec::new(),
        paths: Vec::new(),
        every_ref: true,
        stashes: true,
        added: true,
        each_parent: true,
        every_path: true,
    }
}

/// True for a call of which nobody knows what it shows, but that it may be what files hold or held.
pub(super) fn may_show_files(subcommand: &str, rest: &[Arg]) -> bool {
    match subcommand {
        "show" | "diff" | "diff-tree" | "diff-index" | "diff-files" | "whatchanged" | "cat-file" | "grep"
        | "format-patch" | "archive" | "bundle" | "fast-export" | "difftool" | "range-diff" => true,
        // A stash holds what was not tracked.
        "push" => rest
            .iter()
            .map(Arg::start)
            .any(|text| text == "--mirror" || text.contains("stash") || text.contains("refs/*")),
        // They list, unless they are told to show.
        "log" | "stash" | "reflog" => {
            rest.iter().any(|arg| arg.exact().is_none() && arg.may_be_option() || may_be_patch(arg.start()))
        }
        _ => false,
    }
}

/// True for an option with which a list shows what files hold, alone, in a cluster, with its value, or shortened.
fn may_be_patch(text: &str) -> bool {
    /// From here on none is short for two.
    const SHORTEST: usize = 8;
    if !text.starts_with("--") {
        let is_of_one_letter = |option: &&str| option.len() == 2 && text.contains(option.trim_start_matches('-'));
        return text.starts_with('-') && super::local::PATCHES.iter().any(is_of_one_letter);
    }
    let is = |option: &&str| text.starts_with(option) || text.len() >= SHORTEST && option.starts_with(text);
    super::local::PATCHES.iter().chain(SHOWING).filter(|option| option.starts_with("--")).any(is)
}

/// The same of options that no call which is let through has.
const SHOWING: &[&str] = &["--full-diff", "--include-un", "--textconv"];

/// What an accepted call shows whose content counts. `rest` are the words behind the subcommand.
pub(super) fn shown_by(subcommand: &str, rest: &[Arg], scan: &Scan<'_>) -> GitShown {
    let behind = rest.iter().position(|arg| arg.is("--")).map_or(0, |at| rest.len() - at - 1);
    let (words, paths) = scan.operands.split_at(scan.operands.len().saturating_sub(behind));
    let text = |arg: &&Arg| arg.exact().unwrap_or("?").to_owned();
    let mut words: Vec<String> = words.iter().map(text).collect();
    let mut paths: Vec<String> = paths.iter().map(text).collect();
    let of = match subcommand {
        _ if scan.has(OTHERWISE) => ShownOf::Unknown,
        "diff" | "diff-index" if scan.has(&["--cached", "--staged"]) => ShownOf::Staged,
        "diff" | "diff-index" | "diff-files" => ShownOf::Difference,
        "diff-tree" => ShownOf::Trees,
        // What is no commit is shown whole.
        "show" if super::local::summarizes(scan) => ShownOf::Objects,
        // A number makes it go back.
        "show" if scan.options.iter().any(|(name, _)| is_number_of_commits(name)) => {
            if words.iter().any(|word| word.contains("..")) {
                ShownOf::History { most: None }
            } else {
                history(rest, scan)
            }
        }
        "show" => ShownOf::Commits,
        "log" => history(rest, scan),
        "cat-file" => ShownOf::Objects,
        "grep" => {
            // The first word is what is searched for.
            if !scan.has(&["-e"]) {
                let from = if words.is_empty() { &mut paths } else { &mut words };
                drop(from.drain(..from.len().min(1)));
            }
            ShownOf::Files
        }
        // The scan is of what stands behind that word.
        "stash" if rest.first().is_some_and(|word| word.is("show")) => ShownOf::Stash,
        _ => ShownOf::Unknown,
    };
    GitShown {
        of,
        words,
        paths,
        added: false,
        stashes: false,
        every_ref: scan.has(&["--all", "--branches", "--tags", "--remotes", "--glob"]),
        each_parent: scan.has(EACH_PARENT),
        every_path: scan.has(EVERY_PATH),
    }
}

/// True for an option that says how many commits are shown.
fn is_number_of_commits(name: &str) -> bool {
    matches!(name, "-n" | "--max-count") || is_digit(name)
}

/// True for a number as an option, as far as a scan keeps it.
fn is_digit(name: &str) -> bool {
    name.len() == 2 && name.ends_with(|last: char| last.is_ascii_digit())
}

fn history(rest: &[Arg], scan: &Scan<'_>) -> ShownOf {
    let keeps = scan.options.iter().all(|(name, _)| KEEP_THE_LAST.contains(&name.as_str()) || is_digit(name));
    // Of several numbers the last one counts; the largest shows no less.
    let glued = rest.iter().filter_map(Arg::exact).filter_map(|text| text.strip_prefix('-')?.parse::<usize>().ok());
    let by_option = scan.options.iter().filter(|(name, _)| matches!(name.as_str(), "-n" | "--max-count"));
    let said: Option<Vec<usize>> =
        by_option.map(|(_, value)| value.as_ref().and_then(Arg::exact)?.parse::<usize>().ok()).collect();
    // A number below zero is none.
    let most = said.and_then(|said| glued.chain(said).max());
    ShownOf::History { most: most.filter(|_| keeps) }
}
