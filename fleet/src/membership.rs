//! A host's own side: which fleet it belongs to, its key and its login. Two files in the state folder, which nobody else can read.

use std::io;
use std::path::{Path, PathBuf};

use bashgate_shared::seal::{HostKey, PublicKey};
use serde::{Deserialize, Serialize};

use super::database::{Address, DatabaseError, Login};
use super::statement::{self, Member, Revoked};
use super::token::{self, Token};
use super::{MemberId, random_hex, role};
use bashgate::state::{self, StateError};

/// A host's membership.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    /// Who it is.
    pub member: MemberId,
    /// True for a desk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub desk: bool,
    /// Where the database is.
    pub address: Address,
    /// The fleet's key.
    pub root: String,
    /// The password that it has given its role.
    password: String,
    /// The token, until the database has the host's key and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<Token>,
}

/// Why a host does not join, or cannot work as a member.
#[derive(Debug, thiserror::Error)]
pub enum MembershipError {
    /// A file.
    #[error("cannot use {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file is not what this version writes.
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
    /// The host belongs to a fleet already.
    #[error("this host is {0} of a fleet already")]
    Already(MemberId),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Somebody else has used the token.
    #[error("somebody else has joined with this token")]
    Used,
    /// The database is not that of the token's fleet.
    #[error("the database holds another fleet, or none")]
    OtherFleet,
}

impl From<tokio_postgres::Error> for MembershipError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error.into())
    }
}

impl MembershipError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::File { .. } => "check owner, mode and the disk",
            Self::Wrong { .. } => "leave the fleet with `bashgate fleet leave`, and join it with a new token",
            Self::Key(error) => error.help(),
            Self::Already(_) => "leave that one first: bashgate fleet leave",
            Self::Database(error) => error.help(),
            Self::Used => "find out who: revoke that host with `bashgate fleet revoke`, and make a new token",
            Self::OtherFleet => "check the address in the token against the fleet's own",
        }
    }
}

/// How the fleet's key takes a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It has signed that it belongs to the fleet.
    Yes,
    /// It has not signed yet: whoever runs the fleet does that next.
    NotYet,
    /// It has signed that it belongs to the fleet no more.
    Revoked,
}

fn file(state: &Path) -> PathBuf {
    bashgate::fleet::membership_file(state)
}

fn key_file(state: &Path) -> PathBuf {
    state.join("fleet.key")
}

impl Membership {
    /// The membership of the host with this state folder, if it is a member.
    pub fn load(state: &Path) -> Result<Option<Self>, MembershipError> {
        let path = file(state);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(MembershipError::File { path, source }),
        };
        state::private(&path)?;
        serde_json::from_str(&text).map(Some).map_err(|error| MembershipError::Wrong { path, why: error.to_string() })
    }

    fn save(&self, state: &Path) -> Result<(), MembershipError> {
        let path = file(state);
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        state::write_whole(&path, text.as_bytes()).map_err(|source| MembershipError::File { path, source })
    }

    /// Begins a membership. What a crash leaves of it goes on with the same token; what came to nothing makes way for another one.
    pub fn begin(state: &Path, token: Token) -> Result<Self, MembershipError> {
        match Self::load(state)? {
            Some(known) if known.token.as_ref() == Some(&token) => return Ok(known),
            Some(known) if known.token.is_none() => return Err(MembershipError::Already(known.member)),
            _ => {}
        }
        let password = random_hex::<32>().map_err(|source| MembershipError::File { path: file(state), source })?;
        let membership = Self {
            member: token.member.clone(),
            desk: token.desk,
            address: token.address.clone(),
            root: token.root.clone(),
            password,
            token: Some(token),
        };
        // No key of an earlier membership signs for this one.
        let path = key_file(state);
        state::remove(&path).map_err(|source| MembershipError::File { path, source })?;
        membership.key(state)?;
        membership.save(state)?;
        Ok(membership)
    }

    /// Ends what the host knows of a fleet. What is on record there stays there.
    pub fn leave(state: &Path) -> Result<(), MembershipError> {
        for path in [file(state), key_file(state)] {
            state::remove(&path).map_err(|source| MembershipError::File { path, source })?;
        }
        let failed = |source| MembershipError::File { path: state.to_owned(), source };
        bashgate::fleet::forget(state).map_err(failed)
    }

    /// The host's fleet key.
    pub fn key(&self, state: &Path) -> Result<HostKey, StateError> {
        state::key_at(&key_file(state))
    }

    /// As whom the host connects.
    pub fn login(&self) -> Login {
        Login { role: role(&self.member), password: self.password.clone() }
    }

    /// True when the database has the host's key and password.
    pub const fn is_complete(&self) -> bool {
        self.token.is_none()
    }

    /// Gives the database the host's key and a password of its own, where that is still to be done: behind this the token opens nothing.
    pub async fn complete(&mut self, state: &Path) -> Result<(), MembershipError> {
        let Some(token) = self.token.clone() else { return Ok(()) };
        let login = self.login();
        let client = match self.address.connect(&login).await {
            Ok(client) => client,
            // The password is not given yet.
            Err(DatabaseError::NotLetIn { .. }) => {
                let first = Login { password: token.password.clone(), ..login };
                let client = self.address.connect(&first).await?;
                // The server gets what it needs to check it, never the password.
                let verifier = postgres_protocol::password::scram_sha_256(self.password.as_bytes());
                let change = format!("ALTER ROLE \"{}\" PASSWORD '{verifier}'", role(&self.member));
                client.batch_execute(&change).await?;
                client
            }
            Err(error) => return Err(error.into()),
        };
        let key = self.key(state)?.public().to_string();
        let proof = token::proof(&token.secret, &self.member, &key);
        let (host, number) = (self.member.host.as_str(), self.member.number);
        client
            .execute(
                "UPDATE host SET key = $1, proof = $2 WHERE host = $3 AND number = $4",
                &[&key, &proof, &host, &number],
            )
            .await?;
        let row = client.query_opt("SELECT key FROM host WHERE host = $1 AND number = $2", &[&host, &number]).await?;
        let row = row.ok_or(MembershipError::OtherFleet)?;
        if row.get::<_, Option<String>>(0).as_deref() != Some(key.as_str()) {
            return Err(MembershipError::Used);
        }
        self.token = None;
        self.save(state)
    }

    /// What the fleet's key has signed of this host, as far as the database tells.
    pub async fn taken(&self, client: &tokio_postgres::Client, key: &PublicKey) -> Result<Taken, DatabaseError> {
        let row = client
            .query_opt(
                "SELECT member, member_signature, revoked, revoked_signature FROM host WHERE host = $1 AND number = $2",
                &[&self.member.host.as_str(), &self.member.number],
            )
            .await?;
        let Some((row, root)) = row.zip(PublicKey::parse(&self.root)) else { return Ok(Taken::NotYet) };
        let revoked = statement::in_row(&row, 2).and_then(|signed| signed.read::<Revoked>(&root));
        if revoked.is_some_and(|revoked| revoked.member == self.member) {
            return Ok(Taken::Revoked);
        }
        let member = statement::in_row(&row, 0).and_then(|signed| signed.read::<Member>(&root));
        let is_ours = |member: Member| member.member == self.member && member.key == key.to_string();
        Ok(if member.is_some_and(is_ours) { Taken::Yes } else { Taken::NotYet })
    }
}
