//! Bugs for tests: whoever checks what is said here against real shells must see that the check can fail.
//!
//! Only with the feature `planted-bug`, which nothing but the tests turns on; without it each is a constant `false`.

/// A rule that does not know a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The reader takes backticks for text.
    BackticksAreText,
    /// What a declaration is given is data, also in parentheses.
    DeclarationsAreData,
    /// A name in an expression holds a number.
    NamesHoldNumbers,
}

#[cfg(feature = "planted-bug")]
impl Bug {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::BackticksAreText, Self::DeclarationsAreData, Self::NamesHoldNumbers];
}

#[cfg(feature = "planted-bug")]
mod switch {
    use std::cell::Cell;

    use super::Bug;

    thread_local! {
        static ON: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Does something while this thread has the bug.
    pub fn with<T>(bug: Bug, what: impl FnOnce() -> T) -> T {
        ON.set(Some(bug));
        let result = what();
        ON.set(None);
        result
    }

    pub(crate) fn has(bug: Bug) -> bool {
        ON.get() == Some(bug)
    }
}

#[cfg(not(feature = "planted-bug"))]
mod switch {
    pub(crate) const fn has(_: super::Bug) -> bool {
        false
    }
}

pub(crate) use switch::has;
#[cfg(feature = "planted-bug")]
pub use switch::with;
