//! The words of command lines as a shell would divide them, whoever runs them: quotes and backslashes join, what is only known when it
//! runs stands open, and of each word it is told whether it may be what a command runs.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;

use bashgate_shared::classify::paths::file_name;
use bashgate_shared::programs::{Builtin, Kind, Runs, SHELL_ENDING, Trait};
use bashgate_shared::shell::{self, RESERVED};
use bashgate_shared::{programs, variables};

/// Most lines in words of lines: `sh -c "sh -c '…'"`.
const DEEPEST: usize = 3;
/// Options behind which a folder stands in which something starts.
const ENTER: [&str; 6] = ["-C", "--directory", "--prefix", "--cwd", "--dir", "-w"];
/// What stands for a part of a word that is only known when it runs.
const OPEN: char = '*';
/// The same as a text.
const STANDS_OPEN: &str = "*";
/// Around the values that a variable may have, and between them.
const EITHER: char = '\u{1}';
const OR: char = '\u{2}';
/// Most forms of one word, and most words of a command in which variables are followed.
const MOST_FORMS: usize = 16;
const MOST_WITH_VALUES: usize = 256;
/// Most values that one variable is followed through.
const MOST_VALUES: usize = 8;
/// Most bytes that variables' values are put in with.
const MOST_OF_VALUES: usize = 64 * 1024;
/// What stands for the beginning of `<( )` behind an interpreter.
const FROM_COMMAND: &str = "<(";
/// How deep `$( )` is read in another one.
const DEEPEST_PUT_IN: usize = 8;
/// Longest word whose braces are looked into, in bytes.
const LONGEST_WITH_BRACES: usize = 512;
/// Most words that braces stand for one by one.
const MOST_OF_BRACES: usize = 64;
/// How many commands of a loop are asked whether they run what it reads.
const MOST_OF_LOOP: usize = 8;

/// What a word may be to a command, as far as something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing: what it works on.
    Data,
    /// The name of a program of PATH.
    Program,
    /// What it runs besides: a program by its place, or a file or a folder that an interpreter takes.
    Code,
    /// Where to look for what it runs: what lies in folders below counts as well.
    PlaceOfCode,
}

/// A word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes. A part that is only known when it runs is `*` in it, and nothing at its beginning.
    pub text: String,
    /// What it may be to the command.
    pub role: Role,
    /// Whether it is the folder in which the command, or what stands behind it, starts.
    pub is_folder: bool,
}

/// The words of a text, also of the lines that are words of it.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    into(text, 0, &mut found);
    found
}

fn into(text: &str, depth: usize, found: &mut Vec<Word>) {
    let all = commands(text, 0);
    let feeds = fed_to_interpreters(&all);
    let runs_any = all.iter().any(runs_what_is_not_known);
    for (Command { words: command, is_run, interprets: has_interpreter, .. }, feeds) in all.into_iter().zip(feeds) {
        // It names what an interpreter runs behind it: `find tools -exec sh {} \;`.
        let is_list_of_code = has_interpreter && runs_what_is_found(&command) || runs_any && lists_names(&command);
        if (feeds || runs_any) && lists_all(&command) {
            found.push(Word { text: format!("*.{SHELL_ENDING}"), role: Role::PlaceOfCode, is_folder: false });
        }
        // What it says is run elsewhere: every word may be where that stands.
        let mut is_source = is_run || feeds || is_list_of_code;
        let mut runs_next = true;
        let mut is_list = false;
        let mut is_first = true;
        let mut enters_next = false;
        let mut skip = 0_usize;
        let mut after_option = false;
        let mut marks: &[&str] = &[];
        let mut interpreter = String::new();
        for text in command {
            if text == FROM_COMMAND {
                is_source = true;
                continue;
            }
            // `run: sh x.sh`, as lists of tasks say it.
            let label = text.strip_suffix(':').map(|label| label.trim_start_matches('-'));
            if is_first && label.is_some_and(programs::is_label_of_command) {
                continue;
            }
            // `make` takes it for a wish not to be shown.
            let text = if runs_next { text.trim_start_matches('@').to_owned() } else { text };
            let name = file_name(&text);
            let row = programs::row(name);
            // What stands behind an interpreter is code, whatever stands before that.
            runs_next |= interprets(name) && !is_list || marks.contains(&text.as_str());
            if interprets(name) {
                name.clone_into(&mut interpreter);
            }
            if programs::only_checks(&interpreter, &text) {
                (runs_next, interpreter) = (false, String::new());
            }
            parts_of(&text, runs_next, found);
            let is_pattern = text.contains(['*', '?', '[']);
            let is_given = is_source && !is_first && !text.starts_with('-');
            let is_code =
                runs_next && !text.starts_with('-') && !is_setting(&text) || is_list && is_pattern || is_given;
            if runs_next && is_code {
                is_list |= name == "for";
                // A word of a wrapper's own, and what may be the value of an option.
                let is_own = skip > 0 || after_option && !is_file(&text) && row.is_none();
                skip = if is_own { skip.saturating_sub(1) } else { programs::own_operands(name) };
                marks = programs::runs_behind(name);
                runs_next = is_own
                    || RESERVED.contains(&name) && !is_list
                    || programs::takes_what_it_runs(name) && marks.is_empty()
                    || name.parse::<f64>().is_ok();
            }
            after_option = text.starts_with('-');
            if text.contains(char::is_whitespace) && depth < DEEPEST {
                into(&text, depth + 1, found);
            }
            let enters = enters_next && text == "--"
                || ENTER.contains(&text.as_str())
                || programs::CHANGE_FOLDER.contains(&text.as_str());
            let is_folder = std::mem::replace(&mut enters_next, enters);
            // A program without a folder in its name is one of PATH.
            let is_known = is_first || programs::row(&text).is_some();
            let is_of_path = is_known && !text.contains(['/', '*', '?', '[']);
            is_first &= text == "-" || is_setting(&text) || RESERVED.contains(&text.as_str());
            let is_listed = is_given && (feeds || is_list_of_code);
            let role = match (is_code, is_of_path) {
                (false, _) => Role::Data,
                (true, true) => Role::Program,
                (true, false) if is_listed => Role::PlaceOfCode,
                (true, false) => Role::Code,
            };
            found.push(Word { text, role, is_folder });
        }
    }
}

impl Word {
    /// True for what is run, but for a program of PATH.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.role, Role::Code | Role::PlaceOfCode)
    }
}

/// True where an interpreter takes for its script what the command finds: `find … -exec sh -e {} \;`.
fn runs_what_is_found(command: &[String]) -> bool {
    let marks = programs::runs_behind(command.first().map(|word| file_name(word)).unwrap_or_default());
    let mut behind = command.iter().skip_while(|word| !marks.contains(&word.as_str()));
    let has_interpreter = behind.any(|word| interprets(file_name(word)));
    has_interpreter && behind.find(|word| !word.starts_with('-')).is_none_or(|word| word == "{}")
}

/// True where an interpreter runs what is only known when it runs: `sh "$f"`.
fn runs_what_is_not_known(command: &Command) -> bool {
    let behind = command.words.iter().position(|word| interprets(file_name(word)) && word != ".");
    let rest = behind.and_then(|at| command.words.get(at + 1..)).unwrap_or_default();
    behind.is_some() && rest.iter().all(|word| word.starts_with('-') && !word.contains('c'))
}

/// True for what prints names of files.
fn lists_names(command: &[String]) -> bool {
    let first = command.first().map(|word| file_name(word)).unwrap_or_default();
    programs::has(first, Trait::PrintsNames) || lists_all(command) || command.first().is_some_and(|word| word == "ls")
}

/// True for git where it prints names of whatever lies in a project.
fn lists_all(command: &[String]) -> bool {
    let is_git = command.first().is_some_and(|word| file_name(word) == "git");
    let prints = |word: &String| ["ls-files", "--name-only", "ls-tree", "--name-status"].contains(&word.as_str());
    is_git && command.iter().any(prints)
}

/// What a part of a word says by itself, besides the whole.
fn parts_of(text: &str, runs_next: bool, found: &mut Vec<Word>) {
    if let Some((name, value)) = text.split_once('=') {
        let value = from_anywhere(value);
        let is_known = !value.is_empty() && !value.contains(OPEN);
        // What is set may be the folder in front of a later word; `--directory=web`.
        if is_setting(text) && runs_next && is_known || ENTER.contains(&name) {
            found.push(Word { is_folder: true, ..word(value) });
        }
        // `git -c core.hooksPath=tools commit`
        if name.to_ascii_lowercase().ends_with(".hookspath") && is_known {
            found.push(code(value));
        }
        // Where programs and code are looked for.
        if name.ends_with("PATH") && !variables::names_folders_of_projects(name) {
            let folders = value.split(':').map(|folder| folder.trim_start_matches(OPEN));
            found.extend(folders.filter(|folder| !folder.is_empty() && !folder.contains(OPEN)).map(code));
        }
    }
    // `-Itools`, `-rtools/x`: where an interpreter finds more.
    let glued = text.strip_prefix('-').and_then(|rest| rest.split_at_checked(1)).map(|(_, rest)| rest);
    found.extend(glued.filter(|rest| runs_next && !rest.is_empty()).map(code));
}

/// True for what may be a script rather than the value of an option.
fn is_file(word: &str) -> bool {
    let is_data = [".json", ".toml", ".yml", ".yaml", ".env", ".cfg", ".ini"].iter().any(|end| word.ends_with(end));
    word.contains(['/', '.']) && !is_data
}

fn word(text: &str) -> Word {
    Word { text: text.to_owned(), role: Role::Data, is_folder: false }
}

fn code(text: &str) -> Word {
    Word { role: Role::Code, ..word(text) }
}

/// True for `NAME=value` in front of a command.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A command by its words.
#[derive(Debug, Default)]
struct Command {
    words: Vec<String>,
    /// Whether the next one reads what it says.
    is_piped: bool,
    /// Whether what it says is a part of what runs.
    is_run: bool,
    /// Whether one of its words is what runs a text that is given to it.
    interprets: bool,
}

impl Command {
    fn extend(&mut self, words: impl Iterator<Item = String>) {
        for word in words {
            self.interprets |= interprets(file_name(&word));
            self.words.push(word);
        }
    }
}

/// True for what runs a text that is given to it.
fn interprets(name: &str) -> bool {
    programs::row(name).is_some_and(|row| {
        let runs_here = matches!(row.builtin, Some(Builtin::Evaluates | Builtin::Sources));
        runs_here || row.kind == Kind::Runtime || row.runs == Runs::Shell
    })
}

/// For each command whether an interpreter reads what it says, itself or by way of others: `cat x | grep -v y | sh`.
fn fed_to_interpreters(all: &[Command]) -> Vec<bool> {
    let mut feeds = vec![false; all.len()];
    for (at, command) in all.iter().enumerate().rev() {
        // A loop reads by the commands in it.
        let rest = all.get(at + 1..).unwrap_or_default();
        let is_loop =
            rest.first().and_then(|next| next.words.first()).is_some_and(|word| RESERVED.contains(&word.as_str()));
        let readers = rest.iter().take(if is_loop { MOST_OF_LOOP } else { 1 });
        let is_read =
            readers.zip(feeds.get(at + 1..).unwrap_or_default()).any(|(next, feeds)| next.interprets || *feeds);
        if let Some(one) = feeds.get_mut(at) {
            *one = command.is_piped && is_read;
        }
    }
    feeds
}

/// A word with its braces: those in front of it stand for words one by one, all others for anything: `{sh,x}`, `tools/{a,b}`, `x{1..9}`.
fn without_braces(word: &str) -> Vec<String> {
    if let Some((start, _)) = word.split_once('{').filter(|_| word.len() > LONGEST_WITH_BRACES) {
        return vec![format!("{start}{OPEN}")];
    }
    let mut waiting = vec![word.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = waiting.pop() {
        match braces_of(&word) {
            None => done.push(word),
            Some(("", parts, end)) if parts.len() > 1 && waiting.len() + parts.len() < MOST_OF_BRACES => {
                waiting.extend(parts.iter().rev().map(|part| format!("{part}{end}")));
            }
            Some((start, _, end)) => waiting.push(format!("{start}{OPEN}{end}")),
        }
    }
    done
}

/// The first braces in a word that stand for others: what is before, the parts, and what is behind. One part for a range.
fn braces_of(word: &str) -> Option<(&str, Vec<&str>, &str)> {
    for (open, _) in word.match_indices('{') {
        let inside = word.get(open + 1..)?;
        let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
        for (at, letter) in inside.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(inside.get(from..at)?);
                    from = at + 1;
                }
                '}' => {
                    parts.push(inside.get(from..at)?);
                    if parts.len() > 1 || inside.get(..at)?.contains("..") {
                        return Some((word.get(..open)?, parts, inside.get(at + 1..)?));
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    None
}

/// Notes a value that a variable is given.
fn set(values: &mut HashMap<String, Vec<String>>, name: &str, value: &str) {
    let known = values.entry(name.to_owned()).or_default();
    let fits = !value.contains([EITHER, OR]) && value.len() <= LONGEST_WITH_BRACES && known.len() < MOST_VALUES;
    // One that is not kept is any.
    let value = if fits { value } else { STANDS_OPEN };
    if !value.is_empty() && known.len() <= MOST_VALUES && !known.iter().any(|other| other == value) {
        known.push(value.to_owned());
    }
}

/// The commands of a text, each by its words.
fn commands(text: &str, depth: usize) -> Vec<Command> {
    // What is put in so deep is read as if it stood there by itself.
    let flat = (depth == DEEPEST_PUT_IN).then(|| text.replace("$(", ";"));
    let text = flat.as_deref().unwrap_or(text);
    // Nobody else writes what stands for values here.
    let plain = text.contains([EITHER, OR]).then(|| text.replace([EITHER, OR], STANDS_OPEN));
    let text = plain.as_deref().unwrap_or(text);
    let mut all = Vec::new();
    let (mut command, mut word): (Command, Option<String>) = (Command::default(), None);
    // What is put in is a command of its own.
    let mut inner = Vec::new();
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    let mut quote = None;
    // What variables hold, each value that they are given somewhere before.
    let mut values: HashMap<String, Vec<String>> = HashMap::new();
    let mut room = MOST_OF_VALUES;
    let runs_values = ["eval", "-c \"$", "-c $"].iter().any(|mark| text.contains(mark));
    let end = |word: &mut Option<String>, command: &mut Command, values: &mut HashMap<String, Vec<String>>| {
        if let Some((name, value)) =
            word.as_deref().filter(|text| is_setting(text)).and_then(|text| text.split_once('='))
        {
            set(values, name, value);
        }
        // What comes first in a word and is not known may be any folder.
        let texts = word.take().map(|text| without_braces(&text)).unwrap_or_default().into_iter();
        let texts = texts.map(|text| from_anywhere(text.trim_start_matches("~+")).to_owned());
        command.extend(texts.filter(|text| !text.is_empty()));
    };
    while let Some(letter) = chars.next() {
        let last = std::mem::replace(&mut before, letter);
        match (letter, quote) {
            ('$', None) if chars.peek() == Some(&'\'') => {
                chars.next();
                word.get_or_insert_default().push_str(&quoted_with_escapes(&mut chars));
            }
            ('\'', None) => quote = Some('\''),
            ('"', None) => quote = Some('"'),
            (_, Some(open)) if open == letter => {
                quote = None;
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => {
                if let Some(next) = chars.next().filter(|next| *next != '\n') {
                    word.get_or_insert_default().push(next);
                }
            }
            ('$', None | Some('"')) => {
                let is_given = runs_values && word.as_deref().is_some_and(is_setting);
                // What stands where a command's name does is run.
                let is_first = quote.is_none() && command.words.is_empty() && word.is_none();
                let is_run = command.interprets || is_given || is_first;
                let put_in = put_in(&mut chars);
                let known = put_in.name.and_then(|name| values.get(&name)).filter(|all| !all.is_empty());
                let known = known.map(|all| format!("{EITHER}{}{EITHER}", all.join(&OR.to_string())));
                let known = known.filter(|known| known.len() <= room);
                room -= known.as_ref().map_or(0, String::len);
                inner.extend(put_in.command.map(|text| (text, is_run)));
                word.get_or_insert_default().push_str(known.as_deref().unwrap_or(STANDS_OPEN));
            }
            (letter, None) if letter.is_whitespace() || ";&|()<>`".contains(letter) => {
                end(&mut word, &mut command, &mut values);
                if letter == '(' && last == '<' && command.interprets {
                    command.words.push(FROM_COMMAND.to_owned());
                } else if letter == '\n' || ";&|()`".contains(letter) {
                    // A loop gives its variable each of its words.
                    if let [first, name, _, given @ ..] = command.words.as_slice()
                        && RESERVED.contains(&first.as_str())
                    {
                        for value in given {
                            set(&mut values, name, value);
                        }
                    }
                    command.is_piped = letter == '|' && last != '|' && chars.next_if(|next| *next == '|').is_none();
                    all.push(std::mem::take(&mut command));
                }
            }
            ('#', None) if word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    end(&mut word, &mut command, &mut values);
    all.push(command);
    for (text, is_run) in inner {
        all.extend(
            commands(&text, depth + 1)
                .into_iter()
                .map(|command| Command { is_run: is_run || command.is_run, ..command }),
        );
    }
    all.retain(|command| !command.words.is_empty());
    all.into_iter().flat_map(with_each_value).collect()
}

/// Goes to the end of `$'…'`. What an escape stands for stays open, with what is behind it.
fn quoted_with_escapes(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    let mut is_open = false;
    while let Some(letter) = chars.next() {
        match letter {
            '\'' => break,
            '\\' => {
                chars.next();
                is_open = true;
            }
            letter if !is_open => text.push(letter),
            _ => {}
        }
    }
    text.extend(is_open.then_some(OPEN));
    text
}

/// A word as it may be seen from any folder: what comes first in it and is not known may be one. Nothing for a word of which nothing
/// is known.
fn from_anywhere(text: &str) -> &str {
    let rest = text.trim_start_matches(OPEN);
    let pattern = text.len().checked_sub(rest.len() + OPEN.len_utf8()).and_then(|at| text.get(at..));
    // `*.sh`
    pattern.filter(|_| !rest.is_empty() && !rest.starts_with('/')).unwrap_or(rest)
}

/// A command with variables in its words, as often as a word has forms: each form of each word stands in one of them.
fn with_each_value(command: Command) -> Vec<Command> {
    if !command.words.iter().any(|word| word.contains(EITHER)) {
        return vec![command];
    }
    let is_short = command.words.len() <= MOST_WITH_VALUES;
    let forms: Vec<Vec<String>> = command.words.iter().map(|word| forms_of(word, is_short)).collect();
    let most = forms.iter().map(Vec::len).max().unwrap_or(1);
    let one = |number: usize| {
        let words = forms.iter().filter_map(|all| all.get(number.min(all.len().saturating_sub(1))));
        let mut one = Command { words: Vec::new(), interprets: false, ..command };
        one.extend(words.map(|word| from_anywhere(word).to_owned()).filter(|word| !word.is_empty()));
        one
    };
    (0..most).map(one).collect()
}

/// What a word is with each value of its variables.
fn forms_of(word: &str, is_short: bool) -> Vec<String> {
    let mut forms = vec![String::new()];
    for (at, part) in word.split(EITHER).enumerate() {
        let values: Vec<&str> = match at % 2 {
            0 => vec![part],
            _ if is_short => part.split(OR).collect(),
            _ => vec![STANDS_OPEN],
        };
        let fits = forms.len() * values.len() <= MOST_FORMS;
        let values = if fits { values.as_slice() } else { &[STANDS_OPEN] };
        forms = forms.iter().flat_map(|form| values.iter().map(move |value| format!("{form}{value}"))).collect();
    }
    forms
}

/// What is put in behind a `$`.
#[derive(Default)]
struct PutIn {
    /// The command in `$( )`, or what stands in for a variable, which may be one.
    command: Option<String>,
    /// The variable, where nothing else is said about it.
    name: Option<String>,
}

/// Goes past what is put in behind a `$`.
fn put_in(chars: &mut Peekable<Chars<'_>>) -> PutIn {
    let bracket = chars.peek().copied().filter(|next| matches!(next, '{' | '('));
    let close = if bracket == Some('{') { '}' } else { ')' };
    let mut depth = 0;
    let mut inside = String::new();
    while let Some(next) = chars.peek().copied() {
        let is_name = next.is_ascii_alphanumeric() || matches!(next, '_' | '@' | '#');
        if bracket.is_none() && !is_name {
            break;
        }
        chars.next();
        inside.push(next);
        depth += i32::from(Some(next) == bracket) - i32::from(bracket.is_some() && next == close);
        if bracket.is_some() && depth == 0 {
            break;
        }
    }
    // What stands in for a variable may be a command.
    let default = inside.strip_prefix('{').map(|text| text.strip_suffix('}').unwrap_or(text)).and_then(|text| {
        let name = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
        text.get(name..)?.trim_start_matches(':').strip_prefix(['-', '=', '+'])
    });
    let command = inside.strip_prefix('(').map(|text| text.strip_suffix(')').unwrap_or(text));
    let name = inside.strip_prefix('{').map_or(inside.as_str(), |text| text.strip_suffix('}').unwrap_or(text));
    let name = Some(name).filter(|name| shell::is_name(name)).map(str::to_owned);
    PutIn { command: command.or(default).map(str::to_owned), name }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts come from whoever shapes the project: none takes longer than its length.
    #[test]
    fn deep_and_long_texts_are_read_in_one_go() {
        let deep = format!("{} sh tools/x.sh", "$(".repeat(100_000));
        assert!(words(&deep).iter().any(|word| word.is_code() && word.text == "tools/x.sh"));
        for text in [
            "{".repeat(250_000),
            "{a,".repeat(80_000),
            "$(a".repeat(80_000),
            "a | while ".repeat(25_000),
            "$'\\".repeat(80_000),
            "A=aaaaaaaa A=$A$A ".repeat(14_000),
            "x $(a) ".repeat(30_000),
            format!("A={}; {}", "a".repeat(500), "$A".repeat(100_000)),
        ] {
            // Whoever waits for its length squared waits for minutes.
            assert!(words(&text).len() < 200_000, "{text:.9}");
        }
    }

    #[test]
    fn what_a_command_runs_is_told_from_what_it_is_given() {
        for (text, code, others) in [
            ("sh -e tools/x.sh arg", vec!["tools/x.sh"], vec!["sh", "arg"]),
            ("sh \"my tools/gate.sh\"", vec!["my tools/gate.sh"], vec![]),
            ("sh my\\ tools/gate.sh", vec!["my tools/gate.sh"], vec![]),
            ("\"$CLAUDE_PROJECT_DIR/my tools/gate.sh\"", vec!["/my tools/gate.sh"], vec![]),
            ("sh tools/a,b=c!.sh", vec!["tools/a,b=c!.sh"], vec![]),
            ("exec \"$(dirname \"$0\")/../../scripts/lint.sh\"", vec!["/../../scripts/lint.sh"], vec![]),
            ("exec scripts/hooks/\"$(basename \"$0\")\"", vec!["scripts/hooks/*"], vec![]),
            ("exec \"scripts/hooks/${0##*/}\"", vec!["scripts/hooks/*"], vec![]),
            ("sh tools/gate-$(uname).sh", vec!["tools/gate-*.sh"], vec![]),
            ("for f in tools/*.sh; do sh $f; done", vec!["tools/*.sh"], vec!["f", "in"]),
            ("A=1 env -i node dist/x.js y", vec!["dist/x.js"], vec!["y", "A=1"]),
            ("bash -c 'cd tools && ./g'", vec!["./g"], vec!["cd"]),
            ("eslint --fix src/a.js", vec![], vec!["src/a.js"]),
            ("perl -Itools -MGate -e1", vec!["tools"], vec![]),
            ("cargo run -q -p gate", vec!["gate"], vec![]),
            ("go run ./cmd/gate", vec!["./cmd/gate"], vec![]),
            ("if true; then . ./lib.sh; fi # sh note.sh", vec!["./lib.sh"], vec!["true"]),
            ("timeout 30 python3 tools/gate.py", vec!["tools/gate.py"], vec!["python3"]),
            ("nice -n 10 sh tools/x", vec!["tools/x"], vec![]),
            ("x=$(python3 tools/gate.py --y)", vec!["tools/gate.py"], vec![]),
            ("echo \"$(sh tools/x.sh $(node b/c.js))\"", vec!["tools/x.sh", "b/c.js"], vec![]),
            ("run: python3 tools/gate.py", vec!["tools/gate.py"], vec![]),
            ("- entry: node tools/x", vec!["tools/x"], vec![]),
            ("all: src/a.c", vec![], vec!["src/a.c"]),
            ("include rules.mk", vec!["rules.mk"], vec![]),
            ("sh tools/{gate,lint}.sh", vec!["tools/*.sh"], vec![]),
            ("{sh,tools/x.sh}", vec!["tools/x.sh"], vec!["sh"]),
            ("for f in {tools,more}/{a,b}; do sh $f; done", vec!["tools/*", "more/*"], vec![]),
            ("sh tools/g{1..3}.sh", vec!["tools/g*.sh"], vec![]),
            ("sh $'tools/gate.sh'", vec!["tools/gate.sh"], vec![]),
            ("sh $'tools/\\x67ate.sh' y", vec!["tools/*"], vec!["y"]),
            ("cat tools/x | sh", vec!["tools/x"], vec!["cat", "sh"]),
            ("cat tools/x | grep -v a | bash -s", vec!["tools/x"], vec!["cat"]),
            ("ls tools | xargs -n1 sh", vec!["tools"], vec!["ls"]),
            ("find tools -name x | while read f; do sh \"$f\"; done", vec!["tools"], vec!["find"]),
            ("sh <(cat tools/x)", vec!["tools/x"], vec![]),
            (". <(sed s/a/b/ tools/x)", vec!["tools/x"], vec![]),
            ("eval \"$(cat tools/x)\"", vec!["tools/x"], vec!["eval"]),
            ("python3 -c \"$(cat tools/x)\"", vec!["tools/x"], vec![]),
            ("sh < tools/x", vec!["tools/x"], vec![]),
            ("\"${LINT:-./scripts/lint.sh}\" src", vec!["./scripts/lint.sh"], vec![]),
            ("sh ${LINT-scripts/x}", vec!["scripts/x"], vec!["sh"]),
            ("cat tools/x | grep y", vec![], vec!["tools/x"]),
            ("find src | xargs ruff", vec![], vec!["src"]),
            ("find src -name '*.sh' -exec sh tools/x {} ;", vec!["tools/x"], vec!["src"]),
            ("find src -execdir ./x {} +", vec!["./x"], vec!["src"]),
            ("sh -n scripts/x", vec![], vec!["scripts/x"]),
            ("xargs bash -n scripts/x", vec![], vec!["scripts/x"]),
            ("sh -n scripts/x; sh scripts/y", vec!["scripts/y"], vec!["scripts/x"]),
            ("php -l src/a.php", vec![], vec!["src/a.php"]),
            ("node --check src/a.js", vec![], vec!["src/a.js"]),
            ("cat tools/x || sh y", vec!["y"], vec!["tools/x"]),
            ("sh -c \"", vec![], vec!["sh"]),
            ("sh ${x", vec![], vec!["sh"]),
        ] {
            let found = words(text);
            let of = |is_code: bool| {
                found.iter().filter(|word| word.is_code() == is_code).map(|word| word.text.as_str()).collect::<Vec<_>>()
            };
            for word in code {
                assert!(of(true).contains(&word), "{text}: {found:?}");
            }
            for word in others {
                assert!(of(false).contains(&word) && !of(true).contains(&word), "{text}: {found:?}");
            }
        }
    }
}
