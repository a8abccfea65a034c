//! Landlock and seccomp without namespaces: for containers whose profile refuses those.
//!
//! Landlock grants, it cannot take away: what lies below a granted folder is granted. So everything around a hidden
//! path is granted instead of the folder above it.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use bashgate_shared::classify::paths;

use super::{BackendName, Guarantee, Nest, OwnTmp, Unavailable, Wanted};
use crate::inner::{Plan, Reap, landlock};
use crate::presets::Tmp;
use crate::user::RunAs;

/// What every program may use. No terminal: the caller's is among them.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Semaphores and shared memory of programs with several processes.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";
/// Most folders that are listed to go around hidden paths.
const MOST_ENTRIES: usize = 20_000;

pub(super) fn enforces(wanted: &Wanted, version: u32) -> BTreeSet<Guarantee> {
    use Guarantee::{
        AbstractSockets, Descriptors, GateModes, KernelSurface, KillTree, Network, Privileges, Secrets, Signals,
        SocketFamilies, Terminal, UnixSockets, Writes,
    };
    let mut set: BTreeSet<Guarantee> =
        [SocketFamilies, UnixSockets, AbstractSockets, Descriptors, Privileges, Terminal, KernelSurface].into();
    if !wanted.internet {
        set.insert(Network);
    }
    if wanted.gate_is_others {
        set.insert(GateModes);
    }
    if version >= landlock::COVERS_TRUNCATION {
        set.extend([Writes, Secrets]);
    }
    if version >= landlock::COVERS_SIGNALS {
        // Without it a command could kill its own supervisor, and so leave processes behind.
        set.extend([Signals, KillTree]);
    }
    set
}

pub(super) fn prepare(wanted: &Wanted, run_as: RunAs) -> Result<Nest, Unavailable> {
    let unavailable = |why: String, help| Unavailable { backend: BackendName::Landlock, why, help };
    if landlock::version() == 0 {
        return Err(unavailable(
            "the kernel has no Landlock, or the container refuses it".to_owned(),
            "use a kernel of at least 6.12 with `landlock` in its `lsm=` list",
        ));
    }
    let mut plan = super::plan(wanted, Reap::Descendants, wanted.unix);
    let no_folder = |why: String| unavailable(why, "work in a folder that holds no secrets of its own");
    let tmp = files(wanted, run_as, &mut plan).map_err(no_folder)?;
    let command = super::inner_command(wanted);
    Ok(Nest { command, plan, enforces: super::enforces(BackendName::Landlock, wanted), tmp })
}

/// Adds to the plan the grants around everything that is hidden, and for temporary files: a folder of the run's own, which lives as
/// long as what is returned, or the machine's.
pub(super) fn files(wanted: &Wanted, run_as: RunAs, plan: &mut Plan) -> Result<Option<OwnTmp>, String> {
    let places = &wanted.places;
    if let Some(inside) = places.exposed.first() {
        return Err(format!("{inside} must stay hidden but lies where may be written"));
    }
    if let Some(own) = places.own.first() {
        return Err(format!("{own} must not be written but lies in a folder that may be"));
    }
    plan.expect = places.expected();
    // Devices are named one by one: among the others are disks and everybody's terminals.
    let mut around: Vec<String> = places.never_read.iter().cloned().chain(["/dev".to_owned()]).collect();
    if wanted.tmp == Tmp::Named {
        around.extend(paths::TEMPORARY.map(str::to_owned));
    }
    let mut files = landlock::Files { list: vec!["/".to_owned()], ..landlock::Files::default() };
    files.read = all_but(&around)?;
    files.read.extend(places.read.iter().cloned());
    files.write = places.write.iter().map(|(root, ..)| root.clone()).collect();
    files.devices = DEVICES.map(str::to_owned).to_vec();
    files.write.push(SHARED_MEMORY.to_owned());
    let own = if wanted.tmp == Tmp::Shared && wanted.caches.is_empty() {
        None
    } else {
        let own = OwnTmp::beside(run_as, &wanted.lent);
        Some(own.map_err(|error| format!("cannot make a temporary folder: {error}"))?)
    };
    for (folder, _) in own.iter().flat_map(OwnTmp::mounts) {
        let text = folder.to_string_lossy().into_owned();
        if wanted.tmp != Tmp::Shared {
            plan.env.retain(|(name, _)| name != "TMPDIR");
            plan.env.push(("TMPDIR".to_owned(), text.clone()));
        }
        plan.env.extend(super::caches_in(&text, wanted));
        files.write.push(text);
    }
    match wanted.tmp {
        Tmp::Shared => files.write.extend(paths::TEMPORARY.map(str::to_owned)),
        Tmp::Private => {}
        Tmp::Named => {
            // What the run works with is to be read, also where it lies among temporary files.
            let work = [&places.workspace, &places.cwd].map(String::as_str);
            let is_theirs = |path: &&str| paths::TEMPORARY.iter().any(|folder| paths::is_within(path, folder));
            files.read.extend(all_below(work.into_iter().filter(is_theirs), &places.never_read)?);
            let lent = wanted.lent.folders.iter().chain(&wanted.lent.files);
            files.write.extend(lent.clone().map(|one| one.path.clone()));
            plan.expect.extend(lent.cloned());
            let made = own.iter().flat_map(OwnTmp::made).filter_map(Path::to_str);
            files.write.extend(made.map(str::to_owned));
        }
    }
    plan.files = Some(files);
    Ok(own)
}

/// Everything there is but for these paths, which need not exist: a name that appears later is then in no grant.
pub(super) fn all_but(paths: &[String]) -> Result<Vec<String>, String> {
    all_below(["/"], paths)
}

/// The same below some folders.
pub(super) fn all_below<'r>(roots: impl IntoIterator<Item = &'r str>, paths: &[String]) -> Result<Vec<String>, String> {
    let hide: HashSet<&str> = paths.iter().map(String::as_str).collect();
    let above: HashSet<&Path> = paths.iter().flat_map(|path| Path::new(path).ancestors()).collect();
    let above: HashSet<&str> = above.into_iter().filter_map(Path::to_str).collect();
    let mut around = Around { hide, above, read: Vec::new(), listed: 0 };
    roots.into_iter().try_for_each(|root| around.grant(root))?;
    Ok(around.read)
}

/// What is granted around hidden paths.
struct Around<'p> {
    hide: HashSet<&'p str>,
    /// The hidden paths and all folders above them.
    above: HashSet<&'p str>,
    read: Vec<String>,
    listed: usize,
}

impl Around<'_> {
    /// Grants a folder, or what is in it where something below it is hidden.
    fn grant(&mut self, folder: &str) -> Result<(), String> {
        if self.hide.contains(folder) {
            return Ok(());
        }
        if !self.above.contains(folder) {
            self.read.push(folder.to_owned());
            return Ok(());
        }
        // What cannot be listed gets no grant: less can be read, never more.
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            self.listed += 1;
            if self.listed > MOST_ENTRIES {
                return Err(format!("more than {MOST_ENTRIES} names around hidden paths"));
            }
            // What a link leads to is granted by its own place. A name that is no text gets no grant either.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if let Some(path) = entry.path().to_str().filter(|_| !is_link) {
                self.grant(path)?;
            }
        }
        Ok(())
    }
}
