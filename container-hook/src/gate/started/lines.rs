//! The words of command lines as a shell would divide them, whoever runs them: quotes and backslashes join, what is only known when it
//! runs stands open, and of each word it is told whether it may be what a command runs.

use std::iter::Peekable;
use std::str::Chars;

use bashgate_shared::classify::paths::file_name;
use bashgate_shared::programs::{Kind, Runs};
use bashgate_shared::shell::RESERVED;
use bashgate_shared::{programs, variables};

/// Most lines in words of lines: `sh -c "sh -c '…'"`.
const DEEPEST: usize = 3;
/// Options behind which a folder stands in which something starts.
const ENTER: [&str; 6] = ["-C", "--directory", "--prefix", "--cwd", "--dir", "-w"];
/// What stands for a part of a word that is only known when it runs.
const OPEN: char = '*';

/// A word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes. A part that is only known when it runs is `*` in it, and nothing at its beginning.
    pub text: String,
    /// Whether it is the name of a program of PATH.
    pub is_program: bool,
    /// Whether it may be what the command runs besides: a program by its place, or a file or a folder that an interpreter takes.
    pub is_code: bool,
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
    for command in commands(text) {
        let mut runs_next = true;
        let mut is_list = false;
        let mut is_first = true;
        let mut enters_next = false;
        let mut skip = 0_usize;
        let mut after_option = false;
        for text in command {
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
            let interprets = row.is_some_and(|row| row.kind == Kind::Runtime || row.runs == Runs::Shell);
            runs_next |= interprets && !is_list;
            parts_of(&text, runs_next, found);
            let is_pattern = text.contains(['*', '?', '[']);
            let is_code = runs_next && !text.starts_with('-') && !is_setting(&text) || is_list && is_pattern;
            if runs_next && is_code {
                is_list |= name == "for";
                // A word of a wrapper's own, and what may be the value of an option.
                let is_own = skip > 0 || after_option && !is_file(&text) && row.is_none();
                skip = if is_own { skip.saturating_sub(1) } else { programs::own_operands(name) };
                runs_next = is_own
                    || RESERVED.contains(&name) && !is_list
                    || programs::takes_what_it_runs(name)
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
            found.push(Word { is_program: is_code && is_of_path, is_code: is_code && !is_of_path, text, is_folder });
        }
    }
}

/// What a part of a word says by itself, besides the whole.
fn parts_of(text: &str, runs_next: bool, found: &mut Vec<Word>) {
    if let Some((name, value)) = text.split_once('=') {
        let is_known = !value.is_empty() && !value.contains(OPEN);
        // What is set may be the folder in front of a later word; `--directory=web`.
        if is_setting(text) && runs_next && is_known || ENTER.contains(&name) {
            found.push(Word { is_folder: true, ..word(value) });
        }
        // Where programs and code are looked for.
        if name.ends_with("PATH") && !variables::names_folders_of_projects(name) {
            let folders = value.split(':').map(|folder| folder.trim_start_matches([OPEN, '/']));
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
    Word { text: text.to_owned(), is_code: false, is_program: false, is_folder: false }
}

fn code(text: &str) -> Word {
    Word { is_code: true, ..word(text) }
}

/// True for `NAME=value` in front of a command.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The commands of a text, each by its words.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let (mut command, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    // What is put in is a command of its own.
    let mut inner = Vec::new();
    let mut chars = text.chars().peekable();
    let mut quote = None;
    let end = |word: &mut Option<String>, command: &mut Vec<String>| {
        // What comes first in a word and is not known may be any folder.
        let text = word.take().map(|text| text.trim_start_matches("~+").trim_start_matches(OPEN).to_owned());
        command.extend(text.filter(|text| !text.is_empty()));
    };
    while let Some(letter) = chars.next() {
        match (letter, quote) {
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
                inner.extend(put_in(&mut chars));
                word.get_or_insert_default().push(OPEN);
            }
            (letter, None) if letter.is_whitespace() || ";&|()<>`".contains(letter) => {
                end(&mut word, &mut command);
                if letter == '\n' || ";&|()`".contains(letter) {
                    all.push(std::mem::take(&mut command));
                }
            }
            ('#', None) if word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    end(&mut word, &mut command);
    all.push(command);
    for text in inner {
        all.extend(commands(&text));
    }
    all.retain(|command| !command.is_empty());
    all
}

/// Goes past what is put in behind a `$`; for `$( )` the command in it.
fn put_in(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
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
    inside.strip_prefix('(').map(|text| text.strip_suffix(')').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("sh -c \"", vec![], vec!["sh"]),
            ("sh ${x", vec![], vec!["sh"]),
        ] {
            let found = words(text);
            let of = |is_code: bool| {
                found.iter().filter(|word| word.is_code == is_code).map(|word| word.text.as_str()).collect::<Vec<_>>()
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
