//! Names and layout of a mailbox: the two folders that a container and the host share.
//!
//! ```text
//! <mailboxes>/<workspace>/requests/<id>.json    written by the container: temporary name, then rename
//! <mailboxes>/<workspace>/responses/<id>.json   written by the host: temporary name, then rename
//! <mailboxes>/<workspace>/responses/heartbeat.json
//! <mailboxes>/<workspace>/responses/programs.json   the operator's own programs, where there are any
//! ```
//! Names are never used twice. Each side deletes only what is its own to delete; absence means nothing.

use crate::protocol::RequestId;

/// The folder that the container writes.
pub const REQUESTS: &str = "requests";
/// The folder that the host writes; mounted read-only in the container.
pub const RESPONSES: &str = "responses";
/// Where the folder of a workspace's way out is mounted in its container, beside the mailbox.
pub const EGRESS: &str = "/run/bashgate/egress";
/// The host's socket in that folder.
pub const EGRESS_SOCKET: &str = "proxy.sock";
/// First byte of a connection to it by which a run asks for what goes with an answer; behind it stand the answer's id and the SHA-256 of the
/// command in hexadecimal digits. The host says a line of JSON, and takes the run for over when this connection is.
pub const EGRESS_PRESENTS: u8 = 1;
/// First byte of a connection of that run; behind it stands the answer's id, and then what any client says to a proxy.
pub const EGRESS_CONNECTS: u8 = 2;
/// The host's sign of life.
pub const HEARTBEAT: &str = "heartbeat.json";
/// The operator's own programs, checked and signed.
pub const PROGRAMS: &str = "programs.jsonl";
/// Largest file of that name, in bytes.
pub const MAX_PROGRAMS_BYTES: u64 = 1024 * 1024;
/// Largest request file, in bytes.
pub const MAX_REQUEST_BYTES: u64 = 2 * 1024 * 1024;
/// Largest response file, in bytes.
pub const MAX_RESPONSE_BYTES: u64 = 256 * 1024;
/// How often the host writes its heartbeat, in milliseconds.
pub const HEARTBEAT_MS: u64 = 500;

/// The name of the file of a request or of its response.
pub fn file_name(id: &RequestId) -> String {
    format!("{id}.json")
}

/// The name under which a file is written before it is renamed. It starts with a dot and is never read.
pub fn temporary_name(id: &RequestId) -> String {
    format!(".{id}.tmp")
}

/// What a name in `requests/` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A request.
    Request(RequestId),
    /// A file that is still being written, by its name.
    Temporary,
    /// Neither: it is never opened.
    Stray,
}

/// Tells what a file name in `requests/` is.
pub fn name(text: &str) -> Name {
    if text.starts_with('.') {
        return Name::Temporary;
    }
    text.strip_suffix(".json").and_then(RequestId::parse).map_or(Name::Stray, Name::Request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_names_are_requests() {
        let id = RequestId::parse("2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b").unwrap();
        assert_eq!(name(&file_name(&id)), Name::Request(id.clone()));
        assert_eq!(name(&temporary_name(&id)), Name::Temporary);
        for stray in [
            "x.json",
            "2f1c7d1e-0a4b-4c8e-9b1d-5a6f7e8d9c0b",
            "2F1C7D1E-0A4B-4C8E-9B1D-5A6F7E8D9C0B.json",
            "heartbeat.json",
        ] {
            assert_eq!(name(stray), Name::Stray, "{stray}");
        }
    }
}
