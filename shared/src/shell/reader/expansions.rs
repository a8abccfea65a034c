//! What starts with a dollar sign or a backtick.

use super::words::push;
use super::{Read, Reader, Shell, Trouble, Until};
use crate::shell::quoting;
use crate::shell::syntax::{Arithmetic, Form, Piece, Script, Variable, Word};

impl Reader<'_> {
    pub(super) fn dollar(&mut self, quoted: Quoted) -> Read<Piece> {
        let is_quoted = quoted != Quoted::No;
        // The shell joins the lines first, and what follows then belongs to the dollar sign.
        if self.ahead(1) == Some(b'\\') && self.ahead(2) == Some(b'\n') {
            return self.fail(Trouble::Unsupported("a line continuation behind `$`"));
        }
        if self.shell == Shell::Other {
            // zsh has forms of its own behind many of these characters.
            match self.ahead(1) {
                Some(b'(' | b'{' | b'?' | b'$' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {}
                Some(b'"') if is_quoted => {}
                _ => return self.fail(Trouble::ShellsDisagree("this dollar sign")),
            }
        }
        match self.ahead(1) {
            Some(b'(') if self.ahead(2) == Some(b'(') => self.arithmetic(),
            Some(b'(') => {
                self.at += 2;
                let script = self.substituted()?;
                Ok(Piece::Substitution { script, quoted: is_quoted })
            }
            Some(b'{') => {
                self.at += 2;
                self.nested(|r| r.braced(is_quoted))
            }
            Some(b'\'') if quoted == Quoted::No => {
                self.only_bash("`$'…'`")?;
                self.at += 2;
                self.ansi_c()
            }
            Some(b'"') if quoted == Quoted::No => self.fail(Trouble::Unsupported("`$\"…\"`")),
            Some(b'[') => self.fail(Trouble::Unsupported("`$[…]`")),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.at += 1;
                let name = self.name()?;
                if self.peek() == Some(b'[') {
                    self.only_bash("a subscript")?;
                }
                Ok(Piece::Variable(Variable {
                    name,
                    quoted: is_quoted,
                    form: Form::Plain,
                    arithmetic: Arithmetic::default(),
                }))
            }
            Some(byte @ (b'0'..=b'9' | b'?' | b'#' | b'$' | b'!' | b'@' | b'*' | b'-')) => {
                self.at += 2;
                let form = if byte == b'@' { Form::Elements } else { Form::Plain };
                let name = char::from(byte).to_string();
                Ok(Piece::Variable(Variable { name, quoted: is_quoted, form, arithmetic: Arithmetic::default() }))
            }
            // A dollar that starts nothing stands for itself.
            _ => {
                self.at += 1;
                Ok(Piece::Text { text: "$".to_owned(), quoted: true })
            }
        }
    }

    pub(super) fn name(&mut self) -> Read<String> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        if self.peek() == Some(b'\\') && self.ahead(1) == Some(b'\n') {
            return self.fail(Trouble::Unsupported("a line continuation in a name"));
        }
        Ok(self.slice(start, self.at)?.to_owned())
    }

    /// Behind `$(` or `<(`, up to and with the `)`.
    pub(super) fn substituted(&mut self) -> Read<Script> {
        let around = self.substitution;
        let script = self.nested(|r| {
            r.substitution = Some((r.depth, r.bodies.len()));
            r.list(Until::Parenthesis)
        })?;
        self.substitution = around;
        self.close_parenthesis()?;
        Ok(script)
    }

    /// bash prints a substitution anew from its tree before it runs it. bash 5.2 then loses the separator behind a
    /// here-document: the commands of `$(cat <<E … E` newline `echo a; rm b)` become one, `echo a rm b`.
    pub(super) fn no_here_document_before(&self, ends: bool) -> Read<()> {
        match self.substitution {
            Some((depth, before)) if self.bodies.len() > before && !(ends && self.depth == depth) => {
                self.fail(Trouble::Unsupported("a command behind a here-document, inside of a substitution"))
            }
            _ => Ok(()),
        }
    }

    /// For what bash is known to print in another form than it stands, or too seldom used to be sure: `(esac|x)` loses its
    /// parenthesis, and behind `time` even `[[ a > b ]]` becomes a redirection.
    pub(super) fn not_printed_anew(&self, what: &'static str) -> Read<()> {
        match self.substitution {
            Some(_) => self.fail(Trouble::Unsupported(what)),
            None => Ok(()),
        }
    }

    pub(super) fn ansi_c(&mut self) -> Read<Piece> {
        let start = self.at;
        loop {
            match self.peek() {
                None => return self.fail(Trouble::Syntax("a single quote is not closed")),
                Some(b'\\') => self.at += if self.ahead(1).is_some() { 2 } else { 1 },
                Some(b'\'') => break,
                Some(_) => self.at += 1,
            }
        }
        let raw = self.slice(start, self.at)?;
        self.at += 1;
        match quoting::ansi_c(raw) {
            Some(text) => Ok(Piece::Text { text, quoted: true }),
            None => self.fail(Trouble::Unsupported("an escape in `$'…'`")),
        }
    }

    /// `$((…))`: only what [`Reader::expression`] takes.
    fn arithmetic(&mut self) -> Read<Piece> {
        self.at += 3;
        self.expression("))").map(Piece::Number)
    }

    /// Behind `${`, up to and with the `}`.
    pub(super) fn braced(&mut self, quoted: bool) -> Read<Piece> {
        let length = self.peek() == Some(b'#') && self.ahead(1) != Some(b'}');
        if length {
            self.at += 1;
        }
        let name = match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.name()?,
            Some(b'0'..=b'9') => {
                let start = self.at;
                self.at += self.descriptor_digits();
                self.slice(start, self.at)?.to_owned()
            }
            Some(byte @ (b'?' | b'#' | b'$' | b'@' | b'*' | b'-')) => {
                self.at += 1;
                char::from(byte).to_string()
            }
            Some(b'!') => return self.fail(Trouble::Unsupported("`${!…}`, which evaluates a name from data")),
            _ => return self.fail(Trouble::Unsupported("this form of `${…}`")),
        };
        let mut variable = Variable { name, quoted, form: Form::Plain, arithmetic: Arithmetic::default() };
        if variable.name == "@" {
            variable.form = Form::Elements;
        }
        if self.peek() == Some(b'[') {
            self.only_bash("a subscript")?;
            self.at += 1;
            if self.take("@]") {
                variable.form = Form::Elements;
            } else if self.take("*]") {
                variable.form = Form::Altered;
            } else {
                variable.arithmetic = self.expression("]")?;
                variable.form = Form::Altered;
            }
        }
        if self.take("}") {
            return Ok(if length { Piece::Number(variable.arithmetic) } else { Piece::Variable(variable) });
        }
        if length {
            return self.fail(Trouble::Unsupported("this form of `${…}`"));
        }
        self.altered(&mut variable)?;
        Ok(Piece::Variable(variable))
    }

    /// An operator and what it works with, up to and with the `}`.
    fn altered(&mut self, variable: &mut Variable) -> Read<()> {
        const OPERATORS: &[&str] = &[
            ":-", ":+", ":=", ":?", "-", "+", "=", "?", "%%", "%", "##", "#", "//", "/#", "/%", "/", "^^", "^", ",,",
            ",",
        ];
        let many = matches!(variable.form, Form::Elements);
        if self.peek() == Some(b'@') {
            self.only_bash("`${…@…}`")?;
            if !["@Q}", "@U}", "@L}", "@u}"].into_iter().any(|form| self.take(form)) {
                return self.fail(Trouble::Unsupported("`${…@…}`, which may run what it expands"));
            }
            variable.form = if many { Form::Elements } else { Form::Altered };
            return Ok(());
        }
        let operator = OPERATORS.iter().find(|operator| self.starts_with(operator));
        let Some(operator) = operator.copied() else {
            return if self.take(":") {
                self.substring(variable)
            } else {
                self.fail(Trouble::Unsupported("this form of `${…}`"))
            };
        };
        let known_to_all = operator.starts_with([':', '-', '+', '%', '#', '?']) && operator != ":=";
        if !known_to_all {
            self.only_bash("this form of `${…}`")?;
        }
        self.at += operator.len();
        let pattern = operator.starts_with(['%', '#', '/', '^', ',']);
        let operand = self.operand(variable.quoted, pattern)?;
        if many && operand.pieces.iter().any(|piece| !matches!(piece, Piece::Text { .. } | Piece::Glob(_))) {
            return self.fail(Trouble::Unsupported("this form of `${…[@]}`"));
        }
        // An unset variable ends the line there.
        variable.arithmetic.may_fail |= matches!(operator, "?" | ":?");
        variable.form = match operator {
            "=" | ":=" => Form::Assigned(operand),
            _ if many => Form::Elements,
            _ => Form::With(operand),
        };
        Ok(())
    }

    /// `${name:offset}` and `${name:offset:length}`.
    fn substring(&mut self, variable: &mut Variable) -> Read<()> {
        self.only_bash("a substring")?;
        let start = self.at;
        let length = self.text.get(start..).and_then(|rest| rest.bytes().position(|byte| matches!(byte, b':' | b'}')));
        let end = match length.and_then(|length| self.ahead(length)) {
            Some(b':') => ":",
            _ => "}",
        };
        let mut found = self.expression(end)?;
        if end == ":" {
            let second = self.expression("}")?;
            found.may_fail |= second.may_fail;
            found.names.extend(second.names);
            found.assigned.extend(second.assigned);
        }
        variable.arithmetic.may_fail |= found.may_fail;
        variable.arithmetic.names.append(&mut found.names);
        variable.arithmetic.assigned.append(&mut found.assigned);
        if !matches!(variable.form, Form::Elements) {
            variable.form = Form::Altered;
        }
        Ok(())
    }

    /// The word of `${name:-word}`, up to and with the `}`. Quotes in it mean different things in different places,
    /// so only text is taken that is consumed alike in all of them.
    fn operand(&mut self, quoted: bool, pattern: bool) -> Read<Word> {
        let start = self.at;
        let mut pieces = Vec::new();
        loop {
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Word { pieces, span: self.span(start) });
                }
                Some(b'$') if !matches!(self.ahead(1), Some(b'\'' | b'"')) => {
                    let piece = self.dollar(if quoted { Quoted::Yes } else { Quoted::No })?;
                    pieces.push(piece);
                }
                Some(byte @ (b'*' | b'?' | b'[')) => {
                    self.at += 1;
                    pieces.push(Piece::Glob(char::from(byte)));
                }
                Some(quote @ (b'\'' | b'"')) if self.shell == Shell::Bash && (pattern || quote == b'"' && !quoted) => {
                    self.at += 1;
                    let from = self.at;
                    while self.peek().is_some_and(is_plain_operand) {
                        self.at += 1;
                    }
                    push(&mut pieces, self.slice(from, self.at)?, true);
                    if self.peek() != Some(quote) {
                        return self.fail(Trouble::Unsupported("this text in `${…}`"));
                    }
                    self.at += 1;
                }
                Some(b'\\') if self.ahead(1).is_some_and(|next| b"#/.*?[]-_+:,%@=".contains(&next)) => {
                    let text = self.slice(self.at + 1, self.at + 2)?;
                    push(&mut pieces, text, true);
                    self.at += 2;
                }
                Some(byte) if is_plain_operand(byte) => {
                    self.at += 1;
                    push(&mut pieces, char::from(byte).encode_utf8(&mut [0; 4]), false);
                }
                _ => return self.fail(Trouble::Unsupported("this text in `${…}`")),
            }
        }
    }

    pub(super) fn backticks(&mut self, quoted: Quoted) -> Read<Piece> {
        let start = self.at;
        self.at += 1;
        let mut inner = Vec::new();
        loop {
            match self.peek() {
                None => return self.fail(Trouble::Syntax("a backtick is not closed")),
                Some(b'`') => break,
                Some(b'\\') => {
                    let unescaped = match self.ahead(1) {
                        Some(next @ (b'`' | b'\\' | b'$')) => Some(next),
                        Some(b'"') if quoted == Quoted::Yes => Some(b'"'),
                        // bash takes it out even where the inner text quotes it.
                        Some(b'\n') => {
                            return self.fail(Trouble::Unsupported("a line continuation inside of backticks"));
                        }
                        None => return self.fail(Trouble::Syntax("a backtick is not closed")),
                        Some(_) => None,
                    };
                    if let Some(next) = unescaped {
                        inner.push(next);
                        self.at += 2;
                    } else {
                        inner.push(b'\\');
                        self.at += 1;
                    }
                }
                Some(byte) => {
                    inner.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let Ok(inner) = String::from_utf8(inner) else {
            return self.fail(Trouble::Syntax("a broken character"));
        };
        let span = self.span(start);
        let script = self.copy(&inner, span, |reader| {
            let script = reader.list(Until::End)?;
            reader.no_open_here_document()?;
            if script.steps.is_empty() { reader.fail(Trouble::Syntax("nothing to run")) } else { Ok(script) }
        })?;
        Ok(Piece::Substitution { script, quoted: quoted != Quoted::No })
    }
}

/// Where an expansion stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    No,
    Yes,
    HereDocument,
}

/// Text that is read alike with and without quotes around it.
fn is_plain_operand(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./,:@%+=- #]^".contains(&byte)
}
