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
    /// Its comments, in order, as the shell takes them. Not those inside of backticks and here-documents.
    pub comments: Vec<Span>,
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

impl Script {
    /// The words of its only command, where it is one and nothing but words.
    pub fn as_plain_call(&self) -> Option<&[Word]> {
        let [step] = self.steps.as_slice() else { return None };
        let [command] = step.pipeline.as_slice() else { return None };
        let plain = command.as_simple().filter(|simple| simple.assignments.is_empty() && simple.redirects.is_empty());
        plain.map(|simple| simple.words.as_slice())
    }

    /// One command and nothing else.
    pub(super) fn of(command: Command) -> Self {
        let step = Step { join: Join::Then, background: false, negated: false, pipeline: vec![command] };
        Self { steps: vec![step] }
    }
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
    /// Scripts inside a group, a loop and the like.
    Compound(Compound),
    /// The definition of a function.
    Function(Function),
    /// `[[ … ]]`.
    Condition(Condition),
    /// `(( … ))`.
    Calculation(Calculation),
}

impl Command {
    /// Its redirections, where it is a simple command or a construct with scripts in it.
    pub fn redirects(&self) -> &[Redirect] {
        match self {
            Self::Simple(simple) => &simple.redirects,
            Self::Compound(compound) => &compound.redirects,
            Self::Function(_) | Self::Condition(_) | Self::Calculation(_) => &[],
        }
    }

    /// The command, if it is a simple one.
    pub fn as_simple(&self) -> Option<&Simple> {
        if let Self::Simple(simple) = self { Some(simple) } else { None }
    }

    /// The definition, if it is one of a function.
    pub fn as_function(&self) -> Option<&Function> {
        if let Self::Function(function) = self { Some(function) } else { None }
    }
}

/// The definition of a function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What a call runs.
    pub body: Box<Command>,
    /// Where it stands.
    pub span: Span,
}

/// `(( … ))`.
#[derive(Debug)]
pub struct Calculation {
    /// The expression.
    pub expression: Arithmetic,
    /// Redirections of the whole.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub span: Span,
}

/// Scripts inside a group, subshell, `if`, loop, `case`, `select` or `coproc`.
#[derive(Debug)]
pub struct Compound {
    /// What it is.
    pub kind: CompoundKind,
    /// The variable of a `for` loop or a `select`.
    pub variable: Option<String>,
    /// The words of a `for` loop or a `case`, patterns included.
    pub words: Vec<Word>,
    /// The expressions of `for ((…;…;…))`.
    pub expressions: Vec<Arithmetic>,
    /// Conditions and bodies, in the order of the text.
    pub scripts: Vec<Script>,
    /// Redirections of the whole.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub span: Span,
}

/// Which compound command it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompoundKind {
    /// `{ …; }`.
    Group,
    /// `( … )`.
    Subshell,
    /// `if`.
    If,
    /// `while` or `until`.
    While,
    /// `for … in`.
    For,
    /// `for … do`, over the positional parameters.
    ForArguments,
    /// `for (( … ))`.
    ForArithmetic,
    /// `select`.
    Select,
    /// `case`.
    Case,
    /// `coproc`.
    Coproc,
}

impl CompoundKind {
    /// True for loops: the scripts may run many times.
    pub fn repeats(self) -> bool {
        matches!(self, Self::While | Self::For | Self::ForArguments | Self::ForArithmetic | Self::Select)
    }
}

/// `[[ … ]]`: its operands, which are neither split nor matched against files.
#[derive(Debug)]
pub struct Condition {
    /// All operands, in order.
    pub words: Vec<Word>,
    /// Indices into `words`: operands that are evaluated as arithmetic (`-eq` and the like).
    pub numbers: Vec<usize>,
    /// Indices into `words`: operands that name a variable (`-v`, `-R`).
    pub names: Vec<usize>,
    /// Redirections of the whole.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub span: Span,
}

/// An arithmetic expression: what in it the shell evaluates again.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// Variables whose value is evaluated as an expression of its own, subscripts and all.
    pub names: Vec<String>,
    /// Variables that are set, to a number.
    pub assigned: Vec<String>,
    /// True when evaluating it may be an error, which ends the whole line for the shell.
    pub may_fail: bool,
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

/// `name=value`, `name+=value` or `name=(value …)`.
#[derive(Debug)]
pub struct Assignment {
    /// The variable; ends in `+` where the value is added.
    pub name: String,
    /// What it is set to; empty for an array.
    pub value: Word,
    /// The elements of an array.
    pub elements: Option<Vec<Word>>,
}

/// True for the name of a variable without a subscript.
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// One redirection.
#[derive(Debug)]
pub struct Redirect {
    /// True when the file is opened for writing.
    pub writes: bool,
    /// True when the file, or another descriptor, is opened for reading.
    pub reads: bool,
    /// True when a file is opened for reading, or a text is there to be read, under another number than standard input's.
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
    Variable(Variable),
    /// `$(…)` or backticks.
    Substitution {
        /// What runs.
        script: Script,
        /// True inside double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// What runs.
        script: Script,
        /// True for `>(…)`: what is written to it, it reads.
        receives: bool,
    },
    /// `$((…))` or `${#name}`: digits, perhaps with a minus sign.
    Number(Arithmetic),
}

/// The expansion of a variable.
#[derive(Debug)]
pub struct Variable {
    /// The variable, or the character of a special parameter.
    pub name: String,
    /// True inside double quotes.
    pub quoted: bool,
    /// How its value is changed on the way.
    pub form: Form,
    /// The index of an array's element, the offset or the length of a substring.
    pub arithmetic: Arithmetic,
}

/// What stands behind the name in `${name…}`.
#[derive(Debug)]
pub enum Form {
    /// Nothing: the value as it is.
    Plain,
    /// All elements of an array as words of their own: `${name[@]}`, `$@`.
    Elements,
    /// A part of the value, or the value in another spelling.
    Altered,
    /// `${name:-word}`, `${name#word}` and the like.
    With(Word),
    /// `${name:=word}`, which sets the variable.
    Assigned(Word),
}

impl Variable {
    /// The variable that stands behind a tilde with this between it and a slash: `~+` is the working directory, `~-` the one before,
    /// and a number one of those that were pushed. `None` for the home folder, somebody's, or no folder at all.
    pub fn behind_tilde(prefix: &str) -> Option<Self> {
        let number = prefix.strip_prefix(['+', '-']).unwrap_or(prefix);
        let name = match prefix {
            "+" => "PWD",
            "-" => "OLDPWD",
            _ if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => "DIRSTACK",
            _ => return None,
        };
        // What it stands for is neither divided nor taken for a pattern.
        Some(Self { name: name.to_owned(), quoted: true, form: Form::Plain, arithmetic: Arithmetic::default() })
    }

    /// The word behind the operator, if there is one.
    pub fn operand(&self) -> Option<&Word> {
        match &self.form {
            Form::With(word) | Form::Assigned(word) => Some(word),
            Form::Plain | Form::Elements | Form::Altered => None,
        }
    }
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
        self.pieces.iter().any(|piece| match piece {
            Piece::Substitution { quoted, .. } => !quoted,
            Piece::Variable(variable) => {
                !variable.quoted
                    || matches!(variable.form, Form::Elements)
                    || variable.operand().is_some_and(Self::splits)
            }
            _ => false,
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
