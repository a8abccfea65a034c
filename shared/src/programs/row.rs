//! What a row says about a program: every fact that a rule of the project asks for, each with a default that claims
//! nothing. A new fact is a new field here and a word in the rows that have it.

use crate::classify::call::{Arg, Call, Options, Scan};
use crate::classify::judge::{Judge, Judgement};
use crate::classify::paths::file_name;

/// One program, or several that are alike in everything that is said here.
#[derive(Clone, Copy)]
pub struct Program {
    /// The names under which it is called. One that ends in `*` stands for all that start like it.
    pub names: &'static [&'static str],
    /// True when a version may stand behind its names (`python3.11`).
    pub versioned: bool,
    /// What it does, for people.
    pub about: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// How its calls are judged.
    pub(crate) rule: Rule,
    /// Calls whose class is Safe. That no secret lies below a folder may remain to be checked, that no name starts with a
    /// dash may not.
    pub safe: &'static [&'static str],
    /// Calls that are not.
    pub not_safe: &'static [&'static str],
    /// What it is to the shell, when the shell itself answers to its name.
    pub builtin: Option<Builtin>,
    /// True for a builtin that every shell has.
    pub in_every_shell: bool,
    /// Whether and how it runs code, or another program, that it is given.
    pub runs: Runs,
    /// Its subcommands, as far as they matter.
    pub subcommands: &'static [Subcommand],
    /// Variables of the environment that change what it does.
    pub environment: &'static [&'static str],
    /// Files of the folder where it starts that say what it runs.
    pub steered_by: &'static [&'static str],
    /// Files, and folders as a whole, that say where it sends or what it fetches: at their place, in the home folder, or (with no
    /// folder in front) in the folder where it starts or any above it.
    pub configured_by: &'static [&'static str],
    /// Words of calls that send what lies in the folder where it starts, without naming it, wherever they stand behind its name.
    pub publishes: &'static [&'static str],
    /// Files of the home folder that it loads by itself, in whichever folder it starts.
    pub loads_at_home: &'static [&'static str],
    /// Words of calls that leave something which runs by itself later, wherever they stand behind its name; an empty text for
    /// every call.
    pub plants: &'static [&'static str],
    /// The same for what steers builds, agents and later calls.
    pub steers: &'static [&'static str],
    /// The programs that it starts by itself, through PATH: by what a file is, or because it is a script there.
    pub starts: &'static [&'static str],
    /// Words of calls that show a secret, wherever they stand behind its name; an empty text for every call.
    pub tells: &'static [&'static str],
    /// How the words of a program stand that copies or packs files.
    pub copies: Option<super::copies::Copies>,
    /// Of a program that depends on its words: the subcommands that work on what is here, code of the workspace included. Anything else
    /// may reach other machines.
    pub here: Option<&'static [&'static str]>,
    /// Subcommands behind which another program stands with its own words.
    pub before: &'static [&'static str],
    /// Subcommands whose words name packages that are here: these look like hosts.
    pub names_packages: &'static [&'static str],
    /// When it reads commands from its terminal.
    pub terminal: Option<Terminal>,
    /// It passes on what it reads: how many of its operands are something else than files.
    pub passes_on: Option<usize>,
    /// How it is asked for its version alone.
    pub version: Option<TellsVersion>,
    /// What about a call is flagged by rules alone.
    pub flag: Flag,
    /// When the words of a call are mentions, not uses.
    pub talks: Talks,
    /// Folders of the system with what belongs to it, where it is more than one file.
    pub belongings: &'static [&'static str],
    /// Options with which it goes to another machine, or runs what they name, as they are written out; `-x*` only with something
    /// glued to it. Other spellings that programs take mean them, too.
    pub elsewhere: &'static [&'static str],
    /// What it signs in with by itself: for its own run over the network that is there, and for no other.
    pub signs_in: &'static [SignsIn],
    /// Everything else that is worth one word.
    pub traits: &'static [Trait],
}

impl SignsIn {
    /// True where it is for a connection to one of these ports.
    pub fn is_for(&self, mut ports: impl Iterator<Item = u16>) -> bool {
        ports.any(|port| match self.by {
            By::Any => true,
            By::Ssh => port == SSH,
            By::Web => port != SSH,
        })
    }
}

/// The port of ssh, by which repositories are fetched from a host as by the web's.
pub const SSH: u16 = 22;

/// Some of a program's own credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignsIn {
    /// For which connections.
    pub by: By,
    /// Files below the home folder, which begin with `~/`.
    pub files: &'static [&'static str],
    /// Variables.
    pub variables: &'static [&'static str],
}

/// By what a program signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Whatever it speaks.
    Any,
    /// ssh, at its own port.
    Ssh,
    /// The web, at any other.
    Web,
}

impl Program {
    /// A program of which nothing else is known.
    pub(super) const fn new(names: &'static [&'static str], about: &'static str, kind: Kind, rule: Rule) -> Self {
        Self {
            names,
            versioned: false,
            about,
            kind,
            rule,
            safe: &[],
            not_safe: &[],
            builtin: None,
            in_every_shell: false,
            runs: Runs::Nothing,
            subcommands: &[],
            environment: &[],
            steered_by: &[],
            configured_by: &[],
            publishes: &[],
            loads_at_home: &[],
            plants: &[],
            steers: &[],
            starts: &[],
            tells: &[],
            copies: None,
            here: None,
            before: &[],
            names_packages: &[],
            terminal: None,
            passes_on: None,
            version: None,
            flag: Flag::Nothing,
            talks: Talks::Never,
            belongings: &[],
            elsewhere: &[],
            signs_in: &[],
            traits: &[],
        }
    }

    pub(super) const fn versioned(mut self) -> Self {
        self.versioned = true;
        self
    }

    pub(super) const fn safe(mut self, calls: &'static [&'static str]) -> Self {
        self.safe = calls;
        self
    }

    pub(super) const fn not_safe(mut self, calls: &'static [&'static str]) -> Self {
        self.not_safe = calls;
        self
    }

    /// A builtin of every shell: others lack some of bash's, and start a program of that name.
    pub(super) const fn in_every_shell(mut self) -> Self {
        self.in_every_shell = true;
        self
    }

    pub(super) const fn builtin(mut self, builtin: Builtin) -> Self {
        self.builtin = Some(builtin);
        self
    }

    pub(super) const fn runs(mut self, runs: Runs) -> Self {
        self.runs = runs;
        self
    }

    pub(super) const fn subcommands(mut self, subcommands: &'static [Subcommand]) -> Self {
        self.subcommands = subcommands;
        self
    }

    pub(super) const fn environment(mut self, variables: &'static [&'static str]) -> Self {
        self.environment = variables;
        self
    }

    pub(super) const fn steered_by(mut self, files: &'static [&'static str]) -> Self {
        self.steered_by = files;
        self
    }

    /// Only these subcommands work on what is here.
    pub(super) const fn here(mut self, here: &'static [&'static str]) -> Self {
        self.here = Some(here);
        self
    }

    /// Behind these subcommands stands another program.
    pub(super) const fn before(mut self, subcommands: &'static [&'static str]) -> Self {
        self.before = subcommands;
        self
    }

    /// The words of these subcommands name packages that are here.
    pub(super) const fn names_packages(mut self, subcommands: &'static [&'static str]) -> Self {
        self.names_packages = subcommands;
        self
    }

    pub(super) const fn copies(mut self, copies: super::copies::Copies) -> Self {
        self.copies = Some(copies);
        self
    }

    pub(super) const fn tells(mut self, calls: &'static [&'static str]) -> Self {
        self.tells = calls;
        self
    }

    /// The words with which a call of it shows a secret, if it does.
    pub(crate) fn tells_by(&self, args: &[Arg]) -> Option<&'static str> {
        called_by(self.tells, args)
    }

    /// The words with which a call of it leaves something that runs by itself, if it does.
    pub(crate) fn plants_by(&self, args: &[Arg]) -> Option<&'static str> {
        called_by(self.plants, args)
    }

    /// The words with which a call of it leaves something that steers, if it does.
    pub(crate) fn steers_by(&self, args: &[Arg]) -> Option<&'static str> {
        called_by(self.steers, args)
    }

    pub(super) const fn loads_at_home(mut self, files: &'static [&'static str]) -> Self {
        self.loads_at_home = files;
        self
    }

    pub(super) const fn plants(mut self, calls: &'static [&'static str]) -> Self {
        self.plants = calls;
        self
    }

    pub(super) const fn steers(mut self, calls: &'static [&'static str]) -> Self {
        self.steers = calls;
        self
    }

    pub(super) const fn configured_by(mut self, files: &'static [&'static str]) -> Self {
        self.configured_by = files;
        self
    }

    pub(super) const fn publishes(mut self, calls: &'static [&'static str]) -> Self {
        self.publishes = calls;
        self
    }

    /// True for a call of it that sends what lies in the folder where it starts.
    pub(crate) fn sends_folder(&self, args: &[Arg]) -> bool {
        called_by(self.publishes, args).is_some()
    }

    pub(super) const fn starts(mut self, programs: &'static [&'static str]) -> Self {
        self.starts = programs;
        self
    }

    pub(super) const fn terminal(mut self, terminal: Terminal) -> Self {
        self.terminal = Some(terminal);
        self
    }

    pub(super) const fn passes_on(mut self, other_operands: usize) -> Self {
        self.passes_on = Some(other_operands);
        self
    }

    /// True where what it runs elsewhere prints its environment: `docker exec x env`.
    pub(crate) fn shows_another_environment(&self, args: &[Arg]) -> bool {
        let words: Vec<&str> = args.iter().filter_map(Arg::exact).collect();
        let runs = self.terminal.map_or(&[][..], |terminal| terminal.only_behind);
        let behind = words.iter().position(|word| runs.contains(word)).and_then(|at| words.get(at + 2..));
        let prints = |word: &&str| super::has(file_name(word), Trait::PrintsEnvironment);
        behind.is_some_and(|words| words.iter().any(prints))
    }

    pub(super) const fn tells_version(mut self, arguments: &'static [&'static str]) -> Self {
        self.version = Some(TellsVersion { arguments, chosen_by: &[] });
        self
    }

    pub(super) const fn version_chosen_by(mut self, files: &'static [&'static str]) -> Self {
        if let Some(version) = self.version {
            self.version = Some(TellsVersion { chosen_by: files, ..version });
        }
        self
    }

    pub(super) const fn flag(mut self, flag: Flag) -> Self {
        self.flag = flag;
        self
    }

    pub(super) const fn talks(mut self, talks: Talks) -> Self {
        self.talks = talks;
        self
    }

    pub(super) const fn belongings(mut self, folders: &'static [&'static str]) -> Self {
        self.belongings = folders;
        self
    }

    pub(super) const fn elsewhere(mut self, options: &'static [&'static str]) -> Self {
        self.elsewhere = options;
        self
    }

    pub(super) const fn signs_in(mut self, by: &'static [SignsIn]) -> Self {
        self.signs_in = by;
        self
    }

    pub(super) const fn traits(mut self, traits: &'static [Trait]) -> Self {
        self.traits = traits;
        self
    }

    /// True when it has this trait.
    pub fn has(&self, of: Trait) -> bool {
        self.traits.contains(&of)
    }

    /// True for a program whose rules look at a script, or that does what a file of the folder says.
    pub fn takes_script(&self) -> bool {
        matches!(self.flag, Flag::Awk | Flag::Sed) || !self.steered_by.is_empty()
    }

    /// True where what it is given is another thing afterwards, or gone: more than who may use it.
    pub fn changes_what_it_names(&self) -> bool {
        let has = |facts: &[Trait]| facts.iter().any(|fact| self.has(*fact));
        has(&[Trait::Deletes, Trait::Moves, Trait::Overwrites])
            || self.has(Trait::ChangesFiles) && !self.has(Trait::NamesOnly)
    }

    /// True for a call of which only what its files are is not known: no option is one that may make it run, send or write
    /// something else. A word that is only known when it runs may be any option.
    pub fn keeps_to_its_list(&self, words: &[Option<String>]) -> bool {
        let args: Option<Vec<Arg>> = words.iter().map(|word| word.as_deref().map(Arg::literal)).collect();
        match (&self.rule, args) {
            (_, Some(args)) if self.flag == Flag::Sed => super::scripts::sed_files(&args).is_ok(),
            (Rule::Harmless(_), _) => true,
            (Rule::Listed(options, operands), Some(args)) => {
                options.scan(&args).is_ok_and(|scan| *operands != Operands::OneFile || scan.operands.len() < 2)
            }
            (Rule::Alone(form), Some(args)) => form.accepts(&args).is_ok(),
            (Rule::Listed(..) | Rule::Alone(_) | Rule::Forms | Rule::Never(_) | Rule::Custom(_), _) => false,
        }
    }

    /// What a call is by its first words that are no options; the longest match counts.
    pub fn subcommand(&self, first: &str, second: &str) -> Option<&'static Subcommand> {
        let both = |words: &str| words.split_once(' ') == Some((first, second));
        let of_two = self.subcommands.iter().find(|known| both(known.words));
        of_two.or_else(|| self.subcommands.iter().find(|known| known.words == first))
    }

    /// What a call is by its words. Where an option stands in front, a word may be its value, and the subcommand a later one.
    pub fn called(&self, args: &[Arg]) -> Option<&'static Subcommand> {
        let is_word = |text: &&str| !text.starts_with(['-', '+']);
        let words: Vec<&str> = args.iter().filter_map(Arg::exact).filter(is_word).collect();
        let begins_with_option = args.first().is_some_and(|arg| arg.start().starts_with(['-', '+']));
        let word = |at: usize| words.get(at).copied().unwrap_or("");
        let most = if begins_with_option { words.len().max(1) } else { 1 };
        (0..most).find_map(|at| self.subcommand(word(at), word(at + 1)))
    }
}

/// The first of these calls whose words stand among the words of a call. A word with a `/` in it may go on with a name behind.
fn called_by(calls: &'static [&'static str], args: &[Arg]) -> Option<&'static str> {
    let words: Vec<&str> = args.iter().filter_map(Arg::exact).filter(|text| !text.starts_with('-')).collect();
    let options: Vec<&str> = args.iter().filter_map(Arg::exact).filter(|text| text.starts_with('-')).collect();
    let is = |word: &str, wanted: &str| word == wanted || wanted.ends_with(['/', ':']) && word.starts_with(wanted);
    let stands = |call: &&str| {
        let (wanted_options, wanted): (Vec<&str>, Vec<&str>) =
            call.split(' ').filter(|word| !word.is_empty()).partition(|word| word.starts_with('-'));
        let has_words = match wanted.as_slice() {
            [] => true,
            // Behind an option a word may be its value.
            [one] if options.is_empty() => words.first().is_some_and(|word| is(word, one)),
            [one] => words.iter().any(|word| is(word, one)),
            // What stands between them may be the value of an option.
            [one, two] if !options.is_empty() => {
                let first = words.iter().position(|word| is(word, one));
                let behind = first.and_then(|at| words.get(at + 1..)).unwrap_or_default();
                behind.iter().any(|word| is(word, two))
            }
            wanted => {
                words.windows(wanted.len()).any(|part| part.iter().zip(wanted).all(|(word, wanted)| is(word, wanted)))
            }
        };
        has_words && wanted_options.iter().all(|option| options.contains(option))
    };
    calls.iter().copied().find(|call| stands(call))
}

/// What kind of program it is, for rules that only see a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Works on what is here.
    Local,
    /// Runs another program or a script.
    Runner,
    /// Hands control to another program, and ordinary work seldom needs it.
    Launcher,
    /// Runs code of a language.
    Runtime,
    /// Reaches the network.
    Network,
    /// Depends on its words.
    Mixed,
}

/// How the calls of a program are judged.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// No option makes it run, send or write anything.
    Harmless(Operands),
    /// Only these options; any other makes the call Unknown.
    Listed(Options, Operands),
    /// Only in this form.
    Alone(Form),
    /// Only its subcommands with a form, called in that form.
    Forms,
    /// Never proven, in no form; the files that it is given are seen as this.
    Never(Operands),
    /// A rule of its own.
    Custom(fn(&mut Judge<'_>, &Call) -> Judgement),
}

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// Text, numbers, names of users: no files.
    Data,
    /// Files of which it tells names, sizes or counts, never content.
    Names,
    /// Files whose content it shows.
    Files,
    /// At most one file whose content it shows; a second one would be written.
    OneFile,
    /// Files that it writes.
    Writes,
    /// Folders that it makes. Nothing lies in them yet that could act later.
    Folders,
}

/// Whether and how a program runs code, or another program, that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// It does not.
    Nothing,
    /// The program whose words stand behind its own.
    Behind(Wrapper),
    /// The language of shells: from `-c`, a file, or its standard input.
    Shell,
    /// Another language, or commands that can start programs: from its words, a file, or its standard input.
    Code,
    /// A command on another machine, or in another container.
    Elsewhere,
    /// A program that an option, a subcommand or its configuration names.
    Named,
}

impl Runs {
    /// True when an ordinary word of a call, or its standard input, may be run.
    pub const fn takes_code(self) -> bool {
        matches!(self, Self::Behind(_) | Self::Shell | Self::Code | Self::Elsewhere)
    }

    /// True when it runs what it reads on its standard input.
    pub const fn takes_input(self) -> bool {
        matches!(self, Self::Shell | Self::Code)
    }
}

/// What stands between a program's name and the one that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapper {
    /// Its options, as far as they are known.
    pub options: Options,
    /// How many operands are its own.
    pub operands: usize,
    /// `NAME=value` may stand before the program.
    pub assigns: bool,
    /// Without a program it starts a shell.
    pub opens_shell: bool,
    /// What it reads becomes words of the program.
    pub words_from_input: bool,
}

impl Wrapper {
    /// True where all of these, which stand in front of the program, are options that are known, and their values.
    pub fn knows(&self, words: &[&str]) -> bool {
        let args: Vec<Arg> = words.iter().map(|word| Arg::literal(*word)).collect();
        let is_own = |word: &&&Arg| !(self.assigns && word.start().contains('='));
        self.options.scan(&args).is_ok_and(|scan| scan.operands.iter().filter(is_own).count() <= self.operands)
    }

    /// One with nothing of its own.
    pub(super) const PLAIN: Self = Self {
        options: Options { flags: "", values: "", long: &[] },
        operands: 0,
        assigns: false,
        opens_shell: false,
        words_from_input: false,
    };
}

/// What a builtin of the shell does with its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// They are text to it.
    Text,
    /// The first is a format, which may name variables.
    Format,
    /// They test files and texts.
    Tests,
    /// They declare variables; `exports` tells whether those reach programs without an option.
    Declares {
        /// True for `export`.
        exports: bool,
    },
    /// They name variables, which it fills from its input.
    Fills,
    /// The same, and it may call something with what it reads.
    FillsAndCalls,
    /// One names a variable, which it fills from the others.
    Parses,
    /// They name variables, or functions, which it removes.
    Removes,
    /// They are options of the shell, and the positional parameters.
    Sets,
    /// They are run as a script, joined.
    Evaluates,
    /// The first is run as a script, later.
    EvaluatesLater,
    /// The first is a file that is run in this shell.
    Sources,
    /// They are arithmetic.
    Calculates,
    /// They change what names mean, or are run in a way that is not followed.
    Renames,
    /// The same, and they may be evaluated.
    RenamesAndEvaluates,
    /// They are a command that runs in another way.
    RunsBehind,
    /// They change how the shell reads.
    ChangesReading,
    /// They name a folder to go to.
    GoesTo,
    /// They name jobs, and variables for what is known of them.
    Waits,
    /// They are numbers, jobs, or nothing that matters.
    Other,
}

impl Builtin {
    /// True where words may name variables that it sets.
    pub const fn names_variables(self) -> bool {
        use Builtin::{Calculates, Declares, Fills, FillsAndCalls, Format, Parses, Removes, Sets, Tests, Waits};
        matches!(
            self,
            Fills | FillsAndCalls | Parses | Declares { .. } | Format | Removes | Waits | Calculates | Sets | Tests
        )
    }

    /// True where words are run as text.
    pub const fn evaluates(self) -> bool {
        use Builtin::{Calculates, Evaluates, EvaluatesLater, FillsAndCalls, RenamesAndEvaluates, Sources};
        matches!(self, Evaluates | EvaluatesLater | Sources | Calculates | FillsAndCalls | RenamesAndEvaluates)
    }

    /// True where it changes what names mean, or how the shell reads.
    pub const fn changes_names(self) -> bool {
        matches!(self, Self::Renames | Self::RenamesAndEvaluates | Self::ChangesReading)
    }
}

/// One subcommand.
#[derive(Clone, Copy)]
pub struct Subcommand {
    /// The first words of a call that are no options: one, or two with a blank. Empty for a call without any.
    pub words: &'static str,
    /// What it does on the network.
    pub reach: Reach,
    /// How it must be called to stay on this machine, if there is a way.
    pub form: Option<Form>,
}

impl Subcommand {
    /// Stays on this machine in this form.
    pub(super) const fn local(words: &'static str, form: Form) -> Self {
        Self { words, reach: Reach::Local, form: Some(form) }
    }

    /// Brings something from the network, and sends what names it.
    pub(super) const fn reads(words: &'static str) -> Self {
        Self { words, reach: Reach::Reads, form: None }
    }

    /// Sends to the network.
    pub(super) const fn writes(words: &'static str) -> Self {
        Self { words, reach: Reach::Writes, form: None }
    }
}

/// What a call does on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nothing.
    Local,
    /// It asks for something, and sends no more than what names it.
    Reads,
    /// It sends, or may.
    Writes,
}

/// How a call must look to stay on this machine.
#[derive(Clone, Copy)]
pub struct Form {
    /// Its options, on any of these lists.
    pub options: &'static [Options],
    /// What must hold besides.
    pub needs: Needs,
    /// What its operands are.
    pub operands: Operands,
    /// True when it shows what files hold.
    pub shows: bool,
}

/// What must hold besides the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// No operand, unless one of these options says that it only lists.
    Listing(&'static [&'static str]),
    /// One of these words first, before its options. An empty one stands for a call without any operand.
    Word(&'static [&'static str]),
    /// A message, so that no editor starts.
    Message,
    /// One of these options.
    Option(&'static [&'static str]),
    /// One of these options, or nothing but the name of a setting.
    OptionOrKey(&'static [&'static str]),
    /// One of these options, and no operand.
    OptionAlone(&'static [&'static str]),
    /// At most this many operands.
    AtMost(usize),
}

impl Form {
    /// A form with these options, whose operands name nothing that is read.
    pub(super) const fn new(options: &'static [Options]) -> Self {
        Self { options, needs: Needs::Nothing, operands: Operands::Data, shows: false }
    }

    pub(super) const fn shows(mut self) -> Self {
        self.shows = true;
        self
    }

    pub(super) const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// Sorts the arguments behind the subcommand, or says why they are not of this form.
    pub(crate) fn accepts<'c>(&self, args: &'c [Arg]) -> Result<Scan<'c>, String> {
        let mut args = args;
        let mut bare = false;
        if let Needs::Word(words) = self.needs {
            let first = args.first().map_or(Some(""), Arg::exact).filter(|text| !text.starts_with('-')).unwrap_or("");
            if !words.contains(&first) {
                let why = if first.is_empty() { "this form".to_owned() } else { format!("`{first}`") };
                return Err(format!("{why} is not on its list"));
            }
            bare = first.is_empty();
            args = if bare { args } else { args.get(1..).unwrap_or(&[]) };
        }
        let scan = Options::scan_any(self.options, args)?;
        let fits = match self.needs {
            Needs::Nothing => true,
            Needs::Word(_) => !bare || scan.operands.is_empty(),
            Needs::Listing(options) => scan.operands.is_empty() || scan.has(options),
            Needs::Message => scan.has(&["-m", "--message", "-F", "--file", "--no-edit"]),
            Needs::Option(options) => scan.has(options),
            Needs::OptionOrKey(options) => {
                let is_key = |operand: &Arg| operand.exact().is_some_and(|text| text.contains('.'));
                scan.has(options) || matches!(scan.operands.as_slice(), [one] if is_key(one))
            }
            Needs::OptionAlone(options) => scan.has(options) && scan.operands.is_empty(),
            Needs::AtMost(most) => scan.operands.len() <= most,
        };
        if fits { Ok(scan) } else { Err("this form is not on its list".to_owned()) }
    }
}

/// When a program reads commands from its terminal.
///
/// It does with no more than its name; what it is given may settle that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Options whose value is the next word.
    pub valued: &'static [&'static str],
    /// Options with which it does, whatever else it is given: letters, and whole words.
    pub asked: (&'static str, &'static [&'static str]),
    /// Options with which it does not: letters, and whole words.
    pub settled: (&'static str, &'static [&'static str]),
    /// Words with which it does not, wherever they stand.
    pub unattended: &'static [&'static str],
    /// So many operands settle it, too; `usize::MAX` for none.
    pub operands: usize,
    /// It reads its terminal even where something else is its standard input.
    pub past_input: bool,
    /// Its operand is a file of code, so that another name for the terminal settles nothing.
    pub runs_operand: bool,
    /// It only shows pages, and not where its output goes elsewhere.
    pub pages: bool,
    /// Modules behind `-m` with which it does.
    pub consoles: &'static [&'static str],
    /// Only with these words first, and asked for with one of the options behind them.
    pub only_behind: &'static [&'static str],
}

impl Terminal {
    /// One that nothing settles.
    pub(super) const ALWAYS: Self = Self {
        valued: &[],
        asked: ("", &[]),
        settled: ("", &[]),
        unattended: &[],
        operands: usize::MAX,
        past_input: false,
        runs_operand: false,
        pages: false,
        consoles: &[],
        only_behind: &[],
    };
}

/// The calls with which a program only tells its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TellsVersion {
    /// Exactly one of these arguments.
    pub arguments: &'static [&'static str],
    /// Files that choose the program that runs, in the folder or any above it.
    pub chosen_by: &'static [&'static str],
}

/// What about a call is flagged by rules alone, where an agent has seen what it should not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Nothing.
    Nothing,
    /// Each call: it does this.
    Always(&'static str),
    /// One with any of these options: it does this.
    With(&'static [&'static str], &'static str),
    /// One with an option that starts like this: it does this.
    Prefix(&'static str, &'static str),
    /// One with any of these words first: it does this.
    First(&'static [&'static str], &'static str),
    /// One with a word that has a colon: it does this.
    Colon(&'static str),
    /// One that sends data with these options, or goes to an address that is made when it runs.
    Web(&'static [&'static str]),
    /// One that asks for a name that is made of data.
    Names,
    /// One with more than a machine's name: a command or data go there.
    Elsewhere,
    /// One that leaves its container.
    Containers,
    /// One that installs a package from a file, or runs what an option names.
    Packages,
    /// One whose code opens connections or runs programs.
    Code,
    /// One whose script of awk does so.
    Awk,
    /// One whose script of sed does so.
    Sed,
}

/// When the words of a call are mentions, not uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Talks {
    /// Never.
    Never,
    /// Always.
    Always,
    /// Behind these subcommands.
    Behind(&'static [&'static str]),
}

/// What is worth one word. The judge asks for `ChangesFiles`, `NamesAreFiles` (which `Rule::Listed` implies), `PrintsNames`,
/// `PrintsEnvironment`, `OpensDash` and `KeepsLines`; the hook for `ShellScript`, `TakesAlong` and `SendsByGit`; the floor of all presets for `Overwrites`, `Deletes` and `Formats`; the cage for `AboutTheOutside`; the
/// cache of findings for `Steady`; the offline inspector for `Searches`, `OnlyReads`, `TypesLater`, `Waits`, `Follows`, `Decodes`, `EachWordIsACall`, `BuildsHere` and `Unmistakable`; approvals for `SettledByFiles`; git's inertness for
/// `PlainPager`; the flow of scripts for `HasSubcommands` and `NoEndOfOptions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trait {
    /// Each word of a call that is no option is a call by itself.
    EachWordIsACall,
    /// Its words and the files that it is configured by are all that says where it sends.
    SettledByFiles,
    /// Alone it prints the environment that it is started in.
    PrintsEnvironment,
    /// It builds, checks or tests what is here, whatever its words are.
    BuildsHere,
    /// It changes or removes the files that it is given.
    ChangesFiles,
    /// Which files it changes stands in what it reads: a patch, an archive, a list.
    WritesAsTold,
    /// It replaces the content of files that it is given, disks among them.
    Overwrites,
    /// It waits for a time, or for somebody else, and what stands behind it runs later.
    Waits,
    /// The same where it is told to follow a file.
    Follows,
    /// It makes pipes of the file system, at which whoever opens them waits for somebody else.
    MakesPipes,
    /// It takes along what lies where it works, or in folders that its files name, whatever it is told to do.
    TakesAlong,
    /// It lets git send commits.
    SendsByGit,
    /// It removes what it is given.
    Deletes,
    /// It takes what it is given from where it is.
    Moves,
    /// It makes a disk empty.
    Formats,
    /// What it is for is not there in a sandbox: other processes, connections, mounts, jobs of the agent's own shell.
    AboutTheOutside,
    /// A word that does not start with a dash is a file to it, or no matter.
    NamesAreFiles,
    /// It is a script of a shell on common systems.
    ShellScript,
    /// Its scripts are in the language that is read here.
    SpeaksShell,
    /// It does the same next time: no file of the workspace says what it does.
    Steady,
    /// What it is given is told by name, place or mode, moved or removed: no content of it is read.
    NamesOnly,
    /// It makes other names for what is there.
    Links,
    /// It searches, lists or tells, so that its words are mentions of what they name.
    Searches,
    /// None of its options writes a file, starts a program or sends anything, whatever it reads.
    OnlyReads,
    /// It keeps shells that others type into.
    TypesLater,
    /// It turns data back into what they were.
    Decodes,
    /// What is paged through it runs nothing else, unless its own variables say so.
    PlainPager,
    /// To it `-` is a file of that name, and not its input.
    OpensDash,
    /// What it prints are names of files below the folders that stand first.
    PrintsNames,
    /// What it prints are lines that it has read.
    KeepsLines,
    /// Its `-n` has a value.
    TakesCount,
    /// Its name is no ordinary word: a text that holds it means it, and that it reaches the network.
    Unmistakable,
    /// A word may mean what it does, so that only what stands behind `--` is surely data.
    HasSubcommands,
    /// Behind `--` it still reads options.
    NoEndOfOptions,
    /// A word that begins with a dash is no value of an option of one letter, but another option.
    NoDashValues,
    /// An ordinary word of its may be, or name, what it runs: no end of options keeps that out.
    WordsMayRun,
}
