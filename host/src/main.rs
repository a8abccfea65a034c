//! `bashgate`: the sidecar on the host and its command line. See the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    bashgate::cli::main()
}
