//! Arithmetic: numbers, names and operators. A name's value is an expression of its own, so names are noted; what
//! brings text of another kind along (subscripts, quotes, the output of commands) is refused.

use super::{Read, Reader, Trouble};
use crate::shell::syntax::{Arithmetic, Calculation, Command};

impl Reader<'_> {
    /// `(( … ))` as a command. A text of these characters up to `))` can be nothing else.
    pub(super) fn arithmetic_command(&mut self) -> Read<Command> {
        self.only_bash("`((`")?;
        let start = self.at;
        self.at += 2;
        let expression = self.expression("))")?;
        let redirects = self.trailing_redirects()?;
        Ok(Command::Calculation(Calculation { expression, redirects, span: self.span(start) }))
    }

    /// An expression up to and with `end`, which stands outside of its parentheses: `))`, `;`, `]`, `}` or `:`.
    pub(super) fn expression(&mut self, end: &str) -> Read<Arithmetic> {
        let mut found = Arithmetic::default();
        let mut open = 0_usize;
        let start = self.at;
        loop {
            let here = self.at;
            if open == 0 && self.take(end) {
                found.may_fail = !is_plain(self.slice(start, here)?);
                return Ok(found);
            }
            match self.peek() {
                None => return self.fail(Trouble::Syntax("an expression is not closed")),
                Some(b'\n') if !self.pending.is_empty() => {
                    return self.fail(Trouble::Unsupported("a here-document that starts inside another construct"));
                }
                Some(b'(') => {
                    open += 1;
                    self.at += 1;
                }
                Some(b')') if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                Some(b'0'..=b'9') => self.number()?,
                Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.variable_in_expression(&mut found)?,
                Some(b'$') => self.expanded_in_expression(&mut found)?,
                Some(
                    b' ' | b'\t' | b'\n' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|'
                    | b'^' | b'~' | b',' | b'?' | b':',
                ) => self.at += 1,
                _ => return self.fail(Trouble::Unsupported("arithmetic on anything but numbers and names")),
            }
        }
    }

    /// Digits, perhaps in base 16. Other bases (`2#101`) are not read.
    fn number(&mut self) -> Read<()> {
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        if matches!(self.peek(), Some(b'#' | b'@')) {
            return self.fail(Trouble::Unsupported("a number in a base of its own"));
        }
        Ok(())
    }

    fn variable_in_expression(&mut self, found: &mut Arithmetic) -> Read<()> {
        let increments =
            self.text.get(..self.at).is_some_and(|before| before.ends_with("++") || before.ends_with("--"));
        let name = self.name()?;
        let mut ahead = 0;
        while matches!(self.ahead(ahead), Some(b' ' | b'\t')) {
            ahead += 1;
        }
        let rest = self.text.as_bytes().get(self.at + ahead..).unwrap_or(&[]);
        let sets = rest.first() == Some(&b'=') && rest.get(1) != Some(&b'=');
        let changes = increments
            || ["++", "--", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="]
                .iter()
                .any(|operator| rest.starts_with(operator.as_bytes()));
        if sets || changes {
            found.assigned.push(name.clone());
        }
        if !sets {
            found.names.push(name);
        }
        Ok(())
    }

    /// `$name`, `${name}`, `${#name}`, `$?`, `$#`: the value becomes part of the expression's text.
    fn expanded_in_expression(&mut self, found: &mut Arithmetic) -> Read<()> {
        self.at += 1;
        match self.peek() {
            Some(b'?' | b'#') => {
                self.at += 1;
                return Ok(());
            }
            Some(b'{') => {
                self.at += 1;
                let length = self.take("#");
                let name = self.name()?;
                if name.is_empty() || !self.take("}") {
                    return self.fail(Trouble::Unsupported("this expansion in arithmetic"));
                }
                if !length {
                    found.names.push(name);
                }
            }
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let name = if byte.is_ascii_digit() {
                    self.at += 1;
                    char::from(byte).to_string()
                } else {
                    self.name()?
                };
                found.names.push(name);
            }
            _ => return self.fail(Trouble::Unsupported("the output of a command in arithmetic")),
        }
        // The text that the value continues: `$x` and `1` would make one number, `$x` and `[` a subscript.
        if self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'[' | b'$' | b'#' | b'{'))
        {
            return self.fail(Trouble::Unsupported("text glued to an expansion in arithmetic"));
        }
        Ok(())
    }
}

/// True for `operand (operator operand)*` with operators and numbers that cannot be wrong: no division, no shift, no
/// power, no leading zero, no parentheses.
fn is_plain(text: &str) -> bool {
    let mut rest = text.trim();
    if let Some((name, value)) = rest.split_once('=')
        && !value.starts_with('=')
        && name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        rest = value.trim();
    }
    loop {
        let steps = rest.trim_start_matches("++").trim_start_matches("--").trim_start_matches('$');
        let length =
            steps.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'#' | b'?')));
        let (operand, after) = steps.split_at(length.unwrap_or(steps.len()));
        let is_number = operand.starts_with(|c: char| c.is_ascii_digit());
        let digits = operand.len() < 18 && operand.bytes().all(|byte| byte.is_ascii_digit());
        if operand.is_empty() || is_number && !(digits && (operand == "0" || !operand.starts_with('0'))) {
            return false;
        }
        let after = after.strip_prefix("++").or_else(|| after.strip_prefix("--")).unwrap_or(after).trim_start();
        if after.is_empty() {
            return true;
        }
        let operators = ["<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "+", "-", "*", "<", ">"];
        let Some(operator) = operators.into_iter().find(|operator| after.starts_with(operator)) else { return false };
        rest = after.get(operator.len()..).unwrap_or("").trim_start();
        // `**` and `<<`, and anything but a name or a number behind the operator.
        if rest.starts_with(['*', '<', '>', '=', '&', '|', '+', '-']) {
            return false;
        }
    }
}
