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
    /// No script of awk leads out of it.
    AwkStaysInside,
    /// No name begins with a dash.
    NamesAreNoOptions,
    /// `xargs` takes no name apart.
    NamesArePlain,
    /// A path leads where it says.
    PathsHaveNoLinks,
    /// No secret lies below a folder.
    FoldersHoldNoSecrets,
    /// Only a secret is what is called like one.
    LinksHaveNoSecrets,
    /// Settings of git name no programs.
    GitIsInert,
    /// No commit holds a secret.
    GitShowsAnything,
    /// Nothing that is written acts later.
    NothingActsLater,
    /// No variable changes what a program does.
    VariablesAreData,
    /// No program starts another one by what a file is.
    NothingStartsOthers,
    /// A folder that is named can be entered.
    FoldersAreThere,
    /// The environment holds no secret.
    EnvironmentIsPublic,
    /// No script of sed leads out of it.
    SedStaysInside,
    /// No pattern stands for a secret.
    PatternsNameNoSecrets,
    /// No program is a script.
    ProgramsAreNative,
}

/// True where the bugs are built in. What is handed out must not have them.
pub const BUILT_IN: bool = cfg!(feature = "planted-bug");

#[cfg(feature = "planted-bug")]
impl Bug {
    /// Every one.
    pub const ALL: [Self; 19] = [
        Self::BackticksAreText,
        Self::DeclarationsAreData,
        Self::NamesHoldNumbers,
        Self::AwkStaysInside,
        Self::NamesAreNoOptions,
        Self::NamesArePlain,
        Self::PathsHaveNoLinks,
        Self::FoldersHoldNoSecrets,
        Self::LinksHaveNoSecrets,
        Self::GitIsInert,
        Self::GitShowsAnything,
        Self::NothingActsLater,
        Self::VariablesAreData,
        Self::NothingStartsOthers,
        Self::FoldersAreThere,
        Self::EnvironmentIsPublic,
        Self::SedStaysInside,
        Self::PatternsNameNoSecrets,
        Self::ProgramsAreNative,
    ];

    /// True for one that only shows in a world that somebody has shaped.
    pub const fn needs_a_world(self) -> bool {
        !matches!(self, Self::BackticksAreText | Self::DeclarationsAreData | Self::NamesHoldNumbers)
    }
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

    /// True while this thread has the bug.
    pub fn has(bug: Bug) -> bool {
        ON.get() == Some(bug)
    }
}

#[cfg(not(feature = "planted-bug"))]
mod switch {
    /// True while this thread has the bug: never.
    pub const fn has(_: super::Bug) -> bool {
        false
    }
}

pub use switch::has;
#[cfg(feature = "planted-bug")]
pub use switch::with;
