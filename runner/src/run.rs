//! One run, from a permit to an outcome: choose a sandbox, start, listen, end in time, clean up.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use bashgate_hook::gate::config::Config;
use bashgate_shared::classify::paths::{TEMPORARY, is_temporary};
use bashgate_shared::classify::{Surroundings, classify, later, secrets};
use bashgate_shared::command::CommandLine;
use bashgate_shared::programs;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::bound::{Allowed, BoundScripts, Hold};
use crate::egress::{self, Way};
use crate::environment;
use crate::git;
use crate::inner::kernel::BeforeExec;
use crate::inner::{self, Ended, Report, Resource};
use crate::job::{Jobs, Log};
use crate::outcome::{Ending, Outcome, RunError, Sandboxed};
use crate::output::{Capture, Echo, Limit, Text};
use crate::permit::{Permit, Reach};
pub use crate::presets::Internet;
use crate::presets::{Access, Machine, NetworkAccess, Preset, Presets, ShellProgram, Streams, Tmp, UnixSockets};
use crate::registry::{Registry, Stop};
use crate::sandbox::cgroup::Groups;
use crate::sandbox::{
    self, BackendName, Guarantee, Hidden, Lent, Listed, Nest, OwnTmp, Places, Roots, Temporary, Unavailable, Wanted,
};
use crate::turns::{Ground, MOST_WAIT, Rest, Turn};
use crate::user::RunAs;
use crate::watch::{Change, Looked, SharedFolders, Violation, Watch};

/// Longest wait for the shell to start.
const STARTING: Duration = Duration::from_secs(20);
/// After the order to kill, so long until the sandbox itself is killed.
const KILLING: Duration = Duration::from_secs(6);
/// Most files that act later and are kept from being written one by one. The others are put back when they were changed.
const MOST_PROTECTED: usize = 512;
/// Most bytes of their paths, which are words of the sandbox's command line. What is beyond is put back afterwards.
const MOST_PROTECTED_BYTES: usize = 256 << 10;
/// Longest path that can be a mount, with what a sandbox puts in front of it.
const LONGEST_MOUNT: usize = 3900;
/// How often a start is tried again whose places changed while it was prepared.
const MOST_ATTEMPTS: usize = 4;
/// After the end, so long until a pipe that somebody holds open is left alone.
const DRAINING: Duration = Duration::from_millis(500);

/// How much time a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// What the preset gives.
    Usual,
    /// What the preset gives slow commands.
    Slow,
    /// So many seconds, within what the preset gives at most.
    Seconds(u64),
    /// What the preset gives jobs in the background.
    Background,
}

/// How a permitted command is to be run.
#[derive(Debug, Clone)]
pub struct RunSpec {
    /// What it may do.
    pub preset: Preset,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The workspace.
    pub workspace: PathBuf,
    /// The caller's environment.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that the caller sets besides.
    pub env_overrides: BTreeMap<String, String>,
    /// Variables that carry a script's values: set last, whatever the preset removes.
    pub carried: Vec<(String, String)>,
    /// Its time.
    pub time: Time,
    /// Its network.
    pub internet: Internet,
    /// The agent on whose behalf.
    pub agent: Option<String>,
    /// The gate's own files, which no command sees.
    pub gate: Vec<PathBuf>,
    /// The runner's own folder, which no command writes: jobs, and what runs need for themselves.
    pub state: Option<PathBuf>,
    /// More files and folders that no command writes: the gate's programs and settings.
    pub own: Vec<PathBuf>,
    /// Where output goes while it comes, besides into the outcome.
    pub log: Option<Log>,
    /// Whether it also goes to this program's own standard output and error while it comes.
    pub live: bool,
    /// The gate whose host hears what came of it.
    pub told: Option<Config>,
}

impl RunSpec {
    /// A run with a preset in a folder, with this process's environment.
    pub fn new(preset: Preset, cwd: &Path, workspace: &Path) -> Self {
        Self {
            preset,
            cwd: cwd.to_owned(),
            workspace: workspace.to_owned(),
            env: std::env::vars_os().collect(),
            env_overrides: BTreeMap::new(),
            carried: Vec::new(),
            time: Time::Usual,
            internet: Internet::NotRequested,
            agent: None,
            gate: Vec::new(),
            state: Jobs::usual_folder(),
            own: Vec::new(),
            log: None,
            live: false,
            told: None,
        }
    }

    /// The same, where a linked worktree is worked in, with the repository that it belongs to, into which it commits.
    fn with_repository_of_worktree(&self) -> Self {
        let mut spec = self.clone();
        if spec.preset.filesystem.workspace == Access::Write && spec.preset.git.repository == Access::Write {
            spec.preset.filesystem.write.extend(git::repository_of_worktree(&spec.workspace));
        }
        spec
    }

    /// The time it has.
    pub fn timeout(&self) -> Result<Duration, RunError> {
        let limits = &self.preset.limits;
        let seconds = match self.time {
            Time::Usual => limits.timeout_s,
            Time::Slow => limits.slow_timeout_s.max(limits.timeout_s),
            Time::Seconds(asked) if asked == 0 || asked > limits.max_timeout_s => {
                return Err(RunError::TooLong { asked, most: limits.max_timeout_s });
            }
            Time::Seconds(asked) => asked,
            Time::Background => self.preset.background.max_s,
        };
        Ok(Duration::from_secs(seconds))
    }
}

/// Runs permitted commands, and knows which are running.
#[derive(Debug)]
pub struct Runner {
    own: PathBuf,
    registry: Registry,
}

impl Runner {
    /// A runner that uses this `bashgate-run` as the innermost process.
    pub fn new(own: PathBuf) -> Self {
        Self { own, registry: Registry::default() }
    }

    /// A runner that uses the program that is running now; for `bashgate-run` itself.
    pub fn of_this_program() -> io::Result<Self> {
        Ok(Self::new(std::env::current_exe()?))
    }

    /// What is running now.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Runs one command to its end.
    ///
    /// The permit is used up. Nothing is started when a place is wrong or no sandbox enforces what the preset requires.
    pub fn run(&self, permit: Permit, spec: &RunSpec) -> Result<Outcome, RunError> {
        let stop = Stop::new().map_err(|source| RunError::Io { what: "make a pipe", source })?;
        let _tracked = self.registry.track(spec.agent.as_deref(), permit.command().text(), &stop);
        self.run_until(permit, spec, &stop)
    }

    /// The same, with a way to stop it.
    pub fn run_until(&self, permit: Permit, spec: &RunSpec, stop: &Stop) -> Result<Outcome, RunError> {
        let timeout = spec.timeout()?;
        let internet = internet(&permit, spec)?;
        let spec = &spec.with_repository_of_worktree();
        let preset = &spec.preset;
        let written = (preset.filesystem.workspace == Access::Write).then_some(&spec.workspace);
        for root in written.into_iter().chain(&preset.filesystem.write) {
            Places::may_be_root(root)?;
        }
        // Before anything is looked at: what others change until then counts.
        let ground = ground(&permit, spec, internet || permit.way_out().is_some());
        let alone = ground.wants_to_be_alone();
        let _turn = turn(spec, &ground, stop)?;
        // Others went on until now.
        if let Some(what) = permit.changed().filter(|_| alone) {
            return Err(RunError::Changed(what));
        }
        let groups = Groups::make(preset.limits.memory_mib, preset.limits.processes);
        let since = Instant::now();
        let watch = |project: &Path, names: Looked| {
            let kept = spec.state.as_deref().map(|state| (state, timeout));
            Watch::before(project, &spec.cwd, names, kept, permit.reach() == Reach::Cage)
        };
        let names = || Looked { kept: preset.filesystem.protect.clone(), told: Vec::new() };
        let mut watches: Vec<Watch> = projects(preset, &spec.workspace)
            .skip(usize::from(preset.filesystem.workspace == Access::Read))
            .map(|project| {
                let mut names = names();
                // A folder of programs that is not there yet is one as soon as somebody makes it.
                let real = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
                for folder in program_folders(project, &spec.cwd) {
                    let Some(inside) = folder.strip_prefix(&real).ok().and_then(Path::to_str) else { continue };
                    let list = if is_a_managers(&folder) { &mut names.told } else { &mut names.kept };
                    list.push(inside.to_owned());
                }
                watch(project, names)
            })
            .collect();
        let shared = (preset.filesystem.tmp == Tmp::Shared).then(SharedFolders::before);
        let before = since.elapsed();
        if let Some(why) = watches.iter().find_map(Watch::objection) {
            return Err(RunError::TooMuch(why));
        }
        let mut bytes = 0;
        let has_room = |path: &&PathBuf| {
            bytes += path.as_os_str().len();
            bytes <= MOST_PROTECTED_BYTES
        };
        let acting = watches.iter().flat_map(Watch::to_protect).take(MOST_PROTECTED).take_while(has_room);
        let acting: Vec<PathBuf> = acting.filter_map(|path| short_enough(path, &spec.workspace)).collect();
        let require = require(&permit, preset)?;
        let mut refused = Vec::new();
        for backend in &preset.sandbox.order {
            for run_as in RunAs::candidates(&spec.workspace) {
                let (wanted, keep) = self.wanted(&permit, spec, (internet, alone), (run_as, &acting), &groups)?;
                if let Some(missing) = missing(*backend, &wanted, &require) {
                    refused.push(missing);
                    break;
                }
                // What it is lent is somebody's as well.
                let lent: Vec<Watch> = wanted.lent.folders().map(|folder| watch(folder, names())).collect();
                if let Some(why) = lent.iter().find_map(Watch::objection) {
                    return Err(RunError::TooMuch(why));
                }
                let protected: HashSet<PathBuf> = if *backend == BackendName::Bwrap {
                    wanted.places.protect.iter().map(PathBuf::from).collect()
                } else {
                    HashSet::new()
                };
                let attempt = || {
                    let nest = sandbox::prepare(*backend, &wanted, run_as)?;
                    start(*backend, nest, &groups, spec, permit.way_out())
                };
                // What was there when the mounts were planned may be gone when they are made; nothing has run yet.
                let is_of_work = |error: &sandbox::Unavailable| {
                    let names = |root: &Path| error.why.contains(&*root.to_string_lossy());
                    names(&spec.workspace) || projects(preset, &spec.workspace).any(names)
                };
                let mut started = attempt();
                for _ in 0..MOST_ATTEMPTS {
                    match &started {
                        Err(error) if is_of_work(error) || error.why.contains("Can't") => started = attempt(),
                        _ => break,
                    }
                }
                let live = match started {
                    Ok(live) => live,
                    // Who shapes the workspace must not choose a sandbox that keeps less.
                    Err(unavailable) if is_of_work(&unavailable) || sandbox::works(*backend) => {
                        refused.push(unavailable);
                        return Err(RunError::NoSandbox(refused));
                    }
                    Err(unavailable) => {
                        refused.push(unavailable);
                        continue;
                    }
                };
                let sandbox = Sandboxed {
                    backend: *backend,
                    user: run_as,
                    enforces: sandbox::enforces(*backend, &wanted),
                    internet,
                    hosts: permit.way_out().map(|way| way.given.hosts.clone()).unwrap_or_default(),
                    passed_over: refused.iter().map(ToString::to_string).collect(),
                };
                let grace = Duration::from_millis(preset.limits.term_grace_ms);
                let finished = live.listen(timeout, grace, stop, &groups);
                let caged = permit.reach() == Reach::Cage;
                let checks_out = checks_out(permit.command());
                let since = Instant::now();
                let mut violations: Vec<_> =
                    watches.drain(..).chain(lent).flat_map(|watch| watch.after(checks_out, &protected)).collect();
                violations.extend(shared.iter().flat_map(SharedFolders::given_back));
                violations.extend(keep.1.exchanged().map(|path| Violation::of(path, Change::Exchanged)));
                drop(keep);
                let looked = [before, since.elapsed()];
                let mut outcome = finished.outcome(permit, spec, timeout, sandbox, (violations, looked));
                if let Some(state) = &spec.state {
                    crate::watch::remember_asides(state, &outcome.violations);
                }
                outcome.tell(spec.told.as_ref(), spec.agent.as_deref(), caged, &spec.workspace);
                return Ok(outcome);
            }
        }
        Err(RunError::NoSandbox(refused))
    }

    /// What this run needs of a sandbox, and what must live as long as it does.
    fn wanted(
        &self,
        permit: &Permit,
        spec: &RunSpec,
        (internet, alone): (bool, bool),
        (run_as, acting): (RunAs, &[PathBuf]),
        groups: &Groups,
    ) -> Result<(Wanted, (Vec<Temporary>, BoundScripts)), RunError> {
        let preset = &spec.preset;
        let workspace = &spec.workspace;
        let mut hidden = hidden(preset, (workspace, &spec.cwd), &spec.gate, run_as);
        hidden.own.extend(spec.state.iter().chain(&spec.own).cloned());
        // Commands and output of others lie there; and who could open what another run has written down could hold its lock as if
        // that run went on.
        hidden.hide.extend(spec.state.iter().cloned());
        hidden.protect.extend(acting.iter().cloned());
        let (files, variables) = permit.way_out().map(|way| way.credentials(&homes(run_as))).unwrap_or_default();
        hidden.hide.retain(|path| !files.contains(path));
        let roots = Roots {
            cwd: spec.cwd.clone(),
            workspace: workspace.clone(),
            access: preset.filesystem.workspace,
            write: preset.filesystem.write.clone(),
            read: preset.filesystem.read.clone(),
            shared_tmp: preset.filesystem.tmp == Tmp::Shared,
            run_as,
        };
        // What does not exist yet could be made by the command, and would then be believed.
        if let Some(state) = &spec.state {
            let mut at_hand = TEMPORARY.map(Path::new).into_iter().chain([workspace.as_path()]);
            if at_hand.any(|folder| state.starts_with(folder)) && !matches!(run_as, RunAs::Owner { .. }) {
                let io = |source| RunError::Io { what: "make the folder of jobs", source };
                Jobs::at(state.clone()).own_folder().map_err(io)?;
            }
        }
        let mut places = Places::check(&roots, &hidden)?;
        let lent = match preset.filesystem.tmp {
            Tmp::Named => Lent::of(permit.command().text(), &places, &hidden.own),
            Tmp::Private | Tmp::Shared => Lent::default(),
        };
        places.read.extend(files.iter().filter_map(|file| file.to_str().map(str::to_owned)));
        let has_way_out = permit.way_out().is_some();
        let listed = listed(preset, &places, internet || has_way_out)?;
        let scripts = bound_scripts(permit, spec, run_as, alone)?;
        let mut keep = Vec::new();
        let mut env = environment::build(
            &preset.environment,
            spec.env.iter().cloned(),
            &spec.env_overrides,
            &places.workspace,
            run_as,
        );
        if has_way_out {
            env.retain(|(name, _)| !bashgate_shared::variables::steers_client(name) && name != "PATH");
            env.push(("PATH".to_owned(), bashgate_shared::cage::PATH.to_owned()));
        }
        if internet {
            // In a container without a network of its own nothing else leads out.
            let is_set = |name: &str| env.iter().any(|(set, _)| set == name);
            let told = egress::environment_of_caller(&spec.env);
            let told: Vec<_> = told.into_iter().filter(|(name, _)| !is_set(name)).collect();
            env.extend(told.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        // What a program signs in with is there for the run that the host has given a way out, and for nothing else.
        let own = spec.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        env.extend(
            own.filter(|(name, _)| variables.contains(name)).map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let by_hand: Vec<String> = preset.environment.set.keys().cloned().collect();
        let mut set = git::environment();
        if !preset.git.trailer.is_empty() {
            let io = |source| RunError::Io { what: "write git hooks", source };
            let parent = hooks_parent(spec, run_as).map_err(io)?;
            let (folder, more) = git::trailer_hooks(&preset.git.trailer, &parent).map_err(io)?;
            places.read.extend(folder.path().to_str().map(str::to_owned));
            keep.push(folder);
            set.extend(more);
        }
        for (name, value) in set.into_iter().filter(|(name, _)| !by_hand.contains(name)) {
            env.retain(|(old, _)| *old != name);
            env.push((name, value));
        }
        let limits = &preset.limits;
        let by_groups = groups.enforces();
        let mut each = Vec::new();
        if limits.processes > 0 && !by_groups.contains(&Guarantee::Processes) {
            each.push((Resource::Processes, limits.processes + processes_of_user()));
        }
        if limits.memory_mib > 0 && !by_groups.contains(&Guarantee::Memory) {
            each.push((Resource::Data, limits.memory_mib << 20));
        }
        if limits.file_mib > 0 {
            each.push((Resource::FileSize, limits.file_mib << 20));
        }
        if limits.cpu_s > 0 {
            each.push((Resource::Cpu, limits.cpu_s));
        }
        env.extend(spec.carried.iter().cloned());
        // One that the caller names is the caller's own, who believes what lies there.
        let is_set = |name: &&String| preset.environment.set.contains_key(*name);
        let caches: Vec<String> = preset.environment.caches.iter().filter(|name| !is_set(name)).cloned().collect();
        env.retain(|(name, _)| !caches.contains(name));
        if preset.filesystem.tmp != Tmp::Shared {
            // What they name is not there.
            let is_elsewhere =
                |name: &str, value: &str| ["TMPDIR", "TMP", "TEMP"].contains(&name) && is_temporary(value);
            env.retain(|(name, value)| by_hand.contains(name) || !is_elsewhere(name, value));
        }
        let wanted = Wanted {
            caches,
            listed,
            argv: argv(preset.shell.program, permit.command().text()),
            env,
            places,
            tmp: preset.filesystem.tmp,
            lent,
            tmp_mib: preset.filesystem.tmp_mib,
            internet,
            way_out: has_way_out,
            // Who is held to its hosts has nobody else to speak to.
            unix: preset.network.unix_sockets == UnixSockets::Own && !has_way_out,
            limits: each,
            by_groups,
            own: self.own.clone(),
            gate_is_others: spec.gate.iter().chain(&spec.own).all(|path| !run_as.may_change_mode(path)),
            scripts: scripts.mounts.clone(),
        };
        Ok((wanted, (keep, scripts)))
    }
}

/// Where a run writes, and what must stay as it is while it goes on.
fn ground(permit: &Permit, spec: &RunSpec, internet: bool) -> Ground {
    let is_beside = spec.time == Time::Background;
    if is_beside && permit.reach() == Reach::Preset {
        // A server that somebody was asked about would keep all others out for as long as it serves.
        return Ground::default();
    }
    let filesystem = &spec.preset.filesystem;
    let mut ground = Ground { writes: filesystem.write.clone(), rests: Vec::new() };
    if filesystem.workspace == Access::Write {
        ground.writes.push(spec.workspace.clone());
    }
    match filesystem.tmp {
        Tmp::Private => {}
        Tmp::Named => ground.writes.extend(Lent::named_in(permit.command().text())),
        Tmp::Shared => ground.writes.extend(TEMPORARY.map(PathBuf::from)),
    }
    // Nobody else writes there while it goes by what lies there: git and gh take their settings from a repository, and from another one as
    // soon as somebody makes one; and what it signs in with is what a link may lead to.
    if !permit.goes_by().is_empty() && filesystem.workspace == Access::Write {
        ground.rests.extend(ground.writes.iter().cloned().map(Rest::Whole));
    }
    // Nobody else may write where a run rests on something that was asked about, has a network, and is waited for.
    let mut places = if internet && !is_beside { permit.rests_on() } else { Vec::new() };
    places.extend_from_slice(permit.goes_by());
    if !places.is_empty() {
        places.extend([spec.cwd.clone(), spec.workspace.clone()]);
        let mut folders: BTreeMap<PathBuf, Option<PathBuf>> = BTreeMap::new();
        for place in places {
            let folder = if place.is_dir() { place.clone() } else { place.parent().unwrap_or(&place).to_owned() };
            // Whatever else lies in the project may be used by what the answer is about.
            let project = folders.entry(folder).or_insert_with_key(|folder| {
                let project = sandbox::around(folder);
                ground.rests.extend(git::repository_of_worktree(&project).map(Rest::Whole));
                sandbox::is_project(&project, &spec.gate).then_some(project)
            });
            ground.rests.push(match project {
                Some(project) => Rest::Whole(project.clone()),
                None => Rest::Name(place),
            });
        }
        ground.rests.sort();
        ground.rests.dedup();
    }
    ground
}

/// Waits until nothing is in the way of a run, for as long as what it gives back lives.
fn turn(spec: &RunSpec, ground: &Ground, stop: &Stop) -> Result<Option<Turn>, RunError> {
    let alone = ground.wants_to_be_alone();
    let io = |source| RunError::Io { what: "say to other runs that this one goes on", source };
    let Some(state) = &spec.state else {
        let source = io::Error::other("there is no folder for it: set HOME, or name one with --state DIR");
        return if alone { Err(io(source)) } else { Ok(None) };
    };
    match Turn::wait_for(state, ground, stop, MOST_WAIT) {
        Ok(Some(turn)) => Ok(Some(turn)),
        Ok(None) => Err(RunError::NoTurn { alone }),
        // Where nobody can write, nobody who has to be alone starts.
        Err(source)
            if !alone
                && matches!(source.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied) =>
        {
            Ok(None)
        }
        Err(source) => Err(io(source)),
    }
}

/// The path, or the nearest folder around it that is short enough for a mount and lies in the workspace.
fn short_enough(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let fits = |path: &&Path| path.as_os_str().len() <= LONGEST_MOUNT;
    path.ancestors().find(fits).filter(|path| path.starts_with(workspace) && *path != workspace).map(Path::to_owned)
}

/// True for a command whose text has git bring files of commits into the working tree, and neither makes a repository nor adds
/// anything to one.
fn checks_out(command: &CommandLine) -> bool {
    let found = classify(command, &Surroundings::default());
    let makes = ["add", "update-index", "init", "commit", "commit-tree", "read-tree", "hash-object", "apply", "mktree"];
    found.understood
        && found.effects.git.iter().any(|name| programs::checks_out(name))
        && !found.effects.git.iter().any(|name| makes.contains(&name.as_str()))
}

/// Whether the command gets internet. A provably local one never does: a mistake in the proof then fails closed. One with a way out of its
/// own has that instead.
fn internet(permit: &Permit, spec: &RunSpec) -> Result<bool, RunError> {
    let access = spec.preset.network.access;
    if spec.internet == Internet::Requested && access == NetworkAccess::Never {
        return Err(RunError::NoNetwork);
    }
    Ok(access.gives(spec.internet) && permit.reach() == Reach::Preset && permit.way_out().is_none())
}

/// What exists for a run that sees only listed things.
fn listed(preset: &Preset, places: &Places, internet: bool) -> Result<Option<Listed>, RunError> {
    if preset.filesystem.machine == Machine::All {
        return Ok(None);
    }
    let shell = argv(preset.shell.program, "").swap_remove(0);
    let listed = Listed::of(&shell, &preset.filesystem.programs, internet).map_err(RunError::Program)?;
    // What is given cannot be executed, and would take programs below it along.
    for root in places.given.iter().chain(&places.write).map(|(path, ..)| path) {
        if listed.names().any(|name| Path::new(name).starts_with(root)) {
            return Err(RunError::HoldsPrograms(root.into()));
        }
    }
    Ok(Some(listed))
}

fn argv(shell: ShellProgram, command: &str) -> Vec<String> {
    let find = |places: &[&str]| {
        let found = places.iter().find(|place| Path::new(place).exists()).or(places.first());
        found.map_or_else(String::new, |place| (*place).to_owned())
    };
    let mut argv = match shell {
        ShellProgram::Bash => {
            let places = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"];
            vec![find(&places), "--noprofile".to_owned(), "--norc".to_owned()]
        }
        ShellProgram::Sh => vec![find(&["/bin/sh", "/usr/bin/sh"])],
    };
    // Behind the options: a text that begins with `-` is none.
    argv.extend(["-c", "--", command].map(str::to_owned));
    argv
}

/// Copies of the scripts that the command was allowed with. Without a place for them there are none, but they are compared.
fn bound_scripts(permit: &Permit, spec: &RunSpec, run_as: RunAs, alone: bool) -> Result<BoundScripts, RunError> {
    // What only the command itself can have changed is nobody's exchange.
    let held: Vec<Allowed> =
        permit.scripts().iter().filter(|allowed| !alone || allowed.hold != Hold::UnlessAlone).cloned().collect();
    let parent = (!held.is_empty()).then(|| hooks_parent(spec, run_as).ok()).flatten();
    let made = BoundScripts::copy(&held, &spec.cwd, parent.as_deref());
    let io = |source| RunError::Io { what: "copy what was allowed", source };
    made.map_err(io)?.map_err(|changed| RunError::Changed(changed.0))
}

/// Where hooks are written: in `/tmp`, which is sticky, what is root's is safe from the workspace's owner; but what is
/// the caller's own is safe from other commands only where these do not write.
fn hooks_parent(spec: &RunSpec, run_as: RunAs) -> io::Result<PathBuf> {
    if matches!(run_as, RunAs::Owner { .. }) {
        return Ok(PathBuf::from("/tmp"));
    }
    let state = spec.state.as_ref().ok_or_else(|| io::Error::other("there is no HOME to keep them in"))?;
    Jobs::at(state.clone()).own_folder()?;
    let folder = state.join("hooks");
    match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(folder),
    }
}

/// The workspace, and every other folder that is written: each is somebody's project.
fn projects<'p>(preset: &'p Preset, workspace: &'p Path) -> impl Iterator<Item = &'p Path> {
    std::iter::once(workspace).chain(preset.filesystem.write.iter().map(PathBuf::as_path))
}

/// Names in a project through which something would run later.
fn protected(preset: &Preset) -> impl Iterator<Item = String> {
    later::in_projects().map(str::to_owned).chain(preset.filesystem.protect.iter().cloned())
}

/// True for a folder of PATH that a package manager keeps: what it installs has to be written there, and is told of. A mark beside it
/// that any run can make is none: what makes a virtual environment stands in the folder itself, which no run writes before that.
fn is_a_managers(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    folder.ends_with("node_modules/.bin")
        || has("activate") && has("python") && folder.parent().is_some_and(|above| above.join("pyvenv.cfg").is_file())
}

/// Folders of PATH in a project: what is written there is what a person's next command runs.
fn program_folders(project: &Path, cwd: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let real = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    // A relative one is another in each folder: those where a person works most.
    let at = |folder: PathBuf| [project.join(&folder), cwd.join(&folder)];
    let mut all: Vec<PathBuf> = std::env::split_paths(&path)
        .flat_map(at)
        .flat_map(|folder| [real_way(&folder), folder])
        .filter(|folder| folder.starts_with(&real) && *folder != real)
        .collect();
    all.sort();
    all.dedup();
    all
}

/// A path without links, as far as it is there: what is missing of it is where it would be made.
fn real_way(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|folder| Some((folder, std::fs::canonicalize(folder).ok()?)));
    match there {
        Some((folder, real)) => match path.strip_prefix(folder) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

/// The home folders of everybody who may be meant.
fn homes(run_as: RunAs) -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("HOME").map(PathBuf::from).into_iter().collect();
    homes.extend(run_as.account().map(|(_, home)| PathBuf::from(home)));
    homes.sort();
    homes.dedup();
    homes
}

/// What is hidden, with the home folders of everybody who may be meant.
fn hidden(preset: &Preset, (workspace, cwd): (&Path, &Path), gate: &[PathBuf], run_as: RunAs) -> Hidden {
    let homes = homes(run_as);
    let mut hide: Vec<PathBuf> = gate.to_vec();
    for path in preset.filesystem.hide.iter().cloned().chain(secrets::places()) {
        match path.strip_prefix("~/") {
            Some(rest) => hide.extend(homes.iter().map(|home| home.join(rest))),
            None => hide.push(PathBuf::from(path)),
        }
    }
    let (mut protect, mut keep_writable) = (Vec::new(), Vec::new());
    for project in projects(preset, workspace) {
        let git = if git::is_repository(project) { project.to_owned() } else { project.join(".git") };
        protect.extend(protected(preset).map(|name| project.join(name)));
        let folders = program_folders(project, cwd).into_iter();
        protect.extend(folders.filter(|folder| folder.exists() && !is_a_managers(folder)));
        if preset.git.repository == Access::Write && git.is_dir() {
            // A root is held where it is already.
            keep_writable.extend((git != project).then(|| git.clone()));
            protect.extend(["config", "hooks", "config.worktree", "commondir"].map(|name| git.join(name)));
        } else {
            protect.push(git);
        }
    }
    Hidden { hide, protect, keep_writable, own: Vec::new() }
}

/// Processes that the caller has already: the kernel's limit counts them too.
fn processes_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::geteuid().as_raw();
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process =
        |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
    let owned =
        all.filter(|entry| is_process(&entry.file_name()) && entry.metadata().is_ok_and(|found| found.uid() == own));
    // Threads count as well: what a process has of them is not looked up.
    owned.count() as u64 * 16
}

/// What must hold: what the preset requires; of a run with a way out also that it reaches nobody else, and of one that nobody has allowed all
/// that the cage requires.
fn require(permit: &Permit, preset: &Preset) -> Result<Vec<Guarantee>, RunError> {
    const REACHES_NOBODY: [Guarantee; 4] =
        [Guarantee::Network, Guarantee::SocketFamilies, Guarantee::UnixSockets, Guarantee::AbstractSockets];
    let mut all = preset.sandbox.require.clone();
    match permit.reach() {
        _ if permit.way_out().is_none() => {}
        Reach::Cage => all.extend(Presets::cage()?.sandbox.require),
        Reach::Local | Reach::Preset => all.extend(REACHES_NOBODY),
    }
    Ok(all)
}

/// What the preset requires and this backend does not enforce here.
fn missing(backend: BackendName, wanted: &Wanted, require: &[Guarantee]) -> Option<Unavailable> {
    if wanted.way_out && !sandbox::holds_to_way_out(backend) {
        let why = "it cannot hold a run to the hosts that its answer names".to_owned();
        return Some(Unavailable { backend, why, help: sandbox::NAMESPACES });
    }
    let has = sandbox::enforces(backend, wanted);
    let needs_network = |guarantee: Guarantee| guarantee == Guarantee::Network && wanted.internet;
    let lacks: Vec<&str> = require
        .iter()
        .filter(|guarantee| !has.contains(guarantee) && !needs_network(**guarantee))
        .map(|guarantee| guarantee.name())
        .collect();
    (!lacks.is_empty()).then(|| Unavailable {
        backend,
        why: format!("does not enforce {}", lacks.join(", ")),
        help: "use another preset, or change `sandbox.require` in runner.toml",
    })
}

/// A command that is running.
struct Live {
    child: Child,
    inner: UnixStream,
    heard: Vec<u8>,
    outputs: Vec<Stream>,
    started: Instant,
    log: Option<Log>,
    live: Option<Echo>,
    tmp: Option<OwnTmp>,
    /// Where the command connects to get out, until somebody takes what comes there; and, where others could connect there as well, what
    /// tells from which ports its connections come.
    listener: Option<OwnedFd>,
    ports: Option<OwnedFd>,
    /// Who does, until it is dropped.
    passes_on: Option<tokio::runtime::Runtime>,
}

struct Stream {
    pipe: Option<OwnedFd>,
    capture: Capture,
}

/// Starts a nest, and waits until the shell runs.
fn start(
    backend: BackendName,
    nest: Nest,
    groups: &Groups,
    spec: &RunSpec,
    way_out: Option<&Way>,
) -> Result<Live, Unavailable> {
    let unavailable = |why: String, help| Unavailable { backend, why, help };
    let io_failed =
        |what: &str, error: io::Error| unavailable(format!("cannot {what}: {error}"), "free some resources");
    let Nest { mut command, plan, tmp, .. } = nest;
    let (own_end, inner_end) = UnixStream::pair().map_err(|error| io_failed("make a socket", error))?;
    let limit = limit(spec);
    let mut outputs = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..if spec.preset.output.streams == Streams::Separate { 2 } else { 1 } {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| io_failed("make a pipe", error.into()))?;
        outputs.push(Stream { pipe: Some(read), capture: limit.capture() });
        ends.push(write);
    }
    let Some(stderr) = ends.pop() else { return Err(unavailable("no pipe".to_owned(), "")) };
    let stdout = match ends.pop() {
        Some(end) => end,
        None => stderr.try_clone().map_err(|error| io_failed("copy a pipe", error))?,
    };
    command.stdin(Stdio::from(OwnedFd::from(inner_end))).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    let doors = groups.doors().map_err(|error| io_failed("open the control groups", error))?;
    BeforeExec { groups: doors, ..BeforeExec::default() }.attach(&mut command);
    let child = sandbox::spawn(command).map_err(|error| io_failed("start it", error))?;
    let mut live = Live {
        child,
        inner: own_end,
        heard: Vec::new(),
        outputs,
        started: Instant::now(),
        log: spec.log.clone(),
        live: spec.live.then(Echo::of_this_program),
        tmp,
        listener: None,
        ports: None,
        passes_on: None,
    };
    let mut message = serde_json::to_vec(&plan).unwrap_or_default();
    let length = (message.len() as u64).to_be_bytes();
    message.splice(0..0, length);
    match live.greet(&message).and_then(|()| live.pass_on(way_out)) {
        Ok(()) => Ok(live),
        Err(why) => {
            let said = live.give_up();
            let why = if said.is_empty() { why } else { format!("{why} ({said})") };
            let may_not = backend == BackendName::Bwrap && !sandbox::works(backend);
            let help = if may_not { sandbox::NAMESPACES } else { "`bashgate-run doctor` shows what works here" };
            Err(unavailable(why, help))
        }
    }
}

fn limit(spec: &RunSpec) -> Limit {
    let output = &spec.preset.output;
    Limit { shape: output.limit, binary: output.binary, control: output.control }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(time.subsec_nanos()) }
}

impl Live {
    /// Sends the plan and waits for the shell to run.
    fn greet(&mut self, message: &[u8]) -> Result<(), String> {
        let until = Instant::now() + STARTING;
        self.inner.set_nonblocking(true).map_err(|error| error.to_string())?;
        let mut sent = 0;
        loop {
            let rest = message.get(sent..).unwrap_or_default();
            let wish = if rest.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("the sandbox does not start".to_owned());
            }
            let _ = poll(&mut [PollFd::new(&self.inner, wish)], Some(&timespec(left)));
            if !rest.is_empty() {
                match self.inner.write(rest) {
                    Ok(written) => sent += written,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return Err("the sandbox ended before the shell ran".to_owned()),
                }
            }
            match self.hear() {
                Heard::Nothing => {}
                Heard::Report(Report::Started) => {
                    self.started = Instant::now();
                    return Ok(());
                }
                Heard::Report(Report::Failed(why)) => return Err(why),
                Heard::Report(Report::Ended(_)) | Heard::Gone => {
                    return Err("the sandbox ended before the shell ran".to_owned());
                }
            }
        }
    }

    /// Ends what did not come to life, and says what it printed.
    fn give_up(&mut self) -> String {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut said = String::new();
        for stream in &mut self.outputs {
            if let Some(pipe) = stream.pipe.take() {
                // All writers are gone with the child; what they printed is a line or two.
                let mut bytes = Vec::new();
                let _ = std::fs::File::from(pipe).take(4096).read_to_end(&mut bytes);
                said.push_str(String::from_utf8_lossy(&bytes).trim());
            }
        }
        said
    }

    /// Takes from now on what the command says to its way out.
    fn pass_on(&mut self, way_out: Option<&Way>) -> Result<(), String> {
        let Some(way) = way_out else { return Ok(()) };
        // Where nobody could hold the command to it there is none.
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let passes_on = way
            .serve(listener.into(), self.ports.take())
            .map_err(|error| format!("cannot serve the way out: {error}"))?;
        self.passes_on = Some(passes_on);
        Ok(())
    }

    fn hear(&mut self) -> Heard {
        let mut bytes = [0; 4096];
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return serde_json::from_slice(&line).map_or(Heard::Gone, Heard::Report);
            }
            let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
            let mut control = rustix::net::RecvAncillaryBuffer::new(&mut space);
            let flags = rustix::net::RecvFlags::CMSG_CLOEXEC;
            let read = rustix::net::recvmsg(&self.inner, &mut [io::IoSliceMut::new(&mut bytes)], &mut control, flags);
            for message in control.drain() {
                if let rustix::net::RecvAncillaryMessage::ScmRights(mut descriptors) = message {
                    self.listener = descriptors.next().or(self.listener.take());
                    self.ports = descriptors.next().or(self.ports.take());
                }
            }
            match read.map(|read| read.bytes).map_err(io::Error::from) {
                Ok(count) if count > 0 && self.heard.len() < 65_536 => self.heard.extend(bytes.iter().take(count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Nothing,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The end, an error, or more than any report is long.
                Ok(_) | Err(_) => return Heard::Gone,
            }
        }
    }

    fn order(&mut self, order: u8) {
        // When nobody is there any more, the end is near anyway.
        let _ = self.inner.write(&[order]);
    }

    /// Until the command and everything that it started has ended.
    fn listen(mut self, timeout: Duration, grace: Duration, stop: &Stop, groups: &Groups) -> Finished {
        let mut phase = Phase::Running { until: self.started + timeout };
        let mut why = None;
        let mut ended: Option<Ended> = None;
        let mut buffer = vec![0; 65_536];
        loop {
            let now = Instant::now();
            let deadline = phase.deadline();
            if now >= deadline {
                phase = match phase {
                    Phase::Running { .. } => {
                        why.get_or_insert(Ending::TimedOut);
                        self.begin_end(grace)
                    }
                    Phase::Ending { .. } => {
                        self.order(inner::KILL);
                        Phase::Killing { until: now + KILLING }
                    }
                    Phase::Killing { .. } => {
                        let _ = self.child.kill();
                        Phase::Draining { until: now + DRAINING }
                    }
                    Phase::Draining { .. } => break,
                };
                continue;
            }
            if ended.is_some() && self.outputs.iter().all(|stream| stream.pipe.is_none()) {
                break;
            }
            let is_draining = matches!(phase, Phase::Draining { .. });
            let (heard, stopped, ready) = self.wait(deadline - now, stop, !is_draining, why.is_none());
            // A reader may take its time for what is there already, as long as the command's own time.
            let until = if why.is_none() { deadline.max(self.started + timeout) } else { deadline };
            let mut came = false;
            for at in ready {
                came |= self.read_output(at, &mut buffer, until, stop);
            }
            if let (true, Phase::Draining { .. }) = (came, phase) {
                phase = Phase::Draining { until: Instant::now() + DRAINING };
            }
            if stopped && why.is_none() {
                why = Some(Ending::Stopped);
                phase = self.begin_end(grace);
            }
            if heard {
                match self.hear() {
                    Heard::Report(Report::Ended(how)) => {
                        ended = Some(how);
                        phase = Phase::Draining { until: Instant::now() + DRAINING };
                    }
                    Heard::Gone => phase = Phase::Draining { until: Instant::now() + DRAINING },
                    Heard::Nothing | Heard::Report(_) => {}
                }
            }
        }
        let duration = self.started.elapsed();
        self.reap();
        let left = groups.end();
        if let Some(tmp) = &mut self.tmp {
            tmp.hand_out();
        }
        for stream in &mut self.outputs {
            stream.capture.finish();
        }
        let ending = match (why, ended) {
            (Some(why), _) => why,
            (None, ended) if groups.ran_out_of_memory() && ended.is_none_or(|ended| ended.code != Some(0)) => {
                Ending::OutOfMemory
            }
            (None, None) => Ending::Lost,
            (None, Some(Ended { signal: Some(signal), .. })) => Ending::Signalled(signal),
            (None, Some(Ended { code, .. })) => Ending::Exited(code.unwrap_or(-1)),
        };
        Finished {
            ending,
            ended,
            left,
            outputs: self.outputs.into_iter().map(|stream| stream.capture).collect(),
            duration,
            _tmp: self.tmp,
        }
    }

    fn begin_end(&mut self, grace: Duration) -> Phase {
        if grace.is_zero() {
            self.order(inner::KILL);
            return Phase::Killing { until: Instant::now() + KILLING };
        }
        self.order(inner::TERM);
        Phase::Ending { until: Instant::now() + grace }
    }

    /// Waits for something to happen: a report, an order to stop, output on these streams.
    fn wait(&self, time: Duration, stop: &Stop, listen: bool, stoppable: bool) -> (bool, bool, Vec<usize>) {
        let mut fds = Vec::with_capacity(4);
        let open: Vec<(usize, &OwnedFd)> =
            self.outputs.iter().enumerate().filter_map(|(at, stream)| Some((at, stream.pipe.as_ref()?))).collect();
        fds.extend(open.iter().map(|(_, pipe)| PollFd::new(*pipe, PollFlags::IN)));
        if listen {
            fds.push(PollFd::new(&self.inner, PollFlags::IN));
        }
        if stoppable {
            fds.push(PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN));
        }
        match poll(&mut fds, Some(&timespec(time))) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return (false, false, Vec::new()),
            // Who cannot listen cannot watch over a command: it is stopped, and time goes on.
            Err(_) => {
                std::thread::sleep(time.min(Duration::from_millis(20)));
                return (false, stoppable, Vec::new());
            }
        }
        let mut happened = fds.iter().map(|fd| !fd.revents().is_empty());
        let ready: Vec<usize> =
            open.iter().filter_map(|(at, _)| happened.next().unwrap_or(false).then_some(*at)).collect();
        let heard = listen && happened.next().unwrap_or(false);
        let stopped = stoppable && happened.next().unwrap_or(false);
        (heard, stopped, ready)
    }

    /// True when there was some.
    fn read_output(&mut self, at: usize, buffer: &mut [u8], until: Instant, stop: &Stop) -> bool {
        let Some(stream) = self.outputs.get_mut(at) else { return false };
        let Some(pipe) = &stream.pipe else { return false };
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => stream.pipe = None,
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                stream.capture.push(bytes);
                if let Some(log) = &mut self.log {
                    log.add(bytes);
                }
                if let Some(echo) = &mut self.live {
                    echo.pass_on(at == 1, bytes, until, stop);
                }
                return true;
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => stream.pipe = None,
        }
        false
    }

    /// The outermost process of the sandbox ends with its inside; if not, it is ended.
    fn reap(&mut self) {
        let until = Instant::now() + Duration::from_secs(2);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_micros(300));
        }
    }
}

enum Heard {
    Nothing,
    Report(Report),
    Gone,
}

#[derive(Clone, Copy)]
enum Phase {
    Running { until: Instant },
    Ending { until: Instant },
    Killing { until: Instant },
    Draining { until: Instant },
}

impl Phase {
    const fn deadline(self) -> Instant {
        match self {
            Self::Running { until } | Self::Ending { until } | Self::Killing { until } | Self::Draining { until } => {
                until
            }
        }
    }
}

struct Finished {
    ending: Ending,
    ended: Option<Ended>,
    /// Processes in the control groups that could not be killed; `None` where there are none to look into.
    left: Option<usize>,
    outputs: Vec<Capture>,
    duration: Duration,
    /// Goes when somebody has looked at what the run left: to remove it may fail, or take long.
    _tmp: Option<OwnTmp>,
}

impl Finished {
    fn outcome(
        self,
        permit: Permit,
        spec: &RunSpec,
        timeout: Duration,
        sandbox: Sandboxed,
        (violations, looked): (Vec<Violation>, [Duration; 2]),
    ) -> Outcome {
        let limit = limit(spec);
        let mut shown = self.outputs.iter().map(|capture| limit.show(capture));
        let nothing = || Text { text: String::new(), truncated: false, bytes: 0, chars: 0, binary: false };
        let stdout = shown.next().unwrap_or_else(nothing);
        let stderr = shown.next().unwrap_or_else(nothing);
        let killed = matches!(self.ending, Ending::TimedOut | Ending::Stopped | Ending::OutOfMemory);
        let (command, refused) = permit.used_up();
        let mut hints = match self.ending {
            Ending::Exited(0) => Vec::new(),
            _ => crate::outcome::hints(&format!("{}\n{}", stdout.text, stderr.text), &spec.preset, &spec.workspace),
        };
        hints.extend(refused.into_iter().map(|why| format!("a connection was refused: {why}")));
        let leftovers = self.ended.map_or(0, |ended| ended.leftovers);
        Outcome {
            command,
            ending: self.ending,
            code: self.ended.and_then(|ended| ended.code),
            stdout,
            stderr,
            streams: spec.preset.output.streams,
            duration: self.duration,
            timeout,
            looked,
            sandbox,
            killed_leftovers: if killed { 0 } else { leftovers },
            // Without a word from the supervisor only control groups know.
            survivors: match (self.left, self.ended) {
                (Some(left), _) => Some(u32::try_from(left).unwrap_or(u32::MAX)),
                (None, ended) => ended.map(|ended| ended.survivors),
            },
            violations,
            host_not_told: false,
            hints,
        }
    }
}
