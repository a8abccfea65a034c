//! What a call of another tool reads, and what it hands over.

use std::path::{Path, PathBuf};

use bashgate_shared::classify::{Effects, paths};
use bashgate_shared::programs;
use bashgate_shared::protocol::FileEvidence;

use super::Gathered;
use super::project::Named;
use super::told::Told;
use crate::gate::conditions::place;
use crate::gate::words;

/// Longest text that may be the name of a file, in bytes.
const MAX_NAME: usize = 4096;
/// Most words of what is handed over that are looked at as names of files.
const MAX_WORDS: usize = 1000;

/// The files and folders that a call of another tool reads, or that what it hands over names, as they lie there now.
pub fn of_reads(tool: &str, effects: &Effects, sent: &str, cwd: &Path) -> Vec<FileEvidence> {
    let mut all = Gathered::new(cwd);
    for path in effects.reads.iter().chain(&effects.named) {
        all.add(path, Told::Digest);
    }
    if words::of(sent).nth(MAX_WORDS).is_some() {
        all.add_unknown("what more words of its input name than are looked at as names of files");
    }
    let mut repositories: Vec<String> = Vec::new();
    for name in names_in_input(sent) {
        match place(&name, cwd) {
            // Of all of a project it is told as of one that a program works on.
            Some(file) if file == cwd => all.add_project(&Named::all()),
            // The whole of a machine is more than anybody hands over by a call.
            Some(file) if file.is_dir() && !cwd.starts_with(&file) => all.add_folder(&name),
            Some(file) if file.is_file() => all.add(&file.to_string_lossy(), Told::Digest),
            _ => {}
        }
        let is_one = |folder: &PathBuf| folder.join(".git").exists();
        repositories.extend(place(&name, cwd).filter(is_one).map(|folder| folder.to_string_lossy().into_owned()));
    }
    // Whoever is told of a repository may go where its settings say.
    let is_of_git = !sent.is_empty() && tool.to_ascii_lowercase().contains("git");
    if !repositories.is_empty() || is_of_git {
        let (programs, network) = (vec!["git".to_owned()], effects.network.clone());
        all.add_git(&Effects { programs, network, git_in: repositories, ..Effects::default() }, &[]);
    }
    all.folded()
}

/// What the input of a tool may name as files: a whole text, or a word of one. It may have been too long to be kept as what it was.
pub fn names_in_input(sent: &str) -> Vec<String> {
    let texts: Vec<String> = serde_json::from_str(sent).map_or_else(|_| Vec::new(), |value| texts_of(&value));
    let mut names: Vec<String> = texts.iter().take(MAX_WORDS).flat_map(|text| as_names(text)).collect();
    // A word in a text is a file at most: a folder's name is a word like any other.
    let may_be_file = |word: &&str| word.contains(['/', '.']) && !word.ends_with('/') && !word.ends_with('.');
    names.extend(words::of(sent).filter(may_be_file).take(MAX_WORDS).map(str::to_owned));
    names.sort();
    names.dedup();
    names
}

/// The texts in a value.
fn texts_of(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(values) => values.iter().flat_map(texts_of).collect(),
        serde_json::Value::Object(fields) => fields.values().flat_map(texts_of).collect(),
        _ => Vec::new(),
    }
}

/// What a text may name as a file or a folder: itself, without a scheme, the mark of a mention or what a pattern begins with.
fn as_names(text: &str) -> Vec<String> {
    if text.is_empty() || text.len() > MAX_NAME || text.contains('\n') {
        return Vec::new();
    }
    let bare = text.trim().trim_start_matches('@');
    let path = paths::of_address(bare).unwrap_or(bare);
    let mut names = vec![text.to_owned(), path.to_owned(), programs::percent_decoded(path)];
    if !path.contains(char::is_whitespace)
        && let Some((start, _)) = path.split_once(['*', '?', '[', '{'])
    {
        // `**/*.js` is of the folder where it works.
        let folder = start.rsplit_once('/').map_or(".", |(folder, _)| folder);
        names.extend(Some(folder.to_owned()).filter(|folder| !folder.is_empty()));
    }
    names.dedup();
    names
}
