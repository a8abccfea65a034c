//! Bubblewrap: namespaces for mounts, processes, network and the rest, without a privilege.
//!
//! The order of mounts decides what is seen. First the machine, read-only; then empty folders over what is nobody's
//! business; then what may be written; last what must stay hidden or as it is, the shortest path first.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use bashgate_shared::classify::paths;

use super::{BackendName, Guarantee, Nest, OwnTmp, Unavailable, Wanted};
use crate::inner::{self, Calls, Expected, Mounted, Reap, landlock};
use crate::presets::Tmp;
use crate::user::RunAs;

const PROGRAMS: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];
/// Where this program lies inside.
const INNER: &str = "/run/bashgate-run";

pub(super) fn enforces(wanted: &Wanted) -> BTreeSet<Guarantee> {
    use Guarantee::{
        AbstractSockets, Descriptors, FileModes, GateModes, GitMetadata, KernelSurface, KillTree, Network, PrivateTmp,
        Privileges, ProcessList, Secrets, Signals, SocketFamilies, Terminal, UnixSockets, Writes,
    };
    let mut set: BTreeSet<Guarantee> = [
        Writes,
        FileModes,
        GateModes,
        Secrets,
        SocketFamilies,
        Signals,
        ProcessList,
        KillTree,
        Descriptors,
        Privileges,
        Terminal,
        KernelSurface,
        UnixSockets,
        AbstractSockets,
    ]
    .into();
    if wanted.places.pinned.is_empty() {
        set.insert(GitMetadata);
    }
    if !wanted.internet {
        set.insert(Network);
    }
    if wanted.tmp == Tmp::Private {
        set.insert(PrivateTmp);
    }
    set
}

/// True where a sandbox of nothing but the machine starts: then what keeps a run's own from starting is what that run asks for.
pub(super) fn works() -> bool {
    let Some(program) = PROGRAMS.iter().find(|program| Path::new(program).exists()) else { return false };
    let mut command = Command::new(program);
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/bin/true"]).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

pub(super) fn prepare(wanted: &Wanted, run_as: RunAs) -> Result<Nest, Unavailable> {
    let Some(program) = PROGRAMS.iter().find(|program| Path::new(program).exists()) else {
        return Err(Unavailable {
            backend: BackendName::Bwrap,
            why: "bubblewrap is not installed".to_owned(),
            help: "install it with: apt-get install bubblewrap",
        });
    };
    let mut command = Command::new(program);
    let mut arg = |words: &[&str]| {
        command.args(words);
    };
    arg(&["--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]);
    if wanted.internet {
        arg(&["--share-net"]);
    }
    arg(&["--hostname", "bashgate"]);
    let places = &wanted.places;
    // Empty folders cover what lies in them; what the run works with is to be seen all the same.
    let temporary = if wanted.tmp == Tmp::Shared { &[][..] } else { &paths::TEMPORARY };
    let is_covered = |path: &str| ["/run"].iter().chain(temporary).any(|over| paths::is_within(path, over));
    let given = || places.given.iter().map(|(path, ..)| path);
    if let Some(listed) = &wanted.listed {
        listed.links.iter().for_each(|(name, target)| arg(&["--symlink", target, name]));
        given().filter(|path| !is_covered(path)).for_each(|path| arg(&["--ro-bind", path, path]));
        listed.data.iter().chain(&listed.programs).for_each(|(from, at)| arg(&["--ro-bind", from, at]));
        // To forbid that what is written is executed; given up before the shell starts. For a folder of terminals bubblewrap
        // would go into one more user namespace, where no mount can be changed.
        arg(&["--cap-add", "CAP_SYS_ADMIN", "--tmpfs", "/dev", "--dir", "/dev/shm"]);
        for device in super::landlock::DEVICES {
            arg(&["--dev-bind", device, device]);
        }
        for (name, target) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
            arg(&["--symlink", &format!("/proc/self/fd{target}"), &format!("/dev/{name}")]);
        }
    } else {
        arg(&["--ro-bind", "/", "/", "--dev", "/dev"]);
    }
    let shm = (wanted.tmp_mib.max(64) << 20).to_string();
    arg(&["--size", &shm, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
    arg(&["--proc", "/proc", "--remount-ro", "/proc", "--tmpfs", "/run"]);
    let size = (wanted.tmp_mib.max(1) << 20).to_string();
    let mut own_tmp = None;
    let mut lent: Vec<Expected> = Vec::new();
    let there = || paths::TEMPORARY.iter().filter(|folder| Path::new(folder).is_dir());
    match wanted.tmp {
        Tmp::Private => there().for_each(|folder| arg(&["--size", &size, "--tmpfs", folder])),
        Tmp::Shared => there().for_each(|folder| arg(&["--bind", folder, folder])),
        Tmp::Named => {
            let own = OwnTmp::instead(run_as, &wanted.lent).map_err(|error| Unavailable {
                backend: BackendName::Bwrap,
                why: format!("cannot make a temporary folder: {error}"),
                help: "make room in /tmp",
            })?;
            own.mounts().for_each(|(folder, over)| arg(&["--bind", &folder.to_string_lossy(), over]));
            let files = wanted.lent.files.iter().filter(|file| !own.has(file));
            lent.extend(wanted.lent.folders.iter().chain(files).cloned());
            for one in &lent {
                arg(&["--bind", &one.path, &one.path]);
            }
            own_tmp = Some(own);
        }
    }
    if wanted.internet
        && let Some(resolver) = resolver_below_run()
    {
        arg(&["--ro-bind", &resolver, &resolver]);
    }
    let work = if wanted.listed.is_none() { vec![&places.workspace, &places.cwd] } else { Vec::new() };
    let shown: Vec<&String> = work.into_iter().chain(&places.read).collect();
    for read in shown.iter().copied().chain(given()).filter(|path| is_covered(path)) {
        arg(&["--ro-bind", read, read]);
    }
    for (root, ..) in &places.write {
        arg(&["--bind", root, root]);
    }
    let own = wanted.own.to_string_lossy();
    arg(&["--ro-bind", &own, INNER]);
    for pinned in &places.pinned {
        arg(&["--bind", pinned, pinned]);
    }
    for path in &places.protect {
        arg(&["--ro-bind", path, path]);
    }
    let is_shown = |path: &str| {
        let roots = places.write.iter().map(|(root, ..)| root).chain(given());
        let is_there = wanted.listed.is_none() && !is_covered(path);
        is_there || shown.iter().copied().chain(roots).any(|root| paths::is_within(path, root))
    };
    for (copy, path) in wanted.scripts.iter().filter(|(_, path)| is_shown(path)) {
        arg(&["--ro-bind", copy, path]);
    }
    let covered: Vec<String> =
        places.hide.iter().filter(|path| is_shown(path) && run_as.can_reach(Path::new(path))).cloned().collect();
    for path in &covered {
        if Path::new(path).is_dir() {
            arg(&["--tmpfs", path]);
            // What lies in it and is to be seen all the same.
            for read in places.read.iter().filter(|read| paths::is_within(read, path)) {
                arg(&["--ro-bind", read, read]);
            }
            arg(&["--remount-ro", path]);
        } else {
            arg(&["--ro-bind", "/dev/null", path]);
        }
    }
    if wanted.listed.is_some() {
        arg(&["--remount-ro", "/"]);
    }
    arg(&["--remount-ro", "/run", "--chdir", &places.cwd, "--", INNER, inner::ARGUMENT]);

    let mut plan = super::plan(wanted, Reap::Namespace, wanted.unix);
    // Both are this run's alone.
    let own = if wanted.tmp == Tmp::Shared { super::landlock::SHARED_MEMORY } else { paths::TEMPORARY[0] };
    plan.env.extend(super::caches_in(own, wanted));
    // A cover goes when what is below it is replaced, and what does not exist yet has none: so there is no grant either.
    let no_grants = |why| Unavailable {
        backend: BackendName::Bwrap,
        why,
        help: "hide whole folders, not single files in large ones",
    };
    let read = match &wanted.listed {
        None => super::landlock::all_but(&places.never_read).map_err(no_grants)?,
        Some(_) => Vec::new(),
    };
    let list = vec!["/".to_owned()];
    let covers = covered.clone();
    let mut files = landlock::Files { read, list, covers: covered, ..landlock::Files::default() };
    files.read.extend(shown.iter().map(|path| (*path).clone()));
    files.write = places.write.iter().map(|(root, ..)| root.clone()).collect();
    files.write.extend(paths::TEMPORARY.iter().chain(&["/dev"]).map(|folder| (*folder).to_owned()));
    if let Some(listed) = &wanted.listed {
        let given: Vec<&str> = given().map(String::as_str).collect();
        files.read = listed.programs.iter().map(|(_, at)| at.clone()).collect();
        files.data = super::landlock::all_below(given.iter().copied(), &places.never_read).map_err(no_grants)?;
        files.data.extend(listed.data.iter().map(|(_, at)| at.clone()).chain(["/proc".to_owned()]));
        files.written_is_data = true;
        let writable = places.write.iter().map(|(root, ..)| root.as_str());
        let mounts = given.into_iter().chain(writable).chain(there().copied()).chain(["/dev"]);
        plan.no_exec = mounts.map(str::to_owned).collect();
    }
    // ssh reaches the way out by this program.
    files.read.extend(wanted.way_out.then(|| INNER.to_owned()));
    plan.files = Some(files);
    // The network namespace has nothing but a loopback of its own, which servers in tests need.
    plan.calls = Some(Calls {
        internet: true,
        unix: wanted.unix,
        // There is nothing else in it to connect to.
        only_way_out: false,
        own_network: !wanted.internet,
        ipc: true,
        nameless_files: wanted.listed.is_none(),
    });
    plan.expect = places.expected();
    plan.expect.extend(lent);
    plan.mounts = places.mounted();
    plan.mounts.extend(covers.into_iter().map(|path| Mounted { path, shows: None }));
    Ok(Nest { command, plan, enforces: super::enforces(BackendName::Bwrap, wanted), tmp: own_tmp })
}

/// The resolver's configuration, where it is a link into the hidden `/run`.
fn resolver_below_run() -> Option<String> {
    let real = std::fs::canonicalize("/etc/resolv.conf").ok()?;
    real.starts_with("/run").then(|| real.to_string_lossy().into_owned())
}
