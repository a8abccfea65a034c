//! Git's configuration files (git-config(1), "Syntax"): a strict reader, so that no setting is overlooked.

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `section.name` or `section.subsection.name`; section and name in lower case.
    pub key: String,
    /// The value; `true` for a name alone.
    pub value: String,
}

/// Reads a file's text, or `None` when any of it is not understood.
pub fn read(text: &str) -> Option<Vec<Setting>> {
    // Git works on text that ends at a NUL.
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return None;
    }
    let mut settings = Vec::new();
    let mut section: Option<String> = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let Some(first) = rest.chars().next() else { return Some(settings) };
        match first {
            '#' | ';' => rest = rest.split_once('\n').map_or("", |(_, after)| after),
            '[' => {
                let (name, after) = header(rest.get(1..)?)?;
                section = Some(name);
                rest = after;
            }
            c if c.is_ascii_alphabetic() => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
                let name = rest.get(..end)?.to_ascii_lowercase();
                let after = rest.get(end..)?.trim_start_matches([' ', '\t']);
                let (value, after) = match after.chars().next() {
                    Some('=') => value(after.get(1..)?)?,
                    None => ("true".to_owned(), ""),
                    Some('\n' | '\r' | '#' | ';') => {
                        ("true".to_owned(), after.split_once('\n').map_or("", |(_, rest)| rest))
                    }
                    Some(_) => return None,
                };
                settings.push(Setting { key: format!("{}.{name}", section.as_deref()?), value });
                rest = after;
            }
            _ => return None,
        }
    }
}

/// Behind `[`: the section's name, and what follows the `]`.
fn header(text: &str) -> Option<(String, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.'))?;
    let name = text.get(..end)?.to_ascii_lowercase();
    let after = text.get(end..)?;
    if name.is_empty() {
        return None;
    }
    if let Some(after) = after.strip_prefix(']') {
        return Some((name, after));
    }
    let mut quoted = after.trim_start_matches([' ', '\t']).strip_prefix('"')?.char_indices();
    let inside = after.trim_start_matches([' ', '\t']).strip_prefix('"')?;
    let mut subsection = String::new();
    while let Some((at, c)) = quoted.next() {
        match c {
            '"' => return Some((format!("{name}.{subsection}"), inside.get(at + 1..)?.strip_prefix(']')?)),
            '\\' => subsection.push(quoted.next()?.1),
            '\n' => return None,
            c => subsection.push(c),
        }
    }
    None
}

/// Behind `=`: the value up to the line's end, and what follows. What versions of git read in different ways is not understood: tabs
/// in a value (until 2.44 git took them for blanks), and blanks in front of a line that goes on.
fn value(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    // Blanks at the end do not count, those inside of quotes do.
    let mut kept = 0;
    let mut is_odd = false;
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' if quoted => return None,
            '\n' => {
                out.truncate(kept);
                return Some((out, text.get(at + 1..)?));
            }
            '"' => {
                quoted = !quoted;
                kept = out.len();
            }
            '\\' => {
                match chars.next()?.1 {
                    '\n' if kept < out.len() => return None,
                    '\n' => continue,
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'b' => out.push('\u{8}'),
                    same @ ('\\' | '"') => out.push(same),
                    _ => return None,
                }
                kept = out.len();
            }
            '#' | ';' if !quoted => {
                out.truncate(kept);
                return Some((out, text.get(at..)?.split_once('\n').map_or("", |(_, after)| after)));
            }
            // Blanks in front of a value are no part of it, on whichever line it begins.
            ' ' | '\t' | '\r' if !quoted && out.is_empty() => {}
            ' ' | '\t' | '\r' if !quoted => {
                is_odd |= c != ' ';
                out.push(c);
            }
            // What stands behind a blank keeps it.
            _ if is_odd => return None,
            c => {
                out.push(c);
                kept = out.len();
            }
        }
    }
    if quoted {
        return None;
    }
    out.truncate(kept);
    Some((out, ""))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "# c\n[core]\n\trepositoryformatversion = 0\n\tbare\n[remote \"ori\\\"gin\"] url = a b ; c\n\
                    [Alias] St = \"status  \" \n[a.B]\nx=1\\\n2\n[core] fsmonitor = \"./x\"\n";
        let found: Vec<(String, String)> = read(text).unwrap().into_iter().map(|s| (s.key, s.value)).collect();
        let want = [
            ("core.repositoryformatversion", "0"),
            ("core.bare", "true"),
            ("remote.ori\"gin.url", "a b"),
            ("alias.st", "status  "),
            ("a.b.x", "12"),
            ("core.fsmonitor", "./x"),
        ];
        assert_eq!(found, want.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_is_not_understood_is_not_read() {
        for text in [
            "x = 1\n",
            "[core\nx=1",
            "[core]\n\u{feff}x=1",
            "[core]\nx = \"a",
            "[core]\nx = \\q",
            "[]\nx=1",
            "[a]\n1x=2",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
