//! Git's own summary of commits (gitformat-commit-graph(5)), which it believes before the commits: what it says of one must be what the
//! commit says.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::objects::{Commit, Id, Looked};
use super::{existing, open, read_text};

/// Most summaries that build on each other.
const MOST_IN_CHAIN: usize = 64;
/// Most parents that one of them tells of a commit.
const MOST_PARENTS: usize = 1_024;
/// A commit without a parent in this place.
const NO_PARENT: u32 = 0x7000_0000;
/// More parents stand elsewhere; in that list, the last one.
const FURTHER: u32 = 0x8000_0000;

/// One file of them: where its parts begin, and how long they are.
struct Layer {
    file: File,
    fanout: (u64, u64),
    ids: (u64, u64),
    data: (u64, u64),
    edges: (u64, u64),
    /// What is added to dates, where it says so.
    dates: (u64, u64),
    /// How many commits lie in the files that it builds on.
    before: u64,
}

/// The summaries of a repository; none in many.
pub(super) struct Graph {
    layers: Vec<Layer>,
    id_length: u64,
}

impl Graph {
    /// Those of a folder of objects.
    ///
    /// # Errors
    /// When there are some which are not understood.
    pub(super) fn open(objects: &Path, id_length: usize) -> Looked<Self> {
        let info = objects.join("info");
        let doubt = |error: io::Error| format!("git's summaries of commits cannot be read ({error})");
        let one = info.join("commit-graph");
        let is_there = existing(std::fs::symlink_metadata(&one)).map_err(doubt)?.is_some();
        let chain = existing(read_text(&info.join("commit-graphs/commit-graph-chain"))).map_err(doubt)?;
        let named = chain.iter().flat_map(|text| text.lines()).take(MOST_IN_CHAIN + 1);
        let file_of = |name: &str| info.join("commit-graphs").join(format!("graph-{}.graph", name.trim()));
        let files: Vec<PathBuf> = named.map(file_of).chain(is_there.then_some(one)).collect();
        if files.len() > MOST_IN_CHAIN || is_there && files.len() > 1 {
            return Err("git has more summaries of commits than are read".to_owned());
        }
        let mut graph = Self { layers: Vec::new(), id_length: id_length as u64 };
        let mut before = 0;
        for path in files {
            let (file, length) = open(&path).map_err(doubt)?;
            let layer = Layer::of(file, (length, graph.id_length), before);
            let layer = layer.ok_or_else(|| format!("{} is not understood", path.display()))?;
            before += layer.ids.1 / graph.id_length;
            graph.layers.push(layer);
        }
        Ok(graph)
    }

    /// Compares a commit with what is said of it, wherever that is.
    ///
    /// # Errors
    /// When something else is said.
    pub(super) fn agrees(&self, id: &Id, commit: &Commit) -> Looked<()> {
        for layer in &self.layers {
            let Some(at) = layer.find(id, self.id_length) else { continue };
            let is_it = self.commit(layer, at).is_some_and(|said| said == *commit);
            if !is_it || !self.is_numbered_right(layer, at, commit) {
                return Err(format!("git's summary of commits says something else of {}", id.hex()));
            }
        }
        Ok(())
    }

    /// True where the numbers by which git ends its walks are those that its parents' make: how many generations lie below, and a date
    /// that is later than theirs.
    fn is_numbered_right(&self, layer: &Layer, at: u64, commit: &Commit) -> bool {
        let level = |layer: &Layer, at: u64| self.number_of(layer, at, 2).map(|number| u64::from(number >> 2));
        let date = |layer: &Layer, at: u64| -> Option<u64> {
            let own = self.date(layer, at)?;
            let more = layer.number(layer.dates.0 + 4 * at).filter(|more| more & FURTHER == 0)?;
            Some(own + u64::from(more))
        };
        let (mut highest, mut latest) = (0, 0);
        for parent in &commit.parents {
            let Some((layer, at)) =
                self.layers.iter().find_map(|layer| Some((layer, layer.find(parent, self.id_length)?)))
            else {
                return false;
            };
            highest = highest.max(level(layer, at).unwrap_or(u64::MAX - 1));
            latest = latest.max(if layer.dates.1 == 0 { 0 } else { date(layer, at).map_or(u64::MAX, |date| date + 1) });
        }
        let is_dated = layer.dates.1 == 0
            || date(layer, at).is_some_and(|date| date == latest.max(u64::try_from(commit.date).unwrap_or_default()));
        level(layer, at) == Some(highest + 1) && is_dated
    }

    /// What is said of a commit.
    fn commit(&self, layer: &Layer, at: u64) -> Option<Commit> {
        let tree = Id::new(&layer.bytes(layer.data.0 + at * (self.id_length + 16), self.id_length)?);
        let (first, second) = (self.number_of(layer, at, 0)?, self.number_of(layer, at, 1)?);
        let mut places = vec![first];
        if second & FURTHER == 0 || second == NO_PARENT {
            places.push(second);
        } else {
            let mut edge = u64::from(second & !FURTHER);
            loop {
                let place = layer.number(layer.edges.0 + 4 * edge).filter(|_| 4 * edge < layer.edges.1)?;
                places.push(place & !FURTHER);
                edge += 1;
                if place & FURTHER != 0 || places.len() > MOST_PARENTS {
                    break;
                }
            }
        }
        let parents = places.into_iter().filter(|place| *place != NO_PARENT);
        let parents = parents.map(|place| self.at(u64::from(place))).collect::<Option<Vec<Id>>>()?;
        Some(Commit { tree, parents, date: i64::try_from(self.date(layer, at)?).ok()? })
    }

    /// One of the four numbers behind a commit's tree: two parents, how many generations lie below, and a date that begins in there.
    fn number_of(&self, layer: &Layer, at: u64, which: u64) -> Option<u32> {
        layer.number(layer.data.0 + at * (self.id_length + 16) + self.id_length + 4 * which)
    }

    fn date(&self, layer: &Layer, at: u64) -> Option<u64> {
        let (high, low) = (self.number_of(layer, at, 2)?, self.number_of(layer, at, 3)?);
        Some(u64::from(high & 3) << 32 | u64::from(low))
    }

    /// The commit at a place, counted over all layers.
    fn at(&self, place: u64) -> Option<Id> {
        let layer = self.layers.iter().rfind(|layer| layer.before <= place)?;
        let at = (place - layer.before) * self.id_length;
        layer.bytes(layer.ids.0 + at, self.id_length).filter(|_| at < layer.ids.1).map(|bytes| Id::new(&bytes))
    }
}

impl Layer {
    fn of(file: File, (length, id_length): (u64, u64), before: u64) -> Option<Self> {
        let mut layer = Self { file, fanout: (0, 0), ids: (0, 0), data: (0, 0), edges: (0, 0), dates: (0, 0), before };
        let head = layer.bytes(0, 8)?;
        let hash = if id_length == 20 { 1 } else { 2 };
        let [b'C', b'G', b'P', b'H', 1, kind, chunks, _] = *head.as_slice() else { return None };
        let table = layer.bytes(8, (u64::from(chunks) + 1) * 12).filter(|_| kind == hash)?;
        let mut places = Vec::new();
        for entry in table.chunks_exact(12) {
            let (name, place) = entry.split_at_checked(4)?;
            places.push((name.to_owned(), u64::from_be_bytes(place.try_into().ok()?)));
        }
        for pair in places.windows(2) {
            let [(name, start), (_, end)] = pair else { continue };
            let part = match name.as_slice() {
                b"OIDF" => &mut layer.fanout,
                b"OIDL" => &mut layer.ids,
                b"CDAT" => &mut layer.data,
                b"EDGE" => &mut layer.edges,
                b"GDA2" => &mut layer.dates,
                _ => continue,
            };
            // One that stands twice means one of them.
            if *part != (0, 0) || *end > length {
                return None;
            }
            *part = (*start, end.checked_sub(*start)?);
        }
        let fits = layer.fanout.1 == 1024
            && layer.ids.1.is_multiple_of(id_length)
            && layer.data.1 == layer.ids.1 / id_length * (id_length + 16);
        fits.then_some(layer)
    }

    /// Where a commit stands, found in the way in which git looks for it: in a list that is not in order, any other way may find another.
    fn find(&self, id: &Id, id_length: u64) -> Option<u64> {
        let first = u64::from(id.first());
        let upto = |place: u64| self.number(self.fanout.0 + 4 * place).map(u64::from);
        let mut low = if first == 0 { 0 } else { upto(first - 1)? };
        let mut high = upto(first)?;
        while low < high {
            let middle = low + (high - low) / 2;
            let known = self.bytes(self.ids.0 + middle * id_length, id_length)?;
            match known.as_slice().cmp(id.bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn bytes(&self, at: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
    }

    fn number(&self, at: u64) -> Option<u32> {
        self.bytes(at, 4)?.try_into().ok().map(u32::from_be_bytes)
    }
}
