//! Text as a terminal would print it, without what changes the terminal: titles, clipboards, colours, the place of the cursor.

use vte::{Parser, Perform};

/// Takes bytes in any pieces, and gives text back: valid UTF-8, with no control character but new lines and tabs.
#[derive(Default)]
pub struct Plain {
    parser: Parser,
    printed: Printed,
    /// The start of a character.
    unfinished: Vec<u8>,
}

#[derive(Default)]
struct Printed {
    text: String,
    /// A carriage return came last: a new line by itself, unless one follows.
    returned: bool,
}

impl Plain {
    /// What of these bytes is text.
    pub fn of(bytes: &[u8]) -> String {
        let mut plain = Self::default();
        let mut text = plain.push(bytes);
        text.push_str(&plain.finish());
        text
    }

    /// What can be said after these bytes. The start of a sequence or of a character waits for the rest.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut whole = std::mem::take(&mut self.unfinished);
        whole.extend_from_slice(bytes);
        let mut chunks = whole.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.parser.advance(&mut self.printed, chunk.valid().as_bytes());
            let invalid = chunk.invalid();
            let may_go_on =
                chunks.peek().is_none() && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if may_go_on {
                self.unfinished = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.replace();
            }
        }
        std::mem::take(&mut self.printed.text)
    }

    fn replace(&mut self) {
        self.parser.advance(&mut self.printed, "\u{fffd}".as_bytes());
    }

    /// What is left when nothing comes any more.
    pub fn finish(&mut self) -> String {
        if !std::mem::take(&mut self.unfinished).is_empty() {
            self.replace();
        }
        self.printed.end_line();
        std::mem::take(&mut self.printed.text)
    }
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Plain")
    }
}

impl Printed {
    fn end_line(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.text.push('\n');
        }
    }
}

impl Perform for Printed {
    fn print(&mut self, c: char) {
        self.end_line();
        if !c.is_control() {
            self.text.push(c);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.returned = false;
                self.text.push('\n');
            }
            b'\r' => {
                self.end_line();
                self.returned = true;
            }
            b'\t' => {
                self.end_line();
                self.text.push('\t');
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_of_a_terminal_is_left() {
        for (bytes, want) in [
            (&b"10%\r20%\r\nend"[..], "10%\n20%\nend"),
            (b"a\tb\x07\x08c\x7f", "a\tbc"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07x\x1b]52;c;aGk=\x1b\\y", "xy"),
            (b"\x1bPq#0\x1b\\z \x1b_app\x1b\\ \x1b^pm\x1b\\.", "z  ."),
            (b"\xc2\x9b31mred \xc2\x9d0;t\x07", "31mred 0;t"),
            (b"gr\xc3\xbcn \xff\xfe", "gr\u{fc}n \u{fffd}\u{fffd}"),
            (b"cut \x1b]0;never ended", "cut "),
        ] {
            assert_eq!(Plain::of(bytes), want, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_say_what_the_whole_says(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b']'), Just(b'\r'), Just(0xc3)], 0..200), piece in 1usize..20) {
            let mut plain = Plain::default();
            let mut text: String = bytes.chunks(piece).map(|bytes| plain.push(bytes)).collect();
            text.push_str(&plain.finish());
            prop_assert!(text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert_eq!(text, Plain::of(&bytes));
        }
    }
}
