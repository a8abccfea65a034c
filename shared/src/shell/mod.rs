//! Bash text into a syntax we trust.
//!
//! [`read`] accepts a text only when it accounts for every byte of it by a rule of bash's grammar that it implements
//! completely. It never skips, recovers or guesses: what it does not understand is an error, [`NotUnderstood`], and a
//! command that is not understood is never Safe. Time is linear in the text, nesting is limited to [`MAX_DEPTH`].
//!
//! What is accepted: lists (`;`, newline, `&`, `&&`, `||`), pipelines, `!`, simple commands with assignments and
//! redirections, here-documents and here-strings, groups, subshells, `if`, `while`, `until`, `for … in`, `case`,
//! comments, line continuations, all quotings, `$name`, the harmless forms of `${…}`, command and process
//! substitution, arithmetic on numbers, globs, braces and tildes.
//!
//! What is left out on purpose, because it can run code from data or because shells disagree on it: functions,
//! `select`, `coproc`, `[[ ]]`, `(( ))`, arrays, arithmetic on names, `${x@…}`, `${!x}`, `$"…"`, extended globs,
//! control characters and unquoted text outside ASCII.

mod quoting;
mod reader;
mod syntax;

pub use reader::{MAX_DEPTH, MAX_NODES, MAX_TEXT_BYTES, NotUnderstood, Shell, Trouble, read};
pub use syntax::{
    Assignment, Command, Document, HereId, Join, Piece, Redirect, RedirectTarget, Script, Simple, Span, Step, Word,
};
