//! Redirections.

use super::{PendingHere, Read, Reader, Shell, Trouble};
use crate::shell::syntax::{HereId, Redirect, RedirectTarget, Word};

impl Reader<'_> {
    /// How many digits stand here, as the descriptor of a redirection would.
    pub(super) fn descriptor_digits(&self) -> usize {
        let mut digits = 0;
        while self.ahead(digits).is_some_and(|byte| byte.is_ascii_digit()) {
            digits += 1;
        }
        digits
    }

    /// A redirection behind this many digits, which name its descriptor.
    pub(super) fn redirect_of(&mut self, digits: usize) -> Read<Redirect> {
        let most = if self.shell == Shell::Bash { 3 } else { 1 };
        if digits > most {
            // A word to some shells and a descriptor to others.
            return self.fail(Trouble::Unsupported("a long number before a redirection"));
        }
        let number = self.slice(self.at, self.at + digits)?;
        self.at += digits;
        let mut redirect = self.redirect(number)?;
        let is_input = redirect.reads || matches!(redirect.target, RedirectTarget::Here(_) | RedirectTarget::Text(_));
        redirect.other_input = is_input && !matches!(number, "" | "0");
        Ok(redirect)
    }

    pub(super) fn redirect(&mut self, number: &str) -> Read<Redirect> {
        self.count()?;
        if self.starts_with("&>") {
            self.only_bash("`&>`")?;
            self.at += 2;
            self.take(">");
            return self.path(false, true);
        }
        if self.take("<<<") {
            self.only_bash("`<<<`")?;
            self.blanks();
            let word = self.word()?;
            return Ok(Redirect {
                writes: false,
                reads: false,
                other_input: false,
                target: RedirectTarget::Text(word),
            });
        }
        if self.take("<<") {
            return self.here_redirect();
        }
        for operator in [">&", "<&"] {
            if self.take(operator) {
                return self.duplicate(operator, number);
            }
        }
        if self.take("<>") {
            self.not_printed_anew("`<>` inside of a substitution")?;
            self.path(true, true)
        } else if self.take(">>") || self.take(">|") || self.take(">") {
            self.path(false, true)
        } else {
            self.at += 1;
            self.path(true, false)
        }
    }

    pub(super) fn path(&mut self, reads: bool, writes: bool) -> Read<Redirect> {
        if self.peek() == Some(b'!') {
            self.only_bash("`!` glued to a redirection")?;
        }
        self.blanks();
        let word = self.word_or_process()?;
        Ok(Redirect { writes, reads, other_input: false, target: RedirectTarget::Path(word) })
    }

    pub(super) fn duplicate(&mut self, operator: &str, number: &str) -> Read<Redirect> {
        self.blanks();
        let closes = self.peek() == Some(b'-');
        let word = self.word()?;
        // The shell ends `>&-` at the `-`; what is glued to it would be a word of its own.
        if closes && word.bare() != Some("-") {
            return self.fail(Trouble::Unsupported("a word glued to `>&-`"));
        }
        // A file that was opened for reading would become an output, and /dev/stdout opens it anew, for writing.
        let number = number.trim_end_matches(['<', '>', '&']);
        if word.bare() == Some("0") && !(operator == "<&" && matches!(number, "" | "0")) {
            return self.fail(Trouble::Unsupported("standard input as another descriptor"));
        }
        let plain =
            word.bare().is_some_and(|text| text == "-" || !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
        if plain {
            let input = (operator == "<&" || number == "0") && !matches!(word.bare(), Some("0" | "-"));
            return Ok(Redirect {
                writes: false,
                reads: input,
                other_input: false,
                target: RedirectTarget::Descriptor,
            });
        }
        if operator == ">&"
            && let Some(file) = word.literal()
        {
            self.only_bash("`>&` with a file")?;
            // Bash expands this word twice, the second time without its quotes, and `>&"1"` and `>&1-` mean descriptors.
            let starts = file.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '.' | '_'));
            if !starts || !file.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+=,%@:".contains(&byte)) {
                return self.fail(Trouble::Unsupported("this name of a file behind `>&`"));
            }
            return Ok(Redirect { writes: true, reads: false, other_input: false, target: RedirectTarget::Path(word) });
        }
        self.fail(Trouble::Unsupported("a descriptor that is only known when it runs"))
    }

    pub(super) fn here_redirect(&mut self) -> Read<Redirect> {
        let strip_tabs = self.take("-");
        self.blanks();
        let start = self.at;
        let word = self.word()?;
        let raw = self.slice(start, self.at)?;
        if raw.contains(['$', '`', '\n']) {
            return self.fail(Trouble::Unsupported("this delimiter of a here-document"));
        }
        let expands = !raw.contains(['\'', '"', '\\']);
        let delimiter = match word.literal() {
            Some(text) if !text.is_empty() && !text.contains('\n') && !text.starts_with('~') => text.into_owned(),
            _ => return self.fail(Trouble::Unsupported("this delimiter of a here-document")),
        };
        let id = self.bodies.len();
        self.bodies.push(Word::default());
        self.pending.push(PendingHere { id, delimiter, expands, strip_tabs, depth: self.depth });
        Ok(Redirect { writes: false, reads: false, other_input: false, target: RedirectTarget::Here(HereId(id)) })
    }
}
