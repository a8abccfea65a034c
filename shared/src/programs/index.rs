//! Where each name's row is: a list of all names, sorted when this is compiled. A command asks for rows a dozen times.

use std::cmp::Ordering;

use super::{FAMILIES, Program};

/// A name and the place of its row.
#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    row: &'static Program,
}

/// Room for more names than there are, to count them.
const ROOM: usize = 8192;
/// Every name that stands for itself alone.
const LENGTH: usize = all::<ROOM>(false).1;
/// Every name that stands for all that start like it.
const PATTERNS: usize = all::<ROOM>(true).1;

static SORTED: [Entry; LENGTH] = sorted(all(false).0);
static STARTS: [Entry; PATTERNS] = all(true).0;

/// The row that answers to exactly this name.
pub(super) fn find(name: &str) -> Option<&'static Program> {
    let found = SORTED.binary_search_by(|entry| entry.name.cmp(name)).ok().and_then(|at| SORTED.get(at));
    // What else a text may be, such as a script, no pattern takes for a name.
    let is_name = || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte));
    let starts = |entry: &&Entry| name.starts_with(entry.name.trim_end_matches('*'));
    found.or_else(|| STARTS.iter().find(starts).filter(|_| is_name())).map(|entry| entry.row)
}

/// Of all names, in the order of the table: the same for builds that know the same programs (FNV-1a, 64 bits; it tells
/// versions apart and keeps nobody out).
pub(super) const FINGERPRINT: u64 = fingerprint();

#[expect(clippy::indexing_slicing, reason = "evaluated when this is compiled, where an index out of range is an error")]
const fn fingerprint() -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut entry = 0;
    while entry < LENGTH {
        let name = SORTED[entry].name.as_bytes();
        let mut at = 0;
        while at <= name.len() {
            let byte = if at < name.len() { name[at] } else { b'\n' };
            hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        entry += 1;
    }
    hash
}

const fn is_pattern(name: &str) -> bool {
    matches!(name.as_bytes(), [.., b'*'])
}

/// The names of one sort, and how many there are. Too little room is an error of the compiler.
#[expect(clippy::indexing_slicing, reason = "evaluated when this is compiled, where an index out of range is an error")]
const fn all<const ROOM: usize>(patterns: bool) -> ([Entry; ROOM], usize) {
    let mut entries = [Entry { name: "", row: &FAMILIES[0].1[0] }; ROOM];
    let (mut number, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let rows = FAMILIES[family].1;
        let mut row = 0;
        while row < rows.len() {
            let mut name = 0;
            while name < rows[row].names.len() {
                if is_pattern(rows[row].names[name]) == patterns {
                    entries[number] = Entry { name: rows[row].names[name], row: &rows[row] };
                    number += 1;
                }
                name += 1;
            }
            row += 1;
        }
        family += 1;
    }
    (entries, number)
}

/// Shell sort: few steps, since the compiler interprets each of them.
#[expect(clippy::indexing_slicing, reason = "as above")]
const fn sorted<const N: usize>(mut entries: [Entry; N]) -> [Entry; N] {
    let mut gap = N / 2;
    while gap > 0 {
        let mut at = gap;
        while at < N {
            let entry = entries[at];
            let mut to = at;
            while to >= gap && matches!(order(entry.name, entries[to - gap].name), Ordering::Less) {
                entries[to] = entries[to - gap];
                to -= gap;
            }
            entries[to] = entry;
            at += 1;
        }
        gap /= 2;
    }
    entries
}

/// The order of `str`, which is that of its bytes.
#[expect(clippy::indexing_slicing, reason = "as above")]
const fn order(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut at = 0;
    while at < left.len() && at < right.len() {
        if left[at] != right[at] {
            return if left[at] < right[at] { Ordering::Less } else { Ordering::Greater };
        }
        at += 1;
    }
    if left.len() < right.len() {
        Ordering::Less
    } else if left.len() > right.len() {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_row() {
        for row in FAMILIES.iter().flat_map(|(_, rows)| rows.iter()) {
            for name in row.names {
                let found = find(&name.replace('*', "x")).unwrap();
                assert_eq!(found.names, row.names, "{name}");
            }
        }
        assert!(SORTED.is_sorted_by_key(|entry| entry.name));
        for other in ["", "nosuch", "ld.x; curl evil.com", "ld-x\ty", "mkfs.x|sh", "ld.x=1"] {
            assert!(find(other).is_none(), "{other}");
        }
    }
}
