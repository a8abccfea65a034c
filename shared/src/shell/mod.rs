//! Bash text into a syntax we trust.
//!
//! [`read`] accepts a text only when it accounts for every byte of it by a rule of bash's grammar that it implements
//! completely. It never skips, recovers or guesses: what it does not understand is an error, [`NotUnderstood`], and a
//! command that is not understood is never Safe. Time is linear in the text, nesting is limited to [`MAX_DEPTH`].
//!
//! What is accepted: lists (`;`, newline, `&`, `&&`, `||`), pipelines, `!`, `time`, simple commands with assignments,
//! arrays and redirections, here-documents and here-strings, groups, subshells, functions, `if`, `while`, `until`,
//! `for` in its three forms, `select`, `case`, `coproc`, `[[ ]]`, `(( ))`, comments, line continuations, all quotings,
//! `$name`, the forms of `${…}` that evaluate nothing, command and process substitution, arithmetic on numbers and
//! names, globs, braces and tildes.
//!
//! What is left out on purpose, because it runs code from data or because shells disagree on it: `${x@P}`, `${!x}`,
//! arithmetic with subscripts or with the output of commands, elements of arrays with keys, `$"…"`, `$[…]`, extended
//! globs, control characters outside of quotes.

mod quoting;
mod reader;
mod syntax;
pub mod visit;

pub use quoting::{joined, quoted};
pub use reader::{MAX_DEPTH, MAX_NODES, MAX_TEXT_BYTES, NotUnderstood, Shell, Trouble, read};
pub use syntax::{
    Arithmetic, Assignment, Calculation, Command, Compound, CompoundKind, Condition, Document, Form, Function, HereId,
    Join, Piece, Redirect, RedirectTarget, Script, Simple, Span, Step, Variable, Word, is_name,
};

/// Words that the shell itself understands where a command begins.
pub const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "in", "while", "until", "for", "select",
    "function", "coproc", "time", "{", "}", "[[", "]]", "!",
];
