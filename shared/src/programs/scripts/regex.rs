//! Where a regular expression ends. Programs read brackets in two ways: for some the delimiter ends the expression in them,
//! too, for others it does not, and a backslash in them escapes or stands for itself. Only what ends at one place in every
//! reading has an end here.

/// The place of the delimiter that ends the expression which begins at `from`.
pub(super) fn end(text: &[u8], from: usize, delimiter: u8) -> Option<usize> {
    let mut at = from;
    loop {
        match *text.get(at)? {
            b'\n' => return None,
            b'\\' if *text.get(at + 1)? == b'\n' => return None,
            b'\\' => at += 2,
            byte if byte == delimiter => return Some(at),
            b'[' => at = behind_brackets(text, at, delimiter)?,
            _ => at += 1,
        }
    }
}

/// Behind the bracket expression at `from`.
fn behind_brackets(text: &[u8], from: usize, delimiter: u8) -> Option<usize> {
    let mut at = from + 1 + usize::from(text.get(from + 1) == Some(&b'^'));
    // In the first place it stands for itself, or closes.
    if text.get(at) == Some(&b']') {
        return None;
    }
    loop {
        match *text.get(at)? {
            b']' => return Some(at + 1),
            b'\n' => return None,
            b'\\' if matches!(*text.get(at + 1)?, b']' | b'[' | b'\\' | b'\n') => return None,
            b'\\' => at += 2,
            byte if byte == delimiter => return None,
            b'[' => {
                let rest = text.get(at..)?.strip_prefix(b"[:")?;
                let name = rest.iter().position(|byte| !byte.is_ascii_lowercase())?;
                rest.get(name..)?.strip_prefix(b":]")?;
                at += name + 4;
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn an_expression_ends_where_every_program_ends_it() {
        for (text, want) in [
            ("a/b", Some(1)),
            ("a\\/b/", Some(4)),
            ("[a-z]*/", Some(6)),
            ("[[:space:]]*$/", Some(13)),
            ("[^[:alpha:]_.\\-]/", Some(16)),
            ("[\\/]/", Some(4)),
            ("[ \\t]/", Some(5)),
            ("", None),
            ("a", None),
            ("a\n/", None),
            ("a\\\n/", None),
            ("a\\", None),
            ("[/]/", None),
            ("[]/]/", None),
            ("[^]/]/", None),
            ("[]a]/", None),
            ("[[:alpha:]/\"]/", None),
            ("[\\]/]/", None),
            ("[\\\\]/", None),
            ("[[.a.]]/", None),
            ("[[]/]/", None),
            ("[a/", None),
            ("[[:a/:]]/", None),
        ] {
            assert_eq!(end(text.as_bytes(), 0, b'/'), want, "{text}");
        }
    }
}
