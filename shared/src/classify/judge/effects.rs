//! What rules say about effects: files read and written, secrets, the network, what will run later.

use std::collections::HashSet;
use std::path::Path;

use super::calls;
use super::folders::Folder;
use super::{Content, Fed, Judge, Judgement, Names, WAITED};
use crate::classify::call::{Arg, Call, Known};
use crate::classify::effects::{EACH_BELOW, MAX_LISTED, NetworkUse, note};
use crate::classify::later::{self, Later, Tier};
use crate::classify::patch;
use crate::classify::paths::{self, Zone};
use crate::classify::reach::{self, InPart};
use crate::classify::tool::{Address, addresses_in};
use crate::classify::{Condition, Effects, PassedBy, dotenv, protected, secrets};
use crate::planted::{self, Bug};
use crate::programs::{self, Copies, Kind, Reach, Runs, Trait};
use crate::shell::Word;

/// Most names of a patch that are looked at.
const MAX_PATCHED: usize = 20_000;
/// Most words of a text that may name files.
const MAX_WORDS: usize = 64;

impl Judge<'_> {
    pub(super) fn join_effects(&mut self, mut found: Effects) {
        // All of them: the guard looks for the one among them that it knows.
        let known: HashSet<String> = self.effects.git.iter().cloned().collect();
        self.effects.git.extend(std::mem::take(&mut found.git).into_iter().filter(|name| !known.contains(name)));
        for (list, more) in self.effects.lists().into_iter().zip(found.lists()) {
            for text in more.drain(..) {
                note(list, text);
            }
        }
        self.effects.network.append(&mut found.network);
        self.effects.runs_fetched |= found.runs_fetched;
        self.effects.reads_unknown |= found.reads_unknown;
        self.effects.evaluates_unknown |= found.evaluates_unknown;
        self.effects.copies.extend(found.copies.iter().cloned());
        self.effects.copies.truncate(MAX_LISTED);
    }

    /// A program is started that has the name of a builtin.
    pub fn started(&mut self, name: &str) {
        note(&mut self.effects.started, name);
    }

    /// The command uses the network.
    pub fn network(&mut self, program: &str, host: Option<String>) {
        if self.changed.leads_elsewhere && host.is_some() {
            self.network(program, None);
        }
        let found = NetworkUse { program: program.to_owned(), host };
        if !self.effects.network.contains(&found) && self.effects.network.len() < MAX_LISTED {
            self.effects.network.push(found);
        }
    }

    /// Content from a source that nobody vouches for comes in.
    pub fn untrusted(&mut self, source: impl Into<String>) {
        // Each fetch counts, so that a later interpreter of its output is seen.
        if self.effects.untrusted.len() < MAX_LISTED {
            self.effects.untrusted.push(source.into());
        }
    }

    /// A fetched file lies there now.
    pub fn fetched_file(&mut self, path: &str) {
        note(&mut self.fetched_files, paths::file_name(path));
    }

    /// A tool asks an address: what stands in it is sent, and what comes back may be anybody's.
    pub(super) fn fetch(&mut self, tool: &str, address: &str) -> Judgement {
        for Address { text, is_plain } in addresses_in(address) {
            let host = programs::host_in(text).filter(|_| is_plain);
            self.network(tool, host.clone());
            if !is_plain || !programs::is_this_machine(text) {
                self.untrusted(host.unwrap_or_else(|| text.chars().take(512).collect()));
            }
        }
        Judgement::network("it asks an address on the network")
    }

    /// A secret comes to the agent's eyes.
    pub fn secret(&mut self, what: impl Into<String>) {
        note(&mut self.effects.secrets, what);
    }

    /// All variables are shown.
    pub fn environment_is_shown(&mut self) {
        if !planted::has(Bug::EnvironmentIsPublic) {
            self.secret("the environment");
        }
    }

    /// A part of the gate is touched.
    pub fn tampering(&mut self, what: impl Into<String>) {
        note(&mut self.effects.tampering, what);
    }

    /// Something will run again later.
    pub fn steering(&mut self, what: impl Into<String>) {
        note(&mut self.effects.steering, what);
    }

    /// Something is left that runs by itself later.
    pub fn persistence(&mut self, what: impl Into<String>) {
        note(&mut self.effects.persistence, what);
    }

    /// A git subcommand runs.
    pub fn git(&mut self, subcommand: &str) {
        // Kept beyond the length of other lists: see `join_effects`.
        if !self.effects.git.iter().any(|known| known == subcommand) {
            self.effects.git.push(subcommand.to_owned());
        }
    }

    /// True where this subcommand of git runs here, or in an earlier part.
    pub fn has_called_git(&self, subcommand: &str) -> bool {
        self.effects.git.iter().any(|known| known == subcommand)
    }

    /// Git talks to a remote from these folders; `None` where nobody knows from which.
    pub fn git_in(&mut self, folders: Option<Vec<String>>) {
        for folder in folders.unwrap_or_else(|| vec!["?".to_owned()]) {
            note(&mut self.effects.git_in, folder);
        }
    }

    /// An interpreter runs code: from its standard input, or from a file.
    pub fn runs_code(&mut self, call: &Call, from_stdin: bool, file: Option<&str>) {
        let from_stdin = from_stdin || file.is_some_and(paths::is_standard_input);
        let fetched_file =
            file.is_some_and(|file| self.fetched_files.iter().any(|known| known == paths::file_name(file)));
        if let Some(file) = file {
            self.runs_file(file);
        }
        self.effects.runs_fetched |= call.fetched_in_words || fetched_file;
        if from_stdin {
            self.runs_input();
        }
    }

    /// What comes in is run.
    fn runs_input(&mut self) {
        self.effects.runs_fetched |= self.stdin == Fed::Fetched;
        self.runs_what_it_is_fed |= self.stdin == Fed::ByWhatStandsBehind;
    }

    /// What comes in was fetched, and this call may run it: a program that nobody knows, one that takes its code from its input where
    /// nothing else is named, and one that is told to (`awk -f -`).
    pub(super) fn may_run_input(&mut self, call: &Call) {
        if self.stdin == Fed::Nothing || programs::is_builtin(&call.program) {
            return;
        }
        let row = programs::row(paths::file_name(&call.program));
        let operands = || call.args.iter().filter(|arg| !arg.may_be_option());
        let takes = row.is_none_or(|row| row.runs.takes_input() && operands().next().is_none());
        let is_code = |row: &programs::Program| row.runs.takes_code() || row.takes_script();
        let pairs = call.args.windows(2);
        let mut by_option = pairs.filter_map(|pair| match pair {
            [option, value] if matches!(option.start(), "-f" | "--file" | "--expression-file") => Some(value.start()),
            _ => None,
        });
        let mut glued =
            call.args.iter().filter_map(|arg| arg.start().strip_prefix("-f").or(arg.start().strip_prefix("--file=")));
        let told = row.is_some_and(is_code)
            && (by_option.any(paths::is_standard_input) || glued.any(paths::is_standard_input));
        // Words that come from it are code as well.
        let as_words = row
            .is_some_and(|row| matches!(row.runs, programs::Runs::Behind(wrapper) if wrapper.words_from_input))
            && call.args.iter().filter_map(Arg::exact).any(|word| programs::runs_of(word).takes_input());
        // A manager's own way to be given code.
        let builds = |row: &programs::Program| row.here.is_some() || row.has(Trait::BuildsHere);
        let by_dash = row.is_some_and(builds) && call.args.iter().any(|arg| arg.is("-"));
        if takes || told || as_words || by_dash {
            self.runs_input();
        }
    }

    /// A file's code runs, or may.
    pub fn runs_file(&mut self, file: &str) {
        if secrets::code_shows_the_environment(file) {
            self.environment_is_shown();
        }
        for path in self.resolved(file) {
            // What is no script is printed in errors, and what is one may set what it holds.
            if secrets::is_secret_path(&path) {
                note(&mut self.effects.secrets, &path);
            }
            note(&mut self.effects.runs, path);
        }
    }

    /// True when this file was fetched by an earlier part of the command.
    pub fn was_fetched(&self, path: &str) -> bool {
        self.fetched_files.iter().any(|known| known == paths::file_name(path))
    }

    /// True when a literal word of the command so far holds this text.
    pub fn mentions(&self, text: &str) -> bool {
        self.mentioned.iter().any(|word| word.contains(text))
    }

    /// Programs of the network among the literal words so far: a shell is about to read some of them as commands.
    pub fn mentioned_network(&mut self) {
        self.look_at_mentions();
        for word in self.telling.network.clone() {
            self.network(&word, None);
        }
    }

    /// Looks at the words that were mentioned since the last look.
    fn look_at_mentions(&mut self) {
        for word in self.mentioned.get(self.telling.looked_at..).unwrap_or(&[]) {
            if matches!(programs::kind_of(paths::file_name(word)), Some(Kind::Network)) {
                note(&mut self.telling.network, word);
            }
            if let Some(part) = self.around.gate_part(word).filter(|part| paths::is_within(word, part)) {
                note(&mut self.telling.gate, part);
            }
        }
        self.telling.looked_at = self.mentioned.len();
    }

    /// A file's content is read.
    pub fn read(&mut self, arg: &Arg) -> Judgement {
        if arg.known == Known::Literal && self.may_be_moved_beside(arg.start()) {
            return self.read_unknown();
        }
        let judgement = self.read_by_itself(arg);
        // What it reads by then may be a link to a secret.
        if self.waited > 0 && arg.known != Known::Pipe && arg.exact() != Some("-") {
            return judgement.max(Judgement::unknown(WAITED));
        }
        judgement
    }

    /// The same for a file that no word names and the program looks for by itself, on the way up, too.
    pub fn read_by_itself(&mut self, arg: &Arg) -> Judgement {
        match arg.known {
            Known::Literal if arg.start() == "-" || arg.start().is_empty() => Judgement::safe(),
            Known::Pipe => Judgement::safe(),
            Known::Literal if self.is_lost(arg.start()) => self.read_unknown(),
            // A pattern may stand for `..`.
            Known::Words if arg.wanders || self.is_lost(arg.start()) || self.has_moved(arg.start()) => {
                self.read_unknown()
            }
            Known::Literal => {
                for path in self.unresolved(arg.start()) {
                    if self.beside > 0 {
                        note(&mut self.effects.reads_beside, path.clone());
                    }
                    note(&mut self.effects.reads, path);
                }
                for path in self.resolved(arg.start()) {
                    if secrets::may_be_public(&path) {
                        self.condition(Condition::OnlyPublic { path: path.clone() });
                    } else if secrets::is_secret_path(&path) || secrets::is_git_store(&path) {
                        note(&mut self.effects.secrets, path.clone());
                    }
                    if self.beside > 0 {
                        note(&mut self.effects.reads_beside, path.clone());
                    }
                    note(&mut self.effects.reads, path);
                }
                Judgement::safe()
            }
            Known::Words => {
                let (folder, start) = folder_of_pattern(arg);
                if arg.in_one_folder {
                    for folder in self.places(folder) {
                        self.secret_folder(&folder);
                        let (start, end) = (start.to_owned(), arg.tail.clone());
                        self.condition(Condition::NoSecretNamed { folder, start, end });
                    }
                } else {
                    let passed_by = PassedBy { but: arg.found_by.clone(), ..PassedBy::default() };
                    self.read_tree_but(&Arg::literal(folder), &passed_by);
                }
                let fits = format!("{}{}", arg.start(), arg.tail);
                if secrets::is_secret_path(&fits) || secrets::is_git_store(&fits) {
                    note(&mut self.effects.secrets, format!("{}*{}", arg.start(), arg.tail));
                }
                Judgement::safe()
            }
            Known::OneWord | Known::Anything => {
                // Whatever the process: its environment is what this one has.
                if arg.start().starts_with("/proc/") && arg.tail.ends_with("/environ") {
                    self.environment_is_shown();
                }
                self.read_unknown()
            }
        }
    }

    /// The names that come on standard input, when it is known that these are names of files.
    pub fn names_on_stdin(&self) -> Option<Names> {
        self.stdin_names.clone()
    }

    /// The names below a folder are taken apart at blanks, quotes and backslashes.
    pub fn plain_names_below(&mut self, folder: &str) {
        for folder in self.places(folder) {
            self.condition(Condition::PlainNamesBelow { folder });
        }
    }

    /// No link below a folder may be called so.
    pub fn no_links_below(&mut self, folder: &str, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| paths::file_name(name).to_owned()).collect();
        for folder in self.places(folder) {
            self.condition(Condition::NoLinkBelow { folder, names: names.clone() });
        }
    }

    /// The folder where the command starts, where that is known.
    pub fn start(&self) -> Option<&str> {
        self.around.cwd.as_deref()
    }

    /// Files are read whose names nobody knows before it runs.
    pub fn read_unknown(&mut self) -> Judgement {
        self.reads_unknown = true;
        Judgement::unknown("it reads files whose names are only known when it runs")
    }

    /// Everything below a folder is read.
    pub fn read_tree(&mut self, arg: &Arg) -> Judgement {
        self.read_tree_but(arg, &PassedBy::default())
    }

    /// Everything below a folder is read but what the program passes by.
    pub fn read_tree_but(&mut self, arg: &Arg, passed_by: &PassedBy) -> Judgement {
        let Some(path) = arg.exact() else {
            return match arg.known {
                Known::Words if arg.in_one_folder => {
                    let (folder, _) = folder_of_pattern(arg);
                    let read = self.read(arg);
                    // What the pattern fits is named, and is not passed by whatever it is called.
                    let passed_by = PassedBy { hidden: false, folders: Vec::new(), ..passed_by.clone() };
                    read.max(self.read_tree_but(&Arg::literal(folder), &passed_by))
                }
                // What was found may be a folder, with other names in it.
                Known::Words | Known::Pipe => self.read(&arg.clone().found_by(&[])),
                Known::Literal | Known::OneWord | Known::Anything => self.read_unknown(),
            };
        };
        if self.is_lost(path) || self.may_be_moved_beside(path) {
            return self.read_unknown();
        }
        for folder in self.places(path) {
            self.secret_folder(&folder);
            self.condition(Condition::NoSecretBelow { folder, passed_by: passed_by.clone() });
        }
        Judgement::safe()
    }

    /// What lies in some folders are secrets, whatever their names are.
    fn secret_folder(&mut self, folder: &str) {
        if secrets::is_secret_path(folder) || secrets::is_secret_folder(paths::file_name(folder)) {
            note(&mut self.effects.secrets, folder);
        }
    }

    /// A path that is moved must not be a folder: links in it would lead elsewhere from its new place.
    pub fn is_no_folder(&mut self, arg: &Arg) {
        for path in self.places(arg.start()) {
            self.condition(Condition::NoFolder { path });
        }
    }

    /// A file is written.
    pub fn write(&mut self, arg: &Arg) -> Judgement {
        self.make(arg, Self::write_to)
    }

    /// A file is written whose name somebody else chooses: what acts later may be among them.
    pub fn write_any_name(&mut self, pattern: &Arg) {
        for path in self.resolved(pattern.start()) {
            note(&mut self.effects.steering, path);
        }
    }

    /// A file is written in one of some places, as a copy of this one, if it is known.
    pub fn write_copy(&mut self, source: Option<&Arg>, places: &[&Arg]) -> Judgement {
        let target = places.first().and_then(|place| place.exact());
        if source.and_then(Arg::exact).zip(target).is_some_and(|(from, to)| dotenv::is_from_template(from, to)) {
            self.content = Content::PlainVariables;
        }
        let judgement = places.iter().fold(Judgement::safe(), |judgement, place| judgement.max(self.write(place)));
        self.content = Content::Anything;
        judgement
    }

    /// A folder is made.
    pub fn make_folder(&mut self, arg: &Arg) -> Judgement {
        let made = arg.exact().map_or_else(Vec::new, |path| self.places(path));
        self.changed.made.extend(made);
        self.make(arg, Self::make_at)
    }

    fn make(&mut self, arg: &Arg, each: fn(&mut Self, &str) -> Judgement) -> Judgement {
        if arg.known == Known::Pipe {
            return Judgement::safe();
        }
        self.may_write_any(arg);
        let Some(path) = arg.exact() else {
            return Judgement::unknown("it writes a file whose name is only known when it runs");
        };
        let mut judgement = Judgement::safe();
        for path in self.unresolved(path) {
            note(&mut self.effects.writes, path);
        }
        for resolved in self.resolved(path) {
            judgement = judgement.max(each(self, &resolved));
        }
        if self.waited > 0 {
            judgement = judgement.max(Judgement::unknown(WAITED));
        }
        if self.is_above_what_moved(path) || self.may_be_moved_beside(path) {
            judgement = judgement.max(Judgement::unknown("it writes above a folder that may have been moved"));
        }
        judgement
    }

    /// The same for any word that names a file, whatever is known of it.
    pub(super) fn may_write_any(&mut self, arg: &Arg) {
        self.may_write_where_it_went(arg);
        if arg.exact().is_none() {
            self.may_write(arg.start(), &arg.tail);
            self.may_write_anything(arg);
            self.may_reach(arg, false);
        }
    }

    /// A name of which the middle is only known when it runs may be something that acts by itself, or, where it is taken away, a folder
    /// that holds all of it.
    fn may_reach(&mut self, arg: &Arg, is_taken_away: bool) {
        let is_told = arg.start().is_empty() && arg.tail.is_empty();
        // What is found is looked at where it is found.
        let is_found = !arg.found_by.is_empty() || arg.known == Known::Words && arg.start() == "./";
        if arg.known == Known::Pipe || is_found || is_told && !is_taken_away {
            return;
        }
        let cwd = self.around.cwd.clone();
        // A variable in front may hold any folder; a pattern finds what lies here.
        let is_open = arg.start().is_empty() && arg.known != Known::Words;
        // The end of a last name says nothing.
        if is_open && !arg.tail.is_empty() && !arg.tail.contains(['/', '.']) {
            return;
        }
        for start in if is_open { vec![String::new()] } else { self.beginnings(cwd.as_deref(), arg.start()) } {
            // Behind `shopt -s dotglob` patterns find names with a dot, too.
            let in_one_folder = arg.in_one_folder && !self.mentions("dotglob") && !self.mentions("GLOBIGNORE");
            let name = InPart { start: &start, tail: &arg.tail, in_one_folder };
            let found = reach::what_acts(name, &self.around.protected, cwd.as_deref()).or_else(|| {
                is_taken_away.then(|| reach::what_holds_all(name, &self.around.protected, cwd.as_deref())).flatten()
            });
            if let Some(found) = found {
                note(&mut self.effects.steering, format!("{}…{}, which may be {found}", arg.start(), arg.tail));
            }
        }
    }

    /// How a path begins of which this is the beginning, in each folder where it may be meant, from where the command starts if that is
    /// to be said.
    fn beginnings(&self, cwd: Option<&str>, start: &str) -> Vec<String> {
        self.folders
            .iter()
            .map(|folder| match folder {
                Folder::At(folder) => reach::begins_in(Some(&paths::resolve(cwd, folder)), start),
                Folder::Start | Folder::Anywhere => reach::begins_in(cwd, start),
            })
            .collect()
    }

    /// A file is written whose name is only known in part.
    fn may_write(&mut self, start: &str, tail: &str) {
        // The last name stands as it is: `.` is the beginning of one.
        let last = start.rsplit('/').next().unwrap_or(start);
        for start in self.beginnings(None, start) {
            let named = format!("{start}…{tail}");
            match self.around.later_in_part(&start, tail) {
                // A dot and a letter are the beginning of too much to be denied whatever it is.
                Some((path, Later { tier: Tier::Gate, .. }, true))
                    if last.len() > 2 && self.around.gate_part(&path).is_some() =>
                {
                    note(&mut self.effects.tampering, named);
                }
                Some((_, Later { tier: Tier::Gate | Tier::ByItself, .. }, true)) => {
                    note(&mut self.effects.persistence, named);
                }
                // Others are called so as well.
                Some(_) => note(&mut self.effects.steering, named),
                None => {}
            }
        }
    }

    /// The same for a name in a folder that the command went to and that is only known in part.
    fn may_write_where_it_went(&mut self, arg: &Arg) {
        let name = arg.start();
        if name.starts_with(['/', '~']) || !self.folders.contains(&Folder::Anywhere) {
            return;
        }
        // The folder itself holds whatever it holds.
        let is_folder = matches!(name.trim_start_matches("./"), "" | "." | "..");
        for folder in self.went_to.clone() {
            let inside = match arg.exact() {
                Some(_) if is_folder => folder.clone(),
                Some(path) => folder.with_end(&format!("/{path}")),
                None => folder.with_tail(&arg.tail),
            };
            self.tampering_by(&inside);
            self.may_write(inside.start(), &inside.tail);
            let last = paths::file_name(name);
            let may_act = match arg.exact() {
                Some(_) => is_folder || later::may_be_called_by(last),
                None => later::may_be_called(last, &arg.tail),
            };
            if folder.start().is_empty() && may_act {
                note(
                    &mut self.effects.steering,
                    format!("{name}…{} in a folder that is only known when it runs", arg.tail),
                );
            }
        }
    }

    /// The same for a name of which nothing is known, or only the patterns by which it was found.
    fn may_write_anything(&mut self, arg: &Arg) {
        let is_open = matches!(arg.start(), "" | "./") && arg.tail.is_empty();
        if !is_open || arg.known == Known::Pipe {
            return;
        }
        // What is found by nothing in particular is looked at where it is found.
        let is_found = arg.known == Known::Words && arg.start() == "./";
        let acts = |pattern: &String| later::may_be_called_by(pattern);
        if arg.found_by.is_empty() && !is_found {
            note(&mut self.effects.steering, UNNAMED);
        } else if let Some(pattern) = arg.found_by.iter().find(|pattern| acts(pattern)) {
            note(&mut self.effects.steering, pattern.clone());
        }
    }

    /// The files are changed whose names come on standard input.
    fn changes_what_comes_in(&mut self) {
        match self.names_on_stdin() {
            Some(names) => {
                let below: Vec<Arg> = names.below.iter().map(Arg::literal).collect();
                self.changes_what_is_found(&below.iter().collect::<Vec<_>>(), &names.found_by);
            }
            None => note(&mut self.effects.steering, UNNAMED),
        }
    }

    /// Whatever is found below these folders by these patterns, or at all, is changed or taken away.
    pub fn changes_what_is_found(&mut self, starts: &[&Arg], patterns: &[String]) {
        let fits = patterns.iter().find(|pattern| later::may_be_called_by(pattern));
        if !patterns.is_empty() && fits.is_none() {
            return;
        }
        let here = Arg::literal(".");
        let starts: Vec<&Arg> = if starts.is_empty() { vec![&here] } else { starts.to_vec() };
        for start in starts {
            let holds = |place: &String| {
                let cwd = self.around.cwd.as_deref();
                let whole = cwd.map_or_else(|| place.clone(), |cwd| paths::resolve(Some(cwd), place));
                matches!(place.as_str(), "." | "~")
                    || cwd.is_some_and(|cwd| paths::is_within(cwd, &whole))
                    || self.around.later(&format!("{place}/x")).is_some()
            };
            if start.exact().is_none_or(|path| self.is_lost(path) || self.resolved(path).iter().any(holds)) {
                let pattern = fits.map_or("*", String::as_str);
                note(&mut self.effects.steering, format!("{}/{pattern}", start.start().trim_end_matches('/')));
            }
        }
    }

    fn write_to(&mut self, path: &str) -> Judgement {
        match self.around.later(path) {
            Some(Later { tier: Tier::Steers, .. }) => note(&mut self.effects.steering, path),
            Some(Later { tier: Tier::ByItself, what, .. }) => {
                note(&mut self.effects.persistence, path);
                return Judgement::unknown(format!("it writes {what}"));
            }
            None if dotenv::steers_when_written(path) && self.content == Content::Anything => {
                note(&mut self.effects.steering, path);
            }
            Some(Later { tier: Tier::Gate, .. }) | None => {}
        }
        self.make_at(path)
    }

    /// Something comes to lie at a place.
    fn make_at(&mut self, path: &str) -> Judgement {
        if let Some(part) = self.around.gate_part(path) {
            note(&mut self.effects.tampering, part);
            return Judgement::unknown("it writes to the gate's own files");
        }
        let unplaced = !path.starts_with(['/', '~']) && self.folders.contains(&Folder::Anywhere);
        match paths::zone(path, self.around.cwd.as_deref()) {
            Zone::Nowhere => Judgement::safe(),
            Zone::Network => Judgement::network("bash opens this file as a network connection"),
            // What is looked at before the next command must not change behind its back.
            Zone::Workspace if !unplaced && self.beside > 0 => {
                note(&mut self.effects.writes, path);
                Judgement::unknown("a job in the background writes files")
            }
            Zone::Workspace if !unplaced => {
                note(&mut self.effects.writes, path);
                Judgement::safe()
            }
            Zone::Workspace | Zone::Outside => {
                note(&mut self.effects.writes, path);
                Judgement::unknown("it writes outside of the working directory and /tmp")
            }
        }
    }

    /// In a part that is not Safe, any argument that names the gate counts; what the program does with it is not known.
    pub(super) fn tampering_in(&mut self, call: &Call, text: &str) -> Judgement {
        let only_talks = calls::only_talks(call);
        let meant = self.meant_by_words(call, only_talks);
        let changes = |program: &str| programs::has(program, Trait::ChangesFiles);
        // Git brings files of commits into the working tree.
        let brings = paths::file_name(&call.program) == "git" && programs::brings_files(&call.args);
        // One that is only known when it runs may do anything.
        let modifies = brings
            || call.program.is_empty()
            || changes(&call.program)
            || call.args.iter().any(|arg| changes(arg.start()));
        // Where a search starts, nothing goes: what it finds is looked at by itself.
        let searches = programs::has(&call.program, Trait::PrintsNames);
        let moves = programs::has(&call.program, Trait::Moves);
        // Behind a wrapper it is the program of one of its words.
        let is_behind = matches!(programs::runs_of(&call.program), Runs::Behind(_));
        let behind = |wanted: Trait| {
            is_behind && call.args.iter().any(|arg| programs::has(paths::file_name(arg.start()), wanted))
        };
        let by_git = programs::is_git(&call.program).then(|| programs::does_to_folders(&call.args)).flatten();
        let moves = moves || by_git == Some(Trait::Moves) || behind(Trait::Moves);
        if moves {
            self.may_move_folders();
        }
        let deletes = programs::has(&call.program, Trait::Deletes) || by_git == Some(Trait::Deletes);
        let takes_away = !searches && (moves || deletes || behind(Trait::Deletes));
        // What is moved comes to the last one, or to what stands behind an option.
        let says_target = |arg: &Arg| arg.start().starts_with("-t") || arg.start().starts_with("--t");
        let by_option = call.args.iter().any(says_target);
        let is_target = |arg: &Arg| {
            let is_last = || call.args.last().is_some_and(|last| std::ptr::eq(last, arg));
            moves && (by_option || is_last())
        };
        // A script says what it does, and only some have it change the files that stand behind it.
        let in_place = || call.args.iter().any(|arg| programs::says_in_place(arg.start()));
        let changes_names = match programs::row(paths::file_name(&call.program)) {
            Some(row) if row.takes_script() => in_place(),
            Some(row) => row.changes_what_it_names() || matches!(row.runs, Runs::Behind(_)),
            None => false,
        };
        // What it changes stands elsewhere.
        let reads_names = matches!(programs::runs_of(&call.program), Runs::Behind(wrapper) if wrapper.words_from_input);
        let changes_them = |arg: &Arg| {
            let row = programs::row(paths::file_name(arg.start()));
            row.is_some_and(|row| row.changes_what_it_names() || row.takes_script() && in_place())
        };
        if reads_names && call.args.iter().any(changes_them) {
            self.changes_what_comes_in();
        }
        self.outputs(call);
        // A commit that is called like a file.
        let only_read = programs::only_read(&call.program, &call.args);
        for path in programs::made_by(&call.program, &call.args, &only_read) {
            self.may_change(&path, modifies, only_talks);
        }
        self.note_copies(call);
        let args = call.args.iter().enumerate().filter(|(at, _)| !only_read.contains(at)).map(|(_, arg)| arg);
        for arg in args.filter(|arg| !(brings && arg.start() == "HEAD")) {
            // `of=/path`, `-t/path` and `--target=/path` name one, too.
            let glued = [
                arg.start().split_once('=').map(|(_, path)| path),
                arg.start().get(2..).filter(|_| arg.start().starts_with('-')),
            ];
            for path in std::iter::once(arg.start()).chain(glued.into_iter().flatten()).filter(|path| !path.is_empty())
            {
                self.may_change(path, modifies, only_talks);
            }
            if modifies && !searches {
                self.may_write_where_it_went(arg);
                if arg.exact().is_none() && changes_names {
                    self.may_write_anything(arg);
                }
            }
            if modifies && arg.exact().is_none() {
                self.may_write(arg.start(), &arg.tail);
                // The words of `tar` are read, or names within an archive.
                let is_archiver = programs::row(&call.program).is_some_and(|row| row.copies == Some(Copies::AsTar));
                if !searches && !is_archiver && (changes_names || takes_away) {
                    self.may_reach(arg, takes_away && !is_target(arg));
                }
            }
            if takes_away
                && !is_target(arg)
                && let Some(path) = arg.exact()
            {
                self.takes_away(path);
                // It finds one by the end of its path, too.
                let called_so = |cwd: &&String| by_git.is_some() && Path::new(cwd).ends_with(path);
                if let Some(cwd) = self.around.cwd.clone().as_ref().filter(called_so) {
                    self.takes_away(cwd);
                }
            }
            if modifies && (arg.exact().is_none() || reads_names) {
                self.tampering_by(arg);
                self.look_at_mentions();
                for part in self.telling.gate.clone() {
                    note(&mut self.effects.tampering, part);
                }
            }
        }
        let words: Vec<Option<&str>> = call.args.iter().map(Arg::exact).collect();
        if let Some(fed) = call.fed.as_deref().filter(|_| programs::writes_as_told(&call.program, &words)) {
            // `-C dir`, `-d dir`, `--directory=dir`: what is named lies there.
            let there = words.iter().flatten().map(|word| word.strip_prefix("--directory=").unwrap_or(word));
            let folders: Vec<String> = there.filter(|word| !word.starts_with('-')).map(str::to_owned).collect();
            self.patched(fed, &folders);
        }
        // Of a program that runs no code and whose words are all known, every file has been looked at.
        let is_known = programs::row(&call.program).is_some() && programs::runs_of(&call.program) == Runs::Nothing
            || !only_read.is_empty();
        if only_talks || is_known && call.args.iter().all(|arg| arg.exact().is_some()) {
            return meant;
        }
        // Code and options in arguments: the text itself is searched.
        let names = protected::places(&self.around.protected);
        // What it is fed is code as well, in whatever language.
        let texts = [Some(text), call.fed.as_deref().filter(|_| programs::runs_of(&call.program) != Runs::Nothing)];
        for text in texts.into_iter().flatten() {
            for name in names.clone().filter(|name| text.contains(name)) {
                note(&mut self.effects.tampering, name);
            }
            for settings in later::settings_in(text) {
                note(&mut self.effects.tampering, settings);
            }
        }
        meant
    }

    /// What may be copied as a folder, to the last word, or to any where an option says to which; by the program of a call, or by one
    /// that stands behind it.
    fn note_copies(&mut self, call: &Call) {
        let words: Vec<&str> = std::iter::once(call.program.as_str())
            .chain(call.args.iter().map(|arg| arg.exact().unwrap_or("?")))
            .collect();
        let copies = |program: &str| {
            let row = programs::row(paths::file_name(program));
            // What is found is moved and linked as it is copied: under its own name.
            let brings =
                |row: &programs::Program| words.contains(&"{}") && (row.has(Trait::Moves) || row.has(Trait::Links));
            row.is_some_and(|row| matches!(row.copies, Some(Copies::ToLast(_))) || brings(row))
        };
        // What is moved or linked as a whole brings to another place what lies in it.
        let takes_along = |program: &str| {
            programs::row(paths::file_name(program)).is_some_and(|row| row.has(Trait::Moves) || row.has(Trait::Links))
        };
        let is_found = |word: &&str| !word.starts_with(['-', '(', '!']);
        // Whatever is found there may be a folder, and arrives without those above it.
        let found = || {
            let starts: Vec<String> = words.iter().skip(1).copied().take_while(is_found).map(str::to_owned).collect();
            let starts = if starts.is_empty() { vec![".".to_owned()] } else { starts };
            starts.into_iter().map(|start| format!("{start}/{EACH_BELOW}"))
        };
        for at in (0..words.len()).filter(|at| words.get(*at).is_some_and(|word| copies(word) || takes_along(word))) {
            let only_outside = words.get(at).is_some_and(|word| !copies(word));
            let rest = words.get(at + 1..).unwrap_or_default();
            let end = rest.iter().position(|word| matches!(*word, ";" | "+")).unwrap_or(rest.len());
            let behind = rest.get(..end).unwrap_or_default();
            let behind: Vec<String> = behind
                .iter()
                .flat_map(|word| if *word == "{}" { found().collect() } else { vec![(*word).to_owned()] })
                .collect();
            let named: Vec<&str> = behind.iter().map(String::as_str).filter(|word| *word != "?").collect();
            self.note_copies_to(&named, only_outside);
        }
    }

    /// With `only_outside` of what comes to lie in another place than below where the agent works.
    fn note_copies_to(&mut self, words: &[&str], only_outside: bool) {
        // `-tDIR`, `-t DIR`, `--target-directory=DIR`.
        let glued = |word: &str| {
            word.split_once('=')
                .map_or_else(|| word.get(2..).unwrap_or_default().to_owned(), |(_, path)| path.to_owned())
        };
        let (options, named): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
        let says_target = |word: &str| word.starts_with("--t") || !word.starts_with("--") && word.contains('t');
        let mut targets: Vec<String> = named.last().map(|last| (*last).to_owned()).into_iter().collect();
        let told: Vec<&str> = options.into_iter().filter(|word| says_target(word)).collect();
        if !told.is_empty() {
            targets.extend(told.into_iter().map(glued).chain(named.iter().map(|word| (*word).to_owned())));
        }
        // Another machine's folder is none of this one's.
        let is_remote = |path: &str| path.split('/').next().is_some_and(|first| first.contains(':'));
        for from in named.iter().filter(|from| !is_remote(from)) {
            let is_put_there = self.is_put_there_before(from);
            for to in targets.iter().filter(|to| *from != to.as_str() && !to.is_empty() && !is_remote(to)) {
                if !self.effects.has_all_copies() {
                    return;
                }
                if is_put_there {
                    note(&mut self.effects.steering, format!("{to}, with what the command puts into {from} before"));
                }
                let cwd = self.around.cwd.clone();
                let is_outside = |to: &str| {
                    to.starts_with(['/', '~']) && !cwd.as_deref().is_some_and(|cwd| paths::is_within(to, cwd))
                };
                let pairs = self.resolved(from).into_iter().zip(self.resolved(to));
                let pairs: Vec<_> = pairs.filter(|(_, to)| !only_outside || is_outside(to)).collect();
                self.effects.copies.extend(pairs);
            }
        }
    }

    /// True where an earlier part of the command moves or links something to this place, or lets git bring a folder there: what is looked
    /// at now is not what is copied.
    fn is_put_there_before(&self, path: &str) -> bool {
        let puts = |program: &str, words: &[Option<String>]| {
            let is_folder_of_git = |word: &Option<String>| {
                word.as_ref()
                    .is_some_and(|word| matches!(word.as_str(), "worktree" | "submodule" | "subtree" | "clone"))
            };
            programs::has(program, Trait::Moves)
                || programs::has(program, Trait::Links)
                || programs::is_git(program) && words.iter().any(is_folder_of_git)
        };
        let places = self.resolved(path);
        self.parts.iter().filter_map(|part| part.argv.split_first()).any(|(program, words)| {
            let program = paths::file_name(program.as_deref().unwrap_or_default());
            puts(program, words)
                && words.iter().flatten().filter(|word| !word.starts_with('-')).any(|word| {
                    let put = self.resolved(word);
                    let meets = |place: &String| {
                        put.iter().any(|put| paths::is_within(place, put) || paths::is_within(put, place))
                    };
                    places.iter().any(meets)
                })
        })
    }

    /// A program that is not Safe may change what this names.
    fn may_change(&mut self, path: &str, modifies: bool, only_talks: bool) {
        for path in self.resolved(path) {
            let later = self.around.later(&path);
            let part = self.around.gate_part(&path);
            let inside = part.as_deref().is_some_and(|part| paths::is_within(&path, part));
            let is_called = later.is_some_and(|later| later.is_called);
            match part {
                Some(part) if modifies || inside && !only_talks && !is_called => {
                    note(&mut self.effects.tampering, part);
                }
                _ => {}
            }
            match later.map(|later| later.tier) {
                Some(Tier::Steers) if modifies => note(&mut self.effects.steering, path),
                Some(Tier::ByItself) if modifies => note(&mut self.effects.persistence, path),
                Some(Tier::Gate | Tier::ByItself | Tier::Steers) | None => {}
            }
        }
    }

    /// A folder goes from where it is. With the one that the agent works in, its settings go.
    fn takes_away(&mut self, path: &str) {
        let Some(cwd) = self.around.cwd.clone() else { return };
        for place in self.resolved(path) {
            if paths::is_within(&cwd, &paths::resolve(Some(&cwd), &place)) {
                note(&mut self.effects.tampering, format!("{place}, in which the agent works"));
            }
        }
    }

    /// The files that a patch names are changed, there or in one of these folders; of those that it moves, what they hold comes to
    /// lie elsewhere.
    pub fn patched(&mut self, text: &str, folders: &[String]) {
        let patch = patch::of(text, MAX_PATCHED);
        for path in &patch.writes {
            self.may_change(path, true, false);
            for folder in folders {
                self.may_change(&format!("{folder}/{path}"), true, false);
            }
        }
        self.named(&patch.writes.iter().take(MAX_WORDS).map(String::as_str).collect::<Vec<_>>());
        for path in &patch.moves {
            let _ = self.read(&Arg::literal(path));
        }
        // Whatever stands behind so many is meant to be overlooked.
        if patch.writes.len() > MAX_PATCHED || patch.moves.len() > MAX_PATCHED {
            self.tampering("a patch of more files than are looked at");
        }
    }

    /// What a program writes where one of its options says: those are called alike everywhere.
    fn outputs(&mut self, call: &Call) {
        let mut is_value = false;
        for arg in &call.args {
            let text = arg.start();
            let was_value = std::mem::take(&mut is_value);
            let named: Vec<&str> = if was_value && !text.starts_with('-') {
                vec![text]
            } else if let Some((option, value)) = text.split_once('=').filter(|(option, _)| option.starts_with("--")) {
                if names_output(option) { vec![value] } else { Vec::new() }
            } else if text.starts_with('-') {
                is_value = names_output(text);
                // `-o/path`, `-so/path`.
                let glued = text.char_indices().skip(1).filter(|(_, letter)| "oODP".contains(*letter));
                let is_short = !text.starts_with("--");
                glued
                    .filter(|_| is_short)
                    .filter_map(|(at, _)| text.get(at + 1..))
                    .filter(|path| path.len() > 1)
                    .collect()
            } else {
                Vec::new()
            };
            let places: Vec<String> = named.into_iter().flat_map(|path| self.resolved(path)).collect();
            for path in places {
                match self.around.later(&path).map(|later| later.tier) {
                    Some(Tier::Steers) => note(&mut self.effects.steering, path),
                    Some(Tier::ByItself) => note(&mut self.effects.persistence, path),
                    Some(Tier::Gate) => note(&mut self.effects.tampering, path),
                    None => {}
                }
            }
        }
    }

    /// What the words of a call name of which no rule has understood what it does: secrets that it may read, and programs that it
    /// may run to reach the network.
    fn meant_by_words(&mut self, call: &Call, only_talks: bool) -> Judgement {
        let row = programs::row(paths::file_name(&call.program));
        let is = |facts: &[Trait]| row.is_some_and(|row| facts.iter().any(|fact| row.has(*fact)));
        if is(&[Trait::Searches, Trait::PrintsNames]) {
            return Judgement::safe();
        }
        let reads = !is(&[Trait::NamesOnly]);
        let mut reaches = None;
        for (at, arg) in call.args.iter().enumerate() {
            let text = arg.start();
            if only_talks && text.contains(char::is_whitespace) {
                // A message.
                continue;
            }
            if text.contains(char::is_whitespace) {
                // A script in another language, or a command line.
                if reads {
                    self.secrets_in(text);
                }
                self.named(&files_in(text).collect::<Vec<_>>());
                // A command in it names files without a folder, too.
                self.named(&words_in(text).filter(|word| !word.starts_with('-')).take(MAX_WORDS).collect::<Vec<_>>());
                let host = || text.split_whitespace().find_map(programs::host_in);
                reaches = reaches.or_else(|| called_in(text).map(|program| (program.to_owned(), host())));
                let words: Vec<&str> = words_in(text).collect();
                let is_git = |word: &str| paths::file_name(word) == "git";
                let behind = |at: usize| words.get(at + 1..).unwrap_or_default();
                let asks = words.iter().enumerate().any(|(at, word)| is_git(word) && asks_remote(behind(at)));
                reaches = reaches.or_else(|| asks.then(|| ("git".to_owned(), host())));
                continue;
            }
            self.named(&paths_in(text));
            self.named_by_pattern(arg);
            // The shortest says it best.
            let is_secret = |path: &&str| self.resolved(path).iter().any(|path| secrets::is_secret_tree(path));
            let secret = paths_in(text).into_iter().filter(|_| reads).filter(is_secret).min_by_key(|path| path.len());
            if let Some(secret) = secret {
                note(&mut self.effects.secrets, secret);
            } else if reads {
                self.secret_by_end(arg);
            }
            if !only_talks && paths::file_name(text) == "git" {
                let behind: Vec<&str> = call.args.iter().skip(at + 1).map(Arg::start).collect();
                let host = || behind.iter().find_map(|word| programs::host_in(word));
                reaches = reaches.or_else(|| asks_remote(&behind).then(|| ("git".to_owned(), host())));
            }
            // The last word is more often the name of a package, or of a file.
            if !only_talks && at + 1 < call.args.len() && !text.contains('/') && reaches_network(text) {
                let host =
                    || call.args.get(at + 1..).into_iter().flatten().find_map(|arg| programs::host_in(arg.start()));
                reaches = reaches.or_else(|| Some((text.to_owned(), host())));
            }
        }
        // Instructions on its standard input, in whatever language. Text for people is no more than that.
        if reads
            && !only_talks
            && let Some(fed) = &call.fed
        {
            self.secrets_in(fed);
            self.named(&words_in(fed).filter(|word| !word.starts_with('-')).take(MAX_WORDS).collect::<Vec<_>>());
        }
        let Some((program, host)) = reaches else { return Judgement::safe() };
        self.network(&program, host);
        Judgement::network(format!("its words name `{program}`, which reaches the network"))
    }

    /// A word that is only known in part, and by its end names a secret.
    pub(crate) fn secret_by_end(&mut self, arg: &Arg) {
        let is_open = arg.exact().is_none() && arg.tail.contains(['/', '.']);
        if is_open && secrets::is_secret_path(&format!("x{}", arg.tail)) {
            note(&mut self.effects.secrets, format!("{}…{}", arg.start(), arg.tail));
        }
    }

    /// Secrets that a text in whatever language names.
    fn secrets_in(&mut self, text: &str) {
        for secret in files_in(text).filter(|path| secrets::is_secret_path(path)) {
            note(&mut self.effects.secrets, secret);
        }
    }

    /// Words that may name files, whatever is done with these.
    pub(super) fn named(&mut self, words: &[&str]) {
        for path in words.iter().flat_map(|path| self.resolved(path)).collect::<Vec<_>>() {
            note(&mut self.effects.named, path);
        }
    }

    /// The patterns among the words of a loop: what they stand for is what the loop works on.
    pub(super) fn named_by_patterns(&mut self, words: &[Word]) {
        for arg in words.iter().flat_map(|word| Arg::all_of(word, &|_| None)) {
            self.named_by_pattern(&arg);
        }
    }

    /// A pattern stands for the files that it finds.
    pub(super) fn named_by_pattern(&mut self, arg: &Arg) {
        if arg.known != Known::Words {
            return;
        }
        if arg.in_one_folder {
            self.named(&[&format!("{}*{}", arg.start(), arg.tail)]);
        } else {
            self.named(&[folder_of_pattern(arg).0]);
        }
    }

    /// The hosts in the words of a call that reaches the network.
    pub(super) fn hosts_in_words(&mut self, call: &Call, program: &str) {
        let is_message = |arg: &&Arg| arg.start().contains(char::is_whitespace) && calls::only_talks(call);
        let words: Vec<&str> = call.args.iter().filter(|arg| !is_message(arg)).map(Arg::start).collect();
        for host in programs::hosts_in_words(program, &words) {
            self.network(program, Some(host));
        }
    }

    /// What a variable is set to for one command may name what steers it.
    pub(super) fn named_by_value(&mut self, value: &str) {
        let words: Vec<&str> = words_in(value).flat_map(|word| word.split(':')).flat_map(paths_in).collect();
        self.named(&words);
    }

    pub(super) fn tampering_by(&mut self, arg: &Arg) {
        let tail = arg.tail.trim_start_matches('/');
        let by_tail = (!tail.is_empty()).then(|| protected::gate_part(tail, &[], None)).flatten();
        let reaches = self.resolved(arg.start()).iter().any(|prefix| {
            let prefix = if arg.start().ends_with('/') { format!("{prefix}/") } else { prefix.clone() };
            prefix.len() > 1 && protected::prefix_reaches_gate(&prefix, &self.around.protected)
        });
        if reaches || by_tail.is_some() || arg.start() == "/" {
            note(&mut self.effects.tampering, format!("{}…{}", arg.start(), arg.tail));
        }
    }
}

/// What is said of files that no text names.
const UNNAMED: &str = "files whose names are only known when it runs";

/// The folder in which a pattern finds its names, and how these begin. A pattern with folders in it finds them below.
fn folder_of_pattern(arg: &Arg) -> (&str, &str) {
    match arg.start().rsplit_once('/') {
        None => (".", arg.start()),
        Some(("", start)) => ("/", start),
        Some((folder, start)) => (folder, start),
    }
}

/// True for an option behind which a file or a folder stands that is written.
fn names_output(option: &str) -> bool {
    const PARTS: &[&str] = &[
        "out",
        "dump",
        "save",
        "libcurl",
        "jar",
        "trace",
        "stderr",
        "hsts",
        "log-file",
        "logfile",
        "prefix",
        "install-dir",
        "target-dir",
        "dest",
        "write-to",
    ];
    // Whoever reads long options takes their starts as well.
    const WHOLE: &[&str] = &["output-document", "output-file", "output-dir", "directory-prefix", "dump-header"];
    match option.strip_prefix("--") {
        Some(long) if long.len() > 3 && WHOLE.iter().any(|whole| whole.starts_with(long)) => true,
        Some(long) => {
            PARTS.iter().any(|part| long.contains(part)) && !long.contains("timeout") && !long.contains("strip")
        }
        None => matches!(option, "-o" | "-O" | "-D" | "-P" | "-out"),
    }
}

/// True for the name of a program that reaches the network, and is no interpreter.
fn reaches_network(program: &str) -> bool {
    programs::kind_of(paths::file_name(program)) == Some(Kind::Network)
}

/// The program in a text that reaches the network and seems to be called there: an option, an address or a port stands behind it.
fn called_in(text: &str) -> Option<&str> {
    let words: Vec<&str> = words_in(text).collect();
    words.windows(2).enumerate().find_map(|(at, pair)| {
        let [program, next] = pair else { return None };
        let is_port = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = next.starts_with('-')
            || next.contains([':', '@', '.', '/'])
            || words.get(at + 2).is_some_and(|word| is_port(&word));
        (is_address && reaches_network(program)).then_some(*program)
    })
}

/// True for words behind git's name whose subcommand talks to a remote.
pub(super) fn asks_remote(words: &[&str]) -> bool {
    let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).take(3).collect();
    let talks = |at: usize| {
        let (Some(first), second) = (plain.get(at), plain.get(at + 1).copied().unwrap_or("")) else { return false };
        let found = programs::row("git").and_then(|git| git.subcommand(first, second));
        found.is_some_and(|found| found.reach != Reach::Local)
    };
    // Behind an option the first may be its value.
    let most = if words.first().is_some_and(|word| word.starts_with('-')) { 2 } else { 1 };
    (0..most).any(talks)
}

/// The words of a text in whatever language.
fn words_in(text: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || "'\"`$(){}<>|&;,[]\\!".contains(c);
    text.split(divides).filter(|word| !word.is_empty())
}

/// What in a text looks like the path of a file.
fn files_in(text: &str) -> impl Iterator<Item = &str> {
    words_in(text).flat_map(paths_in).filter(|word| word.starts_with(['.', '~', '/']) || word.contains('/'))
}

/// Everything in a word that may name a file: the word, what stands behind `=`, `@`, `<` and their like, in braces, behind
/// `file://`, and behind each letter of a cluster of options.
fn paths_in(text: &str) -> Vec<&str> {
    const LONGEST: usize = 4096;
    let mut found = vec![text];
    if text.len() > LONGEST {
        return found;
    }
    found.extend(text.split(['=', '@', '<', '>', '"', '\'', '{', '}', ',', ';']));
    // `fileb://x`, `-v ./d:/d`, `host:x`, `flake#x`: a name may hold such a character, too.
    let divided = text.split(['=', '@', '<', '>', '"', '\'', '{', '}', ',', ';', ':', '#', '|', '(', ')']);
    found.extend(divided.flat_map(|part| [Some(part), part.strip_prefix("//")]).flatten());
    found.extend(programs::files_in_address(text));
    if text.starts_with('-') && !text.starts_with("--") {
        let letters = text.bytes().skip(1).take_while(u8::is_ascii_alphanumeric).count();
        found.extend((2..=letters + 1).filter_map(|at| text.get(at..)));
    }
    found.retain(|path| !path.is_empty());
    found.sort_unstable();
    found.dedup();
    found
}
