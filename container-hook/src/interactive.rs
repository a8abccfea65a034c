//! Commands that read commands from their terminal. Where an agent can type into a terminal that is open, past every
//! hook, they are not to be started: a shell once allowed would run everything.
//!
//! What a program of the workspace does with its terminal cannot be known; this finds those that are known to read it.

use bashgate_shared::shell::{self, Command, Piece, Redirect, RedirectTarget, Script, Shell, Simple, Word};

const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "tcsh", "csh", "rbash"];
/// Interpreters that read from the terminal when they are given nothing to run.
const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "node",
    "nodejs",
    "ruby",
    "perl",
    "php",
    "lua",
    "luajit",
    "irb",
    "pry",
    "ghci",
    "iex",
    "erl",
    "R",
    "julia",
    "deno",
    "bun",
    "jshell",
    "scala",
    "sbt",
    "ipython",
    "bpython",
    "tclsh",
    "guile",
    "sbcl",
    "clj",
    "ocaml",
    "swift",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "mongosh",
    "redis-cli",
    "ftp",
    "sftp",
    "telnet",
    "ed",
    "ex",
    "bc",
    "m4",
];
/// Options with which an interpreter runs something else than its terminal, or nothing.
const GIVEN: &[&str] = &[
    "-c",
    "-e",
    "-m",
    "-p",
    "-f",
    "-V",
    "-VV",
    "-v",
    "-h",
    "-E",
    "-r",
    "-l",
    "-n",
    "-pe",
    "-ne",
    "-pi",
    "-M",
    "-x",
    "--version",
    "--help",
    "--eval",
    "--print",
    "--command",
    "--file",
    "--execute",
    "--list",
    "--test",
    "--run",
    "--batch",
];
/// Options with which every program only says something about itself.
const ANSWERS: &[&str] = &["-V", "--version", "--help"];
/// Programs that take their keys from the terminal even when something is piped into them.
const FULL_SCREEN: &[&str] = &[
    "vim", "vi", "nvim", "view", "vimdiff", "emacs", "nano", "pico", "less", "more", "most", "man", "top", "htop",
    "gdb", "lldb", "screen", "tmux", "mc", "ranger", "tig", "lynx", "w3m", "links", "login", "cgdb", "newgrp",
];
/// Words with which those do their work without a terminal.
const UNATTENDED: &[&str] =
    &["--batch", "-batch", "--headless", "-es", "-Es", "--script", "-script", "--version", "--help", "-V", "-dump"];
/// The same for programs with sessions.
const IN_SESSIONS: &[&str] = &[
    "-d",
    "-dm",
    "-dmS",
    "ls",
    "-ls",
    "-V",
    "list-sessions",
    "list-panes",
    "list-windows",
    "kill-session",
    "kill-server",
    "has-session",
    "send-keys",
    "capture-pane",
];
/// Programs behind whose own options and operands another program stands: how many operands, and which options take a value.
const WRAPPERS: &[(&str, usize, &[&str])] = &[
    ("env", 0, &["-u", "-C", "--unset", "--chdir"]),
    ("sudo", 0, &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"]),
    ("doas", 0, &["-u", "-C"]),
    ("nohup", 0, &[]),
    ("nice", 0, &["-n"]),
    ("ionice", 0, &["-c", "-n"]),
    ("time", 0, &["-f", "-o"]),
    ("command", 0, &[]),
    ("builtin", 0, &[]),
    ("exec", 0, &["-a"]),
    ("timeout", 1, &["-s", "-k"]),
    ("stdbuf", 0, &["-i", "-o", "-e"]),
    ("setsid", 0, &[]),
    ("xargs", 0, &["-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a"]),
    ("chroot", 1, &[]),
    ("unshare", 0, &["-S", "-G", "-R", "-w"]),
    ("setarch", 1, &[]),
    ("nsenter", 0, &["-t", "-S", "-G"]),
    ("strace", 0, &["-e", "-o", "-p", "-s", "-u"]),
    ("ltrace", 0, &["-e", "-o", "-p", "-s", "-u"]),
    ("watch", 0, &["-n"]),
    ("flock", 1, &["-w", "-E"]),
    ("busybox", 0, &[]),
    ("taskset", 1, &[]),
    ("chrt", 1, &[]),
];
/// Wrappers that start a shell when no program stands behind them.
const START_A_SHELL: &[&str] = &["chroot", "unshare", "setarch", "nsenter"];
/// Programs that pass on what they read, and how many operands are something else than files.
const READERS: &[(&str, usize)] = &[
    ("cat", 0),
    ("tac", 0),
    ("rev", 0),
    ("head", 0),
    ("tail", 0),
    ("sort", 0),
    ("nl", 0),
    ("tee", usize::MAX),
    ("tr", usize::MAX),
    ("sed", 1),
    ("awk", 1),
    ("grep", 1),
    ("cut", 0),
    ("xargs", usize::MAX),
];
/// Names of the terminal, or of what is read anyway.
const STANDARD_INPUT: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/tty", "-"];
/// Deepest nesting of scripts in arguments.
const DEEPEST: usize = 8;

/// The first program of a command that would read commands from its terminal.
pub fn reads_its_terminal(command: &str, shell: Shell) -> Option<String> {
    in_text(command, shell, 0)
}

fn in_text(text: &str, shell: Shell, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return Some("a script in a script in a script".to_owned());
    }
    match shell::read(text, shell) {
        Ok(document) => in_script(&document.script, Input { fed: false, piped: false, as_code: false, shell, depth }),
        Err(_) => in_words_of(text),
    }
}

/// Where a text is not understood, a shell that is asked to be interactive is still seen.
fn in_words_of(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ";&|<>()".contains(c)).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    let asks = |(program, option): &(&&str, &&str)| SHELLS.contains(&base(program)) && has_letter(option, 'i');
    pairs.into_iter().find(asks).map(|(program, _)| (*program).to_owned())
}

/// What a command reads from, and who reads what it prints.
#[derive(Clone, Copy)]
struct Input {
    /// True when it is a pipe, a file or a text.
    fed: bool,
    /// True when what it prints goes to another command.
    piped: bool,
    /// True when what it prints is run.
    as_code: bool,
    shell: Shell,
    depth: usize,
}

fn in_script(script: &Script, input: Input) -> Option<String> {
    let asked = script.steps.iter().flat_map(|step| &step.pipeline).any(|command| asks_for_a_line(command, input));
    if asked && script.steps.iter().flat_map(|step| &step.pipeline).any(runs_text) {
        return Some("read".to_owned());
    }
    script.steps.iter().find_map(|step| {
        // What only passes on its terminal feeds nobody.
        let mut fed = input.fed;
        let last = step.pipeline.len().saturating_sub(1);
        step.pipeline.iter().enumerate().find_map(|(at, command)| {
            let found = in_command(command, Input { fed, piped: input.piped || at < last, ..input });
            fed = fed || !passes_on(command);
            found
        })
    })
}

/// The words of a simple command as far as they are literal. Of an option, its start is enough.
fn words(simple: &Simple) -> Vec<Option<String>> {
    let literal = |word: &Word| {
        let whole = word.literal().map(std::borrow::Cow::into_owned);
        // The mark keeps it from being taken for the option alone, whose value would be the next word.
        whole.or_else(|| Some(word.literal_prefix() + "…").filter(|start| start.starts_with('-')))
    };
    simple.words.iter().map(literal).collect()
}

/// True for a program that only passes on what it reads, and reads its terminal.
fn passes_on(command: &Command) -> bool {
    matches!(command, Command::Simple(simple) if simple_passes_on(simple))
}

fn simple_passes_on(simple: &Simple) -> bool {
    let words = words(simple);
    let Some((Some(program), rest)) = words.split_first() else { return false };
    let Some((_, others)) = READERS.iter().find(|(name, _)| *name == base(program)) else { return false };
    let operands = rest.iter().filter(|word| word.as_ref().is_none_or(|word| !word.starts_with('-')));
    let named = rest.iter().flatten().any(|word| STANDARD_INPUT.contains(&word.as_str()));
    !feeds(&simple.redirects) && (named || operands.count() <= *others)
}

/// True for `read` and its like without an input of their own, in this command or in a loop's condition.
fn asks_for_a_line(command: &Command, input: Input) -> bool {
    match command {
        Command::Simple(simple) => {
            let first = simple.words.first().and_then(Word::literal);
            !input.fed
                && !feeds(&simple.redirects)
                && first.is_some_and(|name| ["read", "mapfile", "readarray"].contains(&&*name))
        }
        Command::Compound(compound) if !feeds(&compound.redirects) => {
            let steps = compound.scripts.iter().flat_map(|script| &script.steps);
            steps.flat_map(|step| &step.pipeline).any(|command| asks_for_a_line(command, input))
        }
        _ => false,
    }
}

/// True when a command runs a text that is only known when it runs.
fn runs_text(command: &Command) -> bool {
    match command {
        Command::Simple(simple) => {
            let first = simple.words.first().and_then(Word::literal);
            let is_runner =
                first.is_none_or(|name| ["eval", "source", "."].contains(&&*name) || SHELLS.contains(&base(&name)));
            is_runner && words(simple).iter().any(Option::is_none)
        }
        Command::Compound(compound) => {
            compound.scripts.iter().flat_map(|script| &script.steps).flat_map(|step| &step.pipeline).any(runs_text)
        }
        Command::Function { body, .. } => runs_text(body),
        _ => false,
    }
}

fn in_command(command: &Command, input: Input) -> Option<String> {
    match command {
        Command::Simple(simple) => in_simple(simple, input),
        Command::Compound(compound) => {
            let input = Input { fed: input.fed || feeds(&compound.redirects), ..input };
            let words = compound.words.iter().find_map(|word| in_word(word, input));
            words.or_else(|| compound.scripts.iter().find_map(|script| in_script(script, input)))
        }
        Command::Function { body, .. } => in_command(body, input),
        Command::Condition(condition) => condition.words.iter().find_map(|word| in_word(word, input)),
        Command::Arithmetic { .. } => None,
    }
}

fn feeds(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| match redirect.target {
        RedirectTarget::Here(_) | RedirectTarget::Text(_) => true,
        // Any other number than 0 is no input; the terminal by its name is none either.
        RedirectTarget::Path(ref word) => {
            redirect.reads
                && !redirect.other_input
                && word.literal().is_some_and(|path| !path.starts_with("/dev/") || path == "/dev/null")
        }
        RedirectTarget::Descriptor => false,
    })
}

/// Substitutions read what their surroundings read.
fn in_word(word: &Word, input: Input) -> Option<String> {
    word.pieces.iter().find_map(|piece| match piece {
        Piece::Substitution { script, .. } | Piece::Process(script) => {
            in_script(script, Input { piped: true, ..input })
        }
        Piece::Variable(variable) => variable.operand().and_then(|word| in_word(word, input)),
        _ => None,
    })
}

fn in_simple(simple: &Simple, input: Input) -> Option<String> {
    let words = words(simple);
    let program = words.first().and_then(|word| word.as_deref()).map(base);
    // What these are given is run.
    let runs = program.is_some_and(|name| ["eval", "source", "."].contains(&name) || SHELLS.contains(&name));
    let values = simple.assignments.iter().map(|assignment| &assignment.value);
    let inside = Input { as_code: input.as_code || runs, ..input };
    if let Some(found) = values.chain(&simple.words).find_map(|word| in_word(word, inside)) {
        return Some(found);
    }
    if input.as_code && !input.fed && simple_passes_on(simple) {
        return program.map(str::to_owned);
    }
    in_words(&words, Input { fed: input.fed || feeds(&simple.redirects), ..input })
}

fn in_words(words: &[Option<String>], input: Input) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let Some(program) = program else {
        // Only known when it runs, and given nothing to do.
        let first = rest.first();
        let is_open = first.is_none_or(|word| word.as_ref().is_none_or(|word| word.starts_with('-')));
        return (is_open && !input.fed).then(|| "a program that is only known when it runs".to_owned());
    };
    let name = base(program);
    if reads(name, rest, input) {
        return Some(program.clone());
    }
    let script = |words: &[Option<String>]| {
        let text = words.iter().map(|word| word.clone().unwrap_or_default()).collect::<Vec<_>>().join(" ");
        in_text(&text, input.shell, input.depth + 1)
    };
    if name == "eval" {
        return script(rest);
    }
    if SHELLS.contains(&name) {
        let at = rest.iter().position(|word| word.as_deref().is_some_and(|word| has_letter(word, 'c')))?;
        // A script on the command line reads what the shell reads.
        return if input.fed { None } else { script(rest.get(at + 1..=at + 1)?) };
    }
    if name == "find" {
        let starts = ["-exec", "-execdir", "-ok", "-okdir"];
        let at = rest.iter().position(|word| word.as_deref().is_some_and(|word| starts.contains(&word)))?;
        let behind = rest.get(at + 1..)?;
        let end = behind.iter().position(|word| word.as_deref().is_some_and(|word| [";", "+"].contains(&word)));
        return in_words(behind.get(..end.unwrap_or(behind.len()))?, input);
    }
    let (_, operands, valued) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name)?;
    if name == "command" && rest.first().is_some_and(|word| word.as_deref().is_some_and(|word| word.starts_with('-'))) {
        // `command -v` runs nothing, and `-p` is rare.
        return None;
    }
    let behind = behind_options(rest, valued);
    let assignment = |word: &&Option<String>| word.as_ref().is_some_and(|word| word.contains('='));
    let skipped =
        if ["env", "sudo"].contains(&name) { behind.iter().take_while(assignment).count() } else { *operands };
    let behind = behind.get(skipped..).unwrap_or_default();
    if behind.is_empty() && START_A_SHELL.contains(&name) && !input.fed {
        return Some(program.clone());
    }
    // Its program reads nothing; but what the terminal says becomes its arguments.
    if name == "xargs"
        && !input.fed
        && behind.first().is_some_and(|word| word.as_deref().is_some_and(|word| SHELLS.contains(&base(word))))
    {
        return Some(program.clone());
    }
    in_words(behind, input)
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

/// True when this program, with these arguments, reads commands from its terminal.
fn reads(program: &str, arguments: &[Option<String>], input: Input) -> bool {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let valued: &[&str] = match stem {
        _ if SHELLS.contains(&program) => &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        "python" | "pypy" => &["-W", "-X"],
        "psql" => &["-h", "-U", "-p", "-d", "-v"],
        "mysql" | "mariadb" => &["-u", "-h", "-P", "-D"],
        "redis-cli" => &["-h", "-p", "-a", "-n", "-u"],
        "ssh" => &[
            "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-E", "-c", "-m", "-b", "-S", "-W", "-e", "-w", "-B",
            "-I",
        ],
        "sudo" | "doas" => &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-U"],
        _ => &[],
    };
    let operands = behind_options(arguments, valued);
    let own = arguments.get(..arguments.len() - operands.len()).unwrap_or_default();
    let letter = |letter| own.iter().flatten().any(|word| has_letter(word, letter));
    let given = |words: &[&str]| {
        own.iter().flatten().any(|word| {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            words.contains(&name)
        })
    };
    let has = |words: &[&str]| arguments.iter().flatten().any(|word| words.contains(&word.as_str()));
    let first = operands.first().and_then(|word| word.as_deref());
    if FULL_SCREEN.contains(&program) {
        let pages = ["less", "more", "most", "man"].contains(&program) && input.piped;
        let sessions = ["tmux", "screen"].contains(&program) && has(IN_SESSIONS);
        return !(pages || sessions || has(UNATTENDED) || ["top", "htop", "lldb"].contains(&program) && letter('b'));
    }
    match program {
        "su" => !(has(&["--command"]) || arguments.iter().flatten().any(|word| has_letter(word, 'c'))),
        "sudo" | "doas" => letter('i') || letter('s') || given(&["--shell", "--login"]),
        "ssh" => letter('t') || (operands.len() < 2 && !(letter('T') || letter('N') || letter('V') || letter('G'))),
        "script" => !(letter('c') || given(&["--command"])),
        "expect" => operands.is_empty() && !letter('c'),
        "docker" | "podman" | "kubectl" | "nerdctl" => {
            let runs = first.is_some_and(|word| ["run", "exec", "attach"].contains(&word));
            let values =
                ["-v", "-e", "-w", "-u", "-p", "-n", "-c", "--name", "--entrypoint", "--network", "--mount", "--env"];
            let inner = operands.get(1..).unwrap_or_default();
            let behind = behind_options(inner, &values);
            let options = inner.get(..inner.len() - behind.len()).unwrap_or_default();
            let asks = options.iter().flatten().any(|word| {
                has_letter(word, 'i')
                    || has_letter(word, 't')
                    || ["--tty", "--interactive", "--stdin"].contains(&word.as_str())
            });
            runs && asks && !input.fed
        }
        "source" | "." => first.is_some_and(|file| STANDARD_INPUT.contains(&file)) && !input.fed,
        _ if first.is_some_and(|file| file == "/dev/tty")
            && (SHELLS.contains(&program) || INTERPRETERS.contains(&stem)) =>
        {
            true
        }
        _ if input.fed => false,
        _ if SHELLS.contains(&program) => {
            let named = first.is_some_and(|file| STANDARD_INPUT.contains(&file));
            letter('i')
                || letter('s')
                || named && !letter('c')
                || operands.is_empty() && !letter('c') && !given(&["--version", "--help"])
        }
        "psql" => {
            !(letter('c') || letter('l') || letter('f') || given(ANSWERS) || given(&["--command", "--file", "--list"]))
        }
        "mysql" | "mariadb" => !(letter('e') || given(ANSWERS) || given(&["--execute"])),
        "sqlite3" => operands.len() < 2 && !given(GIVEN),
        "mongosh" | "sftp" | "ftp" | "telnet" => !given(&["--eval", "--file", "-b", "--version", "--help"]),
        "perl" | "ruby" => operands.is_empty() && !given(GIVEN) && !letter('e') && !letter('n') && !letter('p'),
        _ if INTERPRETERS.contains(&program) || INTERPRETERS.contains(&stem) => {
            let module = own.last().and_then(|word| word.as_deref()) == Some("-m");
            let console = module && first.is_some_and(|name| ["code", "IPython", "pdb", "ptpython"].contains(&name));
            let named = first.is_some_and(|file| STANDARD_INPUT.contains(&file));
            letter('i') && !letter('c')
                || console
                || named
                || given(&["-a", "repl"])
                || first == Some("repl")
                || operands.is_empty() && !given(GIVEN)
        }
        _ => false,
    }
}

/// True for a cluster of one-letter options with this letter.
fn has_letter(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        !rest.starts_with('-') && rest.len() <= 6 && rest.chars().all(char::is_alphanumeric) && rest.contains(letter)
    })
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            if reads_its_terminal(command, Shell::Bash).is_none() {
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
            if reads_its_terminal(command, Shell::Bash).is_some() {
                wrong.push(command);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
