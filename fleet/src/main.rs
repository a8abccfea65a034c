//! `bashgate-fleet`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    bashgate_fleet::cli::main()
}
