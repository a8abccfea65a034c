//! Git inside of a run: editors that would wait for somebody fail at once with advice, and commits get a trailer.
//!
//! The trailer goes through git's own hooks, so that it is there however a commit is spelled, in an alias or a script
//! too, and never where a text only mentions one. The repository's own hooks run as they would without us.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use bashgate_shared::programs::GIT_HOOKS_OF_WORK;

use crate::sandbox::Temporary;

/// What a program that wants an editor is told, and how it fails.
const NO_EDITOR: &str =
    "echo 'bashgate: there is no editor here; give the text with -m or -F, or keep it with --no-edit' >&2; false";
const NO_REBASE: &str = "echo 'bashgate: an interactive rebase needs a person; use git rebase without -i, or set GIT_SEQUENCE_EDITOR yourself' >&2; false";

/// Variables that keep programs from waiting for somebody.
pub fn environment() -> Vec<(String, String)> {
    [
        ("EDITOR", "/bin/false"),
        ("VISUAL", "/bin/false"),
        ("GIT_EDITOR", NO_EDITOR),
        ("GIT_SEQUENCE_EDITOR", NO_REBASE),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("PAGER", "cat"),
        ("SSH_ASKPASS", "/bin/false"),
        ("SSH_ASKPASS_REQUIRE", "never"),
        ("DEBIAN_FRONTEND", "noninteractive"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// True for a folder that is a repository's own, as git sees it.
pub fn is_repository(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && has("refs") && has("objects")
}

/// The repository's own folder for a linked worktree outside of it: where its commits go.
///
/// The worktree's word for it is not enough, since whoever may write there could name any repository: the repository must name
/// the worktree, too, and both must be the same user's.
pub fn repository_of_worktree(workspace: &Path) -> Option<PathBuf> {
    let real = |path: PathBuf| fs::canonicalize(path).ok();
    let workspace = real(workspace.to_owned())?;
    let link = workspace.join(".git");
    let owner = fs::symlink_metadata(&link).ok().filter(fs::Metadata::is_file)?.uid();
    let own = folder_named_in(&link).and_then(real)?;
    let common = path_in(&own.join("commondir")).and_then(real)?;
    let is_named_back =
        path_in(&own.join("gitdir")).and_then(real)? == link && own.parent() == Some(&common.join("worktrees"));
    let is_of_same = [&common, &own].iter().all(|path| fs::metadata(path).is_ok_and(|found| found.uid() == owner));
    (is_named_back && is_of_same && is_repository(&common) && !common.starts_with(&workspace)).then_some(common)
}

/// The path that a file of git's holds (`commondir`, `gitdir`), as git reads it: without newlines at its end. It is
/// relative to the folder that the file lies in. `None` where there is none.
pub fn path_in(file: &Path) -> Option<PathBuf> {
    path_behind(b"", file)
}

/// The folder of git's that a `.git` names which is a file. One blank stands behind the colon.
pub fn folder_named_in(file: &Path) -> Option<PathBuf> {
    path_behind(b"gitdir: ", file)
}

fn path_behind(start: &[u8], file: &Path) -> Option<PathBuf> {
    // Whatever a run has put there is not waited for.
    let bytes = crate::watch::bytes_of(file);
    let text = bytes.strip_prefix(start)?;
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))?;
    // What git itself writes has neither; where one stands, each reader of it takes another path.
    let is_plain =
        |path: &&[u8]| path.len() < MOST_OF_A_PATH && !path.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r'));
    let path = text.get(..=end).filter(is_plain)?;
    file.parent().map(|folder| folder.join(OsStr::from_bytes(path)))
}

/// Longest path that a system takes, in bytes.
const MOST_OF_A_PATH: usize = 4096;

/// Hooks that add a trailer, in a folder below `parent`, and the variables that make git use them.
///
/// The folder belongs to the caller, whoever the command runs as: nobody else may write where root does. The parent
/// must be no folder that a run may write.
pub fn trailer_hooks(trailer: &str, parent: &Path) -> io::Result<(Temporary, Vec<(String, String)>)> {
    let folder = Temporary::make(parent, 0o755)?;
    // Taking over that folder hides all hooks of work in a working tree, so each is passed on.
    for hook in GIT_HOOKS_OF_WORK {
        write_hook(folder.path(), hook, trailer)?;
    }
    let path = folder.path().to_string_lossy().into_owned();
    let settings = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.hooksPath"), ("GIT_CONFIG_VALUE_0", &path)];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Ok((folder, settings))
}

fn write_hook(folder: &Path, name: &str, trailer: &str) -> io::Result<()> {
    let quoted = trailer.replace('\'', "'\\''");
    // Without our setting git says where the repository's own hooks are, its own `core.hooksPath` included.
    let mut text = String::from("#!/bin/sh\nunset GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0\n");
    text.push_str(&format!("own=$(git rev-parse --git-path hooks)/{name}\n"));
    if name == "prepare-commit-msg" {
        text.push_str("if [ -x \"$own\" ]; then \"$own\" \"$@\" || exit; fi\n");
        text.push_str(&format!(
            "exec git interpret-trailers --in-place --if-exists addIfDifferent --trailer '{quoted}' \"$1\"\n"
        ));
    } else {
        text.push_str("if [ -x \"$own\" ]; then exec \"$own\" \"$@\"; fi\n");
    }
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(folder.join(name))?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(std::fs::Permissions::from_mode(0o755))
}
