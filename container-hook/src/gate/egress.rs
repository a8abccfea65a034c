//! Which commands can run with a way out to the hosts that they name, see `bashgate-run exec --cage --egress`: instead of being asked about
//! where they only read, and as soon as they are allowed where they write. Here stands what only the container can tell: that the host's
//! way out is there, that the command starts nothing but itself, and where the remotes lie that it names.

use std::collections::BTreeSet;
use std::path::Path;

use bashgate_shared::cage;
use bashgate_shared::classify::{Classification, Decided};
use bashgate_shared::command::{CommandLine, Digest};
use bashgate_shared::mailbox;
use bashgate_shared::programs;
use bashgate_shared::programs::reaches::{Place, Reaches, Target, address_of, is_plain, repository_of};
use bashgate_shared::protocol::{EgressWire, HostWire, MAX_ENDS, MAX_REMOTES, RemoteWire, RequestId};

use super::cage::named;
use super::conditions::{self, ShellSetup};
use super::config::Config;
use super::evidence;
use super::git;

/// A command as it would run with egress, and what the host is told of that.
#[derive(Debug)]
pub struct WithEgress {
    /// The text that runs it so.
    pub form: String,
    /// For the request.
    pub wire: EgressWire,
}

/// The text that an agent runs in the command's place, so that it runs with what goes with an answer.
pub fn form(command: &CommandLine, config: &Config, answer: &RequestId) -> Option<String> {
    cage::egress_form(config.cage_runner.as_ref()?, named(config), answer, command.text())
}

/// A command that runs by this text with a way out, where the container has the host's way out and nothing here has it do more than its text
/// says. The caller has looked whether the asker can run that text at all.
pub fn of(
    form: String,
    command: &CommandLine,
    found: &Classification,
    cwd: &Path,
    config: &Config,
    setup: ShellSetup<'_>,
) -> Option<WithEgress> {
    config.egress.join(mailbox::EGRESS_SOCKET).symlink_metadata().ok()?;
    let wire = wire(&form, command, found, cwd, config, setup)?;
    (wire.remotes.len() <= MAX_REMOTES).then_some(WithEgress { form, wire })
}

/// A folder behind all links, as the wire takes it.
fn real(cwd: &Path) -> Option<String> {
    cwd.canonicalize().ok()?.to_str().map(str::to_owned)
}

/// What a command is when it runs, see [`EgressWire::subject`]: `None` where it would start something, or goes nowhere that is known.
pub fn subject(
    command: &CommandLine,
    found: &Classification,
    cwd: &Path,
    config: &Config,
    setup: ShellSetup<'_>,
) -> Option<Digest> {
    Some(wire("", command, found, cwd, config, setup)?.subject(command.text()))
}

fn wire(
    form: &str,
    command: &CommandLine,
    found: &Classification,
    cwd: &Path,
    config: &Config,
    setup: ShellSetup<'_>,
) -> Option<EgressWire> {
    let remotes = remotes_of(starting_nothing(found, cwd, config, setup)?, cwd)?;
    let files = files(command, found, cwd);
    Some(EgressWire { form: Digest::of(form.as_bytes()).hex(), folder: real(cwd)?, remotes, files })
}

/// The digest of what it would send of files, see [`EgressWire::files`]. Commits are those that are there when it runs: of them a card says no
/// more than where they go.
fn files(command: &CommandLine, found: &Classification, cwd: &Path) -> String {
    if found.effects.reads.is_empty() {
        return String::new();
    }
    // Start-up files are the shell's, and the shell that runs it reads none.
    let setup = ShellSetup { reads_startup_files: false, trusted: &[] };
    let subject = evidence::Subject::new(command.text(), found, cwd, setup);
    let mut sent = evidence::of(&subject);
    sent.retain(|file| found.effects.reads.iter().any(|path| file.is_of(path)));
    if sent.is_empty() {
        return String::new();
    }
    Digest::of(serde_json::to_string(&sent).unwrap_or_default().as_bytes()).hex()
}

/// Where the remotes lie that it names, and for what is written which repositories those are.
fn remotes_of(reaches: &Reaches, cwd: &Path) -> Option<Vec<RemoteWire>> {
    let look = |folder: &str, remote: &str| Told::of(&conditions::place(folder, cwd)?, remote);
    let mut remotes = Vec::new();
    for place in &reaches.places {
        if let Place::Remote { folder, remote } = place {
            let Told { hosts, repositories } = look(folder, remote)?;
            let repositories = if reaches.only_reads() { Vec::new() } else { repositories };
            remotes.push(RemoteWire { folder: folder.clone(), remote: remote.clone(), hosts, repositories });
        }
    }
    // What is written to by the folder alone; where nobody can say what that is, it is asked about each time.
    for target in &reaches.targets {
        let Target::Remote { folder, remote } = target else { continue };
        if remotes.iter().any(|told| told.folder == *folder && told.remote == *remote) {
            continue;
        }
        if let Some(Told { hosts, repositories }) = look(folder, remote) {
            remotes.push(RemoteWire { folder: folder.clone(), remote: remote.clone(), hosts, repositories });
        }
    }
    Some(remotes)
}

/// What a command reaches, where nothing here has it do more than its text says: all that would be looked at if it were local, and what its
/// own row asks for.
fn starting_nothing<'f>(
    found: &'f Classification,
    cwd: &Path,
    config: &Config,
    setup: ShellSetup<'_>,
) -> Option<&'f Reaches> {
    let reaches = found.reaches.as_ref().filter(|reaches| !reaches.places.is_empty())?;
    // What `..` means from behind a link is another folder to the text and to a shell.
    let goes_up = || found.calls.iter().flatten().any(|word| word.as_ref().is_none_or(|word| word.contains("..")));
    (cwd.canonicalize().ok()? == cwd || !goes_up()).then_some(())?;
    // Such a run has the machine's own programs and no others.
    let is_there = |name: &String| {
        name.contains('/')
            || programs::is_builtin(name)
            || cage::PATH.split(':').any(|at| Path::new(at).join(name).exists())
    };
    found.effects.programs.iter().all(is_there).then_some(())?;
    let mut local = Classification { decided: Decided::LocalIf, ..found.clone() };
    local.conditions.extend(reaches.conditions.iter().cloned());
    conditions::check(&local, cwd, &config.protected(), setup).is_clear().then_some(reaches)
}

/// What a repository says of a remote: of all of them where git chooses one, or is told to take all.
struct Told {
    hosts: Vec<HostWire>,
    /// What is there, see [`RemoteWire`].
    repositories: Vec<String>,
}

impl Told {
    /// `None` where one is at no host, or the settings are not understood.
    fn of(folder: &Path, remote: &str) -> Option<Self> {
        let settings = settings_of(folder)?;
        let part = |key: &str, end: &str| {
            key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(end)).map(str::to_owned)
        };
        let named: Vec<(String, &str)> =
            settings.iter().filter_map(|one| Some((part(&one.key, ".url")?, one.value.as_str()))).collect();
        let is_any = matches!(remote, "" | "*");
        let mut addresses: BTreeSet<&str> =
            named.iter().filter(|(name, _)| is_any || name == remote).map(|(_, address)| *address).collect();
        // The one that git chooses may be said by its address.
        let chooses = |key: &str| {
            key == "remote.pushdefault"
                || key.starts_with("branch.") && (key.ends_with(".remote") || key.ends_with(".pushremote"))
        };
        if remote.is_empty() {
            let chosen = settings.iter().filter(|one| chooses(&one.key)).map(|one| one.value.as_str());
            addresses.extend(chosen.filter(|value| *value != "." && named.iter().all(|(name, _)| name != value)));
        }
        // What it asks for by name is sent, too.
        let names_of_branches = settings.iter().filter(|one| {
            part(&one.key, ".fetch").is_some()
                || one.key.starts_with("branch.") && one.key.rsplit('.').next() == Some("merge")
        });
        if !names_of_branches.map(|one| one.value.as_str()).all(is_plain) {
            return None;
        }
        let repositories = addresses.iter().map(|address| repository_of(address)).collect::<Option<BTreeSet<_>>>();
        let mut hosts = BTreeSet::new();
        for address in addresses {
            // It is sent, as the words of a command are.
            match address_of(address).filter(|_| is_plain(address))? {
                Place::Host { host, port } => drop(hosts.insert(HostWire { host, port })),
                Place::Remote { .. } => return None,
            }
        }
        // By these a push that says nothing of it goes over what is there, and the forge's program takes another repository.
        let does_more = |one: &git::config::Setting| {
            [".push", ".mirror", ".gh-resolved", ".pushurl"].iter().any(|end| part(&one.key, end).is_some())
        };
        let is_said = !settings.iter().any(does_more);
        let repositories: Vec<String> = repositories.filter(|_| is_said).into_iter().flatten().collect();
        let fits = !hosts.is_empty() && hosts.len() <= MAX_ENDS && repositories.len() <= MAX_ENDS;
        fits.then(|| Self { hosts: hosts.into_iter().collect(), repositories })
    }
}

/// All settings of git's there.
fn settings_of(folder: &Path) -> Option<Vec<git::config::Setting>> {
    let repositories = git::repositories(folder).ok()?;
    let files = repositories.iter().flat_map(git::Repository::files).chain(git::files_outside());
    let mut all = Vec::new();
    for file in files {
        match git::read_text(&file) {
            Ok(text) => all.extend(git::config::read(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_lie_where_the_repository_says() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("objects")).unwrap();
        std::fs::create_dir_all(git.join("refs")).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let with = |config: &str| std::fs::write(git.join("config"), config).unwrap();
        let hosts = |remote: &str| {
            Told::of(folder.path(), remote)
                .map(|told| told.hosts.into_iter().map(|h| format!("{}:{}", h.host, h.port)).collect::<Vec<_>>())
        };
        let repositories = |remote: &str| Told::of(folder.path(), remote).map(|told| told.repositories);
        with("[remote \"origin\"]\n\turl = git@a.example:o/r\n[remote \"fork\"]\n\turl = https://b.example/o/r.git\n");
        assert_eq!(hosts("origin"), Some(vec!["a.example:22".to_owned()]));
        assert_eq!(hosts("fork"), Some(vec!["b.example:443".to_owned()]));
        assert_eq!(hosts(""), Some(vec!["a.example:22".to_owned(), "b.example:443".to_owned()]));
        assert_eq!(hosts("none"), None);
        assert_eq!(repositories("origin"), Some(vec!["a.example:o/r".to_owned()]));
        assert_eq!(repositories("*"), Some(vec!["a.example:o/r".to_owned(), "b.example/o/r.git".to_owned()]));
        for config in
            ["[remote \"origin\"]\n\turl = /srv/r\n", "[remote \"origin\"]\n\turl = ext::sh -c x\n", "", "[remote"]
        {
            with(config);
            assert_eq!(hosts("origin"), None, "{config}");
        }
        let origin = "[remote \"origin\"]\n\turl = git@a.example:o/r\n";
        // The one that git chooses may be another than all that have names.
        for chosen in [
            "[branch \"main\"]\n\tpushRemote = git@c.example:x/y\n",
            "[branch \"main\"]\n\tremote = git@c.example:x/y\n",
            "[remote]\n\tpushDefault = git@c.example:x/y\n",
        ] {
            with(&format!("{origin}{chosen}"));
            assert_eq!(
                repositories(""),
                Some(vec!["a.example:o/r".to_owned(), "c.example:x/y".to_owned()]),
                "{chosen}"
            );
            assert_eq!(hosts("origin"), Some(vec!["a.example:22".to_owned()]), "{chosen}");
        }
        with(&format!("{origin}[branch \"main\"]\n\tremote = nowhere\n"));
        assert_eq!(hosts(""), None, "no remote and no address");
        with(&format!("{origin}[branch \"main\"]\n\tremote = origin\n"));
        assert_eq!(hosts(""), Some(vec!["a.example:22".to_owned()]));
        // What a plain push does there is more than a push.
        for more in ["\tmirror = true\n", "\tpush = +refs/heads/*:refs/heads/*\n"] {
            with(&format!("{origin}{more}"));
            assert_eq!(repositories("origin"), Some(Vec::new()), "{more}");
        }
    }
}
