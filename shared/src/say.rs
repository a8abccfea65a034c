//! What a command line says to whoever reads its output.

/// As `println!`, but a reader that has gone away is no reason to panic: `… | head -1` has seen enough.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{}\n", format_args!($($text)*)));
    }};
}

/// As [`say!`](macro@crate::say), without a new line.
#[macro_export]
macro_rules! say_part {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!($($text)*));
        let _ = std::io::Write::flush(&mut std::io::stdout());
    }};
}

/// As [`say!`](macro@crate::say), to standard error.
#[macro_export]
macro_rules! say_aside {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($text)*)));
    }};
}
