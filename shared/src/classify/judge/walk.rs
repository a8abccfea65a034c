//! The walk: every node of the syntax is visited once, every function's body once more for each call of it.

use super::folders::Folder;
use super::values::{self, Functions, Value};
use super::{Judge, Judgement, MAX_CALLS, MAX_NESTED_CALLS, argv};
use crate::classify::call::{Arg, Call, Known};
use crate::classify::effects::note;
use crate::classify::paths::{self, Zone};
use crate::classify::{programs, secrets, variables};
use crate::shell::{
    self, Arithmetic, Command, Compound, CompoundKind, Condition, Document, Join, Piece, Redirect, RedirectTarget,
    Script, Shell, Simple, Span, Step, Variable, Word,
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

/// The name under which a function counts as bound. No variable has parentheses in its name.
fn function_key(name: &str) -> String {
    format!("{name}()")
}

impl Judge<'_> {
    // Lists and commands.

    pub(super) fn script(&mut self, script: &Script, source: Source<'_>) {
        let mut seen = self.folders.clone();
        // True while the step at hand runs only if every step before it in its list succeeded.
        let mut certain = true;
        // What was set before the steps of this list that may not have run.
        let mut settled = None;
        for step in &script.steps {
            match step.join {
                Join::Then => certain = true,
                Join::Or => certain = false,
                Join::And => {}
            }
            if step.join == Join::And && certain {
                settled.get_or_insert_with(|| self.bound.clone());
            } else {
                // An earlier `cd` may have failed or not have run, and so may what stood behind `&&`.
                self.folders.clone_from(&seen);
                if let Some(bound) = settled.take() {
                    self.bound = bound;
                }
                if step.join != Join::Then {
                    settled = Some(self.bound.clone());
                }
            }
            self.pipeline(step, source, &seen);
            let now = std::mem::replace(&mut self.folders, seen);
            self.also_in(&now);
            seen = std::mem::replace(&mut self.folders, now);
        }
        if let Some(bound) = settled {
            self.bound = bound;
        }
        self.folders = seen;
    }

    fn pipeline(&mut self, step: &Step, source: Source<'_>, seen: &[Folder]) {
        let apart = step.pipeline.len() > 1 || step.background;
        let outside = self.stdin_fetched;
        let names = self.stdin_names.take();
        self.beside += usize::from(step.background);
        let before = if apart { Some(self.bound.clone()) } else { None };
        for command in &step.pipeline {
            let fetched = self.effects.untrusted.len();
            // Each member runs in a shell of its own.
            if let Some(bound) = &before {
                self.bound.clone_from(bound);
            }
            self.command(command, source);
            self.stdin_fetched |= self.effects.untrusted.len() > fetched;
            self.stdin_names = self.names_that_it_prints(command);
        }
        self.stdin_names = names;
        self.beside -= usize::from(step.background);
        self.stdin_fetched = outside;
        if let Some(bound) = before {
            self.bound = bound;
        }
        if apart || step.negated {
            self.also_in(seen);
        }
    }

    /// The folders below which the files lie whose names a command prints: `find`, and what only drops or sorts lines.
    fn names_that_it_prints(&self, command: &Command) -> Option<Vec<String>> {
        let Command::Simple(simple) = command else { return None };
        let words: Option<Vec<String>> =
            simple.words.iter().map(|word| word.literal().map(std::borrow::Cow::into_owned)).collect();
        let words = words?;
        let (program, args) = words.split_first()?;
        match program.as_str() {
            "find" => {
                let starts: Vec<String> =
                    args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!', ','])).cloned().collect();
                let prints_names =
                    !args.iter().any(|arg| arg.contains("printf") || arg.contains("exec") || arg == "-ls");
                let starts = if starts.is_empty() { vec![".".to_owned()] } else { starts };
                (prints_names && simple.redirects.is_empty()).then_some(starts)
            }
            "head" | "tail" | "sort" => {
                let plain =
                    args.iter().all(|arg| arg.starts_with('-') || arg.bytes().all(|byte| byte.is_ascii_digit()));
                self.stdin_names.clone().filter(|_| plain)
            }
            "grep"
                if args.len() == 2 && matches!(args.first().map(String::as_str), Some("-v" | "-E" | "-vE" | "-i")) =>
            {
                self.stdin_names.clone()
            }
            _ => None,
        }
    }

    fn command(&mut self, command: &Command, source: Source<'_>) {
        match command {
            Command::Simple(simple) => self.simple(simple, source),
            Command::Compound(compound) => self.compound(compound, source),
            Command::Function { name, body, span } => self.function(name, body, *span, source),
            Command::Condition(condition) => self.double_bracket(condition, source),
            Command::Arithmetic { expression, redirects, span } => {
                let judgement = self.arithmetic(expression);
                let (redirected, _) = self.redirects(redirects, source);
                self.add(source.slice(*span), "arithmetic", judgement.max(redirected));
            }
        }
    }

    fn compound(&mut self, compound: &Compound, source: Source<'_>) {
        let Compound { kind, variable, words, expressions, scripts, redirects, span } = compound;
        let text = source.slice(*span);
        let mut own = Judgement::safe();
        for word in words {
            own = own.max(self.word(word, source));
        }
        let bound = self.bound.clone();
        for (index, expression) in expressions.iter().enumerate() {
            own = own.max(self.arithmetic(expression));
            // The first of `for ((…;…;…))` runs before anything else.
            if index == 0 && !expression.may_fail {
                self.bound.extend(expression.assigned.iter().cloned());
            }
        }
        if let Some(harm) = variable.as_deref().and_then(|name| variables::harm_of_setting(name, self.shell)) {
            own = own.max(Judgement::unknown(format!("setting `{}` {harm}", variable.as_deref().unwrap_or(""))));
        }
        let (redirected, _) = self.redirects(redirects, source);
        own = own.max(redirected);
        self.add(text, kind.name(), own);
        let before = self.folders.clone();
        if *kind == CompoundKind::For {
            self.bound.extend(variable.clone());
        }
        self.depth += 1;
        self.beside += usize::from(*kind == CompoundKind::Coproc);
        for script in scripts {
            self.script(script, source);
            if *kind != CompoundKind::While {
                self.forget_since(&bound, *kind, variable.as_deref());
            }
        }
        self.beside -= usize::from(*kind == CompoundKind::Coproc);
        self.depth -= 1;
        if kind.repeats() && self.folders != before {
            self.add(text, kind.name(), Judgement::unknown("each round of the loop runs in another folder"));
        }
        // Where a redirection fails, nothing in it runs.
        if *kind != CompoundKind::Group || !redirects.is_empty() {
            self.bound = bound;
        }
        self.also_in(&before);
    }

    /// What one branch sets is not set in the next one.
    fn forget_since(&mut self, bound: &std::collections::HashSet<String>, kind: CompoundKind, variable: Option<&str>) {
        if kind == CompoundKind::Group {
            return;
        }
        let keeps = |name: &String| bound.contains(name) || Some(name.as_str()) == variable;
        self.bound.retain(keeps);
    }

    fn function(&mut self, name: &str, body: &Command, span: Span, source: Source<'_>) {
        let text = source.slice(span);
        let known = programs::kind_of(name).is_some() || programs::is_builtin(name);
        let judgement = if known || name == "command_not_found_handle" || name.starts_with("bashgate") {
            Judgement::unknown(format!("a function takes the name of `{name}`"))
        } else {
            Judgement::safe()
        };
        self.add(text, "function", judgement);
        // It may be called from where this walk does not see it, so it counts here, too.
        let (folders, bound) = (self.folders.clone(), self.bound.clone());
        self.depth += 1;
        let outside = std::mem::replace(&mut self.in_function, true);
        self.command(body, source);
        self.in_function = outside;
        self.depth -= 1;
        self.folders = folders;
        self.bound = bound;
        if self.values.keeps_functions() {
            self.bound.insert(function_key(name));
        }
    }

    fn double_bracket(&mut self, condition: &Condition, source: Source<'_>) {
        let mut judgement = Judgement::safe();
        for (index, word) in condition.words.iter().enumerate() {
            judgement = judgement.max(self.word(word, source));
            if condition.numbers.contains(&index) && !self.is_number(word) {
                let reason =
                    "`[[` evaluates this operand as an expression, and what it holds is only known when it runs";
                judgement = judgement.max(Judgement::unknown(reason));
            }
            let named = condition.names.contains(&index);
            if named && !word.literal().is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
            {
                judgement = judgement.max(Judgement::unknown("`[[ -v` evaluates the subscript of a name"));
            }
        }
        let (redirected, _) = self.redirects(&condition.redirects, source);
        self.add(source.slice(condition.span), "[[", judgement.max(redirected));
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
            if !certain {
                let reason = format!("arithmetic evaluates what `{name}` holds, which is only known when it runs");
                judgement = judgement.max(Judgement::unknown(reason));
            }
        }
        for name in &expression.assigned {
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
    fn arguments(&self, words: &[Word]) -> Vec<Vec<Arg>> {
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
        let combinations = names.iter().map(|(_, values)| values.len()).try_fold(1_usize, usize::checked_mul);
        let combinations = combinations.filter(|count| *count <= MAX_COMBINATIONS);
        if combinations.is_none() {
            names.clear();
        }
        let home = self.values.is_untouched("HOME");
        (0..combinations.unwrap_or(1))
            .map(|mut index| {
                let mut chosen: Vec<(&str, &Value)> = Vec::new();
                for (name, values) in &names {
                    if let Some(value) = values.get(index % values.len()) {
                        chosen.push((name, value));
                    }
                    index /= values.len();
                }
                let known = |variable: &Variable| {
                    if !variable.is_plain() {
                        return None;
                    }
                    if variable.name == "HOME" && home {
                        return Some(Arg::literal("~"));
                    }
                    let value = chosen.iter().find(|(name, _)| *name == variable.name).map(|(_, value)| *value)?;
                    match value {
                        Value::Number => Some(Arg::unknown("", Known::OneWord)),
                        Value::Text(arg) => {
                            let whole =
                                variable.quoted || values::stays_whole(&arg.text) && arg.known == Known::Literal;
                            whole.then(|| arg.clone())
                        }
                    }
                };
                words.iter().flat_map(|word| Arg::all_of(word, &known)).collect()
            })
            .collect()
    }

    // Simple commands.

    fn simple(&mut self, simple: &Simple, source: Source<'_>) {
        let fetched_before = self.effects.untrusted.len();
        let place = self.parts.len();
        let mut judgement = Judgement::safe();
        let program = simple.words.first().and_then(Word::literal);
        for assignment in &simple.assignments {
            judgement = judgement.max(self.word(&assignment.value, source));
            for word in assignment.elements.iter().flatten() {
                judgement = judgement.max(self.word(word, source));
            }
            // `IFS= read` splits the one line that it reads.
            if !(assignment.name == "IFS" && program.as_deref() == Some("read")) {
                judgement = judgement.max(self.assignment(&assignment.name));
            }
        }
        for word in &simple.words {
            judgement = judgement.max(self.word(word, source));
        }
        let fetched_in_words = self.effects.untrusted.len() > fetched_before;
        let (redirected, wrote) = self.redirects(&simple.redirects, source);
        judgement = judgement.max(redirected);
        let fed = simple.redirects.iter().rev().find_map(|redirect| match &redirect.target {
            RedirectTarget::Text(word) => word.literal().map(std::borrow::Cow::into_owned),
            RedirectTarget::Here(id) => {
                source.document.body(*id).and_then(Word::literal).map(std::borrow::Cow::into_owned)
            }
            _ => None,
        });
        let text = source.slice(simple.span);
        self.place_of_part = Some(place);
        let Some(first) = simple.words.first() else {
            let rule = if simple.assignments.is_empty() { "redirection" } else { "assignment" };
            self.add(text, rule, judgement);
            // Where a redirection fails, nothing is set.
            if simple.redirects.is_empty() {
                self.bound.extend(simple.assignments.iter().map(|assignment| assignment.name.clone()));
            }
            return;
        };
        let Some(program) = program.map(std::borrow::Cow::into_owned) else {
            let reason = format!("the program is only known when it runs (`{}…`)", first.literal_prefix());
            self.add(text, "command name", judgement.max(Judgement::unknown(reason)));
            return;
        };
        if let Some(bodies) = source.functions.get(program.as_str()) {
            self.call_of_function(&program, bodies, text, judgement, source);
            return;
        }
        let rule = programs::rule_name(&program);
        // Each combination of values starts where the command does; any of them may be the one that moved on.
        let (start, mut ends) = (self.folders.clone(), Vec::new());
        for args in self.arguments(simple.words.get(1..).unwrap_or(&[])) {
            self.folders.clone_from(&start);
            // What it runs in turn is added behind it.
            let place = self.place_of_part.take();
            let call = Call { program: program.clone(), args, fetched_in_words, fed: fed.clone() };
            let fetched = self.effects.untrusted.len();
            let judged = self.call(&call).max(judgement.clone());
            if self.effects.untrusted.len() > fetched {
                for file in &wrote {
                    note(&mut self.fetched_files, paths::file_name(file));
                }
            }
            if !judged.local {
                self.tampering_in(&call, text);
            }
            self.place_of_part = place;
            self.add_call(text, &rule, judged, argv(&call));
            ends.append(&mut self.folders);
        }
        self.also_in(&ends);
        self.place_of_part = None;
        // `local` is an error outside of functions.
        let declares = values::DECLARING.contains(&program.as_str()) && (program != "local" || self.in_function);
        if declares && simple.redirects.is_empty() {
            let names = simple.words.iter().skip(1).filter_map(|word| {
                word.literal().and_then(|text| text.split_once('=').map(|(name, _)| name.to_owned()))
            });
            self.bound.extend(names);
        }
    }

    fn call_of_function(&mut self, name: &str, bodies: &[&Command], text: &str, own: Judgement, source: Source<'_>) {
        let mut judgement = own;
        if !self.bound.contains(&function_key(name)) {
            judgement = judgement.max(Judgement::unknown(format!("the function `{name}` may not be defined here")));
        }
        self.judged += 1;
        if self.nested >= MAX_NESTED_CALLS || self.judged >= MAX_CALLS {
            self.add(text, "function call", judgement.max(Judgement::unknown("functions call each other too deep")));
            return;
        }
        self.add(text, "function call", judgement);
        self.nested += 1;
        self.depth += 1;
        let bound = self.bound.clone();
        let outside = std::mem::replace(&mut self.in_function, true);
        for body in bodies {
            self.command(body, source);
        }
        self.in_function = outside;
        self.bound = bound;
        self.depth -= 1;
        self.nested -= 1;
    }

    /// Looks into everything nested in a word.
    fn word(&mut self, word: &Word, source: Source<'_>) -> Judgement {
        if let Some(text) = word.literal() {
            if self.mentioned.len() < 1024 && text.len() < 4096 {
                self.mentioned.extend(text.split_whitespace().map(str::to_owned));
            }
            return Judgement::safe();
        }
        let mut judgement = Judgement::safe();
        for piece in &word.pieces {
            match piece {
                Piece::Substitution { script, .. } | Piece::Process(script) => {
                    let outside = std::mem::replace(&mut self.stdin_fetched, false);
                    let (folders, bound) = (self.folders.clone(), self.bound.clone());
                    self.depth += 1;
                    let beside = usize::from(matches!(piece, Piece::Process(_)));
                    let names = self.stdin_names.take();
                    self.beside += beside;
                    self.script(script, source);
                    self.beside -= beside;
                    self.stdin_names = names;
                    self.depth -= 1;
                    self.folders = folders;
                    self.bound = bound;
                    self.stdin_fetched = outside;
                }
                Piece::Variable(variable) => {
                    if secrets::is_secret_variable(&variable.name) {
                        note(&mut self.effects.secrets, format!("${}", variable.name));
                    }
                    judgement = judgement.max(self.arithmetic(&variable.arithmetic));
                    if let shell::Form::Assigned(_) = variable.form {
                        judgement = judgement.max(self.assignment(&variable.name));
                    }
                    if let Some(operand) = variable.operand() {
                        judgement = judgement.max(self.word(operand, source));
                    }
                }
                Piece::Number(expression) => judgement = judgement.max(self.arithmetic(expression)),
                Piece::Text { text, .. } if self.mentioned.len() < 1024 => self.mentioned.push(text.clone()),
                _ => {}
            }
        }
        judgement
    }

    // Redirections.

    fn redirects(&mut self, redirects: &[Redirect], source: Source<'_>) -> (Judgement, Vec<String>) {
        let (mut judgement, mut wrote) = (Judgement::safe(), Vec::new());
        for redirect in redirects {
            judgement = judgement.max(self.redirect(redirect, source, &mut wrote));
        }
        (judgement, wrote)
    }

    fn redirect(&mut self, redirect: &Redirect, source: Source<'_>, wrote: &mut Vec<String>) -> Judgement {
        match &redirect.target {
            RedirectTarget::Descriptor => Judgement::safe(),
            RedirectTarget::Text(word) => self.word(word, source),
            RedirectTarget::Here(id) => {
                source.document.body(*id).map_or_else(Judgement::safe, |body| self.word(body, source))
            }
            RedirectTarget::Path(word) => {
                let mut judgement = self.word(word, source);
                for args in self.arguments(std::slice::from_ref(word)) {
                    judgement = judgement.max(match args.as_slice() {
                        [arg] => self.redirect_to(redirect, arg, wrote),
                        _ => Judgement::unknown("a redirection to more than one file"),
                    });
                }
                judgement
            }
        }
    }

    fn redirect_to(&mut self, redirect: &Redirect, arg: &Arg, wrote: &mut Vec<String>) -> Judgement {
        if arg.known == Known::Pipe {
            return Judgement::safe();
        }
        let Some(path) = arg.exact() else {
            if redirect.writes {
                self.tampering_by(arg);
            }
            return Judgement::unknown("a redirection to a file that is only known when it runs");
        };
        if paths::zone(&paths::resolve(None, path), None) == Zone::Network {
            let host = path.split('/').nth(3).map(str::to_owned);
            self.network("/dev/tcp", host);
            return Judgement::network("bash opens this file as a network connection");
        }
        let mut judgement = Judgement::safe();
        if redirect.other_input {
            // Under /dev/fd and /dev/stderr it could be opened again, for writing.
            judgement = Judgement::unknown("it reads a file into another descriptor than standard input");
        }
        if redirect.reads {
            judgement = judgement.max(self.read(arg));
        }
        if redirect.writes {
            judgement = judgement.max(self.write(arg));
            wrote.push(path.to_owned());
        }
        judgement
    }

    // Calls.

    /// Judges a call by its program's row.
    pub fn call(&mut self, call: &Call) -> Judgement {
        note(&mut self.effects.programs, call.program.clone());
        if self.calls.len() < 1024 {
            self.calls.push(argv(call));
        }
        self.judged += 1;
        if self.nested >= MAX_NESTED_CALLS || self.judged >= MAX_CALLS {
            return Judgement::unknown("wrappers are nested too deep");
        }
        self.nested += 1;
        let judgement = programs::judge(self, call);
        self.nested -= 1;
        judgement
    }

    /// Judges the program that a wrapper runs: the first of these arguments with the rest.
    pub fn inner_call(&mut self, args: &[Arg], outer: &Call) -> Judgement {
        let Some((first, rest)) = args.split_first() else { return Judgement::safe() };
        let Some(program) = first.exact() else {
            return Judgement::unknown("the program is only known when it runs");
        };
        self.call(&Call {
            program: program.to_owned(),
            args: rest.to_vec(),
            fetched_in_words: outer.fetched_in_words,
            fed: outer.fed.clone(),
        })
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
        if self.nested >= MAX_NESTED_CALLS {
            return Judgement::unknown("scripts are nested too deep");
        }
        if text.trim().is_empty() {
            return Judgement::unknown("an empty script");
        }
        let shell = if self.shell == Shell::Other { Shell::Other } else { shell };
        let document = match shell::read(text, shell) {
            Ok(document) => document,
            Err(trouble) => {
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
        self.script(&document.script, Source { document: &document, text, functions: &functions });
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
