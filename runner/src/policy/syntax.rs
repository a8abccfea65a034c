//! What a preset wants to know of a command's syntax.

use bashgate_shared::shell::visit::{Visit, inside};
use bashgate_shared::shell::{
    Arithmetic, Assignment, Compound, Document, Form, Piece, Redirect, RedirectTarget, Script, Simple, Variable, Word,
};

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// `$(…)`, backticks, `<(…)` or `>(…)`.
    pub substitutes: bool,
    /// A program whose name is only known when it runs.
    pub hides_program: bool,
    /// Each simple command's words, patterns and variables as they are spelled.
    pub spelled: Vec<Vec<String>>,
    /// Where redirections write; `None` where that is only known when it runs.
    pub written: Vec<Option<String>>,
    /// Variables that it sets by syntax, before a command or by themselves.
    pub assigned: Vec<String>,
}

/// Looks at all of a document, here-documents too.
pub(super) fn look(document: &Document) -> Seen {
    let mut seen = Seen::default();
    seen.script(&document.script);
    document.bodies.iter().for_each(|body| seen.word(body));
    seen
}

impl<'d> Visit<'d> for Seen {
    fn simple(&mut self, simple: &'d Simple) {
        self.hides_program |= simple.words.first().is_some_and(|word| word.literal().is_none());
        self.spelled.push(simple.words.iter().map(spelling).collect());
        inside::simple(self, simple);
    }

    fn assignment(&mut self, assignment: &'d Assignment) {
        self.assigned.push(assignment.name.trim_end_matches('+').to_owned());
        inside::assignment(self, assignment);
    }

    fn compound(&mut self, compound: &'d Compound) {
        self.assigned.extend(compound.variable.clone());
        inside::compound(self, compound);
    }

    fn variable(&mut self, variable: &'d Variable) {
        if matches!(variable.form, Form::Assigned(_)) {
            self.assigned.push(variable.name.clone());
        }
        inside::variable(self, variable);
    }

    fn arithmetic(&mut self, expression: &'d Arithmetic) {
        self.assigned.extend(expression.assigned.iter().cloned());
    }

    fn redirect(&mut self, redirect: &'d Redirect) {
        inside::redirect(self, redirect);
        if let RedirectTarget::Path(word) = &redirect.target
            && redirect.writes
        {
            self.written.push(word.literal().map(std::borrow::Cow::into_owned));
        }
    }

    fn substitution(&mut self, script: &'d Script) {
        self.substitutes = true;
        self.script(script);
    }

    fn process(&mut self, script: &'d Script, _receives: bool) {
        self.substitution(script);
    }
}

/// A word with its patterns and variables as they are written; what is only known when it runs becomes `?`.
fn spelling(word: &Word) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text { text, .. } => text.clone(),
        Piece::Glob(glob) => glob.to_string(),
        Piece::Tilde => "~".to_owned(),
        Piece::Variable(variable) if matches!(variable.form, Form::Plain) => format!("${}", variable.name),
        _ => "?".to_owned(),
    };
    word.pieces.iter().map(piece).collect()
}
