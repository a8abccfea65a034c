//! What a script is apart from how its values are quoted: a list of tokens that is the same before and after quoting.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bashgate_shared::shell::{
    Arithmetic, Assignment, Command, Document, Form, Piece, Redirect, RedirectTarget, Script, Variable, Word,
};

/// How the text around a place is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Not at all.
    Bare,
    /// So that variables are expanded and kept whole.
    Quoted,
    /// So that nothing is expanded.
    Literal,
}

impl Place {
    /// A reference to a variable that keeps its value whole here.
    pub(super) fn reference(self, name: &str) -> String {
        match self {
            Self::Bare => format!("\"${{{name}}}\""),
            Self::Quoted => format!("${{{name}}}"),
            Self::Literal => format!("'\"${{{name}}}\"'"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// The structure around words.
    Structure(String),
    /// Text, and whether it is quoted.
    Text(String, bool),
    /// The place of a value.
    Hole(usize),
    /// The end of a word.
    End,
}

/// A script's tokens, and where its values stand.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub tokens: Vec<Token>,
    pub places: BTreeMap<usize, Place>,
}

struct Walk<N> {
    shape: Shape,
    number: N,
}

impl Shape {
    /// Looks at all of a document. `number` says which place a variable's name stands for.
    pub(super) fn of(document: &Document, number: impl Fn(&str) -> Option<usize>) -> Self {
        let mut walk = Walk { shape: Self::default(), number };
        walk.script(&document.script);
        document.bodies.iter().for_each(|body| walk.word(body));
        walk.shape
    }
}

impl<N: Fn(&str) -> Option<usize>> Walk<N> {
    fn structure(&mut self, what: &dyn Debug) {
        self.shape.tokens.push(Token::Structure(format!("{what:?}")));
    }

    fn script(&mut self, script: &Script) {
        self.structure(&("script", script.steps.len()));
        for step in &script.steps {
            self.structure(&(step.join, step.background, step.negated, step.pipeline.len()));
            step.pipeline.iter().for_each(|command| self.command(command));
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => {
                self.structure(&("simple", simple.assignments.len(), simple.words.len()));
                simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
                simple.words.iter().for_each(|word| self.word(word));
                self.redirects(&simple.redirects);
            }
            Command::Compound(compound) => {
                self.structure(&(compound.kind, &compound.variable, compound.words.len(), compound.scripts.len()));
                compound.words.iter().for_each(|word| self.word(word));
                compound.expressions.iter().for_each(|expression| self.arithmetic(expression));
                compound.scripts.iter().for_each(|script| self.script(script));
                self.redirects(&compound.redirects);
            }
            Command::Function { name, body, .. } => {
                self.structure(&("function", name));
                self.command(body);
            }
            Command::Condition(condition) => {
                self.structure(&("condition", &condition.numbers, &condition.names));
                condition.words.iter().for_each(|word| self.word(word));
                self.redirects(&condition.redirects);
            }
            Command::Arithmetic { expression, redirects, .. } => {
                self.arithmetic(expression);
                self.redirects(redirects);
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.structure(&("assignment", &assignment.name, assignment.elements.as_ref().map(Vec::len)));
        self.word(&assignment.value);
        assignment.elements.iter().flatten().for_each(|word| self.word(word));
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            self.structure(&("redirect", redirect.writes, redirect.reads, redirect.other_input));
            match &redirect.target {
                RedirectTarget::Path(word) | RedirectTarget::Text(word) => self.word(word),
                RedirectTarget::Descriptor => self.structure(&"descriptor"),
                RedirectTarget::Here(id) => self.structure(id),
            }
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        self.structure(arithmetic);
    }

    fn word(&mut self, word: &Word) {
        word.pieces.iter().for_each(|piece| self.piece(piece));
        self.shape.tokens.push(Token::End);
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text { text, quoted } => self.text(text, *quoted),
            Piece::Variable(variable) => self.variable(variable),
            Piece::Substitution { script, quoted } => {
                self.structure(&("substitution", quoted));
                self.script(script);
            }
            Piece::Process(script) => {
                self.structure(&"process");
                self.script(script);
            }
            Piece::Number(arithmetic) => self.arithmetic(arithmetic),
            Piece::Glob(glob) => self.structure(&("glob", glob)),
            Piece::Brace => self.structure(&"brace"),
            Piece::Tilde => self.structure(&"tilde"),
        }
    }

    fn variable(&mut self, variable: &Variable) {
        if let (Some(at), Form::Plain) = ((self.number)(&variable.name), &variable.form) {
            let place = if variable.quoted { Place::Quoted } else { Place::Bare };
            self.hole(at, place);
            return;
        }
        self.structure(&("variable", &variable.name, variable.quoted, &variable.arithmetic));
        match &variable.form {
            Form::With(word) => {
                self.structure(&"with");
                self.word(word);
            }
            Form::Assigned(word) => {
                self.structure(&"assigned");
                self.word(word);
            }
            form @ (Form::Plain | Form::Elements | Form::Altered) => self.structure(form),
        }
    }

    fn hole(&mut self, at: usize, place: Place) {
        // A place that stands in the text once and in the tree twice is nothing that can be quoted.
        if self.shape.places.insert(at, place).is_some() {
            self.structure(&("twice", at, self.shape.tokens.len()));
        }
        self.shape.tokens.push(Token::Hole(at));
    }

    /// Quoted text may hold places that the shell does not see.
    fn text(&mut self, text: &str, quoted: bool) {
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let hole = behind.split_once('}').and_then(|(name, after)| Some(((self.number)(name)?, after)));
            self.plain(before, quoted);
            rest = if let Some((at, after)) = hole.filter(|_| quoted) {
                self.hole(at, Place::Literal);
                after
            } else {
                self.plain("${", quoted);
                behind
            };
        }
        self.plain(rest, quoted);
    }

    /// Neighbouring texts are one; an empty one says nothing beside a place.
    fn plain(&mut self, text: &str, quoted: bool) {
        match self.shape.tokens.last_mut() {
            Some(Token::Text(before, was)) if *was == quoted => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.shape.tokens.push(Token::Text(text.to_owned(), quoted)),
        }
    }
}
