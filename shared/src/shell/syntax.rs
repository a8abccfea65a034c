//! The tree that [`read`](super::read) makes. It holds what bash would run, after quote removal, and nothing else:
//! a name here is the name that bash looks up.

use std::borrow::Cow;

/// A range of bytes in the text that was read.
///
/// Parts of a backtick substitution carry the range of the whole substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A whole text: its script and the bodies of its here-documents.
#[derive(Debug, Default)]
pub struct Document {
    /// What runs.
    pub script: Script,
    /// Bodies of here-documents; a [`RedirectTarget::Here`] points into it.
    pub bodies: Vec<Word>,
}

impl Document {
    /// The body of a here-document.
    pub fn body(&self, id: HereId) -> Option<&Word> {
        self.bodies.get(id.0)
    }
}

/// Names the body of one here-document of a [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HereId(pub(super) usize);

/// A list of pipelines, in order.
#[derive(Debug, Default)]
pub struct Script {
    /// The pipelines.
    pub steps: Vec<Step>,
}

/// One pipeline of a list.
#[derive(Debug)]
pub struct Step {
    /// How it hangs on the step before.
    pub join: Join,
    /// True when the list runs in the background (`&`).
    pub background: bool,
    /// True after `!`.
    pub negated: bool,
    /// The commands between the `|` signs; never empty.
    pub pipeline: Vec<Command>,
}

/// How a step hangs on the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// First in its list, or after `;`, `&` or a newline.
    Then,
    /// After `&&`.
    And,
    /// After `||`.
    Or,
}

/// One command of a pipeline.
#[derive(Debug)]
pub enum Command {
    /// Words, assignments and redirections.
    Simple(Simple),
    /// Scripts inside a group, subshell, `if`, `while`, `until`, `for` or `case`.
    Compound {
        /// The variable of a `for` loop.
        variable: Option<String>,
        /// The words of a `for` loop or a `case`, patterns included.
        words: Vec<Word>,
        /// Conditions and bodies, in the order of the text.
        scripts: Vec<Script>,
        /// True for loops: the scripts may run many times.
        repeats: bool,
        /// Redirections of the whole.
        redirects: Vec<Redirect>,
        /// Where it stands.
        span: Span,
    },
}

/// A simple command.
#[derive(Debug)]
pub struct Simple {
    /// Assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The command's name and its arguments; may be empty.
    pub words: Vec<Word>,
    /// Redirections, in order.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub span: Span,
}

/// `name=value` or `name+=value`.
#[derive(Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it is set to.
    pub value: Word,
}

/// One redirection.
#[derive(Debug)]
pub struct Redirect {
    /// True when the file is opened for writing.
    pub writes: bool,
    /// True when the file is opened for reading.
    pub reads: bool,
    /// True when a file is opened for reading under another number than standard input's.
    pub other_input: bool,
    /// What it opens.
    pub target: RedirectTarget,
}

/// What a redirection opens.
#[derive(Debug)]
pub enum RedirectTarget {
    /// A path.
    Path(Word),
    /// Another descriptor (`2>&1`), or a closed one (`>&-`).
    Descriptor,
    /// The text of a here-string.
    Text(Word),
    /// The body of a here-document.
    Here(HereId),
}

/// One word before expansion.
#[derive(Debug, Default)]
pub struct Word {
    /// Its pieces, in order. An empty quoted word has one empty text.
    pub pieces: Vec<Piece>,
    /// Where it stands.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug)]
pub enum Piece {
    /// Text that stands for itself, after quote removal.
    Text {
        /// The text.
        text: String,
        /// True when it was quoted in any way.
        quoted: bool,
    },
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// An unquoted `{` that may start a brace expansion.
    Brace,
    /// An unquoted `~` where the shell expands it; the user's name, if any, follows as text.
    Tilde,
    /// `$name`, `${name}` or a form of `${…}` that expands to text made from the variable.
    Variable {
        /// The variable, or the character of a special parameter.
        name: String,
        /// True inside double quotes: one word whatever the value.
        quoted: bool,
        /// The word of `${name:-word}` and the like.
        operand: Option<Word>,
    },
    /// `$(…)` or backticks.
    Substitution {
        /// What runs.
        script: Script,
        /// True inside double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`.
    Process(Script),
    /// `$((…))` on numbers, or `${#name}`: digits, perhaps with a minus sign.
    Number,
}

impl Word {
    /// The word's value when the shell expands nothing in it.
    ///
    /// A leading tilde counts as text, so that `~/x` is the literal `~/x`: whoever reads a path knows what it means.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        match self.pieces.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [Piece::Text { text, .. }] => Some(Cow::Borrowed(text)),
            pieces => {
                let (prefix, whole) = prefix(pieces);
                whole.then_some(Cow::Owned(prefix))
            }
        }
    }

    /// The literal text before the first expansion.
    pub fn literal_prefix(&self) -> String {
        prefix(&self.pieces).0
    }

    /// The literal text behind the last expansion.
    pub fn literal_suffix(&self) -> &str {
        match self.pieces.last() {
            Some(Piece::Text { text, .. }) => text,
            _ => "",
        }
    }

    /// True when the shell may make this word any number of words with any text, not only of its own prefix.
    pub fn splits(&self) -> bool {
        self.pieces.iter().any(|piece| {
            matches!(piece, Piece::Variable { quoted: false, .. } | Piece::Substitution { quoted: false, .. })
                || matches!(piece, Piece::Variable { name, .. } if name == "@")
                || matches!(piece, Piece::Variable { operand: Some(operand), .. } if operand.splits())
        })
    }

    /// The name of a reserved word that this word would be in command position: all of it unquoted text.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}

/// The text up to the first expansion, and whether that is all. Only a tilde that comes first counts as text.
fn prefix(pieces: &[Piece]) -> (String, bool) {
    let mut out = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text { text, .. } => out.push_str(text),
            Piece::Tilde if index == 0 => out.push('~'),
            _ => return (out, false),
        }
    }
    (out, true)
}
