//! Words and their quotings.

use super::expansions::Quoted;
use super::{Read, Reader, Shell, Trouble};
use crate::planted::{self, Bug};
use crate::shell::syntax::{Piece, Variable, Word, is_name};

impl<'a> Reader<'a> {
    pub(super) fn word_or_process(&mut self) -> Read<Word> {
        if !(self.starts_with("<(") || self.starts_with(">(")) {
            return self.word();
        }
        self.only_bash("process substitution")?;
        let start = self.at;
        let receives = self.peek() == Some(b'>');
        self.at += 2;
        let script = self.substituted()?;
        if !self.at_token_end() {
            return self.fail(Trouble::Unsupported("text glued to a process substitution"));
        }
        Ok(Word { pieces: vec![Piece::Process { script, receives }], span: self.span(start) })
    }

    pub(super) fn at_token_end(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')'))
    }

    pub(super) fn word(&mut self) -> Read<Word> {
        self.count()?;
        let start = self.at;
        let mut pieces = Vec::new();
        if self.peek() == Some(b'#') {
            return self.fail(Trouble::Syntax("a comment where a word belongs"));
        }
        while let Some(byte) = self.peek() {
            match byte {
                _ if ends_word(Some(byte)) => break,
                b'(' if self.in_expression || starts_array(&pieces) => break,
                b'(' => return self.fail(Trouble::Unsupported("`(` in a word")),
                b'\\' => self.escaped(&mut pieces)?,
                b'\'' => {
                    let text = self.until_quote("a single quote is not closed")?;
                    push(&mut pieces, text, true);
                }
                b'"' => {
                    self.at += 1;
                    // An empty text keeps `""` a word.
                    push(&mut pieces, "", true);
                    let inner = self.expanding_text(Some(b'"'))?;
                    pieces.extend(inner);
                }
                b'$' => {
                    let piece = self.dollar(Quoted::No)?;
                    pieces.push(piece);
                }
                b'`' if planted::has(Bug::BackticksAreText) => {
                    self.at += 1;
                    push(&mut pieces, "`", false);
                }
                b'`' => {
                    let piece = self.backticks(Quoted::No)?;
                    pieces.push(piece);
                }
                b'*' | b'?' | b'[' => {
                    self.at += 1;
                    pieces.push(Piece::Glob(char::from(byte)));
                }
                // Only as a word of its own: in `x{}a,b}` the first `}` closes nothing.
                b'{' if self.ahead(1) == Some(b'}') && pieces.is_empty() && ends_word(self.ahead(2)) => {
                    self.at += 2;
                    push(&mut pieces, "{}", false);
                }
                b'{' => {
                    self.only_bash("braces")?;
                    self.at += 1;
                    pieces.push(Piece::Brace);
                }
                b'~' if tilde_expands(&pieces) => {
                    if self.shell == Shell::Other && !matches!(self.ahead(1), Some(b'/' | b' ')) {
                        return self.fail(Trouble::ShellsDisagree("this tilde"));
                    }
                    let prefix = self.tilde_prefix();
                    let folder = Variable::behind_tilde(prefix);
                    self.at += 1 + folder.as_ref().map_or(0, |_| prefix.len());
                    pieces.push(folder.map_or(Piece::Tilde, Piece::Variable));
                }
                b'=' if pieces.is_empty() => {
                    self.only_bash("a word that starts with `=`")?;
                    self.at += 1;
                    push(&mut pieces, "=", false);
                }
                0x21..=0x7e => {
                    let from = self.at;
                    self.at += 1;
                    while self.peek().is_some_and(is_plain) {
                        self.at += 1;
                    }
                    push(&mut pieces, self.slice(from, self.at)?, false);
                }
                0x80.. => {
                    let from = self.at;
                    while self.peek().is_some_and(|byte| byte >= 0x80) {
                        self.at += 1;
                    }
                    let text = self.slice(from, self.at)?;
                    // In some locales these bytes are blanks.
                    if text.bytes().any(|byte| matches!(byte, 0x85 | 0xa0)) || text.chars().any(char::is_whitespace) {
                        return self.fail(Trouble::Unsupported("a character that is a blank in some locales"));
                    }
                    push(&mut pieces, text, false);
                }
                _ => return self.fail(Trouble::Unsupported("an unquoted control character")),
            }
        }
        if pieces.is_empty() {
            return self.fail(Trouble::Syntax("a missing word"));
        }
        if matches!(self.peek(), Some(b'<' | b'>')) {
            let joined = self.slice(start, self.at)?.contains("\\\n");
            // `{fd}>file` opens a descriptor, `a<(b)` is one word.
            if joined || self.ahead(1) == Some(b'(') || pieces.iter().any(|piece| matches!(piece, Piece::Brace)) {
                return self.fail(Trouble::Unsupported("a redirection glued to a word"));
            }
        }
        // A lone `[` is the program of that name, not a pattern.
        if let [Piece::Glob('[')] = pieces.as_slice() {
            pieces = vec![Piece::Text { text: "[".to_owned(), quoted: false }];
        }
        Ok(Word { pieces, span: self.span(start) })
    }

    /// What stands between a tilde and the end of its folder: a slash, or what ends the word. Empty where something else is in it.
    fn tilde_prefix(&self) -> &'a str {
        let rest = self.text.get(self.at + 1..).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '+' | '-')).unwrap_or(rest.len());
        let ends = rest.get(end..).and_then(|rest| rest.chars().next()).is_none_or(|c| "/:;&|<> \t\n()".contains(c));
        rest.get(..end).filter(|_| ends).unwrap_or_default()
    }

    pub(super) fn escaped(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        let rest = self.slice(self.at + 1, self.text.len())?;
        let Some(next) = rest.chars().next() else {
            return self.fail(Trouble::Syntax("a backslash at the end"));
        };
        if !next.is_ascii() || next.is_ascii_control() && next != '\n' {
            return self.fail(Trouble::Unsupported("an escaped character outside printable ASCII"));
        }
        if next == '\n' && self.behind_operator() {
            return self.fail(Trouble::Unsupported("a line continuation behind an operator"));
        }
        self.at += 2;
        if next != '\n' {
            push(pieces, next.encode_utf8(&mut [0; 4]), true);
        }
        Ok(())
    }

    /// From an opening single quote to the closing one.
    pub(super) fn until_quote(&mut self, trouble: &'static str) -> Read<&'a str> {
        let start = self.at + 1;
        let Some(length) = self.text.as_bytes().get(start..).and_then(|rest| rest.iter().position(|b| *b == b'\''))
        else {
            return self.fail(Trouble::Syntax(trouble));
        };
        self.at = start + length + 1;
        self.slice(start, start + length)
    }

    /// Text in which only `$`, backticks and `\` are special: inside double quotes (up to `"`), or the whole text of
    /// a here-document.
    pub(super) fn expanding_text(&mut self, close: Option<u8>) -> Read<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|b| !matches!(b, b'\\' | b'$' | b'`') && Some(b) != close) {
                self.at += 1;
            }
            if self.at > start {
                push(&mut pieces, self.slice(start, self.at)?, true);
            }
            match self.peek() {
                None if close.is_none() => return Ok(pieces),
                None => return self.fail(Trouble::Syntax("a double quote is not closed")),
                Some(b'\\') => match self.ahead(1) {
                    Some(b'\n') => self.at += 2,
                    Some(next @ (b'$' | b'`' | b'\\')) => {
                        self.at += 2;
                        push(&mut pieces, char::from(next).encode_utf8(&mut [0; 4]), true);
                    }
                    Some(b'"') if close.is_some() => {
                        self.at += 2;
                        push(&mut pieces, "\"", true);
                    }
                    _ => {
                        self.at += 1;
                        push(&mut pieces, "\\", true);
                    }
                },
                Some(b'$') => {
                    let piece = self.dollar(if close.is_some() { Quoted::Yes } else { Quoted::HereDocument })?;
                    pieces.push(piece);
                }
                Some(b'`') => {
                    let piece = self.backticks(if close.is_some() { Quoted::Yes } else { Quoted::HereDocument })?;
                    pieces.push(piece);
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(pieces);
                }
            }
        }
    }
}

/// Unquoted bytes that never mean anything inside a word once it has begun.
fn ends_word(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| b" \t\n;&|)<>".contains(&byte))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./,@%+-^#!]}".contains(&byte)
}

pub(super) fn push(pieces: &mut Vec<Piece>, more: &str, quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, quoted: same }) if *same == quoted => text.push_str(more),
        _ => pieces.push(Piece::Text { text: more.to_owned(), quoted }),
    }
}

/// `name=` or `name+=`, behind which a parenthesis starts an array.
fn starts_array(pieces: &[Piece]) -> bool {
    match pieces {
        [Piece::Text { text, quoted: false }] => {
            text.strip_suffix('=').is_some_and(|name| is_name(name.strip_suffix('+').unwrap_or(name)))
        }
        _ => false,
    }
}

/// At a word's start, and behind an unquoted `=` or `:`, where bash expands it in words that look like assignments.
fn tilde_expands(pieces: &[Piece]) -> bool {
    match pieces.last() {
        None => true,
        Some(Piece::Text { text, quoted: false }) => text.ends_with(['=', ':']),
        Some(_) => false,
    }
}
