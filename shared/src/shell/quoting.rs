//! Quoting, out and in: words as the shell reads them back, and `$'…'`, the one quoting whose content has a language of
//! its own (bash manual, "ANSI-C Quoting").

use std::iter::Peekable;
use std::str::Chars;

/// A word as every shell reads it back: as it is where nothing in it is special, else in single quotes.
pub fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@%+,".contains(&byte));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Decodes what stands between `$'` and `'`, or `None` for an escape that is unknown, makes NUL or no ASCII byte.
///
/// Bash passes an unknown escape on as it is and cuts the word at a NUL; `\x80` and above make single bytes, which are
/// no text. All of these are refused.
pub(super) fn ansi_c(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            same @ ('\\' | '\'' | '"' | '?') => same,
            'x' => byte(digits(&mut chars, 16, 2, None)?)?,
            'u' => char::from_u32(digits(&mut chars, 16, 4, None)?).filter(|c| *c != '\0')?,
            'U' => char::from_u32(digits(&mut chars, 16, 8, None)?).filter(|c| *c != '\0')?,
            first @ '0'..='7' => byte(digits(&mut chars, 8, 3, Some(first))?)?,
            _ => return None,
        });
    }
    Some(out)
}

/// A byte that is a character by itself in every locale.
fn byte(value: u32) -> Option<char> {
    char::from_u32(value).filter(|c| c.is_ascii() && *c != '\0')
}

/// Reads at most `most` digits (counting `first`), at least one.
fn digits(chars: &mut Peekable<Chars<'_>>, radix: u32, most: usize, first: Option<char>) -> Option<u32> {
    let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or(0);
    let mut taken = usize::from(first.is_some());
    while taken < most
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
    {
        value = value.checked_mul(radix)?.checked_add(digit)?;
        taken += 1;
        chars.next();
    }
    (taken > 0).then_some(value)
}

/// A text without the marks by which a shell joins what stands on both sides of them (quotes and backslashes); `None` where there
/// are none.
pub fn joined(text: &str) -> Option<String> {
    let is_mark = |c: char| matches!(c, '\'' | '"' | '\\');
    text.contains(is_mark).then(|| text.replace(is_mark, ""))
}

#[cfg(test)]
mod tests {
    use super::ansi_c;

    #[test]
    fn escapes_decode_as_bash_prints_them() {
        for (text, want) in [
            (r"plain", Some("plain")),
            (r"\x63url", Some("curl")),
            (r"\143url", Some("curl")),
            (r"\u0063url", Some("curl")),
            (r"a\tb\nc\\\'", Some("a\tb\nc\\'")),
            (r"\x0", None),
            (r"\0", None),
            (r"\400", None),
            (r"\xff", None),
            (r"\q", None),
            (r"\cA", None),
            (r"\x", None),
            ("end\\", None),
        ] {
            assert_eq!(ansi_c(text).as_deref(), want, "{text}");
        }
    }
}
