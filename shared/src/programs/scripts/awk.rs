//! Which awk programs only compute and print: no pipe, no file, no program, no name that leads out of the script.
//!
//! Read by tokens of the POSIX grammar with gawk's additions: what stands in a string or a regular expression is text.

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

/// What stood last, as far as the next token's meaning depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A value: a `/` behind it divides.
    Value,
    /// An operator, a bracket that opens, a separator: a `/` behind it starts a regular expression.
    Open,
    /// `++` or `--`, behind which a `/` may be either.
    Step,
}

/// True for a script that is understood and stays inside.
pub(super) fn is_local(script: &str) -> bool {
    let bytes = script.as_bytes();
    let at = |index: usize| bytes.get(index).copied();
    let mut index = 0;
    let mut last = Last::Open;
    let mut depth = 0_usize;
    // A `print` since the statement began: a `>` would write a file.
    let mut printing = false;
    // The last token continues the statement over a newline.
    let mut goes_on = false;
    while let Some(byte) = at(index) {
        let was_going_on = std::mem::take(&mut goes_on);
        match byte {
            b' ' | b'\t' | b'\r' => {
                goes_on = was_going_on;
                index += 1;
                continue;
            }
            b'\\' if at(index + 1) == Some(b'\n') => {
                goes_on = was_going_on;
                index += 2;
                continue;
            }
            b'#' => {
                goes_on = was_going_on;
                while at(index).is_some_and(|byte| byte != b'\n') {
                    index += 1;
                }
                continue;
            }
            b'\n' | b';' => {
                if depth == 0 && !(byte == b'\n' && was_going_on) {
                    printing = false;
                }
                goes_on = byte == b'\n' && was_going_on;
                last = Last::Open;
            }
            b'{' | b'}' => {
                if depth > 0 {
                    return false;
                }
                printing = false;
                last = Last::Open;
            }
            b'(' => {
                depth += 1;
                last = Last::Open;
            }
            b'[' => last = Last::Open,
            b')' => {
                if depth == 0 {
                    return false;
                }
                depth -= 1;
                last = Last::Value;
            }
            b']' => last = Last::Value,
            b'"' => {
                let Some(end) = closing(bytes, index + 1, b'"') else { return false };
                index = end;
                last = Last::Value;
            }
            b'/' if last == Last::Step => return false,
            b'/' if last == Last::Open => {
                let Some(end) = closing(bytes, index + 1, b'/') else { return false };
                index = end;
                last = Last::Value;
            }
            b'|' if at(index + 1) == Some(b'|') => {
                index += 1;
                last = Last::Open;
                goes_on = true;
            }
            b'>' => {
                if printing && depth == 0 {
                    return false;
                }
                last = Last::Open;
            }
            b'+' | b'-' if at(index + 1) == Some(byte) => {
                index += 1;
                last = Last::Step;
            }
            b'&' | b',' => {
                last = Last::Open;
                goes_on = true;
            }
            b'0'..=b'9' | b'.' => {
                while at(index + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
                    index += 1;
                }
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
                printing |= matches!(word, "print" | "printf");
                last = if matches!(
                    word,
                    "print" | "printf" | "return" | "in" | "else" | "do" | "case" | "if" | "while" | "for"
                ) {
                    Last::Open
                } else {
                    Last::Value
                };
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b'!' | b'~' | b'<' | b'=' | b'?' | b':' | b'$' => {
                last = Last::Open;
            }
            _ => return false,
        }
        index += 1;
    }
    depth == 0
}

/// The place of the byte that closes a string or a regular expression which begins at `from`.
fn closing(bytes: &[u8], from: usize, close: u8) -> Option<usize> {
    let mut index = from;
    loop {
        match bytes.get(index)? {
            // In brackets a slash may stand for itself, in some implementations.
            b'[' if close == b'/' => {
                let rest = bytes.get(index..)?;
                let end = rest.iter().position(|byte| *byte == b']')?;
                if rest.get(..end)?.contains(&b'/') {
                    return None;
                }
                index += 1;
            }
            b'\\' => index += 2,
            b'\n' => return None,
            byte if *byte == close => return Some(index),
            _ => index += 1,
        }
    }
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
            "{print \"a}",
            "{print )}",
            "{x++ / 2; print \"/ | sh\"}",
            "/[/]/ | x",
            "BEGIN { printf \"x\" |& \"/inet/tcp/0/h/1\" }",
            "{ print `x` }",
        ] {
            assert!(!is_local(script), "{script}");
        }
    }
}
