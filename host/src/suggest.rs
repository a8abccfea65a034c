//! What an operator could write down so that fewer commands are questions: rows for programs that have none, and rules for
//! calls that no row can settle. Drafts only: a row says what a program does, and no count of calls proves that.
//!
//! Each draft is tried on the commands that it was made from, so that it says what it would have settled.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use bashgate_shared::classify::{
    Argv, Classification, CommandClass, Decided, Surroundings, classify, is_system_folder,
};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs;
use bashgate_shared::programs::own::{
    OwnForm, OwnOperands, OwnPrograms, OwnReach, OwnRow, OwnSubcommand, ProgramsFile, RowError, refusal,
};
use bashgate_shared::programs::{Kind, Runs};
use bashgate_shared::shell::quoted;

use crate::policy::rules::{Action, Rule};
use crate::policy::{self, Asked, Decision, Policy, credentials};
use crate::taint::Taint;

/// Most different commands that are kept. What comes beyond is counted and left out.
const MAX_COMMANDS: usize = 200_000;
/// Most examples of one draft.
const EXAMPLES: usize = 3;
/// Longest example, in bytes.
const MAX_EXAMPLE: usize = 120;

/// Commands as they were asked about.
#[derive(Debug, Default)]
pub struct Commands {
    seen: HashMap<(String, Option<String>), u64>,
    /// How many there were.
    pub all: u64,
    /// How many of them found no room, or cannot be read.
    pub left_out: u64,
}

impl Commands {
    /// One more, in this folder where that is known.
    pub fn add(&mut self, command: &str, cwd: Option<&str>) {
        self.all += 1;
        let has_room = self.seen.len() < MAX_COMMANDS;
        match self.seen.entry((command.to_owned(), cwd.map(str::to_owned))) {
            Entry::Occupied(mut count) => *count.get_mut() += 1,
            Entry::Vacant(place) if has_room => *place.insert(0) += 1,
            Entry::Vacant(_) => self.left_out += 1,
        }
    }

    /// One that cannot be read.
    pub fn skip(&mut self) {
        self.all += 1;
        self.left_out += 1;
    }
}

/// What could be written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// A row for `programs.toml`.
    Row(OwnRow),
    /// A rule for `bashgate.toml`.
    Rule(Rule),
}

/// A draft, and what it is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The draft.
    pub draft: Draft,
    /// How many questions had such a call in them.
    pub seen: u64,
    /// How many of these would have been allowed without one.
    pub settles: u64,
    /// How often each subcommand, or each call, was seen; the most frequent first.
    pub calls: Vec<(String, u64)>,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Suggestions {
    /// The drafts, the one that settles most first.
    pub drafts: Vec<Suggestion>,
    /// How many commands are questions once the agent has seen untrusted content.
    pub questions: u64,
    /// How many of these all drafts together would have settled.
    pub settled: u64,
}

/// One question.
struct Question {
    command: CommandLine,
    cwd: Option<String>,
    count: u64,
    found: Classification,
}

/// Drafts rows and rules for what is a question under this policy and with these programs. What was seen in fewer than
/// `least` questions is left out.
pub fn suggest(commands: &Commands, base: &ProgramsFile, policy: &Policy, least: u64) -> Result<Suggestions, RowError> {
    let around = Surroundings { programs: Some(OwnPrograms::compile(base)?), ..Surroundings::default() };
    let mut questions: Vec<Question> = Vec::new();
    for ((text, cwd), count) in &commands.seen {
        let Ok(command) = CommandLine::parse(text.clone()) else { continue };
        let found = classify(&command, &around);
        let question = Question { command, cwd: cwd.clone(), count: *count, found };
        if question.found.understood && !question.is_settled(policy, &question.found) {
            questions.push(question);
        }
    }
    // The same input gives the same drafts.
    questions.sort_by(|a, b| (a.command.text(), &a.cwd).cmp(&(b.command.text(), &b.cwd)));
    let mut drafts = rows(&questions, base, policy, least);
    drafts.extend(rules(&questions, policy, least));
    drafts.sort_by_key(|draft| std::cmp::Reverse((draft.settles, draft.seen)));
    let settled = together(&questions, &drafts, base, policy);
    let all = questions.iter().map(|question| question.count).sum();
    Ok(Suggestions { drafts, questions: all, settled })
}

/// Once the agent has seen anything: before that, nothing here is a question.
const TAINT: Taint = Taint::Corruption;

impl Question {
    /// True where it needs nobody under this policy, as it was read.
    fn is_settled(&self, policy: &Policy, found: &Classification) -> bool {
        let asked = Asked { cwd: self.cwd.as_deref(), ..Asked::from(self.command.text()) };
        // What the hook settles where its conditions hold is taken for settled: the container is not here to be looked at.
        found.decided != Decided::Host || policy::judge(policy, TAINT, found, asked).decision == Decision::Allow
    }
}

fn together(questions: &[Question], drafts: &[Suggestion], base: &ProgramsFile, policy: &Policy) -> u64 {
    let (mut file, mut policy) = (base.clone(), policy.clone());
    for suggestion in drafts {
        match &suggestion.draft {
            Draft::Row(row) => file.programs.push(row.clone()),
            Draft::Rule(rule) => policy.rules.push(rule.clone()),
        }
    }
    count_settled(questions.iter(), &tried(file), &policy)
}

/// What a command is judged with as if a person had finished the rows. Too many rows are no rows.
fn tried(mut file: ProgramsFile) -> Surroundings {
    for row in file.programs.iter_mut().filter(|row| row.about.is_empty()) {
        "is a draft".clone_into(&mut row.about);
    }
    Surroundings { programs: OwnPrograms::draft(&file).ok(), ..Surroundings::default() }
}

fn count_settled<'q>(questions: impl Iterator<Item = &'q Question>, around: &Surroundings, policy: &Policy) -> u64 {
    questions
        .filter(|question| question.is_settled(policy, &classify(&question.command, around)))
        .map(|question| question.count)
        .sum()
}

/// The name under which a call's program is looked up.
fn name_of(call: &Argv) -> Option<&str> {
    call.first()?.as_deref()
}

/// The call as text, where all of it is known and could be written down.
fn written(call: &Argv) -> Option<String> {
    let words: Option<Vec<String>> = call.iter().map(|word| word.as_deref().map(quoted)).collect();
    let text = words?.join(" ");
    let fits = text.len() <= MAX_EXAMPLE && !text.contains(char::is_control) && credentials::find(&text).is_none();
    fits.then_some(text)
}

/// A word as subcommands have it.
fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.len() <= 32
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_:".contains(&byte))
}

fn by_count(counts: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = counts.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

/// Rows for programs that have none, behind wrappers, too.
fn rows(questions: &[Question], base: &ProgramsFile, policy: &Policy, least: u64) -> Vec<Suggestion> {
    let mut programs: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (index, question) in questions.iter().enumerate() {
        for name in question.found.calls.iter().filter_map(name_of) {
            if refusal(name).is_none() && !base.programs.iter().any(|row| row.names.iter().any(|own| own == name)) {
                programs.entry(name).or_default().insert(index);
            }
        }
    }
    let mut drafts = Vec::new();
    for (name, of) in programs {
        let its: Vec<&Question> = of.iter().filter_map(|index| questions.get(*index)).collect();
        let seen: u64 = its.iter().map(|question| question.count).sum();
        if seen < least {
            continue;
        }
        let calls: Vec<(&Argv, u64)> = its
            .iter()
            .flat_map(|question| question.found.calls.iter().map(|call| (call, question.count)))
            .filter(|(call, _)| name_of(call) == Some(name))
            .collect();
        let (mut row, calls) = row(name, &calls);
        let mut file = base.clone();
        file.programs.push(row.clone());
        let around = tried(file);
        let settles = count_settled(its.iter().copied(), &around, policy);
        if settles == 0 {
            continue;
        }
        row.safe = examples(&row, &its, &around);
        drafts.push(Suggestion { draft: Draft::Row(row), seen, settles, calls });
    }
    drafts
}

/// Calls that are Safe with the row, the shortest first.
fn examples(row: &OwnRow, questions: &[&Question], around: &Surroundings) -> Vec<String> {
    let calls = questions.iter().flat_map(|question| &question.found.calls);
    let mut texts: Vec<String> = calls
        .filter(|call| name_of(call).is_some_and(|name| row.names.iter().any(|own| own == name)))
        .filter_map(written)
        .collect();
    texts.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    texts.dedup();
    texts.retain(|text| {
        CommandLine::parse(text.clone()).is_ok_and(|line| classify(&line, around).class == CommandClass::Safe)
    });
    texts.truncate(EXAMPLES);
    texts
}

/// A row for what was seen of a program, and how often each of its subcommands was.
fn row(name: &str, calls: &[(&Argv, u64)]) -> (OwnRow, Vec<(String, u64)>) {
    let mut row = OwnRow { names: vec![name.to_owned()], ..OwnRow::default() };
    let arguments = |call: &Argv| -> Vec<Option<String>> { call.iter().skip(1).cloned().collect() };
    let subcommand = |call: &Argv| call.get(1).cloned().flatten().filter(|word| is_word(word));
    // With one operand that is no word, or with hardly ever the same word twice, the words are data.
    let (mut with, mut others) = (BTreeMap::<String, u64>::new(), 0);
    for (call, count) in calls {
        match subcommand(call) {
            Some(word) => *with.entry(word).or_default() += count,
            None if call.get(1).is_some_and(|word| word.as_deref().is_none_or(|word| !word.starts_with('-'))) => {
                others += count;
            }
            None => {}
        }
    }
    let sum: u64 = with.values().sum();
    let has_subcommands = !with.is_empty() && others * 4 <= sum && (with.len() as u64) * 3 <= sum.max(2) * 2;
    let versions = ["--version", "-V", "version"];
    let tells = |call: &Argv| {
        call.len() == 2 && call.get(1).and_then(Option::as_deref).is_some_and(|word| versions.contains(&word))
    };
    for (call, _) in calls.iter().filter(|(call, _)| tells(call)) {
        let word = call.get(1).cloned().flatten().unwrap_or_default();
        if !row.tells_version.contains(&word) {
            row.tells_version.push(word);
        }
    }
    row.tells_version.sort();
    if !has_subcommands {
        let seen: Vec<Vec<Option<String>>> =
            calls.iter().filter(|(call, _)| !tells(call)).map(|(call, _)| arguments(call)).collect();
        row.form = (!seen.is_empty()).then(|| form(&seen));
        let count = calls.iter().map(|(_, count)| count).sum();
        return (row, vec![(name.to_owned(), count)]);
    }
    for word in with.keys().filter(|word| !row.tells_version.contains(word)) {
        let seen: Vec<Vec<Option<String>>> = calls
            .iter()
            .filter(|(call, _)| subcommand(call).as_ref() == Some(word))
            .map(|(call, _)| arguments(call).split_off(1))
            .collect();
        let reach = OwnReach::by_word(word);
        let form = reach.is_none().then(|| form(&seen));
        row.subcommands.push(OwnSubcommand { words: word.clone(), form, reach });
    }
    (row, by_count(with))
}

/// How the arguments looked. Whether an option has a value is a guess: it has one if something that is no option always
/// stood behind it and it is not the last.
fn form(seen: &[Vec<Option<String>>]) -> OwnForm {
    #[derive(Default)]
    struct Option_ {
        joined: bool,
        alone: bool,
        before_value: bool,
    }
    let mut options: BTreeMap<String, Option_> = BTreeMap::new();
    let (mut letters, mut operands, mut files) = (BTreeSet::new(), false, false);
    for arguments in seen {
        let mut only_operands = false;
        for (index, argument) in arguments.iter().enumerate() {
            let Some(word) = argument else {
                operands = true;
                continue;
            };
            let next_is_value =
                arguments.get(index + 1).is_some_and(|next| next.as_deref().is_none_or(|next| !next.starts_with('-')));
            if only_operands || !word.starts_with('-') || word == "-" {
                operands = true;
                files |= word.contains(['/', '.']);
            } else if word == "--" {
                only_operands = true;
            } else if let Some((name, _)) = word.split_once('=').filter(|_| word.starts_with("--")) {
                options.entry(name.to_owned()).or_default().joined = true;
            } else if word.starts_with("--") || word.len() == 2 {
                let option = options.entry(word.clone()).or_default();
                if next_is_value { option.before_value = true } else { option.alone = true }
            } else {
                letters.extend(word.chars().skip(1).filter(char::is_ascii_alphanumeric));
            }
        }
    }
    let mut form = OwnForm { operands: OwnOperands::None, ..OwnForm::default() };
    for (name, option) in options {
        let takes_value = option.before_value && !option.alone;
        match (name.strip_prefix("--"), name.chars().nth(1)) {
            (Some(long), _) if long.len() > 1 => form.long.push(match (option.joined, option.alone, takes_value) {
                (true, true, _) => format!("{name}=?"),
                (true, false, _) | (false, false, true) => format!("{name}="),
                _ => name,
            }),
            (None, Some(letter)) if letter.is_ascii_alphanumeric() && takes_value => form.values.push(letter),
            (None, Some(letter)) if letter.is_ascii_alphanumeric() => {
                letters.insert(letter);
            }
            _ => {}
        }
    }
    form.flags = letters.into_iter().filter(|letter| !form.values.contains(*letter)).collect();
    if operands {
        form.operands = if files { OwnOperands::Files } else { OwnOperands::Data };
    }
    form
}

/// The words that a rule names, and whether these are all of a call.
type Named = (Vec<String>, bool);

/// Calls, each with the question that it is of.
type Calls<'c> = Vec<(usize, &'c Argv)>;

/// Rules for what no row of an operator may be about: calls of programs that have a row of ours, and of paths.
fn rules(questions: &[Question], policy: &Policy, least: u64) -> Vec<Suggestion> {
    let mut groups: BTreeMap<(Named, Option<&str>), Calls<'_>> = BTreeMap::new();
    for (index, question) in questions.iter().enumerate() {
        for part in question.found.parts.iter().filter(|part| part.class == CommandClass::Unknown) {
            if let Some(named) = named_by_a_rule(&part.argv) {
                // What it does, the folder says as well: `make test`.
                let cwd = question.cwd.as_deref().filter(|_| named.1);
                groups.entry((named, cwd)).or_default().push((index, &part.argv));
            }
        }
    }
    let mut drafts = Vec::new();
    for (((argv, exact), cwd), calls) in groups {
        let of: BTreeSet<usize> = calls.iter().map(|(index, _)| *index).collect();
        let its: Vec<&Question> = of.iter().filter_map(|index| questions.get(*index)).collect();
        let seen: u64 = its.iter().map(|question| question.count).sum();
        if seen < least {
            continue;
        }
        let mut matches: Vec<String> = calls.iter().filter_map(|(_, call)| written(call)).collect();
        matches.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        matches.dedup();
        matches.truncate(EXAMPLES);
        let rule = Rule {
            action: Action::Allow,
            argv: argv.clone(),
            exact,
            cwd: cwd.map(str::to_owned),
            reason: String::new(),
            matches,
            not_match: Vec::new(),
        };
        if Rule::check(std::slice::from_ref(&rule)).is_err() {
            continue;
        }
        let with = Policy { rules: policy.rules.iter().cloned().chain([rule.clone()]).collect(), ..policy.clone() };
        let settles = its
            .iter()
            .filter(|question| question.is_settled(&with, &question.found))
            .map(|question| question.count)
            .sum();
        if settles > 0 {
            drafts.push(Suggestion { draft: Draft::Rule(rule), seen, settles, calls: vec![(argv.join(" "), seen)] });
        }
    }
    drafts
}

/// The words of a call, as a rule names them, and whether these are all: of code and of tasks every word, since any further one may be
/// anything; else the program and what it is to do. `None` for calls that no rule should let through: code on the command line,
/// options first.
fn named_by_a_rule(call: &Argv) -> Option<Named> {
    let program = name_of(call)?;
    let is_path = program.contains('/');
    let row = programs::row(program.rsplit('/').next()?);
    if !is_path && row.is_none() {
        return None;
    }
    // The system's own by its name; anybody's may be called like it.
    let is_systems = program.rsplit_once('/').is_some_and(|(folder, _)| is_system_folder(folder));
    let mut words = vec![if is_systems { program.rsplit('/').next()?.to_owned() } else { program.to_owned() }];
    let takes_code = row.is_some_and(|row| row.runs.takes_code());
    // What stands behind the name of a file may be code to any other.
    let runs_files =
        row.is_some_and(|row| row.kind == Kind::Runtime || row.runs == Runs::Shell || !row.steered_by.is_empty());
    let runs_another = row.is_some_and(|row| matches!(row.runs, Runs::Behind(_) | Runs::Elsewhere));
    match call.get(1).and_then(Option::as_deref) {
        _ if runs_another || takes_code && !runs_files => return None,
        // A script in the project, by its name.
        Some(word) if takes_code && !word.starts_with(['-', '/']) => words.push(word.to_owned()),
        Some(word) if !takes_code && is_word(word) => words.push(word.to_owned()),
        _ if takes_code || !is_path => return None,
        _ => {}
    }
    // `npm run build` and `npm run deploy` are two things.
    if words.get(1).is_some_and(|word| word == "run")
        && let Some(word) = call.get(2).and_then(Option::as_deref).filter(|word| is_word(word))
    {
        words.push(word.to_owned());
    }
    let is_task = words.get(1).is_some_and(|word| word == "run");
    // Behind the name of a task may stand another file of tasks.
    let has_tasks = row.is_some_and(|row| !row.steered_by.is_empty() || row.here.is_some());
    if takes_code || is_path || is_task || has_tasks {
        words.extend(call.iter().skip(words.len()).cloned().collect::<Option<Vec<String>>>()?);
        return Some((words, true));
    }
    Some((words, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(commands: &[(&str, u64)], policy: &Policy) -> Suggestions {
        let mut all = Commands::default();
        for (command, count) in commands {
            for _ in 0..*count {
                all.add(command, None);
            }
        }
        suggest(&all, &ProgramsFile::default(), policy, 2).unwrap()
    }

    #[test]
    fn a_row_is_drafted_from_what_was_seen_and_says_what_it_settles() {
        let found = of(
            &[
                ("bd list --json --status open", 5),
                ("timeout 9 bd list -n 3 | head -2", 2),
                ("bd show bd-12", 4),
                ("bd sync && curl https://x.example", 3),
                ("bd --version", 1),
                ("ls -l", 9),
            ],
            &Policy::default(),
        );
        assert_eq!(found.questions, 15);
        assert_eq!(found.settled, 12);
        let [suggestion] = &found.drafts[..] else { panic!("{found:?}") };
        assert_eq!((suggestion.seen, suggestion.settles), (15, 12));
        assert_eq!(suggestion.calls.first(), Some(&("list".to_owned(), 7)));
        let Draft::Row(row) = &suggestion.draft else { panic!("{suggestion:?}") };
        assert_eq!(row.tells_version, ["--version"]);
        let list = row.subcommands.iter().find(|subcommand| subcommand.words == "list").unwrap();
        let form = list.form.as_ref().unwrap();
        assert_eq!((form.values.as_str(), &form.long[..]), ("n", &["--json".to_owned(), "--status=".to_owned()][..]));
        let sync = row.subcommands.iter().find(|subcommand| subcommand.words == "sync").unwrap();
        assert_eq!((sync.reach, &sync.form), (Some(OwnReach::Writes), &None));
        assert_eq!(row.safe, ["bd --version", "bd list -n 3", "bd show bd-12"]);
        assert!(row.about.is_empty() && row.not_safe.is_empty(), "a person finishes it");
        let file = ProgramsFile { programs: vec![row.clone()], narrowed: Vec::new() };
        assert!(OwnPrograms::compile(&file).is_err(), "it does not load as it is");
    }

    #[test]
    fn words_that_never_come_twice_are_data() {
        let found = of(&[("tokei src", 1), ("tokei lib/a.rs", 1), ("tokei -f tests", 1)], &Policy::default());
        let [Suggestion { draft: Draft::Row(row), .. }] = &found.drafts[..] else { panic!("{found:?}") };
        let form = row.form.as_ref().unwrap();
        assert_eq!((form.operands, row.subcommands.len()), (OwnOperands::Files, 0));
    }

    #[test]
    fn rules_are_drafted_where_no_row_may_be() {
        let found = of(
            &[
                ("npm run build", 3),
                ("npm run deploy", 1),
                ("./scripts/check.sh -x", 2),
                ("python3 -c 'x'", 5),
                ("nice make x", 2),
                ("sqlite3 a.db '.shell sh x'", 3),
                ("npm run z --prefix n", 2),
            ],
            &Policy::default(),
        );
        let rules: Vec<String> = found
            .drafts
            .iter()
            .map(|suggestion| match &suggestion.draft {
                Draft::Rule(rule) => {
                    assert!(rule.exact, "{rule:?}");
                    rule.argv.join(" ")
                }
                Draft::Row(row) => panic!("{row:?}"),
            })
            .collect();
        assert_eq!(rules, ["npm run build", "./scripts/check.sh -x", "npm run z --prefix n"]);
        assert_eq!(found.settled, 7);
    }

    #[test]
    fn a_rule_is_for_the_folder_in_which_it_was_seen() {
        let mut all = Commands::default();
        for cwd in ["/w/a", "/w/a", "/w/b"] {
            all.add("./scripts/deploy.sh", Some(cwd));
        }
        let found = suggest(&all, &ProgramsFile::default(), &Policy::default(), 2).unwrap();
        let [Suggestion { draft: Draft::Rule(rule), seen: 2, settles: 2, .. }] = &found.drafts[..] else {
            panic!("{found:?}")
        };
        assert_eq!(rule.cwd.as_deref(), Some("/w/a"));
        assert_eq!((found.questions, found.settled), (3, 2));
    }

    #[test]
    fn credentials_and_what_cannot_be_read_are_in_no_draft() {
        let found = of(
            &[
                ("bd show ghp_0123456789abcdefghij0123456789abcdef", 3),
                ("bd show x", 2),
                ("bd show 'a", 4),
                ("\u{0}", 3),
            ],
            &Policy::default(),
        );
        let [Suggestion { draft: Draft::Row(row), .. }] = &found.drafts[..] else { panic!("{found:?}") };
        assert_eq!(row.safe, ["bd show x"]);
    }
}
