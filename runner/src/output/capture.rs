//! What is kept of a stream while it runs: a head, a tail, and exact counts of the whole.

/// One stream's output so far. Memory is bounded by what its limit shows, however much comes.
#[derive(Debug)]
pub struct Capture {
    head: Vec<u8>,
    head_max: usize,
    tail: Vec<u8>,
    tail_max: usize,
    total: u64,
    chars: u64,
    shown_bytes: u64,
    replaced: u64,
    nul: bool,
    /// The start of a character whose rest has not come yet: at most three bytes.
    unfinished: Vec<u8>,
}

impl Capture {
    /// A capture that keeps the first and the last so many bytes.
    pub const fn new(head_max: usize, tail_max: usize) -> Self {
        Self {
            head: Vec::new(),
            head_max,
            tail: Vec::new(),
            tail_max,
            total: 0,
            chars: 0,
            shown_bytes: 0,
            replaced: 0,
            nul: false,
            unfinished: Vec::new(),
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.nul |= bytes.contains(&0);
        let room = self.head_max.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(bytes.iter().take(room));
        self.keep_tail(bytes);
        if self.unfinished.is_empty() {
            self.count(bytes);
        } else {
            let mut whole = std::mem::take(&mut self.unfinished);
            whole.extend_from_slice(bytes);
            self.count(&whole);
        }
    }

    /// The tail may grow to twice its size before its front is dropped, so that dropping stays cheap.
    fn keep_tail(&mut self, bytes: &[u8]) {
        if self.tail_max == 0 {
            return;
        }
        let useful = bytes.len().saturating_sub(self.tail_max);
        self.tail.extend(bytes.iter().skip(useful));
        if self.tail.len() > self.tail_max * 2 {
            let surplus = self.tail.len() - self.tail_max;
            self.tail.drain(..surplus);
        }
    }

    /// Counts characters as a reader who replaces what is no UTF-8 would see them.
    fn count(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.chars += chunk.valid().chars().count() as u64;
            self.shown_bytes += chunk.valid().len() as u64;
            if chunk.invalid().is_empty() {
                continue;
            }
            let is_last = chunks.peek().is_none();
            let may_go_on =
                is_last && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if may_go_on {
                self.unfinished = chunk.invalid().to_vec();
            } else {
                self.replace();
            }
        }
    }

    const fn replace(&mut self) {
        self.chars += 1;
        self.replaced += 1;
        self.shown_bytes += '\u{fffd}'.len_utf8() as u64;
    }

    /// The stream has ended: half a character at its end is none.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.unfinished).is_empty() {
            self.replace();
        }
    }

    /// Bytes that came.
    pub const fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Characters that came, each invalid sequence counted as one.
    pub const fn total_chars(&self) -> u64 {
        self.chars
    }

    /// Bytes of the whole once invalid sequences are replaced.
    pub(super) const fn shown_bytes(&self) -> u64 {
        self.shown_bytes
    }

    /// True when the stream holds a NUL byte, or a tenth of it is no UTF-8.
    pub const fn is_binary(&self) -> bool {
        self.nul || self.replaced * 10 > self.chars
    }

    /// The first bytes, replaced to be valid UTF-8. A character that the limit cut is left out.
    pub(super) fn head(&self) -> String {
        let is_whole = self.head.len() as u64 == self.total;
        let mut end = self.head.len();
        if !is_whole && let Some(chunk) = self.head.utf8_chunks().last() {
            let cut = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            end -= if cut { chunk.invalid().len() } else { 0 };
        }
        String::from_utf8_lossy(self.head.get(..end).unwrap_or_default()).into_owned()
    }

    /// The last bytes, replaced to be valid UTF-8. Up to three bytes at its start may belong to a cut character.
    pub(super) fn tail(&self) -> String {
        let surplus = self.tail.len().saturating_sub(self.tail_max);
        String::from_utf8_lossy(self.tail.get(surplus..).unwrap_or_default()).into_owned()
    }
}
