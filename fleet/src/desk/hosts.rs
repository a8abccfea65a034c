//! The hosts that a desk knows: those that the fleet's roll names.

use bashgate::clock;
use bashgate::fleet::roll::{Brought, Known as Counts, Own, RollError};
use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::seal::PublicKey;
use tokio_postgres::Client;

use crate::database::DatabaseError;
use crate::statement;
use crate::{HostName, MemberId};

/// A host.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) member: MemberId,
    pub(super) key: PublicKey,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Hosts {
    counts: Counts,
    /// The signature of the roll that was brought last.
    roll: String,
}

/// The fleet's roll, where it is another one than the one with this signature. A desk has no policy of its own.
pub(super) async fn brought(client: &Client, known: &str) -> Result<Option<Brought>, DatabaseError> {
    let row = client.query_opt("SELECT text, signature, members FROM roll WHERE signature <> $1", &[&known]).await?;
    Ok(row.and_then(|row| Some(Brought { roll: statement::in_row(&row, 0)?, members: row.get(2), policy: None })))
}

impl Hosts {
    /// None yet.
    pub(super) fn new(own: Own) -> Self {
        Self { counts: Counts::new(own), roll: String::new() }
    }

    /// The signature of the roll that was brought last.
    pub(super) fn roll(&self) -> &str {
        &self.roll
    }

    /// Takes what the fleet's key has signed. What is refused is not brought again.
    pub(super) fn take(&mut self, brought: &Brought) -> Result<(), RollError> {
        self.roll.clone_from(&brought.roll.signature);
        self.counts.take(brought, clock::now())
    }

    /// Why the fleet counts as unreachable.
    pub(super) fn trouble(&self) -> Option<RollError> {
        self.counts.trouble(clock::now())
    }

    /// One of them.
    pub(super) fn of(&self, host: &str, number: i32) -> Option<Known> {
        let is_it = |member: &MemberId| member.host.as_str() == host && member.number == number;
        let found = self.counts.hosts().find(|(member, _)| is_it(member))?;
        Some(Known { member: found.0.clone(), key: *found.1 })
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<MemberId> {
        self.counts.hosts().map(|(member, _)| member.clone()).collect()
    }

    /// The host of a workspace as channels name it, and the workspace's name there.
    pub(super) fn workspace(&self, name: &WorkspaceName) -> Option<(MemberId, WorkspaceName)> {
        // A host's name has no dot.
        let (host, workspace) = name.as_str().split_once('.')?;
        let host = HostName::parse(host)?;
        let named = self.counts.hosts().filter(|(member, _)| member.host == host);
        let (newest, _) = named.max_by_key(|(member, _)| member.number)?;
        Some((newest.clone(), WorkspaceName::parse(workspace)?))
    }
}

/// A workspace as channels name it; `None` where that is too long.
pub(super) fn displayed(member: &MemberId, workspace: &WorkspaceName) -> Option<WorkspaceName> {
    WorkspaceName::parse(&format!("{}.{workspace}", member.host))
}
