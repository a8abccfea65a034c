//! Why a command fails, and how that is said.

use std::process::ExitCode;

use bashgate_shared::say_aside;

use crate::config::ConfigError;

/// Why a command of the command line fails.
pub enum Failure {
    /// A run that failed.
    Failed {
        /// What happened.
        error: String,
        /// Why.
        cause: Option<String>,
        /// What to do.
        help: String,
    },
    /// Refused or denied.
    Refused(String),
    /// Called wrongly.
    Usage(String),
}

impl Failure {
    /// A run that failed, and what to do.
    pub fn failed(error: impl std::fmt::Display, help: impl Into<String>) -> Self {
        Self::Failed { error: error.to_string(), cause: None, help: help.into() }
    }

    /// The same by an error, whose source is the cause.
    pub fn of(error: &(dyn std::error::Error + 'static), help: impl Into<String>) -> Self {
        let cause = error.source().map(ToString::to_string);
        Self::Failed { error: error.to_string(), cause, help: help.into() }
    }

    /// Says it on standard error: the exit code.
    pub fn print(&self) -> ExitCode {
        match self {
            Self::Failed { error, cause, help } => {
                say_aside!("error: {error}");
                if let Some(cause) = cause {
                    say_aside!("cause: {cause}");
                }
                say_aside!("help: {help}");
                ExitCode::from(1)
            }
            Self::Refused(why) => {
                say_aside!("refused: {why}");
                ExitCode::from(2)
            }
            Self::Usage(why) => {
                say_aside!("error: {why}");
                ExitCode::from(64)
            }
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::of(&error, error.help())
    }
}

/// What a command comes to.
pub type Run = Result<(), Failure>;
