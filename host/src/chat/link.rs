//! Between the board and one channel: what is to be shown next, and what is to be done with what was heard.
//!
//! It holds up nobody. A channel that is away is tried again, later and later; meanwhile other channels and the expiry go on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::approval::{ApprovalId, Word};
use crate::clock::{self, Now};
use crate::control::Reply;

use super::board::{Board, Shown};
use super::card::Parts;
use super::channel::{self, Channel, Failure, Message, Piece, Spoken};
use super::columns;
use super::grammar::{self, Said};
pub use super::memory::Keeps;
use super::memory::{Memory, Posted};
use super::services::{Announce, Discord, Matrix, Slack, Telegram};
use super::settings::{Kind, Settings};

/// Longest words that are looked at.
const MOST_WORDS: usize = 2000;
/// How long a person's words wait for the host.
const CONFIRM: Duration = Duration::from_secs(15);
/// How long a pressed button waits for the word of the service that its card is shown.
const REMEMBERED_IN: Duration = Duration::from_secs(2);
/// First and longest pause before a service is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How often is looked whether it is time to remind people, in milliseconds.
const LONGEST_NAP_MS: u64 = 2000;
/// How long a card is up before a channel shows it, in milliseconds: what is asked and taken back at once rings nowhere.
const SETTLES_MS: u64 = 700;
/// How long a host that has started waits for what was held before to be asked again, before it calls it over.
const COME_BACK: Duration = Duration::from_secs(10);

/// What somebody said in a channel.
#[derive(Debug)]
pub struct Overheard {
    /// The channel's name.
    pub channel: String,
    /// The service's own id of the person.
    pub user: String,
    /// What they are called there.
    pub name: String,
    /// The words.
    pub words: String,
    /// For a pressed button: whether its message is the one that counts for the card.
    pub on: Option<bool>,
    /// For a word that lets it run for longer than once: the channel shows all of the card.
    pub sees_all: bool,
    /// Where the answer goes; `None` where these words are none of the host's business.
    pub reply: oneshot::Sender<Option<Reply>>,
}

/// Takes what was heard; false when nobody does any more.
pub type Hears = Arc<dyn Fn(Overheard) -> bool + Send + Sync>;

/// How a channel fares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// It was ready once: it shows what is held, and hears what is said from then on.
    pub has_begun: bool,
    /// What keeps it from showing right now.
    pub shows: Option<String>,
    /// What keeps it from hearing right now.
    pub hears: Option<String>,
}

impl Health {
    /// What keeps it from either.
    pub fn trouble(&self) -> Option<&str> {
        self.hears.as_deref().or(self.shows.as_deref())
    }
}

/// One half of what a channel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Shows,
    Hears,
}

/// A channel that goes on until this is dropped.
pub struct Running {
    task: JoinHandle<()>,
    health: Arc<Mutex<Health>>,
}

impl Running {
    /// How it fares.
    pub fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts the channel that the settings describe. What it remembers lies in a folder.
pub fn start(settings: &Settings, board: &Board, folder: &Path, hears: &Hears) -> Result<Running, String> {
    start_with(settings, board, Memory::open(folder.join(format!("{}.json", settings.name))), hears)
}

/// The same with what it remembers kept elsewhere: as it was, and who keeps each change.
pub fn start_kept(
    settings: &Settings,
    board: &Board,
    was: &str,
    keeps: Keeps,
    hears: &Hears,
) -> Result<Running, String> {
    start_with(settings, board, Memory::kept(was, keeps), hears)
}

fn start_with(settings: &Settings, board: &Board, memory: Memory, hears: &Hears) -> Result<Running, String> {
    let (settings, board, hears) = (settings.clone(), board.clone(), hears.clone());
    match settings.kind {
        Kind::Desk => Err("a desk is reached through the fleet".to_owned()),
        Kind::Discord => Ok(run(Discord::new(&settings)?, settings, board, memory, hears)),
        Kind::Ntfy | Kind::Webhook => Ok(run(Announce::new(&settings)?, settings, board, memory, hears)),
        Kind::Matrix => Ok(run(Matrix::new(&settings)?, settings, board, memory, hears)),
        Kind::Slack => Ok(run(Slack::new(&settings)?, settings, board, memory, hears)),
        Kind::Telegram => Ok(run(Telegram::new(&settings)?, settings, board, memory, hears)),
    }
}

fn run<C: Channel>(channel: C, settings: Settings, board: Board, memory: Memory, hears: Hears) -> Running {
    let health = Arc::new(Mutex::new(Health::default()));
    let link =
        Arc::new(Link { channel, settings, board, memory, hears, health: health.clone(), lost: Mutex::default() });
    let task = tokio::spawn(async move {
        let mut trouble = link.trouble(Half::Shows);
        while let Err(failure) = link.channel.begin().await {
            trouble.wait(&failure).await;
        }
        trouble.is_over();
        // Nothing is shown before we know from where on we listen: an answer to it would be nobody's news.
        let mut trouble = link.trouble(Half::Hears);
        while link.memory.position().is_none() {
            link.hear(&mut trouble).await;
        }
        link.health.lock().unwrap_or_else(PoisonError::into_inner).has_begun = true;
        tokio::join!(link.clone().show(), link.clone().listen());
    });
    Running { task, health }
}

struct Link<C> {
    channel: C,
    settings: Settings,
    board: Board,
    memory: Memory,
    hears: Hears,
    health: Arc<Mutex<Health>>,
    /// Cards that were sent when the connection broke: they may be shown, and nobody knows where.
    lost: Mutex<BTreeSet<ApprovalId>>,
}

/// What is to be done next.
#[derive(Debug)]
enum Act {
    Post(Shown),
    Change(Shown, Posted),
    /// A card of an earlier run that was not asked about again.
    Close(ApprovalId, Posted),
    Remind(ApprovalId, Posted, u64),
    /// One that may have been shown, without our knowing where.
    Say(Shown),
}

impl<C: Channel> Link<C> {
    fn trouble(&self, half: Half) -> Trouble<'_> {
        Trouble {
            name: &self.settings.name,
            token: &self.settings.token.0,
            pause: FIRST_PAUSE,
            is_said: false,
            health: &self.health,
            half,
        }
    }

    /// Brings what is shown up to the board, over and over.
    async fn show(self: Arc<Self>) {
        let started = tokio::time::Instant::now();
        let mut changes = self.board.watch();
        let mut trouble = self.trouble(Half::Shows);
        // What was said before is nobody's news.
        let (_, mut remarked) = self.board.remarks(u64::MAX);
        loop {
            changes.mark_unchanged();
            let done = match self.next(clock::now(), started.elapsed() > COME_BACK) {
                Some(act) => self.perform(act).await,
                None => match self.remark(&mut remarked).await {
                    Ok(true) => Ok(()),
                    Ok(false) => {
                        // Something changes, or it is time to show a card, or to remind people.
                        let _ = tokio::time::timeout(self.nap(clock::now()), changes.changed()).await;
                        continue;
                    }
                    Err(failure) => Err(failure),
                },
            };
            match done {
                Ok(()) => trouble.is_over(),
                Err(failure) => trouble.wait(&failure).await,
            }
        }
    }

    fn lost(&self) -> MutexGuard<'_, BTreeSet<ApprovalId>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be done next. What lapses first is shown first.
    fn next(&self, now: Now, all_came_back: bool) -> Option<Act> {
        let hours = &self.settings.hours;
        let is_quiet = hours.is_quiet(now.unix_ms);
        let mut cards = self.board.cards();
        let name = &self.settings.name;
        cards.retain(|shown| {
            shown.only.as_ref().is_none_or(|only| only == name) && self.settings.is_about(&shown.card.workspace)
        });
        cards.sort_by_key(|shown| (shown.over.is_some(), shown.card.expires_boot_ms));
        for shown in &cards {
            let left = shown.card.expires_boot_ms.saturating_sub(now.boot_ms);
            match self.memory.posted(&shown.card.id) {
                None if shown.over.is_none() && left > 0 && !shown.is_quiet => {
                    // Somebody who tests a channel waits for it.
                    let is_time = !is_quiet && self.settles_in(shown, now) == 0;
                    if is_time || shown.only.is_some() {
                        return Some(Act::Post(shown.clone()));
                    }
                }
                None if shown.over.is_some() && self.lost().contains(&shown.card.id) => {
                    return Some(Act::Say(shown.clone()));
                }
                Some(posted) if posted.version != Some(shown.version) => {
                    return Some(Act::Change(shown.clone(), posted));
                }
                Some(posted)
                    if shown.over.is_none()
                        && !posted.reminded
                        && !is_quiet
                        && (1..hours.remind_ms).contains(&left)
                        && now.unix_ms.saturating_sub(posted.at_ms) > hours.remind_ms =>
                {
                    return Some(Act::Remind(shown.card.id.clone(), posted, left / 1000));
                }
                _ => {}
            }
        }
        if !all_came_back {
            return None;
        }
        let gone = self.memory.all().into_iter().find(|(id, _)| self.board.card(id).is_none());
        gone.map(|(id, posted)| Act::Close(id, posted))
    }

    /// How long a card is not shown yet, in milliseconds.
    fn settles_in(&self, shown: &Shown, now: Now) -> u64 {
        let up = now.boot_ms.saturating_sub(shown.since_boot_ms);
        self.settings.hours.after_ms.max(SETTLES_MS).saturating_sub(up)
    }

    /// How long to wait for something to change: a card may be due before that, or a reminder.
    fn nap(&self, now: Now) -> Duration {
        let cards = self.board.cards();
        let open = cards.iter().filter(|shown| shown.over.is_none());
        let soonest = open.map(|shown| self.settles_in(shown, now)).filter(|left| *left > 0).min();
        Duration::from_millis(soonest.unwrap_or(LONGEST_NAP_MS).min(LONGEST_NAP_MS))
    }

    fn message(&self, shown: &Shown, now: Now) -> Message {
        let takes_code = self.settings.asks_code(shown.card.demands.code);
        let rings = self.settings.who_answers(&shown.card.workspace).iter().cloned().collect();
        Message { rings, ..channel::message(shown, now.boot_ms, now.unix_ms, C::WIDTH, takes_code) }
    }

    async fn perform(&self, act: Act) -> Result<(), Failure> {
        let now = clock::now();
        let written = |shown: &Shown| self.message(shown, now);
        match act {
            Act::Post(shown) => {
                let id = &shown.card.id;
                let message = match self.channel.post(&written(&shown), shown.version).await {
                    Ok(message) => message,
                    Err(Failure::Unfit(why)) => {
                        // Others show it, and it lapses to a denial.
                        tracing::error!(channel = self.settings.name, %id, why, "the service does not take a card");
                        self.channel
                            .say(&format!("A command is held that cannot be shown here: bashgate show {id}"), None)
                            .await?;
                        String::new()
                    }
                    Err(failure) => {
                        if matches!(failure, Failure::Away(_, None)) {
                            self.lost().insert(id.clone());
                        }
                        return Err(failure);
                    }
                };
                self.lost().remove(id);
                let posted = Posted { message, at_ms: now.unix_ms, reminded: false, version: Some(shown.version) };
                self.memory.has_shown(id, posted);
                Ok(())
            }
            Act::Change(shown, posted) => {
                self.change(&shown.card.id, &posted, &written(&shown), shown.version).await?;
                if shown.over.is_some() {
                    self.memory.is_done_with(&shown.card.id);
                } else if self.memory.posted(&shown.card.id).is_some() {
                    let posted = Posted { version: Some(shown.version), ..posted };
                    self.memory.has_shown(&shown.card.id, posted);
                }
                Ok(())
            }
            Act::Close(id, posted) => {
                let head = format!("Held: {id}");
                let parts = Parts { head, command: String::new(), about: String::new(), folded: false };
                let foot = "No longer held: the host was started anew, and nobody waits for it any more".to_owned();
                let message = Message { id: id.clone(), parts, foot, buttons: Vec::new(), rings: Vec::new() };
                self.change(&id, &posted, &message, 0).await?;
                self.memory.is_done_with(&id);
                Ok(())
            }
            Act::Say(shown) => {
                let id = &shown.card.id;
                let words = shown.over.as_deref().unwrap_or_default();
                self.channel.say(&format!("{words}: {id}"), None).await?;
                self.lost().remove(id);
                Ok(())
            }
            Act::Remind(id, posted, left) => {
                let behind = Some(posted.message.as_str()).filter(|message| !message.is_empty());
                self.channel.say(&format!("{left} s left, then it is denied: {id}"), behind).await?;
                self.memory.has_shown(&id, Posted { reminded: true, ..posted });
                Ok(())
            }
        }
    }

    async fn change(&self, id: &ApprovalId, posted: &Posted, message: &Message, version: u64) -> Result<(), Failure> {
        if posted.message.is_empty() {
            return Ok(());
        }
        match self.channel.change(&posted.message, message, version).await {
            Err(Failure::Gone) => {
                // Somebody took it away. One that can be answered is shown anew.
                self.memory.is_done_with(id);
                Ok(())
            }
            Err(Failure::Unfit(why)) => {
                tracing::warn!(channel = self.settings.name, %id, why, "the service does not change a card");
                Ok(())
            }
            done => done,
        }
    }

    /// Says the next remark. True when there was one.
    async fn remark(&self, remarked: &mut u64) -> Result<bool, Failure> {
        // At night nobody is told: it waits for the morning.
        if self.settings.hours.is_quiet(clock::now().unix_ms) {
            return Ok(false);
        }
        let (remarks, last) = self.board.remarks(*remarked);
        let Some(next) = remarks.iter().find(|remark| self.settings.is_about(&remark.workspace)) else {
            *remarked = last;
            return Ok(false);
        };
        self.channel.say(&next.words, None).await?;
        *remarked = next.number;
        Ok(true)
    }

    /// Hears what people say, over and over.
    async fn listen(self: Arc<Self>) {
        let mut trouble = self.trouble(Half::Hears);
        loop {
            self.hear(&mut trouble).await;
        }
    }

    /// Waits once for what people say.
    async fn hear(self: &Arc<Self>, trouble: &mut Trouble<'_>) {
        let cards: Vec<String> = self.memory.all().into_iter().map(|(_, posted)| posted.message).collect();
        match self.channel.listen(self.memory.position().as_deref(), &cards).await {
            Err(failure) => trouble.wait(&failure).await,
            Ok(heard) => {
                trouble.is_over();
                let mut spoken = heard.spoken;
                // Of what came in together a denial counts first.
                spoken.sort_by_key(|spoken| !is_denial(&spoken.words));
                for spoken in spoken {
                    self.clone().take(spoken).await;
                }
                self.memory.has_heard(heard.position);
            }
        }
    }

    async fn take(self: Arc<Self>, spoken: Spoken<C::To>) {
        let is_pressed = spoken.on.is_some();
        // Nobody else's word is waited for.
        let is_for_longer = is_for_longer(&grammar::read(&spoken.words));
        if (is_pressed || is_for_longer) && self.settings.is_heard(&spoken.user) {
            self.until_remembered(&spoken.words).await;
        }
        if spoken.words.len() > MOST_WORDS {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        let (on, sees_all) = self.standing(&spoken);
        let overheard = Overheard {
            channel: self.settings.name.clone(),
            user: spoken.user.clone(),
            name: spoken.name.clone(),
            words: spoken.words.clone(),
            on,
            sees_all,
            reply: sender,
        };
        if !(self.hears)(overheard) {
            return;
        }
        let reply = match tokio::time::timeout(CONFIRM, receiver).await {
            Ok(Ok(reply)) => reply,
            _ => Some(Reply::refused("it has not been confirmed yet, and may still be done; say: pending")),
        };
        // A button that does nothing is worse than one that says no.
        let refused = || Reply::refused("you are not among those who may answer here");
        let Some(reply) = reply.or_else(|| is_pressed.then(refused)) else { return };
        tokio::spawn(async move { self.replies(&spoken.to, &reply).await });
    }

    /// Gives an answer, in pieces where it is long. Each is tried for a while: what ends half way looks whole.
    async fn replies(&self, to: &C::To, reply: &Reply) {
        let all = pieces(&reply.text, C::WIDTH, C::LONGEST);
        for (number, words) in all.iter().enumerate() {
            let piece = Piece { number, of: all.len(), done: reply.ok, words };
            let mut tries = Tries::default();
            while let Err(failure) = self.channel.reply(to, piece).await {
                if !tries.again(&failure).await {
                    tracing::warn!(channel = self.settings.name, why = failure.why(), "a reply could not be given");
                    return;
                }
            }
        }
    }

    /// Who sees a card may press its button before the service has told us which message it is.
    async fn until_remembered(&self, words: &str) {
        let (Said::Answer(id, ..) | Said::Show(id)) = grammar::read(words) else { return };
        let is_being_shown =
            || self.memory.posted(&id).is_none() && self.board.card(&id).is_some_and(|shown| shown.over.is_none());
        let end = tokio::time::Instant::now() + REMEMBERED_IN;
        while is_being_shown() && tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// For a pressed button, whether it stands under the message that counts; and, where it matters, whether this channel shows all of
    /// the card.
    fn standing(&self, spoken: &Spoken<C::To>) -> (Option<bool>, bool) {
        let said = grammar::read(&spoken.words);
        let (Said::Answer(id, ..) | Said::Show(id)) = &said else { return (None, false) };
        let posted = self.memory.posted(id).map(|posted| posted.message).filter(|message| !message.is_empty());
        let on = spoken.on.as_ref().map(|on| posted.as_ref() == Some(on));
        let shown = if is_for_longer(&said) && posted.is_some() { self.board.card(id) } else { None };
        let now = clock::now();
        let sees_all = shown.is_some_and(|shown| !self.message(&shown, now).parts.folded);
        (on, sees_all)
    }
}

/// True for a word that lets more run than what is asked.
fn is_for_longer(said: &Said) -> bool {
    matches!(said, Said::Answer(_, Word::Approve(scope), _) if scope.is_for_longer())
}

/// Words in pieces that fit a message, their lines broken where the channel's readers would see them broken.
fn pieces(words: &str, width: usize, longest: usize) -> Vec<String> {
    const MOST: usize = 8;
    const ROOM: usize = 40;
    let text = if words.contains('\n') { columns::fit_to(words, width) } else { words.to_owned() };
    let mut all: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (mut used, mut end, mut line_end) = (0, rest.len(), None);
        for (at, letter) in rest.char_indices() {
            used += letter.len_utf16();
            if used > longest - ROOM {
                end = line_end.unwrap_or(at);
                break;
            }
            if letter == '\n' {
                line_end = Some(at + 1);
            }
        }
        let (piece, after) = rest.split_at(end);
        all.push(piece.trim_end_matches('\n').to_owned());
        rest = after;
    }
    let is_too_much = all.len() > MOST;
    all.truncate(MOST);
    if is_too_much {
        all.push("There is more: read it at the host, with `bashgate show`.".to_owned());
    }
    let of = all.len();
    if of > 1 {
        for (number, piece) in all.iter_mut().enumerate() {
            piece.insert_str(0, &format!("({} of {of})\n", number + 1));
        }
    }
    all
}

/// How often and how long something small is tried again.
#[derive(Default)]
struct Tries(u32);

impl Tries {
    /// Waits a while; false where it is no use.
    async fn again(&mut self, failure: &Failure) -> bool {
        const MOST: u32 = 6;
        let Failure::Away(_, asked) = failure else { return false };
        self.0 += 1;
        let pause = asked.unwrap_or(FIRST_PAUSE * self.0).min(LONGEST_PAUSE);
        tokio::time::sleep(pause).await;
        self.0 < MOST
    }
}

fn is_denial(words: &str) -> bool {
    matches!(grammar::read(words), Said::Answer(_, Word::Deny { .. }, _) | Said::DenyAll(..))
}

/// Trouble with a service: said once, tried again later and later.
struct Trouble<'n> {
    name: &'n str,
    token: &'n str,
    pause: Duration,
    is_said: bool,
    health: &'n Mutex<Health>,
    half: Half,
}

impl Trouble<'_> {
    fn note(&self, why: Option<String>) {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match self.half {
            Half::Shows => health.shows = why,
            Half::Hears => health.hears = why,
        }
    }

    fn is_over(&mut self) {
        if self.is_said {
            tracing::warn!(channel = self.name, "the channel works again");
        }
        (self.pause, self.is_said) = (FIRST_PAUSE, false);
        self.note(None);
    }

    async fn wait(&mut self, failure: &Failure) {
        tokio::time::sleep(self.next_pause(failure)).await;
    }

    /// Says it, once, and how long to wait; the next time longer.
    fn next_pause(&mut self, failure: &Failure) -> Duration {
        let pause = match failure {
            Failure::Away(_, Some(asked)) => (*asked).min(Duration::from_mins(5)),
            Failure::Refused(_) => LONGEST_PAUSE.min(self.pause * 8),
            _ => self.pause,
        };
        // A service may say back what it was given.
        let why = failure.why().replace(self.token, "(the token)");
        self.note(Some(why.clone()));
        let is_busy = matches!(failure, Failure::Away(_, Some(_)));
        if !self.is_said && !is_busy {
            self.is_said = true;
            if matches!(failure, Failure::Refused(_)) {
                tracing::error!(
                    channel = self.name,
                    why,
                    "the channel is refused, and tells and hears nothing until that is mended"
                );
            } else {
                tracing::warn!(channel = self.name, why, "the channel is away; held commands lapse all the same");
            }
        }
        // Not all at once, where many hosts lost the same server.
        let mut byte = [0];
        let _ = getrandom::fill(&mut byte);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        pause + pause * u32::from(byte[0]) / 1024
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long a service is away, it is tried again each minute or so; and after that as soon as the first time.
    #[test]
    fn an_outage_of_an_hour_costs_no_more_than_a_minute_behind_it() {
        let health = Mutex::new(Health::default());
        let mut trouble =
            Trouble { name: "x", token: "t", pause: FIRST_PAUSE, is_said: false, health: &health, half: Half::Hears };
        let away = Failure::Away("away".to_owned(), None);
        let (mut waited, mut tries) = (Duration::ZERO, 0);
        while waited < Duration::from_hours(1) {
            let pause = trouble.next_pause(&away);
            assert!(pause <= LONGEST_PAUSE * 5 / 4, "{pause:?}");
            waited += pause;
            tries += 1;
        }
        assert!((50..200).contains(&tries), "{tries}");
        assert!(health.lock().unwrap().hears.is_some());
        trouble.is_over();
        assert!(health.lock().unwrap().hears.is_none());
        assert!(trouble.next_pause(&away) <= FIRST_PAUSE * 2);
    }
}
