//! A bug for tests: whoever checks the reader against a real shell must see that the check can fail.
//!
//! Only with the feature `planted-bug`, which nothing but the tests turns on; without it this is a constant `false`.

#[cfg(feature = "planted-bug")]
mod switch {
    use std::cell::Cell;

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs something while the reader of this thread takes backticks for text.
    pub fn with_backticks_as_text<T>(what: impl FnOnce() -> T) -> T {
        ON.set(true);
        let result = what();
        ON.set(false);
        result
    }

    pub(in crate::shell) fn backticks_are_text() -> bool {
        ON.get()
    }
}

#[cfg(not(feature = "planted-bug"))]
mod switch {
    pub(in crate::shell) const fn backticks_are_text() -> bool {
        false
    }
}

#[cfg(feature = "planted-bug")]
pub use switch::with_backticks_as_text;

pub(super) use switch::backticks_are_text;
