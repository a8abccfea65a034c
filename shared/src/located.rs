//! Where in a configuration something is wrong, in words.

use std::ops::Range;

/// The message behind the number of the line on which its span in bytes starts, from 1, and the line itself. A long one is
/// cut.
pub fn located(text: &str, span: Option<Range<usize>>, message: &str) -> String {
    let Some(before) = span.and_then(|span| text.get(..span.start)) else { return message.to_owned() };
    let number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let line: String = text.lines().nth(number - 1).unwrap_or("").trim().chars().take(80).collect();
    if line.is_empty() { format!("line {number}: {message}") } else { format!("line {number}, `{line}`: {message}") }
}

#[cfg(test)]
mod tests {
    use super::located;

    #[test]
    fn a_mistake_is_shown_with_its_line() {
        let text = "a = 1\n  b = -1  \n\n";
        assert_eq!(located(text, Some(8..9), "wrong"), "line 2, `b = -1`: wrong");
        assert_eq!(located(text, Some(0..1), "wrong"), "line 1, `a = 1`: wrong");
        assert_eq!(located(text, Some(17..17), "wrong"), "line 3: wrong");
        assert_eq!(located(text, Some(99..100), "wrong"), "wrong");
        assert_eq!(located(text, None, "wrong"), "wrong");
    }
}
