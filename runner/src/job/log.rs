//! A job's output in a file, up to a limit.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that output is appended to. Clones write to the same file under the same limit.
#[derive(Debug, Clone)]
pub struct Log {
    file: Arc<File>,
    left: Arc<AtomicU64>,
}

impl Log {
    /// A log that takes so many bytes.
    pub fn new(file: File, most: u64) -> Self {
        // One more than the limit, so that reaching it is noticed once.
        Self { file: Arc::new(file), left: Arc::new(AtomicU64::new(most.saturating_add(1))) }
    }

    /// Adds output as far as there is room. A full disk loses output but ends nothing.
    pub fn add(&mut self, bytes: &[u8]) {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return;
        }
        let room = usize::try_from(left - 1).unwrap_or(usize::MAX).min(bytes.len());
        let mut file: &File = &self.file;
        let _ = file.write_all(bytes.get(..room).unwrap_or_default());
        if room < bytes.len() {
            let _ = file.write_all(b"\n[output limit reached; the rest is not kept]\n");
            self.left.store(0, Ordering::Relaxed);
        } else {
            self.left.store(left - room as u64, Ordering::Relaxed);
        }
    }

    /// Adds the last line, which has room beyond the limit.
    pub fn close(&mut self, line: &str) {
        let mut file: &File = &self.file;
        let _ = file.write_all(format!("\n\n{line}\n").as_bytes());
    }
}
