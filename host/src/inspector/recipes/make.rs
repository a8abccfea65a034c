//! The recipes of a makefile, read as GNU make reads them as far as that is plain (its manual, and `read.c`). Whatever is not plain is
//! [`OPEN`]: nobody knows what runs.
//!
//! Plain are comments, assignments of text, rules of plain names, and recipes whose variables are such text. Functions, includes,
//! definitions of several lines, names and values that wildcards or the environment give, and everything by which make reads or runs
//! otherwise than it stands there, are not.

use std::collections::HashMap;

use bashgate_shared::{programs, variables};

use super::{OPEN, alone};

/// Most times that a variable is put in for its name.
const DEEPEST: usize = 8;
/// Longest recipe with its variables put in, in bytes.
const LONGEST: usize = 64 * 1024;
/// What stands for the names of a rule's own files.
const OF_THE_RULE: &str = "file-of-the-rule";
/// Assignments, the longest first.
const ASSIGNS: [&str; 7] = [":::=", "::=", ":=", "?=", "+=", "!=", "="];
/// Targets by which make reads or runs otherwise.
const SPECIAL: [&str; 4] = [".ONESHELL", ".SECONDEXPANSION", ".RECIPEPREFIX", ".SHELLFLAGS"];
/// What make's own rules start where a target has no recipe, by the variables that somebody may set.
const BUILT_IN: [&str; 4] = [
    "$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH) $@ $(LOADLIBES) $(LDLIBS)",
    "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH) $@ $(LOADLIBES) $(LDLIBS)",
    "$(AS) $(ASFLAGS) $@",
    "$(AR) $(ARFLAGS) $@",
];
/// The variables of these rules that are flags.
const FLAGS: [&str; 10] = [
    "CFLAGS",
    "CPPFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "LDLIBS",
    "LOADLIBES",
    "TARGET_ARCH",
    "ASFLAGS",
    "ARFLAGS",
    "OUTPUT_OPTION",
];

/// How make is called.
#[derive(Debug, Default)]
pub(super) struct Called<'c> {
    /// Its words, without its name; `None` for one that is only known when it runs.
    pub words: Vec<Option<&'c str>>,
    /// Variables that the command sets.
    pub sets: &'c [String],
}

/// What a variable is.
#[derive(Debug, Clone)]
enum Value {
    /// This text, in which others may stand.
    Text(String),
    /// Nobody knows.
    Any,
}

/// The recipes as a script; [`OPEN`] stands among them as a command where not all of it is plain.
pub(super) fn recipes(head: &str, called: &Called<'_>) -> String {
    let mut file = Makefile::default();
    file.called(called);
    file.read(head);
    file.text
}

#[derive(Debug, Default)]
struct Makefile {
    /// What the file has set, or the call, which comes before.
    variables: HashMap<String, Value>,
    /// Names that the call sets.
    fixed: Vec<String>,
    /// How many conditions stand around what is read now.
    conditions: usize,
    /// The recipes so far.
    text: String,
}

impl Makefile {
    fn is_open(&mut self) {
        self.text.push_str(&alone(OPEN));
    }

    fn called(&mut self, called: &Called<'_>) {
        for name in called.sets {
            self.fix(name, Value::Any);
        }
        for word in &called.words {
            match word {
                // `-e`, also among letters, and what is read besides.
                Some(word) if word.starts_with("--e") || letters_of(word).contains(['e', 'E']) => self.is_open(),
                Some(word) if word.starts_with('-') => {}
                Some(word) if word.contains('=') => match assignment(word) {
                    Some((name, _, value)) if is_name(name) && !value.contains('$') && !sets_what_runs(name, value) => {
                        self.fix(name, Value::Text(value.to_owned()));
                    }
                    _ => self.is_open(),
                },
                Some(word) if is_plain(word) => {}
                Some(_) | None => self.is_open(),
            }
        }
    }

    fn fix(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
        self.fixed.push(name.to_owned());
    }

    fn read(&mut self, head: &str) {
        // What Rust takes for a blank and make does not, or the other way round.
        if head.chars().any(|c| (c.is_control() || c.is_whitespace() || c == '\u{feff}') && !" \n\t\r".contains(c)) {
            self.is_open();
        }
        let head = head.replace("\r\n", "\n");
        if head.contains('\r') {
            self.is_open();
        }
        // All variables before the first recipe, since a recipe takes what the whole file says of them.
        let mut recipes = Vec::new();
        let mut in_rule = false;
        for Logical { line, goes_on } in &logical(&head) {
            if let Some(recipe) = line.strip_prefix('\t') {
                if in_rule {
                    recipes.push(recipe.to_owned());
                } else if !recipe.trim().is_empty() && !recipe.trim_start().starts_with('#') {
                    self.is_open();
                }
                continue;
            }
            let line = line.trim_start_matches(' ');
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            // A `#` that is none, a backslash that is one, and a recipe that goes on behind its rule.
            if line.contains('\\') || *goes_on && line.contains(';') {
                self.is_open();
            }
            let line = line.split('#').next().unwrap_or_default().trim_end();
            let first = line.split([' ', '\t']).next().unwrap_or_default();
            match first {
                "ifeq" | "ifneq" | "ifdef" | "ifndef" if functions_are_few(line) => self.conditions += 1,
                "else" if functions_are_few(line) => {}
                "endif" => self.conditions = self.conditions.saturating_sub(1),
                "export" | "unexport" if line.split_whitespace().skip(1).all(is_name) => in_rule = false,
                "export" if assignment(line.trim_start_matches("export")).is_some() => {
                    in_rule = false;
                    self.assign(line.trim_start_matches("export"));
                }
                "define" | "endef" | "include" | "-include" | "sinclude" | "load" | "-load" | "vpath" | "undefine"
                | "override" | "private" => {
                    self.is_open();
                }
                _ => in_rule = self.line(line, &mut recipes),
            }
        }
        for recipe in recipes {
            self.recipe(&recipe);
        }
        for rule in BUILT_IN {
            let names = rule.split(['(', ')']).filter(|name| is_name(name));
            if names.clone().any(|name| self.variables.contains_key(name)) {
                self.recipe(rule);
            }
        }
    }

    /// An assignment, or a rule: whether recipes may follow.
    fn line(&mut self, line: &str, recipes: &mut Vec<String>) -> bool {
        // What stands in brackets of make's divides nothing.
        let Some(outside) = outside_of_brackets(line) else {
            self.is_open();
            return true;
        };
        let assigns =
            assignment(line).filter(|(name, ..)| !outside_of_brackets(name).unwrap_or_default().contains(':'));
        if assigns.is_some() {
            self.assign(line);
            return false;
        }
        let Some(colon) = outside.find(':') else {
            self.is_open();
            return true;
        };
        let (targets, behind) = (line.get(..colon).unwrap_or_default(), line.get(colon..).unwrap_or_default());
        let behind = behind.trim_start_matches(':');
        let targets = targets.trim_end_matches('&');
        if SPECIAL.iter().any(|special| targets.split_whitespace().any(|target| target == *special)) {
            self.is_open();
        }
        // Of these targets alone: which value counts is not told apart.
        let own = behind.trim_start();
        let own = ["export", "private", "override"]
            .iter()
            .fold(own, |own, word| own.strip_prefix(&format!("{word} ")).unwrap_or(own).trim_start());
        if let Some((name, ..)) = assignment(own).filter(|(name, ..)| is_name(name) && !behind.contains(';')) {
            self.assign(own);
            self.variables.insert(name.to_owned(), Value::Any);
            return true;
        }
        let (before, recipe) = match behind.split_once(';') {
            Some((before, recipe)) => (before, Some(recipe)),
            None => (behind, None),
        };
        let names = [targets, before].map(|part| self.expanded(part, 0));
        if !names.iter().all(|names| names.as_deref().is_some_and(|names| names.split_whitespace().all(is_plain_name)))
        {
            self.is_open();
        }
        recipes.extend(recipe.map(str::to_owned));
        true
    }

    fn assign(&mut self, line: &str) {
        let Some((name, operator, value)) = assignment(line).filter(|(name, ..)| is_name(name)) else {
            return self.is_open();
        };
        if operator == "!=" || sets_what_runs(name, value) || !functions_are_few(value) || SPECIAL.contains(&name) {
            return self.is_open();
        }
        if self.fixed.iter().any(|fixed| fixed == name) {
            return;
        }
        let before = self.variables.get(name).cloned();
        let value = match (before, operator) {
            (Some(Value::Text(before)), "+=") if !value.contains('$') && self.conditions == 0 => {
                Value::Text(format!("{before} {value}"))
            }
            (None, "+=") if own_variable(name).is_some() => Value::Any,
            // The first one counts, or the last one, or that of a branch.
            (Some(_), _) => Value::Any,
            (None, _) if self.conditions > 0 => Value::Any,
            // What others are there and then, and not what they become.
            (None, ":=" | "::=" | ":::=") => self.expanded(value, 0).map_or(Value::Any, Value::Text),
            (None, _) => Value::Text(value.to_owned()),
        };
        self.variables.insert(name.to_owned(), value);
    }

    fn recipe(&mut self, recipe: &str) {
        let expanded = self.expanded(recipe.trim_start_matches(['@', '-', '+', ' ', '\t']), 0);
        match expanded.filter(|text| super::is_whole(text)) {
            Some(text) => self.text.push_str(&alone(&text)),
            None => self.is_open(),
        }
    }

    /// A text with its variables put in; `None` where nobody knows what that is.
    fn expanded(&self, text: &str, depth: usize) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('$') {
            out.push_str(before);
            let next = behind.chars().next()?;
            rest = behind.get(next.len_utf8()..).unwrap_or_default();
            match next {
                '$' => out.push('$'),
                '(' | '{' => {
                    let (name, after) = rest.split_once(if next == '(' { ')' } else { '}' })?;
                    rest = after;
                    out.push_str(&self.named(name, depth)?);
                }
                '@' | '<' | '^' | '?' | '*' | '+' | '%' | '|' => out.push_str(OF_THE_RULE),
                _ => out.push_str(&self.named(&next.to_string(), depth)?),
            }
            if out.len() > LONGEST {
                return None;
            }
        }
        out.push_str(rest);
        Some(out)
    }

    fn named(&self, name: &str, depth: usize) -> Option<String> {
        if depth >= DEEPEST {
            return None;
        }
        // `$(@D)`, `$(<F)`.
        let mut letters = name.chars();
        if matches!(
            (letters.next(), letters.next(), letters.next()),
            (Some('@' | '<' | '^' | '?' | '*' | '+' | '%'), Some('D' | 'F') | None, None)
        ) {
            return Some(OF_THE_RULE.to_owned());
        }
        // `$(SOURCES:.c=.o)`.
        if let Some((name, (from, to))) =
            name.split_once(':').and_then(|(name, ends)| Some((name, ends.split_once('=')?)))
        {
            let is_end = |end: &str| end.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
            let words = self.named(name, depth)?;
            let replaced =
                |word: &str| word.strip_suffix(from).map_or_else(|| word.to_owned(), |stem| format!("{stem}{to}"));
            return (is_end(from) && is_end(to))
                .then(|| words.split_whitespace().map(replaced).collect::<Vec<_>>().join(" "));
        }
        match self.variables.get(name) {
            Some(Value::Text(text)) => self.expanded(text, depth + 1),
            Some(Value::Any) => None,
            // Nothing, or what the environment says: a word that nobody knows.
            None => own_variable(name).map(str::to_owned).or_else(|| is_name(name).then(|| OPEN.to_owned())),
        }
    }
}

/// What make itself says that a variable is.
fn own_variable(name: &str) -> Option<&'static str> {
    let own = programs::MAKE_VARIABLES.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    own.or_else(|| FLAGS.contains(&name).then_some(""))
}

/// A line as make joins it.
struct Logical {
    line: String,
    /// It stands on several.
    goes_on: bool,
}

/// The lines as make joins them: one that ends with an odd number of backslashes goes on. In a recipe the shell joins them.
fn logical(text: &str) -> Vec<Logical> {
    let mut lines: Vec<Logical> = Vec::new();
    let mut goes_on = false;
    for line in text.split('\n') {
        let next_goes_on = line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.goes_on = true;
                if last.line.starts_with('\t') {
                    last.line.push_str("\\\n");
                    last.line.push_str(line.strip_prefix('\t').unwrap_or(line));
                } else {
                    last.line.push(' ');
                    last.line.push_str(line.trim_start_matches([' ', '\t']));
                }
            }
            None => lines.push(Logical { line: line.to_owned(), goes_on: false }),
        }
        goes_on = next_goes_on;
        if let Some(last) = lines.last_mut().filter(|_| next_goes_on) {
            last.line.pop();
        }
    }
    lines
}

/// The letters of an option's word up to one that takes the rest of it.
fn letters_of(word: &str) -> &str {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.split(['C', 'f', 'I', 'o', 'j', 'l', 'W']).next().unwrap_or_default()
}

/// The parts of an assignment: name, operator and value. What stands in brackets of make's assigns nothing.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let outside = outside_of_brackets(line)?;
    let at = outside.find('=')?;
    let start = |operator: &str| (at + 1).checked_sub(operator.len());
    let operator =
        ASSIGNS.into_iter().find(|operator| outside.get(..=at).is_some_and(|before| before.ends_with(operator)))?;
    let name = line.get(..start(operator)?)?.trim();
    (!name.is_empty()).then_some((name, operator, line.get(at + 1..)?.trim()))
}

/// The same text with blanks for what stands in brackets of make's; `None` where one has no end.
fn outside_of_brackets(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let mut ends: Vec<char> = Vec::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let blank = " ".repeat(letter.len_utf8());
        if letter == '$' {
            out.push_str(&blank);
            match letters.peek() {
                Some('(') => ends.push(')'),
                Some('{') => ends.push('}'),
                _ => {}
            }
            if let Some(next) = letters.next() {
                out.push_str(&" ".repeat(next.len_utf8()));
            }
        } else if ends.last() == Some(&letter) {
            ends.pop();
            out.push_str(&blank);
        } else if ends.is_empty() {
            out.push(letter);
        } else {
            out.push_str(&blank);
        }
    }
    ends.is_empty().then_some(out)
}

/// True where each bracket of make's holds one variable's name: a function would have words, and others may hide in one another.
fn functions_are_few(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('$') {
        rest = behind.get(behind.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        let end = match behind.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            _ => continue,
        };
        let Some((name, after)) = rest.split_once(end) else { return false };
        let first = name.split([' ', '\t']).next().unwrap_or_default();
        let is_function = name.contains([' ', '\t', ',']);
        if is_function && !programs::MAKE_FUNCTIONS.contains(&first) {
            return false;
        }
        // What stands in it is looked at, too.
        rest = if name.contains('$') { behind.get(1..).unwrap_or_default() } else { after };
    }
    true
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// True for a word that no shell takes for more than a word.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./+@,:%^-".contains(&byte))
}

/// The same for a file of a rule.
fn is_plain_name(name: &str) -> bool {
    is_plain(name) || name == "|"
}

/// True for an assignment by which another shell, another PATH or another program runs.
fn sets_what_runs(name: &str, value: &str) -> bool {
    const PROGRAMS: [&str; 13] = [
        "SHELL",
        ".SHELLFLAGS",
        "PATH",
        "MAKEFLAGS",
        "MAKEFILES",
        "BASH_ENV",
        "ENV",
        "FC",
        "LEX",
        "YACC",
        "GREP",
        "SED",
        "AWK",
    ];
    // What stands there for a program of the same kind is none of the project's own.
    let is_path = value.split_whitespace().next().is_some_and(|word| word.contains('/') && !word.starts_with("/usr/"));
    let is_program = programs::MAKE_VARIABLES.iter().any(|(known, _)| *known == name);
    PROGRAMS.contains(&name)
        || name.starts_with("COMPILE.")
        || name.starts_with("LINK.")
        || name.starts_with("PREPROCESS.")
        || variables::is_code(name)
        || is_program && is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> String {
        recipes(head, &Called::default())
    }

    #[test]
    fn recipes_are_commands_each_of_its_own() {
        let head = "PY = python3\nall: a\n\t@$(PY) t/o.py\n\t-$(CC) -o $@ $<\nb: ; echo $$HOME\n# a remark\n";
        let each = ["python3 t/o.py", "cc -o file-of-the-rule file-of-the-rule", "echo $HOME"].map(alone).concat();
        assert_eq!(read(head), each);
        let head = "A := x\nA += y\nS = a.c b.c\nall: $(S:.c=.o)\n\techo $(A) ${S} $(@D) \\\n\t  more\n";
        assert_eq!(read(head), alone("echo x y a.c b.c file-of-the-rule \\\n  more"));
        for fine in [
            "",
            ".PHONY: all test\nall: test\n\nexport A = b\nexport A\nOUT = build/$(NAME)\nLIST = $(wildcard src/*.c)\n",
            "ifeq ($(OS),x)\nA = b\nelse\nA = c\nendif\n",
            "all:\r\n\techo x\r\n",
            "%.o: %.c | build\n\techo $<\n",
            "V ?= 1\n$(V).x: y\n",
        ] {
            assert!(!read(fine).contains(OPEN), "{fine}");
        }
    }

    #[test]
    fn what_is_not_plain_is_open() {
        for more in [
            "x = echo ok\nall: x = EV\nall:\n\t$(x)\n",
            "x = echo ok\noverride x = EV\nall:\n\t$(x)\n",
            "x = echo ok\noverride define x\nEV\nendef\nall:\n\t$(x)\n",
            "export define x\nEV\nendef\n",
            "x = echo a\\#b; EV\nall:\n\t$(x)\n",
            "all:\n# note \\\\\n\tEV\nx",
            "$(x;y)all: ; EV\n",
            "A = all:\nS = ;\n$(A) $(S) EV\n",
            "S = ; EV\nall: $(S)\n",
            "X := $(call shell,EV)\n",
            "X := $(if x,$(shell EV))\n",
            "X := $(subst a,b,$(shell EV))\n",
            "$(file >canary,hi)\n",
            "$(info x)\n",
            "override .RECIPEPREFIX = >\nall:\n> EV\n",
            ".RECIPEPREFIX := >\n",
            "CFLAGS = ; EV; \\#\nall: foo\n",
            "all: foo\nCC = ./tool\n",
            "include t/*.mk",
            "-include x",
            "SHELL=./tool",
            "all: SHELL=./tool",
            "all: private override SHELL=./tool",
            "S = SHELL\n$(S)=./tool",
            "export PATH := p/r:$(PATH)",
            "COMPILE.c=sh ./tool",
            "LD_PRELOAD = ./x.so",
            "x := $(shell id)",
            "x != id",
            "define r\nEV\nendef",
            ".SECONDEXPANSION:\nall: $$(shell EV)\n",
            ".ONESHELL:\n",
            "all: *.c\n\techo $^\n",
            "SRC = $(wildcard *.c)\nall:\n\techo $(SRC)\n",
            "ifeq (0,1)\nx = echo ok\nendif\nall:\n\t$(x) EV\n",
            "A := $(B)EV\nB = \\# \n",
            "A := $(B)EV\nB = echo \nall:\n\t$(A)\n",
            "all:\n\tcat <<X\n\tEV\n",
            "all:\n\t-echo '\n\tEV\n\techo '\n",
            "all:\n\techo $(shell EV)\n",
            "all:\n\techo $(eval x=y)\n",
            "x = y\n\tz = a\n",
            "x\u{a0}= y\n",
            "a = b\rc = d",
            "all : b c = d\n",
        ] {
            assert!(read(more).contains(OPEN), "{more}: {}", read(more));
        }
        // One line's variables are none of the next one's.
        assert_eq!(read("all:\n\tX=echo\n\t$$X EV\n"), [alone("X=echo"), alone("$X EV")].concat());
    }

    #[test]
    fn what_the_call_says_comes_first() {
        let head = "x = echo ok\ny ?= echo fine\nall:\n\t$(x)\n\t$(y)\n";
        let called = |words: &[&'static str], sets: &'static [String]| {
            recipes(head, &Called { words: words.iter().map(|word| Some(*word)).collect(), sets })
        };
        assert!(called(&["x=EV"], &[]).contains("EV"));
        assert!(!called(&["-j4", "-C", "sub", "all", "V=1", "-Cdone"], &[]).contains(OPEN));
        for words in [
            &["-e"][..],
            &["-ke"],
            &["--environment-overrides"],
            &["--eval=x"],
            &["x=$(shell EV)"],
            &["a;EV"],
            &["SHELL=./x"],
        ] {
            assert!(called(words, &[]).contains(OPEN), "{words:?}");
        }
        let sets = Box::leak(Box::new(["y".to_owned()]));
        assert!(called(&[], sets).contains(OPEN));
        assert!(recipes(head, &Called { words: vec![None], sets: &[] }).contains(OPEN));
    }
}
