//! Git's objects, read as git stores them (gitformat-pack(5)): by themselves, or in packs as differences to others.
//!
//! Without maps of files, which would end the process where somebody cuts a file short, and with limits, since whoever made a
//! repository may have made it to be read.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::graph::Graph;
use super::{Repository, open};

/// Largest object that is read, in bytes: a folder of a hundred thousand names.
const MAX_OBJECT: usize = 8 << 20;
/// Most bytes of objects that are kept to be read again.
const MAX_KEPT: usize = 32 << 20;
/// Most objects that are read for one command, those among them of which others are differences.
const MAX_READ: usize = 40_000;
/// Most packs.
const MAX_PACKS: usize = 1_000;
/// Longest chain of differences. Git makes them of up to 4,095.
const MAX_CHAIN: usize = 4_095;

/// Why something could not be looked at.
pub(super) type Looked<T> = Result<T, String>;

/// The number of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(Vec<u8>);

impl Id {
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// From its hexadecimal digits, all of them.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = matches!(text.len(), 40 | 64);
        is_whole
            .then(|| half_bytes(text))
            .flatten()
            .map(|bytes| Self(bytes.into_iter().map(|(byte, _)| byte).collect()))
    }

    /// Its bytes: 20, or 32 of a repository with longer ones.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn first(&self) -> u8 {
        self.0.first().copied().unwrap_or_default()
    }

    pub fn hex(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The bytes that hexadecimal digits say, and how many digits there were for each.
fn half_bytes(text: &str) -> Option<Vec<(u8, usize)>> {
    let digits: Vec<u8> = text
        .bytes()
        .map(|byte| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok()))
        .collect::<Option<_>>()?;
    Some(
        digits
            .chunks(2)
            .map(|two| (two.first().copied().unwrap_or(0) << 4 | two.get(1).copied().unwrap_or(0), two.len()))
            .collect(),
    )
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// An object.
#[derive(Debug)]
pub(super) struct Object {
    pub kind: Kind,
    pub bytes: Vec<u8>,
}

/// The bits of a mode that say what something is.
const KIND: u32 = 0o170_000;

/// A name in a folder of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub name: Vec<u8>,
    pub mode: u32,
    pub id: Id,
}

impl TreeEntry {
    /// By the bits that git looks at: old repositories have others as well.
    pub fn is_tree(&self) -> bool {
        self.mode & KIND == 0o040_000
    }

    /// A repository in the repository, of which nothing lies here.
    pub fn is_repository(&self) -> bool {
        self.mode & KIND == 0o160_000
    }
}

/// What is taken of a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub tree: Id,
    pub parents: Vec<Id>,
    /// Seconds since 1970, as the committer said.
    pub date: i64,
}

struct Pack {
    pack: File,
    length: u64,
    index: File,
    /// How many objects have a first byte up to this one.
    fanout: Vec<u32>,
    /// Their numbers, by the first byte.
    numbers: HashMap<u8, Vec<u8>>,
}

/// The objects of a repository.
pub(super) struct Objects {
    folder: PathBuf,
    id_length: usize,
    packs: Option<Vec<Pack>>,
    graph: Option<Graph>,
    kept: HashMap<Id, Rc<Object>>,
    kept_bytes: usize,
    read: usize,
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

impl Pack {
    fn open(index: &Path) -> Looked<Self> {
        let trouble = |error: io::Error| format!("{} cannot be read ({error})", index.display());
        let (pack, length) = open(&index.with_extension("pack")).map_err(trouble)?;
        let (index_file, _) = open(index).map_err(trouble)?;
        let mut head = vec![0; 8 + 1024];
        index_file.read_exact_at(&mut head, 0).map_err(trouble)?;
        if head.get(..8) != Some(b"\xfftOc\0\0\0\x02".as_slice()) {
            return Err(format!("{} has a form that is not known", index.display()));
        }
        let fanout: Vec<u32> = (0..256).filter_map(|at| number(&head, 8 + 4 * at)).collect();
        if !fanout.is_sorted() {
            return Err(format!("{} is not in order", index.display()));
        }
        Ok(Self { pack, length, index: index_file, fanout, numbers: HashMap::new() })
    }

    fn count(&self) -> u64 {
        u64::from(self.fanout.last().copied().unwrap_or_default())
    }

    /// Which objects have this first byte.
    fn range(&self, first: u8) -> (u64, u64) {
        let at = |at: usize| u64::from(self.fanout.get(at).copied().unwrap_or_default());
        let first = usize::from(first);
        (if first == 0 { 0 } else { at(first - 1) }, at(first))
    }

    fn of_index(&self, at: u64, length: usize) -> Looked<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.index
            .read_exact_at(&mut bytes, at)
            .map_err(|error| format!("the index of a pack cannot be read ({error})"))?;
        Ok(bytes)
    }

    /// The numbers with this first byte, one behind the other.
    fn numbers(&mut self, first: u8, id_length: usize) -> Looked<&[u8]> {
        let (from, to) = self.range(first);
        if !self.numbers.contains_key(&first) {
            let length = usize::try_from(to - from).unwrap_or(usize::MAX).saturating_mul(id_length);
            // A pack of millions of objects.
            if length > MAX_OBJECT {
                return Err("a pack holds more than is looked through".to_owned());
            }
            let bytes = self.of_index(8 + 1024 + from * id_length as u64, length)?;
            self.numbers.insert(first, bytes);
        }
        Ok(self.numbers.get(&first).map_or(&[], Vec::as_slice))
    }

    /// Where an object lies in the pack.
    fn find(&mut self, id: &Id, id_length: usize) -> Looked<Option<u64>> {
        let (from, to) = self.range(id.first());
        if from == to {
            return Ok(None);
        }
        let bytes = self.numbers(id.first(), id_length)?;
        let (mut low, mut high) = (0, bytes.len() / id_length);
        let at = |place: usize| bytes.get(place * id_length..(place + 1) * id_length).unwrap_or_default();
        while low < high {
            let middle = usize::midpoint(low, high);
            if at(middle) < id.0.as_slice() { low = middle + 1 } else { high = middle }
        }
        if at(low) != id.0.as_slice() {
            return Ok(None);
        }
        let place = from + low as u64;
        let four = |at: u64| -> Looked<u32> { Ok(number(&self.of_index(at, 4)?, 0).unwrap_or_default()) };
        let numbers = 8 + 1024 + self.count() * (id_length as u64 + 4);
        let short = four(numbers + 4 * place)?;
        if short & 0x8000_0000 == 0 {
            return Ok(Some(u64::from(short)));
        }
        let long = numbers + 4 * self.count() + 8 * u64::from(short & 0x7fff_ffff);
        Ok(Some(u64::from(four(long)?) << 32 | u64::from(four(long + 4)?)))
    }

    /// What stands at a place: its kind as the pack says it, its length, where it begins.
    fn entry(&self, at: u64) -> Looked<(u8, usize, u64, Vec<u8>)> {
        let head = self.bytes(at, 32)?;
        let mut bytes = head.iter();
        let first = *bytes.next().ok_or("a pack ends early")?;
        let (kind, mut length, mut shift, mut last, mut used) = (first >> 4 & 7, usize::from(first & 15), 4, first, 1);
        while last & 0x80 != 0 {
            last = *bytes.next().ok_or("a pack ends early")?;
            if shift > 32 {
                return Err("an object is too large".to_owned());
            }
            length |= usize::from(last & 0x7f) << shift;
            shift += 7;
            used += 1;
        }
        if length > MAX_OBJECT {
            return Err("an object is larger than is looked at".to_owned());
        }
        Ok((kind, length, at + used, head))
    }

    fn bytes(&self, at: u64, most: usize) -> Looked<Vec<u8>> {
        let left = self.length.saturating_sub(at);
        let mut bytes = vec![0; usize::try_from(left).unwrap_or(most).min(most)];
        self.pack.read_exact_at(&mut bytes, at).map_err(|error| format!("a pack cannot be read ({error})"))?;
        Ok(bytes)
    }

    fn inflated(&self, at: u64, length: usize) -> Looked<Vec<u8>> {
        // Deflate makes nothing longer than by a few bytes in each block.
        let bytes = self.bytes(at, length + length / 8 + 1024)?;
        let inflated =
            decompress_to_vec_zlib_with_limit(&bytes, length.max(1)).map_err(|_| "an object of a pack is broken")?;
        if inflated.len() == length {
            Ok(inflated)
        } else {
            Err("an object of a pack is not as long as it says".to_owned())
        }
    }
}

impl Objects {
    pub fn of(repository: &Repository, id_length: usize) -> Self {
        let folder = repository.common.join("objects");
        Self { folder, id_length, packs: None, graph: None, kept: HashMap::new(), kept_bytes: 0, read: 0 }
    }

    /// The packs, opened when the first object is wanted.
    fn packs(&mut self) -> Looked<&mut Vec<Pack>> {
        let packs = match self.packs.take() {
            Some(packs) => packs,
            None => packs_in(&self.folder.join("pack"))?,
        };
        Ok(self.packs.insert(packs))
    }

    pub fn id_length(&self) -> usize {
        self.id_length
    }

    /// An object. One that is not there is an error: it may be somewhere else.
    pub fn get(&mut self, id: &Id) -> Looked<Rc<Object>> {
        if let Some(known) = self.kept.get(id) {
            return Ok(Rc::clone(known));
        }
        // Git looks in packs first.
        let object = Rc::new(match self.place(id)? {
            Some(place) => self.packed(id, place)?,
            None => self.loose(id)?.ok_or_else(|| not_there(id))?,
        });
        self.keep(id, &object);
        Ok(object)
    }

    fn keep(&mut self, id: &Id, object: &Rc<Object>) {
        if self.kept_bytes > MAX_KEPT {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += object.bytes.len() + 64;
        self.kept.insert(id.clone(), Rc::clone(object));
    }

    fn count_one(&mut self) -> Looked<()> {
        self.read += 1;
        if self.read > MAX_READ { Err("there is more of it than is looked through".to_owned()) } else { Ok(()) }
    }

    fn loose(&mut self, id: &Id) -> Looked<Option<Object>> {
        let hex = id.hex();
        let (folder, name) = hex.split_at(2);
        let path = self.folder.join(folder).join(name);
        let (file, length) = match open(&path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{} cannot be read ({error})", path.display())),
        };
        self.count_one()?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_OBJECT {
            return Err("an object is larger than is looked at".to_owned());
        }
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0).map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
        let broken = || format!("{} is broken", path.display());
        let whole = decompress_to_vec_zlib_with_limit(&bytes, MAX_OBJECT + 32).map_err(|_| broken())?;
        let end = whole.iter().position(|byte| *byte == 0).ok_or_else(broken)?;
        let head = std::str::from_utf8(whole.get(..end).unwrap_or_default()).map_err(|_| broken())?;
        let kind = match head.split(' ').next() {
            Some("commit") => Kind::Commit,
            Some("tree") => Kind::Tree,
            Some("blob") => Kind::Blob,
            Some("tag") => Kind::Tag,
            _ => return Err(broken()),
        };
        Ok(Some(Object { kind, bytes: whole.get(end + 1..).unwrap_or_default().to_vec() }))
    }

    /// In which pack an object lies, and where.
    fn place(&mut self, id: &Id) -> Looked<Option<(usize, u64)>> {
        let id_length = self.id_length;
        for (at, pack) in self.packs()?.iter_mut().enumerate() {
            if let Some(offset) = pack.find(id, id_length)? {
                return Ok(Some((at, offset)));
            }
        }
        Ok(None)
    }

    fn packed(&mut self, id: &Id, (mut pack, mut offset): (usize, u64)) -> Looked<Object> {
        let mut differences = Vec::new();
        let mut bytes_of_all = 0;
        let base = loop {
            self.count_one()?;
            let Some(here) = self.packs.as_ref().and_then(|packs| packs.get(pack)) else { return Err(not_there(id)) };
            let (kind, length, behind, head) = here.entry(offset)?;
            bytes_of_all += length;
            if differences.len() > MAX_CHAIN || bytes_of_all > MAX_KEPT {
                return Err("an object takes more to read than is read".to_owned());
            }
            let whole = |kind: Kind| Ok::<_, String>(Object { kind, bytes: here.inflated(behind, length)? });
            match kind {
                1 => break whole(Kind::Commit)?,
                2 => break whole(Kind::Tree)?,
                3 => break whole(Kind::Blob)?,
                4 => break whole(Kind::Tag)?,
                // To what stands so far in front.
                6 => {
                    let used = usize::try_from(behind - offset).unwrap_or(usize::MAX);
                    let (back, digits) = distance(head.get(used..).unwrap_or_default())?;
                    differences.push(here.inflated(behind + digits, length)?);
                    offset = offset.checked_sub(back).filter(|_| back > 0).ok_or("a pack leads out of itself")?;
                }
                // To an object by its number.
                7 => {
                    let base = Id::new(&here.bytes(behind, self.id_length)?);
                    differences.push(here.inflated(behind + self.id_length as u64, length)?);
                    match self.place(&base)? {
                        Some(place) => (pack, offset) = place,
                        None => break self.loose(&base)?.ok_or_else(|| not_there(&base))?,
                    }
                }
                _ => return Err("an object of a pack is of no kind".to_owned()),
            }
        };
        let mut bytes = base.bytes;
        for difference in differences.iter().rev() {
            bytes = applied(&bytes, difference)?;
        }
        Ok(Object { kind: base.kind, bytes })
    }

    /// The numbers that begin with these digits.
    pub fn beginning_with(&mut self, digits: &str) -> Looked<Vec<Id>> {
        let digits = digits.to_ascii_lowercase();
        let Some(wanted) = half_bytes(&digits) else { return Ok(Vec::new()) };
        let fits = |id: &[u8]| {
            wanted
                .iter()
                .zip(id)
                .all(|((want, digits), byte)| if *digits == 2 { want == byte } else { want >> 4 == byte >> 4 })
                && wanted.len() <= id.len()
        };
        let Some((first, 2)) = wanted.first().copied() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        match std::fs::read_dir(self.folder.join(digits.get(..2).unwrap_or_default())) {
            Ok(entries) => {
                for entry in entries.take(MAX_READ) {
                    let entry = entry.map_err(|error| format!("the objects cannot be listed ({error})"))?;
                    let id = Id::parse(&format!(
                        "{}{}",
                        digits.get(..2).unwrap_or_default(),
                        entry.file_name().to_string_lossy()
                    ));
                    found.extend(id.filter(|id| fits(&id.0)));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("the objects cannot be listed ({error})")),
        }
        let id_length = self.id_length;
        for pack in self.packs()? {
            found.extend(pack.numbers(first, id_length)?.chunks_exact(id_length).filter(|id| fits(id)).map(Id::new));
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// A commit.
    pub fn commit(&mut self, id: &Id) -> Looked<Commit> {
        let object = self.get(id)?;
        if object.kind != Kind::Commit {
            return Err(format!("{} is no commit", id.hex()));
        }
        let text = String::from_utf8_lossy(&object.bytes);
        let mut commit = Commit { tree: Id(Vec::new()), parents: Vec::new(), date: 0 };
        for line in text.lines().take_while(|line| !line.is_empty()) {
            match line.split_once(' ') {
                Some(("tree", tree)) => commit.tree = Id::parse(tree).ok_or("a commit without a tree")?,
                Some(("parent", parent)) => commit.parents.push(Id::parse(parent).ok_or("a commit without a parent")?),
                Some(("committer", who)) => {
                    commit.date = who.rsplit(' ').nth(1).and_then(|date| date.parse().ok()).unwrap_or_default();
                }
                _ => {}
            }
        }
        if commit.tree.0.len() != self.id_length {
            return Err("a commit without a tree".to_owned());
        }
        let graph = match &self.graph {
            Some(graph) => graph,
            None => self.graph.insert(Graph::open(&self.folder, self.id_length)?),
        };
        graph.agrees(id, &commit)?;
        Ok(commit)
    }

    /// The names in a folder.
    pub fn tree(&mut self, id: &Id) -> Looked<Vec<TreeEntry>> {
        let object = self.get(id)?;
        if object.kind != Kind::Tree {
            return Err(format!("{} is no folder", id.hex()));
        }
        let broken = || format!("the folder {} is broken", id.hex());
        let mut entries = Vec::new();
        let mut rest = object.bytes.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(broken)?;
            let head = rest.get(..end).unwrap_or_default();
            let blank = head.iter().position(|byte| *byte == b' ').ok_or_else(broken)?;
            let mode = std::str::from_utf8(head.get(..blank).unwrap_or_default()).ok();
            let mode = mode.and_then(|mode| u32::from_str_radix(mode, 8).ok()).ok_or_else(broken)?;
            let id = rest.get(end + 1..end + 1 + self.id_length).ok_or_else(broken)?;
            entries.push(TreeEntry { name: head.get(blank + 1..).unwrap_or_default().to_vec(), mode, id: Id::new(id) });
            rest = rest.get(end + 1 + self.id_length..).unwrap_or_default();
        }
        Ok(entries)
    }
}

fn not_there(id: &Id) -> String {
    format!("the object {} is not there", id.hex())
}

fn packs_in(folder: &Path) -> Looked<Vec<Pack>> {
    let trouble = |error: io::Error| format!("{} cannot be listed ({error})", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(trouble(error)),
    };
    let mut packs = Vec::new();
    for entry in entries {
        let path = entry.map_err(trouble)?.path();
        // What it says of an object counts before what the packs' own lists say.
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("multi-pack-index")) {
            return Err(format!("{} is not read here", path.display()));
        }
        if path.extension().is_some_and(|end| end == "idx") {
            packs.push(Pack::open(&path)?);
        }
        if packs.len() > MAX_PACKS {
            return Err(format!("{} has more packs than are looked at", folder.display()));
        }
    }
    Ok(packs)
}

/// How far in front something stands, and how many bytes say so.
fn distance(bytes: &[u8]) -> Looked<(u64, u64)> {
    let mut bytes = bytes.iter();
    let mut byte = *bytes.next().ok_or("a pack ends early")?;
    let (mut value, mut used) = (u64::from(byte & 0x7f), 1);
    while byte & 0x80 != 0 {
        byte = *bytes.next().ok_or("a pack ends early")?;
        value = value.checked_add(1).and_then(|value| value.checked_mul(128)).ok_or("a pack leads out of itself")?;
        value += u64::from(byte & 0x7f);
        used += 1;
    }
    Ok((value, used))
}

/// A number of a difference: seven bits a byte, the lowest first.
fn varied(bytes: &mut std::slice::Iter<'_, u8>) -> Looked<usize> {
    let (mut value, mut shift) = (0_usize, 0);
    loop {
        let byte = *bytes.next().ok_or("a difference ends early")?;
        if shift > 32 {
            return Err("an object is too large".to_owned());
        }
        value |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
}

/// A base with a difference applied to it.
fn applied(base: &[u8], difference: &[u8]) -> Looked<Vec<u8>> {
    let mut bytes = difference.iter();
    let (from, to) = (varied(&mut bytes)?, varied(&mut bytes)?);
    if from != base.len() || to > MAX_OBJECT {
        return Err("a difference is not one of its base".to_owned());
    }
    let mut made = Vec::with_capacity(to);
    while let Some(what) = bytes.next() {
        if what & 0x80 == 0 {
            // So many bytes as they stand here; none is kept for later forms.
            let length = usize::from(*what);
            let piece =
                bytes.as_slice().get(..length).filter(|piece| !piece.is_empty()).ok_or("a difference ends early")?;
            made.extend_from_slice(piece);
            bytes = bytes.as_slice().get(length..).unwrap_or_default().iter();
        } else {
            let (mut offset, mut length) = (0_usize, 0_usize);
            for bit in 0..4 {
                if what & 1 << bit != 0 {
                    offset |= usize::from(*bytes.next().ok_or("a difference ends early")?) << (8 * bit);
                }
            }
            for bit in 0..3 {
                if what & 0x10 << bit != 0 {
                    length |= usize::from(*bytes.next().ok_or("a difference ends early")?) << (8 * bit);
                }
            }
            let length = if length == 0 { 0x1_0000 } else { length };
            made.extend_from_slice(base.get(offset..offset + length).ok_or("a difference is not one of its base")?);
        }
        if made.len() > to {
            return Err("a difference makes more than it says".to_owned());
        }
    }
    if made.len() == to { Ok(made) } else { Err("a difference makes less than it says".to_owned()) }
}
