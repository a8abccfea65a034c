//! Tells at once of nearly every name that it is no secret's: some hundred thousand of them are asked about before one command
//! runs. What the rules of the other files look for goes in here from their own lists.

use super::names::{BEGINNINGS, ENDINGS, INSIDE, JSON_BEGINNINGS, KEY_ENDS, KEYS, MARKS, NAMES, SAYING};

/// The names of secrets.
pub(super) static NAMED: Known<{ NAMES.len() }> = Known::of(&[NAMES]);

/// Some names, found at once whatever their case: a table by their first letter, their last one and their length, which is made
/// when this is compiled.
#[derive(Debug)]
pub(super) struct Known<const N: usize> {
    names: [&'static [u8]; N],
    /// One behind the place of the last name that belongs there, or nothing.
    heads: [u16; HEADS],
    /// The same for the next name that belongs where this one does.
    next: [u16; N],
}

const HEADS: usize = 256;

/// Which part of the paths in some lists is meant.
#[derive(Clone, Copy)]
enum Part {
    All,
    Holder,
    Last,
}

impl<const N: usize> Known<N> {
    /// The words in these lists, of which there are `N`.
    pub(super) const fn of(lists: &[&[&'static str]]) -> Self {
        Self::by(lists, Part::All)
    }

    /// The names of the folders in which the paths in these lists lie.
    pub(super) const fn holders_of(lists: &[&[&'static str]]) -> Self {
        Self::by(lists, Part::Holder)
    }

    /// The last names of the paths in these lists.
    pub(super) const fn last_of(lists: &[&[&'static str]]) -> Self {
        Self::by(lists, Part::Last)
    }

    #[expect(clippy::indexing_slicing, reason = "an error when it is compiled, and `get_mut` is not const")]
    #[expect(clippy::cast_possible_truncation, reason = "there are no 65,535 names, or this does not compile")]
    const fn by(lists: &[&[&'static str]], part: Part) -> Self {
        assert!(N < u16::MAX as usize);
        let (mut names, mut heads, mut next) = ([b"".as_slice(); N], [0; HEADS], [0; N]);
        let mut count = 0;
        let mut lists = lists;
        while let [list, more @ ..] = lists {
            let mut list = *list;
            while let [path, rest @ ..] = list {
                let (holder, last) = ends(path.as_bytes());
                let name = match part {
                    Part::All => path.as_bytes(),
                    Part::Holder => holder,
                    Part::Last => last,
                };
                names[count] = name;
                count += 1;
                if !name.is_empty() {
                    let head = Self::head(name);
                    next[count - 1] = heads[head];
                    heads[head] = count as u16;
                }
                list = rest;
            }
            lists = more;
        }
        Self { names, heads, next }
    }

    /// Where a name belongs, whatever the case of its letters.
    const fn head(name: &[u8]) -> usize {
        let (first, last) = match name {
            [] => (0, 0),
            [one] => (*one, *one),
            [first, .., last] => (*first, *last),
        };
        (letter(first) ^ (letter(last) << 3) ^ (name.len() * 5)) % HEADS
    }

    /// True for one of the names, whatever its case.
    pub(super) fn have(&self, name: &[u8]) -> bool {
        let mut behind = self.heads.get(Self::head(name)).copied().unwrap_or(0);
        while let Some(place) = usize::from(behind).checked_sub(1) {
            if self.names.get(place).is_some_and(|known| known.eq_ignore_ascii_case(name)) {
                return true;
            }
            behind = self.next.get(place).copied().unwrap_or(0);
        }
        false
    }
}

/// The name of the folder in which a path lies, nothing for a path of one name; and its own.
const fn ends(path: &'static [u8]) -> (&'static [u8], &'static [u8]) {
    let (before, name) = at_last_slash(path);
    (at_last_slash(before).1, name)
}

/// What stands in front of the last slash, and what behind it.
const fn at_last_slash(path: &'static [u8]) -> (&'static [u8], &'static [u8]) {
    let mut start = path.len();
    while start > 0 {
        let (before, name) = path.split_at(start);
        if let [folder @ .., b'/'] = before {
            return (folder, name);
        }
        start -= 1;
    }
    (b"", path)
}

/// Of these some are secrets by how they begin.
const SETTINGS: &[&str] = &[".conf"];
const ENDS: &[&[&str]] = &[MARKS, KEY_ENDS, ENDINGS, SETTINGS];
const WORDS: &[&[&str]] = &[SAYING, INSIDE];
const STARTS: &[&[&str]] = &[BEGINNINGS, KEYS, JSON_BEGINNINGS];

static BEGIN: Triples = Triples::at_the_beginning_of(STARTS);
static WITHIN: Triples = Triples::at_the_beginning_of(WORDS);
static END: Triples = Triples::at_the_end_of(ENDS);

/// True for a name, whatever its case, that no rule takes for a secret's, nor for a copy's. False says nothing.
pub(super) fn is_ordinary(name: &[u8]) -> bool {
    if NAMED.have(name) || ends_as_some(name) {
        return false;
    }
    let [first, second, more @ ..] = name else { return false };
    if matches!(first, b'.' | b'#') {
        return false;
    }
    if BEGIN.have(*first, *second, more.first()) && begins_with_any(name, STARTS) {
        return false;
    }
    let mut rest = name;
    while let [one, more @ ..] = rest {
        let [two, further @ ..] = more else { break };
        if WITHIN.have(*one, *two, further.first()) && begins_with_any(rest, WORDS) {
            return false;
        }
        rest = more;
    }
    true
}

/// True for a name that ends as one of the lists says, or with a number behind that, or behind a dot.
fn ends_as_some(name: &[u8]) -> bool {
    if is_ended(name) {
        return true;
    }
    let mut stem = name;
    while let [before @ .., b'0'..=b'9'] = stem {
        stem = before;
    }
    stem.len() != name.len() && (stem.is_empty() || stem.ends_with(b".") || is_ended(stem))
}

/// A name without what is put behind it for a copy, where it ends so.
pub(super) fn without_mark(name: &[u8]) -> Option<&[u8]> {
    MARKS.iter().find_map(|mark| {
        let (stem, end) = name.split_at_checked(name.len().checked_sub(mark.len())?)?;
        end.eq_ignore_ascii_case(mark.as_bytes()).then_some(stem)
    })
}

fn is_ended(name: &[u8]) -> bool {
    let [before @ .., two, one] = name else { return true };
    END.have(*one, *two, before.last())
        && ENDS.iter().any(|ends| {
            ends.iter().any(|end| {
                let place = name.len().checked_sub(end.len());
                place.and_then(|place| name.get(place..)).is_some_and(|last| last.eq_ignore_ascii_case(end.as_bytes()))
            })
        })
}

fn begins_with_any(name: &[u8], lists: &[&[&str]]) -> bool {
    let begins = |word: &&str| name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    lists.iter().any(|words| words.iter().any(begins))
}

/// Three bytes with which words begin or end, from outside to inside: a bit for each, whatever the case of letters, and a few
/// others with them.
struct Triples([[u32; LETTERS]; LETTERS]);

/// Letters, and the other bytes that fall on them.
const LETTERS: usize = 32;

/// The same for a letter in either case.
const fn letter(byte: u8) -> usize {
    byte as usize % LETTERS
}

impl Triples {
    /// The first three letters of the words in these lists.
    const fn at_the_beginning_of(lists: &[&[&str]]) -> Self {
        Self::of(lists, false)
    }

    /// The last three letters of the words in these lists, the last one first.
    const fn at_the_end_of(lists: &[&[&str]]) -> Self {
        Self::of(lists, true)
    }

    const fn of(lists: &[&[&str]], from_the_end: bool) -> Self {
        let (mut all, mut lists) = (Self([[0; LETTERS]; LETTERS]), lists);
        while let [words, more @ ..] = lists {
            let mut words = *words;
            while let [word, rest @ ..] = words {
                match (word.as_bytes(), from_the_end) {
                    ([], _) => {}
                    ([one], _) => all.add(*one, None, None),
                    ([one, two], false) | ([two, one], true) => all.add(*one, Some(*two), None),
                    ([one, two, three, ..], false) | ([.., three, two, one], true) => {
                        all.add(*one, Some(*two), Some(*three));
                    }
                }
                words = rest;
            }
            lists = more;
        }
        all
    }

    /// A word with these letters; behind a shorter one anything may stand.
    #[expect(clippy::indexing_slicing, reason = "a place is below 32, and `get_mut` is not const")]
    const fn add(&mut self, one: u8, two: Option<u8>, three: Option<u8>) {
        let bits = match three {
            Some(three) => 1 << letter(three),
            None => u32::MAX,
        };
        let mut place = 0;
        while place < LETTERS {
            let is_meant = match two {
                Some(two) => letter(two) == place,
                None => true,
            };
            if is_meant {
                self.0[letter(one)][place] |= bits;
            }
            place += 1;
        }
    }

    /// False where no word begins, or ends, so. Without a third byte only the short ones are meant, and any bit is theirs.
    fn have(&self, one: u8, two: u8, three: Option<&u8>) -> bool {
        let thirds = self.0.get(letter(one)).and_then(|seconds| seconds.get(letter(two)));
        thirds.is_some_and(|thirds| thirds >> three.map_or(0, |three| letter(*three)) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::is_secret_file_name;
    use super::super::names::is_secret_name;
    use super::*;

    #[test]
    fn what_passes_names_by_quickly_passes_none_of_the_list() {
        for name in NAMES {
            assert!(NAMED.have(name.as_bytes()) && is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn folders_are_known_by_what_lies_in_them() {
        static HOLDERS: Known<5> = Known::holders_of(&[&["a/bc/d", "/etc/x", "alone"], &["e/f", "/root"]]);
        for (name, want) in
            [("bc", true), ("BC", true), ("etc", true), ("e", true), ("d", false), ("alone", false), ("", false)]
        {
            assert_eq!(HOLDERS.have(name.as_bytes()), want, "{name}");
        }
    }

    #[test]
    fn most_names_of_a_project_are_ordinary() {
        let names = "main.rs index.js package.json Button.tsx README.md setup.py Cargo.lock go.sum test_case0 yarn.lock \
                     utils.ts schema.sql styles.css index.html app.d.ts index.js.map a.yml Makefile LICENSE node_modules";
        for name in names.split_whitespace() {
            assert!(is_ordinary(name.as_bytes()), "{name}");
        }
        for name in ["", "x", "7", "server.pem", "ID_RSA", "a.TfState.js", ".x.SWP", "x~", "#x#", "env.local", "x.7"] {
            assert!(!is_ordinary(name.as_bytes()), "{name}");
        }
    }

    /// Pieces of what the rules look for, and of other names.
    fn pieces() -> impl Strategy<Value = String> {
        let lists = [NAMES, MARKS, KEY_ENDS, ENDINGS, SAYING, BEGINNINGS, KEYS, JSON_BEGINNINGS, INSIDE];
        let of_rules: Vec<&str> = lists.into_iter().flatten().copied().collect();
        let others =
            "a b x . _ - ~ # 1 42 .json .conf .js .md config key my prod local state history db ( ) \u{e9} (1)";
        let others: Vec<&str> = others.split(' ').chain([" "]).collect();
        prop_oneof![
            3 => proptest::sample::select(of_rules).prop_map(str::to_owned),
            3 => proptest::sample::select(others).prop_map(str::to_owned),
            1 => "[a-z.0-9_~#-]{1,6}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn no_secret_is_ordinary(pieces in proptest::collection::vec(pieces(), 1..5), upper in any::<bool>()) {
            let name = pieces.concat();
            let name = if upper { name.to_ascii_uppercase() } else { name };
            let is_secret = is_secret_name(&name.to_ascii_lowercase());
            prop_assert!(!(is_secret && is_ordinary(name.as_bytes())), "{name}");
            prop_assert_eq!(is_secret_file_name(name.as_bytes()), is_secret, "{}", name);
        }
    }
}
