//! What counts in the fleet is said here, and said again every minute: who belongs to it, and which policy holds where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::seal::PublicKey;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use super::database::{DatabaseError, OF_FLEET, Pauses, timely};
use super::folder::{FAR, Folder, FolderError, Seen, Settled};
use super::statement::{self, Member, Revoked, Statement as _};
use super::verify::{self, Finding, Report};
use super::{HostName, MemberId, schema};
use bashgate::clock;
use bashgate::fleet::bundle::Bundle;
use bashgate::fleet::roll::{Belongs, COUNTS_MS, First, MOST_POLICY, Roll, Version};
use bashgate::fleet::tells::{Tells, Told};
use bashgate::state;

/// How often who has joined is taken in, and what counts signed anew.
const LOOK: Duration = Duration::from_secs(5);
const SIGN: Duration = Duration::from_mins(1);
/// How often all records are verified.
const VERIFY: Duration = Duration::from_mins(10);
/// How long is waited before the next try, first and most.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(20)];

/// What was signed last.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Rolled {
    /// Its number.
    number: u64,
    /// Its signature.
    signature: String,
    /// The number of the last one that the database has taken: what is behind it and is not this folder's, another copy has signed.
    written: u64,
    /// Until when it is to count without anybody who keeps it.
    until_ms: u64,
    /// The policy of all.
    policy: Option<Version>,
    /// One that some have first.
    first: Option<First>,
    /// The number that was given last.
    last: i32,
    /// What was the policy of all before, the latest at the end.
    before: Vec<Version>,
}

/// What the database holds of it.
struct There {
    roll: Roll,
    signature: String,
}

impl Folder {
    /// Signs what counts from now on.
    pub async fn sign_roll(&mut self, client: &Client) -> Result<Roll, FolderError> {
        let until_ms = (clock::now().unix_ms + COUNTS_MS).max(self.rolled().until_ms);
        self.sign_until(client, until_ms).await
    }

    async fn sign_until(&mut self, client: &Client, until_ms: u64) -> Result<Roll, FolderError> {
        let now = clock::now().unix_ms;
        let known = self.hosts().iter().filter(|known| known.revoked_ms.is_none());
        let members = known.filter_map(|known| {
            Some(Belongs { member: known.member.clone(), key: known.key.clone()?, desk: known.desk })
        });
        let members = serde_json::to_string(&members.collect::<Vec<_>>()).unwrap_or_default();
        let fleet = self.id().to_owned();
        let there = self.rolled_there(client).await?;
        let two = || FolderError::Behind("another copy of this folder signs, too".to_owned());
        // Another copy of the folder has signed since it was looked at: the next look takes that in.
        if there.as_ref().is_some_and(|there| self.is_behind(there)) {
            return Err(two());
        }
        let rolled = self.rolled();
        rolled.number = rolled.number.saturating_add(1);
        let roll = Roll {
            fleet,
            number: rolled.number,
            at_ms: now,
            until_ms,
            members: Digest::of(members.as_bytes()).hex(),
            policy: rolled.policy.clone(),
            first: rolled.first.clone(),
        };
        let signed = roll.sign(&self.key);
        self.rolled().signature.clone_from(&signed.signature);
        // What was signed is never signed as something else, whatever becomes of it.
        self.save()?;
        // What nobody has signed goes; what another copy has signed meanwhile stays.
        let known = there.map_or_else(String::new, |there| there.signature);
        let written = client
            .execute(
                "INSERT INTO bashgate.roll (text, signature, members) VALUES ($1, $2, $3)
                 ON CONFLICT (one) DO UPDATE SET text = $1, signature = $2, members = $3
                 WHERE roll.signature = $4 OR $4 = ''",
                &[&signed.text, &signed.signature, &members, &known],
            )
            .await?;
        if written == 0 {
            return Err(two());
        }
        let rolled = self.rolled();
        rolled.written = rolled.number;
        self.save()?;
        // Whoever fills the queue of notifications keeps nobody from hearing of it: all look by themselves.
        if let Err(error) = client.batch_execute(&format!("NOTIFY {OF_FLEET}")).await {
            tracing::warn!(%error, "nobody is notified");
        }
        Ok(roll)
    }

    /// What the database holds of what this fleet's key has signed last.
    async fn rolled_there(&self, client: &Client) -> Result<Option<There>, FolderError> {
        let row = client.query_opt("SELECT text, signature FROM bashgate.roll", &[]).await?;
        let there = row.and_then(|row| {
            let signed = statement::in_row(&row, 0)?;
            Some(There { roll: signed.read::<Roll>(self.root())?, signature: signed.signature })
        });
        Ok(there.filter(|there| there.roll.fleet == self.id()))
    }

    /// True where this folder does not know what the fleet's key has signed there.
    fn is_behind(&mut self, there: &There) -> bool {
        let rolled = self.rolled();
        there.roll.number > rolled.written && there.signature != rolled.signature
    }

    /// Takes in what the fleet's key has signed and this folder does not know: it was put back from a backup, or there is another copy of it.
    /// Who was revoked meanwhile stays so, and the policy is the one that holds.
    pub async fn catch_up(&mut self, client: &Client) -> Result<(), FolderError> {
        let Some(there) = self.rolled_there(client).await?.filter(|there| self.is_behind(there)) else {
            return Ok(());
        };
        let There { roll: there, signature } = there;
        let behind = |why: &str| FolderError::Behind(why.to_owned());
        let row = client.query_opt("SELECT members FROM bashgate.roll WHERE signature = $1", &[&signature]).await?;
        let members = row.map(|row| row.get::<_, String>(0));
        let members = members.filter(|members| Digest::of(members.as_bytes()).hex() == there.members);
        let members = members.ok_or_else(|| behind("the database's list of members is not the one that was signed"))?;
        let members: Vec<Belongs> =
            serde_json::from_str(&members).map_err(|_| behind("the list of members cannot be read"))?;
        // Who was taken in, and who was revoked, at any time: each row as far as the fleet's key has signed it.
        let rows = "SELECT member, member_signature, revoked, revoked_signature FROM bashgate.host";
        let (mut joined, mut revoked) = (Vec::new(), Vec::new());
        for row in client.query(rows, &[]).await? {
            joined.extend(statement::in_row(&row, 0).and_then(|signed| signed.read::<Member>(self.root())));
            revoked.extend(statement::in_row(&row, 2).and_then(|signed| signed.read::<Revoked>(self.root())));
        }
        self.takes_in(&members, &joined, &revoked, there.at_ms);
        for version in there.versions() {
            let row =
                client.query_opt("SELECT text FROM bashgate.policy WHERE number = $1", &[&version.number]).await?;
            let text = row.map(|row| row.get::<_, String>(0));
            let text = text.filter(|text| Digest::of(text.as_bytes()).hex() == version.digest);
            let Some(text) = text else {
                // It holds by its digest.
                tracing::warn!(version.number, "the database does not hold the text of this policy");
                continue;
            };
            let path = self.policy_file(version.number);
            state::write_whole(&path, text.as_bytes()).map_err(|source| FolderError::File { path, source })?;
        }
        // No number comes again, also of one that holds no more.
        let named = there.versions().map(|version| version.number).max().unwrap_or(0);
        let near = named.max(self.rolled().last).saturating_add(FAR);
        let given = client
            .query_one("SELECT coalesce(max(number), 0) FROM bashgate.policy WHERE number <= $1", &[&near])
            .await?
            .get::<_, i32>(0)
            .max(named);
        let rolled = self.rolled();
        (rolled.signature, rolled.written) = (signature, there.number);
        if rolled.policy != there.policy {
            rolled.before.extend(rolled.policy.take());
        }
        rolled.last = rolled.last.max(given);
        rolled.until_ms = rolled.until_ms.max(there.until_ms);
        rolled.number = rolled.number.max(there.number);
        (rolled.policy, rolled.first) = (there.policy, there.first);
        self.save()?;
        tracing::warn!(
            "this folder was behind what its key has signed: was it put back, or is there a copy of it? It has caught up"
        );
        Ok(())
    }

    /// Signs what counts for so long from now on, whether or not somebody keeps the fleet meanwhile.
    pub async fn sign_for(&mut self, client: &Client, long: Duration) -> Result<Roll, FolderError> {
        self.catch_up(client).await?;
        let long = u64::try_from(long.as_millis()).unwrap_or(u64::MAX);
        let until_ms = clock::now().unix_ms.saturating_add(long);
        self.rolled().until_ms = until_ms;
        self.sign_until(client, until_ms).await
    }

    fn policy_file(&self, number: i32) -> PathBuf {
        self.path().join(format!("policy-{number}.toml"))
    }

    /// The text of a policy.
    pub fn policy_text(&self, number: i32) -> Result<String, FolderError> {
        let unknown = |_| FolderError::NoPolicy(format!("there is no policy {number}"));
        std::fs::read_to_string(self.policy_file(number)).map_err(unknown)
    }

    /// Gives a policy its number, and puts it where hosts find it. It is checked as far as that goes without a host.
    async fn publish(&mut self, client: &Client, text: &str) -> Result<Version, FolderError> {
        Bundle::parse(text)?;
        if text.len() > MOST_POLICY {
            return Err(FolderError::NoPolicy(format!("it is longer than {MOST_POLICY} bytes")));
        }
        let rolled = self.rolled();
        rolled.last = rolled.last.saturating_add(1);
        let number = rolled.last;
        let path = self.policy_file(number);
        state::write_whole(&path, text.as_bytes()).map_err(|source| FolderError::File { path, source })?;
        self.save()?;
        client
            .execute(
                "INSERT INTO bashgate.policy (number, text) VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET text = $2",
                &[&number, &text],
            )
            .await?;
        Ok(Version { number, digest: Digest::of(text.as_bytes()).hex() })
    }

    /// A new policy: for all hosts, or for some of them first.
    pub async fn push_policy(
        &mut self,
        client: &Client,
        text: &str,
        first: Vec<HostName>,
    ) -> Result<Version, FolderError> {
        self.catch_up(client).await?;
        for host in &first {
            if self.living(host).is_none_or(|known| known.desk) {
                return Err(FolderError::Unknown(host.clone()));
            }
        }
        let version = self.publish(client, text).await?;
        if first.is_empty() {
            self.holds(Some(version.clone()));
        } else {
            self.rolled().first = Some(First { version: version.clone(), hosts: first });
        }
        self.sign_roll(client).await?;
        Ok(version)
    }

    fn holds(&mut self, version: Option<Version>) {
        let rolled = self.rolled();
        let was = std::mem::replace(&mut rolled.policy, version);
        rolled.before.extend(was);
        rolled.first = None;
    }

    /// What some hosts have first is for all from now on.
    pub async fn widen_policy(&mut self, client: &Client) -> Result<Version, FolderError> {
        self.catch_up(client).await?;
        let first = self.rolled().first.clone();
        let none = || FolderError::NoPolicy("there is no policy that only some hosts have".to_owned());
        let version = first.ok_or_else(none)?.version;
        self.holds(Some(version.clone()));
        self.sign_roll(client).await?;
        Ok(version)
    }

    /// Back to what held before: where some hosts have another policy first, to that of all; else to the one before it, under a number
    /// of its own. `None` where there was none.
    pub async fn back_policy(&mut self, client: &Client) -> Result<Option<Version>, FolderError> {
        self.catch_up(client).await?;
        if self.rolled().first.take().is_none() {
            let before = self.rolled().before.pop();
            let now = match before {
                Some(before) => Some(self.publish(client, &self.policy_text(before.number)?).await?),
                None if self.rolled().policy.is_some() => None,
                None => return Err(FolderError::NoPolicy("there is no policy to go back from".to_owned())),
            };
            self.rolled().policy = now;
        }
        self.sign_roll(client).await?;
        Ok(self.rolled().policy.clone())
    }

    /// The policy of all, and the one that some have first.
    pub fn policies(&mut self) -> (Option<Version>, Option<First>) {
        (self.rolled().policy.clone(), self.rolled().first.clone())
    }

    /// What hosts say of themselves, of those that the fleet has signed for, and how old it is in milliseconds.
    pub async fn tells(&self, client: &Client) -> Result<BTreeMap<MemberId, (Told, u64)>, FolderError> {
        let now = clock::now().unix_ms;
        let rows = client.query("SELECT host, number, text, signature FROM bashgate.tells", &[]).await?;
        let mut all = BTreeMap::new();
        for known in self.hosts().iter().filter(|known| known.revoked_ms.is_none()) {
            let is_its = |row: &&tokio_postgres::Row| {
                row.get::<_, String>(0) == known.member.host.as_str() && row.get::<_, i32>(1) == known.member.number
            };
            let key = known.key.as_deref().and_then(PublicKey::parse);
            let tells = rows.iter().find(is_its).and_then(|row| statement::in_row(row, 2)?.read::<Tells>(&key?));
            if let Some(tells) = tells.filter(|tells| tells.member == known.member) {
                all.insert(known.member.clone(), (tells.what, now.saturating_sub(tells.at_ms)));
            }
        }
        Ok(all)
    }
}

/// What happens while a fleet is kept.
pub enum News {
    /// What counts was signed for the first time.
    Kept,
    /// Who has joined, or has tried to.
    Settled(Settled),
    /// What is wrong with what the database holds; empty where nothing is any more.
    Verified(Vec<Finding>),
    /// It does not work at the moment.
    Trouble(FolderError),
}

/// Keeps the fleet: takes in who joins, says every minute what counts, verifies what there is. Other commands work on the folder beside it.
pub async fn keep(
    folder: PathBuf,
    mut news: impl FnMut(News),
    stopped: impl Future<Output = ()>,
) -> Result<(), FolderError> {
    let mut stopped = std::pin::pin!(stopped);
    let [first, most] = WAITS;
    let mut pauses = Pauses::new(first, most);
    let mut is_new = true;
    let mut found = Vec::new();
    loop {
        pauses.begins();
        let error = tokio::select! {
            () = stopped.as_mut() => return Ok(()),
            error = keeps(&folder, &mut is_new, &mut found, &mut news) => error,
        };
        // What it is told at the start to do otherwise is said at once.
        if is_new && !matches!(error, FolderError::Database(_)) {
            return Err(error);
        }
        news(News::Trouble(error));
        tokio::select! {
            () = stopped.as_mut() => return Ok(()),
            () = tokio::time::sleep(pauses.pause()) => {}
        }
    }
}

/// A look at all records that goes on beside everything else.
type Looks = JoinHandle<Result<(Report, Vec<(MemberId, Seen)>), FolderError>>;

/// Does so with one connection, until something fails.
async fn keeps(folder: &Path, is_new: &mut bool, found: &mut Vec<String>, news: &mut impl FnMut(News)) -> FolderError {
    let mut looks = None::<Looks>;
    let work = async {
        let client = timely(Folder::open(folder)?.connect()).await?;
        let (mut signed, mut verified) = (None::<Instant>, None::<Instant>);
        loop {
            let is_due = |at: Option<Instant>, every| at.is_none_or(|at| at.elapsed() >= every);
            // Open for as long as it is needed: other commands wait for it.
            let mut open = Folder::open(folder)?;
            let settled = timely(async {
                // First of all: whatever keeps a host from joining, the others wait for this.
                if is_due(signed, SIGN) {
                    open.catch_up(&client).await?;
                    open.sign_roll(&client).await?;
                    signed = Some(Instant::now());
                    if std::mem::take(is_new) {
                        news(News::Kept);
                    }
                }
                open.settle(&client).await
            })
            .await?;
            if !settled.joined.is_empty() || !settled.unproven.is_empty() {
                news(News::Settled(settled));
            }
            if is_due(verified, VERIFY) && looks.is_none() {
                timely(async { Ok::<_, FolderError>(schema::months(&client).await?) }).await?;
                let (hosts, root) = (open.hosts().to_vec(), *open.root());
                let mut own = timely(open.connect()).await?;
                looks = Some(tokio::spawn(async move { Ok(verify::look(&hosts, root, &mut own).await?) }));
                verified = Some(Instant::now());
            }
            if let Some(done) = looks.take_if(|looks| looks.is_finished()) {
                let (report, seen) =
                    done.await.map_err(|_| DatabaseError::Sql("the look at it was ended".to_owned()))??;
                open.saw(seen)?;
                let words: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
                if words != *found {
                    *found = words;
                    news(News::Verified(report.findings));
                }
            }
            drop(open);
            tokio::time::sleep(LOOK).await;
        }
    };
    let never: Result<std::convert::Infallible, FolderError> = work.await;
    if let Some(looks) = looks {
        looks.abort();
    }
    match never {
        Err(error) => error,
        Ok(never) => match never {},
    }
}
