//! What is different between two texts, line by line, for people.

use std::time::Instant;

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline, group_diff_ops};

/// How many lines of what stays are shown around what does not.
const AROUND: usize = 3;

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

/// The lines of two texts that differ, with some around them, each with its end if it has one; none where they are the same. Until then
/// is looked for the shortest description, after that any counts.
///
/// ```
/// # use bashgate_shared::difference::{Line, lines};
/// # use std::time::{Duration, Instant};
/// let until = Instant::now() + Duration::from_secs(1);
/// assert_eq!(lines("a\nb\n", "a\nc\n", until), [Line::Same("a\n"), Line::Gone("b\n"), Line::New("c\n")]);
/// ```
pub fn lines<'t>(old: &'t str, new: &'t str, until: Instant) -> Vec<Line<'t>> {
    let split = |text: &'t str| text.split_inclusive('\n').collect::<Vec<&str>>();
    let (before, after) = (split(old), split(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(until));
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

/// The same as one text: `-` in front of what is gone, `+` in front of what is new.
pub fn text(old: &str, new: &str, until: Instant) -> String {
    // The last line may have no end.
    let whole = |mark: &str, text: &str| match text.strip_suffix('\n') {
        Some(text) => format!("{mark} {text}\n"),
        None => format!("{mark} {text}\n  (the line has no end)\n"),
    };
    let line = |line: Line<'_>| match line {
        Line::Same(text) => whole(" ", text),
        Line::Gone(text) => whole("-", text),
        Line::New(text) => whole("+", text),
        Line::Skipped(1) => "  (1 line the same)\n".to_owned(),
        Line::Skipped(number) => format!("  ({number} lines the same)\n"),
    };
    lines(old, new, until).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[test]
    fn what_is_the_same_is_folded_and_nothing_else() {
        let old: String = (1..=20).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "line {n}");
            text
        });
        assert!(lines(&old, &old, soon()).is_empty());
        let new = old.replace("line 10\n", "line ten\nand more\n");
        let want = "  (6 lines the same)\n  line 7\n  line 8\n  line 9\n- line 10\n+ line ten\n+ and more\n  line 11\n  line 12\n  \
                    line 13\n  (7 lines the same)\n";
        assert_eq!(text(&old, &new, soon()), want);
        assert_eq!(text("a", "a\n", soon()), "- a\n  (the line has no end)\n+ a\n");
        assert_ne!(text("a", "a\n(the line has no end)\n", soon()), "");
        assert_eq!(text("", "x\n", soon()), "+ x\n");
    }

    /// However much there is, it comes to an end.
    #[test]
    fn a_long_text_that_is_all_another_one_is_described() {
        let old = (0..30_000).fold(String::new(), |text, n| text + &format!("{}\n", n % 7));
        let new = (0..30_000).fold(String::new(), |text, n| text + &format!("{}\n", n % 11));
        assert!(!lines(&old, &new, soon()).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
        /// What is shown leads from the one to the other.
        #[test]
        fn the_difference_leads_from_one_to_the_other(old in "([ab]{0,2}\n){0,12}", new in "([ab]{0,2}\n){0,12}") {
            let mut at = old.split_inclusive('\n');
            let mut made = Vec::new();
            for line in lines(&old, &new, soon()) {
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
                made = old.split_inclusive('\n').collect();
            } else {
                prop_assert_eq!(at.next(), None);
            }
            prop_assert_eq!(made, new.split_inclusive('\n').collect::<Vec<_>>());
        }
    }
}
