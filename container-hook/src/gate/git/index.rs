//! Git's index (gitformat-index(5)): the names of the files that git tracks, and whether a repository is among them.

/// The index extension that says that most entries lie in another file.
const SPLIT: &[u8] = b"link";
/// The mode of a repository in the repository.
const GITLINK: u32 = 0o160_000;

/// What an index holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// The names of all files.
    pub names: Vec<String>,
    /// A repository lies in the repository.
    pub has_repository: bool,
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
    for _ in 0..count {
        let start = at;
        index.has_repository |= word(at + 24)? & 0o170_000 == GITLINK;
        at += 40 + id_length;
        let flags = bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map(u16::from_be_bytes)?;
        at += 2;
        if version >= 3 && flags & 0x4000 != 0 {
            at += 2;
        }
        if version == 4 {
            let (dropped, after) = offset(bytes, at)?;
            name.truncate(name.len().checked_sub(dropped)?);
            at = after;
        } else {
            name.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend(bytes.get(at..at + length)?);
        index.names.push(String::from_utf8_lossy(&name).into_owned());
        at += length + 1;
        if version < 4 {
            // Padded with NUL to a multiple of eight.
            at = start + (at - start).div_ceil(8) * 8;
        }
    }
    // Extensions, then the checksum.
    while at + id_length < bytes.len() {
        let name = bytes.get(at..at + 4)?;
        if name == SPLIT {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(word(at + 4)?).ok()?)?;
    }
    Some(index)
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
