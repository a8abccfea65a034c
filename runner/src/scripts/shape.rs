//! What a script is apart from how its values are quoted: a list of tokens that is the same before and after quoting.

use std::collections::BTreeMap;
use std::fmt::Debug;

use bashgate_shared::shell::visit::{Visit, inside};
use bashgate_shared::shell::{
    Arithmetic, Assignment, Compound, Condition, Document, Form, Function, Piece, Redirect, RedirectTarget, Script,
    Simple, Step, Variable, Word,
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

impl<'d, N: Fn(&str) -> Option<usize>> Visit<'d> for Walk<N> {
    fn script(&mut self, script: &'d Script) {
        self.structure(&("script", script.steps.len()));
        inside::script(self, script);
    }

    fn step(&mut self, step: &'d Step) {
        self.structure(&(step.join, step.background, step.negated, step.pipeline.len()));
        inside::step(self, step);
    }

    fn simple(&mut self, simple: &'d Simple) {
        self.structure(&("simple", simple.assignments.len(), simple.words.len()));
        inside::simple(self, simple);
    }

    fn compound(&mut self, compound: &'d Compound) {
        self.structure(&(compound.kind, &compound.variable, compound.words.len(), compound.scripts.len()));
        inside::compound(self, compound);
    }

    fn function(&mut self, function: &'d Function) {
        self.structure(&("function", &function.name));
        inside::function(self, function);
    }

    fn condition(&mut self, condition: &'d Condition) {
        self.structure(&("condition", &condition.numbers, &condition.names));
        inside::condition(self, condition);
    }

    fn assignment(&mut self, assignment: &'d Assignment) {
        self.structure(&("assignment", &assignment.name, assignment.elements.as_ref().map(Vec::len)));
        inside::assignment(self, assignment);
    }

    fn redirect(&mut self, redirect: &'d Redirect) {
        self.structure(&("redirect", redirect.writes, redirect.reads, redirect.other_input));
        match &redirect.target {
            RedirectTarget::Path(_) | RedirectTarget::Text(_) => {}
            RedirectTarget::Descriptor => self.structure(&"descriptor"),
            RedirectTarget::Here(id) => self.structure(id),
        }
        inside::redirect(self, redirect);
    }

    fn word(&mut self, word: &'d Word) {
        inside::word(self, word);
        self.shape.tokens.push(Token::End);
    }

    fn piece(&mut self, piece: &'d Piece) {
        match piece {
            Piece::Text { text, quoted } => self.text(text, *quoted),
            Piece::Substitution { quoted, .. } => self.structure(&("substitution", quoted)),
            Piece::Process { .. } => self.structure(&"process"),
            Piece::Glob(glob) => self.structure(&("glob", glob)),
            Piece::Brace => self.structure(&"brace"),
            Piece::Tilde => self.structure(&"tilde"),
            Piece::Variable(_) | Piece::Number(_) => {}
        }
        inside::piece(self, piece);
    }

    fn variable(&mut self, variable: &'d Variable) {
        if let (Some(at), Form::Plain) = ((self.number)(&variable.name), &variable.form) {
            let place = if variable.quoted { Place::Quoted } else { Place::Bare };
            self.hole(at, place);
            return;
        }
        self.structure(&("variable", &variable.name, variable.quoted, &variable.arithmetic));
        match &variable.form {
            Form::With(_) => self.structure(&"with"),
            Form::Assigned(_) => self.structure(&"assigned"),
            form @ (Form::Plain | Form::Elements | Form::Altered) => self.structure(form),
        }
        if let Some(word) = variable.operand() {
            self.word(word);
        }
    }

    fn arithmetic(&mut self, arithmetic: &'d Arithmetic) {
        self.structure(arithmetic);
    }
}
