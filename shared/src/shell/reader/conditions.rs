//! `[[ … ]]`: operands are words that are neither split nor matched against files; operators are literal.

use super::{Read, Reader, Trouble};
use crate::shell::syntax::{Command, Condition, Piece, Span, Word};

impl Reader<'_> {
    pub(super) fn condition(&mut self) -> Read<Command> {
        self.only_bash("`[[`")?;
        let start = self.at;
        self.at += 2;
        let mut found = Condition {
            words: Vec::new(),
            numbers: Vec::new(),
            names: Vec::new(),
            redirects: Vec::new(),
            span: Span::default(),
        };
        self.condition_space()?;
        self.nested(|r| r.alternatives(&mut found))?;
        self.condition_space()?;
        if self.reserved() != Some("]]") {
            return self.fail(Trouble::Unsupported("this form of `[[ … ]]`"));
        }
        self.at += 2;
        found.redirects = self.trailing_redirects()?;
        found.span = self.span(start);
        Ok(Command::Condition(found))
    }

    /// Blanks and newlines. A here-document's body cannot start in here.
    fn condition_space(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            if !self.pending.is_empty() {
                return self.fail(Trouble::Unsupported("a here-document that starts inside another construct"));
            }
            self.at += 1;
        }
    }

    fn alternatives(&mut self, found: &mut Condition) -> Read<()> {
        loop {
            self.negation(found)?;
            self.condition_space()?;
            if !(self.take("&&") || self.take("||")) {
                return Ok(());
            }
            self.condition_space()?;
        }
    }

    fn negation(&mut self, found: &mut Condition) -> Read<()> {
        while self.reserved() == Some("!") {
            self.at += 1;
            self.condition_space()?;
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.condition_space()?;
            self.nested(|r| r.alternatives(found))?;
            self.condition_space()?;
            return if self.take(")") { Ok(()) } else { self.fail(Trouble::Syntax("a missing `)`")) };
        }
        self.primary(found)
    }

    fn primary(&mut self, found: &mut Condition) -> Read<()> {
        let first = self.operand_of_condition()?;
        let operator = first.bare().filter(|text| is_unary(text)).map(str::to_owned);
        self.blanks();
        if let Some(operator) = operator {
            if self.condition_ends() {
                return self.fail(Trouble::Unsupported("an operator of `[[` without its operand"));
            }
            let operand = self.operand_of_condition()?;
            if matches!(operator.as_str(), "-v" | "-R") {
                found.names.push(found.words.len());
            }
            found.words.push(operand);
            return Ok(());
        }
        found.words.push(first);
        if self.condition_ends() {
            return Ok(());
        }
        let symbol = ["=~", "==", "!=", "=", "<", ">"]
            .into_iter()
            .find(|symbol| self.starts_with(symbol) && matches!(self.ahead(symbol.len()), Some(b' ' | b'\t')));
        let operator = match symbol {
            Some(symbol) => {
                self.at += symbol.len();
                symbol.to_owned()
            }
            None => match self.operand_of_condition()?.bare() {
                Some(text) if is_binary(text) => text.to_owned(),
                _ => return self.fail(Trouble::Unsupported("this operator of `[[`")),
            },
        };
        self.blanks();
        if self.condition_ends() {
            return self.fail(Trouble::Unsupported("an operator of `[[` without its operand"));
        }
        let second = if operator == "=~" { self.regular_expression()? } else { self.operand_of_condition()? };
        if matches!(operator.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
            found.numbers.extend([found.words.len() - 1, found.words.len()]);
        }
        found.words.push(second);
        Ok(())
    }

    fn condition_ends(&self) -> bool {
        self.reserved() == Some("]]") || matches!(self.peek(), None | Some(b'\n' | b')' | b';' | b'&' | b'|'))
    }

    /// A word that is not `]]`, `!` or a comment.
    fn operand_of_condition(&mut self) -> Read<Word> {
        if matches!(self.reserved(), Some("]]" | "!")) || self.starts_with("<(") || self.starts_with(">(") {
            return self.fail(Trouble::Unsupported("this operand of `[[`"));
        }
        let word = self.word()?;
        // In here the shell makes no list of `{a,b}`.
        if matches!(self.peek(), Some(b'<' | b'>' | b'(')) {
            return self.fail(Trouble::Unsupported("this operand of `[[`"));
        }
        Ok(word)
    }

    /// Behind `=~`: parentheses and `|` are part of the word.
    fn regular_expression(&mut self) -> Read<Word> {
        let start = self.at;
        let mut whole = Word::default();
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b'|') if self.ahead(1) != Some(b'|') && (open > 0 || !whole.pieces.is_empty()) => {}
                None | Some(b' ' | b'\t' | b'\n') if open == 0 && !whole.pieces.is_empty() => {
                    whole.span = self.span(start);
                    return Ok(whole);
                }
                Some(b'\'' | b'"' | b'`') if open > 0 => {
                    return self.fail(Trouble::Unsupported("quotes in a group of a regular expression"));
                }
                Some(byte)
                    if !matches!(byte, b' ' | b'\t' | b'\n' | b')' | b'<' | b'>' | b';' | b'&' | b'|' | b'#') =>
                {
                    let more = self.part_of_regular_expression()?;
                    whole.pieces.extend(more.pieces);
                    continue;
                }
                _ => return self.fail(Trouble::Unsupported("this regular expression")),
            }
            let text = self.slice(self.at, self.at + 1)?.to_owned();
            whole.pieces.push(Piece::Text { text, quoted: false });
            self.at += 1;
        }
    }

    /// A run of an expression without parentheses.
    fn part_of_regular_expression(&mut self) -> Read<Word> {
        self.in_expression = true;
        let word = self.word();
        self.in_expression = false;
        word
    }
}

fn is_unary(text: &str) -> bool {
    matches!(
        text,
        "-a" | "-b"
            | "-c"
            | "-d"
            | "-e"
            | "-f"
            | "-g"
            | "-h"
            | "-k"
            | "-p"
            | "-r"
            | "-s"
            | "-t"
            | "-u"
            | "-w"
            | "-x"
            | "-G"
            | "-L"
            | "-N"
            | "-O"
            | "-S"
            | "-o"
            | "-v"
            | "-R"
            | "-z"
            | "-n"
    )
}

fn is_binary(text: &str) -> bool {
    matches!(text, "==" | "=" | "!=" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef")
}
