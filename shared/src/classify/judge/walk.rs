//! The walk: every node of the syntax is visited once, every function's body once more for each call of it.

use std::borrow::Cow;

use super::bound::Mark;
use super::effects::asks_remote;
use super::flow::Times;
use super::folders::Folder;
use super::values::{self, Functions, Value};
use super::{Content, Fed, Judge, Judgement, Names, ONLY_KNOWN_LATER, argv, begins, computed_argv};
use crate::classify::call::{Arg, Call, Known};
use crate::classify::effects::note;
use crate::classify::paths::{self, Zone};
use crate::classify::terminal::{self, Input};
use crate::classify::{COMPUTED, FUNCTION_CALL, dotenv, raw, secrets};
use crate::planted::{self, Bug};
use crate::programs::{self, Builtin, Kind, Runs, Trait, builtin_of};
use crate::shell::visit::{Visit, inside};
use crate::shell::{
    self, Arithmetic, Assignment, Calculation, Command, Compound, CompoundKind, Condition, Document, Function, Join,
    Piece, Redirect, RedirectTarget, Script, Shell, Simple, Span, Step, Variable, Word,
};

/// Most combinations of variables' values in which one call is judged.
const MAX_COMBINATIONS: usize = 32;

/// The text that a node's span points into, and what it defines.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub document: &'s Document,
    pub text: &'s str,
    pub functions: &'s Functions<'s>,
}

impl<'s> Source<'s> {
    fn slice(&self, span: Span) -> &'s str {
        self.text.get(span.start..span.end).unwrap_or("")
    }
}

/// True for `name[…]=…`, which is a pattern to whoever does not know arrays.
fn assigns_an_element(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let behind = word.split_once('[').filter(|(name, _)| shell::is_name(name)).map(|(_, behind)| behind);
    behind.is_some_and(|behind| behind.contains("]=") || behind.contains("]+="))
}

/// True for a redirection that another state of the folders would let fail: to a name in another folder than the one at hand, or from a file.
fn may_fail(redirect: &Redirect) -> bool {
    let RedirectTarget::Path(word) = &redirect.target else { return false };
    word.literal().is_none_or(|path| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        redirect.reads && path != "/dev/null" || !matches!(folder, "" | "." | "/tmp" | "/dev")
    })
}

/// What the end of a step says of files, and so whatever runs behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    /// Nothing: it ends in the same way whatever it meets.
    Alike,
    /// Whether a folder is there, or whether git could do something.
    ByState,
    /// What files hold.
    ByContent,
}

/// `wrote`: it writes files that its words name.
fn ends(step: &Step, wrote: bool) -> Ends {
    let [command] = step.pipeline.as_slice() else { return Ends::ByContent };
    let Some(simple) = command.as_simple() else { return Ends::ByContent };
    let words: Option<Vec<_>> = simple.words.iter().map(Word::literal).collect();
    // Nothing, or what is always there.
    let is_there = |redirect: &Redirect| match &redirect.target {
        RedirectTarget::Path(word) => word.literal().is_some_and(|path| path == "/dev/null"),
        _ => !redirect.writes,
    };
    let Some(words) = words.filter(|_| simple.redirects.iter().all(is_there)) else { return Ends::ByContent };
    let Some(program) = words.first() else {
        // It ends as the last of what its values run, or what it is fed.
        if simple.redirects.iter().any(|redirect| !matches!(redirect.target, RedirectTarget::Path(_))) {
            return Ends::ByContent;
        }
        let of_piece = |piece: &Piece| match piece {
            Piece::Text { .. } => Ends::Alike,
            Piece::Substitution { script, .. } => match script.steps.as_slice() {
                [step] => ends(step, true),
                _ => Ends::ByContent,
            },
            _ => Ends::ByContent,
        };
        let of_value = |one: &Assignment| match one.elements {
            Some(_) => Ends::ByContent,
            None => one.value.pieces.iter().map(of_piece).max().unwrap_or(Ends::Alike),
        };
        return simple.assignments.iter().map(of_value).max().unwrap_or(Ends::Alike);
    };
    let asks_others = || programs::row(program).is_some_and(|row| row.kind == programs::Kind::Network);
    match builtin_of(program) {
        Some(Builtin::Text | Builtin::Format) => return Ends::Alike,
        Some(Builtin::GoesTo) => return Ends::ByState,
        _ => {}
    }
    let of_git = || {
        let words: Vec<Option<&str>> = words.iter().skip(1).map(|word| Some(word.as_ref())).collect();
        programs::git_ends_by_state(&words)
    };
    // How a service answers says nothing of what is here, where nobody looks into the answer.
    if asks_others() {
        // What works on an answer before it is shown belongs to programs that sign in.
        let signs_in = !programs::is_git(program) && programs::row(program).is_some_and(|row| !row.signs_in.is_empty());
        let looks = |word: &Cow<'_, str>| {
            signs_in && ["-q", "--jq", "-t", "--template"].iter().any(|option| word.starts_with(option))
        };
        let into_file = |word: &Cow<'_, str>| match word.strip_prefix("--") {
            Some(long) => {
                ["output", "remote-name", "create", "directory"].iter().any(|option| long.starts_with(option))
            }
            None => word.starts_with('-') && word.contains(['o', 'O', 'J', 'P']),
        };
        return if wrote || words.iter().any(|word| looks(word) || into_file(word)) {
            Ends::ByState
        } else {
            Ends::Alike
        };
    }
    if programs::is_git(program) && of_git() { Ends::ByState } else { Ends::ByContent }
}

/// The name under which a function counts as bound. No variable has parentheses in its name.
fn function_key(name: &str) -> String {
    format!("{name}()")
}

/// A walk over one text, on behalf of a judge.
struct Walk<'j, 't, 's> {
    judge: &'j mut Judge<'t>,
    source: Source<'s>,
    /// What the words of the command at hand say about it.
    own: Judgement,
    /// The files that its redirections write.
    wrote: Vec<String>,
    /// It only asks whether the values of the variables in its words are empty.
    asks_if_empty: bool,
}

impl<'s> Walk<'_, '_, 's> {
    fn pipeline(&mut self, step: &'s Step, seen: &[Folder]) {
        let apart = step.pipeline.len() > 1 || step.background;
        let outside = self.judge.stdin;
        let names = self.judge.stdin_names.take();
        let piped = self.judge.piped.clone();
        self.judge.beside += usize::from(step.background);
        self.judge.effects.jobs += usize::from(step.background);
        self.judge.apart += usize::from(apart);
        let before = apart.then(|| self.judge.bound.mark());
        let input = self.judge.terminal.input;
        let last = step.pipeline.len().saturating_sub(1);
        let (mut has_group, mut asks) = (false, false);
        for (at, command) in step.pipeline.iter().enumerate() {
            self.judge.terminal.input.piped = input.piped || at < last;
            let fetched = self.judge.effects.untrusted.len();
            // Each member runs in a shell of its own.
            if let Some(bound) = before {
                self.judge.bound.back_to(bound);
            }
            // Whoever reads what a group of commands says may have heard enough before its end.
            let calls = |simple: &Simple| {
                let name = simple.words.first().and_then(Word::literal);
                name.is_some_and(|name| self.source.functions.contains_key(name.as_ref()))
            };
            let may_end = at < last && command.as_simple().is_none_or(calls);
            self.judge.flow.piped += usize::from(may_end);
            if asks && !is_filter(command) {
                self.judge.flow.is_up_to_files();
            }
            let outer = (has_group || asks).then(|| std::mem::take(&mut self.judge.effects.reads));
            let asked = self.judge.flow.asked();
            self.command(command);
            self.judge.flow.piped -= usize::from(may_end);
            if let Some(outer) = outer {
                let reads = &self.judge.effects.reads;
                if has_group && (!reads.is_empty() || self.judge.effects.reads_unknown) {
                    self.judge.flow.reads_group();
                }
                // One that asks page by page stops when nobody reads any more.
                let reads_more = reads.iter().any(|path| !is_an_amount(command, path));
                if asks && (reads_more || self.judge.effects.reads_unknown) {
                    self.judge.flow.is_up_to_files();
                }
                for path in std::mem::replace(&mut self.judge.effects.reads, outer) {
                    note(&mut self.judge.effects.reads, path);
                }
            }
            has_group |= may_end;
            asks |= self.judge.flow.asked() > asked;
            if self.judge.effects.untrusted.len() > fetched {
                self.judge.stdin = Fed::Fetched;
            }
            self.judge.stdin_names = self.judge.names_that_it_prints(command);
            self.judge.piped = command.as_simple().and_then(|simple| self.printed(simple));
            // What only passes on its terminal feeds nobody.
            self.judge.terminal.input.fed |= !command.as_simple().is_some_and(terminal::passes_on);
        }
        self.judge.terminal.input = input;
        self.judge.stdin_names = names;
        self.judge.piped = piped;
        self.judge.apart -= usize::from(apart);
        self.judge.beside -= usize::from(step.background);
        self.judge.stdin = outside;
        if let Some(bound) = before {
            self.judge.bound.back_to(bound);
        }
        if apart || step.negated {
            self.judge.also_in(seen);
        }
    }

    /// What a command prints whose words, or whose here-document, are literal.
    fn printed(&self, simple: &Simple) -> Option<String> {
        let name = simple.words.first().and_then(Word::literal)?;
        if matches!(builtin_of(&name), Some(Builtin::Text | Builtin::Format)) {
            let words: Option<Vec<_>> = simple.words.iter().skip(1).map(Word::literal).collect();
            return words.map(|words| words.join(" ").replace("\\n", "\n"));
        }
        let passes_on = programs::row(paths::file_name(&name)).is_some_and(|row| row.passes_on.is_some());
        passes_on.then(|| self.fed(simple)).flatten()
    }

    /// True where all that a command prints gives values to variables that steer nothing.
    fn prints_plain_variables(&self, simple: &Simple) -> bool {
        if !simple.redirects.iter().any(|redirect| redirect.writes) {
            return false;
        }
        let Some(name) = simple.words.first().and_then(Word::literal) else { return false };
        let prints_as_it_stands = match builtin_of(&name) {
            Some(Builtin::Text) => true,
            Some(Builtin::Format) => !self.source.slice(simple.span).contains('%'),
            _ => false,
        };
        prints_as_it_stands && self.printed(simple).is_some_and(|text| dotenv::is_plain(&text))
    }

    /// What a here-document or a here-string of a command says, where it is literal.
    fn fed(&self, simple: &Simple) -> Option<String> {
        // A file behind it takes its place, and under another number nobody reads it unasked.
        if simple.redirects.iter().any(|redirect| redirect.reads || redirect.other_input) {
            return None;
        }
        simple.redirects.iter().rev().find_map(|redirect| match &redirect.target {
            RedirectTarget::Text(word) => word.literal().map(std::borrow::Cow::into_owned),
            RedirectTarget::Here(id) => {
                self.source.document.body(*id).and_then(Word::literal).map(std::borrow::Cow::into_owned)
            }
            _ => None,
        })
    }

    fn call_of_function(&mut self, name: &str, bodies: &[&'s Command], text: &str, own: Judgement) {
        let mut judgement = own;
        if !self.judge.bound.contains(&function_key(name)) {
            judgement = judgement.max(Judgement::unknown(format!("the function `{name}` may not be defined here")));
        }
        if let Err(why) = self.judge.follow(1) {
            self.judge.add(text, FUNCTION_CALL, judgement.max(Judgement::unknown(why)));
            return;
        }
        self.judge.add(text, FUNCTION_CALL, judgement);
        self.judge.nested += 1;
        self.judge.depth += 1;
        let bound = self.judge.bound.mark();
        let outside = std::mem::replace(&mut self.judge.in_function, true);
        for body in bodies {
            self.command(body);
        }
        self.judge.in_function = outside;
        self.judge.bound.back_to(bound);
        self.judge.depth -= 1;
        self.judge.nested -= 1;
    }

    /// Redirections of one command: the files that they write.
    fn redirects(&mut self, redirects: &'s [Redirect]) -> Vec<String> {
        let outer = std::mem::take(&mut self.wrote);
        let other_input = |redirect: &Redirect| {
            redirect.reads && !redirect.other_input
                || matches!(redirect.target, RedirectTarget::Here(_) | RedirectTarget::Text(_))
        };
        if redirects.iter().any(other_input) {
            self.judge.stdin_names = None;
        }
        for redirect in redirects {
            self.redirect(redirect);
        }
        std::mem::replace(&mut self.wrote, outer)
    }

    /// A script inside of a word, with a shell of its own and the same input.
    fn nested(&mut self, script: &'s Script, beside: usize) {
        let judge = &mut *self.judge;
        let (folders, bound) = (judge.folders.clone(), judge.bound.mark());
        let names = judge.stdin_names.take();
        let input = judge.terminal.input;
        judge.terminal.input.piped = true;
        judge.depth += 1;
        judge.beside += beside;
        self.script(script);
        let judge = &mut *self.judge;
        judge.beside -= beside;
        judge.depth -= 1;
        judge.terminal.input = input;
        judge.stdin_names = names;
        judge.folders = folders;
        judge.bound.back_to(bound);
    }

    /// The shell may print each command with its values.
    fn may_trace(&self) -> bool {
        self.judge.nested > 0 || ["set -", "xtrace"].iter().any(|mark| self.source.text.contains(mark))
    }

    /// The command at hand is at least this.
    fn own_is(&mut self, judgement: Judgement) {
        let own = std::mem::replace(&mut self.own, Judgement::safe());
        self.own = own.max(judgement);
    }
}

impl<'s> Visit<'s> for Walk<'_, '_, 's> {
    fn command(&mut self, command: &'s Command) {
        let outer = self.judge.flow.list;
        // What it sets is set, or not.
        let sets = command.as_simple().is_none_or(|simple| simple.words.is_empty());
        let is_file = |redirect: &Redirect| matches!(&redirect.target, RedirectTarget::Path(word) if word.literal().is_none_or(|path| path != "/dev/null"));
        // It runs only where they can be made.
        if command.redirects().iter().any(|redirect| may_fail(redirect) || sets && is_file(redirect)) {
            self.judge.flow.list = Some(self.judge.flow.one_more_list());
            if sets {
                self.judge.flow.changes_shell();
            }
        }
        inside::command(self, command);
        self.judge.flow.list = outer;
    }

    fn script(&mut self, script: &'s Script) {
        let mut seen = self.judge.folders.clone();
        // True while the step at hand runs only if every step before it in its list succeeded.
        let mut certain = true;
        // What was set before the steps of this list that may not have run.
        let mut settled = None;
        // How the steps before it in its list have ended, and what that says of what was read.
        let (mut tells, mut by_state, mut ends_before, mut before) = (false, None, 0, None::<(&Step, bool)>);
        for step in &script.steps {
            let ended =
                before.filter(|_| step.join != Join::Then).map_or(Ends::Alike, |(step, wrote)| ends(step, wrote));
            tells = step.join != Join::Then && (tells || ended == Ends::ByContent);
            if step.join == Join::Then {
                (by_state, ends_before) = (None, 0);
            } else {
                ends_before += usize::from(ended == Ends::ByState);
                // Behind `||` the next one asks where the one before could not: each of several says something by itself.
                let is_other = by_state.is_some() && step.join == Join::Or;
                if is_other || by_state.is_none() && ended == Ends::ByState {
                    by_state = Some(self.judge.flow.one_more_list());
                }
            }
            let outer = self.judge.flow.list;
            self.judge.flow.list = by_state.or(outer);
            self.judge.flow.ends += ends_before;
            match step.join {
                Join::Then => certain = true,
                Join::Or => certain = false,
                Join::And => {}
            }
            if step.join == Join::And && certain {
                settled.get_or_insert_with(|| self.judge.bound.mark());
            } else {
                // An earlier `cd` may have failed or not have run, and so may what stood behind `&&`.
                self.judge.folders.clone_from(&seen);
                if let Some(bound) = settled.take() {
                    self.judge.bound.back_to(bound);
                }
                if step.join != Join::Then {
                    settled = Some(self.judge.bound.mark());
                }
            }
            let is_joined = usize::from(step.join != Join::Then);
            self.judge.flow.told += usize::from(tells);
            self.judge.flow.joined += is_joined;
            self.judge.step += usize::from(self.judge.depth == 0);
            let written = self.judge.effects.writes.len();
            self.pipeline(step, &seen);
            let wrote = self.judge.effects.writes.len() > written;
            self.judge.flow.joined -= is_joined;
            self.judge.flow.told -= usize::from(tells);
            self.judge.flow.list = outer;
            self.judge.flow.ends -= ends_before;
            before = Some((step, wrote));
            let now = std::mem::replace(&mut self.judge.folders, seen);
            self.judge.also_in(&now);
            seen = std::mem::replace(&mut self.judge.folders, now);
        }
        if let Some(bound) = settled {
            self.judge.bound.back_to(bound);
        }
        self.judge.folders = seen;
    }

    fn compound(&mut self, compound: &'s Compound) {
        let Compound { kind, variable, words, expressions, scripts, redirects, span } = compound;
        let text = self.source.slice(*span);
        let input = self.judge.terminal.input;
        self.judge.terminal.input.fed |= terminal::feeds(redirects);
        // What reads first may leave half a name to the next one.
        self.judge.stdin_names = None;
        let outer = std::mem::replace(&mut self.own, Judgement::safe());
        for word in words {
            self.word(word);
        }
        let bound = self.judge.bound.mark();
        for (index, expression) in expressions.iter().enumerate() {
            self.arithmetic(expression);
            // The first of `for ((…;…;…))` runs before anything else.
            if index == 0 && !expression.may_fail {
                self.judge.bound.extend(expression.assigned.iter().cloned());
            }
        }
        if let Some(name) = variable {
            self.judge.flow.changes_shell();
            let harm = self.judge.assignment_of(name, None);
            self.own_is(harm);
        }
        if *kind == CompoundKind::Coproc {
            self.judge.sets("COPROC");
        }
        self.redirects(redirects);
        let own = std::mem::replace(&mut self.own, outer);
        self.judge.add(text, kind.name(), own);
        let before = self.judge.folders.clone();
        if *kind == CompoundKind::For {
            self.judge.bound.extend(variable.clone());
            self.judge.named_by_patterns(words);
        }
        self.judge.depth += 1;
        let is_branch = !matches!(kind, CompoundKind::Group | CompoundKind::Subshell | CompoundKind::For);
        self.judge.flow.branches += usize::from(is_branch);
        // So often, or not at all, whatever stands behind it: that may be up to what was read.
        let is_counted = *kind == CompoundKind::For && words.iter().any(|word| word.literal().is_none());
        self.judge.flow.leaves_early += usize::from(is_branch || is_counted);
        self.judge.flow.rounds += usize::from(kind.repeats());
        let Times(times) = self.judge.flow.times;
        if kind.repeats() {
            let is_known = *kind == CompoundKind::For && words.iter().all(|word| word.literal().is_some());
            self.judge.flow.times = Times(if is_known { times.saturating_mul(words.len()) } else { usize::MAX });
        }
        self.judge.beside += usize::from(*kind == CompoundKind::Coproc);
        self.judge.effects.jobs += usize::from(*kind == CompoundKind::Coproc);
        for script in scripts {
            self.script(script);
            if *kind != CompoundKind::While {
                self.judge.forget_since(bound, *kind, variable.as_deref());
            }
        }
        self.judge.beside -= usize::from(*kind == CompoundKind::Coproc);
        self.judge.depth -= 1;
        self.judge.flow.branches -= usize::from(is_branch);
        self.judge.flow.rounds -= usize::from(kind.repeats());
        self.judge.flow.times = Times(times);
        if kind.repeats() && self.judge.folders != before {
            self.judge.add(text, kind.name(), Judgement::unknown("each round of the loop runs in another folder"));
        }
        // Where a redirection fails, nothing in it runs.
        if *kind != CompoundKind::Group || !redirects.is_empty() {
            self.judge.bound.back_to(bound);
        }
        self.judge.also_in(&before);
        self.judge.terminal.input = input;
    }

    fn function(&mut self, function: &'s Function) {
        self.judge.flow.changes_shell();
        let Function { name, body, span } = function;
        let text = self.source.slice(*span);
        let known = self.judge.row(name).is_some();
        let judgement = if known || name == "command_not_found_handle" || name.starts_with("bashgate") {
            Judgement::unknown(format!("a function takes the name of `{name}`"))
        } else {
            Judgement::safe()
        };
        self.judge.sets(&function_key(name));
        self.judge.add(text, "function", judgement);
        // It may be called from where this walk does not see it, so it counts here, too.
        let (folders, bound) = (self.judge.folders.clone(), self.judge.bound.mark());
        self.judge.depth += 1;
        let outside = std::mem::replace(&mut self.judge.in_function, true);
        self.command(body);
        self.judge.in_function = outside;
        self.judge.depth -= 1;
        self.judge.folders = folders;
        self.judge.bound.back_to(bound);
        if self.judge.values.keeps_functions() {
            self.judge.bound.insert(function_key(name));
        }
    }

    fn condition(&mut self, condition: &'s Condition) {
        let outer = std::mem::replace(&mut self.own, Judgement::safe());
        let text = self.source.slice(condition.span);
        let asks = ["[[ -n ", "[[ -z "].iter().any(|start| text.starts_with(start)) && condition.words.len() == 1;
        let is_plain = |piece: &Piece| matches!(piece, Piece::Variable(variable) if variable.is_plain());
        let plain = condition.words.iter().all(|word| word.pieces.iter().all(is_plain));
        self.asks_if_empty = asks && plain && !self.may_trace();
        for (index, word) in condition.words.iter().enumerate() {
            self.word(word);
            if condition.numbers.contains(&index) && !self.judge.is_number(word) {
                let reason =
                    "`[[` evaluates this operand as an expression, and what it holds is only known when it runs";
                self.judge.evaluates_any();
                self.own_is(Judgement::unknown(reason));
            }
            let named = condition.names.contains(&index);
            if named && !word.literal().is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
            {
                self.judge.evaluates_any();
                self.own_is(Judgement::unknown("`[[ -v` evaluates the subscript of a name"));
            }
        }
        self.asks_if_empty = false;
        self.redirects(&condition.redirects);
        let own = std::mem::replace(&mut self.own, outer);
        self.judge.add(text, "[[", own);
    }

    fn simple(&mut self, simple: &'s Simple) {
        let fetched_before = self.judge.effects.untrusted.len();
        let place = self.judge.parts.len();
        let outer = std::mem::replace(&mut self.own, Judgement::safe());
        let program = simple.words.first().and_then(Word::literal);
        let input = self.judge.terminal.input;
        // What these are given is run.
        self.judge.terminal.input.as_code |= program.as_deref().is_some_and(terminal::runs_its_words);
        if simple.words.is_empty() && !simple.assignments.is_empty() {
            self.judge.flow.changes_shell();
        }
        for assignment in &simple.assignments {
            // In front of a command, it steers that command alone.
            let is_open = assignment.elements.is_some() || assignment.value.literal().is_none();
            if !simple.words.is_empty() {
                self.judge.named_by_value(&assignment.value.literal_prefix());
                if is_open {
                    self.judge.flow.is_up_to_files();
                }
            } else if is_open {
                self.judge.flow.opens();
            }
            self.word(&assignment.value);
            for word in assignment.elements.iter().flatten() {
                self.word(word);
            }
            // `IFS= read` splits the one line that it reads.
            if assignment.name == "IFS" && program.as_deref() == Some("read") {
                self.judge.sets(&assignment.name);
            } else {
                let value = assignment.value.literal().filter(|_| assignment.elements.is_none());
                let harm = self.judge.assignment_of(&assignment.name, value.as_deref());
                self.own_is(harm);
            }
        }
        self.asks_if_empty = asks_if_empty(simple) && !self.may_trace();
        for word in &simple.words {
            self.word(word);
        }
        self.asks_if_empty = false;
        self.judge.terminal.input = input;
        if input.as_code && !input.fed && terminal::passes_on(simple) {
            self.judge.terminal.find(program.as_deref().unwrap_or_default());
        }
        let fetched_in_words = self.judge.effects.untrusted.len() > fetched_before;
        if self.prints_plain_variables(simple) {
            self.judge.content = Content::PlainVariables;
        }
        let wrote = self.redirects(&simple.redirects);
        self.judge.content = Content::Anything;
        let judgement = std::mem::replace(&mut self.own, outer);
        let fed = self.fed(simple);
        let text = self.source.slice(simple.span);
        self.judge.place_of_part = Some(place);
        let Some(first) = simple.words.first() else {
            let rule = if simple.assignments.is_empty() { "redirection" } else { "assignment" };
            self.judge.add(text, rule, judgement);
            // Where a redirection fails, nothing is set.
            if simple.redirects.is_empty() {
                self.judge.bound.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
            }
            return;
        };
        let Some(program) = program.map(std::borrow::Cow::into_owned) else {
            let is_pattern = first.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_) | Piece::Brace))
                && !assigns_an_element(text);
            let input = Input { fed: input.fed || terminal::feeds(&simple.redirects), ..input };
            let fed = fed.or_else(|| self.judge.piped.clone());
            for args in self.judge.arguments(simple.words.get(1..).unwrap_or(&[]), self.source) {
                self.judge.terminal.unknown_program(&args, input);
                let call = Call { program: String::new(), args, fetched_in_words, fed: fed.clone() };
                let computed = self.judge.computed(&call, &first.literal_prefix(), is_pattern, text);
                let words = (computed_argv(&call), begins(&call));
                self.judge.add_call(text, COMPUTED, judgement.clone().max(computed), words);
            }
            return;
        };
        if let Some(bodies) = self.source.functions.get(program.as_str()) {
            self.judge.terminal.input.fed |= terminal::feeds(&simple.redirects);
            if !self.judge.bound.contains(&function_key(&program)) {
                // Then it may be the program of that name that runs.
                for args in self.judge.arguments(simple.words.get(1..).unwrap_or(&[]), self.source) {
                    let (program, fed) = (program.clone(), fed.clone());
                    self.judge.terminal.call(&Call { program, args, fetched_in_words, fed });
                }
            }
            self.call_of_function(&program, bodies, text, judgement);
            self.judge.terminal.input = input;
            return;
        }
        self.judge.terminal.input.fed |= terminal::feeds(&simple.redirects);
        let rule = self.judge.rule_name(&program);
        // Each combination of values starts where the command does; any of them may be the one that moved on.
        let (start, mut ends) = (self.judge.folders.clone(), Vec::new());
        for args in self.judge.arguments(simple.words.get(1..).unwrap_or(&[]), self.source) {
            self.judge.folders.clone_from(&start);
            // What it runs in turn is added behind it.
            let place = self.judge.place_of_part.take();
            let fed = fed.clone().or_else(|| self.judge.piped.clone());
            let call = Call { program: program.clone(), args, fetched_in_words, fed };
            let fetched = self.judge.effects.untrusted.len();
            let mut judged = self.judge.call(&call).max(judgement.clone());
            if self.judge.effects.untrusted.len() > fetched {
                for file in &wrote {
                    note(&mut self.judge.fetched_files, paths::file_name(file));
                }
            }
            if !judged.local {
                let meant = self.judge.tampering_in(&call, text);
                // Of a call to others whose every word is understood none means something else.
                if judged.reaches.as_ref().is_none_or(|reaches| reaches.places.is_empty()) {
                    judged = judged.max(meant);
                }
            }
            self.judge.place_of_part = place;
            self.judge.add_call(text, &rule, judged, (argv(&call), begins(&call)));
            ends.append(&mut self.judge.folders);
        }
        self.judge.terminal.input = input;
        self.judge.also_in(&ends);
        self.judge.place_of_part = None;
        // `local` is an error outside of functions.
        let declares = values::declares(&program) && (program != "local" || self.judge.in_function);
        if declares && simple.redirects.is_empty() {
            let names = simple.words.iter().skip(1).filter_map(|word| {
                word.literal().and_then(|text| text.split_once('=').map(|(name, _)| name.to_owned()))
            });
            self.judge.bound.extend(names);
        }
    }

    fn calculation(&mut self, calculation: &'s Calculation) {
        let outer = std::mem::replace(&mut self.own, Judgement::safe());
        self.arithmetic(&calculation.expression);
        self.redirects(&calculation.redirects);
        let own = std::mem::replace(&mut self.own, outer);
        self.judge.add(self.source.slice(calculation.span), "arithmetic", own);
    }

    fn redirect(&mut self, redirect: &'s Redirect) {
        match &redirect.target {
            RedirectTarget::Descriptor => {}
            RedirectTarget::Text(word) => self.word(word),
            RedirectTarget::Here(id) => {
                if let Some(body) = self.source.document.body(*id) {
                    self.word(body);
                }
            }
            RedirectTarget::Path(word) => {
                let fetched = self.judge.effects.untrusted.len();
                self.word(word);
                // What a process substitution fetches comes in as the input.
                if redirect.reads && self.judge.effects.untrusted.len() > fetched {
                    self.judge.stdin = Fed::Fetched;
                }
                for args in self.judge.targets(word, self.source) {
                    let judgement = match args.as_slice() {
                        [arg] => self.judge.redirect_to(redirect, arg, &mut self.wrote),
                        _ => Judgement::unknown("a redirection to more than one file"),
                    };
                    self.own_is(judgement);
                }
            }
        }
    }

    fn word(&mut self, word: &'s Word) {
        match word.literal() {
            Some(text) => {
                if self.judge.mentioned.len() < 1024 && text.len() < 4096 {
                    self.judge.mentioned.extend(text.split_whitespace().map(str::to_owned));
                }
            }
            None => inside::word(self, word),
        }
    }

    fn piece(&mut self, piece: &'s Piece) {
        match piece {
            Piece::Text { text, .. } if self.judge.mentioned.len() < 1024 => self.judge.mentioned.push(text.clone()),
            piece => inside::piece(self, piece),
        }
    }

    fn substitution(&mut self, script: &'s Script) {
        self.nested(script, 0);
    }

    fn process(&mut self, script: &'s Script, receives: bool) {
        let outside = self.judge.stdin;
        // Who reads it may end before it does.
        self.judge.flow.piped += usize::from(!receives);
        if receives {
            self.judge.stdin = self.judge.stdin.max(Fed::ByWhatStandsBehind);
            // It may read files, and stop.
            self.judge.flow.is_up_to_files();
        }
        self.nested(script, 1);
        self.judge.flow.piped -= usize::from(!receives);
        self.judge.stdin = outside;
    }

    fn variable(&mut self, variable: &'s Variable) {
        let is_told = self.asks_if_empty || self.judge.values_of(&variable.name).is_some();
        if secrets::is_secret_variable(&variable.name) && !is_told {
            note(&mut self.judge.effects.secrets, format!("${}", variable.name));
        }
        if let shell::Form::Assigned(_) = variable.form {
            let harm = self.judge.assignment_of(&variable.name, None);
            self.own_is(harm);
        }
        inside::variable(self, variable);
    }

    fn arithmetic(&mut self, expression: &'s Arithmetic) {
        let judgement = self.judge.arithmetic(expression);
        self.own_is(judgement);
    }
}

/// True for `[ -n "$x" ]`: nothing of the value is shown, in an error neither.
fn asks_if_empty(simple: &Simple) -> bool {
    // The shell keeps the last word of a command in `$_`: with `test`, that would be the value.
    let words = match simple.words.as_slice() {
        [test, words @ .., end] if test.literal().as_deref() == Some("[") && end.literal().as_deref() == Some("]") => {
            words
        }
        _ => return false,
    };
    let one = |word: &Word| {
        word.pieces.iter().all(|piece| match piece {
            // Other forms show the value in an error, or set another variable to it.
            Piece::Variable(variable) => {
                let is_empty = |word: &Word| word.pieces.is_empty();
                variable.quoted
                    && (variable.is_plain() || matches!(&variable.form, shell::Form::With(word) if is_empty(word)))
            }
            Piece::Text { quoted, .. } => *quoted,
            _ => false,
        })
    };
    matches!(words, [asks, value] if matches!(asks.literal().as_deref(), Some("-n" | "-z")) && one(value))
}

/// What `find` prints with these arguments.
fn found_names(args: &[String]) -> Option<Names> {
    // What lies behind links is not looked through.
    if args.iter().any(|arg| arg == "-L" || arg == "-follow") {
        return None;
    }
    let rest = args.iter().skip_while(|arg| matches!(arg.as_str(), "-H" | "-P"));
    let below: Vec<String> = rest.clone().take_while(|arg| !arg.starts_with(['-', '(', '!', ','])).cloned().collect();
    let tests: Vec<&str> = rest.skip(below.len()).map(String::as_str).collect();
    // `-D` and `-O` stand before the folders, too.
    let is_other = |arg: &&str| arg.starts_with("-D") || arg.starts_with("-O") || arg.contains("printf");
    let prints = |what: &str| tests.contains(&what);
    if tests.iter().any(is_other) || prints("-ls") || tests.iter().any(|arg| arg.contains("exec") || arg.contains("ok"))
    {
        return None;
    }
    let null = prints("-print0");
    if null && prints("-print") {
        return None;
    }
    let words: Vec<Option<&str>> = tests.iter().copied().map(Some).collect();
    let found_by = programs::found_by(&words);
    Some(Names { below: if below.is_empty() { vec![".".to_owned()] } else { below }, null, found_by })
}

/// True when what passes on some of its lines, with these arguments, passes on whole ones and no others.
fn keeps_lines(args: &[String], takes_count: bool) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(option) = arg.strip_prefix('-') else { return false };
        let fits = match option.strip_prefix('n') {
            Some("") if takes_count => args.next().is_some_and(|count| digits(count)),
            Some(count) if takes_count => digits(count),
            _ if takes_count => digits(option),
            _ => !option.is_empty() && option.bytes().all(|letter| b"urnfVbdMhsi".contains(&letter)),
        };
        if !fits {
            return false;
        }
    }
    true
}

impl Judge<'_> {
    /// Judges all of a text.
    pub(super) fn script(&mut self, source: Source<'_>) {
        let own = Judgement::safe();
        Walk { judge: self, source, own, wrote: Vec::new(), asks_if_empty: false }.script(&source.document.script);
    }

    /// The names of files that a command prints: `find`, and what only drops or sorts lines.
    fn names_that_it_prints(&self, command: &Command) -> Option<Names> {
        let simple = command.as_simple()?;
        if !simple.redirects.is_empty() {
            return None;
        }
        let words: Option<Vec<String>> =
            simple.words.iter().map(|word| word.literal().map(std::borrow::Cow::into_owned)).collect();
        let words = words?;
        let (program, args) = words.split_first()?;
        let lines = || self.stdin_names.clone().filter(|names| !names.null);
        match program.as_str() {
            name if programs::has(name, Trait::PrintsNames) => found_names(args),
            name if programs::has(name, Trait::KeepsLines) => {
                let counts = programs::has(name, Trait::TakesCount);
                lines().filter(|_| keeps_lines(args, counts))
            }
            "grep"
                if args.len() == 2
                    && matches!(args.first().map(String::as_str), Some("-v" | "-E" | "-vE" | "-i"))
                    && !args.iter().skip(1).any(|pattern| pattern.starts_with('-')) =>
            {
                lines()
            }
            _ => None,
        }
    }

    /// What one branch sets is not set in the next one.
    fn forget_since(&mut self, bound: Mark, kind: CompoundKind, variable: Option<&str>) {
        if kind != CompoundKind::Group {
            self.bound.back_to_keeping(bound, variable);
        }
    }

    // Variables.

    /// The values that a variable has here, when the text tells.
    fn values_of(&self, name: &str) -> Option<&[Value]> {
        if self.bound.contains(name) { self.values.lookup(name) } else { None }
    }

    /// A name in an expression is evaluated again, so it must hold a number for certain.
    fn arithmetic(&mut self, expression: &Arithmetic) -> Judgement {
        let mut judgement = Judgement::safe();
        for name in &expression.names {
            let certain = self.values_of(name).is_some_and(|values| values.iter().all(Value::is_number));
            if !certain && !planted::has(Bug::NamesHoldNumbers) {
                self.evaluates_any();
                let reason = format!("arithmetic evaluates what `{name}` holds, which is only known when it runs");
                judgement = judgement.max(Judgement::unknown(reason));
            }
        }
        for name in &expression.assigned {
            self.sets(name);
            judgement = judgement.max(self.assignment(name));
        }
        judgement
    }

    fn is_number(&self, word: &Word) -> bool {
        if let Some(text) = word.literal() {
            let digits = text.strip_prefix('-').unwrap_or(&text);
            return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        }
        word.pieces.iter().all(|piece| match piece {
            Piece::Number(_) => true,
            Piece::Text { text, .. } => text.bytes().all(|byte| byte.is_ascii_digit()),
            Piece::Variable(variable) if variable.is_plain() => {
                matches!(variable.name.as_str(), "?" | "#" | "$")
                    || self.values_of(&variable.name).is_some_and(|values| values.iter().all(Value::is_number))
            }
            _ => false,
        })
    }

    /// The arguments that words make, once for each combination of the values that their variables may have.
    fn arguments(&self, words: &[Word], source: Source<'_>) -> Vec<Vec<Arg>> {
        self.expanded(words, source, false)
    }

    /// The same for the target of a redirection: where that falls into several words, nothing is opened.
    fn targets(&self, word: &Word, source: Source<'_>) -> Vec<Vec<Arg>> {
        self.expanded(std::slice::from_ref(word), source, true)
    }

    fn expanded(&self, words: &[Word], source: Source<'_>, is_target: bool) -> Vec<Vec<Arg>> {
        let mut names: Vec<(&str, &[Value])> = Vec::new();
        for piece in words.iter().flat_map(|word| &word.pieces) {
            if let Piece::Variable(variable) = piece
                && variable.is_plain()
                && !names.iter().any(|(name, _)| *name == variable.name)
                && let Some(values) = self.values_of(&variable.name).filter(|values| !values.is_empty())
            {
                names.push((&variable.name, values));
            }
        }
        // The folder in which the command is by then, as other relative names mean it; without quotes where no blank divides its name.
        let starts_whole = self.around.cwd.as_deref().is_some_and(values::stays_whole);
        let stays_whole = self.folders.iter().all(|folder| match folder {
            Folder::Start => starts_whole,
            Folder::At(path) => {
                values::stays_whole(path) && (path.starts_with('/') || !path.starts_with('~') && starts_whole)
            }
            Folder::Anywhere => false,
        });
        let here = |quoted: bool| quoted || stays_whole;
        // What a command prints is there, or nothing is: it may not start, or its folder is gone, and the shell goes on.
        let mut prints: Vec<(*const Script, String)> = Vec::new();
        let mut is_of_pwd = false;
        for piece in words.iter().flat_map(|word| &word.pieces) {
            let Piece::Substitution { script, quoted } = piece else {
                // Some shells have no name for a folder that is gone.
                is_of_pwd |=
                    matches!(piece, Piece::Variable(variable) if variable.is_plain() && variable.name == "PWD");
                continue;
            };
            let text = if !self.values.defines("pwd") && prints_working_directory(script) {
                here(*quoted).then(|| ".".to_owned())
            } else {
                document_in(script, source).filter(|_| *quoted && !self.values.defines("cat"))
            };
            prints.extend(text.map(|text| (std::ptr::from_ref(script), text)));
        }
        let may_have_none = is_of_pwd && (self.nested > 0 || self.shell != Shell::Bash);
        let of_prints = prints.iter().map(|_| 2).chain(may_have_none.then_some(2));
        let of_names = names.iter().map(|(_, values)| values.len());
        let combinations = of_names.chain(of_prints).try_fold(1_usize, usize::checked_mul);
        let combinations = combinations.filter(|count| *count <= MAX_COMBINATIONS);
        if combinations.is_none() {
            names.clear();
            prints.clear();
        }
        let home = self.values.is_untouched("HOME");
        let pwd = self.values.is_untouched("PWD");
        (0..combinations.unwrap_or(1))
            .map(|mut index| {
                let mut chosen: Vec<(&str, &Value)> = Vec::new();
                for (name, values) in &names {
                    if let Some(value) = values.get(index % values.len()) {
                        chosen.push((name, value));
                    }
                    index /= values.len();
                }
                let mut printed: Vec<(*const Script, &str)> = Vec::new();
                let mut has_pwd = true;
                for (script, text) in &prints {
                    printed.push((*script, if index % 2 == 0 { text } else { "" }));
                    index /= 2;
                }
                if may_have_none {
                    has_pwd = index % 2 == 0;
                }
                let known = |piece: &Piece| {
                    let variable = match piece {
                        Piece::Variable(variable) if variable.is_plain() => variable,
                        Piece::Substitution { script, .. } => {
                            let this = std::ptr::from_ref(script);
                            return printed.iter().find(|(one, _)| *one == this).map(|(_, text)| Arg::literal(*text));
                        }
                        _ => return None,
                    };
                    if variable.name == "PWD" && pwd {
                        return here(variable.quoted).then(|| Arg::literal(if has_pwd { "." } else { "" }));
                    }
                    if variable.name == "HOME" && home {
                        return Some(Arg::literal("~"));
                    }
                    let value = chosen.iter().find(|(name, _)| *name == variable.name).map(|(_, value)| *value)?;
                    match value {
                        Value::Number => Some(Arg::unknown("", Known::OneWord)),
                        Value::Text(arg) => {
                            let is_one = || {
                                let is_plain = |text: &str| text.is_empty() || values::stays_whole(text);
                                is_target && arg.is_one_name() && is_plain(arg.start()) && is_plain(&arg.tail)
                            };
                            let whole = variable.quoted
                                || values::stays_whole(arg.start()) && arg.known == Known::Literal
                                || is_one();
                            whole.then(|| arg.clone())
                        }
                    }
                };
                words.iter().flat_map(|word| Arg::all_of(word, &known)).collect()
            })
            .collect()
    }

    fn redirect_to(&mut self, redirect: &Redirect, arg: &Arg, wrote: &mut Vec<String>) -> Judgement {
        if arg.known == Known::Pipe {
            return Judgement::safe();
        }
        let Some(path) = arg.exact() else {
            if redirect.writes {
                self.tampering_by(arg);
                self.may_write_any(arg);
            }
            self.named_by_pattern(arg);
            // What a pattern or a variable stands for is read all the same.
            if redirect.reads {
                let _ = self.read(arg);
            }
            if may_be_a_connection(arg) {
                self.connects(redirect, None);
                return Judgement::network(
                    "bash may open this file, which is only known when it runs, as a network connection",
                );
            }
            return Judgement::unknown("a redirection to a file that is only known when it runs");
        };
        if paths::zone(&paths::resolve(None, path), None) == Zone::Network {
            self.connects(redirect, path.split('/').nth(3).map(str::to_owned));
            return Judgement::network("bash opens this file as a network connection");
        }
        let mut judgement = Judgement::safe();
        if redirect.other_input {
            // Under /dev/fd and /dev/stderr it could be opened again, for writing.
            judgement = Judgement::unknown("it reads a file into another descriptor than standard input");
        }
        if redirect.reads {
            judgement = judgement.max(self.read(&arg.opened()));
        }
        if redirect.writes {
            judgement = judgement.max(self.write(arg));
            wrote.push(path.to_owned());
        }
        judgement
    }

    /// A redirection to the network: what is read from it was fetched.
    fn connects(&mut self, redirect: &Redirect, host: Option<String>) {
        self.network("/dev/tcp", host.clone());
        if redirect.reads {
            self.untrusted(host.unwrap_or_else(|| "/dev/tcp".to_owned()));
            self.stdin = Fed::Fetched;
        }
    }

    // Calls.

    /// Judges a call by its program's row.
    pub fn call(&mut self, call: &Call) -> Judgement {
        if self.shell != crate::shell::Shell::Bash
            && programs::is_builtin(&call.program)
            && !programs::is_in_every_shell(&call.program)
        {
            self.started(&call.program);
        }
        // A guess that shows the outside keeps nothing out of the cage.
        if self.terminal.guesses == 0 || !programs::has(&call.program, Trait::AboutTheOutside) {
            note(&mut self.effects.programs, call.program.clone());
        }
        if let Err(why) = self.follow(1 + call.args.len()) {
            self.terminal.find("a script in a script in a script");
            return Judgement::unknown(why);
        }
        self.calls.push(argv(call));
        self.may_run_input(call);
        self.terminal.call(call);
        self.nested += 1;
        let fetched = self.effects.untrusted.len();
        let judgement = self.by_program(call);
        self.nested -= 1;
        if self.effects.untrusted.len() == fetched && !judgement.local {
            self.asked_by_code(call);
        }
        judgement
    }

    /// What a language's code, or a client's words, ask on the network comes in, whatever the row of the program knows of it.
    fn asked_by_code(&mut self, call: &Call) {
        let asks = match programs::kind_of(paths::file_name(&call.program)) {
            Some(Kind::Runtime | Kind::Network) => true,
            _ => programs::brings_from_remote(&call.program, &call.args),
        };
        let names = |arg: &&Arg| {
            let text = arg.start().to_ascii_lowercase();
            ["http://", "https://", "ftp://", "ws://", "wss://"].iter().any(|scheme| text.contains(scheme))
        };
        for arg in call.args.iter().filter(|_| asks).filter(names) {
            // In code it may be put together with whatever stands around it.
            let is_code = arg.start().contains(['(', '"', '\'']);
            match programs::host_in(arg.start()).filter(|_| !is_code) {
                Some(_) if arg.exact().is_some_and(programs::is_this_machine) => {}
                Some(host) => self.untrusted(host),
                None => self.untrusted(call.program.clone()),
            }
        }
    }

    /// Judges a call whose program is only known when it runs. It may be any program, so that whatever its words name counts; the
    /// call's own name is empty. Where a pattern says which one it is, the text counts as not understood: nobody writes one but to
    /// hide a name.
    fn computed(&mut self, call: &Call, start: &str, is_pattern: bool, text: &str) -> Judgement {
        note(&mut self.effects.programs, ONLY_KNOWN_LATER);
        if let Err(why) = self.follow(1 + call.args.len()) {
            self.terminal.find("a script in a script in a script");
            return Judgement::unknown(why);
        }
        self.calls.push(computed_argv(call));
        self.effects.reads_unknown = true;
        if is_pattern {
            self.given_up.get_or_insert("a pattern says which program runs");
        }
        let words: Vec<&str> = call.args.iter().map(Arg::start).collect();
        let mentioned = raw::effects(&format!("{text} {}", words.join(" ")), self.around);
        self.join_effects(mentioned);
        if asks_remote(&words) {
            for word in words.iter().filter(|word| !word.starts_with('-')).take(2) {
                note(&mut self.effects.git, *word);
            }
        }
        let reason = format!("the program is only known when it runs (`{start}…`)");
        let meant = self.tampering_in(call, text).max(Judgement::unknown(reason));
        match words.iter().find_map(|word| programs::host_in(word)) {
            Some(host) => {
                self.network(ONLY_KNOWN_LATER, Some(host));
                meant.max(Judgement::network("a program that is only known when it runs gets an address"))
            }
            None => meant,
        }
    }

    /// Judges the program that a wrapper runs: the first of these arguments with the rest.
    pub fn inner_call(&mut self, args: &[Arg], outer: &Call) -> Judgement {
        // `exec` is the one builtin that starts programs only.
        let by_name = programs::is_builtin(&outer.program) && outer.program != "exec";
        if let Some(name) = args.first().and_then(Arg::exact).filter(|name| !by_name && programs::is_builtin(name)) {
            self.started(name);
        }
        let Some((first, rest)) = args.split_first() else { return Judgement::safe() };
        let Some(program) = first.exact() else {
            self.terminal.unknown_program(rest, self.terminal.input);
            let call = Call {
                program: String::new(),
                args: rest.to_vec(),
                fetched_in_words: outer.fetched_in_words,
                fed: outer.fed.clone(),
            };
            // What stands for the names that are found is no pattern of the text's.
            let is_pattern = first.known == Known::Words && outer.args.contains(first);
            return self.computed(&call, first.start(), is_pattern, "");
        };
        let judged = self.call(&Call {
            program: program.to_owned(),
            args: rest.to_vec(),
            fetched_in_words: outer.fetched_in_words,
            fed: outer.fed.clone(),
        });
        // What runs once for each file that is found, or only where something was found in it, says that by asking.
        if programs::runs_words_once(&outer.program) { judged } else { Judgement { reaches: None, ..judged } }
    }

    /// Judges a script that a shell is given as text.
    pub fn inner_script(&mut self, text: &str, shell: Shell) -> Judgement {
        let folders = self.folders.clone();
        let judgement = self.same_shell_script(text, shell);
        self.folders = folders;
        judgement
    }

    /// Judges a script that this shell itself evaluates: a `cd` in it may stay in force.
    pub fn same_shell_script(&mut self, text: &str, shell: Shell) -> Judgement {
        if let Err(why) = self.follow(1) {
            self.terminal.find("a script in a script in a script");
            return Judgement::unknown(why);
        }
        if text.trim().is_empty() {
            return Judgement::unknown("an empty script");
        }
        let shell = if self.shell == Shell::Other { Shell::Other } else { shell };
        let document = match shell::read(text, shell) {
            Ok(document) => document,
            Err(trouble) => {
                if let Some(program) = terminal::named_in(text) {
                    self.terminal.find(&program);
                }
                let found = crate::classify::raw::effects(text, self.around);
                self.join_effects(found);
                return Judgement::unknown(format!("the script in it is not understood: {trouble}"));
            }
        };
        let outside = std::mem::replace(&mut self.shell, shell);
        let whole = std::mem::replace(&mut self.whole, Judgement::safe());
        // Variables of the script are its own, and what it was given from outside is not known in it.
        let values = std::mem::replace(&mut self.values, values::Values::of(&document, shell));
        let bound = std::mem::take(&mut self.bound);
        let in_function = std::mem::replace(&mut self.in_function, false);
        self.nested += 1;
        self.depth += 1;
        let before = self.folders.clone();
        let functions = values::functions(&document);
        self.script(Source { document: &document, text, functions: &functions });
        self.also_in(&before);
        self.depth -= 1;
        self.nested -= 1;
        self.in_function = in_function;
        self.bound = bound;
        self.values = values;
        self.shell = outside;
        std::mem::replace(&mut self.whole, whole)
    }
}

impl CompoundKind {
    /// What people call it.
    fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Subshell => "subshell",
            Self::If => "if",
            Self::While => "while loop",
            Self::For | Self::ForArguments | Self::ForArithmetic => "for loop",
            Self::Select => "select",
            Self::Case => "case",
            Self::Coproc => "coproc",
        }
    }
}

/// True for a word that says how much (`head -n 1`), also where it could name a file.
fn is_an_amount(command: &Command, word: &str) -> bool {
    const HOW_MUCH: &[&str] = &["-n", "-c", "-m", "-A", "-B", "-C"];
    let words = command.as_simple().map(|simple| simple.words.as_slice()).unwrap_or_default();
    let mut all = words.windows(2).filter(|pair| pair.last().and_then(Word::literal).is_some_and(|last| last == word));
    let is_behind =
        |pair: &[Word]| pair.first().and_then(Word::literal).is_some_and(|option| HOW_MUCH.contains(&option.as_ref()));
    word.bytes().all(|byte| byte.is_ascii_digit()) && all.all(is_behind)
}

/// False for a member of a pipeline that may stop by what lies in folders, whatever its words say: a group, what looks for names or runs
/// something, a word that a pattern makes, and what waits for as long as is only known when it runs.
fn is_filter(command: &Command) -> bool {
    let words = command.as_simple().map(|simple| simple.words.as_slice()).unwrap_or_default();
    if words.iter().any(|word| word.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))) {
        return false;
    }
    let is_known = words.iter().all(|word| word.literal().is_some());
    let name = words.first().and_then(Word::literal);
    let row = name.as_deref().and_then(programs::row);
    row.is_some_and(|row| {
        (is_known || !row.has(Trait::Waits))
            && !row.has(Trait::PrintsNames)
            && !matches!(row.runs, Runs::Behind(_))
            && row.builtin != Some(Builtin::Tests)
    })
}

/// True for `$(pwd)`.
fn prints_working_directory(script: &Script) -> bool {
    matches!(script.as_plain_call(), Some([word]) if word.literal().as_deref() == Some("pwd"))
}

/// The text of a document that a substitution prints: `$(cat <<'EOF'`. One that begins like a home folder is none that is read as one.
fn document_in(script: &Script, source: Source<'_>) -> Option<String> {
    let [step] = script.steps.as_slice() else { return None };
    let [command] = step.pipeline.as_slice() else { return None };
    let cat = command.as_simple().filter(|cat| cat.assignments.is_empty() && !step.background && !step.negated)?;
    let [name] = cat.words.as_slice() else { return None };
    let [Redirect { target: RedirectTarget::Here(id), other_input: false, .. }] = cat.redirects.as_slice() else {
        return None;
    };
    // What a span says is not asked: in a copy it means nothing.
    let text = source.document.body(*id)?.literal().filter(|_| name.literal().as_deref() == Some("cat"))?;
    // Some control characters do not come through a shell's own hands.
    let is_plain = text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    (is_plain && !text.starts_with('~')).then(|| text.trim_end_matches('\n').to_owned())
}

/// How bash calls what it opens as connections: a machine and a port stand behind.
const CONNECTIONS: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

/// True for a word that is only known when it runs, and that may then be the name of a connection. Bash compares the letters as they
/// stand. What a pattern finds are files.
fn may_be_a_connection(arg: &Arg) -> bool {
    let start = arg.start();
    // What is not known may be nothing.
    let whole = format!("{start}{}", arg.tail);
    if CONNECTIONS.iter().any(|name| start.starts_with(name) || whole.starts_with(name)) {
        return true;
    }
    // A port is a number or a name without dots.
    let may_end_so = |tail: &str| {
        let port = tail.rsplit('/').next().unwrap_or(tail);
        tail.matches('/').count() <= 2 && port.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    // A brace that was not read may be any letters.
    let is_of_text = arg.known != Known::Words || arg.wanders;
    is_of_text && CONNECTIONS.iter().any(|name| name.starts_with(start)) && may_end_so(&arg.tail)
}
