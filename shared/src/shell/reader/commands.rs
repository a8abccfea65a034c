//! Simple and compound commands.

use super::{Read, Reader, Trouble, Until};
use crate::shell::syntax::{Assignment, Command, Piece, Script, Simple, Span, Word};

impl<'a> Reader<'a> {
    pub(super) fn command(&mut self) -> Read<Command> {
        self.count()?;
        let start = self.at;
        if self.peek() == Some(b'(') {
            if self.ahead(1) == Some(b'(') {
                return self.fail(Trouble::Unsupported("`((`"));
            }
            self.at += 1;
            let script = self.nested(|r| r.list(Until::Parenthesis))?;
            self.close_parenthesis()?;
            return self.compound(start, None, Vec::new(), vec![script]);
        }
        match self.reserved() {
            Some("{") => {
                self.at += 1;
                if !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
                    return self.fail(Trouble::Syntax("`{` without a blank"));
                }
                let script = self.nested(|r| r.list(Until::Words(&["}"])))?;
                self.at += 1;
                self.compound(start, None, Vec::new(), vec![script])
            }
            Some("if") => {
                self.at += 2;
                let scripts = self.nested(Self::branches)?;
                self.compound(start, None, Vec::new(), scripts)
            }
            Some(word @ ("while" | "until")) => {
                self.at += word.len();
                let scripts = self.nested(|r| {
                    let condition = r.list(Until::Words(&["do"]))?;
                    Ok(vec![condition, r.body()?])
                })?;
                self.compound(start, None, Vec::new(), scripts)
            }
            Some("for") => {
                self.at += 3;
                let (variable, words) = self.for_header()?;
                let body = self.nested(Self::body)?;
                self.compound(start, Some(variable), words, vec![body])
            }
            Some("case") => {
                self.at += 4;
                let (words, scripts) = self.nested(Self::case_arms)?;
                self.compound(start, None, words, scripts)
            }
            Some("[[") => self.fail(Trouble::Unsupported("`[[ … ]]`")),
            Some("select") => self.fail(Trouble::Unsupported("`select`")),
            Some("function") => self.fail(Trouble::Unsupported("a function")),
            Some("coproc") => self.fail(Trouble::Unsupported("`coproc`")),
            Some(_) => self.fail(Trouble::Syntax("a reserved word out of place")),
            None => self.simple().map(Command::Simple),
        }
    }

    pub(super) fn compound(
        &mut self,
        start: usize,
        variable: Option<String>,
        words: Vec<Word>,
        scripts: Vec<Script>,
    ) -> Read<Command> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            let digits = self.descriptor_digits();
            match self.ahead(digits) {
                Some(b'<' | b'>') => {
                    redirects.push(self.redirect_of(digits)?);
                }
                Some(b'&') if digits == 0 && self.ahead(1) == Some(b'>') => redirects.push(self.redirect()?),
                _ => break,
            }
        }
        let repeats = ["while", "until", "for"]
            .iter()
            .any(|word| self.text.get(start..).is_some_and(|text| text.starts_with(word)));
        Ok(Command::Compound { variable, words, scripts, repeats, redirects, span: self.span(start) })
    }

    pub(super) fn close_parenthesis(&mut self) -> Read<()> {
        // A body that has not come yet would have to be looked for behind the parenthesis.
        if self.pending.iter().any(|here| here.depth > self.depth) {
            return self.fail(Trouble::Unsupported("a here-document without a body"));
        }
        if self.take(")") { Ok(()) } else { self.fail(Trouble::Syntax("a missing `)`")) }
    }

    pub(super) fn closing_word(&mut self) -> Read<&'a str> {
        match self.reserved() {
            Some(word) => {
                self.at += word.len();
                Ok(word)
            }
            None => self.fail(Trouble::Syntax("a missing reserved word")),
        }
    }

    pub(super) fn branches(&mut self) -> Read<Vec<Script>> {
        let mut scripts = Vec::new();
        loop {
            scripts.push(self.list(Until::Words(&["then"]))?);
            self.closing_word()?;
            scripts.push(self.list(Until::Words(&["elif", "else", "fi"]))?);
            match self.closing_word()? {
                "elif" => {}
                "else" => {
                    scripts.push(self.list(Until::Words(&["fi"]))?);
                    self.closing_word()?;
                    return Ok(scripts);
                }
                _ => return Ok(scripts),
            }
        }
    }

    /// `do … done`
    pub(super) fn body(&mut self) -> Read<Script> {
        self.blank_lines()?;
        if self.reserved() != Some("do") {
            return self.fail(Trouble::Syntax("a loop without `do`"));
        }
        self.at += 2;
        let script = self.list(Until::Words(&["done"]))?;
        self.closing_word()?;
        Ok(script)
    }

    pub(super) fn for_header(&mut self) -> Read<(String, Vec<Word>)> {
        self.blanks();
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        let variable = self.slice(start, self.at)?.to_owned();
        if !is_name(&variable) || !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            return self.fail(Trouble::Unsupported("this form of `for`"));
        }
        self.blank_lines()?;
        if self.reserved() != Some("in") {
            return self.fail(Trouble::Unsupported("`for` without `in`"));
        }
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.blanks();
            self.comment();
            match self.peek() {
                Some(b';') if self.ahead(1) != Some(b';') => {
                    self.at += 1;
                    return Ok((variable, words));
                }
                Some(b'\n') => {
                    self.newline()?;
                    return Ok((variable, words));
                }
                _ => words.push(self.word_or_process()?),
            }
        }
    }

    pub(super) fn case_arms(&mut self) -> Read<(Vec<Word>, Vec<Script>)> {
        self.blanks();
        let mut words = vec![self.word()?];
        let mut scripts = Vec::new();
        self.blank_lines()?;
        if self.reserved() != Some("in") {
            return self.fail(Trouble::Syntax("`case` without `in`"));
        }
        self.at += 2;
        loop {
            self.blank_lines()?;
            if self.reserved() == Some("esac") {
                self.at += 4;
                return Ok((words, scripts));
            }
            self.take("(");
            loop {
                self.blanks();
                words.push(self.word()?);
                self.blanks();
                if self.take(")") {
                    break;
                }
                if !self.take("|") {
                    return self.fail(Trouble::Syntax("a `case` pattern without `)`"));
                }
            }
            scripts.push(self.list(Until::CaseArm)?);
            if self.starts_with(";;&") || self.starts_with(";&") {
                return self.fail(Trouble::Unsupported("`;&` in `case`"));
            }
            self.take(";;");
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
                Some(b'(') => return self.fail(Trouble::Unsupported("a function or an array")),
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
                    Ok(assigned) if words.is_empty() => assignments.push(assigned),
                    Ok(assigned) => words.push(unassign(assigned)),
                    Err(word) => words.push(word),
                }
            }
            end = self.at;
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.fail(Trouble::Syntax("a missing command"));
        }
        let span = self.outer.unwrap_or(Span { start, end });
        Ok(Simple { assignments, words, redirects, span })
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
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
    Ok(Assignment { name, value: word })
}

/// Puts a word together again that only looks like an assignment.
fn unassign(assigned: Assignment) -> Word {
    let Assignment { name, mut value } = assigned;
    if let Some(Piece::Text { text, .. }) = value.pieces.first_mut() {
        *text = format!("{name}={text}");
    }
    value
}
