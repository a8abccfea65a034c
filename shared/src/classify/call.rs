//! One call of a program: its name and arguments, as far as they are known before it runs.

use super::braces;
use crate::shell::{Form, Piece, Word};

/// A call of a program.
#[derive(Debug, Clone)]
pub struct Call {
    /// The program as the text names it, after quote removal.
    pub program: String,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// True when an argument holds the output of a command that fetches untrusted content.
    pub fetched_in_words: bool,
    /// The literal text that a here-document or here-string feeds it.
    pub fed: Option<String>,
}

/// One argument as written; it may become none or many when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    /// The literal text, or the literal text before the first expansion: see `exact` and `start`.
    start: String,
    /// The literal text behind the last expansion.
    pub tail: String,
    /// How far the text can be trusted.
    pub known: Known,
    /// True when it may lead out of the folder that its first text names: a brace, or `..` behind a pattern.
    pub wanders: bool,
    /// True for a pattern that stands for names of one folder only, each with this text before and this tail behind.
    pub in_one_folder: bool,
    /// Of names that were found below a folder: patterns of which each fits one. None says nothing.
    pub found_by: Vec<String>,
}

/// How far an argument is known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Exactly this text.
    Literal,
    /// Exactly one argument that starts with this text.
    OneWord,
    /// Any number of arguments, each of which starts with this text (globs, braces).
    Words,
    /// Any number of arguments with any text.
    Anything,
    /// The name of a pipe to a part of the same command.
    Pipe,
}

impl Arg {
    /// An argument whose text is known.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::unknown(text, Known::Literal)
    }

    /// An argument that starts with this text and goes on in an unknown way.
    pub fn unknown(text: impl Into<String>, known: Known) -> Self {
        Self {
            start: text.into(),
            tail: String::new(),
            known,
            wanders: false,
            in_one_folder: false,
            found_by: Vec::new(),
        }
    }

    /// The same, as names of which each fits one of these patterns; none says nothing.
    #[must_use]
    pub fn found_by(self, patterns: &[String]) -> Self {
        Self { found_by: patterns.to_vec(), ..self }
    }

    /// What the text of a word says about the arguments it makes; `known` tells what variables hold, and substitutions print.
    pub fn all_of(word: &Word, known: &dyn Fn(&Piece) -> Option<Self>) -> Vec<Self> {
        match braces::expand(&word.pieces) {
            Some(words) => words.iter().map(|pieces| of_pieces(pieces.iter(), known)).collect(),
            None => vec![of_pieces(word.pieces.iter(), known)],
        }
    }

    /// The exact text, if known.
    pub fn exact(&self) -> Option<&str> {
        (self.known == Known::Literal).then_some(&self.start)
    }

    /// True when it is exactly this text.
    pub fn is(&self, text: &str) -> bool {
        self.exact() == Some(text)
    }

    /// What it begins with, whatever follows; the whole text where that is known. What a word begins with says what it
    /// may become, never what it is: a rule that allows something asks `exact`.
    pub fn start(&self) -> &str {
        &self.start
    }

    /// The same word with this in place of its beginning.
    #[must_use]
    pub fn with_start(&self, start: impl Into<String>) -> Self {
        Self { start: start.into(), ..self.clone() }
    }

    /// The same beginning, and another end.
    #[must_use]
    pub fn with_tail(&self, tail: &str) -> Self {
        Self { tail: tail.to_owned(), ..self.clone() }
    }

    /// The same word with this behind it.
    #[must_use]
    pub fn with_end(&self, end: &str) -> Self {
        let mut word = self.clone();
        let known = if word.known == Known::Literal { &mut word.start } else { &mut word.tail };
        known.push_str(end);
        word
    }

    /// The same for whoever opens `-` as a file of that name.
    #[must_use]
    pub fn opened(&self) -> Self {
        if self.is("-") { Self::literal("./-") } else { self.clone() }
    }

    /// True when it is exactly one argument, whatever its text.
    pub fn is_one(&self) -> bool {
        matches!(self.known, Known::Literal | Known::OneWord | Known::Pipe)
    }

    /// True for one name of which a part is known: behind a variable in a loop, say.
    pub fn is_one_name(&self) -> bool {
        matches!(self.known, Known::OneWord | Known::Words)
    }

    /// True when it is, or may turn out to be, an option.
    pub fn may_be_option(&self) -> bool {
        match self.known {
            Known::Literal => self.start.len() > 1 && self.start.starts_with('-'),
            Known::OneWord | Known::Words => self.start.is_empty() || self.start.starts_with('-'),
            Known::Anything => true,
            Known::Pipe => false,
        }
    }
}

/// The argument that these pieces make.
fn of_pieces<'p>(pieces: impl Iterator<Item = &'p Piece>, known: &dyn Fn(&Piece) -> Option<Arg>) -> Arg {
    let mut arg = Arg::literal("");
    let mut only = true;
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        // A folder is a part of a path where nothing is glued to it.
        let ends = pieces.peek().is_none_or(|next| matches!(next, Piece::Text { text, .. } if text.starts_with('/')));
        let first = std::mem::replace(&mut only, false);
        let open = match piece {
            // Not the home folder, but a name that starts with a tilde.
            Piece::Text { text, .. } if first && text.starts_with('~') => Arg::unknown("", Known::OneWord),
            Piece::Text { text, .. } => {
                append(&mut arg, text);
                // An empty text in front, as quotes leave it, is no start.
                only = first && text.is_empty();
                continue;
            }
            // A leading tilde counts as text: whoever reads a path knows what `~/x` means.
            Piece::Tilde if first => {
                append(&mut arg, "~");
                continue;
            }
            // The shell puts the name of a pipe there; the reader lets nothing stand beside it.
            Piece::Process { .. } => Arg::unknown("", Known::Pipe),
            // The home folder is a path only where a word starts with it; elsewhere `~` does not stand for it.
            Piece::Variable(variable) => {
                match known(piece).filter(|value| !is_folder(piece) && !value.start.starts_with('~') || first && ends) {
                    Some(value) => value,
                    None if variable.quoted && !matches!(variable.form, Form::Elements) && !splits(piece) => {
                        Arg::unknown("", Known::OneWord)
                    }
                    None => Arg::unknown("", Known::Anything),
                }
            }
            Piece::Substitution { quoted, .. } => {
                let open = || Arg::unknown("", if *quoted { Known::OneWord } else { Known::Anything });
                // A folder is a path where a word starts with it; a text is what it is.
                known(piece).filter(|value| first && ends || !value.is(".")).unwrap_or_else(open)
            }
            Piece::Number(_) | Piece::Tilde => Arg::unknown("", Known::OneWord),
            // What stands behind a bracket is a part of the pattern.
            Piece::Glob(mark) => Arg { in_one_folder: matches!(mark, '*' | '?'), ..Arg::unknown("", Known::Words) },
            Piece::Brace => Arg { wanders: true, ..Arg::unknown("", Known::Words) },
        };
        join(&mut arg, open, first);
    }
    arg
}

/// True for a variable that holds a folder by its whole path.
fn is_folder(piece: &Piece) -> bool {
    matches!(piece, Piece::Variable(variable) if matches!(variable.name.as_str(), "PWD" | "HOME"))
}

fn splits(piece: &Piece) -> bool {
    matches!(piece, Piece::Variable(variable) if variable.operand().is_some_and(Word::splits))
}

fn append(arg: &mut Arg, text: &str) {
    if arg.known == Known::Literal {
        arg.start.push_str(text);
    } else {
        // Only what stands behind the last expansion is the tail.
        arg.tail.push_str(text);
        arg.wanders |= text.contains("..");
        arg.in_one_folder &= !text.contains('/');
    }
}

/// Adds an expansion to what came before it.
fn join(arg: &mut Arg, more: Arg, alone: bool) {
    if alone {
        *arg = more;
        return;
    }
    if arg.known == Known::Literal {
        arg.start.push_str(&more.start);
        arg.in_one_folder = more.in_one_folder;
    } else {
        arg.wanders |= more.start.contains("..");
        // `**` may stand for folders in folders.
        let glued = arg.tail.is_empty() && more.start.is_empty();
        let literal = more.known == Known::Literal;
        arg.in_one_folder &= !more.start.contains('/') && (literal || more.in_one_folder && !glued);
    }
    if more.known == Known::Literal {
        if arg.known != Known::Literal {
            arg.tail.push_str(&more.start);
        }
        return;
    }
    arg.wanders |= more.wanders;
    arg.tail = more.tail;
    arg.known = match (arg.known, more.known) {
        (Known::Anything, _) | (_, Known::Anything) => Known::Anything,
        (Known::Words, _) | (_, Known::Words) => Known::Words,
        _ => Known::OneWord,
    };
}

/// Which options a program may be called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Letters of short options without a value.
    pub flags: &'static str,
    /// Letters of short options with a value, glued or as the next argument. Of several lists, the first that knows a letter counts.
    pub values: &'static str,
    /// Long options with their dashes: `--x` has no value, `--x=` has one, `--x=?` may have one behind `=`.
    pub long: &'static [&'static str],
}

/// The arguments of a call, sorted.
#[derive(Debug, Default)]
pub struct Scan<'c> {
    /// Options in order: name with dashes, and the value if it has one.
    pub options: Vec<(String, Option<Arg>)>,
    /// Those that stand behind others in one word, and take the next word as their value. A program that does not take several in one
    /// word may see an option in that.
    pub clustered: Vec<(String, Arg)>,
    /// Those of one letter whose value is the next word, where that is, or may turn out to be, an option by itself. Not every program
    /// takes such a word for a value.
    pub apart: Vec<(String, Arg)>,
    /// Everything else.
    pub operands: Vec<&'c Arg>,
}

impl Scan<'_> {
    /// The value of an option, by any of its names; the last one counts.
    pub fn value(&self, names: &[&str]) -> Option<&Arg> {
        self.options.iter().rev().find(|(name, _)| names.contains(&name.as_str())).and_then(|(_, value)| value.as_ref())
    }

    /// True when one of these options is given.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }
}

impl Options {
    /// None at all.
    pub const NONE: Self = Self { flags: "", values: "", long: &[] };

    /// Sorts the arguments. Fails with a reason at the first that is not listed, or that may turn out not to be.
    ///
    /// Abbreviated long options are not listed, so they fail too.
    pub fn scan<'c>(&self, args: &'c [Arg]) -> Result<Scan<'c>, String> {
        Sorter { lists: std::slice::from_ref(self), strict: true }.sort(args)
    }

    /// Sorts the arguments by several lists at once.
    pub fn scan_any<'c>(lists: &[Self], args: &'c [Arg]) -> Result<Scan<'c>, String> {
        Sorter { lists, strict: true }.sort(args)
    }

    /// Sorts the arguments of a program that no option can lead astray: an unlisted one counts as one without value.
    pub fn scan_loosely<'c>(&self, args: &'c [Arg]) -> Result<Scan<'c>, String> {
        Sorter { lists: std::slice::from_ref(self), strict: false }.sort(args)
    }
}

/// Lists of options by which arguments are sorted.
struct Sorter<'o> {
    lists: &'o [Options],
    /// True when an option that is on no list fails.
    strict: bool,
}

impl Sorter<'_> {
    fn sort<'c>(&self, args: &'c [Arg]) -> Result<Scan<'c>, String> {
        let strict = self.strict;
        let knows = |list: &&Options, letter: char| list.flags.contains(letter) || list.values.contains(letter);
        let first = |letter: char| self.lists.iter().find(|list| knows(list, letter));
        let takes_value = |letter: char| first(letter).is_some_and(|list| list.values.contains(letter));
        let is_flag = |letter: char| first(letter).is_some();
        let mut scan = Scan::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if !arg.may_be_option() {
                scan.operands.push(arg);
                continue;
            }
            let Some(text) = arg.exact() else {
                if strict {
                    return Err(format!("`{}…` may turn into an option when it runs", arg.start));
                }
                scan.operands.push(arg);
                continue;
            };
            if text == "--" {
                scan.operands.extend(rest);
                break;
            }
            if let Some(body) = text.strip_prefix("--") {
                let (name, glued) = body.split_once('=').map_or((body, None), |(name, value)| (name, Some(value)));
                let option = format!("--{name}");
                let listed = |suffix: &str| {
                    let listed = |long: &&str| long.strip_prefix(option.as_str()) == Some(suffix);
                    self.lists.iter().any(|list| list.long.iter().any(listed))
                };
                let value = match glued {
                    Some(value) if listed("=") || listed("=?") || !strict => Some(Arg::literal(value)),
                    None if listed("=") => match one_value(rest.next(), &option)? {
                        // Some programs, git among them, take a value only where it is glued to its option: to them this
                        // would be another option.
                        Some(value) if strict && value.may_be_option() => {
                            return Err(format!("the value of `{option}` looks like an option"));
                        }
                        value => value,
                    },
                    None if listed("") || listed("=?") || !strict => None,
                    _ => return Err(format!("the option `{option}` is not on its list")),
                };
                scan.options.push((option, value));
                continue;
            }
            let letters = text.get(1..).unwrap_or("");
            for (at, letter) in letters.char_indices() {
                let option = format!("-{letter}");
                if takes_value(letter) {
                    let glued = letters.get(at + letter.len_utf8()..).unwrap_or("");
                    let value =
                        if glued.is_empty() { one_value(rest.next(), &option)? } else { Some(Arg::literal(glued)) };
                    if let Some(value) = value.as_ref().filter(|value| glued.is_empty() && value.may_be_option()) {
                        scan.apart.push((option.clone(), value.clone()));
                    }
                    if let Some(value) = value.as_ref().filter(|_| at > 0 && glued.is_empty()) {
                        if strict && value.exact().is_some_and(|text| text.len() > 1 && text.starts_with('-')) {
                            return Err(format!("the value of `{option}`, behind other letters, looks like an option"));
                        }
                        scan.clustered.push((option.clone(), value.clone()));
                    }
                    scan.options.push((option, value));
                    break;
                }
                if strict && !is_flag(letter) {
                    return Err(format!("the option `{option}` is not on its list"));
                }
                scan.options.push((option, None));
            }
        }
        Ok(scan)
    }
}

/// The argument that an option takes: one that may turn into several would bring arguments of its own.
fn one_value(value: Option<&Arg>, option: &str) -> Result<Option<Arg>, String> {
    match value {
        Some(value) if !value.is_one() => {
            Err(format!("the value of `{option}` may turn into several words when it runs"))
        }
        value => Ok(value.cloned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SORT: Options = Options { flags: "nr", values: "k", long: &["--reverse", "--key=", "--color=?"] };

    fn scan(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let args: Vec<Arg> = text.split_whitespace().map(Arg::literal).collect();
        SORT.scan(&args).map(|scan| {
            let options = scan.options.iter().map(|(name, value)| {
                value.as_ref().map_or_else(|| name.clone(), |value| format!("{name}={}", value.start))
            });
            (options.collect(), scan.operands.iter().map(|arg| arg.start.clone()).collect())
        })
    }

    #[test]
    fn listed_options_are_sorted_and_others_refused() {
        for (text, options, operands) in [
            ("-nr a", vec!["-n", "-r"], vec!["a"]),
            ("-k 2 a b", vec!["-k=2"], vec!["a", "b"]),
            ("-nk2 a", vec!["-n", "-k=2"], vec!["a"]),
            ("a -n", vec!["-n"], vec!["a"]),
            ("--key=2 a", vec!["--key=2"], vec!["a"]),
            ("--key 2 a", vec!["--key=2"], vec!["a"]),
            ("--color a", vec!["--color"], vec!["a"]),
            ("-- -x", vec![], vec!["-x"]),
            ("-", vec![], vec!["-"]),
        ] {
            let (found_options, found_operands) = scan(text).unwrap();
            assert_eq!(found_options, options, "{text}");
            assert_eq!(found_operands, operands, "{text}");
        }
        for text in ["-o x", "--compress-program=sh", "--rev", "-nx", "--reverse=1"] {
            assert!(scan(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_may_become_an_option_is_refused() {
        for (known, text, refused) in [
            (Known::Words, "", true),
            (Known::Words, "src/", false),
            (Known::OneWord, "", true),
            (Known::OneWord, "--k", true),
            (Known::OneWord, "a", false),
            (Known::Anything, "src/", true),
        ] {
            let args = [Arg::unknown(text, known)];
            assert_eq!(SORT.scan(&args).is_err(), refused, "{known:?} {text}");
        }
    }
}
