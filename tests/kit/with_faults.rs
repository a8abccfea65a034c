//! `bashgate` that dies or fails where `FAILPOINTS` says so.

fn main() -> std::process::ExitCode {
    bashgate::fault::set_up();
    bashgate::cli::main()
}
