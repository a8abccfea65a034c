//! What a command may put in the place of a file that it runs, before it runs it: what people or rules were shown is another one then.

use bashgate_shared::classify::{Argv, Part, paths};
use bashgate_shared::programs::{self, Builtin, Program, Trait};

use super::offline::row_of;
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
    let changes = |row: &Program| row.has(Trait::ChangesFiles) || row.has(Trait::Overwrites);
    let words = calls.iter().filter(|call| row_of(call).is_some_and(changes));
    let words = words.flat_map(|call| call.iter().skip(1)).flatten().map(String::as_str);
    let written = writes.iter().map(String::as_str);
    written.chain(words.filter(|word| !word.starts_with('-'))).any(holds)
}

/// True for a call that gives a file another content, where only the run, or make, knows which.
pub fn puts_somewhere(call: &Argv) -> bool {
    let is_open = |word: &Option<String>| word.as_ref().is_none_or(|word| word.contains(recipes::OPEN));
    row_of(call).is_some_and(|row| row.has(Trait::ChangesFiles) && !row.has(Trait::NamesOnly))
        && call.iter().skip(1).any(is_open)
}

/// What waits in a text for a time, for somebody or for input that nothing in the text gives: what stands behind it runs later than it
/// was looked at.
pub fn waiting(parts: &[Part], calls: &[Argv], text: &str, runs: &[String]) -> Option<String> {
    let follows = |argv: &Argv| {
        argv.iter().skip(1).flatten().any(|word| {
            let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            letters.is_some_and(|letters| letters.contains(['f', 'F']))
                || ["--f", "--retry", "--pid"].iter().any(|option| word.starts_with(option))
        })
    };
    let waits = |argv: &&Argv| {
        row_of(argv).is_some_and(|row| {
            row.has(Trait::Waits) || row.builtin == Some(Builtin::Waits) || row.has(Trait::Follows) && follows(argv)
        })
    };
    let asks = |part: &&Part| {
        let fills = |row: &Program| matches!(row.builtin, Some(Builtin::Fills | Builtin::FillsAndCalls));
        reads_unknown_input(part) || !part.fed && row_of(&part.argv).is_some_and(fills)
    };
    let found = calls.iter().find(waits).or_else(|| parts.iter().find(asks).map(|part| &part.argv));
    found.map_or_else(|| loop_in(text, runs), |found| found.first().cloned().flatten())
}

/// The parts and calls of a text up to the last one that runs one of these files: what waits behind it, waits for nothing that runs
/// then. All of them where something may run in another order than it stands there.
pub fn until_last_run<'a>(
    (parts, calls): (&'a [Part], &'a [Argv]),
    runs: &[String],
    text: &str,
) -> (&'a [Part], Vec<Argv>) {
    let runs_otherwise = |row: &Program| row.builtin.is_some_and(|one| one.evaluates() || one.changes_names());
    let is_in_order = !["(", "{", "done"].iter().any(|word| text.contains(word))
        && !calls.iter().any(|call| row_of(call).is_some_and(runs_otherwise));
    let names = |word: &String| runs.iter().any(|path| paths::file_name(path) == paths::file_name(word));
    let last = parts.iter().rposition(|part| part.argv.iter().flatten().any(names));
    let Some(end) = last.filter(|_| is_in_order).map(|at| at + 1) else { return (parts, calls.to_vec()) };
    let (before, behind) = parts.split_at(end);
    let stands_in = |parts: &[Part], call: &Argv| parts.iter().any(|part| part.argv.ends_with(call));
    let is_behind = |call: &Argv| stands_in(behind, call) && !stands_in(before, call);
    (before, calls.iter().filter(|call| !is_behind(call)).cloned().collect())
}

/// Most turns of a loop that are as if its body stood there as often.
const MOST_IN_A_ROW: usize = 8;
/// Most words of a loop's condition that are read.
const MOST_OF_CONDITION: usize = 64;

/// A loop that goes on until something is so that another call may make so: by what its condition asks of files, or of programs. One that
/// goes through its input, or through its own words, does not, unless it leaves them, or has one of these files run each time.
fn loop_in(text: &str, runs: &[String]) -> Option<String> {
    const ABOUT_FILES: [&str; 14] =
        ["-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-p", "-S", "-nt", "-ot", "-ef"];
    let divides = |letter: char| letter.is_whitespace() || ";&|(){}".contains(letter);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words: Vec<&str> = lines.flat_map(|line| line.split(divides)).filter(|word| !word.is_empty()).collect();
    if !words.contains(&"done") {
        return None;
    }
    let is_loop = |(at, word): &(usize, &&str)| {
        let condition = words.iter().skip(at + 1).take_while(|word| **word != "do");
        // One that is longer than anybody writes may ask anything.
        // `"$(cat go)"` falls apart at its bracket.
        let asks = |word: &str| ABOUT_FILES.contains(&word) || word.ends_with('$') || word.contains('`');
        let asks_files = || condition.clone().zip(1..).any(|(word, at)| at > MOST_OF_CONDITION || asks(word));
        let next = words.get(at + 1).copied().unwrap_or_default();
        // What is asked in its body ends it as well.
        let body = || words.iter().skip(at + 1).copied().take_while(|word| *word != "done");
        let leaves = |word: &&str| matches!(*word, "break" | "exit" | "return");
        let is_loop = matches!(**word, "while" | "until" | "for" | "select");
        // Each time it is what lies there then.
        let runs_one = |word: &&str| {
            let is_called = |path: &String| paths::file_name(path) == paths::file_name(word.trim_matches(['"', '\'']));
            runs.iter().any(is_called) || programs::row(word).is_some_and(|row| !row.steered_by.is_empty())
        };
        // A few words one after the other are as if the body stood there as often.
        let listed = || words.iter().skip(at + 3).take_while(|word| **word != "do");
        let is_plain = |word: &&str| !word.contains(['$', '`', '*', '?', '[']) && !word.contains("..");
        let is_short = **word == "for"
            && words.get(at + 2) == Some(&"in")
            && listed().count() <= MOST_IN_A_ROW
            && listed().all(is_plain)
            && !body().any(|word| asks(word) || matches!(word, "if" | "[" | "[[" | "test" | "case"));
        if is_loop && (body().any(|word| leaves(&word)) || !is_short && body().any(|word| runs_one(&word))) {
            return true;
        }
        // `for ((…))` ends as soon as its body says so.
        if **word == "for" && text.contains("((") && body().any(|word| asks(word) || word == "test" || word == "grep") {
            return true;
        }
        match (**word, programs::row(next).map(|row| row.builtin)) {
            ("while", Some(Some(Builtin::Fills))) => false,
            ("while", Some(Some(Builtin::Tests))) => asks_files(),
            ("until", _) | ("while", Some(_)) => true,
            ("while", None) => next == "[[" && asks_files() || next.contains('/') || matches!(next, "!" | ":"),
            _ => false,
        }
    };
    words.iter().enumerate().find(is_loop).map(|(_, word)| (*word).to_owned())
}

/// True for a part that passes on or sends its standard input, to which nothing in the text feeds anything: it is what the agent's
/// shell, or who types into it, gives it.
pub fn reads_unknown_input(part: &Part) -> bool {
    let Some((program, words)) = part.argv.split_first() else { return false };
    let passes_on = program.as_deref().and_then(programs::row).is_some_and(|row| row.passes_on.is_some());
    let is_named = |word: &Option<String>| {
        word.as_ref().is_some_and(|word| {
            word.ends_with('-') && word != "--" || matches!(word.as_str(), "/dev/stdin" | "/dev/tty" | "/dev/fd/0")
        })
    };
    let has_operand = words.iter().flatten().any(|word| !word.starts_with('-'));
    !part.fed && (words.iter().any(is_named) || passes_on && !has_operand)
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
    calls.iter().find(brings).map(in_words)
}

/// A call for people; what only the run knows is left out.
pub fn in_words(call: &Argv) -> String {
    call.iter().map(|word| word.as_deref().unwrap_or("…")).collect::<Vec<_>>().join(" ")
}
