//! `bashgate`: the sidecar on the host and its command line. See the library.

use std::process::ExitCode;

// A hook that skips rules on purpose is for tests, whose builds are not optimised.
const _: () =
    assert!(!bashgate_shared::planted::BUILT_IN || cfg!(debug_assertions), "built with the bugs of the tests");

fn main() -> ExitCode {
    bashgate::cli::main()
}
