//! Compound commands: groups, subshells, branches, loops, `case`, `select`, `coproc`.

use super::{Read, Reader, Trouble, Until};
use crate::shell::syntax::{Arithmetic, Command, Compound, CompoundKind, Redirect, Script, Word, is_name};

/// What a compound command holds.
#[derive(Default)]
pub(super) struct Parts {
    variable: Option<String>,
    words: Vec<Word>,
    expressions: Vec<Arithmetic>,
    scripts: Vec<Script>,
}

impl Parts {
    fn of(scripts: Vec<Script>) -> Self {
        Self { scripts, ..Self::default() }
    }
}

impl<'a> Reader<'a> {
    /// The compound command that starts with `(` or with this reserved word.
    pub(super) fn compound_command(&mut self, word: &str) -> Read<Command> {
        let start = self.at;
        self.at += word.len();
        match word {
            "(" => {
                let script = self.nested(|r| r.list(Until::Parenthesis))?;
                self.close_parenthesis()?;
                self.compound(start, CompoundKind::Subshell, Parts::of(vec![script]))
            }
            "{" => {
                if !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
                    return self.fail(Trouble::Syntax("`{` without a blank"));
                }
                let script = self.nested(|r| r.list(Until::Words(&["}"])))?;
                self.at += 1;
                self.compound(start, CompoundKind::Group, Parts::of(vec![script]))
            }
            "if" => {
                let scripts = self.nested(Self::branches)?;
                self.compound(start, CompoundKind::If, Parts::of(scripts))
            }
            "while" | "until" => {
                let scripts = self.nested(|r| {
                    let condition = r.list(Until::Words(&["do"]))?;
                    Ok(vec![condition, r.body()?])
                })?;
                self.compound(start, CompoundKind::While, Parts::of(scripts))
            }
            "for" => self.for_loop(start, CompoundKind::For),
            "select" => {
                self.not_printed_anew("`select` inside of a substitution")?;
                self.only_bash("`select`")?;
                self.for_loop(start, CompoundKind::Select)
            }
            "case" => {
                self.not_printed_anew("`case` inside of a substitution")?;
                let (words, scripts) = self.nested(Self::case_arms)?;
                self.compound(start, CompoundKind::Case, Parts { words, ..Parts::of(scripts) })
            }
            "coproc" => {
                self.not_printed_anew("`coproc` inside of a substitution")?;
                self.only_bash("`coproc`")?;
                self.blanks();
                let step = self.nested(Self::alone)?;
                self.compound(start, CompoundKind::Coproc, Parts::of(vec![step]))
            }
            _ => self.fail(Trouble::Syntax("a reserved word out of place")),
        }
    }

    /// One command as a script of its own.
    fn alone(&mut self) -> Read<Script> {
        let command = self.command()?;
        // `coproc NAME [[ … ]]` names a process and runs the rest.
        let names_one = match &command {
            Command::Simple(simple) => simple.words.len() != 1,
            Command::Function(_) => true,
            Command::Compound(_) | Command::Condition(_) | Command::Calculation(_) => false,
        };
        if names_one {
            return self.fail(Trouble::Unsupported("this form of `coproc`"));
        }
        Ok(Script::of(command))
    }

    fn compound(&mut self, start: usize, kind: CompoundKind, parts: Parts) -> Read<Command> {
        let redirects = self.trailing_redirects()?;
        let Parts { variable, words, expressions, scripts } = parts;
        let span = self.span(start);
        Ok(Command::Compound(Compound { kind, variable, words, expressions, scripts, redirects, span }))
    }

    /// The redirections behind a compound command.
    pub(super) fn trailing_redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            let digits = self.descriptor_digits();
            match self.ahead(digits) {
                Some(b'<' | b'>') => redirects.push(self.redirect_of(digits)?),
                Some(b'&') if digits == 0 && self.ahead(1) == Some(b'>') => redirects.push(self.redirect("")?),
                _ => return Ok(redirects),
            }
        }
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

    /// Behind `for` or `select`: the header and the body.
    fn for_loop(&mut self, start: usize, kind: CompoundKind) -> Read<Command> {
        self.blanks();
        if self.starts_with("((") {
            self.only_bash("`for ((`")?;
            self.not_printed_anew("`for ((` inside of a substitution")?;
            return self.arithmetic_loop(start);
        }
        let variable = self.plain_name()?;
        self.blanks();
        if self.peek() == Some(b';') {
            // `for x; do`: nothing else may stand before `do`.
            self.at += 1;
            self.blank_lines()?;
        } else {
            self.blank_lines()?;
            if self.reserved() == Some("in") {
                self.at += 2;
                let words = self.loop_words()?;
                let body = self.nested(Self::body)?;
                return self.compound(start, kind, Parts { variable: Some(variable), words, ..Parts::of(vec![body]) });
            }
        }
        if self.reserved() != Some("do") {
            return self.fail(Trouble::Syntax("a loop without `do`"));
        }
        let kind = if kind == CompoundKind::For { CompoundKind::ForArguments } else { kind };
        let body = self.nested(Self::body)?;
        self.compound(start, kind, Parts { variable: Some(variable), ..Parts::of(vec![body]) })
    }

    fn loop_words(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            self.comment();
            match self.peek() {
                Some(b';') if self.ahead(1) != Some(b';') => {
                    self.at += 1;
                    return Ok(words);
                }
                Some(b'\n') => {
                    self.newline()?;
                    return Ok(words);
                }
                _ => words.push(self.word_or_process()?),
            }
        }
    }

    /// `for ((a; b; c)); do … done`.
    fn arithmetic_loop(&mut self, start: usize) -> Read<Command> {
        self.at += 2;
        let mut expressions = Vec::new();
        for end in [";", ";", "))"] {
            expressions.push(self.expression(end)?);
        }
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        let body = self.nested(Self::body)?;
        self.compound(start, CompoundKind::ForArithmetic, Parts { expressions, ..Parts::of(vec![body]) })
    }

    /// A variable's name, and the blank behind it.
    fn plain_name(&mut self) -> Read<String> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        let name = self.slice(start, self.at)?;
        if !is_name(name) || !matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b';')) {
            return self.fail(Trouble::Unsupported("this form of `for`"));
        }
        Ok(name.to_owned())
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
                self.only_bash("`;&` in `case`")?;
            }
            let _ = self.take(";;&") || self.take(";&") || self.take(";;");
        }
    }
}
