//! Desks of the fleet: what they show of what is held, and what is said there.

use std::collections::{BTreeMap, HashMap};

use tokio::sync::oneshot;

use super::{Core, Seldom};
use crate::approval::{ApprovalId, Word};
use crate::chat::grammar::{self, Said};
use crate::chat::link::Overheard;
use crate::chat::settings::Settings;
use crate::clock;
use crate::fleet::signed::Signed;
use crate::fleet::wire::{AHEAD_MS, Answered, FRESH_MS, MOST, MOST_CARD, Shown, ToFleet, Words};

/// Length of the number that words have for themselves, in hexadecimal digits.
const NONCE: usize = 32;
/// Most words that are remembered so that none counts twice: as many as one workspace's people never say in the time that a word counts.
const MOST_HEARD: usize = 10_000;

/// What desks have to do with this host.
#[derive(Default)]
pub(super) struct Desks {
    /// The board's version that desks have.
    version: Option<u64>,
    /// The open cards as desks were shown them.
    shown: BTreeMap<ApprovalId, AtDesks>,
    /// Words that were heard, until they are too old to count.
    heard: HashMap<String, u64>,
    /// When this host has started, by the wall clock of the first look.
    started_ms: Option<u64>,
    /// When words were last seen that nobody had signed who may.
    forged: Seldom,
}

/// A card as desks were shown it.
struct AtDesks {
    version: u64,
    /// What is told later by itself has the version that it had.
    is_quiet: bool,
    /// What answers to it are bound to.
    digest: String,
}

impl Core {
    /// Brings what desks show up to what is held.
    pub(super) fn show_desks(&mut self) {
        let Some(shipper) = &self.fleet.shipper else { return };
        let desks: Vec<_> = self.config.chat.values().filter(|settings| settings.desk.is_some()).collect();
        if desks.is_empty() {
            return;
        }
        let version = *self.desk.board().watch().borrow();
        if self.fleet.desks.version == Some(version) {
            return;
        }
        if self.fleet.desks.version.is_none() {
            shipper.has_desks();
        }
        self.fleet.desks.version = Some(version);
        let now = clock::now();
        for shown in self.desk.board().cards() {
            let id = &shown.card.id;
            let before = self.fleet.desks.shown.get(id);
            let is_new = before.is_none_or(|at| (at.version, at.is_quiet) != (shown.version, shown.is_quiet));
            let is_about = |desk: &&Settings| {
                desk.is_about(&shown.card.workspace) && shown.only.as_ref().is_none_or(|only| *only == desk.name)
            };
            // What was over before a desk saw it is nobody's news.
            if !is_new || before.is_none() && shown.over.is_some() || !desks.iter().any(is_about) {
                continue;
            }
            let text = serde_json::to_string(&*shown.card).unwrap_or_default();
            // One that has grown too long is over for desks: what they have shown is not all of it any more.
            let is_too_long = text.len() > MOST_CARD;
            if is_too_long {
                tracing::warn!(%id, "too long a card for desks: it is answered at this host");
                if before.is_none() {
                    continue;
                }
            }
            let left = shown.card.expires_boot_ms.saturating_sub(now.boot_ms);
            let card = Shown {
                id: id.to_string(),
                card: if is_too_long { String::new() } else { text },
                over: shown
                    .over
                    .clone()
                    .or_else(|| is_too_long.then(|| "Too long for a desk: answer it at its host".to_owned())),
                is_quiet: shown.is_quiet,
                until_ms: now.unix_ms + left,
            };
            if card.over.is_some() {
                self.fleet.desks.shown.remove(id);
            } else {
                let at = AtDesks { version: shown.version, is_quiet: shown.is_quiet, digest: card.digest() };
                self.fleet.desks.shown.insert(id.clone(), at);
            }
            shipper.shows(card);
        }
    }

    /// Takes what was said at a desk. What no desk of the configuration has signed, or was signed for another host, too long ago, or
    /// before, is nobody's word.
    pub(in crate::daemon) fn said_at_desk(&mut self, number: i64, text: &str, signature: &str) {
        // What has changed by now is not what was shown.
        self.show_desks();
        let Some(shipper) = &self.fleet.shipper else { return };
        let replies = shipper.replies();
        let refused = |why: &str| {
            let text = why.to_owned();
            replies(ToFleet::Reply { number, reply: Some(Answered { ok: false, text }) });
        };
        let read = |settings: &Settings| {
            let signed = Signed { text: text.to_owned(), signature: signature.to_owned() };
            let words: Words = signed.read(settings.desk.as_ref()?)?;
            Some((settings.name.clone(), settings.desk, words))
        };
        if text.len() > MOST {
            return refused("these words are too long");
        }
        let Some((channel, desk, words)) = self.config.chat.values().find_map(read) else {
            if self.fleet.desks.forged.is_time() {
                tracing::warn!(
                    number,
                    "words in the fleet's database that none of this host's desks has signed: they count for nothing"
                );
            }
            return refused("this host does not know the desk: name it in its configuration, with its key");
        };
        let Some(counts) = &self.fleet.counts else { return refused("this host belongs to no fleet") };
        if words.member != counts.own().member {
            return refused("these words are for another host");
        }
        if let Some(trouble) = counts.trouble(clock::now()) {
            return refused(&trouble.to_string());
        }
        if !desk.is_some_and(|desk| counts.is_desk(&desk)) {
            return refused("this desk belongs to the fleet no more");
        }
        let (started, now) = self.desk_clock();
        if words.at_ms + FRESH_MS < now || words.at_ms > now + AHEAD_MS {
            return refused(
                "these words were too long on their way, or the desk's clock and the host's differ; say it again",
            );
        }
        self.fleet.desks.heard.retain(|_, at_ms| *at_ms + FRESH_MS >= now);
        if words.nonce.len() != NONCE {
            return refused("these words have no number of their own");
        }
        if self.fleet.desks.heard.len() >= MOST_HEARD {
            return refused("too much is said at once; say it again a little later");
        }
        // Another run of this host may have heard it.
        if words.at_ms <= started + AHEAD_MS
            || self.fleet.desks.heard.insert(words.nonce.clone(), words.at_ms).is_some()
        {
            return refused("these words were heard before, or this host has only just started; say it again");
        }
        // What the desk has shown is what the answer is about.
        let is_current = match grammar::read(&words.words) {
            Said::Answer(id, Word::Approve(_), _) => {
                let at = self.fleet.desks.shown.get(&id).filter(|at| words.digest.as_ref() == Some(&at.digest));
                at.is_some_and(|at| self.is_on_screen(&id, Some(at.version)))
            }
            _ => true,
        };
        let on = if is_current { words.on } else { Some(false) };
        let (reply, answer) = oneshot::channel();
        let Words { account: user, name, words, sees_all, .. } = words;
        self.overheard(Overheard { channel, user, name, words, on, sees_all, reply });
        tokio::spawn(async move {
            let reply = answer.await.ok().flatten().map(|reply| Answered { ok: reply.ok, text: reply.text });
            replies(ToFleet::Reply { number, reply });
        });
    }

    /// When this host has started, and what the time is since then, in milliseconds since 1970: whoever sets the wall clock meanwhile changes
    /// nothing.
    fn desk_clock(&mut self) -> (u64, u64) {
        let run = u64::try_from(self.times.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let started = *self.fleet.desks.started_ms.get_or_insert_with(|| clock::now().unix_ms.saturating_sub(run));
        (started, started.saturating_add(run))
    }
}
