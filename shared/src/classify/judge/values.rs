//! What variables hold, by the assignments in the text, and the functions that it defines.
//!
//! The text is searched once before the walk: a variable's value is one of all that are assigned to it anywhere. Whether
//! it is set at all at some point, and not inherited, is for the walk to say.

use std::collections::HashMap;

use crate::classify::call::{Arg, Known};
use crate::classify::variables;
use crate::shell::{
    Arithmetic, Command, CompoundKind, Document, Form, Piece, RedirectTarget, Script, Shell, Simple, Variable, Word,
};

/// Most values that one variable is followed through.
const MAX_VALUES: usize = 16;

/// One value that a variable may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// This text, or a file name that this pattern matches.
    Text(Arg),
    /// Digits, perhaps with a minus sign.
    Number,
}

impl Value {
    /// True when the shell may evaluate it as an expression: nothing but digits.
    pub(super) fn is_number(&self) -> bool {
        match self {
            Self::Number => true,
            Self::Text(arg) => {
                arg.exact()
                    // With a leading zero it would be another base, or an error.
                    .is_some_and(|text| {
                        text == "0"
                            || !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
                    })
            }
        }
    }
}

/// The values of all variables of a text.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// `None` for a variable that may hold anything.
    known: HashMap<String, Option<Vec<Value>>>,
    /// Something may set any variable.
    poisoned: bool,
    /// Something may be an error that ends its line, so that what follows on it does not happen.
    may_fail: bool,
    /// Something may take functions away.
    unsets: bool,
    shell: Shell,
}

/// The functions that a text defines, by name.
pub(super) type Functions<'d> = HashMap<&'d str, Vec<&'d Command>>;

/// Builtins whose arguments name variables that they set.
const SETTERS: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "getopts",
    "printf",
    "unset",
    "wait",
    "let",
    "set",
    "shift",
];
/// Builtins that run text.
const EVALUATORS: &[&str] =
    &["eval", "source", ".", "trap", "let", "mapfile", "readarray", "enable", "bind", "complete", "compgen"];
/// Builtins that declare variables with `name=value`.
pub(super) const DECLARING: &[&str] = &["export", "local", "readonly", "declare", "typeset"];

impl Values {
    pub(super) fn of(document: &Document, shell: Shell) -> Self {
        let mut values = Self { shell, ..Self::default() };
        values.script(&document.script);
        document.bodies.iter().for_each(|word| values.word(word));
        values
    }

    /// The values that a variable may have once it is set, or `None`.
    pub(super) fn lookup(&self, name: &str) -> Option<&[Value]> {
        if self.poisoned || self.may_fail {
            return None;
        }
        self.known.get(name)?.as_deref()
    }

    /// True when nothing in the text sets this variable.
    pub(super) fn is_untouched(&self, name: &str) -> bool {
        !self.poisoned && !self.known.contains_key(name)
    }

    /// True when a definition of a function stays in force once the walk has passed it.
    pub(super) fn keeps_functions(&self) -> bool {
        !self.poisoned && !self.may_fail && !self.unsets
    }

    fn forget(&mut self, name: &str) {
        self.known.insert(name.to_owned(), None);
    }

    fn add(&mut self, name: &str, value: Option<Value>) {
        let shell = self.shell;
        let usable = value.filter(|_| {
            variables::harm_of_setting(name, shell).is_none() && name != "_" && name.bytes().all(is_name_byte)
        });
        let slot = self.known.entry(name.to_owned()).or_insert_with(|| Some(Vec::new()));
        match (slot.as_mut(), usable) {
            (Some(list), Some(value)) if list.len() < MAX_VALUES => {
                if !list.contains(&value) {
                    list.push(value);
                }
            }
            (None, _) => {}
            _ => *slot = None,
        }
    }

    fn script(&mut self, script: &Script) {
        for command in script.steps.iter().flat_map(|step| &step.pipeline) {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => {
                if let Some(name) = &compound.variable {
                    if compound.kind == CompoundKind::For {
                        for word in &compound.words {
                            self.loop_word(name, word);
                        }
                    } else {
                        self.forget(name);
                    }
                }
                for word in &compound.words {
                    self.word(word);
                }
                for expression in &compound.expressions {
                    self.arithmetic(expression);
                }
                for redirect in &compound.redirects {
                    self.target(&redirect.target);
                }
                if compound.kind == CompoundKind::Coproc {
                    self.forget("COPROC");
                }
                for script in &compound.scripts {
                    self.script(script);
                }
            }
            Command::Function { body, .. } => self.command(body),
            Command::Condition(condition) => {
                for word in &condition.words {
                    self.word(word);
                }
                for redirect in &condition.redirects {
                    self.target(&redirect.target);
                }
            }
            Command::Arithmetic { expression, redirects, .. } => {
                self.arithmetic(expression);
                for redirect in redirects {
                    self.target(&redirect.target);
                }
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            let value = if assignment.elements.is_none() { assigned(&assignment.value) } else { None };
            match assignment.name.strip_suffix('+') {
                Some(name) => self.forget(name),
                None => self.add(&assignment.name, value),
            }
            self.word(&assignment.value);
            assignment.elements.iter().flatten().for_each(|word| self.word(word));
        }
        for word in &simple.words {
            self.word(word);
        }
        for redirect in &simple.redirects {
            self.target(&redirect.target);
        }
        let Some(first) = simple.words.first() else { return };
        let texts = || simple.words.iter().map(Word::literal);
        let Some(program) = first.literal() else {
            self.poisoned = true;
            return;
        };
        // Behind `command` and `builtin`, too.
        let has = |names: &[&str]| texts().flatten().any(|text| names.contains(&text.as_ref()));
        let wrapped = matches!(program.as_ref(), "command" | "builtin");
        self.unsets |= has(&["unset", "unalias"]);
        self.may_fail |= has(&["readonly", "failglob"])
            || texts()
                .flatten()
                .any(|text| text.starts_with('-') && text.contains('r') && DECLARING.contains(&program.as_ref()));
        // `read -raNAME` and `wait -pNAME` name a variable in an option.
        let glued = |letter: char| texts().flatten().skip(1).any(|text| text.starts_with('-') && text.contains(letter));
        if program == "read" && glued('a') || program == "wait" && glued('p') {
            self.poisoned = true;
            return;
        }
        if EVALUATORS.contains(&program.as_ref()) || wrapped && (has(EVALUATORS) || has(SETTERS)) {
            self.poisoned = true;
            return;
        }
        if !SETTERS.contains(&program.as_ref()) {
            return;
        }
        self.forget("REPLY");
        let declares = DECLARING.contains(&program.as_ref());
        let plain = declares && !texts().flatten().any(|text| text.starts_with(['-', '+']));
        for word in simple.words.iter().skip(1) {
            let prefix = word.literal_prefix();
            let name = prefix.split('=').next().unwrap_or("").trim_end_matches('+').to_owned();
            match word.literal() {
                Some(text) if plain && text.contains('=') && !prefix.contains("+=") => {
                    let value = text.split_once('=').map_or("", |(_, value)| value);
                    self.add(&name, Some(Value::Text(Arg::literal(value))));
                }
                // `local x` empties it, `export x` does not; both leave a value that is not in the text.
                Some(_) => self.forget(&name),
                None if declares && prefix.contains('=') => self.forget(&name),
                None => self.poisoned |= program != "printf" && program != "set" && program != "shift",
            }
        }
        // `printf -v "$x"` is not Safe; `printf '%s' "$x"` sets nothing.
        if program == "printf" && texts().flatten().any(|text| text.starts_with("-v")) {
            self.poisoned = true;
        }
    }

    fn loop_word(&mut self, name: &str, word: &Word) {
        for arg in Arg::all_of(word, &|_| None) {
            let usable = matches!(arg.known, Known::Literal | Known::Words);
            self.add(name, usable.then_some(Value::Text(arg)));
        }
    }

    fn arithmetic(&mut self, expression: &Arithmetic) {
        self.may_fail |= expression.may_fail;
        for name in &expression.assigned {
            self.add(name, Some(Value::Number));
        }
    }

    fn target(&mut self, target: &RedirectTarget) {
        match target {
            RedirectTarget::Path(word) | RedirectTarget::Text(word) => self.word(word),
            RedirectTarget::Descriptor | RedirectTarget::Here(_) => {}
        }
    }

    fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Substitution { script, .. } | Piece::Process(script) => self.script(script),
                Piece::Number(expression) => self.arithmetic(expression),
                Piece::Variable(variable) => {
                    self.arithmetic(&variable.arithmetic);
                    if matches!(variable.form, Form::Assigned(_)) {
                        self.forget(&variable.name);
                    }
                    if let Some(operand) = variable.operand() {
                        self.word(operand);
                    }
                }
                Piece::Text { .. } | Piece::Glob(_) | Piece::Brace | Piece::Tilde => {}
            }
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What an assignment sets: text without any expansion, or a number.
fn assigned(word: &Word) -> Option<Value> {
    match word.pieces.as_slice() {
        [Piece::Number(_)] | [Piece::Text { quoted: false, .. }, Piece::Number(_)]
            if word.literal_prefix().is_empty() =>
        {
            Some(Value::Number)
        }
        pieces => {
            // No braces and no patterns are expanded here.
            let text: Option<String> = pieces
                .iter()
                .enumerate()
                .map(|(index, piece)| match piece {
                    Piece::Text { text, .. } if text.starts_with('~') => None,
                    Piece::Text { text, .. } => Some(text.as_str()),
                    Piece::Tilde if index == 0 || index == 1 && word.literal_prefix().is_empty() => Some("~"),
                    _ => None,
                })
                .collect();
            text.map(|text| Value::Text(Arg::literal(text)))
        }
    }
}

/// True when an unquoted `$x` with this value is one word with this very text.
pub(super) fn stays_whole(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

/// The functions that a text defines, at any depth.
pub(super) fn functions(document: &Document) -> Functions<'_> {
    let mut found = Functions::new();
    collect(&document.script, &mut found);
    found
}

fn collect<'d>(script: &'d Script, found: &mut Functions<'d>) {
    for command in script.steps.iter().flat_map(|step| &step.pipeline) {
        collect_in(command, found);
    }
}

fn collect_in<'d>(command: &'d Command, found: &mut Functions<'d>) {
    match command {
        Command::Compound(compound) => compound.scripts.iter().for_each(|script| collect(script, found)),
        Command::Function { name, body, .. } => {
            found.entry(name).or_default().push(body);
            collect_in(body, found);
        }
        Command::Simple(_) | Command::Condition(_) | Command::Arithmetic { .. } => {}
    }
}

impl Variable {
    /// True for `$name` and `${name}`.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.form, Form::Plain)
    }
}
