//! A host's side of the others: what it holds goes to the fleet's database, and what it has seen; what was said at desks comes back from
//! there, what counts in the fleet, and what other hosts have seen.
//!
//! Nothing is decided here. What was said is handed to the host as it was signed; the host says whether it counts.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashgate_shared::command::Digest;
use bashgate_shared::say;
use bashgate_shared::seal::{HostKey, PublicKey};
use tokio::sync::mpsc;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::MemberId;
use super::database::{Notices, OF_FLEET, Pauses, timely};
use super::membership::Membership;
use super::shipping::{ShippingError, entered};
use super::statement::{self, Question, Reply, Signed, Statement as _};
use bashgate::clock;
use bashgate::fleet::roll::{Brought, MOST_MEMBERS, MOST_POLICY, Roll};
use bashgate::fleet::tells::{MOST_TELLS, Tells, Told};
use bashgate::fleet::wire::{Answered, FromFleet, MOST, Shown, ToFleet};

/// How often is looked for what was said where no notification came.
const LOOK: Duration = Duration::from_secs(1);
/// How often the fleet's roll is looked at, and what others tell, where no notification came.
const LOOK_AT_FLEET: Duration = Duration::from_secs(5);
/// How often it is looked at where there are notifications: whoever notifies all the time keeps nobody busy.
const NEWS_AT_MOST: Duration = Duration::from_millis(200);
/// How often what the host tells the others is signed anew: an old word counts as none.
const TELLS_AGAIN: Duration = Duration::from_mins(1);
/// How long what is over stays in the database, for desks that were away.
const OVER: Duration = Duration::from_mins(2);
/// How long what an earlier run of the host has held may stay until it is asked again.
const COME_BACK: Duration = Duration::from_secs(30);
/// How long is waited before the next try, first and most.
pub const WAITS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(20)];
/// Most words that are handed to the host in one go.
const WORDS: i64 = 100;
/// Most words that wait for the host's reply, and how long: no more are handed to it meanwhile.
const WAITING: usize = 256;
const REPLIES_IN: Duration = Duration::from_mins(1);
/// Hosts listen here, and desks there.
pub const TO_HOSTS: &str = "bashgate_hosts";
/// See [`TO_HOSTS`].
pub const TO_DESKS: &str = "bashgate_desks";

/// Does so for the host with this state folder for as long as there is something to hear from it.
pub async fn ask(state: &Path, lines: mpsc::UnboundedReceiver<ToFleet>) {
    let mut asking = Asking {
        lines,
        has_begun: false,
        shown: BTreeMap::new(),
        unsent: Vec::new(),
        replies: VecDeque::new(),
        said: BTreeMap::new(),
        over: VecDeque::new(),
        began: Instant::now(),
        upto: 0,
        trouble: None,
        told: None,
        hears: Vec::new(),
        brought: Bringing::default(),
    };
    // Nothing is asked of the database before there is something to say.
    match asking.lines.recv().await {
        Some(line) => asking.take(line),
        None => return,
    }
    let [first, most] = WAITS;
    let mut pauses = Pauses::new(first, most);
    loop {
        pauses.begins();
        match asking.serve(state).await {
            Ok(()) => return,
            Err(error) => asking.stands(Some(error.to_string())),
        }
        // What the host says meanwhile is taken in: of each card the newest state alone is kept.
        let again = tokio::time::sleep(pauses.pause());
        tokio::pin!(again);
        loop {
            tokio::select! {
                () = &mut again => break,
                line = asking.lines.recv() => match line {
                    Some(line) => asking.take(line),
                    None => return,
                },
            }
        }
    }
}

struct Asking {
    lines: mpsc::UnboundedReceiver<ToFleet>,
    /// Desks may answer for this host.
    has_begun: bool,
    /// What the host holds, and what was over of late.
    shown: BTreeMap<String, Shown>,
    /// What of it the database may not have.
    unsent: Vec<String>,
    /// Replies that the database has not got.
    replies: VecDeque<(i64, Option<Answered>)>,
    /// Words that wait for a reply, by their numbers.
    said: BTreeMap<i64, (Instant, String)>,
    over: VecDeque<(Instant, String)>,
    began: Instant,
    /// The last word that was handed to the host.
    upto: i64,
    trouble: Option<String>,
    /// What the host tells the others, and when that was signed last.
    told: Option<(Told, Option<Instant>)>,
    /// Whom of the others it wants to hear.
    hears: Vec<MemberId>,
    brought: Bringing,
}

impl Asking {
    fn stands(&mut self, trouble: Option<String>) {
        if self.trouble != trouble {
            self.trouble.clone_from(&trouble);
            says(&FromFleet::Desks(trouble));
        }
    }

    /// Works with one connection until it fails. Fine where the host says nothing any more.
    async fn serve(&mut self, state: &Path) -> Result<(), ShippingError> {
        let membership = Membership::load(state)?.ok_or(ShippingError::Unfinished)?;
        let heard = Arc::new(Notices::default());
        let (key, client) = entered(&membership, state, heard.clone()).await?;
        // What is lost by a server that dies is said again, or asked again: nobody waits for its disk.
        let listens = format!("LISTEN {TO_HOSTS}; LISTEN {OF_FLEET}; SET synchronous_commit = off");
        client.batch_execute(&listens).await?;
        let here = Here { membership: &membership, key: &key, client: &client };
        // What this connection's database has is not known.
        self.unsent = self.shown.keys().cloned().collect();
        self.upto = 0;
        let (mut swept, mut is_news, mut looked) = (false, false, None::<Instant>);
        loop {
            while let Ok(line) = self.lines.try_recv() {
                self.take(line);
            }
            timely(self.send(&here)).await?;
            timely(self.tells(&here)).await?;
            is_news |= heard.of_fleet();
            let pause = if is_news { NEWS_AT_MOST } else { LOOK_AT_FLEET };
            if looked.is_none_or(|at| at.elapsed() >= pause) {
                (looked, is_news) = (Some(Instant::now()), false);
                timely(self.brought.bring(&here, &self.hears)).await?;
            }
            if self.has_begun {
                if !swept && self.began.elapsed() > COME_BACK {
                    timely(here.sweep(&self.shown)).await?;
                    swept = true;
                }
                self.said.retain(|_, (since, _)| since.elapsed() < REPLIES_IN);
                let new = if self.said.len() < WAITING { timely(here.said(self.upto)).await? } else { Vec::new() };
                for (n, text, signature) in new {
                    self.upto = n;
                    // What the host has already is not said again.
                    if self.said.insert(n, (Instant::now(), text.clone())).is_none() {
                        says(&FromFleet::Said { number: n, text, signature });
                    }
                }
            }
            self.stands(None);
            let pause = if is_news { NEWS_AT_MOST } else { LOOK };
            tokio::select! {
                line = self.lines.recv() => match line {
                    Some(line) => self.take(line),
                    None => return Ok(()),
                },
                () = heard.something() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn take(&mut self, line: ToFleet) {
        match line {
            ToFleet::Begin => self.has_begun = true,
            // Not at once: who has written what was refused writes it again.
            ToFleet::Whole => {
                self.brought = Bringing { roll: std::mem::take(&mut self.brought.roll), ..Bringing::default() }
            }
            ToFleet::Tells { what, hears } => {
                self.told = Some((what, None));
                self.hears = hears;
                // Those that were not heard before are.
                self.brought.told.clear();
            }
            ToFleet::Card(card) => {
                if card.over.is_some() {
                    self.over.push_back((Instant::now(), card.id.clone()));
                }
                self.unsent.push(card.id.clone());
                self.shown.insert(card.id.clone(), card);
            }
            ToFleet::Reply { number, reply } => self.replies.push_back((number, reply)),
        }
    }

    /// Signs what the host tells the others, when it has changed and every minute.
    async fn tells(&mut self, here: &Here<'_>) -> Result<(), ShippingError> {
        let Some((what, signed)) = &mut self.told else { return Ok(()) };
        if signed.is_some_and(|at| at.elapsed() < TELLS_AGAIN) {
            return Ok(());
        }
        let is_new = signed.is_none();
        let member = &here.membership.member;
        let tells = Tells { member: member.clone(), at_ms: clock::now().unix_ms, what: what.clone() }.sign(here.key);
        here.client
            .execute(
                "INSERT INTO tells (host, number, text, signature) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (host, number) DO UPDATE SET text = $3, signature = $4",
                &[&member.host.as_str(), &member.number, &tells.text, &tells.signature],
            )
            .await?;
        *signed = Some(Instant::now());
        if is_new {
            let _ = here.client.batch_execute(&format!("NOTIFY {OF_FLEET}")).await;
        }
        Ok(())
    }

    /// Brings the database up to what the host has said.
    async fn send(&mut self, here: &Here<'_>) -> Result<(), ShippingError> {
        let mut is_new = false;
        while let Some(id) = self.unsent.last() {
            if let Some(shown) = self.shown.get(id) {
                here.shows(shown).await?;
            }
            self.unsent.pop();
            is_new = true;
        }
        while let Some((number, reply)) = self.replies.front() {
            if let Some((_, to)) = self.said.get(number) {
                here.replies(*number, to, reply.clone()).await?;
            }
            self.said.remove(number);
            self.replies.pop_front();
            is_new = true;
        }
        while self.over.front().is_some_and(|(at, _)| at.elapsed() > OVER) {
            let Some((_, id)) = self.over.front() else { break };
            // It may have come back.
            if self.shown.get(id).is_some_and(|shown| shown.over.is_some()) {
                here.forget(id).await?;
                self.shown.remove(id);
            }
            self.over.pop_front();
        }
        if is_new {
            // One that gets lost is made up for: desks look by themselves.
            let _ = here.client.batch_execute(&format!("NOTIFY {TO_DESKS}")).await;
        }
        Ok(())
    }
}

/// What of the fleet was handed to the host already.
#[derive(Default)]
struct Bringing {
    /// The roll's signature.
    roll: String,
    /// The digest of its list of members.
    members: String,
    /// The policy's.
    policy: String,
    /// The signature of what each other host has told.
    told: BTreeMap<(String, i32), String>,
}

impl Bringing {
    /// Hands to the host what has changed. Nothing is checked here that the host does not check itself.
    async fn bring(&mut self, here: &Here<'_>, hears: &[MemberId]) -> Result<(), ShippingError> {
        let most = i64::try_from(MOST_MEMBERS).unwrap_or(i64::MAX);
        let row = here
            .client
            .query_opt(
                "SELECT text, signature FROM roll WHERE signature <> $1 AND length(members)::bigint <= $2 AND length(text) <= 1048576",
                &[&self.roll, &most],
            )
            .await?;
        if let Some(signed) = row.and_then(|row| statement::in_row(&row, 0)) {
            self.roll_is(here, signed).await?;
        }
        for member in hears {
            let named = (member.host.to_string(), member.number);
            let known = self.told.get(&named).cloned().unwrap_or_default();
            let row = here
                .client
                .query_opt(
                    "SELECT text, signature FROM tells WHERE host = $1 AND number = $2 AND signature <> $3",
                    &[&named.0, &named.1, &known],
                )
                .await?;
            let is_fine = |signed: &Signed| signed.text.len() <= MOST_TELLS && signed.signature.len() <= 256;
            if let Some(signed) = row.and_then(|row| statement::in_row(&row, 0)).filter(is_fine) {
                self.told.insert(named, signed.signature.clone());
                // Another host's words in a host's own row are old ones: no host can write in another's.
                let is_anothers =
                    serde_json::from_str::<Tells>(&signed.text).is_ok_and(|tells| tells.member != *member);
                if is_anothers {
                    tracing::warn!(%member, "it says what another host has said");
                } else {
                    says(&FromFleet::Told(vec![signed]));
                }
            }
        }
        Ok(())
    }

    async fn roll_is(&mut self, here: &Here<'_>, signed: Signed) -> Result<(), ShippingError> {
        if signed.text.len() > 1 << 20 || signed.signature.len() > 256 {
            return Ok(());
        }
        let root = PublicKey::parse(&here.membership.root);
        let Some(roll) = root.and_then(|root| signed.read::<Roll>(&root)) else {
            // The host says so, and goes on with what it knows.
            self.roll.clone_from(&signed.signature);
            says(&FromFleet::Brought(Brought { roll: signed, members: None, policy: None }));
            return Ok(());
        };
        let mut brought = Brought { roll: signed.clone(), members: None, policy: None };
        if roll.members != self.members {
            let row =
                here.client.query_opt("SELECT members FROM roll WHERE signature = $1", &[&signed.signature]).await?;
            // Where it has changed meanwhile the next look brings it.
            let Some(row) = row else { return Ok(()) };
            let text: String = row.get(0);
            // What the host would refuse is not there: the next roll may bring it.
            if text.len() > MOST_MEMBERS || Digest::of(text.as_bytes()).hex() != roll.members {
                return Ok(());
            }
            brought.members = Some(text);
        }
        let version = roll.policy_of(&here.membership.member.host);
        if let Some(version) = version.filter(|version| version.digest != self.policy) {
            let most = i64::try_from(MOST_POLICY).unwrap_or(i64::MAX);
            let row = here
                .client
                .query_opt(
                    "SELECT text FROM policy WHERE number = $1 AND octet_length(text)::bigint <= $2",
                    &[&version.number, &most],
                )
                .await?;
            let is_it =
                |text: &String| text.len() <= MOST_POLICY && Digest::of(text.as_bytes()).hex() == version.digest;
            brought.policy = row.map(|row| row.get(0)).filter(is_it);
        }
        // What is not there is looked for again with the next roll.
        let has_it = version.is_some_and(|version| version.digest == self.policy) || brought.policy.is_some();
        self.policy = version.filter(|_| has_it).map(|version| version.digest.clone()).unwrap_or_default();
        (self.roll, self.members) = (signed.signature, roll.members.clone());
        says(&FromFleet::Brought(brought));
        Ok(())
    }
}

fn says(line: &FromFleet) {
    say!("{}", serde_json::to_string(line).unwrap_or_default());
}

struct Here<'a> {
    membership: &'a Membership,
    key: &'a HostKey,
    client: &'a Client,
}

impl Here<'_> {
    async fn shows(&self, shown: &Shown) -> Result<(), ShippingError> {
        let member = &self.membership.member;
        let signed = Question { member: member.clone(), shown: shown.clone() }.sign(self.key);
        self.client
            .execute_typed(
                "INSERT INTO question (host, number, id, text, signature) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (host, number, id) DO UPDATE SET text = $4, signature = $5",
                &[
                    (&member.host.as_str(), Type::TEXT),
                    (&member.number, Type::INT4),
                    (&shown.id, Type::TEXT),
                    (&signed.text, Type::TEXT),
                    (&signed.signature, Type::TEXT),
                ],
            )
            .await?;
        Ok(())
    }

    async fn replies(&self, number: i64, to: &str, reply: Option<Answered>) -> Result<(), ShippingError> {
        let member = &self.membership.member;
        let signed = Reply { member: member.clone(), to: to.to_owned(), reply }.sign(self.key);
        self.client
            .execute_typed(
                "UPDATE said SET reply = $4, reply_signature = $5
                 WHERE host = $1 AND number = $2 AND n = $3 AND reply IS NULL",
                &[
                    (&member.host.as_str(), Type::TEXT),
                    (&member.number, Type::INT4),
                    (&number, Type::INT8),
                    (&signed.text, Type::TEXT),
                    (&signed.signature, Type::TEXT),
                ],
            )
            .await?;
        Ok(())
    }

    async fn forget(&self, id: &str) -> Result<(), ShippingError> {
        self.client.execute("SELECT forget($1, false)", &[&[id].as_slice()]).await?;
        Ok(())
    }

    /// Takes away what an earlier run has held and nobody asks again.
    async fn sweep(&self, shown: &BTreeMap<String, Shown>) -> Result<(), ShippingError> {
        let ids: Vec<&str> = shown.keys().map(String::as_str).collect();
        self.client.execute("SELECT forget($1, true)", &[&ids]).await?;
        Ok(())
    }

    /// What was said behind a number. What is longer than words can be is nobody's.
    async fn said(&self, behind: i64) -> Result<Vec<(i64, String, String)>, ShippingError> {
        let member = &self.membership.member;
        let most = i64::try_from(MOST).unwrap_or(i64::MAX);
        let rows = self
            .client
            .query_typed(
                "SELECT n, text, signature FROM said WHERE host = $1 AND number = $2 AND reply IS NULL AND n > $3
                 AND at > now() - interval '5 minutes' AND length(text)::bigint <= $4 AND length(signature) <= 256 ORDER BY n LIMIT $5",
                &[
                    (&member.host.as_str(), Type::TEXT),
                    (&member.number, Type::INT4),
                    (&behind, Type::INT8),
                    (&most, Type::INT8),
                    (&WORDS, Type::INT8),
                ],
            )
            .await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
    }
}
