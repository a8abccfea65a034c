//! Commands to test with: our own, and those in a folder that `BASHGATE_CORPORA` names, which are not distributed with the
//! project.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::repository;

/// The files of our own corpora, and those of others.
pub fn corpus_files() -> Vec<PathBuf> {
    let mut files = files_in(&repository().join("tests/corpus"));
    files.extend(corpora());
    files
}

/// The files of other people's corpora. The folder's name is relative to the repository.
pub fn corpora() -> Vec<PathBuf> {
    std::env::var_os("BASHGATE_CORPORA").map_or_else(Vec::new, |folder| {
        let folder = repository().join(folder);
        let files = files_in(&folder);
        assert!(!files.is_empty(), "BASHGATE_CORPORA: there are no corpora in {}", folder.display());
        files
    })
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

/// The objects of a file, one a line.
pub fn lines_of(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rows with commands of a file with a `{"command": …}` a line, or with whole sessions: `{"calls": [{"command": …}, …]}`, of which
/// each is as many rows as it has commands.
pub fn rows_of(file: &Path) -> Vec<Value> {
    let rows = lines_of(file).into_iter().flat_map(|row| match row["calls"].as_array() {
        Some(calls) => calls.clone(),
        None => vec![row],
    });
    rows.filter(|row| row["command"].is_string()).collect()
}

/// Their commands.
pub fn commands_of(file: &Path) -> Vec<String> {
    rows_of(file).iter().filter_map(|row| row["command"].as_str().map(str::to_owned)).collect()
}
