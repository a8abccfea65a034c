//! Git's index (gitformat-index(5)): the names of the files that git tracks, whether a repository is among them, and what git knows of
//! each.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

use super::objects::Id;

/// The longest name whose length an entry can say.
const LONGEST: u16 = 0x0fff;
/// The mode of a repository in the repository.
const GITLINK: u32 = 0o160_000;

/// What an index holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// The names of all files.
    pub names: Vec<String>,
    /// Some names are no text, so that they stand here in another form.
    pub has_odd_names: bool,
    /// A repository lies in the repository.
    pub has_repository: bool,
    /// Where the entry of each name starts.
    starts: Vec<usize>,
    /// Where the numbers of whole folders stand, and how many bytes that is.
    folders: Option<(usize, usize)>,
}

/// What git knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// What it is in the index.
    pub id: Id,
    /// True where no merge is waiting to be settled.
    pub is_settled: bool,
    /// When its content was changed last, and when anything of it was, in seconds and nanoseconds.
    changed: (u32, u32),
    touched: (u32, u32),
    /// Its number, its user and group, and its length, as far as 32 bits say them.
    others: [u32; 4],
}

impl Known {
    /// True for a file that is, by all that git looks at, the one that it has read. Where it cannot tell because both are of one moment,
    /// false.
    pub fn is_as(&self, file: &Metadata, index: &Metadata) -> bool {
        let low = |number: i64| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
        let whole = |number: u64| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
        // Some file systems, and some builds, count in seconds.
        let is_of = |then: (u32, u32), now: (i64, i64)| {
            let now = (low(now.0), low(now.1));
            now == then || then.1 == 0 && now.0 == then.0
        };
        let is_older = (file.mtime(), file.mtime_nsec()) < (index.mtime(), index.mtime_nsec());
        file.is_file()
            && is_older
            && is_of(self.changed, (file.mtime(), file.mtime_nsec()))
            && is_of(self.touched, (file.ctime(), file.ctime_nsec()))
            && self.others == [whole(file.ino()), file.uid(), file.gid(), whole(file.len())]
    }
}

impl Index {
    /// What git knows of the file at this place in the list of names.
    pub fn known(&self, bytes: &[u8], at: usize, id_length: usize) -> Option<Known> {
        let start = *self.starts.get(at)?;
        let word = |at: usize| bytes.get(start + at..start + at + 4)?.try_into().ok().map(u32::from_be_bytes);
        let flags = bytes.get(start + 40 + id_length)?;
        Some(Known {
            id: Id::new(bytes.get(start + 40..start + 40 + id_length)?),
            is_settled: flags & 0x30 == 0,
            touched: (word(0)?, word(4)?),
            changed: (word(8)?, word(12)?),
            others: [word(20)?, word(28)?, word(32)?, word(36)?],
        })
    }

    /// The numbers of folders that are in the index as they are in some commit, by their paths, the whole by an empty one.
    pub fn whole_folders(&self, bytes: &[u8], id_length: usize) -> HashMap<String, Id> {
        let mut found = HashMap::new();
        let content = self.folders.and_then(|(at, length)| bytes.get(at..at + length)).unwrap_or_default();
        // Folders in which more stand: their path, and how many are still to come.
        let mut open: Vec<(String, usize)> = Vec::new();
        let mut rest = content;
        while !rest.is_empty() {
            let Some((name, counts, behind)) = folder(rest) else { return found };
            let (valid, inner) = counts;
            let path = match open.last() {
                Some((above, _)) if !above.is_empty() => format!("{above}/{name}"),
                _ => name,
            };
            rest = behind;
            if valid {
                let Some(id) = rest.get(..id_length) else { return found };
                found.insert(path.clone(), Id::new(id));
                rest = rest.get(id_length..).unwrap_or_default();
            }
            open.push((path, inner));
            while let Some((_, 0)) = open.last() {
                open.pop();
                if let Some((_, left)) = open.last_mut() {
                    *left = left.saturating_sub(1);
                }
            }
            // After the whole nothing stands.
            if open.is_empty() {
                break;
            }
        }
        found
    }
}

/// The folders above these names, but for the root.
pub(super) fn folders_of(names: &[String]) -> HashSet<&str> {
    let mut folders: HashSet<&str> = HashSet::new();
    let mut last = "";
    // Names stand in order, so that those of one folder stand together.
    for name in names {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder != last {
            last = folder;
            let mut above = Some(folder).filter(|folder| !folder.is_empty());
            while let Some(folder) = above.filter(|folder| folders.insert(folder)) {
                above = folder.rsplit_once('/').map(|(above, _)| above);
            }
        }
    }
    folders
}

/// A folder's name, whether its number follows and how many folders it has, and what stands behind that.
fn folder(bytes: &[u8]) -> Option<(String, (bool, usize), &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let name = String::from_utf8_lossy(bytes.get(..end)?).into_owned();
    let rest = bytes.get(end + 1..)?;
    let line = rest.iter().position(|byte| *byte == b'\n')?;
    let (entries, inner) = std::str::from_utf8(rest.get(..line)?).ok()?.split_once(' ')?;
    Some((name, (!entries.starts_with('-'), inner.parse().ok()?), rest.get(line + 1..)?))
}

/// Reads an index, or `None` when any of it is not understood. `id_length` is 20, or 32 where names are SHA-256.
pub(super) fn read(bytes: &[u8], id_length: usize) -> Option<Index> {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = word(4)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = usize::try_from(word(8)?).ok()?;
    let mut index = Index::default();
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    // Where each entry starts, and whether its name stands there whole.
    let mut starts = Vec::new();
    for _ in 0..count {
        let start = at;
        let mut starts_anew = true;
        index.has_repository |= word(at + 24)? & 0o170_000 == GITLINK;
        at += 40 + id_length;
        let flags = bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map(u16::from_be_bytes)?;
        at += 2;
        if flags & 0x4000 != 0 {
            if version < 3 {
                return None;
            }
            at += 2;
        }
        if version == 4 {
            let (dropped, after) = offset(bytes, at)?;
            name.truncate(name.len().checked_sub(dropped)?);
            starts_anew = name.is_empty();
            at = after;
        } else {
            name.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend(bytes.get(at..at + length)?);
        // Git goes by this number where it is not too small for the name.
        let said = usize::from(flags & LONGEST);
        if said != name.len().min(usize::from(LONGEST)) {
            return None;
        }
        starts.push((start, starts_anew));
        index.starts.push(start);
        let text = String::from_utf8_lossy(&name);
        index.has_odd_names |= matches!(text, std::borrow::Cow::Owned(_));
        index.names.push(text.into_owned());
        at += length + 1;
        if version < 4 {
            // Padded with NUL to a multiple of eight.
            at = start + (at - start).div_ceil(8) * 8;
        }
    }
    // Extensions, then the checksum.
    let end_of_entries = at;
    while at + id_length < bytes.len() {
        let name = bytes.get(at..at + 4)?;
        let length = usize::try_from(word(at + 4)?).ok()?;
        let content = bytes.get(at + 8..(at + 8).checked_add(length)?)?;
        if name == b"TREE" {
            index.folders = Some((at + 8, length));
        }
        let as_read = match name {
            b"TREE" | b"REUC" | b"UNTR" => true,
            // Git's threads start where these say.
            b"EOIE" => number(content, 0).is_some_and(|end| end == end_of_entries),
            b"IEOT" => blocks_are_entries(content, &starts),
            _ => false,
        };
        if !as_read {
            return None;
        }
        at += 8 + length;
    }
    (at + id_length == bytes.len()).then_some(index)
}

/// A number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(four)).ok()
}

/// True when a table of blocks names the entries as they stand there, one behind the other, none left out.
fn blocks_are_entries(table: &[u8], starts: &[(usize, bool)]) -> bool {
    let mut entry = 0;
    for at in (4..table.len()).step_by(8) {
        let (Some(start), Some(count)) = (number(table, at), number(table, at + 4)) else { return false };
        if starts.get(entry) != Some(&(start, true)) || count == 0 {
            return false;
        }
        entry += count;
    }
    number(table, 0) == Some(1) && entry == starts.len()
}

/// A number in git's variable-width encoding, and where it ends.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    at += 1;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *bytes.get(at)?;
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 with these names, whose entries say this length, and what stands behind them.
    fn index(entries: &[(&str, u16)], behind: &[u8]) -> Vec<u8> {
        let mut bytes = [b"DIRC".as_slice(), &2_u32.to_be_bytes()].concat();
        bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
        for (name, flags) in entries {
            let start = bytes.len();
            bytes.extend([0; 60]);
            bytes.extend(flags.to_be_bytes());
            bytes.extend(name.as_bytes());
            bytes.push(0);
            bytes.resize(start + (bytes.len() - start).div_ceil(8) * 8, 0);
        }
        bytes.extend(behind);
        bytes.extend([0; 20]);
        bytes
    }

    fn extension(name: &[u8], numbers: &[u32]) -> Vec<u8> {
        let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [name, &length, &content].concat()
    }

    #[test]
    fn what_git_would_read_in_another_way_is_not_understood() {
        let two = [("a", 1), ("sub/b", 5)];
        assert_eq!(read(&index(&two, b""), 20).unwrap().names, ["a", "sub/b"]);
        for (what, bytes) in [
            ("a name that is longer than it says", index(&[("a", 1), ("sub/b", 3)], b"")),
            ("a name that is shorter than it says", index(&[("a", 9)], b"")),
            ("further flags before version 3", index(&[("a", 0x4001)], b"")),
            ("most of it in another file", index(&two, &extension(b"link", &[0]))),
            ("an extension that nobody knows", index(&two, &extension(b"XXXX", &[]))),
            ("one that ends behind the end", index(&two, &[b"TREE".as_slice(), &[0, 0, 0, 99]].concat())),
            ("another end of the entries", index(&two, &extension(b"EOIE", &[12, 0, 0, 0, 0, 0]))),
            ("blocks elsewhere", index(&two, &extension(b"IEOT", &[1, 20, 2]))),
            ("fewer entries in blocks", index(&two, &extension(b"IEOT", &[1, 12, 1]))),
            ("the same block twice", index(&two, &extension(b"IEOT", &[1, 12, 1, 12, 1]))),
            ("more behind the checksum", [index(&two, b""), vec![0; 4]].concat()),
        ] {
            assert_eq!(read(&bytes, 20), None, "{what}");
        }
        let end = u32::try_from(index(&two, b"").len() - 20).unwrap();
        let fine = [extension(b"EOIE", &[end, 0, 0, 0, 0, 0]), extension(b"IEOT", &[1, 12, 1, 76, 1])].concat();
        assert!(read(&index(&two, &fine), 20).is_some());
    }
}
