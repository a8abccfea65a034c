//! A desk: shows in its channels what the hosts of a fleet hold, hears what people say there, and signs it for the host that it is for.
//!
//! It decides nothing, and keeps nothing but its key: as many desks as wanted may run, wherever, and die at any moment. In each channel one
//! of them speaks at a time, for as long as the database's clock gives it; another one goes on with the cards that are shown.
//!
//! INVARIANT: each host says in its own configuration which desks it hears, and whose word counts there. A desk that is taken over can say
//! anything in the name of those people, to those hosts, and nothing else.

mod hosts;
mod ids;
mod speaking;
mod terminal;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bashgate::approval::{ApprovalId, Card, Word};
use bashgate::chat::Board;
use bashgate::chat::grammar::{self, Said};
use bashgate::chat::link::Overheard;
use bashgate::chat::notice;
use bashgate::chat::settings::{self, ChatFile, Settings};
use bashgate::clock;
use bashgate::config::ListenFile;
use bashgate::control;
use bashgate::fleet::roll::{Own, RollError};
use bashgate::fleet::wire::{Answered, Words};
use bashgate::held::held;
use bashgate_shared::protocol::WorkspaceName;
use bashgate_shared::seal::HostKey;
use serde::Deserialize;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use super::asking::{TO_DESKS, TO_HOSTS, WAITS};
use super::database::{DatabaseError, Notices, OF_FLEET, Pauses, timely};
use super::membership::{Membership, MembershipError, Taken};
use super::statement::{self, Question, Reply, Signed, Statement as _};
use super::{MemberId, random_hex};
use hosts::{Hosts, Known};
use ids::{Ids, Whose};
use speaking::{Heard, Speaking};
use terminal::Asked;

/// How often the database is looked at where no notification came.
const LOOK: Duration = Duration::from_secs(1);
/// How long is waited for what a host replies: a little less than a channel waits for us.
const REPLY: Duration = Duration::from_secs(12);
/// Most questions of one host that are shown, and how long all of them may be in bytes: one that floods hides none of another's.
const MOST_OF_A_HOST: i64 = 300;
const MOST_BYTES: i64 = 32 << 20;
/// So many cards of one host are told within so long; more are there for who looks.
const TOLD: usize = 30;
const TOLD_IN: Duration = Duration::from_mins(10);
/// Most letters of one host's reply where several reply.
const MOST_OF_A_REPLY: usize = 600;
/// What is said where nobody knows whether words will reach their host.
const MAY_COUNT: &str = "What was said may still count within half a minute. Say: pending";
/// Longest that a card is shown as open, whatever its host says, in milliseconds.
const LONGEST_MS: u64 = 3_600_000;

/// Why a desk does not work.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// There is none here.
    #[error("there is no desk in {}", .0.display())]
    None(PathBuf),
    /// What is here belongs to a host.
    #[error("{} is a host's, not a desk's", .0.display())]
    NoDesk(PathBuf),
    /// Its configuration.
    #[error("{}: {why}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Its membership.
    #[error(transparent)]
    Membership(#[from] MembershipError),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// What counts in the fleet is not known.
    #[error(transparent)]
    Roll(RollError),
    /// It is no member any more, or not yet.
    #[error("{0}")]
    NotTaken(&'static str),
}

impl DeskError {
    /// What to do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::None(_) => {
                "make a token with `bashgate fleet enrol NAME --desk` where the fleet is run, and here: bashgate desk join NAME.token"
            }
            Self::NoDesk(_) => "name another folder with --folder DIR",
            Self::Config { .. } => "docs/fleet.md says what stands in it",
            Self::Membership(error) => error.help(),
            Self::Database(error) => error.help(),
            Self::Roll(_) => "where the fleet is run, let this run: bashgate fleet run",
            Self::NotTaken(_) => "where the fleet is run: bashgate fleet list",
        }
    }
}

impl From<tokio_postgres::Error> for DeskError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<bashgate::state::StateError> for DeskError {
    fn from(error: bashgate::state::StateError) -> Self {
        Self::Membership(error.into())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    chat: BTreeMap<String, ChatFile>,
    #[serde(default)]
    page: ListenFile,
}

/// A desk's configuration, as it begins.
pub const CONFIG: &str = r#"# The channels of this desk, as in a host's own configuration (docs/chat.md). Other desks have the same ones: one of them speaks
# in each at a time. A workspace is named HOST.WORKSPACE here, as in web-1.default.
#
# [chat.team]
# kind = "telegram"
# token_file = "team.token"         # mode 600
# room = "-1001234567890"
# approvers = ["123456789"]
# workspaces = ["web-1.default"]    # all, without this line
#
# [page]
# listen = "127.0.0.1:8087"         # where `bashgate desk page` is served, for a tunnel; without it somewhere else each time
"#;

/// What stands in a desk's configuration.
pub struct Configured {
    /// Its channels.
    pub channels: BTreeMap<String, Settings>,
    /// Where its page is served from the start.
    pub page: Option<SocketAddr>,
}

/// Reads the configuration of a desk.
pub fn configured(folder: &Path) -> Result<Configured, DeskError> {
    let path = folder.join("desk.toml");
    let failed = |why: String| DeskError::Config { path: path.clone(), why };
    let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    let file: File = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let channels = settings::read(file.chat, folder).map_err(failed)?;
    if let Some(settings) = channels.values().find(|settings| settings.desk.is_some()) {
        return Err(failed(format!("`[chat.{}]` is a desk, which a desk cannot speak through", settings.name)));
    }
    Ok(Configured { channels, page: file.page.address("page").map_err(failed)? })
}

/// The membership of the desk in a folder.
pub fn membership(folder: &Path) -> Result<Membership, DeskError> {
    let membership = Membership::load(folder)?.filter(Membership::is_complete);
    let membership = membership.ok_or_else(|| DeskError::None(folder.to_owned()))?;
    if membership.desk { Ok(membership) } else { Err(DeskError::NoDesk(folder.to_owned())) }
}

/// Runs the desk in a folder until it is stopped. `ready` is called once it has shown and heard for the first time.
pub async fn run(
    folder: &Path,
    ready: impl FnOnce(&Membership),
    stopped: impl Future<Output = ()>,
) -> Result<(), DeskError> {
    let mut stopped = std::pin::pin!(stopped);
    let (membership, Configured { channels, page }) = (membership(folder)?, configured(folder)?);
    let key = membership.key(folder)?;
    let own = Own::read(folder).ok_or_else(|| DeskError::None(folder.to_owned()))?;
    let (hears, mut heard) = mpsc::unbounded_channel();
    let desk = Arc::new(Desk {
        membership,
        key,
        channels,
        board: Board::default(),
        hosts: Mutex::new(Hosts::new(own)),
        ids: Mutex::default(),
        shown: Mutex::default(),
        unfit: Mutex::default(),
        signed: Mutex::default(),
        told: Mutex::default(),
        waiting: Mutex::default(),
        changed: Notify::new(),
        reaches: Arc::default(),
        started: Instant::now(),
    });
    let speaking = Speaking::new(&desk.channels, desk.board.clone(), hears)
        .map_err(|why| DeskError::Config { path: folder.join("desk.toml"), why })?;
    let speaking = Arc::new(speaking);
    let listener = terminal::open(folder).map_err(|why| DeskError::Config { path: folder.to_owned(), why })?;
    let (asks, mut asked) = mpsc::unbounded_channel();
    let served = terminal::page(&desk, asks.clone());
    if let Some(address) = page {
        let failed =
            |error| DeskError::Config { path: folder.join("desk.toml"), why: format!("`page.listen`: {error}") };
        served.open(Some(address)).await.map_err(failed)?;
    }
    let serves = tokio::spawn(terminal::serve(listener, asks, served));
    let mut ready = Some(ready);
    let [first, most] = WAITS;
    let mut pauses = Pauses::new(first, most);
    loop {
        pauses.begins();
        let served = desk.clone().serve(&speaking, (&mut heard, &mut asked), &mut ready, stopped.as_mut()).await;
        let error = match served {
            Ok(()) => {
                serves.abort();
                let _ = std::fs::remove_file(bashgate::state::socket(folder));
                return Ok(());
            }
            Err(error) => error,
        };
        // Without the database nothing says who speaks.
        speaking.falls_silent();
        // What it is told at the start to do otherwise is said at once.
        if ready.is_some() && !matches!(error, DeskError::Database(_) | DeskError::Roll(_)) {
            return Err(error);
        }
        tracing::warn!(%error, "the desk does not reach its fleet");
        desk.reaches.store(false, Ordering::Relaxed);
        let mut pause = std::pin::pin!(tokio::time::sleep(pauses.pause()));
        loop {
            // What is held lapses meanwhile, whoever says so.
            desk.board.lapse(clock::now().boot_ms);
            tokio::select! {
                () = stopped.as_mut() => return Ok(()),
                () = pause.as_mut() => break,
                () = tokio::time::sleep(LOOK) => {}
                // Nobody's answer is kept for later.
                Some(asked) = asked.recv() => asked.refuse(terminal::CUT_OFF),
            }
        }
    }
}

/// What is shown of a question.
struct Shown {
    /// Whose it is.
    member: MemberId,
    /// What an answer is bound to.
    digest: String,
    /// Its workspace, as channels name it.
    workspace: WorkspaceName,
}

/// Where somebody speaks: the desk says what that is about, each host whose word counts.
enum Speaker<'a> {
    /// In a channel, as this person of its service.
    Channel(&'a Settings, &'a str),
    /// In the desk's own terminal.
    Terminal,
}

impl Speaker<'_> {
    fn sees(&self, workspace: &WorkspaceName) -> bool {
        match self {
            Self::Channel(settings, _) => settings.is_about(workspace),
            Self::Terminal => true,
        }
    }

    fn answers_for(&self, workspace: &WorkspaceName) -> bool {
        match self {
            Self::Channel(settings, user) => self.sees(workspace) && settings.who_answers(workspace).contains(*user),
            Self::Terminal => true,
        }
    }

    /// True where it is about some workspaces only.
    fn is_about_some(&self) -> bool {
        matches!(self, Self::Channel(settings, _) if settings.workspaces.is_some())
    }
}

/// What somebody says.
struct Speech<'a> {
    words: &'a str,
    /// The version of the card that was on the screen.
    version: Option<u64>,
    account: String,
    name: String,
    on: Option<bool>,
    sees_all: bool,
}

/// Words that wait for a reply.
struct Waiting {
    text: String,
    member: MemberId,
    reply: oneshot::Sender<Option<Answered>>,
}

struct Desk {
    membership: Membership,
    key: HostKey,
    channels: BTreeMap<String, Settings>,
    board: Board,
    hosts: Mutex<Hosts>,
    /// Locked before the board: what stands here is what the board shows.
    shown: Mutex<BTreeMap<ApprovalId, Shown>>,
    ids: Mutex<Ids>,
    /// Rows that are nothing to be shown, by their digests: they are not read again.
    unfit: Mutex<BTreeSet<String>>,
    /// Rows that were read and are their hosts'.
    signed: Mutex<BTreeSet<String>>,
    /// When cards of each host were told of late.
    told: Mutex<BTreeMap<MemberId, VecDeque<Instant>>>,
    waiting: Mutex<HashMap<i64, Waiting>>,
    /// Words wait for a reply that were not there before.
    changed: Notify,
    /// It reaches its fleet.
    reaches: Arc<AtomicBool>,
    started: Instant,
}

impl Desk {
    async fn serve(
        self: Arc<Self>,
        speaking: &Arc<Speaking>,
        (heard, asked): (&mut mpsc::UnboundedReceiver<Heard>, &mut mpsc::UnboundedReceiver<Asked>),
        ready: &mut Option<impl FnOnce(&Membership)>,
        mut stopped: std::pin::Pin<&mut impl Future<Output = ()>>,
    ) -> Result<(), DeskError> {
        let notified = Arc::new(Notices::default());
        let login = self.membership.login();
        let client = Arc::new(self.membership.address.connect_and_hear(&login, notified.clone()).await?);
        match self.membership.taken(&client, self.key.public()).await? {
            Taken::Yes => {}
            Taken::NotYet => return Err(DeskError::NotTaken("whoever runs the fleet has not taken this desk in yet")),
            Taken::Revoked => {
                return Err(DeskError::NotTaken("this desk was revoked: it belongs to the fleet no more"));
            }
        }
        // What is lost by a server that dies is said again: nobody waits for its disk.
        let listens = format!("LISTEN {TO_DESKS}; LISTEN {OF_FLEET}; SET synchronous_commit = off");
        client.batch_execute(&listens).await?;
        // However much there is to be shown, time to speak is asked for beside it.
        let keeper = self.membership.address.connect(&login).await?;
        speaking.renew(&keeper).await?;
        let speaks = speaking.clone();
        // It ends with this connection.
        let mut renews = JoinSet::new();
        renews.spawn(async move {
            loop {
                tokio::time::sleep(speaking::RENEW).await;
                timely(speaks.renew(&keeper)).await?;
            }
        });
        let mut looked = None::<Instant>;
        loop {
            if let Some(failed) = renews.try_join_next() {
                let failed: Result<(), DatabaseError> = failed.unwrap_or(Ok(()));
                return Err(failed
                    .err()
                    .unwrap_or(DatabaseError::Sql("time to speak is asked for no more".to_owned()))
                    .into());
            }
            let is_time = looked.is_none_or(|at| at.elapsed() >= LOOK);
            if is_time {
                looked = Some(Instant::now());
            }
            tokio::select! {
                () = stopped.as_mut() => {
                    speaking.falls_silent();
                    return Ok(());
                }
                done = timely(self.pass(&client, speaking, is_time)) => done?,
            }
            self.reaches.store(true, Ordering::Relaxed);
            if let Some(ready) = ready.take() {
                ready(&self.membership);
            }
            tokio::select! {
                () = stopped.as_mut() => {
                    speaking.keep(&client).await?;
                    speaking.leaves(&client).await;
                    return Ok(());
                }
                Some((overheard, at_ms)) = heard.recv() => {
                    // Whoever has said it was told by now that nothing came of it.
                    if !overheard.reply.is_closed() {
                        let (desk, client) = (self.clone(), client.clone());
                        tokio::spawn(async move { desk.hear(&client, overheard, at_ms).await });
                    }
                }
                Some(asked) = asked.recv() => {
                    // As above.
                    if asked.is_given_up() {
                        continue;
                    }
                    let (desk, client) = (self.clone(), client.clone());
                    tokio::spawn(async move { desk.asked(&client, asked).await });
                }
                () = notified.something() => {}
                () = self.changed.notified() => {}
                () = speaking.remembers() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// One look at everything.
    async fn pass(&self, client: &Client, speaking: &Speaking, is_time: bool) -> Result<(), DeskError> {
        if is_time {
            let known = { held(&self.hosts).roll().to_owned() };
            if let Some(brought) = hosts::brought(client, &known).await? {
                // What is known already goes on to count for as long as it does.
                if let Err(error) = held(&self.hosts).take(&brought) {
                    tracing::warn!(%error, "a roll of the fleet counts for nothing");
                }
            }
            held(&self.hosts).trouble().map_or(Ok(()), |trouble| Err(DeskError::Roll(trouble)))?;
            client.execute("SELECT tidy()", &[]).await?;
            // Of a host that is gone nobody says what became of its cards.
            self.board.lapse(clock::now().boot_ms);
        }
        self.show(client).await?;
        self.replies(client).await?;
        Ok(speaking.keep(client).await?)
    }

    /// Brings the board up to what hosts hold.
    async fn show(&self, client: &Client) -> Result<(), DeskError> {
        let (names, numbers): (Vec<String>, Vec<i32>) =
            held(&self.hosts).all().into_iter().map(|member| (member.host.to_string(), member.number)).unzip();
        let rows = client
            .query(
                "SELECT known.host, known.number, q.id, md5(q.text || q.signature) FROM unnest($1::text[], $2::integer[]) AS known (host, number),
                 LATERAL (SELECT *, sum(octet_length(text)) OVER (ORDER BY id) AS bytes FROM (
                     SELECT id, text, signature FROM question
                     WHERE host = known.host AND number = known.number ORDER BY id LIMIT $3) AS first) AS q WHERE q.bytes <= $4",
                &[&names, &numbers, &MOST_OF_A_HOST, &MOST_BYTES],
            )
            .await?;
        let mut there = Vec::new();
        let digests: BTreeSet<String> = rows.iter().map(|row| row.get(3)).collect();
        held(&self.unfit).retain(|digest| digests.contains(digest));
        held(&self.signed).retain(|digest| digests.contains(digest));
        held(&self.ids).tidy();
        let mut holding = Vec::new();
        for row in &rows {
            let (host, number, id, digest): (String, i32, String, String) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
            let Some(id) = ApprovalId::parse(&id) else { continue };
            let Some(known) = held(&self.hosts).of(&host, number) else { continue };
            if held(&self.unfit).contains(&digest) {
                continue;
            }
            // What its host has not signed says nothing of whose an id is, either.
            let question = if held(&self.signed).contains(&digest) {
                None
            } else {
                let row = client
                    .query_opt(
                        "SELECT text, signature FROM question WHERE host = $1 AND number = $2 AND id = $3",
                        &[&host, &number, &id.as_str()],
                    )
                    .await?;
                let question = row.and_then(|row| statement::in_row(&row, 0)?.read::<Question>(&known.key));
                let its =
                    question.filter(|question| question.member == known.member && question.shown.id == id.as_str());
                if its.is_none() {
                    tracing::warn!(host, %id, "a question that its host has not signed: it is not shown");
                    held(&self.unfit).insert(digest);
                    continue;
                }
                its
            };
            let whose = held(&self.ids).holds(&id, &known.member);
            holding.push((known, id, digest, question, whose));
        }
        for (known, id, digest, question, whose) in holding {
            // By now another host may have been seen with it.
            if whose != Whose::Its || held(&self.ids).disputed(&id).is_some() {
                if question.is_some() {
                    tracing::warn!(host = %known.member, %id, ?whose, "a question that is not shown: it is answered at its host");
                }
            } else {
                there.push((known.member.clone(), id.clone()));
                if let Some(question) = question {
                    self.put(&known, &id, digest.clone(), &question);
                }
            }
            held(&self.signed).insert(digest);
        }
        let gone: Vec<ApprovalId> = held(&self.shown)
            .iter()
            .filter(|(id, shown)| !there.iter().any(|(member, known)| *member == shown.member && known == *id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in gone {
            let disputed = held(&self.ids).disputed(&id);
            let mut shown = held(&self.shown);
            shown.remove(&id);
            self.board.end(&id, disputed.as_deref().unwrap_or("No longer held"));
        }
        Ok(())
    }

    /// Puts a question on the board as it stands.
    fn put(&self, known: &Known, id: &ApprovalId, row: String, question: &Question) {
        let shown = &question.shown;
        let mut all = held(&self.shown);
        let was = all.get(id).map(|shown| (shown.digest.clone(), shown.workspace.clone()));
        if let (Some(what), Some((digest, workspace))) = (&shown.over, was) {
            // What it was is shown already.
            all.insert(id.clone(), Shown { member: known.member.clone(), digest, workspace });
            return self.board.end(id, what);
        }
        let Ok(card) = serde_json::from_str::<Card>(&shown.card) else {
            held(&self.unfit).insert(row);
            tracing::warn!(host = %known.member, %id, "a question that this desk cannot read: is the host of another version?");
            return;
        };
        let Some(workspace) = hosts::displayed(&known.member, &card.workspace) else { return };
        let now = clock::now();
        let left = shown.until_ms.saturating_sub(now.unix_ms).min(LONGEST_MS);
        let card = Card { id: id.clone(), workspace: workspace.clone(), expires_boot_ms: now.boot_ms + left, ..card };
        let entry = Shown { member: known.member.clone(), digest: shown.digest(), workspace };
        all.insert(id.clone(), entry);
        match &shown.over {
            Some(what) => self.board.end(id, what),
            None if shown.is_quiet || !self.may_tell(&known.member) => self.board.put_quietly(card),
            None => self.board.put(card),
        }
    }

    /// Whether one more card of a host is told by itself: one that asks and asks keeps nobody from hearing of another's.
    fn may_tell(&self, member: &MemberId) -> bool {
        let mut told = held(&self.told);
        let told = told.entry(member.clone()).or_default();
        while told.front().is_some_and(|at| at.elapsed() > TOLD_IN) {
            told.pop_front();
        }
        let may = told.len() < TOLD;
        if may {
            told.push_back(Instant::now());
        }
        may
    }

    /// Takes what hosts have replied.
    async fn replies(&self, client: &Client) -> Result<(), DeskError> {
        let numbers: Vec<i64> = {
            let mut waiting = held(&self.waiting);
            waiting.retain(|_, words| !words.reply.is_closed());
            waiting.keys().copied().collect()
        };
        if numbers.is_empty() {
            return Ok(());
        }
        let rows = client
            .query("SELECT n, reply, reply_signature FROM said WHERE n = ANY ($1) AND reply IS NOT NULL", &[&numbers])
            .await?;
        for row in &rows {
            let number: i64 = row.get(0);
            let Some(words) = held(&self.waiting).remove(&number) else { continue };
            let MemberId { host, number, .. } = &words.member;
            let known = held(&self.hosts).of(host.as_str(), *number);
            let reply = known.and_then(|known| statement::in_row(row, 1)?.read::<Reply>(&known.key));
            let reply = reply.filter(|reply| reply.member == words.member && reply.to == words.text);
            let forged = || {
                Some(Answered {
                    ok: false,
                    text: "what the database holds for the host's reply is not the host's".to_owned(),
                })
            };
            let _ = words.reply.send(reply.map_or_else(forged, |reply| reply.reply));
        }
        Ok(())
    }

    /// Takes what somebody has said in a channel, and tells them what came of it.
    async fn hear(&self, client: &Client, overheard: Overheard, at_ms: u64) {
        let Overheard { channel, user, name, words, on, sees_all, .. } = &overheard;
        let told = match self.channels.get(channel).filter(|settings| settings.is_heard(user)) {
            None => None,
            Some(settings) => {
                let account = format!("{}:{user}", settings.kind.word());
                let said = Speech { words, version: None, account, name: name.clone(), on: *on, sees_all: *sees_all };
                self.told(client, &Speaker::Channel(settings, user), said, at_ms).await
            }
        };
        let _ = overheard.reply.send(told.map(|told| control::Reply {
            ok: told.ok,
            text: told.text,
            data: serde_json::Value::Null,
        }));
    }

    async fn told(&self, client: &Client, speaker: &Speaker<'_>, speech: Speech<'_>, at_ms: u64) -> Option<Answered> {
        let refused = |text: String| Some(Answered { ok: false, text });
        let said = grammar::read(speech.words);
        if said == Said::Talk {
            return None;
        }
        let mut words = Words {
            member: self.membership.member.clone(),
            nonce: String::new(),
            at_ms,
            account: speech.account,
            name: speech.name,
            words: speech.words.to_owned(),
            digest: None,
            on: speech.on,
            sees_all: speech.sees_all,
        };
        let is_about = |workspace: &WorkspaceName| speaker.answers_for(workspace);
        let mut is_asked_around = false;
        let to: Vec<MemberId> = match &said {
            Said::Help => return Some(Answered { ok: true, text: notice::HELP.to_owned() }),
            Said::Answer(id, ..) | Said::Show(id) | Said::Why(id) => {
                let shown = held(&self.shown);
                match shown.get(id).filter(|shown| speaker.sees(&shown.workspace)) {
                    // What was let through ahead is ended by its id: some host knows it.
                    None if matches!(said, Said::Answer(_, Word::Deny { .. }, _)) && !speaker.is_about_some() => {
                        is_asked_around = true;
                        held(&self.hosts).all()
                    }
                    None => {
                        let disputed = held(&self.ids).disputed(id);
                        return refused(disputed.unwrap_or_else(|| format!("{} `{id}`", notice::NOTHING_PENDING)));
                    }
                    Some(shown) if !is_about(&shown.workspace) => {
                        let workspace = &shown.workspace;
                        return refused(format!("you are not among those who may answer for {workspace} ({id})"));
                    }
                    // A yes is about what was on the screen.
                    Some(_)
                        if speech.version.is_some()
                            && matches!(said, Said::Answer(_, Word::Approve(_), _))
                            && self.board.card(id).map(|shown| shown.version) != speech.version =>
                    {
                        return refused(control::HAS_CHANGED.to_owned());
                    }
                    Some(shown) => {
                        words.digest = Some(shown.digest.clone());
                        vec![shown.member.clone()]
                    }
                }
            }
            Said::DenyAll(Some(workspace), _)
            | Said::Pause(workspace, _)
            | Said::Resume(workspace)
            | Said::Mute(workspace, _)
            | Said::Taint(Some(workspace)) => {
                let found = held(&self.hosts).workspace(workspace).filter(|_| is_about(workspace));
                let Some((member, plain)) = found else {
                    return refused(format!("there is no workspace `{workspace}` here; they are named HOST.WORKSPACE"));
                };
                words.words = words.words.replacen(workspace.as_str(), plain.as_str(), 1);
                vec![member]
            }
            // Hosts would answer for more than this channel is about.
            _ if speaker.is_about_some() && said != Said::Pending => {
                return refused("this channel is about some workspaces only: name one, as HOST.WORKSPACE".to_owned());
            }
            Said::Pending => return Some(self.pending(is_about)),
            Said::DenyAll(None, _) | Said::Denied | Said::Status | Said::Tasks | Said::Grants | Said::Taint(None) => {
                held(&self.hosts).all()
            }
            Said::Talk => return None,
        };
        if to.is_empty() {
            return refused("the fleet has no host yet".to_owned());
        }
        let is_one = to.len() == 1;
        let mut asked = Vec::new();
        for member in to {
            let nonce = random_hex::<16>().ok()?;
            let words = Words { member: member.clone(), nonce, ..words.clone() };
            asked.push((member.clone(), self.say(client, member, &words).await));
        }
        let until = tokio::time::Instant::now() + REPLY;
        let (mut all_ok, mut any_ok, mut lines) = (true, false, Vec::new());
        for (member, waits) in asked {
            let told = match waits {
                // Whether it is there nobody knows.
                Err(error) => Some(Answered { ok: false, text: format!("{error}. {MAY_COUNT}") }),
                Ok(reply) => {
                    let told = tokio::time::timeout_at(until, reply).await.ok().and_then(Result::ok);
                    told.unwrap_or_else(|| {
                        Some(Answered { ok: false, text: format!("no answer yet; it may be cut off. {MAY_COUNT}") })
                    })
                }
            };
            let Some(told) = told else { continue };
            // Asked around, most have nothing under the id.
            if is_asked_around && !told.ok && told.text.starts_with(notice::NOTHING_PENDING) {
                continue;
            }
            (all_ok, any_ok) = (all_ok && told.ok, any_ok || told.ok);
            lines.push(told_by(&member, &told.text, if is_one { usize::MAX } else { MOST_OF_A_REPLY }));
        }
        if is_asked_around && lines.is_empty() {
            return refused("nothing is held, or let through ahead, under this id at any host".to_owned());
        }
        (!lines.is_empty()).then(|| Answered { ok: all_ok || is_asked_around && any_ok, text: lines.join("\n") })
    }

    /// Says something to a host: what will come of it.
    async fn say(
        &self,
        client: &Client,
        member: MemberId,
        words: &Words,
    ) -> Result<oneshot::Receiver<Option<Answered>>, DeskError> {
        let Signed { text, signature } = words.sign(&self.key);
        let own = &self.membership.member;
        let n = say(client, &member, own, &Signed { text: text.clone(), signature }).await?;
        let (reply, waits) = oneshot::channel();
        held(&self.waiting).insert(n, Waiting { text, member, reply });
        self.changed.notify_one();
        Ok(waits)
    }

    /// What is held, as far as this channel is about it.
    fn pending(&self, is_about: impl Fn(&WorkspaceName) -> bool) -> Answered {
        let now = clock::now();
        let mut cards: Vec<_> = self.board.cards().into_iter().filter(|shown| shown.over.is_none()).collect();
        cards.retain(|shown| is_about(&shown.card.workspace));
        cards.sort_by_key(|shown| shown.card.expires_boot_ms);
        let line = |shown: &bashgate::chat::board::Shown| {
            let card = &shown.card;
            let left = card.expires_boot_ms.saturating_sub(now.boot_ms) / 1000;
            format!("{}  {}  {left} s  {}", card.id, card.workspace, notice::one_line(&card.command, 100))
        };
        let text = if cards.is_empty() {
            "Nothing is held.".to_owned()
        } else {
            cards.iter().take(50).map(line).collect::<Vec<_>>().join("\n")
        };
        Answered { ok: true, text }
    }
}

/// What a host replies, under its name: no reply looks like another host's.
fn told_by(member: &MemberId, text: &str, most: usize) -> String {
    let text: String = text.chars().take(most).collect();
    let breaks = |letter: char| {
        matches!(letter, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    format!("{member}: {}", text.split(breaks).collect::<Vec<_>>().join("\n    "))
}

/// Says something to a host in the name of a desk, in one go: its number in the database.
pub async fn say(client: &Client, to: &MemberId, desk: &MemberId, words: &Signed) -> Result<i64, DatabaseError> {
    // A notification that gets lost is made up for: hosts look by themselves.
    const INSERT: &str = "INSERT INTO said (host, number, desk, desk_number, text, signature) VALUES ($1, $2, $3, $4, $5, $6) RETURNING n";
    let statement = format!(
        "WITH new AS ({INSERT})
         SELECT n FROM new, LATERAL (SELECT pg_notify('{TO_HOSTS}', n::text)) AS told"
    );
    let (to_host, desk_host) = (to.host.as_str(), desk.host.as_str());
    let given: [(&(dyn ToSql + Sync), Type); 6] = [
        (&to_host, Type::TEXT),
        (&to.number, Type::INT4),
        (&desk_host, Type::TEXT),
        (&desk.number, Type::INT4),
        (&words.text, Type::TEXT),
        (&words.signature, Type::TEXT),
    ];
    let said = match client.query_typed_one(&statement, &given).await {
        // Where nobody can be notified it is said without: the statement is done whole or not at all.
        Err(error) if error.code() == Some(&SqlState::PROGRAM_LIMIT_EXCEEDED) => {
            client.query_typed_one(INSERT, &given).await?
        }
        said => said?,
    };
    Ok(said.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reply_looks_like_another_hosts() {
        let member = MemberId { fleet: "f".to_owned(), host: crate::HostName::parse("web-1").unwrap(), number: 1 };
        for end in ["\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{1d}", "\u{85}", "\u{2028}", "\u{2029}"] {
            let told = told_by(&member, &format!("done{end}web-2: Denied"), 600);
            assert!(
                told.starts_with("web-1: done\n    ") && told.lines().all(|line| !line.starts_with("web-2")),
                "{told}"
            );
        }
        assert_eq!(told_by(&member, &"x".repeat(1000), 600).len(), "web-1: ".len() + 600);
    }
}
