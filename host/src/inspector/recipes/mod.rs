//! Commands that stand in files of tasks: recipes of a makefile, scripts of a package. They are read as commands are.

mod make;
mod packages;

use std::path::Path;

use bashgate_shared::classify::{Argv, paths};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs;
use bashgate_shared::protocol::FileEvidence;
use bashgate_shared::shell::{self, Shell};

use make::Called;

/// What stands for a command, or a part of one, that only its runner knows.
pub(super) const OPEN: &str = "make-variable";

/// True for a file of tasks, by its name.
pub(super) fn is_one(path: &str) -> bool {
    is_of_make(path) || paths::file_name(path) == "package.json"
}

/// True for a makefile, by its name.
pub(super) fn is_of_make(path: &str) -> bool {
    let name = paths::file_name(path);
    let ending = Path::new(name).extension();
    name.to_ascii_lowercase().ends_with("makefile") || ending.is_some_and(|end| end == "mk" || end == "mak")
}

/// The commands of a file of tasks among these that these calls may start, as a script, in a command that sets these variables. `None` for
/// another file.
pub(super) fn commands_of(
    (file, all): (&FileEvidence, &[FileEvidence]),
    calls: &[Argv],
    sets: &[String],
) -> Option<String> {
    let steered = |is: &dyn Fn(&str) -> bool| {
        let is_steered = |call: &&Argv| {
            let name = call.first().and_then(Option::as_deref).map(paths::file_name).unwrap_or_default();
            programs::row(name).is_some_and(|row| row.steered_by.iter().any(|file| is(file)))
        };
        calls.iter().filter(is_steered).collect::<Vec<_>>()
    };
    let each = |calls: &[&Argv], read: &dyn Fn(&[Option<&str>]) -> String| {
        let of = |call: &&Argv| read(&call.iter().skip(1).map(Option::as_deref).collect::<Vec<_>>());
        let text: String = calls.iter().map(of).collect();
        (!calls.is_empty()).then_some(text)
    };
    if is_of_make(&file.path) {
        let makes = steered(&|file| file.to_ascii_lowercase().ends_with("makefile"));
        return each(&makes, &|words| make::recipes(&file.head, &Called { words: words.to_vec(), sets }));
    }
    let name = paths::file_name(&file.path);
    if name == "package.json" {
        // A package's own tasks are those of the nearest manifest; the one above it is read where the call says so.
        let folder = |file: &FileEvidence| Path::new(&file.path).parent().map(Path::to_owned).unwrap_or_default();
        let is_nearer = |other: &&FileEvidence| {
            paths::file_name(&other.path) == name
                && folder(other) != folder(file)
                && folder(other).starts_with(folder(file))
        };
        // Another package's, or those of another folder.
        let says_where =
            |word: &String| ["-w", "--w", "-C", "--c", "--p", "--d"].iter().any(|start| word.starts_with(start));
        let is_elsewhere = calls.iter().flatten().flatten().any(says_where);
        if file.head.is_empty() && !is_elsewhere && all.iter().any(|other| is_nearer(&other)) {
            return Some(String::new());
        }
        return each(&steered(&|file| file == name), &|words| packages::scripts(&file.head, words, sets));
    }
    None
}

/// A command that a shell of its own runs: what it sets is none of the next one's.
fn alone(command: &str) -> String {
    format!("(\n{command}\n)\n")
}

/// True for a text that begins and ends by itself: no quote, bracket or here-document goes on behind it.
fn is_whole(text: &str) -> bool {
    let is_read =
        |text: &str| CommandLine::parse(text).is_ok_and(|line| shell::read(line.text(), Shell::Other).is_ok());
    !text.contains("<<") && (text.trim().is_empty() || is_read(text) && is_read(&alone(text)))
}
