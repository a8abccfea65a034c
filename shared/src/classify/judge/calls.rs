//! One call, by the row of its program.

use super::{Judge, Judgement};
use crate::classify::call::{Arg, Call, Known, Options};
use crate::classify::{CommandClass, Condition, paths};
use crate::programs::{self, Builtin, Kind, Operands, Program, Reach, Rule, Runs, Subcommand, Talks, Trait};
use crate::shell::{self, Shell};

/// Folders whose programs are the ones that the rows mean.
pub(in crate::classify) const SYSTEM_FOLDERS: &[&str] =
    &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];
/// Most words that are looked at as programs or scripts.
const MAX_SUSPECTS: usize = 8;

impl Judge<'_> {
    /// Judges a call by its program's row, wherever the program lies.
    pub(super) fn by_program(&mut self, call: &Call) -> Judgement {
        let name = paths::file_name(&call.program);
        if name.starts_with("bashgate") {
            self.tampering(name);
            return Judgement::unknown("only people and agents' hooks call the gate, not the agent");
        }
        if self.changed.cleared && programs::runs_of(name) == Runs::Shell {
            return Judgement::unknown(
                "a shell without PATH or PWD looks into the working directory and follows its links",
            )
            .max(self.by_row(call, name));
        }
        if let Some((folder, _)) = call.program.rsplit_once('/')
            && !SYSTEM_FOLDERS.contains(&folder)
        {
            self.runs_code(call, false, Some(&call.program));
            return match programs::kind_of(name) {
                Some(Kind::Network | Kind::Runtime) => {
                    self.by_row(call, name).max(Judgement::network(format!("`{name}` in `{folder}`")))
                }
                Some(Kind::Runner | Kind::Launcher) => {
                    self.by_row(call, name).max(Judgement::unknown(format!("`{name}` in `{folder}`")))
                }
                _ => Judgement::unknown(format!("a program in `{folder}`, not one of the system's")),
            };
        }
        self.by_row(call, name)
    }

    fn by_row(&mut self, call: &Call, name: &str) -> Judgement {
        if self.was_fetched(name) && !programs::is_builtin(name) {
            self.runs_code(call, false, Some(name));
        }
        let Some(row) = self.row(name) else {
            // What is called so may send whatever lies where it starts.
            if call.args.iter().filter_map(Arg::exact).any(programs::is_outward) {
                let _ = self.read_tree(&Arg::literal("."));
            }
            return Judgement::unknown(format!("`{name}` is not in the table of known programs"));
        };
        if let Some(by) = row.tells_by(&call.args) {
            self.secret(format!("what `{}` tells", format!("{name} {by}").trim_end()));
        }
        if row.shows_another_environment(&call.args) {
            self.secret(format!("the environment in which `{name}` runs something"));
        }
        if let Some(by) = row.plants_by(&call.args) {
            self.persistence(format!("what `{}` sets up", format!("{name} {by}").trim_end()));
        }
        if let Some(by) = row.steers_by(&call.args) {
            self.steering(format!("what `{}` sets up", format!("{name} {by}").trim_end()));
        }
        if row.sends_folder(&call.args) {
            let _ = self.read_tree(&Arg::literal("."));
        }
        self.waited += usize::from(row.has(Trait::Waits) || row.builtin == Some(Builtin::Waits));
        let judgement = self.version(call, row, name).unwrap_or_else(|| self.by_rule(call, row));
        if judgement.class == CommandClass::Network && matches!(row.kind, Kind::Network | Kind::Mixed) {
            self.hosts_in_words(call, name);
        }
        let narrowed = self.around.programs.and_then(|own| own.narrows(name));
        let judgement = narrowed.map_or(judgement.clone(), |why| judgement.max(Judgement::unknown(why)));
        let Judgement { class, reason, local, reaches } = judgement;
        let reason = match reason {
            reason if reason.is_empty() => format!("`{name}` {}", row.about),
            reason if class > CommandClass::Safe && !reason.contains('`') => format!("`{name}`: {reason}"),
            reason => reason,
        };
        Judgement { class, reason, local, reaches }
    }

    fn by_rule(&mut self, call: &Call, row: &Program) -> Judgement {
        let opened = row
            .has(Trait::OpensDash)
            .then(|| Call { args: call.args.iter().map(Arg::opened).collect(), ..call.clone() });
        let call = opened.as_ref().unwrap_or(call);
        let takes_names = matches!(row.rule, Rule::Listed(..)) || row.has(Trait::NamesAreFiles);
        let named = if takes_names { self.without_dashes(call) } else { None };
        let call = named.as_ref().unwrap_or(call);
        let judgement = self.by_its_rule(call, row);
        if judgement.class > CommandClass::Safe
            && let Some(builtin) = row.builtin
        {
            self.sets_by(builtin, call);
        }
        judgement
    }

    /// What a builtin sets in a form that no rule has read for certain.
    fn sets_by(&mut self, builtin: Builtin, call: &Call) {
        let is_option = |arg: &Arg, letters: &str| {
            arg.exact().is_some_and(|text| {
                text.strip_prefix(['-', '+']).is_some_and(|rest| rest.chars().all(|letter| letters.contains(letter)))
            })
        };
        let is_plain = |arg: &Arg| {
            let (name, value) = arg.start().split_once('=').map_or((arg.start(), None), |(name, _)| (name, Some(())));
            shell::is_name(name.trim_end_matches('+')) && (value.is_some() || arg.exact().is_some())
        };
        let is_known = match builtin {
            // Not `-n`, which makes one name stand for another, and `-i`, which evaluates.
            Builtin::Declares { .. } | Builtin::Removes => {
                call.args.iter().all(|arg| is_option(arg, "raxgAlp") || is_plain(arg))
            }
            // With `-k` words behind a program are assignments, too.
            Builtin::Sets => call.args.iter().all(|arg| arg.exact().is_some_and(|text| !text.contains('k'))),
            _ => !(builtin.changes_names() || builtin.names_variables() || builtin.evaluates()),
        };
        if !is_known {
            self.sets_any();
            self.effects.evaluates_unknown |= matches!(
                builtin,
                Builtin::Declares { .. }
                    | Builtin::Calculates
                    | Builtin::Removes
                    | Builtin::Waits
                    | Builtin::Parses
                    | Builtin::Tests
                    | Builtin::FillsAndCalls
            );
        } else if matches!(builtin, Builtin::Declares { .. } | Builtin::Removes) {
            for arg in call.args.iter().filter(|arg| is_plain(arg)) {
                self.sets(arg.start().split('=').next().unwrap_or_default());
            }
        }
    }

    fn by_its_rule(&mut self, call: &Call, row: &Program) -> Judgement {
        match &row.rule {
            Rule::Custom(rule) => rule(self, call),
            Rule::Harmless(operands) => self.harmless(call, *operands),
            Rule::Listed(options, operands) => match options.scan(&call.args) {
                Ok(scan) if row.has(Trait::NoDashValues) && !scan.apart.is_empty() => {
                    Judgement::unknown("the value of an option may be an option")
                }
                Ok(scan) => self.operands(&scan.operands, *operands),
                Err(reason) => Judgement::unknown(reason),
            },
            Rule::Alone(form) => match form.accepts(&call.args) {
                Ok(scan) => self.operands(&scan.operands, form.operands),
                Err(reason) => Judgement::unknown(reason),
            },
            Rule::Forms => self.by_form(call, row),
            Rule::Never(operands) => {
                let given: Vec<&Arg> = call.args.iter().filter(|arg| !arg.start().starts_with('-')).collect();
                self.operands(&given, *operands).max(Judgement::unknown(""))
            }
        }
    }

    /// The row of a program: one of ours, or of the operator's.
    pub(super) fn row(&self, name: &str) -> Option<&'static Program> {
        programs::row(name).or_else(|| self.around.programs.and_then(|own| own.row(name)))
    }

    /// The name of the rule that judges a program, for people.
    pub(super) fn rule_name(&self, program: &str) -> String {
        let name = paths::file_name(program);
        if self.row(name).is_some() { name.to_owned() } else { "not in a table".to_owned() }
    }

    /// The judgement of a call that only tells a version; `None` for any other.
    fn version(&mut self, call: &Call, row: &Program, name: &str) -> Option<Judgement> {
        let ([only], Some(version)) = (call.args.as_slice(), row.version) else { return None };
        if !version.arguments.contains(&only.exact()?) {
            return None;
        }
        if version.chosen_by.is_empty() {
            return Some(Judgement::safe());
        }
        for folder in self.folders()? {
            let names = version.chosen_by.iter().map(|name| (*name).to_owned()).collect();
            self.condition(Condition::NoFileAbove { folder, names });
        }
        Some(Judgement::conditional(format!("`{name}`: files of the workspace may choose the version that runs")))
    }

    fn harmless(&mut self, call: &Call, operands: Operands) -> Judgement {
        let scan = match Options::NONE.scan_loosely(&call.args) {
            Ok(scan) => scan,
            Err(reason) => return Judgement::unknown(reason),
        };
        let mut judgement = Judgement::safe();
        for (name, value) in &scan.options {
            if let Some(value) = value.as_ref().filter(|_| name.starts_with("--") && operands == Operands::Files) {
                judgement = judgement.max(self.read(value));
            }
        }
        judgement.max(self.operands(&scan.operands, operands))
    }

    /// A subcommand without a form of its own.
    fn by_reach(&mut self, call: &Call, found: &Subcommand) -> Judgement {
        let name = paths::file_name(&call.program);
        match found.reach {
            Reach::Local => Judgement::unknown(""),
            Reach::Reads | Reach::Writes => {
                self.network(name, None);
                if found.reach == Reach::Reads {
                    self.untrusted(name);
                }
                Judgement::network(format!("`{name} {}` talks to the network", found.words))
            }
        }
    }

    /// A subcommand in the form in which it stays on this machine.
    fn by_form(&mut self, call: &Call, row: &Program) -> Judgement {
        let word = |at: usize| call.args.get(at).and_then(Arg::exact).filter(|text| !text.starts_with('-'));
        let (first, second) = (word(0).unwrap_or(""), word(1).unwrap_or(""));
        let Some(found) = row.subcommand(first, second) else {
            if let Some(behind) = row.called(&call.args).filter(|found| found.reach != Reach::Local) {
                return self.by_reach(call, behind);
            }
            let why = if first.is_empty() { "this form".to_owned() } else { format!("`{first}`") };
            return Judgement::unknown(format!("{why} is not on its list"));
        };
        let Some(form) = found.form else {
            return self.by_reach(call, found);
        };
        let words = found.words.split_whitespace().count();
        match form.accepts(call.args.get(words..).unwrap_or(&[])) {
            Ok(scan) => self.operands(&scan.operands, form.operands),
            Err(reason) => Judgement::unknown(reason),
        }
    }

    /// The call with its patterns taken as `./*` instead of `*`, under the condition that no name there starts with a dash.
    fn without_dashes(&mut self, call: &Call) -> Option<Call> {
        let opens = |arg: &Arg| arg.known == Known::Words && arg.start().is_empty() && !arg.wanders;
        // Behind `--` nothing is an option.
        let before = call.args.iter().position(|arg| arg.is("--")).unwrap_or(call.args.len());
        if !call.args.iter().take(before).any(opens) {
            return None;
        }
        for folder in self.folders()? {
            self.condition(Condition::NoDashNames { folder });
        }
        let mut named = call.clone();
        for arg in named.args.iter_mut().filter(|arg| opens(arg)) {
            *arg = arg.with_start("./");
        }
        Some(named)
    }

    pub(crate) fn operands(&mut self, operands: &[&Arg], kind: Operands) -> Judgement {
        let all = |judge: &mut Self, each: fn(&mut Self, &Arg) -> Judgement| {
            operands.iter().fold(Judgement::safe(), |judgement, operand| judgement.max(each(judge, operand)))
        };
        match (kind, operands) {
            (Operands::Data | Operands::Names, _) | (Operands::OneFile, []) => Judgement::safe(),
            (Operands::Files, _) => all(self, Self::read),
            (Operands::OneFile, [one]) if one.is_one() => self.read(one),
            (Operands::OneFile, _) => Judgement::unknown("with a second file it writes there"),
            (Operands::Writes, _) => all(self, Self::write),
            (Operands::Folders, _) => all(self, Self::make_folder),
        }
    }

    /// Reads all operands behind the first `skip`; the shape of programs that take a pattern or script first.
    pub(crate) fn read_behind(&mut self, operands: &[&Arg], skip: usize) -> Judgement {
        self.operands(operands.get(skip..).unwrap_or(&[]), Operands::Files)
    }

    /// Looks for a program behind words that are not read here, so that its effects are seen all the same. Never Safe.
    pub(crate) fn suspect(&mut self, call: &Call, words: &[Arg]) -> Judgement {
        self.suspect_with(call, words, Suspicion::AnyWord)
    }

    /// The same, where it is known which word would be the program, or that none needs to be.
    pub(crate) fn suspect_with(&mut self, call: &Call, words: &[Arg], suspicion: Suspicion) -> Judgement {
        let mut judgement = Judgement::unknown("");
        if let Suspicion::At(at) = suspicion
            && let Some(first) = words.iter().take(at + 1).position(|arg| arg.exact().is_none())
        {
            // What may be one of the wrapper's options may as well be the program.
            let input = self.terminal.input;
            self.terminal.unknown_program(words.get(first + 1..).unwrap_or(&[]), input);
        }
        let (mut looked_at, mut named) = (0, false);
        for (index, arg) in words.iter().enumerate() {
            let Some(text) = arg.exact() else { continue };
            let name = paths::file_name(text);
            // A lone dot is a folder far more often than the builtin. Where options are not read, the first word that
            // is no option is probably the program; later ones may be anything.
            let known = suspicion == Suspicion::At(index);
            let first = known || !named && !text.starts_with('-') && !text.contains('=');
            named |= first;
            let is_script = text.contains(|c: char| c.is_whitespace() || ";|&<>()`$".contains(c));
            let kind = programs::kind_of(name).filter(|kind| text != "." && (first || *kind != Kind::Local));
            let runs = !is_script && (kind.is_some() || name.starts_with("bashgate"));
            if !runs && !is_script {
                continue;
            }
            if looked_at == MAX_SUSPECTS {
                // Too many to follow: what the rest mentions counts.
                let rest: Vec<&str> = words.iter().skip(index).map(Arg::start).collect();
                let found = crate::classify::raw::effects(&rest.join(" "), self.around);
                self.join_effects(found);
                break;
            }
            looked_at += 1;
            let guessed = usize::from(!known && suspicion != Suspicion::AnyWord);
            self.terminal.guesses += guessed;
            judgement = judgement.max(if runs {
                self.inner_call(words.get(index..).unwrap_or(&[]), call)
            } else {
                self.inner_script(text, Shell::Bash)
            });
            self.terminal.guesses -= guessed;
        }
        judgement
    }
}

/// Which of some words may be the program that another one runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// Any.
    AnyWord,
    /// This one, as far as its wrapper's options are known; the others are guesses.
    At(usize),
    /// All are guesses.
    Guesses,
}

/// True for calls whose arguments are messages and patterns, so that a name in them is a mention, not a use.
pub(super) fn only_talks(call: &Call) -> bool {
    match programs::row(&call.program).map_or(Talks::Never, |row| row.talks) {
        Talks::Never => false,
        Talks::Always => true,
        Talks::Behind(subcommands) => call
            .args
            .iter()
            .find_map(|arg| arg.exact().filter(|text| !text.starts_with('-')))
            .is_some_and(|first| subcommands.contains(&first)),
    }
}
