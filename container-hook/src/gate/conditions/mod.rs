//! What only the container can tell about a local command: links, the names that a pattern or a walk would meet, which
//! program a name means, what steers git.
//!
//! A condition that cannot be checked is not met. What is found goes to the host and can only make its answer stricter.

mod below;
mod copied;
mod ignored;
mod names;
mod public;
mod startup;

use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::classify::paths::{Zone, file_name, zone};
use bashgate_shared::classify::{Classification, Condition, Effects, GitShown, GitWork, PassedBy, later, protected};
use bashgate_shared::planted::{self, Bug};
use rustix::fs::Access;

use super::git::{self, inert, numbers};
use super::inward::{self, Inward};
use super::real::{Leads, follow};
use super::started::{self, Started};

pub use below::MAX_NAMES;
pub(in crate::gate) use below::folders_with;
pub(in crate::gate) use names::only_root_writes;
pub(in crate::gate) use names::{others_folders, others_programs};
pub(in crate::gate) use public::{holds_public_blocks, is_public, is_public_content, may_be_public};
pub(in crate::gate) use startup::files as startup_files;

/// Most names of one folder that a pattern may meet.
const MAX_MATCHED: usize = 65_536;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Secrets that the command would read.
    pub secrets: Vec<String>,
    /// Why it is not proven to be local.
    pub unproven: Vec<String>,
    /// What it reads and could not be looked through for secrets, and why.
    pub unlooked: Vec<String>,
    /// A condition could not be checked.
    pub unchecked: bool,
    /// The command makes something, so that what is not there now may be there when it is read.
    makes: bool,
}

/// Most files that arrive with a folder of which it is told.
const MAX_ARRIVING: usize = 16;

impl Findings {
    /// Says why a path is not known to lead nowhere, if so.
    fn doubt_of(&self, leads: &Leads) -> Option<String> {
        leads.doubt(self.makes)
    }

    /// True when nothing stands against a local verdict.
    pub fn is_clear(&self) -> bool {
        self.secrets.is_empty() && self.unproven.is_empty() && self.unlooked.is_empty() && !self.unchecked
    }
}

/// What the agent's shell does before it runs a command.
#[derive(Debug, Clone, Copy)]
pub struct ShellSetup<'c> {
    /// Whether it reads start-up files, or a snapshot that was made from them.
    pub reads_startup_files: bool,
    /// SHA-256 digests, in hexadecimal, of start-up files that somebody has looked at.
    pub trusted: &'c [String],
}

/// True when a program that is called by its whole path is that program in the agent's shell, too: bash lets functions have
/// such names.
pub fn paths_mean_themselves(setup: ShellSetup<'_>) -> bool {
    let shell = startup::read(setup);
    shell.doubtful.is_empty() && !shell.names.iter().any(|name| name.contains('/'))
}

/// Checks the conditions of a local command, where its paths really lead, and that its names mean what the tables mean.
pub fn check(found: &Classification, cwd: &Path, protected: &[String], setup: ShellSetup<'_>) -> Findings {
    // What a command makes may be what a link waits for.
    let makes = !found.effects.writes.is_empty() || !found.effects.git.is_empty();
    let mut findings = Findings { makes, ..Findings::default() };
    let shell = startup::read(setup);
    names::check(found, cwd, &shell, &mut findings);
    all_are_followed(found, cwd, &mut findings);
    for path in &found.effects.reads {
        match place(path, cwd) {
            Some(path) => read_leads_to_secret(&path, &mut findings),
            None => findings.unchecked = true,
        }
    }
    let written = found.effects.writes.iter().filter_map(|path| place(path, cwd));
    let (arriving, is_all) = copied::arriving(&found.effects, cwd);
    let soon = written.chain(arriving.iter().cloned()).flat_map(|path| [real_place(&path), Some(path)]);
    let soon: Vec<PathBuf> = soon.flatten().collect();
    let mut named = NamedBy { soon: &soon, by_folder: HashMap::new() };
    let around = LazyCell::new(|| inward::around(cwd, &soon));
    let started = LazyCell::new(|| started::in_force(cwd, &soon, &around));
    for path in &found.effects.writes {
        match place(path, cwd) {
            Some(path) => write_stays(&path, cwd, protected, (&mut named, &around.inward, &started), &mut findings),
            None => findings.unchecked = true,
        }
    }
    arrives(&arriving, is_all, (cwd, protected), &started, &mut findings);
    for condition in &found.conditions {
        let Some(path) = place(condition.path(), cwd) else {
            findings.unchecked = true;
            continue;
        };
        match condition {
            Condition::NoSecretBelow { .. } if planted::has(Bug::FoldersHoldNoSecrets) => {}
            Condition::Folder { .. } if planted::has(Bug::FoldersAreThere) => {}
            Condition::NoDashNames { .. } if planted::has(Bug::NamesAreNoOptions) => {}
            Condition::PlainNamesBelow { .. } if planted::has(Bug::NamesArePlain) => {}
            Condition::GitIsInert { .. } if planted::has(Bug::GitIsInert) => {}
            Condition::NoSecretNamed { .. } if planted::has(Bug::PatternsNameNoSecrets) => {}
            Condition::NoSecretBelow { passed_by, .. } => below::secrets_below(&path, passed_by, &mut findings),
            Condition::NoSecretAdded { path: wanted, .. } => match wanted.as_ref().map(|wanted| place(wanted, cwd)) {
                Some(None) => findings.unchecked = true,
                Some(Some(wanted)) => below::secrets_added(&path, Some(&wanted), &mut findings),
                None => below::secrets_added(&path, None, &mut findings),
            },
            Condition::NoSecretNamed { start, end, .. } => below::secrets_named(&path, start, end, &mut findings),
            Condition::PlainNamesBelow { .. } => below::plain_names_below(&path, &mut findings),
            Condition::NoLinkBelow { names, .. } => below::no_links_below(&path, names, &mut findings),
            Condition::OnlyPublic { .. } => only_public(&path, &mut findings),
            // What cannot be entered there, bash enters where a link leads.
            Condition::Folder { .. } if path.is_dir() && rustix::fs::access(&path, Access::EXEC_OK).is_ok() => {}
            Condition::Folder { .. } => {
                findings.unproven.push(format!("{} is no folder that can be entered", path.display()));
            }
            Condition::NoDashNames { .. } => no_dash_names(&path, &mut findings),
            Condition::NoFolder { .. } => match std::fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => findings.unproven.push(format!("{} is a folder", path.display())),
                Ok(_) => {}
                Err(error) if is_not_there(&error) => {}
                Err(_) => findings.unchecked = true,
            },
            Condition::NoFileAbove { names, .. } => no_file_above(&path, names, &mut findings),
            Condition::GitNumbers { numbers, .. } => match numbers::strangers(&path, numbers) {
                Ok(strangers) => findings.unproven.extend(strangers),
                Err(_) => findings.unchecked = true,
            },
            Condition::GitShowsNoSecret { .. } if planted::has(Bug::GitShowsAnything) => {}
            Condition::GitShowsNoSecret { shown, .. } => git_shows(&path, shown, &mut findings),
            Condition::GitIsInert { .. } if !path.is_dir() => {
                findings.unproven.push(format!("{} is not there yet", path.display()));
            }
            Condition::GitIsInert { shows, work, .. } => {
                if *work == GitWork::ChecksOut {
                    below::no_repository_below(&path, &mut findings);
                }
                match inert::obstacles(&path, *shows, (*work, &found.effects.git)) {
                    Ok(obstacles) => {
                        findings.unproven.extend(obstacles.programs);
                        findings.secrets.extend(obstacles.secrets);
                    }
                    Err(_) => findings.unchecked = true,
                }
            }
        }
    }
    if findings.unchecked {
        findings.unproven.push("the container's files cannot be looked at".to_owned());
    }
    findings
}

/// What git would show there.
fn git_shows(folder: &Path, shown: &GitShown, findings: &mut Findings) {
    match git::shown::secrets_in(folder, shown) {
        Ok(met) => {
            findings.secrets.extend(met.secrets);
            findings.unlooked.extend(met.unlooked);
        }
        Err(_) => findings.unchecked = true,
    }
}

/// The secrets that a command meets about which the host is asked in any case: its text says which files it reads, and only here can
/// be seen where links lead, what patterns stand for, and what lies in folders.
pub fn secrets_met(found: &Classification, cwd: &Path) -> Findings {
    let effects = &found.effects;
    let mut met = Findings { makes: !effects.writes.is_empty() || !effects.git.is_empty(), ..Findings::default() };
    let place = |path: &str| place(path, cwd);
    let leaves = !effects.network.is_empty();
    for named in effects.reads.iter().chain(&effects.named) {
        if let Some((folder, start, end)) = as_pattern(named) {
            if let Some(folder) = place(folder) {
                let mut found = Findings::default();
                below::secrets_named(&folder, start, end, &mut found);
                // Where it begins with nothing it stands for no name with a dot in front.
                let is_hidden = |path: &String| file_name(path).starts_with('.');
                met.secrets.extend(found.secrets.into_iter().filter(|path| !start.is_empty() || !is_hidden(path)));
                met.unlooked.append(&mut found.unlooked);
            }
            continue;
        }
        match place(named) {
            Some(path) => read_leads_to_secret(&path, &mut met),
            None => met.unlooked.push(format!("{named}: where that lies cannot be told here")),
        }
    }
    // What another part of the line does need not be known: what this one would show is shown.
    for condition in &found.conditions {
        let Some(path) = place(condition.path()) else { continue };
        match condition {
            Condition::NoSecretBelow { passed_by, .. } => below::secrets_below(&path, passed_by, &mut met),
            Condition::NoSecretNamed { start, end, .. } => below::secrets_named(&path, start, end, &mut met),
            Condition::NoSecretAdded { path: wanted, .. } => {
                let wanted = wanted.as_ref().and_then(|wanted| place(wanted));
                below::secrets_added(&path, wanted.as_deref(), &mut met);
            }
            Condition::GitShowsNoSecret { shown, .. } => git_shows(&path, shown, &mut met),
            _ => {}
        }
    }
    // A full list says nothing of what would stand behind it.
    if effects.is_full() || found.has_all_conditions() {
        met.secrets.push("more than is looked at".to_owned());
    }
    if effects.reads_unknown {
        met.unlooked.push("files whose names are only known when it runs".to_owned());
    }
    // Whole folders are read where what lies in them may leave.
    if leaves {
        for path in effects.reads.iter().filter_map(|path| place(path)).filter(|path| path.is_dir()) {
            below::secrets_below(&path, &PassedBy::default(), &mut met);
        }
    }
    let known = |secret: &String| effects.secrets.iter().any(|known| place(known) == place(secret));
    met.secrets.retain(|secret| !known(secret));
    met.secrets.sort();
    met.secrets.dedup();
    // What could not be looked at, or whose end is in doubt, matters where it may leave.
    met.unlooked.append(&mut met.unproven);
    if !leaves {
        met.unlooked.clear();
    }
    let mut findings = Findings { secrets: met.secrets, unlooked: met.unlooked, ..Findings::default() };
    what_others_start(effects, cwd, &mut findings);
    findings
}

/// What it writes, or copies with a folder, and settings or hooks in force start.
fn what_others_start(effects: &Effects, cwd: &Path, findings: &mut Findings) {
    let (arriving, is_all) = copied::arriving(effects, cwd);
    let written: Vec<PathBuf> = effects.writes.iter().filter_map(|path| place(path, cwd)).collect();
    if written.is_empty() && arriving.is_empty() && is_all {
        return;
    }
    let soon: Vec<PathBuf> = written.iter().chain(&arriving).cloned().collect();
    let started = LazyCell::new(|| started::in_force(cwd, &soon, &inward::around(cwd, &soon)));
    arrives(&arriving, is_all, (cwd, &[]), &started, findings);
    for path in &written {
        let real = real_place(path).unwrap_or_else(|| path.clone());
        if let Some(script) = started.names(path, &real) {
            findings.unproven.push(is_started(script));
        }
    }
}

/// Why what is written there is no file like others.
fn is_started(script: &Path) -> String {
    format!("what lies at {} is started by settings or hooks that are in force", script.display())
}

/// The folder in which a pattern finds names, and how these begin and end, where what is named is one.
pub(in crate::gate) fn as_pattern(named: &str) -> Option<(&str, &str, &str)> {
    let (folder, name) = named
        .rsplit_once('/')
        .map_or((".", named), |(folder, name)| (if folder.is_empty() { "/" } else { folder }, name));
    name.split_once('*').map(|(start, end)| (folder, start, end))
}

/// What is named must be there to be followed: what leads through the folder of a process in `/proc`, say, is another place for every
/// process, so that here it says nothing about where the command itself would get to. What is read is followed where it is looked at.
fn all_are_followed(found: &Classification, cwd: &Path, findings: &mut Findings) {
    let named = found.effects.writes.iter().map(String::as_str);
    let conditions = found.conditions.iter().flat_map(paths_of);
    let mut all: Vec<&str> = named.chain(conditions).collect();
    all.sort_unstable();
    all.dedup();
    for path in all.into_iter().chain([""]) {
        let Some(place) = place(path, cwd) else { continue };
        if let Leads::Doubt(why) = follow(&place) {
            findings.unproven.push(why);
        }
    }
}

/// The paths that a condition is about.
fn paths_of(condition: &Condition) -> impl Iterator<Item = &str> {
    let added = if let Condition::NoSecretAdded { path, .. } = condition { path.as_deref() } else { None };
    std::iter::once(condition.path()).chain(added)
}

/// The absolute place of a path as the classifier resolved it; `None` for a home folder that nobody here knows.
pub(crate) fn place(path: &str, cwd: &Path) -> Option<PathBuf> {
    match path.strip_prefix('~') {
        None => Some(cwd.join(path)),
        Some(rest) if rest.is_empty() || rest.starts_with('/') => Some(home()?.join(rest.trim_start_matches('/'))),
        Some(rest) => {
            let (name, inside) = rest.split_once('/').unwrap_or((rest, ""));
            Some(home_of(|user, _| user == name)?.join(inside.trim_start_matches('/')))
        }
    }
}

thread_local! {
    static HOME_OF_COMMANDS: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// While this lives, the home folder of commands is another one than that of whoever asks, on this thread.
#[derive(Debug)]
#[must_use]
pub struct OtherHome {
    before: Option<PathBuf>,
}

impl OtherHome {
    /// Whoever runs the commands gives them this one.
    pub fn of_commands(home: &Path) -> Self {
        Self { before: HOME_OF_COMMANDS.replace(Some(home.to_owned())) }
    }
}

impl Drop for OtherHome {
    fn drop(&mut self) {
        HOME_OF_COMMANDS.set(self.before.take());
    }
}

/// The home folder, where the environment names one. One that is named relatively is each program's own guess.
pub(in crate::gate) fn home() -> Option<PathBuf> {
    let other = HOME_OF_COMMANDS.with_borrow(Clone::clone).map(PathBuf::into_os_string);
    other.or_else(|| std::env::var_os("HOME")).map(PathBuf::from).filter(|home| home.is_absolute())
}

/// The home folder of the first user of this system that is meant, by name and number, as its own table says.
pub(in crate::gate) fn home_of(is_meant: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    // Anew each time: who may write it may do so while a person is asked.
    let table = std::fs::read_to_string("/etc/passwd").ok()?;
    let home = table.lines().find_map(|line| match line.split(':').collect::<Vec<_>>().as_slice() {
        [user, _, number, _, _, home, ..] if is_meant(user, number) => Some(PathBuf::from(home)),
        _ => None,
    });
    home.filter(|home| home.is_absolute())
}

/// A folder that is not there yet would be made by the command itself. One that is reached through a link has two kinds
/// of folders above it, and programs differ in which they look through: both count.
fn no_file_above(folder: &Path, names: &[String], findings: &mut Findings) {
    let Ok(real) = std::fs::canonicalize(folder) else {
        findings.unchecked = true;
        return;
    };
    let above = real.ancestors().chain(folder.ancestors());
    for file in above.flat_map(|above| names.iter().map(move |name| above.join(name))) {
        match std::fs::symlink_metadata(&file) {
            Ok(_) => findings.unproven.push(format!("{} may choose the program that runs", file.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => findings.unchecked = true,
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn read_leads_to_secret(path: &Path, findings: &mut Findings) {
    match follow(path) {
        Leads::To(real) if public::is_secret(&real) && !planted::has(Bug::LinksHaveNoSecrets) => {
            findings.secrets.push(text(&real));
        }
        Leads::To(real) if std::fs::metadata(&real).is_ok_and(|meta| is_odd(&real, &meta)) => {
            findings.unproven.push(format!("{} is no plain file", path.display()));
        }
        // What does not exist shows nothing. Anything else that keeps us from looking is doubt.
        leads => findings.unproven.extend(findings.doubt_of(&leads)),
    }
}

/// True for a device, a pipe or a socket that lies where files do: a device is what its numbers say, whatever it is called, and at the
/// other end of a pipe is anybody. Those of the system are judged by their names.
fn is_odd(path: &Path, meta: &std::fs::Metadata) -> bool {
    !meta.is_file() && !meta.is_dir() && !["/dev", "/proc", "/sys"].iter().any(|place| path.starts_with(place))
}

/// True when there is nothing of a name. Every other error is doubt: what cannot be looked at now, the command itself may open.
fn is_not_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What is not there shows nothing.
fn only_public(path: &Path, findings: &mut Findings) {
    match follow(path) {
        Leads::To(real) if !public::is_public(&real) => findings.secrets.push(text(path)),
        leads => findings.unproven.extend(findings.doubt_of(&leads)),
    }
}

/// Where a file really lies that is about to be written, whether it is there yet or not: the folders that exist decide, the
/// rest is made below them. The last part is not followed.
fn real_place(path: &Path) -> Option<PathBuf> {
    let (folder, name) = path.parent().zip(path.file_name())?;
    match follow(folder) {
        Leads::To(real) | Leads::Nowhere(real) => Some(real.join(name)),
        // Whoever makes what a link waits for decides where this is.
        Leads::Dangling(_) | Leads::Doubt(_) => None,
    }
}

/// Where the files really lie that a command writes, where that is not what their names say.
pub(super) fn leads_to(effects: &Effects, cwd: &Path) -> Vec<String> {
    let Effects { writes, persistence, steering, tampering, .. } = effects;
    let all = [writes, persistence, steering, tampering].into_iter().flatten();
    let mut paths: Vec<PathBuf> = all.filter_map(|path| place(path, cwd)).collect();
    paths.sort();
    paths.dedup();
    let inward = LazyCell::new(|| inward::around(cwd, &paths).inward);
    // What acts later, the host judges by where it arrives.
    let arriving = copied::arriving(effects, cwd).0.into_iter().filter(|path| acts(path, cwd, &[]));
    let mut all: Vec<String> = arriving.map(|path| text(&path)).take(MAX_ARRIVING).collect();
    for path in &paths {
        let places = [real_place(path), inward::there_or_later(path)];
        for real in places.into_iter().flatten().filter(|real| real != path) {
            let real = text(&real);
            if !all.contains(&real) && all.len() < 64 {
                all.push(real);
            }
        }
        // By a name that those outside have for it.
        let called = real_place(path).and_then(|real| inward::name_of(&inward, &real));
        all.extend(called.filter(|called| !all.contains(called)).filter(|_| all.len() < 64));
    }
    all
}

/// What arrives with folders that are copied and acts later there.
fn arrives(
    arriving: &[PathBuf],
    is_all: bool,
    (cwd, protected): (&Path, &[String]),
    started: &LazyCell<Started, impl FnOnce() -> Started>,
    findings: &mut Findings,
) {
    if !is_all {
        findings.unproven.push("it copies more than is looked at".to_owned());
    }
    let told = |path: &PathBuf| {
        if acts(path, cwd, protected) {
            return Some(format!("{} acts later, and comes there with a folder", path.display()));
        }
        Some(format!("{}, and comes there with a folder", is_started(started.names(path, path)?)))
    };
    findings.unproven.extend(arriving.iter().filter_map(told).take(MAX_ARRIVING));
}

/// True for a file that acts later by its name, or is a part of the gate.
fn acts(path: &Path, cwd: &Path, protected: &[String]) -> bool {
    let name = text(path);
    later::of(&name, cwd.to_str()).is_some() || protected::gate_part(&name, protected, cwd.to_str()).is_some()
}

fn write_stays(
    path: &Path,
    cwd: &Path,
    protected: &[String],
    (named, inward, started): (&mut NamedBy<'_>, &[Inward], &Started),
    findings: &mut Findings,
) {
    let Some(real) = real_place(path) else {
        findings.unchecked = true;
        return;
    };
    if planted::has(Bug::PathsHaveNoLinks) {
        return;
    }
    let root = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let meta = std::fs::symlink_metadata(path);
    if meta.as_ref().is_err_and(|error| !is_not_there(error)) {
        findings.unchecked = true;
        return;
    }
    let real = text(&real);
    if meta.as_ref().is_ok_and(|meta| meta.file_type().is_symlink()) {
        findings.unproven.push(format!("{} is a link", path.display()));
        return;
    }
    if meta.as_ref().is_ok_and(|meta| is_odd(path, meta)) {
        findings.unproven.push(format!("{} is no plain file", path.display()));
        return;
    }
    // Its other name may lie anywhere.
    if meta.is_ok_and(|meta| meta.is_file() && meta.nlink() > 1) {
        findings.unproven.push(format!("{} has another name", path.display()));
        return;
    }
    match is_of_repository(Path::new(&real), named.in_force_around(Path::new(&real), &root)) {
        Ok(None) => {}
        Ok(Some(what)) => findings.unproven.push(format!("{} is {what}", path.display())),
        Err(Unreadable) => findings.unchecked = true,
    }
    // What its own name says has been judged.
    let acts_later = || later::of(&real, root.to_str()).is_some();
    if !matches!(zone(&real, root.to_str()), Zone::Workspace | Zone::Nowhere)
        || Path::new(&real) != path && acts_later()
        || protected::gate_part(&real, protected, root.to_str()).is_some()
    {
        findings.unproven.push(format!("{} leads to {real}", path.display()));
    }
    if let Some(script) = started.names(path, Path::new(&real)) {
        findings.unproven.push(is_started(script));
    } else if !started.is_all {
        findings.unproven.push("settings and hooks say more than is looked at of what they start".to_owned());
    }
    if let Some(called) = inward::name_of(inward, Path::new(&real)) {
        findings.unproven.push(format!("{} is {called} as well", path.display()));
    }
}

/// What git's settings name: see [`git::named::by_settings`].
type Named = io::Result<Option<Vec<PathBuf>>>;

/// The same by the folder whose settings they are: those where the command starts, and those of a repository in which a file lies.
struct NamedBy<'s> {
    /// Files that are made soon.
    soon: &'s [PathBuf],
    by_folder: HashMap<PathBuf, Named>,
}

impl NamedBy<'_> {
    /// What is named around a file: in the innermost repository that holds it, or else where the command starts.
    fn in_force_around(&mut self, file: &Path, start: &Path) -> &Named {
        let is_repository = |folder: &&Path| {
            let has = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
            has(".git") || has("HEAD")
        };
        let below = file.ancestors().skip(1).take_while(|folder| *folder != start && !start.starts_with(folder));
        let folder = below.into_iter().find(is_repository).unwrap_or(start);
        let soon = self.soon;
        self.by_folder.entry(folder.to_owned()).or_insert_with(|| git::named::by_settings(folder, soon))
    }
}

/// A repository cannot be looked at.
struct Unreadable;

/// What a file is to git, whatever its folder is called: part of a repository's own folder, one of its hooks, or settings that
/// it includes.
fn is_of_repository(file: &Path, named: &Named) -> Result<Option<&'static str>, Unreadable> {
    for folder in file.ancestors().skip(1) {
        let has = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
        if has("HEAD") && (has("objects") || has("commondir") || has("config")) {
            return Ok(Some("part of a repository's own folder"));
        }
    }
    // What git itself keeps below `.git` is judged by its names.
    match named {
        Ok(Some(named)) => {
            // A folder that is moved there brings all of it along.
            let is_meant = |place: &PathBuf| file.starts_with(place) || place.starts_with(file);
            Ok(named.iter().any(is_meant).then_some("what git's settings name"))
        }
        Ok(None) => Ok(Some("in a repository whose settings are not understood")),
        Err(_) => Err(Unreadable),
    }
}

fn no_dash_names(folder: &Path, findings: &mut Findings) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // It may be made on the way.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !findings.makes => return,
        Err(_) => {
            findings.unchecked = true;
            return;
        }
    };
    for (count, entry) in entries.enumerate() {
        match entry {
            Ok(entry) if count < MAX_MATCHED && !entry.file_name().as_encoded_bytes().starts_with(b"-") => {}
            Ok(entry) if count < MAX_MATCHED => {
                findings.unproven.push(format!("the name {} would be read as an option", entry.path().display()));
                return;
            }
            _ => {
                findings.unchecked = true;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashgate_shared::classify::{Decided, Surroundings, classify};
    use bashgate_shared::command::CommandLine;

    fn findings(command: &str, cwd: &Path) -> Findings {
        let around = Surroundings { cwd: Some(text(cwd)), ..Surroundings::default() };
        let found = classify(&CommandLine::parse(command).unwrap(), &around);
        assert_ne!(found.decided, Decided::Host, "{command}: {}", found.reason);
        check(&found, cwd, &[], ShellSetup { reads_startup_files: false, trusted: &[] })
    }

    #[test]
    fn links_and_walks_that_meet_secrets_are_found() {
        // Not below /tmp, where a link out of the working directory would still be allowed to write.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        let folder = tempfile::tempdir_in(home.canonicalize().unwrap()).unwrap();
        assert!(!folder.path().starts_with("/tmp"), "HOME lies in /tmp");
        let root = folder.path().join("w");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join("conf")).unwrap();
        std::fs::create_dir_all(folder.path().join("outside")).unwrap();
        std::fs::write(root.join("src/main.rs"), "x").unwrap();
        std::fs::write(root.join("conf/.env"), "x").unwrap();
        std::os::unix::fs::symlink(root.join("conf/.env"), root.join("notes")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), root.join("out")).unwrap();
        std::os::unix::fs::symlink("/nonexistent", root.join("dangling")).unwrap();
        for (command, clear) in [
            ("cat src/main.rs", true),
            ("cat missing", true),
            ("cat notes", false),
            ("grep -r x src", true),
            ("grep -r x .", false),
            ("grep -r x conf", false),
            ("cat src/*", true),
            ("cat conf/*", false),
            ("echo x > src/new", true),
            ("echo x > notes", false),
            ("echo x > out/y", false),
            ("echo x > dangling", false),
            ("mkdir -p src/a/b/c", true),
            ("mkdir -p out/a/b", false),
        ] {
            assert_eq!(findings(command, &root).is_clear(), clear, "{command}");
        }
    }

    /// A line of a list of what is passed over is shown where it is no pattern.
    #[test]
    fn lists_of_what_is_passed_over_are_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("lib/x")).unwrap();
        std::fs::write(root.join(".env"), "API=\"k{ey\"").unwrap();
        let meets = |command: &str| {
            let found = findings(command, root);
            !found.secrets.is_empty() || found.unproven.iter().any(|why| why.ends_with("is a link"))
        };
        for command in ["rg --files", "rg --files lib", "rg hello lib/x"] {
            assert!(!meets(command), "{command}");
        }
        std::os::unix::fs::symlink("../../.env", root.join("lib/x/.ignore")).unwrap();
        for command in ["rg --files", "rg --files lib"] {
            assert!(meets(command), "{command}");
        }
        std::fs::remove_file(root.join("lib/x/.ignore")).unwrap();
        // Above what is looked through, too.
        std::os::unix::fs::symlink("../.env", root.join("lib/.rgignore")).unwrap();
        assert!(meets("rg hello lib/x"));
    }

    #[test]
    fn what_leads_through_a_process_is_another_place_for_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["sub", "sub/inner", "inner"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("inner/notes"), "x").unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        link("/proc/self/cwd/inner/notes", "sub/n");
        link("/proc/self/cwd/inner", "sub/l");
        link("/proc/self/task", "tasks");
        link("/proc/thread-self/cwd", "here");
        link("here", "there");
        link("/dev/fd", "fds");
        for command in [
            "cd sub && cat n",
            "cd sub && echo x > l/f",
            "cat tasks/1/environ",
            "cat there/inner/notes",
            "cd here && wc *",
            "cat fds/9",
            "cat /proc/self/cwd/inner/notes",
            "cat /proc/self/root/etc/hostname",
            "cd /proc/self/cwd && wc *",
            "ls > /proc/self/cwd/x",
        ] {
            let around = Surroundings { cwd: Some(text(root)), ..Surroundings::default() };
            let found = classify(&CommandLine::parse(command).unwrap(), &around);
            let is_clear =
                || check(&found, root, &[], ShellSetup { reads_startup_files: false, trusted: &[] }).is_clear();
            assert!(found.decided == Decided::Host || !is_clear(), "{command}");
        }
        for command in [
            "cat /proc/cpuinfo",
            "cat /proc/mounts",
            "cat /proc/net/dev",
            "cat inner/notes",
            "echo x > /dev/stderr",
            "cat /proc/self/status",
            "ls /dev",
        ] {
            assert!(findings(command, root).is_clear(), "{command}: {:?}", findings(command, root));
        }
    }

    #[test]
    fn a_pattern_that_meets_an_option_is_doubt() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "").unwrap();
        assert!(findings("sort *", folder.path()).is_clear());
        std::fs::write(folder.path().join("--compress-program=x"), "").unwrap();
        assert!(!findings("sort *", folder.path()).is_clear());
        assert!(findings("sort ./*", folder.path()).is_clear());
    }

    #[test]
    fn a_file_in_any_folder_above_is_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("link");
        std::os::unix::fs::symlink(&inner, &link).unwrap();
        let look = |folder: &Path| {
            let mut findings = Findings::default();
            no_file_above(folder, &["go.mod".to_owned()], &mut findings);
            findings
        };
        assert!(look(&inner).is_clear() && look(&link).is_clear());
        assert!(look(&inner.join("not-there")).unchecked);
        std::os::unix::fs::symlink("/nowhere", folder.path().join("a/go.mod")).unwrap();
        assert!(!look(&inner).is_clear());
        assert!(!look(&link).is_clear(), "the real folder counts");
        std::fs::remove_file(folder.path().join("a/go.mod")).unwrap();
        std::fs::write(other.path().join("go.mod"), "").unwrap();
        assert!(!look(&link).is_clear(), "and so does the one that the link lies in");
    }

    #[test]
    fn more_names_than_the_limit_are_not_looked_through() {
        let folder = tempfile::tempdir().unwrap();
        for part in 0..=MAX_NAMES / 100 {
            let part = folder.path().join(part.to_string());
            std::fs::create_dir(&part).unwrap();
            for number in 0..100 {
                std::os::unix::fs::symlink("x", part.join(number.to_string())).unwrap();
            }
        }
        let found = findings("grep -r x .", folder.path());
        assert!(found.secrets.is_empty() && !found.unlooked.is_empty(), "{found:?}");
        let some = folder.path().join("1");
        assert!(findings("grep -r x .", &some).is_clear());
    }
}
