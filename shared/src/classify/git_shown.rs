//! Which files' content a call of git shows: of which commits, and below which paths.

use serde::Serialize;

/// What a call of git shows of files, for whoever can look into the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the call by itself")]
pub struct GitShown {
    /// What is laid beside what.
    pub of: ShownOf,
    /// Words in front of `--`: revisions (gitrevisions(7)), and paths where they are none. `?` for one that is only known when it runs.
    pub words: Vec<String>,
    /// Words behind `--`: paths.
    pub paths: Vec<String>,
    /// Every branch, tag or remote branch is named as well.
    pub every_ref: bool,
    /// What was stashed counts among these, with what was not tracked.
    pub stashes: bool,
    /// Files are added first, so that what is not in the index yet may be in it by then.
    pub added: bool,
    /// Merges are shown beside each of their parents, not only where they differ from all of them.
    pub each_parent: bool,
    /// It is not held to the paths that it names: it follows files to other names, or shows all of a commit in which one changed.
    pub every_path: bool,
}

/// What is laid beside what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownOf {
    /// The working tree beside the index, or beside a commit; one commit beside another one.
    Difference,
    /// A commit beside those in front of it, or beside another one.
    Trees,
    /// The index beside a commit.
    Staged,
    /// All files as they are, or as they are in a commit.
    Files,
    /// What these commits changed.
    Commits,
    /// The same with all commits that lead there, or with the last ones of them.
    History {
        /// How many; `None` for all.
        most: Option<usize>,
    },
    /// The objects themselves: commits and folders show no file.
    Objects,
    /// What a stash changed.
    Stash,
    /// Nobody can tell.
    Unknown,
}
