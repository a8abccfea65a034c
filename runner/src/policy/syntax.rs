//! What a preset wants to know of a command's syntax.

use bashgate_shared::shell::{Assignment, Command, Document, Form, Piece, Redirect, RedirectTarget, Script, Word};

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
}

/// Looks at all of a document, here-documents too.
pub(super) fn look(document: &Document) -> Seen {
    let mut seen = Seen::default();
    seen.script(&document.script);
    document.bodies.iter().for_each(|body| seen.word(body));
    seen
}

impl Seen {
    fn script(&mut self, script: &Script) {
        script.steps.iter().flat_map(|step| &step.pipeline).for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => {
                simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
                self.hides_program |= simple.words.first().is_some_and(|word| word.literal().is_none());
                self.spelled.push(simple.words.iter().map(spelling).collect());
                simple.words.iter().for_each(|word| self.word(word));
                self.redirects(&simple.redirects);
            }
            Command::Compound(compound) => {
                compound.words.iter().for_each(|word| self.word(word));
                compound.scripts.iter().for_each(|script| self.script(script));
                self.redirects(&compound.redirects);
            }
            Command::Function { body, .. } => self.command(body),
            Command::Condition(condition) => {
                condition.words.iter().for_each(|word| self.word(word));
                self.redirects(&condition.redirects);
            }
            Command::Arithmetic { redirects, .. } => self.redirects(redirects),
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.word(&assignment.value);
        assignment.elements.iter().flatten().for_each(|word| self.word(word));
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Path(word) => {
                    self.word(word);
                    if redirect.writes {
                        self.written.push(word.literal().map(std::borrow::Cow::into_owned));
                    }
                }
                RedirectTarget::Text(word) => self.word(word),
                RedirectTarget::Descriptor | RedirectTarget::Here(_) => {}
            }
        }
    }

    fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Substitution { script, .. } | Piece::Process(script) => {
                    self.substitutes = true;
                    self.script(script);
                }
                Piece::Variable(variable) => match &variable.form {
                    Form::With(word) | Form::Assigned(word) => self.word(word),
                    Form::Plain | Form::Elements | Form::Altered => {}
                },
                Piece::Text { .. } | Piece::Glob(_) | Piece::Brace | Piece::Tilde | Piece::Number(_) => {}
            }
        }
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
