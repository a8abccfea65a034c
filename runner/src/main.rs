//! `bashgate-run`: see the library. Started with `inner`, it is the innermost process of a sandbox.

use std::process::ExitCode;

// A hook that skips rules on purpose is for tests, whose builds are not optimised.
const _: () =
    assert!(!bashgate_shared::planted::BUILT_IN || cfg!(debug_assertions), "built with the bugs of the tests");

fn main() -> ExitCode {
    // Before anything else is looked at: inside of a sandbox there is no command line but this.
    if std::env::args_os().nth(1).is_some_and(|first| first == bashgate_run::inner::ARGUMENT) {
        return bashgate_run::inner::main();
    }
    let mut arguments = std::env::args().skip(1);
    if arguments.next().is_some_and(|first| first == bashgate_run::doctor::PROBE) {
        return bashgate_run::doctor::probe(arguments);
    }
    // Nothing here needs what the caller happened to have open, and a job in the background would keep it open.
    bashgate_run::inner::kernel::close_inherited();
    bashgate_run::cli::main()
}
