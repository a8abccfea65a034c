//! Names in the mailbox that are not those of requests.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::{Attack, Stage, command};

/// A file of this name is never opened: nothing comes of it, and it stays.
fn is_passed_over(stage: &Stage, name: &[u8]) {
    let path = stage.requests().join(OsStr::from_bytes(name));
    let before = stage.answers();
    std::fs::write(&path, command("00000000-0000-4000-8000-0000000000ff", "ls").to_string()).unwrap();
    stage.nothing_comes();
    assert_eq!(stage.answers(), before);
    assert!(path.exists());
    std::fs::remove_file(path).unwrap();
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "a name that is no UTF-8",
        ends: "passed over",
        run: |stage| is_passed_over(stage, b"\xff\xfe-\x80.json"),
    },
    Attack {
        name: "a name of 255 bytes",
        ends: "passed over",
        run: |stage| is_passed_over(stage, &[&[b'a'; 250][..], b".json"].concat()),
    },
    Attack { name: "a name of dots", ends: "passed over", run: |stage| is_passed_over(stage, b"..json") },
    Attack {
        name: "a name with an encoded way out (`..%2f..%2fetc`)",
        ends: "passed over",
        run: |stage| {
            is_passed_over(stage, b"..%2f..%2fetc%2fpasswd.json");
        },
    },
    Attack {
        name: "an id in capital letters",
        ends: "passed over",
        run: |stage| is_passed_over(stage, b"ABCDEF00-0000-4000-8000-000000000001.json"),
    },
    Attack {
        name: "an id without dashes, or in braces",
        ends: "passed over",
        run: |stage| {
            is_passed_over(stage, b"00000000000040008000000000000001.json");
            is_passed_over(stage, b"{00000000-0000-4000-8000-000000000001}.json");
        },
    },
    Attack {
        name: "an id with a line break or an escape in it",
        ends: "passed over",
        run: |stage| {
            is_passed_over(stage, b"00000000-0000-4000-8000-00000000000\n.json");
            is_passed_over(stage, b"\x1b[31m00000000-0000-4000-8000-000000000001.json");
        },
    },
    Attack {
        name: "an id with the ending of a temporary file",
        ends: "passed over",
        run: |stage| {
            is_passed_over(stage, b"00000000-0000-4000-8000-000000000001.json.tmp");
            is_passed_over(stage, b".00000000-0000-4000-8000-000000000001.tmp");
        },
    },
    Attack {
        name: "a heartbeat among the requests",
        ends: "passed over",
        run: |stage| is_passed_over(stage, b"heartbeat.json"),
    },
    Attack {
        name: "the name of a host's option (`--config`)",
        ends: "passed over",
        run: |stage| is_passed_over(stage, b"--config"),
    },
];
