//! What a command may put in the place of a file that it runs, before it runs it: what people or rules were shown is another one then.

use bashgate_shared::classify::{Argv, Part, paths};
use bashgate_shared::programs::{self, Builtin, Trait};

use super::recipes;

/// True where a command writes a file by its name, or a folder in which that may lie.
pub fn is_written(writes: &[String], calls: &[Argv], path: &str) -> bool {
    let holds = |written: &str| {
        let folder = written.trim_end_matches(['/', '*', '.']).trim_start_matches("./");
        // Of what is found somewhere the name is only known when it runs.
        folder.is_empty()
            || folder.contains("{}")
            || paths::is_within(path, folder)
            || path.contains(&format!("/{folder}/"))
            || path.ends_with(&format!("/{folder}"))
    };
    // What changes files is not always known by what it writes.
    let changes = |program: &str| {
        programs::row(paths::file_name(program))
            .is_some_and(|row| row.has(Trait::ChangesFiles) || row.has(Trait::Overwrites))
    };
    let words = calls.iter().filter(|call| call.first().and_then(Option::as_deref).is_some_and(changes));
    let words = words.flat_map(|call| call.iter().skip(1)).flatten().map(String::as_str);
    let written = writes.iter().map(String::as_str);
    written.chain(words.filter(|word| !word.starts_with('-'))).any(holds)
}

/// True for a call that gives a file another content, where only the run, or make, knows which.
pub fn puts_somewhere(call: &Argv) -> bool {
    let program = call.first().and_then(Option::as_deref).and_then(|name| programs::row(paths::file_name(name)));
    let is_open = |word: &Option<String>| word.as_ref().is_none_or(|word| word.contains(recipes::OPEN));
    program.is_some_and(|row| row.has(Trait::ChangesFiles) && !row.has(Trait::NamesOnly))
        && call.iter().skip(1).any(is_open)
}

/// What waits in a text for a time, for somebody or for input that nothing in the text gives: what stands behind it runs later than it
/// was looked at.
pub fn waiting(parts: &[Part], calls: &[Argv]) -> Option<String> {
    let row =
        |argv: &Argv| argv.first().and_then(Option::as_deref).and_then(|name| programs::row(paths::file_name(name)));
    let follows = |argv: &Argv| {
        argv.iter().skip(1).flatten().any(|word| {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            letters.is_some_and(|letters| letters.contains(['f', 'F'])) || word.starts_with("--f") || word == "--retry"
        })
    };
    let waits = |argv: &&Argv| {
        row(argv).is_some_and(|row| {
            row.has(Trait::Waits) || row.builtin == Some(Builtin::Waits) || row.has(Trait::Follows) && follows(argv)
        })
    };
    let asks = |part: &&Part| !part.fed && row(&part.argv).is_some_and(|row| row.builtin == Some(Builtin::Fills));
    let found = calls.iter().find(waits).or_else(|| parts.iter().find(asks).map(|part| &part.argv))?;
    found.first().cloned().flatten()
}

/// The call that may bring files of any name: git's, or what unpacks or patches them.
pub fn brought_by(calls: &[Argv]) -> Option<String> {
    let brings = |call: &&Argv| {
        let words: Vec<Option<&str>> = call.iter().skip(1).map(Option::as_deref).collect();
        let program = call.first().and_then(Option::as_deref);
        program.is_some_and(|program| {
            programs::is_git(program) && programs::may_leave_files(&words) || programs::writes_as_told(program, &words)
        })
    };
    let words = |call: &Argv| call.iter().map(|word| word.as_deref().unwrap_or("…")).collect::<Vec<_>>().join(" ");
    calls.iter().find(brings).map(words)
}
