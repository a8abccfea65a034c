//! Which commands can run with a way out to the hosts that they name, instead of being asked about, see `bashgate-run exec --cage --egress`.
//! Here stands what only the container can tell: that the host's way out is there, that the command starts nothing but itself, and where
//! the remotes lie that it names.

use std::collections::BTreeSet;
use std::path::Path;

use bashgate_shared::cage;
use bashgate_shared::classify::{Classification, Decided};
use bashgate_shared::command::{CommandLine, Digest};
use bashgate_shared::mailbox;
use bashgate_shared::programs::reaches::{Place, address_of, is_plain};
use bashgate_shared::protocol::{EgressWire, HostWire, MAX_ENDS, MAX_REMOTES, RemoteWire, RequestId};

use super::cage::named;
use super::conditions::{self, ShellSetup};
use super::config::Config;
use super::git;

/// A command as it would run with egress, and what the host is told of that.
#[derive(Debug)]
pub struct WithEgress {
    /// The text that runs it so.
    pub form: String,
    /// For the request.
    pub wire: EgressWire,
}

/// The form of a command that only reads, where the container has the host's way out and nothing here has it do more than its text says. The
/// caller has looked whether the agent can run another text at all.
pub fn of(
    command: &CommandLine,
    found: &Classification,
    cwd: &Path,
    config: &Config,
    setup: ShellSetup<'_>,
    answer: &RequestId,
) -> Option<WithEgress> {
    let reaches = found.reaches.as_ref()?;
    config.egress.join(mailbox::EGRESS_SOCKET).symlink_metadata().ok()?;
    starts_nothing(found, cwd, config, setup).then_some(())?;
    let mut remotes = Vec::new();
    for place in &reaches.places {
        if let Place::Remote { folder, remote } = place {
            let hosts = hosts_of(&conditions::place(folder, cwd)?, remote)?;
            remotes.push(RemoteWire { folder: folder.clone(), remote: remote.clone(), hosts });
        }
    }
    let runner = config.cage_runner.as_ref()?;
    let form = cage::egress_form(runner, named(config), answer, command.text())?;
    let wire = EgressWire { form: Digest::of(form.as_bytes()).hex(), remotes };
    (wire.remotes.len() <= MAX_REMOTES).then_some(WithEgress { form, wire })
}

/// True for a command that only reads, and where nothing here has it do more than its text says: all that would be looked at if it were local,
/// and what its own row asks for.
pub fn starts_nothing(found: &Classification, cwd: &Path, config: &Config, setup: ShellSetup<'_>) -> bool {
    let Some(reaches) = found.reaches.as_ref().filter(|reaches| reaches.only_reads() && !reaches.places.is_empty())
    else {
        return false;
    };
    let mut local = Classification { decided: Decided::LocalIf, ..found.clone() };
    local.conditions.extend(reaches.conditions.iter().cloned());
    conditions::check(&local, cwd, &config.protected(), setup).is_clear()
}

/// The hosts of a repository's remote: of all of them where git chooses one, or is told to take all. `None` where one is at no host, or the
/// settings are not understood.
fn hosts_of(folder: &Path, remote: &str) -> Option<Vec<HostWire>> {
    let repositories = git::repositories(folder).ok()?;
    let files = repositories.iter().flat_map(git::Repository::files).chain(git::files_outside());
    let mut hosts = BTreeSet::new();
    for file in files {
        let text = match git::read_text(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        for setting in git::config::read(&text)? {
            let Some(name) = setting.key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url")) else {
                continue;
            };
            if matches!(remote, "" | "*") || name == remote {
                // It is sent, as the words of a command are.
                match address_of(&setting.value).filter(|_| is_plain(&setting.value))? {
                    Place::Host { host, port } => drop(hosts.insert(HostWire { host, port })),
                    Place::Remote { .. } => return None,
                }
            }
        }
    }
    (!hosts.is_empty() && hosts.len() <= MAX_ENDS).then(|| hosts.into_iter().collect())
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
            hosts_of(folder.path(), remote)
                .map(|hosts| hosts.into_iter().map(|h| format!("{}:{}", h.host, h.port)).collect::<Vec<_>>())
        };
        with("[remote \"origin\"]\n\turl = git@a.example:o/r\n[remote \"fork\"]\n\turl = https://b.example/o/r.git\n");
        assert_eq!(hosts("origin"), Some(vec!["a.example:22".to_owned()]));
        assert_eq!(hosts("fork"), Some(vec!["b.example:443".to_owned()]));
        assert_eq!(hosts(""), Some(vec!["a.example:22".to_owned(), "b.example:443".to_owned()]));
        assert_eq!(hosts("none"), None);
        for config in
            ["[remote \"origin\"]\n\turl = /srv/r\n", "[remote \"origin\"]\n\turl = ext::sh -c x\n", "", "[remote"]
        {
            with(config);
            assert_eq!(hosts("origin"), None, "{config}");
        }
    }
}
