//! The control socket in the state folder: how `bashgate approve` and its siblings talk to the running host.
//!
//! One JSON object a line each way. The socket is 0600 in a 0700 folder, and the kernel says who is at the other end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio::net::unix::OwnedReadHalf;

use crate::approval::Card;
use crate::policy::credentials;

/// What can be asked of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlCommand {
    /// What is held, or what was denied and can be overruled.
    Pending {
        /// The denied ones.
        denied: bool,
        /// For whoever watches: nobody is taken to have seen by it how many wait for each.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_glance: bool,
    },
    /// Everything about one.
    Show {
        /// Its id.
        id: String,
    },
    /// The rule that would let one through the next time.
    RuleDraft {
        /// Its id.
        id: String,
    },
    /// Saves that rule.
    RuleSave {
        /// Its id.
        id: String,
        /// The SHA-256 of the rule's text as it was shown, in hexadecimal digits: another one is not saved.
        digest: String,
        /// A one-time code, for whoever needs one.
        #[serde(default)]
        code: Option<String>,
    },
    /// An answer, in the words of the chat: `approve ID`, `deny ID reason`.
    Say {
        /// The words.
        words: String,
        /// The version of the card that a yes is about, as it was on the screen: another one is not approved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u64>,
    },
    /// A link to the page, which works once.
    PageLink,
    /// The page's sessions end.
    PageLock,
    /// Channels to people, and how they fare.
    ChatList,
    /// Sends a card to a channel that only tests it.
    ChatTest {
        /// Its name.
        channel: String,
    },
    /// What became of such a card.
    ChatTested {
        /// Its id.
        id: String,
    },
    /// Makes a sheet of one-time codes.
    CodesNew {
        /// Whose: a service with its own id of a person, or `page:` with a user of this machine.
        account: String,
    },
    /// Who has codes.
    CodesList,
    /// An account's codes count no more.
    CodesRemove {
        /// The account.
        account: String,
    },
    /// Everything that would be asked in a workspace is let through for a while.
    BreakGlass {
        /// Its name.
        workspace: String,
        /// For how long.
        minutes: u64,
        /// Why, for the record and for everybody.
        why: String,
    },
    /// A workspace's taint.
    TaintShow {
        /// Its name.
        workspace: String,
    },
    /// Raise a taint.
    TaintRaise {
        /// Its name.
        workspace: String,
        /// `corruption` or `secret`.
        label: String,
        /// Why, for the record.
        why: String,
    },
    /// Clear a taint.
    TaintClear {
        /// Its name.
        workspace: String,
    },
    /// Register a workspace and make its mailbox.
    WorkspaceAdd {
        /// Its name.
        workspace: String,
    },
    /// Registered workspaces.
    WorkspaceList,
    /// A fresh container: the taint starts over.
    WorkspaceRenew {
        /// Its name.
        workspace: String,
    },
    /// Forget a workspace.
    WorkspaceRemove {
        /// Its name.
        workspace: String,
    },
    /// Scripts that are approved in a workspace.
    ScriptList {
        /// Its name.
        workspace: String,
    },
    /// A new signing key.
    KeyRotate {
        /// The old one counts no more at once, for nobody.
        revoke: bool,
    },
    /// The key before the current one counts no more.
    KeyRetire,
    /// An approval of a script counts no more.
    ScriptRevoke {
        /// The workspace.
        workspace: String,
        /// The script's digest, or its first digits.
        sha256: String,
    },
}

/// The host's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// True when it was done.
    pub ok: bool,
    /// For people.
    pub text: String,
    /// For machines.
    #[serde(default)]
    pub data: Value,
}

impl Reply {
    /// It was done.
    pub fn done(text: impl Into<String>, data: Value) -> Self {
        Self { ok: true, text: text.into(), data }
    }

    /// It was not done, and why.
    pub fn refused(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), data: Value::Null }
    }
}

impl ControlCommand {
    /// Words that are about no card on a screen.
    pub fn say(words: impl Into<String>) -> Self {
        Self::Say { words: words.into(), version: None }
    }
}

/// What is said where a card is another one than on the screen.
pub const HAS_CHANGED: &str = "it has changed since you saw it; look at it, then say it again";

/// How long the command line waits for the host, which may have ten thousand to deny.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longest line on the socket, in bytes.
pub const MAX_LINE: usize = 64 * 1024;
/// How long a command may take to come in.
const COMES_IN: Duration = Duration::from_secs(10);

/// Asks the running host. `Ok(None)` when none is running.
pub fn ask(socket: &Path, command: &ControlCommand) -> std::io::Result<Option<Reply>> {
    let mut stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(command)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let mut answer = String::new();
    match BufReader::new(stream).read_line(&mut answer) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            let why = format!(
                "it was not confirmed within {} s, and may still be done; see: bashgate pending, bashgate audit tail",
                PATIENCE.as_secs()
            );
            Ok(Some(Reply::refused(why)))
        }
        read => {
            read?;
            Ok(Some(serde_json::from_str(&answer)?))
        }
    }
}

/// The name of a user, by the system's list of users.
pub fn user_name(uid: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("uid {uid}"))
}

/// Opens the socket on which commands are taken, for its owner alone. One that lies there is replaced: the caller knows that it is dead.
pub fn listen(socket: &Path) -> std::io::Result<UnixListener> {
    let _ = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Takes commands for as long as it is polled. Each is answered with what comes of it and of who has asked, a user of this machine; where
/// that is nothing, the connection just ends.
pub async fn serve<A, F>(listener: UnixListener, answers: A)
where
    A: Fn(ControlCommand, String) -> F + Clone + Send + 'static,
    F: Future<Output = Option<Reply>> + Send + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(answer(stream, answers.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "the control socket fails");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn answer<A, F>(stream: tokio::net::UnixStream, answers: A)
where
    A: Fn(ControlCommand, String) -> F,
    F: Future<Output = Option<Reply>>,
{
    let by = stream.peer_cred().map_or_else(|_| "unknown".to_owned(), |peer| user_name(peer.uid()));
    let (reading, mut writing) = stream.into_split();
    let mut line = String::new();
    let mut reader = tokio::io::BufReader::new(reading.take(MAX_LINE as u64));
    if !matches!(tokio::time::timeout(COMES_IN, reader.read_line(&mut line)).await, Ok(Ok(_))) {
        return;
    }
    let reply = match serde_json::from_str(&line) {
        Err(error) => Reply::refused(format!("the command is not understood: {error}")),
        Ok(command) => tokio::select! {
            biased;
            // Whoever hangs up does not see what comes of it: nothing is kept for later.
            () = hangs_up(&mut reader) => return,
            reply = answers(command, by) => match reply {
                Some(reply) => reply,
                None => return,
            },
        },
    };
    if let Ok(mut text) = serde_json::to_string(&reply) {
        text.push('\n');
        let _ = writing.write_all(text.as_bytes()).await;
    }
}

/// How often it is looked whether somebody who says nothing more still reads.
const LOOKS: Duration = Duration::from_millis(100);

/// Waits until nobody reads any more what is answered. Who has only closed his own end, as a pipe does, still does.
async fn hangs_up(reader: &mut tokio::io::BufReader<tokio::io::Take<OwnedReadHalf>>) {
    let mut more = [0; 64];
    while reader.read(&mut more).await.is_ok_and(|count| count > 0) {}
    let stream: &tokio::net::UnixStream = reader.get_ref().get_ref().as_ref();
    let is_gone = || {
        let mut polled = [PollFd::new(stream, PollFlags::empty())];
        let ended = poll(&mut polled, Some(&Timespec::default()));
        ended.is_err() || polled.iter().any(|one| one.revents().intersects(PollFlags::HUP | PollFlags::ERR))
    };
    while !is_gone() {
        tokio::time::sleep(LOOKS).await;
    }
}

/// A card as commands give it: its command masked, how long it can still be answered, and which version of it stands on the board.
pub fn card(card: &Card, now_boot_ms: u64, version: Option<u64>) -> Value {
    let mut value = serde_json::to_value(card).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("key");
        if let Some(version) = version {
            fields.insert("version".to_owned(), json!(version));
        }
        let masked = credentials::mask(&card.command);
        fields.insert("is_masked".to_owned(), json!(masked != card.command));
        fields.insert("command".to_owned(), json!(masked));
        fields.insert("expires_in_ms".to_owned(), json!(card.expires_boot_ms.saturating_sub(now_boot_ms)));
    }
    value
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn who_hangs_up_is_not_heard_and_who_only_says_nothing_more_is() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("control.sock");
        let done = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let _in = runtime.enter();
        let (listener, counts) = (listen(&socket).unwrap(), done.clone());
        runtime.spawn(serve(listener, move |_, _| {
            let counts = counts.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(700)).await;
                counts.fetch_add(1, Ordering::Relaxed);
                Some(Reply::done("done", Value::Null))
            }
        }));
        let says = || {
            let mut stream = UnixStream::connect(&socket).unwrap();
            writeln!(stream, "{}", serde_json::to_string(&ControlCommand::say("status")).unwrap()).unwrap();
            stream
        };
        drop(says());
        let gives_up = says();
        let closes_its_end = says();
        closes_its_end.shutdown(Shutdown::Write).unwrap();
        let waits = says();
        std::thread::sleep(Duration::from_millis(200));
        drop(gives_up);
        for stream in [closes_its_end, waits] {
            assert!(std::io::read_to_string(stream).unwrap().contains("done"));
        }
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }
}
