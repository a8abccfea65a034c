//! The strict reader: one pass from left to right, recursive descent with a limited depth.
//!
//! INVARIANT: every byte is consumed by exactly one rule, or the whole text is refused. Nothing is skipped, so what
//! the tree holds is all that can run. The grammar is that of the bash manual; where bash, dash and zsh read a text
//! differently and the shell is not known to be bash, the text is refused too.

mod arithmetic;
mod blanks;
mod commands;
mod compounds;
mod conditions;
mod expansions;
mod lists;
mod redirects;
mod words;

use super::syntax::{Document, Span, Word};

/// Longest text that is read, in bytes. A longer command is never Safe.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Deepest nesting of compound commands and substitutions.
pub const MAX_DEPTH: usize = 16;
/// Most words, redirections and commands of one text.
pub const MAX_NODES: usize = 20_000;

/// The shell that will read the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shell {
    /// bash, not interactive.
    #[default]
    Bash,
    /// Some other shell: only what bash, dash and zsh read alike is accepted.
    Other,
}

impl Shell {
    /// The one that a configuration names; bash where it names none.
    pub fn configured(name: Option<&str>) -> Self {
        match name {
            None | Some("bash") => Self::Bash,
            Some(_) => Self::Other,
        }
    }
}

/// Why a text was not understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{trouble} at byte {at}")]
pub struct NotUnderstood {
    /// What stands there.
    pub trouble: Trouble,
    /// Byte offset in the text.
    pub at: usize,
}

/// What the reader does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The text is over [`MAX_TEXT_BYTES`].
    #[error("text longer than {MAX_TEXT_BYTES} bytes")]
    TooLong,
    /// Nesting over [`MAX_DEPTH`].
    #[error("nesting deeper than {MAX_DEPTH}")]
    TooDeep,
    /// More parts than [`MAX_NODES`].
    #[error("more than {MAX_NODES} parts")]
    TooManyParts,
    /// Not a sentence of the grammar.
    #[error("a syntax error ({0})")]
    Syntax(&'static str),
    /// Valid shell, but outside of what the reader takes.
    #[error("{0}, which is not read")]
    Unsupported(&'static str),
    /// Read differently by bash, dash and zsh, and the shell is not known to be bash.
    #[error("{0}, which shells read differently")]
    ShellsDisagree(&'static str),
}

type Read<T> = Result<T, NotUnderstood>;

/// Reads a text as the given shell would, or says why it cannot.
pub fn read(text: &str, shell: Shell) -> Read<Document> {
    let mut reader = Reader::new(text, shell);
    if text.len() > MAX_TEXT_BYTES {
        return reader.fail(Trouble::TooLong);
    }
    let script = reader.list(Until::End)?;
    if reader.peek().is_some() {
        return reader.fail(Trouble::Syntax("text after the end"));
    }
    reader.no_open_here_document()?;
    Ok(Document { script, bodies: reader.bodies, comments: reader.comments })
}

/// Where a list ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Parenthesis,
    Words(&'static [&'static str]),
    CaseArm,
}

const CLOSING: &[&str] = &["then", "elif", "else", "fi", "do", "done", "esac", "in", "}", "]]"];

struct PendingHere {
    id: usize,
    delimiter: String,
    expands: bool,
    strip_tabs: bool,
    depth: usize,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    shell: Shell,
    depth: usize,
    nodes: usize,
    pending: Vec<PendingHere>,
    bodies: Vec<Word>,
    comments: Vec<Span>,
    /// The innermost `$(…)` or `<(…)`: its depth, and how many here-documents there were before it.
    substitution: Option<(usize, usize)>,
    /// Inside the regular expression of `[[ x =~ … ]]`, where a parenthesis belongs to the word.
    in_expression: bool,
    /// Set in the copy of a backtick substitution or here-document: its offsets mean nothing outside.
    outer: Option<Span>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, shell: Shell) -> Self {
        Self {
            text,
            at: 0,
            shell,
            depth: 0,
            nodes: 0,
            pending: Vec::new(),
            bodies: Vec::new(),
            comments: Vec::new(),
            substitution: None,
            in_expression: false,
            outer: None,
        }
    }

    // Looking and moving.

    fn ahead(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    fn starts_with(&self, what: &str) -> bool {
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    fn take(&mut self, what: &str) -> bool {
        let found = self.starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn slice(&self, start: usize, end: usize) -> Read<&'a str> {
        self.text.get(start..end).map_or_else(|| self.fail(Trouble::Syntax("a broken character")), Ok)
    }

    fn fail<T>(&self, trouble: Trouble) -> Read<T> {
        Err(NotUnderstood { trouble, at: self.outer.map_or(self.at, |span| span.start) })
    }

    fn span(&self, start: usize) -> Span {
        self.outer.unwrap_or(Span { start, end: self.at })
    }

    fn count(&mut self) -> Read<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES { self.fail(Trouble::TooManyParts) } else { Ok(()) }
    }

    fn only_bash(&self, what: &'static str) -> Read<()> {
        match self.shell {
            Shell::Bash => Ok(()),
            Shell::Other => self.fail(Trouble::ShellsDisagree(what)),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return self.fail(Trouble::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads an unescaped copy of a part of the text with a reader of its own, which shares limits and bodies.
    fn copy<T>(&mut self, text: &str, span: Span, inner: impl FnOnce(&mut Reader<'_>) -> Read<T>) -> Read<T> {
        self.nested(|outer| {
            let mut reader = Reader {
                text,
                at: 0,
                shell: outer.shell,
                depth: outer.depth,
                nodes: outer.nodes,
                pending: Vec::new(),
                bodies: std::mem::take(&mut outer.bodies),
                comments: Vec::new(),
                substitution: None,
                in_expression: false,
                outer: Some(span),
            };
            let result = inner(&mut reader);
            outer.nodes = reader.nodes;
            outer.bodies = reader.bodies;
            result
        })
    }
}
