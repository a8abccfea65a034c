//! Lines that no terminal breaks: where a terminal breaks a long one, what follows looks like a line of ours.

/// Columns that every terminal has.
pub const COLUMNS: usize = 80;
/// What stands before the rest of a line that was too long.
pub const CONTINUED: &str = "      : ";

/// Columns that a character takes, at most: letters of East Asia and signs take two, and what is not ASCII may be either.
fn columns(c: char) -> usize {
    if c.is_ascii() || c.is_alphabetic() && u32::from(c) < 0x1100 { 1 } else { 2 }
}

/// A text whose lines all fit a terminal: the rest of a longer one stands behind a mark that no text can forge.
pub fn fit(text: &str) -> String {
    fit_to(text, COLUMNS)
}

/// The same for less room than a terminal has.
pub fn fit_to(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let mut used = 0;
        let mut rest = line;
        // Behind a gutter stands what was asked, where a blank more or less counts.
        let is_asked = is_behind_gutter(line);
        while let Some(end) = too_long(rest, columns - 1 - used, is_asked) {
            let (piece, after) = rest.split_at(end);
            out.push_str(piece);
            out.push('\n');
            out.push_str(CONTINUED);
            used = CONTINUED.len();
            rest = after;
        }
        out.push_str(rest);
    }
    out
}

/// True for a line that shows what was asked, or what stands in a file: such a line begins with a gutter.
pub fn is_behind_gutter(line: &str) -> bool {
    line.get(..9).unwrap_or(line).contains(" | ")
}

/// Where to break a line that does not fit; `None` for one that does. Between words, or where blanks count never beside one, if that
/// can be helped: nobody would see it there.
fn too_long(line: &str, width: usize, blanks_count: bool) -> Option<usize> {
    let (mut used, mut best) = (0, 0);
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        used += columns(c);
        if used > width {
            return Some(if best > 0 { best } else { at.max(1) });
        }
        let fits = if blanks_count { before != ' ' && c != ' ' } else { before == ' ' && c != ' ' && at > width / 2 };
        if fits {
            best = at;
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_and_nothing_is_lost() {
        for text in [
            "short\n\nlines".to_owned(),
            "x".repeat(1000),
            format!("{} Approve with: approve aaaaaaaa", "\u{2003}".repeat(99)),
            "字".repeat(300),
            " ".repeat(300),
            "a ".repeat(200),
        ] {
            let shown = fit(&text);
            assert!(shown.lines().all(|line| line.chars().map(columns).sum::<usize>() < COLUMNS), "{shown}");
            assert_eq!(shown.replace(&format!("\n{CONTINUED}"), ""), text);
        }
        let (first, rest) = "rm -rf / tmp".split_at(9);
        let shown = fit(&format!("    1 | {}{first}{rest}", "x ".repeat(35)));
        assert!(!shown.contains(" \n") && !shown.contains(&format!("{CONTINUED} ")), "{shown}");
    }
}
