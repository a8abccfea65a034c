//! What is held, as it changes: one line of JSON for each change, for as long as the page is open.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::Response;
use hyper::body::{Bytes, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::approval::ApprovalId;
use crate::chat::board::Shown;
use crate::chat::card::{self, Room};
use crate::chat::notice::one_line_but;
use crate::clock::{self, Now};

use super::server::Body;
use super::{Of, Page};

/// So often a line is sent though nothing changes: a page that hears nothing knows that the host is gone.
const BEAT: Duration = Duration::from_secs(5);
/// Shortest time between two lines: what changes faster comes together.
const PACE: Duration = Duration::from_millis(100);

struct Watching {
    page: Arc<Page>,
    /// The secrets of the session, which may end.
    session: [String; 2],
    changes: watch::Receiver<u64>,
    /// The newest version of a card that was sent.
    version: Option<u64>,
    open: BTreeSet<ApprovalId>,
}

/// A stream that ends when the page hangs up.
pub(super) fn stream(page: Arc<Page>, session: [String; 2]) -> Response<Body> {
    let changes = page.board.watch();
    let start = Watching { page, session, changes, version: None, open: BTreeSet::new() };
    let lines = stream::unfold(start, |mut watching| async move {
        let line = watching.next().await?;
        let frame = Frame::data(Bytes::from(format!("{line}\n")));
        Some((Ok::<_, Infallible>(frame), watching))
    });
    let mut response = Response::new(StreamBody::new(lines).boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    response
}

impl Watching {
    /// All that is held at first; then what changed, when something does. Nothing more where the session is over.
    async fn next(&mut self) -> Option<Value> {
        if self.version.is_some() {
            tokio::time::sleep(PACE).await;
            let _ = tokio::time::timeout(BEAT, self.changes.changed()).await;
        }
        let [cookie, key] = &self.session;
        self.page.door.whose(cookie, key)?;
        self.changes.mark_unchanged();
        let now = clock::now();
        let mut cards = self.page.board.cards();
        let newest = cards.iter().map(|shown| shown.version).max().unwrap_or(0);
        let is_whole = self.version.is_none();
        let before = self.version.replace(newest.max(self.version.unwrap_or(0)));
        let there: BTreeSet<ApprovalId> =
            cards.iter().filter(|shown| shown.over.is_none()).map(|shown| shown.card.id.clone()).collect();
        cards.retain(|shown| {
            let is_news = before.is_none_or(|before| shown.version > before);
            // What was over before this page was opened is history.
            let is_its = shown.over.is_none() || self.open.contains(&shown.card.id);
            shown.only.is_none() && is_news && is_its
        });
        cards.sort_by_key(|shown| (shown.card.asked_at_ms, shown.card.expires_boot_ms));
        let over = cards.iter().filter(|shown| shown.over.is_some()).map(|shown| shown.card.id.clone());
        // What is neither open nor has been said to be over is not there any more.
        let over: BTreeSet<ApprovalId> = over.collect();
        let gone: Vec<&ApprovalId> =
            self.open.iter().filter(|id| !there.contains(*id) && !over.contains(*id)).collect();
        let line = json!({
            "whole": is_whole, "now": now.unix_ms, "gone": gone,
            "ahead": self.page.board.ahead(), "desk": desk(&self.page.of),
            "cards": cards.iter().map(|shown| of(shown, now, Room::USUAL)).collect::<Vec<_>>(),
        });
        self.open = there;
        Some(line)
    }
}

/// The desk that the page is of; null at a host.
fn desk(of: &Of) -> Value {
    match of {
        Of::Host { .. } => Value::Null,
        Of::Desk { name, reaches } => json!({"name": name, "reaches": reaches.load(Ordering::Relaxed)}),
    }
}

/// A card as the page has it.
pub(super) fn of(shown: &Shown, now: Now, room: Room) -> Value {
    let card = &shown.card;
    let parts = card::parts(card, room);
    json!({
        "id": card.id, "version": shown.version, "workspace": card.workspace, "agent": card.agent, "taint": card.taint, "head": parts.head,
        "command": parts.command, "about": parts.about.trim_end(), "folded": parts.folded, "session": card.offers_session,
        "git": card::sends_by_git(card), "grant": card.grant.as_ref().map(|reach| one_line_but(&reach.words(), 300, &reach.addresses())),
        "two_people": card.demands.two_people, "first": card.demands.first.as_ref().map(|(first, _)| first), "waiting": card.waiting, "over": shown.over,
        "until": now.unix_ms + card.expires_boot_ms.saturating_sub(now.boot_ms),
    })
}
