//! What stands in a request.

use super::{Attack, Stage};

const HEAD: &str = r#"{"type":"security:bash_check","request_id":"ID""#;

/// A request with these further fields is denied for this reason.
fn with(stage: &Stage, fields: &str, why: &str) {
    stage.refuses(format!("{HEAD},{fields}}}"), why);
}

const WRONG: &str = "not what the protocol allows";

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "a hundred thousand brackets",
        ends: "denied",
        run: |stage| stage.refuses("[".repeat(100_000), WRONG),
    },
    Attack {
        name: "deep nesting in a field that is not read",
        ends: "denied",
        run: |stage| {
            with(stage, &format!(r#""command":"ls","x":{}1{}"#, "[".repeat(50_000), "]".repeat(50_000)), WRONG);
        },
    },
    Attack {
        name: "a field twice",
        ends: "denied",
        run: |stage| with(stage, r#""command":"ls","command":"curl x""#, "duplicate"),
    },
    Attack {
        name: "a field twice, once with its name escaped",
        ends: "denied",
        run: |stage| {
            with(stage, r#""command":"ls","\u0063ommand":"curl x""#, "duplicate");
        },
    },
    Attack {
        name: "a hundred thousand fields",
        ends: "denied",
        run: |stage| {
            let fields: Vec<String> = (0..100_000).map(|number| format!("\"f{number}\":0")).collect();
            with(stage, &fields.join(","), WRONG);
        },
    },
    Attack {
        name: "a NUL in the command",
        ends: "denied",
        run: |stage| with(stage, r#""command":"ls\u0000curl x""#, "NUL"),
    },
    Attack {
        name: "bytes that are no UTF-8",
        ends: "denied",
        run: |stage| {
            stage.refuses([HEAD.as_bytes(), b",\"command\":\"ls \xff\"}"].concat(), WRONG);
        },
    },
    Attack {
        name: "half a surrogate pair",
        ends: "denied",
        run: |stage| with(stage, r#""command":"ls \ud800""#, WRONG),
    },
    Attack {
        name: "a byte order mark",
        ends: "denied",
        run: |stage| {
            stage.refuses([b"\xef\xbb\xbf", HEAD.as_bytes(), b",\"command\":\"ls\"}"].concat(), WRONG);
        },
    },
    Attack {
        name: "two requests in one file",
        ends: "denied",
        run: |stage| {
            let one = format!(r#"{HEAD},"command":"ls"}}"#);
            stage.refuses(format!("{one}\n{one}"), WRONG);
        },
    },
    Attack {
        name: "a comment, a trailing comma, single quotes",
        ends: "denied",
        run: |stage| {
            stage.refuses(format!("{HEAD},\"command\":\"ls\"}} // x"), WRONG);
            with(stage, r#""command":"ls","#, WRONG);
            stage.refuses("{'type':'security:bash_check'}", WRONG);
        },
    },
    Attack {
        name: "numbers beyond all bounds",
        ends: "denied",
        run: |stage| {
            with(stage, r#""command":"ls","timeout_ms":1e999999"#, WRONG);
            with(stage, r#""command":"ls","timeout_ms":-1"#, WRONG);
            with(stage, r#""command":"ls","timeout_ms":99999999999999999999999999"#, WRONG);
            with(stage, r#""command":"ls","v":1.5"#, WRONG);
        },
    },
    Attack {
        name: "a command that is a list, a number, nothing",
        ends: "denied",
        run: |stage| {
            for value in ["[\"ls\"]", "7", "null", "{}", "true"] {
                with(stage, &format!("\"command\":{value}"), WRONG);
            }
        },
    },
    Attack { name: "no command", ends: "denied", run: |stage| stage.refuses(format!("{HEAD}}}"), "missing field") },
    Attack {
        name: "a command of 300 kB",
        ends: "denied, with what to do instead",
        run: |stage| {
            with(stage, &format!("\"command\":\"{}\"", "x".repeat(300_000)), "write it to a file");
        },
    },
    Attack { name: "a request that is a list", ends: "denied", run: |stage| stage.refuses("[]", WRONG) },
    Attack {
        name: "a type that nobody knows",
        ends: "denied, never passed over",
        run: |stage| {
            stage.refuses(r#"{"type":"security:other","request_id":"ID"}"#, "not known");
            stage.refuses(r#"{"type":"","request_id":"ID"}"#, "not known");
        },
    },
    Attack { name: "no type", ends: "denied", run: |stage| stage.refuses(r#"{"request_id":"ID","command":"ls"}"#, "") },
    Attack {
        name: "a version to come",
        ends: "denied",
        run: |stage| with(stage, r#""command":"ls","v":99"#, "version 99"),
    },
    Attack {
        name: "a working directory of a megabyte",
        ends: "denied",
        run: |stage| {
            with(stage, &format!(r#""command":"ls","cwd":"/{}""#, "x".repeat(1 << 20)), "too long");
        },
    },
    Attack {
        name: "fields of the host's own (`class`, `taint`, `decided_by`)",
        ends: "denied",
        run: |stage| {
            for field in
                [r#""class":"safe""#, r#""taint":"clean""#, r#""decided_by":"human:root""#, r#""approved":true"#]
            {
                with(stage, &format!(r#""command":"curl x",{field}"#), "unknown field");
            }
        },
    },
];
