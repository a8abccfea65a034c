//! The text of one shell command: parsed once at the edge, never changed afterwards.
//!
//! It must never print itself: a command may hold credentials, so `Debug` shows a length only.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Longest command that bashgate looks at, in bytes. Anything longer is denied with advice.
pub const MAX_COMMAND_BYTES: usize = 256 * 1024;

/// Why a text is not a command that bashgate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The text is longer than [`MAX_COMMAND_BYTES`].
    #[error("the command is {bytes} bytes long; the limit is {MAX_COMMAND_BYTES}")]
    TooLong {
        /// Length of the text that was offered, in bytes.
        bytes: usize,
    },
    /// The text holds a NUL byte, which no program argument can hold and shells drop silently.
    #[error("the command holds a NUL byte, which shells drop silently")]
    Nul,
}

impl CommandError {
    /// What the agent can do instead.
    pub const fn help(self) -> &'static str {
        match self {
            Self::TooLong { .. } => "write it to a file and run that file",
            Self::Nul => "write the data to a file with a program that can, such as printf with \\000",
        }
    }
}

/// One command, exactly as the agent wants its shell to read it.
///
/// At most [`MAX_COMMAND_BYTES`] long, UTF-8, without NUL. It may be empty.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CommandLine {
    text: String,
}

impl CommandLine {
    /// Accepts a text as a command.
    pub fn parse(text: impl Into<String>) -> Result<Self, CommandError> {
        let text = text.into();
        if text.len() > MAX_COMMAND_BYTES {
            return Err(CommandError::TooLong { bytes: text.len() });
        }
        if text.as_bytes().contains(&0) {
            return Err(CommandError::Nul);
        }
        Ok(Self { text })
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when there is nothing to run: nothing but spaces, tabs and newlines.
    pub fn is_blank(&self) -> bool {
        self.text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }
}

impl fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandLine({} bytes)", self.text.len())
    }
}

/// A SHA-256 digest, shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The raw 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest as hexadecimal digits.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// Lower-case hexadecimal digits of some bytes.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes that an even number of hexadecimal digits spell, or `None` for any other text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let nibble = |c: u8| char::from(c).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| if let [high, low] = pair { Some(nibble(*high)? << 4 | nibble(*low)?) } else { None }).collect()
}

/// True for a SHA-256 digest in lower-case hexadecimal digits, as `sha256sum` prints it.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_over_the_limit_is_refused_with_advice() {
        let error = CommandLine::parse("x".repeat(MAX_COMMAND_BYTES + 1)).unwrap_err();
        assert_eq!(error, CommandError::TooLong { bytes: MAX_COMMAND_BYTES + 1 });
        assert!(error.help().contains("file"));
        assert!(CommandLine::parse("x".repeat(MAX_COMMAND_BYTES)).is_ok());
    }

    #[test]
    fn a_nul_byte_is_refused() {
        assert_eq!(CommandLine::parse("ls\0x"), Err(CommandError::Nul));
    }

    #[test]
    fn debug_shows_a_length_and_not_the_text() {
        let command = CommandLine::parse("echo hunter2").unwrap();
        assert_eq!(format!("{command:?}"), "CommandLine(12 bytes)");
    }

    #[test]
    fn hex_and_back() {
        assert_eq!(unhex(&hex(&[0, 1, 254, 255])), Some(vec![0, 1, 254, 255]));
        for bad in ["0", "zz", "0g", "é"] {
            assert_eq!(unhex(bad), None, "{bad}");
        }
    }
}
