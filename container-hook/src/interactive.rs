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
/// What an interpreter is given to run, as an option.
const GIVEN: &[&str] = &[
    "-c",
    "-e",
    "-m",
    "-p",
    "-f",
    "-V",
    "-v",
    "-h",
    "--version",
    "--help",
    "--eval",
    "--print",
    "--command",
    "--file",
    "--execute",
    "-E",
    "-r",
    "--batch",
    "-b",
    "-l",
    "--list",
];
/// Programs that take their keys from the terminal even when something is piped into them.
const FULL_SCREEN: &[&str] = &[
    "vim", "vi", "nvim", "view", "vimdiff", "emacs", "nano", "pico", "less", "more", "most", "man", "top", "htop",
    "gdb", "lldb", "screen", "tmux", "expect", "script", "mc", "ranger", "tig", "lynx", "w3m", "links", "login",
    "cgdb",
];
/// Programs behind whose arguments another program may stand.
const WRAPPERS: &[&str] = &[
    "env", "sudo", "doas", "nohup", "nice", "ionice", "time", "command", "exec", "timeout", "stdbuf", "setsid",
    "builtin", "xargs", "find", "chroot", "unshare", "nsenter", "strace", "ltrace", "watch", "flock", "eval",
    "busybox", "chpst",
];
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
        Ok(document) => in_script(&document.script, Input { fed: false, shell, depth }),
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

/// What a command reads from.
#[derive(Clone, Copy)]
struct Input {
    /// True when it is a pipe, a file or a text.
    fed: bool,
    shell: Shell,
    depth: usize,
}

fn in_script(script: &Script, input: Input) -> Option<String> {
    script.steps.iter().find_map(|step| {
        let commands = step.pipeline.iter().enumerate();
        commands.into_iter().find_map(|(at, command)| in_command(command, Input { fed: input.fed || at > 0, ..input }))
    })
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
        Piece::Substitution { script, .. } | Piece::Process(script) => in_script(script, input),
        Piece::Variable(variable) => variable.operand().and_then(|word| in_word(word, input)),
        _ => None,
    })
}

fn in_simple(simple: &Simple, input: Input) -> Option<String> {
    let values = simple.assignments.iter().map(|assignment| &assignment.value);
    if let Some(found) = values.chain(&simple.words).find_map(|word| in_word(word, input)) {
        return Some(found);
    }
    let input = Input { fed: input.fed || feeds(&simple.redirects), ..input };
    let words: Vec<Option<String>> =
        simple.words.iter().map(|word| word.literal().map(std::borrow::Cow::into_owned)).collect();
    in_words(&words, input)
}

fn in_words(words: &[Option<String>], input: Input) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let Some(program) = program else {
        // Only known when it runs, and given nothing to do.
        return (rest.is_empty() && !input.fed).then(|| "a program that is only known when it runs".to_owned());
    };
    if reads(base(program), rest, input) {
        return Some(program.clone());
    }
    let script = |words: &[Option<String>]| {
        let text = words.iter().map(|word| word.clone().unwrap_or_default()).collect::<Vec<_>>().join(" ");
        in_text(&text, input.shell, input.depth + 1)
    };
    if base(program) == "eval" {
        return script(rest);
    }
    if SHELLS.contains(&base(program)) {
        let at = rest.iter().position(|word| word.as_deref().is_some_and(|word| has_letter(word, 'c')))?;
        // A script on the command line reads what the shell reads.
        return if input.fed { None } else { script(rest.get(at + 1..=at + 1)?) };
    }
    if WRAPPERS.contains(&base(program)) {
        return (0..rest.len()).find_map(|at| {
            let behind = rest.get(at..)?;
            // What is only known when it runs is no program here, but an argument of one.
            behind.first()?.as_ref()?;
            in_words(behind, input)
        });
    }
    None
}

/// True when this program, with these arguments, reads commands from its terminal.
fn reads(program: &str, arguments: &[Option<String>], input: Input) -> bool {
    let has = |words: &[&str]| arguments.iter().flatten().any(|word| words.contains(&word.as_str()));
    let letter = |letter| arguments.iter().flatten().any(|word| has_letter(word, letter));
    let operands =
        arguments.iter().filter(|word| word.as_ref().is_none_or(|word| !word.starts_with(['-', '+']))).count();
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if FULL_SCREEN.contains(&program) {
        return !(has(&["--batch", "-batch", "--version", "--help", "-b", "-F", "-FX"]));
    }
    match program {
        "su" => !(letter('c') || has(&["--command"])),
        "sudo" | "doas" => letter('i') || letter('s') || has(&["--shell", "--login"]),
        "ssh" => operands < 2 || letter('t'),
        "docker" | "podman" | "kubectl" | "nerdctl" | "lxc" => letter('t') || has(&["--tty"]),
        _ if input.fed => false,
        _ if SHELLS.contains(&program) => {
            letter('i') || letter('s') || (operands == 0 && !letter('c') && !has(&["--version", "--help"]))
        }
        _ if INTERPRETERS.contains(&program) || INTERPRETERS.contains(&stem) => {
            // `sqlite3 db` and `psql db` name no commands.
            let database = ["psql", "mysql", "mariadb", "sqlite3", "mongosh", "redis-cli", "sftp", "ftp", "telnet"];
            let nothing_to_run = if database.contains(&program) { operands < 2 } else { operands == 0 };
            letter('i') || has(&["repl", "-a"]) || (nothing_to_run && !has(GIVEN))
        }
        _ => false,
    }
}

/// True for a cluster of one-letter options with this letter.
fn has_letter(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|rest| {
        !rest.starts_with('-') && rest.len() <= 6 && rest.chars().all(char::is_alphabetic) && rest.contains(letter)
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
            "psql db",
            "sqlite3 x.db",
            "$SHELL",
            "bash < /dev/tty",
            "x=$(bash)",
            "timeout 5 bash",
            "nohup sh -s",
            "busybox sh",
            "zsh --login",
        ] {
            assert!(reads_its_terminal(command, Shell::Bash).is_some(), "{command}");
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
            "ssh host ls",
            "docker ps",
            "grep -i bash x",
            "find . -name bash -type f",
            "sudo make install",
            "bash --version",
            "perl -ne 'print' x",
            "cargo run",
            "top -b -n1",
            "while read x; do echo $x; done < f",
            "php artisan x",
            "which python3 node",
            "env | grep -i x",
            "less --version",
        ] {
            assert_eq!(reads_its_terminal(command, Shell::Bash), None, "{command}");
        }
    }
}
