//! How much of an output is shown, and how the rest is announced.

use serde::{Deserialize, Serialize};

use super::{Capture, Plain};

/// Bytes by which a buffer is longer than what is shown, so that a cut character can be told from a whole one.
const SLACK: usize = 8;

/// Which part of too long an output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "keep", rename_all = "lowercase", deny_unknown_fields)]
pub enum Shape {
    /// The last characters: what came most recently tells most.
    Tail {
        /// Most characters shown.
        max_chars: usize,
    },
    /// Both ends of what is longer than `max_bytes`.
    Ends {
        /// Most bytes shown whole.
        max_bytes: usize,
        /// Bytes of the start that stay.
        head_bytes: usize,
        /// Bytes of the end that stay.
        tail_bytes: usize,
    },
    /// The first bytes.
    Head {
        /// Most bytes shown.
        max_bytes: usize,
    },
}

/// What happens to output that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Binary {
    /// Shown with each invalid sequence replaced.
    Replace,
    /// Not shown; a line says how long it was.
    Notice,
}

/// What happens to escape sequences and control characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// Shown as they came.
    Keep,
    /// Removed, so that output cannot steer a terminal or hide text from a reader.
    Strip,
}

/// How one output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is kept of too much.
    pub shape: Shape,
    /// What no text becomes.
    pub binary: Binary,
    /// What control characters become.
    pub control: Control,
}

/// An output as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Text {
    /// Valid UTF-8, within the limit and its announcement.
    pub text: String,
    /// True when something is missing.
    pub truncated: bool,
    /// Bytes that came.
    pub bytes: u64,
    /// Characters that came.
    pub chars: u64,
    /// True when it was no text.
    pub binary: bool,
}

impl Limit {
    /// A capture that keeps what this limit shows.
    pub const fn capture(&self) -> Capture {
        match self.shape {
            // A character has at most four bytes.
            Shape::Tail { max_chars } => Capture::new(0, max_chars.saturating_mul(4).saturating_add(SLACK)),
            Shape::Ends { max_bytes, tail_bytes, .. } => Capture::new(max_bytes + SLACK, tail_bytes + SLACK),
            Shape::Head { max_bytes } => Capture::new(max_bytes + SLACK, 0),
        }
    }

    /// The captured output, cut to the limit.
    pub fn show(&self, capture: &Capture) -> Text {
        let (bytes, chars, binary) = (capture.total_bytes(), capture.total_chars(), capture.is_binary());
        if binary && bytes > 0 && self.binary == Binary::Notice {
            let text = format!("[binary output: {bytes} bytes, not shown]\n");
            return Text { text, truncated: true, bytes, chars, binary };
        }
        let (text, truncated) = self.cut(capture);
        let text = if self.control == Control::Strip { Plain::of(text.as_bytes()) } else { text };
        Text { text, truncated, bytes, chars, binary }
    }

    fn cut(&self, capture: &Capture) -> (String, bool) {
        let got = capture.total_bytes();
        match self.shape {
            Shape::Tail { max_chars } => {
                let tail = capture.tail();
                let total = capture.total_chars();
                if total <= max_chars as u64 {
                    return (tail, false);
                }
                let surplus = tail.chars().count().saturating_sub(max_chars);
                let kept: String = tail.chars().skip(surplus).collect();
                let header =
                    format!("[truncated]\n[Output truncated: showing last {max_chars} chars of {total} chars]\n");
                (header + &kept, true)
            }
            Shape::Ends { max_bytes, head_bytes, tail_bytes } => {
                if capture.shown_bytes() <= max_bytes as u64 {
                    return (capture.head(), false);
                }
                let (head, tail) = (capture.head(), capture.tail());
                let first = head.get(..head.floor_char_boundary(head_bytes)).unwrap_or_default();
                let start = tail.ceil_char_boundary(tail.len().saturating_sub(tail_bytes));
                let last = tail.get(start..).unwrap_or_default();
                let (got, most) = (humane(got), humane(max_bytes as u64));
                let text =
                    format!("[output truncated in middle: got {got}, max is {most}]\n{first}\n\n[snip]\n\n{last}");
                (text, true)
            }
            Shape::Head { max_bytes } => {
                if capture.shown_bytes() <= max_bytes as u64 {
                    return (capture.head(), false);
                }
                let head = capture.head();
                let first = head.get(..head.floor_char_boundary(max_bytes)).unwrap_or_default();
                (format!("{first}\n[output truncated: showing the first {max_bytes} of {got} bytes]\n"), true)
            }
        }
    }
}

/// A number of bytes for people.
fn humane(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (size, unit) in UNITS {
        if bytes >= size {
            let tenths = bytes.saturating_mul(10) / size;
            let (whole, rest) = (tenths / 10, tenths % 10);
            return if rest == 0 { format!("{whole} {unit}") } else { format!("{whole}.{rest} {unit}") };
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEED_000: Shape = Shape::Tail { max_chars: 50_000 };
    const SEED_001: Shape = Shape::Ends { max_bytes: 128 * 1024, head_bytes: 4096, tail_bytes: 4096 };
    const SEED_002: Shape = Shape::Head { max_bytes: 10_240 };

    fn limit(shape: Shape) -> Limit {
        Limit { shape, binary: Binary::Replace, control: Control::Keep }
    }

    fn shown(shape: Shape, output: &[u8]) -> Text {
        let limit = limit(shape);
        let mut capture = limit.capture();
        capture.push(output);
        capture.finish();
        limit.show(&capture)
    }

    #[test]
    fn what_fits_is_shown_whole() {
        for shape in [SEED_000, SEED_001, SEED_002] {
            let text = shown(shape, "grün\n".as_bytes());
            assert_eq!((text.text.as_str(), text.truncated, text.bytes, text.chars), ("grün\n", false, 6, 5));
        }
    }

    #[test]
    fn the_tail_is_kept_under_a_header_with_exact_numbers() {
        let output = format!("{}{}", "a".repeat(10), "ü".repeat(50_000));
        let text = shown(SEED_000, output.as_bytes());
        assert!(text.text.starts_with("[truncated]\n[Output truncated: showing last 50000 chars of 50010 chars]\nü"));
        assert!(text.truncated && text.text.ends_with('ü') && !text.text.contains('\n'.to_string().repeat(2).as_str()));
    }

    #[test]
    fn both_ends_are_kept_around_a_snip() {
        let output = format!("{}{}", "a".repeat(100 * 1024), "z".repeat(100 * 1024));
        let text = shown(SEED_001, output.as_bytes()).text;
        assert!(text.starts_with("[output truncated in middle: got 200 KiB, max is 128 KiB]\naaaa"), "{text:.80}");
        assert!(text.ends_with("zzz") && text.contains("a\n\n[snip]\n\nz"));
        assert_eq!(text.matches('a').count() - "[output truncated in middle: max".matches('a').count(), 4096);
    }

    #[test]
    fn the_head_is_kept_with_a_notice() {
        let text = shown(SEED_002, &[b'x'; 10_241]);
        assert!(text.text.ends_with("x\n[output truncated: showing the first 10240 of 10241 bytes]\n"));
        assert!(!shown(SEED_002, &[b'x'; 10_240]).truncated);
    }

    #[test]
    fn no_text_is_replaced_or_announced() {
        let bytes = b"\x7fELF\0\xff\xfe";
        assert!(shown(SEED_000, bytes).text.ends_with("\u{fffd}\u{fffd}"));
        let notice = Limit { binary: Binary::Notice, ..limit(SEED_002) };
        let mut capture = notice.capture();
        capture.push(bytes);
        let text = notice.show(&capture);
        assert_eq!(text.text, "[binary output: 7 bytes, not shown]\n");
        assert!(text.binary && text.truncated);
    }

    #[test]
    fn escape_sequences_are_removed_where_the_preset_says_so() {
        let strip = Limit { control: Control::Strip, ..limit(SEED_001) };
        let mut capture = strip.capture();
        capture.push(b"10%\r20%\r\n\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x07link\x08\x7f end\n");
        assert_eq!(strip.show(&capture).text, "10%\n20%\nred link end\n");
    }

    proptest! {
        #[test]
        fn output_never_exceeds_limit(output: String) {
            for shape in [SEED_001, Shape::Ends { max_bytes: 20, head_bytes: 8, tail_bytes: 8 }] {
                let Shape::Ends { max_bytes, .. } = shape else { unreachable!() };
                prop_assert!(shown(shape, output.as_bytes()).text.len() <= max_bytes + 200);
            }
        }

        /// Whatever comes, in whatever pieces: valid, within bounds, counted exactly, the same as cut from the whole.
        #[test]
        fn any_bytes_in_any_pieces(
            output in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'a'), Just(0xf0), Just(0x9f), Just(0x98), Just(0x80)], 0..400),
            piece in 1usize..40,
            most in 1usize..120,
        ) {
            let whole = String::from_utf8_lossy(&output).into_owned();
            for shape in [
                Shape::Tail { max_chars: most },
                Shape::Ends { max_bytes: most, head_bytes: most / 3, tail_bytes: most / 3 },
                Shape::Head { max_bytes: most },
            ] {
                let limit = limit(shape);
                let mut capture = limit.capture();
                for bytes in output.chunks(piece) {
                    capture.push(bytes);
                }
                capture.finish();
                let text = limit.show(&capture);
                prop_assert_eq!(text.bytes, output.len() as u64);
                prop_assert_eq!(text.chars, whole.chars().count() as u64);
                match shape {
                    Shape::Tail { max_chars } => {
                        let surplus = whole.chars().count().saturating_sub(max_chars);
                        let last: String = whole.chars().skip(surplus).collect();
                        prop_assert_eq!(text.truncated, surplus > 0);
                        prop_assert!(text.text.ends_with(&last));
                    }
                    Shape::Head { max_bytes } | Shape::Ends { max_bytes, .. } => {
                        prop_assert_eq!(text.truncated, whole.len() > max_bytes);
                        prop_assert!(text.text.len() <= max_bytes + 200);
                        if !text.truncated { prop_assert_eq!(text.text, whole.clone()); }
                    }
                }
            }
        }
    }
}
