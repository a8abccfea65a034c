//! Which awk programs only compute and print: no pipe, no file, no program, no name that leads out of the script.
//!
//! Four awks are in use (gawk, mawk, the one true awk, busybox's), and they do not agree where a regular expression ends,
//! whether a `/` divides, or where a line goes on. So a script is taken in one of two ways: it holds nothing, in code, text
//! or comment, with which any script leads out; or it is written in a grammar so small that all of them read it alike.

use super::regex;
use crate::planted::{self, Bug};

/// Words with which a script reaches something besides its input.
const LEADING_OUT: &[&str] = &[
    "system",
    "getline",
    "ENVIRON",
    "PROCINFO",
    "ARGV",
    "ARGC",
    "SYMTAB",
    "FUNCTAB",
    "include",
    "load",
    "namespace",
    "extension",
];

/// True for a script that stays inside.
pub(super) fn is_local(script: &str) -> bool {
    holds_nothing(script) || is_understood(script) || planted::has(Bug::AwkStaysInside)
}

/// True where a script leads nowhere, whatever in it is code.
fn holds_nothing(script: &str) -> bool {
    !script.contains(['|', '>', '@']) && !LEADING_OUT.iter().any(|word| script.contains(word))
}

/// What stood last, as far as the next token's meaning depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A value: a `/` behind it divides.
    Value,
    /// An operator, a bracket that opens, a separator: a `/` behind it starts a regular expression.
    Open,
    /// Something behind which a `/` may be either.
    Unclear,
}

/// True for a script that is read alike by every awk and leads nowhere.
fn is_understood(script: &str) -> bool {
    let bytes = script.as_bytes();
    let at = |index: usize| bytes.get(index).copied();
    let mut index = 0;
    let mut last = Last::Open;
    // For each open parenthesis, what the one that closes it is.
    let mut open: Vec<Last> = Vec::new();
    // The last word was one with a condition behind it.
    let mut before_condition = false;
    // A `print` since the statement began: a `>` would write a file. A newline need not end a statement.
    let mut printing = false;
    while let Some(byte) = at(index) {
        let is_condition = std::mem::take(&mut before_condition);
        match byte {
            b' ' | b'\t' => before_condition = is_condition,
            b'\\' if at(index + 1) == Some(b'\n') => {
                before_condition = is_condition;
                index += 1;
            }
            b'#' => {
                let length = bytes.iter().skip(index).position(|byte| *byte == b'\n');
                let end = length.map_or(bytes.len(), |length| index + length);
                // Whether the comment goes on is not agreed upon.
                if bytes.get(end - 1) == Some(&b'\\') {
                    return false;
                }
                index = end;
                continue;
            }
            b';' => {
                printing &= !open.is_empty();
                last = Last::Open;
            }
            b'{' | b'}' => {
                if !open.is_empty() {
                    return false;
                }
                printing = false;
                last = Last::Open;
            }
            b'(' => {
                open.push(if is_condition { Last::Unclear } else { Last::Value });
                last = Last::Open;
            }
            b')' => {
                let Some(closed) = open.pop() else { return false };
                last = closed;
            }
            b'\n' | b'[' => last = Last::Open,
            b']' => last = Last::Value,
            b'"' => {
                let Some(end) = end_of_string(bytes, index + 1) else { return false };
                index = end;
                last = Last::Value;
            }
            // An operator, or an expression that begins with `=`.
            b'/' if last == Last::Unclear || at(index + 1) == Some(b'=') => return false,
            b'/' if last == Last::Open => {
                let Some(end) = regex::end(bytes, index + 1, b'/') else { return false };
                index = end;
                last = Last::Value;
            }
            b'|' if at(index + 1) == Some(b'|') => {
                index += 1;
                last = Last::Open;
            }
            b'>' => {
                if printing && open.is_empty() {
                    return false;
                }
                last = Last::Open;
            }
            b'+' | b'-' if at(index + 1) == Some(byte) => {
                index += 1;
                last = Last::Unclear;
            }
            b'$' => last = Last::Unclear,
            b'0'..=b'9' | b'.' => {
                let Some(end) = end_of_number(bytes, index) else { return false };
                index = end - 1;
                last = Last::Value;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let start = index;
                while at(index + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    index += 1;
                }
                let word = script.get(start..=index).unwrap_or("");
                if LEADING_OUT.contains(&word) {
                    return false;
                }
                let prints = matches!(word, "print" | "printf");
                // The first and the last part of a `for` may be any simple statement: there a `>` writes, in parentheses.
                if prints && !open.is_empty() {
                    return false;
                }
                printing |= prints;
                before_condition = matches!(word, "if" | "while" | "for" | "switch");
                last = match word {
                    "print" | "printf" | "return" | "else" | "do" => Last::Open,
                    "if" | "while" | "for" | "switch" | "in" | "case" | "default" | "exit" | "delete" | "next"
                    | "nextfile" | "break" | "continue" | "length" | "function" | "func" | "BEGIN" | "END"
                    | "BEGINFILE" | "ENDFILE" => Last::Unclear,
                    _ => Last::Value,
                };
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'!' | b'~' | b'<' | b'=' | b'?' | b':' | b'&' | b',' => {
                last = Last::Open;
            }
            _ => return false,
        }
        index += 1;
    }
    open.is_empty()
}

/// The place of the quote that closes a string which begins at `from`. One that goes on over a line has none.
fn end_of_string(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at),
            b'\n' => return None,
            b'\\' if *bytes.get(at + 1)? == b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Behind a decimal number. A letter right behind it may begin a word, or belong to a number of another base.
fn end_of_number(bytes: &[u8], from: usize) -> Option<usize> {
    let digits = |from: usize| {
        let length = bytes.iter().skip(from).position(|byte| !byte.is_ascii_digit());
        length.map_or(bytes.len(), |length| from + length)
    };
    let mut at = digits(from);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    let follows = bytes.get(at).copied().unwrap_or(b' ');
    let goes_on = follows.is_ascii_alphanumeric() || matches!(follows, b'_' | b'.');
    (at > from && !goes_on).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn scripts_that_compute_and_print() {
        for script in [
            "{print $1}",
            "$3 > 100 {print $0}",
            "NR>=10 && NR<=20",
            "{s+=$1} END {print s}",
            "/error|warn/ {c++} END {print c}",
            "!seen[$0]++",
            "{ printf \"%-10s %s\\n\", $1, $2 }",
            "BEGIN {for (i = 0; i > -3; i--) print i}",
            "{ if ($1 > 5) print $2; else print \"x > y | z\" }",
            "{ print ($1 > 2) }",
            "BEGIN { OFS=\",\" } { $1 = $1 } 1",
            "a || b",
            "{ print $1 / 2 }",
            "{ x = $1 / 2; y = 3 / 4 } # | > system",
            "{ sub(/a|b/, \"c\"); print }",
            "/\\/x\\//",
            "length($0) > 80",
            "{ a[$1] = a[$1] ? a[$1] \",\" $2 : $2 }",
            "/^[[:space:]]*#/ || $1 > 3 { print }",
            "{ gsub(/[ \\t]+$/, \"\"); if ($2 > 5) print }",
            "{ print (a + b) / 2 }",
            "BEGIN { x = 1.5; y = .5; print x y }",
            "exit /\"/",
            "{ x++ / 2 }",
            "/x/ || $3 > 2 { print }",
            "$3 > 100\n$2 > 7",
        ] {
            assert!(is_local(script), "{script}");
        }
    }

    #[test]
    fn scripts_that_lead_out() {
        for script in [
            "BEGIN{system(\"x\")}",
            "{print > \"out\"}",
            "{print $1 >> \"out\"}",
            "{print ($1) > \"out\"}",
            "{print a,\n b > \"out\"}",
            "{print a, # c\n b > \"out\"}",
            "{print a \\\n > \"out\"}",
            "{print a ||\n b > \"out\"}",
            "{if (x) print a > \"out\"}",
            "{print | \"sh\"}",
            "{\"date\" | getline x}",
            "{getline x < \"f\"}",
            "BEGIN{f=\"system\"; @f(\"sh\")}",
            "@load \"x\"",
            "{print ENVIRON[\"X\"]}",
            "{print ) | x}",
            "{print \"a | x}",
            "{x++ / 2; print \"/ | sh\"}",
            "/[/]/ | x",
            "BEGIN { printf \"x\" |& \"/inet/tcp/0/h/1\" }",
            "{ print `x` | y }",
            // What may be a regular expression, or a division, must not turn text into code.
            "BEGIN{if(0)exit /\"/;print \"id > P\" | \"sh\" #\"\n}",
            "BEGIN{if(0)/\"/;print \"id\" | \"sh\" #\"\n}",
            "BEGIN{while(0)/\"/;print \"id\" | \"sh\" #\"\n}",
            "BEGIN{x=length /\"/;print \"id\" | \"sh\" #\"\n}",
            "BEGIN{x in /\"/;print \"id\" | \"sh\" #\"\n}",
            "BEGIN{x /= /\"/;print \"id\" | \"sh\" #\"\n}",
            "BEGIN{$/\"/;print \"id\" | \"sh\" #\"\n}",
            "/[]/\"]/{print \"id\" | \"sh\" #\"\n}",
            "/[^]/\"]/{print \"id\" | \"sh\" #\"\n}",
            "/[[:alpha:]/\"]/{print \"id\" | \"sh\" #\"\n}",
            "/[\\]/\"]/{print \"id\" | \"sh\" #\"\n}",
            // Words behind numbers, and statements that go on.
            "BEGIN{print 1system(\"id\") > 2}",
            "BEGIN{print 0x1system(\"id\") > 2}",
            "BEGIN{x=1getline}",
            "BEGIN{print x ?\n \"a\" : \"b\" > \"out\"}",
            "BEGIN{print \"a\\\nb\" > \"out\"}",
            "# x \\\n{print > \"out\"}",
            "BEGIN{printf(\"%s\", 1) > \"out\"}",
            "BEGIN{print\r > \"out\"}",
        ] {
            assert!(!is_local(script), "{script}");
        }
    }
}
