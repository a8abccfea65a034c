//! The terminal of a desk and its page: who runs it sees there what all hosts hold, and answers as `desk:USER`, where hosts hear that.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bashgate::approval::ApprovalId;
use bashgate::chat::card;
use bashgate::chat::grammar::{self, Said};
use bashgate::clock;
use bashgate::control::{self, ControlCommand, Reply};
use bashgate::held::held;
use bashgate::page::{Asks, Of, Served};
use bashgate::state;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Client;

use super::{Desk, Speaker, Speech};

/// How long ago something may have been said, in milliseconds.
const LATE_MS: u64 = 10_000;
/// As what service the desk's own terminal stands in an account.
const SERVICE: &str = "desk";

/// What somebody has asked.
pub(super) struct Asked {
    command: ControlCommand,
    /// The user of this machine.
    by: String,
    /// When, in milliseconds since 1970.
    at_ms: u64,
    reply: oneshot::Sender<Reply>,
}

/// Opens the socket of a desk's folder. Where another desk runs there, that one keeps it.
pub(super) fn open(folder: &Path) -> Result<UnixListener, String> {
    let socket = state::socket(folder);
    if std::os::unix::net::UnixStream::connect(&socket).is_ok() {
        return Err("a desk runs in this folder already".to_owned());
    }
    control::listen(&socket).map_err(|error| format!("{}: {error}", socket.display()))
}

/// What is said to whoever asks a desk that is cut off.
pub(super) const CUT_OFF: &str = "the desk does not reach its fleet now; each host can be answered at itself";

impl Asked {
    /// Says why nothing comes of it.
    pub(super) fn refuse(self, why: &str) {
        let _ = self.reply.send(Reply::refused(why));
    }

    /// Whoever has asked it was told by now that nothing came of it.
    pub(super) fn is_given_up(&self) -> bool {
        self.reply.is_closed()
    }
}

/// Asks the desk, and waits for what it says.
async fn asks(desk: mpsc::UnboundedSender<Asked>, command: ControlCommand, by: String) -> Option<Reply> {
    let (reply, told) = oneshot::channel();
    desk.send(Asked { command, by, at_ms: clock::now().unix_ms, reply }).ok()?;
    Some(told.await.unwrap_or_else(|_| Reply::refused(CUT_OFF)))
}

/// Asks the desk for its terminal, and for its page: on it somebody is who he is in the terminal.
fn in_turn(asked: mpsc::UnboundedSender<Asked>) -> Asks {
    Box::new(move |command, by| Box::pin(asks(asked.clone(), command, by)))
}

/// The page of a desk.
pub(super) fn page(desk: &Desk, asked: mpsc::UnboundedSender<Asked>) -> Served {
    let of = Of::Desk { name: desk.membership.member.to_string(), reaches: desk.reaches.clone() };
    Served::new(desk.board.clone(), in_turn(asked), of)
}

/// Answers what is asked on the socket.
pub(super) async fn serve(listener: UnixListener, asked: mpsc::UnboundedSender<Asked>, page: Served) {
    Arc::new(page).answers(listener, in_turn(asked)).await;
}

impl Desk {
    /// Takes what somebody has asked in the desk's own terminal.
    pub(super) async fn asked(&self, client: &Client, asked: Asked) {
        let Asked { command, by, at_ms, reply } = asked;
        let now = clock::now();
        let is_late = now.unix_ms.abs_diff(at_ms) > LATE_MS;
        let told = match command {
            _ if is_late => Reply::refused("that was said too long ago; say it again"),
            ControlCommand::Pending { denied: false, .. } => {
                let open = self.board.cards().into_iter().filter(|shown| shown.over.is_none());
                let cards: Vec<Value> = open.map(|shown| control::card(&shown.card, now.boot_ms, None)).collect();
                Reply::done(format!("{} held", cards.len()), cards.into())
            }
            ControlCommand::Show { id } => {
                let found = ApprovalId::parse(&id).and_then(|id| self.board.card(&id));
                match found.filter(|shown| shown.over.is_none()) {
                    Some(shown) => {
                        let data = control::card(&shown.card, now.boot_ms, Some(shown.version));
                        Reply::done(card::render(&shown.card, now.boot_ms, true), data)
                    }
                    None => Reply::refused(format!("nothing is held under `{id}`")),
                }
            }
            ControlCommand::Say { words, .. } if words == "status" => self.status(),
            ControlCommand::Say { words, version } => {
                let account = format!("{SERVICE}:{by}");
                let is_talk = grammar::read(&words) == Said::Talk;
                let said =
                    Speech { words: &words, version, account: account.clone(), name: by, on: None, sees_all: true };
                match self.told(client, &Speaker::Terminal, said, at_ms).await {
                    Some(told) => Reply { ok: told.ok, text: told.text, data: Value::Null },
                    None if is_talk => Reply::refused("a desk knows: approve ID, deny ID, pending, status, and so on"),
                    None => {
                        let desk = &self.membership.member.host;
                        Reply::refused(format!(
                            "the host does not hear {account}: `approvers` of its `[chat.{desk}]` says whom it hears"
                        ))
                    }
                }
            }
            _ => Reply::refused("a desk does not do that; do it on the host"),
        };
        let _ = reply.send(told);
    }

    /// How everything stands, as far as a desk knows: what hosts hold.
    fn status(&self) -> Reply {
        let mut workspaces: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for shown in self.board.cards().into_iter().filter(|shown| shown.over.is_none()) {
            let of = workspaces.entry(shown.card.workspace.to_string()).or_default();
            *of = (shown.card.taint.to_string(), of.1 + 1);
        }
        let workspaces: Vec<Value> = workspaces
            .into_iter()
            .map(|(name, (taint, held))| json!({"workspace": name, "taint": taint, "held": held, "open": held}))
            .collect();
        let hosts = held(&self.hosts).all();
        let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let text = format!("The desk {} of {} hosts: {}", self.membership.member, hosts.len(), names.join(", "));
        let up = self.started.elapsed().as_secs();
        let data = json!({"version": env!("CARGO_PKG_VERSION"), "up_s": up, "enforce": true,
                                      "inspector": format!("that of {} hosts", hosts.len()), "workspaces": workspaces});
        Reply::done(text, data)
    }
}
