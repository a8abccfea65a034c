//! Where the values of a script can get to: whether the shell, or a program that runs code, would evaluate one.
//!
//! A value taints every variable that it is assigned to. What cannot be followed (a value read back from a file) is the
//! business of whoever approves the script, and of the sandbox.

use std::collections::BTreeSet;

use bashgate_shared::shell::{
    Arithmetic, Assignment, Command, Compound, CompoundKind, Document, Form, Piece, Redirect, RedirectTarget, Script,
    Simple, Step, Variable, Word, is_name,
};

/// Programs that take code, or a command, as an argument or on standard input.
const RUN_CODE: [&str; 61] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox", "python", "python2", "python3", "perl", "ruby",
    "node", "nodejs", "deno", "bun", "php", "lua", "tclsh", "expect", "awk", "gawk", "mawk", "nawk", "sed", "gsed",
    "ed", "ex", "vi", "vim", "emacs", "make", "gmake", "ssh", "su", "sudo", "doas", "env", "xargs", "parallel",
    "nohup", "nice", "ionice", "time", "timeout", "setsid", "stdbuf", "chroot", "unshare", "nsenter", "flock", "watch",
    "script", "at", "batch", "crontab", "gdb", "sqlite3", "psql", "mysql",
];
/// Builtins whose arguments are only text to them.
const ONLY_TEXT: [&str; 6] = ["echo", ":", "true", "false", "cd", "pushd"];
/// All other builtins: some evaluate what they are given, and none needs a value.
const BUILTINS: [&str; 50] = [
    ".",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "logout",
    "mapfile",
    "popd",
    "pwd",
    "read",
    "readarray",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
    "coproc",
    "function",
    "select",
];
const DECLARE: [&str; 5] = ["local", "declare", "typeset", "export", "readonly"];
/// Variables that the shell, the loader or interpreters read.
const SPECIAL: [&str; 16] = [
    "PATH",
    "IFS",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "HOME",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
];
const SPECIAL_PREFIXES: [&str; 10] =
    ["BASH_", "LD_", "GIT_", "PYTHON", "PERL", "NODE_", "RUBY", "LESS", "TAR_", "GCONV_"];
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
    flow: Flow,
}

/// Follows the values through a document. `name_of` names the variable behind a place.
pub(super) fn check<'n>(document: &Document, name_of: impl Fn(&str) -> Option<&'n str>) -> Flow {
    let mut walk =
        Walk { document, name_of, tainted: BTreeSet::new(), functions: BTreeSet::new(), flow: Flow::default() };
    // Until no more variables are tainted; each turn taints one more at least, and there are only so many.
    loop {
        let before = (walk.tainted.len(), walk.functions.len());
        walk.flow = Flow::default();
        walk.script(&document.script);
        document.bodies.iter().for_each(|body| walk.word(body));
        if (walk.tainted.len(), walk.functions.len()) == before {
            return walk.flow;
        }
    }
}

impl<'n, N: Fn(&str) -> Option<&'n str>> Walk<'_, N> {
    fn trouble(&mut self, why: impl Into<String>) {
        self.flow.troubles.push(why.into());
    }

    fn script(&mut self, script: &Script) {
        script.steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &Step) {
        let mut flows = false;
        for command in &step.pipeline {
            if flows && let Some(program) = runs_its_input(command) {
                self.trouble(format!("it is piped into `{program}`"));
            }
            self.command(command);
            flows |= self.command_is_tainted(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(compound),
            Command::Function { name, body, .. } => {
                self.functions.insert(name.clone());
                self.command(body);
            }
            Command::Condition(condition) => {
                for (at, word) in condition.words.iter().enumerate() {
                    self.word(word);
                    if self.is_tainted(word) {
                        if condition.numbers.contains(&at) {
                            self.trouble("`[[` compares it as a number, which evaluates it");
                        }
                        if condition.names.contains(&at) {
                            self.trouble("`[[` takes it for the name of a variable");
                        }
                    }
                }
                self.redirects(&condition.redirects);
            }
            Command::Arithmetic { expression, redirects, .. } => {
                self.arithmetic(expression);
                self.redirects(redirects);
            }
        }
    }

    fn compound(&mut self, compound: &Compound) {
        compound.words.iter().for_each(|word| self.word(word));
        compound.expressions.iter().for_each(|expression| self.arithmetic(expression));
        if let Some(variable) = &compound.variable {
            let over_arguments = compound.kind == CompoundKind::ForArguments && self.tainted.contains(POSITIONAL);
            let words = compound.words.iter().any(|word| self.is_tainted(word));
            if words || over_arguments || compound.kind == CompoundKind::Select {
                self.tainted.insert(variable.clone());
            }
        }
        compound.scripts.iter().for_each(|script| self.script(script));
        self.redirects(&compound.redirects);
    }

    fn simple(&mut self, simple: &Simple) {
        simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
        simple.words.iter().for_each(|word| self.word(word));
        self.redirects(&simple.redirects);
        let Some((first, arguments)) = simple.words.split_first() else { return };
        if self.is_tainted(first) {
            return self.trouble("it names the program that runs");
        }
        let tainted: Vec<bool> = arguments.iter().map(|word| self.is_tainted(word)).collect();
        let Some(name) = program(simple) else {
            if tainted.contains(&true) {
                self.trouble("it is handed to a program that is only known when it runs");
            }
            return;
        };
        // These give variables values that nobody knows here.
        if matches!(name.as_str(), "read" | "mapfile" | "readarray" | "getopts") {
            let literal = arguments.iter().filter_map(Word::literal).map(std::borrow::Cow::into_owned);
            self.tainted.extend(literal.filter(|word| is_name(word)));
            self.tainted.extend(["REPLY", "MAPFILE", "OPTARG"].map(str::to_owned));
        }
        let fed = simple.redirects.iter().any(|redirect| self.feeds(redirect));
        if fed && runs_code(&name) {
            self.trouble(format!("it is standard input of `{name}`"));
        }
        if !tainted.contains(&true) {
            return;
        }
        let literal = |at: usize| arguments.get(at).and_then(Word::literal).map(std::borrow::Cow::into_owned);
        if self.functions.contains(&name) || name == "set" && literal(0).as_deref() == Some("--") {
            self.tainted.insert(POSITIONAL.to_owned());
        } else if name == "printf" {
            let at = usize::from(literal(0).as_deref() == Some("--"));
            if literal(at).is_none_or(|format| format.starts_with('-') && at == 0) {
                self.trouble("it is the format of `printf`, or there is an option before it");
            }
        } else if name == "test" || name == "[" {
            if let Some(why) = self.test(arguments) {
                self.trouble(why);
            }
        } else if DECLARE.contains(&name.as_str()) {
            self.declare(&name, arguments);
        } else if ONLY_TEXT.contains(&name.as_str()) {
        } else if BUILTINS.contains(&name.as_str()) {
            self.trouble(format!("it is handed to `{name}`"));
        } else if runs_code(&name) {
            self.trouble(format!("it is handed to `{name}`, which can run it"));
        } else {
            self.program_arguments(&name, arguments);
        }
    }

    /// An ordinary program takes a value as it is, but for one that looks like an option.
    fn program_arguments(&mut self, name: &str, arguments: &[Word]) {
        let runs_commands = ["find", "fd", "git", "docker", "podman", "kubectl", "systemd-run", "tmux", "screen"];
        let is_exec =
            |word: &Word| word.literal().is_some_and(|word| word.starts_with("-exec") || word.starts_with("-ok"));
        if runs_commands.contains(&name) && arguments.iter().any(is_exec) {
            return self.trouble(format!("it stands in a command that `{name}` runs"));
        }
        for word in arguments {
            // `find` and its like have no such end of options.
            if word.literal().as_deref() == Some("--") && !runs_commands.contains(&name) {
                return;
            }
            match word.pieces.iter().find(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty())) {
                Some(Piece::Variable(variable)) => match (self.name_of)(&variable.name).map(str::to_owned) {
                    Some(name) => {
                        self.flow.may_lead.insert(name);
                    }
                    None => self.flow.any_may_lead |= self.variable_is_tainted(variable),
                },
                Some(Piece::Substitution { .. }) => self.flow.any_may_lead |= self.is_tainted(word),
                _ => {}
            }
        }
    }

    /// `test` takes what stands in an operator's place for one, and `-v` evaluates a name's subscript.
    fn test(&self, arguments: &[Word]) -> Option<&'static str> {
        let arguments = match arguments.split_last() {
            Some((last, rest)) if last.literal().as_deref() == Some("]") => rest,
            _ => arguments,
        };
        let is = |at: usize| arguments.get(at).is_some_and(|word| self.is_tainted(word));
        let evaluates = arguments.iter().filter_map(Word::literal).any(|word| matches!(&*word, "-v" | "-R"));
        let splits = arguments.iter().any(|word| word.splits() && self.is_tainted(word));
        match arguments.len() {
            _ if evaluates => Some("`test -v` takes it for the name of a variable"),
            _ if splits => Some("`test` gets it unquoted"),
            2 if is(0) => Some("`test` could take it for an operator"),
            3 if is(1) => Some("`test` could take it for an operator"),
            0..=3 => None,
            _ => Some("`test` could take it for an operator; use `[[`"),
        }
    }

    fn declare(&mut self, name: &str, arguments: &[Word]) {
        let harmless = |word: &Word| {
            word.literal().is_none_or(|word| !word.starts_with('-') || matches!(&*word, "-r" | "-x" | "-g" | "--"))
        };
        if !arguments.iter().all(harmless) {
            return self.trouble(format!("`{name}` gets options beside it"));
        }
        for word in arguments.iter().filter(|word| self.is_tainted(word)).cloned_prefixes() {
            match word.split_once('=').map(|(variable, _)| variable.to_owned()) {
                Some(variable) if is_name(&variable) => self.assigned(&variable),
                _ => self.trouble(format!("`{name}` takes it for the name of a variable")),
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.word(&assignment.value);
        assignment.elements.iter().flatten().for_each(|word| self.word(word));
        let tainted = self.is_tainted(&assignment.value)
            || assignment.elements.iter().flatten().any(|word| self.is_tainted(word));
        let name = assignment.name.trim_end_matches('+').to_owned();
        if (self.name_of)(&name).is_some() || name.contains('[') {
            self.trouble("it stands in the name of a variable");
        }
        if tainted {
            self.assigned(&name);
        }
    }

    fn assigned(&mut self, name: &str) {
        if SPECIAL.contains(&name) || SPECIAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            self.trouble(format!("it becomes `{name}`, which programs obey"));
        }
        self.tainted.insert(name.to_owned());
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Path(word) | RedirectTarget::Text(word) => self.word(word),
                RedirectTarget::Descriptor | RedirectTarget::Here(_) => {}
            }
        }
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

    fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Substitution { script, .. } | Piece::Process(script) => self.script(script),
                Piece::Number(arithmetic) => self.arithmetic(arithmetic),
                Piece::Variable(variable) => {
                    self.arithmetic(&variable.arithmetic);
                    if let Form::Assigned(word) = &variable.form
                        && self.is_tainted(word)
                    {
                        self.assigned(&variable.name);
                    }
                    if let Some(word) = variable.operand() {
                        self.word(word);
                    }
                }
                Piece::Text { .. } | Piece::Glob(_) | Piece::Brace | Piece::Tilde => {}
            }
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        if arithmetic.names.iter().any(|name| self.holds_value(name)) {
            self.trouble("arithmetic evaluates it");
        }
    }

    fn holds_value(&self, name: &str) -> bool {
        let positional = name == "*" || name.bytes().all(|b| b.is_ascii_digit());
        let name = if positional { POSITIONAL } else { name };
        (self.name_of)(name).is_some() || self.tainted.contains(name)
    }

    fn variable_is_tainted(&self, variable: &Variable) -> bool {
        self.holds_value(&variable.name) || variable.operand().is_some_and(|word| self.is_tainted(word))
    }

    fn is_tainted(&self, word: &Word) -> bool {
        word.pieces.iter().any(|piece| match piece {
            Piece::Variable(variable) => self.variable_is_tainted(variable),
            Piece::Substitution { script, .. } | Piece::Process(script) => self.script_is_tainted(script),
            Piece::Text { .. } | Piece::Glob(_) | Piece::Brace | Piece::Tilde | Piece::Number(_) => false,
        })
    }

    fn script_is_tainted(&self, script: &Script) -> bool {
        script.steps.iter().flat_map(|step| &step.pipeline).any(|command| self.command_is_tainted(command))
    }

    fn command_is_tainted(&self, command: &Command) -> bool {
        let fed = |redirects: &[Redirect]| redirects.iter().any(|redirect| self.feeds(redirect));
        match command {
            Command::Simple(simple) => {
                let assigned = simple.assignments.iter().map(|assignment| &assignment.value);
                simple.words.iter().chain(assigned).any(|word| self.is_tainted(word)) || fed(&simple.redirects)
                    // What a function puts out nobody follows.
                    || program(simple).is_some_and(|name| self.functions.contains(&name))
            }
            Command::Compound(compound) => {
                compound.words.iter().any(|word| self.is_tainted(word))
                    || compound.scripts.iter().any(|script| self.script_is_tainted(script))
                    || fed(&compound.redirects)
            }
            Command::Function { body, .. } => self.command_is_tainted(body),
            Command::Condition(condition) => condition.words.iter().any(|word| self.is_tainted(word)),
            Command::Arithmetic { .. } => false,
        }
    }
}

/// The first program in a command that runs what it reads.
fn runs_its_input(command: &Command) -> Option<String> {
    match command {
        Command::Simple(simple) => match program(simple) {
            None if simple.words.is_empty() => None,
            None => Some("a program that is only known when it runs".to_owned()),
            Some(name) => (runs_code(&name) || name == "." || name == "source").then_some(name),
        },
        Command::Compound(compound) => {
            let commands = compound.scripts.iter().flat_map(|script| &script.steps).flat_map(|step| &step.pipeline);
            commands.into_iter().find_map(runs_its_input)
        }
        Command::Function { .. } | Command::Condition(_) | Command::Arithmetic { .. } => None,
    }
}

/// The name of a simple command's program, without its folder.
fn program(simple: &Simple) -> Option<String> {
    let name = simple.words.first()?.literal()?;
    Some(name.rsplit('/').next().unwrap_or(&name).to_owned())
}

/// True for a program that runs what it is given, whatever version its name ends with.
pub(super) fn runs_code(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    RUN_CODE.contains(&name) || RUN_CODE.contains(&plain)
}

trait Prefixes {
    fn cloned_prefixes(self) -> Vec<String>;
}

impl<'w, I: Iterator<Item = &'w Word>> Prefixes for I {
    /// The literal text before the first expansion of each word.
    fn cloned_prefixes(self) -> Vec<String> {
        self.map(Word::literal_prefix).collect()
    }
}
