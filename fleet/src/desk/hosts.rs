//! The hosts that a desk knows: those that the fleet's key has signed for.

use std::collections::BTreeMap;

use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::seal::PublicKey;
use tokio_postgres::{Client, Row};

use crate::database::DatabaseError;
use crate::membership::Membership;
use crate::statement::{Member, Revoked, Signed};
use crate::{HostName, MemberId};

/// A host.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) member: MemberId,
    pub(super) key: PublicKey,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Hosts(BTreeMap<(String, i32), Known>);

/// What the database says of each.
pub(super) async fn rows(client: &Client) -> Result<Vec<Row>, DatabaseError> {
    let rows = client
        .query("SELECT member, member_signature, revoked, revoked_signature FROM host WHERE member IS NOT NULL", &[])
        .await?;
    Ok(rows)
}

impl Hosts {
    /// Takes what the fleet's key has signed.
    pub(super) fn take(&mut self, rows: &[Row], own: &Membership) {
        self.0.clear();
        let Some(root) = PublicKey::parse(&own.root) else { return };
        for row in rows {
            let Some(member) = Signed::of(row, 0).and_then(|signed| signed.read::<Member>(&root)) else { continue };
            let revoked = Signed::of(row, 2).and_then(|signed| signed.read::<Revoked>(&root));
            let is_out = revoked.is_some_and(|revoked| revoked.member == member.member);
            let Some(key) = PublicKey::parse(&member.key).filter(|_| !is_out && !member.desk) else { continue };
            if member.member.fleet == own.member.fleet {
                let named = (member.member.host.to_string(), member.member.number);
                self.0.insert(named, Known { member: member.member, key });
            }
        }
    }

    /// One of them.
    pub(super) fn of(&self, host: &str, number: i32) -> Option<Known> {
        self.0.get(&(host.to_owned(), number)).cloned()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<MemberId> {
        self.0.values().map(|known| known.member.clone()).collect()
    }

    /// The host of a workspace as channels name it, and the workspace's name there.
    pub(super) fn workspace(&self, name: &WorkspaceName) -> Option<(MemberId, WorkspaceName)> {
        // A host's name has no dot.
        let (host, workspace) = name.as_str().split_once('.')?;
        let host = HostName::parse(host)?;
        let newest =
            self.0.values().filter(|known| known.member.host == host).max_by_key(|known| known.member.number)?;
        Some((newest.member.clone(), WorkspaceName::parse(workspace)?))
    }
}

/// A workspace as channels name it; `None` where that is too long.
pub(super) fn displayed(member: &MemberId, workspace: &WorkspaceName) -> Option<WorkspaceName> {
    WorkspaceName::parse(&format!("{}.{workspace}", member.host))
}
