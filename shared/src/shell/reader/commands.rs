//! Commands: which kind one is, simple ones, and functions.

use super::{Read, Reader, Shell, Trouble};
use crate::shell::syntax::{Assignment, Command, Function, Piece, Simple, Span, Word, is_name};

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Read<Command> {
        self.count()?;
        if self.starts_with("((") {
            self.not_printed_anew("`((` inside of a substitution")?;
            return self.arithmetic_command();
        }
        if self.peek() == Some(b'(') {
            return self.compound_command("(");
        }
        match self.reserved() {
            Some("[[") => self.condition(),
            Some("function") => self.function_keyword(self.at),
            Some(word) => self.compound_command(word),
            None => self.simple_or_function(),
        }
    }

    /// A simple command, or the definition of a function: both start with a word.
    fn simple_or_function(&mut self) -> Read<Command> {
        let start = self.at;
        let name = self.function_name();
        if let Some(name) = name {
            return self.function(start, name);
        }
        self.simple().map(Command::Simple)
    }

    /// `name ()`, consumed, when that stands here.
    fn function_name(&mut self) -> Option<String> {
        let length = self.function_name_length();
        let mut offset = length;
        while matches!(self.ahead(offset), Some(b' ' | b'\t')) {
            offset += 1;
        }
        if length == 0 || self.ahead(offset) != Some(b'(') {
            return None;
        }
        let name = self.text.get(self.at..self.at + length)?.to_owned();
        offset += 1;
        while matches!(self.ahead(offset), Some(b' ' | b'\t')) {
            offset += 1;
        }
        if self.ahead(offset) != Some(b')') {
            return None;
        }
        self.at += offset + 1;
        Some(name)
    }

    fn function_name_length(&self) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        rest.iter().position(|byte| !is_function_byte(*byte)).unwrap_or(rest.len())
    }

    /// Behind `function`.
    fn function_keyword(&mut self, start: usize) -> Read<Command> {
        self.only_bash("`function`")?;
        self.at += "function".len();
        self.blanks();
        if let Some(name) = self.function_name() {
            return self.function(start, name);
        }
        let length = self.function_name_length();
        let name = self.slice(self.at, self.at + length)?.to_owned();
        self.at += length;
        if name.is_empty() || !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            return self.fail(Trouble::Unsupported("this name of a function"));
        }
        self.function(start, name)
    }

    /// Behind the name: the body, which must be a compound command.
    fn function(&mut self, start: usize, name: String) -> Read<Command> {
        self.not_printed_anew("a function inside of a substitution")?;
        self.blank_lines()?;
        let compound =
            matches!(self.reserved(), Some("{" | "if" | "for" | "while" | "until" | "case" | "[[" | "select"))
                || self.peek() == Some(b'(');
        if !compound {
            return self.fail(Trouble::Unsupported("a function whose body is no compound command"));
        }
        let body = Box::new(self.nested(Self::command)?);
        Ok(Command::Function(Function { name, body, span: self.span(start) }))
    }

    /// `(word …)` behind `name=`.
    fn elements(&mut self) -> Read<Vec<Word>> {
        self.only_bash("an array")?;
        self.at += 1;
        let mut words = Vec::new();
        loop {
            // Bash reads what stands in here twice, and bodies of here-documents with it.
            if !self.pending.is_empty() {
                return self.fail(Trouble::Unsupported("a here-document beside an array"));
            }
            self.blank_lines()?;
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return if self.at_token_end() {
                        Ok(words)
                    } else {
                        self.fail(Trouble::Unsupported("text glued to an array"))
                    };
                }
                Some(b'[') => return self.fail(Trouble::Unsupported("an array's element with a key")),
                None => return self.fail(Trouble::Syntax("an array is not closed")),
                _ => words.push(self.word_or_process()?),
            }
        }
    }

    pub(super) fn simple(&mut self) -> Read<Simple> {
        let start = self.at;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::<Word>::new(), Vec::new());
        let mut end = start;
        loop {
            self.blanks();
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')' | b'#') => break,
                Some(b'&') if self.ahead(1) != Some(b'>') => break,
                Some(b'(') => return self.fail(Trouble::Syntax("a parenthesis behind a word")),
                _ => {}
            }
            let digits = self.descriptor_digits();
            if matches!(self.ahead(digits), Some(b'<' | b'>')) || self.starts_with("&>") {
                if digits == 0 && (self.starts_with("<(") || self.starts_with(">(")) {
                    words.push(self.word_or_process()?);
                } else {
                    redirects.push(self.redirect_of(digits)?);
                }
            } else {
                let word = self.word()?;
                match assignment(word) {
                    Ok(mut assigned) if words.is_empty() => {
                        // To some shells it is a command: `x+=/y` runs the file `y` in the folder `x+=`.
                        if assigned.name.ends_with('+') {
                            self.only_bash("`+=`")?;
                        }
                        if self.peek() == Some(b'(') && assigned.value.pieces.iter().all(is_empty) {
                            assigned.elements = Some(self.elements()?);
                        }
                        assignments.push(assigned);
                    }
                    Ok(assigned) => words.push(unassign(assigned)),
                    Err(word) => words.push(word),
                }
            }
            end = self.at;
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.fail(Trouble::Syntax("a missing command"));
        }
        // Words that zsh takes for itself; with nothing behind them there is no command.
        let taken = |word: &Word| {
            matches!(word.bare(), Some("time" | "command" | "builtin" | "exec" | "noglob" | "nocorrect" | "-"))
        };
        if words.iter().all(taken) && !redirects.is_empty() && self.shell == Shell::Other {
            // zsh runs a program of its own choice there (NULLCMD).
            return self.fail(Trouble::ShellsDisagree("a redirection without a command"));
        }
        let span = self.outer.unwrap_or(Span { start, end });
        Ok(Simple { assignments, words, redirects, span })
    }
}

/// Names of functions that are read; the shell takes more.
fn is_function_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':')
}

fn is_empty(piece: &Piece) -> bool {
    matches!(piece, Piece::Text { text, quoted: false } if text.is_empty())
}

/// Splits `name=value`, or gives the word back.
fn assignment(mut word: Word) -> Result<Assignment, Word> {
    let Some(Piece::Text { text, quoted: false }) = word.pieces.first_mut() else { return Err(word) };
    let Some((name, value)) = text.split_once('=') else { return Err(word) };
    let bare_name = name.strip_suffix('+').unwrap_or(name);
    if !is_name(bare_name) {
        return Err(word);
    }
    let name = name.to_owned();
    *text = value.to_owned();
    Ok(Assignment { name, value: word, elements: None })
}

/// Puts a word together again that only looks like an assignment.
fn unassign(assigned: Assignment) -> Word {
    let Assignment { name, mut value, .. } = assigned;
    if let Some(Piece::Text { text, .. }) = value.pieces.first_mut() {
        *text = format!("{name}={text}");
    }
    value
}
