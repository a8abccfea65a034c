//! The file with the operator's own programs: read once, checked whole, or refused with the row and key that are wrong.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use bashgate_shared::located;
use bashgate_shared::programs::own::{MAX_FILE_BYTES, OwnPrograms, ProgramsFile, RowError};

/// Why the file does not count.
#[derive(Debug, thiserror::Error)]
pub enum ProgramsError {
    /// It cannot be read.
    #[error("cannot read the programs in {}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is too large.
    #[error("the programs in {} are more than {MAX_FILE_BYTES} bytes", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
    },
    /// It is not TOML of the expected shape.
    #[error("the programs in {} are wrong: {why}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What and where.
        why: String,
    },
    /// A row is wrong.
    #[error("the programs in {} are wrong: {row}", file.display())]
    Row {
        /// The file.
        file: PathBuf,
        /// Which row and key, and what is wrong with it.
        row: RowError,
    },
}

impl ProgramsError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check the path in `programs`, and the file's mode",
            Self::TooLarge { .. } => "leave out rows; a row is for a program that agents call every day",
            Self::Malformed { .. } | Self::Row { .. } => RowError::help(),
        }
    }
}

/// Reads and checks a file. What it makes lives as long as the process.
pub fn load(file: &Path) -> Result<(ProgramsFile, &'static OwnPrograms), ProgramsError> {
    let parsed = read(file)?;
    let checked = OwnPrograms::compile(&parsed).map_err(|row| ProgramsError::Row { file: file.to_owned(), row })?;
    Ok((parsed, checked))
}

fn read(file: &Path) -> Result<ProgramsFile, ProgramsError> {
    let unreadable = |source| ProgramsError::Unreadable { file: file.to_owned(), source };
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(MAX_FILE_BYTES as u64 + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() > MAX_FILE_BYTES {
        return Err(ProgramsError::TooLarge { file: file.to_owned() });
    }
    toml::from_str(&text).map_err(|error| {
        let why = located(&text, error.span(), error.message());
        ProgramsError::Malformed { file: file.to_owned(), why }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("programs.toml");
        assert!(matches!(load(&file), Err(ProgramsError::Unreadable { .. })));
        for (text, want) in [
            ("[[program]]\nnames = [\"bd\"]\n", "missing field"),
            ("[[program]]\nnames = [\"bd\"]\nabout = \"x\"\nlocal = true\n", "line 4"),
            ("[[program]]\nnames = [\"nu\"]\nabout = \"x\"\n", "program nu, names"),
            ("\u{0}", "wrong"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = load(&file).unwrap_err();
            assert!(error.to_string().contains(want), "{text}: {error}");
            assert!(!error.help().is_empty());
        }
        std::fs::write(&file, format!("# {}", "x".repeat(MAX_FILE_BYTES))).unwrap();
        assert!(matches!(load(&file), Err(ProgramsError::TooLarge { .. })));
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(matches!(load(&file), Err(ProgramsError::Unreadable { .. })));
        std::fs::write(&file, "").unwrap();
        assert!(load(&file).is_ok());
    }
}
