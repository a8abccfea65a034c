//! The real hook in worlds that somebody has shaped: what it lets through there runs nothing that was not foreseen, shows no
//! secret, and changes nothing outside of the working directory and nothing that acts later.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use bashgate_shared::classify::{Condition, Surroundings, classify, secrets};
use bashgate_shared::command::CommandLine;
use bashgate_shared::planted::{self, Bug};
use bashgate_tests::{Dice, Site, bin, rounds};
use serde_json::{Value, json};

use super::worlds::{Aim, CANARY, FOR_EACH_CONDITION, MARK, World, is_out_of_bounds, sentence};
use super::{Case, ENOUGH, Tracer, generator, seed, tables};

/// Kinds of conditions.
const CONDITIONS: usize = 13;

/// Which one it is.
fn kind(condition: &Condition) -> &'static str {
    match condition {
        Condition::NoSecretBelow { .. } => "no secret below",
        Condition::OnlyPublic { .. } => "only public",
        Condition::Folder { .. } => "folder",
        Condition::NoSecretNamed { .. } => "no secret named",
        Condition::PlainNamesBelow { .. } => "plain names below",
        Condition::NoSecretAdded { .. } => "no secret added",
        Condition::NoDashNames { .. } => "no dash names",
        Condition::NoFolder { .. } => "no folder",
        Condition::NoLinkBelow { .. } => "no link below",
        Condition::NoFileAbove { .. } => "no file above",
        Condition::GitNumbers { .. } => "git numbers",
        Condition::GitShowsNoSecret { .. } => "git shows no secret",
        Condition::GitIsInert { .. } => "git is inert",
    }
}

/// Commands for one world.
const COMMANDS: usize = 60;

/// What a command did in its world that nothing may do unasked.
pub fn harm(world: &World, result: &Value) -> Option<String> {
    if result["printed"].as_str().is_some_and(shows_a_secret) {
        return Some(format!("shows a secret, in {}", world.folder.display()));
    }
    // Where it lies now, a later command would show it unseen; where it was only moved to says its name.
    let copied = result["copied"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let copied: Vec<&str> = copied.filter(|path| !secrets::is_secret_path(path) && !is_gits(path)).collect();
    if !copied.is_empty() {
        return Some(format!("copies a secret to {copied:?}, in {}", world.folder.display()));
    }
    let changed = result["changed"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let beyond: Vec<&str> = changed.filter(|path| is_out_of_bounds(path)).collect();
    (!beyond.is_empty()).then(|| format!("changes {beyond:?}"))
}

/// Git keeps what is added in a form of its own.
fn is_gits(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}

/// True where the output has the canary's beginning: as it is, backwards, in base64, hexadecimal or with blanks in it.
fn shows_a_secret(output: &str) -> bool {
    let packed: String = output.chars().filter(|c| !c.is_whitespace()).collect();
    let backwards: String = MARK.chars().rev().collect();
    let hexadecimal = MARK.bytes().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let letters = MARK.replace('a', "b");
    let forms = [MARK, &backwards, &hexadecimal, &letters];
    // By how many letters stand in front of it, the same text has three forms.
    let base64 = ["Y2FuYXJ5LT", "NhbmFyeS03", "jYW5hcnktN"];
    forms.iter().copied().chain(base64).any(|form| packed.contains(form))
}

#[test]
fn a_secret_is_seen_in_every_form() {
    let text = format!("key = {CANARY}\n");
    for tool in ["cat", "rev", "base64", "od -c", "od -A n -t x1", "xxd -p", "fold -w 3", "tr a b"] {
        for before in ["", "x", "xy"] {
            let mut child =
                Command::new("sh").args(["-c", tool]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(format!("{before}{text}").as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{tool}");
            let shown = String::from_utf8(output.stdout).unwrap();
            assert!(shows_a_secret(&shown), "{tool}: {shown}");
        }
    }
    assert!(!shows_a_secret("key = canary\n"));
}

/// Worlds, and hooks to ask in them.
struct Field {
    tracer: Tracer,
    config: PathBuf,
    _site: Site,
    made: usize,
}

impl Field {
    fn new() -> Self {
        let (tracer, site) = (Tracer::new(), Site::default());
        let config = site.hook_toml_alone();
        tracer.add_awks();
        tracer.add_scripts();
        Self { tracer, config, _site: site, made: 0 }
    }

    fn world(&mut self, dice: &mut Dice, aim: Aim) -> Rc<World> {
        self.made += 1;
        let folder = self.tracer.worlds.path().join(format!("world{}", self.made));
        // Each awk in its turn.
        Rc::new(World::new(dice, (aim, self.made), &folder, self.tracer.folder.path()))
    }

    /// A program in a world, as the agent's shell would start it.
    fn program(world: &World, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(world.folder.join("w")).env_clear().env("HOME", world.folder.join("home"));
        command.envs(world.environment.iter().filter_map(|text| text.split_once('=')));
        command
    }

    /// Whether the hook lets it through by itself.
    fn asks_nobody(&self, world: &World, command: &str) -> bool {
        let mut hook = Self::program(world, &bin("bashgate-hook"));
        hook.arg("--config").arg(&self.config).args(["check", "--", command]);
        let status = hook.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(matches!(status.code(), Some(0 | 2)), "{command}: {status}");
        status.code() == Some(0)
    }

    /// Which of them a hook with this bug lets through.
    fn let_through(&self, world: &World, bug: Bug, commands: &[String]) -> Vec<String> {
        let mut hook = Self::program(world, Path::new(env!("CARGO_BIN_EXE_hook-with-bugs")));
        hook.arg(&self.config).arg(format!("{bug:?}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = hook.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let lines: Vec<String> = commands
            .iter()
            .map(|command| json!({"cwd": world.folder.join("w"), "command": command}).to_string() + "\n")
            .collect();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || stdin.write_all(lines.concat().as_bytes()));
            child.wait_with_output().unwrap()
        });
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.lines().count(), commands.len(), "{bug:?}");
        commands.iter().zip(said.lines()).filter(|(_, said)| *said == "true").map(|(text, _)| text.clone()).collect()
    }
}

fn commands(dice: &mut Dice, aim: Aim, examples: &[String], count: usize) -> Vec<String> {
    let one = |dice: &mut Dice| match dice.below(6) {
        0 => generator::command(dice),
        1 => examples[dice.below(examples.len())].clone(),
        _ => sentence(dice, aim),
    };
    std::iter::repeat_with(|| one(dice)).filter(|text| !text.contains('\0') && text.len() < 2048).take(count).collect()
}

fn case(world: &Rc<World>, command: &str) -> Option<Case> {
    let cwd = world.folder.join("w").to_str().map(str::to_owned);
    let found = classify(&CommandLine::parse(command).ok()?, &Surroundings { cwd, ..Surroundings::default() });
    Some(Case { command: command.to_owned(), shell: "bash", found, world: Some(Rc::clone(world)) })
}

#[test]
fn what_the_hook_lets_through_in_a_hostile_world_does_no_harm() {
    let mut field = Field::new();
    let seed = seed();
    let mut dice = Dice::new(seed);
    let examples = tables();
    let (mut asked, mut ran, mut unsound) = (0, 0, Vec::new());
    let (mut met, mut kept) = (BTreeSet::new(), BTreeSet::new());
    let wanted = rounds(150, 10_000);
    for batch in 0..wanted.div_ceil(50) {
        let mut cases = Vec::new();
        for _ in 0..50.min(wanted - batch * 50) {
            let aim = Aim::any(&mut dice);
            let world = field.world(&mut dice, aim);
            let mut commands = commands(&mut dice, aim, &examples, COMMANDS);
            if field.made.is_multiple_of(3) {
                commands.extend(FOR_EACH_CONDITION.iter().map(|text| (*text).to_owned()));
            }
            asked += commands.len();
            for case in commands.iter().filter_map(|text| case(&world, text)) {
                let kinds = case.found.conditions.iter().map(kind);
                met.extend(kinds.clone());
                if field.asks_nobody(&world, &case.command) {
                    kept.extend(kinds);
                    cases.push(case);
                }
            }
        }
        ran += cases.len();
        unsound.extend(field.tracer.unsound(&cases));
        if unsound.len() >= ENOUGH {
            break;
        }
    }
    println!("hostile worlds: {ran} of {asked} commands ran in {} worlds, seed {seed}", field.made);
    assert!(unsound.is_empty(), "seed {seed}: {unsound:#?}");
    println!("hostile worlds: conditions met {met:?}, kept {kept:?}");
    assert_eq!(met.len(), CONDITIONS, "each condition is aimed at: {met:?}");
    assert_eq!(met, kept, "each holds somewhere, so that what it lets through runs");
    assert!(ran * 5 > asked, "only {ran} of {asked} were let through: this shows little");
}

#[test]
fn bugs_that_only_a_hostile_world_shows_are_found() {
    let mut field = Field::new();
    let examples = tables();
    for bug in Bug::ALL.into_iter().filter(|bug| bug.needs_a_world()) {
        let aim = match bug {
            Bug::NamesAreNoOptions | Bug::NamesArePlain => Aim::Names,
            Bug::FoldersHoldNoSecrets | Bug::PatternsNameNoSecrets => Aim::Secrets,
            Bug::LinksHaveNoSecrets => Aim::Links,
            Bug::PathsHaveNoLinks | Bug::NothingActsLater => Aim::Writes,
            Bug::GitIsInert | Bug::GitShowsAnything => Aim::Git,
            Bug::NothingStartsOthers => Aim::Magic,
            Bug::FoldersAreThere => Aim::Folders,
            Bug::SedStaysInside => Aim::Sed,
            Bug::VariablesAreData | Bug::EnvironmentIsPublic => Aim::Variables,
            Bug::AwkStaysInside => Aim::Awk,
            Bug::BackticksAreText | Bug::DeclarationsAreData | Bug::NamesHoldNumbers | Bug::ProgramsAreNative => {
                Aim::Anything
            }
        };
        let mut dice = Dice::new(seed());
        let found = (1..=20).find_map(|round| {
            let mut cases = Vec::new();
            for _ in 0..25 {
                let world = field.world(&mut dice, aim);
                let commands = commands(&mut dice, aim, &examples, COMMANDS);
                let through = field.let_through(&world, bug, &commands);
                // What is let through without the bug, too, is the other test's.
                let new = through.iter().filter(|text| !field.asks_nobody(&world, text));
                cases.extend(new.filter_map(|text| planted::with(bug, || case(&world, text))));
            }
            let unsound = field.tracer.unsound(&cases);
            (!unsound.is_empty()).then(|| (unsound[0].clone(), round))
        });
        let (example, round) = found.unwrap_or_else(|| panic!("{bug:?} was not found"));
        println!("hostile worlds: {bug:?} was found in round {round}: {} {}", example.0, example.1);
    }
}
