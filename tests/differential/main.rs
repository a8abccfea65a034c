//! The reader and the tables against real shells: whatever was called local must run only what was foreseen.
//!
//! Commands are generated, taken from the tables' own examples, and, where they lie beside the repository, from corpora of
//! real calls. Those that are decided in the container run under bash (or dash and zsh) with every `execve`, `connect` and
//! `socket` traced; anything that was not foreseen, and any socket but a local one, is a failure. The real hook is asked the
//! same in worlds that somebody has shaped (`worlds.rs`), where a command may also show no secret and change nothing beyond
//! its working directory. A run also plants bugs in the reader and in rules and two bypasses, and fails when it does not
//! find them.
//!
//! `BASHGATE_CASES` sets how many generated commands run; `make soak` runs a million.

mod generator;
mod hostile;
mod worlds;

use std::cell::Cell;
use std::collections::HashSet;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use bashgate_shared::classify::{Classification, Condition, Decided, Surroundings, classify};
use bashgate_shared::command::CommandLine;
use bashgate_shared::planted::{self, Bug};
use bashgate_shared::programs;
use bashgate_shared::shell::Shell;
use bashgate_tests::{Dice, commands_of, corpora, corpus_files, repository};
use generator::{command, mutate};
use serde_json::{Value, json};
use worlds::World;

/// Commands of one call of the tracer.
const BATCH: usize = 5_000;

/// Commands that run at once.
const THREADS: usize = 3;

/// So many findings end a run early.
const ENOUGH: usize = 20;

/// A folder with the tracer and the programs to plant.
struct Tracer {
    folder: tempfile::TempDir,
    /// Apart from the programs: whoever is root has made what lies beside its own folder.
    worlds: tempfile::TempDir,
    /// How many commands were stopped because they did not end.
    cut_short: Cell<usize>,
}

/// One command that was called local.
struct Case {
    command: String,
    shell: &'static str,
    found: Classification,
    /// Where it runs, if not in the usual folder.
    world: Option<Rc<World>>,
}

impl Case {
    /// What the tracer is told.
    fn order(&self) -> String {
        let mut order = json!({"shell": self.shell, "command": self.command});
        if let Some(world) = &self.world {
            order["world"] = world.folder.to_str().unwrap().into();
            order["environment"] = world.environment.as_slice().into();
            order["canary"] = worlds::MARK.into();
        }
        order.to_string()
    }

    /// A word that names the copy of its world, as it was when the hook was asked.
    fn as_asked(&self, word: &str) -> String {
        let Some(world) = &self.world else { return word.to_owned() };
        let own = world.folder.to_str().unwrap();
        (0..THREADS).fold(word.to_owned(), |word, thread| word.replace(&format!("/srv/case{thread}"), own))
    }
}

/// Programs that lie at the end of PATH and must not be started.
const STUBS: [&str; 6] = ["EVIL", "lzop", "lzip", "lzma", "compress", "gpg"];

impl Tracer {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("bashgate-tracer-").tempdir_in("/opt").unwrap();
        let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let stubs = folder.path().join("stubs");
        std::fs::create_dir(&stubs).unwrap();
        // What a program picks by what a file is would be found here.
        for name in STUBS {
            std::fs::copy("/usr/bin/true", stubs.join(name)).unwrap();
        }
        std::fs::copy(env!("CARGO_BIN_EXE_ground-truth"), folder.path().join("ground-truth")).unwrap();
        for stub in STUBS.map(|name| stubs.join(name)) {
            open(&stub);
            // Whose it is, anybody can tell: not root's.
            chown(&stub, Some(65_534), Some(65_534)).unwrap();
        }
        for path in [folder.path(), &stubs, &folder.path().join("ground-truth")] {
            open(path);
        }
        let worlds = tempfile::Builder::new().prefix("bashgate-worlds-").tempdir_in("/srv").unwrap();
        open(worlds.path());
        Self { folder, worlds, cut_short: Cell::new(0) }
    }

    /// A folder of programs, which anybody may run.
    fn programs(&self, folder: &str, programs: &[(&str, Vec<u8>)]) {
        let folder = self.folder.path().join(folder);
        std::fs::create_dir(&folder).unwrap();
        let files = programs.iter().map(|(name, content)| (folder.join(name), content));
        let files = files.inspect(|(path, content)| std::fs::write(path, content).unwrap()).map(|(path, _)| path);
        for path in files.chain([folder.clone()]) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// A folder with an `awk` for each of those that are in use.
    fn add_awks(&self) {
        for awk in ["mawk", "gawk", "original-awk", "busybox"] {
            let program =
                [format!("/usr/bin/{awk}"), format!("/bin/{awk}")].into_iter().find(|path| Path::new(path).exists());
            let program = std::fs::read(program.unwrap_or_else(|| panic!("{awk} is missing"))).unwrap();
            self.programs(awk, &[("awk", program)]);
        }
    }

    /// A folder with programs that are scripts.
    fn add_scripts(&self) {
        let scripts = [("tac", "#!/bin/sh\nEVIL\n"), ("jq", "#!/usr/bin/python3\nimport os\nos.system('EVIL')\n")];
        self.programs("scripts", &scripts.map(|(name, text)| (name, text.as_bytes().to_vec())));
    }

    /// What each command really did.
    fn run(&self, cases: &[Case]) -> Vec<Value> {
        let wall = repository().join("tests/differential/wall.sh");
        let mut child = Command::new("sh")
            .arg(wall)
            .args([self.folder.path(), self.worlds.path()])
            .arg(THREADS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let lines: Vec<String> = cases.iter().map(Case::order).collect();
        let lines = lines.join("\n");
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(lines.as_bytes()));
            child.wait_with_output().unwrap()
        });
        let mut results = vec![Value::Null; cases.len()];
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let result: Value = serde_json::from_str(line).unwrap();
            let id = usize::try_from(result["id"].as_u64().unwrap()).unwrap();
            results[id] = result;
        }
        results
    }

    /// The commands that did something unforeseen, with what it was.
    fn unsound(&self, cases: &[Case]) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut cut_short = 0;
        for batch in cases.chunks(BATCH) {
            for (case, result) in batch.iter().zip(self.run(batch)) {
                cut_short += usize::from(result["timeout"] == true);
                if let Some(why) = surprise(case, &result) {
                    found.push((format!("{}: {:?}", case.shell, case.command), why));
                }
            }
        }
        // What waits for others, or walks the whole machine, is stopped; what it did until then counts.
        assert!(cut_short * 20 <= cases.len().max(200), "{cut_short} of {} commands did not end", cases.len());
        self.cut_short.set(self.cut_short.get() + cut_short);
        found
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Why what happened was not foreseen.
fn surprise(case: &Case, result: &Value) -> Option<String> {
    let Some(execs) = result["execs"].as_array() else { return Some(format!("lost: {result}")) };
    // AF_UNIX (1) and AF_NETLINK (16) stay on the machine.
    let sockets = result["sockets"]
        .as_array()
        .map_or(0, |list| list.iter().filter(|family| **family != 1 && **family != 16).count());
    if sockets > 0 {
        return Some(format!("{sockets} sockets that are not local"));
    }
    if let Some(harm) = case.world.as_ref().and_then(|world| hostile::harm(world, result)) {
        return Some(harm);
    }
    let is_stub = |path: &str| STUBS.iter().any(|stub| path.ends_with(&format!("/stubs/{stub}")));
    let stub = execs.iter().find(|exec| exec[0].as_str().is_some_and(is_stub)).filter(|_| case.world.is_some());
    if let Some(exec) = stub {
        return Some(format!("starts {}", exec[0]));
    }
    execs.iter().find_map(|exec| {
        let words = exec[1].as_array().unwrap().iter().filter_map(Value::as_str);
        let words: Vec<String> = words.map(|word| case.as_asked(word)).collect();
        let argv: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = name(exec[0].as_str().unwrap_or(""));
        let heard = Heard { argv: &argv, whole: exec[2] == true };
        let foreseen = case.found.calls.iter().any(|call| matches(call, heard, program));
        (!foreseen).then(|| format!("{program} {argv:?}"))
    })
}

/// Whether a call is one that was foreseen: the same words, where `None` stands for any number of any words.
fn matches(call: &[Option<String>], heard: Heard<'_>, program: &str) -> bool {
    let Some(Some(first)) = call.first() else { return false };
    // git starts itself.
    if programs::row(name(first)).is_some_and(|row| row.starts.contains(&program)) || program == "git" && first == "git"
    {
        return true;
    }
    name(first) == program && words_match(call.get(1..).unwrap_or(&[]), heard.from(1))
}

/// The words of a call that ran. Where there are very many, only the first of them.
#[derive(Clone, Copy)]
struct Heard<'a> {
    argv: &'a [&'a str],
    whole: bool,
}

impl Heard<'_> {
    fn from(self, index: usize) -> Self {
        Self { argv: self.argv.get(index..).unwrap_or(&[]), whole: self.whole }
    }
}

fn words_match(call: &[Option<String>], heard: Heard<'_>) -> bool {
    if heard.argv.is_empty() && !heard.whole {
        return true;
    }
    match call.split_first() {
        None => heard.argv.is_empty(),
        // The shell puts the home folder where a tilde stands, and the working directory where `$PWD` does.
        Some((Some(word), rest)) => heard.argv.first().is_some_and(|first| {
            let is_of_here = |inside: &str| inside.is_empty() || inside.starts_with('/') && first.ends_with(inside);
            let same = word == first
                || first.starts_with('/') && (word.starts_with('~') || word.strip_prefix('.').is_some_and(is_of_here));
            same && words_match(rest, heard.from(1))
        }),
        Some((None, rest)) => (0..=heard.argv.len()).any(|taken| words_match(rest, heard.from(taken))),
    }
}

fn local(command: &str, shell: &'static str) -> Option<Case> {
    let around =
        Surroundings { shell: if shell == "bash" { Shell::Bash } else { Shell::Other }, ..Surroundings::default() };
    let line = CommandLine::parse(command).ok()?;
    let found = classify(&line, &around);
    // The folder of the cases is full of names that start with a dash, and of others that `xargs` takes apart.
    let of_names =
        |condition: &Condition| matches!(condition, Condition::NoDashNames { .. } | Condition::PlainNamesBelow { .. });
    let asks_for_names = found.conditions.iter().any(of_names);
    (found.decided != Decided::Host && !asks_for_names).then(|| Case {
        command: command.to_owned(),
        shell,
        found,
        world: None,
    })
}

/// The next shell: mostly bash.
fn shell(dice: &mut Dice) -> &'static str {
    dice.pick(&["bash", "bash", "bash", "bash", "bash", "bash", "dash", "zsh"])
}

fn tables() -> Vec<String> {
    let rows = programs::FAMILIES.iter().flat_map(|(_, rows)| rows.iter());
    rows.flat_map(|row| row.safe.iter().chain(row.not_safe)).map(|text| (*text).to_owned()).collect()
}

/// Our own corpora.
fn own() -> Vec<String> {
    let files = corpus_files();
    let others = corpora();
    files.iter().filter(|file| !others.contains(file)).flat_map(|file| commands_of(file)).collect()
}

/// Other people's.
fn of_others() -> Vec<String> {
    corpora().iter().flat_map(|file| commands_of(file)).collect()
}

/// Always the same for the short run, so that it says the same wherever it runs; another one for each long run.
fn seed() -> u64 {
    if std::env::var_os("BASHGATE_CASES").is_none() && std::env::var_os("BASHGATE_SEED").is_none() {
        return 20_000;
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    std::env::var("BASHGATE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(now.as_secs())
}

#[test]
fn nothing_called_local_does_anything_unforeseen() {
    let tracer = Tracer::new();
    let wanted: usize = std::env::var("BASHGATE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let seed = seed();
    let mut dice = Dice::new(seed);
    // What is mutated must not depend on what lies beside the repository, but for a long run.
    let long = std::env::var_os("BASHGATE_CASES").is_some();
    let more = if long { of_others() } else { Vec::new() };
    let given: Vec<String> = tables().into_iter().chain(own()).chain(more).collect();
    let (mut generated, mut ran, mut unsound) = (0, 0, Vec::new());
    let mut seen = HashSet::new();
    while ran < wanted && unsound.len() < ENOUGH {
        let mut cases = Vec::new();
        while cases.len() < BATCH.min(wanted - ran) {
            let text = if dice.one_in(5) {
                let start = dice.below(given.len());
                mutate(&mut dice, &given[start])
            } else {
                command(&mut dice)
            };
            generated += 1;
            let shell = shell(&mut dice);
            if text.len() < 2048 && !text.contains(['\0']) && seen.insert((shell, text.clone())) {
                cases.extend(local(&text, shell));
            }
        }
        seen.clear();
        ran += cases.len();
        unsound.extend(tracer.unsound(&cases));
        if long && ran % (10 * BATCH) == 0 {
            println!("differential: {ran} of {wanted} ran");
        }
    }
    println!(
        "differential: {ran} generated commands ran, of {generated} made ({:.1} % local), {} stopped after a while, seed {seed}",
        100.0 * f64::from(u32::try_from(ran).unwrap()) / f64::from(u32::try_from(generated).unwrap()),
        tracer.cut_short.get(),
    );
    assert!(unsound.is_empty(), "seed {seed}: {unsound:#?}");
}

#[test]
fn the_tables_examples_and_real_calls_do_nothing_unforeseen() {
    let tracer = Tracer::new();
    let given: Vec<String> = tables().into_iter().chain(own()).chain(of_others()).collect();
    let cases: Vec<Case> = given
        .iter()
        .filter(|text| text.len() < 8192)
        .flat_map(|text| ["bash", "dash", "zsh"].into_iter().filter_map(|shell| local(text, shell)))
        .collect();
    println!("differential: {} examples and real calls ran, of {} in three shells", cases.len(), given.len());
    let unsound = tracer.unsound(&cases);
    assert!(unsound.is_empty(), "{unsound:#?}");
}

/// What a row calls safe is really tried: where its program is installed, it is started.
#[test]
fn every_safe_example_starts_its_program() {
    let tracer = Tracer::new();
    let rows = programs::FAMILIES.iter().flat_map(|(_, rows)| rows.iter());
    let builtins = Command::new("bash").args(["-c", "compgen -b"]).output().unwrap().stdout;
    let builtins = String::from_utf8(builtins).unwrap();
    let is_builtin = |name: &str| builtins.lines().any(|builtin| builtin == name);
    // The wall has no folders of the system's own programs.
    let is_installed = |name: &str| {
        let real =
            ["/usr/bin", "/bin"].iter().find_map(|folder| std::fs::canonicalize(Path::new(folder).join(name)).ok());
        real.is_some_and(|real| !real.starts_with("/usr/sbin") && !real.starts_with("/sbin"))
    };
    let (mut cases, mut names, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        for text in row.safe {
            // What stands behind a condition may not run.
            let Some(case) = local(text, "bash").filter(|_| !text.contains("&&")) else { continue };
            let called = |call: &Vec<Option<String>>| call.first().cloned().flatten();
            let external: Vec<String> = case.found.calls.iter().filter_map(called).collect();
            let Some(name) = external.iter().map(|name| self::name(name)).find(|name| !is_builtin(name)) else {
                continue;
            };
            let name = name.to_owned();
            if is_installed(&name) {
                names.push(name);
                cases.push(case);
            } else {
                missing.push(name);
            }
        }
    }
    missing.sort();
    missing.dedup();
    println!(
        "differential: {} examples of rows; not installed, so that nothing of them is tried: {missing:?}",
        cases.len()
    );
    let mut idle = Vec::new();
    for (batch, names) in cases.chunks(BATCH).zip(names.chunks(BATCH)) {
        for ((case, result), name) in batch.iter().zip(tracer.run(batch)).zip(names) {
            let started = result["execs"].as_array().into_iter().flatten().filter_map(|exec| exec[0].as_str());
            if !started.map(self::name).any(|started| started == name) {
                idle.push((case.command.clone(), result.to_string()));
            }
        }
    }
    assert!(idle.is_empty(), "{idle:#?}");
    assert!(cases.len() > 150, "{}", cases.len());
}

#[test]
fn the_differential_test_can_fail() {
    let tracer = Tracer::new();
    // Two bypasses, as if somebody had called them local.
    let harmless = local("ls a", "bash").unwrap().found;
    for command in ["ls a; EVIL", "echo x > /dev/tcp/127.0.0.1/9", "ls a --all", "ls a | xargs ls"] {
        let case = Case { command: command.to_owned(), shell: "bash", found: harmless.clone(), world: None };
        assert_eq!(tracer.unsound(&[case]).len(), 1, "{command}");
    }
    // Bugs in the reader and in rules, found by the same generator.
    for bug in Bug::ALL.into_iter().filter(|bug| !bug.needs_a_world()) {
        let mut dice = Dice::new(seed());
        // Some are rare: the longest search is ten times the usual one.
        let found = (1..=10).find_map(|round| {
            let cases: Vec<Case> = planted::with(bug, || {
                std::iter::repeat_with(|| command(&mut dice))
                    .filter_map(|text| local(&text, "bash"))
                    .take(4_000)
                    .collect()
            });
            let unsound = tracer.unsound(&cases);
            (!unsound.is_empty()).then_some((unsound.len(), round * cases.len()))
        });
        let (times, commands) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        println!("differential: {bug:?} was found {times} times in {commands} commands");
    }
}
