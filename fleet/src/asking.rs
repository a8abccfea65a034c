//! A host's side of desks: what it holds goes to the fleet's database, and what was said at desks comes back from there.
//!
//! Nothing is decided here. What was said is handed to the host as it was signed; the host says whether it counts.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bashgate_shared::say;
use bashgate_shared::seal::HostKey;
use tokio::sync::{Notify, mpsc};
use tokio_postgres::Client;

use super::database::{Pauses, timely};
use super::membership::Membership;
use super::shipping::{ShippingError, entered};
use super::statement::{Question, Reply, Statement as _};
use bashgate::fleet::wire::{Answered, FromFleet, MOST, Shown, ToFleet};

/// How often is looked for what was said where no notification came.
const LOOK: Duration = Duration::from_secs(1);
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
pub async fn ask(state: &Path, mut lines: mpsc::UnboundedReceiver<ToFleet>) {
    // A host whose configuration names no desk begins nothing.
    loop {
        match lines.recv().await {
            Some(ToFleet::Begin) => break,
            Some(_) => {}
            None => return,
        }
    }
    let mut asking = Asking {
        lines,
        shown: BTreeMap::new(),
        unsent: Vec::new(),
        replies: VecDeque::new(),
        said: BTreeMap::new(),
        over: VecDeque::new(),
        began: Instant::now(),
        upto: 0,
        trouble: None,
    };
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
        let heard = Arc::new(Notify::new());
        let (key, client) = entered(&membership, state, heard.clone()).await?;
        client.batch_execute(&format!("LISTEN {TO_HOSTS}")).await?;
        let here = Here { membership: &membership, key: &key, client: &client };
        // What this connection's database has is not known.
        self.unsent = self.shown.keys().cloned().collect();
        self.upto = 0;
        let mut swept = false;
        loop {
            while let Ok(line) = self.lines.try_recv() {
                self.take(line);
            }
            timely(self.send(&here)).await?;
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
            self.stands(None);
            tokio::select! {
                line = self.lines.recv() => match line {
                    Some(line) => self.take(line),
                    None => return Ok(()),
                },
                () = heard.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    fn take(&mut self, line: ToFleet) {
        match line {
            ToFleet::Begin => {}
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
            .execute(
                "INSERT INTO question (host, number, id, text, signature) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (host, number, id) DO UPDATE SET text = $4, signature = $5",
                &[&member.host.as_str(), &member.number, &shown.id, &signed.text, &signed.signature],
            )
            .await?;
        Ok(())
    }

    async fn replies(&self, number: i64, to: &str, reply: Option<Answered>) -> Result<(), ShippingError> {
        let member = &self.membership.member;
        let signed = Reply { member: member.clone(), to: to.to_owned(), reply }.sign(self.key);
        self.client
            .execute(
                "UPDATE said SET reply = $4, reply_signature = $5
                 WHERE host = $1 AND number = $2 AND n = $3 AND reply IS NULL",
                &[&member.host.as_str(), &member.number, &number, &signed.text, &signed.signature],
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
            .query(
                "SELECT n, text, signature FROM said WHERE host = $1 AND number = $2 AND reply IS NULL AND n > $3
                 AND at > now() - interval '5 minutes' AND length(text)::bigint <= $4 AND length(signature) <= 256 ORDER BY n LIMIT $5",
                &[&member.host.as_str(), &member.number, &behind, &most, &WORDS],
            )
            .await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect())
    }
}
