//! An operator's own programs on their way from the host to its hooks.
//!
//! One line says what belongs together and what is narrowed; then one line for each row, signed by itself, so that a hook
//! checks no more than the row that it needs. What is narrowed counts without a signature: it makes nothing local.

use std::io::BufRead;

use serde::{Deserialize, Serialize};

use super::own::{Narrowed, OwnPrograms, OwnRow, ProgramsFile, RowError};
use crate::command::Digest;
use crate::protocol::VERSION;
use crate::seal::{HostKey, PublicKey};

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    v: u32,
    /// What rows of ours it was checked against: a program that has one since then may mean another thing.
    rows: String,
    /// The digest of all rows.
    file: String,
    narrowed: Vec<Narrowed>,
}

/// The operator's rows, and the digest by which hook and host know that they mean the same.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The rows.
    pub programs: &'static OwnPrograms,
    /// Of the first line.
    pub digest: Digest,
}

/// A file that was checked and signed.
#[derive(Debug)]
pub struct Signed {
    /// For whoever has looked with the same rows.
    pub known: Known,
    /// What it narrows alone, for whoever has not.
    pub narrowing: &'static OwnPrograms,
    /// What the hooks are handed.
    pub text: String,
}

/// A digest of all names that have a row of ours.
fn rows_of_ours() -> String {
    format!("{:016x}", super::index::FINGERPRINT)
}

/// What is signed of a row: where it belongs, its names, and what stands in it.
fn signed_bytes(digest: &Digest, row: &str) -> Vec<u8> {
    let mut bytes = digest.hex().into_bytes();
    bytes.push(b'\n');
    bytes.extend_from_slice(row.as_bytes());
    bytes
}

/// Checks a file whole, and signs it.
pub fn sign(file: &ProgramsFile, key: &HostKey) -> Result<Signed, RowError> {
    let programs = OwnPrograms::compile(file)?;
    let failed = |error: serde_json::Error| RowError::at("the file", error.to_string());
    let mut rows = Vec::new();
    for row in &file.programs {
        // The examples were tried; a hook has no use for them.
        let bare = OwnRow { safe: Vec::new(), not_safe: Vec::new(), ..row.clone() };
        rows.push(format!("{}\t{}", row.names.join(","), serde_json::to_string(&bare).map_err(failed)?));
    }
    let digest = Digest::of(rows.join("\n").as_bytes()).hex();
    let head = Head { v: VERSION, rows: rows_of_ours(), file: digest, narrowed: file.narrowed.clone() };
    let head = serde_json::to_string(&head).map_err(failed)?;
    let digest = Digest::of(head.as_bytes());
    let mut text = head;
    for row in rows {
        let signature = key.programs(&signed_bytes(&digest, &row));
        text.push('\n');
        text.push_str(&format!("{signature}\t{row}"));
    }
    text.push('\n');
    Ok(Signed { known: Known { programs, digest }, narrowing: narrowing(&file.narrowed)?, text })
}

fn narrowing(narrowed: &[Narrowed]) -> Result<&'static OwnPrograms, RowError> {
    OwnPrograms::draft(&ProgramsFile { programs: Vec::new(), narrowed: narrowed.to_vec() })
}

/// What a host has handed out, as a hook finds it: read as far as it is needed, since each page of memory costs a hook time.
#[derive(Debug)]
pub struct HandedOut<R> {
    reader: R,
    head: Head,
    digest: Digest,
    /// What is narrowed, where anything is.
    pub narrowing: Option<&'static OwnPrograms>,
}

impl<R: BufRead> HandedOut<R> {
    /// Reads its first line. `None` where that is broken: then it may narrow anything.
    pub fn read(mut reader: R) -> Option<Self> {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).ok()?;
        let line = line.strip_suffix(b"\n")?;
        let head: Head = serde_json::from_slice(line).ok()?;
        let digest = Digest::of(line);
        // A name that has no row of ours here is in no row that could be narrowed.
        let mut known = head.narrowed.clone();
        for narrowed in &mut known {
            narrowed.names.retain(|name| super::row(name).is_some());
        }
        let narrowing = if known.is_empty() { None } else { Some(narrowing(&known).ok()?) };
        Some(Self { reader, head, digest, narrowing })
    }

    /// The rows of these programs, each as this host has signed it. `None` where one is not, or where they were made for
    /// another table of ours.
    pub fn rows(mut self, names: &dyn Fn(&str) -> bool, key: &PublicKey) -> Option<Known> {
        if self.head.v != VERSION || self.head.rows != rows_of_ours() {
            return None;
        }
        let mut file = ProgramsFile { programs: Vec::new(), narrowed: self.head.narrowed.clone() };
        let mut line = String::new();
        while self.reader.read_line(&mut line).ok()? > 0 {
            let (signature, row) = line.strip_suffix('\n')?.split_once('\t')?;
            let (its, json) = row.split_once('\t')?;
            if !its.split(',').any(names) {
                line.clear();
                continue;
            }
            if !key.check_programs(&signed_bytes(&self.digest, row), signature) {
                return None;
            }
            file.programs.push(serde_json::from_str(json).ok()?);
            line.clear();
        }
        let programs = OwnPrograms::draft(&file).ok()?;
        Some(Known { programs, digest: self.digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> ProgramsFile {
        let row = |name: &str| OwnRow { names: vec![name.to_owned()], about: "x".to_owned(), ..OwnRow::default() };
        let narrowed = vec![Narrowed { names: vec!["rg".to_owned()], why: "x".to_owned() }];
        ProgramsFile { programs: vec![row("one"), row("two")], narrowed }
    }

    #[test]
    fn a_row_counts_as_it_was_signed_and_nowhere_else() {
        let key = HostKey::from_seed(&[7; 32]);
        let Signed { known, text, .. } = sign(&file(), &key).unwrap();
        let read = |text: &str| HandedOut::read(std::io::Cursor::new(text.to_owned()));
        let rows = |text: &str, key: &HostKey| read(text)?.rows(&|name| name == "two", key.public());
        let found = rows(&text, &key).unwrap();
        assert_eq!(found.digest, known.digest);
        assert!(found.programs.row("two").is_some() && found.programs.row("one").is_none());
        assert!(found.programs.narrows("rg").is_some());
        assert!(read(&text).unwrap().narrowing.unwrap().narrows("rg").is_some());
        // Another host's key, another text, a row moved to another file, a name that was changed.
        assert!(rows(&text, &HostKey::from_seed(&[8; 32])).is_none());
        assert!(rows(&text.replace("\"about\":\"x\"", "\"about\":\"y\""), &key).is_none());
        assert!(rows(&text.replace("\tone\t", "\ttwo\t"), &key).is_none());
        let Signed { text: other, .. } = sign(&ProgramsFile { narrowed: Vec::new(), ..file() }, &key).unwrap();
        let mixed = format!("{}\n{}\n", text.lines().next().unwrap(), other.lines().nth(2).unwrap());
        assert!(rows(&mixed, &key).is_none());
        // A row that is not needed is not looked at.
        assert!(rows(&text.replacen("\"about\":\"x\"", "\"about\":\"y\"", 1), &key).is_some());
        for broken in ["", "x", "{}", "{\"v\":1,\"rows\""] {
            assert!(read(broken).is_none(), "{broken}");
        }
        let of_another_table = text.replacen(&rows_of_ours(), "0000000000000000", 1);
        let read = read(&of_another_table).unwrap();
        assert!(read.narrowing.is_some() && read.rows(&|_| true, key.public()).is_none());
    }
}
