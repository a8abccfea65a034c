//! Lists and pipelines, and where they end.

use super::{CLOSING, Read, Reader, Shell, Trouble, Until};
use crate::shell::syntax::{Command, Join, Script, Step};

impl<'a> Reader<'a> {
    pub(super) fn list(&mut self, until: Until) -> Read<Script> {
        let mut steps = Vec::new();
        loop {
            self.blank_lines()?;
            let ends = self.list_ends(until)?;
            self.no_here_document_before(ends)?;
            if ends {
                break;
            }
            self.and_or(&mut steps)?;
            self.blanks();
            self.comment();
            match self.peek() {
                Some(b';') if until == Until::CaseArm && self.ahead(1) == Some(b'&') => {}
                Some(b';') if self.ahead(1) != Some(b';') => self.at += 1,
                Some(b'&') if !matches!(self.ahead(1), Some(b'&' | b'>')) => self.background(&mut steps),
                Some(b'\n') => self.newline()?,
                None | Some(b')' | b';') => {}
                // A compound command may be followed by the word that closes the one around it, but only after a
                // separator; anything else here is an error in every shell.
                Some(_) => return self.fail(Trouble::Syntax("a missing separator")),
            }
        }
        if steps.is_empty() && until != Until::End && until != Until::CaseArm {
            return self.fail(Trouble::Syntax("nothing to run"));
        }
        Ok(Script { steps })
    }

    pub(super) fn background(&mut self, steps: &mut [Step]) {
        self.at += 1;
        for step in steps.iter_mut().rev() {
            step.background = true;
            if step.join == Join::Then {
                break;
            }
        }
    }

    pub(super) fn list_ends(&mut self, until: Until) -> Read<bool> {
        match self.peek() {
            None => {
                return if until == Until::End {
                    Ok(true)
                } else {
                    self.fail(Trouble::Syntax("something is not closed"))
                };
            }
            Some(b')') => {
                return if until == Until::Parenthesis { Ok(true) } else { self.fail(Trouble::Syntax("a stray `)`")) };
            }
            Some(b';') => {
                let ends = until == Until::CaseArm && (self.starts_with(";;") || self.starts_with(";&"));
                return if ends { Ok(true) } else { self.fail(Trouble::Syntax("a stray `;`")) };
            }
            Some(b'&' | b'|') if !self.starts_with("&>") => return self.fail(Trouble::Syntax("a stray operator")),
            _ => {}
        }
        let Some(word) = self.reserved() else { return Ok(false) };
        if !CLOSING.contains(&word) {
            return Ok(false);
        }
        match until {
            Until::Words(words) if words.contains(&word) => Ok(true),
            Until::CaseArm if word == "esac" => Ok(true),
            _ => self.fail(Trouble::Syntax("a reserved word out of place")),
        }
    }

    /// The reserved word or reserved-looking bare word that stands here, if a whole token is one.
    pub(super) fn reserved(&self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let length = rest
            .bytes()
            .position(|b| matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'));
        let token = rest.get(..length.unwrap_or(rest.len()))?;
        let known = matches!(
            token,
            "if" | "then"
                | "elif"
                | "else"
                | "fi"
                | "do"
                | "done"
                | "case"
                | "esac"
                | "in"
                | "while"
                | "until"
                | "for"
                | "select"
                | "function"
                | "coproc"
                | "{"
                | "}"
                | "[["
                | "]]"
                | "!"
        );
        known.then_some(token)
    }

    pub(super) fn and_or(&mut self, steps: &mut Vec<Step>) -> Read<()> {
        let mut join = Join::Then;
        loop {
            let (negated, pipeline) = self.pipeline()?;
            steps.push(Step { join, background: false, negated, pipeline });
            self.blanks();
            if self.take("&&") {
                join = Join::And;
            } else if self.take("||") {
                join = Join::Or;
            } else {
                return Ok(());
            }
            self.blank_lines()?;
            self.no_here_document_before(false)?;
        }
    }

    pub(super) fn pipeline(&mut self) -> Read<(bool, Vec<Command>)> {
        let mut negated = false;
        while self.reserved() == Some("!") {
            if negated {
                return self.fail(Trouble::Unsupported("`!` twice"));
            }
            negated = true;
            self.at += 1;
            if !matches!(self.peek(), Some(b' ' | b'\t')) {
                return self.fail(Trouble::Syntax("`!` before nothing"));
            }
            self.blanks();
        }
        self.timing()?;
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.ahead(1) == Some(b'|') {
                return Ok((negated, commands));
            }
            self.at += 1;
            if self.peek() == Some(b'&') {
                self.only_bash("`|&`")?;
                self.at += 1;
            }
            self.blank_lines()?;
            if self.reserved() == Some("!") {
                return self.fail(Trouble::Syntax("`!` inside a pipeline"));
            }
            commands.push(self.command()?);
        }
    }

    /// `time` and `time -p` before a pipeline, which only bash knows as reserved words; others call a program.
    fn timing(&mut self) -> Read<()> {
        let blank = |byte: Option<u8>| matches!(byte, Some(b' ' | b'\t'));
        if self.shell == Shell::Other || !self.starts_with("time") || !blank(self.ahead(4)) {
            return Ok(());
        }
        self.not_printed_anew("`time` inside of a substitution")?;
        self.at += 4;
        self.blanks();
        if self.starts_with("-p") && blank(self.ahead(2)) {
            self.at += 2;
            self.blanks();
        }
        // With another option, or before `!`, versions of bash differ.
        let word = self.reserved();
        if matches!(self.peek(), Some(b'-' | b'\n' | b';' | b'&' | b'|' | b')') | None) || word == Some("!") {
            return self.fail(Trouble::Unsupported("this form of `time`"));
        }
        if self.starts_with("time") && blank(self.ahead(4)) {
            return self.fail(Trouble::Unsupported("`time` twice"));
        }
        Ok(())
    }
}
