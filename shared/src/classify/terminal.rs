//! Programs that read commands from their terminal. Where an agent can type into a terminal that is open, past every
//! hook, they are not to be started: a shell once allowed would run everything.
//!
//! What a program of the workspace does with its terminal cannot be known; this finds those of which a row says that they
//! read it.

use super::call::{Arg, Call};
use super::paths::{self, file_name};
use crate::programs::{self, Builtin, Kind, Runs, Terminal, Trait};
use crate::shell::{Piece, Redirect, RedirectTarget, Simple, Word};

/// True for a name of the terminal, or of what is read anyway.
fn is_terminal(name: &str) -> bool {
    paths::is_standard_input(name) || name == "/dev/tty"
}

/// What the command at hand reads from, and who reads what it prints.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Input {
    /// True when it is a pipe, a file or a text, not the terminal.
    pub fed: bool,
    /// True when what it prints goes to another command.
    pub piped: bool,
    /// True when what it prints is run.
    pub as_code: bool,
}

/// What reads commands from the terminal, as a walk meets it.
#[derive(Debug, Default)]
pub(super) struct TerminalWatch {
    /// Around the command at hand.
    pub input: Input,
    /// Guesses around the call at hand: words that may be a program. What a guess reads says nothing.
    pub guesses: usize,
    /// The first program that reads it.
    found: Option<String>,
    /// A line is read from it into a variable.
    asks_for_line: bool,
    /// A text is run that is only known when it runs.
    runs_unknown_text: bool,
}

impl TerminalWatch {
    /// A call, with the input at hand.
    pub(super) fn call(&mut self, call: &Call) {
        if self.guesses > 0 {
            return;
        }
        let builtin = programs::builtin_of(&call.program);
        self.asks_for_line |= !self.input.fed && matches!(builtin, Some(Builtin::Fills | Builtin::FillsAndCalls));
        self.runs_unknown_text |= runs_its_words(&call.program) && call.args.iter().any(|arg| arg.exact().is_none());
        if reads(call, self.input) {
            self.find(&call.program);
        }
    }

    /// A program that is only known when it runs: one that is given nothing to do may be a shell.
    pub(super) fn unknown_program(&mut self, args: &[Arg], input: Input) {
        self.runs_unknown_text |= self.guesses == 0;
        if !input.fed && args.first().is_none_or(Arg::may_be_option) {
            self.find("a program that is only known when it runs");
        }
    }

    /// This reads it.
    pub(super) fn find(&mut self, program: &str) {
        if self.guesses == 0 {
            self.found.get_or_insert_with(|| program.to_owned());
        }
    }

    /// The first program that reads it. A line that is read there and a text that is run may be the same.
    pub(super) fn into_found(self) -> Option<String> {
        self.found.or_else(|| (self.asks_for_line && self.runs_unknown_text).then(|| "read".to_owned()))
    }
}

/// True for a program that runs what it is given as words: a script, or a file that may be a pipe.
pub(super) fn runs_its_words(program: &str) -> bool {
    matches!(programs::builtin_of(program), Some(Builtin::Evaluates | Builtin::Sources))
        || programs::runs_of(program) == Runs::Shell
}

/// True when this call reads commands from its terminal.
fn reads(call: &Call, input: Input) -> bool {
    let Some(row) = programs::row(&call.program) else { return false };
    if let Runs::Behind(wrapper) = row.runs
        && !input.fed
    {
        let behind = wrapper.behind(&call.args);
        // Which files are changed, or what is run, is typed then.
        let takes_more = |name: &str| {
            runs_its_words(name)
                || programs::row(name).is_some_and(|row| row.kind == Kind::Runtime || row.has(Trait::ChangesFiles))
        };
        let takes_typed = || behind.first().is_some_and(|word| word.exact().is_none_or(takes_more));
        if wrapper.opens_shell && behind.is_empty() || wrapper.words_from_input && takes_typed() {
            return true;
        }
    }
    let own: Vec<Option<&str>> = call.args.iter().map(Arg::exact).collect();
    // A patch or an archive that is typed is for any file.
    if !input.fed && programs::writes_as_told(&call.program, &own) && !programs::names_its_input(&call.program, &own) {
        return true;
    }
    if file_name(&call.program) == "git" && programs::opens_editor(&own) {
        return true;
    }
    row.terminal.is_some_and(|terminal| reads_it(&terminal, row.runs, &words(&call.args), input))
}

/// The words as far as they are literal. Of an option, its start is enough; a mark keeps it from being taken for the
/// option alone, whose value would be the next word.
fn words(args: &[Arg]) -> Vec<Option<String>> {
    let word = |arg: &Arg| match arg.exact() {
        Some(text) => Some(text.to_owned()),
        None => arg.start().starts_with('-').then(|| format!("{}…", arg.start())),
    };
    args.iter().map(word).collect()
}

fn reads_it(terminal: &Terminal, runs: Runs, arguments: &[Option<String>], input: Input) -> bool {
    let operands = behind_options(arguments, terminal.valued);
    let own = arguments.get(..arguments.len() - operands.len()).unwrap_or_default();
    let first = operands.first().and_then(|word| word.as_deref());
    let given = |own: &[Option<String>], (letters, options): (&str, &[&str])| {
        own.iter().flatten().any(|word| {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            options.contains(&name) || letters.chars().any(|letter| has_letter(word, letter))
        })
    };
    if terminal.runs_operand && first == Some("/dev/tty") {
        return true;
    }
    if input.fed && !terminal.past_input || terminal.pages && input.piped {
        return false;
    }
    if !terminal.only_behind.is_empty() {
        let inner = operands.get(1..).unwrap_or_default();
        let options = inner.len() - behind_options(inner, terminal.valued).len();
        return first.is_some_and(|word| terminal.only_behind.contains(&word))
            && given(inner.get(..options).unwrap_or_default(), terminal.asked);
    }
    let is_script = given(own, ("c", &[]));
    let (letters, words) = terminal.asked;
    let asked = given(own, ("", words)) || first.is_some_and(|word| words.contains(&word));
    // Of a language's cluster such as `-ic` the letter may belong to the script's option.
    if asked || given(own, (letters, &[])) && !(runs == Runs::Code && is_script) {
        return true;
    }
    let module = own.last().and_then(|word| word.as_deref()) == Some("-m");
    if module && first.is_some_and(|name| terminal.consoles.contains(&name)) {
        return true;
    }
    if terminal.runs_operand && first.is_some_and(is_terminal) {
        return !is_script;
    }
    let unattended = arguments.iter().flatten().any(|word| terminal.unattended.contains(&word.as_str()));
    !(unattended || given(own, terminal.settled) || operands.len() >= terminal.operands)
}

/// What stands behind a program's own options. Some take the next word as their value.
fn behind_options<'w>(words: &'w [Option<String>], valued: &[&str]) -> &'w [Option<String>] {
    let mut at = 0;
    while let Some(Some(word)) = words.get(at) {
        match word.as_str() {
            "--" => return words.get(at + 1..).unwrap_or_default(),
            option if option.starts_with('-') && option.len() > 1 => at += 1 + usize::from(valued.contains(&option)),
            _ => break,
        }
    }
    words.get(at..).unwrap_or_default()
}

/// True for a cluster of one-letter options with this letter.
fn has_letter(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        !rest.starts_with('-') && rest.len() <= 6 && rest.chars().all(char::is_alphanumeric) && rest.contains(letter)
    })
}

/// True when redirections give a command another input than the terminal.
pub(super) fn feeds(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| match redirect.target {
        RedirectTarget::Here(_) | RedirectTarget::Text(_) => true,
        // Any other number than 0 is no input; the terminal by its name is none either.
        RedirectTarget::Path(ref word) => {
            let is_pipe = matches!(word.pieces.as_slice(), [Piece::Process { .. }]);
            redirect.reads
                && !redirect.other_input
                && (is_pipe || word.literal().is_some_and(|path| !path.starts_with("/dev/") || path == "/dev/null"))
        }
        RedirectTarget::Descriptor => false,
    })
}

/// True for a command that only passes on what it reads, and reads its terminal.
pub(super) fn passes_on(simple: &Simple) -> bool {
    let Some((program, rest)) = simple.words.split_first() else { return false };
    let Some(others) = program.literal().and_then(|name| programs::row(&name)).and_then(|row| row.passes_on) else {
        return false;
    };
    let is_option = |word: &&Word| word.literal_prefix().starts_with('-');
    let operands = rest.iter().filter(|word| !is_option(word)).count();
    let named = rest.iter().filter_map(Word::literal).any(|word| is_terminal(&word));
    !feeds(&simple.redirects) && (named || operands <= others)
}

/// Where a text is not understood, a shell that is asked to be interactive is still seen.
pub(super) fn named_in(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ";&|<>()".contains(c)).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    let asks = |(program, option): &(&&str, &&str)| {
        programs::runs_of(file_name(program)) == Runs::Shell && has_letter(option, 'i')
    };
    pairs.into_iter().find(asks).map(|(program, _)| (*program).to_owned())
}

#[cfg(test)]
mod tests {
    use crate::classify::{Surroundings, classify};
    use crate::command::CommandLine;

    fn reads_its_terminal(command: &str) -> Option<String> {
        classify(&CommandLine::parse(command).unwrap(), &Surroundings::default()).reads_terminal
    }

    #[test]
    fn what_reads_its_terminal_is_found_and_what_does_not_is_not() {
        let mut wrong = Vec::new();
        for command in [
            "bash",
            "bash -i",
            "/bin/sh",
            "sh -s",
            "bash -li",
            "env X=1 bash",
            "exec bash",
            "sudo -i",
            "sudo bash",
            "su - x",
            "python3",
            "python3.11 -i x.py",
            "node",
            "cd x && python3",
            "true | cat; bash",
            "(bash)",
            "f() { bash; }; f",
            "bash -c bash",
            "bash -c 'cd x; exec sh'",
            "eval bash",
            "ls | less",
            "vim x",
            "git log | less",
            "man ls",
            "ssh host",
            "ssh -t host top",
            "docker exec -it c sh",
            "docker run -i alpine sh",
            "psql db",
            "psql -h x",
            "mysql -u root -p",
            "sqlite3 x.db",
            "$SHELL",
            "exec $SHELL",
            "$SHELL -i",
            "bash < /dev/tty",
            "x=$(bash)",
            "timeout 5 bash",
            "nohup sh -s",
            "busybox sh",
            "zsh --login",
            "cat | bash",
            "cat /dev/tty | bash",
            "tee x.sh | sh",
            "bash <(cat)",
            "bash /dev/stdin",
            "sh /proc/self/fd/0",
            "source /dev/stdin",
            ". /dev/tty",
            "python3 /dev/stdin",
            "eval \"$(cat)\"",
            "bash -c \"$(cat)\"",
            "while read -r l; do eval \"$l\"; done",
            "read x; eval \"$x\"",
            "xargs -I{} sh -c {}",
            "python3 -m code",
            "bash -o vi",
            "bash --rcfile x",
            "find . -exec bash \\;",
            "setarch x86_64 bash",
            "unshare -r",
            "chroot /x",
            "taskset 1 bash",
            "vim -b x",
            "less -F x",
            "gdb ./x",
            "command bash",
            "xargs touch",
            "git apply",
            "patch -p1",
            "patch x.c",
            "git -C d apply",
            "git commit --amend",
            "cd x && git rebase -i HEAD~2",
        ] {
            if reads_its_terminal(command).is_none() {
                wrong.push(command);
            }
        }
        for command in [
            "bash x.sh",
            "bash -c 'make'",
            "bash -lc 'make -j2'",
            "python3 x.py",
            "python3 - <<'E'\nprint(1)\nE",
            "python3 -c 'x'",
            "python3 -m pytest -q",
            "node -e '1'",
            "cat x | bash",
            "bash <<< ls",
            "bash < x.sh",
            "echo 1 | python3",
            "ls",
            "git log --oneline",
            "sqlite3 x.db 'select 1'",
            "psql -c 'select 1' db",
            "psql -tAc 'select 1'",
            "psql --command='x'",
            "ssh host ls",
            "ssh host ls -lt",
            "ssh -T git@github.com",
            "docker ps",
            "docker build -t app .",
            "docker logs -t c",
            "docker exec c ls -lt",
            "kubectl exec p -- ls -lt",
            "grep -i bash x",
            "find . -name bash -type f",
            "find . -name node",
            "sudo make install",
            "sudo sed -i s/a/b/ f",
            "sudo apt-get install -y python3",
            "bash --version",
            "perl -ne 'print' x",
            "perl -pi -e 's/a/b/' f",
            "cargo run",
            "top -b -n1",
            "top -bn1",
            "while read x; do echo $x; done < f",
            "php artisan x",
            "which python3 node",
            "env | grep -i x",
            "less --version",
            "command -v python3",
            "command -v bash",
            "timeout 5 grep -r node",
            "xargs grep -l bash",
            "env FOO=1 make node",
            "python3 x.py -i in.txt",
            "bash run.sh -s",
            "python3 -m pip install -i URL y",
            "node --test",
            "python3 -VV",
            "redis-cli ping",
            "tmux ls",
            "man ls | head",
            "tmux new-session -d -s x make",
            "nvim --headless +qa",
            "script -q -c make /dev/null",
            "expect x.exp",
            "lynx -dump x",
            "find . -name '*.py' -exec python3 {} \\;",
            "git ls-files | xargs sed -i s/a/b/",
            "cat x | while read y; do echo $y; done",
            "read x < f; echo $x",
            "ls | xargs -I{} sh -c 'echo {}'",
            "$CARGO build",
            "curl -s x | bash",
            "eval \"$(ssh-agent -s)\"",
        ] {
            if reads_its_terminal(command).is_some() {
                wrong.push(command);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
