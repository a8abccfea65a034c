//! One walk over the syntax, for everybody who looks at all of it. Each method sees one kind of node and, left alone, visits
//! what is in it, in the order of the text; whoever says more overrides one and goes on with the function of the same name.
//!
//! Nobody else takes commands apart: a new kind of node is handled here, and wherever a method for it has to say something.

use super::syntax::{
    Arithmetic, Assignment, Calculation, Command, Compound, Condition, Function, Piece, Redirect, RedirectTarget,
    Script, Simple, Step, Variable, Word,
};

/// Sees every node of a text.
///
/// Bodies of here-documents are no part of the tree: [`Document::bodies`](super::Document::bodies) has them.
pub trait Visit<'d> {
    /// A list of pipelines.
    fn script(&mut self, script: &'d Script) {
        inside::script(self, script);
    }

    /// One pipeline.
    fn step(&mut self, step: &'d Step) {
        inside::step(self, step);
    }

    /// A command of any kind.
    fn command(&mut self, command: &'d Command) {
        inside::command(self, command);
    }

    /// Words, assignments and redirections.
    fn simple(&mut self, simple: &'d Simple) {
        inside::simple(self, simple);
    }

    /// Scripts inside a group, a loop and the like.
    fn compound(&mut self, compound: &'d Compound) {
        inside::compound(self, compound);
    }

    /// The definition of a function.
    fn function(&mut self, function: &'d Function) {
        inside::function(self, function);
    }

    /// `[[ … ]]`.
    fn condition(&mut self, condition: &'d Condition) {
        inside::condition(self, condition);
    }

    /// `(( … ))`.
    fn calculation(&mut self, calculation: &'d Calculation) {
        inside::calculation(self, calculation);
    }

    /// `name=value`.
    fn assignment(&mut self, assignment: &'d Assignment) {
        inside::assignment(self, assignment);
    }

    /// A redirection.
    fn redirect(&mut self, redirect: &'d Redirect) {
        inside::redirect(self, redirect);
    }

    /// A word.
    fn word(&mut self, word: &'d Word) {
        inside::word(self, word);
    }

    /// A piece of a word.
    fn piece(&mut self, piece: &'d Piece) {
        inside::piece(self, piece);
    }

    /// The script of `$(…)` or backticks.
    fn substitution(&mut self, script: &'d Script) {
        self.script(script);
    }

    /// The script of `<(…)`, or of `>(…)`, which receives what is written to it.
    fn process(&mut self, script: &'d Script, _receives: bool) {
        self.script(script);
    }

    /// The expansion of a variable.
    fn variable(&mut self, variable: &'d Variable) {
        inside::variable(self, variable);
    }

    /// An expression. It has no nodes.
    fn arithmetic(&mut self, _: &'d Arithmetic) {}
}

/// What is in each node, in the order of the text.
pub mod inside {
    use super::{
        Arithmetic, Assignment, Calculation, Command, Compound, Condition, Function, Piece, Redirect, RedirectTarget,
        Script, Simple, Step, Variable, Visit, Word,
    };

    /// The steps of a list.
    pub fn script<'d>(visit: &mut (impl Visit<'d> + ?Sized), script: &'d Script) {
        script.steps.iter().for_each(|step| visit.step(step));
    }

    /// The commands of a pipeline.
    pub fn step<'d>(visit: &mut (impl Visit<'d> + ?Sized), step: &'d Step) {
        step.pipeline.iter().for_each(|command| visit.command(command));
    }

    /// The command, as what it is.
    pub fn command<'d>(visit: &mut (impl Visit<'d> + ?Sized), command: &'d Command) {
        match command {
            Command::Simple(simple) => visit.simple(simple),
            Command::Compound(compound) => visit.compound(compound),
            Command::Function(function) => visit.function(function),
            Command::Condition(condition) => visit.condition(condition),
            Command::Calculation(calculation) => visit.calculation(calculation),
        }
    }

    /// Assignments, words and redirections.
    pub fn simple<'d>(visit: &mut (impl Visit<'d> + ?Sized), simple: &'d Simple) {
        simple.assignments.iter().for_each(|assignment| visit.assignment(assignment));
        simple.words.iter().for_each(|word| visit.word(word));
        simple.redirects.iter().for_each(|redirect| visit.redirect(redirect));
    }

    /// Words, expressions, scripts and redirections.
    pub fn compound<'d>(visit: &mut (impl Visit<'d> + ?Sized), compound: &'d Compound) {
        compound.words.iter().for_each(|word| visit.word(word));
        compound.expressions.iter().for_each(|expression: &Arithmetic| visit.arithmetic(expression));
        compound.scripts.iter().for_each(|script| visit.script(script));
        compound.redirects.iter().for_each(|redirect| visit.redirect(redirect));
    }

    /// The body.
    pub fn function<'d>(visit: &mut (impl Visit<'d> + ?Sized), function: &'d Function) {
        visit.command(&function.body);
    }

    /// Operands and redirections.
    pub fn condition<'d>(visit: &mut (impl Visit<'d> + ?Sized), condition: &'d Condition) {
        condition.words.iter().for_each(|word| visit.word(word));
        condition.redirects.iter().for_each(|redirect| visit.redirect(redirect));
    }

    /// The expression and redirections.
    pub fn calculation<'d>(visit: &mut (impl Visit<'d> + ?Sized), calculation: &'d Calculation) {
        visit.arithmetic(&calculation.expression);
        calculation.redirects.iter().for_each(|redirect| visit.redirect(redirect));
    }

    /// The value and the elements.
    pub fn assignment<'d>(visit: &mut (impl Visit<'d> + ?Sized), assignment: &'d Assignment) {
        visit.word(&assignment.value);
        assignment.elements.iter().flatten().for_each(|word| visit.word(word));
    }

    /// The word behind the sign.
    pub fn redirect<'d>(visit: &mut (impl Visit<'d> + ?Sized), redirect: &'d Redirect) {
        match &redirect.target {
            RedirectTarget::Path(word) | RedirectTarget::Text(word) => visit.word(word),
            RedirectTarget::Descriptor | RedirectTarget::Here(_) => {}
        }
    }

    /// The pieces.
    pub fn word<'d>(visit: &mut (impl Visit<'d> + ?Sized), word: &'d Word) {
        word.pieces.iter().for_each(|piece| visit.piece(piece));
    }

    /// The script, the variable or the expression.
    pub fn piece<'d>(visit: &mut (impl Visit<'d> + ?Sized), piece: &'d Piece) {
        match piece {
            Piece::Substitution { script, .. } => visit.substitution(script),
            Piece::Process { script, receives } => visit.process(script, *receives),
            Piece::Variable(variable) => visit.variable(variable),
            Piece::Number(arithmetic) => visit.arithmetic(arithmetic),
            Piece::Text { .. } | Piece::Glob(_) | Piece::Brace | Piece::Tilde => {}
        }
    }

    /// The expression and the operand.
    pub fn variable<'d>(visit: &mut (impl Visit<'d> + ?Sized), variable: &'d Variable) {
        visit.arithmetic(&variable.arithmetic);
        if let Some(word) = variable.operand() {
            visit.word(word);
        }
    }
}
