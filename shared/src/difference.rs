//! What is different between two texts, line by line, for people.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline, group_diff_ops};

/// How many lines of what stays are shown around what does not.
const AROUND: usize = 3;
/// How long is looked for the shortest description; after that any counts.
const TIME: Duration = Duration::from_millis(50);

/// One line of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'t> {
    /// It is in both.
    Same(&'t str),
    /// It is gone.
    Gone(&'t str),
    /// It is new.
    New(&'t str),
    /// So many lines that stay are not shown.
    Skipped(usize),
}

/// The lines of two texts that differ, with some around them; none where they are the same.
///
/// ```
/// # use bashgate_shared::difference::{Line, lines};
/// assert_eq!(lines("a\nb\n", "a\nc\n"), [Line::Same("a"), Line::Gone("b"), Line::New("c")]);
/// ```
pub fn lines<'t>(old: &'t str, new: &'t str) -> Vec<Line<'t>> {
    // The last line may have no end.
    let (before, after): (Vec<&str>, Vec<&str>) = (split(old), split(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(Instant::now() + TIME));
    let mut found = Vec::new();
    let mut shown = 0;
    for op in group_diff_ops(ops, AROUND).into_iter().flatten() {
        let (gone, new) = (op.old_range(), op.new_range());
        if gone.start > shown {
            found.push(Line::Skipped(gone.start - shown));
        }
        shown = gone.end.max(shown);
        let those = |range, all: &[&'t str]| all.get::<std::ops::Range<usize>>(range).unwrap_or_default().to_vec();
        if op.tag() == DiffTag::Equal {
            found.extend(those(gone, &before).into_iter().map(Line::Same));
        } else {
            found.extend(those(gone, &before).into_iter().map(Line::Gone));
            found.extend(those(new, &after).into_iter().map(Line::New));
        }
    }
    if !found.is_empty() && before.len() > shown {
        found.push(Line::Skipped(before.len() - shown));
    }
    found
}

/// The lines, where one without an end is another one than the same with it.
fn split(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = text.split('\n').collect();
    if all.last().is_some_and(|last| last.is_empty()) {
        all.pop();
    } else {
        all.push("(no end of the line)");
    }
    all
}

/// The same as one text: `-` in front of what is gone, `+` in front of what is new.
pub fn text(old: &str, new: &str) -> String {
    let line = |line: Line<'_>| match line {
        Line::Same(text) => format!("  {text}\n"),
        Line::Gone(text) => format!("- {text}\n"),
        Line::New(text) => format!("+ {text}\n"),
        Line::Skipped(1) => "  … 1 line the same\n".to_owned(),
        Line::Skipped(number) => format!("  … {number} lines the same\n"),
    };
    lines(old, new).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_the_same_is_folded_and_nothing_else() {
        let old: String = (1..=20).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "line {n}");
            text
        });
        assert!(lines(&old, &old).is_empty());
        let new = old.replace("line 10\n", "line ten\nand more\n");
        let want = "  … 6 lines the same\n  line 7\n  line 8\n  line 9\n- line 10\n+ line ten\n+ and more\n  line 11\n  line 12\n  \
                    line 13\n  … 7 lines the same\n";
        assert_eq!(text(&old, &new), want);
        assert_eq!(text("a", "a\n"), "  a\n- (no end of the line)\n");
        assert_eq!(text("", "x\n"), "+ x\n");
    }

    /// However much there is, it comes to an end.
    #[test]
    fn a_long_text_that_is_all_another_one_is_described() {
        let old = (0..30_000).fold(String::new(), |text, n| text + &format!("{}\n", n % 7));
        let new = (0..30_000).fold(String::new(), |text, n| text + &format!("{}\n", n % 11));
        assert!(!lines(&old, &new).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
        /// What is shown leads from the one to the other.
        #[test]
        fn the_difference_leads_from_one_to_the_other(old in "([ab]{0,2}\n){0,12}", new in "([ab]{0,2}\n){0,12}") {
            let mut at = old.lines();
            let mut made = Vec::new();
            for line in lines(&old, &new) {
                match line {
                    Line::Skipped(number) => made.extend(at.by_ref().take(number)),
                    Line::Same(text) => {
                        prop_assert_eq!(at.next(), Some(text));
                        made.push(text);
                    }
                    Line::Gone(text) => prop_assert_eq!(at.next(), Some(text)),
                    Line::New(text) => made.push(text),
                }
            }
            if old == new {
                made = old.lines().collect();
            } else {
                prop_assert_eq!(at.next(), None);
            }
            prop_assert_eq!(made, new.lines().collect::<Vec<_>>());
        }
    }
}
