//! Blanks, comments, newlines, and the here-documents whose bodies start behind a newline.

use super::{PendingHere, Read, Reader, Trouble};
use crate::shell::syntax::{Piece, Word};

impl Reader<'_> {
    /// A line continuation directly behind an operator stays: the shell joins the lines first and might see another
    /// operator, so no rule takes it.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.ahead(1) == Some(b'\n') && !self.behind_operator() => self.at += 2,
                _ => return,
            }
        }
    }

    pub(super) fn behind_operator(&self) -> bool {
        let before = self.text.as_bytes().get(..self.at).unwrap_or(&[]);
        // Several continuations in a row are one.
        let mut before = before;
        while let [rest @ .., b'\\', b'\n'] = before {
            before = rest;
        }
        matches!(before.last(), Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';' | b'$' | b'`' | b'{' | b'[' | b'!'))
    }

    /// At the start of a token only: a comment runs to the end of its line.
    pub(super) fn comment(&mut self) {
        if self.peek() == Some(b'#') {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != b'\n') {
                self.at += 1;
            }
            // What stands in a copy was marked as no comment where it was copied from.
            if self.outer.is_none() {
                self.comments.push(self.span(start));
            }
        }
    }

    pub(super) fn blank_lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            self.comment();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    pub(super) fn newline(&mut self) -> Read<()> {
        self.at += 1;
        for here in std::mem::take(&mut self.pending) {
            if here.depth != self.depth {
                return self.fail(Trouble::Unsupported("a here-document that starts inside another construct"));
            }
            self.here_document(&here)?;
        }
        Ok(())
    }

    pub(super) fn no_open_here_document(&self) -> Read<()> {
        if self.pending.iter().any(|here| here.depth >= self.depth) {
            return self.fail(Trouble::Unsupported("a here-document without a body"));
        }
        Ok(())
    }

    pub(super) fn here_document(&mut self, here: &PendingHere) -> Read<()> {
        let begin = self.at;
        let mut body = String::new();
        loop {
            let start = self.at;
            let Some(length) = self.text.as_bytes().get(start..).and_then(|rest| {
                let end = rest.iter().position(|byte| *byte == b'\n');
                if rest.is_empty() { None } else { Some(end.unwrap_or(rest.len())) }
            }) else {
                return self.fail(Trouble::Syntax("a here-document without its end"));
            };
            let line = self.slice(start, start + length)?;
            let line = if here.strip_tabs { line.trim_start_matches('\t') } else { line };
            self.at = start + length;
            if line == here.delimiter {
                // The newline behind the delimiter belongs to the body; at the end of the text there may be none.
                if self.peek() == Some(b'\n') {
                    self.at += 1;
                }
                break;
            }
            // In a substitution bash ends the body there when a parenthesis follows.
            if line.starts_with(&here.delimiter) {
                return self.fail(Trouble::Unsupported("a line of a here-document that starts with its delimiter"));
            }
            // Bash joins such a line with the next before it looks for the delimiter.
            if here.expands && line.ends_with('\\') {
                return self.fail(Trouble::Unsupported("a line continuation in a here-document"));
            }
            if self.peek() != Some(b'\n') {
                return self.fail(Trouble::Syntax("a here-document without its end"));
            }
            self.at += 1;
            body.push_str(line);
            body.push('\n');
        }
        let span = self.span(begin);
        let word = if here.expands {
            self.copy(&body, span, |reader| {
                let pieces = reader.expanding_text(None)?;
                Ok(Word { pieces, span })
            })?
        } else {
            Word { pieces: vec![Piece::Text { text: body, quoted: true }], span }
        };
        match self.bodies.get_mut(here.id) {
            Some(slot) => *slot = word,
            None => return self.fail(Trouble::Syntax("a here-document out of order")),
        }
        // The delimiter's newline also ended the line of whatever follows, so the caller goes on at a line's start.
        Ok(())
    }
}
