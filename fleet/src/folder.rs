//! The folder of whoever runs a fleet: the fleet's key, the way into the database, and what is known of each host without asking the
//! database. It is what the database is held against, so it is never on the database's machine.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use bashgate_shared::seal::{HostKey, PublicKey};
use serde::{Deserialize, Serialize};
use tokio_postgres::Client;

use super::database::{Address, DatabaseError, Login};
use super::keeping::Rolled;
use super::statement::{Member, Revoked, Signed, Statement as _};
use super::token::{self, Token};
use super::{HostName, MemberId, random_hex, role, schema};
use bashgate::clock;
use bashgate::fleet::bundle::BundleError;
use bashgate::fleet::roll::Belongs;
use bashgate::state::{self, StateError};

/// How long a token counts that nobody has used.
pub const TOKEN_HOURS: i32 = 24;
/// So far beyond what is known the number of a host or a policy in the database is believed: nobody has signed it.
pub(crate) const FAR: i32 = 1000;
/// How often it is tried to shut out a role that holds on to itself.
const SHUT_OUT: usize = 20;

/// What is known of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Which host, or desk.
    pub member: MemberId,
    /// True for a desk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desk: bool,
    /// The secret of its token, until it has joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// Its key, once it has joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When the token was made, in milliseconds since 1970.
    pub enrolled_ms: u64,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_ms: Option<u64>,
    /// The end of its chain when it was last verified: what was there once must be there still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
}

/// The end of a chain as it was once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The last record.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// When that was, in milliseconds since 1970.
    pub at_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    id: String,
    address: Address,
    login: Login,
    #[serde(default)]
    hosts: Vec<Known>,
    #[serde(default)]
    rolled: Rolled,
}

/// Why something of a fleet is not done.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder or a file in it.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// There is no fleet in it.
    #[error("there is no fleet in {}", .0.display())]
    None(PathBuf),
    /// There is one already.
    #[error("there is a fleet in {} already", .0.display())]
    There(PathBuf),
    /// Its file is not what this version writes.
    #[error("{} is wrong: {why}", path.display())]
    Wrong {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The key.
    #[error(transparent)]
    Key(#[from] StateError),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database holds another fleet.
    #[error("the database holds another fleet")]
    OtherFleet,
    /// The database's tables are of a newer version.
    #[error("the database's tables have version {0}, this bashgate knows {version}", version = schema::VERSION)]
    Newer(i32),
    /// No such host.
    #[error("the fleet has no host `{0}`")]
    Unknown(HostName),
    /// The host is a member.
    #[error("{0} is a host of the fleet already")]
    Member(MemberId),
    /// A policy that does not come out as it says.
    #[error("the policy is wrong: {0}")]
    Policy(#[from] BundleError),
    /// No such policy.
    #[error("{0}")]
    NoPolicy(String),
    /// The fleet's key has signed something that this folder does not know.
    #[error("this folder is behind what its key has signed: {0}")]
    Behind(String),
}

impl From<tokio_postgres::Error> for FolderError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error.into())
    }
}

impl FolderError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::File { .. } => "check owner, mode and the disk",
            Self::None(_) => "make one with `bashgate fleet init`, or name its folder with --folder DIR",
            Self::There(_) => "name another folder with --folder DIR",
            Self::Wrong { .. } => "restore the folder from a backup",
            Self::Key(error) => error.help(),
            Self::Database(error) => error.help(),
            Self::OtherFleet => "give each fleet a database of its own",
            Self::Newer(_) => "run the newer bashgate",
            Self::Unknown(_) => "see: bashgate fleet list",
            Self::Policy(_) => "docs/fleet.md says what stands in it",
            Self::Behind(_) => "use the newest copy of the folder, and only one of them",
            Self::NoPolicy(_) => "see: bashgate fleet policy list",
            Self::Member(_) => "revoke it first, if it is to begin anew: bashgate fleet revoke",
        }
    }
}

/// The folder, open: no other command works on it meanwhile.
pub struct Folder {
    path: PathBuf,
    content: Content,
    pub(crate) key: HostKey,
    _lock: File,
}

impl Folder {
    fn file(path: &Path) -> PathBuf {
        path.join("fleet.json")
    }

    fn lock(path: &Path) -> Result<File, FolderError> {
        let failed = |source| FolderError::File { path: path.to_owned(), source };
        state::private(path)?;
        let lock = File::open(path).map_err(failed)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        Ok(lock)
    }

    /// Makes a fleet: its key here, its tables in the database.
    pub async fn create(path: &Path, address: Address, login: Login) -> Result<Self, FolderError> {
        let failed = |source| FolderError::File { path: path.to_owned(), source };
        if Self::file(path).exists() {
            return Err(FolderError::There(path.to_owned()));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let lock = Self::lock(path)?;
        let key = state::key_at(&path.join("fleet.key"))?;
        let mut client = address.connect(&login).await?;
        let id = random_hex::<16>().map_err(failed)?;
        let root = key.public().to_string();
        let id = match schema::held(&client).await? {
            None => {
                schema::create(&mut client, &id, &root).await?;
                id
            }
            // Ours already: whoever made it died before the folder knew.
            Some((id, held, _)) if held == root => id,
            Some(_) => return Err(FolderError::OtherFleet),
        };
        let folder = Self {
            path: path.to_owned(),
            content: Content { id, address, login, hosts: Vec::new(), rolled: Rolled::default() },
            key,
            _lock: lock,
        };
        folder.save()?;
        Ok(folder)
    }

    /// Opens the folder of a fleet.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let file = Self::file(path);
        if !file.exists() {
            return Err(FolderError::None(path.to_owned()));
        }
        let lock = Self::lock(path)?;
        state::private(&file)?;
        let text = std::fs::read_to_string(&file).map_err(|source| FolderError::File { path: file.clone(), source })?;
        let content =
            serde_json::from_str(&text).map_err(|error| FolderError::Wrong { path: file, why: error.to_string() })?;
        let key = state::key_at(&path.join("fleet.key"))?;
        Ok(Self { path: path.to_owned(), content, key, _lock: lock })
    }

    /// What was signed last of what counts.
    pub(crate) fn rolled(&mut self) -> &mut Rolled {
        &mut self.content.rolled
    }

    /// Where the folder is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn save(&self) -> Result<(), FolderError> {
        let path = Self::file(&self.path);
        let text = serde_json::to_string_pretty(&self.content).unwrap_or_default();
        state::write_whole(&path, text.as_bytes()).map_err(|source| FolderError::File { path, source })
    }

    /// Connects to the fleet's database, and refuses another's.
    pub async fn connect(&self) -> Result<Client, FolderError> {
        let mut client = self.content.address.connect(&self.content.login).await?;
        match schema::held(&client).await? {
            Some((id, root, version)) if id == self.content.id && root == self.root().to_string() => {
                if version > schema::VERSION {
                    return Err(FolderError::Newer(version));
                }
                if version < schema::VERSION {
                    schema::upgrade(&mut client, &id, version).await?;
                }
                Ok(client)
            }
            _ => Err(FolderError::OtherFleet),
        }
    }

    /// The fleet's key, to check with.
    pub fn root(&self) -> &PublicKey {
        self.key.public()
    }

    /// The fleet's id.
    pub fn id(&self) -> &str {
        &self.content.id
    }

    /// What is known of each host, in the order in which they were enrolled.
    pub fn hosts(&self) -> &[Known] {
        &self.content.hosts
    }

    /// The hosts that belong to the fleet or may still join.
    pub(crate) fn living(&self, host: &HostName) -> Option<&Known> {
        self.content.hosts.iter().find(|known| known.member.host == *host && known.revoked_ms.is_none())
    }

    /// Takes in what the fleet's key has signed since this folder was written: who belongs to the fleet, at `at_ms`; who was ever taken in;
    /// who was revoked.
    pub(crate) fn takes_in(&mut self, members: &[Belongs], joined: &[Member], revoked: &[Revoked], at_ms: u64) {
        take_in(&mut self.content.hosts, members, joined, revoked, at_ms);
    }

    /// Makes the token of a new host, or a new desk. One that was never used counts no more where another is made for the same host.
    pub async fn enrol(&mut self, client: &Client, host: HostName, desk: bool) -> Result<Token, FolderError> {
        self.catch_up(client).await?;
        if let Some(known) = self.living(&host) {
            if known.key.is_some() {
                return Err(FolderError::Member(known.member.clone()));
            }
            self.revoke(client, &host).await?;
        }
        let failed = |source| FolderError::File { path: self.path.clone(), source };
        let (password, secret) = (random_hex::<32>().map_err(failed)?, random_hex::<32>().map_err(failed)?);
        let of_name = self.content.hosts.iter().filter(|known| known.member.host == host);
        let number = of_name.map(|known| known.member.number).max().unwrap_or(0);
        // One that this folder knows nothing of any more has its number all the same.
        let there = client
            .query_one(
                "SELECT coalesce(max(number), 0) FROM host WHERE host = $1 AND number <= $2",
                &[&host.as_str(), &number.saturating_add(FAR)],
            )
            .await?;
        let number = number.max(there.get(0)).saturating_add(1);
        let member = MemberId { fleet: self.content.id.clone(), host, number };
        // Known here before it is known there: what dies in between leaves a host that never joins.
        let known = Known {
            member: member.clone(),
            desk,
            secret: Some(secret.clone()),
            key: None,
            enrolled_ms: clock::now().unix_ms,
            revoked_ms: None,
            seen: None,
        };
        self.content.hosts.push(known);
        self.save()?;
        let verifier = postgres_protocol::password::scram_sha_256(password.as_bytes());
        let group = if desk { schema::desks(&member.fleet) } else { schema::group(&member.fleet) };
        let role = role(&member);
        // By the server's clock.
        let until = client.query_one("SELECT (now() + make_interval(hours => $1))::text", &[&TOKEN_HOURS]).await?;
        let until: String = until.get(0);
        // Names and verifier have no quotes: they are ours.
        let make = format!(
            "CREATE ROLE \"{role}\" LOGIN IN ROLE \"{group}\" CONNECTION LIMIT 8 PASSWORD '{verifier}' VALID UNTIL '{until}'"
        );
        client.batch_execute(&make).await?;
        client
            .execute("INSERT INTO host (host, number) VALUES ($1, $2)", &[&member.host.as_str(), &member.number])
            .await?;
        let (address, root) = (self.content.address.clone(), self.root().to_string());
        Ok(Token { member, desk, address, password, secret, root })
    }

    /// Signs for the hosts that have joined since: those that prove to have had their token. Says which, and which prove nothing.
    pub async fn settle(&mut self, client: &Client) -> Result<Settled, FolderError> {
        self.catch_up(client).await?;
        let mut settled = Settled::default();
        for at in 0..self.content.hosts.len() {
            let Some(known) = self.content.hosts.get(at).cloned() else { continue };
            let Some(secret) = known.secret.as_ref().filter(|_| known.revoked_ms.is_none()) else { continue };
            let (host, number) = (known.member.host.as_str(), known.member.number);
            let row = client
                .query_opt(
                    "SELECT key, proof FROM host WHERE host = $1 AND number = $2 AND length(key) < 256 AND length(proof) < 256",
                    &[&host, &number],
                )
                .await?;
            let Some((key, said)) =
                row.and_then(|row| Some((row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?)))
            else {
                continue;
            };
            if said != token::proof(secret, &known.member, &key) || PublicKey::parse(&key).is_none() {
                settled.unproven.push(known.member);
                continue;
            }
            let signed = Member {
                member: known.member.clone(),
                key: key.clone(),
                at_ms: clock::now().unix_ms,
                desk: known.desk,
            }
            .sign(&self.key);
            let Signed { text, signature } = &signed;
            let allow = format!("ALTER ROLE \"{}\" VALID UNTIL 'infinity'", role(&known.member));
            let taken = briefly(client, async {
                client.batch_execute(&allow).await?;
                client
                    .execute(
                        "UPDATE host SET member = $1, member_signature = $2 WHERE host = $3 AND number = $4",
                        &[text, signature, &host, &number],
                    )
                    .await
            });
            // Who holds on to its own role or its own row joins later, and keeps nobody else waiting.
            if let Err(error) = taken.await {
                tracing::warn!(%error, member = %known.member, "it cannot be taken in now");
                continue;
            }
            if let Some(kept) = self.content.hosts.get_mut(at) {
                (kept.secret, kept.key) = (None, Some(key));
            }
            self.save()?;
            settled.joined.push(known.member);
        }
        if !settled.joined.is_empty() {
            self.sign_roll(client).await?;
        }
        Ok(settled)
    }

    /// A host belongs to the fleet no more: it is let in no more, and nothing that it signs later counts.
    pub async fn revoke(&mut self, client: &Client, host: &HostName) -> Result<MemberId, FolderError> {
        self.catch_up(client).await?;
        // The last of its name, also one that is revoked already: the database may not have heard of it yet.
        let of_name = self.content.hosts.iter_mut().filter(|known| known.member.host == *host);
        let known = of_name.max_by_key(|known| known.member.number);
        let known = known.ok_or_else(|| FolderError::Unknown(host.clone()))?;
        let at_ms = *known.revoked_ms.get_or_insert_with(|| clock::now().unix_ms);
        known.secret = None;
        let member = known.member.clone();
        self.save()?;
        self.sign_roll(client).await?;
        let Signed { text, signature } = Revoked { member: member.clone(), at_ms }.sign(&self.key);
        let role = role(&member);
        let there = client.query_opt("SELECT 1 FROM pg_roles WHERE rolname = $1", &[&role]).await?;
        if there.is_some() {
            let shut = format!("ALTER ROLE \"{role}\" NOLOGIN PASSWORD NULL");
            // It may hold on to its own role: its connections end first, and again until it has none that could.
            let mut shut_out = Ok(());
            for _ in 0..SHUT_OUT {
                client
                    .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", &[&role])
                    .await?;
                shut_out = briefly(client, client.batch_execute(&shut)).await;
                if shut_out.is_ok() {
                    break;
                }
            }
            shut_out?;
            client
                .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", &[&role])
                .await?;
        }
        client
            .execute(
                "UPDATE host SET revoked = $1, revoked_signature = $2 WHERE host = $3 AND number = $4",
                &[&text, &signature, &member.host.as_str(), &member.number],
            )
            .await?;
        Ok(member)
    }

    /// Keeps where chains ended when they were verified.
    pub fn saw(&mut self, seen: Vec<(MemberId, Seen)>) -> Result<(), FolderError> {
        for (member, seen) in seen {
            if let Some(known) = self.content.hosts.iter_mut().find(|known| known.member == member) {
                known.seen = Some(seen);
            }
        }
        self.save()
    }
}

/// Does something, and waits half a second at most for whoever holds on to what it changes.
async fn briefly<T>(
    client: &Client,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    client.batch_execute("SET lock_timeout = 500").await?;
    let done = work.await;
    client.batch_execute("RESET lock_timeout").await?;
    done
}

/// What became of the hosts that were to join.
#[derive(Debug, Default)]
pub struct Settled {
    /// They belong to the fleet now.
    pub joined: Vec<MemberId>,
    /// Somebody gave a key for them without having had their token.
    pub unproven: Vec<MemberId>,
}

fn take_in(hosts: &mut Vec<Known>, members: &[Belongs], joined: &[Member], revoked: &[Revoked], at_ms: u64) {
    let in_list = members.iter().map(|one| (&one.member, Some(&one.key), one.desk));
    let once = joined.iter().map(|one| (&one.member, Some(&one.key), one.desk));
    let never = revoked.iter().map(|one| (&one.member, None, false));
    for (member, key, desk) in in_list.chain(once).chain(never) {
        let (member, key) = (member.clone(), key.cloned());
        match hosts.iter_mut().find(|known| known.member == member) {
            Some(known) if known.key.is_none() && key.is_some() => (known.key, known.secret) = (key, None),
            Some(_) => {}
            None => {
                hosts.push(Known { member, desk, secret: None, key, enrolled_ms: at_ms, revoked_ms: None, seen: None });
            }
        }
    }
    for known in hosts.iter_mut().filter(|known| known.revoked_ms.is_none()) {
        let belongs = members.iter().any(|one| one.member == known.member);
        // Who was taken in later is in the next list.
        let is_later = joined.iter().any(|one| one.member == known.member && one.at_ms >= at_ms);
        let said = revoked.iter().find(|one| one.member == known.member).map(|one| one.at_ms);
        let is_missing = known.key.is_some() && !belongs && !is_later;
        if let Some(at_ms) = said.or(is_missing.then_some(at_ms)) {
            (known.revoked_ms, known.secret) = (Some(at_ms), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_put_back_knows_who_belongs_to_the_fleet() {
        let member = |name: &str| MemberId { fleet: "f".to_owned(), host: HostName::parse(name).unwrap(), number: 1 };
        let known = |name: &str, key: Option<&str>| Known {
            member: member(name),
            desk: false,
            secret: key.is_none().then(|| "secret".to_owned()),
            key: key.map(str::to_owned),
            enrolled_ms: 1,
            revoked_ms: None,
            seen: None,
        };
        let belongs = |name: &str| Belongs { member: member(name), key: "k".to_owned(), desk: false };
        let joined = |name: &str, at_ms| Member { member: member(name), key: "k".to_owned(), at_ms, desk: false };
        let mut hosts = vec![
            known("stays", Some("k")),
            known("gone", Some("k")),
            known("joined", None),
            known("joined-and-gone", None),
            known("waits", None),
            known("joined-here", Some("k")),
        ];
        let members = [belongs("stays"), belongs("joined"), belongs("new")];
        let all = [joined("stays", 5), joined("gone", 5), joined("joined", 50), joined("joined-and-gone", 50)];
        let all = [all.as_slice(), &[joined("new", 60), joined("once", 60), joined("joined-here", 101)]].concat();
        let revoked = [Revoked { member: member("once"), at_ms: 70 }, Revoked { member: member("never"), at_ms: 80 }];
        take_in(&mut hosts, &members, &all, &revoked, 100);
        let is: Vec<(String, bool, Option<u64>)> = hosts
            .iter()
            .map(|known| (known.member.to_string(), known.key.is_some() || known.secret.is_some(), known.revoked_ms))
            .collect();
        let expected = [
            ("stays", true, None),
            ("gone", true, Some(100)),
            ("joined", true, None),
            ("joined-and-gone", true, Some(100)),
            // Its token still counts.
            ("waits", true, None),
            // Taken in here after that list was signed.
            ("joined-here", true, None),
            ("new", true, None),
            ("once", true, Some(70)),
            ("never", false, Some(80)),
        ];
        assert_eq!(is, expected.map(|(name, has, revoked)| (name.to_owned(), has, revoked)));
        // The same once more changes nothing.
        let before = hosts.clone();
        take_in(&mut hosts, &members, &all, &revoked, 100);
        assert_eq!(hosts, before);
    }
}
