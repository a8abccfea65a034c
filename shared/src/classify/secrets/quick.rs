//! Tells at once of nearly every name that it is no secret's: some hundred thousand of them are asked about before one command
//! runs. What the rules of the other files look for goes in here from their own lists.

use super::names::{BEGINNINGS, ENDINGS, INSIDE, JSON_BEGINNINGS, KEY_ENDS, KEYS, MARKS, NAMES, SAYING};

/// Those of the names of secrets.
pub(super) static NAMED: Lengths = Lengths::of(NAMES);

/// Tells at once of nearly every word that it is none of some words: by its first letter and its last one, whatever their case,
/// and its length.
#[derive(Debug)]
pub(super) struct Lengths([u64; 128]);

impl Lengths {
    /// Those of these words.
    const fn of(words: &[&str]) -> Self {
        let mut all = [0; 128];
        let mut rest = words;
        while let [word, more @ ..] = rest {
            Self::add(&mut all, word.as_bytes());
            rest = more;
        }
        Self(all)
    }

    #[expect(clippy::indexing_slicing, reason = "a place is below 128, and `get_mut` is not const")]
    const fn add(all: &mut [u64; 128], word: &[u8]) {
        let (place, bit) = Self::place(word);
        all[place] |= bit;
    }

    /// False when it is none of them.
    pub(super) fn may_have(&self, word: &[u8]) -> bool {
        let (place, bit) = Self::place(word);
        self.0.get(place).is_some_and(|lengths| lengths & bit != 0)
    }

    const fn place(word: &[u8]) -> (usize, u64) {
        let (first, last) = match word {
            [] => (0, 0),
            [one] => (*one, *one),
            [first, .., last] => (*first, *last),
        };
        let length = if word.len() < 63 { word.len() } else { 63 };
        (Pairs::place(first) ^ Pairs::place(last) << 2, 1 << length)
    }
}

/// The names of the folders in which some paths lie.
#[derive(Debug)]
pub(super) struct Holders<const N: usize> {
    names: [&'static [u8]; N],
    lengths: Lengths,
}

impl<const N: usize> Holders<N> {
    /// Those of all paths in these lists, of which there are `N`.
    pub(super) const fn of(lists: &[&[&'static str]]) -> Self {
        Self::by(lists, false)
    }

    /// The last names of the paths themselves.
    pub(super) const fn named(lists: &[&[&'static str]]) -> Self {
        Self::by(lists, true)
    }

    #[expect(clippy::indexing_slicing, reason = "an error when it is compiled, and `get_mut` is not const")]
    const fn by(lists: &[&[&'static str]], themselves: bool) -> Self {
        let (mut names, mut count, mut all) = ([b"".as_slice(); N], 0, [0; 128]);
        let mut lists = lists;
        while let [list, more @ ..] = lists {
            let mut list = *list;
            while let [path, rest @ ..] = list {
                let (holder, last) = ends(path.as_bytes());
                let name = if themselves { last } else { holder };
                if !name.is_empty() {
                    Lengths::add(&mut all, name);
                }
                names[count] = name;
                count += 1;
                list = rest;
            }
            lists = more;
        }
        Self { names, lengths: Lengths(all) }
    }

    /// True for one of the folders' names, whatever its case.
    pub(super) fn have(&self, name: &[u8]) -> bool {
        self.lengths.may_have(name)
            && self.names.iter().any(|known| !known.is_empty() && known.eq_ignore_ascii_case(name))
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

static BEGIN: Pairs = Pairs::at_the_beginning_of(STARTS);
static WITHIN: Pairs = Pairs::at_the_beginning_of(WORDS);
static END: Pairs = Pairs::at_the_end_of(ENDS);

/// True for a name, whatever its case, that no rule takes for a secret's. False says nothing.
pub(super) fn is_ordinary(name: &[u8]) -> bool {
    let is_known = NAMED.may_have(name) && NAMES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
    if is_known || ends_as_some(name) {
        return false;
    }
    let [first, second, ..] = name else { return false };
    if matches!(first, b'.' | b'#') {
        return false;
    }
    if BEGIN.have(*first, *second) && begins_with_any(name, STARTS) {
        return false;
    }
    let mut rest = name;
    while let [one, more @ ..] = rest {
        let Some(two) = more.first() else { break };
        if WITHIN.have(*one, *two) && begins_with_any(rest, WORDS) {
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

fn is_ended(name: &[u8]) -> bool {
    let [.., one, two] = name else { return true };
    END.have(*one, *two)
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

/// Pairs of bytes, whatever the case of letters, and a few others with them: a bit for each.
struct Pairs([u32; 32]);

impl Pairs {
    /// The first two letters of the words in these lists.
    #[expect(clippy::indexing_slicing, reason = "a place is below 32, and `get_mut` is not const")]
    const fn at_the_beginning_of(lists: &[&[&str]]) -> Self {
        let (mut pairs, mut lists) = ([0; 32], lists);
        while let [words, more @ ..] = lists {
            let mut words = *words;
            while let [word, rest @ ..] = words {
                match word.as_bytes() {
                    [] => {}
                    [one] => pairs[Self::place(*one)] = u32::MAX,
                    [one, two, ..] => pairs[Self::place(*one)] |= 1 << Self::place(*two),
                }
                words = rest;
            }
            lists = more;
        }
        Self(pairs)
    }

    /// The last two letters of the words in these lists.
    #[expect(clippy::indexing_slicing, reason = "a place is below 32, and `get_mut` is not const")]
    const fn at_the_end_of(lists: &[&[&str]]) -> Self {
        let (mut pairs, mut lists) = ([0; 32], lists);
        while let [words, more @ ..] = lists {
            let mut words = *words;
            while let [word, rest @ ..] = words {
                match word.as_bytes() {
                    [] => {}
                    [two] => {
                        let mut one = 0;
                        while one < pairs.len() {
                            pairs[one] |= 1 << Self::place(*two);
                            one += 1;
                        }
                    }
                    [.., one, two] => pairs[Self::place(*one)] |= 1 << Self::place(*two),
                }
                words = rest;
            }
            lists = more;
        }
        Self(pairs)
    }

    fn have(&self, one: u8, two: u8) -> bool {
        self.0.get(Self::place(one)).is_some_and(|seconds| seconds >> Self::place(two) & 1 == 1)
    }

    /// The same for a letter in either case.
    const fn place(byte: u8) -> usize {
        (byte % 32) as usize
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
            assert!(NAMED.may_have(name.as_bytes()) && is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn folders_are_known_by_what_lies_in_them() {
        static HOLDERS: Holders<5> = Holders::of(&[&["a/bc/d", "/etc/x", "alone"], &["e/f", "/root"]]);
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
