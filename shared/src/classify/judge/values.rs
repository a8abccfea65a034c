//! What variables hold, by the assignments in the text, and the functions that it defines.
//!
//! The text is searched once before the walk: a variable's value is one of all that are assigned to it anywhere. Whether
//! it is set at all at some point, and not inherited, is for the walk to say.

use std::collections::{HashMap, HashSet};

use crate::classify::call::{Arg, Known};
use crate::programs::{self, Builtin};
use crate::shell::visit::{Visit, inside};
use crate::shell::{
    Arithmetic, Command, Compound, CompoundKind, Document, Form, Function, Piece, Script, Shell, Simple, Variable, Word,
};
use crate::variables;

/// Most values that one variable is followed through.
const MAX_VALUES: usize = 16;

/// One value that a variable may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// This text, one that begins and ends so, or a file name that this pattern matches.
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
    /// Functions that are defined somewhere.
    defined: HashSet<String>,
    shell: Shell,
}

/// The functions that a text defines, by name.
pub(super) type Functions<'d> = HashMap<&'d str, Vec<&'d Command>>;

/// True for a builtin whose arguments name variables that it sets.
fn sets(program: &str) -> bool {
    programs::builtin_of(program).is_some_and(|builtin| builtin != Builtin::Tests && builtin.names_variables())
}

/// True for a builtin that runs text.
fn evaluates(program: &str) -> bool {
    programs::builtin_of(program).is_some_and(Builtin::evaluates)
}

/// True for a builtin that declares variables with `name=value`.
pub(super) fn declares(program: &str) -> bool {
    matches!(programs::builtin_of(program), Some(Builtin::Declares { .. }))
}

impl Values {
    pub(super) fn of(document: &Document, shell: Shell) -> Self {
        let defined = functions(document).into_keys().map(str::to_owned).collect();
        let mut values = Self { defined, shell, ..Self::default() };
        values.script(&document.script);
        document.bodies.iter().for_each(|word| values.word(word));
        values
    }

    /// True where a function of this name may stand in the place of the program.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.defined.contains(name)
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

    fn loop_word(&mut self, name: &str, word: &Word) {
        for arg in Arg::all_of(word, &|_| None) {
            let usable = matches!(arg.known, Known::Literal | Known::Words);
            self.add(name, usable.then_some(Value::Text(arg)));
        }
    }
}

impl<'d> Visit<'d> for Values {
    fn simple(&mut self, simple: &'d Simple) {
        for assignment in &simple.assignments {
            let makes_names = !self.defines("mktemp");
            let value = assignment.elements.is_none().then(|| assigned(&assignment.value, makes_names)).flatten();
            match assignment.name.strip_suffix('+') {
                Some(name) => self.forget(name),
                None => self.add(&assignment.name, value),
            }
        }
        inside::simple(self, simple);
        let Some(first) = simple.words.first() else { return };
        let texts = || simple.words.iter().map(Word::literal);
        let Some(program) = first.literal() else {
            self.poisoned = true;
            return;
        };
        // Behind `command` and `builtin`, too.
        let any = |is: &dyn Fn(&str) -> bool| texts().flatten().any(|text| is(&text));
        let wrapped = programs::builtin_of(&program) == Some(Builtin::RunsBehind);
        self.unsets |= any(&|text| programs::builtin_of(text) == Some(Builtin::Removes));
        self.may_fail |= any(&|text| text == "readonly" || text == "failglob")
            || any(&|text| text.starts_with('-') && text.contains('r') && declares(&program));
        // `read -raNAME` and `wait -pNAME` name a variable in an option.
        let glued = |letter: char| texts().flatten().skip(1).any(|text| text.starts_with('-') && text.contains(letter));
        if program == "read" && glued('a') || program == "wait" && glued('p') {
            self.poisoned = true;
            return;
        }
        if evaluates(&program) || wrapped && (any(&evaluates) || any(&sets)) {
            self.poisoned = true;
            return;
        }
        if !sets(&program) {
            return;
        }
        self.forget("REPLY");
        let declares = declares(&program);
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
                None => {
                    let only_text = matches!(programs::builtin_of(&program), Some(Builtin::Format | Builtin::Sets));
                    self.poisoned |= !only_text;
                }
            }
        }
        // `printf -v "$x"` is not Safe; `printf '%s' "$x"` sets nothing.
        if program == "printf" && texts().flatten().any(|text| text.starts_with("-v")) {
            self.poisoned = true;
        }
    }

    fn compound(&mut self, compound: &'d Compound) {
        if let Some(name) = &compound.variable {
            if compound.kind == CompoundKind::For {
                compound.words.iter().for_each(|word| self.loop_word(name, word));
            } else {
                self.forget(name);
            }
        }
        if compound.kind == CompoundKind::Coproc {
            self.forget("COPROC");
        }
        inside::compound(self, compound);
    }

    fn variable(&mut self, variable: &'d Variable) {
        if matches!(variable.form, Form::Assigned(_)) {
            self.forget(&variable.name);
        }
        inside::variable(self, variable);
    }

    fn arithmetic(&mut self, expression: &'d Arithmetic) {
        self.may_fail |= expression.may_fail;
        for name in &expression.assigned {
            self.add(name, Some(Value::Number));
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What an assignment sets, as far as it is known: text, a number, or with what a text begins and ends.
fn assigned(word: &Word, makes_names: bool) -> Option<Value> {
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
            text.map(Arg::literal).or_else(|| in_part(pieces, makes_names)).map(Value::Text)
        }
    }
}

/// A text of which the beginning or the end is known. It is one, whatever stands in its middle: nothing is split here.
fn in_part(pieces: &[Piece], makes_names: bool) -> Option<Arg> {
    let text = |piece: &Piece| match piece {
        Piece::Text { text, .. } if !text.starts_with('~') => Some(text.clone()),
        _ => None,
    };
    // Quotes leave an empty text in front.
    let is_empty = |piece: &&Piece| matches!(piece, Piece::Text { text, .. } if text.is_empty());
    let (first, rest) = pieces.get(pieces.iter().take_while(is_empty).count()..)?.split_first()?;
    let mut start = match first {
        Piece::Tilde => "~".to_owned(),
        // Should it fail, what stands behind it is the whole.
        Piece::Substitution { script, .. }
            if makes_names
                && is_temporary(script)
                && rest.iter().all(|piece| matches!(piece, Piece::Text { text, .. } if !text.contains("dev"))) =>
        {
            "/tmp/".to_owned()
        }
        _ => text(first).unwrap_or_default(),
    };
    if !start.is_empty() && !matches!(first, Piece::Substitution { .. }) {
        start.extend(rest.iter().map_while(text));
    }
    let mut ends: Vec<String> = rest.iter().rev().map_while(text).collect();
    ends.reverse();
    let tail = ends.concat();
    let is_known = !start.is_empty() || !tail.is_empty();
    is_known.then(|| {
        let mut arg = Arg::unknown(start, Known::OneWord).with_end(&tail);
        arg.wanders = tail.contains("..");
        arg
    })
}

/// True for `$(mktemp)`: a file or folder that was not there before, where temporary ones are.
fn is_temporary(script: &Script) -> bool {
    script.as_plain_call().and_then(<[Word]>::split_first).is_some_and(|(program, options)| {
        let is = |word: &Word, text: &str| word.literal().as_deref() == Some(text);
        is(program, "mktemp") && options.iter().all(|option| is(option, "-d"))
    })
}

/// True when an unquoted `$x` with this value is one word with this very text.
pub(super) fn stays_whole(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '\n', '*', '?', '[', '\\'])
}

/// The functions that a text defines, at any depth.
pub(super) fn functions(document: &Document) -> Functions<'_> {
    let mut found = Functions::new();
    found.script(&document.script);
    found
}

impl<'d> Visit<'d> for Functions<'d> {
    /// What a substitution defines is gone with it.
    fn word(&mut self, _: &'d Word) {}

    fn function(&mut self, function: &'d Function) {
        self.entry(&function.name).or_default().push(&function.body);
        inside::function(self, function);
    }
}

impl Variable {
    /// True for `$name` and `${name}`.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.form, Form::Plain)
    }
}
