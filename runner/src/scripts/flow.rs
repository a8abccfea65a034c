//! Where the values of a script can get to: whether the shell, or a program that runs code, would evaluate one.
//!
//! A value taints every variable that it is assigned to. What cannot be followed (a value read back from a file) is the
//! business of whoever approves the script, and of the sandbox.

use std::collections::BTreeSet;

use bashgate_shared::programs::{self, Builtin, Runs, Trait};
use bashgate_shared::shell::visit::{Visit, inside};
use bashgate_shared::shell::{
    Arithmetic, Assignment, Calculation, Command, Compound, CompoundKind, Condition, Document, Form, Function, Piece,
    Redirect, RedirectTarget, Script, Shell, Simple, Step, Variable, Word, is_name, read,
};
use bashgate_shared::variables::{self, Steers};

/// The positional parameters, as one.
const POSITIONAL: &str = "@";

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// What keeps values from being data, in words.
    pub troubles: Vec<String>,
    /// Variables of the script whose value may be the first character of a program's argument.
    pub may_lead: BTreeSet<String>,
    /// The same for values on a way that was not followed.
    pub any_may_lead: bool,
}

struct Walk<'d, N> {
    document: &'d Document,
    /// The script's variable that a shell variable stands for.
    name_of: N,
    tainted: BTreeSet<String>,
    functions: BTreeSet<String>,
    /// Variables with more, or other, than one whole value.
    derived: BTreeSet<String>,
    /// Variables that are assigned anything but integers.
    no_integers: BTreeSet<String>,
    /// True when a function runs what it reads.
    runs_input: bool,
    flow: Flow,
}

/// Follows the values through a document. `name_of` names the variable behind a place.
pub(super) fn check<'n>(document: &Document, name_of: impl Fn(&str) -> Option<&'n str>) -> Flow {
    let filled: BTreeSet<String> = variables::filled().map(str::to_owned).collect();
    let mut walk = Walk {
        document,
        name_of,
        tainted: filled.clone(),
        functions: BTreeSet::new(),
        derived: filled,
        no_integers: BTreeSet::new(),
        runs_input: false,
        flow: Flow::default(),
    };
    // Until no more variables are tainted; each turn taints one more at least, and there are only so many.
    loop {
        let before = walk.known();
        walk.flow = Flow::default();
        walk.script(&document.script);
        document.bodies.iter().for_each(|body| walk.word(body));
        if walk.known() == before {
            return walk.flow;
        }
    }
}

impl<'n, N: Fn(&str) -> Option<&'n str>> Walk<'_, N> {
    /// How much is known of the script's variables and functions: it only grows.
    fn known(&self) -> [usize; 5] {
        let sets = [&self.tainted, &self.derived, &self.no_integers, &self.functions].map(BTreeSet::len);
        let [tainted, derived, no_integers, functions] = sets;
        [tainted, derived, no_integers, functions, usize::from(self.runs_input)]
    }

    fn trouble(&mut self, why: impl Into<String>) {
        self.flow.troubles.push(why.into());
    }

    /// The first program in a command that runs what it reads; a function counts as the worst of all functions.
    fn reads_code(&self, command: &Command) -> Option<String> {
        runs_its_input(command, &|name| runs_code(name) || self.runs_input && self.functions.contains(name))
    }

    /// What a builtin of the shell makes of a value among its arguments.
    fn builtin_arguments(&mut self, name: &str, builtin: Builtin, arguments: &[Word]) {
        let literal = |at: usize| arguments.get(at).and_then(Word::literal).map(std::borrow::Cow::into_owned);
        match builtin {
            Builtin::Text => {}
            Builtin::GoesTo => self.tainted.extend(["PWD", "OLDPWD", "DIRSTACK"].map(str::to_owned)),
            Builtin::Format => {
                let at = usize::from(literal(0).as_deref() == Some("--"));
                match literal(at) {
                    Some(format) if format.starts_with('-') && at == 0 => {
                        self.trouble(format!("`{name}` gets an option before it"));
                    }
                    Some(format) if stores_a_count(&format) => {
                        self.trouble(format!("`{name}` takes it for the name of a variable"));
                    }
                    Some(_) => {}
                    None => self.trouble(format!("it is the format of `{name}`")),
                }
            }
            Builtin::Tests => {
                if let Some(why) = self.test(arguments) {
                    self.trouble(why);
                }
            }
            Builtin::Declares { exports } => self.declare(name, exports, arguments),
            Builtin::Fills
            | Builtin::FillsAndCalls
            | Builtin::Parses
            | Builtin::Removes
            | Builtin::Sets
            | Builtin::Evaluates
            | Builtin::EvaluatesLater
            | Builtin::Sources
            | Builtin::Calculates
            | Builtin::Renames
            | Builtin::RenamesAndEvaluates
            | Builtin::RunsBehind
            | Builtin::ChangesReading
            | Builtin::Waits
            | Builtin::Other => {
                // Some evaluate what they are given, and none needs a value.
                self.trouble(format!("it is handed to `{name}`"));
            }
        }
    }

    /// Ways on which code is evaluated that is only text here, or names come to mean something else.
    fn hidden_ways(&mut self, name: &str, arguments: &[Word]) {
        let first = arguments.first().and_then(Word::literal).map(std::borrow::Cow::into_owned);
        let builtin = programs::builtin_of(name);
        match builtin {
            Some(Builtin::RunsBehind | Builtin::ChangesReading) => {
                self.trouble(format!("`{name}` hides what runs, or how the shell reads"));
            }
            Some(Builtin::Sets) => {
                let plain = |word: &str| {
                    matches!(word, "pipefail" | "errexit" | "nounset" | "noglob" | "-o" | "+o")
                        || word.starts_with(['-', '+']) && word.chars().skip(1).all(|c| "eufnvxo".contains(c))
                };
                let all = literals(arguments).collect::<Vec<_>>();
                if first.as_deref() != Some("--")
                    && (all.len() < arguments.len() || !all.iter().all(|word| plain(word)))
                {
                    self.trouble(format!("`{name}` gets options that are not known here"));
                }
            }
            Some(Builtin::Format) if first.as_deref() == Some("-v") => {
                self.trouble(format!("`{name} -v` stores under a name"));
            }
            Some(Builtin::Removes) if literals(arguments).count() < arguments.len() => {
                self.trouble(format!("`{name}` gets a name that is only known when it runs"));
            }
            Some(Builtin::Renames | Builtin::RenamesAndEvaluates | Builtin::Calculates) => {
                self.trouble(format!("`{name}` can change what a command means, or evaluates what it is given"));
            }
            Some(Builtin::Sources) if !first.as_deref().is_some_and(|path| path.starts_with('/')) => {
                self.trouble(format!("`{name}` runs a file that a value could choose; write its whole path"));
            }
            Some(Builtin::Evaluates) => {
                let words: Option<Vec<String>> =
                    arguments.iter().map(|word| word.literal().map(std::borrow::Cow::into_owned)).collect();
                match words {
                    Some(words) => self.nested(name, &words.join(" ")),
                    None => self.trouble(format!("`{name}` runs text that is only known when it runs")),
                }
            }
            Some(Builtin::EvaluatesLater) => match first.as_deref() {
                Some("-" | "" | "-l" | "-p") => {}
                Some(code) => self.nested(name, code),
                None if arguments.is_empty() => {}
                None => self.trouble(format!("`{name}` gets text that is only known when it runs")),
            },
            Some(Builtin::FillsAndCalls)
                if literals(arguments).any(|word| word.starts_with('-') && word.contains(['C', 'c'])) =>
            {
                self.trouble(format!("`{name}` calls something with what it reads"));
            }
            Some(Builtin::Declares { .. }) => {
                let plain = |word: &Word| match word.literal() {
                    Some(word) if word.starts_with(['-', '+']) => word.chars().skip(1).all(|c| "rxgap-".contains(c)),
                    Some(_) => true,
                    None => !word.literal_prefix().is_empty(),
                };
                if !arguments.iter().all(plain) {
                    self.trouble(format!("`{name}` makes a variable evaluate what it is assigned, or may"));
                }
                if literals(arguments).any(|word| self.holds_value(&word)) {
                    self.trouble(format!("`{name}` changes what a variable with it means"));
                }
            }
            None if programs::runs_of(name) == Runs::Shell => {
                let is_option =
                    |word: &&Word| word.literal().is_some_and(|word| word.starts_with('-') && word.contains('c'));
                if let Some(code) = arguments.iter().skip_while(|word| !is_option(word)).nth(1) {
                    match code.literal() {
                        Some(code) => self.nested(name, &code),
                        None => self.trouble(format!("`{name} -c` runs text that is only known when it runs")),
                    }
                }
            }
            _ => {}
        }
        // A subscript in a name is evaluated.
        let evaluates = match builtin {
            Some(
                Builtin::Fills
                | Builtin::FillsAndCalls
                | Builtin::Parses
                | Builtin::Removes
                | Builtin::Waits
                | Builtin::Declares { .. },
            ) => true,
            Some(Builtin::Tests) => literals(arguments).any(|word| matches!(word.as_str(), "-v" | "-R")),
            _ => false,
        };
        if evaluates && arguments.iter().any(has_subscript) {
            self.trouble(format!("`{name}` evaluates a subscript"));
        }
    }

    /// Code that stands in the script as text.
    fn nested(&mut self, by: &str, code: &str) {
        match read(code, Shell::Bash) {
            Ok(document) if document.bodies.is_empty() => self.script(&document.script),
            _ => self.trouble(format!("what `{by}` runs is not understood")),
        }
    }

    /// True when what is evaluated as arithmetic names, or may name, a variable that holds a value.
    fn may_name_a_value(&self, word: &Word) -> bool {
        let is_whole = word.literal().is_some();
        word.pieces.iter().any(|piece| match piece {
            Piece::Text { text, .. } => {
                let mut names =
                    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|name| is_name(name));
                names.any(|name| !is_whole || self.holds_value(name) || self.no_integers.contains(name))
            }
            Piece::Glob(_) | Piece::Brace | Piece::Tilde => true,
            Piece::Variable(variable) => self.no_integers.contains(&variable.name),
            Piece::Substitution { .. } | Piece::Process { .. } | Piece::Number(_) => false,
        })
    }

    /// An ordinary program takes a value as it is, as one word of its own and not as an option or an option's argument.
    fn program_arguments(&mut self, name: &str, arguments: &[Word]) {
        let no_end_of_options = programs::has(name, Trait::NoEndOfOptions);
        let is_exec = |word: String| word.starts_with("-exec") || word.starts_with("-ok");
        if literals(arguments).any(is_exec) {
            return self.trouble(format!("it stands in a command that `{name}` runs"));
        }
        let mut options_end = false;
        let mut before: Option<String> = None;
        for word in arguments {
            let literal = word.literal().map(std::borrow::Cow::into_owned);
            if !self.is_tainted(word) {
                options_end |= literal.as_deref() == Some("--") && !no_end_of_options;
                before = literal;
                continue;
            }
            if word.splits() {
                return self.trouble(format!("`{name}` gets it unquoted, so that it becomes several words"));
            }
            if programs::has(name, Trait::WordsMayRun) {
                return self.trouble(format!("`{name}` may run what it says"));
            }
            if options_end {
                continue;
            }
            if word.literal_prefix().starts_with('-') {
                return self.trouble(format!("`{name}` gets it as part of an option"));
            }
            if programs::has(name, Trait::HasSubcommands) {
                return self.trouble(format!("`{name}` may get it as a name that means a command; put `--` before it"));
            }
            // Whoever is not known may run what an option names, too.
            let may_run = (programs::runs_of(name) == Runs::Named || programs::row(name).is_none())
                && before.as_deref().is_none_or(|word| word.starts_with('-'));
            if may_run
                && !(name == "tar" && before.as_deref().is_some_and(names_an_archive))
                && !(no_end_of_options && before.is_none())
            {
                return self.trouble(format!("`{name}` may get it as the argument of an option; put `--` before it"));
            }
            before = None;
            match word.pieces.iter().find(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty())) {
                Some(Piece::Text { .. }) => {}
                Some(Piece::Variable(variable)) if matches!(variable.form, Form::Plain) => {
                    match (self.name_of)(&variable.name).map(str::to_owned) {
                        Some(name) => drop(self.flow.may_lead.insert(name)),
                        None if self.is_derived(&variable.name) => {
                            return self.trouble(format!(
                                "`{name}` could take a part of it for an option; put `--` before it"
                            ));
                        }
                        None => self.flow.any_may_lead |= self.variable_is_tainted(variable),
                    }
                }
                _ => {
                    return self.trouble(format!("`{name}` could take a part of it for an option; put `--` before it"));
                }
            }
        }
    }

    fn is_derived(&self, name: &str) -> bool {
        name == POSITIONAL || is_positional(name) || self.derived.contains(name)
    }

    /// `test` takes what stands in an operator's place for one, and `-v` evaluates a name's subscript.
    fn test(&self, arguments: &[Word]) -> Option<&'static str> {
        let arguments = match arguments.split_last() {
            Some((last, rest)) if last.literal().as_deref() == Some("]") => rest,
            _ => arguments,
        };
        let evaluates = arguments.iter().filter_map(Word::literal).any(|word| matches!(&*word, "-v" | "-R"));
        let splits = arguments.iter().any(|word| word.splits() && self.is_tainted(word));
        let is_literal = |at: usize| arguments.get(at).is_some_and(|word| word.literal().is_some());
        match arguments.len() {
            _ if evaluates => Some("`test -v` takes it for the name of a variable"),
            _ if splits => Some("`test` gets it unquoted"),
            0 | 1 => None,
            2 if is_literal(0) => None,
            3 if is_literal(1) => None,
            _ => Some("`test` could take it for an operator; use `[[`"),
        }
    }

    fn declare(&mut self, name: &str, exports: bool, arguments: &[Word]) {
        let exports = exports || literals(arguments).any(|word| word.starts_with('-') && word.contains('x'));
        let harmless = |word: &Word| {
            word.literal().is_none_or(|word| !word.starts_with('-') || matches!(&*word, "-r" | "-x" | "-g" | "--"))
        };
        if !arguments.iter().all(harmless) {
            return self.trouble(format!("`{name}` gets options beside it"));
        }
        let tainted: Vec<&Word> = arguments.iter().filter(|word| self.is_tainted(word)).collect();
        for word in tainted {
            match word.literal_prefix().split_once('=').map(|(variable, _)| variable.to_owned()) {
                Some(variable) if is_name(&variable) => {
                    if exports {
                        self.trouble(format!("`{name}` puts it into the environment of programs"));
                    }
                    self.derived.insert(variable.clone());
                    self.assigned(&variable);
                }
                _ => self.trouble(format!("`{name}` takes it for the name of a variable")),
            }
        }
    }

    fn assigned(&mut self, name: &str) {
        if is_obeyed(name) {
            self.trouble(format!("it becomes `{name}`, which programs obey"));
        }
        self.tainted.insert(name.to_owned());
    }

    /// True when a value is the content of a redirection.
    fn feeds(&self, redirect: &Redirect) -> bool {
        match &redirect.target {
            RedirectTarget::Text(word) => self.is_tainted(word),
            RedirectTarget::Here(id) => self.document.body(*id).is_some_and(|word| self.is_tainted(word)),
            RedirectTarget::Path(word) => redirect.reads && self.is_tainted(word),
            RedirectTarget::Descriptor => false,
        }
    }

    fn holds_value(&self, name: &str) -> bool {
        let name = if is_positional(name) { POSITIONAL } else { name };
        (self.name_of)(name).is_some() || self.tainted.contains(name)
    }

    fn variable_is_tainted(&self, variable: &Variable) -> bool {
        self.holds_value(&variable.name) || variable.operand().is_some_and(|word| self.is_tainted(word))
    }

    fn is_tainted(&self, word: &Word) -> bool {
        word.pieces.iter().any(|piece| match piece {
            Piece::Variable(variable) => self.variable_is_tainted(variable),
            // What a command puts out may come from a value on any way.
            Piece::Substitution { .. } | Piece::Process { .. } => true,
            Piece::Text { .. } | Piece::Glob(_) | Piece::Brace | Piece::Tilde | Piece::Number(_) => false,
        })
    }

    fn command_is_tainted(&self, command: &Command) -> bool {
        let mut look = TaintOf { walk: self, found: false };
        look.command(command);
        look.found
    }
}

/// Whether a value is in a command, or in what feeds it.
struct TaintOf<'w, 'd, N> {
    walk: &'w Walk<'d, N>,
    found: bool,
}

impl<'n, 'd, N: Fn(&str) -> Option<&'n str>> Visit<'d> for TaintOf<'_, '_, N> {
    fn simple(&mut self, simple: &'d Simple) {
        // What a function puts out nobody follows.
        self.found |= program(simple).is_some_and(|name| self.walk.functions.contains(&name));
        simple.assignments.iter().for_each(|assignment| self.word(&assignment.value));
        simple.words.iter().for_each(|word| self.word(word));
        simple.redirects.iter().for_each(|redirect| self.redirect(redirect));
    }

    fn redirect(&mut self, redirect: &'d Redirect) {
        self.found |= self.walk.feeds(redirect);
    }

    fn word(&mut self, word: &'d Word) {
        self.found |= self.walk.is_tainted(word);
    }

    /// It puts out nothing.
    fn calculation(&mut self, _: &'d Calculation) {}
}

impl<'n, 'd, N: Fn(&str) -> Option<&'n str>> Visit<'d> for Walk<'_, N> {
    fn step(&mut self, step: &'d Step) {
        let mut flows = false;
        for command in &step.pipeline {
            if flows && let Some(program) = self.reads_code(command) {
                self.trouble(format!("it is piped into `{program}`"));
            }
            self.command(command);
            flows |= self.command_is_tainted(command);
        }
    }

    fn function(&mut self, function: &'d Function) {
        self.functions.insert(function.name.clone());
        if function.name == "command_not_found_handle" {
            self.tainted.insert(POSITIONAL.to_owned());
        }
        self.runs_input |= self.reads_code(&function.body).is_some();
        inside::function(self, function);
    }

    fn condition(&mut self, condition: &'d Condition) {
        for (at, word) in condition.words.iter().enumerate() {
            let tainted = self.is_tainted(word);
            if condition.numbers.contains(&at) && (tainted || self.may_name_a_value(word)) {
                self.trouble("`[[` compares it as a number, which evaluates it");
            }
            if condition.names.contains(&at) && (tainted || has_subscript(word)) {
                self.trouble("`[[` takes it for the name of a variable, and evaluates a subscript");
            }
        }
        inside::condition(self, condition);
    }

    fn compound(&mut self, compound: &'d Compound) {
        if let Some(variable) = &compound.variable {
            let over_arguments = compound.kind == CompoundKind::ForArguments && self.tainted.contains(POSITIONAL);
            let words = compound.words.iter().any(|word| self.is_tainted(word));
            if words || over_arguments || compound.kind == CompoundKind::Select {
                self.assigned(variable);
            }
            if !compound.words.iter().all(is_exact) || compound.words.is_empty() {
                self.derived.insert(variable.clone());
            }
            if !compound.words.iter().all(is_integer) || compound.words.is_empty() {
                self.no_integers.insert(variable.clone());
            }
        }
        let fed = compound.redirects.iter().any(|redirect| self.feeds(redirect));
        let reader = compound.scripts.iter().flat_map(commands).find_map(|command| self.reads_code(command));
        if let Some(program) = reader.filter(|_| fed || compound.kind == CompoundKind::Coproc) {
            self.trouble(format!("it can come to standard input of `{program}`"));
        }
        inside::compound(self, compound);
    }

    fn simple(&mut self, simple: &'d Simple) {
        inside::simple(self, simple);
        let Some((first, arguments)) = simple.words.split_first() else { return };
        if self.is_tainted(first) {
            return self.trouble("it names the program that runs");
        }
        let tainted: Vec<bool> = arguments.iter().map(|word| self.is_tainted(word)).collect();
        let Some(name) = program(simple) else {
            return self.trouble("beside it stands a program that is only known when it runs");
        };
        // Programs obey variables that nobody has a list of.
        if simple.assignments.iter().any(|assignment| self.is_tainted(&assignment.value)) {
            self.trouble(format!("it is put into the environment of `{name}`"));
        }
        self.hidden_ways(&name, arguments);
        // These give variables values that nobody knows here.
        let builtin = programs::builtin_of(&name);
        if matches!(builtin, Some(Builtin::Fills | Builtin::FillsAndCalls | Builtin::Parses)) {
            if literals(arguments).count() < arguments.len() {
                self.trouble(format!("`{name}` gets names that are only known when it runs"));
            }
            for word in literals(arguments).collect::<Vec<_>>() {
                // An option may have a name behind it, as in `-aname`.
                let name = word.trim_start_matches('-');
                let names = name.char_indices().map(|(at, _)| name.split_at(at).1);
                for name in names.filter(|name| is_name(name)).take(if word.starts_with('-') { 64 } else { 1 }) {
                    self.derived.insert(name.to_owned());
                    self.assigned(name);
                }
            }
        }
        let fed = simple.redirects.iter().any(|redirect| self.feeds(redirect));
        let calls = self.functions.contains(&name) && self.runs_input;
        if fed && (runs_code(&name) || calls || builtin == Some(Builtin::Sources)) {
            self.trouble(format!("it is standard input of `{name}`"));
        }
        if !tainted.contains(&true) {
            return;
        }
        let literal = |at: usize| arguments.get(at).and_then(Word::literal).map(std::borrow::Cow::into_owned);
        if self.functions.contains(&name) || name == "set" && literal(0).as_deref() == Some("--") {
            self.tainted.insert(POSITIONAL.to_owned());
        } else if let Some(builtin) = builtin {
            self.builtin_arguments(&name, builtin, arguments);
        } else if runs_code(&name) {
            self.trouble(format!("it is handed to `{name}`, which can run it"));
        } else {
            self.program_arguments(&name, arguments);
        }
    }

    fn assignment(&mut self, assignment: &'d Assignment) {
        inside::assignment(self, assignment);
        let tainted = self.is_tainted(&assignment.value)
            || assignment.elements.iter().flatten().any(|word| self.is_tainted(word));
        let name = assignment.name.trim_end_matches('+').to_owned();
        if (self.name_of)(&name).is_some() || name.contains('[') {
            self.trouble("it stands in the name of a variable");
        }
        let is_plain = assignment.elements.is_none() && !assignment.name.ends_with('+');
        if !is_plain || !is_exact(&assignment.value) {
            self.derived.insert(name.clone());
        }
        if !is_plain || !is_integer(&assignment.value) {
            self.no_integers.insert(name.clone());
        }
        if variables::is_expanded_again(&name) {
            self.trouble(format!("the text of `{name}` is expanded again"));
        }
        if tainted {
            self.assigned(&name);
        }
    }

    fn process(&mut self, script: &'d Script, _receives: bool) {
        // Others write into it.
        if let Some(program) = commands(script).find_map(|command| self.reads_code(command)) {
            self.trouble(format!("it can come to standard input of `{program}`"));
        }
        self.script(script);
    }

    fn variable(&mut self, variable: &'d Variable) {
        if let Form::Assigned(word) = &variable.form
            && self.is_tainted(word)
        {
            self.assigned(&variable.name);
        }
        inside::variable(self, variable);
    }

    fn arithmetic(&mut self, arithmetic: &'d Arithmetic) {
        if arithmetic.names.iter().any(|name| self.holds_value(name) || self.no_integers.contains(name)) {
            self.trouble("arithmetic evaluates what its variables hold, and one may hold more than a number");
        }
    }
}

/// All commands of a script, but those inside of them.
fn commands(script: &Script) -> impl Iterator<Item = &Command> {
    script.steps.iter().flat_map(|step| &step.pipeline)
}

/// The first program in a command that runs what it reads.
fn runs_its_input(command: &Command, runs: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut look = InputOf { runs, found: None };
    look.command(command);
    look.found
}

struct InputOf<'r> {
    runs: &'r dyn Fn(&str) -> bool,
    found: Option<String>,
}

impl<'d> Visit<'d> for InputOf<'_> {
    fn simple(&mut self, simple: &'d Simple) {
        let in_this_shell =
            |name: &str| matches!(programs::builtin_of(name), Some(Builtin::Sources | Builtin::Evaluates));
        let found = match program(simple) {
            None if simple.words.is_empty() => None,
            None => Some("a program that is only known when it runs".to_owned()),
            Some(name) => (in_this_shell(&name) || (self.runs)(&name)).then_some(name),
        };
        self.found = self.found.take().or(found);
    }

    /// What stands in words has an input of its own.
    fn word(&mut self, _: &'d Word) {}

    /// It is run where it is called.
    fn function(&mut self, _: &'d Function) {}
}

/// True for a program that runs what it is given, as a word or on its standard input, whatever version its name ends with.
pub(super) fn runs_code(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    programs::runs_of(name).takes_code() || programs::runs_of(plain).takes_code()
}

/// True for a variable that is more than a place for text.
fn is_obeyed(variable: &str) -> bool {
    variables::steers(variable).is_some_and(|steers| steers != Steers::Filled)
}

/// True for `$1` and its like, and for `$*`.
fn is_positional(name: &str) -> bool {
    name == "*" || name.bytes().all(|b| b.is_ascii_digit())
}

/// True for a word in which a subscript may stand, and so be evaluated: before any `=` of it.
fn has_subscript(word: &Word) -> bool {
    let is_bracket = matches!(word.pieces.as_slice(), [Piece::Text { text, .. }] if text == "[");
    let before_value = word.pieces.iter().find_map(|piece| match piece {
        Piece::Glob('[') => Some(true),
        Piece::Text { text, .. } if text.contains(['[', '=']) => {
            text.chars().find(|c| matches!(c, '[' | '=')).map(|c| c == '[')
        }
        _ => None,
    });
    !is_bracket && before_value == Some(true)
}

/// True for a word that is one whole value, or written out.
fn is_exact(word: &Word) -> bool {
    let mut pieces = word.pieces.iter().filter(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty()));
    let is_whole = |piece: &Piece| matches!(piece, Piece::Variable(Variable { quoted: true, form: Form::Plain, .. }));
    word.literal().is_some() || pieces.next().is_some_and(is_whole) && pieces.next().is_none()
}

/// True for a word that is a number, whatever runs.
fn is_integer(word: &Word) -> bool {
    let is_number = |piece: &Piece| match piece {
        Piece::Number(_) => true,
        Piece::Text { text, .. } => text.bytes().all(|b| b.is_ascii_digit() || b == b'-'),
        _ => false,
    };
    !word.pieces.is_empty() && word.pieces.iter().all(is_number)
}

/// True for the options of `tar` behind which its archive stands.
fn names_an_archive(option: &str) -> bool {
    option
        .strip_prefix('-')
        .is_some_and(|letters| letters.ends_with('f') && letters.bytes().all(|b| b"cxtruvzjJpkf".contains(&b)))
}

/// The words that are written out.
fn literals(words: &[Word]) -> impl Iterator<Item = String> {
    words.iter().filter_map(Word::literal).map(std::borrow::Cow::into_owned)
}

/// True for a format of `printf` with `%n`, which stores a count in the variable that an argument names.
fn stores_a_count(format: &str) -> bool {
    let conversion = |rest: &str| {
        let behind_flags = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        behind_flags.trim_start_matches(['h', 'l', 'j', 't', 'z', 'L']).starts_with('n')
    };
    format.split('%').skip(1).any(conversion)
}

/// The name of a simple command's program, without its folder.
fn program(simple: &Simple) -> Option<String> {
    let name = simple.words.first()?.literal()?;
    Some(name.rsplit('/').next().unwrap_or(&name).to_owned())
}
